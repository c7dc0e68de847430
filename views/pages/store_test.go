package pages_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/views/gallery"
	"countersign/views/pages/pagestest"
	"countersign/views/pages/requests"
)

// heldRule holds the fixtures' commands as they say that they are held.
const heldRule = `{"default_timeout_minutes":5,"undo_seconds":{"low":0,"medium":0,"high":0,"critical":0},"rules":[
	{"name":"Force push","tools":["Bash"],"effect":"require","risk":"high","reason":"History of a protected branch would be rewritten."}]}`

// office is a store in which Ada's agent asks what the fixtures ask, and Bo decides.
type office struct {
	*store.Store
	clock          *storetest.Clock
	ada, bo, agent models.Actor
}

func newOffice(t *testing.T) *office {
	t.Helper()
	clock := storetest.NewClock()
	clock.Step(gallery.Now.Add(-79 * time.Second).Sub(clock.Now()))
	o := &office{Store: storetest.New(t, storetest.WithClock(clock)), clock: clock}
	person := func(name, email string) models.Actor {
		u, err := o.People.AddUser(t.Context(), storetest.Operator(), people.NewUser{Email: email, Name: name, Role: models.RoleAdmin, Password: storetest.Password})
		storetest.Must(t, err)
		return models.Actor{Kind: models.ActorUser, ID: string(u.ID), Name: u.Name, OwnerID: u.ID, Admin: true}
	}
	o.ada, o.bo = person("Ada Berg", "ada@example.org"), person("Bo Lind", "bo@example.org")
	o.agent, _ = storetest.AgentToken(t, o.Store, o.ada, "release-bot")
	storetest.Must(t, storetest.Err(o.ApplyPolicy(t.Context(), o.ada, []byte(heldRule), "", 1)))
	return o
}

// ask has the agent ask what a fixture holds.
func (o *office) ask(t *testing.T, a models.Approval) *models.Approval {
	t.Helper()
	in := models.AskInput{
		RunID: *a.RunID, ToolUseID: *a.ToolUseID, Kind: a.Kind, ToolName: a.ToolName, Input: []byte(a.ToolInputJSON),
		Explanation: models.Explanation{Description: a.Description, Context: a.Context}, Explicit: true, AcceptsEdits: a.AcceptsEdits,
	}
	if a.Kind == models.KindQuestion {
		in.ToolName, in.Input = "", nil
		storetest.Must(t, json.Unmarshal([]byte(a.Options), &in.Options))
	}
	asked, err := o.Ask(t.Context(), o.agent, in)
	storetest.Must(t, err)
	return asked
}

// page is what the store gives Ada of a request, drawn at the fixtures' time.
func (o *office) page(t *testing.T, id models.ResponseID) seen {
	t.Helper()
	a, err := o.Requests.Approval(t.Context(), o.ada, id)
	storetest.Must(t, err)
	v := requests.New(requests.Input{Approval: *a, Substitution: models.ActingPage{Right: gallery.Own}, Turns: gallery.Turns(*a)}, gallery.Now)
	return see(pagestest.Read(t, requests.Page(gallery.Frame(v.Title, v.URL), v)))
}

// What the fixtures hold is what the store gives for it: the same fields, the same
// digest, and a page that tells the same.
func TestTheStoreGivesWhatFixturesHold(t *testing.T) {
	t.Parallel()
	want := told(t)
	for key, fixture := range map[string]models.Approval{
		"approval": gallery.Shell(), "approval-edit-file": gallery.Edit(), "approval-payment": gallery.Payment(), "approval-question": gallery.Question(),
		"approval-hidden": gallery.Hidden(), "approval-right-to-left": gallery.Reordered(), "approval-marks": gallery.Climbing(),
		"approval-empty-input": gallery.Call("deploy", `{}`), "approval-deep": gallery.Call("deep", gallery.DeepInput()),
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			a := o.ask(t, fixture)
			if a.Kind != fixture.Kind || a.ToolName != fixture.ToolName || a.ToolInputJSON != fixture.ToolInputJSON || a.Description != fixture.Description || a.Context != fixture.Context {
				t.Errorf("the store holds %+v", a.Response)
			}
			if a.Digest != fixture.Digest || a.DigestVersion != fixture.DigestVersion {
				t.Errorf("the digest is %s, not %s", a.Digest, fixture.Digest)
			}
			got := o.page(t, a.ID)
			for _, place := range []string{"title", "what", "whole", "more", "errors", "outcome"} {
				if got[place] != want[key][place] {
					t.Errorf("%s\n got %q\nwant %q", place, got[place], want[key][place])
				}
			}
			if key == "approval" && (got["marks"] != want[key]["marks"] || got["acts"] != want[key]["acts"]) {
				t.Errorf("it is %q with %q", got["marks"], got["acts"])
			}
		})
	}
}

// What became of a request is told of the store's rows as of the fixtures.
func TestTheStoreGivesOutcomesThatFixturesHold(t *testing.T) {
	t.Parallel()
	want := told(t)
	decide := func(in models.DecisionInput) func(t *testing.T, o *office, a *models.Approval) {
		return func(t *testing.T, o *office, a *models.Approval) {
			t.Helper()
			in.Digest = a.Digest
			storetest.Must(t, storetest.Err(o.Decide(t.Context(), o.bo, a.ID, in)))
		}
	}
	for _, c := range []struct {
		key    string
		asks   models.Approval
		become func(t *testing.T, o *office, a *models.Approval)
	}{
		{"approval-rejected-late", gallery.Shell(), decide(models.DecisionInput{Approved: new(false), Reason: "Not on a Friday."})},
		{"approval-answered", gallery.Question(), decide(models.DecisionInput{Option: new("eu"), Answer: new("Europe first,\nthen the rest.")})},
		{"approval-approved", gallery.Shell(), decide(models.DecisionInput{Approved: new(true), Reason: "Fine now.", Page: models.NoPage, Input: []byte(`{"command":"rm -rf build/","timeout":120000}`)})},
	} {
		t.Run(c.key, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			a := o.ask(t, c.asks)
			o.clock.Step(67 * time.Second)
			c.become(t, o, a)
			got := o.page(t, a.ID)
			for _, place := range []string{"title", "marks", "what", "whole", "more", "outcome", "acts"} {
				if begins, _, cut := strings.Cut(want[c.key][place], " … "); cut && place == "outcome" && strings.HasPrefix(got[place], begins) {
					continue // it goes on with the digest of the edited input, which the fixture abbreviates
				}
				if got[place] != want[c.key][place] {
					t.Errorf("%s\n got %q\nwant %q", place, got[place], want[c.key][place])
				}
			}
		})
	}
}
