package audit

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
)

// historyFormats are how requests are written.
var historyFormats = site.Formats[*models.Approval]{
	"csv":   {ContentType: "text/csv; charset=utf-8", Begin: exportCSV},
	"jsonl": {ContentType: "application/jsonl; charset=utf-8", Begin: exportJSONL},
}

// exportHistory streams all that the filters choose.
func (s *Screens) exportHistory(c echo.Context) error {
	name, err := historyFormats.Named(c)
	if err != nil {
		return err
	}
	place, q, err := readHistory(c.QueryParams())
	if err != nil {
		return err
	}
	if place.After != "" {
		return c.Redirect(http.StatusSeeOther, place.ExportURL(name))
	}
	return site.Export(s.Site, c, "history", name, historyFormats[name], func(begin func() error, put func(*models.Approval) error) error {
		return s.Store.Requests.EachSettled(c.Request().Context(), site.ActorOf(c), q, begin, put)
	})
}

// exportedRequest is a request in JSON Lines. Its input is as sent, with invisible characters escaped.
type exportedRequest struct {
	ID         models.ResponseID `json:"id"`
	Status     string            `json:"status"` // let_through: without a person
	Cause      models.Cause      `json:"cause"`
	SettledAt  string            `json:"settledAt"`
	AskedAt    string            `json:"askedAt"`
	By         models.UserID     `json:"by,omitempty"`
	ByName     string            `json:"byName,omitempty"`
	Signed     []signature       `json:"signed,omitempty"` // where several people signed: all of them
	Reason     string            `json:"reason,omitempty"`
	Kind       models.Kind       `json:"kind"`
	Tool       string            `json:"tool,omitempty"`
	Digest     string            `json:"digest"`
	Input      json.RawMessage   `json:"input,omitempty"`
	CutInput   string            `json:"cutInput,omitempty"` // the beginning of one that is not kept whole
	InputBytes int64             `json:"inputBytes,omitempty"`
	// what the agent reported, where another system ran another input
	ReportedInput json.RawMessage `json:"reportedInput,omitempty"`
	Content       string          `json:"content,omitempty"`
	models.Explanation

	Answer         string                `json:"answer,omitempty"`
	EditedDigest   string                `json:"editedDigest,omitempty"`
	EditedInput    json.RawMessage       `json:"editedInput,omitempty"`
	SuggestedInput json.RawMessage       `json:"suggestedInput,omitempty"` // that would have been approved
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
	Removed        string                `json:"removed,omitempty"` // the mark in place of removed contents
}

// signature is one of several on a request.
type signature struct {
	By         models.UserID  `json:"by"`
	ByName     string         `json:"byName"`
	Behalf     models.UserID  `json:"behalf,omitempty"` // for whom; empty: in their own right
	BehalfName string         `json:"behalfName,omitempty"`
	Verdict    models.Verdict `json:"verdict"`
	At         string         `json:"at"`
	BrokeGlass bool           `json:"brokeGlass,omitzero"` // it decided alone
}

// signaturesOf are those on a request that several people signed, and the same in words.
func signaturesOf(a *models.Approval) (out []signature, words string) {
	for i := range a.Signatures {
		v := &a.Signatures[i]
		out = append(out, signature{v.UserID, v.UserName, v.BehalfOf, v.BehalfName, v.Verdict, v.At.UTC().Format(site.TimeFormat), v.BrokeGlass()})
		if words != "" {
			words += "; "
		}
		if words += v.UserName; v.BehalfOf != "" {
			words += " on behalf of " + v.BehalfName
		}
		if v.BrokeGlass() {
			words += " (broke glass)"
		}
	}
	return out, words
}

func exportedOf(a *models.Approval) exportedRequest {
	e := exportedRequest{
		ID: a.ID, Status: string(a.Status()), Cause: a.Cause, SettledAt: a.CreatedAt.UTC().Format(site.TimeFormat),
		AskedAt: a.CreatedAt.UTC().Format(site.TimeFormat),
		Reason:  a.Feedback(), Kind: a.Kind, Tool: a.ToolName, Digest: a.Digest, Content: a.Content,
		Explanation: a.AgentExplanation(),
		Answer:      a.Answer, Risk: a.Risk, PolicyVersion: a.PolicyVersion, PolicyRule: a.PolicyRule,
		AgentID: a.AgentID, Agent: a.AgentName, OwnerID: a.OwnerID, Owner: a.OwnerName, ConversationID: a.ConversationID,
		Conversation: a.ConversationTitle, Removed: a.RemovedText(),
	}
	e.Signed, _ = signaturesOf(a)
	if a.LetThrough() {
		e.Status = "let_through"
	}
	if a.ApprovalTimestamp != nil {
		e.SettledAt = a.ApprovalTimestamp.UTC().Format(site.TimeFormat)
	}
	if a.ApprovalRequestedAt != nil {
		e.AskedAt = a.ApprovalRequestedAt.UTC().Format(site.TimeFormat)
	}
	if a.GrantID != nil {
		e.GrantID = *a.GrantID
	}
	if run := a.AskedRun(); run != nil {
		e.RunID = *run
	}
	input := a.InputThatRuns()
	switch {
	case a.InputBytes != nil:
		e.CutInput, e.InputBytes = input, *a.InputBytes
	case json.Valid([]byte(input)):
		e.Input = json.RawMessage(input)
	default:
		e.CutInput = input
	}
	if _, other := a.OtherInput(); other && json.Valid([]byte(a.ToolInputJSON)) {
		e.ReportedInput = json.RawMessage(a.ToolInputJSON)
	}
	if v := a.Vote; v != nil && a.Cause == models.CauseReviewer {
		e.By, e.ByName = v.UserID, v.UserName
		if text, edited := v.ApprovedInput(); edited {
			e.EditedInput, e.EditedDigest = json.RawMessage(text), orEmpty(v.InputDigest)
		}
		if text, suggests := v.SuggestedInput(); suggests {
			e.SuggestedInput = json.RawMessage(text)
		}
	}
	return e
}

func exportJSONL(w io.Writer) (func(*models.Approval) error, error) {
	return site.JSONLines(w, func(row *models.Approval) any { return exportedOf(row) }), nil
}

// exportColumns head a CSV file.
var exportColumns = []string{
	"id", "settled_at", "status", "cause", "by", "reason", "kind", "tool", "input", "edited_input", "answer",
	"description", "risk", "asked_at", "took_seconds",
	"digest", "policy_version", "policy_rule", "agent", "owner", "conversation", "run", "grant_id", "page",
	"reported_input", "signed_by",
}

func exportCSV(w io.Writer) (func(*models.Approval) error, error) {
	put, err := site.CSVRows(w, exportColumns)
	return func(a *models.Approval) error {
		e := exportedOf(a)
		took := ""
		if a.ApprovalTimestamp != nil && a.ApprovalRequestedAt != nil {
			took = strconv.FormatFloat(a.ApprovalTimestamp.Sub(*a.ApprovalRequestedAt).Seconds(), 'f', 3, 64)
		}
		_, signed := signaturesOf(a)
		input := a.InputThatRuns()
		if input == "" {
			input = a.Content
		}
		row := []string{
			string(e.ID), e.SettledAt, e.Status, string(e.Cause), e.ByName, e.Reason, string(e.Kind), e.Tool, input,
			string(e.EditedInput), e.Answer, e.Description,
			string(e.Risk), e.AskedAt, took, e.Digest, strconv.FormatInt(e.PolicyVersion, 10), e.PolicyRule, e.Agent, e.Owner,
			e.Conversation, e.RunID, string(e.GrantID),
			views.ApprovalURL(a.ID), string(e.ReportedInput), signed,
		}
		return put(row)
	}, err
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
