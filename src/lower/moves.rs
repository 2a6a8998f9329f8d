//! How the accumulator of a fold moves: its components, what each way through the body makes of them, and
//! which pointers change places after a step.
//!
//!     (a, b). (b, f a b)   →   one group: a takes b's buffer, b the free one, and a's becomes free

use crate::ir::in_place::stays;
use crate::ir::last_use::component;
use crate::ir::own_element::Place;
use crate::ir::{Change, Expr, Prim, Term, Type, Var};

use super::view::{ArrayView, Dest, Target};
use crate::loops::program::{Id, Value};

/// One component of the accumulator: a scalar, or an array with the pointers to where it is now.
pub struct Component {
    pub path: Vec<usize>,
    pub ty: Type,
    pub place: Holder,
}

pub enum Holder {
    Scalar(Id),
    Array { home: ArrayView, now: ArrayView, free: Option<ArrayView> },
}

/// What a step does to a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The old value of this component.
    Old(usize),
    New,
}

/// How pointers move.
pub enum Plan {
    /// The same way after every step: groups of components; the flag says that a free buffer closes the group.
    Uniform(Vec<(Vec<usize>, bool)>),
    /// Differently in different branches.
    ByBranch,
}

/// The components of an accumulator, in a destination whose scalars are locals.
pub fn components(ty: &Type, state: &Dest) -> Vec<Component> {
    fn go(ty: &Type, state: &Dest, path: &mut Vec<usize>, out: &mut Vec<Component>) {
        match (ty, state) {
            (Type::Tuple(parts), Dest::Tuple(places)) => {
                for (k, (part, place)) in parts.iter().zip(places).enumerate() {
                    path.push(k);
                    go(part, place, path, out);
                    path.pop();
                }
            }
            (_, Dest::Scalar(Target::Local(id))) => {
                out.push(Component { path: path.clone(), ty: ty.clone(), place: Holder::Scalar(*id) });
            }
            (_, Dest::Array(home)) => {
                let place = Holder::Array { home: home.clone(), now: home.clone(), free: None };
                out.push(Component { path: path.clone(), ty: ty.clone(), place });
            }
            (_, Dest::Scalar(Target::Leaf(_)) | Dest::Tuple(_)) => {}
        }
    }
    let mut out = Vec::new();
    go(ty, state, &mut Vec::new(), &mut out);
    out
}

/// The current storage of the accumulator, as a destination.
pub fn current(ty: &Type, components: &[Component]) -> Dest {
    let places: Vec<Dest> = components
        .iter()
        .map(|component| match &component.place {
            Holder::Scalar(id) => Dest::Scalar(Target::Local(*id)),
            Holder::Array { now, .. } => Dest::Array(now.clone()),
        })
        .collect();
    nest(ty, &mut places.into_iter())
}

pub fn nest(ty: &Type, places: &mut dyn Iterator<Item = Dest>) -> Dest {
    match ty {
        Type::Tuple(parts) => Dest::Tuple(parts.iter().map(|part| nest(part, places)).collect()),
        Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => places.next().unwrap_or(Dest::Tuple(Vec::new())),
    }
}

/// The path of a projection of the accumulator.
pub fn path_of(expr: &Expr, acc: &Var) -> Option<Vec<usize>> {
    match expr.term() {
        Term::Var(var) if var == acc => Some(Vec::new()),
        Term::Proj(tuple, k) => {
            let mut path = path_of(tuple, acc)?;
            path.push(*k);
            Some(path)
        }
        _ => None,
    }
}

pub fn source_of(expr: &Expr, acc: &Var, components: &[Component]) -> Source {
    let path = path_of(expr, acc);
    let found = path.and_then(|path| components.iter().position(|component| component.path == path));
    found.map_or(Source::New, Source::Old)
}

/// The term of each component, or `None` for a tuple that is computed elsewhere.
pub fn parts(expr: &Expr, acc: &Var, components: &[Component]) -> Option<Vec<Expr>> {
    fn go(expr: &Expr, acc: &Var, out: &mut Vec<Expr>) -> Option<()> {
        match (expr.term(), expr.ty()) {
            (Term::Tuple(parts), _) => parts.iter().try_for_each(|part| go(part, acc, out)),
            (_, Type::Tuple(parts)) => {
                path_of(expr, acc)?;
                (0..parts.len()).try_for_each(|k| go(&Expr::proj(expr.clone(), k), acc, out))
            }
            _ => {
                out.push(expr.clone());
                Some(())
            }
        }
    }
    let mut out = Vec::new();
    go(expr, acc, &mut out)?;
    (out.len() == components.len()).then_some(out)
}

/// What each path through the body does to the components; `is_swept` says which arrays are not written one element after another.
pub fn tails(body: &Expr, acc: &Var, components: &[Component], is_swept: &dyn Fn(&Expr) -> bool) -> Vec<Vec<Source>> {
    let is_in_place = |path: &[usize]| {
        body.has_updates() && stays(body, acc, path) || changes_each(body, acc, path).is_some_and(|array| !is_swept(array))
    };
    let in_place: Vec<bool> = components.iter().map(|component| is_in_place(&component.path)).collect();
    tails_of(body, acc, components, &in_place)
}

fn tails_of(body: &Expr, acc: &Var, components: &[Component], in_place: &[bool]) -> Vec<Vec<Source>> {
    match body.term() {
        Term::Let(_, _, body) | Term::Check { body, .. } => tails_of(body, acc, components, in_place),
        Term::If(_, a, b) => [tails_of(a, acc, components, in_place), tails_of(b, acc, components, in_place)].concat(),
        _ => {
            let mut sources = match parts(body, acc, components) {
                Some(parts) => parts.iter().map(|part| source_of(part, acc, components)).collect(),
                None => vec![Source::New; components.len()],
            };
            for (k, source) in sources.iter_mut().enumerate().filter(|(k, _)| in_place[*k]) {
                *source = Source::Old(k);
            }
            vec![sources]
        }
    }
}

/// The new value of a component of which each step computes each element from that element alone, where the component is not used
/// otherwise: then it is updated in place.
fn changes_each<'e>(body: &'e Expr, acc: &Var, path: &[usize]) -> Option<&'e Expr> {
    let mut tail = body;
    while let Term::Let(_, _, rest) | Term::Check { body: rest, .. } = tail.term() {
        tail = rest;
    }
    let part = path.iter().try_fold(tail, |tail, k| if let Term::Tuple(parts) = tail.term() { parts.get(*k) } else { None });
    let place = Place { var: acc, path };
    part.filter(|part| place.own_reads(part).is_some_and(|own| own > 0 && own == place.uses(body)))
}

/// Whether each step replaces an element of a component whose index is the step's, or one more, and the component is not used
/// otherwise: the distance.
pub fn fills(body: &Expr, acc: &Var, i: &Var, k: usize) -> Option<i64> {
    let is_component = |expr: &Expr| component(expr).is_some_and(|(var, path)| var == acc && path == [k]);
    let distance = |index: &Expr| match index.term() {
        Term::Var(var) if var == i => Some(0),
        Term::Prim(Prim::Add, args) => match args.as_slice() {
            [a, b] if matches!(a.term(), Term::Var(var) if var == i) && matches!(b.term(), Term::Index(1)) => Some(1),
            _ => None,
        },
        _ => None,
    };
    let own = |expr: &Expr| {
        let Term::Update(Change::Replace, parts) = expr.term() else { return None };
        match parts.as_slice() {
            [array, index, _] if is_component(array) => distance(index),
            _ => None,
        }
    };
    let mut found = None;
    let mut rest = body;
    while let Term::Let(_, value, inner) = rest.term() {
        found = found.or_else(|| own(value));
        rest = inner;
    }
    if let Term::Tuple(parts) = rest.term() {
        found = found.or_else(|| parts.iter().find_map(own));
    }
    found.filter(|_| Place { var: acc, path: &[k] }.uses(body) == 1)
}

/// How the pointers of array components move.
pub fn plan(components: &[Component], tails: &[Vec<Source>]) -> Plan {
    let arrays: Vec<usize> = (0..components.len()).filter(|k| matches!(components[*k].place, Holder::Array { .. })).collect();
    let Some(first) = tails.first() else { return Plan::ByBranch };
    if tails.iter().any(|tail| arrays.iter().any(|k| tail[*k] != first[*k])) {
        return Plan::ByBranch;
    }
    // which component takes over whose buffer: one for each buffer, the component itself first
    let mut taker: Vec<Option<usize>> = vec![None; components.len()];
    let mut source = first.clone();
    for &k in &arrays {
        if source[k] == Source::Old(k) {
            taker[k] = Some(k);
        }
    }
    for &k in &arrays {
        if let Source::Old(j) = source[k]
            && j != k
        {
            if taker[j].is_none() && components[j].ty == components[k].ty {
                taker[j] = Some(k);
            } else {
                source[k] = Source::New;
            }
        }
    }
    let mut groups = Vec::new();
    let mut seen = vec![false; components.len()];
    for &k in &arrays {
        if source[k] == Source::New {
            // a chain from the newly computed component along the takers to the buffer that nobody takes
            let mut chain = vec![k];
            seen[k] = true;
            let mut last = k;
            while let Some(next) = taker[last] {
                chain.push(next);
                seen[next] = true;
                last = next;
            }
            chain.reverse();
            groups.push((chain, true));
        }
    }
    for &k in &arrays {
        if seen[k] || taker[k] == Some(k) {
            continue;
        }
        let mut cycle = Vec::new();
        let mut at = k;
        while !seen[at] {
            seen[at] = true;
            cycle.push(at);
            match source[at] {
                Source::Old(j) => at = j,
                Source::New => break,
            }
        }
        groups.push((cycle, false));
    }
    Plan::Uniform(groups)
}

/// The pointers of a group, leaf by leaf, in the order of [`Stmt::Rotate`].
pub fn rotations(components: &[Component], group: &[usize], free: bool) -> Vec<Vec<Id>> {
    let views: Vec<&ArrayView> = group
        .iter()
        .filter_map(|k| match &components[*k].place {
            Holder::Array { now, .. } => Some(now),
            Holder::Scalar(_) => None,
        })
        .collect();
    let last = group.last().and_then(|k| match &components[*k].place {
        Holder::Array { free, .. } => free.as_ref(),
        Holder::Scalar(_) => None,
    });
    let count = views.first().map_or(0, |view| view.leaves.len());
    (0..count)
        .map(|leaf| {
            let extra = if free { last } else { None };
            views.iter().copied().chain(extra).filter_map(|view| view.leaves.get(leaf)).map(|leaf| leaf.base).collect()
        })
        .collect()
}

/// Whether an expression reads a local.
pub fn reads(value: &Value, id: Id) -> bool {
    let mut found = false;
    crate::loops::visit::each_local(value, &mut |other| found |= other == id);
    found
}
