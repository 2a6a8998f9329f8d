//! Loop distribution: functions of `math.h` leave a loop that has loops in it, for a loop of their own that runs in lanes.
//!
//! In: a function's statements. Out: a loop over elements, each a function of what inner loops sum up, is two: one that stores
//! what the function is of, and one that puts the function's value in its place.
//!
//!     for i < m: s = 0; for j < n: s += W[i][j] * x[j]; y[i] = tanh(s + b[i])
//!       →   for i < m: s = 0; for j < n: s += W[i][j] * x[j]; y[i] = s + b[i]
//!           for i < m: y[i] = tanh(y[i])
//!
//! Limits: one function of one operand, whatever is around it is computed from outside of the inner loops, and the array is not
//! read in between.

use std::collections::HashSet;

use super::program::*;
use super::values::has_vector_form;
use super::visit::each_value;
use super::visit::{each_local, replace_local, replace_value};
use super::{Context, Result};

/// Distributes the loops of a function.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    distribute(&mut function.locals, &mut function.body);
    Ok(())
}

/// Distributes the loops of a block.
fn distribute(locals: &mut Vec<Local>, block: &mut Block) {
    let mut at = 0;
    while at < block.len() {
        block[at].blocks_mut().for_each(|inner| distribute(locals, inner));
        if let Some(second) = second_loop(locals, &mut block[at]) {
            at += 1;
            block.insert(at, second);
        }
        at += 1;
    }
}

/// The loop that applies the function, where the first then does not.
fn second_loop(locals: &mut Vec<Local>, stmt: &mut Stmt) -> Option<Stmt> {
    let Stmt::For { i, count, body, lanes: Lanes::One, apart: true, .. } = stmt else { return None };
    let (last, before) = body.split_last()?;
    let Stmt::Assign { place: place @ Place::Element { base, offset: Some(offset) }, value } = last else { return None };
    let operand = operand(value)?;
    if !before.iter().any(|stmt| matches!(stmt, Stmt::For { .. })) || matches!(operand, Value::Local(_) | Value::Double(_)) {
        return None;
    }
    let stored = Value::Load { base: *base, offset: Some(Box::new(offset.clone())) };
    let mut applied = value.clone();
    replace_value(&mut applied, operand, &stored);
    let mut own = HashSet::new();
    crate::loops::visit::each_change(before, &mut |id| {
        own.insert(id);
    });
    let mut is_apart = true;
    each_local(offset, &mut |id| is_apart &= !own.contains(&id));
    each_local(&applied, &mut |id| is_apart &= !own.contains(&id));
    let reads_array = |value: &Value| matches!(value, Value::Load { base: other, .. } if other == base);
    each_value(before, &mut |value| is_apart &= !reads_array(value));
    each_value(std::slice::from_ref(last), &mut |value| is_apart &= !reads_array(value));
    if !is_apart {
        return None;
    }
    locals.push(locals[*i].clone());
    let k = locals.len() - 1;
    replace_local(&mut applied, *i, &Value::Local(k));
    let mut place = place.clone();
    if let Place::Element { offset: Some(offset), .. } = &mut place {
        replace_local(offset, *i, &Value::Local(k));
    }
    let second = vec![Stmt::Assign { place, value: applied }];
    let (count, operand) = (count.clone(), operand.clone());
    if let Some(Stmt::Assign { value, .. }) = body.last_mut() {
        *value = operand;
    }
    Some(Stmt::For { i: k, var: None, count, size: None, body: second, lanes: Lanes::One, apart: true })
}

/// What the only function in a value is of.
fn operand(value: &Value) -> Option<&Value> {
    fn go<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
        let Value::Prim { prim, elem, args, .. } = value else { return };
        if *elem == Elem::Double && has_vector_form(*prim) {
            found.push(&args[0]);
        } else {
            args.iter().for_each(|arg| go(arg, found));
        }
    }
    let mut found = Vec::new();
    go(value, &mut found);
    match found.as_slice() {
        [operand] => Some(operand),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Prim;

    fn index(name: &str) -> Local {
        Local { name: name.into(), elem: Elem::Index, form: Form::Scalar { mutable: true }, note: None }
    }

    #[test]
    fn a_function_of_a_sum_has_a_loop_of_its_own() {
        let mut locals = vec![index("i"), index("j")];
        let sum = Local { name: "s".into(), elem: Elem::Double, form: Form::Scalar { mutable: true }, note: None };
        let array = Local { name: "y".into(), elem: Elem::Double, form: Form::Target { mutable: false }, note: None };
        locals.extend([sum, array]);
        let (i, j, s, y) = (0, 1, 2, 3);
        let inner = |body| Stmt::For { i: j, var: None, count: Value::Index(9), size: None, body, lanes: Lanes::One, apart: false };
        let adds = Stmt::Assign { place: Place::Local(s), value: Value::Double(1.0) };
        let tanh = |of: Value| Value::Prim { prim: Prim::Tanh, elem: Elem::Double, plain: true, args: vec![of] };
        let twice = |of: Value| Value::Prim { prim: Prim::Add, elem: Elem::Double, plain: true, args: vec![of.clone(), of] };
        let element = || Place::Element { base: y, offset: Some(Value::Local(i)) };
        let body = |value| {
            vec![
                Stmt::Declare { id: s, init: Some(Value::Double(0.0)) },
                inner(vec![adds.clone()]),
                Stmt::Assign { place: element(), value },
            ]
        };
        let outer = |body| Stmt::For { i, var: None, count: Value::Index(9), size: None, body, lanes: Lanes::One, apart: true };
        let mut block = vec![outer(body(tanh(twice(Value::Local(s)))))];
        distribute(&mut locals, &mut block);
        assert_eq!(block.len(), 2);
        // s is needed outside of the function
        let product = vec![tanh(twice(Value::Local(s))), Value::Local(s)];
        let mut block = vec![outer(body(Value::Prim { prim: Prim::Mul, elem: Elem::Double, plain: true, args: product }))];
        distribute(&mut locals, &mut block);
        assert_eq!(block.len(), 1);
    }
}
