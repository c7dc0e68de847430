package upkeep

import (
	"slices"
	"strings"
)

// How each column of a table is proven. What begins with "not:" is not, and why.
// A test fails when a column is missing here: say how it is proven, or why not.
const (
	byEntry  = "entry"      // the entry spells the value out, or is about it
	byDigest = "digest"     // the entry holds a digest of it
	byRow    = "row_digest" // it is in the digest over the rest of the row
	byDeriv  = "derived"    // it follows from other rows that are proven
	reported = "not: what an agent reports is its claim; the ledger has one digest for each report"
	bookkeep = "not: bookkeeping that decides nothing"
	shortcut = "not: a cache of what entries say, for lists"
)

var rowColumns = map[string]map[string]string{
	"responses": {
		"number": "not: the order of arrival, which no entry tells", "id": byEntry, "conversation_id": byEntry, "sequence": byEntry, "owner_id": byEntry,
		"agent_id": byRow, "kind": byEntry, "created_at": byEntry, "tool_use_id": byRow, "job_id": byRow, "call_id": byRow, "upstream_id": byRow,
		"approval_id": "not: what another system calls the request, for people to find it there", "batch_id": reported, "digest": byEntry, "digest_version": byDigest, "risk": byEntry, "requires_approval": byEntry, "approval_status": byEntry,
		"approval_timestamp": byEntry, "approval_feedback": byDigest, "cause": byEntry, "policy_version": byEntry, "policy_rule": byEntry,
		"policy_reason": byRow, "reviewers_only": byEntry, "self_approval": byEntry, "approvers": byDigest, "approval_requested_at": byEntry, "approval_timeout_at": byEntry, "held_until": byEntry, "paused_left": byEntry,
		"open_note": byEntry, "decided_by": byEntry, "vote_id": byEntry, "grant_id": byEntry, "cascaded_from": byEntry,
		"is_completed": reported, "completed_at": reported, "reported_at": reported, "parent_tool_use_id": reported, "is_error": reported,
		"closed": reported, "input_bytes": byRow, "content_bytes": reported, "result_bytes": reported, "contradiction": reported, "matched_by": reported,
		"asked": byEntry, "claimed_at": byRow, "energy": byEntry, "energy_budget": byRow, "model_used": byRow, "description": byRow, "context": byRow, "options": byRow,
		"content": byDigest, "tool_name": byEntry, "tool_input_json": byDigest, "answer": byDigest, "tool_result": reported,
		"removed": byEntry,
	},
	"votes": {
		"id": byEntry, "response_id": byEntry, "user_id": byEntry, "user_name": byEntry, "verdict": byEntry, "reason": byDigest, "digest": byEntry,
		"seen_digest": byEntry, "input": byDigest, "input_digest": byEntry, "answer": byDigest, "option": byDigest, "at": byEntry,
		"withdrawn_at": byEntry, "waits_for": byDigest, "undo_until": byRow, "budget_set": byRow, "budget_delta": byRow,
	},
	"users": {
		"id": byEntry, "email": byEntry, "name": byEntry, "role": byEntry, "password_hash": byDigest, "created_at": byEntry, "disabled_at": byEntry,
	},
	"tokens": {
		"id": byEntry, "secret_hash": byDigest, "hint": "not: the first letters of a secret, which only its list shows", "scope": byEntry, "user_id": byEntry,
		"agent_id": byEntry, "name": byEntry, "created_at": byEntry, "expires_at": byEntry, "revoked_at": byEntry, "last_used_at": bookkeep,
	},
	"agents":   {"id": byEntry, "owner_id": byEntry, "name": byEntry, "system": byDeriv, "created_at": byEntry, "disabled_at": byDeriv},
	"policies": {"version": byEntry, "document": byDigest, "author_id": byEntry, "author_name": byEntry, "note": byDigest, "created_at": byEntry},
	"grants": {
		"id": byEntry, "owner_id": byEntry, "agent_id": byEntry, "tool_name": byEntry, "fixed": byDigest, "free": byDigest, "made_by": byEntry,
		"maker_name": byEntry, "made_from": byEntry, "created_at": byEntry, "expires_at": byEntry, "max_uses": byEntry, "uses": byEntry,
		"used_at": byEntry, "revoked_at": byEntry, "revoked_by": byEntry, "revoker_name": byEntry, "removed": byEntry,
	},
	"upstreams": {
		"id": byEntry, "name": byEntry, "base_url": byEntry, "dialect": byEntry, "key_sealed": byDigest, "owner_id": byEntry, "agent_id": byEntry,
		"checked_address": byEntry, "created_at": byEntry, "disabled_at": byEntry, "paused_at": bookkeep, "next_poll_at": bookkeep, "polled_at": bookkeep, "succeeded_at": bookkeep,
		"failures": bookkeep, "problem": bookkeep,
	},
	"invites": {
		"id": byEntry, "secret_hash": byDigest, "email": byEntry, "role": byEntry, "invited_by": byEntry, "inviter_name": byEntry,
		"created_at": byEntry, "expires_at": byDeriv, "used_at": byEntry, "withdrawn_at": byEntry,
	},
	"web_sessions": {
		"id": byEntry, "secret_hash": byDigest, "user_id": byEntry, "created_at": byEntry, "last_seen_at": bookkeep, "expires_at": byDeriv,
		"address": byEntry, "user_agent": bookkeep, "revoked_at": byEntry,
	},
	"conversations": {
		"id": byEntry, "owner_id": byEntry, "agent_id": byEntry, "run_id": byDigest, "parent_run_id": byDigest, "title": byDigest, "status": byEntry,
		"standing": byEntry, "on_reject": byEntry, "on_reject_by": byEntry, "next_sequence": bookkeep, "energy_budget": byEntry, "energy_used": byDeriv,
		"energy_reserved": "not: set aside for one turn of a model, and freed with it", "created_at": byEntry, "updated_at": bookkeep,
		"paused_at": byEntry, "archived_at": byEntry, "active_at": bookkeep, "budget_added": shortcut, "budget_refused": shortcut,
		"waits_for_request": bookkeep, "removed": byEntry,
	},
	"messages": {
		"id": byEntry, "conversation_id": byEntry, "sequence": byEntry, "author_kind": byEntry, "author_id": byEntry, "author_name": byEntry,
		"content": byDigest, "response_id": byEntry, "created_at": byEntry, "content_bytes": reported,
		"removed": byEntry,
	},
	"notes": {
		"id": byEntry, "response_id": byEntry, "number": byEntry, "author_kind": byEntry, "author_id": byEntry, "author_name": byEntry, "asks": byEntry,
		"content": byDigest, "at": byEntry,
	},
	"budget_steps": {
		"conversation_id": byEntry, "sequence": byEntry, "at": byEntry, "actor_kind": byEntry, "actor_id": byEntry, "actor_name": byEntry,
		"old": byEntry, "new": byEntry, "reason": byDigest, "response_id": byEntry, "removed": byEntry,
	},
	"agent_allowances": {"agent_id": byEntry, "until": byEntry, "response_id": byEntry, "energy": byEntry},
	"reviewers":        {"user_id": byEntry, "response_id": byEntry, "tool_use_id": shortcut, "settled_at": shortcut},
	"deciders":         {"user_id": byDeriv, "deadline": byDeriv, "response_id": byDeriv},
	"ledger_readers":   {"reader_id": byDeriv, "seq": byDeriv},
	"turns": {
		"conversation_id": byDeriv, "sequence": bookkeep, "at": bookkeep, "model": bookkeep, "prompt_tokens": bookkeep, "completion_tokens": bookkeep,
		"energy": byDeriv, "said": "not: what the built-in agent's model said; what came of it are responses",
		"removed": "not: as what it stands for",
	},
	// The chain and its head are verified as a whole.
	"ledger":            {"*": byEntry},
	"ledger_head":       {"*": byEntry},
	"row_checks":        {"*": bookkeep},
	"setup_links":       {"*": "not: works only while there is no user"},
	"signin_failures":   {"*": bookkeep},
	"known_devices":     {"*": bookkeep},
	"agent_energy":      {"*": "not: sums of what was spent since the policy limits agents; doctor adds them up"},
	"agent_windows":     {"*": "not: sums of agent_energy; doctor adds them up"},
	"position_key":      {"*": bookkeep},
	"agent_inbox":       {"*": bookkeep},
	"run_events":        {"*": reported},
	"early_results":     {"*": reported},
	"opened_parts":      {"*": bookkeep},
	"leases":            {"*": bookkeep},
	"outside_approvals": {"*": "not: as another system sent it; what came of it are responses"},
	"withdrawals":       {"*": "not: why a decision was taken back; its entry holds a digest of what was said"},
	"deliveries":        {"*": "not: how telling another system goes; what is told is a vote"},
	"goose_db_version":  {"*": "not: the schema itself is compared"},
}

// proven are the columns of a table that the check reads, in a fixed order.
func proven(table string) []string {
	var out []string
	for column, how := range rowColumns[table] {
		if !strings.HasPrefix(how, "not:") {
			out = append(out, column)
		}
	}
	slices.Sort(out)
	return out
}

// RowColumns says of each column, by table, how it is proven.
func RowColumns() map[string]map[string]string { return rowColumns }
