"""F-smooth for Pygments: a lexer to highlight programs in books and pages.

    pygmentize -x -l editors/pygments/smooth_lexer.py:SmoothLexer program.smooth

In Sphinx or mdBook's preprocessors: `from smooth_lexer import SmoothLexer`.
"""

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

__all__ = ["SmoothLexer"]

NAME = r"[A-Za-z_][A-Za-z0-9_']*"
END = r"(?![A-Za-z0-9_'])"

KEYWORDS = (
    "let", "in", "fun", "if", "then", "elif", "else", "open", "deriv", "not", "rec", "type",
    "match", "with", "of", "and", "module", "val",
)
TYPES = (
    "Double", "Bool", "DoubleD", "Index", "Vector", "VectorD", "Matrix", "MatrixD", "Array", "Unit",
)
BUILT_IN = (
    "build", "ifold", "get", "update", "accumulate", "length", "matrixCols", "pair", "fst", "snd", "diff", "vdiff",
    "mdiff", "grad", "mgrad", "jacob", "derivative", "gradient", "jacobian", "hessian", "jvp", "vjp", "rd", "valueAndGradient", "min",
    "max", "abs", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "log",
    "exp", "sqrt", "atan2", "erf", "lgamma", "sign", "floor", "double", "index", "log1p", "expm1", "erfc",
    "asinh", "acosh", "atanh", "cbrt", "hypot", "exp2", "log2", "log10", "ceil", "round", "trunc", "sigmoid",
    "softplus",
)
CONSTANTS = ("pi", "infinity", "true", "false")


class SmoothLexer(RegexLexer):
    """Programs of F-smooth, the language of smoothc."""

    name = "F-smooth"
    aliases = ["smooth", "fsmooth"]
    filenames = ["*.smooth"]

    tokens = {
        "root": [
            (r"\ufeff", Text),
            (r"\s+", Text),
            (r"///.*", String.Doc),
            (r"//.*", Comment.Single),
            (r"\(\*(?!\))", Comment.Multiline, "comment"),
            (r"(open)(\s+)(\"[^\"\n]*\")", bygroups(Keyword.Namespace, Text, String)),
            (r"(open)(\s+)(" + NAME + ")", bygroups(Keyword.Namespace, Text, Name.Namespace)),
            (r"^(type)(\s+)(" + NAME + ")", bygroups(Keyword.Declaration, Text, Name.Class)),
            (r"^(let)(\s+)(rec)(\s+)(" + NAME + ")", bygroups(Keyword.Declaration, Text, Keyword.Declaration, Text, Name.Function)),
            (r"^(let|and)(\s+)(" + NAME + ")", bygroups(Keyword.Declaration, Text, Name.Function)),
            (words(CONSTANTS, suffix=END), Keyword.Constant),
            (words(KEYWORDS, suffix=END), Keyword),
            (words(TYPES, suffix=END), Keyword.Type),
            (r"(?<=[A-Za-z0-9_')\]])(\.)(" + NAME + ")", bygroups(Punctuation, Name.Attribute)),
            (words(BUILT_IN, suffix=END), Name.Builtin),
            (NAME, Name),
            (r"(?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+", Number.Float),
            (r"[0-9]+\.(?!\.)[0-9]*|\.[0-9]+", Number.Float),
            (r"[0-9]+", Number.Integer),
            (r"->|=>|\|>|\|\||&&|==|!=|<>|<=|>=|\*\*|\.\*|\./|\.\.|[-+*\u00d7/%=<>]", Operator),
            (r"\[\||\|\]|\.\[|[()\[\]{},;:.]", Punctuation),
            (r"\|", Operator),
        ],
        "comment": [
            (r"[^(*]+", Comment.Multiline),
            (r"\(\*", Comment.Multiline, "#push"),
            (r"\*\)", Comment.Multiline, "#pop"),
            (r"[(*]", Comment.Multiline),
        ],
    }
