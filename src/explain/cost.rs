//! Static cost analysis: polynomials in the sizes that model the counts of `eval --count`.
//!
//! In: a program and an entry. Out: a [`Cost`]: operations on Doubles, comparisons, elements read and written.
//! A loop's body is taken as often as the loop runs, and of two branches the dearer one; a size that depends on
//! a loop's variable is taken at its largest. Where such a bound was needed the cost says "at most"; else it is
//! what the interpreter counts.
//!
//!     ifold (fun s i -> s + v[i] * w[i]) 0.0 n   →   4 n   (2 n operations, 2 n reads)

use std::collections::HashMap;
use std::rc::Rc;

use super::polynomial::{largest, maximum, text};
use crate::ir::prim::Kind;
use crate::ir::program::match_sizes;
use crate::ir::{Atom, Change, Expr, Function, Prim, Program, Size, Term, Type, Updated, Var};

/// Work by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub arithmetic: Size,
    pub comparisons: Size,
    pub reads: Size,
    pub writes: Size,
    /// Some part may be less.
    pub is_bound: bool,
}

/// What an entry of the program costs.
pub fn of_entry(program: &Program, entry: &str) -> Cost {
    let mut model = Model { program, known: HashMap::new(), values: HashMap::new() };
    for (name, function) in &program.functions {
        let cost = model.expr(&function.body);
        model.known.insert(name.clone(), cost);
    }
    model.known.remove(entry).unwrap_or_default()
}

impl Cost {
    /// All four kinds together.
    pub fn total(&self) -> Size {
        self.arithmetic.add(&self.comparisons).add(&self.reads).add(&self.writes)
    }

    /// The total, and of what it is made.
    pub fn text(&self) -> String {
        let kinds = [
            (&self.arithmetic, "operations on Doubles"),
            (&self.comparisons, "comparisons"),
            (&self.reads, "reads"),
            (&self.writes, "writes"),
        ];
        let parts: Vec<String> =
            kinds.iter().filter(|(size, _)| size.as_constant() != Some(0)).map(|(size, what)| format!("{what} {}", text(size))).collect();
        match parts.as_slice() {
            [] => "nothing".to_string(),
            parts => format!("{}: {}", self.short(), parts.join(", ")),
        }
    }

    /// The total alone.
    pub fn short(&self) -> String {
        format!("{}{}", if self.is_bound { "at most " } else { "" }, text(&self.total()))
    }

    fn zip(&self, other: &Cost, f: impl Fn(&Size, &Size) -> Size) -> Cost {
        Cost {
            arithmetic: f(&self.arithmetic, &other.arithmetic),
            comparisons: f(&self.comparisons, &other.comparisons),
            reads: f(&self.reads, &other.reads),
            writes: f(&self.writes, &other.writes),
            is_bound: self.is_bound || other.is_bound,
        }
    }

    fn map(&self, f: impl Fn(&Size) -> Size) -> Cost {
        self.zip(self, |size, _| f(size))
    }

    fn add(&self, other: &Cost) -> Cost {
        self.zip(other, Size::add)
    }

    fn is_nothing(&self) -> bool {
        self.total().as_constant() == Some(0)
    }

    /// Either of two.
    fn or(&self, other: &Cost) -> Cost {
        let either = self.zip(other, maximum);
        let less = |cost: &Cost| Cost { is_bound: either.is_bound, ..cost.clone() } != either;
        Cost { is_bound: either.is_bound || less(self) || less(other), ..either.clone() }
    }

    /// So many times, each with its own value of the variable.
    fn times(&self, n: &Size, i: &Var) -> Cost {
        let mut bounded = self.is_bound || n.has_unknown();
        let last = n.sub(&Size::constant(1));
        let once = self.map(|size| if size.mentions(i) { largest(size, i, &last) } else { size.clone() });
        bounded |= once != *self;
        Cost { is_bound: bounded, ..once.map(|size| size.mul(n)) }
    }
}

struct Model<'a> {
    program: &'a Program,
    /// The costs of the functions so far.
    known: HashMap<Rc<str>, Cost>,
    /// Let-bound Index variables.
    values: HashMap<Var, Size>,
}

impl Model<'_> {
    fn size(&self, expr: &Expr) -> Size {
        self.normal(&Size::of_expr(expr))
    }

    fn normal(&self, size: &Size) -> Size {
        size.substitute(&mut |atom| match atom {
            Atom::Var(var) if var.is_ambient() => Some(Size::constant(0)),
            Atom::Var(var) => self.values.get(var).cloned(),
            Atom::Term(_) | Atom::Unknown(_) => None,
        })
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Cost {
        exprs.into_iter().fold(Cost::default(), |sum, expr| sum.add(&self.expr(expr)))
    }

    fn expr(&mut self, expr: &Expr) -> Cost {
        match expr.term() {
            Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => Cost::default(),
            Term::Prim(Prim::And | Prim::Or, args) => {
                let [a, b] = args.as_slice() else { return Cost::default() };
                let (a, b) = (self.expr(a), self.expr(b));
                Cost { is_bound: a.is_bound || !b.is_nothing(), ..a.add(&b) }
            }
            Term::Prim(prim, args) => self.all(args).add(&operation(*prim, args)),
            Term::Let(x, value, body) => {
                let cost = self.expr(value);
                if matches!(x.ty(), Type::Index(_))
                    && let Some(size) = Size::try_of_expr(value)
                {
                    let size = self.normal(&size);
                    self.values.insert(x.clone(), size);
                }
                cost.add(&self.expr(body))
            }
            Term::If(c, a, b) => {
                let (c, a, b) = (self.expr(c), self.expr(a), self.expr(b));
                c.add(&a.or(&b))
            }
            Term::Build { n, i, body } => {
                let count = self.size(n);
                let element = self.expr(body).add(&self.written(body, body.is_named()));
                self.expr(n).add(&element.times(&count, i))
            }
            Term::Fold { n, i, body, init, .. } => {
                let count = self.size(n);
                let step = self.expr(body);
                self.all([init, n]).add(&step.times(&count, i))
            }
            // data says how many steps there are
            Term::While { state, init, body } => {
                let step = self.expr(body);
                self.expr(init).add(&Cost { is_bound: true, ..step.times(&Size::unknown(), state) })
            }
            Term::Get(array, index) => {
                let read = if matches!(expr.ty(), Type::Array(..)) { 0 } else { 1 };
                self.all([array, index]).add(&Cost { reads: Size::constant(read), ..Cost::default() })
            }
            Term::Dim(array, _) if matches!(array.term(), Term::Var(_)) => Cost::default(),
            Term::Dim(part, _) | Term::Proj(part, _) => self.expr(part),
            Term::Tuple(parts) | Term::Iso(_, parts) => self.all(parts),
            Term::Array(items) => items.iter().fold(self.all(items), |sum, item| {
                let copied = matches!(item.term(), Term::Var(_) | Term::Get(..) | Term::Proj(..));
                sum.add(&self.written(item, copied))
            }),
            Term::Call(name, args) => {
                let callee = self.program.functions.get(name).and_then(|function| Some((function, self.known.get(name)?.clone())));
                let inside = match callee {
                    Some((function, cost)) => self.called(function, args, &cost),
                    None => Cost { is_bound: true, ..Cost::default() },
                };
                self.all(args).add(&inside)
            }
            Term::Check { cond, body, .. } => self.passed(cond).add(&self.expr(body)),
            // what is differentiated is no program yet
            Term::Dual { at, tangent, body, .. } | Term::Vjp { at, cotangent: tangent, body, .. } => {
                Cost { is_bound: true, ..self.all([at, tangent, body]) }
            }
            Term::Update(change, parts) => self.all(parts).add(&self.updated(*change, parts)),
        }
    }

    /// A condition that holds: both sides of an `&&` were looked at.
    fn passed(&mut self, cond: &Expr) -> Cost {
        if let Term::Prim(Prim::And, args) = cond.term() {
            args.iter().fold(Cost::default(), |sum, arg| sum.add(&self.passed(arg)))
        } else {
            self.expr(cond)
        }
    }

    /// The elements that storing an item writes.
    fn written(&self, item: &Expr, copied: bool) -> Cost {
        let writes = match item.ty() {
            Type::Array(..) if copied => item.ty().dims().iter().fold(Size::constant(1), |product, size| product.mul(&self.normal(size))),
            Type::Array(..) => Size::constant(0),
            Type::Double | Type::Index(_) | Type::Bool | Type::Tuple(_) | Type::Rec(_) => Size::constant(1),
        };
        Cost { is_bound: writes.has_unknown(), writes, ..Cost::default() }
    }

    /// What an update in place writes, and what it adds.
    fn updated(&self, change: Change, parts: &[Expr]) -> Cost {
        let Some(Updated { value, .. }) = Updated::of(parts) else { return Cost::default() };
        match change {
            Change::Replace => self.written(value, value.is_named()),
            Change::Add => {
                let count = self.normal(&doubles(value.ty()));
                let is_bound = count.has_unknown();
                Cost { is_bound, arithmetic: count.clone(), reads: count.clone(), writes: count, ..Cost::default() }
            }
        }
    }

    /// A function's cost with the sizes of its arguments.
    fn called(&self, function: &Function, args: &[Expr], cost: &Cost) -> Cost {
        let mut sizes: Vec<(Var, Size)> = Vec::new();
        for (param, arg) in function.params.iter().zip(args) {
            if matches!(param.ty(), Type::Index(_)) {
                sizes.push((param.clone(), self.size(arg)));
            }
            match_sizes(param.ty(), arg.ty(), &mut sizes);
        }
        cost.map(|size| {
            self.normal(&size.substitute(&mut |atom| match atom {
                Atom::Var(var) => sizes.iter().find(|(name, _)| name == var).map(|(_, size)| size.clone()),
                Atom::Term(_) | Atom::Unknown(_) => None,
            }))
        })
    }
}

/// The number of Doubles in a value of the type.
pub fn doubles(ty: &Type) -> Size {
    match ty {
        Type::Double => Size::constant(1),
        Type::Index(_) | Type::Bool | Type::Rec(_) => Size::constant(0),
        Type::Array(element, length) => doubles(element).mul(length),
        Type::Tuple(parts) => parts.iter().fold(Size::constant(0), |sum, part| sum.add(&doubles(part))),
    }
}

/// What a primitive itself does.
fn operation(prim: Prim, args: &[Expr]) -> Cost {
    let first = args.first().map(Expr::ty);
    let one = Size::constant(1);
    match prim.row().kind {
        Kind::Order | Kind::Equality if first != Some(&Type::Bool) => Cost { comparisons: one, ..Cost::default() },
        Kind::Number if first == Some(&Type::Double) => Cost { arithmetic: one, ..Cost::default() },
        Kind::Double | Kind::IndexDoubleToDouble => Cost { arithmetic: one, ..Cost::default() },
        Kind::Order | Kind::Equality | Kind::Number => Cost::default(),
        Kind::Index | Kind::Bool | Kind::IndexToDouble | Kind::DoubleToIndex => Cost::default(),
    }
}
