//! Functions and entry points: names, sizes, parameters, results, and what an entry's own signature promises.
//!
//! In: a core function. Out: its definition, and its signature for those who call it. A parameter or result of an entry
//! that is a tuple becomes its components, an array of tuples one array for each component; other functions have the
//! types that the core has.
//!
//!     f (p: Double * Index) : Array<Double * Double, 3>   →   entry f (p_0: f64) (p_1: i64) : ([3]f64, [3]f64)

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::boundary;
use super::clean::clean;
use super::context::{ANY_ARGUMENT, Emitter, Place};
use super::guard::{self, Checked};
use super::hoist;
use super::layout;
use super::signature::Signature;
use super::syntax::{Binding, Fut, Pattern};
use super::term::typed_literals;
use super::types::Shape;
use super::unique;
use crate::diagnostic::Diagnostic;
use crate::emit::names::Names;
use crate::ir::free::mentions;
use crate::ir::prove::Facts;
use crate::ir::{Function, Status, Type, Var};
use crate::source::Span;

/// How a definition begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyword {
    Def,
    Entry,
}

/// One definition: its documentation and its lines.
#[derive(Clone, Debug)]
pub struct Definition {
    pub name: String,
    pub doc: Vec<String>,
    pub lines: Vec<String>,
    /// The names of an entry's implicit sizes, and of its parameters.
    pub sizes: Vec<String>,
    pub params: Vec<String>,
    pub result: Shape,
}

/// Emits one function under a name; also what its callers must know.
pub fn define(
    function: &Function,
    keyword: Keyword,
    name: &str,
    is_called: bool,
    signatures: &HashMap<Rc<str>, Signature>,
    names: &mut Names,
    strict_fp: bool,
) -> Result<(Definition, Signature), Diagnostic> {
    names.open();
    let mut emitter = Emitter::new(signatures, names, Facts::for_function(function), strict_fp);
    let mut sizes = Vec::new();
    for size in &function.sizes {
        if let Pattern::Name(text) = emitter.declare(size, &Shape::Index) {
            sizes.push((text, None));
        }
    }
    let mut bindings = Vec::new();
    let mut params: Vec<(Pattern, Shape)> = Vec::new();
    for (at, param) in function.params.iter().enumerate() {
        let wanted = emitter.shape(param.ty());
        let shape = standing_alone(&wanted, &sizes);
        if keyword == Keyword::Entry {
            params.extend(boundary::parameters(&mut emitter, param, (&shape, function.parameter_labels(at)), &mut bindings));
        } else {
            params.push((emitter.declare(param, &shape), shape.clone()));
        }
        if let (Type::Index(_), Some(Place::One(Fut::Atom(text), _))) = (param.ty(), emitter.place(param)) {
            sizes.push((text.clone(), Some(at)));
        }
        if keyword == Keyword::Def || is_called {
            // two arguments may be one value
            emitter.comes_from(param, BTreeSet::from([ANY_ARGUMENT]));
        }
    }
    // lengths that are no names of their own, or names of later parameters
    for param in &function.params {
        let wanted = emitter.shape(param.ty());
        if let Some(Place::One(value, shape)) = emitter.place(param).cloned()
            && !shape.is_known()
        {
            let (value, shape) = emitter.settle(value, shape, &wanted);
            let text = emitter.local_of(param.name(), &shape);
            bindings.push(Binding { pattern: Pattern::Name(text.clone()), value });
            emitter.put(param, Place::One(Fut::atom(text), shape));
        }
    }
    let mut promises = Vec::new();
    if keyword == Keyword::Entry {
        for param in &function.params {
            let is_read = mentions(&function.body, param);
            for (Checked { path, is_part }, mut test) in emitter.declared_ranges(param) {
                let is_promise = is_part || !guard::needs(&function.body, (param, &path), true);
                if is_read && is_promise {
                    let name = emitter.local("in_range");
                    bindings.push(Binding { pattern: Pattern::Name(name.clone()), value: test });
                    test = Fut::atom(name);
                }
                if is_read {
                    emitter.guard_part((param, &path), test.clone(), Status::Range, &mut bindings);
                }
                if is_promise {
                    promises.push((Status::Range, test));
                }
            }
        }
    }
    if keyword == Keyword::Entry
        && let Some((size, _)) = sizes.iter().find(|(size, param)| param.is_none() && !is_length(size, &params))
    {
        return Err(of_no_array(function.span, size));
    }
    let wanted = emitter.shape(&function.result);
    let (body, found) = emitter.exp(&function.body);
    let (body, _) = emitter.settle(body, found, &wanted);
    if let Some(span) = emitter.irregular {
        return Err(depends_on_data(if span.is_none() { function.span } else { span }));
    }
    let result = wanted.clone();
    let mut body = if keyword == Keyword::Entry { boundary::result(&mut emitter, body, &result) } else { body };
    if !promises.is_empty() && !matches!(body, Fut::Atom(_) | Fut::Int(_)) {
        let name = emitter.local("result");
        bindings.push(Binding { pattern: Pattern::Name(name.clone()), value: body });
        body = Fut::atom(name);
    }
    for (status, test) in promises {
        body = Fut::assert(guard::helper(status), test, body);
    }
    let body = if matches!(body, Fut::Int(_)) { body } else { typed_result(body) };
    let shown = if keyword == Keyword::Entry && result.has_tuple() { flat_tuple(&result) } else { result.clone() };
    let mut read = BTreeSet::new();
    let body = clean(Fut::let_in(bindings, body), &mut read);
    let arrays = std::mem::take(&mut emitter.arrays);
    let unique::Definition { body, used_up, own } =
        unique::in_place(&params, &result, body, &arrays, signatures, keyword == Keyword::Entry);
    let (params, body) = with_all_read(params, body, keyword, &read);
    let lines = lines((keyword, name), &sizes, (&params, &used_up), shown.starred(&mut own.iter().copied()), &body);
    names.close();
    let doc: Vec<String> = function.doc.iter().flat_map(|doc| doc.lines()).map(|line| line.trim().to_string()).collect();
    let can_fail = hoist::can_fail(&function.body, Facts::for_function(function), signatures);
    let implicit = sizes.iter().filter(|(_, param)| param.is_none()).map(|(size, _)| size.clone()).collect();
    let named = params.iter().map(|(pattern, _)| layout::pattern(pattern)).collect();
    let params = params_of(function, &params, keyword);
    let signature = Signature { name: name.to_string(), sizes, params, result: wanted, can_fail, used_up, own };
    Ok((Definition { name: name.to_string(), doc, lines, sizes: implicit, params: named, result }, signature))
}

/// Literals inside a result are of the type that the definition declares.
fn typed_result(exp: Fut) -> Fut {
    let Fut::If(c, a, b) = exp else { return exp };
    Fut::If(c, Box::new(typed_literals(*a)), Box::new(typed_literals(*b)))
}

/// The shapes of parameters as a caller passes them.
fn params_of(function: &Function, params: &[(Pattern, Shape)], keyword: Keyword) -> Vec<Shape> {
    if keyword == Keyword::Def || params.len() == function.params.len() {
        params.iter().map(|(_, shape)| shape.clone()).collect()
    } else {
        Vec::new()
    }
}

fn flat_tuple(shape: &Shape) -> Shape {
    let mut leaves = shape.leaves();
    if leaves.len() == 1 { leaves.remove(0) } else { Shape::Tuple(leaves) }
}

/// The shape with only those lengths that are numbers or names of sizes and earlier parameters.
fn standing_alone(shape: &Shape, sizes: &[(String, Option<usize>)]) -> Shape {
    match shape {
        Shape::Array(element, length) => {
            let alone = |text: &String| text.parse::<i64>().is_ok() || sizes.iter().any(|(name, _)| name == text);
            Shape::array(standing_alone(element, sizes), length.clone().filter(alone))
        }
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(|part| standing_alone(part, sizes)).collect()),
        Shape::Double | Shape::Index | Shape::Bool => shape.clone(),
    }
}

/// Parameters that nobody reads: an entry keeps their names, and says that it does not use them.
fn with_all_read(params: Vec<(Pattern, Shape)>, body: Fut, keyword: Keyword, read: &BTreeSet<String>) -> (Vec<(Pattern, Shape)>, Fut) {
    let mut unused = Vec::new();
    let mut shown = Vec::new();
    for (pattern, shape) in &params {
        let pattern = match pattern {
            Pattern::Name(name) if !read.contains(name) && !is_length(name, &params) => match keyword {
                Keyword::Entry => {
                    unused.push(Binding { pattern: Pattern::Wild, value: Fut::atom(name) });
                    pattern.clone()
                }
                Keyword::Def => Pattern::Name(format!("_{name}")),
            },
            Pattern::Tuple(_) => super::clean::only_read(pattern.clone(), read),
            Pattern::Name(_) | Pattern::Sized { .. } | Pattern::Wild => pattern.clone(),
        };
        shown.push((pattern, shape.clone()));
    }
    (shown, Fut::let_in(unused, body))
}

/// `used_up`: which of the parameters.
fn lines(
    (keyword, name): (Keyword, &str),
    sizes: &[(String, Option<usize>)],
    (params, used_up): (&[(Pattern, Shape)], &[bool]),
    result: String,
    body: &Fut,
) -> Vec<String> {
    let head = format!("{} {name}", if keyword == Keyword::Entry { "entry" } else { "def" });
    let sizes: Vec<String> = sizes.iter().filter(|(_, param)| param.is_none()).map(|(size, _)| format!("[{size}]")).collect();
    let typed = |((pattern, shape), used_up): (&(Pattern, Shape), &bool)| {
        format!("({}: {})", layout::pattern(pattern), shape.starred(&mut std::iter::repeat(*used_up)))
    };
    let params: Vec<String> = params.iter().zip(used_up).map(typed).collect();
    let result = format!(" : {result} =");
    let one: Vec<String> = std::iter::once(head.clone()).chain(sizes.iter().cloned()).chain(params.iter().cloned()).collect();
    let one = format!("{}{result}", one.join(" "));
    let mut lines = Vec::new();
    if one.chars().count() <= layout::WIDTH || params.is_empty() {
        lines.push(one);
    } else {
        let blank = " ".repeat(head.chars().count() + 1);
        let mut rows = params;
        if !sizes.is_empty() {
            rows.insert(0, sizes.join(" "));
        }
        for (at, row) in rows.iter().enumerate() {
            lines.push(if at == 0 { format!("{head} {row}") } else { format!("{blank}{row}") });
        }
        if let Some(last) = lines.last_mut() {
            last.push_str(&result);
        }
    }
    lines.extend(layout::block(body, 2).into_iter().map(|line| format!("  {line}")));
    lines
}

/// Whether an entry's own types are not those of an entry point.
pub fn needs_boundary(function: &Function) -> bool {
    fn has_tuple(ty: &Type) -> bool {
        match ty {
            Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => false,
            Type::Array(element, _) => has_tuple(element),
            Type::Tuple(_) => true,
        }
    }
    let result = if let Type::Tuple(parts) = &function.result { parts.iter().any(has_tuple) } else { has_tuple(&function.result) };
    result || function.params.iter().any(|param: &Var| has_tuple(param.ty()))
}

/// Whether an array among the parameters has the length.
fn is_length(name: &str, params: &[(Pattern, Shape)]) -> bool {
    params.iter().any(|(_, shape)| shape.text().contains(&format!("[{name}]")))
}

/// A length that only arrays of `()` have, which are nothing in Futhark.
fn of_no_array(span: Span, size: &str) -> Diagnostic {
    Diagnostic::error("E0601", span, format!("unsupported: only arrays of `()`, which Futhark does not have, have the length `{size}`"))
        .help("take the length as a parameter of type Index")
}

/// The error for a length that no type can show.
pub fn depends_on_data(span: Span) -> Diagnostic {
    Diagnostic::error("E0601", span, "unsupported: size depends on data")
        .help("emitted code stores only arrays whose lengths follow from sizes and Index and Bool parameters; `smoothc eval` runs it")
}
