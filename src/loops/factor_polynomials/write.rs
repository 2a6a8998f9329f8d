//! A graph as statements again: what is used several times is declared, under the name that it had where it had one.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::Prim;
use crate::loops::program::*;

use super::graph::{Graph, Head, Node, Ref};

/// An expression of more operations gets a name, though it is used once.
const LONG: usize = 9;

pub struct Writer<'a> {
    locals: &'a mut Vec<Local>,
    graph: &'a Graph,
    uses: FxHashMap<usize, usize>,
    /// Locals that are declared.
    taken: FxHashSet<Id>,
    /// The expression of each node, and how many operations are in it.
    done: FxHashMap<usize, (Value, usize)>,
    before: Block,
    inside: Block,
}

impl<'a> Writer<'a> {
    /// Declares what the outputs need.
    pub fn new(locals: &'a mut Vec<Local>, graph: &'a Graph, outputs: &[Ref]) -> Writer<'a> {
        let uses = graph.uses(outputs);
        let mut writer = Writer {
            locals,
            graph,
            uses,
            taken: FxHashSet::default(),
            done: FxHashMap::default(),
            before: Block::new(),
            inside: Block::new(),
        };
        // what is read comes first, in the order of reading
        let mut order = graph.reachable(outputs);
        order.sort_by_key(|&node| if let Node::Leaf(leaf) = graph.nodes[node] { leaf } else { usize::MAX });
        // a value that does not change is computed outside where something that does change uses it
        let mut outside = vec![false; graph.nodes.len()];
        for &node in order.iter().filter(|&&node| !graph.is_invariant(node)) {
            graph.children(node).iter().for_each(|child| outside[child.node] |= graph.is_invariant(child.node));
        }
        outputs.iter().for_each(|output| outside[output.node] |= graph.is_invariant(output.node));
        for node in order {
            let (value, size) = writer.written(node);
            let apart = size > 0 && (writer.uses[&node] > 1 || size > LONG || outside[node]);
            let value = if apart { (writer.declared(node, value), 0) } else { (value, size) };
            writer.done.insert(node, value);
        }
        writer
    }

    /// What goes before the loop, and what goes into it.
    pub fn finish(self) -> (Block, Block) {
        (self.before, self.inside)
    }

    fn declared(&mut self, node: usize, value: Value) -> Value {
        let id = self.graph.locals.get(&node).copied().filter(|local| self.taken.insert(*local)).unwrap_or_else(|| {
            let is_bool = matches!(value, Value::Prim { prim, .. } if gives_bool(prim));
            let elem = if is_bool { Elem::Bool } else { Elem::Double };
            self.locals.push(Local { name: "t".into(), elem, form: Form::Scalar { mutable: false }, note: None });
            self.locals.len() - 1
        });
        let block = if self.graph.is_invariant(node) { &mut self.before } else { &mut self.inside };
        block.push(Stmt::Declare { id, init: Some(value) });
        Value::Local(id)
    }

    /// A node's value, where its sign is said.
    pub fn value(&self, value: Ref) -> Value {
        let (positive, _) = &self.done[&value.node];
        match (value.minus, positive) {
            (false, _) => positive.clone(),
            (true, Value::Double(number)) => Value::Double(-number),
            // -(a - b) is b - a
            (true, Value::Prim { prim: Prim::Add | Prim::Sub, .. }) => {
                if let Node::Sum(terms) = &self.graph.nodes[value.node] {
                    self.sum(&terms.iter().map(|term| term.negated(true)).collect::<Vec<_>>())
                } else {
                    arithmetic(Prim::Neg, vec![positive.clone()])
                }
            }
            (true, _) => arithmetic(Prim::Neg, vec![positive.clone()]),
        }
    }

    /// A sum that begins with a positive term, where it has one.
    fn sum(&self, terms: &[Ref]) -> Value {
        let first = terms.iter().position(|term| !term.minus);
        let others = terms.iter().enumerate().filter(|(k, _)| Some(*k) != first).map(|(_, term)| *term);
        let mut sum = first.map(|first| self.value(terms[first]));
        for term in others {
            let positive = self.value(Ref { minus: false, ..term });
            // without a positive term all the others are added up first
            sum = Some(match (sum, term.minus && first.is_some()) {
                (None, _) => positive,
                (Some(sum), minus) => arithmetic(if minus { Prim::Sub } else { Prim::Add }, vec![sum, positive]),
            });
        }
        let sum = sum.unwrap_or(Value::Double(0.0));
        if first.is_some() { sum } else { arithmetic(Prim::Neg, vec![sum]) }
    }

    fn written(&self, node: usize) -> (Value, usize) {
        let size = |refs: &[Ref]| refs.iter().map(|child| self.done[&child.node].1).sum::<usize>();
        match &self.graph.nodes[node] {
            Node::Leaf(leaf) => {
                let value = self.graph.leaves[*leaf].clone();
                let loaded = matches!(value, Value::Load { .. }) && self.graph.locals.contains_key(&node);
                (value, usize::from(loaded))
            }
            Node::Literal(bits) => (Value::Double(f64::from_bits(*bits)), 0),
            Node::Product(factors) => {
                let mut refs: Vec<Ref> = factors.iter().map(|&factor| factor.into()).collect();
                refs.sort_by_key(|factor| !matches!(self.graph.nodes[factor.node], Node::Literal(_)));
                let product = refs.iter().map(|factor| self.value(*factor)).reduce(|a, b| arithmetic(Prim::Mul, vec![a, b]));
                (product.unwrap_or(Value::Double(1.0)), size(&refs) + refs.len() - 1)
            }
            Node::Sum(terms) => (self.sum(terms), size(terms) + terms.len() - 1),
            Node::Op(head, args) => {
                let values: Vec<Value> = args.iter().map(|arg| self.value(*arg)).collect();
                (with_head(*head, values), size(args) + 1)
            }
        }
    }
}

fn with_head(head: Head, args: Vec<Value>) -> Value {
    match head {
        Head::Prim(prim, elem, plain) => Value::Prim { prim, elem, plain, args },
        Head::Helper(name) => Value::Helper(name, args),
        Head::Select => match <[Value; 3]>::try_from(args) {
            Ok(parts) => Value::Select(Box::new(parts)),
            Err(args) => Value::Helper("smooth_select", args),
        },
    }
}

fn arithmetic(prim: Prim, args: Vec<Value>) -> Value {
    Value::Prim { prim, elem: Elem::Double, plain: true, args }
}

/// Whether a primitive's value is a Bool.
pub fn gives_bool(prim: Prim) -> bool {
    matches!(prim, Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::And | Prim::Or | Prim::Not)
}
