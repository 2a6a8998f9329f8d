//! The type that a Double has in emitted code: `f64`, or `f32` with `--real f32`.
//!
//! The one place that knows how either is spelled in C and Futhark, how many lanes of a vector it fills, and how it
//! is printed. Everything before `emit` computes with Doubles and knows nothing of it, but for the workspace, whose
//! rooms stay aligned; the interpreter always computes in 64 bits, as what emitted code is held against.
//!
//!     f32:   2.0 * sin x   →   2.0f * sinf(x)   in C,   2.0 * f32.sin x   in Futhark
//!
//! Helpers of `runtime/` follow libm: the name for floats has an `f` at its end.

/// See the module's head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Real {
    #[default]
    F64,
    F32,
}

impl Real {
    /// The type in C.
    pub fn c(self) -> &'static str {
        match self {
            Real::F64 => "double",
            Real::F32 => "float",
        }
    }

    /// The type in Futhark, and the module of its functions.
    pub fn futhark(self) -> &'static str {
        match self {
            Real::F64 => "f64",
            Real::F32 => "f32",
        }
    }

    /// A literal in C: the shortest that reads back exactly.
    pub fn literal(self, value: f64) -> String {
        let ty = self.c();
        match self.round(value) {
            value if value.is_nan() => format!("({ty})NAN"),
            f64::INFINITY => format!("({ty})INFINITY"),
            f64::NEG_INFINITY => format!("-({ty})INFINITY"),
            value => format!("{}{}", self.digits(value), self.suffix()),
        }
    }

    /// The name of a function of libm or `runtime/` on numbers of this type: `sin`, `sinf`.
    pub fn function(self, name: &str) -> String {
        format!("{name}{}", self.suffix())
    }

    fn suffix(self) -> &'static str {
        match self {
            Real::F64 => "",
            Real::F32 => "f",
        }
    }

    /// How many rows a tile has: as many numbers as 64 bytes hold.
    pub fn lanes(self) -> usize {
        match self {
            Real::F64 => 8,
            Real::F32 => 16,
        }
    }

    /// Whether any number of them takes a multiple of eight bytes.
    pub fn keeps_alignment(self) -> bool {
        match self {
            Real::F64 => true,
            Real::F32 => false,
        }
    }

    /// The number of this type that is nearest.
    pub fn round(self, value: f64) -> f64 {
        match self {
            Real::F64 => value,
            Real::F32 => f64::from(value as f32),
        }
    }

    /// The shortest decimal number that reads back as this one; for finite numbers of this type.
    pub fn digits(self, value: f64) -> String {
        match self {
            Real::F64 => format!("{value:?}"),
            Real::F32 => format!("{:?}", value as f32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_of_their_type() {
        for (value, double, float) in [
            (0.1, "0.1", "0.1f"),
            (-2.0, "-2.0", "-2.0f"),
            (1e300, "1e300", "(float)INFINITY"),
            (1e-300, "1e-300", "0.0f"),
            (1e20, "1e20", "1e20f"),
            (1.0 / 3.0, "0.3333333333333333", "0.33333334f"),
            (f64::NEG_INFINITY, "-(double)INFINITY", "-(float)INFINITY"),
            (f64::NAN, "(double)NAN", "(float)NAN"),
        ] {
            assert_eq!(Real::F64.literal(value), double);
            assert_eq!(Real::F32.literal(value), float);
        }
    }
}
