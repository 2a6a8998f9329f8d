//! The passes on one program, by constructors, and an entry kept alone.

use super::*;
use crate::ir::{Expr, Prim, Size, Type, Var};

fn add(program: &mut Program, name: &str, calls: &[&str]) {
    let x = Var::fresh("x", Type::Double);
    let function = |body: Expr| Function {
        name: name.into(),
        doc: None,
        sizes: Vec::new(),
        params: vec![x.clone()],
        result: Type::Double,
        body,
        is_entry: true,
        span: Span::NONE,
        labels: Vec::new(),
    };
    let mut body = Expr::var(&x);
    for callee in calls {
        if let Some(callee) = program.functions.get(*callee) {
            body = Expr::call(callee, vec![body]);
        }
    }
    program.functions.insert(name.into(), function(body));
}

/// f (v: Vector<n>) (k: Index<n>) = the gradient of sum(v[i] * v[i]), times v[k]
fn gradient() -> Program {
    let n = Var::fresh("n", Type::INDEX);
    let size = Size::var(&n);
    let v = Var::fresh("v", Type::array(Type::Double, size.clone()));
    let k = Var::fresh("k", Type::Index(Some(size.clone())));
    let x = v.renewed(v.ty().clone());
    let length = Expr::dim(Expr::var(&v), 0);
    let body = Expr::build(length, "i", |i| {
        let hot = Expr::build(Expr::dim(Expr::var(&v), 0), "j", |j| {
            Expr::if_(Expr::prim(Prim::Eq, vec![j, i.clone()]), Expr::double(1.0), Expr::double(0.0))
        });
        let sum = Expr::fold(Expr::dim(Expr::var(&x), 0), "s", "j", Expr::double(0.0), |s, j| {
            let item = Expr::get(Expr::var(&x), j);
            Expr::prim(Prim::Add, vec![s, Expr::prim(Prim::Mul, vec![item.clone(), item])])
        });
        let slope = Expr::proj(Expr::dual(x.clone(), Expr::var(&v), hot, sum), 1);
        Expr::prim(Prim::Mul, vec![slope, Expr::get(Expr::var(&v), Expr::var(&k))])
    });
    let mut program = Program::default();
    program.functions.insert(
        "f".into(),
        Function {
            name: "f".into(),
            doc: None,
            sizes: vec![n],
            params: vec![v, k],
            result: Type::array(Type::Double, size),
            body,
            is_entry: true,
            span: Span::NONE,
            labels: Vec::new(),
        },
    );
    program
}

#[test]
fn compiled_code_agrees_with_the_interpreter() {
    for schedule in ["none", "default"] {
        let options = Options { schedule: Schedule::Named(schedule.into()), only: Some("f".into()), ..Options::default() };
        let mut session = Session::new("f.smooth", "", options);
        session.program = gradient();
        let words = ["[1, 2, 3]".to_string(), "1".to_string()];
        let arguments = crate::cli::args::read(session.entry("f").expect("an entry"), &words).expect("fits");
        let inputs = arguments.values.iter().map(crate::cli::values::from_flat).collect();
        let wanted = crate::ir::eval::eval(&session.program, "f", inputs).expect("evaluates").value.doubles();
        assert_eq!(wanted, [4.0, 8.0, 12.0]);
        for pass in &PASSES[2..] {
            (pass.run)(&mut session, &mut |_, _| Err(String::new())).expect(pass.name);
            session.check_program(pass.name).expect("well-formed");
        }
        let source = &session.emitted().expect("C").source;
        let interface = session.interface("f").expect("an interface");
        let loaded =
            crate::toolchain::call::load(source, crate::toolchain::compiler::Arithmetic::Fast, interface, Span::NONE).expect("compiles");
        let result = loaded.call(&arguments.values, &arguments.bindings).expect("runs");
        assert_eq!(result.columns, [crate::toolchain::flat::Column::Double(wanted)]);
    }
}

#[test]
fn one_entry_keeps_what_it_calls() {
    let mut session = Session::new("f.smooth", "", Options { only: Some("d".into()), ..Options::default() });
    for (name, calls) in [("a", &[][..]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "a"]), ("e", &["d"])] {
        add(&mut session.program, name, calls);
    }
    session.keep_only("emit").expect("there is an entry");
    assert_eq!(session.program.functions.keys().map(|name| &**name).collect::<Vec<_>>(), ["a", "b", "d"]);
    assert_eq!(session.entry_names(), ["d"]);
    session.options.only = Some("zzz".into());
    assert_eq!(session.keep_only("emit").expect_err("no entry")[0].code, "E0810");
}
