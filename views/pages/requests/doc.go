// Package requests is the page of one request and everything it is made of: what is asked, why a
// person is asked, what happened around it, and the bar that decides.
//
// Approval is its view model, made by New from an Input and the time; a request whose time is up
// is shown as expired, whether or not that has been written down (I3). Card is what the page
// offers beside the request; where a request stands among others, in a conversation, its zero
// value offers nothing but a decision.
//
// By file: decide draws the forms of a decision, checklist and edit_form what they hold, confirm
// what is asked before great harm, and which ends must have been seen. approvers says who must
// approve, acting for whom others act, withdrawal and outcome what became of a decision.
// around and why tell what led to it, budget_ask what a budget request asks for, outside what
// another system sent.
//
// What may be touched with care only: a decision carries the digest of what was drawn (I6), no
// act is offered that the store refuses, and no GET decides (I15). The input itself is drawn by
// inputs, and its end by outcomes.
package requests
