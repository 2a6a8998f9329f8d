//! Which differentiation form fits: the help line of a form that does not.

use super::builtin::Api;
use super::holes::Holes;
use super::ty::Ty;

/// The next step when `api` was given a function (or point) of type `found`.
pub fn suggestion(holes: &Holes, api: Api, found: &Ty) -> String {
    let Ty::Fun(params, result) = holes.head(found) else {
        return format!("write `{} f x`, f a function and x its point", api.name());
    };
    if params.len() != 1 {
        return "differentiate a function of one parameter: `fun x -> f x …` makes one of it".into();
    }
    let paired = matches!(api, Api::Diff | Api::Vdiff | Api::Mdiff | Api::Grad | Api::Mgrad | Api::Jacob);
    let form = match (rank(holes, &params[0]), rank(holes, &result), paired) {
        (Some(0), Some(0), true) => "diff",
        (Some(0), Some(1), true) => "vdiff",
        (Some(0), Some(2), true) => "mdiff",
        (Some(1), Some(0), true) => "grad",
        (Some(2), Some(0), true) => "mgrad",
        (Some(1), Some(1), true) => "jacob",
        (Some(0), Some(0), false) => "derivative",
        (Some(_), Some(0), false) => "gradient",
        (Some(_), Some(_), false) => "jacobian",
        (None, Some(0), false) if holds_double(holes, &params[0]) => "gradient",
        (Some(_), _, _) => "jvp",
        (None, _, _) if holds_double(holes, &params[0]) => "vjp",
        (None, _, _) => return "only what has a Double in it can be the independent variable".into(),
    };
    format!("`{form}` is the form for such a function")
}

/// The rank of a Double or an array of Doubles.
pub fn rank(holes: &Holes, ty: &Ty) -> Option<usize> {
    match holes.head(ty) {
        Ty::Double => Some(0),
        Ty::Array(element, _) => Some(rank(holes, &element)? + 1),
        Ty::Bool | Ty::Index(_) | Ty::Tuple(_) | Ty::Record(..) | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => None,
    }
}

/// Whether a type has a Double somewhere.
fn holds_double(holes: &Holes, ty: &Ty) -> bool {
    match holes.head(ty) {
        Ty::Double => true,
        Ty::Array(element, _) => holds_double(holes, &element),
        Ty::Tuple(parts) | Ty::Record(_, parts) => parts.iter().any(|part| holds_double(holes, part)),
        Ty::Rec(of) => of.has_double(),
        Ty::Bool | Ty::Index(_) | Ty::Fun(..) | Ty::Hole(_) => false,
    }
}
