// Package drafts is an admin's work on the policy before a change takes effect.
//
// Each admin has one draft, valid or not (Draft, Keep, Undo, Drop). Its revision counts the stored versions: a change
// to any other version than the one that was shown is refused. Apply makes a version of the policy of it, in the same
// transaction in which the store checks and stores that.
//
// Three things say beforehand what a document would do: Usage describes the installation (tools that agents ask about,
// people, groups), for the advice beside a rule; Samples reads calls of a rule's tools and says of which of them a
// condition is true; Replay evaluates past calls against two policies, and reports which of them the second decides
// otherwise. None writes anything.
package drafts
