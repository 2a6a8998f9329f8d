//! What an iteration costs, roughly: enough to say whether threads are worth starting.
//!
//! In: the body of a loop, and which locals are known before it. Out: a Double, about the number of operations on
//! Doubles: an addition is 1, a call of `sin` 20, an inner loop its body times its count.
//!
//!     { s = 0; for j < m: s += A[i][j] * v[j]; out[i] = sqrt(s) }   →   8.0 + 5.0 * (double)m
//!
//! A count that is only known inside the loop is taken for 16; of two branches both count.

use std::collections::HashMap;

use crate::ir::Prim;
use crate::ir::prim::Spelling;

use crate::loops::program::*;

/// The cost of a block for the locals that are known.
pub fn of_block(block: &[Stmt], done: &[LoopFunction], is_known: &dyn Fn(Id) -> bool) -> Value {
    Estimate::new(block, done, is_known).block(block).value()
}

/// What the iterations of some loops over columns cost for one column, rows apart.
pub fn of_columns(block: &[Stmt], done: &[LoopFunction], columns: &[Id], is_known: &dyn Fn(Id) -> bool) -> Value {
    Estimate::new(block, done, is_known).columns(block, columns).value()
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
            let each = work.value();
            let product = if matches!(each, Value::Double(1.0)) { count } else { op(Prim::Mul, each, count) };
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
    /// What is declared in the block, with its first value.
    named: HashMap<Id, &'a Value>,
}

impl<'a> Estimate<'a> {
    fn new(block: &'a [Stmt], done: &'a [LoopFunction], is_known: &'a dyn Fn(Id) -> bool) -> Self {
        let mut named = HashMap::new();
        names(block, &mut named);
        Estimate { done, is_known, named }
    }

    fn columns(&self, block: &[Stmt], columns: &[Id]) -> Work {
        let mut work = Work::default();
        for stmt in block {
            work.add(match stmt {
                Stmt::For { i, body, .. } if columns.contains(i) => self.block(body),
                Stmt::For { count, body, .. } => self.repeat(count, self.columns(body, columns)),
                _ => {
                    let mut inner = Work::default();
                    stmt.blocks().for_each(|block| inner.add(self.columns(block, columns)));
                    inner
                }
            });
        }
        work
    }

    /// What is done a number of times.
    fn repeat(&self, count: &Value, body: Work) -> Work {
        match self.known(count) {
            Some(Value::Index(count)) => body.scaled(count.max(0) as f64),
            // what is left over
            Some(Value::Prim { prim: Prim::Rem, args, .. }) if matches!(args[1], Value::Index(_)) => {
                body.scaled(if let Value::Index(most) = args[1] { most as f64 / 2.0 } else { UNKNOWN })
            }
            Some(count) => Work { constant: 0.0, times: vec![(count, body)] },
            None => body.scaled(UNKNOWN),
        }
    }

    /// A count over what is known, which can be evaluated once more.
    fn known(&self, count: &Value) -> Option<Value> {
        match count {
            Value::Local(id) if !(self.is_known)(*id) => self.known(self.named.get(id)?),
            Value::Local(_) | Value::Index(_) => Some(count.clone()),
            // a check that a divisor is not 0 may be inside
            Value::Prim { prim: Prim::Div | Prim::Rem, args, .. } if !matches!(args[1], Value::Index(2..)) => None,
            Value::Prim { prim, elem, plain, args } => {
                let args = args.iter().map(|arg| self.known(arg)).collect::<Option<_>>()?;
                Some(Value::Prim { prim: *prim, elem: *elem, plain: *plain, args })
            }
            Value::Double(_)
            | Value::Bool(_)
            | Value::InRow(_)
            | Value::Load { .. }
            | Value::Select(_)
            | Value::Helper(..)
            | Value::SizeOf(..)
            | Value::Moved { .. }
            | Value::Call(..) => None,
        }
    }

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
            Stmt::Assign { place: Place::Element { .. }, value } | Stmt::Update { value, .. } => Work::of(1.0 + of_value(value)),
            Stmt::For { count, body, .. } => self.repeat(count, self.block(body)),
            // an iteration of it: nobody knows more
            Stmt::While { body, .. } => self.block(body),
            Stmt::If { cond, then, otherwise } => {
                let mut work = Work::of(of_value(cond));
                work.add(self.block(then));
                work.add(self.block(otherwise));
                work
            }
            Stmt::Fail { cond, .. } => Work::of(of_value(cond)),
            Stmt::Invoke(call) => match self.done.iter().find(|other| other.name == call.callee) {
                // its counts are over parameters of its own
                Some(callee) => Estimate { done: self.done, is_known: &|_| false, named: HashMap::new() }.block(&callee.body),
                None => Work::default(),
            },
            Stmt::Scope(body) | Stmt::Share(Share { body, .. }) => self.block(body),
            Stmt::Point { .. } | Stmt::NoRoom { .. } | Stmt::Room(_) | Stmt::Rotate(_) | Stmt::Return(_) => Work::default(),
        }
    }
}

fn names<'a>(block: &'a [Stmt], named: &mut HashMap<Id, &'a Value>) {
    for stmt in block {
        if let Stmt::Declare { id, init: Some(init) } = stmt {
            named.insert(*id, init);
        }
        stmt.blocks().for_each(|block| names(block, named));
    }
}

/// Operations of an expression; those on indices are free.
fn of_value(value: &Value) -> f64 {
    let all = |args: &[Value]| args.iter().map(of_value).sum::<f64>();
    match value {
        Value::Local(_)
        | Value::Double(_)
        | Value::Index(_)
        | Value::Bool(_)
        | Value::InRow(_)
        | Value::SizeOf(..)
        | Value::Moved { .. } => 0.0,
        Value::Load { .. } => 1.0,
        Value::Prim { elem: Elem::Index, prim, args, .. } => all(args) + if matches!(prim, Prim::Div | Prim::Rem) { 4.0 } else { 0.0 },
        Value::Prim { prim, args, .. } => {
            let own = match (prim, prim.row().c) {
                (Prim::Div | Prim::Sqrt, _) => 4.0,
                (Prim::Min | Prim::Max | Prim::Abs | Prim::Sign | Prim::Ceil | Prim::Round | Prim::Trunc, _)
                | (_, Spelling::Infix(_) | Spelling::Prefix(_)) => 1.0,
                (_, Spelling::Call(_)) => 20.0,
            };
            own + all(args)
        }
        Value::Helper(_, args) => all(args),
        Value::Select(parts) => 1.0 + all(parts.as_slice()),
        Value::Call(..) => 0.0,
    }
}
