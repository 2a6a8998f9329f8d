//! Gradients through maxima and minima: of each other's values and from each other's values, of sums, in branches, under names.
//!
//! In: a seed. Out: an entry whose point has an element or more.
//!
//!     let p7 (z: Vector<n>) = gradient (fun v -> ifold (fun m1 i1 -> max (sin v[i1]) m1) (ifold (fun m2 i2 -> …) v[0] n) n) z

use super::random::Random;

/// So deep expressions are in each other at most.
const DEEP: usize = 4;

/// The entry of a seed, called `p` and its number.
pub fn entry(seed: u64) -> String {
    let mut grower = Grower { random: Random::new(seed), indices: Vec::new(), fresh: 0 };
    let body = grower.fold(DEEP);
    let form = ["gradient", "gradient", "hessian"][grower.random.below(3)];
    format!("let p{seed} (z: Vector<n>) = {form} (fun v -> {body}) z\n")
}

struct Grower {
    random: Random,
    /// The indices of the loops around.
    indices: Vec<String>,
    fresh: usize,
}

impl Grower {
    fn name(&mut self, of: &str) -> String {
        self.fresh += 1;
        format!("{of}{}", self.fresh)
    }

    fn element(&mut self) -> String {
        let index = match self.indices.len() {
            0 => "0".to_string(),
            count => self.indices[self.random.below(count)].clone(),
        };
        match self.random.below(4) {
            0 => format!("v[n - 1 - {index}]"),
            1 => "v[n - 1]".to_string(),
            _ => format!("v[{index}]"),
        }
    }

    fn expr(&mut self, depth: usize) -> String {
        if depth == 0 {
            return if self.random.chance(80) { self.element() } else { "0.3".to_string() };
        }
        match self.random.below(9) {
            0 => format!("sin ({})", self.expr(depth - 1)),
            1 => format!("({} * {})", self.expr(depth - 1), self.element()),
            2 => format!("({} - {})", self.expr(depth - 1), self.expr(depth - 1)),
            3 => format!("(if {} > 0.2 then {} else {})", self.element(), self.expr(depth - 1), self.expr(depth - 1)),
            4 => {
                let name = self.name("a");
                format!("(let {name} = {} in {name} * {name} + {name})", self.expr(depth - 1))
            }
            5 => self.element(),
            6 => format!("min ({}) ({})", self.expr(depth - 1), self.element()),
            _ => self.fold(depth),
        }
    }

    /// A fold, mostly one that keeps a largest or smallest value.
    fn fold(&mut self, depth: usize) -> String {
        let (m, i) = (self.name("m"), self.name("i"));
        let init = self.expr(depth - 1);
        self.indices.push(i.clone());
        let value = self.expr(depth - 1);
        self.indices.pop();
        let op = if self.random.chance(50) { "max" } else { "min" };
        let step = match self.random.below(6) {
            0 => format!("{m} + 0.5 * ({value})"),
            1 => format!("{op} {m} ({value} * {m})"),
            2 => format!("let u = {value} in {op} u {m}"),
            3 => format!("{op} ({value}) {m}"),
            _ => format!("{op} {m} ({value})"),
        };
        let count = ["n", "n", "(n - 1)", "1"][self.random.below(4)];
        format!("(ifold (fun {m} {i} -> {step}) ({init}) {count})")
    }
}
