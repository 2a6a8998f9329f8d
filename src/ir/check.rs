//! The checker of core programs: the well-formedness that every pass relies on and must preserve.
//!
//! In: a program. Out: nothing, or the first defect, naming the function and the term. Checked are scopes, of variables in
//! sizes of types too, uniqueness of binders, that each node has the type its parts give it (forms exactly; a length is wrong
//! only when it provably differs, by a constant other than 0), calls of earlier functions, projections and
//! axes in range, and what a `dual` takes. Under a condition lengths may contradict each other: the term
//! may never be reached.
//!
//!     in `f`: `v + 1.0`: `+` does not take (Vector<n>, Double)

use std::collections::{HashMap, HashSet};

use super::print;
use super::program::{Function, Program};
use super::term::{Change, Expr, Iso, Size, Term, Type, Updated, Var, Vjp};

/// The first defect of the program, if there is one.
pub fn check(program: &Program) -> Result<(), String> {
    let mut binders = HashSet::new();
    for (position, (name, function)) in program.functions.iter().enumerate() {
        let mut checker = Checker { program, position, binders: &mut binders, scope: HashMap::new(), conditional: 0 };
        checker.function(function).map_err(|defect| format!("in `{name}`: {defect}"))?;
    }
    Ok(())
}

/// That no derivative is left, as after `ad/`.
pub fn check_no_dual(program: &Program) -> Result<(), String> {
    for (name, function) in &program.functions {
        if let Some(dual) = find_derivative(&function.body) {
            return Err(format!("in `{name}`: {}: a derivative is left", quoted(&dual)));
        }
    }
    Ok(())
}

/// The first `dual` or `vjp` of a term.
pub fn find_derivative(expr: &Expr) -> Option<Expr> {
    if matches!(expr.term(), Term::Dual { .. } | Term::Vjp { .. }) {
        return Some(expr.clone());
    }
    let mut found = None;
    expr.term().each_child(&mut |child| {
        if found.is_none() {
            found = find_derivative(child);
        }
    });
    found
}

/// The term in a message: one line, shortened.
fn quoted(expr: &Expr) -> String {
    let text = print::expr(expr).split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

struct Checker<'a> {
    program: &'a Program,
    /// The function's place: calls may go to earlier ones only.
    position: usize,
    binders: &'a mut HashSet<Var>,
    scope: HashMap<Var, Type>,
    /// How many checks and branches are around the term.
    conditional: usize,
}

type Checked = Result<(), String>;

fn wrong<T>(expr: &Expr, what: impl std::fmt::Display) -> Result<T, String> {
    Err(format!("{}: {what}", quoted(expr)))
}

/// Whether a check decides if there is a value at all: then one whose lengths differ is none.
fn is_behind_check(expr: &Expr) -> bool {
    match expr.term() {
        Term::Let(_, value, body) => is_behind_check(value) || is_behind_check(body),
        Term::Proj(value, _) => is_behind_check(value),
        term => matches!(term, Term::Check { .. }),
    }
}

impl Checker<'_> {
    fn function(&mut self, function: &Function) -> Checked {
        for size in &function.sizes {
            if !matches!(size.ty(), Type::Index(_)) {
                return Err(format!("size `{}` is no Index", size.name()));
            }
            self.bind(size)?;
        }
        for param in &function.params {
            self.bind(param)?;
        }
        for ty in function.params.iter().map(Var::ty).chain([&function.result]) {
            if let Some(var) = self.unknown_size(ty) {
                return Err(format!("type {ty} of the signature mentions `{}`, which is not among its sizes", var.name()));
            }
        }
        self.expr(&function.body)?;
        self.agree(&function.body, "the declared result", function.body.ty(), &function.result)
    }

    /// A variable in a size of the type that is not in scope.
    fn unknown_size(&self, ty: &Type) -> Option<Var> {
        let mut missing = None;
        ty.each_size(&mut |size| {
            size.each_var(&mut |var| {
                if !self.scope.contains_key(var) && !var.is_ambient() {
                    missing = Some(var.clone());
                }
            });
        });
        missing
    }

    fn bind(&mut self, var: &Var) -> Checked {
        if !self.binders.insert(var.clone()) {
            return Err(format!("variable {var:?} is bound twice"));
        }
        self.scope.insert(var.clone(), var.ty().clone());
        Ok(())
    }

    /// The body under its binders.
    fn under(&mut self, vars: &[&Var], body: &Expr) -> Checked {
        for var in vars {
            if let Some(size) = self.unknown_size(var.ty()) {
                return Err(format!("type {} of {var:?} mentions `{}`, which is not in scope", var.ty(), size.name()));
            }
            self.bind(var)?;
        }
        self.expr(body)?;
        for var in vars {
            self.scope.remove(*var);
        }
        Ok(())
    }

    fn conditionally(&mut self, expr: &Expr) -> Checked {
        self.conditional += 1;
        self.expr(expr)?;
        self.conditional -= 1;
        Ok(())
    }

    fn agree(&self, expr: &Expr, what: &str, found: &Type, wanted: &Type) -> Checked {
        if !found.same_shape(wanted) || self.conditional == 0 && !is_behind_check(expr) && lengths_differ(found, wanted) {
            return wrong(expr, format!("has type {found}, {what} has {wanted}"));
        }
        Ok(())
    }

    fn expect(&self, expr: &Expr, wanted: &Type) -> Checked {
        if expr.ty().same_shape(wanted) { Ok(()) } else { wrong(expr, format!("has type {}, not {wanted}", expr.ty())) }
    }

    fn all(&mut self, items: &[Expr]) -> Checked {
        items.iter().try_for_each(|item| self.expr(item))
    }

    fn expr(&mut self, expr: &Expr) -> Checked {
        match expr.term() {
            Term::Var(var) => match self.scope.get(var) {
                Some(ty) => self.agree(expr, "its binder", var.ty(), ty)?,
                None if var.is_ambient() => {}
                None => return wrong(expr, format!("{var:?} is not in scope")),
            },
            Term::Double(_) | Term::Index(_) | Term::Bool(_) => {}
            Term::Prim(prim, args) => {
                self.all(args)?;
                if prim.result(args.iter().map(Expr::ty)).is_none() {
                    let types = args.iter().map(|arg| arg.ty().to_string()).collect::<Vec<_>>().join(", ");
                    return wrong(expr, format!("`{}` does not take ({types})", prim.row().name));
                }
            }
            Term::Let(var, value, body) => {
                self.expr(value)?;
                self.agree(value, "its variable", value.ty(), var.ty())?;
                self.under(&[var], body)?;
            }
            Term::If(cond, then, otherwise) => {
                self.expr(cond)?;
                self.expect(cond, &Type::Bool)?;
                self.conditionally(then)?;
                self.conditionally(otherwise)?;
                // of sum types: the lengths may be those of the branch, which is then what the type says
                self.agree(then, "the `if`", then.ty(), expr.ty())?;
                self.agree(otherwise, "the `if`", otherwise.ty(), expr.ty())?;
            }
            Term::Build { n, i, body } => {
                self.expr(n)?;
                self.expect(n, &Type::INDEX)?;
                self.expect(&Expr::var(i), &Type::INDEX)?;
                self.under(&[i], body)?;
            }
            Term::Fold { n, acc, i, body, init } => {
                self.expr(init)?;
                self.expr(n)?;
                self.expect(n, &Type::INDEX)?;
                self.expect(&Expr::var(i), &Type::INDEX)?;
                self.agree(init, "the accumulator", init.ty(), acc.ty())?;
                self.under(&[acc, i], body)?;
                self.agree(body, "the accumulator", body.ty(), acc.ty())?;
            }
            Term::While { state, init, body } => {
                self.expr(init)?;
                self.agree(init, "the state", init.ty(), state.ty())?;
                self.under(&[state], body)?;
                self.agree(body, "a step", body.ty(), &Type::tuple(vec![Type::Bool, state.ty().clone()]))?;
            }
            Term::Get(array, index) => {
                self.expr(array)?;
                self.expr(index)?;
                self.expect(index, &Type::INDEX)?;
                if array.ty().element().is_none() {
                    return wrong(array, format!("has type {}, which is no array", array.ty()));
                }
            }
            Term::Dim(array, axis) => {
                self.expr(array)?;
                if *axis >= array.ty().dims().len() {
                    return wrong(expr, format!("{} has no dimension {axis}", array.ty()));
                }
            }
            Term::Tuple(parts) => {
                self.all(parts)?;
                if parts.len() == 1 {
                    return wrong(expr, "a tuple has two parts or more, or none");
                }
            }
            Term::Proj(tuple, index) => {
                self.expr(tuple)?;
                if !matches!(tuple.ty(), Type::Tuple(parts) if *index < parts.len()) {
                    return wrong(expr, format!("{} has no part {index}", tuple.ty()));
                }
            }
            Term::Array(items) => {
                self.all(items)?;
                let Some(element) = expr.ty().element() else { return wrong(expr, "an array literal whose type is no array") };
                items.iter().try_for_each(|item| self.agree(item, "the literal's element", item.ty(), element))?;
            }
            Term::Call(name, args) => {
                self.all(args)?;
                self.call(expr, name, args)?;
            }
            Term::Check { cond, body, .. } => {
                self.expr(cond)?;
                self.expect(cond, &Type::Bool)?;
                self.conditionally(body)?;
            }
            Term::Dual { x, at, tangent, body } => {
                self.expr(at)?;
                self.expr(tangent)?;
                if !x.ty().has_double() {
                    return wrong(expr, format!("the independent variable has type {}", x.ty()));
                }
                self.agree(at, "the independent variable", at.ty(), x.ty())?;
                self.agree(tangent, "the point", tangent.ty(), at.ty())?;
                self.under(&[x], body)?;
            }
            Term::Vjp { x, at, cotangent, body } => {
                self.expr(at)?;
                self.agree(at, "the independent variable", at.ty(), x.ty())?;
                self.under(&[x], body)?;
                if !(Vjp { x, at, cotangent, body }).wants_rows() {
                    self.expr(cotangent)?;
                    self.agree(cotangent, "the result", cotangent.ty(), body.ty())?;
                }
            }
            Term::Update(change, parts) => {
                self.all(parts)?;
                let Some(Updated { array, indices, value }) = Updated::of(parts) else { return wrong(expr, "an update without its parts") };
                let mut element = array.ty();
                for index in indices {
                    self.expect(index, &Type::INDEX)?;
                    let Some(inner) = element.element() else { return wrong(expr, format!("{} has too few dimensions", array.ty())) };
                    element = inner;
                }
                if indices.is_empty() || *change == Change::Add && !element.is_made_of_doubles() {
                    return wrong(expr, format!("an element of type {element} cannot be changed so"));
                }
                self.agree(value, "the element", value.ty(), element)?;
            }
            Term::Iso(iso, operands) => {
                self.all(operands)?;
                match (iso, operands.as_slice(), expr.ty()) {
                    (Iso::Roll, [value], Type::Rec(of)) => self.agree(value, "the unrolled type", value.ty(), &of.unrolled())?,
                    (Iso::Unroll, [value], ty) => match value.ty() {
                        Type::Rec(of) => self.agree(expr, "the unrolled type", ty, &of.unrolled())?,
                        other @ (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_)) => {
                            return wrong(value, format!("has type {other}, which is not recursive"));
                        }
                    },
                    (Iso::Absent, [], Type::Rec(_)) => {}
                    (Iso::Roll | Iso::Absent, _, ty) => return wrong(expr, format!("makes a {ty} of {} operands", operands.len())),
                    (Iso::Unroll, _, _) => return wrong(expr, format!("unrolls {} operands", operands.len())),
                }
            }
        }
        self.node_type(expr)
    }

    fn call(&self, expr: &Expr, name: &str, args: &[Expr]) -> Checked {
        let Some((position, _, callee)) = self.program.functions.get_full(name) else {
            return wrong(expr, format!("`{name}` is not in the program"));
        };
        let is_in_recursion = || {
            let caller = self.program.functions.get_index(self.position).map(|(caller, _)| caller);
            caller.is_some_and(|caller| self.program.reachable([name.into()]).contains(caller))
        };
        if position >= self.position && !is_in_recursion() {
            return wrong(expr, format!("`{name}` is not before its caller"));
        }
        if callee.params.len() != args.len() {
            return wrong(expr, format!("`{name}` takes {} arguments, not {}", callee.params.len(), args.len()));
        }
        for (param, arg) in callee.params.iter().zip(args) {
            self.agree(arg, &format!("the parameter of `{name}`"), arg.ty(), &callee.type_for(param.ty(), args))?;
        }
        self.agree(expr, &format!("`{name}` for these arguments"), expr.ty(), &callee.result_for(args))
    }

    /// The type that the node carries against the one that its constructor gives.
    fn node_type(&self, expr: &Expr) -> Checked {
        let given = match expr.term() {
            Term::Var(var) => var.ty().clone(),
            Term::Double(_) => Type::Double,
            Term::Index(_) | Term::Dim(..) => Type::INDEX,
            Term::Bool(_) => Type::Bool,
            Term::Prim(prim, args) => Expr::prim(*prim, args.clone()).ty().clone(),
            Term::Let(var, value, body) => Expr::let_(var.clone(), value.clone(), body.clone()).ty().clone(),
            Term::If(cond, a, b) => Expr::if_(cond.clone(), a.clone(), b.clone()).ty().clone(),
            Term::Build { n, i, body } => Expr::build_with(n.clone(), i.clone(), body.clone()).ty().clone(),
            Term::Fold { acc: state, .. } | Term::While { state, .. } => state.ty().clone(),
            Term::Get(array, index) => Expr::get(array.clone(), index.clone()).ty().clone(),
            Term::Tuple(parts) => Type::tuple(parts.iter().map(|part| part.ty().clone()).collect()),
            Term::Proj(tuple, index) => Expr::proj(tuple.clone(), *index).ty().clone(),
            Term::Array(items) => {
                let element = expr.ty().element().cloned().unwrap_or(Type::Double);
                Type::array(element, Size::constant(items.len() as i64))
            }
            // compared with the callee's already, and with the unrolled type
            Term::Call(..) | Term::Iso(..) => return Ok(()),
            Term::Check { body, .. } => body.ty().clone(),
            Term::Dual { body, .. } => body.ty().dual(),
            Term::Vjp { x, at, cotangent, body } => Vjp { x, at, cotangent, body }.ty(),
            Term::Update(_, parts) => Updated::of(parts).map_or(Type::Double, |updated| updated.ty()),
        };
        self.agree(expr, "what it is made of", expr.ty(), &given)
    }
}

/// Whether some length of one type is provably not that of the other, which has the same form.
fn lengths_differ(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Array(x, n), Type::Array(y, m)) => matches!(n.sub(m).as_constant(), Some(c) if c != 0) || lengths_differ(x, y),
        (Type::Tuple(xs), Type::Tuple(ys)) => xs.iter().zip(ys.iter()).any(|(x, y)| lengths_differ(x, y)),
        (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_), _) => false,
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
