package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/go-json-experiment/json"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/runs"
)

// mostPending is how many of a session's pending requests are looked through for those
// that were decided at the terminal.
const mostPending = 200

// result takes what came of a call, which closes it.
func (h *hook) result(ctx context.Context) error {
	e := &h.event
	got := models.RunEvent{Type: models.RunEventToolResult, ToolUseID: e.ToolUseID, Result: e.Error, IsError: true}
	if e.Name == wire.HookPostToolUse {
		got.Result, got.IsError, got.ResultBytes = resultText(e.ToolResponse), false, e.ToolResponseBytes
	}
	if err := h.report(ctx, models.ConversationRunning, "again:"+e.ToolUseID, got); err != nil {
		return err
	}
	return h.withdraw(ctx, func(a *models.Approval) bool {
		return a.ToolName == e.ToolName && a.Digest == h.digest()
	})
}

// rest takes the agent's last message. The agent waits for a person now, so no call waits at its terminal for a
// permission that no process of ours waits for.
func (h *hook) rest(ctx context.Context) error {
	e := &h.event
	sum := sha256.Sum256([]byte(e.PromptID + "\x00" + e.LastMessage))
	id := hex.EncodeToString(sum[:16])
	var said []models.RunEvent
	if e.LastMessage != "" {
		said = append(said, models.RunEvent{ID: "said:" + id, Type: models.RunEventReply, Content: e.LastMessage})
	}
	if err := h.report(ctx, models.ConversationWaitingInput, "rest:"+id, said...); err != nil {
		return err
	}
	return h.withdraw(ctx, func(a *models.Approval) bool {
		agents, err := h.store.Presences(ctx, a.ID)
		return err == nil && !agents[a.ID].Waiting
	})
}

// report tells what happened in the session, and moves it to a status that it is not in.
func (h *hook) report(
	ctx context.Context, status models.ConversationStatus, id string, events ...models.RunEvent,
) error {
	conv, _, err := runs.New(h.store).OpenRun(ctx, h.actor, h.run())
	if err != nil {
		return err
	}
	if conv.Status != status {
		events = append(events, models.RunEvent{ID: id, Type: models.RunEventStatus, Status: status})
	}
	if len(events) == 0 {
		return nil
	}
	results, err := runs.New(h.store).ReportEvents(ctx, h.actor, conv.ID, events)
	if err != nil {
		return err
	}
	for i := range results {
		if results[i].Status == models.RunEventError {
			return models.Errorf(models.CodeInvalid, "The report was not accepted: %s", results[i].Error)
		}
	}
	return nil
}

// withdraw ends requests of the agent's own permission rules that were settled at the
// terminal: they have no tool_use_id, so nothing else would end them.
func (h *hook) withdraw(ctx context.Context, over func(*models.Approval) bool) error {
	pending, err := h.store.SessionPending(ctx, h.actor, h.event.SessionID, "", mostPending)
	if err != nil {
		return err
	}
	for i := range pending.Items {
		a := &pending.Items[i]
		if a.UpstreamID != nil || !strings.HasSuffix(a.Context, ofPermission) {
			continue // another system's, or asked by another way in
		}
		if a.ToolUseID != nil || a.Kind != models.KindToolCall || a.RunID == nil || *a.RunID != h.event.SessionID ||
			!over(a) {
			continue
		}
		if _, err := h.store.Cancel(ctx, h.actor, a.ID); err != nil && models.ErrorCode(err) == models.CodeInternal {
			return err // any other says that it was settled meanwhile
		}
	}
	return nil
}

// digest is that of the call as it ran; empty: it has none, and is no request's.
func (h *hook) digest() string {
	canonical, err := models.Canonical(models.KindToolCall, h.event.ToolName, h.event.ToolInput)
	if err != nil {
		return ""
	}
	return models.Digest(canonical)
}

// resultText is a tool's answer as a person reads it: the output of a command, a text, or
// else the JSON.
func resultText(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var command struct {
		Stdout *string `json:"stdout"`
		Stderr string  `json:"stderr"`
	}
	if json.Unmarshal(raw, &command) != nil || command.Stdout == nil {
		return string(raw)
	}
	if command.Stderr == "" {
		return *command.Stdout
	}
	return *command.Stdout + "\n[stderr]\n" + command.Stderr
}
