//! The normaliser: innermost first, without restarting at the root.
//!
//! In: a term, a set of rules, the [`Facts`] of its place. Out: the term on which no rule of the set fires.
//! A pass traverses the term once, with an environment of pending substitutions in place of one traversal for each `let`; when a
//! rule fires, only its result is visited again. Passes repeat until one changes nothing, because
//! occurrence counts are taken at the start of each.
//!
//!     let a = (x, 1) in a.0 * a.1   →   x
//!
//! Limits: [`Budget`]. A term inside a `dual` is left as it is, but for substitution.

use rustc_hash::FxHashMap;

use crate::ir::free::{any_free_var, any_var_in_types};
use crate::ir::subst::{freshen, map_children, substitute};
use crate::ir::{Atom, Expr, Prim, Program, Size, Term, Type, Var, fresh_id};

use super::atoms::is_free;
use super::derivation::Log;
use super::facts::Facts;
use super::rule::{Head, Part, Rule};
use super::rules::lambda::{floated, strict_operands};
use super::uses::Uses;

mod lets;
mod rule_sets;

use rule_sets::LetRules;
pub use rule_sets::{Candidates, RuleSets};

/// How much the rewriter may do, and what it has done.
#[derive(Clone, Debug)]
pub struct Budget {
    pub steps: usize,
    pub step_limit: usize,
    /// Nodes that the engine looked at.
    pub visited: usize,
    /// Nodes that rules of the user's own made.
    pub grown: usize,
    /// Strategies that are carried out now, one inside the other.
    pub depth: usize,
}

/// Rewrites that any program may take before its schedule is called endless,
const STEPS: usize = 50_000;
/// and more for each of its nodes.
const STEPS_FOR_A_NODE: usize = 50;

/// Rules of the user's own may make so many nodes for each step that is allowed.
const GROWTH: usize = 8;

impl Budget {
    pub fn for_nodes(nodes: usize) -> Budget {
        Budget { steps: 0, step_limit: STEPS + STEPS_FOR_A_NODE * nodes, visited: 0, grown: 0, depth: 0 }
    }

    pub fn for_program(program: &Program) -> Budget {
        Budget::for_nodes(program.node_count())
    }

    /// Notes a step; an error when it is one too many.
    pub fn step(&mut self, rule: &Rule, facts: &Facts) -> Result<(), OutOfSteps> {
        self.steps += 1;
        let grown = facts.take_grown();
        if rule.part == Part::User {
            self.grown += grown;
        }
        if self.steps > self.step_limit || self.grown > GROWTH * self.step_limit { Err(OutOfSteps) } else { Ok(()) }
    }
}

/// The step limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfSteps;

/// So many rewrites one inside the other only an endless schedule makes.
const NESTED_STEPS: usize = 20_000;

/// More passes than this are not worth their time.
const PASSES: usize = 60;

/// The normal form of a term under a set of rules.
pub fn innermost(
    candidates: &mut Candidates,
    expr: &Expr,
    facts: &mut Facts,
    budget: &mut Budget,
    log: &mut Log,
) -> Result<Expr, OutOfSteps> {
    let mut expr = expr.clone();
    let refusals = facts.refusals.count();
    for _ in 0..PASSES {
        facts.refusals.forget(refusals);
        facts.uses = Uses::of(&expr);
        facts.nodes = expr.node_count();
        facts.has_updates = expr.has_updates();
        let mut pass = Pass::new(candidates, facts, budget, log);
        let next = pass.visit(&expr, Fresh::Nothing);
        pass.facts.decided = None;
        let (stopped, changed) = (pass.stopped, pass.changed);
        expr = next;
        if stopped {
            return Err(OutOfSteps);
        }
        if !changed {
            break;
        }
    }
    Ok(expr)
}

/// The variables substituted since the last normal node: normal nodes that mention them are visited again.
#[derive(Clone, Copy)]
enum Fresh {
    Nothing,
    /// Variables that occur in terms only.
    Values,
    /// Also some that may occur in the sizes of any type.
    Sizes,
}

impl Fresh {
    /// With one more variable.
    fn with(self, var: &Var) -> Fresh {
        match (self, var.ty()) {
            (Fresh::Sizes, _) | (_, Type::Index(_) | Type::Bool) => Fresh::Sizes,
            (_, Type::Double | Type::Array(..) | Type::Tuple(_) | Type::Rec(_)) => Fresh::Values,
        }
    }
}

struct Pass<'a> {
    rules: &'a mut Candidates,
    lets: LetRules,
    facts: &'a mut Facts,
    budget: &'a mut Budget,
    log: &'a mut Log,
    /// The values of variables whose lets were removed, and how often each was used. Binders are unique, so one table is enough.
    table: FxHashMap<Var, (Expr, u32)>,
    /// The mark of nodes in normal form.
    normal: u32,
    /// Operands whose lets and checks float out together with those of the enclosing terms.
    fronted: FxHashMap<usize, Expr>,
    /// How many terms with conditions were left as they are, whatever is known around them now.
    skipped: usize,
    /// The term that is visited next is an operand of one that is looked at afterwards.
    operand: bool,
    /// Inside a `dual`.
    frozen: usize,
    /// Some rule is the user's own: its left side may be an atom.
    atoms: bool,
    /// Rewrites whose results are being visited.
    nested: usize,
    changed: bool,
    stopped: bool,
}

impl<'a> Pass<'a> {
    fn new(rules: &'a mut Candidates, facts: &'a mut Facts, budget: &'a mut Budget, log: &'a mut Log) -> Pass<'a> {
        Pass {
            lets: rules.lets,
            atoms: rules.rules.iter().any(|rule| rule.part == Part::User),
            rules,
            facts,
            budget,
            log,
            table: FxHashMap::default(),
            normal: fresh_id(),
            fronted: FxHashMap::default(),
            skipped: 0,
            operand: false,
            frozen: 0,
            nested: 0,
            changed: false,
            stopped: false,
        }
    }

    /// The normal form.
    fn visit(&mut self, expr: &Expr, fresh: Fresh) -> Expr {
        let operand = std::mem::take(&mut self.operand);
        let normal = expr.is_marked(self.normal);
        if normal && !self.is_touched(expr, fresh) || self.stopped {
            self.skipped += usize::from(expr.has_conditions());
            return expr.clone();
        }
        self.budget.visited += 1;
        let skipped = self.skipped;
        let new = match expr.term() {
            Term::Var(var) => return self.at_atom(var.clone(), expr),
            Term::Double(_) | Term::Index(_) | Term::Bool(_) if self.atoms => return self.try_rules(expr.clone()),
            Term::Double(_) | Term::Index(_) | Term::Bool(_) => return expr.clone(),
            Term::Let(x, value, body) if self.frozen == 0 => return self.visit_let(expr, x, value, body, fresh),
            Term::Let(x, value, body) => {
                let value = self.visit(value, fresh);
                let (x, fresh) = self.bound(x, value.ty(), fresh);
                let body = self.visit(body, fresh);
                expr.rebuilt(&[&x], &[&value, &body], || Expr::let_(x.clone(), value.clone(), body.clone()))
            }
            Term::If(c, a, b) => self.visit_if(expr, c, a, b, fresh),
            Term::Check { cond, status, body } => {
                let cond = self.visit(cond, fresh);
                let mark = self.facts.mark();
                self.facts.assume(&cond, true);
                let body = self.visit(body, fresh);
                self.facts.back_to(mark);
                expr.rebuilt(&[], &[&cond, &body], || Expr::check(cond.clone(), *status, body.clone()))
            }
            Term::Prim(prim @ (Prim::And | Prim::Or), args) => {
                let [a, b] = args.as_slice() else { return expr.clone() };
                let a = self.visit(a, fresh);
                let mark = self.facts.mark();
                self.facts.assume(&a, *prim == Prim::And);
                let b = self.visit(b, fresh);
                self.facts.back_to(mark);
                expr.rebuilt(&[], &[&a, &b], || Expr::prim(*prim, vec![a.clone(), b.clone()]))
            }
            Term::Build { n, i, body } => {
                let n = self.visit(n, fresh);
                let (i, fresh) = self.counted(i, &n, fresh);
                let mark = self.facts.mark();
                self.facts.enter_loop(&i, &n);
                let body = self.visit(body, fresh);
                self.facts.back_to(mark);
                expr.rebuilt(&[&i], &[&n, &body], || Expr::build_with(n.clone(), i.clone(), body.clone()))
            }
            Term::Fold { n, acc, i, body, init } => {
                let init = self.visit(init, fresh);
                let n = self.visit(n, fresh);
                let (acc, fresh) = self.carried(acc, init.ty(), body.ty(), fresh);
                let (i, fresh) = self.counted(i, &n, fresh);
                let mark = self.facts.mark();
                self.facts.enter_accumulator(&acc);
                self.facts.enter_loop(&i, &n);
                let body = self.visit(body, fresh);
                self.facts.back_to(mark);
                let new = || Expr::fold_with(n.clone(), acc.clone(), i.clone(), body.clone(), init.clone());
                expr.rebuilt(&[&acc, &i], &[&init, &n, &body], new)
            }
            Term::While { state, init, body } => {
                let init = self.visit(init, fresh);
                let next = if let Type::Tuple(parts) = body.ty() { parts.last().unwrap_or(body.ty()) } else { body.ty() };
                let (state, fresh) = self.carried(state, init.ty(), next, fresh);
                let mark = self.facts.mark();
                self.facts.enter_accumulator(&state);
                let body = self.visit(body, fresh);
                self.facts.back_to(mark);
                expr.rebuilt(&[&state], &[&init, &body], || Expr::while_(state.clone(), init.clone(), body.clone()))
            }
            Term::Dual { x, at, tangent, body } => {
                let (at, tangent) = (self.visit(at, fresh), self.visit(tangent, fresh));
                let (x, fresh) = self.bound(x, at.ty(), fresh);
                self.frozen += 1;
                let body = self.visit(body, fresh);
                self.frozen -= 1;
                let new = || Expr::dual(x.clone(), at.clone(), tangent.clone(), body.clone());
                expr.rebuilt(&[&x], &[&at, &tangent, &body], new)
            }
            Term::Vjp { x, at, cotangent, body } => {
                let (at, cotangent) = (self.visit(at, fresh), self.visit(cotangent, fresh));
                let (x, fresh) = self.bound(x, at.ty(), fresh);
                self.frozen += 1;
                let body = self.visit(body, fresh);
                self.frozen -= 1;
                let new = || Expr::vjp(x.clone(), at.clone(), cotangent.clone(), body.clone());
                expr.rebuilt(&[&x], &[&at, &cotangent, &body], new)
            }
            Term::Call(name, args) => {
                let args: Vec<Expr> = args.iter().map(|arg| self.visit(arg, fresh)).collect();
                let new = || Expr::with_type(Term::Call(name.clone(), args.clone()), self.ty(expr.ty()), expr.span());
                expr.rebuilt(&[], &args.iter().collect::<Vec<_>>(), new)
            }
            Term::Array(items) => {
                let element = self.ty(expr.ty().element().unwrap_or(&Type::Double));
                let items: Vec<Expr> = items.iter().map(|item| self.visit(item, fresh)).collect();
                expr.rebuilt(&[], &items.iter().collect::<Vec<_>>(), || Expr::array(element, items.clone()))
            }
            Term::Prim(..) | Term::Get(..) | Term::Dim(..) | Term::Tuple(_) | Term::Proj(..) | Term::Update(..) | Term::Iso(..) => {
                map_children(expr, &mut |child| {
                    self.operand = true;
                    self.visit(child, fresh)
                })
            }
        };
        if normal && new.is_same(expr) {
            self.skipped += usize::from(expr.has_conditions());
            return new;
        }
        self.facts.decided = (self.skipped == skipped).then(|| new.address());
        if self.lets.float && self.frozen == 0 && self.is_fronted(&new) {
            if operand {
                self.fronted.insert(new.address(), new.clone());
                return new;
            }
            let floated = floated(&new);
            self.step("let-float", &new, || floated.clone());
            return self.visit(&floated, Fresh::Nothing);
        }
        self.operand = operand;
        self.try_rules(new)
    }

    /// Whether something in the term must be replaced.
    fn is_touched(&self, expr: &Expr, fresh: Fresh) -> bool {
        match fresh {
            Fresh::Nothing => false,
            Fresh::Values => any_free_var(expr, &mut |var| self.table.contains_key(var)),
            Fresh::Sizes => {
                any_free_var(expr, &mut |var| self.table.contains_key(var))
                    || any_var_in_types(expr, &mut |var| self.table.contains_key(var))
            }
        }
    }

    /// Whether lets or checks stand in front of an operand, or of one of its own.
    fn is_fronted(&self, expr: &Expr) -> bool {
        let is_strict = strict_operands(expr);
        let is_front =
            |expr: &Expr| matches!(expr.term(), Term::Let(..) | Term::Check { .. }) || self.fronted.contains_key(&expr.address());
        // an update of an array stays after the operands that may read it
        let stays = |at: usize, child: &Expr| child.has_updates() && expr.term().children().take(at).any(|before| !is_free(before));
        expr.term().children().enumerate().any(|(at, child)| is_strict(at) && is_front(child) && !stays(at, child))
    }

    /// Rules at the root of a term whose subterms are normal.
    fn try_rules(&mut self, expr: Expr) -> Expr {
        let operand = std::mem::take(&mut self.operand);
        if self.frozen > 0 || self.stopped {
            return expr;
        }
        for rule in self.rules.for_form_of(&expr).iter() {
            if let Some(after) = rule.apply(&expr, self.facts) {
                self.stopped |= self.budget.step(rule, self.facts).is_err();
                self.changed = true;
                self.log.step(rule.name, &expr, || after.clone());
                if rule.head == Head::Call {
                    self.facts.nodes += after.node_count();
                }
                self.nested += 1;
                self.stopped |= self.nested > NESTED_STEPS;
                self.operand = operand;
                let normal = self.visit(&after, Fresh::Nothing);
                self.nested -= 1;
                return normal;
            }
        }
        expr.mark(self.normal);
        expr
    }

    fn step(&mut self, rule: &'static str, before: &Expr, after: impl FnOnce() -> Expr) {
        self.count();
        self.log.step(rule, before, after);
    }

    fn count(&mut self) {
        self.changed = true;
        self.budget.steps += 1;
        self.stopped |= self.budget.steps > self.budget.step_limit;
    }

    fn at_atom(&mut self, var: Var, expr: &Expr) -> Expr {
        let value = self.occurrence(&var, expr);
        if self.atoms && value.is_same(expr) { self.try_rules(value) } else { value }
    }

    fn occurrence(&mut self, var: &Var, expr: &Expr) -> Expr {
        let Some((value, used)) = self.table.get_mut(var) else { return expr.clone() };
        *used += 1;
        let again = *used > 1;
        let value = value.clone();
        if value.is_atom() {
            return value.at(expr.span());
        }
        // not visited in this scope
        self.skipped += usize::from(value.has_conditions());
        if !again || is_free(&value) {
            return value;
        }
        // a copy of a normal term is normal, but its nodes are new: the next pass finds them so
        freshen(&value)
    }

    fn visit_if(&mut self, expr: &Expr, c: &Expr, a: &Expr, b: &Expr, fresh: Fresh) -> Expr {
        let c = self.visit(c, fresh);
        if let Term::Bool(value) = c.term()
            && self.lets.known
        {
            let (rule, taken) = if *value { ("if-true", a) } else { ("if-false", b) };
            self.step(rule, expr, || taken.clone());
            return self.visit(taken, fresh);
        }
        let mark = self.facts.mark();
        self.facts.assume(&c, true);
        let equation = if self.lets.assume && self.frozen == 0 { self.facts.equality(&c) } else { None };
        let equation = equation.filter(|(i, _)| matches!(i.ty(), Type::Index(_)));
        let a = match equation {
            Some((i, k)) => {
                let outside = self.table.insert(i.clone(), (k.clone(), 0));
                let branch = a;
                let a = self.visit(a, fresh.with(&i));
                let inside = match outside {
                    Some(outside) => self.table.insert(i.clone(), outside),
                    None => self.table.remove(&i),
                };
                if inside.is_some_and(|(_, used)| used > 0) {
                    self.step("if-assume", expr, || Expr::if_(c.clone(), substitute(branch, &[(i, k)]), b.clone()));
                }
                a
            }
            None => self.visit(a, fresh),
        };
        self.facts.back_to(mark);
        self.facts.assume(&c, false);
        let b = self.visit(b, fresh);
        self.facts.back_to(mark);
        expr.rebuilt(&[], &[&c, &a, &b], || Expr::if_(c.clone(), a.clone(), b.clone()))
    }

    /// The binder with substituted sizes in its type, those of its value where it had unknown ones; and
    /// whether what it scopes over must be looked at again.
    fn bound(&mut self, var: &Var, value: &Type, fresh: Fresh) -> (Var, Fresh) {
        let ty = self.ty(var.ty());
        let ty = if has_unknown(&ty) && !has_unknown(value) && ty.same_shape(value) { value.clone() } else { ty };
        self.retype(var, ty, fresh)
    }

    /// As [`Self::bound`], for what a loop carries: where a step gives other lengths, as in the data of a sum type, those of the first
    /// value say nothing.
    fn carried(&mut self, var: &Var, init: &Type, next: &Type, fresh: Fresh) -> (Var, Fresh) {
        let (own, first, next) = (var.ty().lengths(), init.lengths(), next.lengths());
        let keeps = own.iter().zip(first.iter().zip(&next)).all(|(own, (first, next))| !own.has_unknown() || next == own || next == first);
        if keeps { self.bound(var, init, fresh) } else { self.bound(var, var.ty(), fresh) }
    }

    /// A loop's variable: bounded by the count, where that is a size.
    fn counted(&mut self, i: &Var, n: &Expr, fresh: Fresh) -> (Var, Fresh) {
        let ty = match Size::try_of_expr(n) {
            Some(bound) => Type::Index(Some(bound)),
            None => self.ty(i.ty()),
        };
        self.retype(i, ty, fresh)
    }

    fn retype(&mut self, var: &Var, ty: Type, fresh: Fresh) -> (Var, Fresh) {
        if &ty == var.ty() {
            return (var.clone(), fresh);
        }
        let new = var.retyped(ty);
        self.table.insert(var.clone(), (Expr::var(&new), 0));
        (new, fresh.with(var))
    }

    fn ty(&self, ty: &Type) -> Type {
        if self.table.is_empty() {
            return ty.clone();
        }
        ty.map_sizes(&mut |size| {
            let mut touched = false;
            size.each_var(&mut |var| touched |= self.table.contains_key(var));
            if !touched {
                return size.clone();
            }
            size.substitute(&mut |atom| match atom {
                Atom::Var(var) => self.table.get(var).map(|(value, _)| Size::of_expr(value)),
                Atom::Term(_) | Atom::Unknown(_) => None,
            })
        })
    }
}

fn has_unknown(ty: &Type) -> bool {
    let mut found = false;
    ty.each_size(&mut |size| found |= size.has_unknown());
    found
}
