//! Futhark's syntax as far as we write it.
//!
//! In: what `term` and its neighbours decide. Out: small trees that `clean` rids of what nobody reads and `layout`
//! prints. The constructors hold the few equations that make text shorter and change no meaning:
//!
//!     let a = (let b = x in b + 1) in a * 2   →   let b = x let a = b + 1 in a * 2
//!     map (\x -> f64.sin x) v                 →   map f64.sin v
//!     (a, b).1, let x = b in x                →   b

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Fut {
    /// A name or a literal.
    Atom(String),
    /// An i64 literal; its type is written where nothing around it says so.
    Int(i64),
    Apply(String, Vec<Fut>),
    Infix(&'static str, Box<Fut>, Box<Fut>),
    Prefix(char, Box<Fut>),
    Index(Box<Fut>, Vec<Fut>),
    Project(Box<Fut>, usize),
    /// `a with [i, j] = x`.
    With(Box<Fut>, Vec<Fut>, Box<Fut>),
    Tuple(Vec<Fut>),
    Array(Vec<Fut>),
    If(Box<Fut>, Box<Fut>, Box<Fut>),
    Let(Vec<Binding>, Box<Fut>),
    Loop(Box<Loop>),
    Lambda(Vec<Pattern>, Box<Fut>),
    /// `e :> T`; `e : T` for an empty array, which has no size to lose.
    Typed(Box<Fut>, &'static str, String),
}

/// How long a loop goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum Trip {
    /// `for i < n`.
    For(String, Fut),
    /// `while go`, a name of the pattern.
    While(String),
}

/// `loop pattern = init for i < n do body`.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub pattern: Pattern,
    pub init: Fut,
    pub trip: Trip,
    pub body: Fut,
}

/// `let pattern = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    pub pattern: Pattern,
    pub value: Fut,
}

/// What binds names.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    Name(String),
    Tuple(Vec<Pattern>),
    /// `[k] (t: [k]f64)`: gives a name to a length that only the value knows; without sizes, just a type.
    Sized {
        sizes: Vec<String>,
        name: String,
        ty: String,
    },
    Wild,
}

impl Fut {
    /// A length as types write it: `n`, or a sum, a product or `-n`, which stand in parentheses anywhere.
    pub fn length(text: &str) -> Fut {
        Fut::atom(if text.contains(' ') || text.starts_with('-') { format!("({text})") } else { text.to_string() })
    }

    pub fn atom(text: impl Into<String>) -> Fut {
        Fut::Atom(text.into())
    }

    pub fn apply(function: impl Into<String>, args: Vec<Fut>) -> Fut {
        Fut::Apply(function.into(), args)
    }

    pub fn infix(op: &'static str, a: Fut, b: Fut) -> Fut {
        Fut::Infix(op, Box::new(a), Box::new(b))
    }

    pub fn if_(cond: Fut, then: Fut, otherwise: Fut) -> Fut {
        Fut::If(Box::new(cond), Box::new(then), Box::new(otherwise))
    }

    /// `condition` guards `value`; `status` is what the message begins with.
    pub fn assert(status: &str, condition: Fut, value: Fut) -> Fut {
        Fut::apply("assert", vec![Fut::apply(status, vec![condition]), value])
    }

    /// One chain, also where the values or the body are chains.
    pub fn let_in(bindings: Vec<Binding>, body: Fut) -> Fut {
        let mut chain = Vec::new();
        for Binding { pattern, value } in bindings {
            let value = value.without_lets(&mut chain);
            chain.push(Binding { pattern, value });
        }
        let mut body = body.without_lets(&mut chain);
        // `let x = e in x`
        if chain.last().is_some_and(|last| last.pattern.is_exp(&body))
            && let Some(last) = chain.pop()
        {
            body = last.value;
        }
        if chain.is_empty() { body } else { Fut::Let(chain, Box::new(body)) }
    }

    /// Moves the lets around the value into `bindings`.
    pub fn without_lets(self, bindings: &mut Vec<Binding>) -> Fut {
        let Fut::Let(chain, body) = self else { return self };
        bindings.extend(chain);
        *body
    }

    pub fn project(self, at: usize) -> Fut {
        match self {
            Fut::Tuple(mut parts) if at < parts.len() => parts.swap_remove(at),
            Fut::Let(chain, body) => Fut::Let(chain, Box::new(body.project(at))),
            other => Fut::Project(Box::new(other), at),
        }
    }

    /// `a[i][j]` as `a[i, j]`.
    pub fn index(self, at: Fut) -> Fut {
        let Fut::Index(array, mut places) = self else { return Fut::Index(Box::new(self), vec![at]) };
        places.push(at);
        Fut::Index(array, places)
    }
}

impl Pattern {
    /// Whether the expression is just what the pattern took apart.
    pub fn is_exp(&self, exp: &Fut) -> bool {
        match (self, exp) {
            (Pattern::Name(name), Fut::Atom(text)) => name == text,
            (Pattern::Tuple(patterns), Fut::Tuple(parts)) => {
                patterns.len() == parts.len() && patterns.iter().zip(parts).all(|(pattern, part)| pattern.is_exp(part))
            }
            _ => false,
        }
    }
}
