//! The pages of diagnostics are true: each wrong program gives its diagnostic, each right one gives none.

use std::process::{Command, Output, Stdio};

use smoothc::cli::pages::example;

/// The words of a command, as a shell takes them apart.
fn words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (at, part) in command.split('\'').enumerate() {
        if at % 2 == 1 { words.push(part) } else { words.extend(part.split_whitespace()) }
    }
    words
}

fn run(example: &example::Example) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).expect("writes");
    // what some commands read beside the program
    write("s.strategy", b"let main = mul-one\n");
    write("s.c", b"let main = id\n");
    write("f.npy", b"no array");
    write(if example.command.starts_with("rewrite") { "s.strategy" } else { "f.smooth" }, example.program.as_bytes());
    let mut command = Command::new(env!("CARGO_BIN_EXE_smoothc"));
    command.current_dir(folder.path()).args(words(example.command)).stdin(Stdio::null()).output().expect("runs")
}

#[test]
fn wrong_programs_give_their_diagnostic_and_right_ones_none() {
    let mut untrue = Vec::new();
    for example in example::all() {
        let output = run(&example);
        let said = String::from_utf8_lossy(&output.stderr);
        let status = output.status.code();
        let is_true = if example.wrong {
            let wanted = if example.code.starts_with('W') { Some(0) } else { Some(1) };
            let is_usage = status == Some(2) && (example.code.starts_with("E00") || example.code == "E0808");
            said.contains(&format!("[{}]: ", example.code)) && (status == wanted || is_usage)
        } else {
            status == Some(0) && said.is_empty()
        };
        if !is_true {
            let kind = if example.wrong { "wrong" } else { "right" };
            untrue.push(format!("{} {kind}: smoothc {}: {status:?}: {said}", example.code, example.command));
        }
    }
    assert!(untrue.is_empty(), "{}", untrue.join("\n"));
}
