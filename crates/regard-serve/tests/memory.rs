//! Resident memory stays flat over thousands of requests (P25). It is the only test of its process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Server, app, sentence, written};

/// Resident memory, KiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn memory_stays_flat() {
    let server = Server::start(app().0);
    let request = written("/translate", &sentence(7));
    let mut after_warm_up = 0.0;
    for count in 0..5_000 {
        assert!(server.talk(&request).starts_with("HTTP/1.1 200"));
        if count == 1_000 {
            after_warm_up = resident();
        }
    }
    let equal = resident() / after_warm_up;
    for number in 0..5_000 {
        assert!(server.talk(&written("/translate", &sentence(number))).starts_with("HTTP/1.1 200"));
    }
    let different = resident() / after_warm_up;
    println!(
        "{after_warm_up} KiB, × {equal:.4} after 4,000 equal requests, × {different:.4} after 5,000 different"
    );
    assert!(equal < 1.05 && different < 1.05, "{equal} {different}");
    server.stop();
}
