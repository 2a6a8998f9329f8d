//! Core types: every array type carries its sizes, every bounded index its bound (002 Figure 1: `array n`, `fin n`).
//!
//! In: a type. Out: its parts, its sizes, and the types that are made of it, such as that of its dual; for a primitive the type of its
//! result.
//!
//!     Array<Double * Index<k>, n>   has the dual   Array<(Double * Double) * Index<k>, n>

use std::rc::Rc;

use super::{Recursive, Size, Type};
use crate::ir::prim::{Kind, Prim};

impl Type {
    pub const INDEX: Type = Type::Index(None);

    pub fn array(element: Type, size: Size) -> Type {
        Type::Array(Rc::new(element), size)
    }

    pub fn tuple(parts: Vec<Type>) -> Type {
        Type::Tuple(parts.into())
    }

    /// The type of duals, D(T) of 001 Figure 7's typing rules, except that Index and Bool stay as they are:
    /// Double → Double * Double, arrays and tuples pointwise, a recursive type as a Double: the value and one of the tangents.
    pub fn dual(&self) -> Type {
        match self {
            Type::Double | Type::Rec(_) => Type::tuple(vec![self.clone(), self.clone()]),
            Type::Bool | Type::Index(_) => self.clone(),
            Type::Array(element, size) => Type::array(element.dual(), size.clone()),
            Type::Tuple(parts) => Type::tuple(parts.iter().map(Type::dual).collect()),
        }
    }

    /// The type with another one in the place of each Double.
    pub fn with_doubles(&self, by: &Type) -> Type {
        match self {
            Type::Double => by.clone(),
            // a Jacobian of one is refused by `types`
            Type::Bool | Type::Index(_) | Type::Rec(_) => self.clone(),
            Type::Array(element, size) => Type::array(element.with_doubles(by), size.clone()),
            Type::Tuple(parts) => Type::tuple(parts.iter().map(|part| part.with_doubles(by)).collect()),
        }
    }

    /// Whether a Double is anywhere inside: only such a type can have a tangent.
    pub fn has_double(&self) -> bool {
        match self {
            Type::Double => true,
            Type::Bool | Type::Index(_) => false,
            Type::Array(element, _) => element.has_double(),
            Type::Tuple(parts) => parts.iter().any(Type::has_double),
            Type::Rec(of) => of.has_double(),
        }
    }

    /// Whether an array is anywhere inside, values of recursive types aside: those have their own lengths.
    pub fn has_array(&self) -> bool {
        match self {
            Type::Array(..) => true,
            Type::Tuple(parts) => parts.iter().any(Type::has_array),
            Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => false,
        }
    }

    /// Doubles, tuples and arrays of such, nothing else.
    pub fn is_made_of_doubles(&self) -> bool {
        match self {
            Type::Double => true,
            Type::Bool | Type::Index(_) | Type::Rec(_) => false,
            Type::Array(element, _) => element.is_made_of_doubles(),
            Type::Tuple(parts) => parts.iter().all(Type::is_made_of_doubles),
        }
    }

    /// Whether it has more scalar parts than this, those of an array's elements counted once; walks no further.
    pub fn has_more_components(&self, limit: usize) -> bool {
        fn left(ty: &Type, limit: usize) -> Option<usize> {
            match ty {
                Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => limit.checked_sub(1),
                Type::Array(element, _) => left(element, limit),
                Type::Tuple(parts) => parts.iter().try_fold(limit, |limit, part| left(part, limit)),
            }
        }
        left(self, limit).is_none()
    }

    /// The type with every index bound dropped.
    pub fn without_bounds(&self) -> Type {
        match self {
            Type::Index(_) => Type::INDEX,
            Type::Array(element, size) => Type::array(element.without_bounds(), size.clone()),
            Type::Tuple(parts) => Type::tuple(parts.iter().map(Type::without_bounds).collect()),
            Type::Double | Type::Bool | Type::Rec(_) => self.clone(),
        }
    }

    /// The type with the index bounds of another of the same shape.
    pub fn with_bounds_of(&self, other: &Type) -> Type {
        match (self, other) {
            (Type::Index(_), Type::Index(bound)) => Type::Index(bound.clone()),
            (Type::Array(element, size), Type::Array(other, _)) => Type::array(element.with_bounds_of(other), size.clone()),
            (Type::Tuple(parts), Type::Tuple(others)) => {
                Type::tuple(parts.iter().zip(others.iter()).map(|(part, other)| part.with_bounds_of(other)).collect())
            }
            (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_), _) => self.clone(),
        }
    }

    /// Equal when all sizes and bounds are forgotten.
    pub fn same_shape(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Double, Type::Double) | (Type::Bool, Type::Bool) | (Type::Index(_), Type::Index(_)) => true,
            (Type::Array(a, _), Type::Array(b, _)) => a.same_shape(b),
            (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same_shape(b)),
            (Type::Rec(a), Type::Rec(b)) => a == b,
            (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_), _) => false,
        }
    }

    /// Rebuilds the type with every size (lengths and index bounds) mapped.
    pub fn map_sizes(&self, f: &mut dyn FnMut(&Size) -> Size) -> Type {
        match self {
            Type::Double => Type::Double,
            Type::Bool => Type::Bool,
            Type::Index(bound) => Type::Index(bound.as_ref().map(f)),
            Type::Array(element, size) => {
                let size = f(size);
                Type::array(element.map_sizes(f), size)
            }
            Type::Tuple(parts) => Type::tuple(parts.iter().map(|part| part.map_sizes(f)).collect()),
            Type::Rec(of) => Type::Rec(of.clone()),
        }
    }

    /// Calls `f` on every size in the order in which the type is written: `Vector<n>`, `Matrix<rows, columns>`,
    /// `Array<Index<bound>, n>`.
    pub fn each_size(&self, f: &mut dyn FnMut(&Size)) {
        self.walk_sizes(&mut |size, _| f(size));
    }

    /// The same without index bounds.
    pub fn each_length(&self, f: &mut dyn FnMut(&Size)) {
        self.walk_sizes(&mut |size, is_length| {
            if is_length {
                f(size);
            }
        });
    }

    /// Every length, in the order of [`Self::each_length`].
    pub fn lengths(&self) -> Vec<Size> {
        let mut lengths = Vec::new();
        self.each_length(&mut |length| lengths.push(length.clone()));
        lengths
    }

    fn walk_sizes(&self, f: &mut dyn FnMut(&Size, bool)) {
        match self {
            Type::Double | Type::Bool | Type::Index(None) | Type::Rec(_) => {}
            Type::Index(Some(bound)) => f(bound, false),
            Type::Array(element, size) => {
                if let Type::Array(inner, columns) = element.as_ref()
                    && **inner == Type::Double
                {
                    f(size, true);
                    f(columns, true);
                } else {
                    element.walk_sizes(f);
                    f(size, true);
                }
            }
            Type::Tuple(parts) => parts.iter().for_each(|part| part.walk_sizes(f)),
        }
    }

    /// The lengths of the array's dimensions, outermost first; empty for a type that is no array.
    pub fn dims(&self) -> Vec<Size> {
        match self {
            Type::Array(element, size) => std::iter::once(size.clone()).chain(element.dims()).collect(),
            Type::Double | Type::Bool | Type::Index(_) | Type::Tuple(_) | Type::Rec(_) => Vec::new(),
        }
    }

    /// The element type, for an array.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Type::Array(element, _) => Some(element),
            Type::Double | Type::Bool | Type::Index(_) | Type::Tuple(_) | Type::Rec(_) => None,
        }
    }

    /// The first recursive type inside.
    pub fn recursive(&self) -> Option<Rc<Recursive>> {
        match self {
            Type::Rec(of) => Some(of.clone()),
            Type::Array(element, _) => element.recursive(),
            Type::Tuple(parts) => parts.iter().find_map(Type::recursive),
            Type::Double | Type::Bool | Type::Index(_) => None,
        }
    }

    /// The type with each recursive one inside mapped.
    pub(super) fn map_recursive(&self, f: &mut dyn FnMut(&Recursive) -> Rc<Recursive>) -> Type {
        match self {
            Type::Rec(of) => Type::Rec(f(of)),
            Type::Array(element, size) => Type::array(element.map_recursive(f), size.clone()),
            Type::Tuple(parts) => Type::tuple(parts.iter().map(|part| part.map_recursive(f)).collect()),
            Type::Double | Type::Bool | Type::Index(_) => self.clone(),
        }
    }
}

impl Prim {
    /// The type of the result for arguments of these types; `None` when they do not fit.
    pub fn result<'a>(self, args: impl Iterator<Item = &'a Type> + Clone) -> Option<Type> {
        let row = self.row();
        if args.clone().count() != row.arity {
            return None;
        }
        let (mut double, mut index, mut boolean) = (true, true, true);
        for arg in args.clone() {
            double &= matches!(arg, Type::Double);
            index &= matches!(arg, Type::Index(_));
            boolean &= matches!(arg, Type::Bool);
        }
        match row.kind {
            Kind::Number if double => Some(Type::Double),
            Kind::Number if index => Some(Type::INDEX),
            Kind::Double if double => Some(Type::Double),
            Kind::Index if index => Some(Type::INDEX),
            Kind::Order if double || index => Some(Type::Bool),
            Kind::Equality if double || index || boolean => Some(Type::Bool),
            Kind::Bool if boolean => Some(Type::Bool),
            Kind::IndexToDouble if index => Some(Type::Double),
            Kind::DoubleToIndex if double => Some(Type::INDEX),
            Kind::IndexDoubleToDouble => match args.clone().zip(args.skip(1)).next() {
                Some((Type::Index(_), Type::Double)) => Some(Type::Double),
                Some(_) | None => None,
            },
            Kind::Number
            | Kind::Double
            | Kind::Index
            | Kind::Order
            | Kind::Equality
            | Kind::Bool
            | Kind::IndexToDouble
            | Kind::DoubleToIndex => None,
        }
    }
}
