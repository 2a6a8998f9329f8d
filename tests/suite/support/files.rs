//! The files of the repository.

use std::path::Path;

/// The text of a file, whose path begins at the repository.
pub fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
