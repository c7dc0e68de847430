package insights_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/figures"
	"countersign/models/store"
	"countersign/models/storetest"
)

// rows are all that figures are counted from, as they are stored.
type rows struct {
	responses []models.Response
	votes     map[models.VoteID]models.Vote
	undone    map[models.ResponseID]int64
	notes     map[models.ResponseID][]models.Note
	seen      map[models.ResponseID]time.Time // first
}

func readRows(tb testing.TB, s *store.Store) *rows {
	tb.Helper()
	out := &rows{votes: map[models.VoteID]models.Vote{}, undone: map[models.ResponseID]int64{}, notes: map[models.ResponseID][]models.Note{}, seen: map[models.ResponseID]time.Time{}}
	g := s.DB().Gorm(tb.Context())
	var votes []models.Vote
	var notes []models.Note
	var seen []models.SeenRequest
	storetest.Must(tb, g.Order("number").Find(&out.responses).Error)
	storetest.Must(tb, g.Find(&votes).Error)
	storetest.Must(tb, g.Order("number").Find(&notes).Error)
	storetest.Must(tb, g.Find(&seen).Error)
	for _, v := range votes {
		out.votes[v.ID] = v
		if v.WithdrawnAt != nil && v.ReplacedBy == "" {
			out.undone[v.ResponseID]++
		}
	}
	for _, n := range notes {
		out.notes[n.ResponseID] = append(out.notes[n.ResponseID], n)
	}
	for _, s := range seen {
		if first, ok := out.seen[s.ResponseID]; !ok || s.FirstAt.Before(first) {
			out.seen[s.ResponseID] = s.FirstAt
		}
	}
	return out
}

// decided reports whether a person did.
func decided(r *models.Response) bool { return r.Cause == models.CauseReviewer && r.DecidedBy != nil }

// naive counts one row after another.
func (all *rows) naive(from, until time.Time, zone *time.Location, is func(*models.Response) bool, byPerson bool) *figures.Sum {
	f := &figures.Sum{
		Outcomes: map[string]int64{}, Agents: map[string]figures.Rate{}, Tools: map[string]figures.Rate{}, Rules: map[string]figures.Rate{}, People: map[string]figures.Rate{},
		Reasons: map[string]int64{}, Edits: map[string]int64{}, Decided: figures.Spread{}, Waited: figures.Spread{}, Hours: map[int]figures.Hour{},
		EnergyOfAgents: map[string]int64{}, EnergyOfTools: map[string]int64{}, EnergyOfConversations: map[string]int64{},
	}
	within := func(t *time.Time) bool { return t != nil && !t.Before(from) && t.Before(until) }
	for i := range all.responses {
		r := &all.responses[i]
		if !is(r) {
			continue
		}
		tool := r.ToolName
		if tool == "" {
			tool = map[models.Kind]string{models.KindQuestion: "(question)", models.KindBudget: "(budget request)"}[r.Kind]
		}
		if !byPerson {
			if within(&r.CreatedAt) && r.Energy > 0 {
				f.EnergyOfAgents[string(r.AgentID)] += r.Energy
				f.EnergyOfTools[tool] += r.Energy
				f.EnergyOfConversations[string(r.ConversationID)] += r.Energy
			}
			if within(r.ApprovalRequestedAt) {
				h := f.Hours[hourOfWeek(*r.ApprovalRequestedAt, zone)]
				h.Asked++
				f.Hours[hourOfWeek(*r.ApprovalRequestedAt, zone)] = h
			}
			for t := from.Add(time.Hour); !t.After(until) && r.ApprovalRequestedAt != nil; t = t.Add(time.Hour) {
				if r.ApprovalRequestedAt.Before(t) && (r.ApprovalTimestamp == nil || !t.After(*r.ApprovalTimestamp)) {
					f.Waiting++
				}
			}
		}
		if ran := r.ApprovalStatus == nil && r.Cause != ""; !within(r.ApprovalTimestamp) && (!ran || !within(&r.CreatedAt)) {
			continue
		}
		status := ""
		if r.ApprovalStatus != nil {
			status = string(*r.ApprovalStatus)
		} else if r.Cause == models.CauseFallback {
			status = string(models.StatusRan)
		}
		f.Outcomes[status+" "+string(r.Cause)]++
		one := figures.Rate{Other: 1}
		if decided(r) && status == "approved" {
			one = figures.Rate{Approved: 1}
		} else if decided(r) {
			one = figures.Rate{Rejected: 1}
		}
		lists := map[string]map[string]figures.Rate{string(r.AgentID): f.Agents, tool: f.Tools, r.PolicyRule: f.Rules}
		if decided(r) {
			lists[string(*r.DecidedBy)] = f.People
		}
		for name, list := range lists {
			list[name] = figures.Rate{Approved: list[name].Approved + one.Approved, Rejected: list[name].Rejected + one.Rejected, Other: list[name].Other + one.Other}
		}
		if status == "rejected" && (r.Cause == models.CauseReviewer && r.Removed == nil || r.Cause == models.CausePolicy) && r.ApprovalFeedback != nil {
			f.Reasons[strings.SplitN(*r.ApprovalFeedback, "\n", 2)[0]]++
		}
		if at, ok := all.seen[r.ID]; status == "expired" && r.Removed == nil && (!ok || !at.Before(*r.ApprovalTimestamp)) {
			f.Unseen++
		}
		f.Undone += all.undone[r.ID]
		for _, n := range all.notes[r.ID] {
			if n.Asks {
				f.Questions++
			}
		}
		if r.ApprovalRequestedAt != nil {
			f.Waited[bound(r.ApprovalTimestamp.Sub(*r.ApprovalRequestedAt))]++
		}
		if decided(r) {
			v := all.votes[*r.VoteID]
			f.Decided[bound(v.At.Sub(*r.ApprovalRequestedAt)-asked(all.notes[r.ID], v.At))]++
			h := f.Hours[hourOfWeek(v.At, zone)]
			h.Decided++
			f.Hours[hourOfWeek(v.At, zone)] = h
			if v.Verdict == models.VerdictApprove && v.Input != nil && r.Removed == nil {
				for _, name := range edited(r.ToolInputJSON, *v.Input) {
					f.Edits[name]++
				}
			}
		}
	}
	return f
}

// asked is for how long a question was open: in this world each is answered by the next note or never.
func asked(notes []models.Note, until time.Time) (d time.Duration) {
	for i, n := range notes {
		if n.Asks && i+1 < len(notes) {
			d += notes[i+1].At.Sub(n.At)
		} else if n.Asks {
			d += until.Sub(n.At)
		}
	}
	return d
}

func edited(from, to string) (names []string) {
	var a, b map[string]any
	if json.Unmarshal([]byte(from), &a) != nil || json.Unmarshal([]byte(to), &b) != nil {
		return []string{"input"}
	}
	for _, name := range []string{"amount", "note"} {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	return names
}

func bound(d time.Duration) int {
	return slices.IndexFunc(figures.Bounds, func(b time.Duration) bool { return d <= b })
}

func hourOfWeek(t time.Time, zone *time.Location) int {
	t = t.In(zone)
	return map[time.Weekday]int{time.Monday: 0, time.Tuesday: 24, time.Wednesday: 48, time.Thursday: 72, time.Friday: 96, time.Saturday: 120, time.Sunday: 144}[t.Weekday()] + t.Hour()
}

// text is figures as JSON, without what is nothing.
func text(tb testing.TB, f *figures.Sum) string {
	tb.Helper()
	raw, err := json.Marshal(f, json.Deterministic(true), json.OmitZeroStructFields(true))
	storetest.Must(tb, err)
	return string(bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte(`,"`), []byte("\n\"")), []byte(":{"), []byte(":{\n")))
}
