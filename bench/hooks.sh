#!/usr/bin/env bash
# What the calls of hooks cost where nobody hooks in: instructions of one translation, with the calls and with a build that has
# none. Under callgrind the program takes its AVX2 path. Needs valgrind.
#
# Usage: bench/hooks.sh MODEL TEXTFILE
set -euo pipefail
model=$(realpath "$1") text=$(realpath "$2")
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}

cargo build --release --locked -q -p regard
RUSTFLAGS="--cfg regard_without_hooks" CARGO_TARGET_DIR=$target/without-hooks cargo build --release --locked -q -p regard

count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" translate "$model" --threads 1 -i "$text" -o /dev/null 2>&1 |
        awk '/Collected/ { print $NF }'
}
with=$(count "$target/release/regard")
without=$(count "$target/without-hooks/release/regard")
awk -v a="$with" -v b="$without" 'BEGIN { printf "%d with hook calls, %d without: %+.3f %%\n", a, b, 100 * (a - b) / b }'
