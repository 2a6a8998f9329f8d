//! Which declaration each name of a program means: for hover, definition, references, rename and completion.
//!
//! In: the declarations of all files with what the types room knows of records. Out: [`Names`], the definitions and, in order of
//! their places, the occurrences of each. The library's files are looked up but not walked.
//!
//!     let f x = let y = x * x in y + x   →   f: 1 occurrence, x: 4, y: 2

use std::collections::HashMap;
use std::rc::Rc;

use crate::source::{SourceMap, Span};
use crate::syntax::ast::{Name, TypeBody};
use crate::types::modules::Modules;

/// What kind of thing a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A parameter, or a name that a `let` or a pattern binds.
    Local,
    /// A size that a parameter's type or a type declaration names.
    Size,
    /// A declaration of the program; its number in the list of all.
    Global(usize),
    /// A function of the library; its number in the list of all.
    Library(usize),
    /// A built-in name.
    BuiltIn,
    /// A record type; its number in the list of all.
    Type(usize),
    Field,
}

/// One definition.
#[derive(Clone, Debug)]
pub struct Definition {
    pub name: Rc<str>,
    pub what: What,
    /// Where its name is declared; a built-in is nowhere.
    pub place: Option<Span>,
    /// Where a local name can be seen.
    pub seen: Option<Span>,
}

/// One place where a name is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    pub span: Span,
    /// The number of its definition.
    pub definition: usize,
}

/// All definitions and occurrences of a program.
#[derive(Debug, Default)]
pub struct Names {
    pub definitions: Vec<Definition>,
    pub occurrences: Vec<Occurrence>,
    /// The places of fields whose record is not known.
    pub unknown: Vec<(Rc<str>, Span)>,
}

impl Names {
    /// The occurrence that a place in a file is in, or just behind.
    pub fn at(&self, file: u32, offset: usize) -> Option<&Occurrence> {
        let covers =
            |found: &&Occurrence| found.span.file == file && (found.span.start as usize..=found.span.end as usize).contains(&offset);
        let first = self.occurrences.partition_point(|found| (found.span.file, (found.span.end as usize)) < (file, offset));
        // two names may touch, with an operator of no width between: the one that begins here is meant
        self.occurrences.get(first..)?.iter().take(2).filter(covers).max_by_key(|found| found.span.start)
    }

    /// The definition of a number.
    pub fn definition(&self, number: usize) -> Option<&Definition> {
        self.definitions.get(number)
    }

    /// Every place of a definition's name.
    pub fn places(&self, definition: usize) -> impl Iterator<Item = Span> + '_ {
        self.occurrences.iter().filter(move |found| found.definition == definition).map(|found| found.span)
    }
}

/// The definitions while they are collected.
pub struct Table<'a> {
    sources: &'a SourceMap,
    pub modules: &'a Modules,
    records: &'a HashMap<Span, Span>,
    pub names: Names,
    built_in: HashMap<Rc<str>, usize>,
    /// For each record or sum type its definition, and those of its fields or cases.
    pub types: Vec<(usize, Vec<usize>)>,
}

impl<'a> Table<'a> {
    pub fn new(sources: &'a SourceMap, modules: &'a Modules, records: &'a HashMap<Span, Span>) -> Table<'a> {
        Table { sources, modules, records, names: Names::default(), built_in: HashMap::new(), types: Vec::new() }
    }

    pub fn define(&mut self, name: &Rc<str>, what: What, place: Option<Span>) -> usize {
        self.names.definitions.push(Definition { name: name.clone(), what, place, seen: None });
        self.names.definitions.len() - 1
    }

    pub fn built_in(&mut self, name: &Rc<str>) -> usize {
        if let Some(known) = self.built_in.get(name) {
            return *known;
        }
        let number = self.define(name, What::BuiltIn, None);
        self.built_in.insert(name.clone(), number);
        number
    }

    /// Notes an occurrence, where the text at the place is the name, or is the name in brackets.
    pub fn occurs(&mut self, name: &str, span: Span, definition: usize) {
        self.names.occurrences.extend(self.exact(name, span).map(|span| Occurrence { span, definition }));
    }

    /// The place of a name inside the place of what it is written in: `(x)`.
    pub fn exact(&self, name: &str, span: Span) -> Option<Span> {
        let text = self.sources.file(span)?.text.get(span.start as usize..span.end as usize)?;
        if text == name {
            return Some(span);
        }
        self.sources.word(span, name)
    }

    /// A case of a sum type, as a value or in a pattern: the last that is declared so.
    pub fn case(&mut self, name: &str, span: Span) {
        let cases = (0..self.types.len()).rev().filter(|at| matches!(self.modules.types[*at].decl.body, TypeBody::Sum(_)));
        let mut found = cases.filter_map(|at| {
            let case = self.modules.types[at].decl.body.members().iter().position(|(case, _)| *case.text == *name)?;
            self.types[at].1.get(case).copied()
        });
        if let Some(case) = found.next() {
            self.occurs(name, span, case);
        }
    }

    /// The field of the record that is written at a place; where errors hide which record it is, the only one with such a field.
    pub fn field(&mut self, name: &Name, place: Span) {
        let declared = self.records.get(&place);
        let is_record = |at: &usize| match declared {
            Some(declared) => self.modules.types[*at].decl.name.span == *declared,
            None => true,
        };
        let fields = (0..self.types.len()).filter(is_record).filter_map(|at| {
            let found = self.modules.types[at].decl.body.members().iter().position(|(field, _)| field.text == name.text)?;
            self.types[at].1.get(found).copied()
        });
        let found: Vec<usize> = fields.collect();
        match found.as_slice() {
            [only] => self.occurs(&name.text, name.span, *only),
            _ => self.names.unknown.push((name.text.clone(), name.span)),
        }
    }
}
