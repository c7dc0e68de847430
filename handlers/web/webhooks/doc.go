// Package webhooks manages the endpoints that receive the ledger's events: adding and changing them, their secrets,
// shown once, their answers, and the acts on blocked streams. The guide for authors of receivers needs no sign-in.
package webhooks
