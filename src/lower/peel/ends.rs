//! Where a loop's conditions change: how many iterations at its ends differ from those between.
//!
//! In: the body of a loop. Out: the ends, and for a condition whether it holds in all iterations of a part of the loop.
//!
//!     0 <= k with k = i - 1, for i < n     holds from i = 1 on: the first iteration is an end
//!     i < n - 1                            holds up to i = n - 2: the last one is

use std::collections::HashMap;

use crate::ir::Prim;

use super::super::program::*;
use super::LONGEST_END;

/// How many iterations the ends of a loop have, and what names in its body stand for.
pub struct Ends {
    i: Id,
    count: Linear,
    named: HashMap<Id, Value>,
    pub first: i64,
    pub last: i64,
}

/// Some iterations of a loop.
#[derive(Clone, Copy)]
pub enum Region {
    /// The first one.
    First,
    /// All but so many first and last ones.
    Between { first: i64, last: i64 },
    /// The last one, which is none of so many first ones.
    Last { first: i64 },
}

/// An index: a number, or the loop's count and a number.
#[derive(Clone, Copy)]
enum Cut {
    Low(i64),
    High(i64),
}

/// What a condition says of the loop's index.
enum Test {
    /// It is the cut or higher; or else, if `yes` is false, lower.
    From(Cut, bool),
    /// It is the cut; or else not.
    At(Cut, bool),
}

impl Ends {
    pub fn of(locals: &[Local], i: Id, count: &Value, body: &Block) -> Ends {
        let mut named = HashMap::new();
        collect_names(locals, body, &mut named);
        let count = Linear::of(count, &named);
        let mut ends = Ends { i, count, named, first: 0, last: 0 };
        ends.visit_innermost(body);
        ends
    }

    /// What is asked outside of the loops inside takes no time beside them.
    fn visit_innermost(&mut self, block: &Block) {
        let is_innermost = !block.iter().any(has_loop);
        if is_innermost {
            return self.visit(block);
        }
        for stmt in block {
            stmt.blocks().filter(|_| has_loop(stmt)).for_each(|inner| self.visit_innermost(inner));
        }
    }

    fn visit(&mut self, block: &Block) {
        for stmt in block {
            match stmt {
                Stmt::Declare { init: Some(value), .. } | Stmt::Assign { value, .. } => self.choices(value),
                Stmt::If { cond, .. } => self.note(cond),
                _ => {}
            }
            stmt.blocks().for_each(|inner| self.visit(inner));
        }
    }

    /// The conditions of choices between more than numbers and names: those cost nothing.
    fn choices(&mut self, value: &Value) {
        let is_atom = |value: &Value| matches!(value, Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_));
        match value {
            Value::Select(parts) => {
                let [cond, a, b] = &parts[..] else { return };
                if !is_atom(a) || !is_atom(b) {
                    self.note(cond);
                }
                parts.iter().for_each(|part| self.choices(part));
            }
            Value::Prim { args, .. } | Value::Helper(_, args) => args.iter().for_each(|arg| self.choices(arg)),
            _ => {}
        }
    }

    fn note(&mut self, cond: &Value) {
        let (first, last) = match self.test(cond) {
            Some(Test::From(Cut::Low(at), _)) => (at, 0),
            Some(Test::From(Cut::High(at), _)) => (0, at.saturating_neg()),
            Some(Test::At(Cut::Low(at), _)) => (at.saturating_add(1), 0),
            Some(Test::At(Cut::High(at), _)) => (0, at.saturating_neg()),
            None => {
                if let Value::Prim { prim: Prim::And | Prim::Or | Prim::Not, args, .. } = cond {
                    args.iter().for_each(|arg| self.note(arg));
                }
                return;
            }
        };
        if first <= LONGEST_END && last <= LONGEST_END {
            self.first = self.first.max(first);
            self.last = self.last.max(last);
        }
    }

    fn test(&self, cond: &Value) -> Option<Test> {
        let Value::Prim { prim, elem: Elem::Index, args, .. } = cond else { return None };
        let [a, b] = args.as_slice() else { return None };
        if !matches!(prim, Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::Eq | Prim::Ne) {
            return None;
        }
        let distance = Linear::of(b, &self.named).minus(&Linear::of(a, &self.named));
        let sign = distance.factor(self.i);
        // b - a is sign * (i - zero)
        let mut zero = distance;
        zero.terms.retain(|(term, _)| *term != Value::Local(self.i));
        let zero = match sign {
            1 => Linear::default().minus(&zero),
            -1 => zero,
            _ => return None,
        };
        let cut = match (zero.constant_value(), zero.minus(&self.count).constant_value()) {
            (Some(at), _) => Cut::Low(at),
            (None, Some(at)) => Cut::High(at),
            (None, None) => return None,
        };
        let up = sign == 1;
        Some(match prim {
            Prim::Lt | Prim::Ge => {
                let yes = (*prim == Prim::Lt) == up;
                // a < b: i > zero, or i < zero
                Test::From(if up { cut.next() } else { cut }, yes)
            }
            Prim::Le | Prim::Gt => {
                let yes = (*prim == Prim::Le) == up;
                // a <= b: i >= zero, or i <= zero
                Test::From(if up { cut } else { cut.next() }, yes)
            }
            prim => Test::At(cut, *prim == Prim::Eq),
        })
    }

    /// Whether a condition holds in all iterations of a region, or in none.
    pub fn decide(&self, cond: &Value, region: Region) -> Option<bool> {
        let (is_it, yes) = match self.test(cond)? {
            Test::From(cut, yes) => (region.is_from(cut)?, yes),
            Test::At(cut, yes) => (region.is_at(cut)?, yes),
        };
        Some(is_it == yes)
    }
}

impl Cut {
    fn next(self) -> Cut {
        match self {
            Cut::Low(at) => Cut::Low(at.saturating_add(1)),
            Cut::High(at) => Cut::High(at.saturating_add(1)),
        }
    }
}

impl Region {
    fn is_from(self, cut: Cut) -> Option<bool> {
        match (self, cut) {
            (Region::First, Cut::Low(at)) => Some(at <= 0),
            (Region::Last { .. }, Cut::High(at)) => Some(at < 0),
            (Region::Between { first, .. } | Region::Last { first }, Cut::Low(at)) => (at <= first).then_some(true),
            (Region::First, Cut::High(at)) => (at >= 0).then_some(false),
            (Region::Between { last, .. }, Cut::High(at)) => (at >= -last).then_some(false),
        }
    }

    fn is_at(self, cut: Cut) -> Option<bool> {
        match (self, cut) {
            (Region::First, Cut::Low(at)) => Some(at == 0),
            (Region::Last { .. }, Cut::High(at)) => Some(at == -1),
            (Region::Between { first, .. } | Region::Last { first }, Cut::Low(at)) => (at < first).then_some(false),
            (Region::First, Cut::High(at)) => (at >= 0).then_some(false),
            (Region::Between { last, .. }, Cut::High(at)) => (at >= -last).then_some(false),
        }
    }
}

/// A sum of multiples of indices, and a number; of the arithmetic that cannot overflow.
#[derive(Clone, Debug, Default)]
pub struct Linear {
    constant: i64,
    terms: Vec<(Value, i64)>,
}

impl Linear {
    pub fn of(value: &Value, named: &HashMap<Id, Value>) -> Linear {
        Linear::within(value, named).unwrap_or_else(|| Linear { constant: 0, terms: vec![(value.clone(), 1)] })
    }

    fn within(value: &Value, named: &HashMap<Id, Value>) -> Option<Linear> {
        match value {
            Value::Index(constant) => Some(Linear { constant: *constant, terms: Vec::new() }),
            Value::Local(id) => named.get(id).and_then(|value| Linear::within(value, named)),
            Value::Prim { prim, elem: Elem::Index, plain: true, args } => match (prim, args.as_slice()) {
                (Prim::Add, [a, b]) => Linear::of(a, named).combined(&Linear::of(b, named), 1),
                (Prim::Sub, [a, b]) => Linear::of(a, named).combined(&Linear::of(b, named), -1),
                _ => None,
            },
            _ => None,
        }
    }

    /// This and so many times the other; `None` where a number is too large.
    fn combined(&self, other: &Linear, times: i64) -> Option<Linear> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(times)?)?;
        for (term, factor) in &other.terms {
            let factor = factor.checked_mul(times)?;
            match sum.terms.iter_mut().find(|(known, _)| known == term) {
                Some((_, known)) => *known = known.checked_add(factor)?,
                None => sum.terms.push((term.clone(), factor)),
            }
        }
        sum.terms.retain(|(_, factor)| *factor != 0);
        Some(sum)
    }

    /// The difference; of what is too large one that no test is made of.
    fn minus(&self, other: &Linear) -> Linear {
        self.combined(other, -1).unwrap_or_else(|| Linear { constant: 0, terms: vec![(Value::Bool(false), 1)] })
    }

    pub fn plus(mut self, more: i64) -> Linear {
        match self.constant.checked_add(more) {
            Some(constant) => self.constant = constant,
            None => self.terms.push((Value::Bool(false), 1)),
        }
        self
    }

    fn factor(&self, id: Id) -> i64 {
        self.terms.iter().find(|(term, _)| *term == Value::Local(id)).map_or(0, |(_, factor)| *factor)
    }

    fn constant_value(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// One index, and a number.
    pub fn beside(&self) -> Option<Value> {
        matches!(self.terms.as_slice(), [(Value::Local(_), 1)]).then(|| self.value()).flatten()
    }

    /// `n`, `n - 1`, `n - p`: what is added first, then what is taken away; `None` for multiples.
    pub fn value(&self) -> Option<Value> {
        let index = |prim, a: Value, b: Value| Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a, b] };
        let part = |wanted: i64| self.terms.iter().filter(move |(_, factor)| *factor == wanted).map(|(term, _)| term.clone());
        if self.terms.iter().any(|(term, factor)| !matches!(factor, 1 | -1) || matches!(term, Value::Bool(_))) {
            return None;
        }
        let mut sum = part(1).reduce(|a, b| index(Prim::Add, a, b))?;
        if self.constant > 0 {
            sum = index(Prim::Add, sum, Value::Index(self.constant));
        }
        sum = part(-1).fold(sum, |sum, term| index(Prim::Sub, sum, term));
        Some(if self.constant < 0 { index(Prim::Sub, sum, Value::Index(self.constant.checked_neg()?)) } else { sum })
    }
}

pub fn has_loop(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::For { .. }) || stmt.blocks().flatten().any(has_loop)
}

/// The Index constants of a block, its branches and loops.
fn collect_names(locals: &[Local], block: &Block, named: &mut HashMap<Id, Value>) {
    for stmt in block {
        match stmt {
            Stmt::Declare { id, init: Some(init @ Value::Prim { elem: Elem::Index, .. }) }
                if locals[*id].form == (Form::Scalar { mutable: false }) =>
            {
                named.insert(*id, init.clone());
            }
            stmt => stmt.blocks().for_each(|block| collect_names(locals, block, named)),
        }
    }
}
