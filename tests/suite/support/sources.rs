//! Reading what a program opens, and drawing what the compiler says about it.

use std::path::Path;

use smoothc::cli::render;
use smoothc::diagnostic::Diagnostics;
use smoothc::driver::Session;

/// Diagnostics as a person sees them.
pub fn drawn(problems: &Diagnostics, session: &Session) -> String {
    problems.iter().map(|problem| render::human(problem, &session.sources, false)).collect()
}

/// Opens a file next to the one that names it; paths are relative to the repository.
pub fn open(path: &str, from: &str) -> Result<(String, String), String> {
    let path = Path::new(from).parent().expect("a folder").join(path);
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path)).map_err(|error| error.to_string())?;
    Ok((path.display().to_string(), text))
}
