//! Whether a core program is well-formed.
