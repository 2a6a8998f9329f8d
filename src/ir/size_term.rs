//! Terms of sizes in normal form, so that equal sizes are written alike: what is no polynomial, and loops over Indexes.
//!
//! In: an Index or Bool term. Out: the same with its polynomials in normal form, without lets, tuples and parts of states that it does not
//! need, its loops binding the variables of sizes; `None` where something in it may fail or depends on data.
//!
//!     (ifold (fun (a, b) i -> (2 * a, b + a)) (1, 0) n).0   →   ifold (fun s i -> 2 * s) 1 n

use super::free::mentions;
use super::prim::Prim;
use super::print::key;
use super::subst::{map_children, substitute};
use super::term::{Atom, Expr, Size, Term, Type, Var};

/// A term of more nodes than this counts as unknown: along a chain of lets that each use the one before twice, what is written out
/// doubles with every let.
pub const NODES: usize = 1000;

/// The term with its polynomial parts in normal form, or `None` when it is not total or not made of
/// Index and Bool operations over variables.
pub(super) fn normal(expr: &Expr) -> Option<Expr> {
    match expr.term() {
        Term::Bool(_) => Some(expr.clone()),
        Term::Var(var) if var.ty() == &Type::Bool => Some(expr.clone()),
        Term::Proj(tuple, k) => match component(tuple, *k)? {
            part if is_part(&part) => {
                if let Term::Proj(fold, k) = part.term()
                    && matches!(fold.term(), Term::Fold { .. })
                {
                    normal_fold(fold, *k)
                } else {
                    Some(part)
                }
            }
            part => normal(&part),
        },
        Term::If(c, a, b) => match normal(c)? {
            c if matches!(c.term(), Term::Bool(true)) => normal(a),
            c if matches!(c.term(), Term::Bool(false)) => normal(b),
            c => {
                let (a, b) = (normal(&without_zero(a, &c, true))?, normal(&without_zero(b, &c, false))?);
                Some(if key(&a) == key(&b) { a } else { Expr::if_(c, a, b) })
            }
        },
        Term::Prim(prim, args) => {
            let all_index = args.iter().all(|arg| matches!(arg.ty(), Type::Index(_) | Type::Bool));
            let divides = matches!(prim, Prim::Div | Prim::Rem);
            let is_never_zero = |arg: &Expr| {
                let size = Size::of_expr(arg);
                is_positive(arg) || is_guarded(arg) || is_sum_with_one(&size) || size.as_constant().is_some_and(|value| value != 0)
            };
            let safe = !divides || args.get(1).is_some_and(is_never_zero);
            let polynomial = matches!(prim, Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg);
            if !all_index || !safe {
                return None;
            }
            if polynomial {
                return Size::try_of_expr(expr)?.to_own_expr();
            }
            Some(Expr::prim(*prim, args.iter().map(normal).collect::<Option<_>>()?))
        }
        Term::Let(..) => Size::try_of_expr(expr)?.to_own_expr(),
        _ if matches!(expr.ty(), Type::Index(_)) => Size::try_of_expr(expr)?.to_own_expr(),
        _ => None,
    }
}

/// A branch whose condition keeps a divisor from being 0, so that it fails nowhere.
///
///     if m = 0 then n else n % m   →   if m = 0 then n else n % (if m = 0 then 1 else m)
fn without_zero(branch: &Expr, cond: &Expr, holds: bool) -> Expr {
    let Some(divisor) = never_zero(cond, holds) else { return branch.clone() };
    let branch = map_children(branch, &mut |child| without_zero(child, cond, holds));
    if let Term::Prim(prim @ (Prim::Div | Prim::Rem), args) = branch.term()
        && let [a, b] = args.as_slice()
        && is_same(b, divisor)
    {
        let is_zero = Expr::prim(Prim::Eq, vec![b.clone(), Expr::index(0)]);
        Expr::prim(*prim, vec![a.clone(), Expr::if_(is_zero, Expr::index(1), b.clone())])
    } else {
        branch
    }
}

/// What is not 0 where a comparison with a number holds, or where it does not.
fn never_zero(cond: &Expr, holds: bool) -> Option<&Expr> {
    let Term::Prim(prim, args) = cond.term() else { return None };
    let (prim, x, number) = match args.as_slice() {
        [x, number] if matches!(number.term(), Term::Index(_)) => (*prim, x, number),
        [number, x] if matches!(number.term(), Term::Index(_)) => (prim.turned()?, x, number),
        _ => return None,
    };
    let Term::Index(number) = number.term() else { return None };
    let is_never_zero = match if holds { prim } else { prim.opposite()? } {
        Prim::Ne => *number == 0,
        Prim::Eq => *number != 0,
        Prim::Gt => *number >= 0,
        Prim::Ge => *number > 0,
        Prim::Lt => *number <= 0,
        Prim::Le => *number < 0,
        _ => return None,
    };
    is_never_zero.then_some(x)
}

/// A branch with the divisors that its condition keeps from being 0 as they are.
pub(super) fn without_guards(branch: &Expr, stops: &Expr) -> Expr {
    let Some(divisor) = never_zero(stops, false) else { return branch.clone() };
    let branch = map_children(branch, &mut |child| without_guards(child, stops));
    if let Term::If(_, _, b) = branch.term()
        && is_guarded(&branch)
        && is_same(b, divisor)
    {
        b.clone()
    } else {
        branch
    }
}

/// Whether two terms are one, as they are written or in normal form.
fn is_same(a: &Expr, b: &Expr) -> bool {
    key(a) == key(b) || matches!((normal(a), normal(b)), (Some(a), Some(b)) if key(&a) == key(&b))
}

/// Whether it is `if b = 0 then 1 else b`.
fn is_guarded(divisor: &Expr) -> bool {
    let Term::If(cond, number, b) = divisor.term() else { return false };
    matches!(number.term(), Term::Index(value) if *value != 0) && never_zero(cond, false).is_some_and(|x| is_same(x, b))
}

/// Whether an Index term may have a greatest value though data gives it: the least of two, a remainder, or chosen.
pub fn has_most(expr: &Expr) -> bool {
    match expr.term() {
        Term::If(..) | Term::Prim(Prim::Min | Prim::Rem, _) => true,
        Term::Prim(_, args) => args.iter().any(has_most),
        _ => false,
    }
}

/// Whether it is a positive number, or the largest of one and others.
fn is_positive(expr: &Expr) -> bool {
    match expr.term() {
        Term::Index(value) => *value > 0,
        Term::Prim(Prim::Max, args) => args.iter().any(is_positive),
        _ => false,
    }
}

/// Whether it is a sum of a positive number and indices of the loops of a size, which are not negative.
fn is_sum_with_one(size: &Size) -> bool {
    let is_natural = |atom: &Atom| matches!(atom, Atom::Var(var) if var.is_index_of_size());
    let mut has_one = false;
    size.terms().all(|(product, factor)| {
        has_one |= product.is_empty();
        factor > 0 && product.iter().all(is_natural)
    }) && has_one
}

/// One part of a tuple, where that is a term of its own: of a loop, or of what the step of one in a size is called with.
pub(super) fn component(tuple: &Expr, k: usize) -> Option<Expr> {
    match tuple.term() {
        Term::Tuple(parts) => parts.get(k).cloned(),
        Term::Fold { .. } => Some(Expr::proj(tuple.clone(), k)),
        Term::Var(var) if var.is_of_size() => Some(Expr::proj(tuple.clone(), k)),
        Term::If(cond, a, b) => Some(Expr::if_(cond.clone(), component(a, k)?, component(b, k)?)),
        Term::Let(x, value, body) => {
            let part = component(body, k)?;
            if let Type::Tuple(types) = value.ty() {
                let parts = (0..types.len()).map(|at| component(value, at)).collect::<Option<_>>()?;
                let part = substitute(&part, &[(x.clone(), Expr::tuple(parts))]);
                (part.node_count() <= NODES).then_some(part)
            } else {
                Some(Expr::let_(x.clone(), value.clone(), part))
            }
        }
        Term::Proj(outer, at) => component(&component(outer, *at).filter(|part| !is_part(part))?, k),
        _ => None,
    }
}

/// Whether it is such a part, which nothing takes apart any further.
pub(super) fn is_part(expr: &Expr) -> bool {
    matches!(expr.term(), Term::Proj(tuple, _) if matches!(tuple.term(), Term::Fold { .. } | Term::Var(_)))
}

/// The indices of loops that are not in normal form yet are variables above those of all that are.
const ABOVE: u32 = 16;

/// A part of a fold of total Index operations, which binds the variables of sizes. What the part does not need is left out, so that
/// equal parts are equal terms. With a negative count the program fails, and the size is not asked for.
pub(super) fn normal_fold(expr: &Expr, k: usize) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    if expr.node_count() > NODES {
        return None;
    }
    let types = if let Type::Tuple(types) = acc.ty() { types.to_vec() } else { vec![acc.ty().clone()] };
    let is_scalar = |at: &usize| matches!(types.get(*at), Some(Type::Index(_) | Type::Bool));
    if !is_scalar(&k) {
        return None;
    }
    let is_tuple = matches!(acc.ty(), Type::Tuple(_));
    let part = |tuple: &Expr, at: usize| if is_tuple { component(tuple, at) } else { Some(tuple.clone()) };
    // folds inside may come to bind what it binds
    let own = |(at, ty): (usize, &Type)| acc.renewed(if is_scalar(&at) { Type::INDEX } else { ty.clone() });
    let states: Vec<Var> = types.iter().enumerate().map(own).collect();
    // known for an index: it is not negative
    let old_i = Var::of_size(ABOVE.checked_add(height(expr))?, "i", Type::INDEX)?;
    let parts: Vec<Expr> = states.iter().zip(&types).map(|(state, ty)| decoded(Expr::var(state), ty)).collect();
    let state = if matches!(acc.ty(), Type::Tuple(_)) { Expr::tuple(parts) } else { parts.into_iter().next()? };
    let body = substitute(body, &[(acc.clone(), state), (i.clone(), Expr::var(&old_i))]);
    let bools: Vec<Var> = states.iter().zip(&types).filter(|(_, ty)| **ty == Type::Bool).map(|(state, _)| state.clone()).collect();
    let mut inside = vec![None; states.len()];
    let mut open = vec![k];
    while let Some(at) = open.pop() {
        if inside[at].is_none() {
            let next = normal(&encoded(&normal(&part(&body, at)?)?, &bools))?;
            open.extend((0..states.len()).filter(|other| mentions(&next, &states[*other])));
            inside[at] = Some(next);
        }
    }
    let needed: Vec<usize> = (0..states.len()).filter(|at| inside[*at].is_some()).collect();
    let inside: Vec<Expr> = inside.into_iter().flatten().collect();
    let place = needed.iter().position(|at| *at == k)?;
    let n = normal(n)?;
    let init = needed.iter().map(|at| normal(&encoded(&part(init, *at)?, &[]))).collect::<Option<Vec<_>>>()?;
    let at = inside.iter().map(height).max()?;
    let is_one = needed.len() == 1;
    let state = if is_one { Type::INDEX } else { Type::tuple(vec![Type::INDEX; needed.len()]) };
    let at = Some(at).filter(|at| *at < ABOVE)?;
    let (own, own_i) = (Var::of_size(at, "s", state)?, Var::of_size(at, "i", Type::INDEX)?);
    let own_part = |at: usize| if is_one { Expr::var(&own) } else { Expr::proj(Expr::var(&own), at) };
    let mut renamed: Vec<(Var, Expr)> = needed.iter().enumerate().map(|(at, old)| (states[*old].clone(), own_part(at))).collect();
    renamed.push((old_i, Expr::var(&own_i)));
    // the order of names is that of their numbers
    let inside = inside.iter().map(|next| normal(&substitute(next, &renamed))).collect::<Option<Vec<_>>>()?;
    let whole = |parts: Vec<Expr>| if let [only] = parts.as_slice() { only.clone() } else { Expr::tuple(parts) };
    let fold = Expr::fold_with(n, own, own_i, whole(inside), whole(init));
    Some(decoded(if is_one { fold } else { Expr::proj(fold, place) }, types.get(k)?))
}

/// The states of a fold in a size are Indexes; a Bool is 0 or 1, as those of `bools` are already.
fn encoded(part: &Expr, bools: &[Var]) -> Expr {
    if part.ty() != &Type::Bool {
        return part.clone();
    }
    let state = |x: &Expr| matches!(x.term(), Term::Var(var) if bools.contains(var));
    match part.term() {
        Term::If(cond, a, b) => Expr::if_(cond.clone(), encoded(a, bools), encoded(b, bools)),
        Term::Prim(Prim::Ne, args) => match args.as_slice() {
            [x, zero] if state(x) && matches!(zero.term(), Term::Index(0)) => x.clone(),
            _ => Expr::if_(part.clone(), Expr::index(1), Expr::index(0)),
        },
        _ => Expr::if_(part.clone(), Expr::index(1), Expr::index(0)),
    }
}

fn decoded(part: Expr, ty: &Type) -> Expr {
    if ty == &Type::Bool { Expr::prim(Prim::Ne, vec![part, Expr::index(0)]) } else { part }
}

/// A term of a size without failures: its folds, those inside of others too, have no steps where they would have less.
pub fn without_failures(expr: &Expr) -> Expr {
    let expr = map_children(expr, &mut |child| without_failures(child));
    if let Term::Fold { n, acc, i, body, init } = expr.term()
        && !is_length(n)
    {
        let n = Expr::prim(Prim::Max, vec![Expr::index(0), n.clone()]);
        Expr::fold_with(n, acc.clone(), i.clone(), body.clone(), init.clone())
    } else {
        expr
    }
}

/// Whether it is a largest of a number that is not negative and others.
pub(super) fn is_length(n: &Expr) -> bool {
    matches!(n.term(), Term::Prim(Prim::Max, args) if args.iter().any(|arg| matches!(arg.term(), Term::Index(0..))))
}

/// The fold that a term of a size is the value of, or a part.
pub fn fold_of(expr: &Expr) -> Option<&Expr> {
    match expr.term() {
        Term::Fold { .. } => Some(expr),
        Term::Proj(fold, _) => Some(fold).filter(|fold| matches!(fold.term(), Term::Fold { .. })),
        _ => None,
    }
}

/// Whether a variable is the state of a loop over several values, of which a part may be a size.
pub fn is_state(var: &Var, value: &Expr) -> bool {
    matches!((var.ty(), value.term()), (Type::Tuple(parts), Term::Fold { .. }) if parts.iter().any(|part| matches!(part, Type::Index(_))))
}

/// How many folds are one in another.
pub fn height(expr: &Expr) -> u32 {
    let mut inside = 0;
    expr.term().each_child(&mut |child| inside = inside.max(height(child)));
    inside + u32::from(matches!(expr.term(), Term::Fold { .. }))
}
