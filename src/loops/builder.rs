//! A block being written: locals with what is known of them, and statements.
//!
//! In: names, kinds and values. Out: locals, declarations and loop indices, with their ranges; sizes as expressions over what
//! each variable is.
//!
//!     constant("used", Bytes, v)   →   used declared as v, in the innermost open block

use std::collections::HashMap;

use crate::ir::ended_early::end;
use crate::ir::{Expr, Prim, Size, Term, Type, Var, size_term};

use super::analysis::sizes;
use super::program::ranges::Ranges;
use super::program::*;
use super::values::negate;

/// See the module's head.
#[derive(Debug, Default)]
pub struct Builder {
    pub locals: Vec<Local>,
    pub ranges: Ranges,
    /// What a variable of sizes is.
    pub vars: HashMap<Var, Value>,
    /// What the Indexes in the state of a fold in a size are.
    states: HashMap<Var, Vec<Value>>,
    /// Folds of sizes that were computed, and the locals that hold them.
    pub folds: Vec<(Size, Value)>,
    pub blocks: Vec<Block>,
}

impl Builder {
    /// A builder without locals, in an open block.
    pub fn new() -> Builder {
        Builder { blocks: vec![Vec::new()], ..Builder::default() }
    }

    /// The locals of a function, which get more; its sizes are over what its callers say and its loops' indices.
    pub fn of(function: &mut LoopFunction) -> Builder {
        let mut vars: HashMap<Var, Value> = HashMap::new();
        note_indices(&function.body, &mut vars);
        for (id, var) in &function.measured {
            vars.extend(var.clone().map(|var| (var, Value::Local(*id))));
        }
        Builder {
            locals: std::mem::take(&mut function.locals),
            ranges: std::mem::take(&mut function.ranges),
            vars,
            states: HashMap::new(),
            folds: Vec::new(),
            blocks: vec![Vec::new()],
        }
    }

    /// Gives a function its locals back.
    pub fn give_back(self, function: &mut LoopFunction) {
        function.locals = self.locals;
        function.ranges = self.ranges;
    }

    pub fn emit(&mut self, stmt: Stmt) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(stmt);
        }
    }

    pub fn local(&mut self, name: &str, elem: Elem, form: Form) -> Id {
        self.locals.push(Local { name: name.into(), elem, form, note: None });
        self.locals.len() - 1
    }

    /// A constant, declared here.
    pub fn constant(&mut self, name: &str, elem: Elem, init: Value) -> Value {
        let id = self.local(name, elem, Form::Scalar { mutable: false });
        if elem == Elem::Index {
            let range = self.ranges.of(&init);
            self.ranges.insert(id, range);
        }
        self.emit(Stmt::Declare { id, init: Some(init) });
        Value::Local(id)
    }

    /// A loop's index below `count`.
    pub fn counter(&mut self, name: &str, count: &Value) -> Id {
        counter(name, count, &mut self.locals, &mut self.ranges)
    }

    /// An expression for a size; none where data decides.
    pub fn size_value(&self, size: &Size) -> Option<Value> {
        sizes::value(size, &self.ranges, &|expr| self.var(expr))
    }

    fn var(&self, expr: &Expr) -> Option<Value> {
        match expr.term() {
            Term::Var(var) => self.vars.get(var).cloned(),
            Term::Proj(state, k) if matches!(state.term(), Term::Var(_)) => {
                let Term::Var(var) = state.term() else { return None };
                self.states.get(var)?.get(*k).cloned()
            }
            Term::Fold { .. } | Term::Proj(..) if !self.folds.is_empty() => {
                let size = Size::try_of_expr(expr)?;
                self.folds.iter().find(|(known, _)| *known == size).map(|(_, value)| value.clone())
            }
            _ => None,
        }
    }

    /// Computes the folds of a size, those inside of others first.
    ///
    ///     ifold (fun s i -> 2 * s) 1 n   →   s = 1; for (i < n) s = 2 * s
    pub fn compute_folds(&mut self, size: &Size) {
        if let Some(expr) = size.to_own_expr() {
            self.compute_folds_of(&expr);
        }
    }

    fn compute_folds_of(&mut self, expr: &Expr) {
        let Some(fold) = size_term::fold_of(expr) else {
            return expr.term().each_child(&mut |child| self.compute_folds_of(child));
        };
        let Term::Fold { n, acc, i, body, init } = fold.term() else { return };
        let (stops, body) = end(fold).map_or((None, body.clone()), |(stops, next)| (Some(stops), next));
        let body = &body;
        if self.var(expr).is_some() {
            return;
        }
        self.compute_folds_of(n);
        self.compute_folds_of(init);
        let value = |this: &Builder, expr: &Expr| sizes::value(&Size::try_of_expr(expr)?, &this.ranges, &|expr| this.var(expr));
        let values = |this: &Builder, expr: &Expr| {
            let parts = if let Term::Tuple(parts) = expr.term() { parts.as_slice() } else { std::slice::from_ref(expr) };
            parts.iter().map(|part| value(this, part)).collect::<Option<Vec<_>>>()
        };
        let (Some(count), Some(first)) = (value(self, n), values(self, init)) else { return };
        let states: Vec<Id> = first.iter().map(|_| self.local(acc.name(), Elem::Index, Form::Scalar { mutable: true })).collect();
        let step = match stops {
            Some(_) => self.local(i.name(), Elem::Index, Form::Scalar { mutable: true }),
            None => self.counter(i.name(), &count),
        };
        let known = self.folds.len();
        match (acc.ty(), states.as_slice()) {
            (Type::Index(_), [state]) => _ = self.vars.insert(acc.clone(), Value::Local(*state)),
            _ => _ = self.states.insert(acc.clone(), states.iter().map(|state| Value::Local(*state)).collect()),
        }
        self.vars.insert(i.clone(), Value::Local(step));
        self.blocks.push(Vec::new());
        let goes_on = stops.map(|stops| value(self, &stops).map(negate));
        self.compute_folds_of(body);
        let mut next = values(self, body);
        // each of several is of the states before the step
        if let Some(next) = next.as_mut().filter(|next| next.len() > 1) {
            let kept = std::mem::take(next).into_iter().map(|value| self.constant("next", Elem::Index, value));
            *next = kept.collect();
        }
        let mut inside = self.blocks.pop().unwrap_or_default();
        self.folds.truncate(known);
        let (Some(next), Some(goes_on)) = (next, goes_on.map_or(Some(None), |goes_on| goes_on.map(Some))) else { return };
        for (id, first) in states.iter().zip(first) {
            self.emit(Stmt::Declare { id: *id, init: Some(first) });
        }
        inside.extend(states.iter().zip(next).map(|(id, value)| Stmt::Assign { place: Place::Local(*id), value }));
        match goes_on {
            Some(goes_on) => {
                let prim = |prim, elem, args| Value::Prim { prim, elem, plain: true, args };
                let is_step = prim(Prim::Lt, Elem::Index, vec![Value::Local(step), count]);
                let value = prim(Prim::Add, Elem::Index, vec![Value::Local(step), Value::Index(1)]);
                inside.push(Stmt::Assign { place: Place::Local(step), value });
                self.emit(Stmt::Declare { id: step, init: Some(Value::Index(0)) });
                self.emit(Stmt::While { cond: prim(Prim::And, Elem::Bool, vec![is_step, goes_on]), body: inside });
            }
            None => self.emit(Stmt::For { i: step, var: None, count, size: None, body: inside, lanes: Lanes::One, apart: false }),
        }
        for (k, state) in states.iter().enumerate() {
            let part = if states.len() == 1 { expr.clone() } else { Expr::proj(fold.clone(), k) };
            self.folds.extend(Size::try_of_expr(&part).map(|size| (size, Value::Local(*state))));
        }
    }

    /// An expression for the most that a length may be; none where only data decides.
    pub fn most(&self, length: &Size) -> Option<Value> {
        sizes::most(length, &self.ranges, &|expr| self.var(expr))
    }
}

/// A loop's index below `count`.
pub fn counter(name: &str, count: &Value, locals: &mut Vec<Local>, ranges: &mut Ranges) -> Id {
    locals.push(Local { name: name.into(), elem: Elem::Index, form: Form::Scalar { mutable: true }, note: None });
    let i = locals.len() - 1;
    ranges.count_to(i, count);
    i
}

fn note_indices(block: &[Stmt], vars: &mut HashMap<Var, Value>) {
    for stmt in block {
        if let Stmt::For { i, var: Some(var), .. } = stmt {
            vars.insert(var.clone(), Value::Local(*i));
        }
        stmt.blocks().for_each(|block| note_indices(block, vars));
    }
}
