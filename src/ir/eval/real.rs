//! The primitives on plain numbers, as C99's libm and docs/language.md have them.
//!
//! In: a primitive and its operands. Out: its value. `min` and `max` give NaN when either operand is one
//! and the first operand at a tie, `sign` keeps NaN, Index arithmetic wraps. `polygamma k` is the (k+1)-th
//! derivative of `lgamma`, by recurrence and asymptotic series, reflected for negative arguments, to about
//! 1e-13.

use std::f64::consts::PI;

use crate::ir::prim::Prim;

/// The functions of C's mathematical library that Rust's does not offer, or computes in another way; it is linked in any case.
mod libm {
    use std::ffi::{c_double, c_int};
    unsafe extern "C" {
        pub safe fn erf(x: c_double) -> c_double;
        pub safe fn erfc(x: c_double) -> c_double;
        pub safe fn asinh(x: c_double) -> c_double;
        pub safe fn acosh(x: c_double) -> c_double;
        pub safe fn atanh(x: c_double) -> c_double;
        pub fn lgamma_r(x: c_double, sign: *mut c_int) -> c_double;
    }
}

fn lgamma(x: f64) -> f64 {
    let mut sign = 0;
    // SAFETY: lgamma_r writes one int through the pointer, which is to a live local
    unsafe { libm::lgamma_r(x, &mut sign) }
}

/// `1 / (1 + exp (-x))`: of two forms that are equal, the one whose exponential is at most 1.
fn sigmoid(x: f64) -> f64 {
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

/// `log (1 + exp x)`, whose part beyond `max x 0` is at most log 2.
fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// A primitive of one Double; `None` for any other primitive.
pub fn unary(prim: Prim, x: f64) -> Option<f64> {
    Some(match prim {
        Prim::Neg => -x,
        Prim::Abs => x.abs(),
        Prim::Sin => x.sin(),
        Prim::Cos => x.cos(),
        Prim::Tan => x.tan(),
        Prim::Asin => x.asin(),
        Prim::Acos => x.acos(),
        Prim::Atan => x.atan(),
        Prim::Sinh => x.sinh(),
        Prim::Cosh => x.cosh(),
        Prim::Tanh => x.tanh(),
        Prim::Log => x.ln(),
        Prim::Exp => x.exp(),
        Prim::Sqrt => x.sqrt(),
        Prim::Erf => libm::erf(x),
        Prim::Lgamma => lgamma(x),
        Prim::Floor => x.floor(),
        Prim::Log1p => x.ln_1p(),
        Prim::Expm1 => x.exp_m1(),
        Prim::Erfc => libm::erfc(x),
        Prim::Asinh => libm::asinh(x),
        Prim::Acosh => libm::acosh(x),
        Prim::Atanh => libm::atanh(x),
        Prim::Cbrt => x.cbrt(),
        Prim::Exp2 => x.exp2(),
        Prim::Log2 => x.log2(),
        Prim::Log10 => x.log10(),
        Prim::Ceil => x.ceil(),
        Prim::Round => x.round_ties_even(),
        Prim::Trunc => x.trunc(),
        Prim::Sigmoid => sigmoid(x),
        Prim::Softplus => softplus(x),
        Prim::Sign if x > 0.0 => 1.0,
        Prim::Sign if x < 0.0 => -1.0,
        Prim::Sign if x == 0.0 => 0.0,
        Prim::Sign => x,
        Prim::Add | Prim::Sub | Prim::Mul | Prim::Div | Prim::Rem | Prim::Pow | Prim::Min | Prim::Max | Prim::Atan2 | Prim::Hypot => {
            return None;
        }
        Prim::Polygamma | Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => return None,
        Prim::And | Prim::Or | Prim::Not | Prim::ToDouble | Prim::ToIndex => return None,
    })
}

/// A primitive of two Doubles that gives one; `None` for any other primitive.
pub fn binary(prim: Prim, x: f64, y: f64) -> Option<f64> {
    Some(match prim {
        Prim::Add => x + y,
        Prim::Sub => x - y,
        Prim::Mul => x * y,
        Prim::Div => x / y,
        Prim::Pow => x.powf(y),
        Prim::Min => first_or(x <= y || x.is_nan(), x, y),
        Prim::Max => first_or(x >= y || x.is_nan(), x, y),
        Prim::Atan2 => x.atan2(y),
        Prim::Hypot => x.hypot(y),
        Prim::Rem | Prim::Neg | Prim::Abs | Prim::Sin | Prim::Cos | Prim::Tan | Prim::Asin | Prim::Acos | Prim::Atan => return None,
        Prim::Sinh | Prim::Cosh | Prim::Tanh | Prim::Log | Prim::Exp | Prim::Sqrt | Prim::Erf | Prim::Lgamma => return None,
        Prim::Polygamma | Prim::Sign | Prim::Floor | Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => return None,
        Prim::Log1p | Prim::Expm1 | Prim::Erfc | Prim::Asinh | Prim::Acosh | Prim::Atanh | Prim::Cbrt | Prim::Exp2 => return None,
        Prim::Log2 | Prim::Log10 | Prim::Ceil | Prim::Round | Prim::Trunc | Prim::Sigmoid | Prim::Softplus => return None,
        Prim::And | Prim::Or | Prim::Not | Prim::ToDouble | Prim::ToIndex => return None,
    })
}

fn first_or(first: bool, x: f64, y: f64) -> f64 {
    if first { x } else { y }
}

/// Index arithmetic, wrapping; unary primitives ignore `y`. `None` for a division by zero or another
/// primitive.
pub fn index(prim: Prim, x: i64, y: i64) -> Option<i64> {
    match prim {
        Prim::Add => Some(x.wrapping_add(y)),
        Prim::Sub => Some(x.wrapping_sub(y)),
        Prim::Mul => Some(x.wrapping_mul(y)),
        Prim::Div if y != 0 => Some(x.wrapping_div(y)),
        Prim::Rem if y != 0 => Some(x.wrapping_rem(y)),
        Prim::Div | Prim::Rem => None,
        Prim::Neg => Some(x.wrapping_neg()),
        Prim::Abs => Some(x.wrapping_abs()),
        Prim::Min => Some(x.min(y)),
        Prim::Max => Some(x.max(y)),
        Prim::Pow | Prim::Sin | Prim::Cos | Prim::Tan | Prim::Asin | Prim::Acos | Prim::Atan | Prim::Sinh | Prim::Cosh => None,
        Prim::Tanh | Prim::Log | Prim::Exp | Prim::Sqrt | Prim::Atan2 | Prim::Erf | Prim::Lgamma | Prim::Polygamma => None,
        Prim::Sign | Prim::Floor | Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => None,
        Prim::Log1p | Prim::Expm1 | Prim::Erfc | Prim::Asinh | Prim::Acosh | Prim::Atanh | Prim::Cbrt | Prim::Hypot | Prim::Exp2 => None,
        Prim::Log2 | Prim::Log10 | Prim::Ceil | Prim::Round | Prim::Trunc | Prim::Sigmoid | Prim::Softplus => None,
        Prim::And | Prim::Or | Prim::Not | Prim::ToDouble | Prim::ToIndex => None,
    }
}

/// A comparison, also of Index and Bool operands; `None` for another primitive.
pub fn compare<T: PartialOrd>(prim: Prim, x: T, y: T) -> Option<bool> {
    match prim {
        Prim::Eq => Some(x == y),
        Prim::Ne => Some(x != y),
        Prim::Lt => Some(x < y),
        Prim::Le => Some(x <= y),
        Prim::Gt => Some(x > y),
        Prim::Ge => Some(x >= y),
        Prim::Add | Prim::Sub | Prim::Mul | Prim::Div | Prim::Rem | Prim::Pow | Prim::Neg | Prim::Min | Prim::Max => None,
        Prim::Abs | Prim::Sin | Prim::Cos | Prim::Tan | Prim::Asin | Prim::Acos | Prim::Atan | Prim::Sinh | Prim::Cosh => None,
        Prim::Tanh | Prim::Log | Prim::Exp | Prim::Sqrt | Prim::Atan2 | Prim::Erf | Prim::Lgamma | Prim::Polygamma => None,
        Prim::Sign | Prim::Floor | Prim::And | Prim::Or | Prim::Not | Prim::ToDouble | Prim::ToIndex => None,
        Prim::Log1p | Prim::Expm1 | Prim::Erfc | Prim::Asinh | Prim::Acosh | Prim::Atanh | Prim::Cbrt | Prim::Hypot | Prim::Exp2 => None,
        Prim::Log2 | Prim::Log10 | Prim::Ceil | Prim::Round | Prim::Trunc | Prim::Sigmoid | Prim::Softplus => None,
    }
}

/// The Double truncated towards zero; `None` when that is not an Index, or for a NaN.
pub fn to_index(x: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (-LIMIT..LIMIT).contains(&x).then_some(x as i64)
}

/// B₂ⱼ for j = 1 ….
const BERNOULLI: [f64; 10] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174_611.0 / 330.0,
];

/// The (k+1)-th derivative of `lgamma`: ψ for k = 0. NaN at the poles 0, -1, -2, … and for k outside 0 … 170.
pub fn polygamma(k: i64, x: f64) -> f64 {
    if !(0..=170).contains(&k) || x.is_nan() || x <= 0.0 && x == x.floor() {
        return f64::NAN;
    }
    if x < 0.0 {
        let mirrored = polygamma(k, 1.0 - x);
        return if k % 2 == 0 { mirrored } else { -mirrored } - cotangent_derivative(k as usize, x);
    }
    let sign = if k % 2 == 0 { -1.0 } else { 1.0 };
    let factorial: f64 = (1..=k).map(|j| j as f64).product();
    // ψₖ(x) = ψₖ(x + 1) - (-1)ᵏ k! / x^(k+1), until the series converges fast
    let (mut x, mut steps) = (x, 0.0);
    while x < 15.0 + k as f64 {
        steps += x.powi(-(k as i32) - 1);
        x += 1.0;
    }
    let leading = if k == 0 { -x.ln() } else { factorial / k as f64 * x.powi(-(k as i32)) };
    let mut series = leading + factorial / 2.0 * x.powi(-(k as i32) - 1);
    // B₂ⱼ (2j+k-1)! / ((2j)! x^(2j+k)), the factorials as running products
    let mut ratio = factorial / x.powi(k as i32);
    for (j, bernoulli) in (1..).zip(BERNOULLI) {
        let even = 2.0 * f64::from(j);
        // from (2j+k-3)!/(2j-2)! to (2j+k-1)!/(2j)!; for j = 1 from (k)! to (k+1)!/2!
        ratio *= if j == 1 { (k as f64 + 1.0) / 2.0 } else { (even + k as f64 - 2.0) * (even + k as f64 - 1.0) / (even * (even - 1.0)) };
        ratio /= x * x;
        series += bernoulli * ratio;
    }
    sign * (series + factorial * steps)
}

/// The k-th derivative of π cot(πx): a polynomial in c = cot(πx), by c' = -π (1 + c²).
fn cotangent_derivative(k: usize, x: f64) -> f64 {
    let angle = PI * (x - x.round());
    let cotangent = angle.cos() / angle.sin();
    let mut polynomial = vec![0.0, PI];
    for _ in 0..k {
        let mut next = vec![0.0; polynomial.len() + 1];
        for (power, coefficient) in polynomial.iter().enumerate().skip(1) {
            let slope = -PI * power as f64 * coefficient;
            next[power - 1] += slope;
            next[power + 1] += slope;
        }
        polynomial = next;
    }
    polynomial.iter().rev().fold(0.0, |sum, coefficient| sum * cotangent + coefficient)
}
