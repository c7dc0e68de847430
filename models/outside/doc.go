// Package outside has the approvals of other systems decided here.
//
// An upstream is such a system: its address, its key, its owner, and an agent, which gets the requests that belong to
// no other agent's call. AddUpstream and the methods that change an upstream are for admins and the operator;
// UpstreamStates reports the state of each.
//
// Taken: the poller of an upstream hands each item that it lists as pending to Take. An item is for a call that an
// agent has reported, in its run or one beside it (match.go), and makes that call pending; or it waits for its call
// until the next poll; or it gets its own request (ask.go). Each item has a row of outside_approvals. Reconcile
// settles items that are no longer listed, Link looks again for the calls of items that found none.
//
// Told: a verdict on such a request does not become its outcome at once. The store holds it and writes a delivery, a
// row; DueDeliveries lists those to send now. BeginDelivery notes an attempt before anything is sent, EndDelivery
// keeps how it ended, and the outcome follows.
//
// This room finds, keeps and tries again. A change to a request is a move of models/store within the Tx of this room:
// AskMatched, AskOwn, LinkCall, RejectWith, MoveDeadline, SettleElsewhere, EndHeld, Undelivered, WithdrawBarred. So
// the reviewer's rights are checked as for any request, and the one function that releases verdicts releases these
// too.
//
// Only the process with the lease may take, begin and end; others get CodeConflict. An item may say anything: its
// texts are kept as they came, made valid and cut, and a request with a missing part can only be rejected.
package outside
