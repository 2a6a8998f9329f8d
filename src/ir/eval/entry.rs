//! At the entry: arguments against the declared signature.
//!
//! In: a function and plain values. Out: its value, or an error that names the parameter at fault. Sizes are
//! taken from the Index parameters, then from the lengths of the arguments; where an array is empty, the
//! lengths below it are taken from another argument that decides them, then from the value's own shape, and
//! are 0 otherwise. All declared lengths (`Vector<2*n>`) and index bounds are then checked.
//!
//!     f (a: Matrix<n, k>) (b: Vector<k>)   for   [], [1.0, 2.0]   →   n = 0, k = 2

use indexmap::IndexMap;

use super::code::{Code, ShapeCode};
use super::compile::{Compiler, Scope};
use super::machine::{Machine, Run};
use super::number::{Number, V};
use super::partial::Identities;
use super::shape::Shape;
use super::value::{Value, deep};
use super::{ErrorKind, Outcome, Record, Reverse, RuntimeError, Trace};
use crate::ir::program::{Function, Program};
use crate::ir::term::{Status, Type, Var};
use crate::source::Span;

/// The value of an entry, its `vjp`s evaluated in this way.
pub fn run(program: &Program, entry: &str, args: &[Value], reverse: Reverse) -> Run<Outcome> {
    called(program, entry, args, 0, |machine, instance, _, args| {
        machine.reverse = reverse;
        let value = machine.call(instance, args)?;
        Ok(Outcome { value: value.map(&mut Number::value), trace: machine.arithmetic.trace })
    })
}

/// The same in the partial meaning, where each Double of the arguments has an identity, of the tag 0.
pub fn run_partial(program: &Program, entry: &str, args: &[Value], reverse: Reverse) -> Run<Outcome> {
    called(program, entry, args, 1, |machine, instance, _, args| {
        machine.reverse = reverse;
        machine.unlifted = 1;
        machine.arithmetic.tapes.identities = Some(Identities::default());
        let args = args.into_iter().map(|arg| machine.bound(arg)).collect();
        let value = machine.call(instance, args)?;
        Ok(Outcome { value: value.map(&mut Number::value), trace: machine.arithmetic.trace })
    })
}

/// The record of an entry's run: everything in there is one derivative deeper, for its own tag is the outermost.
pub fn record(program: &Program, entry: &str, args: &[Value]) -> Run<Record> {
    called(program, entry, args, 1, |machine, instance, function, args| machine.record(instance, function, &args))
}

/// A machine with checked arguments, for an instance at this depth of derivative forms.
fn called<T>(
    program: &Program,
    entry: &str,
    args: &[Value],
    depth: u32,
    call: impl FnOnce(&mut Machine, usize, &Function, Vec<V>) -> Run<T>,
) -> Run<T> {
    let Some(function) = program.functions.get(entry) else {
        return Err(RuntimeError::new(ErrorKind::Argument, Span::NONE, format!("there is no `{entry}`")));
    };
    if args.len() != function.params.len() {
        let message = format!("`{entry}` takes {} arguments, found {}", function.params.len(), args.len());
        return Err(RuntimeError::new(ErrorKind::Argument, function.span, message));
    }
    for (param, arg) in function.params.iter().zip(args) {
        if !fits(arg, param.ty()) {
            let message = format!("argument `{}`: expected {}, found {}", param.name(), param.ty(), arg.shape());
            return Err(RuntimeError::new(ErrorKind::Argument, function.span, message));
        }
    }
    let mut compiler = Compiler::new(program);
    let mut scope = Scope::of(function, depth, &[]);
    let expected = function.params.iter().map(|param| compiler.shape(&mut scope, param.ty())).collect::<Run<Vec<_>>>()?;
    let (instance, _) =
        compiler.instance(function, depth, function.params.iter().map(|p| super::activity::Activity::of(p.ty(), 0)).collect())?;

    let trace = args.iter().flat_map(Value::doubles).fold(Trace::default(), |mut trace, double| {
        trace.meet(double);
        trace
    });
    let sizes = bind_sizes(function, args);
    let frame = args.iter().map(|arg| arg.map(&mut |x| Number::Plain(*x))).chain(sizes.into_iter().map(Value::Index));
    let mut machine = Machine::new(&compiler.instances, frame.collect(), scope.slots());
    let mut checked = Vec::with_capacity(args.len());
    for ((param, arg), expected) in function.params.iter().zip(args).zip(&expected) {
        let mut check = Check { machine: &mut machine, function, path: param.name().to_string() };
        checked.push(check.value(arg, expected, param.ty())?);
    }
    machine.arithmetic.trace = trace;
    // sizes are read again off the arguments, whose empty arrays now have the lengths decided above; an update copies
    // what is the caller's
    call(&mut machine, instance, function, checked.clone())
}

/// Whether the value is of the type, lengths aside.
fn fits(value: &Value, ty: &Type) -> bool {
    match (value, ty) {
        (Value::Double(_), Type::Double) | (Value::Index(_), Type::Index(_)) | (Value::Bool(_), Type::Bool) => true,
        (Value::Tuple(parts), Type::Tuple(types)) => {
            parts.len() == types.len() && parts.iter().zip(types.iter()).all(|(part, ty)| fits(part, ty))
        }
        (Value::Array(array), Type::Array(element, _)) => {
            shape_fits(&array.element, element) && array.items.iter().all(|item| fits(item, element))
        }
        (Value::Rolled(rolled), Type::Rec(of)) => rolled.unrolled().is_none_or(|value| deep(|| fits(value, &of.defined()))),
        (Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::Tuple(_) | Value::Array(_) | Value::Rolled(_), _) => false,
    }
}

fn shape_fits(shape: &Shape, ty: &Type) -> bool {
    match (shape, ty) {
        (Shape::Unknown, _) | (Shape::Double, Type::Double) | (Shape::Index, Type::Index(_)) | (Shape::Bool, Type::Bool) => true,
        (Shape::Tuple(shapes), Type::Tuple(types)) => {
            shapes.len() == types.len() && shapes.iter().zip(types.iter()).all(|(shape, ty)| shape_fits(shape, ty))
        }
        (Shape::Array(element, _), Type::Array(ty, _)) => shape_fits(element, ty),
        (Shape::Rolled, Type::Rec(_)) => true,
        (Shape::Double | Shape::Index | Shape::Bool | Shape::Tuple(_) | Shape::Array(..) | Shape::Rolled, _) => false,
    }
}

/// The values of the function's size names, in their order.
fn bind_sizes(function: &Function, args: &[Value]) -> Vec<i64> {
    let mut known: IndexMap<Var, i64> = IndexMap::new();
    for (param, arg) in function.params.iter().zip(args) {
        bind_lengths(param.ty(), arg, &mut known);
    }
    for (param, arg) in function.params.iter().zip(args) {
        bind_shape(param.ty(), &arg.shape(), &mut known);
    }
    function.sizes.iter().map(|size| known.get(size).copied().unwrap_or(0)).collect()
}

/// Lengths that elements really have.
fn bind_lengths(ty: &Type, value: &Value, known: &mut IndexMap<Var, i64>) {
    match (ty, value) {
        (Type::Array(element, length), Value::Array(array)) => {
            if let Some(var) = length.as_var() {
                known.entry(var.clone()).or_insert(array.items.len() as i64);
            }
            if let Some(item) = array.items.first() {
                bind_lengths(element, item, known);
            }
        }
        (Type::Tuple(types), Value::Tuple(parts)) => {
            types.iter().zip(parts.iter()).for_each(|(ty, part)| bind_lengths(ty, part, known));
        }
        (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_), _) => {}
    }
}

/// Lengths that only the shape of an empty array says.
fn bind_shape(ty: &Type, shape: &Shape, known: &mut IndexMap<Var, i64>) {
    match (ty, shape) {
        (Type::Array(element, length), Shape::Array(item, actual)) => {
            if let Some(var) = length.as_var() {
                known.entry(var.clone()).or_insert(*actual as i64);
            }
            bind_shape(element, item, known);
        }
        (Type::Tuple(types), Shape::Tuple(parts)) => {
            types.iter().zip(parts.iter()).for_each(|(ty, part)| bind_shape(ty, part, known));
        }
        (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_), _) => {}
    }
}

/// The check of one argument; `path` names the place that is being looked at.
struct Check<'a, 'c> {
    machine: &'a mut Machine<'c>,
    function: &'a Function,
    path: String,
}

impl Check<'_, '_> {
    fn fail<T>(&self, status: Status, what: String) -> Run<T> {
        Err(RuntimeError::new(ErrorKind::Status(status), self.function.span, format!("argument `{}`: {what}", self.path)))
    }

    /// The value ready for the machine, with empty arrays of the declared shape.
    fn value(&mut self, value: &Value, expected: &ShapeCode, ty: &Type) -> Run<V> {
        match (value, expected, ty) {
            (Value::Array(array), ShapeCode::Array(element, length), Type::Array(element_type, declared)) => {
                let length = self.machine.index(length)?;
                let found = array.items.len() as i64;
                if length != found {
                    let meaning = if declared.as_constant().is_some() { String::new() } else { format!("{declared} = ") };
                    return self.fail(Status::Shape, format!("expected length {meaning}{length}, found {found}"));
                }
                let shape = self.machine.shape(element)?;
                let mut items = Vec::with_capacity(array.items.len());
                let path = self.path.len();
                for (k, item) in array.items.iter().enumerate() {
                    if !matches!(item, Value::Double(_) | Value::Bool(_)) {
                        self.path.push_str(&format!("[{k}]"));
                    }
                    items.push(self.value(item, element, element_type)?);
                    self.path.truncate(path);
                }
                Ok(Value::from_items(shape, items))
            }
            (Value::Tuple(parts), ShapeCode::Tuple(expected), Type::Tuple(types)) => {
                let path = self.path.len();
                let mut checked = Vec::with_capacity(parts.len());
                for (k, ((part, expected), ty)) in parts.iter().zip(expected).zip(types.iter()).enumerate() {
                    self.path.push_str(&format!(".{k}"));
                    checked.push(self.value(part, expected, ty)?);
                    self.path.truncate(path);
                }
                Ok(Value::tuple(checked))
            }
            (Value::Index(index), ShapeCode::Index(Some(bound)), Type::Index(declared)) => {
                let bound = self.bound(bound)?;
                if *index < 0 || *index >= bound {
                    let meaning = declared.as_ref().filter(|size| size.as_constant().is_none()).map(|size| format!("{size} = "));
                    let meaning = meaning.unwrap_or_default();
                    return self.fail(Status::Range, format!("expected an index below {meaning}{bound}, found {index}"));
                }
                Ok(Value::Index(*index))
            }
            _ => Ok(value.map(&mut |x| Number::Plain(*x))),
        }
    }

    fn bound(&mut self, bound: &Code) -> Run<i64> {
        self.machine.index(bound)
    }
}
