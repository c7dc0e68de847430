// Package request is one request and what people do with it: decide, take back, ask, answer, extend,
// hand over, cancel.
//
// View is its card as it is now, for the signed-in person; the inbox shows it beside the list, and
// conversation where the agent asked. ReadVerdict reads the form of a decision, TakeVerdict has
// the store take it with what the person has seen: the digest that was shown (I6), the parts that
// were opened, the end that was in view, the confirmation of great harm. Who decides is who is
// signed in, never part of the form (I5). An edit is never dropped: an approval of the original
// beside changed fields is refused.
//
// A verdict that comes too late is answered with the current state, never with an error page
// (TooLate); what can be corrected is said at its field, with all that was typed (ToCorrect). An
// act from beside the list is answered by Desk, which the inbox sets.
package request
