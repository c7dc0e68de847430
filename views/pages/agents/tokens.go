package agents

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// TokenForm keeps the form if a token could not be made.
type TokenForm struct {
	Scope       models.Scope
	Agent, Name string
	Expires     string
	Errors      map[string]string // by field
}

// TokenRow is one credential; its secret is never here.
type TokenRow struct {
	ID        string
	RevokeURL string
	Name      string
	Agent     string
	AgentURL  string
	Scope     models.Scope
	Hint      string
	Created   views.Moment
	Expires   views.Moment
	LastUsed  views.Moment
	State     ui.Word
	Live      bool
}

// tokenRow is a token's row; revoking it leads back to the place.
func tokenRow(t *models.Token, place views.AgentsPlace, now time.Time) TokenRow {
	row := TokenRow{
		ID: string(t.ID), RevokeURL: place.Act(views.RevokeTokenURL(t.ID)), Name: t.Name, Scope: t.Scope, Hint: t.Hint,
		Created: views.Ago(t.CreatedAt, now), LastUsed: views.AgoOf(t.LastUsedAt, now), Live: t.Live(now),
	}
	if t.ExpiresAt != nil {
		row.Expires = views.Exact(*t.ExpiresAt)
	}
	switch {
	case t.RevokedAt != nil:
		row.State = ui.Word{Text: "revoked", Tone: views.ToneNeutral}
	case !row.Live:
		row.State = ui.Word{Text: "expired", Tone: views.ToneWarn}
	default:
		row.State = ui.Word{Text: "active", Tone: views.ToneGood}
	}
	return row
}

// ended counts the tokens that no longer work.
func ended(rows []TokenRow) int {
	n := 0
	for i := range rows {
		if !rows[i].Live {
			n++
		}
	}
	return n
}

// errorFor gives the error of a field to the form that was sent, and to no
// other one on the page.
func (f TokenForm) errorFor(scope models.Scope, field string) string {
	if f.Scope != scope {
		return ""
	}
	return f.Errors[field]
}

// value is a field's value as it was sent.
func (f TokenForm) value(scope models.Scope, value string) string {
	if f.Scope != scope {
		return ""
	}
	return value
}

func tokenColumns() []ui.Column {
	return []ui.Column{
		{Label: "Token"},
		{Label: "Scope", Width: "small"},
		{Label: "State", Width: "small"},
		{Label: "Last use", Width: "small"},
		{Label: "Expires", Width: "large"},
		{Label: "Created", Width: "small", Wide: true},
		{Width: "small"},
	}
}
