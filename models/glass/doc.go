// Package glass keeps track of decisions that broke glass, until another person has looked at them.
//
// The store takes such a vote, with whose signatures it did without, and has them and all admins told (store.Decide).
// Unacknowledged lists those that nobody else has looked at, for admins, those who were skipped, and who gave them;
// Acknowledge ends that, with what was found. It is asked for also where the decision was undone: the glass was broken.
package glass
