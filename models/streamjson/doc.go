// Package streamjson reads what coding agents print with `--output-format stream-json`: JSON
// objects, one a line, in three dialects. A line that is not understood is counted and its
// beginning kept; it is never silently nothing. A call that uses the id of another again is
// kept under an id that is new, and text that the agent's machinery wrote is no person's.
package streamjson
