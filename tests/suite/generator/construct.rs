//! Which constructs give which type, with what chance.
//!
//! In: a type. Out: an expression of that type, or `None` when the chosen construct needs something that is not
//! in scope. `any` has what fits every type; `double`, `index`, `boolean`, `array` and `pair` the rest. Tame
//! programs keep arguments inside domains (`log (1 + e * e)`), wild ones do not.

use super::grow::{Grower, build, tuple};
use super::program::{Binding, Child, Expr, Kind, Len, Ty};
use super::spelling;

impl Grower {
    pub fn construct(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        if self.random.chance(25) {
            return self.any(ty, depth);
        }
        match ty {
            Ty::Double => self.double(depth),
            Ty::Index => self.index(depth),
            Ty::Bool => self.boolean(depth),
            Ty::Array(element, len) => self.array(ty, element, len, depth),
            Ty::Tuple(parts) => match self.random.below(4) {
                0 => self.dual_pair(ty, depth),
                1 => self.fold(ty, depth),
                _ => {
                    let parts = parts.iter().map(|part| self.expr(part, depth)).collect();
                    Some(tuple(ty, parts))
                }
            },
        }
    }

    fn many(&mut self, ty: &Ty, template: &str, arguments: &[&Ty], depth: usize) -> Option<Expr> {
        let template = self.one_of(template);
        let template = spelling::template(template, &mut self.spelling);
        let children = arguments.iter().map(|ty| self.expr(ty, depth)).collect();
        Some(Expr::of(ty.clone(), template, children))
    }

    /// One of the templates that a ` | ` separates.
    fn one_of<'a>(&mut self, templates: &'a str) -> &'a str {
        let all: Vec<&str> = templates.split(" | ").collect();
        all[self.random.below(all.len())]
    }

    fn any(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        match self.random.below(if self.has_extremes { 18 } else { 17 }) {
            0..=2 => self.let_value(ty, depth),
            3 => self.let_pair(ty, depth),
            4 => self.let_function(ty, depth),
            5 => self.let_sized(ty, depth),
            6 | 7 => self.many(ty, "if {0} then {1} else {2}", &[&Ty::Bool, ty, ty], depth),
            8 => self.many(ty, "if {0} then {1} elif {2} then {3} else {4}", &[&Ty::Bool, ty, &Ty::Bool, ty, ty], depth.min(2)),
            9 => self.element(ty, depth),
            10 | 11 => self.call(ty, depth),
            12 => self.fold(ty, depth),
            13 => self.jvp(ty, depth),
            14 | 15 => self.swept(ty, depth),
            17 => self.extreme(ty, depth),
            _ => {
                let other = self.ty(0);
                let (template, parts) =
                    if self.random.chance(50) { ("fst ({0}, {1})", [ty, &other]) } else { ("snd ({0}, {1})", [&other, ty]) };
                self.many(ty, template, &parts, depth)
            }
        }
    }

    fn let_value(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let bound = self.ty(2);
        let name = self.name(&bound);
        let annotation = if bound.is_plain() && self.random.chance(20) { format!(" : {}", bound.text()) } else { String::new() };
        let value = self.plain(&bound, depth);
        let body = self.under(vec![Binding::value(&name, bound)], ty, depth);
        Some(form(ty, format!("let {name}{annotation} = {{0}} in {{1}}"), vec![value, body]))
    }

    fn let_pair(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let (a, b) = (self.ty(1), self.ty(0));
        let value = self.plain(&Ty::Tuple(vec![a.clone(), b.clone()]), depth);
        let (first, mut second) = (self.name(&a), self.name(&b));
        if first == second {
            second = "_".into();
        }
        let binds = vec![Binding::value(&first, a), Binding::value(&second, b)].into_iter().filter(|bind| &*bind.name != "_").collect();
        let body = self.under(binds, ty, depth);
        Some(form(ty, format!("let ({first}, {second}) = {{0}} in {{1}}"), vec![value, body]))
    }

    /// What belongs to the largest or smallest of the values that a loop finds.
    fn extreme(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let steps = self.len();
        let count = Child { binds: vec![], expr: self.len_expr(&steps)? };
        let [best, kept, found, i] = std::array::from_fn(|_| self.name(&Ty::Tuple(vec![])));
        let index = Binding { name: i.to_string().into(), kind: Kind::Below(steps) };
        let item = self.looped(vec![index.clone()], &Ty::Double, depth.min(2));
        let binds = vec![Binding::value(&best, Ty::Double), Binding::value(&kept, ty.clone()), index, Binding::value(&found, Ty::Double)];
        let next = self.looped(binds, ty, depth.min(2));
        let (start, other) = (self.plain(&Ty::Double, depth.min(2)), self.plain(ty, depth.min(2)));
        let order = self.random.word(&[">", "<", ">=", "<="]);
        let step = format!("let {found} = {{0}} in if {found} {order} {best} then ({found}, {{1}}) else ({best}, {kept})");
        let template = format!("snd (ifold (fun ({best}, {kept}) {i} -> {step}) ({{2}}, {{3}}) {{4}})");
        Some(form(ty, template, vec![item, next, start, other, count]))
    }

    fn let_function(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let params: Vec<Ty> = (0..1 + self.random.below(2))
            .map(|_| [Ty::Double, Ty::Double, Ty::Index, Ty::vector(Len::number(3))][self.random.below(4)].clone())
            .collect();
        let result = if self.random.chance(60) { Ty::Double } else { self.ty(1) };
        let name = format!("g{}", self.name(&Ty::Tuple(vec![])));
        let mut binds: Vec<Binding> = Vec::new();
        for param in &params {
            let mut name = self.name(param);
            while binds.iter().any(|other| *other.name == *name) {
                name = format!("{name}'").into();
            }
            binds.push(Binding::value(&name, param.clone()));
        }
        let written: Vec<String> = binds.iter().zip(&params).map(|(bind, param)| format!("({}: {})", bind.name, param.text())).collect();
        let function = self.looped(binds, &result, depth);
        let body = self.under(vec![Binding { name: name.as_str().into(), kind: Kind::Function(params, result) }], ty, depth);
        Some(form(ty, format!("let {name} {} = {{0}} in {{1}}", written.join(" ")), vec![function, body]))
    }

    /// An array whose length is computed from an Index parameter.
    fn let_sized(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let k = self.variables(|ty| *ty == Ty::Index).into_iter().find(|binding| &*binding.name == "k" && self.sizes_from_k)?;
        let count = Expr::of(
            Ty::Index,
            self.random.word(&["{0} % 4", "min 3 (max {0} 0)", "abs ({0} % 4)", "if {0} > 2 then 2 else 1"]),
            vec![Expr::var(&k)],
        );
        let element = self.ty(0);
        let name = self.name(&Ty::Tuple(vec![]));
        let len = Len::named(&format!("?{name}"));
        let index = Binding { name: self.name(&Ty::Index).to_string().into(), kind: Kind::Below(len.clone()) };
        let item = self.looped(vec![index.clone()], &element, depth);
        let array = Ty::array(element, len);
        let value = build(&array, count, index, item.expr);
        let body = self.under(vec![Binding::value(&name, array)], ty, depth);
        Some(form(ty, format!("let {name} = {{0}} in {{1}}"), vec![Child { binds: vec![], expr: value }, body]))
    }

    /// A call of a local or an earlier function.
    fn call(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let functions: Vec<Binding> = self.visible().into_iter().filter(|binding| matches!(binding.kind, Kind::Function(..))).collect();
        for _ in 0..4 {
            if functions.is_empty() {
                return None;
            }
            let function = self.random.pick(&functions).clone();
            let Kind::Function(params, result) = &function.kind else { return None };
            // sizes of local functions are those of the function around them
            let global = function.name.starts_with('_');
            let (n, m) = (self.len(), self.len());
            let values = |name: &str| match name {
                "n" if global => n.clone(),
                "m" if global => m.clone(),
                _ => Len::named(name),
            };
            if result.of(&values) != *ty {
                continue;
            }
            if self.contradicting.contains(&function.name) {
                // lengths that can be shown to differ are a type error, in a function for these arguments too
                if ![&n, &m].into_iter().all(Len::is_name) {
                    continue;
                }
                self.contradicts = true;
            }
            let slots: Vec<String> = (0..params.len()).map(|k| format!("{{{k}}}")).collect();
            let children = params.iter().map(|param| self.plain(&param.of(&values), depth.min(2))).collect();
            let mut call = form(ty, format!("{} {}", function.name, slots.join(" ")), children);
            call.uses = Some(function.name.clone());
            return Some(call);
        }
        None
    }

    /// `v[i]`, in range unless bad luck wants otherwise.
    fn element(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let arrays = self.variables(|other| matches!(other, Ty::Array(element, _) if **element == *ty));
        let array = if arrays.is_empty() { return None } else { self.random.pick(&arrays).clone() };
        let Some(Ty::Array(_, len)) = array.ty() else { return None };
        let array = Expr::var(&array);
        let get = |index: Expr| Expr::of(ty.clone(), "{0}[{1}]", vec![array.clone(), index]);
        let loops: Vec<Binding> = self.visible().into_iter().filter(|binding| binding.kind == Kind::Below(len.clone())).collect();
        if !loops.is_empty() && self.random.chance(80) {
            return Some(get(Expr::var(self.random.pick(&loops))));
        }
        if self.random.chance(3) {
            let index = self.expr(&Ty::Index, depth.min(2));
            return Some(get(index));
        }
        if len.name.is_none() {
            return (len.off > 0).then(|| get(Expr::atom(Ty::Index, &self.random.below(len.off as usize).to_string())));
        }
        let index = match self.random.below(3) {
            0 => Expr::atom(Ty::Index, "0"),
            1 => Expr::of(Ty::Index, "length {0} - 1", vec![array.clone()]),
            _ => Expr::of(Ty::Index, "abs {0} % length {1}", vec![self.expr(&Ty::Index, depth.min(2)), array.clone()]),
        };
        let otherwise = self.expr(ty, depth.min(1));
        let guard = Expr::of(Ty::Bool, if self.random.chance(50) { "0 < length {0}" } else { "length {0} > 0" }, vec![array.clone()]);
        Some(Expr::of(ty.clone(), "if {0} then {1} else {2}", vec![guard, get(index), otherwise]))
    }

    fn fold(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let (count, len) = match self.random.below(4) {
            0 => (
                Expr::of(
                    Ty::Index,
                    self.random.word(&["abs {0} % 4", "min 3 (max 0 {0})", "abs ({0} % 3)"]),
                    vec![self.expr(&Ty::Index, 1)],
                ),
                Len::named("?"),
            ),
            1 if self.random.chance(20) => (Expr::of(Ty::Index, "{0} % 4", vec![self.expr(&Ty::Index, 1)]), Len::named("?")),
            _ => {
                let len = self.len();
                (self.len_expr(&len)?, len)
            }
        };
        let mut index = Binding { name: self.name(&Ty::Index).to_string().into(), kind: Kind::Below(len) };
        // a tuple is taken apart by the step's pattern half of the time
        let (pattern, mut binds) = match ty {
            Ty::Tuple(parts) if self.random.chance(50) => {
                let binds: Vec<Binding> = parts.iter().map(|part| Binding::value(&self.name(&Ty::Tuple(vec![])), part.clone())).collect();
                (format!("({})", binds.iter().map(|bind| &*bind.name).collect::<Vec<_>>().join(", ")), binds)
            }
            _ => {
                let name = self.name(ty);
                (name.to_string(), vec![Binding::value(&name, ty.clone())])
            }
        };
        if binds.iter().any(|bind| bind.name == index.name) {
            index.name = "o".into();
        }
        let name = index.name.clone();
        binds.push(index);
        let step = self.looped(binds, ty, depth);
        let start = self.plain(ty, depth.min(2));
        Some(form(ty, spelling::steps(ty, &pattern, &name, &mut self.spelling), vec![step, start, Child { binds: vec![], expr: count }]))
    }

    fn double(&mut self, depth: usize) -> Option<Expr> {
        let d = &Ty::Double;
        let wild = self.wild;
        match self.random.below(38) {
            0..=2 => self.many(d, "{0} + {1} | {0} - {1} | {0} + {1}", &[d, d], depth),
            3..=5 => self.many(d, "{0} * {1}", &[d, d], depth),
            6 => self.many(d, if wild { "{0} / {1}" } else { "{0} / (1.5 + abs {1})" }, &[d, d], depth),
            7 => self.many(d, "min {0} {1} | max {0} {1}", &[d, d], depth),
            8 => self.many(d, "abs {0} | -{0} | sign {0} | floor {0} | round {0} | trunc {0} | ceil {0} | clamp {0} -1.0 1.5", &[d], depth),
            9 | 10 => self.many(d, "sin {0} | cos {0} | tanh {0} | atan {0} | erf {0} | sigmoid {0} | softplus {0} | asinh {0} | erfc {0}", &[d], depth),
            11 => self.many(d, if wild { "exp {0} | log {0} | sqrt {0} | tan {0} | asin {0} | acos {0} | sinh {0} | cosh {0} | lgamma {0} | log1p {0} | expm1 {0} | acosh {0} | atanh {0} | cbrt {0} | exp2 {0} | log2 {0} | log10 {0}" } else { "exp (min {0} 2.0) | log (1.0 + {0} * {0}) | sqrt (1.0 + {0} * {0}) | asin (0.9 * sin {0}) | acos (0.9 * sin {0}) | sinh (sin {0}) | cosh (cos {0}) | lgamma (1.0 + abs {0}) | tan (sin {0}) | log1p ({0} * {0}) | expm1 (min {0} 2.0) | acosh (2.0 + {0} * {0}) | atanh (0.9 * sin {0}) | cbrt (1.5 + sin {0}) | exp2 (min {0} 2.0) | log2 (1.0 + {0} * {0}) | log10 (1.0 + {0} * {0})" }, &[d], depth),
            12 => self.many(d, if wild { "{0} ** {1}" } else { "(1.5 + sin {0}) ** {1}" }, &[d, d], depth.min(2)),
            13 => self.many(d, if wild { "{0} ** 2.0 | {0} ** 3.0 | {0} ** 0.5 | {0} ** -1.0 | {0} ** 0.0" } else { "{0} ** 2.0 | {0} ** 3.0 | (sin {0}) ** 2.0" }, &[d], depth),
            14 => self.many(d, if wild { "atan2 {0} {1} | hypot {0} {1}" } else { "atan2 {0} (1.5 + abs {1}) | hypot {0} {1}" }, &[d, d], depth),
            15 => self.many(d, "double {0}", &[&Ty::Index], depth),
            16 | 17 => self.element(d, depth),
            18..=21 => self.reduction(depth),
            22 => self.fold(d, depth),
            23 => {
                let other = self.ty(0);
                self.many(d, "fst {0}", &[&Ty::Tuple(vec![Ty::Double, other])], depth)
            }
            24 => {
                let other = self.ty(0);
                self.many(d, "snd {0}", &[&Ty::Tuple(vec![other, Ty::Double])], depth)
            }
            25..=27 => self.dual_form(d, "derivative (fun {} -> {0}) {1}", d, d, depth),
            28 => self.dual_form(d, "snd (diff (fun {} -> {0}) {1})", d, d, depth),
            29 | 30 => {
                let point = self.point()?;
                let body = if self.random.chance(50) { Ty::Double } else { Ty::vector(self.len()) };
                let inner = match (&point.ty()?, &body) {
                    (Ty::Double, Ty::Double) => self.pick(&["snd ({})", "fst ({})"]),
                    (Ty::Double, _) => "vectorSum (vectorMap ({}) snd)",
                    (ty, Ty::Double) if ty.is_vector() => "vectorSum (vectorMap ({}) snd)",
                    (ty, _) if ty.is_vector() => "vectorSum (vectorMap ({}) (fun e -> vectorSum (vectorMap e snd)))",
                    (_, Ty::Double) => "vectorSum (vectorMap ({}) (fun e -> vectorSum (vectorMap e snd)))",
                    _ => return None,
                };
                self.deriv(d, inner, &point, &body, depth)
            }
            31 => {
                let point = Ty::vector(self.len());
                self.dual_form(d, "vectorSum (gradient (fun {} -> {0}) {1}) | vectorSqNorm (gradient (fun {} -> {0}) {1})", &point, d, depth)
            }
            32 => {
                let point = Ty::vector(self.len());
                self.dual_form(d, "matrixSum (hessian (fun {} -> {0}) {1})", &point, d, depth)
            }
            33 => self.function_derivative(depth),
            34 => self.jvp(d, depth),
            _ => self.call(d, depth),
        }
    }

    /// A number from an array.
    fn reduction(&mut self, depth: usize) -> Option<Expr> {
        let d = &Ty::Double;
        let (n, m) = (self.len(), self.len());
        let vector = &Ty::vector(n.clone());
        match self.random.below(10) {
            0..=2 => self.many(d, "vectorSum {0}", &[vector], depth),
            3 => self.many(d, "vectorDot {0} {1}", &[vector, vector], depth),
            4 => self.many(d, if self.wild { "vectorNorm {0}" } else { "vectorSqNorm {0}" }, &[vector], depth),
            5 => {
                let some = Ty::vector(Len { off: n.off.max(1), ..n });
                self.many(d, "vectorMax {0} | vectorMin {0} | logSumExp {0}", &[&some], depth)
            }
            6 => self.many(d, "matrixTrace {0}", &[&Ty::matrix(n.clone(), n)], depth),
            7 => self.many(d, "matrixSum {0} | matrixSqNorm {0}", &[&Ty::matrix(n, m)], depth),
            8 => self.many(d, "double (vectorSum {0})", &[&Ty::array(Ty::Index, n)], depth),
            _ => self.many(d, "double (length {0})", &[vector], depth),
        }
    }

    fn index(&mut self, depth: usize) -> Option<Expr> {
        let i = &Ty::Index;
        match self.random.below(14) {
            0..=2 => self.many(i, "{0} + {1} | {0} - {1} | {0} * {1}", &[i, i], depth),
            3 => self.many(i, "{0} / 3 | {0} % 3 | {0} / -2 | {0} % -2", &[i], depth),
            4 => self.many(i, if self.wild { "{0} / {1} | {0} % {1}" } else { "{0} / (1 + abs ({1} % 5))" }, &[i, i], depth),
            5 => self.many(i, "min {0} {1} | max {0} {1}", &[i, i], depth),
            6 => self.many(i, "abs {0} | -{0}", &[i], depth),
            7 => self.many(
                i,
                if self.wild { "index {0} | index (max -9.0 (min 9.0 {0}))" } else { "index (max -9.0 (min 9.0 {0}))" },
                &[&Ty::Double],
                depth,
            ),
            8 => self.element(i, depth),
            9 => {
                let len = self.len();
                self.many(i, "vectorSum {0}", &[&Ty::array(Ty::Index, len)], depth)
            }
            10 => self.fold(i, depth),
            11 => {
                let array = Ty::vector(self.len());
                self.many(i, "length {0}", &[&array], depth)
            }
            _ => self.call(i, depth),
        }
    }

    fn boolean(&mut self, depth: usize) -> Option<Expr> {
        let b = &Ty::Bool;
        match self.random.below(9) {
            0..=2 => {
                self.many(b, "{0} < {1} | {0} <= {1} | {0} > {1} | {0} >= {1} | {0} <> {1}", &[&Ty::Double, &Ty::Double], depth.min(2))
            }
            3 | 4 => self.many(
                b,
                "{0} = {1} | {0} < {1} | {0} <= {1} | {0} > {1} | {0} != {1} | {0} == {1}",
                &[&Ty::Index, &Ty::Index],
                depth.min(2),
            ),
            5 => self.many(b, "{0} && {1} | {0} || {1}", &[b, b], depth),
            6 => self.many(b, "not {0}", &[b], depth),
            7 => self.many(b, "{0} = {1} | {0} <> {1}", &[b, b], depth.min(2)),
            _ => self.call(b, depth),
        }
    }

    fn array(&mut self, ty: &Ty, element: &Ty, len: &Len, depth: usize) -> Option<Expr> {
        if self.random.chance(15) {
            return self.changed(ty, element, len, depth);
        }
        if self.random.chance(40) {
            return self.library_array(ty, element, len, depth);
        }
        match self.random.below(8) {
            0..=3 => {
                let count = self.len_expr(len)?;
                let index = Binding { name: self.name(&Ty::Index).to_string().into(), kind: Kind::Below(len.clone()) };
                let item = self.looped(vec![index.clone()], element, depth);
                Some(build(ty, count, index, item.expr))
            }
            4 if len.name.is_none() && len.off > 0 => {
                let items: Vec<Expr> = (0..len.off).map(|_| self.expr(element, depth.min(2))).collect();
                let slots: Vec<String> = (0..items.len()).map(|k| format!("{{{k}}}")).collect();
                Some(Expr::of(ty.clone(), &format!("[{}]", slots.join(", ")), items))
            }
            5 => self.fold(ty, depth),
            6 => self.element(ty, depth),
            _ => self.dual_pair(ty, depth),
        }
    }

    fn library_array(&mut self, ty: &Ty, element: &Ty, len: &Len, depth: usize) -> Option<Expr> {
        let d = &Ty::Double;
        if ty.is_vector() {
            return match self.random.below(12) {
                0 | 1 => self.many(
                    ty,
                    "vectorAdd {0} {1} | vectorSub {0} {1} | vectorEMul {0} {1} | vectorMap2 {0} {1} min | vectorMap2 {0} {1} (+)",
                    &[ty, ty],
                    depth,
                ),
                2 => self.many(ty, "vectorSMul {0} {1}", &[ty, d], depth),
                3 => self.many(ty, "vectorMap {0} sin | vectorMap {0} abs | vectorMap {0} floor", &[ty], depth),
                4 => self.mapped(ty, depth),
                5 => {
                    let count = self.len_expr(len)?;
                    Some(Expr::of(ty.clone(), self.pick(&["vectorZeros {0}", "vectorOnes {0}"]), vec![count]))
                }
                6 => {
                    let (count, item) = (self.len_expr(len)?, self.expr(&Ty::Index, depth.min(2)));
                    Some(Expr::of(ty.clone(), "vectorHot {0} {1}", vec![count, item]))
                }
                7 => {
                    let m = self.len();
                    self.many(ty, "matrixVectorMul {0} {1}", &[&Ty::matrix(len.clone(), m.clone()), &Ty::vector(m)], depth)
                }
                8 | 9 => self.dual_form(ty, "gradient (fun {} -> {0}) {1}", ty, d, depth),
                10 => self.mismatch(ty, len, depth),
                _ => self.many(ty, "vectorSlice {0} 1 {1}", &[&Ty::vector(Len { off: len.off + 1, ..len.clone() })], depth).and_then(
                    |mut expr| {
                        let last = self.len_expr(len)?;
                        expr.children.push(Child { binds: vec![], expr: last });
                        Some(expr)
                    },
                ),
            };
        }
        if let (true, Ty::Array(_, cols)) = (ty.is_matrix(), element) {
            let k = self.len();
            let transposed = Ty::matrix(cols.clone(), len.clone());
            return match self.random.below(10) {
                0 => self.many(ty, "matrixAdd {0} {1} | matrixSub {0} {1} | matrixEMul {0} {1}", &[ty, ty], depth),
                1 => self.many(ty, "matrixSMul {0} {1}", &[ty, d], depth),
                2 => self.many(ty, "matrixTranspose {0}", &[&transposed], depth),
                3 => self.many(ty, "matrixMul {0} {1}", &[&Ty::matrix(len.clone(), k.clone()), &Ty::matrix(k, cols.clone())], depth),
                4 => self.many(ty, "vectorOutProd {0} {1}", &[&Ty::vector(len.clone()), element], depth),
                5 => {
                    let (rows, cols) = (self.len_expr(len)?, self.len_expr(cols)?);
                    Some(Expr::of(ty.clone(), "matrixZeros {0} {1}", vec![rows, cols]))
                }
                6 if len == cols => {
                    let point = Ty::vector(len.clone());
                    self.dual_form(ty, "hessian (fun {} -> {0}) {1}", &point, d, depth)
                }
                7 => self.dual_form(ty, "gradient (fun {} -> {0}) {1}", ty, d, depth),
                _ => self.dual_form(ty, "jacobian (fun {} -> {0}) {1}", element, &Ty::vector(len.clone()), depth),
            };
        }
        match element {
            Ty::Index => {
                let count = self.len_expr(len)?;
                Some(Expr::of(ty.clone(), "vectorRange {0}", vec![count]))
            }
            Ty::Tuple(parts) if parts.len() == 2 => {
                let (a, b) = (Ty::array(parts[0].clone(), len.clone()), Ty::array(parts[1].clone(), len.clone()));
                self.many(ty, "vectorZip {0} {1}", &[&a, &b], depth)
            }
            _ => None,
        }
    }

    /// `vectorMap v (fun a -> …)` or with a function by name.
    fn mapped(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let functions: Vec<Binding> =
            self.visible().into_iter().filter(|binding| binding.kind == Kind::Function(vec![Ty::Double], Ty::Double)).collect();
        let array = self.plain(ty, depth);
        if !functions.is_empty() && self.random.chance(60) {
            let function = self.random.pick(&functions).name.clone();
            let mut map = form(ty, format!("vectorMap {{0}} {function}"), vec![array]);
            map.uses = Some(function);
            return Some(map);
        }
        let name = self.name(&Ty::Double);
        let body = self.looped(vec![Binding::value(&name, Ty::Double)], &Ty::Double, depth);
        Some(form(ty, format!("vectorMap {{0}} (fun {name} -> {{1}})"), vec![array, body]))
    }

    /// Lengths that nobody can show equal or different: an error at run time, unless they are equal.
    fn mismatch(&mut self, ty: &Ty, len: &Len, depth: usize) -> Option<Expr> {
        let other = self.len();
        let differ =
            other.name.is_none() && len.name.is_none() || other.name == len.name || other.off != 0 || len.off != 0 && len.name.is_some();
        if differ || !self.random.chance(30) {
            return None;
        }
        self.contradicts = true;
        self.many(ty, "vectorAdd {0} {1}", &[ty, &Ty::vector(other)], depth)
    }

    /// A variable to differentiate by.
    fn point(&mut self) -> Option<Binding> {
        let points = self.variables(|ty| *ty == Ty::Double || ty.is_vector() || ty.is_matrix());
        let points: Vec<Binding> = points.into_iter().filter(|binding| matches!(binding.kind, Kind::Value(_))).collect();
        if points.is_empty() || self.duals >= 2 { None } else { Some(self.random.pick(&points).clone()) }
    }

    /// `deriv e x` inside a wrapper.
    fn deriv(&mut self, ty: &Ty, wrapper: &str, point: &Binding, body: &Ty, depth: usize) -> Option<Expr> {
        self.duals += 1;
        let body = self.under(vec![point.clone()], body, depth.min(3));
        self.duals -= 1;
        let template = wrapper.replacen("{}", &format!("deriv {{0}} {}", point.name), 1);
        let mut expr = form(ty, template, vec![body]);
        expr.uses = Some(point.name.clone());
        Some(expr)
    }

    /// A form that takes a function of `point` with this result, and the point.
    fn dual_form(&mut self, ty: &Ty, template: &str, point: &Ty, result: &Ty, depth: usize) -> Option<Expr> {
        if self.duals >= 2 {
            return None;
        }
        let template = self.one_of(template);
        let (pattern, binds) = self.pattern(point);
        self.duals += 1;
        let body = self.looped(binds, result, depth.min(4));
        self.duals -= 1;
        let at = self.plain(point, depth.min(2));
        Some(form(ty, template.replacen("{}", &pattern, 1), vec![body, at]))
    }

    /// The derivative of a function by its name.
    fn function_derivative(&mut self, depth: usize) -> Option<Expr> {
        let functions: Vec<Binding> = self
            .visible()
            .into_iter()
            .filter(|binding| matches!(&binding.kind, Kind::Function(params, Ty::Double) if matches!(params.as_slice(), [Ty::Double])))
            .collect();
        if functions.is_empty() || self.duals >= 2 {
            return None;
        }
        let name = self.random.pick(&functions).name.clone();
        let mut expr = self.many(&Ty::Double, &format!("derivative {name} {{0}}"), &[&Ty::Double], depth)?;
        expr.uses = Some(name);
        Some(expr)
    }

    fn jvp(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        ty.dual()?;
        let point = match self.random.below(4) {
            0 => Ty::Double,
            1 => Ty::vector(self.len()),
            2 => Ty::matrix(self.len(), self.len()),
            _ => self.of_doubles(),
        };
        let mut expr = self.dual_form(ty, "jvp (fun {} -> {0}) {1} {2}", &point, ty, depth)?;
        let tangent = self.plain(&point, depth.min(2));
        expr.children.push(tangent);
        Some(expr)
    }

    /// The forms whose results are duals: value and derivative together.
    fn dual_pair(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let inner = undual(ty);
        let d = &Ty::Double;
        match (ty, inner) {
            (_, Some(Ty::Double)) => self.dual_form(ty, "diff (fun {} -> {0}) {1}", d, d, depth),
            (Ty::Array(_, len), Some(inner)) if inner.is_vector() => {
                if self.random.chance(50) {
                    self.dual_form(ty, "vdiff (fun {} -> {0}) {1}", d, &inner, depth)
                } else {
                    self.dual_form(ty, "grad (fun {} -> {0}) {1}", &Ty::vector(len.clone()), d, depth)
                }
            }
            (Ty::Array(_, len), Some(Ty::Array(row, cols))) if *row != Ty::Double => match self.random.below(3) {
                0 => self.dual_form(ty, "mdiff (fun {} -> {0}) {1}", d, &Ty::Array(row, cols), depth),
                1 => self.dual_form(ty, "mgrad (fun {} -> {0}) {1}", &Ty::Array(row, cols), d, depth),
                _ => self.dual_form(ty, "jacob (fun {} -> {0}) {1}", &Ty::vector(len.clone()), &row, depth),
            },
            (_, Some(inner)) => {
                let points = self.variables(|ty| *ty == Ty::Double);
                let points: Vec<Binding> = points.into_iter().filter(|point| matches!(point.kind, Kind::Value(_))).collect();
                if points.is_empty() || self.duals >= 2 {
                    return None;
                }
                let point = self.random.pick(&points).clone();
                self.deriv(ty, "{}", &point, &inner, depth)
            }
            (_, None) => None,
        }
    }

    fn pick(&mut self, items: &[&'static str]) -> &'static str {
        self.random.word(items)
    }
}

/// What this is the dual of.
fn undual(ty: &Ty) -> Option<Ty> {
    match ty {
        Ty::Double | Ty::Index | Ty::Bool => None,
        Ty::Array(element, len) => Some(Ty::array(undual(element)?, len.clone())),
        Ty::Tuple(parts) if parts.as_slice() == [Ty::Double, Ty::Double] => Some(Ty::Double),
        Ty::Tuple(parts) => Some(Ty::Tuple(parts.iter().map(undual).collect::<Option<_>>()?)),
    }
}

fn form(ty: &Ty, template: String, children: Vec<Child>) -> Expr {
    Expr { ty: ty.clone(), template: template.into(), uses: None, children }
}
