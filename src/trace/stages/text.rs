//! A function as a stage of 004 has it: each Double x with its backpropagator x'.
//!
//! In: a core function without derivatives. Out: its text, in A-normal form: an operation on Doubles is a line. Indexes, Bools and
//! control flow stay as they are; arrays have pairs for elements.
//!
//!     sin (x * x)   →   let (t1, t1') = (x * x, fun z -> x' (x * z) + x' (x * z)) in
//!                       let (t2, t2') = (sin t1, fun z -> t1' (cos t1 * z)) in
//!                       (t2, t2')

use std::collections::HashMap;

use super::Stage;
use super::slopes::{self, Names};
use crate::diagnostic::Diagnostic;
use crate::ir::prim::{Kind, Prim};
use crate::ir::{Expr, Function, Term, Type, Updated, Var, print};
use crate::trace::{broken, number};

/// The text of a function.
pub fn function(stage: Stage, function: &Function) -> Result<String, Diagnostic> {
    let mut writer = Writer { stage, names: HashMap::new(), taken: HashMap::new(), lines: vec![Vec::new()], next: 0 };
    let params: Vec<String> = function.params.iter().map(|param| writer.bound(param)).collect();
    let params: String = params.iter().map(|param| format!(" {param}")).collect();
    let result = writer.value(&function.body)?;
    let lines = writer.lines.pop().unwrap_or_default();
    let lines: String = lines.iter().chain([&result]).flat_map(|text| text.lines()).map(|line| format!("     {line}\n")).collect();
    Ok(format!("   let {}'{params} =\n{lines}", function.name))
}

struct Writer {
    stage: Stage,
    names: HashMap<Var, String>,
    /// How often a name was given.
    taken: HashMap<String, usize>,
    /// Of each block around.
    lines: Vec<Vec<String>>,
    next: usize,
}

impl Writer {
    /// A name of its own for a variable: a pair of names for a Double.
    fn bound(&mut self, var: &Var) -> String {
        let own = matches!(&**var.name(), "z" | "zero" | "id" | "new" | "none" | "add" | "push");
        let is_numbered = var.name().strip_prefix('t').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let count = self.taken.entry(var.name().to_string()).or_insert(usize::from(own || is_numbered));
        *count += 1;
        let name = if *count == 1 { var.name().to_string() } else { format!("{}_{}", var.name(), *count - 1) };
        self.names.insert(var.clone(), name.clone());
        if var.ty() == &Type::Double { format!("({name}, {name}')") } else { name }
    }

    fn name(&self, var: &Var) -> String {
        self.names.get(var).cloned().unwrap_or_else(|| var.name().to_string())
    }

    fn line(&mut self, line: String) {
        if let Some(lines) = self.lines.last_mut() {
            lines.push(line);
        }
    }

    /// The backpropagator of what depends on no input.
    fn zero(&self) -> &'static str {
        match self.stage {
            Stage::Backpropagators => "(fun z -> zero)",
            Stage::Staging | Stage::Factoring => "(new, fun z -> zero)",
            Stage::Cayley | Stage::Arrays => "(new, fun z -> id)",
            Stage::Tape => "none",
        }
    }

    /// The backpropagator of an operation.
    fn backpropagator(&self, prim: Prim, operands: &[(String, String)], result: &str) -> Result<String, Diagnostic> {
        let primals: Vec<String> = operands.iter().map(|(primal, _)| primal.clone()).collect();
        let is_tape = self.stage == Stage::Tape;
        let names = Names {
            operands: &primals,
            result,
            z: (!is_tape).then_some("z"),
            of_both: operands.iter().all(|(_, back)| back != self.zero()),
        };
        let mut shares = Vec::new();
        for (at, (_, back)) in operands.iter().enumerate() {
            if back == self.zero() {
                continue;
            }
            let Some(share) = slopes::share(prim, at, &names).ok_or_else(|| broken(prim))? else { continue };
            let argument = if share.contains(' ') { format!("({share})") } else { share.clone() };
            shares.push(match self.stage {
                Stage::Backpropagators => format!("{back} {argument}"),
                Stage::Staging | Stage::Factoring | Stage::Cayley => format!("SCall {back} {argument}"),
                Stage::Arrays => format!("add {back} {argument}"),
                Stage::Tape => format!("({back}, {share})"),
            });
        }
        if shares.is_empty() {
            return Ok(self.zero().to_string());
        }
        Ok(match self.stage {
            Stage::Backpropagators => format!("fun z -> {}", shares.join(" + ")),
            Stage::Staging | Stage::Factoring => format!("(new, fun z -> {})", shares.join(" + ")),
            Stage::Cayley => format!("(new, fun z -> {})", shares.join(" . ")),
            Stage::Arrays => format!("(new, fun z -> {})", shares.join("; ")),
            Stage::Tape => format!("push [{}]", shares.join(", ")),
        })
    }

    /// A Double and its backpropagator.
    fn double(&mut self, expr: &Expr) -> Result<(String, String), Diagnostic> {
        match expr.term() {
            Term::Var(var) => {
                let name = self.name(var);
                Ok((name.clone(), format!("{name}'")))
            }
            Term::Double(value) => Ok((number(*value), self.zero().into())),
            Term::Let(..) | Term::Check { .. } => {
                let body = self.opened(expr)?;
                self.double(&body)
            }
            Term::Prim(prim, args) if prim.row().kind != Kind::IndexToDouble && prim.row().kind != Kind::IndexDoubleToDouble => {
                let operands = args.iter().map(|arg| self.double(arg)).collect::<Result<Vec<_>, _>>()?;
                self.next += 1;
                let name = format!("t{}", self.next);
                let back = self.backpropagator(*prim, &operands, &name)?;
                let primal = applied(*prim, &operands.into_iter().map(|(primal, _)| primal).collect::<Vec<_>>());
                self.line(format!("let ({name}, {name}') = ({primal}, {back}) in"));
                Ok((name.clone(), format!("{name}'")))
            }
            // an Index as a Double
            Term::Prim(prim, args) => {
                let args = args.iter().map(|arg| self.value(arg)).collect::<Result<Vec<_>, _>>()?;
                Ok((format!("({})", applied(*prim, &args)), self.zero().into()))
            }
            _ => {
                let value = self.parts(expr)?;
                self.next += 1;
                let name = format!("t{}", self.next);
                self.line(format!("let ({name}, {name}') = {value} in"));
                Ok((name.clone(), format!("{name}'")))
            }
        }
    }

    /// The body of lets and checks, whose lines are written.
    fn opened(&mut self, expr: &Expr) -> Result<Expr, Diagnostic> {
        match expr.term() {
            Term::Let(var, value, body) => {
                let value = self.value(value)?;
                let name = self.bound(var);
                self.line(format!("let {name} = {value} in"));
                self.opened(body)
            }
            Term::Check { cond, body, .. } => {
                let cond = self.value(cond)?;
                self.line(format!("check {cond} in"));
                self.opened(body)
            }
            _ => Ok(expr.clone()),
        }
    }

    /// Any value.
    fn value(&mut self, expr: &Expr) -> Result<String, Diagnostic> {
        if expr.ty() == &Type::Double {
            let (primal, back) = self.double(expr)?;
            return Ok(format!("({primal}, {back})"));
        }
        let body = self.opened(expr)?;
        self.parts(&body)
    }

    fn values(&mut self, exprs: &[Expr]) -> Result<Vec<String>, Diagnostic> {
        exprs.iter().map(|expr| self.value(expr)).collect()
    }

    /// A term by its form, where it is no operation on Doubles.
    fn parts(&mut self, expr: &Expr) -> Result<String, Diagnostic> {
        Ok(match expr.term() {
            Term::Var(var) => self.name(var),
            Term::Double(_) | Term::Index(_) | Term::Bool(_) => print::line(expr, &[]),
            Term::Prim(prim, args) => {
                let args = args.iter().map(|arg| match arg.ty() {
                    Type::Double => self.double(arg).map(|(primal, _)| primal),
                    Type::Index(_) | Type::Bool | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => {
                        self.value(arg).map(|text| atom(&text))
                    }
                });
                applied(*prim, &args.collect::<Result<Vec<_>, _>>()?)
            }
            Term::Let(..) | Term::Check { .. } => self.value(expr)?,
            Term::If(cond, then, otherwise) => {
                let cond = self.value(cond)?;
                let (then, otherwise) = (self.block(then)?, self.block(otherwise)?);
                format!("if {cond} then{then}\nelse{otherwise}")
            }
            Term::Build { n, i, body } => {
                let n = atom(&self.value(n)?);
                let i = self.bound(i);
                format!("build {n} (fun {i} ->{})", self.block(body)?)
            }
            Term::Fold { n, acc, i, body, init } => {
                let (init, n) = (self.value(init)?, self.value(n)?);
                let (acc, i) = (self.bound(acc), self.bound(i));
                let body = self.block(body)?;
                format!("ifold (fun {acc} {i} ->{body}) {} {}", atom(&init), atom(&n))
            }
            Term::While { state, init, body } => {
                let init = self.value(init)?;
                let state = self.bound(state);
                format!("while (fun {state} ->{}) {}", self.block(body)?, atom(&init))
            }
            Term::Get(array, index) => {
                let array = self.value(array)?;
                format!("{}[{}]", atom(&array), self.value(index)?)
            }
            Term::Dim(array, 0) => format!("length {}", atom(&self.value(array)?)),
            Term::Dim(array, axis) => format!("dim {} {axis}", atom(&self.value(array)?)),
            Term::Tuple(parts) => format!("({})", self.values(parts)?.join(", ")),
            Term::Proj(tuple, k) => format!("{}.{k}", atom(&self.value(tuple)?)),
            Term::Array(items) => format!("[{}]", self.values(items)?.join(", ")),
            Term::Call(name, args) => {
                let args: String = self.values(args)?.iter().map(|arg| format!(" {}", atom(arg))).collect();
                format!("{name}'{args}")
            }
            Term::Update(change, parts) => {
                let Some(Updated { array, indices, value }) = Updated::of(parts) else { return Ok(print::line(expr, &[])) };
                let array = atom(&self.value(array)?);
                let indices = self.values(indices)?;
                let indices = if let [one] = &indices[..] { atom(one) } else { format!("[{}]", indices.join(", ")) };
                format!("{} {array} {indices} {}", change.name(), atom(&self.value(value)?))
            }
            // the paper's language has no derivatives inside
            Term::Dual { .. } | Term::Vjp { .. } | Term::Iso(..) => format!("({})", print::line(expr, &[])),
        })
    }

    /// A block of lines, deeper than what is around it.
    fn block(&mut self, expr: &Expr) -> Result<String, Diagnostic> {
        self.lines.push(Vec::new());
        let result = self.value(expr);
        let lines = self.lines.pop().unwrap_or_default();
        let result = result?;
        if lines.is_empty() && !result.contains('\n') {
            return Ok(format!(" {result}"));
        }
        let lines = lines.iter().chain([&result]).flat_map(|text| text.lines()).map(|line| format!("\n  {line}"));
        Ok(lines.collect())
    }
}

/// An operation in text.
fn applied(prim: Prim, args: &[String]) -> String {
    let name = prim.row().name;
    let is_operator = !name.starts_with(|c: char| c.is_ascii_alphabetic());
    match args {
        [x] if is_operator => format!("{name}{x}"),
        [x, y] if is_operator => format!("{x} {name} {y}"),
        _ => args.iter().fold(name.to_string(), |text, arg| format!("{text} {arg}")),
    }
}

/// The text as an argument.
fn atom(text: &str) -> String {
    let is_whole = text.starts_with(['(', '[']) && !text.contains('\n') && text.ends_with([')', ']']);
    if !text.contains(' ') || is_whole { text.to_string() } else { format!("({text})") }
}
