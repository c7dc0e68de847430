package store

import (
	"crypto/sha256"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// runEvent is a reported event after the checks that need no database.
type runEvent struct {
	*models.RunEvent

	key    string
	digest [sha256.Size]byte
	wrong  error

	// Of a tool call: what it is, kept whole or cut.
	call       string // the digest of tool and input
	input      string
	inputBytes *int64
}

// maxEventKey bounds ids and tool use ids of what is reported: they are keys.
const maxEventKey = 512

// checkEvent finds what makes an event useless; anything that is only odd, long
// or hidden is kept.
func checkEvent(reported *models.RunEvent) *runEvent {
	e := &runEvent{RunEvent: reported}
	switch e.Type {
	case models.RunEventToolCall, models.RunEventToolResult:
		if e.ToolUseID == "" {
			e.wrong = models.Invalid("toolUseId", "is required")
			return e
		}
		if e.Type == models.RunEventToolCall && e.ToolName == "" {
			e.wrong = models.Invalid("toolName", "is required")
			return e
		}
	case models.RunEventMessage, models.RunEventReply, models.RunEventStatus:
		if e.ID == "" {
			e.wrong = models.Invalid("id", "is required for a message, reply or status")
			return e
		}
	default:
		e.wrong = models.Invalid("type", "must be message, reply, tool_call, tool_result or status")
		return e
	}
	if e.wrong = e.checkRest(); e.wrong != nil {
		return e
	}
	e.key = "i:" + e.ID
	if e.ID == "" {
		e.key = string(e.Type) + ":" + e.ToolUseID
	}
	e.digest = eventDigest(reported)
	if e.Type == models.RunEventToolCall {
		e.wrong = e.checkCall()
	}
	return e
}

func (e *runEvent) checkRest() error {
	for _, text := range []struct{ field, value string }{
		{"id", e.ID}, {"toolUseId", e.ToolUseID}, {"batchId", e.BatchID}, {"toolName", e.ToolName}, {"content", e.Content}, {"result", e.Result},
	} {
		if !utf8.ValidString(text.value) {
			return models.Invalid(text.field, "must be valid UTF-8")
		}
	}
	if len(e.ID) > maxEventKey || len(e.ToolUseID) > maxEventKey || len(e.BatchID) > maxEventKey {
		return models.Invalid("id", "and toolUseId and batchId are keys: at most %d bytes are taken", maxEventKey)
	}
	if e.Type == models.RunEventStatus {
		switch e.Status {
		case models.ConversationRunning, models.ConversationWaitingInput, models.ConversationCompleted, models.ConversationFailed:
		default:
			return models.Invalid("status", "must be running, waiting_input, completed or failed")
		}
	}
	return nil
}

// checkCall makes the digest of a reported call. An input that is too large is
// digested whole and kept cut, as a JSON string.
func (e *runEvent) checkCall() error {
	input := e.Input
	if len(input) == 0 {
		input = jsontext.Value("{}")
	}
	e.input = string(input)
	if e.InputBytes > 0 {
		e.call, e.inputBytes = e.InputDigest, &e.InputBytes
		if len(e.call) != sha256.Size*2 {
			return models.Invalid("inputDigest", "is required with inputBytes: that of the whole call")
		}
		return nil
	}
	canonical, err := models.Canonical(models.KindToolCall, e.ToolName, input)
	if err != nil {
		return err
	}
	e.call = models.Digest(canonical)
	if len(input) > models.MaxInput {
		size := int64(len(input))
		e.inputBytes = &size
		cut, err := jsontext.AppendQuote(nil, cutAt(e.input, models.MaxInput/2)) // escapes may double it
		if err != nil {
			return models.Invalid("input", "must be valid UTF-8")
		}
		e.input = string(cut)
	}
	return nil
}

// cutText is at most most bytes of a text, with its true length if it is cut
// here or was cut by whoever reported it.
func cutText(s string, told int64, most int) (string, *int64) {
	length := max(told, int64(len(s)))
	s = cutAt(s, most)
	if length == int64(len(s)) {
		return s, nil
	}
	return s, &length
}

// cutAt cuts between characters.
func cutAt(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return strings.Clone(s[:most])
}
