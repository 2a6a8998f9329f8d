/**
 * F-smooth for tree-sitter: declarations and types with their names, and inside them words, brackets and operators.
 *
 * The layout of the language is left to smoothc: a body is a sequence of items, in which brackets nest and every `let` has the name that
 * it binds. That is what highlighting, folding, outlines and selection need. src/scanner.c finds where a declaration begins, in column 0,
 * and comments that nest. `tree-sitter generate` makes src/parser.c.
 */
module.exports = grammar({
  name: "smooth",

  externals: ($) => [$._start, $.block_comment],
  extras: ($) => [/[ \r\n]/, $.documentation, $.comment, $.block_comment],
  word: ($) => $.identifier,

  rules: {
    source_file: ($) => repeat(choice($.declaration, $.type_declaration, $.open)),

    open: ($) => seq($._start, "open", field("path", choice($.string, $.identifier))),

    type_declaration: ($) =>
      seq($._start, "type", field("name", $.identifier), optional($._type_sizes), "=", repeat1($._item)),
    _type_sizes: ($) => seq("<", repeat(choice($.identifier, ",")), ">"),

    declaration: ($) => seq($._start, "let", optional("rec"), field("name", $.identifier), repeat($._item)),

    _item: ($) =>
      choice(
        $.local,
        $.function,
        $.parenthesised,
        $.array,
        $.index,
        $.record,
        $.field_access,
        $.keyword,
        $.boolean,
        $.built_in_type,
        $.built_in_function,
        $.constant,
        $.number,
        $.identifier,
        $.wildcard,
        $.operator,
        $.separator,
      ),

    local: ($) => prec.right(seq("let", optional("rec"), optional(field("name", $.identifier)))),
    function: ($) => "fun",

    parenthesised: ($) => seq("(", repeat($._item), ")"),
    array: ($) => choice(seq("[", repeat($._item), "]"), seq("[|", repeat($._item), "|]")),
    index: ($) => seq(choice(token.immediate("["), ".["), repeat($._item), "]"),
    record: ($) => seq("{", repeat($._item), "}"),
    field_access: ($) => seq(token.immediate("."), field("field", alias(token.immediate(/[A-Za-z_][A-Za-z0-9_']*/), $.identifier))),

    keyword: ($) => choice("in", "if", "then", "elif", "else", "deriv", "not", "match", "with", "of", "and", "module", "val"),
    boolean: ($) => choice("true", "false"),
    built_in_type: ($) => choice("Double", "Bool", "DoubleD", "Index", "Vector", "VectorD", "Matrix", "MatrixD", "Array", "Unit"),
    built_in_function: ($) => choice(
      "build", "ifold", "get", "update", "accumulate", "length", "matrixCols", "pair", "fst", "snd",
      "diff", "vdiff", "mdiff", "grad", "mgrad", "jacob", "derivative", "gradient", "jacobian", "hessian",
      "jvp", "vjp", "rd", "valueAndGradient", "min", "max", "abs", "sin", "cos", "tan", "asin",
      "acos", "atan", "sinh", "cosh", "tanh", "log", "exp", "sqrt", "atan2", "erf",
      "lgamma", "sign", "floor", "double", "index", "log1p", "expm1", "erfc", "asinh", "acosh",
      "atanh", "cbrt", "hypot", "exp2", "log2", "log10", "ceil", "round", "trunc", "sigmoid",
      "softplus"
    ),
    constant: ($) => choice("pi", "infinity"),

    // the point of `1.` stands alone, so that `1..` is a number and the operator of slices
    number: ($) => token(/([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?/),
    string: ($) => /"[^"\n]*"/,
    identifier: ($) => /[A-Za-z_][A-Za-z0-9_']*/,
    wildcard: ($) => "_",

    operator: ($) =>
      choice("->", "=>", "|>", "|", "||", "&&", "==", "!=", "<>", "<=", ">=", "**", ".*", "./", "..", "+", "-", "*", "×", "/", "%", "=", "<", ">"),
    separator: ($) => choice(",", ";", ":", token.immediate(".")),

    documentation: ($) => token(prec(2, /\/\/\/[^\n]*/)),
    comment: ($) => token(prec(1, /\/\/[^\n]*/)),
  },
});
