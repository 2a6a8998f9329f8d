//! Any bytes as arguments of an entry: JSON on the command line, a `.json` file, a `.npy` file.
//!
//! In: bytes, as [`Input`] takes them apart. Wrong are a panic, an internal error, a value that is not of the parameter's
//! type, one that the interpreter changes, and one that does not come back when it is written and read again.
//!
//!     "4w[[1, 2], [3, 4]]\n--\nw[1, 2]"   entry 4 with two arguments, both words of a command line

use std::path::Path;
use std::sync::LazyLock;

use smoothc::cli::args::{self, Arguments};
use smoothc::cli::values::{from_flat, to_flat};
use smoothc::cli::{npy, print};
use smoothc::driver::{Options, Session};
use smoothc::ir::eval::eval;
use smoothc::ir::{Function, Labels, Program, Type};
use smoothc::real::Real;
use smoothc::toolchain::flat::{Column, Flat};

/// Each gives its last argument back.
const ENTRIES: &str = "
let a (x: Double) = x
let b (i: Index) = i
let c (b: Bool) = b
let d (v: Vector<n>) = v
let e (M: Matrix<r, c>) (v: Vector<c>) = v
let f (p: Double * (Index * Vector<n>)) = p
let g (P: Array<Double * Bool, n>) = P
let h (v: Vector<n>) (k: Array<Index<n>, m>) = k
let i (n: Index) (v: Vector<n + 1>) = v
let j (T: Array<Array<Array<Double, 2>, n>, m>) = T
let k (b: Array<Bool, n>) (M: Array<Vector<m>, 3>) = M
let l (P: Array<Double * Array<Index, m>, n>) (q: Vector<n * m>) = q
";

/// Between one argument and the next.
const BETWEEN: &[u8] = b"\n--\n";

/// What bytes ask for.
struct Input<'a> {
    entry: usize,
    /// For each argument where it comes from, `w`, `j` or `n`, and its bytes.
    arguments: Vec<(u8, &'a [u8])>,
}

impl<'a> Input<'a> {
    fn of(bytes: &'a [u8]) -> Input<'a> {
        let (first, mut rest) = bytes.split_first().unwrap_or((&0, &[]));
        let mut arguments = Vec::new();
        loop {
            let end = rest.windows(BETWEEN.len()).position(|part| part == BETWEEN);
            let (kind, word) = rest[..end.unwrap_or(rest.len())].split_first().unwrap_or((&b'w', &[]));
            arguments.push((*kind, word));
            match end {
                Some(end) => rest = &rest[end + BETWEEN.len()..],
                None => return Input { entry: usize::from(*first), arguments },
            }
        }
    }

    /// As words of a command line, with the files that they name.
    fn words(&self, folder: &Path) -> Result<Vec<String>, String> {
        let word = |(at, (kind, bytes)): (usize, &(u8, &[u8]))| {
            let ending = match kind {
                b'j' => "json",
                b'n' => "npy",
                _ => {
                    let word = String::from_utf8_lossy(bytes).into_owned();
                    // no file but those here
                    return Ok(word.trim_start_matches('@').to_string());
                }
            };
            let path = folder.join(format!("{at}.{ending}"));
            std::fs::write(&path, bytes).map_err(|error| error.to_string())?;
            Ok(format!("@{}", path.display()))
        };
        self.arguments.iter().enumerate().map(word).collect()
    }
}

thread_local! {
    static PROGRAM: Result<Program, String> = {
        let mut session = Session::new("entries.smooth", ENTRIES, Options::default());
        let done = session.run_to("types", &mut |_, _| Err("no files".into()));
        done.map(|()| session.program).map_err(|problems| format!("{problems:?}"))
    };
}

/// What is wrong with reading these arguments.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    static FOLDER: LazyLock<Option<tempfile::TempDir>> = LazyLock::new(|| tempfile::tempdir().ok());
    let folder = FOLDER.as_ref().ok_or("there is no folder for files")?.path();
    PROGRAM.with(|program| {
        let program = program.as_ref().map_err(Clone::clone)?;
        let input = Input::of(bytes);
        let functions: Vec<&Function> = program.functions.values().collect();
        let function = functions[input.entry % functions.len()];
        let arguments = match args::read(function, &input.words(folder)?) {
            Ok(arguments) => arguments,
            Err(problems) => {
                let is_theirs = |code: &str| code.starts_with("E08");
                return match problems.iter().find(|problem| !is_theirs(problem.code)) {
                    Some(problem) => Err(format!("{} {}", problem.code, problem.message)),
                    None if problems.is_empty() => Err("refused without a word".into()),
                    None => Ok(()),
                };
            }
        };
        fit(function, &arguments)?;
        let outcome = eval(program, &function.name, arguments.values.iter().map(from_flat).collect());
        let value = to_flat(&outcome.map_err(|error| format!("the interpreter refuses them: {}", error.message))?.value);
        let last = arguments.values.last().ok_or("no argument")?;
        agree("the interpreter", last, &value)?;
        for (at, (param, value)) in function.params.iter().zip(&arguments.values).enumerate() {
            // what is written says nothing of sizes behind an empty array
            let is_whole = value.shape.leaves() == value.columns.iter().filter(|column| !column.is_empty()).count();
            let again = |word: String| -> Result<(), String> {
                let mut words: Vec<String> = written(&arguments)?;
                words[at] = word;
                let again = args::read(function, &words).map_err(|problems| format!("`{}` is not read again: {problems:?}", words[at]))?;
                agree("written and read again", value, &again.values[at])
            };
            again(text(value)?)?;
            if is_whole
                && is_regular(param.ty())
                && let Some(bytes) = npy::write(value, Real::F64)
            {
                let path = folder.join("again.npy");
                std::fs::write(&path, bytes).map_err(|error| error.to_string())?;
                again(format!("@{}", path.display()))?;
            }
        }
        Ok(())
    })
}

/// A number, or an array of one kind of numbers: what a `.npy` file holds as it is.
fn is_regular(ty: &Type) -> bool {
    match ty {
        Type::Double | Type::Bool | Type::Index(_) => true,
        Type::Array(element, _) => is_regular(element),
        Type::Tuple(_) | Type::Rec(_) => false,
    }
}

fn text(value: &Flat) -> Result<String, String> {
    let mut text = Vec::new();
    print::write(value, &Labels::None, Real::F64, &mut text).map_err(|error| error.to_string())?;
    String::from_utf8(text).map_err(|error| error.to_string())
}

fn written(arguments: &Arguments) -> Result<Vec<String>, String> {
    arguments.values.iter().map(text).collect()
}

/// Whether each value has its parameter's type.
fn fit(function: &Function, arguments: &Arguments) -> Result<(), String> {
    for (param, value) in function.params.iter().zip(&arguments.values) {
        if arguments.bindings.shape(param.ty()).as_ref() != Some(&value.shape) {
            return Err(format!("`{}` has shape {:?}", param.name(), value.shape));
        }
        let wanted = value.shape.columns().ok_or("a shape without columns")?;
        let fits = |(column, (kind, length)): (&Column, &(Column, usize))| {
            column.len() == *length && std::mem::discriminant(column) == std::mem::discriminant(kind)
        };
        if wanted.len() != value.columns.len() || !value.columns.iter().zip(&wanted).all(fits) {
            return Err(format!("`{}` of shape {:?} has other columns", param.name(), value.shape));
        }
        let mut element = param.ty();
        while let Type::Array(inner, _) = element {
            element = inner;
        }
        if let (Type::Index(Some(bound)), [Column::Index(items)]) = (element, value.columns.as_slice()) {
            let limit = arguments.bindings.size(bound).ok_or("a bound without a value")?;
            if let Some(item) = items.iter().find(|item| !(0..limit).contains(*item)) {
                return Err(format!("`{}` has {item}, not below {limit}", param.name()));
            }
        }
    }
    Ok(())
}

/// Bit by bit, all NaNs alike.
fn agree(who: &str, expected: &Flat, found: &Flat) -> Result<(), String> {
    let same = |(a, b): (&Column, &Column)| match (a, b) {
        (Column::Double(a), Column::Double(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
        }
        (a, b) => a == b || a.is_empty() && b.is_empty(),
    };
    if expected.columns.len() == found.columns.len() && expected.columns.iter().zip(&found.columns).all(same) {
        return Ok(());
    }
    Err(format!("{who}: {found:?}, expected {expected:?}"))
}
