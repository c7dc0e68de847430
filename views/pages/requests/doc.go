// Package requests is the page of one request and all its parts: the content, why a person is asked, what happened
// around it, and the bar that decides.
//
// Approval is its view model, made by New from an Input and the time; a request whose time is up is shown as expired,
// whether or not that has been written down (I3). Card is what the page offers beside the request; where a request is
// among others, in a conversation, its zero value offers nothing but a decision.
//
// By file: decide draws the forms of a decision, checklist and edit_form their contents, confirm the question before
// great harm, and which ends must have been seen. approvers says who must approve, acting for whom others act,
// withdrawal and outcome what became of a decision. around and why tell what led to it, budget_ask is about a request
// for budget, outside about another system's request.
//
// Change with care only: a decision carries the digest of the drawn content (I6), no act is offered that the store
// refuses, and no GET decides (I15). The input itself is drawn by inputs, and its end by outcomes.
package requests
