package policies

import (
	"strconv"
	"time"

	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// ReviewInput is what a review of the draft is made of.
type ReviewInput struct {
	Base, Revision, Standing int64
	Before, After            policy.Document
	Warnings                 []policy.Warning
	Note, NoteError, Error   string
	// By saved the active version after the draft was begun; empty: it began with that.
	By    string
	Began policy.Document // which the draft began with then
	// Removal is what a retention that starts or gets shorter will remove; nil: it does neither.
	Removal *Removal
	// Replay is what the draft would have made of the last calls; nil: that is not known.
	Replay  *policy.Tally
	Clashes []policy.Clash // what both changed
	Now     time.Time
	// Admins is how many admins have to agree before it is saved; 0: the reader saves it alone.
	Admins  int
	Waiting string // who has proposed a change that waits; empty: no one
}

// Review shows what saving the draft would change.
type Review struct {
	Version, Began           string
	Revision                 string
	Changes, Theirs          Changes
	Clashes                  []Clash
	Dangers                  []Danger
	Removal                  string // what a retention will remove; empty: it does not start or get shorter
	Text                     ui.Field
	Replay                   string // what it would have made of the last calls; empty: that is not known
	Warnings                 []string
	Note, NoteError, Problem string
	Proposes                 string // what happens when it is proposed; empty: it is saved
	Waiting                  string // whose proposal has to end first
	By                       string // saved another version meanwhile; empty: no one did
}

// Clash is what two people changed in different ways.
type Clash struct{ What, Base, Theirs, Mine string }

// NewReview makes the review.
func NewReview(in ReviewInput) Review {
	v := Review{
		Version: "v" + views.Number(in.Standing), Began: "v" + views.Number(in.Base),
		Revision: strconv.FormatInt(in.Revision, 10),
		Note:     in.Note, NoteError: in.NoteError, Problem: in.Error,
	}
	for i, w := range in.Warnings {
		if i == shownPolicyChanges {
			v.Warnings = append(v.Warnings,
				views.Number(int64(len(in.Warnings)-i))+" more remarks; `countersign policy check` lists them all")
			break
		}
		v.Warnings = append(v.Warnings, w.Text)
	}
	if in.Base != in.Standing {
		v.By = in.By
		v.Theirs, v.Changes = newChanges(in.Began, in.Before, nil), newChanges(in.Began, in.After, nil)
		for _, c := range in.Clashes {
			v.Clashes = append(v.Clashes,
				Clash{
					What: inWords(c.Path), Base: orNothing(c.Base), Theirs: orNothing(c.Theirs), Mine: orNothing(c.Mine),
				})
		}
		return v
	}
	if r := in.Removal; r != nil {
		days := strconv.Itoa(r.Days)
		v.Removal = removalText(r)
		v.Text = ui.Field{
			Name: "retention_typed", Label: "Type " + days + " to confirm that contents are removed after " + days + " days",
			Value: r.Text, Error: r.Error, Required: true,
		}
	}
	v.Changes = newChanges(in.Before, in.After, in.Replay)
	switch in.Admins {
	case 0:
	case 1:
		v.Proposes = "An admin saves it, by confirming what you propose."
	default:
		v.Proposes = "It is saved when " + views.Count(in.Admins) + " admins agree to it."
	}
	v.Waiting = in.Waiting
	v.Dangers, v.Replay = dangers(in.Before, in.After, in.Now), replayedInOneLine(in.Replay)
	return v
}

// shownPolicyChanges is how many changes a page lists.
const shownPolicyChanges = 300

// dangers is what the changes would open, or remove for good.
func dangers(before, after policy.Document, now time.Time) []Danger {
	out := openings(before, after, now)
	if before.Unmatched == policy.EffectRequire && after.Unmatched == policy.EffectAllow {
		out = append(out,
			Danger{Text: "Everything else is allowed: a tool that no rule or list names runs without a person."})
	}
	if before.SavedBy() > after.SavedBy() {
		out = append(out, Danger{Text: "A change of the policy will take fewer admins: " + views.Count(after.SavedBy()) + " instead of " + views.Count(before.SavedBy()) + "."})
	}
	if days := after.RetentionDays; days > 0 && (before.RetentionDays == 0 || days < before.RetentionDays) {
		out = append(out,
			Danger{Text: "Contents of requests and conversations that ended " + views.Number(int64(days)) +
				" or more days ago are permanently removed, including existing ones. Only a backup can bring them back."})
	}
	return out
}

// Removal is what a retention will remove.
type Removal struct {
	Days    int
	Rows    int64  // that are as old now
	AtLeast bool   // not all could be counted
	Text    string // the text typed to confirm it
	Error   string
}

// removalText says what will be removed, and when.
func removalText(r *Removal) string {
	count := views.Number(r.Rows)
	if r.AtLeast {
		count = "at least " + count
	}
	return "Removal begins 24 hours after you save; until then you can cancel it on the Policy page. It would now affect " + count +
		" requests, messages and other texts."
}
