package models

import (
	"slices"
	"strings"
	"time"
)

// Limits of channels and of the codes that verify them.
const (
	MaxChannels     = 20 // of one person or group
	MaxChannelLabel = 100
	MaxTarget       = 2048 // bytes of a URL

	CodeLife           = 15 * time.Minute
	CodeTries          = 5 // wrong ones, after which a new code is needed
	CodesPerPerson     = 5 // in CodesWindow
	CodesPerAddress    = 3 // in CodesWindow
	CodesWindow        = time.Hour
	ActiveFor          = time.Minute // after which somebody who sees a request is no longer active
	FailuresUntilKnown = 5           // failed attempts in a row, after which a channel is said to fail
)

// ChannelID names a Channel.
type ChannelID string

// ChannelKind is the way that messages of a channel go.
type ChannelKind string

// The kinds of channel.
const (
	ChannelEmail   ChannelKind = "email"
	ChannelWebPush ChannelKind = "web_push"
	ChannelNtfy    ChannelKind = "ntfy"
	ChannelSlack   ChannelKind = "slack"
	ChannelWebhook ChannelKind = "webhook"
)

// ChannelKinds is the list of all kinds.
func ChannelKinds() []ChannelKind {
	return []ChannelKind{ChannelEmail, ChannelWebPush, ChannelNtfy, ChannelSlack, ChannelWebhook}
}

// Valid reports whether it is one of the kinds.
func (k ChannelKind) Valid() bool { return slices.Contains(ChannelKinds(), k) }

// FollowsUp reports whether a message can be sent that belongs to an earlier one: the others
// get one message for each request. An incoming webhook of Slack can't answer in a thread.
func (k ChannelKind) FollowsUp() bool { return k != ChannelSlack }

// NeedsCode reports whether an address of this kind is verified by a code that is sent to it.
// The address of a browser is made by the browser that is signed in.
func (k ChannelKind) NeedsCode() bool { return k != ChannelWebPush }

// Channel is a way to notify a person, or a group. It holds no secret.
type Channel struct {
	ID      ChannelID `gorm:"primaryKey"`
	UserID  UserID    // one of the two is empty
	GroupID GroupID
	Kind    ChannelKind
	// Label is the e-mail address; of other kinds the host and what the person called it. Never a
	// secret path or a token.
	Label      string
	CreatedAt  time.Time  `gorm:"autoCreateTime:false"`
	VerifiedAt *time.Time // nil: nothing but a code is sent there
	DisabledAt *time.Time // the service said that the address is gone

	FailingSince *time.Time // of the first of the failed attempts, once there are FailuresUntilKnown in a row
	LastSentAt   *time.Time
	LastClass    SendClass // of the last attempt; empty: none was made
	LastStatus   int       // HTTP or SMTP status of the last attempt; 0: none
}

// Usable reports whether notices are sent there.
func (c *Channel) Usable() bool { return c.VerifiedAt != nil && c.DisabledAt == nil }

// Working reports whether messages to the channel are believed to arrive.
func (c *Channel) Working() bool { return c.Usable() && c.FailingSince == nil }

// Host is the host that it sends to, with which its label ends; empty: its kind has no host that admins allow.
func (c *Channel) Host() string {
	if c.Kind == ChannelEmail || c.Kind == ChannelWebPush {
		return ""
	}
	if at := strings.LastIndex(c.Label, " ("); at >= 0 {
		return strings.TrimSuffix(c.Label[at+2:], ")")
	}
	return c.Label
}

// Recipient is the person or group that it belongs to.
func (c *Channel) Recipient() RecipientID {
	if c.UserID != "" {
		return RecipientID(c.UserID)
	}
	return RecipientID(c.GroupID)
}

// RecipientID is the id of a person or of a group.
type RecipientID string

// ChannelTarget is where the messages of a channel go, and with which secrets: stored sealed.
type ChannelTarget struct {
	Address string `json:"address,omitzero"` // e-mail address
	URL     string `json:"url,omitzero"`     // ntfy topic, Slack or generic webhook, push endpoint
	Token   string `json:"token,omitzero"`   // ntfy: access token; webhook: the Standard Webhooks secret, made by us
	P256dh  string `json:"p256dh,omitzero"`  // web push, base64url
	Auth    string `json:"auth,omitzero"`
}

// ChannelInput is what a channel is added with. Webhooks get their secret from us.
type ChannelInput struct {
	Group  GroupID // empty: it is the actor's own
	Kind   ChannelKind
	Label  string // what the person calls it; not of e-mail
	Target ChannelTarget
}

// ChannelSecret is the part of a channel's row that people never read.
type ChannelSecret struct {
	ID            ChannelID `gorm:"primaryKey"`
	SessionID     SessionID // of the browser that a web push channel belongs to
	TargetSealed  []byte
	AddressDigest string // of kind and address, by which codes are counted
	CodeSealed    []byte // nil: none is out
	CodeExpires   *time.Time
	CodeTries     int        // wrong ones
	RemovedAt     *time.Time // nil: it is in use
	ToldAt        *time.Time // when messages were last put on their way
	Failures      int        // failed attempts in a row
	FirstFailure  *time.Time
}

// TableName is the table of channels: it is the rest of the same row.
func (ChannelSecret) TableName() string { return "channels" }

// HostNotAllowed is why an address is refused whose host no admin has allowed.
const HostNotAllowed = "the host is not on the list of allowed hosts"

// SendClass says how an attempt to send a message ended.
type SendClass string

// The ends of an attempt.
const (
	SendSent          SendClass = "sent"
	SendRefusedHost   SendClass = "refused_host" // the host, or the address behind it, is not allowed
	SendNameNotFound  SendClass = "name_not_found"
	SendConnect       SendClass = "connect"
	SendCertificate   SendClass = "certificate"
	SendTimeout       SendClass = "timeout"
	SendRedirect      SendClass = "redirect"
	SendTooLarge      SendClass = "too_large"
	SendRejected      SendClass = "rejected"    // 4xx
	SendUnavailable   SendClass = "unavailable" // 5xx, 429
	SendGone          SendClass = "gone"        // 404 or 410 of a push service
	SendNotConfigured SendClass = "not_configured"
)

// SendClasses is the list of all ends.
func SendClasses() []SendClass {
	return []SendClass{
		SendSent, SendRefusedHost, SendNameNotFound, SendConnect, SendCertificate, SendTimeout, SendRedirect, SendTooLarge,
		SendRejected, SendUnavailable, SendGone, SendNotConfigured,
	}
}

// SendResult is how an attempt to send a message ended.
type SendResult struct {
	Class      SendClass
	Status     int           // HTTP or SMTP; 0: there was none
	Body       []byte        // of the answer, at most 1 KiB; for admins only
	RetryAfter time.Duration // that the service asked for; 0: none
}

// NotificationHost is a host that an admin allows channels to name.
type NotificationHost struct {
	Host    string `gorm:"primaryKey"` // name or address, perhaps with a port
	AddedAt time.Time
	AddedBy UserID // empty: the command line
	ByName  string
}
