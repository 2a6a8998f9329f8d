//! `smoothc lsp` as an editor uses it: a scripted client over the protocol.

use serde_json::{Value, json};

use crate::generator::grow;
use crate::support::client::Client;

const URI: &str = "file:///programs/model.smooth";

#[test]
fn errors_are_shown_while_one_types() {
    let mut client = Client::ready();
    client.open(URI, "let f (v: Vector<n>) = vectorSum w\n");
    assert_eq!(client.problems(URI), ["E0202 0:33-0:34"]);
    assert!(client.diagnostics[URI][0]["message"].as_str().expect("text").starts_with("unknown name `w`\nhelp: "));
    // the name is mended by an edit of one letter
    let range = json!({ "start": { "line": 0, "character": 33 }, "end": { "line": 0, "character": 34 } });
    let change = json!([{ "range": range, "text": "v" }]);
    client.tell("textDocument/didChange", json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": change }));
    assert_eq!(client.problems(URI), Vec::<String>::new());
    // the whole text anew
    let change = json!([{ "text": "let f = (\n" }]);
    client.tell("textDocument/didChange", json!({ "textDocument": { "uri": URI, "version": 3 }, "contentChanges": change }));
    assert_eq!(client.problems(URI).len(), 1);
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(client.problems(URI), Vec::<String>::new());
    client.shut_down();
}

#[test]
fn the_protocol_is_kept() {
    let mut client = Client::start();
    assert_eq!(client.ask("textDocument/hover", json!({})), Err("`initialize` comes first".into()));
    let capabilities = client.ask("initialize", json!({ "capabilities": {} })).expect("it is initialised");
    assert_eq!(capabilities["capabilities"]["positionEncoding"], "utf-16");
    assert!(client.ask("initialize", json!({})).is_err());
    assert_eq!(client.ask("smoothc/unknown", json!({})), Err("`smoothc/unknown` is not known".into()));
    client.tell("$/unknown", json!({ "x": 1 }));
    client.tell("textDocument/didChange", json!(7));
    client.tell("textDocument/didOpen", Value::Null);
    client.tell("$/cancelRequest", json!({ "id": 12345 }));
    assert!(client.ask("textDocument/hover", json!([])).is_err());
    assert!(client.at("hover", "file:///closed.smooth", 0, 0).is_err());
    client.write(b"Content-Length: 3\r\n\r\n{]}");
    assert!(client.read_raw().contains("-32700"));
    client.write(b"what is this\r\n");
    assert!(client.read_raw().contains("is no header"));
    assert!(client.ask("shutdown", Value::Null).is_ok());
    assert_eq!(client.ask("textDocument/hover", json!({})), Err("the server was shut down".into()));
    client.tell("exit", Value::Null);
    assert_eq!(client.end(), 0);
    // no `shutdown`, and the end of the stream
    let mut client = Client::ready();
    client.tell("exit", Value::Null);
    assert_eq!(client.end(), 1);
    assert_eq!(Client::ready().end(), 1);
    assert_eq!(Client::start().end(), 1);
}

#[test]
fn empty_and_odd_texts_are_texts() {
    let mut client = Client::ready();
    for (at, text) in
        ["", "\u{feff}", "\u{0}", "let", "\r", "// é𝄞", "(*", "let f x = x\r\nlet g = f 𝄞", "open \"model.smooth\""].iter().enumerate()
    {
        let uri = format!("file:///odd/{at}.smooth");
        client.open(&uri, text);
        for method in ["hover", "definition", "completion", "documentHighlight", "prepareRename"] {
            for character in [0, 3, 9, 4_000_000_000] {
                client.at(method, &uri, at as u32 % 2, character).unwrap_or_else(|why| panic!("{text:?}: {method}: {why}"));
            }
        }
        for method in ["documentSymbol", "codeLens"] {
            client.ask(&format!("textDocument/{method}"), json!({ "textDocument": { "uri": uri } })).expect(method);
        }
        let options = json!({ "tabSize": 2, "insertSpaces": true });
        client.ask("textDocument/formatting", json!({ "textDocument": { "uri": uri }, "options": options })).expect("formats");
    }
    // a text in no file cannot open one
    client.open("untitled:Untitled-1", "open \"other.smooth\"\nlet f x = x * 1.0\n");
    assert_eq!(client.problems("untitled:Untitled-1"), ["E0004 0:0-0:19"]);
    client.shut_down();
}

#[test]
fn functions_without_end_are_an_error_while_one_types() {
    let mut client = Client::ready();
    client.open(URI, include_str!("../../examples/errors/E0316_function_made_in_each_call.smooth"));
    assert_eq!(client.problems(URI), ["E0316 1:25-1:60"]);
    client.shut_down();
}

#[test]
fn what_decreases_is_the_parameter() {
    let mut client = Client::ready();
    client.open(URI, "let rec f (n: Index) : Double decreases n = if n <= 0 then 1.0 else 2.0 * f (n - 1)\n");
    let found = client.at("definition", URI, 0, 40).expect("a definition");
    assert_eq!(found["range"]["start"], json!({ "line": 0, "character": 11 }));
    client.shut_down();
}

#[test]
fn places_are_counted_in_utf16() {
    let mut client = Client::ready();
    client.open(URI, "let f (v: Vector<n>) = vectorSum v\n// 𝄞\nlet g x = (* 𝄞𝄞 *) f x + y\n");
    assert_eq!(client.problems(URI), ["E0202 2:27-2:28"]);
    let edit = json!([{ "range": { "start": { "line": 2, "character": 27 }, "end": { "line": 2, "character": 28 } }, "text": "1.0" }]);
    client.tell("textDocument/didChange", json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": edit }));
    assert_eq!(client.problems(URI), Vec::<String>::new());
    let found = client.at("definition", URI, 2, 21).expect("a definition");
    assert_eq!(found["range"]["start"], json!({ "line": 0, "character": 4 }));
    client.shut_down();
}

const MODEL: &str = "\
type Camera = { focal: Double; centre: Vector<2> }

/// The squared length of v.
let norm (v: Vector<n>) : Double =
  let square x = x * x
  vectorSum (vectorMap v square)

let loss (c: Camera) (points: Matrix<m, 2>) : Double =
  let scaled p = c.focal * (p - c.centre)
  vectorSum (vectorMap points (fun p -> norm (scaled p))) / double m
";

/// The text under the pointer.
fn hover(client: &mut Client, line: u32, character: u32) -> String {
    client.at("hover", URI, line, character).expect("an answer")["contents"]["value"].as_str().unwrap_or_default().to_string()
}

#[test]
fn hover_says_type_sizes_documentation_and_cost() {
    let mut client = Client::ready();
    client.open(URI, MODEL);
    assert_eq!(client.problems(URI), Vec::<String>::new());
    let norm = hover(&mut client, 3, 5);
    assert!(norm.starts_with("```smooth\nlet norm (v: Vector<n>) : Double\n```\nThe squared length of v."), "{norm}");
    assert!(norm.contains("cost after all rules: 3 n: operations on Doubles 2 n, reads n"), "{norm}");
    // once more, now that it is known
    assert_eq!(hover(&mut client, 9, 41), norm);
    for (line, character, wanted) in [
        (3, 10, "v : Vector<n>"),
        (5, 24, "v : Vector<n>"),
        (4, 7, "square : Double => Double"),
        (3, 20, "n : Index"),
        (8, 17, "c : Camera"),
        (8, 20, "focal: Double"),
        (8, 35, "centre: Vector<2>"),
        (7, 14, "type Camera = { focal: Double; centre: Vector<2> }"),
        (9, 67, "m : Index"),
        (9, 61, "double : Index => Double"),
        (5, 5, "vectorSum (v: Vector<v_n>) : Double"),
    ] {
        let text = hover(&mut client, line, character);
        assert!(text.starts_with(&format!("```smooth\n{wanted}\n```\n")), "{line}:{character}: {text}");
    }
    // nothing under the pointer, and a text with an error elsewhere
    assert_eq!(client.at("hover", URI, 1, 0), Ok(Value::Null));
    client.open("file:///programs/broken.smooth", "let f (v: Vector<n>) = vectorNorm v\nlet g = (\n");
    let text = client.at("hover", "file:///programs/broken.smooth", 0, 4).expect("an answer");
    assert!(text["contents"]["value"].as_str().expect("text").contains("let f (v: Vector<n>) : Double"), "{text}");
    client.shut_down();
}

#[test]
fn names_lead_to_their_declarations() {
    let mut client = Client::ready();
    client.open(URI, MODEL);
    let mut place = |line, character| {
        let found = client.at("definition", URI, line, character).expect("an answer");
        (
            found["uri"].as_str().unwrap_or_default().to_string(),
            found["range"]["start"]["line"].clone(),
            found["range"]["start"]["character"].clone(),
        )
    };
    let here = |line: u32, character: u32| (URI.to_string(), json!(line), json!(character));
    assert_eq!(place(9, 41), here(3, 4));
    assert_eq!(place(8, 28), here(8, 13));
    assert_eq!(place(9, 46), here(8, 6));
    assert_eq!(place(8, 20), here(0, 16));
    assert_eq!(place(9, 67), here(7, 37));
    let (library, ..) = place(5, 5);
    assert!(library.ends_with("linalg.smooth"), "{library}");
    let path = library.strip_prefix("file://").expect("a file");
    assert!(std::fs::read_to_string(path).expect("it is there").contains("let vectorSum v"));
    // a client that opens it sees no warnings in it
    client.open(&library, &std::fs::read_to_string(path).expect("it is there"));
    assert_eq!(client.problems(&library), Vec::<String>::new());
    let symbols = client.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } })).expect("symbols");
    let names: Vec<&str> = symbols.as_array().expect("a list").iter().filter_map(|symbol| symbol["name"].as_str()).collect();
    assert_eq!(names, ["Camera", "norm", "loss"]);
    client.shut_down();
}

/// A text after the edits that a renaming gives for it.
fn renamed(client: &mut Client, at: (u32, u32), name: &str) -> Result<String, String> {
    let position = json!({ "line": at.0, "character": at.1 });
    let params = json!({ "textDocument": { "uri": URI }, "position": position, "newName": name });
    let edits = client.ask("textDocument/rename", params)?;
    let mut lines: Vec<String> = MODEL.lines().map(str::to_string).collect();
    for edit in edits["changes"][URI].as_array().expect("edits").iter().rev() {
        let number = |end: &str, what: &str| edit["range"][end][what].as_u64().expect("a number") as usize;
        assert_eq!(number("start", "line"), number("end", "line"));
        let text = edit["newText"].as_str().expect("text");
        lines[number("start", "line")].replace_range(number("start", "character")..number("end", "character"), text);
    }
    Ok(lines.join("\n") + "\n")
}

#[test]
fn renaming_keeps_the_meaning() {
    let mut client = Client::ready();
    client.open(URI, MODEL);
    for (at, old, new, count) in [
        ((3, 5), "norm", "length2", 2),
        ((9, 67), "m", "rows", 2),
        ((8, 20), "focal", "f", 2),
        ((7, 14), "Camera", "Lens", 2),
        ((8, 28), "centre", "mid", 0),
    ] {
        let text = renamed(&mut client, at, new);
        if count == 0 {
            // the place is `p`
            assert_eq!(text.expect("renames").matches("mid").count(), 2);
            continue;
        }
        let text = text.unwrap_or_else(|why| panic!("{old}: {why}"));
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| *word == new).count();
        assert_eq!(words, count, "{text}");
        client.open("file:///programs/renamed.smooth", &text);
        assert_eq!(client.problems("file:///programs/renamed.smooth"), Vec::<String>::new(), "{text}");
    }
    for (at, new, why) in [
        ((8, 28), "c", "another declaration"),
        ((9, 46), "norm", "another declaration"),
        ((5, 5), "sum", "function of the library"),
        ((9, 61), "d", "built-in"),
        ((3, 5), "let", "reserved"),
        ((3, 5), "1x", "no name"),
        ((3, 5), "loss", ""),
        ((3, 10), "square", "another declaration"),
    ] {
        let refused = renamed(&mut client, at, new).expect_err(new);
        assert!(refused.contains(why), "{new}: {refused}");
    }
    client.shut_down();
}

#[test]
fn files_that_open_each_other_are_one_program() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("base.smooth"), "let twice x = 2.0 * x\n").expect("writes");
    let uri = |name: &str| format!("file://{}/{name}", folder.path().display());
    let mut client = Client::ready();
    client.open(&uri("main.smooth"), "open \"base.smooth\"\nlet f x = twice x + twice 1.0\n");
    assert_eq!(client.problems(&uri("main.smooth")), Vec::<String>::new());
    let found = client.at("definition", &uri("main.smooth"), 1, 11).expect("an answer");
    assert_eq!((found["uri"].clone(), found["range"]["start"]["character"].clone()), (json!(uri("base.smooth")), json!(4)));
    // the editor's text of the other file counts, not the disk's
    client.open(&uri("base.smooth"), "let double2 x = 2.0 * x\n");
    assert_eq!(client.problems(&uri("main.smooth")), ["E0202 1:10-1:15", "E0202 1:20-1:25"]);
    client.open(&uri("base.smooth"), "let twice x = (\n");
    assert_eq!(client.problems(&uri("main.smooth"))[0], "E0102 0:0-0:18");
    client.open(&uri("base.smooth"), "let twice x = 2.0 * x\n");
    assert_eq!(client.problems(&uri("main.smooth")), Vec::<String>::new());
    let params = json!({ "textDocument": { "uri": uri("base.smooth") }, "position": { "line": 0, "character": 5 }, "newName": "dbl" });
    let edits = client.ask("textDocument/rename", params).expect("renames");
    assert_eq!(edits["changes"][uri("main.smooth")].as_array().map(Vec::len), Some(2), "{edits}");
    assert_eq!(edits["changes"][uri("base.smooth")].as_array().map(Vec::len), Some(1), "{edits}");
    client.shut_down();
}

#[test]
fn completion_knows_local_names_the_library_and_fields() {
    let mut client = Client::ready();
    client.open(URI, &format!("{MODEL}let g (weights: Vector<k>) = let half = 0.5 in vectorN\nlet h (c: Camera) = c.\n"));
    let mut items = |line, character| {
        let found = client.at("completion", URI, line, character).expect("an answer");
        found.as_array().expect("a list").clone()
    };
    let names = |items: &[Value]| -> Vec<String> { items.iter().filter_map(|item| item["label"].as_str()).map(str::to_string).collect() };
    let all = items(10, 54);
    for name in ["weights", "half", "norm", "loss", "vectorNorm", "gradient", "sin", "pi", "let", "Vector", "Camera"] {
        assert_eq!(names(&all).iter().filter(|found| *found == name).count(), 1, "{name}");
    }
    assert!(!names(&all).iter().any(|name| name == "g" || name == "k" || name.starts_with('_')));
    let item = |name: &str| all.iter().find(|item| item["label"] == name).expect("it is there").clone();
    assert_eq!(item("vectorNorm")["detail"], "vectorNorm (v: Vector<n>) : Double");
    assert!(item("sin")["documentation"]["value"].as_str().expect("text").contains("`cos x * dx`"));
    assert_eq!(names(&items(11, 22)), ["focal", "centre"]);
    // in comments nothing
    client.open(URI, "// vec");
    assert_eq!(client.at("completion", URI, 0, 6), Ok(json!([])));
    client.shut_down();
}

#[test]
fn texts_are_formatted() {
    let mut client = Client::ready();
    let mut format = |text: &str| {
        client.open(URI, text);
        let options = json!({ "tabSize": 2, "insertSpaces": true });
        client.ask("textDocument/formatting", json!({ "textDocument": { "uri": URI }, "options": options })).expect("an answer")
    };
    let edits = format("let f  x=\n    x*x");
    assert_eq!(edits[0]["newText"], "let f x =\n  x * x\n");
    assert_eq!(edits[0]["range"]["end"], json!({ "line": 1, "character": 7 }));
    assert_eq!(format("let f x =\n  x * x\n"), json!([]));
    assert_eq!(format("let f  x= ("), json!([]));
    client.shut_down();
}

#[test]
fn lenses_show_derivatives() {
    let mut client = Client::ready();
    // C has no trees in signatures, so that there is nothing to show of `leaves`
    let tree = "type Tree = Leaf of Double | Node of Tree * Tree\nlet rec leaves (t: Tree) : Double = match t with\n  | Leaf x -> x\n  | Node (a, b) -> leaves a + leaves b\n";
    client.open(URI, &format!("{MODEL}let count (n: Index) = n + 1\n{tree}"));
    let lenses = client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": URI } })).expect("lenses");
    let titles: Vec<String> = lenses
        .as_array()
        .expect("a list")
        .iter()
        .map(|lens| format!("{} {}", lens["range"]["start"]["line"], lens["command"]["title"]))
        .collect();
    let (derivative, optimised) = ("\"show derivative\"", "\"show optimised\"");
    let wanted = [(3, derivative), (3, optimised), (7, derivative), (7, optimised), (10, optimised)];
    assert_eq!(titles, wanted.map(|(line, title)| format!("{line} {title}")));
    let shown = client.ask("workspace/executeCommand", lenses[0]["command"].clone()).expect("a derivative");
    let text = shown["text"].as_str().expect("text");
    assert!(text.starts_with("// The gradient of `norm` in all its parameters"), "{text}");
    assert!(text.contains("norm_gradient_all") && text.contains("cost: "), "{text}");
    // the editor was asked to open it
    assert_eq!(client.asked.len(), 1);
    assert_eq!(client.asked[0].params["uri"], shown["uri"]);
    let path = shown["uri"].as_str().and_then(|uri| uri.strip_prefix("file://")).expect("a file");
    assert_eq!(std::fs::read_to_string(path).expect("it is there"), text);
    for (command, arguments) in
        [("smoothc.showDerivative", json!([])), ("smoothc.showDerivative", json!([URI, "none"])), ("x", json!([URI, "norm"]))]
    {
        client.ask("workspace/executeCommand", json!({ "command": command, "arguments": arguments })).expect_err(command);
    }
    // a warning before it is not why there is none
    client.open(URI, &format!("let g (x: Double) (unused: Double) : Double = x\n{MODEL}let count (n: Index) = n + 1\n"));
    for command in ["smoothc.showDerivative", "smoothc.showOptimised"] {
        let arguments = json!({ "command": command, "arguments": [URI, "none"] });
        let why = client.ask("workspace/executeCommand", arguments).expect_err(command);
        assert!(why.contains("there is no entry `none`"), "{why}");
    }
    let shown = client.ask("workspace/executeCommand", lenses[4]["command"].clone()).expect("a program");
    assert!(shown["text"].as_str().expect("text").contains("n + 1"), "{shown}");
    client.shut_down();
    assert!(!std::path::Path::new(path).exists(), "{path}");
}

#[test]
fn every_example_is_shown_without_errors() {
    let mut client = Client::ready();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    for file in std::fs::read_dir(folder).expect("examples").map(|file| file.expect("a file").path()) {
        if file.extension().is_none_or(|ending| ending != "smooth") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("it is readable");
        let uri = format!("file://{}", file.display());
        client.open(&uri, &text);
        let errors: Vec<String> = client.problems(&uri).into_iter().filter(|found| found.starts_with('E')).collect();
        assert_eq!(errors, Vec::<String>::new(), "{uri}");
        client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": uri } })).expect("lenses");
        for (line, _) in text.lines().enumerate() {
            for character in [4, 12, 20, 33] {
                client.at("definition", &uri, line as u32, character).expect("an answer");
                client.at("documentHighlight", &uri, line as u32, character).expect("an answer");
            }
        }
    }
    client.shut_down();
}

#[test]
fn texts_that_end_anywhere_are_answered() {
    let mut client = Client::ready();
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/tour.smooth")).expect("it is readable");
    let cuts: Vec<usize> = (1..40).map(|part| text.len() * part / 40).filter(|at| text.is_char_boundary(*at)).collect();
    for (version, cut) in cuts.into_iter().enumerate() {
        let uri = format!("file:///cut/{version}.smooth");
        client.open(&uri, &text[..cut]);
        let problems = client.problems(&uri);
        assert!(!problems.iter().any(|problem| problem.starts_with("E09")), "{cut}: {problems:?}");
        let line = text[..cut].matches('\n').count() as u32;
        let column = text[..cut].rsplit('\n').next().map_or(0, |last| last.encode_utf16().count()) as u32;
        for method in ["completion", "definition", "hover"] {
            client.at(method, &uri, line, column).unwrap_or_else(|why| panic!("{cut}: {method}: {why}"));
        }
    }
    client.shut_down();
}

#[test]
fn deep_and_long_texts_are_answered() {
    let mut client = Client::ready();
    let lets: String = (0..2000).map(|at| format!("  let x{} = x{at} + 1.0\n", at + 1)).collect();
    let long: String = (0..1500).map(|at| format!("let f{at} x = x * {at}.0\n")).collect();
    let brackets = format!("let f x = {}x{}\n", "(".repeat(450), ")".repeat(450));
    for (name, text, line) in [("lets", format!("let f x0 =\n{lets}  x2000\n"), 1999), ("long", long, 1400), ("brackets", brackets, 0)] {
        let uri = format!("file:///deep/{name}.smooth");
        client.open(&uri, &text);
        assert_eq!(client.problems(&uri), Vec::<String>::new(), "{name}");
        client.at("definition", &uri, line, 6).expect("an answer");
        client.at("completion", &uri, line, 11).expect("an answer");
    }
    client.shut_down();
}

#[test]
fn a_request_that_is_cancelled_is_answered_once() {
    let mut client = Client::ready();
    client.open(URI, MODEL);
    let position = json!({ "line": 7, "character": 5 });
    let ids: Vec<i32> =
        (0..3).map(|_| client.request("textDocument/hover", json!({ "textDocument": { "uri": URI }, "position": position }))).collect();
    client.tell("$/cancelRequest", json!({ "id": ids[2] }));
    let mut answered = Vec::new();
    while answered.len() < 3 {
        if let lsp_server::Message::Response(response) = client.read() {
            answered.push((response.id, response.error.map(|error| error.code)));
        }
    }
    for id in ids {
        assert_eq!(answered.iter().filter(|(other, _)| *other == id.into()).count(), 1, "{answered:?}");
    }
    // -32800 where it was in time
    assert!(answered.iter().all(|(_, error)| error.is_none_or(|code| code == -32800)), "{answered:?}");
    client.shut_down();
}

/// The words of a text with their places; a word begins with a letter or `_`.
fn words(text: &str) -> Vec<(u32, u32, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut at = 0;
        while let Some(start) = line[at..].find(is_part).map(|start| at + start) {
            let end = line[start..].find(|c| !is_part(c)).map_or(line.len(), |length| start + length);
            // the exponent of a number is no name
            if line[start..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !line[..start].ends_with('.') {
                found.push((number as u32, line[..start].encode_utf16().count() as u32, &line[start..end]));
            }
            at = end;
        }
    }
    found
}

#[test]
fn every_name_of_generated_programs_can_be_renamed() {
    let mut client = Client::ready();
    let mut count = 0;
    for seed in 0..8 {
        let text = grow::program(seed, "f", false).text();
        client.open(URI, &text);
        if client.problems(URI).iter().any(|problem| problem.starts_with('E')) {
            continue;
        }
        let all = words(&text);
        let known =
            |word: &str| smoothc::syntax::RESERVED.contains(&word) || smoothc::syntax::BUILT_IN_TYPES.contains(&word) || word == "_";
        for (line, character, word) in all.iter().filter(|(_, _, word)| !known(word)).step_by(all.len() / 12 + 1) {
            let position = json!({ "line": line, "character": character });
            let params = json!({ "textDocument": { "uri": URI }, "position": position, "newName": "zz_renamed" });
            let edits = match client.ask("textDocument/rename", params) {
                Ok(edits) => edits["changes"][URI].as_array().expect("edits").clone(),
                Err(why) if why.contains("cannot be renamed") => continue,
                Err(why) => panic!("{seed}: {word} at {line}:{character}: {why}\n{text}"),
            };
            // a place that is missed would be an unknown name, one too many another meaning
            let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
            for edit in edits.iter().rev() {
                let number = |end: &str, what: &str| edit["range"][end][what].as_u64().expect("a number") as usize;
                let line = &mut lines[number("start", "line")];
                assert_eq!(&line[number("start", "character")..number("end", "character")], *word, "{seed}: {text}");
                line.replace_range(number("start", "character")..number("end", "character"), "zz_renamed");
            }
            let renamed = lines.join("\n");
            client.open("file:///programs/renamed.smooth", &renamed);
            let errors: Vec<String> =
                client.problems("file:///programs/renamed.smooth").into_iter().filter(|problem| problem.starts_with('E')).collect();
            assert_eq!(errors, Vec::<String>::new(), "{seed}: {word}\n{renamed}");
            count += 1;
        }
    }
    assert!(count > 30, "only {count} names");
    client.shut_down();
}
