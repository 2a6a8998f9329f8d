//! `smoothc build FILE -o PATH`: a shared library, a static library or an object, by PATH's ending, with the header
//! beside it: that of the emitted C, or of Futhark's interface. On a device it is a shared library alone.

use std::path::Path;

use super::files::{self, Reads};
use super::options::{BuildCommand, Display, Target};
use super::output::{self, Output};
use super::session::{self, Wanted};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::emit::manifest;
use crate::source::SourceMap;
use crate::toolchain::compiler::{self, Artifact, Mode};
use crate::toolchain::futhark;

pub fn run(command: &BuildCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let one = |problem| vec![problem];
    let output = Output::new(&command.output, Artifact::ENDINGS).map_err(one)?;
    let artifact = output.ending().and_then(Artifact::of_ending).unwrap_or(Artifact::SharedLibrary);
    let beside = output.beside("h");
    let header = beside.as_ref().and_then(Output::name);
    let described = command.manifest.output()?;
    let wanted = Wanted {
        stage: "emit",
        emission: Some(&command.emission),
        header: header.as_deref(),
        manifest: described.is_some(),
        ..Wanted::default()
    };
    let mut reads = Reads::default();
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    // compiled elsewhere under its own name, which a static library keeps of its object
    let folder = tempfile::tempdir().map_err(|error| one(files::cannot_write(Path::new("a temporary folder"), &error)))?;
    let path = folder.path().join(output.name().unwrap_or_else(|| "program".into()));
    let mode = Mode::of(&command.source, &command.compilation);
    let header = match command.emission.target {
        Target::C => {
            let files = session.emitted()?;
            compiler::compile(&files.source, artifact, mode, &path).map_err(one)?;
            files.header.clone().into_bytes()
        }
        Target::Futhark => {
            let source = &session.emitted_futhark()?.source;
            futhark::compiler::build(source, command.emission.backend(), artifact, mode, &path).map_err(one)?;
            made(&path.with_extension("h"))?
        }
    };
    let built = made(&path)?;
    let mut outputs = vec![(&output, built.as_slice())];
    outputs.extend(beside.as_ref().map(|beside| (beside, header.as_slice())));
    let text = match command.emission.target {
        Target::C => manifest::manifest(session.emitted()?),
        Target::Futhark => manifest::of_futhark(session.emitted_futhark()?, &session.provenance()?),
    };
    let text = text.map_err(one)?;
    outputs.extend(described.as_ref().map(|described| (described, text.as_bytes())));
    output::write(&outputs, &reads)
}

/// What a compiler has made.
fn made(path: &Path) -> Result<Vec<u8>, Diagnostics> {
    std::fs::read(path).map_err(|error| {
        let message = format!("cannot read `{}`: {}", path.display(), files::reason(&error));
        vec![Diagnostic::error("E0902", crate::source::Span::NONE, message).help("check what CC is and does")]
    })
}
