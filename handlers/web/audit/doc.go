// Package audit shows the past: the history of requests, the trail of a person's decisions, and the ledger with its
// chain.
//
// Each list takes its filters from the address, is paged by key, and is exported whole (site.Export). A trail leaves
// out what its reader may no longer see. The chain is checked on request, by one check at a time (chainCheck), which
// runs on without its reader and ends when the server does.
package audit
