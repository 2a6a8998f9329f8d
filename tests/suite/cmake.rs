//! What builds around emitted C: the CMake package, `make`, pkg-config, and the rules of `--depfile`. A tool that is not here is named.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use crate::support::blocks;
use crate::support::tools::{c_compiler, exists, skipped, succeeds};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn here(program: &str) -> bool {
    let found = exists(program);
    if !found {
        skipped(&format!("there is no {program} here"));
    }
    found
}

/// An example's folder beside the program that it uses, in a folder of its own.
fn example(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(format!("{ROOT}/examples/circle.smooth"), folder.path().join("circle.smooth")).expect("copies");
    fs::create_dir(folder.path().join(name)).expect("a folder");
    for file in fs::read_dir(format!("{ROOT}/examples/{name}")).expect("an example") {
        let file = file.expect("a file").path();
        fs::copy(&file, folder.path().join(name).join(file.file_name().expect("a name"))).expect("copies");
    }
    folder
}

fn changed(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|found| found.modified()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Changes what a program opens so that the time of the file is another one, also where the clock is coarse.
fn rewrite(path: &Path, text: &str, seconds: u64) {
    fs::write(path, text).expect("writes");
    let later = SystemTime::now() + std::time::Duration::from_secs(seconds);
    fs::File::options().write(true).open(path).and_then(|file| file.set_modified(later)).expect("sets the time");
}

#[test]
fn a_rule_names_what_was_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let smoothc =
        |words: &[&str]| Command::new(env!("CARGO_BIN_EXE_smoothc")).current_dir(folder.path()).args(words).output().expect("runs");
    fs::create_dir(folder.path().join("a b")).expect("a folder");
    fs::write(folder.path().join("a b/base.smooth"), "let twice x = 2.0 * x\n").expect("writes");
    fs::write(folder.path().join("f.smooth"), "open \"a b/base.smooth\"\nlet f x = twice x\n").expect("writes");
    fs::copy(format!("{ROOT}/src/rewrite/schedules/none.strategy"), folder.path().join("own.strategy")).expect("copies");
    let output = smoothc(&["emit", "f.smooth", "--cpp", "--schedule", "own.strategy", "-o", "f.c", "--depfile", "f.d"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rule = fs::read_to_string(folder.path().join("f.d")).expect("a rule");
    let (made, read) = rule.split_once(": ").expect("a rule");
    assert_eq!(made, "f.c f.h f.hpp");
    let lines: Vec<&str> = read.lines().collect();
    let (empty, mut read): (Vec<&str>, Vec<&str>) = lines.iter().map(|line| line.trim()).partition(|line| line.ends_with(':'));
    read.sort_unstable();
    assert_eq!(read, ["a\\ b/base.smooth", "f.smooth \\", "own.strategy \\"]);
    // make goes on without what is opened no longer, but not without the source
    assert_eq!(empty, ["own.strategy:", "a\\ b/base.smooth:"]);
    for words in [
        &["emit", "f.smooth", "-o", "f.c", "--depfile", "f.smooth"][..],
        &["emit", "f.smooth", "-o", "-", "--depfile", "f.d"],
        &["emit", "f.smooth", "--depfile", "f.d"],
    ] {
        assert_eq!(smoothc(words).status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn make_builds_what_has_changed() {
    if !here("make") || cfg!(windows) {
        return;
    }
    let folder = example("make");
    let own = folder.path().join("make");
    let make = || {
        let mut command = Command::new("make");
        command.current_dir(&own).arg(format!("SMOOTHC={}", env!("CARGO_BIN_EXE_smoothc"))).arg(format!("CC={}", c_compiler()));
        succeeds(&mut command).unwrap_or_else(|why| panic!("{why}"))
    };
    make();
    assert_eq!(succeeds(&mut Command::new(own.join("slope"))), Ok("0 2 -6\n".to_string()));
    let before = changed(&own.join("circle.c"));
    assert!(make().contains("up to date"));
    assert_eq!(changed(&own.join("circle.c")), before);
    rewrite(&folder.path().join("half.smooth"), "let half = 0.5\n", 2);
    let text = fs::read_to_string(folder.path().join("circle.smooth")).expect("a program").replace("  0.5 *", "  half *");
    rewrite(&folder.path().join("circle.smooth"), &format!("open \"half.smooth\"\n{text}"), 2);
    make();
    // the file that is opened counts too
    rewrite(&folder.path().join("half.smooth"), "let half = 1.0\n", 60);
    make();
    assert_eq!(succeeds(&mut Command::new(own.join("slope"))), Ok("0 4 -12\n".to_string()));
    // and may go with its `open`
    fs::remove_file(folder.path().join("half.smooth")).expect("it was there");
    let text = text.replace("  half *", "  0.25 *");
    rewrite(&folder.path().join("circle.smooth"), &text, 120);
    make();
    assert_eq!(succeeds(&mut Command::new(own.join("slope"))), Ok("0 1 -3\n".to_string()));
}

#[test]
fn cmake_builds_installs_and_builds_again() {
    if !here("cmake") || !here("make") || !here("c++") || cfg!(windows) {
        return;
    }
    let folder = example("cmake");
    let (own, build) = (folder.path().join("cmake"), folder.path().join("cmake/build"));
    let cmake = |words: &[&str]| {
        let mut command = Command::new("cmake");
        succeeds(command.current_dir(&own).args(words)).unwrap_or_else(|why| panic!("{why}"))
    };
    let tool = format!("-DSMOOTHC_EXECUTABLE={}", env!("CARGO_BIN_EXE_smoothc"));
    cmake(&["-G", "Unix Makefiles", "-B", "build", &format!("-Dsmoothc_DIR={ROOT}/cmake"), &tool]);
    let make = || cmake(&["--build", "build", "--target", "fit"]);
    make();
    assert_eq!(succeeds(&mut Command::new(build.join("fit"))), Ok("centre (1.00, -3.00), radius 2.01\n".to_string()));
    let emitted = build.join("circle.smoothc/circle.c");
    let before = changed(&emitted);
    make();
    assert_eq!(changed(&emitted), before);
    let text = fs::read_to_string(folder.path().join("circle.smooth")).expect("a program");
    rewrite(&folder.path().join("half.smooth"), "let half = 0.5\n", 2);
    rewrite(&folder.path().join("circle.smooth"), &format!("open \"half.smooth\"\n{text}"), 2);
    make();
    assert_ne!(changed(&emitted), before);
    let before = changed(&emitted);
    rewrite(&folder.path().join("half.smooth"), "let half = 0.25\n", 60);
    make();
    assert_ne!(changed(&emitted), before);
    let before = changed(&emitted);
    fs::remove_file(folder.path().join("half.smooth")).expect("it was there");
    rewrite(&folder.path().join("circle.smooth"), &text, 120);
    make();
    assert_ne!(changed(&emitted), before);
    cmake(&["--install", "build", "--prefix", "installed"]);
    let installed = own.join("installed");
    assert!(installed.join("include/circle.hpp").exists());
    // found by another project
    fs::create_dir(own.join("user")).expect("a folder");
    let lists = "cmake_minimum_required(VERSION 3.20)\nproject(user C)\nfind_package(circle REQUIRED)\nadd_executable(main main.c)\n\
                 target_link_libraries(main PRIVATE smoothc::circle)\n";
    fs::write(own.join("user/CMakeLists.txt"), lists).expect("writes");
    let main = fs::read_to_string(format!("{ROOT}/examples/make/main.c")).expect("the example");
    // a library for C++ has its name before those of C
    let main = main.replace("slope(", "circle_slope(").replace("slope_workspace(", "circle_slope_workspace(");
    fs::write(own.join("user/main.c"), main).expect("writes");
    cmake(&["-S", "user", "-B", "user/build", &format!("-DCMAKE_PREFIX_PATH={}", installed.display())]);
    cmake(&["--build", "user/build"]);
    assert_eq!(succeeds(&mut Command::new(own.join("user/build/main"))), Ok("0 2 -6\n".to_string()));
    // so is one with threads
    fs::create_dir(own.join("threads")).expect("a folder");
    let lists = "cmake_minimum_required(VERSION 3.20)\nproject(threads C)\nfind_package(smoothc REQUIRED)\n\
                 smoothc_add_library(circle ../../circle.smooth PARALLEL PREFIX circle_ DERIVE gradient:misfit ENTRY slope)\n\
                 smoothc_install_library(circle)\n";
    fs::write(own.join("threads/CMakeLists.txt"), lists).expect("writes");
    let there = format!("-DCMAKE_PREFIX_PATH={}", own.join("with_threads").display());
    cmake(&["-S", "threads", "-B", "threads/build", &format!("-Dsmoothc_DIR={ROOT}/cmake"), &tool]);
    cmake(&["--build", "threads/build"]);
    cmake(&["--install", "threads/build", "--prefix", "with_threads"]);
    cmake(&["-S", "user", "-B", "user/threads", &there]);
    cmake(&["--build", "user/threads"]);
    assert_eq!(succeeds(&mut Command::new(own.join("user/threads/main"))), Ok("0 2 -6\n".to_string()));
    // a folder for libraries that is not in the prefix
    let libraries = own.join("libraries").display().to_string();
    let there = format!("-DCMAKE_INSTALL_LIBDIR={libraries}");
    cmake(&["-S", "threads", "-B", "threads/elsewhere", &format!("-Dsmoothc_DIR={ROOT}/cmake"), &tool, &there]);
    let written = fs::read_to_string(own.join("threads/elsewhere/circle.smoothc/circle.pc")).expect("is written");
    assert!(written.contains(&format!("\nlibdir={libraries}\n")), "{written}");
    if !here("pkg-config") {
        return;
    }
    let found = fs::read_dir(&installed).expect("a folder").map(|entry| entry.expect("an entry").path().join("pkgconfig"));
    let path = found.into_iter().find(|path| path.exists()).expect("circle.pc");
    let flags = succeeds(Command::new("pkg-config").env("PKG_CONFIG_PATH", path).args(["--cflags", "--libs", "circle"])).expect("flags");
    let mut command = Command::new(c_compiler());
    command.current_dir(own.join("user")).args(["main.c", "-o", "main"]).args(flags.split_whitespace());
    succeeds(&mut command).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(succeeds(&mut Command::new(own.join("user/main"))), Ok("0 2 -6\n".to_string()));
}

#[test]
fn a_project_of_cmake_gives_the_types_of_eigen() {
    if !here("cmake") || !here("make") || !here("c++") || cfg!(windows) {
        return;
    }
    let folder = example("cmake");
    let own = folder.path().join("cmake");
    let done = |command: &mut Command| succeeds(command.current_dir(&own)).unwrap_or_else(|why| panic!("{why}"));
    let mut configure = Command::new("cmake");
    configure.args(["-G", "Unix Makefiles", "-B", "build", &format!("-Dsmoothc_DIR={ROOT}/cmake")]);
    done(configure.arg(format!("-DSMOOTHC_EXECUTABLE={}", env!("CARGO_BIN_EXE_smoothc"))));
    let cache = fs::read_to_string(own.join("build/CMakeCache.txt")).expect("a cache");
    if cache.contains("Eigen3_DIR:PATH=Eigen3_DIR-NOTFOUND") {
        skipped("CMake finds no Eigen here (`apt install libeigen3-dev`, or its folder in Eigen3_ROOT)");
        return;
    }
    done(Command::new("cmake").args(["--build", "build", "--target", "fit_eigen"]));
    assert_eq!(done(&mut Command::new(own.join("build/fit_eigen"))), "centre (1.00, -3.00), radius 2.01\n");
}

/// Two programs with an entry of one name in one executable, each with its own function; the project is of C++ alone.
#[test]
fn two_libraries_may_have_an_entry_of_one_name() {
    if !here("cmake") || !here("make") || !here("c++") || cfg!(windows) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("writes");
    write("a.smooth", "let loss x = x + 1.0\n");
    write("b.smooth", "let loss x = x * 100.0\n");
    let libraries = "smoothc_add_library(a a.smooth CPP)\nsmoothc_add_library(b-2 b.smooth CPP)\n";
    let lists = format!(
        "cmake_minimum_required(VERSION 3.20)\nproject(two CXX)\nfind_package(smoothc REQUIRED)\n{libraries}\
         add_executable(two two.cpp)\ntarget_link_libraries(two PRIVATE a b-2)\n"
    );
    write("CMakeLists.txt", &lists);
    let main = "#include <a.hpp>\n#include <b-2.hpp>\n#include <cstdio>\n\
                int main() { std::printf(\"%g %g\\n\", smoothc::a::loss(3), smoothc::b_2::loss(3)); }\n";
    write("two.cpp", main);
    let cmake = |words: &[&str]| succeeds(Command::new("cmake").current_dir(folder.path()).args(words));
    let package = format!("-Dsmoothc_DIR={ROOT}/cmake");
    let tool = format!("-DSMOOTHC_EXECUTABLE={}", env!("CARGO_BIN_EXE_smoothc"));
    cmake(&["-G", "Unix Makefiles", "-B", "build", &package, &tool]).unwrap_or_else(|why| panic!("{why}"));
    cmake(&["--build", "build"]).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(succeeds(&mut Command::new(folder.path().join("build/two"))), Ok("4 300\n".to_string()));
    let missing = cmake(&["-G", "Unix Makefiles", "-B", "other", &package, "-DSMOOTHC_EXECUTABLE=/no/smoothc"]).expect_err("no command");
    assert!(missing.contains("there is no file /no/smoothc"), "{missing}");
}

#[test]
#[cfg(target_os = "linux")]
fn cmake_finds_the_archive_of_a_release() {
    if !here("cmake") || !here("make") || !here("c++") {
        return;
    }
    let folder = example("cmake");
    let own = folder.path().join("cmake");
    let done = |command: &mut Command| succeeds(command.current_dir(&own)).unwrap_or_else(|why| panic!("{why}"));
    let archive = done(Command::new(format!("{ROOT}/scripts/release")).arg(&own).env("SMOOTHC", env!("CARGO_BIN_EXE_smoothc")));
    let prefix = archive.trim().strip_suffix(".tar.gz").expect("an archive");
    // as the page says, with the name that the archive has for this machine; the command too is the archive's
    let block = blocks::beginning("docs/builds.md", "tar xzf smoothc-");
    let on_page = format!("smoothc-{}-x86_64-unknown-linux-gnu", env!("CARGO_PKG_VERSION"));
    assert_eq!(block.matches(&on_page).count(), 2, "{block}");
    let name = Path::new(prefix).file_name().and_then(|name| name.to_str()).expect("a name");
    done(Command::new("sh").args(["-ec", &block.replace(&on_page, name)]));
    let cache = fs::read_to_string(own.join("build/CMakeCache.txt")).expect("a cache");
    assert!(cache.contains(&format!("={prefix}/bin/smoothc\n")), "{cache}");
    done(Command::new("cmake").args(["--build", "build", "--target", "fit"]));
    assert_eq!(done(&mut Command::new(own.join("build/fit"))), "centre (1.00, -3.00), radius 2.01\n");
}

#[test]
fn the_package_has_the_version_of_the_crate() {
    let text = fs::read_to_string(format!("{ROOT}/cmake/smoothcConfigVersion.cmake")).expect("the file");
    assert!(text.contains(&format!("set(PACKAGE_VERSION \"{}\")", env!("CARGO_PKG_VERSION"))));
}
