//! Arrays with a row for each iteration of a block, and nests that add to rows of a matrix.
//!
//! In: the statements of a stage. Out: the same with the elements of an iteration's row in the place of those of its array; and
//! where a stage adds to a matrix row by row, the statements that are done for each row.
//!
//!     z[j] = b[j]   →   z[row * h + j] = b[j]

use std::collections::HashMap;

use crate::ir::Prim;
use crate::loops::program::*;
use crate::loops::values::folded;

/// Puts the elements of a row in the place of those of an array, which has this length; a row for each iteration of a block.
pub fn spread(block: &mut [Stmt], lengths: &HashMap<Id, Value>, row: &Value) {
    Spread { lengths, row }.block(block);
}

struct Spread<'a> {
    lengths: &'a HashMap<Id, Value>,
    row: &'a Value,
}

impl Spread<'_> {
    fn block(&self, block: &mut [Stmt]) {
        for stmt in block {
            self.stmt(stmt);
            stmt.blocks_mut().for_each(|block| self.block(block));
        }
    }

    fn stmt(&self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Declare { init, .. } => init.iter_mut().for_each(|init| self.value(init)),
            Stmt::Point { to: PointerValue::To(pointer), .. } => self.pointer(pointer),
            Stmt::Point { to: PointerValue::Select(cond, a, b), .. } => {
                self.value(cond);
                self.pointer(a);
                self.pointer(b);
            }
            Stmt::Assign { place, value } => {
                if let Place::Element { base, offset } = place {
                    self.offset(*base, offset);
                }
                self.value(value);
            }
            Stmt::Update { base, offset, value } => {
                let mut within = Some(std::mem::replace(offset, Value::Index(0)));
                self.offset(*base, &mut within);
                within.into_iter().for_each(|within| *offset = within);
                self.value(value);
            }
            Stmt::For { count, .. } => self.value(count),
            Stmt::If { cond, .. } | Stmt::While { cond, .. } => self.value(cond),
            Stmt::Fail { cond, .. } | Stmt::NoRoom { cond } | Stmt::Return(cond) => self.value(cond),
            Stmt::Room(room) => room.counts.iter_mut().for_each(|count| self.value(count)),
            Stmt::Invoke(call) => {
                call.args.iter_mut().for_each(|arg| self.argument(arg));
                for measure in &mut call.measures {
                    match measure {
                        Measure::Bool(value) => self.value(value),
                        Measure::Size(_) | Measure::Data => {}
                    }
                }
            }
            Stmt::Share(_) | Stmt::Rotate(_) | Stmt::Scope(_) => {}
        }
    }

    fn argument(&self, arg: &mut Argument) {
        match arg {
            Argument::Value(value) => self.value(value),
            Argument::Pointer(pointer) => self.pointer(pointer),
            Argument::Address(_) | Argument::Workspace => {}
        }
    }

    fn pointer(&self, pointer: &mut Pointer) {
        self.offset(pointer.base, &mut pointer.offset);
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::Load { base, offset } => {
                let mut within = offset.take().map(|offset| *offset);
                self.offset(*base, &mut within);
                *offset = within.map(Box::new);
            }
            Value::Moved { home, .. } => self.pointer(home),
            Value::Call(_, args) => args.iter_mut().for_each(|arg| self.argument(arg)),
            other => other.parts_mut().iter_mut().for_each(|part| self.value(part)),
        }
    }

    fn offset(&self, base: Id, offset: &mut Option<Value>) {
        offset.iter_mut().for_each(|offset| self.value(offset));
        let Some(length) = self.lengths.get(&base) else { return };
        let start = folded(Prim::Mul, self.row.clone(), length.clone());
        *offset = Some(match offset.take() {
            None | Some(Value::Index(0)) => start,
            Some(within) => folded(Prim::Add, start, within),
        });
    }
}
