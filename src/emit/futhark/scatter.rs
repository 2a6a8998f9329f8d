//! Scatters: steps that add to several elements, in parallel.
//!
//! In: a program. Out: the same, where a fold whose steps add to several elements of its arrays, at indices that data says, is an array
//! of what each step adds and a fold for each addition, which `fold` makes a `reduce_by_index` of. A sum comes to another
//! order, so not with `--strict-fp`.
//!
//!     ifold (fun s i -> let t = e in accumulate (accumulate s k[i] t) l[i] (-t)) z n
//!       →   let added = build n (fun i -> let t = e in (k[i], t, l[i], -t)) in
//!           ifold (fun s i -> accumulate s added[i].2 added[i].3) (ifold (fun s i -> accumulate s added[i].0 added[i].1) z n) n
//!
//! A matrix is one row meanwhile. Limits: every addition is done in every step; arrays of Doubles of one or two dimensions.

use crate::ir::free::{mentions, occurrences};
use crate::ir::subst::{freshen, map_children, substitute};
use crate::ir::{Change, Expr, Function, Prim, Program, Size, Term, Type, Updated, Var};

/// The program with such folds taken apart.
pub fn scatter(program: &Program) -> Program {
    let mut program = program.clone();
    for function in program.functions.values_mut().filter(|function| function.body.has_updates()) {
        *function = Function { body: scattered(&function.body), ..function.clone() };
    }
    program
}

fn scattered(expr: &Expr) -> Expr {
    match expr.term() {
        // what is in it runs in parallel already
        Term::Build { .. } => expr.clone(),
        Term::Fold { n, acc, i, body, init } => {
            let init = scattered(init);
            separated(n, acc, i, body, &init).unwrap_or_else(|| {
                let body = scattered(body);
                Expr::fold_with(n.clone(), acc.clone(), i.clone(), body, init).at(expr.span())
            })
        }
        _ => map_children(expr, &mut scattered),
    }
}

/// What a step adds, each time to one element of one component of the state.
struct Additions {
    /// A tuple of all indices and values.
    numbers: Expr,
    each: Vec<Addition>,
}

struct Addition {
    component: usize,
    /// Where the indices and the value are among the numbers.
    indices: Vec<usize>,
    value: usize,
}

/// The fold as one for each addition; `None` where a step does anything else, or has one addition, to an array of one dimension.
fn separated(n: &Expr, acc: &Var, i: &Var, body: &Expr, init: &Expr) -> Option<Expr> {
    let types = if let Type::Tuple(parts) = acc.ty() { parts.to_vec() } else { vec![acc.ty().clone()] };
    let dims: Vec<Vec<Size>> = types.iter().map(dims_of).collect::<Option<_>>()?;
    let additions = Additions::of(body, acc, i, &dims)?;
    let all = freshen(&Expr::build_with(n.clone(), i.clone(), additions.numbers));
    let added = Var::fresh("added", all.ty().clone());
    let first = Var::fresh("first", init.ty().clone());
    let mut arrays = Vec::new();
    for (component, dims) in dims.iter().enumerate() {
        let start = if types.len() == 1 {
            init.clone()
        } else if let Term::Tuple(parts) = init.term() {
            parts[component].clone()
        } else {
            Expr::proj(Expr::var(&first), component)
        };
        let own = additions.each.iter().filter(|addition| addition.component == component);
        let sums = own.fold(flat(start, dims)?, |sums, addition| addition.to_each(n, &added, sums, dims));
        arrays.push(shaped(sums, dims)?);
    }
    let arrays = if types.len() == 1 { arrays.remove(0) } else { Expr::tuple(arrays) };
    let arrays = if mentions(&arrays, &first) { Expr::let_(first, init.clone(), arrays) } else { arrays };
    Some(Expr::let_(added, all, arrays))
}

impl Additions {
    /// Those of a step; `None` where it does anything else.
    fn of(body: &Expr, acc: &Var, i: &Var, dims: &[Vec<Size>]) -> Option<Additions> {
        let (mut lets, mut end) = (Vec::new(), body.clone());
        while let Term::Let(x, value, rest) = end.term().clone() {
            if mentions(&value, acc) {
                // the arrays after some of the additions
                end = (occurrences(&rest, &x) == 1).then(|| substitute(&rest, &[(x, value)]))?;
            } else {
                lets.push((x, value));
                end = rest;
            }
        }
        let ends: Vec<Expr> = if let Term::Tuple(parts) = end.term()
            && parts.len() == dims.len()
        {
            parts.clone()
        } else {
            (dims.len() == 1).then(|| vec![end.clone()])?
        };
        let (mut numbers, mut each): (Vec<Expr>, Vec<Addition>) = (Vec::new(), Vec::new());
        for (component, end) in ends.iter().enumerate() {
            let before = if dims.len() == 1 { Expr::var(acc) } else { Expr::proj(Expr::var(acc), component) };
            let (mut chain, mut array) = (Vec::new(), end);
            while let Term::Update(Change::Add, parts) = array.term() {
                let updated = Updated::of(parts)?;
                let is_number = updated.indices.len() == dims[component].len() && updated.value.ty() == &Type::Double;
                is_number.then_some(())?;
                chain.push((updated.indices.to_vec(), updated.value.clone()));
                array = updated.array;
            }
            is_alike(array, &before).then_some(())?;
            for (indices, value) in chain.into_iter().rev() {
                let mut place = |number: Expr| {
                    numbers.iter().position(|known| is_alike(known, &number)).unwrap_or_else(|| {
                        numbers.push(number);
                        numbers.len() - 1
                    })
                };
                let indices = indices.into_iter().map(&mut place).collect();
                each.push(Addition { component, indices, value: place(value) });
            }
        }
        // what a step adds to its own row is no sum
        let is_own = |number: &Expr| matches!(number.term(), Term::Var(var) if var == i);
        let is_single = each.len() < 2 && dims.iter().all(|dims| dims.len() == 1);
        if is_single || numbers.iter().any(|number| mentions(number, acc) || is_own(number)) {
            return None;
        }
        // in one row, a column that is too large would be in the next one
        let is_below = |at: &usize, length: &Size| matches!(numbers[*at].ty(), Type::Index(Some(bound)) if bound == length);
        let is_there = |addition: &Addition| {
            let mut places = addition.indices.iter().zip(&dims[addition.component]);
            addition.indices.len() == 1 || places.all(|(at, length)| is_below(at, length))
        };
        each.iter().all(is_there).then_some(())?;
        let numbers = lets.into_iter().rev().fold(Expr::tuple(numbers), |rest, (x, value)| Expr::let_(x, value, rest));
        Some(Additions { numbers, each })
    }
}

impl Addition {
    /// The sums, in one row, after this addition in all steps, whose numbers are in the array `added`.
    fn to_each(&self, n: &Expr, added: &Var, sums: Expr, dims: &[Size]) -> Expr {
        let length = sums.ty().dims().into_iter().next();
        Expr::fold(n.clone(), "s", "i", sums, |s, i| {
            Expr::bind("step", Expr::get(Expr::var(added), i), |step| {
                let number = |at: &usize| Expr::proj(step.clone(), *at);
                let value = number(&self.value);
                let change = |at: Expr| Expr::update(Change::Add, s, vec![at], value);
                match (self.indices.as_slice(), dims.get(1).and_then(Size::to_expr)) {
                    ([row, column], Some(width)) => {
                        let at = Var::fresh("at", Type::Index(length));
                        Expr::let_(at.clone(), place(number(row), width, number(column)), change(Expr::var(&at)))
                    }
                    (indices, _) => change(number(&indices[0])),
                }
            })
        })
    }
}

/// An array in one row.
fn flat(array: Expr, dims: &[Size]) -> Option<Expr> {
    let [rows, width] = dims else { return Some(array) };
    let length = rows.mul(width).to_expr()?;
    let width = width.to_expr()?;
    let index = |prim, t: &Expr| Expr::prim(prim, vec![t.clone(), width.clone()]);
    Some(match number_of(&array) {
        Some(number) => Expr::build(length, "t", |_| number),
        None => Expr::bind("first", array, |array| {
            Expr::build(length, "t", |t| Expr::get(Expr::get(array, index(Prim::Div, &t)), index(Prim::Rem, &t)))
        }),
    })
}

/// The number that all elements of a matrix are.
fn number_of(matrix: &Expr) -> Option<Expr> {
    let Term::Build { body, .. } = matrix.term() else { return None };
    let Term::Build { body, .. } = body.term() else { return None };
    matches!(body.term(), Term::Double(_)).then(|| body.clone())
}

/// An array in one row as the array that it stands for.
fn shaped(array: Expr, dims: &[Size]) -> Option<Expr> {
    let [rows, width] = dims else { return Some(array) };
    let (rows, width) = (rows.to_expr()?, width.to_expr()?);
    Some(Expr::bind("sums", array, |sums| {
        Expr::build(rows, "i", |i| Expr::build(width.clone(), "j", |j| Expr::get(sums, place(i, width, j))))
    }))
}

/// Where the element of a row and a column is in one row.
fn place(row: Expr, width: Expr, column: Expr) -> Expr {
    Expr::prim(Prim::Add, vec![Expr::prim(Prim::Mul, vec![row, width]), column])
}

/// Whether terms are the same but for the names of what they bind.
fn is_alike(a: &Expr, b: &Expr) -> bool {
    a.shape() == b.shape() && a.fingerprint() == b.fingerprint()
}

/// The lengths of an array of Doubles of one or two dimensions.
fn dims_of(ty: &Type) -> Option<Vec<Size>> {
    let (mut dims, mut element) = (Vec::new(), ty);
    while let Type::Array(inner, length) = element {
        dims.push(length.clone());
        element = inner;
    }
    (element == &Type::Double && (1..=2).contains(&dims.len())).then_some(dims)
}
