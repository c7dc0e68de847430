// Package nav is the ways around: search, the list of all places, the files that pages load, what a
// browser keeps for when there is no network, and the gallery of all states, where there is one.
//
// Files are served under names with a hash, for ever; the page without network and the worker
// are the same for everybody. None of it needs the policy or the inbox.
package nav
