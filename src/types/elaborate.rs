//! Elaboration: syntax trees with inferred types to monomorphic first-order core functions.
//!
//! In: the declarations, their schemes and the notes of inference. Out: one core [`Function`] for each use
//! of a declaration at other types, other sizes or other function arguments; what a function argument or a
//! local function captured becomes parameters. Types and sizes are computed anew from the core terms, so
//! each equality of sizes is decided here: proved, refuted (a type error), or checked at run time.
//!
//!     vectorMap v (fun a -> a * s)   →   vectorMap(v, s) = build(length v, i. v[i] * s)
//!
//! A term under construction may need a `let` or a `check` around it: [`Elaborator::scoped`] collects them
//! per scope, so that nothing leaves a loop or a branch.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::builtin::{self, Builtin};
use super::env::Env;
use super::infer::{Infer, parameters, smallest_index};
use super::making::{Making, Passed, Special};
use super::scope::{Arg, Bind, Callable, Instance, Scope, hole_name};
use super::told::Told;
use super::ty::Ty;
use super::{LengthsOfData, OfData};
use crate::budget;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::prove::Facts;
use crate::ir::{Expr, Name, Prim, Program, Size, Status, Type, Var};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, Pattern, PatternKind};

/// An error was reported; the term that caused it has no core.
pub struct Failed;
pub type Result<T> = std::result::Result<T, Failed>;

/// A `let` or `check` to be put around the term of the innermost scope.
pub(super) enum Pending {
    Let(Var, Expr),
    Check(Expr, Status, Span),
}

/// The state of elaboration.
pub struct Elaborator<'a> {
    pub infer: &'a Infer<'a>,
    pub modules: &'a super::modules::Modules,
    pub program: Program,
    pub diagnostics: Diagnostics,
    pub(super) memo: HashMap<String, Rc<Special>>,
    pub(super) taken: HashSet<Rc<str>>,
    /// Whether the gradient in a Double is a `vjp`.
    pub(super) keep_gradients: bool,
    /// The names of the entries that `--derive` adds.
    pub(super) promised: Vec<String>,
    pub(super) local: Local,
    pub(super) inlining: u32,
    /// The declaration whose lets stay as they are written.
    pub(super) verbatim: Option<usize>,
    /// For each unknown size, the first term that read it: in what a function captures too.
    pub(super) lengths: HashMap<u32, Expr>,
    /// What only data says of the lengths in sums.
    pub(super) of_data: LengthsOfData,
    /// Whether branches of sums have each other's lengths where no value of the case is: for emitted code.
    pub(super) shares_lengths: bool,
    /// Whether a recursive function around is made to find the lengths of its result: what is made inside is made again with it.
    pub(super) is_trying: bool,
    /// The parameters that `decreases` names.
    pub(super) measures: Vec<Var>,
    /// Functions that are called as they are declared: no argument is a function.
    pub(super) plain: HashSet<Rc<str>>,
    /// The recursive functions whose bodies are being made, the innermost last.
    pub(super) making: Vec<Making>,
    /// What the calls of the one made last pass on.
    pub(super) passed: Rc<Passed>,
}

/// What belongs to the core function that is being made.
#[derive(Default)]
pub(super) struct Local {
    pub(super) pending: Vec<Vec<Pending>>,
    /// For an unknown size, a term that computes it.
    pub(super) witnesses: HashMap<u32, Expr>,
    /// The unknown sizes that have one, in the order in which they got it.
    pub(super) noted: Vec<u32>,
    /// Let-bound Index variables whose value is a known size.
    pub(super) known: HashMap<Var, Size>,
    /// Whether it is the body of a recursive function.
    pub(super) is_recursive: bool,
    /// Variables of tuples in which some part is a known size.
    pub(super) told: HashMap<Var, Told>,
    /// The sizes that the declaration names.
    pub(super) declared: Vec<Var>,
    /// The lengths of the parameters, here and around.
    pub(super) facts: Facts,
    /// What only data says of the lengths in the function's sums.
    pub(super) of_data: OfData,
    /// How many branches are around the term.
    pub(super) branches: usize,
    /// The unknown lengths in the data of the cases whose rows are around the term.
    pub(super) of_cases: Vec<u32>,
}

/// `fun`s expanded inside one another before the inner one becomes a function of its own.
pub(super) const INLINE_DEPTH: u32 = 3;

impl<'a> Elaborator<'a> {
    pub fn new(infer: &'a Infer<'a>, modules: &'a super::modules::Modules) -> Elaborator<'a> {
        Elaborator {
            infer,
            modules,
            program: Program::default(),
            diagnostics: Vec::new(),
            memo: HashMap::new(),
            taken: HashSet::new(),
            keep_gradients: false,
            promised: Vec::new(),
            local: Local::default(),
            inlining: 0,
            verbatim: None,
            lengths: HashMap::new(),
            of_data: LengthsOfData::default(),
            is_trying: false,
            shares_lengths: false,
            measures: Vec::new(),
            plain: HashSet::new(),
            making: Vec::new(),
            passed: Rc::default(),
        }
    }

    /// The value of a name that is neither bound here nor a case: a declaration's, a size's or a built-in one.
    fn declared_value(&mut self, name: &str, expr: &'a ast::Expr, scope: &Scope<'a>) -> Result<Expr> {
        let span = expr.span;
        match self.callable(expr, scope) {
            Some(Callable::Global { index, instance }) if self.infer.schemes[index].params.is_empty() => {
                self.apply_global(index, &instance, Vec::new(), span)
            }
            Some(_) => self.function_as_value(span),
            None => {
                let size = scope.sizes.get(name).and_then(|size| self.size_value(size));
                match size.or_else(|| builtin::constant(name).map(Expr::double)) {
                    Some(value) => Ok(value.at(span)),
                    None => self.function_as_value(span),
                }
            }
        }
    }

    /// The core of an expression.
    pub fn expr(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Result<Expr> {
        let span = expr.span;
        Ok(match &expr.kind {
            ExprKind::Var(name) => match scope.values.get(name) {
                Some(Bind::Value(value)) => value.clone().at(span),
                Some(Bind::Function(_)) => return self.function_as_value(span),
                None => match self.case_at(span) {
                    Some((sum, case)) => self.case_value(&sum, case, None, span)?,
                    None => self.declared_value(name, expr, scope)?,
                },
            },
            ExprKind::Int(value, double) => match (self.infer.notes.literals.get(&span).map(|ty| self.concrete(ty, scope)), value) {
                (Some(Ty::Index(_)), Some(value)) => Expr::index(*value).at(span),
                _ => Expr::double(*double).at(span),
            },
            ExprKind::Double(value) => Expr::double(*value).at(span),
            ExprKind::Bool(value) => Expr::bool(*value).at(span),
            ExprKind::Operator(_) | ExprKind::Fun(..) => return self.function_as_value(span),
            ExprKind::Let(pattern, value, body) => {
                let scope = if let PatternKind::Var(name) = &pattern.kind
                    && self.is_function(value, scope)
                {
                    let function = self.named_function(name, value, scope, span)?;
                    Scope { values: scope.values.with(name, Bind::Function(function)), ..scope.clone() }
                } else if self.verbatim == Some(scope.at) {
                    return self.written_let(pattern, value, body, scope, span);
                } else {
                    let value = self.expr(value, scope)?;
                    self.bind(pattern, value, scope)?
                };
                self.expr(body, &scope)?
            }
            ExprKind::LetFun(functions, body) => self.expr(body, &self.with_functions(functions, scope))?,
            ExprKind::If(condition, then, otherwise) => {
                let condition = self.expr(condition, scope)?;
                let then = self.in_branch(|this| this.expr(then, scope))?;
                let ty = then.ty().without_bounds();
                let place = otherwise.span;
                let otherwise = self.in_branch(|this| {
                    let value = this.expr(otherwise, scope)?;
                    this.branch(value, &ty, (span, place), scope, "both branches of an `if` have one shape")
                })?;
                self.choose(condition, then, otherwise, span, scope)
            }
            ExprKind::Binary(op, a, b) => {
                let a = self.expr(a, scope)?;
                let prim = Prim::from(*op);
                let may_skip = matches!(prim, Prim::And | Prim::Or);
                let b = if may_skip { self.in_branch(|this| this.expr(b, scope))? } else { self.expr(b, scope)? };
                self.operator(*op, vec![a, b], span)?
            }
            ExprKind::Unary(_, literal) if smallest_index(expr) => {
                match self.infer.notes.literals.get(&literal.span).map(|ty| self.concrete(ty, scope)) {
                    Some(Ty::Index(_)) => Expr::index(i64::MIN).at(span),
                    _ => Expr::double(i64::MIN as f64).at(span),
                }
            }
            ExprKind::Unary(op, a) => {
                let operand = self.expr(a, scope)?;
                self.elementwise(builtin::unary(*op), vec![operand], span)?
            }
            ExprKind::App(head, args) => {
                let Some(callable) = self.callable(head, scope) else {
                    return self.function_as_value(head.span);
                };
                let args = args
                    .iter()
                    .map(|arg| match self.callable(arg, scope) {
                        Some(callable) if !self.is_constant(&callable) => Ok(Arg::Function(callable)),
                        _ => Ok(Arg::Value(self.expr(arg, scope)?)),
                    })
                    .collect::<Result<Vec<_>>>()?;
                match (&callable, <[Arg; 3]>::try_from(args)) {
                    (Callable::Builtin(Builtin::Ifold), Ok([Arg::Function(f), Arg::Value(init), Arg::Value(n)])) => {
                        let state = self.choice(span, scope);
                        self.fold(&f, (n, init), span, state.as_ref())?
                    }
                    (_, Ok(args)) => self.apply(&callable, args.into(), span)?,
                    (_, Err(args)) => self.apply(&callable, args, span)?,
                }
            }
            ExprKind::Index(array, index) => {
                let array = self.expr(array, scope)?;
                Expr::get(array, self.expr(index, scope)?).at(span)
            }
            ExprKind::Slice(array, low, high) => self.slice(array, low.as_deref(), high.as_deref(), scope, span)?,
            ExprKind::Tuple(parts) => {
                let tuple = Expr::tuple(parts.iter().map(|part| self.expr(part, scope)).collect::<Result<_>>()?);
                if tuple.ty().has_more_components(budget::COMPONENTS) {
                    return self.fail(budget::too_many_components(span));
                }
                tuple.at(span)
            }
            ExprKind::Array(items) => self.array(items, span, scope)?,
            ExprKind::Field(base, name) => {
                let base = self.expr(base, scope)?;
                self.field(base, name, span)?
            }
            ExprKind::Record(base, fields) => self.record_value(base.as_deref(), fields, scope, span)?,
            ExprKind::Match(value, rows) => self.matching(value, rows, span, scope)?,
            ExprKind::Deriv(subject, point) => self.deriv(subject, point, scope, span)?,
        })
    }

    fn array(&mut self, items: &'a [ast::Expr], span: Span, scope: &Scope<'a>) -> Result<Expr> {
        let Some(first) = items.first() else {
            let element = self.infer.notes.empties.get(&span).map(|ty| self.concrete(ty, scope)).and_then(|ty| ty.to_core());
            return match element {
                // the inner sizes of an empty array that nothing decides are 0
                Some(element) => Ok(Expr::array(
                    element.map_sizes(&mut |size| if size.has_unknown() { Size::constant(0) } else { size.clone() }),
                    Vec::new(),
                )
                .at(span)),
                None => self.fail(
                    Diagnostic::error("E0307", span, "the element type of `[]` is not known").help("annotate it: `let a: Vector = []`"),
                ),
            };
        };
        let first = self.expr(first, scope)?;
        let element = first.ty().without_bounds();
        let mut values = vec![first];
        for item in &items[1..] {
            let value = self.expr(item, scope)?;
            values.push(self.coerce(value, &element, item.span, "every element of an array has the shape of the first")?);
        }
        Ok(Expr::array(element, values).at(span))
    }

    // ---- scopes ----

    /// Runs `f`; the lets and checks that it asks for go around its term and no further.
    pub fn scoped(&mut self, f: impl FnOnce(&mut Self) -> Result<Expr>) -> Result<Expr> {
        self.local.pending.push(Vec::new());
        let outside = self.local.noted.len();
        let result = f(self);
        self.forget(outside);
        let pending = self.local.pending.pop().unwrap_or_default();
        let body = result?;
        Ok(pending.into_iter().rev().fold(body, |body, pending| match pending {
            Pending::Let(var, value) => {
                let span = value.span();
                Expr::let_(var, value, body).at(span)
            }
            Pending::Check(condition, status, span) => Expr::check(condition, status, body).at(span),
        }))
    }

    /// As [`Elaborator::scoped`], for a term that is not evaluated in every case.
    pub(super) fn in_branch(&mut self, f: impl FnOnce(&mut Self) -> Result<Expr>) -> Result<Expr> {
        self.local.branches += 1;
        let result = self.scoped(f);
        self.local.branches -= 1;
        result
    }

    /// Binds a value to a variable in the innermost scope, unless it is one or a literal.
    pub fn name(&mut self, name: impl Into<Name>, value: Expr) -> Expr {
        if value.is_atom() {
            return value;
        }
        let ty = value.ty().map_sizes(&mut |size| self.normal(size));
        let var = Var::named(name.into(), ty);
        self.knows(&var, &value);
        if let Some(scope) = self.local.pending.last_mut() {
            scope.push(Pending::Let(var.clone(), value));
        }
        Expr::var(&var)
    }

    /// Puts a check around the term of the innermost scope.
    pub(super) fn check(&mut self, condition: Expr, status: Status, span: Span) {
        if let Some(scope) = self.local.pending.last_mut() {
            scope.push(Pending::Check(condition, status, span));
        }
    }

    // ---- sizes ----

    /// Remembers what a variable of this value is as a size.
    pub(super) fn knows(&mut self, var: &Var, value: &Expr) {
        if let Some(size) = Size::try_of_expr(value) {
            let size = self.normal(&size);
            self.local.known.insert(var.clone(), size);
        } else {
            let told = self.told(value);
            self.tell(var, told);
        }
        self.note(var);
    }

    /// What is told of a value here.
    pub(super) fn told(&self, value: &Expr) -> Told {
        Told::of(value, &|var| match (self.local.told.get(var), self.local.known.get(var)) {
            (Some(told), _) => Some(told.clone()),
            (None, Some(size)) => Some(Told::of_size(size.clone())),
            (None, None) => None,
        })
    }

    /// Remembers what is told of a variable.
    pub(super) fn tell(&mut self, var: &Var, told: Told) {
        match told {
            Told::Size(size) => _ = self.local.known.insert(var.clone(), size),
            told @ (Told::Nothing | Told::Parts(_)) => {
                if !told.is_nothing() {
                    self.local.told.insert(var.clone(), told);
                }
            }
        }
    }

    /// The size of an Index or Bool term, unknown where it is none.
    pub(super) fn size_of(&self, value: &Expr) -> Size {
        match Size::try_of_expr(value) {
            Some(size) => self.normal(&size),
            None => self.told(value).size().cloned().unwrap_or_else(Size::unknown),
        }
    }

    /// A size without let-bound variables whose value is a known size.
    pub fn normal(&self, size: &Size) -> Size {
        size.substitute(&mut |atom| match atom {
            crate::ir::Atom::Var(var) => self.local.known.get(var).cloned(),
            crate::ir::Atom::Term(_) | crate::ir::Atom::Unknown(_) => None,
        })
    }

    /// An Index term that computes a size, if one is in scope.
    pub(super) fn size_term(&self, size: &Size) -> Option<Expr> {
        match size.as_atom() {
            Some(crate::ir::Atom::Unknown(id)) => self.local.witnesses.get(id).cloned(),
            _ => size.to_expr(),
        }
    }

    /// The Index that a size name is as a value. Where its size is data's, whoever has an array of it knows.
    fn size_value(&self, size: &Size) -> Option<Expr> {
        let size = self.normal(size);
        let mut read: Vec<(u32, Var)> = Vec::new();
        let named = size.substitute(&mut |atom| match atom {
            crate::ir::Atom::Unknown(id) => Some(match read.iter().find(|(known, _)| known == id) {
                Some((_, var)) => Size::var(var),
                None => {
                    let var = Var::fresh("n", Type::INDEX);
                    read.push((*id, var.clone()));
                    Size::var(&var)
                }
            }),
            crate::ir::Atom::Var(_) | crate::ir::Atom::Term(_) => None,
        });
        if let [(id, _)] = read.as_slice()
            && size.as_atom().is_some()
        {
            return self.lengths.get(id).cloned();
        }
        let lengths = read.into_iter().map(|(id, var)| Some((var, self.lengths.get(&id)?.clone()))).collect::<Option<Vec<_>>>()?;
        Some(lengths.into_iter().fold(named.to_expr()?, |body, (var, length)| Expr::let_(var, length, body)))
    }

    // ---- errors ----

    pub(super) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Result<T> {
        self.report(diagnostic);
        Err(Failed)
    }

    /// Reports a problem once at each place.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.iter().any(|known| known.code == diagnostic.code && known.span == diagnostic.span) {
            self.diagnostics.push(diagnostic);
        }
    }

    pub(super) fn function_as_value<T>(&mut self, span: Span) -> Result<T> {
        self.fail(
            Diagnostic::error("E0311", span, "a function is wanted here by name or as `fun`, or a value is wanted and this is a function")
                .help("write the function itself where a function is passed, and apply it where a value is wanted"),
        )
    }

    /// The function that a declaration is another name of, and its scope.
    pub(super) fn declaration_scope(&self, index: usize, instance: &Instance) -> Scope<'a> {
        let types = instance.iter().fold(Env::default(), |types, (id, ty)| types.with(&hole_name(*id), ty.clone()));
        Scope { values: Env::default(), sizes: Env::default(), types, at: index }
    }

    /// The parameters and body of a declaration.
    pub(super) fn declaration(&self, index: usize) -> (&'a [Pattern], &'a ast::Expr) {
        let decl = &self.modules.globals[index].decl;
        parameters(&decl.params, &decl.body)
    }
}

pub(super) fn type_mentions(ty: &Type, var: &Var) -> bool {
    let mut found = false;
    ty.without_bounds().each_size(&mut |size| found |= size.mentions(var));
    found
}
