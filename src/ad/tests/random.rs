//! Random programs: every form of term in every position, derivatives in derivatives, calls of each other.
//!
//! In: a seed. Out: a program of two functions and an entry that all take a Double, a vector and an Index.
//! Wherever the interpreter gives finite values, the differentiated program agrees to rounding. Types and substitution are as 001
//! Lemma 4 and Proposition 5 have them.

use super::*;
use crate::ir::Status;
use crate::ir::subst::{instance, substitute};

struct Random {
    state: u64,
    functions: Vec<Function>,
    doubles: Vec<Expr>,
    vectors: Vec<Expr>,
    indices: Vec<Expr>,
    /// Derivatives that may still be nested.
    duals: usize,
}

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % limit
    }

    fn any(&mut self, from: &[Expr]) -> Expr {
        let at = self.below(from.len());
        from[at].clone()
    }

    /// Runs `f` with its bindings undone afterwards.
    fn scope<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let lengths = (self.doubles.len(), self.vectors.len(), self.indices.len());
        let result = f(self);
        self.doubles.truncate(lengths.0);
        self.vectors.truncate(lengths.1);
        self.indices.truncate(lengths.2);
        result
    }

    fn cond(&mut self, depth: usize) -> Expr {
        let (a, b) = (self.double(depth), self.double(depth));
        let (i, j) = (self.any(&self.indices.clone()), self.any(&self.indices.clone()));
        match self.below(3) {
            0 => two(Prim::Lt, &a, &b),
            1 => two(Prim::And, &two(Prim::Ge, &a, &b), &two(Prim::Ne, &i, &j)),
            _ => two(Prim::Eq, &i, &j),
        }
    }

    /// An Index in range of every vector, which has at least one element.
    fn index(&mut self) -> Expr {
        self.any(&self.indices.clone())
    }

    fn element_of(&mut self, vector: Expr) -> Expr {
        let index = self.index();
        Expr::get(vector, index).at(Span::new(0, 1, 2))
    }

    fn double(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return match self.below(4) {
                0 => num([0.5, 1.0, -1.5, 2.0][self.below(4)]),
                1 => one(Prim::ToDouble, &self.index()),
                _ => self.any(&self.doubles.clone()),
            };
        }
        let d = depth - 1;
        match self.below(14) {
            0..=2 => {
                let prim = [Prim::Add, Prim::Sub, Prim::Mul, Prim::Min, Prim::Max][self.below(5)];
                two(prim, &self.double(d), &self.double(d))
            }
            3 => {
                let prim = [Prim::Sin, Prim::Tanh, Prim::Neg, Prim::Abs, Prim::Atan, Prim::Floor][self.below(6)];
                one(prim, &self.double(d))
            }
            4 => Expr::if_(self.cond(0), self.double(d), self.double(d)),
            5 | 6 => self.let_(d, |this| this.double(d)),
            7 => {
                let vector = self.vector(d);
                self.element_of(vector)
            }
            8 => {
                let vector = self.vector(d);
                named("w", vector, sum)
            }
            9 => self.fold(d),
            10 => {
                let parts = Expr::tuple(vec![self.double(d), self.index(), self.vector(d)]);
                named("t", parts, |t| {
                    self.scope(|this| {
                        this.doubles.push(Expr::proj(t.clone(), 0));
                        this.vectors.push(Expr::proj(t.clone(), 2));
                        this.double(d)
                    })
                })
            }
            11 => Expr::check(Expr::bool(true), Status::Shape, self.double(d)),
            12 if !self.functions.is_empty() => Expr::proj(self.call(d), 0),
            _ if self.duals > 0 => {
                self.duals -= 1;
                let at = self.double(d);
                let part = self.below(2);
                Expr::proj(dual(&at, &num(1.5), |x| self.scope(|this| this.with_double(x, d))), part)
            }
            _ => self.double(d),
        }
    }

    fn with_double(&mut self, x: &Expr, depth: usize) -> Expr {
        self.doubles.push(x.clone());
        self.doubles.push(x.clone());
        self.double(depth)
    }

    fn let_(&mut self, depth: usize, body: impl FnOnce(&mut Self) -> Expr) -> Expr {
        if self.below(2) == 0 {
            let value = self.double(depth);
            return named("y", value, |y| {
                self.scope(|this| {
                    this.doubles.push(y.clone());
                    body(this)
                })
            });
        }
        let value = self.vector(depth);
        named("w", value, |w| {
            self.scope(|this| {
                this.vectors.push(w.clone());
                body(this)
            })
        })
    }

    fn call(&mut self, depth: usize) -> Expr {
        let at = self.below(self.functions.len());
        let function = self.functions[at].clone();
        let args = vec![self.double(depth), self.vector(depth), self.index()];
        Expr::call(&function, args)
    }

    fn fold(&mut self, depth: usize) -> Expr {
        let init = Expr::tuple(vec![self.double(depth), self.vector(depth), int(0)]);
        let n = [Expr::index(2), Expr::index(0), self.index()][self.below(3)].clone();
        let state = Expr::fold(n, "s", "i", init, |s, _| {
            self.scope(|this| {
                this.doubles.push(Expr::proj(s.clone(), 0));
                this.vectors.push(Expr::proj(s.clone(), 1));
                let step = Expr::tuple(vec![this.double(depth), this.vector(depth), this.index()]);
                if this.below(2) == 0 { Expr::if_(this.cond(0), step, s) } else { step }
            })
        });
        named("s", state, |s| mul(&Expr::proj(s.clone(), 0), &get(&Expr::proj(s.clone(), 1), &int(0))))
    }

    fn vector(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.any(&self.vectors.clone());
        }
        let d = depth - 1;
        match self.below(8) {
            0 | 1 => {
                let n = Expr::dim(self.vectors[0].clone(), 0);
                Expr::build(n, "i", |i| {
                    self.scope(|this| {
                        this.indices.push(i);
                        this.double(d)
                    })
                })
            }
            2 => Expr::if_(self.cond(0), self.vector(d), self.vector(d)),
            3 => self.let_(d, |this| this.vector(d)),
            4 if !self.functions.is_empty() => Expr::proj(self.call(d), 1),
            5 => {
                let n = Expr::dim(self.vectors[0].clone(), 0);
                let rows = Expr::build(n, "i", |i| {
                    self.scope(|this| {
                        this.indices.push(i.clone());
                        Expr::tuple(vec![this.vector(d), i, this.double(0)])
                    })
                });
                named("rows", rows, |rows| {
                    let row = self.element_of(rows.clone());
                    named("row", row, |row| {
                        let other = Expr::proj(self.element_of(rows.clone()), 2);
                        self.scope(|this| {
                            this.doubles.extend([Expr::proj(row.clone(), 2), other]);
                            this.vectors.push(Expr::proj(row.clone(), 0));
                            this.vector(d)
                        })
                    })
                })
            }
            6 if self.duals > 0 => {
                self.duals -= 1;
                let at = self.any(&self.vectors.clone());
                let tangent = self.vector(0);
                let pairs = dual(&at, &tangent, |x| {
                    self.scope(|this| {
                        this.vectors.push(x.clone());
                        this.vectors.push(x.clone());
                        this.vector(d)
                    })
                });
                named("p", pairs, |p| Expr::build(Expr::dim(p.clone(), 0), "i", |i| Expr::proj(get(p, &i), 1)))
            }
            _ => self.vector(0),
        }
    }

    fn function(&mut self, name: &str, is_entry: bool) -> Function {
        let (n, x, k) = (Var::fresh("n", Type::INDEX), Var::fresh("x", Type::Double), Var::fresh("k", Type::INDEX));
        let v = Var::fresh("v", vector(&n));
        self.doubles = vec![Expr::var(&x)];
        self.vectors = vec![Expr::var(&v)];
        self.indices = vec![int(0), Expr::var(&k)];
        self.duals = 3;
        let body = if is_entry {
            dual(&Expr::var(&x), &num(1.0), |x| self.scope(|this| Expr::tuple(vec![this.with_double(x, 4), this.vector(3)])))
        } else {
            Expr::tuple(vec![self.double(3), self.vector(3)])
        };
        function(name, &[&x, &v, &k], body)
    }
}

/// A generator with two functions to call.
fn random(seed: u64) -> Random {
    let mut random = Random { state: seed, functions: Vec::new(), doubles: Vec::new(), vectors: Vec::new(), indices: Vec::new(), duals: 0 };
    for name in ["f", "g"] {
        let function = random.function(name, false);
        random.functions.push(function);
    }
    random
}

/// 001 Lemma 4 and Proposition 5, with y : B a Double, x in the context:
///
///     D[e] has the type of e with each Double doubled, and D[e1[e2 / y]] = D[e1][D[e2] / y]
///
/// On the right the derivative of e1 is in x and y at once, and gets primal and tangent of e2 where it has those of y.
#[test]
fn derivatives_are_typed_and_go_through_substitution() {
    let mut finite = 0;
    for seed in 0..800 {
        let mut random = random(seed);
        let (n, k) = (Var::fresh("n", Type::INDEX), Var::fresh("k", Type::INDEX));
        let (x, v) = (Var::fresh("x", Type::Double), Var::fresh("v", vector(&n)));
        let (inner, y) = (Var::fresh("inner", Type::Double), Var::fresh("y", Type::Double));
        random.vectors = vec![Expr::var(&v)];
        random.indices = vec![int(0), Expr::var(&k)];
        random.doubles = vec![Expr::var(&inner), Expr::var(&y), Expr::var(&y)];
        random.duals = 2;
        let e1 = Expr::tuple(vec![random.double(4), random.vector(3), random.index()]);
        random.doubles = vec![Expr::var(&inner), Expr::var(&inner)];
        let e2 = random.double(3);

        let at = Expr::var(&x);
        let whole = substitute(&e1, &[(y.clone(), e2.clone())]);
        let left = dual(&at, &num(1.0), |x| instance(&whole, &[(inner.clone(), x.clone())]));
        let value = dual(&at, &num(1.0), |x| instance(&e2, &[(inner.clone(), x.clone())]));
        let right = named("p", value, |p| {
            let (both, tangents) = (tuple(&[at.clone(), Expr::proj(p.clone(), 0)]), tuple(&[num(1.0), Expr::proj(p.clone(), 1)]));
            dual(&both, &tangents, |t| instance(&e1, &[(inner.clone(), Expr::proj(t.clone(), 0)), (y.clone(), Expr::proj(t.clone(), 1))]))
        });

        let mut sides = Vec::new();
        for side in [left, right] {
            let mut functions = random.functions.clone();
            functions.push(function("main", &[&x, &v, &k], side));
            let program = program(functions);
            let derived = derived(&program);
            assert_eq!(derived.functions["main"].body.ty(), &e1.ty().dual(), "seed {seed}");
            let args = vec![super::value(0.7), Value::vector(&[0.3, -1.1]), Value::Index(1)];
            sides.push(eval(&derived, "main", args).unwrap_or_else(|error| panic!("seed {seed}: {error:?}")));
        }
        let largest = sides[0].trace.largest.max(sides[1].trace.largest);
        let [left, right] = [0, 1].map(|side| sides[side].value.doubles());
        if left.iter().chain(&right).any(|x| !x.is_finite()) || largest > 1e6 {
            continue;
        }
        finite += 1;
        let tolerance = 1e-9 * largest.max(1.0);
        let same = left.len() == right.len() && left.iter().zip(&right).all(|(a, b)| (a - b).abs() <= tolerance);
        assert!(same, "seed {seed}: {left:?} against {right:?}\ne1 = {e1:?}\ne2 = {e2:?}");
    }
    assert!(finite > 500, "{finite}");
}

#[test]
fn random_programs_agree() {
    let mut finite = 0;
    for seed in 0..1500 {
        let mut random = random(seed);
        let main = random.function("main", true);
        random.functions.push(main);
        let program = program(random.functions);
        let args = vec![value(0.7), Value::vector(&[0.3, -1.1]), Value::Index(1)];
        let Ok(expected) = eval(&program, "main", args.clone()) else { panic!("seed {seed}") };
        let doubles = expected.value.doubles();
        let found = eval(&derived(&program), "main", args).unwrap().value.doubles();
        if doubles.iter().any(|x| !x.is_finite()) || expected.trace.largest > 1e6 {
            continue;
        }
        finite += 1;
        let tolerance = 1e-9 * expected.trace.largest.max(1.0);
        let same = doubles.len() == found.len() && doubles.iter().zip(&found).all(|(a, b)| (a - b).abs() <= tolerance);
        assert!(same, "seed {seed}: {doubles:?} against {found:?}\n{}", crate::ir::print::program(&program));
    }
    assert!(finite > 1000, "{finite}");
}
