//! What the library's functions that change arrays cost, by counting what the interpreter does: as much as a textbook says,
//! so that no array is copied that need not be.

use std::rc::Rc;

use smoothc::ir::eval::{Array, Counts, Shape, Value, eval};
use smoothc::source::SourceMap;
use smoothc::stack::with_large_stack;
use smoothc::types::{Options, elaborate};

const TEXT: &str = "
let powers (x: Double) (n: Index) = scan (fun p i -> p * x) 1.0 n
let sums (v: Vector<n>) = vectorCumSum v
let totals (keys: Array<Index, m>) (weights: Vector<m>) (n: Index) = histogram keys weights n
let factor (A: Matrix<n, n>) = cholesky A
let forwards (L: Matrix<n, n>) (b: Vector<n>) = triangularSolve L b
let solution (A: Matrix<n, n>) (b: Vector<n>) = matrixSolve A b
let volume (A: Matrix<n, n>) = logDet A
let swapped (v: Vector<n>) = update (update v 0 v[1]) 1 v[0]
let kept (v: Vector<n>) = let w = update v 0 1.0 in (w, update w 1 2.0)
";

/// An array of these elements.
fn array(items: Vec<Value>, element: Shape) -> Value {
    Value::Array(Rc::new(Array { items, element }))
}

/// A positive definite matrix with its pivots on the diagonal.
fn matrix(n: usize) -> Value {
    let element = |i: usize, j: usize| if i == j { n as f64 + 1.0 } else { 1.0 / (1 + i + j) as f64 };
    let row = |i| Value::vector(&(0..n).map(|j| element(i, j)).collect::<Vec<_>>());
    array((0..n).map(row).collect(), Shape::Array(Rc::new(Shape::Double), n))
}

fn vector(n: usize) -> Value {
    Value::vector(&vec![1.0; n])
}

/// Operations on Doubles and writes.
fn counted(entry: &str, args: impl FnOnce() -> Vec<Value> + Send) -> (u64, u64) {
    with_large_stack(|| {
        let mut sources = SourceMap::default();
        let main = sources.add("test.smooth", TEXT);
        let typed = elaborate(&mut sources, main, None, &mut |path, _| Err(format!("no {path}")), &Options::default());
        let program = typed.unwrap_or_else(|errors| panic!("{errors:?}")).program;
        let found = eval(&program, entry, args()).unwrap_or_else(|error| panic!("{entry}: {error:?}"));
        let Counts { arithmetic, writes, .. } = found.trace.counts;
        (arithmetic, writes)
    })
}

#[test]
fn the_library_does_what_a_textbook_does() {
    for n in [2, 5, 12] {
        let size = n as usize;
        let index = move || Value::Index(n as i64);
        let squares = (n - 1) * n * (2 * n - 1) / 6;
        assert_eq!(counted("powers", move || vec![Value::Double(2.0), index()]), (n, 2 * n + 1), "scan, {n}");
        assert_eq!(counted("sums", move || vec![vector(size)]), (n, 2 * n), "vectorCumSum, {n}");
        let keys = move || array((0..n as i64).map(|k| Value::Index(k / 2)).collect(), Shape::Index);
        assert_eq!(counted("totals", move || vec![keys(), vector(size), index()]), (n, 2 * n), "histogram, {n}");
        assert_eq!(counted("forwards", move || vec![matrix(size), vector(size)]), (n * n, 2 * n), "triangularSolve, {n}");
        assert_eq!(
            counted("factor", move || vec![matrix(size)]),
            (n * (n + 1) * (2 * n + 1) / 6, n * n + n * (n + 1) / 2),
            "cholesky, {n}"
        );
        // zeros and the order of the rows; for each column itself, made, solved for and ordered by rows twice, and two exchanges
        let factors = n * n + n + n * (5 * n + 4);
        assert_eq!(counted("volume", move || vec![matrix(size)]), (4 * n + n * (n - 1) + 2 * squares, factors), "logDet, {n}");
        let (_, writes) = counted("solution", move || vec![matrix(size), vector(size)]);
        assert_eq!(writes, factors + 4 * n, "matrixSolve, {n}");
    }
}

#[test]
fn only_what_is_used_again_is_copied() {
    // the parameter is the caller's: it is copied once
    assert_eq!(counted("swapped", || vec![vector(9)]).1, 9 + 2);
    assert_eq!(counted("kept", || vec![vector(9)]).1, 9 + 1 + 9 + 1);
}
