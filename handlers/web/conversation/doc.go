// Package conversation is the pages of conversations: the history with its runs and batches, the
// composer, deciding in place, steering, and the budget.
//
// A conversation is seen by its owner and admins; whom one request was routed to sees that one on
// its own page. Parts refetch themselves, and a history grows without being drawn again. Deciding
// in place is request.TakeVerdict, answered with this page.
package conversation
