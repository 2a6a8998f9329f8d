//! The strategy language: how a schedule says where and in which order rules apply.
//!
//! In: text. Out: a [`Strategy`] with all names resolved.
//!
//!     let simplify = project <+ mul-one <+ add-zero
//!     let main = try (innermost simplify) ; bottomup (try let-dead)
//!
//! `rule double : x + x -> 2.0 * x if atomic x` declares a rule of the user's own; further lines of it are indented.
//! `;` binds tighter than `<+`; a combinator takes the atom after it. `let name (s) = …` is expanded where
//! it is used, so strategies do not recurse: `repeat` and the traversals do. After 002 Section 5,
//! Visser's Stratego and ELEVATE.

use std::cell::Cell;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::{Diagnostic, nearest};
use crate::source::Span;

use super::law::Law;
use super::rule::{Apply, Head, OWN, Part, Rule};
use super::rules;

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
    /// A `let` of the file: its steps are one phase of the derivation.
    Named(Rc<str>, Rc<Strategy>),
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
}

impl PartialEq for Strategy {
    fn eq(&self, other: &Strategy) -> bool {
        match (self, other) {
            (Strategy::Id, Strategy::Id) | (Strategy::Fail, Strategy::Fail) => true,
            (Strategy::Rule(a), Strategy::Rule(b)) => a.name == b.name && a.law == b.law,
            (Strategy::Seq(a, b), Strategy::Seq(c, d)) | (Strategy::Choice(a, b), Strategy::Choice(c, d)) => a == c && b == d,
            (Strategy::With(a, inner), Strategy::With(b, other)) => a == b && inner == other,
            (Strategy::Named(a, inner), Strategy::Named(b, other)) => a == b && inner == other,
            (Strategy::Id | Strategy::Fail | Strategy::Rule(_) | Strategy::Seq(..), _) => false,
            (Strategy::Choice(..) | Strategy::With(..) | Strategy::Named(..), _) => false,
        }
    }
}

impl Combinator {
    fn named(name: &str) -> Option<Combinator> {
        Some(match name {
            "try" => Combinator::Try,
            "repeat" => Combinator::Repeat,
            "one" => Combinator::One,
            "some" => Combinator::Some,
            "all" => Combinator::All,
            "topdown" => Combinator::Topdown,
            "bottomup" => Combinator::Bottomup,
            "innermost" => Combinator::Innermost,
            "normalize" => Combinator::Normalize,
            _ => return None,
        })
    }
}

impl Strategy {
    /// The rules of a choice between rules; `None` for any other strategy.
    pub fn rule_set(&self) -> Option<Vec<&'static Rule>> {
        match self {
            Strategy::Fail => Some(Vec::new()),
            Strategy::Rule(rule) => Some(vec![*rule]),
            Strategy::Choice(a, b) => {
                let mut rules = a.rule_set()?;
                rules.extend(b.rule_set()?);
                Some(rules)
            }
            Strategy::Named(_, inner) => inner.rule_set(),
            Strategy::Id | Strategy::Seq(..) | Strategy::With(..) => None,
        }
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
            Strategy::Id | Strategy::Fail => {}
            Strategy::Rule(rule) => f(rule),
            Strategy::Seq(a, b) | Strategy::Choice(a, b) => {
                a.each_rule(f);
                b.each_rule(f);
            }
            Strategy::With(_, inner) | Strategy::Named(_, inner) => inner.each_rule(f),
        }
    }
}

/// A definition of the file.
struct Definition {
    name: String,
    span: Span,
    /// The tokens of the body, and the parameter that stands for a strategy.
    parameter: Option<String>,
    body: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq)]
struct Token {
    text: String,
    span: Span,
}

/// Parses a strategy file, or one strategy. The result is `main`, or the last definition.
pub fn parse(text: &str, file: u32) -> Result<Strategy, Diagnostic> {
    parse_with(text, file, false)
}

/// `is_builtin`: the text is one of the schedules that are built in, which use their own names only.
fn parse_with(text: &str, file: u32, is_builtin: bool) -> Result<Strategy, Diagnostic> {
    // a byte order mark is space, so that places stay
    let marked = text.strip_prefix('\u{feff}').map(|rest| format!("   {rest}"));
    let (text, given) = declared_rules(marked.as_deref().unwrap_or(text), file)?;
    let tokens = tokens(&text, file)?;
    let definitions = definitions(tokens)?;
    let mut firsts: FxHashMap<&str, Span> = FxHashMap::default();
    for definition in &definitions {
        if let Some(first) = firsts.insert(&definition.name, definition.span) {
            return Err(twice(&definition.name, definition.span).label(first, "here first"));
        }
    }
    let Some(main) = definitions.iter().position(|d| d.name == "main").or_else(|| definitions.len().checked_sub(1)) else {
        return Err(Diagnostic::error("E0120", Span::new(file, 0, 0), "expected a strategy, found nothing").help("write `let main = id`"));
    };
    if definitions[main].parameter.is_some() {
        return Err(Diagnostic::error(
            "E0121",
            Span::new(file, 0, 0),
            format!("`{}` has a parameter: it cannot run by itself", definitions[main].name),
        ));
    }
    Parser {
        definitions: &definitions[..main],
        file: &definitions,
        given: &given,
        argument: None,
        tokens: &definitions[main].body,
        at: 0,
        end: Span::new(file, text.len(), text.len()),
        atoms: &Cell::new(0),
        builtin: is_builtin,
    }
    .all()
}

fn twice(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0129", span, format!("`{name}` is defined twice")).help("give one of them another name")
}

/// A strategy of more atoms than this, written out, is refused.
const ATOMS: usize = 100_000;

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
    names.extend(["id", "fail", "try", "repeat", "one", "some", "all", "topdown", "bottomup", "innermost", "normalize"].map(String::from));
    for (schedule, text) in BUILTIN {
        names.push(schedule.to_string());
        names.extend(text.lines().filter_map(|line| Some(line.strip_prefix("let ")?.split(' ').next()?.to_string())));
    }
    names
}

/// The rules of the user's own by their names, in their order.
type Given = IndexMap<&'static str, &'static Rule>;

/// The file's own rules, and its text without them, every other character at its place.
fn declared_rules(text: &str, file: u32) -> Result<(String, Given), Diagnostic> {
    let (mut rest, mut given, mut at) = (String::new(), Given::new(), 0);
    let mut lines = text.split_inclusive('\n').peekable();
    let starts = |line: &str, word: &str| line.trim_start().strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t']));
    while let Some(line) = lines.next() {
        let start = at;
        at += line.len();
        if !starts(line, "rule") {
            rest.push_str(line);
            continue;
        }
        let mut declared = without_comment(line);
        let goes_on =
            |line: &&str| line.starts_with([' ', '\t']) && !line.trim().is_empty() && !starts(line, "rule") && !starts(line, "let");
        while let Some(more) = lines.next_if(goes_on) {
            declared.push_str(&without_comment(more));
            at += more.len();
        }
        let rule = declared_rule(&declared, file, start)?;
        if given.insert(rule.name, rule).is_some() {
            return Err(twice(rule.name, Span::new(file, start, start + line.trim_end().len())));
        }
        rest.extend(std::iter::repeat_n(' ', at - start - 1).chain(['\n']));
    }
    Ok((rest, given))
}

/// The line with spaces for the comment at its end.
fn without_comment(line: &str) -> String {
    match line.split_once("//") {
        Some((code, comment)) => format!("{code}{}", " ".repeat(comment.len() + 2)),
        None => line.to_string(),
    }
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

fn tokens(text: &str, file: u32) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while bytes.get(at).is_some_and(|byte| *byte != b'\n') {
                    at += 1;
                }
                continue;
            }
            b';' | b'(' | b')' | b'=' => at += 1,
            b'<' if bytes.get(at + 1) == Some(&b'+') => at += 2,
            _ if byte.is_ascii_alphanumeric() || byte == b'_' => {
                while bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
                    at += 1;
                }
            }
            _ => {
                return Err(Diagnostic::error("E0122", Span::new(file, at, at + 1), "expected a strategy, found another character")
                    .help("strategies are made of names, `;`, `<+`, `=` and parentheses"));
            }
        }
        tokens.push(Token { text: text[start..at].to_string(), span: Span::new(file, start, at) });
    }
    Ok(tokens)
}

/// Splits at `let`; text without any is one definition called `main`.
fn definitions(tokens: Vec<Token>) -> Result<Vec<Definition>, Diagnostic> {
    let mut definitions: Vec<Definition> = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    if rest.peek().is_some_and(|token| token.text != "let") {
        return Ok(vec![Definition { name: "main".to_string(), span: Span::NONE, parameter: None, body: rest.collect() }]);
    }
    while let Some(keyword) = rest.next() {
        let expected = |what: &str, at: Span| {
            Diagnostic::error("E0123", at, format!("expected {what} in this definition")).help("write `let name = s` or `let name (s) = s`")
        };
        let name = rest.next().ok_or_else(|| expected("a name", keyword.span))?;
        let mut parameter = None;
        if rest.peek().is_some_and(|token| token.text == "(") {
            rest.next();
            parameter = rest.next().map(|token| token.text);
            rest.next().filter(|token| token.text == ")").ok_or_else(|| expected("`)`", name.span))?;
        }
        rest.next().filter(|token| token.text == "=").ok_or_else(|| expected("`=`", name.span))?;
        let mut body = Vec::new();
        while let Some(token) = rest.next_if(|token| token.text != "let") {
            body.push(token);
        }
        definitions.push(Definition { name: name.text, span: name.span, parameter, body });
    }
    Ok(definitions)
}

struct Parser<'a> {
    /// What may be used: the definitions before this one.
    definitions: &'a [Definition],
    /// All definitions of the file.
    file: &'a [Definition],
    given: &'a Given,
    /// What the definition's parameter stands for, and of how many atoms.
    argument: Option<(&'a str, Rc<Strategy>, usize)>,
    tokens: &'a [Token],
    at: usize,
    end: Span,
    /// Atoms so far, those of used definitions included.
    atoms: &'a Cell<usize>,
    builtin: bool,
}

impl Parser<'_> {
    fn all(mut self) -> Result<Strategy, Diagnostic> {
        let strategy = self.choice()?;
        match self.tokens.get(self.at) {
            None => Ok(strategy),
            Some(token) => Err(Diagnostic::error("E0124", token.span, format!("expected `;`, `<+` or the end, found `{}`", token.text))),
        }
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|token| token.text == text);
        self.at += usize::from(found);
        found
    }

    fn choice(&mut self) -> Result<Strategy, Diagnostic> {
        let mut left = self.sequence()?;
        while self.take("<+") {
            left = Strategy::Choice(left.into(), self.sequence()?.into());
        }
        Ok(left)
    }

    fn sequence(&mut self) -> Result<Strategy, Diagnostic> {
        let mut left = self.atom()?;
        while self.take(";") {
            left = Strategy::Seq(left.into(), self.atom()?.into());
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Strategy, Diagnostic> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(Diagnostic::error("E0125", self.end, "expected a strategy, found the end of the file"));
        };
        self.at += 1;
        let of_argument = self.argument.as_ref().filter(|(name, ..)| *name == token.text);
        self.atoms.set(self.atoms.get() + of_argument.map_or(1, |(.., atoms)| *atoms));
        if self.atoms.get() > ATOMS {
            return Err(Diagnostic::error(
                "E0128",
                token.span,
                format!("the strategy has more than {ATOMS} parts when its definitions are written out"),
            )
            .help("`repeat` and the traversals say in one word what is to be done often"));
        }
        if token.text == "(" {
            let inner = self.choice()?;
            if !self.take(")") {
                return Err(Diagnostic::error("E0126", token.span, "expected a `)` for this `(`"));
            }
            return Ok(inner);
        }
        if let Some((_, argument, _)) = of_argument {
            return Ok((**argument).clone());
        }
        if let Some(at) = self.definitions.iter().rposition(|definition| definition.name == token.text) {
            return self.used(at);
        }
        if let Some(combinator) = Combinator::named(&token.text) {
            return Ok(Strategy::With(combinator, self.atom()?.into()));
        }
        match token.text.as_str() {
            "id" => Ok(Strategy::Id),
            "fail" => Ok(Strategy::Fail),
            name => {
                if let Some(rule) = self.given.get(name).copied().or_else(|| rules::named(name)) {
                    return Ok(Strategy::Rule(rule));
                }
                if let Some(known) = (!self.builtin).then(|| builtin(name)).flatten() {
                    return Ok(known);
                }
                let known = known_names(self.definitions, self.given);
                let help = if self.file.iter().any(|definition| definition.name == name) {
                    "a strategy uses those before it, not itself: `repeat s`, `topdown s` and `innermost s` go on until they fail".into()
                } else if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
                    format!("did you mean `{near}`?")
                } else {
                    "a strategy is used after its `let`; `smoothc explain rules` lists the rules".into()
                };
                Err(Diagnostic::error("E0127", token.span, format!("no rule or strategy is called `{name}`")).help(help))
            }
        }
    }

    fn used(&mut self, at: usize) -> Result<Strategy, Diagnostic> {
        let (before, definition) = (&self.definitions[..at], &self.definitions[at]);
        let argument = match &definition.parameter {
            Some(parameter) => {
                let before = self.atoms.get();
                let argument = Rc::new(self.atom()?);
                Some((parameter.as_str(), argument, self.atoms.get() - before))
            }
            None => None,
        };
        let body = Parser { definitions: before, argument, tokens: &definition.body, at: 0, ..*self }.all()?;
        Ok(Strategy::Named(definition.name.as_str().into(), body.into()))
    }
}
