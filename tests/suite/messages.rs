//! What is said to a user who gives hostile names, or has many errors: little, and on one line.

use crate::support::command::{errors, smoothc};

/// A folder with a program.
fn program(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("f.smooth");
    std::fs::write(&path, text).expect("writes");
    (folder, path.to_str().expect("text").to_string())
}

#[test]
fn hostile_names_are_echoed_on_one_line() {
    let (_folder, path) = program("let f (x: Double) = x\n");
    let path = path.as_str();
    let long = "long/".repeat(2000);
    for name in ["a\nerror[E0901]: b\u{1b}[31m", &long] {
        let file = format!("@{name}.npy");
        for words in [
            &["check", name][..],
            &["eval", path, name],
            &["eval", path, "f", name],
            &["eval", path, "f", &file],
            &["eval", path, "f", "1", "-o", name],
            &["emit", path, "-o", name],
            &["emit", path, "-o", &format!("nowhere/{name}.c")],
            &["emit", path, "--schedule", name],
            &["emit", path, "--schedule", &format!("{name}.strategy")],
            &["emit", path, "--entry", name],
            &["emit", path, "--disable", name],
            &["emit", path, "--derive", &format!("gradient:{name}")],
            &["emit", path, "--derive", name],
            &["emit", path, &format!("--derive={name}")],
            &["emit", path, "--size", &format!("{name}=1")],
            &["emit", path, "--target", name],
            &["emit", path, "--prefix", name],
            &["explain", name],
            &[name],
            &[&format!("--{name}")],
            &["rewrite", name, "x"],
            &["rewrite", "try add-zero", name],
        ] {
            for format in ["human", "json"] {
                let output = smoothc(&[words, &["--message-format", format]].concat());
                let said = errors(&output);
                assert!(matches!(output.status.code(), Some(1 | 2)), "{words:?}: {said}");
                assert!(!said.contains('\u{1b}') && !said.contains("\nerror[E0901]"), "{words:?}: {said}");
                assert!(said.lines().all(|line| line.chars().count() < 800) && said.lines().count() < 30, "{words:?}: {said}");
            }
        }
    }
}

#[test]
fn a_hundred_errors_and_the_number_of_the_rest() {
    let lines = |line: fn(usize) -> String, count: usize| (0..count).map(line).collect::<String>();
    let unknown = |at| format!("let f{at} (x: Double) = y{at}\n");
    let malformed = |at| format!("let f{at} = )\n");
    for (text, shown, more) in [
        (lines(unknown, 100), 100, None),
        (lines(unknown, 101), 100, Some("1 more error is not shown")),
        (lines(unknown, 350), 100, Some("250 more errors are not shown")),
        (lines(malformed, 350), 100, Some("250 more errors are not shown")),
    ] {
        let (_folder, path) = program(&text);
        let human = errors(&smoothc(&["check", &path]));
        let json = errors(&smoothc(&["check", &path, "--message-format", "json"]));
        let objects: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(objects.iter().filter(|object| object["code"] != "E0015").count(), shown);
        assert_eq!(human.matches("error[E").count(), shown + usize::from(more.is_some()));
        match more {
            Some(more) => {
                let last = objects.last().expect("an object");
                assert_eq!((&last["code"], &last["message"]), (&"E0015".into(), &more.into()));
                assert!(human.contains(&format!("error[E0015]: {more}\n")), "{more}");
            }
            None => assert!(!human.contains("E0015") && !json.contains("E0015")),
        }
    }
}

#[test]
fn a_missing_folder_is_named() {
    let (folder, path) = program("open \"nowhere/at/all.smooth\"\nopen \"none.smooth\"\nlet f (x: Double) = x\n");
    let said = errors(&smoothc(&["check", &path]));
    let missing = folder.path().join("nowhere");
    assert!(said.contains(&format!("there is no folder `{}`", missing.display())), "{said}");
    assert!(said.contains("there is no such file"), "{said}");
    let (_folder, path) = program("let f (v: Vector<n>) = vectorSum v\n");
    for words in [["eval", &path, "f", "@nowhere/v.json"], ["eval", &path, "f", "@nowhere/v.npy"]] {
        assert!(errors(&smoothc(&words)).contains("there is no folder `nowhere`"), "{words:?}");
    }
}

#[test]
fn denied_warnings_are_an_error() {
    let (_folder, path) = program("let f (x: Double) (y: Double) = x\n");
    for words in [&["check", &path][..], &["eval", &path, "f", "1", "2"], &["emit", &path]] {
        let allowed = smoothc(words);
        assert_eq!(allowed.status.code(), Some(0), "{words:?}");
        assert!(errors(&allowed).contains("warning[W0209]: parameter `y` is not used"), "{words:?}");
        let denied = smoothc(&[words, &["--deny-warnings"]].concat());
        assert_eq!(denied.status.code(), Some(1), "{words:?}");
        assert!(denied.stdout.is_empty() && errors(&denied).contains("error[E0020]: a warning"), "{words:?}");
    }
    let (_folder, path) = program("let f (x: Double) (_y: Double) = x\n");
    assert_eq!(smoothc(&["check", &path, "--deny-warnings"]).status.code(), Some(0));
}

#[test]
fn an_argument_that_does_not_fit_underlines_its_parameter() {
    let (_folder, path) = program("let f (x: Double) (v: Vector<n>) (k: Index<n>) =\n  x + v[k]\nlet g = fun (x: Double) y -> x + y\n");
    for (words, code, columns) in [
        (&["f", "true", "[1]", "0"][..], "E0805", (7, 18)),
        (&["f", "1", "[true]", "0"], "E0805", (19, 33)),
        (&["f", "1", "[1", "0"], "E0802", (19, 33)),
        (&["f", "1", "[1]", "1"], "E0807", (34, 47)),
        (&["f", "1", "@none.npy", "0"], "E0804", (19, 33)),
        (&["f", "1"], "E0801", (7, 47)),
        (&["g", "1", "[2]"], "E0805", (25, 26)),
        (&["f_gradient", "--derive", "gradient:f", "1", "2", "0"], "E0805", (19, 33)),
        (&["f_jvp", "--derive", "jvp:f", "1", "[2]", "0", "[1]"], "E0805", (5, 6)),
    ] {
        let said = errors(&smoothc(&[&["eval", &path], words, &["--message-format", "json"]].concat()));
        let object: serde_json::Value = serde_json::from_str(said.lines().next().expect("a line")).expect("JSON");
        assert_eq!(object["code"], code, "{words:?}: {said}");
        let found = (object["column"].as_u64(), object["end_column"].as_u64());
        assert_eq!(found, (Some(columns.0), Some(columns.1)), "{words:?}: {said}");
    }
}

#[test]
fn signatures_are_objects_where_messages_are() {
    let (_folder, path) = program("/// Doc.\nlet f (v: Vector<n>) = vectorSum v\nlet g a = a[0]\n");
    let output = smoothc(&["check", &path, "--message-format", "json"]);
    let objects: Vec<serde_json::Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [f, g] = objects.as_slice() else { panic!("two declarations: {objects:?}") };
    assert_eq!((&f["name"], &f["signature"]), (&"f".into(), &"let f (v: Vector<n>) : Double".into()));
    assert_eq!(g["name"], "g");
    assert_eq!(smoothc(&["check", &path]).stdout.iter().filter(|byte| **byte == b'\n').count(), 2);
}

#[test]
fn a_slice_that_ends_too_early_is_called_a_slice() {
    let (_folder, path) = program("let f (v: Vector<n>) (a: Index) (b: Index) = v[a..b]\nlet g (n: Index) = build n (fun i -> i)\n");
    let said = errors(&smoothc(&["eval", &path, "f", "[1, 2, 3]", "2", "0"]));
    assert!(said.contains("error[E0703]: a slice with the negative count -1\n") && said.contains(":1:46\n"), "{said}");
    let said = errors(&smoothc(&["eval", &path, "g", "-1"]));
    assert!(said.contains("error[E0703]: `build` with the negative count -1\n"), "{said}");
}

#[test]
fn what_stops_in_the_library_says_which_call_did() {
    let (_folder, path) = program(
        "let highest (v: Vector<n>) = vectorMax v\nlet above (v: Vector<n>) = 1.0 + highest v\n\
         let slope (v: Vector<n>) = gradient (fun v -> vectorNorm v + 1.0) v\n",
    );
    for (words, place) in [(&["eval", &path, "above", "[]"][..], "1:30"), (&["eval", "--partial", &path, "slope", "[0, 0]"], "3:47")] {
        let output = smoothc(words);
        let said = errors(&output);
        assert!(said.contains("--> linalg:") && said.contains("called here"), "{said}");
        assert!(said.contains(&format!("f.smooth:{place}")), "{words:?}: {said}");
    }
}

#[test]
fn what_did_not_parse_is_no_unknown_name_of_an_option() {
    for text in ["let f (x: Double) = (x\n", "let g = 1.0\nlet rec f (x: Double) : Double = (x\n", "let f (x: Double) = 1.0 ` x\n"] {
        let (_folder, path) = program(text);
        for option in [["--derive", "gradient:f"], ["--entry", "f"]] {
            let said = errors(&smoothc(&["check", &path, option[0], option[1]]));
            assert!(said.contains("error[E01") && !said.contains("E0205"), "{text}{option:?}: {said}");
        }
        let said = errors(&smoothc(&["check", &path, "--derive", "gradient:other"]));
        assert!(said.contains("error[E01") && said.contains("error[E0205]: `--derive other` names no declaration"), "{text}: {said}");
    }
}
