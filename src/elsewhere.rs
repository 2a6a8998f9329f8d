//! What other languages write, and the sentence that says what smoothc writes instead: a row each.
//!
//! In: a word, a type, a field or a phrase of several words that F#, Python, MATLAB, C or Haskell have and smoothc does not.
//! Out: the sentence. `syntax` looks for phrases where a declaration is wrong (`src/syntax/phrase.rs`), `types` asks for names
//! (`src/types/suggest.rs`). `tests/suite/elsewhere.rs` has a program for each phrase and a snapshot of what is said.
//!
//!     ln x             →   the natural logarithm is `log x`
//!     let mutable s    →   names keep their values; …

/// Words that no program has in this place, and what is said of them.
#[derive(Debug)]
pub struct Phrase {
    pub place: Place,
    /// Each matches a token, or several without blanks between them. `NAME` and `TEXT` match any token of that kind.
    pub words: &'static str,
    pub message: &'static str,
    pub help: &'static str,
}

/// Where a phrase stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Anywhere,
    /// In column 0.
    Margin,
    /// At the beginning of a line.
    Line,
    /// Behind an operand, on the same line.
    Operand,
    /// Directly in the brackets of an array literal.
    Array,
    /// Directly in the brackets of an index.
    Index,
    /// In no brackets.
    Outside,
}

const LOOP: &str = "an array is made by `build n (fun i -> …)` or `vectorMap v (fun x -> …)`, a state is handed on by \
                    `ifold (fun state i -> …) start n`";
const DECLARATION: &str = "a declaration is `let f (x: Double) (v: Vector<n>) = …`";
const OPEN: &str = "the library is always there; `open \"geometry.smooth\"` brings another file's declarations";
const COMMENT: &str = "a comment begins with `//`, or stands between `(*` and `*)`";
const CASES: &str = "write `match e with | Circle r -> … | _ -> …`";
const TEXT: &str = "values are numbers, truth values, arrays, tuples, records and cases; text stands in comments";
const OUTPUT: &str = "results are what entries give: `smoothc eval FILE ENTRY` prints them, with `--trace` each step too";
const ARRAY: &str = "a vector of Doubles is `Vector<n>`, a matrix `Matrix<n, m>`, other arrays are `Array<T, n>`";
const NO_ARRAY_PATTERN: &str = "no pattern takes an array apart";
const ARRAY_PATTERN: &str = "elements are read by index, and the length is asked for: `if length v = 2 then v[0] + v[1] else …`; a tuple has the \
                             pattern `(a, b)`";
const IF: &str = "write `if condition then a else b`";

const fn row(place: Place, words: &'static str, message: &'static str, help: &'static str) -> Phrase {
    Phrase { place, words, message, help }
}

/// Of those that stand at one place, the first is said.
pub const PHRASES: &[Phrase] = &[
    // F#
    row(Place::Anywhere, "let mutable NAME", "names keep their values", LOOP),
    row(Place::Anywhere, "let mut NAME", "names keep their values", LOOP),
    row(
        Place::Anywhere,
        "<-",
        "names keep their values",
        "`update a i x` is the array a with x as element i; a state is handed on by `ifold (fun state i -> …) start n`; less than \
         minus b is `a < -b`",
    ),
    row(Place::Operand, "when", "rows have no conditions", "write `| Some x -> if x > 0.0 then … else …`"),
    row(Place::Anywhere, "| [", NO_ARRAY_PATTERN, ARRAY_PATTERN),
    row(Place::Anywhere, "| [|", NO_ARRAY_PATTERN, ARRAY_PATTERN),
    row(Place::Anywhere, "with [", NO_ARRAY_PATTERN, ARRAY_PATTERN),
    row(Place::Anywhere, "with [|", NO_ARRAY_PATTERN, ARRAY_PATTERN),
    row(Place::Anywhere, "let [", NO_ARRAY_PATTERN, ARRAY_PATTERN),
    row(Place::Anywhere, "fun [", NO_ARRAY_PATTERN, ARRAY_PATTERN),
    row(Place::Anywhere, "printfn TEXT", "there is no output", OUTPUT),
    row(Place::Anywhere, "printf TEXT", "there is no output", OUTPUT),
    row(Place::Line, "print (", "there is no output", OUTPUT),
    row(Place::Line, "print TEXT", "there is no output", OUTPUT),
    row(Place::Anywhere, ">> NAME", "functions are not composed", "write `fun x -> g (f x)`, or `x |> f |> g`"),
    row(Place::Anywhere, "<|", "there is no `<|`", "write `f (g x)`, or `g x |> f`"),
    row(Place::Operand, "::", "arrays are not made by `::`", "an array is `[a, b, c]`, or `build n (fun i -> …)`"),
    row(
        Place::Array,
        "..",
        "`..` makes no array",
        "the indices 0 … n - 1 are `vectorRange n`; `v[a..b]` is a part of v, both ends included",
    ),
    row(Place::Margin, "module NAME", "there are no modules", OPEN),
    row(Place::Margin, "namespace NAME", "there are no namespaces", OPEN),
    row(Place::Anywhere, ": NAME array", "an array's type stands before its parameters", ARRAY),
    row(Place::Anywhere, ": NAME list", "there are no lists", ARRAY),
    // loops of any language
    row(Place::Anywhere, "for NAME in", "there is no `for`", LOOP),
    row(Place::Anywhere, "for NAME =", "there is no `for`", LOOP),
    row(Place::Line, "for (", "there is no `for`", LOOP),
    row(
        Place::Line,
        "while",
        "there is no `while`",
        "a loop that a condition ends is a function that calls itself last: `let rec f (x: Double) : Double = if … then f (…) else x`; a \
         step is repeated n times by `ifold (fun state i -> …) start n`",
    ),
    // Python
    row(Place::Anywhere, "lambda NAME :", "there is no `lambda`", "a function is `fun x -> …`"),
    row(Place::Anywhere, "lambda NAME ,", "there is no `lambda`", "a function is `fun x y -> …`"),
    row(Place::Margin, "def NAME", "there is no `def`", DECLARATION),
    row(Place::Line, "return", "there is no `return`", "the last expression of a block is its value: leave `return` out"),
    row(Place::Margin, "import NAME", "there is no `import`", OPEN),
    row(Place::Margin, "from NAME import", "there is no `import`", OPEN),
    row(Place::Anywhere, "else :", "branches have no `:`", IF),
    row(
        Place::Index,
        ":",
        "a part of an array is written with two dots, and has both its ends",
        "`v[0:2]` is `v[0..1]`, `v[1:]` is `v[1..]` and `v[:2]` is `v[..1]`",
    ),
    row(Place::Index, ",", "an array takes one index", "the element in row i and column j of a matrix is `A[i][j]`, row i is `A[i]`"),
    row(Place::Operand, "and", "`and` is written `&&`", "`a && b` is and, `a || b` is or, `not a` is not"),
    row(Place::Operand, "or", "`or` is written `||`", "`a && b` is and, `a || b` is or, `not a` is not"),
    row(Place::Operand, "mod", "`mod` is written `%`", "the remainder of Indexes is `a % b`, that of Doubles `x - y * trunc (x / y)`"),
    row(Place::Operand, "div", "`div` is written `/`", "the quotient of Indexes is `a / b`, without the remainder"),
    row(Place::Anywhere, "@", "there is no `@`", "the product of matrices is `A * B`, that of a matrix and a vector `A * v`"),
    row(Place::Anywhere, "#", "`#` begins nothing", COMMENT),
    // MATLAB
    row(Place::Margin, "function NAME", "there is no `function`", DECLARATION),
    row(Place::Margin, "%", "`%` is the remainder of Indexes", COMMENT),
    row(Place::Line, "end", "blocks have no `end`", "a block ends where a line stands further left"),
    row(Place::Anywhere, "^", "`^` is written `**`", "a power is `x ** 2`"),
    row(Place::Anywhere, ".^", "there is no `.^`", "the squares of a vector are `v .* v`, powers `vectorMap v (fun x -> x ** 3)`"),
    // C
    row(Place::Margin, "double NAME", "a declaration begins with `let`", DECLARATION),
    row(Place::Margin, "float NAME", "a declaration begins with `let`", DECLARATION),
    row(Place::Margin, "int NAME", "a declaration begins with `let`", DECLARATION),
    row(Place::Margin, "void NAME", "a declaration begins with `let`", DECLARATION),
    row(Place::Margin, "fn NAME", "a declaration begins with `let`", DECLARATION),
    row(Place::Margin, "struct NAME", "a record is declared by `type`", "write `type Camera = { focal: Double; centre: Vector<2> }`"),
    row(Place::Margin, "const NAME", "a constant is declared by `let`", "write `let c = 1.0`"),
    row(Place::Margin, "var NAME", "a name is declared by `let`", "write `let c = 1.0`"),
    row(Place::Anywhere, "++", "names keep their values", "the next Index is `i + 1`"),
    row(Place::Anywhere, "+=", "names keep their values", LOOP),
    row(Place::Anywhere, "-=", "names keep their values", LOOP),
    row(Place::Anywhere, "*=", "names keep their values", LOOP),
    row(Place::Anywhere, "&", "`&` is written `&&`", "`a && b` is and, `a || b` is or, `not a` is not"),
    row(Place::Anywhere, "?", "there is no `?`", IF),
    row(Place::Anywhere, "!", "`!` is written `not`", "`not a` is not, `a <> b` is inequality"),
    row(Place::Anywhere, "else {", "branches have no braces", IF),
    row(
        Place::Outside,
        ";",
        "lines have no `;` at their end",
        "a block is `let` lines and its value, one below the other; `;` separates elements and fields",
    ),
    row(Place::Anywhere, ": NAME *)", "there are no pointers", ARRAY),
    row(Place::Anywhere, ": NAME [", "a type's sizes stand between `<` and `>`", ARRAY),
    // Haskell
    row(Place::Anywhere, "\\", "there is no `\\`", "a function is `fun x -> …`"),
    row(Place::Margin, "NAME ::", "a type stands in its declaration", "write `let f (x: Double) : Double = …`"),
    row(Place::Margin, "--", "`--` begins no comment", COMMENT),
    row(Place::Anywhere, "$", "there is no `$`", "write `f (g x)`, or `g x |> f`"),
    row(Place::Anywhere, "/=", "`/=` is written `<>`", "inequality is `a <> b`"),
    row(Place::Array, "|", "arrays are not made so", "an array is made by `build n (fun i -> …)` or `vectorMap v (fun x -> …)`"),
    row(Place::Anywhere, "case NAME of", "there is no `case`", CASES),
    row(Place::Operand, "where", "there is no `where`", "names are bound before they are used: `let y = …` on a line above"),
    row(Place::Anywhere, "'", "there are no texts", TEXT),
    row(Place::Anywhere, "TEXT", "there are no texts", TEXT),
];

/// What types are called elsewhere.
const TYPES: &[(&str, &str)] = &[
    ("float", "the type is `Double`"),
    ("Float", "the type is `Double`"),
    ("real", "the type is `Double`"),
    ("Real", "the type is `Double`"),
    ("f64", "the type is `Double`"),
    ("f32", "the type is `Double`; `--real f32` computes in single precision"),
    ("number", "the type is `Double`"),
    ("int", "the type is `Index`"),
    ("Int", "the type is `Index`"),
    ("Integer", "the type is `Index`"),
    ("integer", "the type is `Index`"),
    ("Nat", "the type is `Index`"),
    ("i64", "the type is `Index`"),
    ("int64", "the type is `Index`"),
    ("size_t", "the type is `Index`"),
    ("boolean", "the type is `Bool`"),
    ("Boolean", "the type is `Bool`"),
    ("list", ARRAY),
    ("List", ARRAY),
    ("seq", ARRAY),
    ("Tensor", "arrays of arrays are `Array<Matrix<n, m>, k>`"),
    ("ndarray", ARRAY),
    ("string", TEXT),
    ("String", TEXT),
    ("str", TEXT),
    ("char", TEXT),
    ("unit", "the type of `()` is `Unit`"),
    ("void", "every function has a value; that of nothing, `()`, has the type `Unit`"),
    ("Tuple", "a tuple's type is `A * B`"),
    ("Fin", "an index below n is `Index<n>`"),
];

/// What stands behind a dot elsewhere: fields and methods of arrays, functions of modules.
const FIELDS: &[(&str, &str)] = &[
    ("T", "the transpose is `matrixTranspose A`"),
    ("dot", "the inner product is `vectorDot v w`, that of matrices `A * B`"),
    ("Length", "the number of elements is `length v`"),
    ("length", "the number of elements is `length v`"),
    ("shape", "the lengths are `matrixRows m` and `matrixCols m`, or the names of the sizes"),
    ("max", "the largest element is `vectorMax v`"),
    ("min", "the smallest element is `vectorMin v`"),
    ("mean", "the mean is `vectorSum v / double (length v)`"),
    ("average", "the mean is `vectorSum v / double (length v)`"),
    ("map2", "two arrays are taken together by `vectorMap2 v w f`"),
    ("mapi", "an array is made by `build n (fun i -> …)`"),
    ("init", "an array is made by `build n (fun i -> …)`"),
    ("filter", "arrays keep their lengths: `if` gives 0 for what does not count"),
    ("iter", "there are no actions, only values: `vectorMap v f`"),
];

/// What functions and constants are called elsewhere, and what they are here.
const NAMES: &[(&str, &str)] = &[
    ("ln", "the natural logarithm is `log x`"),
    ("return", "the last expression of a block is its value: leave `return` out"),
    ("lg", "logarithms are `log x`, `log2 x` and `log10 x`"),
    ("fabs", "the absolute value is `abs x`"),
    ("norm", "the length of a vector is `vectorNorm v`"),
    ("dot", "the inner product is `vectorDot v w`"),
    ("cross", "the product of two vectors of three is `vectorCross v w`"),
    ("transpose", "the transpose is `matrixTranspose m`"),
    ("trace", "the trace is `matrixTrace m`"),
    ("det", "`logDet A` is the logarithm of the absolute value of the determinant"),
    ("slogdet", "`logDet A` is the logarithm of the absolute value of the determinant"),
    ("inv", "systems are solved by `matrixSolve A b`; there is no inverse"),
    ("solve", "systems are solved by `matrixSolve A b`"),
    ("sum", "the sum of an array is `vectorSum v`"),
    ("cumsum", "the sums of the first elements are `vectorCumSum v`"),
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
    ("toDouble", "an Index becomes a Double by `double i`"),
    ("toFloat", "an Index becomes a Double by `double i`"),
    ("toInt", "a Double becomes an Index by `index x`"),
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
    ("None", "declare `type Option = | None | Some of Double`"),
    ("Some", "declare `type Option = | None | Some of Double`"),
    ("Just", "declare `type Option = | None | Some of Double`"),
    ("Nothing", "declare `type Option = | None | Some of Double`"),
    ("null", "what may be missing is a case: `type Option = | None | Some of Double`"),
    ("print", "there is no output: a program's results are what its entries give"),
    ("printf", "there is no output: a program's results are what its entries give"),
    ("printfn", "there is no output: a program's results are what its entries give; `smoothc eval --trace` shows what is computed"),
    ("True", "the truth values are `true` and `false`"),
    ("False", "the truth values are `true` and `false`"),
    ("inf", "the constant is `infinity`"),
    ("Infinity", "the constant is `infinity`"),
    ("nan", "there is no constant for it; `0.0 / 0.0` is one"),
];

fn find(rows: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    rows.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// The sentence for a function or constant of this name.
pub fn name(name: &str) -> Option<&'static str> {
    find(NAMES, name)
}

/// The sentence for a type of this name.
pub fn type_name(name: &str) -> Option<&'static str> {
    find(TYPES, name)
}

/// The sentence for what stands behind a dot: `v.sum`, `List.map`.
pub fn field(field: &str) -> Option<&'static str> {
    find(FIELDS, field).or_else(|| name(field))
}
