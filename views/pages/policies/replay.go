package policies

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// ReplayInput is what the page of a replay is made of.
type ReplayInput struct {
	Last, Since string            // as they were typed
	Errors      map[string]string // their errors
	Draft       string            // why there is nothing to replay; empty: there is a draft
	State       ReplayState
	Now         time.Time
}

// ReplayState is how far a replay is, and what it found.
type ReplayState struct {
	Runs, Stops      bool
	Read, Of         int
	Ended            time.Time // zero: there was none, or it runs
	Fault            string    // why it ended without a result
	Cancelled, Stale bool      // stale: the draft, or the active version, is another by now
	Tally            policy.Tally
	Changes          []ReplayChange // the newest, at most ReplayChangesShown
	Total            int            // how many there are
	Oldest           time.Time
}

// ReplayChange is a call with which something else would have happened.
type ReplayChange struct {
	policy.Shift

	ID   models.ResponseID
	Tool string
	Who  string // the agent
	At   time.Time
}

// Replay is the view model of the page.
type Replay struct {
	Last, Since ui.Field
	Lasts       []ui.Choice
	Draft       string
	Panel       ReplayPanel
}

// ReplayPanel is what a replay found so far.
type ReplayPanel struct {
	Runs, Stops, Done bool
	Progress, Note    string
	Tone              views.Tone
	Summary           string
	Groups            []ReplayGroupRow
	MoreGroups        string
	Changes           []ReplayRow
	MoreChanges       string
}

// ReplayGroupRow counts the calls with which the same would have happened.
type ReplayGroupRow struct {
	Tool, Calls string
	Old, New    ReplayOutcome
}

// ReplayRow is one call.
type ReplayRow struct {
	URL, Tool, Who string
	At             views.Moment
	Old, New       ReplayOutcome
}

// ReplayOutcome is what one policy says.
type ReplayOutcome struct {
	Word        ui.Word
	Rule, Terms string
}

// How much of a replay a page shows; the files have all of it.
const (
	replayGroupsShown  = 100
	ReplayChangesShown = 100
)

// replayLasts is over how many calls one may choose.
var replayLasts = []ui.Choice{
	{Value: "100", Label: "the last 100"},
	{Value: "1000", Label: "the last 1,000"},
	{Value: "10000", Label: "the last 10,000"},
}

// NewReplay makes the page.
func NewReplay(in ReplayInput) Replay {
	if in.Last == "" {
		in.Last = replayLasts[1].Value
	}
	return Replay{
		Last: ui.Field{Name: "last", Label: "Calls", Value: in.Last, Error: in.Errors["last"]}, Lasts: replayLasts,
		Since: ui.Field{
			Name: "since", Label: "Since", Type: "date", Value: in.Since, Error: in.Errors["since"],
			Help: "A day in UTC. Leave it empty for no limit.", Optional: true,
		},
		Draft: in.Draft, Panel: NewReplayPanel(in.State, in.Now),
	}
}

// NewReplayPanel shows a state.
func NewReplayPanel(s ReplayState, now time.Time) ReplayPanel {
	v := ReplayPanel{Runs: s.Runs, Stops: s.Stops, Tone: views.ToneNeutral}
	switch {
	case s.Runs:
		v.Progress = "starting"
		if s.Read > 0 {
			v.Progress = views.Number(int64(s.Read)) + " of at most " + views.Number(int64(s.Of)) + " calls read"
		}
		return v
	case s.Ended.IsZero():
		return v
	case s.Cancelled:
		v.Note = "The replay was cancelled."
		return v
	case s.Fault != "":
		v.Note, v.Tone = s.Fault, views.ToneBad
		return v
	}
	v.Done = true
	if s.Stale {
		v.Note, v.Tone = "Your draft or the active version has changed since. Replay again for a current result.", views.ToneWarn
	}
	v.Summary = replaySummary(s, now)
	groups := s.Tally.Groups()
	for i, g := range groups {
		if i == replayGroupsShown {
			v.MoreGroups = views.Number(int64(len(groups)-i)) + " more are listed in the files."
			break
		}
		v.Groups = append(v.Groups,
			ReplayGroupRow{
				Tool: g.Tool, Calls: views.Number(int64(g.Calls)), Old: replayOutcome(g.Old), New: replayOutcome(g.New),
			})
	}
	if shown := len(s.Changes); shown < s.Total {
		v.MoreChanges = "The newest " + views.Number(int64(shown)) + " of " + views.Number(int64(s.Total)) +
			"; the files list them all."
	}
	for _, c := range s.Changes {
		v.Changes = append(v.Changes, ReplayRow{
			URL: views.ApprovalURL(c.ID), Tool: c.Tool, Who: c.Who, At: views.Ago(c.At, now), Old: replayOutcome(c.Old),
			New: replayOutcome(c.New),
		})
	}
	return v
}

func replayOutcome(o policy.Outcome) ReplayOutcome {
	return ReplayOutcome{Word: triedWord(policy.Judgement{Effect: o.Effect}), Rule: o.Rule, Terms: o.Terms}
}

// replaySummary says in a sentence or two what would have been.
func replaySummary(s ReplayState, now time.Time) string {
	if s.Tally.Calls == 0 {
		return "No calls found."
	}
	text := "Of " + callsSpoken(s.Tally.Calls) + ", the oldest " + models.SpokenDuration(now.Sub(s.Oldest)) + " ago, " +
		turnedSpoken(s.Tally.Turned) + "."
	if terms := s.Tally.Changed - s.Tally.Effects; terms > 0 {
		text += " " + views.Number(int64(terms)) + " would have waited under different terms."
	}
	if n := s.Tally.Unjudged; n > 0 {
		text += " " + views.Number(int64(n)) + " can't be judged: their contents were removed."
	}
	return text
}

func callsSpoken(n int) string {
	if n == 1 {
		return "1 call"
	}
	return views.Number(int64(n)) + " calls"
}

// turnedSpoken counts the other outcomes, by their effects.
func turnedSpoken(count func(policy.Effect) int) string {
	var parts []string
	for _, e := range []struct {
		effect policy.Effect
		text   string
	}{
		{policy.EffectRequire, "would have waited"},
		{policy.EffectDeny, "would have been denied"},
		{policy.EffectAllow, "would have run without a person"},
	} {
		if n := count(e.effect); n > 0 {
			parts = append(parts, views.Number(int64(n))+" "+e.text)
		}
	}
	if len(parts) == 0 {
		return "none would have had a different outcome"
	}
	return strings.Join(parts, ", ")
}

// replayedInOneLine is what a review says of real calls; empty: nothing is known.
func replayedInOneLine(t *policy.Tally) string {
	if t == nil || t.Calls == 0 {
		return ""
	}
	return ofLast(t) + turnedSpoken(t.Turned) + "."
}

// ofLast begins a sentence about the calls of a tally.
func ofLast(t *policy.Tally) string {
	if t.Calls == 1 {
		return "Of the last call, "
	}
	return "Of the last " + callsSpoken(t.Calls) + ", "
}
