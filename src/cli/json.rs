//! JSON as the command line speaks it: numbers, booleans and arrays, with `NaN`, `Infinity` and `-Infinity`.
//!
//! Reading accepts what Python's json module reads and a value can need: `[[1, 2.5], [NaN, -Infinity]]`;
//! an object holds the fields of a record or a case and its data, a string is a case without data, null is `()`. `print` writes values.
//! Nesting is limited to 512 levels.

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
}
