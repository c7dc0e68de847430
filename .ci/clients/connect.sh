#!/usr/bin/env bash
# What the page Connect says to paste for packages of npm, at pinned versions, as it is pasted,
# against BIN on loopback.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/server.sh"

start_server
AGENT_KEY=$("$BIN" token add connect-agent --user owner@example.com --scope agent --data "$DATA")
REVIEWER_KEY=$("$BIN" token add connect-test --user owner@example.com --scope reviewer --data "$DATA")
mkdir -p "$WORK/npm"
for file in "$here"/../../views/pages/connect/snippets/*; do
	sed -e "s|@SERVER@|$ADDRESS|" -e "s|@TOKEN@|$AGENT_KEY|" "$file" >"$WORK/npm/$(basename "$file")"
done
mv "$WORK/npm/humanlayer.mjs" "$WORK/npm/agent.mjs"
cp "$here/connect.mjs" "$WORK/npm/"
cd "$WORK/npm"
npm init -y >/dev/null
# LangGraph resolves only with --legacy-peer-deps.
pins=(
	@openai/agents@0.20.0 @openai/agents-core@0.20.0 @openai/agents-openai@0.20.0 ai@7.0.173
	@langchain/langgraph@1.7.3 @langchain/core@1.4.0
)
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps "${pins[@]}" openai zod@4
source ./env.sh
REVIEWER_KEY=$REVIEWER_KEY BIN=$BIN DATA=$DATA SERVER=$SERVER node connect.mjs
ran "${pins[@]}"
