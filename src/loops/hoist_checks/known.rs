//! Checks that were made before.
//!
//! In: a function's statements. Out: the same, without the parts of checks that an earlier check has answered.
//!
//!     if (k < 0) return BOUNDS; for i < c: { if (k < 0 || i >= n) return BOUNDS; … }   →   … if (i >= n) return BOUNDS …

use super::*;

/// Drops of each check what was checked before. `known`: conditions over constants that do not hold.
pub(super) fn forget_known(locals: &[Local], block: &mut Block, mut known: Vec<Value>) {
    for stmt in block.iter_mut() {
        match stmt {
            Stmt::Fail { cond, .. } => {
                let parts = open(cond, &known);
                known.extend(parts.iter().filter(|part| is_constant(locals, part)).cloned());
                *cond = parts.into_iter().reduce(either).unwrap_or(Value::Bool(false));
            }
            Stmt::For { count, body, .. } => {
                let mut inside = known.clone();
                for part in &known {
                    // `count > 0 && e`, where the loop runs
                    if let Value::Prim { prim: Prim::And, args, .. } = part
                        && let [runs, cond] = args.as_slice()
                        && compared(runs, Prim::Gt).is_some_and(|(a, b)| a == count && *b == Value::Index(0))
                    {
                        inside.extend(alternatives(cond));
                    }
                }
                forget_known(locals, body, inside);
            }
            _ => stmt.blocks_mut().for_each(|inner| forget_known(locals, inner, known.clone())),
        }
    }
    block.retain(|stmt| !matches!(stmt, Stmt::Fail { cond: Value::Bool(false), .. }));
}

/// The alternatives of a condition that are not known, each once.
fn open(cond: &Value, known: &[Value]) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::new();
    for part in alternatives(cond).into_iter().filter_map(|part| unanswered(part, known)) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// What is left to ask of an alternative; none where it is known not to hold.
fn unanswered(part: Value, known: &[Value]) -> Option<Value> {
    if known.contains(&part) {
        return None;
    }
    let Value::Prim { prim: Prim::And, elem, plain, args } = &part else { return Some(part) };
    let [runs, cond] = args.as_slice() else { return Some(part) };
    let cond = open(cond, known).into_iter().reduce(either)?;
    if known.contains(&negate(runs.clone())) {
        return Some(cond);
    }
    Some(Value::Prim { prim: Prim::And, elem: *elem, plain: *plain, args: vec![runs.clone(), cond] })
}

/// `a || b` as a and b.
pub(super) fn alternatives(cond: &Value) -> Vec<Value> {
    match cond {
        Value::Prim { prim: Prim::Or, args, .. } => args.iter().flat_map(alternatives).collect(),
        Value::Prim { prim, elem: Elem::Index, args, .. } if matches!(prim, Prim::Lt | Prim::Ge) => {
            vec![compare(*prim, args[0].clone(), args[1].clone())]
        }
        cond => vec![cond.clone()],
    }
}

fn is_constant(locals: &[Local], cond: &Value) -> bool {
    let mut constant = is_total(cond);
    each_local(cond, &mut |id| constant &= locals[id].form == (Form::Scalar { mutable: false }));
    constant
}
