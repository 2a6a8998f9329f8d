//! What of a loop's body is done once for several iterations, and what for each of them.
//!
//! In: the body of a loop, and what varies in it. Out: [`Part`]s in the order in which they run; `None` where little would be
//! gained: where an innermost loop is left to each iteration, or much of it writes at places that differ.
//!
//!     e = exp(q); s = x[i]; s2 = s * e; for c < d: t[c] = s2   →   once: e; in lanes: s, s2; a loop over c, in lanes: t[c]

use crate::ir::Prim;
use crate::loops::program::*;
use crate::loops::visit::each_local;

use super::depth;
use super::varying::Varying;

/// See the module's head.
pub enum Part {
    /// A statement that is the same for all iterations.
    Once(Stmt),
    /// A scalar of each iteration, without a value so far.
    Declare(Id),
    /// A loop, a branch or a block that all iterations go through together, and the parts in its blocks.
    Around(Stmt, Vec<Vec<Part>>),
    /// Statements for each iteration, which lanes go through together or in turn.
    Lanes(Vec<Stmt>, Kind),
}

/// The parts of a loop's body; `in_turn`: innermost loops may write at places that differ.
pub fn of(body: &[Stmt], locals: &[Local], varying: &Varying, in_turn: bool) -> Option<Vec<Part>> {
    Parter { locals, varying, in_turn }.block(body, depth(body))
}

/// Statements for each iteration that go into one loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// On what each lane has for itself, and sums.
    Apart,
    /// At places in arrays outside that each lane chooses, or with branches of each lane: in turn.
    InTurn,
}

struct Parter<'a> {
    locals: &'a [Local],
    varying: &'a Varying<'a>,
    in_turn: bool,
}

impl Parter<'_> {
    /// `depth`: how many loops stand in each other here.
    fn block(&self, block: &[Stmt], depth: usize) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        let mut pending: Vec<Stmt> = Vec::new();
        let mut last = Kind::Apart;
        for stmt in block {
            if let Some(kind) = self.kind(stmt)? {
                // the innermost loops are what lanes are for
                (kind == Kind::Apart || (depth > 0 || self.in_turn) && super::depth(std::slice::from_ref(stmt)) == 0).then_some(())?;
                if kind != last {
                    flush(&mut pending, last, &mut parts);
                }
                last = kind;
                pending.push(stmt.clone());
                continue;
            }
            if !self.may_go_before(stmt) {
                flush(&mut pending, last, &mut parts);
            }
            parts.push(match stmt {
                Stmt::Declare { id, .. } if self.varying.has(*id) => Part::Declare(*id),
                Stmt::For { .. } => self.around(stmt, depth - 1)?,
                Stmt::If { .. } | Stmt::Scope(_) => self.around(stmt, depth)?,
                _ => Part::Once(stmt.clone()),
            });
        }
        flush(&mut pending, last, &mut parts);
        Some(parts)
    }

    fn around(&self, stmt: &Stmt, depth: usize) -> Option<Part> {
        let blocks = stmt.blocks().map(|block| self.block(block, depth)).collect::<Option<_>>()?;
        Some(Part::Around(stmt.clone(), blocks))
    }

    /// How a statement is done for each iteration; none where it is done once.
    fn kind(&self, stmt: &Stmt) -> Option<Option<Kind>> {
        let varying = self.varying;
        let element = |base: Id, offset: Option<&Value>, value: &Value| {
            if !varying.is_outside(base) {
                return Some(varying.has_array(base).then_some(Kind::Apart));
            }
            if offset.is_some_and(|offset| varying.is_in(offset)) {
                return Some(Some(Kind::InTurn));
            }
            let own = Value::Load { base, offset: offset.cloned().map(Box::new) };
            added(value, &own).is_some().then_some(Some(Kind::Apart))
        };
        Some(match stmt {
            Stmt::Declare { id, init: Some(_) } => varying.has(*id).then_some(Kind::Apart),
            Stmt::Assign { place: Place::Local(id), .. } => (varying.has(*id) || !varying.declares(*id)).then_some(Kind::Apart),
            Stmt::Assign { place: Place::Element { base, offset }, value } => element(*base, offset.as_ref(), value)?,
            Stmt::Update { base, offset, value } => element(*base, Some(offset), value)?,
            // of such loops nothing is gained
            Stmt::For { .. } => (!varying.steers(stmt)).then_some(None)?,
            Stmt::If { .. } => varying.steers(stmt).then_some(Kind::InTurn),
            Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::While { .. }
            | Stmt::Share(_)
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Scope(_)
            | Stmt::Return(_) => None,
        })
    }

    /// Whether a uniform statement may be moved before the lanes' statements: there is no dependence between them.
    fn may_go_before(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Fail { cond, .. } => self.is_constant(cond),
            Stmt::Declare { id, init: Some(init) } => {
                matches!(self.locals[*id].form, Form::Scalar { mutable: false }) && self.is_constant(init)
            }
            _ => false,
        }
    }

    /// Whether an expression reads no array that the loop changes.
    fn is_constant(&self, value: &Value) -> bool {
        let mut constant = true;
        each_local(value, &mut |id| {
            let local = &self.locals[id];
            constant &=
                matches!(local.form, Form::Scalar { .. }) || matches!(local.form, Form::Source { .. }) && self.varying.is_outside(id);
        });
        constant
    }
}

fn flush(pending: &mut Vec<Stmt>, kind: Kind, parts: &mut Vec<Part>) {
    if !pending.is_empty() {
        parts.push(Part::Lanes(std::mem::take(pending), kind));
    }
}

/// What is added to an element: `own + a - b` adds `a - b`.
pub fn added(value: &Value, own: &Value) -> Option<Value> {
    let Value::Prim { prim: prim @ (Prim::Add | Prim::Sub), elem: Elem::Double, plain, args } = value else { return None };
    let [first, second] = args.as_slice() else { return None };
    if first == own {
        return Some(if *prim == Prim::Add {
            second.clone()
        } else {
            Value::Prim { prim: Prim::Neg, elem: Elem::Double, plain: *plain, args: vec![second.clone()] }
        });
    }
    let first = added(first, own)?;
    Some(Value::Prim { prim: *prim, elem: Elem::Double, plain: *plain, args: vec![first, second.clone()] })
}
