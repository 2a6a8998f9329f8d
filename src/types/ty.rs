//! Types during inference: core types with functions, holes for what is not known yet, and their
//! unification.
//!
//! A type hole ([`Ty::Hole`]) is solved by unification and carries a class (`Number`: Double or Index). A
//! size hole is an `Atom::Unknown` that the table calls flexible; it is solved when it meets another size
//! alone. Two sizes that are both decided and not equal are no type error unless they provably differ:
//! the elaborator puts a run-time check where it cannot prove them equal.

use std::collections::HashMap;
use std::rc::Rc;

use super::record::Record;
use crate::budget;
use crate::ir::{Atom, Recursive, Size, Type};

/// A type with holes.
#[derive(Clone, Debug)]
pub enum Ty {
    Double,
    Bool,
    Index(Option<Size>),
    Array(Rc<Ty>, Size),
    Tuple(Rc<[Ty]>),
    /// A record and the types of its fields.
    Record(Rc<Record>, Rc<[Ty]>),
    /// A sum type that contains itself.
    Rec(Rc<Recursive>),
    Fun(Rc<[Ty]>, Rc<Ty>),
    Hole(u32),
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
    fn meet(self, other: Class) -> Option<Class> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Class::Any, class) | (class, Class::Any) => Some(class),
            (Class::Sum, Class::Tensor) | (Class::Tensor, Class::Sum) => Some(Class::Tensor),
            (Class::Tensor, _) | (_, Class::Tensor) => None,
            (Class::Scalar | Class::Number | Class::Sum, _) => Some(Class::Number),
        }
    }
}

#[derive(Clone, Debug)]
enum Hole {
    Open { class: Class, level: u32 },
    Solved(Ty),
}

/// Why two types do not unify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    Types,
    /// The two lengths that provably differ.
    Sizes(Size, Size),
    /// A hole would contain itself.
    Infinite,
    /// A hole would have more components than the budget allows.
    TooLarge,
}

/// All holes of one compilation and what is known of them.
#[derive(Default)]
pub struct Holes {
    types: Vec<Hole>,
    sizes: HashMap<u32, Option<Size>>,
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
        match self {
            Ty::Record(_, parts) if parts.len() == 1 => parts.first().map(|part| part.sole().unwrap_or(part)),
            _ => None,
        }
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

impl Holes {
    /// A type hole made at nesting depth `level` of the functions being inferred.
    pub fn fresh(&mut self, class: Class, level: u32) -> Ty {
        self.types.push(Hole::Open { class, level });
        Ty::Hole(self.types.len() as u32 - 1)
    }

    /// A size hole.
    pub fn fresh_size(&mut self) -> Size {
        let size = Size::unknown();
        if let Some(Atom::Unknown(id)) = size.as_atom() {
            self.sizes.insert(*id, None);
        }
        size
    }

    pub fn class(&self, id: u32) -> Class {
        match self.types.get(id as usize) {
            Some(Hole::Open { class, .. }) => *class,
            Some(Hole::Solved(_)) | None => Class::Any,
        }
    }

    pub fn level(&self, id: u32) -> u32 {
        match self.types.get(id as usize) {
            Some(Hole::Open { level, .. }) => *level,
            Some(Hole::Solved(_)) | None => 0,
        }
    }

    /// The type with its outermost hole resolved.
    pub fn head(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        while let Ty::Hole(id) = ty {
            match self.types.get(id as usize) {
                Some(Hole::Solved(solved)) => ty = solved.clone(),
                Some(Hole::Open { .. }) | None => return ty,
            }
        }
        ty
    }

    /// Whether a type has more scalar parts than this, an array's element counted once; walks no further.
    pub fn has_more_components(&self, ty: &Ty, limit: usize) -> bool {
        self.components_left(ty, limit).is_none()
    }

    fn components_left(&self, ty: &Ty, limit: usize) -> Option<usize> {
        match ty {
            Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Rec(_) | Ty::Fun(..) => limit.checked_sub(1),
            Ty::Array(element, _) => self.components_left(element, limit),
            Ty::Tuple(parts) | Ty::Record(_, parts) => parts.iter().try_fold(limit, |limit, part| self.components_left(part, limit)),
            Ty::Hole(id) => match self.types.get(*id as usize) {
                Some(Hole::Solved(solved)) => self.components_left(solved, limit),
                Some(Hole::Open { .. }) | None => limit.checked_sub(1),
            },
        }
    }

    /// The type with all solved holes and sizes filled in.
    pub fn resolve(&self, ty: &Ty) -> Ty {
        ty.map(&mut |size| self.resolve_size(size), &mut |id| match self.types.get(id as usize) {
            Some(Hole::Solved(solved)) => self.resolve(&solved.clone()),
            Some(Hole::Open { .. }) | None => Ty::Hole(id),
        })
    }

    pub fn resolve_size(&self, size: &Size) -> Size {
        if !size.has_unknown() {
            return size.clone();
        }
        size.substitute(&mut |atom| match atom {
            Atom::Unknown(id) => self.sizes.get(id).and_then(|known| known.as_ref()).map(|known| self.resolve_size(known)),
            Atom::Var(_) | Atom::Term(_) => None,
        })
    }

    /// The hole, when the (resolved) size is one and nothing else.
    pub fn open_size(&self, size: &Size) -> Option<u32> {
        match size.as_atom()? {
            Atom::Unknown(id) if matches!(self.sizes.get(id), Some(None)) => Some(*id),
            Atom::Unknown(_) | Atom::Var(_) | Atom::Term(_) => None,
        }
    }

    pub fn solve_size(&mut self, id: u32, size: Size) {
        self.sizes.insert(id, Some(size));
    }

    /// Solves a hole without checks; used to default open numbers.
    pub fn solve(&mut self, id: u32, ty: Ty) {
        if let Some(hole) = self.types.get_mut(id as usize) {
            *hole = Hole::Solved(ty);
        }
    }

    /// The open holes of a type, in order of appearance.
    pub fn open(&self, ty: &Ty) -> Vec<u32> {
        let mut open = Vec::new();
        self.resolve(ty).map(&mut Size::clone, &mut |id| {
            if !open.contains(&id) {
                open.push(id);
            }
            Ty::Hole(id)
        });
        open
    }

    pub fn unify(&mut self, a: &Ty, b: &Ty) -> Result<(), Mismatch> {
        let (a, b) = (self.head(a), self.head(b));
        match (&a, &b) {
            (Ty::Hole(x), Ty::Hole(y)) if x == y => Ok(()),
            (Ty::Hole(x), Ty::Hole(y)) => {
                let Some(class) = self.class(*x).meet(self.class(*y)) else {
                    self.solve(*x, Ty::Double);
                    self.solve(*y, Ty::Double);
                    return Ok(());
                };
                let level = self.level(*x).min(self.level(*y));
                if let Some(hole) = self.types.get_mut(*y as usize) {
                    *hole = Hole::Open { class, level };
                }
                self.solve(*x, b);
                Ok(())
            }
            (Ty::Hole(x), other) | (other, Ty::Hole(x)) => self.bind(*x, other),
            (Ty::Double, Ty::Double) | (Ty::Bool, Ty::Bool) | (Ty::Index(_), Ty::Index(_)) => Ok(()),
            (Ty::Array(x, n), Ty::Array(y, m)) => {
                self.unify(x, y)?;
                self.unify_size(n, m)
            }
            (Ty::Tuple(xs), Ty::Tuple(ys)) if xs.len() == ys.len() => xs.iter().zip(ys.iter()).try_for_each(|(x, y)| self.unify(x, y)),
            (Ty::Rec(a), Ty::Rec(b)) if a == b => Ok(()),
            // the lengths inside a sum are those of the value at hand
            (Ty::Record(a, _), Ty::Record(b, _)) if Rc::ptr_eq(a, b) && a.is_sum() => Ok(()),
            (Ty::Record(a, xs), Ty::Record(b, ys)) if Rc::ptr_eq(a, b) => xs.iter().zip(ys.iter()).try_for_each(|(x, y)| self.unify(x, y)),
            (Ty::Fun(xs, x), Ty::Fun(ys, y)) if xs.len() == ys.len() => {
                xs.iter().zip(ys.iter()).try_for_each(|(x, y)| self.unify(x, y))?;
                self.unify(x, y)
            }
            _ => Err(Mismatch::Types),
        }
    }

    /// Solves size holes; an error only where the sizes provably differ.
    pub fn unify_size(&mut self, a: &Size, b: &Size) -> Result<(), Mismatch> {
        let (a, b) = (self.resolve_size(a), self.resolve_size(b));
        if a == b {
            return Ok(());
        }
        match (self.open_size(&a), self.open_size(&b)) {
            (Some(id), _) if !occurs_in_size(id, &b) => self.solve_size(id, b),
            (_, Some(id)) if !occurs_in_size(id, &a) => self.solve_size(id, a),
            _ if a.sub(&b).as_constant().is_some_and(|difference| difference != 0) => return Err(Mismatch::Sizes(a, b)),
            _ => {}
        }
        Ok(())
    }

    /// The type with lengths of their own in its sums: what a hole stands for may be a value of another case.
    pub(super) fn with_free_sums(&mut self, ty: &Ty) -> Ty {
        match ty {
            Ty::Record(sum, _) if sum.is_sum() => {
                let sizes: Vec<Size> = sum.sizes.iter().map(|_| self.fresh_size()).collect();
                Ty::Record(sum.clone(), sum.instance(&sizes).into())
            }
            Ty::Record(record, parts) => Ty::Record(record.clone(), parts.iter().map(|part| self.with_free_sums(part)).collect()),
            Ty::Tuple(parts) => Ty::tuple(parts.iter().map(|part| self.with_free_sums(part)).collect()),
            Ty::Array(element, size) => Ty::array(self.with_free_sums(element), size.clone()),
            Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => ty.clone(),
        }
    }

    fn bind(&mut self, id: u32, ty: &Ty) -> Result<(), Mismatch> {
        if self.has_more_components(ty, budget::COMPONENTS) {
            return Err(Mismatch::TooLarge);
        }
        let ty = self.resolve(ty).without_bounds();
        let ty = self.with_free_sums(&ty);
        let fits = match (self.class(id), &ty) {
            (Class::Any, _) => true,
            (Class::Number, Ty::Double | Ty::Index(_)) => true,
            (Class::Scalar, Ty::Double | Ty::Index(_) | Ty::Bool) => true,
            (Class::Sum, Ty::Double | Ty::Index(_)) | (Class::Tensor, Ty::Double) => true,
            (Class::Sum | Class::Tensor, Ty::Array(element, _)) => self.restrict(element),
            (Class::Number | Class::Scalar | Class::Sum | Class::Tensor, _) => false,
        };
        if !fits {
            return Err(Mismatch::Types);
        }
        let level = self.level(id);
        for inner in self.open(&ty) {
            if inner == id {
                return Err(Mismatch::Infinite);
            }
            if let Some(Hole::Open { level: other, .. }) = self.types.get_mut(inner as usize) {
                *other = (*other).min(level);
            }
        }
        self.solve(id, ty);
        Ok(())
    }
}

impl Holes {
    /// Whether a type can be a Double or an array of Doubles of any rank; from now on it can be nothing else.
    fn restrict(&mut self, ty: &Ty) -> bool {
        match self.head(ty) {
            Ty::Double => true,
            Ty::Array(element, _) => self.restrict(&element),
            Ty::Hole(id) => {
                match self.class(id).meet(Class::Tensor) {
                    Some(class) => self.set_class(id, class),
                    None => self.solve(id, Ty::Double),
                }
                true
            }
            Ty::Bool | Ty::Index(_) | Ty::Tuple(_) | Ty::Record(..) | Ty::Rec(_) | Ty::Fun(..) => false,
        }
    }

    fn set_class(&mut self, id: u32, to: Class) {
        if let Some(Hole::Open { class, .. }) = self.types.get_mut(id as usize) {
            *class = to;
        }
    }

    /// What may be an array of Doubles is a number.
    pub fn narrow(&mut self, id: u32) {
        match self.class(id) {
            Class::Sum => self.set_class(id, Class::Number),
            Class::Tensor => self.solve(id, Ty::Double),
            Class::Any | Class::Scalar | Class::Number => {}
        }
    }

    /// The type belongs to what is around a function, too.
    pub fn lower(&mut self, ty: &Ty, to: u32) {
        for id in self.open(ty) {
            if let Some(Hole::Open { level, .. }) = self.types.get_mut(id as usize) {
                *level = (*level).min(to);
            }
        }
    }
}

fn occurs_in_size(id: u32, size: &Size) -> bool {
    size.atoms().any(|atom| *atom == Atom::Unknown(id))
}

/// A type as a user writes it; open holes are `'a`, `'b`, … in order of appearance.
pub fn show(holes: &Holes, ty: &Ty, names: &mut Vec<u32>) -> String {
    match holes.head(ty) {
        Ty::Double => "Double".into(),
        Ty::Bool => "Bool".into(),
        Ty::Index(None) => "Index".into(),
        Ty::Index(Some(size)) => format!("Index<{}>", show_size(holes, &size)),
        Ty::Array(element, size) => {
            let size = show_size(holes, &size);
            match holes.head(&element) {
                Ty::Double if size == "_" => "Vector".into(),
                Ty::Double => format!("Vector<{size}>"),
                Ty::Array(inner, columns) if matches!(holes.head(&inner), Ty::Double) => {
                    match (size.as_str(), show_size(holes, &columns).as_str()) {
                        ("_", "_") => "Matrix".into(),
                        (rows, columns) => format!("Matrix<{rows}, {columns}>"),
                    }
                }
                other if size == "_" => format!("Array<{}>", show(holes, &other, names)),
                other => format!("Array<{}, {size}>", show(holes, &other, names)),
            }
        }
        Ty::Record(record, parts) => {
            let sizes: Vec<String> =
                record.arguments(&parts).iter().map(|size| size.as_ref().map_or("_".into(), |size| show_size(holes, size))).collect();
            if sizes.is_empty() { record.name.text.to_string() } else { format!("{}<{}>", record.name.text, sizes.join(", ")) }
        }
        Ty::Rec(of) => of.name().to_string(),
        Ty::Tuple(parts) if parts.is_empty() => "Unit".into(),
        Ty::Tuple(parts) => {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| match holes.head(part) {
                    Ty::Tuple(_) | Ty::Fun(..) => format!("({})", show(holes, part, names)),
                    _ => show(holes, part, names),
                })
                .collect();
            parts.join(" * ")
        }
        Ty::Fun(params, result) => {
            let mut text = String::new();
            for param in params.iter() {
                match holes.head(param) {
                    Ty::Fun(..) => text += &format!("({}) => ", show(holes, param, names)),
                    _ => text += &format!("{} => ", show(holes, param, names)),
                }
            }
            text + &show(holes, &result, names)
        }
        Ty::Hole(id) => {
            let at = names.iter().position(|name| *name == id).unwrap_or_else(|| {
                names.push(id);
                names.len() - 1
            });
            match at {
                0..26 => format!("'{}", (b'a' + at as u8) as char),
                _ => format!("'t{at}"),
            }
        }
    }
}

fn show_size(holes: &Holes, size: &Size) -> String {
    let size = holes.resolve_size(size);
    if size.has_unknown() { "_".into() } else { size.to_string() }
}
