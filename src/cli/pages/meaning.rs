//! Pages of types (03), sizes (04) and differentiation (05).

use super::{Page, page};

pub const PAGES: &[Page] = &[
    page(
        "E0301",
        "types do not agree",
        "The expression has one type where another is wanted. An Index becomes a Double with `double i`, a Double an Index\nwith `index x`; an integer literal is either.",
    ),
    page(
        "E0302",
        "a type would have to contain itself",
        "The inferred type has no end, as an array that is an element of itself. Annotate the parameters to see where.",
    ),
    page("E0303", "an array is wanted", "Only arrays are indexed. `f [i]` passes an array literal; `v[i]` without the space indexes."),
    page(
        "E0304",
        "a wrong number of arguments",
        "A function takes all its arguments at once; there is no partial application. Pass `fun x -> f x 1.0` for one.",
    ),
    page("E0305", "a function is wanted", "What is applied here is no function. Perhaps an operator is missing between two operands."),
    page("E0306", "a pattern does not fit", "The pattern has another number of components than the tuple. `fst` and `snd` are for pairs."),
    page("E0307", "a type is not known", "Nothing decides the type here. Annotate it: `let a: Vector = []`."),
    page(
        "W0308",
        "fields of several records",
        "Several records have these fields, and nothing says which one is meant: it is the last declared. An annotation says it:\n\n    let f (a: A) = a.x",
    ),
    page(
        "E0309",
        "a field that is not there",
        "A record has the fields that its declaration gives it, and a literal names all of them:\n\n    type Camera = { focal: Double; centre: Vector<2> }\n    let c = { focal = 1.0; centre = [0, 0] }",
    ),
    page(
        "E0310",
        "a function where a value is wanted",
        "Functions are passed to functions and bound by `let`; they are never returned, stored in tuples or arrays, or\nchosen by an `if`.",
    ),
    page("E0311", "a function or a value", "A function is wanted here, by name or as `fun`; or a value is wanted, and this is a function."),
    page(
        "E0312",
        "a case that is not there, or other data than it has",
        "A case is what the declaration of its sum type says: its name begins with a capital, its data are one value, several are a tuple. It is never\nwithout them, but where a function is passed.\n\n    type Shape = | Circle of Double | Box of Double * Double | Empty\n    let f (s: Shape) = match s with Circle r -> Box (r, r) | _ -> Empty",
    ),
    page(
        "E0313",
        "a value that no pattern matches",
        "The rows of a `match` take every value; the message names one that none of them takes. The pattern of a `let` or of a parameter\nmatches every value by itself.",
    ),
    page(
        "W0314",
        "a row that is never reached",
        "The rows above it take every value that its pattern matches. Rows are tried from the first to the last.",
    ),
    page(
        "W0315",
        "a case that is named as a type",
        "A type has one name; `type S = Double` declares a sum type whose only case is called `Double`. Write the type itself where it is meant, or\nwrap it in a type of its own:\n\n    type Length = | Length of Double\n    let twice (l: Length) = match l with Length x -> Length (2.0 * x)",
    ),
    page(
        "E0316",
        "recursion that is given another function each time",
        "A function that is passed to a function is known where a program is compiled: there is one function for each that is passed. A\nrecursive function that passes a new one to itself in each call would be endlessly many. It passes on its parameters or\ndeclared functions, in up to 24 different ways (all orders of four); `fun y -> g y` is g.",
    ),
    page("E0401", "sizes that can never agree", "Two lengths meet that differ in every call, whatever the sizes are."),
    page("E0403", "an unknown size", "A size name stands alone as a size in some parameter, or is a parameter `(n: Index)` before."),
    page("E0404", "a negative size", "Sizes count elements: 0 or more."),
    page(
        "E0405",
        "an array would be irregular",
        "Every element of an array has the same shape, so the length of an inner `build` cannot depend on the outer index.",
    ),
    page(
        "E0406",
        "a read that is always out of bounds",
        "The index is a literal and the array's length is one, and the index is not below it. Indices begin at 0.",
    ),
    page(
        "W0407",
        "sizes that are always equal",
        "Two sizes are declared under different names, and the body takes arrays together that must have one length: for\nother arguments it always fails. One name says so where callers see it:\n\n    let dot (v: Vector<n>) (w: Vector<n>) = vectorDot v w",
    ),
    page(
        "E0501",
        "a derivative that does not exist",
        "Each form wants its point and function: derivative (Double to Double), gradient and hessian\n(anything made of Doubles to Double), jacobian, vjp and jvp (anything made of Doubles to such). A function of several parameters is wrapped:\n\n    gradient (fun v -> f v w) v",
    ),
    page(
        "E0502",
        "a derivative of something without one",
        "Index, Bool and functions have no derivative. Convert with `double` what is to be differentiated.",
    ),
    page(
        "E0503",
        "no independent variable",
        "`deriv e x` wants a variable x in scope that is a Double or an array of Doubles. For another point, bind it by `let`.",
    ),
    page(
        "W0507",
        "a root of a sum of squares is differentiated",
        "At 0 a square root has an infinite slope, and a sum of squares has slope 0 there: the derivative is NaN where all\nsquares are 0. Differentiate the square itself, or add something positive: `sqrt (vectorDot v v + 1e-12)`. `hypot x y` has\nderivative 0 there.",
    ),
    page(
        "E0505",
        "a dual has too many components",
        "`deriv` gives value and derivative, so a `deriv` of a `deriv` gives four numbers, and so on. Take the part that is\nneeded before differentiating again: `snd (deriv (snd (deriv (f x) x)) x)`.",
    ),
    page(
        "E0506",
        "the derivative of an unknown function",
        "An expression given to `smoothc rewrite` differentiates through a function that nothing declares. Write the function\nitself: `derivative (fun x -> sin x * x) y`.",
    ),
    page(
        "E0504",
        "a parameter that cannot be derived",
        "`--derive` wants a parameter that is a Double or an array of Doubles: name one, `--derive gradient:loss:weights`.",
    ),
];
