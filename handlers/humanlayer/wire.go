package humanlayer

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The JSON of this API. Names and shapes are the service's; comments mark added members. Members that a client may
// leave out or send as null are pointers or raw values.

// callRequest asks whether a function may be called.
type callRequest struct {
	RunID  *string         `json:"run_id"`
	CallID string          `json:"call_id"`
	Spec   callSpecRequest `json:"spec"`
	Status jsontext.Value  `json:"status"` // null: a status is the server's
}

type callSpecRequest struct {
	Fn            string         `json:"fn"`
	Kwargs        jsontext.Value `json:"kwargs"`
	Channel       jsontext.Value `json:"channel"`
	RejectOptions []option       `json:"reject_options"`
	State         jsontext.Value `json:"state"`
}

// contactRequest asks a person something.
type contactRequest struct {
	RunID  *string            `json:"run_id"`
	CallID string             `json:"call_id"`
	Spec   contactSpecRequest `json:"spec"`
	Status jsontext.Value     `json:"status"`
}

type contactSpecRequest struct {
	Msg             string         `json:"msg"`
	Subject         *string        `json:"subject"`
	Channel         jsontext.Value `json:"channel"`
	ResponseOptions []option       `json:"response_options"`
	State           jsontext.Value `json:"state"`
}

// option is one of the buttons that a person is offered.
type option struct {
	Name        string  `json:"name"`
	Title       *string `json:"title,omitzero"`
	Description *string `json:"description,omitzero"`
	PromptFill  *string `json:"prompt_fill,omitzero"`
	Interactive *bool   `json:"interactive,omitzero"`
}

// callDecision decides a call. Who decides and when is never read from it (I5): the members
// for that are known because clients send them, and dropped.
type callDecision struct {
	Approved         *bool   `json:"approved"`
	Comment          *string `json:"comment"`
	RejectOptionName *string `json:"reject_option_name"`

	// Ours, for requests that need them.
	Digest  string `json:"digest"`
	Checked []int  `json:"checked"`

	RequestedAt    jsontext.Value `json:"requested_at"`
	RespondedAt    jsontext.Value `json:"responded_at"`
	SlackMessageTs jsontext.Value `json:"slack_message_ts"`
	UserInfo       jsontext.Value `json:"user_info"`
}

// contactAnswer answers a person's question.
type contactAnswer struct {
	Response           *string `json:"response"`
	ResponseOptionName *string `json:"response_option_name"`

	Digest  string `json:"digest"`
	Checked []int  `json:"checked"`

	RequestedAt jsontext.Value `json:"requested_at"`
	RespondedAt jsontext.Value `json:"responded_at"`
}

// escalation asks for more attention. Whom it names is not told: only who may decide is.
type escalation struct {
	Message              string         `json:"escalation_msg"`
	AdditionalRecipients jsontext.Value `json:"additional_recipients"`
	Channel              jsontext.Value `json:"channel"`
}

// functionCall is a call and its decision.
type functionCall struct {
	RunID  string      `json:"run_id"`
	CallID string      `json:"call_id"`
	Spec   *callSpec   `json:"spec,omitzero"`
	Status *callStatus `json:"status"`

	beside
}

type callSpec struct {
	Fn            string         `json:"fn"`
	Kwargs        jsontext.Value `json:"kwargs"`
	Channel       jsontext.Value `json:"channel,omitzero"`
	RejectOptions []option       `json:"reject_options,omitzero"`
	State         jsontext.Value `json:"state,omitzero"`
}

// callStatus has no approved while the call is pending.
type callStatus struct {
	RequestedAt      *time.Time `json:"requested_at,omitzero"`
	RespondedAt      *time.Time `json:"responded_at,omitzero"`
	Approved         *bool      `json:"approved,omitzero"`
	Comment          string     `json:"comment,omitzero"`
	RejectOptionName string     `json:"reject_option_name,omitzero"`
	UserInfo         *userInfo  `json:"user_info,omitzero"`

	Cause string `json:"cause,omitzero"` // ours: why (I10)
}

// userInfo says who decided.
type userInfo struct {
	Name string `json:"name"`
}

// humanContact is a question and its answer.
type humanContact struct {
	RunID  string         `json:"run_id"`
	CallID string         `json:"call_id"`
	Spec   *contactSpec   `json:"spec,omitzero"`
	Status *contactStatus `json:"status"`

	beside
}

type contactSpec struct {
	Msg             string         `json:"msg"`
	Subject         string         `json:"subject,omitzero"`
	Channel         jsontext.Value `json:"channel,omitzero"`
	ResponseOptions []option       `json:"response_options,omitzero"`
	State           jsontext.Value `json:"state,omitzero"`
}

// contactStatus has no response while the question is pending. Clients wait until there is one, so a question that will
// stay unanswered gets a sentence that says so, and answered is false.
type contactStatus struct {
	RequestedAt        *time.Time `json:"requested_at,omitzero"`
	RespondedAt        *time.Time `json:"responded_at,omitzero"`
	Response           string     `json:"response,omitzero"`
	ResponseOptionName string     `json:"response_option_name,omitzero"`

	Answered *bool  `json:"answered,omitzero"` // ours
	Cause    string `json:"cause,omitzero"`    // ours
}

// beside has the members that the service does not have.
type beside struct {
	Digest string `json:"digest,omitzero"` // for who decides
	URL    string `json:"url,omitzero"`    // where people see the request
	Held   *held  `json:"held,omitzero"`   // a decision was taken and does not count yet
	// Who may decide, and what the request waits for, in words; while it is pending.
	Reviewers  []string `json:"reviewers,omitzero"`
	WaitingFor string   `json:"waiting_for,omitzero"`
	// Of a request that several people sign: how many have, where the rule tells its agent.
	Signatures *signatures `json:"signatures,omitzero"`

	Removed string   `json:"removed,omitzero"` // says that the contents were removed
	Dropped []string `json:"dropped,omitzero"` // members of the request that were not kept
}

type signatures struct {
	Have int `json:"have"`
	Need int `json:"need"`
}

type held struct {
	Reason string     `json:"reason"`
	Until  *time.Time `json:"until,omitzero"`
}

// page is one page of pending requests.
type page[T any] struct {
	Items   []*T `json:"items"`
	Total   int  `json:"total"`
	Limit   int  `json:"limit"`
	Offset  int  `json:"offset"`
	HasMore bool `json:"has_more"`
}

// project is what an old command-line client reads to check its key.
type project struct {
	Name         string `json:"name"`
	Slug         string `json:"slug"`
	Organization string `json:"organization"`
}

// failure is the answer of an error.
type failure struct {
	Error failureText `json:"error"`
}

type failureText struct {
	Message   string `json:"message"`
	Code      string `json:"code"`
	RequestID string `json:"request_id,omitzero"` // with internal errors: what to look for in the server's log
}
