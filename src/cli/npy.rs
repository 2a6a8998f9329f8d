//! NumPy's `.npy` files: reading (format versions 1, 2 and 3) and writing (version 1).
//!
//! Reading takes little- and big-endian floats of 4 and 8 bytes, integers of 1 to 8 bytes and booleans, in C
//! or Fortran order, and gives the elements in C order with their dimensions. The header is a Python literal
//! such as `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`. Everything in a file is checked
//! against its length before anything is allocated, so that a damaged file is a message and nothing worse.

use crate::real::Real;
use crate::toolchain::flat::{Column, Flat, Step};

/// An array as a `.npy` file holds it, in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Npy {
    pub dims: Vec<usize>,
    pub column: Column,
}

/// More dimensions than NumPy allows itself are an error.
const MAX_DIMS: usize = 64;

/// Reads a file's bytes; the error says what is wrong with them.
pub fn read(bytes: &[u8]) -> Result<Npy, String> {
    let (header, data) = split(bytes)?;
    let header = Header::parse(header)?;
    // also for empty arrays: `(0, 10^18)` is no shape that a program could go through
    let full = header.dims.iter().filter(|dim| **dim > 0).try_fold(header.element.bytes(), |product, dim| product.checked_mul(*dim));
    let count = match full {
        Some(bytes) if bytes <= if header.dims.contains(&0) { 1 << 27 } else { 1 << 40 } => header.dims.iter().product::<usize>(),
        Some(_) | None => return Err(format!("the shape {:?} is too large", header.dims)),
    };
    if count * header.element.bytes() != data.len() {
        return Err(format!("the header promises {} bytes of data, found {}", count * header.element.bytes(), data.len()));
    }
    let mut column = header.element.decode(data);
    if header.fortran_order && header.dims.len() > 1 {
        column = to_c_order(&column, &header.dims);
    }
    Ok(Npy { dims: header.dims, column })
}

/// The file that holds a number or a regular array; `None` for a tuple and what else has no dimensions.
pub fn write(value: &Flat, real: Real) -> Option<Vec<u8>> {
    if matches!(value.shape, crate::toolchain::flat::Shape::Tuple(_)) {
        return None;
    }
    let dims = value.shape.dims()?;
    let descr = match value.columns.first()? {
        Column::Double(_) if real == Real::F32 => "<f4",
        Column::Double(_) => "<f8",
        Column::Index(_) => "<i8",
        Column::Bool(_) => "|b1",
        Column::Rolled(_) => return None,
    };
    let shape = match dims.as_slice() {
        [one] => format!("({one},)"),
        dims => format!("({})", dims.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // the data starts at a multiple of 64 bytes; ten bytes come before the header and a newline ends it
    let padding = (64 - (10 + header.len() + 1) % 64) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(header.len()).ok()?.to_le_bytes());
    file.extend(header.as_bytes());
    value
        .walk(&mut |step| {
            match step {
                Step::Open | Step::Close | Step::Rolled(_) => {}
                Step::Double(value) if real == Real::F32 => file.extend((value as f32).to_le_bytes()),
                Step::Double(value) => file.extend(value.to_le_bytes()),
                Step::Index(value) => file.extend(value.to_le_bytes()),
                Step::Bool(value) => file.push(u8::from(value)),
            }
            Ok::<(), std::convert::Infallible>(())
        })
        .ok()?;
    Some(file)
}

/// The header's text and the data after it.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), String> {
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("it does not begin as a .npy file does")?;
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        [0..=3, ..] | [] => return Err("it ends inside its header".into()),
        [major, ..] => return Err(format!("format version {major} is unknown")),
    };
    let (header, data) = rest.split_at_checked(length).ok_or("it ends inside its header")?;
    Ok((std::str::from_utf8(header).map_err(|_| "its header is not text")?, data))
}

/// One element's encoding.
struct Element {
    kind: u8,
    size: usize,
    big_endian: bool,
}

impl Element {
    fn parse(descr: &str) -> Result<Element, String> {
        let unknown = || format!("elements of type '{descr}' are not supported");
        let (order, rest) = match descr.as_bytes() {
            [order @ (b'<' | b'>' | b'|' | b'='), rest @ ..] => (*order, rest),
            _ => return Err(unknown()),
        };
        let (kind, size) = match rest {
            [kind @ b'f', size @ (b'4' | b'8')] => (*kind, size - b'0'),
            [kind @ (b'i' | b'u'), size @ (b'1' | b'2' | b'4' | b'8')] => (*kind, size - b'0'),
            [kind @ b'b', b'1'] => (*kind, 1),
            _ => return Err(unknown()),
        };
        let native_big = cfg!(target_endian = "big");
        Ok(Element { kind, size: usize::from(size), big_endian: order == b'>' || order != b'<' && native_big })
    }

    fn bytes(&self) -> usize {
        self.size
    }

    fn decode(&self, data: &[u8]) -> Column {
        // the bits of one element, as an unsigned number
        let bits = |chunk: &[u8]| {
            let add = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
            if self.big_endian { chunk.iter().fold(0, add) } else { chunk.iter().rev().fold(0, add) }
        };
        let elements = data.chunks_exact(self.size).map(bits);
        let unused = 64 - 8 * self.size as u32;
        match self.kind {
            b'f' if self.size == 8 => Column::Double(elements.map(f64::from_bits).collect()),
            b'f' => Column::Double(elements.map(|bits| f64::from(f32::from_bits(bits as u32))).collect()),
            b'i' => Column::Index(elements.map(|bits| (bits << unused) as i64 >> unused).collect()),
            // what is no Index is still a number
            b'u' => match elements.clone().map(i64::try_from).collect::<Result<Vec<i64>, _>>() {
                Ok(items) => Column::Index(items),
                Err(_) => Column::Double(elements.map(|bits| bits as f64).collect()),
            },
            _ => Column::Bool(elements.map(|bits| bits != 0).collect()),
        }
    }
}

/// What the header says.
struct Header {
    element: Element,
    fortran_order: bool,
    dims: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Result<Header, String> {
        let bad = || "its header is not the dictionary that NumPy writes".to_string();
        let twice = |key: &str| format!("its header has `{key}` twice");
        let (mut descr, mut order, mut dims) = (None, None, None);
        let mut rest = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).ok_or_else(bad)?.trim_start();
        while !rest.is_empty() {
            let (key, after) = string(rest).ok_or_else(bad)?;
            rest = after.trim_start().strip_prefix(':').ok_or_else(bad)?.trim_start();
            rest = match key {
                "descr" => {
                    if rest.starts_with('[') {
                        return Err("structured elements are not supported".into());
                    }
                    let (value, after) = string(rest).ok_or_else(bad)?;
                    once(&mut descr, Element::parse(value)?).ok_or_else(|| twice(key))?;
                    after
                }
                "fortran_order" => {
                    let (value, after) = match (rest.strip_prefix("True"), rest.strip_prefix("False")) {
                        (Some(after), _) => (true, after),
                        (None, Some(after)) => (false, after),
                        (None, None) => return Err(bad()),
                    };
                    once(&mut order, value).ok_or_else(|| twice(key))?;
                    after
                }
                "shape" => {
                    let (inside, after) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).ok_or_else(bad)?;
                    once(&mut dims, parse_dims(inside)?).ok_or_else(|| twice(key))?;
                    after
                }
                _ => return Err(bad()),
            };
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix(',') {
                rest = after.trim_start();
            } else if !rest.is_empty() {
                return Err(bad());
            }
        }
        match (descr, order, dims) {
            (Some(element), Some(fortran_order), Some(dims)) => Ok(Header { element, fortran_order, dims }),
            _ => Err(bad()),
        }
    }
}

/// Sets what was not set before.
fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

/// A quoted string at the start of the text, and what follows it.
fn string(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    text[1..].split_once(quote)
}

fn parse_dims(inside: &str) -> Result<Vec<usize>, String> {
    let inside = inside.trim();
    if inside.is_empty() {
        return Ok(Vec::new());
    }
    // `(6)` is a number in Python, and no tuple
    if !inside.contains(',') {
        return Err(format!("`({})` is no shape: one dimension is written `(6,)`", inside.chars().take(20).collect::<String>()));
    }
    let dims: Vec<&str> = inside.strip_suffix(',').unwrap_or(inside).split(',').map(str::trim).collect();
    if dims.len() > MAX_DIMS {
        return Err(format!("it has more than {MAX_DIMS} dimensions"));
    }
    let dim = |dim: &&str| {
        let is_number = dim.bytes().all(|digit| digit.is_ascii_digit()) && (*dim == "0" || !dim.starts_with('0'));
        let known = dim.parse().ok().filter(|_| is_number);
        known.ok_or_else(|| format!("`{}` is no dimension", dim.chars().take(20).collect::<String>()))
    };
    dims.iter().map(dim).collect()
}

fn to_c_order(column: &Column, dims: &[usize]) -> Column {
    match column {
        Column::Double(items) => Column::Double(transposed(items, dims)),
        Column::Index(items) => Column::Index(transposed(items, dims)),
        Column::Bool(items) => Column::Bool(transposed(items, dims)),
        // no file holds one
        Column::Rolled(items) => Column::Rolled(items.clone()),
    }
}

/// Elements in Fortran order (the first index runs fastest) in C order.
fn transposed<T: Copy>(items: &[T], dims: &[usize]) -> Vec<T> {
    let mut strides = Vec::with_capacity(dims.len());
    let mut stride = 1;
    for dim in dims {
        strides.push(stride);
        stride *= dim;
    }
    let mut index = vec![0; dims.len()];
    let mut from = 0;
    let mut result = Vec::with_capacity(items.len());
    while result.len() < items.len() {
        result.push(items[from]);
        for axis in (0..dims.len()).rev() {
            index[axis] += 1;
            from += strides[axis];
            if index[axis] < dims[axis] {
                break;
            }
            from -= index[axis] * strides[axis];
            index[axis] = 0;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::flat::Shape;

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn header(descr: &str, fortran: &str, shape: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}   \n")
    }

    #[test]
    fn every_version_and_element_type_reads() {
        let doubles: Vec<u8> = [1.0f64, -2.5].iter().flat_map(|x| x.to_le_bytes()).collect();
        for version in [1, 2, 3] {
            let npy = read(&file(version, &header("<f8", "False", "(2,)"), &doubles)).expect("reads");
            assert_eq!(npy, Npy { dims: vec![2], column: Column::Double(vec![1.0, -2.5]) });
        }
        let one = |descr: &str, data: &[u8]| read(&file(1, &header(descr, "False", "()"), data)).expect("reads").column;
        assert_eq!(one(">f8", &1.5f64.to_be_bytes()), Column::Double(vec![1.5]));
        assert_eq!(one("<f4", &1.5f32.to_le_bytes()), Column::Double(vec![1.5]));
        assert_eq!(one(">i4", &(-7i32).to_be_bytes()), Column::Index(vec![-7]));
        assert_eq!(one("<i8", &i64::MIN.to_le_bytes()), Column::Index(vec![i64::MIN]));
        assert_eq!(one("|i1", &[0xff]), Column::Index(vec![-1]));
        assert_eq!(one("|u1", &[0xff]), Column::Index(vec![255]));
        assert_eq!(one("<u8", &u64::MAX.to_le_bytes()), Column::Double(vec![u64::MAX as f64]));
        assert_eq!(one("|b1", &[1]), Column::Bool(vec![true]));
    }

    #[test]
    fn fortran_order_becomes_c_order() {
        let data: Vec<u8> = [1i64, 4, 2, 5, 3, 6].iter().flat_map(|x| x.to_le_bytes()).collect();
        let npy = read(&file(1, &header("<i8", "True", "(2, 3)"), &data)).expect("reads");
        assert_eq!(npy.column, Column::Index(vec![1, 2, 3, 4, 5, 6]));
    }

    #[test]
    fn hostile_files_are_messages() {
        let good = file(1, &header("<f8", "False", "(1,)"), &1.0f64.to_le_bytes());
        for length in 0..good.len() {
            assert!(read(&good[..length]).is_err(), "the first {length} bytes");
        }
        for (descr, fortran, shape) in [
            ("<f8", "False", "(1000000000000,)"),
            ("<f8", "False", "(0, 18446744073709551615)"),
            ("<f8", "False", "(4294967296, 4294967296)"),
            ("<f8", "False", "(18446744073709551616,)"),
            ("<f8", "False", "(-1,)"),
            ("<f8", "False", "(1)"),
            ("<f8", "False", "(1L,)"),
            ("<f8", "False", "(+1,)"),
            ("<f8", "False", "(01,)"),
            ("<f8", "False", "(1,,)"),
            ("<f8", "False", "(,)"),
            ("<f8", "False", "(1,), 'shape': (1,)"),
            ("<f8", "False, 'fortran_order': False", "(1,)"),
            ("<f8', 'descr': '<f8", "False", "(1,)"),
            ("<f8", "Maybe", "(1,)"),
            ("<f8", "False", "(1"),
            ("<c16", "False", "(1,)"),
            ("<f16", "False", "(1,)"),
            ("|O", "False", "(1,)"),
            ("", "False", "(1,)"),
            ("é", "False", "(1,)"),
        ] {
            assert!(read(&file(1, &header(descr, fortran, shape), &1.0f64.to_le_bytes())).is_err(), "{descr} {fortran} {shape}");
        }
        for text in ["", "{", "{}", "{'descr'", "{'descr': }", "{é: 1}", "{'x': 1}", "{'descr': [('a', '<f8')]}", "{'a", "}{"] {
            assert!(read(&file(1, text, &[])).is_err(), "{text}");
        }
        assert!(read(&file(7, "", &[])).is_err());
        assert!(read(&file(2, &header("<f8", "False", "(1,)"), &[0; 9])).is_err());
        let mut lies = file(2, &header("<f8", "False", "(1,)"), &[0; 8]);
        lies[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(read(&lies).is_err());
    }

    #[test]
    fn what_is_written_reads_back() {
        let matrix = Shape::Array(2, Box::new(Shape::Array(3, Box::new(Shape::Double))));
        let value = Flat { shape: matrix, columns: vec![Column::Double(vec![1.0, 2.0, 3.0, 4.0, f64::INFINITY, -0.0])] };
        let bytes = write(&value, Real::F64).expect("a regular array");
        assert_eq!((bytes.len() - 48) % 64, 0);
        let npy = read(&bytes).expect("reads");
        assert_eq!((npy.dims, npy.column), (vec![2, 3], value.columns[0].clone()));
        let scalar = Flat { shape: Shape::Index, columns: vec![Column::Index(vec![7])] };
        assert_eq!(read(&write(&scalar, Real::F64).expect("a number")).expect("reads").dims, Vec::<usize>::new());
        let pairs = Shape::Array(2, Box::new(Shape::Tuple(vec![Shape::Double, Shape::Double])));
        let value = Flat { shape: pairs, columns: vec![Column::Double(vec![1.0, 3.0]), Column::Double(vec![2.0, 4.0])] };
        let npy = read(&write(&value, Real::F64).expect("a regular array")).expect("reads");
        assert_eq!((npy.dims, npy.column), (vec![2, 2], Column::Double(vec![1.0, 2.0, 3.0, 4.0])));
        let tuple = Flat {
            shape: Shape::Tuple(vec![Shape::Double, Shape::Bool]),
            columns: vec![Column::Double(vec![1.0]), Column::Bool(vec![true])],
        };
        assert_eq!(write(&tuple, Real::F64), None);
    }
}
