//! Builds: `map` where the index only reads arrays, `replicate` where it is not used, else `tabulate`.
//!
//! In: a build. Out: an expression that gives the same elements and fails where the build does.
//!
//!     build n (fun i -> v[i] * w[i])          →   map2 (*) v w
//!     build n (fun i -> 0.0)                  →   replicate n 0.0
//!     build n (fun i -> build m (fun j -> e)) →   tabulate_2d n m (\i j -> e)

use super::context::{Emitter, Place};
use super::hoist::{Moved, unless_empty};
use super::syntax::{Binding, Fut, Pattern};
use super::term::{is_total, typed_literals};
use super::types::Shape;
use crate::ir::free::occurrences;
use crate::ir::size_term::without_failures;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Size, Term, Type, Var};

/// Futhark has `map` to `map5`.
const MAPPED: usize = 5;

impl Emitter<'_> {
    pub fn build(&mut self, expr: &Expr, n: &Expr, i: &Var, body: &Expr) -> (Fut, Shape) {
        let mut bindings = Vec::new();
        let (mut count, mut length) = self.build_count(expr, n, &mut bindings);
        // Futhark checks a count too late: it may have allocated by then
        if !self.is_count(n) {
            count = Fut::apply("count", vec![count]);
            length = super::layout::flat(&count);
        }
        let known = self.computed_lengths();
        self.element_lengths(body.ty(), &count, &mut bindings);
        let may_fail = self.fails_without_steps(n, &[i], body, Moved::Anything);
        let (mut exp, element) = self.elements(expr, n, i, body, count.clone(), &length, &mut bindings);
        self.forget_lengths(known);
        if !element.is_known() {
            self.irregular = Some(expr.span());
        } else if may_fail && !matches!(exp, Fut::If(..)) {
            exp = unless_empty(count.clone(), exp, Fut::apply("replicate", vec![count, zero(&element)]));
        }
        (Fut::let_in(bindings, exp), Shape::array(element, length))
    }

    /// The count, in the form that the array's length has; a length that data decides gets a name.
    fn build_count(&mut self, expr: &Expr, n: &Expr, bindings: &mut Vec<Binding>) -> (Fut, Option<String>) {
        if let Some(term) = Size::try_of_expr(n).and_then(|size| self.size_term(&size)) {
            let (count, _) = self.exp(&term);
            let length = super::layout::flat(&count);
            return (count, length);
        }
        let var = Var::fresh("n", Type::INDEX);
        let (count, shape) = self.operand(n, bindings);
        self.bind(&var, typed_literals(count), shape, bindings);
        if let Some(size) = expr.ty().dims().first() {
            self.name_size(size, &var);
        }
        let count = self.place(&var).map_or(Fut::Int(0), Place::exp);
        let length = super::layout::flat(&count);
        (count, length)
    }

    /// Computes the lengths of elements that loops over Indexes give: they are the array's, which fails of them only where it has elements.
    fn element_lengths(&mut self, element: &Type, count: &Fut, bindings: &mut Vec<Binding>) {
        for size in element.lengths().into_iter().filter(Size::has_fold) {
            let mut in_scope = true;
            size.each_var(&mut |var| in_scope &= self.place(var).is_some());
            let Some(term) = size.to_expr().filter(|_| in_scope && self.size_term(&size).is_none()) else { continue };
            let mut computed = |term: &Expr| typed_literals(self.scope(|this| this.exp(term)).0);
            let (value, otherwise) = (computed(&term), computed(&without_failures(&term)));
            let var = Var::fresh("n", Type::INDEX);
            self.bind(&var, unless_empty(count.clone(), value, otherwise), Shape::Index, bindings);
            self.name_size(&size, &var);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn elements(
        &mut self,
        expr: &Expr,
        n: &Expr,
        i: &Var,
        body: &Expr,
        count: Fut,
        length: &Option<String>,
        bindings: &mut Vec<Binding>,
    ) -> (Fut, Shape) {
        let wanted = self.shape(expr.ty()).element();
        if let Some(arrays) = self.mapped_arrays(i, body, length) {
            if let ([array], true) = (arrays.as_slice(), is_read_at(i, body)) {
                let place = self.place(array).map(|place| (place.exp(), place.shape().element()));
                return place.unwrap_or((Fut::atom(array.name().to_string()), wanted));
            }
            return self.map(n, i, body, &arrays, &wanted);
        }
        let reads = occurrences(body, i);
        if reads == 0 && is_total(body) {
            let (value, shape) = self.operand(body, bindings);
            let (value, shape) = self.settle(value, shape, &wanted);
            return (Fut::apply("replicate", vec![count, typed_literals(value)]), shape);
        }
        // what is the same for all elements is evaluated once
        if reads == 0 && wanted.is_known() {
            let (value, shape) = self.scope(|this| {
                this.facts.enter_loop(i, n);
                this.inside(body, &wanted)
            });
            let filled = |value: Fut| Fut::apply("replicate", vec![count.clone(), typed_literals(value)]);
            return (unless_empty(count.clone(), filled(value), filled(zero(&shape))), shape);
        }
        if let Term::Build { n: columns, i: j, body: inner } = body.term()
            && let Some(columns_exp) = self.inner_count(i, columns)
            && self.mapped_arrays(j, inner, &self.length_text(&columns_exp)).is_none()
            && !(occurrences(inner, j) == 0 && is_total(inner))
            && !self.row_fails_without_steps((i, n), (j, columns), inner)
            && !matches!(inner.term(), Term::Build { .. })
        {
            let wanted_inner = wanted.element();
            let (i_name, j_name, value, shape) = self.scope(|this| {
                let i_name = this.index(i, n);
                let j_name = this.index(j, columns);
                let (value, shape) = this.inside(inner, &wanted_inner);
                (i_name, j_name, typed_literals(value), shape)
            });
            let row = Shape::array(shape, self.length_text(&columns_exp));
            let params = vec![Pattern::Name(i_name), Pattern::Name(j_name)];
            return (Fut::apply("tabulate_2d", vec![count, columns_exp, Fut::lambda(params, value)]), row);
        }
        let (name, value, shape) = self.scope(|this| {
            let name = this.index(i, n);
            let (value, shape) = this.inside(body, &wanted);
            (name, typed_literals(value), shape)
        });
        (Fut::apply("tabulate", vec![count, Fut::lambda(vec![Pattern::Name(name)], value)]), shape)
    }

    /// Declares a loop index below n.
    pub fn index(&mut self, i: &Var, n: &Expr) -> String {
        self.facts.enter_loop(i, n);
        match self.declare(i, &Shape::Index) {
            Pattern::Name(name) => name,
            Pattern::Tuple(_) | Pattern::Sized { .. } | Pattern::Wild => String::new(),
        }
    }

    fn length_text(&self, count: &Fut) -> Option<String> {
        super::layout::flat(count)
    }

    /// The count of an inner build that is the same for all outer indices, and fails only where the outer one is not
    /// empty: a negative one would fail in an empty array too.
    fn inner_count(&mut self, i: &Var, columns: &Expr) -> Option<Fut> {
        let size = Size::try_of_expr(columns)?;
        if size.mentions(i) || !self.is_count(columns) {
            return None;
        }
        let term = self.size_term(&size)?;
        Some(self.exp(&term).0)
    }

    /// Whether a row of no element would fail.
    fn row_fails_without_steps(&mut self, (i, n): (&Var, &Expr), (j, columns): (&Var, &Expr), inner: &Expr) -> bool {
        let before = self.facts.clone();
        self.facts.enter_loop(i, n);
        let fails = self.fails_without_steps(columns, &[j], inner, Moved::Anything);
        self.facts = before;
        fails
    }

    /// The arrays that the build reads at its index, if that is all that the index is for and they have its length.
    fn mapped_arrays(&self, i: &Var, body: &Expr, length: &Option<String>) -> Option<Vec<Var>> {
        let mut arrays: Vec<Var> = Vec::new();
        let mut other = 0;
        read_at(i, body, &mut arrays, &mut other);
        let fits = |array: &Var| match self.place(array) {
            Some(Place::One(Fut::Atom(_), Shape::Array(_, found))) => found.is_some() && found == length,
            Some(Place::One(..) | Place::Parts(_)) | None => false,
        };
        let all = other == 0 && !arrays.is_empty() && arrays.len() <= MAPPED && arrays.iter().all(fits);
        all.then_some(arrays)
    }

    fn map(&mut self, n: &Expr, i: &Var, body: &Expr, arrays: &[Var], wanted: &Shape) -> (Fut, Shape) {
        let exps: Vec<Fut> = arrays.iter().filter_map(|array| self.place(array).map(Place::exp)).collect();
        let (params, value, shape) = self.scope(|this| {
            this.facts.enter_loop(i, n);
            let mut params = Vec::new();
            let mut elements: Vec<(Var, Expr)> = Vec::new();
            for array in arrays {
                let ty = array.ty().element().cloned().unwrap_or(Type::Double);
                let element = Var::fresh(&element_name(array), ty);
                let shape = this.place(array).map_or(Shape::Double, |place| place.shape().element());
                params.push(this.declare(&element, &shape));
                let read = Expr::get(Expr::var(array), Expr::var(i));
                let origins = this.origins(&read);
                this.comes_from(&element, origins);
                elements.push((array.clone(), Expr::var(&element)));
            }
            let body = with_elements(i, body, &elements);
            let (value, shape) = this.inside(&body, wanted);
            (params, typed_literals(value), shape)
        });
        // pairs of what is read are a `zip`
        if params.len() > 1
            && let Fut::Tuple(parts) = &value
            && parts.len() == params.len()
            && params.iter().zip(parts).all(|(param, part)| param.is_exp(part))
        {
            let name = if arrays.len() == 2 { "zip".to_string() } else { format!("zip{}", arrays.len()) };
            return (Fut::apply(name, exps), shape);
        }
        let function = if arrays.len() == 1 { "map".to_string() } else { format!("map{}", arrays.len()) };
        let args = std::iter::once(Fut::lambda(params, value)).chain(exps).collect();
        (Fut::apply(function, args), shape)
    }
}

/// A value of a type, for a branch whose value has no elements.
fn zero(shape: &Shape) -> Fut {
    match shape {
        Shape::Double => Fut::atom("0.0"),
        Shape::Index => Fut::Int(0),
        Shape::Bool => Fut::atom("false"),
        Shape::Array(element, length) => Fut::apply("replicate", vec![Fut::length(length.as_deref().unwrap_or("0")), zero(element)]),
        Shape::Tuple(parts) => Fut::Tuple(parts.iter().map(zero).collect()),
    }
}

/// `row` for elements that are arrays, else the letter that comes to mind.
fn element_name(array: &Var) -> String {
    match array.ty().element() {
        Some(Type::Array(..)) => "row".to_string(),
        Some(Type::Index(_)) => "k".to_string(),
        Some(Type::Double | Type::Bool | Type::Tuple(_) | Type::Rec(_)) | None => "x".to_string(),
    }
}

/// Whether the term is an element of a variable at i.
fn is_read_at(i: &Var, expr: &Expr) -> bool {
    let Term::Get(array, index) = expr.term() else { return false };
    matches!((array.term(), index.term()), (Term::Var(_), Term::Var(at)) if at == i)
}

/// Collects the variables that are read at i, and counts what else i is used for.
fn read_at(i: &Var, expr: &Expr, arrays: &mut Vec<Var>, other: &mut usize) {
    match expr.term() {
        Term::Get(array, index) if matches!(index.term(), Term::Var(at) if at == i) => {
            if let Term::Var(array) = array.term() {
                if !arrays.contains(array) {
                    arrays.push(array.clone());
                }
            } else {
                *other += 1;
            }
        }
        Term::Var(var) if var == i => *other += 1,
        _ => expr.term().each_child(&mut |child| read_at(i, child, arrays, other)),
    }
    let mut in_type = false;
    expr.ty().each_size(&mut |size| in_type |= size.mentions(i));
    *other += usize::from(in_type && !matches!(expr.ty(), Type::Index(_)));
}

fn with_elements(i: &Var, expr: &Expr, elements: &[(Var, Expr)]) -> Expr {
    if let Term::Get(array, index) = expr.term()
        && let (Term::Var(array), Term::Var(at)) = (array.term(), index.term())
        && at == i
        && let Some((_, element)) = elements.iter().find(|(name, _)| name == array)
    {
        return element.clone();
    }
    map_children(expr, &mut |child| with_elements(i, child, elements))
}
