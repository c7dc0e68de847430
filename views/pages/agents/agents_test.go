package agents_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages/agents"
	"countersign/views/pages/audit"
	"countersign/views/pages/pagestest"
)

func TestAgentsAndTheirTokens(t *testing.T) {
	t.Parallel()
	in := gallery.AgentsInput()
	in.Tokens = append(in.Tokens, models.Token{ID: "t4", Hint: "csr_e", Scope: models.ScopeReviewer, ExpiresAt: new(gallery.Now)})
	v := agents.New(in, gallery.Now)
	first, second := v.Rows[0], v.Rows[1]
	if len(v.Rows) != 2 || first.Tokens != "1" || first.LastSeen.Text != "40 s ago" || first.State.Text != "active" || first.Pending != "4" {
		t.Errorf("%+v", first)
	}
	if second.State.Text != "never used" || second.Tokens != "0" || second.Pending != "" || !second.LastSeen.IsZero() {
		t.Errorf("%+v", second)
	}
	var states []string
	for _, row := range v.Tokens {
		states = append(states, row.State.Text)
	}
	if got := strings.Join(states, " "); got != "active active revoked expired" {
		t.Errorf("states: %s", got)
	}
	if v.Tokens[0].Agent != "release-bot" || v.Tokens[1].Name != "laptop" {
		t.Errorf("%+v", v.Tokens)
	}
	html := pagestest.Draw(t, agents.Page(gallery.Frame("", "/agents"), v))
	if n := strings.Count(html, "Revoke now"); n != 2 {
		t.Errorf("%d tokens can be revoked, want the 2 live ones", n)
	}
	if strings.Contains(html, "shown only now") {
		t.Error("a secret is announced though none is fresh")
	}
}

// The chart of an agent's days says in words what it draws.
func TestTheDaysOfAnAgentInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		days [models.AgentDays]int // Now is a Friday: they begin with a Saturday
		want string
	}{
		{[models.AgentDays]int{}, ""},
		{[models.AgentDays]int{3, 0, 0, 12, 9, 11, 7}, "42 requests in 7 days, most on Tuesday: 12"},
		{[models.AgentDays]int{6: 1}, "1 request in 7 days, today"},
		{[models.AgentDays]int{2: 2, 6: 2}, "4 requests in 7 days, most today: 2"},
		{[models.AgentDays]int{models.StatsCap, 1, 1}, "1,002+ requests in 7 days, most on Saturday: 1,000+"},
	} {
		in := gallery.AgentsInput()
		in.Figures.Of = map[models.AgentID]models.AgentFigures{in.Agents[0].ID: {Days: c.days}}
		if got := agents.New(in, gallery.Now).Rows[0].Week.Text; got != c.want {
			t.Errorf("%v: %q, want %q", c.days, got, c.want)
		}
	}
}

// No act is offered that the store refuses.
func TestWhichStopsAreOffered(t *testing.T) {
	t.Parallel()
	const other = models.UserID("01890a5d-ac96-774b-bcce-b302099a8999")
	by := func(who models.UserID, agent models.AgentID) models.Stop {
		return models.Stop{ID: "01890a5d-ac96-774b-bcce-b302099a8602", AgentID: agent, ByID: who, Note: "why", At: gallery.Now}
	}
	for name, c := range map[string]struct {
		change         func(*agents.Input)
		opener, wait   string
		all, stopLines bool
	}{
		"usual":                  {func(*agents.Input) {}, "Stop…", "", true, false},
		"to a reviewer":          {func(in *agents.Input) { in.Admin = false }, "Stop…", "", false, false},
		"of another":             {func(in *agents.Input) { in.Admin, in.Reader = false, other }, "", "", false, false},
		"of another to an admin": {func(in *agents.Input) { in.Reader = other }, "Stop…", "", true, false},
		"disabled":               {func(in *agents.Input) { in.Agents[0].DisabledAt = &gallery.Now }, "", "", true, false},
		"stopped": {func(in *agents.Input) {
			in.Admin, in.Stops = false, []models.Stop{by(in.Reader, in.Agents[0].ID)}
		}, "Lift…", "", false, false},
		"stopped by an admin": {func(in *agents.Input) {
			in.Admin, in.Stops = false, []models.Stop{by(other, in.Agents[0].ID)}
		}, "", "An admin can lift it.", false, false},
		"all are": {func(in *agents.Input) { in.Stops = []models.Stop{by(other, "")} }, "Stop…", "", false, true},
	} {
		in := gallery.AgentsInput()
		c.change(&in)
		v := agents.New(in, gallery.Now)
		opener := ""
		if row := v.Rows[0]; row.Act != nil {
			opener = row.Act.Opener
		}
		if opener != c.opener || v.Rows[0].Wait != c.wait || (v.All != nil) != c.all || (len(v.StopLines) > 0) != c.stopLines {
			t.Errorf("%s: %q, %q, all %v, %d above", name, opener, v.Rows[0].Wait, v.All != nil, len(v.StopLines))
		}
	}
}

// What the policy did with an agent's calls reads as sentences, with links to the history.
func TestWhatAppliedInSentences(t *testing.T) {
	t.Parallel()
	v := agents.NewAgent(gallery.AgentInput(), gallery.Now)
	var lines []string
	for _, line := range v.Calls {
		text := line.Tool + line.Kind + ":"
		for _, p := range line.Parts {
			text += " " + p.Text + " (" + p.Rule + p.Why + ")" + p.End
		}
		lines = append(lines, text)
	}
	want := []string{
		"shell.run: 12 waited for a person (Shell), 3 ran freely (no rule)",
		"send_email: 4 waited for a person (the agent asked), 1 denied (Outside addresses)",
		"Question: 1 waited for a person (the agent asked)",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
	if url := v.Calls[0].Parts[1].URL; !strings.Contains(url, "tool=shell.run") || !strings.Contains(url, "cause=policy") {
		t.Errorf("leads to %s", url)
	}
	if v.CallsNote != "All of its 21 calls, by tool." {
		t.Errorf("%q", v.CallsNote)
	}
}

func TestOnlyAdminsMakeAdminTokens(t *testing.T) {
	t.Parallel()
	for _, admin := range []bool{true, false} {
		in := agents.Input{Common: agents.Common{Admin: admin}}
		html := pagestest.Draw(t, agents.Page(gallery.Frame("", "/agents"), agents.New(in, gallery.Now)))
		if got := strings.Contains(html, `name="scope" value="admin"`); got != admin {
			t.Errorf("admin %v: form is there: %v", admin, got)
		}
	}
}

func TestTokenErrorStaysInItsForm(t *testing.T) {
	t.Parallel()
	in := agents.Input{TokenForm: agents.TokenForm{Scope: models.ScopeReviewer, Name: "laptop", Expires: "soon", Errors: map[string]string{"expires": "must be a length"}}}
	html := pagestest.Draw(t, agents.Page(gallery.Frame("", "/agents"), agents.New(in, gallery.Now)))
	if strings.Count(html, "must be a length") != 1 || !strings.Contains(html, `id="reviewer-expires-error"`) || strings.Count(html, `value="soon"`) != 1 {
		t.Error("the error or the value is not in the form that was sent, or in another one too")
	}
	if !strings.Contains(html, `class="new-token" open`) {
		t.Error("the form that is to be corrected is folded away")
	}
}

func TestAuditInWords(t *testing.T) {
	t.Parallel()
	v := audit.NewTrail(gallery.Trail(), gallery.Now)
	first := v.Rows[0]
	if first.Act != "approved" || first.Outcome != "approved, reviewer" || first.Kind != "person" || first.Seq != "1,204" || first.URL == "" {
		t.Errorf("%+v", first)
	}
	if !first.At.At.Equal(time.Date(2026, 11, 20, 10, 29, 48, 0, time.UTC)) {
		t.Errorf("%+v", first.At)
	}
	if len(first.Details) != 4 || first.Details[0].Name != "cause" || first.Details[2] != (audit.Detail{Name: "edited", Value: "true"}) {
		t.Errorf("%+v", first.Details)
	}
	if v.Rows[2].URL != "" || v.Rows[2].Object != "ci" {
		t.Errorf("%+v", v.Rows[2])
	}
	if v.Head != "1204:ab12" {
		t.Errorf("head %q", v.Head)
	}
}
