//! What `--real f32` is worth: emitted C on doubles / emitted C on floats.
//!
//! In: a workload. Out: [`Single`]: the times of both in turns in this process, on the same numbers, after the results
//! were held against each other. Where memory is the limit, half the bytes are worth a factor of two, and so are
//! twice the lanes where computing is; libmvec's functions of floats are cheaper still, and take fewer digits.

use std::fmt::Write;

use smoothc::real::Real;
use smoothc::toolchain::compiler::Arithmetic;

use crate::compiled::{Case, Compiled, Program};
use crate::report::seconds;
use crate::speedup::{self, calls, time};
use crate::timing::{PAIRS, median};
use crate::workloads::Workload;

/// The largest difference of two elements, to the largest element.
const TOLERANCE: f64 = 1e-3;

/// One workload at one size; a sample each round.
pub struct Single {
    pub name: &'static str,
    pub size: String,
    pub difference: f64,
    pub doubles: Vec<f64>,
    pub floats: Vec<f64>,
}

impl Single {
    /// The median, and the interval that holds it.
    pub fn ratio(&self) -> (f64, [f64; 2]) {
        median(self.doubles.iter().zip(&self.floats).map(|(doubles, floats)| doubles / floats))
    }

    fn line(&self) -> String {
        let (ratio, [low, high]) = self.ratio();
        let (doubles, floats) = (seconds(&self.doubles), seconds(&self.floats));
        let (name, size, difference) = (self.name, &self.size, self.difference);
        format!(
            "{name:<26} {size:>13}  f64 / f32 {ratio:>5.2} [{low:.2}, {high:.2}]  {doubles:>9} {floats:>9}  difference {difference:.1e}"
        )
    }
}

/// All sizes of one workload.
pub fn measure(workload: &Workload) -> Result<Vec<Single>, String> {
    let [doubles, floats] = [Real::F64, Real::F32].map(|real| {
        let program = Program::emit(workload, false, real)?;
        Compiled::load(&program.source, &program.interface, Arithmetic::Fast)
    });
    let (doubles, floats) = (doubles?, floats?);
    let mut rows = Vec::new();
    for &size in workload.sizes {
        let mut wide = Case::new((workload.inputs)(size), [&doubles, &doubles]);
        let mut narrow = Case::new((workload.inputs)(size).single(), [&floats, &floats]);
        let difference = difference(&wide.result(&doubles)?, &narrow.single_result(&floats)?);
        if difference > TOLERANCE {
            return Err(format!("the results differ by {difference:.1e} at {size:?}"));
        }
        let (wide_calls, narrow_calls) = (calls(&mut wide, &doubles), calls(&mut narrow, &floats));
        let mut row = Single { name: workload.name, size: (workload.label)(size), difference, doubles: Vec::new(), floats: Vec::new() };
        for _ in 0..PAIRS {
            row.doubles.push(time(&mut wide, &doubles, wide_calls));
            row.floats.push(time(&mut narrow, &floats, narrow_calls));
        }
        println!("{}", row.line());
        rows.push(row);
    }
    Ok(rows)
}

/// The measure that [`TOLERANCE`] bounds; infinite where one of the two is NaN.
fn difference(wide: &[f64], narrow: &[f64]) -> f64 {
    let largest = wide.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
    let parts = wide.iter().zip(narrow).map(|(a, b)| (a - b).abs() / largest);
    parts.fold(if wide.len() == narrow.len() { 0.0 } else { f64::INFINITY }, |most, part| {
        if part <= most {
            most
        } else if part.is_nan() {
            f64::INFINITY
        } else {
            part
        }
    })
}

const HEADING: &str = "\n## Single precision\n";

/// The page with this section before that on threads, in the place of the one that it has.
pub fn with_section(page: &str, rows: &[Single]) -> String {
    let (page, threads) = page.find(speedup::HEADING).map_or((page, ""), |at| page.split_at(at));
    let mut text = page.split(HEADING).next().unwrap_or_default().to_string();
    let load = speedup::load().map_or(String::new(), |load| {
        format!(" The load of the machine over the last five minutes was {load:.1}, of which the measurement itself is about one.")
    });
    let _ = write!(
        text,
        "{HEADING}\nMade by `cargo bench --bench ratios -- single`, or with the rest. What `--real f32` is worth: the time of emitted C on doubles / on\n\
         floats, {PAIRS} rounds in turns in one process, on the same numbers. Floats fill twice the lanes and move half the bytes, which is a\n\
         factor of two by itself; the last column is the largest difference of two elements of the results,\n\
         to the largest element.{load}\n\n\
         Bundle adjustment reads its cameras and points at indexes of 64 bits. Where gathers are made of single reads, gcc 12 does that in\n\
         lanes only for numbers as wide as the indexes (\"unsupported vector types for emulated gather\"), so on floats a loop before copies\n\
         what the lanes read.\n\n\
         | workload | size | f64 / f32 | 95 % | f64 | f32 | difference |\n| --- | --: | --: | --- | --: | --: | --: |\n"
    );
    for row in rows {
        let (ratio, [low, high]) = row.ratio();
        let _ = writeln!(
            text,
            "| {} | {} | {ratio:.2} | {low:.2} … {high:.2} | {} | {} | {:.0e} |",
            row.name,
            row.size,
            seconds(&row.doubles),
            seconds(&row.floats),
            row.difference
        );
    }
    text + threads
}
