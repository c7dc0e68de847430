package scenario_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/cmd/config"
	"countersign/cmd/process"
	"countersign/models/storetest"
	"countersign/workers/llm/llmtest"
)

func storetestAdminToken(t *testing.T, s *script) (id, token string) {
	t.Helper()
	who, token := storetest.AdminToken(t, s.Store(), s.Admin)
	return who.ID, token
}

// proposing is a model that proposes what is in arguments, and then says how it went.
func proposing(arguments string) func(llmtest.Request) llmtest.Reply {
	return func(r llmtest.Request) llmtest.Reply {
		switch result := r.Result("p1"); {
		case result == "":
			return llmtest.Reply{Calls: []llmtest.Call{{ID: "p1", Name: "respond_with_approval", Arguments: `{"requestId":"$requestId",` + arguments + `}`}}}
		case strings.Contains(result, `"status":"approved"`):
			return llmtest.Reply{Text: "Done."}
		}
		return llmtest.Reply{Text: "Then I leave it."}
	}
}

// talk begins a conversation with the built-in agent, and waits for its proposal.
func (s *script) talk(message string) (id string, proposal object) {
	s.t.Helper()
	status, begun := s.send(s.Reviewer, "POST", "/message", message)
	if status >= 300 {
		s.t.Fatalf("%d %v", status, begun)
	}
	id = s.text(begun, "id")
	process.Eventually(s.t, "a proposal", func() bool {
		_, list := s.send(s.Reviewer, "GET", "/conversations/"+id+"/approvals", "")
		s.has(list, object{"requestId": id})
		if all, _ := list["approvals"].([]any); len(all) == 1 {
			proposal, _ = all[0].(map[string]any)
		}
		return proposal != nil
	})
	s.has(proposal, object{"status": "pending", "approvalTimestamp": nil, "feedback": nil})
	s.text(proposal, "timestamp")
	return id, proposal
}

func newTalker(t *testing.T, arguments string) *script {
	t.Helper()
	endpoint, err := url.Parse(llmtest.New(t, proposing(arguments)).URL)
	if err != nil {
		t.Fatal(err)
	}
	return newScript(t, func(c *config.Config) { c.LLM = config.LLM{BaseURL: endpoint, Model: "fake"} })
}

// becomes waits until the conversation's one approval is what it should be.
func (s *script) becomes(id string, want object) {
	s.t.Helper()
	_, list := s.send(s.Reviewer, "GET", "/conversations/"+id+"/approvals", "")
	approval := s.only(list, "approvals")
	s.has(approval, want)
	s.text(approval, "approvalTimestamp")
}

// TestTheConversationExamplesOfTheSpecification are those of document 004, in its own
// words, and its ways to approve and reject.
func TestTheConversationExamplesOfTheSpecification(t *testing.T) {
	t.Parallel()
	const logs = "Yes, I'll delete logs older than 30 days. This will free up approximately 2GB of space."
	begin := `{"content":"Should I delete the old logs?"}`

	t.Run("1: a simple approval", func(t *testing.T) {
		t.Parallel()
		s := newTalker(t, `"content":"`+logs+`"`)
		id, proposal := s.talk(begin)
		s.has(proposal, object{"content": logs})
		if status, answer := s.send(s.Reviewer, "POST", "/message", `{"content":"approved","id":"`+id+`","approvalResponse":{"approved":true}}`); status >= 300 {
			t.Fatalf("%d %v", status, answer)
		}
		s.becomes(id, object{"status": "approved", "feedback": nil})
	})
	t.Run("2: an approval with another budget", func(t *testing.T) {
		t.Parallel()
		s := newTalker(t, `"content":"This analysis will require approximately 100 energy units. Should I proceed?","energyBudget":100`)
		id, _ := s.talk(`{"content":"Analyze this large dataset","energyBudget":50}`)
		status, answer := s.send(s.Reviewer, "POST", "/message", `{"content":"yes, go ahead","id":"`+id+`","approvalResponse":{"approved":true,"newBudget":100}}`)
		if status >= 300 {
			t.Fatalf("%d %v", status, answer)
		}
		s.has(s.at(answer, "budget"), object{"total": 100.0})
		s.becomes(id, object{"status": "approved"})
	})
	t.Run("3: a person changes the budget", func(t *testing.T) {
		t.Parallel()
		s := newTalker(t, `"content":"`+logs+`"`)
		id, _ := s.talk(`{"content":"Should I delete the old logs?","energyBudget":50}`)
		for body, total := range map[string]float64{
			`{"content":"I need more detailed analysis","id":"` + id + `","approvalResponse":{"budgetChange":50}}`: 100,
		} {
			status, answer := s.send(s.Reviewer, "POST", "/message", body)
			if status >= 300 {
				t.Fatalf("%d %v", status, answer)
			}
			s.has(s.at(answer, "budget"), object{"total": total})
		}
		status, answer := s.send(s.Reviewer, "POST", "/message", `{"content":"and more","id":"`+id+`","energyBudget":150}`)
		if status >= 300 {
			t.Fatalf("%d %v", status, answer)
		}
		s.has(s.at(answer, "budget"), object{"total": 150.0})
	})
	t.Run("a response that names its conversation", func(t *testing.T) {
		t.Parallel()
		s := newTalker(t, `"content":"`+logs+`"`)
		id, _ := s.talk(begin)
		const other = "01890a5d-ac96-774b-bcce-b302099a8003"
		status, answer := s.send(s.Reviewer, "POST", "/message", `{"content":"","id":"`+id+`","approvalResponse":{"requestId":"`+other+`","approved":true}}`)
		if s.text(answer, "error"); status != http.StatusUnprocessableEntity {
			t.Errorf("%d %v", status, answer)
		}
		status, answer = s.send(s.Reviewer, "POST", "/message", `{"content":"","approvalResponse":{"requestId":"`+id+`","approved":false,"feedback":"keep them"}}`)
		if s.has(answer, object{"id": id}); status >= 300 {
			t.Fatalf("%d %v", status, answer)
		}
		s.becomes(id, object{"status": "rejected", "feedback": "keep them"})
	})
	for verdict, want := range map[string]object{
		"approve": {"status": "approved", "budgetUpdated": false, "newBudget": nil},
		"reject":  {"status": "rejected"},
	} {
		t.Run(verdict+" without a body", func(t *testing.T) {
			t.Parallel()
			s := newTalker(t, `"content":"`+logs+`"`)
			id, proposal := s.talk(begin)
			status, answer := s.send(s.Reviewer, "POST", "/conversations/"+id+"/"+verdict, "")
			if s.has(answer, want); status != http.StatusOK || answer["responseId"] != proposal["id"] {
				t.Errorf("%d %v", status, answer)
			}
			s.becomes(id, object{"status": want["status"], "feedback": nil})
			status, answer = s.send(s.Reviewer, "POST", "/conversations/"+id+"/"+verdict, "")
			if s.text(answer, "error"); status != http.StatusConflict {
				t.Errorf("nothing is pending: %d %v", status, answer)
			}
		})
	}
	t.Run("approve with all its members", func(t *testing.T) {
		t.Parallel()
		s := newTalker(t, `"content":"`+logs+`"`)
		id, proposal := s.talk(begin)
		status, answer := s.send(s.Reviewer, "POST", "/conversations/"+id+"/approve", `{"responseId":"`+s.text(proposal, "id")+`","feedback":"fine","newBudget":80}`)
		if s.has(answer, object{"status": "approved", "budgetUpdated": true, "newBudget": 80.0}); status != http.StatusOK {
			t.Errorf("%d %v", status, answer)
		}
		s.becomes(id, object{"status": "approved", "feedback": "fine"})
	})
}
