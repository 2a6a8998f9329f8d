//! What `smoothc lsp` says by the place: names that complete it, reasons why a name cannot be another, and entries beside what is wrong.

use serde_json::{Value, json};

use crate::support::client::Client;

const URI: &str = "file:///programs/places.smooth";

const TYPES: &str = "\
type Lens = { focal: Double; tilt: Double }
type Camera = { lens: Lens; centre: Vector<2> }
type Shape = | Circle of Double | Box of Double * Double | Empty
let twice (x: Double) : Double = 2.0 * x
";

/// The names that are offered at the end of the last line, in the order of their ranks.
fn offered(client: &mut Client, text: &str, rest: &str) -> Vec<String> {
    let text = format!("{TYPES}{text}");
    client.open(URI, &format!("{text}{rest}"));
    let line = text.lines().count() - 1;
    let column = text.lines().last().map_or(0, str::len);
    let found = client.at("completion", URI, line as u32, column as u32).expect("an answer");
    let item =
        |item: &Value| (item["sortText"].as_str().unwrap_or_default().to_string(), item["label"].as_str().unwrap_or_default().to_string());
    let mut items: Vec<(String, String)> = found.as_array().expect("a list").iter().map(item).collect();
    items.sort();
    items.into_iter().map(|(_, label)| label).collect()
}

#[test]
fn a_type_is_completed_by_types_and_sizes() {
    let mut client = Client::ready();
    let types =
        ["Array", "Bool", "Camera", "Double", "DoubleD", "Index", "Lens", "Matrix", "MatrixD", "Shape", "Unit", "Vector", "VectorD"];
    for text in [
        "let f (v: ",
        "let f (v: Vector<n>) : Ve",
        "let f x =\n  let g (a: ",
        "type New = { a: ",
        "type New = | A of Le",
        "let f (v: Double) : ",
    ] {
        for rest in ["", ") = 1.0\n", "\nlet later x = x + 1.0\n"] {
            let mut found = offered(&mut client, text, rest);
            // a type may contain itself
            found.retain(|name| name != "New");
            assert_eq!(found, types, "{text}{rest}");
        }
    }
    let with = |sizes: &[&str]| -> Vec<String> { sizes.iter().chain(&types).map(|name| (*name).to_string()).collect() };
    assert_eq!(offered(&mut client, "let f (k: Index) (v: Vector<n>) (w: Matrix<", ", m>) = 1.0\n"), with(&["k", "m", "n"]));
    assert_eq!(offered(&mut client, "type Data<n> = { x: Vector<", ""), with(&["n"]));
    client.shut_down();
}

#[test]
fn a_pattern_is_completed_by_cases_and_records() {
    let mut client = Client::ready();
    let records = ["{ focal = focal; tilt = tilt }", "{ lens = lens; centre = centre }"];
    let all = ["Box", "Circle", "Empty", records[0], records[1], "false", "true"];
    for text in
        ["let f (s: Shape) = match s with ", "let f s =\n  match s with\n  | Circle r -> r\n  | E", "let f s = match s with | Box (a, "]
    {
        assert_eq!(offered(&mut client, text, "\n"), all, "{text}");
    }
    assert_eq!(offered(&mut client, "let f (c: Lens) = match c with | { ", "\n"), ["centre", "focal", "lens", "tilt"]);
    assert_eq!(offered(&mut client, "let f ", " = 1.0\n"), [records[0], records[1], "rec"]);
    // a case is a value too
    let values = offered(&mut client, "let f (x: Double) = Cir", "\n");
    assert_eq!(values.iter().filter(|name| *name == "Circle").count(), 1);
    assert!(values.contains(&"twice".to_string()) && values.contains(&"x".to_string()));
    client.shut_down();
}

#[test]
fn a_point_is_followed_by_the_fields_of_its_record() {
    let mut client = Client::ready();
    let (lens, camera) = (["focal", "tilt"], ["centre", "lens"]);
    for rest in ["", "\n", " + 1.0\nlet later x = x + 1.0\n"] {
        assert_eq!(offered(&mut client, "let f (c: Camera) (l: Lens) = c.", rest), camera, "{rest}");
        assert_eq!(offered(&mut client, "let f (c: Camera) (l: Lens) = c.ce", rest), camera, "{rest}");
        assert_eq!(offered(&mut client, "let f (c: Camera) = c.lens.", rest), lens, "{rest}");
        assert_eq!(offered(&mut client, "let f (c: Camera) =\n  let l = { c.lens with tilt = 0.0 }\n  l.", rest), lens, "{rest}");
        // what is no record has none, also where it is deeper
        assert_eq!(offered(&mut client, "let f (v: Vector<n>) (x: Double) = x.", rest), [""; 0], "{rest}");
        assert_eq!(offered(&mut client, "let f (v: Vector<n>) (x: Double) = v.", rest), [""; 0], "{rest}");
        assert_eq!(offered(&mut client, "let f (c: Camera) = c.centre.", rest), [""; 0], "{rest}");
    }
    // of what is not known all
    assert_eq!(offered(&mut client, "let f (cs: Array<Camera, n>) = cs[0].", ""), ["centre", "focal", "lens", "tilt"]);
    assert_eq!(offered(&mut client, "let f c = c.", ""), ["centre", "focal", "lens", "tilt"]);
    // two points are a slice
    assert!(offered(&mut client, "let f (v: Vector<n>) (k: Index) = v[k..", "]\n").contains(&"twice".to_string()));
    client.shut_down();
}

#[test]
fn names_of_rows_are_offered_while_something_is_wrong() {
    let mut client = Client::ready();
    let row = "let f (s: Shape) : Double = match s with | Circle radius -> radius + ";
    let found = offered(&mut client, row, " | No -> 0.0\n");
    assert!(found.contains(&"radius".to_string()) && found.contains(&"s".to_string()), "{found:?}");
    let found = offered(&mut client, &format!("{row}1.0 | Box (a, {{ focal = b }}) -> "), "\n");
    assert!(["a", "b", "s"].iter().all(|name| found.contains(&(*name).to_string())), "{found:?}");
    assert!(!found.contains(&"radius".to_string()), "{found:?}");
    client.shut_down();
}

#[test]
fn comments_end_where_they_end() {
    let mut client = Client::ready();
    let begun = ["let f (width: Double) = wi", "let f (width: Double) =\n  wi"];
    for comment in ["// (* no block\n", "(* // no line *) ", "(* (* *) // *)", "let g (*) = 1.0 // (*\n", "// \"\n", "(* \" *)"] {
        for text in begun {
            let found = offered(&mut client, &format!("{comment}{text}"), "");
            assert!(found.contains(&"width".to_string()), "{comment}{text}: {found:?}");
        }
    }
    for open in ["// *) wi", "(* // *", "(* (* *) wi", "(* \n let f (width: Double) = wi", "open \"wi"] {
        assert_eq!(offered(&mut client, open, ""), [""; 0], "{open}");
    }
    client.shut_down();
}

#[test]
fn references_are_those_of_all_open_texts() {
    let mut client = Client::ready();
    let uri = |name: &str| format!("file:///programs/{name}.smooth");
    client.open(&uri("base"), "let twice x = 2.0 * x\nlet four x = twice (twice x)\n");
    client.open(&uri("main"), "open \"base.smooth\"\nlet f x = twice x\n");
    client.open(&uri("other"), "let twice x = x\nlet f x = twice x\n");
    for (name, line, character) in [("base", 0, 5), ("base", 1, 14), ("main", 1, 11)] {
        for declared in [true, false] {
            let position = json!({ "line": line, "character": character });
            let context = json!({ "includeDeclaration": declared });
            let params = json!({ "textDocument": { "uri": uri(name) }, "position": position, "context": context });
            let found = client.ask("textDocument/references", params).expect("places");
            let mut places: Vec<(String, u64, u64)> = Vec::new();
            for place in found.as_array().expect("a list") {
                let start = |what: &str| place["range"]["start"][what].as_u64().expect("a number");
                places.push((place["uri"].as_str().expect("an address").to_string(), start("line"), start("character")));
            }
            let mut wanted = vec![(uri("base"), 0, 4), (uri("base"), 1, 13), (uri("base"), 1, 20), (uri("main"), 1, 10)];
            wanted.drain(..usize::from(!declared));
            assert_eq!(places, wanted, "{name} {line}");
        }
    }
    client.shut_down();
}

#[test]
fn a_cost_is_that_of_the_text_as_it_is() {
    let mut client = Client::ready();
    let slow = "let f (v: Vector<n>) (M: Matrix<n, n>) : Vector<n> = gradient (fun v -> logSumExp (M * v) + vectorNorm (M * (M * v))) v\n";
    client.open(URI, slow);
    let position = json!({ "textDocument": { "uri": URI }, "position": { "line": 0, "character": 4 } });
    client.request("textDocument/hover", position.clone());
    client.tell(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [{ "text": "let f (x: Double) : Double = x * x\n" }] }),
    );
    // the text has changed and is analysed before the cost of the first one is known
    client.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
    let mut answers = 0;
    while answers < 2 {
        answers += usize::from(matches!(client.read(), lsp_server::Message::Response(_)));
    }
    let now = client.ask("textDocument/hover", position).expect("an answer").to_string();
    assert!(now.contains("cost after all rules: 1"), "{now}");
    client.shut_down();
}

#[test]
fn what_is_shown_of_two_entries_is_in_two_files() {
    let mut client = Client::ready();
    let mut kept = Vec::new();
    for (uri, entry) in [("file:///a/m.smooth", "f"), ("file:///b/m.smooth", "f"), (URI, "g'"), (URI, "g_prime"), (URI, "G'")] {
        client.open(uri, &format!("let {entry} (x: Double) : Double = x * x\n"));
        for _ in 0..2 {
            let shown = json!({ "command": "smoothc.showDerivative", "arguments": [uri, entry] });
            let shown = client.ask("workspace/executeCommand", shown).expect("a derivative");
            kept.push(shown["uri"].as_str().expect("an address").to_string());
        }
    }
    // of one entry it is one file
    assert!(kept.chunks(2).all(|both| both[0] == both[1]), "{kept:?}");
    let different: std::collections::BTreeSet<String> = kept.iter().map(|uri| uri.to_lowercase()).collect();
    assert_eq!(different.len(), 5, "{kept:?}");
    client.shut_down();
}

#[test]
fn a_request_without_a_number_is_refused() {
    let mut client = Client::ready();
    for id in ["99999999999", "1.5", "-3000000000", "true", "null", "[1]"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"nope","params":{{}}}}"#);
        client.write(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        // where it is not answered the next one is
        client.request("smoothc/unknown", json!({}));
        let answer: Value = serde_json::from_str(&client.read_raw()).expect("JSON");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32600)), "{id}: {answer}");
        client.read();
    }
    client.shut_down();
}

#[test]
fn the_reason_why_a_name_cannot_be_another_is_the_true_one() {
    let mut client = Client::ready();
    let text = "let area (s: Shape) : Double =\n  match s with\n  | Circle r -> r\n  | Box (a, b) -> a * b\n  | Empty -> 0.0\n\
                let bad (x: Double) = w + x\n";
    client.open(URI, &format!("{TYPES}{text}"));
    let mut refused = |line: u32, character: u32, name: &str| {
        let position = json!({ "line": line, "character": character });
        let params = json!({ "textDocument": { "uri": URI }, "position": position, "newName": name });
        client.ask("textDocument/rename", params).err()
    };
    let case = refused(2, 15, "disk").expect("a case has a capital");
    assert!(case.contains("capital") && !case.contains("`w`"), "{case}");
    assert_eq!(refused(2, 15, "Disk"), None);
    for (line, character, name) in [(6, 11, "Radius"), (7, 12, "Width"), (6, 11, "Box")] {
        let variable = refused(line, character, name).expect(name);
        assert!(variable.contains("a name with a capital is a case"), "{variable}");
    }
    assert_eq!(refused(6, 11, "radius"), None);
    client.shut_down();
}

#[test]
fn entries_are_shown_beside_what_is_wrong() {
    let mut client = Client::ready();
    for wrong in ["let bad (x: Double) = w + x\n", "let bad (x: Double) = (x\n", "let bad (x: Double) = twice [x]\n"] {
        client.open(
            URI,
            &format!("{TYPES}{wrong}let worse (x: Double) = bad x\n\n/// Four times x.\nlet last (x: Double) = twice (twice x)\n"),
        );
        let lenses = client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": URI } })).expect("lenses");
        let lines: Vec<u64> =
            lenses.as_array().expect("a list").iter().filter_map(|lens| lens["range"]["start"]["line"].as_u64()).collect();
        assert_eq!(lines, [3, 3, 8, 8], "{wrong}");
        let shown = client.ask("workspace/executeCommand", lenses[2]["command"].clone()).expect("a derivative");
        assert!(shown["text"].as_str().expect("text").contains("gradient of `last`"), "{shown}");
        let hover = client.at("hover", URI, 8, 5).expect("an answer")["contents"]["value"].as_str().unwrap_or_default().to_string();
        assert!(hover.contains("Four times x.") && hover.contains("cost after all rules: 1"), "{hover}");
        let hover = client.at("hover", URI, 4, 5).expect("an answer")["contents"]["value"].as_str().unwrap_or_default().to_string();
        assert!(!hover.contains("cost"), "{hover}");
    }
    client.shut_down();
}

/// The number of the edits that rename the first `old` behind `start`, or why it is refused.
fn renamed(client: &mut Client, uri: &str, text: &str, (start, old, new): (&str, &str, &str)) -> Result<usize, String> {
    let at = text.find(start).expect("it is there");
    let at = at + text[at..].find(old).expect("it is there");
    let line_start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let position = json!({ "line": text[..at].matches('\n').count(), "character": at - line_start });
    let params = json!({ "textDocument": { "uri": uri }, "position": position, "newName": new });
    let edits = client.ask("textDocument/rename", params)?;
    Ok(edits["changes"].as_object().expect("edits").values().map(|edits| edits.as_array().map_or(0, Vec::len)).sum())
}

#[test]
fn what_is_not_read_may_have_places() {
    let mut client = Client::ready();
    let text = "\
type Camera<n> = { focal: Double; centre: Vector<n> }
type Shape = | Disc of Double | Empty
let project (a: Double) (v: Vector<m>) : Double =
  let x = a * vectorSum v in x + double m
let other (x: Double) : Double = project x [x]
";
    for (wrong, missed, safe) in [
        ("let use (a: Double) = project a (project a a\n", "project", "Shape"),
        ("let use (a: Double) = proj a +\nlet use2 (a: Double) = a\n", "project", "Camera"),
        ("let use (c: Camera) = (c\n", "Camera", "project"),
        ("let use c = c.focal * \n", "focal", "centre"),
        ("let use s = match s with | Disc r\n", "Disc", "focal"),
        ("let use = (* project\n", "project", "Camera"),
        ("let other (x: Double) = project x [x]\n", "project", "Camera"),
        ("let use =\n", "", "project"),
    ] {
        let text = format!("{text}{wrong}");
        client.open(URI, &text);
        let start = |name: &str| if name == "project" { "let project" } else { "type" };
        if !missed.is_empty() {
            let new = if missed == "Disc" { "Proj" } else { "proj" };
            let why = renamed(&mut client, URI, &text, (start(missed), missed, new)).expect_err(wrong);
            let said =
                if wrong.starts_with("let other") { "line 6 has an error (`other` is declared twice)" } else { "line 6 does not parse" };
            assert!(why.starts_with(said) && why.ends_with("mend it first"), "{wrong}: {why}");
        }
        assert!(renamed(&mut client, URI, &text, (start(safe), safe, "new")).is_ok(), "{wrong}");
        // all places of what is local are in a declaration that parses
        for (start, old, count) in [("let x", "x", 2), ("v:", "v", 2), ("<m>", "m", 2), ("<n>", "n", 2)] {
            assert_eq!(renamed(&mut client, URI, &text, (start, old, "new")), Ok(count), "{wrong}: {old}");
        }
    }
    // errors of types may hide whose field it is
    let text =
        "type A = { at: Double }\ntype B = { at: Double; to: Double }\nlet f (a: A) = a.at\nlet g x = (sin x).at\nlet h (b: B) = b.to\n";
    client.open(URI, text);
    let why = renamed(&mut client, URI, text, ("at", "at", "new")).expect_err("a field");
    assert_eq!(why, "errors hide which record has the `at` in line 4: mend them first");
    assert_eq!(renamed(&mut client, URI, text, ("to", "to", "new")), Ok(2));
    client.shut_down();
}

#[test]
fn what_is_not_read_in_other_open_texts_may_have_places() {
    let mut client = Client::ready();
    let uri = |name: &str| format!("file:///programs/{name}.smooth");
    let base = "type P = { a: Double }\nlet k (p: P) (x: Double) : Double = p.a * x\n";
    client.open(&uri("base"), base);
    // no place in it is known
    client.open(&uri("main"), "open \"base.smooth\"\nlet one = 1.0\nlet bad (p: P) = k p (\n");
    for (start, old) in [("let k", "k"), ("type", "P")] {
        let why = renamed(&mut client, &uri("base"), base, (start, old, "new")).expect_err(old);
        assert_eq!(why, "line 3 of `main.smooth` does not parse, so that places of the name may be missed: mend it first");
    }
    assert_eq!(renamed(&mut client, &uri("base"), base, ("{", "a", "new")), Ok(2));
    assert_eq!(renamed(&mut client, &uri("base"), base, ("(x", "x", "new")), Ok(2));
    // and the other way round
    let main = "open \"base.smooth\"\nlet f (p: P) = k p 2.0\n";
    client.open(&uri("main"), main);
    client.open(&uri("base"), &format!("{base}let bad (p: P) = k p (\n"));
    let why = renamed(&mut client, &uri("main"), main, ("= k", "k", "new")).expect_err("it is refused");
    assert!(why.starts_with("line 3 of `base.smooth` does not parse"), "{why}");
    client.shut_down();
}

#[test]
fn an_open_leads_to_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("parts")).expect("a folder");
    std::fs::write(folder.path().join("parts/base.smooth"), "// first\nlet twice x = 2.0 * x\n").expect("writes");
    let uri = |name: &str| format!("file://{}/{name}.smooth", folder.path().display());
    let mut client = Client::ready();
    let text = "open \"parts/base.smooth\"\nopen \"kept.smooth\" // é\nopen \"none.smooth\"\nopen linalg\nlet f x = (twice\n";
    client.open(&uri("kept"), "let k = (\n");
    client.open(&uri("main"), text);
    for (line, column, file) in [
        (0, 5, Some("parts/base")),
        (0, 24, Some("parts/base")),
        (0, 2, None),
        (1, 9, Some("kept")),
        (1, 21, None),
        (2, 9, None),
        (4, 12, None),
    ] {
        let found = client.at("definition", &uri("main"), line, column).expect("an answer");
        let start = json!({ "line": 0, "character": 0 });
        let wanted = file.map_or(Value::Null, |file| json!({ "uri": uri(file), "range": { "start": start, "end": start } }));
        assert_eq!(found, wanted, "{line}:{column}");
    }
    let library = client.at("definition", &uri("main"), 3, 7).expect("an answer");
    assert!(library["uri"].as_str().expect("an address").ends_with("linalg.smooth"), "{library}");
    client.shut_down();
}

/// The first word behind `start` that is `word`, as it is shown.
fn hovered(client: &mut Client, text: &str, start: &str, word: &str) -> Option<String> {
    let at = text.find(start).expect("it is there");
    let at = at + text[at..].find(word).expect("it is there");
    let line_start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let found = client.at("hover", URI, text[..at].matches('\n').count() as u32, (at - line_start) as u32).expect("an answer");
    let length = found["range"]["end"]["character"].as_u64()? - found["range"]["start"]["character"].as_u64()?;
    assert_eq!(length, word.len() as u64, "{word}");
    Some(found["contents"]["value"].as_str().expect("text").replace("```smooth\n", "").replace("\n```\n", "; "))
}

#[test]
fn types_are_described() {
    let mut client = Client::ready();
    let text = "\
type Camera<n> = { focal: Double
                   centre: Vector<n> }
type Tree = | Leaf of (Double * Double) | Node of Forest // Vector
and Forest = | None | Some of Tree * Forest
let f (c: Camera<3>) (t: Tree) (M: Matrix<n, m>) (k: Index<4>) : VectorD = (* Double *)
  let g (u: Vector<p>) (w: Vector<q>) = vectorMap w (fun x -> vectorMap u (fun y -> x * y))
  let h x = x
  let v = vectorMap M (fun row -> vectorSum row)
  build (length v) (fun i -> (v[i], h 1.0))
";
    for rest in ["", "let bad = (\n"] {
        client.open(URI, &format!("{text}{rest}"));
        for (start, word, wanted) in [
            ("(c", "Camera", "type Camera<n> = { focal: Double\n                   centre: Vector<n> }; "),
            ("(t", "Tree", "type Tree = | Leaf of (Double * Double) | Node of Forest; "),
            ("Node of", "Forest", "type Forest = | None | Some of Tree * Forest; "),
            ("focal", "Double", "type Double; A number: IEEE's doubles of 64 bits, or what `--real` says."),
            ("(M", "Matrix", "type Matrix; `Matrix<r, c>`: r rows of c Doubles, `Array<Array<Double, c>, r>`. `Matrix` has any size."),
            ("(k", "Index", "type Index; A whole number of 64 bits. `Index<s>` is one in 0 … s - 1."),
            (") : ", "VectorD", "type VectorD; `VectorD<s>` is `Array<DoubleD, s>`: an array of numbers with derivatives."),
            ("let g", "g", "g : Vector<'n> => Vector<'m> => Matrix<'m, 'n>; "),
            ("(u", "u", "u : Vector<'n>; "),
            ("let h", "h", "h : 'a => 'a; "),
            ("let v", "v", "v : Vector<n>; "),
        ] {
            assert_eq!(hovered(&mut client, text, start, word).as_deref(), Some(wanted), "{start} {word}");
        }
        // in a comment it is no type
        assert_eq!(hovered(&mut client, text, "// V", "Vector"), None);
        assert_eq!(hovered(&mut client, text, "(* D", "Double"), None);
    }
    for name in smoothc::syntax::BUILT_IN_TYPES {
        let text = format!("let f (x: {name}");
        client.open(URI, &text);
        let said = hovered(&mut client, &text, ":", name).expect("every type is described");
        assert!(said.starts_with(&format!("type {name}; ")) && said.ends_with('.'), "{said}");
    }
    client.shut_down();
}
