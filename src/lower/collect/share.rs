//! Products of the same factors, multiplied once; and what an iteration then costs.
//!
//! In: the graph of an iteration. Out: products of two factors, of which several products are made.
//!
//!     a * b * c, b * c * d, b * c   →   t = b * c; a * t, t * d, t

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::graph::{Graph, Head, Node, Ref};
use crate::ir::Prim;
use crate::lower::program::Elem;

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
        let mut lists: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for node in self.reachable(outputs) {
            if let Node::Product(factors) = self.nodes[node].clone() {
                let (fixed, mut varying): (Vec<usize>, Vec<usize>) = factors.iter().partition(|&&factor| self.invariant[factor]);
                if !varying.is_empty() && fixed.len() > 1 {
                    let fixed = self.raw_product(fixed);
                    varying.push(fixed.node);
                    lists.insert(node, varying);
                } else {
                    lists.insert(node, factors);
                }
            }
        }
        while let Some((a, b)) = self.frequent_pair(&lists) {
            let pair = self.raw_product(vec![a, b]).node;
            for (&node, list) in &mut lists {
                while node != pair
                    && let Some((i, j)) = places(list, a, b)
                {
                    list.remove(i.max(j));
                    list[i.min(j)] = pair;
                }
            }
            lists.insert(pair, vec![a, b]);
        }
        self.as_written = true;
        let mut new = FxHashMap::default();
        let outputs = outputs.iter().map(|output| self.rewritten(output.node, &lists, &mut new).negated(output.minus)).collect();
        self.as_written = false;
        outputs
    }

    /// The pair of factors that most products have. One product with the pair and more gains nothing from another that is the
    /// pair, unless that one has a name: either is one instruction with the sum that it is part of.
    fn frequent_pair(&self, lists: &BTreeMap<usize, Vec<usize>>) -> Option<(usize, usize)> {
        let mut found: BTreeMap<(usize, usize), (usize, bool)> = BTreeMap::new();
        for (node, list) in lists {
            let mut pairs: Vec<(usize, usize)> = Vec::new();
            for (i, &a) in list.iter().enumerate() {
                pairs.extend(list[i + 1..].iter().map(|&b| (a.min(b), a.max(b))));
            }
            pairs.sort_unstable();
            pairs.dedup();
            for pair in pairs {
                let (longer, whole) = found.entry(pair).or_default();
                *longer += usize::from(list.len() > 2);
                *whole |= list.len() == 2 && self.named.contains(node);
            }
        }
        let mut best: Option<((usize, usize), usize)> = None;
        for (pair, (longer, whole)) in found {
            let count = longer + usize::from(whole);
            if longer > 0 && count > best.map_or(1, |(_, most)| most) {
                best = Some((pair, count));
            }
        }
        best.map(|(pair, _)| pair)
    }

    fn rewritten(&mut self, node: usize, lists: &BTreeMap<usize, Vec<usize>>, new: &mut FxHashMap<usize, Ref>) -> Ref {
        if let Some(done) = new.get(&node) {
            return *done;
        }
        let children: Vec<Ref> = match lists.get(&node) {
            Some(list) => list.iter().map(|&factor| factor.into()).collect(),
            None => self.children(node),
        };
        for child in &children {
            self.rewritten(child.node, lists, new);
        }
        let value = match lists.get(&node) {
            Some(list) => {
                let factors: Vec<Ref> = list.iter().map(|factor| new[factor]).collect();
                self.product(&factors)
            }
            None => self.over(node, new),
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

fn places(list: &[usize], a: usize, b: usize) -> Option<(usize, usize)> {
    let i = list.iter().position(|&factor| factor == a)?;
    let j = list.iter().enumerate().position(|(j, &factor)| j != i && factor == b)?;
    Some((i, j))
}
