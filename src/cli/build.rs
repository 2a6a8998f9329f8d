//! `smoothc build FILE -o PATH`: a shared library, a static library or an object, by PATH's ending; from Futhark, with
//! the header of Futhark's interface beside it.

use super::options::{BuildCommand, Display, Target};
use super::session;
use super::session::Wanted;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{SourceMap, Span};
use crate::toolchain::compiler::{self, Arithmetic, Artifact, Mode};
use crate::toolchain::futhark;

pub fn run(command: &BuildCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let path = &command.output;
    let artifact = Artifact::of_path(path).ok_or_else(|| {
        let message = format!("the ending of `{}` does not say what to build", path.display());
        vec![
            Diagnostic::error("E0012", Span::NONE, message)
                .help("a shared library ends in .so, .dylib or .dll, a static one in .a, an object in .o"),
        ]
    })?;
    let wanted = Wanted { stage: "emit", emission: Some(&command.emission), ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, display)? else {
        return Ok(());
    };
    let built = match command.emission.target {
        Target::C => {
            let mode = Mode { arithmetic: Arithmetic::of(command.source.strict_fp), parallel: command.source.parallel };
            compiler::compile(&session.emitted()?.source, artifact, mode, path)
        }
        Target::Futhark => {
            let source = &session.emitted_futhark()?.source;
            futhark::compiler::build(source, &command.emission.futhark_backend, artifact, Arithmetic::of(command.source.strict_fp), path)
        }
    };
    built.map_err(|problem| vec![problem])
}
