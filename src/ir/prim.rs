//! The primitives: one row each. The other rooms read the rows.
//!
//! A row gives the name in the source language, the argument and result kinds, how the derivative goes
//! (laws in our own syntax over `x`, `y`, their tangents `dx`, `dy`; 001 Figure 7, corrected as in
//! docs/deviations.md), and the spellings in C and Futhark. `eval` holds the meaning; a test walks the table, so nothing can
//! be half added.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Prim {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Pow,
    Neg,
    Min,
    Max,
    Abs,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Log,
    Exp,
    Sqrt,
    Atan2,
    Erf,
    Lgamma,
    /// `polygamma k x`, the (k+1)-th derivative of `lgamma`; not a name of the source language.
    Polygamma,
    Sign,
    Floor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Not,
    ToDouble,
    ToIndex,
    Log1p,
    Expm1,
    Erfc,
    Asinh,
    Acosh,
    Atanh,
    Cbrt,
    Hypot,
    Exp2,
    Log2,
    Log10,
    Ceil,
    /// To the nearest whole number, half to even.
    Round,
    Trunc,
    /// `1 / (1 + exp (-x))`, without overflow on the way.
    Sigmoid,
    /// `log (1 + exp x)`, without overflow on the way.
    Softplus,
}

/// What a primitive takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Double or Index arguments, all of one type; the result has it too.
    Number,
    /// Double arguments and result.
    Double,
    /// Index arguments and result.
    Index,
    /// Double or Index arguments of one type; a Bool.
    Order,
    /// Double, Index or Bool arguments of one type; a Bool.
    Equality,
    /// Bool arguments and result.
    Bool,
    IndexToDouble,
    DoubleToIndex,
    /// An Index, then a Double; a Double.
    IndexDoubleToDouble,
}

/// How tangents go through a primitive on Doubles. In the laws `x`, `y` are the operands, `dx`, `dy` their
/// tangents and `r` the primitive's own value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// The result has no tangent: comparisons, conversions, piecewise constant functions.
    Zero,
    /// The tangent where the only operand (or the only differentiable one) has a tangent.
    Unary(&'static str),
    /// Where only x, only y, or both have one; [`Prim::law_in`] has each operand's part of `both`.
    Binary { x: &'static str, y: &'static str, both: &'static str },
}

/// How a primitive is written in a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    Infix(&'static str),
    Prefix(&'static str),
    /// A function of the target's library or of `runtime/`.
    Call(&'static str),
}

/// One primitive.
#[derive(Debug)]
pub struct Row {
    pub prim: Prim,
    /// The name in the source language: an operator or a function.
    pub name: &'static str,
    pub arity: usize,
    pub kind: Kind,
    pub derivative: Derivative,
    /// The spelling in C on Doubles (on Bools where those are the only operands).
    pub c: Spelling,
    /// The spelling in C on Index, where it differs: arithmetic that wraps, checked division.
    pub c_index: Option<Spelling>,
    /// The spelling in Futhark on Doubles (on Bools where those are the only operands).
    pub futhark: Spelling,
    /// The spelling in Futhark on Index, where it differs.
    pub futhark_index: Option<Spelling>,
}

use Derivative::{Binary, Unary, Zero};
use Spelling::{Call, Infix, Prefix};

macro_rules! rows {
    ($( $prim:ident $name:literal $arity:literal $kind:ident, $derivative:expr, $c:expr, $c_index:expr, $futhark:expr, $futhark_index:expr; )*) => {
        /// All primitives, in the order of [`Prim`].
        pub const ROWS: &[Row] = &[$(
            Row {
                prim: Prim::$prim,
                name: $name,
                arity: $arity,
                kind: Kind::$kind,
                derivative: $derivative,
                c: $c,
                c_index: $c_index,
                futhark: $futhark,
                futhark_index: $futhark_index,
            },
        )*];
    };
}

rows! {
    Add "+" 2 Number, Binary { x: "dx", y: "dy", both: "dx + dy" }, Infix("+"), Some(Call("smooth_add")), Infix("+"), None;
    Sub "-" 2 Number, Binary { x: "dx", y: "-dy", both: "dx - dy" }, Infix("-"), Some(Call("smooth_sub")), Infix("-"), None;
    Mul "*" 2 Number, Binary { x: "dx * y", y: "x * dy", both: "dx * y + x * dy" }, Infix("*"), Some(Call("smooth_mul")), Infix("*"), None;
    Div "/" 2 Number, Binary { x: "dx / y", y: "-(r * dy) / y", both: "(dx - r * dy) / y" }, Infix("/"), Some(Call("smooth_div")), Infix("/"), Some(Call("quot"));
    Rem "%" 2 Index, Zero, Infix("%"), Some(Call("smooth_rem")), Infix("%%"), Some(Call("rem"));
    Pow "**" 2 Double, Binary {
        x: "if y = 0.0 then 0.0 else y * x ** (y - 1.0) * dx",
        y: "if x = 0.0 && y > 0.0 then 0.0 else log x * r * dy",
        both: "y * x ** (y - 1.0) * dx + (if x = 0.0 && y > 0.0 then 0.0 else log x * r * dy)",
    }, Call("pow"), None, Infix("**"), None;
    Neg "-" 1 Number, Unary("-dx"), Prefix("-"), Some(Call("smooth_neg")), Prefix("-"), None;
    Min "min" 2 Number, Binary {
        x: "if x <= y || x <> x then dx else 0.0",
        y: "if x <= y || x <> x then 0.0 else dy",
        both: "if x <= y || x <> x then dx else dy",
    }, Call("smooth_fmin"), Some(Call("smooth_imin")), Call("fmin"), Some(Call("i64.min"));
    Max "max" 2 Number, Binary {
        x: "if x >= y || x <> x then dx else 0.0",
        y: "if x >= y || x <> x then 0.0 else dy",
        both: "if x >= y || x <> x then dx else dy",
    }, Call("smooth_fmax"), Some(Call("smooth_imax")), Call("fmax"), Some(Call("i64.max"));
    Abs "abs" 1 Number, Unary("sign x * dx"), Call("fabs"), Some(Call("smooth_iabs")), Call("f64.abs"), Some(Call("i64.abs"));
    Sin "sin" 1 Double, Unary("cos x * dx"), Call("sin"), None, Call("f64.sin"), None;
    Cos "cos" 1 Double, Unary("-(sin x) * dx"), Call("cos"), None, Call("f64.cos"), None;
    Tan "tan" 1 Double, Unary("(1.0 + r * r) * dx"), Call("tan"), None, Call("f64.tan"), None;
    Asin "asin" 1 Double, Unary("dx / sqrt (1.0 - x * x)"), Call("asin"), None, Call("f64.asin"), None;
    Acos "acos" 1 Double, Unary("-dx / sqrt (1.0 - x * x)"), Call("acos"), None, Call("f64.acos"), None;
    Atan "atan" 1 Double, Unary("dx / (1.0 + x * x)"), Call("atan"), None, Call("f64.atan"), None;
    Sinh "sinh" 1 Double, Unary("cosh x * dx"), Call("sinh"), None, Call("f64.sinh"), None;
    Cosh "cosh" 1 Double, Unary("sinh x * dx"), Call("cosh"), None, Call("f64.cosh"), None;
    Tanh "tanh" 1 Double, Unary("(1.0 - r * r) * dx"), Call("tanh"), None, Call("f64.tanh"), None;
    Log "log" 1 Double, Unary("dx / x"), Call("log"), None, Call("f64.log"), None;
    Exp "exp" 1 Double, Unary("r * dx"), Call("exp"), None, Call("f64.exp"), None;
    Sqrt "sqrt" 1 Double, Unary("dx / (2.0 * r)"), Call("sqrt"), None, Call("f64.sqrt"), None;
    Atan2 "atan2" 2 Double, Binary {
        x: "y * dx / (x * x + y * y)",
        y: "-(x * dy) / (x * x + y * y)",
        both: "(y * dx - x * dy) / (x * x + y * y)",
    }, Call("atan2"), None, Call("f64.atan2"), None;
    Erf "erf" 1 Double, Unary("1.1283791670955126 * exp (-(x * x)) * dx"), Call("erf"), None, Call("f64.erf"), None;
    Lgamma "lgamma" 1 Double, Unary("polygamma 0 x * dx"), Call("smooth_lgamma"), None, Call("f64.lgamma"), None;
    Polygamma "polygamma" 2 IndexDoubleToDouble, Unary("polygamma (k + 1) x * dx"), Call("smooth_polygamma"), None, Call("polygamma"), None;
    Sign "sign" 1 Double, Zero, Call("smooth_sign"), None, Call("sign"), None;
    Floor "floor" 1 Double, Zero, Call("floor"), None, Call("f64.floor"), None;
    Eq "=" 2 Equality, Zero, Infix("=="), None, Infix("=="), None;
    Ne "<>" 2 Equality, Zero, Infix("!="), None, Infix("!="), None;
    Lt "<" 2 Order, Zero, Infix("<"), None, Infix("<"), None;
    Le "<=" 2 Order, Zero, Infix("<="), None, Infix("<="), None;
    Gt ">" 2 Order, Zero, Infix(">"), None, Infix(">"), None;
    Ge ">=" 2 Order, Zero, Infix(">="), None, Infix(">="), None;
    And "&&" 2 Bool, Zero, Infix("&&"), None, Infix("&&"), None;
    Or "||" 2 Bool, Zero, Infix("||"), None, Infix("||"), None;
    Not "not" 1 Bool, Zero, Prefix("!"), None, Prefix("!"), None;
    ToDouble "double" 1 IndexToDouble, Zero, Prefix("(double)"), None, Call("f64.i64"), None;
    ToIndex "index" 1 DoubleToIndex, Zero, Call("smooth_index"), None, Call("to_index"), None;
    Log1p "log1p" 1 Double, Unary("dx / (1.0 + x)"), Call("log1p"), None, Call("f64.log1p"), None;
    Expm1 "expm1" 1 Double, Unary("(1.0 + r) * dx"), Call("expm1"), None, Call("smooth_expm1"), None;
    Erfc "erfc" 1 Double, Unary("-1.1283791670955126 * exp (-(x * x)) * dx"), Call("erfc"), None, Call("f64.erfc"), None;
    Asinh "asinh" 1 Double, Unary("dx / sqrt (1.0 + x * x)"), Call("asinh"), None, Call("f64.asinh"), None;
    Acosh "acosh" 1 Double, Unary("dx / sqrt (x * x - 1.0)"), Call("acosh"), None, Call("f64.acosh"), None;
    Atanh "atanh" 1 Double, Unary("dx / (1.0 - x * x)"), Call("atanh"), None, Call("f64.atanh"), None;
    Cbrt "cbrt" 1 Double, Unary("dx / (3.0 * (r * r))"), Call("cbrt"), None, Call("f64.cbrt"), None;
    Hypot "hypot" 2 Double, Binary {
        x: "if r = 0.0 then 0.0 else x / r * dx",
        y: "if r = 0.0 then 0.0 else y / r * dy",
        both: "if r = 0.0 then 0.0 else x / r * dx + y / r * dy",
    }, Call("hypot"), None, Call("f64.hypot"), None;
    Exp2 "exp2" 1 Double, Unary("0.6931471805599453 * r * dx"), Call("exp2"), None, Call("smooth_exp2"), None;
    Log2 "log2" 1 Double, Unary("dx / (0.6931471805599453 * x)"), Call("log2"), None, Call("f64.log2"), None;
    Log10 "log10" 1 Double, Unary("dx / (2.302585092994046 * x)"), Call("log10"), None, Call("f64.log10"), None;
    Ceil "ceil" 1 Double, Zero, Call("ceil"), None, Call("f64.ceil"), None;
    Round "round" 1 Double, Zero, Call("rint"), None, Call("f64.round"), None;
    Trunc "trunc" 1 Double, Zero, Call("trunc"), None, Call("smooth_trunc"), None;
    Sigmoid "sigmoid" 1 Double, Unary("r * (1.0 - r) * dx"), Call("smooth_sigmoid"), None, Call("smooth_sigmoid"), None;
    Softplus "softplus" 1 Double, Unary("sigmoid x * dx"), Call("smooth_softplus"), None, Call("smooth_softplus"), None;
}

/// The law of `x ** y` in x where y has a tangent too: an exponent of 0 is no special case, since its neighbours have another slope.
const POWER_OF_BOTH: &str = "y * x ** (y - 1.0) * dx";

/// The law of `x / y` in y where x has a tangent too: with the quotient of x's law, so that both divide once.
const QUOTIENT_OF_BOTH: &str = "-(r * (dy / y))";

impl Prim {
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The law in one operand, which reverse mode transposes; `of_both` where the other one has a tangent too. `None` for a zero
    /// derivative.
    pub fn law_in(self, operand: usize, of_both: bool) -> Option<&'static str> {
        match (self.row().derivative, operand) {
            (Derivative::Zero, _) => None,
            (Derivative::Unary(law), _) => Some(law),
            (Derivative::Binary { .. }, 0) if self == Prim::Pow && of_both => Some(POWER_OF_BOTH),
            (Derivative::Binary { .. }, 1) if self == Prim::Div && of_both => Some(QUOTIENT_OF_BOTH),
            (Derivative::Binary { x, .. }, 0) => Some(x),
            (Derivative::Binary { y, .. }, _) => Some(y),
        }
    }

    /// Whether it takes longer than a store and two loads: a function of the C library.
    pub fn is_function(self) -> bool {
        match self {
            Prim::Pow => true,
            Prim::Sin | Prim::Cos | Prim::Tan | Prim::Asin | Prim::Acos | Prim::Atan | Prim::Atan2 => true,
            Prim::Sinh | Prim::Cosh | Prim::Tanh | Prim::Log | Prim::Exp | Prim::Erf | Prim::Lgamma | Prim::Polygamma => true,
            Prim::Log1p | Prim::Expm1 | Prim::Erfc | Prim::Asinh | Prim::Acosh | Prim::Atanh | Prim::Cbrt | Prim::Hypot => true,
            Prim::Exp2 | Prim::Log2 | Prim::Log10 | Prim::Sigmoid | Prim::Softplus => true,
            Prim::Add
            | Prim::Sub
            | Prim::Mul
            | Prim::Div
            | Prim::Rem
            | Prim::Sqrt
            | Prim::Neg
            | Prim::Min
            | Prim::Max
            | Prim::Abs
            | Prim::Sign
            | Prim::Floor
            | Prim::Ceil
            | Prim::Round
            | Prim::Trunc => false,
            Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::And | Prim::Or | Prim::Not => false,
            Prim::ToDouble | Prim::ToIndex => false,
        }
    }

    /// The comparison with its operands exchanged.
    pub fn turned(self) -> Option<Prim> {
        Some(match self {
            Prim::Lt => Prim::Gt,
            Prim::Le => Prim::Ge,
            Prim::Gt => Prim::Lt,
            Prim::Ge => Prim::Le,
            Prim::Eq | Prim::Ne => self,
            _ => return None,
        })
    }

    /// The comparison of Indexes that holds where this one does not.
    pub fn opposite(self) -> Option<Prim> {
        Some(match self {
            Prim::Lt => Prim::Ge,
            Prim::Le => Prim::Gt,
            Prim::Gt => Prim::Le,
            Prim::Ge => Prim::Lt,
            Prim::Eq => Prim::Ne,
            Prim::Ne => Prim::Eq,
            _ => return None,
        })
    }

    /// The primitive function of a source name; operators are found by their own names.
    pub fn function(name: &str) -> Option<Prim> {
        ROWS.iter()
            .find(|row| row.name == name && row.prim != Prim::Polygamma && row.name.starts_with(|c: char| c.is_ascii_alphabetic()))
            .map(|row| row.prim)
    }
}
