//! One C signature for all entries: a small C function that unpacks arrays of numbers and pointers.
//!
//! In: an entry's C name, its sizes in C's order, its parameter and result types (docs/c.md). Out: C
//! text to put after the emitted file. For `f (v: Vector<n>) (s: Double) : Vector<n>`:
//!
//!     int smoothc_call(const int64_t *ints, const double *doubles, void *const *arrays, void *workspace, size_t bytes)
//!     {
//!         return (int)f(ints[0], (const double *)arrays[0], doubles[0], (double *)arrays[1], workspace, bytes);
//!     }

use crate::ir::{Function, Type, Var};
use crate::real::Real;

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
    /// What a Double is to the entry.
    pub real: Real,
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
    /// The interface of a core function under its C names, on doubles.
    pub fn new(name: &str, workspace: &str, sizes: Vec<Var>, function: &Function) -> Interface {
        Interface {
            name: name.into(),
            workspace: workspace.into(),
            sizes,
            params: function.params.clone(),
            result: function.result.clone(),
            real: Real::F64,
        }
    }

    /// The parameters that are passed after the sizes, with their positions.
    pub fn passed(&self) -> impl Iterator<Item = (usize, &Var)> {
        self.params.iter().enumerate().filter(|(_, param)| !self.sizes.contains(param))
    }

    /// C text with the functions `call` and `workspace`.
    pub fn shim(&self, call: &str, workspace: &str) -> String {
        let mut args: Vec<String> = (0..self.sizes.len()).map(|at| format!("smooth_ints[{at}]")).collect();
        let mut measures = args.clone();
        let (mut ints, mut doubles, mut arrays) = (self.sizes.len(), 0, 0);
        let next = |count: &mut usize| {
            *count += 1;
            *count - 1
        };
        for (_, param) in self.passed() {
            for leaf in leaves(param.ty(), self.real) {
                let arg = match leaf {
                    Leaf::Double => {
                        let cast = if self.real == Real::F32 { "(float)" } else { "" };
                        format!("{cast}smooth_doubles[{}]", next(&mut doubles))
                    }
                    Leaf::Index => format!("smooth_ints[{}]", next(&mut ints)),
                    Leaf::Bool => format!("smooth_ints[{}] != 0", next(&mut ints)),
                    Leaf::Array(ty) => format!("(const {ty} *)smooth_arrays[{}]", next(&mut arrays)),
                };
                if matches!(leaf, Leaf::Index | Leaf::Bool) {
                    measures.push(arg.clone());
                }
                args.push(arg);
            }
        }
        for leaf in leaves(&self.result, self.real) {
            let ty = match leaf {
                Leaf::Double => self.real.c(),
                Leaf::Index => "int64_t",
                Leaf::Bool => "bool",
                Leaf::Array(ty) => ty,
            };
            args.push(format!("({ty} *)smooth_arrays[{}]", next(&mut arrays)));
        }
        let (name, measure, args, measures) = (&self.name, &self.workspace, args.join(", "), measures.join(", "));
        let args = if args.is_empty() { args } else { args + ", " };
        format!(
            "\nint {call}(const int64_t *smooth_ints, const double *smooth_doubles, void *const *smooth_arrays, void *smooth_work, size_t smooth_bytes)\n{{\n    \
             (void)smooth_ints;\n    (void)smooth_doubles;\n    (void)smooth_arrays;\n    return (int){name}({args}smooth_work, smooth_bytes);\n}}\n\
             \nsize_t {workspace}(const int64_t *smooth_ints)\n{{\n    (void)smooth_ints;\n    return {measure}({measures});\n}}\n"
        )
    }
}

/// The C parameters that a parameter of this type becomes, depth first; what a Double is says `real`.
pub fn leaves(ty: &Type, real: Real) -> Vec<Leaf> {
    let mut found = Vec::new();
    add_leaves(ty, real, false, &mut found);
    found
}

fn add_leaves(ty: &Type, real: Real, in_array: bool, found: &mut Vec<Leaf>) {
    match ty {
        Type::Double => found.push(if in_array { Leaf::Array(real.c()) } else { Leaf::Double }),
        Type::Index(_) => found.push(if in_array { Leaf::Array("int64_t") } else { Leaf::Index }),
        Type::Bool => found.push(if in_array { Leaf::Array("bool") } else { Leaf::Bool }),
        Type::Array(element, _) => add_leaves(element, real, true, found),
        Type::Tuple(parts) => parts.iter().for_each(|part| add_leaves(part, real, in_array, found)),
        // no entry has one: `driver` refuses it
        Type::Rec(_) => {}
    }
}
