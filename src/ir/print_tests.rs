//! Printed programs, terms and types.

use super::*;

fn d(name: &str) -> Expr {
    Expr::var(&Var::fresh(name, Type::Double))
}

fn p(prim: Prim, args: &[&Expr]) -> Expr {
    Expr::prim(prim, args.iter().map(|arg| (*arg).clone()).collect())
}

#[test]
fn parentheses_only_where_needed() {
    let (a, b, c) = (d("a"), d("b"), d("c"));
    let (sum, product) = (p(Prim::Add, &[&a, &b]), p(Prim::Mul, &[&a, &b]));
    assert_eq!(expr(&p(Prim::Mul, &[&sum, &c])), "(a + b) * c");
    assert_eq!(expr(&p(Prim::Add, &[&c, &product])), "c + a * b");
    assert_eq!(expr(&p(Prim::Sub, &[&c, &sum])), "c - (a + b)");
    assert_eq!(expr(&p(Prim::Sub, &[&sum, &c])), "a + b - c");
    let square = p(Prim::Pow, &[&a, &Expr::double(-2.0)]);
    assert_eq!(expr(&p(Prim::Neg, &[&square])), "-a ** -2.0");
    assert_eq!(expr(&p(Prim::Pow, &[&p(Prim::Neg, &[&a]), &b])), "(-a) ** b");
    assert_eq!(expr(&p(Prim::Neg, &[&p(Prim::Neg, &[&a])])), "-(-a)");
    assert_eq!(expr(&p(Prim::Pow, &[&square, &b])), "(a ** -2.0) ** b");
    assert_eq!(expr(&p(Prim::Not, &[&p(Prim::Lt, &[&a, &sum])])), "not (a < a + b)");
    assert_eq!(expr(&p(Prim::Sin, &[&p(Prim::Min, &[&a, &Expr::double(-1.0)])])), "sin (min a (-1.0))");
    let choice = Expr::if_(p(Prim::Lt, &[&a, &b]), a.clone(), b.clone());
    assert_eq!(expr(&p(Prim::Add, &[&choice, &c])), "(if a < b then a else b) + c");
    assert_eq!(expr(&Expr::double(1e30)), "1e30");
}

#[test]
fn a_function_with_sizes_and_lets() {
    let n = Var::fresh("n", Type::INDEX);
    let k = Var::fresh("k", Type::INDEX);
    let v = Var::fresh("v", Type::array(Type::Double, Size::var(&n)));
    let x = Expr::get(Expr::var(&v), Expr::index(0));
    let body = Expr::bind("x", x.clone(), |first| {
        Expr::bind("x", p(Prim::Mul, &[&first, &first]), |second| {
            Expr::build(Expr::var(&n), "i", |_| {
                Expr::build(Expr::var(&k), "j", |j| {
                    let fold =
                        Expr::fold(Expr::var(&n), "acc", "i", second.clone(), |acc, i| p(Prim::Add, &[&acc, &Expr::get(Expr::var(&v), i)]));
                    p(Prim::Mul, &[&fold, &p(Prim::ToDouble, &[&j])])
                })
            })
        })
    });
    let result = body.ty().clone();
    let cond = p(Prim::Eq, &[&Expr::dim(Expr::var(&v), 0), &Expr::var(&k)]);
    let f = Function {
        name: "f".into(),
        doc: None,
        sizes: vec![n],
        params: vec![v, k],
        result,
        body: Expr::check(cond, Status::Shape, body),
        is_entry: true,
        span: crate::source::Span::NONE,
        labels: Vec::new(),
    };
    let wanted = "let f (v: Vector<n>) (k: Index) : Matrix<n, k> =
  check length v = k else SHAPE in
  let x = v[0] in
  let x_1 = x * x in
  build n (fun i -> build k (fun j -> ifold (fun acc i_1 -> acc + v[i_1]) x_1 n * double j))
";
    assert_eq!(function(&f), wanted);
}

#[test]
fn types_as_users_write_them() {
    let n = Size::var(&Var::fresh("n", Type::INDEX));
    let pair = Type::tuple(vec![Type::Double, Type::tuple(vec![Type::Bool, Type::INDEX])]);
    assert_eq!(Type::array(pair, n.clone()).to_string(), "Array<Double * (Bool * Index), n>");
    let indices = Type::array(Type::Index(Some(n.clone())), n.add(&Size::constant(1)));
    assert_eq!(indices.to_string(), "Array<Index<n>, n + 1>");
    assert_eq!(Type::array(Type::array(Type::Double, n), Size::unknown()).to_string(), "Matrix<?, n>");
}

#[test]
fn duals() {
    let x = Var::fresh("x", Type::Double);
    let body = p(Prim::Mul, &[&Expr::var(&x), &Expr::var(&x)]);
    assert_eq!(expr(&Expr::proj(Expr::dual(x, d("a"), Expr::double(1.0), body), 1)), "(dual (x = a, dx = 1.0) -> x * x).1");
}
