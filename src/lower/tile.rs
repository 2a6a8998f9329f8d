//! Loops that write a row of numbers each: eight rows at a time, with a number of each in every vector lane.
//!
//! In: a function's statements, with lanes marked. Out: a loop of straight-line code that writes whole rows of
//! a matrix of literal width is marked to compute them into a tile, column by column; `emit` prints a loop over
//! tiles, the loop over the lanes of a tile, and what writes the tile out row by row.
//!
//!     for i < n: out[i*9] = …; …; out[i*9 + 8] = …   →   tile[0][lane] = …; …; tile[8][lane] = …
//!
//! Stored directly, each number of a row would be a store of its own. Rows shorter than a vector are: the
//! compiler interleaves two, three or four numbers by itself. What the loop reads of the rows that it writes,
//! or writes under a condition, keeps it as it is, and so do few rows and copies.

use std::collections::BTreeMap;

use crate::ir::Prim;

use super::clean::each_local;
use super::program::*;

/// The length of rows that are worth a tile, and that the stack has room for.
const COLUMNS: std::ops::RangeInclusive<usize> = 8..=64;
/// A literal number of rows up to this is not worth tiles.
const FEW_ROWS: i64 = 16;

/// Marks the loops of a block.
pub fn find(locals: &[Local], block: &mut Block) {
    for stmt in block {
        stmt.blocks_mut().for_each(|block| find(locals, block));
        let Stmt::For { i, count, body, lanes, .. } = stmt else { continue };
        let few = matches!(count, Value::Index(count) if *count <= FEW_ROWS);
        if *lanes == Lanes::Any && !few {
            let tiles = tiles(locals, *i, body);
            if !tiles.is_empty() {
                *lanes = Lanes::Tile(tiles);
            }
        }
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
    let tiles: Vec<Tile> = stores.into_iter().filter_map(whole).collect();
    let columns: usize = tiles.iter().map(|tile| tile.columns.len()).sum();
    if work >= columns { tiles } else { Vec::new() }
}

/// The operations on Doubles in an expression.
fn operations(value: &Value) -> usize {
    match value {
        Value::Prim { elem, args, .. } => usize::from(*elem == Elem::Double) + args.iter().map(operations).sum::<usize>(),
        Value::Select(parts) => 1 + parts.iter().map(operations).sum::<usize>(),
        _ => 0,
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
        let (lead, stride, column) = split(offset, i)?;
        let place = columns.get_mut(usize::try_from(column).ok()?)?;
        if stride != width as i64 || place.is_some() || row.as_ref().is_some_and(|row| *row != lead) {
            return None;
        }
        *place = Some((*offset).clone());
        row = Some(lead);
    }
    Some(Tile { base, row: row?, columns: columns.into_iter().collect::<Option<_>>()? })
}

/// An offset as `row * stride + column`, where the row is i, or i after whole blocks of rows.
fn split(offset: &Value, i: Id) -> Option<(Value, i64, i64)> {
    let mentions = |value: &Value| {
        let mut found = false;
        each_local(value, &mut |id| found |= id == i);
        found
    };
    match offset {
        Value::Local(id) => (*id == i).then(|| (offset.clone(), 1, 0)),
        Value::Prim { prim: Prim::Add, elem: Elem::Index, plain: true, args } => match args.as_slice() {
            [a, Value::Index(k)] | [Value::Index(k), a] => {
                let (row, stride, column) = split(a, i)?;
                Some((row, stride, column.checked_add(*k)?))
            }
            [a, b] => {
                let (inner, other) = if mentions(a) { (a, b) } else { (b, a) };
                (*inner == Value::Local(i) && !mentions(other)).then(|| (offset.clone(), 1, 0))
            }
            _ => None,
        },
        Value::Prim { prim: Prim::Mul, elem: Elem::Index, plain: true, args } => match args.as_slice() {
            [a, Value::Index(k)] => {
                let (row, stride, column) = split(a, i)?;
                Some((row, stride.checked_mul(*k)?, column.checked_mul(*k)?))
            }
            _ => None,
        },
        _ => None,
    }
}
