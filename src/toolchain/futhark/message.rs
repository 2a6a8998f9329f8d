//! What went wrong, from what a Futhark program says.
//!
//! In: the message of a failed entry. Out: the status that C returns for the same error. Our own assertions begin with
//! the status in words; reads, counts, divisions and lengths are Futhark's own errors.
//!
//!     Assertion is false: (range (x >= …))   →   Range
//!     Index [3] out of bounds for array of shape [3].   →   Bounds

use crate::ir::Status;

/// The status of an error; `None` for one that no emitted program should give.
pub fn status(message: &str) -> Option<Status> {
    let line = message.lines().find(|line| line.contains("Error") || line.contains("Assertion")).unwrap_or(message);
    if let Some((_, condition)) = line.split_once("Assertion is false: ") {
        let word = condition.trim_start_matches('(').split([' ', '(', ')']).next();
        return match word? {
            "bounds" => Some(Status::Bounds),
            "shape" => Some(Status::Shape),
            "negative" => Some(Status::Negative),
            "div_zero" => Some(Status::DivZero),
            "range" => Some(Status::Range),
            _ => None,
        };
    }
    if message.contains("out of bounds") {
        Some(Status::Bounds)
    } else if message.contains("Range ") && message.contains("is invalid") {
        Some(Status::Negative)
    } else if message.contains("division by zero") {
        Some(Status::DivZero)
    } else if message.contains("shape") || message.contains("sizes") {
        Some(Status::Shape)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_statuses() {
        for (message, wanted) in [
            ("Error: Assertion is false: (shape (n == m))\n\nBacktrace:\n-> #0  a.fut:17:3-43", Some(Status::Shape)),
            ("Error: Assertion is false: (range ((0 <= i) && (i < n)))", Some(Status::Range)),
            ("Error: Assertion is false: (negative (0 <= n))", Some(Status::Negative)),
            ("Error: Index [5] out of bounds for array of shape [3].\n\nBacktrace:", Some(Status::Bounds)),
            ("Error: Range 0..1..<-1 is invalid.", Some(Status::Negative)),
            ("Error: division by zero", Some(Status::DivZero)),
            ("Error: Value of (desugared) shape [1] cannot match shape of type `[2]f64`.", Some(Status::Shape)),
            ("Error: entry point arguments have invalid sizes.", Some(Status::Shape)),
            ("Error: Assertion is false: (n == m)", None),
            ("something else", None),
        ] {
            assert_eq!(status(message), wanted, "{message}");
        }
    }
}
