//! Expressions, with no more parentheses than needed.
//!
//!     Add(Mul(a, b), 1.0)   →   a * b + 1.0

use super::{Printer, elem};
use crate::ir::Prim;
use crate::loops::program::*;
use crate::loops::values::may_wrap;

/// How tight operators hold: a part that holds less than its place asks is in parentheses.
pub const OPEN: u8 = 0;
pub const CLOSED: u8 = 9;

/// How tight an operator holds its operands; `None` for a function.
pub fn tightness(prim: Prim) -> Option<u8> {
    match prim.row().name {
        "||" => Some(2),
        "&&" => Some(3),
        "=" | "<>" | "<" | "<=" | ">" | ">=" => Some(4),
        "+" | "-" if prim != Prim::Neg => Some(5),
        "*" | "/" | "%" => Some(6),
        _ if prim == Prim::Neg => Some(7),
        _ => None,
    }
}

/// The name of a primitive: that of the source language, where it is an operator or a name.
pub fn spelled(prim: Prim) -> &'static str {
    match prim.row().name {
        "**" => "pow",
        name => name,
    }
}

/// How a status is written.
pub use crate::ir::print::status_name as status;

impl Printer<'_> {
    pub fn arguments(&self, args: &[Argument]) -> String {
        let args = args.iter().map(|arg| match arg {
            Argument::Value(value) => self.value(value, OPEN),
            Argument::Pointer(pointer) => self.pointer(pointer),
            Argument::Address(id) => format!("&{}", self.name(*id)),
            Argument::Workspace => "workspace".to_string(),
        });
        args.collect::<Vec<_>>().join(", ")
    }

    pub fn pointer(&self, pointer: &Pointer) -> String {
        match &pointer.offset {
            None => format!("&{}", self.name(pointer.base)),
            Some(offset) => format!("&{}{}", self.name(pointer.base), self.subscripts(pointer.base, offset)),
        }
    }

    pub fn element(&self, base: Id, offset: Option<&Value>) -> String {
        match offset {
            None => format!("*{}", self.name(base)),
            Some(offset) => format!("{}{}", self.name(base), self.subscripts(base, offset)),
        }
    }

    /// `[i][j]`, or with the lengths of rows where they are not those of the array: `[i : m][j]`.
    pub fn subscripts(&self, base: Id, offset: &Value) -> String {
        if let Some(subscripts) = self.shapes.get(&base).and_then(|lengths| self.of_shape(lengths, offset)) {
            return subscripts.iter().rev().map(|subscript| format!("[{}]", self.value(subscript, OPEN))).collect();
        }
        if let Value::InRow(parts) = offset {
            let [row, length, column] = &**parts;
            format!("[{} : {}]{}", self.value(row, OPEN), self.value(length, OPEN), self.subscripts(base, column))
        } else {
            format!("[{}]", self.value(offset, OPEN))
        }
    }

    /// The subscripts of an array with these lengths, the last one first.
    fn of_shape<'v>(&self, lengths: &[String], mut offset: &'v Value) -> Option<Vec<&'v Value>> {
        let mut subscripts = Vec::new();
        for length in lengths.iter().skip(1).rev() {
            let Value::InRow(parts) = offset else { return None };
            (self.value(&parts[1], OPEN) == *length).then_some(())?;
            subscripts.push(&parts[2]);
            offset = &parts[0];
        }
        subscripts.push(offset);
        (!subscripts.iter().any(|subscript| matches!(subscript, Value::InRow(_)))).then_some(subscripts)
    }

    pub fn values(&self, values: &[Value]) -> String {
        values.iter().map(|value| self.value(value, OPEN)).collect::<Vec<_>>().join(", ")
    }

    pub fn value(&self, value: &Value, around: u8) -> String {
        match value {
            Value::Local(id) => self.name(*id),
            Value::Double(x) => format!("{x:?}"),
            Value::Index(k) => k.to_string(),
            Value::Bool(b) => b.to_string(),
            Value::Prim { prim, elem, plain, args } => self.prim(*prim, *elem, *plain, args, around),
            Value::Load { base, offset } => self.element(*base, offset.as_deref()),
            Value::Select(parts) => {
                let [cond, a, b] = &**parts;
                let text = format!("{} ? {} : {}", self.value(cond, 1), self.value(a, 1), self.value(b, 1));
                if around > OPEN { format!("({text})") } else { text }
            }
            Value::InRow(parts) => format!("in_row({})", self.values(&parts[..])),
            Value::Helper(name, args) => format!("{name}({})", self.values(args)),
            Value::SizeOf(of, 1) => format!("sizeof({})", elem(*of, self.real)),
            Value::SizeOf(of, count) => format!("sizeof({}, {count})", elem(*of, self.real)),
            Value::Moved { now, home } => format!("moved({}, {})", self.name(*now), self.pointer(home)),
            Value::Call(callee, args) => {
                let name = match callee {
                    Callee::Body(name) => format!("call {name}"),
                    Callee::Workspace(name) => format!("workspace {name}"),
                    Callee::Slice(name, number) => format!("slice {name}.{number}"),
                    Callee::Deeper(name) => format!("deeper {name}"),
                };
                format!("{name}({})", self.arguments(args))
            }
        }
    }

    fn prim(&self, prim: Prim, elem: Elem, plain: bool, args: &[Value], around: u8) -> String {
        let mark = if elem == Elem::Index && !plain && may_wrap(prim) { "~" } else { "" };
        let (name, holds) = (spelled(prim), tightness(prim));
        let text = match (args, holds) {
            ([a, b], Some(holds)) => format!("{} {name}{mark} {}", self.value(a, holds), self.value(b, holds + 1)),
            // a number with its sign is a literal
            ([a @ (Value::Index(_) | Value::Double(_))], Some(_)) => format!("{name}{mark}({})", self.value(a, OPEN)),
            ([a], Some(holds)) => format!("{name}{mark}{}", self.value(a, holds)),
            _ => return format!("{name}{mark}({})", self.values(args)),
        };
        if holds.is_some_and(|holds| holds < around) { format!("({text})") } else { text }
    }
}
