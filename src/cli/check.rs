//! `smoothc check FILE`: types, sizes and names are right; prints each declaration's inferred signature.

use super::files::Reads;
use super::options::{Display, FileCommand};
use super::session::Wanted;
use super::{output, session};
use crate::diagnostic::Diagnostics;
use crate::source::SourceMap;

pub fn run(command: &FileCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let wanted = Wanted { stage: "types", ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, &mut Reads::default(), display)? else {
        return Ok(());
    };
    let lines: String = session.signatures.iter().map(|signature| format!("{signature}\n")).collect();
    output::text(&lines)
}
