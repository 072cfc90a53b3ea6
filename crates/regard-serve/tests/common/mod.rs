//! Small models that have not learned anything, and ways to ask for them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use regard_model::{ModelInfo, Preset, checkpoint};
use regard_serve::{App, Limits, Model, serve_until};
use regard_tensor::Threads;
use regard_text::{Normalizer, Pipeline, Tokenizer};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tower::ServiceExt;

pub const SENTENCE: &str = "the black cat sleeps";

/// Writes a small model into a directory.
fn save(directory: &Path, preset: Preset, source_language: &str, target_language: &str) {
    let changes = match preset {
        Preset::TransformerTiny => json!({
            "d_model": 12, "d_ff": 17, "encoder": {"layers": 2, "heads": 2}, "decoder": {"layers": 2, "heads": 2},
        }),
        Preset::Cho => json!({
            "embedding": 5, "encoder": {"hidden": 7}, "decoder": {"hidden": 7},
        }),
        _ => json!({
            "embedding": 5, "encoder": {"hidden": 7}, "decoder": {"hidden": 7, "readout_width": 6},
            "attention": {"width": 11},
        }),
    };
    let words = |line: &str| Pipeline::build(Normalizer::None, Tokenizer::Word, [line], None, 1);
    let info = ModelInfo {
        config: preset.config().with_changes(&changes).unwrap(),
        source_language: source_language.to_owned(),
        target_language: target_language.to_owned(),
        source: words("the black white cat dog sleeps red runs 0 1 2 3 4 5 6 7 8 9"),
        target: words("le chat noir dort blanc chien rouge court 0 1 2 3 4 5 6 7 8 9"),
    };
    let mut network = info.build(3).unwrap();
    // Fresh weights are small, and the model that they make hardly knows one word from another.
    for tensor in network.parameters_mut().values_mut() {
        tensor.values_mut().iter_mut().for_each(|weight| *weight *= 4.0);
    }
    std::fs::create_dir(directory).unwrap();
    checkpoint::save(directory, &info, network.parameters()).unwrap();
}

/// An app with a model of each kind, `fixed_vector`, `attention` (en → fr) and `transformer` (en → de), and where they lie.
pub fn app_with(limits: Limits) -> (App, TempDir) {
    let place = tempfile::tempdir().unwrap();
    let models = [
        ("attention", Preset::Bahdanau, "fr"),
        ("fixed_vector", Preset::Cho, ""),
        ("transformer", Preset::TransformerTiny, "de"),
    ];
    let load = |(name, preset, target): (&str, Preset, &str)| {
        let directory = place.path().join(name);
        save(&directory, preset, if target.is_empty() { "" } else { "en" }, target);
        Model::load(&directory, name.to_owned(), &Threads::single()).unwrap()
    };
    let models = models.into_iter().map(load).collect();
    (App::new(models, vec!["127.0.0.1".to_owned()], limits).unwrap(), place)
}

pub fn app() -> (App, TempDir) {
    app_with(Limits::default())
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: axum::http::HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The JSON of an answer that is right.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text());
        self.json()
    }

    /// Checks an answer that says what is wrong: the status, and words of its message.
    #[track_caller]
    pub fn refuses(&self, status: u16, says: &str) {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        let body = self.json();
        let message = body["error"].as_str().unwrap();
        assert!(message.contains(says), "\"{says}\" is not in: {message}");
        assert!(body["code"].is_string(), "{body}");
    }
}

/// Asks in the process.
pub async fn ask(app: &App, request: Request<Body>) -> Answer {
    let response = app.router().oneshot(request).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.into_body().collect().await.unwrap().to_bytes().to_vec();
    Answer { status, headers, body }
}

pub async fn get(app: &App, path: &str) -> Answer {
    ask(app, Request::get(path).header("host", "localhost").body(Body::empty()).unwrap()).await
}

pub async fn post_bytes(app: &App, path: &str, kind: &str, body: impl Into<Body>) -> Answer {
    let request = Request::post(path).header("host", "localhost").header("content-type", kind);
    ask(app, request.body(body.into()).unwrap()).await
}

pub async fn post(app: &App, path: &str, body: &Value) -> Answer {
    post_bytes(app, path, "application/json", body.to_string()).await
}

/// A server on a socket of its own, until it is stopped.
pub struct Server {
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    pub fn start(app: App) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            runtime.unwrap().block_on(async {
                serve_until(&app, listener, async { stopped.await.unwrap_or(()) }).await.unwrap();
            });
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// Sends bytes and reads until the other side closes.
    pub fn talk(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        // A connection that is reset has said what it had to say.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Stops it and waits for its end.
    pub fn stop(mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A request as it is written on a connection that is closed after the answer.
pub fn written(path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The JSON body of an answer as it was written.
#[track_caller]
pub fn body_of(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?}"));
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer:?}"))
}

/// A request to translate a sentence with a number.
pub fn sentence(number: usize) -> Value {
    let digits = number.to_string().chars().map(String::from).collect::<Vec<_>>().join(" ");
    json!({"q": format!("the cat {digits}"), "source": "en", "target": "fr"})
}
