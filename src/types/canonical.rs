//! The sizes of a specialised function: what is the same up to names.
//!
//! In: the declared parameter types and the arguments' types. Out: [`Actual`], what each declared size and
//! hole is at this use; [`Canonical`], the same types with each different length a size variable of the
//! function's own; [`Needed`], what a body mentions.
//!
//!     vectorDot u u at Vector<2 * k>   →   vectorDot (v: Vector<n>) (w: Vector<n>) with n = 2 * k

use super::ty::Ty;
use crate::ir::{Atom, Expr, Size, Term, Type, Var};

/// What a scheme's size atoms and holes are for the arguments at hand.
#[derive(Default)]
pub(super) struct Actual {
    pub(super) sizes: Vec<(Atom, Size)>,
    holes: Vec<(u32, Type, bool)>,
}

impl Actual {
    /// Matches a parameter's type against an argument's; the first occurrence decides.
    pub(super) fn read(&mut self, param: &Ty, arg: &Type) {
        match (param.sole().unwrap_or(param), arg) {
            (Ty::Array(element, size), Type::Array(inner, length)) => {
                if let Some(atom) = size.as_atom()
                    && !self.sizes.iter().any(|(known, _)| known == atom)
                {
                    self.sizes.push((atom.clone(), length.clone()));
                }
                self.read(element, inner);
            }
            (Ty::Tuple(parts) | Ty::Record(_, parts), Type::Tuple(types)) => {
                parts.iter().zip(types.iter()).for_each(|(part, ty)| self.read(part, ty))
            }
            (Ty::Hole(id), ty) => match self.holes.iter_mut().find(|(known, _, _)| known == id) {
                Some(hole) => hole.2 = true,
                None => self.holes.push((*id, ty.clone(), false)),
            },
            _ => {}
        }
    }

    /// The parameter's type with everything filled in. A hole met twice drops index bounds, which may differ.
    pub(super) fn fill(&self, param: &Ty) -> Type {
        match param.sole().unwrap_or(param) {
            Ty::Double | Ty::Fun(..) => Type::Double,
            Ty::Bool => Type::Bool,
            Ty::Index(bound) => Type::Index(bound.as_ref().map(|bound| self.size(bound))),
            Ty::Array(element, size) => Type::array(self.fill(element), self.size(size)),
            Ty::Tuple(parts) | Ty::Record(_, parts) => Type::tuple(parts.iter().map(|part| self.fill(part)).collect()),
            Ty::Rec(of) => Type::Rec(of.clone()),
            Ty::Hole(id) => match self.holes.iter().find(|(known, _, _)| known == id) {
                Some((_, ty, false)) => ty.clone(),
                Some((_, ty, true)) => ty.without_bounds(),
                None => Type::Double,
            },
        }
    }

    pub(super) fn size(&self, size: &Size) -> Size {
        size.substitute(&mut |atom| self.sizes.iter().find(|(known, _)| known == atom).map(|(_, size)| size.clone()))
    }
}

/// Sizes as a function of its own sees them: each different length of the arguments is one size variable.
#[derive(Default)]
pub(super) struct Canonical {
    pub(super) known: Vec<(Size, Var)>,
    pub(super) key: String,
    /// Whether a constant length is one of many, so that it is a variable too.
    pub(super) any: bool,
}

impl Canonical {
    /// Gives the declared size names their variables, so that `2 * n` may stand before `n`.
    pub(super) fn declare(&mut self, ty: &Type, declared: &Ty) {
        match (ty, declared.sole().unwrap_or(declared)) {
            (Type::Array(element, size), Ty::Array(inner, written)) => {
                if let Some(name) = written.as_var() {
                    self.variable(size, name.name());
                }
                self.declare(element, inner);
            }
            (Type::Tuple(parts), Ty::Tuple(types) | Ty::Record(_, types)) => {
                parts.iter().zip(types.iter()).for_each(|(part, ty)| self.declare(part, ty))
            }
            _ => {}
        }
    }

    /// The type with each length a constant or a variable. A variable takes the name that the parameter
    /// declares for it.
    pub(super) fn lengths(&mut self, ty: &Type, declared: &Ty, param: &str) -> Type {
        let total = ty.dims().len();
        self.walk(ty, Some(declared), param, 0, total)
    }

    pub(super) fn walk(&mut self, ty: &Type, declared: Option<&Ty>, param: &str, axis: usize, total: usize) -> Type {
        let declared = declared.map(|declared| declared.sole().unwrap_or(declared));
        match ty {
            Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => ty.clone(),
            Type::Array(element, size) => {
                let (inner, name) = match declared {
                    Some(Ty::Array(inner, written)) => (Some(&**inner), written.as_var().map(|var| var.name().to_string())),
                    _ => (None, None),
                };
                let composed = match declared {
                    // a declared `2 * n` stays one, so that the relation is not lost
                    Some(Ty::Array(_, written)) if written.as_atom().is_none() && self.expressible(size) => true,
                    _ => false,
                };
                let is_declared = matches!(declared, Some(Ty::Array(_, written)) if written.as_constant().is_some());
                let size = if is_declared {
                    size.clone()
                } else if composed {
                    self.size(size)
                } else {
                    let name = name.unwrap_or_else(|| if total <= 1 { format!("{param}_n") } else { format!("{param}_n{axis}") });
                    self.variable(size, &name)
                };
                Type::array(self.walk(element, inner, param, axis + 1, total), size)
            }
            Type::Tuple(parts) => {
                let declared: Vec<Option<&Ty>> = match declared {
                    Some(Ty::Tuple(types) | Ty::Record(_, types)) if types.len() == parts.len() => types.iter().map(Some).collect(),
                    _ => vec![None; parts.len()],
                };
                Type::tuple(
                    parts
                        .iter()
                        .zip(declared)
                        .enumerate()
                        .map(|(at, (part, ty))| self.walk(part, ty, &format!("{param}_{at}"), 0, part.dims().len()))
                        .collect(),
                )
            }
        }
    }

    pub(super) fn variable(&mut self, size: &Size, name: &str) -> Size {
        if size.as_constant().is_some() && !self.any {
            return size.clone();
        }
        if let Some((_, var)) = self.known.iter().find(|(known, _)| known == size) {
            return Size::var(var);
        }
        let var = Var::fresh(name, Type::INDEX);
        self.known.push((size.clone(), var.clone()));
        Size::var(&var)
    }

    /// The size over the variables that are known; atoms that are lengths themselves are replaced.
    pub(super) fn size(&self, size: &Size) -> Size {
        if let Some((_, var)) = self.known.iter().find(|(known, _)| known == size) {
            return Size::var(var);
        }
        size.substitute(&mut |atom| self.known.iter().find(|(known, _)| known.as_atom() == Some(atom)).map(|(_, var)| Size::var(var)))
    }

    pub(super) fn expressible(&self, size: &Size) -> bool {
        size.atoms().all(|atom| self.known.iter().any(|(known, _)| known.as_atom() == Some(atom)))
    }

    /// The type with the index bounds that the function can name.
    pub(super) fn bounds(&self, ty: &Type) -> Type {
        match ty {
            Type::Index(Some(bound)) => {
                let inside = self.size(bound);
                let ours =
                    inside.as_constant().is_some() || inside.as_var().is_some_and(|var| self.known.iter().any(|(_, known)| known == var));
                Type::Index(if ours { Some(inside) } else { None })
            }
            Type::Array(element, size) => Type::array(self.bounds(element), size.clone()),
            Type::Tuple(parts) => Type::tuple(parts.iter().map(|part| self.bounds(part)).collect()),
            Type::Double | Type::Bool | Type::Index(None) | Type::Rec(_) => ty.clone(),
        }
    }

    /// A key with variables numbered by first appearance instead of by their own numbers.
    pub(super) fn anonymous(&self, key: &str, params: &[Var]) -> String {
        let mut key = key.to_string();
        for (at, var) in self.known.iter().map(|(_, var)| var).chain(params).enumerate() {
            key = key.replace(&format!("{var:?}"), &format!("${at}$"));
        }
        key
    }
}

/// The variables that a term and its types mention, in order of first appearance.
#[derive(Default)]
pub(super) struct Needed {
    pub(super) free: indexmap::IndexSet<Var>,
    pub(super) bound: std::collections::HashSet<Var>,
}

impl Needed {
    pub(super) fn ty(&mut self, ty: &Type) {
        ty.each_size(&mut |size| {
            size.each_var(&mut |var| {
                self.free.insert(var.clone());
            });
        });
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        if let Term::Var(var) = expr.term() {
            self.free.insert(var.clone());
        }
        for var in expr.term().binders() {
            self.bound.insert(var.clone());
            self.ty(var.ty());
        }
        self.ty(expr.ty());
        expr.term().each_child(&mut |child| self.expr(child));
    }
}

/// Calls `f` on every variable that is a length by itself, in the order in which the type is written.
pub(super) fn lone(ty: &Type, f: &mut dyn FnMut(&Var)) {
    ty.each_length(&mut |size| size.as_var().into_iter().for_each(&mut *f));
}

pub(super) fn has_unknown(ty: &Type) -> bool {
    let mut found = false;
    ty.each_size(&mut |size| found |= size.has_unknown());
    found
}

pub(super) fn ty_mentions(ty: &Ty, var: &Var) -> bool {
    let mut found = false;
    ty.map(
        &mut |size| {
            found |= size.mentions(var);
            size.clone()
        },
        &mut Ty::Hole,
    );
    found
}
