//! Derivatives along a line by central differences that adapt, with how far they can be trusted.
//!
//! In: the values of a function at x ± h, for steps h from coarse to fine, four times finer each. Out: for each result a slope
//! with a bound of its error, or why there is none: a kink, a value that is not defined on both sides. Three steps in a row
//! are extrapolated to h = 0 twice (Romberg); of all such windows the one counts whose error is least, the error being what
//! the last extrapolation changed and what rounding can do at that step. Where finer windows say something else, nothing is
//! known: a step of the function is then smaller than the steps here, or larger than any.
//!
//! A kink is where the slopes from the left and from the right differ, however fine the step: in a smooth function their
//! difference goes to 0 with h.
//!
//!     x², 3 ± 0.25, 3 ± 0.0625, …   →   6, error 1e-13        |x|, 0 ± 0.25, …   →   a kink from -1 to 1

/// Each step is a quarter of the one before.
pub const RATIO: f64 = 4.0;

/// The values on both sides of the point at one step.
#[derive(Clone, Debug)]
pub struct Level {
    /// How far the two points are from the point itself, as rounded.
    pub ahead: f64,
    pub behind: f64,
    pub values: Option<[Vec<f64>; 2]>,
    /// The largest magnitude that was met on the way to them.
    pub largest: f64,
}

/// What is known of a slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slope {
    Known {
        value: f64,
        error: f64,
    },
    /// No derivative here: the slopes on the left and on the right.
    Kink {
        left: f64,
        right: f64,
    },
    /// The function has no finite value here, or on one side.
    Undefined,
    /// The steps contradict each other.
    Unclear,
}

/// One step's quotients for one result.
struct Quotient {
    central: f64,
    left: f64,
    right: f64,
    /// What rounding may add to each.
    noise: f64,
}

/// One window of three steps.
struct Window {
    value: f64,
    error: f64,
    /// How much the slope on the right is more than that on the left, extrapolated, and what rounding may add.
    jump: f64,
    noise: f64,
    left: f64,
    right: f64,
}

/// The slope of result number `at`, whose value at the point is `base`.
pub fn slope(levels: &[Level], at: usize, base: f64, slip: f64) -> Slope {
    if !base.is_finite() {
        return Slope::Undefined;
    }
    let quotients: Vec<Option<Quotient>> = levels.iter().map(|level| quotient(level, at, base, slip)).collect();
    let windows: Vec<Option<Window>> = quotients.windows(3).map(window).collect();
    let found = || windows.iter().enumerate().filter_map(|(place, window)| window.as_ref().map(|window| (place, window)));
    let Some((place, best)) = found().min_by(|(_, a), (_, b)| a.error.total_cmp(&b.error)) else {
        return Slope::Undefined;
    };
    // which of the steps beside this one is finer, or else coarser
    let beside = found().find(|(other, _)| *other == place + 1).or_else(|| found().find(|(other, _)| *other + 1 == place));
    let lasts = match beside {
        Some((other, window)) if other > place => window.jump.abs() > 0.7 * best.jump.abs() && window.jump.abs() > 50.0 * window.noise,
        Some((_, window)) => best.jump.abs() > 0.7 * window.jump.abs(),
        None => false,
    };
    if lasts && best.jump.abs() > 2e-7 * best.left.abs().max(best.right.abs()) + 50.0 * best.noise {
        return Slope::Kink { left: best.left, right: best.right };
    }
    let contradicts = |window: &Window| (window.value - best.value).abs() > 20.0 * (window.error + best.error);
    if found().any(|(other, window)| other > place && contradicts(window)) {
        return Slope::Unclear;
    }
    Slope::Known { value: best.value, error: best.error }
}

fn quotient(level: &Level, at: usize, base: f64, slip: f64) -> Option<Quotient> {
    let [ahead, behind] = level.values.as_ref()?;
    let (ahead, behind) = (*ahead.get(at)?, *behind.get(at)?);
    let central = (ahead - behind) / (level.ahead + level.behind);
    if !ahead.is_finite() || !behind.is_finite() || !central.is_finite() {
        return None;
    }
    let (right, left) = ((ahead - base) / level.ahead, (base - behind) / level.behind);
    let noise = 4.0 * f64::EPSILON * (level.largest + slip * central.abs()) / level.ahead.min(level.behind);
    Some(Quotient { central, left, right, noise })
}

fn window(steps: &[Option<Quotient>]) -> Option<Window> {
    let [Some(coarse), Some(middle), Some(fine)] = steps else { return None };
    let extrapolated = |coarse: f64, fine: f64, power: i32| (RATIO.powi(power) * fine - coarse) / (RATIO.powi(power) - 1.0);
    let (first, second) = (extrapolated(coarse.central, middle.central, 2), extrapolated(middle.central, fine.central, 2));
    let value = extrapolated(first, second, 4);
    let jump = extrapolated(middle.right - middle.left, fine.right - fine.left, 1);
    let error = (value - second).abs() + fine.noise;
    let is_finite = value.is_finite() && error.is_finite() && jump.is_finite();
    is_finite.then_some(Window { value, error, jump, noise: fine.noise, left: fine.left, right: fine.right })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slope of a function at a point as a command would take it.
    fn at(x: f64, f: impl Fn(f64) -> f64) -> Slope {
        let scale = x.abs().max(1.0);
        let levels: Vec<Level> = (0..13)
            .map(|step| {
                let h = scale * 0.125 * RATIO.powi(-step);
                let (ahead, behind) = (x + h, x - h);
                let values = [f(ahead), f(behind)];
                let largest = values.iter().fold(x.abs(), |largest, value| largest.max(value.abs()));
                Level { ahead: ahead - x, behind: x - behind, values: Some(values.map(|value| vec![value])), largest }
            })
            .collect();
        slope(&levels, 0, f(x), 0.0)
    }

    #[test]
    fn smooth_functions_have_slopes_of_ten_digits() {
        for (x, f, wanted) in [
            (3.0, (|x| x * x) as fn(f64) -> f64, 6.0),
            (1.0, f64::sin, 1f64.cos()),
            (0.0, |x: f64| x.powi(4), 0.0),
            (20.0, f64::exp, 20f64.exp()),
            (1e-3, |x| 1.0 / x, -1e6),
            (1e100, |x| x * 3.0, 3.0),
            (0.5, |x: f64| (1e3 * x).sin(), 1e3 * 500f64.cos()),
            (2.0, |_| 7.0, 0.0),
        ] {
            let Slope::Known { value, error } = at(x, f) else { panic!("at {x}: {:?}", at(x, f)) };
            assert!((value - wanted).abs() <= 1e-9 * wanted.abs().max(1e-3), "at {x}: {value} for {wanted}");
            assert!((value - wanted).abs() <= 20.0 * error && error <= 1e-8 * wanted.abs().max(1.0), "at {x}: {value}, {error}");
        }
    }

    #[test]
    fn where_there_is_none_it_is_said() {
        assert_eq!(at(0.0, f64::abs), Slope::Kink { left: -1.0, right: 1.0 });
        assert_eq!(at(0.0, |x: f64| x.max(0.0)), Slope::Kink { left: 0.0, right: 1.0 });
        assert!(matches!(at(2.0, f64::floor), Slope::Kink { .. }));
        assert!(matches!(at(1.0 + 1e-13, |x: f64| (x - 1.0).abs()), Slope::Kink { .. } | Slope::Unclear));
        assert_eq!(at(0.0, f64::sqrt), Slope::Undefined);
        assert_eq!(at(0.0, |x: f64| 1.0 / x), Slope::Undefined);
        assert_eq!(at(1e200, |x| x * x), Slope::Undefined);
        // ripples below every step that shows them whole
        let hidden = at(1.0, |x: f64| (1e12 * x).sin());
        assert!(!matches!(hidden, Slope::Known { error, .. } if error < 1e3), "{hidden:?}");
    }
}
