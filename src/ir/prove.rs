//! The prover of sizes.
