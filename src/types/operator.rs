//! Operators: what they are for numbers, for arrays of Doubles, and for both together.
//!
//! In: an operator and its operands. Out: the type of what it gives; core: a primitive, a call of the library function that does
//! the same, or a `build`. `+`, `-`, `.*` and `./` have operands of one type. What `*` and `/` give depends on what both
//! operands are: where that is not known yet, they wait, until the end of the function at the latest. There they are for numbers.
//!
//!     M * (v + w)   →   matrixVectorMul M (vectorAdd v w)
//!     v / a         →   build(length v, i. v[i] / a)

use super::deferred::{Operand, Product, WaitingProduct};
use super::elaborate::{Elaborator, Result};
use super::holes::Holes;
use super::infer::{Infer, Scope, Typed};
use super::mentioned::FUNCTIONS;
use super::scope::{Arg, Instance};
use super::ty::{Class, Ty};
use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, Prim, Type};
use crate::source::Span;
use crate::syntax::ast::{self, BinOp};
use crate::syntax::infix;

/// What is known of an operand.
#[derive(Clone, Copy)]
enum Known {
    Nothing,
    /// A Double, or an integer literal that may be one.
    Number,
    Index,
    /// An array of Doubles and its rank, where that is known.
    Array(Option<usize>),
    Other,
}

fn known(holes: &Holes, ty: &Ty) -> Known {
    match holes.head(ty) {
        Ty::Double => Known::Number,
        Ty::Index(_) => Known::Index,
        Ty::Hole(id) => match holes.class(id) {
            Class::Number | Class::Scalar => Known::Number,
            Class::Any | Class::Sum | Class::Tensor => Known::Nothing,
        },
        Ty::Array(element, _) => match known(holes, &element) {
            Known::Array(rank) => Known::Array(rank.map(|rank| rank + 1)),
            Known::Number => Known::Array(Some(1)),
            Known::Nothing => Known::Array(None),
            Known::Index | Known::Other => Known::Other,
        },
        Ty::Bool | Ty::Tuple(_) | Ty::Record(..) | Ty::Rec(_) | Ty::Fun(..) => Known::Other,
    }
}

impl Infer<'_> {
    pub(super) fn binary(&mut self, op: BinOp, operands: [&ast::Expr; 2], span: Span, scope: &Scope) -> Typed {
        if !matches!(op, BinOp::Mul | BinOp::Div) {
            return self.primitive(super::builtin::Builtin::Operator(op), &operands, scope);
        }
        let [left, right] = operands.map(|operand| (operand.span, self.expr(operand, scope)));
        let value = match (op, left.1.value, right.1.value) {
            (BinOp::Mul, Some(a), Some(b)) => Some(a.mul(&b)),
            _ => None,
        };
        let product = Product { op, span, left: (left.0, left.1.ty), right: (right.0, right.1.ty) };
        Typed { ty: self.multiply(product), value }
    }

    /// The type of `(*)` or `(/)` as a function.
    pub(super) fn section(&mut self, op: BinOp, span: Span) -> Ty {
        let [left, right] = [(); 2].map(|()| self.fresh_type());
        let result = self.multiply(Product { op, span, left: (span, left.clone()), right: (span, right.clone()) });
        Ty::fun(vec![left, right], result)
    }

    fn multiply(&mut self, product: Product) -> Ty {
        if let Some(result) = self.decide(&product, None, false) {
            return result;
        }
        let result = self.fresh_type();
        self.products.push(WaitingProduct { product, result: result.clone() });
        result
    }

    /// Decides the products that can be, from the first on and from the last on: what is known goes either way.
    pub(super) fn settle_products(&mut self) {
        loop {
            let before = self.products.len();
            for _ in 0..2 {
                let mut waiting = std::mem::take(&mut self.products);
                waiting.reverse();
                waiting.retain(|waiting| !self.settle_product(waiting, false));
                self.products = waiting;
            }
            if self.products.len() == before || self.products.is_empty() {
                return;
            }
        }
    }

    /// At the end of a function: the products that it is generalised over are for numbers. Those before `mark` are of what is around
    /// it, and so are those of captured variables alone.
    pub(super) fn default_products(&mut self, mark: usize) {
        for waiting in self.products.split_off(mark.min(self.products.len())) {
            let operands = Ty::tuple(vec![waiting.product.left.1.clone(), waiting.product.right.1.clone()]);
            if self.holes.open(&operands).into_iter().any(|id| self.holes.level(id) > self.level) {
                self.settle_product(&waiting, true);
            } else {
                self.holes.lower(&waiting.result, self.level);
                self.products.push(waiting);
            }
        }
    }

    /// Whether it could be decided; `last`: it is.
    fn settle_product(&mut self, waiting: &WaitingProduct, last: bool) -> bool {
        let Some(found) = self.decide(&waiting.product, Some(&waiting.result), last) else { return false };
        self.expect(waiting.product.span, &waiting.result, &found, "what an operator gives follows from its operands: annotate them");
        true
    }

    /// What a product gives, where its operands and what is wanted say so; with `last`, in any case.
    fn decide(&mut self, product: &Product, wanted: Option<&Ty>, last: bool) -> Option<Ty> {
        let (left, right) = (known(&self.holes, &product.left.1), known(&self.holes, &product.right.1));
        let result = wanted.map_or(Known::Nothing, |wanted| known(&self.holes, wanted));
        if product.op == BinOp::Div {
            return self.decide_quotient(product, (left, right, result), wanted, last);
        }
        Some(match (left, right, result) {
            (Known::Array(Some(2)), Known::Array(Some(1 | 2)), _) => self.matrix_product(product),
            (Known::Array(Some(2)), Known::Nothing, Known::Array(Some(1))) => self.matrix_product(product),
            (Known::Array(None), Known::Array(_), _) | (Known::Array(_), Known::Array(None), _) => {
                last.then(|| [&product.left, &product.right].map(|(_, ty)| self.of_doubles(ty)))?;
                return self.decide(product, wanted, last);
            }
            (Known::Array(_), Known::Array(_), _) => self.no_product(product),
            (Known::Array(_), Known::Number | Known::Index, _)
            | (Known::Array(Some(1 | 3..)), Known::Nothing, Known::Nothing | Known::Array(_)) => self.scaled(&product.left, &product.right),
            (Known::Number | Known::Index, Known::Array(_), _)
            | (Known::Nothing, Known::Array(Some(3..)), Known::Nothing | Known::Array(_)) => self.scaled(&product.right, &product.left),
            (Known::Other | Known::Index, _, _) | (_, Known::Other | Known::Index, _) => self.numbers(product),
            (Known::Number, Known::Number, _) | (_, _, Known::Number | Known::Index) => self.numbers(product),
            (Known::Number, _, Known::Array(_)) => self.scaled_to(wanted?, &product.right, &product.left),
            (_, Known::Number, Known::Array(_)) => self.scaled_to(wanted?, &product.left, &product.right),
            _ if !last => return None,
            (Known::Array(_), _, _) => self.scaled(&product.left, &product.right),
            (_, Known::Array(_), _) => self.scaled(&product.right, &product.left),
            _ => self.numbers(product),
        })
    }

    fn decide_quotient(&mut self, product: &Product, known: (Known, Known, Known), wanted: Option<&Ty>, last: bool) -> Option<Ty> {
        Some(match known {
            (_, Known::Array(_), _) => self.no_product(product),
            (Known::Array(_), _, _) => self.scaled(&product.left, &product.right),
            (Known::Nothing, Known::Nothing | Known::Number, Known::Array(_)) => self.scaled_to(wanted?, &product.left, &product.right),
            (Known::Nothing, Known::Nothing | Known::Number, Known::Nothing | Known::Other) if !last => return None,
            _ => self.numbers(product),
        })
    }

    /// Both operands are numbers of one type.
    fn numbers(&mut self, product: &Product) -> Ty {
        if self.mixes_numbers(&product.left, &product.right) {
            return Ty::Double;
        }
        let number = self.holes.fresh(Class::Number, self.level);
        self.expect(product.left.0, &number, &product.left.1, "arithmetic is for numbers and arrays of Doubles");
        self.expect(product.right.0, &number, &product.right.1, "both operands must have one type");
        number
    }

    /// An array that is what an array and a number give.
    fn scaled_to(&mut self, wanted: &Ty, array: &Operand, number: &Operand) -> Ty {
        self.expect(array.0, wanted, &array.1, "an array times a number has the array's shape");
        self.scaled(array, number)
    }

    /// An array of Doubles and a number: the array's type.
    fn scaled(&mut self, array: &Operand, number: &Operand) -> Ty {
        let tensor = self.holes.fresh(Class::Tensor, self.level);
        self.expect(array.0, &tensor, &array.1, "operators are for numbers and arrays of Doubles");
        self.expect(number.0, &Ty::Double, &number.1, "an array of Doubles is multiplied and divided by a Double");
        array.1.clone()
    }

    /// Elements that nothing decides are Doubles.
    fn of_doubles(&mut self, ty: &Ty) {
        for id in self.holes.open(ty) {
            // an element that cannot be a Double shows where it is used
            let _ = self.holes.unify(&Ty::Hole(id), &Ty::Double);
        }
    }

    /// A matrix times a vector or a matrix.
    fn matrix_product(&mut self, product: &Product) -> Ty {
        let [rows, common, columns] = [(); 3].map(|()| self.holes.fresh_size());
        let vector = Ty::array(Ty::Double, common.clone());
        let is_matrix = matches!(known(&self.holes, &product.right.1), Known::Array(Some(2)));
        let element = if is_matrix { Ty::array(Ty::Double, columns) } else { Ty::Double };
        let note = "the columns of the left operand are as many as the rows of the right one";
        self.expect(product.left.0, &Ty::array(vector, rows.clone()), &product.left.1, note);
        self.expect(product.right.0, &Ty::array(element.clone(), common), &product.right.1, note);
        Ty::array(element, rows)
    }

    /// There is no such product or quotient of two arrays.
    fn no_product(&mut self, product: &Product) -> Ty {
        let (left, right) = (self.text(&product.left.1), self.text(&product.right.1));
        let (message, help) = if product.op == BinOp::Div {
            (format!("expected a number to divide by, found {right}"), "`./` divides element by element; `matrixSolve A b` solves A x = b")
        } else if matches!(known(&self.holes, &product.right.1), Known::Array(Some(1))) {
            (
                format!("`*` has no meaning for {left} and {right}"),
                "`vectorDot v w` is the inner product, `v .* w` multiplies element by element, `vectorOutProd v w` is the outer product",
            )
        } else {
            (
                format!("`*` has no meaning for {left} and {right}"),
                "`M * v` and `M * N` are products of matrices; `.*` multiplies element by element, `matrixTranspose` turns a matrix",
            )
        };
        self.report(Diagnostic::error("E0301", product.span, message).help(help));
        self.fresh_type()
    }
}

impl<'a> Elaborator<'a> {
    /// An operator applied to numbers or arrays.
    pub(super) fn operator(&mut self, op: BinOp, mut args: Vec<Expr>, span: Span) -> Result<Expr> {
        let ranks: Vec<usize> = args.iter().map(|arg| arg.ty().dims().len()).collect();
        if let Some(index) = named(op, &ranks).and_then(|name| self.modules.in_library(name)) {
            if ranks.first() == Some(&0) {
                args.reverse();
            }
            let args = args.into_iter().map(Arg::Value).collect();
            return self.apply_global(index, &Instance::default(), args, span);
        }
        self.elementwise(Prim::from(op), args, span)
    }

    /// A primitive applied to the numbers of arrays of one shape, and to numbers beside them.
    pub(super) fn elementwise(&mut self, prim: Prim, args: Vec<Expr>, span: Span) -> Result<Expr> {
        let is_array = |arg: &&Expr| matches!(arg.ty(), Type::Array(..));
        let Some(shape) = args.iter().find(is_array).map(|array| array.ty().clone()) else {
            return Ok(Expr::prim(prim, args).at(span));
        };
        let mut named = Vec::new();
        for arg in args {
            let arg = if is_array(&&arg) { self.coerce(arg, &shape, span, "the operands have one shape")? } else { arg };
            named.push(self.name("a", arg));
        }
        Ok(each(prim, named).at(span))
    }
}

fn each(prim: Prim, args: Vec<Expr>) -> Expr {
    let is_array = |arg: &&Expr| matches!(arg.ty(), Type::Array(..));
    match args.iter().find(is_array).map(|array| Expr::dim(array.clone(), 0)) {
        None => Expr::prim(prim, args),
        Some(length) => Expr::build(length, "i", |i| {
            let element = |arg: &Expr| if is_array(&arg) { Expr::get(arg.clone(), i.clone()) } else { arg.clone() };
            each(prim, args.iter().map(element).collect())
        }),
    }
}

/// The library function that an operator is for operands of these ranks.
fn named(op: BinOp, ranks: &[usize]) -> Option<&'static str> {
    FUNCTIONS.iter().find(|(sign, taken, _)| infix(sign) == Some(op) && taken == ranks).map(|(.., name)| *name)
}
