// Package requests reads requests and conversations, for those who may see them: a request and its page, the inbox,
// settled requests, the lists of programs, look-ups, conversations with their history, a person's trail, and the feed
// of events. It changes nothing, and it knows no move.
//
// A request is models.Approval: a response with its vote, its open question and the names beside it. It is read in two
// ways that must agree: prepared joins for the reads of every wait (rows.go has the columns, ScanApproval takes them
// in their order), and GORM with scopes for all others (FindApprovals, FindBriefs). Both return the current state:
// past its deadline it has expired, whatever is stored (At, I3). A brief is a request with its long texts cut.
//
// Who sees a request is one rule, models.Actor.Sees; SeenBy says the same in SQL, and a property test holds them
// equal. A request that the actor may not see is CodeNotFound. Its agent, its owner and admins see a conversation
// (SeesConversation); a reviewer to whom one request was routed sees that request and five turns.
//
// A list (db.List) walks an index in the list's order and pages by key, so that its cost follows the rows it shows.
// Where no index serves a filter, search reads a limited number of rows and says how far it came. No page mixes two
// states: rows that must agree are read in one snapshot. Each query has its row in a plan test beside it.
//
// The store and all rooms after it read requests here. Beside the methods, this package exports the parts of their own
// statements: columns, rows, SeenBy, StandingVote. Page lets the store add what it knows, within the same snapshot:
// rights, budgets, the outcome under the current policy.
package requests
