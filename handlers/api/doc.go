// Package api is the JSON surface: the approval queue under /v1/approvals, tool approval, conversations, run events
// and event streams. It only translates between JSON (package wire) and the use cases in models/store.
package api
