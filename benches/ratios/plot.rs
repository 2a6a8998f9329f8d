//! The ratios as a picture: one line a row, ratio to the right on a logarithmic axis.
//!
//! In: rows. Out: an SVG of dots (medians) on bars (95 % intervals), with lines at 1 and at the goal. No axis finer than the
//! powers of two; no colour but the dots', green where the goal is met.

use std::fmt::Write;

use crate::report::{GOAL, Row};

const LEFT: f64 = 300.0;
const WIDTH: f64 = 460.0;
const STEP: f64 = 20.0;
const TOP: f64 = 46.0;

pub fn svg(rows: &[Row]) -> String {
    let ratios: Vec<(f64, [f64; 2])> = rows.iter().map(Row::ratio).collect();
    let most = ratios.iter().map(|(_, [_, high])| *high).fold(2.0, f64::max).log2().ceil();
    let least = ratios.iter().map(|(_, [low, _])| *low).fold(0.9, f64::min).log2().floor();
    let x = |ratio: f64| LEFT + WIDTH * (ratio.log2() - least) / (most - least);
    let bottom = TOP + STEP * rows.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"18\" font-size=\"13\">time of the emitted C / time of the C written by hand</text>\n",
        LEFT + WIDTH + 60.0,
        bottom + 28.0,
    );
    let mut rule = |ratio: f64, colour: &str, label: bool| {
        let at = x(ratio);
        let _ = writeln!(svg, "<path d=\"M{at:.1} {:.1}V{bottom:.1}\" stroke=\"{colour}\"/>", TOP - 8.0);
        if label {
            let _ = writeln!(svg, "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">{ratio}</text>", bottom + 18.0);
        }
    };
    for power in least as i32..=most as i32 {
        rule(2f64.powi(power), if power == 0 { "#555" } else { "#e4e4e4" }, true);
    }
    rule(GOAL, "#1a7f37", false);
    let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#1a7f37\">goal {GOAL}</text>", x(GOAL) + 3.0, TOP - 10.0);
    for (at, (row, (ratio, [low, high]))) in rows.iter().zip(ratios).enumerate() {
        let y = TOP + STEP * (at as f64 + 0.5);
        let colour = if ratio <= GOAL { "#1a7f37" } else { "#b35900" };
        let text = y + 4.0;
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{text:.1}\" text-anchor=\"end\">{}, {}</text>", LEFT - 10.0, row.name, row.size);
        let _ = writeln!(svg, "<path d=\"M{:.1} {y:.1}H{:.1}\" stroke=\"{colour}\" stroke-width=\"3\"/>", x(low), x(high));
        let _ = writeln!(svg, "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>", x(ratio));
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{text:.1}\" fill=\"{colour}\">{ratio:.2}</text>", x(high) + 8.0);
    }
    svg.push_str("</svg>\n");
    svg
}
