//! Questions about sizes: `0 <= i < n?`, `n > 0?`, `are these equal?`, `is this condition known?`
//!
//! In: the assumptions of the enclosing scopes (loops, lets of Indexes, conditions), called lessons. Out: yes or no, by
//! `ir::prove`. Consequences of a lesson are computed lazily, at the first question in its scope; a question without a proof is
//! not repeated while no lesson about its variables is added.
//!
//!     build(n, i. if i < m then v[i] …)     two lessons: the loop, and i < m

use std::cell::{OnceCell, RefCell};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::ir::free::each_free_var;
use crate::ir::{Expr, Prim, Size, Term, Type, Var, prove};
use crate::rewrite::alike::same;

use super::{Fact, Facts, compares_indices};

/// What one scope adds to what is known of sizes, with the questions that were asked there. Most scopes are left
/// without a question, so what follows from a lesson is worked out at the first.
#[derive(Clone, Debug)]
pub(super) struct Known {
    lesson: Lesson,
    facts: OnceCell<prove::Facts>,
    answers: RefCell<FxHashMap<Asked, bool>>,
}

pub(super) type Asked = (Question, Size, Size);

#[derive(Clone, Debug)]
pub(super) enum Lesson {
    Function(prove::Facts),
    Assume(Expr, bool),
    Define(Var, Expr),
    Loop(Var, Expr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    Equal,
    Less,
    AtMost,
}

impl Lesson {
    /// The variables that it says something of, beside what their types do, and a fingerprint.
    fn about(&self) -> (Vec<Var>, u64) {
        let (mut vars, mut hasher) = (Vec::new(), FxHasher::default());
        match self {
            Lesson::Assume(cond, value) => {
                each_free_var(cond, &mut |var| vars.push(var.clone()));
                (cond.fingerprint(), *value).hash(&mut hasher);
            }
            Lesson::Define(var, value) => {
                each_free_var(value, &mut |var| vars.push(var.clone()));
                vars.push(var.clone());
                (value.fingerprint(), var).hash(&mut hasher);
            }
            // inside, the count is positive
            Lesson::Loop(_, n) => {
                each_free_var(n, &mut |var| vars.push(var.clone()));
                n.fingerprint().hash(&mut hasher);
            }
            Lesson::Function(_) => {}
        }
        (vars, hasher.finish())
    }
}

impl Facts {
    pub(super) fn learn(&mut self, lesson: Lesson) {
        let (vars, fingerprint) = lesson.about();
        for var in vars {
            let lessons = self.lessons.entry(var).or_default();
            let mut hasher = FxHasher::default();
            (lessons.last(), fingerprint).hash(&mut hasher);
            lessons.push(hasher.finish());
        }
        self.sizes.push(Known { lesson, facts: OnceCell::new(), answers: RefCell::default() });
    }

    /// Goes back to so many lessons.
    pub(super) fn forget(&mut self, lessons: usize) {
        for known in self.sizes.drain(lessons..) {
            for var in known.lesson.about().0 {
                if let Some(lessons) = self.lessons.get_mut(&var) {
                    lessons.pop();
                }
            }
        }
    }

    /// What is known of sizes after so many lessons.
    fn known(&self, lessons: usize) -> Option<&prove::Facts> {
        let known = self.sizes.get(lessons.checked_sub(1)?)?;
        Some(known.facts.get_or_init(|| {
            let mut facts = self.known(lessons - 1).cloned().unwrap_or_default();
            match &known.lesson {
                Lesson::Function(given) => facts = given.clone(),
                Lesson::Assume(cond, value) => facts.assume(cond, *value),
                Lesson::Define(var, value) => facts.define(var, value),
                Lesson::Loop(i, n) => facts.enter_loop(i, n),
            }
            facts
        }))
    }

    fn prove(&self, question: Question, a: &Size, b: &Size) -> bool {
        let ask = |facts: &prove::Facts| match question {
            Question::Equal => facts.equal(a, b),
            Question::Less => facts.less(a, b),
            Question::AtMost => facts.at_most(a, b),
        };
        if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
            return match question {
                Question::Equal => a == b,
                Question::Less => a < b,
                Question::AtMost => a <= b,
            };
        }
        let Some(known) = self.sizes.last() else { return ask(&prove::Facts::default()) };
        let key = (question, a.clone(), b.clone());
        if let Some(answer) = known.answers.borrow().get(&key) {
            return *answer;
        }
        let asked = (key.clone(), self.about(a, b));
        let answer = !self.refuted.borrow().contains(&asked) && self.known(self.sizes.len()).is_some_and(ask);
        if !answer {
            self.refuted.borrow_mut().insert(asked);
        }
        known.answers.borrow_mut().insert(key, answer);
        answer
    }

    /// A fingerprint of the lessons that mention what two sizes mention.
    fn about(&self, a: &Size, b: &Size) -> u64 {
        let mut hasher = FxHasher::default();
        for size in [a, b] {
            size.each_var(&mut |var| self.lessons.get(var).and_then(|lessons| lessons.last()).hash(&mut hasher));
        }
        hasher.finish()
    }

    /// Whether some condition or let around says something of a variable.
    fn is_known(&self, var: &Var) -> bool {
        self.lessons.get(var).is_some_and(|lessons| !lessons.is_empty())
    }

    pub fn same_size(&self, a: &Size, b: &Size) -> bool {
        a == b || self.prove(Question::Equal, a, b)
    }

    /// Whether `0 <= index < n`.
    pub fn in_range(&self, index: &Expr, n: &Size) -> bool {
        if let Type::Index(Some(bound)) = index.ty()
            && self.same_size(bound, n)
        {
            return true;
        }
        Size::try_of_expr(index).is_some_and(|index| self.prove(Question::Less, &index, n) && self.non_negative(&index))
    }

    /// Whether the one is at most the other whenever this place is reached.
    pub fn at_most(&self, a: &Size, b: &Size) -> bool {
        self.prove(Question::AtMost, a, b)
    }

    /// Whether the size is at least 0 whenever this place is reached.
    pub fn non_negative(&self, n: &Size) -> bool {
        self.at_most(&Size::constant(0), n)
    }

    /// Whether the size is at least 1 whenever this place is reached.
    pub fn positive(&self, n: &Size) -> bool {
        self.prove(Question::Less, &Size::constant(0), n)
    }

    /// Whether the machine computes the size without wrapping.
    pub fn never_wraps(&self, size: &Size) -> bool {
        match self.known(self.sizes.len()) {
            Some(facts) => facts.never_wraps(size),
            None => prove::Facts::default().never_wraps(size),
        }
    }

    /// The value of a condition, where the surroundings fix it.
    pub fn decide(&self, cond: &Expr) -> Option<bool> {
        if let Term::Bool(value) = cond.term() {
            return Some(*value);
        }
        let alike = self.conditions.get(&cond.fingerprint()).into_iter().flatten();
        let known = alike.filter_map(|at| self.facts.get(*at)).find_map(|fact| match fact {
            Fact::Is(known, value) if same(known, cond) => Some(*value),
            Fact::Is(..) | Fact::Let(..) | Fact::Loop(_) | Fact::Bound(_) | Fact::Accumulator(_) => None,
        });
        if known.is_some() {
            return known;
        }
        let Term::Prim(prim, args) = cond.term() else { return None };
        match (prim, args.as_slice()) {
            (Prim::Not, [a]) => self.decide(a).map(|value| !value),
            (Prim::And, [a, b]) => match (self.decide(a), self.decide(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                (None | Some(true), None) | (None, Some(true)) => None,
            },
            (Prim::Or, [a, b]) => match (self.decide(a), self.decide(b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                (None | Some(false), None) | (None, Some(false)) => None,
            },
            (Prim::Eq | Prim::Ne, [a, b]) if self.may_agree(a, b) || self.may_agree(b, a) => None,
            (_, [a, b]) if compares_indices(cond) => self.compare(*prim, &Size::try_of_expr(a)?, &Size::try_of_expr(b)?),
            _ => None,
        }
    }

    /// Whether the first is a loop's variable of which nothing more is known, and the second such a variable or a number
    /// in its range: no proof will tell them apart.
    fn may_agree(&self, i: &Expr, other: &Expr) -> bool {
        let free_bound = |e: &Expr| {
            let (Term::Var(var), Type::Index(bound)) = (e.term(), e.ty()) else { return None };
            (!self.is_known(var) && matches!(self.fact(var), Some(Fact::Loop(_)))).then(|| bound.clone())
        };
        let Some(bound) = free_bound(i) else { return false };
        match (other.term(), bound.and_then(|bound| bound.as_constant())) {
            (Term::Index(k), Some(n)) => (0..n).contains(k),
            (Term::Index(k), None) => *k == 0,
            (Term::Var(j), _) => !matches!(i.term(), Term::Var(i) if i == j) && free_bound(other).is_some(),
            _ => false,
        }
    }

    fn compare(&self, prim: Prim, a: &Size, b: &Size) -> Option<bool> {
        let same = || self.same_size(a, b);
        let less = |a: &Size, b: &Size| self.prove(Question::Less, a, b);
        let at_most = |a: &Size, b: &Size| self.at_most(a, b);
        // different constants apart: different also modulo 2^64
        let apart = || a.sub(b).as_constant().is_some_and(|gap| gap != 0) || less(a, b) || less(b, a);
        let decided = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
        match prim {
            Prim::Eq => decided(same(), apart()),
            Prim::Ne => decided(apart(), same()),
            Prim::Lt => decided(less(a, b), same() || at_most(b, a)),
            Prim::Le => decided(same() || at_most(a, b), less(b, a)),
            Prim::Gt => decided(less(b, a), same() || at_most(a, b)),
            Prim::Ge => decided(same() || at_most(b, a), less(a, b)),
            _ => None,
        }
    }
}
