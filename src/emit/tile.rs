//! Loops over tiles in C: eight rows at a time, each in a vector lane, then written out one after the other.
//!
//!     for (int64_t first = 0; first < n; first += 8) {
//!         const int64_t rows = smooth_imin(8, n - first);
//!         double tile[22][8];
//!         SMOOTH_LANES
//!         for (int64_t lane = 0; lane < rows; ++lane) { … tile[0][lane] = …; }
//!         smooth_write_rows(tile, 22, rows, out + first * 22);
//!     }

use crate::ir::Prim;
use crate::lower::program::*;

use super::stmt::Printer;

impl Printer<'_> {
    /// A loop over `i`, from one index to before another, that writes rows by way of tiles.
    pub fn tiles(&mut self, i: Id, from: &str, end: &str, body: &[Stmt], tiles: &[Tile]) {
        let lanes = self.real.lanes();
        let number = if lanes == 8 { "eight" } else { "sixteen" };
        self.line(format!("/* {} rows at a time, each in a lane, then written one after the other */", number));
        self.names.open();
        let (first, rows) = (self.names.local("first"), self.names.local("rows"));
        self.line(format!("for (int64_t {first} = {from}; {first} < {end}; {first} += {lanes}) {{"));
        self.depth += 1;
        self.line(format!("const int64_t {rows} = smooth_imin({lanes}, {end} - {first});"));
        let names: Vec<String> = tiles.iter().map(|_| self.names.local("tile")).collect();
        for (tile, name) in tiles.iter().zip(&names) {
            self.line(format!("{} {name}[{}][{lanes}];", self.real.c(), tile.columns.len()));
        }
        // where the tile's first row begins, over the name of the first row
        self.named[i] = Some(first.clone());
        let starts: Vec<String> = tiles.iter().map(|tile| self.start(tile)).collect();
        self.line("SMOOTH_LANES");
        let outer = std::mem::replace(&mut self.in_lanes, true);
        self.names.open();
        let lane = self.names.local("lane");
        self.line(format!("for (int64_t {lane} = 0; {lane} < {rows}; ++{lane}) {{"));
        self.depth += 1;
        let row = self.declare(i);
        self.line(format!("const int64_t {row} = {first} + {lane};"));
        for stmt in body {
            match self.column(stmt, tiles) {
                Some((at, column, value)) => {
                    let text = format!("{}[{column}][{lane}] = {};", names[at], self.expr(value));
                    self.line(text);
                }
                None => self.stmt(stmt, &[]),
            }
        }
        self.depth -= 1;
        self.line("}");
        self.names.close();
        self.in_lanes = outer;
        for ((tile, name), start) in tiles.iter().zip(&names).zip(starts) {
            self.line(format!("{}({name}, {}, {rows}, {start});", self.real.function("smooth_write_rows"), tile.columns.len()));
        }
        self.depth -= 1;
        self.line("}");
        self.names.close();
    }

    fn start(&self, tile: &Tile) -> String {
        let width = Value::Index(tile.columns.len() as i64);
        let offset = Value::Prim { prim: Prim::Mul, elem: Elem::Index, plain: true, args: vec![tile.row.clone(), width] };
        self.pointer(&Pointer { base: tile.base, offset: Some(offset) })
    }

    /// The tile and the column that a statement writes, and what.
    fn column<'s>(&self, stmt: &'s Stmt, tiles: &[Tile]) -> Option<(usize, usize, &'s Value)> {
        let Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, value } = stmt else { return None };
        let at = tiles.iter().position(|tile| tile.base == *base)?;
        let column = tiles[at].columns.iter().position(|column| column == offset)?;
        Some((at, column, value))
    }
}
