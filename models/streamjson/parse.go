// Package streamjson reads what a coding agent prints with `--output-format
// stream-json`: one JSON object a line. What is not known is nothing to report,
// and no line is an error.
package streamjson

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// lenient takes the lines as they come: text that is not UTF-8 is mended.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// line is what is read of one line.
type line struct {
	Type            text           `json:"type"`
	Subtype         text           `json:"subtype"`
	UUID            text           `json:"uuid"`
	Timestamp       text           `json:"timestamp"`
	ParentToolUseID text           `json:"parent_tool_use_id"`
	Synthetic       flag           `json:"isSynthetic"` // put in a person's mouth by the agent
	Meta            flag           `json:"isMeta"`
	Message         jsontext.Value `json:"message"`

	// Of the last line.
	IsError    flag           `json:"is_error"`
	StopReason text           `json:"stop_reason"`
	Result     text           `json:"result"`
	Errors     jsontext.Value `json:"errors"`
}

// Parse reads one line, with or without its end. Position is its number in the
// stream; with the line it makes the ids of events where the line has none of its
// own. The events are in the order in which they stand.
func Parse(raw []byte, position int64) []models.RunEvent {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var l line
	if err := json.Unmarshal(raw, &l, lenient); err != nil {
		return nil
	}
	id := lineID(string(l.UUID), raw, position)
	var events []models.RunEvent
	switch l.Type {
	case "assistant", "user":
		events = l.spoken(id)
	case "system":
		if l.Subtype == "init" {
			events = []models.RunEvent{{ID: id + "/0", Type: models.RunEventStatus, Status: models.ConversationRunning}}
		}
	case "result":
		events = l.ended(id)
	}
	at := l.at()
	for i := range events {
		events[i].At, events[i].ParentToolUseID = at, key(l.ParentToolUseID)
	}
	return events
}

// Cut is the event that closes a stream whose agent ended without saying how,
// after the event with the id last.
func Cut(last string) models.RunEvent {
	return models.RunEvent{
		ID: lineID("", []byte(last), -1) + "/0", Type: models.RunEventStatus, Status: models.ConversationFailed,
		Content: "The agent's output ended without a result.",
	}
}

// spoken reads the blocks of a message.
func (l *line) spoken(id string) []models.RunEvent {
	var m struct {
		ID      text           `json:"id"`
		Content jsontext.Value `json:"content"`
	}
	if err := json.Unmarshal(l.Message, &m, lenient); err != nil {
		return nil
	}
	// The lines of one message share its id: it names the batch of their calls.
	batch := key(m.ID)
	if batch == "" {
		batch = id
	}
	var events []models.RunEvent
	for i, b := range blocksOf(m.Content) {
		e, ok := l.event(&b, batch)
		if !ok {
			continue
		}
		e.ID = id + "/" + strconv.Itoa(i)
		events = append(events, e)
	}
	return events
}

// event reads one block; there is none where it is nothing to report, such as
// the model's thoughts.
func (l *line) event(b *block, batch string) (models.RunEvent, bool) {
	e := models.RunEvent{IsError: bool(b.IsError)}
	switch {
	case b.isCall():
		if b.ID == "" || b.Name == "" {
			return e, false
		}
		e.Type, e.ToolUseID, e.BatchID, e.ToolName = models.RunEventToolCall, key(b.ID), batch, begin(string(b.Name), maxName)
		e.Input, e.InputBytes, e.InputDigest = inputOf(e.ToolName, b.Input)
	case b.isResult():
		if b.ToolUseID == "" {
			return e, false
		}
		e.Type, e.ToolUseID = models.RunEventToolResult, key(b.ToolUseID)
		e.Result, e.ResultBytes = cut(b.result())
	case b.Type == "text" && strings.TrimSpace(string(b.Text)) != "":
		e.Type = models.RunEventReply
		if l.Type == "user" {
			// A sub-agent's task is the input of the call that started it, and no
			// person's message.
			if l.Synthetic || l.Meta || l.ParentToolUseID != "" {
				return e, false
			}
			e.Type = models.RunEventMessage
		}
		e.Content, e.ContentBytes = cut(string(b.Text))
	default:
		return e, false
	}
	return e, true
}

// ended reads the last line of a run. A line may say both success and error: then
// it failed. Where a call was put off the run waits, to be taken up later.
func (l *line) ended(id string) []models.RunEvent {
	e := models.RunEvent{ID: id + "/0", Type: models.RunEventStatus, Status: models.ConversationCompleted}
	switch {
	case l.StopReason == "tool_deferred":
		e.Status = models.ConversationWaitingInput
	case bool(l.IsError) || l.Subtype != "success":
		e.Status = models.ConversationFailed
		why := string(l.Result)
		if why == "" {
			why = joined(l.Errors)
		}
		if why == "" {
			why = string(l.Subtype)
		}
		e.Content, e.ContentBytes = cut(why)
	}
	return []models.RunEvent{e}
}

func (l *line) at() *time.Time {
	at, err := time.Parse(time.RFC3339Nano, string(l.Timestamp))
	if err != nil || at.Year() < 1970 || at.Year() > 9000 {
		return nil
	}
	at = at.UTC().Truncate(time.Microsecond)
	return &at
}

// lineID is the line's own id if it can be one, or a hash of line and position.
func lineID(own string, raw []byte, position int64) string {
	if models.CheckKey("uuid", own) == nil && len(own) <= 100 {
		return own
	}
	h := sha256.New()
	h.Write([]byte(strconv.FormatInt(position, 10) + "\n"))
	h.Write(raw)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
