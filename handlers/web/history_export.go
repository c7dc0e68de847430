package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
)

// Of an export: how many requests are written before they are sent, and how long
// one such write may take before its reader is given up.
const (
	exportedAtOnce = 200
	slowExport     = time.Minute
)

// exportFormats are how a file is written: its type, and what begins it and gives
// what writes a request.
var exportFormats = map[string]struct {
	contentType string
	begin       func(io.Writer) (func(*models.Approval) error, error)
}{
	"csv":   {"text/csv; charset=utf-8", exportCSV},
	"jsonl": {"application/jsonl; charset=utf-8", exportJSONL},
}

// exportHistory streams all that the filters choose. What goes wrong before
// anything was sent is said as always; later, the connection is cut, so that half a
// file is not taken for one.
func (s *Site) exportHistory(c echo.Context) error {
	ctx, actor := c.Request().Context(), actorOf(c)
	name := c.QueryParam("format")
	format, ok := exportFormats[name]
	if !ok {
		return models.Invalid("format", "must be csv or jsonl")
	}
	place, q, err := readHistory(c.QueryParams())
	if err != nil {
		return err
	}
	if place.After != "" {
		return c.Redirect(http.StatusSeeOther, place.ExportURL(name))
	}
	w := c.Response()
	out := bufio.NewWriterSize(patient{w}, 64<<10)
	header := w.Header()
	header.Set(echo.HeaderContentType, format.contentType)
	header.Set(echo.HeaderContentDisposition, `attachment; filename="countersign-history-`+s.kit.Now().UTC().Format("2006-01-02")+`.`+name+`"`)
	header.Set(echo.HeaderCacheControl, "no-store")
	n := 0
	send := func() error { return s.sendExport(ctx, w, out, actor) }
	// Whoever waits sees at once that it has begun, however long the first row takes.
	// Nothing is written before the filters were found good: csv writes at once.
	var put func(*models.Approval) error
	begin := func() (err error) {
		if put, err = format.begin(out); err != nil {
			return err
		}
		return send()
	}
	err = s.store.EachSettled(ctx, actor, q, begin, func(a *models.Approval) error {
		if n++; n%exportedAtOnce == 0 {
			if err := send(); err != nil {
				return err
			}
		}
		return put(a)
	})
	if err == nil {
		err = send()
	}
	switch {
	case err == nil:
		return nil
	case !w.Committed:
		header.Del(echo.HeaderContentDisposition)
		return err
	case ctx.Err() == nil && models.ErrorCode(err) == models.CodeInternal && !errors.Is(err, errNotSent):
		s.kit.LogInternal(c, err)
	}
	panic(http.ErrAbortHandler)
}

// errNotSent says that the reader is gone, or takes nothing.
var errNotSent = errors.New("the export could not be sent")

// patient gives the reader of an export a while for each piece, and no longer: one
// who takes nothing ends it.
type patient struct{ http.ResponseWriter }

func (p patient) Write(piece []byte) (int, error) {
	handlers.WriteWithin(p.ResponseWriter, slowExport)
	return p.ResponseWriter.Write(piece)
}

// sendExport sends what was written so far, to somebody who may still have it.
func (s *Site) sendExport(ctx context.Context, w *echo.Response, out *bufio.Writer, actor models.Actor) error {
	if err := s.store.CheckCredential(ctx, actor); err != nil {
		return err
	}
	if err := errors.Join(out.Flush(), http.NewResponseController(w).Flush()); err != nil {
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	return nil
}

// exportedRequest is a request as JSON Lines tell it. Its input stands as it was
// sent, but for characters that would not be seen: those are escapes of JSON.
type exportedRequest struct {
	ID             models.ResponseID     `json:"id"`
	Status         string                `json:"status"` // let_through: without a person
	Cause          models.Cause          `json:"cause"`
	SettledAt      string                `json:"settledAt"`
	AskedAt        string                `json:"askedAt"`
	By             models.UserID         `json:"by,omitempty"`
	ByName         string                `json:"byName,omitempty"`
	Reason         string                `json:"reason,omitempty"`
	Kind           models.Kind           `json:"kind"`
	Tool           string                `json:"tool,omitempty"`
	Digest         string                `json:"digest"`
	Input          json.RawMessage       `json:"input,omitempty"`
	CutInput       string                `json:"cutInput,omitempty"` // the beginning of one that is not kept whole
	InputBytes     int64                 `json:"inputBytes,omitempty"`
	Content        string                `json:"content,omitempty"`
	Description    string                `json:"description,omitempty"`
	Answer         string                `json:"answer,omitempty"`
	EditedDigest   string                `json:"editedDigest,omitempty"`
	EditedInput    json.RawMessage       `json:"editedInput,omitempty"`
	Risk           models.Risk           `json:"risk"`
	PolicyVersion  int64                 `json:"policyVersion,omitempty"`
	PolicyRule     string                `json:"policyRule,omitempty"`
	GrantID        models.GrantID        `json:"grantId,omitempty"`
	AgentID        models.AgentID        `json:"agentId"`
	Agent          string                `json:"agent"`
	OwnerID        models.UserID         `json:"ownerId"`
	Owner          string                `json:"owner"`
	ConversationID models.ConversationID `json:"conversationId"`
	Conversation   string                `json:"conversation,omitempty"`
	RunID          string                `json:"runId,omitempty"`
	Removed        string                `json:"removed,omitempty"` // the mark that stands in the place of contents
}

const exportTime = "2006-01-02T15:04:05.000000Z"

func exportedOf(a *models.Approval) exportedRequest {
	e := exportedRequest{
		ID: a.ID, Status: string(a.Status()), Cause: a.Cause, SettledAt: a.CreatedAt.UTC().Format(exportTime), AskedAt: a.CreatedAt.UTC().Format(exportTime),
		Reason: a.ApprovalFeedback, Kind: a.Kind, Tool: a.ToolName, Digest: a.Digest, Content: a.Content, Description: a.Description,
		Answer: a.Answer, Risk: a.Risk, PolicyVersion: a.PolicyVersion, PolicyRule: a.PolicyRule,
		AgentID: a.AgentID, Agent: a.AgentName, OwnerID: a.OwnerID, Owner: a.OwnerName, ConversationID: a.ConversationID, Conversation: a.ConversationTitle, Removed: a.RemovedText(),
	}
	if a.LetThrough() {
		e.Status = "let_through"
	}
	if a.ApprovalTimestamp != nil {
		e.SettledAt = a.ApprovalTimestamp.UTC().Format(exportTime)
	}
	if a.ApprovalRequestedAt != nil {
		e.AskedAt = a.ApprovalRequestedAt.UTC().Format(exportTime)
	}
	if a.GrantID != nil {
		e.GrantID = *a.GrantID
	}
	if a.RunID != nil {
		e.RunID = *a.RunID
	}
	switch {
	case a.InputBytes != nil:
		e.CutInput, e.InputBytes = a.ToolInputJSON, *a.InputBytes
	case json.Valid([]byte(a.ToolInputJSON)):
		e.Input = json.RawMessage(a.ToolInputJSON)
	default:
		e.CutInput = a.ToolInputJSON
	}
	if v := a.Vote; v != nil && a.Cause == models.CauseReviewer {
		e.By, e.ByName = v.UserID, v.UserName
		if v.Input != nil {
			e.EditedInput = json.RawMessage(*v.Input)
		}
		if v.InputDigest != nil {
			e.EditedDigest = *v.InputDigest
		}
	}
	return e
}

func exportJSONL(w io.Writer) (func(*models.Approval) error, error) {
	var line bytes.Buffer
	out := json.NewEncoder(&line)
	out.SetEscapeHTML(false)
	return func(a *models.Approval) error {
		line.Reset()
		if err := out.Encode(exportedOf(a)); err != nil {
			return fmt.Errorf("export request %s: %w", a.ID, err)
		}
		_, err := io.WriteString(w, models.VisibleJSON(strings.TrimSuffix(line.String(), "\n"))+"\n")
		return err
	}, nil
}

// exportColumns head a CSV file.
var exportColumns = []string{
	"id", "settled_at", "status", "cause", "by", "reason", "kind", "tool", "input", "edited_input", "answer", "description", "risk", "asked_at", "took_seconds",
	"digest", "policy_version", "policy_rule", "agent", "owner", "conversation", "run", "grant_id", "page",
}

func exportCSV(w io.Writer) (func(*models.Approval) error, error) {
	out := csv.NewWriter(w)
	put := func(row []string) error {
		err := out.Write(row)
		out.Flush() // w gathers
		return errors.Join(err, out.Error())
	}
	return func(a *models.Approval) error {
		e := exportedOf(a)
		took := ""
		if a.ApprovalTimestamp != nil && a.ApprovalRequestedAt != nil {
			took = strconv.FormatFloat(a.ApprovalTimestamp.Sub(*a.ApprovalRequestedAt).Seconds(), 'f', 3, 64)
		}
		input := a.ToolInputJSON
		if input == "" {
			input = a.Content
		}
		row := []string{
			string(e.ID), e.SettledAt, e.Status, string(e.Cause), e.ByName, e.Reason, string(e.Kind), e.Tool, input, string(e.EditedInput), e.Answer, e.Description,
			string(e.Risk), e.AskedAt, took, e.Digest, strconv.FormatInt(e.PolicyVersion, 10), e.PolicyRule, e.Agent, e.Owner, e.Conversation, e.RunID, string(e.GrantID),
			views.ApprovalURL(a.ID),
		}
		for i := range row {
			row[i] = models.HarmlessCell(row[i])
		}
		return put(row)
	}, put(exportColumns)
}
