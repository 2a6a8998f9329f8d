//! What is said of each comparison, and the table of all.
//!
//! In: slopes and what an engine computed in their place. Out: lines of text, and the worst entry that is wrong. An entry is
//! wrong where it differs from a known slope by more than 2e-7 of it, twenty times the slope's own error, and rounding of
//! the largest magnitude that was met. A kink, a point that is not defined on both sides and a derivative that is not finite are
//! named and not compared.

use super::differences::Slope;
use super::engines::Engine;
use crate::diagnostic::Diagnostic;
use crate::real::Real;

/// Relative differences above this are wrong.
const RELATIVE: f64 = 2e-7;
/// Beyond these magnitudes `algebra` may change values.
const ALGEBRA: f64 = 1e140;
/// Places without a derivative that are listed one by one.
const LISTED: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    Forward(Engine),
    Reverse(Engine),
    /// Forward against reverse.
    Transposed(Engine),
}

/// One check over all entries.
struct Line {
    check: Check,
    compared: usize,
    /// Entries that differences say too little about.
    unclear: usize,
    worst: Option<Worst>,
}

/// The entry that is nearest to what is wrong, or beyond it.
#[derive(Clone)]
struct Worst {
    /// How much of the tolerance it takes.
    share: f64,
    error: f64,
    place: String,
    found: f64,
    wanted: f64,
}

pub struct Report {
    entry: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    real: Real,
    largest: f64,
    lines: Vec<Line>,
    /// Where there is no derivative, and why.
    without: Vec<String>,
    notes: Vec<String>,
}

impl Report {
    pub fn new(entry: &str, inputs: Vec<String>, outputs: Vec<String>, real: Real) -> Report {
        let (without, notes) = (Vec::new(), Vec::new());
        let ways = [Check::Forward, Check::Reverse, Check::Transposed];
        let checks = [Engine::Interpreter, Engine::Compiled].into_iter().flat_map(|engine| ways.map(|way| way(engine)));
        let lines = checks.map(|check| Line { check, compared: 0, unclear: 0, worst: None }).collect();
        Report { entry: entry.into(), inputs, outputs, real, largest: 0.0, lines, without, notes }
    }

    pub fn not_emitted(&mut self, problem: Option<&Diagnostic>) {
        self.notes.extend(problem.map(|problem| format!("compiled C is not checked: {}", problem.message)));
    }

    /// How many of the inputs are looked at one by one.
    pub fn looked_at(&mut self, single: usize) {
        if single < self.inputs.len() {
            let note = format!("{single} of {} inputs by themselves, the others only in directions through all", self.inputs.len());
            self.notes.push(note);
        }
    }

    /// The largest magnitude along the direction that comes next.
    pub fn met(&mut self, largest: f64) {
        self.largest = largest;
    }

    /// One entry of a derivative; `branches` says whether the point takes a branch of its own.
    pub fn compare(
        &mut self,
        check: Check,
        input: Option<usize>,
        output: Option<usize>,
        slope: &Slope,
        found: f64,
        branches: &dyn Fn() -> bool,
    ) {
        let place = self.place(input, output);
        // said of each input and output by itself
        let is_single = input.is_some() && (output.is_some() || self.outputs.len() == 1);
        let (wanted, error) = match *slope {
            Slope::Known { value, error } => (value, error),
            Slope::Kink { .. } | Slope::Undefined if !is_single => return,
            Slope::Kink { left, right } => {
                return self.has_none(format!("{place}: a kink, {left:.6e} on the left and {right:.6e} on the right"));
            }
            Slope::Undefined => return self.has_none(format!("{place}: no finite value on both sides of the point")),
            Slope::Unclear => return self.line(check).unclear += 1,
        };
        if !found.is_finite() {
            return self.has_none(format!("{place}: a derivative that is not finite ({found})"));
        }
        let (rounding, relative) = self.rounding(check);
        let tolerance = relative * found.abs().max(wanted.abs()) + 20.0 * error + rounding;
        let difference = (found - wanted).abs();
        if difference > tolerance && branches() {
            return self.has_none(format!("{place}: the point takes a branch of its own"));
        }
        let beyond = matches!(check, Check::Forward(Engine::Compiled) | Check::Reverse(Engine::Compiled)) && self.largest > ALGEBRA;
        let says_nothing = 20.0 * error > 1e-6 * found.abs().max(wanted.abs()) && 20.0 * error > rounding.max(1e-12);
        if difference > tolerance && beyond || difference <= tolerance && says_nothing {
            return self.line(check).unclear += 1;
        }
        self.note(check, Worst { share: difference / tolerance.max(f64::MIN_POSITIVE), error: difference, place, found, wanted });
    }

    /// (w, J v) against (Jᵀ w, v); `magnitude` is what the sums add up.
    pub fn transposes(&mut self, engine: Engine, input: Option<usize>, forward: f64, reverse: f64, magnitude: f64) {
        let check = Check::Transposed(engine);
        if !forward.is_finite() || !reverse.is_finite() {
            return;
        }
        if engine == Engine::Compiled && self.largest > ALGEBRA {
            return self.line(check).unclear += 1;
        }
        let (rounding, relative) = self.rounding(check);
        let tolerance = relative.max(1e-9) * magnitude.max(forward.abs()) + rounding * 10.0;
        let difference = (forward - reverse).abs();
        let place = self.place(input, None);
        let share = difference / tolerance.max(f64::MIN_POSITIVE);
        self.note(check, Worst { share, error: difference, place, found: reverse, wanted: forward });
    }

    /// What rounding may do to a result, and to its digits.
    fn rounding(&self, check: Check) -> (f64, f64) {
        let compiled =
            matches!(check, Check::Forward(Engine::Compiled) | Check::Reverse(Engine::Compiled) | Check::Transposed(Engine::Compiled));
        match self.real {
            Real::F32 if compiled => (1e-4 * self.largest.max(1.0), 1e-3),
            Real::F32 | Real::F64 => (1e-10 * self.largest, if matches!(check, Check::Transposed(_)) { 0.0 } else { RELATIVE }),
        }
    }

    fn place(&self, input: Option<usize>, output: Option<usize>) -> String {
        let input = input.and_then(|at| self.inputs.get(at)).map_or("a direction through all inputs", |name| name);
        let output = match (output.and_then(|at| self.outputs.get(at)), self.outputs.as_slice()) {
            (Some(name), _) | (None, [name]) => name,
            (None, _) => "the weighted outputs",
        };
        format!("{output} in {input}")
    }

    fn has_none(&mut self, what: String) {
        if !self.without.contains(&what) {
            self.without.push(what);
        }
    }

    fn line(&mut self, check: Check) -> &mut Line {
        let at = self.lines.iter().position(|line| line.check == check).unwrap_or_default();
        &mut self.lines[at]
    }

    fn note(&mut self, check: Check, found: Worst) {
        let line = self.line(check);
        line.compared += 1;
        if line.worst.as_ref().is_none_or(|worst| found.share > worst.share) {
            line.worst = Some(found);
        }
    }

    /// The worst entry, where it is wrong.
    pub fn wrong(&self) -> Option<String> {
        let worst = self.lines.iter().filter_map(|line| line.worst.as_ref().map(|worst| (line.check, worst)));
        let (check, worst) = worst.filter(|(_, worst)| worst.share > 1.0).max_by(|(_, a), (_, b)| a.share.total_cmp(&b.share))?;
        Some(format!("{}, {}: {:e} for {:e}", name(check), worst.place, worst.found, worst.wanted))
    }

    /// The table.
    pub fn text(&self) -> String {
        let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (inputs, outputs) = (counted(self.inputs.len(), "input"), counted(self.outputs.len(), "output"));
        let mut text = format!("gradcheck: `{}`, {inputs}, {outputs}\n", self.entry);
        text += &format!("{:<24}{:>10}{:>10}{:>14}  at\n", "check", "compared", "unclear", "worst error");
        for line in self.lines.iter().filter(|line| line.compared + line.unclear > 0) {
            let (error, place) = match &line.worst {
                Some(Worst { error, place, found, wanted, share }) => {
                    let mark = if *share > 1.0 { "  WRONG" } else { "" };
                    (format!("{error:.1e}"), format!("{place}: {found:e} for {wanted:e}{mark}"))
                }
                None => ("-".into(), "-".into()),
            };
            text += &format!("{:<24}{:>10}{:>10}{error:>14}  {place}\n", name(line.check), line.compared, line.unclear);
        }
        for what in self.without.iter().take(LISTED) {
            text += &format!("no derivative: {what}\n");
        }
        if self.without.len() > LISTED {
            text += &format!("no derivative: {} more\n", self.without.len() - LISTED);
        }
        self.notes.iter().for_each(|note| text += &format!("{note}\n"));
        text
    }
}

fn name(check: Check) -> &'static str {
    match check {
        Check::Forward(Engine::Interpreter) => "forward, interpreter",
        Check::Forward(Engine::Compiled) => "forward, compiled C",
        Check::Reverse(Engine::Interpreter) => "reverse, interpreter",
        Check::Reverse(Engine::Compiled) => "reverse, compiled C",
        Check::Transposed(Engine::Interpreter) => "both, interpreter",
        Check::Transposed(Engine::Compiled) => "both, compiled C",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_millionth_is_wrong_and_rounding_is_not() {
        let forward = Check::Forward(Engine::Interpreter);
        for (found, is_wrong) in
            [(1.0, false), (1.0 + 1e-8, false), (1.0 + 1e-6, true), (1.0 - 1e-6, true), (-1.0, true), (f64::NAN, false)]
        {
            let mut report = Report::new("f", vec!["x".into()], vec!["out".into()], Real::F64);
            report.met(1.0);
            report.compare(forward, Some(0), Some(0), &Slope::Known { value: 1.0, error: 1e-12 }, found, &|| false);
            assert_eq!(report.wrong().is_some(), is_wrong, "{found}");
        }
        let mut report = Report::new("f", vec!["x".into()], vec!["out".into()], Real::F64);
        report.met(1.0);
        report.compare(forward, Some(0), Some(0), &Slope::Known { value: 1.0, error: 1e-2 }, 1.01, &|| false);
        report.compare(forward, Some(0), Some(0), &Slope::Kink { left: 0.0, right: 1.0 }, 0.0, &|| false);
        report.compare(forward, Some(0), Some(0), &Slope::Known { value: 6.0, error: 0.0 }, 1.0, &|| true);
        assert_eq!((report.wrong(), report.without.len(), report.line(forward).unclear), (None, 2, 1));
        report.transposes(Engine::Compiled, None, 1.0, 1.0 + 1e-6, 1.0);
        assert!(report.wrong().is_some_and(|what| what.starts_with("both, compiled C")));
    }
}
