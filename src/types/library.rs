//! The library as a list: what `smoothc explain library` prints and docs/library.md holds.
//!
//! In: nothing but the text of `linalg.smooth`. Out: each function with its inferred type and its doc comment, in the order of
//! the file. Names that begin with `_` are the library's own.
//!
//!     /// The inner product.
//!     let vectorDot (v: Vector<n>) (w: Vector<n>) = …   →   vectorDot, "(v: Vector<n>) (w: Vector<n>) : Double", "The inner product."

use super::modules::{LIBRARY, LINALG};
use super::{Options, elaborate};
use crate::diagnostic::Diagnostics;
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
    let signatures = elaborate(&mut sources, main, load, &Options::default())?.signatures;
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
