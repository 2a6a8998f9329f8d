//! What a command needs of a compilation: `session` compiles so far, `effects` refuses options that such a compilation does not read.
//!
//!     check f.smooth   →   Wanted { stage: "types", … }

use super::options::Emission;

/// What a command needs of a compilation.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The last stage to run.
    pub stage: &'a str,
    /// An expression in place of an entry: the program is this, after the declarations of the file.
    pub expression: Option<&'a str>,
    /// Keep only this entry.
    pub only: Option<&'a str>,
    pub emission: Option<&'a Emission>,
    /// Derivatives are compiled too, which `stage` does not say.
    pub checks_derivatives: bool,
    /// The name of the header that goes with emitted C, if any.
    pub header: Option<&'a str>,
    /// All C goes into the header.
    pub header_only: bool,
    /// A C++ header is wanted too.
    pub cpp: bool,
    /// What the C offers is wanted too.
    pub manifest: bool,
    /// A Python package is made of the C.
    pub python: bool,
    /// Keep the derivation.
    pub record: bool,
    /// Gradients in a Double are reverse derivatives too.
    pub keep_gradients: bool,
}
