package requests_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

// trail reads all pages of a trail.
func trail(t *testing.T, s *store.Store, actor models.Actor, q requests.TrailQuery) []models.TrailEntry {
	t.Helper()
	var out []models.TrailEntry
	for range 200 {
		page, err := s.Requests.Trail(t.Context(), actor, q)
		storetest.Must(t, err)
		out = append(out, page.Entries...)
		if page.Next == 0 {
			return out
		}
		q.Before = page.Next
	}
	t.Fatal("the pages have no end")
	return nil
}

func numbersIn(entries []models.TrailEntry) string {
	var out []string
	for i := range entries {
		out = append(out, fmt.Sprint(entries[i].Seq))
	}
	return strings.Join(out, ",")
}

// TestATrailByEveryFilter reads the same as the whole ledger does, filter by
// filter, page by page, and as the export does.
func TestATrailByEveryFilter(t *testing.T) {
	t.Parallel()
	s, clock, admin, ada, bot, asked := storetest.Audited(t)
	for i := range 6 {
		clock.Step(time.Minute)
		a, err := s.Ask(t.Context(), bot, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"ls"}`), Explicit: true, RunID: "run-1"})
		storetest.Must(t, err)
		yes := i%2 == 0
		_, err = s.Decide(t.Context(), ada, a.ID, models.DecisionInput{Approved: &yes, Reason: "because\nof this"})
		storetest.Must(t, err)
	}
	const theirs = `(owner_id = :me OR actor_id = :me)`
	from, until := clock.Now().Add(-5*time.Hour), clock.Now().Add(-2*time.Minute)
	at := func(at time.Time) string { return "'" + at.Format("2006-01-02T15:04:05.000000Z") + "'" }
	conv, last := asked[1].ConversationID, storetest.LedgerAt(t, s)
	ofBot := `(actor_id = '` + bot.ID + `' OR conversation_id IN (SELECT id FROM conversations WHERE agent_id = '` + bot.ID + `'))`
	for name, c := range map[string]struct {
		q     requests.TrailQuery
		where string
	}{
		"all":           {requests.TrailQuery{}, theirs},
		"decisions":     {requests.TrailQuery{Part: requests.TrailDecisions}, `actor_id = :me AND action IN ('approval.approved', 'approval.rejected')`},
		"requests":      {requests.TrailQuery{Part: requests.TrailRequests}, theirs + ` AND action LIKE 'approval.%'`},
		"conversations": {requests.TrailQuery{Part: requests.TrailConversations}, theirs + ` AND action LIKE 'conversation.%'`},
		"access":        {requests.TrailQuery{Part: requests.TrailAccess}, theirs + ` AND action NOT LIKE 'approval.%' AND action NOT LIKE 'conversation.%'`},
		"rejected":      {requests.TrailQuery{Outcome: requests.TrailOutcome(models.StatusRejected)}, theirs + ` AND action = 'approval.rejected'`},
		"agent":         {requests.TrailQuery{Agent: bot.AgentID()}, theirs + ` AND ` + ofBot},
		"conversation":  {requests.TrailQuery{Conversation: conv}, theirs + ` AND conversation_id = '` + string(conv) + `'`},
		"time":          {requests.TrailQuery{From: from, Until: until}, theirs + ` AND at >= ` + at(from) + ` AND at < ` + at(until)},
		"together": {
			requests.TrailQuery{Part: requests.TrailDecisions, Outcome: requests.TrailOutcome(models.StatusApproved), Agent: bot.AgentID(), Conversation: conv, From: from},
			`actor_id = :me AND action = 'approval.approved' AND conversation_id = '` + string(conv) + `' AND at >= ` + at(from),
		},
	} {
		want := storetest.Scalar[string](t, s, strings.ReplaceAll(`SELECT coalesce(group_concat(seq), '') FROM (SELECT seq FROM ledger WHERE `+c.where+` ORDER BY seq DESC)`, ":me", "'"+ada.ID+"'"))
		if want == "" {
			t.Errorf("%s: nothing to find", name)
		}
		c.q.Limit = 2
		for _, indexed := range []int64{0, last / 2, last} {
			storetest.IndexLedger(t, s, indexed)
			if got := numbersIn(trail(t, s, ada, c.q)); got != want {
				t.Errorf("%s, the ledger indexed up to %d:\n got %s\nwant %s", name, indexed, got, want)
			}
		}
		var exported []models.TrailEntry
		storetest.Must(t, s.Requests.EachTrail(t.Context(), ada, c.q, func() error { return nil }, func(e *models.TrailEntry) error { exported = append(exported, *e); return nil }))
		if got := numbersIn(exported); got != want {
			t.Errorf("export of %s:\n got %s\nwant %s", name, got, want)
		}
		c.q.Person = ada.UserID()
		if got := numbersIn(trail(t, s, admin, c.q)); got != want {
			t.Errorf("%s, read by an admin:\n got %s\nwant %s", name, got, want)
		}
	}
	for _, q := range []requests.TrailQuery{{Part: "x"}, {Outcome: "pending"}} {
		_, err := s.Requests.Trail(t.Context(), ada, q)
		storetest.Refused(t, err, models.CodeInvalid)
	}
}

// TestATrailBelongsToOnePerson: others' is for admins, and what the reader may not
// see any more stands without its request.
func TestATrailBelongsToOnePerson(t *testing.T) {
	t.Parallel()
	s, _, admin, ada, bot, asked := storetest.Audited(t)
	cy, last := storetest.Reviewer(t, s, "cy@example.com"), asked[len(asked)-1]
	_, err := s.Requests.Trail(t.Context(), cy, requests.TrailQuery{Person: ada.UserID()})
	storetest.Refused(t, err, models.CodeForbidden)
	storetest.Refused(t, s.Requests.EachTrail(t.Context(), cy, requests.TrailQuery{Person: ada.UserID()}, func() error { t.Error("it began"); return nil }, nil), models.CodeForbidden)
	_, err = s.Requests.Trail(t.Context(), bot, requests.TrailQuery{})
	storetest.Refused(t, err, models.CodeForbidden)
	if entries := trail(t, s, cy, requests.TrailQuery{Part: requests.TrailRequests}); len(entries) != 0 {
		t.Errorf("%d entries of others", len(entries))
	}
	// An admin decides and then is one no more: the decision stays theirs, the
	// request is not shown to them.
	no := false
	_, err = s.Decide(t.Context(), admin, last.ID, models.DecisionInput{Approved: &no, Reason: "not now"})
	storetest.Must(t, err)
	seen := trail(t, s, admin, requests.TrailQuery{Part: requests.TrailDecisions})
	if len(seen) != 1 || seen[0].Request == nil || seen[0].Request.ToolName != "Bash" || seen[0].Reason != "not now" || seen[0].Hidden {
		t.Fatalf("as an admin: %+v", seen)
	}
	admin.Admin = false
	hidden := trail(t, s, admin, requests.TrailQuery{Part: requests.TrailDecisions})
	if len(hidden) != 1 || hidden[0].Request != nil || hidden[0].Reason != "" || !hidden[0].Hidden {
		t.Fatalf("as a reviewer: %+v", hidden)
	}
}
