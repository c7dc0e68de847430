package mcp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// sealer makes ids that prove themselves: each is good for one agent, in every process over
// the same database, and nothing is stored for it. An id opens nothing: what it leads to is
// read with the rights of the token that is sent with it.
type sealer struct{ key []byte }

const sealSize = 16

// newSealer derives its key, so that what others seal under theirs is nothing here.
func newSealer(key []byte) sealer {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("countersign mcp"))
	return sealer{mac.Sum(nil)}
}

// of seals a text for an agent and a use.
func (s sealer) of(actor models.Actor, use, text string) string {
	mac := hmac.New(sha256.New, s.key)
	for _, part := range [...]string{use, actor.ID, text} {
		mac.Write([]byte{byte(len(part) >> 8), byte(len(part))})
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:sealSize])
}

func (s sealer) sealed(actor models.Actor, use, text string) string {
	return text + "." + s.of(actor, use, text)
}

// open is the text of a sealed one, if it was sealed so.
func (s sealer) open(actor models.Actor, use, whole string) (string, bool) {
	text, seal, _ := strings.Cut(whole, ".")
	if len(whole) > maxEventID || !hmac.Equal([]byte(seal), []byte(s.of(actor, use, text))) {
		return "", false
	}
	return text, true
}

// session makes the id of a session.
func (s sealer) session(actor models.Actor) string { return s.sealed(actor, "session", rand.Text()) }

func (s sealer) isSession(actor models.Actor, id string) bool {
	_, ok := s.open(actor, "session", id)
	return ok
}

// maxEventID bounds the id of an event. What a client names its calls by is part of it.
const maxEventID = 1000

// place is what a stream waits for, as the id of its event says.
type place struct {
	Tool     string              `json:"t"`
	Rows     []models.ResponseID `json:"r"`
	Call     jsontext.Value      `json:"c"` // the id of the call
	Progress jsontext.Value      `json:"p,omitzero"`
}

// event makes the id of the event with which a stream begins; empty where it would be too
// long: the stream can't be resumed then.
func (s sealer) event(actor models.Actor, session string, p place) string {
	raw, err := json.Marshal(p)
	if err != nil {
		return ""
	}
	id := s.sealed(actor, "event "+session, base64.RawURLEncoding.EncodeToString(raw))
	if len(id) > maxEventID {
		return ""
	}
	return id
}

// place reads the id of an event of a session.
func (s sealer) place(actor models.Actor, session, id string) (p place, ok bool) {
	text, ok := s.open(actor, "event "+session, id)
	if !ok {
		return p, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &p) != nil || len(p.Rows) == 0 {
		return place{}, false
	}
	return p, true
}
