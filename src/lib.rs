//! smoothc compiles F-smooth, a small functional language of numbers and arrays, to C or Futhark, derivatives included.
//!
//! There is one way through, and each stage is a plain function from what it is given to what it makes:
//!
//! ```text
//! text ─ syntax ─▶ tree ─ types ─▶ core ─ recursion ─▶ core ─ mode ─▶ core ─ ad ─▶ core ─ rewrite ─▶ core ─ plan ─▶ core ─ lower ─▶ loops ─ emit ─▶ C
//!                                    │                                             └─────────────── emit ─▶ Futhark
//!                                    └─ ir::eval, the meaning of everything
//! ```
//!
//! `let slope (v: Vector<n>) = gradient vectorSqNorm v` becomes a core function with a `vjp` term, which says
//! "this cotangent times the Jacobian of this body at this point". `mode` keeps it, for reverse mode, or makes it columns of
//! `dual` terms, "the derivative along this tangent", whichever costs less. `ad` replaces both by ordinary code, `rewrite`
//! makes that code cheap by rules that know nothing of derivatives, `plan` decides which loops there will be, `lower` gives each
//! array the place it is written to, and `loops` makes the loops that do so fast.
//!
//! | room | takes → gives |
//! | --- | --- |
//! | `syntax` | text → tree; layout, grammar, operators |
//! | `types` | tree → core: inference, sizes, specialising; the differentiation API to `dual` and `vjp` |
//! | `ir` | the core language: types with sizes, terms, primitives, meaning, checker, printer, prover |
//! | `recursion` | core → core: recursion that is no loop gets a stack, values of recursive types nodes in arrays |
//! | `trace` | the interpreter's record of a run → lines of text, and the backward pass over them |
//! | `sparse` | core → core: a Jacobian as rows, columns and values |
//! | `mode` | core → core: each derivative forward by columns, or backwards |
//! | `ad` | core → core without `dual` and `vjp` |
//! | `linear` | core functions → their derivatives as linear maps, for `--dump linear` |
//! | `cl` | core functions → arrows without variables and back, and their derivatives, for `--dump cl` |
//! | `rewrite` | core → core by named rules and a schedule |
//! | `plan` | core → core: which loops there will be |
//! | `lower` | core → loop program in destination-passing style |
//! | `loops` | loop program → loop program: passes over loops, and how much workspace they need |
//! | `emit` | loop program → C, core → Futhark, through `templates/` and `runtime/` |
//! | `toolchain` | runs the C and Futhark compilers and calls what they made |
//! | `explain` | a recorded derivation → text, or a page of HTML |
//! | `driver` | the list of passes; sees all rooms |
//! | `compiler` | smoothc for other programs of Rust: `Compiler`, and `build` for build scripts |
//! | `lsp` | messages of an editor → what it shows of a program: the language server |
//! | `cli` | one file a subcommand; the only place that reads files, prints and exits |
//! | `source` | files and places in them |
//! | `real` | `f64` or `f32`, as emitted code spells it |
//! | `diagnostic` | what a user is told: code, place, message, help |
//! | `elsewhere` | what other languages write, and what to write here |
//! | `budget` | how large things may get |
//! | `stack` | a thread with room for recursion |
//!
//! # Invariants
//!
//! 1. `ir::check` accepts the program after every pass (debug builds and tests); a failure names the pass.
//! 2. `ir::eval` is the meaning. Rules, differentiation, lowering, C and Futhark agree with it; tests compare with it.
//! 3. After `types` no user error is possible, only `unsupported` (E06xx) or `internal` (E09xx).
//! 4. Rules are pure, and never make a program fail that did not, read out of bounds, or do asymptotically more
//!    work.
//! 5. Output is a function of the input: no hash order, no time stamps, no absolute paths. Names come from the
//!    source.
//! 6. Templates decide nothing; passes print nothing.
//!
//! ARCHITECTURE.md says which test holds each, and where things are. `001` to `005` in comments are the papers of docs/papers.md.

pub mod ad;
pub mod budget;
pub mod cl;
pub mod cli;
pub mod compiler;
pub mod diagnostic;
pub mod driver;
pub mod elsewhere;
pub mod emit;
pub mod explain;
pub mod ir;
pub mod linear;
pub mod loops;
pub mod lower;
pub mod lsp;
pub mod mode;
pub mod plan;
pub mod real;
pub mod recursion;
pub mod rewrite;
pub mod source;
mod sparse;
pub mod stack;
pub mod syntax;
pub mod toolchain;
pub mod trace;
pub mod types;

pub use compiler::{Compiler, build};
