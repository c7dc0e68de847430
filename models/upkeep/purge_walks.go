package upkeep

import (
	"cmp"

	"countersign/models"
	"countersign/models/db"
)

// walk goes through a table by its key, a few rows at a time; a column says which are due. A row yields where to go on
// (two values), its key (two, the second may be empty), its conversation, when it was made, and whether it is due.
// Arguments: ?1 and ?2 where to go on, ?3 before when, ?4 the conversation, ?5 now, ?6 how many.
type walk struct {
	table  string
	row    string // key, conversation, time and whether it is due, and the table
	after  string // where to go on, for all conversations
	all    string // and the rest
	within string // where to go on in one conversation; empty: as for all
	one    string // and the rest
	where  string // the key, by ?1 and ?2
	keys   int    // how many columns the key has
	number bool   // where to go on is a number
}

func (w *walk) text(conversation models.ConversationID) string {
	if conversation == "" {
		return `SELECT ` + w.after + `, ` + w.row + w.all
	}
	return `SELECT ` + cmp.Or(w.within, w.after) + `, ` + w.row + w.one
}

// first is before all keys.
func (w *walk) first(conversation models.ConversationID) [2]any {
	if w.number || conversation != "" && w.within != "" {
		return [2]any{-1, nil}
	}
	if conversation != "" && w.keys == 2 {
		return [2]any{string(conversation), nil}
	}
	return [2]any{"", nil}
}

// due is whether one row is due now.
func (w *walk) due() string { return `SELECT due FROM (SELECT ` + w.row + ` WHERE ` + w.where + `)` }

const (
	// The built-in agent is not at work, nor about to be, in the conversation x.
	agentRests = `NOT EXISTS (SELECT 1 FROM agent_inbox i WHERE i.conversation_id = x.conversation_id AND (i.ready_at IS NOT NULL OR i.leased_until IS NOT NULL))`
	nonePends  = `NOT EXISTS (SELECT 1 FROM responses p` + db.ByResponsesPendingConversation +
		` WHERE p.conversation_id = x.conversation_id AND p.approval_status = 'pending')`

	// Requests that still matter stay: pending or held ones, decisions that another system does not have yet, calls
	// under way that may yet be asked about, and the call that a pending request of another system is linked to. So do
	// the words around a pending request: its reviewers read them.
	responseOver = `x.approval_status IS NOT 'pending' AND (x.kind <> 'reply' OR ` + nonePends + `)
 AND (x.approval_status IS NOT NULL OR x.cause <> '' OR x.kind = 'reply' OR x.is_completed
  OR (SELECT c.status IN ('completed', 'failed') OR c.updated_at < ?3 FROM conversations c WHERE c.id = x.conversation_id))
 AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.response_id = x.id AND d.done_at IS NULL)
 AND NOT EXISTS (SELECT 1 FROM outside_approvals o` + db.ByOutsideApprovalsLinked + ` CROSS JOIN responses a ON a.id = o.response_id
  WHERE o.linked_id = x.id AND o.linked_id <> '' AND a.approval_status = 'pending') AND ` + agentRests
	// A result may come when the rest is removed already.
	responseDue = `coalesce(x.approval_timestamp, x.created_at) < ?3 AND (x.completed_at IS NULL OR x.completed_at < ?3)
 AND (x.removed IS NULL OR x.tool_result NOT IN ('', x.removed) OR x.contradiction NOT IN ('', x.removed)) AND ` + responseOver
)

var purgeWalks = []walk{
	{
		table: "responses", keys: 1, number: true, where: `x.id = ?1`,
		after: `x.number, ''`, within: `x.sequence, ''`,
		row: `x.id, '', x.conversation_id, x.created_at AS at, ` + responseDue + ` AS due FROM responses x`,
		all: ` WHERE x.number > ?1 ORDER BY x.number LIMIT ?6`,
		one: ` WHERE x.conversation_id = ?4 AND x.sequence > ?1 ORDER BY x.sequence LIMIT ?6`,
	},
	{
		table: "messages", keys: 1, where: `x.id = ?1`,
		after: `x.id, ''`, within: `x.sequence, ''`,
		row: `x.id, '', x.conversation_id, x.created_at AS at, x.created_at < ?3 AND x.removed IS NULL AND ` + agentRests +
			` AND ` + nonePends + ` AS due FROM messages x`,
		all: ` WHERE x.id > ?1 ORDER BY x.id LIMIT ?6`,
		one: ` WHERE x.conversation_id = ?4 AND x.sequence > ?1 ORDER BY x.sequence LIMIT ?6`,
	},
	{
		table: "turns", keys: 2, where: `x.conversation_id = ?1 AND x.sequence = ?2`,
		after: `x.conversation_id, x.sequence`,
		row: `x.conversation_id, x.sequence, x.conversation_id, x.at AS at,
 x.at < ?3 AND x.removed IS NULL AND ` + agentRests + ` AND ` + nonePends + ` AS due FROM turns x`,
		all: ` WHERE (x.conversation_id, x.sequence) > (?1, ?2) ORDER BY x.conversation_id, x.sequence LIMIT ?6`,
		one: ` WHERE x.conversation_id = ?4 AND x.sequence > coalesce(?2, -1) ORDER BY x.sequence LIMIT ?6`,
	},
	{
		table: "budget_steps", keys: 2, where: `x.conversation_id = ?1 AND x.sequence = ?2`,
		after: `x.conversation_id, x.sequence`,
		row: `x.conversation_id, x.sequence, x.conversation_id, x.at AS at,
 x.at < ?3 AND x.removed IS NULL AND x.reason <> '' AS due FROM budget_steps x`,
		all: ` WHERE (x.conversation_id, x.sequence) > (?1, ?2) ORDER BY x.conversation_id, x.sequence LIMIT ?6`,
		one: ` WHERE x.conversation_id = ?4 AND x.sequence > coalesce(?2, -1) ORDER BY x.sequence LIMIT ?6`,
	},
	{
		table: "early_results", keys: 2, where: `x.conversation_id = ?1 AND x.tool_use_id = ?2`,
		after: `x.conversation_id, x.tool_use_id`,
		row: `x.conversation_id, x.tool_use_id, x.conversation_id, x.at AS at,
 x.at < ?3 AND x.removed IS NULL AND x.result <> '' AS due FROM early_results x`,
		all: ` WHERE (x.conversation_id, x.tool_use_id) > (?1, ?2) ORDER BY x.conversation_id, x.tool_use_id LIMIT ?6`,
		one: ` WHERE x.conversation_id = ?4 AND x.tool_use_id > coalesce(?2, '') ORDER BY x.tool_use_id LIMIT ?6`,
	},
	{
		// Those that found their request go with it. One that never did belongs to no
		// conversation, and is over when its time is up; without a time, after a day.
		table: "outside_approvals", keys: 1, number: true, where: `x.number = ?1`,
		after: `x.number, ''`,
		row: `x.number, '', coalesce((SELECT r.conversation_id FROM responses r WHERE r.id = x.response_id), '') AS conversation,
 x.first_at AS at, x.first_at < ?3 AND x.raw IS NOT ` + db.JSONObject(`'removed'`, `x.removed`) + ` AND CASE WHEN x.response_id = ''
 THEN coalesce(x.timeout_at, ` + db.DayAfter(`x.first_at`) + `) < ` + db.Lesser(`?3`, `?5`) + `
 ELSE EXISTS (SELECT 1 FROM responses r WHERE r.id = x.response_id AND r.removed IS NOT NULL) END AS due FROM outside_approvals x`,
		all: ` WHERE x.number > ?1 ORDER BY x.number LIMIT ?6`,
		one: ` WHERE x.number > ?1 AND FALSE AND ?4 = '' LIMIT ?6`,
	},
	{
		table: "grants", keys: 1, where: `x.id = ?1`,
		after: `x.id, ''`,
		row: `x.id, '', coalesce((SELECT r.conversation_id FROM responses r WHERE r.id = x.made_from), '') AS conversation_id, x.created_at AS at,
 coalesce(x.revoked_at, CASE WHEN x.uses >= x.max_uses THEN x.used_at END, x.expires_at) < ?3 AND x.expires_at IS NOT NULL AND x.removed IS NULL AS due FROM grants x`,
		all: ` WHERE x.id > ?1 ORDER BY x.id LIMIT ?6`,
		one: ` WHERE x.id > ?1 AND EXISTS (SELECT 1 FROM responses r WHERE r.id = x.made_from AND r.conversation_id = ?4) ORDER BY x.id LIMIT ?6`,
	},
	{
		table: "conversations", keys: 1, where: `x.id = ?1`,
		after: `x.id, ''`,
		row: `x.id, '', x.id AS conversation_id, x.created_at AS at, x.updated_at < ?3 AND x.title NOT IN ('', coalesce(x.removed, ''))
 AND NOT EXISTS (SELECT 1 FROM agent_inbox i WHERE i.conversation_id = x.id AND (i.ready_at IS NOT NULL OR i.leased_until IS NOT NULL))
 AND NOT EXISTS (SELECT 1 FROM responses p` + db.ByResponsesPendingConversation + ` WHERE p.conversation_id = x.id AND p.approval_status = 'pending') AS due FROM conversations x`,
		all: ` WHERE x.id > ?1 ORDER BY x.id LIMIT ?6`,
		one: ` WHERE x.id = ?4 AND x.id > ?1 ORDER BY x.id LIMIT ?6`,
	},
}
