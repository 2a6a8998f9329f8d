//! Recursion that is no loop, in emitted C: values, derivatives in both modes, statuses and the room that it has.
//!
//! The programs are those of tests/stack/recursion.smooth, and with values of recursive types those of tests/stack/nodes.smooth; the
//! interpreter, which runs recursion as it is written, says what they mean. C runs under sanitizers where there are some, with exactly the
//! workspace that it asks for and with a byte less.

use std::process::Command;

use smoothc::driver::{Options, Schedule};
use smoothc::loops::eval::{self, Call, Cell, Given, WORKSPACE};
use smoothc::loops::program::{Elem, Role};
use smoothc::loops::{parse, print};
use smoothc::mode::Mode;
use smoothc::stack::with_large_stack;

use crate::support::command::with_input;
use crate::support::{agree, engine, tools};

const PROGRAMS: &str = include_str!("../stack/recursion.smooth");
const NODES: &str = include_str!("../stack/nodes.smooth");

const CALLS: &[(&str, &[&str])] = &[
    ("factorial", &["0"]),
    ("factorial", &["10"]),
    ("fibonacci", &["15"]),
    ("ackermann", &["2", "3"]),
    ("near", &["6"]),
    ("determinant", &["[]", "0", "[]"]),
    ("determinant", &["[[3]]", "1", "[true]"]),
    ("determinant", &["[[1, 2, 3], [4, 5, 6], [7, 8, 10]]", "3", "[true, true, true]"]),
    ("determinant", &["[[1, 2], [4, 5]]", "3", "[true, true]"]),
    ("minors", &["[[1, 2, 3], [4, 5, 6], [7, 8, 10]]", "3", "[true, true, true]"]),
    ("power", &["1.1", "0"]),
    ("power", &["1.1", "13"]),
    ("horner", &["[1, 2, 3]", "2", "3"]),
    ("horner", &["[]", "2", "0"]),
    ("horner", &["[1]", "2", "2"]),
    ("product", &["[0.1, 0.2, 0.3, 0.4, 0.5]", "0", "5"]),
    ("pair", &["0.5", "0"]),
    ("pair", &["0.5", "4"]),
    ("alternates", &["12"]),
    ("all", &["1000000", "[0.5, 1, 2]"]),
    ("all", &["1000000", "[0.5, 0, 2]"]),
    ("above", &["[1, 2, 3.5]", "4"]),
    ("above", &["[1, 2, 3.5]", "0"]),
    ("branches", &["0", "0.25"]),
    ("branches", &["5", "0.25"]),
    ("halves", &["[]", "2"]),
    ("halves", &["[0.1, 0.2]", "4"]),
    ("middle", &["0.3", "5"]),
    ("nested", &["0.4", "3"]),
    ("male", &["0.7", "8"]),
    ("female", &["0.7", "5"]),
    ("walk", &["[1, 2, 0]", "[0.5, 1.5, 2.5]", "1", "5"]),
    ("walk", &["[1, 2, 0]", "[0.5, 1.5]", "1", "5"]),
    ("local", &["[0.5, 0.25, 2]", "4"]),
    ("local", &["[]", "1"]),
    ("group", &["[0.5, 0.25, 2]", "3"]),
    ("group", &["[0.5]", "0"]),
    ("group", &["[]", "1"]),
    ("inTurn", &["0.7", "7"]),
    ("deep", &["0.5", "10000"]),
    ("exact", &["0.5", "7", "0"]),
    ("exactInside", &["0.5", "7", "0"]),
    ("powerSlope", &["1.1", "13"]),
    ("powerCurve", &["1.1", "6"]),
    ("hornerSlope", &["[1, 2, 3]", "2"]),
    ("productSlope", &["[0.1, 0.2, 0.3, 0.4, 0.5]"]),
    ("pairSlope", &["0.5", "4"]),
    ("determinantSlope", &["[[1, 2, 3], [4, 5, 6], [7, 8, 10]]"]),
    ("halvesSlope", &["[0.1, 0.2]", "3"]),
    ("maleSlope", &["0.7", "6"]),
    ("middleSlope", &["0.3", "5"]),
    ("nestedSlope", &["0.4", "3"]),
    ("branchesSlope", &["0.3", "4"]),
    ("walkSlope", &["[1, 2, 0]", "[0.5, 1.5, 2.5]", "1", "5"]),
    ("wavesSlope", &["0.7", "9"]),
    ("wavesCurve", &["0.7", "9"]),
    ("wavesOfTwo", &["[0.7, 1.5]", "9"]),
    ("wavesOfAll", &["[0.7, 0.8, 0.9]", "9"]),
    ("localCurve", &["[0.5, 0.25, 2]", "2"]),
    ("groupCurve", &["[0.5, 0.25, 2]", "2"]),
    ("inTurnSlope", &["0.7", "6"]),
    ("chainSlope", &["[0.5, 1.5]", "0"]),
    ("chainSlope", &["[0.5, 1.5, -0.5]", "300"]),
    ("chainSlope", &["[]", "2"]),
    ("settledSlope", &["[0.5, 1.5]", "300"]),
    ("settledSlope", &["[]", "3"]),
    ("sinesSlope", &["2", "[0.5, 0.25]"]),
    ("turnsOfDataSlope", &["0.5", "[3, 0, 7, -1]"]),
    ("turnsOfDataSlope", &["0.5", "[]"]),
    ("framesInLoops", &["[[1, 2], [3, 4]]"]),
    ("framesSlope", &["[1, 2]"]),
    // frames of no bytes
    ("sinesSlope", &["2", "[]"]),
];

const CALLS_WITH_NODES: &[(&str, &[&str])] = &[
    ("listed", &["0"]),
    ("listed", &["9999"]),
    ("slow", &["50"]),
    ("mapped", &["20", "1.5"]),
    ("total", &["0", "0.7"]),
    ("total", &["4", "0.7"]),
    ("mirrored", &["4", "0.7"]),
    ("totalSlope", &["4", "0.7"]),
    ("mappedSlope", &["5", "0.3"]),
    ("second", &["3", "0.4"]),
    ("each", &["[]"]),
    ("each", &["[1, 2, -3]"]),
    ("eachJacobian", &["[1, 2, -3]"]),
    ("fromVector", &["[]"]),
    ("fromVector", &["[1, 2, 3]"]),
    ("fromVectorGradient", &["[1, 2, 3]"]),
    ("captured", &["[1, 2, 3]"]),
    ("shared", &["[1, 2, 3]"]),
    ("sharedGradient", &["[1, 2, 3]"]),
    ("inside", &["[1, 2, 3]", "0.5"]),
    ("choose", &["1", "0"]),
    ("choose", &["-1", "1"]),
    ("choose", &["-1", "0"]),
    ("both", &["3"]),
    ("bush", &["3", "0.7"]),
    ("bushSlope", &["3", "0.7"]),
    ("tagged", &["4", "[1, 2]", "[0.5, 0.25, 3]"]),
    ("tagged", &["4", "[1, 2]", "[]"]),
    ("taggedGradient", &["4", "[1, 2]", "[0.5, 0.25, 3]"]),
    ("loop", &["7", "0.3"]),
    ("loopSlope", &["7", "0.3"]),
    ("search", &["0.9"]),
    ("searchSlope", &["0.9"]),
    ("empty", &["2"]),
    ("below", &["[]", "0.4"]),
    ("below", &["[0.3, -1, 2, 0.1, 0.5]", "0.4"]),
    ("belowGradient", &["[0.3, -1, 2, 0.1, 0.5]", "0.4"]),
    ("mixture", &["[1, 2]", "7"]),
    ("mixture", &["[1, 2]", "0"]),
    ("parts", &["[1, -2, 3, -4]"]),
    ("partsGradient", &["[1, -2, 3, -4]"]),
    ("partsHessian", &["[1, -2, 3, -4]"]),
    ("flat", &["3", "0.7"]),
    ("passed", &["3"]),
    ("passed", &["1"]),
];

const DERIVATIVES: &[&str] = &["hornerSlope", "productSlope", "determinantSlope", "halvesSlope", "walkSlope", "wavesOfTwo", "sinesSlope"];

fn hold(schedule: &str, mode: Mode, is_wanted: fn(&str) -> bool) {
    let options = Options { schedule: Schedule::Named(schedule.into()), mode, ..Options::default() };
    if let Err(difference) = agree::hold("recursion.smooth", PROGRAMS, &options, CALLS, is_wanted) {
        panic!("{schedule}, {mode:?}: {difference}");
    }
}

#[test]
fn recursion_in_c_gives_what_the_interpreter_gives() {
    with_large_stack(|| hold("default", Mode::Auto, |_| true));
}

#[test]
fn recursion_as_it_is_cut_gives_what_the_interpreter_gives() {
    // a call that stays one is measured by what its caller knows, and `above` calls by its state
    let is_wanted = |entry: &str| !entry.ends_with("Slope") && !entry.ends_with("Curve") && entry != "above";
    with_large_stack(|| hold("none", Mode::Forward, is_wanted));
}

#[test]
fn derivatives_of_recursion_in_reverse_are_those_of_the_interpreter() {
    with_large_stack(|| hold("default", Mode::Reverse, |entry| DERIVATIVES.contains(&entry)));
}

#[test]
fn nodes_in_c_give_what_the_interpreter_gives() {
    let is_derivative = |entry: &str| ["Slope", "Gradient", "Jacobian", "Hessian"].iter().any(|end| entry.ends_with(end));
    let small = ["totalSlope", "mappedSlope", "eachJacobian", "fromVectorGradient", "bushSlope", "loopSlope", "searchSlope"];
    let hold = |schedule: &str, mode, is_wanted: &dyn Fn(&str) -> bool| {
        let calls: Vec<_> = CALLS_WITH_NODES.iter().filter(|(entry, _)| is_wanted(entry)).copied().collect();
        let options = Options { schedule: Schedule::Named(schedule.into()), mode, ..Options::default() };
        let held = with_large_stack(|| agree::hold("nodes.smooth", NODES, &options, &calls, |_| true));
        held.unwrap_or_else(|difference| panic!("{schedule}, {mode:?}: {difference}"));
    };
    hold("default", Mode::Auto, &|_| true);
    hold("default", Mode::Reverse, &|entry| small.contains(&entry));
    hold("paper", Mode::Forward, &|entry| small.contains(&entry));
    hold("none", Mode::Forward, &|entry| !is_derivative(entry));
}

/// What a command says.
fn said(words: &[&str]) -> String {
    said_of(PROGRAMS, words)
}

fn said_of(program: &str, words: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("programs.smooth");
    std::fs::write(&path, program).expect("a file");
    let path = path.to_string_lossy().into_owned();
    let words: Vec<&str> = words.iter().map(|word| if *word == "FILE" { path.as_str() } else { word }).collect();
    let output = with_input(&words, b"");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)).trim_end().to_string()
}

#[test]
fn a_call_beyond_the_room_is_a_status() {
    // ten thousand calls, one in another, in the first
    assert_eq!(said(&["run", "-q", "FILE", "deep", "0.5", "10000"]), "2.0");
    assert!(said(&["run", "-q", "FILE", "deep", "0.5", "10001"]).contains("E0708"));
    assert!(said(&["run", "-q", "--unchecked", "FILE", "deep", "0.5", "10001"]).contains("E0708"));
    assert_eq!(said(&["run", "-q", "FILE", "turnsOfData", "0.5", "[10000]"]), "[2.0]");
    assert!(said(&["run", "-q", "FILE", "turnsOfData", "0.5", "[10001]"]).contains("E0708"));
    // n + 1 calls, exactly
    assert_eq!(said(&["run", "-q", "FILE", "exact", "0.5", "7", "0"]), "1.98828125");
    assert!(said(&["run", "-q", "FILE", "exact", "0.5", "7", "1"]).contains("E0708"));
    assert_eq!(said(&["eval", "-q", "FILE", "exact", "0.5", "7", "1"]), "1.994140625");
    assert_eq!(said(&["run", "-q", "FILE", "exactInside", "0.5", "7", "0"]), said(&["eval", "-q", "FILE", "exactInside", "0.5", "7", "0"]));
    assert!(said(&["run", "-q", "FILE", "exactInside", "0.5", "7", "1"]).contains("E0708"));
}

/// Where n is next to the largest Index the number of frames does not wrap: no memory has room for them.
#[test]
fn stacks_that_no_memory_has_room_for_are_too_large() {
    let program = "let rec f (x: Double) (n: Index) : Double decreases n = if x > 3.0 then x else x * f (x + 1.0) (n - 1)\n";
    assert_eq!(said_of(program, &["run", "-q", "FILE", "f", "0.5", "5"]), "6.5625");
    for n in ["9223372036854775807", "4611686018427387904", "3074457345618258603"] {
        let found = said_of(program, &["run", "-q", "FILE", "f", "0.5", n]);
        assert!(found.contains("E0706"), "{n}: {found}");
    }
}

/// C that is told to find the deepest call that so many bytes have room for. The block has exactly that size, and the result is
/// what it was where the status is SMOOTH_WORKSPACE.
const DEEPEST: &str = "
#include <stdio.h>
#include <stdlib.h>

static long deepest(size_t bytes)
{
    const double v[2] = {0.25, 0.5};
    (void)v;
    char *workspace = malloc(bytes > 0 ? bytes : 1);
    long low = FIRST - 1, high = LAST;
    while (low < high) {
        const int64_t n = (low + high + 1) / 2;
        double out[2] = {-1.0, -1.0};
        const smooth_status status = CALL;
        if (status == SMOOTH_OK) low = n;
        else if (status == SMOOTH_WORKSPACE && out[0] == -1.0) high = n - 1;
        else return -2;
    }
    free(workspace);
    return low;
}

int main(void)
{
    const size_t said = SAID;
    const size_t tried[] = {TRIED};
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) printf(\"%ld \", deepest(tried[k]));
    return 0;
}
";

/// The deepest calls for each number of bytes, over `said`, in a range of depths; a number before it where there is none.
fn deepest(entry: &str, options: Options, said: &str, call: &str, tried: &str, (first, last): (u32, u32)) -> String {
    let options = Options { entries: vec![entry.into()], header: "program.h".into(), ..options };
    let session = with_large_stack(|| {
        let session = engine::compile_with("programs.smooth", &format!("{PROGRAMS}\n{NODES}"), options, "emit")?;
        Ok::<_, String>(session.files.map_or(String::new(), |files| files.source))
    });
    let folder = tempfile::tempdir().expect("a folder");
    let (file, binary) = (folder.path().join("deep.c"), folder.path().join("deep"));
    let main = DEEPEST.replace("CALL", call).replace("SAID", said).replace("TRIED", tried);
    let main = main.replace("FIRST", &first.to_string()).replace("LAST", &last.to_string());
    std::fs::write(&file, session.expect("a program") + &main).expect("writes");
    let mut command = Command::new(tools::c_compiler());
    command.args(["-std=c99", "-O1", "-DSMOOTH_WORTH=1e-3"]);
    if tools::has_sanitizers() {
        command.args(["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    }
    tools::succeeds(command.arg("-o").arg(&binary).arg(&file).arg("-lm")).expect("compiles");
    tools::succeeds(&mut Command::new(&binary)).unwrap_or_else(|problem| panic!("{entry}: {problem}"))
}

#[test]
fn more_bytes_are_more_depth() {
    let with =
        |schedule: &str, mode, parallel| Options { schedule: Schedule::Named(schedule.into()), mode, parallel, ..Options::default() };
    let plain = || with("default", Mode::Auto, false);
    let all = (0, 100_000);
    // a byte less than is said, as many, almost a call more, a call more, 30,000 calls more
    let each = |bytes: u32| format!("said - 1, said, said + {bytes} - 1, said + {bytes}, said + 30000 * {bytes} + 5");
    let deeper = "-1 10000 10000 10001 40000 ";
    let waves = "waves(0.25, n, out, workspace, bytes)";
    assert_eq!(deepest("waves", plain(), "waves_workspace(0)", waves, &each(16), all), deeper);
    let slope = "wavesSlope(0.25, n, out, workspace, bytes)";
    assert_eq!(deepest("wavesSlope", plain(), "wavesSlope_workspace(0)", slope, &each(24), all), deeper);
    // in a function of its own, and in a part of a loop that threads share
    let of_all = "wavesOfAll(2, v, n, out, workspace, bytes)";
    assert_eq!(deepest("wavesOfAll", with("none", Mode::Auto, false), "wavesOfAll_workspace(2, 0)", of_all, &each(16), all), deeper);
    assert_eq!(deepest("wavesOfAll", with("default", Mode::Auto, true), "wavesOfAll_workspace(2, 0)", of_all, &each(16), all), deeper);
    // where nothing is kept a call counts as eight bytes
    let deep = "deep(0.25, n, out, workspace, bytes)";
    assert_eq!(deepest("deep", plain(), "deep_workspace(0)", deep, "said, said + 7, said + 8, said + 240005", all), &deeper[3..]);
    // lists are longer where there are more bytes
    let listed = "listed(n, out, workspace, bytes)";
    assert_eq!(deepest("listed", plain(), "listed_workspace(0)", listed, &each(24), all), "-1 9999 9999 10000 39999 ");
    // a hundredth more in reverse mode, whose states have a stack each
    let reverse = with("default", Mode::Reverse, false);
    let of_two = "wavesOfTwo(v, n, out, workspace, bytes)";
    let more = "said - 1, said, said + said / 100";
    assert_eq!(deepest("wavesOfTwo", reverse, "wavesOfTwo_workspace(0)", of_two, more, (9_990, 10_120)), "9989 10000 10100 ");
}

/// The loop program with exactly the workspace that it says, where a read of what was not written is an error.
#[test]
fn no_frame_is_read_before_it_is_written() {
    let calls = [
        ("total", Mode::Auto),
        ("mirrored", Mode::Auto),
        ("choose", Mode::Auto),
        ("fibonacci", Mode::Auto),
        ("waves", Mode::Auto),
        ("wavesSlope", Mode::Forward),
        ("wavesOfTwo", Mode::Reverse),
        ("male", Mode::Auto),
    ];
    for (entry, mode) in calls {
        let options = Options { entries: vec![entry.into()], mode, ..Options::default() };
        let program = with_large_stack(|| {
            engine::compile_with("programs.smooth", &format!("{PROGRAMS}\n{NODES}"), options, "loops")
                .map(|session| print::program(&session.loops))
        });
        let program = parse::program(&program.expect("a program")).expect("reads back");
        // reverse mode reads all of every state
        let is_cleared = print::program(&program).lines().any(|line| line.trim_start().starts_with("for "));
        assert_eq!(is_cleared, mode == Mode::Reverse, "{entry}");
        let function = program.functions.iter().find(|function| &*function.name == entry).expect("an entry");
        let given = function.params.iter().map(|param| match param.role {
            Role::Array(_) => Given::Array(vec![Cell::Double(0.5); 2]),
            Role::OutArray(_) => Given::Out(2),
            Role::OutScalar => Given::Out(1),
            _ if function.locals[param.id].elem == Elem::Double => Given::Cell(Cell::Double(0.5)),
            _ => Given::Cell(Cell::Index(4)),
        });
        let given: Vec<Given> = given.collect();
        for (short, status) in [(0, 0), (1, WORKSPACE)] {
            let outcome = eval::call(&program, entry, &given, Call { threads: 1, short })
                .unwrap_or_else(|problem| panic!("{entry}, {mode:?}: {problem}"));
            assert_eq!(outcome.status, status, "{entry}, {mode:?}");
        }
    }
}

/// What a function only reads every call passes on, and what it makes has one place: no stack holds columns.
#[test]
fn columns_of_nodes_are_not_on_the_stack() {
    let text = said_of(NODES, &["emit", "-q", "--entry", "flat", "FILE", "-o", "-"]);
    assert!(text.contains("tree_leaf") && text.contains("list_cons_0"), "{text}");
    assert!(!text.contains("smooth_times(smooth_times"), "{text}");
}

#[test]
fn a_million_frames_fit_where_the_program_says_so() {
    assert_eq!(said(&["run", "-q", "FILE", "exact", "0.5", "1000000", "0"]), "2.0");
    assert_eq!(said(&["run", "-q", "FILE", "exactInside", "0.5", "1000000", "0"]), "1.0");
}

#[test]
fn halves_of_recursion_together_are_the_derivative() {
    let forward = said(&["eval", "-q", "--derive", "revf:horner", "FILE", "horner_revf", "[1, 2, 3]", "2", "3"]);
    let kept = forward.strip_prefix("[17.0, ").and_then(|rest| rest.strip_suffix(']')).unwrap_or_else(|| panic!("{forward}"));
    let back = said(&["eval", "-q", "--derive", "revr:horner", "FILE", "horner_revr", kept, "1"]);
    assert_eq!(back, said(&["eval", "-q", "--derive", "vjp:horner", "FILE", "horner_vjp", "[1, 2, 3]", "2", "3", "1"]));
}

#[test]
fn futhark_has_no_stack() {
    let text = said(&["emit", "--target", "futhark", "--entry", "factorial", "FILE"]);
    assert!(text.contains("error[E0606]: unsupported in Futhark: the recursion of `factorial` is no loop"), "{text}");
}

/// The notations of paper 003 have no recursion: functions beside it are shown all the same.
#[test]
fn notations_without_recursion_show_what_has_none() {
    let program = "\
let square (x: Double) = x * x
let rec power (n: Index) (x: Double) : Double = if n = 0 then 1.0 else x * power (n - 1) x
let rec settle (x: Double) : Double = if x < 0.8 then x else settle (cos x)
let cube (x: Double) = power 3 x
";
    let session = engine::compile_with("program.smooth", program, Options::default(), "types").expect("is typed");
    let (linear, cl) = (smoothc::linear::print(&session.program), smoothc::cl::print(&session.program));
    for (text, form, shown) in [(linear, "linear map", "let D square ("), (cl, "arrow", "def square :")] {
        let text = text.expect("a function has one");
        assert!(text.contains(shown), "{text}");
        for name in ["power", "settle", "cube"] {
            assert!(text.contains(&format!("// {name}: recursion has no {form}\n")), "{text}");
        }
    }
    let alone = said(&["emit", "-q", "--dump", "cl", "--entry", "factorial", "FILE"]);
    assert!(alone.contains("error[E0606]: unsupported: recursion has no arrow"), "{alone}");
}

/// What an entry counts at a depth, backwards where it is a derivative.
fn counts(entry: &str, depth: usize) -> f64 {
    let depth = depth.to_string();
    let text = said(&["eval", "-q", "--count", "--schedule", "default", "--mode", "reverse", "FILE", entry, "[1, 2, 3, 0.5]", &depth]);
    let counts: serde_json::Value = serde_json::from_str(text.lines().last().unwrap_or_default()).expect("counts");
    counts.as_object().expect("a row").values().filter_map(serde_json::Value::as_f64).sum()
}

/// The stack is as long as the recursion is deep, and a step backwards costs the same.
#[test]
fn a_gradient_backwards_costs_the_same_for_each_call() {
    for (of, gradient) in [("chain", "chainSlope"), ("settledSum", "settledSlope")] {
        let ratios = [400, 1600, 6400].map(|depth| counts(gradient, depth) / counts(of, depth));
        assert!(ratios.iter().all(|ratio| *ratio < 12.0), "{gradient}: {ratios:?}");
    }
}

#[test]
fn stages_of_dual_numbers_have_each_function_once() {
    let text = said(&["explain", "-q", "--dual-numbers", "FILE", "power"]);
    assert_eq!(text.matches("let power' ").count(), text.matches("time to go back").count(), "{text}");
}

/// What a program that has no stack is told.
fn refused(program: &str) -> String {
    let options = Options { schedule: Schedule::Named("default".into()), ..Options::default() };
    engine::compile_with("program.smooth", program, options, "emit").err().unwrap_or_default()
}

#[test]
fn what_changes_its_length_is_refused_with_a_next_step() {
    let shorter = "let rec total (v: Vector<n>) : Double = if n = 0 then 0.0 else v[0] + total (build (n - 1) (fun i -> v[i + 1]))\n";
    let text = refused(shorter);
    assert!(
        text.contains("E0606") && text.contains("changes the length n from call to call") && text.contains("pass the whole array"),
        "{text}"
    );
    let kept = "\
let rec f (x: Double) (n: Index) : Double =
  let v = build n (fun i -> x + double i)
  if n = 0 then x else f (vectorSum v) (n - 1) + v[0]
";
    let text = refused(kept);
    assert!(text.contains("E0606") && text.contains("keeps `v`, whose length changes from call to call"), "{text}");
    let ended = "\
type Option = None | Some of Vector
let rec _g (k: Index) (v: Vector<n>) : Option =
  if k <= 0 then None else match _g (k - 1) v with | Some u -> Some u | None -> if v[0] > 0.0 then Some v else Some (build k (fun i -> v[i]))
let g (k: Index) (v: Vector<n>) = match _g k v with | Some u -> vectorSum u | None -> 0.0
";
    let text = refused(ended);
    assert!(text.contains("E0606") && text.contains("ends in arrays whose length changes from call to call"), "{text}");
    let captured = "\
type Option = None | Some of Vector
let f (o: Option) (x: Double) (k: Index) : Double =
  match (if x > 0.0 then o else Some [x]) with
  | None -> 0.0
  | Some w ->
    let rec go (i: Index) (s: Double) : Double = if i >= k then s * x else x + go (i + 1) (s + w[0])
    go 0 0.0
";
    let text = refused(captured);
    assert!(text.contains("E0606") && text.contains("takes `w`, whose length only data says"), "{text}");
    let own = "let rec f (x: Double) (n: Index) : Double = if n = 0 then x * x else x * rd (fun y -> f y (n - 1)) x 1.0\n";
    let text = refused(own);
    assert!(text.contains("E0606") && text.contains("is inside of a derivative of its own"), "{text}");
}

#[test]
fn every_command_says_that_functions_have_no_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("endless.smooth");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/errors/E0316_function_made_in_each_call.smooth"), &path).expect("a file");
    let path = path.to_string_lossy().into_owned();
    for words in [&["check"][..], &["emit"], &["emit", "--target", "futhark"], &["eval"], &["explain"], &["run"]] {
        let mut words = words.to_vec();
        words.push(&path);
        words.extend(match words[0] {
            "eval" | "run" => &["f", "2", "0.5"][..],
            "explain" => &["f"],
            _ => &[],
        });
        let output = with_input(&words, b"");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("error[E0316]: each call of `repeat` inside itself is given another function"), "{words:?}: {said}");
    }
}

/// Four functions have twenty-four orders; of five nobody waits for all.
#[test]
fn functions_that_change_places_in_too_many_ways_are_refused() {
    let program = |count: usize| {
        let names: Vec<String> = (0..count).map(|k| format!("f{k}")).collect();
        let typed: Vec<String> = names.iter().map(|name| format!("({name}: Double => Double)")).collect();
        let given: Vec<String> = (0..count).map(|k| format!("(fun y -> y + {k}.0)")).collect();
        let turned = [&names[1..], &names[..1]].concat().join(" ");
        let swapped = [&names[1..2], &names[..1], &names[2..]].concat().join(" ");
        format!(
            "let rec ap {} (n: Index) (x: Double) : Double =\n  if n <= 0 then f0 x elif n % 2 = 0 then ap {turned} (n - 1) x else ap {swapped} (n - 1) x\n\
             let f (x: Double) = ap {} 5 x\n",
            typed.join(" "),
            given.join(" ")
        )
    };
    let output = with_input(&["check", "-"], program(4).as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = with_input(&["check", "-"], program(5).as_bytes());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("error[E0316]: `ap` calls itself with more than 24 choices of its functions"), "{said}");
}
