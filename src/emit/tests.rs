//! Emitted programs, compiled as C and as C++ with every warning an error and run under sanitizers.
//!
//! Each case is a core function, the statements of a C `main` that call it, and what they check. All cases go
//! into one file and are compiled once for each language.

use std::process::Command;
use std::rc::Rc;

use super::{CFiles, COptions, c};
use crate::ir::*;
use crate::lower::{LowerOptions, lower};
use crate::source::Span;

const WARNINGS: &str = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wdouble-promotion -Wvla -Werror";

/// A vector parameter with a size of its own.
pub fn vector(name: &str, size: &Var) -> Var {
    Var::fresh(name, Type::array(Type::Double, Size::var(size)))
}

pub fn size(name: &str) -> Var {
    Var::fresh(name, Type::INDEX)
}

pub fn function(name: &str, sizes: &[&Var], params: &[&Var], body: Expr) -> Function {
    Function {
        name: name.into(),
        doc: None,
        sizes: sizes.iter().map(|var| (*var).clone()).collect(),
        params: params.iter().map(|var| (*var).clone()).collect(),
        result: body.ty().clone(),
        body,
        is_entry: true,
        span: Span::NONE,
    }
}

pub fn emit(functions: Vec<Function>, entries: &[&str]) -> CFiles {
    let mut program = Program::default();
    for function in functions {
        program.functions.insert(function.name.clone(), function);
    }
    let entries: Vec<Rc<str>> =
        if entries.is_empty() { program.functions.keys().cloned().collect() } else { entries.iter().map(|name| Rc::from(*name)).collect() };
    let loops = lower(&program, &entries, &LowerOptions::default()).expect("lowers");
    c(&loops, &COptions { header_name: "cases.h".into(), ..COptions::default() }).expect("prints")
}

/// Compiles and runs `main` with the emitted file before it, as C and as C++.
pub fn run(files: &CFiles, main: &str) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("cases.c"), &files.source).expect("written");
    std::fs::write(path("cases.h"), &files.header).expect("written");
    let program = format!(
        "#include \"cases.h\"\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         #define CHECK(c) do {{ if (!(c)) {{ fprintf(stderr, \"%d: %s\\n\", __LINE__, #c); failed = 1; }} }} while (0)\n\
         #define NEAR(a, b) CHECK(fabs((a) - (b)) <= 1e-9 * fmax(1.0, fabs(b)))\n\
         static int failed = 0;\n{main}\n"
    );
    std::fs::write(path("main.c"), program).expect("written");
    for (compiler, extra) in [("gcc", "-std=c99 -Wmissing-prototypes"), ("g++", "-x c++")] {
        let sh = |command: String| Command::new("sh").arg("-c").arg(command).current_dir(dir.path()).output().expect("a shell");
        let built = sh(format!(
            "{compiler} -O1 -g {extra} {WARNINGS} -fsanitize=address,undefined -fno-sanitize-recover=all -c cases.c -o cases.o && {compiler} -g {} -fsanitize=address,undefined -c main.c -o main.o && {compiler} -fsanitize=address,undefined cases.o main.o -lm -o main",
            extra.replace("-Wmissing-prototypes", "")
        ));
        assert!(built.status.success(), "{}\n{}", String::from_utf8_lossy(&built.stderr), files.source);
        let ran = sh("./main".into());
        assert!(ran.status.success(), "{compiler}: {}\n{}", String::from_utf8_lossy(&ran.stderr), files.source);
        let plain = sh(format!("{compiler} -O3 {extra} {WARNINGS} -c cases.c -o plain.o && nm plain.o"));
        assert!(plain.status.success(), "{}\n{}", String::from_utf8_lossy(&plain.stderr), files.source);
        let symbols = String::from_utf8_lossy(&plain.stdout).into_owned();
        assert!(
            symbols.lines().all(|line| !line.contains(" D ")
                && !line.contains(" B ")
                && !line.contains(" d ")
                && !line.contains(" b ")
                && !line.contains("malloc")),
            "{symbols}"
        );
    }
}

fn at(v: &Var, i: &Expr) -> Expr {
    Expr::get(Expr::var(v), i.clone())
}

fn add(a: Expr, b: Expr) -> Expr {
    Expr::prim(Prim::Add, vec![a, b])
}

fn mul(a: Expr, b: Expr) -> Expr {
    Expr::prim(Prim::Mul, vec![a, b])
}

fn num(x: f64) -> Expr {
    Expr::double(x)
}

fn sum(n: Expr, f: impl Fn(Expr) -> Expr) -> Expr {
    Expr::fold(n, "s", "i", num(0.0), |s, i| add(s, f(i)))
}

#[test]
fn scalars_vectors_and_matrices() {
    let mut all = Vec::new();
    let x = Var::fresh("x'", Type::Double);
    all.push(function("square", &[], &[&x], mul(Expr::var(&x), Expr::var(&x))));
    let n = size("n");
    let v = vector("v", &n);
    all.push(function("twice", &[&n], &[&v], Expr::build(Expr::var(&n), "i", |i| mul(at(&v, &i), num(2.0)))));
    let n = size("n");
    let (a, b) = (vector("a", &n), vector("b", &n));
    all.push(function("dot", &[&n], &[&a, &b], sum(Expr::var(&n), |i| mul(at(&a, &i), at(&b, &i)))));
    // matrix times matrix
    let (n, k, m) = (size("n"), size("k"), size("m"));
    let matrix = |name: &str, r: &Var, c: &Var| Var::fresh(name, Type::array(Type::array(Type::Double, Size::var(c)), Size::var(r)));
    let (a, b) = (matrix("A", &n, &k), matrix("B", &k, &m));
    let product = Expr::build(Expr::var(&n), "i", |i| {
        Expr::build(Expr::var(&m), "j", |j| sum(Expr::var(&k), |l| mul(Expr::get(at(&a, &i), l.clone()), Expr::get(at(&b, &l), j.clone()))))
    });
    all.push(function("matmul", &[&n, &k, &m], &[&a, &b], product));
    // an index that anything may be
    let n = size("n");
    let (v, k) = (vector("v", &n), Var::fresh("k", Type::INDEX));
    all.push(function("next", &[&n], &[&v, &k], at(&v, &add(Expr::var(&k), Expr::index(1)))));
    // an array in the workspace, used twice
    let n = size("n");
    let v = vector("v", &n);
    let t = Expr::bind("t", Expr::build(Expr::var(&n), "i", |i| mul(at(&v, &i), at(&v, &i))), |t| {
        Expr::build(Expr::var(&n), "i", |i| {
            Expr::prim(Prim::Div, vec![Expr::get(t.clone(), i), sum(Expr::var(&n), |j| Expr::get(t.clone(), j))])
        })
    });
    all.push(function("shares", &[&n], &[&v], t));
    let files = emit(all, &[]);
    println!("{}", files.source);
    run(
        &files,
        r#"
int main(void) {
    double r = 0.0;
    CHECK(square(3.0, &r, NULL, 0) == SMOOTH_OK);
    NEAR(r, 9.0);
    double v[3] = {1.0, 2.0, 3.0}, w[3];
    CHECK(twice(3, v, w, NULL, 0) == SMOOTH_OK);
    NEAR(w[2], 6.0);
    CHECK(twice(0, NULL, NULL, NULL, 0) == SMOOTH_OK);
    CHECK(twice(-1, NULL, NULL, NULL, 0) == SMOOTH_NEGATIVE);
    CHECK(twice(INT64_MAX, NULL, NULL, NULL, 0) == SMOOTH_SHAPE);
    CHECK(dot(3, v, v, &r, NULL, 0) == SMOOTH_OK);
    NEAR(r, 14.0);
    double A[2] = {1.0, 2.0}, B[6] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, C[3];
    CHECK(matmul(1, 2, 3, A, B, C, NULL, 0) == SMOOTH_OK);
    NEAR(C[2], 15.0);
    CHECK(next(3, v, 1, &r, NULL, 0) == SMOOTH_OK);
    NEAR(r, 3.0);
    CHECK(next(3, v, 2, &r, NULL, 0) == SMOOTH_BOUNDS);
    CHECK(next(3, v, INT64_MAX, &r, NULL, 0) == SMOOTH_BOUNDS);
    CHECK(shares_workspace(3) == 24);
    void *ws = malloc(24);
    CHECK(shares(3, v, w, ws, 24) == SMOOTH_OK);
    NEAR(w[2], 9.0 / 14.0);
    CHECK(shares(3, v, w, ws, 23) == SMOOTH_WORKSPACE);
    free(ws);
    return failed;
}
"#,
    );
}
