package store_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
	"countersign/models/storetest"
)

// TestAStoredPatternWithOneSlashStaysWhatItWas: it is refused at save by now, but what
// a version has keeps its meaning, and does not keep other changes from being made.
func TestAStoredPatternWithOneSlashStaysWhatItWas(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	s := storetest.New(t, storetest.WithDir(dir))
	owner, admin := storetest.Reviewer(t, s, "owner@example.com"), storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	storetest.Tampered(s)
	_, err := storetest.Beside(t, s).ExecContext(t.Context(), `UPDATE policies SET document = '{"rules":[{"name":"a","tools":["/delete"],"effect":"require"}]}'`)
	storetest.Must(t, err)
	storetest.Must(t, s.Close())

	s = storetest.New(t, storetest.WithDir(dir))
	asks := func(tool string) models.Status {
		t.Helper()
		a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: tool})
		storetest.Must(t, err)
		return a.Status()
	}
	if got := [...]models.Status{asks("/delete"), asks("delete_page")}; got != [...]models.Status{models.StatusPending, models.StatusNone} {
		t.Errorf("what is stored means something else: %q", got)
	}
	_, err = s.ChangePolicy(t.Context(), admin, "", func(d *policy.Document) { d.DefaultTimeoutMinutes = 7 })
	storetest.Must(t, err)
	_, err = s.ApplyPolicy(t.Context(), admin, []byte(`{"rules":[{"name":"a","tools":["/delete","/remove"],"effect":"require"}]}`), "", 0)
	wantCode(t, err, models.CodeInvalid)
	if !strings.Contains(err.Error(), "rules[0].tools[1]: has a slash at one end only") || strings.Contains(err.Error(), "tools[0]") {
		t.Error(err)
	}
	_, err = s.ChangePolicy(t.Context(), admin, "", func(d *policy.Document) { d.RequiredApprovalTools = []string{"rm/"} })
	wantCode(t, err, models.CodeInvalid)
}
