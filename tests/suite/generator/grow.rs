//! Random well-typed programs.
//!
//! In: a seed, or other choices. Out: a program of zero to two helpers and an entry with arguments for it, sizes 0 … 4 among them.
//! Growth follows types: `expr(ty, depth)` picks a construct that gives that type, and what it needs in turn.
//! Values whose names carry a length are never shadowed; all other local names come from a small pool, so
//! that shadowing is the rule. Derivatives nest to depth two. A tame program stays in every domain.

use super::program::{Binding, Child, Expr, Function, Kind, Len, Program, Ty};
use super::random::Random;
use super::spelling;

const POOL: &[&str] = &["x", "y", "z", "a", "b", "i", "j", "s", "t", "x'", "double_", "if_", "pow", "main", "int", "y0"];

pub struct Grower {
    pub random: Random,
    /// How what grows is written.
    pub spelling: Random,
    prefix: String,
    pub wild: bool,
    pub env: Vec<Binding>,
    pub fuel: i64,
    /// Derivative forms around this place.
    pub duals: usize,
    /// Sizes may come from this Index parameter.
    pub sizes_from_k: bool,
    /// Loops look for the largest or the smallest.
    pub has_extremes: bool,
    /// The functions so far whose lengths contradict each other unless their arguments have the right ones, and whether the
    /// one at hand is such.
    pub contradicting: Vec<std::sync::Arc<str>>,
    pub contradicts: bool,
    loops: usize,
    fresh: usize,
}

/// The program of a seed. `prefix` begins the names of its functions.
pub fn program(seed: u64, prefix: &str, wild: bool) -> Program {
    program_of(Random::new(seed), prefix, wild)
}

/// The same, in which loops also look for the largest or the smallest.
pub fn with_extremes(seed: u64, prefix: &str, wild: bool) -> Program {
    grown(Random::new(seed), prefix, wild, true)
}

/// The program of a source of choices.
pub fn program_of(random: Random, prefix: &str, wild: bool) -> Program {
    grown(random, prefix, wild, false)
}

fn grown(random: Random, prefix: &str, wild: bool, has_extremes: bool) -> Program {
    let mut grower = Grower {
        spelling: random.apart(),
        prefix: prefix.to_string(),
        random,
        wild,
        env: Vec::new(),
        fuel: 0,
        duals: 0,
        sizes_from_k: false,
        has_extremes,
        contradicting: Vec::new(),
        contradicts: false,
        loops: 0,
        fresh: 0,
    };
    let mut functions: Vec<Function> = Vec::new();
    let mut globals: Vec<Binding> = Vec::new();
    for k in 0..grower.random.below(3) {
        let function = grower.function(&format!("_{prefix}_h{k}"), &globals, 25);
        if std::mem::take(&mut grower.contradicts) {
            grower.contradicting.push(function.name.clone());
        }
        let params = function.params.iter().map(|(_, ty)| ty.clone()).collect();
        globals.push(Binding { name: function.name.clone(), kind: Kind::Function(params, function.body.ty.clone()) });
        functions.push(function);
    }
    let fuel = 20 + grower.random.below(100) as i64;
    grower.sizes_from_k = true;
    functions.push(grower.function(prefix, &globals, fuel));
    let params: Vec<Ty> = functions.last().map(|entry| entry.params.iter().map(|(_, ty)| ty.clone()).collect()).unwrap_or_default();
    let inputs = (0..3).map(|_| grower.input(&params)).collect();
    Program { functions, inputs, wild }
}

impl Grower {
    fn function(&mut self, name: &str, globals: &[Binding], fuel: i64) -> Function {
        self.env = globals.to_vec();
        self.fuel = fuel;
        let (n, m) = (Len::named("n"), Len::named("m"));
        let pair = Ty::Tuple(vec![Ty::Double, if self.random.chance(50) { Ty::Double } else { Ty::Index }]);
        let mut params: Vec<(std::sync::Arc<str>, Ty)> = Vec::new();
        let mut add = |name: &str, ty: Ty| params.push((name.into(), ty));
        for (percent, name, ty) in [
            (70, "v", Ty::vector(n.clone())),
            (30, "w", Ty::vector(n.clone())),
            (30, "u", Ty::vector(m.clone())),
            (25, "M", Ty::matrix(n.clone(), m.clone())),
            (10, "Q", Ty::matrix(n.clone(), n.clone())),
            (15, "R", Ty::vector(Len::number(3))),
            (15, "P", Ty::array(pair, n.clone())),
            (10, "K", Ty::array(Ty::Index, n.clone())),
            (60, "x", Ty::Double),
            (40, "y", Ty::Double),
            (40, "k", Ty::Index),
            (20, "i", Ty::Index),
            (20, "b", Ty::Bool),
            (10, "p", Ty::Tuple(vec![Ty::Double, Ty::vector(n)])),
        ] {
            if self.random.chance(percent) {
                add(name, ty);
            }
        }
        if params.is_empty() {
            params.push(("x".into(), Ty::Double));
        }
        // in another order now and then
        if self.random.chance(30) {
            let by = self.random.below(params.len());
            params.rotate_left(by);
        }
        self.env.extend(params.iter().map(|(name, ty)| Binding::value(name, ty.clone())));
        let result = self.ty(2);
        let body = self.expr(&result, 6);
        self.env.clear();
        Function { name: name.into(), params, body }
    }

    /// One argument list as JSON.
    fn input(&mut self, params: &[Ty]) -> Vec<String> {
        let mut size = || Len::number([0, 1, 2, 3, 4, 2, 3, 3][self.random.below(8)]);
        let (n, m) = (size(), size());
        let values = |name: &str| if name == "n" { n.clone() } else { m.clone() };
        params.iter().map(|ty| self.value(&ty.of(&values))).collect()
    }

    fn value(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Double => {
                if self.wild && self.random.chance(12) {
                    return self.random.word(&["NaN", "Infinity", "-Infinity", "-0.0", "1e300", "1e-300", "-1e19", "0.0"]).to_string();
                }
                match self.random.below(3) {
                    0 => format!("{:?}", self.random.below(25) as f64 * 0.25 - 3.0),
                    1 => format!("{:?}", self.random.below(7) as f64 - 3.0),
                    _ => format!("{:?}", self.random.unit() * 4.0 - 2.0),
                }
            }
            Ty::Index => {
                if self.wild && self.random.chance(4) {
                    return self.random.word(&["9223372036854775807", "-9223372036854775808", "4294967296"]).to_string();
                }
                (self.random.below(8) as i64 - 2).to_string()
            }
            Ty::Bool => self.random.chance(50).to_string(),
            Ty::Array(element, len) => {
                let items: Vec<String> = (0..len.off).map(|_| self.value(element)).collect();
                format!("[{}]", items.join(", "))
            }
            Ty::Tuple(parts) => {
                let items: Vec<String> = parts.iter().map(|part| self.value(part)).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }

    /// A type whose lengths the names in scope can tell.
    pub fn ty(&mut self, depth: usize) -> Ty {
        match self.random.below(if depth == 0 { 10 } else { 20 }) {
            0..=6 => Ty::Double,
            7 | 8 => Ty::Index,
            9 => Ty::Bool,
            10..=13 => Ty::vector(self.len()),
            14 => Ty::matrix(self.len(), self.len()),
            15 => Ty::array(self.ty(depth - 1), self.len()),
            16 => Ty::array(Ty::Index, self.len()),
            17 => Ty::array(Ty::Tuple(vec![Ty::Double, self.ty(0)]), self.len()),
            18 => Ty::Tuple(vec![self.ty(depth - 1), self.ty(depth - 1)]),
            _ => Ty::Tuple(vec![self.ty(depth - 1), self.ty(0), self.ty(0)]),
        }
    }

    /// A length that the names in scope can tell.
    pub fn len(&mut self) -> Len {
        let lens: Vec<Len> = self.lens().into_iter().map(|(len, _)| len).collect();
        if lens.is_empty() || self.random.chance(25) {
            return Len::number(*self.random.pick(&[0, 1, 2, 3, 3]));
        }
        let mut len = self.random.pick(&lens).clone();
        if len.mul == 1 && self.random.chance(10) {
            len.off += 1;
        }
        len
    }

    /// Lengths with an expression for each.
    fn lens(&self) -> Vec<(Len, Expr)> {
        let mut found: Vec<(Len, Expr)> = Vec::new();
        for binding in self.visible() {
            let mut add = |len: &Len, template: &str| {
                if len.name.is_some() && found.iter().all(|(other, _)| other != len) {
                    found.push((len.clone(), Expr::of(Ty::Index, template, vec![Expr::var(&binding)])));
                }
            };
            if let Kind::Value(Ty::Array(element, len)) = &binding.kind {
                add(len, "length {0}");
                if let Ty::Array(_, len) = &**element {
                    add(len, "matrixCols {0}");
                }
            }
        }
        found
    }

    pub fn len_expr(&mut self, len: &Len) -> Option<Expr> {
        let Some(name) = &len.name else { return Some(Expr::atom(Ty::Index, &len.off.to_string())) };
        let lens = self.lens();
        if let Some((_, expr)) = lens.iter().find(|(other, _)| other == len) {
            return Some(expr.clone());
        }
        let (base, expr) = lens.into_iter().find(|(other, _)| other.name.as_ref() == Some(name) && other.mul == 1)?;
        let mut expr = expr;
        let off = len.off - base.off * len.mul;
        if len.mul != 1 {
            expr = Expr::of(Ty::Index, &format!("{{0}} * {}", len.mul), vec![expr]);
        }
        if off != 0 {
            expr = Expr::of(Ty::Index, &format!("{{0}} {} {}", if off < 0 { '-' } else { '+' }, off.abs()), vec![expr]);
        }
        Some(expr)
    }

    /// What a name means here, each name once.
    pub fn visible(&self) -> Vec<Binding> {
        let mut seen: Vec<Binding> = Vec::new();
        for binding in self.env.iter().rev() {
            if seen.iter().all(|other| other.name != binding.name) {
                seen.push(binding.clone());
            }
        }
        seen
    }

    pub fn variables(&self, fits: impl Fn(&Ty) -> bool) -> Vec<Binding> {
        self.visible().into_iter().filter(|binding| binding.ty().is_some_and(|ty| fits(&ty))).collect()
    }

    /// A name for a value of this type: one that is never used again if it may carry a length.
    pub fn name(&mut self, ty: &Ty) -> Box<str> {
        self.fresh += 1;
        match ty {
            Ty::Array(..) | Ty::Tuple(_) => format!("r{}", self.fresh).into(),
            Ty::Double | Ty::Index | Ty::Bool => self.random.word(POOL).into(),
        }
    }

    /// A child under some new names.
    pub fn under(&mut self, binds: Vec<Binding>, ty: &Ty, depth: usize) -> Child {
        let length = self.env.len();
        self.env.extend(binds.iter().cloned());
        let expr = self.expr(ty, depth);
        self.env.truncate(length);
        Child { binds, expr }
    }

    pub fn looped(&mut self, binds: Vec<Binding>, ty: &Ty, depth: usize) -> Child {
        self.loops += 1;
        let child = self.under(binds, ty, if self.loops > 3 { depth.min(1) } else { depth });
        self.loops -= 1;
        child
    }

    pub fn plain(&mut self, ty: &Ty, depth: usize) -> Child {
        Child { binds: Vec::new(), expr: self.expr(ty, depth) }
    }

    /// An expression of this type.
    pub fn expr(&mut self, ty: &Ty, depth: usize) -> Expr {
        self.fuel -= 1;
        if depth == 0 || self.fuel <= 0 {
            return self.leaf(ty);
        }
        for _ in 0..6 {
            if let Some(expr) = self.construct(ty, depth - 1) {
                return self.through_record(expr);
            }
        }
        self.leaf(ty)
    }

    /// A pair of Doubles, as a record in between now and then.
    fn through_record(&mut self, expr: Expr) -> Expr {
        let is_pair = matches!(&expr.ty, Ty::Tuple(parts) if parts.as_slice() == [Ty::Double, Ty::Double]);
        match spelling::pair(&self.prefix, &mut self.spelling).filter(|_| is_pair) {
            Some(template) => Expr::of(expr.ty.clone(), &template, vec![expr]),
            None => expr,
        }
    }

    /// The smallest expression of this type.
    fn leaf(&mut self, ty: &Ty) -> Expr {
        let variables = self.variables(|other| other == ty);
        if !variables.is_empty() && self.random.chance(80) {
            return Expr::var(self.random.pick(&variables));
        }
        match ty {
            Ty::Double => Expr::atom(Ty::Double, self.random.word(&["0.0", "1.0", "2.0", "0.5", "-1.5", "3.0", "0.1", "1e-3", "1", "2"])),
            Ty::Index => Expr::atom(Ty::Index, self.random.word(&["0", "1", "2", "3", "5", "-1"])),
            Ty::Bool => Expr::atom(Ty::Bool, self.random.word(&["true", "false"])),
            Ty::Tuple(parts) => {
                let parts: Vec<Expr> = parts.iter().map(|part| self.leaf(part)).collect();
                tuple(ty, parts)
            }
            Ty::Array(element, len) => match self.len_expr(len) {
                Some(count) => {
                    let index = Binding { name: self.random.word(POOL).into(), kind: Kind::Below(len.clone()) };
                    let length = self.env.len();
                    self.env.push(index.clone());
                    let body = self.leaf(element);
                    self.env.truncate(length);
                    build(ty, count, index, body)
                }
                // some name of this type was there when the type was chosen
                None => {
                    self.variables(|other| other == ty).first().map(Expr::var).unwrap_or_else(|| Expr::atom(ty.clone(), "NO_SUCH_LENGTH"))
                }
            },
        }
    }
}

pub fn tuple(ty: &Ty, parts: Vec<Expr>) -> Expr {
    let slots: Vec<String> = (0..parts.len()).map(|k| format!("{{{k}}}")).collect();
    Expr::of(ty.clone(), &format!("({})", slots.join(", ")), parts)
}

pub fn build(ty: &Ty, count: Expr, index: Binding, body: Expr) -> Expr {
    let template = format!("build {{0}} (fun {} -> {{1}})", index.name);
    let children = vec![Child { binds: vec![], expr: count }, Child { binds: vec![index], expr: body }];
    Expr { ty: ty.clone(), template: template.into(), uses: None, children }
}
