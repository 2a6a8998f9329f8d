//! Activity analysis: what of a term the independent variable reaches.
//!
//! In: a dual-free body and the activity of its free variables. Out: the activity of every node. Only what
//! is active gets a tangent; everything else is left as it is, so that no `0 * inf` can arise there.
//!
//!     x active:   let a = n * 2.0 in (x * a, a, i)   →   (active, none, none)
//!
//! An accumulator is active where its initial value or its step makes it so: passes over the body, each of
//! them linear, until nothing grows. Arrays are active as a whole; tuples by component, through calls too.

use std::collections::HashMap;
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::ir::prim::Derivative;
use crate::ir::{Expr, Term, Type, Var};

/// Which parts of a value have a tangent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Activity {
    #[default]
    None,
    /// A Double, or an array with Doubles somewhere in its elements.
    Whole,
    /// By component; some component is active.
    Tuple(Rc<[Activity]>),
}

/// The activity of a call's result, for a function and the activities of its arguments.
pub type Summary<'a> = &'a mut dyn FnMut(&Rc<str>, &[Activity]) -> Result<Activity, Diagnostic>;

/// The activity of the nodes and variables of one body.
#[derive(Debug, Default)]
pub struct Activities {
    vars: HashMap<Var, Activity>,
    /// By the address of the node's term: the body outlives the table.
    nodes: HashMap<*const Term, Activity>,
}

impl Activities {
    /// Analyses `body`, where `free` are the active free variables.
    pub fn of_body(body: &Expr, free: Vec<(Var, Activity)>, summary: Summary) -> Result<Activities, Diagnostic> {
        let mut pass = Pass { found: Activities { vars: free.into_iter().collect(), ..Activities::default() }, grown: true, summary };
        while pass.grown {
            pass.grown = false;
            pass.visit(body)?;
        }
        Ok(pass.found)
    }

    /// The activity of a node of the body.
    pub fn of(&self, expr: &Expr) -> Activity {
        self.nodes.get(&std::ptr::from_ref(expr.term())).cloned().unwrap_or_default()
    }

    /// The activity of a variable that is free or bound in the body.
    pub fn of_var(&self, var: &Var) -> Activity {
        self.vars.get(var).cloned().unwrap_or_default()
    }
}

impl Activity {
    /// Every Double of a type.
    pub fn full(ty: &Type) -> Activity {
        match ty {
            Type::Tuple(parts) => Activity::tuple(parts.iter().map(Activity::full).collect()),
            Type::Double | Type::Array(..) if ty.has_double() => Activity::Whole,
            Type::Double | Type::Array(..) | Type::Bool | Type::Index(_) | Type::Rec(_) => Activity::None,
        }
    }

    pub fn is_none(&self) -> bool {
        *self == Activity::None
    }

    /// The activity of a tuple's component.
    pub fn part(&self, index: usize) -> Activity {
        match self {
            Activity::None => Activity::None,
            Activity::Whole => Activity::Whole,
            Activity::Tuple(parts) => parts.get(index).cloned().unwrap_or_default(),
        }
    }

    fn tuple(parts: Vec<Activity>) -> Activity {
        if parts.iter().all(Activity::is_none) { Activity::None } else { Activity::Tuple(parts.into()) }
    }

    fn or(self, other: Activity) -> Activity {
        match (self, other) {
            (Activity::None, a) | (a, Activity::None) => a,
            (Activity::Tuple(a), Activity::Tuple(b)) => {
                Activity::Tuple(a.iter().zip(b.iter()).map(|(a, b)| a.clone().or(b.clone())).collect())
            }
            (Activity::Whole, Activity::Whole | Activity::Tuple(_)) | (Activity::Tuple(_), Activity::Whole) => Activity::Whole,
        }
    }
}

struct Pass<'a> {
    found: Activities,
    grown: bool,
    summary: Summary<'a>,
}

impl Pass<'_> {
    fn visit(&mut self, expr: &Expr) -> Result<Activity, Diagnostic> {
        let active = self.term(expr)?;
        let active = if expr.ty().has_double() { active } else { Activity::None };
        self.found.nodes.insert(std::ptr::from_ref(expr.term()), active.clone());
        Ok(active)
    }

    fn items(&mut self, items: &[Expr]) -> Result<Vec<Activity>, Diagnostic> {
        items.iter().map(|item| self.visit(item)).collect()
    }

    /// Notes that a variable is at least this active.
    fn reach(&mut self, var: &Var, active: Activity) -> Activity {
        let before = self.found.of_var(var);
        let after = before.clone().or(active);
        if after != before {
            self.grown = true;
            self.found.vars.insert(var.clone(), after.clone());
        }
        after
    }

    fn term(&mut self, expr: &Expr) -> Result<Activity, Diagnostic> {
        let whole = |active: bool| if active { Activity::Whole } else { Activity::None };
        Ok(match expr.term() {
            Term::Var(var) => self.found.of_var(var),
            Term::Double(_) | Term::Index(_) | Term::Bool(_) => Activity::None,
            Term::Prim(prim, args) => {
                let args = self.items(args)?;
                match prim.row().derivative {
                    Derivative::Zero => Activity::None,
                    Derivative::Unary(_) | Derivative::Binary { .. } => whole(args.iter().any(|arg| !arg.is_none())),
                }
            }
            Term::Let(var, value, body) => {
                let value = self.visit(value)?;
                self.reach(var, value);
                self.visit(body)?
            }
            Term::If(cond, then, otherwise) => {
                self.visit(cond)?;
                let then = self.visit(then)?;
                then.or(self.visit(otherwise)?)
            }
            Term::Build { n, body, .. } => {
                self.visit(n)?;
                whole(!self.visit(body)?.is_none())
            }
            Term::Fold { n, acc, body, init, .. } => {
                let init = self.visit(init)?;
                self.reach(acc, init);
                self.visit(n)?;
                let step = self.visit(body)?;
                self.reach(acc, step)
            }
            Term::While { state, init, body } => {
                let init = self.visit(init)?;
                self.reach(state, init);
                let step = self.visit(body)?.part(1);
                self.reach(state, step)
            }
            Term::Get(array, index) => {
                let array = self.visit(array)?;
                self.visit(index)?;
                if array.is_none() { Activity::None } else { Activity::full(expr.ty()) }
            }
            Term::Dim(array, _) => {
                self.visit(array)?;
                Activity::None
            }
            Term::Tuple(parts) => Activity::tuple(self.items(parts)?),
            Term::Proj(tuple, index) => self.visit(tuple)?.part(*index),
            Term::Array(items) => whole(self.items(items)?.iter().any(|item| !item.is_none())),
            Term::Call(name, args) => {
                let args = self.items(args)?;
                if args.iter().all(Activity::is_none) { Activity::None } else { (self.summary)(name, &args)? }
            }
            Term::Check { cond, body, .. } => {
                self.visit(cond)?;
                self.visit(body)?
            }
            Term::Update(_, parts) | Term::Iso(_, parts) => whole(self.items(parts)?.iter().any(|part| !part.is_none())),
            Term::Dual { .. } | Term::Vjp { .. } => return Err(super::internal(expr.span(), "a derivative inside a derivative was left")),
        })
    }
}
