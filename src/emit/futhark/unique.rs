//! Arrays that are updated in place: no copy before `with` where nobody reads the array afterwards, `*` in the types of what a loop
//! or a function uses up.
//!
//! In: a definition's parameters and its body, in which every `with` copies. Out: the same with the copies that Futhark's rules need
//! (its report, "In-place Updates"): what is used up belongs to the innermost loop, lambda or function around, and neither it nor
//! what may share its memory is read afterwards. Without that, the step of a loop over several arrays takes time in their lengths.
//!
//!     loop (s: [n]f64) = z for i < m do copy s with [k[i]] = s[k[i]] + x[i]
//!       →   loop (s: *[n]f64) = copy z for i < m do s with [k[i]] = s[k[i]] + x[i]

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::free::{free, named};
use super::signature::Signature;
use super::syntax::{Binding, Fut, Loop, Pattern, Trip};
use super::types::Shape;

type Names = BTreeSet<String>;

/// Functions whose results share no memory with their arguments, beside those of scalars.
const FRESH: [&str; 14] =
    ["map", "map2", "map3", "map4", "map5", "tabulate", "tabulate_2d", "tabulate_3d", "replicate", "copy", "iota", "scan", "all", "any"];

/// A root that nothing may use up: of what a loop without `*` gives.
const NOBODYS: &str = "";

/// In whose memory a value may lie: names that are bound to it first.
#[derive(Clone, Debug, Default, PartialEq)]
enum Roots {
    #[default]
    Fresh,
    Of(Names),
    Parts(Vec<Roots>),
}

impl Roots {
    fn all(&self) -> Names {
        match self {
            Roots::Fresh => Names::new(),
            Roots::Of(names) => names.clone(),
            Roots::Parts(parts) => parts.iter().flat_map(Roots::all).collect(),
        }
    }

    fn of(names: Names) -> Roots {
        if names.is_empty() { Roots::Fresh } else { Roots::Of(names) }
    }

    fn join(self, other: Roots) -> Roots {
        match (self, other) {
            (Roots::Parts(a), Roots::Parts(b)) if a.len() == b.len() => {
                Roots::Parts(a.into_iter().zip(b).map(|(a, b)| a.join(b)).collect())
            }
            (a, b) => Roots::of(a.all().into_iter().chain(b.all()).collect()),
        }
    }

    fn part(&self, at: usize) -> Roots {
        match self {
            Roots::Parts(parts) => parts.get(at).cloned().unwrap_or_default(),
            Roots::Fresh | Roots::Of(_) => self.clone(),
        }
    }
}

/// The definition's body, and which of its parameters it uses up, whole tuples for Futhark, and which leaves of its result are its
/// own; an entry uses up none.
pub struct Definition {
    pub body: Fut,
    pub used_up: Vec<bool>,
    pub own: Vec<bool>,
}

/// Takes away the copies that a body does not need.
pub fn in_place(
    params: &[(Pattern, Shape)],
    result: &Shape,
    body: Fut,
    arrays: &Names,
    signatures: &HashMap<Rc<str>, Signature>,
    is_entry: bool,
) -> Definition {
    let signatures = signatures.values().map(|signature| (signature.name.as_str(), signature)).collect();
    let mut unique = Unique { signatures, arrays, roots: HashMap::new(), owned: Names::new(), used_up: Names::new() };
    let leaves: Vec<Vec<String>> = params.iter().map(|(pattern, _)| leaf_names(pattern)).collect();
    for name in leaves.iter().flatten().filter(|name| arrays.contains(*name)) {
        unique.is_new(name, !is_entry);
    }
    let (body, roots) = unique.exp(body, &Names::new());
    let used_up: Vec<bool> = leaves.iter().map(|leaves| leaves.iter().any(|name| unique.used_up.contains(name))).collect();
    let spoken_for: Names = leaves.iter().zip(&used_up).filter(|(_, used_up)| !**used_up).flat_map(|(names, _)| names.clone()).collect();
    let results: Vec<Names> = result_leaves(&roots, result);
    let is_own = |at: usize| {
        let others = results.iter().enumerate().filter(|(other, _)| *other != at);
        results[at].iter().all(|root| unique.owned.contains(root) && !spoken_for.contains(root))
            && others.flat_map(|(_, names)| names).all(|root| !results[at].contains(root))
    };
    let own = (0..results.len()).map(|at| !is_entry && is_own(at)).collect();
    Definition { body, used_up, own }
}

/// The names that a pattern binds to parts, `_` for none.
fn leaf_names(pattern: &Pattern) -> Vec<String> {
    match pattern {
        Pattern::Name(name) | Pattern::Sized { name, .. } => vec![name.clone()],
        Pattern::Tuple(parts) => parts.iter().flat_map(leaf_names).collect(),
        Pattern::Wild => vec!["_".to_string()],
    }
}

fn result_leaves(roots: &Roots, shape: &Shape) -> Vec<Names> {
    match shape {
        Shape::Tuple(parts) => parts.iter().enumerate().flat_map(|(at, part)| result_leaves(&roots.part(at), part)).collect(),
        Shape::Double | Shape::Index | Shape::Bool | Shape::Array(..) => vec![roots.all()],
    }
}

struct Unique<'a> {
    signatures: HashMap<&'a str, &'a Signature>,
    /// The names of arrays; other names share no memory.
    arrays: &'a Names,
    roots: HashMap<String, Names>,
    /// What may be used up here.
    owned: Names,
    /// What has been.
    used_up: Names,
}

impl Unique<'_> {
    fn is_new(&mut self, name: &str, is_owned: bool) {
        self.roots.insert(name.to_string(), Names::from([name.to_string()]));
        if is_owned {
            self.owned.insert(name.to_string());
        } else {
            self.owned.remove(name);
        }
    }

    /// Gives a pattern's names what they are bound to.
    fn bind(&mut self, pattern: &Pattern, roots: &Roots) {
        match pattern {
            Pattern::Tuple(parts) => parts.iter().enumerate().for_each(|(at, part)| self.bind(part, &roots.part(at))),
            Pattern::Name(name) | Pattern::Sized { name, .. } => {
                let roots = roots.all();
                if !self.arrays.contains(name) {
                    self.roots.remove(name);
                } else if roots.is_empty() {
                    self.is_new(name, true);
                } else {
                    self.roots.insert(name.clone(), roots);
                }
            }
            Pattern::Wild => {}
        }
    }

    /// Whether an array may be used up: all of it belongs here, and nothing that is read later shares it.
    fn may_use_up(&self, roots: &Names, live: &Names) -> bool {
        let is_shared = |name: &String| self.roots.get(name).is_some_and(|others| !others.is_disjoint(roots));
        roots.iter().all(|root| self.owned.contains(root)) && !live.iter().any(is_shared)
    }

    /// Whether a name is that of an array in another one's memory.
    fn is_part(&self, exp: &Fut) -> bool {
        matches!(exp, Fut::Atom(name) if self.roots.get(name).is_some_and(|roots| !roots.contains(name)))
    }

    /// The expression as one that may be used up.
    fn used_up(&mut self, exp: Fut, live: &Names) -> Fut {
        let (exp, roots) = self.exp(exp, live);
        let roots = roots.all();
        if self.may_use_up(&roots, live) {
            self.used_up.extend(roots);
            return exp;
        }
        Fut::apply("copy", vec![exp])
    }

    /// The expression, and in whose memory it may lie; `live`: the names that are read after it.
    fn exp(&mut self, exp: Fut, live: &Names) -> (Fut, Roots) {
        match exp {
            Fut::Atom(text) => {
                let roots = self.roots.get(&text).cloned().unwrap_or_default();
                (Fut::Atom(text), Roots::of(roots))
            }
            Fut::Int(_) => (exp, Roots::Fresh),
            Fut::With(array, places, value) => {
                let array = without_copy(*array);
                let mut during = live.clone();
                free(&array, &mut during);
                let mut operands = places;
                operands.push(*value);
                let (mut operands, _) = self.in_turn(operands, &during);
                let mut value = operands.pop().unwrap_or(Fut::Int(0));
                // a part of another array, or of this one: Futhark's simplifier may find the array itself there
                if self.is_part(&value) {
                    value = Fut::apply("copy", vec![value]);
                }
                (Fut::With(Box::new(self.used_up(array, live)), operands, Box::new(value)), Roots::Fresh)
            }
            Fut::Index(array, mut places) => {
                places.insert(0, *array);
                let (mut operands, roots) = self.in_turn(places, live);
                let array = operands.remove(0);
                (Fut::Index(Box::new(array), operands), roots.first().cloned().unwrap_or_default())
            }
            Fut::Project(tuple, at) => {
                let (tuple, roots) = self.exp(*tuple, live);
                (Fut::Project(Box::new(tuple), at), roots.part(at))
            }
            Fut::Tuple(parts) => {
                let (parts, roots) = self.one_by_one(parts, live);
                (Fut::Tuple(parts), Roots::Parts(roots))
            }
            Fut::Array(parts) => (Fut::Array(self.in_turn(parts, live).0), Roots::Fresh),
            Fut::Infix(op, a, b) => {
                let (mut both, _) = self.in_turn(vec![*a, *b], live);
                let b = both.pop().unwrap_or(Fut::Int(0));
                (Fut::Infix(op, Box::new(both.pop().unwrap_or(Fut::Int(0))), Box::new(b)), Roots::Fresh)
            }
            Fut::Prefix(op, a) => (Fut::Prefix(op, Box::new(self.exp(*a, live).0)), Roots::Fresh),
            Fut::Typed(value, sign, ty) => {
                let (value, roots) = self.exp(*value, live);
                (Fut::Typed(Box::new(value), sign, ty), roots)
            }
            Fut::If(cond, then, otherwise) => {
                let mut during = live.clone();
                free(&then, &mut during);
                free(&otherwise, &mut during);
                let cond = self.exp(*cond, &during).0;
                let (then, a) = self.exp(*then, live);
                let (otherwise, b) = self.exp(*otherwise, live);
                (Fut::if_(cond, then, otherwise), a.join(b))
            }
            Fut::Let(bindings, body) => self.lets(bindings, *body, live),
            Fut::Lambda(params, body) => {
                let owned = std::mem::take(&mut self.owned);
                params.iter().flat_map(leaf_names).filter(|name| self.arrays.contains(name)).for_each(|name| self.is_new(&name, false));
                let body = self.exp(*body, &Names::new()).0;
                self.owned = owned;
                (Fut::Lambda(params, Box::new(body)), Roots::Fresh)
            }
            Fut::Apply(function, args) => self.apply(function, args, live),
            Fut::Loop(repeat) => self.repeat(*repeat, live),
        }
    }

    /// Operands, of which Futhark may look at any first: what one gives or names is still to be read when another is evaluated.
    fn in_turn(&mut self, operands: Vec<Fut>, live: &Names) -> (Vec<Fut>, Vec<Roots>) {
        let named: Vec<Names> = operands.iter().map(named).collect();
        let mut held = Names::new();
        let done = operands.into_iter().enumerate().map(|(at, operand)| {
            let (operand, roots) = self.exp(operand, &around(at, &named, live, &held));
            held.extend(roots.all());
            (operand, roots)
        });
        done.unzip()
    }

    /// The parts of a tuple, which Futhark looks at from first to last.
    fn one_by_one(&mut self, parts: Vec<Fut>, live: &Names) -> (Vec<Fut>, Vec<Roots>) {
        let mut named: Vec<Names> = parts.iter().map(named).collect();
        let mut held = Names::new();
        let done = parts.into_iter().enumerate().map(|(at, part)| {
            let (part, roots) = self.exp(part, &around(at, &named, live, &held));
            named[at].clear();
            held.extend(roots.all());
            (part, roots)
        });
        done.unzip()
    }

    fn lets(&mut self, bindings: Vec<Binding>, body: Fut, live: &Names) -> (Fut, Roots) {
        let mut after = live.clone();
        free(&body, &mut after);
        let mut behind = Vec::new();
        for binding in bindings.iter().rev() {
            leaf_names(&binding.pattern).iter().for_each(|name| {
                after.remove(name);
            });
            behind.push(after.clone());
            free(&binding.value, &mut after);
        }
        let mut done = Vec::new();
        for Binding { pattern, value } in bindings {
            let (value, roots) = self.exp(value, &behind.pop().unwrap_or_default());
            self.bind(&pattern, &roots);
            done.push(Binding { pattern, value });
        }
        let (body, roots) = self.exp(body, live);
        (Fut::let_in(done, body), roots)
    }

    fn apply(&mut self, function: String, args: Vec<Fut>, live: &Names) -> (Fut, Roots) {
        if function == "reduce_by_index" {
            return (self.collect(args, live), Roots::Fresh);
        }
        let Some(signature) = self.signatures.get(function.as_str()).copied() else {
            let (args, roots) = self.in_turn(args, live);
            let is_fresh = FRESH.contains(&function.as_str()) || function.contains('.');
            let roots = if is_fresh { Roots::Fresh } else { Roots::of(roots.iter().flat_map(Roots::all).collect()) };
            return (Fut::Apply(function, args), roots);
        };
        let named_by: Vec<Names> = args.iter().map(named).collect();
        let (mut done, mut held) = (Vec::new(), Names::new());
        for (at, arg) in args.into_iter().enumerate() {
            let during = around(at, &named_by, live, &held);
            let (arg, roots) = match arg {
                arg if signature.used_up.get(at) != Some(&true) => self.exp(arg, &during),
                Fut::Tuple(parts) => {
                    let named_by: Vec<Names> = parts.iter().map(named).collect();
                    let passed = parts.into_iter().enumerate();
                    let passed = passed.map(|(k, part)| self.used_up(part, &around(k, &named_by, &during, &Names::new())));
                    (Fut::Tuple(passed.collect()), Roots::Fresh)
                }
                arg => (self.used_up(arg, &during), Roots::Fresh),
            };
            held.extend(roots.all());
            done.push(arg);
        }
        let shared = Roots::of(held);
        let leaf = |own: &bool| if *own { Roots::Fresh } else { shared.clone() };
        let roots = match (&signature.result, signature.own.as_slice()) {
            (Shape::Tuple(parts), own) if parts.len() == own.len() => Roots::Parts(own.iter().map(leaf).collect()),
            (Shape::Tuple(_), _) => shared.clone(),
            (_, own) => own.first().map_or(shared.clone(), leaf),
        };
        (Fut::Apply(function, done), roots)
    }

    /// `reduce_by_index (copy z) …` uses up z, like `with`.
    fn collect(&mut self, mut args: Vec<Fut>, live: &Names) -> Fut {
        let start = without_copy(args.remove(0));
        let mut during = live.clone();
        free(&start, &mut during);
        let (mut args, _) = self.in_turn(args, &during);
        let mut after = live.clone();
        args.iter().for_each(|arg| free(arg, &mut after));
        args.insert(0, self.used_up(start, &after));
        Fut::apply("reduce_by_index", args)
    }

    fn repeat(&mut self, repeat: Loop, live: &Names) -> (Fut, Roots) {
        let Loop { pattern, init, trip, body } = repeat;
        let leaves = leaf_names(&pattern);
        let mut inside = Names::new();
        free(&body, &mut inside);
        leaves.iter().for_each(|name| {
            inside.remove(name);
        });
        let outer: Names = inside.iter().filter_map(|name| self.roots.get(name)).flatten().cloned().collect();
        let mut during = live.clone();
        during.extend(inside);
        if let Trip::For(_, count) = &trip {
            free(count, &mut during);
        }
        let parts = split(&init, &pattern);
        let mut candidates = typed_arrays(&pattern);
        candidates.iter_mut().for_each(|candidate| *candidate &= parts.is_some());
        let (owned, used_up) = (std::mem::take(&mut self.owned), std::mem::take(&mut self.used_up));
        let (new_body, roots) = loop {
            (self.owned, self.used_up) = (Names::new(), Names::new());
            for (name, candidate) in leaves.iter().zip(&candidates) {
                if self.arrays.contains(name) {
                    self.is_new(name, *candidate);
                }
            }
            let (new_body, roots) = self.exp(body.clone(), &Names::new());
            let results = pattern_leaves(&roots, &pattern);
            let stays = |at: usize| {
                let others = results.iter().enumerate().filter(|(other, _)| *other != at);
                candidates[at]
                    && self.used_up.contains(&leaves[at])
                    && results[at].iter().all(|root| self.owned.contains(root))
                    && others.flat_map(|(_, names)| names).all(|root| !results[at].contains(root))
            };
            let staying: Vec<bool> = (0..leaves.len()).map(stays).collect();
            if staying == candidates {
                break (new_body, results);
            }
            candidates = staying;
        };
        (self.owned, self.used_up) = (owned, used_up);
        let (init, starts) = match parts {
            Some(parts) => {
                let named: Vec<Names> = parts.iter().map(named).collect();
                let (mut passed, mut starts, mut held) = (Vec::new(), Vec::new(), Names::new());
                for (at, part) in parts.into_iter().enumerate() {
                    let during = around(at, &named, &during, &held);
                    if candidates[at] {
                        passed.push(self.used_up(part, &during));
                        starts.push(Names::new());
                    } else {
                        let (part, roots) = self.exp(part, &during);
                        let roots = roots.all();
                        // where one part is used up, Futhark wants no two to share memory
                        let is_shared = candidates.contains(&true) && self.arrays.contains(&leaves[at]) && !held.is_disjoint(&roots);
                        passed.push(if is_shared { Fut::apply("copy", vec![part]) } else { part });
                        starts.push(if is_shared { Names::new() } else { roots.clone() });
                        held.extend(roots);
                    }
                }
                (joined(&pattern, &mut passed.into_iter()), starts)
            }
            None => {
                let (init, roots) = self.exp(init, &during);
                (init, pattern_leaves(&roots, &pattern))
            }
        };
        let trip = match trip {
            Trip::For(i, count) => Trip::For(i, self.exp(count, &during).0),
            Trip::While(go) => Trip::While(go),
        };
        // for Futhark each part of the result may lie where any of the initial state does
        let starts: Names = starts.into_iter().flatten().collect();
        let shared = roots.into_iter().zip(&candidates).map(|(step, candidate)| {
            let shared = starts.iter().cloned().chain(step.into_iter().filter(|root| outer.contains(root)));
            let shared = shared.chain([NOBODYS.to_string()]);
            if *candidate { Roots::Fresh } else { Roots::of(shared.collect()) }
        });
        let roots = with_structure(&pattern, &mut shared.collect::<Vec<_>>().into_iter());
        let pattern = starred(pattern, &mut candidates.into_iter());
        (Fut::Loop(Box::new(Loop { pattern, init, trip, body: new_body })), roots)
    }
}

fn without_copy(exp: Fut) -> Fut {
    match exp {
        Fut::Apply(function, mut args) if function == "copy" && args.len() == 1 => args.swap_remove(0),
        other => other,
    }
}

/// Which leaves are arrays with a type that names all lengths.
fn typed_arrays(pattern: &Pattern) -> Vec<bool> {
    match pattern {
        Pattern::Tuple(parts) => parts.iter().flat_map(typed_arrays).collect(),
        Pattern::Sized { sizes, ty, .. } => vec![sizes.is_empty() && ty.starts_with('[')],
        Pattern::Name(_) | Pattern::Wild => vec![false],
    }
}

fn pattern_leaves(roots: &Roots, pattern: &Pattern) -> Vec<Names> {
    match pattern {
        Pattern::Tuple(parts) => parts.iter().enumerate().flat_map(|(at, part)| pattern_leaves(&roots.part(at), part)).collect(),
        Pattern::Name(_) | Pattern::Sized { .. } | Pattern::Wild => vec![roots.all()],
    }
}

/// A value's parts as a pattern takes them apart; `None` where the text does not show them.
fn split(value: &Fut, pattern: &Pattern) -> Option<Vec<Fut>> {
    match (pattern, value) {
        (Pattern::Tuple(patterns), Fut::Tuple(parts)) if patterns.len() == parts.len() => {
            let parts = patterns.iter().zip(parts).map(|(pattern, part)| split(part, pattern)).collect::<Option<Vec<_>>>()?;
            Some(parts.concat())
        }
        (Pattern::Tuple(_), _) => None,
        (Pattern::Name(_) | Pattern::Sized { .. } | Pattern::Wild, value) => Some(vec![value.clone()]),
    }
}

fn joined(pattern: &Pattern, parts: &mut dyn Iterator<Item = Fut>) -> Fut {
    match pattern {
        Pattern::Tuple(patterns) => Fut::Tuple(patterns.iter().map(|pattern| joined(pattern, parts)).collect()),
        Pattern::Name(_) | Pattern::Sized { .. } | Pattern::Wild => parts.next().unwrap_or(Fut::Int(0)),
    }
}

fn with_structure(pattern: &Pattern, leaves: &mut dyn Iterator<Item = Roots>) -> Roots {
    match pattern {
        Pattern::Tuple(patterns) => Roots::Parts(patterns.iter().map(|pattern| with_structure(pattern, leaves)).collect()),
        Pattern::Name(_) | Pattern::Sized { .. } | Pattern::Wild => leaves.next().unwrap_or_default(),
    }
}

fn starred(pattern: Pattern, stars: &mut dyn Iterator<Item = bool>) -> Pattern {
    match pattern {
        Pattern::Tuple(parts) => Pattern::Tuple(parts.into_iter().map(|part| starred(part, stars)).collect()),
        Pattern::Sized { sizes, name, ty } => {
            let ty = if stars.next() == Some(true) { format!("*{ty}") } else { ty };
            Pattern::Sized { sizes, name, ty }
        }
        Pattern::Name(_) | Pattern::Wild => {
            stars.next();
            pattern
        }
    }
}

/// What is read while the operand at a place is evaluated, or later.
fn around(at: usize, operands: &[Names], live: &Names, held: &Names) -> Names {
    let others = operands.iter().enumerate().filter(|(other, _)| *other != at).flat_map(|(_, names)| names);
    others.chain(live).chain(held).cloned().collect()
}
