package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
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
