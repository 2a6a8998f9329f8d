//! The public bundle-adjustment problem, where it is at hand: `../shared/data/bal/problem-49-7776-pre.txt` or the path in
//! `SMOOTHC_BAL`. Half the sum of squared residuals is known, the Jacobians are held against differences of the compiled
//! residuals, and a camera that does not exist is an error of exit status 1.

use std::path::{Path, PathBuf};
use std::process::Command;

use smoothc::driver::{Options, Session};
use smoothc::ir::Var;
use smoothc::source::Span;
use smoothc::toolchain::call::{self, Loaded};
use smoothc::toolchain::flat::{Column, Flat, Shape};
use smoothc::toolchain::sizes::Bindings;

use crate::support::tools;

/// Cameras (c × 9), points (p × 3), camera and point of each observation, and where it was seen (k × 2).
struct Problem {
    cameras: Vec<f64>,
    points: Vec<f64>,
    camera: Vec<i64>,
    point: Vec<i64>,
    observed: Vec<f64>,
}

fn problem() -> Option<Problem> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = std::env::var_os("SMOOTHC_BAL").map_or_else(|| root.join("../shared/data/bal/problem-49-7776-pre.txt"), PathBuf::from);
    let Ok(text) = std::fs::read_to_string(&path) else {
        tools::skipped(&format!("there is no {}; SMOOTHC_BAL may name the file", path.display()));
        return None;
    };
    let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    let (c, total) = (numbers[0] as usize, numbers[2] as usize);
    let (rows, rest) = numbers[3..].split_at(4 * total);
    let column = |at: usize| rows.iter().skip(at).step_by(4).map(|number| *number as i64).collect();
    Some(Problem {
        cameras: rest[..9 * c].to_vec(),
        points: rest[9 * c..].to_vec(),
        camera: column(0),
        point: column(1),
        observed: rows.chunks(4).flat_map(|row| [row[2], row[3]]).collect(),
    })
}

fn matrix(columns: usize, items: &[f64]) -> Flat {
    let row = Shape::Array(columns, Box::new(Shape::Double));
    Flat { shape: Shape::Array(items.len() / columns, Box::new(row)), columns: vec![Column::Double(items.to_vec())] }
}

fn indices(items: &[i64]) -> Flat {
    Flat { shape: Shape::Array(items.len(), Box::new(Shape::Index)), columns: vec![Column::Index(items.to_vec())] }
}

/// An entry of the example, compiled.
struct Entry {
    loaded: Loaded,
    sizes: Vec<Var>,
}

impl Entry {
    fn new(name: &str) -> Entry {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/bundle_adjustment.smooth")).expect("UTF-8");
        let mut session = Session::new("bundle_adjustment.smooth", &text, Options { only: Some(name.into()), ..Options::default() });
        session.run_to("emit", &mut |_, _| Err(String::new())).expect("compiles");
        let interface = session.interface(name).expect("an interface");
        let sizes = session.entry(name).expect("an entry").sizes.clone();
        let loaded =
            call::load(&session.emitted().expect("C").source, smoothc::toolchain::compiler::Arithmetic::Fast, interface, Span::NONE)
                .expect("compiles as C");
        Entry { loaded, sizes }
    }

    fn call(&self, problem: &Problem) -> Result<Vec<f64>, String> {
        let mut bindings = Bindings::default();
        for size in &self.sizes {
            let value = match &**size.name() {
                "c" => problem.cameras.len() / 9,
                "p" => problem.points.len() / 3,
                _ => problem.camera.len(),
            };
            bindings.bind(size, value as i64);
        }
        let arguments = [
            matrix(9, &problem.cameras),
            matrix(3, &problem.points),
            indices(&problem.camera),
            indices(&problem.point),
            matrix(2, &problem.observed),
        ];
        let result = self.loaded.call(&arguments, &bindings).map_err(|problem| problem.code.to_string())?;
        match result.columns.as_slice() {
            [Column::Double(items)] => Ok(items.clone()),
            _ => Err("no array of Doubles".into()),
        }
    }
}

#[test]
fn residuals_and_jacobians_of_the_public_problem() {
    let Some(mut problem) = problem() else { return };
    smoothc::stack::with_large_stack(|| {
        let (residuals, jacobians) = (Entry::new("residuals"), Entry::new("jacobians"));
        let half: f64 = residuals.call(&problem).expect("runs").iter().map(|r| r * r / 2.0).sum();
        assert!((half - 850912.4607).abs() < 0.05, "half the sum of squares is {half}");

        let exact = jacobians.call(&problem).expect("runs");
        for column in 0..12 {
            // a point that nearly lies in the plane of its camera wants a smaller step than the others
            let found = [1.0, 0.1, 0.01].map(|step| differences(&residuals, &mut problem, column, step));
            for at in 0..problem.observed.len() {
                let (value, wanted) = (exact[at * 12 + column], [found[0][at], found[1][at], found[2][at]]);
                let scale = exact[at * 12..][..12].iter().fold(1.0f64, |most, item| most.max(item.abs()));
                let agree = wanted.iter().any(|wanted| (value - wanted).abs() <= 1e-6 * scale);
                assert!(agree, "row {at}, column {column}: {value}, differences {wanted:?}");
            }
        }

        problem.camera[5] = 49;
        assert_eq!(jacobians.call(&problem).expect_err("no such camera"), "E0705");
    });
}

/// Fourth-order differences of all residuals in one column of their blocks: an observation has one camera and one point, so
/// this parameter moves in all cameras, or in all points, at once.
fn differences(residuals: &Entry, problem: &mut Problem, column: usize, step: f64) -> Vec<f64> {
    let mut slopes = vec![0.0; problem.observed.len()];
    // the step that suits the parameter: distortions are about 1e-7, focal lengths about 500
    let h = [1e-4, 1e-4, 1e-4, 1e-3, 1e-3, 1e-3, 1e-1, 1e-6, 1e-6, 1e-4, 1e-4, 1e-4][column] * step;
    for (steps, weight) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
        let (cameras, points) = (problem.cameras.clone(), problem.points.clone());
        let (items, at, width) = if column < 9 { (&mut problem.cameras, column, 9) } else { (&mut problem.points, column - 9, 3) };
        items.iter_mut().skip(at).step_by(width).for_each(|item| *item += steps * h);
        for (slope, value) in slopes.iter_mut().zip(residuals.call(problem).expect("runs")) {
            *slope += weight * value / (12.0 * h);
        }
        (problem.cameras, problem.points) = (cameras, points);
    }
    slopes
}

#[test]
fn a_camera_that_does_not_exist_is_exit_status_1() {
    let data = |name: &str| format!("@examples/data/{name}.npy");
    for command in ["run", "eval"] {
        let output = Command::new(env!("CARGO_BIN_EXE_smoothc"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args([command, "examples/bundle_adjustment.smooth", "jacobians", &data("cameras"), &data("points")])
            .args(["[0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]", &data("point"), &data("observed")])
            .output()
            .expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("E0807") && said.contains("camera"), "{said}");
    }
}
