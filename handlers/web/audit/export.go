package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views/pages/audit"
)

// auditFormats are how entries of a trail are written.
var auditFormats = site.Formats[*models.TrailEntry]{
	"csv":   {ContentType: "text/csv; charset=utf-8", Begin: auditCSV},
	"jsonl": {ContentType: "application/jsonl; charset=utf-8", Begin: auditJSONL},
}

// exportAudit streams all of a trail that the filters choose.
func (s *Screens) exportAudit(c echo.Context) error {
	name, err := auditFormats.Named(c)
	if err != nil {
		return err
	}
	in, q, err := s.readTrail(c)
	if err != nil {
		return err
	}
	if in.Place.Before != 0 {
		return c.Redirect(http.StatusSeeOther, in.Place.ExportURL(name))
	}
	return site.Export(s.Site, c, "audit", name, auditFormats[name], func(begin func() error, put func(*models.TrailEntry) error) error {
		return s.Store.Requests.EachTrail(c.Request().Context(), site.ActorOf(c), q, begin, put)
	})
}

// auditedEntry is an entry as JSON Lines tell it. The members of its request are
// missing where there is none, or none that the reader may see.
type auditedEntry struct {
	Seq            int64                 `json:"seq"`
	At             string                `json:"at"`
	Who            string                `json:"who"`
	WhoKind        models.ActorKind      `json:"whoKind"`
	WhoID          string                `json:"whoId,omitempty"`
	Action         string                `json:"action"`
	Outcome        string                `json:"outcome,omitempty"`
	Reason         string                `json:"reason,omitempty"`
	RequestID      models.ResponseID     `json:"requestId,omitempty"`
	Kind           models.Kind           `json:"kind,omitempty"`
	Tool           string                `json:"tool,omitempty"`
	Summary        string                `json:"summary,omitempty"`
	Agent          string                `json:"agent,omitempty"`
	Owner          string                `json:"owner,omitempty"`
	ConversationID models.ConversationID `json:"conversationId,omitempty"`
	Page           string                `json:"page,omitempty"`
	Data           json.RawMessage       `json:"data,omitempty"` // as the ledger has it
	Hash           string                `json:"hash"`
}

func auditedOf(e *models.TrailEntry) auditedEntry {
	row := audit.NewRow(e, models.Actor{})
	out := auditedEntry{
		Seq: e.Seq, At: e.At, Who: e.ActorName, WhoKind: e.ActorKind, WhoID: e.ActorID, Action: e.Action,
		Outcome: row.Outcome, Reason: e.Reason,
		RequestID: e.ResponseID, ConversationID: e.ConversationID, Hash: fmt.Sprintf("%x", e.Hash),
	}
	if json.Valid([]byte(e.Data)) {
		out.Data = json.RawMessage(e.Data)
	}
	if a := e.Request; a != nil {
		out.Kind, out.Tool, out.Summary, out.Agent, out.Owner, out.Page = a.Kind, a.ToolName, row.Summary, a.AgentName, a.OwnerName, row.URL
	}
	return out
}

func auditJSONL(w io.Writer) (func(*models.TrailEntry) error, error) {
	return site.JSONLines(w, func(row *models.TrailEntry) any { return auditedOf(row) }), nil
}

// auditColumns head a CSV file.
var auditColumns = []string{
	"seq", "at", "who", "who_kind", "action", "outcome", "reason", "kind", "tool", "summary", "agent", "owner", "request",
	"conversation", "page", "data", "hash",
}

func auditCSV(w io.Writer) (func(*models.TrailEntry) error, error) {
	put, err := site.CSVRows(w, auditColumns)
	return func(e *models.TrailEntry) error {
		x := auditedOf(e)
		row := []string{
			strconv.FormatInt(x.Seq, 10), x.At, x.Who, string(x.WhoKind), x.Action, x.Outcome, x.Reason, string(x.Kind), x.Tool,
			x.Summary, x.Agent, x.Owner,
			string(x.RequestID), string(x.ConversationID), x.Page, e.Data, x.Hash,
		}
		return put(row)
	}, err
}
