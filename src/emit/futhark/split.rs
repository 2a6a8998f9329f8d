//! Long functions in parts: Futhark's compiler takes quadratic time and memory in the lets of one function, a second for 125 and 38 for
//! a thousand.
//!
//! In: a program. Out: the same with functions cut: behind 25 lets where few variables are read from there on, and of the places behind
//! 50 to 150 lets at the one with the fewest in any case. What comes after is a function of its own, of those variables, called where
//! it was.
//!
//!     let x1 = … in … let x25 = … in rest   →   let x1 = … in … let x25 = … in f_part x24 x25

use std::collections::HashSet;

use super::outline::{Parts, rewritten};
use crate::ir::free::each_free_var;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Program, Term, Var};

/// A function of so many lets, nested ones included, is one,
const SHORT: usize = 25;

/// and a longer one is cut where no more variables than these are read from there on.
const FEW: usize = 12;

/// The lets that a function may have in any case,
const MOST: usize = 150;

/// and those that come before a cut that many variables cross.
const FEWEST: usize = 50;

/// The program with no function of more lets than Futhark takes quickly.
pub fn split(program: &Program) -> Program {
    rewritten(program, |parts, body| parts.shorten(body, &mut 0))
}

impl Parts<'_> {
    /// The term with no more lets beyond `count` than a function may have; what is cut off has become parts.
    fn shorten(&mut self, expr: &Expr, count: &mut usize) -> Expr {
        if *count + lets(expr) <= SHORT {
            *count += lets(expr);
            return expr.clone();
        }
        match expr.term() {
            Term::Let(..) => self.shorten_from(&Chain::of(expr), 0, count),
            _ => map_children(expr, &mut |child| self.shorten(child, count)),
        }
    }

    /// What a chain is from this let on.
    fn shorten_from(&mut self, chain: &Chain, first: usize, count: &mut usize) -> Expr {
        let mut kept = Vec::new();
        let mut rest = None;
        for at in first..chain.lets.len() {
            kept.push(self.shorten(chain.lets[at].value, count));
            *count += 1;
            if chain.is_cut_behind(at, *count) {
                let part = self.shorten_from(chain, at + 1, &mut 0);
                rest = Some(self.outline("part", &format!("The end of {}.", self.of.name), part));
                break;
            }
        }
        let rest = rest.unwrap_or_else(|| self.shorten(chain.end, count));
        let names = chain.lets[first..].iter().zip(kept).rev();
        names.fold(rest, |body, (link, value)| Expr::let_(link.var.clone(), value, body).at(link.whole.span()))
    }
}

/// Lets, one behind the other, and what comes after them.
struct Chain<'a> {
    lets: Vec<Link<'a>>,
    end: &'a Expr,
}

struct Link<'a> {
    whole: &'a Expr,
    var: &'a Var,
    value: &'a Expr,
    /// How many variables are read behind it.
    live: usize,
    /// Its lets, and those behind it.
    own: usize,
    behind: usize,
}

impl Chain<'_> {
    fn of(expr: &Expr) -> Chain<'_> {
        let mut chain = Chain { lets: Vec::new(), end: expr };
        while let Term::Let(var, value, body) = chain.end.term() {
            chain.lets.push(Link { whole: chain.end, var, value, live: 0, own: 1 + lets(value), behind: 0 });
            chain.end = body;
        }
        let (mut live, mut behind) = (HashSet::new(), lets(chain.end));
        let read = |expr: &Expr, live: &mut HashSet<Var>| {
            each_free_var(expr, &mut |var| {
                live.insert(var.clone());
            });
        };
        read(chain.end, &mut live);
        for link in chain.lets.iter_mut().rev() {
            (link.live, link.behind) = (live.len(), behind);
            behind += link.own;
            live.remove(link.var);
            read(link.value, &mut live);
        }
        chain
    }

    /// Whether a part begins behind this let, when there were so many.
    fn is_cut_behind(&self, at: usize, count: usize) -> bool {
        let link = &self.lets[at];
        if at + 1 == self.lets.len() || count + link.behind <= SHORT {
            return false;
        }
        if count >= SHORT && link.live <= FEW {
            return true;
        }
        if count < FEWEST || count + link.behind <= MOST {
            return false;
        }
        let mut reached = count;
        let later = self.lets[at + 1..self.lets.len() - 1].iter().take_while(|later| {
            reached += later.own;
            reached <= MOST
        });
        later.into_iter().all(|later| link.live <= later.live)
    }
}

fn lets(expr: &Expr) -> usize {
    let own = usize::from(matches!(expr.term(), Term::Let(..)));
    own + expr.term().children().map(lets).sum::<usize>()
}
