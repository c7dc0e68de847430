package requests_test

import (
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// The last request of an agent is found for its owner, and for nobody else.
func TestLastAskIsForTheOwner(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	owner, admin := storetest.Reviewer(t, s, "o@example.com"), storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	id := models.AgentID(agent.ID)
	if a, err := s.Requests.LastAsk(t.Context(), owner, id); a != nil || err != nil {
		t.Fatalf("before any: %+v, %v", a, err)
	}
	var last *models.Approval
	for _, tool := range []string{"one", "two"} {
		var err error
		last, err = s.Ask(t.Context(), agent, models.AskInput{ToolName: tool, Input: []byte(`{}`), Explicit: tool == "one"})
		storetest.Must(t, err)
	}
	a, err := s.Requests.LastAsk(t.Context(), owner, id)
	if err != nil || a == nil || a.ID != last.ID {
		t.Fatalf("got %+v, %v, want %s", a, err, last.ID)
	}
	if a, err := s.Requests.LastAsk(t.Context(), admin, id); a != nil || err != nil {
		t.Errorf("another person reads %+v, %v", a, err)
	}
	_, err = s.Requests.LastAsk(t.Context(), agent, id)
	storetest.Refused(t, err, models.CodeForbidden)
}
