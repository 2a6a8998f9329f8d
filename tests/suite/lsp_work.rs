//! How often `smoothc lsp` analyses a text: once for all the changes that have arrived, and no text that a change does not reach.
//!
//! Each text opens a file of its own that the editor has not, so that an analysis is a reading of that file. No clock is asked: the first
//! reading waits until the whole script has arrived.

use std::collections::HashMap;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};
use smoothc::lsp::{Host, serve};

/// Whether a stream was read to its end, and who waits for that.
#[derive(Default)]
struct End(Mutex<bool>, Condvar);

impl End {
    fn reach(&self) {
        *self.0.lock().expect("whole") = true;
        self.1.notify_all();
    }

    fn wait(&self) {
        drop(self.1.wait_while(self.0.lock().expect("whole"), |reached| !*reached).expect("whole"));
    }
}

/// A stream that says when it was read to its end: what was in it has arrived.
struct Script(Cursor<Vec<u8>>, Arc<End>);

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        if count == 0 {
            self.1.reach();
        }
        Ok(count)
    }
}

fn message(method: &str, id: Option<u32>, params: Value) -> Vec<u8> {
    let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    if let Some(id) = id {
        message["id"] = json!(id);
    }
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn uri(name: &str) -> String {
    format!("file:///programs/{name}.smooth")
}

fn open(name: &str, text: &str) -> Vec<u8> {
    let document = json!({ "uri": uri(name), "languageId": "smooth", "version": 1, "text": text });
    message("textDocument/didOpen", None, json!({ "textDocument": document }))
}

fn change(name: &str, version: usize, text: &str) -> Vec<u8> {
    let document = json!({ "uri": uri(name), "version": version });
    message("textDocument/didChange", None, json!({ "textDocument": document, "contentChanges": [{ "text": text }] }))
}

/// A question that needs what is known of a text.
fn ask(name: &str, id: u32) -> Vec<u8> {
    message("textDocument/documentSymbol", Some(id), json!({ "textDocument": { "uri": uri(name) } }))
}

/// How often each file was read by a server that is told all this.
fn readings(script: &[Vec<u8>]) -> HashMap<String, usize> {
    let start = [message("initialize", Some(0), json!({ "capabilities": {} })), message("initialized", None, json!({}))];
    let bytes = [start.concat(), script.concat()].concat();
    let (end, read) = (Arc::new(End::default()), Arc::new(Mutex::new(HashMap::new())));
    let (reached, counts) = (end.clone(), read.clone());
    let host = Host {
        read: Arc::new(move |path: &Path| {
            reached.wait();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            *counts.lock().expect("whole").entry(name).or_default() += 1;
            Ok("let twice x = 2.0 * x\n".to_string())
        }),
        keep: Arc::new(|_, _| Err("nothing is kept".to_string())),
    };
    // a stream that ends without `exit` is an error of the editor
    assert_eq!(serve(BufReader::new(Script(Cursor::new(bytes), end)), io::sink(), host), 1);
    read.lock().expect("whole").clone()
}

/// A text that opens a file of its own.
fn text(opened: &str, body: &str) -> String {
    format!("open \"{opened}.smooth\"\nlet f x = {body}\n")
}

#[test]
fn changes_that_arrive_together_are_one_analysis() {
    let mut script = vec![open("main", &text("own", "twice x")), ask("main", 1)];
    script.extend((2..52).map(|version| change("main", version, &text("own", &format!("twice x + {version}.0")))));
    script.push(ask("main", 2));
    script.push(ask("main", 3));
    assert_eq!(readings(&script), HashMap::from([("own".to_string(), 2)]));
}

#[test]
fn a_change_reaches_the_texts_that_open_it_and_no_others() {
    let mut script = vec![open("base", &text("base_own", "twice x")), open("beside", &text("beside_own", "twice x"))];
    script.push(open("user", "open \"base.smooth\"\nopen \"user_own.smooth\"\nlet g x = f x + twice x\n"));
    script.push(ask("user", 1));
    script.push(change("base", 2, &text("base_own", "twice x + 1.0")));
    script.push(ask("user", 2));
    script.push(change("user", 2, "open \"base.smooth\"\nopen \"user_own.smooth\"\nlet g x = f x\n"));
    script.push(ask("beside", 3));
    // the user's analyses read what the base opens, too
    let wanted = [("base_own", 2 + 3), ("beside_own", 1), ("user_own", 3)];
    assert_eq!(readings(&script), wanted.map(|(name, count)| (name.to_string(), count)).into());
}
