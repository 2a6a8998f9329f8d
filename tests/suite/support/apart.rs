//! A test again, in a process of its own.
//!
//! In: `module_path!()` and the name of the test. Out: the command that runs this test alone and shows what it prints.

use std::process::Command;

pub fn command(module: &str, test: &str) -> Command {
    let (_, file) = module.split_once("::").expect("a module of this crate");
    let mut command = Command::new(std::env::current_exe().expect("this is a program"));
    command.args([&format!("{file}::{test}"), "--exact", "--nocapture"]);
    command
}
