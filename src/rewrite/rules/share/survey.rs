//! Selection of common subexpressions: where repeated terms occur, and which are named next.
//!
//! In: a body and its [`Repeats`]. Out: its regions, the body itself and the bodies of loops and branches inside, each with the terms
//! that are named in it: the largest that occur twice in it, once in any case, as far as naming one leaves the next as it is.
//!
//!     sin x * (if c then sin x + exp x * exp x else y)     the whole: sin x; the first branch: exp x
//!
//! Each term that repeats gets the number of its class, from those of its subterms: so that of long terms with long
//! terms in common each node is compared once. One walk numbers all places, and how often a class stands in a region
//! is how many of its places lie between the region's ends: a chain of a thousand branches is gone through once, not once for
//! each branch. A region waits with what is part of something that a region around may name.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::free::any_free_var;
use crate::ir::{Expr, Name, Term, Var};
use crate::rewrite::alike::{same, same_head};
use crate::rewrite::facts::Facts;

use super::super::invariant::name_for;
use super::repeats::Repeats;
use super::{Spine, collect_binders, operands_on_spine};

pub struct Survey<'a> {
    repeats: &'a Repeats,
    /// In the order in which they begin, the whole body first.
    regions: Vec<Region>,
    /// By the region around and the address.
    region_of: FxHashMap<(usize, usize), usize>,
    classes: Vec<Class>,
    by_fingerprint: FxHashMap<u64, Vec<usize>>,
    /// By address.
    class_of: FxHashMap<usize, usize>,
    /// Arrays that may be computed where they are read.
    builds: FxHashSet<Var>,
    /// How many places have a number.
    places: usize,
}

/// Terms that are the same.
struct Class {
    term: Expr,
    parts: Vec<Option<usize>>,
    /// Where they may be named, by number.
    places: Vec<(usize, Expr)>,
    /// The first let that names one of them.
    by: Option<Var>,
}

/// A body: the places between its ends.
#[derive(Default)]
struct Region {
    start: usize,
    end: usize,
    /// Classes that are always evaluated in it and mention nothing that is bound on the way, but for its own lets in front.
    always: Vec<usize>,
    /// What is bound on the way, while the region is gone through.
    inside: FxHashSet<Var>,
    /// Those that get a name.
    named: Vec<usize>,
}

impl Survey<'_> {
    pub fn of<'a>(body: &Expr, repeats: &'a Repeats, facts: &Facts) -> Survey<'a> {
        let mut survey = Survey {
            repeats,
            regions: Vec::new(),
            region_of: FxHashMap::default(),
            classes: Vec::new(),
            by_fingerprint: FxHashMap::default(),
            class_of: FxHashMap::default(),
            builds: FxHashSet::default(),
            places: 0,
        };
        survey.region(body);
        survey.choose(body, facts);
        survey
    }

    /// Whether nothing gets a name.
    pub fn is_done(&self) -> bool {
        self.regions.iter().all(|region| region.named.is_empty())
    }

    /// The classes that get a name in a region, each by a term of it.
    pub fn named(&self, region: usize) -> impl Iterator<Item = (usize, &Expr)> {
        let region = &self.regions[region];
        region.named.iter().filter_map(|class| Some((*class, &self.classes[*class].within(region).first()?.1)))
    }

    /// A variable for a class: of the name that a let gives it, or that says what it is.
    pub fn variable(&self, class: usize) -> Var {
        let Class { term, by, .. } = &self.classes[class];
        let name = by.as_ref().map_or_else(|| name_for(term, |array| !self.builds.contains(array)), |by| Name::from(by.name()));
        Var::named(name, term.ty().clone())
    }

    pub fn class(&self, expr: &Expr) -> Option<usize> {
        self.class_of.get(&expr.address()).copied()
    }

    /// The region that a body inside another is.
    pub fn inner(&self, region: usize, body: &Expr) -> Option<usize> {
        self.region_of.get(&(region, body.address())).copied()
    }

    fn region(&mut self, body: &Expr) -> usize {
        let at = self.regions.len();
        self.regions.push(Region { start: self.places, ..Region::default() });
        self.visit(body, at, true, false);
        let region = &mut self.regions[at];
        region.end = self.places;
        region.inside = FxHashSet::default();
        at
    }

    /// `spine`: the term is the region's body, or what is left of it behind lets and checks. `wanted`: its class matters.
    fn visit(&mut self, expr: &Expr, region: usize, spine: bool, wanted: bool) -> Option<usize> {
        let repeats = self.repeats.repeats(expr);
        if !self.repeats.are_in(expr) {
            return (wanted && (repeats || expr.is_atom())).then(|| self.class_with(expr, Vec::new()));
        }
        let place = self.places;
        self.places += 1;
        let strict = operands_on_spine(expr);
        let on_spine = spine && matches!(expr.term(), Term::Let(..) | Term::Check { .. });
        let binds = expr.term().binders().next().is_some();
        let last = expr.term().children().len().saturating_sub(1);
        let mut parts = Vec::new();
        for (at, child) in expr.term().children().enumerate() {
            let class = if strict(at) {
                if binds && at == last && !on_spine {
                    self.regions[region].inside.extend(expr.term().binders().cloned());
                }
                self.visit(child, region, on_spine && at == last, repeats && !binds)
            } else if self.repeats.are_in(child) {
                let inner = self.region(child);
                self.region_of.insert((region, child.address()), inner);
                self.class(child)
            } else {
                self.visit(child, region, false, repeats && !binds)
            };
            parts.push(class);
        }
        if let (Term::Let(x, ..), &[Some(class), _]) = (expr.term(), parts.as_slice()) {
            self.classes[class].by.get_or_insert_with(|| x.clone());
        }
        if let Term::Let(x, value, _) = expr.term()
            && matches!(value.term(), Term::Build { .. })
        {
            self.builds.insert(x.clone());
        }
        if !repeats {
            return None;
        }
        if binds {
            parts.clear();
        }
        let class = self.class_with(expr, parts);
        if self.repeats.may_be_named(expr) {
            self.classes[class].places.push((place, expr.clone()));
            if !any_free_var(expr, &mut |var| self.regions[region].inside.contains(var)) {
                self.regions[region].always.push(class);
            }
        }
        Some(class)
    }

    /// The class of a term whose parts have these; of one without parts, by comparison.
    fn class_with(&mut self, expr: &Expr, parts: Vec<Option<usize>>) -> usize {
        let is_known = !parts.is_empty() && parts.iter().all(Option::is_some);
        let alike = self.by_fingerprint.entry(expr.fingerprint()).or_default();
        let found = alike.iter().copied().find(|at| {
            let class = &self.classes[*at];
            if is_known { same_head(&class.term, expr) && class.parts == parts } else { same(&class.term, expr) }
        });
        let at = found.unwrap_or_else(|| {
            self.classes.push(Class { term: expr.clone(), parts, places: Vec::new(), by: None });
            alike.push(self.classes.len() - 1);
            self.classes.len() - 1
        });
        self.class_of.insert(expr.address(), at);
        at
    }

    /// Decides what is named in each region.
    fn choose(&mut self, body: &Expr, facts: &Facts) {
        self.classes.iter_mut().for_each(|class| class.places.sort_by_key(|(place, _)| *place));
        // the parts of what regions around may name, and where each of these ends with what it added
        let mut waiting = FxHashSet::default();
        let mut around: Vec<(usize, Vec<usize>)> = Vec::new();
        for at in 0..self.regions.len() {
            let region = &self.regions[at];
            while let Some((_, added)) = around.pop_if(|(end, _)| *end <= region.start) {
                added.iter().for_each(|class| {
                    waiting.remove(class);
                });
            }
            let mut wanted = self.wanted(region);
            if at == 0 {
                wanted.extend(self.sometimes(body, &wanted, facts));
            }
            let (mut named, mut parts) = (Vec::new(), FxHashSet::default());
            for class in &wanted {
                if parts.contains(class) || waiting.contains(class) {
                    break;
                }
                self.collect_classes(&self.classes[*class].term, &mut parts);
                named.push(*class);
            }
            wanted.iter().skip(named.len()).for_each(|class| self.collect_classes(&self.classes[*class].term, &mut parts));
            let added: Vec<usize> = parts.into_iter().filter(|class| waiting.insert(*class)).collect();
            if !added.is_empty() {
                around.push((region.end, added));
            }
            self.regions[at].named = named;
        }
    }

    /// Terms that occur twice in a region and are evaluated at least once, the largest first, then in order of occurrence.
    fn wanted(&self, region: &Region) -> Vec<usize> {
        let mut wanted: Vec<usize> = region.always.iter().copied().filter(|class| self.classes[*class].within(region).len() > 1).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let first = |class: &Class| class.within(region).first().map(|(place, _)| *place);
        wanted.sort_by_key(|class| (std::cmp::Reverse(self.classes[*class].term.node_count()), first(&self.classes[*class])));
        wanted
    }

    /// The largest term that stands twice in the whole body, for who may take one that is reached or not.
    fn sometimes(&self, body: &Expr, wanted: &[usize], facts: &Facts) -> Option<usize> {
        let twice = |class: &usize| self.classes[*class].places.len() > 1 && !wanted.contains(class);
        let mut rest: Vec<usize> = (0..self.classes.len()).filter(twice).collect();
        if rest.is_empty() {
            return None;
        }
        rest.sort_by_key(|class| std::cmp::Reverse(self.classes[*class].term.node_count()));
        let mut inside = FxHashSet::default();
        let spine = Spine::of(body);
        spine
            .nodes
            .iter()
            .filter_map(|node| node.term().children().next())
            .chain([&spine.end])
            .for_each(|e| collect_binders(e, &mut inside));
        let is_closed = |class: &usize| !any_free_var(&self.classes[*class].term, &mut |var| inside.contains(var));
        let class = rest.into_iter().find(is_closed)?;
        facts.require("one of them is always evaluated", false, &self.classes[class].term).map(|()| class)
    }

    fn collect_classes(&self, expr: &Expr, found: &mut FxHashSet<usize>) {
        if self.repeats.are_in(expr) {
            found.extend(self.class(expr));
            expr.term().children().for_each(|child| self.collect_classes(child, found));
        }
    }
}

impl Class {
    /// Its places in a region.
    fn within(&self, region: &Region) -> &[(usize, Expr)] {
        let (start, end) = (
            self.places.partition_point(|(place, _)| *place < region.start),
            self.places.partition_point(|(place, _)| *place < region.end),
        );
        self.places.get(start..end).unwrap_or_default()
    }
}
