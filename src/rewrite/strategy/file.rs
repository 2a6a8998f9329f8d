//! The text of a strategy file as a tree.
//!
//! In: text. Out: its definitions and the rules that it declares, or a diagnostic: the grammar (`grammar.pest`) takes every
//! text, and what is missing in it is said here at its place.
//!
//!     let twice (s) = s ; s   →   the definition `twice` with the parameter `s` and a sequence of two applications

use indexmap::IndexMap;
use pest::Parser as _;
use pest::iterators::Pair;

use super::declared_rule;
use crate::diagnostic::Diagnostic;
use crate::rewrite::rule::Rule;
use crate::source::Span;

/// The parser that pest makes of the grammar.
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "rewrite/strategy/grammar.pest"]
    pub struct Grammar;
}

use grammar::{Grammar, Rule as Form};

/// Parentheses nest no deeper than this.
const NESTING: usize = 1_000;

/// A strategy file.
pub struct File {
    pub definitions: Vec<Definition>,
    pub given: Given,
    /// Where the text ends.
    pub end: Span,
}

/// The rules of the user's own by their names, in their order.
pub type Given = IndexMap<&'static str, &'static Rule>;

/// `let name (parameter) … = body`.
pub struct Definition {
    pub name: String,
    pub span: Span,
    /// Whether it may use itself.
    pub is_recursive: bool,
    /// The names that stand for strategies.
    pub parameters: Vec<String>,
    pub body: Tree,
}

/// A strategy as written.
pub enum Tree {
    /// Separated by `<+`.
    Choice(Vec<Tree>),
    /// Separated by `;`.
    Sequence(Vec<Tree>),
    /// Side by side: a name and what it takes.
    Application(Vec<Operand>),
}

pub enum Operand {
    Name(String, Span),
    /// In parentheses, whose first has this place.
    Group(Tree, Span),
}

impl Operand {
    pub fn span(&self) -> Span {
        match self {
            Operand::Name(_, span) | Operand::Group(_, span) => *span,
        }
    }

    /// The text that begins it.
    pub fn text(&self) -> &str {
        match self {
            Operand::Name(name, _) => name,
            Operand::Group(..) => "(",
        }
    }
}

/// The tree of a strategy file, or of one strategy, which is then the definition `main`.
pub fn parse(text: &str, file: u32) -> Result<File, Diagnostic> {
    check_nesting(text, file)?;
    let end = Span::new(file, text.len(), text.len());
    let reader = Reader { text, file };
    let empty = || Diagnostic::error("E0120", Span::new(file, 0, 0), "expected a strategy, found nothing").help("write `let main = id`");
    let mut forms: Vec<Pair<Form>> = Grammar::parse(Form::file, text)
        .map(|mut pairs| pairs.next().map_or_else(Vec::new, |whole| whole.into_inner().collect()))
        .unwrap_or_default();
    // a character that no strategy has comes first: what is missing is missing because of it
    if let Some(at) = forms.iter().position(|form| form.as_rule() == Form::unexpected) {
        let rest = forms.remove(at);
        forms.truncate(at);
        let found = reader.unexpected(&rest);
        if found.code == "E0122" {
            return Err(found);
        }
        reader.all(forms, end)?;
        return Err(found);
    }
    let file = reader.all(forms, end)?;
    if file.definitions.is_empty() { Err(empty()) } else { Ok(file) }
}

fn check_nesting(text: &str, file: u32) -> Result<(), Diagnostic> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > NESTING {
            return Err(Diagnostic::error("E0128", Span::new(file, at, at + 1), format!("parentheses nest deeper than {NESTING}"))
                .help("give parts of the strategy names: `let name = s`"));
        }
    }
    Ok(())
}

struct Reader<'a> {
    text: &'a str,
    file: u32,
}

impl Reader<'_> {
    fn all(&self, forms: Vec<Pair<Form>>, end: Span) -> Result<File, Diagnostic> {
        let (mut definitions, mut given) = (Vec::new(), Given::new());
        for form in forms {
            match form.as_rule() {
                Form::declared => {
                    let rule = declared_rule(&without_comments(form.as_str()), self.file, form.as_span().start())?;
                    if given.insert(rule.name, rule).is_some() {
                        let first_line = form.as_str().lines().next().unwrap_or_default().trim_end();
                        let start = form.as_span().start();
                        return Err(super::twice(rule.name, Span::new(self.file, start, start + first_line.len())));
                    }
                }
                Form::definition => definitions.push(self.definition(form)?),
                // a strategy without a name
                Form::choice if self.is_nothing(&form) => {}
                Form::choice => {
                    let body = self.tree(form)?;
                    let main = Definition { name: "main".into(), span: Span::NONE, is_recursive: false, parameters: Vec::new(), body };
                    definitions.push(main);
                }
                _ => {}
            }
        }
        Ok(File { definitions, given, end })
    }

    /// Whether there is no word of a strategy.
    fn is_nothing(&self, form: &Pair<Form>) -> bool {
        form.clone().into_inner().flatten().all(|part| matches!(part.as_rule(), Form::sequence | Form::nothing))
            && form.as_str().trim().is_empty()
    }

    fn span(&self, form: &Pair<Form>) -> Span {
        Span::new(self.file, form.as_span().start(), form.as_span().end())
    }

    fn definition(&self, form: Pair<Form>) -> Result<Definition, Diagnostic> {
        let expected = |what: &str, at: Span| {
            Diagnostic::error("E0123", at, format!("expected {what} in this definition")).help("write `let name = s` or `let name (s) = s`")
        };
        let mut last = self.span(&form);
        let (mut name, mut is_recursive, mut parameters, mut body) = (None, false, Vec::new(), None);
        for part in form.into_inner() {
            let span = self.span(&part);
            match part.as_rule() {
                Form::kw_rec => is_recursive = true,
                Form::name => name = Some((part.as_str().to_string(), span)),
                Form::no_name => return Err(expected("a name", last)),
                Form::no_equals => return Err(expected("`=`", last)),
                Form::parameter => {
                    for part in part.into_inner() {
                        match part.as_rule() {
                            Form::name => parameters.push(part.as_str().to_string()),
                            Form::no_name => return Err(expected("a name", span)),
                            Form::unclosed => return Err(expected("`)`", span)),
                            _ => {}
                        }
                    }
                }
                Form::choice => body = Some(self.tree(part)?),
                _ => {}
            }
            last = span;
        }
        let (Some((name, span)), Some(body)) = (name, body) else { return Err(expected("a name", last)) };
        Ok(Definition { name, span, is_recursive, parameters, body })
    }

    /// A choice, or a part of one.
    fn tree(&self, form: Pair<Form>) -> Result<Tree, Diagnostic> {
        let is_choice = form.as_rule() == Form::choice;
        let mut parts = Vec::new();
        for part in form.into_inner() {
            match part.as_rule() {
                Form::sequence => parts.push(self.tree(part)?),
                Form::application => {
                    parts.push(Tree::Application(part.into_inner().map(|part| self.operand(part)).collect::<Result<_, _>>()?))
                }
                Form::nothing => return Err(self.missing(part.as_span().start())),
                _ => {}
            }
        }
        Ok(if is_choice { Tree::Choice(parts) } else { Tree::Sequence(parts) })
    }

    fn operand(&self, form: Pair<Form>) -> Result<Operand, Diagnostic> {
        let span = self.span(&form);
        if form.as_rule() == Form::name {
            return Ok(Operand::Name(form.as_str().to_string(), span));
        }
        let (mut open, mut inner) = (span, None);
        for part in form.into_inner() {
            match part.as_rule() {
                Form::open => open = self.span(&part),
                Form::choice => inner = Some(self.tree(part)?),
                Form::unclosed => return Err(Diagnostic::error("E0126", open, "expected a `)` for this `(`")),
                _ => {}
            }
        }
        inner.map(|inner| Operand::Group(inner, open)).ok_or_else(|| self.missing(span.end as usize))
    }

    /// Where a strategy is wanted, and none is there.
    fn missing(&self, at: usize) -> Diagnostic {
        let mut rest = self.text.get(at..).unwrap_or_default().trim_start();
        while rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
        }
        let at = self.text.len() - rest.len();
        let found = match rest.chars().next() {
            Some('l') if rest.starts_with("let ") => "`let`".to_string(),
            Some(c) => format!("`{c}`"),
            None => "the end of the file".to_string(),
        };
        Diagnostic::error("E0125", Span::new(self.file, at, at), format!("expected a strategy, found {found}"))
    }

    /// What is left where a definition or the file should end.
    fn unexpected(&self, rest: &Pair<Form>) -> Diagnostic {
        let (span, text) = (self.span(rest), rest.as_str());
        let is_token = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "_;()=".contains(c));
        if is_token || self.text.get(span.start as usize..).is_some_and(|rest| rest.starts_with("<+")) {
            return Diagnostic::error("E0124", span, format!("expected `;`, `<+` or the end, found `{text}`"));
        }
        Diagnostic::error("E0122", span, "expected a strategy, found another character")
            .help("strategies are made of names, `;`, `<+`, `=` and parentheses")
    }
}

/// The lines with spaces for the comments at their ends.
fn without_comments(text: &str) -> String {
    let line = |line: &str| match line.split_once("//") {
        Some((code, comment)) => format!("{code}{}", " ".repeat(comment.len() + 2)),
        None => line.to_string(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
