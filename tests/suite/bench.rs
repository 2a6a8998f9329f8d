//! `smoothc bench`, `completions` and `man`: what they print, and how they fail. The times are the machine's business.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::command::{errors, printed, smoothc};

const PROGRAM: &str = "let dot (a: Vector<n>) (b: Vector<n>) : Double = vectorDot a b\nlet get (v: Vector<n>) (i: Index) = v[i]\n\
                       let rows (m: Matrix<r, c>) = build r (fun i -> vectorSum m[i])\n";
const HAND: &str = "#include \"own.h\"\nint dot(int64_t n, const double *a, const double *b, double *out, void *work, size_t bytes) {\n    \
                    double sum = START;\n    (void)work;\n    (void)bytes;\n    for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];\n    \
                    *out = sum;\n    return 0;\n}\nint wrong(int x) { return x; }\n";

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("p.smooth", PROGRAM), ("hand.c", HAND), ("own.h", "#define START 0.0\n"), ("broken.c", "int dot(")] {
        std::fs::write(folder.path().join(name), text).expect("writes");
    }
    let path = folder.path().join("p.smooth");
    (folder, path)
}

fn against(folder: &Path, function: &str) -> String {
    folder.join(function).to_str().expect("text").to_string()
}

#[test]
fn an_entry_is_timed() {
    let (folder, path) = folder();
    let path = path.to_str().expect("text");
    let output = smoothc(&["bench", path, "dot", "[1, 2, 3]", "[4, 5, 6]"]);
    let text = printed(&output);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(text.starts_with("bench: `dot`, 7 elements, 56 bytes, 41 samples\n") && text.contains("95 % interval"), "{text}");
    let hand = against(folder.path(), "hand.c:dot");
    let output = smoothc(&["bench", path, "dot", "[1, 2, 3]", "[4, 5, 6]", "--against", &hand]);
    let text = printed(&output);
    assert!(output.status.success() && errors(&output).is_empty(), "{}", errors(&output));
    assert!(text.contains("hand.c:dot ") && text.lines().last().is_some_and(|line| line.starts_with("ratio ")), "{text}");
    // nothing at all, floats, and an entry that takes a moment
    assert!(printed(&smoothc(&["bench", path, "dot", "[]", "[]"])).starts_with("bench: `dot`, 1 elements, 8 bytes, "));
    assert!(printed(&smoothc(&["bench", "--real", "f32", path, "dot", "[1]", "[2]"])).contains("3 elements, 12 bytes"));
}

#[test]
fn times_are_an_object_on_request() {
    let (folder, path) = folder();
    let path = path.to_str().expect("text");
    let hand = against(folder.path(), "hand.c:dot");
    let output = smoothc(&["bench", "--json", path, "dot", "[1, 2, 3]", "[4, 5, 6]", "--against", &hand, "--parallel", "--portable"]);
    let object: serde_json::Value = serde_json::from_str(&printed(&output)).expect("JSON");
    let number = |object: &serde_json::Value, key: &str| object[key].as_f64().unwrap_or_else(|| panic!("{key} in {object}"));
    for side in [&object, &object["against"]] {
        let median = number(side, "median");
        let [low, high] = [0, 1].map(|at| side["interval"][at].as_f64().expect("a number"));
        assert!(0.0 < number(side, "min") && number(side, "min") <= low && low <= median && median <= high && high <= number(side, "max"));
        assert!((number(side, "per_element") * 7.0 - median).abs() <= 1e-9 * median);
        assert!((number(side, "bytes_per_second") * median - 56.0).abs() <= 1e-6);
        assert!(number(side, "samples") == 41.0 && number(side, "calls") >= 1.0);
    }
    assert!((number(&object, "ratio") * number(&object["against"], "median") / number(&object, "median") - 1.0).abs() < 1e-9);
    assert_eq!((object["name"].as_str(), number(&object, "elements"), number(&object, "bytes")), (Some("dot"), 7.0, 56.0));
}

#[test]
fn what_cannot_be_timed_is_said() {
    let (folder, path) = folder();
    let path = path.to_str().expect("text");
    let words = |function: &str| against(folder.path(), function);
    let dot = [path, "dot", "[1, 2]", "[4, 5]", "--against"];
    for (function, status, code) in [
        ("hand.c:wrong", 1, "E0821"),
        ("hand.c:nothing", 1, "E0821"),
        ("broken.c:dot", 1, "E0821"),
        ("missing.c:dot", 1, "E0001"),
        ("hand.c", 2, "FILE.c:FUNCTION"),
        ("own.h:dot", 2, "does not end in .c"),
        ("hand.c:1x", 2, "no name of a C function"),
    ] {
        let output = smoothc(&[&["bench"], &dot[..], &[&words(function)]].concat());
        assert_eq!(output.status.code(), Some(status), "{function}: {}", errors(&output));
        assert!(errors(&output).contains(code) && output.stdout.is_empty(), "{function}: {}", errors(&output));
    }
    std::fs::write(folder.path().join("own.h"), "#define START 1.0\n").expect("writes");
    let output = smoothc(&[&["bench"], &dot[..], &[&words("hand.c:dot")]].concat());
    assert!(output.status.success() && errors(&output).starts_with("warning[W0822]: the two give different results: 14.0 and 15.0"));
    assert_eq!(smoothc(&["bench", path, "get", "[1]", "4"]).status.code(), Some(1));
    assert_eq!(smoothc(&["bench", path, "nothing"]).status.code(), Some(1));
    let mut command = Command::new(env!("CARGO_BIN_EXE_smoothc"));
    let output = command.args(["bench", path, "dot", "[]", "[]"]).env("CC", "/nowhere/cc").output().expect("runs");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn shells_and_manuals_know_every_command() {
    let commands = ["emit", "check", "eval", "run", "build", "gradcheck", "bench", "explain", "rewrite", "completions"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = smoothc(&["completions", shell]);
        let script = printed(&output);
        assert!(output.status.success() && commands.iter().all(|command| script.contains(command)), "{shell}");
    }
    let page = printed(&smoothc(&["man"]));
    assert!(page.contains(".TH smoothc 1") && commands.iter().all(|command| page.contains(command)), "{page}");
    for command in commands {
        let page = printed(&smoothc(&["man", command]));
        assert!(page.contains(&format!(".TH smoothc-{command} 1")) && page.contains("color"), "{page}");
    }
    let unknown = smoothc(&["man", "emitt"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(errors(&unknown).contains("did you mean `emit`?"), "{}", errors(&unknown));
}
