//! The papers' worked examples come out as printed: every `examples/papers/*.smooth` under the schedules `paper` and
//! `default`, against the form that stands in the file and against `snapshots/papers`.
//!
//!     // default: build n (fun i -> 2.0 * v[i])
//!     let squaredNormGradient (v: Vector<n>) : Vector<n> = gradient vectorSqNorm v
//!
//! Forms are compared as core text, up to white space and the names of what they bind. After a change that is meant to
//! change the snapshots: `INSTA_UPDATE=always cargo test --test suite derivations::`.

use std::collections::HashMap;
use std::path::Path;

use smoothc::driver::{Options, Schedule, Session};
use smoothc::ir::eval::{Value, eval};
use smoothc::ir::print;
use smoothc::mode::Mode;
use smoothc::stack::with_large_stack;

use crate::support::{snapshot, sources};

const SCHEDULES: [&str; 2] = ["paper", "default"];

/// A declaration of a file, with the forms that its comments claim.
struct Claim {
    entry: String,
    /// In the order of [`SCHEDULES`].
    forms: Vec<String>,
}

fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/papers");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    let read = |name: String| {
        let path = format!("examples/papers/{name}");
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path)).expect("readable");
        (path, text)
    };
    names.into_iter().map(read).collect()
}

fn claims(path: &str, text: &str) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut forms = Vec::new();
    for line in text.lines() {
        let claim = SCHEDULES.iter().find_map(|schedule| line.strip_prefix(&format!("// {schedule}: ")));
        if let Some(form) = claim {
            forms.push(form.to_string());
        } else if let (Some(more), Some(form)) = (line.strip_prefix("//   "), forms.last_mut()) {
            form.push(' ');
            form.push_str(more);
        } else if let Some(rest) = line.strip_prefix("let ") {
            let entry = rest.split_whitespace().next().expect("a name").to_string();
            assert_eq!(forms.len(), SCHEDULES.len(), "{path}: `{entry}` needs a form for each schedule");
            claims.push(Claim { entry, forms: std::mem::take(&mut forms) });
        }
    }
    claims
}

fn optimised(path: &str, text: &str, schedule: &str) -> Session {
    let options = Options { schedule: Schedule::Named(schedule.into()), ..Options::default() };
    let mut session = Session::new(path, text, options);
    if let Err(problems) = session.run_to("rewrite", &mut sources::open) {
        panic!("{}", sources::drawn(&problems, &session));
    }
    session
}

/// The words of core text, with what `let` and `fun` bind numbered in order of appearance.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        words.push(rest[..end].to_string());
        rest = rest[end..].trim_start();
    }
    let mut names: HashMap<String, String> = HashMap::new();
    let mut binding = false;
    for word in &mut words {
        match word.as_str() {
            "let" | "fun" => binding = true,
            "=" | "-" => binding = false,
            _ if binding => {
                let fresh = format!("#{}", names.len());
                names.insert(word.clone(), fresh);
            }
            _ => {}
        }
        // a component is read off a variable
        let (name, component) = word.split_once('.').map_or((word.as_str(), None), |(name, component)| (name, Some(component)));
        if let Some(fresh) = names.get(name) {
            *word = component.map_or(fresh.clone(), |component| format!("{fresh}.{component}"));
        }
    }
    words
}

#[test]
fn every_worked_example_comes_out_as_printed() {
    with_large_stack(|| {
        let mut wrong = Vec::new();
        for (path, text) in files() {
            let claims = claims(&path, &text);
            assert!(!claims.is_empty(), "{path} claims nothing");
            for (at, schedule) in SCHEDULES.iter().enumerate() {
                let session = optimised(&path, &text, schedule);
                for claim in &claims {
                    let found = print::expr(&session.entry(&claim.entry).expect("an entry").body);
                    if words(&found) != words(&claim.forms[at]) {
                        wrong.push(format!("{path}, {}, {schedule}:\nfound {found}\nnot   {}", claim.entry, claim.forms[at]));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    });
}

#[test]
fn what_the_schedules_make_of_the_worked_examples() {
    with_large_stack(|| {
        for (path, text) in files() {
            let name = path.rsplit('/').next().expect("a name").replace(".smooth", "");
            for schedule in SCHEDULES {
                let core = optimised(&path, &text, schedule).print("rewrite");
                snapshot::holds("papers", &format!("{name}.{schedule}"), &core);
            }
        }
    });
}

#[test]
fn bound_names_do_not_matter_and_free_ones_do() {
    assert_eq!(words("let x = a in fun i -> x[i]"), words("let  y = a in\nfun k -> y[k]"));
    assert_ne!(words("let x = a in x"), words("let x = a in a"));
    assert_ne!(words("fun i j -> v[i]"), words("fun i j -> v[j]"));
    assert_eq!(words("let p = a in p.1"), words("let q = a in q.1"));
    assert_ne!(words("let p = a in p.1"), words("let q = a in q.0"));
}

/// The optimised core of the entry `f` in forward mode.
fn forward(text: &str, schedule: &str) -> String {
    let options = Options { schedule: Schedule::Named(schedule.into()), mode: Mode::Forward, ..Options::default() };
    let mut session = Session::new("f.smooth", text, options);
    if let Err(problems) = session.run_to("rewrite", &mut sources::open) {
        panic!("{}", sources::drawn(&problems, &session));
    }
    print::expr(&session.entry("f").expect("an entry").body)
}

#[test]
fn nested_accumulators_lose_the_loop_over_the_direction() {
    // the loss of NNMF (examples/nnmf.smooth), and least squares
    for term in ["let e = u[i] * v[j] in t + (log e + A[i][j] / e)", "let d = A[i][j] - u[i] * v[j] in t + d * d"] {
        let text = format!(
            "let loss (A: Matrix<n, m>) (u: Vector<n>) (v: Vector<m>) : Double =
  ifold (fun s i -> ifold (fun t j -> {term}) s m) 0.0 n

let f (A: Matrix<n, m>) (u: Vector<n>) (v: Vector<m>) : Vector<n> = gradient (fun u -> loss A u v) u
"
        );
        with_large_stack(|| {
            for schedule in SCHEDULES {
                let core = forward(&text, schedule);
                let deepest = core.split("build n").nth(1).map_or(0, |body| body.matches("ifold").count());
                assert!(deepest <= 1 && !core.contains("if "), "{schedule}: {core}");
            }
        });
    }
}

#[test]
fn a_rotation_has_one_cosine_in_its_residuals_and_one_in_their_jacobian() {
    with_large_stack(|| {
        let path = "examples/bundle_adjustment.smooth";
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("readable");
        for schedule in SCHEDULES {
            let core = optimised(path, &text, schedule).print("rewrite");
            assert_eq!(core.matches("cos ").count(), 2, "{schedule}: {core}");
        }
    });
}

#[test]
fn paper_has_the_rules_of_figure_8_and_those_it_calls_needed() {
    let text = include_str!("../../src/rewrite/schedules/paper.strategy");
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    let list = |name: &str| -> Vec<&str> {
        let (_, rest) = text.split_once(&format!("let {name} =")).expect("the list");
        let end = rest.find("\nlet").into_iter().chain(rest.find("\n\n")).min().expect("its end");
        rest[..end].split(word).filter(|name| !name.is_empty()).collect()
    };
    let lists = ["identities", "of-tuples", "of-loops"];
    let parts = |name| if lists.contains(&name) { list(name) } else { vec![name] };
    let needed: Vec<&str> = list("needed").into_iter().flat_map(parts).collect();
    for name in text.lines().filter(|line| !line.starts_with("//")).flat_map(|line| line.split(word)) {
        let Some(rule) = smoothc::rewrite::rules::named(name) else { continue };
        assert!(rule.source.starts_with("001 Fig. 8") || needed.contains(&name), "{name} is of {}", rule.source);
    }
    for name in needed {
        let rule = smoothc::rewrite::rules::named(name).unwrap_or_else(|| panic!("{name} is no rule"));
        assert!(!rule.source.starts_with("001 Fig. 8"), "{name} is printed there");
    }
}

/// Rules that bind variables, recursion and `differentiated`, as a schedule for a program.
const MINE: &str = "
rule my-get-build : (build n f)[i] -> f i
rule my-let-subst : let x = a in f x -> f a if count x <= 1 in f
let rec everywhere (s) = try (some (everywhere s)) ; try (s ; everywhere s)
let main = try (differentiated (innermost (beta <+ project <+ length-size))) ; everywhere (my-get-build <+ my-let-subst) ; everywhere length-size
";

#[test]
fn a_file_with_rules_of_its_own_is_a_schedule() {
    let text = "let plain (v: Vector<n>) : Vector<n> = vectorMap v (fun x -> x * 1.0)

let slope (v: Vector<n>) : Vector<n> = gradient (fun v -> ifold (fun s i -> let x = v[i] in s + (build (i + 1) (fun j -> x * 1.0))[i]) 0.0 n) v
";
    with_large_stack(|| {
        let schedule = Schedule::Text { name: "mine.strategy".into(), text: MINE.into() };
        let options = Options { schedule, mode: Mode::Reverse, ..Options::default() };
        let mut session = Session::new("f.smooth", text, options);
        if let Err(problems) = session.run_to("rewrite", &mut sources::open) {
            panic!("{}", sources::drawn(&problems, &session));
        }
        let core = |name: &str| print::expr(&session.entry(name).expect("an entry").body);
        assert!(!core("plain").contains("let "), "{}", core("plain"));
        assert!(!core("slope").contains("let "), "{}", core("slope"));
        let two = || Value::vector(&[3.0, 4.0]);
        let found = eval(&session.program, "slope", vec![two()]).expect("a value").value;
        assert_eq!(format!("{found:?}"), format!("{:?}", Value::vector(&[1.0, 1.0])));
    });
}

/// A program, a law of the user's own, and what the entry `f` is after it; nothing where the program is refused, by E0119.
const OWN_LAWS: &[(&str, &str, &str)] = &[
    (
        "let _g (n: Index) (v: Vector<n>) : Double = ifold (fun s i -> s + v[i]) 0.0 n
let f (v: Vector<m>) : Double = _g (m + 1) (build (m + 1) (fun i -> v[0]))
",
        "rule r : a + 1 -> a + 9\nlet main = topdown r\n",
        "",
    ),
    // an Index that is in range stays one
    (
        "let f (v: Vector<n>) (q: Array<Index<n>, m>) (k: Index) : Double = v[fst (q[0], k)]\n",
        "rule r : fst p -> snd p\nlet main = try (topdown r)\n",
        "v[(q[0], k).0]",
    ),
    ("let f (v: Vector<n>) (k: Index) : Double = v[fst (k, k)]\n", "rule r : fst p -> snd p\nlet main = topdown r\n", "v[(k, k).1]"),
    // a tail call is a loop
    (
        "let rec go (x: Double) : Double = if x > 100.0 then x else go (1.0 * x)\nlet f (x: Double) : Double = go (1.0 * x)\n",
        "let main = try (topdown (while.step (topdown mul-one))) ; try (topdown beta ; repeat (topdown let-inline) ; topdown (while.init mul-one))\n",
        "while (fun x -> if x > 100.0 then (false, x) else (true, x)) x_1",
    ),
];

#[test]
fn laws_of_ones_own_keep_what_the_program_relies_on() {
    with_large_stack(|| {
        for (text, law, wanted) in OWN_LAWS {
            let schedule = Schedule::Text { name: "mine.strategy".into(), text: law.to_string() };
            let mut session = Session::new("f.smooth", text, Options { schedule, ..Options::default() });
            let found = match session.run_to("rewrite", &mut sources::open) {
                Ok(()) => print::expr(&session.entry("f").expect("an entry").body),
                Err(problems) => {
                    assert!(problems.iter().all(|problem| problem.code == "E0119"), "{}", sources::drawn(&problems, &session));
                    String::new()
                }
            };
            assert_eq!(found.split_whitespace().collect::<Vec<_>>().join(" "), *wanted, "{text}{law}");
        }
    });
}
