package models

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Protocol is that of the client through which a request came, where it limits what can be
// answered.
type Protocol string

// ProtocolFunctionCalls is that of clients that run a call as they made it, whatever an
// approval says about its input.
const ProtocolFunctionCalls Protocol = "function_calls"

// MaxClientData bounds the data that a client sends beside the request, in bytes.
const MaxClientData = 16 << 10

// ClientData is data that a client sends beside the request, and reads again unchanged.
type ClientData struct {
	Channel       jsontext.Value `json:"channel,omitzero"`        // how it would reach a person; without credentials
	State         jsontext.Value `json:"state,omitzero"`          // its own
	Subject       string         `json:"subject,omitzero"`        // of a question
	RejectOptions []Option       `json:"reject_options,omitzero"` // of a call
}

// Stored is the data as it is kept; empty for none.
func (d *ClientData) Stored() (string, error) {
	if len(d.Channel) == 0 && len(d.State) == 0 && d.Subject == "" && len(d.RejectOptions) == 0 {
		return "", nil
	}
	raw, err := json.Marshal(d)
	switch {
	case err != nil:
		return "", Invalid("client", "must be JSON in valid UTF-8, without a member that appears twice")
	case len(raw) > MaxClientData:
		return "", Invalid("client", "is %d bytes long with its channel, state and options; at most %d are allowed", len(raw),
			MaxClientData)
	}
	return string(raw), nil
}

// ClientData reads the client's data beside the request; nothing once the contents were removed.
func (r *Response) ClientData() (ClientData, error) {
	var d ClientData
	if r.ClientDataJSON == "" || r.IsRemoved() {
		return d, nil
	}
	if err := json.Unmarshal([]byte(r.ClientDataJSON), &d); err != nil {
		return d, fmt.Errorf("client data of response %s: %w", r.ID, err)
	}
	return d, nil
}

// RejectOptions are the ways to reject a call that its client knows.
func (r *Response) RejectOptions() ([]Option, error) {
	if r.Kind == KindQuestion {
		return nil, nil
	}
	d, err := r.ClientData()
	return d.RejectOptions, err
}

// CheckProtocol accepts those that are known.
func CheckProtocol(p Protocol) error {
	if p != "" && p != ProtocolFunctionCalls {
		return Invalid("protocol", "must be %s or left out", ProtocolFunctionCalls)
	}
	return nil
}
