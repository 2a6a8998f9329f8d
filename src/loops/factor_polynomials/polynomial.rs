//! What is multiplied and added between two functions, as polynomials: each a sum of products of values.
//!
//! In: the graph of an iteration, and sums and products in it. Out: their polynomials, and those of the sums that are variables in
//! them; either each sum as it is written, or with the sums in it multiplied out.
//!
//!     p = a * q + c; q = b - a * b * a   →   p = a * q + c, q = b - a^2 * b   or   p = a * b - a^3 * b + c
//!
//! Multiplied out is one sum of a product at most, the one that is used least: a square of a difference stays one. A sum of
//! values as they are, `x - c`, stays as well: what cancels in it would no longer.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::graph::{Graph, Node, Ref};

/// A polynomial of more terms is not multiplied out.
const TERMS: usize = 24;
/// A region of more terms stays as it is.
const REGION: usize = 1000;

/// A number times some variables, which are in order: nodes of the graph, or variables that are defined beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    pub number: f64,
    pub factors: Vec<usize>,
}

impl Term {
    /// How many numbers are multiplied.
    pub fn length(&self) -> usize {
        (self.factors.len() + usize::from(self.number.abs() != 1.0)).max(1)
    }

    /// The instructions that it takes in a sum: the last product and the sum are one.
    pub fn cost(&self) -> usize {
        (self.length() - 1).max(1)
    }
}

pub type Polynomial = Vec<Term>;

/// The instructions of a polynomial: none of its terms is added to nothing.
pub fn cost(terms: &[Term]) -> usize {
    terms.iter().map(Term::cost).sum::<usize>() - usize::from(terms.iter().any(|term| term.length() == 1))
}

/// Whether a node is a sum or a product that changes in the loop.
pub fn is_arithmetic(graph: &Graph, node: usize) -> bool {
    matches!(graph.nodes[node], Node::Sum(_) | Node::Product(_)) && !graph.is_invariant(node)
}

/// The polynomials of some roots, and of the sums in them that are variables of theirs; `None` for too many terms.
pub fn polynomials(
    graph: &mut Graph,
    roots: &[usize],
    uses: &FxHashMap<usize, usize>,
    expand: bool,
) -> Option<BTreeMap<usize, Polynomial>> {
    let mut reader = Reader { graph, uses, expand, known: FxHashMap::default() };
    let mut polynomials = BTreeMap::new();
    let mut open: Vec<usize> = roots.to_vec();
    let mut terms = 0;
    while let Some(node) = open.pop() {
        if polynomials.contains_key(&node) {
            continue;
        }
        let polynomial = reader.polynomial(node);
        terms += polynomial.len();
        if terms > REGION {
            return None;
        }
        let variables = polynomial.iter().flat_map(|term| &term.factors).copied();
        open.extend(variables.filter(|&variable| is_arithmetic(reader.graph, variable)));
        polynomials.insert(node, polynomial.to_vec());
    }
    Some(polynomials)
}

struct Reader<'a> {
    graph: &'a mut Graph,
    uses: &'a FxHashMap<usize, usize>,
    expand: bool,
    known: FxHashMap<usize, Rc<Polynomial>>,
}

impl Reader<'_> {
    fn polynomial(&mut self, node: usize) -> Rc<Polynomial> {
        if let Some(known) = self.known.get(&node) {
            return Rc::clone(known);
        }
        let refs = if let Node::Sum(refs) = &self.graph.nodes[node] { refs.clone() } else { vec![node.into()] };
        let written: Polynomial = refs.iter().map(|term| self.term(*term)).collect();
        let mut polynomial = None;
        if self.expand {
            // the shortest first, as far as there is room
            let mut parts: Vec<Polynomial> = written.iter().map(|term| vec![term.clone()]).collect();
            let mut longer: Vec<(usize, Polynomial)> = Vec::new();
            for (k, term) in written.iter().enumerate() {
                longer.extend(self.multiplied_out(term).map(|terms| (k, terms)));
            }
            longer.sort_by_key(|(_, terms)| terms.len());
            let mut room = TERMS.saturating_sub(written.len());
            for (k, terms) in longer {
                if terms.len() <= room + 1 {
                    room -= terms.len() - 1;
                    parts[k] = terms;
                }
            }
            polynomial = like_terms(parts.concat());
        }
        let polynomial = Rc::new(polynomial.or_else(|| like_terms(written.clone())).unwrap_or(written));
        self.known.insert(node, Rc::clone(&polynomial));
        polynomial
    }

    /// A product with one of its sums multiplied out.
    fn multiplied_out(&mut self, term: &Term) -> Option<Polynomial> {
        let sums = term.factors.iter().enumerate().filter(|&(_, &factor)| self.is_sum_of_products(factor));
        let (place, sum) = sums.min_by_key(|(_, factor)| (self.uses.get(factor), **factor)).map(|(place, &sum)| (place, sum))?;
        let mut others = term.clone();
        others.factors.remove(place);
        let parts = self.polynomial(sum);
        Some(parts.iter().map(|part| self.times(&others, part)).collect())
    }

    fn is_sum_of_products(&self, node: usize) -> bool {
        let is_value = |term: &Ref| !matches!(self.graph.nodes[term.node], Node::Product(_) | Node::Sum(_));
        matches!(&self.graph.nodes[node], Node::Sum(terms) if !self.graph.is_invariant(node) && !terms.iter().all(is_value))
    }

    /// A product's factors, those that do not change as one.
    fn term(&mut self, value: Ref) -> Term {
        let mut term = Term { number: if value.minus { -1.0 } else { 1.0 }, factors: Vec::new() };
        self.factors(value.node, &mut term);
        self.in_order(term)
    }

    fn factors(&self, node: usize, term: &mut Term) {
        match &self.graph.nodes[node] {
            Node::Literal(bits) => term.number *= f64::from_bits(*bits),
            Node::Product(factors) if !self.graph.is_invariant(node) => factors.iter().for_each(|&factor| self.factors(factor, term)),
            Node::Leaf(_) | Node::Product(_) | Node::Sum(_) | Node::Op(..) => term.factors.push(node),
        }
    }

    fn times(&mut self, a: &Term, b: &Term) -> Term {
        let factors = [a.factors.as_slice(), &b.factors].concat();
        self.in_order(Term { number: a.number * b.number, factors })
    }

    fn in_order(&mut self, mut term: Term) -> Term {
        let (fixed, mut varying): (Vec<usize>, Vec<usize>) = term.factors.iter().partition(|&&factor| self.graph.is_invariant(factor));
        if fixed.len() > 1 {
            varying.push(self.graph.raw_product(fixed).node);
        } else {
            varying.extend(fixed);
        }
        varying.sort_unstable();
        term.factors = varying;
        term
    }
}

/// The terms with the numbers of equal products added; `None` where a number is too large or nothing is left.
pub fn like_terms(mut terms: Polynomial) -> Option<Polynomial> {
    terms.sort_by(|a, b| a.factors.cmp(&b.factors));
    terms.dedup_by(|term, first| {
        let equal = term.factors == first.factors;
        first.number += if equal { term.number } else { 0.0 };
        equal
    });
    terms.retain(|term| term.number != 0.0);
    let finite = terms.iter().all(|term| term.number.is_finite());
    (finite && !terms.is_empty()).then_some(terms)
}
