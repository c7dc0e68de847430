package wire

import (
	"encoding/json"
	"time"
)

// AskRequest is what an agent sends to ask for approval or an answer. Send
// approvalId, or toolUseId, always: the same request sent again is then the
// same request, however often it is repeated.
type AskRequest struct {
	ApprovalID     string          `json:"approvalId,omitempty" doc:"A UUID of the agent's choice, which makes a repeat the same request"`
	ConversationID string          `json:"conversationId,omitempty" doc:"A UUID; an unknown one opens a conversation"`
	RunID          string          `json:"runId,omitempty" doc:"The agent's name for its run; an unknown one opens a conversation"`
	ToolUseID      string          `json:"toolUseId,omitempty" doc:"The agent's name for the call, which makes a repeat the same request until the call's result is reported: what is asked with it then is another request"`
	JobID          string          `json:"jobId,omitempty"`
	Kind           Kind            `json:"kind,omitempty" enum:"tool_call,question" doc:"tool_call if left out"`
	ToolName       string          `json:"toolName,omitempty" doc:"Required for a tool_call"`
	Input          json.RawMessage `json:"input,omitzero" doc:"Any JSON value, kept exactly as sent; {} if left out"`
	Options        []Option        `json:"options,omitempty" doc:"The answers that a question offers"`
	Explanation

	AcceptsEdits   bool      `json:"acceptsEdits,omitzero" doc:"True: the client runs decision.input, which may be another input than it sent. Without it nobody can approve another input: a reviewer who would is offered a rejection with decision.suggestedInput. A repeat keeps the first one; a repeat without it of a request with it is a conflict, as long as an edit could be lost"`
	Join           bool      `json:"join,omitempty" doc:"With neither approvalId nor toolUseId: the call may have come in by another way. It is then the agent's only request that waits with the same kind, tool and input, if there is one, in the conversation that it names or in none, and if it says nothing else of itself"`
	TimeoutSeconds *int64    `json:"timeoutSeconds,omitzero" doc:"From 1 to the policy's maximum; a rule's own timeout goes first"`
	Template       string    `json:"template,omitempty" doc:"The name of a template of the policy, which can only make the call stricter: it waits for a person, at the higher risk, for the shorter time"`
	Energy         *int64    `json:"energy,omitzero"`
	Timestamp      string    `json:"timestamp,omitempty" doc:"When the agent asked, by its own clock, in RFC 3339: shown to people where it is more than a minute off"`
	Fallback       *Fallback `json:"fallback,omitzero" doc:"Reports that the client went on because no server answered"`
}

// Fallback reports a call that ran while no server answered.
type Fallback struct {
	At string `json:"at" doc:"When, in RFC 3339"`
}

// Approval is one request and its current state.
type Approval struct {
	ApprovalID     ResponseID      `json:"approvalId"`
	ConversationID ConversationID  `json:"conversationId"`
	Agent          Asker           `json:"agent" doc:"Who asks"`
	Sequence       int64           `json:"sequence"`
	Kind           Kind            `json:"kind"`
	ToolName       string          `json:"toolName"`
	Input          json.RawMessage `json:"input" doc:"As sent; null with a reply or proposal, which has content. Where another system asks with another input than its agent reported, that input, which runs: as a text where it is kept cut or may be read in two ways"`
	ReportedInput  json.RawMessage `json:"reportedInput,omitempty" doc:"What the agent reported, only where another system asks with another input, and runs that. The digest is over this one"`
	Content        string          `json:"content,omitempty" doc:"The text of a reply or proposal"`
	Options        []Option        `json:"options,omitempty"`
	Explained

	EnergyBudget     *int64      `json:"energyBudget,omitempty" doc:"The budget that a proposal asks for; not applied"`
	ToolUseID        *string     `json:"toolUseId"`
	JobID            *string     `json:"jobId"`
	RunID            *string     `json:"runId"`
	Digest           string      `json:"digest" doc:"SHA-256 over the canonical JSON of kind, tool name and input or content; of a question also its description and options, of a proposal also its budget; where there is a reportedInput, over that instead of the input"`
	Risk             Risk        `json:"risk" enum:"all"`
	Status           Status      `json:"status" enum:"all"`
	Cause            Cause       `json:"cause"`
	GrantID          *GrantID    `json:"grantId,omitempty" doc:"The pre-approval that allowed the call, where one did"`
	Advice           string      `json:"advice" doc:"One sentence for the model"`
	RequiresApproval bool        `json:"requiresApproval" doc:"False: allowed without a person"`
	RequestedAt      time.Time   `json:"requestedAt"`
	Timestamp        time.Time   `json:"timestamp" doc:"As requestedAt"`
	ClaimedAt        *time.Time  `json:"claimedAt,omitempty" doc:"When the agent, or the other system, says that it asked, where that is more than a minute off"`
	TimeoutAt        *time.Time  `json:"timeoutAt" doc:"Null: no deadline"`
	Decision         *Decision   `json:"decision" doc:"Null while pending"`
	Approved         *bool       `json:"approved,omitzero" doc:"As response.approved; left out while pending"`
	Reason           *string     `json:"reason,omitzero" doc:"As response.reason; left out while pending"`
	Response         *Responded  `json:"response,omitempty" doc:"The decision in short; left out while pending"`
	Reviewers        []string    `json:"reviewers,omitempty" doc:"While pending, who may approve or answer: people by name, groups as group:NAME, and admins"`
	WaitingFor       string      `json:"waitingFor,omitempty" doc:"While pending, what it waits for, in a few words"`
	Signatures       *Signatures `json:"signatures,omitempty" doc:"While pending, of a request that several people sign: how far it has come. For people, and for the agent where the rule says so"`
	Waiting          *bool       `json:"waiting,omitempty" doc:"For people, while pending: whether its agent waits for the outcome now"`
	Held             *Held       `json:"held,omitempty" doc:"Set while a decision is stored but not yet the outcome"`
	OpenNote         *OpenNote   `json:"openNote" doc:"A reviewer's question, which stops the clock; null: none waits for an answer"`
	Policy           Policy      `json:"policy"`
	AcceptsEdits     bool        `json:"acceptsEdits,omitzero" doc:"Another input than the one that was sent can be approved: the agent runs decision.input"`
	Template         string      `json:"template,omitempty" doc:"The template that the agent named"`
	Origin           *Origin     `json:"origin,omitempty" doc:"For people: where it comes from, if not from its agent alone"`
	URL              string      `json:"url" doc:"The page on which a person decides"`
	Removed          string      `json:"removed,omitempty" doc:"Set when the contents were removed, by whom and when: the input is null, and an approval counts no more"`
}

// Asker is the agent that asks, with the person to whom it belongs.
type Asker struct {
	ID    AgentID       `json:"id"`
	Name  string        `json:"name"`
	Owner Named[UserID] `json:"owner"`
}

// Decision is the outcome. By is nil if no person decided: the call needed no approval, or the request expired or was
// withdrawn.
type Decision struct {
	Approved bool            `json:"approved"`
	Reason   string          `json:"reason"`
	By       *Decider        `json:"by"`
	Behalf   *Decider        `json:"onBehalfOf,omitempty" doc:"For whom they decided, where the rule does not let them approve in their own right"`
	At       time.Time       `json:"at"`
	Edited   bool            `json:"edited" doc:"The input released is not the one that the agent sent"`
	Input    json.RawMessage `json:"input" doc:"The input that is released; null if none is"`
	// Suggestion is left out where there is none, as it has no meaning without.
	Suggestion json.RawMessage `json:"suggestedInput,omitempty" doc:"With approved: false, an input that a person would approve: ask again with it under a new key"`
	Answer     *string         `json:"answer"`
	Option     *string         `json:"option"`
	Checked    []int           `json:"checked,omitempty" doc:"The items of the checklist that were ticked, by their numbers from 0"`
	Signed     []Signature     `json:"signed,omitempty" doc:"For people, where several signed: all of them, the last one too"`
	BrokeGlass bool            `json:"brokeGlass,omitzero" doc:"For people: one person decided alone what several should have signed"`
}

// Decider is the person who decided.
type Decider struct {
	ID   UserID `json:"id"`
	Name string `json:"name"`
}

// Policy is the outcome of the policy, as it stood at the ask.
type Policy struct {
	Version int64  `json:"version"`
	Rule    string `json:"rule"`
	Reason  string `json:"reason"`

	ReviewersOnly bool         `json:"reviewersOnly" doc:"True: only the people whom the rule names may approve; owner and admins may still reject"`
	SelfApproval  SelfApproval `json:"selfApproval" enum:"allowed,not_alone,never" doc:"Whether the agent's owner may approve"`
	Checklist     []string     `json:"checklist,omitempty" doc:"Items that the approver has to tick"`
	Text          string       `json:"text,omitempty" doc:"The text of its templates, shown beside the request"`
	Approvers     []string     `json:"approvers,omitempty" doc:"For people, where the rule limits who approves: the e-mails of those it names who may, and groups as group:NAME"`
}

// RespondRequest is a reviewer's verdict. Who decides is the token's person and
// never a member of the body.
type RespondRequest struct {
	Approved       *bool           `json:"approved,omitzero" doc:"May be left out when a question is answered"`
	Reason         string          `json:"reason,omitempty"`
	Input          json.RawMessage `json:"input,omitzero" doc:"With approved: true, the input to release instead; only of a request that takes edits"`
	SuggestedInput json.RawMessage `json:"suggestedInput,omitzero" doc:"With approved: false, the input of a tool call that would be approved: the agent may ask again with it"`
	Digest         string          `json:"digest,omitempty" doc:"The digest shown; required to approve high and critical risk"`
	Answer         *string         `json:"answer,omitzero"`
	Option         *string         `json:"option,omitzero" doc:"The name of one of the options offered"`
	Checked        []int           `json:"checked,omitempty" doc:"Items of the checklist that were ticked, by their numbers from 0; approving needs all of them"`
	BreakGlass     bool            `json:"breakGlass,omitzero" doc:"Decide alone what several people sign, for one of those in signatures.breakGlass. It takes a reason of at least 20 letters; all others and all admins are told"`
}

// RespondResult tells what a verdict led to.
type RespondResult struct {
	Success    bool       `json:"success"`
	ApprovalID ResponseID `json:"approvalId"`
	Status     Status     `json:"status"`
	Held       *Held      `json:"held,omitempty" doc:"With 202: the decision is not yet the outcome"`
	Verdict    string     `json:"verdict,omitempty" enum:"approve,reject,answer" doc:"With 202: the decision that is held"`
	Response   Responded  `json:"response"`
}

// Responded is the current outcome.
type Responded struct {
	Approved  bool      `json:"approved" doc:"False as long as an approval is held"`
	Reason    string    `json:"reason"`
	Timestamp time.Time `json:"timestamp"`
}

// Held says why a stored verdict is not the outcome yet: until then the request is pending and no one else can decide
// it (I1).
type Held struct {
	Reason string     `json:"reason" enum:"undo,upstream,quorum" doc:"undo: the approver may still undo it; upstream: the system that asked is told first; quorum: the vote is kept; others must also sign, or approve the same edit, and may still decide"`
	Until  *time.Time `json:"until" doc:"When it ends at the latest; null: the request has no deadline, and neither has this"`
}

// Signatures say how far a request has come that several people sign.
type Signatures struct {
	Have    int             `json:"have" doc:"How many that count have signed"`
	Need    int             `json:"need"`
	Signed  []Signature     `json:"signed,omitempty" doc:"For people: who has signed, or rejected where several reject together, and when"`
	Wanted  []Wanted        `json:"wanted,omitempty" doc:"For people: who must sign, and how many of them"`
	InOrder bool            `json:"inOrder,omitempty" doc:"For people: the entries of wanted are steps"`
	Any     bool            `json:"any,omitempty" doc:"For people: one of the entries of wanted will do"`
	Glass   []string        `json:"breakGlass,omitempty" doc:"For people: who may decide alone: e-mails, and groups as group:NAME"`
	Digest  string          `json:"digest,omitempty" doc:"For people: of the edited input that is signed now: an approval sends it, or that input. Left out while the input is signed as it was asked"`
	Input   json.RawMessage `json:"input,omitempty" doc:"For people: that input"`
}

// Signature is one person's.
type Signature struct {
	By      Decider   `json:"by"`
	Behalf  *Decider  `json:"onBehalfOf,omitempty"`
	Verdict string    `json:"verdict" enum:"approve,reject"`
	Reason  string    `json:"reason,omitempty"`
	At      time.Time `json:"at"`
	Counts  bool      `json:"counts" doc:"False: who signed may not any more"`
	Glass   bool      `json:"brokeGlass,omitzero" doc:"It decides alone"`
}

// Wanted is how many of some people must sign.
type Wanted struct {
	From  []string `json:"from" doc:"E-mails, and groups as group:NAME"`
	Count int      `json:"count"`
	Have  int      `json:"have"`
}

// WithdrawRequest says why a decision is withdrawn.
type WithdrawRequest struct {
	Reason string `json:"reason" doc:"Shown to the next reviewer; required"`
}

// ExtendRequest sets a new deadline.
type ExtendRequest struct {
	Minutes int64 `json:"minutes" doc:"The new deadline, in minutes from now"`
}

// Page is one page of requests; Next, if not empty, is the cursor of the next.
type Page struct {
	Approvals []*Approval `json:"approvals"`
	Next      string      `json:"next"`
}

// PendingPage is one page of pending requests.
type PendingPage struct {
	Pending []*Approval `json:"pending"`
	Next    string      `json:"next"`
}

// Stats are the queue's counts, each capped at 1,000.
type Stats struct {
	PendingCount   int `json:"pendingCount" doc:"Requests that wait"`
	ResolversCount int `json:"resolversCount" doc:"Waits of agents for what the caller may see"`
	ResponsesCount int `json:"responsesCount" doc:"Requests decided in the last minute"`
}

// Option is one of the answers that a question offers.
type Option struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`

	Description string `json:"description,omitempty" doc:"What it means, shown beside its button"`
	PromptFill  string `json:"promptFill,omitempty" doc:"What its button puts into the answer, for the person to go on"`
}
