// Package api is the JSON surface: the approval queue under /v1/approvals, and
// the Go client that our own programs use. It only translates; what happens is
// in models/store.
package api
