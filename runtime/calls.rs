/// Why a call gave no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// An element that does not exist.
    Bounds,
    /// Lengths that contradict each other, or an array that is too large.
    Shape,
    /// A negative size or count.
    Negative,
    /// An Index divided by zero.
    DivZero,
    /// A number that does not fit an Index, or an index out of its range.
    Range,
    /// A workspace that is larger than the memory, or too small for a recursion.
    Workspace,
    /// A slice of another length than the sizes say.
    Length { parameter: &'static str, found: usize, expected: usize },
    /// A status that this file does not know.
    Unknown(i32),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Bounds => f.write_str("an index is out of bounds"),
            Error::Shape => f.write_str("lengths contradict each other"),
            Error::Negative => f.write_str("a size or count is negative"),
            Error::DivZero => f.write_str("an Index is divided by zero"),
            Error::Range => f.write_str("a number does not fit an Index"),
            Error::Workspace => f.write_str("the workspace is too small, or a recursion too deep for it"),
            Error::Length { parameter, found, expected } => {
                write!(f, "`{parameter}` has {found} numbers, expected {expected}")
            }
            Error::Unknown(status) => write!(f, "the status {status}"),
        }
    }
}

impl std::error::Error for Error {}

/// A cache line: vectors of lanes then lie in one each, where lengths are multiples of theirs.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Memory that calls use while they run; it grows to what the largest call needs.
#[derive(Default)]
pub struct Workspace(Vec<Line>);

#[allow(dead_code)]
impl Workspace {
    pub fn new() -> Workspace {
        Workspace(Vec::new())
    }

    /// At least so many bytes. A call uses all that there are, and recursion that has no bound goes the deeper for more.
    pub fn with_bytes(bytes: usize) -> Result<Workspace, Error> {
        let mut workspace = Workspace::new();
        workspace.reserve(bytes)?;
        Ok(workspace)
    }

    fn reserve(&mut self, bytes: usize) -> Result<*mut std::ffi::c_void, Error> {
        let lines = bytes.div_ceil(64);
        if lines > self.0.len() {
            self.0.clear();
            self.0.try_reserve_exact(lines).map_err(|_| Error::Workspace)?;
            self.0.resize(lines, Line([0; 64]));
        }
        Ok(self.0.as_mut_ptr().cast())
    }

    fn bytes(&self) -> usize {
        64 * self.0.len()
    }
}

/// Index arithmetic, which wraps, for the lengths of arrays.
#[allow(dead_code)]
mod size {
    use super::Error;

    pub fn add(a: i64, b: i64) -> i64 {
        a.wrapping_add(b)
    }
    pub fn sub(a: i64, b: i64) -> i64 {
        a.wrapping_sub(b)
    }
    pub fn mul(a: i64, b: i64) -> i64 {
        a.wrapping_mul(b)
    }
    pub fn neg(a: i64) -> i64 {
        a.wrapping_neg()
    }
    pub fn div(a: i64, b: i64) -> i64 {
        if b == 0 { 0 } else { a.wrapping_div(b) }
    }
    pub fn rem(a: i64, b: i64) -> i64 {
        if b == 0 { 0 } else { a.wrapping_rem(b) }
    }
    pub fn least(a: i64, b: i64) -> i64 {
        a.min(b)
    }
    pub fn largest(a: i64, b: i64) -> i64 {
        a.max(b)
    }
    pub fn magnitude(a: i64) -> i64 {
        a.wrapping_abs()
    }
    pub fn repeat<State>(steps: i64, first: State, step: impl Fn(State, i64) -> State) -> State {
        (0..steps).fold(first, step)
    }
    /// As `repeat`, of steps that change nothing any more once one has not.
    pub fn settle<State: PartialEq + Copy>(steps: i64, first: State, step: impl Fn(State, i64) -> State) -> State {
        let mut state = first;
        for i in 0..steps {
            let next = step(state, i);
            if next == state {
                break;
            }
            state = next;
        }
        state
    }
    pub fn eq<T: PartialEq>(a: T, b: T) -> bool {
        a == b
    }
    pub fn ne<T: PartialEq>(a: T, b: T) -> bool {
        a != b
    }
    pub fn lt(a: i64, b: i64) -> bool {
        a < b
    }
    pub fn le(a: i64, b: i64) -> bool {
        a <= b
    }
    pub fn gt(a: i64, b: i64) -> bool {
        a > b
    }
    pub fn ge(a: i64, b: i64) -> bool {
        a >= b
    }
    pub fn both(a: bool, b: bool) -> bool {
        a && b
    }
    pub fn either(a: bool, b: bool) -> bool {
        a || b
    }
    pub fn negated(a: bool) -> bool {
        !a
    }

    /// A slice has as many numbers as its lengths say.
    pub fn expect(parameter: &'static str, found: usize, lengths: &[i64]) -> Result<(), Error> {
        let mut expected: usize = 1;
        for length in lengths {
            let length = usize::try_from(*length).map_err(|_| Error::Negative)?;
            expected = expected.checked_mul(length).ok_or(Error::Shape)?;
        }
        if found == expected { Ok(()) } else { Err(Error::Length { parameter, found, expected }) }
    }

    pub fn status(status: i32) -> Result<(), Error> {
        match status {
            0 => Ok(()),
            1 => Err(Error::Bounds),
            2 => Err(Error::Shape),
            3 => Err(Error::Negative),
            4 => Err(Error::DivZero),
            5 => Err(Error::Range),
            6 => Err(Error::Workspace),
            other => Err(Error::Unknown(other)),
        }
    }
}
