//! Emission of Futhark: core program → definitions → template → text.
//!
//! In: a core program without `dual`. Out: one `.fut` file whose entry points have the entries' names, and those names
//! by source name. Loops stay what they mean: a build is a `map` or `tabulate`, an associative fold a reduction, the
//! rest a `loop`; sizes are in types. Futhark checks reads itself; what it does not check is an `assert`.
//!
//!     let total (v: Vector<n>) : Double = vectorSum v   →   entry total [n] (v: [n]f64) : f64 = f64.sum v
//!
//! `term` goes through the core with `scalar`, `array`, `fold` (over `associative`), `guard` and `hoist`; `context` knows names and sizes,
//! `types` what Futhark infers, `lambda` how functions are written; `function` and `boundary` make definitions, `interface` describes
//! them. `chunk`, `scatter` and `split` run before, over `outline`; `clean`, `unique` and `layout` after.

mod array;
mod associative;
mod boundary;
mod chunk;
mod clean;
mod context;
mod fold;
mod free;
mod function;
mod guard;
mod helpers;
mod hoist;
pub mod interface;
mod lambda;
mod layout;
mod outline;
mod scalar;
mod scatter;
mod signature;
mod split;
mod syntax;
mod term;
#[cfg(test)]
mod tests;
mod types;
mod unique;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use serde::Serialize;

use interface::EntryInterface;

use super::names::{Names, sanitise};
use super::render;
use crate::diagnostic::Diagnostic;
use crate::ir::distinct::distinct;
use crate::ir::{Expr, Function, Program, Term, Type};
use crate::real::Real;
use function::{Definition, Keyword, define, needs_boundary};

/// How the file is called.
#[derive(Clone, Debug, Default)]
pub struct FutharkOptions {
    /// Goes before the names of entries.
    pub prefix: String,
    /// The source file's name, as the head comment shows it.
    pub source_name: String,
    /// What a Double is.
    pub real: Real,
    /// Sums and products of Doubles keep the order that the program gives them.
    pub strict_fp: bool,
}

/// What emission gives.
#[derive(Clone, Debug)]
pub struct FutharkFile {
    pub source: String,
    /// Source names of entries and what they are called in the file.
    pub entries: Vec<(Rc<str>, String)>,
    /// What they take and give, in the order of the file.
    pub interfaces: Vec<EntryInterface>,
}

#[derive(Serialize)]
struct DefinitionView {
    #[serde(skip)]
    name: String,
    doc: Vec<String>,
    lines: Vec<String>,
}

#[derive(Serialize)]
struct FileView {
    title: String,
    helpers: Vec<String>,
    definitions: Vec<DefinitionView>,
}

/// Prints a core program as Futhark.
pub fn futhark(program: &Program, options: &FutharkOptions) -> Result<FutharkFile, Diagnostic> {
    if let Some(function) = program.functions.values().find(|function| function.is_entry && has_unknown_length(&function.result)) {
        return Err(function::depends_on_data(function.span));
    }
    let program = in_range(program, options.real);
    let program = if options.strict_fp { program } else { scatter::scatter(&chunk::chunk(&program)) };
    let program = split::split(&reading_first(program));
    let mut names = Names::without(RESERVED);
    helpers::names().iter().for_each(|name| names.take(name));
    let called = called_functions(&program);
    let mut entries = Vec::new();
    let mut public = HashMap::new();
    for function in program.functions.values().filter(|function| function.is_entry) {
        let name = format!("{}{}", options.prefix, names.public(&readable(&function.name, "unnamed")));
        names.take(&name);
        entries.push((function.name.clone(), name.clone()));
        public.insert(function.name.clone(), name);
    }
    let mut signatures = HashMap::new();
    let mut definitions = Vec::new();
    let mut interfaces = Vec::new();
    let real = options.real;
    let mut describe = |function: &Function, name: &str, made: &Definition| {
        interfaces.push(EntryInterface::new(function, name, made.sizes.clone(), made.params.clone(), &made.result, real));
    };
    for function in program.functions.values() {
        let is_called = called.contains(&function.name);
        match public.get(&function.name) {
            // what begins with `_` cannot be called
            Some(name) if is_called && (needs_boundary(function) || name.starts_with('_')) => {
                let inner = names.public(&readable(name, "unnamed"));
                let (definition, signature) =
                    define(function, Keyword::Def, &inner, is_called, &signatures, &mut names, options.strict_fp)?;
                definitions.push(Definition { doc: Vec::new(), ..definition });
                signatures.insert(function.name.clone(), signature);
                let wrapper = calling(function);
                let (definition, _) = define(&wrapper, Keyword::Entry, name, false, &signatures, &mut names, options.strict_fp)?;
                describe(function, name, &definition);
                definitions.push(definition);
            }
            Some(name) => {
                let (definition, signature) =
                    define(function, Keyword::Entry, name, is_called, &signatures, &mut names, options.strict_fp)?;
                describe(function, name, &definition);
                definitions.push(definition);
                signatures.insert(function.name.clone(), signature);
            }
            None => {
                let name = names.public(&readable(&function.name, "unnamed"));
                let (definition, signature) = define(function, Keyword::Def, &name, is_called, &signatures, &mut names, options.strict_fp)?;
                definitions.push(definition);
                signatures.insert(function.name.clone(), signature);
            }
        }
    }
    let text: Vec<String> = definitions.iter().flat_map(|definition| definition.lines.iter().cloned()).collect();
    let helpers = helpers::needed(&text.join("\n")).iter().map(|helper| retyped(helper, options.real)).collect::<Vec<_>>();
    let mut definitions: Vec<DefinitionView> = definitions.into_iter().map(|definition| view(definition, options.real)).collect();
    // a first definition without documentation would take the title for its own
    if helpers.is_empty()
        && let Some(first) = definitions.first_mut()
        && first.doc.is_empty()
    {
        first.doc.push(format!("-- | {}", first.name));
    }
    let title = match options.source_name.as_str() {
        "" => "Generated by smoothc.".to_string(),
        name => format!("Generated by smoothc from {name}."),
    };
    let view = FileView { title, helpers, definitions };
    Ok(FutharkFile { source: render("futhark.tera", include_str!("../../../templates/futhark.tera"), &view)?, entries, interfaces })
}

fn has_unknown_length(ty: &Type) -> bool {
    let mut found = false;
    ty.each_size(&mut |size| found |= size.has_unknown());
    found
}

/// Reserved words, and what the prelude or our helpers define.
const RESERVED: &str = "
    true false if then else def let loop in val for do with local open include import type entry module while assert match case
    f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool map map1 map2 map3 map4 map5 reduce reduce_comm scan filter partition partition2
    reduce_by_index hist scatter scatter_2d spread all any null length head tail init last take drop split reverse concat
    concat_to rotate iota indices replicate tabulate tabulate_2d tabulate_3d copy manifest flatten flatten_3d flatten_4d flatten_to
    unflatten unflatten_3d unflatten_4d transpose and or foldl foldr fold id const flip curry uncurry compose zip zip2 zip3 zip4 zip5
    unzip unzip2 unzip3 unzip4 unzip5 update sized rank shapes not opaque trace break jvp jvp2 vjp vjp2 intrinsics stream_map
    stream_red sgn abs bounds shape negative div_zero range workspace";

/// A name that can be read: a leading underscore, also that of a `'` written out, would hide it.
fn readable(name: &str, otherwise: &str) -> String {
    let name = sanitise(name);
    let name = name.trim_start_matches('_');
    if name.is_empty() { otherwise.to_string() } else { name.to_string() }
}

/// The entry that calls the function of its name.
fn calling(function: &Function) -> Function {
    let entry = crate::ir::subst::freshen_function(function);
    let args = entry.params.iter().map(Expr::var).collect();
    let body = Expr::with_type(Term::Call(function.name.clone(), args), entry.result.clone(), function.span);
    Function { body, ..entry }
}

fn called_functions(program: &Program) -> BTreeSet<Rc<str>> {
    fn collect(expr: &Expr, found: &mut BTreeSet<Rc<str>>) {
        if let Term::Call(name, _) = expr.term() {
            found.insert(name.clone());
        }
        expr.term().each_child(&mut |child| collect(child, found));
    }
    let mut found = BTreeSet::new();
    program.functions.values().for_each(|function| collect(&function.body, &mut found));
    found
}

fn view(definition: Definition, real: Real) -> DefinitionView {
    let doc = definition.doc.iter().enumerate();
    let doc = doc.map(|(at, line)| format!("{} {line}", if at == 0 { "-- |" } else { "--" }).trim_end().to_string()).collect();
    DefinitionView { name: definition.name, doc, lines: definition.lines.iter().map(|line| retyped(line, real)).collect() }
}

/// The program with literals that are numbers of this type: Futhark refuses one that is too large.
fn in_range(program: &Program, real: Real) -> Program {
    fn literals(expr: &Expr, real: Real) -> Expr {
        match expr.term() {
            Term::Double(value) if real.round(*value).is_infinite() => Expr::double(real.round(*value)).at(expr.span()),
            _ => crate::ir::subst::map_children(expr, &mut |child| literals(child, real)),
        }
    }
    let mut program = program.clone();
    if real != Real::F64 {
        program.functions.values_mut().for_each(|function| function.body = literals(&function.body, real));
    }
    program
}

/// The program with names for what is read of an array before it is updated.
fn reading_first(mut program: Program) -> Program {
    for function in program.functions.values_mut().filter(|function| function.body.has_updates()) {
        function.body = distinct(&function.body);
    }
    program
}

/// The text with numbers of this type: `f64` is reserved, so the word is the type or the module of its functions.
fn retyped(text: &str, real: Real) -> String {
    let written = Real::F64.futhark();
    if real == Real::F64 {
        return text.to_string();
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(written) {
        let (before, after) = (&rest[..at], &rest[at + written.len()..]);
        let whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        result.push_str(before);
        result.push_str(if whole { real.futhark() } else { written });
        rest = after;
    }
    result + rest
}
