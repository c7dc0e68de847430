package store

import (
	"countersign/models"
	"countersign/models/db"
)

// The rows that are read or written by prepared statements.
var (
	responseRow = db.RowOf(&models.Response{})
	reportRow   = db.RowOf(&models.Report{}).Without("id") // the rest of the same row
	voteRow     = db.RowOf(&models.Vote{})
	noteRow     = db.RowOf(&models.Note{})

	conversationRow = db.RowOf(&models.Conversation{})
	messageRow      = db.RowOf(&models.Message{})
	stepRow         = db.RowOf(&models.BudgetStep{})
)

// The rows that prepared statements store.
var (
	insertVote = db.InsertionOf([]string{"withdrawn_at", "waits_for", "undo_until", "budget_set", "budget_delta"}, voteRow)
	// What was asked, and what was only reported: the one is not done yet, the other
	// needs no approval.
	insertAsked = db.InsertionOf([]string{
		"call_id", "upstream_id", "approval_id", "batch_id", "held_until", "paused_left", "open_note", "decided_by", "vote_id", "cascaded_from",
		"is_completed", "reported_at", "is_error", "closed", "matched_by", "input_bytes", "answer", "removed",
	}, responseRow)
	insertReported = db.InsertionOf([]string{
		"claimed_at", "job_id", "call_id", "upstream_id", "approval_id", "requires_approval", "approval_status", "approval_timestamp", "approval_feedback",
		"cause", "policy_version", "policy_rule", "policy_reason", "reviewers_only", "approvers", "approval_requested_at", "held_until", "paused_left", "open_note",
		"decided_by", "vote_id", "grant_id", "cascaded_from", "is_completed", "is_error", "closed", "matched_by", "energy", "energy_budget", "model_used",
		"description", "context", "options", "answer", "removed", "completed_at", "tool_result", "contradiction", "result_bytes",
	}, responseRow, reportRow)
)
