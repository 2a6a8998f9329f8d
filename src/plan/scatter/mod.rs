//! Sums whose terms are selected by an index from data, found: what `lower` accumulates by one loop over the terms.
//!
//! In: a `build` over rows whose elements are sums over i of terms that are added where the row's index is some e(i), as in the
//! derivative of `c[k[i]]`. Out: what each element begins with, what an iteration adds to which element, and what is made of the
//! sums (`find`); an iteration's steps (`steps`), sums of several components (`components`), and what all rows of an addition share (`common`).
//!
//!     build(n, r. fold(m, s, i. if r = k[i] then s + g(i) else s, 0.0))   →   begins with 0.0; at r = k[i]: add g(i)
//!
//! `lower` writes them, unless the statements that come of it could fail in another order.

pub mod common;
pub mod components;
pub mod find;
pub mod steps;
