#!/usr/bin/env bash
# The published SDK of the function-call API, at a pinned version, against BIN on loopback.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/server.sh"

start_server
agent_key=$("$BIN" token add sdk-agent --user owner@example.com --scope agent --data "$DATA")
reviewer_key=$("$BIN" token add sdk-test --user owner@example.com --scope reviewer --data "$DATA")
npm install --prefix "$WORK/npm" --silent --no-audit --no-fund --ignore-scripts @humanlayer/sdk@0.7.9
cp "$here/humanlayer.mjs" "$WORK/npm/"
BASE_URL="$ADDRESS/humanlayer/v1" AGENT_KEY=$agent_key REVIEWER_KEY=$reviewer_key node "$WORK/npm/humanlayer.mjs"
ran @humanlayer/sdk@0.7.9
