// Package glass keeps track of decisions that broke glass, until another person has looked at them.
//
// The store takes such a vote, with the people whose signatures it did without, and has them and all admins told
// (store.Decide). Unacknowledged lists such votes for admins, those who were skipped, and who gave them; Acknowledge
// takes one off the list, with a remark. A vote is listed also after it was undone: the glass was broken.
package glass
