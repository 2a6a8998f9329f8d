//! The machine that runs a group of recursive functions: blocks become the steps of one `while`.
//!
//! In: a function, the first of its group. Out: its body without recursion. The state is a tuple of the block that is next, the
//! depth, registers for the arguments of a routine, one for each type of result, and the stack: the block that each caller goes on
//! at, where there is more than one, and an array for each value that callers need again. Values of one type share registers and
//! arrays, since one routine runs at a time and a caller needs its own values only.
//!
//!     push (routine 0, block 1, n - 1, n)   →   check depth < room else WORKSPACE in (true, (0, depth + 1, n - 1, r, update stack depth n))
//!     return e                              →   (0 < depth, (1, depth, n, e, stack))

use std::collections::HashMap;
use std::rc::Rc;

use super::blocks::{self, Blocks, Leaf, Routine};
use super::fixed::fixed;
use super::{CALLS, Parameters, Result, unsupported};
use crate::ir::ambient;
use crate::ir::subst::{freshen, freshen_function, instance, map_children};
use crate::ir::zero::zero;
use crate::ir::{Change, Expr, Function, Name, Prim, Size, Status, Term, Type, Var};

/// Where the parts of the state are.
const BLOCK: usize = 0;
const DEPTH: usize = 1;

/// The body of the first function of a group as a loop.
pub fn machine(root: &Function, group: &[Function], known: &Parameters) -> Result<Expr> {
    let fixed = fixed(root, group, known.changing);
    let routines = routines(group, &fixed, known)?;
    let blocks = blocks::blocks(root, routines)?;
    let args: Vec<Expr> = root.params.iter().filter(|param| !fixed.contains_key(param)).map(Expr::var).collect();
    let room = room(root, &blocks, known);
    let name = Var::fresh("room", Type::INDEX);
    let body = Layout::new(root, &blocks, Expr::var(&name))?.body(args)?;
    Ok(Expr::let_(name, room, body))
}

/// The functions of the group over what is not fixed; the rest is written out.
fn routines(group: &[Function], fixed: &HashMap<Var, Expr>, known: &Parameters) -> Result<Vec<Routine>> {
    let is_kept = |function: &Function| -> Vec<bool> { function.params.iter().map(|param| !fixed.contains_key(param)).collect() };
    let kept: HashMap<&str, Vec<bool>> = group.iter().map(|function| (&*function.name, is_kept(function))).collect();
    let mut routines = Vec::new();
    for function in group {
        let varies = |size: &Size| {
            let mut varies = size.has_unknown();
            size.each_var(&mut |var| varies |= !fixed.contains_key(var));
            varies
        };
        let params = function.params.iter().map(|param| (Some(param.name()), param.ty()));
        for (name, ty) in params.chain([(None, &function.result)]) {
            let Some(length) = ty.lengths().into_iter().find(&varies) else { continue };
            let help = "pass the whole array, and what part of it is meant as an Index";
            let (what, help) = match name {
                _ if !length.has_unknown() => (format!("changes the length {length} from call to call"), help),
                Some(name) => (format!("takes `{name}`, whose length only data says"), help),
                None => {
                    ("ends in arrays whose length changes from call to call".into(), "end it in arrays of one length, and declare that")
                }
            };
            return Err(unsupported(function, function.span, &what, help));
        }
        let keep = &kept[&*function.name];
        let params: Vec<Var> = function.params.iter().zip(keep).filter(|(_, keep)| **keep).map(|(param, _)| param.clone()).collect();
        let body = without_fixed(&function.body, &kept);
        let renamed = freshen_function(&Function { body, ..function.clone() });
        let own = function.sizes.iter().chain(&function.params).zip(renamed.sizes.iter().chain(&renamed.params));
        let map: Vec<(Var, Expr)> = own.filter_map(|(old, new)| Some((new.clone(), fixed.get(old)?.clone()))).collect();
        let settle = |ty: &Type| {
            ty.map_sizes(&mut |size| map.iter().fold(size.clone(), |size, (var, value)| size.replace(var, &Size::of_expr(value))))
        };
        let mut all = map.clone();
        let mut settled = Vec::new();
        for (old, new) in function.params.iter().zip(&renamed.params) {
            if params.contains(old) {
                let param = new.renewed(settle(new.ty()));
                all.push((new.clone(), Expr::var(&param)));
                settled.push(param);
            }
        }
        routines.push(Routine {
            name: function.name.clone(),
            params: settled,
            result: register_type(&group[0], &settle(&renamed.result)),
            body: instance(&renamed.body, &all),
            is_counted: routines.is_empty() || function.params.iter().any(|param| known.measures.contains(param)),
        });
    }
    Ok(routines)
}

/// Calls without the arguments that are fixed.
fn without_fixed(expr: &Expr, kept: &HashMap<&str, Vec<bool>>) -> Expr {
    let inside = map_children(expr, &mut |child| without_fixed(child, kept));
    if let Term::Call(name, args) = inside.term()
        && let Some(kept) = kept.get(&**name)
    {
        let args = args.iter().zip(kept).filter(|(_, keep)| **keep).map(|(arg, _)| arg.clone()).collect();
        Expr::with_type(Term::Call(name.clone(), args), inside.ty().clone(), inside.span())
    } else {
        inside
    }
}

/// How many frames the stack has: for n calls in the first, and for the loops and branches that have frames in each; one more,
/// so that the depth is an index of it. Where nobody says n, it is as many as the workspace has room for, and [`CALLS`] at least; where
/// data gives n, no more than that.
fn room(root: &Function, blocks: &Blocks, known: &Parameters) -> Expr {
    let (mut each, mut last) = (1, 0);
    for (at, _) in blocks.routines.iter().enumerate().filter(|(_, routine)| routine.is_counted) {
        let (to_next, inside) = frames(blocks, at, &mut Vec::new());
        each = each.max(to_next);
        last = last.max(inside);
    }
    let prim = |prim, a: Expr, b: i64| Expr::prim(prim, vec![a, Expr::index(b)]);
    let (calls, others) = match root.params.iter().find(|param| known.measures.contains(param)) {
        Some(n) if known.from_data.contains(n) => {
            let most = prim(Prim::Add, Expr::var(&ambient::deeper()), CALLS - 1);
            (Expr::prim(Prim::Min, vec![prim(Prim::Max, Expr::var(n), 0), most]), last + 1)
        }
        // no memory has room for more, and the number of frames does not wrap
        Some(n) => (prim(Prim::Min, prim(Prim::Max, Expr::var(n), 0), ambient::DEEPEST), last + 1),
        None => (Expr::var(&ambient::deeper()), (CALLS - 1).saturating_mul(each).saturating_add(last + 1)),
    };
    let frames = if each == 1 { calls } else { prim(Prim::Mul, calls, each) };
    prim(Prim::Add, frames, others)
}

/// Upper bounds on frames: from a routine to the next counted call, and of uncounted calls before it.
fn frames(blocks: &Blocks, routine: usize, around: &mut Vec<usize>) -> (i64, i64) {
    around.push(routine);
    let own = blocks.continuations.iter().filter(|after| after.of == routine).map(|after| &after.code);
    let (mut to_next, mut inside) = (0, 0);
    for code in own.chain(blocks.entries.get(routine)) {
        each_leaf(code, &mut |leaf| {
            let (target, own) = match leaf {
                Leaf::Return(_) => return,
                Leaf::Goto(target, _) => (target, 0),
                Leaf::Push(target, ..) => (target, 1),
            };
            if blocks.routines[target].is_counted || around.contains(&target) {
                to_next = to_next.max(own);
            } else {
                let (next, deeper) = frames(blocks, target, around);
                to_next = to_next.max(own + next);
                inside = inside.max(own + deeper);
            }
        });
    }
    around.pop();
    (to_next, inside)
}

fn each_leaf(code: &Expr, f: &mut dyn FnMut(Leaf)) {
    match code.term() {
        Term::Let(_, _, body) | Term::Check { body, .. } => each_leaf(body, f),
        Term::If(_, a, b) => {
            each_leaf(a, f);
            each_leaf(b, f);
        }
        _ => Leaf::of(code).into_iter().for_each(f),
    }
}

/// The state of the machine: the types of its parts, and which values are where.
struct Layout<'a> {
    root: &'a Function,
    blocks: &'a Blocks<'a>,
    room: Expr,
    types: Vec<Type>,
    /// What they are called.
    names: Vec<Rc<str>>,
    /// For each routine its parameters' registers, and that of its result.
    registers: Vec<(Vec<Place>, Place)>,
    /// The array of block numbers, if there is a choice.
    returns: Option<usize>,
    /// For each continuation the arrays of the values that it needs.
    kept: Vec<Vec<usize>>,
}

impl<'a> Layout<'a> {
    fn new(root: &'a Function, blocks: &'a Blocks<'a>, room: Expr) -> Result<Layout<'a>> {
        let size = Size::of_expr(&room);
        let stack = |ty: &Type| Type::array(ty.without_bounds(), size.clone());
        let mut parts = Parts::default();
        parts.add("block", Type::INDEX);
        parts.add("depth", Type::Index(Some(size.clone())));
        parts.begin();
        let parameters = |routine: &Routine| -> Vec<(Rc<str>, Type)> {
            routine.params.iter().map(|param| (param.name().clone(), register_type(root, param.ty()))).collect()
        };
        let places: Vec<Vec<Place>> = blocks.routines.iter().map(|routine| parts.registers(parameters(routine))).collect();
        parts.begin_results();
        let result = |routine: &Routine| vec![("result".into(), routine.result.clone())];
        let results: Vec<Place> = blocks.routines.iter().flat_map(|routine| parts.registers(result(routine))).collect();
        let returns = (blocks.continuations.len() > 1).then(|| parts.add("callers", stack(&Type::INDEX)));
        parts.begin();
        let live = |live: &[Var]| live.iter().map(|var| (format!("{}_stack", var.name()).into(), stack(var.ty()))).collect();
        let kept = blocks.continuations.iter().map(|after| parts.place(live(&after.live))).collect();
        let Parts { types, names, .. } = parts;
        if types.iter().any(|ty| zero(ty).is_none()) {
            let help = "give its arrays the lengths of parameters that every call passes on";
            return Err(unsupported(root, root.span, "keeps an array whose length depends on data", help));
        }
        Ok(Layout { root, blocks, room, types, names, registers: places.into_iter().zip(results).collect(), returns, kept })
    }

    /// The loop; `args` are those of the first call.
    fn body(&self, args: Vec<Expr>) -> Result<Expr> {
        let (params, result) = &self.registers[0];
        let is_stack = |at: usize| self.returns == Some(at) || self.kept.iter().flatten().any(|array| *array == at);
        // a frame is written before it is read
        let first = |(at, ty): (usize, &Type)| if is_stack(at) { ambient::unset(ty) } else { zero(ty) };
        let mut init: Vec<Expr> = self.types.iter().enumerate().filter_map(first).collect();
        if let Some(returns) = self.returns {
            // but for the first one's caller, which is nobody
            init[returns] = Expr::update(Change::Replace, init[returns].clone(), vec![Expr::index(0)], Expr::index(0));
        }
        params.iter().zip(args).for_each(|(register, arg)| register.write(&arg, &mut init));
        let named = |name: &str| Name::of_parts(name, self.names.iter().map(|part| Name::from(&**part)));
        let state = Var::named(named("state"), Type::tuple(self.types.clone()));
        let mut steps = Vec::new();
        for (routine, code) in self.blocks.entries.iter().enumerate() {
            let params = self.blocks.routines[routine].params.iter().zip(&self.registers[routine].0);
            let reads = params.map(|(param, register)| (param.clone(), register.read(&state))).collect();
            steps.push(self.step(&state, routine, code, reads));
        }
        for (after, arrays) in self.blocks.continuations.iter().zip(&self.kept) {
            let mut reads = vec![(after.result.clone(), self.registers[after.callee].1.read(&state))];
            let read = |array: &usize| Expr::get(part(&state, *array), part(&state, DEPTH));
            reads.extend(after.live.iter().zip(arrays).map(|(var, array)| (var.clone(), read(array))));
            steps.push(self.step(&state, after.of, &after.code, reads));
        }
        let is_next = |at: usize| Expr::prim(Prim::Eq, vec![part(&state, BLOCK), Expr::index(at as i64)]);
        let mut steps = steps.into_iter().enumerate().rev();
        let Some((_, last)) = steps.next() else { return Ok(self.root.body.clone()) };
        let step = steps.fold(last, |rest, (at, step)| Expr::if_(is_next(at), step, rest));
        let end = Var::named(named("end"), state.ty().clone());
        let value = result.read(&end);
        let steps = Expr::while_(state, Expr::tuple(init), step).at(self.root.span);
        Ok(Expr::let_(end, steps, value).at(self.root.body.span()))
    }

    /// The step that a block is: whether the machine goes on, and the next state.
    fn step(&self, state: &Var, routine: usize, code: &Expr, reads: Vec<(Var, Expr)>) -> Expr {
        let code = code.map_tails(&|tail| match Leaf::of(tail) {
            // what comes before the parts of the result comes before the state
            Some(Leaf::Return(value)) if matches!(self.registers[routine].1, Place::Parts(_)) => {
                value.map_tails(&|value| self.leaf(state, routine, Leaf::Return(value)))
            }
            Some(leaf) => self.leaf(state, routine, leaf),
            None => tail.clone(),
        });
        freshen(&reads.into_iter().rev().fold(code, |code, (var, value)| Expr::let_(var, value, code)))
    }

    fn leaf(&self, state: &Var, routine: usize, leaf: Leaf) -> Expr {
        let mut parts: Vec<Expr> = (0..self.types.len()).map(|at| part(state, at)).collect();
        let depth = parts[DEPTH].clone();
        let index = |at: usize| Expr::index(at as i64);
        let mut goes_on = Expr::bool(true);
        let mut checked = None;
        match leaf {
            Leaf::Return(value) => {
                goes_on = Expr::prim(Prim::Lt, vec![index(0), depth.clone()]);
                let caller = Expr::prim(Prim::Max, vec![Expr::prim(Prim::Sub, vec![depth, index(1)]), index(0)]);
                self.registers[routine].1.write(value, &mut parts);
                parts[BLOCK] = match self.returns {
                    Some(returns) => Expr::get(part(state, returns), caller.clone()),
                    None => index(self.blocks.entries.len()),
                };
                parts[DEPTH] = caller;
            }
            Leaf::Goto(target, args) => self.enter(target, args, &mut parts),
            Leaf::Push(target, after, values) => {
                let (args, live) = values.split_at(self.registers[target].0.len());
                let push = |array: &usize, value: Expr| Expr::update(Change::Replace, part(state, *array), vec![depth.clone()], value);
                for (array, value) in self.kept[after].iter().zip(live) {
                    parts[*array] = push(array, value.clone());
                }
                if let Some(returns) = self.returns {
                    parts[returns] = push(&returns, index(self.blocks.entries.len() + after));
                }
                self.enter(target, args, &mut parts);
                parts[DEPTH] = Expr::prim(Prim::Add, vec![depth.clone(), Expr::index(1)]);
                checked = Some(Expr::prim(Prim::Lt, vec![parts[DEPTH].clone(), self.room.clone()]).at(self.root.span));
            }
        }
        let next = Expr::tuple(vec![goes_on, Expr::tuple(parts)]);
        checked.into_iter().fold(next, |next, cond| Expr::check(cond, Status::Workspace, next))
    }

    /// The state in which a routine is next.
    fn enter(&self, routine: usize, args: &[Expr], parts: &mut [Expr]) {
        parts[BLOCK] = Expr::index(routine as i64);
        self.registers[routine].0.iter().zip(args).for_each(|(register, arg)| register.write(arg, parts));
    }
}

fn part(state: &Var, at: usize) -> Expr {
    Expr::proj(Expr::var(state), at)
}

/// The type without bounds that differ from call to call.
fn register_type(root: &Function, ty: &Type) -> Type {
    match ty {
        Type::Index(Some(bound)) => {
            let mut is_fixed = !bound.has_unknown();
            bound.each_var(&mut |var| is_fixed &= var.is_ambient() || root.sizes.contains(var) || root.params.contains(var));
            if is_fixed { ty.clone() } else { Type::INDEX }
        }
        Type::Array(element, size) => Type::array(register_type(root, element), size.clone()),
        Type::Tuple(parts) => Type::tuple(parts.iter().map(|part| register_type(root, part)).collect()),
        Type::Double | Type::Bool | Type::Index(None) | Type::Rec(_) => ty.clone(),
    }
}

/// The registers of a value: those of a tuple with arrays are its components', so that an array that is passed on stays where it is.
enum Place {
    One(usize),
    Parts(Vec<Place>),
}

impl Place {
    fn read(&self, state: &Var) -> Expr {
        match self {
            Place::One(at) => part(state, *at),
            Place::Parts(places) => Expr::tuple(places.iter().map(|place| place.read(state)).collect()),
        }
    }

    fn write(&self, value: &Expr, parts: &mut [Expr]) {
        match (self, value.term()) {
            (Place::One(at), _) => parts[*at] = value.clone(),
            (Place::Parts(places), Term::Tuple(values)) => places.iter().zip(values).for_each(|(place, value)| place.write(value, parts)),
            (Place::Parts(places), _) => {
                places.iter().enumerate().for_each(|(k, place)| place.write(&Expr::proj(value.clone(), k), parts));
            }
        }
    }
}

/// The parts of a state, as they are found.
#[derive(Default)]
struct Parts {
    types: Vec<Type>,
    names: Vec<Rc<str>>,
    /// The first of those that may be shared, and the first of the arrays among them.
    first: usize,
    first_array: usize,
}

impl Parts {
    fn add(&mut self, name: &str, ty: Type) -> usize {
        let taken = |name: &str| self.names.iter().any(|other| **other == *name);
        let numbered = |k: usize| if k == 0 { name.to_string() } else { format!("{name}_{k}") };
        self.names.push((0..).map(numbered).find(|name| !taken(name)).unwrap_or_default().into());
        self.types.push(ty);
        self.types.len() - 1
    }

    /// What there is by now is not shared any more.
    fn begin(&mut self) {
        self.begin_results();
        self.first_array = self.first;
    }

    /// Results share the arrays of parameters: what a routine takes is of no use when it returns.
    fn begin_results(&mut self) {
        self.first = self.types.len();
    }

    /// Registers for values of these types, each one's own.
    fn registers(&mut self, wanted: Vec<(Rc<str>, Type)>) -> Vec<Place> {
        let mut leaves = Vec::new();
        let shapes: Vec<Place> = wanted.into_iter().map(|(name, ty)| leaves_of(name, ty, &mut leaves)).collect();
        let places = self.place(leaves);
        shapes.into_iter().map(|shape| settled(shape, &places)).collect()
    }

    /// Places for values of these types, each one's own; new ones where there are too few.
    fn place(&mut self, wanted: Vec<(Rc<str>, Type)>) -> Vec<usize> {
        let mut taken = Vec::new();
        for (name, ty) in wanted {
            let first = if ty.has_array() { self.first_array } else { self.first };
            let free = (first..self.types.len()).find(|at| self.types[*at] == ty && !taken.contains(at));
            let at = free.unwrap_or_else(|| self.add(&name, ty));
            taken.push(at);
        }
        taken
    }
}

/// The names and types of the parts that have registers of their own; the places are numbers of these.
fn leaves_of(name: Rc<str>, ty: Type, leaves: &mut Vec<(Rc<str>, Type)>) -> Place {
    match &ty {
        Type::Tuple(parts) if ty.has_array() => {
            let part = |(k, ty): (usize, &Type)| leaves_of(format!("{name}_{k}").into(), ty.clone(), leaves);
            Place::Parts(parts.iter().enumerate().map(part).collect())
        }
        Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => {
            leaves.push((name, ty));
            Place::One(leaves.len() - 1)
        }
    }
}

fn settled(place: Place, places: &[usize]) -> Place {
    match place {
        Place::One(leaf) => Place::One(places[leaf]),
        Place::Parts(parts) => Place::Parts(parts.into_iter().map(|part| settled(part, places)).collect()),
    }
}
