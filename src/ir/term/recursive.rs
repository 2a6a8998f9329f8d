//! Types that contain themselves: known by name, with a form that is unrolled once.
//!
//! In: the tuples of a tag and data that `types` makes of sum types, where those that contain themselves stand by name. Out: a
//! [`Recursive`] for each, which knows its unrolled form and the names in it. The types are iso-recursive: a term rolls a value of
//! the tuple into one of the name and unrolls it again ([`Iso`](super::Iso)). Where the data of another case have such a type, there is
//! no value, but its absence: zeros would never end.
//!
//!     type Tree = | Leaf of Double | Node of Tree * Tree   →   Tree unrolls to Index<2> * Double * (Tree * Tree)
//!
//! A definition holds its own names without their definitions, so that no type owns itself. Limits: a recursive type has no sizes;
//! the lengths of arrays in it are each value's own. [`eval`](crate::ir::eval) runs programs that have one; the stage `recursion` puts
//! numbers of nodes in the place of values, and no later stage has one.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

use super::{Atom, Definition, Labels, Recursive, Size, Type, Var, fresh_id};

impl Recursive {
    /// A type of this name, which is [defined](Recursive::define) later.
    pub fn declare(name: &Rc<str>) -> Rc<Recursive> {
        Rc::new(Recursive { name: name.clone(), id: fresh_id(), all: OnceCell::new() })
    }

    /// Says what each of these types is, unrolled, and the names in there. Lengths that no number says are variables.
    pub fn define(types: Vec<(Rc<Recursive>, Type, Labels)>) {
        let bare = |of: &Recursive| Rc::new(Recursive { name: of.name.clone(), id: of.id, all: OnceCell::new() });
        let mut with_double: Vec<u32> = Vec::new();
        loop {
            let knows = |of: &Recursive| with_double.contains(&of.id);
            let more = types.iter().find(|(of, unrolled, _)| !knows(of) && has_double(unrolled, &knows)).map(|(of, ..)| of.id);
            let Some(more) = more else { break };
            with_double.push(more);
        }
        let definitions = types.iter().map(|(of, unrolled, labels)| Definition {
            id: of.id,
            unrolled: unrolled.map_recursive(&mut |of| bare(of)),
            labels: labels.map_recursive(&mut |of| bare(of)),
            has_double: with_double.contains(&of.id),
        });
        let all: Rc<[Definition]> = definitions.collect();
        for (of, ..) in &types {
            of.all.get_or_init(|| all.clone());
        }
    }

    pub fn name(&self) -> &Rc<str> {
        &self.name
    }

    fn definition(&self) -> Option<&Definition> {
        self.all.get()?.iter().find(|definition| definition.id == self.id)
    }

    /// A type that stands in a definition.
    fn inside(&self, of: &Recursive) -> Rc<Recursive> {
        Rc::new(Recursive { name: of.name.clone(), id: of.id, all: self.all.clone() })
    }

    /// The tuple of tag and data, its lengths over variables of the definition's own; `()` where the declaration is wrong.
    pub fn defined(&self) -> Type {
        match self.definition() {
            Some(definition) => definition.unrolled.map_recursive(&mut |of| self.inside(of)),
            None => Type::tuple(Vec::new()),
        }
    }

    /// The same for a value at hand, which has lengths of its own.
    pub fn unrolled(&self) -> Type {
        let mut known: Vec<(Var, Size)> = Vec::new();
        self.defined().map_sizes(&mut |size| {
            size.substitute(&mut |atom| match atom {
                Atom::Var(var) => Some(match known.iter().find(|(other, _)| other == var) {
                    Some((_, size)) => size.clone(),
                    None => {
                        known.push((var.clone(), Size::unknown()));
                        known.last().map_or_else(Size::unknown, |(_, size)| size.clone())
                    }
                }),
                Atom::Unknown(_) | Atom::Term(_) => None,
            })
        })
    }

    /// The names inside its unrolled form.
    pub fn labels(&self) -> Labels {
        self.definition().map_or(Labels::None, |definition| definition.labels.map_recursive(&mut |of| self.inside(of)))
    }

    /// Whether a value of it may have a Double.
    pub fn has_double(&self) -> bool {
        self.definition().is_some_and(|definition| definition.has_double)
    }
}

fn has_double(ty: &Type, known: &dyn Fn(&Recursive) -> bool) -> bool {
    match ty {
        Type::Double => true,
        Type::Bool | Type::Index(_) => false,
        Type::Array(element, _) => has_double(element, known),
        Type::Tuple(parts) => parts.iter().any(|part| has_double(part, known)),
        Type::Rec(of) => known(of),
    }
}

/// Definitions repeat the names in them without end.
impl fmt::Debug for Recursive {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}#{}", self.name, self.id)
    }
}

impl PartialEq for Recursive {
    fn eq(&self, other: &Recursive) -> bool {
        self.id == other.id
    }
}

impl Eq for Recursive {}
