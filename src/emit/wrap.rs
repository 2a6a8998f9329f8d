//! Long lines of C, broken after commas and operators.
//!
//! In: a line without its indentation, and how deep it stands. Out: lines of at most [`WIDTH`] columns where it has places to
//! break at; those after the first are indented once more.
//!
//!     out[j] = out[j] + A[i * 4 * n + j] * t + …;   →   out[j] = out[j] + A[i * 4 * n + j] * t +
//!                                                            A[(i * 4 + 1) * n + j] * t_2 + …;
//!
//! Where a line may be broken at several places, it is at those with the fewest brackets around them, and there as late as fits;
//! where at none of them, after the last bracket that opens.

/// Lines end before this column.
pub const WIDTH: usize = 110;

const INDENT: &str = "    ";

/// What a line may end in.
const BREAKS: [&str; 9] = [", ", " + ", " - ", " || ", " && ", " ? ", " : ", " = ", " * "];

/// The lines of a text at a depth.
pub fn wrap(text: &str, depth: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut indent = INDENT.repeat(depth);
    let mut rest = text;
    let is_comment = text.starts_with("/*") || text.starts_with("//");
    while !is_comment && indent.len() + rest.len() > WIDTH {
        let Some(at) = break_in(rest, WIDTH.saturating_sub(indent.len())) else { break };
        let (line, after) = rest.split_at(at);
        lines.push(format!("{indent}{}", line.trim_end()));
        rest = after.trim_start();
        if lines.len() == 1 {
            indent.push_str(INDENT);
        }
    }
    lines.push(format!("{indent}{rest}"));
    lines
}

/// Where a text is broken, so that what is before has at most `width` bytes.
fn break_in(text: &str, width: usize) -> Option<usize> {
    // as little of a line as this is no line
    let least = width / 3;
    let (mut best, mut early, mut opened, mut nesting) = (None, None, None, 0usize);
    for (at, byte) in text.bytes().enumerate().take_while(|(at, _)| *at <= width) {
        match byte {
            b'(' | b'[' | b'{' => {
                nesting += 1;
                opened = (at < width).then_some(at + 1).or(opened);
            }
            b')' | b']' | b'}' => nesting = nesting.saturating_sub(1),
            _ => {}
        }
        let Some(operator) = text.get(at..).and_then(|text| BREAKS.iter().find(|operator| text.starts_with(**operator))) else { continue };
        let end = at + operator.len();
        if end > width + 1 {
            continue;
        }
        if end <= least {
            early = Some(end);
            continue;
        }
        // a product is broken only where there is nothing else
        let rank = nesting + if *operator == " * " { 1000 } else { 0 };
        if best.is_none_or(|(known, _)| rank <= known) {
            best = Some((rank, end));
        }
    }
    best.map(|(_, end)| end).or(opened.filter(|end| *end > least)).or(early)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_after_operators_with_the_fewest_brackets() {
        let terms: Vec<String> = (0..9).map(|k| format!("A[(i * 4 + {k}) * n + j] * t_{k}")).collect();
        let lines = wrap(&format!("out[j] = out[j] + {};", terms.join(" + ")), 2);
        assert!(lines.len() > 2 && lines.iter().all(|line| line.len() <= WIDTH), "{lines:?}");
        assert!(lines.iter().rev().skip(1).all(|line| line.ends_with(" +")), "{lines:?}");
        assert!(lines[0].starts_with("        out") && lines[1].starts_with("            A["), "{lines:?}");
        let parameters: Vec<String> = (0..9).map(|k| format!("const double *SMOOTH_RESTRICT p{k}")).collect();
        let lines = wrap(&format!("smooth_status f({})", parameters.join(", ")), 0);
        assert!(lines.iter().all(|line| line.len() <= WIDTH) && lines[0].ends_with(','), "{lines:?}");
    }

    #[test]
    fn calls_in_calls_are_broken_after_a_bracket() {
        let nested = |count: usize| (0..count).fold("used".to_string(), |sum, k| format!("smooth_plus({sum}, n_{k})"));
        for count in [8, 9, 20, 40] {
            for depth in [1, 5] {
                let lines = wrap(&format!("const size_t need = {};", nested(count)), depth);
                assert!(lines.iter().all(|line| line.len() <= WIDTH), "{lines:?}");
                let text: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
                assert_eq!(text.join(" ").replace("( ", "("), format!("const size_t need = {};", nested(count)));
            }
        }
    }

    #[test]
    fn short_lines_and_lines_without_a_place_stay() {
        assert_eq!(wrap("x = y;", 1), ["    x = y;"]);
        let name = "a".repeat(200);
        assert_eq!(wrap(&name, 0), std::slice::from_ref(&name));
        let comment = format!("/* {} */", "word, ".repeat(40));
        assert_eq!(wrap(&comment, 0), std::slice::from_ref(&comment));
    }
}
