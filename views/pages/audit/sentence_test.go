package audit_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages/audit"
	"countersign/views/pages/pagestest"
)

// TestEveryActionOfTheLedgerHasItsSentence, whoever acted; one that is not known is shown as it is stored.
func TestEveryActionOfTheLedgerHasItsSentence(t *testing.T) {
	t.Parallel()
	row := func(kind models.ActorKind, action, data string) audit.Row {
		return audit.NewRow(&models.TrailEntry{Entry: models.Entry{ActorKind: kind, ActorName: "Ann", Action: action, Data: data}}, models.Actor{})
	}
	for _, event := range models.EventTypes() {
		for _, kind := range []models.ActorKind{models.ActorUser, models.ActorAgent, models.ActorSystem, models.ActorOperator} {
			got := row(kind, event.Name, "{}")
			if strings.HasPrefix(got.Act, "did: ") || got.Act == "" || strings.ContainsAny(got.Act, "._") {
				t.Errorf("%s by %s: %q", event.Name, kind, got.Act)
			}
			first := got.Act[:1]
			if whole := first == strings.ToUpper(first); whole != (kind == models.ActorSystem) {
				t.Errorf("%s by %s: %q does not follow on a name, or does", event.Name, kind, got.Act)
			}
		}
	}
	for _, c := range []struct {
		kind               models.ActorKind
		action, data, want string
	}{
		{models.ActorUser, "approval.cancelled", `{}`, "cancelled"},
		{models.ActorUser, "approval.approved", `{"verdict":"answer"}`, "answered"},
		{models.ActorUser, "approval.voted", `{"verdict":"reject"}`, "decided to reject"},
		{models.ActorAgent, "approval.rejected", `{}`, "asked and was rejected"},
		{models.ActorAgent, "approval.requested", `{}`, "asked"},
		{models.ActorSystem, "approval.expired", `{}`, "Expired automatically"},
		{models.ActorSystem, "approval.let_through", `{}`, "Allowed by the policy"},
		{models.ActorUser, "agents.stopped", `{"agent":"a"}`, "stopped an agent"},
		{models.ActorUser, "agents.stopped", `{}`, "stopped all agents"},
		{models.ActorUser, "later.version", `{}`, "did: later version"},
		{models.ActorSystem, "later.ver\u202Esion", `{}`, "later ver⟨U+202E⟩sion"},
	} {
		if got := row(c.kind, c.action, c.data).Act; got != c.want {
			t.Errorf("%s by %s: %q, want %q", c.action, c.kind, got, c.want)
		}
	}
}

// TestNoNameCoversWhichKindActs: a person has a mark, an agent is called one before its name, and what the system or
// the command line did names nobody.
func TestNoNameCoversWhichKindActs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Ann", "agent Ann", "Expired automatically", "Command line", ""} {
		seen := map[string]models.ActorKind{}
		for _, kind := range []models.ActorKind{models.ActorUser, models.ActorAgent, models.ActorSystem, models.ActorOperator, "later"} {
			in := gallery.Trail()
			in.Entries = []models.TrailEntry{{Entry: models.Entry{ActorKind: kind, ActorName: name, Action: "approval.expired"}}}
			doc := pagestest.Read(t, audit.Page(gallery.Frame("Audit", "/audit"), audit.NewTrail(in, gallery.Now)))
			line := doc.Find(".past-who summary")
			html, err := line.Html()
			if err != nil {
				t.Fatal(err)
			}
			if other, ok := seen[html]; ok {
				t.Errorf("%q of %s and %s are one: %s", name, kind, other, html)
			}
			seen[html] = kind
			if marked := line.Find("svg").Length() == 1; marked != (kind == models.ActorUser) {
				t.Errorf("%q of %s has the mark of a person: %t", name, kind, marked)
			}
			text := strings.ToLower(strings.TrimSpace(line.Text()))
			if kind == models.ActorAgent && !strings.HasPrefix(text, "agent ") {
				t.Errorf("an agent %q is %q", name, text)
			}
			if names := line.Find("strong").Length() > 0; names != (kind != models.ActorSystem && kind != models.ActorOperator) {
				t.Errorf("%q of %s is named: %t", name, kind, names)
			}
		}
	}
}
