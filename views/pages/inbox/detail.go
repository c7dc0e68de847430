package inbox

import (
	"countersign/views/pages/connect"
	"countersign/views/pages/requests"
)

// Detail is the request beside the list.
type Detail struct {
	Card    *requests.Approval // nil: none is shown
	Open    bool               // it was asked for: where there is room for one, it is this
	Focus   bool               // it has just been put there, and takes the focus
	Missing bool               // the request is not there
	Waits   bool               // something is in the list to choose from
	ListURL string             // the list alone
	Teach   *Teach
}

func newInboxDetail(in Input) Detail {
	d := Detail{
		Card: in.Card, Open: in.Explicit && (in.Card != nil || in.Missing), Missing: in.Missing, Waits: len(in.Rows) > 0,
		ListURL: in.Place.At("").URL(),
	}
	if in.FreshToken != "" || in.Newcomer && d.Card == nil && !d.Missing {
		d.Teach = newTeach(in)
	}
	return d
}

// Teach is the example that an empty inbox shows.
type Teach struct {
	Command string
	Secret  string
	Agent   string
	Export  string
}

func newTeach(in Input) *Teach {
	t := &Teach{Secret: in.FreshToken, Agent: in.FreshAgent}
	if in.FreshToken != "" {
		t.Export = "export TOKEN=" + in.FreshToken
	}
	t.Command = `curl -sS "` + in.BaseURL + `/v1/approvals?wait=50s" \
  -H "Authorization: Bearer $TOKEN" \
  -H "Content-Type: application/json" \
  -d '{"toolUseId": "first-1", "toolName": "Bash",
       "input": {"command": "echo hello"},
       "description": "My first request"}'`
	return t
}

// label names the agent of the fresh token.
func (t Teach) label() string {
	return connect.FreshToken{Scope: "agent", Name: t.Agent}.Label()
}
