//! Where emitted text comes from: the options that change it, and a hash over the files that were read.
//!
//! In: a [`Session`] that is about to emit. Out: what the first line of emitted C and a manifest say. Options have one order
//! and one spelling, whatever the command line has; a strategy file that is a built-in schedule is that schedule, and no
//! file of the program. The library is a part of smoothc: its version stands for it.
//!
//!     --real f32 --schedule my.strategy, dot.smooth   →   ["--schedule my.strategy", "--real f32"], "8c1f0d…"

use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use super::schedule::built_in_schedule;
use super::{Schedule, Session};
use crate::diagnostic::Diagnostics;
use crate::emit::Provenance;
use crate::mode::Mode;
use crate::real::Real;
use crate::source::SourceFile;

/// What made the text that a session emits.
pub fn of(session: &Session) -> Result<Provenance, Diagnostics> {
    let built_in = built_in_schedule(session)?;
    let (schedule, strategy) = match (&built_in, &session.options.schedule) {
        (Some(name), _) | (None, Schedule::Named(name)) => (name.clone(), None),
        (None, Schedule::Text { name, text }) => (base_name(name), Some(text.as_str())),
    };
    let main = session.sources.files.get(session.main as usize).map(|file| base_name(&file.name)).unwrap_or_default();
    Ok(Provenance { source: main, hash: hash(session, strategy), options: options(session, &schedule), opened: opened(session) })
}

/// A file's name alone: the folder is this machine's business, and no name breaks a line.
fn base_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

/// The files that the program opens, from its own folder.
fn opened(session: &Session) -> Vec<String> {
    let main = session.sources.files.get(session.main as usize).map(|file| file.name.to_string()).unwrap_or_default();
    let folder = Path::new(&main).parent().unwrap_or(Path::new(""));
    let files = session.sources.files.iter().enumerate().filter(|(at, file)| *at != session.main as usize && is_program(session, file));
    files.map(|(_, file)| from_folder(folder, Path::new(&*file.name))).collect()
}

/// The path of a file from a folder, both from one place.
fn from_folder(folder: &Path, file: &Path) -> String {
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(file.components().skip(shared)).collect::<PathBuf>().display().to_string()
}

/// Whether a file is neither the library nor a schedule.
fn is_program(session: &Session, file: &SourceFile) -> bool {
    let schedule = match &session.options.schedule {
        Schedule::Text { name, .. } => name.as_str(),
        Schedule::Named(_) => "",
    };
    *file.name != *schedule && &*file.name != crate::types::LIBRARY
}

/// Each text after its length, so that no two lists of files are one.
fn hash(session: &Session, strategy: Option<&str>) -> String {
    let mut hasher = Sha256::new();
    let program = session.sources.files.iter().filter(|file| is_program(session, file));
    for text in program.map(|file| &*file.text).chain(strategy) {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn options(session: &Session, schedule: &str) -> Vec<String> {
    let given = &session.options;
    let mut options = vec![format!("--schedule {schedule}")];
    let flag = |given: bool, name: &str| given.then(|| name.to_string());
    let mut disabled: Vec<&String> = given.disabled.iter().collect();
    disabled.sort();
    disabled.dedup();
    options.extend(given.entries.iter().map(|name| format!("--entry {name}")));
    options.extend(given.derive.iter().map(|derive| format!("--derive {derive}")));
    options.extend(given.sizes.iter().map(|size| format!("--size {}={}", size.name, size.value)));
    options.extend(disabled.iter().map(|name| format!("--disable {name}")));
    options.extend(match given.mode {
        Mode::Auto => None,
        Mode::Forward => Some("--mode forward".to_string()),
        Mode::Reverse => Some("--mode reverse".to_string()),
    });
    options.extend(given.checkpoint.map(|states| format!("--checkpoint {states}")));
    options.extend((given.real == Real::F32).then(|| "--real f32".to_string()));
    options.extend(flag(given.strict_fp, "--strict-fp"));
    options.extend(flag(given.unchecked, "--unchecked"));
    options.extend(flag(given.parallel, "--parallel"));
    options.extend((!given.prefix.is_empty()).then(|| format!("--prefix {}", given.prefix)));
    options.extend(flag(given.header_only, "--header-only"));
    options
}
