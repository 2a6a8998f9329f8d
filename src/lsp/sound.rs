//! What of a text is sound where something else in it is wrong: for what is shown of entries while another declaration is written.
//!
//! In: the analysis of a text. Out: itself where it has no errors, else that of the same text with blanks in the place of the declarations
//! that have errors, and of those that need them.
//!
//!     let f x = x * x⏎let g y = f y + w   →   let f x = x * x⏎

use super::analysis::{Analysis, MAIN, analyse};
use super::documents::Files;

/// The analysis gives up if the rest still has errors after so many rounds: each drops the uses of what the one before dropped.
const ROUNDS: usize = 4;

impl Analysis {
    /// What is known to be right: all of it, or of a text with errors the declarations that check without those that do not.
    pub fn sound(&self, files: &Files) -> &Analysis {
        if self.surveyed.program.is_some() {
            return self;
        }
        self.sound.get_or_init(|| part(self, files).map(Box::new)).as_deref().unwrap_or(self)
    }

    /// Whether a declaration is an entry of what is known to be right.
    pub fn is_entry(&self, name: &str, files: &Files) -> bool {
        let functions = self.sound(files).surveyed.program.as_ref().map(|program| &program.functions);
        functions.and_then(|functions| functions.get(name)).is_some_and(|function| function.is_entry)
    }
}

/// The analysis of what is sound of a text that has errors; places are those of the text.
fn part(whole: &Analysis, files: &Files) -> Option<Analysis> {
    let name = whole.sources.files.first()?.name.to_string();
    let mut text = without_errors(whole)?;
    for _ in 0..ROUNDS {
        let part = analyse(&name, &text, files);
        if part.surveyed.program.is_some() {
            return Some(part);
        }
        text = without_errors(&part)?;
    }
    None
}

/// The text without the declarations that have errors; none where an error is in no declaration.
fn without_errors(analysis: &Analysis) -> Option<String> {
    let mut text = analysis.text().to_string();
    let errors: Vec<usize> =
        analysis.errors().map(|problem| (problem.span.file == MAIN).then_some(problem.span.start as usize)).collect::<Option<_>>()?;
    if errors.is_empty() {
        return None;
    }
    let starts: Vec<usize> = starts(&text).collect();
    for error in errors {
        let at = starts.partition_point(|start| *start <= error).checked_sub(1)?;
        let (start, end) = (*starts.get(at)?, starts.get(at + 1).copied().unwrap_or(text.len()));
        let blank: String = text.get(start..end)?.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        text.replace_range(start..end, &blank);
    }
    Some(text)
}

/// Where declarations begin: at a word or a comment in the first column. A group of `let rec … and …` is one.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    let lines = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    let begins = |line: &str| line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') && !line.starts_with("and ");
    lines.filter(move |(_, line)| begins(line)).map(|(start, _)| start)
}
