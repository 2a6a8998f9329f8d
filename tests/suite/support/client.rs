//! An editor for tests: speaks the language server protocol with the built command.
//!
//! In: requests and notifications as JSON. Out: the answers, and the diagnostics that came in between.

use std::collections::HashMap;
use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lsp_server::{Message, Notification, Request, Response};
use serde_json::{Value, json};

pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: i32,
    /// The last diagnostics of each text.
    pub diagnostics: HashMap<String, Value>,
    /// What the server asked for.
    pub asked: Vec<Request>,
}

impl Client {
    /// A client of a fresh server, before `initialize`.
    pub fn start() -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_smoothc"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Client { child, input, output, last: 0, diagnostics: HashMap::new(), asked: Vec::new() }
    }

    /// A client of a server that is ready, in an editor that shows documents.
    pub fn ready() -> Client {
        let mut client = Client::start();
        let capabilities = json!({ "window": { "showDocument": { "support": true } } });
        client.ask("initialize", json!({ "capabilities": capabilities })).expect("it is initialised");
        client.tell("initialized", json!({}));
        client
    }

    pub fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the stream is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    fn send(&mut self, message: Message) {
        let mut bytes = Vec::new();
        message.write(&mut bytes).expect("memory is writable");
        self.write(&bytes);
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(Message::Notification(Notification { method: method.into(), params }));
    }

    /// Sends a request, and gives its number.
    pub fn request(&mut self, method: &str, params: Value) -> i32 {
        self.last += 1;
        self.send(Message::Request(Request { id: self.last.into(), method: method.into(), params }));
        self.last
    }

    pub fn read(&mut self) -> Message {
        Message::read(&mut self.output).expect("a message").expect("the server answers")
    }

    /// The body of the next message, which answers no request.
    pub fn read_raw(&mut self) -> String {
        use std::io::{BufRead, Read};
        let mut header = String::new();
        self.output.read_line(&mut header).expect("a header");
        let length = header.trim().rsplit(" ").next().and_then(|length| length.parse().ok()).expect("a length");
        let mut rest = vec![0; 2];
        self.output.read_exact(&mut rest).expect("an empty line");
        rest.resize(length, 0);
        self.output.read_exact(&mut rest).expect("a body");
        String::from_utf8(rest).expect("UTF-8")
    }

    /// The answer to a request; what comes before it is kept.
    pub fn answer(&mut self, id: i32) -> Response {
        loop {
            match self.read() {
                Message::Response(response) if response.id == id.into() => return response,
                Message::Response(response) => panic!("no such request: {response:?}"),
                Message::Request(request) => self.asked.push(request),
                Message::Notification(notification) => {
                    assert_eq!(notification.method, "textDocument/publishDiagnostics");
                    let uri = notification.params["uri"].as_str().expect("an address").to_string();
                    self.diagnostics.insert(uri, notification.params["diagnostics"].clone());
                }
            }
        }
    }

    /// The result of a request, or the message of its error.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.request(method, params);
        let answer = self.answer(id);
        match answer.error {
            Some(error) => Err(error.message),
            None => Ok(answer.result.unwrap_or_default()),
        }
    }

    pub fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "smooth", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// The codes and the places of a text's diagnostics, once what was sent is done.
    pub fn problems(&mut self, uri: &str) -> Vec<String> {
        self.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": "file:///none" } })).expect_err("it is not open");
        let shown = |found: &Value| {
            let at = |end: &str| format!("{}:{}", found["range"][end]["line"], found["range"][end]["character"]);
            format!("{} {}-{}", found["code"].as_str().unwrap_or("-"), at("start"), at("end"))
        };
        self.diagnostics.get(uri).and_then(Value::as_array).map(|all| all.iter().map(shown).collect()).unwrap_or_default()
    }

    /// A request about a place in a text.
    pub fn at(&mut self, method: &str, uri: &str, line: u32, character: u32) -> Result<Value, String> {
        let position = json!({ "line": line, "character": character });
        self.ask(&format!("textDocument/{method}"), json!({ "textDocument": { "uri": uri }, "position": position }))
    }

    /// Ends the stream, and gives the exit status.
    pub fn end(mut self) -> i32 {
        self.input.take();
        self.child.wait().expect("it ends").code().expect("a status")
    }

    /// Shuts the server down as editors do.
    pub fn shut_down(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Ok(Value::Null));
        self.tell("exit", Value::Null);
        assert_eq!(self.end(), 0);
    }
}
