//! Messages of the language server protocol on byte streams.
//!
//! In: bytes, headers and a body in JSON for each message. Out: [`Incoming`] messages; what is no message is said to be broken and
//! the next one is read. A message that says it is larger than [`MOST`] is not read into memory.
//!
//!     Content-Length: 33\r\n\r\n{"jsonrpc":"2.0","method":"exit"}   →   Incoming::Message(Notification "exit")

use std::io::{self, BufRead, Read, Write};

use lsp_server::{ErrorCode, Message, RequestId};
use serde::Deserialize;
use serde_json::{Value, json};

/// Bytes of one message: a few times those of the largest source file, whose characters may be escaped.
const MOST: u64 = 1 << 27;

/// Bytes of one line of a header.
const HEADER: u64 = 1 << 12;

/// What was read.
#[derive(Debug)]
pub enum Incoming {
    Message(Message),
    /// Something else: what is wrong with it, and why it is no message.
    Broken(ErrorCode, String),
}

/// What is written.
#[derive(Debug)]
pub enum Outgoing {
    Message(Message),
    /// The answer to what was no message, so that it has no number to answer to.
    Broken(ErrorCode, String),
    /// Nothing: what comes before it is all.
    End,
}

/// The next message; `None` at the end of the stream.
pub fn read(input: &mut dyn BufRead) -> io::Result<Option<Incoming>> {
    let broken = |why: String| Ok(Some(Incoming::Broken(ErrorCode::ParseError, why)));
    let mut length: Option<u64> = None;
    loop {
        let mut line = Vec::new();
        if (&mut *input).take(HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return broken(format!("`{}` is no header", shortened(line)));
        };
        if name.trim().eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok();
        }
    }
    let Some(length) = length else { return broken("a message needs the header `Content-Length: BYTES`".into()) };
    if length > MOST {
        io::copy(&mut (&mut *input).take(length), &mut io::sink())?;
        return broken(format!("a message of {length} bytes is larger than {MOST}"));
    }
    let mut body = Vec::new();
    if (&mut *input).take(length).read_to_end(&mut body)? as u64 != length {
        return Ok(None);
    }
    Ok(Some(message(&body)))
}

/// The message that a body is.
fn message(body: &[u8]) -> Incoming {
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(problem) => return Incoming::Broken(ErrorCode::ParseError, format!("no JSON: {problem}")),
    };
    // with a number that is none a request would be read as a notification, which nobody answers
    if let Some(id) = value.get("id").filter(|id| RequestId::deserialize(*id).is_err()) {
        let why = format!("`{}` is no number of a request: that is an integer of 32 bits or a string", shortened(&id.to_string()));
        return Incoming::Broken(ErrorCode::InvalidRequest, why);
    }
    match serde_json::from_value(value) {
        Ok(message) => Incoming::Message(message),
        Err(problem) => Incoming::Broken(ErrorCode::InvalidRequest, format!("no message of JSON-RPC: {problem}")),
    }
}

/// Writes a message.
pub fn write(output: &mut dyn Write, message: &Outgoing) -> io::Result<()> {
    match message {
        Outgoing::Message(message) => {
            let mut output = output;
            message.clone().write(&mut output)
        }
        Outgoing::End => Ok(()),
        Outgoing::Broken(code, why) => {
            let error = json!({ "code": *code as i32, "message": why });
            let text = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
            write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
            output.flush()
        }
    }
}

fn shortened(line: &str) -> String {
    line.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut input = text.as_bytes();
        let mut found = Vec::new();
        while let Some(next) = read(&mut input).expect("memory is readable") {
            found.push(match next {
                Incoming::Message(Message::Notification(message)) => message.method,
                Incoming::Message(Message::Request(message)) => message.method,
                Incoming::Message(Message::Response(_)) => "response".into(),
                Incoming::Broken(_, why) => format!("broken: {why}"),
            });
        }
        found
    }

    #[test]
    fn what_is_no_message_is_skipped() {
        let exit = "content-length:33\r\nContent-Type: x\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}";
        assert_eq!(all(exit), ["exit"]);
        assert_eq!(all(&format!("Content-Length: 2\r\n\r\n[]{exit}")).last().map(String::as_str), Some("exit"));
        assert_eq!(all(&format!("\r\n{exit}")).len(), 2);
        assert_eq!(all(&format!("nonsense\r\n{exit}")), ["broken: `nonsense` is no header", "exit"]);
        assert_eq!(all("Content-Length: 99999999999999999\r\n\r\n{}").len(), 1);
        assert_eq!(all("Content-Length: 99\r\n\r\n{}"), Vec::<String>::new());
        assert_eq!(all("Content-Length: -1\r\n\r\n").len(), 1);
        let deep = "[".repeat(100_000);
        assert_eq!(all(&format!("Content-Length: 100000\r\n\r\n{deep}")).len(), 1);
    }
}
