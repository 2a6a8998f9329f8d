//! The forward and the backward pass of one scope: lets, arithmetic, reads and updates.
//!
//! In: a term whose free variables may have adjoints. [`Sweep::forward`] binds what it computes in a block and keeps a list
//! of the operations that are linear in tangents; [`Sweep::backward`] goes through the list from its end and gives each
//! operand its share of the result's cotangent. A loop's body and a branch are scopes of their own ([`super::loops`]).
//!
//!     let u = x * y in sin u, cotangent w   →   let u = x * y in let ub = cos u * w in xb := ub * y, yb := x * ub
//!
//! The law of a primitive in one operand is linear in that operand's tangent; with the cotangent in the tangent's place it
//! is its own transpose. A read of an element becomes `accumulate`; an update takes the cotangent of the element that it
//! replaced away from the array's.

use std::collections::{HashMap, HashSet};

use super::adjoint::{Adjoint, Place, Wire, WireInfo, bar, leaf, paths, tree};
use super::changed::Changed;
use super::checkpoints;
use super::extrema::Extremum;
use super::levels::{Level, Open};
use super::operations::{Branches, Elements, Operation, Part, Steps, Updating};
use crate::ad::activity::{Activities, Activity};
use crate::ad::block::{Block, shared};
use crate::ad::functions::Functions;
use crate::ad::{Keeps, Result, internal, law};
use crate::ir::prim::Derivative;
use crate::ir::{Expr, Name, Prim, Term, Type, Updated, Var};

/// The way through one body and back; scopes inside it are entered and left.
pub struct Sweep<'a> {
    pub functions: &'a mut Functions,
    pub wires: Vec<WireInfo>,
    /// The active variables in scope.
    pub env: HashMap<Var, Adjoint>,
    activities: Activities,
    operations: Vec<Operation>,
    pub(super) frames: Vec<Frame>,
    /// Whether the next fold is a part of one in parts.
    pub enters_part: Option<Part>,
    /// The accumulators of the folds around.
    pub states: Vec<Var>,
    /// Whether backward passes may read the last states of loops.
    pub may_settle: bool,
    /// The types of the states of which they do and that loops around may have.
    pub settled: Vec<Type>,
}

/// What one scope has collected so far.
#[derive(Default)]
pub struct Frame {
    pub(super) own: HashSet<Wire>,
    pub current: HashMap<Wire, Expr>,
    /// Wires from outside, in the order in which they were first needed, with the names of what they had before; a branch
    /// that finds nothing collected begins with nothing.
    pub entered: Vec<(Wire, Option<Var>)>,
    /// Shares for elements of wires that have nothing yet in this scope: they wait for a share for the whole, which they are
    /// then added to without an array of zeros.
    pub(super) waiting: HashMap<Wire, Vec<(Vec<Expr>, Expr)>>,
    /// Whether it runs once, where the scope around it is.
    pub(super) is_branch: bool,
}

impl<'a> Sweep<'a> {
    pub fn new(functions: &'a mut Functions) -> Sweep<'a> {
        Sweep {
            functions,
            wires: Vec::new(),
            env: HashMap::new(),
            activities: Activities::default(),
            operations: Vec::new(),
            frames: Vec::new(),
            enters_part: None,
            states: Vec::new(),
            may_settle: true,
            settled: Vec::new(),
        }
    }

    /// Runs `f` in a scope whose body is `body`, and gives what it collected.
    pub fn scope<T>(&mut self, body: &Expr, is_branch: bool, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<(T, Frame)> {
        let mut free: Vec<(Var, Activity)> = self.env.iter().map(|(var, adjoint)| (var.clone(), adjoint.activity(var.ty()))).collect();
        free.sort_by(|a, b| a.0.cmp(&b.0));
        let activities = self.functions.analyse(body, free)?;
        let outer = (std::mem::replace(&mut self.activities, activities), std::mem::take(&mut self.operations), self.env.clone());
        self.frames.push(Frame { is_branch, ..Frame::default() });
        let result = f(self);
        let frame = self.frames.pop().unwrap_or_default();
        (self.activities, self.operations, self.env) = outer;
        Ok((result?, frame))
    }

    /// New wires for a value, which is a name.
    pub fn wires_for(&mut self, primal: &Expr, active: &Activity, name: &Name) -> Adjoint {
        let mut places = Vec::new();
        for (path, _) in paths(primal.ty(), active) {
            let wire = self.wires.len();
            self.wires.push(WireInfo { name: bar(&name.at(&path)), primal: primal.clone(), path });
            if let Some(frame) = self.frames.last_mut() {
                frame.own.insert(wire);
            }
            places.push(Place { wire, indices: Vec::new() });
        }
        tree(primal.ty(), active, &mut places.into_iter())
    }

    /// A variable that is active in this scope, with wires of its own.
    pub fn activate(&mut self, var: &Var, active: &Activity) -> Adjoint {
        let adjoint = self.wires_for(&Expr::var(var), active, var.full_name());
        self.env.insert(var.clone(), adjoint.clone());
        adjoint
    }

    // ---- forward ----

    /// The value of a term, and its adjoint.
    pub fn forward(&mut self, expr: &Expr, out: &mut Block) -> Result<(Expr, Adjoint)> {
        self.forward_as(None, expr, out)
    }

    /// As `forward`; `name` is what the program calls the value.
    fn forward_as(&mut self, name: Option<&Name>, expr: &Expr, out: &mut Block) -> Result<(Expr, Adjoint)> {
        let named = |otherwise: &str| name.cloned().unwrap_or_else(|| otherwise.into());
        let active = self.activities.of(expr);
        if active.is_none() {
            return Ok((expr.clone(), Adjoint::None));
        }
        Ok(match expr.term() {
            Term::Var(var) => (expr.clone(), self.env.get(var).cloned().unwrap_or(Adjoint::None)),
            Term::Prim(prim, args) => self.prim(expr, *prim, args, name, out)?,
            Term::Let(var, value, body) => {
                self.functions.given_by_data.bind(var, value);
                let (value, adjoint) = self.forward_as(Some(var.full_name()), value, out)?;
                out.spare(var, value);
                if !adjoint.is_none() {
                    self.env.insert(var.clone(), adjoint);
                }
                self.forward_as(name, body, out)?
            }
            Term::Check { cond, status, body } => {
                out.check(cond.clone(), *status, expr.span());
                self.forward_as(name, body, out)?
            }
            Term::Tuple(parts) => {
                let mut both = (Vec::new(), Vec::new());
                for (k, part) in parts.iter().enumerate() {
                    let name = name.filter(|name| name.has_parts()).map(|name| name.part(k));
                    let (part, adjoint) = self.forward_as(name.as_ref(), part, out)?;
                    both.0.push(part);
                    both.1.push(adjoint);
                }
                (Expr::tuple(both.0).at(expr.span()), Adjoint::Parts(both.1))
            }
            Term::Proj(tuple, k) => {
                let (tuple, adjoint) = self.forward(tuple, out)?;
                (Expr::proj(tuple, *k).at(expr.span()), adjoint.part(*k))
            }
            Term::Get(array, index) => {
                let (array, adjoint) = self.forward(array, out)?;
                let index = shared(Name::placeholder("i"), index.clone(), out);
                let array = if matches!(array.term(), Term::Get(..)) { array } else { out.bind("a", array) };
                let adjoint = adjoint.element(&index);
                (Expr::get(array, index).at(expr.span()), adjoint)
            }
            Term::Array(items) => {
                let mut both = (Vec::new(), Vec::new());
                for item in items {
                    let (item, adjoint) = self.forward(item, out)?;
                    both.0.push(item);
                    both.1.push(adjoint);
                }
                let element = expr.ty().element().cloned().unwrap_or(Type::Double);
                let array = out.bind(named("a"), Expr::array(element, both.0).at(expr.span()));
                let adjoint = self.wires_for(&array, &active, &named("a"));
                self.operations.push(Operation::Array { items: both.1, out: adjoint.clone() });
                (array, adjoint)
            }
            Term::Update(change, parts) => {
                let Some(Updated { array, indices, value }) = Updated::of(parts) else {
                    return Err(internal(expr.span(), "an update without its parts"));
                };
                // the new elements of nested updates come before the updates: on the way back their shares are then added, in place,
                // to the cotangent that the updates leave
                let is_chain = matches!(array.term(), Term::Update(..));
                let early = if is_chain { Some(self.element(value, out)?) } else { None };
                // the same array, before
                let (array, array_adjoint) = self.forward_as(name, array, out)?;
                let array = out.bind(named("a"), array);
                let indices: Vec<Expr> = indices.iter().map(|index| shared(Name::placeholder("i"), index.clone(), out)).collect();
                let (new, value_adjoint) = early.map_or_else(|| self.element(value, out), Ok)?;
                let element = indices.iter().fold(array.clone(), |array, index| Expr::get(array, index.clone()));
                let old = out.bind(Name::placeholder("old"), element);
                let after = out.bind(named("a"), Expr::update(*change, array.clone(), indices.clone(), new.clone()).at(expr.span()));
                let adjoint = self.wires_for(&after, &active, &named("a"));
                self.operations.push(Operation::Update(Updating {
                    change: *change,
                    before: array,
                    after: after.clone(),
                    indices,
                    old,
                    new,
                    array: array_adjoint,
                    value: value_adjoint,
                    out: adjoint.clone(),
                }));
                (after, adjoint)
            }
            Term::Build { n, i, body } => {
                let n = shared("n", n.clone(), out);
                let array = out.bind(named("t"), Expr::build_with(n.clone(), i.clone(), body.clone()).at(expr.span()));
                let adjoint = self.wires_for(&array, &active, &named("t"));
                let (i, body, out) = (i.clone(), body.clone(), adjoint.clone());
                self.operations.push(Operation::Elements(Elements { n, i, body, array: array.clone(), out }));
                (array, adjoint)
            }
            Term::Fold { n, acc, i, body, init } => {
                let part = self.enters_part.take();
                let is_counted = checkpoints::is_counted(n);
                let active = self.activities.of_var(acc);
                let name = name.unwrap_or(acc.full_name());
                let (init, init_adjoint) = self.forward_as(Some(name), init, out)?;
                let n = self.functions.given_by_data.named(n, out);
                if let (Some(extremum), None) = (Extremum::of(body, acc), &part) {
                    // a name of its own, by which the backward pass finds its adjoint
                    let start = Var::fresh("init", init.ty().clone());
                    out.spare(&start, init);
                    self.env.insert(start.clone(), init_adjoint);
                    let init = Expr::var(&start);
                    let adjoint = self.wires_for(&init, &active, acc.full_name());
                    let (value, branches) = extremum.search((&n, i), acc, &init, adjoint.clone(), out)?;
                    self.operations.push(Operation::Branches(branches));
                    return Ok((value.at(expr.span()), adjoint));
                }
                let init = out.bind(if name.has_parts() { name.with_suffix("_init") } else { "init".into() }, init);
                let (counts, checkpoint) = (&mut self.functions.given_by_data, self.functions.options.checkpoint);
                // of the parts that checkpoints make it is not known how long they are at most
                let given = is_counted || counts.gives(&n) || checkpoint.is_some() && !counts.is_size(&n);
                let is_part = part.is_some();
                let level = part.map_or_else(|| given.then(|| Level::of_steps(body, acc, i, &n, out)), |part| part.level);
                let keeps = self.functions.options.keeps;
                let level = level.filter(|_| keeps != Keeps::All);
                // what a loop in a loop keeps is computed again
                let keeps_most = keeps == Keeps::MostParts && self.frames.len() == 1;
                let open = level.map(|level| Open::of(&n, level, is_counted, keeps_most, out));
                let result = Var::named(name.clone(), expr.ty().clone());
                let (acc, i, body) = (acc.clone(), i.clone(), body.clone());
                let fold = Expr::fold_with(n.clone(), acc.clone(), i.clone(), body.clone(), init.clone());
                out.spare(&result, fold.at(expr.span()));
                let adjoint = self.wires_for(&Expr::var(&result), &active, name);
                let (is_in_parts, value, out) = (false, Expr::var(&result), adjoint.clone());
                let steps = Steps { n, acc, i, body, init, init_adjoint, active, is_part, is_in_parts, open, result, out };
                self.operations.push(Operation::Steps(steps));
                (value, adjoint)
            }
            Term::If(cond, then, otherwise) => {
                let cond = shared("c", cond.clone(), out);
                let value = Expr::if_(cond.clone(), then.clone(), otherwise.clone()).at(expr.span());
                let chosen = Var::named(named("chosen"), value.ty().clone());
                let changed = self.states.last().map_or_else(Vec::new, |acc| Changed::of(&value, &chosen, acc, out));
                out.spare(&chosen, value);
                let value = Expr::var(&chosen);
                let adjoint = self.wires_for(&value, &active, &named("chosen"));
                let (then, otherwise) = (then.clone(), otherwise.clone());
                self.operations.push(Operation::Branches(Branches { cond, then, otherwise, out: adjoint.clone(), changed }));
                (value, adjoint)
            }
            Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Dim(..)
            | Term::Call(..)
            | Term::Iso(..)
            | Term::While { .. }
            | Term::Dual { .. }
            | Term::Vjp { .. } => {
                return Err(internal(expr.span(), "a term without a derivative was found to have one"));
            }
        })
    }

    /// The new element of an update, by its name.
    fn element(&mut self, value: &Expr, out: &mut Block) -> Result<(Expr, Adjoint)> {
        let (value, adjoint) = self.forward(value, out)?;
        Ok((out.bind(Name::placeholder("x"), value), adjoint))
    }

    fn prim(&mut self, expr: &Expr, prim: Prim, args: &[Expr], name: Option<&Name>, out: &mut Block) -> Result<(Expr, Adjoint)> {
        let mut operands = Vec::new();
        for arg in args {
            operands.push(self.forward(arg, out)?);
        }
        let (mut uses_operand, mut uses_result) = (vec![false; operands.len()], false);
        let of_both = operands.iter().all(|(_, adjoint)| !adjoint.is_none());
        for k in (0..operands.len()).filter(|k| !operands[*k].1.is_none()) {
            let (law, names) =
                law_of(prim, (k, operands.len()), of_both).ok_or_else(|| internal(expr.span(), "a primitive without a law"))?;
            let law = law::parse(law)?;
            names.iter().zip(&mut uses_operand).for_each(|((x, _), used)| *used |= law.count(x) > 0);
            uses_result |= law.count("r") > 0;
        }
        let mut primals = Vec::new();
        for (k, (primal, _)) in operands.iter_mut().enumerate() {
            if uses_operand[k] {
                *primal = out.bind(Name::placeholder("u"), primal.clone());
            }
            primals.push(primal.clone());
        }
        let mut result = Expr::prim(prim, primals).at(expr.span());
        if uses_result {
            result = out.bind(name.cloned().unwrap_or_else(|| "r".into()), result);
        }
        let wire = self.wires.len();
        self.wires.push(WireInfo { name: "w".into(), primal: Expr::double(0.0), path: Vec::new() });
        if let Some(frame) = self.frames.last_mut() {
            frame.own.insert(wire);
        }
        self.operations.push(Operation::Prim { prim, args: operands, r: result.clone(), out: wire });
        Ok((result, Adjoint::Leaf(Place { wire, indices: Vec::new() })))
    }

    // ---- backward ----

    /// Goes through the scope's operations from the last to the first.
    pub fn backward(&mut self, out: &mut Block) -> Result<()> {
        while let Some(operation) = self.operations.pop() {
            match operation {
                Operation::Prim { prim, args, r, out: wire } => self.prim_back(prim, &args, &r, wire, out)?,
                Operation::Array { items, out: whole } => {
                    for (path, cotangent) in self.taken(&whole, out) {
                        for (k, item) in items.iter().enumerate() {
                            if let Some(place) = item.at(&path) {
                                self.add(&place.clone(), Expr::get(cotangent.clone(), Expr::index(k as i64)), out);
                            }
                        }
                    }
                }
                Operation::Update(updating) => self.update_back(&updating, out),
                Operation::Elements(elements) => self.elements_back(&elements, out)?,
                Operation::Steps(steps) => self.steps_back(&steps, out)?,
                Operation::Branches(branches) => self.branches_back(&branches, out)?,
            }
        }
        Ok(())
    }

    fn prim_back(&mut self, prim: Prim, args: &[(Expr, Adjoint)], r: &Expr, wire: Wire, out: &mut Block) -> Result<()> {
        let Some(cotangent) = self.take(wire, out) else { return Ok(()) };
        let cotangent = out.bind(Name::placeholder("w"), cotangent);
        let of_both = args.iter().all(|(_, adjoint)| !adjoint.is_none());
        for (k, (_, adjoint)) in args.iter().enumerate() {
            let Adjoint::Leaf(place) = adjoint else { continue };
            let Some((law, names)) = law_of(prim, (k, args.len()), of_both) else { continue };
            let mut given: Vec<(&str, Expr)> = vec![("r", r.clone())];
            for ((x, dx), (primal, _)) in names.iter().zip(args) {
                given.push((x, primal.clone()));
                if !dx.is_empty() {
                    given.push((dx, cotangent.clone()));
                }
            }
            let share = law::parse(law)?.apply(&given)?;
            self.add(place, share, out);
        }
        Ok(())
    }

    /// Gives each place of a result its part of a cotangent of the type `ty`.
    pub fn seed(&mut self, result: &Adjoint, ty: &Type, cotangent: &Expr, out: &mut Block) {
        for (path, _) in paths(ty, &Activity::full(ty)) {
            if let Some(place) = result.at(&path) {
                self.add(&place.clone(), leaf(cotangent, &path), out);
            }
        }
    }
}

/// The law of a primitive in its k-th operand of so many, and the names that it has for the operands and their tangents.
fn law_of(prim: Prim, (k, arity): (usize, usize), of_both: bool) -> Option<(&'static str, &'static [(&'static str, &'static str)])> {
    let names: &[_] = match (prim.row().derivative, k, arity) {
        (Derivative::Unary(_), 0, 1) => &[("x", "dx")],
        (Derivative::Unary(_), 1, 2) => &[("k", ""), ("x", "dx")],
        (Derivative::Binary { .. }, 0, 2) => &[("x", "dx"), ("y", "")],
        (Derivative::Binary { .. }, 1, 2) => &[("x", ""), ("y", "dy")],
        _ => return None,
    };
    Some((prim.law_in(k, of_both)?, names))
}
