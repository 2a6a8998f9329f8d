//! What `smoothc lsp` says by the place: names that complete it, reasons why a name cannot be another, and entries beside what is wrong.

#[allow(dead_code)]
mod support {
    pub mod client;
}

use serde_json::{Value, json};
use support::client::Client;

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
