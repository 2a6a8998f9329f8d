//! The laws of 003 Figures 4 and 5 on random maps, each applied to random vectors in the interpreter.

use indexmap::IndexMap;

use super::apply::{backward, forward};
use super::laws::simplified;
use super::map::{Folding, Map};
use super::transpose::transposed;
use crate::ir::eval::{eval, real};
use crate::ir::{Expr, Function, Prim, Program, Size, Type, Var};
use crate::source::Span;

/// Xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }

    fn double(&mut self) -> f64 {
        self.next(17) as f64 / 4.0 - 2.0
    }

    fn ty(&mut self, depth: usize) -> Type {
        match self.next(if depth == 0 { 1 } else { 4 }) {
            1 => Type::tuple(vec![self.ty(depth - 1), self.ty(depth - 1)]),
            2 => Type::array(self.ty(depth - 1), Size::constant(1 + self.next(3) as i64)),
            _ => Type::Double,
        }
    }

    fn vector(&mut self, ty: &Type) -> Expr {
        match ty {
            Type::Double | Type::Index(_) | Type::Bool | Type::Rec(_) => Expr::double(self.double()),
            Type::Tuple(parts) => Expr::tuple(parts.iter().map(|ty| self.vector(ty)).collect()),
            Type::Array(element, size) => {
                let items = (0..size.as_constant().unwrap_or(0)).map(|_| self.vector(element)).collect();
                Expr::array((**element).clone(), items)
            }
        }
    }

    /// A map between these types, with the indices in scope.
    fn map(&mut self, from: &Type, to: &Type, depth: usize, scope: &mut Vec<Var>) -> Map {
        let scalar = |this: &mut Random, scope: &[Var]| match scope.last() {
            Some(i) if this.next(2) == 0 => Expr::prim(Prim::ToDouble, vec![Expr::var(i)]),
            _ => Expr::double(this.double()),
        };
        if depth == 0 {
            return match (from, to) {
                (Type::Double, Type::Double) => Map::scale(scalar(self, scope)),
                _ if from == to => Map::one(from),
                _ => Map::zero(from, to),
            };
        }
        match self.next(9) {
            0 => {
                let middle = self.ty(2);
                Map::compose(self.map(&middle, to, depth - 1, scope), self.map(from, &middle, depth - 1, scope))
            }
            1 => Map::sum(from, to, vec![self.map(from, to, depth - 1, scope), self.map(from, to, depth - 1, scope)]),
            2 => {
                let n = Expr::index(self.next(4) as i64);
                let i = Var::fresh("i", Type::INDEX);
                scope.push(i.clone());
                let body = self.map(from, to, depth - 1, scope);
                scope.pop();
                Map::sum_build(n, i, body)
            }
            3 => {
                let cond = Expr::prim(Prim::Lt, vec![scalar(self, scope), scalar(self, scope)]);
                Map::if_(cond, self.map(from, to, depth - 1, scope), self.map(from, to, depth - 1, scope))
            }
            4 => {
                let x = Var::fresh("x", Type::Double);
                let body = self.map(from, to, depth - 1, scope);
                let body = Map::compose(body, self.map(from, from, 0, scope));
                Map::let_(x, scalar(self, scope), body)
            }
            5 if from == to => self.fold(from, depth, scope),
            _ => self.by_shape(from, to, depth, scope),
        }
    }

    /// `ifold (fun acc i -> …)` over a state of the type `to`.
    fn fold(&mut self, ty: &Type, depth: usize, scope: &mut Vec<Var>) -> Map {
        let (acc, i) = (Var::fresh("acc", ty.clone()), Var::fresh("i", Type::INDEX));
        let pair = Type::tuple(vec![ty.clone(), ty.clone()]);
        scope.push(i.clone());
        let step = self.map(&pair, ty, depth - 1, scope);
        scope.pop();
        let start = self.map(ty, ty, depth - 1, scope);
        Map::fold(Folding { n: Expr::index(self.next(4) as i64), body: Expr::var(&acc), init: self.vector(ty), acc, i, step, start })
    }

    fn by_shape(&mut self, from: &Type, to: &Type, depth: usize, scope: &mut Vec<Var>) -> Map {
        let built = |this: &mut Random, size: &Size, scope: &mut Vec<Var>, from: &Type, to: &Type| {
            let i = Var::fresh("i", Type::INDEX);
            scope.push(i.clone());
            let body = this.map(from, to, depth - 1, scope);
            scope.pop();
            (Expr::index(size.as_constant().unwrap_or(0)), i, body)
        };
        let length = |size: &Size| size.as_constant().unwrap_or(1) as usize;
        match (from, to) {
            (_, Type::Tuple(parts)) if self.next(2) == 0 => {
                let maps = parts.iter().map(|ty| self.map(from, ty, depth - 1, scope)).collect();
                Map::vcat(from, maps)
            }
            (Type::Tuple(parts), _) => {
                let maps = parts.iter().map(|ty| self.map(ty, to, depth - 1, scope)).collect();
                Map::hcat(to, maps)
            }
            (_, Type::Array(element, size)) if self.next(2) == 0 => {
                if self.next(3) == 0 {
                    let maps = (0..length(size)).map(|_| self.map(from, element, depth - 1, scope)).collect();
                    return Map::vlist(from, to, maps);
                }
                let (n, i, body) = built(self, size, scope, from, element);
                Map::vbuild(n, i, body, to)
            }
            (_, Type::Array(element, size)) if self.next(3) == 0 => {
                let index = Expr::index(self.next(length(size)) as i64);
                Map::compose(Map::hot(to, index), self.map(from, element, depth - 1, scope))
            }
            (Type::Array(element, size), _) => match self.next(3) {
                0 => {
                    let index = Expr::index(self.next(length(size)) as i64);
                    Map::compose(self.map(element, to, depth - 1, scope), Map::at(from, index))
                }
                1 => {
                    let maps = (0..length(size)).map(|_| self.map(element, to, depth - 1, scope)).collect();
                    Map::hlist(from, to, maps)
                }
                _ => {
                    let (n, i, body) = built(self, size, scope, element, to);
                    Map::hbuild(n, i, body, from)
                }
            },
            _ => self.map(from, to, 0, scope),
        }
    }
}

/// The Doubles of a closed term.
fn value(term: &Expr) -> Vec<f64> {
    let function = Function {
        name: "f".into(),
        doc: None,
        sizes: Vec::new(),
        params: Vec::new(),
        result: term.ty().clone(),
        body: crate::ir::subst::freshen(term),
        is_entry: true,
        span: Span::NONE,
        labels: Vec::new(),
    };
    let program = Program { functions: IndexMap::from([("f".into(), function)]) };
    crate::ir::check::check(&program).expect("well-formed");
    eval(&program, "f", Vec::new()).expect("a value").value.doubles()
}

fn applied(map: &Map, x: &Expr) -> Vec<f64> {
    value(&forward(map, x).expect("known sizes"))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| real::binary(Prim::Mul, *a, *b).unwrap_or(f64::NAN)).sum()
}

/// Maps that give the same on a random vector; the numbers are small dyadic fractions, mostly exact.
fn equal(law: &str, a: &Map, b: &Map, random: &mut Random) {
    assert_eq!((a.from(), a.to()), (b.from(), b.to()), "{law}");
    let x = random.vector(a.from());
    let (left, right) = (applied(a, &x), applied(b, &x));
    let scale = left.iter().fold(1.0, |scale: f64, value| scale.max(value.abs()));
    assert!(left.len() == right.len() && left.iter().zip(&right).all(|(a, b)| (a - b).abs() <= 1e-9 * scale), "{law}: {left:?}, {right:?}");
}

#[test]
fn laws_hold_on_random_maps() {
    crate::stack::with_large_stack(|| {
        for seed in 1..60 {
            let random = &mut Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
            let (r, s, t) = (random.ty(2), random.ty(2), random.ty(2));
            let map = |from: &Type, to: &Type, random: &mut Random| random.map(from, to, 3, &mut Vec::new());
            let (m, n) = (map(&s, &t, random), map(&r, &s, random));
            let (m2, k) = (map(&s, &t, random), random.double());
            equal("simplified", &m, &simplified(&m).expect("small"), random);
            equal(
                "simplified ∘",
                &Map::compose(m.clone(), n.clone()),
                &simplified(&Map::compose(m.clone(), n.clone())).expect("small"),
                random,
            );
            equal("0 ∘ m = 0", &Map::compose(Map::zero(&t, &r), m.clone()), &Map::zero(&s, &r), random);
            equal("m ∘ 0 = 0", &Map::compose(m.clone(), Map::zero(&r, &s)), &Map::zero(&r, &t), random);
            equal("1 ∘ m = m", &Map::compose(Map::one(&t), m.clone()), &m, random);
            equal("m ∘ 1 = m", &Map::compose(m.clone(), Map::one(&s)), &m, random);
            equal("m ⊕ 0 = m", &Map::sum(&s, &t, vec![m.clone(), Map::zero(&s, &t)]), &m, random);
            let scales = Map::compose(Map::scale(Expr::double(k)), Map::scale(Expr::double(3.0)));
            equal("S(k₁) ∘ S(k₂) = S(k₁ * k₂)", &scales, &Map::scale(Expr::double(k * 3.0)), random);
            let scales = Map::sum(&Type::Double, &Type::Double, vec![Map::scale(Expr::double(k)), Map::scale(Expr::double(3.0))]);
            equal("S(k₁) ⊕ S(k₂) = S(k₁ + k₂)", &scales, &Map::scale(Expr::double(k + 3.0)), random);
            let columns = Map::vcat(&s, vec![m.clone(), m2.clone()]);
            let (a, b) = (map(&t, &r, random), map(&t, &r, random));
            equal(
                "(m₁ ⋈ m₂) ∘ (n₁ × n₂)",
                &Map::compose(Map::hcat(&r, vec![a.clone(), b.clone()]), columns.clone()),
                &Map::sum(&s, &r, vec![Map::compose(a.clone(), m.clone()), Map::compose(b.clone(), m2.clone())]),
                random,
            );
            equal(
                "(m₁ × m₂) ∘ n",
                &Map::compose(columns, n.clone()),
                &Map::vcat(&r, vec![Map::compose(m.clone(), n.clone()), Map::compose(m2.clone(), n.clone())]),
                random,
            );
            equal(
                "m ∘ (n₁ ⋈ n₂)",
                &Map::compose(a.clone(), Map::hcat(&t, vec![m.clone(), m2.clone()])),
                &Map::hcat(&r, vec![Map::compose(a.clone(), m.clone()), Map::compose(a.clone(), m2)]),
                random,
            );
            // Figure 5
            equal("(mᵀ)ᵀ = m", &transposed(&transposed(&m)), &m, random);
            let both = Map::compose(m.clone(), n.clone());
            equal("(m ∘ n)ᵀ = nᵀ ∘ mᵀ", &transposed(&both), &Map::compose(transposed(&n), transposed(&m)), random);
            for map in [m.clone(), both, simplified(&m).expect("small")] {
                let (x, y) = (random.vector(map.from()), random.vector(map.to()));
                let there = dot(&value(&y), &applied(&map, &x));
                let back = dot(&value(&backward(&map, &y).expect("known sizes")), &value(&x));
                assert!((there - back).abs() <= 1e-9 * there.abs().max(1.0), "(mᵀ ⊙ t) · s = t · (m ⊙ s): {there}, {back}");
            }
        }
    });
}
