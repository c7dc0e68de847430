package webhooks

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// toldMembers are the members of an entry that events have: ids, names, outcomes, numbers and times. Members in neither
// list are not sent either.
var toldMembers = setOf(
	// Whom and what it is about.
	"absence", "agent", "agentId", "cascaded_from", "channel", "for", "from", "grant", "group", "handover", "inviteId",
	"joined", "left", "member", "message", "note", "on_behalf_of", "response",
	"reviewers", "sessionId", "skip", "step", "stop", "substitute", "substitute_id", "to", "tokenId", "upstream", "userId",
	"vote", "votes", "webhook",
	// Names.
	"kind", "name", "on_behalf_name", "policy_rule", "scope", "template", "tool", "type", "types",
	// Outcomes and choices.
	"cause", "checked", "class", "conversation_status", "digest_seen", "from_status", "inputs", "matched_by", "new",
	"no_substitutes", "old", "on_reject", "on_reject_by", "outcome",
	"broke_glass", "reviewers_only", "risk", "role", "rows", "same_input", "self_approval", "standing", "status", "tables", "verdict", "waits",
	"when_busy", "why",
	// Numbers and times.
	"base", "before", "count", "deadline", "energy", "expires", "expiresAt", "from_at", "from_sequence", "held_until",
	"have", "http_status", "max_uses", "skipped_count", "need", "new_deadline", "number", "old_deadline",
	"missing", "paused_left", "policy_version", "removed", "seq", "sequence", "since", "until", "until_at", "uses", "version",
	// Digests of inputs.
	"digest", "edited_digest",
	// Heads of the ledger, whose hashes are of whole entries.
	"found_head", "head", "kept_head",
)

// withheldMembers are what the ledger keeps for itself. A digest of a short text reveals the text to anyone who guesses
// it, so only digests of inputs are sent. The rest is how far rows are listed, and where people and systems are.
var withheldMembers = setOf(
	"alone_digest", "answer_digest", "approvers_digest", "checklist_digest", "fixed_digest", "free_digest", "handover_note_digest",
	"remark_digest", "label_digest", "note_digest", "parent_digest",
	"proof", "quorum_digest", "reason_digest", "run_digest", "template_text_digest",
	"text_digest", "title_digest", "waits_for_digest",
	"table", "key", "done", "signed", "skipped",
	"address", "base_url", "checked_address", "dialect", "email", "host",
)

func setOf(names ...string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}

// detailsOf is what an event tells of an entry. a is the request that it is about; nil: none.
func detailsOf(e *models.Entry, a *models.Approval) (map[string]jsontext.Value, error) {
	var all map[string]jsontext.Value
	if err := json.Unmarshal([]byte(e.Data), &all); err != nil {
		return nil, fmt.Errorf("read ledger entry %d: %w", e.Seq, err)
	}
	for name, value := range all {
		// Entries that are not about a request have digests of messages, and of documents.
		if !toldMembers[name] || name == "digest" && !provesInput(a) {
			delete(all, name)
			continue
		}
		within, err := withoutDigests(value)
		if err != nil {
			return nil, fmt.Errorf("read ledger entry %d: %w", e.Seq, err)
		}
		all[name] = within
	}
	return all, nil
}

// provesInput reports whether the digest of a request proves the decided input: that of a reply is one of a message.
func provesInput(a *models.Approval) bool { return a != nil && a.Kind != models.KindReply }

// withoutDigests is a value without the digests of texts that are within it.
func withoutDigests(v jsontext.Value) (jsontext.Value, error) {
	if v.Kind() == '[' {
		var all []jsontext.Value
		if err := json.Unmarshal(v, &all); err != nil {
			return nil, err
		}
		for i := range all {
			var err error
			if all[i], err = withoutDigests(all[i]); err != nil {
				return nil, err
			}
		}
		return json.Marshal(all, jsontext.AllowInvalidUTF8(true))
	}
	if v.Kind() != '{' {
		return v, nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(v, &members); err != nil {
		return nil, err
	}
	for name, value := range members {
		if strings.HasSuffix(name, "_digest") {
			delete(members, name)
			continue
		}
		var err error
		if members[name], err = withoutDigests(value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}
