//! What goes wrong without each side condition: a row for every condition that a rule's law names.
//!
//! A row is a rule, the condition that is left out, the harm that comes of it, and an expression that shows it; where that
//! is empty, random terms do. The strategy is the rule somewhere in the expression, unless the row says more.
//!
//!     let-dead, "x is not free in b":   let x = sin y in x * x   becomes   x * x, in which x is free

/// What comes of a rule without its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Another value, or an error where there was none.
    Wrong,
    /// A value where there was an error that the rule keeps.
    Lost,
    /// An error of another kind.
    Status,
    /// A term that is none: a variable is free, or a type does not fit.
    Scope,
    /// More work, by the interpreter's counts.
    Work,
    /// No less work: what the rule does is for nothing.
    Idle,
    /// A term half as large again, or larger.
    Size,
    /// Rules that undo each other.
    Endless,
    /// Other bits under `--strict-fp`.
    Strict,
}

use Harm::*;

pub struct Row {
    pub rule: &'static str,
    pub condition: &'static str,
    pub harm: Harm,
    pub strategy: &'static str,
    pub witness: &'static str,
}

/// Shown by random terms.
const fn random(rule: &'static str, condition: &'static str, harm: Harm) -> Row {
    Row { rule, condition, harm, strategy: "", witness: "" }
}

/// Shown by the rule on an expression.
const fn row(rule: &'static str, condition: &'static str, harm: Harm, witness: &'static str) -> Row {
    Row { rule, condition, harm, strategy: "", witness }
}

/// Shown by a strategy on an expression.
const fn by(rule: &'static str, condition: &'static str, harm: Harm, strategy: &'static str, witness: &'static str) -> Row {
    Row { rule, condition, harm, strategy, witness }
}

const LESS: &str = "the innermost loop then does less work";
const MINUS: &str = "repeat (topdown mul-neg <+ topdown neg-literal)";
const QUOTIENT: &str = "repeat (topdown div-neg <+ topdown neg-literal)";
const CHECKED: &str = "0 <= n, else the check stays";

pub const ROWS: &[Row] = &[
    // 8a
    row(
        "let-inline",
        "a is atomic, or used once and not repeated, or a build that fuses, or a row of a variable",
        Work,
        "let x = sin y in build (length v) (fun i -> x * v[i])",
    ),
    row("let-dead", "x is not free in b", Scope, "let x = sin y in x * x"),
    row("let-swap", "x is not free in b", Scope, "let x = sin y in let z = x + y in x * z"),
    row("let-float", "f is strict there", Scope, "build (length v) (fun i -> let x = v[i] in x * x)"),
    by(
        "beta",
        "f, its caller and the program are small enough",
        Size,
        "repeat (topdown beta)",
        "let f (x: Double) = x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x in f a + f b + f c + f d + f e + f g + f h",
    ),
    row("hoist", "i is not free in e", Scope, "build (length v) (fun i -> sin v[i] * 2.0)"),
    row("hoist", "e is worth hoisting", Idle, "build (length v) (fun i -> v[(k - k) + i])"),
    row("hoist", "n is not 0 or 1", Work, "build 0 (fun i -> sin x)"),
    random("hoist", "e total, or 0 < n, or guarded by that test", Wrong),
    row(
        "hoist-array",
        "i and s are not free in e",
        Scope,
        "build (length v) (fun k -> ifold (fun s i -> s + exp (sin (w[i] * v[k]))) 0.0 (length w))",
    ),
    row("hoist-array", "e is worth an array", Work, "build 2 (fun k -> ifold (fun s i -> s + w[i] * 2.0 * double k) 0.0 (length w))"),
    row("hoist-array", "k is not 0 or 1", Work, "build 1 (fun k -> ifold (fun s i -> s + exp (sin (w[i] * w[i]))) 0.0 (length w))"),
    random("hoist-array", "e total, else guarded by 0 < k", Wrong),
    row(
        "hoist-array",
        "0 <= n, else max 0 n elements",
        Wrong,
        "build (length v) (fun k -> ifold (fun s i -> s + exp (sin (x * double i))) v[k] n)",
    ),
    row(
        "hoist-window",
        "i and s are not free in e",
        Scope,
        "build (length v) (fun k -> ifold (fun s i -> if i <= k then s + exp (sin (w[i] * v[k])) else s) 0.0 (length w))",
    ),
    row(
        "hoist-window",
        "e is worth an array",
        Work,
        "build 2 (fun k -> ifold (fun s i -> if i <= k then s + w[i] * 2.0 * double k else s) 0.0 (length w))",
    ),
    row(
        "hoist-window",
        "wherever c i j holds, 0 <= w < k and c w j do",
        Wrong,
        "build (length v) (fun i -> ifold (fun s j -> if j < i * i then s + exp (sin (w[j] * w[j])) else s) 0.0 9)",
    ),
    row(
        "hoist-window",
        "0 <= n, else max 0 n elements",
        Wrong,
        "build (length v) (fun k -> ifold (fun s i -> if i <= k then s + exp (sin (x * double i)) else s) v[k] n)",
    ),
    by(
        "hoist-check",
        "i and x are not free in c",
        Scope,
        "topdown get-build ; hoist-check",
        "build n (fun i -> (build 3 (fun j -> x))[i])",
    ),
    by(
        "hoist-check",
        "copying n costs nothing",
        Work,
        "topdown get-build ; hoist-check",
        "build (index (x * x)) (fun i -> (build 9 (fun j -> x))[k])",
    ),
    random("hoist-check", "0 < n, else guarded by that test", Wrong),
    row(
        "array-absorb",
        "g uses no variable that f binds",
        Scope,
        "let a = build k (fun i -> exp (double i)) in let t = sin x in ifold (fun s i -> s + a[i] * t) (ifold (fun s i -> s + a[i] * t) 0.0 k) k",
    ),
    row("array-absorb", "g is evaluated for all j", Work, "let a = build 9 (fun i -> exp (double i)) in a[k] * 2.0 + a[l] * 2.0"),
    row(
        "array-reuse",
        "e has a loop or a function",
        Idle,
        "let a = build (length v) (fun i -> v[i]) in ifold (fun s j -> s + v[j] * a[k]) 0.0 (length v)",
    ),
    row(
        "array-reuse",
        "0 <= j && j < n",
        Wrong,
        "let a = build 1 (fun i -> ifold (fun t k -> t + x * double i) 0.0 3) in ifold (fun s j -> s + ifold (fun t k -> t + x * double j) 0.0 3) a[0] 5",
    ),
    row("common", "e is worth sharing", Idle, "fst p * snd p * fst p * snd p"),
    row(
        "common",
        "one of them is always evaluated",
        Wrong,
        "(if x < 0.5 then v[k] * 2.0 else 0.0) + (if y < 0.5 then v[k] * 2.0 else 0.0)",
    ),
    // 8b
    by("mul-neg", "compound b", Endless, MINUS, "x * -(2.0)"),
    by("mul-neg", "compound a", Endless, MINUS, "-(2.0) * x"),
    by("div-neg", "compound a", Endless, QUOTIENT, "-(2.0) / x"),
    by("div-neg", "compound b", Endless, QUOTIENT, "x / -(2.0)"),
    // -(-2^63) is itself, which a quotient of Indexes tells
    row("div-neg", "double a", Wrong, "-(-9223372036854775807 - 1 + (length v - length v)) / 2"),
    row(
        "div-neg",
        "double b",
        Wrong,
        "(-9223372036854775807 - 1 + (length v - length v)) / -(-9223372036854775807 - 1 + (length v - length v))",
    ),
    row("neg-literal", "double a", Wrong, "-(-9223372036854775808 / (2 + (length v - length v)))"),
    row("neg-literal", "double b", Wrong, "-((-9223372036854775807 - 1 + (length v - length v)) / -9223372036854775808)"),
    by("neg-literal", "literal a", Endless, MINUS, "-(x * y)"),
    by("neg-literal", "literal b", Endless, MINUS, "-(x * y)"),
    by("neg-literal", "literal a", Endless, QUOTIENT, "-(x / y)"),
    by("neg-literal", "literal b", Endless, QUOTIENT, "-(x / y)"),
    row("add-zero", "loose e", Strict, "x + 0.0"),
    row("add-zero", "loose e", Strict, "0.0 + x"),
    by("order", "a and b are variables or elements and a is bound first, or a is a literal factor", Endless, "repeat order", "x * y"),
    row("div-sum", "double c", Wrong, "(k - 7 + (m + k) * length v) / length v"),
    row("zero-div", "double e", Lost, "0 / length v"),
    by("cancel", LESS, Endless, "repeat cancel", "x * y"),
    by("factor", LESS, Endless, "repeat factor", "x + y"),
    row(
        "distribute",
        "c holds in one iteration of the enclosing loop, or is invariant in it",
        Work,
        "ifold (fun s i -> s + ((if v[i] > 0.0 then x else 0.0) + y * v[i]) * z) 0.0 (length v)",
    ),
    row("reciprocal", "f divides by z four times or more, or by z and 1 by z", Work, "let z = x * x in y / z"),
    row("let-scale", "x is not free in f, a", Wrong, "let z = sin x in 2.0 * z - 2.0 * (z * y) + z"),
    row("let-scale", "f has it twice or more, or in a loop", Idle, "let z = sin x in 2.0 * z + y"),
    row("reciprocal-loop", "i is not free in z", Scope, "ifold (fun s i -> x / s) y n"),
    row("reciprocal-loop", "z total", Wrong, "build k (fun i -> x / v[k])"),
    row("reciprocal-loop", "n is no small literal", Work, "build 3 (fun i -> double i / x)"),
    by(
        "reciprocal-loop",
        "z depends on the enclosing loop, if there is one",
        Work,
        "one reciprocal-loop",
        "build (length v) (fun k -> build (length v) (fun i -> v[i] / x))",
    ),
    // 8c
    random("get-build", "0 <= i && i < n, else the check stays", Lost),
    random("length-build", CHECKED, Lost),
    row("get-select", "0 <= i && i < 2", Lost, "[x, y][k]"),
    by("length-size", CHECKED, Lost, "topdown length-size ; let-dead", "let z = build k (fun i -> x) in length z"),
    random("build-eta", "a total", Wrong),
    random("build-eta", "n is the length of a", Wrong),
    by(
        "build-one-hot",
        "e is not atomic",
        Endless,
        "repeat (topdown build-one-hot)",
        "build (length v) (fun k -> let a = build (length v) (fun i -> if i = k then x else 0.0) in a[k])",
    ),
    row("build-one-hot", "i is not free in k", Scope, "let a = build (length v) (fun i -> if i = i then sin v[i] else 0.0) in a"),
    random("build-one-hot", "0 <= k && k < n", Wrong),
    // 8d
    by("if-and", "atomic b", Size, "normalize if-and", "if a && b && c && d && e then x else sin (y * y * y * y * y * y * y * y * y)"),
    row("if-assume", "what is substituted for its equal is an Index", Wrong, "if x = y then x + max (1.0 / y) 0.0 else 0.0"),
    row("if-equal", "what is substituted for its equal is an Index", Wrong, "if x = y then max (1.0 / y) 0.0 else max (1.0 / x) 0.0"),
    by("eq-order", "i is bound in an outer scope", Endless, "repeat (topdown eq-order)", "if k = l then x else y"),
    by(
        "if-float",
        "f a or f b then simplifies",
        Size,
        "normalize if-float",
        "(if a < b then x else y) * (if b < c then x else y) * (if c < d then x else y) * (if d < a then x else y)",
    ),
    row(
        "if-float",
        "f is small",
        Size,
        "(if a < b then 0.0 else x) * (y * y * y * y * y * y * y * y * y * y * y * y * y * y * y * y * y * y * y * y)",
    ),
    by("check-true", "c is provable", Lost, "topdown get-build ; topdown check-true", "(build 3 (fun j -> x))[k]"),
    row(
        "if-merge",
        "d and e use no variable bound in between",
        Scope,
        "let p = (if x < y then x else y) in let m = sin x in let q = (if x < y then m else y) in p * q * m",
    ),
    // 8e
    row(
        "array-split",
        "copying n costs nothing",
        Work,
        "let p = build (index (x * x + 3.0)) (fun i -> (double i, x)) in build 2 (fun i -> fst p[i] * snd p[i])",
    ),
    row(
        "array-split",
        "no work is duplicated",
        Work,
        "let p = build k (fun i -> let t = exp (sin v[i]) in (t + 1.0, t * 2.0)) in build k (fun i -> fst p[i] * snd p[i])",
    ),
    row(
        "build-fission",
        "copying n costs nothing",
        Work,
        "let a = build (index (x * x + 3.0)) (fun i -> let t = sin x in build 2 (fun k -> t * v[k])) in a[0][1]",
    ),
    row(
        "build-fission",
        "x is then fused away",
        Work,
        "let a = build k (fun i -> let t = sin x in build 9 (fun j -> exp (t * double j))) in build 9 (fun j -> a[0][j] + a[1][j])",
    ),
    row(
        "build-fission",
        "few variables are captured",
        Work,
        "let a = build k (fun i -> let p = sin x in let q = cos x in let r = exp x in let s = tan x in let t = sqrt x in build 2 (fun j -> p + q + r + s + t + double j)) in build 2 (fun j -> build k (fun i -> a[i][j]))",
    ),
    row("array-to-tuple", "x is only indexed by literals", Scope, "let a = [x, y] in a[k] * a[0]"),
    row("fold-to-tuple", "s is only indexed by literals", Scope, "ifold (fun s i -> [s[i % 2], s[0] * x]) [x, y] n"),
    // 8f
    by("fold-unroll", "few steps and a small f", Size, "repeat (topdown fold-unroll)", "ifold (fun s i -> s * x + y) z 40"),
    row("fold-unroll", "0 <= n", Wrong, "ifold (fun s i -> s * x + y) x (k + 1)"),
    random("fold-id", CHECKED, Lost),
    row("fold-final", "a is not free in e", Scope, "ifold (fun s i -> s + x) y 9"),
    random("fold-final", CHECKED, Lost),
    row("fold-one-hot", "a and i are not free in k", Scope, "ifold (fun s i -> if i = i * i then s + x else s) 0.0 (length v)"),
    row(
        "if-divide",
        "b is atomic",
        Size,
        "ifold (fun s i -> if j = 2 * i then s else s + (sin x + sin y) * (sin x - sin y) / (cos x * cos y + sin z * sin z)) y (length v)",
    ),
    row("if-divide", "j is loop-invariant", Work, "ifold (fun s i -> let j = i * i in if j = 2 * i then s * x else s) y (length v)"),
    row("if-divide", "2 * i and j do not wrap", Wrong, "ifold (fun s i -> if j = 4611686018427387904 * i then s + x else s) y 9"),
    random("mul-if", "a total", Lost),
    row("update-array", "no work is duplicated", Work, "accumulate (if exp x < y then [exp y, y, x] else [exp x, x, y]) 0 y"),
    row("get-update", "0 <= i && i < length a", Lost, "(update v k x)[k]"),
    row("update-update", "x total, or kept", Lost, "update (update v 0 v[k]) 0 x"),
    row("update-same", "0 <= i && i < length a", Lost, "update v k v[k]"),
    row("collect-build", "a is not free in e", Scope, "ifold (fun a i -> accumulate a i a[0]) v (length v)"),
    row("collect-build", "no row is copied", Work, "ifold (fun b k -> ifold (fun a i -> update a i (update a[i] 0 x)) b (length b)) M 9"),
    row("collect-build", "n is the length of z", Wrong, "ifold (fun a i -> accumulate a i x) v 1"),
    row(
        "collect-swap",
        "a is not free in e",
        Wrong,
        "ifold (fun a i -> ifold (fun b j -> update b j (accumulate b[j] i (x * b[0][matrixCols M - 1]))) a (length M)) M (matrixCols M)",
    ),
    row(
        "collect-swap",
        "e total",
        Status,
        "ifold (fun a i -> ifold (fun b j -> update b j (accumulate b[j] i (double (1 / (1 - i)) + (if j = 1 then v[99] else 0.0)))) a (length M)) M (matrixCols M)",
    ),
    row(
        "collect-swap",
        "m is the length of z, and n of its rows",
        Idle,
        "ifold (fun a i -> ifold (fun b j -> update b j (accumulate b[j] i x)) a (length M)) M 1",
    ),
    row("collect-shifted", "a is not free in e", Scope, "ifold (fun a i -> if 0 < i then accumulate a (i - 1) a[0] else a) v (length v)"),
    row("collect-shifted", "e total", Lost, "ifold (fun a i -> let y = v[k] in if 0 < i then accumulate a (i - 1) y else a) v (length v)"),
    row("collect-shifted", "0 <= i + c && i + c < length z", Lost, "ifold (fun a i -> accumulate a (i + 1) x) v (length v)"),
    row("collect-shifted", "0 <= n", Lost, "ifold (fun a i -> accumulate a (i + 1) x) v (length v - 1)"),
    row(
        "collect-shifted",
        "several shifts share no loop, quotient, root or function",
        Work,
        "ifold (fun a i -> let y = sin v[i] in if 0 < i then accumulate (accumulate a i y) (i - 1) y else a) v (length v)",
    ),
    row(
        "build-scatter",
        "k, e, m and z fail in one way",
        Status,
        "build (length v) (fun r -> ifold (fun s i -> let k = 1 / (1 - i) in if r = k then s + v[i + 99] else s) 0.0 (length v))",
    ),
    row(
        "build-scatter",
        "what waits for r is total",
        Lost,
        "build (length v) (fun r -> ifold (fun s i -> let y = v[r + 99] in if r = i * i + 99 then s + y else s) 0.0 (length v))",
    ),
    random("build-band", "a, b, k and l total", Wrong),
    row("fold-range", "a and b are loop-invariant", Scope, "ifold (fun s i -> if i < i * i then s + x else s) y 9"),
    row("fold-range", "a, b and b - a do not wrap", Wrong, "ifold (fun s i -> if i + 9223372036854775807 < 0 then s + x else s) y 9"),
    random("fold-range", "0 <= n, else the check stays", Lost),
    random("if-swap", "d total", Wrong),
    random("fold-one-hot", "k total, or 0 < n", Wrong),
    random("fold-one-hot", "0 <= k && k < n, else guarded by that test", Wrong),
    random("fold-one-hot", CHECKED, Lost),
    row("sum-one-hot", "loose e", Strict, "ifold (fun s i -> s + (if i = 1 then x else 0.0)) (-0.0) 1"),
    row("sum-one-hot", "a and i are not free in k", Scope, "ifold (fun s i -> s + (if i = i * i then x else 0.0)) 0.0 (length v)"),
    random("sum-one-hot", "k total, or 0 < n", Wrong),
    random("sum-one-hot", "0 <= k && k < n, else guarded by that test", Wrong),
    random("sum-one-hot", CHECKED, Lost),
    row("fold-unswitch", "a and i are not free in c", Scope, "ifold (fun s i -> if v[i] > 0.0 then s + x else s) 0.0 (length v)"),
    random("fold-unswitch", "c total, or 0 < n", Wrong),
    random("fold-unswitch", CHECKED, Lost),
    row("sum-split", "s is not free in a", Wrong, "ifold (fun s i -> s + s * x + (if i = k then y else 0.0)) 1.0 (length v)"),
    row(
        "sum-split",
        "c holds for one i, or is invariant in i",
        Work,
        "ifold (fun s i -> let t = exp v[i] in s + (t * x + (if v[i] > 0.0 then t else 0.0))) 0.0 (length v)",
    ),
    row("sum-few", "s is not free in e", Wrong, "ifold (fun s i -> s + (s * x + y * (if i = k then y else 0.0))) 1.0 (length v)"),
    row(
        "sum-few",
        "e is short",
        Size,
        "ifold (fun s i -> s + (v[0] + w[0]) * (v[0] + w[1]) * (v[0] + w[2]) * (v[0] + w[3]) * (v[1] + w[0]) * (v[1] + w[1]) * (v[1] + w[2]) * (v[1] + w[3]) * (v[2] + w[0]) * (v[2] + w[1]) * (v[2] + w[2]) * (v[2] + w[3]) * ((if i = k then x else 0.0) + (if i = m then y else 0.0) + (if i = n then z else 0.0))) 0.0 9",
    ),
    row(
        "sum-branch",
        "s is not free in a, b, c, d",
        Wrong,
        "ifold (fun s i -> s + (if v[i] > 0.0 then s * x + (if i = 1 then y else 0.0) else y)) 1.0 (length v)",
    ),
    row(
        "sum-branch",
        "i is not free in k",
        Idle,
        "ifold (fun s i -> s + (if v[i] > 0.0 then (if i = i * i then x else 0.0) + y else x)) 0.0 (length v)",
    ),
    random("sum-branch", "k total", Wrong),
    by(
        "sum-branch",
        "c holds in more than one step, or d is not 0",
        Endless,
        "repeat (topdown sum-branch)",
        "ifold (fun s i -> s + (if i = 1 then (if i = k then x else 0.0) else 0.0)) 0.0 (length v)",
    ),
    row("let-sink", "x is not free in c", Scope, "let x = sin y in if x < 1.0 then x else z"),
    row("sum-linear", "copying n costs nothing", Work, "ifold (fun s i -> s + x) 0.0 (index (exp (sin (y * y) * 0.01)))"),
    row("sum-linear", "s is not free in a", Wrong, "ifold (fun s i -> s + (s * y + x)) 1.0 k"),
    row("sum-linear", "s and i are not free in c, d", Scope, "ifold (fun s i -> s + double i * x) 0.0 k"),
    random("sum-linear", "c and d total", Wrong),
    row(
        "sum-linear",
        "at most one loop stays inside the enclosing loop",
        Work,
        "ifold (fun s i -> let t = exp (cos (sin (double i))) in s + (x * t + y * sin t)) 0.0 k",
    ),
    row(
        "sum-linear",
        "c and d have no pole at n = 0, or 0 < n, else guarded by that test",
        Wrong,
        "ifold (fun s i -> s + double i / double k) x k",
    ),
    row("sum-linear", CHECKED, Lost, "ifold (fun s i -> s + x) 0.0 k"),
    row(
        "sum-swap",
        "the counts are loop-invariant",
        Scope,
        "build 2 (fun k -> ifold (fun s i -> s + v[i] * ifold (fun t j -> t + v[i] * (double k * double j)) 0.0 i) 0.0 (length v))",
    ),
    row(
        "sum-swap",
        "the counts are not negative",
        Wrong,
        "build 2 (fun k -> ifold (fun s i -> s + v[i] * ifold (fun t j -> t + v[i] * (double k * double j)) 0.0 p) 0.0 (length v))",
    ),
    row(
        "sum-swap",
        "b depends on the enclosing loop, and c and a can be hoisted out of it",
        Work,
        "build 2 (fun k -> ifold (fun s i -> s + v[i] * ifold (fun t j -> t + v[i] * double j) 0.0 9) 0.0 (length v))",
    ),
    row(
        "sum-swap",
        "b total and without a pole at n = 0, or 0 < n",
        Wrong,
        "build 2 (fun k -> ifold (fun s i -> s + v[i] * ifold (fun t j -> t + v[i] * (double k * u[j])) 0.0 (length w)) 0.0 (length v))",
    ),
    row(
        "fold-last",
        "e depends on the enclosing loop, and f and c are invariant in it",
        Work,
        "ifold (fun s i -> (max (fst s) v[i], if fst s >= v[i] then snd s else x)) (0.0, 0.0) (length v)",
    ),
    row(
        "fold-last",
        "nothing else reads s.1",
        Scope,
        "build 2 (fun k -> ifold (fun s i -> (max (fst s) (snd s), if fst s >= v[i] then snd s else double k)) (0.0, 0.0) (length v))",
    ),
    row("build-blocks", "f has work that depends on i / 2 alone", Idle, "build (2 * length v) (fun i -> v[i / 2] * w[i / 2])"),
    row(
        "fold-blocks",
        "f has work that depends on i / 2 alone, or asks for i % 2",
        Idle,
        "ifold (fun s i -> s + v[i / 2]) z (2 * length v)",
    ),
    row("fold-start", "0 <= k && k < 9", Wrong, "ifold (fun s i -> (fst s + x, snd s * y + (if i = k then fst s else 0.0))) (x, 0.0) 9"),
    row("build-scan", "0 <= k && k < n", Wrong, "build (length v) (fun i -> ifold (fun s j -> s * x) y (i + 3))"),
    row("build-scan", "f and z are the same for all i", Scope, "build (length v) (fun i -> ifold (fun s j -> s * v[i]) y i)"),
    row("build-scan", "f and z total", Wrong, "build (length v) (fun i -> ifold (fun s j -> s * v[j + 1]) y i)"),
    row("fold-scan", "f and z are the same for all i", Scope, "ifold (fun a i -> a + ifold (fun s j -> s * v[i]) y i) 0.0 (length v)"),
    row("fold-scan", "f and z total", Wrong, "ifold (fun a i -> a + ifold (fun s j -> s * v[j + 1]) y i) 0.0 (length v)"),
    row(
        "fold-transpose",
        "steps from the end are the same for all i",
        Work,
        "build (length v) (fun i -> ifold (fun s j -> s * double j) x (length v - 1 - i))",
    ),
    row(
        "fold-transpose",
        "z has no pole where n - i is 0",
        Wrong,
        "build (length v) (fun i -> fst (ifold (fun (a, b) j -> (a * v[i + j + 1] + b, b)) (x, 1.0 / double (length v - 1 - i)) (length v - 1 - i)))",
    ),
    row("build-unroll", "few elements and a small f", Size, "build 40 (fun i -> sin (double i * x))"),
    // 8g
    row(
        "fold-fission",
        "e does not use all components, or the separated loop then simplifies",
        Work,
        "let s = ifold (fun s i -> let t = exp (exp v[i]) in (fst s + t, snd s + t * x)) (0.0, 0.0) (length v) in fst s * snd s",
    ),
    row(
        "fold-apart",
        "the separated loop then simplifies",
        Work,
        "ifold (fun s i -> let t = exp (exp v[i]) in (fst s + t, snd s + t * x)) (0.0, 0.0) (length v)",
    ),
    row(
        "fold-share",
        "no work is done twice",
        Work,
        "ifold (fun s i -> let t = exp (exp v[i]) in (accumulate (fst s) i (t * x), accumulate (snd s) i (t + x))) (v, v) (length v)",
    ),
    row(
        "fold-merge",
        "f uses both, and binds none of their free variables",
        Scope,
        "let a = ifold (fun s i -> s + v[i]) 0.0 (length v) in a * ifold (fun s i -> s + v[i] * a) 0.0 (length v)",
    ),
    row("fold-merge", "they read one array", Idle, "ifold (fun s i -> s + x) 0.0 k * ifold (fun s i -> s + y) 0.0 k"),
    row(
        "fold-merge",
        "they share a quotient, a root, a function or a long sum of i, or are in no loop",
        Idle,
        "build k (fun j -> ifold (fun s i -> s + v[i]) 0.0 (length v) * ifold (fun s i -> s + exp v[i]) 0.0 (length v))",
    ),
    row(
        "fold-consume",
        "x is not free in the rest of f",
        Scope,
        "let a = build k (fun i -> sin v[i]) in a[0] * ifold (fun s i -> s + a[i]) 0.0 k * ifold (fun s i -> s + a[i] * a[i]) 0.0 k",
    ),
    row(
        "fold-consume",
        "f uses both, and binds none of their free variables",
        Scope,
        "let a = build k (fun i -> sin v[i]) in let b = ifold (fun s i -> s + a[i]) 0.0 k in b * ifold (fun s i -> s + a[i] * b) 0.0 k",
    ),
];
