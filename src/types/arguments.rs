//! Arguments of a call: values, and functions, which are known where the function is made.
//!
//! In: the arguments in the order of the parameters. Out: the values and the functions apart, each with its position, and back; a key by
//! which calls with the same functions find the same function.
//!
//!     ifold (fun s i -> s) x n   →   values (1, x), (2, n), functions (0, fun s i -> s)

use super::scope::{Arg, Callable};
use crate::ir::Expr;

/// Some of a function's arguments, with their positions.
type Placed<T> = Vec<(usize, T)>;

/// Arguments: values, and functions.
pub(super) fn apart(args: Vec<Arg>) -> (Placed<Expr>, Placed<Callable>) {
    let (mut values, mut functions) = (Vec::new(), Vec::new());
    for (at, arg) in args.into_iter().enumerate() {
        match arg {
            Arg::Value(value) => values.push((at, value)),
            Arg::Function(function) => functions.push((at, function)),
        }
    }
    (values, functions)
}

/// The values among arguments.
pub(super) fn values<'e>(args: &'e [Arg]) -> impl Iterator<Item = &'e Expr> {
    args.iter().filter_map(|arg| match arg {
        Arg::Value(value) => Some(value),
        Arg::Function(_) => None,
    })
}

/// The arguments that a function's body is made for: values of its variables, and functions.
pub(super) fn arguments<'a>(count: usize, values: Vec<Expr>, used: &[usize], functions: &[(usize, Callable<'a>)]) -> Vec<Arg<'a>> {
    let mut args: Vec<Option<Arg<'a>>> = (0..count).map(|_| None).collect();
    for (value, at) in values.into_iter().zip(used) {
        args[*at] = Some(Arg::Value(value));
    }
    for (at, function) in functions {
        args[*at] = Some(Arg::Function(function.clone()));
    }
    args.into_iter().flatten().collect()
}

/// A text that is equal for equal function arguments.
pub(super) fn function_key(functions: &[(usize, Callable)]) -> String {
    let mut key = String::new();
    for (at, function) in functions {
        key += &match function {
            Callable::Builtin(builtin) => format!("{at}:{builtin:?};"),
            Callable::Global { index, instance } => format!("{at}:g{index}{instance:?};"),
            Callable::Closure(closure) => format!("{at}:c{}{:?};", closure.id, closure.instance),
            Callable::Case { sum, case } => format!("{at}:s{}.{case};", sum.name.text),
            Callable::Free { name, .. } => format!("{at}:f{name};"),
        };
    }
    key
}
