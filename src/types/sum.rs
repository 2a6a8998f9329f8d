//! Sum types: a value is one of several cases, each with data of its own.
//!
//! In: `type` declarations with cases; cases as values and in patterns. Out: records of a tag and the data of every case, so that
//! nothing below `types` knows of sums: a value has the number of its case, its data, and zeros for the data of the others, with arrays
//! of length 0, or of the number that the declaration says. Lengths that are no numbers are therefore the value's own, and what a
//! declaration says of them holds in its case. Where the type contains itself (`recursion`), that tuple is rolled.
//!
//!     type Shape = | Circle of Double | Box of Double * Double | Empty
//!     Box (1.0, 2.0)   →   (1, 0.0, (1.0, 2.0))      (tag, circle, box)
//!
//!     type List = | Nil | Cons of Double * List
//!     Cons (1.0, l)    →   roll (1, (1.0, l))         Nil   →   roll (0, (0.0, absent))

use std::rc::Rc;

use super::canonical::Actual;
use super::elaborate::{Elaborator, Result};
use super::infer::{Infer, Scope};
use super::record::component;
use super::ty::{Case, Data, Record, Ty};
use crate::diagnostic::{Diagnostic, nearest};
use crate::ir::subst::substitute;
use crate::ir::{Atom, Expr, Function, Labels, Prim, Program, Size, Term, Type, Var, zero};
use crate::source::Span;
use crate::syntax::BUILT_IN_TYPES;
use crate::syntax::ast::{self, ExprKind, Name, Pattern, TypeDecl, TypeExpr};

/// What C, Futhark and the manifest call the data of a case after these fields: `circle`, and `tag_` for a case `Tag`.
fn field(name: &str, before: &[Rc<str>]) -> Rc<str> {
    let mut letters = name.chars();
    let mut field = letters.next().map_or(String::new(), |first| first.to_ascii_lowercase().to_string() + letters.as_str());
    while before.iter().any(|other| **other == *field) {
        field.push('_');
    }
    field.into()
}

/// What the tag is called.
const TAG: &str = "tag";

impl Infer<'_> {
    /// The record that a sum type is: its tag, then the data of each case that has some.
    pub(super) fn sum(&mut self, decl: &TypeDecl, cases: &[(Name, Option<TypeExpr>)], file: usize) -> Record {
        let tag = Ty::Index(Some(Size::constant(cases.len() as i64)));
        let mut sum = Record {
            name: decl.name.clone(),
            file,
            sizes: Vec::new(),
            named: 0,
            fields: vec![TAG.into()],
            parts: vec![tag],
            cases: Vec::new(),
            recursive: self.groups.recursive(decl),
        };
        if let [(only, None)] = cases {
            self.warn_of_type(&decl.name, only);
        }
        for (at, (name, data)) in cases.iter().enumerate() {
            if !name.text.starts_with(|c: char| c.is_ascii_uppercase()) {
                let diagnostic = Diagnostic::error("E0312", name.span, format!("the case `{}` does not begin with a capital", name.text));
                self.report(diagnostic.help("cases begin with a capital, so that a pattern tells them from variables"));
            }
            if let Some((first, _)) = cases[..at].iter().find(|(other, _)| other.text == name.text) {
                let diagnostic = Diagnostic::error("E0207", name.span, format!("`{}` is bound twice", name.text));
                self.report(diagnostic.label(first.span, "first bound here").help("cases of a type have different names"));
            }
            let data = data.as_ref().map(|data| {
                self.sizes = decl.sizes.iter().fold(super::env::Env::default(), |sizes, size| {
                    sizes.with(&size.text, Size::var(&Var::fresh(&size.text, Type::INDEX)))
                });
                let field = field(&name.text, &sum.fields);
                let declared = self.convert(data);
                self.name_sizes(&field, &declared, &[]);
                let declared = self.holes.resolve(&declared);
                if super::contains_function(&declared) {
                    let message = format!("the data of `{}` are a function", name.text);
                    self.report(
                        Diagnostic::error("E0310", data.span, message).help("functions are passed to functions, or bound with `let`"),
                    );
                }
                sum.parts.push(own_lengths(&declared, &mut sum.sizes));
                sum.fields.push(field);
                Data { part: sum.parts.len() - 1, declared }
            });
            sum.cases.push(Case { name: name.clone(), data });
        }
        sum
    }

    /// Warns where the only case of a type is named as another type: who writes `type S = Double` wants a second name for it.
    fn warn_of_type(&mut self, sum: &Name, case: &Name) {
        let is_declared = self.modules.types.iter().any(|global| global.decl.name.text == case.text);
        if case.text == sum.text || !is_declared && !BUILT_IN_TYPES.contains(&&*case.text) {
            return;
        }
        let message = format!("`{}` is a case of `{}` here, not the type of that name", case.text, sum.text);
        let help = format!("a type has one name: write `{0}` for `{1}`, or wrap it: `type {1} = | {1} of {0}`", case.text, sum.text);
        self.report(Diagnostic::warning("W0315", case.span, message).help(help));
    }

    /// The case that a name means at a place: of the last declared type that has it.
    fn visible_case(&self, name: &str, span: Span) -> Option<(Rc<Record>, usize)> {
        self.visible_records(span, self.file).find_map(|sum| Some((sum.clone(), sum.case(name)?)))
    }

    /// The case that an expression is by name; local names hide cases.
    pub(super) fn case_of(&self, expr: &ast::Expr, scope: &Scope) -> Option<(Rc<Record>, usize)> {
        let ExprKind::Var(name) = &expr.kind else { return None };
        let is_capital = name.starts_with(|c: char| c.is_ascii_uppercase());
        if is_capital && scope.get(name).is_none() { self.visible_case(name, expr.span) } else { None }
    }

    /// The type of a case as a value: of the sum, with `args`, or a function of its data.
    pub(super) fn constructor(&mut self, sum: &Rc<Record>, case: usize, args: Option<&[ast::Expr]>, span: Span, scope: &Scope) -> Ty {
        let (result, _) = self.fresh_record(sum);
        let Some(found) = sum.cases.get(case) else { return result };
        let name = &found.name.text;
        let data = found.data.as_ref().map(|data| self.fresh_data(&data.declared));
        match (args, data) {
            (None, None) => {}
            (None, Some(data)) => return Ty::fun(vec![data], result),
            (Some([arg]), Some(data)) => {
                let ty = self.expr(arg, scope).ty;
                self.no_function(arg.span, &ty, "stored in a case");
                self.expect(arg.span, &data, &ty, &format!("the data of `{name}` have the type of its declaration"));
            }
            (Some(args), data) => {
                args.iter().for_each(|arg| drop(self.expr(arg, scope)));
                let (message, help) = match data {
                    Some(_) => (
                        format!("`{name}` takes its data as one value, found {}", args.len()),
                        format!("several data are one tuple: `{name} (a, b)`"),
                    ),
                    None => (format!("`{name}` has no data"), format!("the value is `{name}` alone")),
                };
                self.report(Diagnostic::error("E0312", span, message).help(help));
            }
        }
        result
    }

    /// What is said of a case that stands without its data where a value is wanted.
    pub(super) fn case_without_data(&self, span: Span) -> Option<Diagnostic> {
        let (sum, case) = self.notes.cases.get(&span)?;
        let case = sum.cases.get(*case)?;
        let declared = self.holes.head(&case.data.as_ref()?.declared);
        let name = &case.name.text;
        let given = if let Ty::Tuple(parts) = &declared
            && (1..=26).contains(&parts.len())
        {
            let letters: Vec<String> = ('a'..='z').take(parts.len()).map(String::from).collect();
            format!("({})", letters.join(", "))
        } else {
            "x".to_string()
        };
        let help = format!("write `{name} {given}`: the data are of type {}", self.text(&declared));
        Some(Diagnostic::error("E0312", span, format!("`{name}` has data")).help(help))
    }

    fn fresh_data(&mut self, declared: &Ty) -> Ty {
        let mut known: Vec<(Var, Size)> = Vec::new();
        let holes = &mut self.holes;
        let mut fresh = |size: &Size| {
            size.substitute(&mut |atom| match atom {
                Atom::Var(var) => Some(match known.iter().find(|(other, _)| other == var) {
                    Some((_, size)) => size.clone(),
                    None => {
                        let size = holes.fresh_size();
                        known.push((var.clone(), size.clone()));
                        size
                    }
                }),
                Atom::Unknown(_) | Atom::Term(_) => None,
            })
        };
        declared.map(&mut fresh, &mut Ty::Hole)
    }

    /// Binds the data of a case in a pattern.
    pub(super) fn case_pattern(&mut self, name: &Name, data: Option<&Pattern>, span: Span, ty: &Ty, scope: &Scope) -> Scope {
        let of_value = match self.holes.head(ty) {
            Ty::Record(sum, _) => sum.case(&name.text).map(|case| (sum.clone(), case)),
            Ty::Rec(of) => self.record_of(&of).and_then(|sum| Some((sum.clone(), sum.case(&name.text)?))),
            Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Array(..) | Ty::Tuple(_) | Ty::Fun(..) | Ty::Hole(_) => None,
        };
        let Some((sum, case)) = of_value.or_else(|| self.visible_case(&name.text, name.span)) else {
            self.unknown_case(name, ty);
            let open = self.fresh_type();
            return data.map_or(scope.clone(), |data| self.bind(data, &open, None, scope));
        };
        let (whole, _) = self.fresh_record(&sum);
        if self.holes.unify(ty, &whole).is_err() {
            let message = format!("expected a pattern of type {}, found one of type {}", self.text(ty), sum.name.text);
            self.report(Diagnostic::error("E0301", span, message).help("the patterns of a `match` have the type of its value"));
        }
        self.notes.cases.insert(span, (sum.clone(), case));
        self.matches_all(sum.cases.len() == 1, span);
        let wanted = sum.cases.get(case).and_then(|case| case.data.as_ref()).map(|data| self.fresh_data(&data.declared));
        match (data, wanted) {
            (Some(data), Some(wanted)) => self.bind(data, &wanted, None, scope),
            (None, None) => scope.clone(),
            (Some(data), None) => {
                let diagnostic = Diagnostic::error("E0312", data.span, format!("`{}` has no data", name.text));
                self.report(diagnostic.help(format!("the pattern is `{}` alone", name.text)));
                let open = self.fresh_type();
                self.bind(data, &open, None, scope)
            }
            (None, Some(_)) => {
                let diagnostic = Diagnostic::error("E0312", span, format!("`{}` has data", name.text));
                self.report(diagnostic.help(format!("write `{0} x`, or `{0} _` where they are not needed", name.text)));
                scope.clone()
            }
        }
    }

    fn unknown_case(&mut self, name: &Name, ty: &Ty) {
        let of_value: Vec<Rc<Record>> = match self.holes.head(ty) {
            Ty::Record(sum, _) if sum.is_sum() => vec![sum],
            Ty::Rec(of) => self.record_of(&of).into_iter().collect(),
            Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Array(..) | Ty::Tuple(_) | Ty::Record(..) | Ty::Fun(..) | Ty::Hole(_) => {
                self.visible_records(name.span, self.file).cloned().collect()
            }
        };
        let known: Vec<&str> = of_value.iter().flat_map(|sum| &sum.cases).map(|case| &*case.name.text).collect();
        let help = match nearest(&name.text, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => format!("declare its type above, in column 0: `type T = | {} of Double | …`", name.text),
            None => format!("the cases are {}; variables begin with a small letter", quoted(&known)),
        };
        self.report(Diagnostic::error("E0312", name.span, format!("unknown case `{}`", name.text)).help(help));
    }

    /// A pattern outside a `match` has to match every value.
    pub(super) fn matches_all(&mut self, all: bool, span: Span) {
        if !self.in_row && !all {
            let diagnostic = Diagnostic::error("E0313", span, "this pattern does not match every value");
            self.report(diagnostic.help("take the value apart with `match e with | … -> … | … -> …`"));
        }
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().take(8).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The type with a size of its own for each length that is no number, and without bounds of indices.
fn own_lengths(ty: &Ty, sizes: &mut Vec<Var>) -> Ty {
    match ty {
        Ty::Index(_) => Ty::INDEX,
        Ty::Array(element, size) if size.as_constant().is_some() => Ty::array(own_lengths(element, sizes), size.clone()),
        Ty::Array(element, size) => {
            let name = size.as_var().map_or("n".into(), |var| var.name().clone());
            let own = Var::fresh(&name, Type::INDEX);
            sizes.push(own.clone());
            Ty::array(own_lengths(element, sizes), Size::var(&own))
        }
        Ty::Tuple(parts) => Ty::tuple(parts.iter().map(|part| own_lengths(part, sizes)).collect()),
        Ty::Record(record, parts) => Ty::Record(record.clone(), parts.iter().map(|part| own_lengths(part, sizes)).collect()),
        Ty::Double | Ty::Bool | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => ty.clone(),
    }
}

impl<'a> Elaborator<'a> {
    /// Whether the name at a place is a case without data.
    pub(super) fn is_plain_case(&self, span: Span) -> bool {
        self.case_at(span).is_some_and(|(sum, case)| sum.cases.get(case).is_some_and(|case| case.data.is_none()))
    }

    pub(super) fn case_at(&self, span: Span) -> Option<(Rc<Record>, usize)> {
        self.infer.notes.cases.get(&span).cloned()
    }

    /// A value of a case: its tag, its data, and zeros for those of the other cases.
    pub(super) fn case_value(&mut self, sum: &Rc<Record>, case: usize, data: Option<Expr>, span: Span) -> Result<Expr> {
        let mut parts: Vec<Expr> = sum.parts.iter().filter_map(zero).collect();
        if let Some(tag) = parts.first_mut() {
            let bound = Size::constant(sum.cases.len() as i64);
            *tag = Expr::with_type(Term::Index(case as i64), Type::Index(Some(bound)), span);
        }
        let declared = sum.cases.get(case).and_then(|case| case.data.as_ref());
        if let (Some(value), Some(declared)) = (data, declared) {
            let value = self.declared_data(value, &declared.declared, span)?;
            parts.get_mut(declared.part).into_iter().for_each(|part| *part = value.clone());
        }
        let value = match (parts.pop(), parts.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                parts.extend(last);
                Expr::tuple(parts).at(span)
            }
        };
        Ok(match &sum.recursive {
            Some(of) => Expr::roll(of, value).at(span),
            None => value,
        })
    }

    /// Data with the lengths that the declaration of their case says.
    fn declared_data(&mut self, value: Expr, declared: &Ty, span: Span) -> Result<Expr> {
        let mut actual = Actual::default();
        actual.read(declared, &value.ty().map_sizes(&mut |size| self.normal(size)));
        let wanted = actual.fill(declared);
        self.coerce(value, &wanted, span, "the declaration of the case says so")
    }

    /// The same in a pattern: where the lengths can never agree the row is of a case that the value is not.
    fn matched_data(&mut self, value: Expr, declared: &Ty, span: Span) -> Result<Expr> {
        let mut actual = Actual::default();
        let have = value.ty().map_sizes(&mut |size| self.normal(size));
        actual.read(declared, &have);
        let wanted = actual.fill(declared);
        if differ(&have, &wanted)
            && let Some(zeros) = zero::zero(&wanted)
        {
            return Ok(zeros.at(span));
        }
        self.coerce(value, &wanted, span, "the declaration of the case says so")
    }

    /// A parameter from outside: a caller may pass NULL for the arrays of other cases, so those whose length is a number are not read.
    pub(super) fn guarded_parameter(&mut self, value: Expr, ty: &Ty) -> Expr {
        let (span, ty) = (value.span(), ty.sole().unwrap_or(ty));
        match (ty, value.ty().clone()) {
            (Ty::Record(sum, templates), Type::Tuple(types)) if sum.is_sum() && has_numbered(value.ty()) => {
                let tag = Expr::proj(value.clone(), 0);
                let mut parts = vec![tag.clone()];
                for at in 1..types.len() {
                    let part = Expr::proj(value.clone(), at);
                    let case = sum.cases.iter().position(|case| case.data.as_ref().is_some_and(|data| data.part == at));
                    let part = match templates.get(at) {
                        Some(template) => self.guarded_parameter(part, template),
                        None => part,
                    };
                    let is_case = Expr::prim(Prim::Eq, vec![tag.clone(), Expr::index(case.unwrap_or_default() as i64)]);
                    parts.push(numbered(part, &is_case));
                }
                Expr::tuple(parts).at(span)
            }
            (Ty::Tuple(templates) | Ty::Record(_, templates), Type::Tuple(types))
                if has_numbered(value.ty()) && has_sum_beside_arrays(ty) =>
            {
                let parts =
                    (0..types.len()).zip(templates.iter()).map(|(at, ty)| self.guarded_parameter(Expr::proj(value.clone(), at), ty));
                Expr::tuple(parts.collect()).at(span)
            }
            _ => value,
        }
    }

    /// The data of the case that a pattern names.
    pub(super) fn case_data(&mut self, span: Span, value: &Expr) -> Result<Expr> {
        let Some((sum, case)) = self.case_at(span) else { return self.function_as_value(span) };
        let Some(data) = sum.cases.get(case).and_then(|case| case.data.as_ref()) else { return self.function_as_value(span) };
        self.matched_data(component(&sum, value.clone(), data.part), &data.declared, span)
    }
}

/// Puts zeros for the data of the cases that arguments are not of, which a caller does not have to set, where entries differentiate: a
/// cotangent is read as a whole, where a `match` reads the data of one case.
pub(super) fn read_own_cases(program: &mut Program) {
    let differentiates = |function: &Function| {
        let reached = program.reachable([function.name.clone()]);
        reached.iter().filter_map(|name| program.functions.get(name)).any(|function| has_derivative(&function.body))
    };
    let has_cases = |function: &Function| (0..function.params.len()).any(|at| function.parameter_labels(at).has_cases());
    let entries = program.functions.values().filter(|function| function.is_entry && has_cases(function) && differentiates(function));
    let names: Vec<Rc<str>> = entries.map(|function| function.name.clone()).collect();
    for function in names.iter().filter_map(|name| program.functions.get(name).cloned()).collect::<Vec<_>>() {
        let own =
            function.params.iter().enumerate().map(|(at, param)| (param, under(&Expr::var(param), function.parameter_labels(at), None)));
        let changed: Vec<(Var, &Var, Expr)> = own
            .filter(|(param, value)| !matches!(value.term(), Term::Var(var) if var == *param))
            .map(|(param, value)| (param.renewed(param.ty().clone()), param, value))
            .collect();
        let map: Vec<(Var, Expr)> = changed.iter().map(|(own, param, _)| ((*param).clone(), Expr::var(own))).collect();
        let body = changed.into_iter().fold(substitute(&function.body, &map), |body, (own, _, value)| Expr::let_(own, value, body));
        program.functions.insert(function.name.clone(), Function { body, ..function });
    }
}

fn has_derivative(expr: &Expr) -> bool {
    matches!(expr.term(), Term::Dual { .. } | Term::Vjp { .. }) || expr.term().children().any(has_derivative)
}

/// A value whose Doubles are read only where a condition holds, and zeros elsewhere.
fn under(value: &Expr, labels: &Labels, condition: Option<&Expr>) -> Expr {
    if let Some((_, inside)) = labels.sole() {
        return under(value, inside, condition);
    }
    match value.ty().clone() {
        _ if condition.is_none() && !labels.has_cases() => value.clone(),
        Type::Tuple(types) => {
            let tag = Expr::proj(value.clone(), 0);
            let part = |at: usize| {
                let is_case = labels.case_of(at).map(|case| Expr::prim(Prim::Eq, vec![tag.clone(), Expr::index(case as i64)]));
                let both = match (condition.cloned(), is_case) {
                    (Some(outer), Some(inner)) => Some(Expr::prim(Prim::And, vec![outer, inner])),
                    (outer, inner) => outer.or(inner),
                };
                under(&Expr::proj(value.clone(), at), labels.part(at), both.as_ref())
            };
            Expr::tuple((0..types.len()).map(part).collect())
        }
        Type::Array(..) if !value.ty().has_double() => value.clone(),
        Type::Array(..) => {
            Expr::build(Expr::dim(value.clone(), 0), "i", |i| under(&Expr::get(value.clone(), i), labels.element(), condition))
        }
        Type::Double => condition.map_or_else(|| value.clone(), |known| Expr::if_(known.clone(), value.clone(), Expr::double(0.0))),
        Type::Bool | Type::Index(_) | Type::Rec(_) => value.clone(),
    }
}

/// Whether `guarded_parameter` reads a parameter of a type under a condition.
pub(super) fn is_guarded(ty: &Ty) -> bool {
    ty.to_core().is_some_and(|core| has_numbered(&core)) && has_sum_beside_arrays(ty)
}

/// Whether a sum type is a component of a type, at any depth but in no array.
fn has_sum_beside_arrays(ty: &Ty) -> bool {
    match ty {
        Ty::Record(record, parts) => record.is_sum() || parts.iter().any(has_sum_beside_arrays),
        Ty::Tuple(parts) => parts.iter().any(has_sum_beside_arrays),
        Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Array(..) | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => false,
    }
}

/// Whether an array of a length that is a number is in a type, arrays aside whose length is none.
fn has_numbered(ty: &Type) -> bool {
    match ty {
        Type::Array(_, size) => size.as_constant().is_some_and(|length| length > 0),
        Type::Tuple(parts) => parts.iter().any(has_numbered),
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => false,
    }
}

/// A value whose arrays are read under a condition, where their length is a number.
fn numbered(value: Expr, condition: &Expr) -> Expr {
    match value.ty().clone() {
        Type::Array(element, size) => match (size.as_constant(), zero::zero(&element)) {
            (Some(length), Some(zeros)) => {
                Expr::build(Expr::index(length), "i", |i| Expr::if_(condition.clone(), Expr::get(value, i), zeros))
            }
            (Some(_) | None, _) => value,
        },
        Type::Tuple(types) => Expr::tuple((0..types.len()).map(|at| numbered(Expr::proj(value.clone(), at), condition)).collect()),
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => value,
    }
}

/// Whether some lengths of two types of one shape can never be equal.
fn differ(a: &Type, b: &Type) -> bool {
    a.lengths().iter().zip(&b.lengths()).any(|(a, b)| a.sub(b).as_constant().is_some_and(|difference| difference != 0))
}

/// Zeros; arrays without elements where the declaration does not say a number.
fn zero(ty: &Ty) -> Option<Expr> {
    fn of(ty: &Type) -> Expr {
        match ty {
            Type::Double => Expr::double(0.0),
            Type::Bool => Expr::bool(false),
            Type::Index(_) => Expr::index(0),
            Type::Array(element, size) => match size.as_constant() {
                Some(0) | None => Expr::array(Type::clone(element), Vec::new()),
                Some(length) => Expr::build(Expr::index(length), "i", |_| of(element)),
            },
            Type::Tuple(parts) => Expr::tuple(parts.iter().map(of).collect()),
            Type::Rec(of) => Expr::absent(of),
        }
    }
    let length = |size: &Size| if size.as_constant().is_some() { size.clone() } else { Size::constant(0) };
    Some(of(&ty.to_core()?.map_sizes(&mut { length })))
}
