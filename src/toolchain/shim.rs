//! One C signature for all entries: a small C function that unpacks arrays of numbers and pointers.
//!
//! In: an entry's C name, its sizes in C's order, its parameter and result types (CLI.md, Emitted C). Out: C
//! text to put after the emitted file. For `f (v: Vector<n>) (s: Double) : Vector<n>`:
//!
//!     int smoothc_call(const int64_t *ints, const double *doubles, void *const *arrays, void *workspace, size_t bytes)
//!     {
//!         return (int)f(ints[0], (const double *)arrays[0], doubles[0], (double *)arrays[1], workspace, bytes);
//!     }

use crate::ir::{Function, Type, Var};

/// What the caller of an entry must know.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The name of the C function.
    pub name: String,
    /// The name of the C function that says how many bytes of workspace it needs.
    pub workspace: String,
    /// The size parameters, in C's order; one may be an Index parameter of the entry.
    pub sizes: Vec<Var>,
    pub params: Vec<Var>,
    pub result: Type,
}

/// A scalar leaf of a type, and whether it is inside an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    Double,
    Index,
    Bool,
    Array(&'static str),
}

impl Interface {
    /// The interface of a core function under its C names.
    pub fn new(name: &str, workspace: &str, sizes: Vec<Var>, function: &Function) -> Interface {
        Interface {
            name: name.into(),
            workspace: workspace.into(),
            sizes,
            params: function.params.clone(),
            result: function.result.clone(),
        }
    }

    /// The parameters that are passed after the sizes, with their positions.
    pub fn passed(&self) -> impl Iterator<Item = (usize, &Var)> {
        self.params.iter().enumerate().filter(|(_, param)| !self.sizes.contains(param))
    }

    /// C text with the functions `call` and `workspace`.
    pub fn shim(&self, call: &str, workspace: &str) -> String {
        // an entry may have the name of one of our parameters
        let local = |name: &str| {
            if [&self.name, &self.workspace].iter().any(|taken| *taken == name) { format!("{name}_") } else { name.to_string() }
        };
        let [ints_, doubles_, arrays_, room, bytes] = ["ints", "doubles", "arrays", "workspace", "bytes"].map(local);
        let mut args: Vec<String> = (0..self.sizes.len()).map(|at| format!("{ints_}[{at}]")).collect();
        let mut measures = args.clone();
        let (mut ints, mut doubles, mut arrays) = (self.sizes.len(), 0, 0);
        let next = |count: &mut usize| {
            *count += 1;
            *count - 1
        };
        for (_, param) in self.passed() {
            for leaf in leaves(param.ty()) {
                let arg = match leaf {
                    Leaf::Double => format!("{doubles_}[{}]", next(&mut doubles)),
                    Leaf::Index => format!("{ints_}[{}]", next(&mut ints)),
                    Leaf::Bool => format!("{ints_}[{}] != 0", next(&mut ints)),
                    Leaf::Array(ty) => format!("(const {ty} *){arrays_}[{}]", next(&mut arrays)),
                };
                if matches!(leaf, Leaf::Index | Leaf::Bool) {
                    measures.push(arg.clone());
                }
                args.push(arg);
            }
        }
        for leaf in leaves(&self.result) {
            let ty = match leaf {
                Leaf::Double => "double",
                Leaf::Index => "int64_t",
                Leaf::Bool => "bool",
                Leaf::Array(ty) => ty,
            };
            args.push(format!("({ty} *){arrays_}[{}]", next(&mut arrays)));
        }
        let (name, measure, args, measures) = (&self.name, &self.workspace, args.join(", "), measures.join(", "));
        let args = if args.is_empty() { args } else { args + ", " };
        format!(
            "\nint {call}(const int64_t *{ints_}, const double *{doubles_}, void *const *{arrays_}, void *{room}, size_t {bytes})\n{{\n    \
             (void){ints_};\n    (void){doubles_};\n    (void){arrays_};\n    return (int){name}({args}{room}, {bytes});\n}}\n\
             \nsize_t {workspace}(const int64_t *{ints_})\n{{\n    (void){ints_};\n    return {measure}({measures});\n}}\n"
        )
    }
}

/// The C parameters that a parameter of this type becomes, depth first.
pub fn leaves(ty: &Type) -> Vec<Leaf> {
    let mut found = Vec::new();
    add_leaves(ty, false, &mut found);
    found
}

fn add_leaves(ty: &Type, in_array: bool, found: &mut Vec<Leaf>) {
    match ty {
        Type::Double => found.push(if in_array { Leaf::Array("double") } else { Leaf::Double }),
        Type::Index(_) => found.push(if in_array { Leaf::Array("int64_t") } else { Leaf::Index }),
        Type::Bool => found.push(if in_array { Leaf::Array("bool") } else { Leaf::Bool }),
        Type::Array(element, _) => add_leaves(element, true, found),
        Type::Tuple(parts) => parts.iter().for_each(|part| add_leaves(part, in_array, found)),
    }
}
