//! What is counted, as Prometheus reads it: `LibreTranslate`'s names, and our own.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::App;

/// Requests by route and status. Neither has values that clients can make up, so that the table stays small.
#[derive(Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(String, u16), Sum>>,
    in_flight: AtomicUsize,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    seconds: f64,
}

/// A request that is under way; a client that goes away ends it too.
struct InFlight<'a>(&'a AtomicUsize);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Measures every request.
pub(crate) async fn measure(State(app): State<App>, request: Request, next: Next) -> Response {
    let metrics = &app.0.metrics;
    metrics.in_flight.fetch_add(1, Relaxed);
    let _in_flight = InFlight(&metrics.in_flight);
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let begun = Instant::now();
    let response = next.run(request).await;
    metrics.add(route, response.status().as_u16(), begun.elapsed());
    response
}

impl Metrics {
    fn add(&self, route: String, status: u16, time: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = requests.entry((route, status)).or_default();
        sum.count += 1;
        sum.seconds += time.as_secs_f64();
    }

    /// Prometheus' text format, with the requests that wait for each model.
    pub(crate) fn text<'a>(&self, waiting: impl Iterator<Item = (&'a str, usize)>) -> String {
        const DURATION: &str = "libretranslate_http_request_duration_seconds";
        const IN_FLIGHT: &str = "libretranslate_http_requests_in_flight";
        let mut text = format!("# HELP {DURATION} Time spent on requests.\n# TYPE {DURATION} summary\n");
        for ((route, status), sum) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner) {
            let labels = format!("{{endpoint=\"{route}\",status=\"{status}\"}}");
            // Writing to a string does not fail.
            let _ = writeln!(text, "{DURATION}_count{labels} {}", sum.count);
            let _ = writeln!(text, "{DURATION}_sum{labels} {}", sum.seconds);
        }
        let in_flight = self.in_flight.load(Relaxed);
        let _ = writeln!(text, "# HELP {IN_FLIGHT} Requests under way.\n# TYPE {IN_FLIGHT} gauge");
        let _ = writeln!(text, "{IN_FLIGHT} {in_flight}");
        let _ = writeln!(
            text,
            "# HELP regard_waiting Requests that wait for a model.\n# TYPE regard_waiting gauge"
        );
        for (model, count) in waiting {
            let model = model.replace('\\', r"\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = writeln!(text, "regard_waiting{{model=\"{model}\"}} {count}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prometheus_text() {
        let metrics = Metrics::default();
        metrics.add("/translate".to_owned(), 200, Duration::from_millis(250));
        metrics.add("/translate".to_owned(), 200, Duration::from_millis(500));
        metrics.add("other".to_owned(), 404, Duration::ZERO);
        let text = metrics.text([("a\"b", 3)].into_iter());
        for line in [
            "libretranslate_http_request_duration_seconds_count{endpoint=\"/translate\",status=\"200\"} 2",
            "libretranslate_http_request_duration_seconds_sum{endpoint=\"/translate\",status=\"200\"} 0.75",
            "libretranslate_http_request_duration_seconds_count{endpoint=\"other\",status=\"404\"} 1",
            "libretranslate_http_requests_in_flight 0",
            "regard_waiting{model=\"a\\\"b\"} 3",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
