//! `eval --trace`: a run as a straight line of operations on Doubles, and the backward pass over that line.
//!
//! In: the interpreter's [`Record`]. Out: lines of text; with a derivative also those of the adjoints, and their values. This is
//! reverse mode as Abadi and Plotkin define it (005 Section 3): evaluate to a trace, which has
//! no branches, then differentiate the trace. It shares nothing with `ad`: [`adjoint`] goes back over what was done, by laws
//! that [`law`] reads off the primitives' rows, at the numbers that were met.
//!
//!     x = 3.0
//!     y = 0.5
//!     t1 = x * y = 1.5
//!     t2 = sin t1 = 0.9974949866040544
//!     t3 = t2 + 2.0 = 2.9974949866040544
//!     result t3
//!
//! An operation between constants is one too. Names of the program that look like those here make these longer: `t_1`, `x''`.

mod adjoint;
mod law;
pub mod stages;
#[cfg(test)]
mod tests;

use crate::diagnostic::Diagnostic;
use crate::ir::eval::{Entry, Operand, Record, Value};
use crate::ir::prim::Prim;
use crate::source::Span;
use law::Term;

/// A run in text.
pub struct Trace {
    /// Inputs and operations in order, then `result …`.
    pub lines: Vec<String>,
    pub adjoint: Option<Adjoint>,
}

/// The backward pass.
pub struct Adjoint {
    /// What has an adjoint, from the result on; the point's Doubles at the end, in their order.
    pub lines: Vec<String>,
    /// Of the point's Doubles.
    pub values: Vec<f64>,
}

impl Trace {
    /// The trace of a record.
    pub fn of(record: &Record) -> Result<Trace, Diagnostic> {
        let names = Names::of(record);
        let mut lines = Vec::with_capacity(record.entries.len() + 1);
        for (place, entry) in record.entries.iter().enumerate() {
            let (name, value) = (names.name(place), number(entry.value()));
            lines.push(match entry {
                Entry::Input { .. } => format!("{name} = {value}"),
                Entry::Operation { prim, order, operands, .. } => {
                    let operands = operands.iter().map(|operand| names.term(record, operand)).collect();
                    let done = law::operation(*prim, *order, operands).ok_or_else(|| broken(*prim))?;
                    format!("{name} = {} = {value}", done.text)
                }
            });
        }
        lines.push(format!("result {}", result(&record.result, &names)));
        let adjoint = record.derivative.as_ref().map(|point| adjoint::back(record, point, &names)).transpose()?;
        Ok(Trace { lines, adjoint })
    }

    /// All lines, each with its end.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        self.lines.iter().for_each(|own| line(own));
        if let Some(adjoint) = &self.adjoint {
            line("adjoint");
            adjoint.lines.iter().for_each(|own| line(own));
        }
        text
    }
}

fn broken(prim: Prim) -> Diagnostic {
    let message = format!("internal error: the law of `{}` has a form that laws do not have", prim.row().name);
    Diagnostic::error("E0901", Span::NONE, message).help("this is a bug in smoothc: please report it")
}

/// As `eval` prints it.
fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".into()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.into()
    } else {
        crate::real::Real::F64.digits(value)
    }
}

/// What entries are called.
struct Names<'r> {
    inputs: Vec<&'r str>,
    /// Before the number of an operation.
    operation: String,
    /// After the name of what an adjoint is of.
    mark: String,
}

impl<'r> Names<'r> {
    fn of(record: &'r Record) -> Names<'r> {
        let input = |entry: &'r Entry| match entry {
            Entry::Input { name, .. } => Some(name.as_str()),
            Entry::Operation { .. } => None,
        };
        let inputs: Vec<&str> = record.entries.iter().map_while(input).collect();
        let root = |name: &'r str| name.split(['[', '.']).next().unwrap_or(name);
        let mut roots: Vec<&str> = inputs.iter().map(|name| root(name)).collect();
        roots.dedup();
        let numbered = |start: &str| {
            let rest = roots.iter().filter_map(|name| name.strip_prefix(start));
            rest.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).count() > 0
        };
        let mut operation = "t".to_string();
        while numbered(&operation) {
            operation.push('_');
        }
        let mut mark = "'".to_string();
        while roots.iter().any(|name| name.ends_with(&mark)) {
            mark.push('\'');
        }
        Names { inputs, operation, mark }
    }

    fn name(&self, place: usize) -> String {
        match self.inputs.get(place) {
            Some(name) => name.to_string(),
            None => format!("{}{}", self.operation, place - self.inputs.len() + 1),
        }
    }

    fn adjoint(&self, place: usize) -> String {
        self.name(place) + &self.mark
    }

    fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Constant(value) => number(*value),
            Operand::Place(place) => self.name(*place),
        }
    }

    fn term(&self, record: &Record, operand: &Operand) -> Term {
        match operand {
            Operand::Constant(value) => Term::constant(*value),
            Operand::Place(place) => Term::name(self.name(*place), record.entries.get(*place).map_or(f64::NAN, Entry::value)),
        }
    }
}

/// `[t1, (t2, 3)]`; of a recursive type the Doubles alone.
fn result(value: &Value<Operand>, names: &Names) -> String {
    let list = |items: &[Value<Operand>]| items.iter().map(|item| result(item, names)).collect::<Vec<_>>().join(", ");
    match value {
        Value::Double(operand) => names.operand(operand),
        Value::Index(value) => value.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Tuple(parts) => format!("({})", list(parts)),
        Value::Array(array) => format!("[{}]", list(&array.items)),
        Value::Rolled(_) => {
            let mut doubles = Vec::new();
            value.each_double(&mut |operand| doubles.push(names.operand(operand)));
            format!("[{}]", doubles.join(", "))
        }
    }
}
