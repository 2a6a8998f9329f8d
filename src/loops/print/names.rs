//! Names of locals, and lengths over them.
//!
//! In: locals in the order in which the text mentions them, and sizes over core variables. Out: a name for each local, that no
//! other has; a size over the names of the locals that its variables are. A variable that is none has a question mark before its
//! name (`?at`), a size that data decides is a question mark with a number (`?0`).
//!
//!     i, i, for   →   i, i.1, for.1

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::value::CLOSED;
use super::{Printer, elem};
use crate::ir::size_term::height;
use crate::ir::{Atom, Expr, Size, Term, Var};
use crate::loops::program::ranges::{ANY, Range, Ranges};
use crate::loops::program::*;

/// Words that begin statements and expressions: a local of such a name has a number.
pub const RESERVED: &[&str] = &[
    "let",
    "var",
    "point",
    "update",
    "for",
    "share",
    "captures",
    "total",
    "if",
    "else",
    "fail",
    "room",
    "local",
    "call",
    "rotate",
    "scope",
    "return",
    "panel",
    "tile",
    "true",
    "false",
    "NaN",
    "inf",
    "sizeof",
    "moved",
    "workspace",
    "slice",
    "deeper",
    "const",
];

/// The names that were given so far.
#[derive(Default)]
pub struct Names {
    given: RefCell<HashMap<Id, String>>,
    /// How many locals have a name.
    counts: RefCell<HashMap<Rc<str>, usize>>,
    vars: RefCell<HashMap<Var, String>>,
    unknowns: RefCell<HashMap<u32, String>>,
    /// The variables that lengths are made of.
    mentioned: HashSet<Var>,
}

impl Names {
    /// The names of a function's variables are those of its parameters.
    pub fn of(function: Option<&LoopFunction>) -> Names {
        let mut names = Names::default();
        let Some(function) = function else { return names };
        for param in &function.params {
            let of = function.size_names.iter().map(|(var, id)| (Some(var), id));
            let of = of.chain(function.measured.iter().map(|(id, var)| (var.as_ref(), id))).find(|(_, id)| **id == param.id);
            let name = names.local(param.id, &function.locals);
            if let Some((Some(var), _)) = of {
                names.vars.borrow_mut().insert(var.clone(), name);
            }
        }
        for (id, var) in &function.measured {
            if let (Some(var), true) = (var, Some(*id) == function.deeper()) {
                let name = names.local(*id, &function.locals);
                names.vars.borrow_mut().insert(var.clone(), name);
            }
        }
        each_size(&function.body, &mut |size| size.each_var(&mut |var| _ = names.mentioned.insert(var.clone())));
        names
    }

    pub fn local(&self, id: Id, locals: &[Local]) -> String {
        if let Some(name) = self.given.borrow().get(&id) {
            return name.clone();
        }
        let own = &locals[id].name;
        let counts = &mut *self.counts.borrow_mut();
        let count = counts.entry(own.clone()).or_insert(usize::from(RESERVED.contains(&&**own)));
        let name = if *count == 0 { own.to_string() } else { format!("{own}.{count}") };
        *count += 1;
        self.given.borrow_mut().insert(id, name.clone());
        name
    }

    /// What the variable of a loop is called, where lengths mention it.
    pub fn loop_var(&self, var: &Var, i: &str) -> Option<String> {
        self.mentioned.contains(var).then(|| self.vars.borrow_mut().entry(var.clone()).or_insert_with(|| i.to_string()).clone())
    }

    fn var(&self, var: &Var) -> String {
        let vars = &mut *self.vars.borrow_mut();
        let number = vars.len();
        vars.entry(var.clone()).or_insert_with(|| format!("?{}.{number}", var.name())).clone()
    }

    fn unknown(&self, number: u32) -> String {
        let unknowns = &mut *self.unknowns.borrow_mut();
        let next = unknowns.len();
        unknowns.entry(number).or_insert_with(|| format!("?{next}")).clone()
    }
}

/// Calls `f` on each size of a block's rooms, loops and calls.
fn each_size(block: &[Stmt], f: &mut dyn FnMut(&Size)) {
    for stmt in block {
        match stmt {
            Stmt::Room(room) => room.dims.iter().for_each(&mut *f),
            Stmt::For { size: Some(size), .. } => f(size),
            Stmt::Invoke(call) => call.measures.iter().for_each(|measure| match measure {
                Measure::Size(size) => f(size),
                Measure::Bool(_) | Measure::Data => {}
            }),
            Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::Assign { .. }
            | Stmt::Update { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Share(_)
            | Stmt::If { .. }
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Rotate(_)
            | Stmt::Scope(_)
            | Stmt::Return(_) => {}
        }
        stmt.blocks().for_each(|block| each_size(block, f));
    }
}

/// The range of a loop's index by itself.
pub fn count_range(ranges: &Ranges, count: &Value) -> Range {
    (0, (ranges.of(count).1 - 1).max(0))
}

/// The size that a count is by itself, over the variables that locals are.
pub fn size_of(count: &Value, var: &dyn Fn(Id) -> Option<Var>) -> Option<Size> {
    Size::try_of_expr(&expr_of(count, var)?)
}

/// A count as a core term.
fn expr_of(value: &Value, var: &dyn Fn(Id) -> Option<Var>) -> Option<Expr> {
    match value {
        Value::Local(id) => var(*id).as_ref().map(Expr::var),
        Value::Index(value) => Some(Expr::index(*value)),
        Value::Bool(value) => Some(Expr::bool(*value)),
        Value::Select(parts) => Some(Expr::if_(expr_of(&parts[0], var)?, expr_of(&parts[1], var)?, expr_of(&parts[2], var)?)),
        Value::Prim { prim, args, .. } => {
            let args = args.iter().map(|arg| expr_of(arg, var)).collect::<Option<Vec<_>>>()?;
            prim.result(args.iter().map(Expr::ty))?;
            Some(Expr::prim(*prim, args))
        }
        Value::Double(_)
        | Value::InRow(_)
        | Value::Load { .. }
        | Value::Helper(..)
        | Value::SizeOf(..)
        | Value::Moved { .. }
        | Value::Call(..) => None,
    }
}

impl Printer<'_> {
    /// What is known of an index, where that is not what is known by itself.
    pub fn known(&self, id: Id, by_itself: Range) -> String {
        let Some(function) = self.function else { return String::new() };
        match function.ranges.get(id).unwrap_or(ANY) {
            _ if self.locals[id].elem != Elem::Index => String::new(),
            range if range == by_itself => String::new(),
            ANY => " in any".to_string(),
            (low, high) => format!(" in {low}..={high}"),
        }
    }

    /// The variable that a local is in sizes, as [`size_of`] asks.
    pub fn var_of(&self, id: Id) -> Option<Var> {
        let name = self.name(id);
        self.names.vars.borrow().iter().find(|(_, other)| **other == name).map(|(var, _)| var.clone())
    }

    pub fn shape(&self, dims: &[Size]) -> String {
        format!("[{}]", dims.iter().map(|size| self.size(size)).collect::<Vec<_>>().join(", "))
    }

    pub fn size(&self, size: &Size) -> String {
        let name = |var: &Var| self.names.var(var);
        self.polynomial(size, &name)
    }

    /// What is added first, then what is subtracted, each in the order of the letters: the order of variables is not part of the text.
    fn polynomial(&self, size: &Size, name: &dyn Fn(&Var) -> String) -> String {
        let mut terms: Vec<(bool, String)> = Vec::new();
        for (monomial, factor) in size.terms() {
            let mut factors: Vec<String> = monomial.iter().map(|atom| self.atom(atom, name)).collect();
            factors.sort();
            let is_negative = factor < 0 && factor != i64::MIN;
            if factor.unsigned_abs() != 1 || factors.is_empty() {
                factors.insert(0, if is_negative { -factor } else { factor }.to_string());
            }
            terms.push((is_negative, factors.join(" * ")));
        }
        // a number stands last
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains('*');
        terms.sort_by_key(|(is_negative, text)| (*is_negative, is_number(text), text.clone()));
        let mut text = String::new();
        for (is_negative, term) in terms {
            text += match (text.is_empty(), is_negative) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text += &term;
        }
        if text.is_empty() { "0".to_string() } else { text }
    }

    fn atom(&self, atom: &Atom, name: &dyn Fn(&Var) -> String) -> String {
        let term = match atom {
            Atom::Var(var) => return name(var),
            Atom::Unknown(number) => return self.names.unknown(*number),
            Atom::Term(term) => term,
        };
        let mut names: Vec<String> = Vec::new();
        let mut local = |expr: &Expr| {
            names.push(match expr.term() {
                Term::Var(var) => name(var),
                Term::Fold { .. } => self.fold(expr, 0, name),
                Term::Proj(tuple, k) => {
                    if let Term::Var(var) = tuple.term() {
                        part(&name(var), *k)
                    } else {
                        self.fold(tuple, *k, name)
                    }
                }
                _ => return None,
            });
            Some(Value::Local(names.len() - 1))
        };
        let Some(value) = value_of(&term.expr, &mut local) else { return "?".to_string() };
        let printer = Printer::new(&[], None, self.real);
        *printer.names.given.borrow_mut() = names.into_iter().enumerate().collect();
        printer.value(&value, CLOSED)
    }

    /// `fold.h(count, first, next)`: what its step is called with is `?sh` and `?ih`, where h - 1 folds are one in another inside. A
    /// state of several Indexes is `?sh`, `?sh_1` and so on, each with its first and next value; `fold_1.h` is the second of them.
    fn fold(&self, expr: &Expr, k: usize, name: &dyn Fn(&Var) -> String) -> String {
        let Term::Fold { n, acc, i, body, init } = expr.term() else { return "?".to_string() };
        let at = height(expr);
        let name = |var: &Var| match var {
            var if var == acc => format!("?s{at}"),
            var if var == i => format!("?i{at}"),
            _ => name(var),
        };
        let text = |part: &Expr| Size::try_of_expr(part).map_or("?".to_string(), |size| self.polynomial(&size, &name));
        let states = match (init.term(), body.term()) {
            (Term::Tuple(init), Term::Tuple(body)) => init.iter().zip(body).flat_map(|(first, next)| [first, next]).collect(),
            _ => vec![init, body],
        };
        let parts: Vec<String> = std::iter::once(n).chain(states).map(text).collect();
        format!("{}.{at}({})", part("fold", k), parts.join(", "))
    }

    /// What an array is, as its pointer is declared.
    pub fn pointer_type(&self, id: Id) -> String {
        let local = &self.locals[id];
        let mutable = matches!(local.form, Form::Target { .. });
        format!("&{}{}", if mutable { "mut " } else { "" }, elem(local.elem, self.real))
    }
}

/// What a part of the state that has this name is called: the first one like the whole.
pub fn part(state: &str, k: usize) -> String {
    if k == 0 { state.to_string() } else { format!("{state}_{k}") }
}

/// A size's term as an expression, over what `name` makes of its variables.
fn value_of(expr: &Expr, name: &mut dyn FnMut(&Expr) -> Option<Value>) -> Option<Value> {
    match expr.term() {
        Term::Index(value) => Some(Value::Index(*value)),
        Term::Bool(value) => Some(Value::Bool(*value)),
        Term::Var(_) | Term::Fold { .. } | Term::Proj(..) => name(expr),
        Term::If(c, a, b) => Some(Value::Select(Box::new([value_of(c, name)?, value_of(a, name)?, value_of(b, name)?]))),
        Term::Prim(prim, args) => {
            let values = args.iter().map(|arg| value_of(arg, name)).collect::<Option<Vec<_>>>()?;
            let elem = args.first().map_or(Elem::Index, |arg| crate::loops::analysis::sizes::elem(arg.ty()));
            Some(Value::Prim { prim: *prim, elem, plain: true, args: values })
        }
        _ => None,
    }
}
