// Package outside has the approvals of other systems decided here.
//
// An upstream is such a system: its address, its key, its owner, and the agent to which belongs
// what it asks and is no agent's call. AddUpstream and what changes one are for admins and the
// operator; UpstreamStates says how each does.
//
// Taken: the poller of an upstream hands each thing that it lists as pending to Take. An item is
// for a call that an agent has reported, in its run or one beside it (match.go), and makes that call
// pending; or it waits for its call until the next poll; or it gets a request of its own (ask.go).
// What is kept of an item is a row of outside_approvals. Reconcile settles what is not listed any
// more, Link looks again for the calls of what found none.
//
// Told: a verdict on such a request does not become its outcome at once. The store holds it and
// writes a delivery, a row; DueDeliveries lists those to be told now. BeginDelivery notes an attempt
// before anything is sent, EndDelivery keeps how it ended, and the outcome follows.
//
// This room finds, keeps and tries again. What changes a request is a move of models/store within
// the Tx of this room: AskMatched, AskOwn, LinkCall, RejectWith, MoveDeadline, SettleElsewhere,
// EndHeld, Undelivered, WithdrawBarred. So the reviewer is judged as for any request, and a
// verdict is released by the one function that releases.
//
// Only who holds the lease takes, begins and ends; everything else is refused with CodeConflict. An
// item may say anything: its texts are kept as they came, made valid and cut, and a request of
// which a part is missing can only be rejected.
package outside
