package store_test

import (
	"regexp"
	"strings"
	"testing"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
	"countersign/models/people"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

// throughGORM are the queries of responses that pass through GORM's callbacks while do
// runs, as SQL with its arguments.
func throughGORM(t *testing.T, s *store.Store, do func()) map[string][]any {
	t.Helper()
	out, on := map[string][]any{}, true
	err := s.DB().Gorm(t.Context()).Callback().Query().After("gorm:query").Register("test:seen:"+t.Name(), func(g *gorm.DB) {
		if schema := g.Statement.Schema; on && schema != nil && schema.Table == "responses" {
			out[g.Statement.SQL.String()] = append([]any(nil), g.Statement.Vars...)
		}
	})
	storetest.Must(t, err)
	do()
	on = false
	return out
}

// Reads outside the hot path pass through GORM's callbacks, and each is served by an
// index.
func TestRequestsAreReadThroughGORM(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do    func(t *testing.T, w *outsideWorld)
		index string
	}{
		"history": {func(t *testing.T, w *outsideWorld) {
			t.Helper()
			page, err := w.Requests.Settled(t.Context(), w.Admin, requests.SettledQuery{})
			if storetest.Must(t, err); len(page.Items) < 5 {
				t.Errorf("%d settled", len(page.Items))
			}
		}, "INTEGER PRIMARY KEY"},
		"audit trail": {func(t *testing.T, w *outsideWorld) {
			t.Helper()
			trail, err := w.Requests.Trail(t.Context(), w.Owner, requests.TrailQuery{Limit: requests.TrailMost})
			if storetest.Must(t, err); len(trail.Entries) < 5 {
				t.Errorf("%d entries", len(trail.Entries))
			}
		}, "responses_1 (id=?)"},
		"calls of a grant": {func(t *testing.T, w *outsideWorld) {
			t.Helper()
			grants, err := w.Grants(t.Context(), w.Owner, "", 0)
			storetest.Must(t, err)
			var found []models.ResponseID
			for _, g := range grants.Items {
				for after, first := "", true; first || after != ""; first = false {
					uses, err := w.Grant(t.Context(), w.Owner, g.ID, after, 1)
					storetest.Must(t, err)
					after = uses.Next
					found = append(found, storetest.IDList(uses.Items)...)
				}
			}
			if len(found) != 2 || found[0] == found[1] {
				t.Errorf("the calls of grants are %v", found)
			}
		}, "responses_grant (grant_id=?"},
		"the context of a run": {func(t *testing.T, w *outsideWorld) {
			t.Helper()
			w.Begins(t, "Go on.", nil)
			run := storetest.Claim(t, w.Store, "one")
			if run == nil {
				t.Fatal("nothing is ready")
			}
			storetest.Must(t, storetest.Err(w.RunContext(t.Context(), run)))
		}, "(conversation_id=?"},
		"a result": {func(t *testing.T, w *outsideWorld) {
			t.Helper()
			found := 0
			for _, a := range everything(t, w) {
				got, err := w.Requests.CallResult(t.Context(), w.Owner, a.ID)
				if a.Kind != models.KindToolCall {
					wantCode(t, err, models.CodeNotFound)
					continue
				}
				if storetest.Must(t, err); got.Completed != a.IsCompleted {
					t.Errorf("%+v of %+v", got, a)
				}
				found++
				wantCode(t, second(w.Requests.CallResult(t.Context(), w.Stranger, a.ID)), models.CodeNotFound)
			}
			if found < 5 {
				t.Errorf("%d results", found)
			}
		}, "(id=?)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := pastOf(t)
			queries := throughGORM(t, w.Store, func() { c.do(t, w) })
			if len(queries) == 0 {
				t.Fatal("nothing was read through GORM")
			}
			for text, args := range queries {
				plan := dbtest.Plan(t, w.DB(), text, args...)
				if !strings.Contains(plan, c.index) && !strings.Contains(plan, "(id=?)") || scansAll.MatchString(plan) {
					t.Errorf("%s\nnot by %s:\n%s", text, c.index, plan)
				}
			}
		})
	}
}

var scansAll = regexp.MustCompile(`(?m)^SCAN responses|TEMP B-TREE`)

// everything is what an admin can list.
func everything(t *testing.T, w *outsideWorld) []models.Approval {
	t.Helper()
	list, err := w.Requests.Approvals(t.Context(), w.Admin, requests.ListQuery{Limit: models.MaxPage})
	storetest.Must(t, err)
	return list.Items
}

// TestARowIsWrittenAlone: what a request belongs to is for reads. To write a request
// writes one table, whatever was read with it.
func TestARowIsWrittenAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	storetest.Tampered(b.Store) // no entry of the ledger names what is written here
	a := b.AskFor(t, models.AskInput{})
	row := a.Response
	row.ID, row.Sequence, row.Number = models.NewID[models.ResponseID](), a.Sequence+1, 0
	row.Agent = &models.Agent{ID: "another-agent", OwnerID: a.OwnerID, Name: "another"}
	row.Owner = &models.User{ID: "another-owner", Email: "x@example.com", Name: "Another", Role: models.RoleAdmin}
	row.Conversation = &models.Conversation{ID: "another-run", OwnerID: a.OwnerID, AgentID: a.AgentID, Title: "Another"}
	row.DecidingVote = &models.Vote{ID: "another-vote", ResponseID: a.ID, UserID: a.OwnerID}
	row.Question = &models.Note{ID: "another-note", ResponseID: a.ID}
	before := rowCounts(t, b.Store)
	storetest.Must(t, b.DB().Write(t.Context(), func(tx *db.Tx) error { return tx.Gorm().Create(&row).Error }))
	storetest.Must(t, b.DB().Write(t.Context(), func(tx *db.Tx) error { return tx.Gorm().Model(&row).UpdateColumn("closed", models.ClosedByRun).Error }))
	after := rowCounts(t, b.Store)
	before["responses"]++
	for table, n := range after {
		if n != before[table] {
			t.Errorf("%s has %d rows, want %d", table, n, before[table])
		}
	}
}

// rowCounts are how many rows each table has.
func rowCounts(t *testing.T, s *store.Store) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, table := range dbtest.Tables(t, storetest.Beside(t, s)) {
		out[table] = storetest.Scalar[int](t, s, `SELECT count(*) FROM "`+table+`"`)
	}
	return out
}

// TestWaitsForIsNotMisledByNames: people choose their names, and none is told as a group or as
// all admins; who can't sign in any more is not named.
func TestWaitsForIsNotMisledByNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	storetest.Must(t, b.People.AddGroup(t.Context(), b.Admin, "treasury", ""))
	storetest.Must(t, b.People.JoinGroup(t.Context(), b.Admin, "treasury", b.Stranger.Name))
	var gone models.UserID
	for _, who := range [...][2]string{{"eve@example.com", models.AdminReviewers}, {"mallory@example.com", models.GroupReviewer("treasury")}, {"gone@example.com", "Gone"}} {
		u, err := b.People.AddUser(t.Context(), storetest.Operator(), people.NewUser{Email: who[0], Name: who[1], Role: models.RoleReviewer, Password: storetest.Password})
		storetest.Must(t, err)
		gone = u.ID // the last of them
	}
	b.UsePolicy(t, `{"rules":[{"name":"all","tools":["Bash"],"effect":"require","reviewers_only":true,"reviewers":["eve@example.com","mallory@example.com","gone@example.com","group:treasury"]}]}`)
	b.AskFor(t, models.AskInput{ToolUseID: "t1"})
	b.wantReviewers(t, "a decision by “admins”, “group:treasury”, Gone or somebody in treasury", "“admins”", "“group:treasury”", "Gone", "group:treasury")
	storetest.Must(t, storetest.Err(b.People.DisableUser(t.Context(), b.Admin, gone)))
	b.wantReviewers(t, "a decision by “admins”, “group:treasury” or somebody in treasury", "“admins”", "“group:treasury”", "group:treasury")
}

// wantReviewers reads what the request t1 waits for, as its agent.
func (b *bench) wantReviewers(t *testing.T, text string, names ...string) {
	t.Helper()
	a, err := b.FindInvocation(t.Context(), b.Agent, "t1", "")
	storetest.Must(t, err)
	waits, err := b.WaitsFor(t.Context(), b.Agent, a)
	storetest.Must(t, err)
	storetest.SameStrings(t, "reviewers", waits[0].Reviewers, names)
	if waits[0].Text != text {
		t.Errorf("it waits for %q", waits[0].Text)
	}
}
