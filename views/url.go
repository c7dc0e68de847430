package views

import (
	"net/url"
	"strconv"
	"strings"

	"countersign/models"
)

// SetupURL is the one-time form that makes the first user; key is the secret of
// the setup link.
func SetupURL(key string) string { return with("/setup", "key", key) }

// SignInURL is the sign-in form; next is the path to go on to, or empty.
func SignInURL(next string) string { return with("/signin", "next", next) }

// SignOutURL takes a POST that ends the session.
func SignOutURL() string { return "/signout" }

// WorkerURL is the service worker, whose place says that it is for all pages.
func WorkerURL() string { return "/sw.js" }

// OfflineURL is the page that is shown where there is no network.
func OfflineURL() string { return "/offline" }

// PasswordURL is the form that changes one's own password.
func PasswordURL() string { return "/account/password" }

// InboxURL is the page of the reader's pending requests.
func InboxURL() string { return "/" }

// MoreURL lists the places that a phone's bar has no room for.
func MoreURL() string { return "/more" }

// InboxPageURL is the inbox of one conversation (empty: all), going on after a
// page's key (empty: from the start).
func InboxPageURL(conversation models.ConversationID, after string) string {
	return with("/", "conversation", string(conversation), "after", after)
}

// TeachTokenURL takes a POST that makes an agent token for the empty inbox's
// example.
func TeachTokenURL() string { return "/inbox/token" }

// ApprovalURL shows one request.
func ApprovalURL(id models.ResponseID) string { return "/approvals/" + url.PathEscape(string(id)) }

// InputURL is a request's input as it was sent, as a file.
func InputURL(id models.ResponseID) string { return ApprovalURL(id) + "/input" }

// HashedURL is a request in the form that its digest is made over, as a file.
func HashedURL(id models.ResponseID) string { return InputURL(id) + "?form=hashed" }

// PresenceURL answers with whether the agent of a request waits for it.
func PresenceURL(id models.ResponseID) string { return ApprovalURL(id) + "/presence" }

// DecideURL takes the POST of a verdict.
func DecideURL(id models.ResponseID) string { return ApprovalURL(id) + "/decide" }

// AuditURL shows the reader's own audit trail.
func AuditURL() string { return "/audit" }

// AcknowledgeURL takes that somebody has looked at a decision that broke glass.
func AcknowledgeURL() string { return "/audit/acknowledge" }

// PolicyURL shows, and for admins changes, what needs approval.
func PolicyURL() string { return "/policy" }

// PolicySettingsURL shows, and for admins changes, all of the policy but its rules and templates.
func PolicySettingsURL() string { return "/policy/settings" }

// PolicyTemplatesURL lists the templates.
func PolicyTemplatesURL() string { return "/policy/templates" }

// PolicyVersionsURL lists the versions before one; 0: the newest.
func PolicyVersionsURL(before int64) string {
	if before == 0 {
		return "/policy/versions"
	}
	return "/policy/versions?before=" + strconv.FormatInt(before, 10)
}

// RulesOnAPage is how many rules of a draft are on one page.
const RulesOnAPage = 100

// PolicyRulesURL shows a page of the rules of a draft, counted from 1.
func PolicyRulesURL(page int) string {
	if page <= 1 {
		return PolicyURL() + "#rules-title"
	}
	return PolicyURL() + "?rules=" + strconv.Itoa(page) + "#rules-title"
}

// PolicyRuleRowURL leads to a rule in the list, counted from 1.
func PolicyRuleRowURL(n int) string {
	page, _, _ := strings.Cut(PolicyRulesURL((n-1)/RulesOnAPage+1), "#")
	return page + "#rule-" + strconv.Itoa(n)
}

// PolicyGuideURL explains the policy document.
func PolicyGuideURL() string { return "/policy/guide" }

// PolicyReviewURL shows what an admin's draft of the policy would change.
func PolicyReviewURL() string { return "/policy/review" }

// PolicyProposalURL shows the change of the policy that waits for admins to agree.
func PolicyProposalURL() string { return "/policy/proposal" }

// TryPolicyURL says what the policy would do with a call; from names a request that is
// tried.
func TryPolicyURL(from models.ResponseID) string { return with("/policy/try", "from", string(from)) }

// CancelRetentionURL takes the form that cancels a retention that has not begun.
func CancelRetentionURL() string { return "/policy/retention/cancel" }

// ReplayPolicyURL says what the draft would have made of real calls.
func ReplayPolicyURL() string { return "/policy/replay" }

// SuggestionsURL lists the rules that past decisions suggest.
func SuggestionsURL() string { return "/policy/suggestions" }

// ReplayExportURL is a file of what a replay found: csv or jsonl.
func ReplayExportURL(format string) string { return with("/policy/replay/export", "format", format) }

// PolicyJSONURL shows the draft as JSON.
func PolicyJSONURL() string { return "/policy/json" }

// RuleConditionURL draws the condition of a rule again while it is written: its rows, or what real calls say of it.
func RuleConditionURL(part string) string { return with("/policy/rules/condition", "part", part) }

// PolicyRuleURL is the form of one rule of the draft, counted from 1.
func PolicyRuleURL(n int) string { return "/policy/rules/" + strconv.Itoa(n) }

// ToolMatchesURL says which tools the tools of a rule match, while they are typed.
func ToolMatchesURL() string { return "/policy/rules/matches" }

// PolicyTemplateURL is the form of one template of the draft, counted from 1.
func PolicyTemplateURL(n int) string { return "/policy/templates/" + strconv.Itoa(n) }

// NewPolicyTemplateURL is the form of a new template.
func NewPolicyTemplateURL() string { return "/policy/templates/new" }

// NewPolicyRuleURL is the form of a new rule; from names a request that fills it in.
func NewPolicyRuleURL(from models.ResponseID) string {
	if from == "" {
		return "/policy/rules/new"
	}
	return with("/policy/rules/new", "from", string(from))
}

// PolicyCompareURL shows what changed from one version of the policy to another.
func PolicyCompareURL(version, before int64) string {
	return with(PolicyVersionURL(version), "before", strconv.FormatInt(before, 10))
}

// RestorePolicyURL takes the POST that makes an old version the draft.
func RestorePolicyURL(version int64) string { return PolicyVersionURL(version) + "/restore" }

// PolicyVersionURL shows one version of the policy document.
func PolicyVersionURL(version int64) string {
	return "/policy/versions/" + strconv.FormatInt(version, 10)
}

// DocsURL describes the JSON surfaces, without sign-in.
func DocsURL() string { return "/docs" }

// WebhookGuideURL explains webhooks to those who write a receiver, without sign-in.
func WebhookGuideURL() string { return DocsURL() + "/webhooks" }

// OpenAPIURL is the document that DocsURL is made from.
func OpenAPIURL() string { return "/openapi.json" }

// EventsURL is the stream that tells a page which topics changed: the reader's
// own, and those of the requests named.
func EventsURL(watch ...models.ResponseID) string {
	var pairs []string
	for _, id := range watch {
		pairs = append(pairs, "approval", string(id))
	}
	return with("/events", pairs...)
}

// InboxTopic is the event sent when the inbox changed.
func InboxTopic() string { return "inbox" }

// ApprovalTopic is the event sent when one approval changed.
func ApprovalTopic(id models.ResponseID) string { return "approval:" + string(id) }

// PresenceTopic is the event sent when the agent of an approval began or ceased
// to wait for it.
func PresenceTopic(id models.ResponseID) string { return "presence:" + string(id) }

// PolicyTopic is the event sent when the policy changed.
func PolicyTopic() string { return "policy" }

// Lapsed is the trigger of an element whose time, data-lapses, is over (time.js).
const Lapsed = "countersign:lapsed"

// On is the trigger of an element that refetches itself when a topic is sent,
// at most once in 250 ms and never missing the last one.
func On(topic string) string { return topic + " from:body throttle:250ms" }

// with adds the query members that have a value, in the order given.
func with(path string, pairs ...string) string {
	sep := "?"
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		path += sep + pairs[i] + "=" + url.QueryEscape(pairs[i+1])
		sep = "&"
	}
	return path
}
