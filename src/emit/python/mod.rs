//! `build --python`: a Python package around a shared library, which needs no compiler where it runs.
//!
//! In: emitted C, the core program, the manifest, the bytes of the library, which may be Futhark's for the same entries. Out: the files of
//! a package: `__init__.py` with the entries by name, `__init__.pyi` with their types, the library, its manifest, and `_runtime`, the part
//! of the Python package `smoothc` that calls a library.
//!
//!     dot (a: Vector<n>) (b: Vector<n>) : Double   →   def dot(a: _npt.ArrayLike, b: _npt.ArrayLike, *, out: None = None) -> float:

mod stub;

pub use stub::{IMPORTED, KEYWORDS};

use serde_json::Value;

use super::CFiles;
use super::calls::{self, Call};
use crate::diagnostic::Diagnostic;
use crate::ir::Program;
use crate::real::Real;
use crate::source::Span;

/// The part of the Python package that is copied beside a library.
const RUNTIME: &[(&str, &str)] = &[
    ("__init__.py", include_str!("../../../python/smoothc/_runtime/__init__.py")),
    ("arrays.py", include_str!("../../../python/smoothc/_runtime/arrays.py")),
    ("describe.py", include_str!("../../../python/smoothc/_runtime/describe.py")),
    ("errors.py", include_str!("../../../python/smoothc/_runtime/errors.py")),
    ("futhark.py", include_str!("../../../python/smoothc/_runtime/futhark.py")),
    ("lengths.py", include_str!("../../../python/smoothc/_runtime/lengths.py")),
    ("library.py", include_str!("../../../python/smoothc/_runtime/library.py")),
    ("machine.py", include_str!("../../../python/smoothc/_runtime/machine.py")),
    ("manifest.py", include_str!("../../../python/smoothc/_runtime/manifest.py")),
    ("package.py", include_str!("../../../python/smoothc/_runtime/package.py")),
    ("source.py", include_str!("../../../python/smoothc/_runtime/source.py")),
    ("values.py", include_str!("../../../python/smoothc/_runtime/values.py")),
];

/// How `__init__.py` of every package begins: another one is not replaced.
pub const MARK: &str = "\"\"\"Entries of ";

/// A library for a package.
pub struct Binary<'a> {
    /// The name of its file.
    pub name: &'a str,
    pub bytes: &'a [u8],
    /// The instruction sets that it may use beyond those of any processor of its kind.
    pub needs: Option<Vec<String>>,
    /// What a library of Futhark calls the entries; `None` where it is compiled from the emitted C.
    pub futhark: Option<Vec<String>>,
}

/// The files of a package: their paths in its folder, and what they hold.
pub fn package(
    files: &CFiles,
    program: &Program,
    real: Real,
    manifest: &str,
    library: Binary,
) -> Result<Vec<(String, Vec<u8>)>, Diagnostic> {
    let calls: Vec<Call> = calls::all(files, program, &[]);
    let view = stub::view(&calls, files, real);
    // what is imported meanwhile finds what it reads: the library before the manifest that names it
    let mut made: Vec<(String, Vec<u8>)> = vec![(library.name.into(), library.bytes.to_vec())];
    made.extend(RUNTIME.iter().map(|(name, text)| (format!("_runtime/{name}"), text.as_bytes().to_vec())));
    made.extend([
        ("py.typed".into(), Vec::new()),
        ("__init__.pyi".into(), super::render("python_stub.tera", include_str!("../../../templates/python_stub.tera"), &view)?.into()),
        ("manifest.json".into(), described(manifest, &library)?.into()),
        ("__init__.py".into(), super::render("python_init.tera", include_str!("../../../templates/python_init.tera"), &view)?.into()),
    ]);
    Ok(made)
}

/// The manifest with what is said of the library.
fn described(manifest: &str, library: &Binary) -> Result<String, Diagnostic> {
    let problem = |error| Diagnostic::error("E0901", Span::NONE, format!("internal error: no manifest: {error}"));
    let mut found: serde_json::Map<String, Value> = serde_json::from_str(manifest).map_err(problem)?;
    found.insert("library".into(), library.name.into());
    found.insert("processor".into(), library.needs.clone().into());
    if let Some(names) = &library.futhark {
        found.insert("futhark".into(), names.clone().into());
    }
    serde_json::to_string_pretty(&found).map(|text| text + "\n").map_err(problem)
}
