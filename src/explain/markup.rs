//! Programs and steps as HTML: words in their colours, what is new or gone marked, what stays shortened.
//!
//! In: printed programs, and both sides of a step. Out: escaped HTML, and whether something was left out of it. `⋯` stands
//! for what is left out: lines that stay, words that stay, and the end of a side that has very many changed words.
//! Colours are elements of one letter, and words of one colour one element: they would be most of the page.
//!
//!     sin x + 0.0  →  sin x   gives   <i>sin</i> x<del> + <u>0.0</u></del>   and   <i>sin</i> x

use super::diff;
use super::highlight::{Class, words};

/// Lines that stay on either side of one that changes.
const LINES_AROUND: usize = 3;
/// Sides of a step with fewer characters are shown whole.
const LONG: usize = 150;
/// Words that stay on either side of one that changes, in a long step.
const WORDS_AROUND: usize = 12;
/// The most words of one side of a long step.
const MOST: usize = 160;

/// HTML, and whether it leaves something out.
pub struct Shown {
    pub html: String,
    pub is_short: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Kept,
    New,
    Gone,
}

/// The lines of both programs, those that went before those that came in their place.
fn lines<'a>(old: &'a str, new: &'a str) -> Vec<(Line, &'a str)> {
    let (kept_old, kept_new) = diff::lines(old, new);
    let (mut lines, mut went) = (Vec::new(), old.lines().zip(kept_old).peekable());
    for (line, kept) in new.lines().zip(kept_new) {
        while let Some((line, _)) = went.next_if(|(_, kept)| !kept) {
            lines.push((Line::Gone, line));
        }
        if kept {
            went.next();
        }
        lines.push((if kept { Line::Kept } else { Line::New }, line));
    }
    lines.extend(went.map(|(line, _)| (Line::Gone, line)));
    lines
}

/// What changed from one program to the next, and whether lines went; neighbouring lines that are new or gone are one element.
pub fn changes(old: &str, new: &str, whole: bool) -> (Shown, bool) {
    let lines = lines(old, new);
    let has_gone = lines.iter().any(|(kind, _)| *kind == Line::Gone);
    let mut shown = Shown { html: String::new(), is_short: false };
    let mut done = 0;
    for part in lines.chunk_by(|a, b| a.0 == b.0) {
        let text = |lines: &[(Line, &str)]| lines.iter().map(|(_, line)| coloured(line) + "\n").collect::<String>();
        shown.html += &match part.first() {
            Some((Line::New, _)) => format!("<ins>{}</ins>", text(part)),
            Some((Line::Gone, _)) => format!("<del>{}</del>", text(part)),
            Some((Line::Kept, _)) | None => {
                let above = if done == 0 { 0 } else { LINES_AROUND };
                let below = if done + part.len() == lines.len() { 0 } else { LINES_AROUND };
                let left_out = part.len().saturating_sub(above + below);
                // a line that says so is no gain for one line
                if whole || left_out < 2 {
                    text(part)
                } else {
                    shown.is_short = true;
                    let (first, last) = (text(&part[..above]), text(&part[part.len() - below..]));
                    format!("{first}<s>⋯ {left_out} lines stay</s>\n{last}")
                }
            }
        };
        done += part.len();
    }
    (shown, has_gone)
}

/// A word, and whether it is new or gone.
#[derive(Clone, Copy)]
struct Word<'a> {
    class: Class,
    text: &'a str,
    is_changed: bool,
}

/// What stands for words that are left out.
const GAP: Word = Word { class: Class::Space, text: " ⋯ ", is_changed: false };

fn side<'a>(words: Vec<(Class, &'a str)>, kept: &[bool]) -> Vec<Word<'a>> {
    words.into_iter().zip(kept).map(|((class, text), kept)| Word { class, text, is_changed: !kept }).collect()
}

/// Both sides of a step.
pub fn step(before: &str, after: &str, whole: bool) -> (Shown, Shown) {
    let (old, new) = (words(before), words(after));
    let text = |words: &[(Class, &str)]| words.iter().map(|(_, word)| word.to_string()).collect::<Vec<_>>();
    let (kept_old, kept_new) = diff::common(&text(&old), &text(&new));
    let (old, new) = (side(old, &kept_old), side(new, &kept_new));
    let is_long = [before, after].iter().any(|side| side.chars().count() > LONG);
    if whole || !is_long {
        let shown = |words: &[Word], element| Shown { html: marked(words, element), is_short: false };
        return (shown(&old, "del"), shown(&new, "ins"));
    }
    let (mut near_old, mut near_new) = (near(&old), near(&new));
    // what both sides have is shown on both or on neither: a change may be on one side alone
    let kept = |words: &[Word]| (0..words.len()).filter(|at| !words[*at].is_changed).collect::<Vec<_>>();
    for (in_old, in_new) in kept(&old).into_iter().zip(kept(&new)) {
        let is_near = near_old[in_old] || near_new[in_new];
        (near_old[in_old], near_new[in_new]) = (is_near, is_near);
    }
    let shown = |words: &[Word], near: &[bool], element| {
        let words = shortened(words, near);
        Shown { is_short: words.iter().any(|word| word.text == GAP.text), html: marked(&words, element) }
    };
    (shown(&old, &near_old, "del"), shown(&new, &near_new, "ins"))
}

/// For each word whether it or one close by is changed.
fn near(words: &[Word]) -> Vec<bool> {
    let around = |at: usize| &words[at.saturating_sub(WORDS_AROUND)..words.len().min(at + WORDS_AROUND + 1)];
    (0..words.len()).map(|at| around(at).iter().any(|word| word.is_changed)).collect()
}

/// The words that are to be shown, up to the most.
fn shortened<'a>(words: &[Word<'a>], is_shown: &[bool]) -> Vec<Word<'a>> {
    let mut out: Vec<Word<'a>> = Vec::new();
    let mut was_shown = true;
    for (word, is_shown) in words.iter().zip(is_shown) {
        let is_shown = *is_shown && out.len() < MOST;
        match (is_shown, was_shown) {
            (true, _) => out.push(*word),
            (false, true) => out.push(GAP),
            (false, false) => {}
        }
        was_shown = is_shown;
    }
    out
}

/// A program, or a part of one.
pub fn coloured(text: &str) -> String {
    let words: Vec<Word> = words(text).into_iter().map(|(class, text)| Word { class, text, is_changed: false }).collect();
    marked(&words, "")
}

/// Text as its author wrote it, with comments.
pub fn source(text: &str) -> String {
    let line = |line: &str| match line.split_once("//") {
        Some((code, comment)) => format!("{}<s>//{}</s>\n", coloured(code), escaped(comment)),
        None => coloured(line) + "\n",
    };
    text.lines().map(line).collect()
}

/// Words in their colours; those that are changed are in this element.
fn marked(words: &[Word], element: &str) -> String {
    let mut out = String::new();
    for part in words.chunk_by(|a, b| a.is_changed == b.is_changed) {
        let is_marked = part.first().is_some_and(|word| word.is_changed);
        if is_marked {
            out += &format!("<{element}>");
        }
        for run in part.chunk_by(|a, b| a.class.style() == b.class.style()) {
            let text: String = run.iter().map(|word| escaped(word.text)).collect();
            out += &match run.first().and_then(|word| word.class.style()) {
                Some(style) => format!("<{style}>{text}</{style}>"),
                None => text,
            };
        }
        if is_marked {
            out += &format!("</{element}>");
        }
    }
    out
}

pub fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            _ => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stay_are_counted() {
        let old = (0..20).map(|at| format!("x{at}\n")).collect::<String>();
        let (shown, has_gone) = changes(&old, &old.replace("x9\n", "y\n"), false);
        let wanted = "<s>⋯ 6 lines stay</s>\nx6\nx7\nx8\n<del>x9\n</del><ins>y\n</ins>x10\nx11\nx12\n<s>⋯ 7 lines stay</s>\n";
        assert_eq!((shown.html.as_str(), shown.is_short, has_gone), (wanted, true, true));
        let (shown, has_gone) = changes(&old, &format!("{old}y\n"), true);
        assert_eq!((shown.html, shown.is_short, has_gone), (format!("{old}<ins>y\n</ins>"), false, false));
    }

    #[test]
    fn short_steps_are_whole() {
        let (before, after) = step("sin x + 0.0", "sin x", false);
        assert_eq!((before.html.as_str(), after.html.as_str()), ("<i>sin</i> x<del> + <u>0.0</u></del>", "<i>sin</i> x"));
        assert!(!before.is_short && !after.is_short);
    }

    #[test]
    fn long_steps_show_what_changes_on_both_sides() {
        let sum = |middle: &str| format!("{}{middle}{}", "a + ".repeat(60), " + b".repeat(60));
        let (before, after) = step(&sum("c + d"), &sum("d"), false);
        assert_eq!(before.html, " ⋯ a + a + a + <del>c + </del>d + b + b +  ⋯ ");
        assert_eq!(after.html, " ⋯ a + a + a + d + b + b +  ⋯ ");
        assert!(before.is_short && after.is_short);
        let (whole, _) = step(&sum("c + d"), &sum("d"), true);
        assert_eq!((whole.html, whole.is_short), (sum("<del>c + </del>d"), false));
        let (before, after) = step("a", &"b ".repeat(1000), false);
        assert_eq!((before.html.as_str(), before.is_short, after.is_short), ("<del>a</del>", false, true));
        assert_eq!(after.html.matches('b').count(), MOST / 2);
    }
}
