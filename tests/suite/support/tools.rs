//! The tools of the machine that tests use: compilers, `nm`, sanitizers; and two workers for what takes long.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Says what a test leaves out, and why: also where the test's output is kept from the terminal since it passes.
pub fn skipped(why: &str) {
    static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut said = SAID.lock().expect("no panic while it is held");
    if !said.iter().any(|known| known == why) {
        // what `eprintln!` prints is kept
        let _ = writeln!(std::io::stderr(), "skipped: {why}");
        said.push(why.to_string());
    }
}

/// The C compiler to test with: `CC`, gcc where there is one, or cc.
pub fn c_compiler() -> String {
    static HERE: OnceLock<&str> = OnceLock::new();
    let here = || HERE.get_or_init(|| if exists("gcc") { "gcc" } else { "cc" }).to_string();
    std::env::var("CC").ok().filter(|name| !name.trim().is_empty()).unwrap_or_else(here)
}

/// What sanitizers need not ask: what is wrong with a pointer is found where it is used, and to ask of each before is half of the
/// compiler's time. `parallel` runs every example with all that they ask.
pub const LESS_SANITIZED: &str = "-fno-sanitize=null,pointer-overflow";

/// Whether a program answers.
pub fn exists(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs a command; what it printed when it fails.
pub fn succeeds(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let said = text(&output.stderr);
    let first: Vec<&str> = said.lines().take(30).collect();
    Err(format!("{:?} failed ({}):\n{}", command.get_program(), output.status, first.join("\n")))
}

/// Whether programs can be made with sanitizers here.
pub fn has_sanitizers() -> bool {
    makes_sanitized(&c_compiler())
}

/// Whether a compiler makes programs with sanitizers: clang may lack the libraries that gcc has.
pub fn makes_sanitized(compiler: &str) -> bool {
    static KNOWN: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    *KNOWN.lock().expect("no panic while it is held").entry(compiler.to_string()).or_insert_with(|| tries_sanitized(compiler))
}

fn tries_sanitized(compiler: &str) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("empty.c");
    std::fs::write(&file, "int main(void) { return 0; }\n").expect("writes");
    let mut command = Command::new(compiler);
    succeeds(command.args(["-fsanitize=address,undefined", "-o"]).arg(folder.path().join("empty")).arg(&file)).is_ok()
}

/// Does the work for every item, two at a time, and panics with all that went wrong.
pub fn each<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<(), String> + Sync) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = smoothc::stack::with_large_stack(|| work(item)) {
                        failures.lock().expect("no panic").push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
