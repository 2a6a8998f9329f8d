//! `smoothc build FILE --python DIR`: a Python package in a folder, around a shared library of emitted C, or of Futhark.
//!
//! In: the command, the folder. Out: the files of the package in it, all or none. A folder whose `__init__.py` is not smoothc's stays as
//! it is.
//!
//! The library's name is decided by its bytes: a process that has loaded an older one would be given that again under the same name. Where
//! a package was built before, its older libraries are removed once the new one is whole.
//!
//! What is passed and what comes back is said of C. With `--target futhark` the program is compiled to both: the C says how values become
//! arguments, the library is Futhark's, and `_runtime/futhark.py` calls it as if it were the C.

use std::env::consts::DLL_SUFFIX;
use std::io::ErrorKind;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::files::{self, Reads};
use super::options::{BuildCommand, Display, Target};
use super::output::{self, Output};
use super::session;
use super::wanted::Wanted;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::emit::python::{self, Binary};
use crate::source::{SourceMap, Span};
use crate::toolchain::compiler::{self, Artifact, Mode};
use crate::toolchain::{futhark, processor};

pub fn run(command: &BuildCommand, folder: &Path, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let one = |problem| vec![problem];
    let was_there = check_folder(folder).map_err(one)?;
    let beside = command.manifest.output()?;
    let wanted = Wanted { stage: "emit", emission: Some(&command.emission), manifest: beside.is_some(), python: true, ..Wanted::default() };
    let mut reads = Reads::default();
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    let temporary = tempfile::tempdir().map_err(|error| one(files::cannot_write(Path::new("a temporary folder"), &error)))?;
    let library = temporary.path().join(format!("library{DLL_SUFFIX}"));
    let mode = Mode::of(&command.source, &command.compilation);
    let (in_c, futhark) = match command.emission.target {
        Target::C => {
            compiler::compile(&session.emitted()?.source, Artifact::SharedLibrary, mode, &library).map_err(one)?;
            (None, None)
        }
        Target::Futhark => {
            let file = session.emitted_futhark()?;
            let backend = command.emission.backend();
            futhark::compiler::build(&file.source, backend, Artifact::SharedLibrary, mode, &library).map_err(one)?;
            let names = file.interfaces.iter().map(|entry| entry.name.clone()).collect();
            (Some(session::again(&session, |options| options.target = Target::C.into(), "emit", &mut reads)?), Some(names))
        }
    };
    let of_c = in_c.as_ref().unwrap_or(&session);
    let needs = if command.compilation.portable { None } else { processor::features() };
    let bytes = files::made(&library).map_err(one)?;
    let name = library_name(&bytes);
    let binary = Binary { name: &name, bytes: &bytes, needs, futhark };
    let made = python::package(of_c.emitted()?, &of_c.program, of_c.options.real, &of_c.manifest()?, binary).map_err(one)?;
    let manifest = session.manifest()?;
    for part in [folder.to_path_buf(), folder.join("_runtime")] {
        std::fs::create_dir_all(&part).map_err(|error| one(files::cannot_write(&part, &error)))?;
    }
    let places: Vec<Output> = made.iter().map(|(name, _)| Output::File(folder.join(name))).collect();
    let mut outputs: Vec<(&Output, &[u8])> = places.iter().zip(&made).map(|(place, (_, bytes))| (place, bytes.as_slice())).collect();
    outputs.extend(beside.as_ref().map(|beside| (beside, manifest.as_bytes())));
    output::write(&outputs, &reads)?;
    if was_there {
        remove_older(folder, &name);
    }
    Ok(())
}

/// The file of a library with these bytes.
fn library_name(bytes: &[u8]) -> String {
    let digits: String = Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("library-{digits}{DLL_SUFFIX}")
}

/// Whether a file is a library that a build has put into a package.
fn is_library(name: &str) -> bool {
    let digits = name.strip_prefix("library").and_then(|rest| rest.strip_suffix(DLL_SUFFIX));
    let digits = digits.map(|digits| digits.strip_prefix('-').unwrap_or(digits));
    digits.is_some_and(|digits| matches!(digits.len(), 0 | 16) && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Removes the libraries of earlier builds, and what Python has kept of their `__init__.py`: it takes one of the same second and length
/// for the new one. What cannot be removed, as a library that Windows has open, stays: the next build meets it again.
fn remove_older(folder: &Path, current: &str) {
    let compiled = folder.join("__pycache__");
    for (place, is_older) in [
        (folder, &(|name: &str| is_library(name) && name != current) as &dyn Fn(&str) -> bool),
        (&compiled, &|name| name.starts_with("__init__.") && name.ends_with(".pyc")),
    ] {
        let found = std::fs::read_dir(place).into_iter().flatten().flatten();
        for file in found.filter(|file| file.file_name().to_str().is_some_and(is_older)) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}

/// Refuses a folder that is a Python package already, and not one of smoothc's; whether it is one of smoothc's.
fn check_folder(folder: &Path) -> Result<bool, Diagnostic> {
    let init = folder.join("__init__.py");
    match std::fs::read(&init) {
        Ok(text) if text.starts_with(python::MARK.as_bytes()) => return Ok(true),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(files::cannot_write(&init, &error)),
    }
    let message = format!("cannot write `{}`: it is a Python package that smoothc has not made", folder.display());
    Err(Diagnostic::error("E0011", Span::NONE, message).help("name a folder that is not there yet"))
}
