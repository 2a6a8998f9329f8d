//! The declarations of the library that a program can mention: most programs mention few of them, and the others are not parsed.
//!
//! In: the texts of a program. Out: the tree of the library with the declarations whose names stand in these texts, those that their
//! operators may be, and what all of these mention in their turn.
//!
//!     let f v = vectorNorm v   →   let vectorMap2 …, let vectorEMul …, let vectorSum …, let vectorDot …, let vectorNorm …

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use crate::syntax::ast::{Decl, Module};

/// The M-tilde library of 001 Figure 4 and what the paper's programs use beside it.
pub const LINALG: &str = include_str!("linalg.smooth");
/// What a source map calls it.
pub const LIBRARY: &str = "linalg";

/// The functions of the library that operators are: the operator, the ranks of its operands, the function.
pub(super) const FUNCTIONS: &[(&str, [usize; 2], &str)] = &[
    ("+", [1, 1], "vectorAdd"),
    ("+", [2, 2], "matrixAdd"),
    ("-", [1, 1], "vectorSub"),
    ("-", [2, 2], "matrixSub"),
    (".*", [1, 1], "vectorEMul"),
    (".*", [2, 2], "matrixEMul"),
    ("*", [0, 1], "vectorSMul"),
    ("*", [1, 0], "vectorSMul"),
    ("*", [0, 2], "matrixSMul"),
    ("*", [2, 0], "matrixSMul"),
    ("*", [2, 1], "matrixVectorMul"),
    ("*", [2, 2], "matrixMul"),
];

/// One declaration of the library, with the comment before it, at its place.
struct Piece {
    start: usize,
    text: &'static str,
}

/// The library's declarations, between which are empty lines, by name.
static PIECES: LazyLock<HashMap<&str, Piece>> = LazyLock::new(|| {
    let texts = LINALG.split("\n\n");
    let starts = texts.clone().scan(0, |next, text| Some(std::mem::replace(next, *next + text.len() + 2)));
    let name = |text: &'static str| text.lines().find_map(|line| words(line.strip_prefix("let ")?).next());
    texts.zip(starts).filter_map(|(text, start)| Some((name(text)?, Piece { start, text }))).collect()
});

thread_local! {
    /// What is parsed of the library as the file of a number: a process that types more than one program parses nothing twice.
    static PARSED: RefCell<(u32, HashMap<Rc<str>, Decl>)> = RefCell::default();
}

/// The names that the library declares, in order.
pub(super) fn names() -> Vec<Rc<str>> {
    let mut names: Vec<(usize, &str)> = PIECES.iter().map(|(name, piece)| (piece.start, *name)).collect();
    names.sort_unstable();
    names.into_iter().map(|(_, name)| name.into()).collect()
}

/// The tree of the library as the file of a number, without what no text of a program mentions; a test holds that it has no errors.
pub(super) fn library<'t>(number: u32, texts: impl Iterator<Item = &'t str>) -> Module {
    let mut needed: HashMap<&str, usize> = HashMap::new();
    let mut found: Vec<&str> = texts.flat_map(mentioned).collect();
    while let Some(name) = found.pop() {
        if let (Some((name, piece)), false) = (PIECES.get_key_value(name), needed.contains_key(name)) {
            needed.insert(name, piece.start);
            found.extend(mentioned(piece.text));
        }
    }
    let mut names: Vec<(usize, &str)> = needed.into_iter().map(|(name, start)| (start, name)).collect();
    names.sort_unstable();
    PARSED.with_borrow_mut(|(known, parsed)| {
        if *known != number {
            (*known, *parsed) = (number, HashMap::new());
        }
        let missing = names.iter().filter(|(_, name)| !parsed.contains_key(*name)).filter_map(|(_, name)| PIECES.get(name));
        let (module, _) = crate::syntax::parse_recovering(&only(missing), number);
        parsed.extend(module.decls.into_iter().map(|decl| (decl.name.text.clone(), decl)));
        Module { decls: names.iter().filter_map(|(_, name)| parsed.get(*name).cloned()).collect(), ..Module::default() }
    })
}

/// The library's text with blanks in the place of all other declarations.
fn only<'p>(pieces: impl Iterator<Item = &'p Piece>) -> String {
    let mut text = String::new();
    for piece in pieces {
        text.extend(std::iter::repeat_n('\n', piece.start - text.len()));
        text.push_str(piece.text);
    }
    text
}

/// The names in a text, and those of the functions that its operators may be.
fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    let signs = text.replace("->", "");
    words(text).chain(FUNCTIONS.iter().filter(move |(sign, ..)| signs.contains(sign)).map(|(.., name)| *name))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '\'').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::infer::infer;
    use super::super::modules::{self, Library};
    use super::*;
    use crate::source::SourceMap;
    use crate::stack::with_large_stack;

    #[test]
    fn each_function_has_what_it_mentions() {
        with_large_stack(|| {
            for name in names() {
                let mut sources = SourceMap::default();
                let main = sources.add("main", &format!("// {name}"));
                let load = &mut |_: &str, _: &str| Err(String::new());
                let (modules, problems) = modules::load(&mut sources, main, None, Library::Mentioned, load);
                assert!(modules.in_library(&name).is_some(), "{name}");
                assert!(problems.is_empty() && infer(&modules).diagnostics.is_empty(), "{name}");
            }
        });
    }

    #[test]
    fn the_whole_library_is_what_the_parser_makes_of_its_text() {
        with_large_stack(|| {
            let (module, problems) = crate::syntax::parse_recovering(LINALG, 3);
            assert_eq!(problems.len(), 0);
            assert_eq!(format!("{:?}", library(3, std::iter::once(LINALG)).decls), format!("{:?}", module.decls));
            let few = library(3, std::iter::once("let f v = vectorSum (v + v)")).decls;
            let few: Vec<&str> = few.iter().map(|decl| &*decl.name.text).collect();
            assert_eq!(few.join(" "), "vectorMap2 vectorAdd vectorSum matrixMap2 matrixAdd");
        });
    }
}
