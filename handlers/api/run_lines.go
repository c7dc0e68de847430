package api

import (
	"bytes"
	"errors"
	"io"
	"mime"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// ndjson is JSON with one value on each line.
const ndjson = "application/x-ndjson"

// maxEvents bounds the answer to a report, which is longer than the shortest
// events. Real ones reach the limit of a body long before.
const maxEvents = 20_000

// maxToldID is the longest id that an answer repeats, in bytes; the line names
// those with a longer one.
const maxToldID = 4 << 10

// reportedLine is one reported event, or the reason why it is refused; then event has its id, if one could be read.
type reportedLine struct {
	number int // from 1, as sent
	event  models.RunEvent
	wrong  string
}

// readReport reads a body of events by its content type. Codes: invalid, where it
// is not a list of anything.
func readReport(contentType string, body []byte) ([]reportedLine, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if contentType == "" {
		kind, err = "application/json", nil
	}
	switch {
	case err != nil:
	case kind == "application/json":
		return readArray(body)
	case kind == ndjson, kind == "application/ndjson", kind == "application/jsonl", kind == "application/x-jsonlines":
		return readLines(body)
	}
	return nil, models.Invalid("body", "must be sent with Content-Type: application/json or %s", ndjson)
}

// readLines reads one event from each line. Empty lines are none.
func readLines(body []byte) ([]reportedLine, error) {
	var out []reportedLine
	number := 0
	for line := range bytes.Lines(body) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if len(out) == maxEvents {
			return nil, errTooManyEvents()
		}
		out = append(out, readEvent(number, line))
	}
	return out, nil
}

// readArray reads one event from each element. It refuses a body that is not an array of JSON values as a whole, for
// after an error it can't find the beginning of the next event.
func readArray(body []byte) ([]reportedLine, error) {
	// The elements are read strictly, each separately.
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if dec.PeekKind() != '[' {
		return nil, models.Invalid("body", "must be a JSON array of events")
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, errArray(err)
	}
	var out []reportedLine
	for dec.PeekKind() != ']' {
		element, err := dec.ReadValue()
		if err != nil {
			return nil, errArray(err)
		}
		if len(out) == maxEvents {
			return nil, errTooManyEvents()
		}
		out = append(out, readEvent(len(out)+1, element))
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, errArray(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, models.Invalid("body", "must be one JSON array, and nothing after it")
	}
	return out, nil
}

func errArray(err error) error {
	field, message := bodyProblem(err)
	return models.Invalid(field, "%s", message)
}

func errTooManyEvents() error {
	return models.Invalid("body", "may have at most %d events: send the rest in another request", maxEvents)
}

// readEvent reads one event as strictly as any body.
func readEvent(number int, raw []byte) reportedLine {
	l := reportedLine{number: number}
	err := json.Unmarshal(raw, &l.event, readOptions)
	if err == nil && raw[0] != '{' {
		err = errors.New("must be an event, not null")
	}
	if err == nil {
		return l
	}
	field, message := bodyProblem(err)
	if field == "body" {
		field = "event"
	}
	l.wrong = models.Invalid(field, "%s", message).Error()
	l.event = models.RunEvent{ID: idIn(raw)}
	return l
}

// idIn is the id of an event that is wrong somewhere else; empty if there is none.
func idIn(raw []byte) string {
	var named struct {
		ID string `json:"id"`
	}
	// What came before a mistake was read.
	_ = json.Unmarshal(raw, &named, jsontext.AllowDuplicateNames(true))
	return named.ID
}
