//! Renaming: every place of one name, in all files where it is written.
//!
//! In: an analysis, a name in it and the new one. Out: the places to change, or why it cannot be renamed. The changed text is analysed
//! once more: each name must mean the same declaration as before, so that nothing is captured and nothing hidden. A text that was not
//! read, since it does not parse, may have places that are not known: [`all_known`].
//!
//!     let f x = let y = 1.0 in x + y, x → y   →   refused: `y` would mean another declaration at 1:28

use std::collections::HashMap;
use std::rc::Rc;

use super::analysis::{Analysis, MAIN, analyse};
use super::documents::Files;
use super::names::{Definition, Names, Occurrence, What};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::RESERVED;

/// The place that is renamed, where the name under the pointer can be.
pub fn prepare(analysis: &Analysis, found: Occurrence) -> Result<Span, String> {
    let definition = analysis.names.definition(found.definition).ok_or("this name is not known")?;
    let owner = match definition.what {
        What::Local | What::Size | What::Global(_) | What::Type(_) | What::Field => return Ok(found.span),
        What::Library(_) => "a function of the library",
        What::BuiltIn => "a built-in name",
    };
    Err(format!("`{}` is {owner}: it cannot be renamed", definition.name))
}

/// Whether the name under the pointer can be renamed, and to this one.
pub fn possible(analysis: &Analysis, found: Occurrence, name: &str) -> Result<(), String> {
    prepare(analysis, found)?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '\'');
    if !is_name || name == "_" {
        return Err(format!("`{name}` is no name: an ASCII letter or `_`, then letters, digits, `_` and `'`"));
    }
    if RESERVED.contains(&name) {
        return Err(format!("`{name}` is a reserved word"));
    }
    Ok(())
}

/// The places of the name, in the order of files and places.
pub fn rename(analysis: &Analysis, found: Occurrence, name: &str, files: &Files) -> Result<Vec<Span>, String> {
    let places: Vec<Span> = analysis.names.places(found.definition).collect();
    same_meaning(analysis, &places, name, files)?;
    Ok(places)
}

/// Refuses a name that may have places which are not known: in a text that was not read, or as the field of a record that is not known.
/// All places of a local name or a size are in its own declaration, which was read. `main` is the file that the change is asked for in.
pub fn all_known(analysis: &Analysis, definition: &Definition, name: &str, main: &str) -> Result<(), String> {
    let is_field = match definition.what {
        What::Local | What::Size | What::Library(_) | What::BuiltIn => return Ok(()),
        What::Global(_) | What::Type(_) => false,
        What::Field => true,
    };
    let (sources, old) = (&analysis.sources, &*definition.name);
    let line = |span: Span| {
        let (line, file) = (sources.line_column(span).map_or(0, |(line, _)| line), sources.file(span).map(|file| &*file.name));
        match file.filter(|file| *file != main).and_then(|file| file.rsplit(['/', '\\']).next()) {
            Some(file) => format!("line {line} of `{file}`"),
            None => format!("line {line}"),
        }
    };
    for span in &analysis.modules.unread {
        let Some((word, place)) = [old, name].into_iter().find_map(|word| Some((word, sources.word(*span, word)?))) else { continue };
        let problem =
            analysis.errors().find(|problem| span.file == problem.span.file && (span.start..=span.end).contains(&problem.span.start));
        let wrong = match problem {
            Some(problem) if !problem.code.starts_with("E01") => format!("{} has an error ({})", line(problem.span), problem.message),
            Some(_) | None => format!("{} does not parse", line(problem.map_or(place, |problem| problem.span))),
        };
        return Err(match word == old {
            true => format!("{wrong}, so that places of the name may be missed: mend it first"),
            false => format!("{wrong}, and has `{name}`, which may mean another declaration then: mend it first"),
        });
    }
    // a program without errors has no such field
    let unknown = analysis.names.unknown.iter().find(|(field, _)| is_field && **field == *old);
    match unknown.filter(|_| analysis.errors().next().is_some()) {
        Some((_, place)) => Err(format!("errors hide which record has the `{old}` in {}: mend them first", line(*place))),
        None => Ok(()),
    }
}

/// Whether each name of the text means the same after the change.
fn same_meaning(analysis: &Analysis, places: &[Span], name: &str, files: &Files) -> Result<(), String> {
    let mut files = files.clone();
    for (number, file) in analysis.sources.files.iter().enumerate() {
        let inside: Vec<&Span> = places.iter().filter(|place| place.file as usize == number).collect();
        if !inside.is_empty() {
            files.open.insert(file.name.to_string(), replaced(&file.text, &inside, name).into());
        }
    }
    let main = analysis.sources.files.first().map(|file| file.name.to_string()).unwrap_or_default();
    let text = files.open.get(&main).cloned().unwrap_or_else(|| analysis.text().into());
    let after = analyse(&main, &text, &files);
    if name.starts_with(|c: char| c.is_ascii_uppercase()) && is_case_after(analysis, &after, places, name) {
        return Err(format!("`{name}` cannot be used here: in a pattern a name with a capital is a case, not a variable"));
    }
    // where a declaration of cases is wrong, what it declares is unknown: the names that miss it are not the reason
    if let Some(problem) = new_errors(analysis, &after).find(|problem| problem.code == "E0312") {
        return Err(format!("`{name}` cannot be used here: {}", problem.message));
    }
    let (old, new) = (&analysis.names, &after.names);
    let (old_numbers, new_numbers) = (numbers(old), numbers(new));
    for (a, b) in old.occurrences.iter().zip(&new.occurrences) {
        if meaning(old, &old_numbers, a) != meaning(new, &new_numbers, b) {
            let place = analysis.sources.line_column(a.span).map_or(String::new(), |(line, column)| format!(" at {line}:{column}"));
            return Err(format!("`{name}` is taken: with this name another declaration would be meant{place}"));
        }
    }
    let errors = |analysis: &Analysis| analysis.errors().filter(|problem| problem.span.file == MAIN).count();
    if old.occurrences.len() != new.occurrences.len() || errors(analysis) < errors(&after) {
        let said = new_errors(analysis, &after).next().map(|problem| format!(": {}", problem.message)).unwrap_or_default();
        return Err(format!("`{name}` cannot be used here{said}"));
    }
    Ok(())
}

/// Whether a local name is no local name any more, where a pattern declares it.
fn is_case_after(analysis: &Analysis, after: &Analysis, places: &[Span], name: &str) -> bool {
    let is_local = |known: &&Definition| known.what == What::Local;
    let declared = |at: &Span| analysis.names.definitions.iter().filter(is_local).any(|known| known.place == Some(*at));
    let Some(number) = places.iter().position(declared) else { return false };
    let (place, before) = (places[number], places[..number].iter().filter(|place| place.file == places[number].file));
    // places before it have grown
    let start = before.fold(place.start as usize, |start, place| start + name.len() - (place.end - place.start) as usize);
    let now = Span::new(place.file, start, start + name.len());
    !after.names.definitions.iter().filter(is_local).any(|known| known.place == Some(now))
}

/// The errors that were not there before the change.
fn new_errors<'a>(before: &'a Analysis, after: &'a Analysis) -> impl Iterator<Item = &'a Diagnostic> {
    let mut known: Vec<&str> = before.errors().map(|problem| problem.message.as_str()).collect();
    after.errors().filter(move |problem| match known.iter().position(|message| *message == problem.message) {
        Some(at) => {
            known.swap_remove(at);
            false
        }
        None => true,
    })
}

/// The occurrences in their order, which is the same in both texts.
fn numbers(names: &Names) -> HashMap<Span, usize> {
    names.occurrences.iter().enumerate().map(|(number, found)| (found.span, number)).collect()
}

/// What an occurrence means: the number of the place of its declaration, or the name of what is declared in no file.
fn meaning(names: &Names, numbers: &HashMap<Span, usize>, found: &Occurrence) -> Result<usize, Rc<str>> {
    let Some(definition) = names.definition(found.definition) else { return Err("".into()) };
    definition.place.and_then(|place| numbers.get(&place)).copied().ok_or_else(|| definition.name.clone())
}

fn replaced(text: &str, places: &[&Span], name: &str) -> String {
    let mut new = String::with_capacity(text.len());
    let mut end = 0;
    for place in places {
        new += text.get(end..place.start as usize).unwrap_or_default();
        new += name;
        end = place.end as usize;
    }
    new + text.get(end..).unwrap_or_default()
}
