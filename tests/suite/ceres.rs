//! examples/ceres: bundle adjustment by Ceres Solver with smoothc's Jacobians ends where it ends with Ceres' automatic differentiation.
//!
//! In: a problem that this test makes, and the public one of 49 cameras where `../shared/data/bal` has it. Out: both costs agree. The
//! example is built as docs/builds.md says, by its own CMakeLists.txt, and Ceres is where CMake finds it; without it the reason is
//! printed.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::blocks;
use crate::support::tools::{exists, skipped, succeeds};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A problem in the format of "Bundle Adjustment in the Large": cameras before a cloud of points, which then are moved a little.
fn problem() -> String {
    let mut state = 7u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let cameras: Vec<[f64; 9]> = (0..4)
        .map(|at| [0.1 + 0.02 * random(), 0.1 * at as f64 + 0.05, 0.03 * random(), random(), random(), -6.0 + random(), 500.0, -0.05, 0.01])
        .collect();
    let points: Vec<[f64; 3]> = (0..30).map(|_| [random(), random(), random()]).collect();
    let mut text = format!("{} {} {}\n", cameras.len(), points.len(), cameras.len() * points.len());
    for (c, camera) in cameras.iter().enumerate() {
        for (p, point) in points.iter().enumerate() {
            let seen = project(camera, point);
            writeln!(text, "{c} {p} {} {}", seen[0] + 0.2 * random(), seen[1] + 0.2 * random()).expect("memory");
        }
    }
    let moved = cameras.iter().flatten().map(|value| value * (1.0 + 0.002 * random())).collect::<Vec<_>>();
    let others = points.iter().flatten().map(|value| value + 0.02 * random()).collect::<Vec<_>>();
    moved.iter().chain(&others).for_each(|value| writeln!(text, "{value}").expect("memory"));
    text
}

/// Where a camera sees a point: Rodrigues' formula, a pinhole, and two coefficients of distortion.
fn project(camera: &[f64; 9], x: &[f64; 3]) -> [f64; 2] {
    let r = [camera[0], camera[1], camera[2]];
    let theta = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
    let k = r.map(|value| value / theta);
    let dot = k[0] * x[0] + k[1] * x[1] + k[2] * x[2];
    let cross = [k[1] * x[2] - k[2] * x[1], k[2] * x[0] - k[0] * x[2], k[0] * x[1] - k[1] * x[0]];
    let p: Vec<f64> =
        (0..3).map(|i| x[i] * theta.cos() + cross[i] * theta.sin() + k[i] * dot * (1.0 - theta.cos()) + camera[3 + i]).collect();
    let seen = [-p[0] / p[2], -p[1] / p[2]];
    let d = seen[0] * seen[0] + seen[1] * seen[1];
    seen.map(|value| value * camera[6] * (1.0 + camera[7] * d + camera[8] * d * d))
}

/// The final costs that the program prints.
fn costs(said: &str) -> Vec<f64> {
    said.lines().filter_map(|line| line.split(" to ").nth(1)?.split(',').next()?.parse().ok()).collect()
}

#[test]
fn both_ways_end_at_one_cost() {
    for program in ["cmake", "make", "c++"] {
        if !exists(program) {
            skipped(&format!("there is no {program} here"));
            return;
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for name in ["cmake", "examples", "examples/ceres"] {
        fs::create_dir(folder.join(name)).expect("a folder");
        for file in fs::read_dir(format!("{ROOT}/{name}")).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if file.is_file() {
                fs::copy(&file, folder.join(name).join(file.file_name().expect("a name"))).expect("copies");
            }
        }
    }
    // as the page says, with a problem of this test's in the place of the public one
    let block = blocks::beginning("docs/builds.md", "cmake -S examples/ceres");
    let public = block.split_whitespace().find(|word| word.ends_with(".txt")).expect("a problem");
    fs::write(folder.join(public), problem()).expect("writes");
    let said = match succeeds(&mut blocks::command(&block, folder)) {
        // Ceres itself, or a library that it needs
        Err(why) if why.contains("\"Ceres\"") => {
            skipped(&format!("CMake finds no Ceres Solver here (`apt install libceres-dev`, or its folder in CMAKE_PREFIX_PATH): {why}"));
            return;
        }
        said => said.unwrap_or_else(|why| panic!("{why}")),
    };
    let found = costs(&said);
    assert!(matches!(found.as_slice(), [own, smooth] if (own - smooth).abs() <= 1e-3 * own && *own < 10.0), "{said}");
    let timed = said.lines().filter(|line| line.contains(" iterations of ") && line.contains(" ms, with Jacobians "));
    assert_eq!(timed.count(), 2, "{said}");
    let real = format!("{ROOT}/../shared/data/bal/problem-49-7776-pre.txt");
    if !Path::new(&real).exists() {
        skipped("there is no public problem in ../shared/data/bal");
        return;
    }
    let mut adjust = Command::new(folder.join("build/adjust"));
    let said = succeeds(adjust.args([&real, "6"])).unwrap_or_else(|why| panic!("{why}"));
    let found = costs(&said);
    assert!(matches!(found.as_slice(), [own, smooth] if (own - smooth).abs() <= 1e-3 * own && *own < 1e5), "{said}");
}
