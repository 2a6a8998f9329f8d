//! Linear forms: what is a sum of multiples of the same few values, collected to one factor for each.
//!
//! In: the graph of an iteration. Out: other values for its outputs.
//!
//!     (y0 * s - y1 * c) * k + y0 * c   →   y0 * (s * k + c) + y1 * -(c * k)

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::graph::{Graph, Node, Ref};

/// A multiple of each of some values.
type Form = BTreeMap<usize, Ref>;

/// Which factor of a product is the value, and what else is a value as it stands.
pub trait Values {
    /// The factor of which the product is a multiple.
    fn value(&self, graph: &Graph, factors: &[usize]) -> Option<usize>;
    /// Whether a node is not looked into.
    fn is_whole(&self, graph: &Graph, node: usize) -> bool;
    /// Whether what does not change in the loop is a value too: then `x - c` is a form, of x and c.
    fn fixed(&self) -> bool;
}

/// Factors that do not change in the loop, of values that do.
pub struct Fixed;

impl Values for Fixed {
    fn value(&self, graph: &Graph, factors: &[usize]) -> Option<usize> {
        let mut varying = factors.iter().filter(|&&factor| !graph.is_invariant(factor));
        varying.next().copied().filter(|_| varying.next().is_none())
    }

    fn is_whole(&self, graph: &Graph, node: usize) -> bool {
        graph.is_invariant(node)
    }

    fn fixed(&self) -> bool {
        false
    }
}

/// Factors that more outputs need than the values: one linear map of several values.
pub struct Shared {
    /// How many outputs need each node.
    pub reach: FxHashMap<usize, usize>,
    /// What is a linear form in values that do not change.
    pub whole: Vec<usize>,
}

impl Shared {
    pub fn new(graph: &Graph, outputs: &[Ref], whole: Vec<usize>) -> Shared {
        let mut reach = FxHashMap::default();
        for output in outputs {
            for node in graph.reachable(&[*output]) {
                *reach.entry(node).or_default() += 1;
            }
        }
        Shared { reach, whole }
    }
}

impl Values for Shared {
    fn value(&self, graph: &Graph, factors: &[usize]) -> Option<usize> {
        let literal = |node: usize| matches!(graph.nodes[node], Node::Literal(_));
        let reach = |node: usize| if literal(node) { usize::MAX } else { self.reach.get(&node).copied().unwrap_or(usize::MAX) };
        let least = factors.iter().copied().min_by_key(|&factor| reach(factor))?;
        let alone = factors.iter().filter(|&&factor| reach(factor) <= reach(least)).count() == 1;
        (alone && reach(least) < usize::MAX).then_some(least)
    }

    fn is_whole(&self, graph: &Graph, node: usize) -> bool {
        graph.is_invariant(node) || self.whole.contains(&node)
    }

    fn fixed(&self) -> bool {
        true
    }
}

/// The forms of the nodes that outputs need, where they are more than the node itself.
pub fn forms(graph: &mut Graph, outputs: &[Ref], values: &dyn Values) -> FxHashMap<usize, Rc<Form>> {
    let mut forms: FxHashMap<usize, Rc<Form>> = FxHashMap::default();
    for node in graph.reachable(outputs) {
        if values.is_whole(graph, node) {
            continue;
        }
        let form = match graph.nodes[node].clone() {
            Node::Product(factors) => of_product(graph, node, &factors, values, &forms),
            Node::Sum(terms) => of_sum(graph, &terms, values, &forms),
            Node::Leaf(_) | Node::Literal(_) | Node::Op(..) => None,
        };
        if let Some(form) = form {
            if graph.is_named(node) {
                form.values().for_each(|factor| graph.name(*factor));
            }
            forms.insert(node, Rc::new(form));
        }
    }
    forms
}

fn of_node(graph: &mut Graph, node: usize, forms: &FxHashMap<usize, Rc<Form>>) -> Rc<Form> {
    forms.get(&node).cloned().unwrap_or_else(|| Rc::new(BTreeMap::from([(node, graph.literal(1.0))])))
}

fn of_product(graph: &mut Graph, node: usize, factors: &[usize], values: &dyn Values, forms: &FxHashMap<usize, Rc<Form>>) -> Option<Form> {
    let value = values.value(graph, factors)?;
    let mut others: Vec<usize> = factors.to_vec();
    others.remove(others.iter().position(|&factor| factor == value)?);
    let others = graph.raw_product(others);
    debug_assert_ne!(node, value);
    let inner = of_node(graph, value, forms);
    Some(inner.iter().map(|(&value, &factor)| (value, graph.product(&[factor, others]))).collect())
}

fn of_sum(graph: &mut Graph, terms: &[Ref], values: &dyn Values, forms: &FxHashMap<usize, Rc<Form>>) -> Option<Form> {
    let mut collected: BTreeMap<usize, Vec<Ref>> = BTreeMap::new();
    for term in terms {
        // a number by itself is no multiple of anything
        if matches!(graph.nodes[term.node], Node::Literal(_)) || (graph.is_invariant(term.node) && !values.fixed()) {
            return None;
        }
        for (&value, factor) in of_node(graph, term.node, forms).iter() {
            collected.entry(value).or_default().push(factor.negated(term.minus));
        }
    }
    let mut form = Form::new();
    for (value, mut factors) in collected {
        while let Some((i, j)) = opposite(&factors) {
            factors.swap_remove(j);
            factors.swap_remove(i);
        }
        if !factors.is_empty() {
            let factor = graph.sum(&factors);
            form.insert(value, factor);
        }
    }
    // a sum of values is one as it stands: taken apart, `x - c` could lose what cancels
    let plain = form.values().all(|factor| matches!(graph.nodes[factor.node], Node::Literal(_)));
    (!plain).then_some(form)
}

/// Two terms that cancel, the first place smaller.
fn opposite(terms: &[Ref]) -> Option<(usize, usize)> {
    terms.iter().enumerate().find_map(|(i, a)| {
        let j = terms.iter().skip(i + 1).position(|b| *b == a.negated(true))?;
        Some((i, i + 1 + j))
    })
}

/// The outputs with forms for those nodes that `chosen` accepts.
pub fn collected(graph: &mut Graph, outputs: &[Ref], forms: &FxHashMap<usize, Rc<Form>>, chosen: &dyn Fn(usize) -> bool) -> Vec<Ref> {
    graph.replaced(outputs, &mut |graph, node, new| {
        let form = forms.get(&node).filter(|_| chosen(node))?;
        let terms: Vec<Ref> = form
            .iter()
            .map(|(value, factor)| {
                graph.close(*factor);
                let value = new.get(value).copied().unwrap_or((*value).into());
                graph.product(&[*factor, value])
            })
            .collect();
        Some(graph.raw_sum(terms))
    })
}
