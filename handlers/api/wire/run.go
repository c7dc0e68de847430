package wire

// OpenRequest opens the conversation of a run, or finds it: a repeat is the same
// conversation.
type OpenRequest struct {
	ID           string       `json:"id,omitempty" doc:"A UUID of the agent's choice"`
	RunID        string       `json:"runId" doc:"The agent's own name for the run"`
	ParentRunID  string       `json:"parentRunId,omitempty" doc:"The run that started this one"`
	Title        string       `json:"title,omitempty"`
	EnergyBudget *WholeNumber `json:"energyBudget,omitzero" minimum:"0" maximum:"1000000000000"`
	OnReject     string       `json:"onReject,omitempty" enum:"cascade,continue" doc:"What a rejection does to the rest of its batch. A person's choice is kept"`

	OnRejectDefault string `json:"onRejectDefault,omitempty" enum:"cascade,continue" doc:"What it does as long as nobody has chosen; continue if left out"`
}

// ReportAnswer says what happened to reported events: to each, in their order, and how many in all. Failed counts
// those that are invalid or contradict a stored event.
type ReportAnswer struct {
	Accepted int              `json:"accepted"`
	Repeated int              `json:"repeated"`
	Failed   int              `json:"failed"`
	Results  []RunEventResult `json:"results"`
}

// OpenedRun is the conversation of a run.
type OpenedRun struct {
	Conversation

	Opened bool `json:"opened" doc:"False: it existed already"`
}

// RunEventResult is the answer to one reported event.
type RunEventResult struct {
	Line       int             `json:"line" doc:"Which one, from 1, as sent"`
	ID         string          `json:"id,omitzero"`
	Status     RunEventOutcome `json:"status" enum:"stored,repeated,conflict,error"`
	ResponseID ResponseID      `json:"responseId,omitzero" doc:"The tool call or reply, where it is one"`
	Error      string          `json:"error,omitzero"`
}
