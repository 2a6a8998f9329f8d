//! No array is cleared only to be added to: where each element then gets one sum, that is stored.
//!
//! In: a function's statements. Out: a loop over elements that are all 0.0 at first, and nothing else, is gone where a later loop
//! over the same elements adds once to each, and nothing has the array in between.
//!
//!     for i < n: a[i] = 0; …; for i < n: a[i] += x[i]   →   …; for i < n: a[i] = x[i]
//!
//! The sum of 0.0 and -0.0 is 0.0, the stored value -0.0: not under `--strict-fp`.

use crate::ir::Prim;

use super::analysis::homes::Homes;
use super::program::*;
use super::visit::{is_total, mentions, reads, replace_local};
use super::{Context, Result};

/// Absorbs the zeros of a function.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    if context.options.algebra {
        in_block(&Homes::of_block(&function.body), &function.locals, &mut function.body);
    }
    Ok(())
}

/// Absorbs the zeros of a block of a function with these locals.
pub fn in_block(homes: &Homes, locals: &[Local], block: &mut Block) {
    let arrays = (0..locals.len()).filter(|id| !matches!(locals[*id].form, Form::Scalar { .. })).collect();
    Absorber { homes, arrays }.block(block);
}

struct Absorber<'a> {
    homes: &'a Homes,
    arrays: Vec<Id>,
}

/// A loop, or loops that stand in each other, which clear an array.
struct Clearing {
    loops: Vec<(Id, Value)>,
    base: Id,
    offset: Value,
}

impl Clearing {
    fn of(stmt: &Stmt) -> Option<Clearing> {
        let Stmt::For { i, count, body, .. } = stmt else { return None };
        // the same number whenever it is asked for
        is_total(count).then_some(())?;
        let [inner] = body.as_slice() else { return None };
        if let Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, value: Value::Double(zero) } = inner {
            let is_zero = *zero == 0.0 && zero.is_sign_positive();
            return is_zero.then(|| Clearing { loops: vec![(*i, count.clone())], base: *base, offset: offset.clone() });
        }
        let mut clearing = Clearing::of(inner)?;
        clearing.loops.insert(0, (*i, count.clone()));
        Some(clearing)
    }
}

impl Absorber<'_> {
    fn block(&self, block: &mut Block) {
        block.iter_mut().for_each(|stmt| stmt.blocks_mut().for_each(|inner| self.block(inner)));
        let mut at = 0;
        while at < block.len() {
            let (before, after) = block.split_at_mut(at + 1);
            let absorbed = Clearing::of(&before[at]).is_some_and(|clearing| {
                let home = self.homes.of(clearing.base);
                let pointers: Vec<Id> = self.arrays.iter().copied().filter(|id| self.homes.of(*id) == home).collect();
                let next = after.iter_mut().find(|stmt| has_any(stmt, &pointers));
                next.is_some_and(|next| absorbs(next, &clearing.loops, clearing.base, clearing.offset.clone(), &pointers))
            });
            if absorbed {
                block.remove(at);
            } else {
                at += 1;
            }
        }
    }
}

fn has_any(stmt: &Stmt, pointers: &[Id]) -> bool {
    pointers.iter().any(|id| mentions(stmt, *id))
}

/// Makes the additions of a statement in so many loops over the elements of a cleared array stores, if it adds to each once and
/// has the array nowhere else.
fn absorbs(stmt: &mut Stmt, loops: &[(Id, Value)], base: Id, mut offset: Value, pointers: &[Id]) -> bool {
    let Some(((own, wanted), inner)) = loops.split_first() else { return store(stmt, base, &offset, pointers) };
    let Stmt::For { i, count, body, .. } = stmt else { return false };
    replace_local(&mut offset, *own, &Value::Local(*i));
    let mut having = body.iter_mut().filter(|stmt| has_any(stmt, pointers));
    match (having.next(), having.next()) {
        (Some(only), None) if count == wanted => {
            let inner: Vec<(Id, Value)> = inner
                .iter()
                .map(|(id, count)| {
                    let mut count = count.clone();
                    replace_local(&mut count, *own, &Value::Local(*i));
                    (*id, count)
                })
                .collect();
            absorbs(only, &inner, base, offset, pointers)
        }
        _ => false,
    }
}

/// Makes `a[o] = a[o] + x` store x, which reads the array by none of its pointers; whether it is that.
fn store(stmt: &mut Stmt, base: Id, offset: &Value, pointers: &[Id]) -> bool {
    let (own, at, value) = match stmt {
        Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, value } => (*base, offset.clone(), value),
        Stmt::Update { base, offset, value } => (*base, offset.clone(), value),
        _ => return false,
    };
    let before = Value::Load { base, offset: Some(Box::new(offset.clone())) };
    let Value::Prim { prim: prim @ (Prim::Add | Prim::Sub), elem: Elem::Double, args, .. } = value else { return false };
    let is_once = matches!(args.as_slice(), [first, second] if *first == before && !pointers.iter().any(|id| reads(second, *id)));
    if own != base || at != *offset || !is_once {
        return false;
    }
    let Some(added) = args.pop() else { return false };
    *value = if *prim == Prim::Sub { Value::Prim { prim: Prim::Neg, elem: Elem::Double, plain: true, args: vec![added] } } else { added };
    if let Stmt::Update { base, offset, value } = stmt {
        let place = Place::Element { base: *base, offset: Some(offset.clone()) };
        *stmt = Stmt::Assign { place, value: value.clone() };
    }
    true
}
