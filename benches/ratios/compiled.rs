//! Programs as machine code, and the memory that a call needs.
//!
//! In: a workload's program, or C text with the same interface. Out: [`Compiled`], a loaded function behind the one C signature
//! of `toolchain::shim`, and [`Case`], inputs, outputs and workspace at 64-byte boundaries, which the emitted and the
//! hand-written function share: where an array happens to lie must not tell them apart.

use std::alloc::Layout;
use std::ffi::c_void;
use std::os::raw::c_int;
use std::path::Path;
use std::time::{Duration, Instant};

use libloading::Library;
use smoothc::diagnostic::Diagnostic;
use smoothc::driver::{Options, Session};
use smoothc::real::Real;
use smoothc::toolchain::compiler::{self, Artifact, Mode};
use smoothc::toolchain::shim::Interface;

use crate::inputs::{Array, Inputs};
use crate::workloads::{self, Workload};

type Call = unsafe extern "C" fn(*const i64, *const f64, *const *mut c_void, *mut c_void, usize) -> c_int;
type Measure = unsafe extern "C" fn(*const i64) -> usize;

/// The largest |a - b| / max(1, |a|, |b|) over the elements of the two results.
pub const TOLERANCE: f64 = 1e-9;

/// What smoothc makes of a workload.
pub struct Program {
    pub source: String,
    pub interface: Interface,
    /// The best of three runs of all stages.
    pub time: Duration,
}

impl Program {
    pub fn emit(workload: &Workload, parallel: bool, real: Real) -> Result<Program, String> {
        let text = workloads::program(workload)?;
        let file = format!("{}.smooth", workload.file);
        let options = Options { only: Some(workload.entry.into()), parallel, real, ..Options::default() };
        let emit = || {
            let mut session = Session::new(&file, &text, options.clone());
            session.run_to("emit", &mut |path, _| Err(format!("`{path}` is not opened here"))).map_err(first)?;
            Ok::<Session, String>(session)
        };
        let session = emit()?;
        let time = |session: &Session| session.times.iter().map(|(_, time)| *time).sum::<Duration>();
        let best = time(&session).min(time(&emit()?)).min(time(&emit()?));
        let interface = session.interface(workload.entry).map_err(first)?;
        Ok(Program { source: session.emitted().map_err(first)?.source.clone(), interface, time: best })
    }
}

fn first(problems: Vec<Diagnostic>) -> String {
    problems.into_iter().next().map(|problem| problem.message).unwrap_or_default()
}

/// One compiled function.
pub struct Compiled {
    call: Call,
    measure: Measure,
    pub object_bytes: u64,
    /// How long the C compiler took for an object.
    pub time: Duration,
    /// The functions are there for as long as these are.
    _library: Library,
    _folder: tempfile::TempDir,
}

impl Compiled {
    pub fn load(source: &str, interface: &Interface, mode: impl Into<Mode>) -> Result<Compiled, String> {
        let mode: Mode = mode.into();
        let folder = tempfile::tempdir().map_err(|problem| problem.to_string())?;
        let object = folder.path().join("program.o");
        let start = Instant::now();
        compiler::compile(source, Artifact::Object, mode, &object).map_err(|problem| problem.message)?;
        let time = start.elapsed();
        let object_bytes = std::fs::metadata(&object).map_err(|problem| problem.to_string())?.len();
        let path = folder.path().join(format!("program{}", std::env::consts::DLL_SUFFIX));
        let text = format!("{source}{}", interface.shim("bench_call", "bench_workspace"));
        compiler::compile(&text, Artifact::SharedLibrary, mode, &path).map_err(|problem| problem.message)?;
        Ok(Compiled { object_bytes, time, ..Compiled::open(&path, folder)? })
    }

    /// A library in a folder, which is kept for as long as the library is there.
    pub fn open(path: &Path, folder: tempfile::TempDir) -> Result<Compiled, String> {
        // SAFETY: the library was just made from C without initialisers, and the two functions have these types (`shim`).
        let (library, call, measure) = unsafe {
            let library = Library::new(path).map_err(|problem| problem.to_string())?;
            let call = *library.get::<Call>(b"bench_call").map_err(|problem| problem.to_string())?;
            let measure = *library.get::<Measure>(b"bench_workspace").map_err(|problem| problem.to_string())?;
            (library, call, measure)
        };
        Ok(Compiled { call, measure, object_bytes: 0, time: Duration::ZERO, _library: library, _folder: folder })
    }
}

/// The arguments of a call and the memory that it writes to.
pub struct Case {
    ints: Vec<i64>,
    doubles: Vec<f64>,
    /// Of the arrays, the outputs last.
    pointers: Vec<*mut c_void>,
    arrays: Vec<Block>,
    outputs: Vec<Block>,
    workspace: Block,
}

impl Case {
    /// With workspace enough for each of the functions.
    pub fn new(inputs: Inputs, functions: [&Compiled; 2]) -> Case {
        let arrays: Vec<Block> = inputs
            .arrays
            .iter()
            .map(|array| match array {
                Array::Doubles(items) => Block::holding(items),
                Array::Singles(items) => Block::holding(items),
                Array::Indexes(items) => Block::holding(items),
            })
            .collect();
        let outputs: Vec<Block> = inputs.output.iter().map(|count| Block::new(count * size_of::<f64>())).collect();
        let mut pointers: Vec<*mut c_void> = arrays.iter().map(|array| array.start.cast()).collect();
        pointers.extend(outputs.iter().map(|output| output.start.cast::<c_void>()));
        // SAFETY: the function reads the sizes, which are all in `sizes`.
        let need = functions.map(|function| unsafe { (function.measure)(inputs.sizes.as_ptr()) });
        Case { ints: inputs.sizes, doubles: inputs.scalars, pointers, arrays, outputs, workspace: Block::new(need[0].max(need[1])) }
    }

    /// One call; the status.
    pub fn call(&mut self, function: &Compiled) -> c_int {
        // SAFETY: sizes, scalars and arrays are those of the interface, the arrays have the lengths that the sizes say
        // (`inputs`), and the workspace is as large as the function asked for.
        unsafe {
            (function.call)(
                self.ints.as_ptr(),
                self.doubles.as_ptr(),
                self.pointers.as_ptr(),
                self.workspace.start.cast(),
                self.workspace.layout.size(),
            )
        }
    }

    /// What a function on floats writes, from outputs full of NaN.
    pub fn single_result(&mut self, function: &Compiled) -> Result<Vec<f64>, String> {
        self.checked_call(function, f64::from_bits(u64::MAX))?;
        let floats = |output: &mut Block| {
            let doubles = output.doubles();
            let halves = doubles.iter().flat_map(|pair| {
                let bits = pair.to_bits();
                [bits as u32, (bits >> 32) as u32]
            });
            halves.take(doubles.len()).map(|bits| f64::from(f32::from_bits(bits))).collect::<Vec<f64>>()
        };
        Ok(self.outputs.iter_mut().flat_map(floats).collect())
    }

    /// What the function writes, from outputs full of NaN.
    pub fn result(&mut self, function: &Compiled) -> Result<Vec<f64>, String> {
        self.checked_call(function, f64::NAN)?;
        Ok(self.outputs.iter_mut().flat_map(|output| output.doubles().to_vec()).collect())
    }

    /// A call, with outputs that are full of `unwritten` before; another status than zero is an error.
    fn checked_call(&mut self, function: &Compiled, unwritten: f64) -> Result<(), String> {
        self.outputs.iter_mut().for_each(|output| output.doubles().fill(unwritten));
        match self.call(function) {
            0 => Ok(()),
            status => Err(format!("status {status}, with {} arrays", self.arrays.len())),
        }
    }
}

/// Memory at a 64-byte boundary.
pub struct Block {
    pub start: *mut u8,
    /// How many were asked for.
    bytes: usize,
    layout: Layout,
}

impl Block {
    pub fn new(bytes: usize) -> Block {
        let layout = Layout::from_size_align(bytes.max(64), 64).expect("an array of the benchmarks fits in memory");
        // SAFETY: the layout is not empty.
        let start = unsafe { std::alloc::alloc_zeroed(layout) };
        assert!(!start.is_null(), "out of memory");
        Block { start, bytes, layout }
    }

    fn holding<T: Copy>(items: &[T]) -> Block {
        let block = Block::new(size_of_val(items));
        // SAFETY: the block has room for the items and is aligned for them.
        unsafe { std::ptr::copy_nonoverlapping(items.as_ptr(), block.start.cast(), items.len()) };
        block
    }

    fn doubles(&mut self) -> &mut [f64] {
        // SAFETY: all of the block was zeroed, so it holds doubles.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.bytes / size_of::<f64>()) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { std::alloc::dealloc(self.start, self.layout) };
    }
}

/// The measure that [`TOLERANCE`] bounds; infinite where one of the two is NaN.
pub fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let mut largest = if a.len() == b.len() { 0.0 } else { f64::INFINITY };
    for (a, b) in a.iter().zip(b) {
        let difference = (a - b).abs() / a.abs().max(b.abs()).max(1.0);
        largest = f64::max(largest, if difference.is_nan() { f64::INFINITY } else { difference });
    }
    largest
}
