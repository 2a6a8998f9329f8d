//! Random programs as trees that can be printed and shrunk.
//!
//! Every expression is a template (`vectorDot {0} {1}`) with typed children, each with the names that its place
//! binds; so printing, the scope of names and shrinking need no case per construct. Sizes are `mul * name + off`.
//!
//!     template "ifold (fun s i -> {0}) {1} {2}", children s + v[i], 0.0, length v
//!         →   ifold (fun s i -> (s + v[i])) 0.0 (length v)

use std::sync::Arc;

use super::spelling;

/// A length, or an unknown one that only the value's own name can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Len {
    pub name: Option<Arc<str>>,
    pub mul: i64,
    pub off: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    Double,
    Index,
    Bool,
    Array(Arc<Ty>, Len),
    Tuple(Vec<Ty>),
}

/// A name in scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub name: Arc<str>,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Value(Ty),
    Function(Vec<Ty>, Ty),
    /// A loop index: a value below this length.
    Below(Len),
}

impl Binding {
    pub fn value(name: &str, ty: Ty) -> Binding {
        Binding { name: name.into(), kind: Kind::Value(ty) }
    }

    /// Its type, unless it is a function.
    pub fn ty(&self) -> Option<Ty> {
        match &self.kind {
            Kind::Value(ty) => Some(ty.clone()),
            Kind::Below(_) => Some(Ty::Index),
            Kind::Function(..) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    pub binds: Vec<Binding>,
    pub expr: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub ty: Ty,
    /// Text with `{0}`, `{1}`, … for the children; `{` occurs nowhere else.
    pub template: Arc<str>,
    /// A local name that the template itself uses.
    pub uses: Option<Arc<str>>,
    pub children: Vec<Child>,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: Arc<str>,
    pub params: Vec<(Arc<str>, Ty)>,
    pub body: Expr,
}

/// One entry, the last function, and what it calls.
#[derive(Clone, Debug)]
pub struct Program {
    pub functions: Vec<Function>,
    /// Arguments as the command line takes them.
    pub inputs: Vec<Vec<String>>,
    /// May divide by zero, leave a domain, meet NaN and infinities.
    pub wild: bool,
}

impl Len {
    pub fn number(off: i64) -> Len {
        Len { name: None, mul: 0, off }
    }

    pub fn named(name: &str) -> Len {
        Len { name: Some(name.into()), mul: 1, off: 0 }
    }

    /// Whether it is a name alone.
    pub fn is_name(&self) -> bool {
        self.name.is_some() && self.mul == 1 && self.off == 0
    }

    pub fn of(&self, values: &dyn Fn(&str) -> Len) -> Len {
        match &self.name {
            None => self.clone(),
            Some(name) => {
                let base = values(name);
                let (mul, off) = (self.mul * base.mul, self.mul * base.off + self.off);
                Len { name: base.name.filter(|_| mul != 0), mul, off }
            }
        }
    }
}

impl Ty {
    pub fn vector(len: Len) -> Ty {
        Ty::Array(Arc::new(Ty::Double), len)
    }

    pub fn matrix(rows: Len, cols: Len) -> Ty {
        Ty::Array(Arc::new(Ty::vector(cols)), rows)
    }

    pub fn array(element: Ty, len: Len) -> Ty {
        Ty::Array(Arc::new(element), len)
    }

    /// The type with other lengths for its length names.
    pub fn of(&self, values: &dyn Fn(&str) -> Len) -> Ty {
        match self {
            Ty::Double | Ty::Index | Ty::Bool => self.clone(),
            Ty::Array(element, len) => Ty::array(element.of(values), len.of(values)),
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| part.of(values)).collect()),
        }
    }

    pub fn is_vector(&self) -> bool {
        matches!(self, Ty::Array(element, _) if **element == Ty::Double)
    }

    pub fn is_matrix(&self) -> bool {
        matches!(self, Ty::Array(element, _) if element.is_vector())
    }

    /// Whether there is a Double in it.
    pub fn has_double(&self) -> bool {
        match self {
            Ty::Double => true,
            Ty::Index | Ty::Bool => false,
            Ty::Array(element, _) => element.has_double(),
            Ty::Tuple(parts) => parts.iter().any(Ty::has_double),
        }
    }

    /// Whether there is nothing but Doubles in it.
    pub fn is_of_doubles(&self) -> bool {
        self.dual().is_some()
    }

    /// The paper's dual of a type, where it has one.
    pub fn dual(&self) -> Option<Ty> {
        Some(match self {
            Ty::Double => Ty::Tuple(vec![Ty::Double, Ty::Double]),
            Ty::Index | Ty::Bool => return None,
            Ty::Array(element, len) => Ty::array(element.dual()?, len.clone()),
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(Ty::dual).collect::<Option<_>>()?),
        })
    }

    /// As a parameter's annotation; lengths are named or numbers.
    pub fn text(&self) -> String {
        match self {
            Ty::Double => "Double".into(),
            Ty::Index => "Index".into(),
            Ty::Bool => "Bool".into(),
            Ty::Array(element, len) => match &len.name {
                Some(name) => format!("Array<{}, {name}>", element.text()),
                None => format!("Array<{}, {}>", element.text(), len.off),
            },
            Ty::Tuple(parts) => format!("({})", parts.iter().map(Ty::text).collect::<Vec<_>>().join(" * ")),
        }
    }

    /// Whether the type can be written at a place that sees only the parameters' lengths.
    pub fn is_plain(&self) -> bool {
        match self {
            Ty::Double | Ty::Index | Ty::Bool => true,
            Ty::Array(element, len) => len.name.is_none() && element.is_plain(),
            Ty::Tuple(parts) => parts.iter().all(Ty::is_plain),
        }
    }
}

impl Expr {
    pub fn atom(ty: Ty, text: &str) -> Expr {
        Expr { ty, template: text.into(), uses: None, children: Vec::new() }
    }

    pub fn var(binding: &Binding) -> Expr {
        let ty = binding.ty().unwrap_or(Ty::Index);
        Expr { ty, template: binding.name.clone(), uses: Some(binding.name.clone()), children: Vec::new() }
    }

    pub fn of(ty: Ty, template: &str, children: Vec<Expr>) -> Expr {
        let children = children.into_iter().map(|expr| Child { binds: Vec::new(), expr }).collect();
        Expr { ty, template: template.into(), uses: None, children }
    }

    /// Nodes of the tree.
    pub fn size(&self) -> usize {
        1 + self.children.iter().map(|child| child.expr.size()).sum::<usize>()
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut rest = &*self.template;
        while let Some(at) = rest.find('{') {
            text.push_str(&rest[..at]);
            let end = rest.find('}').expect("a template closes what it opens");
            let child = &self.children[rest[at + 1..end].parse::<usize>().expect("a number")].expr;
            let inner = child.text();
            if child.children.is_empty() && !inner.starts_with('-') && !inner.contains(' ') {
                text.push_str(&inner)
            } else {
                text.push_str(&format!("({inner})"))
            }
            rest = &rest[end + 1..];
        }
        text.push_str(rest);
        text
    }

    /// As the body of a function: a chain of lets, one a line.
    fn lines(&self, text: &mut String) {
        match self.template.strip_suffix(" in {1}") {
            Some(head) if self.template.starts_with("let ") => {
                let value = Expr { template: head.into(), ..self.clone() };
                text.push_str(&format!("\n  {}", value.text()));
                self.children[1].expr.lines(text);
            }
            _ => text.push_str(&format!("\n  {}", self.text())),
        }
    }
}

impl Program {
    pub fn entry(&self) -> &Function {
        self.functions.last().expect("a program has an entry")
    }

    pub fn size(&self) -> usize {
        self.functions.iter().map(|function| 1 + function.params.len() + function.body.size()).sum()
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        for function in &self.functions {
            text.push_str(&format!("let {}", function.name));
            for (name, ty) in &function.params {
                text.push_str(&format!(" ({name}: {})", ty.text()));
            }
            text.push_str(" =");
            function.body.lines(&mut text);
            text.push('\n');
        }
        // a program that shrinks keeps the name of its entry
        spelling::declarations(&self.entry().name, &text) + &text
    }
}
