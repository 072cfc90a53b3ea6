#!/usr/bin/env bash
# Passes every test. Needs the Rust toolchain of rust-toolchain.toml and a C compiler; chromium and npm for the page's.
#
#   ./test.sh          everything
#   ./test.sh quick    formatting, lints and the tests that take seconds
set -euo pipefail
cd "$(dirname "$0")"

cargo fmt --check
cargo clippy --workspace --all-targets --locked -- -D warnings
if [ "${1:-}" = quick ]; then
    cargo test --workspace --lib --locked
    exit
fi
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
# Without threads, memory maps or a clock: what a browser would need.
cargo check --locked -p regard-decode --no-default-features
cargo test --workspace --locked
cargo clippy -p regard-text --features parquet --all-targets --locked -- -D warnings
cargo test -p regard-text --features parquet --test formats --locked
if [ -x "${CHROMIUM:-/usr/bin/chromium}" ] && command -v npm >/dev/null; then
    tests/browser/with_demo.sh "${CARGO_TARGET_DIR:-target}/debug/regard"
else
    echo "skipped: no chromium or no npm (tests/browser)"
fi
