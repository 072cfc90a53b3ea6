#!/usr/bin/env bash
# The page of `regard serve` in a browser: types, plain functions, then every action in headless Chromium, its numbers held
# against the API's.
#
# REGARD_URL=http://127.0.0.1:5000   a server with the demo's models fixed_vector, attention, transformer; a toy where not given
# SHOTS=DIR                          also takes pictures of every view at three widths, light and dark
# CHROMIUM=PATH                      default /usr/bin/chromium
set -euo pipefail
cd "$(dirname "$0")"

[ -d node_modules/playwright-core ] || npm ci --no-audit --no-fund
npx tsc -p tsconfig.json
node --test --test-timeout=300000 units.test.mjs translate.test.mjs what_if.test.mjs others.test.mjs
if [ -n "${SHOTS:-}" ]; then node shots.mjs; fi
