//! The strategy language: how a schedule says where and in which order rules apply.
//!
//! In: text. Out: a [`Strategy`] with all names resolved.
//!
//!     let simplify = project <+ mul-one <+ add-zero
//!     let rec down (s) = s <+ one (down s)
//!     let main = try (innermost simplify) ; bottomup (try let-dead) ; try (down (build.body double))
//!
//! `rule double : x + x -> 2.0 * x if atomic x` declares a rule of the user's own; further lines of it are indented.
//! `;` binds tighter than `<+`; a combinator takes the atom after it. `file` has the grammar, `resolve` says what names stand for.
//! After 002 Section 5, Visser's Stratego and ELEVATE.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::Diagnostic;
use crate::source::Span;

use super::law::Law;
use super::rule::{Apply, Head, OWN, Part, Rule};
use super::rules;
use file::{Definition, Given};

mod child;
mod file;
mod resolve;

pub use child::Child;

/// The schedules that are built in; strategies may use their definitions, those of the last by preference.
pub const BUILTIN: [(&str, &str); 3] = [
    ("none", include_str!("schedules/none.strategy")),
    ("paper", include_str!("schedules/paper.strategy")),
    ("default", include_str!("schedules/default.strategy")),
];

/// A resolved strategy.
#[derive(Clone)]
pub enum Strategy {
    Id,
    Fail,
    Rule(&'static Rule),
    /// Both in turn.
    Seq(Rc<Strategy>, Rc<Strategy>),
    /// The second where the first fails.
    Choice(Rc<Strategy>, Rc<Strategy>),
    /// A combinator with one argument.
    With(Combinator, Rc<Strategy>),
    /// On one subterm of a term of one form; fails on every other form.
    In(Child, Rc<Strategy>),
    /// A `let` of the file: its steps are one phase of the derivation.
    Named(Rc<str>, Rc<Strategy>),
    /// A definition of `let rec` with its arguments.
    Call(Rc<Recursive>, Rc<[Strategy]>),
    /// In the body of such a definition: itself with other arguments,
    Again(Rc<[Strategy]>),
    /// and the argument of this place.
    Parameter(usize),
}

/// A definition of `let rec`.
#[derive(PartialEq)]
pub struct Recursive {
    pub name: Rc<str>,
    pub body: Strategy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combinator {
    Try,
    Repeat,
    One,
    Some,
    All,
    Topdown,
    Bottomup,
    Innermost,
    Normalize,
    Differentiated,
}

impl PartialEq for Strategy {
    fn eq(&self, other: &Strategy) -> bool {
        match (self, other) {
            (Strategy::Id, Strategy::Id) | (Strategy::Fail, Strategy::Fail) => true,
            (Strategy::Rule(a), Strategy::Rule(b)) => a.name == b.name && a.law == b.law,
            (Strategy::Seq(a, b), Strategy::Seq(c, d)) | (Strategy::Choice(a, b), Strategy::Choice(c, d)) => a == c && b == d,
            (Strategy::With(a, inner), Strategy::With(b, other)) => a == b && inner == other,
            (Strategy::Named(a, inner), Strategy::Named(b, other)) => a == b && inner == other,
            (Strategy::In(a, inner), Strategy::In(b, other)) => a == b && inner == other,
            (Strategy::Call(a, of), Strategy::Call(b, others)) => a == b && of == others,
            (Strategy::Again(of), Strategy::Again(others)) => of == others,
            (Strategy::Parameter(a), Strategy::Parameter(b)) => a == b,
            (Strategy::Id | Strategy::Fail | Strategy::Rule(_) | Strategy::Seq(..), _) => false,
            (Strategy::Choice(..) | Strategy::With(..) | Strategy::In(..) | Strategy::Named(..), _) => false,
            (Strategy::Call(..) | Strategy::Again(_) | Strategy::Parameter(_), _) => false,
        }
    }
}

impl Combinator {
    const ALL: [(&'static str, Combinator); 10] = [
        ("try", Combinator::Try),
        ("repeat", Combinator::Repeat),
        ("one", Combinator::One),
        ("some", Combinator::Some),
        ("all", Combinator::All),
        ("topdown", Combinator::Topdown),
        ("bottomup", Combinator::Bottomup),
        ("innermost", Combinator::Innermost),
        ("normalize", Combinator::Normalize),
        ("differentiated", Combinator::Differentiated),
    ];

    fn named(name: &str) -> Option<Combinator> {
        Combinator::ALL.iter().find(|row| row.0 == name).map(|row| row.1)
    }
}

impl Strategy {
    /// The rules of the user's own, each once.
    pub fn own_rules(&self) -> Vec<&'static Rule> {
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        self.each_rule(&mut |rule| {
            if rule.part == Part::User && seen.insert(std::ptr::from_ref(rule)) {
                found.push(rule);
            }
        });
        found
    }

    fn each_rule(&self, f: &mut dyn FnMut(&'static Rule)) {
        match self {
            Strategy::Id | Strategy::Fail | Strategy::Parameter(_) => {}
            Strategy::Rule(rule) => f(rule),
            Strategy::Seq(a, b) | Strategy::Choice(a, b) => {
                a.each_rule(f);
                b.each_rule(f);
            }
            Strategy::With(_, inner) | Strategy::In(_, inner) | Strategy::Named(_, inner) => inner.each_rule(f),
            Strategy::Again(arguments) => arguments.iter().for_each(|argument| argument.each_rule(f)),
            Strategy::Call(recursive, arguments) => {
                recursive.body.each_rule(f);
                arguments.iter().for_each(|argument| argument.each_rule(f));
            }
        }
    }
}

/// Parses a strategy file, or one strategy. The result is `main`, or the last definition.
pub fn parse(text: &str, file: u32) -> Result<Strategy, Diagnostic> {
    parse_with(text, file, false)
}

/// `is_builtin`: the text is one of the schedules that are built in, which use their own names only.
fn parse_with(text: &str, file: u32, is_builtin: bool) -> Result<Strategy, Diagnostic> {
    // a byte order mark is space, so that places stay
    let marked = text.strip_prefix('\u{feff}').map(|rest| format!("   {rest}"));
    let file = file::parse(marked.as_deref().unwrap_or(text), file)?;
    let mut firsts: FxHashMap<&str, Span> = FxHashMap::default();
    for definition in &file.definitions {
        if let Some(first) = firsts.insert(&definition.name, definition.span) {
            return Err(twice(&definition.name, definition.span).label(first, "here first"));
        }
    }
    resolve::main(&file, is_builtin)
}

fn twice(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0129", span, format!("`{name}` is defined twice")).help("give one of them another name")
}

/// What a schedule that is built in has under this name; `none`, `paper` and `default` are the schedules.
fn builtin(name: &str) -> Option<Strategy> {
    let whole = BUILTIN.iter().find(|(schedule, _)| *schedule == name).map(|(_, text)| text.to_string());
    let text = whole.or_else(|| {
        // the definitions before it, and itself in the last place
        let (_, text) = BUILTIN.iter().rev().find(|(_, text)| text.contains(&format!("let {name} =")))?;
        let start = text.find(&format!("let {name} ="))?;
        let rest = text.get(start + 4..)?;
        let end = rest.find("\nlet ").map_or(text.len(), |end| start + 4 + end);
        text.get(..end).map(str::to_string)
    })?;
    let strategy = parse_with(&text, Span::NONE.file, true).ok()?;
    Some(Strategy::Named(name.into(), strategy.into()))
}

/// All names that a strategy may use, for suggestions.
fn known_names(definitions: &[Definition], given: &Given) -> Vec<String> {
    let mut names: Vec<String> = definitions.iter().map(|definition| definition.name.clone()).collect();
    names.extend(given.keys().map(|name| name.to_string()));
    names.extend(rules::all().map(|rule| rule.name.to_string()));
    names.extend(["id", "fail"].map(String::from));
    names.extend(Combinator::ALL.iter().map(|(name, _)| name.to_string()));
    names.extend(Child::ALL.iter().map(|child| child.name.to_string()));
    for (schedule, text) in BUILTIN {
        names.push(schedule.to_string());
        names.extend(text.lines().filter_map(|line| Some(line.strip_prefix("let ")?.split(' ').next()?.to_string())));
    }
    names
}

/// `rule name : law`, which stands at this place of the file.
fn declared_rule(text: &str, file: u32, at: usize) -> Result<&'static Rule, Diagnostic> {
    let (head, law) = text.split_once(':').ok_or_else(|| {
        Diagnostic::error("E0120", Span::new(file, at, at + text.trim_end().len()), "expected `:` after the rule's name")
            .help("write `rule name : left -> right if condition`")
    })?;
    let name = head.trim().trim_start_matches("rule").trim();
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return Err(Diagnostic::error("E0120", Span::new(file, at, at + head.len()), format!("`{name}` is no name of a rule"))
            .help("names are made of letters, digits, `-` and `_`"));
    }
    let parsed = Law::parse(law, file, at + head.len() + 1)?;
    let law = law.split_whitespace().collect::<Vec<_>>().join(" ");
    // a schedule lives as long as the compiler runs
    let (name, law): (&'static str, &'static str) = (name.to_string().leak(), law.leak());
    Ok(Box::leak(Box::new(Rule {
        name,
        source: OWN,
        part: Part::User,
        group: None,
        law,
        conditions: &[],
        head: Head::Any,
        apply: Apply::Law(parsed),
    })))
}
