//! A copy of a loop's body for some of its iterations, without the conditions that have one outcome there.
//!
//! In: the statements, and where the loop's index lies. Out: the same with locals of their own; a branch that is always taken
//! stands for its condition, and a local that is then assigned once is a constant.
//!
//!     double s; if (0 <= i - 1) { s = v[i - 1]; } else { s = 0.0; }   at i = 0   →   const double s = 0.0;

use std::collections::HashMap;

use crate::ir::Prim;

use super::fresh;
use crate::loops::analysis::affine::Affine;
use crate::loops::program::*;

/// What is known of conditions.
pub type Known<'a> = &'a dyn Fn(&Value) -> Option<bool>;

/// Makes one copy.
pub struct Copy<'a> {
    locals: &'a mut Vec<Local>,
    /// Whether a condition holds in all those iterations, or in none.
    known: Known<'a>,
    of: HashMap<Id, Value>,
    /// What the names of the copy stand for: sums of indices and numbers.
    named: HashMap<Id, Value>,
    /// What the loop's index is, where it is one.
    lone: Option<(Id, Value)>,
}

impl<'a> Copy<'a> {
    /// The copy in which `i` is the loop's index.
    pub fn new(locals: &'a mut Vec<Local>, known: Known<'a>, index: Id, i: Value) -> Copy<'a> {
        Copy { locals, known, of: HashMap::from([(index, i)]), named: HashMap::new(), lone: None }
    }

    /// The same for one iteration, at an index of this value.
    pub fn of_one(locals: &'a mut Vec<Local>, known: Known<'a>, index: Id, i: Id, value: Value) -> Copy<'a> {
        Copy { lone: Some((i, value)), ..Copy::new(locals, known, index, Value::Local(i)) }
    }

    /// The copy of a whole body.
    pub fn body(mut self, block: &[Stmt]) -> Block {
        let mut copy = self.block(block);
        without_aliases(self.locals, &mut copy, &mut HashMap::new());
        copy
    }

    fn block(&mut self, block: &[Stmt]) -> Block {
        let mut out = Vec::new();
        self.statements(block, &mut out);
        constants(self.locals, out)
    }

    fn statements(&mut self, block: &[Stmt], out: &mut Block) {
        for stmt in block {
            match stmt {
                Stmt::Declare { id, init } => {
                    let init = init.as_ref().map(|init| self.value(init));
                    self.locals.push(self.locals[*id].clone());
                    let own = self.locals.len() - 1;
                    // a name for a number or another constant is none
                    let is_name = self.is_constant(own)
                        && init.as_ref().is_some_and(|init| match init {
                            Value::Index(_) => true,
                            Value::Local(other) => self.is_constant(*other),
                            _ => false,
                        });
                    match init {
                        Some(value) if is_name => {
                            self.of.insert(*id, value);
                        }
                        init => {
                            if let Some(sum @ Value::Prim { prim: Prim::Add | Prim::Sub, elem: Elem::Index, plain: true, .. }) = &init
                                && self.is_constant(own)
                            {
                                self.named.insert(own, sum.clone());
                            }
                            self.of.insert(*id, Value::Local(own));
                            out.push(Stmt::Declare { id: own, init });
                        }
                    }
                }
                Stmt::Assign { place, value } => {
                    let value = self.value(value);
                    let place = match place {
                        Place::Local(id) => Place::Local(match self.of.get(id) {
                            Some(Value::Local(own)) => *own,
                            _ => *id,
                        }),
                        Place::Element { base, offset } => {
                            Place::Element { base: *base, offset: offset.as_ref().map(|offset| self.value(offset)) }
                        }
                    };
                    out.push(Stmt::Assign { place, value });
                }
                Stmt::If { cond, then, otherwise } => match self.condition(cond) {
                    Value::Bool(true) => self.statements(then, out),
                    Value::Bool(false) => self.statements(otherwise, out),
                    cond => {
                        let (then, otherwise) = (self.block(then), self.block(otherwise));
                        out.push(Stmt::If { cond, then, otherwise });
                    }
                },
                Stmt::For { i, var, count, size, body, lanes, apart } => {
                    let count = self.count(count);
                    let own = fresh(self.locals, *i);
                    self.of.insert(*i, Value::Local(own));
                    let body = self.block(body);
                    out.push(Stmt::For { i: own, var: var.clone(), count, size: size.clone(), body, lanes: lanes.clone(), apart: *apart });
                }
                // a body has no others
                other @ (Stmt::Point { .. }
                | Stmt::Update { .. }
                | Stmt::While { .. }
                | Stmt::Share(_)
                | Stmt::Fail { .. }
                | Stmt::NoRoom { .. }
                | Stmt::Room(_)
                | Stmt::Invoke(_)
                | Stmt::Rotate(_)
                | Stmt::Scope(_)
                | Stmt::Return(_)) => out.push(other.clone()),
            }
        }
    }

    fn is_constant(&self, id: Id) -> bool {
        self.locals[id].form == (Form::Scalar { mutable: false })
    }

    fn condition(&self, cond: &Value) -> Value {
        match (self.known)(cond) {
            Some(known) => Value::Bool(known),
            None => self.value(cond),
        }
    }

    fn value(&self, value: &Value) -> Value {
        let all = |args: &[Value]| args.iter().map(|arg| self.value(arg)).collect::<Vec<_>>();
        match value {
            Value::Local(id) => self.of.get(id).cloned().unwrap_or_else(|| value.clone()),
            Value::Prim { prim: prim @ (Prim::And | Prim::Or), elem, plain, args } => {
                let decided = Value::Bool(*prim == Prim::Or);
                let mut args: Vec<Value> = args.iter().map(|arg| self.condition(arg)).collect();
                if args.contains(&decided) {
                    return decided;
                }
                args.retain(|arg| !matches!(arg, Value::Bool(_)));
                match args.len() {
                    0 => Value::Bool(*prim == Prim::And),
                    1 => args.swap_remove(0),
                    _ => Value::Prim { prim: *prim, elem: *elem, plain: *plain, args },
                }
            }
            Value::Prim { prim: Prim::Not, elem, plain, args } => match args.iter().map(|arg| self.condition(arg)).collect::<Vec<_>>() {
                args if args == [Value::Bool(true)] => Value::Bool(false),
                args if args == [Value::Bool(false)] => Value::Bool(true),
                args => Value::Prim { prim: Prim::Not, elem: *elem, plain: *plain, args },
            },
            Value::Prim { prim, elem, plain, args } => {
                if let Some(known) = (self.known)(value) {
                    return Value::Bool(known);
                }
                if let Some(side) = self.side(*prim, *elem, args) {
                    return self.value(side);
                }
                let args = all(args);
                let folded = if *elem == Elem::Index && *plain { folded(*prim, &args) } else { None };
                let value = folded.unwrap_or(Value::Prim { prim: *prim, elem: *elem, plain: *plain, args });
                self.beside(&value).unwrap_or(value)
            }
            Value::Load { base, offset } => Value::Load { base: *base, offset: offset.as_ref().map(|offset| Box::new(self.value(offset))) },
            Value::Select(parts) => match self.condition(&parts[0]) {
                Value::Bool(true) => self.value(&parts[1]),
                Value::Bool(false) => self.value(&parts[2]),
                cond => Value::Select(Box::new([cond, self.value(&parts[1]), self.value(&parts[2])])),
            },
            Value::InRow(parts) => Value::in_row(self.value(&parts[0]), self.value(&parts[1]), self.value(&parts[2])),
            Value::Helper(name, args) => Value::Helper(name, all(args)),
            Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::SizeOf(..) | Value::Moved { .. } | Value::Call(..) => {
                value.clone()
            }
        }
    }
}

impl Copy<'_> {
    /// Which of two indices is always the larger, or the smaller.
    fn side<'v>(&self, prim: Prim, elem: Elem, args: &'v [Value]) -> Option<&'v Value> {
        let (Prim::Max | Prim::Min, Elem::Index, [a, b]) = (prim, elem, args) else { return None };
        let at_most = |a: &Value, b: &Value| {
            (self.known)(&Value::Prim { prim: Prim::Le, elem: Elem::Index, plain: true, args: vec![a.clone(), b.clone()] })
        };
        let up = at_most(a, b).or_else(|| at_most(b, a).map(|down| !down))?;
        Some(if up == (prim == Prim::Max) { b } else { a })
    }

    /// How many iterations a loop has: `p` where that was `max 0 (i + 1 - (i + 1 - p))`.
    fn count(&self, count: &Value) -> Value {
        let count = self.value(count);
        match Affine::of(count.iterations(), &self.named).value() {
            Some(length @ Value::Local(_)) => length,
            _ => count,
        }
    }

    /// `i`, `i - 1`, or at a lone index `0`, for a sum over names that comes to that.
    fn beside(&self, value: &Value) -> Option<Value> {
        let Value::Prim { prim: Prim::Add | Prim::Sub, elem: Elem::Index, plain: true, args } = value else { return None };
        let is_name = |arg: &Value| matches!(arg, Value::Local(id) if self.named.contains_key(id));
        args.iter().any(is_name).then_some(())?;
        Affine::of(value, &self.named).beside().or_else(|| {
            let (i, value_of_i) = self.lone.clone()?;
            let named = [(i, value_of_i)].into_iter().chain(self.named.clone()).collect();
            Affine::of(value, &named).constant_value().map(Value::Index)
        })
    }
}

/// Arithmetic on indices that an index of 0 makes simpler.
fn folded(prim: Prim, args: &[Value]) -> Option<Value> {
    Some(match (prim, args) {
        (Prim::Add, [Value::Index(a), Value::Index(b)]) => Value::Index(a.checked_add(*b)?),
        (Prim::Sub, [Value::Index(a), Value::Index(b)]) => Value::Index(a.checked_sub(*b)?),
        (Prim::Mul, [Value::Index(a), Value::Index(b)]) => Value::Index(a.checked_mul(*b)?),
        (Prim::Add, [Value::Index(0), other]) | (Prim::Add | Prim::Sub, [other, Value::Index(0)]) => other.clone(),
        (Prim::Mul, [Value::Index(0), _] | [_, Value::Index(0)]) => Value::Index(0),
        (Prim::Mul, [Value::Index(1), other] | [other, Value::Index(1)]) => other.clone(),
        _ => return None,
    })
}

/// Locals that are declared without a value and assigned once, in the same block, are declared with that value.
fn constants(locals: &mut [Local], block: Block) -> Block {
    let mut assigned: HashMap<Id, usize> = HashMap::new();
    count(&block, &mut assigned);
    let open: Vec<Id> =
        block.iter().filter_map(|stmt| if let Stmt::Declare { id, init: None } = stmt { Some(*id) } else { None }).collect();
    let here = |id: &Id| block.iter().any(|stmt| matches!(stmt, Stmt::Assign { place: Place::Local(other), .. } if other == id));
    let once: Vec<Id> = open.into_iter().filter(|id| assigned.get(id) == Some(&1) && here(id)).collect();
    for id in &once {
        locals[*id].form = Form::Scalar { mutable: false };
    }
    block
        .into_iter()
        .filter(|stmt| !matches!(stmt, Stmt::Declare { id, init: None } if once.contains(id)))
        .map(|stmt| match stmt {
            Stmt::Assign { place: Place::Local(id), value } if once.contains(&id) => Stmt::Declare { id, init: Some(value) },
            other => other,
        })
        .collect()
}

/// Drops constants that are other names for constants.
fn without_aliases(locals: &[Local], block: &mut Block, aliases: &mut HashMap<Id, Id>) {
    let is_constant = |id: Id| locals[id].form == (Form::Scalar { mutable: false });
    block.retain_mut(|stmt| {
        match stmt {
            Stmt::Declare { init: Some(value), .. } | Stmt::If { cond: value, .. } | Stmt::For { count: value, .. } => {
                rename(value, aliases)
            }
            Stmt::Assign { place, value } => {
                rename(value, aliases);
                if let Place::Element { offset: Some(offset), .. } = place {
                    rename(offset, aliases);
                }
            }
            Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::Update { .. }
            | Stmt::While { .. }
            | Stmt::Share(_)
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Scope(_)
            | Stmt::Return(_) => {}
        }
        if let Stmt::Declare { id, init: Some(Value::Local(other)) } = stmt
            && is_constant(*id)
            && is_constant(*other)
        {
            aliases.insert(*id, *other);
            return false;
        }
        stmt.blocks_mut().for_each(|inner| without_aliases(locals, inner, aliases));
        true
    });
}

fn rename(value: &mut Value, aliases: &HashMap<Id, Id>) {
    if let Value::Local(id) = value {
        *id = aliases.get(id).copied().unwrap_or(*id);
    }
    value.parts_mut().iter_mut().for_each(|part| rename(part, aliases));
}

fn count(block: &[Stmt], assigned: &mut HashMap<Id, usize>) {
    for stmt in block {
        if let Stmt::Assign { place: Place::Local(id), .. } = stmt {
            *assigned.entry(*id).or_default() += 1;
        }
        stmt.blocks().for_each(|block| count(block, assigned));
    }
}
