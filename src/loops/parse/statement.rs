//! Statements, one a line but for their blocks.
//!
//!     for i < n apart {      →   For { i, count: n, apart: true, body: [out[i] = 1.0], … }
//!       out[i] = 1.0
//!     }

use super::tokens::Token;
use super::{Parsed, Parser};
use crate::ir::{Status, Type};
use crate::loops::print::{count_range, size_of, status};
use crate::loops::program::ranges::ANY;
use crate::loops::program::*;
use crate::source::Span;

/// All statuses of failures.
const STATUSES: [Status; 6] = [Status::Bounds, Status::Shape, Status::Negative, Status::DivZero, Status::Range, Status::Workspace];

impl Parser<'_> {
    /// Statements between braces, to the end of their last line.
    pub fn braces(&mut self) -> Parsed<Block> {
        self.punct("{")?;
        self.end()?;
        let block = self.block()?;
        self.punct("}")?;
        self.end()?;
        Ok(block)
    }

    /// Statements up to a closing brace.
    pub fn block(&mut self) -> Parsed<Block> {
        let mut block = Vec::new();
        loop {
            self.skip_lines();
            if self.peek_is("}") {
                return Ok(block);
            }
            if self.is_at_end() {
                return Err("expected `}`, found the end of the text".into());
            }
            block.push(self.stmt()?);
        }
    }

    pub fn stmt(&mut self) -> Parsed<Stmt> {
        // a name that is a word of the language has a number, so what begins a statement decides
        let word = self.peek_word().unwrap_or_default().to_string();
        if matches!(word.as_str(), "for" | "while" | "share" | "if" | "scope") {
            self.at += 1;
            return match word.as_str() {
                "for" => self.repeat(),
                "while" => {
                    let (cond, _) = self.value()?;
                    Ok(Stmt::While { cond, body: self.braces()? })
                }
                "share" => self.share(),
                "if" => self.branch(),
                _ => Ok(Stmt::Scope(self.braces()?)),
            };
        }
        let stmt = self.line_stmt(&word)?;
        self.end()?;
        Ok(stmt)
    }

    /// A statement that is one line.
    fn line_stmt(&mut self, word: &str) -> Parsed<Stmt> {
        match word {
            "let" | "var" => {
                self.at += 1;
                self.declare(word == "var")
            }
            "point" => {
                self.at += 1;
                self.point()
            }
            "update" => {
                self.at += 1;
                let Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, value } = self.assignment()? else {
                    return Err("an update is of an element".into());
                };
                Ok(Stmt::Update { base, offset, value })
            }
            "fail" => {
                self.at += 1;
                self.fail()
            }
            "room" | "local" => {
                self.at += 1;
                let room = self.room()?;
                match room.few().is_some() == (word == "local") {
                    true => Ok(Stmt::Room(room)),
                    false => Err("an array of few elements is `local`, another one a `room`".into()),
                }
            }
            "call" => {
                self.at += 1;
                self.invoke()
            }
            "rotate" => {
                self.at += 1;
                let mut ids = vec![self.local()?];
                while self.takes_sign(",") {
                    ids.push(self.local()?);
                }
                Ok(Stmt::Rotate(ids))
            }
            "return" => {
                self.at += 1;
                Ok(Stmt::Return(self.value()?.0))
            }
            _ => self.assignment(),
        }
    }

    fn declare(&mut self, mutable: bool) -> Parsed<Stmt> {
        let text = self.ident()?;
        self.punct(":")?;
        let elem = self.elem()?;
        // what is known comes before the value that it is compared with
        let known = self.at;
        if self.takes("in") && !self.takes("any") {
            self.integer()?;
            self.punct("..=")?;
            self.integer()?;
        }
        let init = if self.takes_sign("=") { Some(self.value()?.0) } else { None };
        let id = self.names.declare(&text, elem, Form::Scalar { mutable })?;
        if let Some(Value::Call(Callee::Deeper(_), _)) = init {
            self.names.is_deeper(id);
        }
        let by_itself = init.as_ref().filter(|_| !mutable).map_or(ANY, |init| self.names.ranges.of(init));
        let after = std::mem::replace(&mut self.at, known);
        self.known(id, by_itself)?;
        self.at = after;
        if let Some(Token::Note(note)) = self.peek_token() {
            self.names.locals[id].note = Some(note.as_str().into());
        }
        Ok(Stmt::Declare { id, init })
    }

    fn point(&mut self) -> Parsed<Stmt> {
        let mutable = self.takes("var");
        let text = self.ident()?;
        self.punct(":")?;
        self.punct("&")?;
        let form = if self.takes("mut") { Form::Target { mutable } } else { Form::Source { mutable } };
        let elem = self.elem()?;
        self.punct("=")?;
        let to = if self.peek_is("&") {
            PointerValue::To(self.pointer()?)
        } else {
            let (cond, _) = self.infix(0)?;
            self.punct("?")?;
            let then = self.pointer()?;
            self.punct(":")?;
            PointerValue::Select(cond, then, self.pointer()?)
        };
        let id = self.names.declare(&text, elem, form)?;
        Ok(Stmt::Point { id, to })
    }

    fn assignment(&mut self) -> Parsed<Stmt> {
        let (place, _) = self.infix(u8::MAX)?;
        let place = match place {
            Value::Local(id) => Place::Local(id),
            Value::Load { base, offset } => Place::Element { base, offset: offset.map(|offset| *offset) },
            Value::Double(_)
            | Value::Index(_)
            | Value::Bool(_)
            | Value::Prim { .. }
            | Value::InRow(_)
            | Value::Select(_)
            | Value::Helper(..)
            | Value::SizeOf(..)
            | Value::Moved { .. }
            | Value::Call(..) => return Err("expected a statement".into()),
        };
        self.punct("=")?;
        Ok(Stmt::Assign { place, value: self.value()?.0 })
    }

    fn fail(&mut self) -> Parsed<Stmt> {
        let name = self.ident()?;
        if name == "WORKSPACE" && self.takes("unless") {
            self.word("room")?;
            self.word("for")?;
            return Ok(Stmt::NoRoom { cond: self.value()?.0 });
        }
        self.word("if")?;
        let found = STATUSES.into_iter().find(|known| status(*known) == name).ok_or_else(|| format!("`{name}` is no status"))?;
        Ok(Stmt::Fail { cond: self.value()?.0, status: found })
    }

    fn branch(&mut self) -> Parsed<Stmt> {
        let (cond, _) = self.value()?;
        self.punct("{")?;
        self.end()?;
        let then = self.block()?;
        self.punct("}")?;
        let otherwise = if self.takes("else") {
            self.braces()?
        } else {
            self.end()?;
            Vec::new()
        };
        Ok(Stmt::If { cond, then, otherwise })
    }

    fn repeat(&mut self) -> Parsed<Stmt> {
        let fixed = self.takes("const");
        let text = self.ident()?;
        let i = self.names.declare(&text, Elem::Index, Form::Scalar { mutable: !fixed })?;
        let known = self.at;
        if self.takes("in") && !self.takes("any") {
            self.integer()?;
            self.punct("..=")?;
            self.integer()?;
        }
        self.punct("<")?;
        let (count, _) = self.infix(PAST_COMPARISON)?;
        let after = std::mem::replace(&mut self.at, known);
        self.known(i, count_range(&self.names.ranges, &count))?;
        self.at = after;
        let size = if self.takes("unsized") {
            None
        } else if self.takes("of") {
            self.word("size")?;
            let mut sizes = self.listed("[", "]", Parser::size)?;
            sizes.pop()
        } else {
            let size = size_of(&count, &|id| self.names.var_of(id));
            Some(size.ok_or("the size of the loop is not its count: `of size [n]`, or `unsized`")?)
        };
        let var = if self.takes("as") {
            let name = self.ident()?;
            Some(self.names.variable(&name, Type::INDEX))
        } else {
            None
        };
        let apart = self.takes("apart");
        let lanes = if self.takes("lanes") {
            if self.takes("sum") { Lanes::Sum(self.listed("(", ")", Parser::local)?) } else { Lanes::Any }
        } else if self.takes("in") {
            self.word("order")?;
            Lanes::InOrder
        } else if self.takes("tiles") {
            self.word("of")?;
            return self.tiles(|body, lanes| Stmt::For { i, var, count, size, body, lanes, apart });
        } else {
            Lanes::One
        };
        let body = self.braces()?;
        Ok(Stmt::For { i, var, count, size, body, lanes, apart })
    }

    fn room(&mut self) -> Parsed<Room> {
        let mutable = self.takes("var");
        let text = self.ident()?;
        self.punct(":")?;
        let elem = self.elem()?;
        let counts: Vec<Value> = self.listed("[", "]", Parser::value)?.into_iter().map(|(count, _)| count).collect();
        let dims = if self.takes("of") {
            self.listed("[", "]", Parser::size)?
        } else {
            let sizes = counts.iter().map(|count| size_of(count, &|id| self.names.var_of(id)));
            sizes.collect::<Option<_>>().ok_or("the lengths are not the counts: `of [n, m]`")?
        };
        let aligned = self.takes("aligned");
        let id = self.names.declare(&text, elem, Form::Target { mutable })?;
        self.shapes.insert(id, counts.clone());
        Ok(Room { id, elem, dims, counts, aligned, span: Span::NONE })
    }

    fn invoke(&mut self) -> Parsed<Stmt> {
        let callee = self.ident()?.into();
        let args = self.listed("(", ")", Parser::argument)?;
        let mut measures = Vec::new();
        if self.takes("measured") {
            self.word("by")?;
            measures = self.listed("(", ")", Parser::measure_arg)?;
        }
        let fallible = !self.takes("never");
        if !fallible {
            self.word("fails")?;
        }
        Ok(Stmt::Invoke(Invocation { callee, args, measures, fallible, span: Span::NONE }))
    }

    fn measure_arg(&mut self) -> Parsed<Measure> {
        if self.takes("data") {
            return Ok(Measure::Data);
        }
        if self.takes("bool") {
            return Ok(Measure::Bool(self.value()?.0));
        }
        self.size().map(Measure::Size)
    }
}

/// A count is tighter than any operator, as it is printed.
pub const PAST_COMPARISON: u8 = 8;
