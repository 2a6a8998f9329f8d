//! Calling an entry: compile, load, pass the columns, take the columns back.
//!
//! In: emitted C, the entry's interface, arguments and what their size names are. Out: the result, or a
//! diagnostic E07xx for the status that the entry returned. Results and the exact workspace are allocated
//! here; the shapes come from the sizes.

use std::ffi::c_void;
use std::os::raw::c_int;

use libloading::{Library, Symbol};

use super::compiler::{self, Artifact, Mode};
use super::flat::{Column, Flat, Shape};
use super::memory::Cells;
use super::shim::Interface;
use super::sizes::Bindings;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

type Call = unsafe extern "C" fn(*const i64, *const f64, *const *mut c_void, *mut c_void, usize) -> c_int;
type Workspace = unsafe extern "C" fn(*const i64) -> usize;

/// One compiled entry, ready to be called; the library is gone when this is.
#[derive(Debug)]
pub struct Loaded {
    interface: Interface,
    span: Span,
    library: Library,
    names: [String; 2],
    /// Kept for as long as the library is loaded.
    _folder: tempfile::TempDir,
}

/// Compiles emitted C in this mode and loads one of its entries; `span` is the entry's place for diagnostics.
pub fn load(source: &str, mode: impl Into<Mode>, interface: Interface, span: Span) -> Result<Loaded, Diagnostic> {
    let mode: Mode = mode.into();
    let names = ["smoothc_call", "smoothc_workspace"].map(|name| {
        let mut name = name.to_string();
        while source.contains(&name) {
            name.push('_');
        }
        name
    });
    let text = format!("{source}{}", interface.shim(&names[0], &names[1]));
    let cannot = |what: String| Diagnostic::error("E0904", Span::NONE, what);
    let folder = tempfile::tempdir().map_err(|error| cannot(format!("cannot make a temporary folder: {error}")))?;
    let path = folder.path().join(format!("program{}", std::env::consts::DLL_SUFFIX));
    compiler::compile(&text, Artifact::SharedLibrary, mode, &path)?;
    let library = open(&path).map_err(|error| {
        cannot(format!("cannot load the compiled program: {error}"))
            .help("set TMPDIR to a folder that programs may be loaded from, and CC to a compiler for this machine")
    })?;
    Ok(Loaded { interface, span, library, names, _folder: folder })
}

/// Loads a library that was just made. What it misses is an error here, not the end of the process at the first call.
fn open(path: &std::path::Path) -> Result<Library, libloading::Error> {
    // SAFETY: the library is the one just made from our own C, which has no initialisers.
    #[cfg(unix)]
    return unsafe { libloading::os::unix::Library::open(Some(path), libloading::os::unix::RTLD_NOW) }.map(Library::from);
    // SAFETY: as above.
    #[cfg(not(unix))]
    return unsafe { Library::new(path) };
}

impl Loaded {
    /// The parameters of the entry.
    pub fn params(&self) -> &[crate::ir::Var] {
        &self.interface.params
    }

    /// Calls the entry once.
    pub fn call(&self, args: &[Flat], bindings: &Bindings) -> Result<Flat, Diagnostic> {
        let mut prepared = self.prepare(args, bindings)?;
        prepared.call()?;
        Ok(prepared.result())
    }

    /// Everything that a call needs, so that several calls measure the entry alone.
    pub fn prepare<'a>(&'a self, args: &'a [Flat], bindings: &Bindings) -> Result<Prepared<'a>, Diagnostic> {
        let internal = |what: &str| Diagnostic::error("E0901", self.span, format!("internal error: {what}")).help("please report it");
        let mut ints: Vec<i64> = Vec::new();
        for size in &self.interface.sizes {
            ints.push(bindings.get(size).ok_or_else(|| internal("a size has no value"))?);
        }
        let mut doubles = Vec::new();
        let real = self.interface.real;
        let (mut given, mut arrays) = (Vec::new(), Vec::new());
        for (at, param) in self.interface.passed() {
            let arg = args.get(at).ok_or_else(|| internal("an argument is missing"))?;
            for (leaf, column) in super::shim::leaves(param.ty(), real).into_iter().zip(&arg.columns) {
                match (leaf, column) {
                    (super::shim::Leaf::Array(_), column) => {
                        let cells = Cells::given(column, real);
                        arrays.push(if cells.is_empty() { std::ptr::null_mut() } else { cells.source().cast_mut() });
                        given.push(cells);
                    }
                    (_, Column::Double(items)) => doubles.extend(items.first()),
                    (_, Column::Index(items)) => ints.extend(items.first()),
                    // no emitted entry takes one
                    (_, Column::Rolled(_)) => return Err(internal("a value of a recursive type")),
                    (_, Column::Bool(items)) => ints.extend(items.first().map(|value| i64::from(*value))),
                }
            }
        }
        let shape = bindings.shape(&self.interface.result).ok_or_else(|| internal("the result's size is not known"))?;
        let mut columns = Vec::new();
        for (column, length) in shape.columns().ok_or_else(|| self.too_large("the result"))? {
            columns.push(Cells::zeros(&column, length, real).ok_or_else(|| self.too_large("the result"))?);
        }
        // SAFETY: the shim has this type; see `shim`.
        let call = unsafe { self.library.get::<Call>(self.names[0].as_bytes()) }.map_err(|_| internal("the program has no entry"))?;
        // SAFETY: as above.
        let measure =
            unsafe { self.library.get::<Workspace>(self.names[1].as_bytes()) }.map_err(|_| internal("the program has no entry"))?;
        // SAFETY: the workspace function reads as many integers as the interface has.
        let bytes = unsafe { measure(ints.as_ptr()) };
        let mut workspace: Vec<u128> = Vec::new();
        if bytes > isize::MAX as usize || workspace.try_reserve_exact(bytes.div_ceil(16)).is_err() {
            return Err(self.too_large("the workspace"));
        }
        arrays.extend(columns.iter_mut().map(|cells| if cells.is_empty() { std::ptr::null_mut() } else { cells.target() }));
        Ok(Prepared { loaded: self, _given: given, call, ints, doubles, arrays, shape, columns, workspace, bytes })
    }

    fn too_large(&self, what: &str) -> Diagnostic {
        Diagnostic::error("E0706", self.span, format!("{what} of `{}` does not fit in memory", self.interface.name))
            .help("call it with smaller sizes")
    }
}

/// A call with its memory.
#[derive(Debug)]
pub struct Prepared<'a> {
    loaded: &'a Loaded,
    _given: Vec<Cells<'a>>,
    call: Symbol<'a, Call>,
    ints: Vec<i64>,
    doubles: Vec<f64>,
    arrays: Vec<*mut c_void>,
    shape: Shape,
    columns: Vec<Cells<'a>>,
    workspace: Vec<u128>,
    bytes: usize,
}

impl Prepared<'_> {
    pub fn call(&mut self) -> Result<(), Diagnostic> {
        let workspace = if self.bytes == 0 { std::ptr::null_mut() } else { self.workspace.as_mut_ptr().cast() };
        // SAFETY: the shim reads as many numbers and pointers as the interface has; every array has the
        // length that the sizes say, results are written only there, and the workspace has the size that the
        // entry asked for.
        let status = unsafe { (self.call)(self.ints.as_ptr(), self.doubles.as_ptr(), self.arrays.as_ptr(), workspace, self.bytes) };
        match status {
            0 => Ok(()),
            status => Err(super::status::diagnostic(status, &self.loaded.interface.name, self.loaded.span)),
        }
    }

    pub fn result(self) -> Flat {
        Flat { shape: self.shape, columns: self.columns.into_iter().map(Cells::column).collect() }
    }
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
