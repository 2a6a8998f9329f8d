//! `smoothc build FILE -o PATH`: a shared library, a static library or an object, by PATH's ending.

use super::options::{BuildCommand, Display, Target};
use super::session;
use super::session::Wanted;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{SourceMap, Span};
use crate::toolchain::compiler::{self, Arithmetic, Artifact};

pub fn run(command: &BuildCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let path = &command.output;
    let artifact = Artifact::of_path(path).ok_or_else(|| {
        let message = format!("the ending of `{}` does not say what to build", path.display());
        vec![
            Diagnostic::error("E0012", Span::NONE, message)
                .help("a shared library ends in .so, .dylib or .dll, a static one in .a, an object in .o"),
        ]
    })?;
    let stage = match command.emission.target {
        Target::C => "emit",
    };
    let wanted = Wanted { stage, emission: Some(&command.emission), ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, display)? else {
        return Ok(());
    };
    let arithmetic = Arithmetic::of(command.source.strict_fp);
    compiler::compile_as(&session.emitted()?.source, artifact, arithmetic, path).map_err(|problem| vec![problem])
}
