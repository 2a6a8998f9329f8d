//! JSON as the command line speaks it: numbers, booleans and arrays, with `NaN`, `Infinity` and `-Infinity`.
//!
//! Reading accepts what Python's json module reads and a value can need: `[[1, 2.5], [NaN, -Infinity]]`;
//! an object holds the fields of a record or a case and its data, a string is a case without data, null is `()`. Writing prints a Double as the shortest text that reads
//! back as the same Double, with `.0` or an exponent so that it stays one: `1.0`, `1e-7`, `NaN`.
//! Nesting is limited to 512 levels.

use std::io::{self, Write};

use super::cases;
use crate::ir::Labels;
use crate::real::Real;
use crate::toolchain::flat::{Flat, Step};

/// Deeper nesting than this is an error: no program has a type of that rank.
const MAX_DEPTH: usize = 512;

/// A parsed JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// A number as a Double, and exactly where it is an integer literal of 64 bits.
    Number(f64, Option<i64>),
    Bool(bool),
    Text(String),
    Null,
    Array(Vec<Json>),
    /// What stands for a value of a recursive type in the data of another case; no text is it.
    Absent,
    /// Names and values, in the order of the text.
    Object(Vec<(String, Json)>),
}

/// What is wrong, and at which byte.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub offset: usize,
    pub message: String,
}

/// Reads one JSON value that takes up the whole text.
pub fn parse(text: &str) -> Result<Json, Problem> {
    let mut reader = Reader { bytes: text.as_bytes(), text, at: 0 };
    let value = reader.value(0)?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.problem("expected the end, found more text after the value")),
    }
}

/// Writes a value on one line, with the line's end.
/// A record is an object of its fields.
pub fn write(value: &Flat, labels: &Labels, real: Real, out: &mut impl Write) -> io::Result<()> {
    if cases::is_needed(value, labels) {
        let mut problem = Ok(());
        let text = cases::text(value, labels, &mut |step, out| {
            let mut bytes = Vec::new();
            match write_scalar(step, real, &mut bytes) {
                Ok(()) => out.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => problem = Err(error),
            }
        });
        problem?;
        return writeln!(out, "{text}");
    }
    let mut first = true;
    // what is open, and how many of its parts are written
    let mut open: Vec<(&Labels, usize, usize)> = Vec::new();
    value.walk(&mut |step| {
        if !first && step != Step::Close {
            out.write_all(b", ")?;
        }
        first = step == Step::Open;
        let mut own = labels;
        if let (Some((around, at, _)), true) = (open.last_mut(), step != Step::Close) {
            if let Some(field) = around.field(*at) {
                write!(out, "\"{field}\": ")?;
            }
            own = if let Labels::Array(element) = around { element } else { around.part(*at) };
            *at += 1;
        }
        // a record of one field is no tuple
        let mut records = 0;
        while let (Some((field, inside)), true) = (own.sole(), step != Step::Close) {
            write!(out, "{{\"{field}\": ")?;
            (own, records) = (inside, records + 1);
        }
        match step {
            Step::Open => {
                open.push((own, 0, records));
                records = 0;
                out.write_all(if matches!(own, Labels::Record(..)) { b"{" } else { b"[" })
            }
            Step::Close => {
                let closed = open.pop();
                records = closed.map_or(0, |(_, _, records)| records);
                out.write_all(if matches!(closed, Some((Labels::Record(..), ..))) { b"}" } else { b"]" })
            }
            Step::Double(_) | Step::Index(_) | Step::Bool(_) | Step::Rolled(_) => write_scalar(step, real, out),
        }?;
        (0..records).try_for_each(|_| out.write_all(b"}"))
    })?;
    out.write_all(b"\n")
}

fn write_scalar(step: Step, real: Real, out: &mut impl Write) -> io::Result<()> {
    match step {
        // `cases` writes what is rolled
        Step::Open | Step::Close | Step::Rolled(_) => Ok(()),
        Step::Double(value) => write_double(value, real, out),
        Step::Index(value) => write!(out, "{value}"),
        Step::Bool(value) => write!(out, "{value}"),
    }
}

fn write_double(value: f64, real: Real, out: &mut impl Write) -> io::Result<()> {
    if value.is_nan() {
        out.write_all(b"NaN")
    } else if value.is_infinite() {
        out.write_all(if value > 0.0 { b"Infinity" } else { b"-Infinity" })
    } else {
        out.write_all(real.digits(value).as_bytes())
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn problem(&self, message: impl Into<String>) -> Problem {
        Problem { offset: self.at, message: message.into() }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, Problem> {
        self.skip_space();
        match self.peek() {
            None => Err(self.problem("expected a value, found the end")),
            Some(b'[') => self.array(depth),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number(),
            Some(b'"') => self.name("expected a string without escapes, on one line").map(Json::Text),
            Some(b'{') => self.object(depth),
            Some(_) => self.word(),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, Problem> {
        if depth >= MAX_DEPTH {
            return Err(self.problem(format!("arrays are nested more than {MAX_DEPTH} deep")));
        }
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                None => return Err(self.problem("expected `,` or `]`, found the end")),
                Some(_) => return Err(self.problem("expected `,` or `]`")),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, Problem> {
        if depth >= MAX_DEPTH {
            return Err(self.problem(format!("objects are nested more than {MAX_DEPTH} deep")));
        }
        self.at += 1;
        let mut fields = Vec::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(fields));
        }
        loop {
            self.skip_space();
            let name = self.name("expected the name of a field in quotes")?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.problem("expected `:`"));
            }
            self.at += 1;
            fields.push((name, self.value(depth + 1)?));
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Object(fields));
                }
                None => return Err(self.problem("expected `,` or `}`, found the end")),
                Some(_) => return Err(self.problem("expected `,` or `}`")),
            }
        }
    }

    /// A name in quotes; no name of the language has an escape.
    fn name(&mut self, wanted: &str) -> Result<String, Problem> {
        if self.peek() != Some(b'"') {
            return Err(self.problem(wanted));
        }
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        match rest.find(['"', '\\', '\n']) {
            Some(end) if rest.get(end..).is_some_and(|rest| rest.starts_with('"')) => {
                self.at += end + 2;
                Ok(rest.get(..end).unwrap_or_default().to_string())
            }
            Some(_) | None => Err(self.problem(wanted)),
        }
    }

    fn digits(&mut self) -> Result<(), Problem> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.problem("expected a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Json, Problem> {
        let start = self.at;
        let mut integer = true;
        // JSON has neither the `+` nor a number that begins with its point; people write both
        if self.peek() == Some(b'+') {
            self.at += 1;
        } else if self.peek() == Some(b'-') {
            self.at += 1;
            if self.text[self.at..].starts_with("Infinity") {
                self.at += "Infinity".len();
                return Ok(Json::Number(f64::NEG_INFINITY, None));
            }
        }
        if self.peek() == Some(b'0') && matches!(self.bytes.get(self.at + 1), Some(b'0'..=b'9')) {
            return Err(self.problem("a number has no leading zeros"));
        }
        if self.peek() != Some(b'.') {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            integer = false;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            integer = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let literal = &self.text[start..self.at];
        let exact = if integer { literal.parse::<i64>().ok() } else { None };
        let value = literal.parse::<f64>().map_err(|_| Problem { offset: start, message: "expected a number".into() })?;
        Ok(Json::Number(value, exact))
    }

    fn word(&mut self) -> Result<Json, Problem> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let word = self.text.get(self.at..self.at + length).unwrap_or_default();
        let value = match word {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "NaN" => Json::Number(f64::NAN, None),
            "Infinity" => Json::Number(f64::INFINITY, None),
            "null" => Json::Null,
            "" => return Err(self.problem("expected a number, a boolean or an array")),
            word => return Err(self.problem(format!("expected a number, a boolean or an array, found `{}`", shortened(word)))),
        };
        self.at += length;
        Ok(value)
    }
}

fn shortened(word: &str) -> String {
    if word.len() <= 20 { word.to_string() } else { format!("{}…", word.chars().take(20).collect::<String>()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::flat::{Column, Shape};

    fn number(text: &str) -> (f64, Option<i64>) {
        match parse(text) {
            Ok(Json::Number(value, exact)) => (value, exact),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn numbers_read_as_python_reads_them() {
        assert_eq!(number("3"), (3.0, Some(3)));
        assert_eq!(number(" -1.5 "), (-1.5, None));
        assert_eq!(number("3.0"), (3.0, None));
        assert_eq!(number("+5"), (5.0, Some(5)));
        assert_eq!(number("-.5"), (-0.5, None));
        assert_eq!(number("+.5e1"), (5.0, None));
        assert_eq!(number("1e-05"), (1e-5, None));
        assert_eq!(number("1E+3"), (1000.0, None));
        assert_eq!(number("1e999"), (f64::INFINITY, None));
        assert_eq!(number("9223372036854775807"), (9223372036854775807.0, Some(i64::MAX)));
        assert_eq!(number("9223372036854775808"), (9223372036854775808.0, None));
        assert_eq!(number("-Infinity").0, f64::NEG_INFINITY);
        assert_eq!(number("Infinity").0, f64::INFINITY);
        assert!(number("NaN").0.is_nan());
        assert!(number("-0").0.is_sign_negative());
    }

    #[test]
    fn what_is_no_json_is_a_problem_at_its_place() {
        for (text, offset) in [
            ("", 0),
            ("   ", 3),
            ("[1, 2", 5),
            ("[1 2]", 3),
            ("[1,]", 3),
            ("1 2", 2),
            ("01", 0),
            (".", 1),
            ("-.", 2),
            ("1.", 2),
            ("-", 1),
            ("1e", 2),
            ("+", 1),
            ("+-1", 1),
            ("+Infinity", 1),
            ("nan", 0),
            ("[1, \"a\\n\"]", 4),
            ("\"a", 0),
            ("{", 1),
            ("{\"a\": 1", 7),
            ("{a: 1}", 1),
            ("{\"a\" 1}", 5),
            ("{\"a\": 1,}", 8),
            ("{\"\\n\": 1}", 1),
            ("nul", 0),
            ("é", 0),
            ("-é", 1),
            ("]", 0),
        ] {
            match parse(text) {
                Err(problem) => assert_eq!(problem.offset, offset, "{text}: {}", problem.message),
                Ok(value) => panic!("{text} was read as {value:?}"),
            }
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(512)).is_ok());
        assert!(parse(&nested(513)).is_err());
        assert!(parse(&"[".repeat(1_000_000)).is_err());
    }

    fn written(shape: Shape, columns: Vec<Column>) -> String {
        let mut out = Vec::new();
        write(&Flat { shape, columns }, &Labels::None, Real::F64, &mut out).expect("writes into memory");
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn doubles_stay_doubles_and_read_back_exactly() {
        for value in [1.0, -0.0, 0.1, 1e-5, 1e-7, 1e16, 1e300, 5e-324, f64::MAX, 123456789.123] {
            let text = written(Shape::Double, vec![Column::Double(vec![value])]);
            assert_eq!(number(text.trim()).0.to_bits(), value.to_bits(), "{text}");
            assert_eq!(number(text.trim()).1, None, "{text}");
        }
        assert_eq!(written(Shape::Double, vec![Column::Double(vec![1.0])]), "1.0\n");
        assert_eq!(written(Shape::Double, vec![Column::Double(vec![f64::NAN])]), "NaN\n");
        assert_eq!(written(Shape::Double, vec![Column::Double(vec![f64::NEG_INFINITY])]), "-Infinity\n");
    }

    #[test]
    fn an_array_of_pairs_prints_as_pairs() {
        let pair = Shape::Tuple(vec![Shape::Double, Shape::Index]);
        let columns = vec![Column::Double(vec![1.0, 3.0]), Column::Index(vec![2, 4])];
        assert_eq!(written(Shape::Array(2, Box::new(pair)), columns), "[[1.0, 2], [3.0, 4]]\n");
        let empty = Shape::Array(2, Box::new(Shape::Array(0, Box::new(Shape::Double))));
        assert_eq!(written(empty, vec![Column::Double(vec![])]), "[[], []]\n");
        assert_eq!(written(Shape::Bool, vec![Column::Bool(vec![true])]), "true\n");
    }
}
