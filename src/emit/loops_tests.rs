//! Loops that are written for speed, compiled as C and as C++ with every warning an error and run under sanitizers
//! with exactly the workspace that they ask for, against loops by hand.

use super::tests::{emit_with, function, run, size, vector};
use crate::ir::*;
use crate::lower::LowerOptions;

fn matrix(name: &str, rows: &Var, columns: &Var) -> Var {
    let row = Type::array(Type::Double, Size::var(columns));
    Var::fresh(name, Type::array(row, Size::var(rows)))
}

fn at(v: &Var, i: &Expr) -> Expr {
    Expr::get(Expr::var(v), i.clone())
}

fn op(prim: Prim, a: Expr, b: Expr) -> Expr {
    Expr::prim(prim, vec![a, b])
}

fn sum(n: &Var, f: impl Fn(Expr) -> Expr) -> Expr {
    Expr::fold(Expr::var(n), "s", "j", Expr::double(0.0), |s, j| op(Prim::Add, s, f(j)))
}

/// `build(m, i. sum(n, j. A[i][j] / (v[j] + 1)) * sum(n, j. u[i] / (v[j] + 1)))`.
fn quotients(name: &str) -> Function {
    let (m, n) = (size("m"), size("n"));
    let (a, u, v) = (matrix("A", &m, &n), vector("u", &m), vector("v", &n));
    let divisor = |j: &Expr| op(Prim::Add, at(&v, j), Expr::double(1.0));
    let body = Expr::build(Expr::var(&m), "i", |i| {
        let row = at(&a, &i);
        let first = sum(&n, |j| op(Prim::Div, Expr::get(row.clone(), j.clone()), divisor(&j)));
        let second = sum(&n, |j| op(Prim::Div, at(&u, &i), divisor(&j)));
        op(Prim::Mul, first, second)
    });
    function(name, &[&m, &n], &[&a, &u, &v], body)
}

#[test]
fn reciprocals_are_computed_once() {
    let files = emit_with(vec![quotients("rows")], &[], &LowerOptions { reciprocals: true, ..LowerOptions::default() });
    assert_eq!(files.source.matches(" / (v[").count(), 1, "{}", files.source);
    assert_eq!(files.source.matches("double *inverse = ").count(), 1, "{}", files.source);
    let exact = emit_with(vec![quotients("rows")], &[], &LowerOptions::default());
    assert!(!exact.source.contains("inverse"), "{}", exact.source);
    run(
        &files,
        r#"
int main(void) {
    for (int64_t m = 0; m < 4; ++m) {
        for (int64_t n = 0; n < 12; ++n) {
            double a[48], u[4], v[12], out[4];
            for (int k = 0; k < 48; ++k) { a[k] = k * 0.3 - 2.0; }
            for (int k = 0; k < 4; ++k) { u[k] = k + 0.5; }
            for (int k = 0; k < 12; ++k) { v[k] = k * 0.1; }
            void *room = malloc(rows_workspace(m, n));
            CHECK(rows(m, n, a, u, v, out, room, rows_workspace(m, n)) == SMOOTH_OK);
            free(room);
            for (int64_t i = 0; i < m; ++i) {
                double x = 0.0, y = 0.0;
                for (int64_t j = 0; j < n; ++j) { x += a[i * n + j] / (v[j] + 1.0); y += u[i] / (v[j] + 1.0); }
                NEAR(out[i], x * y);
            }
        }
    }
    return failed;
}"#,
    );
}

/// Rows of ten numbers in a batch of batches: `x^(k+1) + k * y` of each `x = A[b][i]`, `y = A[b][i + ahead]`.
fn powers(name: &str) -> Function {
    let (m, n) = (size("m"), size("n"));
    let (a, v) = (matrix("A", &m, &n), vector("v", &n));
    let body = Expr::build(Expr::var(&m), "b", |b| {
        let row = at(&a, &b);
        Expr::build(Expr::var(&n), "i", |i| {
            let x = Expr::get(row.clone(), i.clone());
            let items = (0..10).map(|k| {
                let power = (0..k).fold(x.clone(), |power, _| op(Prim::Mul, power, x.clone()));
                op(Prim::Add, power, op(Prim::Mul, Expr::double(f64::from(k)), at(&v, &i)))
            });
            Expr::array(Type::Double, items.collect())
        })
    });
    function(name, &[&m, &n], &[&a, &v], body)
}

#[test]
fn rows_are_written_by_tiles() {
    let files = emit_with(vec![powers("rows")], &[], &LowerOptions::default());
    assert_eq!(files.source.matches("double tile[10][8];").count(), 1, "{}", files.source);
    run(
        &files,
        r#"
int main(void) {
    for (int64_t m = 0; m < 3; ++m) {
        for (int64_t n = 0; n < 20; ++n) {
            double a[40], v[20];
            const size_t bytes = (size_t)(m * n) * 10 * sizeof(double);
            double *out = (double *)malloc(bytes);
            for (int k = 0; k < 40; ++k) { a[k] = k * 0.04 - 0.6; }
            for (int k = 0; k < 20; ++k) { v[k] = k + 0.5; }
            CHECK(rows(m, n, a, v, out, NULL, 0) == SMOOTH_OK);
            for (int64_t b = 0; b < m; ++b) {
                for (int64_t i = 0; i < n; ++i) {
                    double x = a[b * n + i], power = x;
                    for (int64_t k = 0; k < 10; ++k) {
                        NEAR(out[(b * n + i) * 10 + k], power + (double)k * v[i]);
                        power *= x;
                    }
                }
            }
            free(out);
        }
    }
    return failed;
}"#,
    );
}

/// `sin x / x` of each number, 1 at 0, then with a neighbour where there is one.
fn branches(name: &str) -> Function {
    let n = size("n");
    let v = vector("v", &n);
    let call = |prim, x: &Expr| Expr::prim(prim, vec![x.clone()]);
    let body = Expr::build(Expr::var(&n), "i", |i| {
        Expr::bind("x", at(&v, &i), |x| {
            let is_zero = op(Prim::Eq, x.clone(), Expr::double(0.0));
            let there = Expr::bind("s", op(Prim::Div, call(Prim::Sin, &x), x.clone()), |s| {
                Expr::tuple(vec![s.clone(), op(Prim::Div, op(Prim::Sub, call(Prim::Cos, &x), s), x.clone())])
            });
            let zero = Expr::tuple(vec![Expr::double(1.0), x.clone()]);
            Expr::bind("both", Expr::if_(is_zero, zero, there), |both| {
                Expr::array(Type::Double, vec![Expr::proj(both.clone(), 0), Expr::proj(both, 1)])
            })
        })
    });
    function(name, &[&n], &[&v], body)
}

/// `sin v[i + 3]`, and 2 for the last ones: the other branch must not be evaluated.
fn neighbours(name: &str) -> Function {
    let n = size("n");
    let v = vector("v", &n);
    let body = Expr::build(Expr::var(&n), "i", |i| {
        let next = op(Prim::Add, i, Expr::index(3));
        let there = Expr::prim(Prim::Sin, vec![at(&v, &next)]);
        Expr::if_(op(Prim::Lt, next, Expr::var(&n)), there, Expr::double(2.0))
    });
    function(name, &[&n], &[&v], body)
}

#[test]
fn branches_around_vector_functions_have_no_jumps() {
    let files = emit_with(vec![branches("sinc"), neighbours("next")], &[], &LowerOptions::default());
    assert_eq!(files.source.matches(" = smooth_select(").count(), 2, "{}", files.source);
    assert_eq!(files.source.matches(" ? smooth_sin(").count() + files.source.matches(" ? sin(").count(), 1, "{}", files.source);
    run(
        &files,
        r#"
int main(void) {
    for (int64_t n = 0; n < 20; ++n) {
        double *v = (double *)malloc((size_t)n * sizeof(double)), out[40];
        for (int64_t k = 0; k < n; ++k) { v[k] = (double)k * 0.5 - 1.0; }
        CHECK(sinc(n, v, out, NULL, 0) == SMOOTH_OK);
        for (int64_t k = 0; k < n; ++k) {
            const double x = v[k], s = x == 0.0 ? 1.0 : sin(x) / x;
            NEAR(out[2 * k], s);
            NEAR(out[2 * k + 1], x == 0.0 ? x : (cos(x) - s) / x);
        }
        CHECK(next(n, v, out, NULL, 0) == SMOOTH_OK);
        for (int64_t k = 0; k < n; ++k) { NEAR(out[k], k + 3 < n ? sin(v[k + 3]) : 2.0); }
        free(v);
    }
    return failed;
}"#,
    );
}

/// `build(n, j. sum over i of A[i][j] / u[i])`: a sum down each column.
fn columns(name: &str) -> Function {
    let (m, n) = (size("m"), size("n"));
    let (a, u) = (matrix("A", &m, &n), vector("u", &m));
    let body = Expr::build(Expr::var(&n), "j", |j| sum(&m, |i| op(Prim::Div, Expr::get(at(&a, &i), j.clone()), at(&u, &i))));
    function(name, &[&m, &n], &[&a, &u], body)
}

#[test]
fn sums_down_columns_take_four_rows_at_a_time() {
    for reciprocals in [false, true] {
        let files = emit_with(vec![columns("sums")], &[], &LowerOptions { reciprocals, ..LowerOptions::default() });
        assert_eq!(files.source.matches("fours = m / 4;").count(), 1, "{}", files.source);
        assert_eq!(files.source.matches("1.0 / u[").count(), if reciprocals { 5 } else { 0 }, "{}", files.source);
        run(
            &files,
            r#"
int main(void) {
    for (int64_t m = 0; m < 14; ++m) {
        for (int64_t n = 0; n < 12; ++n) {
            double *a = (double *)malloc((size_t)(m * n) * sizeof(double)), u[13], out[11];
            for (int64_t k = 0; k < m * n; ++k) { a[k] = (double)(k * k % 17) * 0.3 - 2.0; }
            for (int k = 0; k < 13; ++k) { u[k] = k + 0.5; }
            CHECK(sums(m, n, a, u, out, NULL, 0) == SMOOTH_OK);
            for (int64_t j = 0; j < n; ++j) {
                double s = 0.0;
                for (int64_t i = 0; i < m; ++i) { s += a[i * n + j] / u[i]; }
                NEAR(out[j], s);
            }
            free(a);
        }
    }
    return failed;
}"#,
        );
    }
}

/// `build(m, b. build(n, k. build(n, i. if k = i then x[b] * v[i] else 0)))`.
fn diagonals(name: &str) -> Function {
    let (m, n) = (size("m"), size("n"));
    let (x, v) = (vector("x", &m), vector("v", &n));
    let body = Expr::build(Expr::var(&m), "b", |b| {
        Expr::build(Expr::var(&n), "k", |k| {
            Expr::build(Expr::var(&n), "i", |i| {
                let set = op(Prim::Mul, at(&x, &b), at(&v, &i));
                Expr::if_(op(Prim::Eq, k.clone(), i), set, Expr::double(0.0))
            })
        })
    });
    function(name, &[&m, &n], &[&x, &v], body)
}

#[test]
fn diagonals_are_cleared_and_set() {
    let files = emit_with(vec![diagonals("diagonals")], &[], &LowerOptions::default());
    assert!(!files.source.contains("k == i"), "{}", files.source);
    run(
        &files,
        r#"
int main(void) {
    for (int64_t m = 0; m < 3; ++m) {
        for (int64_t n = 0; n < 6; ++n) {
            const double x[2] = {2.0, 3.0}, v[5] = {1.0, 2.0, 3.0, 4.0, 5.0};
            double *out = (double *)malloc((size_t)(m * n * n) * sizeof(double));
            for (int64_t k = 0; k < m * n * n; ++k) { out[k] = (double)NAN; }
            CHECK(diagonals(m, n, x, v, out, NULL, 0) == SMOOTH_OK);
            for (int64_t k = 0; k < m * n * n; ++k) {
                NEAR(out[k], k / n % n == k % n ? x[k / (n * n)] * v[k % n] : 0.0);
            }
            free(out);
        }
    }
    return failed;
}"#,
    );
}
