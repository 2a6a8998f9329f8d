//! Which statements leave a function with a status other than success.
//!
//! In: statements. Out: whether any of them can fail, and how often with each status.
//!
//!     if (k >= n) return BOUNDS; g(v)   →   once with BOUNDS, and once with what g gives

use crate::ir::Status;

use crate::loops::program::*;

/// Whether some statement returns a status.
pub fn can_fail(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Fail { .. } | Stmt::NoRoom { .. } => true,
        Stmt::Invoke(call) => call.fallible,
        _ => stmt.blocks().any(|block| can_fail(block)),
    })
}

/// How often statements fail, for each status; `None` for those whose status is not known.
#[derive(Default)]
pub struct Failures(Vec<(Option<Status>, usize)>);

impl Failures {
    pub fn add(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::Fail { status, .. } => *self.of(Some(*status)) += 1,
                Stmt::NoRoom { .. } => *self.of(None) += 1,
                Stmt::Invoke(call) if call.fallible => *self.of(None) += 1,
                _ => stmt.blocks().for_each(|block| self.add(block)),
            }
        }
    }

    fn of(&mut self, status: Option<Status>) -> &mut usize {
        let at = self.0.iter().position(|(known, _)| *known == status).unwrap_or_else(|| {
            self.0.push((status, 0));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    pub fn remove(&mut self, status: Status) {
        *self.of(Some(status)) -= 1;
    }

    /// Whether nothing fails with another status.
    pub fn are_all(&self, status: Status) -> bool {
        self.0.iter().all(|(known, count)| *count == 0 || *known == Some(status))
    }
}
