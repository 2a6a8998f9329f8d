//! The same program in other words: operators on arrays and slices for library functions, records for pairs.
//!
//! In: a template as `construct` has it, and choices of their own, so that the program that a seed grows stays what it is. Out: the
//! template or another one of the same value. A pair of Doubles goes through a record now and then: [`declarations`] has its type
//! and what makes one of a pair and back.
//!
//!     vectorAdd {0} {1}   →   {0} + {1}

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

/// A template that takes a pair of Doubles through a record, or none. `prefix` is that of the program.
pub fn pair(prefix: &str, choices: &mut Random) -> Option<String> {
    choices.chance(SELDOM).then(|| match choices.below(2) {
        0 => format!("_{prefix}_pair (_{prefix}_record {{0}})"),
        _ => format!("_{prefix}_pair (_{prefix}_turned (_{prefix}_turned (_{prefix}_record {{0}})))"),
    })
}

/// The record of a program whose text uses it.
pub fn declarations(prefix: &str, text: &str) -> String {
    if !text.contains(&format!("_{prefix}_record ")) {
        return String::new();
    }
    format!(
        "type Pair_{prefix} = {{ {prefix}_a: Double; {prefix}_b: Double }}\n\
         let _{prefix}_record ((a, b): Double * Double) = {{ {prefix}_a = a; {prefix}_b = b }}\n\
         let _{prefix}_turned (r: Pair_{prefix}) = {{ r with {prefix}_a = r.{prefix}_b; {prefix}_b = r.{prefix}_a }}\n\
         let _{prefix}_pair ({{ {prefix}_a = a; {prefix}_b = b }}: Pair_{prefix}) = (a, b)\n"
    )
}
