package upkeep

import "countersign/models/db"

// What a purge does with each column that holds text. A test fails for a column
// that is not listed: say that it is removed, and in which form its mark stands
// there, or why it is kept.
const (
	keptID      = "kept: an id"
	keptName    = "kept: a name"
	keptDigest  = "kept: a digest"
	keptWord    = "kept: one of our own words, an outcome or a state"
	keptRule    = "kept: words of the policy"
	keptWho     = "kept: who may sign in, decide or ask"
	keptSetting = "kept: a setting"
	keptNow     = "kept: the state of now, overwritten by the next"
	keptMark    = "kept: the mark itself"

	markText    = "text"    // the mark
	markObject  = "object"  // {"removed": the mark}
	markList    = "list"    // [the mark]
	markOptions = "options" // [{"name": the mark}]
	markTurn    = "turn"    // {"content": the mark, "read": as it was}
)

// removedAs are the forms of a mark, as SQL over the mark ?1.
var removedAs = map[string]string{
	markText:    `?1`,
	markObject:  db.JSONObject(`'removed'`, `?1`),
	markList:    db.JSONArray(`?1`),
	markOptions: db.JSONArray(db.JSONObject(`'name'`, `?1`)),
	markTurn:    db.JSONObject(`'content'`, `?1`, `'read'`, db.JSONMember(`said`, `read`)),
}

// holdsContent is the condition under which a column's text is contents; a column
// that is not here is contents unless it is empty.
var holdsContent = map[string]string{
	// The texts of the other causes are ours or the policy's.
	"responses.approval_feedback": `cause NOT IN ('timeout', 'policy', 'no_reviewer', 'gone', 'run_ended')`,
	"turns.said":                  `(` + db.JSONMember(`said`, `content`) + ` IS NOT NULL OR ` + db.JSONMember(`said`, `calls`) + ` IS NOT NULL)`,
}

var textColumns = map[string]map[string]string{
	"responses": {
		"id": keptID, "conversation_id": keptID, "owner_id": keptID, "agent_id": keptID, "kind": keptWord, "tool_use_id": keptID, "job_id": keptID,
		"call_id": keptID, "upstream_id": keptID, "approval_id": keptID, "batch_id": keptID, "digest": keptDigest, "risk": keptWord,
		"approval_status": keptWord, "approval_feedback": markText, "cause": keptWord, "policy_rule": keptName, "policy_reason": keptRule,
		"decided_by": keptID, "vote_id": keptID, "grant_id": keptID, "cascaded_from": keptID, "model_used": keptName,
		"description": markText, "context": markText, "options": markOptions, "content": markText, "tool_name": keptName,
		"tool_input_json": markObject, "answer": markText, "tool_result": markText, "parent_tool_use_id": keptID, "closed": keptWord,
		"contradiction": markText, "matched_by": keptWord, "open_note": keptID, "self_approval": keptWord, "approvers": keptWho,
		"removed": keptMark,
	},
	"votes": {
		"id": keptID, "response_id": keptID, "user_id": keptID, "user_name": keptName, "verdict": keptWord, "reason": markText, "digest": keptDigest,
		"seen_digest": keptDigest, "input": markObject, "input_digest": keptDigest, "answer": markText, "option": markText, "waits_for": keptWho,
	},
	"notes": {"id": keptID, "response_id": keptID, "author_kind": keptWord, "author_id": keptID, "author_name": keptName, "content": markText},
	"messages": {
		"id": keptID, "conversation_id": keptID, "author_kind": keptWord, "author_id": keptID, "author_name": keptName, "content": markText,
		"response_id": keptID, "removed": keptMark,
	},
	"conversations": {
		"id": keptID, "owner_id": keptID, "agent_id": keptID, "run_id": keptID, "parent_run_id": keptID, "title": markText, "status": keptWord,
		"on_reject": keptWord, "on_reject_by": keptWord, "budget_refused": keptID, "removed": keptMark,
	},
	"budget_steps": {
		"conversation_id": keptID, "actor_kind": keptWord, "actor_id": keptID, "actor_name": keptName, "reason": markText, "response_id": keptID,
		"removed": keptMark,
	},
	"turns":         {"conversation_id": keptID, "model": keptName, "said": markTurn, "removed": keptMark},
	"early_results": {"conversation_id": keptID, "tool_use_id": keptID, "result": markText, "removed": keptMark},
	"outside_approvals": {
		"upstream_id": keptID, "call_id": keptID, "kind": keptWord, "run_id": keptID, "name": keptName, "arguments": markObject, "raw": markObject, "beside": markText,
		"response_id": keptID, "tool_use_id": keptID, "digest": keptDigest, "linked_id": keptID, "linked_by": keptWord, "removed": keptMark,
	},
	"withdrawals": {"vote_id": keptID, "response_id": keptID, "kind": keptWord, "by_name": keptName, "said": markText},
	"deliveries":  {"response_id": keptID, "upstream_id": keptID, "vote_id": keptID, "problem": markText, "outcome": keptWord},
	"grants": {
		"id": keptID, "owner_id": keptID, "agent_id": keptID, "tool_name": keptName, "fixed": markObject, "free": markList, "made_by": keptID,
		"maker_name": keptName, "made_from": keptID, "revoked_by": keptID, "revoker_name": keptName, "removed": keptMark,
	},

	"users":    {"id": keptID, "email": keptWho, "name": keptName, "role": keptWho, "password_hash": keptWho},
	"tokens":   {"id": keptID, "hint": keptWho, "scope": keptWho, "user_id": keptID, "agent_id": keptID, "name": keptName},
	"agents":   {"id": keptID, "owner_id": keptID, "name": keptName},
	"policies": {"document": keptSetting, "author_id": keptID, "author_name": keptName, "note": keptSetting},
	"upstreams": {
		"id": keptID, "name": keptName, "base_url": keptSetting, "dialect": keptSetting, "owner_id": keptID, "agent_id": keptID, "problem": keptNow,
	},
	"invites":       {"id": keptID, "email": keptWho, "role": keptWho, "invited_by": keptID, "inviter_name": keptName},
	"web_sessions":  {"id": keptID, "user_id": keptID, "address": keptWho, "user_agent": keptWho},
	"known_devices": {"user_id": keptID},
	"reviewers":     {"user_id": keptID, "response_id": keptID, "tool_use_id": keptID},
	"deciders":      {"user_id": keptID, "response_id": keptID},
	"opened_parts":  {"user_id": keptID, "response_id": keptID, "part": keptWord},
	"run_events":    {"conversation_id": keptID, "key": keptID, "response_id": keptID},
	"agent_inbox":   {"conversation_id": keptID, "holder": keptNow},
	"agent_energy":  {"agent_id": keptID},
	"agent_windows": {"agent_id": keptID}, "agent_allowances": {"agent_id": keptID, "response_id": keptID},
	"signin_failures": {"account": keptWho, "address": keptWho},
	"leases":          {"name": keptNow, "holder": keptNow},
	"row_checks":      {"last_problem": keptNow},
	"ledger_readers":  {"reader_id": keptID},
	"ledger_head":     {}, "setup_links": {}, "position_key": {},
	"ledger": {
		"at": keptWord, "actor_kind": keptWord, "actor_id": keptID, "actor_name": keptName, "action": keptWord, "owner_id": keptID,
		"conversation_id": keptID, "response_id": keptID, "data": "kept: digests and outcomes, never inputs",
	},
	"goose_db_version": {},
}

// contentColumns are the columns of a table whose text is removed, in a fixed order.
var contentColumns = func() map[string][]contentColumn {
	out := map[string][]contentColumn{}
	for table, columns := range textColumns {
		for _, name := range sortedKeys(columns) {
			if as, ok := removedAs[columns[name]]; ok {
				out[table] = append(out[table], contentColumn{Name: name, mark: as, when: holdsContent[table+"."+name]})
			}
		}
	}
	return out
}()

// contentColumn is a column, its mark as SQL over ?1, and when it holds contents.
type contentColumn struct{ Name, mark, when string }

// holds is SQL over the mark ?1 that says whether there is something to remove.
func (c contentColumn) holds() string {
	text := `coalesce(` + c.Name + `, '') NOT IN ('', ` + c.mark + `)`
	if c.when != "" {
		text += ` AND ` + c.when
	}
	return text
}

// TextColumns says of each text column, by table, whether a purge removes it, or why it is
// kept.
func TextColumns() map[string]map[string]string { return textColumns }

// ContentColumns are the columns whose text is removed, by table.
func ContentColumns() map[string][]string {
	out := map[string][]string{}
	for table, columns := range contentColumns {
		for _, c := range columns {
			out[table] = append(out[table], c.Name)
		}
	}
	return out
}
