//! Expressions in C, with no more parentheses than needed (and those that gcc asks for).
//!
//!     Add(Mul(a, b), 1.0)   →   a * b + 1.0

use crate::ir::Prim;
use crate::ir::prim::Spelling;
use crate::loops::program::{Argument, Callee, Elem, Pointer, Value};
use crate::real::Real;

use super::printer::Printer;

const PRIMARY: u8 = 16;
const UNARY: u8 = 14;
const PRODUCT: u8 = 13;
const SUM: u8 = 12;
const ORDER: u8 = 10;
const EQUALITY: u8 = 9;
const AND: u8 = 5;
const OR: u8 = 4;
const SELECT: u8 = 3;

/// The C type of a scalar.
pub fn c_type(elem: Elem, real: Real) -> &'static str {
    match elem {
        Elem::Double => real.c(),
        Elem::Index => "int64_t",
        Elem::Bool => "bool",
        Elem::Bytes => "size_t",
    }
}

/// An Index literal.
pub fn index_literal(value: i64) -> String {
    match value {
        i64::MIN => "INT64_MIN".to_string(),
        i64::MAX => "INT64_MAX".to_string(),
        value => value.to_string(),
    }
}

impl Printer<'_> {
    /// An expression in a place where any fits.
    pub fn expr(&self, value: &Value) -> String {
        self.print(value).0
    }

    /// A trip count, right of a `<`.
    pub fn bound(&self, value: &Value) -> String {
        self.at_least(value, ORDER + 1)
    }

    /// What is added to a pointer.
    pub fn addend(&self, value: &Value) -> String {
        self.at_least(value, SUM + 1)
    }

    fn at_least(&self, value: &Value, level: u8) -> String {
        let (text, own) = self.print(value);
        if own < level { format!("({text})") } else { text }
    }

    fn print(&self, value: &Value) -> (String, u8) {
        match value {
            Value::Local(id) => (self.name(*id), PRIMARY),
            Value::Double(value) => signed(self.real.literal(*value)),
            Value::Index(value) => signed(index_literal(*value)),
            Value::Bool(value) => (value.to_string(), PRIMARY),
            Value::SizeOf(elem, 1) => (format!("sizeof({})", c_type(*elem, self.real)), PRIMARY),
            Value::SizeOf(elem, count) => (format!("{count} * sizeof({})", c_type(*elem, self.real)), PRODUCT),
            // the only helper of lowering that takes a number
            Value::Helper(name @ "smooth_is_index", args) => (format!("{}({})", self.real.function(name), self.list(args)), PRIMARY),
            Value::Helper(name, args) => (format!("{name}({})", self.list(args)), PRIMARY),
            // `flatten` leaves none
            Value::InRow(parts) => {
                let [row, length, column] = &**parts;
                let text =
                    format!("{} * {} + {}", self.at_least(row, PRODUCT), self.at_least(length, UNARY), self.at_least(column, PRODUCT));
                (text, SUM)
            }
            Value::Load { base, offset: None } => (format!("*{}", self.name(*base)), UNARY),
            Value::Load { base, offset: Some(offset) } => (format!("{}[{}]", self.name(*base), self.expr(offset)), PRIMARY),
            Value::Select(parts) => {
                let [cond, then, otherwise] = &**parts;
                let text = format!("{} ? {} : {}", self.at_least(cond, OR), self.at_least(then, OR), self.at_least(otherwise, SELECT));
                (text, SELECT)
            }
            Value::Moved { now, home } => (format!("{} != {}", self.name(*now), self.pointer(home)), EQUALITY),
            Value::Call(callee @ Callee::Deeper(_), args) => {
                let bytes = self.ground.iter().map(|ground| ground.bytes.clone());
                let args: Vec<String> = args.iter().map(|arg| self.argument(arg)).chain(bytes).collect();
                (format!("{}({})", self.callee(callee), args.join(", ")), PRIMARY)
            }
            Value::Call(callee, args) => (format!("{}({})", self.callee(callee), self.arguments(args)), PRIMARY),
            Value::Prim { prim, elem, plain, args } => self.prim(*prim, *elem, *plain, args),
        }
    }

    fn prim(&self, prim: Prim, elem: Elem, plain: bool, args: &[Value]) -> (String, u8) {
        let row = prim.row();
        let spelling = match (prim, row.c_index) {
            (Prim::ToIndex, _) => Spelling::Prefix("(int64_t)"),
            (Prim::ToDouble, _) if self.real == Real::F32 => Spelling::Prefix("(float)"),
            (_, Some(special)) if elem == Elem::Index => match row.c {
                Spelling::Infix(_) | Spelling::Prefix(_) if plain => row.c,
                Spelling::Infix(_) | Spelling::Prefix(_) | Spelling::Call(_) => special,
            },
            _ => row.c,
        };
        match (spelling, args) {
            (Spelling::Infix(op), [a, b]) => {
                let (level, left, right) = match prim {
                    Prim::Mul | Prim::Div | Prim::Rem => (PRODUCT, PRODUCT, PRODUCT + 1),
                    Prim::Add | Prim::Sub => (SUM, SUM, SUM + 1),
                    Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => (ORDER, ORDER + 1, ORDER + 1),
                    Prim::Eq | Prim::Ne => (EQUALITY, ORDER + 1, ORDER + 1),
                    Prim::And => (AND, AND, AND),
                    _ => (OR, OR, OR),
                };
                let operand = |value: &Value, level: u8| match (prim, value) {
                    (Prim::Or, Value::Prim { prim: Prim::And, .. }) => format!("({})", self.expr(value)),
                    // compilers take the `!` for one of the whole comparison
                    (Prim::Eq | Prim::Ne, Value::Prim { prim: Prim::Not, .. }) => format!("({})", self.expr(value)),
                    _ => self.at_least(value, level),
                };
                (format!("{} {op} {}", operand(a, left), operand(b, right)), level)
            }
            (Spelling::Prefix(op), [a]) => {
                let text = self.at_least(a, UNARY);
                let text = if op == "-" && text.starts_with('-') { format!("({text})") } else { text };
                (format!("{op}{text}"), UNARY)
            }
            (Spelling::Call(name), _) if elem == Elem::Double || prim == Prim::Polygamma => {
                let is_lane = self.in_lanes && matches!(name, "sin" | "cos");
                (format!("{}{}({})", if is_lane { "smooth_" } else { "" }, self.real.function(name), self.list(args)), PRIMARY)
            }
            (Spelling::Call(name), _) => (format!("{name}({})", self.list(args)), PRIMARY),
            (Spelling::Infix(name) | Spelling::Prefix(name), _) => (format!("{name}({})", self.list(args)), PRIMARY),
        }
    }

    fn list(&self, args: &[Value]) -> String {
        args.iter().map(|arg| self.expr(arg)).collect::<Vec<_>>().join(", ")
    }

    pub fn callee(&self, callee: &Callee) -> String {
        let found = match callee {
            Callee::Body(name) => self.file.bodies.get(name),
            Callee::Workspace(name) => self.file.measures.get(name),
            Callee::Deeper(name) => self.file.deepers.get(name),
            Callee::Slice(name, number) => self.file.slices.get(name).and_then(|slices| slices.get(*number)),
        };
        found.cloned().unwrap_or_default()
    }

    pub fn arguments(&self, args: &[Argument]) -> String {
        args.iter().map(|arg| self.argument(arg)).collect::<Vec<_>>().join(", ")
    }

    fn argument(&self, arg: &Argument) -> String {
        match arg {
            Argument::Value(value) => self.expr(value),
            Argument::Pointer(pointer) => self.pointer(pointer),
            Argument::Address(id) => format!("&{}", self.name(*id)),
            Argument::Workspace => self.room.clone().unwrap_or_else(|| "NULL".to_string()),
        }
    }

    pub fn pointer(&self, pointer: &Pointer) -> String {
        match &pointer.offset {
            None => self.name(pointer.base),
            Some(offset) => format!("{} + {}", self.name(pointer.base), self.at_least(offset, SUM)),
        }
    }
}

/// A literal, in parentheses where an operand would be read wrongly with its sign.
fn signed(text: String) -> (String, u8) {
    if text.starts_with('-') { (format!("({text})"), PRIMARY) } else { (text, PRIMARY) }
}
