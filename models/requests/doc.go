// Package requests reads what was asked and said, for who may see it: a request and its page,
// the inbox, what was settled, the lists of programs, look-ups, conversations with their history,
// a person's trail, and the feed of what happened. It changes nothing, and it knows no move.
//
// A request is models.Approval: a response with its vote, its open question and the names beside
// it. It is read in two ways that must agree: prepared joins for what every wait reads (rows.go has
// the columns, ScanApproval takes them in their order), and GORM with scopes for all else
// (FindApprovals, FindBriefs). Either way it is as it holds now: past its deadline it has expired,
// whatever is stored (At, I3). A brief is a request with its long texts cut.
//
// Who sees a request is one rule, models.Actor.Sees; SeenBy says the same in SQL, and a property
// test holds them equal. What one may not see is CodeNotFound. A conversation is seen by its agent,
// its owner and admins (SeesConversation); whom one request was routed to sees that and five turns.
//
// A list (db.List) walks an index in the list's order and pages by key, so that it costs what it
// shows. Where no index serves a filter, search looks at so many rows and says how far it came. No
// page mixes two states: what must be of one is read in one snapshot. Each query has its row in a
// plan test beside it.
//
// The store and all rooms after it read requests here. What is exported beside the methods is what
// they build their own statements of: columns, rows, SeenBy, StandingVote. Page lets the store add
// what it knows, within the same snapshot: rights, budgets, what the policy says by now.
package requests
