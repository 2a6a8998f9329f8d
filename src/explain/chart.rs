//! The cost phase by phase, as the corners and labels of a line.
//!
//! In: an [`Explanation`] and the phases to show, with their numbers. Out: a [`ChartView`] for the page's template, on a
//! logarithmic scale where every size is 100.
//!
//!     14 n² + n, then 2 n   →   points at (60.0, 60.0) and (900.0, 160.0), labelled `14 n²` and `2 n`

use serde::Serialize;

use super::markup::escaped;
use super::polynomial::{leading, value};
use super::{Explanation, Stage, State};

/// The cost phase by phase, on a logarithmic scale.
#[derive(Serialize)]
pub(super) struct ChartView {
    width: usize,
    height: usize,
    /// The corners of the falling line, and of the area below it.
    line: String,
    area: String,
    points: Vec<PointView>,
    /// What every size is here.
    size: usize,
}

#[derive(Serialize)]
struct PointView {
    x: String,
    y: String,
    /// Where the label stands above the point.
    label_y: String,
    label: String,
    cost: String,
    /// The cost's first term, where it is another than before.
    leading: String,
}

/// What every size is where costs are compared as numbers.
pub(super) const SIZE: f64 = 100.0;
const WIDTH: usize = 960;
const HEIGHT: usize = 220;
/// Room for labels around the line.
const MARGIN: f64 = 60.0;

pub(super) fn chart(explanation: &Explanation, phases: &[(&Stage, usize)]) -> ChartView {
    let states: Vec<(String, &State)> = [("before".to_string(), &explanation.start)]
        .into_iter()
        .chain(phases.iter().map(|(phase, number)| (format!("{number}. {}", phase.name), &phase.end)))
        .collect();
    let heights: Vec<f64> = states.iter().map(|(_, state)| value(&state.cost.total(), SIZE).max(1.0).log10()).collect();
    let (low, high) = heights.iter().fold((f64::INFINITY, 0.0f64), |(low, high), y| (low.min(*y), high.max(*y)));
    let span = if high - low < 0.1 { 0.1 } else { high - low };
    let gap = (WIDTH as f64 - 2.0 * MARGIN) / (states.len().max(2) - 1) as f64;
    let places: Vec<(f64, f64)> = heights
        .iter()
        .enumerate()
        .map(|(at, y)| (MARGIN + gap * at as f64, MARGIN + (HEIGHT as f64 - 2.0 * MARGIN) * (high - y) / span))
        .collect();
    let number = |x: f64| format!("{x:.1}");
    let line = places.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect::<Vec<_>>().join(" ");
    let floor = number(HEIGHT as f64 - MARGIN / 2.0);
    let (first, last) = (places.first().map_or(0.0, |place| place.0), places.last().map_or(0.0, |place| place.0));
    let area = format!("{},{floor} {line} {},{floor}", number(first), number(last));
    // only what is new is said, and neighbours not on one line
    let (mut said, mut raised) = (String::new(), true);
    let points = states.iter().zip(&places).map(|((name, state), (x, y))| {
        let leading = leading(&state.cost.total());
        let is_new = leading != said;
        raised = is_new && !raised;
        let shown = if is_new { escaped(&leading) } else { String::new() };
        said = leading;
        PointView {
            x: number(*x),
            y: number(*y),
            label_y: number(y - if raised { 30.0 } else { 14.0 }),
            label: escaped(name),
            cost: escaped(&state.cost.short()),
            leading: shown,
        }
    });
    ChartView { width: WIDTH, height: HEIGHT, line, area, points: points.collect(), size: SIZE as usize }
}
