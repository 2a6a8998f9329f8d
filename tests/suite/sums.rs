//! Sum types and `match`, by the command: layouts, nested patterns, lengths that each value has for itself, derivatives.
//!
//! `examples/shapes.smooth` has what a user would write, in every target; here is what may go wrong.

use smoothc::driver::{Options, Schedule};
use smoothc::mode::Mode;
use smoothc::stack::with_large_stack;

use crate::support::command::{errors, with_input};
use crate::support::{agree, tools};

const LAYOUTS: &str = "\
type S = | A of Double | B of Double * Double | C
type T =
| X of S
| Y of S * Index
type P = { at: S; k: Index }
let one (s: S) = match s with A x -> x | B (a, b) -> a + b | C -> 0.0
let nested (s: S) (t: S) =
  match s with
  | A x ->
    match t with
    | A y -> x + y
    | _ -> x
  | B (a, b) -> a * b
  | C -> 0.0
let inner (s: S) (t: S) =
  match s with
  | A x -> match t with
           | A y -> x + y
           | B (_, y) -> y
           | C -> x
  | B (a, b) -> a * b
  | C -> 0.0
let inLet (s: S) =
  let y =
    match s with
    | A x -> x
    | B (a, b) -> a * b
    | C -> 0.0
  let z = match s with
          | A x -> x
          | _ -> 1.0
  let w = match s with
    | A x -> x
    | _ -> 1.0
  y + z + w
let lets (s: S) =
  match s with
  | A x ->
    let y = x * x
    let z = y + 1.0
    y * z
  | B (a, b) -> let c = a + b
                c * c
  | C ->
      1.0
let deep (t: T) =
  match t with
  | X (A x) -> x
  | X (B (a, b)) | Y (B (a, b), 0) -> a * b
  | X C -> 0.0
  | Y (A x, i) -> x * double i
  | Y (s, 1) -> one s
  | Y _ -> 7.0
let fields (p: P) =
  match p with
  | { at = A x; k = 0 } -> x
  | { at = A x } -> 2.0 * x
  | { at = s; k = k } -> one s + double k
let inside (s: S) = 1.0 + (match s with A x -> x | B (a, _) -> a | C -> 2.0) * 3.0
let tupled (b: Bool) = match b with true -> 1.0, 2.0 | false -> 3.0, 4.0
let inIf (s: S) (c: Bool) = if c then match s with A x -> x | _ -> 0.0 else 2.0
let copied (s: S) (p: P) = { p with at = match s with A x -> B (x, x) | o -> o }
let each (v: Array<S, n>) =
  vectorMap v (fun s ->
    match s with
    | A x -> x
    | B (a, _) ->
      a
    | C -> 0.0)
let piped (x: Double) = x |> A |> one
let hides (A: Double) = A + 1.0
";

/// What an entry gives, by `command`.
fn gives(command: &str, program: &str, entry: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sums.smooth");
    std::fs::write(&path, program).expect("a file");
    let path = path.to_string_lossy().into_owned();
    let words: Vec<&str> = [command, "-q", &path, entry].into_iter().chain(arguments.iter().copied()).collect();
    let output = with_input(&words, b"");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)).trim_end().to_string()
}

#[test]
fn layouts_and_patterns_mean_what_they_say() {
    for (entry, arguments, wanted) in [
        ("nested", &[r#"{"A": 2}"#, r#"{"A": 3}"#][..], "5.0"),
        ("nested", &[r#"{"B": [2, 5]}"#, r#"{"A": 3}"#], "10.0"),
        ("inner", &[r#"{"A": 2}"#, r#"{"B": [1, 3]}"#], "3.0"),
        ("inner", &[r#"{"B": [4, 5]}"#, r#"{"B": [1, 3]}"#], "20.0"),
        ("inLet", &[r#"{"A": 5}"#], "15.0"),
        ("lets", &[r#"{"A": 2}"#], "20.0"),
        ("lets", &[r#"{"B": [1, 2]}"#], "9.0"),
        ("lets", &[r#""C""#], "1.0"),
        ("deep", &[r#"{"X": {"A": 4}}"#], "4.0"),
        ("deep", &[r#"{"Y": [{"B": [3, 4]}, 0]}"#], "12.0"),
        ("deep", &[r#"{"Y": [{"B": [3, 4]}, 1]}"#], "7.0"),
        ("deep", &[r#"{"Y": ["C", 1]}"#], "0.0"),
        ("fields", &[r#"{"at": {"A": 4}, "k": 1}"#], "8.0"),
        ("fields", &[r#"{"at": "C", "k": 1}"#], "1.0"),
        ("inside", &[r#"{"A": 4}"#], "13.0"),
        ("tupled", &["true"], "[1.0, 2.0]"),
        ("inIf", &[r#"{"A": 4}"#, "true"], "4.0"),
        ("copied", &[r#"{"A": 4}"#, r#"{"at": "C", "k": 1}"#], r#"{"at": {"B": [4.0, 4.0]}, "k": 1}"#),
        ("each", &[r#"[{"A": 4}, "C", {"B": [3, 4]}]"#], "[4.0, 0.0, 3.0]"),
        ("each", &["[]"], "[]"),
        ("piped", &["3"], "3.0"),
        ("hides", &["3"], "4.0"),
    ] {
        assert_eq!(gives("eval", LAYOUTS, entry, arguments), wanted, "{entry} {arguments:?}");
    }
}

const LENGTHS: &str = "\
type Data = | Points of Vector | Grid of Matrix | Pair of Vector<2> * Index | Nothing
let scaled (d: Data) = match d with Points v -> Points (2.0 * v) | Grid m -> Grid (2.0 * m) | other -> other
let dropped (d: Data) = match d with Points _ -> Nothing | other -> other
let total (d: Data) : Double =
  match d with
  | Points v -> vectorSqNorm v
  | Grid m -> matrixSqNorm m
  | Pair (v, i) -> v[i]
  | Nothing -> 0.0
let slope (d: Data) = gradient (fun d -> total (scaled d)) d
let repeated (d: Data) (n: Index) = ifold (fun d _ -> scaled d) d n
let either (c: Bool) (v: Vector<n>) (m: Matrix<k, j>) = let e = if c then Points v else Grid m in total e * total e
let two (c: Bool) (x: Double) = if c then Points (build 2 (fun _ -> x)) else Nothing
let turned (d: Data) = match d with Points v -> Grid [v] | other -> other
";

#[test]
fn each_value_has_lengths_of_its_own() {
    let calls = [
        ("scaled", &[r#"{"Points": [1, 2, 3]}"#][..], r#"{"Points": [2.0, 4.0, 6.0]}"#),
        ("scaled", &[r#"{"Points": []}"#], r#"{"Points": []}"#),
        ("scaled", &[r#"{"Grid": [[1, 2], [3, 4], [5, 6]]}"#], r#"{"Grid": [[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]}"#),
        ("scaled", &[r#"{"Pair": [[1, 2], 1]}"#], r#"{"Pair": [[1.0, 2.0], 1]}"#),
        ("scaled", &[r#""Nothing""#], r#""Nothing""#),
        ("dropped", &[r#"{"Points": [1, 2, 3]}"#], r#""Nothing""#),
        ("dropped", &[r#"{"Grid": [[1, 2]]}"#], r#"{"Grid": [[1.0, 2.0]]}"#),
        ("slope", &[r#"{"Points": [1, 2, 3]}"#], r#"{"Points": [8.0, 16.0, 24.0]}"#),
        ("slope", &[r#"{"Pair": [[1, 2], 1]}"#], r#"{"Pair": [[0.0, 1.0], 1]}"#),
        ("repeated", &[r#"{"Points": [1, 2]}"#, "3"], r#"{"Points": [8.0, 16.0]}"#),
        ("either", &["true", "[1, 2]", "[[1, 2, 3]]"], "25.0"),
        ("two", &["true", "3"], r#"{"Points": [3.0, 3.0]}"#),
        ("two", &["false", "3"], r#""Nothing""#),
        ("either", &["false", "[1, 2]", "[[1, 2, 3]]"], "196.0"),
    ];
    for (entry, arguments, wanted) in calls {
        assert_eq!(gives("eval", LENGTHS, entry, arguments), wanted, "{entry} {arguments:?}");
        assert_eq!(gives("run", LENGTHS, entry, arguments), wanted, "{entry} {arguments:?} in C");
    }
    // what only the data of a value decide has no room of a size that is known
    assert_eq!(gives("eval", LENGTHS, "turned", &[r#"{"Points": [1, 2]}"#]), r#"{"Grid": [[1.0, 2.0]]}"#);
    assert!(gives("run", LENGTHS, "turned", &[r#"{"Points": [1, 2]}"#]).contains("E0601"));
}

/// A `match` of four rows is three choices at one place.
#[test]
fn a_length_that_only_data_says_is_reported_once_at_each_place() {
    let program = "\
type S<n> = | A of Vector<n> | B of Double | C of Matrix<n, n> * Vector<n> | D
let f (s: S) : S = match s with | A w -> A w | B y -> C ([[y]], [y]) | C (m, v) -> A v | D -> A [1.0, 2.0]
let g (x: Double) (v: Vector<p>) (w: Vector<q>) = if x > 0.0 then A v else A w
";
    let said = errors(&with_input(&["emit", "--target", "c", "-"], program.as_bytes()));
    let places: Vec<&str> = said.lines().filter_map(|line| line.trim_start().strip_prefix("--> ")).collect();
    assert_eq!((said.matches("error[E0601]").count(), places), (2, vec!["<stdin>:2:20", "<stdin>:3:51"]), "{said}");
}

const LOOPS: &str = "\
type Shape = | Circle of Double | Box of Double * Double | Empty
let rec shrink (s: Shape) (k: Index) : Shape =
  if k <= 0 then s
  else match s with
    | Circle r -> shrink (Box (r, 0.5 * r)) (k - 1)
    | Box (a, b) -> shrink (Circle (a * b)) (k - 1)
    | Empty -> Empty
let area (s: Shape) : Double = match s with | Circle r -> r * r | Box (a, b) -> a * b | Empty -> 0.0
let after (s: Shape) (k: Index) = area (shrink s k)
let slope (s: Shape) (k: Index) = gradient (fun s -> area (shrink s k)) s
let rec find (v: Array<Index, n>) (i: Index<n>) (k: Index) : Index<n> = if k <= 0 then i else find v v[i] (k - 1)
let rec even (n: Index) : Index<2> = if n <= 0 then 1 else odd (n - 1)
and odd (n: Index) : Index<2> = if n <= 0 then 0 else even (n - 1)
";

/// What a result's type has checked does not stand around the last calls.
#[test]
fn tail_calls_that_give_choices_and_bounded_indices_are_loops() {
    let calls = [
        ("shrink", &[r#"{"Circle": 2}"#, "0"][..], r#"{"Circle": 2.0}"#),
        ("shrink", &[r#"{"Circle": 2}"#, "1"], r#"{"Box": [2.0, 1.0]}"#),
        ("shrink", &[r#""Empty""#, "3"], r#""Empty""#),
        ("after", &[r#"{"Box": [1, 3]}"#, "2"], "4.5"),
        ("slope", &[r#"{"Box": [1, 3]}"#, "2"], r#"{"Box": [9.0, 3.0]}"#),
        ("find", &["[1, 2, 0]", "0", "4"], "1"),
        ("even", &["6"], "1"),
        ("odd", &["6"], "0"),
        ("even", &["1000001"], "0"),
    ];
    for (entry, arguments, wanted) in calls {
        assert_eq!(gives("eval", LOOPS, entry, arguments), wanted, "{entry} {arguments:?}");
        assert_eq!(gives("run", LOOPS, entry, arguments), wanted, "{entry} {arguments:?} in C");
    }
    for command in ["eval", "run"] {
        let found = gives(command, LOOPS, "find", &["[1, 7]", "0", "2"]);
        assert!(found.contains("E0705"), "{command}: {found}");
    }
}

const RESULTS: &str = "\
type Shape<n> = | Circle of Double | Box of Double * Double | Fixed of Vector<3> | Open of Vector<n>
type Option = | Some of Double | None
type Flag = | On of Bool | At of Index
let chosen (k: Index) (v: Vector<3>) : Shape = if k = 0 then Circle v[0] else if k = 1 then Box (v[0], v[1]) else Fixed v
let same (s: Shape) : Shape = s
let scaled (s: Shape) (x: Double) : Shape =
  match s with Circle r -> Circle (x * r) | Box (a, b) -> Box (x * a, x * b) | Fixed v -> Fixed (x * v) | Open w -> Open (x * w)
let area (s: Shape) = match s with Circle r -> r * r | Box (a, b) -> a * b | Fixed v -> vectorDot v v | Open w -> vectorSum w
let slope (s: Shape) : Shape = gradient area s
let logs (v: Vector<n>) : Array<Option, n> = build n (fun i -> if v[i] > 0.0 then Some (log v[i]) else None)
let both (v: Vector<n>) (k: Index) : Shape * Option = (if k > 1 then Open v else Circle 1.0, if k > 2 then Some 1.0 else None)
let last (v: Vector<n>) : Option = ifold (fun s i -> match s with None -> (if v[i] > 2.0 then Some v[i] else None) | Some x -> Some (x + 1.0)) None n
let rec walked (k: Index) (o: Option) : Option =
  if k = 0 then o else walked (k - 1) (match o with Some x -> Some (x + 1.0) | None -> Some 0.0)
let flags (v: Array<Index, n>) : Array<Flag, n> = build n (fun i -> if v[i] > 3 then At v[i] else On (v[i] > 1))
let failing (v: Vector<n>) (i: Index) : Option = if i = 0 then None else Some v[i]
";

/// The runs fill results with a pattern first, and refuse one in which the data of another case is no longer that.
#[test]
fn data_of_other_cases_are_not_written() {
    let (circle, fixed, open) = (r#"{"Circle": 2}"#, r#"{"Fixed": [1, 2, 3]}"#, r#"{"Open": [1, 2]}"#);
    let (pair, empty) = (r#"{"Box": [3, 4]}"#, r#"{"Open": []}"#);
    let calls: &[(&str, &[&str])] = &[
        ("chosen", &["0", "[1, 2, 3]"]),
        ("chosen", &["1", "[1, 2, 3]"]),
        ("chosen", &["2", "[1, 2, 3]"]),
        ("same", &[circle]),
        ("same", &[pair]),
        ("same", &[fixed]),
        ("same", &[open]),
        ("scaled", &[circle, "3"]),
        ("scaled", &[pair, "3"]),
        ("scaled", &[fixed, "3"]),
        ("scaled", &[open, "3"]),
        ("scaled", &[empty, "3"]),
        ("slope", &[circle]),
        ("slope", &[pair]),
        ("slope", &[fixed]),
        ("slope", &[open]),
        ("logs", &["[1, -1, 2]"]),
        ("logs", &["[]"]),
        ("both", &["[1, 2]", "0"]),
        ("both", &["[1, 2]", "2"]),
        ("both", &["[1, 2]", "3"]),
        ("walked", &["0", r#""None""#]),
        ("walked", &["3", r#""None""#]),
        ("flags", &["[1, 2, 4]"]),
        ("failing", &["[1]", "0"]),
        ("failing", &["[1, 2]", "1"]),
        ("failing", &["[1]", "1"]),
    ];
    for schedule in ["default", "none"] {
        let options = Options { schedule: smoothc::driver::Schedule::Named(schedule.into()), ..Options::default() };
        let held = with_large_stack(|| agree::hold("results.smooth", RESULTS, &options, calls, |_| true));
        held.unwrap_or_else(|difference| panic!("{schedule}: {difference}"));
    }
}

/// A case that only data decides, with an array: the other branch is as long where it is never of that case. Recursive functions whose
/// results have the lengths of the values that they end with.
const DECIDED: &str = "\
type Option = | None | Some of Vector
type Data = | Points of Vector | Grid of Matrix | Both of Vector<2> * Vector | Nothing
type Held = { kept: Option; weight: Double }
let unit (v: Vector<n>) : Option = let s = vectorNorm v in if s > 0.0 then Some (v / s) else None
let first (v: Vector<n>) : Double = match unit v with | Some u -> u[0] | None -> 0.0
let firstSlope (v: Vector<n>) = gradient first v
let second (v: Vector<n>) : Double = match unit v with Some u -> (match unit (2.0 * u) with Some w -> u[0] * w[1] | None -> u[1]) | None -> 2.0
let secondCurve (v: Vector<n>) = hessian second v
let turned (d: Data) (x: Double) : Data =
  match d with
  | Points v -> if x > 0.0 then Grid [v, x * v] else Points v
  | Both (a, b) -> if x > b[0] then Nothing else Both (x * a, b)
  | Grid m -> Nothing
  | Nothing -> Nothing
let swapped (d: Data) (x: Double) : Data = match d with Points v -> Both ([x, 1.0], v) | Both (a, b) -> Points b | Grid _ -> Nothing | Nothing -> Nothing
let swappedSlope (d: Data) (x: Double) = gradient (fun d -> match swapped d x with Points v -> vectorSqNorm v | Both (a, b) -> a[0] * b[0] | _ -> x) d
let chain (v: Vector<n>) (w: Vector<m>) : Option =
  if v[0] > 3.0 then None elif v[0] > 2.0 then Some (2.0 * v) elif w[0] > 0.0 then None else Some v
let inner (v: Vector<n>) (x: Double) (k: Index) : Option =
  if x > 0.0 then (if k > 2 then Some (2.0 * v) else None) elif x > -1.0 then Some v else (if k > 3 then None elif k > 1 then Some (x * v) else None)
let innerSlope (v: Vector<n>) (x: Double) (k: Index) = gradient (fun (v, x) -> match inner v x k with Some u -> vectorSum u | None -> x) (v, x)
let held (v: Vector<n>) (x: Double) : Held * Double = (if x > 1.0 then { kept = Some (x * v); weight = x } else { kept = None; weight = 1.0 }), x
let heldSlope (v: Vector<n>) (x: Double) =
  gradient (fun x -> let (h, y) = held v x in match h.kept with Some u -> h.weight * vectorSum u | None -> y * y) x
let rec _checked (v: Vector<n>) (i: Index) : Option = if i = n then Some v elif v[i] < 0.0 then None else _checked v (i + 1)
let checked (v: Vector<n>) : Double = match _checked v 0 with Some u -> vectorSqNorm u | None -> -1.0
let checkedSlope (v: Vector<n>) = gradient checked v
let rec _scaled (v: Vector<n>) (i: Index) : Option =
  if i = n then Some v elif v[i] < 0.0 then None else match _scaled v (i + 1) with Some u -> Some (v[i] * u) | None -> None
let scaled (v: Vector<n>) : Option = _scaled v 0
let scaledSlope (v: Vector<n>) = gradient (fun v -> match scaled v with Some u -> vectorSum u | None -> 0.0) v
let rec _square (M: Matrix) (k: Index) : Matrix = if k <= 0 then M else _square (M * M) (k - 1)
let squares (v: Vector<n>) (k: Index) = matrixTrace (_square (build n (fun i -> build n (fun j -> v[i] * v[j]))) k)
let squaresSlope (v: Vector<n>) (k: Index) = gradient (fun v -> squares v k) v
let rec _halves (v: Vector<n>) (k: Index) : Vector<n> * Vector = if k = 0 then (v, 2.0 * v) else let (a, b) = _halves (0.5 * v) (k - 1) in (a + b, b)
let halves (v: Vector<n>) (k: Index) = let (a, b) = _halves v k in vectorDot a b
let part (n: Index) (x: Double) : Data = if n % 2 = 0 then Nothing else Points (build n (fun i -> x * double i))
let partSlope (n: Index) (x: Double) = gradient (fun x -> match part n x with Points v -> vectorSum v * x | _ -> x) x
";

#[test]
fn data_decides_the_case_and_not_its_length() {
    let calls: &[(&str, &[&str])] = &[
        ("first", &["[3, 4]"]),
        ("first", &["[0]"]),
        ("first", &["[]"]),
        ("firstSlope", &["[3, 4]"]),
        ("second", &["[3, 4]"]),
        ("second", &["[0, 0]"]),
        ("secondCurve", &["[3, 4]"]),
        ("swappedSlope", &[r#"{"Points": [1, 2, 3]}"#, "2"]),
        ("swappedSlope", &[r#"{"Both": [[1, 2], [3]]}"#, "2"]),
        ("innerSlope", &["[1, 2]", "2", "3"]),
        ("innerSlope", &["[1, 2]", "2", "2"]),
        ("innerSlope", &["[1, 2]", "-0.5", "2"]),
        ("innerSlope", &["[1, 2]", "-2", "3"]),
        ("heldSlope", &["[1, 2]", "2"]),
        ("heldSlope", &["[1, 2]", "0.5"]),
        ("checked", &["[1, 2, 3]"]),
        ("checked", &["[1, -2, 3]"]),
        ("checked", &["[]"]),
        ("checkedSlope", &["[1, 2, 3]"]),
        ("checkedSlope", &["[1, -2, 3]"]),
        ("scaledSlope", &["[1, 2, 3]"]),
        ("squares", &["[1, 2]", "2"]),
        ("squares", &["[]", "2"]),
        ("squaresSlope", &["[1, 2]", "2"]),
        ("halves", &["[1, 2]", "3"]),
        ("partSlope", &["3", "0.5"]),
        ("partSlope", &["2", "0.5"]),
    ];
    with_large_stack(|| {
        for (schedule, mode) in [("none", Mode::Forward), ("default", Mode::Auto), ("default", Mode::Reverse), ("paper", Mode::Auto)] {
            let options = Options { schedule: Schedule::Named(schedule.into()), mode, ..Options::default() };
            if let Err(problem) = agree::hold("options.smooth", DECIDED, &options, calls, |_| true) {
                panic!("{schedule} {mode:?}: {problem}");
            }
        }
    });
}

/// The data of the other case have room in C, and nobody sees them.
#[test]
fn results_of_a_case_that_data_decides_are_those_of_the_interpreter() {
    let calls: &[(&str, &[&str])] = &[
        ("turned", &[r#"{"Points": [1, 2, 3]}"#, "2"]),
        ("turned", &[r#"{"Points": [1, 2, 3]}"#, "-2"]),
        ("turned", &[r#"{"Both": [[1, 2], [3]]}"#, "2"]),
        ("turned", &[r#"{"Both": [[1, 2], [3]]}"#, "4"]),
        ("turned", &[r#"{"Grid": [[1, 2]]}"#, "4"]),
        ("turned", &[r#""Nothing""#, "4"]),
        ("swapped", &[r#"{"Points": [1, 2, 3]}"#, "2"]),
        ("swapped", &[r#"{"Both": [[1, 2], [3]]}"#, "2"]),
        ("swapped", &[r#""Nothing""#, "2"]),
        ("chain", &["[4, 1]", "[1]"]),
        ("chain", &["[2.5, 1]", "[1]"]),
        ("chain", &["[1, 1]", "[1]"]),
        ("chain", &["[1, 1]", "[0]"]),
        ("inner", &["[1, 2]", "2", "3"]),
        ("inner", &["[1, 2]", "2", "2"]),
        ("inner", &["[1, 2]", "-0.5", "2"]),
        ("inner", &["[1, 2]", "-2", "3"]),
        ("inner", &["[1, 2]", "-2", "4"]),
        ("held", &["[1, 2]", "2"]),
        ("held", &["[1, 2]", "1"]),
        ("scaled", &["[1, 2, 3]"]),
        ("scaled", &["[1, -2, 3]"]),
        ("unit", &["[0, 0]"]),
        ("unit", &["[0, 2]"]),
    ];
    for (entry, words) in calls {
        assert_eq!(gives("eval", DECIDED, entry, words), gives("run", DECIDED, entry, words), "{entry} {words:?}");
    }
}

/// What recursive functions are given in sums, local ones and declarations: `None` at first, then arrays of the program's.
const PASSED: &str = "\
type Option = | None | Some of Vector
type Two = | Zero | One of Vector | Both of Vector * Vector
let total (s: Option) = match s with | None -> 0.0 | Some w -> vectorSum w
let late (v: Vector<n>) (k: Index) : Double =
  let rec go (s: Option) (i: Index) : Double = if i > 5 then total s else go (if i > 2 then Some (2.0 * v) else s) (i + 1)
  in go None k
let back (v: Vector<n>) (k: Index) : Double =
  let rec go (s: Option) (i: Index) decreases i : Double =
    if i <= 0 then total s else 0.5 * go (match s with | None -> Some v | Some w -> Some (1.5 * w)) (i - 1) + total s
  in go None k
let turns (v: Vector<n>) (k: Index) : Double =
  let rec a (s: Option) (i: Index) : Double = if i <= 0 then total s else b (Some (2.0 * v)) (i - 1)
  and b (s: Option) (i: Index) : Double = if i <= 0 then 0.5 * total s else a (if vectorSum v > 3.0 then s else None) (i - 1)
  in a None k
let pair (v: Vector<n>) (w: Vector<m>) (k: Index) : Double =
  let rec go ((s, x): Option * Double) (t: Two) (i: Index) : Double =
    if i <= 0 then x * total s + (match t with | Zero -> 0.0 | One a -> vectorSum a | Both (a, b) -> vectorSum a * vectorSum b)
    else go (Some (x * v), x + 1.0) (if i > 2 then One (2.0 * v) else if i > 1 then t else Both (v, w)) (i - 1)
  in go (None, 1.0) Zero k
let rec _walk (s: Option) (v: Vector<n>) (i: Index) decreases i : Option =
  if i <= 0 then s else _walk (match s with | None -> Some v | Some w -> Some (w + v)) v (i - 1)
let walk (v: Vector<n>) (k: Index) = total (_walk None v k)
let walkTwice (v: Vector<n>) (w: Vector<m>) (k: Index) = total (_walk None v k) * total (_walk None w k) + total (_walk (Some v) v k)
let lateSlope (v: Vector<n>) (k: Index) = gradient (fun v -> late v k) v
let backSlope (v: Vector<n>) (k: Index) = gradient (fun v -> back v k) v
let turnsSlope (v: Vector<n>) (k: Index) = gradient (fun v -> turns v k) v
let pairSlope (v: Vector<n>) (w: Vector<m>) (k: Index) = gradient (fun (v, w) -> pair v w k) (v, w)
let walkSlope (v: Vector<n>) (w: Vector<m>) (k: Index) = gradient (fun (v, w) -> walkTwice v w k) (v, w)
";

#[test]
fn calls_of_recursive_functions_pass_options_of_other_lengths() {
    let mut calls = Vec::new();
    for k in ["0", "1", "3", "4"] {
        for v in ["[1, 2.5]", "[]"] {
            for entry in ["late", "back", "turns", "walk", "lateSlope", "backSlope", "turnsSlope"] {
                calls.push((entry, vec![v, k]));
            }
            for entry in ["pair", "walkTwice", "pairSlope", "walkSlope"] {
                calls.push((entry, vec![v, "[1, 2, 3]", k]));
            }
        }
    }
    let calls: Vec<(&str, &[&str])> = calls.iter().map(|(entry, words)| (*entry, words.as_slice())).collect();
    with_large_stack(|| {
        for (schedule, mode) in [("none", Mode::Forward), ("default", Mode::Auto), ("default", Mode::Reverse)] {
            let options = Options { schedule: Schedule::Named(schedule.into()), mode, ..Options::default() };
            if let Err(problem) = agree::hold("passed.smooth", PASSED, &options, &calls, |_| true) {
                panic!("{schedule} {mode:?}: {problem}");
            }
        }
    });
    assert_eq!(gives("eval", PASSED, "late", &["[1, 2.5]", "0"]), "7.0");
    assert_eq!(gives("eval", PASSED, "walk", &["[1, 2.5]", "4"]), "14.0");
    assert_eq!(gives("eval", PASSED, "pair", &["[1, 2.5]", "[1, 2, 3]", "5"]), "126.0");
}

/// In the interpreter each call may have another length; emitted code has no room for such.
#[test]
fn options_that_grow_from_call_to_call_run_in_the_interpreter() {
    let program = "\
type Option = | None | Some of Vector
let grow (v: Vector<n>) (k: Index) : Double =
  let rec go (s: Option) (i: Index) : Double =
    if i <= 0 then (match s with | None -> 0.0 | Some w -> vectorSum w)
    else go (match s with | None -> Some v | Some w -> Some (build (length w + 1) (fun j -> double j))) (i - 1)
  in go None k
";
    assert_eq!(gives("eval", program, "grow", &["[1, 2.5]", "3"]), "6.0");
    assert!(gives("run", program, "grow", &["[1, 2.5]", "3"]).contains("E0606"));
}

/// The two halves of a derivative have one type between them, which a loop over an option of the program's arrays has not.
#[test]
fn halves_of_options_that_loops_change_are_refused() {
    let program = "type Option = | None | Some of Vector
let f (v: Vector<n>) (k: Index) : Double =
  match ifold (fun (s: Option) i -> match s with None -> Some v | Some u -> Some (vectorMap u sin)) None k with None -> 0.0 | Some u -> vectorSum u
";
    let with = |command: &str, derive: &str, entry: &str, words: &[&str]| {
        let command = with_input(&[&[command, "--derive", derive, "-", entry], words].concat(), program.as_bytes());
        format!("{}{}", String::from_utf8_lossy(&command.stdout), String::from_utf8_lossy(&command.stderr))
    };
    for command in ["eval", "run"] {
        assert!(with(command, "revf:f", "f_revf", &["[0.5, 0.8]", "3"]).contains("E0601"), "{command}");
        assert!(with(command, "revr:f", "f_revr", &["[0.5, 0.8]", "3"]).contains("E0601"), "{command}");
        assert!(with(command, "vjp:f", "f_vjp", &["[0.5, 0.8]", "0", "1"]).starts_with("[0.0, 0.0]"), "{command}");
    }
}

/// Functions that call each other with options of several lengths: making them comes to an end, and their own sizes stay inside.
#[test]
fn groups_that_pass_options_are_made_once_for_all_lengths() {
    let program = "\
type Two = | Zero | One of Vector | Both of Vector * Vector
type Option = | None | Some of Vector
let rec go (s: Two) (v: Vector<n>) (x: Double) (i: Index) : Double =
  if i <= 0 then 1.3 elif i > 1 then ho (if x > 0.3 then s else Both (v, v)) v x (i - 1) else go (Both (v, v)) v x (i - 1)
and ho (_s: Two) (v: Vector<n>) (x: Double) (i: Index) : Double = if i <= 0 then 0.2 else go (One v) v x (i - 1)
let f (v: Vector<n>) (x: Double) (k: Index) : Double = go Zero v x k
let total (s: Option) : Double = match s with | None -> 0.3 | Some w -> vectorSum w
let g (v: Vector<n>) (k: Index) : Double =
  let rec a (s: Option) (i: Index) : Option = if i <= 0 then s else b (Some v) (i - 1)
  and b (s: Option) (i: Index) : Option = if i <= 0 then None elif k > 4 then e s (i - 1) else a s (i - 1)
  and e (s: Option) (i: Index) : Option =
    if i <= 0 then s else match s with None -> a None (i - 1) | Some u -> b (Some (0.5 * u)) (i - 1)
  in total (a None k) + total (b (Some v) k)
";
    for (entry, words, wanted) in [
        ("f", &["[0.5]", "0.4", "2"][..], "1.3"),
        ("f", &["[0.5]", "0.2", "3"], "1.3"),
        ("g", &["[0.5]", "2"], "0.8"),
        ("g", &["[0.5, 1]", "7"], "0.4875"),
    ] {
        assert_eq!(gives("eval", program, entry, words), wanted, "{entry} {words:?}");
    }
    let g = program.split_once("let total").map(|(types, rest)| format!("{}let total{rest}", types.split_once("let rec").expect("rec").0));
    assert_eq!(gives("run", &g.expect("two parts"), "g", &["[0.5]", "2"]), "0.8");
}

/// Where the calls of a recursive function have other lengths than the values that it ends with, its type says none.
#[test]
fn lengths_that_calls_change_stay_open() {
    let program = "let rec grow (v: Vector) (k: Index) : Vector = if k = 0 then v else grow (build (length v + 1) (fun _ -> 1.0)) (k - 1)\n\
                   let total (v: Vector<n>) (k: Index) = vectorSum (grow v k)\n";
    assert_eq!(gives("eval", program, "total", &["[1, 2]", "0"]), "3.0");
    assert!(gives("eval", program, "total", &["[1, 2]", "1"]).contains("E0702"));
}

/// Elements of an array have one length, and a cotangent is of the result's case: what the interpreter refuses there C does not run.
#[test]
fn what_lengths_decide_is_refused() {
    let program = "\
type Option = | None | Some of Vector
let positive (v: Vector<n>) : Option = if v[0] > 0.0 then Some v else None
let last (v: Vector<n>) : Option = ifold (fun o i -> if v[i] > 1.0 then Some v else if v[i] > 0.7 then Some [v[i]] else o) None n
let pair (v: Vector<n>) (w: Vector<m>) = [positive v, positive w]
let back (v: Vector<n>) (w: Option) = vjp positive v w
";
    for (entry, words, wanted) in [
        ("last", &["[0.5, 0.5]"][..], r#""None""#),
        ("pair", &["[-1]", "[-1, 2]"], r#"["None", "None"]"#),
        ("back", &["[-1, 2]", r#""None""#], "[0.0, 0.0]"),
    ] {
        assert_eq!(gives("eval", program, entry, words), wanted, "{entry}");
        assert!(gives("run", program, entry, words).contains("E0601"), "{entry}");
    }
    assert_eq!(gives("eval", program, "last", &["[0.5, 1.5]"]), r#"{"Some": [0.5, 1.5]}"#);
    assert_eq!(gives("eval", program, "last", &["[0.5, 0.8]"]), r#"{"Some": [0.8]}"#);
    assert!(gives("eval", program, "pair", &["[-1]", "[2, 1]"]).contains("E0702"));
}

/// What data says of the lengths in a loop's state is said after rules, too, and after the derivative that `auto` takes.
#[test]
fn schedules_keep_the_lengths_that_data_says() {
    let program = "\
type Opt = | No | Some of Vector | Two of Vector * Vector
let swap (M: Matrix<m, n>) : Double =
  let s = ifold (fun (s: Opt) i ->
    match s with | No -> Some M[i] | Some a -> Two (a, M[i]) | Two (a, b) -> Two (a + M[i], b)) No m
  match s with | No -> 0.0 | Some a -> vectorSum a | Two (a, b) -> vectorDot a b
let slope (M: Matrix<m, n>) = gradient swap M
";
    let rows = "[[1, 2], [3, 4], [5, 6]]";
    for schedule in ["none", "paper", "default"] {
        let words = |entry| gives("eval", program, entry, &[rows, "--schedule", schedule]);
        assert_eq!(words("swap"), "50.0", "{schedule}");
        assert_eq!(words("slope"), "[[3.0, 4.0], [6.0, 8.0], [3.0, 4.0]]", "{schedule}");
    }
}

/// What a program opens is named once, also where it is typed a second time for the lengths that its branches share.
#[test]
fn opened_files_are_named_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    };
    write("base.smooth", "let twice (v: Vector<n>) = 2.0 * v\n");
    let program = "open \"base.smooth\"\ntype Option = | None | Some of Vector\n\
                   let some (v: Vector<n>) : Option = if v[0] > 0.0 then Some (twice v) else None\n";
    let (path, manifest) = (write("main.smooth", program), write("main.json", ""));
    let output = with_input(&["emit", "-q", &path, "--manifest", &manifest, "-o", &format!("{path}.c")], b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(manifest).expect("a manifest");
    assert_eq!(text.matches("\"base.smooth\"").count(), 1, "{text}");
}

#[test]
fn halves_through_an_option_keep_their_parameters() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let program = "type Option = | None | Some of Vector\n\
                   let some (v: Vector<n>) : Option = if v[0] > 0.0 then Some (2.0 * v) else None\n\
                   let first (v: Vector<n>) (w: Vector<n>) : Double = match some v with Some u -> u[0] * w[0] | None -> 0.0\n";
    std::fs::write(path("main.smooth"), program).expect("a file");
    let words = ["emit", "-q", &path("main.smooth"), "--derive", "revf:first", "--entry", "first_revf", "--manifest", &path("main.json")];
    let output = with_input(&[&words[..], &["-o", &path("main.c")]].concat(), b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let manifest = std::fs::read_to_string(path("main.json")).expect("a manifest");
    assert!(manifest.contains("let first_revf (v: Vector<n>) (w: Vector<n>) : Double * ("), "{manifest}");
    let plain = "let plain (v: Vector<n>) (w: Vector<m>) : Double = if n = m then vectorDot v w else vectorSum v\n\
                 let both (v: Vector<n>) (w: Vector<n>) : Double = first v w + plain v w\n";
    std::fs::write(path("main.smooth"), format!("{program}{plain}")).expect("a file");
    for halves in [&["--derive", "revr:first"][..], &["--derive", "revr:both", "--derive", "revf:both", "--derive", "gradient:plain"]] {
        let output = with_input(&[&["emit", "-q", &path("main.smooth"), "-o", &path("main.c")][..], halves].concat(), b"");
        assert!(output.status.success(), "{halves:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// What a derivative reads of an argument is what its case has: the other data may be anything.
const COTANGENTS: &str = "\
type S = | Circle of Double | Box of Double * Double | Empty
let turned (x: Double) (n: Index) (w: S) =
  vjp (fun x -> ifold (fun s i -> match s with Circle r -> Circle (x * r) | Box (a, b) -> Box (b, a * x) | Empty -> Empty) (if x > 0.0 then Circle x else Box (x, x)) n) x w
let each (s: Array<S, m>) (w: Array<S, m>) =
  vjp (fun s -> vectorMap s (fun s -> match s with Circle r -> Circle (2.0 * r) | Box (a, b) -> Box (b, a * b) | Empty -> Empty)) s w
let same (s: S) (w: S) = vjp (fun s -> s) s w
";

const POISONED: &str = "
#include \"program.h\"
#include <math.h>
#include <stdio.h>

static char workspace[1 << 16];

int main(void)
{
    double out, circles[2], sides[2], others[2], circle, side, other;
    int64_t tags[2], tag;
    const int64_t cases[2] = {0, 1};
    const double s_circle[2] = {3.0, NAN}, s_0[2] = {NAN, 2.0}, s_1[2] = {NAN, 5.0};
    const double w_circle[2] = {1.0, NAN}, w_0[2] = {NAN, 1.0}, w_1[2] = {NAN, 2.0};
    int wrong = turned(0.5, 3, 0, 1.5, NAN, NAN, &out, workspace, sizeof workspace);
    wrong += each(2, cases, s_circle, s_0, s_1, cases, w_circle, w_0, w_1, tags, circles, sides, others, workspace, sizeof workspace);
    wrong += same(0, 1.0, NAN, NAN, 0, 2.0, NAN, NAN, &tag, &circle, &side, &other, workspace, sizeof workspace);
    printf(\"%d %g, %g %g %g, %g\\n\", wrong, out, circles[0], sides[1], others[1], circle);
    return 0;
}
";

#[test]
fn derivatives_do_not_read_the_data_of_other_cases() {
    for (schedule, mode) in [("default", "auto"), ("default", "forward"), ("default", "reverse"), ("none", "auto"), ("paper", "auto")] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        std::fs::write(path("program.smooth"), COTANGENTS).expect("a file");
        std::fs::write(path("main.c"), POISONED).expect("a file");
        let words =
            ["emit", "-q", &path("program.smooth"), "--schedule", schedule, "--mode", mode, "-o", &path("program.c")].map(str::to_string);
        let output = with_input(&words.each_ref().map(String::as_str), b"");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut compiler = std::process::Command::new(tools::c_compiler());
        compiler.args(["-std=c99", "-w", "-o", &path("main"), &path("main.c"), &path("program.c"), "-lm"]);
        tools::succeeds(&mut compiler).expect("compiles");
        let said = tools::succeeds(&mut std::process::Command::new(path("main"))).expect("runs");
        assert_eq!(said.trim_end(), "0 0.75, 2 10 5, 2", "{schedule}, {mode}");
    }
}
