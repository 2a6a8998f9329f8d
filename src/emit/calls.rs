//! How a caller's values become the C arguments of an entry: for `--manifest`, and for the bindings that read it.
//!
//! In: an entry of emitted C and its core function. Out: a tree for each parameter and for the result, whose leaves are the C parameters;
//! a length is a number, a C name, or an operation on such, a list with the operator first.
//!
//!     f (c: Camera) (v: Vector<n>) : Vector<n + 1>   →
//!     c    {"kind": "record", "record": "Camera", "fields": [{"name": "focal", "value": {"kind": "double", "parameter": "c_focal"}}, …]}
//!     v    {"kind": "array", "length": "n", "element": {"kind": "double", "parameter": "v"}}
//!     out  {"kind": "array", "length": ["+", "n", 1], "element": {"kind": "double", "parameter": "out"}}

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::{CFiles, EntrySignature, Parameter, ParameterKind, size_text};
use crate::ir::{Expr, Function, Labels, Program, Size, Term, Type, Var};

/// How one entry is called.
#[derive(Serialize)]
pub struct Call<'a> {
    /// The name of the entry in the manifest's list: that of the C function.
    entry: &'a str,
    /// The name in the source.
    pub source_name: &'a str,
    /// The type as `smoothc check` prints it.
    signature: &'a str,
    pub parameters: Vec<Named>,
    pub result: Tree,
    /// Whether a call ever needs workspace, or its recursion goes deeper with more.
    needs_workspace: bool,
}

/// A value under its name in the source.
#[derive(Serialize)]
pub struct Named {
    pub name: String,
    pub value: Tree,
}

/// A value as the source has it.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Tree {
    Double {
        parameter: String,
    },
    Index {
        parameter: String,
        /// What it is less than, where the type says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        below: Option<Value>,
        /// Of a sum type whose cases have no data, whose values are tags alone: its name and its cases.
        #[serde(skip_serializing_if = "Option::is_none")]
        record: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        cases: Vec<Case>,
    },
    Bool {
        parameter: String,
    },
    Array {
        length: Value,
        element: Box<Tree>,
    },
    Tuple {
        parts: Vec<Tree>,
    },
    Record {
        record: String,
        fields: Vec<Named>,
        /// Of a sum type.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        cases: Vec<Case>,
    },
}

/// A case of a sum type.
#[derive(Serialize)]
pub struct Case {
    /// As the source has it.
    pub name: String,
    /// The field with its data; none where it has none.
    pub field: Option<String>,
}

/// How each entry is called; `signatures` are the types of entries as text.
pub fn all<'a>(files: &'a CFiles, program: &Program, signatures: &[(&'a str, &'a str)]) -> Vec<Call<'a>> {
    let calls = files.entries.iter().filter_map(|entry| {
        let signature = signatures.iter().find(|(name, _)| *name == entry.source_name).map(|(_, text)| *text);
        Some(call(entry, program.functions.get(entry.source_name.as_str())?, signature.unwrap_or_default()))
    });
    calls.collect()
}

/// How an entry is called.
fn call<'a>(entry: &'a EntrySignature, function: &Function, signature: &'a str) -> Call<'a> {
    let names: Vec<(&Var, &str)> = entry.parameters.iter().filter_map(|parameter| Some((variable(parameter)?, &*parameter.name))).collect();
    let is_size = |parameter: &&Parameter| matches!(parameter.kind, ParameterKind::Size(_));
    let mut c_names = entry.parameters.iter().filter(|parameter| !is_size(parameter)).map(|parameter| parameter.name.as_str());
    let mut parameters = Vec::new();
    for (at, param) in function.params.iter().enumerate() {
        let size = entry.parameters.iter().filter(is_size).find(|parameter| variable(parameter) == Some(param));
        let mut trees = Trees { names: &names, leaves: &mut c_names, size: size.map(|size| size.name.as_str()) };
        parameters.push(Named { name: param.name().to_string(), value: trees.tree(param.ty(), function.parameter_labels(at)) });
    }
    let result = Trees { names: &names, leaves: &mut c_names, size: None }.tree(&function.result, function.result_labels());
    Call { entry: &entry.name, source_name: &entry.source_name, signature, parameters, result, needs_workspace: entry.needs_workspace }
}

/// The cases of a sum type; none of a record.
fn cases(labels: &Labels) -> Vec<Case> {
    let Labels::Sum(_, cases, fields) = labels else {
        return Vec::new();
    };
    let field = |at: &Option<usize>| Some(fields.get((*at)?)?.0.to_string());
    cases.iter().map(|(name, at)| Case { name: name.to_string(), field: field(at) }).collect()
}

/// A C parameter that is the data of cases: the tags that its value must have for them to be read, each with the number.
pub type Guards<'a> = HashMap<&'a str, Vec<(&'a str, usize)>>;

impl Call<'_> {
    /// The parameters that only some cases of values of sum types read. Those of arrays of such values are not among them.
    pub fn guards(&self) -> Guards<'_> {
        let mut found = HashMap::new();
        for named in &self.parameters {
            named.value.guards(&[], false, &mut found);
        }
        found
    }
}

impl Tree {
    /// Tags of the elements of an array are arrays themselves, and say nothing of all elements: only those around the array count.
    fn guards<'a>(&'a self, outer: &[(&'a str, usize)], is_in_array: bool, found: &mut Guards<'a>) {
        match self {
            Tree::Double { parameter } | Tree::Index { parameter, .. } | Tree::Bool { parameter } => {
                if !outer.is_empty() {
                    found.insert(parameter, outer.to_vec());
                }
            }
            Tree::Array { element, .. } => element.guards(outer, true, found),
            Tree::Tuple { parts } => parts.iter().for_each(|part| part.guards(outer, is_in_array, found)),
            Tree::Record { fields, cases, .. } => {
                let tag = fields.first().filter(|_| !is_in_array).and_then(|first| match &first.value {
                    Tree::Index { parameter, .. } => Some(parameter.as_str()),
                    Tree::Double { .. } | Tree::Bool { .. } | Tree::Array { .. } | Tree::Tuple { .. } | Tree::Record { .. } => None,
                });
                for field in fields {
                    let case = cases.iter().position(|case| case.field.as_deref() == Some(&*field.name));
                    let inner: Vec<_> = outer.iter().copied().chain(tag.zip(case)).collect();
                    field.value.guards(&inner, is_in_array, found);
                }
            }
        }
    }
}

/// What lengths call a C parameter.
fn variable(parameter: &Parameter) -> Option<&Var> {
    match &parameter.kind {
        ParameterKind::Size(var) => Some(var),
        ParameterKind::Scalar(var) => var.as_ref(),
        ParameterKind::Array(_) | ParameterKind::OutScalar | ParameterKind::OutArray(_) => None,
    }
}

/// Makes trees, and gives each leaf the next C parameter.
struct Trees<'a, 'b> {
    names: &'a [(&'b Var, &'b str)],
    leaves: &'a mut dyn Iterator<Item = &'b str>,
    /// The C name of a parameter that is passed among the sizes.
    size: Option<&'b str>,
}

impl Trees<'_, '_> {
    fn tree(&mut self, ty: &Type, labels: &Labels) -> Tree {
        // a record of one field is that field behind the types
        if let (Labels::Record(record, _), Some((field, inside))) = (labels, labels.sole()) {
            let value = self.tree(ty, inside);
            return Tree::Record { record: record.to_string(), fields: vec![Named { name: field.to_string(), value }], cases: Vec::new() };
        }
        match ty {
            Type::Double => Tree::Double { parameter: self.leaf() },
            Type::Bool => Tree::Bool { parameter: self.leaf() },
            // no entry has one: `driver` refuses it
            Type::Rec(_) => Tree::Tuple { parts: Vec::new() },
            Type::Index(below) => {
                let below = below.as_ref().and_then(|size| self.length(size));
                let record = if let Labels::Sum(sum, ..) = labels { Some(sum.to_string()) } else { None };
                Tree::Index { parameter: self.leaf(), below, record, cases: cases(labels) }
            }
            Type::Array(element, length) => {
                let length = self.length(length).unwrap_or_default();
                Tree::Array { length, element: self.tree(element, labels.element()).into() }
            }
            Type::Tuple(parts) => {
                let parts = parts.iter().enumerate().map(|(at, part)| self.tree(part, labels.part(at))).collect::<Vec<_>>();
                match labels {
                    Labels::Record(record, fields) | Labels::Sum(record, _, fields) => {
                        let values = fields.iter().zip(parts).map(|((name, _), value)| Named { name: name.to_string(), value });
                        Tree::Record { record: record.to_string(), fields: values.collect(), cases: cases(labels) }
                    }
                    Labels::None | Labels::Array(_) | Labels::Tuple(_) | Labels::Recursive(_) | Labels::Named(..) => Tree::Tuple { parts },
                }
            }
        }
    }

    fn leaf(&mut self) -> String {
        self.size.or_else(|| self.leaves.next()).unwrap_or_default().to_string()
    }

    /// A length over C names; none of a size that depends on data, which no signature has.
    fn length(&self, size: &Size) -> Option<Value> {
        self.operation(&size.to_expr()?)
    }

    fn operation(&self, expr: &Expr) -> Option<Value> {
        match expr.term() {
            Term::Var(var) => {
                let name = self.names.iter().find(|(known, _)| *known == var).map(|(_, name)| *name);
                Some(json!(name?))
            }
            Term::Index(value) => Some(json!(value)),
            Term::Bool(value) => Some(json!(value)),
            Term::If(cond, then, otherwise) => {
                Some(json!(["if", self.operation(cond)?, self.operation(then)?, self.operation(otherwise)?]))
            }
            Term::Prim(prim, args) => {
                let mut list = vec![json!(prim.row().name)];
                for arg in args {
                    list.push(self.operation(arg)?);
                }
                Some(Value::Array(list))
            }
            Term::Fold { n, acc, i, body, init } => {
                let own = size_text::binders(expr);
                let names: Vec<(&Var, &str)> = [(acc, &*own[0]), (i, &*own[1])].into_iter().chain(self.names.iter().copied()).collect();
                let next = Trees { names: &names, leaves: &mut std::iter::empty(), size: None }.operation(body)?;
                Some(json!(["ifold", self.operation(n)?, self.operation(init)?, next, own[0], own[1]]))
            }
            Term::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.operation(part)).collect::<Option<Vec<_>>>()?;
                Some(Value::Array([vec![json!("tuple")], parts].concat()))
            }
            Term::Proj(states, k) => Some(json!(["part", self.operation(states)?, k])),
            Term::Double(_)
            | Term::Let(..)
            | Term::Build { .. }
            | Term::While { .. }
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Update(..)
            | Term::Iso(..)
            | Term::Check { .. }
            | Term::Dual { .. }
            | Term::Vjp { .. } => None,
        }
    }
}
