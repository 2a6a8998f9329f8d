//! Layout: expressions as lines, as `futhark fmt` keeps them.
//!
//! In: an expression and the column where it begins. Out: lines; those after the first are indented from that
//! column. What fits goes on one line; `let` and `loop` never do. What does not fit is broken as the formatter
//! breaks what its writer broke: it aligns arguments, and indents by two.
//!
//!     if c then a else b   →   if c
//!                              then a
//!                              else b

use super::syntax::{Binding, Fut, Pattern, Trip};

/// The column that a line should not go beyond; names and literals are never broken.
pub const WIDTH: usize = 100;

const TYPED: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const ORDER: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const POWER: u8 = 7;
const APPLY: u8 = 8;
const PRIMARY: u8 = 9;

/// The lines of an expression that begins at a column.
pub fn block(exp: &Fut, column: usize) -> Vec<String> {
    if let Some(text) = flat(exp)
        && column + text.chars().count() <= WIDTH
    {
        return vec![text];
    }
    broken(exp, column)
}

/// The expression on one line, where that can be.
pub fn flat(exp: &Fut) -> Option<String> {
    Some(match exp {
        Fut::Atom(text) => text.clone(),
        Fut::Int(value) if *value == i64::MIN => "i64.lowest".to_string(),
        Fut::Int(value) => value.to_string(),
        Fut::Apply(function, args) => {
            let args: Vec<String> = args.iter().map(|arg| flat_at(arg, PRIMARY)).collect::<Option<_>>()?;
            format!("{function} {}", args.join(" "))
        }
        Fut::Infix(op, a, b) => {
            let (left, right) = operands(op);
            format!("{} {op} {}", flat_at(a, left)?, flat_at(b, right)?)
        }
        Fut::Prefix(op, a) => format!("{op}{}", flat_at(a, PRIMARY)?),
        Fut::Index(array, places) => {
            let places: Vec<String> = places.iter().map(flat).collect::<Option<_>>()?;
            format!("{}[{}]", flat_at(array, PRIMARY)?, places.join(", "))
        }
        Fut::Project(tuple, at) => format!("{}.{at}", flat_at(tuple, PRIMARY)?),
        Fut::With(array, places, value) => format!("{} with [{}] = {}", flat_at(array, APPLY)?, list(places)?, flat_at(value, OR)?),
        Fut::Tuple(parts) => format!("({})", list(parts)?),
        Fut::Array(parts) => format!("[{}]", list(parts)?),
        Fut::If(c, a, b) => format!("if {} then {} else {}", flat(c)?, flat(a)?, flat(b)?),
        Fut::Lambda(params, body) => format!("\\{} -> {}", names(params), flat(body)?),
        Fut::Typed(value, sign, ty) => format!("{} {sign} {ty}", flat_at(value, OR)?),
        Fut::Let(..) | Fut::Loop(_) => return None,
    })
}

fn list(parts: &[Fut]) -> Option<String> {
    Some(parts.iter().map(flat).collect::<Option<Vec<_>>>()?.join(", "))
}

fn flat_at(exp: &Fut, level: u8) -> Option<String> {
    let text = flat(exp)?;
    Some(if level_of(exp) < level { format!("({text})") } else { text })
}

/// How tightly an expression holds together.
fn level_of(exp: &Fut) -> u8 {
    match exp {
        Fut::Let(..) | Fut::Loop(_) | Fut::If(..) | Fut::Lambda(..) | Fut::With(..) => 0,
        Fut::Typed(..) => TYPED,
        Fut::Infix(op, ..) => level(op),
        Fut::Prefix('-', _) => SUM,
        Fut::Prefix(..) | Fut::Apply(..) => APPLY,
        Fut::Atom(text) if text.starts_with('-') => SUM,
        Fut::Int(value) if *value < 0 && *value != i64::MIN => SUM,
        Fut::Atom(_) | Fut::Int(_) | Fut::Index(..) | Fut::Project(..) | Fut::Tuple(_) | Fut::Array(_) => PRIMARY,
    }
}

fn level(op: &str) -> u8 {
    match op {
        "||" => OR,
        "&&" => AND,
        "+" | "-" => SUM,
        "*" | "/" | "//" | "%%" => PRODUCT,
        "**" => POWER,
        _ => ORDER,
    }
}

/// The levels that the operands need: operators associate to the left.
fn operands(op: &str) -> (u8, u8) {
    match level(op) {
        // comparisons do not associate; `**` would the other way than in our language
        ORDER => (SUM, SUM),
        POWER => (APPLY, APPLY),
        level => (level, level + 1),
    }
}

fn broken(exp: &Fut, column: usize) -> Vec<String> {
    match exp {
        Fut::Let(bindings, body) => {
            let mut lines = Vec::new();
            for binding in bindings {
                lines.extend(let_lines(binding, column));
            }
            lines.extend(after("in ", block(body, column + 3)));
            lines
        }
        Fut::Loop(repeat) => {
            let mut lines = binder("loop ", &repeat.pattern, column);
            let width = lines.first().map_or(0, |head| head.chars().count() + 1);
            match block(&repeat.init, column + width).as_slice() {
                [one] if lines.len() == 1 => ending(&mut lines, &format!(" {one}")),
                _ => lines.extend(indent(7, block(&repeat.init, column + 7))),
            }
            match &repeat.trip {
                Trip::For(i, n) => lines.extend(after(&format!("for {i} < "), block_at(n, SUM, column + 9))),
                Trip::While(go) => lines.push(format!("while {go}")),
            }
            if let Some(last) = lines.last_mut() {
                last.push_str(" do");
            }
            lines.extend(indent(2, block(&repeat.body, column + 2)));
            lines
        }
        Fut::If(cond, then, otherwise) => {
            let mut lines = block_at(cond, TYPED, column + 3);
            if let Fut::Infix(op, a, b) = &**cond
                && lines.len() > 1
            {
                // the formatter puts the operator of a broken condition below the `if`
                let (left, right) = operands(op);
                lines = after("if ", block_at(a, left, column + 3));
                lines.extend(after(&format!("{op} "), block_at(b, right, column + op.len() + 1)));
            } else {
                lines = after("if ", lines);
            }
            lines.extend(after("then ", block(then, column + 5)));
            if matches!(**otherwise, Fut::If(..)) {
                let mut rest = block(otherwise, column + 5);
                if rest.len() > 1 {
                    rest = broken(otherwise, column);
                }
                if let Some(first) = rest.first_mut() {
                    first.insert_str(0, "else ");
                }
                lines.extend(rest);
            } else {
                lines.extend(after("else ", block(otherwise, column + 5)));
            }
            lines
        }
        Fut::Lambda(params, body) => {
            let mut lines = vec![format!("\\{} ->", names(params))];
            lines.extend(indent(2, block(body, column + 2)));
            lines
        }
        Fut::Infix(op, a, b) => {
            let (left, right) = operands(op);
            let mut lines = block_at(a, left, column);
            lines.extend(after(&format!("{op} "), block_at(b, right, column + op.len() + 1)));
            lines
        }
        Fut::Prefix(op, a) => after(&op.to_string(), block_at(a, PRIMARY, column + 1)),
        Fut::Apply(function, args) => arguments(function, args, column),
        Fut::Tuple(parts) => commas('(', parts, ')', column),
        Fut::Array(parts) => commas('[', parts, ']', column),
        Fut::Index(array, places) => {
            let mut lines = block_at(array, PRIMARY, column);
            ending(&mut lines, &format!("[{}]", subscripts(places, column)));
            lines
        }
        Fut::With(array, places, value) => {
            let mut lines = block_at(array, APPLY, column);
            ending(&mut lines, &format!(" with [{}] =", subscripts(places, column)));
            lines.extend(indent(2, block_at(value, OR, column + 2)));
            lines
        }
        Fut::Project(tuple, at) => {
            let mut lines = block_at(tuple, PRIMARY, column);
            ending(&mut lines, &format!(".{at}"));
            lines
        }
        Fut::Typed(value, sign, ty) => {
            let mut lines = block_at(value, OR, column);
            if lines.len() == 1 {
                ending(&mut lines, &format!(" {sign} {ty}"));
            } else {
                lines.push(format!("{sign} {ty}"));
            }
            lines
        }
        Fut::Atom(_) | Fut::Int(_) => flat(exp).into_iter().collect(),
    }
}

/// Arguments on the function's line when only the last one is long, below each other otherwise.
fn arguments(function: &str, args: &[Fut], column: usize) -> Vec<String> {
    if let Some((last, others)) = args.split_last()
        && let Some(others) = others.iter().map(|arg| flat_at(arg, PRIMARY)).collect::<Option<Vec<_>>>()
    {
        let head: String = std::iter::once(function.to_string()).chain(others).map(|word| word + " ").collect();
        if column + head.chars().count() <= WIDTH * 2 / 3 {
            return after(&head, block_at(last, PRIMARY, column + head.chars().count()));
        }
    }
    let head = format!("{function} ");
    let column = column + head.chars().count();
    let lines: Vec<String> = args.iter().flat_map(|arg| block_at(arg, PRIMARY, column)).collect();
    after(&head, lines)
}

fn commas(open: char, parts: &[Fut], close: char, column: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let sign = if at == 0 { open } else { ',' };
        lines.extend(after(&format!("{sign} "), block(part, column + 2)));
    }
    lines.push(close.to_string());
    lines
}

/// Subscripts, which stay on one line.
fn subscripts(places: &[Fut], column: usize) -> String {
    let one = |place: &Fut| flat(place).unwrap_or_else(|| block(place, column).join(" "));
    places.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn let_lines(binding: &Binding, column: usize) -> Vec<String> {
    let mut lines = binder("let ", &binding.pattern, column);
    let width = lines.first().map_or(0, |head| head.chars().count() + 1);
    // below a pattern of several lines even what is short has its own
    let is_one = lines.len() == 1;
    match flat(&binding.value) {
        Some(text) if is_one && column + width + text.chars().count() <= WIDTH => ending(&mut lines, &format!(" {text}")),
        Some(_) | None => match block(&binding.value, column + 2).as_slice() {
            // one line below would be pulled up again
            [one] if is_one => ending(&mut lines, &format!(" {one}")),
            value => lines.extend(indent(2, value.to_vec())),
        },
    }
    lines
}

/// A keyword, the pattern behind it and `=`; a tuple that does not fit has a line for each component.
fn binder(keyword: &str, bound: &Pattern, column: usize) -> Vec<String> {
    let one = format!("{keyword}{} =", pattern(bound));
    match bound {
        Pattern::Tuple(parts) if column + one.chars().count() > WIDTH => {
            let mut lines: Vec<String> = parts.iter().map(|part| format!(", {}", component(part))).collect();
            if let Some(first) = lines.first_mut() {
                first.replace_range(..1, "(");
            }
            lines.push(") =".to_string());
            after(keyword, lines)
        }
        Pattern::Name(_) | Pattern::Tuple(_) | Pattern::Sized { .. } | Pattern::Wild => vec![one],
    }
}

/// An expression in a place that asks for a level.
fn block_at(exp: &Fut, level: u8, column: usize) -> Vec<String> {
    if level_of(exp) >= level {
        return block(exp, column);
    }
    let mut lines = after("(", block(exp, column + 1));
    ending(&mut lines, ")");
    lines
}

/// A text before the first line, and the others aligned with what comes after it.
fn after(text: &str, lines: Vec<String>) -> Vec<String> {
    let blank = " ".repeat(text.chars().count());
    let first = |at: usize| if at == 0 { text } else { blank.as_str() };
    lines.into_iter().enumerate().map(|(at, line)| format!("{}{line}", first(at))).collect()
}

fn indent(by: usize, lines: Vec<String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(move |line| format!("{}{line}", " ".repeat(by)))
}

fn ending(lines: &mut [String], text: &str) {
    if let Some(last) = lines.last_mut() {
        last.push_str(text);
    }
}

fn names(params: &[Pattern]) -> String {
    params.iter().map(pattern).collect::<Vec<_>>().join(" ")
}

/// A component of a tuple's pattern.
fn component(part: &Pattern) -> String {
    match part {
        Pattern::Sized { sizes, name, ty } if sizes.is_empty() => format!("{name}: {ty}"),
        Pattern::Name(_) | Pattern::Tuple(_) | Pattern::Sized { .. } | Pattern::Wild => pattern(part),
    }
}

/// A pattern on one line.
pub fn pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Name(name) => name.clone(),
        Pattern::Tuple(parts) => {
            format!("({})", parts.iter().map(component).collect::<Vec<_>>().join(", "))
        }
        Pattern::Sized { sizes, name, ty } if sizes.is_empty() => format!("({name}: {ty})"),
        Pattern::Sized { sizes, name, ty } => {
            let sizes: String = sizes.iter().map(|size| format!("[{size}]")).collect();
            format!("{sizes} ({name}: {ty})")
        }
        Pattern::Wild => "_".to_string(),
    }
}
