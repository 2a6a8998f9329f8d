//! What an entry of an emitted Futhark file takes and gives, for `--manifest`.
//!
//! In: a core function and the names of its parameters in the file. Out: a name, a type and a shape for each scalar component, the
//! lengths over the sizes and Index parameters, as the manifest of C has them.
//!
//!     f (p: Array<Double * Index, n>)   →   sizes n; p_0: f64 [n], p_1: i64 [n]

use super::boundary::leaf_names;
use super::types::Shape;
use crate::ir::{Function, Type};
use crate::real::Real;

/// An entry as its callers see it.
#[derive(Clone, Debug)]
pub struct EntryInterface {
    pub name: String,
    pub doc: String,
    pub sizes: Vec<String>,
    pub parameters: Vec<Component>,
    pub results: Vec<Component>,
}

/// A scalar, or an array of such.
#[derive(Clone, Debug)]
pub struct Component {
    pub name: String,
    pub ty: &'static str,
    pub shape: Vec<String>,
}

impl EntryInterface {
    /// `parameters` are the names in the file, those of components one after the other.
    pub fn new(function: &Function, name: &str, sizes: Vec<String>, parameters: Vec<String>, result: &Shape, real: Real) -> EntryInterface {
        let mut leaves = Vec::new();
        function.params.iter().for_each(|param| components(param.ty(), &mut Vec::new(), real, &mut leaves));
        let mut found = Vec::new();
        components(&function.result, &mut Vec::new(), real, &mut found);
        let mut names = Vec::new();
        leaf_names(result, "out", function.result_labels(), &mut names);
        let named = |names: Vec<String>, leaves: Vec<Component>| {
            names.into_iter().zip(leaves).map(|(name, leaf)| Component { name, ..leaf }).collect()
        };
        EntryInterface {
            name: name.to_string(),
            doc: function.doc.clone().unwrap_or_default(),
            sizes,
            parameters: named(parameters, leaves),
            results: named(names, found),
        }
    }
}

/// The scalar components of a type inside arrays of these lengths, without names.
fn components(ty: &Type, lengths: &mut Vec<String>, real: Real, found: &mut Vec<Component>) {
    let ty = match ty {
        Type::Double => real.futhark(),
        Type::Index(_) => "i64",
        Type::Bool => "bool",
        Type::Array(element, length) => {
            lengths.push(length.to_string());
            components(element, lengths, real, found);
            lengths.pop();
            return;
        }
        // no entry has one: `driver` refuses it
        Type::Rec(_) => return,
        Type::Tuple(parts) => return parts.iter().for_each(|part| components(part, lengths, real, found)),
    };
    found.push(Component { name: String::new(), ty, shape: lengths.clone() });
}
