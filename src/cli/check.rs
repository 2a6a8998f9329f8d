//! `smoothc check FILE`: types, sizes and names are right; prints each declaration's inferred signature, a line each.
//!
//!     let sq x = x * x   →   let sq (x: Double) : Double
//!                            {"name":"sq","signature":"let sq (x: Double) : Double"}    with --message-format json

use super::files::Reads;
use serde_json::json;

use super::options::{Display, FileCommand, MessageFormat};
use super::wanted::Wanted;
use super::{output, session};
use crate::diagnostic::Diagnostics;
use crate::source::SourceMap;
use crate::types::Signature;

pub fn run(command: &FileCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let wanted = Wanted { stage: "types", ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, &mut Reads::default(), display)? else {
        return Ok(());
    };
    let line = |signature: &Signature| match display.message_format {
        MessageFormat::Human => format!("{}\n", signature.text),
        MessageFormat::Json => format!("{}\n", json!({ "name": signature.name, "signature": signature.text })),
    };
    output::text(&session.signatures.iter().map(line).collect::<String>())
}
