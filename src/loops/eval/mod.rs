//! The meaning of loop programs, with memory that is checked: each pass over loops is held to "same results, same status".
//!
//! In: a program, the name of an entry, what C would pass, and how many threads there are. Out: the status and the results, or what
//! emitted C must never do: read what was not written or beyond an array, overflow in arithmetic that is marked as plain, take
//! more workspace than was measured, read a local that a part of a shared loop does not take along.
//!
//!     for i < n { out[i] = v[i + 1] }, v of n elements   →   `v[n]` is read, an array of n elements
//!
//! Statuses are those of C. Loops whose iterations may run in any order run backwards; a loop over tiles computes all lanes; a
//! shared loop has as many parts as there are threads. Arrays are of cells, of which a new one has none that is set.

mod memory;
mod statement;
mod value;
mod wide;

#[cfg(test)]
mod tests;

use crate::real::Real;

use super::program::*;

pub use memory::Cell;
use memory::{Memory, Place as Address};

/// What C would pass for one parameter.
#[derive(Clone, Debug)]
pub enum Given {
    Cell(Cell),
    Array(Vec<Cell>),
    /// Room for a result of so many elements.
    Out(usize),
}

/// How a call runs.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// How many threads there are: shared loops have at most so many parts.
    pub threads: i64,
    /// The workspace is that which is measured, less so many bytes.
    pub short: u64,
}

/// What a call gives.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// 0, or the status as C has it.
    pub status: i32,
    /// By result, in the order of the parameters; none for what was not written.
    pub results: Vec<Vec<Option<Cell>>>,
    /// The bytes that are measured, and those that were taken.
    pub measured: u64,
    pub used: u64,
}

/// `SMOOTH_WORKSPACE`.
pub const WORKSPACE: i32 = 6;

/// What a program must never do, or that it takes too long.
pub type Evaluated<T> = std::result::Result<T, String>;

/// A call that takes more steps is given up.
const STEPS: u64 = 3_000_000;

/// The message for such a call.
pub const TOO_LONG: &str = "it takes too many steps";

/// Calls an entry of a program after all passes.
pub fn call(program: &LoopProgram, entry: &str, given: &[Given], how: Call) -> Evaluated<Outcome> {
    let function = find(program, entry)?;
    let mut machine = Machine { program, threads: how.threads, memory: Memory::default(), steps: STEPS };
    let mut slots = Vec::new();
    let mut results = Vec::new();
    for given in given {
        slots.push(match given {
            Given::Cell(cell) => Slot::Cell(*cell),
            Given::Array(cells) => Slot::Place(machine.memory.array(cells.iter().copied().map(Some).collect())),
            Given::Out(length) => {
                let place = machine.memory.array(vec![None; *length]);
                results.push(place);
                Slot::Place(place)
            }
        });
    }
    let numbers = function.params.iter().zip(&slots).filter(|(param, _)| function.measured.iter().any(|(id, _)| *id == param.id));
    let mut numbers: Vec<Cell> = numbers.filter_map(|(_, slot)| if let Slot::Cell(cell) = slot { Some(*cell) } else { None }).collect();
    numbers.extend(function.workspace.deeper.map(|_| Cell::Index(0)));
    numbers.extend(function.workspace.threads.map(|_| Cell::Index(how.threads)));
    let measured = if function.workspace.needed { machine.measure(&function.workspace, &numbers)? } else { 0 };
    let bytes = measured.saturating_sub(how.short);
    let (status, used) = machine.body(function, slots, bytes, bytes)?;
    Ok(Outcome { status, results: results.iter().map(|place| machine.memory.cells(*place)).collect(), measured, used })
}

fn find<'p>(program: &'p LoopProgram, name: &str) -> Evaluated<&'p LoopFunction> {
    program.functions.iter().find(|function| &*function.name == name).ok_or_else(|| format!("there is no function `{name}`"))
}

/// What a local holds.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Cell(Cell),
    Place(Address),
}

/// One call.
struct Frame<'p> {
    function: &'p LoopFunction,
    locals: &'p [Local],
    slots: Vec<Option<Slot>>,
    /// The bytes of workspace that are taken, the most that were, and how many there are.
    taken: u64,
    most: u64,
    bytes: u64,
    /// The length of the workspace as the entry is told.
    told: u64,
    /// The iterations that a part of a shared loop runs, and of which loops.
    part: Option<(&'p [Id], i64, i64)>,
}

/// How statements end.
enum Flow {
    Next,
    /// Another status than success.
    Status(i32),
    Return(Cell),
}

struct Machine<'p> {
    program: &'p LoopProgram,
    threads: i64,
    memory: Memory,
    steps: u64,
}

impl<'p> Machine<'p> {
    fn real(&self) -> Real {
        self.program.real
    }

    /// Runs a function on arguments: its status, and the bytes that it took.
    fn body(&mut self, function: &'p LoopFunction, args: Vec<Slot>, bytes: u64, told: u64) -> Evaluated<(i32, u64)> {
        let mut slots = vec![None; function.locals.len()];
        if args.len() != function.params.len() {
            return Err(format!("`{}` takes {} arguments", function.name, function.params.len()));
        }
        for (param, arg) in function.params.iter().zip(args) {
            slots[param.id] = Some(arg);
        }
        let locals = &function.locals;
        let mut frame = Frame { function, locals, slots, taken: 0, most: 0, bytes, told, part: None };
        let flow = self.block(&mut frame, &function.body).map_err(|problem| place(problem, &function.name))?;
        match flow {
            Flow::Next => Ok((0, frame.most)),
            Flow::Status(status) => Ok((status, frame.most)),
            Flow::Return(_) => Err(format!("`{}` returns a value", function.name)),
        }
    }

    /// The bytes that a measure gives.
    fn measure(&mut self, measure: &'p Workspace, args: &[Cell]) -> Evaluated<u64> {
        let ids: Vec<Id> = measure.all_params().collect();
        if ids.len() != args.len() {
            return Err(format!("a measure of {} arguments is given {}", ids.len(), args.len()));
        }
        let mut slots = vec![None; measure.locals.len()];
        for (id, arg) in ids.into_iter().zip(args) {
            slots[id] = Some(Slot::Cell(*arg));
        }
        let function = self.program.functions.first().ok_or("there is no function")?;
        let mut frame = Frame { function, locals: &measure.locals, slots, taken: 0, most: 0, bytes: 0, told: 0, part: None };
        match self.block(&mut frame, &measure.body)? {
            Flow::Return(cell) => cell.bytes(),
            Flow::Next | Flow::Status(_) => Err("a measure returns nothing".into()),
        }
    }

    fn step(&mut self) -> Evaluated<()> {
        self.steps = self.steps.checked_sub(1).ok_or(TOO_LONG)?;
        Ok(())
    }
}

/// Says in which function something is wrong, innermost first.
fn place(problem: String, name: &str) -> String {
    if problem == TOO_LONG || problem.starts_with("in `") { problem } else { format!("in `{name}`: {problem}") }
}
