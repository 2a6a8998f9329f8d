//! Depth and size: what must nest nests, what is beyond the limits is a diagnostic, and cost is linear.

use super::forms::FORMS;
use super::sexp::lines;
use crate::diagnostic::Diagnostic;
use crate::stack::with_large_stack;
use crate::syntax::{MAX_ERRORS, parse, parse_expr};

/// Parses on a large stack; whether it worked, or the first report.
fn outcome(text: &str) -> Result<(), String> {
    with_large_stack(|| parse(text, 0).map(drop).map_err(|errors| lines(&errors, text)))
}

/// `before`, n times, `x`, then `after`, n times.
fn nested(n: usize, before: &str, after: &str) -> String {
    format!("let f =\n  {}x{}\n", before.repeat(n), after.repeat(n))
}

#[test]
fn every_form_nests_500_deep() {
    for (before, after) in FORMS {
        assert_eq!(outcome(&nested(500, before, after)), Ok(()), "{before}…{after}");
    }
    for (before, after) in [("Array<", ">"), ("(", ")"), ("(Double => ", ") => Double"), ("Array<Double, n> * (", ")")] {
        let text = format!("let f (x: {}Double{}) = x", before.repeat(500), after.repeat(500));
        assert_eq!(outcome(&text), Ok(()), "{before}…{after}");
    }
    for (before, after) in [("(", ")"), ("(a, ", ")"), ("(", ": Double)")] {
        let text = format!("let f {}x{} = 1", before.repeat(500), after.repeat(500));
        assert_eq!(outcome(&text), Ok(()), "{before}…{after}");
    }
}

#[test]
fn thousands_of_lets_nest() {
    let layout: String = (0..20_000).map(|i| format!("  let x{i} = x + {i}\n")).collect();
    assert_eq!(outcome(&format!("let f x =\n{layout}  x1\n")), Ok(()));
    let written: String = (0..20_000).map(|i| format!("let x{i} = x in ")).collect();
    assert_eq!(outcome(&format!("let f x = {written} x1\n")), Ok(()));
    let below: String = (0..2_500).map(|i| format!("{}let x{i} =\n", " ".repeat(i + 1))).collect();
    let above: String = (0..2_500).rev().map(|i| format!("{}x{i}\n", " ".repeat(i + 1))).collect();
    assert_eq!(outcome(&format!("let f =\n{below}{}1\n{above}", " ".repeat(2_501))), Ok(()));
}

#[test]
fn the_large_stack_holds_what_the_limits_allow() {
    let deep = [("(", ")", 9_900), ("[", "]", 9_900), ("f (", ")", 9_900), ("v[", "]", 9_900), ("if ", " then a else b", 9_900)];
    let wide = [("fun y -> ", "", 9_900), ("if a then b else ", "", 9_900), ("(let y = ", " in y)", 2_400), ("not ", "", 24_000)];
    for (before, after, n) in deep.into_iter().chain(wide) {
        assert_eq!(outcome(&nested(n, before, after)), Ok(()), "{before}…{after}");
    }
}

#[test]
fn beyond_the_limits_is_one_diagnostic() {
    for (before, after) in FORMS {
        let report = outcome(&nested(26_000, before, after)).expect_err("too deep");
        assert!(report.starts_with("E0109"), "{before}…{after}: {}", report.get(..200).unwrap_or(&report));
        // Cut off in the middle: some error, quickly.
        outcome(&format!("let f =\n  {}", before.repeat(26_000))).err();
    }
    let types = format!("let f (x: {}Double", "Array<".repeat(200_000));
    assert!(outcome(&types).is_err_and(|report| report.starts_with("E0109")));
    let wide = format!("let f = [{}1]", "x, ".repeat(30_000));
    assert_eq!(outcome(&wide), Ok(()));
    let wide = format!("let f = [{}1]", "x + 1, ".repeat(30_000));
    assert_eq!(outcome(&wide), Ok(()));
}

#[test]
fn garbage_is_reported_and_never_panics() {
    let words = [
        "let",
        "in",
        "fun",
        "if",
        "then",
        "else",
        "(",
        ")",
        "[",
        "]",
        "->",
        "=",
        "x",
        "1.5",
        "-",
        "+",
        ",",
        ";",
        "\n",
        "\n  ",
        "deriv",
        "\n    ",
        " ",
        "not",
        "(*",
        "*)",
        "//",
        "\"",
        "é",
        "@",
        "\t",
        "[|",
        "|]",
        "**",
        "<",
        ">",
        ":",
        "Vector",
        "elif",
        "\nlet f =",
        ".5",
    ];
    let mut state = 1u64;
    let mut word = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        words[(state >> 33) as usize % words.len()]
    };
    for length in [1, 2, 3, 5, 8, 13, 40, 300] {
        for _ in 0..400 {
            let text: String = (0..length).flat_map(|_| [word(), " "]).collect();
            check_errors(&text);
        }
    }
    let lines: String = (0..1000).map(|_| (0..8).map(|_| word()).collect::<String>() + "\n").collect();
    check_errors(&lines);
    for piece in
        ["@", "x ", "let f = (\n", "let ", "if\n", "(* ", "- ", "\u{0}", "é", "x\n", "  let x = 1\n", "else ", ")", "\"\n", "1.", "()"]
    {
        check_errors(&piece.repeat(200_000 / piece.len()));
    }
}

fn check_errors(text: &str) {
    let check = |result: Result<(), Vec<Diagnostic>>| {
        let Err(errors) = result else { return };
        assert!((1..=MAX_ERRORS).contains(&errors.len()));
        for error in errors {
            let (start, end) = (error.span.start as usize, error.span.end as usize);
            assert!(text.get(start..end).is_some(), "{}: {start}..{end} of {text:?}", error.message);
            assert!(error.help.is_some() && !error.code.starts_with("E09"), "{} in {text:?}", error.message);
        }
    };
    with_large_stack(|| check(parse(text, 0).map(drop)));
    with_large_stack(|| check(parse_expr(text, 0).map(drop)));
}
