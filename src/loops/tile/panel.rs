//! What a loop over tiles reads: rows of matrices, by way of panels.
//!
//! In: the body of a loop that writes tiles. Out: the same, with what it reads of a row that its index chooses as
//! read of a panel, which holds the rows of a tile; where a tile has fewer rows than lanes, it is a copy of them
//! in which the last row stands again and again.
//!
//!     x[i][1] * w[k[i]]   →   x_rows[lane][1] * w[k_rows[lane]]
//!
//! Only what every iteration reads is sure to be there, and is copied. Everything else stays over the index, which
//! is the last row's in the lanes that are left.
//!
//! Rows that an index in memory chooses are copied too where numbers are shorter than indices: compilers gather only
//! numbers that are as wide. Longer ones they gather themselves.
//!
//!     t = k[i]; w[t][1]   →   w_columns[1][lane]

use std::collections::HashSet;

use crate::ir::Prim;
use crate::real::Real;

use super::{Element, element};
use crate::loops::program::*;
use crate::loops::visit::{each_local, replace_local};

/// Makes panels of what a body reads by the index `i`; `lane` is the index in a tile.
pub fn make_panels(locals: &mut Vec<Local>, i: Id, lane: Id, real: Real, body: &mut Block) -> Vec<Panel> {
    let mut panels = of_index(locals, i, Layout::Rows, lane, real, body);
    if real == Real::F32 {
        let mut chosen: Vec<(Id, Value)> = Vec::new();
        for (id, value) in body.iter().filter_map(|stmt| chosen_row(locals, &panels, stmt)).collect::<Vec<_>>() {
            match chosen.iter().find(|(_, other)| *other == value) {
                Some((same, _)) => body.iter_mut().filter_map(value_of).for_each(|value| replace_local(value, id, &Value::Local(*same))),
                None => chosen.push((id, value)),
            }
        }
        for (id, value) in chosen {
            let mut more = of_index(locals, id, Layout::Columns, lane, real, body);
            more.iter_mut().filter_map(|panel| panel.from.offset.as_mut()).for_each(|offset| replace_local(offset, id, &value));
            panels.extend(more);
        }
        let mut used = HashSet::new();
        body.iter_mut().filter_map(value_of).for_each(|value| each_local(value, &mut |id| _ = used.insert(id)));
        body.retain(|stmt| !matches!(stmt, Stmt::Declare { id, .. } if locals[*id].elem == Elem::Index && !used.contains(id)));
    }
    panels
}

/// Makes panels of what a body reads of rows that the index `i` chooses.
fn of_index(locals: &mut Vec<Local>, i: Id, layout: Layout, lane: Id, real: Real, body: &mut Block) -> Vec<Panel> {
    let declared = body.iter().filter_map(|stmt| if let Stmt::Declare { id, .. } = stmt { Some(*id) } else { None });
    let elems = locals.iter().map(|local| local.elem).collect();
    let mut reads = Reads { i, elems, declared: declared.filter(|id| *id != i).collect(), rows: Vec::new() };
    for value in body.iter_mut().filter_map(value_of) {
        reads.add(value);
    }
    let mut panels = Vec::new();
    for Row { base, element, width } in &reads.rows {
        let Local { name, elem, .. } = &locals[*base];
        let name = match layout {
            Layout::Rows => format!("{name}_rows"),
            Layout::Columns => format!("{name}_columns"),
        };
        locals.push(Local { name: name.into(), elem: *elem, form: Form::Source { mutable: false }, note: None });
        let from = Pointer { base: *base, offset: Some(Element::offset(element.row.clone(), element.stride, element.column)) };
        panels.push(Panel { id: locals.len() - 1, from, stride: element.stride, width: *width, layout });
    }
    let place = |panel: &Panel, column: i64| match layout {
        Layout::Rows => Element::offset(Value::Local(lane), panel.stride, column),
        Layout::Columns => Value::in_row(Value::Index(column), Value::Index(real.lanes() as i64), Value::Local(lane)),
    };
    for value in body.iter_mut().filter_map(value_of) {
        reads.replace(value, &panels, &place);
    }
    panels
}

/// An index that each iteration reads of a panel.
fn chosen_row(locals: &[Local], panels: &[Panel], stmt: &Stmt) -> Option<(Id, Value)> {
    let Stmt::Declare { id, init: Some(value @ Value::Load { base, .. }) } = stmt else { return None };
    let of_panel = panels.iter().any(|panel| panel.id == *base);
    (of_panel && locals.get(*id)?.elem == Elem::Index).then(|| (*id, value.clone()))
}

/// What a statement of straight-line code computes.
fn value_of(stmt: &mut Stmt) -> Option<&mut Value> {
    if let Stmt::Declare { init: Some(value), .. } | Stmt::Assign { value, .. } = stmt { Some(value) } else { None }
}

struct Reads {
    i: Id,
    elems: Vec<Elem>,
    declared: HashSet<Id>,
    rows: Vec<Row>,
}

/// What every iteration reads of a row: `width` elements from the first one.
struct Row {
    base: Id,
    element: Element,
    width: i64,
}

impl Reads {
    /// The row and column of a read that the index chooses, where they are known before the loop.
    fn element(&self, value: &Value) -> Option<(Id, Element)> {
        let Value::Load { base, offset: Some(offset) } = value else { return None };
        let mut outside = matches!(self.elems.get(*base), Some(Elem::Double | Elem::Index)) && !self.declared.contains(base);
        each_local(offset, &mut |id| outside &= !self.declared.contains(&id));
        let element = outside.then(|| element(offset, self.i)).flatten()?;
        Some((*base, element.in_its_row()?))
    }

    fn place(&self, base: Id, element: &Element) -> Option<usize> {
        let same = |row: &Row| row.base == base && row.element.stride == element.stride && row.element.row == element.row;
        self.rows.iter().position(same)
    }

    /// Notes what an expression reads whatever its conditions are.
    fn add(&mut self, value: &mut Value) {
        if let Some((base, element)) = self.element(value) {
            match self.place(base, &element) {
                None => self.rows.push(Row { base, element, width: 1 }),
                Some(at) => {
                    let row = &mut self.rows[at];
                    let first = row.element.column.min(element.column);
                    row.width = (row.element.column + row.width).max(element.column + 1) - first;
                    row.element.column = first;
                }
            }
            return;
        }
        let sure = if matches!(value, Value::Select(_) | Value::Prim { prim: Prim::And | Prim::Or, .. }) { 1 } else { usize::MAX };
        value.parts_mut().iter_mut().take(sure).for_each(|part| self.add(part));
    }

    /// Puts reads of panels in the place of those that they hold.
    fn replace(&self, value: &mut Value, panels: &[Panel], place: &dyn Fn(&Panel, i64) -> Value) {
        if let Some((base, element)) = self.element(value)
            && let Some(at) = self.place(base, &element)
        {
            let (row, panel) = (&self.rows[at], &panels[at]);
            let column = element.column - row.element.column;
            if (0..row.width).contains(&column) {
                *value = Value::Load { base: panel.id, offset: Some(Box::new(place(panel, column))) };
                return;
            }
        }
        value.parts_mut().iter_mut().for_each(|part| self.replace(part, panels, place));
    }
}
