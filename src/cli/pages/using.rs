//! Pages of what is unsupported (06), run-time errors (07), arguments (08), tools and internal errors (09).

use super::{Page, page};

pub const PAGES: &[Page] = &[
    page(
        "E0601",
        "unsupported: a size depends on data",
        "The interpreter takes any size. Emitted code takes sizes that are computed from size names and Index and Bool\nparameters, also by an `ifold` whose state is one Index. A length read from an array needs an upper bound, as\n`min k[0] 100`; the length of a result cannot be computed by a loop. Pass the length as an Index parameter.",
    ),
    page(
        "E0602",
        "a schedule does not come to an end",
        "The strategy goes on rewriting for ever, or a definition of `let rec` goes on calling itself. Bound it, or leave out the rule that\nundoes another.",
    ),
    page(
        "E0604",
        "unsupported: the program is too large",
        "Above 200,000 nodes of the core language a program is refused: it would take minutes and give C that nobody reads.\nSplit it, or loop over an array instead of writing each element out. Nor may one value have more than 10,000\ncomponents, the elements of an array counted once: a tuple of tuples doubles with each step, as does each derivative\nof a derivative.",
    ),
    page(
        "E0606",
        "unsupported: recursion",
        "A function whose calls of itself are the last that it does is a loop everywhere. Other recursion has a stack in C, and\nnone in Futhark. In either the lengths of arrays are the same in every call, and a function does not differentiate itself;\n`smoothc eval` without `--schedule` runs any recursion.",
    ),
    page(
        "E0607",
        "unsupported: a value of a recursive type",
        "A sum type that contains itself, as a tree does, has values of any depth. `smoothc eval` takes them, gives them and\ndifferentiates through them; in C, and after `--schedule`, they are for inside of entries, which neither take nor give them nor\ndifferentiate in one. Where an entry takes one, keep the parts in arrays, and the indices of each part's own parts beside them.",
    ),
    page(
        "W0605",
        "a strategy that fails on every function",
        "A schedule is carried out phase by phase, on each function; where a phase fails, the function stays as it was. One that\nfails on all of them does nothing at all. A rule by itself fails where the whole body is not of its form: `topdown s`\nlooks for a place inside, `innermost s` for all of them, and `try s` succeeds in any case.",
    ),
    page("E0701", "an array was read out of bounds", "An index is negative, or not below the length. `smoothc eval` shows the place."),
    page(
        "E0702",
        "lengths contradict each other",
        "Arrays that must have one length, by a declared size or a library function, have different ones; or the accumulator\nof an `ifold` or the elements of an array change shape.",
    ),
    page("E0703", "a negative count", "`build n` and `ifold f z n` want n of 0 or more. A slice `v[a..b]` has b - a + 1 elements: one that ends right before it\nbegins is empty, and an earlier end is an error."),
    page(
        "E0704",
        "an Index divided by zero",
        "`/` and `%` on Index have no result for a divisor of 0. On Double, the result is inf or NaN.",
    ),
    page("E0705", "out of range", "`index x` takes an x that is no NaN and fits in 64 bits; an Index<n> is at least 0 and less than n."),
    page("E0706", "too large for memory", "The result or an intermediate array does not fit in memory. Call the entry with smaller sizes."),
    page(
        "E0707",
        "undefined in the partial meaning",
        "`eval --partial` gives a value only where the program is smooth in its Doubles (paper 005): a comparison, `min` and `max`\nof equal Doubles, `abs` at 0, `sqrt` and `log` at 0 and below, `floor` of an integer, a divisor of 0 have none. The place is\nthat of the first such operation. Without --partial these have a value and a derivative by convention.",
    ),
    page(
        "E0708",
        "recursion deeper than its stack, or more nodes than there is room for",
        "In emitted C, recursion that is no loop has room for 10,000 calls, one in another, and for more where C is\ngiven more bytes than `f_workspace` says; with `let rec f (n: Index) … decreases n = …` for n + 1. Name the parameter that decreases, or make each call the last that the function does: that is a\nloop, which takes no room. Lists and trees that a function makes have room for 10,000 nodes of each type, and likewise for more.",
    ),
    page(
        "E0801",
        "a wrong number of arguments",
        "`smoothc run FILE ENTRY ARG…` takes one ARG for each parameter of the entry, in order. Quote what has spaces:\n\n    smoothc run f.smooth dot '[1, 2]' '[3, 4]'",
    ),
    page(
        "E0802",
        "an argument is not JSON",
        "An argument is a number, true, false, or an array of these; NaN, Infinity and -Infinity are numbers.",
    ),
    page(
        "E0803",
        "a .npy file cannot be used",
        "The file is damaged, or has elements that are no floats of 4 or 8 bytes, integers or booleans.",
    ),
    page("E0804", "an argument's file cannot be read", "`@path` names a .json or a .npy file."),
    page(
        "E0805",
        "an argument does not fit its parameter",
        "A Double takes any number, an Index an integer (3, not 3.0), a Bool true or false, a tuple an array of its\ncomponents.",
    ),
    page(
        "E0806",
        "an array has a wrong length",
        "Arrays that share a size name have one length, and all rows of a matrix do. The message says where.",
    ),
    page("E0807", "an index out of its range", "A parameter of type Index<n> takes 0 up to n - 1."),
    page("E0808", "the ending of -o says nothing", "A result is saved as .npy or .json."),
    page("E0809", "a result that .npy cannot hold", "A .npy file holds one number or one regular array. Save the result as .json."),
    page(
        "E0810",
        "an unknown entry",
        "An entry is a declaration without functions among its parameters whose name does not start with `_`, or one that\n`--entry` names.",
    ),
    page(
        "E0811",
        "a file without entries",
        "There is nothing to emit: no declaration of the file can be called from outside. `smoothc check` prints all types.",
    ),
    page("E0812", "an unknown schedule", "`--schedule` takes `none`, `paper`, `default`, or the path of a .strategy file."),
    page("E0813", "an unknown rule", "`--disable` takes the name of a rule, of a group (fusion, normalisation, motion, algebra) or of a pass\nthat `--time-passes` lists after `plan` or `loops`; of these `parallelise` and `measure` cannot be left out."),
    page(
        "E0815",
        "a strategy does not apply",
        "`smoothc rewrite STRATEGY EXPR` found no place where the strategy succeeds: a rule by itself is tried at the whole\nexpression only. `topdown s` looks for a place inside, `try s` succeeds in any case.",
    ),
    page(
        "E0817",
        "an expression without a value",
        "`smoothc eval -e EXPR` prints a value. A function has none: apply it to arguments, `sqrt 2.0`.",
    ),
    page(
        "E0816",
        "an unknown size",
        "`--size NAME=INT` takes a size that some entry has, by the name that `smoothc check` prints: `n` of `Vector<n>`, or an\nIndex parameter that is the length of something. Every entry with it is specialised; the size is a literal then and\nno parameter, neither in C nor on the command line.",
    ),
    page(
        "E0819",
        "nothing to differentiate in",
        "`smoothc gradcheck FILE ENTRY` takes the derivative of an entry in its parameters that have Doubles, and this entry has\nnone.",
    ),
    page(
        "E0820",
        "a derivative is wrong",
        "`smoothc gradcheck` held the derivative against central differences of the program as written, and one entry differs by\nmore than rounding explains. Its table says which, and how it was computed. Exit status 4. A kink, a point at the edge of\nwhere the function is defined and an infinite slope are not wrong: they are named below the table.",
    ),
    page(
        "E0821",
        "a C function that cannot be timed beside the entry",
        "`bench --against FILE.c:FUNCTION` calls FUNCTION as it calls the entry: with its sizes, parameters, results, workspace and\nbytes of workspace, for a status. `smoothc emit` prints the prototype. A `FUNCTION_workspace` in the file is asked for the\nworkspace.",
    ),
    page("W0822", "two functions that give different results", "`bench --against` compares what both give for the arguments before it times them."),
    page("E0901", "an error in smoothc itself", "This is a bug. Please report it with the program and the command line."),
    page(
        "E0902",
        "emitted code does not compile",
        "This is a bug, unless CC or CFLAGS are set to something unusual. Please report it with the program.",
    ),
    page(
        "E0903",
        "a tool is missing",
        "`run` and `build` need a C compiler: install gcc, or set CC. A static library needs `ar`. `--parallel` needs
a C compiler with OpenMP, as gcc is, and clang with libomp. `--target futhark` also needs\nthe Futhark compiler, which `FUTHARK` or the path names, and its backends `opencl`, `cuda` and `hip` need the headers\nand libraries of their platforms.",
    ),
    page(
        "E0904",
        "compiled code cannot be loaded",
        "The folder for temporary files forbids it (set TMPDIR), or CC compiles for another machine.",
    ),
    page(
        "E0905",
        "a compiler takes too long",
        "The Futhark compiler gets ten minutes and four gigabytes. Its time grows faster than the length of a function: split the\nprogram, or leave out `--schedule none`.",
    ),
];
