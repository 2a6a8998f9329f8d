//! Reverse derivatives, by five ways that share nothing but the primitives' rows: what disagrees.
//!
//! In: a source text, entries with words. Out: failures, by kind. The meaning is `ir::eval` by columns; held against it are
//! the program that `ad` makes in reverse mode and the one of forward mode, both optimised; dual numbers with backpropagators;
//! and the trace: that of an entry without derivative ends in its value to the last bit, the adjoints of one that is a derivative
//! form are its derivative. Dual numbers also fail as the meaning does.

use smoothc::cli::args::{self, Arguments};
use smoothc::cli::values::{from_flat, to_flat};
use smoothc::driver::{Options, Schedule, Session};
use smoothc::ir::eval::{self, ErrorKind, Operand, Record, Reverse, Value};
use smoothc::ir::{Expr, Program as Core, Term};
use smoothc::mode::Mode;
use smoothc::toolchain::flat::Column;
use smoothc::trace::Trace;
use smoothc::types::Derive;

use super::engine::{
    Case, Failure, Meaning, at, derived_name, differentiable, direction, disagreement, explained, guarded, interpret, json, tolerance,
};
use super::program::Program;

/// How much was held against the meaning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    pub values: usize,
    pub errors: usize,
    /// Adjoints of traces.
    pub adjoints: usize,
    pub ill_conditioned: usize,
    /// Calls with a value in the partial meaning, and those that are undefined in it alone.
    pub defined: usize,
    pub undefined: usize,
}

impl Held {
    pub fn add(&mut self, other: &Held) {
        self.values += other.values;
        self.errors += other.errors;
        self.adjoints += other.adjoints;
        self.ill_conditioned += other.ill_conditioned;
        self.defined += other.defined;
        self.undefined += other.undefined;
    }
}

/// The program in every form in which it is run.
pub struct Forms {
    pub typed: Core,
    /// Where the gradient in a Double is a `vjp` too.
    kept: Core,
    modes: Vec<(&'static str, Core)>,
}

/// Opens a file: path, and from where.
pub type Open<'a> = &'a dyn Fn(&str, &str) -> Result<(String, String), String>;

impl Forms {
    pub fn of(path: &str, source: &str, options: &Options, open: Open) -> Result<Forms, Failure> {
        let run = |stage: &str, options: Options| {
            let mut session = Session::new(path, source, options);
            guarded(stage, || {
                session.run_to(stage, &mut |path, from| open(path, from)).map_err(|problems| Failure::of(stage, &problems, source))
            })?;
            Ok(session.program)
        };
        let plain = || options.clone();
        let mode = |mode| Options { mode, schedule: Schedule::Named("default".into()), ..plain() };
        Ok(Forms {
            typed: run("types", plain())?,
            kept: run("types", Options { keep_gradients: true, ..plain() })?,
            modes: vec![("reverse", run("rewrite", mode(Mode::Reverse))?), ("forward", run("rewrite", mode(Mode::Forward))?)],
        })
    }

    /// Every way of one call.
    pub fn check(&self, entry: &str, words: &[String], held: &mut Held) -> Result<Vec<Failure>, Failure> {
        let arguments = self.arguments(entry, words)?;
        let meaning = interpret(&self.typed, entry, &arguments)?;
        let case = Case { program: 0, entry: entry.into(), words: words.to_vec(), arguments, meaning };
        let mut failures = Vec::new();
        for (name, program) in &self.modes {
            self.compare(name, &case, interpret(program, entry, &case.arguments), held, &mut failures);
        }
        let dual = self.with(&case, |inputs| eval::eval_by(&self.kept, entry, inputs, Reverse::DualNumbers));
        self.compare("dual numbers", &case, dual.clone(), held, &mut failures);
        if let (Err(expected), Ok(found)) = (&case.meaning, &dual) {
            held.errors += 1;
            let kind = found.as_ref().err().map(|error| error.kind);
            if kind != Some(expected.kind) {
                let detail = format!("{kind:?}, not {:?}: {}", expected.kind, expected.message);
                failures.push(Failure::new("dual numbers no error", at(&case, &detail)));
            }
        }
        if let Ok(outcome) = &case.meaning {
            held.values += 1;
            let record = self.with(&case, |inputs| eval::record(&self.kept, entry, inputs));
            match record {
                Ok(Ok(record)) => self.trace(&case, &outcome.value, &record, held, &mut failures)?,
                Ok(Err(error)) => failures.push(Failure::new("trace error", at(&case, &error.message))),
                Err(failure) => failures.push(Failure::new(&failure.kind, at(&case, &failure.detail))),
            }
        }
        Ok(failures)
    }

    /// The partial meaning of one call: where it has a value, it is the total one's, and every way of the call agrees.
    pub fn partial(&self, entry: &str, words: &[String], held: &mut Held) -> Result<Vec<Failure>, Failure> {
        let arguments = self.arguments(entry, words)?;
        let inputs = || arguments.values.iter().map(from_flat).collect();
        let case = |meaning| Case { program: 0, entry: entry.into(), words: words.to_vec(), arguments: arguments.clone(), meaning };
        let mut failures = Vec::new();
        for reverse in [Reverse::Columns, Reverse::DualNumbers] {
            let total = guarded("eval", || Ok(eval::eval_by(&self.kept, entry, inputs(), reverse)))?;
            let partial = guarded("eval", || Ok(eval::eval_partial(&self.kept, entry, inputs(), reverse)))?;
            match (&total, &partial) {
                (Ok(total), Ok(partial)) => {
                    held.defined += 1;
                    let (a, b) = (total.value.doubles(), partial.value.doubles());
                    if a.len() != b.len() || a.iter().zip(&b).any(|(a, b)| a.to_bits() != b.to_bits()) {
                        failures.push(Failure::new("partial value", at(&case(Ok(total.clone())), &format!("{b:?}, not {a:?}"))));
                    }
                }
                (_, Err(error)) if error.kind == ErrorKind::Undefined => {
                    held.undefined += usize::from(total.is_ok());
                    return Ok(failures);
                }
                (Err(expected), Err(found)) if expected.kind == found.kind => return Ok(failures),
                (expected, found) => {
                    let detail = format!("{found:?}, not {expected:?}");
                    failures.push(Failure::new("partial error", at(&case(expected.clone()), &detail)));
                }
            }
        }
        failures.extend(self.check(entry, words, held)?);
        Ok(failures)
    }

    fn arguments(&self, entry: &str, words: &[String]) -> Result<Arguments, Failure> {
        let function = self.typed.functions.get(entry).ok_or_else(|| Failure::new("types entry", format!("no entry {entry}")))?;
        args::read(function, words).map_err(|problems| Failure::of("arguments", &problems, ""))
    }

    fn with<T>(&self, case: &Case, run: impl FnOnce(Vec<Value>) -> T) -> Result<T, Failure> {
        let inputs = case.arguments.values.iter().map(from_flat).collect();
        guarded("eval", || Ok(run(inputs)))
    }

    fn compare(&self, name: &str, case: &Case, found: Result<Meaning, Failure>, held: &mut Held, failures: &mut Vec<Failure>) {
        let mut report = |kind: &str, detail: &str| failures.push(Failure::new(&format!("{name} {kind}"), at(case, detail)));
        match (&case.meaning, found) {
            (_, Err(failure)) => report(&failure.kind, &failure.detail),
            (Ok(expected), Ok(Ok(found))) => {
                let (columns, found) = (to_flat(&expected.value).columns, to_flat(&found.value).columns);
                if let Some(detail) = disagreement(&columns, &found, tolerance(expected), false) {
                    if explained(&self.typed, case, &found) { held.ill_conditioned += 1 } else { report("value", &detail) }
                }
            }
            (Ok(_), Ok(Err(error))) => report("error", &error.message),
            // an optimised program may drop an error with a value that nobody needs
            (Err(_), Ok(_)) => {}
        }
    }

    fn trace(&self, case: &Case, value: &Value, record: &Record, held: &mut Held, failures: &mut Vec<Failure>) -> Result<(), Failure> {
        let Ok(expected) = &case.meaning else { return Ok(()) };
        let trace = guarded("trace", || Trace::of(record).map_err(|problem| Failure::of("trace", &[problem], "")))?;
        let (found, wanted) = match (&trace.adjoint, form(&self.kept.functions[&*case.entry].body)) {
            // gradients in a Double are other operations here
            (None, _) => {
                let kept = self.with(case, |inputs| eval::eval(&self.kept, &case.entry, inputs))?;
                let wanted = kept.map_or(Vec::new(), |outcome| outcome.value.doubles());
                let found = values(&record.result, record);
                let same = found.len() == wanted.len() && found.iter().zip(&wanted).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan());
                if !same {
                    failures.push(Failure::new("trace value", at(case, &format!("{found:?}, not {wanted:?}"))));
                }
                return Ok(());
            }
            (Some(adjoint), Some(Form::Derivative)) => (adjoint.values.clone(), value.doubles()),
            (Some(adjoint), Some(Form::Both)) => ([values(&record.result, record), adjoint.values.clone()].concat(), value.doubles()),
            (Some(_), None) => return Ok(()),
        };
        held.adjoints += 1;
        let (wanted, found) = ([Column::Double(wanted)], [Column::Double(found)]);
        if let Some(detail) = disagreement(&wanted, &found, tolerance(expected), false) {
            let whole = to_flat(&expected.value).columns;
            let is_explained = whole.len() == 1 && explained(&self.typed, case, &found);
            if is_explained { held.ill_conditioned += 1 } else { failures.push(Failure::new("trace adjoint", at(case, &detail))) }
        }
        Ok(())
    }
}

/// What an entry that is a derivative form gives.
enum Form {
    Derivative,
    Both,
}

/// The form that an entry is, where nothing before it differentiates.
fn form(body: &Expr) -> Option<Form> {
    match body.term() {
        Term::Let(_, value, body) if !calls(value) => form(body),
        Term::Check { body, .. } => form(body),
        Term::Proj(vjp, 1) if matches!(vjp.term(), Term::Vjp { .. }) => form(vjp).map(|_| Form::Derivative),
        Term::Vjp { at, cotangent, .. } if !calls(at) && !calls(cotangent) => Some(Form::Both),
        _ => None,
    }
}

fn calls(expr: &Expr) -> bool {
    matches!(expr.term(), Term::Call(..) | Term::Vjp { .. } | Term::Dual { .. }) || expr.term().children().any(calls)
}

/// The Doubles of a recorded result.
fn values(result: &Value<Operand>, record: &Record) -> Vec<f64> {
    match result {
        Value::Double(Operand::Constant(value)) => vec![*value],
        Value::Double(Operand::Place(place)) => vec![record.entries[*place].value()],
        Value::Index(_) | Value::Bool(_) => Vec::new(),
        Value::Tuple(_) | Value::Array(_) | Value::Rolled(_) => result.items().iter().flat_map(|item| values(item, record)).collect(),
    }
}

/// A generated program and its reverse derivative, at the program's own inputs.
pub fn check_program(program: &Program, held: &mut Held) -> Result<Vec<Failure>, Failure> {
    each_call(program, held, &Forms::check)
}

/// The same in the partial meaning.
pub fn partial_program(program: &Program, held: &mut Held) -> Result<Vec<Failure>, Failure> {
    each_call(program, held, &Forms::partial)
}

/// One way of looking at a call.
type Check<'a> = &'a dyn Fn(&Forms, &str, &[String], &mut Held) -> Result<Vec<Failure>, Failure>;

fn each_call(program: &Program, held: &mut Held, check: Check) -> Result<Vec<Failure>, Failure> {
    let derived = differentiable(program).map(|(_, text)| text.replacen("jvp:", "vjp:", 1));
    let derive: Vec<Derive> = derived.iter().map(|text| Derive::parse(text).expect("a derivative")).collect();
    // laws of real numbers promise nothing outside the domains
    let disabled = if program.wild { vec!["algebra".to_string()] } else { Vec::new() };
    let options = Options { entries: vec![program.entry().name.to_string()], derive, disabled, ..Options::default() };
    let forms = Forms::of("program.smooth", &program.text(), &options, &|_, _| Err("no files".into()))?;
    let entry = program.entry().name.to_string();
    let mut failures = Vec::new();
    for words in &program.inputs {
        failures.extend(check(&forms, &entry, words, held)?);
        if derived.is_none() {
            continue;
        }
        // a cotangent as the result is, whose values are others
        let Ok(outcome) = interpret(&forms.typed, &entry, &forms.arguments(&entry, words)?)? else { continue };
        let words: Vec<String> = words.iter().cloned().chain([direction(&json(&outcome.value))]).collect();
        failures.extend(check(&forms, &derived_name(&forms.typed, &entry, "vjp"), &words, held)?);
    }
    Ok(failures)
}
