//! Indexes that are in range, and others put among them: emitted C refuses what the interpreter refuses, and reads only what it reads.
//!
//! Each entry reads an element, or a gradient of a read, at an Index that arrays, branches, loops and updates hand on: some come from
//! arrays whose Indexes are in range, one is a parameter that need not be. Programs are drawn at random, `SMOOTHC_SEED=n` for others, and
//! run under sanitizers.

use smoothc::cli::args::Arguments;

use crate::support::{agree, engine, native, tools};

const ENTRIES: usize = 60;

/// A linear congruential generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }

    /// An array of m Indexes.
    fn array(&mut self, depth: usize) -> String {
        if depth == 0 {
            return ["q", "q", "build m (fun t -> k)", "vectorRange m"][self.below(4)].into();
        }
        let (array, index) = (self.array(depth - 1), self.index(depth - 1));
        match self.below(7) {
            0 => format!("update ({array}) 0 ({index})"),
            1 => format!("update ({array}) (m - 1) ({index})"),
            2 => format!("(if k > 1 then {array} else {})", self.array(depth - 1)),
            3 => format!("build m (fun t -> if t = 0 then {index} else ({array})[t])"),
            4 => format!("vectorMap ({array}) (fun e -> min e ({index}))"),
            5 => format!("fst (ifold (fun (p, s) t -> (update p t ({index}), s + p[t])) ({array}, 0) 1)"),
            _ => format!("vectorMap (update (vectorZip ({array}) q) 0 ({index}, k)) fst"),
        }
    }

    fn index(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 3 } else { 7 }) {
            0 => "k".into(),
            1 => "q[0]".into(),
            2 => "q[m - 1]".into(),
            3 => format!("({})[0]", self.array(depth - 1)),
            4 => format!("({})[m - 1]", self.array(depth - 1)),
            5 => format!("max ({}) ({})", self.index(depth - 1), self.index(depth - 1)),
            _ => format!("(if k = 2 then {} else {})", self.index(depth - 1), self.index(depth - 1)),
        }
    }
}

#[test]
fn elements_are_read_where_the_interpreter_reads_them() {
    let seed = std::env::var("SMOOTHC_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut draw = Draw(seed);
    let (mut text, mut entries) = (String::new(), Vec::new());
    for at in 0..ENTRIES {
        let (array, name) = (draw.array(1 + at % 3), format!("read{at}"));
        let body = match at % 4 {
            0 | 1 => format!("let p = {array} in v[p[0]] + v[p[m - 1]]"),
            2 => format!("gradient (fun x -> let p = {array} in x[p[0]] * x[p[m - 1]]) v"),
            _ => format!("let p = {array} in ifold (fun a t -> accumulate a p[t] 1.0) v m"),
        };
        text.push_str(&format!("let {name} (v: Vector<n>) (q: Array<Index<n>, m>) (k: Index) =\n  {body}\n\n"));
        entries.push(name);
    }
    let known = engine::compile("indices.smooth", &text, "none", "types").unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    let run: agree::Run = if tools::has_sanitizers() { &native::sanitized } else { &native::optimised };
    for schedule in ["none", "default"] {
        let session = engine::compile("indices.smooth", &text, schedule, "emit").unwrap_or_else(|problem| panic!("{problem}\n{text}"));
        let mut calls: Vec<(&str, Arguments)> = Vec::new();
        for (entry, k, q) in entries
            .iter()
            .flat_map(|entry| ["-1", "0", "2", "3"].map(|k| (entry, k)))
            .flat_map(|(entry, k)| ["[2, 0]", "[1]"].map(|q| (entry, k, q)))
        {
            let words = ["[0.5, 1.5, -2]".to_string(), q.to_string(), k.to_string()];
            calls.push((entry, engine::arguments(&session, entry, &words).unwrap_or_else(|problem| panic!("{entry}: {problem}"))));
        }
        agree::agree(run, &known, &session, &calls)
            .unwrap_or_else(|problem| panic!("schedule {schedule}, SMOOTHC_SEED={seed}: {problem}\n{text}"));
    }
}
