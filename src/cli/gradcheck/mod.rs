//! `smoothc gradcheck FILE ENTRY [ARG…]`: the derivative of an entry at a point against differences of the entry.
//!
//! In: an entry and arguments. Out: a table, one line a check, with the entry of the derivative that is worst; then the places
//! that have no derivative, by name. Each derivative is computed forward (`jvp`) and in reverse (`vjp`), by the interpreter and by
//! compiled C, and held against differences of the program as written; the two ways are held against each other by
//! (w, J v) = (Jᵀ w, v). Exit status 4 where one is wrong. Where differences say too little nothing is called wrong.
//!
//!     gradcheck: `f` at x, y: 2 inputs, 1 output
//!     check                   compared  worst error  at
//!     forward, interpreter           2      3.1e-12  out in x: -0.98 for -0.98

mod differences;
mod engines;
mod points;
mod verdict;

use super::files::Reads;
use super::options::{Display, GradcheckCommand};
use super::wanted::Wanted;
use super::{eval, output, session};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::eval::Trace;
use crate::real::Real;
use crate::source::SourceMap;
use crate::toolchain::compiler::Mode;
use crate::toolchain::flat::Flat;
use differences::{Level, RATIO, Slope, slope};
use engines::{Engine, Subject};
use points::{Sequence, doubles, names};
use verdict::{Check, Report};

/// Steps along a direction, each finer by [`RATIO`].
const STEPS: i32 = 13;
/// Directions of single inputs: of more inputs as many, evenly spread, and some through all.
const SINGLE: usize = 100;
const DENSE: usize = 3;
/// What the interpreter may do in all, in operations: few seconds.
const WORK: u64 = 20_000_000;

pub fn run(command: &GradcheckCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let call = &command.call;
    let mut reads = Reads::default();
    let wanted = Wanted { stage: "types", only: Some(&call.entry_name), checks_derivatives: true, ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    let arguments = session::arguments(&session, &call.entry_name, &call.args, &mut reads)?;
    let mode = Mode { quick: true, ..Mode::of(&command.source, &command.compilation) };
    let subject = Subject::new(session, &call.entry_name, arguments, mode, &mut reads)?;
    let report = check(&subject, command.source.real.into())?;
    output::text(&report.text())?;
    match report.wrong() {
        None => Ok(()),
        Some(what) => Err(vec![
            Diagnostic::error("E0820", subject.function.span, format!("a derivative of `{}` is wrong: {what}", call.entry_name))
                .help("where the program is smooth this is a bug in smoothc or its tools: please report it with the program"),
        ]),
    }
}

/// What one direction is: its numbers, and its name where it is one input.
struct Direction {
    along: Vec<f64>,
    input: Option<usize>,
}

fn check(subject: &Subject, real: Real) -> Result<Report, Diagnostics> {
    let inputs: Vec<String> = subject.active().into_iter().flat_map(|(param, value)| names(param.name(), value)).collect();
    let point = doubles(&subject.active().into_iter().map(|(_, value)| value.clone()).collect::<Vec<_>>());
    let (result, trace) = subject.value(&point).map_err(eval::problem)?;
    let (largest, work) = (trace.largest, trace.counts.arithmetic + trace.counts.reads + trace.counts.writes);
    let outputs = names("out", &result);
    let base = doubles(std::slice::from_ref(&result));
    let mut report = Report::new(&subject.function.name, inputs, outputs, real);
    report.not_emitted(subject.not_emitted.as_ref());
    let mut sequence = Sequence::new();
    let weights: Vec<f64> = if base.len() == 1 { vec![1.0] } else { base.iter().map(|_| sequence.next()).collect() };
    let directions = directions(point.len(), work, &mut sequence);
    report.looked_at(directions.iter().filter(|direction| direction.input.is_some()).count());
    let transposed: Vec<(Engine, Vec<f64>)> = match subject.has_vjp && !base.is_empty() && !point.is_empty() {
        true => {
            let ran = |engine: Engine| Ok((engine, subject.vjp(engine, &point, &result, &weights)?.values));
            subject.engines().into_iter().map(ran).collect::<Result<_, Diagnostics>>()?
        }
        false => Vec::new(),
    };
    for direction in &directions {
        let slopes = slopes(subject, &point, direction, &base, largest);
        let forward = subject.jvp(Engine::Interpreter, &point, &direction.along)?;
        report.met(forward.largest.max(largest));
        let branches = || has_own_branch(subject, &point, direction);
        for engine in subject.engines() {
            let found = match engine {
                Engine::Interpreter => forward.values.clone(),
                Engine::Compiled => subject.jvp(engine, &point, &direction.along)?.values,
            };
            for (at, (slope, value)) in slopes.iter().zip(&found).enumerate() {
                report.compare(Check::Forward(engine), direction.input, Some(at), slope, *value, &branches);
            }
            if let Some((_, gradient)) = transposed.iter().find(|(other, _)| *other == engine) {
                let weighted = weighted(&slopes, &weights);
                let along = dot(gradient, &direction.along);
                report.compare(Check::Reverse(engine), direction.input, None, &weighted, along, &branches);
                report.transposes(engine, direction.input, dot(&weights, &found), along, magnitude(&weights, &found));
            }
        }
    }
    Ok(report)
}

/// Whether the point itself takes a branch that points beside it do not: then the derivative is that branch's.
fn has_own_branch(subject: &Subject, point: &[f64], direction: &Direction) -> bool {
    let Some(here) = subject.path(point) else { return false };
    let step = |sign: f64| {
        let h = scale(point, direction) * 0.125 * RATIO.powi(-8) * sign;
        subject.path(&moved(point, direction, h)).is_some_and(|path| path != here)
    };
    step(1.0) || step(-1.0)
}

fn directions(count: usize, work: u64, sequence: &mut Sequence) -> Vec<Direction> {
    let affordable = (WORK / work.saturating_mul(60).max(1)).clamp(4, SINGLE as u64) as usize;
    let taken = count.min(affordable);
    let single = (0..taken).map(|at| {
        let input = at * count / taken;
        let mut along = vec![0.0; count];
        along[input] = 1.0;
        Direction { along, input: Some(input) }
    });
    let mut found: Vec<Direction> = single.collect();
    if count > 1 {
        found.extend((0..DENSE).map(|_| Direction { along: (0..count).map(|_| sequence.next()).collect(), input: None }));
    }
    found
}

/// The slope of each output along a direction.
fn slopes(subject: &Subject, point: &[f64], direction: &Direction, base: &[f64], largest: f64) -> Vec<Slope> {
    let mut scales = vec![scale(point, direction)];
    // where an input is small, so may be what happens around it
    scales.extend(direction.input.map(|at| point[at].abs()).filter(|x| *x > 0.0 && *x < 0.1));
    let slip = if direction.input.is_some() { 0.0 } else { point.iter().fold(0.0, |most: f64, x| most.max(x.abs())) };
    let families: Vec<Vec<Level>> = scales
        .into_iter()
        .map(|scale| (0..STEPS).map(|step| level(subject, point, direction, scale * 0.125 * RATIO.powi(-step), base, largest)).collect())
        .collect();
    let best = |at: usize| {
        let found: Vec<Slope> = families.iter().map(|levels| slope(levels, at, base[at], slip)).collect();
        let known = found.iter().filter_map(|slope| if let Slope::Known { error, .. } = slope { Some((error, slope)) } else { None });
        known.min_by(|(a, _), (b, _)| a.total_cmp(b)).map_or(found[found.len() - 1], |(_, slope)| *slope)
    };
    (0..base.len()).map(best).collect()
}

/// About how far the function may be looked at along a direction: a power of two, so that steps are exact.
fn scale(point: &[f64], direction: &Direction) -> f64 {
    let x = match direction.input {
        Some(at) => point[at].abs(),
        None => point.iter().fold(0.0, |most: f64, x| most.max(x.abs())),
    };
    // NaN is 1 too
    2f64.powi(if x > 1.0 { x.min(1e300).log2().floor() as i32 } else { 0 })
}

fn moved(point: &[f64], direction: &Direction, step: f64) -> Vec<f64> {
    point.iter().zip(&direction.along).map(|(x, along)| x + step * along).collect()
}

fn level(subject: &Subject, point: &[f64], direction: &Direction, step: f64, base: &[f64], largest: f64) -> Level {
    let sides = [step, -step].map(|step| moved(point, direction, step));
    let distance = |side: &[f64]| match direction.input {
        Some(at) => (side[at] - point[at]).abs(),
        None => step,
    };
    let (ahead, behind) = (distance(&sides[0]), distance(&sides[1]));
    let mut most = largest;
    let mut run = |side: &[f64]| {
        let (value, trace): (Flat, Trace) = subject.value(side).ok()?;
        most = most.max(trace.largest);
        let values = doubles(&[value]);
        // a result of another shape is another function
        (values.len() == base.len()).then_some(values)
    };
    let values = match (run(&sides[0]), run(&sides[1])) {
        (Some(ahead_values), Some(behind_values)) if ahead > 0.0 && behind > 0.0 => Some([ahead_values, behind_values]),
        _ => None,
    };
    Level { ahead, behind, values, largest: most }
}

/// The slope of the weighted sum of the outputs.
fn weighted(slopes: &[Slope], weights: &[f64]) -> Slope {
    let (mut sum, mut bound) = (0.0, 0.0);
    for (slope, weight) in slopes.iter().zip(weights) {
        match slope {
            Slope::Known { value, error } => {
                sum += weight * value;
                bound += weight.abs() * (error + 4.0 * f64::EPSILON * value.abs());
            }
            other @ (Slope::Kink { .. } | Slope::Undefined | Slope::Unclear) => return *other,
        }
    }
    Slope::Known { value: sum, error: bound }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| **a != 0.0 && **b != 0.0).map(|(a, b)| a * b).sum()
}

fn magnitude(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum()
}
