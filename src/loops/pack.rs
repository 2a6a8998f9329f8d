//! Packing: columns of short rows that a loop reads again and again are copied before it, so that lanes find them side by side.
//!
//! In: a function's statements. Out: before a loop in which lanes read, or add to, all rows of a matrix that is a parameter, each
//! iteration anew, the matrix is copied column by column into a room, and the loop works on that; behind the loop what it wrote is
//! copied back.
//!
//!     for i < n: for j < i, in lanes: s += x[3 j] * x[3 i + 1]
//!       →   for r < n: c[r] = x[3 r]; c[n + r] = x[3 r + 1]; …
//!           for i < n: for j < i, in lanes: s += c[j] * c[n + i]
//!
//! Limits: rows of a literal length up to [`WIDEST`], each element at a literal column. Threads that share a loop have copies of
//! what they add to by its own lengths: not under `--parallel`.

use std::collections::HashSet;

use crate::ir::{Prim, Size};
use crate::source::Span;

use super::analysis::homes::Homes;
use super::builder::Builder;
use super::program::*;
use super::values::index;
use super::visit::each_use;
use super::{Context, Result};

/// Longer rows are read by themselves.
const WIDEST: i64 = 8;

/// Fewer iterations are not worth a copy.
const FEW: i128 = 64;

/// Packs what the loops of a function read.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    let matrices: Vec<(Id, i64, Vec<Size>)> = function.params.iter().filter_map(matrix).collect();
    if context.options.parallel || matrices.is_empty() {
        return Ok(());
    }
    let mut body = std::mem::take(&mut function.body);
    let homes = Homes::of_block(&body);
    let mut builder = Builder::of(function);
    let matrices = matrices.into_iter().filter_map(|(id, width, dims)| {
        let rows = dims
            .iter()
            .map(|size| builder.size_value(size))
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .reduce(|a, b| index(Prim::Mul, a, b))?;
        Some(Matrix { id, width, rows, dims })
    });
    let matrices: Vec<Matrix> = matrices.collect();
    let is_input = |id: &Id| function.params.iter().any(|param| param.id == *id && matches!(param.role, Role::Array(_)));
    let full = matrices.iter().map(|matrix| matrix.id).filter(is_input).collect();
    Packer { matrices: &matrices, homes: &homes, builder: &mut builder, full, eager: context.options.eager }.block(&mut body);
    builder.give_back(function);
    function.body = body;
    Ok(())
}

/// A parameter with short rows, the length of these, and the lengths around them.
fn matrix(param: &Param) -> Option<(Id, i64, Vec<Size>)> {
    let (Role::Array(dims) | Role::OutArray(dims)) = &param.role else { return None };
    let (width, around) = dims.split_last()?;
    let width = width.as_constant().filter(|width| (2..=WIDEST).contains(width))?;
    (!around.is_empty()).then(|| (param.id, width, around.to_vec()))
}

/// An array of short rows.
struct Matrix {
    id: Id,
    width: i64,
    rows: Value,
    dims: Vec<Size>,
}

struct Packer<'a> {
    matrices: &'a [Matrix],
    homes: &'a Homes,
    builder: &'a mut Builder,
    /// The matrices that have something in them.
    full: HashSet<Id>,
    eager: bool,
}

impl Packer<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut out = Vec::new();
        for mut stmt in std::mem::take(block) {
            let (mut is_packed, mut behind) = (false, Vec::new());
            for matrix in self.matrices {
                if let Some(packed) = self.full.contains(&matrix.id).then(|| self.over_copy(matrix, &stmt)).flatten() {
                    out.extend(packed.before);
                    behind.extend(packed.behind);
                    (is_packed, stmt) = (true, packed.stmt);
                }
            }
            if !is_packed {
                stmt.blocks_mut().for_each(|block| self.block(block));
            }
            self.full.extend(self.matrices.iter().map(|matrix| matrix.id).filter(|id| has_mention(&stmt, &|other| other == *id)));
            out.push(stmt);
            out.append(&mut behind);
        }
        *block = out;
    }

    /// The loop over a copy of a matrix, where each iteration goes through its rows in lanes, and all that the loop has of it are
    /// elements of literal columns.
    fn over_copy(&mut self, matrix: &Matrix, stmt: &Stmt) -> Option<Packed> {
        let Stmt::For { i, count, .. } = stmt else { return None };
        if !self.eager && self.builder.ranges.of(count).1 < FEW {
            return None;
        }
        let Local { name, elem, .. } = self.builder.locals[matrix.id].clone();
        let copy = self.builder.locals.len();
        let triangle = (*count == matrix.rows).then_some(*i);
        let mut walk = Walk { matrix, copy, triangle, row: None, pays: false, is_written: false };
        let mut stmt = stmt.clone();
        walk.stmt(&mut stmt);
        let is_left = has_mention(&stmt, &|id| self.homes.of(id) == matrix.id);
        let Walk { pays, is_written, .. } = walk;
        (pays && !is_left).then_some(())?;
        self.builder.local(&format!("{name}_columns"), elem, Form::Target { mutable: false });
        let dims = [Size::constant(matrix.width)].into_iter().chain(matrix.dims.iter().cloned()).collect();
        let counts = vec![Value::Index(matrix.width), matrix.rows.clone()];
        let room = Stmt::Room(Room { id: copy, elem, dims, counts, aligned: false, span: Span::NONE });
        let there = self.copied(matrix, copy, false);
        let back = if is_written { vec![self.copied(matrix, copy, true)] } else { Vec::new() };
        Some(Packed { before: vec![room, there], stmt, behind: back })
    }

    /// The matrix column by column, or back.
    fn copied(&mut self, matrix: &Matrix, copy: Id, is_back: bool) -> Stmt {
        let i = self.builder.counter("i", &matrix.rows);
        let element = |k: i64| {
            let there = (matrix.id, Value::in_row(Value::Local(i), Value::Index(matrix.width), Value::Index(k)));
            let here = (copy, matrix.in_column(k, Value::Local(i)));
            let (to, from) = if is_back { (there, here) } else { (here, there) };
            let value = Value::Load { base: from.0, offset: Some(Box::new(from.1)) };
            Stmt::Assign { place: Place::Element { base: to.0, offset: Some(to.1) }, value }
        };
        let body = (0..matrix.width).map(element).collect();
        Stmt::For { i, var: None, count: matrix.rows.clone(), size: None, body, lanes: Lanes::Any, apart: true }
    }
}

/// A loop over a copy, what makes the copy, and what brings it back.
struct Packed {
    before: Block,
    stmt: Stmt,
    behind: Block,
}

impl Matrix {
    /// The offset of an element in the copy.
    fn in_column(&self, k: i64, row: Value) -> Value {
        Value::in_row(Value::Index(k), self.rows.clone(), row)
    }
}

/// Puts elements of a copy in the place of a matrix' elements.
struct Walk<'a> {
    matrix: &'a Matrix,
    copy: Id,
    /// The index of the loop, where that goes through the rows.
    triangle: Option<Id>,
    /// The index of the loop around that goes through rows in lanes.
    row: Option<Id>,
    /// Whether such a loop reads or writes the row that it is at.
    pays: bool,
    is_written: bool,
}

impl Walk<'_> {
    fn stmt(&mut self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Declare { init: Some(value), .. } | Stmt::Assign { place: Place::Local(_), value } => self.value(value),
            Stmt::Assign { place: Place::Element { base, offset }, value } => {
                self.value(value);
                offset.iter_mut().for_each(|offset| self.value(offset));
                if let Some(at) = self.place(*base, offset.as_ref()) {
                    (*base, *offset) = (self.copy, Some(at));
                    self.is_written = true;
                }
            }
            Stmt::Update { base, offset, value } => {
                self.value(value);
                self.value(offset);
                if let Some(at) = self.place(*base, Some(offset)) {
                    (*base, *offset) = (self.copy, at);
                    self.is_written = true;
                }
            }
            Stmt::For { count: cond, .. } | Stmt::If { cond, .. } | Stmt::While { cond, .. } | Stmt::Fail { cond, .. } => self.value(cond),
            Stmt::Declare { init: None, .. }
            | Stmt::Point { .. }
            | Stmt::Share(_)
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Scope(_)
            | Stmt::Return(_) => {}
        }
        let outside = self.row;
        if let Stmt::For { i, count, lanes: Lanes::Any | Lanes::Sum(_), .. } = stmt
            && (*count == self.matrix.rows || self.triangle.is_some_and(|outer| *count == Value::Local(outer)))
            && self.triangle != Some(*i)
        {
            self.row = Some(*i);
        }
        stmt.blocks_mut().flatten().for_each(|stmt| self.stmt(stmt));
        self.row = outside;
    }

    fn value(&mut self, value: &mut Value) {
        value.parts_mut().iter_mut().for_each(|part| self.value(part));
        if let Value::Load { base, offset } = value
            && let Some(at) = self.place(*base, offset.as_deref())
        {
            (*base, *offset) = (self.copy, Some(Box::new(at)));
        }
    }

    /// Where an element of the matrix is in the copy.
    fn place(&mut self, base: Id, offset: Option<&Value>) -> Option<Value> {
        let (row, k) = (base == self.matrix.id).then(|| place(offset, self.matrix.width))??;
        self.pays |= self.row.is_some_and(|i| row == Value::Local(i));
        Some(self.matrix.in_column(k, row))
    }
}

/// Whether a statement, or one in it, mentions such a local.
fn has_mention(stmt: &Stmt, is_wanted: &dyn Fn(Id) -> bool) -> bool {
    let mut found = false;
    each_use(stmt, &mut |id| found |= is_wanted(id));
    found
}

/// The row and the column of an element, where the column is a literal.
fn place(offset: Option<&Value>, width: i64) -> Option<(Value, i64)> {
    let Some(offset) = offset else { return Some((Value::Index(0), 0)) };
    let Value::InRow(parts) = offset else { return None };
    match &**parts {
        [row, Value::Index(length), Value::Index(k)] if *length == width => Some((row.clone(), *k)),
        _ => None,
    }
}
