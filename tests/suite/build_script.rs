//! smoothc in Rust build scripts: what `Compiler` emits, the functions over it, and the example crate, built offline.

use std::fs;
use std::path::Path;
use std::process::Command;

use smoothc::Compiler;

use crate::support::tools::{c_compiler, exists, skipped, succeeds};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

const PROGRAM: &str = "\
/// The mean, and the distances from it. */ \\
let spread (v: Vector<n>) : Double * Vector<n> =
  let mean = vectorSum v / double n
  (mean, vectorMap v (fun x -> x - mean))

let marks (n: Index) (k: Index) = (vectorRange (n + 1), build n (fun i -> i < k))
let halves (v: Vector<n>) = build (n / 2) (fun i -> v[2 * i])
let doubled (n: Index) (x: Double) = build (ifold (fun s i -> 2 * s + i) 1 n) (fun i -> x)
let fibonacci (n: Index) (x: Double) = build (snd (ifold (fun (a, b) _ -> (b, a + b)) (0, 1) n)) (fun i -> x)
let chosen (v: Vector<n>) (few: Bool) = build (if few && 2 < n then n % 2 else max 5 (n - 1)) (fun _ -> 1.0)
let pick (v: Vector<n>) (i: Index) : Double = v[i]
let count (n: Index) : Index = n + 1
let rec halved (x: Double) (n: Index) : Double = if n <= 0 then x else 0.5 * (halved (x + 1.0) (n - 1)) + x
let unused = 1.5
let loop (self: Double) (crate: Double) (smooth_c_call: Double) (workspace: Double) (bytes: Double) = self + crate + smooth_c_call + workspace + bytes
let size x = x + 1.0
";

const USER: &str = r#"
mod f {
    include!("f.rs");
}
use f::{Error, Workspace};

fn main() {
    let w = &mut Workspace::new();
    let (mut mean, mut apart) = (0.0, [0.0; 3]);
    f::spread(3, &[1.0, 2.0, 6.0], &mut mean, &mut apart, w).unwrap();
    assert_eq!((mean, apart), (3.0, [-2.0, -1.0, 3.0]));
    let (mut range, mut below) = ([0; 4], [false; 3]);
    f::marks(3, 2, &mut range, &mut below, w).unwrap();
    assert_eq!((range, below), ([0, 1, 2, 3], [true, true, false]));
    let mut half = [0.0];
    f::halves(3, &apart, &mut half, w).unwrap();
    assert_eq!(half, [-2.0]);
    let mut doubled = [0.0; 12];
    f::doubled(3, 0.5, &mut doubled, w).unwrap();
    assert_eq!(doubled, [0.5; 12]);
    let mut fibonacci = [0.0; 8];
    f::fibonacci(5, 0.5, &mut fibonacci, w).unwrap();
    assert_eq!(fibonacci, [0.5; 8]);
    let found = f::halves(3, &apart, &mut [0.0; 2], w);
    assert_eq!(found, Err(Error::Length { parameter: "out", found: 2, expected: 1 }));
    assert_eq!(found.unwrap_err().to_string(), "`out` has 2 numbers, expected 1");
    f::chosen(3, &apart, true, &mut half, w).unwrap();
    assert_eq!(f::pick(3, &apart, 3, w), Err(Error::Bounds));
    assert_eq!(f::pick(0, &[], 0, w), Err(Error::Bounds));
    assert_eq!(f::pick(-1, &[], 0, w), Err(Error::Negative));
    assert_eq!(f::marks(i64::MAX, 2, &mut [], &mut [], w), Err(Error::Negative));
    assert_eq!(f::count(4, w), Ok(5));
    assert_eq!(f::unused(w), Ok(1.5));
    assert_eq!(f::halved(0.0, 20_000, w), Err(Error::Workspace));
    assert_eq!(f::halved(0.0, 20_000, &mut Workspace::with_bytes(1 << 20).unwrap()), Ok(2.0));
    assert_eq!(f::loop_(1.0, 2.0, 3.0, 4.0, 5.0, w), Ok(15.0));
    assert_eq!(f::size_(1.0, w), Ok(2.0));
}
"#;

#[test]
fn functions_of_rust_give_what_the_interpreter_gives() {
    if !exists("rustc") {
        skipped("there is no rustc here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    fs::write(file("f.smooth"), PROGRAM).expect("writes");
    let emitted = Compiler::new().emit(file("f.smooth")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(emitted.reads, [file("f.smooth")]);
    fs::write(file("f.c"), &emitted.c).expect("writes");
    fs::write(file("f.rs"), &emitted.rust).expect("writes");
    fs::write(file("main.rs"), USER).expect("writes");
    succeeds(Command::new(c_compiler()).args(["-O1", "-c", "-o"]).arg(file("f.o")).arg(file("f.c"))).expect("C compiles");
    let mut rustc = Command::new("rustc");
    rustc.current_dir(folder.path()).args(["--edition", "2024", "-D", "warnings", "-C"]);
    rustc.arg(format!("link-arg={}", file("f.o").display())).args(["-l", "m", "-o", "main", "main.rs"]);
    succeeds(&mut rustc).unwrap_or_else(|why| panic!("{why}"));
    succeeds(&mut Command::new(file("main"))).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn errors_are_drawn_as_the_command_draws_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("f.smooth");
    fs::write(&path, "let f (v: Vector<n>) = vectorSum w\n").expect("writes");
    let error = Compiler::new().emit(&path).expect_err("an unknown name");
    assert_eq!(error.diagnostics[0].code, "E0202");
    assert!(error.to_string().starts_with("error[E0202]: unknown name `w`\n"), "{error}");
    let error = Compiler::new().derive("slope:f").emit(&path).expect_err("an unknown kind");
    assert!(error.to_string().contains("`derive` of `slope:f`"), "{error}");
    assert_eq!(Compiler::new().emit(folder.path().join("none.smooth")).expect_err("no file").diagnostics[0].code, "E0001");
    // outside of a build script
    if std::env::var_os("OUT_DIR").is_none() {
        assert_eq!(Compiler::new().build(&path).expect_err("no folder").diagnostics[0].code, "E0902");
    }
}

#[test]
fn options_are_those_of_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("f.smooth");
    fs::write(&path, "let f (v: Vector<n>) = vectorSum (v .* v)\nlet g x = x + 1.0\n").expect("writes");
    let compiler = Compiler::new().derive("gradient:f").entry("f").size("n", 3).single_precision().prefix("p_").strict_fp().unchecked();
    let emitted = compiler.emit(&path).unwrap_or_else(|error| panic!("{error}"));
    assert!(emitted.header.contains("smooth_status p_f_gradient(const float *SMOOTH_RESTRICT v"), "{}", emitted.header);
    assert!(!emitted.header.contains("p_g("), "{}", emitted.header);
    // where a module or a namespace tells names apart, they have no prefix
    assert!(emitted.rust.contains("pub fn f(v: &[f32], workspace: &mut Workspace) -> Result<f32, Error>"), "{}", emitted.rust);
    assert!(emitted.rust.contains("#[link_name = \"p_f\"]"), "{}", emitted.rust);
    assert!(emitted.manifest.contains("\"p_f\"") && emitted.cpp.contains("namespace f {"));
    assert!(emitted.cpp.contains("inline float f(") && emitted.cpp.contains("::p_f("), "{}", emitted.cpp);
    // nested deeper than an ordinary thread's stack holds in a debug build
    let deep = format!("let f x = {}x{}\n", "(1.0 + ".repeat(400), ")".repeat(400));
    fs::write(&path, deep).expect("writes");
    std::thread::spawn(move || Compiler::new().emit(&path).map(drop)).join().expect("no overflow").expect("compiles");
}

#[test]
fn the_example_crate_builds_offline() {
    // of one workspace, where the library that it needs is built already: for a build script alone, Cargo would build another one, since
    // it leaves `lto` out there
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder of all that is built");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(ROOT).args(["build", "-p", "smoothc", "-p", "fit", "--offline", "--locked"]).env("CARGO_TARGET_DIR", target);
    succeeds(&mut cargo).unwrap_or_else(|why| panic!("{why}"));
    let said = succeeds(&mut Command::new(target.join("debug/fit"))).unwrap_or_else(|why| panic!("{why}"));
    assert!(said.starts_with("centre 1.0000 2.0000, radius 2.0000, misfit "), "{said}");
    // names of C are this package's and program's own: linkers take the first of two functions of one name
    let built =
        fs::read_dir(target.join("debug/build")).expect("a folder").map(|entry| entry.expect("an entry").path().join("out/circle.h"));
    let headers: Vec<String> = built.filter_map(|path| fs::read_to_string(path).ok()).collect();
    assert!(!headers.is_empty() && headers.iter().any(|header| header.contains("smooth_status fit_circle_misfit(")), "{headers:?}");
}
