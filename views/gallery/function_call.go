package gallery

import (
	"time"

	"countersign/models"
	"countersign/views/pages/requests"
)

// Mail is a call of a client that can't receive an edit, with ways to reject of its own; its
// agent has asked for more attention. Some of it is hostile.
func Mail() models.Approval {
	return Call("send_email", `{"to":"a@example.test","subject":"hi"}`, func(a *models.Approval) {
		a.ID = "01890a5d-ac96-774b-bcce-b302099a805a"
		a.ToolUseID = new("call-c17ea629")
		client := models.ClientData{
			Channel: []byte(`{"slack":{"channel_or_user_id":"C123","context_about_channel_or_user":"o\u202esp"}}`),
			State:   []byte(`{"step":3}`),
			RejectOptions: []models.Option{
				{Name: "later", Title: "Later", Description: "not\u202e now", PromptFill: "wait until "},
				{Name: "never", Title: "<b>Never</b>"},
			},
		}
		stored, err := client.Stored()
		if err != nil {
			panic(err)
		}
		a.Protocol, a.ClientDataJSON = models.ProtocolFunctionCalls, stored
		a.EscalatedAt = new(Now.Add(-20 * time.Second))
	})
}

func functionCallStates(page func(name, note string, a models.Approval, mend ...func(*requests.Input)) State) []State {
	a := Mail()
	escalated := func(in *requests.Input) {
		in.Around.RejectReasons = nil
		in.Around.Notes = []models.Note{{
			ID: "01890a5d-ac96-774b-bcce-b302099a8411", ResponseID: a.ID, Number: 1, AuthorKind: models.ActorAgent,
			AuthorID: string(AgentID), AuthorName: a.AgentName,
			Escalates: true, Content: "Please look, it is urgent.", At: Now.Add(-20 * time.Second),
		}}
	}
	return []State{
		page("function-call", "Its client can't receive an edit, and has ways to reject of its own", a, whole, escalated),
		page("function-call-option", "One of them has filled in its text", a, whole, escalated, func(in *requests.Input) {
			in.Form = requests.DecideForm{Option: "later", Reason: "wait until "}
		}),
		page("function-call-edit", "An edit, which is described in a rejection", a, whole, escalated, func(in *requests.Input) {
			in.Form = requests.DecideForm{Fields: map[int]string{0: "b@example.test"}}
		}),
	}
}
