//! Nothing in `src/` goes round: no files take names from each other in a circle, and no rooms (the modules of `src/lib.rs`) do.
//!
//! In: the texts of the files. Out: each circle, its members and the arrows between them, `file -> file: names`.
//!
//! An arrow goes from a file to the one that defines what it takes, by `use` or by a path in its code, however many other files
//! hand the name on by `use`; `*` takes all that a module hands on. What does not count: what a file takes of a module that it is
//! in; a `pub use` of what is defined below the file, which only hands it on; comments and strings; and what only tests have,
//! items under `#[cfg(test)]` and the files of modules under it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A path as it is written (`super`, `Prim`), or from the root of the crate (`ir`, `prim`, `Prim`).
type Words<'a> = Vec<&'a str>;
type Modules<'a> = BTreeMap<Words<'a>, Module<'a>>;
/// From a file to a file, and the names that it takes there.
type Arrows<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>>;

/// A name that `use` gives, `*` for all of a module.
struct Use<'a> {
    name: &'a str,
    path: Words<'a>,
    /// By `pub use`.
    handed_on: bool,
}

#[derive(Default)]
struct Module<'a> {
    file: &'a str,
    children: Vec<&'a str>,
    uses: Vec<Use<'a>>,
    /// Words and paths elsewhere in its code.
    paths: Vec<Words<'a>>,
}

/// How long the comment, string or quoted character is that a text begins with.
fn silent(text: &str) -> Option<usize> {
    let past = |from: usize, end: &str| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    let raw = text.strip_prefix("br").or(text.strip_prefix('r')).and_then(|rest| rest.split_once('"'));
    match (raw, text.as_bytes()) {
        (Some((hashes, rest)), _) if hashes.bytes().all(|c| c == b'#') => Some(past(text.len() - rest.len(), &format!("\"{hashes}"))),
        (_, [b'/', b'/', ..]) => Some(past(2, "\n")),
        (_, [b'/', b'*', ..]) => Some(past(2, "*/")),
        (_, [b'\'', b'\\', ..]) => Some(past(3, "'")),
        (_, [b'\'', ..]) if text.chars().nth(2) == Some('\'') => Some(past(1, "'")),
        (_, [b'"', rest @ ..]) => {
            let mut at = 0;
            while at < rest.len() && rest[at] != b'"' {
                at += if rest[at] == b'\\' { 2 } else { 1 };
            }
            Some(at + 2)
        }
        _ => None,
    }
}

/// Words, `::` and other characters.
fn tokens(mut text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    while let Some(first) = text.chars().next() {
        let gap = silent(text).or(first.is_whitespace().then_some(first.len_utf8()));
        let word = text.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(text.len());
        let length = gap.unwrap_or(if text.starts_with("::") { 2 } else { word.max(first.len_utf8()) });
        found.extend(gap.is_none().then_some(&text[..length]));
        text = &text[length..];
    }
    found
}

/// How many tokens an item, a field or a statement has: up to its `;`, its `,` or the brace that closes its body.
fn item(tokens: &[&str]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return at,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 && matches!(*token, ";" | "," | "}") {
            return at + 1;
        }
    }
    tokens.len()
}

/// Reads `a::{b, c as d}` below a path, and gives where it ends: at a `,`, a `}` or the `;`.
fn read_use<'a>(tokens: &[&'a str], mut at: usize, below: &[&'a str], handed_on: bool, found: &mut Vec<Use<'a>>) -> usize {
    let (mut path, mut name) = (below.to_vec(), None);
    loop {
        match tokens[at] {
            "::" => {}
            "as" => {
                at += 1;
                name = Some(tokens[at]);
            }
            "{" => {
                while tokens[at] != "}" {
                    at = read_use(tokens, at + 1, &path, handed_on, found);
                }
                return at + 1;
            }
            "," | "}" | ";" => break,
            word => path.push(word),
        }
        at += 1;
    }
    // nothing is between a last comma and its brace
    if path.len() > below.len() {
        path.pop_if(|last| *last == "self");
        found.extend(path.last().map(|last| Use { name: name.unwrap_or(last), path: path.clone(), handed_on }));
    }
    at
}

fn module<'a>(file: &'a str, text: &'a str) -> Module<'a> {
    let tokens = tokens(text);
    let mut module = Module { file, ..Module::default() };
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at..] {
            ["#", "[", "cfg", "(", "test", ")", "]", ref rest @ ..] => at += 7 + item(rest),
            ["mod", name, ";", ..] => {
                module.children.push(name);
                at += 3;
            }
            // `impl Trait + use<'_>` takes no name
            ["use", next, ..] if next != "<" => {
                let handed_on = at > 0 && matches!(tokens[at - 1], "pub" | ")");
                at = read_use(&tokens, at + 1, &[], handed_on, &mut module.uses);
            }
            _ => {
                let mut path = vec![tokens[at]];
                while let ["::", word, ..] = tokens[at + 1..] {
                    path.push(word);
                    at += 2;
                }
                module.paths.push(path);
                at += 1;
            }
        }
    }
    module
}

/// The modules that `lib.rs` has outside of tests, by their paths.
fn modules(texts: &BTreeMap<String, String>) -> Modules<'_> {
    let (mut all, mut found, mut open) = (Modules::new(), Modules::new(), vec![Vec::new()]);
    for (file, text) in texts {
        let mut path: Words = file.trim_end_matches(".rs").split('/').collect();
        path.pop_if(|last| matches!(*last, "mod" | "lib"));
        all.insert(path, module(file, text));
    }
    while let Some(path) = open.pop() {
        if let Some(module) = all.remove(&path) {
            open.extend(module.children.iter().map(|child| [&path[..], &[*child]].concat()));
            found.insert(path, module);
        }
    }
    found
}

/// The module that defines what a path in a module takes, and its name there, after at most so many hops from `use` to `use`:
/// `use log::log` of another crate looks as if it gave itself.
fn home<'m, 'a>(modules: &'m Modules<'a>, inside: &[&'a str], path: &[&'a str], hops: usize) -> Option<(&'m [&'a str], &'a str)> {
    let supers = path.iter().take_while(|word| **word == "super").count();
    let full = match path[0] {
        "crate" => path[1..].to_vec(),
        "self" => [inside, &path[1..]].concat(),
        _ => [&inside[..inside.len().checked_sub(supers)?], &path[supers..]].concat(),
    };
    let (owner, module) = (0..=full.len()).rev().find_map(|length| modules.get_key_value(&full[..length]))?;
    let (name, rest) = full[owner.len()..].split_first()?;
    let next = module.uses.iter().find(|next| next.name == *name && hops > 0);
    next.and_then(|next| home(modules, owner, &[&next.path, rest].concat(), hops - 1)).or(Some((owner, name)))
}

fn arrows<'a>(modules: &Modules<'a>) -> Arrows<'a> {
    let mut arrows = Arrows::new();
    for (inside, module) in modules {
        let uses = module.uses.iter().map(|used| (&inside[..], &used.path, used.handed_on));
        let mut open: Vec<_> = uses.chain(module.paths.iter().map(|path| (&inside[..], path, false))).collect();
        while let Some((at, path, handed_on)) = open.pop() {
            let Some((home, name)) = home(modules, at, path, 16) else { continue };
            if name == "*" && at == inside {
                open.extend(modules[home].uses.iter().filter(|used| used.handed_on).map(|used| (home, &used.path, false)));
            }
            if !(inside.starts_with(home) || handed_on && home.starts_with(inside)) {
                arrows.entry((module.file, modules[home].file)).or_default().insert(name);
            }
        }
    }
    arrows
}

/// The circles of files, or of what files are part of, each as a text.
fn circles(arrows: &Arrows, part: fn(&str) -> &str) -> Vec<String> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        next.entry(part(from)).or_default().extend((part(from) != part(to)).then_some(part(to)));
    }
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for start in next.keys() {
        let (found, mut open) = (reached.entry(start).or_default(), vec![*start]);
        while let Some(at) = open.pop() {
            open.extend(next.get(at).into_iter().flatten().filter(|to| found.insert(to)));
        }
    }
    let is_way = |from: &str, to: &str| reached.get(from).is_some_and(|found| found.contains(to));
    let circle = |at: &&str| reached[at].iter().copied().filter(|to| is_way(to, at)).collect::<Vec<_>>();
    let found: BTreeSet<Vec<&str>> = reached.keys().map(circle).filter(|circle| !circle.is_empty()).collect();
    let text = |circle: Vec<&str>| {
        let within = |(from, to): (&str, &str)| from != to && circle.contains(&from) && circle.contains(&to);
        let arrows = arrows.iter().filter(|((from, to), _)| within((part(from), part(to))));
        let lines = arrows.map(|((from, to), names)| format!("\n    {from} -> {to}: {}", Vec::from_iter(names.iter().copied()).join(", ")));
        circle.join(", ") + &lines.collect::<String>()
    };
    found.into_iter().map(text).collect()
}

fn file(path: &str) -> &str {
    path
}

fn room(path: &str) -> &str {
    path.split(['/', '.']).next().unwrap_or(path)
}

#[test]
fn no_files_and_no_rooms_take_from_each_other_in_a_circle() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    let (mut texts, mut folders) = (BTreeMap::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(root).expect("a path below src").to_str().expect("a name").replace('\\', "/");
                texts.insert(name, std::fs::read_to_string(&path).expect("readable"));
            }
        }
    }
    let modules = modules(&texts);
    let arrows = arrows(&modules);
    assert!(arrows[&("ir/print.rs", "ir/prim.rs")].contains("Prim") && arrows.len() > 1000, "the files are read");
    let found = [circles(&arrows, file), circles(&arrows, room)].concat();
    assert!(found.is_empty(), "these take names from each other:\n{}", found.join("\n"));
}

/// What `a.rs` with this text takes of a room `b`, each file of which takes something of `a.rs`.
fn taken(text: &str) -> Vec<String> {
    let files = [
        ("lib.rs", "pub mod a; mod b; pub use b::B;"),
        ("a.rs", text),
        ("b/mod.rs", "mod inner; pub use inner::{Deep, Inner as Handed,}; pub struct B<'a>(&'a crate::a::A);"),
        ("b/inner.rs", "mod deep; use crate::{a}; pub(super) use self::deep::{self, *}; pub use deep::Deep; pub struct Inner(a::A);"),
        ("b/inner/deep.rs", "use super::super::super::a::{A as Other}; pub struct Deep(Other);"),
        ("a/own.rs", "pub fn f(_: crate::b::B) {}"),
    ];
    let texts = files.map(|(file, text)| (file.to_string(), text.to_string())).into();
    let modules = modules(&texts);
    let found = circles(&arrows(&modules), file).join("\n");
    found.lines().filter_map(|line| line.strip_prefix("    a.rs -> ")).map(String::from).collect()
}

#[test]
fn names_are_taken_where_they_are_defined() {
    let (b, inner, deep) = ("b/mod.rs: B", "b/inner.rs: Inner", "b/inner/deep.rs: Deep");
    assert_eq!(taken("use crate::b::B;"), [b]);
    assert_eq!(taken("use crate::b::{self, B as C}; fn f(_: C, _: b::Handed) {}"), [inner, b]);
    assert_eq!(taken("use super::b::{inner::{self as i, deep::{Deep}}, B}; fn f(_: i::Inner) {}"), [inner, deep, b]);
    assert_eq!(taken("pub(crate) use crate::{b::Deep,};"), [deep]);
    assert_eq!(taken("fn f<'a>(_: &'a super::b::Deep) -> char { '\\'' }"), [deep]);
    assert_eq!(taken("fn f() -> impl Iterator + use<'_> { crate::b::Deep::new() }"), [deep]);
    assert_eq!(taken("use crate::b::inner; fn f() -> inner::deep::Deep { inner::deep::Deep::new() }"), [deep]);
    assert_eq!(taken("use crate::b::*;"), [inner, deep, "b/mod.rs: *"]);
    assert_eq!(taken("use crate::B as C; fn f() { self::C::new(\"\\\"\", '\"', r#\"\"\"#); crate::b::Handed::new() }"), [inner, b]);
    assert_eq!(taken("#[cfg(test)] use crate::b::B; use crate::b::Deep;"), [deep]);
    assert_eq!(taken("struct S { #[cfg(test)] b: [crate::b::B; 2], c: crate::b::Deep }"), [deep]);
    assert_eq!(taken("#[cfg(test)] mod tests { fn f() { if true {} } use crate::b::B; } use crate::b::Deep;"), [deep]);
}

#[test]
fn what_is_not_taken_makes_no_circle() {
    for text in [
        "pub struct A; fn b() -> B { b::B }",
        "// use crate::b::B;\n/* crate::b::B */",
        "const A: &str = \"\\\\\\\" crate::b::B\"; const B: &[u8] = br#\"\" crate::b::B\"#;",
        "use crate::b;",
        "use std::fmt::{self, B}; use log::log; fn f() { log::B }",
        "use crate as b; fn f(_: b::a::B) {}",
        "mod own; pub use own::f;",
        "#[cfg(test)]\n#[path = \"own.rs\"]\nmod own; fn f() { own::f() }",
    ] {
        assert_eq!(taken(text), [""; 0], "{text}");
    }
}

#[test]
fn rooms_may_go_round_where_files_do_not() {
    let texts = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::c::C;"),
        ("b/mod.rs", "pub mod c; use crate::a::A; pub struct D(c::C);"),
        ("b/c.rs", "pub struct C(super::D);"),
    ];
    let texts = texts.map(|(file, text)| (file.to_string(), text.to_string())).into();
    let modules = modules(&texts);
    let arrows = arrows(&modules);
    assert!(circles(&arrows, file).is_empty());
    assert_eq!(circles(&arrows, room), ["a, b\n    a.rs -> b/c.rs: C\n    b/mod.rs -> a.rs: A"]);
}
