package wire

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// PolicyVersion is one version of the whole policy.
type PolicyVersion struct {
	Version  int64          `json:"version"`
	Document jsontext.Value `json:"document" schema:"policy" doc:"As the guide of the policy describes it"`
	Author   string         `json:"author" doc:"Who saved it"`
	Note     string         `json:"note" doc:"Why"`
	SavedAt  time.Time      `json:"savedAt"`
}

// PolicyChange is a document that is to become the next version. What it leaves out has
// its initial value.
type PolicyChange struct {
	Document jsontext.Value `json:"document" schema:"policy"`
	Note     string         `json:"note" doc:"Why, for those who read the versions; at most 4000 bytes"`
}

// PolicyTry is a call that policies are asked about. Nothing is asked of a person and
// nothing is stored.
type PolicyTry struct {
	Document     jsontext.Value `json:"document,omitempty" schema:"policy" doc:"A policy to judge it by besides the active one"`
	ApprovalID   string         `json:"approvalId,omitempty" doc:"A request whose call is tried; the other members but document are then left out"`
	ToolName     string         `json:"toolName,omitempty"`
	Kind         string         `json:"kind,omitempty" enum:"tool_call,question,proposal,budget" doc:"tool_call if left out"`
	Input        jsontext.Value `json:"input,omitempty" doc:"For conditions that read it; {} if left out"`
	Explicit     bool           `json:"explicit,omitzero" doc:"The agent asks for approval itself, as over /v1/approvals"`
	Template     string         `json:"template,omitempty" doc:"The template that the agent names"`
	Agent        string         `json:"agent,omitempty" doc:"Its name, for conditions that read it"`
	Owner        string         `json:"owner,omitempty" doc:"The e-mail address of its owner"`
	Conversation string         `json:"conversation,omitempty" doc:"As the agent names it"`
	At           *time.Time     `json:"at,omitempty" doc:"When it asks; now if left out"`
}

// PolicyTried is what the policies say.
type PolicyTried struct {
	Active PolicyAnswer  `json:"active"`
	Draft  *PolicyAnswer `json:"draft,omitempty" doc:"By the document that was sent"`
}

// PolicyAnswer is what one policy says of a call, and how it came to that.
type PolicyAnswer struct {
	Effect         string          `json:"effect" enum:"allow,require,deny"`
	Cause          string          `json:"cause,omitempty" doc:"Of what is settled without a person"`
	Rule           string          `json:"rule"`
	Reason         string          `json:"reason"`
	Unjudged       bool            `json:"unjudged" doc:"A condition could not be judged; reason says why"`
	Risk           string          `json:"risk" enum:"low,medium,high,critical"`
	TimeoutMinutes *int            `json:"timeoutMinutes" doc:"null: no rule says"`
	Reviewers      []string        `json:"reviewers"`
	Readers        []string        `json:"readers,omitempty" doc:"Who sees the call, and neither decides it nor is asked"`
	ReviewersOnly  bool            `json:"reviewersOnly"`
	SelfApproval   SelfApproval    `json:"selfApproval"`
	Only           []string        `json:"only,omitempty" doc:"Where the template that the agent names limits who approves: its entries. Only they approve, of those who could without it"`
	AtMostMinutes  *int            `json:"atMostMinutes,omitempty" doc:"The longest wait, also where the template that the agent names sets the time"`
	Checklist      []string        `json:"checklist,omitempty" doc:"Items that the approver has to tick"`
	Approvals      []PolicySigners `json:"approvals,omitempty" doc:"Where several people must sign: who, and how many of them"`
	Any            bool            `json:"any,omitzero" doc:"One of approvals will do"`
	Stages         bool            `json:"stages,omitzero" doc:"The entries of approvals are steps, in order"`
	RejectCount    int             `json:"rejectCount,omitzero" doc:"How many people reject it together, where one is not enough"`
	BreakGlass     []string        `json:"breakGlass,omitempty" doc:"Who may decide alone, with a reason"`
	Escalate       []PolicyAsks    `json:"escalate,omitempty" doc:"Who is asked besides, if nobody has decided by then"`
	Substitutes    bool            `json:"substitutes" doc:"Substitutes may act for those who may approve"`
	WhenBusy       string          `json:"whenBusy,omitempty" enum:"expire,escalate,batch" doc:"What happens if everybody who would be asked is busy; left out: they are asked all the same"`
	Text           string          `json:"text,omitempty" doc:"What is shown beside the request"`
	Steps          []PolicyStep    `json:"steps" doc:"In the order in which they were asked; the last decided"`
}

// PolicySigners are how many of some people must sign.
type PolicySigners struct {
	From    []string `json:"from" doc:"E-mails, and groups as group:NAME"`
	Count   int      `json:"count"`
	Minutes int      `json:"minutes,omitzero" doc:"That its step may take"`
}

// PolicyAsks is whom a rule asks as time runs.
type PolicyAsks struct {
	AfterMinutes int      `json:"afterMinutes"`
	To           []string `json:"to"`
}

// PolicyStep is one rule that was asked about a call.
type PolicyStep struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// PolicyReplay asks what a document would have made of real calls.
type PolicyReplay struct {
	Document jsontext.Value `json:"document" schema:"policy"`
	Last     *int           `json:"last,omitempty" minimum:"1" maximum:"10000" doc:"The newest so many; 10000 if left out"`
	Since    *time.Time     `json:"since,omitempty" doc:"No older ones"`
}

// PolicyReplayed is what it would have made of them.
type PolicyReplayed struct {
	Calls    int                  `json:"calls"`
	Changed  int                  `json:"changed" doc:"Of which something else would have become"`
	Effects  int                  `json:"effects" doc:"Of the changed, those with another effect; the others wait on other terms"`
	Unjudged int                  `json:"unjudged" doc:"Can't be judged: their contents were removed"`
	OldestAt *time.Time           `json:"oldestAt" doc:"When the oldest was asked; null: there were none"`
	Groups   []PolicyReplayGroup  `json:"groups"`
	Changes  []PolicyReplayChange `json:"changes" doc:"The newest 1000"`
	More     bool                 `json:"more" doc:"There are more changes than are listed"`
}

// PolicyReplayGroup counts the calls of a tool of which the same would have become.
type PolicyReplayGroup struct {
	ToolName string        `json:"toolName"`
	Active   PolicyOutcome `json:"active"`
	Draft    PolicyOutcome `json:"draft"`
	Calls    int           `json:"calls"`
}

// PolicyReplayChange is one of them.
type PolicyReplayChange struct {
	ApprovalID string        `json:"approvalId"`
	ToolName   string        `json:"toolName"`
	Agent      string        `json:"agent"`
	AskedAt    time.Time     `json:"askedAt"`
	Active     PolicyOutcome `json:"active"`
	Draft      PolicyOutcome `json:"draft"`
}

// PolicyOutcome is what becomes of a call.
type PolicyOutcome struct {
	Effect string `json:"effect" enum:"allow,require,deny"`
	Rule   string `json:"rule"`
	Terms  string `json:"terms" doc:"On what terms it waits, in words; empty: it does not wait"`
}

// PolicyDocument is a document that is looked through.
type PolicyDocument struct {
	Document jsontext.Value `json:"document" schema:"policy"`
}

// PolicyLinted lists the errors of a document, and warnings about likely mistakes.
type PolicyLinted struct {
	Problems []PolicyRemark `json:"problems" doc:"It can't be saved because of these"`
	Warnings []PolicyRemark `json:"warnings"`
}

// PolicyRemark is a remark about a place in a document.
type PolicyRemark struct {
	Path string `json:"path" doc:"Such as rules[2].tools[0]"`
	Text string `json:"text"`
}
