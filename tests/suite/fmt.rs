//! `smoothc fmt`: what it makes of files, and that it changes nothing but blanks and empty lines.

use std::fs;
use std::path::{Path, PathBuf};

use crate::generator::grow;
use crate::support::command;

fn formatted(text: &str) -> String {
    smoothc::stack::with_large_stack(|| smoothc::syntax::format(text, 0)).unwrap_or_else(|problems| panic!("{text}\n{problems:?}"))
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[track_caller]
fn keeps_its_words(text: &str) {
    let once = formatted(text);
    assert_eq!(without_blanks(&once), without_blanks(text), "{text}\n{once}");
    assert_eq!(formatted(&once), once, "{text}");
}

#[test]
fn words_stand_apart_and_lines_below_what_they_belong_to() {
    for (text, wanted) in [
        ("let f  x=\n    x*x", "let f x =\n  x * x\n"),
        ("let f (x:Double)   (y : Double):Double=x-y*-x", "let f (x: Double) (y : Double): Double = x - y * -x\n"),
        ("\n\nlet a = [1,2 ; 3]\n\n\n\n// end\n\n", "let a = [1, 2; 3]\n\n// end\n"),
        ("let f x = g -x (- 1.0) [ x ] v[ 0 ]", "let f x = g -x (-1.0) [x] v[0]\n"),
        ("let f v = (*) (a) ( + ) // why\r\n", "let f v = (*) (a) ( + ) // why\n"),
        ("let f c = {c with x=1.0;y = 2}\n", "let f c = { c with x = 1.0; y = 2 }\n"),
        (
            "let f v =\n       let y = v\n         |> g\n       (* kept\n   as it was *)\n       y",
            "let f v =\n  let y = v\n    |> g\n  (* kept\n   as it was *)\n  y\n",
        ),
        // elements stand below the first one, wherever that goes
        ("let f x =\n      [x+1,\n       x]", "let f x =\n  [x + 1,\n   x]\n"),
        // a block in the middle of a line goes along with it
        (
            "let f x = g (fun y ->  let z=y\n                       z+x) 1",
            "let f x = g (fun y -> let z = y\n                      z + x) 1\n",
        ),
        // a type that ends where a value begins, and a comparison
        ("type Data<n>={x:Vector<n>}", "type Data<n> = { x: Vector<n> }\n"),
        (
            "let f (v: Vector<n>) : Vector<n>=let w : Vector<n>=v in if v[0]>=1.0 then w else v",
            "let f (v: Vector<n>) : Vector<n> = let w : Vector<n> = v in if v[0] >= 1.0 then w else v\n",
        ),
        (
            "type Shape=|Circle of Double|  Empty\nlet rec f (s: Shape) (n: Index) : Double decreases n=match s with|Circle r->r*f s (n-1)|_->0.0",
            "type Shape = | Circle of Double | Empty\nlet rec f (s: Shape) (n: Index) : Double decreases n = match s with | Circle r -> r * f s (n - 1) | _ -> 0.0\n",
        ),
        (
            "let f (x: Double)=\n  let rec g (n: Index) decreases n : Double=if n=0 then x else 2.0*g (n-1)\n  g 3",
            "let f (x: Double) =\n  let rec g (n: Index) decreases n : Double = if n = 0 then x else 2.0 * g (n - 1)\n  g 3\n",
        ),
        ("let rec f (n: Index):Bool=g n  and g (n: Index):Bool=f n", "let rec f (n: Index): Bool = g n and g (n: Index): Bool = f n\n"),
        ("type A=|X of B|Y\nand B={a:A}", "type A = | X of B | Y\nand B = { a: A }\n"),
        ("", ""),
        ("// only this", "// only this\n"),
    ] {
        assert_eq!(formatted(text), wanted, "{text}");
        assert_eq!(formatted(wanted), wanted, "{text}");
    }
}

#[test]
fn nothing_but_blanks_changes() {
    for seed in 0..300 {
        let text = grow::program(seed, "f", false).text();
        keeps_its_words(&text);
        keeps_its_words(&text.replace(" = ", "  =  ").replace(", ", " ,").replace("\n  ", "\n      "));
    }
}

fn sources() -> Vec<PathBuf> {
    let folders =
        ["examples", "examples/evaluated", "benches", "tests/derivatives"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path()));
    files.filter(|path| path.extension().is_some_and(|ending| ending == "smooth")).collect()
}

#[test]
fn every_program_of_the_house_is_formatted() {
    let sources = sources();
    let mut words = vec!["fmt", "--check"];
    words.extend(sources.iter().map(|path| path.to_str().expect("text")));
    let output = command::with_input(&words, b"");
    assert!(output.status.success() && output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn files_are_written_checked_or_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        path.to_str().expect("text").to_string()
    };
    let (ugly, broken) = (file("ugly.smooth", "let f x=x+1.0"), file("broken.smooth", "let f x =  (x"));
    let checked = command::with_input(&["fmt", "--check", &ugly], b"");
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(checked.status.code() == Some(1) && said.starts_with("error[E0018]"), "{said}");
    assert!(String::from_utf8_lossy(&checked.stdout).contains("+let f x = x + 1.0\n"));
    assert_eq!(fs::read_to_string(&ugly).expect("a file"), "let f x=x+1.0");
    // what parses is written all the same
    let written = command::with_input(&["fmt", &broken, &ugly], b"");
    assert_eq!(written.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&written.stderr).starts_with("error[E0102]"));
    assert_eq!(fs::read_to_string(&ugly).expect("a file"), "let f x = x + 1.0\n");
    assert_eq!(fs::read_to_string(&broken).expect("a file"), "let f x =  (x");
    let piped = command::with_input(&["fmt", "-"], b"let f x=x");
    assert!(piped.status.success() && piped.stdout == b"let f x = x\n");
    assert_eq!(command::with_input(&["fmt", "--check", "-"], b"let f x=x").status.code(), Some(1));
    assert_eq!(command::with_input(&["fmt"], b"").status.code(), Some(2));
    assert_eq!(command::with_input(&["fmt", "/nowhere.smooth"], b"").status.code(), Some(1));
}
