//! Going back over a straight line of operations, in each stage's way, with what that costs.
//!
//! In: a record. Out: the cotangents of the point's Doubles, and counts: an operation on Doubles is arithmetic, keys of maps are
//! compared (a map of k entries takes ⌈log2 (k + 1)⌉ comparisons), and elements of cotangents, lists, maps and arrays are read and
//! written. The slopes of the operations are known; going back multiplies by them.

use std::collections::{BTreeMap, HashMap};

use super::Stage;
use crate::diagnostic::Diagnostic;
use crate::ir::eval::{Counts, Entry, Operand, Record, Value};
use crate::ir::prim::Derivative;
use crate::trace::broken;
use crate::trace::law::{Laws, Operation, Term};

/// A stage that takes more is given up.
pub const MOST: u64 = 10_000_000;

/// The operations that the point reaches: numbers of operands with the slopes in them. The point's Doubles are the first numbers.
#[derive(Debug)]
pub struct Straight {
    inputs: usize,
    parts: Vec<Vec<(usize, f64)>>,
    /// The cotangents of the result.
    seeds: Vec<(usize, f64)>,
}

impl Straight {
    /// The function under the record's derivative; without one all that was recorded, with a cotangent of 1 for each Double of the
    /// result.
    pub fn of(record: &Record) -> Result<Straight, Diagnostic> {
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let point: Vec<usize> = match &record.derivative {
            Some(point) => point.places.clone(),
            None => record.entries.iter().enumerate().filter(|(_, entry)| matches!(entry, Entry::Input { .. })).map(|(at, _)| at).collect(),
        };
        point.iter().for_each(|place| {
            let number = numbers.len();
            numbers.insert(*place, number);
        });
        let (mut laws, mut parts) = (Laws::default(), Vec::new());
        let term = |operand: &Operand| match operand {
            Operand::Constant(value) => Term::constant(*value),
            Operand::Place(place) => Term::name(String::new(), record.entries.get(*place).map_or(f64::NAN, Entry::value)),
        };
        for (place, entry) in record.entries.iter().enumerate() {
            let Entry::Operation { prim, order, operands, value } = entry else { continue };
            let (result, adjoint) = (Term::name(String::new(), *value), Term::name(String::new(), 1.0));
            let of_both = operands.iter().all(|operand| matches!(operand, Operand::Place(place) if numbers.contains_key(place)));
            let terms = operands.iter().map(term).collect();
            let operation = Operation { prim: *prim, order: *order, operands: terms, result, adjoint, of_both };
            let mut own = Vec::new();
            for (at, operand) in operands.iter().enumerate() {
                if let Operand::Place(place) = operand
                    && let Some(number) = numbers.get(place)
                    && let Some(share) = laws.share(&operation, at).ok_or_else(|| broken(*prim))?
                {
                    own.push((*number, share.value));
                }
            }
            let is_reached = operands.iter().any(|operand| matches!(operand, Operand::Place(place) if numbers.contains_key(place)));
            if is_reached && prim.row().derivative != Derivative::Zero {
                numbers.insert(place, point.len() + parts.len());
                parts.push(own);
            }
        }
        let mut straight = Straight { inputs: point.len(), parts, seeds: Vec::new() };
        let weight = |operand: &Operand| match operand {
            Operand::Constant(value) => *value,
            Operand::Place(place) => record.entries.get(*place).map_or(f64::NAN, Entry::value),
        };
        straight.seed(&record.result, record.derivative.as_ref().map(|point| &point.cotangent), &numbers, &weight);
        Ok(straight)
    }

    fn seed(
        &mut self,
        result: &Value<Operand>,
        cotangent: Option<&Value<Operand>>,
        numbers: &HashMap<usize, usize>,
        weight: &dyn Fn(&Operand) -> f64,
    ) {
        match (result, cotangent) {
            (Value::Double(Operand::Place(place)), cotangent) => {
                let own = match cotangent {
                    Some(Value::Double(own)) => weight(own),
                    Some(_) | None => 1.0,
                };
                self.seeds.extend(numbers.get(place).map(|number| (*number, own)));
            }
            (result, cotangent) => {
                for (at, result) in result.items().iter().enumerate() {
                    self.seed(result, cotangent.and_then(|cotangent| cotangent.items().get(at)), numbers, weight);
                }
            }
        }
    }

    /// The number of operations that the point reaches.
    pub fn operations(&self) -> usize {
        self.parts.len()
    }

    fn parts(&self, number: usize) -> &[(usize, f64)] {
        number.checked_sub(self.inputs).and_then(|at| self.parts.get(at)).map_or(&[], Vec::as_slice)
    }

    /// The way back: the cotangents of the point, and what it took. `None` for one that takes too long.
    pub fn back(&self, stage: Stage) -> Option<(Vec<f64>, Counts)> {
        let mut counts = Counts::default();
        let cotangents = match stage {
            Stage::Backpropagators => self.by_calls(&mut counts)?,
            Stage::Staging => self.by_staged_calls(&mut counts)?,
            Stage::Factoring => self.by_factored_calls(&mut counts)?,
            Stage::Cayley => self.by_maps(&mut counts)?,
            Stage::Arrays => self.by_arrays(&mut counts, false),
            Stage::Tape => self.by_arrays(&mut counts, true),
        };
        Some((cotangents, counts))
    }

    /// Each backpropagator calls those of its operands, and adds up whole cotangents.
    fn by_calls(&self, counts: &mut Counts) -> Option<Vec<f64>> {
        let mut sum = self.zero(counts);
        for (number, own) in &self.seeds {
            let share = self.call(*number, *own, counts)?;
            self.plus(&mut sum, &share, counts);
        }
        Some(sum)
    }

    fn call(&self, number: usize, z: f64, counts: &mut Counts) -> Option<Vec<f64>> {
        within(counts)?;
        let mut sum = self.zero(counts);
        if let Some(own) = sum.get_mut(number) {
            *own = z;
        }
        for (at, (operand, slope)) in self.parts(number).iter().enumerate() {
            counts.arithmetic += 1;
            let share = self.call(*operand, slope * z, counts)?;
            if at == 0 {
                sum = share;
            } else {
                self.plus(&mut sum, &share, counts);
            }
        }
        Some(sum)
    }

    fn zero(&self, counts: &mut Counts) -> Vec<f64> {
        counts.writes += self.inputs as u64;
        vec![0.0; self.inputs]
    }

    fn plus(&self, sum: &mut [f64], share: &[f64], counts: &mut Counts) {
        sum.iter_mut().zip(share).for_each(|(sum, share)| *sum += share);
        counts.arithmetic += self.inputs as u64;
        counts.reads += 2 * self.inputs as u64;
        counts.writes += self.inputs as u64;
    }

    /// Delayed calls, each with one argument: the largest number first.
    fn by_staged_calls(&self, counts: &mut Counts) -> Option<Vec<f64>> {
        let mut sum = self.zero(counts);
        let mut staged: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let delay = |staged: &mut BTreeMap<usize, Vec<f64>>, number: usize, z: f64, counts: &mut Counts| {
            look_up(staged.len(), counts);
            counts.writes += 1;
            staged.entry(number).or_default().push(z);
        };
        for (number, own) in &self.seeds {
            delay(&mut staged, *number, *own, counts);
        }
        while let Some((number, arguments)) = staged.pop_last() {
            look_up(staged.len(), counts);
            for z in arguments {
                within(counts)?;
                counts.reads += 1;
                self.one_hot(&mut sum, number, z, counts);
                for (operand, slope) in self.parts(number) {
                    counts.arithmetic += 1;
                    delay(&mut staged, *operand, slope * z, counts);
                }
            }
        }
        Some(sum)
    }

    /// What each call does with whole cotangents: a zero for each `SCall`, a one-hot one for an input, and their sum.
    fn one_hot(&self, sum: &mut [f64], number: usize, z: f64, counts: &mut Counts) {
        let mut own = self.zero(counts);
        if let Some(own) = own.get_mut(number) {
            *own = z;
        }
        for _ in self.parts(number).iter().skip(1) {
            let other = self.zero(counts);
            self.plus(&mut own, &other, counts);
        }
        self.plus(sum, &own, counts);
    }

    /// Delayed calls, those of one number in one.
    fn by_factored_calls(&self, counts: &mut Counts) -> Option<Vec<f64>> {
        let mut sum = self.zero(counts);
        let mut staged: BTreeMap<usize, f64> = BTreeMap::new();
        for (number, own) in &self.seeds {
            contribute(&mut staged, *number, *own, counts);
        }
        while let Some((number, z)) = staged.pop_last() {
            within(counts)?;
            // the highest key, what is there, and its removal
            (0..3).for_each(|_| look_up(staged.len(), counts));
            counts.reads += 1;
            self.one_hot(&mut sum, number, z, counts);
            for (operand, slope) in self.parts(number) {
                counts.arithmetic += 1;
                contribute(&mut staged, *operand, slope * z, counts);
            }
        }
        Some(sum)
    }

    /// The same without whole cotangents: two maps.
    fn by_maps(&self, counts: &mut Counts) -> Option<Vec<f64>> {
        let (mut collected, mut staged) = (BTreeMap::new(), BTreeMap::new());
        for (number, own) in &self.seeds {
            contribute(&mut staged, *number, *own, counts);
        }
        while let Some((number, z)) = staged.pop_last() {
            within(counts)?;
            (0..3).for_each(|_| look_up(staged.len(), counts));
            counts.reads += 1;
            if number < self.inputs {
                contribute(&mut collected, number, z, counts);
            }
            for (operand, slope) in self.parts(number) {
                counts.arithmetic += 1;
                contribute(&mut staged, *operand, slope * z, counts);
            }
        }
        counts.reads += self.inputs as u64;
        counts.writes += self.inputs as u64;
        Some((0..self.inputs).map(|number| collected.get(&number).copied().unwrap_or(0.0)).collect())
    }

    /// An array with an element for each number; a tape also reads the slopes that it holds, which closures have.
    fn by_arrays(&self, counts: &mut Counts, is_tape: bool) -> Vec<f64> {
        let mut contributions = vec![0.0; self.inputs + self.parts.len()];
        counts.writes += contributions.len() as u64;
        let add = |contributions: &mut Vec<f64>, number: usize, z: f64, counts: &mut Counts| {
            if let Some(own) = contributions.get_mut(number) {
                *own += z;
            }
            counts.arithmetic += 1;
            counts.reads += 1;
            counts.writes += 1;
        };
        for (number, own) in &self.seeds {
            add(&mut contributions, *number, *own, counts);
        }
        for number in (self.inputs..contributions.len()).rev() {
            let z = contributions[number];
            counts.reads += 1;
            for (operand, slope) in self.parts(number) {
                counts.arithmetic += 1;
                counts.reads += u64::from(is_tape);
                add(&mut contributions, *operand, slope * z, counts);
            }
        }
        counts.reads += self.inputs as u64;
        counts.writes += self.inputs as u64;
        contributions.truncate(self.inputs);
        contributions
    }
}

/// Adds to what a map has for a number.
fn contribute(map: &mut BTreeMap<usize, f64>, number: usize, z: f64, counts: &mut Counts) {
    look_up(map.len(), counts);
    match map.get_mut(&number) {
        Some(own) => {
            *own += z;
            counts.arithmetic += 1;
            counts.reads += 1;
        }
        None => _ = map.insert(number, z),
    }
    counts.writes += 1;
}

/// Finds a key in a balanced tree.
fn look_up(entries: usize, counts: &mut Counts) {
    counts.comparisons += u64::from((entries + 1).next_power_of_two().trailing_zeros());
}

fn within(counts: &Counts) -> Option<()> {
    (counts.arithmetic + counts.comparisons + counts.reads + counts.writes <= MOST).then_some(())
}
