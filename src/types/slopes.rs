//! Infinite slopes that a derivative meets where all is zero: square roots of sums of squares.
//!
//! In: a typed program, before derivatives are taken. Out: a warning for each `sqrt`, norm or power below 1 of what is provably a sum
//! of squares, in code that is differentiated, where it depends on the point. Such a sum may be 0, where the slope is
//! infinite and the derivative is NaN. There is no warning where a positive number is added to the sum, where a condition around
//! excludes 0, where the program divides by it (there is no value at 0 then), and for squares of differences, which are 0 only where
//! two things coincide.
//!
//!     gradient (fun v -> sqrt (vectorDot v v)) v   →   at v = 0 the gradient is not a number

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Expr, Prim, Program, Term, Var};
use crate::source::Span;

/// Terms that are looked at in one program; what is beyond is not warned of.
const TERMS: usize = 100_000;

/// A variable is followed through so many names.
const NAMES: usize = 64;

/// The warnings of a program; `library` is the number of the library's file.
pub fn infinite(program: &Program, library: u32) -> Diagnostics {
    let mut search = Search {
        program,
        library,
        known: HashMap::new(),
        active: HashSet::new(),
        left: TERMS,
        within: Vec::new(),
        divided: false,
        not_zero: Vec::new(),
        found: Vec::new(),
    };
    program.functions.values().for_each(|function| search.forms(&function.body));
    search.found
}

struct Search<'a> {
    program: &'a Program,
    library: u32,
    /// What variables are bound to.
    known: HashMap<Var, Expr>,
    /// What depends on the point.
    active: HashSet<Var>,
    left: usize,
    /// The calls around this place.
    within: Vec<Rc<str>>,
    /// Where the root is 0 the program has no value either: it is divided by.
    divided: bool,
    /// What the conditions around say is not 0.
    not_zero: Vec<Var>,
    found: Diagnostics,
}

impl Search<'_> {
    /// Looks for differentiated terms.
    fn forms(&mut self, expr: &Expr) {
        if let Term::Let(var, value, _) = expr.term() {
            self.known.insert(var.clone(), value.clone());
        }
        if let Some((x, body)) = differentiated(expr) {
            self.active = HashSet::from([x.clone()]);
            self.look(body, None);
        }
        expr.term().each_child(&mut |child| self.forms(child));
    }

    fn depends(&mut self, expr: &Expr) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        if let Term::Var(var) = expr.term() {
            return self.active.contains(var);
        }
        let mut found = false;
        expr.term().each_child(&mut |child| found = found || self.depends(child));
        found
    }

    /// Whether a term divides by a variable.
    fn divides(&mut self, expr: &Expr, by: &Var) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let is_by = |divisor: &Expr| matches!(divisor.term(), Term::Var(var) if var == by);
        let mut found = matches!(expr.term(), Term::Prim(Prim::Div, args) if args.get(1).is_some_and(is_by));
        expr.term().each_child(&mut |child| found = found || self.divides(child, by));
        found
    }

    /// Looks for slopes in what the program divides by.
    fn look_divided(&mut self, expr: &Expr, place: Option<Span>, divided: bool) {
        let outer = self.divided;
        self.divided |= divided;
        self.look(expr, place);
        self.divided = outer;
    }

    /// Looks for slopes in differentiated code; `place` is the call in the user's code, inside the library.
    fn look(&mut self, expr: &Expr, place: Option<Span>) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        let root = match expr.term() {
            Term::Prim(Prim::Sqrt, args) => args.first(),
            Term::Prim(Prim::Pow, args) => match args.as_slice() {
                [base, power] if matches!(power.term(), Term::Double(power) if *power > 0.0 && *power < 1.0) => Some(base),
                _ => None,
            },
            _ => None,
        };
        if let (Some(root), false) = (root, self.divided)
            && self.depends(root)
            && self.is_squares(root)
        {
            self.warn(place.unwrap_or(expr.span()));
        }
        match expr.term() {
            Term::Let(var, value, body) => {
                self.bind(var, value);
                let divided = matches!(value.term(), Term::Prim(..) | Term::Call(..)) && self.divides(body, var);
                self.look_divided(value, place, divided);
                return self.look(body, place);
            }
            Term::Prim(Prim::Div, args) => {
                return args.iter().enumerate().for_each(|(at, arg)| self.look_divided(arg, place, at == 1));
            }
            Term::Fold { acc: state, body, init, .. } | Term::While { state, body, init } if self.depends(init) || self.depends(body) => {
                self.active.insert(state.clone());
            }
            // what only decides has no slope
            Term::If(cond, a, b) => {
                let active = std::mem::take(&mut self.active);
                self.look(cond, place);
                self.active = active;
                let outside = self.not_zero.len();
                for (branch, holds) in [(a, true), (b, false)] {
                    self.excludes_zero(cond, holds);
                    self.look(branch, place);
                    self.not_zero.truncate(outside);
                }
                return;
            }
            Term::Call(name, args) => {
                let program = self.program;
                if let Some(function) = program.functions.get(name)
                    && !self.within.contains(name)
                    && args.iter().any(|arg| self.depends(arg))
                {
                    function.params.iter().zip(args).for_each(|(param, arg)| self.bind(param, arg));
                    let in_library = function.span.file == self.library;
                    self.within.push(name.clone());
                    self.look(&function.body, if in_library { place.or(Some(expr.span())) } else { None });
                    self.within.pop();
                }
            }
            _ => {
                if let Some((x, _)) = differentiated(expr) {
                    self.active.insert(x.clone());
                }
            }
        }
        expr.term().each_child(&mut |child| self.look(child, place));
    }

    /// Notes the variables that are not 0 where a condition holds, or does not.
    fn excludes_zero(&mut self, cond: &Expr, holds: bool) {
        let Term::Prim(prim, args) = cond.term() else { return };
        let (prim, a, b) = match (prim, args.as_slice()) {
            (Prim::Not, [cond]) => return self.excludes_zero(cond, !holds),
            (Prim::And, [a, b]) if holds => return [a, b].into_iter().for_each(|cond| self.excludes_zero(cond, true)),
            (Prim::Or, [a, b]) if !holds => return [a, b].into_iter().for_each(|cond| self.excludes_zero(cond, false)),
            (prim, [a, b]) => (*prim, a, b),
            _ => return,
        };
        let (prim, var, bound) = match (a.term(), b.term()) {
            (Term::Var(var), Term::Double(bound)) => (prim, var, *bound),
            (Term::Double(bound), Term::Var(var)) => (prim.turned().unwrap_or(prim), var, *bound),
            _ => return,
        };
        let excludes = match (prim, holds) {
            (Prim::Gt, true) | (Prim::Le, false) => bound >= 0.0,
            (Prim::Ge, true) | (Prim::Lt, false) => bound > 0.0,
            (Prim::Ne, true) | (Prim::Eq, false) => bound == 0.0,
            _ => false,
        };
        if excludes {
            let named = self.first_name(var);
            self.not_zero.push(named);
        }
    }

    /// The variable that this is another name for.
    fn first_name(&self, var: &Var) -> Var {
        let mut first = var.clone();
        // functions that call each other may bind their parameters to each other's
        for _ in 0..NAMES {
            let Some(Term::Var(other)) = self.known.get(&first).map(Expr::term) else { break };
            first = other.clone();
        }
        first
    }

    fn bind(&mut self, var: &Var, value: &Expr) {
        if self.depends(value) {
            self.active.insert(var.clone());
        } else {
            self.active.remove(var);
        }
        self.known.insert(var.clone(), value.clone());
    }

    fn warn(&mut self, span: Span) {
        if self.found.iter().all(|known| known.span != span) {
            let message = "the derivative is not a number where this is 0: it is a root of a sum of squares";
            let help = "differentiate the square, or add something positive under the root";
            self.found.push(Diagnostic::warning("W0507", span, message).help(help));
        }
    }

    /// Whether a term is a sum of squares, with nothing positive added.
    fn is_squares(&mut self, expr: &Expr) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        match expr.term() {
            Term::Var(var) if self.not_zero.contains(&self.first_name(var)) => false,
            Term::Var(var) => self.known.get(var).cloned().is_some_and(|value| self.is_squares(&value)),
            Term::Double(value) => *value == 0.0,
            Term::Check { body, .. } => self.is_squares(body),
            Term::Let(var, value, body) => {
                self.known.insert(var.clone(), value.clone());
                self.is_squares(body)
            }
            Term::Call(..) => self.body_of(expr).is_some_and(|body| self.is_squares(&body)),
            Term::Get(array, _) => self.has_squares(array),
            Term::Fold { acc, body, init, .. } => self.is_squares(init) && self.adds_squares(acc, body),
            Term::Prim(prim, args) => match (prim, args.as_slice()) {
                (Prim::Add, [a, b]) => self.is_squares(a) && self.is_squares(b),
                (Prim::Pow, [base, power]) => {
                    matches!(power.term(), Term::Double(power) if *power > 0.0 && power % 2.0 == 0.0) && !self.is_difference(base)
                }
                (Prim::Mul, [a, b]) => {
                    let (scaled, scales) = (is_positive(a) && self.is_squares(b), is_positive(b) && self.is_squares(a));
                    scaled || scales || self.is_same(a, b) && !self.is_difference(a)
                }
                (Prim::Div, [a, b]) => is_positive(b) && self.is_squares(a),
                _ => false,
            },
            _ => false,
        }
    }

    /// A step that adds squares to its state.
    fn adds_squares(&mut self, acc: &Var, body: &Expr) -> bool {
        match body.term() {
            Term::Let(var, value, body) => {
                self.known.insert(var.clone(), value.clone());
                self.adds_squares(acc, body)
            }
            Term::Prim(Prim::Add, args) => match args.as_slice() {
                [a, b] if matches!(a.term(), Term::Var(var) if var == acc) => self.is_squares(b),
                [a, b] if matches!(b.term(), Term::Var(var) if var == acc) => self.is_squares(a),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the elements of an array are sums of squares.
    fn has_squares(&mut self, array: &Expr) -> bool {
        match array.term() {
            Term::Var(var) => self.known.get(var).cloned().is_some_and(|value| self.has_squares(&value)),
            Term::Build { body, .. } => self.is_squares(body),
            Term::Check { body, .. } => self.has_squares(body),
            Term::Let(var, value, body) => {
                self.known.insert(var.clone(), value.clone());
                self.has_squares(body)
            }
            Term::Call(..) => self.body_of(array).is_some_and(|body| self.has_squares(&body)),
            Term::Array(items) => items.iter().all(|item| self.is_squares(item)),
            _ => false,
        }
    }

    /// What a call computes, its parameters bound to the arguments.
    fn body_of(&mut self, call: &Expr) -> Option<Expr> {
        let Term::Call(name, args) = call.term() else { return None };
        let function = self.program.functions.get(name)?;
        for (param, arg) in function.params.iter().zip(args) {
            self.known.insert(param.clone(), arg.clone());
        }
        Some(function.body.clone())
    }

    /// Whether two terms have one value, as they are written.
    fn is_same(&self, a: &Expr, b: &Expr) -> bool {
        let (a, b) = (self.named(a), self.named(b));
        match (a.term(), b.term()) {
            (Term::Var(x), Term::Var(y)) => x == y,
            (Term::Double(x), Term::Double(y)) => x == y,
            (Term::Index(x), Term::Index(y)) => x == y,
            (Term::Get(x, i), Term::Get(y, j)) => self.is_same(x, y) && self.is_same(i, j),
            (Term::Proj(x, i), Term::Proj(y, j)) => i == j && self.is_same(x, y),
            (Term::Prim(p, xs), Term::Prim(q, ys)) => p == q && xs.iter().zip(ys).all(|(x, y)| self.is_same(x, y)),
            _ => false,
        }
    }

    /// Whether a number is a difference: it is 0 where two things coincide, not where all is 0.
    fn is_difference(&self, expr: &Expr) -> bool {
        let expr = self.named(expr);
        let value = if let Term::Var(var) = expr.term() { self.known.get(var).unwrap_or(&expr) } else { &expr };
        matches!(value.term(), Term::Prim(Prim::Sub, _))
    }

    /// A variable that stands for another one, as that.
    fn named(&self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        for _ in 0..64 {
            let Term::Var(var) = expr.term() else { break };
            match self.known.get(var) {
                Some(value) if matches!(value.term(), Term::Var(_)) => expr = value.clone(),
                Some(_) | None => break,
            }
        }
        expr
    }
}

fn is_positive(expr: &Expr) -> bool {
    matches!(expr.term(), Term::Double(value) if *value > 0.0)
}

/// The point's variable and the body of a differentiated term.
fn differentiated(expr: &Expr) -> Option<(&Var, &Expr)> {
    let (Term::Dual { x, body, .. } | Term::Vjp { x, body, .. }) = expr.term() else { return None };
    Some((x, body))
}
