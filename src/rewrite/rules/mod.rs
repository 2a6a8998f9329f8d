//! All rules, a file for each part of 001 Figure 8 and for each thing that goes beyond it.
//!
//! Figure 8: `lambda` (a), `ring` and `algebra` (b), `fusion` (c), `conditional` (d; `solve` its equations), `tuple` (e),
//! `loops` (f), `fission` (g). Code motion: `motion` (of what `invariant` finds), `window` (of conditional terms), `absorb` (into an
//! array's elements). Sharing: `anf` (A-normal form), `share` (common subexpressions), `reuse` (of array elements), `merge`
//! (conditionals). Fusion: `gather` (sums), `consume` (an array with its sums). Small and sparse arrays: `unroll`, `arrays`, `band`
//! (sparse rows). Sums: `linear`, `branch` (conditional terms), `few` (sparse terms), `terms` (term by term), `last` (the last step that
//! meets a condition), `range` (index set splitting). Loops in blocks: `blocks`; those of which a part begins late: `start`; that begin
//! again for each index: `scan`, once they are turned round: `transpose`. Updates: `collect`, `shift`, `scatter` (gather to scatter).
//! Quotients: `divide`.
//!
//! In: nothing. Out: the table that strategies name rules from. A rule is one line: name, source, part, group,
//! the head it looks at, its law, and its function where the law alone does not say how.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::rule::Rule;

pub mod absorb;
pub mod algebra;
pub mod anf;
pub mod arrays;
pub mod band;
pub mod blocks;
pub mod branch;
pub mod collect;
pub mod conditional;
pub mod consume;
pub mod divide;
pub mod few;
pub mod fission;
pub mod fusion;
pub mod gather;
pub mod invariant;
pub mod lambda;
pub mod last;
pub mod linear;
pub mod loops;
pub mod merge;
pub mod motion;
pub mod range;
pub mod reuse;
pub mod ring;
pub mod scan;
pub mod scatter;
pub mod share;
pub mod shift;
pub mod solve;
pub mod start;
pub mod terms;
pub mod transpose;
pub mod tuple;
pub mod unroll;
pub mod window;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub use tests::close;

/// Every built-in rule.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let parts: [&LazyLock<Vec<Rule>>; 35] = [
        &lambda::RULES,
        &anf::RULES,
        &ring::RULES,
        &algebra::RULES,
        &fusion::RULES,
        &conditional::RULES,
        &solve::RULES,
        &tuple::RULES,
        &loops::RULES,
        &collect::RULES,
        &arrays::RULES,
        &linear::RULES,
        &branch::RULES,
        &few::RULES,
        &last::RULES,
        &range::RULES,
        &fission::RULES,
        &motion::RULES,
        &window::RULES,
        &absorb::RULES,
        &reuse::RULES,
        &band::RULES,
        &blocks::RULES,
        &start::RULES,
        &scan::RULES,
        &terms::RULES,
        &transpose::RULES,
        &share::RULES,
        &scatter::RULES,
        &shift::RULES,
        &gather::RULES,
        &consume::RULES,
        &divide::RULES,
        &unroll::RULES,
        &merge::RULES,
    ];
    parts.into_iter().flat_map(|part| part.iter())
}

/// The rule of this name.
pub fn named(name: &str) -> Option<&'static Rule> {
    static BY_NAME: LazyLock<FxHashMap<&str, &Rule>> = LazyLock::new(|| all().map(|rule| (rule.name, rule)).collect());
    BY_NAME.get(name).copied()
}

/// The table: name, the paper and figure that print the rule in brackets (none for a rule of smoothc's own), part, group, the
/// head that is looked at, the law; and the side conditions and the function, where the law alone is not enough.
macro_rules! rules {
    ($( $name:literal $([$source:literal])? $part:ident $($group:ident)? @ $head:ident : $law:literal
        $(if [$condition:literal $(, $more:literal)*])? $(=> $apply:expr)?; )*) => {
        pub static RULES: std::sync::LazyLock<Vec<$crate::rewrite::rule::Rule>> = std::sync::LazyLock::new(|| vec![$(
            $crate::rewrite::rule::Rule {
                name: $name,
                source: rules!(@source $($source)?),
                part: $crate::rewrite::rule::Part::$part,
                group: rules!(@group $($group)?),
                law: concat!($law $(, " if ", $condition $(, "; ", $more)*)?),
                conditions: &[$($condition $(, $more)*)?],
                head: $crate::rewrite::rule::Head::$head,
                apply: rules!(@apply $law $(, $apply)?),
            },
        )*]);
    };
    (@source) => { $crate::rewrite::rule::OWN };
    (@source $source:literal) => { $source };
    (@group) => { None };
    (@group $group:ident) => { Some($crate::rewrite::rule::Group::$group) };
    (@apply $law:literal) => {
        $crate::rewrite::rule::Apply::Law($crate::rewrite::law::Law::builtin($law))
    };
    (@apply $law:literal, $apply:expr) => { $crate::rewrite::rule::Apply::Function($apply) };
}
pub(crate) use rules;
