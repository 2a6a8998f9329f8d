//! Types during inference: core types with functions, with the records and sum types that declarations make, and holes for what is not
//! known yet.
//!
//! A record's type has its declaration with it, a [`Record`], whose fields have such types again. A sum type is the record of its tag and
//! the data of its cases (`sum`).
//!
//!     type Camera = { focal: Double; centre: Vector<n> }   →   Record Camera [Double, Array(Double, n)]
//!
//! A type hole ([`Ty::Hole`]) carries a class (`Number`: Double or Index); `holes` has what is known of each and solves them by
//! unification, `show` writes types as a user does.

use std::rc::Rc;

use crate::ir::{Atom, Recursive, Size, Type, Var};
use crate::syntax::ast::Name;

/// A type with holes.
#[derive(Clone, Debug)]
pub enum Ty {
    Double,
    Bool,
    Index(Option<Size>),
    Array(Rc<Ty>, Size),
    Tuple(Rc<[Ty]>),
    /// A record or a sum type and the types of its fields.
    Record(Rc<Record>, Rc<[Ty]>),
    /// A sum type that contains itself.
    Rec(Rc<Recursive>),
    Fun(Rc<[Ty]>, Rc<Ty>),
    Hole(u32),
}

/// A declared record or sum type.
#[derive(Debug)]
pub struct Record {
    pub name: Name,
    pub(super) file: usize,
    /// The sizes of its own: those it names, then those of lengths that its fields leave out.
    pub sizes: Vec<Var>,
    /// How many of them are named.
    pub named: usize,
    pub fields: Vec<Rc<str>>,
    /// The types of the fields, over `sizes`.
    pub parts: Vec<Ty>,
    /// Of a sum type, whose fields are its tag and the data of its cases.
    pub cases: Vec<Case>,
    /// Of a sum type that contains itself: its values are rolled.
    pub recursive: Option<Rc<Recursive>>,
}

/// A case of a sum type.
#[derive(Debug)]
pub struct Case {
    pub name: Name,
    pub data: Option<Data>,
}

/// The data of a case.
#[derive(Debug)]
pub struct Data {
    /// The component that they are.
    pub part: usize,
    /// Their type as it is declared, with lengths of the declaration's own.
    pub declared: Ty,
}

/// What a hole may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Any,
    /// Double, Index or Bool: the operands of `=`.
    Scalar,
    /// Double or Index.
    Number,
    /// A number or an array of Doubles of any rank: the operands of `+`.
    Sum,
    /// A Double or an array of Doubles of any rank.
    Tensor,
}

impl Class {
    /// What both allow; `None` is Double alone.
    pub(super) fn meet(self, other: Class) -> Option<Class> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Class::Any, class) | (class, Class::Any) => Some(class),
            (Class::Sum, Class::Tensor) | (Class::Tensor, Class::Sum) => Some(Class::Tensor),
            (Class::Tensor, _) | (_, Class::Tensor) => None,
            (Class::Scalar | Class::Number | Class::Sum, _) => Some(Class::Number),
        }
    }
}

impl Ty {
    pub fn array(element: Ty, size: Size) -> Ty {
        Ty::Array(Rc::new(element), size)
    }

    pub fn fun(params: Vec<Ty>, result: Ty) -> Ty {
        Ty::Fun(params.into(), Rc::new(result))
    }

    pub fn tuple(parts: Vec<Ty>) -> Ty {
        Ty::Tuple(parts.into())
    }

    pub const INDEX: Ty = Ty::Index(None);

    /// The type of `()`: the tuple of nothing.
    pub fn unit() -> Ty {
        Ty::tuple(Vec::new())
    }

    /// What a record of one field is: that field.
    pub fn sole(&self) -> Option<&Ty> {
        let Ty::Record(_, parts) = self else { return None };
        parts.first().filter(|_| parts.len() == 1).map(|part| part.sole().unwrap_or(part))
    }

    /// The type with another one in the place of each Double.
    pub fn with_doubles(&self, by: &Ty) -> Ty {
        match self {
            Ty::Double => by.clone(),
            Ty::Bool | Ty::Index(_) | Ty::Rec(_) | Ty::Hole(_) | Ty::Fun(..) => self.clone(),
            Ty::Array(element, size) => Ty::array(element.with_doubles(by), size.clone()),
            Ty::Tuple(parts) => Ty::tuple(parts.iter().map(|part| part.with_doubles(by)).collect()),
            Ty::Record(record, parts) => Ty::Record(record.clone(), parts.iter().map(|part| part.with_doubles(by)).collect()),
        }
    }

    /// Rebuilds the type with sizes mapped by `size` and holes by `hole`.
    pub fn map(&self, size: &mut dyn FnMut(&Size) -> Size, hole: &mut dyn FnMut(u32) -> Ty) -> Ty {
        match self {
            Ty::Double => Ty::Double,
            Ty::Bool => Ty::Bool,
            Ty::Index(bound) => Ty::Index(bound.as_ref().map(size)),
            Ty::Array(element, length) => {
                let length = size(length);
                Ty::array(element.map(size, hole), length)
            }
            Ty::Tuple(parts) => Ty::tuple(parts.iter().map(|part| part.map(size, hole)).collect()),
            Ty::Record(record, parts) => Ty::Record(record.clone(), parts.iter().map(|part| part.map(size, hole)).collect()),
            Ty::Fun(params, result) => Ty::fun(params.iter().map(|p| p.map(size, hole)).collect(), result.map(size, hole)),
            Ty::Rec(of) => Ty::Rec(of.clone()),
            Ty::Hole(id) => hole(*id),
        }
    }

    fn has_bounds(&self) -> bool {
        match self {
            Ty::Index(bound) => bound.is_some(),
            Ty::Array(element, _) => element.has_bounds(),
            Ty::Tuple(parts) | Ty::Record(_, parts) => parts.iter().any(Ty::has_bounds),
            Ty::Double | Ty::Bool | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => false,
        }
    }

    /// The same with every index bound dropped: what a hole may be solved to.
    pub(super) fn without_bounds(&self) -> Ty {
        match self {
            _ if !self.has_bounds() => self.clone(),
            Ty::Index(_) => Ty::INDEX,
            Ty::Array(element, size) => Ty::array(element.without_bounds(), size.clone()),
            Ty::Tuple(parts) => Ty::tuple(parts.iter().map(Ty::without_bounds).collect()),
            Ty::Record(record, parts) => Ty::Record(record.clone(), parts.iter().map(Ty::without_bounds).collect()),
            Ty::Double | Ty::Bool | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => self.clone(),
        }
    }

    /// Whether the size is in the length of an array.
    pub(super) fn has_length(&self, var: &Var) -> bool {
        match self {
            Ty::Array(element, length) => length.mentions(var) || element.has_length(var),
            Ty::Tuple(parts) | Ty::Record(_, parts) => parts.iter().any(|part| part.has_length(var)),
            Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => false,
        }
    }

    /// Whether one of the sizes is in the bound of an Index.
    pub(super) fn has_bound_of(&self, vars: &[Var]) -> bool {
        match self {
            Ty::Index(bound) => bound.as_ref().is_some_and(|bound| vars.iter().any(|var| bound.mentions(var))),
            Ty::Array(element, _) => element.has_bound_of(vars),
            Ty::Tuple(parts) | Ty::Record(_, parts) => parts.iter().any(|part| part.has_bound_of(vars)),
            Ty::Double | Ty::Bool | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => false,
        }
    }

    /// A core type as an inference type.
    pub fn of_core(ty: &Type) -> Ty {
        match ty {
            Type::Double => Ty::Double,
            Type::Bool => Ty::Bool,
            Type::Index(bound) => Ty::Index(bound.clone()),
            Type::Array(element, size) => Ty::array(Ty::of_core(element), size.clone()),
            Type::Tuple(parts) => Ty::tuple(parts.iter().map(Ty::of_core).collect()),
            Type::Rec(of) => Ty::Rec(of.clone()),
        }
    }

    /// The core type, when nothing is open and no function is inside.
    pub fn to_core(&self) -> Option<Type> {
        Some(match self {
            Ty::Double => Type::Double,
            Ty::Bool => Type::Bool,
            Ty::Index(bound) => Type::Index(bound.clone()),
            Ty::Array(element, size) => Type::array(element.to_core()?, size.clone()),
            Ty::Record(_, parts) if parts.len() == 1 => return parts.first().and_then(Ty::to_core),
            Ty::Tuple(parts) | Ty::Record(_, parts) => Type::tuple(parts.iter().map(Ty::to_core).collect::<Option<_>>()?),
            Ty::Rec(of) => Type::Rec(of.clone()),
            Ty::Fun(..) | Ty::Hole(_) => return None,
        })
    }
}

impl Record {
    /// Whether the names are fields, with `all` each of them.
    pub(super) fn has(&self, names: &[&Name], all: bool) -> bool {
        (!all || names.len() == self.fields.len()) && names.iter().all(|name| self.place(&name.text).is_some())
    }

    pub(super) fn place(&self, field: &str) -> Option<usize> {
        self.fields.iter().position(|own| **own == *field).filter(|_| !self.is_sum())
    }

    pub fn is_sum(&self) -> bool {
        !self.cases.is_empty()
    }

    /// The number of the case of this name.
    pub fn case(&self, name: &str) -> Option<usize> {
        self.cases.iter().position(|case| *case.name.text == *name)
    }

    /// The types of the fields with other sizes.
    pub fn instance(&self, sizes: &[Size]) -> Vec<Ty> {
        let replace = |size: &Size| {
            size.substitute(&mut |atom| match atom {
                Atom::Var(var) => self.sizes.iter().position(|own| own == var).and_then(|at| sizes.get(at).cloned()),
                Atom::Unknown(_) | Atom::Term(_) => None,
            })
        };
        self.parts.iter().map(|part| part.map(&mut { replace }, &mut Ty::Hole)).collect()
    }

    /// A field's type, without bounds by sizes that are no lengths: nothing says these of a value that is made.
    pub(super) fn stored(&self, template: &Ty) -> Ty {
        let is_length = |var: &Var| self.parts.iter().any(|part| part.has_length(var));
        let bounds: Vec<Var> = self.sizes.iter().filter(|var| !is_length(var)).cloned().collect();
        if template.has_bound_of(&bounds) { template.without_bounds() } else { template.clone() }
    }

    /// What the named sizes are in an instance.
    pub fn arguments(&self, parts: &[Ty]) -> Vec<Option<Size>> {
        fn find(template: &Ty, ty: &Ty, var: &Var) -> Option<Size> {
            match (template, ty) {
                (Ty::Array(inner, size), Ty::Array(element, length)) => match size.as_var() == Some(var) {
                    true => Some(length.clone()),
                    false => find(inner, element, var),
                },
                (Ty::Index(Some(size)), Ty::Index(bound)) if size.as_var() == Some(var) => bound.clone(),
                (Ty::Tuple(a) | Ty::Record(_, a), Ty::Tuple(b) | Ty::Record(_, b)) => {
                    a.iter().zip(b.iter()).find_map(|(a, b)| find(a, b, var))
                }
                _ => None,
            }
        }
        let of = |var: &Var| self.parts.iter().zip(parts).find_map(|(template, ty)| find(template, ty, var));
        self.sizes.iter().take(self.named).map(of).collect()
    }
}
