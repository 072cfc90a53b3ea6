//! Many clients (P25), long work beside short, jobs, and the end of the server.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::{SENTENCE, Server, app, app_with, body_of, get, post, sentence, written};
use regard_serve::{App, JobStatus, Limits};
use serde_json::{Value, json};

/// Work of some seconds where it is not stopped: a wide beam, and nothing that could end it early.
fn long() -> Value {
    json!({"model": "transformer", "text": "the black cat ".repeat(20).trim(), "beam_size": 32, "n_best": 32,
           "max_length": 2048, "length_penalty": "none", "interventions": ["uniform"]})
}

#[test]
fn each_client_gets_its_own_answers() {
    let server = Server::start(app().0);
    let ask = |number: usize| body_of(&server.talk(&written("/translate", &sentence(number))));
    let serial: Vec<Value> = (0..320).map(ask).collect();
    let found = Mutex::new(vec![Value::Null; 320]);
    thread::scope(|scope| {
        for client in 0..32 {
            let (found, ask) = (&found, &ask);
            scope.spawn(move || {
                for number in (client * 10)..(client * 10 + 10) {
                    found.lock().unwrap()[number] = ask(number);
                }
            });
        }
    });
    let different: std::collections::BTreeSet<String> = serial.iter().map(Value::to_string).collect();
    assert!(different.len() > 20, "the answers are told apart: {}", different.len());
    assert_eq!(found.into_inner().unwrap(), serial);
    server.stop();
}

#[test]
fn clients_that_go_away_end_their_work() {
    let (app, _place) = app();
    let server = Server::start(app.clone());
    for _ in 0..100 {
        server.connect().write_all(&written("/api/v1/translate", &long())).unwrap();
    }
    let begun = Instant::now();
    let answer = body_of(&server.talk(&written("/translate", &sentence(7))));
    assert!(answer["translatedText"].is_string(), "{answer}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let last = body_of(
        &server.talk(&written("/api/v1/translate", &json!({"model": "transformer", "text": SENTENCE}))),
    );
    assert!(last["translations"].is_array(), "{last}");
    server.stop();
}

/// The work of a page, however much, leaves others their turns.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn short_work_does_not_wait_for_long_work() {
    let (app, _place) = app();
    let over = Arc::new(AtomicBool::new(false));
    let jobs = app.jobs();
    let flag = Arc::clone(&over);
    // A job that never ends by itself.
    let job = jobs.begin(&app, "attention", move |progress| {
        while !progress.stop() {
            progress.report(1, 2);
            thread::sleep(Duration::from_millis(1));
        }
        flag.store(true, Ordering::Relaxed);
        Ok(Value::Null)
    });
    let job = job.unwrap();
    for number in 0..20 {
        assert!(post(&app, "/translate", &sentence(number)).await.ok()["translatedText"].is_string());
    }
    let status = get(&app, &format!("/api/v1/jobs/{job}")).await.ok();
    assert_eq!(status, json!({"done": 1, "total": 2, "state": "running"}));
    assert!(!over.load(Ordering::Relaxed));
    let request = axum::http::Request::delete(format!("/api/v1/jobs/{job}")).header("host", "localhost");
    let cancelled = common::ask(&app, request.body(axum::body::Body::empty()).unwrap()).await.ok();
    assert_eq!(cancelled["state"], "cancelled");
    let begun = Instant::now();
    while !over.load(Ordering::Relaxed) {
        assert!(begun.elapsed() < Duration::from_secs(5));
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn jobs_end_with_a_result_or_a_reason() {
    let (app, _place) = app();
    let end = |number: u64| -> JobStatus {
        let begun = Instant::now();
        loop {
            let status = app.jobs().status(number).unwrap();
            if !["waiting", "running"].contains(&status.state) {
                return status;
            }
            assert!(begun.elapsed() < Duration::from_secs(5), "{status:?}");
            thread::sleep(Duration::from_millis(1));
        }
    };
    let done = app.jobs().begin(&app, "attention", |progress| {
        progress.report(3, 3);
        Ok(json!({"verdict": "x"}))
    });
    let first = done.unwrap();
    let done = end(first);
    assert_eq!((done.done, done.total, done.state), (3, 3, "done"));
    assert_eq!(done.result, Some(json!({"verdict": "x"})));
    let failed = end(app.jobs().begin(&app, "attention", |_| Err("no lines".to_owned())).unwrap());
    assert_eq!((failed.state, failed.error.as_deref()), ("failed", Some("no lines")));
    let broken = end(app.jobs().begin(&app, "attention", |_| panic!("a test of a fault")).unwrap());
    assert_eq!(broken.state, "failed");
    assert!(app.jobs().begin(&app, "none", |_| Ok(Value::Null)).unwrap_err().contains("there is no `none`"));
    assert!(app.jobs().status(99).is_none() && app.jobs().cancel(99).is_none());
    // The oldest are forgotten.
    for _ in 0..40 {
        end(app.jobs().begin(&app, "attention", |_| Ok(Value::Null)).unwrap());
    }
    assert!(app.jobs().status(first).is_none());
}

#[tokio::test]
async fn an_audit_is_a_job() {
    let (app, _place) = app();
    let body = json!({"model": "attention", "sources": [SENTENCE, "the red dog runs"],
                      "targets": ["le chat noir dort", "le chien rouge court"]});
    let job = post(&app, "/api/v1/audit", &body).await.ok()["job"].as_u64().unwrap();
    let begun = Instant::now();
    let status = result_of(&app, job).await;
    assert_eq!(status["state"], "done", "{status}");
    assert_eq!(status["done"], status["total"]);
    assert_eq!(
        (&status["result"]["model"], &status["result"]["sentences"]),
        (&json!("attention"), &json!(2))
    );
    assert!(!status["result"]["tests"].as_array().unwrap().is_empty());
    let uneven = json!({"model": "attention", "sources": ["a"], "targets": []});
    post(&app, "/api/v1/audit", &uneven).await.refuses(400, "sources: there are 1 and 0 targets");
    let fixed = json!({"model": "fixed_vector", "sources": ["a"], "targets": ["a"]});
    post(&app, "/api/v1/audit", &fixed).await.refuses(400, "model: ");
    let long = json!({"model": "attention", "sources": vec!["a".repeat(1_000); 3], "targets": vec!["b".repeat(1_000); 3]});
    post(&app, "/api/v1/audit", &long)
        .await
        .refuses(400, "sources: request (6000) exceeds text limit (5000)");
    let blank = json!({"model": "attention", "sources": [" "], "targets": [" "]});
    let job = post(&app, "/api/v1/audit", &blank).await.ok()["job"].as_u64().unwrap();
    while app.jobs().status(job).unwrap().error.is_none() {
        assert!(begun.elapsed() < Duration::from_mins(1));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let error = app.jobs().status(job).unwrap().error.unwrap();
    assert_eq!(error, "no line is left to audit: all are blank or have over 100 tokens");
}

/// The result of a job.
async fn result_of(app: &App, job: u64) -> Value {
    let begun = Instant::now();
    loop {
        let status = get(app, &format!("/api/v1/jobs/{job}")).await.ok();
        if status["state"] != "running" && status["state"] != "waiting" {
            return status;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{status}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn an_attribution_is_a_job() {
    let (app, place) = app();
    let path = "/api/v1/attribution";
    let body =
        |method: &str| json!({"model": "attention", "text": SENTENCE, "target": "le chat", "method": method});
    let job = post(&app, path, &body("gradient-input")).await.ok()["job"].as_u64().unwrap();
    let status = result_of(&app, job).await;
    let found = &status["result"];
    assert_eq!((&found["method"], &found["text"]), (&json!("gradient-input"), &json!("le chat")), "{status}");
    // The same as the library has it.
    let (info, network) = regard_model::checkpoint::load(&place.path().join("attention")).unwrap();
    let ids = |pipeline: &regard_text::Pipeline, text: &str| {
        let mut ids = pipeline.encode(text);
        ids.push(regard_text::special_tokens::EOS);
        ids
    };
    let subject = regard_look::Subject {
        model: network.as_ref(),
        config: &info.config,
        threads: &regard_tensor::Threads::single(),
        source: &ids(&info.source, SENTENCE),
        target: &ids(&info.target, "le chat"),
        layer: None,
        stop: None,
    };
    let expected = regard_look::attribute(&subject, regard_look::Method::GradientInput).unwrap();
    // Numbers as they come back out of a text.
    let read = |table: &Vec<Vec<f64>>| -> Value {
        serde_json::from_str(&serde_json::to_string(table).unwrap()).unwrap()
    };
    assert_eq!((&found["source"], &found["target"]), (&read(&expected.source), &read(&expected.target)));
    post(&app, path, &body("guess")).await.refuses(400, "method: there is no `guess`");
    post(&app, path, &body("alti")).await.refuses(400, "method: it is made for Transformers");
    let long = |target: Option<String>| json!({"model": "attention", "text": "a ".repeat(80), "target": target, "method": "norm"});
    let given = post(&app, path, &long(Some("b ".repeat(70)))).await;
    given.refuses(400, "target: 71 target tokens by 81 source tokens are 10792 to read; the most is 10000");
    post(&app, path, &json!({"model": "attention", "text": " ", "method": "norm"}))
        .await
        .refuses(400, "text: it is blank");
    post(&app, path, &json!(["attention", "a", null, "norm"])).await.refuses(400, "send a JSON object");
    // Its many passes end soon after it is cancelled.
    let slow = json!({"model": "transformer", "text": "the black cat ".repeat(12).trim(), "method": "integrated-gradients"});
    let job = post(&app, path, &slow).await.ok()["job"].as_u64().unwrap();
    let begun = Instant::now();
    app.jobs().cancel(job);
    while post(&app, path, &body("norm")).await.status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_job_belongs_to_its_page() {
    let (app, _place) = app();
    let ask = async |method: &str, path: &str, page: &str, body: &Value| {
        let request = axum::http::Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request.header("content-type", "application/json").header("x-regard-page", page);
        common::ask(&app, request.body(body.to_string().into()).unwrap()).await
    };
    // Enough lines that it is under way while the others ask.
    let body = json!({"model": "attention", "sources": vec!["the black cat"; 100], "targets": vec!["le chat noir"; 100]});
    let begun = ask("POST", "/api/v1/audit", "a", &body).await.ok();
    let path = format!("/api/v1/jobs/{}", begun["job"]);
    assert!(begun["job"].as_u64().unwrap() < 1 << 53);
    ask("POST", "/api/v1/audit", "a", &body).await.refuses(429, "a job of this page is under way");
    let other = ask("POST", "/api/v1/audit", "b", &body).await.ok();
    assert_ne!(other["job"], begun["job"]);
    ask("POST", "/api/v1/audit", "c", &body).await.refuses(429, "2 jobs are under way");
    for method in ["GET", "DELETE"] {
        ask(method, &path, "b", &Value::Null).await.refuses(404, "there is no job");
    }
    assert_eq!(ask("DELETE", &path, "a", &Value::Null).await.ok()["state"], "cancelled");
    ask("DELETE", &format!("/api/v1/jobs/{}", other["job"]), "b", &Value::Null).await.ok();
}

#[test]
fn the_time_of_a_job_has_an_end() {
    let (app, _place) = app_with(Limits { job_time: Duration::from_millis(50), ..Limits::default() });
    let job = app.jobs().begin(&app, "attention", |progress| {
        while !progress.stop() {
            thread::sleep(Duration::from_millis(1));
        }
        Ok(Value::Null)
    });
    let (job, begun) = (job.unwrap(), Instant::now());
    while app.jobs().status(job).unwrap().state != "failed" {
        assert!(begun.elapsed() < Duration::from_secs(5));
        thread::sleep(Duration::from_millis(1));
    }
    let error = app.jobs().status(job).unwrap().error.unwrap();
    assert!(error.contains("the time of the job is over"), "{error}");
}

/// Connections that do not say whose they are are one page: while twelve of them ask for much, a page that says so is answered.
#[test]
fn one_client_does_not_keep_another_waiting() {
    let (app, _place) = app();
    let server = Server::start(app);
    let heavy: Vec<_> = (0..12)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(&written("/api/v1/translate", &long())).unwrap();
            stream
        })
        .collect();
    let waiting = || {
        let metrics = server.talk(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        metrics.contains("regard_waiting{model=\"transformer\"} 11")
    };
    let begun = Instant::now();
    while !waiting() {
        assert!(begun.elapsed() < Duration::from_secs(5), "all but one wait");
    }
    let small = json!({"model": "transformer", "text": "the cat", "beam_size": 1, "max_length": 2});
    let request = String::from_utf8(written("/api/v1/translate", &small)).unwrap();
    let request = request.replacen("\r\n", "\r\nX-Regard-Page: other\r\n", 1);
    let answer = body_of(&server.talk(request.as_bytes()));
    assert!(answer["translations"].is_array(), "{answer}");
    assert!(waiting(), "the first of the twelve was not over yet");
    drop(heavy);
    server.stop();
}

#[tokio::test]
async fn the_time_of_a_request_has_an_end() {
    let (app, _place) = app_with(Limits { time: Duration::from_millis(300), ..Limits::default() });
    let late = post(&app, "/api/v1/translate", &long()).await;
    late.refuses(503, "the time of the request is over");
    assert_eq!(late.headers["retry-after"], "1");
    let body = json!({"model": "transformer", "text": "the cat", "beam_size": 1});
    assert!(post(&app, "/api/v1/translate", &body).await.ok()["translations"].is_array());
}

#[test]
fn it_stops_under_load() {
    let (app, _place) = app();
    let server = Server::start(app);
    let address = server.address;
    let over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                let mut answers = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    let Ok(mut stream) = std::net::TcpStream::connect(address) else { break };
                    let mut answer = String::new();
                    if stream.write_all(&written("/api/v1/translate", &long())).is_err() {
                        break;
                    }
                    let _ = std::io::Read::read_to_string(&mut stream, &mut answer);
                    answers.push(answer);
                }
                answers
            })
        })
        .collect();
    // And one that sends half a request and waits.
    let mut idle = server.connect();
    idle.write_all(b"POST /translate HTTP/1.1\r\nHost: loc").unwrap();
    thread::sleep(Duration::from_millis(500));
    let begun = Instant::now();
    server.stop();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    over.store(true, Ordering::Relaxed);
    let answers: Vec<String> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    assert!(answers.iter().any(|answer| answer.contains("the server stops")), "{answers:?}");
}
