//! JᵀJ and Jᵀr of observations with several residuals each: one loop over the observations, and no array of the Jacobian.
//!
//! In: the forms in which a program asks for both. What is held: the optimised program gives the interpreter's values, its counts grow by
//! a constant for each observation, which is near that of a derivation by hand, and the emitted C has one loop and no workspace.

use smoothc::cli::values;
use smoothc::driver::Options;
use smoothc::ir::eval::eval;
use smoothc::stack::with_large_stack;

use crate::support::counting::{Sizes, arguments, total};
use crate::support::engine::{self, Known};

/// A rigid motion (an angle and a shift) of points: two residuals for each.
const MOTION: &str = "\
let _residual (motion: Vector<3>) (point: Vector<2>) (goal: Vector<2>) : Vector<2> =
  let c = cos motion[0]
  let s = sin motion[0]
  [c * point[0] - s * point[1] + motion[1] - goal[0], s * point[0] + c * point[1] + motion[2] - goal[1]]
let _rows (motion: Vector<3>) (points: Matrix<n, 2>) (goals: Matrix<n, 2>) : Matrix<n, 2> =
  build n (fun i -> _residual motion points[i] goals[i])
let _flat (motion: Vector<3>) (points: Matrix<n, 2>) (goals: Matrix<n, 2>) : Vector<2 * n> =
  let r = _rows motion points goals
  build (2 * n) (fun k -> r[k / 2][k % 2])
let _picked (motion: Vector<3>) (points: Matrix<n, 2>) (goals: Matrix<n, 2>) : Vector<2 * n> =
  build (2 * n) (fun k -> (_residual motion points[k / 2] goals[k / 2])[k % 2])
let both (motion: Vector<3>) (points: Matrix<n, 2>) (goals: Matrix<n, 2>) : Matrix<3, 3> * Vector<3> =
";

/// A body of `both` for each form, by what a program has as its residuals.
const FORMS: &[(&str, &str)] = &[
    (
        "a Jacobian for each observation, in a fold",
        "  ifold (fun (A, b) i ->
    let J = jacobian (fun m -> _residual m points[i] goals[i]) motion
    let Jt = matrixTranspose J
    (A + Jt * J, b + Jt * _residual motion points[i] goals[i])) (matrixZeros 3 3, vectorZeros 3) n
",
    ),
    (
        "an array of such Jacobians, and two folds",
        "  let J = build n (fun i -> jacobian (fun m -> _residual m points[i] goals[i]) motion)
  let r = _rows motion points goals
  let A = ifold (fun A i -> A + matrixTranspose J[i] * J[i]) (matrixZeros 3 3) n
  (A, ifold (fun b i -> b + matrixTranspose J[i] * r[i]) (vectorZeros 3) n)
",
    ),
    (
        "rows of residuals",
        "  let J = jacobian (fun m -> _rows m points goals) motion
  let r = _rows motion points goals
  let sum f = vectorSum (build n (fun i -> vectorSum (build 2 (fun c -> f i c))))
  (build 3 (fun a -> build 3 (fun b -> sum (fun i c -> J[i][c][a] * J[i][c][b]))), build 3 (fun a -> sum (fun i c -> J[i][c][a] * r[i][c])))
",
    ),
    (
        "residuals one after the other, laid out from rows",
        "  let J = jacobian (fun m -> _flat m points goals) motion
  let Jt = matrixTranspose J
  (Jt * J, Jt * _flat motion points goals)
",
    ),
    (
        "residuals one after the other, each picked",
        "  let J = jacobian (fun m -> _picked m points goals) motion
  let Jt = matrixTranspose J
  (Jt * J, Jt * _picked motion points goals)
",
    ),
];

/// A camera with six parameters, with slices of them.
const CAMERA: &str = "\
type Camera = { position: Vector<3>; focal: Double; centre: Vector<2> }
let _camera (v: Vector<6>) : Camera = { position = v[0..2]; focal = v[3]; centre = v[4..5] }
let _project (camera: Camera) (point: Vector<3>) : Vector<2> =
  let seen = point - camera.position
  camera.focal * [seen[0], seen[1]] / seen[2] + camera.centre
let _errors (v: Vector<6>) (corners: Matrix<n, 3>) (seen: Matrix<n, 2>) : Vector<2 * n> =
  let r = build n (fun i -> _project (_camera v) corners[i] - seen[i])
  build (2 * n) (fun k -> r[k / 2][k % 2])
let both (v: Vector<6>) (corners: Matrix<n, 3>) (seen: Matrix<n, 2>) : Matrix<6, 6> * Vector<6> =
  let J = jacobian (fun v -> _errors v corners seen) v
  let Jt = matrixTranspose J
  (Jt * J, Jt * _errors v corners seen)
";

/// A camera with nine parameters, as bundle adjustment has it: Rodrigues' formula, whose small angles are a case of their own, and a
/// lens. Its columns are large, are computed with numbers that each has for itself, and ask the same condition.
const LENS: &str = "\
let _rotate (r: Vector<3>) (x: Vector<3>) : Vector<3> =
  let a2 = vectorDot r r
  if a2 > 1e-20 then
    let a = sqrt a2
    let w = r / a
    cos a * x + sin a * vectorCross w x + (vectorDot w x * (1.0 - cos a)) * w
  else x + vectorCross r x
let _residual (v: Vector<9>) (x: Vector<3>) (seen: Vector<2>) : Vector<2> =
  let p = _rotate v[0..2] x + v[3..5]
  let q = [-(p[0] / p[2]), -(p[1] / p[2])]
  let n = vectorSqNorm q
  v[6] * (1.0 + v[7] * n + v[8] * n * n) * q - seen
let both (v: Vector<9>) (x: Matrix<n, 3>) (seen: Matrix<n, 2>) : Matrix<9, 9> * Vector<9> =
  let r v = build (2 * n) (fun k -> (_residual v x[k / 2] seen[k / 2])[k % 2])
  let J = jacobian r v
  (matrixTranspose J * J, matrixTranspose J * r v)
";

/// What `both` counts for one more observation, once its values are those of the program as it is written.
fn for_each_observation(name: &str, text: &str) -> u64 {
    let [plain, best] = ["none", "default"].map(|schedule| engine::compile("both.smooth", text, schedule, "rewrite").expect("compiles"));
    let count = |n: u64| {
        let sizes: Sizes = vec![("n".into(), n)];
        let [plain, best] = [&plain, &best].map(|session| {
            let function = session.program.functions.get("both").expect("an entry");
            eval(&session.program, "both", arguments(function, &sizes)).unwrap_or_else(|error| panic!("{name}: {}", error.message))
        });
        let known = Known { value: values::to_flat(&plain.value), largest: plain.trace.largest };
        assert_eq!(engine::difference(&known, &values::to_flat(&best.value)), None, "{name} for {n} observations");
        total(best.trace.counts)
    };
    let [one, few, more] = [1, 11, 31].map(count);
    assert_eq!((more - few) % 20, 0, "{name}: {few} for 11, {more} for 31");
    assert_eq!(2 * (few - one), more - few, "{name}: {one} for one, {few} for 11, {more} for 31");
    (more - few) / 20
}

fn emitted(text: &str) -> String {
    let session = engine::compile("both.smooth", text, "default", "emit").expect("compiles");
    session.emitted().unwrap_or_else(|_| panic!("C")).source.clone()
}

fn assert_one_loop(name: &str, text: &str) {
    let source = emitted(text);
    let entry = source
        .split_once("smooth_status both(")
        .and_then(|(_, rest)| rest.split_once("smooth_status both("))
        .map_or("", |(_, entry)| entry);
    assert_eq!(entry.matches("for (int64_t").count(), 1, "{name}:\n{entry}");
    let measure = source.split("size_t both_workspace(int64_t n)\n").nth(1).unwrap_or_default();
    assert!(measure.starts_with("{\n    (void)n;\n    return 0;\n}"), "{name}: {}", measure.lines().take(4).collect::<Vec<_>>().join("\n"));
}

#[test]
fn every_form_of_a_fit_is_one_loop() {
    with_large_stack(|| {
        for (name, body) in FORMS {
            let text = format!("{MOTION}{body}");
            let each = for_each_observation(name, &text);
            // by hand: four reads, 16 operations for both residuals, 8 for what is added, 6 additions
            assert!(each <= 40, "{name}: {each} for each observation");
            assert_one_loop(name, &text);
        }
    });
}

#[test]
fn a_camera_is_one_loop() {
    with_large_stack(|| {
        let each = for_each_observation("camera", CAMERA);
        assert!(each <= 80, "{each} for each observation");
        assert_one_loop("camera", CAMERA);
    });
}

#[test]
fn a_camera_with_a_lens_is_one_loop() {
    with_large_stack(|| {
        let each = for_each_observation("lens", LENS);
        // JᵀJ and Jᵀr alone are 216; it was 1,296 with loops for each column
        assert!(each <= 580, "{each} for each observation");
        assert_one_loop("lens", LENS);
        let text = emitted(LENS);
        // in front of the loop for the sines and roots, and in it
        assert_eq!(text.matches("if (s > 1e-20)").count(), 2, "{text}");
        let (before, each) = text.split_once("for (int64_t").expect("a loop");
        assert!(before.contains(" sin(") && !each.contains("sin(") && !each.contains("sqrt("), "{text}");
        // nor does the order of the numbers between columns matter
        let plain = LENS.replace("if a2 > 1e-20 then", "if true then");
        for_each_observation("lens without a case", &plain);
        assert_one_loop("lens without a case", &plain);
    });
}

/// The lengths of slices stay sizes where nothing is fused: none is stored in an array.
#[test]
fn lengths_are_not_stored() {
    with_large_stack(|| {
        let options = Options { disabled: vec!["fusion".into()], ..Options::default() };
        engine::compile_with("both.smooth", CAMERA, options, "emit").unwrap_or_else(|problem| panic!("{problem}"));
    });
}

/// An array that is also read elsewhere stays, and its elements are read from it.
#[test]
fn what_is_asked_for_is_stored() {
    with_large_stack(|| {
        let text = format!(
            "{}{}",
            MOTION.replace(": Matrix<3, 3> * Vector<3> =\n", ": Vector<2 * n> * Vector<3> =\n"),
            "  let J = jacobian (fun m -> _flat m points goals) motion\n  let r = _flat motion points goals\n  (r, matrixTranspose J * r)\n"
        );
        for_each_observation("residuals too", &text);
    });
}
