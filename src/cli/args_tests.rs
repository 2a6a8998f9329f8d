//! Arguments against parameter types: what fits becomes columns, what does not names its place.

use super::*;
use crate::cli::npy;
use crate::ir::Expr;
use crate::ir::Var;

/// `f (n: Index) (v: Vector<m>) (a: Array<Matrix<m, k>…>)` and so on: an entry of these parameters.
fn entry(params: Vec<Var>) -> Function {
    Function::entry("f", Vec::new(), params, Expr::double(0.0))
}

fn size(name: &str) -> Size {
    Size::var(&Var::fresh(name, Type::INDEX))
}

fn read_all(params: Vec<Var>, words: &[&str]) -> Result<Arguments, Vec<String>> {
    let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
    read(&entry(params), &words)
        .map_err(|problems| problems.into_iter().map(|problem| format!("{}: {}", problem.code, problem.message)).collect())
}

fn read_one(ty: Type, word: &str) -> Result<Vec<Column>, String> {
    match read_all(vec![Var::fresh("x", ty)], &[word]) {
        Ok(arguments) => Ok(arguments.values[0].columns.clone()),
        Err(problems) => Err(problems[0].clone()),
    }
}

#[test]
fn scalars_fit_their_types() {
    assert_eq!(read_one(Type::Double, "3"), Ok(vec![Column::Double(vec![3.0])]));
    assert_eq!(read_one(Type::INDEX, "3"), Ok(vec![Column::Index(vec![3])]));
    assert_eq!(read_one(Type::Bool, "true"), Ok(vec![Column::Bool(vec![true])]));
    assert_eq!(read_one(Type::INDEX, "3.0"), Err("E0805: argument 1 (`x`): expected an integer, found 3.0".into()));
    assert_eq!(read_one(Type::INDEX, "9223372036854775808").map_err(|e| e[..5].to_string()), Err("E0805".into()));
    assert_eq!(read_one(Type::Double, "true"), Err("E0805: argument 1 (`x`): expected a number, found true".into()));
    assert_eq!(read_one(Type::Bool, "1"), Err("E0805: argument 1 (`x`): expected true or false, found 1".into()));
    assert_eq!(read_one(Type::Double, "[1]"), Err("E0805: argument 1 (`x`): expected a number, found an array of 1".into()));
    assert_eq!(read_one(Type::Double, "[1"), Err("E0802: argument 1 (`x`): expected `,` or `]`, found the end at column 3".into()));
    let bounded = || Type::Index(Some(Size::constant(4)));
    assert!(read_one(bounded(), "3").is_ok());
    assert_eq!(read_one(bounded(), "4"), Err("E0807: argument 1 (`x`): 4 is not an index below 4".into()));
    assert_eq!(
        read_one(Type::array(bounded(), size("n")), "[0, -1]"),
        Err("E0807: argument 1 (`x`): -1 is not an index below 4 at [1]".into())
    );
}

#[test]
fn arrays_are_regular_and_pairs_become_columns() {
    let matrix = || Type::array(Type::array(Type::Double, size("m")), size("n"));
    assert_eq!(read_one(matrix(), "[[1, 2], [3, 4]]"), Ok(vec![Column::Double(vec![1.0, 2.0, 3.0, 4.0])]));
    assert_eq!(read_one(matrix(), "[[1, 2], [3]]"), Err("E0806: argument 1 (`x`): expected 2 (`m`) elements, found 1 at [1]".into()));
    assert_eq!(read_one(matrix(), "[[1, 2], 3]"), Err("E0805: argument 1 (`x`): expected an array, found 3 at [1]".into()));
    assert_eq!(read_one(matrix(), "[]"), Ok(vec![Column::Double(vec![])]));
    let pairs = || Type::array(Type::tuple(vec![Type::Double, Type::INDEX]), size("n"));
    assert_eq!(read_one(pairs(), "[[1, 2], [3, 4]]"), Ok(vec![Column::Double(vec![1.0, 3.0]), Column::Index(vec![2, 4])]));
    assert!(read_one(pairs(), "[[1, 2, 3]]").is_err());
    assert!(read_one(pairs(), "[[1, 2.5]]").is_err());
    assert_eq!(
        read_one(Type::array(Type::Double, Size::constant(3)), "[1, 2]"),
        Err("E0806: argument 1 (`x`): expected 3 elements, found 2".into())
    );
}

#[test]
fn sizes_agree_between_arguments() {
    let n = Var::fresh("n", Type::INDEX);
    let vector = |name: &str, size: Size| Var::fresh(name, Type::array(Type::Double, size));
    let two = || vec![vector("v", Size::var(&n)), vector("w", Size::var(&n))];
    assert!(read_all(two(), &["[1, 2]", "[3, 4]"]).is_ok());
    let problems = read_all(two(), &["[1, 2]", "[3]"]).expect_err("lengths differ");
    assert_eq!(problems, ["E0806: argument 2 (`w`): expected 2 (`n`) elements, found 1"]);
    // an Index parameter is a size, wherever it stands
    let with_index = || vec![vector("v", Size::var(&n)), n.clone()];
    assert!(read_all(with_index(), &["[1, 2]", "2"]).is_ok());
    assert!(read_all(with_index(), &["[1, 2]", "3"]).is_err());
    assert!(read_all(with_index(), &["[]", "-1"]).is_err());
    // twice a size, and the inner size of an empty matrix that another argument decides
    let double = vec![vector("v", Size::var(&n)), vector("w", Size::var(&n).add(&Size::var(&n)))];
    assert!(read_all(double, &["[1, 2]", "[1, 2, 3, 4]"]).is_ok());
    let m = Var::fresh("m", Type::INDEX);
    let empty = vec![Var::fresh("a", Type::array(Type::array(Type::Double, Size::var(&n)), Size::var(&m))), vector("v", Size::var(&n))];
    let arguments = read_all(empty, &["[]", "[1, 2, 3]"]).expect("fits");
    assert_eq!(arguments.bindings.get(&n), Some(3));
    assert!(read_all(two(), &["[1]"]).is_err());
}

#[test]
fn every_wrong_argument_is_reported() {
    let params = || vec![Var::fresh("x", Type::Double), Var::fresh("k", Type::INDEX), Var::fresh("b", Type::Bool)];
    assert_eq!(read_all(params(), &["true", "1.5", "false"]).expect_err("two are wrong").len(), 2);
    assert_eq!(read_all(params(), &["@nowhere.json", "@x.txt", "@"]).expect_err("no files").len(), 3);
}

#[test]
fn arrays_without_elements_have_dimensions_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let vector = || Type::array(Type::Double, size("n"));
    let matrix = |columns: Size| Type::array(Type::array(Type::Double, columns), size("n"));
    let pairs = || Type::array(Type::tuple(vec![Type::Double, Type::INDEX]), size("n"));
    for (shape, ty, wanted) in [
        ("(0,)", vector(), None),
        ("(0, 5)", vector(), Some("E0805: argument 1 (`x`): the shape (0, 5) does not fit `Vector<n>`")),
        ("(0,)", matrix(size("m")), Some("E0805: argument 1 (`x`): the shape (0,) does not fit")),
        ("(0, 5)", matrix(size("m")), None),
        ("(0, 5)", matrix(Size::constant(5)), None),
        ("(0, 5)", matrix(Size::constant(3)), Some("E0806: argument 1 (`x`): expected 3 elements, found 5")),
        ("(0, 5, 1)", matrix(size("m")), Some("E0805: argument 1 (`x`): the shape (0, 5, 1) does not fit")),
        ("(0, 2)", pairs(), None),
        ("(0, 3)", pairs(), Some("E0805: argument 1 (`x`): the shape (0, 3) does not fit")),
        ("(2, 0, 5)", matrix(size("m")), Some("E0805: argument 1 (`x`): the shape (2, 0, 5) does not fit")),
    ] {
        let header = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        std::fs::write(folder.path().join("x.npy"), bytes).expect("writes");
        let found = read_one(ty, &format!("@{}", folder.path().join("x.npy").display()));
        match wanted {
            None => assert!(found.is_ok(), "{shape}: {found:?}"),
            Some(wanted) => assert!(found.as_ref().is_err_and(|found| found.starts_with(wanted)), "{shape}: {found:?}"),
        }
    }
}

#[test]
fn files_hold_arguments() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let word = |name: &str| format!("@{}", path(name).display());
    let vector = || Type::array(Type::Double, size("n"));
    std::fs::write(path("v.json"), "[1,\n 2]\n").expect("writes");
    assert_eq!(read_one(vector(), &word("v.json")), Ok(vec![Column::Double(vec![1.0, 2.0])]));
    std::fs::write(path("v.npy"), b"\x93NUMPY\x01").expect("writes");
    assert!(read_one(vector(), &word("v.npy")).is_err());
    let value = Flat { shape: Shape::Array(2, Box::new(Shape::Index)), columns: vec![Column::Index(vec![5, 6])] };
    std::fs::write(path("v.npy"), npy::write(&value, crate::real::Real::F64).expect("an array")).expect("writes");
    assert_eq!(read_one(vector(), &word("v.npy")), Ok(vec![Column::Double(vec![5.0, 6.0])]));
    assert!(read_one(Type::array(vector(), size("m")), &word("v.npy")).is_err());
    std::fs::write(path("bad.json"), [0xff, 0xfe]).expect("writes");
    assert!(read_one(vector(), &word("bad.json")).is_err());
    assert!(read_one(vector(), &format!("@{}", folder.path().display())).is_err());
}
