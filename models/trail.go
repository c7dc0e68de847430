package models

// TrailEntry is an entry of a person's audit trail with what its reader may see of
// the request it is about. The ledger holds no inputs: they are read beside it.
type TrailEntry struct {
	Entry
	Request *Brief // nil: there is none, or the reader may not see it
	Hidden  bool   // there is a request that the reader may not see
	Reason  string // the reason of the outcome
}
