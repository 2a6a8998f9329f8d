//! Makes C and `$OUT_DIR/circle.rs` from circle.smooth, and compiles and links the C.

fn main() {
    let compiler = smoothc::Compiler::new().derive("hessian:misfit:circle");
    if let Err(error) = compiler.build("../circle.smooth") {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
