//! What type checkers and readers are told of a package.
//!
//! In: how each entry is called. Out: names, types and documentation as the templates lay them out. Names are those that
//! `python/smoothc/_runtime/manifest.py` gives. `%` stands before built-in types, and becomes a prefix where an entry has the name of one.
//!
//!     f' (v: Vector<n>) (k: Index) : Camera   →   f_prime, "v: _npt.ArrayLike, k: _typing.SupportsIndex, ", "Camera"

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde::Serialize;

use super::MARK;
use crate::emit::CFiles;
use crate::emit::calls::{Call, Case, Tree};
use crate::real::Real;

#[derive(Serialize)]
pub struct View {
    doc: String,
    /// Whether an entry or a record has the name of a built-in type.
    shadows: bool,
    records: Vec<RecordView>,
    entries: Vec<EntryView>,
    names: Vec<String>,
}

#[derive(Serialize)]
struct RecordView {
    name: String,
    fields: Vec<String>,
}

#[derive(Serialize)]
struct EntryView {
    name: String,
    /// With a comma after each.
    parameters: String,
    result: String,
    doc: Vec<String>,
}

/// What the templates show.
pub fn view(calls: &[Call], files: &CFiles, real: Real) -> View {
    let values = || calls.iter().flat_map(|call| call.parameters.iter().map(|parameter| &parameter.value).chain([&call.result]));
    let mut classes = Classes { names: IndexMap::new(), taken: own_names() };
    values().for_each(|value| classes.note(value));
    let mut records = IndexMap::new();
    values().for_each(|value| classes.note_fields(value, false, real, &mut records));
    let mut taken = classes.taken.clone();
    let mut entries = Vec::new();
    for call in calls {
        let mut names = BTreeSet::from(["out".to_string()]);
        let mut parameters = String::new();
        for parameter in &call.parameters {
            parameters += &format!("{}: {}, ", identifier(&parameter.name, &mut names), classes.taken_as(&parameter.value, false));
        }
        let documented = files.entries.iter().find(|entry| entry.source_name == call.source_name).map(|entry| entry.doc.as_str());
        entries.push(EntryView {
            name: identifier(call.source_name, &mut taken),
            parameters,
            result: classes.given_as(&call.result, false, real),
            doc: doc(documented.filter(|doc| !doc.is_empty()).unwrap_or(call.source_name)),
        });
    }
    let mut records: Vec<RecordView> = records
        .into_iter()
        .map(|(name, fields)| RecordView {
            name,
            fields: fields
                .into_iter()
                .map(|(name, types)| format!("{name}: {}", types.into_iter().collect::<Vec<_>>().join(" | ")))
                .collect(),
        })
        .collect();
    let mut names: Vec<String> = vec![ERROR.into(), SET_WORKSPACE.into()];
    names.extend(records.iter().map(|record| record.name.clone()).chain(entries.iter().map(|entry| entry.name.clone())));
    let shadows = names.iter().any(|name| BUILT_IN.contains(&name.as_str()));
    let prefix = if shadows { "_builtins." } else { "" };
    let types = records.iter_mut().flat_map(|record| &mut record.fields);
    for text in types.chain(entries.iter_mut().flat_map(|entry| [&mut entry.parameters, &mut entry.result])) {
        *text = text.replace('%', prefix);
    }
    let source = quoted(&files.provenance.source);
    let doc = format!("{MARK}{source}, compiled by smoothc {}: NumPy arrays in, NumPy arrays out.\"\"\"", env!("CARGO_PKG_VERSION"));
    View { doc, shadows, records, entries, names }
}

/// A docstring.
fn doc(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(|line| quoted(line.trim())).collect();
    if let Some(first) = lines.first_mut() {
        first.insert_str(0, "\"\"\"");
    }
    match lines.as_mut_slice() {
        [only] => only.push_str("\"\"\""),
        _ => lines.push("\"\"\"".into()),
    }
    lines
}

/// A text that ends no string and has no escapes in it.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// What is no name in Python.
pub const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
    "while", "with", "yield",
];

/// What a package calls the error of a status.
const ERROR: &str = "StatusError";

/// What a package calls the function that gives recursion more room.
const SET_WORKSPACE: &str = "set_workspace";

/// What else has a name in a package: no entry and no record is called so.
const OWN_NAMES: [&str; 11] =
    ["_Out", "_Real", "_abc", "_builtins", "_dataclasses", "_library", "_np", "_npt", "_opened", "_runtime", "_typing"];

/// Names of the standard library that NumPy and packages import: a package of such a name stands in its place.
pub const IMPORTED: &str = "abc ast base64 binascii bisect builtins bz2 codecs collections contextlib contextvars copy copyreg ctypes dataclasses datetime \
    dis encodings enum errno fcntl fnmatch functools genericpath hashlib hmac html importlib inspect io ipaddress itertools json \
    keyword linecache locale lzma marshal math ntpath numbers numpy opcode operator os pathlib pickle platform posix posixpath \
    random re reprlib secrets select selectors shutil signal site stat struct subprocess sys sysconfig tempfile textwrap threading \
    time token tokenize types typing urllib warnings weakref zipimport zlib";

fn own_names() -> BTreeSet<String> {
    OWN_NAMES.iter().chain(&[ERROR, SET_WORKSPACE]).map(|name| name.to_string()).collect()
}

/// The built-in types that signatures mention.
const BUILT_IN: [&str; 6] = ["float", "int", "bool", "str", "tuple", "list"];

/// A Python name for a name of the source, different from those that are taken.
fn identifier(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = name.replace('\'', "_prime");
    // Python gives a meaning to such names
    if name.starts_with("__") && name.ends_with("__") {
        name.push('_');
    }
    while KEYWORDS.contains(&name.as_str()) || taken.contains(&name) {
        name.push('_');
    }
    taken.insert(name.clone());
    name
}

/// Whether a value is made of `()` alone: an array of such is a list.
fn is_hollow(tree: &Tree) -> bool {
    match tree {
        Tree::Double { .. } | Tree::Index { .. } | Tree::Bool { .. } => false,
        Tree::Array { element, .. } => is_hollow(element),
        Tree::Tuple { parts } => parts.iter().all(is_hollow),
        Tree::Record { fields, .. } => fields.iter().all(|field| is_hollow(&field.value)),
    }
}

/// The type of a value of a sum type without data: the names of its cases.
fn names_of(cases: &[Case]) -> String {
    let names: Vec<String> = cases.iter().map(|case| format!("{:?}", case.name)).collect();
    format!("_typing.Literal[{}]", names.join(", "))
}

/// What tells classes of records apart: the name of the type, those of its fields, and its cases with the fields that have their data.
#[derive(PartialEq, Eq, Hash)]
struct Class {
    record: String,
    fields: Vec<String>,
    cases: Vec<(String, Option<String>)>,
}

impl Class {
    fn of(tree: &Tree) -> Option<Class> {
        let Tree::Record { record, fields, cases } = tree else { return None };
        Some(Class {
            record: record.clone(),
            fields: fields.iter().map(|field| field.name.clone()).collect(),
            cases: cases.iter().map(|case| (case.name.clone(), case.field.clone())).collect(),
        })
    }
}

/// The Python names of records' types; of two that would have one name the second gets another.
struct Classes {
    names: IndexMap<Class, String>,
    taken: BTreeSet<String>,
}

impl Classes {
    /// Names the records in a value, a record before its fields.
    fn note(&mut self, tree: &Tree) {
        match tree {
            Tree::Double { .. } | Tree::Index { .. } | Tree::Bool { .. } => {}
            Tree::Array { element, .. } => self.note(element),
            Tree::Tuple { parts } => parts.iter().for_each(|part| self.note(part)),
            Tree::Record { record, fields, .. } => {
                if let Some(class) = Class::of(tree).filter(|class| !self.names.contains_key(class)) {
                    self.names.insert(class, identifier(record, &mut self.taken));
                }
                fields.iter().for_each(|field| self.note(&field.value));
            }
        }
    }

    fn name(&self, tree: &Tree) -> String {
        Class::of(tree).and_then(|class| self.names.get(&class).cloned()).unwrap_or_default()
    }

    /// The type of what may be passed.
    fn taken_as(&self, tree: &Tree, in_array: bool) -> String {
        match tree {
            Tree::Double { .. } | Tree::Index { .. } | Tree::Bool { .. } if in_array => "_npt.ArrayLike".into(),
            Tree::Double { .. } => "_Real".into(),
            Tree::Index { cases, .. } if !cases.is_empty() => {
                format!("{} | _typing.SupportsIndex | _abc.Mapping[%str, _typing.Any]", names_of(cases))
            }
            Tree::Index { .. } => "_typing.SupportsIndex".into(),
            Tree::Bool { .. } => "%bool | _np.bool_".into(),
            Tree::Array { .. } if is_hollow(tree) => "%list[_typing.Any] | _typing.SupportsIndex".into(),
            Tree::Array { element, .. } => self.taken_as(element, true),
            Tree::Tuple { parts } if parts.is_empty() => "%tuple[()] | None".into(),
            Tree::Tuple { parts } => {
                let parts: Vec<String> = parts.iter().map(|part| self.taken_as(part, in_array)).collect();
                let listed = if in_array { " | %list[_typing.Any]" } else { "" };
                format!("%tuple[{}]{listed}", parts.join(", "))
            }
            Tree::Record { cases, .. } => {
                let listed = if in_array { " | %list[_typing.Any]" } else { "" };
                let listed = format!(" | %tuple[_typing.Any, ...]{listed}");
                // a case without data is its name
                let named = if cases.iter().any(|case| case.field.is_none()) && !in_array { " | %str" } else { "" };
                format!("{} | _abc.Mapping[%str, _typing.Any]{listed}{named}", self.name(tree))
            }
        }
    }

    /// The type of what is returned.
    fn given_as(&self, tree: &Tree, in_array: bool, real: Real) -> String {
        let array = |element: &str| format!("_npt.NDArray[_np.{element}]");
        match tree {
            Tree::Double { .. } if in_array => array(if real == Real::F32 { "float32" } else { "float64" }),
            Tree::Index { .. } if in_array => array("int64"),
            Tree::Bool { .. } if in_array => array("bool_"),
            Tree::Double { .. } => "%float".into(),
            Tree::Index { cases, .. } if !cases.is_empty() => names_of(cases),
            Tree::Index { .. } => "%int".into(),
            Tree::Bool { .. } => "%bool".into(),
            Tree::Array { .. } if is_hollow(tree) => "%list[_typing.Any]".into(),
            Tree::Array { element, .. } => self.given_as(element, true, real),
            Tree::Tuple { parts } if parts.is_empty() => "%tuple[()]".into(),
            Tree::Tuple { parts } => {
                let parts: Vec<String> = parts.iter().map(|part| self.given_as(part, in_array, real)).collect();
                format!("%tuple[{}]", parts.join(", "))
            }
            Tree::Record { .. } => self.name(tree),
        }
    }

    /// The fields of records, with every type that they have in some entry.
    fn note_fields(&self, tree: &Tree, in_array: bool, real: Real, found: &mut IndexMap<String, IndexMap<String, BTreeSet<String>>>) {
        match tree {
            Tree::Double { .. } | Tree::Index { .. } | Tree::Bool { .. } => {}
            Tree::Array { element, .. } => self.note_fields(element, true, real, found),
            Tree::Tuple { parts } => parts.iter().for_each(|part| self.note_fields(part, in_array, real, found)),
            Tree::Record { fields, .. } => {
                let known = found.entry(self.name(tree)).or_default();
                let mut taken = BTreeSet::new();
                for field in fields {
                    known.entry(identifier(&field.name, &mut taken)).or_default().insert(self.given_as(&field.value, in_array, real));
                }
                fields.iter().for_each(|field| self.note_fields(&field.value, in_array, real, found));
            }
        }
    }
}
