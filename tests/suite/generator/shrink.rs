//! Smaller programs that are still well-typed.
//!
//! In: a program. Out: candidates, most promising first: a function's body, an expression by one of its own
//! parts of the same type, by a variable, by a literal; fewer inputs; fewer parameters and functions.

use super::program::{Binding, Child, Expr, Function, Kind, Program, Ty};

/// The smallest program found for which `fails` still holds.
pub fn shrink(mut program: Program, budget: usize, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut left = budget;
    'again: loop {
        let mut candidates = candidates(&program);
        candidates.sort_by_key(|candidate| candidate.size() + candidate.inputs.len());
        for candidate in candidates {
            if left == 0 {
                return program;
            }
            left -= 1;
            if fails(&candidate) {
                program = candidate;
                continue 'again;
            }
        }
        return program;
    }
}

fn candidates(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    if program.inputs.len() > 1 {
        all.extend(program.inputs.iter().map(|input| Program { inputs: vec![input.clone()], ..program.clone() }));
    }
    let last = program.functions.len() - 1;
    for (at, function) in program.functions.iter().enumerate() {
        if at != last && !program.functions.iter().any(|other| mentions(&other.body, &function.name)) {
            let mut smaller = program.clone();
            smaller.functions.remove(at);
            all.push(smaller);
        }
        // callers pass arguments by position, so only the entry loses parameters
        if at == last {
            for (k, (name, _)) in function.params.iter().enumerate() {
                if !mentions(&function.body, name) {
                    let mut smaller = program.clone();
                    smaller.functions[at].params.remove(k);
                    smaller.inputs.iter_mut().for_each(|input| drop(input.remove(k)));
                    all.push(smaller);
                }
            }
            let mut found = Vec::new();
            let mut env = environment(program, function, at);
            let outer = env.clone();
            descendants(&function.body, &mut env, &mut |expr, env| {
                if in_scope(expr, env, &outer) {
                    found.push(expr.clone());
                }
            });
            all.extend(found.into_iter().map(|body| with_body(program, at, body)));
        }
        let mut env = environment(program, function, at);
        let mut bodies = Vec::new();
        replacements(&function.body, &mut env, &mut |body| bodies.push(body));
        all.extend(bodies.into_iter().map(|body| with_body(program, at, body)));
    }
    let size = program.size() + program.inputs.len();
    all.retain(|candidate| candidate.size() + candidate.inputs.len() < size);
    all
}

fn with_body(program: &Program, at: usize, body: Expr) -> Program {
    let mut smaller = program.clone();
    smaller.functions[at].body = body;
    smaller
}

fn environment(program: &Program, function: &Function, at: usize) -> Vec<Binding> {
    // the types of functions matter nowhere here: names of global functions are never shadowed
    let globals =
        program.functions[..at].iter().map(|global| Binding { name: global.name.clone(), kind: Kind::Function(vec![], Ty::Double) });
    globals.chain(function.params.iter().map(|(name, ty)| Binding::value(name, ty.clone()))).collect()
}

fn mentions(expr: &Expr, name: &str) -> bool {
    expr.uses.as_deref() == Some(name) || expr.children.iter().any(|child| mentions(&child.expr, name))
}

fn lookup<'a>(env: &'a [Binding], name: &str) -> Option<&'a Binding> {
    env.iter().rev().find(|binding| *binding.name == *name)
}

/// Whether every free name of `expr`, which stands under `from`, means the same under `to`.
fn in_scope(expr: &Expr, from: &[Binding], to: &[Binding]) -> bool {
    fn walk(expr: &Expr, bound: &mut Vec<Binding>, from: &[Binding], to: &[Binding]) -> bool {
        if let Some(name) = &expr.uses
            && lookup(bound, name).is_none()
            && (lookup(from, name) != lookup(to, name) || lookup(to, name).is_none())
        {
            return false;
        }
        expr.children.iter().all(|Child { binds, expr }| {
            let depth = bound.len();
            bound.extend(binds.iter().cloned());
            let fine = walk(expr, bound, from, to);
            bound.truncate(depth);
            fine
        })
    }
    walk(expr, &mut Vec::new(), from, to)
}

/// All strict descendants with what is in scope there.
fn descendants(expr: &Expr, env: &mut Vec<Binding>, visit: &mut dyn FnMut(&Expr, &[Binding])) {
    for Child { binds, expr } in &expr.children {
        let depth = env.len();
        env.extend(binds.iter().cloned());
        visit(expr, env);
        descendants(expr, env, visit);
        env.truncate(depth);
    }
}

/// The expression with one place replaced, in all ways.
fn replacements(expr: &Expr, env: &mut Vec<Binding>, found: &mut dyn FnMut(Expr)) {
    if !expr.children.is_empty() {
        let outer = env.clone();
        descendants(expr, env, &mut |part, inner| {
            if part.ty == expr.ty && in_scope(part, inner, &outer) {
                found(part.clone());
            }
        });
        for binding in &outer {
            if binding.ty().as_ref() == Some(&expr.ty) && lookup(&outer, &binding.name) == Some(binding) {
                found(Expr::var(binding));
            }
        }
        if let Some(literal) = literal(&expr.ty) {
            found(literal);
        }
    }
    for (at, Child { binds, expr: child }) in expr.children.iter().enumerate() {
        let depth = env.len();
        env.extend(binds.iter().cloned());
        replacements(child, env, &mut |new| {
            let mut whole = expr.clone();
            whole.children[at].expr = new;
            found(whole);
        });
        env.truncate(depth);
    }
}

/// A constant of this type.
pub fn literal(ty: &Ty) -> Option<Expr> {
    Some(match ty {
        Ty::Double => Expr::atom(ty.clone(), "1.5"),
        Ty::Index => Expr::atom(ty.clone(), "1"),
        Ty::Bool => Expr::atom(ty.clone(), "true"),
        Ty::Array(element, len) if len.name.is_none() && (1..5).contains(&len.off) => {
            let element = literal(element)?.text();
            Expr::atom(ty.clone(), &format!("[{}]", vec![element; len.off as usize].join(", ")))
        }
        Ty::Array(..) => return None,
        Ty::Tuple(parts) => {
            let parts: Option<Vec<String>> = parts.iter().map(|part| literal(part).map(|part| part.text())).collect();
            Expr::atom(ty.clone(), &format!("({})", parts?.join(", ")))
        }
    })
}
