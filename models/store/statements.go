package store

import (
	"context"
	"database/sql"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/people"
	"countersign/models/requests"
)

// hotWriting are the statements that every ask, vote, decision, ledger entry and
// expiry runs: prepared once, on the writing connection, for the transaction
// that all callers of a batch share. In a large batch a statement costs 7 µs
// this way and 44 through GORM, so these few are SQL and everything else is GORM.
type hotWriting struct {
	policyNow, policyDoc                                   *db.Stmt
	approval                                               *db.Stmt
	sameResultOfUse, givenAnswer, offerAnswer, takeAnswer  *db.Stmt
	byToolUse, byAgentToolUse, byPendingDigest, byCallID   *db.Stmt
	keyedPendingDigest, routedTo                           *db.Stmt
	conversation, conversationByRun, conversationByRest    *db.Stmt
	nextSequence, nextOfRest, touch, runs                  *db.Stmt
	spendOfAgent, addAgentEnergy                           *db.Stmt
	latestSpoken, pendingBudget, pendingOutside            *db.Stmt
	addResponse, addWholeResponse, addDecider, addReviewer *db.Stmt
	anyAdmin, pendingOfAgent, countRate, rateFullAt        *db.Stmt

	addReport, addWholeReport, joinReport                  *db.Stmt
	complete, addEarlyResult, takeEarlyResult, judgeReport *db.Stmt
	sameResult, sameEarly, anyEarlyResult, contradict      *db.Stmt
	closeCall                                              *db.Stmt
	hold, settleHeld, rejectOpen, matchOutside             *db.Stmt

	addVote, addWholeVote, settle, expire, dropDecider, settleReviewers, isReviewer, due *db.Stmt

	lastGrant, grantsOf, useGrant *db.Stmt

	addNotice, dropNotices, waitsNoMore, dropUnsent *db.Stmt
}

// hotReading are the reads of every wait, prepared on the read pool.
type hotReading struct{ state, nextDeadline *sql.Stmt }

// setExplanation sets what an agent says about its request, in the order of its members.
func setExplanation() (out string) {
	for _, m := range new(models.Explanation).Members() {
		out += ", " + m.Name + " = ?"
	}
	return out
}

// fitsBudget is whether ?1 units more are within a conversation's budget. What
// costs nothing always is.
const fitsBudget = `(?1 = 0 OR energy_budget IS NULL OR energy_used + energy_reserved + ?1 <= energy_budget)`

var selectConversation = `SELECT ` + requests.ConversationRow.Columns("", nil) + ` FROM conversations`

// texts are the statements, by the place they fill; the plan test reads them too.
func (h *hotWriting) texts() map[**db.Stmt]string {
	return map[**db.Stmt]string{
		&h.policyNow: `SELECT max(version) FROM policies`,
		&h.policyDoc: `SELECT document FROM policies WHERE version = ?`,

		&h.approval:           requests.ApprovalByID,
		&h.byToolUse:          latestUse,
		&h.sameResultOfUse:    sameResultOfUse,
		&h.givenAnswer:        `SELECT taker FROM given_answers WHERE response_id = ?`,
		&h.offerAnswer:        db.InsertNew + `given_answers (response_id, taker) VALUES (?, '')`,
		&h.takeAnswer:         `UPDATE given_answers SET taker = ? WHERE response_id = ? AND taker IN ('', ?)`,
		&h.byAgentToolUse:     `SELECT id FROM responses WHERE agent_id = ? AND tool_use_id = ? AND digest = ? ORDER BY number DESC LIMIT 1`,
		&h.byPendingDigest:    byPendingDigest,
		&h.keyedPendingDigest: keyedPendingDigest,
		&h.routedTo:           reviewersOf,
		&h.byCallID: `SELECT id FROM responses` + db.ByResponsesFunctionCalls +
			` WHERE agent_id = ? AND tool_use_id = ? AND protocol <> ''`,
		&h.conversation:       selectConversation + ` WHERE id = ?`,
		&h.conversationByRun:  selectConversation + ` WHERE owner_id = ? AND run_id = ?`,
		&h.conversationByRest: selectConversation + ` WHERE agent_id = ? AND standing`,
		// What a response costs is spent with its sequence, or there is no row: it
		// would pass the budget (I14).
		&h.nextSequence: `UPDATE conversations SET next_sequence = next_sequence + 1, energy_used = energy_used + ?1, updated_at = ?2
 WHERE id = ?3 AND ` + fitsBudget + ` RETURNING next_sequence - 1, ` + shownRunning,
		&h.nextOfRest: `UPDATE conversations SET next_sequence = next_sequence + 1, energy_used = energy_used + ?1, updated_at = ?2
 WHERE agent_id = ?3 AND standing AND ` + fitsBudget + ` RETURNING next_sequence - 1, id, title, ` + shownRunning,
		&h.runs: `SELECT ` + shownRunning + ` FROM conversations WHERE id = ?`,
		&h.spendOfAgent: `UPDATE agent_windows SET spent = spent + ?1 WHERE agent_id = ?2 AND minute = ?3 AND hours = ?4
 AND spent + ` + reservedOfAgent + ` + ?1 <= ?5 + allowed`,
		&h.addAgentEnergy: `INSERT INTO agent_energy (agent_id, minute, energy) VALUES (?, ?, ?)` + db.OrAdd(`agent_energy`, `agent_id, minute`, `energy`),
		&h.touch:          `UPDATE conversations SET active_at = ?1 WHERE id = ?2 AND active_at < ?1`,
		&h.latestSpoken: `SELECT id FROM responses` + db.ByResponsesPendingSpoken + `
 WHERE conversation_id = ? AND approval_status = 'pending' AND kind IN ('proposal', 'budget') AND (approval_timeout_at > ? OR held_until IS NOT NULL)
 ORDER BY sequence DESC LIMIT 1`,
		&h.pendingBudget: `SELECT id FROM responses` + db.ByResponsesOnePendingBudget + `
 WHERE CASE tool_name WHEN 'allow_agent_energy' THEN agent_id ELSE conversation_id END = ? AND kind = 'budget' AND approval_status = 'pending'`,
		&h.pendingOutside: `SELECT 1 FROM responses` + db.ByResponsesPendingConversation + `
 WHERE conversation_id = ? AND approval_status = 'pending' AND upstream_id IS NOT NULL LIMIT 1`,
		&h.addResponse:      askInsertion.Short(),
		&h.addWholeResponse: askInsertion.Full(),
		&h.addDecider:       db.InsertNew + `deciders (user_id, deadline, response_id) VALUES (?, ?, ?)`,
		&h.addReviewer: db.InsertNew +
			`reviewers (user_id, response_id, tool_use_id, number) SELECT ?, id, tool_use_id, number FROM responses WHERE id = ?`,
		&h.anyAdmin:  `SELECT 1 FROM users WHERE role = 'admin' AND disabled_at IS NULL LIMIT 1`,
		&h.countRate: countRate, &h.rateFullAt: rateFullAt,
		&h.pendingOfAgent: `SELECT count(*) FROM (SELECT 1 FROM responses WHERE agent_id = ? AND approval_status = 'pending' LIMIT ?)`,

		&h.addReport:      reportInsertion.Short(),
		&h.addWholeReport: reportInsertion.Full(),
		&h.joinReport:     `UPDATE responses SET reported_at = ?, batch_id = coalesce(batch_id, ?), parent_tool_use_id = ? WHERE id = ?`,
		// An agent that asks about a closed call goes on with it.
		&h.judgeReport: `UPDATE responses SET asked = TRUE, job_id = ?, risk = ?, requires_approval = ?, approval_status = ?, approval_timestamp = ?, approval_feedback = ?, cause = ?,
 policy_version = ?, policy_rule = ?, policy_reason = ?, reviewers_only = ?, self_approval = ?, approvers = ?, no_substitutes = ?, quorum = ?, when_busy = ?, template = ?, checklist = ?, template_text = ?, approval_requested_at = ?, approval_timeout_at = ?, energy = ?, claimed_at = ?, protocol = ?, client_data = ?, headline = ?, accepts_edits = ?, grant_id = ?` + setExplanation() + `,
 is_completed = is_completed AND closed = '', completed_at = CASE WHEN closed = '' THEN completed_at END, closed = ''
 WHERE id = ? AND approval_status IS NULL AND cause = ''`,
		&h.complete: `UPDATE responses SET is_completed = TRUE, completed_at = ?, is_error = ?, result_bytes = ?, tool_result = ?, closed = ''
 WHERE id = ? AND (is_completed = FALSE OR closed <> '')`,
		// Of a rejected call, one denial is as good as another.
		&h.sameResult: `SELECT 1 FROM responses WHERE id = ?1 AND is_error = ?2 AND (tool_result = ?3 OR (is_error AND approval_status = 'rejected'))`,
		&h.contradict: `UPDATE responses SET contradiction = CASE contradiction WHEN '' THEN ?1 ELSE contradiction || ' ' || ?1 END
 WHERE id = ?2 AND NOT ` + db.Contains(`contradiction`, `?1`),
		&h.addEarlyResult: db.InsertNew +
			`early_results (conversation_id, tool_use_id, at, is_error, result_bytes, result) VALUES (?, ?, ?, ?, ?, ?)`,
		&h.takeEarlyResult: `DELETE FROM early_results WHERE conversation_id = ? AND tool_use_id = ? RETURNING at, is_error, result_bytes, result, removed`,
		&h.sameEarly:       `SELECT 1 FROM early_results WHERE conversation_id = ? AND tool_use_id = ? AND is_error = ? AND result = ?`,
		&h.anyEarlyResult:  `SELECT 1 FROM early_results LIMIT 1`,
		&h.closeCall:       `UPDATE responses SET is_completed = TRUE, completed_at = ?, closed = ? WHERE id = ? AND is_completed = FALSE`,

		&h.addVote:      insertVote.Short(),
		&h.addWholeVote: insertVote.Full(),
		// The compare-and-set of I1: it names the state it leaves and judges the
		// deadline; one row or nothing.
		&h.settle: `UPDATE responses SET approval_status = ?, approval_timestamp = ?, approval_feedback = ?, cause = ?, decided_by = ?, vote_id = ?, answer = ?
 WHERE id = ? AND approval_status = 'pending' AND held_until IS NULL AND approval_timeout_at > ?`,
		// The verdict came in time; from now on the deadline is its own.
		&h.hold: `UPDATE responses SET held_until = ? WHERE id = ? AND approval_status = 'pending' AND held_until IS NULL AND approval_timeout_at > ?`,
		&h.settleHeld: `UPDATE responses SET approval_status = ?, approval_timestamp = ?, approval_feedback = ?, cause = ?, decided_by = ?, vote_id = ?, answer = ?, held_until = NULL
 WHERE id = ? AND approval_status = 'pending' AND held_until IS NOT NULL`,
		&h.rejectOpen: `UPDATE responses SET asked = TRUE, approval_status = 'rejected', approval_timestamp = ?, approval_feedback = ?, cause = ?
 WHERE id = ? AND approval_status IS NULL AND cause = ''`,
		&h.matchOutside: `UPDATE responses SET asked = TRUE, upstream_id = ?, call_id = ?, approval_id = ?, outside_run = ?, claimed_at = ?, matched_by = ?, contradiction = ?, context = ?, headline = ?, risk = ?, policy_version = ?, policy_rule = ?, policy_reason = ?,
 reviewers_only = ?, self_approval = ?, approvers = ?, no_substitutes = ?, quorum = ?, checklist = ?, template_text = ?, requires_approval = TRUE, approval_status = 'pending', approval_requested_at = ?, approval_timeout_at = ?
 WHERE id = ? AND approval_status IS NULL AND cause = '' AND is_completed = FALSE`,
		&h.expire: `UPDATE responses SET approval_status = 'expired', approval_timestamp = approval_timeout_at, approval_feedback = ?, cause = ?
 WHERE id = ? AND approval_status = 'pending' AND held_until IS NULL AND approval_timeout_at <= ?`,
		&h.settleReviewers: settleReviewers,
		&h.dropDecider:     `DELETE FROM deciders WHERE user_id = ? AND deadline = ? AND response_id = ?`,
		&h.isReviewer:      requests.IsReviewer,
		&h.due:             requests.DueQuery(),

		&h.addNotice:   db.InsertNew + `notices (response_id, recipient, moment, due_at) VALUES (?, ?, ?, ?)`,
		&h.dropNotices: dropNotices,
		&h.waitsNoMore: waitsNoMore,
		&h.dropUnsent:  dropUnsent,

		&h.lastGrant: `SELECT max(expires_at) FROM grants` + db.ByGrantsLive + ` WHERE revoked_at IS NULL`,
		&h.grantsOf: `SELECT ` + coverRow.Columns("g", nil) + `
 FROM grants g` + db.ByGrantsLive + ` JOIN users u ON u.id = g.made_by
 WHERE g.agent_id = ?1 AND g.tool_name = ?2 AND g.revoked_at IS NULL AND g.expires_at > ?3 AND g.uses < g.max_uses
 AND ` + people.MayDecide(`u`) + ` AND (u.role = 'admin' OR u.id = ?4) ORDER BY g.expires_at, g.id`,
		&h.useGrant: `UPDATE grants SET uses = uses + 1, used_at = ?1
 WHERE id = ?2 AND uses < max_uses AND revoked_at IS NULL AND expires_at > ?1`,
	}
}

func (h *hotReading) texts() map[**sql.Stmt]string {
	return map[**sql.Stmt]string{
		&h.state:        stateByID,
		&h.nextDeadline: requests.NextDeadlines(),
	}
}

// prepare keeps them with the other reading statements, which the database closes.
func (h *hotReading) prepare(ctx context.Context, d *db.DB) error {
	for place, text := range h.texts() {
		stmt, err := d.Prepared(ctx, text) //nolint:sqlclosecheck // kept until the database is closed
		if err != nil {
			return err
		}
		*place = stmt
	}
	return nil
}

// The rows that are read or written by prepared statements.
var (
	reportRow = db.RowOf(&models.Report{}).Without("id") // the rest of a response's row

	grantRow = db.RowOf(&models.Grant{})
	// what judges whether it covers a call
	coverRow = grantRow.Only("id", "fixed", "free", "made_by", "maker_name", "expires_at", "max_uses", "uses")
)

// The rows that prepared statements store.
var (
	insertVote = db.InsertionOf([]string{
		"withdrawn_at", "waits_for", "replaced_by", "checked", "behalf_of", "behalf_name", "undo_until", "budget_set", "budget_delta",
		"skipped", "acknowledged_by", "acknowledged_name", "acknowledged_at", "remark",
	}, requests.VoteRow)
	// Rows of requests, and of calls that were only reported: the one is not done yet, the other needs no approval.
	askInsertion = db.InsertionOf([]string{
		"call_id", "upstream_id", "approval_id", "outside_run", "batch_id", "held_until", "paused_left", "open_note",
		"decided_by", "vote_id", "cascaded_from",
		"is_completed", "reported_at", "is_error", "closed", "matched_by", "input_bytes", "answer", "removed",
		"template", "checklist", "template_text", "preview", "protocol", "client_data", "escalated_at", "escalation",
		"no_substitutes", "quorum", "stranded_at", "when_busy",
	}, requests.ResponseRow)
	reportInsertion = db.InsertionOf([]string{
		"claimed_at", "job_id", "call_id", "upstream_id", "approval_id", "outside_run", "requires_approval",
		"approval_status", "approval_timestamp", "approval_feedback",
		"cause", "policy_version", "policy_rule", "policy_reason", "reviewers_only", "approvers", "template", "checklist",
		"template_text", "approval_requested_at", "held_until", "paused_left", "open_note",
		"decided_by", "vote_id", "grant_id", "cascaded_from", "is_completed", "is_error", "closed", "matched_by", "energy",
		"energy_budget", "model_used",
		"description", "context", "preview", "options", "answer", "removed", "protocol", "client_data", "accepts_edits",
		"escalated_at", "escalation", "no_substitutes", "quorum", "stranded_at", "when_busy", "completed_at", "tool_result", "contradiction", "result_bytes",
	}, requests.ResponseRow, reportRow)
)
