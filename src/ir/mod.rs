//! The core language: types with sizes, terms, primitives and their arithmetic.

pub mod ambient;
pub mod check;
pub mod children;
mod construct;
pub mod distinct;
pub mod doubles;
pub mod ended_early;
pub mod eval;
mod fingerprint;
pub mod free;
pub mod in_place;
pub mod labels;
pub mod last_use;
pub mod prim;
pub mod print;
pub mod program;
pub mod prove;
pub mod recursive;
pub mod size;
pub mod size_term;
pub mod subst;
pub mod term;
pub mod total;
pub mod types;
pub mod var;
mod var_set;
pub mod zero;

pub use labels::Labels;
pub use prim::Prim;
pub use program::{Function, Program};
pub use recursive::Recursive;
pub use size::{Atom, Size};
pub use term::{Change, Expr, Iso, Status, Term, Updated};
pub use types::Type;
pub use var::Var;
