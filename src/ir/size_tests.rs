//! Folds in sizes: equal ones are one size, whatever their variables are called and however deep they are.

use crate::ir::{Expr, Prim, Size, Type, Var};

fn add(a: Expr, b: Expr) -> Expr {
    Expr::prim(Prim::Add, vec![a, b])
}

/// `ifold (fun s i -> s + i * n) k n`, with variables of its own.
fn once(n: &Expr, k: &Expr) -> Expr {
    Expr::fold(n.clone(), "s", "i", k.clone(), |s, i| add(s, Expr::prim(Prim::Mul, vec![i, n.clone()])))
}

/// `ifold (fun t j -> t + once j t) k n`.
fn twice(n: &Expr, k: &Expr) -> Expr {
    Expr::fold(n.clone(), "t", "j", k.clone(), |t, j| add(once(&j, &t), t))
}

#[test]
fn equal_folds_are_one_size() {
    let (n, k) = (Var::fresh("n", Type::INDEX), Var::fresh("k", Type::INDEX));
    let (n, k) = (Expr::var(&n), Expr::var(&k));
    for fold in [once, twice, |n, k| twice(&once(n, k), k)] as [fn(&Expr, &Expr) -> Expr; 3] {
        let size = Size::of_expr(&fold(&n, &k));
        assert!(size.has_fold() && !size.has_unknown(), "{size}");
        assert_eq!(size, Size::of_expr(&fold(&n, &k)));
        assert_eq!(size, Size::of_expr(&size.to_expr().expect("a term")));
        assert_ne!(size, Size::of_expr(&fold(&k, &n)));
        let mut found = Vec::new();
        size.each_var(&mut |var| found.push(var.name().to_string()));
        assert!(found.iter().all(|name| name == "n" || name == "k"), "{found:?}");
    }
}

#[test]
fn folds_are_put_into_folds() {
    let (n, k) = (Var::fresh("n", Type::INDEX), Var::fresh("k", Type::INDEX));
    let (own_n, own_k) = (Expr::var(&n), Expr::var(&k));
    let inside = once(&own_k, &own_k);
    for fold in [once, twice] as [fn(&Expr, &Expr) -> Expr; 2] {
        let put = Size::of_expr(&fold(&own_n, &own_k)).replace(&n, &Size::of_expr(&inside));
        assert_eq!(put, Size::of_expr(&fold(&inside, &own_k)));
    }
}

#[test]
fn a_length_that_is_none_where_it_is_negative_has_one_direction() {
    let (n, k) = (Size::var(&Var::fresh("n", Type::INDEX)), Size::var(&Var::fresh("k", Type::INDEX)));
    let room = n.or_zero();
    assert!(n.is_as_long(&n) && n.is_as_long(&room) && room.is_as_long(&room));
    assert!(!room.is_as_long(&n) && !k.is_as_long(&room) && !n.is_as_long(&k));
    assert_eq!([-2, 0, 3].map(|value| Size::constant(value).or_zero()), [0, 0, 3].map(Size::constant));
}

#[test]
fn what_is_chosen_has_a_length_where_sizes_choose() {
    let (n, k, x) = (Var::fresh("n", Type::INDEX), Var::fresh("k", Type::INDEX), Var::fresh("x", Type::Bool));
    let (is_three, size, other) = (Expr::prim(Prim::Eq, vec![Expr::var(&n), Expr::index(3)]), Size::var(&n), Size::var(&k));
    let data = Expr::prim(Prim::Lt, vec![Expr::double(0.0), Expr::var(&Var::fresh("y", Type::Double))]);
    let six = Size::constant(6);
    assert_eq!(Size::chosen(&is_three, &six, &size.add(&size)), Some(size.add(&size)));
    assert_eq!(Size::chosen(&data, &size, &size.or_zero()), Some(size.or_zero()));
    assert_eq!(Size::chosen(&data, &size.or_zero(), &size), Some(size.or_zero()));
    assert_eq!(Size::chosen(&data, &size, &other), None);
    let both = Size::chosen(&Expr::var(&x), &size, &other).expect("a size");
    assert!(both.mentions(&n) && both.mentions(&k) && both.mentions(&x), "{both}");
}
