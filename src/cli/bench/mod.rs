//! `smoothc bench FILE ENTRY [ARG…]`: how long a call of the compiled entry takes.
//!
//! In: an entry and arguments. Out: the median over many samples with its 95 % interval, the least and the most, per element
//! and bytes per second of inputs and outputs; with `--against FILE.c:FUNCTION` the same of a function by hand with the entry's
//! C signature, in turns with the entry, so that whatever else the machine does meets both alike. `--json` prints one object,
//! all times in seconds.
//!
//!     bench: `dot`, 2001 elements, 16008 bytes
//!                       median          95 % interval       min       max  an element   bytes/s
//!     dot             412.3 ns   410.1 ns .. 415.0 ns  …

pub mod against;
mod timing;

use super::files::Reads;
use super::options::{BenchCommand, Display};
use super::wanted::Wanted;
use super::{output, session};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::real::Real;
use crate::source::{SourceMap, Span};
use crate::toolchain::call::{self, Loaded};
use crate::toolchain::compiler::Mode;
use crate::toolchain::flat::{Column, Flat};
use timing::{Times, in_turns};

pub fn run(command: &BenchCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let name = &command.call.entry_name;
    let one = |problem| vec![problem];
    let mut reads = Reads::default();
    let wanted = Wanted { stage: "emit", only: Some(name), ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    let arguments = session::arguments(&session, name, &command.call.args, &mut reads)?;
    let mode = Mode::of(&command.source, &command.compilation);
    let span = session.entry(name)?.span;
    let own = call::load(&session.emitted()?.source, mode, session.interface(name)?, span).map_err(one)?;
    let other = match &command.against {
        Some(against) => Some(against::load(against, session.interface(name)?, mode, span).map_err(one)?),
        None => None,
    };
    let sides: Vec<&Loaded> = std::iter::once(&own).chain(&other).collect();
    let results: Vec<Flat> =
        sides.iter().map(|side| side.call(&arguments.values, &arguments.bindings)).collect::<Result<_, _>>().map_err(one)?;
    if let [own, other] = results.as_slice()
        && let Some(difference) = against::difference(own, other)
    {
        let warning = Diagnostic::warning("W0822", Span::NONE, format!("the two give different results: {difference}"));
        super::report(&[warning.help("times of functions that compute different things say little")], sources, display);
    }
    let prepared = sides.iter().map(|side| side.prepare(&arguments.values, &arguments.bindings)).collect::<Result<Vec<_>, _>>();
    let times = in_turns(&mut prepared.map_err(one)?).map_err(one)?;
    let real = command.source.real.into();
    let size = Size::of(arguments.values.iter().chain(&results[..1]), real);
    let names: Vec<&str> = std::iter::once(name.as_str()).chain(command.against.as_deref()).collect();
    output::text(&if command.json { as_json(&names, &times, size) } else { as_table(&names, &times, size) })
}

/// What a call reads and writes.
#[derive(Clone, Copy)]
struct Size {
    elements: usize,
    bytes: usize,
}

impl Size {
    fn of<'a>(values: impl Iterator<Item = &'a Flat>, real: Real) -> Size {
        let mut size = Size { elements: 0, bytes: 0 };
        for column in values.flat_map(|value| &value.columns) {
            let each = match (column, real) {
                (Column::Double(_), Real::F32) => 4,
                _ => column.element_bytes(),
            };
            size.elements += column.len();
            size.bytes += column.len() * each;
        }
        size
    }

    fn per_element(self, seconds: f64) -> f64 {
        seconds / self.elements.max(1) as f64
    }

    fn rate(self, seconds: f64) -> f64 {
        self.bytes as f64 / seconds.max(f64::MIN_POSITIVE)
    }
}

fn as_table(names: &[&str], times: &[Times], size: Size) -> String {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default().max(8);
    let mut text = format!("bench: `{}`, {} elements, {} bytes, {} samples\n", names[0], size.elements, size.bytes, times[0].samples);
    text += &format!(
        "{:width$}  {:>10}  {:>24}  {:>10}  {:>10}  {:>10}  {:>11}\n",
        "", "median", "95 % interval", "min", "max", "an element", "bytes/s"
    );
    for (name, times) in names.iter().zip(times) {
        let interval = format!("{} .. {}", duration(times.interval[0]), duration(times.interval[1]));
        let (median, least, most) = (duration(times.median), duration(times.min), duration(times.max));
        let (each, rate) = (duration(size.per_element(times.median)), scaled(size.rate(times.median)));
        text += &format!("{name:width$}  {median:>10}  {interval:>24}  {least:>10}  {most:>10}  {each:>10}  {rate:>11}\n");
    }
    if let [own, other] = times {
        text += &format!("{:width$}  {:>10.3}\n", "ratio", own.median / other.median);
    }
    text
}

fn as_json(names: &[&str], times: &[Times], size: Size) -> String {
    let one = |name: &str, times: &Times| {
        format!(
            "\"name\": {}, \"median\": {:e}, \"interval\": [{:e}, {:e}], \"min\": {:e}, \"max\": {:e}, \"samples\": {}, \"calls\": {}, \
             \"per_element\": {:e}, \"bytes_per_second\": {:e}",
            serde_json::Value::from(name),
            times.median,
            times.interval[0],
            times.interval[1],
            times.min,
            times.max,
            times.samples,
            times.calls,
            size.per_element(times.median),
            size.rate(times.median)
        )
    };
    let mut text = format!("{{{}, \"elements\": {}, \"bytes\": {}", one(names[0], &times[0]), size.elements, size.bytes);
    if let ([_, name], [own, other]) = (names, times) {
        text += &format!(", \"against\": {{{}}}, \"ratio\": {:e}", one(name, other), own.median / other.median);
    }
    text + "}\n"
}

/// `412.3 ns`, `1.250 ms`: four digits.
fn duration(seconds: f64) -> String {
    let (factor, unit) = match seconds {
        s if s < 1e-6 => (1e9, "ns"),
        s if s < 1e-3 => (1e6, "us"),
        s if s < 1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    format!("{} {unit}", digits(seconds * factor))
}

fn scaled(bytes: f64) -> String {
    let (factor, unit) = match bytes {
        b if b < 1e3 => (1.0, "B/s"),
        b if b < 1e6 => (1e-3, "kB/s"),
        b if b < 1e9 => (1e-6, "MB/s"),
        _ => (1e-9, "GB/s"),
    };
    format!("{} {unit}", digits(bytes * factor))
}

fn digits(value: f64) -> String {
    let decimals = if value < 10.0 { 3 } else { usize::from(value < 1e3) + usize::from(value < 100.0) };
    format!("{value:.decimals$}")
}
