//! Names of the places of a value with parts.
//!
//! In: what a value is called, its variable or a name with a list of those of its components. Out: the name of a component: its own
//! where it has one, else a number after the whole's.
//!
//!     state(block, depth)   →   block, depth;   s   →   s_0, s_1

use crate::ir::Var;

/// What a variable is called, with the names of its components where they have some.
pub fn names_of(var: &Var) -> String {
    match var.parts() {
        Some(parts) => format!("{}({})", var.name(), parts.join(",")),
        None => var.name().to_string(),
    }
}

/// What component k is called.
pub fn part_name(name: &str, k: usize) -> String {
    let listed = name.split_once('(').and_then(|(_, parts)| parts.trim_end_matches(')').split(',').nth(k));
    listed.map_or_else(|| format!("{}_{k}", whole_name(name)), str::to_string)
}

/// The name without those of components.
pub fn whole_name(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}
