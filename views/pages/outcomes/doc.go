// Package outcomes says how a request ended, who hears of that, and the details of the decision: the Outcome with its
// cause (I10), the Choices that were offered, the sum that was granted instead of the one asked for, and the Presence
// of the agent that waits.
//
// Requests, conversations and history read the same words here, so that no page tells another end than the next one.
package outcomes
