package models

import "time"

// NoticeKind is what a message is about.
type NoticeKind string

// The kinds of message.
const (
	NoticeWaiting        NoticeKind = "waiting"         // a request has come
	NoticeUnseen         NoticeKind = "unseen"          // it waits, and was not looked at
	NoticeHalf           NoticeKind = "half"            // half of its time is over
	NoticeTenth          NoticeKind = "tenth"           // a tenth of its time is left
	NoticeBreakthrough   NoticeKind = "breakthrough"    // sent in quiet hours: no one would hear of it in time
	NoticeBurst          NoticeKind = "burst"           // so many wait
	NoticeTooFew         NoticeKind = "too_few"         // for admins: not enough people are left who could sign it
	NoticeFlood          NoticeKind = "flood"           // for an agent's owner: it asks for more than people can look at
	NoticeBreakGlass     NoticeKind = "break_glass"     // somebody decided alone what several people should have signed
	NoticePolicyProposed NoticeKind = "policy_proposed" // for admins: a change of the policy waits for them
	NoticePolicyAlone    NoticeKind = "policy_alone"    // for admins: one of them changes it alone, or has
	NoticeSettled        NoticeKind = "settled"         // an announced request is decided, or over
	NoticeDigest         NoticeKind = "digest"          // so many wait this morning
	NoticeChannelFailing NoticeKind = "channel_failing"
	NoticeCode           NoticeKind = "code"
	NoticeTest           NoticeKind = "test"
	NoticeInvite         NoticeKind = "invite" // the link with which somebody joins; it is never queued
	NoticeWebhookPaused  NoticeKind = "webhook_paused"
	NoticeLedgerHead     NoticeKind = "ledger_head" // the ledger's last entry, to be kept elsewhere
)

// NoticeKinds is the list of all kinds.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{
		NoticeWaiting, NoticeUnseen, NoticeHalf, NoticeTenth, NoticeBreakthrough, NoticeBurst, NoticeTooFew, NoticeFlood, NoticeBreakGlass, NoticePolicyProposed, NoticePolicyAlone, NoticeSettled,
		NoticeDigest,
		NoticeChannelFailing, NoticeCode, NoticeTest, NoticeInvite, NoticeWebhookPaused, NoticeLedgerHead,
	}
}

// MostDeciders is how many of those who may decide a message names.
const MostDeciders = 5

// BurstAbove is how many requests that are due together are told one by one: more of them are
// one message.
const BurstAbove = 3

// NoticePause is how long a channel that got a message waits for the next one.
const NoticePause = time.Minute

// BurstPause is how long a channel that got a message about many requests waits for the next one, unless their number
// has doubled, or one has a higher risk.
const BurstPause = 15 * time.Minute

// Notice is a message: all that may leave the process. It has nothing of the input, of the
// agent's description or reason, and no title.
type Notice struct {
	ID      string // the same at each attempt
	Kind    NoticeKind
	Request ResponseID // whose thread it belongs to; empty where it is about no single request

	Agent, Tool string        // text of strangers, to be shown literally
	Risk        Risk          // burst and digest: the worst of those that wait
	Deadline    time.Time     // NoDeadline: none
	Left        time.Duration // until the deadline, or the end of a link, when the message was made; 0: there is none

	Deciders     []string // names of who may decide, at most MostDeciders
	MoreDeciders int      // how many there are besides

	Headline string // only where the rule allows it

	Count int           // burst, digest and flood: how many wait
	First time.Duration // burst and digest: until the first of them expires; 0: none does

	Outcome string // settled: such as "approved"
	By      string // settled: who decided; empty: no one did. invite: who invites

	Code    string // code: six digits
	Channel string // channel_failing: the label of the one that fails

	Webhook     string    // webhook_paused: its name, text of an admin
	WebhookHost string    // webhook_paused: scheme and host of its address
	Class       SendClass // webhook_paused: how the last attempt ended

	Head   string    // ledger_head: number and hash, as `audit verify --head` takes them
	HeadAt time.Time // ledger_head: when it was the last entry

	URL         string // absolute; opens a page, and decides nothing
	SettingsURL string
}
