//! Running code: strict, left to right, IEEE doubles.
//!
//! In: an instance's code and a frame of slots. Out: a value over [`Number`]s, or the first run-time error
//! with its place. Everything that can go wrong in a well-formed program is one of the language's errors; a
//! value of the wrong kind is reported as a defect, never a panic.

use std::rc::Rc;

use super::arithmetic::Arithmetic;
use super::code::{Code, Fold, Instance, While};
use super::compile::DEEPEST_DERIVATIVE;
use super::duals::{misfit, pair, seed, wants_rows};
use super::number::{Number, V};
use super::partial;
use super::shape::Shape;
use super::sizes::length_at;
use super::value::{Rolled, Value};
use super::{ErrorKind, Reverse, RuntimeError, real};
use crate::ir::prim::{Kind, Prim};
use crate::ir::print;
use crate::ir::term::Status;
use crate::source::Span;

pub type Run<T> = Result<T, Box<RuntimeError>>;

/// The most calls at once.
const DEEPEST: usize = 100_000;

/// The stack that one call may need, and by how much it grows, in bytes.
const STACK_LEFT: usize = 1 << 20;
const STACK_STEP: usize = 1 << 26;

pub struct Machine<'c> {
    instances: &'c [Rc<Instance>],
    stack: Vec<V>,
    /// Where the running call's slots begin.
    base: usize,
    pub arithmetic: Arithmetic,
    /// How a `vjp` is evaluated.
    pub reverse: Reverse,
    /// Tags whose numbers stand on a tape: nobody is lifted to them.
    pub unlifted: u64,
    /// Whether a trace still waits for the outermost derivative form.
    pub awaits_form: bool,
    /// The calls that have not ended.
    calls: usize,
    /// The call that takes the place of the one that just ended.
    next_call: Option<(usize, Vec<V>, Span)>,
}

pub fn fail<T>(status: Status, span: Span, message: impl Into<String>) -> Run<T> {
    Err(RuntimeError::new(ErrorKind::Status(status), span, message))
}

pub fn defect<T>(span: Span) -> Run<T> {
    Err(RuntimeError::new(ErrorKind::Internal, span, "a value is not of its term's type"))
}

impl<'c> Machine<'c> {
    /// A machine whose first frame holds `frame`, then empty slots up to `slots`.
    pub fn new(instances: &'c [Rc<Instance>], mut frame: Vec<V>, slots: usize) -> Machine<'c> {
        frame.resize(slots.max(frame.len()), Value::Index(0));
        let arithmetic = Arithmetic::default();
        Machine {
            instances,
            stack: frame,
            base: 0,
            arithmetic,
            reverse: Reverse::Columns,
            unlifted: 0,
            awaits_form: false,
            calls: 0,
            next_call: None,
        }
    }

    /// Puts a value into a slot of the first frame.
    pub fn set(&mut self, slot: usize, value: V) {
        if let Some(place) = self.stack.get_mut(self.base + slot) {
            *place = value;
        }
    }

    pub fn slot(&self, slot: usize) -> Option<&V> {
        self.stack.get(self.base + slot)
    }

    pub fn run(&mut self, code: &Code) -> Run<V> {
        match code {
            Code::Slot(slot) => match self.slot(*slot) {
                Some(value) => Ok(value.clone()),
                None => defect(Span::NONE),
            },
            Code::Take(slot, path) => self.take(*slot, path),
            Code::Constant(value) => {
                let Value::Double(Number::Plain(number)) = value else { return Ok(value.clone()) };
                self.arithmetic.trace.meet(*number);
                Ok(self.constant(*number))
            }
            Code::Prim(prim, args, span) => self.prim(*prim, args, *span),
            Code::Let(slot, parts) => {
                let value = self.run(&parts.0)?;
                self.set(*slot, value);
                self.run(&parts.1)
            }
            Code::If(parts) => {
                if self.condition(&parts.0)? {
                    self.run(&parts.1)
                } else {
                    self.run(&parts.2)
                }
            }
            Code::Build(build) => self.build(build),
            Code::Fold(fold) => self.fold(fold),
            Code::While(steps) => self.steps(steps),
            Code::TooDeep(name, span) => {
                let message = format!("`{name}` takes more than {DEEPEST_DERIVATIVE} derivatives of itself, one in another");
                Err(RuntimeError::new(ErrorKind::TooLarge, *span, message))
            }
            Code::TailCall(instance, args, span) => {
                let args = args.iter().map(|arg| self.run(arg)).collect::<Run<Vec<V>>>()?;
                self.next_call = Some((*instance, args, *span));
                Ok(Value::Index(0))
            }
            Code::Get(parts, span) => self.get(&parts.0, &parts.1, *span),
            Code::Dim(array, axis) => {
                let shape = self.shape_of(array)?;
                match shape.dims().get(*axis) {
                    Some(length) => Ok(Value::Index(*length as i64)),
                    None => defect(Span::NONE),
                }
            }
            Code::Tuple(parts) => Ok(Value::tuple(parts.iter().map(|part| self.run(part)).collect::<Run<_>>()?)),
            Code::Proj(tuple, index) => match self.run(tuple)? {
                Value::Tuple(parts) => parts.get(*index).cloned().map_or_else(|| defect(Span::NONE), Ok),
                Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::Array(_) | Value::Rolled(_) => defect(Span::NONE),
            },
            Code::Array(items, element, span) => self.array(items, element, *span),
            Code::Call(instance, args, span) => {
                let args = args.iter().map(|arg| self.run(arg)).collect::<Run<Vec<V>>>()?;
                self.call(*instance, args).map_err(|error| error.called_at(*span))
            }
            Code::Check { cond, status, body, source } => {
                if self.condition(cond)? {
                    return self.run(body);
                }
                let message = match self.out_of_range(cond).filter(|_| *status == Status::Range) {
                    Some((index, bound)) => format!("{index} is not an index below {bound}"),
                    None if *status == Status::Workspace => "recursion is deeper than its stack has room for".to_string(),
                    None => format!("`{}` does not hold", print::expr(source)),
                };
                fail(*status, source.span(), message)
            }
            Code::Dual { tag, slot, parts, span } => {
                self.is_awaited(*tag);
                let (at, tangent) = (self.run(&parts.0)?, self.run(&parts.1)?);
                if !at.is_shaped_as(&tangent) {
                    return fail(Status::Shape, *span, misfit(("tangent", &tangent), ("point", &at)));
                }
                let at = self.bound(at);
                let x = seed(*tag, &at, &tangent);
                self.set(*slot, x);
                let body = self.run(&parts.2)?;
                Ok(pair(*tag, &body))
            }
            Code::Vjp { tag, slot, parts, activity, name, span } => {
                let (at, cotangent) = (self.run(&parts.0)?, self.run(&parts.1)?);
                let at = self.bound(at);
                // a Jacobian is traced as it is done
                if self.is_awaited(*tag) && !wants_rows(&cotangent) {
                    return self.trace_function((*tag, *slot, name), (&at, &cotangent), &parts.2, *span);
                }
                let (value, derivative) = self.vjp(*tag, *slot, (&at, &cotangent), &parts.2, *span)?;
                Ok(Value::tuple(vec![value, self.lift(activity, derivative)]))
            }
            Code::Update(change, update) => self.update(*change, update),
            Code::Roll(value) => Ok(Value::Rolled(Rolled::new(self.run(value)?))),
            Code::Unroll(value, span) => match self.run(value)? {
                Value::Rolled(rolled) => rolled.unrolled().cloned().map_or_else(|| defect(*span), Ok),
                Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::Array(_) | Value::Tuple(_) => defect(*span),
            },
            Code::Lift(code, activity) => {
                let value = self.run(code)?;
                Ok(self.lift(activity, value))
            }
        }
    }

    /// A Double of the program's text, or made of an Index.
    fn constant(&mut self, number: f64) -> V {
        Value::Double(match &mut self.arithmetic.tapes.identities {
            Some(identities) => identities.constant(number),
            None => Number::Plain(number),
        })
    }

    /// The value of a variable that a derivative form or the entry binds.
    pub fn bound(&mut self, value: V) -> V {
        match &mut self.arithmetic.tapes.identities {
            Some(identities) => identities.variable(&value),
            None => value,
        }
    }

    /// Fails where the partial meaning has no value.
    fn defined(&self, prim: Prim, operands: &[&V], span: Span) -> Run<()> {
        if self.arithmetic.tapes.identities.is_none() {
            return Ok(());
        }
        let why = match operands {
            [Value::Double(x)] => partial::unary(prim, x),
            [Value::Double(x), Value::Double(y)] => partial::binary(prim, x, y),
            [Value::Index(_), Value::Double(x)] => partial::unary(prim, x),
            _ => None,
        };
        match why {
            Some(why) => Err(RuntimeError::new(ErrorKind::Undefined, span, format!("undefined: `{}` {why}", prim.row().name))),
            None => Ok(()),
        }
    }

    /// Calls an instance whose sizes are read off the arguments.
    pub fn call(&mut self, instance: usize, args: Vec<V>) -> Run<V> {
        if self.calls >= DEEPEST {
            let message = format!("more than {DEEPEST} calls of functions that have not ended");
            let place = self.instances.get(instance).map_or(Span::NONE, |instance| instance.span);
            return Err(RuntimeError::new(ErrorKind::TooLarge, place, message));
        }
        self.calls += 1;
        let value = stacker::maybe_grow(STACK_LEFT, STACK_STEP, || self.call_at_once(instance, args));
        self.calls -= 1;
        value
    }

    /// Runs the instance, then those whose calls are its last.
    fn call_at_once(&mut self, instance: usize, args: Vec<V>) -> Run<V> {
        let (outer, base) = (self.base, self.stack.len());
        let mut call = (instance, args, Span::NONE);
        loop {
            let (instance, args, place) = call;
            let Some(instance) = self.instances.get(instance) else { return defect(Span::NONE) };
            let sizes: Vec<V> = instance.sizes.iter().map(|source| Value::Index(length_at(&args, source.place.as_ref()))).collect();
            self.stack.extend(args);
            self.stack.extend(sizes);
            self.stack.resize(base + instance.slots, Value::Index(0));
            self.base = base;
            let value = self.run(&instance.code);
            self.base = outer;
            self.stack.truncate(base);
            match self.next_call.take() {
                Some(next) => call = next,
                None => return value.map_err(|error| error.called_at(place)),
            }
        }
    }

    /// The first index that a range check refuses, and its bound; a check goes through arrays and tuples.
    fn out_of_range(&mut self, check: &Code) -> Option<(i64, i64)> {
        match check {
            Code::Prim(Prim::Lt, args, _) => {
                let [index, bound] = args.as_slice() else { return None };
                let (index, bound) = (self.index(index).ok()?, self.index(bound).ok()?);
                (index < 0 || index >= bound).then_some((index, bound))
            }
            Code::Prim(_, args, _) => args.iter().find_map(|arg| self.out_of_range(arg)),
            Code::Let(slot, parts) => {
                let value = self.run(&parts.0).ok()?;
                self.set(*slot, value);
                self.out_of_range(&parts.1)
            }
            Code::Fold(fold) => (0..self.index(&fold.n).ok()?).find_map(|i| {
                self.set(fold.i, Value::Index(i));
                self.out_of_range(&fold.body)
            }),
            _ => None,
        }
    }

    /// The value of a variable's component, which is not needed there any more.
    fn take(&mut self, slot: usize, path: &[usize]) -> Run<V> {
        let Some(mut place) = self.stack.get_mut(self.base + slot) else { return defect(Span::NONE) };
        for (depth, k) in path.iter().enumerate() {
            let Value::Tuple(parts) = place else { return defect(Span::NONE) };
            if Rc::get_mut(parts).is_none() {
                // someone else has the tuple: the component stays
                let whole = Value::Tuple(parts.clone());
                let part = path[depth..].iter().try_fold(&whole, |value, k| value.items().get(*k));
                return part.cloned().map_or_else(|| defect(Span::NONE), Ok);
            }
            place = match Rc::get_mut(parts).and_then(|parts| parts.get_mut(*k)) {
                Some(part) => part,
                None => return defect(Span::NONE),
            };
        }
        Ok(std::mem::replace(place, Value::Index(0)))
    }

    fn condition(&mut self, code: &Code) -> Run<bool> {
        self.run(code)?.as_bool().map_or_else(|| defect(Span::NONE), Ok)
    }

    pub fn index(&mut self, code: &Code) -> Run<i64> {
        self.run(code)?.as_index().map_or_else(|| defect(Span::NONE), Ok)
    }

    pub fn count(&mut self, n: &Code, what: &str, span: Span) -> Run<i64> {
        let n = self.index(n)?;
        if n < 0 {
            return fail(Status::Negative, span, format!("{what} with the negative count {n}"));
        }
        Ok(n)
    }

    fn fold(&mut self, fold: &Fold) -> Run<V> {
        let mut acc = self.run(&fold.init)?;
        let n = self.count(&fold.n, "`ifold`", fold.span)?;
        let shape = if fold.shaped { acc.shape() } else { Shape::Unknown };
        for i in 0..n {
            self.set(fold.acc, acc);
            self.set(fold.i, Value::Index(i));
            acc = self.run(&fold.body)?;
            if fold.shaped && !acc.has_shape(&shape) {
                let message = format!("the accumulator has shape {} after step {i}, {shape} before", acc.shape());
                return fail(Status::Shape, fold.span, message);
            }
        }
        Ok(acc)
    }

    fn steps(&mut self, steps: &While) -> Run<V> {
        let mut state = self.run(&steps.init)?;
        let shape = if steps.shaped { state.shape() } else { Shape::Unknown };
        loop {
            self.set(steps.state, state);
            let step = self.run(&steps.body)?;
            let [goes_on, next] = step.items() else { return defect(steps.span) };
            state = next.clone();
            if steps.shaped && !state.has_shape(&shape) {
                let message = format!("the parameters have shape {} in the next call, {shape} in this one", state.shape());
                return fail(Status::Shape, steps.span, message);
            }
            match goes_on.as_bool() {
                Some(true) => {}
                Some(false) => return Ok(state),
                None => return defect(steps.span),
            }
        }
    }

    fn prim(&mut self, prim: Prim, args: &[Code], span: Span) -> Run<V> {
        match (prim, args) {
            (Prim::And | Prim::Or, [a, b]) => {
                let first = self.condition(a)?;
                Ok(Value::Bool(if first == (prim == Prim::Or) { first } else { self.condition(b)? }))
            }
            (_, [x]) => {
                let x = self.run(x)?;
                self.defined(prim, &[&x], span)?;
                match self.prim1(prim, &x) {
                    Some(value) => Ok(value),
                    None => match (prim, &x) {
                        (Prim::ToIndex, Value::Double(x)) => {
                            fail(Status::Range, span, format!("`index` of {}, which no Index can hold", x.value()))
                        }
                        _ => defect(span),
                    },
                }
            }
            (_, [x, y]) => {
                let (x, y) = (self.run(x)?, self.run(y)?);
                self.defined(prim, &[&x, &y], span)?;
                match self.prim2(prim, &x, &y) {
                    Some(value) => Ok(value),
                    None => match (prim, &y) {
                        (Prim::Div | Prim::Rem, Value::Index(0)) => {
                            fail(Status::DivZero, span, format!("`{}` of an Index by zero", prim.row().name))
                        }
                        _ => defect(span),
                    },
                }
            }
            _ => defect(span),
        }
    }

    fn prim1(&mut self, prim: Prim, x: &V) -> Option<V> {
        match (prim, x) {
            (Prim::Not, Value::Bool(x)) => Some(Value::Bool(!x)),
            (Prim::ToDouble, Value::Index(x)) => {
                let number = self.arithmetic.trace.meet(*x as f64);
                Some(self.constant(number))
            }
            (Prim::ToIndex, Value::Double(x)) => real::to_index(x.value()).map(Value::Index),
            (_, Value::Double(x)) => self.arithmetic.unary(prim, x).map(Value::Double),
            (_, Value::Index(x)) => real::index(prim, *x, 0).map(Value::Index),
            (_, Value::Bool(_) | Value::Tuple(_) | Value::Array(_) | Value::Rolled(_)) => None,
        }
    }

    fn prim2(&mut self, prim: Prim, x: &V, y: &V) -> Option<V> {
        if matches!(prim.row().kind, Kind::Order | Kind::Equality) {
            self.arithmetic.trace.counts.comparisons += u64::from(!matches!(x, Value::Bool(_)));
            let holds = match (x, y) {
                (Value::Double(x), Value::Double(y)) => real::compare(prim, x.value(), y.value()),
                (Value::Index(x), Value::Index(y)) => real::compare(prim, *x, *y),
                (Value::Bool(x), Value::Bool(y)) => real::compare(prim, *x, *y),
                _ => None,
            };
            return holds.map(Value::Bool);
        }
        match (x, y) {
            (Value::Double(x), Value::Double(y)) => self.arithmetic.binary(prim, x, y).map(Value::Double),
            (Value::Index(x), Value::Index(y)) => real::index(prim, *x, *y).map(Value::Index),
            (Value::Index(k), Value::Double(x)) if prim == Prim::Polygamma => Some(Value::Double(self.arithmetic.polygamma(*k, x))),
            _ => None,
        }
    }
}
