//! The strategy language: how a schedule says where and in which order rules apply.
//!
//! In: text. Out: a [`Strategy`] with all names resolved.
//!
//!     let simplify = project <+ mul-one <+ add-zero
//!     let main = try (innermost simplify) ; bottomup (try let-dead)
//!
//! `rule double : x + x -> 2.0 * x if atomic x` declares a rule of the user's own; further lines of it are indented.
//! `;` binds tighter than `<+`; a combinator takes the atom after it. `let name (s) = …` is expanded where
//! it is used, so strategies do not recurse: `repeat` and the traversals do. After Visser's Stratego and
//! ELEVATE.

use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::source::Span;

use super::law::Law;
use super::rule::{Apply, Figure, Head, Rule};
use super::rules;

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

/// A definition of the file.
struct Definition {
    name: String,
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
    let (text, given) = declared_rules(text, file)?;
    let tokens = tokens(&text, file)?;
    let definitions = definitions(tokens)?;
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
        given: &given,
        argument: None,
        tokens: &definitions[main].body,
        at: 0,
        end: Span::new(file, text.len(), text.len()),
    }
    .all()
}

/// The file's own rules, and its text without them, every other character at its place.
fn declared_rules(text: &str, file: u32) -> Result<(String, Vec<&'static Rule>), Diagnostic> {
    let (mut rest, mut given, mut at) = (String::new(), Vec::new(), 0);
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = at;
        at += line.len();
        let Some(declared) = line.strip_prefix("rule ") else {
            rest.push_str(line);
            continue;
        };
        let mut declared = declared.to_string();
        while let Some(more) = lines.next_if(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty()) {
            declared.push_str(more);
            at += more.len();
        }
        let span = Span::new(file, start, at);
        let (name, law) = declared.split_once(':').ok_or_else(|| {
            Diagnostic::error("E0120", span, "expected `:` after the rule's name").help("write `rule name : left -> right if condition`")
        })?;
        let law = law.trim();
        let parsed = Law::parse(law, file).map_err(|error| Diagnostic { span, ..error })?;
        // a schedule lives as long as the compiler runs
        let (name, law): (&'static str, &'static str) = (name.trim().to_string().leak(), law.to_string().leak());
        let rule = Rule { name, figure: Figure::Ring, group: None, law, head: Head::Any, apply: Apply::Law(parsed) };
        given.push(&*Box::leak(Box::new(rule)));
        rest.extend(std::iter::repeat_n(' ', at - start - 1).chain(['\n']));
    }
    Ok((rest, given))
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
        return Ok(vec![Definition { name: "main".to_string(), parameter: None, body: rest.collect() }]);
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
        definitions.push(Definition { name: name.text, parameter, body });
    }
    Ok(definitions)
}

struct Parser<'a> {
    /// What may be used: the definitions before this one.
    definitions: &'a [Definition],
    given: &'a [&'static Rule],
    argument: Option<(&'a str, Rc<Strategy>)>,
    tokens: &'a [Token],
    at: usize,
    end: Span,
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
        if token.text == "(" {
            let inner = self.choice()?;
            if !self.take(")") {
                return Err(Diagnostic::error("E0126", token.span, "expected a `)` for this `(`"));
            }
            return Ok(inner);
        }
        if let Some((name, argument)) = &self.argument
            && *name == token.text
        {
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
            name => match self.given.iter().find(|rule| rule.name == name).copied().or_else(|| rules::named(name)) {
                Some(rule) => Ok(Strategy::Rule(rule)),
                None => Err(Diagnostic::error("E0127", token.span, format!("no rule or strategy is called `{name}`"))
                    .help("a strategy is used after its `let`; `smoothc explain rules` lists the rules")),
            },
        }
    }

    fn used(&mut self, at: usize) -> Result<Strategy, Diagnostic> {
        let (before, definition) = (&self.definitions[..at], &self.definitions[at]);
        let argument = match &definition.parameter {
            Some(parameter) => Some((parameter.as_str(), Rc::new(self.atom()?))),
            None => None,
        };
        let body = Parser { definitions: before, given: self.given, argument, tokens: &definition.body, at: 0, end: self.end }.all()?;
        Ok(Strategy::Named(definition.name.as_str().into(), body.into()))
    }
}
