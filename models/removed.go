package models

import (
	"strings"
	"time"
	"unicode"
)

// RetentionActor is the name of the system where it removes by the policy's rule.
const RetentionActor = "retention"

// maxMarkName is how much of a name a mark holds, in characters.
const maxMarkName = 60

// RemovedMark takes the place of contents that were removed: when, and by the rule or by whom. It has nothing that JSON
// would escape.
func RemovedMark(at time.Time, by Actor) string {
	who := markName(by.Name)
	if by.Kind == ActorSystem {
		who = "the retention rule"
	}
	return "removed on " + at.UTC().Format(time.DateOnly) + ", by " + who
}

func markName(name string) string {
	kept := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || strings.ContainsRune(`"\<>&`, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "")))
	if len(kept) > maxMarkName {
		kept = kept[:maxMarkName]
	}
	if text := strings.TrimSpace(string(kept)); text != "" {
		return text
	}
	return "somebody"
}

// IsRemoved reports whether the contents were removed and a mark is in their place.
func (r *Response) IsRemoved() bool { return r.Removed != nil }

// AdviceRemoved is the only advice to an agent about a request whose contents were removed.
const AdviceRemoved = "contents removed: ask again under a new key"

// ContentsGone reports whether the request can no longer be compared with the decision, so that nothing may be done on
// its account. A budget that was set applies without its request.
func (r *Response) ContentsGone() bool { return r.IsRemoved() && r.Kind != KindBudget }

// RemovedText is the mark, or empty.
func (r *Response) RemovedText() string {
	if r.Removed == nil {
		return ""
	}
	return *r.Removed
}

// PurgeQuery selects the contents to remove.
type PurgeQuery struct {
	Before       time.Time      // contents that ended before this
	Conversation ConversationID // only of this one; empty: of all
	DryRun       bool           // only count
}

// PurgeReport counts the contents that were removed, or would be.
type PurgeReport struct {
	Removed        map[string]int64 // rows whose contents were removed, by table
	Kept           int64            // requests left alone because they differ from their digest
	Oldest, Newest time.Time        // of the rows: when they were made; zero: there were none
}

// Rows is how many rows it concerns.
func (r *PurgeReport) Rows() int64 { return total(r.Removed) }

// Add counts a row.
func (r *PurgeReport) Add(table string, at time.Time) {
	if r.Removed == nil {
		r.Removed = map[string]int64{}
	}
	r.Removed[table]++
	if at.IsZero() {
		return
	}
	if r.Oldest.IsZero() || at.Before(r.Oldest) {
		r.Oldest = at
	}
	if at.After(r.Newest) {
		r.Newest = at
	}
}
