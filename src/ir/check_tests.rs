//! Programs that are well-formed, and each defect.

use super::*;
use crate::ir::prim::Prim;
use crate::ir::term::{Iso, Recursive, Status};
use crate::source::Span;

fn function(name: &str, sizes: Vec<Var>, params: Vec<Var>, body: Expr) -> Function {
    Function::entry(name, sizes, params, body)
}

fn checked(functions: Vec<Function>) -> Checked {
    check(&Program { functions: functions.into_iter().map(|f| (f.name.clone(), f)).collect() })
}

fn closed(body: Expr) -> Checked {
    checked(vec![function("f", vec![], vec![], body)])
}

fn list(length: i64) -> Expr {
    Expr::build(Expr::index(length), "i", |i| Expr::prim(Prim::ToDouble, vec![i]))
}

#[test]
fn a_well_formed_program() {
    let n = Var::fresh("n", Type::INDEX);
    let v = Var::fresh("v", Type::array(Type::Double, Size::var(&n)));
    let sum = Expr::fold(Expr::var(&n), "s", "i", Expr::double(0.0), |s, i| Expr::prim(Prim::Add, vec![s, Expr::get(Expr::var(&v), i)]));
    let f = function("f", vec![n], vec![v], sum);
    let w = Var::fresh("w", Type::array(Type::Double, Size::constant(3)));
    let dual = Expr::dual(w.clone(), list(3), list(3), Expr::call(&f, vec![Expr::var(&w)]));
    let g = function("g", vec![], vec![], dual);
    assert_eq!(checked(vec![f.clone(), g.clone()]), Ok(()));
    let backwards = checked(vec![g.clone(), f]);
    assert_eq!(backwards.unwrap_err(), "in `g`: `f w`: `f` is not before its caller");
    let program = Program { functions: [(g.name.clone(), g)].into_iter().collect() };
    assert!(check_no_dual(&program).unwrap_err().ends_with("a derivative is left"));
}

#[test]
fn scopes_and_binders() {
    let x = Var::fresh("x", Type::Double);
    assert!(closed(Expr::var(&x)).unwrap_err().ends_with("is not in scope"));
    let twice = Expr::tuple(vec![Expr::let_(x.clone(), Expr::double(1.0), Expr::var(&x)), Expr::double(1.0)]);
    assert_eq!(closed(twice.clone()), Ok(()));
    assert!(closed(Expr::tuple(vec![twice.clone(), twice])).unwrap_err().ends_with("is bound twice"));
    let outside = Expr::tuple(vec![Expr::let_(x.clone(), Expr::double(1.0), Expr::var(&x)), Expr::var(&x)]);
    assert!(closed(outside).unwrap_err().ends_with("is not in scope"));
}

/// Sizes of types may mention what is in scope, as terms may.
#[test]
fn scopes_of_sizes() {
    let n = Var::fresh("n", Type::INDEX);
    let v = Var::fresh("v", Type::array(Type::Double, Size::var(&n)));
    let first = Expr::let_(v.clone(), list(3), Expr::get(Expr::var(&v), Expr::index(0)));
    assert_eq!(closed(Expr::let_(n.clone(), Expr::index(3), first.clone())), Ok(()));
    assert!(closed(first).unwrap_err().ends_with("mentions `n`, which is not in scope"));
}

#[test]
fn recursive_types() {
    let list = Recursive::declare(&"List".into());
    let unrolled = Type::tuple(vec![Type::Index(Some(Size::constant(2))), Type::tuple(vec![Type::Double, Type::Rec(list.clone())])]);
    Recursive::define(vec![(list.clone(), unrolled, crate::ir::Labels::None)]);
    assert!(list.has_double());
    let cell = |tag: i64, rest: Expr| Expr::tuple(vec![Expr::index(tag), Expr::tuple(vec![Expr::double(1.0), rest])]);
    let nil = || Expr::roll(&list, cell(0, Expr::absent(&list)));
    assert_eq!(closed(Expr::roll(&list, cell(1, nil()))), Ok(()));
    assert_eq!(closed(Expr::proj(Expr::proj(Expr::unroll(nil()), 1), 0)), Ok(()));
    // an unrolled value has the type again, by the same name
    assert_eq!(closed(Expr::unroll(Expr::proj(Expr::proj(Expr::unroll(nil()), 1), 1))), Ok(()));
    assert!(closed(Expr::roll(&list, Expr::double(1.0))).unwrap_err().contains("the unrolled type has"));
    assert!(closed(Expr::with_type(Term::Iso(Iso::Unroll, vec![Expr::double(1.0)]), Type::Double, Span::NONE)).is_err());
    assert!(closed(Expr::with_type(Term::Iso(Iso::Roll, vec![]), Type::Rec(list.clone()), Span::NONE)).is_err());
    assert!(closed(Expr::prim(Prim::Add, vec![nil(), nil()])).is_err());
}

#[test]
fn types() {
    let sum = Expr::prim(Prim::Add, vec![list(2), Expr::double(1.0)]);
    assert!(closed(sum).unwrap_err().ends_with("`+` does not take (Vector<2>, Double)"));
    assert!(closed(Expr::if_(Expr::double(1.0), Expr::double(1.0), Expr::double(2.0))).is_err());
    assert!(closed(Expr::get(Expr::double(1.0), Expr::index(0))).is_err());
    assert!(closed(Expr::get(list(2), Expr::double(0.0))).is_err());
    assert!(closed(Expr::proj(Expr::tuple(vec![list(1), list(1)]), 2)).is_err());
    assert!(closed(Expr::dim(list(2), 1)).is_err());
    let x = Var::fresh("x", Type::INDEX);
    assert!(closed(Expr::dual(x.clone(), Expr::index(1), Expr::index(1), Expr::double(0.0))).is_err());
    let lie = Expr::with_type(Term::Double(1.0), Type::Bool, Span::NONE);
    assert_eq!(closed(lie).unwrap_err(), "in `f`: `1.0`: has type Bool, what it is made of has Double");
}

#[test]
fn lengths_are_wrong_only_when_they_provably_differ() {
    let v = Var::fresh("v", Type::array(Type::Double, Size::constant(3)));
    let bound = |value: Expr| Expr::let_(v.renewed(v.ty().clone()), value, Expr::double(0.0));
    assert!(closed(bound(list(2))).is_err());
    let n = Var::fresh("n", Type::INDEX);
    let open = Expr::build(Expr::var(&n), "i", |i| Expr::prim(Prim::ToDouble, vec![i]));
    assert_eq!(checked(vec![function("f", vec![], vec![n], bound(open))]), Ok(()));
    // never reached
    let check = Expr::check(Expr::prim(Prim::Eq, vec![Expr::index(2), Expr::index(3)]), Status::Shape, bound(list(2)));
    assert_eq!(closed(check), Ok(()));
}
