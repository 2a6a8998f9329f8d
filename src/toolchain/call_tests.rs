//! Calls of hand-written C that has the shape of emitted C.

use super::super::compiler::Arithmetic;
use super::*;
use crate::ir::{Expr, Function, Size, Type, Var};
use crate::toolchain::flat::Shape;

const HEAD: &str = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\ntypedef enum { OK, BOUNDS } smooth_status;\n";

fn function(params: Vec<Var>, result: Type) -> Function {
    Function {
        name: "f".into(),
        doc: None,
        sizes: vec![],
        params,
        result,
        body: Expr::double(0.0),
        is_entry: true,
        span: Span::NONE,
        labels: Vec::new(),
    }
}

#[test]
fn columns_go_in_and_come_out() {
    let n = Var::fresh("n", Type::INDEX);
    let pairs = Type::array(Type::tuple(vec![Type::Double, Type::Bool]), Size::var(&n));
    let params = vec![Var::fresh("p", pairs.clone()), Var::fresh("s", Type::Double), n.clone(), Var::fresh("b", Type::Bool)];
    let result = Type::tuple(vec![pairs, Type::INDEX]);
    let source = format!(
        "{HEAD}size_t f_workspace(int64_t n, bool b) {{ return b ? (size_t)n * 8 : 0; }}
        smooth_status f(int64_t n, const double *p_0, const bool *p_1, double s, bool b, double *out_0, bool *out_1, int64_t *out_2, void *workspace, size_t bytes) {{
            double *w = workspace;
            if (bytes < f_workspace(n, b)) return BOUNDS;
            for (int64_t i = 0; i < n; i++) {{ w[i] = p_0[i] * s; out_1[i] = !p_1[i]; }}
            for (int64_t i = 0; i < n; i++) out_0[i] = w[i];
            *out_2 = n;
            return s < 0 ? BOUNDS : OK;
        }}
        /* smoothc_call */"
    );
    let interface = Interface::new("f", "f_workspace", vec![n.clone()], &function(params, result));
    let loaded = load(&source, Arithmetic::Fast, interface, Span::NONE).expect("compiles");
    let mut bindings = Bindings::default();
    bindings.bind(&n, 2);
    let pair = Shape::Array(2, Box::new(Shape::Tuple(vec![Shape::Double, Shape::Bool])));
    let arguments = |s: f64| {
        vec![
            Flat { shape: pair.clone(), columns: vec![Column::Double(vec![1.0, 2.0]), Column::Bool(vec![true, false])] },
            Flat { shape: Shape::Double, columns: vec![Column::Double(vec![s])] },
            Flat { shape: Shape::Index, columns: vec![Column::Index(vec![2])] },
            Flat { shape: Shape::Bool, columns: vec![Column::Bool(vec![true])] },
        ]
    };
    let result = loaded.call(&arguments(3.0), &bindings).expect("runs");
    assert_eq!(result.columns, [Column::Double(vec![3.0, 6.0]), Column::Bool(vec![false, true]), Column::Index(vec![2])]);
    assert_eq!(loaded.call(&arguments(-1.0), &bindings).expect_err("a status").code, "E0701");
}

#[test]
fn a_result_that_is_too_large_is_a_diagnostic() {
    let n = Var::fresh("n", Type::INDEX);
    let result = Type::array(Type::Double, Size::var(&n));
    let source = format!(
        "{HEAD}size_t f_workspace(int64_t n) {{ (void)n; return 0; }}
        smooth_status f(int64_t n, double *out, void *w, size_t b) {{ (void)n; (void)out; (void)w; (void)b; return OK; }}"
    );
    let loaded = load(
        &source,
        Arithmetic::Fast,
        Interface::new("f", "f_workspace", vec![n.clone()], &function(vec![n.clone()], result)),
        Span::NONE,
    )
    .expect("compiles");
    for (size, fits) in [(0, true), (-1, true), (i64::MAX, false), (1 << 60, false)] {
        let mut bindings = Bindings::default();
        bindings.bind(&n, size);
        let argument = Flat { shape: Shape::Index, columns: vec![Column::Index(vec![size])] };
        assert_eq!(loaded.call(&[argument], &bindings).is_ok(), fits, "{size}");
    }
}
