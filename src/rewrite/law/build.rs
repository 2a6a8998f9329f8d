//! The term that a right side says.
//!
//! In: a pattern and what its metavariables stand for. Out: the term, with binders of its own: a metavariable used again is
//! copied, and one that stands for a function is a copy of its body with the arguments in place of the variables.
//!
//!     f (k + 1)   where f = fun i -> v[i]   gives   v[k + 1]

use super::keeps;
use super::pattern::{Binder, Binding, Name, Pattern};
use crate::ir::prim::Kind;
use crate::ir::subst::{freshen, instance};
use crate::ir::{Change, Expr, Size, Type, Var};

/// A right side that is being built.
pub struct Building<'a> {
    binding: &'a Binding<'a>,
    /// Metavariables that were put already.
    used: Vec<&'a str>,
    /// The variables that the right side binds.
    scope: Vec<(Binder, Var)>,
}

impl<'a> Building<'a> {
    pub fn new(binding: &'a Binding<'a>) -> Building<'a> {
        Building { binding, used: Vec::new(), scope: Vec::new() }
    }

    /// The term; `None` where a literal fits neither number type, or a part has not the type that its place wants.
    pub fn term(&mut self, pattern: &'a Pattern, ty: &Type) -> Option<Expr> {
        Some(match pattern {
            Pattern::Meta(name) => {
                let term = &self.binding.get(name)?.term;
                if self.used.contains(&name.as_str()) {
                    return Some(freshen(term));
                }
                self.used.push(name);
                term.clone()
            }
            Pattern::Applied(name, patterns) => {
                let stands = self.binding.get(name)?;
                let mut values = Vec::new();
                for (param, pattern) in stands.params.iter().zip(patterns) {
                    let value = self.term(pattern, param.ty())?;
                    if !value.ty().same_shape(param.ty()) {
                        return None;
                    }
                    values.push((param.clone(), value));
                }
                instance(&stands.term, &values)
            }
            Pattern::Bound(binder) => Expr::var(self.scope.iter().rev().find(|(other, _)| other == binder).map(|(_, var)| var)?),
            Pattern::Number(value) => match ty {
                Type::Double => Expr::double(*value),
                Type::Index(_) => Expr::index(*value as i64),
                Type::Bool | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => return None,
            },
            Pattern::Double(value) => Expr::double(*value),
            Pattern::Bool(value) => Expr::bool(*value),
            Pattern::Prim(prim, patterns) => {
                let known = || patterns.iter().find_map(|pattern| pattern.ty(self.binding, &self.scope));
                let operand = match prim.row().kind {
                    Kind::Double | Kind::DoubleToIndex | Kind::IndexDoubleToDouble => Type::Double,
                    Kind::Index | Kind::IndexToDouble => Type::INDEX,
                    Kind::Bool => Type::Bool,
                    Kind::Number => known().unwrap_or_else(|| ty.clone()),
                    Kind::Order | Kind::Equality => known().unwrap_or(Type::Double),
                };
                let args = patterns.iter().map(|pattern| self.term(pattern, &operand)).collect::<Option<Vec<_>>>()?;
                prim.result(args.iter().map(Expr::ty))?;
                Expr::prim(*prim, args)
            }
            Pattern::If(patterns) => {
                let [c, a, b] = &**patterns;
                let c = self.term(c, &Type::Bool)?;
                let (a, b) = (self.term(a, ty)?, self.term(b, ty)?);
                if c.ty() != &Type::Bool || !a.ty().same_shape(b.ty()) {
                    return None;
                }
                Expr::if_(c, a, b)
            }
            Pattern::Get(patterns) => {
                let [array, index] = &**patterns;
                let array = self.array(array, ty)?;
                let index = self.index(index)?;
                array.ty().element()?;
                Expr::get(array, index)
            }
            Pattern::Length(array) => {
                let array = self.array(array, &Type::Double)?;
                array.ty().element()?;
                Expr::dim(array, 0)
            }
            Pattern::Tuple(patterns) => {
                let Type::Tuple(types) = ty else { return None };
                Expr::tuple(patterns.iter().zip(types.iter()).map(|(pattern, ty)| self.term(pattern, ty)).collect::<Option<_>>()?)
            }
            Pattern::Proj(pair, at) => {
                let mut parts = match self.guess(pair) {
                    Type::Tuple(parts) => parts.to_vec(),
                    Type::Double | Type::Index(_) | Type::Bool | Type::Array(..) | Type::Rec(_) => vec![ty.clone(), ty.clone()],
                };
                if let (None, Some(part)) = (pair.ty(self.binding, &self.scope), parts.get_mut(*at)) {
                    part.clone_from(ty);
                }
                let pair = self.term(pair, &Type::tuple(parts))?;
                matches!(pair.ty(), Type::Tuple(parts) if parts.len() == 2).then(|| Expr::proj(pair, *at))?
            }
            Pattern::Array(patterns) => {
                let element = ty.element().cloned().or_else(|| self.guess(pattern).element().cloned())?;
                let items = patterns.iter().map(|pattern| self.term(pattern, &element)).collect::<Option<Vec<_>>>()?;
                let element = items.first().map_or(element, |first| first.ty().clone()).without_bounds();
                items.iter().all(|item| keeps(item.ty(), &element)).then(|| Expr::array(element, items))?
            }
            Pattern::Update(change, patterns) => {
                let [array, index, value] = &**patterns;
                let array = self.term(array, ty)?;
                let index = self.index(index)?;
                let element = array.ty().element()?.clone();
                let value = self.term(value, &element)?;
                let has_sum = *change == Change::Replace || element.is_made_of_doubles();
                (has_sum && keeps(value.ty(), &element.without_bounds())).then(|| Expr::update(*change, array, vec![index], value))?
            }
            Pattern::Let(name, patterns) => {
                let [value, body] = &**patterns;
                let wanted = self.guess(value);
                let value = self.term(value, &wanted)?;
                let x = self.bound(name, body, value.ty().clone());
                let body = self.term(body, ty)?;
                Expr::let_(x, value, body)
            }
            Pattern::Build(name, patterns) => {
                let [n, body] = &**patterns;
                let n = self.index(n)?;
                let i = self.bound(name, body, Type::Index(Some(Size::of_expr(&n))));
                let element = ty.element().cloned().or_else(|| body.ty(self.binding, &self.scope)).unwrap_or(Type::Double);
                let body = self.term(body, &element)?;
                Expr::build_with(n, i, body)
            }
            Pattern::Fold([acc, i], patterns) => {
                let [init, n, step] = &**patterns;
                let init = self.term(init, ty)?;
                let n = self.index(n)?;
                let acc = self.bound(acc, step, init.ty().without_bounds());
                let i = self.bound(i, step, Type::Index(Some(Size::of_expr(&n))));
                let step = self.term(step, acc.ty())?;
                if !keeps(step.ty(), acc.ty()) {
                    return None;
                }
                Expr::fold_with(n, acc, i, step, init)
            }
        })
    }

    /// A part that is an array, with elements of this type where its own parts say none.
    fn array(&mut self, pattern: &'a Pattern, element: &Type) -> Option<Expr> {
        let known = pattern.ty(self.binding, &self.scope);
        self.term(pattern, &known.unwrap_or_else(|| Type::array(element.clone(), Size::constant(0))))
    }

    /// The type of a part whose place says none: a literal that nothing else gives a type is a Double.
    fn guess(&self, pattern: &Pattern) -> Type {
        pattern.ty(self.binding, &self.scope).unwrap_or_else(|| match pattern {
            Pattern::Tuple(parts) => Type::tuple(parts.iter().map(|part| self.guess(part)).collect()),
            Pattern::Array(parts) => {
                let element = parts.first().map_or(Type::Double, |part| self.guess(part));
                Type::array(element, Size::constant(parts.len() as i64))
            }
            Pattern::Meta(_) | Pattern::Applied(..) | Pattern::Bound(_) | Pattern::Number(_) | Pattern::Double(_) => Type::Double,
            Pattern::Bool(_) | Pattern::Prim(..) | Pattern::If(_) | Pattern::Get(_) | Pattern::Length(_) | Pattern::Proj(..) => {
                Type::Double
            }
            Pattern::Update(..) | Pattern::Let(..) | Pattern::Build(..) | Pattern::Fold(..) => Type::Double,
        })
    }

    fn index(&mut self, pattern: &'a Pattern) -> Option<Expr> {
        let index = self.term(pattern, &Type::INDEX)?;
        matches!(index.ty(), Type::Index(_)).then_some(index)
    }

    /// A new variable for a binder, called as the law says, or as in the function that is its whole scope.
    fn bound(&mut self, name: &Name, body: &Pattern, ty: Type) -> Var {
        let own = if let Pattern::Applied(function, patterns) = body
            && name.text.is_empty()
        {
            let at = patterns.iter().position(|pattern| matches!(pattern, Pattern::Bound(binder) if *binder == name.binder));
            at.and_then(|at| self.binding.get(function)?.params.get(at)).map(|param| param.name().to_string())
        } else {
            None
        };
        let text = own.as_deref().unwrap_or(if name.text.is_empty() { "i" } else { &name.text });
        let var = Var::fresh(text, ty);
        self.scope.push((name.binder, var.clone()));
        var
    }
}
