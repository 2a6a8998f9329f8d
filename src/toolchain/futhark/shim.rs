//! One C signature for all entries of a Futhark library: C functions to put after the generated file.
//!
//! In: an entry's name and its parameter and result types. Out: C text. Arrays go in as pointers with their lengths, and
//! come out into memory of the lengths that the caller expects; other lengths are the error -1. After an error there is a
//! new context.
//!
//!     entry f [n] (v: [n]f64) (s: f64) : [n]f64   →
//!     static int smoothc_call_0(…) { … futhark_new_f64_1d … futhark_entry_f … futhark_values_f64_1d … }

use std::fmt::Write;

use crate::ir::{Function, Type, Var};
use crate::real::Real;

/// What the caller of an entry must know.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The name of the entry in Futhark.
    pub name: String,
    pub params: Vec<Var>,
    pub result: Type,
    /// What a Double is to the entry.
    pub real: Real,
}

/// A scalar or an array of scalars, as an entry point has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub kind: Kind,
    /// How many dimensions; 0 for a scalar.
    pub rank: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Double,
    Index,
    Bool,
}

impl Kind {
    fn futhark(self, real: Real) -> &'static str {
        match self {
            Kind::Double => real.futhark(),
            Kind::Index => "i64",
            Kind::Bool => "bool",
        }
    }

    fn c(self, real: Real) -> &'static str {
        match self {
            Kind::Double => real.c(),
            Kind::Index => "int64_t",
            Kind::Bool => "bool",
        }
    }
}

impl Interface {
    /// The interface of a core function under its Futhark name, on f64.
    pub fn new(name: &str, function: &Function) -> Interface {
        Interface { name: name.to_string(), params: function.params.clone(), result: function.result.clone(), real: Real::F64 }
    }
}

/// The scalars and arrays that stand for a type, depth first.
pub fn leaves(ty: &Type) -> Vec<Leaf> {
    let one = |kind| vec![Leaf { kind, rank: 0 }];
    match ty {
        Type::Double => one(Kind::Double),
        Type::Index(_) => one(Kind::Index),
        Type::Bool => one(Kind::Bool),
        Type::Array(element, _) => leaves(element).into_iter().map(|leaf| Leaf { rank: leaf.rank + 1, ..leaf }).collect(),
        Type::Tuple(parts) => parts.iter().flat_map(leaves).collect(),
        // no entry has one: `driver` refuses it
        Type::Rec(_) => Vec::new(),
    }
}

const HEAD: &str = "
struct smoothc_library { struct futhark_context_config *config; struct futhark_context *context; };

void *smoothc_open(char **error)
{
    struct smoothc_library *library = malloc(sizeof *library);
    if (library == NULL) return NULL;
    library->config = futhark_context_config_new();
    library->context = futhark_context_new(library->config);
    *error = futhark_context_get_error(library->context);
    return library;
}

void smoothc_close(void *opened)
{
    struct smoothc_library *library = opened;
    futhark_context_free(library->context);
    futhark_context_config_free(library->config);
    free(library);
}

void smoothc_free(char *error)
{
    free(error);
}

/* the rows that an empty array does not have may have a negative length */
static inline int64_t smoothc_length(int64_t length)
{
    return length < 0 ? 0 : length;
}

typedef int smoothc_entry(struct futhark_context *, const void *const *, const int64_t *, void *const *, const int64_t *);
";

/// C text with `smoothc_open`, `smoothc_close`, `smoothc_free` and `smoothc_call`.
pub fn shim(interfaces: &[Interface]) -> String {
    let mut text = HEAD.to_string();
    for (number, interface) in interfaces.iter().enumerate() {
        entry(&mut text, number, interface);
    }
    text.push_str("\nstatic smoothc_entry *const smoothc_entries[] = {");
    for number in 0..interfaces.len() {
        let _ = write!(text, " smoothc_call_{number},");
    }
    text.push_str(
        " };\n
int smoothc_call(void *opened, int64_t entry, const void *const *ins, const int64_t *in_dims, void *const *outs, const int64_t *out_dims, char **error)
{
    struct smoothc_library *library = opened;
    int status = smoothc_entries[entry](library->context, ins, in_dims, outs, out_dims);
    *error = futhark_context_get_error(library->context);
    if (status != 0) {
        /* the scheduler of `multicore` remembers an error for ever */
        futhark_context_free(library->context);
        library->context = futhark_context_new(library->config);
    }
    return status;
}
",
    );
    text
}

/// One entry: every scalar and array has a pointer, arrays have `rank` lengths.
fn entry(text: &mut String, number: usize, interface: &Interface) {
    let params: Vec<Leaf> = interface.params.iter().flat_map(|param| leaves(param.ty())).collect();
    let results = leaves(&interface.result);
    let mut body = String::new();
    let (mut passed, mut frees) = (Vec::new(), String::new());
    let mut dim = 0;
    for (at, leaf) in params.iter().enumerate() {
        let (ty, c) = (leaf.kind.futhark(interface.real), leaf.kind.c(interface.real));
        if leaf.rank == 0 {
            passed.push(format!("*(const {c} *)ins[{at}]"));
            continue;
        }
        let rank = leaf.rank;
        let dims: Vec<String> = (0..rank).map(|k| format!("in_dims[{}]", dim + k)).collect();
        dim += rank;
        let _ = writeln!(
            body,
            "    struct futhark_{ty}_{rank}d *in_{at} = futhark_new_{ty}_{rank}d(context, (const {c} *)ins[{at}], {});",
            dims.join(", ")
        );
        let _ = writeln!(frees, "    if (in_{at} != NULL) futhark_free_{ty}_{rank}d(context, in_{at});");
        passed.push(format!("in_{at}"));
    }
    let mut outs = Vec::new();
    let (mut copies, mut dim) = (String::new(), 0);
    for (at, leaf) in results.iter().enumerate() {
        let (ty, c, rank) = (leaf.kind.futhark(interface.real), leaf.kind.c(interface.real), leaf.rank);
        if rank == 0 {
            outs.push(format!("({c} *)outs[{at}]"));
            continue;
        }
        let _ = writeln!(body, "    struct futhark_{ty}_{rank}d *out_{at} = NULL;");
        outs.push(format!("&out_{at}"));
        let tests: Vec<String> = (0..rank)
            .map(|k| format!("smoothc_length(futhark_shape_{ty}_{rank}d(context, out_{at})[{k}]) != out_dims[{}]", dim + k))
            .collect();
        dim += rank;
        let _ = writeln!(copies, "    if (status == 0 && ({})) status = -1;", tests.join(" || "));
        let _ = writeln!(copies, "    if (status == 0) status = futhark_values_{ty}_{rank}d(context, out_{at}, ({c} *)outs[{at}]);");
        let _ = writeln!(frees, "    if (out_{at} != NULL) futhark_free_{ty}_{rank}d(context, out_{at});");
    }
    let arguments: Vec<String> = std::iter::once("context".to_string()).chain(outs).chain(passed).collect();
    let _ = write!(
        text,
        "\nstatic int smoothc_call_{number}(struct futhark_context *context, const void *const *ins, const int64_t *in_dims, \
         void *const *outs, const int64_t *out_dims)\n{{\n    (void)ins; (void)in_dims; (void)outs; (void)out_dims;\n{body}    \
         int status = futhark_entry_{}({});\n    if (status == 0) status = futhark_context_sync(context);\n{copies}    \
         if (status == 0) status = futhark_context_sync(context);\n{frees}    return status;\n}}\n",
        interface.name,
        arguments.join(", ")
    );
}
