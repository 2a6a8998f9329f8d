//! Cost estimates of terms, for the conditions of rules.
//!
//! In: a term. Out: whether an element of a `build` is as cheap to recompute as to load; whether a term is worth hoisting,
//! sharing or storing.

use crate::ir::free::mentions;
use crate::ir::{Expr, Prim, Term, Type, Var};

/// Whether computing any element (through directly nested builds) costs at most what reading it from
/// memory does: one read, one operation or one comparison, and neither a function nor a loop. A condition on Index that is the same for
/// all elements costs nothing, as it can be hoisted; work of a single element is negligible.
pub fn element_is_cheap(build: &Expr) -> bool {
    let (mut levels, mut indices) = (0, Vec::new());
    let mut element = build;
    while let Term::Build { i, body, .. } = element.term() {
        levels += 1;
        indices.push(i);
        element = body;
    }
    // without the conditions that are the same for all
    let mut always = element;
    while let Term::If(cond, then, otherwise) = element.term() {
        let (value, atom) = if otherwise.is_atom() { (then, otherwise) } else { (otherwise, then) };
        let Term::Prim(prim, args) = cond.term() else { break };
        if !args.iter().all(Expr::is_atom) || !atom.is_atom() {
            break;
        }
        match prim {
            Prim::Eq if indices.iter().any(|i| mentions(cond, i)) => return operations(value).is_some_and(|work| work <= 2),
            Prim::Eq if always.is_same(element) => always = value,
            // one part of several that are put together
            Prim::Eq | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => {}
            _ => break,
        }
        element = value;
    }
    levels > 0 && operations(always).is_some_and(|work| work <= levels)
}

/// Whether computing one extra element costs less than storing and loading two or more.
pub fn element_is_short(build: &Expr) -> bool {
    let mut element = build;
    while let Term::Build { body, .. } = element.term() {
        element = body;
    }
    operations(element).is_some_and(|work| work <= 5)
}

/// Whether elements are cheap and have a part that only one of them has: a sum needs no loop for that part once it is inlined.
pub fn element_is_hot(build: &Expr) -> bool {
    let (element, indices) = element_of(build);
    operations(element).is_some_and(|work| work <= HOT_OPERATIONS) && has_choice(element, &indices)
}

/// Whether elements are zero but for parts that an index selects, and cheap but for these: a sum needs no loop for them, however
/// often elements are read.
pub fn element_is_sparse(build: &Expr) -> bool {
    let (element, indices) = element_of(build);
    let mut work = SparseWork::default();
    vanishes(element, &indices)
        && work.add(element, &indices).is_some()
        && work.always <= HOT_OPERATIONS
        && work.selected <= SELECTED_OPERATIONS
}

/// The element of directly nested builds, and their indices.
fn element_of(build: &Expr) -> (&Expr, Vec<&Var>) {
    let (mut element, mut indices) = (build, Vec::new());
    while let Term::Build { i, body, .. } = element.term() {
        indices.push(i);
        element = body;
    }
    (element, indices)
}

/// So many operations are cheap beside what a part of one element saves.
const HOT_OPERATIONS: u32 = 12;

/// So many operations may be written again wherever a part is used.
const SELECTED_OPERATIONS: u32 = 60;

/// Whether a term has a conditional that selects a single element.
fn has_choice(expr: &Expr, indices: &[&Var]) -> bool {
    let chooses = |cond: &Expr| matches!(cond.term(), Term::Prim(Prim::Eq, _)) && indices.iter().any(|i| mentions(cond, i));
    matches!(expr.term(), Term::If(cond, ..) if chooses(cond)) || expr.term().children().any(|child| has_choice(child, indices))
}

/// The operations of a sparse element.
#[derive(Default)]
struct SparseWork {
    always: u32,
    /// Those of the parts that an index selects.
    selected: u32,
}

impl SparseWork {
    fn add(&mut self, expr: &Expr, indices: &[&Var]) -> Option<()> {
        match expr.term() {
            Term::Let(_, value, body) => {
                self.add(value, indices)?;
                self.add(body, indices)
            }
            // the same for a whole row
            Term::Check { body, .. } => self.add(body, indices),
            Term::If(cond, part, rest) if selects_one(cond, indices) => {
                self.add(cond, indices)?;
                self.selected += operations(part)?;
                self.add(rest, indices)
            }
            _ => {
                self.always += own_operations(expr)?;
                let mut total = Some(());
                expr.term().each_child(&mut |child| total = total.and_then(|()| self.add(child, indices)));
                total
            }
        }
    }
}

/// Whether an element is zero but for parts that few elements have.
fn vanishes(expr: &Expr, indices: &[&Var]) -> bool {
    let is_zero = |expr: &Expr| matches!(expr.term(), Term::Double(0.0));
    match expr.term() {
        Term::Let(_, _, body) | Term::Check { body, .. } => vanishes(body, indices),
        Term::If(cond, _, rest) if selects_one(cond, indices) => vanishes(rest, indices),
        Term::If(_, a, b) => vanishes(a, indices) && vanishes(b, indices),
        Term::Prim(Prim::Add | Prim::Sub | Prim::Neg, args) => args.iter().all(|arg| vanishes(arg, indices)),
        Term::Prim(Prim::Mul, args) => args.iter().any(|arg| vanishes(arg, indices)),
        Term::Prim(Prim::Div, args) => args.first().is_some_and(|arg| vanishes(arg, indices)),
        _ => is_zero(expr),
    }
}

/// Whether a condition says which index is meant, or one near it.
fn selects_one(cond: &Expr, indices: &[&Var]) -> bool {
    let Term::Prim(Prim::Eq, args) = cond.term() else { return false };
    let [a, b] = args.as_slice() else { return false };
    let of = |side: &Expr| match side.term() {
        Term::Var(var) => Some(var.clone()),
        Term::Prim(Prim::Add | Prim::Sub, args) => match (args.first().map(Expr::term), args.get(1).map(Expr::term)) {
            (Some(Term::Var(var)), Some(Term::Index(_))) => Some(var.clone()),
            _ => None,
        },
        _ => None,
    };
    [(a, b), (b, a)].into_iter().any(|(side, other)| of(side).is_some_and(|var| indices.contains(&&var) && !mentions(other, &var)))
}

/// The work of a term, roughly: a loop is worth more than any number of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Loops, calls and arrays.
    pub loops: u32,
    /// Operations on Doubles outside of them,
    pub operations: u32,
    /// and functions of Doubles among these, each as long as many.
    pub functions: u32,
    /// Elements that are read outside of them.
    pub reads: u32,
}

/// Worth a name of its own: some operation on Doubles, or a loop, a call or an array.
pub fn is_worth_a_name(expr: &Expr) -> bool {
    is_work(expr) || expr.term().children().any(is_worth_a_name)
}

/// Whether the term is an array of one number in all places: written again as quickly as it is copied.
pub fn is_fill(expr: &Expr) -> bool {
    match expr.term() {
        Term::Build { body, .. } => is_fill(body) || body.is_atom(),
        Term::Tuple(parts) => parts.iter().all(|part| is_fill(part) || part.is_atom()) && parts.iter().any(is_fill),
        Term::Update(_, parts) => parts.first().is_some_and(is_fill) && parts.iter().skip(1).all(Expr::is_atom),
        _ => false,
    }
}

/// Whether the outermost form is an operation on Doubles, or a loop, a call or an array.
pub fn is_work(expr: &Expr) -> bool {
    let mut own = Work::default();
    own.add_head(expr);
    own.loops > 0 || own.operations > 0
}

/// Whether an operation on Doubles takes many times as long as an addition: a quotient, a root, a function.
pub fn is_costly(prim: Prim) -> bool {
    matches!(prim, Prim::Div | Prim::Sqrt) || prim.is_function()
}

impl Work {
    pub fn of(expr: &Expr) -> Work {
        let mut work = Work::default();
        work.add(expr);
        work
    }

    /// Both together.
    pub fn and(self, other: Work) -> Work {
        Work {
            loops: self.loops + other.loops,
            operations: self.operations + other.operations,
            functions: self.functions + other.functions,
            reads: self.reads + other.reads,
        }
    }

    fn add(&mut self, expr: &Expr) {
        self.add_head(expr);
        expr.term().each_child(&mut |child| self.add(child));
    }

    fn add_head(&mut self, expr: &Expr) {
        match expr.term() {
            Term::Build { .. } | Term::Fold { .. } | Term::While { .. } | Term::Call(..) => self.loops += 1,
            Term::Prim(prim, _) if expr.ty() == &Type::Double => {
                self.operations += 1;
                self.functions += u32::from(prim.is_function());
            }
            Term::Get(..) if !matches!(expr.ty(), Type::Array(..)) => self.reads += 1,
            Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::Let(..)
            | Term::If(..)
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..)
            | Term::Array(_)
            | Term::Check { .. }
            | Term::Iso(..)
            | Term::Update(..)
            | Term::Vjp { .. }
            | Term::Dual { .. } => {}
        }
    }

    /// Worth an array: even with two rounds of the outer loop, writing and reading it costs less than
    /// computing it again.
    pub fn is_worth_an_array(self) -> bool {
        self.loops > 0 || self.functions > 0 || self.operations > 2 || self.operations > 0 && self.operations + self.reads > 4
    }
}

/// So many operations a function takes at least.
const FUNCTION: u32 = 4;

/// Operations and reads of a term without loops, calls and new arrays; `None` for others.
fn operations(expr: &Expr) -> Option<u32> {
    let mut total = Some(own_operations(expr)?);
    expr.term().each_child(&mut |child| total = total.and_then(|total| Some(total + operations(child)?)));
    total
}

/// Those of a term's outermost form.
fn own_operations(expr: &Expr) -> Option<u32> {
    Some(match expr.term() {
        Term::Build { .. } | Term::Fold { .. } | Term::While { .. } | Term::Call(..) | Term::Array(_) | Term::Let(..) => return None,
        Term::Dual { .. } | Term::Vjp { .. } | Term::Update(..) | Term::Iso(..) => return None,
        // a row is no read
        Term::Get(..) if matches!(expr.ty(), Type::Array(..)) => 0,
        Term::Prim(prim, _) if prim.is_function() => FUNCTION,
        Term::Prim(..) | Term::Get(..) | Term::Check { .. } => 1,
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => 0,
        Term::If(..) | Term::Dim(..) | Term::Tuple(_) | Term::Proj(..) => 0,
    })
}
