//! What is known while one function's body is printed: names, the workspace, the lines so far.
//!
//! `stmt`, `expr`, `share` and `tile` print with it; here are its parts, and how a line is added.

use std::rc::Rc;

use crate::loops::program::*;
use crate::real::Real;

use super::names::Names;
use super::wrap::wrap;
use super::{FileNames, FunctionView};

/// Prints one function's body.
pub struct Printer<'a> {
    pub file: &'a FileNames,
    /// What a Double is.
    pub real: Real,
    pub locals: &'a [Local],
    pub entries: &'a dyn Fn(&str) -> Shape,
    pub named: Vec<Option<String>>,
    pub names: &'a mut Names,
    /// The core function's name, and the C names of what its measure takes.
    pub function: Rc<str>,
    pub measured: &'a [String],
    /// What follows these.
    pub deeper: Option<Id>,
    /// The pointer to free workspace.
    pub room: Option<String>,
    /// The workspace that it moves in.
    pub ground: Option<Ground>,
    /// Inside a part of a loop that threads share.
    pub part: Option<Part>,
    /// The functions that run the parts of such loops.
    pub parts: Vec<FunctionView>,
    /// Inside a loop whose iterations may run at once.
    pub in_lanes: bool,
    pub lines: Vec<String>,
    pub depth: usize,
}

/// How a callee is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub is_entry: bool,
    pub needs_room: bool,
    pub fallible: bool,
    /// It takes the length of its workspace: stacks are as deep, and threads as many, as have room.
    pub is_told: bool,
}

/// The workspace that the current function may use: a pointer to its first byte, and its length.
#[derive(Clone, Debug)]
pub struct Ground {
    pub start: String,
    pub bytes: String,
    /// A parameter, so a `void *`.
    pub is_void: bool,
}

/// The iterations that the function at hand runs of some loops.
#[derive(Clone, Debug)]
pub struct Part {
    pub loops: Vec<Id>,
    pub from: String,
    pub end: String,
    /// How many iterations all parts have, where that is asked.
    pub all: Option<String>,
}

impl Printer<'_> {
    pub fn name(&self, id: Id) -> String {
        self.named.get(id).cloned().flatten().unwrap_or_else(|| format!("unnamed_{id}"))
    }

    pub fn declare(&mut self, id: Id) -> String {
        let hint = self.locals.get(id).map_or("t", |local| &*local.name).to_string();
        let name = self.names.local(&hint);
        self.named[id] = Some(name.clone());
        name
    }

    pub fn line(&mut self, text: impl AsRef<str>) {
        self.lines.extend(wrap(text.as_ref(), self.depth));
    }
}
