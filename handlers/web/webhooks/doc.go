// Package webhooks is the endpoints that get the ledger's events: adding and changing them, their
// secrets, shown once, what they answered, and the acts on what is blocked. The guide for who
// writes a receiver needs no sign-in.
package webhooks
