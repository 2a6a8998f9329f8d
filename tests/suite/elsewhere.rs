//! What people type who know F#, Python, MATLAB, C or Haskell: one error, and the sentence that helps, kept in `snapshots/elsewhere`.
//!
//! A row is a program as such a person writes it. After a change that is meant to change what is said:
//!
//!     INSTA_UPDATE=always cargo test --test suite elsewhere::

use std::collections::BTreeSet;

use smoothc::diagnostic::Diagnostics;
use smoothc::driver::{Options, Session};
use smoothc::elsewhere::PHRASES;

use crate::support::{snapshot, sources};

#[rustfmt::skip]
const PROGRAMS: &[(&str, &str)] = &[
    ("Vecotr", "let f (v: Vecotr<n>) = vectorSum v\n"),
    ("amp", "let f (x: Double) = if x > 0.0 & x < 1.0 then x else 0.0\n"),
    ("and", "let f (x: Double) = if x > 0.0 and x < 1.0 then x else 0.0\n"),
    ("array_init", "let f (n: Index) = Array.init n (fun i -> double i)\n"),
    ("array_map", "let f (v: Vector<n>) = Array.map (fun x -> x * x) v\n"),
    ("array_pattern", "let f (v: Vector<n>) =\n  match v with\n  | [a, b] -> a + b\n  | _ -> 0.0\n"),
    ("array_pattern_bars", "let f (v: Vector<n>) = match v with | [| a; b |] -> a + b | _ -> 0.0\n"),
    ("array_pattern_first", "let f (v: Vector<n>) = match v with [] -> 0.0 | _ -> v[0]\n"),
    ("array_pattern_first_bars", "let f (v: Vector<n>) = match v with [||] -> 0.0 | _ -> v[0]\n"),
    ("array_pattern_fun", "let f (A: Matrix<n, 2>) = vectorMap A (fun [a, b] -> a + b)\n"),
    ("array_pattern_let", "let f (v: Vector<2>) =\n  let [a, b] = v\n  a + b\n"),
    ("array_sum", "let f (v: Vector<n>) = Array.sum v\n"),
    ("assign", "let f (x: Double) =\n  let s = x\n  s <- s + 1.0\n  s\n"),
    ("at", "let f (A: Matrix<n, m>) (B: Matrix<m, k>) = A @ B\n"),
    ("backpipe", "let f (x: Double) = sin <| x\n"),
    ("bang", "let f (b: Bool) = !b\n"),
    ("build_double", "let f (n: Double) = build n (fun i -> 1.0)\n"),
    ("c_array", "let f (v: double*) = v\n"),
    ("c_func", "double f(double x) {\n  return x * x;\n}\n"),
    ("call_tuple", "let g (x: Double) (y: Double) = x + y\nlet f (x: Double) = g(x, 1.0)\n"),
    ("call_tuple_lib", "let f (v: Vector<n>) (w: Vector<n>) = vectorDot(v, w)\n"),
    ("caret", "let f (x: Double) = x ^ 2.0\n"),
    ("case_of", "let f (n: Index) =\n  case n of\n    0 -> 1.0\n"),
    ("comp_fs", "let f (v: Vector<n>) = [for x in v -> x * x]\n"),
    ("comp_hs", "let f (v: Vector<n>) = [x * x | x <- v]\n"),
    ("comp_py", "let f (v: Vector<n>) = [x * x for x in v]\n"),
    ("comparison_of_index", "let f (i: Index) (x: Double) = if i < x then 1.0 else 0.0\n"),
    ("compose", "let f (x: Double) = (sin >> cos) x\n"),
    ("cons", "let f (x: Double) = x :: []\n"),
    ("const_f", "let f (x: Double) = 2.0f * x\n"),
    ("dashdash", "-- a comment\nlet f (x: Double) = x\n"),
    ("deeper", "let f (x: Double) =\n  let a = x\n    let b = a\n  a + b\n"),
    ("deeper2", "let f (x: Double) =\n  let a = x + 1.0\n      a * 2.0\n"),
    ("def", "def f(x):\n  return x * x\n"),
    ("div_infix", "let f (i: Index) = i div 2\n"),
    ("dollar", "let f (x: Double) = sin $ x\n"),
    ("dot", "let f (v: Vector<n>) (w: Vector<n>) = dot v w\n"),
    ("dot_caret", "let f (v: Vector<n>) = v.^2\n"),
    ("dot_method", "let f (v: Vector<n>) (w: Vector<n>) = v.dot(w)\n"),
    ("double_array_postfix", "let f (v: Double array) = vectorSum v\n"),
    ("double_for_size", "let f (n: Double) = vectorZeros n\n"),
    ("double_size", "let f (v: Vector<n>) = vectorZeros (double n)\n"),
    ("double_times_index", "let f (n: Index) (x: Double) = x * n\n"),
    ("elseif_py", "let f (x: Double) =\n  if x > 0.0:\n    1.0\n  else:\n    2.0\n"),
    ("end", "let f (x: Double) =\n  x * x\n  end\n"),
    ("float_array", "let f (v: float[]) = vectorSum v\n"),
    ("float_func", "float f(float x) {\n  return x * x;\n}\n"),
    ("float_i", "let f (n: Index) = build n (fun i -> float i)\n"),
    ("float_n", "let f (v: Vector<n>) = vectorSum v / float n\n"),
    ("float_size", "let f (v: Vector<n>) = build (double n) (fun i -> v[i])\n"),
    ("float_type", "let f (x: float) = x * 2.0\n"),
    ("fn", "fn f(x: f64) -> f64 { x }\n"),
    ("for_c", "let f (v: Vector<n>) =\n  for (int i = 0; i < n; i++) {\n    s += v[i];\n  }\n  s\n"),
    ("for_in", "let f (v: Vector<n>) =\n  let s = 0.0\n  for x in v do\n    s = s + x\n  s\n"),
    ("for_in_py", "let f (v: Vector<n>) =\n  for i in range(3):\n    s = s + v[i]\n  s\n"),
    ("for_to", "let f (v: Vector<n>) =\n  let mutable s = 0.0\n  for i = 0 to n - 1 do\n    s <- s + v[i]\n  s\n"),
    ("from_import", "from math import sqrt\nlet f (x: Double) = sqrt x\n"),
    ("function_matlab", "function y = f(x)\n  y = x * x\nend\n"),
    ("hash", "# a comment\nlet f (x: Double) = x\n"),
    ("hs_def", "f x = x * x\n"),
    ("hs_sig", "f :: Double -> Double\nf x = x * x\n"),
    ("if_c", "let f (x: Double) =\n  if (x > 0.0) {\n    1.0\n  } else { 2.0 }\n"),
    ("import", "import numpy as np\nlet f (x: Double) = x\n"),
    ("include", "#include <math.h>\nlet f (x: Double) = x\n"),
    ("incr", "let f (i: Index) = i++\n"),
    ("index_plus", "let f (v: Vector<n>) = build n (fun i -> v[i] + i)\n"),
    ("index_times_double", "let f (n: Index) (x: Double) = n * x\n"),
    ("int_func", "int f(int x) {\n  return x * x;\n}\n"),
    ("int_type", "let f (n: int) = n * 2\n"),
    ("int_x", "let f (x: Double) = int x\n"),
    ("lambda_hs", "let f (v: Vector<n>) = vectorMap v (\\x -> x * x)\n"),
    ("lambda_py", "let f (v: Vector<n>) = vectorMap v (lambda x: x * x)\n"),
    ("lambda_two", "let f (v: Vector<n>) = vectorMap2 v v (lambda x, y: x * y)\n"),
    ("len", "let f (v: Vector<n>) = len(v)\n"),
    ("let_mut", "let f (x: Double) =\n  let mut s = x\n  s\n"),
    ("let_mutable", "let f (x: Double) =\n  let mutable s = x\n  s\n"),
    ("let_rec", "let rec f (n: Index) = if n = 0 then 1 else n * f (n - 1)\n"),
    ("list_map", "let f (v: Vector<n>) = List.map (fun x -> x * x) v\n"),
    ("list_type", "let f (v: list<float>) = vectorSum v\n"),
    ("long_lit", "let f (i: Index) = i + 1L\n"),
    ("map2_order", "let f (v: Vector<n>) (w: Vector<n>) = vectorMap2 (fun x y -> x * y) v w\n"),
    ("map_order", "let f (v: Vector<n>) = vectorMap (fun x -> x * x) v\n"),
    ("map_order_named", "let g (x: Double) = x * x\nlet f (v: Vector<n>) = vectorMap g v\n"),
    ("math_sqrt", "let f (x: Double) = Math.sqrt(x)\n"),
    ("matrix_index", "let f (A: Matrix<3, 3>) = A[0, 1]\n"),
    ("mean", "let f (v: Vector<n>) = np.mean(v)\n"),
    ("minus_eq", "let f (x: Double) =\n  let s = x\n  s -= 1.0\n  s\n"),
    ("missing_eq", "let f (x: Double) x\n"),
    ("mod", "let f (i: Index) = mod i 2\n"),
    ("mod_infix", "let f (i: Index) = i mod 2\n"),
    ("module", "module A\nlet f (x: Double) = x\n"),
    ("mutable_assign", "let f (x: Double) =\n  let mutable s = x\n  s <- s + 1.0\n  s\n"),
    ("namespace", "namespace A\nlet f (x: Double) = x\n"),
    ("neq", "let f (x: Double) = if x /= 0.0 then x else 1.0\n"),
    ("none", "let f (x: Double) = None\n"),
    ("not_indented", "let f (x: Double) =\nx * x\n"),
    ("not_indented_let", "let f (x: Double) =\nlet y = x * x\ny\n"),
    ("np_dot", "let f (v: Vector<n>) (w: Vector<n>) = np.dot(v, w)\n"),
    ("or", "let f (x: Double) = if x > 0.0 or x < 1.0 then x else 0.0\n"),
    ("paren_index", "let f (v: Vector<3>) = v(1)\n"),
    ("percent", "% a comment\nlet f (x: Double) = x\n"),
    ("plus_eq", "let f (x: Double) =\n  let s = x\n  s += 1.0\n  s\n"),
    ("print_py", "let f (x: Double) =\n  print(x)\n  x\n"),
    ("print_text", "let f (x: Double) =\n  print \"x\"\n  x\n"),
    ("printf", "let f (x: Double) =\n  printf \"%f\" x\n  x\n"),
    ("printfn", "let f (x: Double) =\n  printfn \"%f\" x\n  x\n"),
    ("range_fs", "let f (n: Index) = [0 .. n]\n"),
    ("real_n", "let f (v: Vector<n>) = vectorSum v / real n\n"),
    ("real_type", "let f (x: real) = x\n"),
    ("record_unknown_field", "let f (c: Camera) = c.focal\n"),
    ("record_without_type", "let f (x: Double) = { focal = x; depth = 2.0 }\n"),
    ("for_to_read", "let f (v: Vector) =\n  for i = 0 to 3 do\n    v[i]\n"),
    ("match_rows", "type S = | A of Double | B\nlet f (s: S) =\n  match s with\n    A x -> x\n    B -> 0.0\n"),
    ("record_colon", "type C = { a: Double; b: Double }\nlet f (x: Double) : C = { a: x; b: x }\n"),
    ("record_comma", "type C = { a: Double; b: Double }\nlet f (x: Double) : C = { a = x, b = x }\n"),
    ("record_name", "type C = { a: Double; b: Double }\nlet f (x: Double) = C { a = x; b = x }\n"),
    ("type_comma", "type C = { a: Double, b: Double }\nlet f (c: C) = c.a\n"),
    ("return_inline", "let f (x: Double) = return x\n"),
    ("while_read", "let f (v: Vector) =\n  while true do\n    v\n"),
    ("return", "let f (x: Double) =\n  return x * x\n"),
    ("semicolon", "let f (x: Double) = x;\n"),
    ("seq_fold", "let f (v: Vector<n>) = Seq.fold (fun s x -> s + x) 0.0 v\n"),
    ("seq_if", "let f (x: Double) =\n  if x > 0.0 then\n    1.0\n"),
    ("size_times_double", "let f (v: Vector<n>) = vectorSum v / n\n"),
    ("slice_py", "let f (v: Vector<5>) = v[0:2]\n"),
    ("slice_py_open", "let f (v: Vector<5>) = v[1:]\n"),
    ("slice_py_open2", "let f (v: Vector<5>) = v[:2]\n"),
    ("static", "const a = 3\n"),
    ("string", "let f = \"hello\"\n"),
    ("string_sq", "let f = 'hello'\n"),
    ("struct", "struct camera { double focal; };\nlet f (x: Double) = x\n"),
    ("ternary", "let f (x: Double) = x > 0.0 ? x : 0.0\n"),
    ("times_eq", "let f (x: Double) =\n  let s = x\n  s *= 2.0\n  s\n"),
    ("transpose_matlab", "let f (A: Matrix<n, m>) (v: Vector<n>) = A' * v\n"),
    ("transpose_py", "let f (A: Matrix<n, m>) = A.T\n"),
    ("transposed_method", "let f (A: Matrix<n, m>) = A.transpose()\n"),
    ("true_py", "let f (x: Double) = if True then x else 0.0\n"),
    ("type_hs", "let f : Double -> Double = fun x -> x\n"),
    ("v_length", "let f (v: Vector<n>) = v.Length\n"),
    ("v_shape", "let f (v: Vector<n>) = v.shape[0]\n"),
    ("var", "var a = 3\n"),
    ("vector_lc", "let f (v: vector<n>) = vectorSum v\n"),
    ("vector_list", "let f (v: Double list) = vectorSum v\n"),
    ("vector_lit_type", "let f (v: Vector[3]) = v\n"),
    ("void_func", "void f(double *x) {\n  x[0] = 1;\n}\n"),
    ("when_guard", "type O = | None | Some of Double\nlet f (o: O) =\n  match o with\n  | Some x when x > 0.0 -> x\n  | _ -> 0.0\n"),
    ("where", "let f (x: Double) = y * y where y = x\n"),
    ("while", "let f (x: Double) =\n  while x > 1.0 do\n    x <- x / 2.0\n  x\n"),
    ("while_py", "let f (x: Double) =\n  while x > 1.0:\n    x = x / 2.0\n  return x\n"),
];

/// What the compiler says of a program before anything is emitted, and the program's session.
fn said(text: &str) -> (Diagnostics, Session) {
    let mut session = Session::new("f.smooth", text, Options::default());
    let problems = match session.run_to("types", &mut sources::open) {
        Ok(()) => session.warnings.clone(),
        Err(problems) => problems,
    };
    (problems, session)
}

#[test]
fn each_program_has_one_error_with_the_sentence_that_helps() {
    smoothc::stack::with_large_stack(|| {
        for (name, text) in PROGRAMS {
            let (problems, session) = said(text);
            let errors = problems.iter().filter(|problem| problem.code.starts_with('E'));
            assert_eq!(errors.count(), 1, "{name}: {problems:?}");
            assert!(problems.iter().all(|problem| problem.help.is_some()), "{name}: {problems:?}");
            snapshot::holds("elsewhere", name, &format!("{text}\n{}", sources::drawn(&problems, &session)));
        }
    });
}

#[test]
fn every_phrase_has_a_program() {
    smoothc::stack::with_large_stack(|| {
        let met: BTreeSet<(String, Option<String>)> =
            PROGRAMS.iter().flat_map(|(_, text)| said(text).0).map(|problem| (problem.message, problem.help)).collect();
        for phrase in PHRASES {
            let wanted = (phrase.message.to_string(), Some(phrase.help.to_string()));
            assert!(met.contains(&wanted), "no program of PROGRAMS meets `{}`", phrase.words);
        }
    });
}

#[test]
fn words_of_other_languages_are_names_where_the_program_is_right() {
    smoothc::stack::with_large_stack(|| {
        for text in [
            "let f (mod: Double => Double) (x: Double) = mod x\nlet g (or: Double) = or * 2.0\n",
            "let return (x: Double) = x\nlet f (where: Double) (end: Double) =\n  let while = return where\n  while + end\n",
            "let f (x: Double) = if x < -1.0 then x else -x\nlet g (x: Double) (y: Double) = x <-y\n",
            "let f (v: Array<Vector<n>>) (w: Vector<m>) = v[0][0] + w[0]\n",
        ] {
            let (problems, _) = said(text);
            assert!(problems.iter().all(|problem| problem.code.starts_with('W')), "{text}: {problems:?}");
        }
    });
}

#[test]
fn other_errors_of_the_declaration_are_said_too() {
    smoothc::stack::with_large_stack(|| {
        for (text, codes) in [
            ("let f (i: Index) = i mod 2 + zz\nlet g (x: Double) = y\n", &["E0115", "E0202", "E0202"][..]),
            ("let f (x: Double) = x\nlet f (i: Index) = i mod 2\n", &["E0201"]),
            ("let f (x: Double) = y where y = x\nlet g (x: Double) = x ^ 2 ^ 3\n", &["E0115", "E0115"]),
        ] {
            let (problems, _) = said(text);
            assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), codes, "{text}: {problems:?}");
        }
    });
}
