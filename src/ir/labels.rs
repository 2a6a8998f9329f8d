//! The names of the components of an entry's parameters and result, where they are records.
//!
//! In: what `types` knows of a value. Out: for each component the name or the number that C, Futhark and JSON call it by. Nothing
//! else of a record is left behind `types`: a value is a tuple.
//!
//!     c: Camera   →   c_focal, c_centre      {"focal": 1.0, "centre": [0.0, 0.0]}

use std::rc::Rc;

use super::types::Type;

/// The names inside one value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// Nothing inside has a name.
    #[default]
    None,
    /// Those of an array's elements.
    Array(Rc<Labels>),
    Tuple(Vec<Labels>),
    /// The record's name, its fields.
    Record(Rc<str>, Vec<(Rc<str>, Labels)>),
}

impl Labels {
    pub fn element(&self) -> &Labels {
        match self {
            Labels::Array(element) => element,
            Labels::None | Labels::Tuple(_) | Labels::Record(..) => &Labels::None,
        }
    }

    /// The field that a component is.
    pub fn field(&self, at: usize) -> Option<&Rc<str>> {
        match self {
            Labels::Record(_, fields) => fields.get(at).map(|field| &field.0),
            Labels::None | Labels::Array(_) | Labels::Tuple(_) => None,
        }
    }

    pub fn part(&self, at: usize) -> &Labels {
        let part = match self {
            Labels::Record(_, fields) => fields.get(at).map(|field| &field.1),
            Labels::Tuple(parts) => parts.get(at),
            Labels::None | Labels::Array(_) => None,
        };
        part.unwrap_or(&Labels::None)
    }

    /// The name of a component of what is called `name`: `c_focal`, or `c_0` where it has none.
    pub fn name(&self, name: &str, at: usize) -> String {
        self.field(at).map_or_else(|| format!("{name}_{at}"), |field| format!("{name}_{field}"))
    }

    /// A record of one field, which is that field: its name and what is inside.
    pub fn sole(&self) -> Option<(&Rc<str>, &Labels)> {
        match self {
            Labels::Record(_, fields) if fields.len() == 1 => fields.first().map(|(name, inside)| (name, inside)),
            Labels::None | Labels::Array(_) | Labels::Tuple(_) | Labels::Record(..) => None,
        }
    }

    /// What a value called `name` is called behind records of one field.
    pub fn within(&self, name: &str) -> (String, &Labels) {
        match self.sole() {
            Some((field, inside)) => inside.within(&format!("{name}_{field}")),
            None => (name.to_string(), self),
        }
    }

    /// Those of a derivative: at each Double of a value of type `ty` there is a value with the labels `by`.
    pub fn with_doubles(&self, ty: &Type, by: &Labels) -> Labels {
        if let (Labels::Record(name, _), Some((field, inside))) = (self, self.sole()) {
            return Labels::Record(name.clone(), vec![(field.clone(), inside.with_doubles(ty, by))]);
        }
        match ty {
            Type::Double => by.clone(),
            Type::Bool | Type::Index(_) => Labels::None,
            Type::Array(element, _) => match self.element().with_doubles(element, by) {
                Labels::None => Labels::None,
                element => Labels::Array(element.into()),
            },
            Type::Tuple(types) => {
                let parts = types.iter().enumerate().map(|(at, ty)| self.part(at).with_doubles(ty, by));
                match self {
                    Labels::Record(name, fields) => {
                        Labels::Record(name.clone(), fields.iter().map(|field| field.0.clone()).zip(parts).collect())
                    }
                    Labels::None | Labels::Array(_) | Labels::Tuple(_) => Labels::tuple(parts.collect()),
                }
            }
        }
    }

    pub fn tuple(parts: Vec<Labels>) -> Labels {
        if parts.iter().all(|part| *part == Labels::None) { Labels::None } else { Labels::Tuple(parts) }
    }
}
