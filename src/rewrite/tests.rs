//! The engine and the rules on small terms made by hand.

use super::*;
use crate::ir::{Prim, Size, Term, Type, Var};
use crate::stack::with_large_stack;

/// A number for each primitive, so that terms print in a line.
fn show(expr: &Expr) -> String {
    let all = |items: &[Expr]| items.iter().map(show).collect::<Vec<_>>().join(", ");
    match expr.term() {
        Term::Var(var) => var.name().to_string(),
        Term::Double(value) => format!("{value:?}"),
        Term::Index(value) => value.to_string(),
        Term::Bool(value) => value.to_string(),
        Term::Prim(prim, args) => format!("{}({})", prim.row().name, all(args)),
        Term::Let(x, a, b) => format!("let {} = {} in {}", x.name(), show(a), show(b)),
        Term::If(c, a, b) => format!("if {} then {} else {}", show(c), show(a), show(b)),
        Term::Build { n, i, body } => format!("build({}, {}. {})", show(n), i.name(), show(body)),
        Term::Fold { n, acc, i, body, init } => format!("fold({}, {}. {}. {}, {})", show(n), acc.name(), i.name(), show(body), show(init)),
        Term::Get(a, i) => format!("{}[{}]", show(a), show(i)),
        Term::Dim(a, axis) => format!("dim({}, {axis})", show(a)),
        Term::Tuple(parts) => format!("({})", all(parts)),
        Term::Proj(a, k) => format!("{}.{k}", show(a)),
        Term::Array(items) => format!("[{}]", all(items)),
        Term::Call(name, args) => format!("{name}({})", all(args)),
        Term::Iso(iso, operands) => format!("{iso:?}({})", all(operands)),
        Term::Check { cond, status, body } => format!("check {} else {status:?} in {}", show(cond), show(body)),
        Term::Update(change, parts) => format!("{}({})", change.name(), all(parts)),
        Term::Vjp { x, at, cotangent, body } => format!("vjp({} = {}, {}). {}", x.name(), show(at), show(cotangent), show(body)),
        Term::While { state, init, body } => format!("while({} = {}. {})", state.name(), show(init), show(body)),
        Term::Dual { x, at, tangent, body } => format!("dual({} = {}, {}). {}", x.name(), show(at), show(tangent), show(body)),
    }
}

fn function(name: &str, sizes: &[&Var], params: &[&Var], body: Expr) -> Function {
    let all = |vars: &[&Var]| vars.iter().map(|var| (*var).clone()).collect();
    Function { is_entry: !name.starts_with('_'), ..Function::entry(name, all(sizes), all(params), body) }
}

fn vector(name: &str, n: &Var) -> Var {
    Var::fresh(name, Type::array(Type::Double, Size::var(n)))
}

fn optimised(functions: Vec<Function>) -> String {
    let program = Program { functions: functions.into_iter().map(|f| (f.name.clone(), f)).collect() };
    let schedule = Schedule::builtin("default").expect("a built-in schedule");
    let program = optimise(&program, &schedule, &Options::default()).expect("no diagnostic").program;
    program.functions.values().map(|f| show(&f.body)).collect::<Vec<_>>().join("\n")
}

fn binary(prim: Prim, a: Expr, b: Expr) -> Expr {
    Expr::prim(prim, vec![a, b])
}

#[test]
fn builtin_schedules_parse() {
    for text in
        [include_str!("schedules/none.strategy"), include_str!("schedules/paper.strategy"), include_str!("schedules/default.strategy")]
    {
        if let Err(error) = Schedule::parse("", text, 0) {
            panic!("{}: {}", error.message, &text[error.span.start as usize..error.span.end as usize]);
        }
    }
    for name in ["none", "paper", "default"] {
        assert!(Schedule::builtin(name).is_some(), "{name}");
    }
}

#[test]
fn transpose_twice_is_the_matrix() {
    let (n, m) = (Var::fresh("n", Type::INDEX), Var::fresh("m", Type::INDEX));
    let (p, q) = (Var::fresh("p", Type::INDEX), Var::fresh("q", Type::INDEX));
    let a = Var::fresh("a", Type::array(Type::array(Type::Double, Size::var(&q)), Size::var(&p)));
    let x = Expr::var(&a);
    let body =
        Expr::build(Expr::dim(x.clone(), 1), "i", |i| Expr::build(Expr::dim(x.clone(), 0), "j", |j| Expr::get(Expr::get(x.clone(), j), i)));
    let transpose = function("_transpose", &[&p, &q], &[&a], body);
    let matrix = Var::fresh("M", Type::array(Type::array(Type::Double, Size::var(&m)), Size::var(&n)));
    let twice = Expr::call(&transpose, vec![Expr::call(&transpose, vec![Expr::var(&matrix)])]);
    assert_eq!(optimised(vec![transpose, function("twice", &[&n, &m], &[&matrix], twice)]), "M");
}

#[test]
fn an_index_out_of_bounds_stays_an_error() {
    let n = Var::fresh("n", Type::INDEX);
    let (v, k) = (vector("v", &n), Var::fresh("k", Type::INDEX));
    let doubled = Expr::build(Expr::dim(Expr::var(&v), 0), "i", |i| binary(Prim::Mul, Expr::get(Expr::var(&v), i), Expr::double(2.0)));
    let body = Expr::get(doubled, Expr::var(&k));
    let text = optimised(vec![function("f", &[&n], &[&v, &k], body)]);
    assert_eq!(text, "check &&(<=(0, k), <(k, n)) else Bounds in *(2.0, v[k])");
}

#[test]
fn a_shared_array_is_not_recomputed() {
    let n = Var::fresh("n", Type::INDEX);
    let v = vector("v", &n);
    let t = Expr::build(Expr::var(&n), "i", |i| {
        let x = Expr::get(Expr::var(&v), i);
        binary(Prim::Mul, x.clone(), x)
    });
    let sum =
        |t: &Expr, j: Expr| Expr::fold(Expr::var(&n), "s", "k", at(&v, &j), |s, k| Expr::prim(Prim::Min, vec![s, Expr::get(t.clone(), k)]));
    let body = Expr::bind("t", t, |t| Expr::build(Expr::var(&n), "j", |j| sum(&t, j)));
    let text = optimised(vec![function("f", &[&n], &[&v], body)]);
    assert!(text.starts_with("let t = build(n, i. let v_i = v[i] in *(v_i, v_i)) in"), "{text}");
}

#[test]
fn a_chain_of_lets_is_visited_in_linear_time() {
    with_large_stack(long_chain);
}

fn long_chain() {
    let x = Var::fresh("x", Type::Double);
    let mut value = Expr::var(&x);
    let mut lets = Vec::new();
    for at in 0..2000 {
        let var = Var::fresh(&format!("t{at}"), Type::tuple(vec![Type::Double, Type::Double]));
        lets.push((var.clone(), Expr::tuple(vec![value.clone(), Expr::double(1.0)])));
        value = binary(Prim::Mul, Expr::proj(Expr::var(&var), 0), Expr::proj(Expr::var(&var), 1));
    }
    let body = lets.into_iter().rev().fold(value, |body, (var, value)| Expr::let_(var, value, body));
    let nodes = body.node_count();
    let mut budget = Budget::for_nodes(nodes);
    let rules: Vec<_> = rules::all().collect();
    let mut facts = Facts::default();
    let new = engine::innermost(&mut engine::Candidates::of(&rules), &body, &mut facts, &mut budget, &mut Log::new(false)).expect("ends");
    assert_eq!(show(&new), "x");
    assert!(budget.visited < 200 * nodes, "{} visits for {nodes} nodes", budget.visited);
}

#[test]
fn two_thousand_sines_are_visited_in_linear_time() {
    with_large_stack(|| {
        let x = Var::fresh("x", Type::Double);
        let mut vars = vec![x.clone()];
        let mut lets = Vec::new();
        for at in 1..2000 {
            let var = Var::fresh(&format!("t{at}"), Type::Double);
            let product = binary(Prim::Mul, Expr::var(&vars[at - 1]), Expr::var(&vars[at / 2]));
            lets.push((var.clone(), Expr::prim(Prim::Sin, vec![product])));
            vars.push(var);
        }
        let body = lets.into_iter().rev().fold(Expr::var(&vars[1999]), |body, (var, value)| Expr::let_(var, value, body));
        let nodes = body.node_count();
        let f = function("f", &[], &[&x], body);
        let program = Program { functions: [(f.name.clone(), f)].into_iter().collect() };
        let schedule = Schedule::builtin("default").expect("a built-in schedule");
        let visited = visited(&program, &schedule).expect("ends");
        assert!(visited < 200 * nodes, "{visited} visits for {nodes} nodes");
    });
}

fn hot(i: &Expr, j: Expr) -> Expr {
    Expr::if_(binary(Prim::Eq, i.clone(), j), Expr::double(1.0), Expr::double(0.0))
}

fn pair(a: Expr, b: Expr) -> Expr {
    Expr::tuple(vec![a, b])
}

fn dim0(v: &Var) -> Expr {
    Expr::dim(Expr::var(v), 0)
}

fn at(v: &Var, i: &Expr) -> Expr {
    Expr::get(Expr::var(v), i.clone())
}

/// What differentiation makes of `vectorDot` with a tangent for its first argument only.
fn dot_jvp() -> Function {
    let m = Var::fresh("m", Type::INDEX);
    let (a, da, b) = (vector("a", &m), vector("da", &m), vector("b", &m));
    let product = Expr::build(dim0(&a), "k", |k| binary(Prim::Mul, at(&a, &k), at(&b, &k)));
    let tangent = Expr::build(dim0(&a), "k", |k| binary(Prim::Mul, at(&da, &k), at(&b, &k)));
    let body = Expr::bind("p", product, |p| {
        Expr::bind("dp", tangent, |dp| {
            let init = pair(Expr::double(0.0), Expr::double(0.0));
            Expr::fold(Expr::dim(p.clone(), 0), "s", "k", init, |s, k| {
                let (ps, ds) = (Expr::proj(s.clone(), 0), Expr::proj(s, 1));
                pair(binary(Prim::Add, ps, Expr::get(p.clone(), k.clone())), binary(Prim::Add, ds, Expr::get(dp.clone(), k)))
            })
        })
    });
    function("_dot_jvp", &[&m], &[&a, &da, &b], body)
}

#[test]
fn the_gradient_of_a_dot_product_is_the_other_vector() {
    let n = Var::fresh("n", Type::INDEX);
    let (v, w) = (vector("v", &n), vector("w", &n));
    let dot = dot_jvp();
    let body = Expr::build(dim0(&v), "i", |i| {
        let one = Expr::build(dim0(&v), "j", |j| hot(&i, j));
        Expr::proj(Expr::call(&dot, vec![Expr::var(&v), one, Expr::var(&w)]), 1)
    });
    assert_eq!(optimised(vec![dot, function("gradient", &[&n], &[&v, &w], body)]), "w");
}

fn apply_to(schedule: &Schedule, expr: &Expr) -> Result<Option<Expr>, Diagnostic> {
    apply(schedule, &Program::default(), &function("f", &[], &[], expr.clone()), &Options::default())
}

/// The result of a strategy on one term, `None` where it fails.
fn applied(strategy: &str, expr: &Expr) -> Option<String> {
    let schedule = Schedule::parse("test", strategy, 0).expect("a strategy");
    apply_to(&schedule, expr).expect("ends").map(|new| show(&new))
}

#[test]
fn combinators() {
    let x = Expr::var(&Var::fresh("x", Type::Double));
    let one = |e: Expr| binary(Prim::Mul, e, Expr::double(1.0));
    let (plain, single, double) = (x.clone(), one(x.clone()), one(one(x.clone())));
    let nested = Expr::prim(Prim::Sin, vec![single.clone()]);
    let pair = binary(Prim::Div, single.clone(), single.clone());
    assert_eq!(applied("id", &plain).as_deref(), Some("x"));
    assert_eq!(applied("fail", &plain), None);
    assert_eq!(applied("mul-one", &plain), None);
    assert_eq!(applied("mul-one", &double).as_deref(), Some("*(x, 1.0)"));
    assert_eq!(applied("mul-one ; mul-one", &double).as_deref(), Some("x"));
    assert_eq!(applied("mul-one ; mul-one", &single), None);
    assert_eq!(applied("div-one <+ mul-one", &single).as_deref(), Some("x"));
    assert_eq!(applied("try mul-one", &plain).as_deref(), Some("x"));
    assert_eq!(applied("repeat mul-one", &double).as_deref(), Some("x"));
    assert_eq!(applied("one mul-one", &pair).as_deref(), Some("/(x, *(x, 1.0))"));
    assert_eq!(applied("all mul-one", &pair).as_deref(), Some("/(x, x)"));
    assert_eq!(applied("some mul-one", &binary(Prim::Div, x.clone(), single.clone())).as_deref(), Some("/(x, x)"));
    assert_eq!(applied("all mul-one", &binary(Prim::Div, x.clone(), single.clone())), None);
    assert_eq!(applied("topdown mul-one", &nested).as_deref(), Some("sin(x)"));
    assert_eq!(applied("bottomup (try mul-one)", &pair).as_deref(), Some("/(x, x)"));
    assert_eq!(applied("normalize mul-one", &pair).as_deref(), Some("/(x, x)"));
    assert_eq!(applied("innermost mul-one", &pair).as_deref(), Some("/(x, x)"));
    assert_eq!(applied("let twice (s) = s ; s\nlet main = twice mul-one", &double).as_deref(), Some("x"));
}

#[test]
fn rules_of_a_strategy_file() {
    let x = Expr::var(&Var::fresh("x", Type::Double));
    let sum = binary(Prim::Add, x.clone(), x);
    let file = "// doubling\nrule double : a + a -> 2 * a\n    if atomic a\nlet main = double\n";
    assert_eq!(applied(file, &sum).as_deref(), Some("*(2.0, x)"));
    let errors = [
        ("rule bad : a + a -> b\nlet main = bad", "`b` is on the right of the law but not on its left"),
        ("let main = unknown", "no rule or strategy is called `unknown`"),
        ("let main = (id", "expected a `)` for this `(`"),
        ("let main = id fail", "expected `;`, `<+` or the end, found `fail`"),
        ("let main = id + id", "expected a strategy, found another character"),
        ("", "expected a strategy, found nothing"),
    ];
    for (text, message) in errors {
        assert_eq!(Schedule::parse("test", text, 0).err().map(|error| error.message).as_deref(), Some(message), "{text}");
    }
}

#[test]
fn an_endless_schedule_is_a_diagnostic() {
    with_large_stack(endless);
}

fn endless() {
    let x = Expr::var(&Var::fresh("x", Type::Double));
    let sum = binary(Prim::Add, x.clone(), Expr::double(2.0));
    for text in ["rule swap : a + b -> b + a\nlet main = repeat swap", "rule swap : a + b -> b + a\nlet main = innermost swap", "repeat id"]
    {
        let schedule = Schedule::parse("test", text, 0).expect("a strategy");
        let error = apply_to(&schedule, &sum).expect_err("does not end");
        assert_eq!(error.code, "E0602");
    }
}

/// A product in a loop of a loop has a name outside of the inner one first: written out again it would be less work there.
#[test]
fn a_name_of_a_product_is_not_written_out_on_its_way_out_of_two_loops() {
    let (n, m) = (Var::fresh("n", Type::INDEX), Var::fresh("m", Type::INDEX));
    let (k, p, u) = (Var::fresh("k", Type::INDEX), Var::fresh("p", Type::Double), vector("u", &m));
    let element = Expr::get(Expr::var(&u), Expr::var(&k));
    let twice = binary(Prim::Mul, Expr::double(2.0), Expr::var(&p));
    let rows = Expr::build(Expr::var(&n), "i", |_| Expr::build(Expr::var(&m), "j", |_| binary(Prim::Sub, element, twice)));
    let found = optimised(vec![function("f", &[&n, &m], &[&k, &p, &u], rows)]);
    assert_eq!(found, "let t = *(2.0, p) in build(n, i. build(m, j. -(u[k], t)))");
}
