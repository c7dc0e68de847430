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
	if len(v.Agents) != 1 || v.Agents[0].Tokens != "1 active" || v.Agents[0].LastUsed.Text != "40 s ago" {
		t.Errorf("%+v", v.Agents)
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

func TestOnlyAdminsMakeAdminTokens(t *testing.T) {
	t.Parallel()
	for _, admin := range []bool{true, false} {
		html := pagestest.Draw(t, agents.Page(gallery.Frame("", "/agents"), agents.New(agents.Input{Admin: admin}, gallery.Now)))
		if got := strings.Contains(html, `name="scope" value="admin"`); got != admin {
			t.Errorf("admin %v: form is there: %v", admin, got)
		}
	}
}

func TestTokenErrorStaysInItsForm(t *testing.T) {
	t.Parallel()
	in := agents.Input{Form: agents.TokenForm{Scope: models.ScopeReviewer, Name: "laptop", Expires: "soon", Errors: map[string]string{"expires": "must be a length"}}}
	html := pagestest.Draw(t, agents.Page(gallery.Frame("", "/agents"), agents.New(in, gallery.Now)))
	if strings.Count(html, "must be a length") != 1 || !strings.Contains(html, `id="reviewer-expires-error"`) || strings.Count(html, `value="soon"`) != 1 {
		t.Error("the error or the value is not in the form that was sent, or in another one too")
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
