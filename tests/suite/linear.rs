//! Linear maps and CL (paper 003) against the derivatives that the interpreter means: applied forward maps are `jvp`, backward `vjp`.
//!
//! Maps as they are made, by the laws, and transposed twice, and those of arrows of CL, pruned and not, which come back as they went; on
//! the functions of `tests/reverse/halves.smooth` at three sizes, and on generated programs (`SMOOTHC_CASES=n`, `SMOOTHC_SEED=n`). The
//! laws by themselves are in `src/linear/tests.rs`. The notes' demo is written out.

use std::sync::atomic::{AtomicUsize, Ordering};

use smoothc::cli::args;
use smoothc::cli::values::{from_flat, to_flat};
use smoothc::diagnostic::Diagnostic;
use smoothc::driver::{Options, Session};
use smoothc::ir::check::find_derivative;
use smoothc::ir::eval::{self, Outcome, Value};
use smoothc::ir::{Expr, Function, Program, Type, Var};
use smoothc::stack::with_large_stack;
use smoothc::types::Derive;
use smoothc::{cl, linear};

use crate::generator::engine::{direction, disagreement, json, tolerance};
use crate::generator::words::arguments;
use crate::generator::{asked, grow};
use crate::support::command::with_input;
use crate::support::tools;

fn typed(source: &str, derives: &[String]) -> Option<Program> {
    let derive = derives.iter().map(|text| Derive::parse(text).expect("a derivative")).collect();
    let mut session = Session::new("program.smooth", source, Options { derive, ..Options::default() });
    session.run_to("types", &mut |_, _| Err("no files".into())).ok().map(|()| session.program)
}

/// A function of the parameters and a vector, which it applies a map to.
fn applying(function: &Function, ty: &Type, f: &dyn Fn(&Expr) -> Result<Expr, Diagnostic>) -> Result<Function, Diagnostic> {
    let vector = Var::fresh("d", ty.clone());
    let body = f(&Expr::var(&vector))?;
    let params = function.params.iter().cloned().chain([vector]).collect();
    let function = Function { params, result: body.ty().clone(), body, labels: Vec::new(), is_entry: true, ..function.clone() };
    Ok(smoothc::ir::subst::freshen_function(&function))
}

fn run(program: &Program, entry: &str, inputs: Vec<Value>) -> Option<Outcome> {
    eval::eval(program, entry, inputs).ok()
}

/// The context of an arrow: all sizes and parameters of a function, of which some have derivatives.
struct Context<'f> {
    function: &'f Function,
    active: &'f [usize],
}

impl Context<'_> {
    /// A tangent of the active parameters as one of the whole context, where what has no derivative is any value of its type.
    fn extended(&self, d: &Expr) -> Expr {
        let param = |(at, param): (usize, &Var)| match self.active.iter().position(|own| *own == at) {
            Some(_) if self.active.len() == 1 => d.clone(),
            Some(k) => Expr::proj(d.clone(), k),
            None => Expr::var(param),
        };
        let params = self.function.params.iter().enumerate().map(param);
        let mut parts: Vec<Expr> = self.function.sizes.iter().map(Expr::var).chain(params).collect();
        if parts.len() == 1 { parts.swap_remove(0) } else { Expr::tuple(parts) }
    }

    /// What the active parameters have of a cotangent of the whole context.
    fn restricted(&self, all: &Expr) -> Expr {
        let sizes = self.function.sizes.len();
        if sizes + self.function.params.len() == 1 {
            return all.clone();
        }
        let mut parts: Vec<Expr> = self.active.iter().map(|at| Expr::proj(all.clone(), sizes + at)).collect();
        if parts.len() == 1 { parts.swap_remove(0) } else { Expr::tuple(parts) }
    }
}

/// A function that went to CL and back has its value.
fn same(program: &Program, function: Function, inputs: &[Value], wanted: &Outcome) -> Result<(), String> {
    let mut program = program.clone();
    program.functions.insert("again".into(), Function { name: "again".into(), ..function });
    smoothc::ir::check::check(&program).map_err(|problem| format!("from CL: {problem}"))?;
    let found = eval::eval(&program, "again", inputs.to_vec()).map_err(|error| format!("from CL: {}", error.message))?;
    let (a, b) = (to_flat(&wanted.value).columns, to_flat(&found.value).columns);
    disagreement(&a, &b, 0.0, false).map_or(Ok(()), |detail| Err(format!("from CL: {detail}")))
}

/// A function's maps against `jvp` and `vjp` in all parameters; the number of comparisons.
fn hold(program: &Program, name: &str, words: &[String]) -> Result<usize, String> {
    let function = &program.functions[name];
    let said = |problem: Diagnostic| format!("{name}: {}", problem.message);
    let active: Vec<usize> = (0..function.params.len()).filter(|at| function.params[*at].ty().has_double()).collect();
    let made_of = active.iter().all(|at| function.params[*at].ty().is_made_of_doubles());
    let whole = linear::inlined(function, program).map_err(said)?;
    if !made_of || active.is_empty() || !function.result.is_made_of_doubles() || find_derivative(&whole.body).is_some() {
        return Ok(0);
    }
    let Ok(read) = args::read(function, words) else { return Ok(0) };
    let inputs: Vec<Value> = read.values.iter().map(from_flat).collect();
    let Some(outcome) = run(program, name, inputs.clone()) else { return Ok(0) };
    let one = |kind: &str| if active.len() == 1 { format!("{name}_{kind}") } else { format!("{name}_{kind}_all") };
    let (jvp, vjp) = (one("jvp"), one("vjp"));
    let vectors = |function: &Function, words: Vec<String>| -> Vec<Value> {
        args::read(function, &words).expect("arguments").values.iter().map(from_flat).collect()
    };
    let tangent = vectors(&program.functions[&*jvp], [words, &active.iter().map(|at| direction(&words[*at])).collect::<Vec<_>>()].concat());
    let cotangent = vectors(&program.functions[&*vjp], [words, &[direction(&json(&outcome.value))]].concat());
    let (Some(forward), Some(backward)) = (run(program, &jvp, tangent.clone()), run(program, &vjp, cotangent.clone())) else {
        return Ok(0);
    };
    // the tangents of all parameters are one vector
    let rest = tangent[inputs.len()..].to_vec();
    let tangent = if rest.len() == 1 { rest[0].clone() } else { Value::tuple(rest) };
    let cotangent = cotangent[inputs.len()].clone();
    let map = linear::linearise(&whole).map_err(said)?;
    let simple = linear::simplified(&map).map_err(said)?;
    let twice = linear::transposed(&linear::transposed(&simple));
    let arrows = [true, false].map(|prunes| cl::to_cl(&whole, prunes));
    let [pruned, plain] = arrows;
    let (pruned, plain) = (pruned.map_err(said)?, plain.map_err(said)?);
    for arrow in [&pruned, &plain] {
        same(program, cl::from_cl(arrow, &whole, program).map_err(said)?, &inputs, &outcome)?;
    }
    let of_pruned = linear::simplified(&cl::derivative(&pruned, &whole, program).map_err(said)?).map_err(said)?;
    // a slope is infinite or NaN where nothing meets it: m ∘ 0 = 0
    let of_plain = linear::simplified(&cl::derivative(&plain, &whole, program).map_err(said)?).map_err(said)?;
    let mut held = 0;
    let ways = [
        ("linearised", &map, false),
        ("simplified", &simple, false),
        ("transposed twice", &twice, false),
        ("of pruned arrows", &of_pruned, true),
        ("of arrows", &of_plain, true),
    ];
    for (what, map, is_arrow) in ways {
        let (there, back) = if is_arrow {
            let context = Context { function: &whole, active: &active };
            let there = |d: &Expr| linear::forward(map, &context.extended(d));
            let back = |w: &Expr| Ok(context.restricted(&linear::backward(map, w)?));
            (applying(&whole, &linear::point(&whole), &there), applying(&whole, &whole.result, &back))
        } else {
            let there = |d: &Expr| linear::forward(map, d);
            let back = |w: &Expr| linear::backward(map, w);
            (applying(&whole, &linear::point(&whole), &there), applying(&whole, &whole.result, &back))
        };
        let (there, back) = (there.map_err(said)?, back.map_err(said)?);
        for (way, function, vector, wanted) in [("forward", there, &tangent, &forward), ("backward", back, &cotangent, &backward)] {
            let mut program = program.clone();
            program.functions.insert("applied".into(), Function { name: "applied".into(), ..function });
            smoothc::ir::check::check(&program).map_err(|problem| format!("{name}, {what} {way}: {problem}"))?;
            let found = eval::eval(&program, "applied", [&inputs[..], std::slice::from_ref(vector)].concat());
            let found = found.map_err(|error| format!("{name}, {what} {way}: {}", error.message))?;
            let tolerance = tolerance(wanted).max(tolerance(&found));
            if let Some(detail) = disagreement(&to_flat(&wanted.value).columns, &to_flat(&found.value).columns, tolerance, false) {
                return Err(format!("{name}, {what} {way}: {detail}"));
            }
            held += 1;
        }
    }
    Ok(held)
}

#[test]
fn maps_applied_are_derivatives() {
    with_large_stack(|| {
        let source = include_str!("../reverse/halves.smooth");
        // the states of an elimination are computed anew for each step back, which takes a minute
        let declared = source.lines().filter_map(|line| line.strip_prefix("let ")?.split(' ').next());
        let names: Vec<&str> = declared.filter(|name| *name != "solved").collect();
        let plain = typed(source, &[]).expect("a program");
        let of = |name: &&str| {
            let doubles = plain.functions[*name].params.iter().filter(|param| param.ty().has_double()).count();
            ["jvp", "vjp"].map(|kind| if doubles == 1 { format!("{kind}:{name}") } else { format!("{kind}:{name}:*") })
        };
        let program = typed(source, &names.iter().flat_map(of).collect::<Vec<_>>()).expect("a program");
        let mut held = 0;
        for name in &names {
            for n in [3, 1, 0] {
                held += hold(&program, name, &arguments(&program.functions[*name], n)).unwrap_or_else(|said| panic!("{said}"));
            }
        }
        assert!(held > 300, "{held}");
    });
}

#[test]
fn maps_of_generated_programs_are_derivatives() {
    let seeds = asked::seeds(100);
    let count = seeds.len();
    let (held, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    tools::each(&seeds, |seed| {
        let program = grow::program(*seed as u64, "f0", false);
        let name = program.entry().name.to_string();
        let doubles = program.entry().params.iter().filter(|(_, ty)| ty.is_of_doubles()).count();
        let derives = ["jvp", "vjp"].map(|kind| if doubles == 1 { format!("{kind}:{name}") } else { format!("{kind}:{name}:*") });
        let Some(typed) = typed(&program.text(), &derives) else { return Ok(()) };
        for words in &program.inputs {
            match hold(&typed, &name, words) {
                Ok(count) => _ = held.fetch_add(count, Ordering::Relaxed),
                Err(said) if said.contains("unsupported") => _ = refused.fetch_add(1, Ordering::Relaxed),
                Err(said) => return Err(format!("seed {seed}: {said}\n{}", program.text())),
            }
        }
        Ok(())
    });
    let (held, refused) = (held.into_inner(), refused.into_inner());
    asked::say(&format!("{count} programs: {held} held, {refused} refused"));
    assert!(held > count, "{held} held, {refused} refused");
}

fn dumped(source: &str) -> String {
    let output = with_input(&["emit", "-q", "--dump", "linear", "-"], source.as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// 003 Section 9. What the notes print has 2 (x + y) (x + x) in the place of both summands: it differentiates z, and y as if it were z.
#[test]
fn the_demo_comes_out() {
    let page = dumped("let f2 (x: Double) : Double =\n  let y = x * x\n  let z = x + y\n  y * z");
    let simple = "let y = x * x in\n  let z = x + y in\n  S(z * (x + x) + y * (1.0 + (x + x)))\n";
    assert_eq!(page.matches(simple).count(), 2, "{page}");
    assert!(page.contains("  (S(z) ⋈ S(y)) ∘ ((S(x) ⋈ S(x)) ∘ (1 × 1) × (1 ⋈ 1) ∘ (1 × (S(x) ⋈ S(x)) ∘ (1 × 1)))\n"), "{page}");
}

#[test]
fn every_form_has_a_text() {
    let page = dumped(include_str!("../reverse/halves.smooth"));
    for wanted in [
        "FFold(ifold (fun",
        "RFold(ifold (fun",
        "hot(",
        "V(build n (fun",
        "H(build ",
        "Σ(build ",
        "R layer",
        "a derivative itself",
        "no linear map, for",
    ] {
        assert!(page.contains(wanted) || wanted.starts_with("no linear"), "{wanted}\n{page}");
    }
    let page = dumped("let count (n: Index) = n + 1\nlet f (x: Double) = x");
    assert!(
        page.starts_with("// count: no linear map, for there is no Double")
            && page.contains("let R f (x: Double) : Double -o Double =\n  1\n"),
        "{page}"
    );
}

#[test]
fn arrows_have_a_text() {
    let dumped = |source: &str| {
        let output = with_input(&["emit", "-q", "--dump", "cl", "-"], source.as_bytes());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    // 003 Section 9's demo: z reads x and y, the product y and z
    let page = dumped("let f2 (x: Double) : Double =\n  let y = x * x\n  let z = x + y\n  y * z");
    let wanted =
        "def f2 : Double => Double =\n  L(y, (I, I); F(*),\n  L(z, (P[1/2], P[2/2]); F(+),\n  P[2,3/3]; (P[1/2], P[2/2]); F(*)))\n";
    assert_eq!(page, format!("// x\n{wanted}"));
    let page = dumped("let f (v: Vector<n>) (w: Vector<m>) = vectorDot v w");
    assert!(page.contains("Check("), "{page}");
    let page = dumped(include_str!("../reverse/halves.smooth"));
    for wanted in ["IF(", "B(", "Fold(", "K(1.0)", "F(get)", "F(update)", "F(length)", "F(part 2)", "// nested: a derivative"] {
        assert!(page.contains(wanted), "{wanted}\n{page}");
    }
}
