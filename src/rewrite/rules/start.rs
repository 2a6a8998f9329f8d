//! Loops of which a part is 0 until one step: the steps before it do without that part.
//!
//!     ifold (fun s i -> (f s.0 i, g s.0 i * s.1 + (if i = k then e s.0 else 0.0))) (x, 0.0) n
//!       →   let t = ifold (fun s i -> f s i) x k in
//!           ifold (fun s j -> let i = j + (k + 1) in (f s.0 i, g s.0 i * s.1)) (f t k, e t) (n - (k + 1))
//!
//! The derivative of a chain in what its step k reads has this form: the tangent begins at step k, and what it begins with is in
//! no other step. Without the rule each of n columns goes through all n steps with both parts; half of that is multiplications by 0.
//! Each step still evaluates what it did, with 0 in the place of the part that is 0: what cannot fail is then dropped by other rules.
//! Limits: a literal number of steps, so that loops around it that run in lanes keep one number of steps; parts that are written
//! out as tuples.

use crate::ir::subst::instance;
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::atoms::is_number;
use crate::rewrite::facts::Facts;
use crate::rewrite::vanish::{Places, Vanishing};

use super::rules;
use super::unroll::SEVERAL;

rules! {
    "fold-start" Loop Algebra @ Fold: "ifold (fun s i -> (f s.0 i, g s.0 i * s.1 + (if i = k then e s.0 else 0.0))) (x, 0.0) 9 -> let t = ifold (fun s i -> f s i) x k in ifold (fun s j -> (f s.0 (j + (k + 1)), g s.0 (j + (k + 1)) * s.1)) (f t k, e t) (9 - (k + 1))"
        if ["0 <= k && k < 9"] => fold_start;
}

/// A step of more nodes is not written three times.
const STEP_NODES: usize = 2_000;
/// Nothing is written out in a function that has grown to more nodes than this.
const FUNCTION_NODES: usize = 40_000;

fn fold_start(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    let (Term::Index(count), Type::Tuple(_)) = (n.term(), acc.ty()) else { return None };
    if *count > SEVERAL || body.node_count() > STEP_NODES || facts.nodes + 2 * body.node_count() > FUNCTION_NODES {
        return None;
    }
    let (zeros, k) = Zeros::of(acc, i, init, body, facts)?;
    facts.require("0 <= k && k < 9", facts.in_range(&k, &Size::constant(*count)), &k)?;
    let step = |state: &Expr, at: Expr| instance(body, &[(acc.clone(), state.clone()), (i.clone(), at)]);
    // without other components there is nothing to do before step k
    let mut others = Vec::new();
    zeros.others(init, &mut others);
    if others.is_empty() {
        return None;
    }
    let after = |state: &Expr| {
        let first = step(state, k.clone());
        let next = Expr::prim(Prim::Add, vec![k.clone(), Expr::index(1)]);
        let left = Expr::prim(Prim::Sub, vec![n.clone(), next.clone()]);
        Expr::fold(left, acc.full_name(), i.name(), first, |state, j| step(&state, Expr::prim(Prim::Add, vec![j, next.clone()])))
    };
    let together = |mut parts: Vec<Expr>| if parts.len() == 1 { parts.swap_remove(0) } else { Expr::tuple(parts) };
    let many = others.len();
    let before = Expr::fold(k.clone(), acc.name(), i.name(), together(others), |others, i| {
        Expr::bind(acc.name(), step(&zeros.with(&others, many), i), |state| {
            let mut parts = Vec::new();
            zeros.others(&state, &mut parts);
            together(parts)
        })
    });
    Some(Expr::bind(acc.name(), before, |others| after(&zeros.with(&others, many))))
}

/// Which components of an accumulator are 0 before a step.
enum Zeros {
    Zero,
    Other,
    Tuple(Vec<Zeros>),
}

impl Zeros {
    /// The components of a loop that are 0 until step k, and k.
    fn of(acc: &Var, i: &Var, init: &Expr, body: &Expr, facts: &Facts) -> Option<(Zeros, Expr)> {
        let mut zeros = Zeros::first(init);
        loop {
            let before = zeros.count();
            let mut steps = Vec::new();
            let places = Vanishing::new(facts, i).step(acc, zeros.places(), body);
            zeros = zeros.kept(&places, &mut steps);
            match (zeros.count(), steps.as_slice()) {
                (0, _) | (_, []) => return None,
                (count, [k]) if count == before => return Some((zeros, k.clone())),
                (count, _) if count == before => return None,
                _ => {}
            }
        }
    }

    fn first(init: &Expr) -> Zeros {
        match init.term() {
            Term::Tuple(parts) => Zeros::Tuple(parts.iter().map(Zeros::first).collect()),
            _ if is_number(init, 0.0) => Zeros::Zero,
            _ => Zeros::Other,
        }
    }

    fn count(&self) -> usize {
        match self {
            Zeros::Zero => 1,
            Zeros::Other => 0,
            Zeros::Tuple(parts) => parts.iter().map(Zeros::count).sum(),
        }
    }

    fn places(&self) -> Places {
        match self {
            Zeros::Zero => Places::Few(Vec::new()),
            Zeros::Other => Places::Unknown,
            Zeros::Tuple(parts) => Places::Tuple(parts.iter().map(Zeros::places).collect()),
        }
    }

    /// Those that a step leaves 0 but for some steps, which are noted.
    fn kept(&self, places: &Places, steps: &mut Vec<Expr>) -> Zeros {
        match (self, places) {
            (Zeros::Tuple(parts), Places::Tuple(places)) if parts.len() == places.len() => {
                Zeros::Tuple(parts.iter().zip(places).map(|(part, places)| part.kept(places, steps)).collect())
            }
            (Zeros::Zero, Places::Few(few)) => {
                for k in few {
                    if !steps.iter().any(|known| same(known, k)) {
                        steps.push(k.clone());
                    }
                }
                Zeros::Zero
            }
            (Zeros::Tuple(parts), Places::Few(_) | Places::Tuple(_) | Places::Unknown) => {
                Zeros::Tuple(parts.iter().map(|part| part.kept(&Places::Unknown, steps)).collect())
            }
            (Zeros::Zero | Zeros::Other, Places::Few(_) | Places::Tuple(_) | Places::Unknown) => Zeros::Other,
        }
    }

    /// The other components of a state.
    fn others(&self, state: &Expr, found: &mut Vec<Expr>) {
        match self {
            Zeros::Zero => {}
            Zeros::Other => found.push(state.clone()),
            Zeros::Tuple(parts) => parts.iter().enumerate().for_each(|(k, part)| {
                let component = match state.term() {
                    Term::Tuple(components) if k < components.len() => components[k].clone(),
                    _ => Expr::proj(state.clone(), k),
                };
                part.others(&component, found);
            }),
        }
    }

    /// The state with these other components: a tuple of so many, or a single one.
    fn with(&self, others: &Expr, count: usize) -> Expr {
        let mut at = 0;
        self.state(&mut || {
            at += 1;
            if count == 1 { others.clone() } else { Expr::proj(others.clone(), at - 1) }
        })
    }

    fn state(&self, other: &mut dyn FnMut() -> Expr) -> Expr {
        match self {
            Zeros::Zero => Expr::double(0.0),
            Zeros::Other => other(),
            Zeros::Tuple(parts) => Expr::tuple(parts.iter().map(|part| part.state(other)).collect()),
        }
    }
}
