//! Arrays with elements changed, and the derivative forms that take any argument made of Doubles.
//!
//! In: a type. Out: an expression of that type, or `None`. Changed arrays are bound to names that stay in scope, so that
//! some are used again and have to be copied; folds change a component of their state, in branches and beside scalars.
//!
//!     let r1 = v in if length r1 > 0 then update r1 0 (r1[0] * x) else r1
//!     gradient (fun (r2, r3) -> …) (M, x)

use super::grow::Grower;
use super::program::{Binding, Child, Expr, Kind, Len, Ty};

impl Grower {
    /// An array with an element changed, once or by a fold.
    pub fn changed(&mut self, ty: &Ty, element: &Ty, len: &Len, depth: usize) -> Option<Expr> {
        if len.name.is_none() && len.off == 0 {
            return None;
        }
        let change = if element.is_of_doubles() && self.random.chance(50) { "accumulate" } else { "update" };
        match self.random.below(10) {
            0..=3 => self.changed_by_fold(ty, element, len, change, depth),
            4 | 5 => self.two_changed_by_fold(ty, element, len, change, depth),
            _ => self.changed_once(ty, element, len, change, depth),
        }
    }

    fn changed_once(&mut self, ty: &Ty, element: &Ty, len: &Len, change: &str, depth: usize) -> Option<Expr> {
        let name = self.name(ty);
        let binds = vec![Binding::value(&name, ty.clone())];
        let array = self.plain(ty, depth.min(3));
        let index = self.at(&binds, &name, len);
        let item = self.under(binds.clone(), element, depth);
        let new = format!("if length {name} > 0 then {change} {name} {{1}} {{2}} else {name}");
        let mut children = vec![array, index, item];
        let template = match self.random.below(3) {
            0 => format!("let {name} = {{0}} in {new}"),
            // both arrays live on
            1 => {
                let other = self.name(ty);
                let both = [binds, vec![Binding::value(&other, ty.clone())]].concat();
                children.push(self.under(both, ty, depth.min(3)));
                format!("let {name} = {{0}} in let {other} = ({new}) in {{3}}")
            }
            _ => {
                children.push(self.under(binds, &Ty::Bool, depth.min(2)));
                format!("let {name} = {{0}} in if {{3}} then ({new}) else {name}")
            }
        };
        Some(Expr { ty: ty.clone(), template: template.into(), uses: None, children })
    }

    fn changed_by_fold(&mut self, ty: &Ty, element: &Ty, len: &Len, change: &str, depth: usize) -> Option<Expr> {
        let steps = if self.random.chance(60) { len.clone() } else { self.len() };
        let count = Child { binds: vec![], expr: self.len_expr(&steps)? };
        let (array, other) = (self.name(ty), self.name(&Ty::Tuple(vec![])));
        let i = self.name(&Ty::Tuple(vec![]));
        let with = if self.random.chance(70) { Ty::Double } else { self.ty(1) };
        let binds = vec![
            Binding::value(&array, ty.clone()),
            Binding::value(&other, with.clone()),
            Binding { name: i.to_string().into(), kind: Kind::Below(steps) },
        ];
        let (first, start) = (self.plain(ty, depth.min(2)), self.plain(&with, depth.min(2)));
        let index = self.at(&binds, &array, len);
        let item = self.looped(binds.clone(), element, depth);
        let next = self.looped(binds.clone(), &with, depth.min(3));
        let choice = self.looped(binds, &Ty::Bool, depth.min(2));
        let new = format!("if length {array} > 0 then {change} {array} {{1}} {{2}} else {array}");
        let template = match self.random.below(4) {
            0 => format!("fst (ifold (fun ({array}, {other}) {i} -> ({new}, {{3}})) ({{0}}, {{4}}) {{5}})"),
            1 => format!("snd (ifold (fun ({other}, {array}) {i} -> ({{3}}, {new})) ({{4}}, {{0}}) {{5}})"),
            2 => format!(
                "fst (ifold (fun ({array}, {other}) {i} -> if {{6}} then ({new}, {{3}}) else ({array}, {other})) ({{0}}, {{4}}) {{5}})"
            ),
            _ => format!("fst (ifold (fun ({array}, {other}) {i} -> let {other}' = {{3}} in ({new}, {other}')) ({{0}}, {{4}}) {{5}})"),
        };
        Some(Expr { ty: ty.clone(), template: template.into(), uses: None, children: vec![first, index, item, next, start, count, choice] })
    }

    /// Two arrays in a tuple in a fold's state, which go by several names and may change places.
    fn two_changed_by_fold(&mut self, ty: &Ty, element: &Ty, len: &Len, change: &str, depth: usize) -> Option<Expr> {
        let steps = if self.random.chance(60) { len.clone() } else { self.len() };
        let count = Child { binds: vec![], expr: self.len_expr(&steps)? };
        let [state, pair, a, b, other, i] = [(); 6].map(|()| self.name(&Ty::Tuple(vec![])));
        let with = if self.random.chance(70) { Ty::Double } else { self.ty(1) };
        let pair_type = Ty::Tuple(vec![ty.clone(), ty.clone()]);
        let by_names = self.random.chance(60);
        let mut binds = vec![
            Binding::value(&a, ty.clone()),
            Binding::value(&b, ty.clone()),
            Binding::value(&other, with.clone()),
            Binding { name: i.to_string().into(), kind: Kind::Below(steps) },
        ];
        if by_names {
            binds.push(Binding::value(&pair, pair_type.clone()));
            binds.push(Binding::value(&state, Ty::Tuple(vec![pair_type, with.clone()])));
        }
        let starts = [self.plain(ty, depth.min(2)), self.plain(ty, depth.min(2)), self.plain(&with, depth.min(2))];
        let [at_a, at_b] = [&a, &b].map(|array| self.at(&binds, array, len));
        let items = [(); 2].map(|()| self.looped(binds.clone(), element, depth.min(3)));
        let next = self.looped(binds.clone(), &with, depth.min(3));
        let change = |array: &str, at: usize| {
            let kept = format!("if length {array} > 0 then {change} {array} {{{at}}} {{{}}} else {array}", at + 2);
            format!("({kept})")
        };
        let (new_a, new_b) = (change(&a, 4), change(&b, 5));
        let step = match self.random.below(4) {
            0 => format!("(({new_a}, {new_b}), {{8}})"),
            1 => format!("(({b}, {new_a}), {{8}})"),
            2 => format!("(ifold (fun ({a}, {b}) {state}' -> ({new_a}, {new_b})) ({a}, {b}) 2, {{8}})"),
            _ => format!("let {b}' = {new_b} in (({new_a}, {b}'), {{8}})"),
        };
        let (pattern, lets) = if by_names {
            (
                state.to_string(),
                format!("let {pair} = fst {state} in let {a} = fst {pair} in let {b} = snd {pair} in let {other} = snd {state} in "),
            )
        } else {
            (format!("(({a}, {b}), {other})"), String::new())
        };
        let which = self.random.word(&["fst", "snd"]);
        let template = format!("{which} (fst (ifold (fun {pattern} {i} -> {lets}{step}) (({{0}}, {{1}}), {{2}}) {{3}}))");
        let [first, second, third] = starts;
        let [item_a, item_b] = items;
        let children = vec![first, second, third, count, at_a, at_b, item_a, item_b, next];
        Some(Expr { ty: ty.clone(), template: template.into(), uses: None, children })
    }

    /// A position in an array that has elements; out of range once in a while.
    fn at(&mut self, binds: &[Binding], array: &str, len: &Len) -> Child {
        let index = |template: &str, children| Expr::of(Ty::Index, template, children);
        let own = binds.iter().find(|bind| bind.kind == Kind::Below(len.clone()));
        let expr = match (own, self.random.below(20)) {
            (Some(own), 0..=11) => Expr::var(own),
            (_, 0) => self.expr(&Ty::Index, 1),
            (_, 1..=5) => Expr::atom(Ty::Index, "0"),
            (_, 6..=9) => index(&format!("length {array} - 1"), vec![]),
            _ => {
                let any = self.expr(&Ty::Index, 2);
                index(&format!("abs ({{0}} % length {array})"), vec![any])
            }
        };
        Child { binds: binds.to_vec(), expr }
    }

    /// A derivative that is computed in one sweep: of the type of its point, or of the pair of value and derivative.
    pub fn swept(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        if self.duals >= 2 || !ty.has_double() {
            return None;
        }
        if let (Ty::Tuple(parts), true) = (ty, self.random.chance(60))
            && let [Ty::Double, point] = parts.as_slice()
            && point.has_double()
        {
            return self.of_function(ty, "valueAndGradient", point, &Ty::Double, depth);
        }
        if self.random.chance(50) {
            return self.of_function(ty, "gradient", ty, &Ty::Double, depth);
        }
        let result = self.of_doubles();
        let mut expr = self.of_function(ty, "vjp", ty, &result, depth)?;
        let cotangent = self.plain(&result, depth.min(2));
        expr.template = format!("{} {{2}}", expr.template).into();
        expr.children.push(cotangent);
        Some(expr)
    }

    fn of_function(&mut self, ty: &Ty, form: &str, point: &Ty, result: &Ty, depth: usize) -> Option<Expr> {
        let (pattern, binds) = self.pattern(point);
        self.duals += 1;
        let body = self.looped(binds, result, depth.min(4));
        self.duals -= 1;
        let at = self.plain(point, depth.min(2));
        let template = format!("{form} (fun {pattern} -> {{0}}) {{1}}");
        Some(Expr { ty: ty.clone(), template: template.into(), uses: None, children: vec![body, at] })
    }

    /// A parameter: a tuple is taken apart more often than not.
    pub fn pattern(&mut self, ty: &Ty) -> (String, Vec<Binding>) {
        match ty {
            Ty::Tuple(parts) if self.random.chance(80) => {
                let all: Vec<(String, Vec<Binding>)> = parts
                    .iter()
                    .map(|part| match part {
                        Ty::Tuple(_) => self.pattern(part),
                        part => {
                            let name = self.name(&Ty::Tuple(vec![]));
                            (name.to_string(), vec![Binding::value(&name, part.clone())])
                        }
                    })
                    .collect();
                let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
                (format!("({})", names.join(", ")), all.iter().flat_map(|(_, binds)| binds.clone()).collect())
            }
            _ => {
                let name = self.name(ty);
                (name.to_string(), vec![Binding::value(&name, ty.clone())])
            }
        }
    }

    /// A type with Doubles in it.
    pub fn of_doubles(&mut self) -> Ty {
        match self.random.below(8) {
            0 | 1 => Ty::Double,
            2 | 3 => Ty::vector(self.len()),
            4 => Ty::matrix(self.len(), self.len()),
            5 => Ty::Tuple(vec![Ty::Double, Ty::vector(self.len())]),
            6 => Ty::array(Ty::Tuple(vec![Ty::Double, if self.random.chance(50) { Ty::Double } else { Ty::Index }]), self.len()),
            _ => Ty::Tuple(vec![Ty::vector(self.len()), Ty::Index, Ty::Tuple(vec![Ty::Double, Ty::Bool])]),
        }
    }
}
