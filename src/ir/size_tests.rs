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
