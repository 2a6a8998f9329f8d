//! What emission knows at a place: names, types as Futhark infers them, sizes, and facts for the prover.
//!
//! In: core variables and sizes. Out: Futhark names and types. A tuple variable is a name for each component, since
//! all that is done with a tuple is taking it apart. A let-bound Index that is a polynomial is written out in sizes,
//! so that no size ends with the scope of a let; of what takes many operations, sizes have the name.
//!
//!     let k = n + 1 in build k (fun i -> …)   →   tabulate (n + 1) (\i -> …)

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::layout;
use super::signature::Signature;
use super::syntax::{Binding, Fut, Pattern};
use super::types::Shape;
use crate::emit::names::Names;
use crate::ir::prove::Facts;
use crate::ir::size_term::is_state;
use crate::ir::{Atom, Expr, Name, Prim, Size, Term, Type, Var};
use crate::source::Span;

/// Where a variable's value is.
#[derive(Clone, Debug)]
pub enum Place {
    One(Fut, Shape),
    Parts(Vec<Place>),
}

impl Place {
    /// The place of a component.
    pub fn part_mut(&mut self, path: &[usize]) -> Option<&mut Place> {
        path.iter().try_fold(self, |place, at| match place {
            Place::Parts(parts) => parts.get_mut(*at),
            Place::One(..) => None,
        })
    }

    pub fn exp(&self) -> Fut {
        match self {
            Place::One(exp, _) => exp.clone(),
            Place::Parts(parts) => Fut::Tuple(parts.iter().map(Place::exp).collect()),
        }
    }

    pub fn shape(&self) -> Shape {
        match self {
            Place::One(_, shape) => shape.clone(),
            Place::Parts(parts) => Shape::Tuple(parts.iter().map(Place::shape).collect()),
        }
    }
}

/// What all parameters of a function that others call come from: two may be one value, or a literal.
pub const ANY_ARGUMENT: u32 = u32::MAX;

/// Emits one function.
pub struct Emitter<'a> {
    pub signatures: &'a HashMap<Rc<str>, Signature>,
    pub names: &'a mut Names,
    pub facts: Facts,
    /// Whether sums and products of Doubles keep their order.
    pub strict_fp: bool,
    /// The place of an array whose elements have lengths that only data decides: Futhark has no type for it.
    pub irregular: Option<Span>,
    /// The names of arrays.
    pub arrays: BTreeSet<String>,
    /// How many branches, loops and lambdas this place is in.
    pub depth: usize,
    places: HashMap<Var, Place>,
    /// What let-bound Index variables are, where that is a polynomial.
    defined: HashMap<Var, Size>,
    /// Lengths that depend on data, once something has named them.
    named: HashMap<u32, Size>,
    /// Lengths that types call by a name ([`has_name`]), and the variables in scope that hold them.
    computed: Vec<(Size, Var)>,
    /// The parameters that a variable's value comes from.
    origins: HashMap<Var, BTreeSet<u32>>,
}

impl<'a> Emitter<'a> {
    pub fn new(signatures: &'a HashMap<Rc<str>, Signature>, names: &'a mut Names, facts: Facts, strict_fp: bool) -> Emitter<'a> {
        Emitter {
            signatures,
            names,
            facts,
            strict_fp,
            irregular: None,
            arrays: BTreeSet::new(),
            depth: 0,
            places: HashMap::new(),
            defined: HashMap::new(),
            named: HashMap::new(),
            computed: Vec::new(),
            origins: HashMap::new(),
        }
    }

    /// Whether a reduction may combine scalars of this type in any order; rounding depends on it for sums and products.
    pub fn may_reorder(&self, prim: Prim, ty: &Type) -> bool {
        !self.strict_fp || matches!(prim, Prim::Min | Prim::Max) || *ty != Type::Double
    }

    /// Does the work with names and facts of its own.
    pub fn scope<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.names.open();
        self.depth += 1;
        let (facts, computed) = (self.facts.clone(), self.computed.len());
        let done = work(self);
        self.facts = facts;
        self.computed.truncate(computed);
        self.depth -= 1;
        self.names.close();
        done
    }

    pub fn place(&self, var: &Var) -> Option<&Place> {
        self.places.get(var)
    }

    pub fn put(&mut self, var: &Var, place: Place) {
        self.places.insert(var.clone(), place);
    }

    /// A name for a value of this shape.
    pub fn local_of(&mut self, name: &str, shape: &Shape) -> String {
        let name = self.local(name);
        if matches!(shape, Shape::Array(..)) {
            self.arrays.insert(name.clone());
        }
        name
    }

    /// A name for a variable, or one for each component of a tuple.
    pub fn declare(&mut self, var: &Var, shape: &Shape) -> Pattern {
        let (pattern, place) = self.declare_as(var.full_name(), shape);
        self.put(var, place);
        pattern
    }

    fn declare_as(&mut self, name: &Name, shape: &Shape) -> (Pattern, Place) {
        match shape {
            Shape::Tuple(shapes) => {
                let parts = shapes.iter().enumerate().map(|(at, shape)| self.declare_as(&name.part(at), shape));
                let (patterns, places) = parts.unzip();
                (Pattern::Tuple(patterns), Place::Parts(places))
            }
            Shape::Double | Shape::Index | Shape::Bool | Shape::Array(..) => {
                let name = self.local_of(name, shape);
                (Pattern::Name(name.clone()), Place::One(Fut::Atom(name), shape.clone()))
            }
        }
    }

    /// A local name; one that begins with `_` could not be read.
    pub fn local(&mut self, name: &str) -> String {
        self.names.local(&super::readable(name, "unused"))
    }

    /// Notes what a let-bound variable is and comes from.
    pub fn define(&mut self, var: &Var, value: &Expr) {
        self.facts.define(var, value);
        if matches!(var.ty(), Type::Index(_) | Type::Bool)
            && let Some(size) = Size::try_of_expr(value)
        {
            let size = self.expand(&size);
            if has_name(&size) {
                self.name_size(&size, var);
            } else {
                self.defined.insert(var.clone(), size);
            }
        }
        if let (Some(Place::Parts(parts)), true) = (self.place(var).cloned(), is_state(var, value)) {
            for (k, part) in parts.into_iter().enumerate() {
                if let Some(size) = Size::try_of_expr(&Expr::proj(value.clone(), k)) {
                    let named = var.renewed(Type::INDEX);
                    self.put(&named, part);
                    self.name_size(&self.expand(&size), &named);
                }
            }
        }
        let origins = self.origins(value);
        self.origins.insert(var.clone(), origins);
    }

    pub fn comes_from(&mut self, var: &Var, origins: BTreeSet<u32>) {
        self.origins.insert(var.clone(), origins);
    }

    /// The parameters that a term's value comes from.
    pub fn origins(&self, expr: &Expr) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        self.collect_origins(expr, false, &mut found);
        found
    }

    /// Whether the compiler may come to know that a Double is 0: it is made of literals, or, where `called`, of what a
    /// function is called with.
    pub fn may_be_known_zero(&self, expr: &Expr, called: bool) -> bool {
        let known = |origin: &u32| called && *origin == ANY_ARGUMENT;
        let mut found = BTreeSet::new();
        self.collect_origins(expr, true, &mut found);
        !matches!(expr.term(), Term::Double(value) if *value != 0.0) && found.iter().all(known)
    }

    /// `of_elements`: where an element stands and how many there are is not what it comes from.
    fn collect_origins(&self, expr: &Expr, of_elements: bool, found: &mut BTreeSet<u32>) {
        match expr.term() {
            Term::Var(var) => match self.origins.get(var) {
                Some(origins) => found.extend(origins),
                None => {
                    found.insert(var.id());
                }
            },
            Term::Dim(..) if of_elements => {}
            Term::Build { body: inner, .. } | Term::Get(inner, _) if of_elements => self.collect_origins(inner, of_elements, found),
            term => term.each_child(&mut |child| self.collect_origins(child, of_elements, found)),
        }
    }

    /// The size over what the function is given, its loops count and data decide.
    fn expand(&self, size: &Size) -> Size {
        size.substitute(&mut |atom| match atom {
            Atom::Var(var) => self.defined.get(var).cloned(),
            Atom::Unknown(id) => self.named.get(id).cloned(),
            Atom::Term(_) => {
                let size = Size::atom(atom.clone());
                self.computed.iter().rev().find(|(known, _)| *known == size).map(|(_, var)| Size::var(var))
            }
        })
    }

    /// How many lengths have a name in types.
    pub fn computed_lengths(&self) -> usize {
        self.computed.len()
    }

    /// Keeps the first of these names.
    pub fn forget_lengths(&mut self, count: usize) {
        self.computed.truncate(count);
    }

    /// The variable that holds what a loop over Indexes computes, where one in scope does.
    pub fn computed_length(&self, fold: &Expr) -> Option<Fut> {
        let size = Size::try_of_expr(fold).filter(Size::has_fold)?;
        self.place(self.expand(&size).as_var()?).map(Place::exp)
    }

    /// The term that computes a size, in the one form that all equal sizes have; `None` where it depends on data
    /// that has no name here.
    pub fn size_term(&self, size: &Size) -> Option<Expr> {
        let expanded = self.expand(size);
        let mut in_scope = true;
        expanded.each_var(&mut |var| in_scope &= self.places.contains_key(var));
        if in_scope && !expanded.has_fold() { expanded.to_expr() } else { None }
    }

    /// A length as Futhark compares it.
    pub fn length(&mut self, size: &Size) -> Option<String> {
        let term = self.size_term(size)?;
        let exp = self.exp(&term).0;
        layout::flat(&exp)
    }

    /// The type with its lengths as Futhark compares them.
    pub fn shape(&mut self, ty: &Type) -> Shape {
        match ty {
            Type::Double => Shape::Double,
            Type::Index(_) => Shape::Index,
            Type::Bool => Shape::Bool,
            Type::Array(element, size) => {
                let element = self.shape(element);
                let length = self.length(size);
                Shape::array(element, length)
            }
            Type::Tuple(parts) => Shape::Tuple(parts.iter().map(|part| self.shape(part)).collect()),
            // no program that comes here has one: `driver` refuses it
            Type::Rec(_) => Shape::Tuple(Vec::new()),
        }
    }

    /// The expression with a type that fits the wanted one: coerced where Futhark sees other lengths.
    pub fn settle(&mut self, exp: Fut, found: Shape, wanted: &Shape) -> (Fut, Shape) {
        if found.fits(wanted) {
            return (exp, found);
        }
        match (exp, &found, wanted) {
            (Fut::Let(bindings, body), _, _) => {
                let (body, shape) = self.settle(*body, found, wanted);
                (Fut::let_in(bindings, body), shape)
            }
            (Fut::Tuple(parts), Shape::Tuple(shapes), Shape::Tuple(all)) => {
                let parts = parts.into_iter().zip(shapes).zip(all);
                let settled = parts.map(|((part, shape), wanted)| self.settle(part, shape.clone(), wanted));
                let (parts, shapes) = settled.unzip();
                (Fut::Tuple(parts), Shape::Tuple(shapes))
            }
            (exp, _, _) => {
                let shape = wanted.or(&found);
                (Fut::Typed(Box::new(exp), ":>", shape.text()), shape)
            }
        }
    }

    /// Binds a value of this core type to names: lengths that Futhark does not see are coerced where the program
    /// knows them, and get names where only the value does.
    pub fn bind(&mut self, var: &Var, value: Fut, found: Shape, bindings: &mut Vec<Binding>) {
        let value = value.without_lets(bindings);
        if let (Fut::Atom(_), true) = (&value, found.is_known()) {
            self.put(var, Place::One(value, found));
            return;
        }
        if let (Fut::Tuple(parts), Type::Tuple(types), Shape::Tuple(shapes)) = (&value, var.ty(), &found) {
            let mut places = Vec::new();
            for (at, ((part, ty), shape)) in parts.iter().zip(types.iter()).zip(shapes).enumerate() {
                let var = Var::named(var.full_name().part(at), ty.clone());
                self.bind(&var, part.clone(), shape.clone(), bindings);
                places.extend(self.places.get(&var).cloned());
            }
            self.put(var, Place::Parts(places));
            return;
        }
        let known = self.shape(var.ty());
        let (value, mut shape) = if found.is_known() { (value, found) } else { self.settle(value, found, &known) };
        let mut sizes = Vec::new();
        if !matches!(shape, Shape::Tuple(_)) {
            self.name_lengths(var.name(), var.ty(), &mut shape, &mut sizes);
        }
        let pattern = match self.declare(var, &shape) {
            Pattern::Name(name) if !sizes.is_empty() => Pattern::Sized { sizes, name, ty: shape.text() },
            pattern @ (Pattern::Name(_) | Pattern::Tuple(_) | Pattern::Sized { .. } | Pattern::Wild) => pattern,
        };
        bindings.push(Binding { pattern, value });
    }

    /// Names for the lengths that are not known.
    fn name_lengths(&mut self, name: &str, ty: &Type, shape: &mut Shape, sizes: &mut Vec<String>) {
        let (Type::Array(element, size), Shape::Array(inner, length)) = (ty, shape) else { return };
        if length.is_none() {
            let var = Var::fresh(&format!("{name}_n"), Type::INDEX);
            let text = self.local(var.name());
            self.put(&var, Place::One(Fut::atom(&text), Shape::Index));
            if let Some(Atom::Unknown(id)) = size.as_atom() {
                self.named.insert(*id, Size::var(&var));
            }
            sizes.push(text.clone());
            *length = Some(text);
        }
        self.name_lengths(name, element, inner, sizes);
    }

    /// That a length that depends on data, or that types call by a name, is the value of this variable.
    pub fn name_size(&mut self, size: &Size, var: &Var) {
        if has_name(size) {
            self.computed.push((size.clone(), var.clone()));
        }
        if let Some(Atom::Unknown(id)) = size.as_atom() {
            self.named.insert(*id, Size::var(var));
        }
    }
}

/// Whether types call a length by the name that a `let` gives it: where a loop computes it, or it takes many operations.
fn has_name(size: &Size) -> bool {
    size.has_fold() || matches!(size.as_atom(), Some(Atom::Term(term)) if operations(&term.expr) > WRITTEN)
}

/// How many operations of a length are written out in types.
const WRITTEN: usize = 2;

fn operations(expr: &Expr) -> usize {
    usize::from(matches!(expr.term(), Term::Prim(..) | Term::If(..))) + expr.term().children().map(operations).sum::<usize>()
}
