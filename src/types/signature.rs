//! Inferred signatures, as `smoothc check` prints them.
//!
//!     let dot (a: Vector<n>) (b: Vector<n>) : Double
//!     let first (a: Array<'a, a_n>) : 'a          // no entry: its type is open

use super::infer::{Infer, pattern_name};
use super::modules::Modules;
use super::record::relabelled;
use super::ty::{Ty, show};
use crate::ir::Function;
use crate::source::Span;

/// A declaration's type.
#[derive(Clone, Debug)]
pub struct Signature {
    pub name: String,
    pub text: String,
    /// Where the parameters are written; a derived entry has more of them.
    pub places: Vec<Span>,
}

/// The signature of a declaration; from its core function where there is one, which knows the sizes best.
pub fn of(infer: &Infer, modules: &Modules, index: usize, function: Option<&Function>) -> Signature {
    let name = modules.globals[index].decl.name.text.to_string();
    let scheme = &infer.schemes[index];
    let mut holes = Vec::new();
    let (patterns, _) = super::infer::parameters(&modules.globals[index].decl.params, &modules.globals[index].decl.body);
    let params: Vec<(String, Ty)> = match function {
        Some(function) => {
            let of = |at: usize| scheme.params.get(at).map_or(Ty::Bool, |ty| infer.holes.resolve(ty));
            let params = function.params.iter().enumerate();
            params.map(|(at, param)| (param.name().to_string(), relabelled(param.ty(), &of(at)))).collect()
        }
        None => scheme
            .params
            .iter()
            .enumerate()
            .map(|(at, ty)| {
                (patterns.get(at).map_or(format!("arg{}", at + 1), |pattern| pattern_name(pattern, at).to_string()), ty.clone())
            })
            .collect(),
    };
    let result = function.map_or(scheme.result.clone(), |function| relabelled(&function.result, &infer.holes.resolve(&scheme.result)));
    let mut text = format!("let {name}");
    let mut higher_order = false;
    for (param, ty) in &params {
        higher_order |= matches!(infer.holes.head(ty), Ty::Fun(..));
        text += &format!(" ({param}: {})", show(&infer.holes, ty, &mut holes));
    }
    text += &format!(" : {}", show(&infer.holes, &result, &mut holes));
    if function.is_none() {
        text += if higher_order { "    // no entry: it takes a function" } else { "    // no entry: its type is open" };
    }
    Signature { name, text, places: places(modules, index) }
}

fn places(modules: &Modules, index: usize) -> Vec<Span> {
    let decl = &modules.globals[index].decl;
    super::infer::parameters(&decl.params, &decl.body).0.iter().map(|pattern| pattern.span).collect()
}

/// The signature of an entry that is derived from the declaration of this number.
pub fn of_derived(infer: &Infer, modules: &Modules, index: usize, function: &Function) -> Signature {
    Signature { name: function.name.to_string(), text: text(infer, function), places: places(modules, index) }
}

/// What is printed of a core function.
pub fn text(infer: &Infer, function: &Function) -> String {
    let holes = super::ty::Holes::default();
    let of = |ty, labels| infer.with_labels(ty, labels);
    let mut text = format!("let {}", function.name);
    for (at, param) in function.params.iter().enumerate() {
        let ty = of(param.ty(), function.parameter_labels(at));
        text += &format!(" ({}: {})", param.name(), show(&holes, &ty, &mut Vec::new()));
    }
    text += &format!(" : {}", show(&holes, &of(&function.result, function.result_labels()), &mut Vec::new()));
    text
}
