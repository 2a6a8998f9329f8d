//! Type inference: a declaration's syntax tree to its polymorphic type, and notes for the elaborator.
//!
//! Hindley–Milner with levels. Functions, local ones included, are generalised over types and sizes; other
//! lets have one type. What the elaborator cannot see from the types of a function's arguments is noted by
//! place: which number a literal is, what `[]` holds, at which types a polymorphic name is used. `deriv`
//! waits until the types it depends on are known; a function's scheme keeps what still waits.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::deferred::{Deriv, Fields, Rows, WaitingProduct};
use super::env::Env;
use super::holes::Holes;
use super::modules::Modules;
use super::show::show_any_sizes;
use super::ty::{Class, Record, Ty};
use super::type_groups::Groups;
use crate::budget;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::ir::{Atom, Size, Type, Var};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, Pattern, PatternKind};

/// A function's polymorphic type.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// Empty for a constant.
    pub params: Vec<Ty>,
    pub result: Ty,
    /// For each parameter, the atom that stands for its value where it is an Index.
    pub values: Vec<Var>,
    /// The type holes it is polymorphic over.
    pub holes: Vec<u32>,
    /// The size atoms it is polymorphic over.
    pub sizes: Vec<Atom>,
    waiting: Vec<Deriv>,
    /// An error was reported inside: its uses are not looked at.
    pub broken: bool,
}

/// What the elaborator needs beyond the syntax tree, by place.
#[derive(Default)]
pub struct Notes {
    /// The type of each integer literal.
    pub literals: HashMap<Span, Ty>,
    /// The type of each `[]`.
    pub empties: HashMap<Span, Ty>,
    /// At each use of a polymorphic name: what its holes are.
    pub uses: HashMap<Span, Rc<Vec<(u32, Ty)>>>,
    /// The record of each literal, field, copy and pattern.
    pub records: HashMap<Span, Rc<Record>>,
    /// The type of each local name, by the place of its pattern or, of a function, its name.
    pub names: HashMap<Span, Ty>,
    /// The sum type and the number of the case, of each pattern and each use as a value.
    pub cases: HashMap<Span, (Rc<Record>, usize)>,
    /// The patterns of rows that no value comes to.
    pub unreachable: HashSet<Span>,
    /// The type of each `if` and `match`, where sum types with arrays are about: their lengths are the value's own.
    pub choices: HashMap<Span, Ty>,
}

#[derive(Clone)]
pub(super) enum Bound {
    /// A value or a function parameter: one type; the value as a size where it is an Index.
    Mono(Ty, Option<Size>),
    /// A local function.
    Poly(Rc<Scheme>),
}

/// An inferred expression.
pub(super) struct Typed {
    pub ty: Ty,
    /// The value as a size, where it is a known Index.
    pub value: Option<Size>,
}

pub(super) type Scope = Env<Bound>;

/// The state of inference over all declarations.
pub struct Infer<'a> {
    pub(super) modules: &'a Modules,
    pub schemes: Vec<Rc<Scheme>>,
    pub holes: Holes,
    pub notes: Notes,
    pub diagnostics: Diagnostics,
    pub(super) level: u32,
    pub(super) at: usize,
    pub(super) waiting: Vec<Deriv>,
    /// Products whose operands are not known yet.
    pub(super) products: Vec<WaitingProduct>,
    /// Fields of records that are not known yet.
    pub(super) fields: Vec<Fields>,
    pub(super) records: Vec<Rc<Record>>,
    /// The type declarations that contain each other.
    pub(super) groups: Groups,
    /// The type declaration that is read.
    pub(super) declaring: Option<usize>,
    /// Matches whose rows are still to be looked at.
    pub(super) rows: Vec<Rows>,
    /// Whether a pattern may leave values to other rows.
    pub(super) in_row: bool,
    /// The file of the declaration.
    pub(super) file: usize,
    pub(super) first_order: Vec<(Span, Ty, &'static str)>,
    /// Reads at literal indices: the place, the array's length, the index.
    pub(super) reads: Vec<(Span, Size, i64)>,
    /// Size names in scope.
    pub(super) sizes: Env<Size>,
    /// Those among them that the declaration does not write: they are no values.
    pub(super) unwritten: HashSet<Rc<str>>,
    /// The names of lengths that annotations leave out.
    pub(super) unsized_names: HashSet<Rc<str>>,
    /// Annotations that were read already, so that each own size is made once.
    pub(super) annotations: HashMap<Span, Ty>,
    /// The sizes that stand for the lengths that a top-level parameter's annotation leaves out.
    pub(super) left_out: HashMap<Span, Vec<Size>>,
}

/// Infers every declaration in order.
pub fn infer(modules: &Modules) -> Infer<'_> {
    let mut infer = Infer {
        modules,
        schemes: Vec::new(),
        holes: Holes::default(),
        notes: Notes::default(),
        diagnostics: Vec::new(),
        level: 0,
        at: 0,
        waiting: Vec::new(),
        products: Vec::new(),
        fields: Vec::new(),
        records: Vec::new(),
        groups: Groups::default(),
        declaring: None,
        rows: Vec::new(),
        in_row: false,
        file: 0,
        first_order: Vec::new(),
        reads: Vec::new(),
        sizes: Env::default(),
        unwritten: HashSet::new(),
        unsized_names: HashSet::new(),
        annotations: HashMap::new(),
        left_out: HashMap::new(),
    };
    infer.declare_types();
    for index in 0..modules.globals.len() {
        if infer.schemes.len() == index {
            infer.announce(index);
        }
        infer.at = index;
        infer.file = modules.globals[index].file;
        let scheme = Rc::new(infer.declaration(&modules.globals[index].decl));
        match infer.schemes.get_mut(index) {
            Some(announced) => *announced = scheme,
            None => infer.schemes.push(scheme),
        }
    }
    infer
}

/// The parameters and body of a declaration: `let f = fun x -> e` is `let f x = e`.
pub fn parameters<'a>(params: &'a [Pattern], body: &'a ast::Expr) -> (&'a [Pattern], &'a ast::Expr) {
    let ExprKind::Fun(inner, inner_body) = &body.kind else { return (params, body) };
    if params.is_empty() { (inner, inner_body) } else { (params, body) }
}

impl Infer<'_> {
    /// The types of the local names of a file, as text.
    pub fn local_names(&self, file: u32) -> Vec<(Span, String)> {
        let of_file = self.notes.names.iter().filter(|(span, _)| span.file == file);
        let mut names: Vec<(Span, String)> = of_file.map(|(span, ty)| (*span, show_any_sizes(&self.holes, ty))).collect();
        names.sort_by_key(|(span, _)| *span);
        names
    }

    fn declaration(&mut self, decl: &ast::Decl) -> Scheme {
        let errors = self.diagnostics.len();
        self.sizes = Env::default();
        self.unwritten.clear();
        self.unsized_names.clear();
        let mut scheme = self.function(&decl.params, decl.result.as_ref(), &decl.body, &Env::default(), true);
        self.settle(true);
        let mut functions = std::mem::take(&mut self.first_order);
        functions.retain(|(_, ty, _)| matches!(self.holes.head(ty), Ty::Fun(..)));
        for (span, ..) in &functions {
            let reported = self.diagnostics[errors..].iter().any(|known| known.code == "E0312" && known.span == *span);
            let problem = if reported { None } else { self.case_without_data(*span) };
            problem.into_iter().for_each(|problem| self.report(problem));
        }
        for (span, _, what) in functions {
            let reported = self.diagnostics[errors..].iter().any(|known| match known.code {
                "E0310" => known.span.end == span.end,
                // of what a case is in, it says enough
                "E0312" => known.span.file == span.file && span.start <= known.span.start && known.span.end <= span.end,
                _ => false,
            });
            if !reported {
                self.diagnostics.push(
                    Diagnostic::error("E0310", span, format!("a function cannot be {what}"))
                        .help("pass functions to functions, or bind them with `let`"),
                );
            }
        }
        self.check_reads();
        self.check_rows();
        scheme.broken = self.diagnostics[errors..].iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        if let (true, Ty::Fun(params, result)) = (scheme.params.is_empty(), self.holes.head(&scheme.result)) {
            // another name for a function
            scheme.params = params.to_vec();
            scheme.values = params.iter().map(|_| Var::fresh("i", Type::INDEX)).collect();
            scheme.result = (*result).clone();
            scheme.sizes.clear();
            for (at, param) in scheme.params.iter().enumerate() {
                self.name_sizes(&format!("arg{}", at + 1), param, &[]);
                self.holes.resolve(param).map(
                    &mut |size| {
                        scheme.sizes.extend(size.as_atom().filter(|atom| !scheme.sizes.contains(atom)).cloned());
                        size.clone()
                    },
                    &mut Ty::Hole,
                );
            }
        }
        scheme
    }

    /// The schemes of recursive functions, as their annotations have them, for their bodies.
    fn announce(&mut self, first: usize) {
        let modules = self.modules;
        let members = modules.globals.iter().enumerate().skip(first).take_while(|(_, global)| global.group == Some(first));
        for (at, global) in members {
            (self.at, self.file) = (at, global.file);
            (self.sizes, self.unwritten, self.unsized_names) = (Env::default(), HashSet::new(), HashSet::new());
            let scheme = self.announced(&global.decl.params, global.decl.result.as_ref(), true);
            self.schemes.push(Rc::new(scheme));
        }
    }

    /// A function's scheme as its annotations have it.
    pub(super) fn announced(&mut self, params: &[Pattern], result: Option<&ast::TypeExpr>, top: bool) -> Scheme {
        // the body has sizes of its own
        let (annotations, sizes, errors) = (self.annotations.clone(), self.sizes.clone(), self.diagnostics.len());
        let watermark = crate::ir::fresh_id();
        self.level += 1;
        let values = self.declare_sizes(params, top);
        let mut types = Vec::new();
        for (pattern, value) in params.iter().zip(&values) {
            let ty = self.holes.fresh(Class::Any, self.level);
            self.bind(pattern, &ty, Some(Size::var(value)), &Env::default());
            types.push(self.annotation(pattern).unwrap_or(ty));
        }
        let result = match result {
            Some(result) => self.convert(result),
            None => self.holes.fresh(Class::Any, self.level),
        };
        self.level -= 1;
        (self.annotations, self.sizes) = (annotations, sizes);
        // the declaration itself says them
        self.diagnostics.truncate(errors);
        self.generalise(types, result, values, self.waiting.len(), watermark)
    }

    /// Reads of a literal index beyond a literal length.
    fn check_reads(&mut self) {
        for (span, length, index) in std::mem::take(&mut self.reads) {
            let Some(length) = self.holes.resolve_size(&length).as_constant() else { continue };
            if length < 0 || (0..length).contains(&index) {
                continue;
            }
            let help = match length {
                ..=0 => "an array of length 0 has no elements".to_string(),
                1 => "the only index is 0".to_string(),
                _ => format!("the indices are 0 … {}", length - 1),
            };
            self.report(
                Diagnostic::error("E0406", span, format!("index {index} is out of bounds of an array of length {length}")).help(help),
            );
        }
    }

    /// Infers a function or constant and generalises it.
    pub(super) fn function(
        &mut self,
        params: &[Pattern],
        result: Option<&ast::TypeExpr>,
        body: &ast::Expr,
        scope: &Scope,
        top: bool,
    ) -> Scheme {
        let (params, body) = parameters(params, body);
        let outer_sizes = self.sizes.clone();
        let (waiting, products) = (self.waiting.len(), self.products.len());
        let watermark = crate::ir::fresh_id();
        self.level += 1;
        let index_params = self.declare_sizes(params, top);
        let mut scope = scope.clone();
        let (mut types, mut values) = (Vec::new(), Vec::new());
        self.no_repeats(params);
        for (at, pattern) in params.iter().enumerate() {
            let value = index_params[at].clone();
            let ty = self.holes.fresh(Class::Any, self.level);
            scope = self.bind(pattern, &ty, Some(Size::var(&value)), &scope);
            let annotated = self.annotation(pattern);
            types.push(annotated.unwrap_or(ty));
            values.push(value);
        }
        let declared = result.map(|result| self.convert(result));
        let inferred = self.expr(body, &scope);
        if !params.is_empty() {
            self.no_function(body.span, &inferred.ty, "a result");
        }
        if let Some(declared) = &declared {
            self.expect(body.span, declared, &inferred.ty, "the body has the type that is declared for the result");
        }
        self.settle(false);
        if top {
            for (at, pattern) in params.iter().enumerate() {
                self.name_sizes(&pattern_name(pattern, at), &types[at].clone(), &values[at..]);
            }
        }
        self.level -= 1;
        self.settle(false);
        self.settle_fields(true);
        self.default_products(products);
        self.settle(false);
        self.sizes = outer_sizes;
        let result = self.bounded(declared.unwrap_or(inferred.ty), body.span);
        let places = params.iter().map(|pattern| pattern.span);
        let types = types.into_iter().zip(places).map(|(ty, place)| self.bounded(ty, place)).collect();
        self.generalise(types, result, values, waiting, watermark)
    }

    fn generalise(&mut self, params: Vec<Ty>, result: Ty, values: Vec<Var>, waiting: usize, watermark: u32) -> Scheme {
        let level = self.level;
        let whole = Ty::fun(params.clone(), result.clone());
        for id in self.holes.open(&whole) {
            if self.holes.level(id) > level {
                self.holes.narrow(id);
            }
        }
        let mine = |holes: &Holes, ty: &Ty| -> Vec<u32> { holes.open(ty).into_iter().filter(|id| holes.level(*id) > level).collect() };
        let mut quantified = mine(&self.holes, &whole);
        let mut kept = Vec::new();
        for deriv in self.waiting.split_off(waiting.min(self.waiting.len())) {
            let all = Ty::tuple(vec![deriv.point.clone(), deriv.subject.clone(), deriv.result.clone()]);
            let inside = mine(&self.holes, &all);
            if inside.is_empty() {
                self.waiting.push(deriv);
            } else {
                quantified.extend(inside.into_iter().filter(|id| !quantified.contains(id)).collect::<Vec<_>>());
                kept.push(deriv);
            }
        }
        let mut sizes: Vec<Atom> = Vec::new();
        self.holes.resolve(&whole).map(
            &mut |size| {
                for atom in size.atoms() {
                    let own = match atom {
                        Atom::Var(var) => var.id() > watermark,
                        Atom::Unknown(id) => *id > watermark,
                        Atom::Term(_) => false,
                    };
                    if own && !sizes.contains(atom) {
                        sizes.push(atom.clone());
                    }
                }
                size.clone()
            },
            &mut Ty::Hole,
        );
        sizes.retain(|atom| !matches!(atom, Atom::Var(var) if values.contains(var)));
        Scheme { params, result, values, holes: quantified, sizes, waiting: kept, broken: false }
    }

    /// A scheme's type at one use: fresh holes, and per parameter the size hole of its value.
    pub(super) fn instantiate(&mut self, scheme: &Scheme, span: Span) -> (Ty, Vec<Size>) {
        let level = self.level;
        let map: Vec<(u32, Ty)> = scheme.holes.iter().map(|id| (*id, self.holes.fresh(self.holes.class(*id), level))).collect();
        let values: Vec<Size> = scheme.values.iter().map(|_| self.holes.fresh_size()).collect();
        let sizes: Vec<(Atom, Size)> = scheme.sizes.iter().map(|atom| (atom.clone(), self.holes.fresh_size())).collect();
        let replace = |holes: &Holes, ty: &Ty| {
            holes.resolve(ty).map(
                &mut |size| {
                    size.substitute(&mut |atom| {
                        let value = scheme.values.iter().position(|var| *atom == Atom::Var(var.clone()));
                        value.map(|at| values[at].clone()).or_else(|| sizes.iter().find(|(from, _)| from == atom).map(|(_, to)| to.clone()))
                    })
                },
                &mut |id| map.iter().find(|(from, _)| *from == id).map_or(Ty::Hole(id), |(_, to)| to.clone()),
            )
        };
        let params: Vec<Ty> = scheme.params.iter().map(|param| replace(&self.holes, param)).collect();
        let result = replace(&self.holes, &scheme.result);
        for deriv in &scheme.waiting {
            let (point, subject) = (replace(&self.holes, &deriv.point), replace(&self.holes, &deriv.subject));
            let result = replace(&self.holes, &deriv.result);
            self.waiting.push(Deriv { span, point, subject, result });
        }
        self.notes.uses.insert(span, Rc::new(map));
        (if params.is_empty() { result } else { Ty::fun(params, result) }, values)
    }

    // ---- deriv ----

    /// Decides every waiting `deriv` that can be; with `last`, open numbers become Double first.
    pub(super) fn settle(&mut self, last: bool) {
        loop {
            self.settle_fields(false);
            self.settle_products();
            let mut again = false;
            for deriv in std::mem::take(&mut self.waiting) {
                if last {
                    let all = Ty::tuple(vec![deriv.point.clone(), deriv.subject.clone()]);
                    for id in self.holes.open(&all) {
                        if !matches!(self.holes.class(id), Class::Any | Class::Scalar) && self.holes.level(id) > self.level {
                            self.holes.solve(id, Ty::Double);
                        }
                    }
                }
                if self.holes.has_more_components(&deriv.subject, budget::DUAL_COMPONENTS) {
                    self.report(
                        Diagnostic::error("E0505", deriv.span, "the dual of a dual of … has too many components")
                            .help("each `deriv` doubles them: take the part that is needed with `snd` before differentiating again"),
                    );
                    continue;
                }
                let subject = self.holes.resolve(&deriv.subject);
                let point = self.holes.resolve(&deriv.point);
                match (point.to_core(), subject.to_core()) {
                    (Some(point), Some(subject)) => {
                        let dual =
                            point.dims().iter().rev().fold(Ty::of_core(&subject.dual()), |inner, size| Ty::array(inner, size.clone()));
                        // a misuse of the result shows where it is used
                        let _ = self.holes.unify(&deriv.result, &dual);
                        again = true;
                    }
                    _ => self.waiting.push(deriv),
                }
            }
            if !again {
                return;
            }
        }
    }

    pub(super) fn fresh_type(&mut self) -> Ty {
        self.holes.fresh(Class::Any, self.level)
    }

    /// The type, or an open one where it has more components than the budget allows.
    pub(super) fn bounded(&mut self, ty: Ty, span: Span) -> Ty {
        if !self.holes.has_more_components(&ty, budget::COMPONENTS) {
            return ty;
        }
        self.report(budget::too_many_components(span));
        self.fresh_type()
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.iter().any(|known| known.code == diagnostic.code && known.span == diagnostic.span) {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// The name of a parameter: the pattern's own, or `arg1`, `arg2`, … where it has none.
pub fn pattern_name(pattern: &Pattern, at: usize) -> Rc<str> {
    match &pattern.kind {
        PatternKind::Var(name) => name.clone(),
        PatternKind::Typed(inner, _) => pattern_name(inner, at),
        PatternKind::Wildcard
        | PatternKind::Tuple(_)
        | PatternKind::Record(_)
        | PatternKind::Case(..)
        | PatternKind::Int(_)
        | PatternKind::Bool(_) => format!("arg{}", at + 1).into(),
    }
}

/// Whether this is `-9223372036854775808`, the one Index whose digits alone are none.
pub fn smallest_index(expr: &ast::Expr) -> bool {
    let ExprKind::Unary(ast::UnOp::Neg, literal) = &expr.kind else { return false };
    matches!(literal.kind, ExprKind::Int(None, value) if value == -(i64::MIN as f64))
}
