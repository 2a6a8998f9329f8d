//! The built command, with something on its standard input or nothing.
//!
//! In: words and bytes. Out: what the process printed, and its status.

use std::io::Write;
use std::process::{Command, Output, Stdio};

pub fn with_input(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_smoothc"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // what is refused early is not read to the end
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("ends");
    writer.join().expect("writes");
    output
}

pub fn smoothc(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_smoothc")).args(args).stdin(Stdio::null()).output().expect("runs")
}

pub fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What was printed, without the end of its last line.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim_end().to_string()
}

pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
