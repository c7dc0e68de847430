package store_test

import (
	"testing"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/storetest"
)

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
