//! Values of recursive types are nodes in arrays: what `types` leaves of lists and trees becomes Indexes and updates.
//!
//! In: the program after `types`. Out: the same functions without recursive types. A value is the number of its node; each part of the
//! unrolled form is a column, an array with an element for each node, and a counter says how many there are. To roll is to write the
//! next node, to unroll is to read one; the data of different cases share columns. What makes nodes takes the counters and columns and
//! gives them back ([`term`]); a scope that neither takes nor gives such values has columns of its own, so that each iteration of a loop
//! begins with none.
//!
//!     type List = | Nil | Cons of Double * List
//!     Cons (x, rest)           →   check list + 1 < room in (list, (list + 1, update list_tag list 1, …, update list_cons_1 list rest))
//!     match l with Nil -> …    →   if list_tag[l] = 0 then …
//!
//! Columns have room for 10,000 nodes, and for as many more as there are calls deeper, which is what more bytes of workspace are for; the
//! node after them fails with `Status::Workspace`. There is one element more, so that a counter is an index of them. No node is given
//! back before its scope ends. Not here: entries that take or give such values, derivatives in them, and data with lengths of their own.

mod block;
mod term;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::CALLS;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Expr, Function, Labels, Program, Recursive, Size, Type, Var, ambient};
use crate::source::Span;

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Recursive types by their numbers.
type Kinds = BTreeSet<usize>;

/// What a term or function does with the nodes of the scope around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Use {
    /// The types of those that it reads or makes.
    touched: Kinds,
    made: Kinds,
}

/// A recursive type.
struct Kind {
    of: Rc<Recursive>,
    /// Which of the store's parts its counter is.
    counter: usize,
    /// For each scalar or array of its unrolled form, in order, which of the store's parts has it, and which component it is in.
    leaves: Vec<(usize, usize)>,
    /// For each case of a sum type, the component that its data are.
    cases: Vec<Option<usize>>,
}

/// Counters and columns of all types, and what the functions use that take or give values of them.
struct Nodes {
    kinds: Vec<Kind>,
    parts: Vec<(String, Part)>,
    uses: HashMap<Rc<str>, Use>,
}

/// The parts that a scope has, by their numbers.
type Store = BTreeMap<usize, Expr>;

enum Part {
    Counter,
    /// Of elements of this type.
    Column(Type),
}

/// The program without recursive types, and the parameters that functions give back changed.
pub fn store_nodes(program: &Program) -> std::result::Result<(Program, HashSet<Var>), Diagnostics> {
    let mut types = Vec::new();
    for function in program.functions.values() {
        function.params.iter().for_each(|param| each_recursive(param.ty(), &mut types));
        in_term(&function.body, &mut types);
    }
    if types.is_empty() {
        return Ok((program.clone(), HashSet::new()));
    }
    stored(program, &types).map_err(|problem| vec![*problem])
}

fn stored(program: &Program, types: &[Rc<Recursive>]) -> Result<(Program, HashSet<Var>)> {
    for function in program.functions.values().filter(|function| function.is_entry) {
        if let Some(of) = in_signature(function) {
            let help = "a function whose name begins with `_` is no entry, and `--entry` chooses others; `smoothc eval` without `--schedule` takes and gives such values";
            return Err(unsupported(
                function.span,
                &format!("the entry `{}` takes or gives the recursive type `{}`", function.name, of.name()),
                help,
            ));
        }
    }
    let mut nodes = Nodes::of(types, program)?;
    let users: Vec<&Function> = program.functions.values().filter(|function| in_signature(function).is_some()).collect();
    nodes.uses = users.iter().map(|function| (function.name.clone(), Use::default())).collect();
    loop {
        let now: HashMap<_, _> = users.iter().map(|function| (function.name.clone(), nodes.used(&function.body))).collect();
        if now == nodes.uses {
            break;
        }
        nodes.uses = now;
    }
    let mut made = program.clone();
    let mut changing = HashSet::new();
    for function in made.functions.values_mut() {
        let own = function.params.len();
        *function = nodes.function(function)?;
        if let Some(used) = nodes.uses.get(&function.name) {
            let made = nodes.parts_of(&used.made);
            let parts = function.params.iter().skip(own).zip(nodes.parts_for(used));
            changing.extend(parts.filter(|(_, part)| made.contains(part)).map(|(param, _)| param.clone()));
        }
    }
    Ok((made, changing))
}

impl Nodes {
    fn of(types: &[Rc<Recursive>], program: &Program) -> Result<Nodes> {
        let mut nodes = Nodes { kinds: Vec::new(), parts: Vec::new(), uses: HashMap::new() };
        for of in types {
            let unrolled = of.defined();
            let mut has_lengths = false;
            unrolled.each_length(&mut |size| has_lengths |= size.as_constant().is_none());
            if has_lengths {
                let place = program.recursive_value().map_or(Span::NONE, |(place, _)| place);
                let what = format!("a value of the recursive type `{}`, which has arrays with lengths of their own, is here", of.name());
                return Err(unsupported(
                    place,
                    &what,
                    "give the arrays in it literal lengths; `smoothc eval` without `--schedule` has such values",
                ));
            }
            nodes.kind_of(of);
        }
        Ok(nodes)
    }

    /// A counter and columns. Data of different cases that have one type are in one column.
    fn kind_of(&mut self, of: &Rc<Recursive>) {
        let (name, unrolled, labels) = (of.name().to_lowercase(), of.defined(), of.labels());
        let counter = self.parts.len();
        self.parts.push((name.clone(), Part::Counter));
        let mut found = Vec::new();
        match &unrolled {
            Type::Tuple(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    leaves(part, labels.part(k), &field(&name, &labels, k), k, &mut found);
                }
            }
            Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => leaves(&unrolled, &labels, &name, 0, &mut found),
        }
        let cases = if let Labels::Sum(_, cases, _) = &labels { cases.iter().map(|(_, data)| *data).collect() } else { Vec::new() };
        let is_data = |component: usize| cases.contains(&Some(component));
        let mut leaves: Vec<(usize, usize)> = Vec::new();
        for (component, name, ty) in found {
            let has = |at: usize| matches!(&self.parts[at].1, Part::Column(other) if *other == ty);
            let is_free = |at: usize| leaves.iter().all(|(column, user)| *column != at || is_data(*user) && *user != component);
            let shared = (counter + 1..self.parts.len()).find(|at| is_data(component) && has(*at) && is_free(*at));
            leaves.push((shared.unwrap_or(self.parts.len()), component));
            if shared.is_none() {
                self.parts.push((name, Part::Column(ty)));
            }
        }
        let shared = (counter + 1..self.parts.len()).filter(|at| leaves.iter().filter(|(column, _)| column == at).count() > 1);
        for (k, at) in shared.enumerate() {
            self.parts[at].0 = format!("{name}_{k}");
        }
        self.kinds.push(Kind { of: of.clone(), counter, leaves, cases });
    }

    fn kind(&self, of: &Recursive) -> Option<(usize, &Kind)> {
        self.kinds.iter().enumerate().find(|(_, kind)| *kind.of == *of)
    }

    /// The parts that nodes of these types are in.
    fn parts_of(&self, kinds: &Kinds) -> Vec<usize> {
        let end = |kind: usize| self.kinds.get(kind + 1).map_or(self.parts.len(), |next| next.counter);
        kinds.iter().flat_map(|kind| self.kinds[*kind].counter..end(*kind)).collect()
    }

    /// The parts that something takes which uses nodes so: who only reads needs no counter.
    fn parts_for(&self, used: &Use) -> Vec<usize> {
        let made = self.parts_of(&used.made);
        let is_needed = |part: &usize| matches!(self.parts[*part].1, Part::Column(_)) || made.contains(part);
        self.parts_of(&used.touched).into_iter().filter(is_needed).collect()
    }

    /// New names for some parts, with this much room.
    fn names(&self, parts: &[usize], room: &Size) -> Vec<Var> {
        let ty = |part: &Part| match part {
            Part::Counter => Type::Index(Some(room.clone())),
            Part::Column(element) => Type::array(flat(element, room), room.clone()),
        };
        parts.iter().map(|part| &self.parts[*part]).map(|(name, part)| Var::fresh(name, ty(part))).collect()
    }

    /// The function over numbers of nodes.
    fn function(&self, function: &Function) -> Result<Function> {
        let mut made = function.clone();
        let Some(used) = self.uses.get(&function.name) else {
            made.body = self.scope(&function.body)?;
            return Ok(made);
        };
        let (taken, given) = (self.parts_for(used), self.parts_of(&used.made));
        let room = Var::fresh("room", Type::INDEX);
        let size = if taken.is_empty() { room_of(&Store::new()) } else { Size::var(&room) };
        let names = self.names(&taken, &size);
        let store: Store = taken.iter().copied().zip(names.iter().map(Expr::var)).collect();
        made.labels = Vec::new();
        // who only passes values on does not know how many there may be
        let number = if taken.is_empty() { Type::INDEX } else { Type::Index(Some(size.clone())) };
        made.params = function.params.iter().map(|param| param.retyped(with_numbers(param.ty(), &number))).collect();
        made.result = with_numbers(&function.result, &number);
        if !given.is_empty() {
            let types = self.names(&given, &size).into_iter().map(|part| part.ty().clone());
            made.result = Type::tuple([made.result].into_iter().chain(types).collect());
        }
        made.params.extend(names);
        made.sizes.extend((!taken.is_empty()).then_some(room));
        made.body = self.body(&function.body, &store, &given)?;
        Ok(made)
    }
}

/// How many nodes the columns have room for; where there are none, how many those of a scope that begins have.
fn room_of(store: &Store) -> Size {
    let room = store.values().find_map(|part| part.ty().dims().into_iter().next());
    room.unwrap_or_else(|| Size::var(&ambient::deeper()).add(&Size::constant(CALLS)))
}

/// The scalars and arrays of a component, with the names of their columns.
fn leaves(ty: &Type, labels: &Labels, name: &str, component: usize, found: &mut Vec<(usize, String, Type)>) {
    match ty {
        Type::Tuple(parts) => {
            for (k, part) in parts.iter().enumerate() {
                leaves(part, labels.part(k), &field(name, labels, k), component, found);
            }
        }
        Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => {
            found.push((component, name.into(), ty.without_bounds()));
        }
    }
}

fn field(name: &str, labels: &Labels, k: usize) -> String {
    format!("{name}_{}", labels.field(k).map_or_else(|| k.to_string(), |field| field.to_lowercase()))
}

/// The type with the numbers of nodes, of which there is this much room, in the place of recursive types.
fn flat(ty: &Type, room: &Size) -> Type {
    with_numbers(ty, &Type::Index(Some(room.clone())))
}

fn with_numbers(ty: &Type, number: &Type) -> Type {
    match ty {
        Type::Rec(_) => number.clone(),
        Type::Array(element, size) => Type::array(with_numbers(element, number), size.clone()),
        Type::Tuple(parts) => Type::tuple(parts.iter().map(|part| with_numbers(part, number)).collect()),
        Type::Double | Type::Bool | Type::Index(_) => ty.clone(),
    }
}

fn flat_var(var: &Var, room: &Size) -> Var {
    if var.ty().recursive().is_some() { var.retyped(flat(var.ty(), room)) } else { var.clone() }
}

fn in_signature(function: &Function) -> Option<Rc<Recursive>> {
    function.params.iter().map(Var::ty).chain([&function.result]).find_map(Type::recursive)
}

/// The recursive types in a type, and those in their unrolled forms.
fn each_recursive(ty: &Type, found: &mut Vec<Rc<Recursive>>) {
    match ty {
        Type::Rec(of) => {
            if !found.contains(of) {
                found.push(of.clone());
                each_recursive(&of.defined(), found);
            }
        }
        Type::Array(element, _) => each_recursive(element, found),
        Type::Tuple(parts) => parts.iter().for_each(|part| each_recursive(part, found)),
        Type::Double | Type::Bool | Type::Index(_) => {}
    }
}

fn in_term(expr: &Expr, found: &mut Vec<Rc<Recursive>>) {
    each_recursive(expr.ty(), found);
    expr.term().each_child(&mut |child| in_term(child, found));
}

fn unsupported(span: Span, what: &str, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("E0607", span, format!("unsupported: {what}")).help(help))
}
