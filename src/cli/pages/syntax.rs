//! Pages of files (00), syntax (01) and names (02).

use super::{Page, page};

pub const PAGES: &[Page] = &[
    page(
        "E0001",
        "a file cannot be read",
        "The file is not there, is a directory or larger than 16 MiB, or may not be read. Check the path; `-` is standard input.",
    ),
    page("E0002", "a file is not UTF-8", "Source files are UTF-8 text. Save the file in that encoding."),
    page(
        "E0003",
        "an unknown library",
        "The only library is `linalg`, which is open by default. A file's name stands in quotes:\n\n    open \"geometry.smooth\"",
    ),
    page(
        "E0004",
        "an opened file cannot be read",
        "The path after `open` is relative to the file that opens it. Check that the file is there and is UTF-8 text.\nDevices and pipes are not opened.",
    ),
    page(
        "E0005",
        "files open each other",
        "A file opens another that, directly or not, opens the first. Move what both need into a third file.",
    ),
    page("E0011", "an output cannot be written", "The folder is not there, or may not be written to, or the disk is full; or a Python package would be replaced that smoothc has not made."),
    page(
        "E0012",
        "the ending of an output is not one that the command makes",
        "`smoothc build FILE -o PATH` makes what PATH's ending says: .so (on macOS .dylib too, on Windows .dll) a shared\nlibrary, .a a static library, .o an object. `emit` makes .c, and with `--target futhark` .fut; `explain --html` makes\n.html. Nothing is written to another ending, so that no source is lost by a slip; devices such as /dev/null need none,\nand `-o -` is standard output.",
    ),
    page(
        "E0014",
        "an output would replace what was read",
        "The path of an output is a file that the command has read: the program, a file that it opens, a schedule or an\nargument, by this name, by another one or by a link. Nothing was written. Name another file; this also holds for the\nheader beside it.",
    ),
    page(
        "E0013",
        "nothing of this name to explain",
        "`smoothc explain` takes the code of a diagnostic (each begins with its own: `error[E0101]: …`), the name of a rule\n(`smoothc explain rules` lists them) or of a function of the library (`smoothc explain library`).",
    ),
    page(
        "E0015",
        "more errors than are shown",
        "At most a hundred errors are printed. Mend the first ones; the others may be their consequence.",
    ),
    page(
        "E0017",
        "an option without effect",
        "The command or its target never looks at the option, so that what it promises does not come: Futhark keeps its\nchecks, `--futhark-backend` is nothing to C, and `check` emits nothing. Leave it out, or name the target\nthat it is for.",
    ),
    page(
        "E0018",
        "a file that is not what the command would write",
        "`smoothc fmt --check` found a source file that is not formatted; without --check it writes what the diff shows. Or
`smoothc emit --check` found a file that is not what the command would write; the diff shows what it would change.\nThe first line has the version, the options and a hash of the files that were read. Run the command without --check.",
    ),
    page("E0019", "an unknown command", "`smoothc man COMMAND` prints the page of a command; `smoothc --help` lists them."),
    page("W0016", "more warnings than are shown", "At most a hundred warnings are printed."),
    page(
        "E0101",
        "something else was expected here",
        "The parser met a word that does not fit. The message says what would: often an operand is missing after an\noperator, or a bracket is missing before.\n\n    let f (x: Double) = x +      // expected an expression",
    ),
    page(
        "E0102",
        "a bracket does not match",
        "Every `(`, `[` and `[|` needs its partner, in the declaration where it was opened, and no other.",
    ),
    page(
        "E0103",
        "a line in a column that does not fit",
        "Layout follows F#: after `let x = e` the rest of the block begins in the column of that `let`. A line further\nleft ends the block; a block must end in an expression.\n\n    let f (x: Double) =\n      let y = x * x\n      y + 1.0                    // the column of its `let`",
    ),
    page("E0104", "a comment or a file name does not end", "`(*` needs `*)`, comments nest; the name in `open \"…\"` ends on its line."),
    page(
        "E0105",
        "a character that starts nothing",
        "The language is written in ASCII letters, digits and operators. Tabs are not allowed, as columns matter: use spaces.",
    ),
    page(
        "E0106",
        "a number is malformed or too large",
        "A number stands apart from what is before it: `f .5`, not `f.5`. An integer has at most 64 bits; the largest Double is about 1.8e308.",
    ),
    page(
        "E0107",
        "a reserved word is no name",
        "These words are reserved: let in fun if then elif else true false open deriv not rec type match with of and\nmodule val.",
    ),
    page(
        "E0108",
        "a recursive declaration without its types",
        "A recursive function is used before its body is known. It has parameters, and says the types of all of them and of its\nresult. `decreases n` names one of them, an Index; `and` goes on with a `let rec`, in its column or on its\nline, or with a `type`.\n\n    let rec even (n: Index) : Bool = if n = 0 then true else odd (n - 1)\n    and odd (n: Index) : Bool = if n = 0 then false else even (n - 1)",
    ),
    page(
        "E0109",
        "a program beyond the limits",
        "Nesting, a declaration or the file is too large. Bind parts of the expression to names in declarations of their own.",
    ),
    page("E0110", "an `if` without `else`", "Both branches give the value: `if c then a else b`."),
    page("E0111", "comparisons do not chain", "Write `a < b && b < c` for `a < b < c`."),
    page(
        "E0112",
        "`deriv` takes an expression and a variable",
        "`deriv e x` differentiates the expression e with respect to the variable x:\n\n    deriv (x * x) x\n\nFor a function use `derivative f x` or `gradient f v`.",
    ),
    page(
        "E0113",
        "an unknown type",
        "Types are Double, Index, Bool, Array<T>, Vector, Matrix, DoubleD, VectorD, MatrixD, tuples `T * T` and functions\n`T => T`; sizes stand between `<` and `>`: `Vector<n>`, `Matrix<n, 3>`, `Index<n>`. The name\nof a sum type stands alone: the lengths in a value are its own.",
    ),
    page(
        "E0114",
        "no declaration in column 0",
        "A line in column 0 begins a declaration, `let`, `type` or `open`. Indent what belongs to the declaration above.\nNothing stands before the word, no comment either: that has a line of its own.",
    ),
    page(
        "E0115",
        "a phrase of another language",
        "F#, Python, MATLAB, C and Haskell say it so, and F-smooth otherwise: values are named once by `let`, arrays are made by\n`build` and `vectorMap`, states are handed on by `ifold`. The help says what to write in the place of the phrase:\n\n    let total (v: Vector<n>) = ifold (fun s i -> s + v[i]) 0.0 n",
    ),
    page(
        "E0118",
        "a law that is not written `left -> right if condition`",
        "A rule of one's own names two terms with metavariables, and a condition that the rewriter knows.",
    ),
    page(
        "E0119",
        "a law that has no meaning",
        "The sides of a law are made of operators, primitive functions, `if`, `let`, `build`, `ifold`, `a[i]`, `length a`,\n`[a, b]`, `update`, `accumulate`, tuples, `fst`, `snd` and literals, and they have one type. On the left a name is applied only\nto different variables that the law binds there; it takes as many everywhere. A schedule is refused too where its laws leave an\nargument or a result with another length than the program declares.\n\n    rule r : build n (fun i -> f (i + 1)) -> build n f     `f` is applied to a sum\n    rule r : a < b -> a - b                                a Bool on the left, a number on the right",
    ),
    page("E0120", "an empty strategy", "A strategy is at least one rule, group or definition: `let main = id` does nothing."),
    page(
        "E0121",
        "a strategy with a parameter cannot run by itself",
        "End the file with a definition without parameter, or name one `main`.",
    ),
    page("E0122", "a character that is no part of a strategy", "A strategy is made of names such as `add-zero` or `build.body`, `;`, `<+`, parentheses and `let`."),
    page("E0123", "a definition is incomplete", "A strategy is defined by `let name = s`, one with a parameter by `let name (s) = s`, one that uses itself by `let rec name = s`."),
    page(
        "E0124",
        "strategies stand side by side",
        "Write `a; b` for one after the other, `a <+ b` for the second where the first does not apply.",
    ),
    page("E0125", "a strategy is missing", "Something else stands where a strategy is wanted, as after `;`, or the file ends there."),
    page("E0126", "a `(` is not closed", "Every `(` of a strategy needs its `)`."),
    page("E0127", "an unknown rule or strategy", "Rules have the paper's names; a strategy is defined before it is used, and uses itself only after `let rec`."),
    page(
        "E0128",
        "a strategy that is too long",
        "Each use of a definition is written out, and the strategy then has more than 100,000 parts, or its parentheses nest deeper\nthan 1,000. `repeat s` applies s often, and a definition of `let rec` is not written out.",
    ),
    page("E0129", "a name with two definitions", "Each strategy and each rule of a file has its own name: a use says which one is meant."),
    page(
        "E0130",
        "a law whose types disagree",
        "No term has the form of such a law, or meets its condition: the rule would never fire.\n\n    rule r : a + true -> a       `true` is a Bool, and `+` takes numbers\n\nA name has one type in the whole law, and an integer literal is a Double or an Index, as its place wants.",
    ),
    page("E0201", "a name is declared twice", "Two declarations of one file have one name. Rename one of them."),
    page(
        "W0209",
        "a name that is not used",
        "Nothing mentions the parameter or the `let`. A name that begins with `_` says that it is so on purpose; in a pattern, `_`\nalone takes what is not needed.",
    ),
    page(
        "E0020",
        "warnings that are denied",
        "With `--deny-warnings` a program with warnings is at fault: exit status 1, and nothing is written.",
    ),
    page(
        "W0208",
        "a function of which nothing is known",
        "An expression given to `smoothc rewrite` applies a name that neither it nor the library declares. That is allowed: its\ncalls stay as they are. The name is close to one of the library, and so it may be a slip.",
    ),
    page(
        "W0202",
        "a name of the library is hidden",
        "The declaration has the name of a library function, which the rest of the file no longer sees.",
    ),
    page("E0202", "an unknown name", "Nothing of this name is declared before this place, in an opened file or in the library."),
    page("E0203", "a name is used before it is declared", "Declarations are used only after they are declared. Move the declaration up."),
    page("E0204", "a declaration uses itself", "A function that calls itself is declared by `let rec`. A loop with a count is a `build` or an `ifold`."),
    page(
        "E0205",
        "an option names no declaration",
        "`--entry` and `--derive` take names of declarations of the file given, not of the library or of opened files.",
    ),
    page(
        "E0207",
        "a name is bound twice",
        "The parameters of a function, and the names of one pattern, are all different. Write `_` for what is not used.",
    ),
    page(
        "E0206",
        "a declaration that cannot be an entry",
        "An entry takes and gives values of known types. Annotate the parameters; pass no functions.",
    ),
];
