//! What may stand at a place of a text that is being written.
//!
//! In: the text before the place, from the start of its declaration, without comments. Out: a [`Place`]. It is told by words and
//! brackets alone, since the text mostly does not parse just there; what is wrong elsewhere in the declaration may mislead it, to names
//! that do not fit.
//!
//!     let f (v: Vector<█   →   a size          match s with | █   →   a pattern

use crate::syntax::RESERVED;

/// What is written at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Expression,
    /// A parameter, or what a `let` or a `fun` binds.
    Binding,
    /// A row of a `match`.
    Pattern,
    Type,
    /// Between `<` and `>`: sizes, and of arrays the type of the elements first.
    Size,
    /// A field in a pattern.
    Field,
    /// The base or a field of a record.
    Record,
    /// A name of somebody's own.
    Name,
}

/// A bracket that is open.
struct Frame {
    bracket: char,
    /// What goes on behind it, and what its first part is.
    outer: Place,
    inner: Place,
    /// How many `match` in it wait for their `with`.
    matches: usize,
    /// How many names were bound before it, and before the rows of the last `match` in it.
    bound: usize,
    rows: Option<usize>,
}

impl Frame {
    fn new(bracket: char, outer: Place, inner: Place, bound: usize) -> Frame {
        Frame { bracket, outer, inner, matches: 0, bound, rows: None }
    }
}

/// Where the declaration begins that an offset is in: the last line before it that begins with a word. With its `and`s it is one.
pub fn declaration(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or_default();
    let starts = before.match_indices('\n').map(|(at, _)| at + 1);
    let begins = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic()) && !rest.starts_with("and ");
    starts.rev().find(|at| begins(&text[*at..])).unwrap_or(0)
}

/// Where that declaration ends.
pub fn declaration_end(text: &str, offset: usize) -> usize {
    let rest = text.get(offset..).unwrap_or_default();
    let mut ends = rest.match_indices('\n').map(|(at, _)| offset + at + 1);
    ends.find(|at| text[*at..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')).unwrap_or(text.len())
}

pub fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '\''
}

/// What has been read of a declaration.
struct Scan<'a> {
    place: Place,
    /// What is in no bracket.
    base: Frame,
    frames: Vec<Frame>,
    is_type: bool,
    last: &'a str,
    sizes: Vec<&'a str>,
    bound: Vec<&'a str>,
}

/// What stands behind a text, which begins with its declaration.
pub fn after(text: &str) -> Place {
    scan(text).place
}

/// The sizes that a declaration mentions, and its parameters that are an Index.
pub fn sizes(text: &str) -> Vec<&str> {
    scan(text).sizes
}

/// The names that a declaration binds before its end: those of its parameters, of `let`s, `fun`s and the rows of `match`es. The brackets
/// and the row that a name is bound in end it; where a `let` ends only columns say.
pub fn bound(text: &str) -> Vec<&str> {
    // a function that is not recursive is no name in its own body
    scan(text).bound.into_iter().skip(usize::from(!text.starts_with("let rec "))).collect()
}

fn scan(text: &str) -> Scan<'_> {
    let mut scan = Scan {
        place: Place::Expression,
        base: Frame::new(' ', Place::Expression, Place::Expression, 0),
        frames: Vec::new(),
        is_type: false,
        last: "",
        sizes: Vec::new(),
        bound: Vec::new(),
    };
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let width = match first {
            _ if is_name_part(first) => rest.find(|c| !is_name_part(c)).unwrap_or(rest.len()),
            _ if OPERATORS.iter().any(|operator| rest.starts_with(operator)) => 2,
            _ => first.len_utf8(),
        };
        let (token, tail) = rest.split_at(width);
        rest = tail;
        scan.token(token);
    }
    scan
}

/// Operators that a shorter one begins; `<` and `>` are brackets of types, where nothing else begins so.
const OPERATORS: [&str; 10] = ["->", "=>", "|>", "||", "==", "!=", "<=", ">=", "[|", "|]"];

impl<'a> Scan<'a> {
    fn token(&mut self, token: &'a str) {
        use Place::{Binding, Expression, Field, Name, Pattern, Record, Size, Type};
        match token {
            "let" | "fun" => self.place = Binding,
            "and" => {
                self.bound.clear();
                self.sizes.clear();
                self.place = if self.is_type { Name } else { Binding };
            }
            "type" => (self.place, self.is_type) = (Name, true),
            "of" => self.place = Type,
            "decreases" => self.place = Size,
            "in" | "if" | "then" | "elif" | "else" => self.place = Expression,
            "match" => {
                self.frame().matches += 1;
                self.place = Expression;
            }
            "with" => {
                let bound = self.bound.len();
                let frame = self.frame();
                let is_match = frame.matches > 0;
                if is_match {
                    frame.matches -= 1;
                    frame.rows = Some(bound);
                }
                self.place = if is_match { Pattern } else { Record };
            }
            "->" => {
                self.place = match self.place {
                    Binding | Pattern | Field | Expression | Record | Name => Expression,
                    Type | Size => self.place,
                }
            }
            "|" => {
                self.place = match self.place {
                    _ if self.is_type => Name,
                    Expression | Record => {
                        let rows = self.frame().rows.unwrap_or(usize::MAX);
                        self.bound.truncate(rows);
                        Pattern
                    }
                    Pattern => Pattern,
                    Binding | Type | Size | Field | Name => self.place,
                }
            }
            ":" => {
                self.place = match self.place {
                    Binding | Pattern | Name => Type,
                    Expression | Type | Size | Field | Record => self.place,
                }
            }
            "=" => {
                self.place = match (self.place, self.frames.last()) {
                    (Name, _) if self.is_type => Type,
                    (Field, Some(frame)) => frame.outer,
                    (Binding | Type | Size | Expression | Record | Name | Field, _) => Expression,
                    (Pattern, _) => Pattern,
                }
            }
            "(" | "[" | "[|" => self.open(token, self.place),
            "{" => self.open(
                token,
                match self.place {
                    Binding | Pattern | Field => Field,
                    Type | Size | Name => Name,
                    Expression | Record => Record,
                },
            ),
            "<" if matches!(self.place, Type | Size | Name) => self.open(token, Size),
            ")" => self.close('('),
            "]" | "|]" => self.close('['),
            "}" => self.close('{'),
            ">" => self.close('<'),
            "," => {
                if let Some(frame) = self.frames.last().filter(|frame| frame.bracket == '(') {
                    self.place = frame.inner;
                }
            }
            ";" => {
                if let Some(frame) = self.frames.last() {
                    self.place = frame.inner;
                }
            }
            // a field of a record type may end with its line
            "\n" if self.is_type => {
                if let Some(frame) = self.frames.last().filter(|frame| frame.bracket == '{') {
                    self.place = frame.inner;
                }
            }
            "Index" if self.place == Type && !self.sizes.contains(&self.last) => self.sizes.push(self.last),
            word if word.starts_with(|c: char| c.is_ascii_alphabetic()) && !RESERVED.contains(&word) => self.word(word),
            _ => {}
        }
    }

    fn word(&mut self, word: &'a str) {
        use Place::{Binding, Expression, Field, Name, Pattern, Record, Size, Type};
        let is_capital = word.starts_with(|c: char| c.is_ascii_uppercase());
        match self.place {
            Binding => self.bound.push(word),
            // a name with a capital is a case
            Pattern if !is_capital => self.bound.push(word),
            Size if !is_capital && !self.sizes.contains(&word) => self.sizes.push(word),
            Pattern | Size | Expression | Type | Field | Record | Name => {}
        }
        if !is_capital || self.place == Binding {
            self.last = word;
        }
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().unwrap_or(&mut self.base)
    }

    fn open(&mut self, bracket: &str, inner: Place) {
        let bracket = bracket.chars().next().unwrap_or_default();
        self.frames.push(Frame::new(bracket, self.place, inner, self.bound.len()));
        self.place = inner;
    }

    /// Closes the innermost bracket of this kind, and what is open in it.
    fn close(&mut self, bracket: char) {
        if let Some(at) = self.frames.iter().rposition(|frame| frame.bracket == bracket) {
            self.place = self.frames[at].outer;
            if matches!(self.place, Place::Expression | Place::Record) {
                self.bound.truncate(self.frames[at].bound);
            }
            self.frames.truncate(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_brackets_tell_the_place() {
        for (text, place) in [
            ("", Place::Expression),
            ("let ", Place::Binding),
            ("let f (v: ", Place::Type),
            ("let f (v: Vector<", Place::Size),
            ("let f (v: Array<Double, ", Place::Size),
            ("let f (v: Vector<n>, ", Place::Binding),
            ("let f (v: Double * ", Place::Type),
            ("let f (v: Vector<n>) ", Place::Binding),
            ("let f (v: Vector<n>) : ", Place::Type),
            ("let f (v: Vector<n>) : Double = ", Place::Expression),
            ("let f x = x < ", Place::Expression),
            ("let f x =\n  let (a: ", Place::Type),
            ("let f x =\n  let g (a: Double) : Double = a\n  ", Place::Expression),
            ("let f v = vectorMap v (fun ", Place::Binding),
            ("let f v = vectorMap v (fun (x: Double) -> ", Place::Expression),
            ("let f v = vectorMap v (fun x -> x) + ", Place::Expression),
            ("let f s = match s with ", Place::Pattern),
            ("let f s = match s with | Circle r -> ", Place::Expression),
            ("let f s = match s with | Circle r -> r |> sqrt || ", Place::Expression),
            ("let f s = match s with | Circle r -> r\n    | ", Place::Pattern),
            ("let f s = match s with | Box (", Place::Pattern),
            ("let f s = [| ", Place::Expression),
            ("type S = | A of T\nand T = | B of ", Place::Type),
            ("let f s = match s with | Camera { ", Place::Field),
            ("let f s = match s with | { focal = ", Place::Pattern),
            ("let f s = match s with | { focal = x; ", Place::Field),
            ("let f { focal = x } = ", Place::Expression),
            ("let f c = { c with ", Place::Record),
            ("let f c = { c with focal = ", Place::Expression),
            ("let f c = { c with focal = 1.0; ", Place::Record),
            ("let f c = { c with focal = match c with ", Place::Pattern),
            ("type ", Place::Name),
            ("type S = ", Place::Type),
            ("type S = | Circle of ", Place::Type),
            ("type S = | Circle of Double | ", Place::Name),
            ("type D<n> = { x: ", Place::Type),
            ("type D<n> = { x: Vector<", Place::Size),
            ("type D<n> = { x: Vector<n>; ", Place::Name),
            ("type D<n> = {\n  x: Vector<n>\n  ", Place::Name),
        ] {
            assert_eq!(after(text), place, "{text}");
        }
    }

    #[test]
    fn names_are_bound_by_parameters_lets_and_rows() {
        for (text, names) in [
            ("let f (v: Vector<n>) (M: Matrix<n, n>) = ", "v M"),
            ("let f v = vectorMap v (fun x -> x) + ", "v"),
            ("let f v = vectorMap v (fun x -> ", "v x"),
            ("let f s = match s with | Circle radius -> radius + ", "s radius"),
            ("let f s = match s with | Circle r -> r | Box (a, { focal = b }) -> ", "s a b"),
            ("let f s = match s with | Box (r, true) | Circle r -> ", "s r r"),
            ("let f s = (match s with | Circle r -> r | Empty -> 0.0) + ", "s"),
            ("let f c =\n  let d = { c with focal = 1.0 }\n  ", "c d"),
            ("let rec f (n: Index) : Bool = g n\nand g (k: Index) : Bool = ", "g k"),
        ] {
            assert_eq!(bound(text).join(" "), names, "{text}");
        }
    }

    #[test]
    fn sizes_are_those_of_types_and_indexes() {
        assert_eq!(
            sizes("let f (v: Vector<n + 2 * m>) (k: Index) (x: Double) (a: Array<Array<Double, p>, n>) = v < x"),
            ["n", "m", "k", "p"]
        );
    }
}
