//! All rules, one file per part of Figure 8.
//!
//! In: nothing. Out: the table that strategies name rules from. A rule is one line: name, figure, group,
//! the head it looks at, its law, and its function where the law alone does not say how.

use super::rule::Rule;

pub mod conditional;
pub mod fusion;
pub mod lambda;
pub mod ring;
pub mod tuple;

/// Every built-in rule.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    lambda::RULES.iter().chain(ring::RULES).chain(fusion::RULES).chain(conditional::RULES).chain(tuple::RULES)
}

/// The rule of this name.
pub fn named(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.name == name)
}

/// A line of the table.
macro_rules! rules {
    ($( $name:literal $figure:ident $($group:ident)? @ $head:ident : $law:literal => $apply:expr; )*) => {
        pub const RULES: &[$crate::rewrite::rule::Rule] = &[$(
            $crate::rewrite::rule::Rule {
                name: $name,
                figure: $crate::rewrite::rule::Figure::$figure,
                group: rules!(@group $($group)?),
                law: $law,
                head: $crate::rewrite::rule::Head::$head,
                apply: $apply,
            },
        )*];
    };
    (@group) => { None };
    (@group $group:ident) => { Some($crate::rewrite::rule::Group::$group) };
}
pub(crate) use rules;
