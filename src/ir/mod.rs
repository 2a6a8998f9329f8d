//! The core language: types with sizes, terms, primitives and their arithmetic.

pub mod ambient;
pub mod check;
pub mod children;
mod construct;
pub mod distinct;
pub mod doubles;
pub mod ended_early;
pub mod eval;
pub mod free;
pub mod in_place;
pub mod last_use;
pub mod own_element;
pub mod prim;
pub mod print;
pub mod program;
pub mod prove;
pub mod scope;
mod size;
pub mod size_term;
pub mod subst;
pub mod term;
pub mod total;
pub mod zero;

pub use prim::Prim;
pub use program::{Function, Program};
pub use term::{Atom, Change, Expr, Iso, Labels, Name, Recursive, Size, Status, Term, Type, Updated, Var, fresh_id};
