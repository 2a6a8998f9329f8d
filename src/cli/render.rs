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

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use serde_json::{Value, json};

use super::tame;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{SourceFile, SourceMap, Span};

/// More than this many characters of a line around a place are not drawn.
const WIDTH: usize = 140;
/// Of lines of more bytes only the place is named.
const LONG: usize = 1 << 16;

/// The drawing for people, with a line's end.
pub fn human(diagnostic: &Diagnostic, sources: &SourceMap, color: bool) -> String {
    let diagnostic = &tame::diagnostic(diagnostic);
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
        let name = tame::line(&file.name);
        let labels = || diagnostic.labels.iter().filter(|(span, _)| span.file == number);
        let primary = (diagnostic.span.file == number).then_some(diagnostic.span);
        let spans = primary.into_iter().chain(labels().map(|(span, _)| *span));
        let Some((lines, first)) = lines(file, spans) else {
            let (line, column) = sources.line_column(primary.unwrap_or(Span::new(number, 0, 0))).unwrap_or((1, 1));
            group = group.element(Origin::path(name).line(line).char_column(column));
            for (_, note) in labels() {
                group = group.element(Level::NOTE.message(note.as_str()));
            }
            continue;
        };
        let place = |span: Span| {
            let drawn = drawn(file, span);
            drawn.start - lines.start..drawn.end - lines.start
        };
        let mut annotations: Vec<Annotation> = Vec::new();
        annotations.extend(primary.map(|span| AnnotationKind::Primary.span(place(span))));
        annotations.extend(labels().map(|(span, note)| AnnotationKind::Context.span(place(*span)).label(note.as_str())));
        group = group.element(Snippet::source(&file.text[lines.clone()]).line_start(first).path(name).annotations(annotations));
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

/// The bytes of the lines from the first span to the last, with the line before, and the number of the first of these
/// lines: a drawing costs what it shows, not what the file has. `None` where a line is too long to be drawn.
fn lines(file: &SourceFile, spans: impl Iterator<Item = Span>) -> Option<(std::ops::Range<usize>, usize)> {
    let text = &*file.text;
    let (mut from, mut to) = (text.len(), 0);
    for span in spans {
        let drawn = drawn(file, span);
        let start = text[..drawn.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[drawn.end..].find('\n').map_or(text.len(), |at| drawn.end + at + 1);
        if end - start > LONG {
            return None;
        }
        from = from.min(start);
        to = to.max(end);
    }
    let before = text[..from.saturating_sub(1)].rfind('\n').map_or(0, |at| at + 1);
    let from = if from - before > LONG { from } else { before };
    Some((from..to, text[..from].bytes().filter(|byte| *byte == b'\n').count() + 1))
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
    let diagnostic = &tame::diagnostic(diagnostic);
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
    fn of_a_long_line_the_place_is_named() {
        let mut sources = SourceMap::default();
        let text = format!("let a = 1\n{}\nlet b = 2\n", "x ".repeat(LONG));
        sources.add("v.smooth", &text);
        let problem = Diagnostic::error("E0305", Span::new(0, 30, 31), "no").label(Span::new(0, 0, 3), "here");
        assert_eq!(human(&problem, &sources, false), "error[E0305]: no\n--> v.smooth:2:21\n = note: here\n");
        // the lines around it are drawn as they are elsewhere
        let last = text.len() - 10;
        let shown = human(&Diagnostic::error("E0305", Span::new(0, last, last + 3), "no"), &sources, false);
        assert!(shown.contains("v.smooth:3:1") && shown.contains("3 | let b = 2"), "{shown}");
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
