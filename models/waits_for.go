package models

import (
	"fmt"
	"strings"
	"time"
)

// WaitsFor says what a pending request waits for. The zero value is that of a request that
// waits for nothing.
type WaitsFor struct {
	// Reviewers are who may approve or answer it: people by name, groups as GroupReviewer
	// names them, AdminReviewers, and last who decides for others, as StandInReviewer.
	Reviewers []string
	// Text says in a few words what it waits for; empty: nothing.
	Text string
	// Count is how many have signed a request that several people sign, for people, and for its agent where the rule
	// shows it; nil: it takes one, or is not to be known. Ballot is who has, for people.
	Count  *Count
	Ballot *Ballot
}

// AdminReviewers names all admins in a list of reviewers.
const AdminReviewers = "admins"

// PersonReviewer is a person's name in a list of reviewers. People choose their names: one
// that would be read as a group or as all admins is quoted.
func PersonReviewer(name string) string {
	if _, group := GroupOf(name); group || name == AdminReviewers || strings.Contains(name, standsIn) {
		return "“" + name + "”"
	}
	return name
}

// standsIn marks in a list of reviewers for whom somebody decides.
const standsIn = " (on behalf of "

// StandInReviewer is a person's name in a list of reviewers who decides for somebody else.
func StandInReviewer(name, behalf string) string {
	return PersonReviewer(name) + standsIn + PersonReviewer(behalf) + ")"
}

// shownReviewers is how many of a list a sentence names.
const shownReviewers = 4

// Candidates are who may approve the request as it was asked, by id, and the groups; admins
// says that any admin may.
func (r *Response) Candidates() (people []UserID, groups []string, admins bool) {
	who := r.Approvers()
	if !who.Limited() {
		people = append(people, r.OwnerID)
	}
	for _, a := range who.Able() {
		switch {
		case a.Group != "":
			groups = append(groups, a.Group)
		case a.ID != r.OwnerID || who.Limited():
			people = append(people, a.ID)
		}
	}
	return people, groups, !who.ReviewersOnly
}

// WaitingFor says what the request waits for. upstream is the name of the system that asked, if the reader may know it.
// A verdict that holds the request is mentioned only where the store gave it to the reader, so agents do not hear of
// one (I1).
func (a *Approval) WaitingFor(reviewers []string, upstream string, now time.Time) WaitsFor {
	if a.StateAt(now) != StatusPending {
		return WaitsFor{}
	}
	return WaitsFor{Reviewers: reviewers, Text: a.waitingText(reviewers, upstream, now)}
}

// Signed is what a request waits for that several people sign. Its agent hears of no person, and how many have signed
// only where the rule says so.
func (w WaitsFor) Signed(a *Approval, s *Ballot, toPerson bool) WaitsFor {
	if toPerson || s.ShowProgress {
		w.Count = &s.Tally
	}
	if !toPerson {
		w.Reviewers = nil
		if a.OpenNote != nil {
			return w // it waits for the agent itself
		}
		if w.Text = "the signatures of several people"; s.ShowProgress {
			w.Text += " (" + s.Tally.Progress() + ")"
		}
		return w
	}
	w.Ballot = s
	switch {
	case a.StrandedAt != nil:
		w.Text = "other signers: not enough people are left who could sign it (" + s.Tally.Progress() + ")"
	case a.HeldUntil == nil && a.OpenNote == nil:
		w.Text = "the signatures of " + s.WaitsFor + " (" + s.Tally.Progress() + ")"
	}
	return w
}

func (a *Approval) waitingText(reviewers []string, upstream string, now time.Time) string {
	who := oneOf(reviewers)
	switch held := a.HeldUntil != nil; {
	case held && a.Vote != nil && a.Vote.UndoUntil != nil:
		rest := max(a.Vote.UndoUntil.Sub(now), 0)
		if rest > rest.Truncate(time.Second) {
			rest = rest.Truncate(time.Second) + time.Second
		}
		return fmt.Sprintf("the release of %s's approval in %s", a.Vote.UserName, SpokenDuration(rest))
	case held && a.UpstreamID != nil && upstream != "":
		return "delivery of the decision to " + upstream
	case held && a.UpstreamID != nil:
		return "delivery of the decision to the system that asked"
	case held && a.Vote != nil:
		return fmt.Sprintf("the release of %s's approval", a.Vote.UserName)
	case a.OpenNote != nil:
		return "the agent's answer to a question that a reviewer asked"
	case a.Kind == KindQuestion:
		return "an answer from " + who
	}
	return "a decision by " + who
}

// oneOf names a list of reviewers in a sentence, where any of them will do.
func oneOf(reviewers []string) string {
	var names []string
	for i, name := range reviewers {
		if rest := len(reviewers) - i; i == shownReviewers-1 && rest > 1 {
			names = append(names, fmt.Sprintf("%d others", rest))
			break
		}
		if group, ok := GroupOf(name); ok {
			name = "somebody in " + group
		} else if name == AdminReviewers {
			name = "an admin"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "a reviewer"
	}
	return AnyOf(names)
}
