//! From the words of a command line to the arguments of an entry.
//!
//! In: `[[1, 2], [3, 4]]`, `@data.npy` and the entry's parameter types `(m: Matrix<r, c>)`. Out: flat values
//! and the numbers that size names have (`r = 2, c = 2`), or a diagnostic that names the parameter and the
//! position: "argument 1 (`m`): expected 2 elements, found 3 at [1]". Sizes are read off the first elements,
//! every element is then held against them; an inner size of an empty array that no other argument decides
//! is 0. A literal with a fraction or an exponent is no Index.

use std::path::Path;
use std::rc::Rc;

use super::input::{Input, Node, Place, Scalar, input, plain};
use super::json::Json;
use super::{cases, values};
use crate::diagnostic::Diagnostic;
use crate::ir::eval::{Rolled, Value};
use crate::ir::{Function, Labels, Recursive, Size, Type};
use crate::source::Span;
use crate::toolchain::flat::{Column, Flat, Shape};
use crate::toolchain::sizes::Bindings;

/// What an entry is called with.
#[derive(Clone, Debug)]
pub struct Arguments {
    pub bindings: Bindings,
    pub values: Vec<Flat>,
}

/// Reads and converts all arguments of an entry whose text is not at hand.
pub fn read(entry: &Function, words: &[String]) -> Result<Arguments, Vec<Diagnostic>> {
    read_at(entry, &[], words)
}

/// Reads and converts all arguments; every argument that is wrong gets its diagnostic, at the place where its parameter is written.
pub fn read_at(entry: &Function, places: &[Span], words: &[String]) -> Result<Arguments, Vec<Diagnostic>> {
    if words.len() != entry.params.len() {
        let signature: Vec<String> = entry.params.iter().map(|param| format!("`{}`", param.name())).collect();
        let wanted = if signature.is_empty() { "none".to_string() } else { signature.join(", ") };
        let whole = places.first().zip(places.last()).map_or(entry.span, |(first, last)| first.to(*last));
        let message = format!("`{}` takes {}, found {}", entry.name, counted(entry.params.len()), words.len());
        return Err(vec![Diagnostic::error("E0801", whole, message).help(format!("its parameters: {wanted}"))]);
    }
    let mut problems = Vec::new();
    let mut inputs = Vec::new();
    for (at, (word, param)) in words.iter().zip(&entry.params).enumerate() {
        let span = places.get(at).copied().unwrap_or(entry.span);
        let place = Place { number: at + 1, param, labels: entry.parameter_labels(at), span };
        match input(word, &place).and_then(|input| plain(input, &place)) {
            Ok(input) => inputs.push((place, input)),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let bindings = bind(&inputs);
    let mut values = Vec::new();
    for (place, input) in &inputs {
        match convert(place, input.node(), &bindings) {
            Ok(value) => values.push(value),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(Arguments { bindings, values }) } else { Err(problems) }
}

/// The files that the words name.
pub fn paths(words: &[String]) -> impl Iterator<Item = &Path> {
    words.iter().filter_map(|word| word.strip_prefix('@').map(Path::new))
}

fn counted(count: usize) -> String {
    if count == 1 { "1 argument".into() } else { format!("{count} arguments") }
}

/// What every size name and every Index and Bool parameter is: parameters first, then the first array that
/// shows a size, then 0.
fn bind(inputs: &[(Place, Input)]) -> Bindings {
    let mut bindings = Bindings::default();
    for (place, input) in inputs {
        match (place.param.ty(), input.node().scalar()) {
            (Type::Index(_), Some(Scalar::Number(_, Some(value)))) => bindings.bind(place.param, value),
            (Type::Bool, Some(Scalar::Bool(value))) => bindings.bind(place.param, i64::from(value)),
            _ => {}
        }
    }
    for (place, input) in inputs {
        observe((place.param.ty(), place.labels), input.node(), &mut bindings);
    }
    for (place, _) in inputs {
        place.param.ty().each_size(&mut |size| size.each_var(&mut |var| bindings.bind(var, 0)));
    }
    bindings
}

fn observe((ty, labels): (&Type, &Labels), node: Node, bindings: &mut Bindings) {
    if let Some((_, inside)) = labels.sole() {
        return observe((ty, inside), node.part(labels, 0).filter(|_| node.is_object()).unwrap_or(node), bindings);
    }
    match ty {
        Type::Array(element, size) => {
            if let (Some(var), Some(length)) = (size.as_var(), node.length()) {
                bindings.bind(var, length as i64);
            }
            match (node.element(0), node) {
                (Some(first), _) => observe((element, labels.element()), first, bindings),
                // an empty .npy array still says what its inner dimensions are
                (None, Node::Npy { array, axis, at }) if axis < array.dims.len() => {
                    observe((element, labels.element()), Node::Npy { array, axis: axis + 1, at }, bindings);
                }
                (None, Node::Npy { .. } | Node::Json(_)) => {}
            }
        }
        Type::Tuple(parts) => {
            for (at, part) in parts.iter().enumerate() {
                if let Some(node) = node.part(labels, at) {
                    observe((part, labels.part(at)), node, bindings);
                }
            }
        }
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => {}
    }
}

fn convert(place: &Place, node: Node, bindings: &Bindings) -> Result<Flat, Diagnostic> {
    let ty = place.param.ty();
    let unsized_ = || place.error("E0601", "its size depends on data");
    let shape = bindings.shape(ty).ok_or_else(unsized_)?;
    let mut columns: Vec<Column> = shape.columns().ok_or_else(unsized_)?.into_iter().map(|(column, _)| column).collect();
    let mut filler = Filler { place, bindings, path: Vec::new() };
    filler.fill((ty, place.labels), &shape, node, &mut columns)?;
    Ok(Flat { shape, columns })
}

/// A step into an argument.
enum Step {
    Element(usize),
    Field(Rc<str>),
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Step::Element(at) => write!(f, "[{at}]"),
            Step::Field(name) => write!(f, ".{name}"),
        }
    }
}

/// Appends an argument's scalars to its columns; keeps the position for messages.
struct Filler<'a> {
    place: &'a Place<'a>,
    bindings: &'a Bindings,
    path: Vec<Step>,
}

impl Filler<'_> {
    fn fill(&mut self, (ty, labels): (&Type, &Labels), shape: &Shape, node: Node, columns: &mut [Column]) -> Result<(), Diagnostic> {
        if let Some((field, inside)) = labels.sole() {
            if !node.is_object() {
                return self.fill((ty, inside), shape, node, columns);
            }
            self.has_parts(labels, 1, node)?;
            let Some(node) = node.part(labels, 0) else { return Ok(()) };
            self.path.push(Step::Field(field.clone()));
            let done = self.fill((ty, inside), shape, node, columns);
            self.path.pop();
            return done;
        }
        match (ty, shape, columns) {
            (Type::Double, _, [Column::Double(items)]) => match node.scalar() {
                Some(Scalar::Number(value, _)) => items.push(value),
                Some(Scalar::Bool(_)) | None => return Err(self.mismatch("a number", node)),
            },
            (Type::Bool, _, [Column::Bool(items)]) => match node.scalar() {
                Some(Scalar::Bool(value)) => items.push(value),
                Some(Scalar::Number(..)) | None => return Err(self.mismatch("true or false", node)),
            },
            (Type::Index(bound), _, [Column::Index(items)]) => match node.scalar() {
                Some(Scalar::Number(_, Some(value))) => {
                    self.in_range(bound.as_ref(), value)?;
                    items.push(value);
                }
                Some(Scalar::Number(value, None)) if value.fract() == 0.0 && value.abs() < 1e18 => {
                    let help = format!("write it as the integer {value:.0}");
                    return Err(self.mismatch("an integer", node).help(help));
                }
                Some(Scalar::Number(..) | Scalar::Bool(_)) | None => return Err(self.mismatch("an integer", node)),
            },
            (Type::Array(element, size), Shape::Array(length, inner), columns) => {
                let Some(found) = node.length() else { return Err(self.mismatch("an array", node)) };
                if found != *length || self.bindings.size(size).is_some_and(|size| size < 0) {
                    return Err(self.wrong_length(size, found));
                }
                if let (0, Node::Npy { array, axis, .. }) = (found, node) {
                    self.fits_nothing(ty, &array.dims, axis)?;
                }
                for at in 0..found {
                    let Some(node) = node.element(at) else { break };
                    self.path.push(Step::Element(at));
                    self.fill((element, labels.element()), inner, node, columns)?;
                    self.path.pop();
                }
            }
            (Type::Tuple(parts), Shape::Tuple(shapes), columns) => {
                self.has_parts(labels, parts.len(), node)?;
                let mut rest = columns;
                for (at, (part, shape)) in parts.iter().zip(shapes).enumerate() {
                    let Some(node) = node.part(labels, at) else { break };
                    let (mine, others) = rest.split_at_mut(shape.leaves().min(rest.len()));
                    self.path.push(labels.field(at).map_or(Step::Element(at), |field| Step::Field(field.clone())));
                    self.fill((part, labels.part(at)), shape, node, mine)?;
                    self.path.pop();
                    rest = others;
                }
            }
            (Type::Rec(of), _, [Column::Rolled(items)]) => items.push(self.rolled(of, node)?),
            (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_), _, _) => {
                return Err(self
                    .place
                    .error("E0901", "its columns do not fit its type")
                    .help("this is a bug in smoothc: please report it"));
            }
        }
        Ok(())
    }

    /// A value of a recursive type; its arrays have lengths of their own.
    fn rolled(&mut self, of: &Recursive, node: Node) -> Result<Value, Diagnostic> {
        let (ty, labels) = (of.defined(), of.labels());
        let json = match node {
            Node::Json(Json::Absent) => return Ok(Value::Rolled(Rolled::ABSENT)),
            Node::Json(json) => cases::plain(json, &ty, &labels).map_err(|problem| {
                let at = format!("{}{}", self.at().strip_prefix(" at ").unwrap_or_default(), problem.path);
                let at = if at.is_empty() { at } else { format!(" at {at}") };
                self.place.error("E0805", format_args!("{}{at}", problem.message)).help(problem.help)
            })?,
            Node::Npy { .. } => return Err(self.mismatch(&format!("a case of `{}`", of.name()), node)),
        };
        let mut bindings = Bindings::default();
        observe((&ty, &labels), Node::Json(&json), &mut bindings);
        ty.each_size(&mut |size| size.each_var(&mut |var| bindings.bind(var, 0)));
        let unsized_ = || self.place.error("E0601", "its size depends on data");
        let shape = bindings.shape(&ty).ok_or_else(unsized_)?;
        let mut columns: Vec<Column> = shape.columns().ok_or_else(unsized_)?.into_iter().map(|(column, _)| column).collect();
        let mut inside = Filler { place: self.place, bindings: &bindings, path: std::mem::take(&mut self.path) };
        let done = inside.fill((&ty, &labels), &shape, Node::Json(&json), &mut columns);
        self.path = inside.path;
        done?;
        Ok(Value::Rolled(Rolled::new(values::from_flat(&Flat { shape, columns }))))
    }

    /// Whether a tuple's components are there; a record's by name, each once, or in their order.
    fn has_parts(&self, labels: &Labels, count: usize, node: Node) -> Result<(), Diagnostic> {
        let (Labels::Record(record, fields), Node::Json(Json::Object(found))) = (labels, node) else {
            return match (node.length() == Some(count), labels) {
                (true, _) => Ok(()),
                (false, Labels::Record(record, _)) => Err(self.mismatch(&format!("an object of the fields of `{record}`"), node)),
                (false, _) => Err(self.mismatch(&format!("an array of the {count} components"), node)),
            };
        };
        let is_there = |name: &str| found.iter().any(|(other, _)| *other == *name);
        if let Some((missing, _)) = fields.iter().find(|(name, _)| !is_there(name)) {
            return Err(self.mismatch(&format!("the field `{missing}` of `{record}`"), node));
        }
        let is_field = |name: &str| fields.iter().any(|(field, _)| **field == *name);
        let stray = found.iter().enumerate().find(|(at, (name, _))| !is_field(name) || found[..*at].iter().any(|(other, _)| other == name));
        match stray {
            Some((_, (name, _))) => {
                Err(self.place.error("E0805", format_args!("expected the fields of `{record}` once each, found `{name}`{}", self.at())))
            }
            None => Ok(()),
        }
    }

    /// Whether an array without elements has the dimensions of its type: no element is there to say so.
    fn fits_nothing(&self, ty: &Type, dims: &[usize], axis: usize) -> Result<(), Diagnostic> {
        match (ty, dims.get(axis)) {
            (Type::Array(element, size), Some(length)) => match self.bindings.size(size) == Some(*length as i64) {
                true => self.fits_nothing(element, dims, axis + 1),
                false => Err(self.wrong_length(size, *length)),
            },
            (Type::Tuple(parts), Some(length)) if *length == parts.len() => {
                parts.iter().try_for_each(|part| self.fits_nothing(part, dims, axis + 1))
            }
            (Type::Double | Type::Bool | Type::Index(_), None) => Ok(()),
            (Type::Array(..) | Type::Tuple(_) | Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_), _) => {
                let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
                let comma = if dims.len() == 1 { "," } else { "" };
                let message = format!("the shape ({}{comma}) does not fit `{}`", dims.join(", "), self.place.param.ty());
                Err(self.place.error("E0805", message).help("an array without elements has dimensions too"))
            }
        }
    }

    /// " at [3][1]", or nothing for the argument as a whole.
    fn at(&self) -> String {
        if self.path.is_empty() {
            return String::new();
        }
        format!(" at {}", self.path.iter().map(Step::to_string).collect::<String>())
    }

    fn mismatch(&self, wanted: &str, node: Node) -> Diagnostic {
        self.place.error("E0805", format_args!("expected {wanted}, found {}{}", node.describe(), self.at()))
    }

    fn wrong_length(&self, size: &Size, found: usize) -> Diagnostic {
        let value = self.bindings.size(size).map_or_else(|| "?".into(), |value| value.to_string());
        let why = if size.as_constant().is_some() { String::new() } else { format!(" (`{size}`)") };
        self.place.error("E0806", format_args!("expected {value}{why} elements, found {found}{}", self.at()))
    }

    fn in_range(&self, bound: Option<&Size>, value: i64) -> Result<(), Diagnostic> {
        match bound.map(|bound| (bound, self.bindings.size(bound))) {
            Some((bound, Some(limit))) if value < 0 || value >= limit => {
                let name = if bound.as_constant().is_some() { String::new() } else { format!(" (`{bound}` = {limit})") };
                Err(self.place.error("E0807", format_args!("{value} is not an index below {limit}{name}{}", self.at())))
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
