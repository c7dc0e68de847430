package runs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// runEvent is a reported event after the checks that need no database.
type runEvent struct {
	models.RunEvent // its ids as they are kept

	key    string
	digest [sha256.Size]byte // of the contents claimed under the key
	wrong  error

	// Of a tool call: what it is, kept whole or cut.
	call       string // the digest of tool and input
	input      string
	inputBytes *int64
}

// checkEvent finds what makes an event useless; anything that is only odd, long
// or hidden is kept.
func checkEvent(reported models.RunEvent) *runEvent {
	e := &runEvent{RunEvent: reported}
	if e.wrong = e.check(); e.wrong != nil {
		return e
	}
	e.key = "i:" + e.ID
	if e.ID == "" {
		e.key = string(e.Type) + ":" + e.ToolUseID
	}
	e.digest = e.claim()
	return e
}

// weight is how many events it counts as.
func (e *runEvent) weight() int { return models.Weight(len(e.input)) }

func (e *runEvent) check() error {
	switch e.Type {
	case models.RunEventToolCall, models.RunEventToolResult:
		if e.ToolUseID == "" {
			return models.Invalid("toolUseId", "is required")
		}
		if e.Type == models.RunEventToolCall && e.ToolName == "" {
			return models.Invalid("toolName", "is required")
		}
	case models.RunEventMessage, models.RunEventReply, models.RunEventStatus:
		if e.ID == "" {
			return models.Invalid("id", "is required for a message, reply or status")
		}
	default:
		return models.Invalid("type", "must be message, reply, tool_call, tool_result or status")
	}
	for _, text := range []struct {
		field string
		value *string
		isKey bool
	}{
		{"id", &e.ID, true},
		{"toolUseId", &e.ToolUseID, true},
		{"batchId", &e.BatchID, true},
		{"parentToolUseId", &e.ParentToolUseID, true},
		{"toolName", &e.ToolName, false},
		{"content", &e.Content, false},
		{"result", &e.Result, false},
	} {
		if !utf8.ValidString(*text.value) {
			return models.Invalid(text.field, "must be valid UTF-8")
		}
		*text.value = models.StoredText(*text.value)
		if text.isKey {
			*text.value = eventKey(*text.value)
		}
	}
	switch e.Type {
	case models.RunEventStatus:
		return checkStatus(e.Status)
	case models.RunEventToolCall:
		return e.checkCall()
	case models.RunEventMessage, models.RunEventReply, models.RunEventToolResult:
	}
	return nil
}

func checkStatus(status models.ConversationStatus) error {
	switch status {
	case models.ConversationRunning, models.ConversationWaitingInput, models.ConversationCompleted,
		models.ConversationFailed:
		return nil
	}
	return models.Invalid("status", "must be running, waiting_input, completed or failed")
}

// checkCall makes the digest of a reported call. An input that is too large is
// digested whole and kept cut, as a JSON string; one that is nested too deeply
// for the canonical form is kept as a string of its text.
func (e *runEvent) checkCall() error {
	input := e.Input
	if len(input) == 0 {
		input = jsontext.Value("{}")
	}
	if e.InputBytes > 0 {
		return e.checkCutCall(input)
	}
	canonical, err := models.Canonical(models.KindToolCall, e.ToolName, input)
	if err != nil && input.IsValid() {
		if input, err = jsontext.AppendQuote(nil, string(input)); err == nil {
			canonical, err = models.Canonical(models.KindToolCall, e.ToolName, input)
		}
	}
	if err != nil {
		return err
	}
	e.call, e.input = models.Digest(canonical), string(input)
	if len(input) > models.MaxInput {
		size := int64(len(input))
		e.input, e.inputBytes = quotedCut(e.input), &size
	}
	return nil
}

// checkCutCall reads an input that its reporter has cut.
func (e *runEvent) checkCutCall(input jsontext.Value) error {
	if raw, err := hex.DecodeString(e.InputDigest); err != nil || len(raw) != sha256.Size ||
		strings.ToLower(e.InputDigest) != e.InputDigest {
		return models.Invalid("inputDigest", "is required with inputBytes: the SHA-256 of the whole call, in lower case")
	}
	text, err := jsontext.AppendUnquote(nil, input)
	if err != nil {
		return models.Invalid("input", "must be a string with the beginning of the whole, beside inputBytes")
	}
	size := max(e.InputBytes, int64(len(text)))
	e.call, e.inputBytes, e.input = e.InputDigest, &size, quotedCut(string(text))
	return nil
}

// quotedCut is as much of the beginning of a text as is kept, as a JSON string.
func quotedCut(text string) string {
	for most := models.MaxBeginning; ; most /= 2 {
		quote, err := jsontext.AppendQuote(nil, models.Cut(text, most))
		if err != nil || len(quote) <= models.MaxBeginning { // the text is valid UTF-8, so that nothing can fail
			return string(quote)
		}
	}
}

// claim is the digest of what an event says, whenever and in whichever batch.
func (e *runEvent) claim() (sum [sha256.Size]byte) {
	h := sha256.New()
	add(h, string(e.Type), e.ToolUseID)
	switch e.Type {
	case models.RunEventToolCall:
		add(h, e.call)
	case models.RunEventToolResult:
		add(h, e.Result)
		_ = binary.Write(h, binary.BigEndian, e.IsError) // a hash never fails
	case models.RunEventMessage, models.RunEventReply, models.RunEventStatus:
		add(h, e.Content, string(e.Status))
	}
	h.Sum(sum[:0])
	return sum
}

// add hashes texts with their lengths, so that none can pass for two.
func add(h hash.Hash, texts ...string) {
	for _, s := range texts {
		_ = binary.Write(h, binary.BigEndian, int64(len(s))) // a hash never fails
		_, _ = h.Write([]byte(s))
	}
}

// maxEventKey is how much of an id is kept: they are keys.
const maxEventKey = 512

// eventKey is an id as it is kept: one that is longer than any real one ends with
// a digest of the whole.
func eventKey(s string) string {
	if len(s) <= maxEventKey {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return models.Cut(s, maxEventKey-2*len(sum)-1) + "#" + hex.EncodeToString(sum[:])
}

// cutText is at most models.MaxResult bytes of a text, with its true length if it is cut here or was cut by its
// reporter.
func cutText(s string, told int64) (string, *int64) {
	length := max(told, int64(len(s)))
	s = models.Cut(s, models.MaxResult)
	if length == int64(len(s)) {
		return s, nil
	}
	return s, &length
}
