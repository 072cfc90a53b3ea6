//! `regard serve` as its users run it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use common::{attention_model, fixed_vector_model, json, program, regard};
use serde_json::{Value, json};

/// A server that runs, and its address.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(models: &[&str]) -> Self {
        let args = [&["serve"], models, &["--port", "0", "--threads", "1"]].concat();
        let mut child = program(&args).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let (_, address) = line.trim_end().split_once("http://").unwrap_or_else(|| panic!("{line}"));
        Self { child, address: address.trim_end_matches('/').to_owned() }
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        json(answer.split_once("\r\n\r\n").unwrap().1)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
    }
}

#[test]
fn it_answers_as_the_other_commands_do_and_stops_on_a_signal() {
    let model = attention_model();
    let mut server = Running::start(&[model, fixed_vector_model()]);
    let names = server.ask("GET", "/api/v1/models", "");
    assert_eq!(
        (&names["models"][0]["name"], &names["models"][1]["name"]),
        (&json!("model"), &json!("model-2"))
    );

    let text = "the black cat sleeps on the red chair";
    let shown = json(&regard(&["look", model, text, "--json", "--intervene", "remove:src=1"]).ok());
    let body = json!({"model": "model", "text": text, "interventions": ["remove:src=1"]});
    let found = server.ask("POST", "/api/v1/look", &body.to_string());
    for field in ["source_tokens", "target_tokens", "text", "log_prob", "sites", "intervention"] {
        assert_eq!(found[field], shown[field], "{field}");
    }

    let signalled = Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    let begun = Instant::now();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_cannot_be_served_is_named() {
    assert_eq!(regard(&["serve"]).status, Some(2));
    regard(&["serve", "nowhere", "--port", "0"]).fails_with(1, &["nowhere", "not a model directory"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    regard(&["serve", attention_model(), "--port", &port]).fails_with(1, &["127.0.0.1", &port, "--port"]);
}
