//! The pages in `docs/` that follow from the program: the lists of rules and diagnostics, the library, the tables of the ablation study
//! and of the first paper's experiments, and those of what each rule, phase and pass is worth.
//!
//! `UPDATE_DOCS=1 cargo test --test suite docs::` writes the rules, the diagnostics and the library; `cargo run --release --example
//! ablation` writes the tables of that study, whose times nobody checks, `cargo bench --bench experiments` and `cargo bench --bench
//! passes` the others. What the pages say in blocks is run by `tests/suite/readme.rs`.

use smoothc::cli::{args, pages};
use smoothc::ir::Prim;
use smoothc::ir::prim::{Derivative, Kind, ROWS, Row};
use smoothc::rewrite::rule::{Apply, OWN, Part, Rule};
use smoothc::rewrite::{law, rules, strategy};
use smoothc::source::Span;
use smoothc::stack::with_large_stack;
use smoothc::toolchain::call;
use smoothc::toolchain::compiler::Arithmetic;
use smoothc::types::library;

use crate::support::worth::{LeftOut, MODES, Typed};
use crate::support::worth_page::{self, Change};
use crate::support::{ablation, experiments, worth, worth_loops};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn page(name: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/docs/{name}")).expect("a page")
}

/// What stands between two marks in a file of the repository.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).and_then(|(_, rest)| rest.split_once(to)).unwrap_or_else(|| panic!("no {from}")).0
}

fn source(path: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/{path}")).expect("a source file")
}

#[test]
fn the_language_page_has_every_form_word_and_warning() {
    let language = page("language.md");
    let words: Vec<&str> = language.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let (forms, grammar) = (source("src/types/builtin.rs"), source("src/syntax/grammar.pest"));
    let forms = between(&forms, "pub const APIS", "];").lines().filter_map(|line| line.trim().strip_prefix("(\"")?.split_once('"'));
    let reserved = between(&grammar, "reserved  = _{", "}").split('"').skip(1).step_by(2);
    let pages = ["syntax", "meaning", "using"].map(|name| source(&format!("src/cli/pages/{name}.rs"))).concat();
    let warnings = pages.split('"').filter(|code| code.len() == 5 && code.starts_with("W0"));
    let names: Vec<&str> = forms.map(|form| form.0).chain(reserved).chain(warnings).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        assert!(words.contains(&name), "docs/language.md has no `{name}`");
    }
}

/// The parts of the list, in the order of Figure 8 of the first paper.
const PARTS: [(Part, &str); 7] = [
    (Part::Lambda, "Lets, calls, code motion and sharing"),
    (Part::Ring, "Arithmetic"),
    (Part::Fusion, "Fusion of arrays"),
    (Part::Conditional, "Conditions"),
    (Part::Tuple, "Tuples"),
    (Part::Loop, "Loops"),
    (Part::Fission, "Loops over tuples"),
];

/// What a law demands beside its left side; none for several equations, each of which shows its own.
fn condition(law: &str) -> (&str, String) {
    match law.rsplit_once(" if ") {
        Some((equation, condition)) if !law.contains("; ") && equation.contains("->") && !condition.contains(" then ") => {
            (equation, condition.to_string())
        }
        _ => (law, String::new()),
    }
}

fn row(rule: &Rule) -> String {
    let (equation, condition) = match &rule.apply {
        Apply::Law(_) => condition(rule.law),
        Apply::Function(_) => {
            let conditions = rule.conditions.join("; ");
            (rule.law.strip_suffix(&format!(" if {conditions}")).unwrap_or(rule.law), conditions)
        }
    };
    let group = rule.group.map(|group| group.name()).unwrap_or_default();
    let schedules: Vec<&str> = strategy::BUILTIN
        .iter()
        .filter(|(_, text)| text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).any(|word| word == rule.name))
        .map(|(name, _)| *name)
        .collect();
    let condition = condition.replace('|', "\\|");
    format!("| {} | {} | {} | {condition} | {group} | {} |\n", rule.name, rule.source, code(equation), schedules.join(", "))
}

fn list() -> String {
    let mut text = String::from("A condition asks of a metavariable that its term …\n\n| | |\n| --- | --- |\n");
    for (name, meaning) in law::conditions() {
        text += &format!("| `{name}` | {meaning} |\n");
    }
    let (all, own) = (rules::all().count(), rules::all().filter(|rule| rule.source == OWN).count());
    text += &format!("\nOf {all} rules {} are printed in a paper and {own} are smoothc's own.\n", all - own);
    for (part, title) in PARTS {
        text += &format!("\n### {title}\n\n| rule | source | law | only if | group | schedules |\n| --- | --- | --- | --- | --- | --- |\n");
        text += &rules::all().filter(|rule| rule.part == part).map(row).collect::<String>();
    }
    text
}

/// Holds what follows the mark of a page against the text that the program makes.
fn follows_from_the_program(name: &str, made: &str) {
    let document = page(name);
    let (head, _) = document.split_once("<!-- from here on").expect("the mark");
    let truth = format!("{head}<!-- from here on: UPDATE_DOCS=1 cargo test --test suite docs:: -->\n\n{made}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return std::fs::write(format!("{ROOT}/docs/{name}"), truth).expect("writes");
    }
    assert_eq!(document, truth, "UPDATE_DOCS=1 cargo test --test suite docs:: writes it");
}

#[test]
fn the_list_of_rules_is_that_of_the_program() {
    follows_from_the_program("rules.md", &list());
}

/// Where a code comes from, by its first two digits.
const ORIGINS: [(&str, &str); 10] = [
    ("00", "Files and the command line"),
    ("01", "Syntax"),
    ("02", "Names"),
    ("03", "Types"),
    ("04", "Sizes"),
    ("05", "Differentiation"),
    ("06", "What is not supported"),
    ("07", "Errors at run time"),
    ("08", "Arguments, and what commands compare"),
    ("09", "Tools and internal errors"),
];

#[test]
fn the_list_of_diagnostics_is_that_of_the_program() {
    let mut pages: Vec<_> = pages::all().collect();
    pages.sort_unstable_by_key(|page| page.code);
    let list = |(digits, title): (&str, &str)| {
        let rows = pages.iter().filter(|page| page.code.get(1..3) == Some(digits));
        let rows: String = rows.map(|page| format!("| `{}` | {} |\n", page.code, page.title.replace('|', "\\|"))).collect();
        format!("### {digits}: {title}\n\n| code | |\n| --- | --- |\n{rows}")
    };
    let lists = ORIGINS.map(list).join("\n");
    assert_eq!(lists.matches("\n| `").count(), pages.len(), "a code begins with other digits");
    follows_from_the_program("diagnostics.md", &lists);
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{}`", text.replace('|', "\\|")) }
}

/// What a primitive takes and gives.
fn takes(row: &Row) -> String {
    let (operand, result) = match row.kind {
        Kind::Number => ("number", "number"),
        Kind::Double => ("Double", "Double"),
        Kind::Index => ("Index", "Index"),
        Kind::Order => ("number", "Bool"),
        Kind::Equality => ("number or Bool", "Bool"),
        Kind::Bool => ("Bool", "Bool"),
        Kind::IndexToDouble => ("Index", "Double"),
        Kind::DoubleToIndex => ("Double", "Index"),
        Kind::IndexDoubleToDouble => ("Index, Double", "Double"),
    };
    let operands = if row.arity == 2 && row.kind != Kind::IndexDoubleToDouble { format!("two of {operand}") } else { operand.into() };
    format!("{operands} to {result}")
}

/// How tangents go through a primitive.
fn tangent(row: &Row) -> String {
    match row.derivative {
        Derivative::Zero => "none".into(),
        Derivative::Unary(law) => code(law),
        Derivative::Binary { both, .. } => code(both),
    }
}

fn library_list() -> String {
    let mut text = String::from("## Functions of the library\n\n| function | parameters and result | |\n| --- | --- | --- |\n");
    for function in library().expect("the library is well-typed") {
        let doc = function.doc.replace('|', "\\|").replace('\n', " ");
        text += &format!("| `{}` | {} | {doc} |\n", function.name, code(&function.signature));
    }
    text += "\n## Primitives\n\n| | takes and gives | tangent of the result |\n| --- | --- | --- |\n";
    // `polygamma` is what the derivatives of `lgamma` are; it is no name of the language
    for row in ROWS.iter().filter(|row| row.prim != Prim::Polygamma) {
        text += &format!("| {} | {} | {} |\n", code(row.name), takes(row), tangent(row));
    }
    text
}

#[test]
fn the_list_of_the_library_is_that_of_the_program() {
    with_large_stack(|| follows_from_the_program("library.md", &library_list()));
}

#[test]
fn the_ablation_study_counts_what_the_program_does() {
    let document = page("ablation.md");
    with_large_stack(move || {
        for example in &ablation::EXAMPLES {
            for left_out in ablation::sets() {
                let row = ablation::cells(&ablation::row(example, left_out));
                assert!(
                    document.lines().any(|line| line.starts_with(&row)),
                    "{}: {row} is not in docs/ablation.md; cargo run --example ablation writes it",
                    example.name
                );
            }
        }
    });
}

#[test]
fn the_experiments_count_what_the_program_does() {
    let document = page("paper-experiments.md");
    with_large_stack(move || {
        for experiment in &experiments::EXPERIMENTS {
            let example = &experiment.example;
            let (_, section) = document.split_once(&format!("\n## {}\n", example.name)).unwrap_or_else(|| panic!("no {}", example.name));
            let unrolling = if example.entry == "jacobianAll" { &experiments::UNROLLING[..] } else { &[] };
            for (step, left_out) in experiments::STEPS.iter().chain(unrolling) {
                let row = experiments::cells(example, step, left_out);
                let rows = section.lines().take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with(&row));
                assert_eq!(
                    rows.count(),
                    1,
                    "{}: {row} is not in docs/paper-experiments.md; cargo bench --bench experiments writes it",
                    example.name
                );
            }
        }
    });
}

/// What the page calls an array is one of the program, and where it is kept changes no number.
#[test]
fn intermediate_arrays_may_be_on_the_heap() {
    with_large_stack(|| {
        let example = &experiments::EXPERIMENTS[4].example;
        let session = experiments::emitted(example, experiments::STEPS[0].1);
        let c = &session.emitted().expect("C").source;
        let (on_the_heap, arrays) = experiments::on_the_heap(c);
        assert_eq!((arrays, on_the_heap.matches(" HEAP = malloc(").count()), (7, 7), "{on_the_heap}");
        let found = [c, &on_the_heap].map(|c| {
            let function = session.entry(example.entry).expect("an entry");
            let read = args::read(function, &(example.arguments)(5)).expect("arguments");
            let interface = session.interface(example.entry).expect("an interface");
            let loaded = call::load(c, Arithmetic::Fast, interface, Span::NONE).expect("a C compiler");
            loaded.call(&read.values, &read.bindings).expect("a value")
        });
        assert_eq!(found[0], found[1]);
    });
}

const MAKE_PASSES: &str = "cargo bench --bench passes writes docs/passes.md";

/// The rows of a section of docs/passes.md.
fn worth_rows(title: &str) -> Vec<(String, Vec<String>)> {
    let page = page("passes.md");
    let (_, rest) = page.split_once(&format!("\n## {title}\n")).unwrap_or_else(|| panic!("no section {title}"));
    worth_page::rows(rest.split_once("\n## ").map_or(rest, |(section, _)| section))
}

fn worth_names(title: &str) -> Vec<String> {
    worth_rows(title).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn every_rule_phase_and_pass_has_a_row_that_says_its_worth() {
    let rules: Vec<&str> = worth::default_rules().iter().map(|rule| rule.name).collect();
    let passes: Vec<&str> = worth_loops::optional_passes().map(|pass| pass.name).collect();
    assert_eq!(worth_names("Rules"), rules, "{MAKE_PASSES}");
    assert_eq!(worth_names("Phases"), worth::phases(), "{MAKE_PASSES}");
    assert_eq!(worth_names("Passes over loops"), passes, "{MAKE_PASSES}");
    let files = worth::files();
    let mut named = 0;
    for (row, cells) in ["Rules", "Phases", "Passes over loops"].into_iter().flat_map(worth_rows) {
        for cell in cells {
            let Some(change) = worth_page::worst(&cell) else {
                assert!(!cell.contains('('), "`{row}`: the cell `{cell}` cannot be read");
                continue;
            };
            named += 1;
            let path = worth_page::path_of(&change.label);
            assert!(files.contains(&path), "`{row}` names {path}, which is not there; {MAKE_PASSES}");
            assert!(change.without.is_none_or(|without| without > change.with), "`{row}`: {cell}");
        }
    }
    assert!(named > 200, "only {named} programs are named");
}

/// The program of a change, and the mode after its name; forward where it has no choice.
fn program_and_mode(label: &str) -> (Typed, usize) {
    let mode = MODES.iter().position(|(name, _)| label.ends_with(&format!("({name})"))).unwrap_or(0);
    (Typed::read(&worth_page::path_of(label)), mode)
}

/// Measures the cells of a row of rules or phases again: forward, reverse, the cheaper, nodes.
fn rule_or_phase_is_worth(left_out: &LeftOut, cells: &[String]) -> usize {
    const CHEAPER: usize = 2;
    let mut measured = 0;
    for (column, cell) in cells.iter().enumerate() {
        let Some(change) = worth_page::worst(cell) else { continue };
        let (typed, mode) = program_and_mode(&change.label);
        let operations =
            |left_out: &LeftOut, mode: usize| typed.measured(left_out, MODES[mode].1).ok()?.entries.get(&change.label).copied();
        let count = |left_out: &LeftOut| match column {
            0 | 1 => operations(left_out, column),
            CHEAPER => [0, 1].into_iter().filter_map(|mode| operations(left_out, mode)).min(),
            _ => Some(typed.measured(left_out, MODES[mode].1).ok()?.nodes),
        };
        let found = Change { label: change.label.clone(), with: count(&LeftOut::Nothing).expect("a count"), without: count(left_out) };
        assert_eq!(found, change, "{left_out:?}, column {column}: {MAKE_PASSES}");
        measured += 1;
    }
    measured
}

/// Every so many rows are measured again.
const SAMPLE: usize = 12;

#[test]
fn a_sample_of_what_rules_phases_and_passes_are_worth_is_true() {
    with_large_stack(|| {
        let mut measured = 0;
        for (name, cells) in worth_rows("Rules").into_iter().step_by(SAMPLE) {
            measured += rule_or_phase_is_worth(&LeftOut::Rule(name), &cells);
        }
        for (number, (_, cells)) in worth_rows("Phases").into_iter().enumerate().skip(2).step_by(SAMPLE) {
            measured += rule_or_phase_is_worth(&LeftOut::Phase(number), &cells);
        }
        for (name, cells) in worth_rows("Passes over loops").into_iter().step_by(SAMPLE / 2) {
            for (column, cell) in cells.iter().enumerate() {
                let Some(change) = worth_page::worst(cell) else { continue };
                let (typed, mode) = program_and_mode(&change.label);
                let session = typed.compiled(worth::options(&LeftOut::Nothing, MODES[mode].1), "rewrite").expect("a program");
                let count = |left_out| worth_loops::work(&session, left_out).columns()[column];
                let found = Change { label: change.label.clone(), with: count(None), without: Some(count(Some(name.as_str()))) };
                assert_eq!(found, change, "{name}: {MAKE_PASSES}");
                measured += 1;
            }
        }
        assert!(measured >= 12, "only {measured} cells were measured");
    });
}
