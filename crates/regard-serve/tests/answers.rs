//! Good requests: the numbers are those of the library, and the fields those of the description.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use axum::body::Body;
use axum::http::Request;
use common::{SENTENCE, app, ask, get, post, post_bytes};
use regard_decode::{Controls, Look, SearchOptions, TranslateOptions};
use regard_look::{InspectOptions, inspect};
use regard_model::SiteKind;
use regard_serve::{Model, ModelKind};
use regard_tensor::Threads;
use serde_json::{Value, json};

/// The description of the API.
async fn openapi(app: &regard_serve::App) -> Value {
    get(app, "/api/v1/openapi.json").await.ok()
}

/// Whether a value is what a schema says; the path of what is not.
fn fits(value: &Value, schema: &Value, document: &Value, path: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        return fits(value, &document["components"]["schemas"][name], document, path);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fitting = choices.iter().any(|choice| fits(value, choice, document, path).is_ok());
        return if fitting { Ok(()) } else { Err(format!("{path} fits none")) };
    }
    let is = |kind: &Value| match kind.as_str().unwrap() {
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_null(),
    };
    let kind = &schema["type"];
    let kinds =
        kind.as_array().cloned().unwrap_or_else(|| if kind.is_null() { vec![] } else { vec![kind.clone()] });
    if !kinds.is_empty() && !kinds.iter().any(is) {
        return Err(format!("{path}: {value} is no {kind}"));
    }
    if schema["enum"].as_array().is_some_and(|choices| !choices.contains(value)) {
        return Err(format!("{path}: {value} is none of {}", schema["enum"]));
    }
    if let (Some(items), Some(list)) = (schema.get("items"), value.as_array()) {
        for (place, item) in list.iter().enumerate() {
            fits(item, items, document, &format!("{path}[{place}]"))?;
        }
    }
    let (Some(properties), Some(object)) = (schema["properties"].as_object(), value.as_object()) else {
        return Ok(());
    };
    for name in schema["required"].as_array().unwrap() {
        object.get(name.as_str().unwrap()).ok_or(format!("{path}: no {name}"))?;
    }
    for (name, value) in object {
        let property = properties.get(name).ok_or(format!("{path}.{name} is not described"))?;
        fits(value, property, document, &format!("{path}.{name}"))?;
    }
    Ok(())
}

/// A value as it is after it was written and read: numbers of 32 bits have fewer digits.
fn as_written(value: &impl serde::Serialize) -> Value {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

#[tokio::test]
async fn answers_are_as_described() {
    let (app, place) = app();
    let document = openapi(&app).await;
    assert_eq!(document["openapi"], "3.1.0");
    for name in ["length_curve.json", "audit.json"] {
        std::fs::write(place.path().join("attention").join(name), "{\"a\": [1.5]}").unwrap();
    }
    let changed = json!(["remove:src=1", "temperature:0.5@step=1"]);
    let mut requests = vec![
        ("/api/v1/models", None),
        ("/api/v1/openapi.json", None),
        ("/api/v1/curve?model=attention", None),
        ("/api/v1/audit?model=attention", None),
        ("/languages", None),
        ("/frontend/settings", None),
        ("/health", None),
        ("/detect", Some(json!({"q": SENTENCE}))),
        ("/translate", Some(json!({"q": SENTENCE, "source": "en", "target": "fr"}))),
        (
            "/translate",
            Some(json!({"q": [SENTENCE, ""], "source": "auto", "target": "fr", "alternatives": 2})),
        ),
    ];
    for model in ["attention", "transformer", "fixed_vector"] {
        let changed = if model == "fixed_vector" { Value::Null } else { changed.clone() };
        requests.extend([
            ("/api/v1/translate", Some(json!({"model": model, "text": SENTENCE, "interventions": changed}))),
            ("/api/v1/look", Some(json!({"model": model, "text": SENTENCE, "interventions": changed}))),
            ("/api/v1/look", Some(json!({"model": model, "text": SENTENCE, "target": "le chat"}))),
            ("/api/v1/tree", Some(json!({"model": model, "text": SENTENCE, "interventions": changed}))),
        ]);
    }
    for (path, body) in requests {
        let (answer, method) = match &body {
            Some(body) => (post(&app, path, body).await, "post"),
            None => (get(&app, path).await, "get"),
        };
        let answer = answer.ok();
        let operation = &document["paths"][path.split('?').next().unwrap()][method];
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{path}");
        fits(&answer, schema, &document, path).unwrap_or_else(|problem| panic!("{problem}"));
        if let Some(body) = body {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            fits(&body, schema, &document, path).unwrap_or_else(|problem| panic!("{problem}"));
        }
    }
    let refused = get(&app, "/nowhere").await.json();
    fits(&refused, &json!({"$ref": "Error"}), &document, "error").unwrap();
    let missing = get(&app, "/api/v1/curve?model=transformer").await;
    missing.refuses(404, "no length curve was stored with this model");
}

#[tokio::test]
async fn models_are_described() {
    let (app, place) = app();
    let models = get(&app, "/api/v1/models").await.ok();
    let all: Vec<&str> =
        models["models"].as_array().unwrap().iter().map(|m| m["kind"].as_str().unwrap()).collect();
    assert_eq!(all, ["attention", "fixed_vector", "transformer"]);
    let transformer = &models["models"][2];
    assert_eq!(transformer["sites"].as_array().unwrap().len(), 12);
    assert!(models["models"][1]["sites"].as_array().unwrap().is_empty());
    assert!(models["models"][1].get("source_language").is_none());
    let model = Model::load(&place.path().join("transformer"), "x".to_owned(), &Threads::single()).unwrap();
    assert_eq!(model.kind, ModelKind::Transformer);
    let (_, network) = regard_model::checkpoint::load(&model.directory).unwrap();
    assert_eq!(transformer["parameters"], network.parameters().count());
    // The sites are those that a look at the model finds.
    let seen =
        inspect(&model.translator, SENTENCE, &InspectOptions::default(), &Controls::default()).unwrap();
    let mut found: Vec<_> =
        seen.sites.iter().map(|site| (site.site, site.layer, site.head.unwrap())).collect();
    let mut listed: Vec<_> = model.sites.iter().map(|site| (site.kind, site.layer, site.head)).collect();
    found.sort_unstable();
    listed.sort_unstable();
    assert_eq!(found, listed);
    assert!(listed.iter().any(|site| site.0 == SiteKind::DecoderSelf));
}

#[tokio::test]
async fn the_numbers_are_the_librarys() {
    let (app, place) = app();
    for name in ["attention", "transformer"] {
        let model = Model::load(&place.path().join(name), "x".to_owned(), &Threads::single()).unwrap();
        let search = SearchOptions {
            beam_size: 3,
            n_best: 2,
            attention: Some(Look::default()),
            ..SearchOptions::default()
        };
        let options = TranslateOptions { search, ..TranslateOptions::default() };
        let expected = model.translator.translate(&[SENTENCE], &options).unwrap().remove(0);
        let request = json!({"model": name, "text": SENTENCE, "beam_size": 3, "n_best": 2});
        let answer = post(&app, "/api/v1/translate", &request).await.ok();
        assert_eq!(answer["source_tokens"], json!(["the", "black", "cat", "sleeps", "</s>"]));
        let translations = answer["translations"].as_array().unwrap();
        assert_eq!(translations.len(), expected.candidates.len());
        assert!(expected.candidates[0].tokens.len() > 3, "{expected:?}");
        for (found, expected) in translations.iter().zip(&expected.candidates) {
            assert_eq!(found["text"], expected.text);
            assert_eq!(found["score"], as_written(&expected.hypothesis.score));
            assert_eq!(found["token_log_probs"], as_written(&expected.hypothesis.token_log_probs));
            assert_eq!(found["attention"], as_written(&expected.hypothesis.attention));
        }
        // Whatever the model would write, it writes on from a prefix.
        let request = json!({"model": name, "text": SENTENCE, "prefix": "chien rouge", "n_best": 1});
        let continued = post(&app, "/api/v1/translate", &request).await.ok();
        assert!(continued["translations"][0]["text"].as_str().unwrap().starts_with("chien rouge"));

        let interventions = vec!["force:src=2".parse().unwrap()];
        let options = InspectOptions { interventions, ..InspectOptions::default() };
        let seen = inspect(&model.translator, SENTENCE, &options, &Controls::default()).unwrap();
        let request = json!({"model": name, "text": SENTENCE, "interventions": ["force:src=2"]});
        let answer = post(&app, "/api/v1/look", &request).await.ok();
        assert_eq!(answer, as_written(&seen));
        // Under the same intervention, translating and looking find the same.
        let answer = post(&app, "/api/v1/translate", &request).await.ok();
        assert_eq!(answer["translations"][0]["text"], seen.intervention.unwrap().text);
    }
}

#[tokio::test]
async fn the_tree_leads_to_the_translation() {
    let (app, _place) = app();
    for name in ["attention", "transformer", "fixed_vector"] {
        let request = json!({"model": name, "text": SENTENCE, "beam_size": 3});
        let nodes = post(&app, "/api/v1/tree", &request).await.ok()["nodes"].as_array().unwrap().clone();
        let translation = post(&app, "/api/v1/translate", &request).await.ok()["translations"][0].clone();
        let best: Vec<&Value> = nodes.iter().filter(|node| node["best"] == true).collect();
        let mut tokens: Vec<Value> = translation["tokens"].as_array().unwrap().clone();
        if translation["finished"] == true {
            tokens.push(json!("</s>"));
        }
        assert_eq!(best.iter().map(|node| node["token"].clone()).collect::<Vec<_>>(), tokens, "{name}");
        assert_eq!(
            best.iter().map(|node| node["log_prob"].clone()).collect::<Vec<_>>(),
            *translation["token_log_probs"].as_array().unwrap()
        );
        assert_eq!(best.last().unwrap()["score"], translation["score"]);
        for (id, node) in nodes.iter().enumerate() {
            assert_eq!(node["id"], id);
            assert_eq!(node["parent"].is_null(), node["step"] == 0);
            if let Some(parent) = node["parent"].as_u64() {
                let parent = &nodes[parent as usize];
                assert_eq!(parent["step"].as_u64().unwrap() + 1, node["step"].as_u64().unwrap());
                assert_eq!(parent["fate"], "lives");
            }
        }
        assert!(nodes.iter().any(|node| node["fate"] == "pruned" && node["reason"].is_string()));
    }
}

#[tokio::test]
async fn pictures() {
    let (app, _place) = app();
    let ask = async |format: &str, more: Value| {
        let mut body = json!({"format": format, "model": "transformer", "text": "the unheard cat"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = post(&app, "/api/v1/picture", &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer
    };
    let svg = ask("svg", json!({})).await;
    assert_eq!(svg.headers["content-type"], "image/svg+xml");
    assert!(svg.text().starts_with("<svg") && svg.text().contains("&lt;unk&gt; (unheard)"), "{}", svg.text());
    assert!(ask("png", json!({})).await.body.starts_with(b"\x89PNG"));
    assert!(ask("html", json!({})).await.text().contains("Where the model looked"));
    let csv = ask("csv", json!({"target": "le chat"})).await.text();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["\"\"", "\"the\"", "\"<unk> (unheard)\"", "\"cat\"", "\"</s>\""]);
    assert_eq!(rows.len(), 4);
    let sum: f64 = rows[1][1..].iter().map(|weight| weight.parse::<f64>().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-5);
    let own = ask("csv", json!({"site": "encoder_self", "layer": 1, "head": 1})).await.text();
    assert_eq!(own.lines().count(), 5);
}

#[tokio::test]
async fn libretranslate() {
    let (app, _place) = app();
    let languages = get(&app, "/languages").await.ok();
    assert_eq!(languages, json!([{"code": "en", "name": "English", "targets": ["fr", "de"]}]));
    let settings = get(&app, "/frontend/settings").await.ok();
    assert_eq!(
        (&settings["charLimit"], &settings["language"]["target"]["code"]),
        (&json!(5000), &json!("fr"))
    );
    assert_eq!(get(&app, "/health").await.ok(), json!({"status": "ok"}));
    let plain = json!({"q": SENTENCE, "source": "en", "target": "de", "api_key": "x", "secret": 1});
    let answer = post(&app, "/translate", &plain).await.ok();
    assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    let form = "q=the+black%20cat+sleeps&source=en&target=de&format=text&alternatives=0";
    let of_form = post_bytes(&app, "/translate", "application/x-www-form-urlencoded", form).await.ok();
    assert_eq!(of_form, answer);
    let more = json!({"q": SENTENCE, "source": "auto", "target": "de", "alternatives": 3});
    let more = post(&app, "/translate", &more).await.ok();
    assert_eq!(more["translatedText"], answer["translatedText"]);
    assert_eq!(more["detectedLanguage"], json!({"confidence": 100.0, "language": "en"}));
    let others = more["alternatives"].as_array().unwrap();
    assert!(others.len() <= 3 && !others.is_empty() && !others.contains(&more["translatedText"]), "{more}");
    let list = json!({"q": [SENTENCE, "x y"], "source": "auto", "target": "de", "alternatives": "1"});
    let list = post(&app, "/translate", &list).await.ok();
    assert_eq!(list["detectedLanguage"][1], json!({"confidence": 0.0, "language": "en"}));
    assert_eq!(list["alternatives"].as_array().unwrap().len(), 2);
    let half = post(&app, "/detect", &json!({"q": "the chaise"})).await.ok();
    assert_eq!(half, json!([{"confidence": 50.0, "language": "en"}]));
    let metrics = get(&app, "/metrics").await.text();
    let line = "libretranslate_http_request_duration_seconds_count{endpoint=\"/translate\",status=\"200\"} 4";
    assert!(metrics.lines().any(|found| found == line), "{metrics}");
}

#[tokio::test]
async fn the_page() {
    let (app, _place) = app();
    let page = get(&app, "/").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'self'; style-src 'self'; img-src 'self' data:"), "{policy}");
    assert!(!page.headers.contains_key("access-control-allow-origin"));
    assert_eq!(get(&app, "/web/index.html").await.body, page.body);
    let again = Request::get("/").header("host", "localhost").header("if-none-match", &page.headers["etag"]);
    let again = ask(&app, again.body(Body::empty()).unwrap()).await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
}
