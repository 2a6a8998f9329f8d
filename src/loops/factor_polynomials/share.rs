//! Products of the same factors, multiplied once, and sums of the same terms, added once; and what an iteration then costs.
//!
//! In: the graph of an iteration. Out: products of two factors, of which several products are made, and sums of two terms, of
//! which several sums are made.
//!
//!     a * b * c, b * c * d, b * c   →   t = b * c; a * t, t * d, t
//!     a - b + c, b - a + d          →   t = a - b; t + c, d - t

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::graph::{Graph, Head, Node, Ref, Style};
use crate::ir::Prim;
use crate::loops::program::Elem;

impl Graph {
    /// Quotients by the same number are products with its reciprocal, which is computed once.
    pub fn share_reciprocals(&mut self, outputs: &[Ref]) -> Vec<Ref> {
        let mut quotients: FxHashMap<usize, usize> = FxHashMap::default();
        for node in self.reachable(outputs) {
            if let Node::Op(Head::Prim(Prim::Div, Elem::Double, _), args) = &self.nodes[node] {
                *quotients.entry(args[1].node).or_default() += 1;
            }
        }
        let one = self.literal(1.0);
        self.replaced(outputs, &mut |graph, node, new| {
            let Node::Op(head @ Head::Prim(Prim::Div, Elem::Double, _), args) = graph.nodes[node].clone() else { return None };
            let &[over, under] = args.as_slice() else { return None };
            (over.node != one.node && quotients[&under.node] > 1).then_some(())?;
            let at = |child: Ref| new[&child.node].negated(child.minus);
            let under = at(under);
            let inverse = graph.op(head, vec![one, under.negated(under.minus)]);
            Some(graph.product(&[at(over), inverse.negated(under.minus)]))
        })
    }

    /// Products that share two factors compute their product once, the most frequent pairs first; what does not change in the
    /// loop is multiplied apart.
    pub fn share_products(&mut self, outputs: &[Ref]) -> Vec<Ref> {
        let mut lists: BTreeMap<usize, Vec<Ref>> = BTreeMap::new();
        for node in self.reachable(outputs) {
            if let Node::Product(factors) = self.nodes[node].clone() {
                let (fixed, mut varying): (Vec<usize>, Vec<usize>) = factors.iter().partition(|&&factor| self.invariant[factor]);
                if !varying.is_empty() && fixed.len() > 1 {
                    varying.push(self.raw_product(fixed).node);
                } else {
                    varying = factors;
                }
                lists.insert(node, varying.into_iter().map(Ref::from).collect());
            }
        }
        // one product with the pair and more gains nothing from another that is the pair, unless that one has a name: either is
        // one instruction with the sum that it is part of
        while let Some(pair) = most_frequent(&lists, |node| self.named.contains(&node)) {
            let product = self.raw_product(pair.map(|factor| factor.node).to_vec());
            for (_, list) in lists.iter_mut().filter(|(node, _)| **node != product.node) {
                while let Some((i, j, _)) = places(list, pair) {
                    list.remove(i.max(j));
                    list[i.min(j)] = product;
                }
            }
            lists.insert(product.node, pair.to_vec());
        }
        self.over_lists(outputs, &lists)
    }

    /// Sums that share two terms, up to the sign of both, add them once, the most frequent pairs first.
    pub fn share_sums(&mut self, outputs: &[Ref]) -> Vec<Ref> {
        let mut lists: BTreeMap<usize, Vec<Ref>> = BTreeMap::new();
        for node in self.reachable(outputs) {
            if let Node::Sum(terms) = &self.nodes[node]
                && !self.invariant[node]
            {
                lists.insert(node, terms.clone());
            }
        }
        while let Some(pair) = most_frequent(&lists, |_| true) {
            let sum = self.raw_sum(pair.to_vec());
            for (_, list) in lists.iter_mut().filter(|(node, _)| **node != sum.node) {
                while let Some((i, j, minus)) = places(list, pair) {
                    list.remove(i.max(j));
                    list[i.min(j)] = sum.negated(minus);
                }
            }
        }
        self.over_lists(outputs, &lists)
    }

    /// The outputs where sums and products are made of what lists say.
    fn over_lists(&mut self, outputs: &[Ref], lists: &BTreeMap<usize, Vec<Ref>>) -> Vec<Ref> {
        let style = std::mem::replace(&mut self.style, Style::Written);
        let mut new = FxHashMap::default();
        let outputs = outputs.iter().map(|output| self.rewritten(output.node, lists, &mut new).negated(output.minus)).collect();
        self.style = style;
        outputs
    }

    fn rewritten(&mut self, node: usize, lists: &BTreeMap<usize, Vec<Ref>>, new: &mut FxHashMap<usize, Ref>) -> Ref {
        if let Some(done) = new.get(&node) {
            return *done;
        }
        let children = lists.get(&node).cloned().unwrap_or_else(|| self.children(node));
        let refs: Vec<Ref> = children.iter().map(|child| self.rewritten(child.node, lists, new).negated(child.minus)).collect();
        let value = match self.nodes[node] {
            Node::Product(_) => self.product(&refs),
            Node::Sum(_) => self.sum(&refs),
            Node::Leaf(_) | Node::Literal(_) | Node::Op(..) => self.over(node, new),
        };
        self.took_place(node, value);
        new.insert(node, value);
        value
    }

    /// About the instructions of an iteration, sixteen for each, and one for each outside the loop.
    pub fn cost(&self, outputs: &[Ref]) -> usize {
        let uses = self.uses(outputs);
        let mut cost = 0;
        for node in self.reachable(outputs) {
            let each = if self.invariant[node] { 1 } else { 16 };
            let parts = |refs: &[Ref]| {
                let fixed = refs.iter().filter(|child| self.invariant[child.node]).count();
                if self.invariant[node] { refs.len() } else { refs.len() - fixed + usize::from(fixed > 0) }
            };
            cost += each
                * match &self.nodes[node] {
                    Node::Leaf(_) | Node::Literal(_) => 0,
                    Node::Product(_) => parts(&self.children(node)) - 1,
                    Node::Sum(terms) => {
                        let additions = parts(terms) - 1;
                        // a product and a sum are one instruction
                        let fused = |term: &&Ref| matches!(self.nodes[term.node], Node::Product(_)) && uses[&term.node] == 1;
                        additions - terms.iter().filter(fused).filter(|term| !self.invariant[term.node]).count().min(additions)
                    }
                    Node::Op(..) => 1,
                };
        }
        cost
    }
}

/// The pair that most lists have, up to the sign of both. A list that is the pair counts where `whole` holds of its node.
fn most_frequent(lists: &BTreeMap<usize, Vec<Ref>>, whole: impl Fn(usize) -> bool) -> Option<[Ref; 2]> {
    let mut found: BTreeMap<[Ref; 2], (usize, bool)> = BTreeMap::new();
    for (&node, list) in lists {
        let mut pairs: Vec<[Ref; 2]> = Vec::new();
        for (i, &a) in list.iter().enumerate() {
            pairs.extend(list[i + 1..].iter().map(|&b| up_to_sign([a, b])));
        }
        pairs.sort_unstable();
        pairs.dedup();
        for pair in pairs {
            let (longer, is_whole) = found.entry(pair).or_default();
            *longer += usize::from(list.len() > 2);
            *is_whole |= list.len() == 2 && whole(node);
        }
    }
    let mut best: Option<([Ref; 2], usize)> = None;
    for (pair, (longer, is_whole)) in found {
        let count = longer + usize::from(is_whole);
        if longer > 0 && count > best.map_or(1, |(_, most)| most) {
            best = Some((pair, count));
        }
    }
    best.map(|(pair, _)| pair)
}

/// A pair in order, its first member positive.
fn up_to_sign([a, b]: [Ref; 2]) -> [Ref; 2] {
    let [a, b] = if a.node <= b.node { [a, b] } else { [b, a] };
    [a.negated(a.minus), b.negated(a.minus)]
}

/// Where a list has a pair, and whether negated.
fn places(list: &[Ref], [a, b]: [Ref; 2]) -> Option<(usize, usize, bool)> {
    list.iter().enumerate().filter(|(_, other)| other.node == a.node).find_map(|(i, first)| {
        let second = b.negated(first.minus);
        let j = list.iter().enumerate().position(|(j, other)| j != i && *other == second)?;
        Some((i, j, first.minus))
    })
}
