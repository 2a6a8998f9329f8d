// Colours the blocks of F-smooth in the book, which mdBook's highlight.js does not know.
// tests/suite/editors.rs holds the words against the language's.
hljs.registerLanguage("fsharp", () => ({
  keywords: {
    $pattern: /[A-Za-z_][\w']*/,
    keyword: "let in fun if then elif else open deriv not rec type match with of and module val",
    type: "Double Bool DoubleD Index Vector VectorD Matrix MatrixD Array Unit",
    built_in:
      "build ifold get update accumulate length matrixCols pair fst snd diff vdiff mdiff grad mgrad jacob derivative gradient " +
      "jacobian hessian jvp vjp rd valueAndGradient min max abs sin cos tan asin acos atan sinh cosh tanh log exp sqrt atan2 " +
      "erf lgamma sign floor double index log1p expm1 erfc asinh acosh atanh cbrt hypot exp2 log2 log10 ceil round trunc " +
      "sigmoid softplus",
    literal: "pi infinity true false",
  },
  contains: [
    hljs.COMMENT("//", "$"),
    hljs.COMMENT("\\(\\*", "\\*\\)", { contains: ["self"] }),
    { className: "string", begin: '"', end: '"' },
    { className: "number", begin: /\b\d+(\.\d+)?([eE][+-]?\d+)?\b(?!')/, relevance: 0 },
  ],
}));
document.querySelectorAll("code.language-fsharp").forEach((block) => hljs.highlightBlock(block));
