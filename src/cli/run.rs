//! `smoothc run FILE ENTRY [ARG…]`: optimise, emit, compile with the target's compiler, and call.

use super::files::Reads;
use super::options::{Display, RunCommand, Target};
use super::wanted::Wanted;
use super::{output, session};
use crate::diagnostic::Diagnostics;
use crate::source::SourceMap;
use crate::toolchain::compiler::Mode;
use crate::toolchain::{call, futhark};

pub fn run(command: &RunCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let call = &command.call.call;
    let output = output::of_result(command.call.output.as_deref())?;
    let mut reads = Reads::default();
    let wanted = Wanted { stage: "emit", only: Some(&call.entry_name), emission: Some(&command.emission), ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    let entry = session.entry(&call.entry_name)?;
    let arguments = session::arguments(&session, &call.entry_name, &call.args, &mut reads)?;
    let one = |problem| vec![problem];
    let mode = Mode::of(&command.source, &command.compilation);
    let result = match command.emission.target {
        Target::C => {
            let interface = session.interface(&call.entry_name)?;
            let loaded = call::load(&session.emitted()?.source, mode, interface, entry.span).map_err(one)?;
            loaded.call(&arguments.values, &arguments.bindings).map_err(one)?
        }
        Target::Futhark => {
            let interface = session.futhark_interface(&call.entry_name)?;
            let source = &session.emitted_futhark()?.source;
            let limits = futhark::compiler::Limits::default();
            let loaded = futhark::call::load(source, command.emission.backend(), mode, vec![interface], limits).map_err(one)?;
            loaded.call(0, &arguments.values, &arguments.bindings, (&entry.name, entry.span)).map_err(one)?
        }
    };
    output::value(&result, entry.result_labels(), command.source.real.into(), &output, &reads)
}
