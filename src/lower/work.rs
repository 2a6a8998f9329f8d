//! What an iteration costs, roughly: enough to say whether threads are worth starting.
//!
//! In: the body of a loop, and which locals are known before it. Out: a Double, about the number of operations on
//! Doubles: an addition is 1, a call of `sin` 20, an inner loop its body times its count.
//!
//!     { s = 0; for j < m: s += A[i][j] * v[j]; out[i] = sqrt(s) }   →   8.0 + 5.0 * (double)m
//!
//! A count that is only known inside the loop is taken for 16; of two branches both count.

use crate::ir::Prim;
use crate::ir::prim::Spelling;

use super::clean::each_local;
use super::program::*;

/// The cost of a block for the locals that are known.
pub fn of_block(block: &[Stmt], done: &[LoopFunction], is_known: &dyn Fn(Id) -> bool) -> Value {
    Estimate { done, is_known }.block(block).value()
}

/// A constant, and costs that are paid a number of times.
#[derive(Default)]
struct Work {
    constant: f64,
    times: Vec<(Value, Work)>,
}

/// What a count that is not known is taken for.
const UNKNOWN: f64 = 16.0;

impl Work {
    fn of(constant: f64) -> Work {
        Work { constant, times: Vec::new() }
    }

    fn add(&mut self, other: Work) {
        self.constant += other.constant;
        for (count, work) in other.times {
            match self.times.iter_mut().find(|(known, _)| *known == count) {
                Some((_, sum)) => sum.add(work),
                None => self.times.push((count, work)),
            }
        }
    }

    fn scaled(mut self, by: f64) -> Work {
        self.constant *= by;
        self.times = self.times.into_iter().map(|(count, work)| (count, work.scaled(by))).collect();
        self
    }

    fn value(self) -> Value {
        let op = |prim, a, b| Value::Prim { prim, elem: Elem::Double, plain: true, args: vec![a, b] };
        let mut sum = (self.constant > 0.0 || self.times.is_empty()).then_some(Value::Double(self.constant));
        for (count, work) in self.times {
            let count = Value::Prim { prim: Prim::ToDouble, elem: Elem::Index, plain: true, args: vec![count] };
            let product = match work.value() {
                Value::Double(1.0) => count,
                each => op(Prim::Mul, each, count),
            };
            sum = Some(match sum {
                Some(sum) => op(Prim::Add, sum, product),
                None => product,
            });
        }
        sum.unwrap_or(Value::Double(0.0))
    }
}

struct Estimate<'a> {
    done: &'a [LoopFunction],
    is_known: &'a dyn Fn(Id) -> bool,
}

impl Estimate<'_> {
    fn block(&self, block: &[Stmt]) -> Work {
        let mut work = Work::default();
        for stmt in block {
            work.add(self.stmt(stmt));
        }
        work
    }

    fn stmt(&self, stmt: &Stmt) -> Work {
        match stmt {
            Stmt::Declare { init, .. } => Work::of(init.as_ref().map_or(0.0, of_value)),
            Stmt::Assign { place: Place::Local(_), value } => Work::of(of_value(value)),
            Stmt::Assign { place: Place::Element { .. }, value } => Work::of(1.0 + of_value(value)),
            Stmt::For { count, body, .. } | Stmt::Share(Share { count, body, .. }) => {
                let body = self.block(body);
                let mut known = true;
                each_local(count, &mut |id| known &= (self.is_known)(id));
                match count {
                    Value::Index(count) => body.scaled((*count).max(0) as f64),
                    count if known && is_plain(count) => Work { constant: 0.0, times: vec![(count.clone(), body)] },
                    _ => body.scaled(UNKNOWN),
                }
            }
            Stmt::If { cond, then, otherwise } => {
                let mut work = Work::of(of_value(cond));
                work.add(self.block(then));
                work.add(self.block(otherwise));
                work
            }
            Stmt::Fail { cond, .. } => Work::of(of_value(cond)),
            Stmt::Invoke(call) => match self.done.iter().find(|other| other.name == call.callee) {
                // its counts are over parameters of its own
                Some(callee) => Estimate { done: self.done, is_known: &|_| false }.block(&callee.body),
                None => Work::default(),
            },
            Stmt::Scope(body) => self.block(body),
            Stmt::Point { .. } | Stmt::NoRoom { .. } | Stmt::Room(_) | Stmt::Rotate(_) | Stmt::Return(_) => Work::default(),
        }
    }
}

/// A count that can be evaluated once more: nothing is read from memory.
fn is_plain(count: &Value) -> bool {
    match count {
        Value::Local(_) | Value::Index(_) => true,
        Value::Prim { args, .. } => args.iter().all(is_plain),
        _ => false,
    }
}

/// Operations of an expression; those on indices are free.
fn of_value(value: &Value) -> f64 {
    let all = |args: &[Value]| args.iter().map(of_value).sum::<f64>();
    match value {
        Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::SizeOf(_) | Value::Moved { .. } => 0.0,
        Value::Load { .. } => 1.0,
        Value::Prim { elem: Elem::Index, prim, args, .. } => all(args) + if matches!(prim, Prim::Div | Prim::Rem) { 4.0 } else { 0.0 },
        Value::Prim { prim, args, .. } => {
            let own = match (prim, prim.row().c) {
                (Prim::Div | Prim::Sqrt, _) => 4.0,
                (Prim::Min | Prim::Max | Prim::Abs | Prim::Sign, _) | (_, Spelling::Infix(_) | Spelling::Prefix(_)) => 1.0,
                (_, Spelling::Call(_)) => 20.0,
            };
            own + all(args)
        }
        Value::Helper(_, args) => all(args),
        Value::Select(parts) => 1.0 + all(parts.as_slice()),
        Value::Call(..) => 0.0,
    }
}
