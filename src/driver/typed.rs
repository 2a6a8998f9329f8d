//! The program that `types` makes, and what the session keeps of it.
//!
//! In: the session after `syntax`, and how to load other files. Out: the program with its warnings, signatures and measures, in which
//! halves of derivatives and sparse Jacobians are made.

use super::{Loader, Session, halves, sparse};
use crate::diagnostic::Diagnostics;
use crate::types;

/// The program as `types` makes it, with or without [shared lengths](super::shared_lengths).
pub fn elaborated(session: &mut Session, load: &mut Loader, shares_lengths: bool) -> Result<types::Elaborated, Diagnostics> {
    let options = types::Options {
        entries: session.options.entries.clone(),
        derives: session.options.derive.clone(),
        sizes: session.options.sizes.clone(),
        keep_gradients: session.options.keep_gradients,
        shares_lengths,
    };
    types::elaborate(&mut session.sources, session.main, session.module.clone(), load, &options)
}

/// Goes on with a program that `types` has made.
pub fn take(session: &mut Session, elaborated: types::Elaborated) -> Result<(), Diagnostics> {
    session.program = elaborated.program;
    session.warnings = elaborated.warnings;
    session.signatures = elaborated.signatures;
    session.of_data = elaborated.of_data;
    session.measures = elaborated.measures;
    halves::split(session)?;
    sparse::make(session)
}
