// Package webhooks keeps the endpoints that get the ledger's events: where each goes, how far
// it has got, which of its streams wait for an event that was refused, and what it answered.
//
// Nothing is stored when something happens: the ledger is the queue, and an endpoint's cursor
// says how far it has been sent. A stream is a conversation, else a request, else all the rest;
// within one, an event is sent only after the one before was accepted or skipped. The worker
// that sends moves the cursor (Keep); what people do beside it that moves cursor or blocks
// counts the row's position up, so that the worker reads again instead of overwriting it.
package webhooks
