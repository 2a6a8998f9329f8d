//! The processor that code is compiled for without `--portable`.
//!
//! In: what the system says of this machine's processor. Out: the instruction sets that compilers generate code for, by the kernel's
//! names; none where the system does not tell. `python/smoothc/_runtime/machine.py` holds them against another machine's.
//!
//!     flags : fpu sse2 ht avx2   →   ["avx2", "sse2"]

/// What the names of instruction sets begin with, on x86 and Arm.
const SETS: [&str; 19] = [
    "sse", "ssse", "avx", "fma", "f16c", "bmi", "popcnt", "abm", "movbe", "adx", "sha", "vaes", "vpclmul", "gfni", "amx", "aes", "asimd",
    "sve", "sme",
];

/// The instruction sets of this machine's processor.
pub fn features() -> Option<Vec<String>> {
    let text = std::fs::read("/proc/cpuinfo").ok()?;
    listed(&String::from_utf8_lossy(&text))
}

/// Those in the kernel's text; every processor of a machine has the same.
fn listed(text: &str) -> Option<Vec<String>> {
    let line = text.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| matches!(name.trim(), "flags" | "Features"))?;
    let mut found: Vec<String> =
        line.1.split_whitespace().filter(|word| SETS.iter().any(|set| word.starts_with(set))).map(str::to_string).collect();
    found.sort();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_sets_are_read() {
        assert_eq!(listed("model: 1\nflags\t\t: fpu sse2 ht avx2\nflags : none\n"), Some(vec!["avx2".into(), "sse2".into()]));
        assert_eq!(listed("Features : fp asimd sve2\n"), Some(vec!["asimd".into(), "sve2".into()]));
        assert_eq!(listed("vendor : none\n"), None);
    }
}
