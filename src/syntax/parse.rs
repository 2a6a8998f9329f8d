//! The entries of the room, and declarations.
//!
//! In: the text of a file. Out: its [`Module`], or diagnostics. The tokens are cut into pieces at every
//! `let` and `open` in column 0; each piece is laid out, parsed and built by itself, so that one error
//! hides no other and an error costs no more than its own piece.
//! Example: `let f (x: Double) = x` gives `Decl { name: f, params: [(x: Double)], body: x }`.

use std::rc::Rc;

use pest::Parser as _;
use pest::iterators::{Pair, Pairs};

use super::MAX_ERRORS;
use super::ast::{Decl, Expr, Module, Name, Open, OpenWhat, Pattern, PatternKind, Recursion, TypeBody, TypeDecl, TypeExpr};
use super::errors;
use super::grammar::{Grammar, Rule};
use super::groups::{self, Group, is_start};
use super::laid_out::Layout;
use super::layout::Goal;
use super::phrase::{self, PHRASE};
use super::scanner::tokenize;
use super::tokens::starts_operand;
use super::tokens::{Token, TokenKind, Tokens};
use crate::budget;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

pub(super) type Built<T> = Result<T, Diagnostic>;

/// The tree of one file.
pub fn parse(text: &str, file: u32) -> Result<Module, Vec<Diagnostic>> {
    let (module, found) = parse_recovering(text, file);
    if found.is_empty() { Ok(module) } else { Err(found) }
}

/// The declarations of a file that parse, and what is wrong with the others.
pub fn parse_recovering(text: &str, file: u32) -> (Module, Vec<Diagnostic>) {
    if let Err(too_large) = check_size(text, file) {
        return (Module { unread: vec![Span::new(file, 0, text.len())], ..Module::default() }, too_large);
    }
    let Tokens { tokens, docs, errors: mut found, .. } = tokenize(text, file);
    let mut module = Module::default();
    let mut words: Vec<usize> = found.iter().map(|error| error.span.start as usize).collect();
    words.sort_unstable();
    let mut docs = docs.into_iter().peekable();
    let pieces: Vec<&[Token]> = pieces(&tokens).collect();
    // Where a phrase says what is wrong from there to the end of its piece.
    let mut said: Vec<(u32, usize)> = Vec::new();
    let mut group = None;
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        at += 1;
        let after = pieces.get(at..).unwrap_or_default();
        let Some(first) = piece.first() else { continue };
        let before_it = group;
        let begun = Group::of(piece);
        group = if first.text == "and" { group } else { begun };
        // Comment lines inside the declaration before are nobody's documentation.
        let mut doc: Vec<&str> = Vec::new();
        let before = piece_start(&tokens, first);
        while let Some((at, line)) = docs.next_if(|doc| doc.0 < first.start) {
            if at >= before {
                doc.push(line);
            }
        }
        // Where a word is wrong, what the grammar says would only repeat it.
        let end = after.first().and_then(|next| next.first()).map_or(text.len(), |next| next.start);
        if words.get(words.partition_point(|start| *start < first.start)).is_some_and(|start| *start < end) {
            module.broken.extend(declared_name(piece, file));
            module.unread.push(Span::new(file, first.start, end));
            if let Some(problem) = phrase::first(piece, file) {
                said.push((problem.span.start, end));
                found.push(problem);
            }
            continue;
        }
        if found.len() >= MAX_ERRORS {
            module.unread.push(Span::new(file, first.start, text.len()));
            break;
        }
        if let Some((name, body, further)) = body_at_margin(piece, after) {
            module.broken.extend(declared_name(piece, file));
            found.push(errors::body_at_margin(name, &body, file));
            at += further;
            module.unread.push(Span::new(file, first.start, end_of(&pieces, at)));
            continue;
        }
        let built = match first.text {
            _ if !is_start(first) => Err(errors::no_declaration(first, piece, text, file)),
            "and" if before_it.is_none() || (before_it, begun) == (Some(Group::Types), Some(Group::Functions)) => {
                Err(groups::alone(first, piece.get(1), file))
            }
            "type" | "and" if group == Some(Group::Types) => type_declaration(text, piece, file).map(|decl| module.types.push(decl)),
            "let" | "and" => declaration(text, piece, file, &doc).map(|decl| module.decls.push(decl)),
            "open" => open(text, piece, file).map(|open| module.opens.push(open)),
            _ => Err(errors::no_declaration(first, piece, text, file)),
        };
        if let Err(problem) = built {
            module.broken.extend(declared_name(piece, file));
            module.unread.push(Span::new(file, first.start, end_of(&pieces, at)));
            let problem = errors::behind_comment(problem, piece, text);
            let said = phrase::first(piece, file);
            found.push(said.filter(|_| problem.code != "E0109").unwrap_or(problem));
        }
    }
    let is_said = |error: &Diagnostic| {
        let before = said.partition_point(|(start, _)| *start <= error.span.start).checked_sub(1);
        before.and_then(|at| said.get(at)).is_some_and(|(_, end)| (error.span.start as usize) < *end)
    };
    found.retain(|error| error.code == PHRASE || !is_said(error));
    found.sort_by_key(|error| error.span.start);
    (module, found)
}

/// The tree of one expression: a law's side, the argument of `smoothc rewrite`.
pub fn parse_expr(text: &str, file: u32) -> Result<Expr, Vec<Diagnostic>> {
    check_size(text, file)?;
    let Tokens { tokens, errors, .. } = tokenize(text, file);
    if !errors.is_empty() {
        return Err(phrase::first(&tokens, file).map_or(errors, |problem| vec![problem]));
    }
    let built = || {
        let layout = lay_out(&tokens, file, Goal::Expression)?;
        let builder = Builder { text, layout: &layout };
        let mut parts = builder.read(Rule::expression)?;
        let block = builder.next(&mut parts)?;
        builder.block(block)
    };
    built().map_err(|error| vec![phrase::first(&tokens, file).unwrap_or(error)])
}

fn check_size(text: &str, file: u32) -> Result<(), Vec<Diagnostic>> {
    if text.len() <= budget::SOURCE_BYTES {
        return Ok(());
    }
    Err(vec![Diagnostic::error("E0109", Span::new(file, 0, 0), budget::file_too_large()).help("split the file")])
}

/// Where the body of a declaration stands in column 0: the declaration's name, the body's first token, and how many of the following
/// pieces belong to that body, whose `let`s are taken for declarations.
fn body_at_margin<'t>(piece: &[Token<'t>], after: &[&[Token<'t>]]) -> Option<(&'t str, Token<'t>, usize)> {
    let [start, name, ..] = piece else { return None };
    if start.text != "let" || name.kind != TokenKind::Name {
        return None;
    }
    let margin = |token: &&Token| token.first && token.column == 0;
    if let Some(at) = piece.iter().skip(1).position(|token| margin(&token)) {
        let body = piece.get(at + 1).filter(|body| starts_operand(body))?;
        return piece.get(at).filter(|before| before.text == "=").map(|_| (name.text, *body, 0));
    }
    if piece.last().is_none_or(|last| last.text != "=") {
        return None;
    }
    let first = *after.first()?.first()?;
    let is_value = |piece: &&&[Token]| piece.get(2).is_some_and(|token| matches!(token.text, "=" | ":"));
    let last = after.iter().take(20).take_while(is_value).position(|piece| piece.iter().skip(1).any(|token| margin(&token)))?;
    Some((name.text, first, last + 1))
}

/// The name after the `let` of a piece.
fn declared_name(piece: &[Token], file: u32) -> Option<Name> {
    let [first, name, ..] = piece else { return None };
    let is_name = name.text.starts_with(|c: char| c.is_ascii_alphabetic()) && !super::RESERVED.contains(&name.text);
    (first.text == "let" && is_start(first) && is_name)
        .then(|| Name { text: name.text.into(), span: Span::new(file, name.start, name.end()) })
}

/// The pieces that begin with a `let`, `and`, `type` or `open` in column 0, and what may stand before them.
pub(super) fn pieces<'a, 't>(tokens: &'a [Token<'t>]) -> impl Iterator<Item = &'a [Token<'t>]> {
    tokens.chunk_by(|_, next| !is_start(next))
}

/// The end of the first pieces, so many.
fn end_of(pieces: &[&[Token]], count: usize) -> usize {
    pieces.get(..count).and_then(|pieces| pieces.last()?.last()).map_or(0, Token::end)
}

/// The end of the token before `first`.
fn piece_start(tokens: &[Token], first: &Token) -> usize {
    let at = tokens.partition_point(|token| token.start < first.start);
    at.checked_sub(1).and_then(|before| tokens.get(before)).map_or(0, Token::end)
}

fn lay_out(tokens: &[Token], file: u32, goal: Goal) -> Built<Layout> {
    if let (true, Some(first)) = (tokens.len() > budget::TOKENS, tokens.first()) {
        let span = Span::new(file, first.start, first.end());
        let message = format!("declaration of more than {} words and signs", budget::TOKENS);
        return Err(Diagnostic::error("E0109", span, message).help("split it into several declarations"));
    }
    Layout::new(tokens, file, goal)
}

fn declaration(text: &str, tokens: &[Token], file: u32, doc: &[&str]) -> Built<Decl> {
    let layout = lay_out(tokens, file, Goal::Declaration)?;
    let builder = Builder { text, layout: &layout };
    let mut parts = builder.read(Rule::declaration)?;
    let (mut name, mut params, mut result, mut recursion) = (None, Vec::new(), None, None);
    let body = loop {
        let part = builder.next(&mut parts)?;
        if part.as_rule() == Rule::name {
            name = Some(builder.name(&part));
        } else if matches!(part.as_rule(), Rule::recursive | Rule::continued) {
            recursion = Some(Recursion { continues: part.as_rule() == Rule::continued, decreases: None });
        } else if part.as_rule() == Rule::decreases {
            let decreases = builder.measure(part);
            recursion = recursion.map(|recursion| Recursion { decreases, ..recursion });
        } else if part.as_rule() == Rule::parameter {
            params.push(builder.parameter(part)?);
        } else if part.as_rule() == Rule::annotation {
            result = Some(builder.annotation(part)?);
        } else if part.as_rule() == Rule::block {
            break builder.block(part)?;
        }
    };
    let doc = (!doc.is_empty()).then(|| doc.join("\n"));
    let span = layout.span(0, layout.text.len());
    let name = name.ok_or_else(|| builder.internal(span))?;
    if let Some(recursion) = &recursion {
        errors::written_types(&params, result.as_ref(), name.span)?;
        recursion.decreases.iter().try_for_each(|measure| errors::measure(measure, &params))?;
    }
    Ok(Decl { name, doc, params, result, body, span, recursion })
}

fn type_declaration(text: &str, tokens: &[Token], file: u32) -> Built<TypeDecl> {
    let layout = lay_out(tokens, file, Goal::Words)?;
    let builder = Builder { text, layout: &layout };
    let mut parts = builder.read(Rule::type_decl)?;
    builder.next(&mut parts)?;
    let name = builder.next(&mut parts)?;
    let (name, mut sizes, mut fields, mut cases) = (builder.name(&name), Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        if part.as_rule() == Rule::sizes {
            sizes = part.into_inner().filter(|part| part.as_rule() == Rule::name).map(|part| builder.name(&part)).collect();
        } else if part.as_rule() == Rule::field_type {
            let mut parts = part.into_inner();
            let field = builder.next(&mut parts)?;
            let ty = builder.next(&mut parts)?;
            fields.push((builder.name(&field), builder.annotation(ty)?));
        } else if part.as_rule() == Rule::case_type {
            let mut parts = part.into_inner();
            let case = builder.next(&mut parts)?;
            let data = parts.find(|part| part.as_rule() == Rule::type_expr).map(|data| builder.type_expr(data)).transpose()?;
            cases.push((builder.name(&case), data));
        }
    }
    let body = if cases.is_empty() { TypeBody::Record(fields) } else { TypeBody::Sum(cases) };
    Ok(TypeDecl { name, sizes, body, span: layout.span(0, layout.text.len()) })
}

fn open(text: &str, tokens: &[Token], file: u32) -> Built<Open> {
    let layout = lay_out(tokens, file, Goal::Words)?;
    let builder = Builder { text, layout: &layout };
    let mut parts = builder.read(Rule::open)?;
    builder.next(&mut parts)?;
    let what = builder.next(&mut parts)?;
    let name: Rc<str> = what.as_str().trim_matches('"').into();
    let what = if what.as_rule() == Rule::file_name { OpenWhat::File(name) } else { OpenWhat::Library(name) };
    Ok(Open { what, span: layout.span(0, layout.text.len()) })
}

/// Builds trees from the pairs of a laid-out text.
#[derive(Clone, Copy)]
pub(super) struct Builder<'a> {
    /// The original text.
    pub text: &'a str,
    pub layout: &'a Layout,
}

impl<'a> Builder<'a> {
    /// The parts of the whole laid-out text, read as `rule`.
    fn read(self, rule: Rule) -> Built<Pairs<'a, Rule>> {
        let mut pairs = Grammar::parse(rule, &self.layout.text).map_err(|error| errors::from_pest(&error, self.text, self.layout, rule))?;
        Ok(self.next(&mut pairs)?.into_inner())
    }

    /// The next part of a rule that has one.
    pub fn next(self, parts: &mut Pairs<'a, Rule>) -> Built<Pair<'a, Rule>> {
        parts.next().ok_or_else(|| self.internal(self.layout.end()))
    }

    /// The tree has a shape that the grammar does not give.
    pub fn internal(self, span: Span) -> Diagnostic {
        Diagnostic::error("E0901", span, "internal: the parser met a tree of unknown shape")
            .help("please report this together with the program")
    }

    pub fn span(self, pair: &Pair<Rule>) -> Span {
        self.layout.span(pair.as_span().start(), pair.as_span().end())
    }

    pub fn name(self, pair: &Pair<Rule>) -> Name {
        Name { text: pair.as_str().into(), span: self.span(pair) }
    }

    pub fn annotation(self, pair: Pair<'a, Rule>) -> Built<TypeExpr> {
        let mut parts = pair.into_inner();
        self.next(&mut parts)?;
        let written = self.next(&mut parts)?;
        self.type_expr(written)
    }

    /// `x`, `_`, `(x: T)`, `(a, b)`.
    pub fn parameter(self, pair: Pair<'a, Rule>) -> Built<Pattern> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let first = self.next(&mut parts)?;
        if first.as_rule() == Rule::wildcard {
            return Ok(Pattern { kind: PatternKind::Wildcard, span });
        }
        if first.as_rule() == Rule::fields {
            let mut fields = Vec::new();
            for part in first.into_inner().filter(|part| part.as_rule() == Rule::field_pattern) {
                let mut parts = part.into_inner();
                let name = self.next(&mut parts)?;
                self.next(&mut parts)?;
                let pattern = self.next(&mut parts)?;
                fields.push((self.name(&name), self.pattern(pattern)?));
            }
            return Ok(Pattern { kind: PatternKind::Record(fields), span });
        }
        if first.as_rule() == Rule::name {
            return Ok(Pattern { kind: PatternKind::Var(first.as_str().into()), span });
        }
        if first.as_rule() == Rule::literal {
            return Ok(Pattern { kind: literal(first.as_str(), span)?, span });
        }
        let mut elements = Vec::new();
        for part in parts.filter(|part| part.as_rule() == Rule::pattern) {
            elements.push(self.pattern(part)?);
        }
        let kind = match (elements.pop(), elements.is_empty()) {
            (Some(only), true) => only.kind,
            (last, _) => {
                elements.extend(last);
                PatternKind::Tuple(elements)
            }
        };
        Ok(Pattern { kind, span })
    }

    /// What stands in parentheses or after `|`: `x: T`, `Circle r`.
    pub fn pattern(self, pair: Pair<'a, Rule>) -> Built<Pattern> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let bare = self.next(&mut parts)?;
        let mut pattern = self.parameter(bare)?;
        for part in parts {
            pattern = if part.as_rule() == Rule::annotation {
                Pattern { kind: PatternKind::Typed(Box::new(pattern), self.annotation(part)?), span }
            } else {
                let place = self.span(&part);
                let text = if let PatternKind::Var(text) = &pattern.kind
                    && text.starts_with(|c: char| c.is_ascii_uppercase())
                {
                    text
                } else {
                    let message = "expected the end of the pattern, found another one behind it";
                    let help = "a case and its data are `Circle r` or `Box (a, b)`, cases begin with a capital; a tuple is `(a, b)`";
                    return Err(Diagnostic::error("E0101", place, message).help(help));
                };
                let name = Name { text: text.clone(), span: pattern.span };
                let data = self.parameter(part)?;
                let span = name.span.to(data.span);
                Pattern { kind: PatternKind::Case(name, Some(Box::new(data))), span }
            };
        }
        Ok(pattern)
    }
}

/// `0`, `- 1` and `true` as patterns.
fn literal(text: &str, span: Span) -> Built<PatternKind> {
    let digits = text.replace(' ', "");
    match digits.as_str() {
        "true" => return Ok(PatternKind::Bool(true)),
        "false" => return Ok(PatternKind::Bool(false)),
        _ => {}
    }
    digits.parse().map(PatternKind::Int).map_err(|_| {
        let message = format!("`{}` is no pattern", super::tokens::shortened(&digits));
        Diagnostic::error("E0106", span, message).help("literals in patterns are Indexes and Bools: compare Doubles with `if`")
    })
}
