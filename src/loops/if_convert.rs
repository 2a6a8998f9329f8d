//! Branches of arithmetic without jumps, where they keep a loop with vector functions out of vector lanes.
//!
//! In: a function's statements, with lanes marked. Out: in a marked loop that calls sine or cosine, whose vector
//! forms compilers do not call in a loop with jumps, both branches are evaluated and one value of each is kept:
//!
//!     double y; if (t == 0.0) { y = x; } else { const double s = sin(t); y = x * s / t; }
//!       →   const double s = sin(t); const double y = smooth_select(t == 0.0, x, x * s / t);
//!
//! The value is the chosen branch's, bit by bit: arithmetic on Doubles does not fail, and what the other branch
//! gives, be it a NaN, is dropped. A branch that reads arrays, divides Indices or calls other functions stays.

use std::collections::HashMap;

use crate::ir::Prim;
use crate::ir::prim::Spelling;

use super::program::*;
use super::visit::{each_local, each_value};
use super::{Context, Result};

/// Straightens the loops of a function.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    straighten(&mut function.locals, &mut function.body);
    Ok(())
}

/// Straightens the loops of a block.
fn straighten(locals: &mut Vec<Local>, block: &mut Block) {
    for stmt in block {
        stmt.blocks_mut().for_each(|block| straighten(locals, block));
        if let Stmt::For { body, lanes: Lanes::Any, .. } = stmt
            && has_jump(body)
            && calls(body) == (Calls { sine: true, other: false })
            && let Some(straight) = (Straight { locals }).block(body)
        {
            *body = straight;
        }
    }
}

/// Which functions of `math.h` are called: sine or cosine, and such as have no vector form.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Calls {
    sine: bool,
    other: bool,
}

fn calls(block: &Block) -> Calls {
    let mut found = Calls::default();
    each_value(block, &mut |value| {
        if let Value::Prim { prim, elem: Elem::Double, .. } = value {
            match prim {
                Prim::Sin | Prim::Cos => found.sine = true,
                Prim::Exp | Prim::Log | Prim::Pow | Prim::Sqrt | Prim::Abs => {}
                prim => found.other |= matches!(prim.row().c, Spelling::Call(_)),
            }
        }
    });
    found
}

fn has_jump(block: &Block) -> bool {
    let mut found = block.iter().any(|stmt| matches!(stmt, Stmt::If { .. }));
    each_value(block, &mut |value| found |= matches!(value, Value::Select(_)));
    found
}

struct Straight<'a> {
    locals: &'a mut Vec<Local>,
}

impl Straight<'_> {
    /// The statements without branches; `None` where one must stay.
    fn block(&mut self, block: &Block) -> Option<Block> {
        let mut out = Vec::new();
        // declared without a value, and not assigned yet
        let mut open: Vec<Id> = Vec::new();
        for stmt in block {
            match stmt {
                Stmt::Declare { id, init: None } => open.push(*id),
                Stmt::Declare { id, init: Some(value) } => out.push(Stmt::Declare { id: *id, init: Some(self.value(value)?) }),
                Stmt::Assign { place: Place::Local(id), .. } if open.contains(id) => return None,
                Stmt::Assign { place, value } => out.push(Stmt::Assign { place: place.clone(), value: self.value(value)? }),
                Stmt::If { cond, then, otherwise } => {
                    let cond = self.value(cond)?;
                    let cond = self.condition(cond, &mut out);
                    let (then, mut first) = self.branch(then)?;
                    let (otherwise, mut second) = self.branch(otherwise)?;
                    out.extend(then.into_iter().chain(otherwise));
                    for id in std::mem::take(&mut open) {
                        match (first.remove(&id), second.remove(&id)) {
                            (Some(a), Some(b)) => {
                                let value = if a == b { a } else { Value::Helper("smooth_select", vec![cond.clone(), a, b]) };
                                self.locals.get_mut(id)?.form = Form::Scalar { mutable: false };
                                out.push(Stmt::Declare { id, init: Some(value) });
                            }
                            (None, None) => open.push(id),
                            _ => return None,
                        }
                    }
                    (first.is_empty() && second.is_empty()).then_some(())?;
                }
                _ => return None,
            }
        }
        open.is_empty().then_some(out)
    }

    /// A branch as what it declares, and what it assigns to locals from outside, each once, at last.
    fn branch(&mut self, block: &Block) -> Option<(Block, HashMap<Id, Value>)> {
        let mut ends: HashMap<Id, Value> = HashMap::new();
        let mut inner = Vec::new();
        for stmt in block {
            match stmt {
                Stmt::Assign { place: Place::Local(id), value } if self.locals.get(*id)?.elem == Elem::Double => {
                    let value = self.value(value)?;
                    (is_safe(&value) && ends.insert(*id, value).is_none()).then_some(())?;
                }
                Stmt::Assign { .. } => return None,
                other => inner.push(other.clone()),
            }
        }
        let inner = self.block(&inner)?;
        for stmt in &inner {
            let Stmt::Declare { id, init: Some(value) } = stmt else { return None };
            let constant = self.locals.get(*id)?.form == (Form::Scalar { mutable: false });
            (constant && is_safe(value)).then_some(())?;
        }
        // nothing may read what it assigns
        let mut reads = false;
        let values = inner.iter().filter_map(|stmt| if let Stmt::Declare { init, .. } = stmt { init.as_ref() } else { None });
        values.chain(ends.values()).for_each(|value| each_local(value, &mut |id| reads |= ends.contains_key(&id)));
        (!reads).then_some((inner, ends))
    }

    /// The condition under a name.
    fn condition(&mut self, cond: Value, out: &mut Block) -> Value {
        if matches!(cond, Value::Local(_) | Value::Bool(_)) {
            return cond;
        }
        self.locals.push(Local { name: "chosen".into(), elem: Elem::Bool, form: Form::Scalar { mutable: false }, note: None });
        let id = self.locals.len() - 1;
        out.push(Stmt::Declare { id, init: Some(cond) });
        Value::Local(id)
    }

    /// The expression with choices between Doubles that need no jump.
    fn value(&mut self, value: &Value) -> Option<Value> {
        let mut all = |args: &[Value]| args.iter().map(|arg| self.value(arg)).collect::<Option<Vec<_>>>();
        Some(match value {
            Value::Select(parts) => {
                let parts = all(&parts[..])?;
                parts[1..].iter().all(is_safe).then_some(())?;
                Value::Helper("smooth_select", parts)
            }
            Value::Prim { prim, elem, plain, args } => Value::Prim { prim: *prim, elem: *elem, plain: *plain, args: all(args)? },
            Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::Load { .. } => value.clone(),
            Value::InRow(_) | Value::Helper(..) | Value::SizeOf(..) | Value::Moved { .. } | Value::Call(..) => return None,
        })
    }
}

/// Whether an expression is arithmetic on Doubles that may be evaluated in any case.
fn is_safe(value: &Value) -> bool {
    match value {
        Value::Local(_) | Value::Double(_) | Value::Bool(_) => true,
        Value::Prim { prim, elem: Elem::Double | Elem::Bool, args, .. } => *prim != Prim::ToIndex && args.iter().all(is_safe),
        Value::Helper("smooth_select", args) => args.iter().all(is_safe),
        Value::Index(_)
        | Value::Prim { .. }
        | Value::InRow(_)
        | Value::Load { .. }
        | Value::Select(_)
        | Value::Helper(..)
        | Value::SizeOf(..)
        | Value::Moved { .. }
        | Value::Call(..) => false,
    }
}
