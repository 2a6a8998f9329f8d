//! `--size NAME=INT`: specialised programs compute what the general ones do.
//!
//! Every case of every example is specialised to the sizes that its arguments have: the interpreter runs the program as
//! specialised and after rewriting, against the general program; one case of each example also as C, under sanitizers
//! and with every warning an error. What is emitted for two small programs is kept in `snapshots/size`.

use smoothc::driver::{Options, Session};
use smoothc::ir::{Function, Type, Var};
use smoothc::types::FixedSize;

use crate::support::cases::{Example, Wanted};
use crate::support::native::Call;
use crate::support::{cases, engine, native, silent, snapshot, sources, tools};

fn compile(path: &str, text: &str, entry: &str, sizes: Vec<FixedSize>, stage: &str) -> Result<Session, String> {
    let options = Options { entries: vec![entry.to_string()], sizes, header: "program.h".into(), ..Options::default() };
    let mut session = Session::new(path, text, options);
    match session.run_to(stage, &mut sources::open) {
        Ok(()) => Ok(session),
        Err(problems) => Err(sources::drawn(&problems, &session)),
    }
}

/// The sizes of a function, and the Index parameters that are sizes.
fn sizes(function: &Function) -> Vec<Var> {
    let mut found = function.sizes.clone();
    for ty in function.params.iter().map(Var::ty).chain([&function.result]) {
        ty.each_size(&mut |size| size.each_var(&mut |var| found.push(var.clone())));
    }
    // a Bool may choose between lengths
    found.retain(|var| matches!(var.ty(), Type::Index(_)));
    found.sort_by_key(|var| var.name().to_string());
    found.dedup();
    found
}

#[test]
fn specialised_examples_agree_with_the_general_ones() {
    let sanitizers = tools::has_sanitizers();
    if !sanitizers {
        tools::skipped(&format!("{} has no sanitizers here", tools::c_compiler()));
    }
    tools::each(&cases::all(), |example| agree(example, sanitizers).map_err(|problem| format!("{}: {problem}", example.path)));
}

fn agree(example: &Example, sanitizers: bool) -> Result<(), String> {
    let general = engine::compile(&example.path, &example.text, "none", "types")?;
    let mut as_c = false;
    for case in example.cases.iter().filter(|case| matches!(case.wanted, Wanted::Value(_))) {
        let known = engine::arguments(&general, &case.entry, &case.words)?;
        let function = general.entry(&case.entry).map_err(|_| "no entry")?;
        let value = |var: Var| known.bindings.get(&var).map(|value| FixedSize { name: var.name().to_string(), value });
        let fixed: Vec<FixedSize> = sizes(function).into_iter().filter_map(value).collect();
        if fixed.is_empty() {
            continue;
        }
        let wanted = engine::interpret(&general, &case.entry, &known.values).map_err(|problem| format!("{}: {problem}", case.line))?;
        let stages: &[&str] = if as_c { &["types", "rewrite"] } else { &["types", "rewrite", "emit"] };
        for stage in stages {
            let named = |problem: String| format!("{}, {stage}: {problem}", case.line);
            let session = compile(&example.path, &example.text, &case.entry, fixed.clone(), stage).map_err(named)?;
            let special = session.entry(&case.entry).map_err(|_| "no entry")?;
            if !sizes(special).is_empty() || !special.sizes.is_empty() {
                return Err(named(format!("it still has the sizes {:?}", sizes(special))));
            }
            let is_left = |name: &str| special.params.iter().any(|param| &**param.name() == name);
            let words = case.words.iter().zip(&function.params).filter(|(_, param)| is_left(param.name())).map(|(word, _)| word.clone());
            let arguments = engine::arguments(&session, &case.entry, &words.collect::<Vec<_>>()).map_err(named)?;
            if *stage != "emit" {
                let found = engine::interpret(&session, &case.entry, &arguments.values).map_err(named)?;
                engine::difference(&wanted, &found.value).map_or(Ok(()), |problem| Err(named(problem)))?;
                continue;
            }
            as_c = true;
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let calls = [Call { entry: &case.entry, arguments: &arguments }];
            let text = native::program(&session, &calls).map_err(named)?;
            silent::files(session.emitted().map_err(|_| "no C")?).map_err(named)?;
            let run = if sanitizers { native::sanitized } else { native::optimised };
            match run(&text, &session, &calls, folder.path()).map_err(named)?.pop() {
                Some(Ok(found)) => engine::difference(&wanted, &found).map_or(Ok(()), |problem| Err(named(problem)))?,
                Some(Err(status)) => return Err(named(format!("fails with {}", engine::status_name(status)))),
                None => return Err(named("no result".into())),
            }
        }
    }
    Ok(())
}

const PROGRAM: &str = "
/// The gradient of a product in its first factor.
let dotGradient (a: Vector<n>) (b: Vector<n>) : Vector<n> = gradient (fun x -> vectorDot x b) a
/// A product.
let product (A: Matrix<n, m>) (B: Matrix<m, k>) : Matrix<n, k> = matrixMul A B
/// Multiples of a number.
let ramp (n: Index) (x: Double) : Vector<n> = build n (fun i -> x * double i)
/// It calls entries of other sizes.
let other (v: Vector<p>) : Double = vectorDot (ramp (length v) 2.0) (dotGradient v v)
/// The first elements.
let first (v: Vector<n>) (k: Index<n>) : Vector<k> = build k (fun i -> v[i])
/// No size.
let square (x: Double) : Double = x * x
";

fn fixed(sizes: &[(&str, i64)]) -> Vec<FixedSize> {
    sizes.iter().map(|(name, value)| FixedSize { name: name.to_string(), value: *value }).collect()
}

#[test]
fn every_entry_with_the_size_is_specialised_and_no_other() {
    let mut session = Session::new("p.smooth", PROGRAM, Options { sizes: fixed(&[("n", 3)]), ..Options::default() });
    session.run_to("types", &mut sources::open).unwrap_or_else(|problems| panic!("{problems:?}"));
    let wanted = [
        "let dotGradient (a: Vector<3>) (b: Vector<3>) : Vector<3>",
        "let product (A: Matrix<3, m>) (B: Matrix<m, k>) : Matrix<3, k>",
        "let ramp (x: Double) : Vector<3>",
        "let other (v: Vector<p>) : Double",
        "let first (v: Vector<3>) (k: Index<3>) : Vector<k>",
        "let square (x: Double) : Double",
    ];
    assert_eq!(session.signatures.iter().map(|signature| &*signature.text).collect::<Vec<_>>(), wanted);
    // `other` has four elements, whatever the entries that it calls are fixed to
    let words = ["[1, 2, 3, 4]".to_string()];
    for stage in ["types", "rewrite"] {
        session.run_to(stage, &mut sources::open).unwrap_or_else(|problems| panic!("{problems:?}"));
        let arguments = engine::arguments(&session, "other", &words).expect("fits");
        let found = engine::interpret(&session, "other", &arguments.values).expect("a value");
        assert_eq!(engine::doubles(&found.value), [40.0], "{stage}");
    }
}

/// Names of components stay with their parameters where one before them is fixed.
#[test]
fn records_keep_their_names_after_a_fixed_index() {
    let program = "\
type P = { a: Double; b: Double }
type Q = { b: Double; a: Double }
let f (n: Index) (v: Vector<n>) (p: P) (q: Q) : Q = { a = vectorSum v + 10.0 * p.a + 100.0 * p.b; b = q.a + 10.0 * q.b }
";
    let session = compile("f.smooth", program, "f", fixed(&[("n", 2)]), "types").expect("is typed");
    let function = &session.program.functions["f"];
    assert_eq!(function.params.len() + 1, function.labels.len());
    for (at, name) in [(1, "a"), (2, "b"), (3, "b")] {
        let first = function.labels[at].field(0).map(|field| field.to_string());
        assert_eq!(first.as_deref(), Some(name), "{at}");
    }
}

#[test]
fn what_does_not_fit_is_a_diagnostic() {
    let code = |sizes: &[(&str, i64)]| {
        let mut session = Session::new("p.smooth", PROGRAM, Options { sizes: fixed(sizes), ..Options::default() });
        let problems = session.run_to("types", &mut sources::open).err().unwrap_or_default();
        problems.iter().map(|problem| format!("{}: {}", problem.code, problem.help.as_deref().unwrap_or_default())).collect::<Vec<_>>()
    };
    assert_eq!(code(&[("q", 3), ("n", 3)]), ["E0816: the entries' sizes are: n, m, k, p"]);
    assert_eq!(code(&[("n", 3), ("n", 4)]), ["E0816: a size has one value"]);
    assert_eq!(code(&[("n", 3), ("n", 3)]), Vec::<String>::new());
    let session = compile("p.smooth", PROGRAM, "dotGradient", fixed(&[("n", 3)]), "types").unwrap_or_else(|problem| panic!("{problem}"));
    let words = ["[1, 2]".to_string(), "[1, 2]".to_string()];
    assert_eq!(engine::arguments(&session, "dotGradient", &words).err().as_deref(), Some("E0806"));
    // a fixed parameter is still below its bound
    for (k, wanted) in [(2, None), (3, Some("RANGE")), (7, Some("RANGE"))] {
        for stage in ["types", "rewrite"] {
            let session = compile("p.smooth", PROGRAM, "first", fixed(&[("k", k)]), stage).unwrap_or_else(|problem| panic!("{problem}"));
            let arguments = engine::arguments(&session, "first", &["[1, 2, 3]".to_string()]).expect("fits");
            assert_eq!(engine::interpret(&session, "first", &arguments.values).err().as_deref(), wanted, "k = {k}, {stage}");
        }
    }
}

#[test]
fn a_fixed_size_has_a_name_and_is_not_negative() {
    assert_eq!(FixedSize::parse("n=3"), Ok(FixedSize { name: "n".into(), value: 3 }));
    for wrong in ["n", "n=", "=3", "n=-1", "n=3.0", "n=99999999999999999999", "n=9223372036854775807"] {
        assert!(FixedSize::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn specialised_c_is_as_in_the_snapshots() {
    smoothc::stack::with_large_stack(|| {
        for entry in ["dotGradient", "product"] {
            let sizes = fixed(if entry == "product" { &[("n", 3), ("m", 3), ("k", 3)] } else { &[("n", 3)] });
            let session = compile("p.smooth", PROGRAM, entry, sizes, "emit").unwrap_or_else(|problem| panic!("{problem}"));
            snapshot::holds("size", &format!("{entry}.c"), &session.print("emit"));
            let index = session.entry(entry).expect("an entry").params.iter().any(|param| matches!(param.ty(), Type::Index(_)));
            assert!(!index, "a fixed size is no parameter");
        }
    });
}

/// Programs that a size specialises to much or to little.
const SIZED: &str = "
let product (A: Matrix<n, n>) (B: Matrix<n, n>) : Matrix<n, n> = matrixMul A B
let tall (A: Matrix<n, 3>) (B: Matrix<3, n>) : Matrix<n, n> = matrixMul A B
let columnSums (A: Matrix<n, n>) : Vector<n> = build (matrixCols A) (fun j -> ifold (fun s i -> s + A[i][j]) 0.0 (length A))
let softmax (v: Vector<n>) : Vector<n> = gradient logSumExp v
let unit (v: Vector<n>) : Matrix<n, n> = jacobian (fun x -> vectorSMul x (1.0 / vectorNorm x)) v
let quadratic (A: Matrix<n, n>) (v: Vector<n>) : Vector<n> = gradient (fun x -> vectorDot x (matrixVectorMul A x)) v
";

/// Numbers that differ, as an argument of a type.
fn numbers(ty: &Type, n: usize, seed: &mut usize) -> String {
    match ty {
        Type::Array(element, size) => {
            let count = size.as_constant().map_or(n, |count| count as usize);
            format!("[{}]", (0..count).map(|_| numbers(element, n, seed)).collect::<Vec<_>>().join(", "))
        }
        _ => {
            *seed += 1;
            format!("{:.3}", ((*seed * 37) % 41) as f64 / 10.0 - 1.7)
        }
    }
}

#[test]
fn a_specialised_program_is_no_longer_and_means_the_same() {
    smoothc::stack::with_large_stack(|| {
        let entries = ["product", "tall", "columnSums", "softmax", "unit", "quadratic"];
        for entry in entries {
            let general = compile("p.smooth", SIZED, entry, fixed(&[]), "emit").unwrap_or_else(|problem| panic!("{problem}"));
            let general_lines = general.print("emit").lines().count();
            for n in [5, 8, 9, 13, 16] {
                let session =
                    compile("p.smooth", SIZED, entry, fixed(&[("n", n as i64)]), "emit").unwrap_or_else(|problem| panic!("{problem}"));
                let lines = session.print("emit").lines().count();
                assert!(lines <= general_lines, "{entry} has {lines} lines for n = {n}, {general_lines} for any n");
                let function = general.entry(entry).expect("an entry");
                let words: Vec<String> = function.params.iter().map(|param| numbers(param.ty(), n, &mut 0)).collect();
                let arguments = engine::arguments(&session, entry, &words).expect("fits");
                let plain = compile("p.smooth", SIZED, entry, fixed(&[]), "types").unwrap_or_else(|problem| panic!("{problem}"));
                let given = engine::arguments(&plain, entry, &words).expect("fits");
                let wanted = engine::interpret(&plain, entry, &given.values).expect("a value");
                let calls = [Call { entry, arguments: &arguments }];
                let text = native::program(&session, &calls).expect("a program");
                let folder = tempfile::tempdir().expect("a folder");
                match native::optimised(&text, &session, &calls, folder.path()).expect("it runs").pop() {
                    Some(Ok(found)) => engine::difference(&wanted, &found).map_or((), |problem| panic!("{entry}, n = {n}: {problem}")),
                    other => panic!("{entry}, n = {n}: {other:?}"),
                }
            }
        }
    });
}
