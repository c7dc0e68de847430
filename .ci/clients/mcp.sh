#!/bin/bash
# Real MCP clients against the program: .ci/clients/mcp.sh [CASE...], a case by a part of its name.
# Installs pinned npm packages (900 MB) into CLIENTS, once. All cases take some 10 minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
binary=$(realpath "${BIN:-bin/countersign}")
clients=${CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/countersign-clients}
install() { # folder package@version
	[ -e "$clients/$1/installed" ] && return
	mkdir -p "$clients/$1"
	(cd "$clients/$1" && npm init -y >/dev/null && npm i --no-audit --no-fund "$2" >/dev/null && touch installed)
}
install claude-2.1.328 @anthropic-ai/claude-code@2.1.328
install claude-2.1.197 @anthropic-ai/claude-code@2.1.197
install inspector @modelcontextprotocol/inspector@0.15.0
install conformance @modelcontextprotocol/conformance@0.1.16
node "$here/mcp/cases.mjs" "$binary" "$clients" "$@"
[ $# -gt 0 ] && exit # a part was run
BIN=$binary source "$here/server.sh"
ran @modelcontextprotocol/inspector@0.15.0 @modelcontextprotocol/conformance@0.1.16
