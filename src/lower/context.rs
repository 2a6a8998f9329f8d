//! The state of lowering one function: its locals, what each variable is, and the block being written.
//!
//! Statements go to the innermost open block; [`Lowerer::nested`] opens one and gives it back. A let-bound
//! Index whose value is a size is known by that size, so that every length is over parameters and loop
//! indices alone (what the workspace function can compute).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::ir::free::mentions;
use crate::ir::last_use::LastUses;
use crate::ir::prove::Facts;
use crate::ir::size_term::NODES;
use crate::ir::subst::substitute;
use crate::ir::{Atom, Expr, Name, Prim, Program, Size, Status, Term, Type, Var};
use crate::source::Span;

use super::view::{Dest, Leaf, Target, View, elem};
pub use crate::loops::analysis::sizes::depends_on_data;
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;

pub type Result<T> = std::result::Result<T, Diagnostic>;

/// See the module's head.
pub struct Lowerer<'a> {
    pub program: &'a Program,
    pub done: &'a [LoopFunction],
    pub locals: Vec<Local>,
    pub ranges: Ranges,
    pub env: HashMap<Var, View>,
    pub sizes: HashMap<Var, Size>,
    /// Tuples whose Indexes and Bools are sizes, as terms over parameters: parameters, parts of them, states of loops over Indexes.
    pub states: Vec<(Var, Expr)>,
    /// Index variables known to lie in `0 … size-1`.
    pub bounds: HashMap<Var, Size>,
    /// The facts that hold at the current position.
    pub facts: Facts,
    /// Lengths that are no polynomials, and the locals that have them there.
    pub named: Vec<(Size, Value)>,
    pub blocks: Vec<Block>,
    /// As in [`super::LowerOptions`].
    pub reciprocals: bool,
    /// Whether run-time checks are left out, except that of a divisor.
    pub unchecked: bool,
    /// Whether threads share loops.
    pub parallel: bool,
    /// Arrays that loops over rows must find stored.
    pub stored: HashSet<Var>,
    /// Whether the function updates arrays,
    pub has_updates: bool,
    /// and where arrays are then used for the last time.
    pub last_uses: LastUses,
    /// The arrays that a pointer chosen at run time may point into.
    pub origins: HashMap<Id, Vec<Id>>,
    /// The C parameters that the result is written to.
    pub results: HashSet<Id>,
}

impl<'a> Lowerer<'a> {
    pub fn new(program: &'a Program, done: &'a [LoopFunction]) -> Lowerer<'a> {
        Lowerer {
            program,
            done,
            locals: Vec::new(),
            ranges: Ranges::default(),
            env: HashMap::new(),
            sizes: HashMap::new(),
            states: Vec::new(),
            bounds: HashMap::new(),
            facts: Facts::default(),
            named: Vec::new(),
            blocks: vec![Vec::new()],
            reciprocals: false,
            unchecked: false,
            parallel: false,
            stored: HashSet::new(),
            has_updates: false,
            last_uses: LastUses::default(),
            origins: HashMap::new(),
            results: HashSet::new(),
        }
    }

    pub fn emit(&mut self, stmt: Stmt) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(stmt);
        }
    }

    /// Runs `f` with a new block and returns the block; facts established inside are dropped.
    pub fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<(Block, T)> {
        self.blocks.push(Vec::new());
        let (facts, named) = (self.facts.clone(), self.named.len());
        let result = f(self);
        self.facts = facts;
        self.named.truncate(named);
        let block = self.blocks.pop().unwrap_or_default();
        Ok((block, result?))
    }

    /// As `nested`, where a condition is true or false.
    pub fn branch<T>(&mut self, cond: &Expr, truth: bool, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<(Block, T)> {
        self.nested(|this| {
            this.facts.assume(cond, truth);
            f(this)
        })
    }

    /// Appends a finished block to the current one, in a scope of its own where it has workspace rooms to free.
    pub fn place(&mut self, block: Block) {
        if block.iter().any(|stmt| matches!(stmt, Stmt::Room(_))) {
            self.emit(Stmt::Scope(block));
        } else {
            block.into_iter().for_each(|stmt| self.emit(stmt));
        }
    }

    pub fn local(&mut self, name: &str, elem: Elem, form: Form) -> Id {
        self.locals.push(Local { name: Rc::from(name), elem, form, note: None });
        self.locals.len() - 1
    }

    pub fn constant(&mut self, name: &str, elem: Elem, init: Value) -> Value {
        let id = self.local(name, elem, Form::Scalar { mutable: false });
        if elem == Elem::Index {
            let range = self.range(&init);
            self.ranges.insert(id, range);
        }
        self.emit(Stmt::Declare { id, init: Some(init) });
        Value::Local(id)
    }

    pub fn fail(&mut self, cond: Value, status: Status) {
        let is_left_out = self.unchecked && !matches!(status, Status::DivZero | Status::Workspace);
        if !is_left_out && cond != Value::Bool(false) {
            self.emit(Stmt::Fail { cond: names_first(cond), status });
        }
    }

    /// The size over parameters and loop indices.
    pub fn canonical(&self, size: &Size) -> Size {
        size.substitute(&mut |atom| match atom {
            Atom::Var(var) => self.sizes.get(var).cloned(),
            Atom::Term(_) | Atom::Unknown(_) => None,
        })
    }

    /// What an Index or Bool term is as a size; of parts of the states of loops too, which a `let` has named.
    pub fn size_of(&self, expr: &Expr) -> Option<Size> {
        Size::try_of_expr(expr).or_else(|| {
            let is_used = |(state, _): &&(Var, Expr)| mentions(expr, state);
            let used: Vec<(Var, Expr)> = self.states.iter().filter(is_used).cloned().collect();
            if used.is_empty() { None } else { Size::try_of_expr(&substitute(expr, &used)) }
        })
    }

    /// Notes a tuple of sizes as a term over parameters. Along a chain of loops these terms grow exponentially: one that is too large
    /// for a size is left out.
    pub fn note_state(&mut self, var: &Var, value: &Expr) {
        if value.node_count() <= NODES {
            let whole = substitute(value, &self.states);
            self.states.extend((whole.node_count() <= NODES).then(|| (var.clone(), whole)));
        }
    }

    /// Whether a `let` names a tuple that is a part of one of `states`.
    pub fn is_part_of_state(&self, var: &Var, value: &Expr) -> bool {
        let is_tuple = matches!((var.ty(), value.term()), (Type::Tuple(_), Term::Proj(..)));
        is_tuple && self.states.iter().any(|(state, _)| mentions(value, state))
    }

    /// The term's type with sizes over parameters and loop indices; sizes missing from the type are taken from the term's
    /// parts.
    pub fn type_of(&self, expr: &Expr) -> Result<Type> {
        let ty = expr.ty().map_sizes(&mut |size| self.canonical(size));
        if !lacks_size(&ty) {
            return Ok(ty);
        }
        let part = match expr.term() {
            Term::Var(var) => match self.env.get(var) {
                Some(view) => return Ok(view_type(view, &ty)),
                None => None,
            },
            Term::Let(var, value, body) => {
                let ty = self.type_of(body)?;
                let mut is_read = false;
                ty.each_length(&mut |length| is_read |= length.mentions(var));
                let value = if is_read { self.size_of(value).map(|size| self.canonical(&size)) } else { None };
                return Ok(value.map_or(ty.clone(), |value| ty.map_sizes(&mut |length| length.replace(var, &value))));
            }
            Term::Check { body, .. } => Some(body),
            Term::If(cond, a, b) => match (self.type_of(a), self.type_of(b)) {
                (Ok(x), Ok(y)) => return Ok(self.chosen(cond, &x, &y)),
                (Ok(_), Err(_)) => Some(a),
                (Err(_), _) => Some(b),
            },
            Term::Fold { init, .. } | Term::While { init, .. } => Some(init),
            Term::Update(_, parts) => parts.first(),
            Term::Proj(tuple, k) => match self.type_of(tuple)? {
                Type::Tuple(parts) if *k < parts.len() => return Ok(parts[*k].clone()),
                Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => None,
            },
            Term::Build { n, body, .. } => match (&ty, self.size_of(n)) {
                (Type::Array(element, _), Some(length)) => {
                    let element = if lacks_size(element) { Rc::new(self.type_of(body)?) } else { element.clone() };
                    return Ok(Type::Array(element, self.canonical(&length)));
                }
                _ => None,
            },
            Term::Get(array, _) => match self.type_of(array)? {
                Type::Array(element, _) => return Ok((*element).clone()),
                Type::Double | Type::Bool | Type::Index(_) | Type::Tuple(_) | Type::Rec(_) => None,
            },
            Term::Tuple(parts) => {
                return Ok(Type::tuple(parts.iter().map(|part| self.type_of(part)).collect::<Result<_>>()?));
            }
            Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::Dim(..)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Iso(..)
            | Term::Vjp { .. }
            | Term::Dual { .. } => None,
        };
        match part {
            Some(part) => self.type_of(part),
            None => Err(depends_on_data(expr.span())),
        }
    }

    /// The type of what a condition chooses between.
    pub fn chosen(&self, cond: &Expr, a: &Type, b: &Type) -> Type {
        chosen(cond, a, b).map_sizes(&mut |size| self.canonical(size))
    }

    /// Uninitialised places for a value of this type: locals for scalars, room in the workspace for arrays.
    pub fn fresh_dest(&mut self, ty: &Type, name: &Name, span: Span) -> Result<Dest> {
        match ty {
            Type::Tuple(parts) => {
                let parts = parts.iter().enumerate().map(|(k, part)| self.fresh_dest(part, &name.part(k), span));
                Ok(Dest::Tuple(parts.collect::<Result<_>>()?))
            }
            Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => {
                let id = self.local(name, elem(ty), Form::Scalar { mutable: true });
                self.note_range(ty, id);
                self.emit(Stmt::Declare { id, init: None });
                Ok(Dest::Scalar(Target::Local(id)))
            }
            Type::Array(..) => {
                let mut places = Vec::new();
                for ((elem, dims), name) in super::view::leaves(ty).into_iter().zip(name.of_blocks(ty)) {
                    let base = self.room(&name, elem, &dims, span)?;
                    places.push(Leaf { base, elem, dims, taken: Vec::new() });
                }
                Ok(Dest::over(ty, &mut places.into_iter()))
            }
        }
    }

    /// Room in the workspace for one block of scalars.
    pub fn room(&mut self, name: &str, elem: Elem, dims: &[Size], span: Span) -> Result<Id> {
        let counts = dims.iter().map(|size| self.size_value(size, span)).collect::<Result<Vec<_>>>()?;
        let id = self.local(name, elem, Form::Target { mutable: false });
        self.emit(Stmt::Room(Room { id, elem, dims: dims.to_vec(), counts, aligned: false, span }));
        Ok(id)
    }

    /// The value that was written to a destination.
    pub fn view_of(&self, dest: &Dest) -> View {
        match dest {
            Dest::Scalar(target) => View::Scalar(match target {
                Target::Local(id) => Value::Local(*id),
                Target::Leaf(leaf) => self.load(leaf),
            }),
            Dest::Tuple(parts) => View::Tuple(parts.iter().map(|part| self.view_of(part)).collect()),
            Dest::Array(array) => View::Array(array.clone()),
        }
    }

    pub fn load(&self, leaf: &Leaf) -> Value {
        Value::Load { base: leaf.base, offset: self.offset(leaf).map(Box::new) }
    }

    /// Writes a value that exists to a destination.
    pub fn copy(&mut self, from: &View, to: &Dest, span: Span) -> Result<()> {
        match (from, to) {
            (View::Scalar(value), Dest::Scalar(target)) => {
                let place = target.place(|leaf| self.offset(leaf));
                self.assign(place, value.clone());
                Ok(())
            }
            (View::Tuple(values), Dest::Tuple(parts)) => {
                values.iter().zip(parts).try_for_each(|(value, part)| self.copy(value, part, span))
            }
            (View::Array(source), Dest::Array(target)) => {
                if source.leaves == target.leaves {
                    return Ok(());
                }
                self.same_length(&source.length(), &target.length(), span)?;
                let (source, target) = (source.clone(), target.clone());
                let length = target.length();
                self.each(&length, "i", span, &mut |this, i| {
                    let value = this.element(&source, i, span)?;
                    let place = this.element_dest(&target, i, span)?;
                    this.copy(&value, &place, span)
                })
            }
            (View::Scalar(_), _) | (View::Tuple(_), _) | (View::Array(_), _) => Err(mismatch(span)),
        }
    }

    /// Assigns unless it would change nothing.
    pub fn assign(&mut self, place: Place, value: Value) {
        if let (Place::Local(id), Value::Local(other)) = (&place, &value)
            && id == other
        {
            return;
        }
        if let (Place::Element { base, offset }, Value::Load { base: from, offset: at }) = (&place, &value)
            && base == from
            && offset.as_ref() == at.as_deref()
        {
            return;
        }
        self.emit(Stmt::Assign { place, value });
    }

    /// A loop over `0 … length-1`.
    pub fn each(&mut self, length: &Size, name: &str, span: Span, f: &mut dyn FnMut(&mut Self, &Value) -> Result<()>) -> Result<()> {
        let count = self.size_value(length, span)?;
        let i = self.counter(name, &count);
        let (body, ()) = self.nested(|this| f(this, &Value::Local(i)))?;
        self.emit(Stmt::For { i, var: None, count, size: Some(length.clone()), body, lanes: Lanes::One, apart: false });
        Ok(())
    }

    /// A loop counter below `count`.
    pub fn counter(&mut self, name: &str, count: &Value) -> Id {
        let i = self.local(name, Elem::Index, Form::Scalar { mutable: true });
        self.ranges.count_to(i, count);
        i
    }

    pub fn element(&mut self, array: &super::view::ArrayView, index: &Value, span: Span) -> Result<View> {
        let dest = self.element_dest(array, index, span)?;
        Ok(self.view_of(&dest))
    }

    pub fn element_dest(&mut self, array: &super::view::ArrayView, index: &Value, span: Span) -> Result<Dest> {
        let (ty, leaves) = array.element(index).ok_or_else(|| mismatch(span))?;
        Ok(Dest::over(&ty, &mut leaves.into_iter()))
    }

    /// Fails with SMOOTH_SHAPE at run time unless the two lengths are one size.
    pub fn same_length(&mut self, actual: &Size, wanted: &Size, span: Span) -> Result<()> {
        if actual.is_as_long(wanted) {
            return Ok(());
        }
        let (a, b) = (self.size_value(actual, span)?, self.size_value(wanted, span)?);
        let cond = Value::Prim { prim: Prim::Ne, elem: Elem::Index, plain: true, args: vec![a, b] };
        self.fail(cond, Status::Shape);
        Ok(())
    }

    /// A view whose scalars may be used several times: compound expressions are bound to constants.
    pub fn settle(&mut self, view: View, name: &Name) -> View {
        match view {
            View::Scalar(value) => View::Scalar(match value {
                Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_) => value,
                value @ (Value::Prim { .. }
                | Value::InRow(_)
                | Value::Load { .. }
                | Value::Select(_)
                | Value::Helper(..)
                | Value::SizeOf(..)
                | Value::Moved { .. }
                | Value::Call(..)) => {
                    let elem = self.elem_of(&value);
                    self.constant(name, elem, value)
                }
            }),
            View::Tuple(parts) => {
                let parts = parts.into_iter().enumerate().map(|(k, part)| self.settle(part, &name.part(k)));
                View::Tuple(parts.collect())
            }
            View::Array(array) => View::Array(array),
        }
    }

    /// What kind of scalar a value is.
    pub fn elem_of(&self, value: &Value) -> Elem {
        match value {
            Value::Local(id) | Value::Load { base: id, .. } => self.locals.get(*id).map_or(Elem::Double, |local| local.elem),
            Value::Double(_) => Elem::Double,
            Value::Index(_) | Value::InRow(_) => Elem::Index,
            Value::Bool(_) => Elem::Bool,
            Value::Prim { prim, elem, .. } => crate::loops::values::result_elem(*prim, *elem),
            Value::Select(parts) => self.elem_of(&parts[1]),
            Value::Helper(..) | Value::SizeOf(..) => Elem::Bytes,
            Value::Moved { .. } => Elem::Bool,
            Value::Call(Callee::Deeper(_), _) => Elem::Index,
            Value::Call(..) => Elem::Bytes,
        }
    }
}

/// Comparisons with a literal as people write them: `n <= 0`, not `0 >= n`.
fn names_first(mut cond: Value) -> Value {
    if let Value::Prim { prim, elem: Elem::Index, args, .. } = &mut cond
        && let [Value::Index(_), b] = args.as_slice()
        && !matches!(b, Value::Index(_))
        && let Some(turned) = prim.turned().filter(|turned| turned != prim)
    {
        *prim = turned;
        args.reverse();
    }
    if matches!(cond, Value::Prim { elem: Elem::Bool, .. }) {
        cond.parts_mut().iter_mut().for_each(|part| *part = names_first(std::mem::replace(part, Value::Bool(true))));
    }
    cond
}

/// The first of two types, with the lengths that differ as the condition chooses them where it is one of sizes; elsewhere checks have
/// made them equal.
fn chosen(cond: &Expr, a: &Type, b: &Type) -> Type {
    match (a, b) {
        (Type::Array(x, n), Type::Array(y, m)) => Type::array(chosen(cond, x, y), Size::chosen(cond, n, m).unwrap_or_else(|| n.clone())),
        (Type::Tuple(xs), Type::Tuple(ys)) => Type::tuple(xs.iter().zip(ys.iter()).map(|(x, y)| chosen(cond, x, y)).collect()),
        _ => a.clone(),
    }
}

pub fn lacks_size(ty: &Type) -> bool {
    ty.has_array() && {
        let mut lacks = false;
        super::view::leaves(ty).iter().for_each(|(_, dims)| lacks |= dims.iter().any(Size::has_unknown));
        lacks
    }
}

fn view_type(view: &View, ty: &Type) -> Type {
    match (view, ty) {
        (View::Array(array), _) => array.ty.clone(),
        (View::Tuple(views), Type::Tuple(parts)) => {
            Type::tuple(views.iter().zip(parts.iter()).map(|(view, part)| view_type(view, part)).collect())
        }
        _ => ty.clone(),
    }
}

/// A term that `ir::check` should have refused: an internal error.
pub fn mismatch(span: Span) -> Diagnostic {
    Diagnostic::error("E0901", span, "internal: a term does not have the shape of its type").help("please report this program")
}
