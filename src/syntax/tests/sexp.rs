//! Trees as short texts: `f (x + 1)` is `(f (+ x 1))`.

use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{BinOp, Decl, Expr, ExprKind, LocalFun, Pattern, PatternKind, SizeExpr, SizeExprKind};
use crate::syntax::ast::{TypeExpr, TypeExprKind, UnOp};
use crate::syntax::{parse, parse_expr};

/// The declarations of a file, one a line; or its errors, `code: message` with the text they point at.
pub fn file(text: &str) -> String {
    match parse(text, 0) {
        Ok(module) => module.decls.iter().map(decl).collect::<Vec<_>>().join("\n"),
        Err(errors) => lines(&errors, text),
    }
}

/// One expression, or its errors.
pub fn one(text: &str) -> String {
    match parse_expr(text, 0) {
        Ok(tree) => expr(&tree),
        Err(errors) => lines(&errors, text),
    }
}

pub fn lines(errors: &[Diagnostic], text: &str) -> String {
    let line = |error: &Diagnostic| {
        let place = text.get(error.span.start as usize..error.span.end as usize);
        format!("{} [{}]: {}", error.code, place.expect("a span cuts a character"), error.message)
    };
    errors.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn decl(decl: &Decl) -> String {
    let doc = decl.doc.as_ref().map(|doc| format!("///{doc}/// ")).unwrap_or_default();
    format!("{doc}{}{} = {}", decl.name.text, head(&decl.params, &decl.result), expr(&decl.body))
}

fn head(params: &[Pattern], result: &Option<TypeExpr>) -> String {
    let params: String = params.iter().map(|param| format!(" {}", pattern(param))).collect();
    params + &result.as_ref().map(|result| format!(" : {}", ty(result))).unwrap_or_default()
}

pub fn pattern(pattern_: &Pattern) -> String {
    match &pattern_.kind {
        PatternKind::Var(name) => name.to_string(),
        PatternKind::Wildcard => "_".to_string(),
        PatternKind::Tuple(parts) => format!("({})", join(parts, pattern, ", ")),
        PatternKind::Record(fields) => {
            format!("{{{}}}", join(fields, |(name, part)| format!("{} = {}", name.text, pattern(part)), "; "))
        }
        PatternKind::Typed(inner, annotation) => {
            format!("({}: {})", pattern(inner), ty(annotation))
        }
        PatternKind::Case(name, None) => format!("<{}>", name.text),
        PatternKind::Case(name, Some(data)) => format!("<{} {}>", name.text, pattern(data)),
        PatternKind::Int(value) => value.to_string(),
        PatternKind::Bool(value) => value.to_string(),
    }
}

fn join<T>(parts: &[T], show: impl Fn(&T) -> String, by: &str) -> String {
    parts.iter().map(show).collect::<Vec<_>>().join(by)
}

pub fn ty(ty_: &TypeExpr) -> String {
    match &ty_.kind {
        TypeExprKind::Any => "_".to_string(),
        TypeExprKind::Double => "D".to_string(),
        TypeExprKind::Bool => "B".to_string(),
        TypeExprKind::Index(None) => "I".to_string(),
        TypeExprKind::Index(Some(n)) => format!("I<{}>", size(n)),
        TypeExprKind::Array(element, None) => format!("[{}]", ty(element)),
        TypeExprKind::Array(element, Some(n)) => format!("[{}; {}]", ty(element), size(n)),
        TypeExprKind::Tuple(parts) => format!("({})", join(parts, ty, " * ")),
        TypeExprKind::Named(name, sizes) => format!("{}<{}>", name.text, join(sizes, size, ", ")),
        TypeExprKind::Fun(params, result) => {
            format!("({} => {})", join(params, ty, " => "), ty(result))
        }
    }
}

fn size(size_: &SizeExpr) -> String {
    match &size_.kind {
        SizeExprKind::Int(n) => n.to_string(),
        SizeExprKind::Name(name) => name.to_string(),
        SizeExprKind::Add(a, b) => format!("({}+{})", size(a), size(b)),
        SizeExprKind::Sub(a, b) => format!("({}-{})", size(a), size(b)),
        SizeExprKind::Mul(a, b) => format!("({}*{})", size(a), size(b)),
    }
}

pub fn spelling(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::EMul => ".*",
        BinOp::EDiv => "./",
        BinOp::Rem => "%",
        BinOp::Pow => "**",
        BinOp::Eq => "=",
        BinOp::Ne => "<>",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::And => "&&",
        BinOp::Or => "||",
    }
}

pub fn expr(tree: &Expr) -> String {
    match &tree.kind {
        ExprKind::Var(name) => name.to_string(),
        ExprKind::Int(Some(n), _) => n.to_string(),
        ExprKind::Int(None, x) => format!("big{x:e}"),
        ExprKind::Double(x) => format!("{x:?}"),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Operator(op) => format!("({})", spelling(*op)),
        ExprKind::Fun(params, body) => {
            format!("(fun {} -> {})", join(params, pattern, " "), expr(body))
        }
        ExprKind::Let(p, value, body) => {
            format!("(let {} = {} in {})", pattern(p), expr(value), expr(body))
        }
        ExprKind::LetFun(functions, body) => {
            let function = |f: &LocalFun| format!("{}{} = {}", f.name.text, head(&f.params, &f.result), expr(&f.value));
            format!("(let {} in {})", join(functions, function, " and "), expr(body))
        }
        ExprKind::If(c, a, b) => format!("(if {} {} {})", expr(c), expr(a), expr(b)),
        ExprKind::Binary(op, a, b) => format!("({} {} {})", spelling(*op), expr(a), expr(b)),
        ExprKind::Unary(UnOp::Neg, a) => format!("(neg {})", expr(a)),
        ExprKind::Unary(UnOp::Not, a) => format!("(not {})", expr(a)),
        ExprKind::App(f, args) => format!("({} {})", expr(f), join(args, expr, " ")),
        ExprKind::Index(a, i) => format!("{}[{}]", expr(a), expr(i)),
        ExprKind::Slice(a, low, high) => {
            let end = |end: &Option<Box<Expr>>| end.as_ref().map_or(String::new(), |end| expr(end));
            format!("{}[{}..{}]", expr(a), end(low), end(high))
        }
        ExprKind::Tuple(parts) => format!("({})", join(parts, expr, ", ")),
        ExprKind::Array(parts) => format!("[{}]", join(parts, expr, ", ")),
        ExprKind::Field(e, name) => format!("{}.{}", expr(e), name.text),
        ExprKind::Record(base, fields) => {
            let base = base.as_ref().map_or(String::new(), |base| format!("{} with ", expr(base)));
            format!("{{{base}{}}}", join(fields, |(name, value)| format!("{} = {}", name.text, expr(value)), "; "))
        }
        ExprKind::Match(e, rows) => {
            format!("(match {} {})", expr(e), join(rows, |row| format!("| {} -> {}", pattern(&row.pattern), expr(&row.body)), " "))
        }
        ExprKind::Deriv(e, x) => format!("(deriv {} {})", expr(e), x.text),
    }
}
