//! Messages: what the grammar met and what it would have taken, in words.
//!
//! In: a pest error over the laid-out text. Out: a [`Diagnostic`] in the original text: `expected X, found Y`,
//! the code of the case where there is one (a reserved word, an `if` without `else`, a line in the wrong
//! column), and a help line with the next step.
//! Example: `let f x = (x +)` gives "expected an expression, found `)`".

use pest::error::{Error, ErrorVariant, InputLocation};

use super::ast::{Name, Pattern, PatternKind, TypeExpr, TypeExprKind};
use super::grammar::Rule;
use super::laid_out::{Layout, mark};
use super::tokens::{RESERVED, Token, shortened};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// The diagnostic of a text that the grammar does not take.
pub(super) fn from_pest(error: &Error<Rule>, text: &str, layout: &Layout, goal: Rule) -> Diagnostic {
    let at = match error.location {
        InputLocation::Pos(at) => at,
        InputLocation::Span((at, _)) => at,
    };
    let expected: &[Rule] = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => positives,
        ErrorVariant::CustomError { .. } => &[],
    };
    let has = |rule: Rule| expected.contains(&rule);
    let place = layout.token_at(at);
    let end = layout.end();
    let span = place.unwrap_or(Span { start: end.end, ..end });
    let found = place.and_then(|span| text.get(span.start as usize..span.end as usize)).unwrap_or("");
    let shown = match (found, goal) {
        ("", Rule::expression) => "the end".to_string(),
        ("", _) => "the end of the declaration".to_string(),
        (found, _) => format!("`{}`", shortened(found)),
    };
    let virtual_mark = layout.text.get(at..).and_then(|rest| rest.chars().next());

    if follows_decreases(layout, at, has) {
        return Diagnostic::error("E0108", span, format!("`decreases` takes the name of one parameter, found {shown}")).help(MEASURE);
    }
    if has(Rule::kw_else) {
        return Diagnostic::error("E0110", span, format!("expected `else`, found {shown}"))
            .help("`if` is an expression and has a value in both cases: add `else …`");
    }
    if virtual_mark == Some(mark::LINE) {
        return Diagnostic::error("E0103", span, format!("expected the end of the block, found {shown}"))
            .help("a line in its block's column continues nothing: indent it further, or begin it with an operator");
    }
    if has(Rule::in_body) {
        let help = "write the body on a later line in the column of its `let`, or after `in`";
        let diagnostic = Diagnostic::error("E0103", span, format!("expected the body of this `let`, found {shown}")).help(help);
        return match deeper_line(text, layout, at) {
            Some((binding, line)) => {
                Diagnostic { span: line, message: "expected the body of a `let`, found a line of its value".into(), ..diagnostic }
                    .label(binding, "the `let` that has no body")
            }
            None => diagnostic,
        };
    }
    let operand = expected.iter().any(|rule| starts_expression(*rule)) && !expected.iter().any(|rule| continues(*rule));
    let named = has(Rule::name) || has(Rule::parameter) || has(Rule::pattern);
    if is_odd_word(found) || RESERVED.contains(&found) && named && !operand && !has(Rule::equals) && !has(Rule::arrow) {
        return Diagnostic::error("E0107", span, format!("`{found}` is a reserved word"))
            .help(format!("choose another name, such as `{found}'` or `{found}_`"));
    }
    if found == "let" && !operand && before(text, span) == Some(' ') && column(text, span.start).1 {
        return Diagnostic::error("E0103", span, "expected a line of the block, found a `let` that stands deeper")
            .help("the lines of a block stand in one column: put it in that of the `let` above");
    }
    if has(Rule::EOI) && (span.start == 0 || before(text, span) == Some('\n')) && goal == Rule::declaration {
        return outside(span, &shown);
    }
    let message = format!("expected {}, found {shown}", wanted(expected, operand, goal));
    Diagnostic::error("E0101", span, message).help(help(found, operand, expected, virtual_mark))
}

/// The `let` whose value ends before `at`, and the last line of that value where it stands right of the `let`.
fn deeper_line(text: &str, layout: &Layout, at: usize) -> Option<(Span, Span)> {
    let before = layout.text.get(..at)?;
    let mut depth = 0usize;
    let begin = before.char_indices().rev().find_map(|(at, c)| {
        depth = match c {
            mark::END => depth + 1,
            mark::BEGIN => depth.saturating_sub(1),
            _ => depth,
        };
        (c == mark::BEGIN && depth == 0).then_some(at)
    })?;
    let binding = layout.token_at(before.get(..begin)?.rfind("let ")?)?;
    let (first, last) = (layout.token_at(begin)?, layout.end());
    let line = text.get(..last.start as usize)?.rfind('\n')? + 1;
    let indent = text.get(line..)?.chars().take_while(|c| *c == ' ').count();
    let start = line + indent;
    let is_later = start > first.start as usize && indent > column(text, binding.start).0;
    is_later.then(|| (binding, Span::new(last.file, start, last.end as usize)))
}

/// The column of an offset, and whether only blanks stand before it on its line.
fn column(text: &str, at: u32) -> (usize, bool) {
    let line = text.get(..at as usize).and_then(|before| before.rsplit('\n').next()).unwrap_or("");
    (line.chars().count(), line.chars().all(|c| c == ' '))
}

/// A body in column 0, where the next declaration is expected: in the same piece or, a `let`, in the ones after.
pub(super) fn body_at_margin(name: &str, first: &Token, file: u32) -> Diagnostic {
    Diagnostic::error(
        "E0103",
        Span::new(file, first.start, first.end()),
        format!("expected the body of `{}`, found a line in column 0", shortened(name)),
    )
    .help("indent the body: what begins in column 0 is the next declaration")
}

/// A file that begins with something else than a declaration.
pub(super) fn no_declaration(token: &Token, line: &[Token], text: &str, file: u32) -> Diagnostic {
    if matches!(token.text, "let" | "open" | "type") {
        return not_at_margin(token, text, file);
    }
    let span = Span::new(file, token.start, token.end());
    let diagnostic = outside(span, &format!("`{}`", shortened(token.text)));
    // Haskell's `f x = x * x`
    let is_equation = line.iter().skip(1).take_while(|token| !token.first).any(|token| token.text == "=");
    if is_equation { diagnostic.help("a declaration begins with `let`: `let f x = …`") } else { diagnostic }
}

/// What is wrong with a piece where that is a declaration behind a comment in column 0, whose word has no place in the piece.
pub(super) fn behind_comment(problem: Diagnostic, piece: &[Token], text: &str) -> Diagnostic {
    let start = problem.span.start as usize;
    let token = piece.get(piece.partition_point(|token| token.start < start)).filter(|token| token.start == start);
    match token {
        Some(token)
            if matches!(problem.code, "E0101" | "E0107")
                && matches!(token.text, "let" | "open" | "type")
                && is_behind_comment(token, text) =>
        {
            not_at_margin(token, text, problem.span.file)
        }
        Some(_) | None => problem,
    }
}

/// A declaration that begins behind blanks, or behind a comment in column 0.
fn not_at_margin(token: &Token, text: &str, file: u32) -> Diagnostic {
    let span = Span::new(file, token.start, token.end());
    Diagnostic::error("E0114", span, format!("expected `{}` in column 0", token.text)).help(match is_behind_comment(token, text) {
        true => "put the comment before it on a line of its own",
        false => "remove the blanks before it",
    })
}

/// Whether nothing but comments stands before a word on its line, and one of them in column 0.
fn is_behind_comment(token: &Token, text: &str) -> bool {
    let before = text.get(..token.start).filter(|_| token.first).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    !line.is_empty() && !line.starts_with(' ')
}

/// `decreases n` names a parameter that is an Index.
pub(super) fn measure(name: &Name, params: &[Pattern]) -> Result<(), Diagnostic> {
    let is_measure = |param: &Pattern| match &param.kind {
        PatternKind::Typed(inner, ty) => {
            matches!(&inner.kind, PatternKind::Var(param) if *param == name.text) && matches!(ty.kind, TypeExprKind::Index(_))
        }
        PatternKind::Var(_) | PatternKind::Wildcard | PatternKind::Tuple(_) | PatternKind::Record(_) => false,
        PatternKind::Case(..) | PatternKind::Int(_) | PatternKind::Bool(_) => false,
    };
    if params.iter().any(is_measure) {
        return Ok(());
    }
    let message = format!("`{}` is no parameter of type Index", name.text);
    Err(Diagnostic::error("E0108", name.span, message).help(MEASURE))
}

const MEASURE: &str = "what decreases is an Index that each call inside makes smaller: `let rec f (n: Index) … decreases n = …`";

/// Whether something stands behind the `decreases` of a head, or behind its name, that is none.
fn follows_decreases(layout: &Layout, at: usize, expects: impl Fn(Rule) -> bool) -> bool {
    let words: Vec<&str> = layout.text.get(..at).unwrap_or_default().split_whitespace().rev().take(3).collect();
    // there may be names that are written so
    match words[..] {
        ["decreases", before, ..] => expects(Rule::name) && !RESERVED.contains(&before),
        [_, "decreases", before] => expects(Rule::equals) && !RESERVED.contains(&before),
        _ => false,
    }
}

/// A recursive function is used before its body is known: it says its types.
pub(super) fn written_types(params: &[Pattern], result: Option<&TypeExpr>, place: Span) -> Result<(), Diagnostic> {
    fn is_written(pattern: &Pattern) -> bool {
        match &pattern.kind {
            PatternKind::Typed(..) => true,
            PatternKind::Var(_) | PatternKind::Wildcard => false,
            PatternKind::Case(..) | PatternKind::Int(_) | PatternKind::Bool(_) => false,
            PatternKind::Tuple(parts) => parts.iter().all(is_written),
            PatternKind::Record(fields) => fields.iter().all(|(_, part)| is_written(part)),
        }
    }
    const HELP: &str = "write the types of all parameters and of the result: `let rec f (x: Double) (n: Index) : Double = …`";
    if params.is_empty() {
        return Err(Diagnostic::error("E0108", place, "only functions are recursive").help(HELP));
    }
    if let Some(param) = params.iter().find(|param| !is_written(param)) {
        return Err(Diagnostic::error("E0108", param.span, "a parameter of a recursive function has no type").help(HELP));
    }
    match result {
        Some(_) => Ok(()),
        None => Err(Diagnostic::error("E0108", place, "the result of a recursive function has no type").help(HELP)),
    }
}

fn outside(span: Span, shown: &str) -> Diagnostic {
    Diagnostic::error("E0114", span, format!("expected a declaration, found {shown}"))
        .help("a declaration starts in column 0 with `let`; indent the line to continue the one above")
}

fn before(text: &str, span: Span) -> Option<char> {
    text.get(..span.start as usize).and_then(|text| text.chars().next_back())
}

/// Reserved words that no construct uses.
fn is_odd_word(word: &str) -> bool {
    matches!(word, "rec" | "type" | "and" | "module" | "val")
}

fn help(found: &str, operand: bool, expected: &[Rule], virtual_mark: Option<char>) -> &'static str {
    let has = |rule: Rule| expected.contains(&rule);
    match found {
        "fun" | "if" | "let" | "deriv" | "match" if !operand => "as an argument it needs parentheses around it",
        "open" => "`open` lines stand in column 0",
        ".." => {
            "`..` stands between the ends of a part of an array, `v[a..b]`, `v[a..]` or `v[..b]`; the indices 0 … n - 1 are `vectorRange n`"
        }
        "/" | "%" | "**" if has(Rule::close_angle) => {
            "sizes are made with `+`, `-` and `*`: leave another size out, `(v: Vector)`, `let f (n: Index) : Vector = …`"
        }
        "," if has(Rule::close_curly) => "fields stand apart by `;`: `{ a = 1.0; b = 2.0 }`, a type's `{ a: Double; b: Double }`",
        _ if has(Rule::kw_with) && has(Rule::equals) => "a field is given by `=`: `{ a = 1.0; b = 2.0 }`",
        _ if has(Rule::kw_with) => "cases are told apart by `match e with | Circle r -> … | Empty -> …`",
        "->" if !has(Rule::arrow) => "a function is written `fun x -> …`, a row of a `match` `| Circle r -> …`",
        "=" if operand => "equality is written `a = b`",
        ":" => "a type stands behind a parameter in parentheses, `(x: T)`, or before the `=` of a `let`",
        "" if operand => "the expression is not complete",
        _ if has(Rule::bar) && has(Rule::arrow) => {
            "a row is written `| Circle r -> …`; several data stand in parentheses, `| Box (a, b) -> …`"
        }
        _ if has(Rule::bar) && !has(Rule::EOI) => "rows are written `| Circle r -> …`",
        "<" if has(Rule::EOI) && has(Rule::bar) => {
            "`type` declares records, `{ x: Double; y: Double }`, and sums, `| A of Vector<3> | B`; other types have no second name"
        }
        _ if has(Rule::bar) || has(Rule::case_type) => {
            "a sum type is written `type Shape = | Circle of Double | Box of Double * Double | Empty`"
        }
        "," if has(Rule::equals) => "a tuple pattern needs parentheses: `let (a, b) = …`",
        _ if operand && virtual_mark == Some(mark::END) => "the expression must stand right of what it belongs to",
        _ if has(Rule::equals) => "a declaration is written `let name (x: T) : R = …`",
        _ if has(Rule::arrow) => "a function is written `fun x (y: T) -> …`",
        _ if has(Rule::kw_then) => "a condition is written `if c then a else b`",
        _ if operand => "write a name, a number or an expression in parentheses here",
        _ if has(Rule::type_expr) || has(Rule::type_term) || has(Rule::type_atom) => "write a type such as `Vector<n>`",
        _ if has(Rule::file_name) => "write `open linalg` or `open \"file.smooth\"`",
        _ if has(Rule::name) => "write a name: a letter or `_`, then letters, digits, `_` and `'`",
        _ if has(Rule::close_round) || has(Rule::close_square) || has(Rule::close_bar) => "close the bracket, or add a comma",
        _ => "remove it, or put an operator before it",
    }
}

/// What to name: the sign that closes the construct, or what every way on has in common.
fn wanted(expected: &[Rule], operand: bool, goal: Rule) -> String {
    if operand {
        return "an expression".to_string();
    }
    let mut names: Vec<&str> = Vec::new();
    let operator = expected.contains(&Rule::infix);
    for rule in expected {
        // After an operand a comma is possible nearly everywhere; only brackets make it worth a word.
        if operator && matches!(rule, Rule::comma | Rule::semicolon | Rule::EOI | Rule::kw_elif) {
            continue;
        }
        if *rule == Rule::name && expected.contains(&Rule::file_name) {
            continue;
        }
        if let Some(name) = describe(*rule)
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    match names.as_slice() {
        [] if goal == Rule::expression => "an operator or the end".to_string(),
        [] => "an operator or the end of the expression".to_string(),
        [only] => only.to_string(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// Starts an expression: "an expression" says it all.
fn starts_expression(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::expr
            | Rule::block
            | Rule::function
            | Rule::condition
            | Rule::matching
            | Rule::kw_match
            | Rule::deriv
            | Rule::application
            | Rule::postfix
            | Rule::round
            | Rule::square
            | Rule::square_bar
            | Rule::record
            | Rule::number
            | Rule::boolean
            | Rule::minus
            | Rule::plus
            | Rule::kw_not
            | Rule::bare_not
            | Rule::kw_if
            | Rule::kw_fun
            | Rule::kw_deriv
            | Rule::section
    )
}

/// Stands after an expression: what failed is not its beginning.
fn continues(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::infix
            | Rule::pipe
            | Rule::index
            | Rule::call
            | Rule::field
            | Rule::EOI
            | Rule::kw_then
            | Rule::type_infix
            | Rule::times
            | Rule::equals
            | Rule::arrow
            | Rule::annotation
    )
}

/// The name of what a rule wants; `None` for what may always follow an operand.
fn describe(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::name => "a name",
        Rule::wildcard | Rule::parameter | Rule::pattern | Rule::open_pattern | Rule::literal => "a parameter",
        Rule::row | Rule::row_pattern => "a pattern",
        Rule::case_type => "a case",
        Rule::bar => "`|`",
        Rule::kw_of => "`of`",
        Rule::annotation | Rule::colon => "`:`",
        Rule::file_name => "a library or file name",
        Rule::type_expr | Rule::type_term | Rule::type_atom => "a type",
        Rule::equals => "`=`",
        Rule::arrow => "`->`",
        Rule::comma => "`,`",
        Rule::dots => "`..`",
        Rule::semicolon => "`;`",
        Rule::close_round => "`)`",
        Rule::close_square => "`]`",
        Rule::close_bar => "`|]`",
        Rule::close_curly => "`}`",
        Rule::open_curly | Rule::fields => "`{`",
        Rule::field_type | Rule::field_value | Rule::field_pattern => "a field",
        Rule::kw_with => "`with`",
        Rule::kw_match | Rule::matching => return None,
        Rule::close_angle => "`>`",
        Rule::kw_then => "`then`",
        Rule::kw_else => "`else`",
        Rule::kw_elif => "`elif`",
        Rule::kw_let | Rule::binding => "`let`",
        Rule::kw_open => "`open`",
        Rule::in_body => "`in`",
        Rule::EOI | Rule::declaration | Rule::open | Rule::expression | Rule::type_decl => "the end of the declaration",
        Rule::name_part | Rule::reserved | Rule::WHITESPACE => return None,
        Rule::infix | Rule::index | Rule::call | Rule::argument | Rule::negative | Rule::times | Rule::type_infix => {
            return None;
        }
        Rule::block | Rule::expr | Rule::operand | Rule::function | Rule::condition | Rule::deriv => return None,
        Rule::application | Rule::postfix | Rule::atom | Rule::round | Rule::section | Rule::square => return None,
        Rule::square_bar | Rule::elements | Rule::element | Rule::bare_not | Rule::number | Rule::boolean | Rule::minus => {
            return None;
        }
        Rule::record | Rule::field | Rule::sizes | Rule::kw_type => return None,
        Rule::value
        | Rule::function_value
        | Rule::recursive_head
        | Rule::recursive
        | Rule::continued
        | Rule::decreases
        | Rule::kw_rec
        | Rule::kw_and
        | Rule::kw_decreases => {
            return None;
        }
        Rule::plus | Rule::pipe | Rule::kw_fun | Rule::kw_if | Rule::kw_not | Rule::kw_deriv => return None,
    })
}
