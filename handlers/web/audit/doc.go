// Package audit is what is over: the history of requests, the trail of what a person decided, and the
// ledger with its chain.
//
// Each list is narrowed by its address, paged by key, and exported whole (site.Export). A trail
// shows nothing of what its reader may no longer see. The chain is checked on request, by one
// check at a time (chainCheck), which goes on without its reader and ends when the server does.
package audit
