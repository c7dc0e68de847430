package audit

import (
	"strconv"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// BrokenInput is what the list of decisions that broke glass is made of.
type BrokenInput struct {
	List   []models.GlassBreak
	More   bool
	Reader models.Actor
	// Of a form that was refused: its decision, the text as typed, and its error.
	Vote          models.VoteID
	Remark, Error string
}

// Broken are decisions that broke glass and wait until another person acknowledges them.
type Broken struct {
	Rows []BrokenRow
	More bool
}

// BrokenRow is one of them.
type BrokenRow struct {
	Vote, URL           string
	Tool, Kind, Summary string
	By, Did             string // such as Ann, approved
	At                  views.Moment
	Reason              string
	Skipped             []string
	Undone              bool
	May                 bool // the reader may acknowledge it
	Remark              ui.Field
}

// BrokeGlassWord marks a decision that broke glass.
var BrokeGlassWord = ui.Word{Text: "break glass", Tone: views.ToneBad, Icon: "triangle-alert"}

// NewBroken makes the list as of now.
func NewBroken(in BrokenInput, now time.Time) Broken {
	v := Broken{More: in.More}
	for i := range in.List {
		b := &in.List[i]
		row := BrokenRow{
			Vote: string(b.Vote.ID), URL: views.ApprovalURL(b.Request.ID), Tool: b.Request.ToolName,
			Summary: words.Summary(&b.Request.Response), By: b.Vote.UserName, Did: "approved",
			At: views.Ago(b.Vote.At, now), Reason: b.Vote.Reason, Undone: b.Vote.WithdrawnAt != nil,
			May: b.Vote.MayAcknowledge(in.Reader),
		}
		if b.Vote.Verdict == models.VerdictReject {
			row.Did = "rejected"
		}
		if b.Request.Kind != models.KindToolCall {
			row.Kind = b.Request.Kind.Word()
		}
		for _, p := range b.Vote.Skipped() {
			row.Skipped = append(row.Skipped, p.Name)
		}
		row.Remark = ui.Field{
			ID: "remark-" + row.Vote, Name: "remark", Label: "What you found", Type: "textarea", Rows: 2, Optional: true,
			MaxLength: strconv.Itoa(models.MaxReason),
		}
		if b.Vote.ID == in.Vote {
			row.Remark.Value, row.Remark.Error, row.Remark.Focus = in.Remark, in.Error, true
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}
