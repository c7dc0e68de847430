package views

import (
	"net/url"
	"strconv"

	"countersign/models"
)

// JoinURL is the form with which an invited person joins; key is the secret of
// the link.
func JoinURL(key string) string { return with("/join", "key", key) }

// SessionsURL lists the reader's own sessions.
func SessionsURL() string { return "/account/sessions" }

// SessionsPageURL goes on before a page's key.
func SessionsPageURL(before models.SessionID) string {
	return with(SessionsURL(), "before", string(before))
}

// EndSessionURL takes the POST that ends one of the reader's sessions.
func EndSessionURL(id models.SessionID) string {
	return SessionsURL() + "/" + url.PathEscape(string(id)) + "/end"
}

// EndOtherSessionsURL takes the POST that ends all but the one that asks.
func EndOtherSessionsURL() string { return SessionsURL() + "/end-others" }

// PeopleURL lists everybody, for admins.
func PeopleURL() string { return "/people" }

// PeoplePageURL goes on after a page's key.
func PeoplePageURL(after string) string { return with(PeopleURL(), "after", after) }

// InvitesURL takes the POST that makes a one-time link.
func InvitesURL() string { return "/people/invites" }

// WithdrawInviteURL takes the POST that ends an invitation.
func WithdrawInviteURL(id models.InviteID) string {
	return InvitesURL() + "/" + url.PathEscape(string(id)) + "/withdraw"
}

// PersonURL takes POSTs that change a person; what names the act: role, disable, enable or end-sessions.
func PersonURL(id models.UserID, what string) string {
	return PeopleURL() + "/" + url.PathEscape(string(id)) + "/" + what
}

// LedgerFilter is what narrows everybody's audit, as it is in the address.
type LedgerFilter struct {
	Who          string // an e-mail, or the id of a person or agent
	Action       string
	Conversation string
	Text         string
	From, Until  string // days, or times; a day means its beginning
	Zone         string // of both, such as Europe/Berlin; empty: UTC
}

// Any reports whether anything narrows.
func (f LedgerFilter) Any() bool { return f != LedgerFilter{} }

// Kept is what a saved view has of the filter: all but days, as a query.
func (f LedgerFilter) Kept() string {
	f.From, f.Until, f.Zone = "", "", ""
	return queryOf(LedgerURL(f, 0))
}

// LedgerURL is everybody's audit, for admins; before is the key of the page
// before (0: from the newest).
func LedgerURL(f LedgerFilter, before int64) string {
	key := ""
	if before > 0 {
		key = strconv.FormatInt(before, 10)
	}
	return with("/audit/all", "who", f.Who, "action", f.Action, "conversation", f.Conversation, "q", f.Text, "from", f.From, "until",
		f.Until, "zone", f.Zone, "before", key)
}

// LedgerEntryURL is one entry of the ledger, for admins.
func LedgerEntryURL(seq int64) string { return "/audit/entries/" + strconv.FormatInt(seq, 10) }

// ChainURL shows the state of the check of the chain, and takes the POST that
// begins one.
func ChainURL() string { return "/audit/chain" }

// SystemURL is health, sizes and queues, for admins.
func SystemURL() string { return "/system" }

// UpstreamsURL lists the other systems that ask for approvals, for admins; it
// takes the POST that adds one.
func UpstreamsURL() string { return "/upstreams" }

// UpstreamURL takes POSTs that change an upstream; what names the act: key, enable, disable or resume.
func UpstreamURL(id models.UpstreamID, what string) string {
	return UpstreamsURL() + "/" + url.PathEscape(string(id)) + "/" + what
}

// GroupsURL lists the groups, and takes the POST that adds one.
func GroupsURL() string { return "/people/groups" }

// GroupURL shows one group, and takes the POST that says what it is for.
func GroupURL(name string) string { return GroupsURL() + "/" + url.PathEscape(name) }

// RemoveGroupURL takes the POST that removes a group.
func RemoveGroupURL(name string) string { return GroupURL(name) + "/remove" }

// GroupMembersURL takes the POST that puts a person into a group.
func GroupMembersURL(name string) string { return GroupURL(name) + "/members" }

// LeaveGroupURL takes the POST that takes a person out of a group.
func LeaveGroupURL(name string, id models.UserID) string {
	return GroupMembersURL(name) + "/" + url.PathEscape(string(id)) + "/remove"
}
