//! Loop programs from text: what `print` prints, and tests of passes are written in.
//!
//! In: the text of functions with their measures. Out: a loop program, or what is wrong with the text and in which line. Names are
//! those of the text: `i.1` is a local named i. What the text does not say is as `print` has it: the range that follows from a
//! value, lengths that are the counts. `program(print::program(p))` is p, but for places in the source and the numbers of locals.
//!
//!     function f(n: size, out out: f64[n]) {
//!       for i < n apart {
//!         out[i] = double(i)
//!       }
//!     }
//!
//! A line that begins with `//` is a comment. Whether the program makes sense is `verify`'s question.

mod names;
mod share;
mod statement;
mod tokens;
mod value;

use std::collections::HashMap;

use crate::ir::{Size, Type, Var};
use crate::real::Real;
use crate::source::Span;

use super::program::ranges::{ANY, Range};
use super::program::*;

use names::Names;
use tokens::{Token, tokens};

/// What is parsed, or the message for what is wrong.
type Parsed<T> = std::result::Result<T, String>;

/// A whole program.
pub fn program(text: &str) -> Parsed<LoopProgram> {
    let tokens = tokens(text)?;
    let mut parser =
        Parser { tokens: &tokens, at: 0, real: Real::F64, names: Names::default(), shapes: HashMap::new(), measured: Vec::new() };
    let problem = |parser: &Parser, problem: String| format!("line {}: {problem}", parser.line());
    parser.program().map_err(|message| problem(&parser, message))
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    real: Real,
    names: Names,
    /// The lengths of the function's arrays, where they are expressions.
    shapes: HashMap<Id, Vec<Value>>,
    /// What measures the last function, by name.
    measured: Vec<String>,
}

impl Parser<'_> {
    fn program(&mut self) -> Parsed<LoopProgram> {
        self.skip_lines();
        if self.takes("real") {
            self.word("f32")?;
            self.real = Real::F32;
            self.skip_lines();
        }
        let mut functions: Vec<LoopFunction> = Vec::new();
        while !self.is_at_end() {
            match self.peek_word() {
                Some("workspace" | "slice") => {
                    let function = functions.last_mut().ok_or("a measure before the first function")?;
                    self.measure(function)?;
                }
                _ => functions.push(self.function()?),
            }
            self.skip_lines();
        }
        Ok(LoopProgram { real: self.real, functions })
    }

    fn function(&mut self) -> Parsed<LoopFunction> {
        self.names = Names::default();
        self.names.with_ranges = true;
        self.shapes.clear();
        let mut doc: Vec<String> = Vec::new();
        while let Some(Token::Doc(text)) = self.peek_token() {
            doc.push(text.clone());
            self.at += 1;
            self.skip_newlines();
        }
        let is_entry = self.takes("entry");
        if !is_entry {
            self.word("function")?;
        }
        let name = self.ident()?;
        let (mut params, mut size_names, mut measured) = (Vec::new(), Vec::new(), Vec::new());
        for param in self.listed("(", ")", Parser::param)? {
            let (id, var, opaque) = (param.param.id, param.var, param.opaque);
            match &param.param.role {
                Role::Size => {
                    size_names.extend(var.clone().map(|var| (var, id)));
                    measured.push((id, var));
                }
                Role::Scalar if self.names.locals[id].elem != Elem::Double => measured.push((id, var.filter(|_| !opaque))),
                Role::Scalar | Role::Array(_) | Role::OutScalar | Role::OutArray(_) => {}
            }
            params.push(param.param);
        }
        self.names.measured = measured.iter().map(|(id, _)| *id).collect();
        self.measured = measured.iter().map(|(id, _)| self.names.text(*id).to_string()).collect();
        let body = self.braces()?;
        let names = std::mem::take(&mut self.names);
        names.all_declared()?;
        for id in names.measured.iter().skip(measured.len()) {
            self.measured.push(names.text(*id).to_string());
            measured.push((*id, names.var_of(*id)));
        }
        Ok(LoopFunction {
            name: name.into(),
            doc: (!doc.is_empty()).then(|| doc.join("\n")),
            is_entry,
            locals: names.locals,
            params,
            body,
            workspace: Workspace::default(),
            slices: Vec::new(),
            size_names,
            measured,
            ranges: names.ranges,
            span: Span::NONE,
        })
    }

    fn param(&mut self) -> Parsed<Parameter> {
        // a parameter may have that name
        let out = !self.then_is(":") && self.takes("out");
        let mutable = self.takes("var");
        let text = self.ident()?;
        self.punct(":")?;
        if self.takes("size") {
            let id = self.names.declare(&text, Elem::Index, Form::Scalar { mutable: false })?;
            let var = self.names.variable(&text, Type::INDEX);
            self.known(id, (0, LONGEST as i128))?;
            return Ok(Parameter { param: Param { id, role: Role::Size }, var: Some(var), opaque: false });
        }
        let elem = self.elem()?;
        let dims = if self.peek_is("[") { Some(self.listed("[", "]", Parser::size)?) } else { None };
        let form = match (out, &dims) {
            (true, _) => Form::Target { mutable },
            (false, Some(_)) => Form::Source { mutable },
            (false, None) => Form::Scalar { mutable },
        };
        let id = self.names.declare(&text, elem, form)?;
        let role = match (out, dims) {
            (true, Some(dims)) => Role::OutArray(dims),
            (true, None) => Role::OutScalar,
            (false, Some(dims)) => Role::Array(dims),
            (false, None) => Role::Scalar,
        };
        if let Role::Array(dims) | Role::OutArray(dims) = &role {
            // rows are as long as the lengths after the first
            let length = |(k, size): (usize, &Size)| self.names.value_of(size).or((k == 0).then_some(Value::Index(0)));
            let lengths: Option<Vec<Value>> = dims.iter().enumerate().map(length).collect();
            self.shapes.extend(lengths.map(|lengths| (id, lengths)));
        }
        let is_scalar = matches!(role, Role::Scalar);
        let mut opaque = false;
        let mut var = None;
        if is_scalar {
            self.known(id, ANY)?;
            opaque = self.takes("opaque");
            if elem != Elem::Double && !opaque {
                var = Some(self.names.variable(&text, if elem == Elem::Bool { Type::Bool } else { Type::INDEX }));
            }
        }
        Ok(Parameter { param: Param { id, role }, var, opaque })
    }

    /// `workspace f(n: index) { … }` or `slice f.0 of (n)(n: index) { … }`, after its function.
    fn measure(&mut self, function: &mut LoopFunction) -> Parsed<()> {
        let is_slice = self.takes("slice");
        if !is_slice {
            self.word("workspace")?;
        }
        self.ident()?;
        let mut args: Vec<usize> = (0..function.measured.len()).collect();
        if is_slice {
            self.word("of")?;
            let named = self.listed("(", ")", Parser::ident)?;
            let place = |name: &String| {
                self.measured.iter().position(|other| other == name).ok_or_else(|| format!("the function is not measured by `{name}`"))
            };
            args = named.iter().map(place).collect::<Parsed<_>>()?;
        }
        self.names = Names::default();
        let (mut deeper, mut threads) = (None, None);
        let mut params = Vec::new();
        for (id, role) in self.listed("(", ")", Parser::measure_param)? {
            match role {
                Measured::Deeper => deeper = Some(id),
                Measured::Threads => threads = Some(id),
                Measured::Param => params.push((id, args.get(params.len()).and_then(|at| function.measured[*at].1.clone()))),
            }
        }
        let body = self.braces()?;
        let names = std::mem::take(&mut self.names);
        names.all_declared()?;
        let needed = !matches!(body.as_slice(), [Stmt::Return(Value::Index(0))]);
        let measure = Workspace { needed, locals: names.locals, params, deeper, threads, body };
        match is_slice {
            true => function.slices.push(PartMeasure { args, measure }),
            false => function.workspace = measure,
        }
        Ok(())
    }

    fn measure_param(&mut self) -> Parsed<(Id, Measured)> {
        let role = match () {
            () if self.takes("deeper") => Measured::Deeper,
            () if self.takes("threads") => Measured::Threads,
            () => Measured::Param,
        };
        let text = self.ident()?;
        self.punct(":")?;
        let elem = self.elem()?;
        Ok((self.names.declare(&text, elem, Form::Scalar { mutable: false })?, role))
    }

    /// ` in 0..=9`, ` in any`, or what is known by itself.
    fn known(&mut self, id: Id, by_itself: Range) -> Parsed<()> {
        let range = if !self.takes("in") {
            by_itself
        } else if self.takes("any") {
            ANY
        } else {
            let low = self.integer()?;
            self.punct("..=")?;
            (low, self.integer()?)
        };
        if self.names.with_ranges && self.names.locals[id].elem == Elem::Index && range != ANY {
            self.names.ranges.insert(id, range);
        }
        Ok(())
    }

    fn elem(&mut self) -> Parsed<Elem> {
        let word = self.ident()?;
        match word.as_str() {
            "f64" | "f32" => Ok(Elem::Double),
            "index" => Ok(Elem::Index),
            "bool" => Ok(Elem::Bool),
            "bytes" => Ok(Elem::Bytes),
            other => Err(format!("`{other}` is no type")),
        }
    }

    fn size(&mut self) -> Parsed<Size> {
        self.names.in_size = true;
        let value = self.value();
        self.names.in_size = false;
        self.names.size_of(&value?.0)
    }
}

/// What a parameter of a measure is.
enum Measured {
    Param,
    Deeper,
    Threads,
}

struct Parameter {
    param: Param,
    var: Option<Var>,
    opaque: bool,
}
