//! `smoothc rewrite`: every rule and every combinator on an expression, as a user writes and reads them.
//!
//! A row of the table is a strategy, an expression, and what is printed, or nothing where the strategy does not
//! apply. What is printed is read again and printed the same, unless it holds a `check`, for which the source
//! language has no form, or is an integer, which alone is read as a Double.

use smoothc::driver::{Schedule, rewrite_expression};
use smoothc::rewrite::{Options, rules};
use smoothc::source::SourceMap;
use smoothc::stack::with_large_stack;

use crate::support::command::smoothc;

const RULES: &[(&str, &str, &str)] = &[
    // 8a
    ("let-inline", "let x = y in x + x", "y + y"),
    ("let-inline", "let x = sin y in x * 2.0", "sin y * 2.0"),
    ("let-inline", "let x = sin y in x * x", ""),
    ("let-inline", "let x = sin y in build n (fun i -> x)", ""),
    // a sparse matrix in sums over its rows; not one that is dense, nor where no index is selected
    (
        "let-inline",
        "let W = build 9 (fun i -> build 8 (fun r -> (if i = r then exp x * v[i] else 0.0) + (if i = k then sin y * v[r] else 0.0))) in build 8 (fun a -> build 8 (fun b -> ifold (fun t i -> t + W[i][a] * W[i][b]) 0.0 9))",
        "build 8 (fun a -> build 8 (fun b -> ifold (fun t i -> t + (build 9 (fun i_1 -> build 8 (fun r -> (if i_1 = r then exp x * v[i_1] else 0.0) + (if i_1 = k then sin y * v[r] else 0.0))))[i][a] * (build 9 (fun i_2 -> build 8 (fun r_1 -> (if i_2 = r_1 then exp x * v[i_2] else 0.0) + (if i_2 = k then sin y * v[r_1] else 0.0))))[i][b]) 0.0 9))",
    ),
    (
        "let-inline",
        "let W = build 9 (fun i -> build 8 (fun r -> (if i = r then exp x * v[i] else exp y) + (if i = k then sin y * v[r] else 0.0))) in build 8 (fun a -> build 8 (fun b -> ifold (fun t i -> t + W[i][a] * W[i][b]) 0.0 9))",
        "",
    ),
    (
        "let-inline",
        "let W = build 9 (fun i -> build 8 (fun r -> (if k = 3 then exp x * v[i] else 0.0) + (if k = 2 then sin y * v[r] else 0.0))) in build 8 (fun a -> build 8 (fun b -> ifold (fun t i -> t + W[i][a] * W[i][b]) 0.0 9))",
        "",
    ),
    ("let-dead", "let x = a * b in y", "y"),
    ("let-dead", "let x = a * b in x", ""),
    ("let-flatten", "let x = (let y = a * b in y + y) in x * x", "let y = a * b in let x = y + y in x * x"),
    ("let-split", "let p = (sin a, b) in fst p * snd p", "let p_0 = sin a in fst (p_0, b) * snd (p_0, b)"),
    ("let-float", "sin (let x = a * a in x + x)", "let x = a * a in sin (x + x)"),
    ("let-float", "build n (fun i -> let x = v[i] in x * x)", ""),
    ("let-merge", "let x = a * b in let y = a * b in x + y", "let x = a * b in x + x"),
    ("let-swap", "let x = sin a in let y = cos a in x * y", "let y = cos a in let x = sin a in x * y"),
    ("let-swap", "let x = sin a in let y = cos x in x * y", ""),
    ("topdown let-merge", "let x = a * b in let y = a * b in x + y", "let x = a * b in x + x"),
    ("beta", "vectorSum v", "let v_1 = v in ifold (fun s i -> s + v_1[i]) 0.0 (length v_1)"),
    ("beta", "f x", ""),
    ("hoist", "build n (fun i -> exp c * v[i])", "let t = exp c in build n (fun i -> t * v[i])"),
    ("hoist", "build n (fun i -> u[k] * v[i])", ""),
    // from a branch that all iterations take or none, a function leaves behind the condition; a product is not worth that
    (
        "hoist",
        "build n (fun i -> if c < 0.0 then exp c * v[i] else v[i])",
        "let t = if c < 0.0 then exp c else 0.0 in build n (fun i -> if c < 0.0 then t * v[i] else v[i])",
    ),
    ("hoist", "build n (fun i -> if c < 0.0 then c * c * v[i] else v[i])", ""),
    ("hoist", "build n (fun i -> if v[i] < 0.0 then exp c * v[i] else v[i])", ""),
    // a name stands for it in its own branch alone, and outside of branches it is the same in all
    (
        "hoist",
        "build n (fun i -> (if c < 0.0 then exp c else v[i]) + (if a < 0.0 then v[i] else exp c))",
        "let t = if c < 0.0 then exp c else 0.0 in let t_1 = if a < 0.0 then 0.0 else exp c in build n (fun i -> (if c < 0.0 then t else v[i]) + (if a < 0.0 then v[i] else t_1))",
    ),
    (
        "hoist",
        "build n (fun i -> (if c < 0.0 then exp c else v[i]) + exp c)",
        "let t = exp c in build n (fun i -> (if c < 0.0 then t else v[i]) + t)",
    ),
    (
        "hoist-array",
        "build (length v) (fun k -> ifold (fun s i -> s + exp (sin (w[i] * w[i])) * v[k]) 0.0 (length w))",
        "let t = build (length w) (fun i -> exp (sin (w[i] * w[i]))) in build (length v) (fun k -> ifold (fun s i_1 -> s + t[i_1] * v[k]) 0.0 (length w))",
    ),
    (
        "hoist-array",
        "build (length v) (fun k -> ifold (fun s i -> let a = build 3 (fun j -> w[i] * double j) in s + v[k] * ifold (fun m j -> m + exp a[j]) 0.0 3) 0.0 (length w))",
        "let sum = build (length w) (fun i -> ifold (fun m j -> m + exp (build 3 (fun j_1 -> w[i] * double j_1))[j]) 0.0 3) in build (length v) (fun k -> ifold (fun s i_1 -> let a = build 3 (fun j_2 -> w[i_1] * double j_2) in s + v[k] * sum[i_1]) 0.0 (length w))",
    ),
    (
        "topdown hoist-array",
        "build n (fun i -> let u = v in ifold (fun s j -> s + u[j] * w[i] * sin (sin (double j))) 0.0 (length u))",
        "let t = build (length v) (fun j -> sin (sin (double j))) in build n (fun i -> let u = v in ifold (fun s j_1 -> s + u[j_1] * w[i] * t[j_1]) 0.0 (length u))",
    ),
    (
        "hoist-window",
        "build (length v) (fun i -> ifold (fun s j -> if j <= i then s + exp (sin (w[j] * w[j])) * v[i] else s) 0.0 (length w))",
        "let t = build (length w) (fun j -> if j < length v then exp (sin (w[j] * w[j])) else 0.0) in build (length v) (fun i -> ifold (fun s j_1 -> if j_1 <= i then s + t[j_1] * v[i] else s) 0.0 (length w))",
    ),
    (
        "hoist-window",
        "build (length v) (fun i -> ifold (fun s k -> s + ifold (fun t j -> if i < j + 1 then t + v[i] * exp (sin (w[j] * M[k][j])) else t) 0.0 (length w)) 0.0 (length M))",
        "let t = build (length M) (fun k -> build (length w) (fun j -> if 0 < length v then exp (sin (w[j] * M[k][j])) else 0.0)) in build (length v) (fun i -> ifold (fun s k_1 -> s + ifold (fun t_1 j_1 -> if i < j_1 + 1 then t_1 + v[i] * t[k_1][j_1] else t_1) 0.0 (length w)) 0.0 (length M))",
    ),
    (
        "hoist-window",
        "build (length v) (fun i -> if i < k then ifold (fun s j -> s + v[i] * exp (sin w[j])) 0.0 (length w) else 0.0)",
        "let t = build (length w) (fun j -> if 0 < k then if 0 < length v then exp (sin w[j]) else 0.0 else 0.0) in build (length v) (fun i -> if i < k then ifold (fun s j_1 -> s + v[i] * t[j_1]) 0.0 (length w) else 0.0)",
    ),
    (
        "hoist-window",
        "build (length v) (fun i -> if i < 5 then v[i] * ifold (fun s j -> s + w[j]) 0.0 (length w) else 0.0)",
        "let sum = if 0 < length v then ifold (fun s j -> s + w[j]) 0.0 (length w) else 0.0 in build (length v) (fun i -> if i < 5 then v[i] * sum else 0.0)",
    ),
    ("hoist-window", "build (length v) (fun i -> if i < 5 then v[i] * exp (sin x) else 0.0)", ""),
    ("hoist-window", "build (length v) (fun i -> ifold (fun s j -> if j < i * i then s + exp (sin (w[j] * w[j])) else s) 0.0 9)", ""),
    (
        "topdown get-build ; hoist-check",
        "build n (fun i -> (build 3 (fun j -> x))[k])",
        "check n <= 0 || 0 <= k && k < 3 else BOUNDS in build n (fun i -> x)",
    ),
    (
        "topdown get-build ; hoist-check",
        "build n (fun i -> let t = sin v[i] in (build 3 (fun j -> t))[k])",
        "check n <= 0 || 0 <= k && k < 3 else BOUNDS in build n (fun i -> let t = sin v[i] in t)",
    ),
    (
        "array-absorb",
        "let a = build n (fun i -> exp v[i]) in ifold (fun s i -> s + (a[i] - w[i])) 0.0 n * (a[0] - w[0])",
        "let a = build n (fun i -> exp v[i] - w[i]) in ifold (fun s i_1 -> s + a[i_1]) 0.0 n * a[0]",
    ),
    (
        "array-reuse",
        "let a = build (length w) (fun i -> ifold (fun t k -> t + M[i][k]) 0.0 m - w[i]) in a[0] * ifold (fun s j -> s + (ifold (fun t k -> t + M[j][k]) 0.0 m - w[j])) 0.0 (length w)",
        "let a = build (length w) (fun i -> ifold (fun t k -> t + M[i][k]) 0.0 m - w[i]) in a[0] * ifold (fun s j -> s + a[j]) 0.0 (length w)",
    ),
    (
        "array-reuse",
        "let b = ifold (fun s j -> s + exp (ifold (fun t k -> t + M[j][k]) 0.0 m)) 0.0 n in let a = build n (fun i -> ifold (fun t k -> t + M[i][k]) 0.0 m) in a[0] * b",
        "let a = build n (fun i -> ifold (fun t k -> t + M[i][k]) 0.0 m) in let b = ifold (fun s j -> s + exp a[j]) 0.0 n in a[0] * b",
    ),
    ("common", "sin x * (if i = j then sin x else y)", "let t = sin x in t * (if i = j then t else y)"),
    // 8b
    ("add-zero", "x + 0.0", "x"),
    ("add-zero", "0.0 + x", "x"),
    ("add-zero", "x + 1.0", ""),
    ("mul-one", "1.0 * x", "x"),
    ("topdown const-fold ; mul-minus", "x * -1.0", "-x"),
    ("div-one", "x / 1.0", "x"),
    ("pow-one", "x ** 1.0", "x"),
    ("pow-two", "x ** 2.0", "x * x"),
    ("pow-two", "sin x ** 2.0", "let base = sin x in base * base"),
    ("neg-neg", "-(-x)", "x"),
    ("add-neg-sub", "x + -y", "x - y"),
    ("mul-neg", "-x * -y", "x * y"),
    ("mul-neg", "x * -(sin y)", "-(x * sin y)"),
    ("div-neg", "-(sin x) / y", "-(sin x / y)"),
    ("div-neg", "-(length v + 1) / 2", ""),
    ("neg-literal", "-(7 / length v)", ""),
    ("neg-literal", "-(2.0 * x)", "-2.0 * x"),
    ("const-fold", "2.0 * 3.0", "6.0"),
    ("innermost const-fold", "1 + 2 = 3", "true"),
    ("topdown index-collect", "v[k + 1 + (l - k - 1)]", "v[l]"),
    ("topdown index-collect", "v[l - 1 - k]", ""),
    ("topdown index-collect", "v[k / 2 - k / 2]", ""),
    ("mul-zero", "x * 0.0", "0.0"),
    ("sub-self", "v[i] - v[i]", "0.0"),
    ("add-neg", "sin x + -(sin x)", "0.0"),
    ("zero-div", "0.0 / x", "0.0"),
    ("zero-sub", "0.0 - x", "-x"),
    ("neg-zero", "-0.0", "0.0"),
    ("cancel", "a * b / a", "b"),
    ("div-sum", "(x - y * z) / z", "x / z - y"),
    ("div-sum", "(z * y - x) / z", "y - x / z"),
    ("div-sum", "(-(y * z) + x) / z", "-y + x / z"),
    ("div-sum", "(k + m * length v) / length v", ""),
    // 8c
    ("get-build", "(build (length v) (fun i -> v[i] * 2.0))[k]", "check 0 <= k && k < length v else BOUNDS in v[k] * 2.0"),
    ("get-build", "(build 5 (fun i -> double i))[3]", "double 3"),
    ("get-build", "(build n f)[i]", "check 0 <= i && i < n else BOUNDS in f i"),
    ("length-build", "length (build (length v) (fun i -> 1.0))", "length v"),
    ("length-build", "length (build n f)", "check 0 <= n else NEGATIVE in n"),
    ("get-array", "[a, b, c][1]", "b"),
    ("get-array", "[a, b, c][k]", ""),
    ("length-array", "length [a, b, c]", "3"),
    ("length-size", "length v", "length v"),
    ("length-size", "length (update v k x)", "length v"),
    ("length-size", "length (if x > 0.0 then build k (fun i -> x) else build k (fun i -> y))", "check 0 <= k else NEGATIVE in k"),
    ("build-eta", "build (length v) (fun i -> v[i])", "v"),
    ("build-eta", "build n (fun i -> v[i])", ""),
    // 8d
    ("if-true", "if true then a else b", "a"),
    ("if-false", "if false then a else b", "b"),
    ("if-same", "if x < y then a else a", "a"),
    ("if-not", "if not (x < y) then a else b", "if x < y then b else a"),
    ("if-ne", "if i <> j then v[i] else v[j]", "if i = j then v[j] else v[i]"),
    ("if-and", "if x < y && y < z then a else b", "if x < y then if y < z then a else b else b"),
    ("if-bool", "if x < y then true else false", "x < y"),
    ("topdown if-assume", "build n (fun i -> if i = 0 then v[i] else v[i] * 2.0)", "build n (fun i -> if i = 0 then v[0] else v[i] * 2.0)"),
    ("if-assume", "if x < y then (if x < y then a else b) else c", "if x < y then if true then a else b else c"),
    ("if-assume", "if x < y then a else if x < y then b else c", "if x < y then a else if false then b else c"),
    ("if-assume", "if x < y then a else b", ""),
    ("topdown if-assume", "if x < y then (if x < y then a else b) else c", "if x < y then if true then a else b else c"),
    (
        "topdown eq-solve",
        "ifold (fun s i -> if j = i + 1 then s + v[i] else s) 0.0 n",
        "ifold (fun s i -> if j - 1 = i then s + v[i] else s) 0.0 n",
    ),
    (
        "topdown if-divide",
        "ifold (fun s i -> if j = 2 * i then s + v[i] else s) 0.0 (length v)",
        "ifold (fun s i -> if j % 2 = 0 then if j / 2 = i then s + v[i] else s else s) 0.0 (length v)",
    ),
    ("topdown if-divide", "ifold (fun s i -> if j = 2 * i then s + x else s) 0.0 k", ""),
    (
        "topdown eq-order",
        "build n (fun i -> build n (fun j -> if j = i then 1.0 else 0.0))",
        "build n (fun i -> build n (fun j -> if i = j then 1.0 else 0.0))",
    ),
    ("if-collect", "(if x < y then a else 0.0) - b + (if x < y then c else 1.0)", "(if x < y then a + c else 0.0 + 1.0) - b"),
    ("if-collect", "(if x < y then a else 0.0) - b + (if x < z then c else 1.0)", ""),
    ("if-float", "(if x < y then 1.0 else 0.0) * a", "if x < y then 1.0 * a else 0.0 * a"),
    ("if-float", "(if x < y then v else w)[i]", "if x < y then v[i] else w[i]"),
    ("if-float", "(if x < y then a else b) * c", ""),
    (
        "if-let",
        "let t = (if x < y then (a, b) else (x, 0.0)) in z + snd t * fst t",
        "if x < y then let t = (a, b) in z + snd t * fst t else z",
    ),
    ("if-let", "let t = (if x < y then (a, b) else (x, 0.0)) in z + fst t", ""),
    ("topdown mul-if", "ifold (fun s i -> s + length v * (if i = 2 then 3 else 0)) 0 (length v)", ""),
    // the zero of a sum type's case is an Index, not the number that a product with it would be
    ("if-let", "let t = (if x < y then (length v, b) else (0, 0.0)) in fst t", ""),
    ("if-let", "let t = (if i = j then a else 0.0) in t * b", "if i = j then let t = a in t * b else 0.0"),
    (
        "if-let",
        "let x = (if i = j then a else 0.0) in x + (if i = j then b else x)",
        "if i = j then let x = a in x + (if i = j then b else x) else 0.0",
    ),
    ("if-let", "let x = (if i = j then a else 0.0) in x + (if i = k then b else x)", ""),
    ("if-join", "(if x < y then a else b) + (if x < y then c else d)", "if x < y then a + c else b + d"),
    ("and-true", "x < y && true", "x < y"),
    ("or-false", "x < y || false", "x < y"),
    (
        "topdown get-build ; all (try check-true)",
        "build (length v) (fun i -> (build (length w) (fun j -> 1.0))[i])",
        "build (length v) (fun i -> check 0 <= i && i < length w else BOUNDS in 1.0)",
    ),
    ("topdown get-build ; topdown check-true", "if 0 <= k && k < 3 then (build 3 (fun j -> x))[k] else y", ""),
    (
        "if-merge",
        "let a = (if x < y then p else q) in let b = (if x < y then r else s) in a * b",
        "let a_2 = if x < y then let a = p in (a, r) else let a_1 = q in (a_1, s) in fst a_2 * snd a_2",
    ),
    (
        "if-components",
        "let p = (if x < y then ((a, b), b) else ((c, d), d)) in fst (fst p) * snd p",
        "let p = if x < y then (a, b) else (c, d) in fst p * snd p",
    ),
    // 8e
    ("array-to-tuple", "let a = [sin x, cos x] in a[0] * a[1]", "let a = (sin x, cos x) in fst a * snd a"),
    (
        "fold-to-tuple",
        "ifold (fun s i -> [s[1], s[0] * x]) [x, y] n",
        "let s_1 = ifold (fun s i -> (snd s, fst s * x)) (x, y) n in [fst s_1, snd s_1]",
    ),
    (
        "fold-to-tuple",
        "ifold (fun s i -> if x < s[0] then s else [s[1], x]) (build 2 (fun k -> y)) n",
        "let s_1 = ifold (fun s i -> if x < fst s then s else (snd s, x)) (y, y) n in [fst s_1, snd s_1]",
    ),
    ("fold-to-tuple", "ifold (fun s i -> build 2 (fun k -> s[i % 2])) [x, y] n", ""),
    ("project", "snd (a, b)", "b"),
    ("let-inline ; topdown project", "let (a, b, c) = (x, y, z) in a * c", "x * (let (_, _, part) = (x, y, z) in part)"),
    ("topdown tuple-eta", "let p = (a, b) in (fst p, snd p)", "let p = (a, b) in p"),
    // 8f
    ("build-unroll", "build 3 (fun i -> v[i] * 2.0)", "[v[0] * 2.0, v[1] * 2.0, v[2] * 2.0]"),
    ("build-unroll", "build n (fun i -> v[i] * 2.0)", ""),
    (
        "build-blocks",
        "build (2 * length v) (fun i -> exp (v[i / 2] * x) * w[i] * double (i % 2))",
        "let blocks = build (length v) (fun q -> [exp (v[q] * x) * w[2 * q] * double 0, exp (v[q] * x) * w[2 * q + 1] * double 1]) in build (2 * length v) (fun i -> blocks[i / 2][i % 2])",
    ),
    // nothing to share, no multiple of 2, a length that may wrap
    ("build-blocks", "build (2 * length v) (fun i -> v[i / 2] * w[i])", ""),
    ("build-blocks", "build (2 * length v + 1) (fun i -> exp (v[i / 2] * x) * w[i])", ""),
    ("build-blocks", "build (2 * k) (fun i -> exp (v[i / 2] * x) * w[i])", ""),
    (
        "build-scan",
        "build (length v) (fun i -> ifold (fun s j -> s * x + v[j]) y i)",
        "let s_1 = snd (ifold (fun s j -> (fst s * x + v[j], update (snd s) j (fst s))) (y, build (length v) (fun i -> y)) (length v)) in build (length v) (fun i_1 -> s_1[i_1])",
    ),
    (
        "build-scan",
        "build (length v) (fun i -> ifold (fun s j -> s * x + v[j]) y (length v - 1 - i) * v[i])",
        "let s_1 = snd (ifold (fun s j -> (fst s * x + v[j], update (snd s) j (fst s))) (y, build (length v) (fun i -> y)) (length v)) in build (length v) (fun i_1 -> s_1[length v - 1 - i_1] * v[i_1])",
    ),
    // a step that reads i, one that may fail, a count that may be n
    ("build-scan", "build (length v) (fun i -> ifold (fun s j -> s * x + v[i]) y i)", ""),
    ("build-scan", "build (length v) (fun i -> ifold (fun s j -> s * x + v[j + 1]) y i)", ""),
    ("build-scan", "build (length v) (fun i -> ifold (fun s j -> s * x + v[j]) y (i + 1))", ""),
    (
        "fold-scan",
        "ifold (fun a i -> a + v[i] * ifold (fun s j -> s * v[j]) y i) 0.0 (length v)",
        "fst (ifold (fun a i -> (fst a + v[i] * snd a, snd a * v[i])) (0.0, y) (length v))",
    ),
    (
        "fold-transpose",
        "build (length v) (fun i -> ifold (fun s j -> s * v[i + j + 1]) v[i] (length v - 1 - i))",
        "build (length v) (fun i -> let s = v[i] in let w_1 = ifold (fun w j -> v[length v - j - 1] * w) 1.0 (length v - 1 - i) in s * w_1)",
    ),
    (
        "fold-transpose",
        "build (length v) (fun i -> ifold (fun s j -> s + v[i + j + 1]) x (length v - 1 - i))",
        "build (length v) (fun i -> let s = x in let w_1 = ifold (fun w j -> v[length v - j - 1] + w) 0.0 (length v - 1 - i) in s + w_1)",
    ),
    (
        "fold-transpose",
        "build (length v) (fun i -> let (a, b) = ifold (fun (a, b) j -> (a * v[i + j + 1] + b, b)) (x, y) (length v - 1 - i) in a)",
        "build (length v) (fun i -> let acc = (x, y) in let w_1 = ifold (fun w j -> (v[length v - j - 1] * fst w, fst w + snd w)) (1.0, 0.0) (length v - 1 - i) in fst acc * fst w_1 + snd acc * snd w_1)",
    ),
    // no affine step, steps from the end that are others for each i, a loop for all i that would fail at its end
    ("fold-transpose", "build (length v) (fun i -> ifold (fun s j -> s * v[i + j]) v[i] (length v - 1 - i))", ""),
    ("fold-transpose", "build (length v) (fun i -> ifold (fun s j -> s * s * v[i + j + 1]) v[i] (length v - 1 - i))", ""),
    ("fold-transpose", "build (length v) (fun i -> ifold (fun s j -> s * v[j]) v[i] (length v - 1 - i))", ""),
    (
        "fold-blocks",
        "ifold (fun s i -> s * double (i % 2) + exp (v[i / 2] * x)) z (2 * length v)",
        "ifold (fun s q -> let s_1 = s * double 0 + exp (v[q] * x) in s_1 * double 1 + exp (v[q] * x)) z (length v)",
    ),
    (
        "fold-blocks ; innermost (const-fold <+ if-true <+ if-false)",
        "ifold (fun s i -> if i % 2 = 0 then s + v[i / 2] else s * x) z (2 * length v)",
        "ifold (fun s q -> let s_1 = s + v[q] in s_1 * x) z (length v)",
    ),
    (
        "build.body fold-start",
        "build 9 (fun k -> ifold (fun s i -> (fst s * y, snd s * y + (if i = k then fst s else 0.0))) (x, 0.0) 9)",
        "build 9 (fun k -> let s_2 = ifold (fun s i -> let s_1 = (fst (s, 0.0) * y, snd (s, 0.0) * y + (if i = k then fst (s, 0.0) else 0.0)) in fst s_1) x k in ifold (fun s_3 i_1 -> (fst s_3 * y, snd s_3 * y + (if i_1 + (k + 1) = k then fst s_3 else 0.0))) (fst (s_2, 0.0) * y, snd (s_2, 0.0) * y + (if k = k then fst (s_2, 0.0) else 0.0)) (9 - (k + 1)))",
    ),
    // it begins at several steps, or the number of steps is no literal
    ("fold-start", "ifold (fun s i -> (fst s * y, snd s * y + (if i < 4 then fst s else 0.0))) (x, 0.0) 9", ""),
    ("fold-start", "ifold (fun s i -> (fst s * y, snd s * y + (if i = 0 then fst s else 0.0))) (x, 0.0) (length v)", ""),
    ("fold-zero", "ifold (fun s i -> s + v[i]) z 0", "z"),
    ("fold-unroll", "ifold (fun s i -> s * x) z 2", "let s_1 = ifold (fun s i -> s * x) z 1 in s_1 * x"),
    ("fold-unroll", "ifold (fun s i -> s * x) z 200", ""),
    (
        "fold-unroll",
        "ifold (fun s i -> s * v[i]) z (length v + 1)",
        "let s_1 = ifold (fun s i -> s * v[i]) z (length v) in s_1 * v[length v]",
    ),
    ("fold-unroll", "ifold (fun s i -> s * x) z (length v + 2)", "let s_1 = ifold (fun s i -> s * x) z (length v + 1) in s_1 * x"),
    ("fold-unroll", "ifold (fun s i -> s * x) z (k + 1)", ""),
    ("anf", "sin x * (y + z)", "let t = sin x in let t_1 = y + z in t * t_1"),
    ("anf", "x * y", ""),
    (
        "bottomup (try anf) ; innermost (let-flatten <+ let-float <+ let-merge)",
        "sin (x + y) * (x + y)",
        "let t = x + y in let t_1 = sin t in t_1 * t",
    ),
    ("fold-id", "ifold (fun s i -> s) z 5", "z"),
    ("fold-id", "ifold (fun s i -> s) z n", "check 0 <= n else NEGATIVE in z"),
    ("fold-one-hot", "ifold (fun s i -> if i = 2 then s + v[i] else s) z 5", "let s = z in let i = 2 in s + v[i]"),
    (
        "fold-one-hot",
        "ifold (fun s i -> if i = k then s + v[i] else s) z (length v)",
        "let s = z in if 0 <= k && k < length v then let i = k in s + v[i] else s",
    ),
    (
        "topdown if-swap",
        "ifold (fun s i -> if v[i] > 0.0 then (if i = k then s + v[i] else s) else s) z (length v)",
        "ifold (fun s i -> if i = k then if v[i] > 0.0 then s + v[i] else s else s) z (length v)",
    ),
    (
        "topdown if-swap",
        "ifold (fun s i -> s + (if x < v[i] then (if i = k then a else 0.0) else if i = k then b else 0.0)) z (length v)",
        "ifold (fun s i -> s + (if i = k then if x < v[i] then a else b else 0.0)) z (length v)",
    ),
    ("sum-one-hot", "ifold (fun s i -> s + (if i = 2 then v[i] else 0.0)) z 5", "let s = z in let i = 2 in s + v[i]"),
    ("sum-one-hot", "ifold (fun s i -> s + (if i = 2 then v[i] else 1.0)) z 5", ""),
    (
        "fold-unswitch",
        "ifold (fun s i -> if x < y then s + v[i] else s) z (length v)",
        "let s = z in if x < y then ifold (fun s_1 i -> s_1 + v[i]) s (length v) else s",
    ),
    (
        "sum-split",
        "ifold (fun s i -> s + v[i] + (if i = k then x else 0.0)) 0.0 5",
        "ifold (fun s i -> s + (if i = k then x else 0.0)) (ifold (fun s_1 i_1 -> s_1 + v[i_1]) 0.0 5) 5",
    ),
    (
        "sum-branch",
        "ifold (fun s i -> s + (if i = 0 then x else (if i = k then v[i] else 0.0) + w[i])) 0.0 n",
        "ifold (fun s i -> s + (if i = 0 then x else w[i])) (ifold (fun s_1 i_1 -> s_1 + (if i_1 = k then if i_1 = 0 then 0.0 else v[i_1] else 0.0)) 0.0 n) n",
    ),
    ("sum-branch", "ifold (fun s i -> s + (if i = 0 then (if i = k then x else 0.0) else 0.0)) 0.0 n", ""),
    (
        "sum-branch",
        "ifold (fun s i -> if i < 3 then s + (if i = k then x else 0.0) + w[i] else s) 0.0 n",
        "ifold (fun s i -> s + (if i < 3 then w[i] else 0.0)) (ifold (fun s_1 i_1 -> s_1 + (if i_1 = k then if i_1 < 3 then x else 0.0 else 0.0)) 0.0 n) n",
    ),
    (
        "sum-few",
        "ifold (fun s i -> let d = (if i = k then x else 0.0) in s + v[i] * d - w[i] * d * d) y (length v)",
        "ifold (fun s i -> if i = k then let d = x in s + (v[i] * d - w[i] * d * d) else s) y (length v)",
    ),
    (
        "sum-few",
        "ifold (fun s i -> s + w[i] + v[i] * ((if i = k then x else 0.0) + (if k = i + 1 then y else 0.0))) 0.0 (length v)",
        "ifold (fun s i -> if i = k - 1 then s + v[i] * (0.0 + y) else s) (ifold (fun s_1 i_1 -> if i_1 = k then s_1 + v[i_1] * (x + 0.0) else s_1) (ifold (fun s_2 i_2 -> s_2 + w[i_2]) 0.0 (length v)) (length v)) (length v)",
    ),
    (
        "sum-linear",
        "ifold (fun s i -> s + (x + y + v[i] - x + y)) z (length v)",
        "let times = double (length v) in z + (2.0 * y * times + ifold (fun s i -> s + v[i]) 0.0 (length v))",
    ),
    ("sum-few", "ifold (fun s i -> s + v[i] * ((if i = k then x else 0.0) + z)) 0.0 (length v)", ""),
    (
        "topdown mul-if",
        "ifold (fun s i -> s + sin x * (if i = k then v[i] else 0.0) / y) 0.0 (length v)",
        "ifold (fun s i -> s + (if i = k then sin x * v[i] else 0.0) / y) 0.0 (length v)",
    ),
    ("topdown mul-if", "ifold (fun s i -> s + v[9] * (if i = k then x else 0.0)) 0.0 (length v)", ""),
    ("fold-final", "ifold (fun s i -> x + double i) y 3", "let i = 3 - 1 in x + double i"),
    ("fold-final", "ifold (fun s i -> s + double i) y 3", ""),
    ("update-array", "accumulate [x, y] 1 z", "[x, y + z]"),
    ("update-array", "update [[x, y], [y, x]] 0 [z, z]", "[[z, z], [y, x]]"),
    ("update-array", "update (build 2 (fun i -> exp x)) 1 z", ""),
    ("get-update", "(update [x, y] 1 z)[1]", "z"),
    ("get-update", "(accumulate [x, y] 1 z)[1]", "[x, y][1] + z"),
    ("get-update", "(update [x, y] 1 z)[0]", "[x, y][0]"),
    ("get-update", "(update v k z)[k]", ""),
    ("update-update", "accumulate (update v k x) k y", "update v k (x + y)"),
    ("update-update", "update (update v k x) k y", "update v k y"),
    ("update-update", "update (update v k v[3]) k y", ""),
    ("update-update", "update (accumulate v k x) k y", ""),
    ("accumulate-merge", "accumulate (accumulate v k x) k y", "accumulate v k (x + y)"),
    ("accumulate-merge", "accumulate (accumulate v k x) 1 y", ""),
    ("accumulate-merge", "accumulate (update v k x) k y", ""),
    ("update-same", "update [x, y] 1 [x, y][1]", "[x, y]"),
    ("update-same", "update v k v[k]", ""),
    ("collect-build", "ifold (fun a i -> accumulate a i (x * w[i])) v (length v)", "build (length v) (fun i -> v[i] + x * w[i])"),
    (
        "innermost (collect-build <+ let-inline)",
        "ifold (fun a i -> ifold (fun b j -> update b i (update b[i] j x)) a (matrixCols M)) M (length M)",
        "build (length M) (fun i -> build (matrixCols M) (fun j -> x))",
    ),
    ("collect-build", "ifold (fun a i -> accumulate a (i + 1) x) v (length v)", ""),
    (
        "collect-swap",
        "ifold (fun a i -> ifold (fun b j -> update b j (accumulate b[j] i M[j][i])) a (length M)) M (matrixCols M)",
        "ifold (fun a j -> ifold (fun b i -> update b j (accumulate b[j] i M[j][i])) a (matrixCols M)) M (length M)",
    ),
    ("collect-swap", "ifold (fun a i -> ifold (fun b j -> update b i (accumulate b[i] j x)) a (matrixCols M)) M (length M)", ""),
    ("collect-swap", "ifold (fun a i -> ifold (fun b j -> update b j (accumulate b[j] i x)) a i) M (matrixCols M)", ""),
    ("topdown if-equal", "build n (fun i -> if i = k then v[k] * x else v[i] * x)", "build n (fun i -> v[i] * x)"),
    ("topdown if-equal", "build n (fun i -> if i = k then v[k] * x else w[i] * x)", ""),
    (
        "collect-shifted",
        "ifold (fun a i -> if 0 < i then accumulate a (i - 1) (x * double i) else a) v (length v)",
        "build (length v) (fun j -> let sum = v[j] in if j + 1 < length v then let i = j + 1 in if 0 < i then sum + x * double i else sum else sum)",
    ),
    ("collect-shifted", "ifold (fun a i -> accumulate a (i + 1) x) v (length v)", ""),
    (
        "fold-merge",
        "(ifold (fun a i -> accumulate a (i / 2) v[i]) (build (length v) (fun j -> 0.0)) (length v), ifold (fun a i -> accumulate a (i / 3) (v[i] * x)) (build (length v) (fun j -> 0.0)) (length v))",
        "let s_1 = ifold (fun s i -> (accumulate (fst s) (i / 2) v[i], accumulate (snd s) (i / 3) (v[i] * x))) (build (length v) (fun j -> 0.0), build (length v) (fun j_1 -> 0.0)) (length v) in (fst s_1, snd s_1)",
    ),
    (
        "array-to-tuple",
        "let p = build (length v) (fun i -> [if i = k then x else 0.0, if i = 2 then y else 0.0]) in ifold (fun s j -> s + p[j][0] * p[j][1]) 0.0 (length v)",
        "let p = build (length v) (fun i -> (if i = k then x else 0.0, if i = 2 then y else 0.0)) in ifold (fun s j -> s + fst p[j] * snd p[j]) 0.0 (length v)",
    ),
    (
        "sum-terms",
        "build (length v) (fun r -> ifold (fun s i -> s + ((if r = i / 2 then x else 0.0) - v[i])) 0.0 (length v))",
        "build (length v) (fun r -> ifold (fun s i -> (if r = i / 2 then s + x else s) - v[i]) 0.0 (length v))",
    ),
    (
        "build-band",
        "build (length v) (fun j -> (if j + 1 = k then x else 0.0) - (if j - 1 = k then y else 0.0))",
        "let row = build (length v) (fun j -> 0.0) in let sums = let at = k - 1 in if 0 <= at && at < length v then update row at x else row in let at_1 = k + 1 in if 0 <= at_1 && at_1 < length v then accumulate sums at_1 (-y) else sums",
    ),
    ("build-band", "build (length v) (fun j -> if j = k then x else 0.0)", ""),
    ("build-band", "build (length v) (fun j -> x + (if j - 1 = k then y else 0.0))", ""),
    (
        "build-scatter",
        "build (length v) (fun r -> 2.0 * ifold (fun s i -> if r = i * i then s + v[r] else s) x 9)",
        "let sums_1 = ifold (fun sums i -> let at = i * i in if 0 <= at && at < length v then accumulate sums at v[at] else sums) (build (length v) (fun r -> x)) 9 in build (length v) (fun r_1 -> 2.0 * sums_1[r_1])",
    ),
    ("build-scatter", "build (length v) (fun r -> ifold (fun s i -> if r = i then s + x else s) 0.0 9)", ""),
    ("build-scatter", "build (length v) (fun r -> ifold (fun s i -> if r = i / 2 then s + s * x else s) 0.0 9)", ""),
    ("build-scatter", "build (length v) (fun r -> ifold (fun s i -> (if r = i / 2 then s + x else s) + y) 0.0 9)", ""),
    (
        "fold-range",
        "ifold (fun s i -> if 0 < i then s + v[i - 1] * v[i] else s) 0.0 (length v)",
        "ifold (fun s i -> s + v[i] * v[i + 1]) 0.0 (max 0 (length v - 1))",
    ),
    ("topdown fold-range", "build n (fun k -> ifold (fun s i -> if k - i < 3 then if i <= k then s + v[k - i] else s else s) 0.0 n)", ""),
    ("fold-range", "ifold (fun s i -> if 0 < 2 * i then s + x else s) 0.0 9", ""),
    (
        "sum-split",
        "ifold (fun s i -> s + (if i = k then v[i] - w[k] else v[i])) 0.0 n",
        "ifold (fun s i -> s + (if i = k then -w[k] else 0.0)) (ifold (fun s_1 i_1 -> s_1 + v[i_1]) 0.0 n) n",
    ),
    (
        "sum-split",
        "ifold (fun s i -> let t = s + x * w[i] in if i = k then t - y else t) 0.0 n",
        "ifold (fun s i -> s + (if i = k then -y else 0.0)) (ifold (fun s_1 i_1 -> s_1 + x * w[i_1]) 0.0 n) n",
    ),
    (
        "sum-split",
        "ifold (fun s i -> ifold (fun t j -> t + w[j]) (s + (if i = k then x else 0.0)) m) 0.0 n",
        "ifold (fun s i -> s + (if i = k then x else 0.0)) (ifold (fun s_1 i_1 -> s_1 + ifold (fun t j -> t + w[j]) 0.0 m) 0.0 n) n",
    ),
    (
        "topdown sum-swap",
        "build 9 (fun k -> ifold (fun s i -> let t = sin (double i) in s + t * ifold (fun r j -> r + exp (double i) * cos (double j) * double k) 0.0 9) 0.0 9)",
        "build 9 (fun k -> ifold (fun r j -> r + cos (double j) * ifold (fun s i -> let t = sin (double i) in s + exp (double i) * t) 0.0 9 * double k) 0.0 9)",
    ),
    (
        "fold-apart",
        "ifold (fun s i -> let d = (if i = k then x else 0.0) in (fst s + d, snd s + d)) (0.0, 0.0) n",
        "let s_1 = ifold (fun s i -> let d = if i = k then x else 0.0 in s + d) 0.0 n in let s_0 = ifold (fun s_2 i_1 -> let d_1 = if i_1 = k then x else 0.0 in s_2 + d_1) 0.0 n in (s_0, s_1)",
    ),
    ("sum-split", "ifold (fun s i -> let t = s + v[i] in let u = t * x in t + u + (if i = k then y else 0.0)) 0.0 n", ""),
    ("let-sink", "let x = sin a in if i = j then x else b", "if i = j then let x = sin a in x else b"),
    // 8g
    (
        "fold-project",
        "snd (ifold (fun (s, t) i -> (s + v[i], t + w[i])) (0.0, 0.0) n)",
        "ifold (fun t i -> let t_1 = t in t_1 + w[i]) 0.0 n",
    ),
    ("fold-project", "fst (ifold (fun (s, t) i -> (s + t, t + w[i])) (0.0, 0.0) n)", ""),
    (
        "fold-fission",
        "let r = ifold (fun (s, t) i -> (s + v[i], t + w[i])) (0.0, 0.0) n in fst r * 2.0",
        "let r = ifold (fun s i -> let s_1 = s in s_1 + v[i]) 0.0 n in r * 2.0",
    ),
    (
        "fold-apart",
        "ifold (fun s i -> (fst s + v[i], if i = j then snd s + x else snd s)) (0.0, 0.0) n",
        "let s_1 = ifold (fun s i -> s + v[i]) 0.0 n in let s_1_1 = ifold (fun s_2 i_1 -> if i_1 = j then s_2 + x else s_2) 0.0 n in (s_1, s_1_1)",
    ),
    (
        "fold-share",
        "ifold (fun s i -> let t = sin v[i] in (accumulate (fst s) i t, accumulate (snd s) i (x * t))) (build (length v) (fun j -> 0.0), v) (length v)",
        "let s_1 = ifold (fun s i -> let t = sin v[i] in accumulate s i t) (build (length v) (fun j -> 0.0)) (length v) in let s_3 = ifold (fun s_2 i_1 -> let t_1 = s_1[i_1] in accumulate s_2 i_1 (x * t_1)) v (length v) in (s_1, s_3)",
    ),
    (
        "fold-share",
        "ifold (fun s i -> let t = sin v[i] in (accumulate (fst s) i (t * x), accumulate (snd s) i (t + x))) (v, v) (length v)",
        "",
    ),
    ("fold-share", "ifold (fun s i -> let t = sin v[i] in (accumulate (fst s) i t, accumulate (snd s) 0 t)) (v, v) (length v)", ""),
    // the sum is no longer t
    (
        "fold-share",
        "ifold (fun s i -> let t = sin v[i] in (accumulate (if x > 0.0 then update (fst s) i x else fst s) i t, accumulate (snd s) i (x * t))) (build (length v) (fun j -> 0.0), v) (length v)",
        "",
    ),
    (
        "fold-share",
        "ifold (fun s i -> ifold (fun t j -> let w = M[i][j] in (update (fst t) i (accumulate (fst t)[i] j w), update (snd t) i (accumulate (snd t)[i] j (x * w)))) s (matrixCols M)) (M, M) (length M)",
        "let s_1 = ifold (fun s i -> ifold (fun t j -> let w = M[i][j] in update t i (accumulate t[i] j w)) s (matrixCols M)) M (length M) in let s_3 = ifold (fun s_2 i_1 -> ifold (fun t_1 j_1 -> let w_1 = M[i_1][j_1] in update t_1 i_1 (accumulate t_1[i_1] j_1 (x * w_1))) s_2 (matrixCols M)) M (length M) in (s_1, s_3)",
    ),
    (
        "fold-share",
        "ifold (fun s i -> ifold (fun t j -> let w = sin M[i][j] in (update (fst t) i (accumulate (fst t)[i] j w), update (snd t) i (accumulate (snd t)[i] j (x * w)))) s (matrixCols M)) (M, M) (length M)",
        "",
    ),
    (
        "topdown fold-merge",
        "[ifold (fun s i -> s + v[i]) 0.0 n, ifold (fun s i -> s + v[i] * v[i]) 0.0 n]",
        "let s_1 = ifold (fun s i -> (fst s + v[i], snd s + v[i] * v[i])) (0.0, 0.0) n in [fst s_1, snd s_1]",
    ),
    (
        "topdown fold-merge",
        "build n (fun j -> ifold (fun s i -> let t = v[i] in s + t * exp (v[j] - t)) 0.0 n / ifold (fun s k -> s + exp (v[j] - v[k])) 0.0 n)",
        "build n (fun j -> let s_1 = ifold (fun s i -> (fst s + v[i] * exp (v[j] - v[i]), snd s + exp (v[j] - v[i]))) (0.0, 0.0) n in fst s_1 / snd s_1)",
    ),
    // collecting, sharing and moving what costs
    ("pow-zero", "x ** 0.0", "1.0"),
    ("double", "sin x + sin x", "2.0 * sin x"),
    ("order", "sin x * 2.0", "2.0 * sin x"),
    ("factor", "a * b + a * c", "a * (b + c)"),
    ("if-factor", "if i = j then a * b else a * c", "a * (if i = j then b else c)"),
    ("sum-linear", "ifold (fun s i -> s + c * v[i]) 0.0 n", "c * ifold (fun s i -> s + v[i]) 0.0 n"),
    (
        "topdown distribute",
        "ifold (fun s i -> s + ((if i = 2 then a else 0.0) + b) * c[i]) 0.0 n",
        "ifold (fun s i -> s + ((if i = 2 then a * c[i] else 0.0) + b * c[i])) 0.0 n",
    ),
    (
        "topdown distribute",
        "ifold (fun s i -> s + v[i] * (if i = k then y + x else x)) 0.0 (length v)",
        "ifold (fun s i -> s + (v[i] * x + (if i = k then v[i] * y else 0.0))) 0.0 (length v)",
    ),
    ("topdown distribute", "ifold (fun s i -> s + exp v[i] * (if i = k then y + x else x)) 0.0 (length v)", ""),
    (
        "array-split",
        "let p = build n (fun i -> (v[i] * 2.0, w[i])) in build n (fun k -> fst p[k])",
        "let p_0 = build n (fun i -> v[i] * 2.0) in build n (fun k -> p_0[k])",
    ),
    (
        "array-split",
        "let p = build (length v) (fun i -> ifold (fun s j -> (fst s + w[j], fst s * snd s)) (0.0, v[i]) 3) in build n (fun k -> fst p[k])",
        "let p_0 = build (length v) (fun i -> ifold (fun s j -> s + w[j]) 0.0 3) in build n (fun k -> p_0[k])",
    ),
    (
        "array-split",
        "let p = build k (fun i -> (x, double i)) in double (length p) * snd p[0]",
        "let p_0 = build k (fun i -> x) in let p_1 = build k (fun i_1 -> double i_1) in double (length p_0) * p_1[0]",
    ),
    (
        "topdown build-one-hot",
        "let x = build 4 (fun i -> if i = 2 then sin (a * b) else 0.0) in build 4 (fun k -> x[k] * v[k])",
        "let x = sin (a * b) in let x_1 = build 4 (fun i -> if i = 2 then x else 0.0) in build 4 (fun k -> x_1[k] * v[k])",
    ),
    (
        "build-fission",
        "let a = build n (fun i -> let t = sin v[i] in let u = t * t in build m (fun k -> u * w[k])) in build m (fun k -> build n (fun i -> a[i][k]))",
        "let u = build n (fun i -> let t = sin v[i] in t * t) in let a = build n (fun i_1 -> build m (fun k -> u[i_1] * w[k])) in build m (fun k_1 -> build n (fun i_2 -> a[i_2][k_1]))",
    ),
    ("reciprocal-loop", "build n (fun i -> v[i] / a)", "let r = 1.0 / a in build n (fun i -> v[i] * r)"),
    (
        "reciprocal-loop",
        "build n (fun i -> if i < 2 then let z = [x, y][1] in v[i] / z else a)",
        "let r = 1.0 / [x, y][1] in build n (fun i -> if i < 2 then let z = [x, y][1] in v[i] * r else a)",
    ),
    (
        "fold-consume",
        "let a = build n (fun i -> sin v[i]) in ifold (fun s i -> s + a[i] * w[i]) 0.0 n * ifold (fun s i -> s + a[i] * a[i]) 0.0 n",
        "let s_1 = ifold (fun s i -> let a = sin v[i] in (fst s + a * w[i], snd s + a * a)) (0.0, 0.0) n in fst s_1 * snd s_1",
    ),
    (
        "fold-consume",
        "let a = build n (fun i -> [sin v[i], cos v[i]]) in ifold (fun s i -> s + a[i][0] * a[i][1]) 0.0 n",
        "let s_1 = ifold (fun s i -> let a = sin v[i] in let a_1 = cos v[i] in s + a * a_1) 0.0 n in s_1",
    ),
    (
        "fold-consume",
        "let a = build (length v) (fun i -> [sin v[i], cos v[i]]) in let b = build (2 * length v) (fun k -> a[k / 2][k % 2] * x) in ifold (fun s k -> s + b[k] * b[k]) 0.0 (2 * length v)",
        "let s_2 = ifold (fun s i -> let a = sin v[i] in let a_1 = cos v[i] in let b = a * x in let b_1 = a_1 * x in let s_1 = s + b * b in s_1 + b_1 * b_1) 0.0 (length v) in s_2",
    ),
    // an element is read in another step
    ("fold-consume", "let a = build n (fun i -> [sin v[i], v[i]]) in ifold (fun s i -> s + a[i][0] * a[n - 1 - i][1]) 0.0 n", ""),
    (
        "array-to-tuple",
        "let a = [build n (fun i -> sin v[i]), w] in build n (fun k -> a[0][k] * a[1][k])",
        "let a = (build n (fun i -> sin v[i]), w) in build n (fun k -> (fst a)[k] * (snd a)[k])",
    ),
    ("topdown get-select", "build 2 (fun i -> [a, b][i])", "build 2 (fun i -> if i = 0 then a else b)"),
    ("topdown div-known", "let r = 1.0 / z in a / z + r", "let r = 1.0 / z in a * r + r"),
    ("let-scale", "let z = sin x in 2.0 * (a * z) + z * 2.0", "let z = 2.0 * sin x in a * z + z"),
    ("reciprocal", "let z = sin x in a / z + b / z + c / z + d / z", "let z = sin x in let r = 1.0 / z in a * r + b * r + c * r + d * r"),
    (
        "topdown sum-swap",
        "build 9 (fun k -> ifold (fun s i -> s + sin (double i) * ifold (fun t j -> t + exp (double i) * cos (double j) * double k) 0.0 9) 0.0 9)",
        "build 9 (fun k -> ifold (fun t j -> t + cos (double j) * ifold (fun s i -> s + exp (double i) * sin (double i)) 0.0 9 * double k) 0.0 9)",
    ),
    (
        "topdown fold-last",
        "build 9 (fun k -> snd (ifold (fun s i -> (max (fst s) (sin (double i)), if fst s >= sin (double i) then snd s else double k * double i)) (0.0, 1.0) 9))",
        "build 9 (fun k -> snd (let last = ifold (fun s i -> (max (fst s) (sin (double i)), if fst s >= sin (double i) then snd s else i)) (0.0, -1) 9 in (fst last, if snd last < 0 then 1.0 else let i_1 = snd last in double k * double i_1)))",
    ),
];

const COMBINATORS: &[(&str, &str, &str)] = &[
    ("id", "x * 1.0", "x * 1.0"),
    ("fail", "x * 1.0", ""),
    ("mul-one ; add-zero", "(x + 0.0) * 1.0", "x"),
    ("mul-one ; add-zero", "x * 1.0", ""),
    ("add-zero <+ mul-one", "x * 1.0", "x"),
    ("add-zero <+ fail", "x * 1.0", ""),
    // `;` binds tighter
    ("fail ; id <+ id", "x", "x"),
    ("fail ; (id <+ id)", "x", ""),
    ("try mul-one", "x", "x"),
    ("repeat mul-one", "x * 1.0 * 1.0 * 1.0", "x"),
    ("repeat mul-one", "x", "x"),
    ("one mul-one", "x * 1.0 / (y * 1.0)", "x / (y * 1.0)"),
    ("one mul-one", "x / y", ""),
    ("some mul-one", "x / (y * 1.0)", "x / y"),
    ("some mul-one", "x / y", ""),
    ("all mul-one", "x * 1.0 / (y * 1.0)", "x / y"),
    ("all mul-one", "x / (y * 1.0)", ""),
    ("all fail", "x", "x"),
    ("topdown mul-one", "sin (x * 1.0) + y * 1.0", "sin x + y * 1.0"),
    ("topdown mul-one", "x", ""),
    ("bottomup (try mul-one)", "sin (x * 1.0) * 1.0", "sin x"),
    ("normalize (mul-one <+ add-zero)", "sin (x * 1.0 + 0.0) * 1.0", "sin x"),
    ("innermost (mul-one <+ add-zero)", "sin (x * 1.0 + 0.0) * 1.0", "sin x"),
    ("innermost (get-build <+ let-inline)", "(build 4 (fun i -> double i * 2.0))[3]", "double 3 * 2.0"),
    ("let twice (s) = s ; s\nlet main = twice mul-one", "x * 1.0 * 1.0", "x"),
    ("let a = mul-one\nlet b = topdown a", "sin (x * 1.0)", "sin x"),
    ("let main = mul-one\nlet other = add-zero", "x * 1.0", "x"),
    // definitions that use themselves
    ("let rec down (s) = s <+ one (down s)\nlet main = down mul-one", "sin (x * 1.0) + y * 1.0", "sin x + y * 1.0"),
    ("let rec down (s) = s <+ one (down s)\nlet main = down mul-one", "x", ""),
    ("let rec again (s) = try (s ; again s)\nlet main = again mul-one", "x * 1.0 * 1.0 * 1.0", "x"),
    ("let rec up (s) = all (up s) ; try s\nlet main = up (mul-one <+ add-zero)", "sin (x * 1.0 + 0.0) * 1.0", "sin x"),
    ("let rec leaves = one leaves <+ fail\nlet main = try leaves", "x + y", "x + y"),
    ("let rec either (a) (b) = a <+ one (either b a)\nlet main = either mul-one add-zero", "sin (x + 0.0)", "sin x"),
    ("let rec either (a) (b) = a <+ one (either b a)\nlet main = either add-zero mul-one", "sin (x + 0.0)", ""),
    ("let rec inner (s) = innermost s\nlet main = inner (mul-one <+ add-zero)", "sin (x * 1.0 + 0.0) * 1.0", "sin x"),
    ("let both (a) (b) = a ; b\nlet rec f (s) = both s (try (f s))\nlet main = f mul-one", "x * 1.0 * 1.0", "x"),
    // one subterm of one form
    ("build.body mul-one", "build n (fun i -> x * 1.0)", "build n (fun i -> x)"),
    ("build.body mul-one", "x * 1.0", ""),
    ("build.count mul-one", "build (k * 1) (fun i -> x * 1.0)", "build k (fun i -> x * 1.0)"),
    ("ifold.step add-zero", "ifold (fun s i -> s + 0.0) (z + 0.0) 5", "ifold (fun s i -> s) (z + 0.0) 5"),
    ("ifold.init add-zero", "ifold (fun s i -> s + 0.0) (z + 0.0) 5", "ifold (fun s i -> s + 0.0) z 5"),
    ("ifold.count mul-one", "ifold (fun s i -> s + 1.0) z (k * 1)", "ifold (fun s i -> s + 1.0) z k"),
    ("let.value mul-one", "let y = sin x * 1.0 in y * 1.0", "let y = sin x in y * 1.0"),
    ("let.body mul-one", "let y = sin x * 1.0 in y * 1.0", "let y = sin x * 1.0 in y"),
    ("if.condition mul-one", "if x < y then x * 1.0 else y", ""),
    ("if.condition (one mul-one)", "if x < y * 1.0 then x else y", "if x < y then x else y"),
    ("if.then mul-one", "if x < y then x * 1.0 else y * 1.0", "if x < y then x else y * 1.0"),
    ("if.else mul-one", "if x < y then x * 1.0 else y * 1.0", "if x < y then x * 1.0 else y"),
    ("get.array build-eta", "(build (length v) (fun i -> v[i]))[k * 1]", "v[k * 1]"),
    ("get.index mul-one", "v[k * 1]", "v[k]"),
    ("call.argument mul-one", "f (x * 1.0)", "f x"),
    ("call.argument mul-one", "max x (y * 1.0)", "max x y"),
    ("call.argument mul-one", "x + y * 1.0", ""),
    // a recursive function is not written out
    ("id", "let rec go (s: Double) : Double = go s in go x", "go x"),
    ("innermost (beta <+ mul-one)", "let rec go (s: Double) : Double = if s > y then s else go (s * 2.0) in go (x * 1.0)", "go x y"),
    ("call.argument build-eta", "length (build (length v) (fun i -> v[i]))", "length v"),
    ("call.argument (tuple.item mul-one)", "snd (x, y * 1.0)", "snd (x, y)"),
    ("operator.operand mul-one", "x + y * 1.0", "x + y"),
    ("operator.operand mul-one", "x * 1.0 + y * 1.0", "x + y * 1.0"),
    ("operator.operand (operator.operand mul-one)", "x * 1.0 < y && y < z", "x < y && y < z"),
    ("operator.operand mul-one", "-(x * 1.0)", "-x"),
    ("operator.operand mul-one", "max x (y * 1.0)", ""),
    ("tuple.item mul-one", "(x, y * 1.0, z * 1.0)", "(x, y, z * 1.0)"),
    ("tuple.item mul-one", "[x * 1.0]", ""),
    ("array.item mul-one", "[x, y * 1.0]", "[x, y]"),
    ("update.array build-eta", "update (build (length v) (fun i -> v[i])) (k * 1) (x * 1.0)", "update v (k * 1) (x * 1.0)"),
    ("update.index mul-one", "update v (k * 1) (x * 1.0)", "update v k (x * 1.0)"),
    ("update.value mul-one", "update v (k * 1) (x * 1.0)", "update v (k * 1) x"),
    ("update.value mul-one", "accumulate v k (x * 1.0)", ""),
    ("accumulate.value mul-one", "accumulate v (k * 1) (x * 1.0)", "accumulate v (k * 1) x"),
    ("accumulate.index mul-one", "accumulate v (k * 1) (x * 1.0)", "accumulate v k (x * 1.0)"),
    ("accumulate.array id", "accumulate v k x", "accumulate v k x"),
    ("get-build ; check.body mul-one", "(build 5 (fun i -> v[i] * 1.0))[k]", "check 0 <= k && k < 5 else BOUNDS in v[k]"),
    ("get-build ; check.condition (operator.operand id)", "(build 5 (fun i -> x))[k]", "check 0 <= k && k < 5 else BOUNDS in x"),
    (
        "build.body (ifold.step (try add-zero))",
        "build n (fun i -> ifold (fun s j -> s + 0.0) 1.0 9)",
        "build n (fun i -> ifold (fun s j -> s) 1.0 9)",
    ),
    // what is known in the subterm is known to the rules there
    ("if.then if-true", "if x < y then (if true then a else b) else c", "if x < y then a else c"),
    // the parts that came from derivative forms
    ("differentiated (innermost (simplify <+ signs))", "derivative (fun x -> x * x) y * 1.0 + z * 1.0", "2.0 * y * 1.0 + z * 1.0"),
    ("differentiated id", "x * 1.0", ""),
    ("try (differentiated fail)", "derivative (fun x -> x) y", "snd (let y_1 = y in (y_1, 1.0))"),
    // functions that were made for their arguments are written out
    ("id", "vectorMap v f", "build (length v) (fun i -> f v[i])"),
    (
        "id",
        "vectorMap (vectorAdd v w) (fun a -> a * s)",
        "let v_1 = vectorAdd v w in build (length v_1) (fun i -> let a = v_1[i] in a * s)",
    ),
    ("id", "let f x = x * 2.0 in f y + f 1.0", "y * 2.0 + 1.0 * 2.0"),
    // the definitions of the schedules that are built in
    ("innermost simplify", "(x + 0.0) * (if true then 1.0 else y)", "x"),
    ("innermost fuse", "length (build (length v) (fun i -> (build (length v) (fun j -> v[j]))[i]))", "length v"),
    ("none", "x * 1.0", "x * 1.0"),
    ("default", "gradient (fun x -> vectorDot x w) v", "w"),
    ("paper", "derivative (fun x -> sin x) y", "cos y"),
    ("default", "matrixTranspose (matrixTranspose M)", "M"),
];

const OWN_RULES: &[(&str, &str, &str)] = &[
    ("rule sq : a * a -> a ** 2\nlet main = topdown sq", "sin (y * y)", "sin (y ** 2.0)"),
    ("rule sq : a * a -> a ** 2 // a square\ntopdown sq", "sin (y * y)", "sin (y ** 2.0)"),
    ("  rule sq : a * a\n    -> a ** 2\n    if atomic a\n  let main = topdown sq", "sin y * sin y", ""),
    ("rule pythagoras : sin a * sin a + cos a * cos a -> 1\npythagoras", "sin (x + y) * sin (x + y) + cos (x + y) * cos (x + y)", "1.0"),
    ("add-zero", "x + -0.0", "x"),
    ("rule both : a + a -> 2 * a; a - -a -> 2 * a\nall both", "(x + x) / (y - -y)", "2.0 * x / (2.0 * y)"),
    ("rule swap : (if c then a else b) -> if not c then b else a\nswap", "if i = j then x else y", "if not (i = j) then y else x"),
    ("rule first : (a, b) -> (b, a)\nfirst", "(x, y)", "(y, x)"),
    ("rule part : fst (a, b) -> a; snd (a, b) -> b\ntopdown part", "sin (fst (x, y))", "sin x"),
    ("rule part : fst (a, b) -> a; snd (a, b) -> b\ntopdown part", "sin (snd (x, y))", "sin y"),
    ("rule pair : (fst p, snd p) -> p\npair", "(fst (x, y + z), snd (x, y + z))", "(x, y + z)"),
    ("rule pair : (fst p, snd p) -> p\npair", "(fst (x, y), snd (x, z))", ""),
    ("rule turn : fst p -> snd (snd p, fst p)\nturn", "fst (x, y)", "snd (snd (x, y), fst (x, y))"),
    ("rule at : [a, b][1] -> b\nat", "[x, y][1]", "y"),
    ("rule at : [a, b][1] -> b\nat", "[x, y, z][1]", ""),
    ("rule both : a + b -> [a, b][0] + [0, b][1]\nboth", "x + y", "[x, y][0] + [0.0, y][1]"),
    ("rule rows : [a, b] -> [b, a]\nrows", "[v, w]", "[w, v]"),
    ("rule twice : update (update a i x) i y -> update a i y\ntwice", "update (update v k x) k y", "update v k y"),
    ("rule twice : update (update a i x) i y -> update a i y\ntwice", "update (update v k x) 0 y", ""),
    ("rule twice : update (update a i x) i y -> update a i y\ntwice", "accumulate (update v k x) k y", ""),
    ("rule add : accumulate a i x -> update a i (a[i] + x)\nadd", "accumulate v k (x * y)", "update v k (v[k] + x * y)"),
    ("rule row : update a i x -> accumulate (update a i x) i (x - x)\nrow", "update v k 2.0", "accumulate (update v k 2.0) k (2.0 - 2.0)"),
    // what the type of the term says holds for the new one
    ("rule more : [a] -> [a, a]\nmore", "[x]", ""),
    ("rule ends : build n f -> [f 0, f 1]\nends", "build (length v) (fun i -> v[i])", ""),
    ("rule ends : build n f -> [f 0, f 1]\nends", "build 2 (fun i -> v[i])", "[v[0], v[1]]"),
    ("rule other : fst p -> snd p\nother", "fst (build 2 (fun i -> x), [y])", ""),
    // a literal that nothing gives a type is a Double
    ("rule r : not a -> fst (not a, 0)\nr", "not (x < y)", "fst (not (x < y), 0.0)"),
    ("rule r : a -> (let t = (1, a) in snd t)\nr", "x < y", "let t = (1.0, x < y) in snd t"),
    ("rule r : [a, b] -> fst ([a, b], 0)\nr", "[x, y]", "fst ([x, y], 0.0)"),
    ("rule r : build n f -> fst (build n f, 0)\nr", "build 3 (fun i -> x)", "fst (build 3 (fun i -> x), 0.0)"),
    ("rule r : a && b -> (a |> not |> not) && b\nr", "x < y && y < z", "not (not (x < y)) && y < z"),
    ("rule last : v[length v - 1] -> v[0]\ntopdown last", "w[length w - 1] * 2.0", "w[0] * 2.0"),
    ("rule choose : min a b -> if a < b then a else b\ntopdown choose", "sin (min x y)", "sin (if x < y then x else y)"),
    ("\u{feff}rule double : a + a -> 2 * a\ndouble", "x + x", "2.0 * x"),
    ("\u{feff}mul-one", "x * 1.0", "x"),
    ("rule unit : log a -> double 1 * log a\nunit", "log x", "double 1 * log x"),
    ("rule eq : a = a -> 2 > 1 if exact a\ntopdown eq", "length x = length x && x[0] > 1.0", "2.0 > 1.0 && x[0] > 1.0"),
];

/// Rules that bind variables.
const BINDING_RULES: &[(&str, &str, &str)] = &[
    ("rule my-get-build : (build n f)[i] -> f i\nmy-get-build", "(build 5 (fun i -> v[i] * double i))[k]", "v[k] * double k"),
    ("rule my-get-build : (build n (fun j -> f j))[i] -> f i\nmy-get-build", "(build 5 (fun i -> v[i] * double i))[k]", "v[k] * double k"),
    // letSubst of 002, which may duplicate work, and its letSubstN 1
    ("rule my-let-subst : let x = a in f x -> f a\nmy-let-subst", "let x = sin y in x * x", "sin y * sin y"),
    ("rule my-let-subst : let x = a in f x -> f a if count x <= 1 in f\nmy-let-subst", "let x = sin y in x * 2.0", "sin y * 2.0"),
    ("rule my-let-subst : let x = a in f x -> f a if count x <= 1 in f\nmy-let-subst", "let x = sin y in x * x", ""),
    ("rule my-let-subst : let x = a in f x -> f a if count x = 2 in f\nmy-let-subst", "let x = sin y in x * x", "sin y * sin y"),
    ("rule my-let-dead : let x = a in e -> e\nmy-let-dead", "let x = sin y in y * 2.0", "y * 2.0"),
    ("rule my-let-dead : let x = a in e -> e\nmy-let-dead", "let x = sin y in y * x", ""),
    ("rule my-let-dead : let x = a in e -> e if x is not free in e\nmy-let-dead", "let x = sin y in y * 2.0", "y * 2.0"),
    ("rule my-let-dead : let x = a in f x -> f a if x is not free in f\nmy-let-dead", "let x = sin y in y * x", ""),
    ("rule my-let-dead : let x = a in f x -> f a if x is not free in f and total a\nmy-let-dead", "let x = v[9] in y", ""),
    (
        "rule my-flatten : let x = (let y = a in f y) in g x -> let y = a in let x = f y in g x\nmy-flatten",
        "let x = (let y = a * b in y + y) in x * x",
        "let y = a * b in let x = y + y in x * x",
    ),
    // nothing is captured: the outer i stays itself in the loop over another i
    (
        "rule my-get-build : (build n f)[i] -> f i\ntopdown my-get-build",
        "build 4 (fun i -> (build 5 (fun j -> build 6 (fun i -> v[i] + w[j])))[i])",
        "build 4 (fun i -> build 6 (fun i_1 -> v[i_1] + w[i]))",
    ),
    (
        "rule my-swap : build n (fun i -> build m (fun j -> f i j)) -> build m (fun j -> build n (fun i -> f j i))\nmy-swap",
        "build 4 (fun a -> build 4 (fun b -> double a - double b))",
        "build 4 (fun j -> build 4 (fun i -> double j - double i))",
    ),
    ("rule my-eta : build (length a) (fun i -> a[i]) -> a\nmy-eta", "build (length v) (fun i -> v[i])", "v"),
    ("rule my-eta : build (length a) (fun i -> a[i]) -> a\nmy-eta", "build (length v) (fun i -> w[i])", ""),
    ("rule my-fold-id : ifold (fun s i -> s) z n -> z\nmy-fold-id", "ifold (fun a k -> a) (x + y) 9", "x + y"),
    ("rule my-fold-id : ifold (fun s i -> s) z n -> z\nmy-fold-id", "ifold (fun a k -> x) (x + y) 9", ""),
    (
        "rule my-hoist : ifold (fun s i -> s + c * f i) 0.0 n -> c * ifold (fun s i -> s + f i) 0.0 n\nmy-hoist",
        "ifold (fun t k -> t + sin x * v[k]) 0.0 9",
        "sin x * ifold (fun s i -> s + v[i]) 0.0 9",
    ),
    (
        "rule my-hoist : ifold (fun s i -> s + c * f i) 0.0 n -> c * ifold (fun s i -> s + f i) 0.0 n\nmy-hoist",
        "ifold (fun t k -> t + v[k] * v[k]) 0.0 9",
        "",
    ),
    ("rule my-unroll : ifold f z 2 -> f (f z 0) 1\nmy-unroll", "ifold (fun s i -> s * v[i]) z 2", "z * v[0] * v[1]"),
    (
        "rule my-map : build n (fun i -> f i * c) -> let t = c in build n (fun i -> f i * t)\nmy-map",
        "build n (fun i -> v[i] * exp x)",
        "let t = exp x in build n (fun i -> v[i] * t)",
    ),
    ("rule my-keep : build n f -> build n f\nmy-keep", "build 4 (fun row -> double row)", "build 4 (fun row -> double row)"),
    ("rule my-keep : ifold f z n -> ifold f z n\nmy-keep", "ifold (fun t k -> t + v[k]) x 4", "ifold (fun t k -> t + v[k]) x 4"),
    // the same function twice, its variable called otherwise
    (
        "rule my-pair : (build n f, build n f) -> let t = build n f in (t, t)\nmy-pair",
        "(build 3 (fun i -> v[i]), build 3 (fun j -> v[j]))",
        "let t = build 3 (fun i -> v[i]) in (t, t)",
    ),
    // in the engine, on a let and under one
    (
        "rule my-let-subst : let x = a in f x -> f a if count x <= 1 in f\ninnermost my-let-subst",
        "sin (let x = cos y in let z = x + 1.0 in z * 2.0)",
        "sin ((cos y + 1.0) * 2.0)",
    ),
];

const ERRORS: &[(&str, &str, &str, &str)] = &[
    ("topdown mul-on", "x", "E0127", "did you mean `mul-one`?"),
    ("topdwn mul-one", "x", "E0127", "did you mean `topdown`?"),
    ("let a (s) = s <+ one (a s)\nlet b = a mul-one", "x", "E0127", "not itself"),
    ("let a = id\nlet a = fail\nlet b = a", "x", "E0129", "another name"),
    ("rule a : x + x -> 2 * x\nrule a : x * x -> x ** 2\na", "x", "E0129", "another name"),
    ("", "x", "E0120", "write `let main = id`"),
    ("id )", "x", "E0124", ""),
    ("(id", "x", "E0126", ""),
    ("id ;", "x", "E0125", ""),
    ("id + id", "x", "E0122", "strategies are made of names"),
    ("rule r : a + a -> b\nr", "x", "E0118", ""),
    ("rule r : a + a -> a if atomc a\nr", "x", "E0118", "did you mean `atomic`?"),
    ("rule r : a + a\nr", "x", "E0118", "write `left -> right if condition`"),
    ("rule r : a + -> a\nr", "x", "E0101", ""),
    ("rule r : build n f -> 1\nr", "x", "E0119", "give both sides one type"),
    ("rule r : build n (fun i -> a) -> a\nr", "x", "E0119", "give both sides one type"),
    ("rule r : build n (fun i -> f (i + 1)) -> build n f\nr", "x", "E0119", "laws are made of operators"),
    ("rule r : build n (fun i -> f i i) -> build n f\nr", "x", "E0119", "laws are made of operators"),
    ("rule r : build n f -> build n (fun i -> f i i)\nr", "x", "E0119", "laws are made of operators"),
    ("rule r : build n (fun i j -> a) -> build n (fun i -> a)\nr", "x", "E0119", "laws are made of operators"),
    ("rule r : build n (fun i -> g a) -> build n g\nr", "x", "E0119", "laws are made of operators"),
    ("rule r : let x = a in f x -> g a\nr", "x", "E0119", "laws are made of operators"),
    ("rule r : let x = a in f x -> x\nr", "x", "E0118", ""),
    ("rule r : let x = a in f x -> f a if count y <= 1 in f\nr", "x", "E0118", "bind variables"),
    ("rule r : let x = a in f x -> f a if count x in f\nr", "x", "E0118", ""),
    ("rule r : let x = a in f x -> f a if count x <= many in f\nr", "x", "E0118", ""),
    ("rule r : let x = a in f x -> f a if x is not free in g\nr", "x", "E0118", ""),
    ("rule r : let x = a in f x -> f a if x is free in f\nr", "x", "E0118", "x is not free in e"),
    ("rule r : ifold f z n -> build n f\nr", "x", "E0119", ""),
    ("rule r : (build n f)[i] -> f n + true\nr", "x", "E0130", "never fire"),
    ("rule r : (build n f)[true] -> f n\nr", "x", "E0130", "never fire"),
    ("rule r : a[..2][0] -> a[0]\nr", "x", "E0119", "laws are made of operators"),
    ("rule r : fst a b -> a\nr", "x", "E0119", "laws are made of operators"),
    ("rule r : update a i -> a\nr", "x", "E0119", "laws are made of operators"),
    ("rule r : fst (a + 1) -> a\nr", "x", "E0130", "never fire"),
    ("rule r : [a, not a] -> [a, a]; [a + 1, not b] -> [a, a]\nr", "x", "E0130", "never fire"),
    ("rule r : update a i a -> a\nr", "x", "E0130", "never fire"),
    ("rule r : accumulate a i true -> a\nr", "x", "E0130", "never fire"),
    ("rule r : accumulate a i i -> a\nr", "x", "E0130", "never fire"),
    ("rule r : snd (a, b) -> [b]\nr", "x", "E0119", "give both sides one type"),
    ("rule r : sin a b -> a\nr", "x", "E0119", "laws are made of operators"),
    ("rule r : a + true -> a\nr", "x", "E0130", "never fire"),
    ("rule r : a < b -> a - b\nr", "x", "E0119", "give both sides one type"),
    ("rule r : a + b -> if a then b else a\nr", "x", "E0130", "never fire"),
    ("rule r : a[i] + a -> a\nr", "x", "E0130", "never fire"),
    ("rule r : (a, b) -> a + b + (a, b)\nr", "x", "E0130", "never fire"),
    ("rule r : not a -> a if double a\nr", "x", "E0130", "leave the condition out"),
    ("rule r : if c then (a, b) else a -> b\nr", "x", "E0130", "never fire"),
    ("rule r a + a -> a\nr", "x", "E0120", "write `rule name : left -> right if condition`"),
    ("id", "x +", "E0101", ""),
    ("id", "(x", "E0102", ""),
    ("id", "double x + i[0] + (if i then 1 else 2)", "E0301", ""),
    ("id", "derivative (fun x -> f x) y", "E0506", "write the function itself"),
    ("let rec f = f", "x", "E0602", "let rec"),
    ("let rec f (s) = s ; f s\nlet main = f id", "x", "E0602", "let rec"),
    ("let rec f (s) = f (try s)\nlet main = f id", "x", "E0602", "let rec"),
    ("let rec f (s) = all (f s) ; f s\nlet main = f id", "x + y", "E0602", "let rec"),
    ("let rec f (s) = s\nlet main = f", "x", "E0125", "takes the one word"),
    ("let f (s = id", "x", "E0123", ""),
    ("let = id", "x", "E0123", ""),
    ("let main id", "x", "E0123", "let name = s"),
    ("build.bdy id", "x", "E0127", "did you mean `build.body`?"),
    ("build. id", "x", "E0122", ""),
    ("repeat id", "x", "E0602", ""),
    ("normalize id", "x", "E0602", ""),
    ("innermost id", "x", "E0602", ""),
    ("rule swap : a + b -> b + a\nrepeat swap", "x + y", "E0602", ""),
    ("rule swap : a + b -> b + a\ninnermost swap", "x + y", "E0602", ""),
    ("rule grow : a -> a + a\nrepeat grow", "x", "E0602", ""),
    ("rule grow : a -> a + 1\nrepeat grow", "x", "E0602", ""),
    ("rule grow : a -> sin a\ninnermost grow", "x", "E0602", ""),
    ("rule grow : a + b -> a + b + a\ninnermost grow", "sin (x * y) + z", "E0602", ""),
];

/// What is printed; `Ok(None)` where the strategy does not apply.
fn rewritten(strategy: &str, expression: &str) -> Result<Option<String>, Vec<smoothc::diagnostic::Diagnostic>> {
    let (strategy, expression) = (strategy.to_string(), expression.to_string());
    with_large_stack(move || {
        let strategy = Schedule::Text { name: "<strategy>".into(), text: strategy };
        let rewritten = rewrite_expression(&strategy, &expression, &Options::default(), &mut SourceMap::default())?;
        assert!(rewritten.warnings.is_empty(), "{expression}: {:?}", rewritten.warnings);
        Ok(rewritten.text)
    })
}

fn holds(table: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (strategy, expression, wanted) in table {
        let found = match rewritten(strategy, expression) {
            Ok(found) => found.unwrap_or_default(),
            Err(problems) => format!("{problems:?}"),
        };
        if found != *wanted {
            wrong.push(format!("{strategy}\n    {expression}\nwanted {wanted}\nfound  {found}"));
        } else if !found.is_empty() && !found.contains("check ") && found.parse::<i64>().is_err() {
            let again = rewritten("id", &found).expect("can be read").unwrap_or_default();
            if again != found {
                wrong.push(format!("{found}\nis read as\n{again}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_rule_on_an_expression() {
    holds(RULES);
    for rule in rules::all() {
        let is_tried = |(strategy, _, wanted): &(&str, &str, &str)| {
            !wanted.is_empty() && strategy.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| word == rule.name)
        };
        assert!(RULES.iter().any(is_tried), "no row for `{}`", rule.name);
    }
}

#[test]
fn every_combinator_on_an_expression() {
    holds(COMBINATORS);
}

/// The traversals of 002 Section 5, written in a file.
const TEXTBOOK: &str = "let rec topDown (s) = s <+ one (topDown s)
let rec bottomUp (s) = all (bottomUp s) ; s
let rec again (s) = try (s ; again s)
let normal (s) = again (topDown s)
let attempt (s) = s <+ id
";

#[test]
fn traversals_written_in_a_file_give_what_the_built_in_ones_give() {
    let mine =
        [("topdown ", "topDown "), ("bottomup ", "bottomUp "), ("repeat ", "again "), ("normalize ", "normal "), ("try ", "attempt ")];
    let uses_one = |strategy: &str| mine.iter().any(|(name, _)| strategy.contains(name));
    let rows: Vec<(String, &str, &str)> = RULES
        .iter()
        .chain(COMBINATORS)
        .filter(|(strategy, ..)| uses_one(strategy) && !strategy.contains("let "))
        .map(|(strategy, expression, wanted)| {
            let own = mine.iter().fold(strategy.to_string(), |text, (name, own)| text.replace(name, own));
            (format!("{TEXTBOOK}let main = {own}"), *expression, *wanted)
        })
        .collect();
    assert!(rows.len() > 30, "{} rows", rows.len());
    for (strategy, expression, wanted) in rows {
        let found = rewritten(&strategy, expression).expect(&strategy).unwrap_or_default();
        assert_eq!(found, wanted, "{strategy}\n{expression}");
    }
}

#[test]
fn rules_of_the_users_own() {
    holds(OWN_RULES);
    holds(BINDING_RULES);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (strategy, expression, code, help) in ERRORS {
        let problems = rewritten(strategy, expression).expect_err(strategy);
        let problem = problems.iter().find(|problem| problem.code == *code).unwrap_or_else(|| panic!("{strategy}: {problems:?}"));
        assert!(problem.help.as_deref().unwrap_or_default().contains(help), "{strategy}: {problem:?}");
        assert!(problem.span.file <= 1, "{strategy}: no place in {problem:?}");
    }
    let place = |strategy: &str| {
        let problem = rewritten(strategy, "x").expect_err(strategy).remove(0);
        strategy[problem.span.start as usize..problem.span.end as usize].to_string()
    };
    assert_eq!(place("rule r : a + a -> a if atomc a\nr"), "atomc a");
    assert_eq!(place("rule r : a + build 2 f -> a\nr"), "build 2 f");
    assert_eq!(place("rule r : build n (fun i -> a) -> a + 1\nr"), "a + 1");
    assert_eq!(place("rule r : let x = a in f x -> f a if x is free in f\nr"), "x is free in f");
    assert_eq!(place("rule r : a + a -> 2 * (a + b) - c\nr"), "b");
    assert_eq!(place("rule r : a + true -> a\nr"), "true");
    assert_eq!(place("// first\nrule r : a + a -> 2 * a;\n  a < b -> a - b\nr"), "a - b");
    assert_eq!(place("\u{feff}rule r : not a -> a if double a\nr"), "double a");
    assert_eq!(place("let a = id\nlet b = (a ; c)"), "c");
}

#[test]
fn a_strategy_that_doubles_itself_is_refused() {
    let lets: String = (1..60).map(|at| format!("let a{at} = a{} ; a{}\n", at - 1, at - 1)).collect();
    let problems = rewritten(&format!("let a0 = id\n{lets}"), "x").expect_err("too long");
    assert_eq!(problems.first().map(|problem| problem.code), Some("E0128"));
    let lets = |body: &str, inner: &str, depth| {
        format!("let f (s) = {body}\n{}{inner}{}", "let main = ".to_string() + &"f (".repeat(depth), ")".repeat(depth))
    };
    for strategy in [lets("s ; s", "id", 60), lets("s <+ s", "mul-one", 60), lets("innermost (s <+ s)", "mul-one", 60)] {
        let problems = rewritten(&strategy, "x").expect_err("too long");
        assert_eq!(problems.first().map(|problem| problem.code), Some("E0128"));
    }
    let nested = format!("{}fail{}", "topdown (".repeat(9), ")".repeat(9));
    let problems = rewritten(&nested, "vectorMap v (fun x -> sin (cos (x + x * (x + y * (x + y))))) ");
    assert!(problems.is_ok() || problems.is_err_and(|problems| problems.iter().all(|problem| problem.code == "E0602")));
}

#[test]
fn the_command_prints_one_line_or_says_why_not() {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for (args, status, printed) in [
        (&["rewrite", "add-zero", "x + 0.0"][..], 0, "x\n"),
        (&["rewrite", "neg-neg", "-(-x)"], 0, "x\n"),
        (&["rewrite", "mul-one", "-1.5 * 1.0"], 0, "-1.5\n"),
        (&["rewrite", "add-zero", "x + 1.0"], 1, ""),
        (&["rewrite", "add-zro", "x + 1.0"], 1, ""),
        (&["rewrite", "--disable", "mul-one", "mul-one", "x * 1.0"], 1, ""),
        (&["rewrite", "try mul-one", "x * 1.0", "--disable", "mul-one"], 0, "x * 1.0\n"),
        (&["rewrite", "id"], 2, ""),
    ] {
        let output = smoothc(args);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(status), printed), "{args:?}");
        assert_eq!(output.stderr.is_empty(), status == 0, "{args:?}: {}", text(&output.stderr));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.strategy");
    std::fs::write(&path, "rule double : a + a -> 2 * a\nlet main = topdown double\n").expect("writes");
    let output = smoothc(&["rewrite", path.to_str().expect("text"), "sin (x + x)"]);
    assert_eq!(text(&output.stdout), "sin (2.0 * x)\n");
    let output = smoothc(&["rewrite", "vectorAd", "v"]);
    assert_eq!(output.status.code(), Some(1));
}
