//! The wrong and the right program of each diagnostic's page, from `examples.txt` beside this file.
//!
//! In: a code. Out: the command and the program that give it, then those that do not. A test runs all of them.
//!
//!     ## E0703 wrong: eval f.smooth f 0
//!     let f (n: Index) = build (n - 1) (fun i -> double i)

/// A section of `examples.txt`.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    pub code: &'static str,
    /// Whether the command gives the diagnostic.
    pub wrong: bool,
    /// The words after `smoothc`.
    pub command: &'static str,
    /// The text of the first file that the command names, `f.smooth` or `s.strategy`.
    pub program: &'static str,
}

/// Those of a code, the wrong one first.
pub fn of(code: &str) -> impl Iterator<Item = Example> {
    all().filter(move |example| example.code == code)
}

/// All sections in their order.
pub fn all() -> impl Iterator<Item = Example> {
    include_str!("examples.txt").split("## ").skip(1).filter_map(|section| {
        let (head, program) = section.split_once('\n')?;
        let (code, rest) = head.split_once(' ')?;
        let (kind, command) = rest.split_once(": ").unwrap_or((rest, "check f.smooth"));
        Some(Example { code, wrong: kind == "wrong", command, program })
    })
}

impl Example {
    /// The part of a page.
    pub fn print(&self) -> String {
        let title = if self.wrong { "Wrong" } else { "Right" };
        let command = if self.command == "check f.smooth" { String::new() } else { format!(", with `smoothc {}`", self.command) };
        let lines: String = self.program.lines().map(|line| format!("    {line}\n")).collect();
        let end = if lines.is_empty() { "." } else { ":\n" };
        format!("\n{title}{command}{end}\n{lines}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{all as pages, find};
    use super::*;

    /// Codes that no program and command of three lines gives everywhere, and why.
    const NONE: &[(&str, &str)] = &[
        ("E0002", "the bytes of a file that is no text"),
        ("E0015", "a hundred errors"),
        ("W0016", "a hundred warnings"),
        ("E0109", "thousands of brackets"),
        ("E0128", "a strategy of a hundred thousand parts"),
        ("E0311", "a safety net behind E0301 and E0310"),
        ("E0706", "depends on the machine's memory"),
        ("E0820", "there is no wrong derivative that is known"),
        ("E0821", "wants a file of C"),
        ("W0822", "wants a file of C"),
        ("E0901", "an error of smoothc itself"),
        ("E0902", "an error of smoothc itself"),
        ("E0903", "depends on what is installed"),
        ("E0904", "depends on the machine"),
        ("E0905", "ten minutes of a compiler"),
    ];

    #[test]
    fn every_page_has_a_wrong_and_a_right_program() {
        for page in pages() {
            let kinds: Vec<bool> = of(page.code).map(|example| example.wrong).collect();
            let none = NONE.iter().any(|(code, _)| *code == page.code);
            assert_eq!(kinds.as_slice(), if none { &[][..] } else { &[true, false] }, "{}", page.code);
        }
        let codes: BTreeSet<&str> = all().map(|example| example.code).collect();
        assert!(codes.iter().all(|code| find(code).is_some()), "{codes:?}");
    }

    #[test]
    fn a_page_shows_both() {
        let page = find("E0703").map(super::super::Page::print).unwrap_or_default();
        let shown = "\nWrong, with `smoothc eval f.smooth f 0`:\n\n    let f (n: Index) = build (n - 1) (fun i -> double i)\n\nRight";
        assert!(page.contains(shown), "{page}");
    }
}
