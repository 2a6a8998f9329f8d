//! The names of the components of an entry's parameters and result, where they are records or a pattern names them.
//!
//! In: what `types` knows of a value. Out: for each component the name or the number that C, Futhark and JSON call it by. Nothing
//! else of a record is left behind `types`: a value is a tuple.
//!
//!     c: Camera       →   c_focal, c_centre      {"focal": 1.0, "centre": [0.0, 0.0]}
//!     (low, high)     →   low, high              [0.0, 1.0]

use std::rc::Rc;

use super::{Labels, Recursive, Type};

impl Labels {
    pub fn element(&self) -> &Labels {
        match self {
            Labels::Array(element) => element,
            Labels::None | Labels::Tuple(_) | Labels::Record(..) | Labels::Sum(..) | Labels::Recursive(_) | Labels::Named(..) => {
                &Labels::None
            }
        }
    }

    /// The field that a component is.
    pub fn field(&self, at: usize) -> Option<&Rc<str>> {
        match self {
            Labels::Record(_, fields) | Labels::Sum(_, _, fields) => fields.get(at).map(|field| &field.0),
            Labels::None | Labels::Array(_) | Labels::Tuple(_) | Labels::Recursive(_) | Labels::Named(..) => None,
        }
    }

    /// What is inside a component.
    pub fn part(&self, at: usize) -> &Labels {
        self.component(at).inside()
    }

    fn component(&self, at: usize) -> &Labels {
        let part = match self {
            Labels::Record(_, fields) | Labels::Sum(_, _, fields) => fields.get(at).map(|field| &field.1),
            Labels::Tuple(parts) => parts.get(at),
            Labels::None | Labels::Array(_) | Labels::Recursive(_) | Labels::Named(..) => None,
        };
        part.unwrap_or(&Labels::None)
    }

    /// Behind a name that a pattern gives.
    fn inside(&self) -> &Labels {
        match self {
            Labels::Named(_, inside) => inside,
            Labels::None | Labels::Array(_) | Labels::Tuple(_) | Labels::Record(..) | Labels::Sum(..) | Labels::Recursive(_) => self,
        }
    }

    /// The name that a pattern gives.
    fn own(&self) -> Option<&Rc<str>> {
        match self {
            Labels::Named(name, _) => Some(name),
            Labels::None | Labels::Array(_) | Labels::Tuple(_) | Labels::Record(..) | Labels::Sum(..) | Labels::Recursive(_) => None,
        }
    }

    /// Whether a value of a sum type is inside, at any depth, that has data beside its tag.
    pub fn has_cases(&self) -> bool {
        match self {
            Labels::Sum(_, _, fields) => fields.len() > 1,
            Labels::Array(element) => element.has_cases(),
            Labels::Tuple(parts) => parts.iter().any(Labels::has_cases),
            Labels::Record(_, fields) => fields.iter().any(|(_, inside)| inside.has_cases()),
            Labels::Named(_, inside) => inside.has_cases(),
            Labels::None | Labels::Recursive(_) => false,
        }
    }

    /// The case of a sum type, from 0, whose data a component is.
    pub fn case_of(&self, at: usize) -> Option<usize> {
        match self {
            Labels::Sum(_, cases, _) => cases.iter().position(|(_, data)| *data == Some(at)),
            Labels::None | Labels::Array(_) | Labels::Tuple(_) | Labels::Record(..) | Labels::Recursive(_) | Labels::Named(..) => None,
        }
    }

    /// The name of a component of what is called `name`: its own in a pattern, `c_focal` in a record, `c_0` elsewhere.
    pub fn name(&self, name: &str, at: usize) -> String {
        match (self.component(at).own(), self.field(at)) {
            (Some(own), _) => own.to_string(),
            (None, Some(field)) => format!("{name}_{field}"),
            (None, None) => format!("{name}_{at}"),
        }
    }

    /// The same with other names in the place of those that patterns give; `None` takes a name away.
    pub fn renamed(&self, rename: &impl Fn(&str) -> Option<String>) -> Labels {
        match self {
            Labels::None => Labels::None,
            Labels::Array(element) => Labels::Array(element.renamed(rename).into()),
            Labels::Tuple(parts) => Labels::tuple(parts.iter().map(|part| part.renamed(rename)).collect()),
            Labels::Record(record, fields) => {
                let renamed = fields.iter().map(|(name, inside)| (name.clone(), inside.renamed(rename)));
                Labels::Record(record.clone(), renamed.collect())
            }
            Labels::Sum(sum, cases, fields) => {
                let renamed = fields.iter().map(|(name, inside)| (name.clone(), inside.renamed(rename)));
                Labels::Sum(sum.clone(), cases.clone(), renamed.collect())
            }
            Labels::Recursive(of) => Labels::Recursive(of.clone()),
            Labels::Named(name, inside) => match rename(name) {
                Some(other) => Labels::Named(other.into(), inside.renamed(rename).into()),
                None => inside.renamed(rename),
            },
        }
    }

    /// A record of one field, which is that field: its name and what is inside.
    pub fn sole(&self) -> Option<(&Rc<str>, &Labels)> {
        match self {
            Labels::Record(_, fields) | Labels::Sum(_, _, fields) if fields.len() == 1 => {
                fields.first().map(|(name, inside)| (name, inside.inside()))
            }
            Labels::None
            | Labels::Array(_)
            | Labels::Tuple(_)
            | Labels::Record(..)
            | Labels::Sum(..)
            | Labels::Recursive(_)
            | Labels::Named(..) => None,
        }
    }

    /// What a value called `name` is called behind records of one field.
    pub fn within(&self, name: &str) -> (String, &Labels) {
        match self.sole() {
            Some((_, inside)) => inside.within(&self.name(name, 0)),
            None => (name.to_string(), self),
        }
    }

    /// Those of a derivative: at each Double of a value of type `ty` there is a value with the labels `by`.
    pub fn with_doubles(&self, ty: &Type, by: &Labels) -> Labels {
        // a tag alone has no Doubles
        if let (Labels::Sum(..), Some(_)) = (self, self.sole()) {
            return self.clone();
        }
        if let (Labels::Record(name, _), Some((field, inside))) = (self, self.sole()) {
            return Labels::Record(name.clone(), vec![(field.clone(), inside.with_doubles(ty, by))]);
        }
        match ty {
            Type::Double => by.clone(),
            Type::Bool | Type::Index(_) => Labels::None,
            Type::Rec(_) => self.clone(),
            Type::Array(element, _) => {
                let element = self.element().with_doubles(element, by);
                if matches!(element, Labels::None) { element } else { Labels::Array(element.into()) }
            }
            Type::Tuple(types) => {
                let parts = types.iter().enumerate().map(|(at, ty)| self.part(at).with_doubles(ty, by));
                match self {
                    Labels::Record(name, fields) => {
                        Labels::Record(name.clone(), fields.iter().map(|field| field.0.clone()).zip(parts).collect())
                    }
                    Labels::Sum(name, cases, fields) => {
                        Labels::Sum(name.clone(), cases.clone(), fields.iter().map(|field| field.0.clone()).zip(parts).collect())
                    }
                    Labels::None | Labels::Array(_) | Labels::Tuple(_) | Labels::Recursive(_) | Labels::Named(..) => {
                        Labels::tuple(parts.collect())
                    }
                }
            }
        }
    }

    pub fn tuple(parts: Vec<Labels>) -> Labels {
        if parts.iter().all(|part| *part == Labels::None) { Labels::None } else { Labels::Tuple(parts) }
    }

    /// The names with each recursive type inside mapped.
    pub(super) fn map_recursive(&self, f: &mut dyn FnMut(&Recursive) -> Rc<Recursive>) -> Labels {
        let mut fields =
            |fields: &[(Rc<str>, Labels)]| fields.iter().map(|(name, inside)| (name.clone(), inside.map_recursive(f))).collect();
        match self {
            Labels::None => Labels::None,
            Labels::Record(record, inside) => Labels::Record(record.clone(), fields(inside)),
            Labels::Sum(sum, cases, inside) => Labels::Sum(sum.clone(), cases.clone(), fields(inside)),
            Labels::Array(element) => Labels::Array(element.map_recursive(f).into()),
            Labels::Tuple(parts) => Labels::Tuple(parts.iter().map(|part| part.map_recursive(f)).collect()),
            Labels::Recursive(of) => Labels::Recursive(f(of)),
            Labels::Named(name, inside) => Labels::Named(name.clone(), inside.map_recursive(f).into()),
        }
    }
}
