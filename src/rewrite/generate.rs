//! Random well-typed terms for tests: in a fixed signature, with every form, some of which fail.
//!
//! In: a seed. Out: terms over the parameters of [`Generator::function`], and arguments for it.
//!
//!     f (x y: Double) (k l: Index) (c: Bool) (p: Double * Double) (v w: Vector<n>) (u: Vector<m>) (M: Matrix<n, m>)

use std::io::Write;
use std::rc::Rc;

use crate::ir::eval::{Array, Shape, Value};
use crate::ir::{Expr, Function, Prim, Program, Size, Status, Type, Var};
use crate::source::Span;

/// How many cases a random test has, `SMOOTHC_CASES` or so many, and the seed of the first, `SMOOTHC_SEED` or 0; says which.
pub fn cases(default: u64) -> (u64, u64) {
    let asked = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
    };
    let (cases, first) = (asked("SMOOTHC_CASES").unwrap_or(default), asked("SMOOTHC_SEED").unwrap_or(0));
    // past the test harness, which keeps what passing tests print
    let _ = writeln!(std::io::stderr(), "{cases} random cases, SMOOTHC_SEED={first}");
    (cases, first)
}

/// A source of terms; equal seeds give equal terms up to the numbers of variables.
pub struct Generator {
    state: u64,
    sizes: [Var; 2],
    params: Vec<Var>,
    /// Everything in scope, parameters included.
    scope: Vec<Var>,
    helper: Function,
    /// Whether `check` may occur.
    pub checks: bool,
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        let (n, m) = (Var::fresh("n", Type::INDEX), Var::fresh("m", Type::INDEX));
        let vector = |name: &str, n: &Var| Var::fresh(name, Type::array(Type::Double, Size::var(n)));
        let params = vec![
            Var::fresh("x", Type::Double),
            Var::fresh("y", Type::Double),
            Var::fresh("k", Type::INDEX),
            Var::fresh("l", Type::INDEX),
            Var::fresh("c", Type::Bool),
            Var::fresh("p", Type::tuple(vec![Type::Double, Type::Double])),
            vector("v", &n),
            vector("w", &n),
            vector("u", &m),
            Var::fresh("M", Type::array(Type::array(Type::Double, Size::var(&m)), Size::var(&n))),
        ];
        let scope = params.iter().cloned().chain([n.clone(), m.clone()]).collect();
        let helper = helper();
        Generator { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, sizes: [n, m], params, scope, helper, checks: true }
    }

    /// A number below the bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % bound
    }

    /// A program of `f`, whose body this is, and a helper that it may call.
    pub fn program(&self, body: Expr) -> Program {
        let f = Function {
            name: "f".into(),
            doc: None,
            sizes: self.sizes.to_vec(),
            params: self.params.clone(),
            result: body.ty().clone(),
            body,
            is_entry: true,
            span: Span::NONE,
            labels: Vec::new(),
        };
        Program { functions: [(self.helper.name.clone(), self.helper.clone()), (f.name.clone(), f)].into_iter().collect() }
    }

    pub fn arguments(&mut self) -> Vec<Value> {
        let (n, m) = (self.below(4), self.below(4));
        let mut vector = |n: usize| -> Vec<f64> { (0..n).map(|_| self.below(7) as f64 * 0.5 - 1.0).collect() };
        let (v, w, u) = (vector(n), vector(n), vector(m));
        let rows: Vec<Vec<f64>> = (0..n).map(|_| vector(m)).collect();
        let array = |element: Shape, items: Vec<Value>| Value::Array(Rc::new(Array { element, items }));
        let doubles = |items: Vec<f64>| array(Shape::Double, items.into_iter().map(Value::Double).collect());
        let (x, y) = (self.below(7) as f64 * 0.5 - 1.5, self.below(5) as f64 * 0.75 - 1.0);
        let mut index = || Value::Index(self.below(6) as i64 - 1);
        let (k, l) = (index(), index());
        vec![
            Value::Double(x),
            Value::Double(y),
            k,
            l,
            Value::Bool(self.below(2) == 0),
            Value::Tuple(Rc::new(vec![Value::Double(y), Value::Double(0.5)])),
            doubles(v),
            doubles(w),
            doubles(u),
            array(Shape::array(Shape::Double, m), rows.into_iter().map(doubles).collect()),
        ]
    }

    /// Whether all sizes are at least 2: what work is compared at.
    pub fn is_large(arguments: &[Value]) -> bool {
        let length = |at: usize| match arguments.get(at) {
            Some(Value::Array(array)) => array.items.len(),
            Some(Value::Index(k)) => (*k).max(0) as usize,
            _ => 0,
        };
        [2, 6, 8].into_iter().all(|at| length(at) >= 2)
    }

    /// Binds a new variable while `f` makes its scope.
    pub fn bound<T>(&mut self, name: &str, ty: Type, f: impl FnOnce(&mut Generator, &Var) -> T) -> (Var, T) {
        let var = Var::fresh(name, ty);
        self.scope.push(var.clone());
        let made = f(self, &var);
        self.scope.pop();
        (var, made)
    }

    /// What was bound last.
    pub fn innermost(&self) -> &Var {
        self.scope.last().unwrap_or(&self.sizes[0])
    }

    /// A variable in scope whose type passes.
    fn variable(&mut self, wanted: impl Fn(&Type) -> bool) -> Option<Expr> {
        let fitting: Vec<Var> = self.scope.iter().filter(|var| wanted(var.ty())).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        // the innermost half of the time
        let at = if self.below(2) == 0 { fitting.len() - 1 } else { self.below(fitting.len()) };
        fitting.get(at).map(Expr::var)
    }

    /// A term of this type (Double, Index, Bool, a vector, a pair of Doubles).
    pub fn term(&mut self, ty: &Type, depth: usize) -> Expr {
        match ty {
            Type::Double => self.double(depth),
            Type::Index(_) => self.index(depth),
            Type::Bool => self.boolean(depth),
            Type::Rec(of) => Expr::absent(of),
            Type::Array(..) => self.vector(depth),
            Type::Tuple(parts) => Expr::tuple(parts.iter().map(|part| self.term(part, depth.saturating_sub(1))).collect()),
        }
    }

    pub fn double(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return match self.below(4) {
                0 => Expr::double([0.0, 1.0, 2.0, -1.0, 0.5][self.below(5)]),
                1 => {
                    let p = self.variable(|ty| matches!(ty, Type::Tuple(_)));
                    p.map_or(Expr::double(3.0), |p| Expr::proj(p, 1))
                }
                _ => self.variable(|ty| ty == &Type::Double).unwrap_or(Expr::double(1.0)),
            };
        }
        let d = depth - 1;
        match self.below(12) {
            0..=3 => {
                let prim = [Prim::Add, Prim::Sub, Prim::Mul, Prim::Div, Prim::Min, Prim::Max][self.below(6)];
                let (a, b) = (self.double(d), self.double(d));
                // group `algebra` may change the sign of a zero, and so the sign of what is divided by it
                let b = if prim == Prim::Div { Expr::prim(Prim::Exp, vec![b]) } else { b };
                Expr::prim(prim, vec![a, b])
            }
            4 => Expr::prim([Prim::Neg, Prim::Sin, Prim::Abs, Prim::Exp][self.below(4)], vec![self.double(d)]),
            5 | 6 => Expr::get(self.vector(d), self.index(d.min(1))),
            7 => Expr::if_(self.boolean(d), self.double(d), self.double(d)),
            8 => {
                let value = self.double(d);
                let (x, body) = self.bound("t", Type::Double, |g, _| g.double(d));
                Expr::let_(x, value, body)
            }
            9 => self.sum(d),
            10 if self.checks => Expr::check(self.boolean(d), Status::Range, self.double(d)),
            _ => self.double(0),
        }
    }

    /// A fold with a Double accumulator.
    pub fn sum(&mut self, depth: usize) -> Expr {
        let n = self.count();
        let init = self.double(0);
        let (s, (i, body)) =
            self.bound("s", Type::Double, |g, _| g.bound("i", Type::Index(Some(Size::of_expr(&n))), |g, _| g.double(depth)));
        Expr::fold_with(n, s, i, body, init)
    }

    /// A number of steps: mostly a length, sometimes negative.
    pub fn count(&mut self) -> Expr {
        match self.below(6) {
            0 => Expr::index(self.below(4) as i64),
            1 => Expr::var(&self.params[2].clone()),
            2 => Expr::var(&self.sizes[1].clone()),
            _ => Expr::var(&self.sizes[0].clone()),
        }
    }

    pub fn index(&mut self, depth: usize) -> Expr {
        if depth > 0 && self.below(3) == 0 {
            let prim = [Prim::Add, Prim::Sub, Prim::Mul, Prim::Div, Prim::Rem][self.below(5)];
            return Expr::prim(prim, vec![self.index(depth - 1), self.index(0)]);
        }
        match self.below(5) {
            0 => Expr::index(self.below(4) as i64 - 1),
            1 => Expr::dim(self.vector(0), 0),
            _ => self.variable(|ty| matches!(ty, Type::Index(_))).unwrap_or(Expr::index(0)),
        }
    }

    pub fn boolean(&mut self, depth: usize) -> Expr {
        if depth > 0 && self.below(3) == 0 {
            let d = depth - 1;
            return match self.below(3) {
                0 => Expr::prim(Prim::Not, vec![self.boolean(d)]),
                1 => Expr::prim(Prim::And, vec![self.boolean(d), self.boolean(d)]),
                _ => Expr::prim(Prim::Or, vec![self.boolean(d), self.boolean(d)]),
            };
        }
        let prim = [Prim::Eq, Prim::Lt, Prim::Le, Prim::Ge, Prim::Gt, Prim::Ne][self.below(6)];
        match self.below(5) {
            0 => self.variable(|ty| ty == &Type::Bool).unwrap_or(Expr::bool(true)),
            1 => Expr::prim(prim, vec![self.double(0), self.double(0)]),
            _ => Expr::prim(prim, vec![self.index(0), self.index(0)]),
        }
    }

    /// An array of n Doubles, or now and then of another length.
    pub fn vector(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self
                .variable(|ty| matches!(ty, Type::Array(element, _) if **element == Type::Double))
                .unwrap_or(Expr::array(Type::Double, vec![]));
        }
        let d = depth - 1;
        match self.below(5) {
            0 => {
                let n = self.count();
                self.build(n, |g| g.double(d))
            }
            1 => Expr::array(Type::Double, vec![self.double(d), self.double(0)]),
            2 => Expr::get(self.variable(|ty| ty.dims().len() == 2).unwrap_or(Expr::double(0.0)), self.index(0)),
            3 => Expr::if_(self.boolean(0), Expr::var(&self.params[6].clone()), Expr::var(&self.params[7].clone())),
            _ => self.vector(0),
        }
    }

    pub fn build(&mut self, n: Expr, f: impl FnOnce(&mut Generator) -> Expr) -> Expr {
        let (i, body) = self.bound("i", Type::Index(Some(Size::of_expr(&n))), |g, _| f(g));
        Expr::build_with(n, i, body)
    }

    /// The sizes n and m.
    pub fn size(&self, at: usize) -> Expr {
        Expr::var(&self.sizes[at])
    }

    /// A parameter by its name.
    pub fn param(&self, name: &str) -> Expr {
        self.params.iter().find(|param| &**param.name() == name).map_or(Expr::double(0.0), Expr::var)
    }

    pub fn call(&mut self) -> Expr {
        let helper = self.helper.clone();
        Expr::call(&helper, vec![self.vector(1), self.double(1)])
    }
}

/// `_scaled (a: Vector<q>) (t: Double) = ifold (fun s i -> s + a[i] * t) 0 q`
fn helper() -> Function {
    let q = Var::fresh("q", Type::INDEX);
    let a = Var::fresh("a", Type::array(Type::Double, Size::var(&q)));
    let t = Var::fresh("t", Type::Double);
    let body = Expr::fold(Expr::var(&q), "s", "i", Expr::double(0.0), |s, i| {
        let product = Expr::prim(Prim::Mul, vec![Expr::get(Expr::var(&a), i), Expr::var(&t)]);
        Expr::prim(Prim::Add, vec![s, product])
    });
    Function {
        name: "_scaled".into(),
        doc: None,
        sizes: vec![q],
        params: vec![a, t],
        result: Type::Double,
        body,
        is_entry: false,
        span: Span::NONE,
        labels: Vec::new(),
    }
}
