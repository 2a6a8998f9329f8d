//! The same program in other words: operators on arrays and slices for library functions, records and sum types for pairs, `match` for
//! `if`.
//!
//! In: a template as `construct` has it, and choices of their own, so that the program that a seed grows stays what it is. Out: the
//! template or another one of the same value. A pair of Doubles goes through a record or a sum type now and then: [`declarations`] has
//! its type and what makes one of a pair and back.
//!
//!     vectorAdd {0} {1}   →   {0} + {1}

use super::program::Ty;
use super::random::Random;

/// What is written by a function of the library and by operators, each of the same value to the last bit.
const SAME: &[(&str, &[&str])] = &[
    ("vectorAdd {0} {1}", &["{0} + {1}", "{0} - (-{1})"]),
    ("vectorSub {0} {1}", &["{0} - {1}", "{0} + (-{1})"]),
    ("vectorEMul {0} {1}", &["{0} .* {1}"]),
    ("vectorSMul {0} {1}", &["{0} * {1}", "{1} * {0}"]),
    ("matrixAdd {0} {1}", &["{0} + {1}"]),
    ("matrixSub {0} {1}", &["{0} - {1}"]),
    ("matrixEMul {0} {1}", &["{0} .* {1}"]),
    ("matrixSMul {0} {1}", &["{0} * {1}", "{1} * {0}"]),
    ("matrixMul {0} {1}", &["{0} * {1}"]),
    ("matrixVectorMul {0} {1}", &["{0} * {1}"]),
    ("if {0} then {1} else {2}", &["match {0} with | true -> {1} | false -> {2}", "match {0} with false -> {2} | _ -> {1}"]),
    ("vectorSlice {0} 1 {1}", &["{0}[1..{1}]", "{0}[1..]"]),
];

/// How often, in a hundred.
const OFTEN: usize = 60;
const SELDOM: usize = 25;

/// The template, or another one that means the same.
pub fn template<'a>(template: &'a str, choices: &mut Random) -> &'a str {
    match SAME.iter().find(|(known, _)| *known == template) {
        Some((_, others)) if choices.chance(OFTEN) => choices.word(others),
        Some(_) | None => template,
    }
}

/// A fold, or a function that calls itself as often, if it does not end before: {0} is the step, {1} the first state, {2} the count.
pub fn steps(ty: &Ty, pattern: &str, index: &str, choices: &mut Random) -> String {
    let written = written(ty).filter(|_| choices.chance(SELDOM));
    let Some(state) = written else { return format!("ifold (fun {pattern} {index} -> {{0}}) {{1}} {{2}}") };
    let end = match ty {
        Ty::Double if choices.chance(50) => format!(" || {pattern} > 3.0"),
        Ty::Index if choices.chance(50) => format!(" || {pattern} > 9"),
        _ => String::new(),
    };
    format!(
        "(let rec go ({pattern}: {state}) ({index}: Index) (last: Index) : {state} = \
         if {index} >= last{end} then {pattern} else go {{0}} ({index} + 1) last in go {{1}} 0 {{2}})"
    )
}

/// The type as it is written, where no size is in it.
fn written(ty: &Ty) -> Option<String> {
    match ty {
        Ty::Double => Some("Double".into()),
        Ty::Index => Some("Index".into()),
        Ty::Bool => Some("Bool".into()),
        Ty::Tuple(parts) => Some(format!("({})", parts.iter().map(written).collect::<Option<Vec<_>>>()?.join(" * "))),
        Ty::Array(..) => None,
    }
}

/// A template that takes a pair of Doubles through a record, or none. `prefix` is that of the program.
pub fn pair(prefix: &str, choices: &mut Random) -> Option<String> {
    choices.chance(SELDOM).then(|| match choices.below(3) {
        2 => format!("_{prefix}_opened (_{prefix}_closed {{0}})"),
        0 => format!("_{prefix}_pair (_{prefix}_record {{0}})"),
        _ => format!("_{prefix}_pair (_{prefix}_turned (_{prefix}_turned (_{prefix}_record {{0}})))"),
    })
}

/// The record and the sum type of a program whose text uses them.
pub fn declarations(prefix: &str, text: &str) -> String {
    let (record, sum) = (text.contains(&format!("_{prefix}_record ")), text.contains(&format!("_{prefix}_closed ")));
    let mut declared = String::new();
    if record {
        declared += &record_type(prefix);
    }
    if sum {
        declared += &sum_type(prefix);
    }
    declared
}

fn sum_type(prefix: &str) -> String {
    format!(
        "type Sum_{prefix} = | Less_{prefix} of Double * Double | More_{prefix} of Vector<2> * Index | Other_{prefix}\n\
         let _{prefix}_closed ((a, b): Double * Double) =\n  \
           if a < b then Less_{prefix} (a, b) elif a >= b then More_{prefix} ([b, a], 1) else Less_{prefix} (a, b)\n\
         let _{prefix}_opened (s: Sum_{prefix}) =\n  \
           match s with\n  | Less_{prefix} (a, b) -> (a, b)\n  | More_{prefix} (v, i) -> (v[i], v[0])\n  | Other_{prefix} -> (0.0, 0.0)\n"
    )
}

fn record_type(prefix: &str) -> String {
    format!(
        "type Pair_{prefix} = {{ {prefix}_a: Double; {prefix}_b: Double }}\n\
         let _{prefix}_record ((a, b): Double * Double) = {{ {prefix}_a = a; {prefix}_b = b }}\n\
         let _{prefix}_turned (r: Pair_{prefix}) = {{ r with {prefix}_a = r.{prefix}_b; {prefix}_b = r.{prefix}_a }}\n\
         let _{prefix}_pair ({{ {prefix}_a = a; {prefix}_b = b }}: Pair_{prefix}) = (a, b)\n"
    )
}
