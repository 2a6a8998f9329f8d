//! "Show derivative" above a declaration, and the text that it opens.
//!
//! In: an analysis; the name of an entry and what is wanted of it. Out: the lenses; a program after all rules, with its cost.
//!
//!     let loss (v: Vector<n>) : Double = …   →   show derivative | show optimised

use lsp_types::{CodeLens, Command, Url};
use serde_json::json;

use super::analysis::{Analysis, MAIN};
use super::documents::Files;
use crate::diagnostic::{Diagnostic, Severity};
use crate::driver::{Options, Session};
use crate::explain::cost;
use crate::ir::Var;
use crate::source::{SourceMap, Span};
use crate::types::{Derive, Kind, Parameters};

/// The commands, as clients call them.
pub const SHOW_DERIVATIVE: &str = "smoothc.showDerivative";
pub const SHOW_OPTIMISED: &str = "smoothc.showOptimised";

/// The lenses of what is right of a text: of each entry its optimised program, and its derivative where it takes and gives Doubles.
pub fn lenses(analysis: &Analysis, uri: &Url, files: &Files) -> Vec<CodeLens> {
    let analysis = analysis.sound(files);
    let Some(program) = &analysis.surveyed.program else { return Vec::new() };
    let mut lenses = Vec::new();
    for global in analysis.modules.globals.iter().filter(|global| global.decl.name.span.file == MAIN) {
        let name = &global.decl.name;
        let Some(function) = program.functions.get(&name.text).filter(|function| function.is_entry) else { continue };
        let mut signature = function.params.iter().map(Var::ty).chain([&function.result]);
        // after the rules there are no trees that entries take or give
        if signature.any(|ty| ty.recursive().is_some()) {
            continue;
        }
        let mut add = |title: &str, command: &str| {
            let command =
                Command { title: title.to_string(), command: command.to_string(), arguments: Some(vec![json!(uri), json!(&*name.text)]) };
            lenses.push(CodeLens { range: analysis.range(name.span), command: Some(command), data: None });
        };
        if function.params.iter().any(|param| param.ty().has_double()) && function.result.has_double() {
            add("show derivative", SHOW_DERIVATIVE);
        }
        add("show optimised", SHOW_OPTIMISED);
    }
    lenses
}

/// A program to show, or why there is none.
pub type Shown = Result<String, String>;
/// What makes one: from the name and the text of a file, an entry, and the files that it opens.
pub type Show = fn(&str, &str, &str, &Files) -> Shown;

/// The derivative of an entry in all its parameters: the gradient of a Double, else the Jacobian, else a direction.
pub fn derivative(name: &str, text: &str, entry: &str, files: &Files) -> Shown {
    let mut first = None;
    for kind in [Kind::Gradient, Kind::Jacobian, Kind::Jvp] {
        let derive = Derive { kind, function: entry.to_string(), parameters: Parameters::All };
        let wanted = derive.entry();
        let options = Options { derive: vec![derive], only: Some(wanted.clone()), ..Options::default() };
        let what = format!("The {} of `{entry}` in all its parameters", kind.name());
        match optimised(name, text, &wanted, &what, options, files) {
            Ok(shown) => return Ok(shown),
            Err(problem) => first = first.or(Some(problem)),
        }
    }
    Err(first.unwrap_or_default())
}

/// An entry after all rules.
pub fn optimised_entry(name: &str, text: &str, entry: &str, files: &Files) -> Shown {
    let options = Options { only: Some(entry.to_string()), ..Options::default() };
    optimised(name, text, entry, &format!("`{entry}`"), options, files)
}

fn optimised(name: &str, text: &str, entry: &str, what: &str, options: Options, files: &Files) -> Shown {
    let session = run(name, text, options, files)?;
    let cost = cost::of_entry(&session.program, entry).text();
    Ok(format!("// {what}, after the rules of the schedule `default`.\n// cost: {cost}\n\n{}", session.print("rewrite")))
}

/// What an entry costs after all rules.
pub fn entry_cost(name: &str, text: &str, entry: &str, files: &Files) -> Result<String, String> {
    let options = Options { only: Some(entry.to_string()), ..Options::default() };
    run(name, text, options, files).map(|session| cost::of_entry(&session.program, entry).text())
}

fn run(name: &str, text: &str, options: Options, files: &Files) -> Result<Session, String> {
    let mut session = Session::new(name, text, options);
    match session.run_to("rewrite", &mut |path, from| files.load(path, from)) {
        Ok(()) => Ok(session),
        Err(problems) => {
            // warnings come with the errors, in the order of their places
            let error = problems.iter().find(|problem| problem.severity == Severity::Error);
            let unknown = session.options.derive.first().filter(|_| error.is_some_and(|problem| problem.code == "E0205"));
            Err(match (unknown, error) {
                (Some(derive), _) => format!("there is no entry `{}`", derive.function),
                (None, Some(problem)) => said(problem, &session.sources),
                (None, None) => String::new(),
            })
        }
    }
}

/// A diagnostic in one line.
fn said(problem: &Diagnostic, sources: &SourceMap) -> String {
    let place = match problem.span {
        Span::NONE => String::new(),
        span => sources.line_column(span).map(|(line, column)| format!(" at {line}:{column}")).unwrap_or_default(),
    };
    format!("{}{place}: {}", problem.code, problem.message)
}
