//! Arguments for any entry, by the types of its parameters.
//!
//! In: a function and the length of sizes named `n`; others are one less. Out: words as on the command line. Keys are in
//! range; a parameter named `times` is the length.
//!
//!     f (v: Vector<n>) (k: Index)   for n = 2   →   "[0.7…, -1.4…]", "1"

use smoothc::ir::{Atom, Function, Size, Type, Var};

/// The length that a size has where sizes named `n` have this one.
pub fn length(size: &Size, n: usize) -> usize {
    match (size.as_constant(), size.as_var()) {
        (Some(constant), _) => constant as usize,
        (None, Some(var)) if &**var.name() == "n" => n,
        (None, _) => n.saturating_sub(1),
    }
}

/// A size where each variable has this value; 0 where it has another term.
pub fn value(size: &Size, of: &dyn Fn(&Var) -> usize) -> usize {
    let factor = |atom: &Atom| match atom {
        Atom::Var(var) => of(var) as i64,
        Atom::Term(_) | Atom::Unknown(_) => 0,
    };
    let sum: i64 = size.terms().map(|(monomial, coefficient)| coefficient * monomial.iter().map(factor).product::<i64>()).sum();
    usize::try_from(sum).unwrap_or(0)
}

/// A value of a type as an argument; keys are below `n`.
fn argument(ty: &Type, n: usize, length: &dyn Fn(&Size) -> usize, next: &mut f64) -> String {
    *next += 1.7;
    match ty {
        Type::Double => format!("{:?}", next.sin() * 1.5),
        Type::Index(bound) => (next.abs() as usize % bound.as_ref().map_or(n, length).max(1)).to_string(),
        Type::Bool => (next.sin() > 0.0).to_string(),
        Type::Rec(_) => panic!("no argument of a recursive type is made up"),
        Type::Array(element, size) => {
            let items: Vec<String> = (0..length(size)).map(|_| argument(element, n, length, next)).collect();
            format!("[{}]", items.join(", "))
        }
        Type::Tuple(parts) => format!("[{}]", parts.iter().map(|part| argument(part, n, length, next)).collect::<Vec<_>>().join(", ")),
    }
}

pub fn arguments(function: &Function, n: usize) -> Vec<String> {
    arguments_of(function, n, &|size| length(size, n))
}

/// With these lengths.
pub fn arguments_of(function: &Function, n: usize, length: &dyn Fn(&Size) -> usize) -> Vec<String> {
    let mut next = n as f64 + function.params.len() as f64;
    let one = |param: &Var| match param.ty() {
        // how often something is done
        Type::Index(_) if &**param.name() == "times" => n.to_string(),
        ty => argument(ty, n, length, &mut next),
    };
    function.params.iter().map(one).collect()
}
