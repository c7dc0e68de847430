package proof

import "countersign/models/db"

// routedTo is to whom a request was routed: rows of another table that are part of its digest.
var routedTo = `(SELECT ` + db.Joined(`user_id`) +
	` FROM (SELECT user_id FROM reviewers WHERE response_id = r.id ORDER BY user_id))`

// tables is the declaration: each table of the database, its unproved columns with the reason, and the texts that a
// purge removes or why it keeps them.
var tables = map[string]*table{
	// Requests, votes, and their notes.
	"responses": {
		more: map[string]string{"reviewers": routedTo},
		not: reasons{
			shortcut: "escalated_at",
			"what reports and other systems said against the row, for people to see": "contradiction",
		},
		removed: map[mark]string{
			markText:   "approval_feedback description context content answer contradiction tool_result preview headline",
			markObject: "tool_input_json client_data", markOptions: "options",
		},
		kept: map[reason]string{
			anID:  "id conversation_id owner_id agent_id tool_use_id job_id call_id upstream_id approval_id batch_id parent_tool_use_id open_note decided_by vote_id grant_id cascaded_from outside_run",
			aName: "policy_rule model_used tool_name template", aDigest: "digest", theMark: "removed", whoMay: "approvers quorum",
			ruleWords: "policy_reason checklist template_text",
			ourWord:   "kind risk approval_status cause self_approval closed matched_by protocol when_busy",
		},
	},
	"votes": {
		removed: map[mark]string{markText: "reason answer option remark", markObject: "input"},
		kept: map[reason]string{
			anID: "id response_id user_id behalf_of replaced_by acknowledged_by", aName: "user_name behalf_name acknowledged_name", aDigest: "digest seen_digest input_digest",
			ourWord: "verdict checked", whoMay: "waits_for skipped",
		},
	},
	"notes": {
		removed: map[mark]string{markText: "content"},
		kept:    map[reason]string{anID: "id response_id author_id", aName: "author_name", ourWord: "author_kind"},
	},
	"withdrawals": {
		not:     reasons{"why a decision was undone; its entry has a digest of what was said": "*"},
		removed: map[mark]string{markText: "said"},
		kept:    map[reason]string{anID: "vote_id response_id", aName: "by_name", ourWord: "kind"},
	},
	"handovers": {
		removed: map[mark]string{markText: "note"},
		kept:    map[reason]string{anID: "id response_id from_user to_user"},
	},
	"reviewers": {
		follows: reasons{"to whom a request was routed is part of its digest": "user_id response_id number"},
		not:     reasons{shortcut: "tool_use_id settled_at for_others"},
		kept:    map[reason]string{anID: "user_id response_id tool_use_id"},
	},
	"deciders": {
		follows: reasons{"from requests that wait, and their reviewers": "*"},
		kept:    map[reason]string{anID: "user_id response_id"},
	},
	"escalations": {
		not:  reasons{"when further people are asked, as the frozen rule of the request says": "*"},
		kept: map[reason]string{anID: "response_id"},
	},
	"opened_parts":   {not: reasons{bookkeep: "*"}, kept: map[reason]string{anID: "user_id response_id", ourWord: "part"}},
	"seen":           {not: reasons{bookkeep: "*"}, kept: map[reason]string{anID: "user_id response_id"}},
	"given_answers":  {not: reasons{bookkeep: "*"}, kept: map[reason]string{anID: "response_id taker"}},
	"told_headlines": {not: reasons{bookkeep: "*"}, kept: map[reason]string{anID: "response_id"}},
	"desk_active":    {not: reasons{bookkeep: "*"}, kept: map[reason]string{anID: "user_id"}},

	// The policy, and what people approved ahead.
	"policies": {
		key: "version", kept: map[reason]string{anID: "author_id", aName: "author_name", aSetting: "document note", whoMay: "signed"},
	},
	"policy_proposals": {
		kept: map[reason]string{
			anID: "by_id alone_by", aName: "by_name alone_name ended_name", aSetting: "document note alone_reason ended_text",
			aDigest: "digest", whoMay: "signed", ourWord: "outcome",
		},
	},
	"policy_drafts": {
		not:  reasons{"what an admin is writing, which has no effect": "*"},
		kept: map[reason]string{anID: "user_id", aSetting: "document previous"},
	},
	"floods": {
		not:  reasons{"which agents the inbox shows in one line, which decides nothing": "*"},
		kept: map[reason]string{anID: "agent_id"},
	},
	"dismissed_suggestions": {
		not:  reasons{"what an admin does not want to have suggested, which decides nothing": "*"},
		kept: map[reason]string{anID: "by_id", aName: "by_name", aSetting: "note", aDigest: "key"},
	},
	"saved_views": {
		not:  reasons{"how a person likes to see a list, which decides nothing": "*"},
		kept: map[reason]string{anID: "user_id", ourWord: "list", aName: "name", aSetting: "query"},
	},
	"grants": {
		removed: map[mark]string{markObject: "fixed", markList: "free"},
		kept: map[reason]string{
			anID: "id owner_id agent_id made_by made_from revoked_by", aName: "tool_name maker_name revoker_name",
			theMark: "removed",
		},
	},

	// Conversations and their spending.
	"conversations": {
		not: reasons{
			shortcut: "budget_added budget_refused", bookkeep: "next_sequence updated_at active_at waits_for_request",
			"set aside for one model call, and freed with it": "energy_reserved",
		},
		follows: reasons{"from what responses and model calls have spent": "energy_used"},
		removed: map[mark]string{markText: "title"},
		kept: map[reason]string{
			anID: "id owner_id agent_id run_id parent_run_id budget_refused", ourWord: "status on_reject on_reject_by",
			theMark: "removed",
		},
	},
	"messages": {
		removed: map[mark]string{markText: "content"},
		kept: map[reason]string{
			anID: "id conversation_id author_id response_id", aName: "author_name", ourWord: "author_kind", theMark: "removed",
		},
	},
	"budget_steps": {
		key:     "conversation_id sequence",
		removed: map[mark]string{markText: "reason"},
		kept: map[reason]string{
			anID: "conversation_id actor_id response_id", aName: "actor_name", ourWord: "actor_kind", theMark: "removed",
		},
	},
	"agent_allowances": { // one of nothing allows nothing: the rejection behind it has its entry
		key: "agent_id response_id", only: "r.energy > 0", kept: map[reason]string{anID: "agent_id response_id"}},
	"agent_energy": {
		not:  reasons{"sums of what was spent since the policy limits agents; doctor adds them up": "*"},
		kept: map[reason]string{anID: "agent_id"},
	},
	"agent_windows": {
		not: reasons{"sums of agent_energy; doctor adds them up": "*"}, kept: map[reason]string{anID: "agent_id"},
	},
	"insights": {
		not:  reasons{"sums of responses; doctor adds them up": "*"},
		kept: map[reason]string{anID: "about", ourWord: "span", aSetting: "zone", ofSums: "figures waiting"},
	},
	"agent_inbox": {not: reasons{bookkeep: "*"}, kept: map[reason]string{anID: "conversation_id", ofNow: "holder"}},
	"turns": {
		follows: reasons{"from what its conversation has spent": "conversation_id energy"},
		not: reasons{
			bookkeep: "sequence at model prompt_tokens completion_tokens", "as the row that it refers to": "removed",
			"what the built-in agent's model said; what came of it are responses": "said",
		},
		removed: map[mark]string{markTurn: "said"},
		kept:    map[reason]string{anID: "conversation_id", aName: "model", theMark: "removed"},
	},
	"run_events": {not: reasons{reported: "*"}, kept: map[reason]string{anID: "conversation_id key response_id"}},
	"early_results": {
		not:     reasons{reported: "*"},
		removed: map[mark]string{markText: "result"},
		kept:    map[reason]string{anID: "conversation_id tool_use_id", theMark: "removed"},
	},

	// Who may sign in, ask and act for others.
	"users": {kept: map[reason]string{anID: "id", aName: "name", whoMay: "email role password_hash"}},
	"tokens": {
		not:  reasons{bookkeep: "last_used_at"},
		kept: map[reason]string{anID: "id user_id agent_id", aName: "name", whoMay: "hint scope"},
	},
	"invites": {kept: map[reason]string{anID: "id invited_by", aName: "inviter_name", whoMay: "email role"}},
	"web_sessions": {
		not:    reasons{bookkeep: "last_seen_at user_agent"},
		vanish: "sessions are dropped when they have ended",
		kept:   map[reason]string{anID: "id user_id", whoMay: "address user_agent"},
	},
	"setup_links":     {not: reasons{"works only while there is no user": "*"}},
	"signin_failures": {not: reasons{bookkeep: "*"}, kept: map[reason]string{whoMay: "account address"}},
	"known_devices":   {not: reasons{bookkeep: "*"}, kept: map[reason]string{anID: "user_id"}},
	"agents":          {kept: map[reason]string{anID: "id owner_id", aName: "name"}},
	"stops": {kept: map[reason]string{
		anID: "id agent_id by_id lifted_id", aName: "by_name lifted_name", aSetting: "note lifted_note",
	}},
	"groups":        {kept: map[reason]string{anID: "id", aName: "name", aSetting: "note"}},
	"group_members": {kept: map[reason]string{anID: "id group_id user_id"}},
	"absences":      {kept: map[reason]string{anID: "id user_id substitute_id created_by"}},
	"substitutes":   {kept: map[reason]string{anID: "id user_id substitute_id asked_by accepted_by"}},

	// How people and other programs are told.
	"channels": {
		not: reasons{bookkeep: "session_id address_digest code_sealed code_expires code_tries told_at failing_since last_sent_at last_class last_status failures first_failure"},
		kept: map[reason]string{
			anID: "id user_id group_id session_id", aDigest: "address_digest", ourWord: "kind", ofNow: "last_class",
			whoMay: "label",
		},
	},
	"notification_settings": {
		key: "user_id", kept: map[reason]string{anID: "user_id", aSetting: "moments digest_at quiet_from quiet_to zone"},
	},
	"notification_hosts": {key: "host", kept: map[reason]string{anID: "added_by", aName: "by_name", aSetting: "host"}},
	"notification_codes": {
		not:  reasons{"counts what was sent, for an hour": "*"},
		kept: map[reason]string{anID: "id user_id", aDigest: "address_digest"},
	},
	"notices": {
		not:  reasons{"who is to be told of what waits, which decides nothing": "*"},
		kept: map[reason]string{anID: "response_id recipient", ourWord: "moment"},
	},
	"notice_sends": {
		not:  reasons{"messages on their way, which decide nothing": "*"},
		kept: map[reason]string{anID: "id channel_id response_id about", ourWord: "kind"},
	},
	"notified": {not: reasons{bookkeep: "*"}, kept: map[reason]string{anID: "response_id channel_id"}},
	"webhooks": {
		not: reasons{bookkeep: "cursor paused_class old_key_until last_accepted_at position answers"},
		kept: map[reason]string{
			anID: "id owner_id", aName: "name paused_by", aSetting: "label types", ourWord: "paused_why", ofNow: "paused_class",
		},
	},
	"webhook_skipped": {kept: map[reason]string{
		anID: "id webhook_id by_id", aName: "by_name", aSetting: "reason", ourWord: "type class",
	}},
	"webhook_blocks": {
		not:  reasons{bookkeep: "*"},
		kept: map[reason]string{anID: "webhook_id stream conversation_id response_id", ourWord: "type", ofNow: "class"},
	},
	"webhook_answers": {
		not:  reasons{"what endpoints answered last, which decides nothing": "*"},
		kept: map[reason]string{anID: "webhook_id", ourWord: "type class"},
	},

	// Other systems whose approvals are decided here.
	"upstreams": {
		not:  reasons{bookkeep: "paused_at next_poll_at polled_at succeeded_at failures problem"},
		kept: map[reason]string{anID: "id owner_id agent_id", aName: "name", aSetting: "base_url dialect", ofNow: "problem"},
	},
	"outside_approvals": {
		not:     reasons{"as another system sent it; what came of it are responses": "*"},
		removed: map[mark]string{markObject: "arguments raw", markText: "beside"},
		kept: map[reason]string{
			anID: "upstream_id call_id run_id response_id tool_use_id linked_id", aName: "name", aDigest: "digest",
			ourWord: "kind linked_by", theMark: "removed",
		},
	},
	"deliveries": {
		not:     reasons{"how telling another system goes; what is told is a vote": "*"},
		removed: map[mark]string{markText: "problem"},
		kept:    map[reason]string{anID: "response_id upstream_id vote_id", ourWord: "outcome"},
	},

	// The ledger, and the installation itself.
	"ledger": {
		follows: reasons{"the chain and its head are verified as a whole": "*"},
		kept: map[reason]string{
			anID: "actor_id owner_id conversation_id response_id", aName: "actor_name", ourWord: "at actor_kind action",
			"digests and outcomes, never inputs": "data",
		},
	},
	"ledger_head": {follows: reasons{"the chain and its head are verified as a whole": "*"}},
	"ledger_keys": {follows: reasons{"from the entries": "*"}, kept: map[reason]string{anID: "key"}},
	"ledger_readers": {
		follows: reasons{"from the reviewers of the entry's request": "*"}, kept: map[reason]string{anID: "reader_id"},
	},
	"row_checks":       {not: reasons{bookkeep: "*"}, kept: map[reason]string{ofNow: "last_problem"}},
	"position_key":     {not: reasons{bookkeep: "*"}},
	"leases":           {not: reasons{bookkeep: "*"}, kept: map[reason]string{ofNow: "name holder"}},
	"moves":            {not: reasons{bookkeep: "*"}, kept: map[reason]string{ofNow: "place head"}},
	"nodes":            {not: reasons{bookkeep: "*"}, kept: map[reason]string{anID: "id", aName: "name", ourWord: "version"}},
	"presences":        {not: reasons{bookkeep: "*"}, kept: map[reason]string{anID: "response_id node_id", ofNow: "ways"}},
	"rates":            {not: reasons{bookkeep: "*"}, kept: map[reason]string{anID: "client", ourWord: "kind"}},
	"signin_lots":      {not: reasons{bookkeep: "*"}, kept: map[reason]string{ofNow: "account address"}},
	"key_checks":       {not: reasons{bookkeep: "*"}, kept: map[reason]string{ourWord: "file"}},
	"schema_use":       {not: reasons{bookkeep: "*"}, kept: map[reason]string{ourWord: "program"}},
	"goose_db_version": {follows: reasons{"the schema itself is compared": "*"}},
}
