//! `--size NAME=INT`: entries for one value of a size.
//!
//! In: a typed program and the sizes that are fixed. Out: every entry that has such a size is specialised to it: the
//! size is a literal in all types and terms, and no parameter any more, nor is an Index parameter that is a size.
//! Entries without it stay as they are. What calls an entry of any size calls a copy that still takes any.
//!
//!     --size n=3:   f (v: Vector<n>) : Matrix<n, m>   →   f (v: Vector<3>) : Matrix<3, m>
//!                   g (n: Index) (x: Double) : Vector<n>   →   g (x: Double) : Vector<3>

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::ir::subst::{self, map_children};
use crate::ir::{Expr, Function, Prim, Program, Status, Term, Type, Var};
use crate::source::Span;

/// A size that is fixed on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedSize {
    pub name: String,
    pub value: i64,
}

/// More Doubles than these do not fit into memory.
const LONGEST: i64 = i64::MAX / 8;

impl FixedSize {
    /// `NAME=INT`.
    pub fn parse(text: &str) -> Result<FixedSize, String> {
        let (name, value) = text.split_once('=').ok_or("NAME=INT is missing its `=`")?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() {
            return Err("there is no name before the `=`".into());
        }
        match value.parse::<i64>() {
            Ok(value) if value > LONGEST => Err("no array of numbers is so long".into()),
            Ok(value) if value >= 0 => Ok(FixedSize { name: name.to_string(), value }),
            Ok(_) => Err("a size is not negative".into()),
            Err(_) => Err("the size after the `=` is no integer".into()),
        }
    }
}

/// Specialises the entries; gives the names of those that changed.
pub fn specialise(program: Program, fixed: &[FixedSize]) -> Result<(Program, BTreeSet<Rc<str>>), Vec<Diagnostic>> {
    if fixed.is_empty() {
        return Ok((program, BTreeSet::new()));
    }
    let problems = problems(&program, fixed);
    if !problems.is_empty() {
        return Err(problems);
    }
    let changes = |function: &Function| {
        let sizes = sizes(function);
        let value = |var: Var| fixed.iter().find(|size| *size.name == **var.name()).map(|size| (var, size.value));
        sizes.into_iter().filter_map(value).collect::<Vec<_>>()
    };
    let changed = |function: &&Function| function.is_entry && !changes(function).is_empty();
    let changed: BTreeSet<Rc<str>> = program.functions.values().filter(changed).map(|function| function.name.clone()).collect();
    let mut called = BTreeSet::new();
    for function in program.functions.values() {
        function.body.each_call(&mut |name| {
            called.insert(name.clone());
        });
    }
    let general = |name: &Rc<str>| (changed.contains(name) && called.contains(name)).then(|| general_name(&program, name));
    let mut result = Program::default();
    for (name, function) in &program.functions {
        let mut function = function.clone();
        function.body = redirect(&function.body, &general);
        if let Some(general) = general(name) {
            let copy = Function { name: general.clone(), is_entry: false, ..function.clone() };
            result.functions.insert(general, copy);
        }
        if changed.contains(name) {
            let fixed = changes(&function);
            function = subst::fix_sizes(&within_bounds(function, &fixed), &fixed);
        }
        result.functions.insert(name.clone(), function);
    }
    Ok((result, changed))
}

/// The sizes of a function: those that its parameters' lengths show, then the Index parameters that are sizes.
fn sizes(function: &Function) -> Vec<Var> {
    let mut mentioned = Vec::new();
    for ty in function.params.iter().map(Var::ty).chain([&function.result]) {
        ty.each_size(&mut |size| size.each_var(&mut |var| mentioned.push(var.clone())));
    }
    let is_size = |param: &&Var| matches!(param.ty(), Type::Index(_)) && mentioned.contains(param);
    function.sizes.iter().chain(function.params.iter().filter(is_size)).cloned().collect()
}

/// Names that no entry has, and names with two values.
fn problems(program: &Program, fixed: &[FixedSize]) -> Vec<Diagnostic> {
    let mut known: Vec<String> = Vec::new();
    for var in program.functions.values().filter(|function| function.is_entry).flat_map(sizes) {
        if !known.iter().any(|name| **name == **var.name()) {
            known.push(var.name().to_string());
        }
    }
    let mut problems = Vec::new();
    for (at, size) in fixed.iter().enumerate() {
        let option = format!("--size {}={}", size.name, size.value);
        if let Some(other) = fixed[..at].iter().find(|other| other.name == size.name && other.value != size.value) {
            let problem = Diagnostic::error("E0816", Span::NONE, format!("`{option}` contradicts `--size {}={}`", other.name, other.value));
            problems.push(problem.help("a size has one value"));
        } else if !known.contains(&size.name) {
            let help = match known.as_slice() {
                [] => "no entry has a size".to_string(),
                known => format!("the entries' sizes are: {}", known.join(", ")),
            };
            problems.push(Diagnostic::error("E0816", Span::NONE, format!("`{option}` names no size of an entry")).help(help));
        }
    }
    problems
}

/// A fixed parameter `k: Index<n>` is still below `n`.
fn within_bounds(function: Function, fixed: &[(Var, i64)]) -> Function {
    let mut body = function.body.clone();
    for (var, _) in fixed.iter().rev().filter(|(var, _)| function.params.contains(var)) {
        if let Type::Index(Some(bound)) = var.ty()
            && let Some(bound) = bound.to_expr()
        {
            let below = Expr::prim(Prim::Lt, vec![Expr::var(var), bound]);
            body = Expr::check(below, Status::Range, body);
        }
    }
    Function { body, ..function }
}

/// A name for the copy that takes any size.
fn general_name(program: &Program, name: &str) -> Rc<str> {
    let mut general = format!("{name}_any");
    while program.functions.contains_key(general.as_str()) {
        general.push('_');
    }
    general.into()
}

fn redirect(expr: &Expr, general: &dyn Fn(&Rc<str>) -> Option<Rc<str>>) -> Expr {
    let mapped = map_children(expr, &mut |child| redirect(child, general));
    if let Term::Call(name, args) = mapped.term()
        && let Some(general) = general(name)
    {
        Expr::with_type(Term::Call(general, args.clone()), mapped.ty().clone(), mapped.span())
    } else {
        mapped
    }
}
