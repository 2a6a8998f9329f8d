//! Names in a target, C unless it says otherwise: from the source, made valid and unique.
//!
//! `'` becomes `_prime`; a keyword of C or C++, a name of libc, libm or our runtime, `main`, or a name that is
//! taken gets a `_` appended (a number, for locals). No local hides another or a function.
//!
//!     x'   →   x_prime        double   →   double_        i (within a loop over i)   →   i_2

use std::collections::{BTreeMap, BTreeSet};

use super::reserved::Reserved;

/// Names in use, by scope: the outermost holds the file's.
#[derive(Clone)]
pub struct Names {
    reserved: Reserved,
    scopes: Vec<BTreeSet<String>>,
    /// For each scope, the number after the last that a name got there.
    numbers: Vec<BTreeMap<String, usize>>,
}

impl Names {
    /// For C, without any name taken.
    pub fn new() -> Names {
        Names::over(Reserved::new())
    }

    /// For a target with these names of its own.
    pub fn without(reserved: &'static str) -> Names {
        Names::over(Reserved::of(reserved))
    }

    fn over(reserved: Reserved) -> Names {
        Names { reserved, scopes: vec![BTreeSet::new()], numbers: vec![BTreeMap::new()] }
    }

    pub fn open(&mut self) {
        self.scopes.push(BTreeSet::new());
        self.numbers.push(BTreeMap::new());
    }

    pub fn close(&mut self) {
        self.scopes.pop();
        self.numbers.pop();
    }

    /// These names as they are outside of all functions.
    pub fn of_file(&self) -> Names {
        Names { scopes: self.scopes[..1].to_vec(), numbers: self.numbers[..1].to_vec(), ..self.clone() }
    }

    pub fn is_taken(&self, name: &str) -> bool {
        self.reserved.has(name)
            || is_private(name) && !name.ends_with('_')
            || is_predefined(name)
            || self.scopes.iter().any(|scope| scope.contains(name))
    }

    /// The name with `_` appended until it is free.
    pub fn public(&mut self, source: &str) -> String {
        self.prefixed("", source)
    }

    /// The name with the prefix, where a name that is free with and without it has come by `_` at its end.
    pub fn prefixed(&mut self, prefix: &str, source: &str) -> String {
        let mut name = sanitise(source);
        let with_prefix = |name: &str| format!("{prefix}{name}");
        while self.is_taken(&name) || !prefix.is_empty() && self.is_taken(&with_prefix(&name)) {
            name.push('_');
        }
        self.take(&name);
        self.take(&with_prefix(&name));
        with_prefix(&name)
    }

    /// The name, numbered when it is taken.
    pub fn local(&mut self, source: &str) -> String {
        let base = sanitise(source);
        let mut name = base.clone();
        // no number alone makes such a name ours to use
        let mark = if is_private(&base) { "_" } else { "" };
        let mut number = 2;
        if self.is_taken(&name) && !self.scopes.iter().any(|scope| scope.contains(&name)) {
            name.push('_');
        }
        if self.is_taken(&name) {
            // numbers below the last one of an open scope are taken: a thousand `t`s need no million tries
            number = self.numbers.iter().filter_map(|scope| scope.get(&base)).copied().fold(number, usize::max);
        }
        while self.is_taken(&name) {
            name = format!("{base}_{number}{mark}");
            number += 1;
        }
        self.take(&name);
        if let Some(scope) = self.numbers.last_mut() {
            scope.insert(base, number);
        }
        name
    }

    pub fn take(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string());
        }
    }
}

/// Whether the name is one of our runtime's, or begins as the C implementation's do; a `_` at its end makes it free.
fn is_private(name: &str) -> bool {
    let theirs = name.strip_prefix('_').is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_ascii_uppercase()));
    theirs || name.starts_with("smooth_") || name.starts_with("SMOOTH_")
}

/// Whether the C implementation may define the name before the first line, as `__func__` and `__LINE__`.
fn is_predefined(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__") && !name.ends_with("___")
}

/// A C identifier for any source name.
pub fn sanitise(source: &str) -> String {
    let mut name = String::new();
    for c in source.chars() {
        match c {
            '\'' => name.push_str("_prime"),
            c if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
            _ => name.push('_'),
        }
    }
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'v');
    }
    if name == "_" { "unused".to_string() } else { name }
}
