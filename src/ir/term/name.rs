//! What a value is called, and its components where they have names of their own.
//!
//! In: a name of the source, with the pattern that takes the value apart. Out: the name of a component: its own where it has one, else
//! a number after the whole's.
//!
//!     fun (sum, (low, _)) i -> …   the state is called acc: its components sum, low and acc_1_1

use std::collections::BTreeSet;
use std::rc::Rc;

use super::{Expr, Labels, Name, Term, Type};

impl Name {
    /// A name whose components are called as their labels say.
    pub fn with_labels(text: &str, labels: Labels) -> Name {
        Name { inside: (labels != Labels::None).then(|| labels.into()), ..Name::from(text) }
    }

    /// A name that says nothing, of a value that the program does not name.
    pub fn placeholder(text: &str) -> Name {
        Name { is_placeholder: true, ..Name::from(text) }
    }

    /// A tuple whose components have these names.
    pub fn of_parts(text: &str, parts: impl IntoIterator<Item = Name>) -> Name {
        Name::with_labels(
            text,
            Labels::tuple(parts.into_iter().map(|part| Labels::Named(part.text.clone(), part.labels().into())).collect()),
        )
    }

    pub fn text(&self) -> &Rc<str> {
        &self.text
    }

    pub fn is_placeholder(&self) -> bool {
        self.is_placeholder
    }

    /// Whether some component has a name of its own.
    pub fn has_parts(&self) -> bool {
        self.inside.is_some()
    }

    /// What a component is called; of an array of tuples, the array of those components.
    pub fn part(&self, at: usize) -> Name {
        match &self.inside {
            Some(labels) if labels.element() != &Labels::None => Name::with_labels(&self.text, labels.element().clone()).part(at),
            Some(labels) => Name::with_labels(&labels.name(&self.text, at), labels.part(at).clone()),
            None => Name::from(format!("{}_{at}", self.text)),
        }
    }

    /// What an element of an array is called, where its index has a name or is a literal: `cam_2`, `m_i_0`.
    pub fn element(&self, index: &Expr) -> Option<Name> {
        match index.term() {
            Term::Index(index) => Some(format!("{}_{index}", self.text).into()),
            // `m_i_i` would be an element of the diagonal
            Term::Var(index) => {
                let suffix = format!("_{}", index.name());
                (!self.text.ends_with(&suffix)).then(|| format!("{}{suffix}", self.text).into())
            }
            _ => None,
        }
    }

    /// What the tuple of some components is called, or the component where it is one.
    pub fn only(&self, wanted: &BTreeSet<usize>) -> Name {
        let mut parts = wanted.iter().map(|at| self.part(*at));
        match (&self.inside, wanted.len()) {
            (None, _) => self.clone(),
            (Some(_), 1) => parts.next().unwrap_or_else(|| self.clone()),
            (Some(_), _) => Name::of_parts(&self.text, parts),
        }
    }

    /// The name with this behind it, and behind those of components.
    pub fn with_suffix(&self, suffix: &str) -> Name {
        let renamed = |text: &str| format!("{text}{suffix}");
        Name::with_labels(&renamed(&self.text), self.labels().renamed(&|text| Some(renamed(text))))
    }

    /// What the component at the end of a path through tuples is called.
    pub fn at(&self, path: &[usize]) -> Name {
        path.iter().fold(self.clone(), |name, at| name.part(*at))
    }

    /// What the blocks of memory of an array are called: those of its components, depth first.
    pub fn of_blocks(&self, ty: &Type) -> Vec<Name> {
        let labels = self.labels();
        let (text, labels) = labels.within(&self.text);
        let inside = |labels: &Labels| Name::with_labels(&text, labels.clone());
        match ty {
            Type::Array(element, _) => inside(labels.element()).of_blocks(element),
            Type::Tuple(types) => {
                let name = inside(labels);
                types.iter().enumerate().flat_map(|(at, ty)| name.part(at).of_blocks(ty)).collect()
            }
            Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => vec![Name::from(text)],
        }
    }

    /// The name for a value of another type, with those of the components that both have. An array may have become a tuple.
    pub(super) fn for_type(&self, old: &Type, new: &Type) -> Name {
        match (old, new) {
            _ if self.inside.is_none() || are_alike(old, new, false) => self.clone(),
            (Type::Tuple(old), Type::Tuple(new))
                if old.len() == new.len() && old.iter().zip(new.iter()).all(|(a, b)| are_alike(a, b, true)) =>
            {
                let parts = old.iter().zip(new.iter()).enumerate().map(|(at, (old, new))| self.part(at).for_type(old, new));
                Name::of_parts(&self.text, parts)
            }
            _ => Name::from(&*self.text),
        }
    }

    fn labels(&self) -> Labels {
        self.inside.as_deref().cloned().unwrap_or_default()
    }
}

impl From<&Name> for Name {
    fn from(name: &Name) -> Name {
        name.clone()
    }
}

impl<T: AsRef<str> + ?Sized> From<&T> for Name {
    fn from(text: &T) -> Name {
        Name { text: text.as_ref().into(), inside: None, is_placeholder: false }
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name::from(&text)
    }
}

impl std::ops::Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Whether the types have the same components; `apart`: an array in the first may be a tuple of its elements in the second.
fn are_alike(a: &Type, b: &Type, apart: bool) -> bool {
    match (a, b) {
        (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| are_alike(a, b, apart)),
        (Type::Array(a, _), Type::Array(b, _)) => are_alike(a, b, apart),
        (Type::Array(..), Type::Tuple(_)) => apart,
        (Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) | Type::Tuple(_) | Type::Array(..), _) => {
            std::mem::discriminant(a) == std::mem::discriminant(b)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Size;

    fn texts(name: &Name, count: usize) -> Vec<String> {
        (0..count).map(|at| name.part(at).to_string()).collect()
    }

    #[test]
    fn components_have_their_own_names_or_numbers() {
        let inner = Name::of_parts("t", ["low".into(), "high".into()]);
        let name = Name::of_parts("acc", ["sum".into(), inner]);
        assert_eq!(texts(&name, 3), ["sum", "t", "acc_2"]);
        assert_eq!((name.at(&[1, 0]).to_string(), name.at(&[1, 1]).to_string()), ("low".into(), "high".into()));
        assert_eq!(texts(&name.with_suffix("_init"), 2), ["sum_init", "t_init"]);
        assert_eq!(name.only(&BTreeSet::from([0])).to_string(), "sum");
        assert_eq!(texts(&Name::from("p"), 2), ["p_0", "p_1"]);
    }

    /// No component has the name of another one where a pass wraps a state, or changes it.
    #[test]
    fn names_go_with_the_components_that_types_share() {
        let few = Type::array(Type::Double, Size::constant(2));
        let old = Type::tuple(vec![Type::INDEX, few.clone()]);
        let name = Name::of_parts("acc", ["p".into(), "w".into()]);
        let kept = |new: &Type| texts(&name.for_type(&old, new), 2);
        assert_eq!(kept(&old), ["p", "w"]);
        // an array of a few numbers as a tuple of them
        let apart = Type::tuple(vec![Type::INDEX, Type::tuple(vec![Type::Double; 2])]);
        assert_eq!(kept(&apart), ["p", "w"]);
        assert_eq!(name.for_type(&old, &apart).at(&[1, 0]).to_string(), "w_0");
        // another component before the state, components of other kinds, one more
        for other in [vec![Type::Bool, old.clone()], vec![Type::Double, few.clone()], vec![Type::INDEX, few.clone(), Type::Double]] {
            assert_eq!(kept(&Type::tuple(other)), ["acc_0", "acc_1"]);
        }
    }
}
