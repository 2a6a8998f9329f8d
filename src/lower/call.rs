//! Calls: sizes and views as arguments, destinations handed through, the rest of the workspace lent.
//!
//! A call `g(v, x)` into a destination becomes `g(n, v, x, out, workspace)`: the callee's sizes are read off
//! the arguments' types, its result goes straight where it belongs.

use std::rc::Rc;

use crate::ir::program::match_sizes;
use crate::ir::{Atom, Expr, Size, Type, Var};
use crate::source::Span;

use super::context::{Lowerer, Result, depends_on_data, mismatch};
use super::view::{Dest, Target, View};
use crate::loops::analysis::failures::can_fail;
use crate::loops::program::*;

impl Lowerer<'_> {
    pub fn call(&mut self, name: &Rc<str>, args: &[Expr], dest: &Dest, span: Span) -> Result<()> {
        let program = self.program;
        let function = program.functions.get(name).ok_or_else(|| mismatch(span))?;
        let done = self.done;
        let callee = done.iter().find(|other| &other.name == name).ok_or_else(|| mismatch(span))?;
        let mut views = Vec::new();
        let mut sizes: Vec<(Var, Size)> = Vec::new();
        let mut scalars: Vec<(Var, Value)> = Vec::new();
        let mut parts: Vec<(Expr, Value)> = Vec::new();
        for (param, arg) in function.params.iter().zip(args) {
            let view = self.value(arg, param.full_name())?;
            let view = if args.iter().any(Expr::has_updates) { self.settle(view, param.full_name()) } else { view };
            if matches!(param.ty(), Type::Index(_) | Type::Bool) {
                let size = Size::try_of_expr(arg).map(|size| self.canonical(&size));
                sizes.push((param.clone(), size.unwrap_or_else(Size::unknown)));
            }
            let ty = self.type_of(arg)?;
            match_sizes(param.ty(), &ty, &mut sizes);
            match &view {
                View::Scalar(value) => scalars.push((param.clone(), value.clone())),
                View::Tuple(_) => parts_of(arg.clone(), &view, &mut parts),
                View::Array(_) => {}
            }
            views.push(view);
        }
        // the callee has a variable for each Index and Bool in its tuples, in the order of its parameters
        let is_part =
            |var: &&Var| !var.is_ambient() && !function.params.contains(var) && callee.size_names.iter().all(|(size, _)| size != *var);
        let named = callee.measured.iter().filter_map(|(_, var)| var.as_ref()).filter(is_part);
        for (var, (arg, value)) in named.zip(parts) {
            let size = self.size_of(&arg).map(|size| self.canonical(&size));
            sizes.push((var.clone(), size.unwrap_or_else(Size::unknown)));
            scalars.push((var.clone(), value));
        }
        let mut flat = Vec::new();
        for (param, view) in function.params.iter().zip(&views) {
            // an Index parameter that is a size goes first
            let is_size = callee.size_names.iter().any(|(var, _)| var == param);
            if !is_size {
                self.flatten(view, &mut flat);
            }
        }
        let mut arguments = Vec::new();
        for (var, _) in &callee.size_names {
            let value = match scalars.iter().find(|(param, _)| param == var) {
                Some((_, value)) => value.clone(),
                None => {
                    let size = sizes.iter().find(|(name, _)| name == var).map(|(_, size)| size.clone());
                    self.size_value(&size.ok_or_else(|| depends_on_data(span))?, span)?
                }
            };
            arguments.push(Argument::Value(value));
        }
        arguments.extend(flat);
        self.same_shape(&function.result, &sizes, dest, span)?;
        self.outputs(dest, &mut arguments);
        let measures = callee.measured_by_callers().map(|(_, var)| match var {
            None => Measure::Data,
            Some(var) => match sizes.iter().find(|(name, _)| name == var && name.ty() != &Type::Bool) {
                Some((_, size)) if !size.has_unknown() => Measure::Size(size.clone()),
                Some(_) => Measure::Data,
                None => match scalars.iter().find(|(param, _)| param == var) {
                    Some((_, value)) => Measure::Bool(value.clone()),
                    None => Measure::Data,
                },
            },
        });
        let measures = measures.collect();
        // removed again where the callee turns out to need none
        arguments.push(Argument::Workspace);
        let fallible = callee.is_entry || can_fail(&callee.body);
        self.emit(Stmt::Invoke(Invocation { callee: name.clone(), args: arguments, measures, fallible, span }));
        Ok(())
    }

    fn flatten(&self, view: &View, out: &mut Vec<Argument>) {
        match view {
            View::Scalar(value) => out.push(Argument::Value(value.clone())),
            View::Tuple(parts) => parts.iter().for_each(|part| self.flatten(part, out)),
            View::Array(array) => out.extend(array.leaves.iter().map(|leaf| Argument::Pointer(self.pointer(leaf)))),
        }
    }

    fn outputs(&self, dest: &Dest, out: &mut Vec<Argument>) {
        match dest {
            Dest::Scalar(Target::Local(id)) => out.push(Argument::Address(*id)),
            Dest::Scalar(Target::Leaf(leaf)) => out.push(Argument::Pointer(self.pointer(leaf))),
            Dest::Tuple(parts) => parts.iter().for_each(|part| self.outputs(part, out)),
            Dest::Array(array) => out.extend(array.leaves.iter().map(|leaf| Argument::Pointer(self.pointer(leaf)))),
        }
    }

    /// The result's lengths for these arguments must be the destination's.
    fn same_shape(&mut self, result: &Type, sizes: &[(Var, Size)], dest: &Dest, span: Span) -> Result<()> {
        match (result, dest) {
            (Type::Tuple(parts), Dest::Tuple(places)) => {
                parts.iter().zip(places).try_for_each(|(part, place)| self.same_shape(part, sizes, place, span))
            }
            (Type::Array(..), Dest::Array(array)) => {
                let actual = result.map_sizes(&mut |size| {
                    size.substitute(&mut |atom| match atom {
                        Atom::Var(var) => sizes.iter().find(|(name, _)| name == var).map(|(_, size)| size.clone()),
                        Atom::Term(_) | Atom::Unknown(_) => None,
                    })
                });
                let target = array.ty.clone();
                for ((_, a), (_, b)) in super::view::leaves(&actual).iter().zip(super::view::leaves(&target)) {
                    for (a, b) in a.iter().zip(&b) {
                        self.same_length(a, b, span)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// The Indexes and Bools in a tuple, depth first, with their values.
fn parts_of(expr: Expr, view: &View, out: &mut Vec<(Expr, Value)>) {
    match view {
        View::Tuple(parts) => parts.iter().enumerate().for_each(|(k, part)| parts_of(Expr::proj(expr.clone(), k), part, out)),
        View::Scalar(value) if matches!(expr.ty(), Type::Index(_) | Type::Bool) => out.push((expr, value.clone())),
        View::Scalar(_) | View::Array(_) => {}
    }
}
