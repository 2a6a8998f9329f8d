//! Expressions with the kinds of their values.
//!
//!     a * b + 1.0   →   Add(Mul(a, b), 1.0), a double

use super::tokens::Token;
use super::{Parsed, Parser};
use crate::ir::Prim;
use crate::ir::prim::ROWS;
use crate::loops::helpers::{self, Operand};
use crate::loops::print::{spelled, tightness};
use crate::loops::program::*;
use crate::loops::values::result_elem;

/// How tight a prefix operator holds its operand.
const PREFIX: u8 = 7;

impl Parser<'_> {
    /// `c ? a : b`, or what is tighter.
    pub fn value(&mut self) -> Parsed<(Value, Elem)> {
        let (first, elem) = self.infix(0)?;
        if !self.takes_sign("?") {
            return Ok((first, elem));
        }
        let (then, elem) = self.infix(0)?;
        self.punct(":")?;
        let (otherwise, _) = self.infix(0)?;
        Ok((Value::Select(Box::new([first, then, otherwise])), elem))
    }

    /// Operators that hold at least so tight.
    pub fn infix(&mut self, least: u8) -> Parsed<(Value, Elem)> {
        let (mut left, mut elem) = self.prefix()?;
        while let Some(Token::Punct(sign)) = self.peek_token() {
            let (name, plain) = sign.strip_suffix('~').map_or((*sign, true), |name| (name, false));
            let row = ROWS.iter().find(|row| row.name == name && row.arity == 2 && row.prim != Prim::Neg);
            let Some((prim, holds)) = row.and_then(|row| Some((row.prim, tightness(row.prim)?))) else { break };
            if holds < least {
                break;
            }
            self.at += 1;
            let (right, _) = self.infix(holds + 1)?;
            left = Value::Prim { prim, elem, plain, args: vec![left, right] };
            elem = result_elem(prim, elem);
        }
        Ok((left, elem))
    }

    fn prefix(&mut self) -> Parsed<(Value, Elem)> {
        let plain = match self.peek_token() {
            Some(Token::Punct("-")) => true,
            Some(Token::Punct("-~")) => false,
            Some(Token::Punct("*")) => {
                self.at += 1;
                let base = self.local()?;
                return Ok((Value::Load { base, offset: None }, self.names.locals[base].elem));
            }
            Some(_) | None => return self.atom(),
        };
        self.at += 1;
        if plain && let Some(literal) = self.negative()? {
            return Ok(literal);
        }
        let (value, elem) = self.infix(PREFIX)?;
        Ok((Value::Prim { prim: Prim::Neg, elem, plain, args: vec![value] }, elem))
    }

    /// A literal that follows its sign at once.
    fn negative(&mut self) -> Parsed<Option<(Value, Elem)>> {
        let (text, is_number) = match self.peek_token() {
            Some(Token::Number { text, glued: true }) => (text.clone(), true),
            Some(Token::Ident { text, glued: true }) if text == "inf" => (text.clone(), false),
            Some(_) | None => return Ok(None),
        };
        self.at += 1;
        let text = format!("-{text}");
        if is_number { literal(&text).map(Some) } else { Ok(Some((Value::Double(f64::NEG_INFINITY), Elem::Double))) }
    }

    fn atom(&mut self) -> Parsed<(Value, Elem)> {
        if self.takes_sign("(") {
            let value = self.value()?;
            self.punct(")")?;
            return Ok(value);
        }
        if let Some(Token::Number { text, .. }) = self.peek_token() {
            let value = literal(text)?;
            self.at += 1;
            return Ok(value);
        }
        let is_call = self.then_is("(");
        let text = self.ident()?;
        match text.as_str() {
            "true" | "false" => return Ok((Value::Bool(text == "true"), Elem::Bool)),
            "NaN" => return Ok((Value::Double(f64::NAN), Elem::Double)),
            "inf" => return Ok((Value::Double(f64::INFINITY), Elem::Double)),
            "workspace" => {
                let name = self.ident()?;
                return self.measure_call(Callee::Workspace(name.into()));
            }
            "slice" => {
                let name = self.ident()?;
                let (name, number) = name.rsplit_once('.').ok_or("expected the number of a slice")?;
                let number = number.parse().map_err(|_| format!("`{number}` is no number of a slice"))?;
                return self.measure_call(Callee::Slice(name.into(), number));
            }
            "deeper" => {
                let name = self.ident()?;
                let (value, _) = self.measure_call(Callee::Deeper(name.into()))?;
                return Ok((value, Elem::Index));
            }
            "call" => {
                let name = self.ident()?;
                return self.measure_call(Callee::Body(name.into()));
            }
            _ => {}
        }
        if is_call {
            return self.function_call(&text);
        }
        if self.names.in_size {
            return self.names.size_value(&text);
        }
        let id = self.names.id(&text)?;
        let elem = self.names.locals[id].elem;
        if self.peek_is("[") {
            let offset = self.subscripts(id)?;
            return Ok((Value::Load { base: id, offset: Some(Box::new(offset)) }, elem));
        }
        Ok((Value::Local(id), elem))
    }

    fn measure_call(&mut self, callee: Callee) -> Parsed<(Value, Elem)> {
        let args = self.listed("(", ")", Parser::argument)?;
        Ok((Value::Call(callee, args), Elem::Bytes))
    }

    /// A primitive or a helper.
    fn function_call(&mut self, name: &str) -> Parsed<(Value, Elem)> {
        match name {
            "sizeof" => {
                self.punct("(")?;
                let elem = self.elem()?;
                let count = if self.takes_sign(",") { self.integer()? } else { 1 };
                self.punct(")")?;
                let count = u32::try_from(count).map_err(|_| format!("{count} is no number of elements"))?;
                return Ok((Value::SizeOf(elem, count), Elem::Bytes));
            }
            "moved" => {
                self.punct("(")?;
                let now = self.local()?;
                self.punct(",")?;
                let home = Box::new(self.pointer()?);
                self.punct(")")?;
                return Ok((Value::Moved { now, home }, Elem::Bool));
            }
            _ => {}
        }
        let parsed = self.listed("(", ")", Parser::value)?;
        if let (Some((k, height)), true) = (name.strip_prefix("fold").and_then(|rest| rest.split_once('.')), self.names.in_size) {
            let parts: Vec<Value> = parsed.into_iter().map(|(value, _)| value).collect();
            return Ok((self.names.fold(k, height, &parts)?, Elem::Index));
        }
        if name == "in_row" {
            let parts: Vec<Value> = parsed.into_iter().map(|(value, _)| value).collect();
            let parts = <[Value; 3]>::try_from(parts).map_err(|_| "an element of a row has a row, a length and a column")?;
            return Ok((Value::InRow(Box::new(parts)), Elem::Index));
        }
        let elems: Vec<Elem> = parsed.iter().map(|(_, elem)| *elem).collect();
        let args: Vec<Value> = parsed.into_iter().map(|(value, _)| value).collect();
        if let Some(helper) = helpers::named(name) {
            let elem = match helper.gives {
                Operand::Scalar(elem) | Operand::Array(elem) => elem,
                Operand::Same => elems.last().copied().unwrap_or(Elem::Double),
            };
            return Ok((Value::Helper(helper.name, args), elem));
        }
        let row = ROWS.iter().find(|row| spelled(row.prim) == name && row.arity == args.len());
        let prim = row.ok_or_else(|| format!("there is no primitive `{name}` of {} operands", args.len()))?.prim;
        let elem = match (prim, elems.first()) {
            (Prim::Polygamma, _) | (_, None) => Elem::Double,
            (_, Some(elem)) => *elem,
        };
        Ok((Value::Prim { prim, elem, plain: true, args }, result_elem(prim, elem)))
    }

    /// The number of a local in scope.
    pub fn local(&mut self) -> Parsed<Id> {
        let text = self.ident()?;
        self.names.id(&text)
    }

    /// `&a`, `&a[i]`.
    pub fn pointer(&mut self) -> Parsed<Pointer> {
        self.punct("&")?;
        let base = self.local()?;
        let offset = if self.peek_is("[") { Some(self.subscripts(base)?) } else { None };
        Ok(Pointer { base, offset })
    }

    /// `[i][j]`, with the declared lengths of the array, or `[i : m][j]`, in rows of m elements.
    pub fn subscripts(&mut self, base: Id) -> Parsed<Value> {
        let (mut rows, mut lengths) = (Vec::new(), Vec::new());
        let last = loop {
            self.punct("[")?;
            let (row, _) = self.value()?;
            if self.takes_sign(":") {
                lengths.push(self.value()?.0);
            }
            self.punct("]")?;
            if !self.peek_is("[") {
                break row;
            }
            rows.push(row);
        };
        if lengths.len() == rows.len() {
            let rows = rows.into_iter().zip(lengths).rev();
            return Ok(rows.fold(last, |column, (row, length)| Value::in_row(row, length, column)));
        }
        let shape = self.shapes.get(&base).filter(|shape| lengths.is_empty() && shape.len() == rows.len() + 1);
        let lengths =
            shape.ok_or("an element has one subscript for each length of its array, or rows have their lengths: `a[i : m][j]`")?;
        let mut subscripts = rows.into_iter().chain([last]);
        let first = subscripts.next().unwrap_or(Value::Index(0));
        Ok(subscripts.zip(&lengths[1..]).fold(first, |row, (column, length)| Value::in_row(row, length.clone(), column)))
    }

    pub fn argument(&mut self) -> Parsed<Argument> {
        if self.peek_word() == Some("workspace") && (self.then_is(",") || self.then_is(")")) {
            self.at += 1;
            return Ok(Argument::Workspace);
        }
        if !self.peek_is("&") {
            return Ok(Argument::Value(self.value()?.0));
        }
        let pointer = self.pointer()?;
        match (self.names.locals[pointer.base].form, pointer.offset) {
            (Form::Scalar { .. }, None) => Ok(Argument::Address(pointer.base)),
            (Form::Scalar { .. }, Some(_)) => Err("a number has no elements".into()),
            (Form::Source { .. } | Form::Target { .. }, offset) => Ok(Argument::Pointer(Pointer { base: pointer.base, offset })),
        }
    }
}

fn literal(text: &str) -> Parsed<(Value, Elem)> {
    if text.contains(['.', 'e']) {
        return text.parse().map(|value| (Value::Double(value), Elem::Double)).map_err(|_| format!("`{text}` is no number"));
    }
    text.parse().map(|value| (Value::Index(value), Elem::Index)).map_err(|_| format!("`{text}` is no index"))
}
