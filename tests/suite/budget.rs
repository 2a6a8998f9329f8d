//! Programs and files that grow without end: each is refused with its place and what to do, and small text gives small C.
//!
//! What takes too long is measured in nodes and lines, never by a clock.

use std::process::Command;

use smoothc::budget;
use smoothc::diagnostic::{Diagnostic, Diagnostics};
use smoothc::driver::{Options, Session};
use smoothc::stack::with_large_stack;

use crate::support::command::smoothc;

fn session(text: &str, stage: &str) -> Result<Session, Diagnostics> {
    let mut session = Session::new("budget.smooth", text, Options::default());
    session.run_to(stage, &mut |_, _| Err("no files".into()))?;
    Ok(session)
}

/// What is said of a program that is too large: one diagnostic with its place and the next step.
fn refused(text: &str, stage: &str) -> Diagnostic {
    let problems = session(text, stage).expect_err(text);
    let first = problems.into_iter().next().expect("a diagnostic");
    assert_eq!(first.code, "E0604", "{first:?}");
    assert!(!first.span.is_none(), "{first:?} has no place");
    assert!(first.help.is_some(), "{first:?} has no help");
    first
}

fn lets(first: &str, step: &str, count: usize) -> String {
    let line = |k: usize| format!("  let a{} = {} in\n", k + 1, step.replace('@', &format!("a{k}")));
    format!("  let a0 = {first} in\n{}", (0..count).map(line).collect::<String>())
}

#[test]
fn types_that_double_are_refused() {
    with_large_stack(|| {
        for step in ["(@, @)", "[(@, @)]", "(@, (@, 1.0))", "(fun b -> (b, b)) @", "if x < 0.0 then (@, @) else (@, @)"] {
            for count in [24, 60] {
                refused(&format!("let f (x: Double) =\n{}  x\n", lets("x", step, count)), "types");
            }
        }
        // functions, also those whose types are open
        for params in ["(x: Double)", "x"] {
            let functions = (0..30).map(|k| format!("let f{} {params} = (f{k} x, f{k} x)\n", k + 1));
            refused(&format!("let f0 {params} = (x, x)\n{}", functions.collect::<String>()), "types");
        }
        // what a type is open in doubles after it was made
        let double = |name: &str, from: &str| {
            (0..13).fold(format!("  let {name}0 = {from} in\n"), |text, k| {
                text + &format!("  let {name}{} = ({name}{k}, {name}{k}) in\n", k + 1)
            })
        };
        let text = format!(
            "let f x y =\n{}{}  let same = if true then x else b13 in\n  fst a13\nlet g (y: Double) = f y y\n",
            double("a", "x"),
            double("b", "y")
        );
        assert!(session(&text, "types").is_err());
        // a use of a function at a large type, where the function makes a larger one
        let text = format!("let f x =\n{}  1.0\nlet g (y: Double) =\n{}  f b8\n", double("a", "x").replace("a13", "a12"), double("b", "y"));
        refused(&text, "types");
    });
}

#[test]
fn derivatives_of_derivatives_are_refused_while_they_are_made() {
    with_large_stack(|| {
        for depth in [14, 40] {
            let nested = format!("{}sin t * t{}", "derivative (fun t -> ".repeat(depth), ") t".repeat(depth));
            refused(&format!("let f (t: Double) = {nested}\n"), "emit");
            let functions = (0..depth).map(|k| format!("let f{} (x: Double) = derivative f{k} x\n", k + 1));
            refused(&format!("let f0 (x: Double) = sin x * x\n{}", functions.collect::<String>()), "emit");
        }
        // a few are fine
        let nested = format!("{}sin t * t{}", "derivative (fun t -> ".repeat(6), ") t".repeat(6));
        assert!(session(&format!("let f (t: Double) = {nested}\n"), "emit").is_ok());
    });
}

#[test]
fn nests_of_short_loops_stay_loops() {
    let nest = |count: usize, depth: usize, body: &str| {
        let open: String = (0..depth).map(|k| format!("build {count} (fun i{k} -> ")).collect();
        format!("let f (x: Double) (v: Vector<3>) (n: Index) = {open}{body}{}\n", ")".repeat(depth))
    };
    with_large_stack(|| {
        for (count, depth, body) in
            [(2, 13, "x"), (3, 9, "x"), (2, 20, "x"), (3, 8, "v[i0] * v[i1] * v[i2]"), (4, 6, "double (i0 * i1 * i5)")]
        {
            let session = session(&nest(count, depth, body), "emit").unwrap_or_else(|problems| panic!("{problems:#?}"));
            let lines = session.emitted().expect("C").source.lines().count();
            assert!(lines < 200, "{count} {depth}: {lines} lines");
        }
        // a small one is written out
        let session = session(&nest(2, 2, "x"), "emit").unwrap_or_else(|problems| panic!("{problems:#?}"));
        assert!(!session.emitted().expect("C").source.contains("for ("));
    });
}

/// What `check` says of a program that opens a path.
fn opened(path: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let main = folder.path().join("main.smooth");
    std::fs::write(&main, format!("open \"{path}\"\nlet f (x: Double) = x\n")).expect("writes");
    let output = smoothc(&["check", main.to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_not_opened() {
    for path in ["/dev/zero", "/dev/null", "/dev/random"] {
        let said = opened(path);
        assert!(said.contains("error[E0004]") && said.contains("it is no regular file"), "{said}");
    }
    // one that nobody writes to would be waited for
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe.smooth");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is part of every Unix");
    assert!(made.success());
    let said = opened(pipe.to_str().expect("text"));
    assert!(said.contains("it is no regular file"), "{said}");
}

#[test]
fn folders_and_huge_files_are_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = opened(folder.path().to_str().expect("text"));
    assert!(said.contains("it is a directory"), "{said}");
    let huge = folder.path().join("huge.smooth");
    std::fs::write(&huge, vec![b' '; budget::SOURCE_BYTES + 1]).expect("writes");
    let path = huge.to_str().expect("text");
    assert!(opened(path).contains("larger than 16 MiB"));
    let output = smoothc(&["check", path]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("error[E0001]") && said.contains("larger than 16 MiB"), "{said}");
    let zero = smoothc(&["check", "/dev/zero"]);
    assert_eq!(zero.status.code(), Some(1));
}
