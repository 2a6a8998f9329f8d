//! A small source of pseudo-random numbers (SplitMix64): one seed, one sequence, on every machine.
//!
//! A fuzzer gives bytes instead of a seed: each small choice takes one of them, so that a changed byte is a changed choice.

#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    /// Choices that are made already, the next one last.
    chosen: Vec<u8>,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d, chosen: Vec::new() }
    }

    /// Chooses by these bytes; by those of seed 0 when there are no more.
    pub fn of_bytes(bytes: &[u8]) -> Random {
        Random { chosen: bytes.iter().rev().copied().collect(), ..Random::new(0) }
    }

    /// Other choices of the same seed, which change none of these.
    pub fn apart(&self) -> Random {
        Random { state: self.state.rotate_left(32), chosen: Vec::new() }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let n = n.max(1);
        match if n <= 256 { self.chosen.pop() } else { None } {
            Some(byte) => usize::from(byte) % n,
            None => (self.next() % n as u64) as usize,
        }
    }

    /// True `percent` times in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of several words.
    pub fn word(&mut self, items: &[&'static str]) -> &'static str {
        items[self.below(items.len())]
    }

    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
