//! From functions to code: variables become slots, calls become instances, joins get lifts.
//!
//! In: functions of the core language. Out: [`Instance`]s, one for each function, depth of enclosing `dual`
//! terms and activity of the parameters it is called with. A `dual` at depth d has tag d.
//!
//!     let y = x * x in y + 1.0   →   Let(slot 1, Prim(*, [Slot 0, Slot 0]), Prim(+, [Slot 1, 1.0]))

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::activity::{Activity, tag_bit};
use super::code::{Build, Code, Fold, Instance, ShapeCode, UpdateCode, While};
use super::number::Number;
use super::sizes::{SizeSource, place_of};
use super::value::{Rolled, Value};
use super::{ErrorKind, RuntimeError};
use crate::ir::ambient;
use crate::ir::ended_early::ended_early;
use crate::ir::last_use::{LastUses, component};
use crate::ir::prim::Derivative;
use crate::ir::program::{Function, Program};
use crate::ir::term::{Expr, Iso, Size, Term, Type, Updated, Var};
use crate::source::Span;

/// Folds nested deeper than this take every part of their accumulator for active at once: finding the
/// activity of each takes time exponential in the depth.
const EXACT_FOLDS: u32 = 6;

/// How deep a recursive function may differentiate itself: each time it is compiled anew, and each number has twice the parts.
pub const DEEPEST_DERIVATIVE: u32 = 16;

/// What an instance is made for: function, depth, activities of the parameters.
type Key = (Rc<str>, u32, Vec<Activity>);

pub struct Compiler<'p> {
    program: &'p Program,
    pub instances: Vec<Rc<Instance>>,
    known: HashMap<Key, (usize, Activity)>,
    /// The functions that call themselves, directly or not.
    recursive: HashSet<Rc<str>>,
}

/// The variables in scope of one instance.
#[derive(Default)]
pub struct Scope {
    slots: HashMap<Var, (usize, Activity)>,
    next: usize,
    most: usize,
    depth: u32,
    folds: u32,
    last_uses: Rc<LastUses>,
}

impl Scope {
    fn bind(&mut self, var: &Var, activity: Activity) -> usize {
        let slot = self.next;
        self.next += 1;
        self.most = self.most.max(self.next);
        self.slots.insert(var.clone(), (slot, activity));
        slot
    }

    /// Parameters and sizes of a function, in the first slots.
    pub fn of(function: &Function, depth: u32, activities: &[Activity]) -> Scope {
        let mut scope = Scope { depth, last_uses: Rc::new(LastUses::of(&function.body)), ..Scope::default() };
        for (k, param) in function.params.iter().enumerate() {
            scope.bind(param, activities.get(k).cloned().unwrap_or_else(|| Activity::of(param.ty(), 0)));
        }
        for size in &function.sizes {
            scope.bind(size, Activity::NONE);
        }
        scope
    }

    /// The slots needed so far.
    pub fn slots(&self) -> usize {
        self.most
    }
}

type Compiled = Result<(Code, Activity), Box<RuntimeError>>;

fn defect<T>(expr: &Expr, what: impl Into<String>) -> Result<T, Box<RuntimeError>> {
    Err(RuntimeError::new(ErrorKind::Internal, expr.span(), what))
}

impl<'p> Compiler<'p> {
    pub fn new(program: &'p Program) -> Compiler<'p> {
        Compiler { program, instances: Vec::new(), known: HashMap::new(), recursive: program.recursive() }
    }

    /// The activities that an instance is made for: in a recursive function all Doubles of a parameter have a derivative where
    /// one has, so that there are few instances.
    fn wanted(&self, function: &Function, depth: u32, activities: &[Activity]) -> Vec<Activity> {
        let wanted = function.params.iter().zip(activities).map(|(param, activity)| {
            let is_coarse = self.recursive.contains(&function.name) && activity.tags() != 0;
            if is_coarse { Activity::of(param.ty(), all_tags(depth)) } else { activity.clone() }
        });
        wanted.collect()
    }

    /// The instance of a function for parameters of these activities, and the activity of its result.
    pub fn instance(
        &mut self,
        function: &'p Function,
        depth: u32,
        activities: Vec<Activity>,
    ) -> Result<(usize, Activity), Box<RuntimeError>> {
        let key = (function.name.clone(), depth, activities);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        if self.recursive.contains(&function.name) {
            return self.recursive_instance(function, key);
        }
        let mut scope = Scope::of(function, depth, &key.2);
        let (code, activity) = self.expr(&mut scope, &function.body)?;
        let sizes = function.sizes.iter().map(|size| SizeSource { place: place_of(function, size) }).collect();
        self.instances.push(Rc::new(Instance { code, sizes, slots: scope.most, span: function.span }));
        let found = (self.instances.len() - 1, activity);
        self.known.insert(key, found.clone());
        Ok(found)
    }

    /// The same of a function that calls itself: its result is taken to be active in all its Doubles while its body is compiled.
    fn recursive_instance(&mut self, function: &'p Function, key: Key) -> Result<(usize, Activity), Box<RuntimeError>> {
        let depth = key.1;
        let activity = Activity::of(&function.result, all_tags(depth));
        let at = self.instances.len();
        let sizes = |function: &Function| function.sizes.iter().map(|size| SizeSource { place: place_of(function, size) }).collect();
        self.instances.push(Rc::new(Instance { code: Code::Constant(Value::Index(0)), sizes: Vec::new(), slots: 0, span: function.span }));
        let mut scope = Scope::of(function, depth, &key.2);
        self.known.insert(key, (at, activity.clone()));
        let code = match depth > DEEPEST_DERIVATIVE {
            true => Code::TooDeep(function.name.clone(), function.span),
            false => with_tail_calls(lifted(self.expr(&mut scope, &function.body)?, &activity)),
        };
        self.instances[at] = Rc::new(Instance { code, sizes: sizes(function), slots: scope.most, span: function.span });
        Ok((at, activity))
    }

    /// A type with computable lengths; those over variables out of scope are 0, as are unknown ones.
    pub fn shape(&mut self, scope: &mut Scope, ty: &Type) -> Result<ShapeCode, Box<RuntimeError>> {
        Ok(match ty {
            Type::Double => ShapeCode::Double,
            Type::Rec(_) => ShapeCode::Rolled,
            Type::Bool => ShapeCode::Bool,
            Type::Index(bound) => ShapeCode::Index(match bound {
                Some(bound) => self.size(scope, bound)?,
                None => None,
            }),
            Type::Array(element, size) => {
                let size = self.size(scope, size)?.unwrap_or(Code::Constant(Value::Index(0)));
                ShapeCode::Array(Box::new(self.shape(scope, element)?), size)
            }
            Type::Tuple(parts) => ShapeCode::Tuple(parts.iter().map(|part| self.shape(scope, part)).collect::<Result<_, _>>()?),
        })
    }

    fn size(&mut self, scope: &mut Scope, size: &Size) -> Result<Option<Code>, Box<RuntimeError>> {
        let mut in_scope = true;
        size.each_var(&mut |var| in_scope &= var.is_ambient() || scope.slots.contains_key(var));
        match size.to_expr() {
            Some(expr) if in_scope => Ok(Some(self.expr(scope, &expr)?.0)),
            Some(_) | None => Ok(None),
        }
    }

    fn all(&mut self, scope: &mut Scope, items: &[Expr]) -> Result<(Vec<Code>, Vec<Activity>), Box<RuntimeError>> {
        let mut codes = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        for item in items {
            let (code, activity) = self.expr(scope, item)?;
            codes.0.push(code);
            codes.1.push(activity);
        }
        Ok(codes)
    }

    fn expr(&mut self, scope: &mut Scope, expr: &Expr) -> Compiled {
        // a number stays where it is: the sizes in types read it too
        if let (Some((var, path)), true) = (component(expr), expr.ty().has_array() && scope.last_uses.is_last(expr))
            && let Some((slot, activity)) = scope.slots.get(var)
        {
            let activity = path.iter().fold(activity.clone(), |activity, k| activity.part(*k));
            return Ok((Code::Take(*slot, path), activity));
        }
        Ok(match expr.term() {
            Term::Var(var) => match scope.slots.get(var) {
                Some((slot, activity)) => (Code::Slot(*slot), activity.clone()),
                None => match ambient::meaning(var) {
                    Some(meaning) => return self.expr(scope, &meaning),
                    None => return defect(expr, format!("variable {var:?} is not in scope")),
                },
            },
            Term::Double(value) => (Code::Constant(Value::Double(Number::Plain(*value))), Activity::NONE),
            Term::Index(value) => (Code::Constant(Value::Index(*value)), Activity::NONE),
            Term::Bool(value) => (Code::Constant(Value::Bool(*value)), Activity::NONE),
            Term::Prim(prim, args) => {
                let (codes, activities) = self.all(scope, args)?;
                let zero = expr.ty() != &Type::Double || prim.row().derivative == Derivative::Zero;
                let tags = if zero { 0 } else { activities.iter().fold(0, |tags, activity| tags | activity.tags()) };
                (Code::Prim(*prim, codes, expr.span()), Activity::Leaf(tags))
            }
            Term::Let(var, value, body) => {
                let (value, activity) = self.expr(scope, value)?;
                let slot = scope.bind(var, activity);
                let (body, activity) = self.expr(scope, body)?;
                (Code::Let(slot, Box::new((value, body))), activity)
            }
            Term::If(cond, then, otherwise) => {
                let (cond, _) = self.expr(scope, cond)?;
                let (then, otherwise) = (self.expr(scope, then)?, self.expr(scope, otherwise)?);
                let joined = then.1.join(&otherwise.1);
                (Code::If(Box::new((cond, lifted(then, &joined), lifted(otherwise, &joined)))), joined)
            }
            Term::Build { n, i, body } => {
                let (n, _) = self.expr(scope, n)?;
                let element = self.shape(scope, expr.ty().element().unwrap_or(&Type::Double))?;
                let i = scope.bind(i, Activity::NONE);
                let copies = body.is_named();
                // the element of a slice stands where the slice does
                let is_slice = matches!(body.term(), Term::Get(..)) && body.span() == expr.span() && expr.span() != Span::NONE;
                let what = if is_slice { "a slice" } else { "`build`" };
                let (body, activity) = self.expr(scope, body)?;
                (Code::Build(Box::new(Build { n, i, body, element, copies, what, span: expr.span() })), activity)
            }
            Term::Fold { n, acc, i, body, init } => match ended_early(expr) {
                Some(steps) => self.expr(scope, &steps)?,
                None => self.fold(scope, expr, (n, acc, i), body, init)?,
            },
            Term::While { state, init, body } => self.steps(scope, expr, state, init, body)?,
            Term::Get(array, index) => {
                let (array, activity) = self.expr(scope, array)?;
                let (index, _) = self.expr(scope, index)?;
                (Code::Get(Box::new((array, index)), expr.span()), activity)
            }
            Term::Dim(array, axis) => (Code::Dim(Box::new(self.expr(scope, array)?.0), *axis), Activity::NONE),
            Term::Tuple(parts) => {
                let (codes, activities) = self.all(scope, parts)?;
                (Code::Tuple(codes), Activity::Parts(activities.into()))
            }
            Term::Proj(tuple, index) => {
                let (tuple, activity) = self.expr(scope, tuple)?;
                (Code::Proj(Box::new(tuple), *index), activity.part(*index))
            }
            Term::Array(items) => {
                let element_type = expr.ty().element().unwrap_or(&Type::Double);
                let element = self.shape(scope, element_type)?;
                let (codes, activities) = self.all(scope, items)?;
                let joined = activities.iter().fold(Activity::of(element_type, 0), |joined, activity| joined.join(activity));
                let codes = codes.into_iter().zip(activities).map(|item| lifted(item, &joined)).collect();
                (Code::Array(codes, Box::new(element), expr.span()), joined)
            }
            Term::Call(name, args) => {
                let Some(function) = self.program.functions.get(name) else {
                    return defect(expr, format!("call of `{name}`, which is not in the program"));
                };
                if function.params.len() != args.len() {
                    return defect(expr, format!("call of `{name}` with {} arguments", args.len()));
                }
                let (codes, activities) = self.all(scope, args)?;
                let wanted = self.wanted(function, scope.depth, &activities);
                let codes = codes.into_iter().zip(activities).zip(&wanted).map(|(arg, wanted)| lifted(arg, wanted)).collect();
                let (instance, activity) = self.instance(function, scope.depth, wanted)?;
                (Code::Call(instance, codes, expr.span()), activity)
            }
            Term::Check { cond, status, body } => {
                let (code, _) = self.expr(scope, cond)?;
                let (body, activity) = self.expr(scope, body)?;
                let source = if cond.span().is_none() { cond.clone().at(expr.span()) } else { cond.clone() };
                (Code::Check { cond: Box::new(code), status: *status, body: Box::new(body), source }, activity)
            }
            Term::Dual { x, at, tangent, body } => {
                let (at, at_activity) = self.expr(scope, at)?;
                let (tangent, tangent_activity) = self.expr(scope, tangent)?;
                let tag = scope.depth;
                let slot = scope.bind(x, Activity::Leaf(at_activity.tags() | tangent_activity.tags() | tag_bit(tag)));
                scope.depth += 1;
                let (code, activity) = self.expr(scope, body)?;
                scope.depth -= 1;
                let activity = activity.dual(body.ty(), tag_bit(tag), tangent_activity.tags());
                (Code::Dual { tag, slot, parts: Box::new((at, tangent, code)), span: expr.span() }, activity)
            }
            Term::Vjp { x, at, cotangent, body } => {
                let (at, at_activity) = self.expr(scope, at)?;
                let (cotangent, cotangent_activity) = self.expr(scope, cotangent)?;
                let tag = scope.depth;
                let slot = scope.bind(x, Activity::of(x.ty(), at_activity.tags() | tag_bit(tag)));
                scope.depth += 1;
                let (code, active) = self.expr(scope, body)?;
                scope.depth -= 1;
                let reached = if active.tags() & tag_bit(tag) == 0 { 0 } else { active.tags() & !tag_bit(tag) | cotangent_activity.tags() };
                let derivative = if let Type::Tuple(parts) = expr.ty()
                    && parts.len() == 2
                {
                    &parts[1]
                } else {
                    return defect(expr, "a `vjp` that is no pair");
                };
                let activity = Activity::of(derivative, reached);
                let parts = Box::new((at, cotangent, code));
                let both = Activity::Parts([active.without(tag_bit(tag)), activity.clone()].into());
                (Code::Vjp { tag, slot, parts, activity, name: x.name().clone(), span: expr.span() }, both)
            }
            Term::Update(change, parts) => {
                let Some(Updated { array, indices, value }) = Updated::of(parts) else {
                    return defect(expr, "an update without its parts");
                };
                let (array, own) = self.expr(scope, array)?;
                let (indices, _) = self.all(scope, indices)?;
                let copies = value.is_named();
                let value = self.expr(scope, value)?;
                let joined = own.join(&value.1);
                let update =
                    UpdateCode { array: lifted((array, own), &joined), indices, value: lifted(value, &joined), copies, span: expr.span() };
                (Code::Update(*change, Box::new(update)), joined)
            }
            Term::Iso(iso, operands) => match (iso, operands.as_slice()) {
                (Iso::Roll, [value]) => {
                    let (code, activity) = self.expr(scope, value)?;
                    let tags = activity.tags();
                    let code = lifted_parts(code, &activity, &Activity::of(value.ty(), tags));
                    (Code::Roll(Box::new(code)), Activity::Leaf(tags))
                }
                (Iso::Unroll, [value]) => {
                    let (code, activity) = self.expr(scope, value)?;
                    (Code::Unroll(Box::new(code), expr.span()), Activity::of(expr.ty(), activity.tags()))
                }
                (Iso::Absent, []) => (Code::Constant(Value::Rolled(Rolled::ABSENT)), Activity::NONE),
                (Iso::Roll | Iso::Unroll | Iso::Absent, _) => return defect(expr, "a recursive value of too many parts"),
            },
        })
    }

    /// As a fold's.
    fn steps(&mut self, scope: &mut Scope, expr: &Expr, state: &Var, init: &Expr, body: &Expr) -> Compiled {
        let init = self.expr(scope, init)?;
        let exact = scope.folds < EXACT_FOLDS || scope.depth == 0;
        let all = all_tags(scope.depth);
        let mut activity = if exact { init.1.clone() } else { Activity::of(state.ty(), all) };
        let first = scope.next;
        loop {
            scope.next = first;
            let slot = scope.bind(state, activity.clone());
            scope.folds += 1;
            let body = self.expr(scope, body)?;
            scope.folds -= 1;
            let joined = activity.join(&body.1.part(1));
            if joined != activity {
                activity = joined;
                continue;
            }
            let step = Activity::Parts([Activity::NONE, activity.clone()].into());
            let (init, body) = (lifted(init, &activity), lifted(body, &step));
            let steps = While { state: slot, init, body, shaped: state.ty().has_array(), span: expr.span() };
            return Ok((Code::While(Box::new(steps)), activity));
        }
    }

    /// The accumulator's activity is the least that the initial value and every step agree on.
    fn fold(&mut self, scope: &mut Scope, expr: &Expr, (n, acc, i): (&Expr, &Var, &Var), body: &Expr, init: &Expr) -> Compiled {
        let init = self.expr(scope, init)?;
        let (n, _) = self.expr(scope, n)?;
        let exact = scope.folds < EXACT_FOLDS || scope.depth == 0;
        let all = all_tags(scope.depth);
        let mut activity = if exact { init.1.clone() } else { Activity::of(acc.ty(), all) };
        let first = scope.next;
        loop {
            scope.next = first;
            let (acc_slot, i_slot) = (scope.bind(acc, activity.clone()), scope.bind(i, Activity::NONE));
            scope.folds += 1;
            let body = self.expr(scope, body)?;
            scope.folds -= 1;
            let joined = activity.join(&body.1);
            if joined != activity {
                activity = joined;
                continue;
            }
            let (init, body) = (lifted(init, &activity), lifted(body, &activity));
            // the lengths in a state of sums may be of data
            let mut shaped = acc.ty().has_array();
            acc.ty().each_length(&mut |length| shaped &= !length.has_unknown());
            let fold = Fold { n, acc: acc_slot, i: i_slot, init, body, shaped, span: expr.span() };
            return Ok((Code::Fold(Box::new(fold)), activity));
        }
    }
}

/// The tags of all enclosing derivative forms.
fn all_tags(depth: u32) -> u64 {
    (0..depth).fold(0, |tags, tag| tags | tag_bit(tag))
}

/// The code of a function whose calls in tail position take its place.
fn with_tail_calls(code: Code) -> Code {
    match code {
        Code::Call(instance, args, span) => Code::TailCall(instance, args, span),
        Code::Let(slot, parts) => {
            let (value, body) = *parts;
            Code::Let(slot, Box::new((value, with_tail_calls(body))))
        }
        Code::If(parts) => {
            let (cond, then, otherwise) = *parts;
            Code::If(Box::new((cond, with_tail_calls(then), with_tail_calls(otherwise))))
        }
        Code::Check { cond, status, body, source } => Code::Check { cond, status, body: Box::new(with_tail_calls(*body)), source },
        other @ (Code::Slot(_)
        | Code::Take(..)
        | Code::Constant(_)
        | Code::Prim(..)
        | Code::Build(_)
        | Code::Fold(_)
        | Code::While(_)
        | Code::TailCall(..)
        | Code::TooDeep(..)
        | Code::Get(..)
        | Code::Dim(..)
        | Code::Tuple(_)
        | Code::Proj(..)
        | Code::Array(..)
        | Code::Dual { .. }
        | Code::Vjp { .. }
        | Code::Update(..)
        | Code::Roll(_)
        | Code::Unroll(..)
        | Code::Lift(..)) => other,
    }
}

fn lifted((code, own): (Code, Activity), wanted: &Activity) -> Code {
    if &own == wanted { code } else { Code::Lift(Box::new(code), wanted.clone()) }
}

/// The same where the parts of a tuple are lifted one by one: a tree that is active is not gone through again.
fn lifted_parts(code: Code, own: &Activity, wanted: &Activity) -> Code {
    match (code, own, wanted) {
        (Code::Tuple(codes), Activity::Parts(own), Activity::Parts(wanted)) => {
            let parts = codes.into_iter().zip(own.iter().zip(wanted.iter()));
            Code::Tuple(parts.map(|(code, (own, wanted))| lifted_parts(code, own, wanted)).collect())
        }
        (code, own, wanted) => lifted((code, own.clone()), wanted),
    }
}
