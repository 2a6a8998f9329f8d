//! Values of a sum type that functions end with, in cases that data chooses: emitted C gives what the interpreter gives, or is refused.
//!
//! Groups of recursive functions, loops, and functions that take such a value, end with arrays of several lengths in several cases, and
//! match what they call. Programs are drawn at random, `SMOOTHC_SEED=n` for others, and run under sanitizers; the interpreter runs those of
//! E0601 after the rules, too.

use smoothc::cli::args::Arguments;
use smoothc::driver::{Options, Schedule};
use smoothc::mode::Mode;

use crate::support::{agree, engine, native, tools};

const GROUPS: usize = 60;

const TYPE: &str = "type Opt = | No | Some of Vector | Two of Vector * Vector\n\n";

const PARAMETERS: &str = "(k: Index) (x: Double) (v: Vector<n>) (w: Vector<m>)";

const CALLS: [[&str; 4]; 6] = [
    ["0", "1.0", "[1, 2, 3]", "[4, 5]"],
    ["3", "0.7", "[1, 2, 3]", "[4, 5]"],
    ["5", "1.9", "[0.2, 2, 3]", "[4, 5, 6]"],
    ["4", "-1.0", "[1]", "[]"],
    ["6", "3.0", "[1, 2]", "[3, 4]"],
    ["-1", "0.9", "[1, 2]", "[3, 4]"],
];

/// A linear congruential generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }

    fn of(&mut self, texts: &[&str]) -> String {
        texts[self.below(texts.len())].into()
    }

    /// Mostly as long as v.
    fn array(&mut self) -> String {
        let long = ["v", "vectorMap v (fun a -> a * x)", "build (length v) (fun i -> v[i] + x)"];
        let other = ["w", "[x, 1.0]", "build k (fun i -> x)", "vectorMap w (fun a -> a + x)"];
        if self.below(12) > 0 { self.of(&long) } else { self.of(&other) }
    }

    fn value(&mut self) -> String {
        match self.below(4) {
            0 => "No".into(),
            1 | 2 => format!("Some ({})", self.array()),
            _ => format!("Two ({}, {})", self.array(), self.array()),
        }
    }

    fn call(&mut self, names: &[String]) -> String {
        let (name, x) = (&names[self.below(names.len())], self.of(&["x", "x * 1.5", "x - 0.2"]));
        format!("{name} (k - 1) ({x}) {} w", self.of(&["v", "(vectorMap v (fun a -> a * 0.5))"]))
    }

    /// What one function of a group ends with.
    fn end(&mut self, names: &[String], depth: usize) -> String {
        if depth > 0 && self.below(7) > 0 {
            let condition = self.of(&["k <= 0", "x > 2.0", "x < 0.5", "k % 2 = 0", "v[0] > x", "length v = 3", "k > 3"]);
            return format!("(if {condition} then {} else {})", self.end(names, depth - 1), self.end(names, depth - 1));
        }
        match self.below(8) {
            0..4 => self.value(),
            4 | 5 => self.call(names),
            6 => format!("(match {} with | No -> {} | other -> other)", self.call(names), self.value()),
            _ => format!("(match {} with | Some q -> Some (q + q) | _ -> {})", self.call(names), self.value()),
        }
    }

    /// What a loop goes on with that has a value of a case.
    fn step(&mut self) -> String {
        match self.below(4) {
            0 => "other".into(),
            1 => format!("(if x > 0.8 then {} else other)", self.value()),
            2 => format!("(match other with | Some q -> Some (q + q) | _ -> {})", self.value()),
            _ => self.value(),
        }
    }

    /// A group of functions, one that takes what the first gives, and an entry, whose name is given.
    fn group(&mut self, at: usize) -> (String, String) {
        let names: Vec<String> = (0..1 + self.below(3)).map(|of| format!("_g{at}_{of}")).collect();
        let mut text = String::new();
        for (of, name) in names.iter().enumerate() {
            let (begin, end) = (if of == 0 { "let rec" } else { "and" }, 1 + self.below(3));
            let body = format!("if k <= 0 then {} else {}", self.value(), self.end(&names, end));
            text.push_str(&format!("{begin} {name} {PARAMETERS} : Opt = {body}\n"));
        }
        let rows = [format!("| No -> {}", self.value()), format!("| Some q -> {}", self.value())];
        let last = if self.below(2) == 0 { "| other -> other" } else { "| Two (q, r) -> Two (r, q)" };
        let chosen = if self.below(2) == 0 { "s".into() } else { format!("(if x > 0.8 then {} else s)", self.value()) };
        text.push_str(&format!("\nlet _taken{at} (s: Opt) {PARAMETERS} : Opt =\n  match {chosen} with\n"));
        rows.iter().filter(|_| self.below(3) > 0).for_each(|row| text.push_str(&format!("  {row}\n")));
        text.push_str(&format!("  {last}\n"));
        if last.starts_with("| Two") {
            text.push_str(&format!("  | _ -> {}\n", self.value()));
        }
        let entry = format!("sum{at}");
        let first = format!("{} k x v w", names[0]);
        let start = if self.below(2) == 0 { self.value() } else { first.clone() };
        let steps = format!("ifold (fun (s: Opt) i -> match s with | No -> {} | other -> {}) ({start}) 3", self.value(), self.step());
        text.push_str(&format!(
            "\nlet {entry} {PARAMETERS} : Double =
  let s = {}
  match {} with
  | No -> 0.5
  | Some a -> vectorSum a + double (length a)
  | Two (a, b) -> vectorSum a - 2.0 * vectorSum b + 10.0 * double (length a) + 100.0 * double (length b)\n\n",
            if self.below(3) == 0 { steps } else { first },
            if self.below(2) == 0 { "s".into() } else { format!("_taken{at} s k x v w") },
        ));
        (entry, text)
    }
}

#[test]
fn data_chooses_cases_and_lengths() {
    let seed = std::env::var("SMOOTHC_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut draw = Draw(seed);
    let groups: Vec<(String, String)> = (0..GROUPS).map(|at| draw.group(at)).collect();
    // where data decides a length, C is refused, and the rules where recursion changes it
    let refused = |(_, text): &(String, String)| {
        let problem = engine::compile("choices.smooth", &format!("{TYPE}{text}"), "none", "emit").err()?;
        let code = ["E0606", "E0601"].into_iter().find(|code| problem.contains(code));
        Some(code.unwrap_or_else(|| panic!("SMOOTHC_SEED={seed}: {problem}\n{TYPE}{text}")))
    };
    let (mut have, mut lack) = (Vec::new(), Vec::new());
    for group in &groups {
        match refused(group) {
            None => have.push(group),
            Some("E0601") => lack.push(group),
            Some(_) => {}
        }
    }
    assert!(have.len() * 6 > GROUPS, "SMOOTHC_SEED={seed}: only {} of {GROUPS} groups have C", have.len());
    let text = |groups: &[&(String, String)]| groups.iter().fold(TYPE.to_string(), |text, (_, group)| text + group);
    let calls = |groups: &[&(String, String)]| -> Vec<(String, Vec<&str>)> {
        groups.iter().flat_map(|(entry, _)| CALLS.map(|words| (entry.clone(), words.to_vec()))).collect()
    };
    let calls_in_c = calls(&have);
    let calls_in_c: Vec<_> = calls_in_c.iter().map(|(entry, words)| (entry.as_str(), words.clone())).collect();
    hold(&text(&have), &calls_in_c, Mode::Auto, &format!("SMOOTHC_SEED={seed}"));
    rules_hold(&text(&lack), &calls(&lack), seed);
}

/// The interpreter gives after the rules what it gave before.
fn rules_hold(text: &str, calls: &[(String, Vec<&str>)], seed: u64) {
    let compiled = |schedule: &str, stage: &str| {
        engine::compile("choices.smooth", text, schedule, stage).unwrap_or_else(|problem| panic!("SMOOTHC_SEED={seed}: {problem}\n{text}"))
    };
    let (known, rewritten) = (compiled("none", "types"), compiled("default", "rewrite"));
    for (entry, words) in calls {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        let arguments = engine::arguments(&known, entry, &words).unwrap_or_else(|problem| panic!("{entry}: {problem}"));
        // rules leave out what stops where nobody reads it
        let Ok(wanted) = engine::interpret(&known, entry, &arguments.values) else { continue };
        let found = engine::interpret(&rewritten, entry, &arguments.values);
        let difference = found.and_then(|found| engine::difference(&wanted, &found.value).map_or(Ok(()), Err));
        assert!(difference.is_ok(), "SMOOTHC_SEED={seed}: {entry} {words:?}: {difference:?}\n{text}");
    }
}

/// C of a program gives what the interpreter gives.
fn hold(text: &str, calls: &[(&str, Vec<&str>)], mode: Mode, note: &str) {
    let known = engine::compile("choices.smooth", text, "none", "types").unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    let run: agree::Run = if tools::has_sanitizers() { &native::sanitized } else { &native::optimised };
    for schedule in ["none", "default"] {
        let options = Options { schedule: Schedule::Named(schedule.into()), header: "program.h".into(), mode, ..Options::default() };
        let session = engine::compile_with("choices.smooth", text, options, "emit").unwrap_or_else(|problem| panic!("{problem}\n{text}"));
        let mut tried: Vec<(&str, Arguments)> = Vec::new();
        for (entry, words) in calls {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            let arguments = engine::arguments(&session, entry, &words).unwrap_or_else(|problem| panic!("{entry}: {problem}"));
            // rules leave out what stops where nobody reads it
            if schedule == "none" || engine::interpret(&known, entry, &arguments.values).is_ok() {
                tried.push((entry, arguments));
            }
        }
        agree::agree(run, &known, &session, &tried).unwrap_or_else(|problem| panic!("schedule {schedule}, {note}: {problem}\n{text}"));
    }
}

const FOUND: &str = "\
type Opt = | No | Some of Vector | Two of Vector * Vector
type Best = | Nothing | Best of Double * Vector
let _g (k: Index) (x: Double) (v: Vector<n>) (w: Vector<m>) : Opt =
  if k <= 0 then No else if x > 5.0 then Some v else if k % 2 = 0 then Two (w, v) else Two (v, v)
let f (k: Index) (x: Double) (v: Vector<n>) (w: Vector<m>) : Double =
  match _g k x v w with | No -> 0.5 | Some a -> vectorSum a | Two (a, b) -> vectorSum a - 2.0 * vectorSum b
let closest (X: Matrix<m, n>) (y: Vector<n>) (far: Double) : Vector<n> =
  let best = ifold (fun (best: Best) i ->
    let d = vectorSqNorm (X[i] - y)
    match best with
    | Nothing -> if d < far then Best (d, X[i]) else Nothing
    | Best (e, _) -> if d < e then Best (d, X[i]) else best) Nothing m
  match best with | Nothing -> y | Best (_, x) -> x
let flip (v: Vector<n>) (k: Index) (x: Double) : Double =
  let (s, _) = ifold (fun (s, y) i ->
    ((match s with | Two (_, _) -> Some v | Some _ -> if y > 0.5 then No else s | No -> s), y - 1.0)) (Two (v, 2.0 * v), x) k
  match s with | No -> 0.5 | Some a -> vectorDot a v | Two (a, b) -> vectorSum a - 10.0 * vectorDot b v
let nearest (X: Matrix<m, n>) (y: Vector<n>) : Double =
  let best = ifold (fun best i -> if X[i][0] < y[0] then Some X[i] else best) No m
  match best with | No -> 0.0 | Some x -> vectorDot x y | Two (_, _) -> 1.0
let grown (k: Index) (x: Double) : Double =
  let s = ifold (fun (s: Opt) i ->
    match s with | Some w -> (if x > 8.0 then No else Some (w + build (k - 1) (fun j -> x))) | _ -> Some (build (k - 1) (fun j -> x))) No k
  let t = ifold (fun (s: Opt) i -> match s with | Some w -> Some (w + [x]) | _ -> Some [x]) No k
  (match s with | Some w -> vectorSum w | _ -> -1.0) + (match t with | Some w -> w[0] | _ -> -1.0)
let _row (k: Index) (x: Double) : Opt = if x > 0.0 then Some (build k (fun i -> x)) else No
let rec _rows (k: Index) (m: Index) (x: Double) : Opt =
  if x > 5.0 then Some (build k (fun i -> x)) else if m <= 0 then No else _rows k (m - 1) (x + 1.0)
let steps (k: Index) (x: Double) : Double =
  let t = ifold (fun (s: Opt) i -> if x > 0.0 then Some (build k (fun i -> x)) else s) No 3
  let read (o: Opt) = match o with | No -> 0.5 | Some a -> vectorSum a + double (length a) | Two (_, _) -> 1.0
  read t + 4.0 * read (_row (k - 1) x) + 8.0 * read (_rows (k - 1) 4 x)
let slope (k: Index) (x: Double) = vjp (fun x -> steps k x) x 1.0
type Fit = | Flat | Line of Vector<2> * Vector
type Track = { pose: Opt; age: Index }
let orElse (M: Matrix<m, n>) (d: Vector<n>) : Vector<n> =
  match ifold (fun (s: Opt) i -> if M[i][0] > 0.0 then Some M[i] else s) No m with | Some w -> w | Two (_, _) -> d | No -> d
let mean (M: Matrix<m, n>) (keep: Vector<m>) : Double =
  let (s, c) = ifold (fun (s: Opt * Double) i ->
    let (s, c) = s
    if keep[i] > 0.0 then (match s with | Some w -> (Some (w + M[i]), c + 1.0) | _ -> (Some M[i], 1.0)) else (s, c)) (No, 0.0) m
  match s with | Some w -> vectorSqNorm w / c | _ -> -1.0
let meanSlope (M: Matrix<m, n>) (keep: Vector<m>) = gradient (fun M -> mean M keep) M
let _better (best: Best) (e: Double) (x: Vector<n>) : Best =
  match best with | Best (d, _) -> (if e < d then Best (e, x) else best) | Nothing -> Best (e, x)
let starts (S: Matrix<k, n>) : Double =
  match ifold (fun (b: Best) i -> _better b (vectorSqNorm S[i]) S[i]) Nothing k with | Best (d, x) -> d + x[0] | Nothing -> 0.0
let startsSlope (S: Matrix<k, n>) = gradient (fun S -> starts S) S
let _fit (X: Vector<n>) (y: Vector<n>) (k: Index) : Fit =
  let d = X[k + 1] - X[k]
  if d * d < 1.0e-9 then Flat else
    let a = (y[k + 1] - y[k]) / d
    Line ([a, y[k] - a * X[k]], build n (fun i -> y[i] - y[k] - a * (X[i] - X[k])))
let ransac (X: Vector<n>) (y: Vector<n>) : Double =
  let best = ifold (fun (best: Fit) k ->
    match _fit X y k with
    | Flat -> best
    | Line (p, r) ->
      (match best with
       | Line (_, s) -> (if vectorSqNorm r < vectorSqNorm s then Line (p, r) else best)
       | Flat -> Line (p, r))) Flat (n - 1)
  match best with | Flat -> 0.0 | Line (p, r) -> p[0] + 10.0 * p[1] + vectorSqNorm r
let ransacSlope (X: Vector<n>) (y: Vector<n>) = gradient (fun y -> ransac X y) y
let tracked (M: Matrix<m, n>) : Double =
  let t = ifold (fun (t: Track) i ->
    match t.pose with
    | Some p -> if vectorSqNorm (p - M[i]) > 1.0 then { pose = No; age = 0 } else { pose = Some (0.9 * p + 0.1 * M[i]); age = t.age + 1 }
    | _ -> { pose = Some M[i]; age = 1 }) { pose = No; age = 0 } m
  match t.pose with | Some p -> vectorSum p + double t.age | _ -> 0.0
let trackedSlope (M: Matrix<m, n>) = gradient (fun M -> tracked M) M
let pull (X: Matrix<m, n>) (y: Vector<n>) = vjp (fun X -> closest X y 9.0) X y
";

/// A branch has its own length where the data of another are longer, and a loop may hold what it found.
#[test]
fn branches_and_loops_keep_their_data() {
    let rows = "[[1, 2], [3, 4], [2.5, 3]]";
    let mut calls = vec![
        ("closest", vec![rows, "[2, 3]", "100"]),
        ("closest", vec![rows, "[2, 3]", "0.01"]),
        ("closest", vec!["[]", "[2, 3]", "100"]),
        ("pull", vec![rows, "[2, 3]"]),
        ("nearest", vec![rows, "[2, 3]"]),
        ("nearest", vec![rows, "[0, 3]"]),
        ("flip", vec!["[1, 2, 3]", "0", "1.0"]),
        ("flip", vec!["[1, 2, 3]", "1", "1.0"]),
        ("flip", vec!["[1, 2, 3]", "2", "2.0"]),
        ("flip", vec!["[1, 2, 3]", "2", "1.0"]),
    ];
    for (k, x) in [("0", "1"), ("1", "1"), ("2", "1"), ("2", "6")] {
        calls.push(("f", vec![k, x, "[1, 2, 3]", "[4]"]));
    }
    for (k, x) in [("-1", "-2"), ("0", "-3"), ("1", "-1"), ("3", "2"), ("-1", "2")] {
        calls.extend([("steps", vec![k, x]), ("slope", vec![k, x])]);
    }
    calls.extend([("grown", vec!["0", "2"]), ("grown", vec!["3", "1.5"]), ("grown", vec!["3", "9"])]);
    let away = "[[-1, 2], [-1, 3]]";
    calls.extend([("orElse", vec![rows, "[5, 6]"]), ("orElse", vec![away, "[5, 6]"])]);
    for entry in ["mean", "meanSlope"] {
        calls.extend([(entry, vec![rows, "[1, 0, 1]"]), (entry, vec![rows, "[0, 0, 0]"])]);
    }
    for entry in ["starts", "startsSlope", "tracked", "trackedSlope"] {
        calls.extend([(entry, vec![rows]), (entry, vec![away]), (entry, vec!["[[1, 2], [1.1, 2.1]]"])]);
    }
    for entry in ["ransac", "ransacSlope"] {
        calls.extend([(entry, vec!["[1, 2, 3, 4]", "[2, 4.1, 6.3, 8.2]"]), (entry, vec!["[1, 1, 1]", "[2, 4.1, 6.3]"])]);
    }
    for mode in [Mode::Forward, Mode::Reverse] {
        hold(FOUND, &calls, mode, "");
    }
}
