//! One function: parameters in the order of README.md's C interface, checks at entry, body, measure of the workspace.
//!
//!     f (v: Vector<n>) (k: Index<n>) : Double   →   f(n; v, k; out; workspace), failing when n < 0, n * 8
//!     bytes cannot be, k is out of range, or the workspace is too small
//!
//! Sizes come first, those that are Index parameters included; tuples flatten depth first; internal functions
//! leave the checks to their callers.

use crate::ir::ambient;
use crate::ir::distinct::distinct;
use crate::ir::free::{any_var_in_types, mentions};
use crate::ir::last_use::LastUses;
use crate::ir::prove::Facts;
use crate::ir::{Expr, Function, Labels, Name, Prim, Program, Size, Status, Type, Var};
use crate::source::Span;

use super::LowerOptions;
use super::context::{Lowerer, Result};
use super::view::{ArrayView, Dest, Leaf, Target, View, elem, leaves};
use crate::loops::program::*;
use crate::loops::values::bytes;

/// Lowers a function whose callees are done.
pub fn lower_function(
    program: &Program,
    done: &[LoopFunction],
    function: &Function,
    checked: bool,
    options: &LowerOptions,
) -> Result<LoopFunction> {
    let mut lowerer = Lowerer::new(program, done);
    lowerer.reciprocals = options.reciprocals;
    lowerer.parallel = options.parallel;
    lowerer.facts = Facts::for_function(function);
    let (mut params, mut parts) = (Vec::new(), Vec::new());
    let size_names = declare_sizes(&mut lowerer, function, &mut params);
    for (at, param) in function.params.iter().enumerate() {
        if size_names.iter().any(|(var, _)| var == param) {
            continue;
        }
        let view = lowerer.parameter(param.ty(), (param.name(), function.parameter_labels(at)), &mut params);
        if matches!(view, View::Tuple(_)) {
            let named = lowerer.name_parts(&Expr::var(param), &view, &mut parts);
            lowerer.states.push((param.clone(), named));
        }
        lowerer.env.insert(param.clone(), view);
        lowerer.note_bound(param);
    }
    let result = function.result.clone();
    if result.dims().iter().any(Size::has_unknown) || leaves(&result).iter().any(|(_, dims)| dims.iter().any(Size::has_unknown)) {
        return Err(super::context::depends_on_data(function.body.span()));
    }
    let dest = lowerer.destination(&result, ("out", function.result_labels()), &mut params);
    lowerer.results =
        params.iter().filter(|param| matches!(param.role, Role::OutScalar | Role::OutArray(_))).map(|param| param.id).collect();
    if checked {
        lowerer.entry_checks(function, &params, &size_names)?;
    }
    lowerer.unchecked = options.unchecked;
    let scalars: Vec<&Var> = function.params.iter().chain(&parts).collect();
    let mut measured = measured_by(&lowerer, &scalars, &params, &size_names);
    measured.extend(lowerer.ambient(function, &measured));
    // facts established by the checks at entry
    for param in &params {
        if let (Role::Scalar, Some(var)) = (&param.role, scalar_param(&scalars, &lowerer, param.id)) {
            lowerer.note_range(var.ty(), param.id);
        }
    }
    let function_body = ambient::unset_in_place(&function.body);
    let function_body = if function_body.has_updates() { distinct(&function_body) } else { function_body };
    lowerer.has_updates = function_body.has_updates();
    lowerer.last_uses = LastUses::of(&function_body);
    lowerer.compute_lengths(&function_body)?;
    lowerer.write(&function_body, &dest)?;
    let body = lowerer.blocks.pop().unwrap_or_default();
    Ok(LoopFunction {
        name: function.name.clone(),
        doc: function.doc.clone(),
        is_entry: checked,
        locals: lowerer.locals,
        params,
        body,
        workspace: Workspace::default(),
        slices: Vec::new(),
        size_names,
        measured,
        ranges: lowerer.ranges,
        span: function.span,
    })
}

/// What the workspace is measured by: sizes, then Index and Bool parameters.
fn measured_by(lowerer: &Lowerer, scalars: &[&Var], params: &[Param], size_names: &[(Var, Id)]) -> Vec<(Id, Option<Var>)> {
    let measured = |param: &Param| match param.role {
        Role::Size => Some((param.id, size_names.iter().find(|(_, id)| *id == param.id).map(|(var, _)| var.clone()))),
        Role::Scalar if lowerer.locals[param.id].elem != Elem::Double => Some((param.id, scalar_param(scalars, lowerer, param.id))),
        Role::Scalar | Role::Array(_) | Role::OutScalar | Role::OutArray(_) => None,
    };
    params.iter().filter_map(measured).collect()
}

/// Sizes in order of first appearance in the signature, as parameters. A size that is an Index parameter
/// appears where that parameter stands.
fn declare_sizes(lowerer: &mut Lowerer, function: &Function, params: &mut Vec<Param>) -> Vec<(Var, Id)> {
    let known = |var: &Var| function.sizes.contains(var) || function.params.contains(var) && matches!(var.ty(), Type::Index(_));
    let sizes_of = |ty: &Type| {
        let mut found = Vec::new();
        ty.each_size(&mut |size| size.each_var(&mut |var| found.extend(known(var).then(|| var.clone()))));
        found
    };
    let types = || function.params.iter().map(Var::ty).chain([&function.result]);
    let used: Vec<Var> = types().flat_map(sizes_of).collect();
    let appearing = function.params.iter().flat_map(|param| std::iter::once(param.clone()).chain(sizes_of(param.ty())));
    let mut order: Vec<Var> = Vec::new();
    for var in appearing.chain(sizes_of(&function.result)) {
        if used.contains(&var) && !order.contains(&var) {
            order.push(var);
        }
    }
    for size in &function.sizes {
        if !order.contains(size) {
            order.push(size.clone());
        }
    }
    let mut names = Vec::new();
    for var in order {
        let id = lowerer.local(var.name(), Elem::Index, Form::Scalar { mutable: false });
        lowerer.env.insert(var.clone(), View::Scalar(Value::Local(id)));
        let range = size_range(function, &var);
        lowerer.ranges.insert(id, range);
        params.push(Param { id, role: Role::Size });
        names.push((var, id));
    }
    names
}

/// The facts about a size after the checks at entry.
fn size_range(function: &Function, var: &Var) -> (i128, i128) {
    let mut range = if function.sizes.contains(var) { (0, i64::MAX as i128) } else { crate::loops::program::ranges::ANY };
    if is_length(function, var) {
        range = (0, LONGEST as i128);
    }
    range
}

/// The core parameter, or part of one, that a C parameter stands for, where the two correspond.
fn scalar_param(scalars: &[&Var], lowerer: &Lowerer, id: Id) -> Option<Var> {
    let is_it = |param: &&&Var| matches!(lowerer.env.get(param), Some(View::Scalar(Value::Local(other))) if *other == id);
    scalars.iter().find(is_it).map(|param| (*param).clone())
}

impl Lowerer<'_> {
    /// Gives ambient variables their values; where there are stacks, what says how deep they may be is measured by too.
    fn ambient(&mut self, function: &Function, measured: &[(Id, Option<Var>)]) -> Option<(Id, Option<Var>)> {
        for var in ambient::unset_scalars() {
            let zero = self.value(&ambient::meaning(&var)?, var.full_name()).ok()?;
            self.env.insert(var, zero);
        }
        let deeper = ambient::deeper();
        if !mentions(&function.body, &deeper) && !any_var_in_types(&function.body, &mut |var| *var == deeper) {
            return None;
        }
        let id = self.local(deeper.name(), Elem::Index, Form::Scalar { mutable: false });
        self.env.insert(deeper.clone(), View::Scalar(Value::Local(id)));
        self.note_range(deeper.ty(), id);
        let args = measured.iter().map(|(id, _)| Argument::Value(Value::Local(*id))).collect();
        self.emit(Stmt::Declare { id, init: Some(Value::Call(Callee::Deeper(function.name.clone()), args)) });
        Some((id, Some(deeper)))
    }

    /// A tuple parameter with a variable for each Index and Bool in it, by which lengths are known; `parts` gets these variables.
    fn name_parts(&mut self, expr: &Expr, view: &View, parts: &mut Vec<Var>) -> Expr {
        match view {
            View::Tuple(views) => {
                let named = views.iter().enumerate().map(|(k, view)| self.name_parts(&Expr::proj(expr.clone(), k), view, parts));
                Expr::tuple(named.collect())
            }
            View::Scalar(Value::Local(id)) if matches!(expr.ty(), Type::Index(_) | Type::Bool) => {
                let part = Var::fresh(&self.locals[*id].name, expr.ty().clone());
                self.env.insert(part.clone(), view.clone());
                parts.push(part.clone());
                Expr::var(&part)
            }
            View::Scalar(_) | View::Array(_) => expr.clone(),
        }
    }

    /// A parameter's C parameters, and how to read it.
    fn parameter(&mut self, ty: &Type, (name, labels): (&str, &Labels), params: &mut Vec<Param>) -> View {
        let (name, labels) = labels.within(name);
        let name = name.as_str();
        match ty {
            Type::Tuple(parts) => {
                let parts = parts.iter().enumerate().map(|(k, part)| self.parameter(part, (&labels.name(name, k), labels.part(k)), params));
                View::Tuple(parts.collect())
            }
            Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => {
                let id = self.local(name, elem(ty), Form::Scalar { mutable: false });
                params.push(Param { id, role: Role::Scalar });
                View::Scalar(Value::Local(id))
            }
            Type::Array(..) => {
                let leaves = self.blocks_of(ty, (name, labels), Form::Source { mutable: false });
                params.extend(leaves.iter().map(|leaf| Param { id: leaf.base, role: Role::Array(leaf.dims.clone()) }));
                View::Array(ArrayView { ty: ty.clone(), leaves })
            }
        }
    }

    /// The C parameters that a result goes to.
    fn destination(&mut self, ty: &Type, (name, labels): (&str, &Labels), params: &mut Vec<Param>) -> Dest {
        let (name, labels) = labels.within(name);
        let name = name.as_str();
        match ty {
            Type::Tuple(parts) => {
                let parts =
                    parts.iter().enumerate().map(|(k, part)| self.destination(part, (&labels.name(name, k), labels.part(k)), params));
                Dest::Tuple(parts.collect())
            }
            Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => {
                let base = self.local(name, elem(ty), Form::Target { mutable: false });
                params.push(Param { id: base, role: Role::OutScalar });
                Dest::Scalar(Target::Leaf(Leaf { base, elem: elem(ty), dims: Vec::new(), taken: Vec::new() }))
            }
            Type::Array(..) => {
                let leaves = self.blocks_of(ty, (name, labels), Form::Target { mutable: false });
                params.extend(leaves.iter().map(|leaf| Param { id: leaf.base, role: Role::OutArray(leaf.dims.clone()) }));
                Dest::Array(ArrayView { ty: ty.clone(), leaves })
            }
        }
    }

    /// A pointer for each block of an array type: `v`, or one for each component, `v_0`, `v_1`, `v_1_0`.
    fn blocks_of(&mut self, ty: &Type, (name, labels): (&str, &Labels), form: Form) -> Vec<Leaf> {
        let names = Name::with_labels(name, labels.clone()).of_blocks(ty);
        let blocks = leaves(ty).into_iter().zip(names);
        blocks.map(|((elem, dims), name)| Leaf { base: self.local(&name, elem, form), elem, dims, taken: Vec::new() }).collect()
    }

    /// Notes what a local is between, where its type says it.
    pub fn note_range(&mut self, ty: &Type, id: Id) {
        if let Type::Index(Some(bound)) = ty
            && let Ok(count) = self.known_size(bound, Span::NONE)
        {
            let most = self.range(&count).1;
            self.ranges.insert(id, (0, (most - 1).max(0)));
        }
    }

    /// Checks at entry: sizes, lengths and ranges that the signature declares.
    fn entry_checks(&mut self, function: &Function, params: &[Param], sizes: &[(Var, Id)]) -> Result<()> {
        let index = |prim, a: Value, b: Value| Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a, b] };
        let either = |a: Option<Value>, b: Value| match a {
            None => b,
            Some(a) => Value::Prim { prim: Prim::Or, elem: Elem::Bool, plain: true, args: vec![a, b] },
        };
        let negative = sizes.iter().filter(|(var, id)| self.ranges.get(*id).is_some_and(|range| range.0 >= 0) && is_length(function, var));
        let negative = negative.fold(None, |sum, (_, id)| Some(either(sum, index(Prim::Lt, Value::Local(*id), Value::Index(0)))));
        if let Some(cond) = negative {
            self.fail(cond, Status::Negative);
        }
        let lone = |var: &Var| {
            let blocks = function.params.iter().flat_map(|param| leaves(param.ty()));
            blocks.into_iter().any(|(elem, dims)| elem != Elem::Bool && dims.len() == 1 && dims[0].as_var() == Some(var))
        };
        let long = sizes.iter().filter(|(var, _)| is_length(function, var) && !lone(var));
        let longest = index(Prim::Div, Value::Index(i64::MAX), Value::Index(8));
        let long = long.fold(None, |sum, (_, id)| Some(either(sum, index(Prim::Gt, Value::Local(*id), longest.clone()))));
        if let Some(cond) = long {
            self.fail(cond, Status::Shape);
        }
        // what is computed of a size wraps unless the size is bounded before
        let of_array = |param: &Param| match &param.role {
            Role::Array(dims) | Role::OutArray(dims) => Some((param.id, dims.clone())),
            Role::Size | Role::Scalar | Role::OutScalar => None,
        };
        let mut arrays: Vec<(Id, Vec<Size>)> = params.iter().filter_map(of_array).collect();
        arrays.sort_by_key(|(_, dims)| dims.iter().any(|size| size.as_var().is_none() && size.as_constant().is_none()));
        let mut products: Vec<Value> = Vec::new();
        for (id, dims) in arrays {
            let counts = dims.iter().map(|size| self.size_value(size, function.span)).collect::<Result<Vec<_>>>()?;
            let product = bytes(self.locals[id].elem, &counts);
            if !products.contains(&product) && !dims.iter().all(|size| size.as_constant().is_some()) {
                products.push(product);
            }
        }
        for product in products {
            self.fail(Value::Helper("smooth_is_too_large", vec![product]), Status::Shape);
        }
        for param in &function.params {
            let view = self.env.get(param).cloned();
            if let Some(view) = view {
                self.check_ranges(param.ty(), &view, function.span)?;
            }
        }
        Ok(())
    }

    /// `Index<s>` parameters, also inside arrays and tuples, lie in `0 … s-1`.
    fn check_ranges(&mut self, ty: &Type, view: &View, span: Span) -> Result<()> {
        match (ty, view) {
            (Type::Index(Some(bound)), View::Scalar(value)) => {
                let count = self.size_value(bound, span)?;
                let index = |prim, a: &Value, b: Value| Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a.clone(), b] };
                let (under, over) = (index(Prim::Lt, value, Value::Index(0)), index(Prim::Ge, value, count));
                self.fail(Value::Prim { prim: Prim::Or, elem: Elem::Bool, plain: true, args: vec![under, over] }, Status::Range);
                Ok(())
            }
            (Type::Tuple(parts), View::Tuple(views)) => {
                parts.iter().zip(views).try_for_each(|(part, view)| self.check_ranges(part, view, span))
            }
            (Type::Array(..), View::Array(array)) => {
                for (leaf, bound) in array.leaves.iter().zip(bounds(ty)) {
                    let Some(bound) = bound else { continue };
                    let counts = leaf.dims.iter().map(|size| self.size_value(size, span)).collect::<Result<Vec<_>>>()?;
                    let times = |a, b| Value::Prim { prim: Prim::Mul, elem: Elem::Index, plain: true, args: vec![a, b] };
                    let count = counts.into_iter().reduce(times).unwrap_or(Value::Index(1));
                    let end = self.size_value(&bound, span)?;
                    self.fail(Value::Helper("smooth_any_outside", vec![Value::Local(leaf.base), count, end]), Status::Range);
                }
                Ok(())
            }
            (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_), _) => Ok(()),
        }
    }
}

fn is_length(function: &Function, var: &Var) -> bool {
    function.sizes.contains(var)
        || function.params.iter().any(|param| leaves(param.ty()).iter().any(|(_, dims)| dims.iter().any(|size| size.as_var() == Some(var))))
}

/// What the elements of each of an array's blocks are below, where they are in range.
fn bounds(ty: &Type) -> Vec<Option<Size>> {
    match ty {
        Type::Index(bound) => vec![bound.clone()],
        Type::Array(element, _) => bounds(element),
        Type::Tuple(parts) => parts.iter().flat_map(bounds).collect(),
        Type::Double | Type::Bool | Type::Rec(_) => vec![None],
    }
}
