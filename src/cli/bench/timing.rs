//! Samples of calls, in turns, and what they say.
//!
//! In: calls that are ready to be made. Out: for each the median of its samples, with the interval that holds the true median
//! with a probability of 95 % whatever the distribution (from the order statistics), the least and the most. A sample is as
//! many calls as fill [`SAMPLE`], after one that brings the data near.

use std::time::{Duration, Instant};

use crate::diagnostic::Diagnostic;
use crate::toolchain::call::Prepared;

/// Rounds, each a sample of every side; fewer where a call takes long.
const ROUNDS: usize = 41;
const FEWEST: usize = 5;
/// How long a sample lasts at least, and all of them at most, but for the fewest.
const SAMPLE: Duration = Duration::from_millis(5);
const TOTAL: Duration = Duration::from_secs(10);

/// Seconds for a call.
pub struct Times {
    pub median: f64,
    pub interval: [f64; 2],
    pub min: f64,
    pub max: f64,
    pub samples: usize,
    /// Calls in each sample.
    pub calls: usize,
}

/// Times all sides, which take turns.
pub fn in_turns(sides: &mut [Prepared]) -> Result<Vec<Times>, Diagnostic> {
    let start = Instant::now();
    let mut calls = Vec::new();
    for side in sides.iter_mut() {
        calls.push(calls_for_a_sample(side)?);
    }
    let mut samples = vec![Vec::new(); sides.len()];
    for round in 0..ROUNDS {
        if round >= FEWEST && start.elapsed() > TOTAL {
            break;
        }
        for turn in 0..sides.len() {
            let at = (turn + round) % sides.len();
            // not timed
            sides[at].call()?;
            samples[at].push(time(&mut sides[at], calls[at])? / calls[at] as f64);
        }
    }
    Ok(samples.into_iter().zip(calls).map(|(samples, calls)| summary(samples, calls)).collect())
}

fn calls_for_a_sample(side: &mut Prepared) -> Result<usize, Diagnostic> {
    let mut count = 1;
    loop {
        let seconds = time(side, count)?;
        if seconds >= SAMPLE.as_secs_f64() / 2.0 {
            return Ok(((count as f64 * SAMPLE.as_secs_f64() / seconds).ceil() as usize).max(1));
        }
        count *= 2;
    }
}

fn time(side: &mut Prepared, count: usize) -> Result<f64, Diagnostic> {
    let start = Instant::now();
    for _ in 0..count {
        side.call()?;
    }
    Ok(start.elapsed().as_secs_f64())
}

fn summary(mut samples: Vec<f64>, calls: usize) -> Times {
    samples.sort_by(f64::total_cmp);
    let count = samples.len();
    let at = |place: usize| samples.get(place).copied().unwrap_or_default();
    let median = (at(count.saturating_sub(1) / 2) + at(count / 2)) / 2.0;
    let rank = rank(count);
    Times {
        median,
        interval: [at(rank), at((count - 1).saturating_sub(rank))],
        min: at(0),
        max: at(count.saturating_sub(1)),
        samples: count,
        calls,
    }
}

/// How many of so many draws may be left out at either end: the probability that more are on one side of the median is at most
/// 2.5 %.
fn rank(count: usize) -> usize {
    let mut exactly = 0.5f64.powi(count as i32);
    let (mut at_most, mut rank) = (exactly, 0);
    while rank + 1 < count / 2 {
        exactly *= (count - rank) as f64 / (rank + 1) as f64;
        if at_most + exactly > 0.025 {
            break;
        }
        at_most += exactly;
        rank += 1;
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_order_statistics() {
        // of 41 draws the 14th and the 28th
        assert_eq!((rank(41), rank(5), rank(1), rank(0)), (13, 0, 0, 0));
        let times = summary((1..=41).rev().map(f64::from).collect(), 7);
        assert_eq!((times.median, times.interval, times.min, times.max), (21.0, [14.0, 28.0], 1.0, 41.0));
    }
}
