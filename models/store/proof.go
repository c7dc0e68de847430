package store

import (
	"strconv"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// askDigest is the row_digest of a request's first entry. askProof reads the same
// columns from the file.
func askDigest(r *models.Response) string {
	agent, cut := string(r.AgentID), (*string)(nil)
	if r.InputBytes != nil {
		cut = &r.ToolInputJSON // its digest is of the whole input, which is not kept
	}
	values := []*string{
		&agent, r.ToolUseID, r.JobID, r.UpstreamID, r.CallID, &r.PolicyReason, &r.ModelUsed, decimal(r.EnergyBudget), decimal(r.InputBytes),
		&r.Description, &r.Context, &r.Options, cut,
	}
	// Columns that came later: up to the last that says something, so that the digest of a
	// row without them is what it was before there were any.
	var claimed *string
	if r.ClaimedAt != nil {
		claimed = new(r.ClaimedAt.Format(db.FileFormat))
	}
	says := r.HeadlineJSON != "" || r.AcceptsEdits
	outside := says || r.OutsideRun != nil
	client := outside || r.Protocol != "" || r.ClientDataJSON != ""
	if claimed != nil || r.Preview != "" || client {
		values = append(values, claimed)
	}
	if r.Preview != "" || client {
		values = append(values, &r.Preview)
	}
	if client {
		protocol := string(r.Protocol)
		values = append(values, &protocol, &r.ClientDataJSON)
	}
	if outside {
		values = append(values, r.OutsideRun)
	}
	if says {
		values = append(values, &r.HeadlineJSON)
	}
	if r.AcceptsEdits {
		values = append(values, new(takesEdits))
	}
	return ledger.RowDigest(values...)
}

// takesEdits is what a row_digest has of a request whose client takes edits.
const takesEdits = "takes edits"

// heldDigest is the row_digest of the entry of a verdict that is held.
func heldDigest(v *models.Vote) string {
	var until *string
	if v.UndoUntil != nil {
		until = new(v.UndoUntil.Format(db.TimeFormat))
	}
	return ledger.RowDigest(until, decimal(v.BudgetSet), decimal(v.BudgetDelta), v.Answer, v.Option)
}

func decimal(n *int64) *string {
	if n == nil {
		return nil
	}
	return new(strconv.FormatInt(*n, 10))
}

// openedEntry is what the ledger says of a conversation that was opened.
type openedEntry struct {
	Standing bool           `json:"standing"`
	Agent    models.AgentID `json:"agent"`
	OnReject string         `json:"on_reject"`
	ChosenBy string         `json:"on_reject_by"`
	Run      string         `json:"run_digest,omitempty"`
	Parent   string         `json:"parent_digest,omitempty"`
	Title    string         `json:"title_digest,omitempty"`
}

func openedData(c *models.Conversation) openedEntry {
	return openedEntry{
		Standing: c.Standing, Agent: c.AgentID, OnReject: c.OnReject, ChosenBy: c.OnRejectBy,
		Run: models.DigestOfText(orEmpty(c.RunID)), Parent: models.DigestOfText(orEmpty(c.ParentRunID)), Title: models.DigestOfText(c.Title),
	}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
