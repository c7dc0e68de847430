package scenario_test

import (
	"net/http"

	"countersign/models"
)

// conversationsDoor is /conversations: it decides by response id what an agent
// asked over /api/approval, and shows it in the history.
type conversationsDoor struct {
	*stage

	asks door
}

func (d *conversationsDoor) ask(c call) (models.ResponseID, models.Code) { return d.asks.ask(c) }

// path is the conversation that holds a request.
func (d *conversationsDoor) path(id models.ResponseID) string {
	d.t.Helper()
	a, err := d.Store().Requests.Approval(d.t.Context(), d.admin, id)
	if err != nil {
		d.t.Fatal(err)
	}
	return "/conversations/" + string(a.ConversationID)
}

// shown is the request in its conversation's history.
func (d *conversationsDoor) shown(who string, id models.ResponseID) *historyResponse {
	d.t.Helper()
	for _, e := range d.send(who, http.MethodGet, d.path(id)+"?after=0&limit=200", nil).Entries {
		if e.Response != nil && e.Response.ResponseID == id {
			return e.Response
		}
	}
	d.t.Fatalf("the history does not hold %s", id)
	return nil
}

func (d *conversationsDoor) decide(id models.ResponseID, _ call, v deciding) models.Code {
	d.t.Helper()
	verdict := "/approve"
	if v.reject {
		verdict = "/reject"
	}
	body := digestOf(map[string]any{"responseId": id, "feedback": v.reason}, v, d.shown("admin", id).Digest)
	return d.send(v.who, http.MethodPost, d.path(id)+verdict, body).Code
}

func (d *conversationsDoor) stands(id models.ResponseID, _ call) standing {
	d.t.Helper()
	got := d.shown("agent", id)
	out := standing{status: got.Status, cause: got.Cause}
	switch {
	case !got.RequiresApproval:
		out.status = models.StatusNone
	case got.Decision != nil:
		out.by, out.reason = got.Decision.By.name(), got.Decision.Reason
	}
	return out
}

// historyEntry is an entry of a conversation's history, in part.
type historyEntry struct {
	Response *historyResponse `json:"response"`
}

type historyResponse struct {
	ResponseID       models.ResponseID `json:"responseId"`
	Digest           string            `json:"digest"`
	Status           models.Status     `json:"status"`
	Cause            models.Cause      `json:"cause"`
	RequiresApproval bool              `json:"requiresApproval"`
	Decision         *struct {
		Reason string `json:"reason"`
		By     *named `json:"by"`
	} `json:"decision"`
}
