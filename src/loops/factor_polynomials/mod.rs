//! The algebra of long iterations: what is the same multiple of the same values in each of them is multiplied out once.
//!
//! In: a function's statements, with tiles marked. Out: the same, where the body of a loop that writes tiles takes fewer
//! operations with
//! - products and sums that are equal but for order, brackets and sign computed once (`graph`), and what they have in common
//!   (`share`);
//! - linear forms collected whose factors do not change in the loop: these factors are computed before it (`linear::Fixed`);
//! - the factors of one linear map of several vectors computed once for all of them (`linear::Shared`), as reverse mode does;
//! - sums factored across all that they are part of (`regions`), by common divisors of their polynomials (`divisors`).
//!
//!     for i: p = x[i] * c - y[i] * s; q = p * k + x[i] * s; …   →   t = k * c + s; u = k * s;  for i: q = x[i] * t - y[i] * u; …
//!
//! Only where [`crate::loops::Options`] allows such algebra, and where it saves a tenth of the operations or more; everything else
//! stays as it is written.

mod divisors;
mod graph;
mod linear;
mod polynomial;
mod regions;
mod share;
#[cfg(test)]
mod tests;
mod write;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::Prim;

use crate::loops::program::*;
use crate::loops::visit::each_local;
use crate::loops::{Context, Result};
use graph::{Graph, Head, Ref, Style};

/// A body of fewer operations stays as it is; so does one of so many that the search would take its time.
const OPERATIONS: std::ops::RangeInclusive<usize> = 24..=2000;

/// Collects what the loops of a function that write tiles compute.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    if context.options.algebra {
        factor(&mut function.locals, &mut function.body);
    }
    Ok(())
}

/// Collects what the loops of a block that write tiles compute.
fn factor(locals: &mut Vec<Local>, block: &mut Block) {
    let mut out = Vec::with_capacity(block.len());
    for mut stmt in std::mem::take(block) {
        if let Stmt::For { i, body, lanes: Lanes::Tile(_), .. } = &mut stmt {
            if let Some((before, collected)) = collected(locals, *i, body) {
                out.extend(before);
                *body = collected;
            }
        } else {
            stmt.blocks_mut().for_each(|block| factor(locals, block));
        }
        out.push(stmt);
    }
    *block = out;
}

/// What goes before a loop over `i`, and its body; `None` where that stays.
fn collected(locals: &mut Vec<Local>, i: Id, body: &Block) -> Option<(Block, Block)> {
    let written = Reading::of(locals, i, body, Style::Written)?;
    let before = written.graph.cost(&written.outputs);
    if !OPERATIONS.contains(&(before / 16)) {
        return None;
    }
    let Reading { mut graph, outputs, first, stores } = Reading::of(locals, i, body, Style::Factored)?;
    let outputs = graph.share_reciprocals(&outputs);
    let mut best = graph.share_products(&outputs);
    let mut cost = graph.cost(&best);
    let mut start = outputs;
    let forms = linear::forms(&mut graph, &start, &linear::Fixed);
    let mut whole: Vec<usize> = Vec::new();
    if !forms.is_empty() {
        let fixed = linear::collected(&mut graph, &start, &forms, &|_| true);
        let shared = graph.share_products(&fixed);
        let less = graph.cost(&shared);
        if less < cost {
            (best, cost, start) = (shared, less, fixed);
            whole = linear::forms(&mut graph, &start, &linear::Fixed).into_keys().collect();
        }
    }
    let values = linear::Shared::new(&graph, &start, whole);
    let forms = linear::forms(&mut graph, &start, &values);
    let ends: FxHashSet<usize> = start.iter().map(|output| output.node).collect();
    let mapped = linear::collected(&mut graph, &start, &forms, &|node| ends.contains(&node));
    let shared = graph.share_products(&mapped);
    let less = graph.cost(&shared);
    if less < cost {
        (best, cost, start) = (shared, less, mapped);
    }
    if let Some(divided) = graph.share_divisors(&start) {
        let divided = graph.share_products(&divided);
        let less = graph.cost(&divided);
        if less < cost {
            (best, cost) = (divided, less);
        }
    }
    let Reading { graph: mut other, outputs, .. } = Reading::of(locals, i, body, Style::NumbersInside)?;
    let shared = other.share_reciprocals(&outputs);
    let shared = other.share_products(&shared);
    let shared = other.share_sums(&shared);
    let less = other.cost(&shared);
    if less < cost {
        (graph, best, cost) = (other, shared, less);
    }
    if cost * 10 > before * 9 {
        return None;
    }
    let writer = write::Writer::new(locals, &graph, &best);
    let stores: Block = stores.into_iter().zip(&best).map(|(place, output)| Stmt::Assign { place, value: writer.value(*output) }).collect();
    let (before, inside) = writer.finish();
    Some((before, first.into_iter().chain(inside).chain(stores).collect()))
}

/// The body of a loop as a graph.
struct Reading {
    graph: Graph,
    outputs: Vec<Ref>,
    /// Declarations of Indices.
    first: Block,
    stores: Vec<Place>,
}

struct Reader<'a> {
    locals: &'a [Local],
    graph: Graph,
    values: FxHashMap<Id, Ref>,
    /// What the body declares, and the loop's index.
    inside: FxHashSet<Id>,
    uses: FxHashMap<Id, usize>,
}

impl Reading {
    fn of(locals: &[Local], i: Id, body: &Block, style: Style) -> Option<Reading> {
        let mut reader = Reader {
            locals,
            graph: Graph::new(style),
            values: FxHashMap::default(),
            inside: FxHashSet::from_iter([i]),
            uses: FxHashMap::default(),
        };
        let mut written = FxHashSet::default();
        for stmt in body {
            let (Stmt::Declare { init: Some(value), .. } | Stmt::Assign { value, .. }) = stmt else { return None };
            each_local(value, &mut |id| *reader.uses.entry(id).or_default() += 1);
            if let Stmt::Assign { place: Place::Element { base, .. }, .. } = stmt {
                written.insert(*base);
            }
        }
        if written.iter().any(|base| reader.uses.contains_key(base)) {
            return None;
        }
        let (mut outputs, mut first, mut stores) = (Vec::new(), Block::new(), Vec::new());
        for stmt in body {
            match stmt {
                Stmt::Declare { id, init: Some(value) } => {
                    let local = locals.get(*id)?;
                    (local.form == Form::Scalar { mutable: false }).then_some(())?;
                    reader.inside.insert(*id);
                    if local.elem == Elem::Index {
                        reader.is_leaf(value).then_some(())?;
                        first.push(stmt.clone());
                        continue;
                    }
                    let read = reader.value(value)?;
                    reader.values.insert(*id, read);
                    if reader.uses.get(id).is_some_and(|uses| *uses > 1) {
                        reader.graph.name(read);
                    }
                    if !read.minus {
                        reader.graph.locals.entry(read.node).or_insert(*id);
                    }
                }
                Stmt::Assign { place: place @ Place::Element { offset, .. }, value } => {
                    offset.iter().all(|offset| reader.is_leaf(offset)).then_some(())?;
                    outputs.push(reader.value(value)?);
                    stores.push(place.clone());
                }
                _ => return None,
            }
        }
        Some(Reading { graph: reader.graph, outputs, first, stores })
    }
}

impl Reader<'_> {
    /// Whether an expression uses no Double and no Bool of the iteration.
    fn is_leaf(&self, value: &Value) -> bool {
        let mut leaf = true;
        each_local(value, &mut |id| leaf &= !self.values.contains_key(&id));
        leaf
    }

    fn value(&mut self, value: &Value) -> Option<Ref> {
        match value {
            Value::Local(id) => match self.values.get(id) {
                Some(known) => Some(*known),
                None => {
                    let local = self.locals.get(*id)?;
                    let invariant = !self.inside.contains(id) && local.elem == Elem::Double;
                    Some(self.graph.leaf(value, invariant))
                }
            },
            Value::Double(number) => Some(self.graph.literal(*number)),
            Value::Prim { prim, elem: Elem::Double, args, .. } if matches!(prim, Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg) => {
                let args = args.iter().map(|arg| self.value(arg)).collect::<Option<Vec<_>>>()?;
                Some(match (prim, args.as_slice()) {
                    (Prim::Neg, [a]) => a.negated(true),
                    (Prim::Mul, _) => self.graph.product(&args),
                    (Prim::Sub, [a, b]) => self.graph.sum(&[*a, b.negated(true)]),
                    (Prim::Add, _) => self.graph.sum(&args),
                    _ => return None,
                })
            }
            Value::Prim { elem: Elem::Index, .. } | Value::Load { .. } | Value::Index(_) | Value::Bool(_) => {
                self.is_leaf(value).then(|| self.graph.leaf(value, false))
            }
            Value::Prim { prim, elem, plain, args } => self.op(Head::Prim(*prim, *elem, *plain), args),
            Value::Helper(name @ "smooth_select", args) => self.op(Head::Helper(name), args),
            Value::Select(parts) if self.is_number(&parts[1]) => self.op(Head::Select, &parts[..]),
            Value::Helper(..) | Value::Select(_) => self.is_leaf(value).then(|| self.graph.leaf(value, false)),
            Value::InRow(_) | Value::SizeOf(..) | Value::Moved { .. } | Value::Call(..) => None,
        }
    }

    /// Whether an expression is a Double, as far as is seen at once.
    fn is_number(&self, value: &Value) -> bool {
        match value {
            Value::Double(_) => true,
            Value::Local(id) | Value::Load { base: id, .. } => self.locals.get(*id).is_some_and(|local| local.elem == Elem::Double),
            Value::Prim { prim, elem, .. } => *elem == Elem::Double && !write::gives_bool(*prim) && *prim != Prim::ToIndex,
            Value::Index(_)
            | Value::Bool(_)
            | Value::InRow(_)
            | Value::Select(_)
            | Value::Helper(..)
            | Value::SizeOf(..)
            | Value::Moved { .. }
            | Value::Call(..) => false,
        }
    }

    fn op(&mut self, head: Head, args: &[Value]) -> Option<Ref> {
        let args = args.iter().map(|arg| self.value(arg)).collect::<Option<Vec<_>>>()?;
        Some(self.graph.op(head, args))
    }
}
