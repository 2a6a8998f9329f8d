//! Programs that are well-formed but for one thing, which the verifier names.

use super::function;
use crate::ir::{Prim, Size, Status};
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::source::Span;

const N: Id = 0;
const V: Id = 1;
const OUT: Id = 2;
const S: Id = 3;
const I: Id = 4;
const T: Id = 5;
const ROOM: Id = 6;
const FROM: Id = 7;

fn local(id: Id) -> Value {
    Value::Local(id)
}

fn at(base: Id, i: Id) -> Value {
    Value::Load { base, offset: Some(Box::new(local(i))) }
}

fn set(base: Id, i: Id, value: Value) -> Stmt {
    Stmt::Assign { place: Place::Element { base, offset: Some(local(i)) }, value }
}

fn add(elem: Elem, a: Value, b: Value) -> Value {
    Value::Prim { prim: Prim::Add, elem, plain: true, args: vec![a, b] }
}

fn repeat(body: Block) -> Stmt {
    Stmt::For { i: I, var: None, count: local(N), size: None, body, lanes: Lanes::One, apart: true }
}

fn room() -> Stmt {
    let counts = vec![local(N)];
    Stmt::Room(Room { id: ROOM, elem: Elem::Double, dims: vec![Size::unknown()], counts, aligned: false, span: Span::NONE })
}

/// `f(n, v, out)` with these statements, over a variable s, an index i, a constant t, a room and a pointer that moves.
fn with(body: Block) -> LoopFunction {
    let forms = [
        ("n", Elem::Index, Form::Scalar { mutable: false }),
        ("v", Elem::Double, Form::Source { mutable: false }),
        ("out", Elem::Double, Form::Target { mutable: false }),
        ("s", Elem::Double, Form::Scalar { mutable: true }),
        ("i", Elem::Index, Form::Scalar { mutable: true }),
        ("t", Elem::Double, Form::Scalar { mutable: false }),
        ("room", Elem::Double, Form::Target { mutable: true }),
        ("from", Elem::Double, Form::Target { mutable: true }),
    ];
    let roles = [Role::Size, Role::Array(vec![Size::unknown()]), Role::OutArray(vec![Size::unknown()])];
    LoopFunction {
        name: "f".into(),
        doc: None,
        is_entry: true,
        locals: forms.into_iter().map(|(name, elem, form)| Local { name: name.into(), elem, form, note: None }).collect(),
        params: roles.into_iter().enumerate().map(|(id, role)| Param { id, role }).collect(),
        body,
        workspace: Workspace::default(),
        slices: Vec::new(),
        size_names: Vec::new(),
        measured: Vec::new(),
        ranges: Ranges::default(),
        span: Span::NONE,
    }
}

#[test]
fn a_well_formed_program_is_accepted() {
    let body = vec![
        Stmt::Fail {
            cond: Value::Prim { prim: Prim::Lt, elem: Elem::Index, plain: true, args: vec![local(N), Value::Index(0)] },
            status: Status::Negative,
        },
        Stmt::Declare { id: S, init: None },
        Stmt::If {
            cond: Value::Bool(true),
            then: vec![Stmt::Assign { place: Place::Local(S), value: Value::Double(1.0) }],
            otherwise: vec![Stmt::Assign { place: Place::Local(S), value: Value::Double(2.0) }],
        },
        repeat(vec![Stmt::Declare { id: T, init: Some(add(Elem::Double, at(V, I), local(S))) }, set(OUT, I, local(T))]),
    ];
    assert_eq!(function(&with(body), &[]), Ok(()));
}

/// One mistake each.
#[test]
fn what_is_wrong_is_named() {
    let declare = |id, init| Stmt::Declare { id, init };
    let one = || Value::Double(1.0);
    let assign = |id, value| Stmt::Assign { place: Place::Local(id), value };
    let point = |id, base| Stmt::Point { id, to: PointerValue::To(Pointer { base, offset: None }) };
    let cases: Vec<(&str, Block)> = vec![
        ("`i` is not in scope, in `out[i] = 1.0`", vec![set(OUT, I, one())]),
        ("`t` is not in scope", vec![repeat(vec![declare(T, Some(one()))]), repeat_after(set(OUT, N, local(T)))]),
        ("`t` is declared twice", vec![declare(T, Some(one())), declare(T, Some(one()))]),
        ("`t` is a constant", vec![declare(T, Some(one())), assign(T, one())]),
        ("`i` is a constant", vec![repeat(vec![assign(I, Value::Index(0))])]),
        ("`s` has no value on some path", vec![declare(S, None), set(OUT, N, local(S))]),
        (
            "`s` has no value on some path",
            vec![
                declare(S, None),
                Stmt::If { cond: Value::Bool(true), then: vec![assign(S, one())], otherwise: Vec::new() },
                set(OUT, N, local(S)),
            ],
        ),
        ("`s` has no value on some path", vec![declare(S, None), repeat(vec![assign(S, one())]), set(OUT, N, local(S))]),
        ("it is an index where a double is needed", vec![set(OUT, N, local(N))]),
        ("it is a double where an index is needed", vec![set(OUT, N, add(Elem::Index, local(N), one()))]),
        ("`=` is marked as what may wrap", vec![Stmt::Fail { cond: wrapping(Prim::Eq), status: Status::Shape }]),
        ("`v` is only read", vec![set(V, N, one())]),
        ("`v` is a pointer where a number is needed", vec![set(OUT, N, local(V))]),
        ("`n` is no pointer", vec![set(OUT, N, at(N, N))]),
        ("`from` cannot point into `v`", vec![point(FROM, V)]),
        ("`out` is read and nothing was written to it", vec![set(OUT, N, at(OUT, N))]),
        ("`room` is read and nothing was written to it", vec![room(), set(OUT, N, at(ROOM, N))]),
        ("`room` is read and nothing was written to it", vec![room(), repeat(vec![set(OUT, I, at(ROOM, I))])]),
        (
            "`from` would outlive the room that it is given",
            vec![point(FROM, OUT), Stmt::Scope(vec![room(), Stmt::Rotate(vec![FROM, ROOM])])],
        ),
        (
            "`v` has at most 3 elements in a row, and none at 3",
            vec![set(OUT, N, Value::Load { base: V, offset: Some(Box::new(in_threes(3))) })],
        ),
        ("`out` has at most 3 elements in a row, and none at -1", vec![store(OUT, in_threes(-1))]),
        ("`room` has at most 2 elements in a row, and none at 2", vec![two(), store(ROOM, Value::Index(2))]),
        ("only a measure returns a value", vec![Stmt::Return(Value::Index(0))]),
        ("there is no helper `smooth_nothing`", vec![set(OUT, N, Value::Helper("smooth_nothing", Vec::new()))]),
        ("`g` is not there before its caller", vec![call("g")]),
    ];
    for (problem, body) in cases {
        let found = function(&with(body), &[]).expect_err(problem);
        assert!(found.contains(problem), "{found}: not {problem}");
        assert!(found.starts_with("in `f`: ") && found.contains(", in `"), "{found}: no place");
    }
}

/// The element of this column in a row of three.
fn in_threes(column: i64) -> Value {
    Value::in_row(local(N), Value::Index(3), Value::Index(column))
}

fn store(base: Id, offset: Value) -> Stmt {
    Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, value: Value::Double(1.0) }
}

/// A room of two numbers.
fn two() -> Stmt {
    let (dims, counts) = (vec![Size::constant(2)], vec![Value::Index(2)]);
    Stmt::Room(Room { id: ROOM, elem: Elem::Double, dims, counts, aligned: false, span: Span::NONE })
}

/// Programs may be wrong for all arguments: what is behind the check that stops them is not reached.
#[test]
fn an_access_that_is_not_reached_may_be_anywhere() {
    let check = Stmt::Fail {
        cond: Value::Prim { prim: Prim::Ge, elem: Elem::Index, plain: true, args: vec![Value::Index(2), Value::Index(2)] },
        status: Status::Bounds,
    };
    let branch = Stmt::If { cond: Value::Bool(false), then: vec![store(ROOM, Value::Index(2))], otherwise: Vec::new() };
    assert_eq!(function(&with(vec![two(), branch, check, store(ROOM, Value::Index(2))]), &[]), Ok(()));
}

/// The same statement after a loop.
fn repeat_after(stmt: Stmt) -> Stmt {
    Stmt::Scope(vec![stmt])
}

fn wrapping(prim: Prim) -> Value {
    Value::Prim { prim, elem: Elem::Index, plain: false, args: vec![local(N), local(N)] }
}

fn call(name: &str) -> Stmt {
    Stmt::Invoke(Invocation { callee: name.into(), args: Vec::new(), measures: Vec::new(), fallible: false, span: Span::NONE })
}

/// What a turn of a loop reads may come from the turn before.
#[test]
fn a_loop_may_write_what_it_reads_first() {
    let body = vec![room(), repeat(vec![set(OUT, I, at(ROOM, I)), set(ROOM, I, Value::Double(1.0))])];
    assert_eq!(function(&with(body), &[]), Ok(()));
}

/// A call that differs from its callee.
#[test]
fn calls_fit_their_callees() {
    let callee = LoopFunction { name: "g".into(), is_entry: false, ..with(Vec::new()) };
    let pointer = |base| Argument::Pointer(Pointer { base, offset: None });
    let calls = |args: Vec<Argument>, fallible| {
        let call = Invocation { callee: "g".into(), args, measures: Vec::new(), fallible, span: Span::NONE };
        function(&with(vec![Stmt::Invoke(call)]), std::slice::from_ref(&callee))
    };
    let n = || Argument::Value(local(N));
    assert_eq!(calls(vec![n(), pointer(V), pointer(OUT)], false), Ok(()));
    for (args, fallible, problem) in [
        (vec![n(), pointer(V), pointer(OUT)], true, "differ about failure"),
        (vec![n(), pointer(V), pointer(OUT), Argument::Workspace], false, "differ about workspace"),
        (vec![n(), pointer(V)], false, "takes 3 arguments"),
        (vec![n(), pointer(V), pointer(V)], false, "`v` is only read"),
        (vec![pointer(V), pointer(V), pointer(OUT)], false, "an argument is no number"),
        (vec![n(), n(), pointer(OUT)], false, "an argument is no place in memory"),
    ] {
        let found = calls(args, fallible).expect_err(problem);
        assert!(found.contains(problem), "{found}: not {problem}");
    }
}
