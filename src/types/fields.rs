//! Inference of fields: which record a literal, a copy, a pattern or `c.focal` is of.
//!
//! In: names of fields and the types beside them. Out: the types made equal to those of the record's declaration, and a note of the
//! record for the elaborator. A known type decides, else the names do; where several records have them, the use waits
//! until the end of the function, and then the last declared is meant, with a warning.
//!
//!     fun c -> c.focal   →   Camera => Double

use std::rc::Rc;

use super::deferred::{Access, Fields};
use super::infer::{Infer, Scope, Typed};
use super::ty::{Record, Ty};
use crate::diagnostic::Diagnostic;
use crate::elsewhere;
use crate::source::Span;
use crate::syntax::ast::{self, Name, Pattern};

impl Infer<'_> {
    pub(super) fn field(&mut self, base: &ast::Expr, name: &Name, span: Span, scope: &Scope) -> Typed {
        let result = self.fresh_type();
        if let ast::ExprKind::Var(module) = &base.kind
            && !self.is_known(module, scope)
        {
            self.no_module(module, base.span, name, scope);
            return Typed { ty: result, value: None };
        }
        let base = self.expr(base, scope);
        self.use_fields(Fields { span, what: Access::Read(base.ty), fields: vec![(name.clone(), name.span, result.clone())] });
        Typed { ty: result, value: None }
    }

    pub(super) fn record_value(&mut self, base: Option<&ast::Expr>, fields: &[(Name, ast::Expr)], span: Span, scope: &Scope) -> Typed {
        let base = base.map(|base| self.expr(base, scope).ty);
        let mut values: Vec<(Name, Span, Ty)> = Vec::new();
        for (name, value) in fields {
            let ty = self.expr(value, scope).ty;
            self.no_function(value.span, &ty, "stored in a record");
            if let Some((first, ..)) = values.iter().find(|(other, ..)| other.text == name.text) {
                let diagnostic = Diagnostic::error("E0207", name.span, format!("`{}` is bound twice", name.text));
                self.report(diagnostic.label(first.span, "first bound here").help("give each field one value"));
                return Typed { ty: self.fresh_type(), value: None };
            }
            values.push((name.clone(), value.span, ty));
        }
        let result = self.fresh_type();
        let what = match base {
            Some(base) => Access::Copy(base, result.clone()),
            None => Access::Make(result.clone()),
        };
        self.use_fields(Fields { span, what, fields: values });
        Typed { ty: result, value: None }
    }

    /// The types of the fields that a pattern takes.
    pub(super) fn record_pattern(&mut self, fields: &[(Name, Pattern)], ty: &Ty, span: Span) -> Vec<Ty> {
        let types: Vec<Ty> = fields.iter().map(|_| self.fresh_type()).collect();
        let fields = fields.iter().zip(&types).map(|((name, _), ty)| (name.clone(), name.span, ty.clone())).collect();
        self.use_fields(Fields { span, what: Access::Read(ty.clone()), fields });
        types
    }

    fn use_fields(&mut self, fields: Fields) {
        if !self.decide_fields(&fields, false) {
            self.fields.push(fields);
        }
    }

    pub(super) fn settle_fields(&mut self, last: bool) {
        let mut waiting = std::mem::take(&mut self.fields);
        waiting.retain(|fields| !self.decide_fields(fields, last));
        self.fields.append(&mut waiting);
    }

    /// Whether the record is known; with `last` it is the last declared one.
    fn decide_fields(&mut self, uses: &Fields, last: bool) -> bool {
        let (Access::Read(known) | Access::Make(known) | Access::Copy(known, _)) = &uses.what;
        let names: Vec<&Name> = uses.fields.iter().map(|(name, ..)| name).collect();
        let makes = matches!(uses.what, Access::Make(_));
        match self.holes.head(known) {
            Ty::Record(record, _) if record.has(&names, makes) => {
                self.apply_record(uses, &record);
                return true;
            }
            Ty::Record(record, _) if !record.is_sum() => return self.wrong_fields(uses, &record),
            Ty::Hole(_) => {}
            _ if !makes => {
                let found = self.text(known);
                let message = format!("expected a record, found {found}");
                let elsewhere = names.first().and_then(|name| elsewhere::field(&name.text));
                let otherwise = if matches!(self.holes.head(known), Ty::Record(..) | Ty::Rec(_)) {
                    "the data of a case are taken out by `match e with | Circle r -> …`"
                } else {
                    "only records have fields; `fst` and patterns take tuples apart"
                };
                let help = elsewhere.unwrap_or(otherwise);
                self.report(Diagnostic::error("E0309", uses.span, message).help(help));
                return true;
            }
            // the result says what is wrong
            Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Array(..) | Ty::Tuple(_) | Ty::Record(..) | Ty::Rec(_) | Ty::Fun(..) => {}
        }
        let candidates: Vec<Rc<Record>> =
            self.visible_records(uses.span, self.file).filter(|record| record.has(&names, makes)).cloned().collect();
        match candidates.as_slice() {
            [] => self.unknown_fields(uses, &names),
            [only] => self.apply_record(uses, only),
            [meant, others @ ..] if last => {
                let also: Vec<String> = others.iter().map(|other| format!("`{}`", other.name.text)).collect();
                let message = format!("the fields are those of `{}`, and of {}", meant.name.text, also.join(", "));
                let help = "the last declared is meant; an annotation says which one it is";
                self.report(Diagnostic::warning("W0308", uses.span, message).help(help));
                self.apply_record(uses, meant);
            }
            [..] => return false,
        }
        true
    }

    fn wrong_fields(&mut self, uses: &Fields, record: &Record) -> bool {
        let unknown = uses.fields.iter().find(|(name, ..)| record.place(&name.text).is_none());
        let fields: Vec<String> = record.fields.iter().map(|field| format!("`{field}`")).collect();
        let (span, message) = match unknown {
            Some((name, ..)) => (name.span, format!("`{}` has no field `{}`", record.name.text, name.text)),
            None => (uses.span, format!("fields of `{}` are missing", record.name.text)),
        };
        self.report(Diagnostic::error("E0309", span, message).help(format!("its fields are {}", fields.join(", "))));
        true
    }

    fn unknown_fields(&mut self, uses: &Fields, names: &[&Name]) {
        let near =
            self.visible_records(uses.span, self.file).find(|record| names.iter().any(|name| record.place(&name.text).is_some())).cloned();
        match near {
            Some(record) => drop(self.wrong_fields(uses, &record)),
            None => {
                let within = self.modules.globals.get(self.at).map(|global| global.decl.span);
                let is_inside =
                    |span: Span| within.is_some_and(|within| within.file == span.file && (within.start..within.end).contains(&span.start));
                // of an unknown type nothing is known
                if self.diagnostics.iter().any(|known| known.code == "E0113" && is_inside(known.span)) {
                    return;
                }
                let (span, name) = names.first().map_or((uses.span, ""), |name| (name.span, &name.text));
                let fields = uses.fields.iter().map(|(name, _, ty)| format!("{}: {}", name.text, self.type_of_field(ty)));
                let fields: Vec<String> = fields.take(8).collect();
                let help = format!("declare its type above, in column 0: `type Name = {{ {} }}`", fields.join("; "));
                self.report(Diagnostic::error("E0309", span, format!("no record has a field `{name}`")).help(help));
            }
        }
    }

    /// How a declaration would write the type of a field; a number that nothing decides is a Double.
    fn type_of_field(&self, ty: &Ty) -> String {
        let known = self.holes.head(ty);
        if matches!(known, Ty::Hole(_)) { "Double".to_string() } else { self.text(&known) }
    }

    fn apply_record(&mut self, uses: &Fields, record: &Rc<Record>) {
        self.notes.records.insert(uses.span, record.clone());
        let (ty, parts) = self.fresh_record(record);
        let of = |name: &Name| record.place(&name.text).and_then(|at| parts.get(at));
        let note = "the field has the type of its declaration";
        match &uses.what {
            Access::Read(base) => {
                self.expect(uses.span, &ty, base, "its fields say which record it is");
                for (name, span, found) in &uses.fields {
                    of(name).into_iter().for_each(|part| self.expect(*span, found, part, note));
                }
            }
            Access::Make(result) | Access::Copy(_, result) => {
                if let Access::Copy(base, _) = &uses.what {
                    let (old, kept) = self.fresh_record(record);
                    self.expect(uses.span, &old, base, "its fields say which record it is");
                    for (at, (kept, part)) in kept.iter().zip(&parts).enumerate() {
                        if !uses.fields.iter().any(|(name, ..)| record.place(&name.text) == Some(at)) {
                            self.expect(uses.span, part, kept, "what is kept has the sizes of the rest");
                        }
                    }
                }
                for (name, span, found) in &uses.fields {
                    of(name).into_iter().for_each(|part| self.expect(*span, part, found, note));
                }
                self.expect(uses.span, result, &ty, "the type of the record");
            }
        }
    }
}
