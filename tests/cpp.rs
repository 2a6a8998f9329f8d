//! `emit --cpp`: the C++ header is silent under every compiler, and gives what the interpreter gives.

#[allow(dead_code)]
mod support {
    pub mod tools;
}

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::tools::{exists, succeeds};

const WARNINGS: [&str; 9] =
    ["-std=c++17", "-Werror", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Wsign-conversion"];

/// The compilers that are here.
fn compilers() -> Vec<&'static str> {
    let (found, absent): (Vec<&str>, Vec<&str>) = ["g++", "clang++"].into_iter().partition(|name| exists(name));
    if !absent.is_empty() {
        println!("skipped: there is no {} here", absent.join(", "));
    }
    found
}

fn smoothc(folder: &Path, words: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_smoothc")).current_dir(folder).args(words).output().expect("runs")
}

#[track_caller]
fn emit(folder: &Path, words: &[&str]) {
    let output = smoothc(folder, &[&["emit", "--cpp"], words].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Where Eigen's headers are.
fn eigen() -> Option<PathBuf> {
    let given = std::env::var_os("EIGEN3_INCLUDE_DIR").map(PathBuf::from);
    let found = given.or_else(|| Some(PathBuf::from("/usr/include/eigen3"))).filter(|folder| folder.join("Eigen/Core").exists());
    if found.is_none() {
        println!("skipped: there is no Eigen in /usr/include/eigen3 nor in EIGEN3_INCLUDE_DIR");
    }
    found
}

/// Compiles and runs a program over what was emitted, with every compiler.
fn run(folder: &Path, program: &str, c: &str, include: Option<&Path>) {
    fs::write(folder.join("main.cpp"), program).expect("writes");
    for compiler in compilers() {
        let object = folder.join("emitted.o");
        let c_compiler = compiler.replace("clang++", "clang").replace("g++", "gcc");
        succeeds(Command::new(c_compiler).current_dir(folder).args(["-O1", "-c", c, "-o"]).arg(&object)).expect("C compiles");
        let mut command = Command::new(compiler);
        command.current_dir(folder).args(WARNINGS).args(["-O1", "-I.", "main.cpp"]).arg(&object).args(["-lm", "-o", "main"]);
        match include {
            Some(folder) => command.arg("-isystem").arg(folder),
            None => command.arg("-DSMOOTHC_NO_EIGEN"),
        };
        succeeds(&mut command).unwrap_or_else(|why| panic!("{why}"));
        succeeds(&mut Command::new(folder.join("main"))).unwrap_or_else(|why| panic!("{compiler}: {why}"));
    }
}

#[test]
fn headers_of_all_examples_are_silent() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::new();
    let mut files: Vec<PathBuf> = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
        .expect("examples")
        .map(|file| file.expect("a file").path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "smooth"))
        .collect();
    files.sort();
    for (at, file) in files.iter().enumerate() {
        let (file, prefix) = (file.display().to_string(), format!("e{at}_"));
        // names of their own, so that one file of C++ can include all
        let output = smoothc(folder.path(), &["emit", "--cpp", "-q", "--prefix", &prefix, &file, "-o", &format!("example-{at}.c")]);
        match String::from_utf8_lossy(&output.stderr) {
            said if said.contains("E0811") => continue,
            said => assert!(output.status.success(), "{file}: {said}"),
        }
        text += &format!("#include \"example-{at}.hpp\"\n");
    }
    fs::write(folder.path().join("all.cpp"), text).expect("writes");
    for compiler in compilers() {
        let mut command = Command::new(compiler);
        command.current_dir(folder.path()).args(WARNINGS).args(["-fsyntax-only", "-DSMOOTHC_NO_EIGEN", "all.cpp"]);
        succeeds(&mut command).unwrap_or_else(|why| panic!("{why}"));
    }
}

const PROGRAM: &str = "\
/// The mean, and the distances from it. \\
let spread (v: Vector<n>) : Double * Vector<n> =
  let mean = vectorSum v / double n
  (mean, vectorMap v (fun x -> x - mean))

/// Every index up to n, and whether it is below k.
let marks (n: Index) (k: Index) = (vectorRange (n + 1), build n (fun i -> i < k))

let outer (v: Vector<n>) (w: Vector<m>) : Matrix<n, m> = vectorOutProd v w
let halves (v: Vector<n>) = build (n / 2) (fun i -> v[2 * i])
let chosen (v: Vector<n>) (few: Bool) = build (if few && 2 < n then n % 2 else max 5 (n - 1)) (fun _ -> 1.0)
let pick (v: Vector<n>) (i: Index) : Double = v[i]
let stacked (v: Vector<n>) (w: Vector<m>) (p: Vector<2>) : Vector<n + 2 * m - 1> =
  build (n + 2 * m - 1) (fun i -> if i < n then v[i] else p[0] + w[(i - n) / 2])
let unused = 1.5
let spread_result x = x * 2.0
let namespace' (double: Double) (bytes: Vector<scratch>) = double * vectorSum bytes
";

#[test]
fn calls_from_cpp_give_what_the_interpreter_gives() {
    let folder = tempfile::tempdir().expect("a folder");
    // the stem is a class of the header, and has a character that C++ has not
    fs::write(folder.path().join("view.smooth"), PROGRAM).expect("writes");
    emit(folder.path(), &["-q", "view.smooth", "-o", "view.c"]);
    let program = r#"
#include "view.hpp"
#include "view.hpp"
#include <vector>
#undef NDEBUG
#include <cassert>
namespace own = smoothc::view_;

template <class E, class F>
static std::string thrown(F f)
{
    try {
        f();
    } catch (const E &error) {
        return error.what();
    }
    return "nothing";
}

int main()
{
    const std::vector<double> v{1, 2, 6};
    const auto spread = own::spread(v);
    assert(spread.out_0 == 3 && spread.out_1.size() == 3 && spread.out_1[2] == 3 && spread.out_1(0) == -2);
    const auto marks = own::marks(3, 2);
    assert(marks.out_0.size() == 4 && marks.out_0[3] == 3 && marks.out_1[1] && !marks.out_1[2]);
    smoothc::workspace scratch;
    const std::array<double, 2> w{10, 100};
    auto outer = own::outer(v, w, scratch);
    assert(outer.length(0) == 3 && outer.length(1) == 2 && outer(2, 1) == 600 && outer(1, 0) == 20);
    double into[3][2] = {};
    own::outer_into(v, w, into, scratch);
    assert(into[2][1] == 600);
    assert(own::outer({}, w).size() == 0 && own::outer({}, w).length(1) == 2);
    assert(own::pick(outer_row: {1.0, 2.0}, 1) == 2);
    assert(own::stacked(v, w, {0.5, 0}).size() == 6 && own::stacked(v, w, {0.5, 0})[5] == 100.5);
    double halves[1];
    own::halves_into(v, halves);
    assert(halves[0] == 1 && own::halves(v).size() == 1);
    assert(own::chosen(v, true).size() == 1 && own::chosen(v, false).size() == 5);
    assert(thrown<smoothc::shape_error>([&] { own::halves_into(w, into[0]); }) != "nothing");
    assert(own::unused() == 1.5 && own::spread_result(2) == 4 && own::namespace_prime(2, v) == 18);
    auto copy = outer;
    outer(0, 0) = -1;
    assert(copy(0, 0) == 10);
    copy = outer;
    assert(copy(0, 0) == -1);
    assert(thrown<smoothc::status_error>([&] { own::pick(v, 3); }) == "pick: an index is out of bounds");
    assert(thrown<smoothc::shape_error>([&] { own::stacked(v, w, v); }) == "stacked: `p` has length 3 in direction 0, expected 2");
    assert(thrown<smoothc::shape_error>([&] { own::marks(-2, 0); }) == "an array has a negative length");
    assert(thrown<std::length_error>([&] { own::marks(INT64_MAX / 2, 0); }) != "nothing");
}
"#;
    run(folder.path(), &program.replace("outer_row: ", ""), "view.c", None);
}

#[test]
fn vectors_and_matrices_of_eigen_are_arguments() {
    let Some(include) = eigen() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/circle.smooth"), folder.path().join("circle.smooth")).expect("copies");
    emit(folder.path(), &["circle.smooth", "--derive", "hessian:misfit", "-o", "circle.c"]);
    let program = r#"
#include "circle.hpp"
#undef NDEBUG
#include <cassert>

int main()
{
    using Points = Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor>;
    Eigen::Vector3d circle(0, 0, 1);
    Points points(4, 2);
    points << 2, 0, 0, 2, -2, 0, 0, -4;
    assert(smoothc::circle::misfit(circle, points) == 6);
    const auto slope = smoothc::circle::slope(circle, points);
    assert(smoothc::eigen(slope).isApprox(Eigen::Vector3d(0, 2, -6)));
    Eigen::VectorXd into(3);
    smoothc::circle::slope_into(circle, Eigen::Map<const Points>(points.data(), 4, 2), into);
    assert(into.isApprox(Eigen::Vector3d(0, 2, -6)));
    const auto hessian = smoothc::circle::misfit_hessian(circle, points);
    assert(smoothc::eigen(hessian).isApprox(smoothc::eigen(hessian).transpose()));
    // a block whose rows are not next to each other
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> wide(4, 3);
    wide.leftCols(2) = points;
    try {
        smoothc::circle::misfit(circle, wide.leftCols(2));
        return 1;
    } catch (const smoothc::shape_error &) {
    }
    assert(smoothc::circle::misfit(circle, wide.leftCols(2).eval()) == 6);
}
"#;
    run(folder.path(), program, "circle.c", Some(&include));
}

#[test]
fn a_header_over_a_header_and_floats() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/circle.smooth"), folder.path().join("circle.smooth")).expect("copies");
    emit(folder.path(), &["circle.smooth", "--header-only", "--real", "f32", "-o", "all.h"]);
    let program = "#include \"all.hpp\"\nint main()\n{\n    const float points[1][2] = {{3.0f, 2.0f}};\n    \
                   return smoothc::all::slope({1.0f, 2.0f, 2.0f}, points)[0] == 0.0f ? 0 : 1;\n}\n";
    fs::write(folder.path().join("empty.c"), "typedef int empty;\n").expect("writes");
    run(folder.path(), program, "empty.c", None);
}

#[test]
fn the_header_needs_a_file_and_c() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("f.smooth"), "let f x = x * 2.0\n").expect("writes");
    for words in [
        &["emit", "--cpp", "f.smooth"][..],
        &["emit", "--cpp", "f.smooth", "-o", "-"],
        &["emit", "--cpp", "--target", "futhark", "f.smooth"],
    ] {
        let output = smoothc(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("`--cpp` has no effect"), "{words:?}");
    }
    let output = smoothc(folder.path(), &["build", "--cpp", "f.smooth", "-o", "f.o"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read_to_string(folder.path().join("f.hpp")).expect("a header").contains("namespace f {"));
    assert_eq!(smoothc(folder.path(), &["build", "--cpp", "--target", "futhark", "f.smooth", "-o", "f.o"]).status.code(), Some(2));
    emit(folder.path(), &["f.smooth", "-o", "f.c"]);
    let output = smoothc(folder.path(), &["emit", "--cpp", "--check", "f.smooth", "-o", "f.c"]);
    assert!(output.status.success());
    fs::remove_file(folder.path().join("f.hpp")).expect("it was there");
    assert_eq!(smoothc(folder.path(), &["emit", "--cpp", "--check", "f.smooth", "-o", "f.c"]).status.code(), Some(1));
}
