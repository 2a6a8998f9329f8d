//! The dual of a value while it is being computed: primal and tangent apart.
//!
//! In: terms for primals and tangents. Out: [`Value`], and the ways from it to what a context wants: pairs as
//! the API's types have them, or a flat list of primals and tangents for a branch, a loop or a call.
//!
//!     Double         Split(p, t)        pairs   (p, t)
//!     Array<Double>  Split(p, t)        pairs   build(dim(p, 0), i. (p[i], t[i]))
//!     Array<Double>  Paired(z)          primal  build(dim(z, 0), i. z[i].0)
//!
//! `Paired` is for a `build` whose elements are not worth computing twice (D-Build of 001 Figure 7); reading
//! one of its elements costs no view.

use super::activity::Activity;
use super::block::Block;
use super::pairs::{Part, one_or_tuple, tangent_parts, tangent_type, unzip, zero, zip};
use crate::ir::ambient::{is_unset, unset};
use crate::ir::{Expr, Labels, Name, Term, Type, Var};

/// A value and its tangent.
#[derive(Clone, Debug)]
pub enum Value {
    /// No tangent at all.
    Constant(Expr),
    /// A Double or an array, and its tangent.
    Split { primal: Expr, tangent: Expr },
    /// An array of this type as one array of pairs, with its primal and its tangent alone where they have names.
    Paired { pairs: Expr, ty: Type, views: Option<(Expr, Expr)> },
    /// A tuple by component.
    Tuple(Vec<Value>),
}

/// The components of a value that is no tuple: first all primals, then all tangents.
#[derive(Default)]
pub struct Leaves {
    pub primals: Vec<Expr>,
    pub tangents: Vec<Expr>,
}

impl Leaves {
    /// One tuple of everything (the term itself when it is just one).
    pub fn into_tuple(self) -> Expr {
        let mut all = self.primals;
        all.extend(self.tangents);
        one_or_tuple(all)
    }
}

impl Value {
    /// Reads the dual of a value of type `ty` that is given as pairs; `pairs` is a name or an element.
    pub fn of_pairs(ty: &Type, pairs: Expr) -> Value {
        match ty {
            Type::Double => Value::Split { primal: Expr::proj(pairs.clone(), 0), tangent: Expr::proj(pairs, 1) },
            Type::Bool | Type::Index(_) | Type::Rec(_) => Value::Constant(pairs),
            Type::Array(..) if ty.has_double() => Value::Paired { pairs, ty: ty.clone(), views: None },
            Type::Array(..) => Value::Constant(pairs),
            Type::Tuple(parts) => {
                Value::Tuple(parts.iter().enumerate().map(|(k, part)| Value::of_pairs(part, Expr::proj(pairs.clone(), k))).collect())
            }
        }
    }

    /// Reads the dual of a value of type `ty` from a primal and a tangent, both names.
    pub fn of_split(primal: Expr, tangent: Expr) -> Value {
        let Type::Tuple(parts) = primal.ty().clone() else { return Value::Split { primal, tangent } };
        let tangents = tangent_parts(&parts, &tangent);
        let parts = tangents.into_iter().enumerate().map(|(k, tangent)| {
            let primal = Expr::proj(primal.clone(), k);
            match tangent {
                None => Value::Constant(primal),
                Some(tangent) => Value::of_split(primal, tangent),
            }
        });
        Value::Tuple(parts.collect())
    }

    /// A value that was read from pairs, with the primals and tangents of its arrays as they are in `split`.
    pub fn with_views(self, split: Value) -> Value {
        match (self, split) {
            (Value::Paired { pairs, ty, .. }, Value::Split { primal, tangent }) => {
                Value::Paired { pairs, ty, views: Some((primal, tangent)) }
            }
            (Value::Tuple(parts), Value::Tuple(split)) => {
                Value::Tuple(parts.into_iter().zip(split).map(|(part, split)| part.with_views(split)).collect())
            }
            (value, _) => value,
        }
    }

    /// Puts leaves together again: the next primals and tangents are those of a value of this type and activity.
    pub fn of_leaves(
        ty: &Type,
        active: &Activity,
        primals: &mut dyn Iterator<Item = Expr>,
        tangents: &mut dyn Iterator<Item = Expr>,
    ) -> Option<Value> {
        if let Type::Tuple(parts) = ty {
            let parts = parts.iter().enumerate().map(|(k, part)| Value::of_leaves(part, &active.part(k), primals, tangents));
            return Some(Value::Tuple(parts.collect::<Option<_>>()?));
        }
        let primal = primals.next()?;
        if active.is_none() || !ty.has_double() {
            return Some(Value::Constant(primal));
        }
        Some(Value::Split { primal, tangent: tangents.next()? })
    }

    /// The value without its tangent.
    pub fn primal(self, out: &mut Block) -> Expr {
        match self {
            Value::Constant(primal) | Value::Split { primal, .. } | Value::Paired { views: Some((primal, _)), .. } => primal,
            Value::Paired { pairs, ty, views: None } => unzip(&out.bind(pairs_named("array", &pairs), pairs), &ty, Part::Primal),
            Value::Tuple(parts) => Expr::tuple(parts.into_iter().map(|part| part.primal(out)).collect()),
        }
    }

    /// The tangent as one term, zero where there is none.
    pub fn tangent(self, out: &mut Block) -> Expr {
        match self {
            Value::Constant(primal) => zero(&primal, out),
            Value::Split { tangent, .. } | Value::Paired { views: Some((_, tangent)), .. } => tangent,
            Value::Paired { pairs, ty, views: None } => unzip(&out.bind(pairs_named("array", &pairs), pairs), &ty, Part::Tangent),
            Value::Tuple(parts) => one_or_tuple(parts.into_iter().filter(Value::has_double).map(|part| part.tangent(out)).collect()),
        }
    }

    /// The dual as the API's types have it, `Type::dual`.
    pub fn pairs(self, out: &mut Block) -> Expr {
        match self {
            Value::Constant(primal) if !primal.ty().has_double() => primal,
            Value::Constant(primal) => {
                let primal = if primal.ty() == &Type::Double { primal } else { out.bind("primal", primal) };
                zip(&primal, None, primal.ty())
            }
            Value::Split { primal, tangent } if primal.ty() == &Type::Double => Expr::tuple(vec![primal, tangent]),
            Value::Split { primal, tangent } => {
                let (primal, tangent) = (out.bind("primal", primal), out.bind("tangent", tangent));
                zip(&primal, Some(tangent), primal.ty())
            }
            Value::Paired { pairs, .. } => pairs,
            Value::Tuple(parts) => Expr::tuple(parts.into_iter().map(|part| part.pairs(out)).collect()),
        }
    }

    /// Appends the value's leaves, with a tangent for each that is active.
    pub fn leaves(self, active: &Activity, leaves: &mut Leaves, out: &mut Block) {
        match self {
            Value::Tuple(parts) => {
                parts.into_iter().enumerate().for_each(|(k, part)| part.leaves(&active.part(k), leaves, out));
            }
            Value::Constant(primal) => match (primal.ty().clone(), primal.term()) {
                (Type::Tuple(_), Term::Tuple(parts)) => {
                    parts.iter().enumerate().for_each(|(k, part)| Value::Constant(part.clone()).leaves(&active.part(k), leaves, out));
                }
                (Type::Tuple(parts), _) => {
                    let primal = out.bind("primal", primal);
                    for k in 0..parts.len() {
                        Value::Constant(Expr::proj(primal.clone(), k)).leaves(&active.part(k), leaves, out);
                    }
                }
                (ty, _) if active.is_none() || !ty.has_double() => leaves.primals.push(primal),
                (ty, _) if is_unset(&primal) => {
                    leaves.tangents.extend(tangent_type(&ty).and_then(|ty| unset(&ty)));
                    leaves.primals.push(primal);
                }
                (ty, _) => {
                    let primal = if ty == Type::Double { primal } else { out.bind("primal", primal) };
                    leaves.tangents.push(zero(&primal, out));
                    leaves.primals.push(primal);
                }
            },
            Value::Split { primal, tangent } => {
                leaves.primals.push(primal);
                if !active.is_none() {
                    leaves.tangents.push(tangent);
                }
            }
            Value::Paired { pairs, ty, views } => {
                let (primal, tangent) = views.unwrap_or_else(|| {
                    let pairs = out.bind(pairs_named("array", &pairs), pairs);
                    (unzip(&pairs, &ty, Part::Primal), unzip(&pairs, &ty, Part::Tangent))
                });
                leaves.primals.push(primal);
                if !active.is_none() {
                    leaves.tangents.push(tangent);
                }
            }
        }
    }

    /// The same value by names, with `var` bound to its primal.
    pub fn bind(self, var: &Var, out: &mut Block) -> Value {
        let derivative = format!("d{}", var.name());
        match self {
            Value::Constant(primal) => {
                out.let_(var, primal);
                Value::Constant(Expr::var(var))
            }
            Value::Split { primal, tangent } => {
                out.let_(var, primal);
                Value::Split { primal: Expr::var(var), tangent: out.bind(&derivative, tangent) }
            }
            Value::Paired { pairs, ty, views } => {
                let pairs = out.bind(pairs_named(var.name(), &pairs), pairs);
                let (primal, tangent) = views.unwrap_or_else(|| (unzip(&pairs, &ty, Part::Primal), unzip(&pairs, &ty, Part::Tangent)));
                out.spare(var, primal);
                let views = Some((Expr::var(var), out.bind(&derivative, tangent)));
                Value::Paired { pairs, ty, views }
            }
            Value::Tuple(parts) => {
                let parts = parts.into_iter().enumerate().map(|(k, part)| part.named(&var.full_name().part(k), out)).collect();
                let value = Value::Tuple(parts);
                let primal = value.clone().primal(out);
                out.spare(var, primal);
                value
            }
        }
    }

    /// The same value by names.
    pub fn named(self, name: &Name, out: &mut Block) -> Value {
        let derivative = format!("d{}", name.text());
        match self {
            Value::Constant(primal) => Value::Constant(out.bind(name, primal)),
            Value::Split { primal, tangent } => Value::Split { primal: out.bind(name, primal), tangent: out.bind(&derivative, tangent) },
            Value::Paired { views: Some(_), .. } => self,
            Value::Paired { pairs, ty, views: None } => {
                let pairs = out.bind(pairs_named(name, &pairs), pairs);
                let (primal, tangent) = (unzip(&pairs, &ty, Part::Primal), unzip(&pairs, &ty, Part::Tangent));
                let views = Some((out.bind(name, primal), out.bind(&derivative, tangent)));
                Value::Paired { pairs, ty, views }
            }
            Value::Tuple(parts) => Value::Tuple(parts.into_iter().enumerate().map(|(k, part)| part.named(&name.part(k), out)).collect()),
        }
    }

    fn has_double(&self) -> bool {
        match self {
            Value::Constant(primal) => primal.ty().has_double(),
            Value::Split { .. } | Value::Paired { .. } => true,
            Value::Tuple(parts) => parts.iter().any(Value::has_double),
        }
    }
}

/// What an array of values of this name with their tangents is called, and the arrays of each.
fn pairs_named(name: &str, pairs: &Expr) -> Name {
    let both = [name.to_string(), format!("d{name}")].map(|part| Labels::Named(part.into(), Labels::None.into()));
    let labels = pairs.ty().dims().iter().fold(Labels::Tuple(both.into()), |labels, _| Labels::Array(labels.into()));
    Name::with_labels(&format!("{name}_d{name}"), labels)
}
