#!/usr/bin/env bash
# The page on the models of a short demonstration: run.sh against a real server.
#
# Usage: tests/browser/with_demo.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")"
place=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -r "$place"' EXIT

"$program" demo --quick --quiet --out "$place/demo" >"$place/demo.txt"
"$program" serve "$place"/demo/{fixed_vector,attention,transformer} --port 0 2>"$place/server.log" &
server=$!
for _ in $(seq 100); do
    address=$(grep -o 'http://127.0.0.1:[0-9]*' "$place/server.log" | head -1 || true)
    [ -n "$address" ] && break
    sleep 0.1
done
REGARD_URL=$address ./run.sh
