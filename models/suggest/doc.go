// Package suggest reads from calls that people have decided which questions need not be asked: rules that would settle
// the calls to which the answer is always the same.
//
// Find makes families of an agent's calls of a tool that differ only in paths, addresses and amounts, and writes the
// narrowest condition that each family's approved calls have in common. It then judges all calls by the policy with that
// rule in it, and offers no rule that would settle any call otherwise than people did, or one of which it does not know
// how they would. What can't be put exactly into a condition is in no family: a command that is not a simple one, a long
// text, a path that climbs.
//
// It is pure: no I/O and no clock. A suggestion changes nothing: an admin takes it into a draft.
package suggest
