// Package webhooks holds the pages of endpoints that get the ledger's events: their list, one
// endpoint with its state, blocked streams and answers, the form that makes or changes one, the
// replay, and the guide for those who write a receiver (webhooks.md).
package webhooks
