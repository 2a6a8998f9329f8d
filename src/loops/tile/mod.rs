//! Loops that write a row of numbers each: eight rows at a time, with a number of each in every vector lane.
//!
//! In: a function's statements, with lanes marked. Out: a loop of straight-line code that writes whole rows of
//! a matrix of literal width is marked to compute them into a tile, column by column; `emit` prints a loop over
//! tiles, the loop over the lanes of a tile, and what writes the tile out row by row.
//!
//!     for i < n: out[i][0] = x[i][0] …; …   →   tile[0][lane] = x_rows[lane][0] …; …
//!
//! Stored directly, each number of a row would be a store of its own. Rows shorter than a vector are: the
//! compiler interleaves two, three or four numbers by itself. What the loop reads of the rows that it writes,
//! or writes under a condition, keeps it as it is, and so do few rows and copies.
//!
//! A tile always has all its lanes, so that the compiler knows their number: where fewer rows are left, the other
//! lanes compute the last row again (`panel`).

mod panel;

use std::collections::{BTreeMap, HashMap};

use crate::ir::Prim;
use crate::real::Real;

use crate::loops::analysis::affine::{Affine, growth};
use crate::loops::program::*;
use crate::loops::visit::{each_local, reads, replace_local};
use crate::loops::{Context, Result};

/// The length of rows that are worth a tile.
const LONG: usize = 8;
/// The length of rows that the stack has room for.
const COLUMNS: std::ops::RangeInclusive<usize> = 1..=64;
/// A literal number of rows up to this is not worth tiles.
const FEW_ROWS: i64 = 16;

/// Marks the loops of a function.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    mark_tiles(&mut function.locals, context.options.real, &mut function.body);
    Ok(())
}

/// Marks the loops of a block.
fn mark_tiles(locals: &mut Vec<Local>, real: Real, block: &mut Block) {
    for stmt in block {
        stmt.blocks_mut().for_each(|block| mark_tiles(locals, real, block));
        let Stmt::For { i, count, body, lanes, .. } = stmt else { continue };
        let few = matches!(count, Value::Index(count) if *count <= FEW_ROWS);
        if *lanes == Lanes::Any && !few {
            let from_first = from_first(*i, body);
            let tiles = tiles(locals, *i, from_first.as_ref().unwrap_or(body));
            if !tiles.is_empty() {
                *body = from_first.unwrap_or_else(|| std::mem::take(body));
                locals.push(Local { name: "lane".into(), elem: Elem::Index, form: Form::Scalar { mutable: false }, note: None });
                let lane = locals.len() - 1;
                let panels = panel::make_panels(locals, *i, lane, real, body);
                *lanes = Lanes::Tile(Box::new(Tiles { lane, panels, tiles }));
            }
        }
    }
}

/// The body of a loop that begins at a later index, over the number of the iteration; what it first adds is in each offset.
fn from_first(i: Id, body: &Block) -> Option<Block> {
    let (later, rest) = crate::loops::vectorise::from_later(i, body)?;
    let Stmt::Declare { init: Some(Value::Prim { args, .. }), .. } = &body[0] else { return None };
    matches!(args[0], Value::Index(_)).then_some(())?;
    let at = Value::Prim { prim: Prim::Add, elem: Elem::Index, plain: true, args: vec![Value::Local(i), args[0].clone()] };
    let put = |value: &mut Value| {
        replace_local(value, later, &at);
        add_up(value);
    };
    let mut rest = rest.to_vec();
    for stmt in &mut rest {
        match stmt {
            Stmt::Declare { init: Some(value), .. } => put(value),
            Stmt::Assign { place, value } => {
                put(value);
                if let Place::Element { offset: Some(offset), .. } = place {
                    put(offset);
                }
            }
            _ => return None,
        }
    }
    Some(rest)
}

/// Makes `i + a - b` of Indices with literal a and b one sum.
fn add_up(value: &mut Value) {
    value.parts_mut().iter_mut().for_each(add_up);
    let Value::Prim { prim: Prim::Sub, elem: Elem::Index, plain: true, args } = value else { return };
    let [Value::Prim { prim: Prim::Add, elem: Elem::Index, plain: true, args: sum }, Value::Index(b)] = args.as_slice() else { return };
    let [i, Value::Index(a)] = sum.as_slice() else { return };
    if let Some(by) = a.checked_sub(*b) {
        *value = index(Prim::Add, i.clone(), by);
    }
}

/// The matrices that each iteration writes one row of.
fn tiles(locals: &[Local], i: Id, body: &Block) -> Vec<Tile> {
    let mut stores: BTreeMap<Id, Vec<&Value>> = BTreeMap::new();
    let mut read = Vec::new();
    let mut work = 0;
    for stmt in body {
        let value = match stmt {
            Stmt::Declare { init: Some(value), .. } | Stmt::Assign { place: Place::Local(_), value } => value,
            Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, value } => {
                stores.entry(*base).or_default().push(offset);
                each_local(offset, &mut |id| read.push(id));
                value
            }
            _ => return Vec::new(),
        };
        each_local(value, &mut |id| read.push(id));
        work += operations(value);
    }
    let whole = |(base, offsets): (Id, Vec<&Value>)| {
        let double = locals.get(base).is_some_and(|local| local.elem == Elem::Double);
        (double && !read.contains(&base)).then(|| rows(base, &offsets, i)).flatten()
    };
    // where one matrix is written by way of tiles, all are: the lanes that are left write nothing
    let tiles: Vec<Tile> = stores.into_iter().map(whole).collect::<Option<_>>().unwrap_or_default();
    let columns: usize = tiles.iter().map(|tile| tile.columns.len()).sum();
    let long = tiles.iter().any(|tile| tile.columns.len() >= LONG);
    if long && work >= columns { tiles } else { Vec::new() }
}

/// The operations on Doubles in an expression.
fn operations(value: &Value) -> usize {
    match value {
        Value::Prim { elem, args, .. } => usize::from(*elem == Elem::Double) + args.iter().map(operations).sum::<usize>(),
        Value::Select(parts) => 1 + parts.iter().map(operations).sum::<usize>(),
        Value::Local(_)
        | Value::Double(_)
        | Value::Index(_)
        | Value::Bool(_)
        | Value::InRow(_)
        | Value::Load { .. }
        | Value::Helper(..)
        | Value::SizeOf(..)
        | Value::Moved { .. }
        | Value::Call(..) => 0,
    }
}

/// The offsets as the columns of one row, each once.
fn rows(base: Id, offsets: &[&Value], i: Id) -> Option<Tile> {
    let width = offsets.len();
    if !COLUMNS.contains(&width) {
        return None;
    }
    let mut columns: Vec<Option<Value>> = vec![None; width];
    let mut row: Option<Value> = None;
    for offset in offsets {
        let element = element(offset, i)?.in_its_row()?;
        let place = columns.get_mut(usize::try_from(element.column).ok()?)?;
        if element.stride != width as i64 || place.is_some() || row.as_ref().is_some_and(|row| *row != element.row) {
            return None;
        }
        *place = Some((*offset).clone());
        row = Some(element.row);
    }
    Some(Tile { base, row: row?, columns: columns.into_iter().collect::<Option<_>>()? })
}

/// `a op b` of Indices, where it is not `a` by itself.
pub fn index(prim: Prim, a: Value, b: i64) -> Value {
    match (prim, b) {
        (Prim::Mul, 1) | (Prim::Add, 0) => a,
        _ => Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a, Value::Index(b)] },
    }
}

/// An element of a row that an index chooses.
pub struct Element {
    /// The index, or the index after whole blocks of rows.
    pub row: Value,
    pub stride: i64,
    pub column: i64,
}

impl Element {
    /// Where it lies; `row` may be another one.
    pub fn offset(row: Value, stride: i64, column: i64) -> Value {
        match stride {
            1 => index(Prim::Add, row, column),
            stride => Value::in_row(row, Value::Index(stride), Value::Index(column)),
        }
    }

    /// The same, where one past the end of a row is one of a later row.
    pub fn in_its_row(self) -> Option<Element> {
        let Element { row, stride, column } = self;
        let later = (stride > 0).then(|| column.div_euclid(stride))?;
        Some(Element { row: index(Prim::Add, row, later), stride, column: column.rem_euclid(stride) })
    }
}

/// An offset as an element of the row that i chooses.
pub fn element(offset: &Value, i: Id) -> Option<Element> {
    if let Value::InRow(parts) = offset {
        return match &**parts {
            [row, Value::Index(length), Value::Index(k)] => {
                let Element { row, stride, column } = element(row, i)?;
                Some(Element { row, stride: stride.checked_mul(*length)?, column: column.checked_mul(*length)?.checked_add(*k)? })
            }
            // i goes along a row of another array
            [row, length, column] => {
                let is_alone = *column == Value::Local(i) && !reads(row, i) && !reads(length, i);
                is_alone.then(|| Element { row: offset.clone(), stride: 1, column: 0 })
            }
        };
    }
    let stride = growth(offset, i, &HashMap::new()).filter(|stride| *stride != 0)?;
    let sum = Affine::of(offset, &HashMap::new());
    match sum.at(i, &Affine::default()).constant_value() {
        Some(column) => Some(Element { row: Value::Local(i), stride, column }),
        None => (stride == 1).then(|| Element { row: offset.clone(), stride: 1, column: 0 }),
    }
}
