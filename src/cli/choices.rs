//! The words that options choose among: `--target c`, `--mode reverse`, `--color never`.
//!
//! In: a word. Out: what it means to the rest of the compiler.

use clap::ValueEnum;

use crate::mode::Mode;
use crate::real::Real;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    Human,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Target {
    C,
    Futhark,
}

impl From<Target> for crate::driver::Target {
    fn from(target: Target) -> crate::driver::Target {
        match target {
            Target::C => crate::driver::Target::C,
            Target::Futhark => crate::driver::Target::Futhark,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RealName {
    F64,
    F32,
}

impl From<RealName> for Real {
    fn from(real: RealName) -> Real {
        match real {
            RealName::F64 => Real::F64,
            RealName::F32 => Real::F32,
        }
    }
}

/// How derivatives are computed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeName {
    Auto,
    Forward,
    Reverse,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Mode {
        match name {
            ModeName::Auto => Mode::Auto,
            ModeName::Forward => Mode::Forward,
            ModeName::Reverse => Mode::Reverse,
        }
    }
}

/// How the interpreter evaluates reverse derivatives, where not by columns.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReverseName {
    DualNumbers,
}
