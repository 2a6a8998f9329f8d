//! The arithmetic of one iteration as a graph: equal values are one node, whatever the order and the brackets of their sums
//! and products, and signs stand outside.
//!
//!     a * (b * -c), c * b * a   →   one product of a, b, c, once negated
//!     2.0 * x * y + 2.0 * z     →   2.0 * (x * y + z)

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::Prim;
use crate::loops::program::{Elem, Id, Value};

/// A node, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref {
    pub node: usize,
    pub minus: bool,
}

impl Ref {
    pub fn negated(self, minus: bool) -> Ref {
        Ref { minus: self.minus != minus, ..self }
    }
}

impl From<usize> for Ref {
    fn from(node: usize) -> Ref {
        Ref { node, minus: false }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// What is not looked into, by its place among the leaves.
    Leaf(usize),
    /// The bits of a finite number above zero.
    Literal(u64),
    /// Two factors or more, in order, at most one of them a literal.
    Product(Vec<usize>),
    /// Two terms or more, in order, the first one positive.
    Sum(Vec<Ref>),
    Op(Head, Vec<Ref>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    Prim(Prim, Elem, bool),
    Helper(&'static str),
    Select,
}

#[derive(Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    numbers: FxHashMap<Node, usize>,
    pub leaves: Vec<Value>,
    /// Nodes that do not change in the loop.
    pub(super) invariant: Vec<bool>,
    /// The locals that were nodes: a node that takes the place of one has its name.
    pub locals: FxHashMap<usize, Id>,
    /// Values under a name of their own: a sum does not take a named sum apart.
    pub(super) named: FxHashSet<usize>,
    /// Products that products do not take apart.
    closed: FxHashSet<usize>,
    /// The named products of two factors.
    pairs: FxHashMap<[usize; 2], usize>,
    pub style: Style,
}

/// How sums and products are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As they are written.
    Written,
    /// Without the brackets, what all terms have as a factor before the sum.
    #[default]
    Factored,
    /// Without the brackets, but a number is a factor of each term: `2 (x y - z)` is `2 x y - 2 z`, where `2 x` may be what other
    /// products have too.
    NumbersInside,
}

/// What takes the place of a node, given what took the places of those before it; `None` for the node over these.
pub type Change<'a> = dyn FnMut(&mut Graph, usize, &FxHashMap<usize, Ref>) -> Option<Ref> + 'a;

impl Graph {
    pub fn new(style: Style) -> Graph {
        Graph { style, ..Graph::default() }
    }

    pub fn node(&mut self, node: Node) -> usize {
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        let invariant = match &node {
            Node::Leaf(_) => false,
            Node::Literal(_) => true,
            Node::Product(factors) => factors.iter().all(|&factor| self.invariant[factor]),
            Node::Sum(refs) | Node::Op(_, refs) => refs.iter().all(|child| self.invariant[child.node]),
        };
        self.numbers.insert(node.clone(), self.nodes.len());
        self.nodes.push(node);
        self.invariant.push(invariant);
        self.nodes.len() - 1
    }

    pub fn leaf(&mut self, value: &Value, invariant: bool) -> Ref {
        let place = self.leaves.iter().position(|leaf| leaf == value).unwrap_or_else(|| {
            self.leaves.push(value.clone());
            self.leaves.len() - 1
        });
        let node = self.node(Node::Leaf(place));
        self.invariant[node] = invariant;
        node.into()
    }

    pub fn literal(&mut self, number: f64) -> Ref {
        let minus = number.is_sign_negative();
        if number == 0.0 || !number.is_finite() {
            return self.leaf(&Value::Double(number.abs()), false).negated(minus);
        }
        Ref { node: self.node(Node::Literal(number.abs().to_bits())), minus }
    }

    pub fn is_invariant(&self, node: usize) -> bool {
        self.invariant[node]
    }

    /// Gives a value a name: it is computed once, for all that use it.
    pub fn name(&mut self, value: Ref) {
        if self.named.insert(value.node)
            && let Node::Product(factors) = &self.nodes[value.node]
            && let &[a, b] = factors.as_slice()
        {
            self.pairs.insert([a, b], value.node);
        }
    }

    /// A value is declared as the local that was the node in whose place it is.
    pub fn took_place(&mut self, node: usize, value: Ref) {
        if let Some(&local) = self.locals.get(&node)
            && !value.minus
        {
            self.locals.entry(value.node).or_insert(local);
        }
    }

    /// Gives a value a name, and keeps it whole as a factor.
    pub fn close(&mut self, value: Ref) {
        self.name(value);
        self.closed.insert(value.node);
    }

    pub fn is_named(&self, node: usize) -> bool {
        self.named.contains(&node)
    }

    pub fn product(&mut self, refs: &[Ref]) -> Ref {
        let minus = refs.iter().fold(false, |minus, factor| minus != factor.minus);
        let mut factors = Vec::new();
        for factor in refs {
            if let Node::Product(inner) = &self.nodes[factor.node]
                && self.style != Style::Written
                && !self.closed.contains(&factor.node)
            {
                factors.extend(inner);
            } else {
                factors.push(factor.node);
            }
        }
        self.of_factors(factors).negated(minus)
    }

    /// One literal at most, and what has a name by its name.
    fn of_factors(&mut self, mut factors: Vec<usize>) -> Ref {
        if self.style != Style::Written {
            let mut number = 1.0;
            factors.retain(|&factor| {
                let Node::Literal(bits) = self.nodes[factor] else { return true };
                number *= f64::from_bits(bits);
                false
            });
            while self.style == Style::Factored
                && let Some((i, j, pair)) = self.named_pair(&factors)
            {
                factors.remove(j);
                factors[i] = pair;
            }
            if number != 1.0 {
                let literal = self.literal(number);
                if let Some(terms) = self.to_multiply_by_number(&factors) {
                    let terms: Vec<Ref> = terms.iter().map(|term| self.product(&[literal, *term])).collect();
                    return self.raw_sum(terms);
                }
                factors.push(literal.node);
            }
        }
        self.raw_product(factors)
    }

    /// The terms of a sum that takes a number into them.
    fn to_multiply_by_number(&self, factors: &[usize]) -> Option<Vec<Ref>> {
        match (factors, self.style) {
            (&[factor], Style::NumbersInside) if !self.named.contains(&factor) => match &self.nodes[factor] {
                Node::Sum(terms) => Some(terms.clone()),
                Node::Leaf(_) | Node::Literal(_) | Node::Product(_) | Node::Op(..) => None,
            },
            _ => None,
        }
    }

    /// The factors as they are.
    pub fn raw_product(&mut self, mut factors: Vec<usize>) -> Ref {
        factors.sort_unstable();
        match factors.as_slice() {
            [] => self.literal(1.0),
            &[factor] => factor.into(),
            _ => self.node(Node::Product(factors)).into(),
        }
    }

    fn named_pair(&self, factors: &[usize]) -> Option<(usize, usize, usize)> {
        for (i, &a) in factors.iter().enumerate() {
            for (j, &b) in factors.iter().enumerate().skip(i + 1) {
                if let Some(&pair) = self.pairs.get(&[a.min(b), a.max(b)]) {
                    return Some((i, j, pair));
                }
            }
        }
        None
    }

    pub fn sum(&mut self, refs: &[Ref]) -> Ref {
        let mut terms = Vec::new();
        for term in refs {
            if let Node::Sum(inner) = &self.nodes[term.node]
                && self.style != Style::Written
                && !self.named.contains(&term.node)
            {
                terms.extend(inner.iter().map(|part| part.negated(term.minus)));
            } else {
                terms.push(*term);
            }
        }
        if self.style == Style::Written {
            return self.raw_sum(terms);
        }
        let mut common = self.common_factors(&terms);
        if self.style == Style::NumbersInside {
            common.retain(|&factor| !matches!(self.nodes[factor], Node::Literal(_)));
        }
        if common.is_empty() {
            return self.raw_sum(terms);
        }
        let rest: Vec<Ref> = terms.iter().map(|term| self.without(term.node, &common).negated(term.minus)).collect();
        let rest = self.raw_sum(rest);
        let factors: Vec<Ref> = common.into_iter().map(Ref::from).chain([rest]).collect();
        self.product(&factors)
    }

    /// The terms as they are.
    pub fn raw_sum(&mut self, mut terms: Vec<Ref>) -> Ref {
        if let &[term] = terms.as_slice() {
            return term;
        }
        terms.sort_unstable();
        let minus = terms[0].minus;
        terms.iter_mut().for_each(|term| *term = term.negated(minus));
        Ref { node: self.node(Node::Sum(terms)), minus }
    }

    fn factors(&self, node: usize) -> Vec<usize> {
        if let Node::Product(factors) = &self.nodes[node]
            && !self.closed.contains(&node)
        {
            factors.clone()
        } else {
            vec![node]
        }
    }

    /// What every term has as a factor.
    fn common_factors(&self, terms: &[Ref]) -> Vec<usize> {
        let mut common = terms.first().map(|term| self.factors(term.node)).unwrap_or_default();
        for term in &terms[1..] {
            let mut factors = self.factors(term.node);
            common.retain(|factor| match factors.iter().position(|other| other == factor) {
                Some(place) => {
                    factors.swap_remove(place);
                    true
                }
                None => false,
            });
        }
        common
    }

    fn without(&mut self, node: usize, common: &[usize]) -> Ref {
        let mut factors = self.factors(node);
        for factor in common {
            if let Some(place) = factors.iter().position(|other| other == factor) {
                factors.remove(place);
            }
        }
        self.raw_product(factors)
    }

    /// A function's value: the sign of a choice between negated values stands outside.
    pub fn op(&mut self, head: Head, mut refs: Vec<Ref>) -> Ref {
        let choice = matches!(head, Head::Select | Head::Helper("smooth_select"));
        let minus = choice && refs.len() == 3 && refs[2].minus && (self.style != Style::Written || refs[1].minus);
        if minus {
            refs[1..].iter_mut().for_each(|value| *value = value.negated(true));
        }
        Ref { node: self.node(Node::Op(head, refs)), minus }
    }

    /// The nodes that outputs need, each after what it needs.
    pub fn reachable(&self, outputs: &[Ref]) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let mut order = Vec::new();
        for output in outputs {
            self.visit(output.node, &mut seen, &mut order);
        }
        order
    }

    fn visit(&self, node: usize, seen: &mut [bool], order: &mut Vec<usize>) {
        if std::mem::replace(&mut seen[node], true) {
            return;
        }
        match &self.nodes[node] {
            Node::Leaf(_) | Node::Literal(_) => {}
            Node::Product(factors) => factors.iter().for_each(|&factor| self.visit(factor, seen, order)),
            Node::Sum(refs) | Node::Op(_, refs) => refs.iter().for_each(|child| self.visit(child.node, seen, order)),
        }
        order.push(node);
    }

    pub fn children(&self, node: usize) -> Vec<Ref> {
        match &self.nodes[node] {
            Node::Leaf(_) | Node::Literal(_) => Vec::new(),
            Node::Product(factors) => factors.iter().map(|&factor| factor.into()).collect(),
            Node::Sum(refs) | Node::Op(_, refs) => refs.clone(),
        }
    }

    /// How often each node is used.
    pub fn uses(&self, outputs: &[Ref]) -> FxHashMap<usize, usize> {
        let mut uses = FxHashMap::default();
        for node in self.reachable(outputs) {
            self.children(node).iter().for_each(|child| *uses.entry(child.node).or_default() += 1);
        }
        outputs.iter().for_each(|output| *uses.entry(output.node).or_default() += 1);
        uses
    }

    /// The outputs over other nodes.
    pub fn replaced(&mut self, outputs: &[Ref], change: &mut Change) -> Vec<Ref> {
        let mut new: FxHashMap<usize, Ref> = FxHashMap::default();
        for node in self.reachable(outputs) {
            let changed = change(self, node, &new);
            let value = changed.unwrap_or_else(|| self.over(node, &new));
            if self.named.contains(&node) {
                self.name(value);
            }
            self.took_place(node, value);
            new.insert(node, value);
        }
        outputs.iter().map(|output| new[&output.node].negated(output.minus)).collect()
    }

    /// A node over what took the places of its children.
    pub fn over(&mut self, node: usize, new: &FxHashMap<usize, Ref>) -> Ref {
        let at = |child: &Ref| new.get(&child.node).map_or(*child, |value| value.negated(child.minus));
        match self.nodes[node].clone() {
            Node::Leaf(_) | Node::Literal(_) => node.into(),
            Node::Product(factors) => {
                let factors: Vec<Ref> = factors.iter().map(|&factor| at(&factor.into())).collect();
                self.product(&factors)
            }
            Node::Sum(terms) => {
                let terms: Vec<Ref> = terms.iter().map(at).collect();
                self.sum(&terms)
            }
            Node::Op(head, args) => {
                let args = args.iter().map(at).collect();
                self.op(head, args)
            }
        }
    }
}
