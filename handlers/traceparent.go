package handlers

import (
	"net/http"
	"strings"
)

// headerTraceparent names the trace that a request is part of: https://www.w3.org/TR/trace-context/.
const headerTraceparent = "Traceparent"

// The first version of the header is all of it; a later one may say more behind a hyphen.
const (
	traceIDAt, parentIDAt, flagsAt = 3, 36, 53
	traceparentLen                 = 55
)

// traceID is the trace that the caller's traceparent names; empty without one that is
// valid. None is made up here, and what else the header says is not used.
func traceID(h http.Header) string {
	sent := h[headerTraceparent]
	if len(sent) != 1 || len(sent[0]) < traceparentLen {
		return ""
	}
	s := sent[0]
	version, trace, parent, flags, rest := s[:2], s[traceIDAt:traceIDAt+32], s[parentIDAt:parentIDAt+16], s[flagsAt:traceparentLen], s[traceparentLen:]
	switch {
	case s[2] != '-' || s[traceIDAt+32] != '-' || s[parentIDAt+16] != '-':
	case !lowerHex(version) || version == "ff" || !lowerHex(trace) || !lowerHex(parent) || !lowerHex(flags):
	case strings.Trim(trace, "0") == "" || strings.Trim(parent, "0") == "":
	case rest != "" && (version == "00" || rest[0] != '-'):
	default:
		return trace
	}
	return ""
}

func lowerHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }
