//! The command as a user calls it: exit statuses, streams, messages.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn smoothc(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_smoothc")).args(args).stdin(Stdio::null()).output().expect("runs")
}

fn with_input(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_smoothc"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("reads it all");
    child.wait_with_output().expect("ends")
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("no signal")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder of its own with one file.
fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("writes");
    (folder, path)
}

#[test]
fn wrong_usage_is_status_2() {
    for args in [
        &[][..],
        &["frobnicate"],
        &["emit"],
        &["emit", "--target", "java", "f.smooth"],
        &["emit", "--dump", "nothing", "f.smooth"],
        &["run", "f.smooth"],
        &["build", "f.smooth"],
        &["check", "--colour", "f.smooth"],
        &["explain"],
        &["bench", "f.smooth", "f"],
    ] {
        assert_eq!(status(&smoothc(args)), 2, "{args:?}");
    }
    assert_eq!(status(&smoothc(&["--help"])), 0);
    assert_eq!(status(&smoothc(&["--version"])), 0);
}

#[test]
fn files_that_cannot_be_read_are_diagnostics() {
    let (folder, latin) = file("latin.smooth", b"let f = \xe9\n");
    for (path, code) in
        [("/nowhere/f.smooth", "E0001"), (folder.path().to_str().expect("text"), "E0001"), (latin.to_str().expect("text"), "E0002")]
    {
        for command in ["check", "emit"] {
            let output = smoothc(&[command, path]);
            assert_eq!(status(&output), 1);
            assert!(errors(&output).starts_with(&format!("error[{code}]: ")), "{}", errors(&output));
            assert!(output.stdout.is_empty());
        }
    }
}

#[test]
fn all_independent_errors_are_reported_in_both_formats() {
    let source = "let f x = (x\nlet g y = y +\n";
    let output = with_input(&["emit", "--dump", "syntax", "-"], source);
    assert_eq!(status(&output), 1);
    for part in ["error[E0102]", "error[E0101]", "<stdin>:1:11", "help: "] {
        assert!(errors(&output).contains(part), "{part} is missing in\n{}", errors(&output));
    }
    let output = with_input(&["emit", "--message-format", "json", "--dump", "syntax", "-"], source);
    let text = errors(&output);
    let objects: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(objects.iter().map(|object| object["code"].as_str()).collect::<Vec<_>>(), [Some("E0102"), Some("E0101")]);
    for key in ["severity", "message", "file", "line", "column", "end_line", "end_column", "labels", "help"] {
        assert!(objects[0].get(key).is_some(), "{key}");
    }
}

#[test]
fn colours_come_when_asked_for() {
    let colored = |when: &str| errors(&smoothc(&["check", "/nowhere", "--color", when])).contains('\u{1b}');
    assert!(colored("always"));
    assert!(!colored("never"));
    assert!(!colored("auto"));
}

#[test]
fn a_code_has_its_page() {
    let output = smoothc(&["explain", "e0101"]);
    assert_eq!(status(&output), 0);
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("E0101: "));
    assert_eq!(status(&smoothc(&["explain", "E9999"])), 1);
}

#[test]
fn outputs_are_checked_before_any_work() {
    let output = smoothc(&["build", "/nowhere.smooth", "-o", "x.exe"]);
    assert_eq!((status(&output), errors(&output).contains("E0012")), (1, true));
    for command in ["run", "eval"] {
        let output = smoothc(&[command, "/nowhere.smooth", "f", "-5", "-Infinity", "-o", "x.txt"]);
        assert_eq!((status(&output), errors(&output).contains("E0808")), (1, true));
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_smoothc"))
        .args(["emit", "--dump", "syntax", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    drop(child.stdout.take());
    let source = "let f (x: Double) = x + x\n";
    child.stdin.take().expect("a pipe").write_all(source.as_bytes()).expect("reads it all");
    let output = child.wait_with_output().expect("ends");
    assert_eq!((status(&output), errors(&output)), (0, String::new()));
}

const PROGRAM: &str = "
let dot (a: Vector<n>) (b: Vector<n>) : Double = vectorDot a b
let slope (v: Vector) = gradient (fun w -> vectorSqNorm w) v
let pairs (v: Vector<n>) (k: Index<n>) = build (length v) (fun i -> (v[i] * v[k], i))
let neg (x: Double) = -x
let at (v: Vector) (i: Index) = v[i]
";

#[test]
fn the_interpreter_and_compiled_code_print_the_same() {
    let (_folder, path) = file("p.smooth", PROGRAM.as_bytes());
    let path = path.to_str().expect("text");
    for (args, printed) in [
        (&["dot", "[1, 2]", "[3, 4.5]"][..], "12.0\n"),
        (&["slope", "[1, 2, -3]"], "[2.0, 4.0, -6.0]\n"),
        (&["slope", "[]"], "[]\n"),
        (&["pairs", "[1, 2, 3]", "1"], "[[2.0, 0], [4.0, 1], [6.0, 2]]\n"),
        (&["neg", "-Infinity"], "Infinity\n"),
        (&["neg", "-1.5"], "1.5\n"),
        (&["neg", "NaN"], "NaN\n"),
    ] {
        for command in [&["eval", path][..], &["run", path], &["eval", path, "--schedule", "default"], &["run", path, "--schedule", "none"]]
        {
            let output = smoothc(&[command, args].concat());
            assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{command:?} {args:?}\n{}", errors(&output));
        }
    }
    for (args, code) in [
        (&["at", "[1, 2]", "2"][..], "E0701"),
        (&["at", "[1, 2]"], "E0801"),
        (&["at", "[1, 2", "2"], "E0802"),
        (&["at", "[1, 2]", "2.0"], "E0805"),
        (&["dot", "[1, 2]", "[1]"], "E0806"),
        (&["pairs", "[1, 2]", "2"], "E0807"),
        (&["nothing"], "E0810"),
    ] {
        for command in ["eval", "run"] {
            let output = smoothc(&[&[command, path], args].concat());
            assert_eq!(status(&output), 1);
            assert!(errors(&output).contains(&format!("error[{code}]")), "{command} {args:?}\n{}", errors(&output));
        }
    }
}

#[test]
fn results_and_libraries_go_to_files() {
    let (folder, path) = file("p.smooth", PROGRAM.as_bytes());
    let path = path.to_str().expect("text");
    let out = |name: &str| folder.path().join(name).to_str().expect("text").to_string();
    for name in ["r.npy", "r.json"] {
        assert_eq!(status(&smoothc(&["run", path, "slope", "[1, 2]", "-o", &out(name)])), 0);
        let output = smoothc(&["eval", path, "slope", &format!("@{}", out(name))]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "[4.0, 8.0]\n");
    }
    for name in ["p.so", "p.a", "p.o"] {
        assert_eq!(status(&smoothc(&["build", path, "-o", &out(name)])), 0);
    }
    assert_eq!(status(&smoothc(&["emit", path, "-o", &out("p.c")])), 0);
    assert!(folder.path().join("p.h").is_file());
    let output =
        Command::new(env!("CARGO_BIN_EXE_smoothc")).args(["run", path, "neg", "1"]).env("CC", "/nowhere/cc").output().expect("runs");
    assert_eq!(status(&output), 3);
}

#[test]
fn futhark_has_its_own_compiler_and_its_own_words() {
    let (_folder, path) = file("sum.smooth", b"/// The sum.\nlet total (v: Vector<n>) : Double = vectorSum v\n");
    let path = path.to_str().expect("text");
    let output = smoothc(&["emit", "--target", "futhark", path]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.ends_with("-- | The sum.\nentry total [n] (v: [n]f64) : f64 =\n  f64.sum v\n"), "{text}");
    assert_eq!(status(&smoothc(&["run", "--target", "futhark", "--futhark-backend", "abacus", path, "total", "[1]"])), 2);
    for words in [&["run", "--target", "futhark", path, "total", "[1]"][..], &["build", "--target", "futhark", path, "-o", "total.so"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smoothc"));
        let output = command.args(words).env("FUTHARK", "/nowhere/futhark").stdin(Stdio::null()).output().expect("runs");
        assert_eq!(status(&output), 3, "{words:?}");
        assert!(errors(&output).starts_with("error[E0903]: a Futhark compiler is needed"), "{}", errors(&output));
    }
}

#[test]
fn sizes_of_emitted_functions_come_in_the_order_of_the_text() {
    for (text, sizes) in [
        ("let f (at: Array<Index<n>, k>) (v: Vector<n>) = v[at[0]]", "int64_t n, int64_t k,"),
        ("let f (a: Array<Matrix<n, m>, k>) = a[0][0][0]", "int64_t n, int64_t m, int64_t k,"),
        ("let f (m: Matrix<r, c>) (n: Index) (v: Vector<n + r>) = v[0] + m[0][0]", "int64_t r, int64_t c, int64_t n,"),
        ("let f (n: Index) (v: Vector<m>) (w: Vector<n>) = v[0] + w[0]", "int64_t n, int64_t m,"),
    ] {
        let emitted = with_input(&["emit", "--target", "c", "-"], text);
        let c = String::from_utf8_lossy(&emitted.stdout).into_owned();
        assert!(c.contains(&format!("smooth_status f({sizes}")), "{text}:\n{c}\n{}", errors(&emitted));
    }
}
