//! States whose elements are final when they are read: the backward pass reads the last state, so that nothing is logged and no state
//! is computed again.
//!
//! In: the block of a step and its backward pass, and a component of the fold's state that each step updates in place. Out: the block in
//! which every name of that component, at whatever time in the step, is the component's own name, which then has the last state; none
//! where an element that the backward pass reads may be written later, in this step or in another.
//!
//!     fun x i -> update x i (ifold (fun s k -> s - L[i][k] * x[k]) b[i] i)
//!     reads x[k] for k < i, writes x[i]   →   back: x[k] of the last x
//!
//! What an update writes is read from the last state as well, where that still has it. An element that is read and then overwritten
//! needs a log ([`super::undo`]): there the order of the steps matters.

use std::collections::{HashMap, HashSet};

use super::leaves::{from_leaves, leaves_of};
use super::operations::Steps;
use crate::ad::block::{Block, is_name};
use crate::ir::free::{any_free_var, each_free_var};
use crate::ir::in_place::{Around, Changes, Site};
use crate::ir::last_use::component;
use crate::ir::prove::Facts;
use crate::ir::subst::substitute;
use crate::ir::{Change, Expr, Prim, Size, Term, Type, Updated, Var};

/// A name for an array, or a component of one.
type Reference = (Var, Vec<usize>);

/// A component of a state in the steps of a fold, where a step over `i` takes `acc`.
pub struct Component<'a> {
    pub steps: &'a Steps,
    pub acc: &'a Var,
    pub i: &'a Var,
    pub path: &'a [usize],
}

/// The names that a step has for the component as it goes through its updates.
#[derive(Default)]
struct Versions {
    /// For each name, which of the updates it has behind it.
    names: HashMap<Reference, Vec<usize>>,
    sites: Vec<Site>,
    /// The Indexes and Bools of the step, by what they are computed from.
    lets: Vec<(Var, Expr)>,
    /// What else the step binds.
    inside: HashSet<Var>,
}

impl Component<'_> {
    /// The block with one name for the component, where the last state has all that the backward pass reads. `result` is the
    /// state after the step, and `close` gives the backward pass from the block.
    pub fn settle(&self, block: &Block, result: &Expr, close: &dyn Fn(&Block) -> Expr) -> Option<Block> {
        let versions = self.versions(block)?;
        let last = name_of(&block.meaning(&Expr::component(result.clone(), self.path)))?;
        if versions.names.get(&last)?.len() != versions.sites.len() {
            return None;
        }
        let mut facts = Facts::default();
        facts.exists(self.acc.ty());
        facts.enter_loop(self.i, &self.steps.n);
        let written = self.written(block, &versions, &facts);
        let mark = |(var, path): &Reference| var.renewed(Expr::component(Expr::var(var), path).ty().clone());
        let marks: HashMap<Reference, Var> = versions.names.keys().map(|name| (name.clone(), mark(name))).collect();
        let marked = cut(block, &versions, &written, &|name| Expr::var(&marks[name]));
        let reads = Reads { of: self, versions: &versions, marks: marks.iter().map(|(name, mark)| (mark.clone(), name)).collect() };
        let own = Expr::component(Expr::var(self.acc), self.path);
        reads.are_final(&close(&marked), &facts).then(|| cut(block, &versions, &written, &|_| own.clone()))
    }

    /// The names of the component, as the forward pass of the step goes on; none where it is updated at an index that only the
    /// update knows.
    fn versions(&self, block: &Block) -> Option<Versions> {
        let mut versions = Versions::default();
        versions.names.insert((self.acc.clone(), self.path.to_vec()), Vec::new());
        for (var, value) in block.forward_bindings() {
            match var.ty() {
                Type::Index(_) | Type::Bool => versions.lets.push((var.clone(), substitute(value, &versions.lets))),
                Type::Double | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => drop(versions.inside.insert(var.clone())),
            }
            if is_name(value) || !value.has_updates() {
                continue;
            }
            let mut free: Vec<Var> = Vec::new();
            each_free_var(value, &mut |var| {
                if !free.contains(var) {
                    free.push(var.clone());
                }
            });
            for array in free {
                for path in arrays(array.ty()) {
                    let before = name_of(&block.meaning(&Expr::component(Expr::var(&array), &path)));
                    let Some(before) = before.and_then(|name| versions.names.get(&name)).cloned() else { continue };
                    let changes = Changes::of(value, &array);
                    let Some(after) = arrays(var.ty()).find(|after| changes.source(after).as_ref() == Some(&path)) else {
                        continue;
                    };
                    let sites = changes.sites(&path)?.into_iter().map(|site| with_lets(&site, &versions.lets));
                    let first = versions.sites.len();
                    versions.sites.extend(sites);
                    versions.names.insert((var.clone(), after), before.into_iter().chain(first..versions.sites.len()).collect());
                }
            }
        }
        Some(versions)
    }

    /// The values that updates of the step write and that nothing overwrites, with the names of the arrays that have them and their
    /// indices.
    fn written(&self, block: &Block, versions: &Versions, facts: &Facts) -> Vec<(Var, Reference, Vec<Expr>)> {
        let mut written = Vec::new();
        for (var, value) in block.forward_bindings() {
            let name = (var.clone(), Vec::new());
            let (Some(has), Term::Update(Change::Replace, parts)) = (versions.names.get(&name), value.term()) else { continue };
            let Some(Updated { indices, value, .. }) = Updated::of(parts) else { continue };
            let Some((element, _)) = name_of(&block.meaning(value)).filter(|(_, path)| path.is_empty()) else { continue };
            let is_own = *element.ty() == Type::Double && versions.inside.contains(&element) && is_before(block, indices, &element);
            let known: Vec<Expr> = indices.iter().map(|index| substitute(index, &versions.lets)).collect();
            if is_own && self.is_final(versions, &known, has, facts) {
                written.push((element, name, indices.to_vec()));
            }
        }
        written
    }

    /// Whether no update writes the element at these indices that a version of the component with some updates behind it does not have.
    fn is_final(&self, versions: &Versions, indices: &[Expr], has: &[usize], facts: &Facts) -> bool {
        versions.sites.iter().enumerate().all(|(at, site)| {
            self.is_apart(versions, indices, site, true, facts)
                && (has.contains(&at) || self.is_apart(versions, indices, site, false, facts))
        })
    }

    /// Whether an update, in this step or in a later one, writes no element at these indices.
    fn is_apart(&self, versions: &Versions, indices: &[Expr], site: &Site, is_later: bool, facts: &Facts) -> bool {
        let mut facts = facts.clone();
        let mut map: Vec<(Var, Expr)> = Vec::new();
        let differ = |facts: &Facts, map: &[(Var, Expr)]| {
            indices.iter().zip(&site.indices).any(|(read, write)| {
                let (read, write) = (facts.size_of(read), facts.size_of(&substitute(write, map)));
                facts.less(&read, &write) || facts.less(&write, &read)
            })
        };
        if is_later {
            // the index of a later step is larger than this one's
            let is_index = |index: &Expr| matches!(index.term(), Term::Var(var) if var == self.i);
            let at_most = |(read, write): (&Expr, &Expr)| is_index(write) && facts.at_most(&facts.size_of(read), &Size::var(self.i));
            if indices.iter().zip(&site.indices).any(at_most) {
                return true;
            }
            let later = self.i.renewed(self.i.ty().clone());
            facts.enter_loop(&later, &self.steps.n);
            facts.assume(&Expr::prim(Prim::Lt, vec![Expr::var(self.i), Expr::var(&later)]), true);
            // the later step has values of its own
            let others = versions.inside.iter().chain([self.acc]).map(|var| (var.clone(), Expr::var(&unbounded(var))));
            map.extend(others.chain([(self.i.clone(), Expr::var(&later))]));
        }
        let mut indices_inside = Vec::new();
        for around in &site.around {
            if let Around::Loop(j, _) = around {
                let own = unbounded(j);
                map.push((j.clone(), Expr::var(&own)));
                indices_inside.push(own);
            }
        }
        // fewer facts are a shorter way
        if differ(&facts, &map) {
            return true;
        }
        let mut indices_inside = indices_inside.iter();
        for around in &site.around {
            match around {
                Around::Loop(_, count) => indices_inside.next().into_iter().for_each(|own| facts.enter_loop(own, &substitute(count, &map))),
                Around::If(cond) | Around::Taken(cond) => facts.assume(&substitute(cond, &map), true),
            }
        }
        !site.around.is_empty() && differ(&facts, &map)
    }
}

/// What a backward pass reads of the component.
struct Reads<'a> {
    of: &'a Component<'a>,
    versions: &'a Versions,
    /// The names of the component, by what stands for them in the code.
    marks: HashMap<Var, &'a Reference>,
}

impl Reads<'_> {
    /// Whether all that a term reads is final, and the component is used in no other way.
    fn are_final(&self, expr: &Expr, facts: &Facts) -> bool {
        let expr = &resolved(expr);
        if component(expr).is_some() {
            return !self.is_tracked(expr);
        }
        match expr.term() {
            Term::Get(..) => {
                let mut indices = Vec::new();
                let mut array = expr.clone();
                while let Term::Get(inner, index) = array.clone().term() {
                    indices.insert(0, index.clone());
                    array = resolved(inner);
                }
                indices.iter().all(|index| self.are_final(index, facts))
                    && match self.version(&array) {
                        Some(has) => self.of.is_final(self.versions, &indices, has, facts),
                        None => self.are_final(&array, facts),
                    }
            }
            Term::Dim(array, _) if component(&resolved(array)).is_some() => true,
            Term::Let(var, value, body) => {
                let value = resolved(value);
                if is_name(&value) || matches!(value.term(), Term::Tuple(_)) {
                    return self.are_final(&substitute(body, &[(var.clone(), value)]), facts);
                }
                let mut inner = facts.clone();
                inner.define(var, &value);
                self.are_final(&value, facts) && self.are_final(body, &inner)
            }
            Term::Check { cond, body, .. } => {
                let mut inner = facts.clone();
                inner.assume(cond, true);
                self.are_final(cond, facts) && self.are_final(body, &inner)
            }
            Term::If(cond, then, otherwise) => {
                let branch = |branch: &Expr, truth| {
                    let mut inner = facts.clone();
                    inner.assume(cond, truth);
                    self.are_final(branch, &inner)
                };
                self.are_final(cond, facts) && branch(then, true) && branch(otherwise, false)
            }
            Term::Build { n, i, body } => self.are_final(n, facts) && self.are_final_in_loop(i, n, body, facts),
            Term::Fold { n, i, body, init, .. } => {
                self.are_final(n, facts) && self.are_final(init, facts) && self.are_final_in_loop(i, n, body, facts)
            }
            term => {
                let mut all = true;
                term.each_child(&mut |child| all = all && self.are_final(child, facts));
                all
            }
        }
    }

    fn are_final_in_loop(&self, i: &Var, n: &Expr, body: &Expr, facts: &Facts) -> bool {
        let mut inner = facts.clone();
        inner.enter_loop(i, n);
        self.are_final(body, &inner)
    }

    /// The updates behind a name for the component.
    fn version(&self, name: &Expr) -> Option<&[usize]> {
        let (var, path) = component(name)?;
        let own = (var.clone(), path);
        let name = if own.1.is_empty() { self.marks.get(&own.0).copied().unwrap_or(&own) } else { &own };
        self.versions.names.get(name).map(Vec::as_slice)
    }

    /// Whether a name has the component in it.
    fn is_tracked(&self, name: &Expr) -> bool {
        let is_state = |(var, path): (&Var, Vec<usize>)| var == self.of.acc && self.of.path.starts_with(&path);
        self.version(name).is_some() || component(name).is_some_and(is_state)
    }
}

/// Whether a block binds all that these terms mention before a variable.
fn is_before(block: &Block, terms: &[Expr], var: &Var) -> bool {
    let after: HashSet<&Var> = block.forward_bindings().map(|(own, _)| own).skip_while(|own| *own != var).collect();
    !terms.iter().any(|term| any_free_var(term, &mut |own| after.contains(own)))
}

/// The block with other names for the versions of a component, and with what they have at these indices for what was written there.
fn cut(block: &Block, versions: &Versions, written: &[(Var, Reference, Vec<Expr>)], by: &dyn Fn(&Reference) -> Expr) -> Block {
    let mut block = block.clone();
    for (element, name, indices) in written {
        let read = indices.iter().fold(by(name), |array, index| Expr::get(array, index.clone()));
        block.replace(element, vec![(element.clone(), read)]);
    }
    let bound: Vec<(Var, Expr)> = block.forward_bindings().map(|(var, value)| (var.clone(), value.clone())).collect();
    for (var, value) in bound {
        if !versions.names.keys().any(|(own, _)| *own == var) {
            continue;
        }
        let whole = var.renewed(var.ty().clone());
        let mut own = |path: &[usize]| {
            let name = (var.clone(), path.to_vec());
            if versions.names.contains_key(&name) { by(&name) } else { Expr::component(Expr::var(&whole), path) }
        };
        let renamed = from_leaves(var.ty(), &mut own);
        block.replace(&var, vec![(whole.clone(), value), (var.clone(), renamed)]);
        block.forget_undo(&var);
    }
    block
}

/// Another variable of the same type, but that the bounds of Indexes are not those of this step.
fn unbounded(var: &Var) -> Var {
    fn without_bounds(ty: &Type) -> Type {
        match ty {
            Type::Index(_) => Type::INDEX,
            Type::Array(element, length) => Type::array(without_bounds(element), length.clone()),
            Type::Tuple(parts) => Type::tuple(parts.iter().map(without_bounds).collect()),
            Type::Double | Type::Bool | Type::Rec(_) => ty.clone(),
        }
    }
    var.renewed(without_bounds(var.ty()))
}

/// An update with what its step computes written out.
fn with_lets(site: &Site, lets: &[(Var, Expr)]) -> Site {
    let around = site.around.iter().map(|around| match around {
        Around::Loop(i, count) => Around::Loop(i.clone(), substitute(count, lets)),
        Around::If(cond) => Around::If(substitute(cond, lets)),
        Around::Taken(cond) => Around::Taken(substitute(cond, lets)),
    });
    Site { around: around.collect(), indices: site.indices.iter().map(|index| substitute(index, lets)).collect(), ..site.clone() }
}

/// A name without the tuples that it is taken out of.
fn resolved(expr: &Expr) -> Expr {
    let Term::Proj(tuple, k) = expr.term() else { return expr.clone() };
    let tuple = resolved(tuple);
    if let Term::Tuple(parts) = tuple.term()
        && *k < parts.len()
    {
        resolved(&parts[*k])
    } else {
        Expr::proj(tuple, *k)
    }
}

fn name_of(expr: &Expr) -> Option<Reference> {
    component(expr).map(|(var, path)| (var.clone(), path))
}

/// The paths of a type's arrays.
fn arrays(ty: &Type) -> impl Iterator<Item = Vec<usize>> {
    leaves_of(ty).into_iter().filter(|leaf| matches!(leaf.ty, Type::Array(..))).map(|leaf| leaf.path)
}
