//! Random instances of a law's left side, for its test.
//!
//! In: a law and a generator. Out: a term that the law's left side matches, its metavariables standing for
//! random terms that meet the law's conditions where those ask for a form.
//!
//!     e * 1 -> e   gives   (sin x + v[k]) * 1.0

use super::Law;
use super::build::Building;
use super::condition::{Condition, Test};
use super::pattern::{Binding, Pattern, Stands};
use crate::ir::prim::Kind;
use crate::ir::{Expr, Size, Type};
use crate::rewrite::generate::Generator;

impl Law {
    pub fn is_empty(&self) -> bool {
        self.equations().is_empty()
    }

    /// One of the left sides with random terms for its metavariables.
    pub fn instance(&self, g: &mut Generator) -> Option<Expr> {
        // a type that is chosen for the whole may not fit the literals
        (0..20).find_map(|_| self.try_instance(g))
    }

    fn try_instance(&self, g: &mut Generator) -> Option<Expr> {
        let equation = self.equations().get(g.below(self.equations().len().max(1)))?;
        let mut binding = Binding::default();
        let ty = if equation.left.is_boolean() { Type::Bool } else { [Type::Double, Type::INDEX][g.below(2)].clone() };
        let asks =
            |name: &str, wanted: Condition| equation.conditions.iter().any(|side| side.test == Test::Is(wanted) && side.meta == name);
        equation.left.fill(
            &ty,
            &mut |name, ty, g| match ty {
                Type::Double if asks(name, Condition::Literal) || asks(name, Condition::NonZero) => Expr::double(g.below(4) as f64 - 1.5),
                Type::Index(_) if asks(name, Condition::Literal) => Expr::index(g.below(4) as i64),
                _ if asks(name, Condition::Atomic) => g.term(ty, 0),
                _ => g.term(ty, 2),
            },
            &mut binding,
            g,
        );
        Building::new(&binding).term(&equation.left, &ty)
    }
}

impl Pattern {
    fn is_boolean(&self) -> bool {
        match self {
            Pattern::Prim(prim, _) => {
                matches!(prim.row().kind, Kind::Bool | Kind::Order | Kind::Equality)
            }
            Pattern::If(parts) => parts[1..].iter().any(|part| matches!(part, Pattern::Bool(_))),
            Pattern::Meta(_)
            | Pattern::Number(_)
            | Pattern::Double(_)
            | Pattern::Bool(_)
            | Pattern::Get(_)
            | Pattern::Length(_)
            | Pattern::Tuple(_)
            | Pattern::Proj(..)
            | Pattern::Array(_)
            | Pattern::Update(..)
            | Pattern::Applied(..)
            | Pattern::Bound(_)
            | Pattern::Let(..)
            | Pattern::Build(..)
            | Pattern::Fold(..) => false,
        }
    }

    /// Chooses a term for every metavariable not yet chosen.
    fn fill<'a>(
        &'a self,
        ty: &Type,
        choose: &mut dyn FnMut(&str, &Type, &mut Generator) -> Expr,
        binding: &mut Binding<'a>,
        g: &mut Generator,
    ) {
        match self {
            Pattern::Meta(name) => {
                if binding.get(name).is_none() {
                    let term = choose(name, ty, g);
                    binding.metas.push((name, Stands { params: Vec::new(), term }));
                }
            }
            // no law of the tables has these
            Pattern::Applied(..) | Pattern::Bound(_) | Pattern::Let(..) | Pattern::Build(..) | Pattern::Fold(..) => {}
            Pattern::Proj(..) | Pattern::Array(_) | Pattern::Update(..) => {}
            Pattern::Number(_) | Pattern::Double(_) | Pattern::Bool(_) => {}
            Pattern::Prim(prim, parts) => {
                let operand = match prim.row().kind {
                    Kind::Number => ty.clone(),
                    Kind::Double | Kind::DoubleToIndex | Kind::IndexDoubleToDouble => Type::Double,
                    Kind::Index | Kind::IndexToDouble => Type::INDEX,
                    Kind::Order | Kind::Equality => [Type::Double, Type::INDEX][g.below(2)].clone(),
                    Kind::Bool => Type::Bool,
                };
                parts.iter().for_each(|part| part.fill(&operand, choose, binding, g));
            }
            Pattern::If(parts) => {
                let [c, a, b] = &**parts;
                c.fill(&Type::Bool, choose, binding, g);
                a.fill(ty, choose, binding, g);
                b.fill(ty, choose, binding, g);
            }
            Pattern::Get(parts) => {
                let [array, index] = &**parts;
                array.fill(&Type::array(Type::Double, Size::constant(1)), choose, binding, g);
                index.fill(&Type::INDEX, choose, binding, g);
            }
            Pattern::Length(array) => array.fill(&Type::array(Type::Double, Size::constant(1)), choose, binding, g),
            Pattern::Tuple(parts) => parts.iter().for_each(|part| part.fill(&Type::Double, choose, binding, g)),
        }
    }
}
