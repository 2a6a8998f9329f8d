//! The papers' worked examples come out as printed: every `examples/papers/*.smooth` under the schedules `paper` and
//! `default`, against the form that stands in the file and against `snapshots/papers`.
//!
//!     // default: build n (fun i -> 2.0 * v[i])
//!     let squaredNormGradient (v: Vector<n>) : Vector<n> = gradient vectorSqNorm v
//!
//! Forms are compared as core text, up to white space and the names of what they bind. After a change that is meant to
//! change the snapshots: `INSTA_UPDATE=always cargo test --test derivations`.

mod support {
    pub mod snapshot;
    pub mod sources;
}

use std::collections::HashMap;
use std::path::Path;

use smoothc::driver::{Options, Schedule, Session};
use smoothc::ir::print;
use smoothc::stack::with_large_stack;
use support::{snapshot, sources};

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
