//! What to write in the place of an unknown name.
//!
//! In: the name, the names in scope with their types, and the types of the arguments where it is applied. Out: the help of the
//! error: the nearest name that takes these arguments, the word for what another language calls so, or the next step.
//!
//!     vectorSun v   →   did you mean `vectorSum`?      (`vectorSub` is as near, and takes two)
//!     ln x          →   the natural logarithm is `log x`
//!
//! A function of the mathematics that smoothc does not have is never answered by another one: `erfcx` is not `erfc`.

use super::builtin;
use super::ty::{Holes, Ty};
use crate::diagnostic::nearest;
use crate::ir::Prim;

/// What functions and constants are called elsewhere, and what they are here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("ln", "the natural logarithm is `log x`"),
    ("lg", "logarithms are `log x`, `log2 x` and `log10 x`"),
    ("fabs", "the absolute value is `abs x`"),
    ("norm", "the length of a vector is `vectorNorm v`"),
    ("dot", "the inner product is `vectorDot v w`"),
    ("cross", "the product of two vectors of three is `vectorCross v w`"),
    ("transpose", "the transpose is `matrixTranspose m`"),
    ("trace", "the trace is `matrixTrace m`"),
    ("det", "`logDet A` is the logarithm of the absolute value of the determinant"),
    ("inv", "systems are solved by `matrixSolve A b`; there is no inverse"),
    ("solve", "systems are solved by `matrixSolve A b`"),
    ("sum", "the sum of an array is `vectorSum v`"),
    ("sumBy", "map, then sum: `vectorSum (vectorMap v f)`"),
    ("fold", "steps are repeated by `ifold (fun state i -> …) start n`"),
    ("foldl", "steps are repeated by `ifold (fun state i -> …) start n`"),
    ("reduce", "steps are repeated by `ifold (fun state i -> …) start n`; a sum is `vectorSum v`"),
    ("map", "functions are applied to each element by `vectorMap v f`"),
    ("zip", "two arrays become one of pairs by `vectorZip v w`"),
    ("zipWith", "two arrays are taken together by `vectorMap2 v w f`"),
    ("range", "the indices 0 … n - 1 are `vectorRange n`"),
    ("zeros", "`vectorZeros n` and `matrixZeros r c` are arrays of zeros"),
    ("ones", "`vectorOnes n` and `matrixOnes r c` are arrays of ones"),
    ("eye", "the unit matrix is `matrixEye n`"),
    ("outer", "the outer product is `vectorOutProd v w`"),
    ("matmul", "the product of matrices is `matrixMul A B`"),
    ("len", "the number of elements is `length v`"),
    ("size", "the number of elements is `length v`"),
    ("numel", "the number of elements is `length v`"),
    ("shape", "the lengths are `matrixRows m` and `matrixCols m`, or the names of the sizes"),
    ("float", "an Index becomes a Double by `double i`; the type is `Double`"),
    ("real", "an Index becomes a Double by `double i`; the type is `Double`"),
    ("fromIntegral", "an Index becomes a Double by `double i`"),
    ("int", "a Double becomes an Index by `index x`; the type is `Index`"),
    ("mod", "the remainder of Indexes is `a % b`"),
    ("div", "the quotient of Indexes is `a / b`"),
    ("fmod", "there is no remainder of Doubles: write `x - y * trunc (x / y)`"),
    ("fmin", "the smaller of two is `min a b`"),
    ("fmax", "the larger of two is `max a b`"),
    ("pow", "a power is `x ** y`"),
    ("power", "a power is `x ** y`"),
    ("rint", "the nearest whole number is `round x`"),
    ("arcsin", "the inverse of the sine is `asin x`"),
    ("arccos", "the inverse of the cosine is `acos x`"),
    ("arctan", "the inverse of the tangent is `atan x`"),
    ("arctan2", "the angle of (x, y) is `atan2 y x`"),
    ("gamma", "`lgamma x` is the logarithm of the gamma function: write `exp (lgamma x)`"),
    ("tgamma", "`lgamma x` is the logarithm of the gamma function: write `exp (lgamma x)`"),
    ("expit", "the logistic function is `sigmoid x`"),
    ("logistic", "the logistic function is `sigmoid x`"),
    ("relu", "write `max x 0.0`"),
    ("sgn", "the sign is `sign x`"),
    ("sec", "write `1.0 / cos x`"),
    ("csc", "write `1.0 / sin x`"),
    ("cot", "write `1.0 / tan x`"),
    ("sech", "write `1.0 / cosh x`"),
    ("csch", "write `1.0 / sinh x`"),
    ("coth", "write `1.0 / tanh x`"),
    ("exp10", "write `10.0 ** x`"),
    ("M_PI", "the constant is `pi`"),
    ("Math", "functions have no module before them: `sin x`"),
    ("np", "functions have no module before them: `sin x`, `vectorSum v`"),
    ("None", "every expression has a value; there is no empty one"),
    ("null", "every expression has a value; there is no empty one"),
    ("print", "there is no output: a program's results are what its entries give"),
    ("printf", "there is no output: a program's results are what its entries give"),
    ("printfn", "there is no output: a program's results are what its entries give; `smoothc eval --trace` shows what is computed"),
    ("True", "the truth values are `true` and `false`"),
    ("False", "the truth values are `true` and `false`"),
    ("inf", "the constant is `infinity`"),
    ("Infinity", "the constant is `infinity`"),
    ("nan", "there is no constant for it; `0.0 / 0.0` is one"),
    ("while", "steps are repeated by `ifold (fun state i -> …) start n`"),
    ("for", "steps are repeated by `ifold (fun state i -> …) start n`, arrays are made by `build n (fun i -> …)`"),
    ("return", "the last expression is the value: leave `return` out"),
    ("lambda", "a function is written `fun x -> …`"),
    ("def", "a function is declared by `let f x y = …`"),
    ("mutable", "names keep their values; `update a i x` is an array with another element"),
];

/// Functions of the mathematics that have no short word here: nothing that is merely spelled alike is meant.
const MATHEMATICS: &[&str] = &[
    "digamma",
    "beta",
    "lbeta",
    "erfinv",
    "erfcx",
    "sinc",
    "sinpi",
    "cospi",
    "tanpi",
    "logb",
    "ilogb",
    "fma",
    "remainder",
    "j0",
    "j1",
    "y0",
    "y1",
    "acot",
    "asec",
    "acsc",
    "acoth",
    "asech",
    "acsch",
    "logit",
    "rsqrt",
    "copysign",
    "log1mexp",
    "logaddexp",
    "exp1m",
];

/// The sentence for what another language calls so.
pub fn elsewhere(name: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// A name in scope, and what it takes where it is a function.
pub struct Candidate {
    pub name: String,
    pub params: Option<Vec<Ty>>,
}

/// The help for an unknown name, applied to arguments of these types or (`None`) alone.
pub fn help(name: &str, candidates: Vec<Candidate>, arguments: Option<&[Ty]>, holes: &Holes) -> String {
    let otherwise = "declare it above, or open the file that does".to_string();
    // a declaration of this very name is in a file that is not open here
    if candidates.iter().any(|candidate| candidate.name == name) {
        return otherwise;
    }
    if let Some(sentence) = elsewhere(name) {
        return sentence.to_string();
    }
    let near: Vec<&Candidate> = candidates.iter().filter(|candidate| may_mean(name, &candidate.name)).collect();
    let fitting = near.iter().filter(|candidate| fits(candidate.params.as_deref(), arguments, holes));
    let found = nearest(name, fitting.map(|candidate| &*candidate.name));
    match found.or_else(|| nearest(name, near.iter().map(|candidate| &*candidate.name))) {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise,
    }
}

/// Whether who wrote the one name may have meant the other: not where both are functions of the mathematics.
pub fn may_mean(name: &str, known: &str) -> bool {
    let is_function = Prim::function(known).is_some() || builtin::constant(known).is_some();
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    !is_function || !MATHEMATICS.contains(&name) && digits(name) == digits(known)
}

/// Whether a function of these parameters takes these arguments, as far as both are known.
fn fits(params: Option<&[Ty]>, arguments: Option<&[Ty]>, holes: &Holes) -> bool {
    match (params, arguments) {
        (Some(params), Some(arguments)) => {
            params.len() == arguments.len() && params.iter().zip(arguments).all(|(param, argument)| agree(param, argument, holes))
        }
        (None, Some(arguments)) => arguments.is_empty(),
        (_, None) => true,
    }
}

fn agree(a: &Ty, b: &Ty, holes: &Holes) -> bool {
    match (holes.head(a), holes.head(b)) {
        (Ty::Hole(_), _) | (_, Ty::Hole(_)) => true,
        (Ty::Array(a, _), Ty::Array(b, _)) => agree(&a, &b, holes),
        (Ty::Fun(a, _), Ty::Fun(b, _)) => a.len() == b.len(),
        (Ty::Tuple(a), Ty::Tuple(b)) => a.len() == b.len(),
        (a, b) => std::mem::discriminant(&a) == std::mem::discriminant(&b),
    }
}
