//! Types as Futhark infers them, with each length as the text that Futhark compares.
//!
//! In: core types, whose lengths are polynomials. Out: [`Shape`]s. Two lengths that are equal polynomials are printed
//! alike, so that they are one size for Futhark too; a length that it cannot see is `None`, and is coerced where
//! another is wanted.
//!
//!     Array<Array<Double, 2 * n>, m>   →   [m][2 * n]f64

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    Double,
    Index,
    Bool,
    Array(Box<Shape>, Option<String>),
    Tuple(Vec<Shape>),
}

impl Shape {
    pub fn array(element: Shape, length: Option<String>) -> Shape {
        Shape::Array(Box::new(element), length)
    }

    /// As Futhark writes it; a length that is not known is left open.
    pub fn text(&self) -> String {
        match self {
            Shape::Double => "f64".to_string(),
            Shape::Index => "i64".to_string(),
            Shape::Bool => "bool".to_string(),
            Shape::Array(element, length) => format!("[{}]{}", length.as_deref().unwrap_or_default(), element.text()),
            Shape::Tuple(parts) => format!("({})", parts.iter().map(Shape::text).collect::<Vec<_>>().join(", ")),
        }
    }

    /// The same with a `*` before those of its leaves that are arrays and for which there is one.
    pub fn starred(&self, stars: &mut dyn Iterator<Item = bool>) -> String {
        match self {
            Shape::Tuple(parts) => format!("({})", parts.iter().map(|part| part.starred(stars)).collect::<Vec<_>>().join(", ")),
            Shape::Array(..) if stars.next() == Some(true) => format!("*{}", self.text()),
            Shape::Array(..) => self.text(),
            Shape::Double | Shape::Index | Shape::Bool => {
                stars.next();
                self.text()
            }
        }
    }

    /// Whether every length is known.
    pub fn is_known(&self) -> bool {
        match self {
            Shape::Double | Shape::Index | Shape::Bool => true,
            Shape::Array(element, length) => length.is_some() && element.is_known(),
            Shape::Tuple(parts) => parts.iter().all(Shape::is_known),
        }
    }

    /// Whether a value of this type goes where `wanted` is written.
    pub fn fits(&self, wanted: &Shape) -> bool {
        match (self, wanted) {
            (Shape::Array(a, n), Shape::Array(b, m)) => (m.is_none() || n == m) && a.fits(b),
            (Shape::Tuple(a), Shape::Tuple(b)) => a.iter().zip(b).all(|(a, b)| a.fits(b)),
            _ => true,
        }
    }

    /// The lengths that `self` knows, and where it does not those of `other`.
    pub fn or(&self, other: &Shape) -> Shape {
        match (self, other) {
            (Shape::Array(a, n), Shape::Array(b, m)) => Shape::array(a.or(b), n.clone().or_else(|| m.clone())),
            (Shape::Tuple(a), Shape::Tuple(b)) => Shape::Tuple(a.iter().zip(b).map(|(a, b)| a.or(b)).collect()),
            _ => self.clone(),
        }
    }

    /// The type of a component.
    pub fn part(&self, at: usize) -> Shape {
        match self {
            Shape::Tuple(parts) => parts.get(at).cloned().unwrap_or(Shape::Double),
            Shape::Double | Shape::Index | Shape::Bool | Shape::Array(..) => Shape::Double,
        }
    }

    /// The type of an element.
    pub fn element(&self) -> Shape {
        match self {
            Shape::Array(element, _) => (**element).clone(),
            Shape::Double | Shape::Index | Shape::Bool | Shape::Tuple(_) => Shape::Double,
        }
    }

    /// Whether a tuple is anywhere inside.
    pub fn has_tuple(&self) -> bool {
        match self {
            Shape::Double | Shape::Index | Shape::Bool => false,
            Shape::Array(element, _) => element.has_tuple(),
            Shape::Tuple(_) => true,
        }
    }

    /// The scalars and arrays of scalars that an entry point has for this type, depth first.
    pub fn leaves(&self) -> Vec<Shape> {
        match self {
            Shape::Double | Shape::Index | Shape::Bool => vec![self.clone()],
            Shape::Array(element, length) => element.leaves().into_iter().map(|leaf| Shape::array(leaf, length.clone())).collect(),
            Shape::Tuple(parts) => parts.iter().flat_map(Shape::leaves).collect(),
        }
    }
}
