package store

import (
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/headline"
)

// asked is an AskInput after the checks that need no database.
type asked struct {
	models.AskInput
	id           models.ResponseID // empty: to be made
	conversation models.ConversationID
	digest       string
	digestV1     string // of a question: as it was made before it covered text and options
	options      string
	client       string // ClientData as it is stored
	headline     string // as it is stored
	fallback     time.Time
	claimed      *time.Time // when the agent says it asked
}

// namesNone reports whether a request names no conversation: it then belongs to the agent's default one.
func (q *asked) namesNone() bool { return q.conversation == "" && q.RunID == "" && q.Session == "" }

// takesEdits reports whether the caller runs the approved input.
func (q *asked) takesEdits() bool {
	r := models.Response{Kind: q.Kind, AcceptsEdits: q.AcceptsEdits, Protocol: q.Protocol}
	return q.Kind == models.KindToolCall && r.TakesEdits()
}

// checkAsk does everything that needs no database.
func checkAsk(in models.AskInput) (*asked, error) {
	q := &asked{AskInput: in}
	if q.Kind == "" {
		q.Kind = models.KindToolCall
	}
	if q.Kind != models.KindToolCall && q.Kind != models.KindQuestion {
		return nil, models.Invalid("kind", "must be tool_call or question")
	}
	if q.Kind == models.KindQuestion && q.ToolName == "" {
		q.ToolName = "question"
	}
	if err := models.CheckToolName("toolName", q.ToolName); err != nil {
		return nil, err
	}
	if len(q.Input) == 0 {
		q.Input = []byte("{}")
	}
	if err := models.CheckInputSize("input", len(q.Input)); err != nil {
		return nil, err
	}
	canonical, err := models.Canonical(q.Kind, q.ToolName, q.Input)
	if err != nil {
		return nil, err
	}
	q.digest = models.Digest(canonical)
	if err := q.checkKeys(); err != nil {
		return nil, err
	}
	if err := q.checkRest(); err != nil {
		return nil, err
	}
	// Made here, before the transaction, so that no other writer waits for it.
	q.headline = headline.Of(&models.Response{
		Kind: q.Kind, ToolName: q.ToolName, ToolInputJSON: string(q.Input),
		Explanation: models.Explanation{Description: q.Description},
	}).Stored()
	return q, q.digestQuestion()
}

// digestQuestion has the digest of a question cover its text and its options.
func (q *asked) digestQuestion() error {
	if q.Kind != models.KindQuestion {
		return nil
	}
	canonical, err := models.CanonicalQuestion(q.ToolName, q.Input, q.Description, q.options)
	if err != nil {
		return err
	}
	q.digestV1, q.digest = q.digest, models.Digest(canonical)
	return nil
}

// digestUnder is the digest that the request has in a version.
func (q *asked) digestUnder(version int) string {
	if version < 2 && q.digestV1 != "" {
		return q.digestV1
	}
	return q.digest
}

func (q *asked) checkKeys() (err error) {
	if q.ApprovalID != "" {
		if q.id, err = models.ParseID[models.ResponseID]("approvalId", q.ApprovalID); err != nil {
			return err
		}
	}
	if q.ConversationID != "" {
		if q.conversation, err = models.ParseID[models.ConversationID]("conversationId", q.ConversationID); err != nil {
			return err
		}
	}
	if q.Session != "" && (q.ConversationID != "" || q.RunID != "") {
		return models.Invalid("sessionId", "can't be combined with a conversation's id or a run id; send one of them")
	}
	for _, key := range [...]struct{ field, value string }{
		{"runId", q.RunID},
		{"sessionId", q.Session},
		{"toolUseId", q.ToolUseID},
		{"jobId", q.JobID},
		{"template", q.Template},
	} {
		if key.value != "" {
			if err := models.CheckKey(key.field, key.value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *asked) checkRest() error {
	if err := q.Explanation.Check(); err != nil {
		return err
	}
	if q.TimeoutSeconds != nil && *q.TimeoutSeconds < 1 {
		return models.Invalid("timeoutSeconds", "must be at least 1")
	}
	if q.Energy != nil && (*q.Energy < 0 || *q.Energy > models.MaxEnergy) {
		return models.Invalid("energy", "must be from 0 to %d", models.MaxEnergy)
	}
	if q.FallbackAt != "" {
		at, err := time.Parse(time.RFC3339, q.FallbackAt)
		if err != nil {
			return models.Invalid("fallback.at", "must be a time such as 2026-01-02T15:04:05Z")
		}
		q.fallback = db.Stamp(at)
	}
	if q.ClaimedAt != "" {
		at, err := time.Parse(time.RFC3339, q.ClaimedAt)
		if err != nil {
			return models.Invalid("timestamp", "must be a time such as 2026-01-02T15:04:05Z")
		}
		q.claimed = new(db.Stamp(at))
	}
	if err := q.checkOptions(); err != nil {
		return err
	}
	return q.checkClient()
}

// checkClient checks what a client of a protocol sends, whose ToolUseID is its key.
func (q *asked) checkClient() (err error) {
	if err := models.CheckProtocol(q.Protocol); err != nil {
		return err
	}
	if q.Protocol != "" && q.ToolUseID == "" {
		return models.Invalid("toolUseId", "must not be empty")
	}
	if err := checkOptionList("rejectOptions", q.Client.RejectOptions); err != nil {
		return err
	}
	q.client, err = q.Client.Stored()
	return err
}

func (q *asked) checkOptions() error {
	if len(q.Options) == 0 {
		return nil
	}
	if q.Kind != models.KindQuestion {
		return models.Invalid("options", "belong to a question")
	}
	if err := checkOptionList("options", q.Options); err != nil {
		return err
	}
	var err error
	q.options, err = models.StoredOptions(q.Options)
	return err
}

// checkOptionList checks options that a person chooses from.
func checkOptionList(field string, options []models.Option) error {
	if len(options) > models.MaxOptions {
		return models.Invalid(field, "at most %d are allowed", models.MaxOptions)
	}
	for i, o := range options {
		at := fmt.Sprintf("%s[%d]", field, i)
		if err := models.CheckKey(at+".name", o.Name); err != nil {
			return err
		}
		if err := models.CheckText(at+".title", o.Title, models.MaxName); err != nil {
			return err
		}
		if err := models.CheckText(at+".description", o.Description, models.MaxDescription); err != nil {
			return err
		}
		if err := models.CheckText(at+".promptFill", o.PromptFill, models.MaxDescription); err != nil {
			return err
		}
	}
	return models.CheckOptions(field, options)
}
