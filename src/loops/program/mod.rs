//! The loop program: what `lower` gives, the passes of this room change and `emit` prints.
//!
//! A small C-like tree of loops, assignments and guards over scalars and pointers. It knows nothing of C's
//! spelling: names are hints, operators are the core language's primitives. Every local belongs to one
//! function and is known by its number.
//!
//!     build(n, i. v[i] * 2.0)   →   for i < n: out[i] = v[i] * 2.0

pub mod ranges;
mod share;

use std::rc::Rc;

use crate::ir::{Prim, Size, Status, Var};
use crate::real::Real;
use crate::source::Span;

pub use share::{Captured, PartMeasure, Share, Slice, Total};

use ranges::Ranges;

/// The number of a local in its function's table.
pub type Id = usize;

/// What an array holds and a scalar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elem {
    Double,
    Index,
    Bool,
    /// A number of bytes: only in the functions that measure the workspace.
    Bytes,
}

/// How a local is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Scalar {
        mutable: bool,
    },
    /// A pointer to elements that are only read.
    Source {
        mutable: bool,
    },
    /// A pointer to elements that are written.
    Target {
        mutable: bool,
    },
}

/// A parameter or local variable.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Rc<str>,
    pub elem: Elem,
    pub form: Form,
    /// What a reader of the declaration is told; mostly nothing.
    pub note: Option<Rc<str>>,
}

/// A pure expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Local(Id),
    Double(f64),
    Index(i64),
    Bool(bool),
    /// A primitive on operands of one kind. `plain`: not Index arithmetic that can overflow, or divide by zero.
    Prim {
        prim: Prim,
        elem: Elem,
        plain: bool,
        args: Vec<Value>,
    },
    /// Where an element of a row lies, `[row, length, column]`: `row * length + column`. Only offsets, and rows and columns in
    /// them; so an access to a matrix keeps both of its subscripts until the pass `flatten`.
    InRow(Box<[Value; 3]>),
    /// `base[offset]`, or `*base`.
    Load {
        base: Id,
        offset: Option<Box<Value>>,
    },
    /// `c ? a : b`.
    Select(Box<[Value; 3]>),
    /// A helper of `runtime/`.
    Helper(&'static str, Vec<Value>),
    /// The bytes of so many elements.
    SizeOf(Elem, u32),
    /// Whether a pointer is elsewhere than an array's home.
    Moved {
        now: Id,
        home: Box<Pointer>,
    },
    /// The workspace function of a function, or a function that gives its scalar result.
    Call(Callee, Vec<Argument>),
}

impl Value {
    /// The expressions directly inside that are numbers: not the arguments of calls.
    pub fn parts_mut(&mut self) -> &mut [Value] {
        match self {
            Value::Prim { args, .. } | Value::Helper(_, args) => args,
            Value::Load { offset: Some(offset), .. } => std::slice::from_mut(offset),
            Value::InRow(parts) | Value::Select(parts) => &mut parts[..],
            Value::Local(_)
            | Value::Double(_)
            | Value::Index(_)
            | Value::Bool(_)
            | Value::Load { .. }
            | Value::SizeOf(..)
            | Value::Moved { .. }
            | Value::Call(..) => &mut [],
        }
    }

    /// Where the element `column` of row `row` lies, in rows of `length` elements.
    pub fn in_row(row: Value, length: Value, column: Value) -> Value {
        Value::InRow(Box::new([row, length, column]))
    }

    /// How many iterations a loop of so many has: of less than none it has none, as of `max(0, n)`.
    pub fn iterations(&self) -> &Value {
        if let Value::Prim { prim: Prim::Max, elem: Elem::Index, args, .. } = self
            && let [Value::Index(0), count] = args.as_slice()
        {
            count
        } else {
            self
        }
    }
}

/// Which C function of a core function is meant.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    Body(Rc<str>),
    /// The measure of the workspace, which takes the number of threads where that matters.
    Workspace(Rc<str>),
    /// The measure of one of its slices.
    Slice(Rc<str>, usize),
    /// How many calls deeper than is said a function's stacks may be, with the bytes that it was given: the most that its
    /// measure has room for. It takes what the measure does, but for that.
    Deeper(Rc<str>),
}

/// `base + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pointer {
    pub base: Id,
    pub offset: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Value(Value),
    Pointer(Pointer),
    /// The address of a scalar local.
    Address(Id),
    /// What is left of the workspace, as a pointer and its length (taken to be enough).
    Workspace,
}

/// Where a scalar goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    Local(Id),
    Element { base: Id, offset: Option<Value> },
}

pub type Block = Vec<Stmt>;

/// An array in the workspace, or a local one where it is small: it lives to the end of the block that has it.
#[derive(Clone, Debug)]
pub struct Room {
    pub id: Id,
    pub elem: Elem,
    /// The lengths, over parameters, sizes and loop indices.
    pub dims: Vec<Size>,
    pub counts: Vec<Value>,
    /// It begins where a cache line does, so that no vector of lanes lies across two.
    pub aligned: bool,
    pub span: Span,
}

/// The bytes of a cache line.
pub const LINE: i64 = 64;

/// The most bytes that are skipped to the next cache line: rooms begin at multiples of eight.
pub const PADDING: i64 = LINE - 8;

/// A room of literal lengths with at most so many elements, as a matrix of twelve rows and columns has, is a local array.
const FEW_ELEMENTS: i64 = 144;

impl Room {
    /// The number of elements of a room that is so small that it is a local array and takes no workspace.
    pub fn few(&self) -> Option<i64> {
        literal_length(&self.dims).filter(|count| is_few(*count))
    }
}

/// The number of elements of an array of literal lengths.
pub fn literal_length(dims: &[Size]) -> Option<i64> {
    dims.iter().try_fold(1i64, |count, size| count.checked_mul(size.as_constant()?))
}

fn is_few(count: i64) -> bool {
    (1..=FEW_ELEMENTS).contains(&count)
}

/// A call of another function.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub callee: Rc<str>,
    pub args: Vec<Argument>,
    /// What the callee's workspace function takes: sizes, and Index and Bool arguments where they are sizes.
    pub measures: Vec<Measure>,
    pub fallible: bool,
    pub span: Span,
}

/// An argument of a workspace function at one call.
#[derive(Clone, Debug)]
pub enum Measure {
    Size(Size),
    Bool(Value),
    /// Not computable from the caller's sizes.
    Data,
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Declare {
        id: Id,
        init: Option<Value>,
    },
    Point {
        id: Id,
        to: PointerValue,
    },
    Assign {
        place: Place,
        value: Value,
    },
    /// Changes an element of an array that others may have read and will read: nothing that reads the array moves across.
    Update {
        base: Id,
        offset: Value,
        value: Value,
    },
    For {
        i: Id,
        var: Option<Var>,
        count: Value,
        size: Option<Size>,
        body: Block,
        lanes: Lanes,
        /// Each iteration writes elements of its own and nothing else, as those of a `build` do.
        apart: bool,
    },
    /// Data says how many iterations there are: the body changes what the condition reads.
    While {
        cond: Value,
        body: Block,
    },
    /// A loop that threads share: only where that is asked for.
    Share(Share),
    If {
        cond: Value,
        then: Block,
        otherwise: Block,
    },
    /// `if (cond) return status`.
    Fail {
        cond: Value,
        status: Status,
    },
    /// `if (cond) return SMOOTH_WORKSPACE`.
    NoRoom {
        cond: Value,
    },
    Room(Room),
    Invoke(Invocation),
    /// Pointers change places: each of the group gets the value of the next, the last that of the first.
    Rotate(Vec<Id>),
    Scope(Block),
    Return(Value),
}

impl Stmt {
    /// The blocks directly inside, in the order in which they stand.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let blocks = match self {
            Stmt::For { body, .. } | Stmt::While { body, .. } | Stmt::Share(Share { body, .. }) | Stmt::Scope(body) => [Some(body), None],
            Stmt::If { then, otherwise, .. } => [Some(then), Some(otherwise)],
            Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::Assign { .. }
            | Stmt::Update { .. }
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Return(_) => [None, None],
        };
        blocks.into_iter().flatten()
    }

    /// As [`Stmt::blocks`], to change them.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let blocks = match self {
            Stmt::For { body, .. } | Stmt::While { body, .. } | Stmt::Share(Share { body, .. }) | Stmt::Scope(body) => [Some(body), None],
            Stmt::If { then, otherwise, .. } => [Some(then), Some(otherwise)],
            Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::Assign { .. }
            | Stmt::Update { .. }
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Return(_) => [None, None],
        };
        blocks.into_iter().flatten()
    }
}

/// Whether several iterations of a loop may run at once, in the lanes of a vector.
#[derive(Clone, Debug, PartialEq)]
pub enum Lanes {
    /// One after the other.
    One,
    /// The same, and compilers must keep the loop around those inside: the last of two writes of an element counts.
    InOrder,
    /// In any order: no iteration reads what another writes.
    Any,
    /// In any order but for these locals, which collect a sum.
    Sum(Vec<Id>),
    /// In any order, as many at once as a tile has lanes, and what they write first into tiles.
    Tile(Box<Tiles>),
}

/// What a loop reads and writes by whole tiles of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiles {
    /// The index of a row in its tile.
    pub lane: Id,
    pub panels: Vec<Panel>,
    pub tiles: Vec<Tile>,
}

/// A matrix that each iteration of a loop reads of one row alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The elements that a tile reads.
    pub id: Id,
    /// The first element that is read in a row: of a tile's first row, over the loop's index, or of each.
    pub from: Pointer,
    /// The distance of two rows.
    pub stride: i64,
    /// From the first to the last element that is read.
    pub width: i64,
    pub layout: Layout,
}

/// How a panel holds its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One after the other, at their distance: they lie so in the matrix, and are copied where a tile has fewer than lanes.
    Rows,
    /// Column by column, a row in each lane: copies of the rows that the lanes choose.
    Columns,
}

/// A matrix of which each iteration of a loop writes one whole row.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    pub base: Id,
    /// Which row, over the loop's index.
    pub row: Value,
    /// The offset of each column's element.
    pub columns: Vec<Value>,
}

/// What a pointer is set to.
#[derive(Clone, Debug, PartialEq)]
pub enum PointerValue {
    To(Pointer),
    Select(Value, Pointer, Pointer),
}

/// One parameter of a C function.
#[derive(Clone, Debug)]
pub struct Param {
    pub id: Id,
    pub role: Role,
}

/// A length that more than PTRDIFF_MAX bytes of doubles would have is rejected at entry, also where the array
/// has no elements because another length is 0: what is proved of sizes counts on it.
pub const LONGEST: i64 = i64::MAX / 8;

/// What a parameter is for.
#[derive(Clone, Debug)]
pub enum Role {
    /// A size, one that is an Index parameter included.
    Size,
    Scalar,
    Array(Vec<Size>),
    OutScalar,
    OutArray(Vec<Size>),
}

/// One function: its body and, where it is an entry or needs room, the function that measures its workspace.
#[derive(Clone, Debug)]
pub struct LoopFunction {
    pub name: Rc<str>,
    pub doc: Option<String>,
    pub is_entry: bool,
    pub locals: Vec<Local>,
    pub params: Vec<Param>,
    pub body: Block,
    pub workspace: Workspace,
    /// What measures a part of each loop that threads share, where it needs room.
    pub slices: Vec<PartMeasure>,
    /// The parameter types as a reader of the header wants to see them, by parameter.
    pub size_names: Vec<(Var, Id)>,
    /// What its workspace is measured by, with the core variables that they are: sizes, then Index and Bool parameters, then what
    /// is declared as [`Callee::Deeper`], where it is.
    pub measured: Vec<(Id, Option<Var>)>,
    /// What is known of its indices.
    pub ranges: Ranges,
    /// Where it is in the source.
    pub span: Span,
}

impl LoopFunction {
    /// What is declared as how many calls deeper its stacks may be.
    pub fn deeper(&self) -> Option<Id> {
        self.measured.iter().find(|(_, var)| var.as_ref().is_some_and(Var::is_ambient)).map(|(id, _)| *id)
    }

    /// What a caller measures its workspace by.
    pub fn measured_by_callers(&self) -> impl Iterator<Item = &(Id, Option<Var>)> {
        self.measured.iter().filter(|(id, _)| Some(*id) != self.deeper())
    }
}

/// How many bytes of workspace a function needs.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub needed: bool,
    pub locals: Vec<Local>,
    /// Sizes, then Index and Bool parameters, with the core variables that they are.
    pub params: Vec<(Id, Option<Var>)>,
    /// How many calls deeper than is said stacks are, where it has some: a parameter after the others.
    pub deeper: Option<Id>,
    /// The number of threads, where that matters: the last parameter.
    pub threads: Option<Id>,
    pub body: Block,
}

impl Workspace {
    /// All parameters.
    pub fn all_params(&self) -> impl Iterator<Item = Id> {
        self.params.iter().map(|(id, _)| *id).chain(self.deeper).chain(self.threads)
    }

    /// Whether the function is told how many bytes there are: more of them are more threads, or deeper stacks.
    pub fn is_told(&self) -> bool {
        self.deeper.is_some() || self.threads.is_some()
    }
}

/// All functions that the entries reach, callees before callers.
#[derive(Clone, Debug, Default)]
pub struct LoopProgram {
    /// What a Double is.
    pub real: Real,
    pub functions: Vec<LoopFunction>,
}
