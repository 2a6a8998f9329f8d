//! What several files of tests use, and some benchmarks: the command, compilers, cases of examples, snapshots, counts.

#[allow(dead_code, reason = "benchmarks use the rest")]
pub mod ablation;
pub mod agree;
pub mod allocations;
pub mod apart;
pub mod blocks;
pub mod cases;
pub mod client;
pub mod command;
pub mod counting;
pub mod engine;
#[allow(dead_code, reason = "benchmarks use the rest")]
pub mod experiments;
pub mod files;
pub mod native;
pub mod python;
pub mod silent;
pub mod snapshot;
pub mod sources;
pub mod tools;
#[allow(dead_code, reason = "benchmarks use the rest")]
pub mod worth;
#[allow(dead_code, reason = "benchmarks use the rest")]
pub mod worth_loops;
#[allow(dead_code, reason = "benchmarks use the rest")]
pub mod worth_page;
