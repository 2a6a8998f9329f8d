//! Which lines, and which words in them, are new.
//!
//! In: two texts. Out: for each line of the newer one whether the older one has it, by a longest common
//! subsequence; for each word of two pieces of text the same. Above a size everything between what both begin
//! and end with counts as changed.

/// More comparisons than this are not made.
const CELLS: usize = 4_000_000;

/// For each item of either list, whether it is in their longest common subsequence.
pub fn common<T: PartialEq>(old: &[T], new: &[T]) -> (Vec<bool>, Vec<bool>) {
    let (mut kept_old, mut kept_new) = (vec![false; old.len()], vec![false; new.len()]);
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let ends = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let end = ends.min(old.len().min(new.len()) - start);
    for at in 0..start {
        (kept_old[at], kept_new[at]) = (true, true);
    }
    for back in 1..=end {
        (kept_old[old.len() - back], kept_new[new.len() - back]) = (true, true);
    }
    let (a, b) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    if a.is_empty() || b.is_empty() || a.len().saturating_mul(b.len()) > CELLS {
        return (kept_old, kept_new);
    }
    // longest[i][j]: of a from i on and b from j on
    let width = b.len() + 1;
    let mut longest = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i] == b[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            (kept_old[start + i], kept_new[start + j]) = (true, true);
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    (kept_old, kept_new)
}

/// For each line of the texts, whether the other one has it too.
pub fn lines(old: &str, new: &str) -> (Vec<bool>, Vec<bool>) {
    common(&old.lines().collect::<Vec<_>>(), &new.lines().collect::<Vec<_>>())
}

/// For each word of two pieces of text, whether the other one has it too.
pub fn words(old: &[&str], new: &[&str]) -> (Vec<bool>, Vec<bool>) {
    common(old, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new() {
        let (old, new) = lines("a\nb\nc\nd", "a\nc\nx\nd");
        assert_eq!((old, new), (vec![true, false, true, true], vec![true, true, false, true]));
        assert_eq!(lines("", "a"), (vec![], vec![false]));
        assert_eq!(lines("a\na", "a"), (vec![true, false], vec![true]));
        let many: Vec<String> = (0..3000).map(|at| at.to_string()).collect();
        let others: Vec<String> = (3000..6000).map(|at| at.to_string()).collect();
        assert!(common(&many, &others).0.iter().all(|kept| !kept));
    }
}
