//! Drawing diagnostics: for people with the source line and the place underlined, for programs as JSON.
//!
//!     error[E0305]: expected a Double, found an Index
//!       --> v.smooth:3:17
//!        |
//!      3 | let f (x: Double) = x + length v
//!        |                         ^^^^^^^^
//!        = help: convert it with `double`
//!
//! As JSON, one object a line: `code`, `severity`, `message`, `file`, `line`, `column`, `end_line`,
//! `end_column` (from 1, columns in characters, the end exclusive; null without a place), `labels`, `help`.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{SourceFile, SourceMap, Span};

/// More than this many characters of a line around a place are not drawn.
const WIDTH: usize = 140;

/// The drawing for people, with a line's end.
pub fn human(diagnostic: &Diagnostic, sources: &SourceMap, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()).id(diagnostic.code));
    // the primary file first, then each other file that a label names
    let mut files: Vec<u32> = Vec::new();
    for span in std::iter::once(diagnostic.span).chain(diagnostic.labels.iter().map(|(span, _)| *span)) {
        if sources.file(span).is_some() && !files.contains(&span.file) {
            files.push(span.file);
        }
    }
    for number in files {
        let Some(file) = sources.files.get(number as usize) else { continue };
        let mut annotations: Vec<Annotation> = Vec::new();
        if diagnostic.span.file == number {
            annotations.push(AnnotationKind::Primary.span(drawn(file, diagnostic.span)));
        }
        for (span, note) in diagnostic.labels.iter().filter(|(span, _)| span.file == number) {
            annotations.push(AnnotationKind::Context.span(drawn(file, *span)).label(note.as_str()));
        }
        group = group.element(Snippet::source(&*file.text).path(&*file.name).annotations(annotations));
    }
    for (_, note) in diagnostic.labels.iter().filter(|(span, _)| sources.file(*span).is_none()) {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.term_width(WIDTH).render(&[group]);
    text.push('\n');
    text
}

/// The bytes to underline: inside the text, on character boundaries, and no further than the first line.
fn drawn(file: &SourceFile, span: Span) -> std::ops::Range<usize> {
    let text = &*file.text;
    let start = floor(text, span.start as usize);
    let end = floor(text, span.end as usize).max(start);
    let line_end = text[start..end].find('\n').map_or(end, |at| start + at);
    start..line_end
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The JSON object, on one line with its end.
pub fn json(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let mut object = json!({
        "code": diagnostic.code,
        "severity": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": diagnostic.message,
        "labels": diagnostic.labels.iter().map(|(span, note)| {
            let mut label = json!({ "message": note });
            add_place(&mut label, *span, sources);
            label
        }).collect::<Vec<_>>(),
        "help": diagnostic.help,
    });
    add_place(&mut object, diagnostic.span, sources);
    format!("{object}\n")
}

fn add_place(object: &mut Value, span: Span, sources: &SourceMap) {
    let name = sources.file(span).map(|file| file.name.to_string());
    let start = sources.line_column(span);
    let end = sources.line_column(Span { start: span.end.max(span.start), ..span });
    object["file"] = json!(name);
    object["line"] = json!(start.map(|(line, _)| line));
    object["column"] = json!(start.map(|(_, column)| column));
    object["end_line"] = json!(end.map(|(line, _)| line));
    object["end_column"] = json!(end.map(|(_, column)| column));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> SourceMap {
        let mut sources = SourceMap::default();
        sources.add("v.smooth", "let é = 1\nlet f x =\n  x + é\n");
        sources
    }

    #[test]
    fn a_person_sees_the_line_and_the_help() {
        let sources = sources();
        let problem = Diagnostic::error("E0305", Span::new(0, 22, 27), "expected a Double")
            .label(Span::new(0, 4, 6), "declared here")
            .help("do this");
        let text = human(&problem, &sources, false);
        for part in ["error[E0305]: expected a Double", "v.smooth:3:2", "x + é", "^", "declared here", "help: do this"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        assert!(human(&problem, &sources, true).contains('\u{1b}'));
    }

    #[test]
    fn every_span_can_be_drawn() {
        let sources = sources();
        let length = sources.files[0].text.len() + 3;
        for start in 0..length {
            for end in 0..length {
                let problem = Diagnostic::error("E0001", Span::new(0, start, end), "m")
                    .label(Span::new(0, end, start), "l")
                    .label(Span::new(9, 0, 1), "x");
                human(&problem, &sources, false);
                json(&problem, &sources);
            }
        }
        assert_eq!(human(&Diagnostic::error("E0001", Span::NONE, "no place"), &sources, false), "error[E0001]: no place\n");
    }

    #[test]
    fn a_program_reads_one_object_a_line() {
        let sources = sources();
        let text = json(&Diagnostic::warning("E0203", Span::new(0, 23, 24), "a\nb"), &sources);
        assert_eq!(text.matches('\n').count(), 1);
        let object: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&object["line"], &object["column"], &object["end_column"]), (&json!(3), &json!(3), &json!(4)));
        assert_eq!((&object["severity"], &object["help"], &object["file"]), (&json!("warning"), &Value::Null, &json!("v.smooth")));
        let nowhere: Value = serde_json::from_str(&json(&Diagnostic::error("E0001", Span::NONE, "m"), &sources)).expect("JSON");
        assert_eq!(nowhere["line"], Value::Null);
    }
}
