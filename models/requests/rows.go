package requests

import (
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// approvalColumns and approvalFrom read one models.Approval; scanApproval takes
// them in this order.
var approvalColumns = approvalAs(nil)

// briefTexts are the texts that a models.Brief has cut, of responses by that name. Of a row
// without a headline they are whole, for briefs makes it of them, and cuts them then.
func briefTexts(name string) map[string]string {
	out := map[string]string{}
	columns := []string{"content", "tool_input_json"}
	for _, m := range new(models.Explanation).Members() {
		if m.Limit > models.MaxBrief {
			columns = append(columns, m.Name)
		}
	}
	for _, column := range columns {
		whole := name + "." + column
		out[column] = `CASE WHEN ` + name + `.headline = '' AND ` + name + `.removed IS NULL THEN ` + whole + ` ELSE ` +
			BriefText(whole) + ` END AS ` + column
	}
	return out
}

// BriefText is the beginning of a column as lists have it.
func BriefText(column string) string {
	return fmt.Sprintf(`substr(%s, 1, %d)`, column, models.MaxBrief)
}

// briefColumns read one models.Brief.
var briefColumns = approvalAs(briefTexts("r"))

// approvalAs are the columns of an approval, with expressions instead of some of its
// response.
func approvalAs(instead map[string]string) string {
	return ResponseRow.Columns("r", instead) + `, c.run_id, c.title, a.name, u.name, ` + stoppedNow + `, ` +
		VoteRow.Columns("v", nil) + `, ` + noteRow.Columns("n", nil)
}

// stoppedNow is whether a stop is in force for the agent of a response that is not completed.
const stoppedNow = `NOT r.is_completed AND EXISTS (SELECT 1 FROM stops s` + db.ByStopsStanding +
	` WHERE s.lifted_at IS NULL AND (s.agent_id = '' OR s.agent_id = r.agent_id))`

const approvalFrom = ` FROM responses r
 JOIN conversations c ON c.id = r.conversation_id
 JOIN agents a ON a.id = r.agent_id
 JOIN users u ON u.id = r.owner_id
 LEFT JOIN votes v ON v.id = r.vote_id
 LEFT JOIN notes n ON n.id = r.open_note`

var (
	selectApproval = `SELECT ` + approvalColumns + approvalFrom
	// ApprovalByID reads one request; ScanApproval takes it.
	ApprovalByID = selectApproval + ` WHERE r.id = ?`
)

// IsReviewer is whether a request was routed to a person.
const IsReviewer = `SELECT 1 FROM reviewers WHERE user_id = ? AND response_id = ?`

// The rows of which a request is read.
var (
	ResponseRow     = db.RowOf(&models.Response{})
	VoteRow         = db.RowOf(&models.Vote{})
	noteRow         = db.RowOf(&models.Note{})
	ConversationRow = db.RowOf(&models.Conversation{})
	MessageRow      = db.RowOf(&models.Message{})
	StepRow         = db.RowOf(&models.BudgetStep{})
	feedRow         = ledger.EntryRow.Only("seq", "at", "actor_kind", "action", "owner_id", "conversation_id",
		"response_id", "data")
)
