//! Sets of rules for the engine: the `let` rules that it implements itself, and the others indexed by the forms that they match.
//!
//! In: the rules of a strategy. Out: for a term, those of its [`Form`] in their order; they are picked out when the first term of a
//! form is met, and kept from one function and phase to the next.
//!
//!     let-inline <+ mul-one <+ add-zero, asked for a + b     →   none: no literal is added
//!
//! Limits: a form describes a term and its first subterms only.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ir::Expr;
use crate::rewrite::form::Form;
use crate::rewrite::rule::Rule;

/// Sets of rules, by the addresses of these.
#[derive(Default)]
pub struct RuleSets(FxHashMap<Vec<usize>, Candidates>);

impl RuleSets {
    pub fn of(&mut self, rules: &[&'static Rule]) -> &mut Candidates {
        self.0.entry(rules.iter().map(|rule| std::ptr::from_ref(*rule).addr()).collect()).or_insert_with(|| Candidates::of(rules))
    }
}

/// The rules of a set by what they may fire on.
pub struct Candidates {
    /// Those that the engine does not carry out itself.
    pub rules: Vec<&'static Rule>,
    pub lets: LetRules,
    /// Filled as forms are met.
    by_form: FxHashMap<Form, Rc<[&'static Rule]>>,
}

impl Candidates {
    pub fn of(rules: &[&'static Rule]) -> Candidates {
        let has = |name: &str| rules.iter().any(|rule| rule.name == name);
        let lets = LetRules {
            inline: has("let-inline"),
            dead: has("let-dead"),
            flatten: has("let-flatten"),
            split: has("let-split"),
            float: has("let-float"),
            merge: has("let-merge"),
            assume: has("if-assume"),
            known: has("if-true") && has("if-false"),
            fuse: has("get-build"),
        };
        let own = ["let-inline", "let-dead", "let-flatten", "let-split", "let-float", "let-merge"];
        let rules = rules.iter().filter(|rule| !own.contains(&rule.name)).copied().collect();
        Candidates { rules, lets, by_form: FxHashMap::default() }
    }

    /// The rules that may fire on terms of this form, in their order.
    pub fn for_form_of(&mut self, expr: &Expr) -> Rc<[&'static Rule]> {
        let find = || self.rules.iter().filter(|rule| rule.looks_at(expr)).copied().collect();
        self.by_form.entry(Form::of(expr)).or_insert_with(find).clone()
    }
}

/// The rules about `let` that the engine carries out itself.
#[derive(Clone, Copy, Default)]
pub struct LetRules {
    pub inline: bool,
    pub dead: bool,
    pub flatten: bool,
    pub split: bool,
    pub float: bool,
    pub merge: bool,
    pub assume: bool,
    pub known: bool,
    pub fuse: bool,
}
