//! The reverse derivative of a function in two halves that share what is kept: `--derive revf:f` and `revr:f` (003 Section 6.1).
//!
//! In: a function whose body is one `vjp` of some parameters, the cotangent its last parameter, after the functions that it calls. Out:
//! the way forward, which gives the value and what is kept, and the way back, which takes that and the cotangent.
//!
//!     f (x: Double) (d: Double) = vjp(x, d). sin (x * x)
//!     →   revf (x: Double) = let u = x * x in (sin u, (x, u))
//!         revr (kept: Double * Double) (d: Double) = let ub = cos kept.1 * d in ub * kept.0 + kept.0 * ub
//!
//! Reverse mode gives one straight line of bindings. What depends on the cotangent is the way back, everything else the way
//! forward. Kept is what the way back reads: parameters first, then values of the way forward, among them the stored states of
//! loops. Zeros, names and small arithmetic of what is kept anyway are computed again instead. A size is read off a kept array, or off the
//! cotangent, where it stands alone as a length; otherwise a parameter that has it is kept too.

use std::collections::{HashMap, HashSet};

use super::block::{Spares, is_name, prune};
use super::cost::is_cheap;
use super::functions::Functions;
use super::{Keeps, Options, Result, internal, without_duals};
use crate::ir::free::{any_var_in_types, each_free_var};
use crate::ir::subst::{freshen_function, map_children, substitute};
use crate::ir::{Atom, Expr, Function, Labels, Prim, Program, Size, Status, Term, Type, Var};
use crate::source::Span;

/// Arithmetic of so many nodes is computed again rather than kept.
const SMALL: usize = 8;

/// The two halves.
pub struct Halves {
    pub forward: Function,
    pub backward: Function,
}

/// Splits the function of this name, whose derivatives are all decided, its own for reverse mode.
pub fn split(program: &Program, name: &str, options: Options) -> Result<Halves> {
    let mut functions = Functions::new(program, Options { keeps: Keeps::MostParts, ..options });
    for function in program.functions.values() {
        let body = without_duals(&function.body, &mut functions)?;
        if *function.name == *name {
            return Splitting::of(function, &body, &functions.spares)?.halves();
        }
        if functions.has_derivative(&function.body) {
            functions.with_derivatives.insert(function.name.clone());
        }
        functions.add(Function { body, ..function.clone() })?;
    }
    Err(internal(Span::NONE, format!("there is no `{name}` to split")))
}

/// One step of the straight line.
#[derive(Clone)]
enum Item {
    Let(Var, Expr),
    Check(Expr, Status, Span),
}

impl Item {
    /// The term that it computes.
    fn term(&self) -> &Expr {
        match self {
            Item::Let(_, term) | Item::Check(term, ..) => term,
        }
    }

    fn around(&self, body: Expr) -> Expr {
        match self {
            Item::Let(var, value) => Expr::let_(var.clone(), value.clone(), body),
            Item::Check(cond, status, span) => Expr::check(cond.clone(), *status, body).at(*span),
        }
    }
}

/// Every item around a result.
fn close(items: &[Item], result: Expr) -> Expr {
    items.iter().rev().fold(result, |body, item| item.around(body))
}

/// The bindings and checks of a term, and the pair in them of which it is the second part.
fn open(expr: &Expr, items: &mut Vec<Item>) -> Expr {
    match expr.term() {
        Term::Let(var, value, body) => {
            items.push(Item::Let(var.clone(), value.clone()));
            open(body, items)
        }
        Term::Check { cond, status, body } => {
            items.push(Item::Check(cond.clone(), *status, expr.span()));
            open(body, items)
        }
        Term::Proj(pair, 1) if matches!(pair.term(), Term::Let(..) | Term::Check { .. } | Term::Tuple(_)) => open(pair, items),
        _ => expr.clone(),
    }
}

/// The variables that a term needs, those in its types too.
fn needs(expr: &Expr, f: &mut dyn FnMut(&Var)) {
    each_free_var(expr, f);
    any_var_in_types(expr, &mut |var| {
        f(var);
        false
    });
}

/// What is computed before the cotangent is known, and after.
struct Splitting {
    function: Function,
    /// The last parameter.
    cotangent: Var,
    early: Vec<Item>,
    late: Vec<Item>,
    value: Expr,
    derivative: Expr,
}

impl Splitting {
    fn of(function: &Function, body: &Expr, spares: &Spares) -> Result<Splitting> {
        let wrong = |what: &str| internal(function.span, format!("`{}` has no halves: {what}", function.name));
        let mut items = Vec::new();
        let pair = open(body, &mut items);
        let (Term::Tuple(parts), Some(cotangent)) = (pair.term(), function.params.last()) else { return Err(wrong("it is no derivative")) };
        let [value, derivative] = parts.as_slice() else { return Err(wrong("it is no pair")) };
        let mut function = function.clone();
        function.params.pop();
        let mut names = Names::default();
        let mut after: HashSet<Var> = HashSet::from([cotangent.clone()]);
        let (mut early, mut late) = (Vec::new(), Vec::new());
        for item in items {
            let (var, term) = match item {
                Item::Let(var, value) => (Some(var), names.resolved(&value)),
                Item::Check(cond, status, span) => {
                    let cond = names.resolved(&cond);
                    if mentions_any(&cond, &after) { &mut late } else { &mut early }.push(Item::Check(cond, status, span));
                    continue;
                }
            };
            let Some(mut var) = var else { continue };
            let ty = names.in_type(var.ty());
            if ty != *var.ty() {
                let own = var.retyped(ty);
                names.values.insert(std::mem::replace(&mut var, own.clone()), Expr::var(&own));
            }
            if is_of_names(&term) {
                names.values.insert(var, term);
                continue;
            }
            let is_late = mentions_any(&term, &after);
            let items = if is_late { &mut late } else { &mut early };
            let mut bind = |var: &Var, term: Expr| {
                after.extend(is_late.then(|| var.clone()));
                items.push(Item::Let(var.clone(), term));
            };
            bind(&var, term);
            // a component that is not read is not kept
            let mut parts = |whole: &Expr, at: usize| {
                let part = Expr::proj(whole.clone(), at);
                let own = var.renewed(part.ty().clone());
                spares.borrow_mut().insert(own.clone());
                bind(&own, part);
                own
            };
            if let Some(whole) = apart(&Expr::var(&var), &mut parts) {
                names.values.insert(var, whole);
            }
        }
        let (value, derivative) = (names.resolved(value), names.resolved(derivative));
        if mentions_any(&value, &after) {
            return Err(wrong("its value depends on the cotangent"));
        }
        // what was read for its length alone
        let whole = prune(&close(&late, derivative), spares);
        late.clear();
        let derivative = open(&whole, &mut late);
        Ok(Splitting { cotangent: cotangent.clone(), early, late, value, derivative, function })
    }

    fn halves(&self) -> Result<Halves> {
        let kept = self.kept();
        let forward = close(&self.early, Expr::tuple(vec![self.value.clone(), kept.value()]));
        let types = kept.names().map(|var| close(&self.early, Expr::var(var)).ty().clone()).collect::<Vec<_>>();
        let backward = self.backward(&kept, &types);
        let labels = |function: &Function, params: usize, result: Labels| {
            let params = (0..params).map(|at| function.parameter_labels(at).clone());
            params.chain([result]).collect::<Vec<_>>()
        };
        let (function, last) = (&self.function, self.function.params.len());
        let value = function.labels.get(last).cloned().unwrap_or_default();
        let derivative = function.labels.get(last + 1).cloned().unwrap_or_default();
        let forward = Function {
            result: forward.ty().clone(),
            body: forward,
            labels: labels(function, last, Labels::tuple(vec![value.clone(), Labels::None])),
            ..function.clone()
        };
        let backward = Function { labels: vec![Labels::None, value, derivative], ..backward };
        Ok(Halves { forward: freshen_function(&forward), backward: freshen_function(&backward) })
    }

    /// What the way back reads of the way forward.
    fn kept(&self) -> Kept {
        let mut needed: HashSet<Var> = HashSet::new();
        let terms = self.late.iter().map(Item::term).chain([&self.derivative]);
        let binders = self.late.iter().filter_map(|item| match item {
            Item::Let(var, _) => Some(var.clone()),
            Item::Check(..) => None,
        });
        let bound: HashSet<Var> = binders.chain([self.cotangent.clone()]).collect();
        terms.for_each(|term| needs(term, &mut |var| _ = needed.insert(var.clone())));
        in_type(self.cotangent.ty(), &mut needed);
        needed.retain(|var| !bound.contains(var));
        let mut steps: Vec<(Var, Option<Expr>)> = Vec::new();
        for item in self.early.iter().rev() {
            let Item::Let(var, value) = item else { continue };
            if !needed.remove(var) {
                continue;
            }
            let mut own = HashSet::new();
            needs(value, &mut |var| _ = own.insert(var.clone()));
            let is_part = matches!(value.term(), Term::Proj(..));
            if is_computed_again(value) || is_cheap(value) && !is_part && value.node_count() <= SMALL && own.is_subset(&needed) {
                needed.extend(own);
                steps.push((var.clone(), Some(value.clone())));
            } else {
                in_type(var.ty(), &mut needed);
                steps.push((var.clone(), None));
            }
        }
        steps.reverse();
        let function = &self.function;
        let mut params: Vec<&Var> = function.params.iter().filter(|param| needed.contains(*param)).collect();
        // the sizes that stand alone somewhere in what the way back is given
        let has = |params: &[&Var], size: &Var| {
            let names = steps.iter().filter(|(_, again)| again.is_none()).map(|(var, _)| var.ty());
            let mut types = params.iter().map(|param| param.ty()).chain(names).chain([self.cotangent.ty()]);
            types.any(|ty| stands_alone(ty, size))
        };
        params.iter().for_each(|param| in_type(param.ty(), &mut needed));
        in_type(&function.result, &mut needed);
        loop {
            let missing = function.sizes.iter().find(|size| needed.contains(*size) && !has(&params, size));
            let Some(holder) = missing.and_then(|size| function.params.iter().find(|param| stands_alone(param.ty(), size))) else { break };
            params.push(holder);
            in_type(holder.ty(), &mut needed);
        }
        // the lengths of the result are read off what is given too
        for length in function.result.lengths() {
            let mut is_known = length.is_of_names();
            length.each_var(&mut |var| is_known &= has(&params, var));
            let has_it = |param: &&Var| has_length(param.ty(), &length);
            if !is_known && !params.iter().any(has_it) {
                params.extend(function.params.iter().find(has_it));
            }
        }
        for param in function.params.iter().filter(|param| matches!(param.ty(), Type::Index(_)) && needed.contains(*param)) {
            let is_given = has(&params, param);
            match params.iter().position(|own| *own == param) {
                Some(at) if is_given => _ = params.remove(at),
                None if !is_given => params.push(param),
                Some(_) | None => {}
            }
        }
        // something is kept in any case
        if params.is_empty() && steps.iter().all(|(_, again)| again.is_some()) {
            params.extend(function.params.iter().find(|param| param.ty().has_double()));
        }
        let position = |var: &Var| function.params.iter().position(|param| param == var);
        params.sort_by_key(|param| (!matches!(param.ty(), Type::Index(_)), position(param)));
        Kept { params: params.into_iter().cloned().collect(), steps }
    }

    fn backward(&self, kept: &Kept, types: &[Type]) -> Function {
        let function = &self.function;
        let given: Vec<Var> = function
            .sizes
            .iter()
            .chain(function.params.iter().filter(|param| matches!(param.ty(), Type::Index(_))))
            .filter(|size| types.iter().chain([self.cotangent.ty()]).any(|ty| stands_alone(ty, size)))
            .cloned()
            .collect();
        let mut own = Vec::new();
        let mut over_given = |ty: &Type| ty.map_sizes(&mut |size| readable(size, &given, &mut own));
        let types: Vec<Type> = types.iter().map(&mut over_given).collect();
        let cotangent = over_given(self.cotangent.ty());
        let result = over_given(&function.result);
        let sizes = given.iter().cloned().chain(own.into_iter().map(|(_, own)| own)).collect();
        let param = Var::fresh("kept", if let [one] = types.as_slice() { one.clone() } else { Type::tuple(types.clone()) });
        let mut items = Vec::new();
        let mut types_left = types.iter().enumerate();
        let steps = kept.params.iter().map(|param| (param, &None)).chain(kept.steps.iter().map(|(var, again)| (var, again)));
        for (var, again) in steps {
            if let Some(value) = again {
                items.push(Item::Let(var.clone(), value.clone()));
                continue;
            }
            let Some((at, ty)) = types_left.next() else { continue };
            let whole = Expr::var(&param);
            let part = if types.len() == 1 { whole } else { Expr::proj(whole, at) };
            items.push(Item::Let(var.clone(), part.clone()));
            for (axis, (size, read)) in var.ty().dims().iter().zip(ty.dims()).enumerate() {
                if let (true, Some(size)) = (*size != read, size.to_expr()) {
                    let length = Expr::dim(part.clone(), axis);
                    items.push(Item::Check(Expr::prim(Prim::Eq, vec![length, size]), Status::Shape, function.span));
                }
            }
        }
        items.extend(self.late.iter().cloned());
        let own = self.cotangent.retyped(cotangent);
        let body = close(&items, self.derivative.clone());
        Function { sizes, params: vec![param, own], result, body, ..function.clone() }
    }
}

/// What the way back begins with.
struct Kept {
    params: Vec<Var>,
    /// Values of the way forward in their order: kept, or computed again from what is.
    steps: Vec<(Var, Option<Expr>)>,
}

impl Kept {
    /// What is kept, in order.
    fn names(&self) -> impl Iterator<Item = &Var> {
        self.params.iter().chain(self.steps.iter().filter(|(_, again)| again.is_none()).map(|(var, _)| var))
    }

    fn value(&self) -> Expr {
        let mut names: Vec<Expr> = self.names().map(Expr::var).collect();
        if names.len() == 1 { names.swap_remove(0) } else { Expr::tuple(names) }
    }
}

/// Zeros and sizes: nothing that has to be kept.
fn is_computed_again(value: &Expr) -> bool {
    match value.term() {
        Term::Build { n, body, .. } => is_computed_again(n) && is_computed_again(body),
        Term::Prim(_, args) if matches!(value.ty(), Type::Index(_)) => value.node_count() <= SMALL && args.iter().all(is_computed_again),
        _ => value.is_atom(),
    }
}

/// The variables that are names for something else, and the sizes of arrays.
#[derive(Default)]
struct Names {
    values: HashMap<Var, Expr>,
}

impl Names {
    /// The term with names resolved, and with the lengths of arrays by the names of sizes, so that no array is kept for its length.
    fn resolved(&self, expr: &Expr) -> Expr {
        let mut map = Vec::new();
        let mut note = HashSet::new();
        needs(expr, &mut |var| {
            if let Some(value) = self.values.get(var)
                && note.insert(var.clone())
            {
                map.push((var.clone(), value.clone()));
            }
        });
        let expr = if map.is_empty() { expr.clone() } else { substitute(expr, &map) };
        self.by_names(&expr)
    }

    /// A type with the sizes that names stand for.
    fn in_type(&self, ty: &Type) -> Type {
        ty.map_sizes(&mut |size| {
            size.substitute(&mut |atom| match atom {
                Atom::Var(var) => self.values.get(var).map(Size::of_expr),
                Atom::Term(_) | Atom::Unknown(_) => None,
            })
        })
    }

    fn by_names(&self, expr: &Expr) -> Expr {
        if let Term::Dim(array, axis) = expr.term()
            && let Some(size) = array.ty().dims().get(*axis)
            && let Some(size) = size.to_expr()
            && size.node_count() <= SMALL
        {
            return size.at(expr.span());
        }
        let new = map_children(expr, &mut |child| self.by_names(child));
        if let Term::Proj(tuple, k) = new.term()
            && let Term::Tuple(parts) = tuple.term()
            && parts.iter().all(is_of_names)
        {
            parts.get(*k).cloned().unwrap_or(new)
        } else {
            new
        }
    }
}

/// A name, or a tuple of such.
fn is_of_names(expr: &Expr) -> bool {
    if let Term::Tuple(parts) = expr.term() { parts.iter().all(is_of_names) } else { is_name(expr) }
}

fn mentions_any(expr: &Expr, wanted: &HashSet<Var>) -> bool {
    let mut found = false;
    needs(expr, &mut |var| found |= wanted.contains(var));
    found
}

/// A tuple by the names of its components, those of tuples in it too; `None` for what is no tuple.
fn apart(whole: &Expr, part: &mut dyn FnMut(&Expr, usize) -> Var) -> Option<Expr> {
    let Type::Tuple(types) = whole.ty() else { return None };
    let parts = (0..types.len()).map(|at| {
        let own = Expr::var(&part(whole, at));
        apart(&own, part).unwrap_or(own)
    });
    Some(Expr::tuple(parts.collect()))
}

fn in_type(ty: &Type, found: &mut HashSet<Var>) {
    ty.each_size(&mut |size| size.each_var(&mut |var| _ = found.insert(var.clone())));
}

/// Whether the size is a length by itself.
fn stands_alone(ty: &Type, wanted: &Var) -> bool {
    let mut is_there = false;
    ty.each_length(&mut |size| is_there |= size.as_var() == Some(wanted));
    is_there
}

fn has_length(ty: &Type, wanted: &Size) -> bool {
    let mut is_there = false;
    ty.each_length(&mut |size| is_there |= size == wanted);
    is_there
}

/// A length that arguments have to have: over what is given, or a name of its own.
fn readable(size: &Size, given: &[Var], named: &mut Vec<(Size, Var)>) -> Size {
    let mut is_given = size.is_of_names();
    size.each_var(&mut |var| is_given &= given.contains(var));
    if is_given {
        return size.clone();
    }
    if let Some((_, own)) = named.iter().find(|(known, _)| known == size) {
        return Size::var(own);
    }
    let own = Var::fresh("kept_n", Type::INDEX);
    named.push((size.clone(), own.clone()));
    Size::var(&own)
}
