//! `emit --cpp`: the C++ header is silent under every compiler, and gives what the interpreter gives.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::tools::{exists, makes_sanitized, skipped, succeeds};

const WARNINGS: [&str; 9] =
    ["-std=c++17", "-Werror", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Wsign-conversion"];

/// The compilers that are here.
fn compilers() -> Vec<&'static str> {
    let (found, absent): (Vec<&str>, Vec<&str>) = ["g++", "clang++"].into_iter().partition(|name| exists(name));
    if !absent.is_empty() {
        skipped(&format!("there is no {} here", absent.join(", ")));
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
        skipped("there is no Eigen in /usr/include/eigen3 nor in EIGEN3_INCLUDE_DIR");
    }
    found
}

/// Compiles and runs a program over what was emitted, with every compiler, under sanitizers where they are here.
fn run(folder: &Path, program: &str, c: &str, include: Option<&Path>, flags: &[&str]) {
    fs::write(folder.join("main.cpp"), program).expect("writes");
    for compiler in compilers() {
        let object = folder.join("emitted.o");
        let c_compiler = compiler.replace("clang++", "clang").replace("g++", "gcc");
        let is_sanitized = makes_sanitized(&c_compiler);
        let sanitizers: &[&str] = if is_sanitized { &["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"] } else { &[] };
        if !is_sanitized {
            skipped(&format!("{c_compiler} has no sanitizers here, the program runs without"));
        }
        let mut command = Command::new(c_compiler);
        succeeds(command.current_dir(folder).args(["-O1", "-c", c, "-o"]).arg(&object).args(sanitizers)).expect("C compiles");
        let mut command = Command::new(compiler);
        command.current_dir(folder).args(WARNINGS).args(["-O1", "-I.", "main.cpp"]).arg(&object).args(["-lm", "-o", "main"]);
        command.args(sanitizers).args(flags);
        match include {
            Some(folder) => command.arg("-isystem").arg(folder),
            None => command.arg("-DSMOOTHC_NO_EIGEN"),
        };
        succeeds(&mut command).unwrap_or_else(|why| panic!("{why}"));
        // where there is no memory `new (std::nothrow)` is null, as it is without sanitizers
        let mut command = Command::new(folder.join("main"));
        succeeds(command.env("ASAN_OPTIONS", "allocator_may_return_null=1")).unwrap_or_else(|why| panic!("{compiler} {flags:?}: {why}"));
    }
}

/// With exceptions and without.
const BOTH: [&[&str]; 2] = [&[], &["-fno-exceptions"]];

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
        succeeds(command.arg("-fno-exceptions")).unwrap_or_else(|why| panic!("{why}"));
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
let doubled (n: Index) (x: Double) = build (ifold (fun s i -> 2 * s + i) 1 n) (fun i -> x)
let fibonacci (n: Index) (x: Double) = build (snd (ifold (fun (a, b) _ -> (b, a + b)) (0, 1) n)) (fun i -> x)
/// More than 32 bits on the way to a length.
let grown (n: Index) (x: Double) = build (ifold (fun s i -> if s > n then s else s * 2) 1 n % 1000) (fun i -> x)
let rec _common (a: Index) (b: Index) decreases b : Index = if b = 0 then a else _common b (a % b)
let common (a: Index) (b: Index) (x: Double) = build (_common a b) (fun i -> x)
let chosen (v: Vector<n>) (few: Bool) = build (if few && 2 < n then n % 2 else max 5 (n - 1)) (fun _ -> 1.0)
let pick (v: Vector<n>) (i: Index) : Double = v[i]
let stacked (v: Vector<n>) (w: Vector<m>) (p: Vector<2>) : Vector<n + 2 * m - 1> =
  build (n + 2 * m - 1) (fun i -> if i < n then v[i] else p[0] + w[(i - n) / 2])
let backwards (v: Vector<n>) (k: Index) =
  let sums = vectorCumSum (build k (fun i -> v[i % n]))
  build k (fun i -> sums[k - 1 - i])
let rec halved (x: Double) (n: Index) : Double = if n <= 0 then x else 0.5 * (halved (x + 1.0) (n - 1)) + x
let unused = 1.5
let try_pick x = x + 1.0
let spread_result x = x * 2.0
let namespace' (double: Double) (bytes: Vector<scratch>) = double * vectorSum bytes
";

/// A folder with the program in C and C++.
fn emitted() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    // the stem is a class of the header, and has a character that C++ has not
    fs::write(folder.path().join("view.smooth"), PROGRAM).expect("writes");
    emit(folder.path(), &["-q", "view.smooth", "-o", "view.c"]);
    folder
}

#[test]
fn calls_from_cpp_give_what_the_interpreter_gives() {
    let folder = emitted();
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
    assert(own::doubled(3, 0.5).size() == 12 && own::doubled(0, 0.5)[0] == 0.5);
    assert(own::fibonacci(5, 0.5).size() == 8 && own::fibonacci(0, 0.5)[0] == 0.5);
    assert(own::grown(5000000000, 0.5).size() == 592);
    assert(own::common(12, 18, 0.5).size() == 6 && own::common(3, 1000000007, 0.5).size() == 1);
    assert(own::chosen(v, true).size() == 1 && own::chosen(v, false).size() == 5);
    assert(thrown<smoothc::shape_error>([&] { own::halves_into(w, into[0]); }) != "nothing");
    double numbers[3] = {1, 2, 6};
    const smoothc::view<double, 1> shared(numbers, {3});
    assert(thrown<std::invalid_argument>([&] { own::halves_into(shared, {numbers + 2, {1}}); }) == "halves: `out` shares memory with another array of the call");
    assert(own::try_halves(shared, {numbers, {1}}) == SMOOTH_SHAPE && numbers[0] == 1);
    own::halves_into({numbers, {2}}, {numbers + 2, {1}});
    assert(numbers[2] == 1);
    assert(own::unused() == 1.5 && own::spread_result(2) == 4 && own::namespace_prime(2, v) == 18);
    auto copy = outer;
    outer(0, 0) = -1;
    assert(copy(0, 0) == 10);
    copy = outer;
    assert(copy(0, 0) == -1);
    assert(thrown<smoothc::status_error>([&] { own::pick(v, 3); }) == "pick: an index is out of bounds");
    assert(thrown<smoothc::shape_error>([&] { own::stacked(v, w, v); }) == "stacked: `p` has length 3 in direction 0, expected 2");
    assert(thrown<smoothc::shape_error>([&] { own::marks(-2, 0); }) == "marks: `out_0` would have length -1 in direction 0");
    assert(thrown<std::length_error>([&] { own::marks(INT64_MAX / 2, 0); }) == "marks: `out_0` would be larger than the memory");
    assert(thrown<smoothc::shape_error>([&] { smoothc::array<double, 1> none({-1}); }) == "an array has a negative length");
    // more bytes are more calls of a recursion
    smoothc::workspace deep;
    assert(thrown<smoothc::status_error>([&] { own::halved(0, 20000, deep); })
           == "halved: the workspace is too small, or a recursion too deep for it");
    assert(deep.reserve(1 << 20) >= 1 << 20 && own::halved(0, 20000, deep) == 2);
    // what an entry cannot have room for leaves the workspace as it was
    assert(thrown<std::bad_alloc>([&] { scratch.reserve(SIZE_MAX); }) != "nothing" && scratch.try_reserve(16) >= 16);
}
"#;
    run(folder.path(), &program.replace("outer_row: ", ""), "view.c", None, &[]);
}

#[test]
fn a_status_is_returned_with_exceptions_and_without() {
    let folder = emitted();
    let program = r#"
#include "view.hpp"
#include <cstring>
#include <vector>
#undef NDEBUG
#include <cassert>
namespace own = smoothc::view_;

int main(int words, char **)
{
    if (words > 1) {
        smoothc::array<double, 1> none({-1});
    }
    const std::vector<double> v{1, 2, 6};
    double mean = 0;
    std::vector<double> distances(3);
    assert(own::try_spread(v, mean, distances) == SMOOTH_OK && mean == 3 && distances[2] == 3);
    // an entry has that name
    double picked = 0;
    assert(own::try_pick_(v, 2, picked) == SMOOTH_OK && picked == 6);
    assert(own::try_pick_(v, 3, picked) == SMOOTH_BOUNDS);
    double plus = 0;
    assert(own::try_try_pick(1, plus) == SMOOTH_OK && plus == 2);
    static_assert(noexcept(own::try_pick_(std::declval<const smoothc::view<const double, 1> &>(), 0, picked)));
    assert(std::strcmp(smoothc::status_text(SMOOTH_BOUNDS), "an index is out of bounds") == 0);

    smoothc::workspace scratch;
    const std::array<double, 2> w{10, 100};
    smoothc::array<double, 2> outer({3, 2});
    assert(own::try_outer(v, w, outer, scratch) == SMOOTH_OK && outer(2, 1) == 600);
    assert(own::try_outer(w, v, outer, scratch) == SMOOTH_SHAPE);
    double stacked[6] = {};
    assert(own::try_stacked(v, w, {0.5, 0}, stacked) == SMOOTH_OK && stacked[5] == 100.5);
    assert(own::try_stacked(v, w, v, stacked) == SMOOTH_SHAPE);
    assert(own::try_stacked(v, w, {0.5, 0}, distances) == SMOOTH_SHAPE);

    double half = 0;
    assert(own::try_halved(0, 20000, half) == SMOOTH_WORKSPACE);
    smoothc::workspace deep;
    assert(deep.try_reserve(1 << 20) >= 1 << 20 && own::try_halved(0, 20000, half, deep) == SMOOTH_OK && half == 2);

    std::int64_t range[4];
    bool below[3];
    assert(own::try_marks(3, 2, range, below) == SMOOTH_OK && range[3] == 3 && below[1] && !below[2]);
    assert(own::try_marks(-2, 0, range, below) == SMOOTH_NEGATIVE);
    assert(own::try_marks(-2, 0, {nullptr, {0}}, {nullptr, {0}}) == SMOOTH_NEGATIVE);

    // the workspace that fits grew to 24 bytes; where there is no memory nothing is written
    assert(own::try_backwards(3, v, distances, scratch) == SMOOTH_OK && distances[0] == 9 && distances[2] == 1);
    const std::int64_t huge = PTRDIFF_MAX / static_cast<std::int64_t>(sizeof(double));
    const smoothc::view<double, 1> nowhere(distances.data(), {huge});
    assert(own::try_backwards(huge, v, nowhere, scratch) == SMOOTH_WORKSPACE && distances[0] == 9);
    assert(scratch.try_reserve(SIZE_MAX) == 0 && scratch.try_reserve(16) >= 16 && scratch.data() != nullptr);
    assert(own::try_backwards(3, v, distances, scratch) == SMOOTH_OK && distances[2] == 1);
}
"#;
    for flags in BOTH {
        run(folder.path(), program, "view.c", None, flags);
    }
    if !compilers().is_empty() {
        let said = succeeds(Command::new(folder.path().join("main")).arg("array")).expect_err("no array has that length");
        assert!(said.contains("signal: 6"), "{said}");
    }
    // what throws is not there
    let call = "#include \"view.hpp\"\nint main() { return smoothc::view_::unused() > 1.0; }\n";
    fs::write(folder.path().join("call.cpp"), call).expect("writes");
    for compiler in compilers() {
        let mut command = Command::new(compiler);
        command.current_dir(folder.path()).args(["-std=c++17", "-fsyntax-only", "call.cpp"]);
        succeeds(&mut command).unwrap_or_else(|why| panic!("{why}"));
        let said = succeeds(command.arg("-fno-exceptions")).expect_err("nothing to call");
        assert!(said.contains("unused"), "{said}");
    }
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
    Eigen::VectorXd into(3);
    double misfit = 0;
    assert(smoothc::circle::try_misfit(circle, points, misfit) == SMOOTH_OK && misfit == 6);
    into.setZero();
    assert(smoothc::circle::try_slope(circle, points, into) == SMOOTH_OK && into.isApprox(Eigen::Vector3d(0, 2, -6)));
    // a block whose rows are not next to each other, and a column
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> wide(4, 3);
    wide.leftCols(2) = points;
    assert(smoothc::circle::try_misfit(circle, wide.leftCols(2), misfit) == SMOOTH_SHAPE);
    assert(smoothc::circle::try_slope(circle, points, wide.col(2).head(3)) == SMOOTH_SHAPE);
#ifdef SMOOTHC_EXCEPTIONS
    assert(smoothc::circle::misfit(circle, points) == 6);
    const auto slope = smoothc::circle::slope(circle, points);
    assert(smoothc::eigen(slope).isApprox(Eigen::Vector3d(0, 2, -6)));
    smoothc::circle::slope_into(circle, Eigen::Map<const Points>(points.data(), 4, 2), into);
    const auto hessian = smoothc::circle::misfit_hessian(circle, points);
    assert(smoothc::eigen(hessian).isApprox(smoothc::eigen(hessian).transpose()));
    const auto thrown = [](auto f) -> std::string {
        try {
            f();
        } catch (const smoothc::shape_error &error) {
            return error.what();
        }
        return "nothing";
    };
    assert(thrown([&] { smoothc::circle::misfit(circle, wide.leftCols(2)); }) == "misfit: `points` is not contiguous");
    assert(thrown([&] { smoothc::circle::slope_into(circle, points, wide.col(2).head(3)); }) == "slope: `out` is not contiguous");
    assert(thrown([&] { smoothc::circle::misfit(wide.row(0).head(2), points); }) == "misfit: `circle` has length 2 in direction 0, expected 3");
    assert(smoothc::circle::misfit(circle, wide.leftCols(2).eval()) == 6);
#endif
}
"#;
    for flags in BOTH {
        run(folder.path(), program, "circle.c", Some(&include), flags);
    }
}

#[test]
fn a_header_over_a_header_and_floats() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/circle.smooth"), folder.path().join("circle.smooth")).expect("copies");
    emit(folder.path(), &["circle.smooth", "--header-only", "--real", "f32", "-o", "all.h"]);
    let program = "#include \"all.hpp\"\nint main()\n{\n    const float points[1][2] = {{3.0f, 2.0f}};\n    \
                   return smoothc::all::slope({1.0f, 2.0f, 2.0f}, points)[0] == 0.0f ? 0 : 1;\n}\n";
    fs::write(folder.path().join("empty.c"), "typedef int empty;\n").expect("writes");
    run(folder.path(), program, "empty.c", None, &[]);
}

#[test]
fn the_header_needs_a_file_and_c() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("f.smooth"), "let f x = x * 2.0\n").expect("writes");
    for words in [
        &["emit", "--cpp", "f.smooth"][..],
        &["build", "--cpp", "f.smooth", "--python", "made"],
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

#[test]
fn what_is_moved_from_has_no_numbers() {
    let folder = emitted();
    let program = r#"
#include "view.hpp"
#include <type_traits>
#include <vector>
#undef NDEBUG
#include <cassert>

template <class A>
static bool is_empty(const A &of)
{
    return of.size() == 0 && of.length(0) == 0 && of.length(1) == 0 && of.begin() == of.end();
}

int main()
{
    smoothc::array<double, 2> a({2, 3});
    a(1, 2) = 6;
    auto b = std::move(a);
    assert(is_empty(a) && b.size() == 6 && b(1, 2) == 6);
    auto c = a;
    assert(is_empty(c));
    c = std::move(b);
    assert(is_empty(b) && c(1, 2) == 6);
    b = c;
    a = b;
    assert(a(1, 2) == 6 && b(1, 2) == 6 && c(1, 2) == 6);
    auto &same = a;
    a = std::move(same);
    assert(a(1, 2) == 6);
    static_assert(std::is_nothrow_move_constructible_v<decltype(a)>);
    const smoothc::view<const double, 2> none;
    assert(none.is_empty() && none.data() == nullptr && !(smoothc::view<double, 2>(a).is_empty()));
}
"#;
    for flags in BOTH {
        run(folder.path(), program, "view.c", None, flags);
    }
}

#[test]
fn the_data_of_another_case_may_be_empty() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "type Part = Number of Double | Pair of Vector<2>\n\
                type Whole = Both of Part * Matrix<2, 3> | Nothing\n\
                let value (p: Part) : Double = match p with | Number x -> x | Pair v -> v[0] + v[1]\n\
                let whole (w: Whole) : Double = match w with | Both (p, m) -> value p + m[1][2] | Nothing -> -1.0\n\
                let all (parts: Array<Part, n>) : Double = vectorSum (vectorMap parts value)\n";
    fs::write(folder.path().join("cases.smooth"), text).expect("writes");
    emit(folder.path(), &["-q", "cases.smooth", "-o", "cases.c"]);
    let program = r#"
#include "cases.hpp"
#include <vector>
#undef NDEBUG
#include <cassert>
namespace cases = smoothc::cases;

int main()
{
    const double m[2][3] = {{1, 2, 3}, {4, 5, 6}};
    double y = 0;
    assert(cases::try_value(0, 1.5, {}, y) == SMOOTH_OK && y == 1.5);
    assert(cases::try_value(0, 1.5, std::vector<double>(), y) == SMOOTH_OK && y == 1.5);
    assert(cases::try_value(1, 0, {1, 2}, y) == SMOOTH_OK && y == 3);
    // the data of its own case are read, and what is there has the length of the type
    assert(cases::try_value(1, 0, {}, y) == SMOOTH_SHAPE);
    assert(cases::try_value(0, 1.5, {1, 2, 3}, y) == SMOOTH_SHAPE);
    assert(cases::try_value(2, 1.5, {}, y) == SMOOTH_RANGE);

    assert(cases::try_whole(1, 0, 0, {}, {}, y) == SMOOTH_OK && y == -1);
    assert(cases::try_whole(1, 1, 0, {}, {}, y) == SMOOTH_OK && y == -1);
    assert(cases::try_whole(0, 0, 1.5, {}, m, y) == SMOOTH_OK && y == 7.5);
    assert(cases::try_whole(0, 1, 1.5, {1, 2}, m, y) == SMOOTH_OK && y == 9);
    assert(cases::try_whole(0, 1, 1.5, {}, m, y) == SMOOTH_SHAPE);
    assert(cases::try_whole(0, 0, 1.5, {}, {}, y) == SMOOTH_SHAPE);

    // each element has a case of its own
    const std::int64_t tags[1] = {0};
    assert(cases::try_all(tags, {1.5}, {}, y) == SMOOTH_SHAPE);
#ifdef SMOOTHC_EXCEPTIONS
    assert(cases::value(0, 1.5, {}) == 1.5);
    try {
        cases::value(1, 1.5, {});
        assert(false);
    } catch (const smoothc::shape_error &error) {
        assert(std::string(error.what()) == "value: `p_pair` has length 0 in direction 0, expected 2");
    }
#endif
}
"#;
    for flags in BOTH {
        run(folder.path(), program, "cases.c", None, flags);
    }
}
