//! Printed core programs as words with classes, for colouring.
//!
//! In: text in the notation of `ir::print`. Out: its words, spaces included, each with its class; together they
//! are the text.
//!
//!     let x = v[0]   →   keyword `let`, plain ` `, name `x`, …

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Keyword,
    /// A primitive or a form of the language.
    Builtin,
    Type,
    Number,
    Name,
    Operator,
    Space,
}

impl Class {
    /// The element that the page's style sheet colours; none for what has no colour of its own.
    pub fn style(self) -> Option<&'static str> {
        match self {
            Class::Keyword => Some("b"),
            Class::Builtin => Some("i"),
            Class::Type => Some("q"),
            Class::Number => Some("u"),
            Class::Name | Class::Operator | Class::Space => None,
        }
    }
}

const KEYWORDS: [&str; 9] = ["let", "in", "fun", "if", "then", "else", "check", "dual", "not"];
const FORMS: [&str; 9] = ["build", "ifold", "length", "dim", "double", "index", "true", "false", "matrixCols"];

/// The words of a text.
pub fn words(text: &str) -> Vec<(Class, &str)> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let long = |wanted: fn(char) -> bool| rest.find(|c: char| !wanted(c)).unwrap_or(rest.len());
        let (class, end) = if first.is_whitespace() {
            (Class::Space, long(char::is_whitespace))
        } else if first.is_ascii_digit() {
            (Class::Number, long(|c| c.is_ascii_alphanumeric() || c == '.'))
        } else if first.is_alphabetic() || first == '_' {
            let end = long(|c| c.is_alphanumeric() || matches!(c, '_' | '\''));
            (class_of(&rest[..end]), end)
        } else {
            (Class::Operator, first.len_utf8())
        };
        words.push((class, &rest[..end]));
        rest = &rest[end..];
    }
    words
}

fn class_of(word: &str) -> Class {
    if KEYWORDS.contains(&word) {
        Class::Keyword
    } else if FORMS.contains(&word) || crate::ir::Prim::function(word).is_some() {
        Class::Builtin
    } else if ["Double", "Index", "Bool", "Vector", "Matrix", "Array", "BOUNDS", "SHAPE", "NEGATIVE", "DIV_ZERO", "RANGE"].contains(&word) {
        Class::Type
    } else {
        Class::Name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_make_the_text() {
        let text = "let f' (v: Vector<n>) = build n (fun i -> sin v[i] * -2.5e-3) … ≤\n  in";
        let words = words(text);
        assert_eq!(words.iter().map(|(_, word)| *word).collect::<String>(), text);
        for (word, class) in [("let", Class::Keyword), ("f'", Class::Name), ("Vector", Class::Type), ("sin", Class::Builtin)] {
            assert!(words.contains(&(class, word)), "{word}: {words:?}");
        }
    }
}
