//! The cases in the head comment of an example: lines of the comment before the first declaration.
//!
//!     // run: dot [1, 2] [3, 4] = [11.0]              arguments as on the command line; `= VALUE` may be left out
//!     // fails: get [1] 3 with BOUNDS                 a status, or the code of a diagnostic on the arguments (E0806)
//!     // differences: dotGradient [1] [2] of dot in v central differences of dot in v give the entry's value
//!
//! `differences` holds the entry's result, flattened, against the derivatives of the other entry, which is called with
//! the same arguments: first those of its first result in each element of the parameter, then those of the second.

use std::path::{Path, PathBuf};

use smoothc::cli::json::{self, Json};

pub struct Example {
    /// `micro` for `examples/micro.smooth`.
    pub name: String,
    /// As `smoothc` shows it: `examples/micro.smooth`.
    pub path: String,
    pub text: String,
    pub cases: Vec<Case>,
}

pub struct Case {
    /// The line, for messages.
    pub line: String,
    pub entry: String,
    pub words: Vec<String>,
    pub wanted: Wanted,
}

pub enum Wanted {
    Value(Option<Json>),
    Failure(String),
    Differences { of: String, parameter: String },
}

/// All examples, by name.
pub fn all() -> Vec<Example> {
    of_folder("examples")
}

/// Those that only the interpreter runs.
#[allow(dead_code)]
pub fn evaluated() -> Vec<Example> {
    of_folder("examples/evaluated")
}

/// Those that Futhark has no stack for.
#[allow(dead_code)]
pub fn with_a_stack() -> Vec<Example> {
    of_folder("examples/stack")
}

fn of_folder(name: &str) -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "smooth"));
    paths.sort();
    paths.iter().map(|path| read(name, path)).collect()
}

fn read(folder: &str, path: &Path) -> Example {
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let head = text.lines().take_while(|line| line.starts_with("//") && !line.starts_with("///"));
    let cases: Vec<Case> = head.filter_map(|line| case(line.trim_start_matches('/').trim())).collect();
    Example { path: format!("{folder}/{name}.smooth"), name, text, cases }
}

/// Cases that are written elsewhere than in an example.
#[allow(dead_code)]
pub fn from_lines(lines: &[&str]) -> Vec<Case> {
    lines.iter().filter_map(|line| case(line)).collect()
}

fn case(line: &str) -> Option<Case> {
    let (kind, rest) = line.split_once(": ")?;
    let mut words = words(rest);
    let wanted = match kind {
        "run" => match words.iter().position(|word| word == "=") {
            Some(at) => {
                let value = words.split_off(at)[1..].join(" ");
                Wanted::Value(Some(json::parse(&value).unwrap_or_else(|problem| panic!("{line}: {}", problem.message))))
            }
            None => Wanted::Value(None),
        },
        "fails" => {
            let tail = words.split_off(words.len().checked_sub(2).unwrap_or_else(|| panic!("{line}: too short")));
            assert_eq!(tail[0], "with", "{line}: expected `with STATUS` at the end");
            Wanted::Failure(tail[1].clone())
        }
        "differences" => {
            let tail = words.split_off(words.len().checked_sub(4).unwrap_or_else(|| panic!("{line}: too short")));
            assert_eq!((&*tail[0], &*tail[2]), ("of", "in"), "{line}: expected `of ENTRY in PARAMETER` at the end");
            Wanted::Differences { of: tail[1].clone(), parameter: tail[3].clone() }
        }
        _ => return None,
    };
    let entry = words.remove(0);
    Some(Case { line: line.into(), entry, words, wanted })
}

/// Split at the blanks outside of brackets.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut depth) = (vec![String::new()], 0);
    for letter in text.chars() {
        match letter {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ' ' if depth == 0 => {
                words.push(String::new());
                continue;
            }
            _ => {}
        }
        words.last_mut().expect("one at least").push(letter);
    }
    words.retain(|word| !word.is_empty());
    words
}
