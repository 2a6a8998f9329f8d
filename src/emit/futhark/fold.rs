//! Folds: a reduction where each component of the state is combined with something that does not depend on the state, by
//! an associative operation; a loop otherwise.
//!
//! In: a fold. Out: an expression with the same value, to the rounding of a sum in another order, that fails where the
//! fold does.
//!
//!     ifold (fun s i -> s + v[i] * w[i]) 0.0 n   →   f64.sum (map2 (*) v w)
//!     ifold (fun s i -> max s v[i]) v[0] n       →   fmax v[0] (reduce fmax (-f64.inf) v)
//!     ifold (fun c i -> c && v[i] > 0.0) true n  →   all (> 0.0) v
//!     ifold (fun s i -> accumulate s k[i] 1.0) z n   →   reduce_by_index (copy z) (+) 0.0 k (replicate n 1.0)
//!     ifold (fun s i -> s * x + v[i]) 0.0 n      →   loop s = 0.0 for i < n do s * x + v[i]

use super::associative::{self, Step, components, is_neutral, neutral, without_aliases};
use super::context::Emitter;
use super::guard::helper;
use super::hoist::{self, Moved, unless_empty};
use super::syntax::{Binding, Fut, Loop, Pattern, Trip};
use super::term::typed_literals;
use super::types::Shape;
use crate::ir::free::mentions;
use crate::ir::prim::Spelling;
use crate::ir::subst::freshen;
use crate::ir::{Change, Expr, Prim, Size, Status, Term, Type, Updated, Var};

impl Emitter<'_> {
    pub fn fold(&mut self, n: &Expr, acc: &Var, i: &Var, body: &Expr, init: &Expr) -> (Fut, Shape) {
        let body = without_aliases(body, acc);
        if let Some(collected) = self.collect(n, acc, i, &body, init) {
            return collected;
        }
        let mut inside = self.facts.clone();
        inside.enter_loop(i, n);
        let types = components(acc.ty());
        let may_reorder = |step: &Step| step.prims.iter().zip(&types).all(|(prim, ty)| self.may_reorder(*prim, ty));
        match associative::step(&body, acc, inside, self.signatures).filter(may_reorder) {
            Some(Step { prims, element }) => match (acc.ty(), prims.as_slice()) {
                (Type::Tuple(_), _) => self.reductions((n, i), acc, &prims, element, init),
                (_, [prim]) => self.reduction(n, i, *prim, element, init),
                _ => self.repeat(n, acc, i, &body, init),
            },
            None => self.repeat(n, acc, i, &body, init),
        }
    }

    /// A fold that adds to one element in each step, outside of branches, loops and lambdas: in parallel, in any order.
    fn collect(&mut self, n: &Expr, acc: &Var, i: &Var, body: &Expr, init: &Expr) -> Option<(Fut, Shape)> {
        let Type::Array(element, length) = acc.ty() else { return None };
        if **element != Type::Double || self.depth > 0 || !self.may_reorder(Prim::Add, element) {
            return None;
        }
        let index = tail(body, &|end| Some(added(end, acc)?.0))?;
        // the step's lets are around both
        let value = freshen(&tail(body, &|end| Some(added(end, acc)?.1))?);
        if mentions(&index, acc) || mentions(&value, acc) {
            return None;
        }
        let bound = length.to_expr()?;
        let is_below_length = matches!(index.ty(), Type::Index(Some(bound)) if bound == length);
        let mut bindings = Vec::new();
        let (start, shape) = self.operand(init, &mut bindings);
        let n = &self.known_count(n, &mut bindings);
        let mut places = self.steps(n, i, index).without_lets(&mut bindings);
        let mut test = None;
        if !is_below_length {
            let var = Var::fresh("places", Type::array(Type::INDEX, Size::of_expr(n)));
            let found = self.shape(var.ty());
            self.bind(&var, places, found, &mut bindings);
            let named = self.place(&var)?.exp();
            test = Some(self.all_elements(named.clone(), |this, place| Some(this.range_test(place, &bound)))?);
            places = named;
        }
        let values = self.steps(n, i, value).without_lets(&mut bindings);
        let args = vec![Fut::apply("copy", vec![start]), Fut::atom("(+)"), Fut::atom("0.0"), places, values];
        let mut sums = Fut::apply("reduce_by_index", args);
        if let Some(test) = test {
            // an assertion of the indices themselves is lost where Futhark's compiler fuses their computation into the scatter
            let named = self.named("sums", sums, &shape, &mut bindings);
            sums = Fut::assert(helper(Status::Bounds), test, named);
        }
        Some((Fut::let_in(bindings, sums), shape))
    }

    /// A count under a name where only data gives it: Futhark takes two arrays to be equally long where their lengths are one name.
    fn known_count(&mut self, n: &Expr, bindings: &mut Vec<Binding>) -> Expr {
        if Size::try_of_expr(n).is_some() {
            return n.clone();
        }
        let var = Var::fresh("n", Type::INDEX);
        let (count, shape) = self.operand(n, bindings);
        self.bind(&var, count, shape, bindings);
        Expr::var(&var)
    }

    /// A build of what the steps take, as its elements.
    fn steps(&mut self, n: &Expr, i: &Var, element: Expr) -> Fut {
        let build = Expr::build_with(n.clone(), i.clone(), element);
        self.exp(&build).0
    }

    fn reduction(&mut self, n: &Expr, i: &Var, prim: Prim, element: Expr, init: &Expr) -> (Fut, Shape) {
        let mut bindings = Vec::new();
        let shape = self.shape(element.ty());
        let start = if is_neutral(prim, init) { None } else { Some(self.operand(init, &mut bindings).0) };
        // a start that decides must not hide an element that fails
        let may_fail = is_connective(prim) && self.may_fail(n, i, &element);
        let none = self.neutral(prim, element.ty());
        let elements = self.steps(n, i, element).without_lets(&mut bindings);
        let ty = if shape == Shape::Index { "i64" } else { "f64" };
        let total = reduced(elements, none.clone(), |all| match (prim, &shape) {
            (Prim::And, _) => of_all("and", "all", all),
            (Prim::Or, _) => of_all("or", "any", all),
            (Prim::Mul, _) => Fut::apply(format!("{ty}.product"), vec![all]),
            (Prim::Min, Shape::Index) => Fut::apply("i64.minimum", vec![all]),
            (Prim::Max, Shape::Index) => Fut::apply("i64.maximum", vec![all]),
            (Prim::Add | Prim::Sub, _) => Fut::apply(format!("{ty}.sum"), vec![all]),
            _ => Fut::apply("reduce", vec![operator(prim, &shape), none.clone(), all]),
        });
        let exp = match start {
            Some(start) if may_fail => combined(prim, &shape, total, start),
            start => from_start(prim, &shape, start, total),
        };
        (Fut::let_in(bindings, exp), shape)
    }

    /// Several reductions in one go: a value with its tangents, as a rule.
    fn reductions(&mut self, (n, i): (&Expr, &Var), acc: &Var, prims: &[Prim], element: Expr, init: &Expr) -> (Fut, Shape) {
        let mut bindings = Vec::new();
        let types = components(element.ty());
        let shapes: Vec<Shape> = types.iter().map(|ty| self.shape(ty)).collect();
        let starts: Vec<Option<Fut>> = if let Term::Tuple(inits) = init.term() {
            let starts = inits.iter().zip(prims);
            starts.map(|(init, prim)| if is_neutral(*prim, init) { None } else { Some(self.operand(init, &mut bindings).0) }).collect()
        } else {
            let start = self.operand(init, &mut bindings).0;
            (0..shapes.len()).map(|at| Some(start.clone().project(at))).collect()
        };
        let elements = self.steps(n, i, element).without_lets(&mut bindings);
        let function = self.scope(|this| {
            let letters: Vec<String> = ('a'..='z').map(String::from).collect();
            let mut names = |from: usize| -> Vec<String> {
                (from..from + shapes.len()).map(|at| this.local(letters.get(at).map_or("z", |letter| letter))).collect()
            };
            let (a, b) = (names(0), names(shapes.len()));
            let pairs = prims.iter().zip(&shapes).zip(a.iter().zip(&b));
            let both = pairs.map(|((prim, shape), (a, b))| combined(summed(*prim), shape, Fut::atom(a), Fut::atom(b))).collect();
            let pattern = |names: Vec<String>| Pattern::Tuple(names.into_iter().map(Pattern::Name).collect());
            Fut::lambda(vec![pattern(a), pattern(b)], Fut::Tuple(both))
        });
        let neutrals = Fut::Tuple(prims.iter().zip(&types).map(|(prim, ty)| self.neutral(*prim, ty)).collect());
        let total = reduced(elements, neutrals.clone(), |all| Fut::apply("reduce", vec![function, neutrals, all]));
        let shape = Shape::Tuple(shapes.clone());
        if starts.iter().all(Option::is_none) && !prims.contains(&Prim::Sub) {
            return (Fut::let_in(bindings, total), shape);
        }
        let var = acc.renewed(init.ty().clone());
        self.bind(&var, total, shape.clone(), &mut bindings);
        let total = self.place(&var).map_or(Fut::atom("unused"), |place| place.exp());
        let parts = starts.into_iter().zip(prims.iter().zip(&shapes)).enumerate();
        let ends = parts.map(|(at, (start, (prim, shape)))| from_start(*prim, shape, start, total.clone().project(at)));
        let ends = Fut::Tuple(ends.collect());
        (Fut::let_in(bindings, ends), shape)
    }

    fn neutral(&mut self, prim: Prim, ty: &Type) -> Fut {
        let neutral = neutral(prim, ty);
        match neutral.term() {
            Term::Index(i64::MAX) => Fut::atom("i64.highest"),
            Term::Index(i64::MIN) => Fut::atom("i64.lowest"),
            _ => typed_literals(self.exp(&neutral).0),
        }
    }

    fn may_fail(&self, n: &Expr, i: &Var, element: &Expr) -> bool {
        let mut inside = self.facts.clone();
        inside.enter_loop(i, n);
        hoist::can_fail(element, inside, self.signatures)
    }

    fn repeat(&mut self, n: &Expr, acc: &Var, i: &Var, body: &Expr, init: &Expr) -> (Fut, Shape) {
        let mut bindings = Vec::new();
        let (start, found) = self.operand(init, &mut bindings);
        let wanted = self.shape(acc.ty());
        let (start, mut shape) = self.settle(start, found, &wanted);
        let mut start = typed_literals(start);
        let may_fail = self.fails_without_steps(n, &[acc, i], body, Moved::Loops);
        if !shape.is_known() || may_fail && !matches!(start, Fut::Atom(_)) {
            // the lengths get names before the loop, which keeps them
            let var = acc.renewed(acc.ty().clone());
            self.bind(&var, start.clone(), shape.clone(), &mut bindings);
            if let Some(place) = self.place(&var) {
                (start, shape) = (place.exp(), place.shape());
            }
        }
        let count = self.count(n, &mut bindings);
        let mut origins = self.origins(init);
        origins.extend(self.origins(body));
        let repeat = self.scope(|this| {
            let pattern = with_types(this.declare(acc, &shape), &shape);
            this.comes_from(acc, origins);
            let name = this.index(i, n);
            let (exp, _) = this.inside(body, &shape);
            Loop { pattern, init: start.clone(), trip: Trip::For(name, count.clone()), body: typed_literals(exp) }
        });
        let repeat = Fut::Loop(Box::new(repeat));
        let exp = if may_fail { unless_empty(count, repeat, start) } else { repeat };
        (Fut::let_in(bindings, exp), shape)
    }
}

impl Emitter<'_> {
    /// `while(s = x. (c s, f s))   →   loop (go, s) = (true, x) while go do (c s, f s)`.
    pub fn open_loop(&mut self, state: &Var, init: &Expr, body: &Expr) -> (Fut, Shape) {
        let mut bindings = Vec::new();
        let (start, found) = self.operand(init, &mut bindings);
        let wanted = self.shape(state.ty());
        let (start, mut shape) = self.settle(start, found, &wanted);
        let mut start = typed_literals(start);
        if !shape.is_known() {
            let var = state.renewed(state.ty().clone());
            self.bind(&var, start.clone(), shape.clone(), &mut bindings);
            if let Some(place) = self.place(&var) {
                (start, shape) = (place.exp(), place.shape());
            }
        }
        let both = Shape::Tuple(vec![Shape::Bool, shape.clone()]);
        let mut origins = self.origins(init);
        origins.extend(self.origins(body));
        let repeat = self.scope(|this| {
            let go = this.local("go");
            let pattern = with_types(this.declare(state, &shape), &shape);
            this.comes_from(state, origins);
            let (exp, _) = this.inside(body, &both);
            let pattern = Pattern::Tuple(vec![Pattern::Name(go.clone()), pattern]);
            let init = Fut::Tuple(vec![Fut::atom("true"), start.clone()]);
            Loop { pattern, init, trip: Trip::While(go), body: typed_literals(exp) }
        });
        let var = Var::fresh(state.name(), Type::tuple(vec![Type::Bool, state.ty().clone()]));
        self.bind(&var, Fut::Loop(Box::new(repeat)), both, &mut bindings);
        let last = self.place(&var).map_or(Fut::atom("unused"), |place| place.exp());
        (Fut::let_in(bindings, last.project(1)), shape)
    }
}

/// The index and the value of a step that adds to one element of the state.
fn added(step: &Expr, acc: &Var) -> Option<(Expr, Expr)> {
    let Term::Update(Change::Add, parts) = step.term() else { return None };
    let Updated { array, indices, value } = Updated::of(parts)?;
    let [index] = indices else { return None };
    matches!(array.term(), Term::Var(var) if var == acc).then(|| (index.clone(), value.clone()))
}

/// A step's lets around what its end is made into; `None` where that fails.
fn tail(step: &Expr, end: &dyn Fn(&Expr) -> Option<Expr>) -> Option<Expr> {
    let Term::Let(x, value, body) = step.term() else { return end(step) };
    Some(Expr::let_(x.clone(), value.clone(), tail(body, end)?))
}

/// The pattern with the types of its arrays: Futhark would let their lengths change from one step to the next.
fn with_types(pattern: Pattern, shape: &Shape) -> Pattern {
    match (pattern, shape) {
        (Pattern::Name(name), Shape::Array(..)) if shape.is_known() => Pattern::Sized { sizes: Vec::new(), name, ty: shape.text() },
        (Pattern::Tuple(parts), Shape::Tuple(shapes)) => {
            Pattern::Tuple(parts.into_iter().zip(shapes).map(|(part, shape)| with_types(part, shape)).collect())
        }
        (pattern, _) => pattern,
    }
}

/// A reduction of all elements; of none where these stand in a test that there are some.
fn reduced(elements: Fut, none: Fut, reduce: impl FnOnce(Fut) -> Fut) -> Fut {
    let Fut::If(some, all, _) = elements else { return reduce(elements) };
    let mut bindings = Vec::new();
    let all = all.without_lets(&mut bindings);
    Fut::if_(*some, Fut::let_in(bindings, reduce(all)), none)
}

/// Whether one operand may decide alone.
fn is_connective(prim: Prim) -> bool {
    matches!(prim, Prim::And | Prim::Or)
}

/// What adds up what is taken away.
fn summed(prim: Prim) -> Prim {
    if prim == Prim::Sub { Prim::Add } else { prim }
}

/// `all p v` for `and (map p v)`.
fn of_all(plain: &str, mapped: &str, elements: Fut) -> Fut {
    match elements {
        Fut::Apply(function, args) if function == "map" => Fut::Apply(mapped.to_string(), args),
        elements => Fut::apply(plain, vec![elements]),
    }
}

/// What a reduction starts from with what it comes to.
fn from_start(prim: Prim, shape: &Shape, start: Option<Fut>, total: Fut) -> Fut {
    match start {
        Some(start) => combined(prim, shape, start, total),
        None if prim == Prim::Sub => Fut::Prefix('-', Box::new(total)),
        None => total,
    }
}

fn combined(prim: Prim, shape: &Shape, a: Fut, b: Fut) -> Fut {
    match spelling(prim, shape) {
        Spelling::Infix(op) => Fut::infix(op, a, b),
        Spelling::Prefix(name) | Spelling::Call(name) => Fut::apply(name, vec![a, b]),
    }
}

/// The operation as a function.
fn operator(prim: Prim, shape: &Shape) -> Fut {
    match spelling(prim, shape) {
        Spelling::Infix(op) => Fut::atom(format!("({op})")),
        Spelling::Prefix(name) | Spelling::Call(name) => Fut::atom(name),
    }
}

fn spelling(prim: Prim, shape: &Shape) -> Spelling {
    let row = prim.row();
    row.futhark_index.filter(|_| *shape == Shape::Index).unwrap_or(row.futhark)
}
