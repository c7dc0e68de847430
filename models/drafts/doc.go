// Package drafts is what an admin has who changes the policy, before the change has an effect.
//
// Each admin has one draft, valid or not (Draft, Keep, Undo, Drop). Its revision counts what
// was kept: whoever changes another one than they saw is refused. Apply makes a version of the
// policy of it, in the same transaction as the store checks and stores that.
//
// Two things say beforehand what a document would do: Usage is what is known of the
// installation (tools that agents ask about, people, groups), for the advice beside a rule;
// Replay judges calls that were asked by two policies, and tells which the second decides
// otherwise. Neither writes anything.
package drafts
