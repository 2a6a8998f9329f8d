//! The hot loops of the benchmarks run in vector lanes: the compiler's own report says so.
//!
//! Programs of `benches/` are emitted and compiled as `smoothc run` does, with gcc's report of vectorised
//! loops. Every loop that the text marks with `SMOOTH_LANES` must be in it. Left out are those with a branch
//! around calls (bundle) and that gcc finds too short for lanes (quaternion).

use std::path::Path;
use std::process::Command;

const FLAGS: [&str; 9] = [
    "-std=c99",
    "-O3",
    "-march=native",
    "-fopenmp-simd",
    "-DSMOOTH_SIMD",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fopt-info-vec-optimized",
];

/// The first and last line of each marked loop, counted from 1.
fn marked(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_mark = |line: &str| indent(line) > 0 && line.trim().starts_with("SMOOTH_LANES");
    let end = |at: usize| (at + 1..lines.len()).find(|k| lines[*k].trim() == "}" && indent(lines[*k]) == indent(lines[at]));
    (1..lines.len()).filter(|at| is_mark(lines[at - 1])).filter_map(|at| Some((at + 1, end(at)? + 1))).collect()
}

#[test]
fn marked_loops_are_vectorised() {
    let about = Command::new("gcc").arg("-v").output().map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
    if !about.is_ok_and(|about| about.contains("x86_64-linux")) {
        println!("skipped: the report is read from gcc for x86-64 Linux");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut count = 0;
    for program in ["nnmf", "camera"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/{program}.smooth"));
        let c = folder.path().join(format!("{program}.c"));
        let emitted = Command::new(env!("CARGO_BIN_EXE_smoothc")).args(["emit", "--target", "c"]).arg(source).arg("-o").arg(&c).status();
        assert!(emitted.is_ok_and(|status| status.success()), "{program}");
        let compiled = Command::new("gcc").args(FLAGS).arg("-c").arg(&c).arg("-o").arg(folder.path().join("x.o")).output().expect("gcc");
        let report = String::from_utf8_lossy(&compiled.stderr).into_owned();
        assert!(compiled.status.success(), "{program}: {report}");
        let text = std::fs::read_to_string(&c).expect("C");
        let vectorised = |line: usize| report.lines().any(|said| said.contains(&format!(".c:{line}:")) && said.contains("loop vectorized"));
        for (first, last) in marked(&text) {
            count += 1;
            assert!(
                (first..=last).any(vectorised),
                "{program}, line {first}: {}\n{report}",
                text.lines().nth(first - 1).unwrap_or_default()
            );
        }
    }
    assert!(count >= 3, "only {count} marked loops");
}
