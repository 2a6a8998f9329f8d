//! Emitted programs, compiled as C and as C++ with every warning an error and run under sanitizers.
//!
//! Each case is a core function, the statements of a C `main` that call it, and what they check. All cases go
//! into one file and are compiled once for each language.

use std::process::Command;
use std::rc::Rc;

use super::{CFiles, COptions, c};
use crate::ir::*;
use crate::loops;
use crate::lower::{LowerOptions, lower};
use crate::plan;

const WARNINGS: &str = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wdouble-promotion -Wvla -Werror";

/// A vector parameter with a size of its own.
pub fn vector(name: &str, size: &Var) -> Var {
    Var::fresh(name, Type::array(Type::Double, Size::var(size)))
}

pub fn size(name: &str) -> Var {
    Var::fresh(name, Type::INDEX)
}

pub fn function(name: &str, sizes: &[&Var], params: &[&Var], body: Expr) -> Function {
    let all = |vars: &[&Var]| vars.iter().map(|var| (*var).clone()).collect();
    Function::entry(name, all(sizes), all(params), body)
}

pub fn emit(functions: Vec<Function>, entries: &[&str]) -> CFiles {
    emit_with(functions, entries, &LowerOptions::default())
}

pub fn emit_with(functions: Vec<Function>, entries: &[&str], options: &LowerOptions) -> CFiles {
    let mut program = Program::default();
    for function in functions {
        program.functions.insert(function.name.clone(), function);
    }
    let entries: Vec<Rc<str>> =
        if entries.is_empty() { program.functions.keys().cloned().collect() } else { entries.iter().map(|name| Rc::from(*name)).collect() };
    let planning = plan::Options { algebra: options.reciprocals, ..plan::Options::default() };
    let (program, _) = plan::plan(&program, &planning, "").expect("plans");
    let loops = lower(&program, &entries, options).expect("lowers");
    let passes =
        loops::Options { algebra: options.reciprocals, parallel: options.parallel, real: options.real, ..loops::Options::default() };
    let loops = loops::optimise(loops, &passes).expect("optimises");
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

/// `build(n, j. f(v[j]))` for an array term.
fn map(v: &Expr, n: &Expr, f: impl Fn(Expr, Expr) -> Expr) -> Expr {
    Expr::build(n.clone(), "j", |j| f(Expr::get(v.clone(), j.clone()), j))
}

fn to_double(i: Expr) -> Expr {
    Expr::prim(Prim::ToDouble, vec![i])
}

/// A function of two vectors and a count that folds over the pair.
fn pair_fold(name: &str, step: impl Fn(Expr, Expr, Expr, Expr) -> Expr) -> Function {
    let m = size("m");
    let (a, b, n) = (vector("a", &m), vector("b", &m), Var::fresh("n", Type::INDEX));
    let body = Expr::fold(Expr::var(&n), "s", "i", Expr::tuple(vec![Expr::var(&a), Expr::var(&b)]), |s, i| {
        step(Expr::proj(s.clone(), 0), Expr::proj(s, 1), i, Expr::var(&m))
    });
    function(name, &[&m], &[&a, &b, &n], body)
}

#[test]
fn array_accumulators() {
    let mut all = Vec::new();
    all.push(pair_fold("swap", |a, b, _, _| Expr::tuple(vec![b, a])));
    all.push(pair_fold("fib", |a, b, _, m| {
        let sum = map(&a, &m, |x, j| add(x, Expr::get(b.clone(), j)));
        Expr::tuple(vec![b, sum])
    }));
    all.push(pair_fold("both", |a, b, _, _| {
        let _ = a;
        Expr::tuple(vec![b.clone(), b])
    }));
    all.push(pair_fold("shift", |a, b, _, m| Expr::tuple(vec![map(&b, &m, |x, _| add(x, num(1.0))), a])));
    all.push(pair_fold("branch", |a, b, i, m| {
        let odd = Expr::prim(Prim::Eq, vec![Expr::prim(Prim::Rem, vec![i, Expr::index(2)]), Expr::index(1)]);
        let doubled = map(&a, &m, |x, _| mul(x, num(2.0)));
        Expr::if_(odd, Expr::tuple(vec![a, b.clone()]), Expr::tuple(vec![doubled, b]))
    }));
    all.push(pair_fold("mixed", |a, b, i, m| {
        let odd = Expr::prim(Prim::Eq, vec![Expr::prim(Prim::Rem, vec![i, Expr::index(2)]), Expr::index(1)]);
        let doubled = map(&a, &m, |x, _| mul(x, num(2.0)));
        Expr::if_(odd, Expr::tuple(vec![b.clone(), a]), Expr::tuple(vec![doubled, b]))
    }));
    // (x, y) -> (y, x + y), and its result times an array that reads itself backwards
    let (m, n) = (size("m"), Var::fresh("n", Type::INDEX));
    let a = vector("a", &m);
    let init = Expr::tuple(vec![num(0.0), num(1.0), Expr::var(&a)]);
    let body = Expr::fold(Expr::var(&n), "s", "i", init, |s, _| {
        let part = |k| Expr::proj(s.clone(), k);
        let back = Expr::build(Expr::var(&m), "j", |j| {
            let last = Expr::prim(Prim::Sub, vec![Expr::prim(Prim::Sub, vec![Expr::var(&m), Expr::index(1)]), j]);
            add(Expr::get(part(2), last), part(1))
        });
        Expr::tuple(vec![part(1), add(part(0), part(1)), back])
    });
    all.push(function("back", &[&m], &[&a, &n], body));
    // nested: each step runs an array fold of its own on the outer state
    let (m, n) = (size("m"), Var::fresh("n", Type::INDEX));
    let a = vector("a", &m);
    let body = Expr::fold(Expr::var(&n), "s", "i", Expr::var(&a), |s, i| {
        Expr::fold(i, "t", "k", s.clone(), |t, _| map(&t, &Expr::var(&m), |x, j| add(x, Expr::get(s.clone(), j))))
    });
    all.push(function("nest", &[&m], &[&a, &n], body));
    let files = emit(all, &[]);
    println!("{}", files.source);
    run(
        &files,
        r#"
typedef smooth_status (*pairs)(int64_t, const double *SMOOTH_RESTRICT, const double *SMOOTH_RESTRICT, int64_t, double *SMOOTH_RESTRICT, double *SMOOTH_RESTRICT, void *, size_t);
static void steps(pairs f, size_t bytes, int which) {
    for (int64_t n = 0; n < 8; ++n) {
        double a[2] = {1.0, 2.0}, b[2] = {3.0, 5.0}, x[2] = {1.0, 2.0}, y[2] = {3.0, 5.0};
        double *p = (double *)malloc(16), *q = (double *)malloc(16);
        void *ws = malloc(bytes);
        CHECK(f(2, a, b, n, p, q, ws, bytes) == SMOOTH_OK);
        for (int64_t i = 0; i < n; ++i) {
            for (int j = 0; j < 2; ++j) {
                const double s = x[j], t = y[j];
                if (which == 0) { x[j] = t; y[j] = s; }
                if (which == 1) { x[j] = t; y[j] = s + t; }
                if (which == 2) { x[j] = t; y[j] = t; }
                if (which == 3) { x[j] = t + 1.0; y[j] = s; }
                if (which == 4) { x[j] = i % 2 ? s : 2.0 * s; }
                if (which == 5) { x[j] = i % 2 ? t : 2.0 * s; y[j] = i % 2 ? s : t; }
            }
        }
        for (int j = 0; j < 2; ++j) {
            if (p[j] != x[j] || q[j] != y[j]) { fprintf(stderr, "which %d n %d: %g %g, not %g %g\n", which, (int)n, p[j], q[j], x[j], y[j]); failed = 1; }
        }
        free(p); free(q); free(ws);
    }
}
int main(void) {
    CHECK(swap_workspace(2, 5) == 0);
    CHECK(fib_workspace(2, 5) == 16);
    CHECK(shift_workspace(2, 5) == 16);
    CHECK(branch_workspace(2, 5) == 16);
    steps(swap, swap_workspace(2, 5), 0);
    steps(fib, fib_workspace(2, 5), 1);
    steps(both, both_workspace(2, 5), 2);
    steps(shift, shift_workspace(2, 5), 3);
    steps(branch, branch_workspace(2, 5), 4);
    steps(mixed, mixed_workspace(2, 5), 5);
    for (int64_t n = 0; n < 5; ++n) {
        double a[3] = {1.0, 2.0, 4.0}, z[3] = {1.0, 2.0, 4.0}, out[3], r0, r1, x = 0.0, y = 1.0;
        double ws[64];
        CHECK(back(3, a, n, &r0, &r1, out, ws, back_workspace(3, n)) == SMOOTH_OK);
        for (int64_t i = 0; i < n; ++i) {
            double t[3];
            for (int j = 0; j < 3; ++j) t[j] = z[2 - j] + y;
            memcpy(z, t, sizeof z);
            double s = x; x = y; y = s + y;
        }
        CHECK(r0 == x && r1 == y && z[0] == out[0] && z[2] == out[2]);
        double w[3] = {1.0, 2.0, 4.0};
        CHECK(nest(3, a, n, out, ws, nest_workspace(3, n)) == SMOOTH_OK);
        for (int64_t i = 0; i < n; ++i) for (int j = 0; j < 3; ++j) w[j] += (double)i * w[j];
        CHECK(w[1] == out[1]);
    }
    return failed;
}
"#,
    );
}

#[test]
fn tuples_calls_checks_and_rooms() {
    let mut all = Vec::new();
    // struct of arrays, nested
    let n = size("n");
    let p = Var::fresh("p", Type::array(Type::tuple(vec![Type::Double, Type::INDEX]), Size::var(&n)));
    let body = Expr::build(Expr::var(&n), "i", |i| {
        let x = Expr::proj(at(&p, &i), 0);
        Expr::tuple(vec![mul(x.clone(), x), Expr::tuple(vec![to_double(Expr::proj(at(&p, &i), 1)), Expr::bool(true)])])
    });
    all.push(function("pairs", &[&n], &[&p], body));
    // rooms that grow with the loop: exactly the largest
    let n = Var::fresh("n", Type::INDEX);
    let body = Expr::build(Expr::var(&n), "i", |i| {
        let len = add(i.clone(), Expr::index(1));
        Expr::bind("t", Expr::build(len.clone(), "j", |j| to_double(mul(j.clone(), j))), |t| {
            add(sum(len.clone(), |j| Expr::get(t.clone(), j)), Expr::get(t.clone(), i))
        })
    });
    all.push(function("triangle", &[], &[&n], body));
    // a callee with room of its own, called inside a loop
    let m = size("m");
    let v = vector("v", &m);
    let body = Expr::bind("t", map(&Expr::var(&v), &Expr::var(&m), |x, _| mul(x, num(3.0))), |t| {
        Expr::build(Expr::var(&m), "k", |k| add(Expr::get(t.clone(), k.clone()), sum(Expr::var(&m), |j| Expr::get(t.clone(), j))))
    });
    let mut callee = function("inner'", &[&m], &[&v], body);
    callee.is_entry = false;
    let (r, c) = (size("r"), size("c"));
    let a = Var::fresh("A", Type::array(Type::array(Type::Double, Size::var(&c)), Size::var(&r)));
    let body = Expr::build(Expr::var(&r), "i", |i| {
        Expr::bind("w", Expr::call(&callee, vec![at(&a, &i)]), |w| sum(Expr::var(&c), |j| Expr::get(w.clone(), j)))
    });
    all.push(callee);
    all.push(function("caller", &[&r, &c], &[&a], body));
    // checks: an index from data, && that guards, division, conversion
    let n = size("n");
    let (v, k) = (vector("v", &n), Var::fresh("k", Type::INDEX));
    let inside = |k: &Var| {
        let low = Expr::prim(Prim::Ge, vec![Expr::var(k), Expr::index(0)]);
        let high = Expr::prim(Prim::Lt, vec![Expr::var(k), Expr::var(&n)]);
        Expr::prim(Prim::And, vec![low, high])
    };
    let guarded = Expr::prim(Prim::And, vec![inside(&k), Expr::prim(Prim::Gt, vec![at(&v, &Expr::var(&k)), num(0.0)])]);
    all.push(function("guarded", &[&n], &[&v, &k], Expr::if_(guarded, at(&v, &Expr::var(&k)), num(-1.0))));
    let n = size("n");
    let (v, k) = (vector("v", &n), Var::fresh("k", Type::INDEX));
    let unproved = Expr::prim(
        Prim::Or,
        vec![Expr::prim(Prim::Lt, vec![Expr::var(&k), Expr::index(0)]), Expr::prim(Prim::Gt, vec![at(&v, &Expr::var(&k)), num(0.0)])],
    );
    all.push(function("either'", &[&n], &[&v, &k], unproved));
    let (a, b, x) = (Var::fresh("a", Type::INDEX), Var::fresh("b", Type::INDEX), Var::fresh("x", Type::Double));
    let parts = vec![
        Expr::prim(Prim::Div, vec![Expr::var(&a), Expr::var(&b)]),
        Expr::prim(Prim::Rem, vec![Expr::var(&a), Expr::var(&b)]),
        Expr::prim(Prim::ToIndex, vec![Expr::var(&x)]),
        Expr::prim(Prim::Neg, vec![Expr::prim(Prim::Mul, vec![Expr::var(&a), Expr::var(&b)])]),
    ];
    all.push(function("integers", &[], &[&a, &b, &x], Expr::tuple(parts)));
    // bounded indices in an array, checked at entry
    let (n, m) = (size("n"), size("m"));
    let v = vector("v", &n);
    let ks = Var::fresh("ks", Type::array(Type::Index(Some(Size::var(&n))), Size::var(&m)));
    all.push(function("gather", &[&n, &m], &[&v, &ks], Expr::build(Expr::var(&m), "i", |i| at(&v, &at(&ks, &i)))));
    // a value that is also part of the result is built where it belongs
    let n = size("n");
    let v = vector("v", &n);
    let body = Expr::bind("t", map(&Expr::var(&v), &Expr::var(&n), |x, _| mul(x, num(3.0))), |t| {
        Expr::tuple(vec![t.clone(), sum(Expr::var(&n), |i| Expr::get(t.clone(), i))])
    });
    all.push(function("in_place", &[&n], &[&v], body));
    // branches on arrays: a choice between two that exist copies nothing before the loop
    let n = size("n");
    let (a, b, c) = (vector("double", &n), vector("b", &n), Var::fresh("c", Type::Bool));
    let chosen = Expr::if_(Expr::var(&c), Expr::var(&a), Expr::var(&b));
    let body =
        Expr::bind("w", chosen, |w| Expr::build(Expr::var(&n), "i", |i| add(Expr::get(w.clone(), i.clone()), Expr::get(w.clone(), i))));
    all.push(function("choose", &[&n], &[&a, &b, &c], body));
    // a check and literals
    let n = size("n");
    let v = vector("v", &n);
    let three = Expr::prim(Prim::Eq, vec![Expr::var(&n), Expr::index(3)]);
    let items = Expr::array(Type::Double, vec![at(&v, &Expr::index(0)), num(-1.5), num(f64::NAN), num(f64::NEG_INFINITY), num(1e300)]);
    all.push(function("checked", &[&n], &[&v], Expr::check(three, Status::Shape, items)));
    let files = emit(all, &["pairs", "triangle", "caller", "guarded", "either'", "integers", "gather", "in_place", "choose", "checked"]);
    println!("{}", files.source);
    run(
        &files,
        r#"
int main(void) {
    double p0[2] = {2.0, 3.0}, q[2], q1[2], r, v[3] = {1.0, -2.0, 3.0};
    int64_t p1[2] = {7, 8}, i0, i1, i2, i3;
    bool flags[2], flag;
    CHECK(pairs(2, p0, p1, q, q1, flags, NULL, 0) == SMOOTH_OK);
    CHECK(q[1] == 9.0 && q1[0] == 7.0 && flags[1]);
    CHECK(triangle_workspace(4) == 32);
    CHECK(triangle_workspace(0) == 0);
    CHECK(triangle_workspace(INT64_MAX) == SIZE_MAX || triangle_workspace(INT64_MAX) > 1000000);
    double *t = (double *)malloc(32), *ws = (double *)malloc(32);
    CHECK(triangle(4, t, ws, 32) == SMOOTH_OK);
    CHECK(t[3] == 14.0 + 9.0);
    CHECK(triangle(4, t, ws, 31) == SMOOTH_WORKSPACE);
    CHECK(triangle(-4, t, ws, 31) == SMOOTH_NEGATIVE);
    CHECK(caller_workspace(1, 2) == 32);
    CHECK(caller(1, 2, v, &r, ws, 32) == SMOOTH_OK);
    NEAR(r, -9.0);
    CHECK(caller(2, 0, NULL, t, NULL, 0) == SMOOTH_OK);
    NEAR(t[1], 0.0);
    free(t); free(ws);
    CHECK(guarded(3, v, 2, &r, NULL, 0) == SMOOTH_OK && r == 3.0);
    CHECK(guarded(3, v, 3, &r, NULL, 0) == SMOOTH_OK && r == -1.0);
    CHECK(guarded(0, NULL, INT64_MIN, &r, NULL, 0) == SMOOTH_OK && r == -1.0);
    CHECK(either_prime(3, v, -1, &flag, NULL, 0) == SMOOTH_OK && flag);
    CHECK(either_prime(3, v, 1, &flag, NULL, 0) == SMOOTH_OK && !flag);
    CHECK(either_prime(3, v, 3, &flag, NULL, 0) == SMOOTH_BOUNDS);
    CHECK(integers(7, -2, 2.9, &i0, &i1, &i2, &i3, NULL, 0) == SMOOTH_OK);
    CHECK(i0 == -3 && i1 == 1 && i2 == 2 && i3 == 14);
    CHECK(integers(INT64_MIN, -1, -2.9, &i0, &i1, &i2, &i3, NULL, 0) == SMOOTH_OK);
    CHECK(i0 == INT64_MIN && i1 == 0 && i2 == -2 && i3 == INT64_MIN);
    CHECK(integers(1, 0, 1.0, &i0, &i1, &i2, &i3, NULL, 0) == SMOOTH_DIV_ZERO);
    CHECK(integers(1, 1, 1e19, &i0, &i1, &i2, &i3, NULL, 0) == SMOOTH_RANGE);
    CHECK(integers(1, 1, (double)NAN, &i0, &i1, &i2, &i3, NULL, 0) == SMOOTH_RANGE);
    int64_t ks[2] = {2, 0};
    CHECK(gather(3, 2, v, ks, q, NULL, 0) == SMOOTH_OK && q[0] == 3.0);
    ks[1] = 3;
    CHECK(gather(3, 2, v, ks, q, NULL, 0) == SMOOTH_RANGE);
    double w[3];
    CHECK(in_place_workspace(3) == 0);
    CHECK(in_place(3, v, w, &r, NULL, 0) == SMOOTH_OK && r == 6.0 && w[1] == -6.0);
    CHECK(choose_workspace(3, true) == 0);
    CHECK(choose(3, v, w, false, t = (double *)malloc(24), NULL, 0) == SMOOTH_OK && t[0] == 6.0);
    free(t);
    double five[5];
    CHECK(checked(3, v, five, NULL, 0) == SMOOTH_OK && five[1] == -1.5 && isnan(five[2]) && five[3] < -1e308);
    CHECK(checked(2, v, five, NULL, 0) == SMOOTH_SHAPE);
    return failed;
}
"#,
    );
}

#[test]
fn as_many_lines_at_every_size() {
    let lines = |length: i64| {
        let v = Var::fresh("v", Type::array(Type::Double, Size::constant(length)));
        let body = Expr::build(Expr::index(length), "i", |i| mul(at(&v, &i), num(2.0)));
        emit(vec![function("f", &[], &[&v], body)], &[]).source.lines().count()
    };
    assert_eq!(lines(3), lines(100_000));
}

#[test]
fn a_size_that_depends_on_data_is_unsupported() {
    let x = Var::fresh("x", Type::Double);
    let n = Expr::prim(Prim::ToIndex, vec![Expr::var(&x)]);
    // read from its end, so that it is stored
    let body = Expr::bind("n", n, |n| {
        Expr::bind("t", Expr::build(n.clone(), "i", to_double), |t| {
            let last = Expr::prim(Prim::Sub, vec![n.clone(), Expr::index(1)]);
            sum(n.clone(), |i| Expr::get(t.clone(), Expr::prim(Prim::Sub, vec![last.clone(), i])))
        })
    });
    let mut program = Program::default();
    program.functions.insert("f".into(), function("f", &[], &[&x], body));
    let lowered = lower(&program, &["f".into()], &LowerOptions::default());
    let optimised = lowered.and_then(|loops| loops::optimise(loops, &loops::Options::default()));
    let problems = optimised.expect_err("unsupported");
    assert_eq!(problems[0].code, "E0601");
}

#[test]
fn a_name_in_a_comment_is_not_used() {
    let mentions = |lines: &[&str], name: &str| super::words(&lines.join("\n")).contains(name);
    assert!(!mentions(&["/* a row at a time */", "x = y;"], "a") && !mentions(&["/* a", "   b */ x = y;"], "b"));
    assert!(mentions(&["/* no */ x = a;"], "a") && mentions(&["a = 1; /* b */ x = 2;"], "x") && !mentions(&["ab = 1;"], "a"));
}
