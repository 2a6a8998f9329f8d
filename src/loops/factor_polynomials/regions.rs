//! Sums factored across what an iteration computes: common divisors of the polynomials of a region, with its sums multiplied out
//! or as they are written, whichever takes fewer operations.
//!
//! In: the graph of an iteration. Out: other values for its outputs.
//!
//!     u = k * (x - a * (a * x + b * y)), v = k * y - a * b * k * x - b * b * k * y
//!     →   w = a * x + b * y; u = k * (x - a * w), v = k * (y - b * w)

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::divisors;
use super::graph::{Graph, Node, Ref, Style};
use super::polynomial::{self, Polynomial, Term, is_arithmetic};

impl Graph {
    /// The outputs with what the polynomials of each region have in common computed once, where that takes fewer operations.
    /// `None` where there is nothing to factor.
    pub fn share_divisors(&mut self, outputs: &[Ref]) -> Option<Vec<Ref>> {
        let uses = self.uses(outputs);
        let mut definitions = FxHashMap::default();
        let mut next = usize::MAX - 1;
        for roots in regions(self, outputs) {
            let mut best: Option<(usize, BTreeMap<usize, Polynomial>)> = None;
            for expand in [false, true] {
                let Some(polynomials) = polynomial::polynomials(self, &roots, &uses, expand) else { continue };
                let divided;
                (divided, next) = divisors::divided(polynomials, &roots, next);
                let cost: usize = divided.values().map(|terms| polynomial::cost(terms)).sum();
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, divided));
                }
            }
            definitions.extend(best.into_iter().flat_map(|(_, polynomials)| polynomials));
        }
        let style = std::mem::replace(&mut self.style, Style::Written);
        let mut builder = Builder { graph: self, definitions, built: FxHashMap::default() };
        let outputs = outputs.iter().map(|output| Some(builder.build(output.node)?.negated(output.minus))).collect();
        self.style = style;
        outputs
    }
}

struct Builder<'a> {
    graph: &'a mut Graph,
    definitions: FxHashMap<usize, Polynomial>,
    built: FxHashMap<usize, Ref>,
}

impl Builder<'_> {
    fn build(&mut self, variable: usize) -> Option<Ref> {
        if let Some(built) = self.built.get(&variable) {
            return Some(*built);
        }
        let value = match self.definitions.remove(&variable) {
            Some(terms) => {
                let terms = terms.iter().map(|term| self.term(term)).collect::<Option<Vec<Ref>>>()?;
                self.graph.raw_sum(terms)
            }
            None => {
                (variable < self.graph.nodes.len()).then_some(())?;
                for child in self.graph.children(variable) {
                    self.build(child.node)?;
                }
                self.graph.over(variable, &self.built)
            }
        };
        if self.graph.is_named(variable) {
            self.graph.name(value);
        }
        self.graph.took_place(variable, value);
        self.built.insert(variable, value);
        Some(value)
    }

    fn term(&mut self, term: &Term) -> Option<Ref> {
        let mut minus = term.number < 0.0;
        let mut factors = Vec::new();
        for &factor in &term.factors {
            let factor = self.build(factor)?;
            minus ^= factor.minus;
            factors.push(factor.node);
        }
        if term.number.abs() != 1.0 || factors.is_empty() {
            factors.push(self.graph.literal(term.number.abs()).node);
        }
        Some(self.graph.raw_product(factors).negated(minus))
    }
}

/// The roots of the regions: each a list of the sums and products that outputs and functions take, and which have sums in common.
fn regions(graph: &Graph, outputs: &[Ref]) -> Vec<Vec<usize>> {
    let order = graph.reachable(outputs);
    let mut roots: BTreeSet<usize> = outputs.iter().map(|output| output.node).collect();
    for &node in &order {
        if let Node::Op(_, args) = &graph.nodes[node] {
            roots.extend(args.iter().map(|arg| arg.node));
        }
    }
    // the region of a node is named by a node of it
    let mut region: Vec<usize> = (0..graph.nodes.len()).collect();
    fn find(region: &mut [usize], node: usize) -> usize {
        let mut at = node;
        while region[at] != at {
            region[at] = region[region[at]];
            at = region[at];
        }
        at
    }
    for &node in order.iter().filter(|&&node| is_arithmetic(graph, node)) {
        for child in graph.children(node) {
            if is_arithmetic(graph, child.node) {
                let (a, b) = (find(&mut region, node), find(&mut region, child.node));
                region[b] = a;
            }
        }
    }
    let mut lists: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for root in roots {
        if is_arithmetic(graph, root) {
            lists.entry(find(&mut region, root)).or_default().push(root);
        }
    }
    lists.into_values().collect()
}
