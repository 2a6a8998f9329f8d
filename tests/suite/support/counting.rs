//! Inputs to count at: what `tests/suite/work.rs`, `tests/suite/docs.rs` and `benches/passes` give to entries.
//!
//! In: an entry, and a number for each of its sizes. Out: arguments of that size, the same on every machine, and the sum of what the
//! interpreter counts. A file of `tests/derivatives` says its sizes in a comment:
//!
//!     // sizes: n = 20; n = 40
//!     let automatic (v: Vector<n>) …    →   20 numbers between 0.2 and 1.2 for v, then 40

use std::path::Path;
use std::rc::Rc;

use smoothc::ir::eval::{Array, Counts, Shape, Value};
use smoothc::ir::{Function, Type, Var};

/// A number for each size by its name.
pub type Sizes = Vec<(String, u64)>;

/// The folder of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The programs of a folder, in alphabetical order.
pub fn names(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
    let mut names: Vec<String> = entries.filter_map(|entry| entry.expect("readable").file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(".smooth"));
    names.sort();
    names
}

/// What the line `// sizes:` of a program says: several sizes, with `;` between them.
pub fn sizes_of(text: &str) -> Vec<Sizes> {
    let line = text.lines().find_map(|line| line.strip_prefix("// sizes:")).expect("a line `// sizes: …`");
    let size = |part: &str| {
        let (name, value) = part.split_once('=').expect("`name = size`");
        (name.trim().to_string(), value.trim().parse().expect("a number"))
    };
    line.split(';').map(|at| at.split(',').map(size).collect()).collect()
}

/// A value of the type with these sizes; numbers between 0.2 and 1.2, in no order.
fn value(ty: &Type, sizes: &Sizes, next: &mut f64) -> Value {
    match ty {
        Type::Array(element, length) => {
            let length = match length.as_constant() {
                Some(length) => length as u64,
                None => size(&length.to_string(), sizes),
            };
            let items: Vec<Value> = (0..length).map(|_| value(element, sizes, next)).collect();
            Value::Array(Rc::new(Array { element: items.first().map_or(Shape::Double, Value::shape), items }))
        }
        Type::Double => {
            *next += 1.7;
            Value::Double(0.7 + next.sin() / 2.0)
        }
        Type::Index(Some(bound)) => {
            *next += 1.7;
            Value::Index(*next as i64 % size(&bound.to_string(), sizes) as i64)
        }
        Type::Bool | Type::Index(None) | Type::Tuple(_) | Type::Rec(_) => panic!("no value of this type"),
    }
}

/// The value of a size, which may be a product such as `3 * n`.
pub fn size(text: &str, sizes: &Sizes) -> u64 {
    let named = |name: &str| sizes.iter().find(|(other, _)| other == name).unwrap_or_else(|| panic!("no size for `{name}`")).1;
    text.split(" * ").map(|factor| factor.parse().unwrap_or_else(|_| named(factor))).product()
}

/// Arguments of a function: an Index parameter is the size of its name.
pub fn arguments(function: &Function, sizes: &Sizes) -> Vec<Value> {
    let mut next = 0.3;
    let argument = |param: &Var| match param.ty() {
        Type::Index(_) => Value::Index(size(param.name(), sizes) as i64),
        ty => value(ty, sizes, &mut next),
    };
    function.params.iter().map(argument).collect()
}

/// Operations, comparisons, reads and writes together.
pub fn total(counts: Counts) -> u64 {
    counts.arithmetic + counts.comparisons + counts.reads + counts.writes
}

/// Arguments of an example in which each size, and each Index parameter, is `length`; none where a parameter is made of anything but
/// Doubles.
pub fn example_arguments(function: &Function, length: u64) -> Option<Vec<Value>> {
    let mut sizes: Sizes = function.sizes.iter().map(|var| (var.name().to_string(), length)).collect();
    sizes.extend(
        function.params.iter().filter(|param| matches!(param.ty(), Type::Index(_))).map(|param| (param.name().to_string(), length)),
    );
    // lengths that are sums are not read
    let is_known =
        |length: &str| length.split(" * ").all(|factor| factor.parse::<u64>().is_ok() || sizes.iter().any(|(name, _)| name == factor));
    let plain = |ty: &Type| {
        let mut ty = ty;
        while let Type::Array(element, length) = ty {
            if length.as_constant().is_none() && !is_known(&length.to_string()) {
                return false;
            }
            ty = element;
        }
        matches!(ty, Type::Double)
    };
    let fits = function.params.iter().all(|param| matches!(param.ty(), Type::Index(_)) || plain(param.ty()));
    fits.then(|| arguments(function, &sizes))
}
