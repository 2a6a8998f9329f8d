//! The library as a list: what `smoothc explain library` prints and docs/library.md holds.
//!
//! In: nothing but the text of `linalg.smooth`. Out: each function with its inferred type and its doc comment, in the order of
//! the file. Names that begin with `_` are the library's own.
//!
//!     /// The inner product.
//!     let vectorDot (v: Vector<n>) (w: Vector<n>) = …   →   vectorDot, "(v: Vector<n>) (w: Vector<n>) : Double", "The inner product."

use super::builtin::{self, Builtin};
use super::holes::Holes;
use super::mentioned::{LIBRARY, LINALG};
use super::show::show;
use super::ty::Ty;
use super::{Options, elaborate};
use crate::diagnostic::Diagnostics;
use crate::ir::prim::Derivative;
use crate::source::SourceMap;

/// One function of the library.
#[derive(Clone, Debug)]
pub struct Described {
    pub name: String,
    /// Its parameters and its result, as `smoothc check` prints them.
    pub signature: String,
    /// Its doc comment.
    pub doc: String,
}

/// Every function that programs may use.
pub fn library() -> Result<Vec<Described>, Diagnostics> {
    let mut sources = SourceMap::default();
    let main = sources.add(LIBRARY, LINALG);
    let load = &mut |_: &str, _: &str| Err("the library opens no file".to_string());
    let signatures = elaborate(&mut sources, main, None, load, &Options::default())?.signatures;
    let (module, _) = crate::syntax::parse_recovering(LINALG, main);
    let described = module.decls.iter().filter(|decl| !decl.name.text.starts_with('_')).filter_map(|decl| {
        let signature = signatures.iter().find(|signature| *signature.name == *decl.name.text)?;
        let text = signature.text.strip_prefix("let ")?.strip_prefix(&*decl.name.text)?;
        Some(Described {
            name: decl.name.text.to_string(),
            signature: text.split("    //").next().unwrap_or(text).trim().to_string(),
            doc: decl.doc.clone().unwrap_or_default(),
        })
    });
    Ok(described.collect())
}

/// Every name that is always in scope: its type as that of a function, and the law of its derivative where it has one.
pub fn built_in() -> Vec<Described> {
    let constants = builtin::CONSTANTS.iter().map(|(name, value)| Described {
        name: (*name).to_string(),
        signature: "Double".to_string(),
        doc: format!("{value:?}."),
    });
    let functions = builtin::names().into_iter().filter_map(|name| {
        let found = builtin::lookup(name)?;
        let mut holes = Holes::default();
        let (params, result, _) = builtin::signature(found, &mut holes, 0);
        Some(Described { name: name.to_string(), signature: show(&holes, &Ty::fun(params, result), &mut Vec::new()), doc: law(found) })
    });
    constants.chain(functions).collect()
}

/// One sentence on a built-in name.
fn law(found: Builtin) -> String {
    let said = match found {
        Builtin::Prim(prim) => {
            return match prim.row().derivative {
                Derivative::Zero => "It has no derivative.".to_string(),
                Derivative::Unary(law) => format!("Its derivative, for the operand x with the tangent dx and the result r: `{law}`."),
                Derivative::Binary { both, .. } => {
                    format!("Its derivative, for the operands x and y with the tangents dx and dy and the result r: `{both}`.")
                }
            };
        }
        Builtin::Api(api) => return format!("A derivative of {}.", api.takes()),
        Builtin::Operator(_) => "An operator as a function.",
        Builtin::Build => "The array of f 0, …, f (n-1).",
        Builtin::Ifold => "A loop: the state z after the steps f z 0, f … 1, …, f … (n-1).",
        Builtin::Get => "One element; also written `a[i]`.",
        Builtin::Update => "The array with element i replaced by x.",
        Builtin::Accumulate => "The array with x added to element i.",
        Builtin::Length => "The number of elements.",
        Builtin::MatrixCols => "The number of columns.",
        Builtin::Pair => "The two values as a pair; also written `(a, b)`.",
        Builtin::Fst => "The first component of a pair.",
        Builtin::Snd => "The second component of a pair.",
    };
    said.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::with_large_stack;

    #[test]
    fn every_function_has_a_type_and_a_sentence() {
        with_large_stack(|| {
            let library = library().expect("the library is well-typed");
            let public = LINALG.lines().filter(|line| line.starts_with("let ") && !line.starts_with("let _")).count();
            assert_eq!(library.len(), public);
            for function in &library {
                assert!(function.signature.contains(" : "), "{}: {}", function.name, function.signature);
                assert!(function.doc.ends_with('.'), "{}: {}", function.name, function.doc);
            }
            let dot = library.iter().find(|function| function.name == "vectorDot").expect("a product");
            assert_eq!(dot.signature, "(v: Vector<n>) (w: Vector<n>) : Double");
            assert_eq!(dot.doc, "The inner product.");
        });
    }
}
