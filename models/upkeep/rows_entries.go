package upkeep

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
	"countersign/models/db"
)

// entryData is every member that an entry may have and that says something about
// a row.
type entryData struct {
	Kind      string         `json:"kind"`
	Tool      string         `json:"tool"`
	Sequence  *int64         `json:"sequence"`
	Digest    string         `json:"digest"`
	Risk      string         `json:"risk"`
	Status    string         `json:"status"`
	Cause     string         `json:"cause"`
	Version   int64          `json:"policy_version"`
	Rule      string         `json:"policy_rule"`
	Deadline  string         `json:"deadline"`
	Energy    int64          `json:"energy"`
	Grant     *string        `json:"grant"`
	Reviewers []string       `json:"reviewers"`
	Row       string         `json:"row_digest"`
	Reason    string         `json:"reason_digest"`
	Verdict   string         `json:"verdict"`
	Edited    *string        `json:"edited_digest"`
	Answer    string         `json:"answer_digest"`
	Seen      bool           `json:"digest_seen"`
	Vote      string         `json:"vote"`
	Until     string         `json:"held_until"`
	Cascaded  *string        `json:"cascaded_from"`
	Moved     string         `json:"new_deadline"`
	Left      *int64         `json:"paused_left"`
	Note      string         `json:"note"`
	Number    int64          `json:"number"`
	Text      string         `json:"text_digest"`
	Old       jsontext.Value `json:"old"`
	New       jsontext.Value `json:"new"`
	Response  *string        `json:"response"`
	Standing  bool           `json:"standing"`
	OnReject  string         `json:"on_reject"`
	ChosenBy  *string        `json:"on_reject_by"`
	Run       string         `json:"run_digest"`
	Parent    string         `json:"parent_digest"`
	Title     string         `json:"title_digest"`
	Message   string         `json:"message"`

	ReviewersOnly bool     `json:"reviewers_only"`
	SelfApproval  string   `json:"self_approval"`
	Approvers     string   `json:"approvers_digest"`
	WaitsFor      string   `json:"waits_for_digest"`
	Template      string   `json:"template"`
	Checklist     string   `json:"checklist_digest"`
	TemplateText  string   `json:"template_text_digest"`
	Ticked        []int    `json:"checked"`
	Ends          string   `json:"until"`
	Joined        string   `json:"joined"`
	Step          int64    `json:"step"`
	Behalf        string   `json:"on_behalf_of"`
	ForName       string   `json:"on_behalf_name"`
	HandOver      string   `json:"handover"`
	To            string   `json:"to"`
	HandOverNote  string   `json:"handover_note_digest"`
	Substitute    string   `json:"substitute"`
	Absence       string   `json:"absence"`
	FromAt        string   `json:"from_at"`
	UntilAt       string   `json:"until_at"`
	SubstituteID  string   `json:"substitute_id"`
	NoSubstitutes bool     `json:"no_substitutes"`
	Gone          []string `json:"left"`
	Group         string   `json:"group"`
	Member        string   `json:"member"`
	Channel       string   `json:"channel"`
	Webhook       string   `json:"webhook"`
	Types         []string `json:"types"`
	Inputs        bool     `json:"inputs"`
	Why           string   `json:"why"`
	Skip          string   `json:"skip"`
	Seq           int64    `json:"seq"`
	Type          string   `json:"type"`
	Class         string   `json:"class"`
	HTTPStatus    int64    `json:"http_status"`
	Label         *string  `json:"label_digest"`
	Target        string   `json:"target_digest"`
	Settings      string   `json:"settings_digest"`
	Stop          string   `json:"stop"`
	Host          string   `json:"host"`

	UserID    string     `json:"userId"`
	Email     string     `json:"email"`
	Name      string     `json:"name"`
	Role      string     `json:"role"`
	Password  string     `json:"password_digest"`
	TokenID   string     `json:"tokenId"`
	Scope     string     `json:"scope"`
	AgentID   *string    `json:"agentId"`
	ExpiresAt *time.Time `json:"expiresAt"`
	Secret    string     `json:"secret_digest"`
	PolicyRow int64      `json:"version"`
	NoteText  *string    `json:"note_digest"`
	InviteID  string     `json:"inviteId"`
	SessionID string     `json:"sessionId"`
	Address   string     `json:"address"`
	Upstream  string     `json:"upstream"`
	BaseURL   string     `json:"base_url"`
	Dialect   string     `json:"dialect"`
	Agent     string     `json:"agent"`
	Key       string     `json:"key_digest"`
	Checked   bool       `json:"checked_address"`
	Fixed     string     `json:"fixed_digest"`
	Free      string     `json:"free_digest"`
	Expires   string     `json:"expires"`
	MaxUses   int64      `json:"max_uses"`

	Removed string       `json:"removed"`
	Rows    []removedRow `json:"rows"`
}

type entryCheck = func(c *rowCheck, e *models.Entry, d *entryData, with *entryRows) error

// entryChecks is what each action says about rows. An action that is not here says
// nothing that a row repeats.
var entryChecks = map[string]entryCheck{
	"approval.requested":   firstEntryCheck,
	"approval.let_through": firstEntryCheck,
	"approval.ran":         firstEntryCheck,
	"response.added":       firstEntryCheck,
	"approval.rejected":    rejectedCheck,
	"approval.approved":    outcomeCheck,
	"approval.expired":     outcomeCheck,
	"approval.cancelled":   outcomeCheck,
	"approval.resolved":    outcomeCheck,
	"approval.voted":       votedCheck,
	"approval.taken_back":  undoneCheck,
	"approval.refused":     undoneCheck,
	"approval.withdrawn":   undoneCheck,
	"approval.extended":    extendedCheck,
	"approval.asked_back":  noteCheck,
	"approval.note_added":  noteCheck,
	"approval.escalated":   escalatedCheck,
	"approval.routed":      routedCheck,

	"approval.escalated_by_rule":    steppedCheck,
	"approval.handed_over":          handedCheck,
	"approval.hand_over_taken_back": handedCheck,
	"absence.planned":               absenceCheck,
	"absence.begun":                 absenceCheck,
	"absence.ended":                 absenceCheck,
	"substitute.asked":              substituteCheck,
	"substitute.accepted":           substituteCheck,
	"substitute.removed":            substituteCheck,

	"response.adopted": adoptedCheck,

	"user.added":                userAddedCheck,
	"user.password_changed":     userCheck,
	"user.role_changed":         userCheck,
	"user.disabled":             userCheck,
	"user.enabled":              userCheck,
	"token.added":               tokenCheck,
	"token.revoked":             tokenCheck,
	"agent.registered":          agentCheck,
	"agents.stopped":            stopCheck,
	"agents.resumed":            stopCheck,
	"policy.changed":            policyCheck,
	"invite.made":               inviteCheck,
	"invite.withdrawn":          inviteCheck,
	"invite.used":               inviteCheck,
	"session.opened":            sessionCheck,
	"session.closed":            sessionCheck,
	"upstream.added":            upstreamCheck,
	"upstream.key_changed":      upstreamCheck,
	"upstream.enabled":          upstreamCheck,
	"upstream.disabled":         upstreamCheck,
	"channel.added":             channelCheck,
	"channel.verified":          channelCheck,
	"channel.disabled":          channelCheck,
	"channel.removed":           channelCheck,
	"webhook.added":             webhookCheck,
	"webhook.changed":           webhookCheck,
	"webhook.key_rotated":       webhookCheck,
	"webhook.key_retired":       webhookCheck,
	"webhook.paused":            webhookCheck,
	"webhook.resumed":           webhookCheck,
	"webhook.removed":           webhookCheck,
	"webhook.skipped":           skipCheck,
	"notifications.changed":     settingsCheck,
	"notification_host.allowed": hostCheck,
	"notification_host.removed": hostCheck,
	"group.added":               groupCheck,
	"group.described":           groupCheck,
	"group.removed":             groupCheck,
	"group.joined":              memberCheck,
	"group.left":                memberCheck,
	"grant.made":                grantMadeCheck,
	"grant.revoked":             grantRevokedCheck,

	"conversation.opened":     openedCheck,
	"conversation.status":     conversationCheck,
	"conversation.renamed":    conversationCheck,
	"conversation.described":  conversationCheck,
	"conversation.paused":     conversationCheck,
	"conversation.resumed":    conversationCheck,
	"conversation.archived":   conversationCheck,
	"conversation.unarchived": conversationCheck,
	"conversation.budget":     budgetCheck,
	"message.added":           messageCheck,
	"agent.allowance":         allowanceCheck,
	"contents.removed":        removedCheck,
}

// What entries of an older program do not prove.
const (
	oldAsk     = "requests: description, context, options, reviewers and ids of the call"
	oldOutcome = "outcomes without a person: their text"
	oldHeld    = "held approvals: undo window and budget"
	oldOpened  = "conversations: agent, run, title and what follows a rejection"
	oldSecret  = "secrets: hashes of passwords, tokens, sessions, invitations and keys"
	oldPolicy  = "policies: note"
	oldBudget  = "budget changes: sequence"
	cutInput   = "requests: input that is kept cut, or asked by another system"
)

func boolText(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}

func orNull(s string) string {
	if s == "" {
		return null
	}
	return s
}

func orNullOf(s *string) string {
	if s == nil {
		return null
	}
	return *s
}

func orForEver(deadline string) string {
	if deadline == "" {
		return models.NoDeadline.Format(db.TimeFormat)
	}
	return deadline
}
