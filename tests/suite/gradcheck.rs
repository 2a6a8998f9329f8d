//! `smoothc gradcheck`: a wrong derivative is found, a right one never called wrong.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::cases::Wanted;
use crate::support::{cases, tools};

fn gradcheck(words: &[&str], compiler: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_smoothc"));
    if let Some(compiler) = compiler {
        command.env("CC", compiler);
    }
    command.arg("gradcheck").args(words).stdin(Stdio::null()).output().expect("runs")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const PROGRAM: &str = "
let f (x: Double) (y: Double) = sin (x * y) + 2.0
let absolute (v: Vector<n>) = vectorMap v abs
let largest (v: Vector<n>) : Double = vectorMax v
let mixed (p: Double * Index) (b: Bool) (v: Vector<n>) = let (a, k) = p in if b then a * v[k] else exp a
let several (x: Double) (k: Index) = (x * x, k, [x, sin x])
let branch (x: Double) = if x = 3.0 then x + 6.0 else x * x
let root (x: Double) = sqrt x
let grows (x: Double) = exp x
let product (a: Matrix<n, k>) (b: Matrix<k, m>) = matrixMul a b
let inverse (x: Double) = 1.0 / x
let fast (x: Double) = sin (1e6 * x)
let steps (x: Double) = floor x + x
let near (x: Double) = max x 1.00000001
let curve (v: Vector<n>) = gradient (fun w -> exp (vectorDot w w)) v
let index (i: Index) = i + 1
let power (x: Double) (c: Double) = x ** c
";

fn program() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.smooth");
    std::fs::write(&path, PROGRAM).expect("writes");
    (folder, path)
}

#[test]
fn right_derivatives_pass_and_points_without_one_are_named() {
    let (_folder, path) = program();
    let path = path.to_str().expect("text");
    let wide = format!("[{}]", vec!["1.5"; 300].join(", "));
    for (words, named) in [
        (&["f", "3", "0.5"][..], &[][..]),
        (&["absolute", "[0, 1, -2]"], &["out[0] in v[0]: a kink, -1.000000e0 on the left and 1.000000e0 on the right"]),
        (&["absolute", "[]"], &[]),
        (&["absolute", &wide], &[]),
        (&["largest", "[1, 1, 0]"], &["out in v[0]: a kink", "out in v[1]: a kink"]),
        (&["mixed", "[2.5, 1]", "true", "[1, 2]"], &[]),
        (&["several", "2", "7"], &[]),
        (&["branch", "3"], &["out in x: the point takes a branch of its own"]),
        (&["branch", "2"], &[]),
        (&["root", "0"], &["out in x: no finite value on both sides"]),
        (&["root", "1e-9"], &[]),
        (&["grows", "709.7"], &["out in x: no finite value"]),
        (&["grows", "800"], &["out in x: no finite value"]),
        (&["grows", "-800"], &[]),
        (&["product", "[[1, 2], [3, 4.5]]", "[[1, 1e5], [0, -1e-5]]"], &[]),
        (&["inverse", "1e-12"], &[]),
        (&["inverse", "-1e200"], &[]),
        (&["fast", "1"], &[]),
        (&["steps", "2"], &["out in x: a kink"]),
        (&["steps", "2.5"], &[]),
        (&["near", "1"], &["out in x: a kink"]),
        (&["curve", "[0.1, 0.2]"], &[]),
        // the logarithm of a negative number, times no tangent at all, is no number
        (&["power", "-2", "3"], &["out in x: a derivative that is not finite", "out in c: no finite value on both sides"]),
        (&["f", "NaN", "-Infinity"], &["out in x: no finite value", "out in y: no finite value"]),
        (&["--real", "f32", "f", "3", "0.5"], &[]),
        (&["--schedule", "none", "--mode", "reverse", "--strict-fp", "--portable", "f", "3", "0.5"], &[]),
    ] {
        let options: Vec<&str> = words.iter().take_while(|word| !PROGRAM.contains(&format!("let {word} "))).copied().collect();
        let output = gradcheck(&[&options[..], &[path], &words[options.len()..]].concat(), None);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {text}");
        assert!(text.starts_with("gradcheck: `"), "{text}");
        let is_wide = words.contains(&wide.as_str());
        assert_eq!(text.contains("of 300 inputs by themselves"), is_wide, "{text}");
        assert_eq!(text.matches("no derivative: ").count(), named.len(), "{words:?}: {text}");
        named.iter().for_each(|place| assert!(text.contains(&format!("no derivative: {place}")), "{words:?}, {place}: {text}"));
    }
}

#[test]
fn what_cannot_be_checked_is_said() {
    let (folder, path) = program();
    let path = path.to_str().expect("text");
    let nowhere = folder.path().join("no-compiler");
    for (words, compiler, status, code) in [
        (&[path, "index", "3"][..], None, 1, "E0819"),
        (&[path, "f", "3"], None, 1, "E0801"),
        (&[path, "nothing"], None, 1, "E0810"),
        (&[path, "f", "3", "true"], None, 1, "E0805"),
        (&["/nowhere.smooth", "f"], None, 1, "E0001"),
        (&[path, "f", "3", "0.5"], Some(nowhere.as_path()), 3, "E0903"),
    ] {
        let output = gradcheck(words, compiler);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {}", said(&output));
        assert!(said(&output).contains(&format!("error[{code}]")), "{words:?}: {}", said(&output));
    }
}

/// A compiler that makes the derivative of `sin` wrong by one part in a million.
#[test]
#[cfg(unix)]
fn a_derivative_that_is_wrong_by_a_millionth_is_found() {
    let (folder, path) = program();
    let path = path.to_str().expect("text");
    let script = folder.path().join("wrong-cc");
    let text = "#!/bin/sh\nfor word; do case \"$word\" in *program.c) sed -i 's/\\([*(=] *\\)cos(/\\11.000001 * cos(/g' \"$word\" ;; esac; done\nexec cc \"$@\"\n";
    std::fs::write(&script, text).expect("writes");
    assert!(Command::new("chmod").arg("+x").arg(&script).status().is_ok_and(|status| status.success()));
    let output = gradcheck(&[path, "f", "3", "0.5"], Some(&script));
    let text = said(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("error[E0820]") && text.matches("WRONG").count() == 2, "{text}");
    assert!(text.lines().filter(|line| line.contains("WRONG")).all(|line| line.contains("compiled C")), "{text}");
    assert!(gradcheck(&[path, "f", "3", "0.5"], None).status.success());
}

#[test]
fn the_derivatives_of_every_example_are_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    tools::each(&cases::all(), |example| {
        let runs = example.cases.iter().filter(|case| matches!(case.wanted, Wanted::Value(_)));
        // one entry of each example; all of them take minutes
        let Some(case) = runs.max_by_key(|case| case.words.len()) else { return Ok(()) };
        let path = root.join(&example.path);
        let words: Vec<&str> =
            [path.to_str().expect("text"), case.entry.as_str()].into_iter().chain(case.words.iter().map(String::as_str)).collect();
        let output = gradcheck(&words, None);
        match output.status.code() {
            Some(0) => Ok(()),
            Some(1) if said(&output).contains("E0819") => Ok(()),
            _ => Err(format!("{}: {}: {}", example.path, case.line, said(&output))),
        }
    });
}
