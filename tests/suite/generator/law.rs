//! Cheap gradients (docs/language.md): a function beside its value and gradient, and what both cost.
//!
//! In: a program after `types` and one of its functions. Out: [`Pair`]s: the function with its value and gradient in all
//! parameters that are made of Doubles, where a result is no Double that of the sum of its Doubles; and each gradient form of
//! the function with what it is the gradient of. A pair is optimised by the schedule `default` and counted at two sizes:
//!
//!     gradient ≤ (4 + d) function + laws of its primitives + Doubles of the point + a constant of the text
//!
//! The constant may be ten times the nodes of the text; and what the larger size costs beyond the rest may not be more than the
//! smaller one does, but for [`SLACK`]: a factor that grows is found also where the constant would hide it.

use std::rc::Rc;

use smoothc::cli::{args, values};
use smoothc::driver::{Options, Session};
use smoothc::ir::eval::{self, Counts, Record, RuntimeError, Value};
use smoothc::ir::prim::{Derivative, ROWS};
use smoothc::ir::subst::freshen_function;
use smoothc::ir::term::Vjp;
use smoothc::ir::{Expr, Function, Prim, Program, Size, Term, Type, Var};

use super::words::{self, arguments_of};

/// What may be more at the larger size: rests of loops that begin at a few elements.
const SLACK: i64 = 24;

const SMALLER: usize = 8;

/// A function that costs at most so much at the smaller size is called at this one too.
const LARGER: [(u64, usize); 3] = [(3_000, 64), (30_000, 32), (u64::MAX, 16)];

/// The names of the two in their program.
const NAMES: [&str; 2] = ["function", "its gradient"];

/// A `let` around a form.
type Bound = (Var, Expr);

pub struct Pair {
    /// The function's name; the second form in `f` is `f, form 2`.
    pub name: String,
    program: Program,
    point: Type,
    depth: u64,
    nodes: u64,
}

/// What a pair costs at a size.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub size: usize,
    pub function: u64,
    pub gradient: u64,
    /// The counts of the derivatives' laws of what the function evaluates.
    pub laws: u64,
    /// Doubles of the point.
    pub point: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub rows: [Row; 2],
    depth: u64,
    constant: i64,
}

pub fn total(counts: Counts) -> u64 {
    counts.arithmetic + counts.comparisons + counts.reads + counts.writes
}

/// What an entry does for arguments as on a command line.
pub fn count(program: &Program, entry: &str, words: &[String]) -> Result<Counts, String> {
    let inputs = inputs(program, entry, words)?;
    eval::eval(program, entry, inputs).map(|outcome| outcome.trace.counts).map_err(said)
}

fn inputs(program: &Program, entry: &str, words: &[String]) -> Result<Vec<Value>, String> {
    let arguments = args::read(&program.functions[entry], words).map_err(|problems| problems[0].message.clone())?;
    Ok(arguments.values.iter().map(values::from_flat).collect())
}

fn said(error: RuntimeError) -> String {
    error.message
}

/// How many Doubles a value has.
pub fn doubles(ty: &Type, length: &dyn Fn(&Size) -> usize) -> u64 {
    match ty {
        Type::Double => 1,
        Type::Index(_) | Type::Bool | Type::Rec(_) => 0,
        Type::Array(element, size) => length(size) as u64 * doubles(element, length),
        Type::Tuple(parts) => parts.iter().map(|part| doubles(part, length)).sum(),
    }
}

impl Cost {
    /// The gradient without the point against the function, at the larger size.
    pub fn ratio(&self) -> f64 {
        let row = self.rows[1];
        row.gradient.saturating_sub(row.point) as f64 / row.function.max(1) as f64
    }

    pub fn is_beyond(&self) -> bool {
        let [smaller, larger] = self.rows.map(|row| {
            let law = (4 + self.depth) * row.function + row.laws + row.point;
            row.gradient as i64 - law as i64
        });
        smaller > self.constant || larger > smaller.max(0) + SLACK
    }

    pub fn text(&self) -> String {
        let at = |row: &Row| format!("{} of {} and {} Doubles at {}", row.gradient, row.function, row.point, row.size);
        format!("{}, depth {}", self.rows.iter().map(at).collect::<Vec<_>>().join(", "), self.depth)
    }
}

impl Pair {
    /// The function itself, unless it has no Doubles.
    pub fn of(typed: &Program, function: &Function) -> Option<Pair> {
        if !function.result.has_double() {
            return None;
        }
        let own = freshen_function(function);
        let is_chosen = |param: &&Var| param.ty().is_made_of_doubles();
        let mut point: Vec<Expr> = own.params.iter().filter(is_chosen).map(Expr::var).collect();
        let count = point.len();
        let point = if count == 1 { point.remove(0) } else { Expr::tuple(point) };
        if count == 0 {
            return None;
        }
        let x = Var::fresh("x", point.ty().clone());
        let mut next = 0..;
        let from_point = |param: &Var| match is_chosen(&param) {
            true if count == 1 => Expr::var(&x),
            true => Expr::proj(Expr::var(&x), next.next().unwrap_or_default()),
            false => Expr::var(param),
        };
        let args = own.params.iter().map(from_point).collect();
        let body = summed(Expr::call(function, args));
        Some(Pair::new(typed, &own, function.name.to_string(), &[], (x, point, body)))
    }

    /// The gradient forms of a function that are not in loops or branches.
    pub fn forms_of(typed: &Program, function: &Function) -> Vec<Pair> {
        fn walk(expr: &Expr, lets: &mut Vec<Bound>, found: &mut dyn FnMut(&[Bound], Vjp)) {
            match expr.term() {
                Term::Let(x, value, body) => {
                    walk(value, lets, found);
                    lets.push((x.clone(), value.clone()));
                    walk(body, lets, found);
                    lets.pop();
                }
                Term::Tuple(_) | Term::Proj(..) => expr.term().each_child(&mut |child| walk(child, lets, found)),
                _ => Vjp::of(expr).filter(|form| form.body.ty() == &Type::Double).into_iter().for_each(|form| found(lets, form)),
            }
        }
        let mut pairs = Vec::new();
        walk(&function.body, &mut Vec::new(), &mut |lets, form| {
            let name = format!("{}, form {}", function.name, pairs.len() + 1);
            pairs.push(Pair::new(typed, function, name, lets, (form.x.clone(), form.at.clone(), form.body.clone())));
        });
        pairs
    }

    /// The body at the point, and with its gradient there, in functions with the parameters of this one.
    fn new(typed: &Program, function: &Function, name: String, lets: &[Bound], (x, at, body): (Var, Expr, Expr)) -> Pair {
        let point = at.ty().clone();
        let value = Expr::let_(x.clone(), at.clone(), body.clone());
        let bodies = [value, Expr::vjp(x, at, Expr::double(1.0), body)];
        let bodies = bodies.map(|body| lets.iter().rev().fold(body, |body, (x, value)| Expr::let_(x.clone(), value.clone(), body)));
        let mut program = Program::default();
        let called = called(typed, &bodies[0]);
        for (name, function) in typed.functions.iter().filter(|(name, _)| called.contains(name)) {
            program.functions.insert(name.clone(), Function { is_entry: false, ..function.clone() });
        }
        let depth = depth(typed, &bodies[0]);
        for (name, body) in NAMES.into_iter().zip(bodies) {
            let result = body.ty().clone();
            // without labels: an argument that is a case is written as its tag beside the data of all cases
            let whole = Function { name: name.into(), result, body, is_entry: true, labels: Vec::new(), ..function.clone() };
            program.functions.insert(name.into(), freshen_function(&whole));
        }
        let nodes = program.node_count() as u64;
        Pair { name, program, point, depth, nodes }
    }

    /// Optimises and counts.
    pub fn cost(self) -> Result<Cost, String> {
        let mut session = Session::new("pair.smooth", "", Options::default());
        session.program = self.program;
        session.go_on_to("rewrite").map_err(|problems| problems[0].message.clone())?;
        let program = &session.program;
        let row = |size: usize| -> Result<Row, String> {
            let length = |of: &Size| words::value(of, &|_| size);
            let words = arguments_of(&program.functions[NAMES[0]], size, &length);
            let function = total(count(program, NAMES[0], &words)?);
            let record = eval::record(program, NAMES[0], inputs(program, NAMES[0], &words)?).map_err(said)?;
            let gradient = total(count(program, NAMES[1], &words)?);
            Ok(Row { size, function, gradient, laws: laws(&record), point: doubles(&self.point, &length) })
        };
        let smaller = row(SMALLER)?;
        let larger = LARGER.iter().find(|(most, _)| smaller.function.max(smaller.gradient) <= *most).map_or(SMALLER, |(_, size)| *size);
        let rows = [smaller, row(larger)?];
        Ok(Cost { rows, depth: self.depth, constant: 10 * self.nodes as i64 })
    }
}

/// The sum of a value's Doubles.
fn summed(value: Expr) -> Expr {
    let add = |a, b| Expr::prim(Prim::Add, vec![a, b]);
    match value.ty().clone() {
        Type::Double => value,
        Type::Index(_) | Type::Bool | Type::Rec(_) => Expr::double(0.0),
        Type::Array(..) => Expr::bind("r", value, |r| {
            let count = Expr::dim(r.clone(), 0);
            Expr::fold(count, "s", "i", Expr::double(0.0), |s, i| add(s, summed(Expr::get(r, i))))
        }),
        Type::Tuple(parts) => Expr::bind("r", value, |r| {
            let parts = (0..parts.len()).map(|at| summed(Expr::proj(r.clone(), at)));
            parts.reduce(add).unwrap_or(Expr::double(0.0))
        }),
    }
}

/// The functions that are called, also by others.
fn called(program: &Program, body: &Expr) -> Vec<Rc<str>> {
    fn note(expr: &Expr, names: &mut Vec<Rc<str>>) {
        match expr.term() {
            Term::Call(name, _) if !names.contains(name) => names.push(name.clone()),
            _ => {}
        }
        expr.term().each_child(&mut |child| note(child, names));
    }
    let mut names = Vec::new();
    note(body, &mut names);
    let mut done = 0;
    while let Some(name) = names.get(done).cloned() {
        note(&program.functions[&name].body, &mut names);
        done += 1;
    }
    names
}

/// What a loop that data ends counts for.
const OPEN: u64 = 5;

/// How deep loops are nested; the rows of a Jacobian are a loop. One that data ends, or whose count data gives, counts for more: its
/// steps are computed again on each level of its parts.
fn depth(program: &Program, expr: &Expr) -> u64 {
    let of = |expr| depth(program, expr);
    match expr.term() {
        Term::Build { n, body, .. } => of(n).max(1 + of(body)),
        Term::Fold { n, init, body, .. } => {
            let own = if Size::try_of_expr(n).is_some() { 1 } else { OPEN };
            of(n).max(of(init)).max(own + of(body))
        }
        Term::While { init, body, .. } => of(init).max(OPEN + of(body)),
        term => {
            let own = match term {
                Term::Call(name, _) => of(&program.functions[name].body),
                _ => 0,
            };
            let inner = term.children().map(of).fold(own, u64::max);
            inner + u64::from(Vjp::of(expr).is_some_and(|form| form.wants_rows()))
        }
    }
}

/// The operations in the laws of what was done.
fn laws(record: &Record) -> u64 {
    let of = |entry: &eval::Entry| match entry {
        eval::Entry::Operation { prim, .. } => operations(*prim),
        eval::Entry::Input { .. } => 0,
    };
    record.entries.iter().map(of).sum()
}

fn operations(prim: Prim) -> u64 {
    let law = match prim.row().derivative {
        Derivative::Zero => "",
        Derivative::Unary(law) | Derivative::Binary { both: law, .. } => law,
    };
    let is_operation = |word: &&str| word.starts_with('-') || ROWS.iter().any(|row| row.name == *word);
    law.split([' ', '(', ')']).filter(is_operation).count() as u64
}
