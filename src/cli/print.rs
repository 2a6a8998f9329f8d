//! A value as JSON, on one line: a record is an object of its fields, a case its name, alone or with its data.
//!
//! In: a value and the names in its type. Out: the text. A Double is the shortest text that reads back as the same Double, with `.0` or
//! an exponent so that it stays one: `1.0`, `1e-7`, `NaN`.

use std::io::{self, Write};

use super::cases;
use crate::ir::Labels;
use crate::real::Real;
use crate::toolchain::flat::{Flat, Step};

/// Writes a value on one line, with the line's end.
/// A record is an object of its fields.
pub fn write(value: &Flat, labels: &Labels, real: Real, out: &mut impl Write) -> io::Result<()> {
    if cases::is_needed(value, labels) {
        let mut problem = Ok(());
        let text = cases::text(value, labels, &mut |step, out| {
            let mut bytes = Vec::new();
            match write_scalar(step, real, &mut bytes) {
                Ok(()) => out.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => problem = Err(error),
            }
        });
        problem?;
        return writeln!(out, "{text}");
    }
    let mut first = true;
    // what is open, and how many of its parts are written
    let mut open: Vec<(&Labels, usize, usize)> = Vec::new();
    value.walk(&mut |step| {
        if !first && step != Step::Close {
            out.write_all(b", ")?;
        }
        first = step == Step::Open;
        let mut own = labels;
        if let (Some((around, at, _)), true) = (open.last_mut(), step != Step::Close) {
            if let Some(field) = around.field(*at) {
                write!(out, "\"{field}\": ")?;
            }
            own = if let Labels::Array(element) = around { element } else { around.part(*at) };
            *at += 1;
        }
        // a record of one field is no tuple
        let mut records = 0;
        while let (Some((field, inside)), true) = (own.sole(), step != Step::Close) {
            write!(out, "{{\"{field}\": ")?;
            (own, records) = (inside, records + 1);
        }
        match step {
            Step::Open => {
                open.push((own, 0, records));
                records = 0;
                out.write_all(if matches!(own, Labels::Record(..)) { b"{" } else { b"[" })
            }
            Step::Close => {
                let closed = open.pop();
                records = closed.map_or(0, |(_, _, records)| records);
                out.write_all(if matches!(closed, Some((Labels::Record(..), ..))) { b"}" } else { b"]" })
            }
            Step::Double(_) | Step::Index(_) | Step::Bool(_) | Step::Rolled(_) => write_scalar(step, real, out),
        }?;
        (0..records).try_for_each(|_| out.write_all(b"}"))
    })?;
    out.write_all(b"\n")
}

fn write_scalar(step: Step, real: Real, out: &mut impl Write) -> io::Result<()> {
    match step {
        // `cases` writes what is rolled
        Step::Open | Step::Close | Step::Rolled(_) => Ok(()),
        Step::Double(value) => write_double(value, real, out),
        Step::Index(value) => write!(out, "{value}"),
        Step::Bool(value) => write!(out, "{value}"),
    }
}

fn write_double(value: f64, real: Real, out: &mut impl Write) -> io::Result<()> {
    if value.is_nan() {
        out.write_all(b"NaN")
    } else if value.is_infinite() {
        out.write_all(if value > 0.0 { b"Infinity" } else { b"-Infinity" })
    } else {
        out.write_all(real.digits(value).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::json::{Json, parse};
    use crate::toolchain::flat::{Column, Shape};

    fn written(shape: Shape, columns: Vec<Column>) -> String {
        let mut out = Vec::new();
        write(&Flat { shape, columns }, &Labels::None, Real::F64, &mut out).expect("writes into memory");
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn doubles_stay_doubles_and_read_back_exactly() {
        for value in [1.0, -0.0, 0.1, 1e-5, 1e-7, 1e16, 1e300, 5e-324, f64::MAX, 123456789.123] {
            let text = written(Shape::Double, vec![Column::Double(vec![value])]);
            match parse(text.trim()) {
                Ok(Json::Number(read, None)) => assert_eq!(read.to_bits(), value.to_bits(), "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert_eq!(written(Shape::Double, vec![Column::Double(vec![1.0])]), "1.0\n");
        assert_eq!(written(Shape::Double, vec![Column::Double(vec![f64::NAN])]), "NaN\n");
        assert_eq!(written(Shape::Double, vec![Column::Double(vec![f64::NEG_INFINITY])]), "-Infinity\n");
    }

    #[test]
    fn an_array_of_pairs_prints_as_pairs() {
        let pair = Shape::Tuple(vec![Shape::Double, Shape::Index]);
        let columns = vec![Column::Double(vec![1.0, 3.0]), Column::Index(vec![2, 4])];
        assert_eq!(written(Shape::Array(2, Box::new(pair)), columns), "[[1.0, 2], [3.0, 4]]\n");
        let empty = Shape::Array(2, Box::new(Shape::Array(0, Box::new(Shape::Double))));
        assert_eq!(written(empty, vec![Column::Double(vec![])]), "[[], []]\n");
        assert_eq!(written(Shape::Bool, vec![Column::Bool(vec![true])]), "true\n");
    }
}
