//! Long functions in parts: Futhark's type checker takes quadratic time and memory in the lets of one function.
//!
//! In: a program. Out: the same with every chain of more than 25 lets cut: what comes after the first 25 is a function
//! of its own, of the variables that it reads, called where it was.
//!
//!     let x1 = … in … let x25 = … in rest   →   let x1 = … in … let x25 = … in f_part x24 x25

use super::outline::{Parts, rewritten};
use crate::ir::subst::map_children;
use crate::ir::{Expr, Program, Term};

/// The lets that a function may have, nested ones included.
const LETS: usize = 25;

/// The program with no function of more lets than Futhark can take.
pub fn split(program: &Program) -> Program {
    rewritten(program, |parts, body| parts.shorten(body, &mut 0))
}

impl Parts<'_> {
    /// The term with at most [`LETS`] lets beyond `count`; inner terms first, which may become parts themselves.
    fn shorten(&mut self, expr: &Expr, count: &mut usize) -> Expr {
        match expr.term() {
            Term::Let(x, value, body) => {
                let value = self.shorten(value, count);
                *count += 1;
                if *count < LETS || !matches!(body.term(), Term::Let(..)) {
                    let body = self.shorten(body, count);
                    return Expr::let_(x.clone(), value, body).at(expr.span());
                }
                let mut inner = 0;
                let rest = self.shorten(body, &mut inner);
                let body = self.outline("part", &format!("The end of {}.", self.of.name), rest);
                Expr::let_(x.clone(), value, body).at(expr.span())
            }
            _ => map_children(expr, &mut |child| self.shorten(child, count)),
        }
    }
}
