package streamjson

import (
	"cmp"
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

// line holds the members that are read of one object: the union of three dialects.
type line struct {
	Type            text           `json:"type"`
	Subtype         text           `json:"subtype"`
	UUID            text           `json:"uuid"`
	Timestamp       text           `json:"timestamp"`
	ParentToolUseID text           `json:"parent_tool_use_id"`
	Synthetic       flag           `json:"isSynthetic"` // put in a person's mouth by the agent
	Meta            flag           `json:"isMeta"`
	Summary         flag           `json:"isCompactSummary"`
	Transcript      flag           `json:"isVisibleInTranscriptOnly"`
	Origin          jsontext.Value `json:"origin"`
	Message         jsontext.Value `json:"message"`

	// Of the last line.
	IsError    flag           `json:"is_error"`
	StopReason text           `json:"stop_reason"`
	Result     text           `json:"result"`
	Errors     jsontext.Value `json:"errors"`

	// Of dialects whose lines have no message.
	Role       text           `json:"role"`
	Content    text           `json:"content"`
	Delta      flag           `json:"delta"`
	Status     text           `json:"status"`
	ToolName   text           `json:"tool_name"`
	ToolID     text           `json:"tool_id"`
	Parameters jsontext.Value `json:"parameters"`
	Output     jsontext.Value `json:"output"`
	Error      jsontext.Value `json:"error"`
	CallID     text           `json:"call_id"`
	ToolCall   jsontext.Value `json:"tool_call"`
}

// Cut is the event that closes a stream whose agent ended without saying how,
// after the event with the id last.
func Cut(last string) models.RunEvent {
	return models.RunEvent{
		ID: lineID("", []byte(last), -1) + "/0", Type: models.RunEventStatus, Status: models.ConversationFailed,
		Content: "The agent's output ended without a result.",
	}
}

// Notice is an event that says on the run what its reporter has to say, after the event with
// the id last.
func Notice(last, said string) models.RunEvent {
	e := models.RunEvent{ID: lineID("", []byte(last+"\n"+said), -1) + "/0", Type: models.RunEventReply}
	e.Content, e.ContentBytes = cut(said)
	return e
}

// spoken reads the blocks of a message. Unread reports whether some of it was not understood.
func (l *line) spoken(id string) (events []models.RunEvent, unread bool) {
	var m struct {
		ID      text           `json:"id"`
		Content jsontext.Value `json:"content"`
	}
	if l.Message.Kind() != '{' || json.Unmarshal(l.Message, &m, lenient) != nil {
		return nil, true
	}
	// The lines of one message share its id: it names the batch of their calls.
	batch := key(m.ID)
	if batch == "" {
		batch = id
	}
	blocks := blocksOf(m.Content)
	unread = blocks == nil && m.Content.Kind() != 'n' && m.Content.Kind() != '['
	for i, b := range blocks {
		e, ok := l.event(&b, batch, id+"/"+strconv.Itoa(i))
		if !ok {
			unread = unread || !b.isQuiet()
			continue
		}
		events = append(events, e)
	}
	return events, unread
}

// event reads one block; there is none where it is nothing to report, such as
// the model's thoughts.
func (l *line) event(b *block, batch, id string) (models.RunEvent, bool) {
	e := models.RunEvent{ID: id, IsError: bool(b.IsError)}
	switch {
	case b.isCall():
		if b.Name == "" {
			return e, false
		}
		e.Type, e.ToolUseID, e.BatchID, e.ToolName = models.RunEventToolCall, key(b.ID), batch, models.Cut(string(b.Name),
			maxName)
		if e.ToolUseID == "" {
			e.ToolUseID = id // no result can name it, but it was made
		}
		e.Input, e.InputBytes, e.InputDigest = inputOf(e.ToolName, b.Input)
	case b.isResult():
		if b.ToolUseID == "" {
			return e, false
		}
		e.Type, e.ToolUseID = models.RunEventToolResult, key(b.ToolUseID)
		e.Result, e.ResultBytes = cut(b.result())
	case b.Type == "text" && strings.TrimSpace(string(b.Text)) != "":
		return l.words(string(b.Text), id)
	default:
		return e, false
	}
	return e, true
}

// words are what the agent says, or what a person said; there are none where the agent's
// machinery wrote them in a person's place.
func (l *line) words(said, id string) (models.RunEvent, bool) {
	e := models.RunEvent{ID: id, Type: models.RunEventReply}
	if l.Type == "user" || l.Role == "user" {
		// A sub-agent's task is the input of the call that started it, and no person's message.
		if l.ParentToolUseID != "" || l.isMachinery(said) {
			return e, false
		}
		e.Type = models.RunEventMessage
	}
	e.Content, e.ContentBytes = cut(said)
	return e, true
}

// ended reads the last line of a run. A line may say both success and error: then
// it failed. Where a call was put off the run waits, to be taken up later.
func (l *line) ended(id string) models.RunEvent {
	e := models.RunEvent{ID: id + "/0", Type: models.RunEventStatus, Status: models.ConversationCompleted}
	switch {
	case l.StopReason == "tool_deferred":
		e.Status = models.ConversationWaitingInput
	case l.failed():
		e.Status = models.ConversationFailed
		e.Content, e.ContentBytes = cut(cmp.Or(string(l.Result), joined(l.Errors), messageOf(l.Error), string(l.Subtype),
			string(l.Status)))
	}
	return e
}

// failed reports whether a last line says so, in the words of any dialect. One that says
// nothing is no failure.
func (l *line) failed() bool {
	return bool(l.IsError) || l.Subtype != "" && l.Subtype != "success" || l.Status != "" && l.Status != "success"
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
