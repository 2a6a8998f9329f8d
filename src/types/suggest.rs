//! What to write in the place of an unknown name.
//!
//! In: the name, the names in scope with their types, and the types of the arguments where it is applied. Out: the help of the
//! error: the nearest name that takes these arguments, the word for what another language calls so, or the next step.
//!
//!     vectorSun v   →   did you mean `vectorSum`?      (`vectorSub` is as near, and takes two)
//!     ln x          →   the natural logarithm is `log x`
//!
//! A function of the mathematics that smoothc does not have is never answered by another one: `erfcx` is not `erfc`.

use super::builtin;
use super::holes::Holes;
use super::ty::Ty;
use crate::diagnostic::nearest;
use crate::elsewhere;
use crate::ir::Prim;

/// Functions of the mathematics that have no short word here: nothing that is merely spelled alike is meant.
const MATHEMATICS: &[&str] = &[
    "digamma",
    "beta",
    "lbeta",
    "erfinv",
    "erfcx",
    "sinc",
    "sinpi",
    "cospi",
    "tanpi",
    "logb",
    "ilogb",
    "fma",
    "remainder",
    "j0",
    "j1",
    "y0",
    "y1",
    "acot",
    "asec",
    "acsc",
    "acoth",
    "asech",
    "acsch",
    "logit",
    "rsqrt",
    "copysign",
    "log1mexp",
    "logaddexp",
    "exp1m",
];

/// A name in scope, and what it takes where it is a function.
pub struct Candidate {
    pub name: String,
    pub params: Option<Vec<Ty>>,
}

/// The help for an unknown name, applied to arguments of these types or (`None`) alone.
pub fn help(name: &str, candidates: Vec<Candidate>, arguments: Option<&[Ty]>, holes: &Holes) -> String {
    let otherwise = "declare it above, or open the file that does".to_string();
    // a declaration of this very name is in a file that is not open here
    if candidates.iter().any(|candidate| candidate.name == name) {
        return otherwise;
    }
    if let Some(sentence) = elsewhere::name(name) {
        return sentence.to_string();
    }
    let near: Vec<&Candidate> = candidates.iter().filter(|candidate| may_mean(name, &candidate.name)).collect();
    let fitting = near.iter().filter(|candidate| fits(candidate.params.as_deref(), arguments, holes));
    let found = nearest(name, fitting.map(|candidate| &*candidate.name));
    match found.or_else(|| nearest(name, near.iter().map(|candidate| &*candidate.name))) {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise,
    }
}

/// Whether who wrote the one name may have meant the other: not where both are functions of the mathematics.
pub fn may_mean(name: &str, known: &str) -> bool {
    let is_function = Prim::function(known).is_some() || builtin::constant(known).is_some();
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    !is_function || !MATHEMATICS.contains(&name) && digits(name) == digits(known)
}

/// Whether a function of these parameters takes these arguments, as far as both are known.
fn fits(params: Option<&[Ty]>, arguments: Option<&[Ty]>, holes: &Holes) -> bool {
    match (params, arguments) {
        (Some(params), Some(arguments)) => {
            params.len() == arguments.len() && params.iter().zip(arguments).all(|(param, argument)| agree(param, argument, holes))
        }
        (None, Some(arguments)) => arguments.is_empty(),
        (_, None) => true,
    }
}

fn agree(a: &Ty, b: &Ty, holes: &Holes) -> bool {
    match (holes.head(a), holes.head(b)) {
        (Ty::Hole(_), _) | (_, Ty::Hole(_)) => true,
        (Ty::Array(a, _), Ty::Array(b, _)) => agree(&a, &b, holes),
        (Ty::Fun(a, _), Ty::Fun(b, _)) => a.len() == b.len(),
        (Ty::Tuple(a), Ty::Tuple(b)) => a.len() == b.len(),
        (a, b) => std::mem::discriminant(&a) == std::mem::discriminant(&b),
    }
}
