package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Entry is one line of the ledger, as stored: every field is the stored bytes, so that the hash covers the file's text
// and not a re-encoding of it.
type Entry struct {
	Seq            int64 `gorm:"primaryKey"`
	At             string
	ActorKind      ActorKind
	ActorID        string
	ActorName      string
	Action         string
	OwnerID        UserID
	ConversationID ConversationID
	ResponseID     ResponseID
	Data           string // a JSON object: digests and outcomes, never inputs
	Prev           []byte
	Hash           []byte
}

// TableName is the ledger's table.
func (Entry) TableName() string { return "ledger" }

// Head names the last entry: what to keep outside to detect a rewritten chain.
type Head struct {
	Seq  int64
	Hash []byte
}

// String is the form that `audit verify --head` takes.
func (h Head) String() string { return strconv.FormatInt(h.Seq, 10) + ":" + hex.EncodeToString(h.Hash) }

// KeptHead is a head with when it was the last.
type KeptHead struct {
	Head

	At time.Time
}

// LostError says that a database lacks entries that it once had, and that were acknowledged.
type LostError struct {
	Kept KeptHead // the last one that it had
	Has  Head
}

// Missing is how many entries at least.
func (e *LostError) Missing() int64 { return max(1, e.Kept.Seq-e.Has.Seq) }

func (e *LostError) Error() string {
	at := e.Kept.At.UTC().Format("2006-01-02 15:04:05Z")
	if e.Has.Seq >= e.Kept.Seq {
		return fmt.Sprintf("this is not the database that was here: its ledger entry %d is another than that of %s",
			e.Kept.Seq, at)
	}
	return fmt.Sprintf("what was acknowledged is missing: the ledger had %d entries at %s and has %d", e.Kept.Seq, at,
		e.Has.Seq)
}

// ParseHead reads SEQ:HASH.
func ParseHead(s string) (Head, error) {
	seq, hash, ok := strings.Cut(strings.TrimSpace(s), ":")
	if !ok {
		return Head{}, Invalid("head", "must be SEQ:HASH, as the log and `audit verify` print it")
	}
	n, err := strconv.ParseInt(seq, 10, 64)
	if err != nil || n < 0 {
		return Head{}, Invalid("head", "must begin with the number of an entry")
	}
	sum, err := hex.DecodeString(hash)
	if err != nil || (n > 0 && len(sum) != sha256.Size) {
		return Head{}, Invalid("head", "must end with 64 hexadecimal digits")
	}
	return Head{Seq: n, Hash: sum}, nil
}

// Seal links e behind prev: it sets Seq, Prev and Hash. The hash is SHA-256 over
// the entry's fields, each with its length before it, so that no two entries
// that differ anywhere share an encoding.
func Seal(prev Head, e *Entry) Head {
	e.Seq = prev.Seq + 1
	e.Prev = prev.Hash
	e.Hash = e.sum()
	return Head{Seq: e.Seq, Hash: e.Hash}
}

func (e *Entry) sum() []byte {
	buf := make([]byte, 0, 512)
	buf = binary.BigEndian.AppendUint64(buf, uint64(e.Seq))
	for _, f := range [...]string{
		e.At, string(e.ActorKind), e.ActorID, e.ActorName, e.Action,
		string(e.OwnerID), string(e.ConversationID), string(e.ResponseID), e.Data,
	} {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(f)))
		buf = append(buf, f...)
	}
	buf = append(buf, e.Prev...)
	sum := sha256.Sum256(buf)
	return sum[:]
}

// ChainError says at which entry the ledger stops being believable.
type ChainError struct {
	Seq     int64
	Problem string
}

func (e *ChainError) Error() string { return fmt.Sprintf("ledger entry %d: %s", e.Seq, e.Problem) }

// VerifyChain walks entries in order and checks numbers, links and hashes, that
// the chain ends at the recorded head, and that it passes through kept (a head
// written down elsewhere) when one is given. It returns a *ChainError for the
// first entry that is wrong, and any error of the iteration as it is.
func VerifyChain(entries iter.Seq2[*Entry, error], want Head, kept *Head) (Head, error) {
	var at Head
	found := kept == nil || kept.Seq == 0
	for e, err := range entries {
		if err != nil {
			return at, err
		}
		switch {
		case e.Seq != at.Seq+1:
			return at, &ChainError{at.Seq + 1, fmt.Sprintf("missing; the next one found is %d", e.Seq)}
		case !bytes.Equal(e.Prev, at.Hash):
			return at, &ChainError{e.Seq, "does not follow the entry before it"}
		case !bytes.Equal(e.Hash, e.sum()):
			return at, &ChainError{e.Seq, "was changed: its content does not give its hash"}
		}
		at = Head{Seq: e.Seq, Hash: e.Hash}
		if kept != nil && kept.Seq == e.Seq {
			if !bytes.Equal(kept.Hash, e.Hash) {
				return at, &ChainError{e.Seq, "differs from the head that was kept: the chain was rewritten"}
			}
			found = true
		}
	}
	if at.Seq != want.Seq || !bytes.Equal(at.Hash, want.Hash) {
		return at, &ChainError{
			at.Seq + 1, fmt.Sprintf("missing: the recorded head is %d, the chain ends at %d", want.Seq, at.Seq),
		}
	}
	if !found {
		return at, &ChainError{
			at.Seq + 1, fmt.Sprintf("missing: the head that was kept is %d, the chain ends at %d", kept.Seq, at.Seq),
		}
	}
	return at, nil
}

// EventType is a kind of entry that the ledger has.
type EventType struct {
	Name string // such as approval.approved
	Text string // the event, in a sentence
}

// Family is the first part of its name, such as approval.
func (t EventType) Family() string { return FamilyOf(t.Name) }

// FamilyOf is the first part of an event's name.
func FamilyOf(event string) string {
	family, _, _ := strings.Cut(event, ".")
	return family
}

// IsEventType reports whether the ledger has entries of that name.
func IsEventType(name string) bool {
	_, found := slices.BinarySearchFunc(eventTypes, name,
		func(t EventType, name string) int { return strings.Compare(t.Name, name) })
	return found
}

// EventTypes is the list of all kinds of entries, by name: what the ledger's writers may
// append, and what endpoints may choose.
func EventTypes() []EventType { return slices.Clone(eventTypes) }

var eventTypes = []EventType{
	{"absence.begun", "A person is away from now on, and their requests go to a substitute as well."},
	{"absence.ended", "A person is back, or will not be away after all."},
	{"absence.planned", "A person said when they will be away."},
	{"agent.allowance", "The daily energy of an agent was changed."},
	{"agent.registered", "An agent was added to a person."},
	{"agents.resumed", "Agents that were stopped may work again."},
	{"agents.stopped", "An agent, or all of them, were stopped."},
	{"approval.acknowledged", "Another person looked at a decision that broke glass."},
	{"approval.approved", "A request was approved, or a question answered."},
	{"approval.asked_back", "A reviewer asked the agent about a request, which waits for the answer."},
	{"approval.cancelled", "A request was cancelled."},
	{"approval.escalated", "An agent asked for more attention to its request."},
	{"approval.escalated_by_rule", "A rule asked further people: nobody had decided in time, or those who sign before them have."},
	{"approval.expired", "Nobody decided a request in time."},
	{"approval.extended", "The deadline of a request was moved."},
	{"approval.hand_over_taken_back", "A request that was handed to somebody is no longer theirs."},
	{"approval.handed_over", "A request was handed to another person as well."},
	{"approval.let_through", "A call was allowed without a person."},
	{"approval.linked", "Another system's request was found to be one that the agent reported."},
	{"approval.note_added", "Somebody added a note to a request."},
	{"approval.ran", "A client reported a call that it ran without an answer; nobody approved it."},
	{"approval.refused", "Another system refused a decision; the request waits again or is over."},
	{"approval.rejected", "A request was rejected, by a person or as it came."},
	{"approval.requested", "A request waits for a person."},
	{"approval.resolved", "A request was settled elsewhere."},
	{"approval.routed", "A request goes to other people, because a group or an absence has changed."},
	{"approval.signable", "Enough people can sign a request again."},
	{"approval.stranded", "Not enough people are left who could sign a request; it waits, so that others can be named."},
	{"approval.taken_back", "A decision was undone before it was the outcome."},
	{"approval.voted", "A person decided or signed a request; the outcome follows."},
	{"approval.withdrawn", "A decision was undone before the other system got it."},
	{"call.closed", "A reported call ended."},
	{"channel.added", "A channel of notifications was added."},
	{"channel.disabled", "A channel's service said that its address is gone."},
	{"channel.removed", "A channel of notifications was removed."},
	{"channel.verified", "A channel of notifications was verified."},
	{"contents.removed", "Contents were removed; their digests stay."},
	{"conversation.archived", "A conversation was archived."},
	{"conversation.budget", "The energy budget of a conversation was changed."},
	{"conversation.described", "What follows a rejection in a conversation was changed."},
	{"conversation.opened", "A conversation was opened."},
	{"conversation.paused", "A conversation was paused."},
	{"conversation.renamed", "A conversation was renamed."},
	{"conversation.resumed", "A paused conversation goes on."},
	{"conversation.status", "The status of a conversation was changed."},
	{"conversation.unarchived", "A conversation was taken out of the archive."},
	{"grant.made", "A pre-approval was made."},
	{"grant.revoked", "A pre-approval was revoked."},
	{"group.added", "A group was added."},
	{"group.described", "What a group is for was changed."},
	{"group.joined", "A person joined a group."},
	{"group.left", "A person left a group."},
	{"group.removed", "A group was removed."},
	{"invite.made", "A link to invite somebody was made."},
	{"invite.used", "Somebody joined by an invitation."},
	{"invite.withdrawn", "A link to invite somebody was cancelled."},
	{"ledger.head", "The ledger's last entry, once a day if there is a new one: keep its number and hash."},
	{"ledger.loss_accepted", "The server was started although entries of the ledger are missing."},
	{"ledger.move_undone", "An installation that was moved to another database was started again where it had been."},
	{"ledger.moved", "The installation was moved to another database."},
	{"ledger.rows_sealed", "Rows of a database from an older version were listed, so that changes to them are found."},
	{"message.added", "A message was added to a conversation."},
	{"notification_host.allowed", "A host was allowed for notifications and webhooks."},
	{"notification_host.removed", "A host is no longer allowed for notifications and webhooks."},
	{"notifications.changed", "A person changed when they are notified."},
	{"policy.alone_begun", "An admin waits to save a proposed policy without the others."},
	{"policy.changed", "A new version of the policy was saved."},
	{"policy.confirmed", "An admin agreed to a proposed policy; others have to."},
	{"policy.proposal_ended", "A proposed policy was rejected or cancelled."},
	{"policy.proposed", "A change of the policy was proposed, for admins to agree to."},
	{"response.added", "An agent added a reply or a report to a conversation."},
	{"response.adopted", "A reported call became part of another conversation or request."},
	{"run.reported", "A run of an agent was reported."},
	{"session.closed", "A person signed out, or was signed out."},
	{"session.opened", "A person signed in."},
	{"setup_link.made", "The link for the first admin was made."},
	{"setup_link.used", "The first admin was made."},
	{"substitute.accepted", "An admin accepted a substitute for a person."},
	{"substitute.asked", "A person named a substitute, whom an admin has to accept."},
	{"substitute.removed", "A substitute was removed."},
	{"token.added", "A token was made."},
	{"token.revoked", "A token was revoked."},
	{"upstream.added", "Another system was connected."},
	{"upstream.disabled", "A connected system was disabled."},
	{"upstream.enabled", "A connected system was enabled."},
	{"upstream.key_changed", "The key for a connected system was changed."},
	{"upstream.paused", "A connected system was paused after failures."},
	{"upstream.resumed", "A connected system is asked again."},
	{"user.added", "A person was added."},
	{"user.disabled", "A person was disabled."},
	{"user.enabled", "A person was enabled."},
	{"user.password_changed", "A person's password was changed."},
	{"user.role_changed", "A person's role was changed."},
	{"user.unlocked", "A person may try to sign in again."},
	{"webhook.added", "A webhook was added."},
	{"webhook.changed", "A webhook was changed."},
	{"webhook.key_retired", "The old key of a webhook no longer signs."},
	{"webhook.key_rotated", "A webhook got a new key."},
	{"webhook.paused", "A webhook was paused, by an admin or after failures."},
	{"webhook.removed", "A webhook was removed."},
	{"webhook.replayed", "A webhook is sent earlier events again."},
	{"webhook.resumed", "A paused webhook goes on."},
	{"webhook.skipped", "An event that a webhook refused was given up."},
}

// TrailEntry is an entry of a person's audit trail with what its reader may see of
// the request it is about. The ledger holds no inputs: they are read beside it.
type TrailEntry struct {
	Entry
	Request *Brief // nil: there is none, or the reader may not see it
	Hidden  bool   // there is a request that the reader may not see
	Reason  string // the reason of the outcome
}
