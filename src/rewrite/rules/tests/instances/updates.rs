//! Terms that rules of updates may apply to: as [`super::instance`].
//!
//! In: a source of random terms and a rule's name. Out: a term with an array that is changed element by element, whose indices
//! may be out of bounds; `None` for a rule that has no line here.
//!
//!     get-update   →   (update v 1 x)[i]

use crate::ir::{Change, Expr, Prim, Type};
use crate::rewrite::generate::Generator;

use super::super::shapes::sum_of;

pub fn instance(g: &mut Generator, rule: &str) -> Option<Expr> {
    Some(match rule {
        "update-array" => {
            let change = if g.below(2) == 0 { Change::Add } else { Change::Replace };
            let count = 1 + g.below(4);
            if g.below(3) == 0 {
                let row = g.vector(0);
                let array = Expr::array(row.ty().clone(), vec![row; count]);
                return Some(Expr::update(change, array, vec![Expr::index(g.below(3) as i64), g.index(0)], g.double(2)));
            }
            let items = (0..count).map(|_| g.double(1)).collect();
            let array = Expr::array(Type::Double, items);
            Expr::update(change, array, vec![Expr::index(g.below(3) as i64)], g.double(2))
        }
        "get-update" => {
            let array = g.vector(0);
            let index = if g.below(2) == 0 { Expr::index(g.below(3) as i64) } else { g.index(0) };
            let at = if g.below(3) == 0 { Expr::index(g.below(3) as i64) } else { index.clone() };
            let change = if g.below(2) == 0 { Change::Add } else { Change::Replace };
            Expr::get(Expr::update(change, array, vec![index], g.double(2)), at)
        }
        "update-update" => {
            let index = if g.below(2) == 0 { Expr::index(g.below(3) as i64) } else { g.index(0) };
            let at = if g.below(4) == 0 { Expr::index(g.below(3) as i64) } else { index.clone() };
            let change = if g.below(2) == 0 { Change::Add } else { Change::Replace };
            let first = Expr::update(Change::Replace, g.vector(0), vec![index], g.double(2));
            Expr::update(change, first, vec![at], g.double(2))
        }
        "accumulate-merge" => {
            let index = if g.below(2) == 0 { Expr::index(g.below(3) as i64) } else { g.index(0) };
            let at = if g.below(4) == 0 { Expr::index(g.below(3) as i64) } else { index.clone() };
            let first = Expr::update(Change::Add, g.vector(0), vec![index], g.double(2));
            Expr::update(Change::Add, first, vec![at], g.double(2))
        }
        "update-same" => {
            let array = g.vector(0);
            let index = if g.below(2) == 0 { Expr::index(g.below(3) as i64) } else { g.index(0) };
            Expr::update(Change::Replace, array.clone(), vec![index.clone()], Expr::get(array, index))
        }
        "collect-build" => {
            let rows = g.below(3) == 0;
            let array = if rows { g.param("M") } else { g.vector(0) };
            let n = if g.below(4) == 0 { g.count() } else { Expr::dim(array.clone(), 0) };
            let change = if g.below(3) == 0 { Change::Replace } else { Change::Add };
            Expr::fold(n, "a", "i", array.clone(), |a, i| {
                if rows {
                    return Expr::fold(Expr::dim(array, 1), "b", "j", a, |b, j| Expr::update(change, b, vec![i.clone(), j], g.double(2)));
                }
                let changed = Expr::update(change, a.clone(), vec![i], g.double(2));
                if g.below(2) == 0 { Expr::if_(g.boolean(1), changed, a) } else { changed }
            })
        }
        "collect-swap" => {
            let matrix = g.param("M");
            let n = if g.below(4) == 0 { g.count() } else { Expr::dim(matrix.clone(), 1) };
            let change = if g.below(3) == 0 { Change::Replace } else { Change::Add };
            Expr::fold(n, "a", "i", matrix.clone(), |a, i| {
                Expr::fold(Expr::dim(matrix.clone(), 0), "b", "j", a, |b, j| {
                    let own = Expr::get(Expr::get(matrix.clone(), j.clone()), i.clone());
                    let e = Expr::prim(Prim::Mul, vec![own, g.double(1)]);
                    let at = vec![j, i.clone()];
                    let product = |w: Expr| Expr::prim(Prim::Mul, vec![w.clone(), w]);
                    let named = |w: Expr| Expr::update(change, b.clone(), at.clone(), product(w));
                    if g.below(2) == 0 { Expr::update(change, b, at, e) } else { Expr::bind("w", e, named) }
                })
            })
        }
        "fold-share" => {
            if g.below(3) == 0 {
                return Some(matrices(g));
            }
            let z = g.vector(0);
            let n = Expr::dim(z.clone(), 0);
            let zeros = if g.below(4) == 0 { z.clone() } else { Expr::build(n.clone(), "j", |_| Expr::double(0.0)) };
            let change = if g.below(4) == 0 { Change::Replace } else { Change::Add };
            Expr::fold(n, "s", "i", Expr::tuple(vec![zeros, z]), |s, i| {
                let (w, e) = (g.double(2), if g.below(3) == 0 { Some(g.double(1)) } else { None });
                Expr::bind("w", w, |w| {
                    let other = e.unwrap_or_else(|| Expr::prim(Prim::Mul, vec![w.clone(), w.clone()]));
                    let own = Expr::proj(s.clone(), 0);
                    // changed before, or not
                    let own = match g.below(4) {
                        0 => Expr::if_(g.boolean(1), Expr::update(Change::Replace, own.clone(), vec![i.clone()], g.double(1)), own),
                        1 => Expr::fold(g.count(), "a", "j", own, |a, _| Expr::update(Change::Add, a, vec![i.clone()], g.double(1))),
                        _ => own,
                    };
                    let first = Expr::update(Change::Add, own, vec![i.clone()], w);
                    Expr::tuple(vec![first, Expr::update(change, Expr::proj(s, 1), vec![i], other)])
                })
            })
        }
        "collect-shifted" => {
            let z = g.vector(0);
            let n = if g.below(3) == 0 { g.count() } else { Expr::dim(z.clone(), 0) };
            let length = Expr::dim(z.clone(), 0);
            let shifts: Vec<i64> = (0..1 + g.below(3)).map(|_| g.below(5) as i64 - 2).collect();
            Expr::fold(n, "a", "i", z, |a, i| {
                shifts.iter().fold(a, |a, shift| {
                    let to = Expr::prim(Prim::Add, vec![i.clone(), Expr::index(*shift)]);
                    let low = Expr::prim(Prim::Le, vec![Expr::index(0), to.clone()]);
                    let high = Expr::prim(Prim::Lt, vec![to.clone(), length.clone()]);
                    let changed = Expr::update(Change::Add, a.clone(), vec![to], g.double(1));
                    Expr::if_(Expr::prim(Prim::And, vec![low, high]), changed, a)
                })
            })
        }
        "build-scatter" => chosen_sums(g, |g, cond, s| {
            let added = Expr::prim(Prim::Add, vec![s.clone(), g.double(2)]);
            Expr::if_(cond, added, s)
        }),
        "sum-terms" => chosen_sums(g, |g, cond, s| {
            let hot = Expr::if_(cond, g.double(1), Expr::double(0.0));
            let rest = if g.below(2) == 0 { Expr::if_(g.boolean(1), g.double(1), Expr::double(0.0)) } else { g.double(1) };
            let term = Expr::prim(if g.below(2) == 0 { Prim::Add } else { Prim::Sub }, vec![hot, rest]);
            Expr::prim(Prim::Add, vec![s, term])
        }),
        "build-band" => {
            let m = g.count();
            g.build(m, |g| {
                let j = Expr::var(g.innermost());
                let terms: Vec<Expr> = (0..1 + g.below(3))
                    .map(|_| {
                        let by = Expr::index(g.below(3) as i64 - 1);
                        let at = Expr::prim(Prim::Sub, vec![j.clone(), by]);
                        let hot = Expr::if_(Expr::prim(Prim::Eq, vec![at, g.index(1)]), g.double(2), Expr::double(0.0));
                        if g.below(3) == 0 { Expr::if_(g.boolean(1), hot, Expr::double(0.0)) } else { hot }
                    })
                    .collect();
                let prim = if g.below(2) == 0 { Prim::Add } else { Prim::Sub };
                terms.into_iter().reduce(|a, b| Expr::prim(prim, vec![a, b])).unwrap_or(Expr::double(0.0))
            })
        }
        _ => return None,
    })
}

/// Rows of sums, whose steps are made of a condition that chooses a row and the sum so far.
fn chosen_sums(g: &mut Generator, step: impl Fn(&mut Generator, Expr, Expr) -> Expr) -> Expr {
    let n = g.count();
    g.build(n, |g| {
        let r = Expr::var(g.innermost());
        let m = g.count();
        sum_of(g, m, |g, s, i| {
            let index = if g.below(2) == 0 { Expr::prim(Prim::Div, vec![i, Expr::index(2)]) } else { g.index(1) };
            let first = step(g, Expr::prim(Prim::Eq, vec![r.clone(), index]), s.clone());
            match g.below(4) {
                0 => {
                    let again = Expr::prim(Prim::Eq, vec![r, g.index(1)]);
                    Expr::bind("s", first, |s| step(g, again, s))
                }
                1 => Expr::if_(g.boolean(1), first, s),
                _ => first,
            }
        })
    })
}

/// Two matrices to whose elements the steps of two loops add numbers that they share.
fn matrices(g: &mut Generator) -> Expr {
    let matrix = g.param("M");
    let zeros = Expr::build(Expr::dim(matrix.clone(), 0), "r", |_| Expr::build(Expr::dim(matrix.clone(), 1), "c", |_| Expr::double(0.0)));
    Expr::fold(Expr::dim(matrix.clone(), 0), "s", "i", Expr::tuple(vec![zeros, matrix.clone()]), |s, i| {
        Expr::fold(Expr::dim(matrix.clone(), 1), "t", "j", s, |t, j| {
            let first = Expr::get(Expr::get(matrix.clone(), i.clone()), j.clone());
            Expr::bind("w", Expr::prim(Prim::Mul, vec![first, g.double(1)]), |w| {
                let at = |at: usize, e: Expr| Expr::update(Change::Add, Expr::proj(t.clone(), at), vec![i.clone(), j.clone()], e);
                Expr::tuple(vec![at(0, w.clone()), at(1, Expr::prim(Prim::Neg, vec![w]))])
            })
        })
    })
}
