//! Calling entries of a Futhark library: compile, load, pass the columns, take the columns back.
//!
//! In: emitted Futhark, its entries' interfaces, arguments. Out: the result, or a diagnostic E07xx for the error that
//! the entry ended with, of the same code as C gives. A context is made anew for each library and closed with it.

use std::ffi::{CStr, c_char, c_void};
use std::os::raw::c_int;
use std::path::Path;

use libloading::Library;

use super::compiler::{self, Limits};
use super::message;
use super::shim::{self, Interface, leaves};
use crate::diagnostic::Diagnostic;
use crate::ir::Status;
use crate::source::Span;
use crate::toolchain::compiler::{Artifact, Mode};
use crate::toolchain::flat::{Flat, Shape};
use crate::toolchain::memory::Cells;
use crate::toolchain::sizes::Bindings;
use crate::toolchain::status;

type Open = unsafe extern "C" fn(*mut *mut c_char) -> *mut c_void;
type Close = unsafe extern "C" fn(*mut c_void);
type Free = unsafe extern "C" fn(*mut c_char);
type Call =
    unsafe extern "C" fn(*mut c_void, i64, *const *const c_void, *const i64, *const *mut c_void, *const i64, *mut *mut c_char) -> c_int;

/// Why a call has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// One of the run-time errors of the language.
    Status(Status),
    TooLarge,
    /// What no emitted program should do.
    Other(String),
}

/// A compiled Futhark program, ready to be called; the library is gone when this is.
#[derive(Debug)]
pub struct Loaded {
    interfaces: Vec<Interface>,
    library: Library,
    opened: *mut c_void,
    /// What opening failed with: a constant of the program may fail.
    broken: Option<Failure>,
    /// Kept for as long as the library is loaded.
    _folder: tempfile::TempDir,
}

/// Compiles emitted Futhark and loads it.
pub fn load(source: &str, backend: &str, mode: impl Into<Mode>, interfaces: Vec<Interface>, limits: Limits) -> Result<Loaded, Diagnostic> {
    let cannot = |what: String| Diagnostic::error("E0904", Span::NONE, what);
    let folder = tempfile::tempdir().map_err(|error| cannot(format!("cannot make a temporary folder: {error}")))?;
    compiler::generate(source, backend, folder.path(), limits)?;
    append(&folder.path().join("program.c"), &shim::shim(&interfaces))
        .map_err(|error| cannot(format!("cannot write to a temporary folder: {error}")))?;
    let path = folder.path().join(format!("program{}", std::env::consts::DLL_SUFFIX));
    compiler::compile(folder.path(), backend, Artifact::SharedLibrary, mode, &path)?;
    let unloadable = |error: libloading::Error| {
        cannot(format!("cannot load the compiled program: {error}"))
            .help("set TMPDIR to a folder that programs may be loaded from, and CC to a compiler for this machine")
    };
    // SAFETY: the library is the one just made, which has no initialisers.
    let library = unsafe { Library::new(&path) }.map_err(unloadable)?;
    let mut loaded = Loaded { interfaces, library, opened: std::ptr::null_mut(), broken: None, _folder: folder };
    let mut error = std::ptr::null_mut();
    // SAFETY: the shim has these types; see `shim`.
    loaded.opened = unsafe {
        let open = loaded.library.get::<Open>(b"smoothc_open").map_err(unloadable)?;
        open(&mut error)
    };
    loaded.broken = loaded.taken(error).map(|message| failure(2, &message));
    Ok(loaded)
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    let mut whole = std::fs::read_to_string(path)?;
    whole.push_str(text);
    std::fs::write(path, whole)
}

impl Loaded {
    /// Calls an entry, by its number, and gives its value or a diagnostic at its place, by its name in the source.
    pub fn call(&self, entry: usize, args: &[Flat], bindings: &Bindings, (name, span): (&str, Span)) -> Result<Flat, Diagnostic> {
        self.try_call(entry, args, bindings).map_err(|failure| match failure {
            Failure::Status(kind) => status::diagnostic(kind as i32, name, span),
            Failure::TooLarge => {
                Diagnostic::error("E0706", span, format!("`{name}` needs more memory than there is")).help("call it with smaller sizes")
            }
            Failure::Other(what) => {
                Diagnostic::error("E0901", span, format!("internal error: `{name}` stopped: {what}")).help("please report it")
            }
        })
    }

    /// Calls an entry, by its number.
    pub fn try_call(&self, entry: usize, args: &[Flat], bindings: &Bindings) -> Result<Flat, Failure> {
        let internal = |what: &str| Failure::Other(what.to_string());
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let interface = self.interfaces.get(entry).ok_or_else(|| internal("there is no such entry"))?;
        let mut given: Vec<Cells> = Vec::new();
        let mut in_dims: Vec<i64> = Vec::new();
        for arg in args {
            given.extend(arg.columns.iter().map(|column| Cells::given(column, interface.real)));
            dims(&arg.shape, &mut Vec::new(), &mut in_dims);
        }
        let ins: Vec<*const c_void> = given.iter().map(Cells::source).collect();
        let wanted: usize = interface.params.iter().map(|param| leaves(param.ty()).len()).sum();
        if ins.len() != wanted {
            return Err(internal("an argument is missing"));
        }
        let shape = bindings.shape(&interface.result).ok_or_else(|| internal("the result's size is not known"))?;
        let mut columns = Vec::new();
        for (column, length) in shape.columns().ok_or(Failure::TooLarge)? {
            columns.push(Cells::zeros(&column, length, interface.real).ok_or(Failure::TooLarge)?);
        }
        let mut out_dims = Vec::new();
        dims(&shape, &mut Vec::new(), &mut out_dims);
        let outs: Vec<*mut c_void> = columns.iter_mut().map(Cells::target).collect();
        let mut error = std::ptr::null_mut();
        // SAFETY: the shim reads as many pointers and lengths as the interface has, and writes results only where the
        // lengths are those given, which are those of the columns.
        let status = unsafe {
            let call = self.library.get::<Call>(b"smoothc_call").map_err(|error| internal(&error.to_string()))?;
            call(self.opened, entry as i64, ins.as_ptr(), in_dims.as_ptr(), outs.as_ptr(), out_dims.as_ptr(), &mut error)
        };
        let message = self.taken(error).unwrap_or_default();
        if status == 0 {
            Ok(Flat { shape, columns: columns.into_iter().map(Cells::column).collect() })
        } else {
            Err(failure(status, &message))
        }
    }

    /// The text of an error, which is freed.
    fn taken(&self, error: *mut c_char) -> Option<String> {
        if error.is_null() {
            return None;
        }
        // SAFETY: the context gave a string that is ours, from the same allocator as the shim's `free`.
        unsafe {
            let text = CStr::from_ptr(error).to_string_lossy().into_owned();
            if let Ok(free) = self.library.get::<Free>(b"smoothc_free") {
                free(error);
            }
            Some(text)
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.opened.is_null() {
            return;
        }
        // SAFETY: the context was opened by the same library and is used no more.
        unsafe {
            if let Ok(close) = self.library.get::<Close>(b"smoothc_close") {
                close(self.opened);
            }
        }
    }
}

fn failure(status: c_int, message: &str) -> Failure {
    const OUT_OF_MEMORY: c_int = 3;
    match (status, message::status(message)) {
        (OUT_OF_MEMORY, _) => Failure::TooLarge,
        (-1, _) => Failure::Other("its result has other lengths than its type".to_string()),
        (_, Some(kind)) => Failure::Status(kind),
        (_, None) => Failure::Other(message.trim().to_string()),
    }
}

/// The lengths of each array of scalars that stands for a value.
fn dims(shape: &Shape, around: &mut Vec<i64>, found: &mut Vec<i64>) {
    match shape {
        Shape::Double | Shape::Index | Shape::Bool | Shape::Rolled => found.extend(around.iter()),
        Shape::Array(length, element) => {
            around.push(*length as i64);
            dims(element, around, found);
            around.pop();
        }
        Shape::Tuple(parts) => parts.iter().for_each(|part| dims(part, around, found)),
    }
}
