//! `smoothc run FILE ENTRY [ARG…]`: optimise, emit, compile with the C compiler, and call.

use super::options::{Display, RunCommand, Target};
use super::session::Wanted;
use super::{args, output, session};
use crate::diagnostic::Diagnostics;
use crate::source::SourceMap;
use crate::toolchain::call;
use crate::toolchain::compiler::Arithmetic;

pub fn run(command: &RunCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let call = &command.call;
    output::check_path(call.output.as_deref())?;
    let stage = match command.emission.target {
        Target::C => "emit",
    };
    let wanted = Wanted { stage, only: Some(&call.entry_name), emission: Some(&command.emission), ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, display)? else {
        return Ok(());
    };
    let entry = session.entry(&call.entry_name)?;
    let arguments = args::read(entry, &call.args)?;
    let interface = session.interface(&call.entry_name)?;
    let one = |problem| vec![problem];
    let arithmetic = Arithmetic::of(command.source.strict_fp);
    let loaded = call::load_as(&session.emitted()?.source, arithmetic, interface, entry.span).map_err(one)?;
    let result = loaded.call(&arguments.values, &arguments.bindings).map_err(one)?;
    output::value(&result, call.output.as_deref())
}
