//! `runtime/helpers.fut`, taken apart: an emitted file holds the helpers that it uses, and what those use.
//!
//! In: the lines of all definitions. Out: the helpers' texts with their doc comments, in the order of the file, callees
//! before callers. Their names are reserved, so a word of the text that is one of them is one of them.

use std::collections::BTreeSet;

const FILE: &str = include_str!("../../../runtime/helpers.fut");

/// One definition of the file.
struct Helper {
    name: String,
    text: String,
}

/// The names of all helpers.
pub fn names() -> Vec<String> {
    split().into_iter().map(|helper| helper.name).collect()
}

/// The helpers that a text needs.
pub fn needed(text: &str) -> Vec<String> {
    let all = split();
    let mut wanted = words(text);
    // callers come after what they call
    for helper in all.iter().rev() {
        if wanted.contains(&helper.name) {
            wanted.extend(words(&helper.text));
        }
    }
    all.into_iter().filter(|helper| wanted.contains(&helper.name)).map(|helper| helper.text).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("--")) {
        super::clean::words(line, &mut found);
    }
    found
}

fn split() -> Vec<Helper> {
    let blocks = FILE.split("\n\n").map(str::trim_end);
    blocks
        .filter_map(|block| {
            let head = block.lines().find_map(|line| line.strip_prefix("def "))?;
            let name = head.split_whitespace().next()?.to_string();
            Some(Helper { name, text: block.to_string() })
        })
        .collect()
}
