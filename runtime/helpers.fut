-- What emitted Futhark may need: each definition is put into a file that uses it.

-- | The smaller number; a NaN stays.
def fmin (x: f64) (y: f64) : f64 =
  if x <= y || f64.isnan x then x else y

-- | The larger number; a NaN stays.
def fmax (x: f64) (y: f64) : f64 =
  if x >= y || f64.isnan x then x else y

-- | The sign of a number; a NaN stays.
def sign (x: f64) : f64 =
  if x > 0.0 then 1.0 else if x < 0.0 then -1.0 else if f64.isnan x then x else 0.0

-- | A power of 2.
def smooth_exp2 (x: f64) : f64 = 2.0 ** x

-- | exp x - 1, without the digits that the difference would lose; below -40 it is -1.
def smooth_expm1 (x: f64) : f64 =
  if x < -40.0 then -1.0 else 2.0 * f64.sinh (0.5 * x) * f64.exp (0.5 * x)

-- | 1 / (1 + exp (-x)); the exponential is of no positive number, so that it does not overflow.
def smooth_sigmoid (x: f64) : f64 =
  let e = f64.exp (-(f64.abs x))
  in (if x >= 0.0 then 1.0 else e) / (1.0 + e)

-- | log (1 + exp x), by what it is beyond the larger of x and 0.
def smooth_softplus (x: f64) : f64 =
  (if x > 0.0 then x else 0.0) + f64.log1p (f64.exp (-(f64.abs x)))

-- | The whole number on the way to 0; Futhark's own for f32 goes through an int.
def smooth_trunc (x: f64) : f64 =
  if x < 0.0 then f64.ceil x else f64.floor x

-- | Equality that is false of a NaN also where both are known to be one number.
def eq (x: f64) (y: f64) : bool = x == y && !(f64.isnan x)

-- | Inequality that is true of a NaN also where both are known to be one number.
def ne (x: f64) (y: f64) : bool = x != y || f64.isnan x

-- | An order that is false of a NaN also where both are known to be one number.
def le (x: f64) (y: f64) : bool = x <= y && !(f64.isnan x)

-- | An order that is false of a NaN also where both are known to be one number.
def ge (x: f64) (y: f64) : bool = x >= y && !(f64.isnan x)

-- | A quotient that truncates; the smallest number divided by -1 is itself.
def quot (a: i64) (b: i64) : i64 = if b == -1 then -a else a // b

-- | The remainder of a quotient that truncates; the compiler would fold `a %% a` to 1.
def rem (a: i64) (b: i64) : i64 = a - quot a b * b

-- | A power; the compiler would fold `0.0 ** y` to 0.0 for every y.
def power (x: f64) (y: f64) : f64 =
  if x == 0.0 && !(y > 0.0)
  then if y == 0.0 then 1.0 else (1.0 / x) ** (-y)
  else x ** y

-- | A quotient; the compiler would fold `0.0 / y` to 0.0 for every y.
def ratio (x: f64) (y: f64) : f64 =
  (if x == 0.0 then f64.min x (f64.abs y) else x) / y

-- | A sum; the compiler would fold `0.0 + y` to y, also where that is -0.0.
def plus (x: f64) (y: f64) : f64 =
  if x == 0.0 && y == 0.0
  then if 1.0 / x < 0.0 && 1.0 / y < 0.0 then x else 0.0
  else x + y

-- | What holds where no element is read out of bounds.
def bounds (holds: bool) : bool = holds

-- | What holds where lengths agree.
def shape (holds: bool) : bool = holds

-- | What holds where no count is negative.
def negative (holds: bool) : bool = holds

-- | What holds where no divisor is zero.
def div_zero (holds: bool) : bool = holds

-- | What holds where numbers are in their range.
def range (holds: bool) : bool = holds

-- | What holds where recursion ends within its measure.
def workspace (holds: bool) : bool = holds

-- | A number of elements or steps, which must not be negative.
def count (n: i64) : i64 = assert (negative (0 <= n)) n

-- | The integer part of a number, which must fit.
def to_index (x: f64) : i64 =
  i64.f64 (assert (range (x >= -9223372036854775808.0 && x < 9223372036854775808.0)) x)

-- | The (k+1)-th derivative of lgamma: recurrence up to x >= 10 + k, then the asymptotic series.
def polygamma_right (k: i64) (x: f64) : f64 =
  let bernoulli: [12]f64 =
    [ 1.0 / 6.0
    , -1.0 / 30.0
    , 1.0 / 42.0
    , -1.0 / 30.0
    , 5.0 / 66.0
    , -691.0 / 2730.0
    , 7.0 / 6.0
    , -3617.0 / 510.0
    , 43867.0 / 798.0
    , -174611.0 / 330.0
    , 854513.0 / 138.0
    , -236364091.0 / 2730.0
    ]
  let order = f64.i64 k
  let factorial = f64.product (map (\j -> f64.i64 (j + 1)) (iota k))
  let (sum, x) =
    loop (sum, x) = (0.0, x)
    while x < 10.0 + order do
      (sum + x ** (-order - 1.0), x + 1.0)
  in if k == 0
     then let start = f64.log x - 0.5 / x
          let (series, _) =
            loop (series, power) = (start, 1.0)
            for m < 12 do
              let power = power / (x * x)
              in (series - bernoulli[m] / (2.0 * f64.i64 (m + 1)) * power, power)
          in series - sum
     else let start =
            factorial / order * x ** (-order) + 0.5 * factorial * x ** (-order - 1.0)
          let (series, _) =
            loop (series, term) = (start, factorial)
            for m < 12 do
              let two = 2.0 * f64.i64 (m + 1)
              let term =
                if m == 0
                then factorial * (order + 1.0) / 2.0
                else term * (two + order - 2.0) * (two + order - 1.0) / ((two - 1.0) * two)
              in (series + bernoulli[m] * term * x ** (-order - two), term)
          let series = series + factorial * sum
          in if k %% 2 == 0 then -series else series

-- | The (k+1)-th derivative of lgamma; a negative x by reflection for k = 0, by the recurrence otherwise.
def polygamma (k: i64) (x: f64) : f64 =
  if k < 0 || f64.isnan x
  then f64.nan
  else if x <= 0.0 && f64.floor x == x
  then if k %% 2 == 0 then f64.nan else f64.inf
  else if k == 0 && x < 0.0
  then polygamma_right 0 (1.0 - x) - f64.pi / f64.tan (f64.pi * x)
  else if x < -1.0e6
  then f64.nan
  else polygamma_right k x
