//! Gradients in reverse mode beside Futhark's own: what smoothc emits as C, and `vjp` in a Futhark program for the same function.
//!
//! In: workloads of `benches/ratios`, and `benches/futhark/<file>.fut` with an entry of the same name and parameters for each of
//! [`NAMES`]. Both run on the same inputs, and their results are compared first. Out: `docs/futhark-vjp.md`, a row for each size.
//!
//! Futhark's arrays are made before what is timed and the result stays in them, where our C writes it to the caller's memory. Both
//! are one thread of C that the same compiler made; sizes, inputs and turns are those of `cargo bench --bench ratios`.

use std::fmt::Write;
use std::path::Path;

use smoothc::driver::{Options, Session};
use smoothc::ir::{Function, Size, Type};
use smoothc::real::Real;
use smoothc::toolchain::compiler::{Arithmetic, Artifact};
use smoothc::toolchain::futhark::compiler::{self, Limits};

use crate::compiled::{Case, Compiled, Program, TOLERANCE, largest_difference};
use crate::timing;
use crate::workloads::{self, WORKLOADS, Workload};

/// The workloads with a Futhark program.
const NAMES: [&str; 6] = ["gradient of vectorMax", "Gaussian mixture", "LSTM", "RNN", "log determinant", "heat equation"];

/// Measures all workloads and writes the page.
pub fn measure(docs: &Path) -> Result<(), String> {
    timing::stay_on_one_core();
    let mut page = String::from(
        "# Reverse mode beside Futhark's\n\n\
         The gradient of the same function by smoothc's C, and by `vjp` of a Futhark program (in `benches/futhark/`) through\n\
         `futhark c`: in one thread, on the same inputs, with the same C compiler, by turns. A time is the median of 31 samples of processor time.\n\
         Futhark's arrays are made before, and its result is not copied out of them. Made by `cargo bench --bench futhark`.\n\n\
         In the log determinant, a step of the Futhark program maps over all rows, since its arrays keep their shapes in a loop;\n\
         in the mixture its factors are whole squares.\n\n\
         | gradient | size | smoothc | Futhark | Futhark / smoothc |\n| --- | --- | ---: | ---: | ---: |\n",
    );
    for workload in WORKLOADS.iter().filter(|workload| NAMES.contains(&workload.name)) {
        rows(workload, &mut page).map_err(|problem| format!("{}: {problem}", workload.name))?;
    }
    std::fs::write(docs.join("futhark-vjp.md"), page).map_err(|problem| problem.to_string())
}

/// The rows of one workload.
fn rows(workload: &Workload, page: &mut String) -> Result<(), String> {
    let program = Program::emit(workload, false, Real::F64)?;
    let emitted = Compiled::load(&program.source, &program.interface, Arithmetic::Fast)?;
    let futhark = load(workload)?;
    let memory = timing::Memory::load()?;
    for &size in workload.sizes {
        let mut case = Case::new((workload.inputs)(size), [&emitted, &futhark]);
        let results = [case.result(&emitted)?, case.result(&futhark)?];
        let difference = largest_difference(&results[0], &results[1]);
        if difference > TOLERANCE {
            return Err(format!("the results differ by {difference:.1e} at {size:?}"));
        }
        let times = timing::in_turns(&mut case, &emitted, &futhark, &memory, 0, 16);
        let [ours, theirs] = [times.emitted, times.hand].map(|samples| timing::median(samples.into_iter()).0);
        let label = (workload.label)(size);
        let row =
            format!("| {} | {label} | {} | {} | {:.1} |", workload.name, crate::duration(ours), crate::duration(theirs), theirs / ours);
        println!("{row}");
        writeln!(page, "{row}").expect("memory");
    }
    Ok(())
}

/// The Futhark program of a workload behind the signature that [`Compiled`] has.
fn load(workload: &Workload) -> Result<Compiled, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/futhark/{}.fut", workload.file));
    let source = std::fs::read_to_string(&path).map_err(|problem| format!("cannot read {}: {problem}", path.display()))?;
    let mut session = Session::new(workload.file, &workloads::program(workload)?, Options::default());
    let message = |problems: Vec<smoothc::diagnostic::Diagnostic>| problems.into_iter().next().map(|p| p.message).unwrap_or_default();
    session.run_to("types", &mut |path, _| Err(format!("`{path}` is not opened here"))).map_err(message)?;
    let shim = shim(session.entry(workload.entry).map_err(message)?, workload.entry).ok_or("a parameter has no form in C")?;

    let folder = tempfile::tempdir().map_err(|problem| problem.to_string())?;
    compiler::generate(&source, "c", folder.path(), Limits::default()).map_err(|problem| problem.message)?;
    let file = folder.path().join("program.c");
    let text = std::fs::read_to_string(&file).map_err(|problem| problem.to_string())? + &shim;
    std::fs::write(&file, text).map_err(|problem| problem.to_string())?;
    let library = folder.path().join(format!("program{}", std::env::consts::DLL_SUFFIX));
    compiler::compile(folder.path(), "c", Artifact::SharedLibrary, Arithmetic::Fast, &library).map_err(|problem| problem.message)?;
    Compiled::open(&library, folder)
}

/// `bench_call` and `bench_workspace` over an entry of a Futhark library. Arrays are made where the sizes are not those of the call
/// before; the result is copied where the caller's memory holds a NaN, as it does before a result is compared.
fn shim(function: &Function, entry: &str) -> Option<String> {
    let (mut make, mut free, mut given) = (String::new(), String::new(), Vec::new());
    let (mut scalars, mut arrays, mut ints) = (0, 0, function.sizes.len());
    let mut declared = format!("static int64_t last[{}];\n", function.sizes.len() + function.params.len());
    for param in &function.params {
        match param.ty() {
            Type::Double => {
                given.push(format!("doubles[{scalars}]"));
                scalars += 1;
            }
            Type::Index(_) => {
                given.push(format!("ints[{ints}]"));
                ints += 1;
            }
            ty => {
                let dims = dims(function, ty)?;
                let ty = format!("futhark_f64_{}d", dims.len());
                writeln!(declared, "static struct {ty} *in{arrays};").ok()?;
                let lengths = dims.join(", ");
                writeln!(make, "        in{arrays} = futhark_new_f64_{}d(context, arrays[{arrays}], {lengths});", dims.len()).ok()?;
                writeln!(free, "            futhark_free_f64_{}d(context, in{arrays});", dims.len()).ok()?;
                given.push(format!("in{arrays}"));
                arrays += 1;
            }
        }
    }
    let parts = match &function.result {
        Type::Tuple(parts) => parts.iter().collect(),
        ty => vec![ty],
    };
    let (mut copy, mut drop, mut outs) = (String::new(), String::new(), Vec::new());
    for (k, ty) in parts.into_iter().enumerate() {
        let rank = dims(function, ty)?.len();
        writeln!(declared, "static struct futhark_f64_{rank}d *out{k};").ok()?;
        writeln!(copy, "        status |= futhark_values_f64_{rank}d(context, out{k}, arrays[{}]);", arrays + k).ok()?;
        writeln!(drop, "    status |= futhark_free_f64_{rank}d(context, out{k});").ok()?;
        outs.push(format!("&out{k}"));
    }
    let (outs, given) = (outs.join(", "), given.join(", "));
    Some(format!(
        "\n\nstatic struct futhark_context *context;\n{declared}\n\
         size_t bench_workspace(const int64_t *ints)\n{{\n    (void)ints;\n    return 0;\n}}\n\n\
         int bench_call(const int64_t *ints, const double *doubles, void *const *arrays, void *workspace, size_t bytes)\n{{\n    \
         int status = 0;\n    (void)doubles;\n    (void)workspace;\n    (void)bytes;\n    \
         if (!context || memcmp(last, ints, {ints} * sizeof *ints)) {{\n        \
         if (context) {{\n{free}        }} else {{\n            context = futhark_context_new(futhark_context_config_new());\n        }}\n\
         {make}        memcpy(last, ints, {ints} * sizeof *ints);\n    }}\n    \
         status |= futhark_entry_{entry}(context, {outs}, {given});\n    status |= futhark_context_sync(context);\n    \
         if (status) {{\n        return 1;\n    }}\n    \
         const double *first = arrays[{arrays}];\n    if (*first != *first) {{\n{copy}        status |= futhark_context_sync(context);\n    }}\n\
         {drop}    return status != 0;\n}}\n"
    ))
}

/// The lengths of an array of Doubles, as C over the sizes that `bench_call` gets; `None` for another type.
fn dims(function: &Function, ty: &Type) -> Option<Vec<String>> {
    let Type::Array(element, size) = ty else { return (*ty == Type::Double).then(Vec::new) };
    let length = match size.as_constant() {
        Some(length) => length.to_string(),
        None => format!("ints[{}]", function.sizes.iter().position(|var| Size::var(var) == *size)?),
    };
    let inner = dims(function, element)?;
    Some([length].into_iter().chain(inner).collect())
}
