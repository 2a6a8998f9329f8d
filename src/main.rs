//! The `smoothc` command; everything is in the library.

fn main() -> std::process::ExitCode {
    smoothc::cli::main()
}
