package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/go-json-experiment/json"

	"countersign/cmd/terminal"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// beforeItsResult cuts lines before the first result of a call among them: where an earlier
// ingest may have used its id, the server's answer about the call says whose result it is.
func beforeItsResult(lines []byte) []byte {
	calls, place := map[string]bool{}, 0
	for line := range bytes.Lines(lines) {
		var e struct {
			Type      models.RunEventType `json:"type"`
			ToolUseID string              `json:"toolUseId"`
		}
		if json.Unmarshal(line, &e) == nil {
			switch {
			case e.Type == models.RunEventToolCall:
				calls[e.ToolUseID] = true
			case e.Type == models.RunEventToolResult && calls[e.ToolUseID]:
				return lines[:place]
			}
		}
		place += len(line)
	}
	return lines
}

// rename puts the ids of calls that are kept under another one into what follows them.
func (h *eventSender) rename(lines []byte) []byte {
	if len(h.newIDs) == 0 {
		return lines
	}
	var out []byte
	for line := range bytes.Lines(lines) {
		var e models.RunEvent
		if json.Unmarshal(line, &e) != nil {
			out = append(out, line...)
			continue
		}
		now, of := h.newIDs[e.ToolUseID], h.newIDs[e.ParentToolUseID]
		if e.Type == models.RunEventToolCall {
			now = "" // it is judged by the server
		}
		if now == "" && of == "" {
			out = append(out, line...)
			continue
		}
		if now != "" {
			e.ToolUseID = now
		}
		if of != "" {
			e.ParentToolUseID = of
		}
		out = appendEvent(out, &e)
	}
	return out
}

func appendEvent(to []byte, e *models.RunEvent) []byte {
	raw, err := json.Marshal(e)
	if err != nil {
		return to // it was read from JSON
	}
	return append(append(to, raw...), '\n')
}

// keepConflicts sends events that contradict the server's record under new ids: another use of an id is another event.
// Events that the server still refuses are not reported.
func (h *eventSender) keepConflicts(ctx context.Context, lines []byte, results []wire.RunEventResult) error {
	var again []byte
	var calls []models.RunEvent
	i := 0
	for line := range bytes.Lines(lines) {
		if results[i].Status == wire.RunEventConflict {
			var e models.RunEvent
			if err := json.Unmarshal(line, &e); err != nil {
				return fmt.Errorf("read an event: %w", err)
			}
			sum := sha256.Sum256(line)
			use := fmt.Sprintf("%x", sum[:4])
			e.ID = models.NewUseOf(e.ID, use)
			if e.Type == models.RunEventToolCall {
				calls = append(calls, e)
				e.ToolUseID = models.NewUseOf(e.ToolUseID, use)
			}
			again = appendEvent(again, &e)
		}
		i++
	}
	if len(again) == 0 {
		return nil
	}
	answer, err := h.client.Report(ctx, h.conversation, again)
	if err != nil {
		return err
	}
	for i := range answer.Results {
		h.heard(&answer.Results[i])
	}
	for _, e := range calls {
		if h.newIDs == nil {
			h.newIDs = make(map[string]string)
		}
		now := models.NewUseOf(e.ToolUseID, e.ID[len(e.ID)-8:])
		if h.newIDs[e.ToolUseID] != now {
			fmt.Fprintf(h.say, "countersign: the id %s was used for another call before; this one is kept as %s\n",
				terminal.Plain(e.ToolUseID), terminal.Plain(now))
		}
		h.newIDs[e.ToolUseID] = now
	}
	return nil
}
