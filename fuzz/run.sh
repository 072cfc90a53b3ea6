#!/usr/bin/env bash
# Runs each fuzz target for SECONDS (default 600) and fails on a finding.
#
#   fuzz/run.sh [SECONDS [TARGET…]]
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-600}
shift || true
scratch=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch

cargo run --quiet --example seeds -- "$scratch/seeds"
targets=("$@")
if [ $# = 0 ]; then
    mapfile -t targets < <(cargo fuzz list)
fi
cargo fuzz build -s none
# What no reader may ask for, whatever a length field says.
ulimit -v 2097152
failed=()
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target"
    cargo fuzz run -s none "$target" "corpus/$target" "$scratch/seeds/$target" -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 || failed+=("$target")
done
if [ ${#failed[@]} != 0 ]; then
    echo "findings in: ${failed[*]}; the inputs lie in fuzz/artifacts" >&2
    exit 1
fi
