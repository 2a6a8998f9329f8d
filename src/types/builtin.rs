//! The built-in names: constants and differentiation forms, of 001 Figures 3 and 6 and beyond (docs/language.md).
//!
//! In: a name. Out: what it is, and its type with fresh holes. `build n f` and friends whose result's size
//! is an argument's value link the two by a size hole per argument.

use super::holes::Holes;
use super::ty::{Class, Ty};
use crate::ir::Prim;
use crate::ir::prim::Kind;
use crate::syntax::ast::{BinOp, UnOp};

/// A name that is always in scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    Prim(Prim),
    /// An operator in parentheses.
    Operator(BinOp),
    Build,
    Ifold,
    Get,
    Update,
    Accumulate,
    Length,
    MatrixCols,
    Pair,
    Fst,
    Snd,
    Api(Api),
}

/// The differentiation forms that are functions; `deriv` is syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    Diff,
    Vdiff,
    Mdiff,
    Grad,
    Mgrad,
    Jacob,
    Derivative,
    Gradient,
    Jacobian,
    Hessian,
    Jvp,
    Vjp,
    /// 005's name for `vjp`.
    Rd,
    ValueAndGradient,
}

/// Name, form, what it takes: one row each.
pub const APIS: &[(&str, Api, &str)] = &[
    ("diff", Api::Diff, "a function from Double to Double"),
    ("vdiff", Api::Vdiff, "a function from Double to Vector"),
    ("mdiff", Api::Mdiff, "a function from Double to Matrix"),
    ("grad", Api::Grad, "a function from Vector to Double"),
    ("mgrad", Api::Mgrad, "a function from Matrix to Double"),
    ("jacob", Api::Jacob, "a function from Vector to Vector"),
    ("derivative", Api::Derivative, "a function from Double to Double"),
    ("gradient", Api::Gradient, "a function to Double"),
    ("jacobian", Api::Jacobian, "a function of Doubles, in tuples and arrays or alone"),
    ("hessian", Api::Hessian, "a function to Double"),
    ("jvp", Api::Jvp, "a function of Doubles, in tuples and arrays or alone"),
    ("vjp", Api::Vjp, "a function of Doubles, in tuples and arrays or alone"),
    ("rd", Api::Rd, "a function of Doubles, in tuples and arrays or alone"),
    ("valueAndGradient", Api::ValueAndGradient, "a function to Double"),
];

impl Api {
    pub fn name(self) -> &'static str {
        APIS.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }

    pub fn takes(self) -> &'static str {
        APIS.iter().find(|row| row.1 == self).map_or("", |row| row.2)
    }
}

/// What a name means when nothing in the program declares it.
pub fn lookup(name: &str) -> Option<Builtin> {
    Some(match name {
        "build" => Builtin::Build,
        "ifold" => Builtin::Ifold,
        "get" => Builtin::Get,
        "update" => Builtin::Update,
        "accumulate" => Builtin::Accumulate,
        "length" => Builtin::Length,
        "matrixCols" => Builtin::MatrixCols,
        "pair" => Builtin::Pair,
        "fst" => Builtin::Fst,
        "snd" => Builtin::Snd,
        _ => match APIS.iter().find(|row| row.0 == name) {
            Some(row) => Builtin::Api(row.1),
            None => Builtin::Prim(Prim::function(name)?),
        },
    })
}

/// The Doubles that have a name, unless the program gives it to something else.
pub const CONSTANTS: &[(&str, f64)] = &[("pi", std::f64::consts::PI), ("infinity", f64::INFINITY)];

/// What a name of [`CONSTANTS`] stands for.
pub fn constant(name: &str) -> Option<f64> {
    CONSTANTS.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// All built-in names, for suggestions.
pub fn names() -> Vec<&'static str> {
    let mut names = vec!["build", "ifold", "get", "update", "accumulate", "length", "matrixCols", "pair", "fst", "snd"];
    names.extend(APIS.iter().map(|row| row.0));
    names.extend(CONSTANTS.iter().map(|row| row.0));
    names.extend(crate::ir::prim::ROWS.iter().map(|row| row.name).filter(|name| Prim::function(name).is_some()));
    names
}

/// The primitive of a binary operator; `ad` and `rewrite` use it for their laws.
impl From<BinOp> for Prim {
    fn from(op: BinOp) -> Prim {
        match op {
            BinOp::Add => Prim::Add,
            BinOp::Sub => Prim::Sub,
            BinOp::Mul | BinOp::EMul => Prim::Mul,
            BinOp::Div | BinOp::EDiv => Prim::Div,
            BinOp::Rem => Prim::Rem,
            BinOp::Pow => Prim::Pow,
            BinOp::Eq => Prim::Eq,
            BinOp::Ne => Prim::Ne,
            BinOp::Lt => Prim::Lt,
            BinOp::Le => Prim::Le,
            BinOp::Gt => Prim::Gt,
            BinOp::Ge => Prim::Ge,
            BinOp::And => Prim::And,
            BinOp::Or => Prim::Or,
        }
    }
}

/// The primitive of a prefix operator.
pub fn unary(op: UnOp) -> Prim {
    match op {
        UnOp::Neg => Prim::Neg,
        UnOp::Not => Prim::Not,
    }
}

/// The parameter types and the result type of a built-in, with fresh holes, and for `build` the hole that
/// its first argument's value is.
pub fn signature(builtin: Builtin, holes: &mut Holes, level: u32) -> (Vec<Ty>, Ty, Option<crate::ir::Size>) {
    let mut any = || holes.fresh(Class::Any, level);
    match builtin {
        Builtin::Prim(prim) => {
            let (params, result) = primitive(prim, holes, level);
            (params, result, None)
        }
        Builtin::Operator(op) => {
            let (params, result) = primitive(Prim::from(op), holes, level);
            if !matches!(op, BinOp::Add | BinOp::Sub | BinOp::EMul | BinOp::EDiv) {
                return (params, result, None);
            }
            let operand = holes.fresh(Class::Sum, level);
            (vec![operand.clone(); 2], operand, None)
        }
        Builtin::Build => {
            let element = any();
            let size = holes.fresh_size();
            let body = Ty::fun(vec![Ty::INDEX], element.clone());
            (vec![Ty::INDEX, body], Ty::array(element, size.clone()), Some(size))
        }
        Builtin::Ifold => {
            let state = any();
            let step = Ty::fun(vec![state.clone(), Ty::INDEX], state.clone());
            (vec![step, state.clone(), Ty::INDEX], state, None)
        }
        Builtin::Get => {
            let element = any();
            let size = holes.fresh_size();
            (vec![Ty::array(element.clone(), size), Ty::INDEX], element, None)
        }
        Builtin::Update | Builtin::Accumulate => {
            let element = any();
            let size = holes.fresh_size();
            let array = Ty::array(element.clone(), size);
            (vec![array.clone(), Ty::INDEX, element], array, None)
        }
        Builtin::Length => {
            let element = any();
            let size = holes.fresh_size();
            (vec![Ty::array(element, size)], Ty::INDEX, None)
        }
        Builtin::MatrixCols => {
            let element = any();
            let (rows, columns) = (holes.fresh_size(), holes.fresh_size());
            (vec![Ty::array(Ty::array(element, columns), rows)], Ty::INDEX, None)
        }
        Builtin::Pair => {
            let (a, b) = (any(), any());
            (vec![a.clone(), b.clone()], Ty::tuple(vec![a, b]), None)
        }
        Builtin::Fst | Builtin::Snd => {
            let (a, b) = (any(), any());
            let result = if builtin == Builtin::Fst { a.clone() } else { b.clone() };
            (vec![Ty::tuple(vec![a, b])], result, None)
        }
        Builtin::Api(api) => {
            let (params, result) = form(api, holes, level);
            (params, result, None)
        }
    }
}

fn primitive(prim: Prim, holes: &mut Holes, level: u32) -> (Vec<Ty>, Ty) {
    let row = prim.row();
    let all = |ty: Ty| vec![ty; row.arity];
    match row.kind {
        Kind::Number => {
            let number = holes.fresh(if prim == Prim::Neg { Class::Sum } else { Class::Number }, level);
            (all(number.clone()), number)
        }
        Kind::Double => (all(Ty::Double), Ty::Double),
        Kind::Index => (all(Ty::INDEX), Ty::INDEX),
        Kind::Order => (all(holes.fresh(Class::Number, level)), Ty::Bool),
        Kind::Equality => (all(holes.fresh(Class::Scalar, level)), Ty::Bool),
        Kind::Bool => (all(Ty::Bool), Ty::Bool),
        Kind::IndexToDouble => (vec![Ty::INDEX], Ty::Double),
        Kind::DoubleToIndex => (vec![Ty::Double], Ty::INDEX),
        Kind::IndexDoubleToDouble => (vec![Ty::INDEX, Ty::Double], Ty::Double),
    }
}

/// A form whose result has a shape that the point's and the value's give together: its parameters, the point and the value.
pub fn shaped(api: Api, holes: &mut Holes, level: u32) -> Option<(Vec<Ty>, Ty, Ty)> {
    let point = holes.fresh(Class::Any, level);
    let value = match api {
        Api::Jacobian => holes.fresh(Class::Any, level),
        Api::Hessian => Ty::Double,
        _ => return None,
    };
    Some((vec![Ty::fun(vec![point.clone()], value.clone()), point.clone()], point, value))
}

/// 001 Figure 6's types and those of the plain forms: the function, the point (and the tangent of `jvp`). As a value `jacobian`
/// and `hessian` are for vectors.
fn form(api: Api, holes: &mut Holes, level: u32) -> (Vec<Ty>, Ty) {
    let (n, m, k) = (holes.fresh_size(), holes.fresh_size(), holes.fresh_size());
    let dual = || Ty::tuple(vec![Ty::Double, Ty::Double]);
    let vector = |size: &crate::ir::Size| Ty::array(Ty::Double, size.clone());
    let takes = |point: Ty, value: Ty| vec![Ty::fun(vec![point.clone()], value), point];
    match api {
        Api::Diff => (takes(Ty::Double, Ty::Double), dual()),
        Api::Vdiff => (takes(Ty::Double, vector(&m)), Ty::array(dual(), m)),
        Api::Mdiff => (takes(Ty::Double, Ty::array(vector(&m), k.clone())), Ty::array(Ty::array(dual(), m), k)),
        Api::Grad => (takes(vector(&n), Ty::Double), Ty::array(dual(), n)),
        Api::Mgrad => (takes(Ty::array(vector(&n), m.clone()), Ty::Double), Ty::array(Ty::array(dual(), n), m)),
        Api::Jacob => (takes(vector(&n), vector(&m)), Ty::array(Ty::array(dual(), m), n)),
        Api::Derivative => (takes(Ty::Double, Ty::Double), Ty::Double),
        Api::Jacobian => (takes(vector(&n), vector(&m)), Ty::array(vector(&n), m)),
        Api::Hessian => (takes(vector(&n), Ty::Double), Ty::array(vector(&n), n)),
        Api::Gradient => {
            let point = holes.fresh(Class::Any, level);
            (takes(point.clone(), Ty::Double), point)
        }
        Api::ValueAndGradient => {
            let point = holes.fresh(Class::Any, level);
            (takes(point.clone(), Ty::Double), Ty::tuple(vec![Ty::Double, point]))
        }
        Api::Vjp | Api::Rd => {
            let (point, value) = (holes.fresh(Class::Any, level), holes.fresh(Class::Any, level));
            let mut params = takes(point.clone(), value.clone());
            params.push(value);
            (params, point)
        }
        Api::Jvp => {
            let (point, value) = (holes.fresh(Class::Any, level), holes.fresh(Class::Any, level));
            let mut params = takes(point.clone(), value.clone());
            params.push(point);
            (params, value)
        }
    }
}
