package streamjson

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

const (
	// mostNamed are the lines not read whose beginnings are kept.
	mostNamed = 5
	// mostBeginning is how much of one is kept, in bytes.
	mostBeginning = 120
	// mostTorn is over how many lines an object may be torn, and mostHeld how long it may be.
	mostTorn, mostHeld = 16, 16 << 20
	// mostTurn is how much of what the agent said is kept to know it again in the result.
	mostTurn = 4 << 20
)

// Unread is the beginning of a line that could not be read, or not whole.
type Unread struct {
	Line int64 // from 1
	Head string
}

// Reader reads the lines of one stream. Its zero value is ready.
type Reader struct {
	unread int
	first  []Unread
	lastAt int64 // the last line that was counted, from 1
	lost   bool  // what could not be read may have been a part of the run

	torn    []byte // an object whose rest is awaited
	tornAt  int64
	pieces  int
	partial []models.RunEvent // a reply that comes in parts: at most one

	lines map[string][sha256.Size]byte // the digest of the message under an id of a line
	calls map[string]*call             // by the id in the stream
	turn  strings.Builder              // what the agent itself said in this turn, without space
}

// call is the last call with an id of the stream.
type call struct {
	id    string // under which it is reported
	batch string
	sum   [sha256.Size]byte
	times int // the id was used for a call
}

// Parse reads one line alone.
func Parse(raw []byte, position int64) []models.RunEvent {
	r := new(Reader)
	return append(r.Read(raw, position), r.End()...)
}

// Read reads one line, with or without its end. Position is its number in the stream, from 0;
// with the line it makes the ids of events where the line has none that is new. The events
// are in the order in which they were printed.
func (r *Reader) Read(raw []byte, position int64) []models.RunEvent {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
	if len(raw) == 0 {
		return nil
	}
	if r.torn != nil {
		var done bool
		if raw, position, done = r.joinTorn(raw, position); done {
			return nil
		}
	}
	var events []models.RunEvent
	for repair := false; len(raw) > 0; raw = bytes.TrimSpace(raw) {
		if raw[0] != '{' {
			next := bytes.IndexByte(raw, '{')
			if next < 0 {
				r.Skip(raw, position)
				break
			}
			r.note(raw, position)
			raw = raw[next:]
			continue
		}
		v, rest, err := firstObject(raw)
		switch better := withoutNaN(raw); {
		case err == nil:
			events = append(events, r.object(v, position)...)
			raw = rest
			continue
		case errors.Is(err, io.ErrUnexpectedEOF):
			r.torn, r.tornAt, r.pieces = bytes.Clone(raw), position, 1
			return events
		case !repair && better != nil:
			raw, repair = better, true
			continue
		}
		r.Skip(raw, position)
		next := bytes.Index(raw[1:], []byte(`{"type"`))
		if next < 0 {
			break
		}
		raw = raw[1+next:]
	}
	return events
}

// End says that no line follows: it returns the events that were held back.
func (r *Reader) End() []models.RunEvent {
	if r.torn != nil {
		r.Skip(r.torn, r.tornAt)
		r.torn = nil
	}
	return r.flush()
}

// Unread is how many lines could not be read, or not whole, with the beginnings of the first.
// Lost says that they may have been a part of the run: a line without any object is none.
func (r *Reader) Unread() (lines int, first []Unread, lost bool) { return r.unread, r.first, r.lost }

// Skip counts a line that could not be read.
func (r *Reader) Skip(raw []byte, position int64) {
	r.lost = r.lost || bytes.IndexByte(raw, '{') >= 0
	r.note(raw, position)
}

// Lose counts a line that was not read at all.
func (r *Reader) Lose(start []byte, position int64) {
	r.lost = true
	r.note(start, position)
}

func (r *Reader) note(raw []byte, position int64) {
	if r.unread > 0 && r.lastAt == position+1 {
		return // it is counted
	}
	r.unread, r.lastAt = r.unread+1, position+1
	if len(r.first) < mostNamed {
		r.first = append(r.first,
			Unread{
				position + 1,
				models.Cut(strings.ToValidUTF8(string(raw[:min(len(raw), 2*mostBeginning)]), "\ufffd"), mostBeginning),
			})
	}
}

// object reads one object.
func (r *Reader) object(v jsontext.Value, position int64) []models.RunEvent {
	var l line
	if err := json.Unmarshal(v, &l, lenient); err != nil {
		r.Skip(v, position)
		return nil
	}
	id := lineID(string(l.UUID), v, position)
	if l.Type == "message" && l.Role == "assistant" && bool(l.Delta) {
		r.gather(&l, id)
		return nil
	}
	events, unread := r.read(&l, id)
	if unread {
		r.Skip(v, position)
	}
	at := l.at()
	for i := range events {
		events[i].At, events[i].ParentToolUseID = at, key(l.ParentToolUseID)
	}
	if r.isOther(string(l.UUID), events) { // the id is that of another line
		old := id
		id = lineID("", v, position)
		for i := range events {
			events[i].ID = id + strings.TrimPrefix(events[i].ID, old)
		}
	}
	for i := range events {
		r.follow(&events[i])
	}
	return append(r.flush(), events...)
}

// read reads one object by its type.
func (r *Reader) read(l *line, id string) (events []models.RunEvent, unread bool) {
	one := func(e models.RunEvent, ok bool) ([]models.RunEvent, bool) {
		if !ok {
			return nil, true
		}
		return []models.RunEvent{e}, false
	}
	switch l.Type {
	case "assistant", "user":
		return l.spoken(id)
	case "init", "system":
		if l.Type == "system" && l.Subtype != "init" {
			return nil, false
		}
		return one(models.RunEvent{ID: id + "/0", Type: models.RunEventStatus, Status: models.ConversationRunning}, true)
	case "message":
		e, ok := l.words(string(l.Content), id+"/0")
		if !ok || strings.TrimSpace(string(l.Content)) == "" {
			return nil, l.Role != "user" && l.Role != "assistant"
		}
		return one(e, l.Role == "user" || l.Role == "assistant")
	case "tool_use":
		return one(l.bareCall(id))
	case "tool_result":
		return one(l.bareResult(id))
	case "tool_call":
		call, result, ok := l.wrapped(id)
		switch known := r.calls[call.ToolUseID]; {
		case !ok:
			return nil, true
		case result.ID == "":
			return one(call, true)
		case known != nil && known.sum == sumOf(&call):
			return one(result, true)
		}
		return []models.RunEvent{call, result}, false // its beginning was not printed
	case "result":
		return r.result(l, id), false
	case "error":
		said := messageOf(l.Message)
		e := models.RunEvent{ID: id + "/0", Type: models.RunEventReply}
		e.Content, e.ContentBytes = cut("Error: " + said)
		return one(e, said != "")
	}
	return nil, !quiet[l.Type]
}

// quiet are the types of lines that are known, and nothing to report.
var quiet = map[text]bool{
	"stream_event": true, "control_request": true, "control_response": true, "control_cancel_request": true,
	"keep_alive": true, "rate_limit_event": true, "tool_progress": true, "tool_use_summary": true, "auth_status": true,
	"prompt_suggestion": true, "thinking": true, "summary": true, "file-history-snapshot": true, "queue-operation": true,
}

// result reads the last line of a turn. Its text replaces a reply that was not read.
func (r *Reader) result(l *line, id string) []models.RunEvent {
	e := l.ended(id)
	said := string(l.Result)
	kept, length := cut(said)
	known := strings.Contains(r.turn.String(), withoutSpace(kept))
	r.turn.Reset()
	if e.Status != models.ConversationCompleted || strings.TrimSpace(said) == "" || known {
		return []models.RunEvent{e}
	}
	return []models.RunEvent{{ID: id + "/r", Type: models.RunEventReply, Content: kept, ContentBytes: length}, e}
}

// gather keeps a part of a reply until it is whole.
func (r *Reader) gather(l *line, id string) {
	if len(r.partial) == 0 {
		r.partial = []models.RunEvent{{ID: id + "/0", Type: models.RunEventReply, At: l.at()}}
	}
	if e := &r.partial[0]; len(e.Content) <= models.MaxResult {
		e.Content += string(l.Content)
	} else {
		e.ContentBytes += int64(len(l.Content))
	}
}

// flush is the reply that came in parts, if there is one.
func (r *Reader) flush() []models.RunEvent {
	events := r.partial
	r.partial = nil
	if len(events) == 0 || strings.TrimSpace(events[0].Content) == "" {
		return nil
	}
	e, more := &events[0], events[0].ContentBytes
	var length int64
	if e.Content, length = cut(e.Content); length > 0 || more > 0 {
		e.ContentBytes = max(length, int64(len(e.Content))) + more
	}
	r.follow(e)
	return events
}

// isOther reports whether an id of a line was used before for something else.
func (r *Reader) isOther(uuid string, events []models.RunEvent) bool {
	if uuid == "" || len(events) == 0 {
		return false
	}
	h := sha256.New()
	for _, e := range events {
		e.At, e.ID = nil, ""
		_ = json.MarshalWrite(h, &e) // a hash takes everything
	}
	sum := [sha256.Size]byte(h.Sum(nil))
	if r.lines == nil {
		r.lines = make(map[string][sha256.Size]byte)
	}
	known, found := r.lines[uuid]
	if !found {
		r.lines[uuid] = sum
	}
	return found && known != sum
}

// follow gives a call whose id was used before one that is new, and its result too; and notes
// what the agent said.
func (r *Reader) follow(e *models.RunEvent) {
	if parent := r.calls[e.ParentToolUseID]; parent != nil {
		e.ParentToolUseID = parent.id
	}
	switch e.Type {
	case models.RunEventReply:
		if e.ParentToolUseID == "" && r.turn.Len() < mostTurn {
			r.turn.WriteString(withoutSpace(e.Content))
		}
	case models.RunEventToolResult:
		if c := r.calls[e.ToolUseID]; c != nil {
			e.ToolUseID = c.id
		}
	case models.RunEventToolCall:
		r.followCall(e)
	case models.RunEventMessage, models.RunEventStatus:
	}
}

func (r *Reader) followCall(e *models.RunEvent) {
	if r.calls == nil {
		r.calls = make(map[string]*call)
	}
	stream, sum := e.ToolUseID, sumOf(e)
	c := r.calls[stream]
	switch {
	case c == nil:
		r.calls[stream] = &call{id: stream, batch: e.BatchID, sum: sum, times: 1}
		return
	case c.sum != sum || c.batch != e.BatchID: // else it is printed again
		c.times++
		c.id, c.batch, c.sum = models.NewUseOf(stream, c.times), e.BatchID, sum
	}
	e.ToolUseID = c.id
}

func sumOf(e *models.RunEvent) [sha256.Size]byte {
	return sha256.Sum256([]byte(e.ToolName + "\x00" + string(e.Input) + e.InputDigest))
}

func withoutSpace(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return -1
		}
		return c
	}, s)
}
