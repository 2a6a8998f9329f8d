//! Inferred signatures, as `smoothc check` prints them.
//!
//!     let dot (a: Vector<n>) (b: Vector<n>) : Double
//!     let first (a: Array<'a, a_n>) : 'a          // no entry: its type is open

use super::infer::{Infer, pattern_name};
use super::modules::Modules;
use super::record::relabelled;
use super::show::show;
use super::ty::Ty;
use crate::ir::{Function, Type};
use crate::source::Span;

/// A declaration's type.
#[derive(Clone, Debug)]
pub struct Signature {
    pub name: String,
    pub text: String,
    /// The types in it.
    params: Vec<(String, String)>,
    result: String,
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
    let higher_order = params.iter().any(|(_, ty)| matches!(infer.holes.head(ty), Ty::Fun(..)));
    let params = params.into_iter().map(|(param, ty)| (param, show(&infer.holes, &ty, &mut holes))).collect();
    let result = show(&infer.holes, &result, &mut holes);
    let mut signature = Signature { name, text: String::new(), params, result, places: places(modules, index) };
    signature.write();
    if function.is_none() {
        signature.text += if higher_order { "    // no entry: it takes a function" } else { "    // no entry: its type is open" };
    }
    signature
}

fn places(modules: &Modules, index: usize) -> Vec<Span> {
    let decl = &modules.globals[index].decl;
    super::infer::parameters(&decl.params, &decl.body).0.iter().map(|pattern| pattern.span).collect()
}

/// The signature of an entry that is derived from the declaration of this number.
pub fn of_derived(infer: &Infer, modules: &Modules, index: usize, function: &Function) -> Signature {
    let (name, text) = (function.name.to_string(), String::new());
    let mut signature = Signature { name, text, params: Vec::new(), result: String::new(), places: places(modules, index) };
    signature.renew(infer, function);
    signature
}

impl Signature {
    /// What is printed of a core function.
    pub fn renew(&mut self, infer: &Infer, function: &Function) {
        let holes = super::holes::Holes::default();
        let of = |ty, labels| show(&holes, &infer.with_labels(ty, labels), &mut Vec::new());
        let params = function.params.iter().enumerate();
        self.params = params.map(|(at, param)| (param.name().to_string(), of(param.ty(), function.parameter_labels(at)))).collect();
        self.result = of(&function.result, function.result_labels());
        self.write();
    }

    fn write(&mut self) {
        let params: String = self.params.iter().map(|(param, ty)| format!(" ({param}: {ty})")).collect();
        self.text = format!("let {}{params} : {}", self.name, self.result);
    }

    /// Of the derivative that the way forward is made of: its value, and what is kept.
    pub fn make_forward(&mut self, kept: &Type) {
        let value = self.params.pop().map(|(_, ty)| ty).unwrap_or_default();
        // a tuple has a `*` outside brackets
        let is_tuple = |ty: &str| {
            let mut depth = 0;
            ty.chars().any(|c| {
                depth += i32::from(matches!(c, '<' | '(')) - i32::from(matches!(c, '>' | ')'));
                c == '*' && depth == 0
            })
        };
        let part = |ty: &str| if is_tuple(ty) { format!("({ty})") } else { ty.to_string() };
        self.result = format!("{} * {}", part(&value), part(&kept.to_string()));
        self.write();
    }

    /// The signature with another result.
    pub fn set_result(&mut self, result: &Type) {
        self.result = result.to_string();
        self.write();
    }

    /// Of the derivative that the way back is made of: what is kept takes the place of the function's parameters.
    pub fn make_backward(&mut self, name: &str, kept: &Type) {
        self.params.splice(..self.params.len().saturating_sub(1), [(name.to_string(), kept.to_string())]);
        self.places.clear();
        self.write();
    }
}
