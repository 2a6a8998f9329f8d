//! The command as a user calls it: exit statuses, streams, messages.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::support::command;
use crate::support::command::{errors, smoothc};

fn with_input(args: &[&str], input: &str) -> Output {
    command::with_input(args, input.as_bytes())
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("no signal")
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
        &["bench", "f.smooth"],
        &["completions", "csh"],
        &["emit", "--prefix", "1a", "f.smooth"],
        &["emit", "--prefix", "a-b", "f.smooth"],
        &["emit", "--derive", "slope:f", "f.smooth"],
        &["emit", "--derive", "gradient", "f.smooth"],
        &["emit", "--derive", "gradient:f:x:y", "f.smooth"],
        &["emit", "--size", "n", "f.smooth"],
        &["emit", "--size", "n=-1", "f.smooth"],
        &["emit", "--size", "n=three", "f.smooth"],
        &["emit", "--real", "f16", "f.smooth"],
        &["emit", "--checkpoint", "0", "f.smooth"],
        &["eval", "--mode", "reverse", "f.smooth", "f"],
        &["eval", "--checkpoint", "3", "f.smooth", "f"],
    ] {
        assert_eq!(status(&smoothc(args)), 2, "{args:?}");
    }
    let said = errors(&smoothc(&["emit", "--checkpoint", "0", "f.smooth"]));
    assert!(said.contains("0 is not in 1..="), "{said}");
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
    assert_eq!((status(&output), errors(&output).contains("E0012")), (2, true));
    for command in ["run", "eval"] {
        let output = smoothc(&[command, "/nowhere.smooth", "f", "-5", "-Infinity", "-o", "x.txt"]);
        assert_eq!((status(&output), errors(&output).contains("E0808")), (2, true));
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
fn a_misspelt_rule_is_an_error_also_where_nothing_is_optimised() {
    let (_folder, path) = file("p.smooth", PROGRAM.as_bytes());
    let path = path.to_str().expect("text");
    for command in [&["eval", path, "neg", "1", "--disable", "bta"][..], &["run", path, "neg", "1", "--disable", "bta"]] {
        let output = smoothc(command);
        assert_eq!(status(&output), 1);
        assert!(errors(&output).contains("did you mean `beta`?"), "{}", errors(&output));
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
fn a_missing_gpu_platform_is_a_missing_tool() {
    if cfg!(not(unix)) {
        return;
    }
    let (folder, path) = file("f.smooth", b"let f (x: Double) = x + 1.0\n");
    let script = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("writes");
        assert!(Command::new("chmod").arg("+x").arg(&path).status().is_ok_and(|status| status.success()));
        path
    };
    // `BACKEND --library -o OUT …`
    let futhark = script("futhark", "touch \"$4.c\" \"$4.h\"");
    let cc = script("plain-cc", "echo 'program.c:41:10: fatal error: CL/cl.h: No such file or directory' >&2; exit 1");
    let library = folder.path().join("f.so");
    let target = ["--target", "futhark", "--futhark-backend", "opencl"].map(std::ffi::OsStr::new);
    let path = path.as_os_str();
    for words in [vec!["run".as_ref(), path, "f".as_ref(), "1".as_ref()], vec!["build".as_ref(), path, "-o".as_ref(), library.as_os_str()]]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smoothc"));
        let output = command.args(words).args(target).env("FUTHARK", &futhark).env("CC", &cc).stdin(Stdio::null()).output().expect("runs");
        let said = errors(&output);
        assert_eq!(status(&output), 3, "{said}");
        assert!(said.starts_with("error[E0903]: OpenCL is needed") && said.contains("opencl-headers ocl-icd-opencl-dev"), "{said}");
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

/// Compiles C and C++ without warnings.
fn is_accepted(folder: &std::path::Path, text: &str) {
    std::fs::write(folder.join("unit.c"), text).expect("writes");
    for compiler in ["gcc -std=c99", "g++ -x c++"] {
        let command = format!("{compiler} -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only unit.c");
        let done = Command::new("sh").arg("-c").arg(&command).current_dir(folder).output().expect("a shell");
        assert!(done.status.success(), "{command}: {}", errors(&done));
    }
}

#[test]
fn names_of_the_runtime_may_be_shadowed() {
    let folder = tempfile::tempdir().expect("a folder");
    for (text, prefix) in [
        ("let f (smooth_x: Double) = let smooth_x = sin smooth_x in smooth_x * smooth_x", ""),
        ("let f (SMOOTH_Z: Vector<n>) (q: Index) = ifold (fun SMOOTH_Z i -> vectorAdd SMOOTH_Z SMOOTH_Z) SMOOTH_Z q", ""),
        ("let f (v: Vector<smooth_n>) = let smooth_v = vectorMap v sin in let smooth_v = vectorMap smooth_v cos in smooth_v", ""),
        ("let f (v: Vector) = let _V = vectorMap v sin in let _V = vectorMap _V cos in let __V = vectorMap _V sin in __V", ""),
        ("let n x = sin x", "si"),
    ] {
        let emitted = with_input(&["emit", "--schedule", "none", "--prefix", prefix, "-"], text);
        assert_eq!(status(&emitted), 0, "{text}: {}", errors(&emitted));
        is_accepted(folder.path(), &String::from_utf8_lossy(&emitted.stdout));
    }
}

#[test]
fn two_emitted_files_go_into_one_translation_unit() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |name: &str| {
        let source = format!(
            "let _twice (v: Vector<n>) = vectorMap (vectorMap v (fun x -> x + x)) sin\nlet {name} (v: Vector<n>) = vectorDot (_twice v) (_twice (_twice v))"
        );
        let emitted = with_input(&["emit", "--schedule", "none", "-"], &source);
        String::from_utf8_lossy(&emitted.stdout).into_owned()
    };
    assert!(text("f").contains("static void f__twice("), "{}", text("f"));
    is_accepted(folder.path(), &(text("f") + &text("g")));
}

#[test]
fn a_derived_entry_has_the_name_that_was_promised() {
    let text = "let sc (x: Double) (d_x: Double) = let sc_jvp (a: Double) = a * x in sc_jvp d_x * sc_jvp x";
    let checked = with_input(&["check", "--derive", "jvp:sc", "--derive", "jvp:sc", "-"], text);
    let printed = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(printed.ends_with("\nlet sc_jvp (x: Double) (d_x: Double) (d_x_: Double) : Double\n"), "{printed}{}", errors(&checked));
    assert_eq!(printed.matches("sc_jvp").count(), 1);
    let taken = with_input(&["check", "--derive", "jvp:sc", "-"], &format!("{text}\nlet sc_jvp (x: Double) = x"));
    assert_eq!(status(&taken), 1);
    assert!(errors(&taken).contains("error[E0201]") && errors(&taken).contains("<stdin>:2:5"), "{}", errors(&taken));
    let higher = with_input(&["check", "--derive", "jvp:hof", "-"], "let hof (f: Double => Double) (x: Double) = f x");
    assert!(errors(&higher).contains("a function is among its parameters"), "{}", errors(&higher));
}

const SEVERAL: &str = "let f (a: Double) (b: Vector<n>) (k: Index) : Double = a * vectorDot b b * double k\n\
                       let g (a: Double) (b: Vector<n>) : Vector<n> * Double = (vectorSMul b a, a * a)\n";

/// Results with an Index and a Bool inside.
const MIXED: &str = "let f (x: Vector<n>) : Double * Index = (vectorDot x x, length x)\n\
                     type R = { y: Vector<2>; k: Index; ok: Bool }\n\
                     let g (x: Double) : R = { y = [x, x * x]; k = 3; ok = true }\n\
                     let none (_x: Double) : Index = 1\n";

#[test]
fn derivatives_in_several_parameters_are_entries() {
    let cases = [
        ("gradient:f:a,b", "f_gradient_a_b", &["2", "[1, 3]", "2"][..], "[20.0, [8.0, 24.0]]"),
        ("gradient:f:b,a", "f_gradient_b_a", &["2", "[1, 3]", "2"], "[[8.0, 24.0], 20.0]"),
        ("gradient:f:*", "f_gradient_all", &["2", "[1, 3]", "2"], "[20.0, [8.0, 24.0]]"),
        ("gradient:f", "f_gradient", &["2", "[1, 3]", "2"], "20.0"),
        ("valueAndGradient:f:*", "f_valueAndGradient_all", &["2", "[1, 3]", "2"], "[40.0, [20.0, [8.0, 24.0]]]"),
        ("valueAndGradient:f:b", "f_valueAndGradient_b", &["2", "[1, 3]", "2"], "[40.0, [8.0, 24.0]]"),
        ("vjp:g:*", "g_vjp_all", &["2", "[1, 3]", "[[1, 10], 100]"], "[431.0, [2.0, 20.0]]"),
        ("vjp:g:b", "g_vjp_b", &["2", "[1, 3]", "[[1, 10], 100]"], "[2.0, 20.0]"),
        ("jvp:g:*", "g_jvp_all", &["2", "[1, 3]", "10", "[1, 0]"], "[[12.0, 30.0], 40.0]"),
        ("jvp:g:b,a", "g_jvp_b_a", &["2", "[1, 3]", "[1, 0]", "10"], "[[12.0, 30.0], 40.0]"),
    ];
    let (_folder, path) = file("several.smooth", SEVERAL.as_bytes());
    let (_other, mixed) = file("mixed.smooth", MIXED.as_bytes());
    let mixed = mixed.to_str().expect("text");
    for (derive, entry, args, wanted) in [
        ("vjp:f", "f_vjp", &["[1, 2]", "[3, 7]"][..], "[6.0, 12.0]"),
        ("vjp:g:*", "g_vjp_all", &["2", "{\"y\": [1, 2], \"k\": 5, \"ok\": true}"], "9.0"),
        ("revf:f", "f_revf", &["[1, 2]"], "[[5.0, 2], [1.0, 2.0]]"),
    ] {
        for command in ["eval", "run"] {
            let output = smoothc(&[&[command, "--derive", derive, "--entry", entry, mixed, entry], args].concat());
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), wanted, "{command} {derive}: {}", errors(&output));
        }
    }
    let none = smoothc(&["check", "--derive", "vjp:none", mixed]);
    assert!(errors(&none).contains("error[E0501]: `none` has no vjp"), "{}", errors(&none));
    let path = path.to_str().expect("text");
    for (derive, entry, args, wanted) in cases {
        for command in ["eval", "run"] {
            let words = [&[command, "--derive", derive, "--entry", entry, path, entry], args].concat();
            let output = smoothc(&words);
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), wanted, "{command} {derive}: {}", errors(&output));
        }
        // the derivative alone is exported, under the names that docs/cli.md gives
        let output = smoothc(&["emit", "--target", "c", "--derive", derive, "--entry", entry, path]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let exported: Vec<&str> = text.lines().filter(|line| line.starts_with("smooth_status ") && line.ends_with(';')).collect();
        assert!(exported.len() == 1 && exported[0].contains(&format!(" {entry}(int64_t n")), "{derive}: {exported:?}{}", errors(&output));
        let parameters = match derive.split(':').next() {
            Some("vjp") => &["double a", " b", " d_out_0", "double d_out_1"][..],
            Some("jvp") => &["double a", " b", " d_b", "double d_a"],
            _ => &["double a", " b", "int64_t k"],
        };
        for parameter in parameters {
            assert!(exported[0].contains(&format!("{parameter},")), "{derive}: {parameter} in {}", exported[0]);
        }
    }
    let checked = smoothc(&["check", "--derive", "vjp:g:*", "--derive", "jvp:g:b,a", path]);
    let printed = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(printed.contains("let g_vjp_all (a: Double) (b: Vector<n>) (d_out: Vector<n> * Double) : Double * Vector<n>\n"), "{printed}");
    assert!(
        printed.contains("let g_jvp_b_a (a: Double) (b: Vector<n>) (d_b: Vector<n>) (d_a: Double) : Vector<n> * Double\n"),
        "{printed}"
    );
}

#[test]
fn entries_and_derivatives_are_chosen_together() {
    let exported = |options: &[&str]| {
        let output = with_input(&[&["emit", "--target", "c", "-"], options].concat(), SEVERAL);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let declared = text.lines().filter(|line| line.starts_with("smooth_status ") && line.ends_with(';'));
        let names: Vec<String> = declared.filter_map(|line| line["smooth_status ".len()..].split('(').next().map(str::to_string)).collect();
        if names.is_empty() { errors(&output) } else { names.join(" ") }
    };
    let (one, two) = (["--derive", "gradient:f"], ["--derive", "vjp:g"]);
    assert_eq!(exported(&one), "f g f_gradient");
    assert_eq!(exported(&[&one[..], &["--entry", "f"]].concat()), "f f_gradient");
    assert_eq!(exported(&[&one[..], &["--entry", "f_gradient"]].concat()), "f_gradient");
    assert_eq!(exported(&[&one[..], &two, &["--entry", "g_vjp"]].concat()), "g_vjp");
    assert_eq!(exported(&[&one[..], &two, &["--entry", "g_vjp", "--entry", "f"]].concat()), "f g_vjp");
    assert!(exported(&["--entry", "f_gradient"]).contains("error[E0205]"));
    let refused = [
        ("gradient:f:a,k", "E0504", "no parameter `k`"),
        ("gradient:f:a,c", "E0504", "no parameter `c`"),
        ("gradient:g:*", "E0501", "`g` has no gradient with respect to `a`, `b`"),
        ("valueAndGradient:g", "E0501", "`g` has no valueAndGradient with respect to `a`"),
        ("hessian:g:a,b", "E0501", "`g` has no hessian with respect to `a`, `b`"),
    ];
    for (derive, code, words) in refused {
        let found = exported(&["--derive", derive]);
        assert!(found.contains(code) && found.contains(words), "{derive}: {found}");
    }
    assert_eq!(status(&with_input(&["emit", "--derive", "gradient:f:a,a", "-"], SEVERAL)), 2);
    let text = "type Step = { count: Index; size: Double }\n\
                 let f (few: Bool) (s: Step) (t: Step) : Double = s.size * t.size\nlet g (s: Step) (x: Double) : Double = s.size * x\n";
    let derives = ["--derive", "gradient:f", "--derive", "gradient:f:*", "--derive", "gradient:g"];
    let output = with_input(&[&["check"][..], &derives, &["-"]].concat(), text);
    let checked = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in [
        "let f_gradient (few: Bool) (s: Step) (t: Step) : Step",
        "let f_gradient_all (few: Bool) (s: Step) (t: Step) : Step * Step",
        "let g_gradient (s: Step) (x: Double) : Double",
    ] {
        assert!(checked.lines().any(|found| found == line), "{line}\n{checked}");
    }
}

#[test]
fn a_size_named_after_a_parameter_is_that_parameters() {
    let text = "let f (y: Vector<x_n>) (x: Vector) = y\nlet l (a_n: Vector<a_n>) (a: Vector) = vectorAdd a_n a\n";
    let (_folder, path) = file("p.smooth", text.as_bytes());
    let path = path.to_str().expect("text");
    for command in ["eval", "run"] {
        for (entry, argument) in [("f", "argument 1 (`y`)"), ("l", "argument 2 (`a`)")] {
            let output = smoothc(&[command, path, entry, "[1]", "[1, 2]"]);
            assert!(errors(&output).contains("error[E0806]: argument"), "{entry} {argument}: {}", errors(&output));
            assert_eq!(status(&smoothc(&[command, path, entry, "[1, 2]", "[1, 2]"])), 0);
        }
    }
}

#[test]
fn numbers_stay_as_written_and_checks_go_when_asked() {
    let text = "let f (v: Vector) (i: Index) (k: Index) = v[i] * 3.0 + v[k / i] * 3.0";
    let emit = |text: &str, options: &[&str]| {
        let emitted = with_input(&[&["emit", "-"], options].concat(), text);
        assert_eq!(status(&emitted), 0, "{}", errors(&emitted));
        String::from_utf8_lossy(&emitted.stdout).into_owned()
    };
    let zero = "let f (x: Double) (y: Double) = y + 0.0 * x";
    assert!(!emit(zero, &[]).contains("0.0 * x") && emit(zero, &["--strict-fp"]).contains("0.0 * x"));
    // 0 * e is 0 in algebra, in branches too, and only there: e may be negative
    let branch = "let f (v: Vector<n>) (k: Index) =\n  \
                  let q = build (length v) (fun i -> let z = (if i = k then 0.0 else v[i]) in z * v[i] * z)\n  \
                  (q, vectorMap q (fun x -> atan2 x (-1.0)))";
    let (_folder, path) = file("branch.smooth", branch.as_bytes());
    let value = |options: &[&str]| {
        let output = smoothc(&[&["eval", path.to_str().expect("text"), "f", "[-2.0]", "0"], options].concat());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let written = value(&["--schedule", "none"]);
    assert!(written.starts_with("[[-0.0], [-3.14") && value(&["--schedule", "default", "--strict-fp"]) == written);
    assert_eq!(value(&["--schedule", "default", "--disable", "algebra"]), written);
    let (plain, unchecked) = (emit(text, &[]), emit(text, &["--unchecked"]));
    assert!(plain.contains("return SMOOTH_BOUNDS") && !unchecked.contains("return SMOOTH_BOUNDS"), "{unchecked}");
    assert!(unchecked.contains("return SMOOTH_DIV_ZERO") && unchecked.contains("return SMOOTH_NEGATIVE"), "{unchecked}");
    let (_folder, path) = file("p.smooth", text.as_bytes());
    let path = path.to_str().expect("text");
    for option in ["--strict-fp", "--unchecked"] {
        let output = smoothc(&["run", option, path, "f", "[1, 2]", "1", "0"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "9.0\n", "{}", errors(&output));
    }
}

#[test]
fn a_range_check_says_which_index_is_out_of_range() {
    let text = "let f (v: Vector<n>) (k: Index) : Array<Index<n>, k> = build k (fun i -> i * 2)";
    let output = with_input(&["eval", "-", "f", "[1, 2, 3]", "3"], text);
    assert!(errors(&output).starts_with("error[E0705]: 4 is not an index below 3\n"), "{}", errors(&output));
    assert!(errors(&output).contains("help: "));
}

#[test]
fn sizes_are_fixed_and_numbers_are_floats() {
    let (folder, path) = file("f.smooth", b"let f (v: Vector<n>) (x: Double) : Vector<n> = vectorMap v (fun y -> x * y / 3.0)\n");
    let (path, saved) = (path.to_str().expect("text"), folder.path().join("out.npy"));
    let saved = saved.to_str().expect("text");
    for (args, wanted) in [
        (&["run", "--real", "f32", path, "f", "[0.1, 1, 2]", "1"][..], "[0.033333335, 0.33333334, 0.6666667]\n"),
        (&["run", "--size", "n=3", path, "f", "[0.25, 1, 2]", "6"], "[0.5, 2.0, 4.0]\n"),
        (&["run", "--real", "f32", path, "f", "[0.1, 1, 2]", "1", "-o", saved], ""),
        (&["run", "--real", "f32", path, "f", &format!("@{saved}"), "3"], "[0.033333335, 0.33333334, 0.6666667]\n"),
        (&["run", "--real", "f32", path, "f", "[1e39, NaN, -1e39]", "1"], "[Infinity, NaN, -Infinity]\n"),
        (&["eval", "--real", "f32", path, "f", "[1]", "1"], "[0.3333333333333333]\n"),
        (&["check", "--size", "n=3", path], "let f (v: Vector<3>) (x: Double) : Vector<3>\n"),
    ] {
        let output = smoothc(args);
        assert_eq!(String::from_utf8_lossy(&output.stdout), wanted, "{args:?}: {}", errors(&output));
        assert_eq!(status(&output), 0, "{args:?}");
    }
    let bytes = std::fs::read(saved).expect("it was saved");
    assert!(bytes.windows(5).any(|part| part == b"'<f4'"), "floats are saved as floats");
    for (args, code) in [
        (&["run", "--size", "n=3", path, "f", "[1, 2]", "1"][..], "E0806"),
        (&["emit", "--size", "m=3", path], "E0816"),
        (&["emit", "--size", "n=3", "--size", "n=4", path], "E0816"),
    ] {
        let output = smoothc(args);
        assert_eq!(status(&output), 1);
        assert!(errors(&output).starts_with(&format!("error[{code}]: ")), "{}", errors(&output));
    }
}

/// With the flags of `smoothc run` gcc 12 permutes rows of a few columns wrong in vectors of 512 bits.
#[test]
fn rows_of_a_few_columns_run_as_they_are_written() {
    let rows = [
        "a * b, b * b, a * c",
        "a * b, b * b, a * c, c + a, 0.0, c + a, 0.0, 0.0, a",
        "a, c, b",
        "b, b, a, c, c, a",
        "0.0, a * b, 0.0, c",
        "c * c, a - b, b, b, 1.0",
        // work enough for tiles
        "sin a * r, e * b, 0.0, 0.0, sin a * r, e * b, sin a * r, sqrt (r + c * c), a * b / r, 0.0, e * b, a * b / r",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.smooth");
    let functions = rows.iter().enumerate().map(|(k, row)| {
        format!(
            "let f{k} (m: Matrix<n, 3>) =
               build (length m) (fun i ->
                 let (a, b, c) = (m[i][0], m[i][1], m[i][2])
                 let r = sqrt (1.0 + a * a + b * b + c * c)
                 let e = exp (-c * c)
                 [{row}])\n"
        )
    });
    std::fs::write(&path, functions.collect::<String>()).expect("can be written");
    let path = path.to_str().expect("text");
    let matrix: Vec<String> = (0..17).map(|i| format!("[{i}.5, {}, 0.{i}]", i + 2)).collect();
    let matrix = format!("[{}]", matrix.join(", "));
    for (k, row) in rows.iter().enumerate() {
        let entry = format!("f{k}");
        let [run, eval] = ["run", "eval"].map(|command| smoothc(&[command, path, &entry, &matrix]));
        assert!(run.status.success() && eval.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let [run, eval] = [run, eval].map(|output| numbers(&output.stdout));
        // vector functions may differ in the last digits
        let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs();
        assert!(run.len() == eval.len() && run.iter().zip(&eval).all(is_close), "{row}: {run:?} for {eval:?}");
    }
}

/// The numbers of a printed value.
fn numbers(printed: &[u8]) -> Vec<f64> {
    String::from_utf8_lossy(printed).split(['[', ']', ',', ' ', '\n']).filter_map(|word| word.parse().ok()).collect()
}

/// The phases of a built-in schedule go over all functions one after the other, also where a file names it.
#[test]
fn a_file_that_names_a_built_in_schedule_is_that_schedule() {
    let folder = tempfile::tempdir().expect("a folder");
    for schedule in ["default", "paper"] {
        let file = folder.path().join(format!("{schedule}.strategy"));
        std::fs::write(&file, format!("let main = {schedule}\n")).expect("can be written");
        for example in ["examples/nnmf.smooth", "examples/mlp.smooth"] {
            let [named, builtin] = [file.to_str().expect("text"), schedule]
                .map(|schedule| smoothc(&["emit", example, "--schedule", schedule, "--dump", "rewrite"]).stdout);
            assert!(!named.is_empty() && named == builtin, "{example} by {schedule}");
        }
    }
}

/// The gradient of a convolution visits the window of each element, whatever the lengths, and says what is wrong with them.
#[test]
fn windows_are_loops_over_their_range() {
    let emitted =
        String::from_utf8(smoothc(&["emit", "tests/derivatives/convolution.smooth", "--entry", "automatic"]).stdout).expect("text");
    for window in [
        "for (int64_t i_2 = 0; i_2 < smooth_imin(n + 1 - k, i + 1); ++i_2) {",
        "for (int64_t i_2 = 0; i_2 < k; ++i_2) {",
        "for (int64_t i_2 = i + 1 - k; i_2 < n + 1 - k; ++i_2) {",
    ] {
        assert!(emitted.contains(window), "{window} in {emitted}");
    }
    for (n, k) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3), (3, 2), (5, 0), (5, 3), (5, 5), (5, 6), (5, 7)] {
        let vector = |length: usize, scale: f64| {
            let elements: Vec<String> = (0..length).map(|i| format!("{:.2}", (i as f64 - 1.3) * scale)).collect();
            format!("[{}]", elements.join(", "))
        };
        let outputs =
            [("eval", "automatic", "none"), ("eval", "automatic", "default"), ("run", "automatic", "default"), ("eval", "byHand", "none")]
                .map(|(command, entry, schedule)| {
                    let path = "tests/derivatives/convolution.smooth";
                    smoothc(&[command, path, entry, &vector(n, 0.7), &vector(k, 1.1), "--schedule", schedule])
                });
        let [written, others @ .., by_hand] = &outputs;
        for other in others {
            assert_eq!(status(other), status(written), "n = {n}, k = {k}: {}", errors(other));
            let values = [other, by_hand].map(|output| numbers(&output.stdout));
            let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12;
            assert!(status(written) != 0 || values[0].len() == n && values[0].iter().zip(&values[1]).all(is_close), "{values:?}");
        }
    }
}

#[test]
fn expressions_are_evaluated_with_the_declarations_of_a_file() {
    let text = "open \"other.smooth\"\nlet it = 1.0\nlet _half (x: Double) = x / two\nlet sum (v: Vector<n>) = vectorSum v\n";
    let (folder, path) = file("p.smooth", text.as_bytes());
    std::fs::write(folder.path().join("other.smooth"), "let two = 2.0\n").expect("writes");
    let path = path.to_str().expect("text");
    for (words, printed) in [
        (&["-e", "1 + 2"][..], "3.0\n"),
        (&["-e", "-1"], "-1.0\n"),
        (&["-e", "-x ** 2.0 |> sin"], ""),
        (&["-e", "gradient vectorSqNorm [1, 2]"], "[2.0, 4.0]\n"),
        (&["-e", "let x = 2.0\nlet y = x * x // squared\ny + x"], "6.0\n"),
        (&["-e", "it + _half 3.0", path], "2.5\n"),
        (&[path, "-e", "(sum [1, 2], two, true, length [1, 2])"], "[3.0, 2.0, true, 2]\n"),
        (&["-e", "sum (vectorOnes 3)", path, "--count"], "3.0\n{\"arithmetic\": 3, \"comparisons\": 0, \"reads\": 3, \"writes\": 3}\n"),
        (&["-e", "two * it", path, "--schedule", "default"], "2.0\n"),
        (&["-e", "sin"], ""),
        (&["-e", "fun f -> f 1.0"], ""),
        (&["-e", "1 +"], ""),
        (&["-e", ""], ""),
        (&["-e", "1.0\nlet other = 2"], ""),
        (&["-e", "[1, 2][2]"], ""),
        (&["-e", "1", "/nowhere.smooth"], ""),
    ] {
        let output = smoothc(&[&["eval"], words].concat());
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{words:?}: {}", errors(&output));
        assert_eq!(status(&output), i32::from(printed.is_empty()), "{words:?}: {}", errors(&output));
        assert!(!errors(&output).contains("`it`") && !errors(&output).contains("--entry"), "{}", errors(&output));
    }
    assert!(errors(&smoothc(&["eval", "-e", "sin"])).starts_with("error[E0817]"));
    let output = with_input(&["eval", "-e", "f 2.0", "-"], "let f (x: Double) = x * x\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "4.0\n", "{}", errors(&output));
    for words in [&["eval"][..], &["eval", path], &["eval", "-e", "1", path, "sum"], &["eval", "-e", "1", "--entry", "sum", path]] {
        assert_eq!(status(&smoothc(words)), 2, "{words:?}");
    }
}

#[test]
fn options_without_effect_are_refused() {
    let (_folder, path) = file("f.smooth", b"let f (x: Double) = x + 1.0\n");
    let path = path.to_str().expect("text");
    for words in [
        &["emit", "--target", "futhark", "--unchecked", path][..],
        &["emit", "--target", "futhark", "--parallel", path],
        &["run", "--target", "futhark", "--unchecked", path, "f", "1"],
        &["emit", "--futhark-backend", "c", path],
        &["run", "--futhark-backend", "multicore", path, "f", "1"],
        &["build", "--futhark-backend", "c", path, "-o", "/dev/null"],
        &["check", "--unchecked", path],
        &["check", "--mode", "reverse", path],
        &["eval", "--parallel", path, "f", "1"],
        &["explain", "--unchecked", path, "f"],
        &["explain", "E0101", "--all"],
        &["explain", "rules", "--html", "/nowhere/rules.html"],
        // before the program is read
        &["check", "--parallel", "/nowhere.smooth"],
    ] {
        let output = smoothc(words);
        assert_eq!(status(&output), 2, "{words:?}: {}", errors(&output));
        assert!(errors(&output).starts_with("error[E0017]: `--"), "{words:?}: {}", errors(&output));
        assert!(output.stdout.is_empty());
    }
    for words in [
        &["emit", "--unchecked", "--parallel", path][..],
        &["emit", "--target", "futhark", "--futhark-backend", "c", path],
        &["check", "--schedule", "none", path],
        &["eval", "--strict-fp", path, "f", "1"],
    ] {
        let output = smoothc(words);
        assert_eq!(status(&output), 0, "{words:?}: {}", errors(&output));
    }
}
