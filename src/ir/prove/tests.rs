//! What the prover must prove, and the temptations that it must resist.

use super::*;
use crate::source::Span;

fn index(name: &str) -> Var {
    Var::fresh(name, Type::INDEX)
}

fn below(name: &str, bound: &Size) -> Var {
    Var::fresh(name, Type::Index(Some(bound.clone())))
}

fn s(var: &Var) -> Size {
    Size::var(var)
}

fn c(value: i64) -> Size {
    Size::constant(value)
}

fn vector(length: &Size) -> Type {
    Type::array(Type::Double, length.clone())
}

/// The facts of a function with these sizes and parameters.
fn facts(sizes: &[&Var], params: &[&Var]) -> Facts {
    let (sizes, params) = (sizes.iter().map(|v| (*v).clone()).collect(), params.iter().map(|v| (*v).clone()).collect());
    let body = Expr::double(0.0);
    Facts::for_function(&Function {
        name: "f".into(),
        doc: None,
        sizes,
        params,
        result: Type::Double,
        body,
        is_entry: true,
        span: Span::NONE,
        labels: Vec::new(),
    })
}

fn compare(prim: Prim, a: &Size, b: &Size) -> Expr {
    Expr::prim(prim, vec![a.to_expr().unwrap(), b.to_expr().unwrap()])
}

#[test]
fn loop_variables() {
    let n = index("n");
    let mut facts = facts(&[&n], &[]);
    assert!(!facts.positive(&s(&n)) && facts.nonnegative(&s(&n)));
    let i = below("i", &s(&n));
    facts.enter_loop(&i, &Expr::var(&n));
    assert!(facts.in_range(&s(&i), &s(&n)) && facts.positive(&s(&n)));
    assert!(!facts.in_range(&s(&i).add(&c(1)), &s(&n)) && !facts.in_range(&s(&i).sub(&c(1)), &s(&n)));
    assert!(facts.in_range(&s(&n).sub(&s(&i)).sub(&c(1)), &s(&n)));
    assert!(facts.in_range(&s(&i), &s(&n).add(&c(1))) && facts.less(&s(&i), &s(&i).add(&c(1))));
    // with a plain type, from the loop alone
    let j = index("j");
    facts.enter_loop(&j, &Expr::var(&n));
    assert!(facts.in_range(&s(&j), &s(&n)));
}

#[test]
fn neighbours() {
    let n = index("n");
    let mut facts = facts(&[&n], &[]);
    let less = s(&n).sub(&c(1));
    let i = below("i", &less);
    facts.enter_loop(&i, &less.to_expr().unwrap());
    assert!(facts.in_range(&s(&i).add(&c(1)), &s(&n)) && facts.in_range(&s(&i), &s(&n)));
    assert!(!facts.in_range(&s(&i).add(&c(2)), &s(&n)));
    facts.assume(&compare(Prim::Gt, &s(&i), &c(0)), true);
    assert!(facts.in_range(&s(&i).sub(&c(1)), &s(&n)) && !facts.nonnegative(&s(&i).sub(&c(2))));
}

#[test]
fn halves_and_lesser_counts() {
    let n = index("n");
    let mut halved = facts(&[&n], &[]);
    let half = Expr::prim(Prim::Div, vec![Expr::var(&n), Expr::index(2)]);
    let h = Size::of_expr(&half);
    let i = below("i", &h);
    halved.enter_loop(&i, &half);
    let twice = s(&i).mul(&c(2));
    for inside in [s(&i), s(&i).add(&c(1)), twice.clone(), twice.add(&c(1)), s(&i).add(&h)] {
        assert!(halved.in_range(&inside, &s(&n)), "{inside}");
    }
    assert!(!halved.in_range(&twice.add(&c(2)), &s(&n)) && !halved.in_range(&s(&i).add(&h).add(&c(1)), &s(&n)));
    let (mut least, k) = (facts(&[&n], &[]), index("k"));
    let count = Expr::prim(Prim::Min, vec![Expr::prim(Prim::Max, vec![Expr::index(0), Expr::var(&k)]), Expr::var(&n)]);
    let i = below("i", &Size::of_expr(&count));
    least.enter_loop(&i, &count);
    assert!(least.in_range(&s(&i), &s(&n)) && !least.in_range(&s(&i).add(&c(1)), &s(&n)));
    // of a negative number nothing is known
    let third = Size::of_expr(&Expr::prim(Prim::Div, vec![Expr::var(&k), Expr::index(3)]));
    assert!(!facts(&[], &[]).at_most(&third, &s(&k)));
}

/// Places in blocks: `k / d < n` for k below `d * n`, and not for one more.
#[test]
fn quotients_of_what_is_below_a_multiple() {
    let n = index("n");
    for d in [2, 3, 7] {
        let mut facts = facts(&[&n], &[]);
        let all = s(&n).mul(&c(d));
        let quotient = |of: &Size| Size::of_expr(&Expr::prim(Prim::Div, vec![of.to_expr().unwrap(), Expr::index(d)]));
        let (k, more, bare) = (below("k", &all), below("more", &all.add(&c(1))), index("bare"));
        facts.restrict(Rc::new([Atom::Var(n.clone())]), (0, 1 << 40));
        facts.enter_loop(&k, &all.to_expr().unwrap());
        let rest = Size::of_expr(&Expr::prim(Prim::Rem, vec![Expr::var(&k), Expr::index(d)]));
        assert!(facts.in_range(&quotient(&s(&k)), &s(&n)) && facts.in_range(&rest, &c(d)) && !facts.in_range(&rest, &c(d - 1)));
        // the last of a block is in it, the next is not
        assert!(facts.less(&quotient(&s(&more)), &s(&n).add(&c(1))) && !facts.less(&quotient(&s(&more)), &s(&n)));
        assert!(!facts.less(&quotient(&s(&k).add(&c(1))), &s(&n)) && facts.at_most(&quotient(&s(&k).add(&c(1))), &s(&n)));
        assert!(!facts.less(&quotient(&s(&k)), &s(&n).sub(&c(1))) && !facts.positive(&quotient(&s(&k))));
        // division rounds towards zero, and of what may be negative nothing is known
        facts.assume(&compare(Prim::Lt, &s(&bare), &all), true);
        assert!(!facts.nonnegative(&quotient(&s(&bare))) && !facts.less(&quotient(&s(&bare)), &s(&n)));
        facts.assume(&compare(Prim::Ge, &s(&bare), &c(0)), true);
        assert!(facts.in_range(&quotient(&s(&bare)), &s(&n)));
    }
}

#[test]
fn literals_and_slices() {
    let facts = Facts::default();
    assert!(facts.in_range(&c(2), &c(3)) && !facts.in_range(&c(3), &c(3)) && !facts.in_range(&c(-1), &c(3)));
    // vectorSlice v 2 5 of a Vector<8>: loop of 5 - 2 + 1, v[i + 2]
    let i = below("i", &c(4));
    assert!(facts.in_range(&s(&i).add(&c(2)), &c(8)) && !facts.in_range(&s(&i).add(&c(5)), &c(8)));
}

#[test]
fn slices_between_guarded_ends() {
    let (n, from, to) = (index("n"), index("s"), index("e"));
    let mut facts = facts(&[&n], &[]);
    for (a, b) in [(c(0), s(&from)), (s(&from), s(&to))] {
        facts.assume(&compare(Prim::Le, &a, &b), true);
    }
    facts.assume(&compare(Prim::Lt, &s(&to), &s(&n)), true);
    let count = s(&to).sub(&s(&from)).add(&c(1));
    let i = below("i", &count);
    facts.enter_loop(&i, &count.to_expr().unwrap());
    assert!(facts.in_range(&s(&i).add(&s(&from)), &s(&n)));
    assert!(!facts.in_range(&s(&i).add(&s(&from)).add(&c(1)), &s(&n)));
}

#[test]
fn counts_cut_off_at_zero() {
    let n = index("n");
    for (a, b) in [(c(0), s(&n).sub(&c(2))), (s(&n).sub(&c(2)), c(-1))] {
        let mut facts = facts(&[&n], &[]);
        let count = Expr::prim(Prim::Max, vec![a.to_expr().unwrap(), b.to_expr().unwrap()]);
        let i = below("i", &Size::of_expr(&count));
        facts.enter_loop(&i, &count);
        assert!(facts.in_range(&s(&i).add(&c(2)), &s(&n)) && !facts.in_range(&s(&i).add(&c(3)), &s(&n)));
    }
    // max 1 (n - 2) may be more than n - 2
    let mut facts = facts(&[&n], &[]);
    let count = Expr::prim(Prim::Max, vec![Expr::index(1), s(&n).sub(&c(2)).to_expr().unwrap()]);
    let i = below("i", &Size::of_expr(&count));
    facts.enter_loop(&i, &count);
    assert!(!facts.in_range(&s(&i).add(&c(2)), &s(&n)));
}

#[test]
fn flattened_matrices() {
    let (n, m) = (index("n"), index("m"));
    let a = Var::fresh("a", Type::array(vector(&s(&m)), s(&n)));
    let mut facts = facts(&[&n, &m], &[&a]);
    let (i, j) = (below("i", &s(&n)), below("j", &s(&m)));
    facts.enter_loop(&i, &Expr::var(&n));
    facts.enter_loop(&j, &Expr::var(&m));
    assert!(facts.nonnegative(&s(&n).mul(&s(&m))));
    let flat = s(&i).mul(&s(&m)).add(&s(&j));
    let taken = facts.integer_nonnegative(&s(&n).mul(&s(&m)).sub(&flat).sub(&c(1)));
    assert!(taken);
}

#[test]
fn products_of_unrelated_sizes_may_wrap() {
    let (n, m) = (index("n"), index("m"));
    let (v, w) = (Var::fresh("v", vector(&s(&n))), Var::fresh("w", vector(&s(&m))));
    let facts = facts(&[&n, &m], &[&v, &w]);
    let product = s(&n).mul(&s(&m));
    assert!(!facts.nonnegative(&product) && !facts.nonnegative(&product.add(&c(1))));
    assert!(facts.nonnegative(&s(&n).add(&s(&m))));
    assert!(!facts.nonnegative(&s(&n).mul(&c(8))));
}

#[test]
fn a_bare_index_may_wrap() {
    let (i, k) = (index("i"), index("k"));
    let mut facts = Facts::default();
    assert!(!facts.less(&s(&i), &s(&i).add(&c(1))));
    assert!(!facts.nonnegative(&s(&i)) && !facts.in_range(&s(&i), &s(&k)));
    // i + 1 < k says nothing of i: i + 1 may have wrapped
    facts.assume(&compare(Prim::Lt, &s(&i).add(&c(1)), &s(&k)), true);
    assert!(!facts.less(&s(&i), &s(&k)));
    // a loop of k - 1 may run for k = -2^63
    let less = s(&k).sub(&c(1));
    let j = below("j", &less);
    facts.enter_loop(&j, &less.to_expr().unwrap());
    assert!(!facts.in_range(&s(&j).add(&c(1)), &s(&k)) && !facts.positive(&s(&k)));
    // but a loop of k has indices below k
    let l = below("l", &s(&k));
    assert!(facts.in_range(&s(&l), &s(&k)));
    let half = s(&k).mul(&c(2));
    assert!(!facts.in_range(&s(&l).mul(&c(2)), &half));
}

#[test]
fn guards_bound_a_bare_index() {
    let (n, i) = (index("n"), index("i"));
    let mut facts = facts(&[&n], &[]);
    let low = compare(Prim::Ge, &s(&i), &c(0));
    let high = compare(Prim::Lt, &s(&i), &s(&n));
    let mut other = facts.clone();
    facts.assume(&Expr::prim(Prim::And, vec![low.clone(), high.clone()]), true);
    assert!(facts.in_range(&s(&i), &s(&n)) && facts.less(&s(&i), &s(&i).add(&c(1))));
    // not (i < 0 || i >= n)
    let outside = Expr::prim(Prim::Or, vec![compare(Prim::Lt, &s(&i), &c(0)), compare(Prim::Ge, &s(&i), &s(&n))]);
    other.assume(&outside, true);
    assert!(!other.in_range(&s(&i), &s(&n)));
    other.assume(&Expr::prim(Prim::Not, vec![outside]), true);
    assert!(other.in_range(&s(&i), &s(&n)));
}

#[test]
fn equalities() {
    let (n, m, k) = (index("n"), index("m"), index("k"));
    let mut facts = facts(&[&n, &m], &[]);
    let i = below("i", &s(&n));
    assert!(facts.equal(&s(&n).add(&s(&n)), &s(&n).mul(&c(2))) && !facts.equal(&s(&n), &s(&m)));
    facts.assume(&compare(Prim::Eq, &s(&n), &s(&m)), true);
    assert!(facts.equal(&s(&n).mul(&s(&m)), &s(&m).mul(&s(&m))) && facts.in_range(&s(&i), &s(&m)));
    // modulo 2^64, also of a bare Index
    facts.assume(&compare(Prim::Eq, &s(&k).add(&c(1)), &s(&n)), true);
    assert!(facts.equal(&s(&k), &s(&m).sub(&c(1))) && facts.equal(&s(&k).mul(&c(3)), &s(&n).mul(&c(3)).sub(&c(3))));
    // 2k = 2n does not say k = n: one of them may be 2^63 more
    let l = index("l");
    facts.assume(&compare(Prim::Eq, &s(&l).mul(&c(2)), &s(&n).mul(&c(2))), true);
    assert!(!facts.equal(&s(&l), &s(&n)));
}

#[test]
fn differences() {
    let (n, k) = (index("n"), index("k"));
    let i = below("i", &s(&n));
    let mut facts = facts(&[&n], &[]);
    facts.enter_loop(&i, &Expr::var(&n));
    assert!(!facts.nonnegative(&s(&i).sub(&c(1))));
    // not the first, so after it
    facts.assume(&compare(Prim::Eq, &s(&i), &c(0)), false);
    assert!(facts.in_range(&s(&i).sub(&c(1)), &s(&n)) && !facts.nonnegative(&s(&i).sub(&c(2))));
    // a bare Index may stand on either side
    facts.assume(&compare(Prim::Ne, &s(&k), &c(0)), true);
    assert!(!facts.positive(&s(&k)) && !facts.less(&s(&k), &c(0)));
}

#[test]
fn reads() {
    let n = index("n");
    let v = Var::fresh("v", vector(&s(&n)));
    let at = Var::fresh("at", Type::array(Type::Index(Some(s(&n))), c(4)));
    let facts = facts(&[&n], &[&v, &at]);
    let i = below("i", &c(4));
    let inner = Expr::get(Expr::var(&at), Expr::var(&i));
    assert!(facts.get_is_safe(&Expr::var(&at), &Expr::var(&i)) && facts.get_is_safe(&Expr::var(&v), &inner));
    let next = Expr::prim(Prim::Add, vec![inner.clone(), Expr::index(1)]);
    assert!(!facts.get_is_safe(&Expr::var(&v), &next));
    let back = Expr::prim(Prim::Sub, vec![Expr::prim(Prim::Sub, vec![Expr::var(&n), Expr::index(1)]), inner]);
    assert!(facts.get_is_safe(&Expr::var(&v), &back));
    assert!(!facts.get_is_safe(&Expr::var(&v), &Expr::index(0)));
}

#[test]
fn definitions_and_operations() {
    let (n, j) = (index("n"), index("j"));
    let mut facts = facts(&[&n], &[]);
    let i = below("i", &s(&n));
    let half = Expr::prim(Prim::Div, vec![Expr::var(&i), Expr::index(2)]);
    facts.define(&j, &Expr::prim(Prim::Add, vec![Expr::var(&i), Expr::index(1)]));
    assert!(facts.in_range(&s(&j).sub(&c(1)), &s(&n)) && facts.positive(&s(&j)));
    assert!(facts.nonnegative(&Size::of_expr(&half)));
    let rest = Expr::prim(Prim::Rem, vec![Expr::var(&i), Expr::index(3)]);
    assert!(facts.in_range(&Size::of_expr(&rest), &c(3)) && !facts.in_range(&Size::of_expr(&rest), &c(2)));
}

#[test]
fn the_larger_and_the_smaller_of_two_in_cases() {
    let (n, m) = (index("n"), index("m"));
    let mut facts = facts(&[&n, &m], &[]);
    let i = below("i", &s(&n));
    facts.enter_loop(&i, &Expr::var(&n));
    let of = |prim, a: &Size, b: &Size| Size::try_of_expr(&Expr::prim(prim, vec![a.to_expr().unwrap(), b.to_expr().unwrap()])).unwrap();
    let before = of(Prim::Max, &c(0), &s(&i).sub(&c(1)));
    assert!(facts.in_range(&before, &s(&n)));
    assert!(!facts.in_range(&of(Prim::Max, &c(0), &s(&i).add(&c(1))), &s(&n)));
    assert!(!facts.in_range(&of(Prim::Max, &c(1), &s(&i)), &s(&n)) && !facts.in_range(&of(Prim::Max, &s(&m), &s(&i)), &s(&n)));
    let nearest = of(Prim::Min, &s(&n), &s(&i).add(&c(1)));
    assert!(facts.less(&s(&i), &nearest) && !facts.less(&s(&i), &of(Prim::Min, &s(&m), &s(&n))));
}

#[test]
fn parts_of_a_result_that_is_in_memory() {
    let n = index("n");
    let of = |result: Type| {
        let body = Expr::double(0.0);
        let sizes = vec![n.clone()];
        Facts::for_function(&Function {
            name: "f".into(),
            doc: None,
            sizes,
            params: Vec::new(),
            result,
            body,
            is_entry: true,
            span: Span::NONE,
            labels: Vec::new(),
        })
    };
    let thrice = s(&n).mul(&c(3));
    for (result, is_known) in [(vector(&thrice), true), (Type::Double, false), (Type::array(Type::Bool, thrice.clone()), false)] {
        let mut facts = of(result);
        let i = below("i", &thrice);
        facts.enter_loop(&i, &thrice.to_expr().unwrap());
        facts.assume(&compare(Prim::Ge, &s(&i), &s(&n).mul(&c(2))), true);
        assert_eq!(facts.in_range(&s(&i).sub(&s(&n).mul(&c(2))), &s(&n)), is_known);
    }
}

#[test]
fn loops_counted_by_what_is_defined() {
    let n = index("n");
    let mut facts = facts(&[&n], &[]);
    let t = below("t", &s(&n));
    facts.enter_loop(&t, &Expr::var(&n));
    let j = index("j");
    let last = s(&n).sub(&c(1)).sub(&s(&t));
    facts.define(&j, &last.to_expr().unwrap());
    assert!(facts.in_range(&s(&j), &s(&n)));
    let rest = s(&n).sub(&s(&j)).sub(&c(1));
    let r = below("r", &rest);
    facts.enter_loop(&r, &rest.to_expr().unwrap());
    assert!(facts.in_range(&s(&n).sub(&s(&r)).sub(&c(1)), &s(&n)));
}

/// `fold (fun (x, at) i -> (x, if x > 0 then at else step i)) (0, first) n`
fn selects(n: Expr, first: Expr, step: impl Fn(Expr) -> Expr) -> Expr {
    Expr::fold(n, "s", "i", Expr::tuple(vec![Expr::double(0.0), first]), |state, i| {
        let part = |k| Expr::proj(state.clone(), k);
        let keeps = Expr::prim(Prim::Gt, vec![part(0), Expr::double(0.0)]);
        Expr::tuple(vec![part(0), Expr::if_(keeps, part(1), step(i))])
    })
}

#[test]
fn indices_that_a_fold_selects() {
    let (n, j) = (index("n"), index("j"));
    let mut facts = facts(&[&n], &[]);
    let at = |facts: &Facts, fold: Expr| {
        let (state, mut facts) = (Var::fresh("t", fold.ty().clone()), facts.clone());
        facts.define(&state, &fold);
        let at = facts.size_of(&Expr::proj(Expr::var(&state), 1));
        (at, facts)
    };
    let shifted = |by: i64| move |i: Expr| Expr::prim(Prim::Add, vec![i, Expr::index(by)]);
    let (found, known) = at(&facts, selects(Expr::var(&n), Expr::index(-1), |i| i));
    assert!(known.at_most(&c(-1), &found) && known.less(&found, &s(&n)) && !known.nonnegative(&found));
    // a component that is bound alone
    let (alone, mut inside) = (index("at"), facts.clone());
    inside.define(&alone, &Expr::proj(selects(Expr::var(&n), Expr::index(-1), |i| i), 1));
    assert!(inside.less(&s(&alone), &s(&n)) && !inside.nonnegative(&s(&alone)));
    // one further; without a step, the first is left
    let (found, known) = at(&facts, selects(Expr::var(&n), Expr::index(0), shifted(1)));
    assert!(known.in_range(&found, &s(&n).add(&c(1))) && !known.less(&found, &s(&n)));
    let (found, known) = at(&facts, selects(Expr::var(&n), Expr::index(0), |i| i));
    assert!(!known.less(&found, &s(&n)), "n may be 0");
    // counted down
    let (found, known) = at(&facts, selects(Expr::var(&n), Expr::index(-1), |i| Expr::prim(Prim::Sub, vec![Expr::index(3), i])));
    assert!(known.at_most(&found, &c(3)) && !known.at_most(&c(-1), &found));
    // from j on, in a loop over j
    facts.enter_loop(&j, &Expr::var(&n));
    let after = |i: Expr| Expr::prim(Prim::Add, vec![Expr::prim(Prim::Add, vec![Expr::var(&j), Expr::index(1)]), i]);
    let left = s(&n).sub(&s(&j)).sub(&c(1)).to_expr().unwrap();
    let (found, known) = at(&facts, selects(left, Expr::var(&j), after));
    assert!(known.in_range(&found, &s(&n)) && known.at_most(&s(&j), &found));
    // what data, or the state, gives
    let (found, known) = at(&facts, selects(Expr::var(&n), Expr::index(0), |_| Expr::prim(Prim::ToIndex, vec![Expr::double(0.5)])));
    assert!(!known.nonnegative(&found) && !known.less(&found, &s(&n)));
    let doubled = Expr::fold(Expr::var(&n), "p", "i", Expr::index(1), |p, _| Expr::prim(Prim::Mul, vec![Expr::index(2), p]));
    let (p, mut inside) = (index("p"), facts.clone());
    inside.define(&p, &doubled);
    assert!(!inside.nonnegative(&s(&p)) && !inside.at_most(&s(&p), &c(2)));
}
