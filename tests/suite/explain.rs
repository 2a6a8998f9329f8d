//! `smoothc explain FILE ENTRY`: the text of derivations in `snapshots/explain`, costs against counts, and the page.
//!
//!     INSTA_UPDATE=always cargo test --test suite explain::

// other tests use the rest

use smoothc::driver::{Options, Schedule, Session};
use smoothc::explain::{self, Explanation, Source, cost, html, text};
use smoothc::ir::eval::{Counts, Value, eval};
use smoothc::ir::{Program, Size, Type, print};
use smoothc::rewrite::alike::same;
use smoothc::stack::with_large_stack;

use crate::support::command::smoothc;
use crate::support::{cases, engine, snapshot, sources};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The derivation of an entry, with all steps.
fn explanation(file: &str, program: &str, entry: &str, schedule: &str) -> Explanation {
    let options = Options {
        schedule: Schedule::Named(schedule.into()),
        only: Some(entry.into()),
        record: true,
        derive: Vec::new(),
        ..Options::default()
    };
    let mut session = Session::new(file, program, options);
    session.run_to("rewrite", &mut sources::open).unwrap_or_else(|problems| panic!("{problems:?}"));
    let (before, derivation) = session.derivation.as_ref().expect("recorded");
    let (sources, main) = (&session.sources, session.main);
    explain::explain(&Source { entry, schedule, choices: &[], before, derivation, sources, main, steps: usize::MAX })
}

fn example(name: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/examples/{name}.smooth")).expect("an example")
}

const DOT: &str = "/// The slope of a dot product.\nlet slope (v: Vector<n>) (w: Vector<n>) = gradient (fun x -> vectorDot x w) v\n";

#[test]
fn derivations_are_as_in_the_snapshots() {
    with_large_stack(|| {
        for (name, file, program, entry, schedule, all) in [
            ("dot", "dot.smooth", DOT.to_string(), "slope", "default", true),
            ("dot_paper", "dot.smooth", DOT.to_string(), "slope", "paper", false),
            ("nnmf", "nnmf.smooth", example("nnmf"), "gradientU", "default", false),
        ] {
            let explanation = explanation(file, &program, entry, schedule);
            snapshot::holds("explain", name, &text::text(&explanation, all));
        }
    });
}

#[test]
fn every_step_changes_something_and_keeps_the_type() {
    with_large_stack(|| {
        let mut steps = 0;
        for example in cases::all() {
            let options = Options { record: true, ..Options::default() };
            let mut session = Session::new(&example.path, &example.text, options);
            session.run_to("rewrite", &mut sources::open).unwrap_or_else(|problems| panic!("{problems:?}"));
            let (_, derivation) = session.derivation.as_ref().expect("recorded");
            for step in derivation.phases.iter().flat_map(|phase| &phase.steps) {
                let (before, after) = (print::expr(&step.before), print::expr(&step.after));
                assert!(!same(&step.before, &step.after), "{}: {} leaves {before}", example.path, step.rule);
                assert!(step.before.ty().same_shape(step.after.ty()), "{}: {} makes {after} of {before}", example.path, step.rule);
                steps += 1;
            }
        }
        assert!(steps > 1000, "{steps} steps");
    });
}

/// Programs and sizes: the polynomial against what the interpreter counts. `exact` ones have no branches.
const COUNTED: &[(&str, bool)] = &[
    ("let f (v: Vector<n>) (w: Vector<n>) = vectorDot v w", true),
    ("let f (v: Vector<n>) (w: Vector<n>) = vectorMap2 v w (fun a b -> a * b + sin a)", true),
    ("let f (v: Vector<n>) (M: Matrix<n, m>) = matrixSum (matrixMul (matrixTranspose M) M)", true),
    ("let f (v: Vector<n>) (M: Matrix<n, m>) = vectorOutProd v (matrixVectorMul (matrixTranspose M) v)", true),
    ("let f (v: Vector<n>) (M: Matrix<n, m>) = build (2 * length v) (fun i -> M[i / 2])", true),
    ("let f (v: Vector<n>) (M: Matrix<n, m>) = ifold (fun (a, b) i -> (a + v[i], b - a)) (0.0, 1.0) (length v)", true),
    ("let f (v: Vector<n>) (M: Matrix<n, m>) = [v[0] ** 2.0, v[1] / v[0], 3.0]", true),
    ("let f (v: Vector<n>) (M: Matrix<n, m>) = let k = length v * 3 in build k (fun i -> build k (fun j -> 1.0))", true),
    ("let f (v: Vector<n>) (M: Matrix<n, m>) = gradient (fun x -> vectorSqNorm x) v", false),
    ("let f (v: Vector<n>) (M: Matrix<n, m>) = build (length v) (fun i -> ifold (fun s j -> s + v[j]) 0.0 i)", false),
    ("let f (v: Vector<n>) (M: Matrix<n, m>) = vectorMap v (fun x -> if x < 1.0 && x > 0.0 then sin x + x else x)", false),
    ("let f (v: Vector<n>) (M: Matrix<n, m>) = vectorMax v", true),
];

fn vector(n: i64) -> Value {
    use smoothc::ir::eval::{Array, Shape};
    let items = (0..n).map(|i| Value::Double(0.5 + 0.25 * i as f64)).collect();
    Value::Array(std::rc::Rc::new(Array { element: Shape::Double, items }))
}

fn matrix(n: i64, m: i64) -> Value {
    use smoothc::ir::eval::{Array, Shape};
    let items = (0..n).map(|_| vector(m)).collect();
    Value::Array(std::rc::Rc::new(Array { element: Shape::array(Shape::Double, m as usize), items }))
}

fn arguments(program: &Program, n: i64, m: i64) -> Vec<Value> {
    let params = &program.functions.get("f").expect("f").params;
    params.iter().map(|param| if param.ty().dims().len() == 2 { matrix(n, m) } else { vector(n) }).collect()
}

/// The polynomial's value at these sizes, by name.
fn at(size: &Size, n: i64, m: i64) -> i64 {
    size.terms()
        .map(|(monomial, coefficient)| {
            let names = monomial.iter().map(|atom| Size::atom(atom.clone()).to_string());
            names.fold(coefficient, |product, name| product * if name.contains('m') { m } else { n })
        })
        .sum()
}

#[test]
fn costs_are_what_the_interpreter_counts() {
    with_large_stack(|| {
        for (program, exact) in COUNTED {
            for schedule in ["none", "default"] {
                let session = engine::compile("f.smooth", program, schedule, "rewrite").unwrap_or_else(|problem| panic!("{problem}"));
                let cost = cost::of_entry(&session.program, "f");
                for (n, m) in [(3, 2), (4, 7)] {
                    let outcome = eval(&session.program, "f", arguments(&session.program, n, m));
                    let Counts { arithmetic, comparisons, reads, writes } = outcome.expect("a value").trace.counts;
                    let counted = [arithmetic, comparisons, reads, writes].map(|count| count as i64);
                    let static_ = [&cost.arithmetic, &cost.comparisons, &cost.reads, &cost.writes].map(|size| at(size, n, m));
                    if cost.is_bound {
                        assert!(!*exact, "{program}, {schedule}: {} is a bound only", cost.text());
                        assert!(counted.iter().zip(&static_).all(|(count, bound)| count <= bound), "{program}: {counted:?} {static_:?}");
                    } else {
                        assert_eq!(counted, static_, "{program}, {schedule}, n = {n}, m = {m}: {}", cost.text());
                    }
                }
            }
        }
    });
}

#[test]
fn costs_of_the_examples_are_bounds() {
    with_large_stack(|| {
        let mut compared = 0;
        for example in cases::all() {
            for schedule in ["none", "default"] {
                let session =
                    engine::compile(&example.path, &example.text, schedule, "rewrite").unwrap_or_else(|problem| panic!("{problem}"));
                for case in &example.cases {
                    let Some(function) = session.program.functions.get(case.entry.as_str()) else { continue };
                    let cost = cost::of_entry(&session.program, &case.entry);
                    let Ok(read) = engine::arguments(&session, &case.entry, &case.words) else { continue };
                    let values: Vec<Value> = read.values.iter().map(smoothc::cli::values::from_flat).collect();
                    let Some(bound) = bound(&cost.total(), function, &values) else { continue };
                    let Ok(outcome) = eval(&session.program, &case.entry, values) else { continue };
                    let Counts { arithmetic, comparisons, reads, writes } = outcome.trace.counts;
                    let total = (arithmetic + comparisons + reads + writes) as i64;
                    assert!(total <= bound, "{}: {total} is more than {bound}, {}", case.line, cost.text());
                    assert!(cost.is_bound || total == bound, "{}: {total} is not {bound}, {}", case.line, cost.text());
                    compared += 1;
                }
            }
        }
        assert!(compared > 60, "only {compared} cases");
    });
}

/// The value of a size for these arguments; `None` where it depends on more than lengths and Index parameters.
fn bound(size: &Size, function: &smoothc::ir::Function, values: &[Value]) -> Option<i64> {
    let mut known: Vec<(String, i64)> = Vec::new();
    for (param, value) in function.params.iter().zip(values) {
        if let (Type::Index(_), Value::Index(value)) = (param.ty(), value) {
            known.push((param.name().to_string(), *value));
        }
        for (size, length) in param.ty().dims().iter().zip(value.shape().dims()) {
            known.push((size.to_string(), length as i64));
        }
    }
    size.terms()
        .map(|(monomial, coefficient)| {
            monomial.iter().try_fold(coefficient, |product, atom| {
                let name = Size::atom(atom.clone()).to_string();
                Some(product * known.iter().find(|(known, _)| *known == name)?.1)
            })
        })
        .sum()
}

#[test]
fn the_page_is_well_formed_and_needs_nothing_else() {
    with_large_stack(|| {
        for (name, entry) in [("nnmf", "gradientU"), ("project", "jacobianAll"), ("mlp", "gradientW1")] {
            let program = example(name);
            let explanation = explanation(&format!("{name}.smooth"), &program, entry, "default");
            let page = html::html(&explanation, false).expect("a page");
            well_formed(&page);
            for outside in ["http", "src=", "@import", "url(", "<script"] {
                assert!(!page.contains(outside), "{name}: {outside}");
            }
            links_stay_on(&page);
            says_what_happened(&page, &explanation);
            assert_eq!(page, html::html(&explanation, false).expect("a page"));
        }
    });
}

/// Every link leads to a place of the page, and the contents to each that has a heading.
fn links_stay_on(page: &str) {
    let values = |text: &str, attribute: &str| -> Vec<String> {
        text.split(attribute).skip(1).filter_map(|rest| rest.split_once('"')).map(|(value, _)| value.to_string()).collect()
    };
    assert_eq!(page.matches("href=").count(), page.matches("href=\"#").count());
    for link in values(page, "href=\"#") {
        assert_eq!(page.matches(&format!(" id=\"{link}\"")).count(), 1, "{link}");
    }
    let (_, rest) = page.split_once("<nav>").expect("contents");
    let contents = values(rest.split_once("</nav>").expect("an end").0, "href=\"#");
    let headings = [values(page, "<h2 id=\""), values(page, "<h3 id=\"")].concat();
    assert!(headings.len() > 5 && headings.iter().all(|heading| contents.contains(heading)), "{headings:?} {contents:?}");
}

/// The text that the page shows without a pointer over it: no tags, no attributes.
fn visible(page: &str) -> String {
    let body = page.split_once("<body>").expect("a body").1;
    let text: String = body.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The declaration comes first, then the program that the phases begin with, then those that did something; each rule has its law.
fn says_what_happened(page: &str, explanation: &Explanation) {
    let text = visible(page);
    let at = |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("no {wanted} in {text}"));
    assert!(explanation.declaration.contains(&format!("let {} ", explanation.entry)), "{}", explanation.declaration);
    let first = explanation.phases.first().expect("a phase");
    let places = [
        at(&explanation.declaration),
        at("\nContents\n"),
        at(explanation.start.program.trim_end()),
        at(&format!("1. {} {} rewrites\n", first.name, first.steps.len())),
    ];
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(page.find("<h2 "), page.find("<h2 id=\"source\">"));
    let mut before = &explanation.start.program;
    let mut empty = 0;
    for (phase, number) in explanation.phases.iter().zip(1..) {
        let did_nothing = phase.steps.is_empty() && phase.end.program == *before;
        let name = format!(">{number}. {}", phase.name);
        let shown = ["</a>", " <small>", "</text>"].map(|after| page.contains(&format!("{name}{after}")));
        assert_eq!(shown, [!did_nothing; 3], "{name}");
        empty += usize::from(did_nothing);
        before = &phase.end.program;
        for (rule, _) in &phase.rules {
            let (source, law) = explain::rule_page(rule).expect("a rule");
            assert!(text.contains(&format!("{rule}{law}{source}")), "{rule} : {law}, {source}");
        }
    }
    let count = explanation.phases.len();
    assert!(empty > 0 && text.contains(&format!("{empty} of {count} phases changed nothing: ")), "{empty} of {count}");
    assert!(!text.contains(" 0 rewrites"));
}

#[test]
fn the_page_of_a_large_jacobian_is_below_a_megabyte_and_says_what_it_leaves_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = format!("{ROOT}/examples/bundle_adjustment.smooth");
    let page = |name: &str, more: &[&str]| {
        let path = folder.path().join(name).to_str().expect("text").to_string();
        let words = ["explain", &file, "residuals_jacobian", "--derive", "jacobian:residuals", "--html", &path];
        let output = smoothc(&[&words[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(path).expect("a page")
    };
    let (short, whole) = (page("short.html", &[]), page("whole.html", &["--all"]));
    for page in [&short, &whole] {
        well_formed(page);
        links_stay_on(page);
        // of a derived entry that of the function
        assert!(visible(page).contains("\n/// Predicted minus observed image points.\nlet residuals "));
    }
    assert!(short.len() < 1_000_000, "{} bytes", short.len());
    assert!(short.contains("The same command with <code>--all</code> shows it all.") && visible(&short).contains(" lines stay\n"));
    assert!(!whole.contains('⋯') && !whole.contains("--all") && whole.len() > short.len());
    // what is left out of the steps is no phase and no rule
    let headings = |page: &str| page.matches("<h3 ").count() + page.matches("<tr id=").count();
    assert_eq!(headings(&short), headings(&whole));
}

#[test]
fn the_page_has_the_functions_that_the_entry_calls() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_string();
    let base = "/// Doubled.\nlet twice x = 2.0 * x\n\nlet other x = x\n";
    let text = "open \"base.smooth\"\nlet half = 0.5\nlet unused x = x + 1.0\nlet loss v = half * vectorSum (vectorMap v twice)\n\
                let slope (v: Vector<n>) = gradient (fun w -> loss w) v\n";
    std::fs::write(path("base.smooth"), base).expect("writes");
    std::fs::write(path("f.smooth"), text).expect("writes");
    let output = smoothc(&["explain", &path("f.smooth"), "slope", "--html", &path("page.html")]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(path("page.html")).expect("a page");
    well_formed(&page);
    let text = visible(&page);
    let source = text.split_once("\nContents\n").expect("contents").0.split_once("Source\n").expect("a source").1;
    let wanted = "let slope (v: Vector<n>) = gradient (fun w -> loss w) v\n\n\
                  What it calls, in f.smooth\nlet half = 0.5\n\nlet loss v = half * vectorSum (vectorMap v twice)\n\n\n\
                  What it calls, in base.smooth\n/// Doubled.\nlet twice x = 2.0 * x\n";
    assert_eq!(source.trim_end(), wanted.trim_end());
}

/// Every tag is closed, in order, and nothing is left to be escaped.
fn well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.split_once("</style>").expect("a style").1;
    open.extend(["html", "head"]);
    while let Some((text, tail)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{text}");
        for (at, _) in text.match_indices('&') {
            assert!(["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|entity| text[at..].starts_with(entity)), "{text}");
        }
        let (tag, after) = tail.split_once('>').expect("an end");
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "before {}", &after[..after.len().min(80)]),
            // it has no end
            None if name == "input" => {}
            None => open.push(name),
        }
        rest = after;
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_command_explains_entries_rules_and_codes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_string();
    std::fs::write(path("dot.smooth"), format!("{DOT}let dot (v: Vector<n>) (w: Vector<n>) = vectorDot v w\n")).expect("writes");
    std::fs::write(path("mine.strategy"), "let small = try (innermost (beta <+ let-inline))\nlet main = small ; small\n").expect("writes");
    let (file, mine, page) = (path("dot.smooth"), path("mine.strategy"), path("page.html"));
    let printed = |args: &[&str]| {
        let output = smoothc(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let default = printed(&["explain", &file, "slope"]);
    assert!(default.starts_with("slope of dot.smooth, by the schedule default\n") && default.contains("── inline ─"), "{default}");
    assert!(!default.contains("→"), "{default}");
    assert!(printed(&["explain", &file, "slope", "--all"]).contains("\n  1. "));
    assert!(printed(&["explain", &file, "slope", "--schedule", &mine]).contains("by the schedule mine.strategy"));
    assert!(!printed(&["explain", &file, "slope", "--disable", "get-build"]).contains("get-build"));
    assert!(printed(&["explain", &file, "dot_gradient_w", "--derive", "gradient:dot:w"]).contains("── before ─"));
    assert!(printed(&["explain", &file, "slope", "--schedule", "none"]).contains("cost: "));
    assert_eq!(printed(&["explain", &file, "slope", "--html", &page]), "");
    assert!(std::fs::read_to_string(&page).expect("a page").starts_with("<!DOCTYPE html>"));
    assert_eq!(printed(&["explain", "vectorDot"]), "vectorDot (v: Vector<n>) (w: Vector<n>) : Double\n    The inner product.\n");
    let library = printed(&["explain", "library"]);
    assert!(library.contains("\n\nmatrixSolve (A: Matrix<n, n>) (b: Vector<n>) : Vector<n>\n    ") && !library.contains("_factors"));
    assert!(printed(&["explain", "E0602"]).starts_with("E0602: "));
    assert!(printed(&["explain", "get-build"]).starts_with("get-build: 001 Fig. 8c, group fusion\n"));
    assert!(printed(&["explain", "sum-split"]).starts_with("sum-split: own, group algebra\n"));
    let rules = printed(&["explain", "rules"]);
    for line in ["get-build         001 Fig. 8c  (build n f)[i] -> f i", "tuple-eta         own          (e.0, e.1) -> e"] {
        assert!(rules.lines().any(|found| found.starts_with(line)), "{line}");
    }
    assert!(printed(&["explain", "rules"]).lines().count() > 40);
    for (args, code) in [
        (&["explain", &file, "nothing"][..], "E0810"),
        (&["explain", &file], "E0013"),
        (&["explain", "get-buil"], "did you mean `get-build`?"),
        (&["explain", "vectorDott"], "did you mean `vectorDot`?"),
        (&["explain", &file, "slope", "--disable", "get-biuld"], "did you mean `get-build`?"),
        (&["explain", &file, "slope", "--schedule", "defualt"], "did you mean `default`?"),
        (&["explain", &file, "slope", "--html", "/nowhere/page.html"], "E0011"),
    ] {
        let output = smoothc(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(code), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_rule_that_almost_fired_says_why() {
    with_large_stack(|| {
        let program = "let f (v: Vector<n>) (k: Index) = (vectorMap v (fun x -> x * x))[k]\n";
        let explanation = explanation("f.smooth", program, "f", "default");
        let text = text::text(&explanation, false);
        assert!(text.contains("check-true did not fire on check 0 <= k && k < n else BOUNDS in "), "{text}");
        assert!(text.contains("`c is provable` does not hold: 0 <= k && k < n"), "{text}");
    });
}

#[test]
fn a_rule_of_ones_own_that_does_not_fire_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_string();
    std::fs::write(path("f.smooth"), "let f (x: Double) (y: Double) = x ** 3.0 / (1.0 + y)\n").expect("writes");
    let rules = "rule square : a ** 2 -> a * a\nrule logistic : a / (1 + a) -> 1 - 1 / (1 + a) if atomic a\nrule zero : sin 0.0 -> 0.0\n";
    std::fs::write(path("mine.strategy"), format!("{rules}let main = default ; innermost (square <+ logistic <+ zero)\n")).expect("writes");
    let (file, mine, page) = (path("f.smooth"), path("mine.strategy"), path("page.html"));
    let output = smoothc(&["explain", &file, "f", "--schedule", &mine]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        text.contains("square did not fire on x ** 3.0\n      in f, f.smooth:1:33: the law has `2` where this stands: 3.0\n"),
        "{text}"
    );
    assert!(text.contains("logistic did not fire on x ** 3.0 / (1.0 + y)"), "{text}");
    assert!(text.contains("elsewhere `a` of the law is another term than here: y\n"), "{text}");
    assert!(
        text.ends_with(
            "never fired:\n  square : a ** 2 -> a * a\n  logistic : a / (1 + a) -> 1 - 1 / (1 + a) if atomic a\n  zero : sin 0.0 -> 0.0\n"
        ),
        "{text}"
    );
    assert_eq!(smoothc(&["explain", &file, "f", "--schedule", &mine, "--html", &page]).status.code(), Some(0));
    let page = std::fs::read_to_string(&page).expect("a page");
    well_formed(&page);
    assert!(page.contains("Rules of the strategy file that never fired"), "{page}");
}

#[test]
fn a_schedule_that_fails_on_every_function_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_string();
    std::fs::write(path("f.smooth"), "let f (x: Double) = sin (x * 1.0)\nlet g (x: Double) = x * 1.0\n").expect("writes");
    for (strategy, warns) in [
        ("let main = fail", true),
        ("let small = div-one\nlet main = small ; topdown mul-one", true),
        ("let main = mul-one", false),
        ("let main = try fail", false),
    ] {
        std::fs::write(path("mine.strategy"), strategy).expect("writes");
        let output = smoothc(&["emit", &path("f.smooth"), "--schedule", &path("mine.strategy")]);
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(0), "{strategy}: {said}");
        assert_eq!(said.contains("W0605"), warns, "{strategy}: {said}");
        assert!(!warns || said.contains("`topdown s` looks for a place inside"), "{strategy}: {said}");
    }
}

#[test]
fn every_command_takes_a_strategy_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_string();
    std::fs::write(path("f.smooth"), "let f (x: Double) = x * 1.0 + x * 1.0\n").expect("writes");
    std::fs::write(path("mine.strategy"), "rule double : a + a -> 2 * a\nlet main = innermost (mul-one <+ double)\n").expect("writes");
    let (file, mine) = (path("f.smooth"), path("mine.strategy"));
    let printed = |args: &[&str]| String::from_utf8(smoothc(&[args, &["--schedule", &mine]].concat()).stdout).expect("text");
    assert_eq!(
        printed(&["eval", &file, "f", "3", "--count"]),
        "6.0\n{\"arithmetic\": 1, \"comparisons\": 0, \"reads\": 0, \"writes\": 0}\n"
    );
    assert_eq!(printed(&["run", &file, "f", "3"]), "6.0\n");
    assert!(printed(&["emit", &file]).contains("2.0 * x"));
    assert!(printed(&["emit", &file, "--dump", "rewrite"]).contains("2.0 * x"));
    assert!(printed(&["explain", &file, "f"]).contains("mul-one ×2, double"));
    let page = printed(&["explain", &file, "f", "--html", "-"]);
    assert!(visible(&page).contains("doublea + a -> 2 * amine.strategy1\n"), "{page}");
    assert_eq!(printed(&["check", &file]), "let f (x: Double) : Double\n");
    let object = path("f.o");
    printed(&["build", &file, "-o", &object]);
    assert!(std::path::Path::new(&object).exists());
}

#[test]
fn a_law_that_binds_variables_says_what_held_it_back() {
    let text = "let f (v: Vector<n>) (x: Double) =\n  let y = sin x\n  ifold (fun s i -> s + v[i] * y) 0.0 n + y\n";
    let rules = "rule factor : ifold (fun s i -> s + c * f i) 0.0 n -> c * ifold (fun s i -> s + f i) 0.0 n
rule subst : let x = a in f x -> f a if count x <= 1 in f
let main = try (innermost (factor <+ subst))
";
    with_large_stack(|| {
        let options =
            Options { schedule: Schedule::Text { name: "own.strategy".into(), text: rules.into() }, record: true, ..Options::default() };
        let mut session = Session::new("f.smooth", text, options);
        session.run_to("rewrite", &mut sources::open).unwrap_or_else(|problems| panic!("{problems:?}"));
        let (_, derivation) = session.derivation.as_ref().expect("recorded");
        let said: Vec<String> =
            derivation.phases.iter().flat_map(|phase| &phase.refusals).map(|(_, refusal)| refusal.why.clone()).collect();
        assert!(said.iter().any(|why| why.starts_with("`c` of the law stands for no term")), "{said:?}");
        assert!(said.contains(&"`count x <= 1 in f` does not hold".to_string()), "{said:?}");
    });
}
