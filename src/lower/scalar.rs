//! Scalars: sizes, Index arithmetic with its ranges, primitives with their checks.
//!
//! A scalar term becomes a pure expression; what can fail becomes a guard before it. Index arithmetic wraps
//! through `runtime/` unless the operands' ranges (loop counters, sizes, literals) leave no overflow:
//!
//!     i + 1   →   i + 1               for a loop counter
//!     k + 1   →   smooth_add(k, 1)    for an Index that anything may have been passed as

use crate::ir::size_term;
use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};
use crate::source::Span;

use super::context::{Lowerer, Result, depends_on_data, mismatch};
use super::names::unnamed;
use super::view::{Leaf, View};
use crate::loops::analysis::sizes;
use crate::loops::program::ranges::Range;
use crate::loops::program::*;
use crate::loops::values::{negate, product};
use crate::loops::visit::{each_local, is_total};

/// How many preceding statements are searched for a constant of the same value.
const LAST: usize = 100;

impl Lowerer<'_> {
    /// An expression for a size; its folds are computed here, unless a local holds them.
    pub fn size_value(&mut self, size: &Size, span: Span) -> Result<Value> {
        if size.has_fold() {
            self.compute_folds(&size.to_expr().ok_or_else(|| depends_on_data(span))?)?;
        }
        self.known_size(size, span)
    }

    /// Computes the folds in the lengths of a body that are of parameters alone, once for all.
    pub fn compute_lengths(&mut self, body: &Expr) -> Result<()> {
        let mut found: Vec<Size> = Vec::new();
        let mut add = |size: &Size| {
            if size.has_fold() && !found.contains(size) {
                found.push(size.clone());
            }
        };
        each_length(body, &mut add);
        for size in found {
            let mut is_known = true;
            size.each_var(&mut |var| is_known &= self.size_var(var).is_some());
            if let (Some(expr), true) = (size.to_expr(), is_known) {
                self.compute_folds(&expr)?;
            }
        }
        Ok(())
    }

    /// In a size a fold of less than no steps has none: where the program asks for it, it fails.
    fn compute_folds(&mut self, expr: &Expr) -> Result<()> {
        let Some(fold) = size_term::fold_of(expr) else {
            return expr.term().children().try_for_each(|child| self.compute_folds(child));
        };
        if self.named_size(expr).is_none() {
            let view = self.fold(&size_term::without_failures(fold), None, &"length".into())?;
            self.name_sizes(fold, &view);
        }
        Ok(())
    }

    /// Notes that a loop's state, or each of its parts, is a size.
    pub fn name_sizes(&mut self, fold: &Expr, view: &View) {
        match view {
            View::Scalar(value) => self.named.extend(Size::try_of_expr(fold).map(|size| (size, value.clone()))),
            View::Tuple(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    if let (View::Scalar(part), Some(size)) = (part, Size::try_of_expr(&Expr::proj(fold.clone(), k))) {
                        self.named.push((self.canonical(&size), part.clone()));
                    }
                }
            }
            View::Array(_) => {}
        }
    }

    /// An expression for a size of which nothing has to be computed.
    pub fn known_size(&self, size: &Size, span: Span) -> Result<Value> {
        sizes::value(size, &self.ranges, &|expr| self.named_size(expr)).ok_or_else(|| depends_on_data(span))
    }

    /// What a variable of a size is, or another term of one that a `let` has named.
    pub fn named_size(&self, expr: &Expr) -> Option<Value> {
        match expr.term() {
            Term::Var(var) => self.size_var(var),
            Term::Prim(..) | Term::If(..) | Term::Fold { .. } | Term::Proj(..) if !self.named.is_empty() => {
                let size = Size::try_of_expr(expr)?;
                self.named.iter().rev().find(|(named, _)| *named == size).map(|(_, value)| value.clone())
            }
            _ => None,
        }
    }

    fn size_var(&self, var: &Var) -> Option<Value> {
        match (self.env.get(var), self.sizes.get(var)) {
            (Some(View::Scalar(value)), _) => Some(value.clone()),
            (_, Some(size)) => self.known_size(size, Span::NONE).ok(),
            (Some(View::Tuple(_) | View::Array(_)) | None, None) => None,
        }
    }

    /// The offset of a leaf in its block; `None` for a lone scalar. A whole element is one of a row of a row (Horner's form), which
    /// never exceeds the block; where rows begin is an element of the first row of all that is inside, exact also where a later
    /// length is 0.
    pub fn offset(&self, leaf: &Leaf) -> Option<Value> {
        let count = |size: &Size| self.known_size(size, Span::NONE).unwrap_or(Value::Index(0));
        let (first, rest) = leaf.taken.split_first()?;
        if leaf.taken.len() == leaf.dims.len() {
            let inner = rest.iter().zip(&leaf.dims[1..]);
            return Some(inner.fold(first.clone(), |row, (column, size)| Value::in_row(row, count(size), column.clone())));
        }
        Some(self.offset_behind(leaf, Value::Index(0)))
    }

    /// The offset of what lies so many elements behind where the rows of a leaf begin.
    pub fn offset_behind(&self, leaf: &Leaf, elements: Value) -> Value {
        let count = |size: &Size| self.known_size(size, Span::NONE).unwrap_or(Value::Index(0));
        leaf.taken.iter().enumerate().rev().fold(elements, |column, (k, row)| {
            let stride = leaf.dims[k + 1..].iter().map(count).rev().reduce(|inside, size| product(size, inside));
            Value::in_row(row.clone(), stride.unwrap_or(Value::Index(1)), column)
        })
    }

    /// A pointer to the first element of a leaf.
    pub fn pointer(&self, leaf: &Leaf) -> Pointer {
        let is_first = |size: &Size| size.as_constant() == Some(0);
        let is_start = leaf.taken.iter().all(|index| *index == Value::Index(0)) || leaf.dims.iter().any(is_first);
        Pointer { base: leaf.base, offset: self.offset(leaf).filter(|_| !is_start) }
    }

    /// The least and the greatest value that an Index expression can have.
    pub fn range(&self, value: &Value) -> Range {
        self.ranges.of(value)
    }

    /// A primitive on values that needs no guard.
    pub fn prim(&self, prim: Prim, elem: Elem, args: Vec<Value>) -> Value {
        self.ranges.prim(prim, elem, args)
    }

    /// A scalar term as an expression.
    pub fn scalar(&mut self, expr: &Expr) -> Result<Value> {
        match self.value(expr, &unnamed())? {
            View::Scalar(value) => Ok(value),
            View::Tuple(_) | View::Array(_) => Err(mismatch(expr.span())),
        }
    }

    /// A primitive applied to terms: guards first.
    pub fn prim_term(&mut self, prim: Prim, args: &[Expr], span: Span) -> Result<Value> {
        if let (Prim::And | Prim::Or, [a, b]) = (prim, args) {
            return self.short_circuit(prim, a, b);
        }
        let of_first = || args.first().map_or(Elem::Double, |arg| super::view::elem(arg.ty()));
        let elem = if prim == Prim::Polygamma { Elem::Double } else { of_first() };
        let mut values = Vec::new();
        for (k, arg) in args.iter().enumerate() {
            let value = self.scalar(arg)?;
            let is_read_later = args[k + 1..].iter().any(Expr::has_updates);
            values.push(if is_read_later { self.atomic(value, "x") } else { value });
        }
        match (prim, elem) {
            (Prim::Div | Prim::Rem, Elem::Index) => {
                if let Some(divisor) = values.get_mut(1) {
                    let range = self.range(divisor);
                    let is_nonzero = args.get(1).is_some_and(|divisor| self.facts.is_nonzero(&self.facts.size_of(divisor)));
                    if range.0 <= 0 && range.1 >= 0 && !is_nonzero {
                        let name = self.atomic(divisor.clone(), "divisor");
                        *divisor = name.clone();
                        let cond = Value::Prim { prim: Prim::Eq, elem, plain: true, args: vec![name, Value::Index(0)] };
                        self.fail(cond, Status::DivZero);
                    }
                }
            }
            (Prim::ToIndex, _) => {
                if let Some(value) = values.first_mut() {
                    *value = self.atomic(value.clone(), "x");
                    let fits = Value::Helper("smooth_is_index", vec![value.clone()]);
                    let cond = Value::Prim { prim: Prim::Not, elem: Elem::Bool, plain: true, args: vec![fits] };
                    self.fail(cond, Status::Range);
                }
            }
            _ => {}
        }
        if values.len() != prim.row().arity {
            return Err(mismatch(span));
        }
        if let (Prim::Rem, [a, n], [of, by]) = (prim, args, values.as_slice())
            && self.is_once_around(a, n)
        {
            // an index modulo its own length: no comparison of a value with itself
            if of == by {
                return Ok(Value::Index(0));
            }
            // a conditional subtraction: no division, and a condition at which loops can be split
            let of = self.atomic(of.clone(), "at");
            let is_within = self.prim(Prim::Lt, elem, vec![of.clone(), by.clone()]);
            let around = self.prim(Prim::Sub, elem, vec![of.clone(), by.clone()]);
            return Ok(Value::Select(Box::new([is_within, of, around])));
        }
        Ok(self.prim(prim, elem, values))
    }

    /// Whether `a % n` is a or a - n, as for periodic neighbours.
    fn is_once_around(&self, a: &Expr, n: &Expr) -> bool {
        let (a, n) = (self.facts.size_of(a), self.facts.size_of(n));
        n.as_constant().is_none() && self.facts.nonnegative(&a) && self.facts.less(&a, &n.add(&n))
    }

    /// A value that may be written twice.
    pub fn atomic(&mut self, value: Value, name: &str) -> Value {
        match value {
            Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_) => value,
            value @ (Value::Prim { .. }
            | Value::InRow(_)
            | Value::Load { .. }
            | Value::Select(_)
            | Value::Helper(..)
            | Value::SizeOf(..)
            | Value::Moved { .. }
            | Value::Call(..)) => {
                let elem = self.elem_of(&value);
                match self.named_index(&value) {
                    Some(id) if elem == Elem::Index => Value::Local(id),
                    _ => self.constant(name, elem, value),
                }
            }
        }
    }

    /// The constant in scope that has this value, among those declared last.
    fn named_index(&self, value: &Value) -> Option<Id> {
        let is_constant = |id: Id| matches!(self.locals[id].form, Form::Scalar { mutable: false });
        let declared = self.blocks.iter().rev().flat_map(|block| block.iter().rev()).take(LAST);
        let id = declared.filter_map(|stmt| {
            let Stmt::Declare { id, init: Some(init) } = stmt else { return None };
            (init == value && is_constant(*id)).then_some(*id)
        });
        let mut same = is_total(value);
        each_local(value, &mut |id| same &= is_constant(id));
        id.take(usize::from(same)).next()
    }

    /// `a && b`, `a || b`: an operand with guards of its own stands in an `if`.
    fn short_circuit(&mut self, prim: Prim, a: &Expr, b: &Expr) -> Result<Value> {
        let first = self.scalar(a)?;
        let (mut block, second) = self.branch(a, prim == Prim::And, |this| this.scalar(b))?;
        if block.is_empty() {
            return Ok(Value::Prim { prim, elem: Elem::Bool, plain: true, args: vec![first, second] });
        }
        let id = self.local(if prim == Prim::And { "both" } else { "either" }, Elem::Bool, Form::Scalar { mutable: true });
        self.emit(Stmt::Declare { id, init: Some(first) });
        block.push(Stmt::Assign { place: Place::Local(id), value: second });
        let cond = if prim == Prim::And { Value::Local(id) } else { negate(Value::Local(id)) };
        self.emit(Stmt::If { cond, then: block, otherwise: Vec::new() });
        Ok(Value::Local(id))
    }

    /// Guards an index into a dimension, unless it is known to be in range.
    pub fn in_bounds(&mut self, array: &Expr, index: &Expr, value: Value, length: &Size, span: Span) -> Result<Value> {
        let declared = array.ty().dims().first().map(|size| self.canonical(size));
        if self.known_below(index, length) || declared.as_ref() == Some(length) && self.facts.get_is_safe(array, index) {
            return Ok(value);
        }
        let count = self.size_value(length, span)?;
        // not bound to a name: the comparison of a value with itself would then be found only later
        if value == count {
            self.fail(Value::Bool(true), Status::Bounds);
            return Ok(self.atomic(value, "at"));
        }
        let value = self.atomic(value, "at");
        let (least, most) = self.range(&value);
        if least >= 0 && matches!(count, Value::Index(n) if most < i128::from(n)) {
            return Ok(value);
        }
        let compare = |prim, a: &Value, b: Value| Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a.clone(), b] };
        let over = self.prim(Prim::Ge, Elem::Index, vec![value.clone(), count]);
        let cond = if self.range(&value).0 >= 0 {
            over
        } else {
            let under = compare(Prim::Lt, &value, Value::Index(0));
            Value::Prim { prim: Prim::Or, elem: Elem::Bool, plain: true, args: vec![under, over] }
        };
        self.fail(cond, Status::Bounds);
        Ok(value)
    }

    fn known_below(&self, index: &Expr, length: &Size) -> bool {
        let Some(size) = Size::try_of_expr(index).map(|size| self.canonical(&size)) else { return false };
        match size.as_var() {
            Some(var) => self.bounds.get(var) == Some(length),
            None => false,
        }
    }

    /// Notes that an Index variable lies below a size.
    pub fn note_bound(&mut self, var: &Var) {
        if let Type::Index(Some(bound)) = var.ty() {
            let bound = self.canonical(bound);
            self.bounds.insert(var.clone(), bound);
        }
    }
}

fn each_length(expr: &Expr, f: &mut dyn FnMut(&Size)) {
    expr.ty().each_length(f);
    expr.term().each_child(&mut |child| each_length(child, f));
}
