//! Loops over tiles in C: eight rows at a time, each in a vector lane, then written out one after the other.
//!
//!     const bool large = smooth_outgrow_caches(n, 22);
//!     for (int64_t first = 0; first < n; first += 8) {
//!         const int64_t rows = smooth_imin(8, n - first);
//!         double x_last[24];
//!         const double *x_rows = smooth_read_rows(x + first * 3, 3, 3, rows, x_last);
//!         smooth_expect_rows(out + first * 22, 22, large);
//!         double tile[22][8];
//!         SMOOTH_LANES
//!         for (int64_t lane = 0; lane < 8; ++lane) { … tile[0][lane] = x_rows[lane * 3] …; }
//!         smooth_write_rows(tile, 22, rows, out + first * 22, large);
//!     }
//!     smooth_rows_written(large);

use crate::ir::Prim;
use crate::loops::program::*;
use crate::loops::visit::each_local;

use super::expr::c_type;
use super::printer::Printer;

impl Printer<'_> {
    /// A loop over `i`, from one index to before another, that writes rows by way of tiles.
    pub fn tiles(&mut self, i: Id, from: &str, end: &str, body: &[Stmt], marked: &Tiles) {
        let Tiles { lane, panels, tiles } = marked;
        let lanes = self.real.lanes();
        let number = if lanes == 8 { "eight" } else { "sixteen" };
        self.line(format!("/* {number} rows at a time, each in a lane, then written one after the other */"));
        let large = self.names.local("large");
        self.names.open();
        let (first, rows) = (self.names.local("first"), self.names.local("rows"));
        let widest = tiles.iter().map(|tile| tile.columns.len()).max().unwrap_or(0);
        // what the caches do with this part depends on all that the threads write
        let all = self.part.as_ref().filter(|part| part.loops.contains(&i)).and_then(|part| part.all.clone());
        let count = match (all, from) {
            (Some(all), _) => all,
            (None, "0") => end.to_string(),
            (None, sum) if sum.contains(" + ") || sum.contains(" - ") => format!("{end} - ({sum})"),
            (None, other) => format!("{end} - {other}"),
        };
        self.line(format!("const bool {large} = {}({count}, {widest});", self.real.function("smooth_outgrow_caches")));
        self.line(format!("for (int64_t {first} = {from}; {first} < {end}; {first} += {lanes}) {{"));
        self.depth += 1;
        self.line(format!("const int64_t {rows} = smooth_imin({lanes}, {end} - {first});"));
        // where a tile's first row begins, over the name of the first row
        self.named[i] = Some(first.clone());
        for panel in panels.iter().filter(|panel| panel.layout == Layout::Rows) {
            self.rows(panel, &rows);
        }
        let chosen: Vec<&Panel> = panels.iter().filter(|panel| panel.layout == Layout::Columns).collect();
        if !chosen.is_empty() {
            self.columns(&chosen, *lane);
        }
        let starts: Vec<String> = tiles.iter().map(|tile| self.start(tile)).collect();
        let names: Vec<String> = tiles.iter().map(|_| self.names.local("tile")).collect();
        for ((tile, name), start) in tiles.iter().zip(&names).zip(&starts) {
            let columns = tile.columns.len();
            self.line(format!("{} {name}[{columns}][{lanes}];", self.real.c()));
            self.line(format!("{}({start}, {columns}, {large});", self.real.function("smooth_expect_rows")));
        }
        self.line("SMOOTH_LANES");
        let outer = std::mem::replace(&mut self.in_lanes, true);
        self.names.open();
        let lane = self.declare(*lane);
        self.line(format!("for (int64_t {lane} = 0; {lane} < {lanes}; ++{lane}) {{"));
        self.depth += 1;
        if body.iter().any(|stmt| uses(stmt, i)) {
            let row = self.declare(i);
            self.line(format!("const int64_t {row} = {first} + smooth_imin({lane}, {rows} - 1);"));
        }
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
            let columns = tile.columns.len();
            self.line(format!("{}({name}, {columns}, {rows}, {start}, {large});", self.real.function("smooth_write_rows")));
        }
        self.depth -= 1;
        self.line("}");
        self.line(format!("{}({large});", self.real.function("smooth_rows_written")));
        self.names.close();
    }

    /// A pointer to the rows of a tile that are read.
    fn rows(&mut self, panel: &Panel, rows: &str) {
        let elem = self.locals[panel.id].elem;
        let (ty, lanes) = (c_type(elem, self.real), self.real.lanes() as i64);
        let read = self.real.function(if elem == Elem::Index { "smooth_read_index_rows" } else { "smooth_read_rows" });
        let last = self.names.local(&format!("{}_last", self.locals[panel.from.base].name));
        let from = self.pointer(&panel.from);
        let name = self.declare(panel.id);
        let Panel { stride, width, .. } = panel;
        self.line(format!("{ty} {last}[{}];", stride * lanes));
        self.line(format!("const {ty} *{name} = {read}({from}, {stride}, {width}, {rows}, {last});"));
    }

    /// Copies of the rows that the lanes choose, column by column.
    fn columns(&mut self, panels: &[&Panel], lane: Id) {
        let lanes = self.real.lanes();
        for panel in panels {
            let name = self.declare(panel.id);
            self.line(format!("{} {name}[{}];", c_type(self.locals[panel.id].elem, self.real), panel.width * lanes as i64));
        }
        self.line("/* compilers gather only numbers that are as wide as their indices */");
        self.names.open();
        let lane = self.declare(lane);
        self.line(format!("for (int64_t {lane} = 0; {lane} < {lanes}; ++{lane}) {{"));
        self.depth += 1;
        for panel in panels {
            let Pointer { base, offset } = &panel.from;
            let column = self.name(panel.id);
            if panel.width == 1 {
                let element = self.expr(&Value::Load { base: *base, offset: offset.clone().map(Box::new) });
                self.line(format!("{column}[{lane}] = {element};"));
                continue;
            }
            let row = self.names.local(&format!("{}_row", self.locals[*base].name));
            self.line(format!("const {} *{row} = {};", c_type(self.locals[*base].elem, self.real), self.pointer(&panel.from)));
            self.names.open();
            let k = self.names.local("k");
            self.line(format!("for (int64_t {k} = 0; {k} < {}; ++{k}) {{", panel.width));
            self.line(format!("    {column}[{k} * {lanes} + {lane}] = {row}[{k}];"));
            self.line("}");
            self.names.close();
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

/// Whether a statement computes with a local.
fn uses(stmt: &Stmt, id: Id) -> bool {
    let (Stmt::Declare { init: Some(value), .. } | Stmt::Assign { value, .. }) = stmt else { return false };
    let mut found = false;
    each_local(value, &mut |other| found |= other == id);
    found
}
