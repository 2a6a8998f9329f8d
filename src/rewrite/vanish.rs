//! Sparsity: at which of a loop's indices a term may be other than 0.
//!
//! In: a term of a loop's body, and the loop's index i. Out: the few loop-invariant indices k such that the term is 0 unless i
//! is one of them.
//!
//!     (if i = k then a else 0.0) * b[i]                              k
//!     let t = (if i = k then a else 0.0) in t * x + (if l = i then y else 0.0)    k and l
//!     ifold (fun s j -> s + m[j] * (if i = k then a else 0.0)) 0.0 n       k
//!
//! Limits: by `0 * e = 0`, so only for rules of group `algebra`.

use std::collections::{HashMap, HashSet};

use crate::ir::free::{any_free_var, mentions};
use crate::ir::subst::substitute;
use crate::ir::{Expr, Prim, Term, Type, Var};

use super::alike::same;
use super::atoms::is_number;
use super::facts::Facts;
use super::rules::solve::solution;

/// The analysis visits at most so many nodes.
const NODES: usize = 10_000;
/// At most so many indices.
const FEW: usize = 9;

/// The support of a value: where it may be other than 0.
#[derive(Clone)]
pub enum Places {
    Few(Vec<Expr>),
    Tuple(Vec<Places>),
    Unknown,
}

/// The places of terms in one loop.
pub struct Vanishing<'a> {
    facts: &'a Facts,
    i: &'a Var,
    known: HashMap<Var, Places>,
    /// The variables bound inside the loop.
    inside: HashSet<Var>,
    nodes: usize,
}

impl<'a> Vanishing<'a> {
    pub fn new(facts: &'a Facts, i: &'a Var) -> Vanishing<'a> {
        Vanishing { facts, i, known: HashMap::new(), inside: HashSet::from([i.clone()]), nodes: NODES }
    }

    /// Enters a let around the terms.
    pub fn bind(&mut self, x: &Var, value: &Expr) {
        let places = self.places(value);
        self.inside.insert(x.clone());
        self.known.insert(x.clone(), places);
    }

    /// The places of a step's components, where those of the accumulator are these.
    pub fn step(mut self, acc: &Var, state: Places, body: &Expr) -> Places {
        self.inside.insert(acc.clone());
        self.known.insert(acc.clone(), state);
        self.places(body)
    }

    /// The indices outside of which a number is 0.
    pub fn few(&mut self, term: &Expr) -> Option<Vec<Expr>> {
        match self.places(term) {
            Places::Few(few) => Some(few),
            Places::Tuple(_) | Places::Unknown => None,
        }
    }

    fn places(&mut self, term: &Expr) -> Places {
        if self.nodes == 0 {
            return Places::Unknown;
        }
        self.nodes -= 1;
        let few = match term.term() {
            Term::Double(_) => is_number(term, 0.0).then(Vec::new),
            Term::Var(x) => return self.known.get(x).cloned().unwrap_or(Places::Unknown),
            Term::Tuple(parts) => return Places::Tuple(parts.iter().map(|part| self.places(part)).collect()),
            Term::Proj(tuple, k) => match self.places(tuple) {
                Places::Tuple(mut parts) if *k < parts.len() => return parts.swap_remove(*k),
                Places::Few(_) | Places::Tuple(_) | Places::Unknown => None,
            },
            Term::Let(x, value, body) => {
                self.bind(x, value);
                return self.places(body);
            }
            Term::If(cond, a, b) => match self.index(cond) {
                Some(k) => self.few(b).and_then(|few| union(few, vec![k])),
                None => self.few(a).and_then(|few| union(few, self.few(b)?)),
            },
            Term::Prim(prim, args) if term.ty() == &Type::Double => match (prim, args.as_slice()) {
                (Prim::Mul, [a, b]) => match (self.few(a), self.few(b)) {
                    (Some(a), Some(b)) => Some(if b.len() < a.len() { b } else { a }),
                    (a, b) => a.or(b),
                },
                (Prim::Div, [a, _]) | (Prim::Neg, [a]) => self.few(a),
                (Prim::Add | Prim::Sub, [a, b]) => self.few(a).and_then(|few| union(few, self.few(b)?)),
                _ => None,
            },
            // an accumulator that is 0 stays 0 in every step that adds 0
            Term::Fold { acc, i, body, init, .. } if term.ty() == &Type::Double => self.few(init).and_then(|few| {
                self.inside.extend([acc.clone(), i.clone()]);
                self.known.insert(acc.clone(), Places::Few(Vec::new()));
                union(few, self.few(body)?)
            }),
            Term::Get(array, at) => {
                if let Term::Var(x) = array.term()
                    && let Some(Term::Build { i, body, .. }) = self.facts.value(x).map(Expr::term)
                    && mentions(at, self.i)
                {
                    let element = substitute(body, &[(i.clone(), at.clone())]);
                    return self.places(&element);
                }
                None
            }
            _ => None,
        };
        few.map_or(Places::Unknown, Places::Few)
    }

    /// The k of `i = k`, or of a conjunction with that.
    fn index(&self, cond: &Expr) -> Option<Expr> {
        if let Term::Prim(Prim::And, args) = cond.term() {
            args.iter().find_map(|arg| self.index(arg))
        } else {
            solution(cond, self.i).filter(|k| !any_free_var(k, &mut |x| self.inside.contains(x)))
        }
    }
}

fn union(mut few: Vec<Expr>, more: Vec<Expr>) -> Option<Vec<Expr>> {
    for k in more {
        if !few.iter().any(|known| same(known, &k)) {
            few.push(k);
        }
    }
    (few.len() <= FEW).then_some(few)
}
