//! What the fuzz targets found once, and inputs like it: `fuzz/regressions/`, without cargo-fuzz.
//!
//! A file is an input of the target that its folder names (`fuzz/src/` says what holds of each). `scripts/fuzz` looks for more.

use std::path::Path;

use crate::generator::engine::{Counts, With, check_text};
use crate::support::tools;

/// The library behind the fuzz targets, with the generator of this crate.
#[path = "../../fuzz/src"]
mod fuzz {
    pub mod arguments;
    pub mod programs;
    pub mod text;

    use crate::generator;
}

/// The inputs of a target, with their names.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions").join(target);
    let mut inputs: Vec<(String, Vec<u8>)> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| {
            let path = entry.expect("is listed").path();
            (path.file_name().expect("a name").to_string_lossy().into_owned(), std::fs::read(&path).expect("can be read"))
        })
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{} is empty", folder.display());
    inputs
}

/// Every input by itself; all that fail are named.
fn hold(target: &str, check: fn(&[u8]) -> Result<(), String>) {
    let wrong: Vec<String> = inputs(target)
        .iter()
        .filter_map(|(name, bytes)| {
            let done = std::panic::catch_unwind(|| check(bytes)).unwrap_or_else(|_| Err("a panic, which is printed above".into()));
            done.err().map(|wrong| format!("{target}/{name}: {wrong}"))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn texts_that_were_found() {
    hold("text", fuzz::text::check);
}

#[test]
fn arguments_that_were_found() {
    hold("arguments", fuzz::arguments::check);
}

#[test]
fn programs_that_were_found() {
    hold("programs", fuzz::programs::check);
}

#[test]
fn programs_that_were_found_as_c() {
    for wild in [false, true] {
        let inputs = inputs("programs");
        let of_kind = inputs.iter().filter(|(_, bytes)| fuzz::programs::is_wild(bytes.first().copied().unwrap_or(0)) == wild);
        let bytes: Vec<&[u8]> = of_kind.map(|(_, bytes)| bytes.as_slice()).collect();
        assert!(!bytes.is_empty(), "no program is wild: {wild}");
        assert_eq!(fuzz::programs::check_compiled(&bytes), Ok(()));
    }
}

/// Entries, each with arguments.
type Calls = &'static [(&'static str, &'static [&'static str])];

/// What random programs of `tests/suite/properties.rs` came down to, with what to call.
const GROWN: &[(&str, Calls)] = &[
    // an array of k elements has max k 0 of them, but one of max k 0 not k where that is negative
    (
        "let _of (k: Index) (v: Vector<k>) : Double = vectorSum v + double (length v)
let g (k: Index) (x: Double) : Double = _of k (build (max k 0) (fun i -> x))
let c (k: Index) (x: Double) : Double =
  let v = if x > 0.0 then build k (fun i -> x) else build (max k 0) (fun i -> 2.0 * x)
  vectorSum v + double (length v)
let d (k: Index) (x: Double) : Double =
  let v = if x > 0.0 then build (max k 0) (fun i -> x) else build k (fun i -> 2.0 * x)
  vectorSum v + double (length v)",
        &[
            ("g", &["-1", "1"]),
            ("g", &["2", "1"]),
            ("c", &["-1", "1"]),
            ("c", &["-1", "-1"]),
            ("c", &["2", "-1"]),
            ("d", &["-1", "1"]),
            ("d", &["-1", "-1"]),
            ("d", &["2", "-1"]),
        ],
    ),
    // what is known of a length in one branch is no length of the other
    (
        "let l (x: Double) (v: Vector<n>) (q: Index) : Double =
  let z = if n = 3 then (vectorMap v (fun a -> a + x), update v q (x * x)) else (vectorMap v (fun a -> a * x), v)
  let (a, b) = if q % 2 = 0 then z else (v, update v 0 2.0)
  vectorSum a + b[0] + a[n - 1] * vectorSum b * a[0]",
        &[("l", &["2", "[1]", "0"]), ("l", &["2", "[1, 2, 3]", "0"]), ("l", &["2", "[1, 2, 3, 4]", "1"])],
    ),
    // the slope of a power in its base goes on being one of the exponent where that is 0
    (
        "let h (x: Double) (y: Double) = hessian (fun (x, y) -> x ** y) (x, y)
let c (x: Double) (y: Double) = hessian (fun (x, y) -> ifold (fun s i -> s ** y + x) 1.5 2) (x, y)
let d (v: Vector<n>) = hessian (fun v -> vectorSum (build n (fun i -> (1.0 + v[i] ** 2.0) ** v[(i + 1) % n]))) v",
        &[("h", &["2", "0"]), ("h", &["2", "1"]), ("c", &["2", "0"]), ("d", &["[0, 1]"]), ("d", &["[0.5, 0, 1]"])],
    ),
    // a loop that does not run may have a negative count; each of several conditional changes is put back once
    (
        "let _f (x0: Vector<n>) (q: Index) : Double =
  vectorSqNorm (ifold (fun x i -> if q > 0 then ifold (fun x j -> update x 0 (x[0] * x[i])) x (q * i) else x) x0 n)
let _g (x0: Vector<n>) (q: Index) : Double =
  vectorSqNorm (ifold (fun x i -> if q > 0 then ifold (fun x j -> update x i (x[0] * x[i])) x q else x) x0 n)
let f (x0: Vector<n>) (q: Index) = gradient (fun x -> _f x q + _g x q) x0
let h (x0: Vector<n>) (q: Index) = gradient (fun x -> vectorSum (gradient (fun x -> _f x q * _g x q) x)) x0
let _k (A0: Matrix<n, n>) (s: Double) (b: Array<Bool, n>) : Double =
  matrixSqNorm (ifold (fun A i -> ifold (fun A j ->
    let A = if s > 0.2 then update (update A j A[n - 1 - i]) i A[j] else A
    if A[0][0] > 0.5 then update A i A[i] else (if b[j] then A else update A ((j + 1) % n) A[i])) A (min n 2)) A0 n)
let k (A0: Matrix<n, n>) (s: Double) (b: Array<Bool, n>) = gradient (fun A -> matrixSum (gradient (fun A -> _k A s b) A)) A0",
        &[
            ("f", &["[1.1, 0.5, 0.3]", "-2"]),
            ("f", &["[1.1, 0.5, 0.3]", "2"]),
            ("h", &["[1.1, 0.5, 0.3]", "-2"]),
            ("h", &["[1.1, 0.5, 0.3]", "2"]),
            ("k", &["[[1, -0.3], [0.5, 0.7]]", "0.5", "[true, false]"]),
            ("k", &["[[0.1, -0.3], [0.5, 0.7]]", "0.1", "[false, false]"]),
            ("k", &["[]", "0.1", "[]"]),
        ],
    ),
    // functions that call each other last, where one is written into another before what it calls is made
    (
        "let rec g1 (k: Index) (v: Vector<n>) : Double = if k <= 0 then g2 (k - 2) v else vectorSum v
and g2 (k: Index) (v: Vector<n>) : Double = if k <= 0 then 1.0 else g1 (k - 1) v
let f (x: Double) (v: Vector<n>) : Double =
  let rec g1 (k: Index) : Double = if k <= 0 then x else g2 (k - 2)
  and g2 (k: Index) : Double = if k <= 0 then g3 (k - 2) else vectorSum v
  and g3 (k: Index) : Double = if k <= 0 then x else g1 (k - 1)
  g1 5",
        &[("g1", &["2", "[1, 2]"]), ("g2", &["-2", "[1, 2]"]), ("f", &["0.5", "[1, 2]"])],
    ),
    // what a step overwrites is logged: records with arrays, and loops with more iterations than what is added to them says
    (
        "type Body = { pos: Vector<3>; mass: Double }
let f (bodies: Array<Body, n>) (dx: Vector<3>) = gradient (fun bodies ->
  let moved = ifold (fun (bs: Array<Body, n>) i -> update bs i { bs[i] with pos = vectorEMul bs[i].pos bs[i].pos + dx }) bodies n
  vectorSum (build n (fun i -> moved[i].mass * vectorSqNorm moved[i].pos))) bodies
let g (v: Vector<n>) (k: Index) = gradient (fun v -> vectorSum (ifold (fun x s ->
  ifold (fun x j -> update x (j % n) (sin x[j % n] * x[(j + 1) % n])) x (s - k)) v 2)) v
let h (v: Vector<n>) (k: Index) = gradient (fun v -> vectorSum (ifold (fun x s ->
  ifold (fun x j -> update x ((s + j) % n) (x[(s + j) % n] * x[j % n])) x (max (min k (s * s)) (s % 2))) v n)) v",
        &[
            ("f", &[r#"[{"pos": [1, 2, 3], "mass": 2}, {"pos": [0.5, -1, 3], "mass": 0.5}]"#, "[0.1, 0.2, 0.3]"]),
            ("f", &["[]", "[0.1, 0.2, 0.3]"]),
            ("g", &["[1, 2, 3]", "-3"]),
            ("g", &["[1, 2, 3]", "0"]),
            ("g", &["[1, 2, 3]", "1"]),
            ("h", &["[1, 2, 3]", "5"]),
            ("h", &["[1, 0.2, 3, 0.4, 0.3]", "2"]),
            ("h", &["[1, 0.2, 3, 0.4, 0.3]", "-2"]),
        ],
    ),
    // an index that is put among such as are in range may be any
    (
        "let m (v: Vector<n>) (i: Index) : Vector<n> = let p = update (vectorRange n) 0 i in update v p[0] 7.0
let f (v: Vector<n>) (i: Index) : Double = let p = update (vectorRange n) 0 i in v[p[0]]
let g (a: Array<Index<n>, m>) (v: Vector<n>) (i: Index) : Double = v[(update a 0 i)[0]]
let h (v: Vector<n>) (i: Index) = histogram (update (vectorRange n) 0 i) v n
let t (b: Array<Index<n> * Double, m>) (v: Vector<n>) (i: Index) = v[fst (update b 0 (i, 1.0))[0]]
let r (a: Array<Array<Index<n>, k>, m>) (v: Vector<n>) (i: Index) = v[(update a 0 (build k (fun j -> i)))[0][0]]
let q (v: Vector<n>) (i: Index) = gradient (fun w -> let p = update (vectorRange n) 0 i in w[p[0]] * w[0]) v
let l (v: Vector<n>) (i: Index) = let (p, s) = ifold (fun (p, s) t -> (update p t i, s + 1.0)) (vectorRange n, 0.0) 1 in v[p[0]] + s
let c (v: Vector<n>) (i: Index) (d: Bool) = let p = (if d then vectorRange n else build n (fun j -> i)) in v[p[0]]
let a2 (v: Vector<n>) (i: Index) = ifold (fun s j -> s + v[[j, i][1]]) 0.0 n
let u2 (v: Vector<n>) (i: Index) = let p = ifold (fun p j -> update p j (if j = 0 then i else j)) (vectorRange n) n in v[p[0]]
let w2 (v: Vector<n>) (i: Index) = let p = build n (fun j -> update [j, j] 0 i) in v[p[0][0]]
let u3 (M: Array<Array<Index<n>, n>, n>) (v: Vector<n>) (i: Index) = let p = update M 0 (update M[0] 1 i) in v[p[0][1]]",
        &[
            ("m", &["[1, 2, 3]", "3"]),
            ("f", &["[1, 2, 3]", "3"]),
            ("f", &["[1, 2, 3]", "2"]),
            ("g", &["[0, 1]", "[1, 2]", "5"]),
            ("h", &["[1, 2, 3]", "3"]),
            ("t", &["[[0, 1.5]]", "[1, 2]", "5"]),
            ("r", &["[[0, 1]]", "[1, 2]", "5"]),
            ("q", &["[1, 2, 3]", "3"]),
            ("l", &["[1, 2, 3]", "3"]),
            ("c", &["[1, 2, 3]", "3", "false"]),
            ("a2", &["[1, 2, 3]", "3"]),
            ("u2", &["[1, 2, 3]", "3"]),
            ("w2", &["[1, 2, 3]", "3"]),
            ("u3", &["[[0, 1], [0, 1]]", "[1, 2]", "5"]),
        ],
    ),
    // arrays that are changed in branches where their destination is, and others that lie there
    (
        "let f (v: Vector<n>) : Vector<n> * Double =
  let x = build n (fun i -> 2.0 * v[i] + 1.0)
  (update x 0 100.0, vectorSum x + x[0])
let g (v: Vector<n>) (c: Double) : Vector<n> * Vector<n> =
  let x = build n (fun i -> 2.0 * v[i] + 1.0)
  let y = build n (fun i -> 3.0 * v[i] * v[i])
  if c > 0.0 then (x, y) else (y, update x 0 5.0)
let h (v: Vector<n>) (c: Double) : Vector<n> * Vector<n> =
  let x = ifold (fun s i -> update s i (s[i] * v[i] + exp v[i])) (build n (fun i -> 2.0 * v[i] + 1.0)) n
  let y = ifold (fun s i -> update s i (s[i] + v[i])) (build n (fun i -> 3.0 * v[i] * v[i])) n
  if c > 0.0 then (update x 0 9.0, y) else (y, update x 0 5.0)
let k (v: Vector<n>) : Vector<n> * Vector<n> =
  let x = build n (fun i -> 2.0 * v[i] + 1.0)
  let z = x
  let w = update x 0 100.0
  (w, z)
let l (v: Vector<n>) (c: Double) : Vector<n> * Double =
  let x = build n (fun i -> 2.0 * v[i] + 1.0)
  let z = if c > 0.0 then update x 0 100.0 else x
  let s = vectorSum z
  (update z 1 5.0, s)
let m (v: Vector<n>) (c: Double) : Vector<n> =
  let x = build n (fun i -> 2.0 * v[i] + 1.0)
  let y = if c > 0.0 then update x 0 100.0 else x
  let z = y
  let w = if c < 5.0 then update y 1 (z[0]) else z
  vectorAdd (update w 2 7.0) z
let o (v: Vector<n>) (c: Double) : Vector<n> =
  let x = build n (fun i -> 2.0 * v[i] + 1.0)
  let y = if c > 0.0 then update x 0 100.0 else x
  if c < 5.0 then update y 1 (y[0] + v[0]) else v",
        &[
            ("f", &["[1, 2, 3]"]),
            ("g", &["[1, 2, 3]", "-1"]),
            ("g", &["[1, 2, 3]", "1"]),
            ("g", &["[1, 2, 3]", "9"]),
            ("h", &["[1, 2, 3]", "-1"]),
            ("h", &["[1, 2, 3]", "1"]),
            ("h", &["[1, 2, 3]", "9"]),
            ("k", &["[1, 2, 3]"]),
            ("l", &["[1, 2, 3]", "-1"]),
            ("l", &["[1, 2, 3]", "1"]),
            ("l", &["[1, 2, 3]", "9"]),
            ("m", &["[1, 2, 3]", "-1"]),
            ("m", &["[1, 2, 3]", "1"]),
            ("m", &["[1, 2, 3]", "9"]),
            ("o", &["[1, 2, 3]", "-1"]),
            ("o", &["[1, 2, 3]", "1"]),
            ("o", &["[1, 2, 3]", "9"]),
        ],
    ),
    // a column that is not there, in a branch that is not taken
    (
        "let f (c: Vector<n>) (k: Array<Index<n>, m>) (l: Array<Index<n>, m>) (y: Vector<m>) (z: Double) =
  let x = build m (fun i -> [build n (fun r -> if r = k[i] then y[i] else 0.0), build n (fun r -> if r = l[i] then y[i] else 0.0)])
  vectorSum (build m (fun i -> vectorSum (build n (fun r -> ifold (fun s j -> if z < 0.0 then s + x[i][j][r] else s) 0.0 3))))",
        &[("f", &["[3]", "[0, 0]", "[0, 0]", "[1, 2]", "1"]), ("f", &["[3]", "[0, 0]", "[0, 0]", "[1, 2]", "-1"])],
    ),
    // a size that the types alone go on using
    (
        "let f (v: Vector<n>) (x: Double) = let a = vectorZeros n in let b = update a 0 x in matrixCols (build 0 (fun i -> b))",
        &[("f", &["[1, 2]", "3.0"])],
    ),
    // lengths of what cannot be made
    (
        "let f (v: Vector<n>) (k: Index) (x: Double) = length (update v k x)\n\
         let g (v: Vector<n>) (k: Index) (x: Double) = length (ifold (fun w i -> if w[k] > x then w else v) v n)\n\
         let h (v: Vector<n>) (k: Index) (x: Double) = length (update (build k (fun i -> x)) 0 x)",
        &[
            ("f", &["[1, 2]", "5", "3.0"]),
            ("f", &["[1, 2]", "1", "3.0"]),
            ("g", &["[1, 2]", "5", "3.0"]),
            ("h", &["[1, 2]", "-1", "3.0"]),
            ("h", &["[1, 2]", "0", "3.0"]),
        ],
    ),
    // in the backward pass a zero meets an infinite slope in one component, and the others are rounded otherwise
    (
        "let f (x: Double) (y: Double) =\n  \
           gradient (fun v ->\n    \
             let w = ifold (fun s i -> build 3 (fun k -> atan2 s[k] (v[k] * 1.3))) v 4 in\n    \
             w[1] * w[2] * 0.3 * sin w[1] / 7.0) [x, y, y * y]",
        &[("f", &["0.0", "1.0"]), ("f", &["0.0", "-2.0"])],
    ),
    // what only the inner of two branches reaches
    (
        "let f (x: Double) (y: Double) (b: Bool) (c: Bool) =\n  \
           gradient (fun (x, y) -> if b then x elif c then y else y * 3) (x, y)\n\
         let g (v: Vector<n>) (x: Double) (b: Bool) (c: Bool) =\n  \
           gradient (fun (v, x) -> vectorSum (if b then v elif c then vectorFill n x else if x > 0 then vectorFill n (x * x) else v)) (v, x)",
        &[
            ("f", &["1.5", "2.0", "false", "false"]),
            ("f", &["1.5", "2.0", "false", "true"]),
            ("f", &["1.5", "2.0", "true", "true"]),
            ("g", &["[1, 2]", "2.0", "false", "false"]),
            ("g", &["[1, 2]", "-2.0", "false", "false"]),
            ("g", &["[1, 2]", "2.0", "false", "true"]),
            ("g", &["[1, 2]", "2.0", "true", "true"]),
        ],
    ),
    // a room whose last use is in a loop that may not run, in a branch: the workspace forgot it
    (
        "let f (v: Vector<n>) =\n  \
           matrixVectorMul (gradient (fun r -> matrixSqNorm (if false then r elif true then build n (fun x -> v) else r)) (build n (fun s -> build n (fun i -> 0.1))))\n    \
             (vectorSlice (build (n + 1) (fun i -> ifold (fun p s -> v[n - 1]) 3.0 (abs (-i % 3)))) 1 n)\n\
         let g (v: Vector<n>) (w: Vector<n>) = vjp f v w",
        &[("g", &["[]", "[]"]), ("g", &["[1, 2]", "[0.5, 3]"])],
    ),
    // an index that is the length: compilers warn of a comparison with itself
    (
        "let f (v: Vector<n>) (M: Array<Vector<m>, n>) =\n  \
           ifold (fun r i -> if length r > 0 then accumulate r (length r) v else r)\n    \
             (matrixTranspose (jacobian (fun w -> v) (build (length M + 1) (fun i -> 2.0)))) 3\n\
         let g (v: Vector<n>) (M: Array<Vector<m>, n>) (y: Double) =\n  \
           ifold (fun r i ->\n    \
             let s = if length r > 0 then accumulate r (abs (length (build (length r) (fun j -> y)) % length r)) v else r in\n    \
             build (length s) (fun j -> v))\n    \
             (matrixTranspose (jacobian (fun w -> build (length M) (fun j -> y)) (build (length M + 1) (fun i -> 2.0)))) 3",
        &[("f", &["[1, 2]", "[[1], [2]]"]), ("g", &["[1, 2]", "[[1], [2]]", "2.0"])],
    ),
    // a let at the end of a step, which went into two branches with the variable that it binds
    (
        "let f (M: Matrix<n, m>) (y: Double) =\n  \
           fst (ifold (fun (r, s) i -> (if length r > 0 then accumulate r 0 y else r, derivative (fun t -> t) y)) (M[1], y) 1)\n\
         let g (M: Matrix<n, m>) (y: Double) = jvp (fun M -> f M y) M M",
        &[("g", &["[[1, 2], [3, 4]]", "2.0"])],
    ),
    // a function of what only a branch declares was called before the lanes that have the branch
    (
        "let rec f (k: Index) (a: Double) (m: Matrix<n, n>) (v: Vector<n>) : Double =\n  \
           if k <= 0 then a else f (k - 1) v[0] (build n (fun i -> build n (fun j -> if i = j then 2.5 else sin v[0]))) v\n\
         let h (k: Index) (a: Double) (m: Matrix<n, n>) (v: Vector<n>) = hessian (fun v -> f k a m v) v",
        &[("h", &["2", "0.5", "[[1, 2], [3, 4]]", "[0.5, 1.5]"])],
    ),
    // lengths that data gives: the least of two, a remainder, the greatest of two, chosen by data
    (
        "let mirrored (v: Vector<m>) = ifold (fun s i -> s + v[i] * v[length v - 1 - i]) 0.0 (length v)\n\
         let least (q: Array<Index, n>) = mirrored (build (min q[0] 4) (fun i -> double i + 1.0))\n\
         let twice (q: Array<Index, n>) = let k = q[0] in mirrored (build (2 * max 0 (min k 7)) (fun i -> double i))\n\
         let rest (q: Array<Index, n>) = mirrored (build (q[0] % 7) (fun i -> double i))\n\
         let most (q: Array<Index, n>) = let k = q[0] in mirrored (vectorCumSum (build (max 1 (min k 7)) (fun i -> double i)))\n\
         let chosen (q: Array<Index, n>) = let k = q[0] in mirrored (build (if k > 3 then 2 else k % 2 + 1) (fun i -> double i))\n\
         let slope (v: Vector<n>) = gradient (fun v -> let k = (if v[0] > 0.0 then 3 else 5) in mirrored (build k (fun i -> v[0] * double i))) v",
        &[
            ("least", &["[3]"]),
            ("least", &["[9]"]),
            ("least", &["[-1]"]),
            ("least", &["[]"]),
            ("twice", &["[3]"]),
            ("twice", &["[9]"]),
            ("twice", &["[-9223372036854775788]"]),
            ("rest", &["[12]"]),
            ("rest", &["[-1]"]),
            ("most", &["[3]"]),
            ("most", &["[9]"]),
            ("most", &["[-9]"]),
            ("chosen", &["[3]"]),
            ("chosen", &["[9]"]),
            ("slope", &["[0.5]"]),
            ("slope", &["[-0.5, 1]"]),
        ],
    ),
    // lengths of records in arrays have names beside those that the annotation leaves out, which are no Index that comes before
    (
        "type P = { x: Vector; y: Double }\ntype D<n> = { u: Vector<n>; w: Vector }\n\
         let rows (m: Array<P>) = m[0].x\nlet named (m: Array<P>) (w: Vector<m_n>) = vectorSum w + m[0].y\n\
         let sized (d: Array<D<k>>) = vectorSum d[0].u + vectorSum d[0].w\nlet index (v_n: Index) (v: Vector) = double v_n + vectorSum v\n\
         let predefined (__func__: Double) (__LINE__: Double) = __func__ + __LINE__\n",
        &[
            ("rows", &[r#"[{"x": [1, 2], "y": 3}]"#]),
            ("named", &[r#"[{"x": [1, 2], "y": 3}]"#, "[7]"]),
            ("sized", &[r#"[{"u": [1, 2], "w": [3]}]"#]),
            ("index", &["3", "[1, 2]"]),
            ("predefined", &["3", "1"]),
        ],
    ),
    // lengths that contradict each other by a third one alone
    (
        "type P<n> = { at: Index<n>; weight: Double }\nlet f (k: Index) (w: Vector<n>) : P<n> = { at = k; weight = w[0] }\n\
         let g (p: P<n>) (w: Vector<n>) = let q = { p with weight = 2.0 } in q.weight * w[q.at]",
        &[("f", &["1", "[1, 2]"]), ("f", &["2", "[1, 2]"]), ("f", &["-1", "[1, 2]"]), ("g", &[r#"{"at": 1, "weight": 1}"#, "[1, 2]"])],
    ),
    (
        "type D<n> = { x: Vector<n>; y: Vector<n> }\nlet f (v: Vector) : D<2> = { x = v; y = [1.0, 2.0, 3.0] }\n\
         let g (v: Vector) : Vector<2> * Vector<2> = let g (a: Vector<n>) (b: Vector<n>) = (a, b) in g v [1.0, 2.0, 3.0]\n\
         let h (v: Vector) (w: D<2>) = ifold (fun d i -> { x = v; y = [1.0, 2.0, 3.0] }) w (length v - 2)\n",
        &[
            ("f", &["[1, 2]"]),
            ("f", &["[1, 2, 3]"]),
            ("g", &["[1, 2, 3]"]),
            ("h", &["[1, 2, 3]", r#"{"x": [1, 2], "y": [1, 2]}"#]),
            ("h", &["[1, 2]", r#"{"x": [1, 2], "y": [1, 2]}"#]),
        ],
    ),
    // a sum of a row that begins with an element goes into a function, which runs for many rows at a time
    (
        "let g (X: Matrix<n, d>) (w: Vector<d>) (b: Vector<n>) =
  gradient (fun w -> ifold (fun t i -> t + exp (ifold (fun s k -> s + w[k] * X[i][k]) b[i] d)) 0.0 n) w",
        &[
            ("g", &["[[1, 2], [0.5, -1], [0.1, 0.2]]", "[0.3, 0.4]", "[0.1, 0.2, 0.3]"]),
            (
                "g",
                &[
                    "[[1], [2], [3], [4], [5], [6], [7], [8], [9], [8], [7], [6], [5], [4], [3], [2], [1]]",
                    "[0.3]",
                    "[1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]",
                ],
            ),
        ],
    ),
    // an array that is hoisted out of a loop over a length that only a function inside has a name for
    (
        "let q (u: Vector<m>) (t: Index) =
  build t (fun j -> let w = build (m + m) (fun i -> u[i % m]) in (scan (fun a i -> a * 0.5 + sin w[i]) 0.1 (m + m))[j])",
        &[("q", &["[1, 2]", "2"]), ("q", &["[1]", "4"]), ("q", &["[]", "0"])],
    ),
    // lengths that depend on Indexes alone: one of a slice, hoisted behind a test of whether the loop runs; one of states that a loop
    // in a loop counts
    (
        "let b (v: Vector<n>) (t: Index) = jacobian (fun v -> let k = (t + 1) * 2 in let a = build k (fun i -> v[i % n]) in a[1..]) v
let e (v: Vector<n>) (t: Index) =
  hessian (fun v -> let k = (t + 1) * 2 in let a = build k (fun i -> v[i % n]) in vectorSqNorm a[1..] * vectorSum v) v
let a (v: Vector<n>) (t: Index) =
  gradient (fun v -> ifold (fun a i -> a * vectorSum (ifold (fun a c -> vectorMap a sin) v (ifold (fun c i -> c + i) 1 t))) 1.0 t) v",
        &[
            ("b", &["[1, 2]", "1"]),
            ("b", &["[1]", "0"]),
            ("b", &["[]", "-1"]),
            ("e", &["[1, 2]", "1"]),
            ("e", &["[1, 2, 3]", "0"]),
            ("a", &["[1, 2]", "3"]),
            ("a", &["[1]", "0"]),
            ("a", &["[]", "2"]),
        ],
    ),
    // what sums down columns need of a row, or for their length, is no error where there are no columns
    (
        "let a (A: Matrix<m, n>) (q: Index) : Vector<n> =
  build n (fun j -> ifold (fun s i -> let e = double (5 / (q - i)) in s + A[i][j] * e * e) 0.0 m)
let b (A: Matrix<m, n>) (x: Vector<r>) (b: Vector<n>) : Vector<n> =
  build n (fun j -> b[j] + ifold (fun s i -> if x[i] > 0.0 then s + A[i][j] * x[i] else s) 0.0 m)
let c (A: Matrix<m, n>) (q: Index) : Vector<n> = build n (fun j -> exp (ifold (fun s i -> s + A[i][j]) 1.0 (6 / q)))
let d (A: Matrix<m, n>) (x: Vector<r>) (q: Index) : Vector<n> =
  build n (fun j -> ifold (fun s i -> let t = ifold (fun u k -> u + x[k]) 0.0 (q - i) in max s (A[i][j] * t)) 0.0 m)",
        &[
            ("a", &["[[], [], []]", "1"]),
            ("a", &["[[1], [2], [3]]", "1"]),
            ("a", &["[[1, 2], [3, 4]]", "7"]),
            ("b", &["[[], [], []]", "[1]", "[]"]),
            ("b", &["[[1], [2], [3]]", "[1]", "[4]"]),
            ("b", &["[[1, 2], [3, 4]]", "[1, -1]", "[5, 6]"]),
            ("c", &["[[], []]", "0"]),
            ("c", &["[[1], [2]]", "0"]),
            ("c", &["[[1], [2]]", "3"]),
            ("d", &["[[], [], []]", "[1]", "2"]),
            ("d", &["[[], [], []]", "[1, 2]", "1"]),
            ("d", &["[[1], [2]]", "[1, 2]", "2"]),
            ("d", &["[[1], [2], [3]]", "[1]", "1"]),
        ],
    ),
];

/// The same where derivatives are computed forward.
const GROWN_FORWARD: &[(&str, Calls)] = &[
    // the length of a loop's state is still a name's where no term has that name any more
    (
        "let f (p: Vector<5>) (v: Vector<n>) (t: Index) = gradient (fun (p, v) -> let s = scan (fun b i -> p[i]) v[0] t in s[0 % length s]) (p, v)",
        &[("f", &["[1, 2, 3, 4, 5]", "[6, 7]", "3"]), ("f", &["[1, 2, 3, 4, 5]", "[6]", "0"]), ("f", &["[1, 2, 3, 4, 5]", "[]", "0"])],
    ),
];

#[test]
fn random_programs_that_were_found() {
    hold_calls(GROWN, With::C);
    hold_calls(GROWN_FORWARD, With::Forward);
}

fn hold_calls(programs: &[(&str, Calls)], with: With) {
    tools::each(programs, |(source, calls)| {
        let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        let calls: Vec<(String, Vec<String>)> = calls.iter().map(|(entry, given)| (entry.to_string(), words(given))).collect();
        let failures = check_text(source, &calls, with, &mut Counts::default()).unwrap_or_else(|failure| vec![failure]);
        let said: String = failures.into_iter().map(|failure| format!("{} in\n{source}\n{}\n", failure.kind, failure.detail)).collect();
        if said.is_empty() { Ok(()) } else { Err(said) }
    });
}
