//! Gradients through loops that change arrays in place: triangles, from both ends, several changes in a step, older names.
//!
//! In: a seed. Out: an entry, whose loop has a count or is ended by data. Every index is in range wherever it is met. Most reads are
//! of what was written before, so that one in ten programs has nothing to log; the others read what is overwritten in the same step or
//! in a later one.
//!
//!     let p7 (z: Vector<n>) = gradient (fun v -> vectorSqNorm (ifold (fun x i -> let a = ifold (fun x j -> update x j (…)) x i in a) v n)) z

use super::random::Random;

/// Places that a step over `i` writes, and what it reads of an array `_`.
const STEPS: &[(&str, &[&str])] = &[
    (
        "i",
        &["(if i > 0 then _[i - 1] else 0.5)", "(if i > 0 then _[0] else v[i])", "(if i > 1 then _[i / 2] else 0.7)", "_[i]", "_[n - 1]"],
    ),
    ("n - 1 - i", &["(if i > 0 then _[n - i] else 0.5)", "(if i > 0 then _[n - 1] else v[i])", "_[n - 1 - i]", "_[0]"]),
    ("min (i + 1) (n - 1)", &["_[i]", "_[0]", "_[i / 2]"]),
];

/// Places that data, the state or a loop of the step's own gives.
const GIVEN: &[&str] = &[
    "(i * i + 1) % n",
    "index (10.0 * abs v[i]) % n",
    "index (10.0 * abs x[i]) % n",
    "if x[0] < v[i] then (i + 2) % n else index (10.0 * abs v[i]) / 2 % n",
    "let d = 3.0 * x[i] in let k = index (d * d) in if d > 0.3 then k % n else i",
    "snd (ifold (fun (best, at) j -> if x[j] > best then (x[j], j) else (best, at)) (x[0], 0) (i + 1))",
    "let (best, at) = ifold (fun (best, at) j -> if v[j] > best then (v[j], j) else (best, at)) (v[0], 0) n in at",
];

/// Loops over `j` in a step, of so many iterations: places, and what is read.
const LOOPS: &[(&str, &str, &[&str])] = &[
    ("i", "j", &["_[i]", "(if j > 0 then _[j - 1] else 0.5)", "_[n - 1]", "_[j]", "_[j + 1]"]),
    ("i", "i - 1 - j", &["_[i]", "_[i - j]", "_[0]", "_[n - 1]"]),
    ("i", "j + 1", &["_[j]", "_[0]", "_[i]"]),
    ("(i + 1)", "i - j", &["_[n - 1]", "(if j > 0 then _[i - j + 1] else v[i])", "_[j]"]),
    (
        "(n - i)",
        "i + j",
        &["(if i > 0 then _[i - 1] else 0.5)", "(if j > 0 then _[i + j - 1] else v[j])", "(if i > 0 then _[0] else 0.3)", "_[i]"],
    ),
    ("(n - i - 1)", "i + 1 + j", &["_[i]", "_[i + j]", "_[i / 2]", "_[0]", "_[n - 1]"]),
    ("(n - i - 1)", "n - 1 - j", &["_[i]", "(if j > 0 then _[n - j] else 0.5)", "_[j]"]),
    ("n", "j", &["(if j > 0 then _[j - 1] else 0.5)", "_[i]", "_[n - 1 - j]"]),
];

/// The entry of a seed, called `p` and its number.
pub fn entry(seed: u64) -> String {
    let mut random = Random::new(seed);
    let r = &mut random;
    let mut names = vec!["x".to_string()];
    let mut step = String::new();
    let changes = if r.chance(60) { 1 } else { 2 + r.below(2) };
    for k in 0..changes {
        let (name, last) = (format!("a{k}"), names[names.len() - 1].clone());
        let older = if r.chance(80) { vec![last.clone()] } else { names.clone() };
        let change = match r.below(6) {
            5 => {
                let place = *r.pick(GIVEN);
                let changed = update(r, &last, &older, place, &[&format!("_[{place}]"), "_[i]", "_[0]"]);
                if r.chance(50) { format!("if {} then {changed} else {last}", condition(r)) } else { changed }
            }
            0 | 1 => {
                let (place, reads) = *r.pick(STEPS);
                let changed = update(r, &last, &older, place, reads);
                if r.chance(20) { format!("if {} then {changed} else {last}", condition(r)) } else { changed }
            }
            _ => {
                let (count, place, reads) = *r.pick(LOOPS);
                let known: Vec<String> = if r.chance(85) { vec!["x".into()] } else { [older, vec!["x".into()]].concat() };
                format!("ifold (fun x j -> {}) {last} {count}", update(r, "x", &known, place, reads))
            }
        };
        step.push_str(&format!("let {name} = {change} in "));
        names.push(name);
    }
    let first = r.word(&["v", "(vectorZeros n)", "(vectorMap v sin)"]);
    let last = &names[names.len() - 1];
    if r.chance(30) {
        let ends = r.word(&["x[0] > 1.2", "vectorSum x > 2.0", "x[i / 2] < -0.9", "false"]);
        return format!(
            "let p{seed} (z: Vector<n>) = let rec go (v: Vector<n>) (x: Vector<n>) (i: Index) : Vector<n> = if i >= n || {ends} then x \
             else go v ({step}{last}) (i + 1) in gradient (fun v -> vectorSqNorm (go v {first} 0)) z\n"
        );
    }
    format!("let p{seed} (z: Vector<n>) = gradient (fun v -> vectorSqNorm (ifold (fun x i -> {step}{last}) {first} n)) z\n")
}

/// An array with an element changed, by what one of these names has.
fn update(r: &mut Random, array: &str, names: &[String], place: &str, reads: &[&str]) -> String {
    let a = r.pick(reads).replace('_', r.pick(names).as_str());
    let b = if r.chance(75) { format!("v[{place}]") } else { r.pick(reads).replace('_', r.pick(names).as_str()) };
    let value = match r.below(4) {
        0 => format!("sin ({a} * {b})"),
        1 => format!("{array}[{place}] * 0.5 + sin ({a} * {b})"),
        2 => format!("exp (0.3 * sin ({a} + {b})) * 0.5"),
        _ => format!("0.5 * {a} * {b} / (1.0 + {b} * {b})"),
    };
    let word = if r.chance(20) { "accumulate" } else { "update" };
    format!("{word} {array} ({place}) ({value})")
}

fn condition(r: &mut Random) -> &'static str {
    r.word(&["i > 0", "2 * i < n", "v[i] > 0.0", "x[i] > 0.2", "i + 1 < n && v[0] < 0.5"])
}
