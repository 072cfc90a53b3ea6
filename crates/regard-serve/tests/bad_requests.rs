//! Bad requests get answers (P24), and the next good one works.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use common::{SENTENCE, Server, app, app_with, ask, body_of, get, post, post_bytes, written};
use regard_serve::{App, Limits};
use serde_json::{Value, json};

const JSON: &str = "application/json";

/// The next good request works.
#[track_caller]
fn is_good(answer: &Value) {
    assert!(answer["translatedText"].is_string(), "{answer}");
}

fn good() -> Value {
    json!({"q": SENTENCE, "source": "en", "target": "fr"})
}

async fn check(app: &App, path: &str, body: impl Into<Body>, status: u16, says: &str) {
    post_bytes(app, path, JSON, body).await.refuses(status, says);
    is_good(&post(app, "/translate", &good()).await.ok());
}

#[tokio::test]
async fn bodies_of_translate() {
    let (app, _place) = app();
    for (body, says) in [
        ("{", "Invalid JSON format"),
        ("", "Invalid JSON format"),
        ("[]", "send a JSON object"),
        (r#"{"q":null,"source":"en","target":"fr"}"#, "missing q parameter"),
        (r#"{"q":12,"source":"en","target":"fr"}"#, "q: "),
        (r#"{"q":["a",3],"source":"en","target":"fr"}"#, "q[1]: "),
        ("{}", "missing q parameter"),
        (r#"{"q":"\ud800","source":"en","target":"fr"}"#, "q: "),
        (r#"{"q":"a"}"#, "missing source parameter"),
        (r#"{"q":"a","source":"en"}"#, "missing target parameter"),
        (r#"{"q":"a","source":"xx","target":"fr"}"#, "xx is not supported"),
        (r#"{"q":"a","source":"en","target":"xx"}"#, "xx is not supported"),
        (r#"{"q":"a","source":"en","target":"fr","format":"html"}"#, "html format is not supported"),
        (r#"{"q":"a","source":"en","target":"fr","alternatives":"many"}"#, "alternatives: "),
        (r#"{"q":"a","source":"en","target":"fr","alternatives":-1}"#, "alternatives: "),
        (r#"{"q":"a","source":"en","target":"fr","alternatives":1000000000000}"#, "must be <= 31"),
        (r#"{"q":"a","q":"b","source":"en","target":"fr"}"#, "duplicate field `q`"),
        (r#"{"q":"a","source":"en","target":"fr"} x"#, "Invalid JSON format"),
    ] {
        check(&app, "/translate", body, 400, says).await;
    }
    check(&app, "/translate", &b"{\"q\":\"\xff\"}"[..], 400, "not UTF-8 at byte 6").await;
    let deep = format!("{{\"q\":{}", "[".repeat(100_000));
    check(&app, "/translate", deep, 400, "q").await;
    let long = json!({"q": "a".repeat(5_001), "source": "en", "target": "fr"}).to_string();
    check(&app, "/translate", long, 400, "q: request (5001) exceeds text limit (5000)").await;
    let many = json!({"q": vec!["a"; 129], "source": "en", "target": "fr"}).to_string();
    check(&app, "/translate", many, 400, "request (129) exceeds text limit (128)").await;
    check(&app, "/translate", "x".repeat((1 << 20) + 1), 413, "longer than 1048576 bytes").await;
}

#[tokio::test]
async fn empty_texts_stay_empty() {
    let (app, _place) = app();
    let ask = async |q: Value| {
        let body = json!({"q": q, "source": "en", "target": "fr"});
        post(&app, "/translate", &body).await.ok()["translatedText"].clone()
    };
    assert_eq!(ask(json!("")).await, "");
    assert_eq!(ask(json!([])).await, json!([]));
    let (cat, dog) = (ask(json!("the cat")).await, ask(json!("red dog")).await);
    assert_eq!(ask(json!(["the cat", "", "red dog"])).await, json!([cat, "", dog]));
    // Each line of a text is a sentence.
    let lines = format!("{}\n\n{}", cat.as_str().unwrap(), dog.as_str().unwrap());
    assert_eq!(ask(json!("the cat\n\nred dog")).await, lines);
}

#[tokio::test]
async fn fields_of_the_api() {
    let (app, _place) = app();
    let with = |name: &str, value: Value| {
        let mut body = json!({"model": "attention", "text": SENTENCE});
        body[name] = value;
        body.to_string()
    };
    for (name, value, status, says) in [
        ("model", json!("none"), 404, "there is no `none`; there are attention, fixed_vector, transformer"),
        ("text", Value::Null, 400, "text: "),
        ("text", json!("a\nb"), 400, "text: it holds a line feed"),
        ("text", json!("a".repeat(5_001)), 400, "text: request (5001)"),
        ("beam_size", json!(0), 400, "beam_size: it is 0"),
        ("beam_size", json!(u64::MAX), 400, "beam_size: "),
        ("beam_size", json!(-1), 400, "beam_size: "),
        ("beam_size", json!("5"), 400, "beam_size: "),
        ("n_best", json!(6), 400, "n_best: it is 6, more than beam_size 5"),
        ("n_best", json!(1_u64 << 40), 400, "n_best: "),
        ("alpha", json!(-0.5), 400, "alpha: it is -0.5"),
        ("length_penalty", json!("long"), 400, "length_penalty: "),
        ("max_length", json!(0), 400, "max_length: it is 0"),
        ("max_length", json!(100_000), 400, "max_length: it is 100000"),
        ("prefix", json!("unheard"), 400, "prefix: "),
        ("interventions", json!(["remove:src=9"]), 400, "interventions: "),
        ("interventions", json!(["hard", "shake"]), 400, "interventions[1]: "),
        ("interventions", json!(vec!["hard"; 65]), 400, "interventions: there are 65 interventions"),
        ("interventions", json!(["x".repeat(20_001)]), 400, "interventions: there are 20001 characters"),
        ("interventions", json!(vec!["attention-of:text=a"; 5]), 400, "interventions: there are 5 other"),
        ("temperature", json!(1), 400, "temperature"),
    ] {
        check(&app, "/api/v1/translate", with(name, value), status, says).await;
    }
    check(&app, "/api/v1/translate", r#"{"text":"a"}"#, 400, "missing field `model`").await;
    check(&app, "/api/v1/look", r#"{"model":"attention","text":" "}"#, 400, "text: the sentence is blank")
        .await;
    check(&app, "/api/v1/look", with("interventions", json!(["uniform@layer=1"])), 400, "no layer 1").await;
    check(&app, "/api/v1/tree", with("n_best", json!(1)), 400, "n_best").await;
    check(&app, "/api/v1/picture", with("format", json!("gif")), 400, "format: ").await;
    let fixed = json!({"format": "svg", "model": "fixed_vector", "text": SENTENCE}).to_string();
    check(&app, "/api/v1/picture", fixed, 400, "model: ").await;
    let layer = json!({"format": "svg", "model": "attention", "text": SENTENCE, "layer": 7}).to_string();
    check(&app, "/api/v1/picture", layer, 400, "layer").await;
    for path in ["/api/v1/translate", "/api/v1/look", "/api/v1/tree"] {
        // Each is within its bounds; together they leave the range of the numbers.
        let body = with("interventions", json!(vec!["temperature:0.001"; 16]));
        check(&app, path, body, 400, "interventions: the model's numbers overflow").await;
        let body = with("interventions", json!(["row:1e38,1e38,1e38,1e38,1e38"]));
        check(&app, path, body, 400, "interventions").await;
    }
    let few = app_with(Limits { png_cells: 4, ..Limits::default() }).0;
    let png = |format: &str| json!({"format": format, "model": "attention", "text": SENTENCE}).to_string();
    check(&few, "/api/v1/picture", png("png"), 400, "format: a png of ").await;
    assert_eq!(post_bytes(&few, "/api/v1/picture", "application/json", png("svg")).await.status, 200);
    let small = app_with(Limits { cells: 100, ..Limits::default() }).0;
    for path in ["/api/v1/translate", "/api/v1/look", "/api/v1/tree"] {
        check(&small, path, with("beam_size", json!(3)), 400, "text: this may need").await;
    }
}

#[tokio::test]
async fn paths_methods_types_and_hosts() {
    let (app, _place) = app();
    get(&app, "/nowhere").await.refuses(404, "there is no path /nowhere");
    get(&app, "/web/none.js").await.refuses(404, "/web/none.js");
    get(&app, "/web/../Cargo.toml").await.refuses(404, "no file");
    get(&app, "/api/v1/jobs/1").await.refuses(404, "there is no job `1`");
    get(&app, "/api/v1/jobs/one").await.refuses(404, "there is no job `one`");
    get(&app, "/api/v1/jobs/%FF").await.refuses(404, "there is no job `%FF`");
    get(&app, "/web/%FF").await.refuses(404, "/web/%FF");
    get(&app, "/api/v1/curve").await.refuses(400, "model: it is missing");
    get(&app, "/api/v1/curve?model=none").await.refuses(404, "there is no `none`");
    get(&app, "/api/v1/curve?model=%FF").await.refuses(400, "model: it is not UTF-8");
    let wrong = get(&app, "/translate").await;
    wrong.refuses(405, "method");
    assert_eq!(wrong.headers["allow"], "POST");
    post_bytes(&app, "/translate", "text/plain", "{}").await.refuses(415, "Content-Type");
    post_bytes(&app, "/translate", "application/json; charset=latin1", "{}").await.refuses(415, "UTF-8");
    post_bytes(&app, "/api/v1/look", "application/x-www-form-urlencoded", "")
        .await
        .refuses(415, "Content-Type");
    let bare = Request::post("/translate").header("host", "localhost").body(Body::empty()).unwrap();
    ask(&app, bare).await.refuses(415, "Content-Type");
    for (name, value) in [("host", "evil.example"), ("origin", "http://evil.example")] {
        let request = Request::get("/health").header(name, value);
        let request = if name == "host" { request } else { request.header("host", "localhost") };
        ask(&app, request.body(Body::empty()).unwrap()).await.refuses(403, value);
    }
    is_good(&post(&app, "/translate", &good()).await.ok());
}

#[test]
fn lengths_that_are_wrong() {
    let (app, _place) = app_with(Limits { body_time: Duration::from_millis(200), ..Limits::default() });
    let server = Server::start(app);
    let head = "POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n";
    let longer = server.talk(format!("{head}Content-Length: 50\r\n\r\n{{}}").as_bytes());
    assert!(longer.starts_with("HTTP/1.1 408") && body_of(&longer)["error"].is_string(), "{longer}");
    let huge = server.talk(format!("{head}Content-Length: 99999999999\r\n\r\n{{}}").as_bytes());
    assert!(huge.starts_with("HTTP/1.1 413") && body_of(&huge)["error"].is_string(), "{huge}");
    for length in ["Content-Length: -1", "Content-Length: x", "Content-Length: 1\r\nContent-Length: 2"] {
        let none = server.talk(format!("{head}{length}\r\n\r\n{{}}").as_bytes());
        assert!(none.starts_with("HTTP/1.1 400"), "{none}");
    }
    let shorter = server.talk(format!("{head}Content-Length: 1\r\n\r\n{{}}").as_bytes());
    assert!(shorter.starts_with("HTTP/1.1 400"), "{shorter}");
    assert!(server.talk(b"\x16\x03\x01 nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
    is_good(&body_of(&server.talk(&written("/translate", &good()))));
    server.stop();
}
