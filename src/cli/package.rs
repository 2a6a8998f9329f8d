//! `smoothc build FILE --python DIR`: a Python package in a folder, around a shared library of emitted C, or of Futhark.
//!
//! In: the command, the folder. Out: the files of the package in it, all or none. A folder whose `__init__.py` is not smoothc's stays as it is.
//!
//! What is passed and what comes back is said of C. With `--target futhark` the program is compiled to both: the C says how values become
//! arguments, the library is Futhark's, and `_runtime/futhark.py` calls it as if it were the C.

use std::io::ErrorKind;
use std::path::Path;

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
    check_folder(folder).map_err(one)?;
    let beside = command.manifest.output()?;
    let wanted = Wanted { stage: "emit", emission: Some(&command.emission), manifest: beside.is_some(), python: true, ..Wanted::default() };
    let mut reads = Reads::default();
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    let temporary = tempfile::tempdir().map_err(|error| one(files::cannot_write(Path::new("a temporary folder"), &error)))?;
    let name = format!("library{}", std::env::consts::DLL_SUFFIX);
    let library = temporary.path().join(&name);
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
    let binary = Binary { name: &name, bytes: &bytes, needs, futhark };
    let made = python::package(of_c.emitted()?, &of_c.program, of_c.options.real, &of_c.manifest()?, binary).map_err(one)?;
    let manifest = session.manifest()?;
    for part in [folder.to_path_buf(), folder.join("_runtime")] {
        std::fs::create_dir_all(&part).map_err(|error| one(files::cannot_write(&part, &error)))?;
    }
    let places: Vec<Output> = made.iter().map(|(name, _)| Output::File(folder.join(name))).collect();
    let mut outputs: Vec<(&Output, &[u8])> = places.iter().zip(&made).map(|(place, (_, bytes))| (place, bytes.as_slice())).collect();
    outputs.extend(beside.as_ref().map(|beside| (beside, manifest.as_bytes())));
    output::write(&outputs, &reads)
}

/// Refuses a folder that is a Python package already, and not one of smoothc's.
fn check_folder(folder: &Path) -> Result<(), Diagnostic> {
    let init = folder.join("__init__.py");
    let known = match std::fs::read(&init) {
        Ok(text) => text.starts_with(python::MARK.as_bytes()),
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(error) => return Err(files::cannot_write(&init, &error)),
    };
    if known {
        return Ok(());
    }
    let message = format!("cannot write `{}`: it is a Python package that smoothc has not made", folder.display());
    Err(Diagnostic::error("E0011", Span::NONE, message).help("name a folder that is not there yet"))
}
