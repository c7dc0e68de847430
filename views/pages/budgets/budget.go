package budgets

import (
	"strconv"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// PanelInput is what a conversation's budget panel is made of.
type PanelInput struct {
	Conversation models.ConversationView
	Steps        []models.BudgetStep  // newest first
	Next         int64                // key of the page of changes after these; 0: there is none
	Before       int64                // key that this page of changes began before; 0: the newest
	Points       []models.EnergyPoint // for the burn chart
	// InConversation panels are on the conversation's own page; there a sent form leads back to.
	InConversation bool
	Form           Form
}

// Form keeps a sent form, with its errors by field: amount, reason, or "" for all.
type Form struct {
	How, Amount, Reason string // How: set, add or take
	Errors              map[string]string
}

// PanelView is the view model of a conversation's budget.
type PanelView struct {
	ID             models.ConversationID
	URL            string // where it refetches itself, and where changes are sent
	Topic          string
	State          string // changes when the person who fills in the form must look again
	Kept           bool   // holds a sent form and its errors
	Title          string // of the conversation
	Gauge          Gauge
	Standing       string // the current budget, as the form sends it; empty: none
	Presets        []Preset
	Form           Form
	Steps          []StepRow
	OlderURL       string
	FirstURL       string
	Chart          BurnChart
	InConversation bool
}

// Preset is a change of the budget by one press.
type Preset struct{ Value, Label, Means string }

// StepRow is one change of the budget.
type StepRow struct {
	At         views.Moment
	Who, Kind  string
	Change, By string
	Reason     string
	URL        string // of the request that brought it; empty: none
}

// NewPanel makes the panel as of now.
func NewPanel(in PanelInput, now time.Time) PanelView {
	c := &in.Conversation
	v := PanelView{
		ID: c.ID, URL: views.BudgetURL(c.ID), Topic: views.ConversationTopic(c.ID), Title: words.ConversationName(c),
		Gauge: NewGauge(c.Budget()), Form: in.Form, Kept: len(in.Form.Errors) > 0,
		Chart: NewBurnChart(in.Points, c.Budget(), now), InConversation: in.InConversation,
	}
	if in.Before > 0 {
		v.URL = views.BudgetPageURL(c.ID, in.Before)
	}
	if c.EnergyBudget != nil {
		v.Standing = strconv.FormatInt(*c.EnergyBudget, 10)
	}
	v.State = v.Standing
	if v.Form.How == "" || v.Standing == "" {
		v.Form.How = "set"
	}
	v.Presets = presets(c.EnergyBudget)
	for i := range in.Steps {
		v.Steps = append(v.Steps, budgetStepRow(&in.Steps[i], now))
	}
	if in.Next > 0 {
		v.OlderURL = views.BudgetPageURL(c.ID, in.Next)
	}
	if in.Before > 0 {
		v.FirstURL = views.BudgetURL(c.ID)
	}
	return v
}

// presets are the usual changes: steps from the current budget, or first
// budgets where none does.
func presets(standing *int64) []Preset {
	var out []Preset
	for _, n := range [...]int64{10, 50, 100} {
		text := strconv.FormatInt(n, 10)
		switch {
		case standing == nil:
			out = append(out, Preset{"=" + text, views.Number(n), "Set the budget to " + views.Number(n)})
		case *standing+n <= models.MaxBudget:
			out = append(out, Preset{"+" + text, "+" + views.Number(n), "Raise the budget to " + views.Number(*standing+n)})
		}
	}
	if standing != nil && *standing > 0 && *standing*2 <= models.MaxBudget {
		out = append(out,
			Preset{"+" + strconv.FormatInt(*standing, 10), "×2", "Double the budget to " + views.Number(*standing*2)})
	}
	return out
}

func budgetStepRow(s *models.BudgetStep, now time.Time) StepRow {
	row := StepRow{At: views.Ago(s.At, now), Who: s.ActorName, Kind: string(s.ActorKind), Reason: s.Reason}
	if s.ActorKind == models.ActorUser {
		row.Kind = ""
	}
	if s.Old == nil {
		row.Change, row.By = "set to "+views.Number(s.New), "no budget before"
	} else {
		row.Change, row.By = views.Number(*s.Old)+" → "+views.Number(s.New), signed(s.New-*s.Old)
	}
	if s.ResponseID != nil {
		row.URL = views.ApprovalURL(*s.ResponseID)
	}
	return row
}

func signed(n int64) string {
	if n > 0 {
		return "+" + views.Number(n)
	}
	return views.Number(n)
}

// Gauge is how full a budget is, in words and for a meter.
type Gauge struct {
	HasLimit   bool
	Used, Most string // of the meter: used and reserved, of the total
	High       string // where the meter warns
	Percent    string
	Text       string // used, reserved, remaining
	Short      string // used of total
	Warning    string // from 80% on, in words
	Tone       views.Tone
}

// NewGauge puts a budget into words.
func NewGauge(b models.Budget) Gauge {
	spent := views.Number(b.Used) + " used"
	if b.Reserved > 0 {
		spent += ", " + views.Number(b.Reserved) + " reserved"
	}
	if b.Total == nil {
		return Gauge{Text: spent + "; no limit", Short: views.Number(b.Used) + " used, no limit", Tone: views.ToneNeutral}
	}
	total, sum := *b.Total, b.Used+b.Reserved
	most := max(total, 1)
	g := Gauge{
		HasLimit: true, Used: strconv.FormatInt(min(sum, most), 10), Most: strconv.FormatInt(most, 10),
		High:  strconv.FormatFloat(float64(most)*0.8, 'f', -1, 64),
		Text:  spent + ", " + views.Number(*b.Remaining()) + " remaining of " + views.Number(total),
		Short: views.Number(sum) + " of " + views.Number(total), Tone: views.ToneGood,
	}
	if total == 0 {
		g.Used = g.Most
	} else {
		g.Percent = views.Number(int64(float64(sum)/float64(total)*100)) + "%"
	}
	switch {
	case b.Exhausted():
		g.Tone, g.Warning = views.ToneBad, "Exhausted: the agent needs more to continue."
	case b.Low():
		g.Tone, g.Warning = views.ToneWarn, g.Percent+" used or reserved"
	}
	return g
}

// MeterName says whose gauge it is, to those who do not see it.
func (g Gauge) MeterName() string { return "Energy: " + g.Text }

// Badge is the warning in one word.
func (g Gauge) Badge() ui.Word {
	switch g.Tone {
	case views.ToneBad:
		return ui.Word{Text: "exhausted", Tone: views.ToneBad, Icon: "octagon-alert"}
	case views.ToneWarn:
		return ui.Word{Text: g.Percent + " spent", Tone: views.ToneWarn, Icon: "triangle-alert"}
	case views.ToneNeutral, views.ToneAccent, views.ToneGood:
	}
	return ui.Word{}
}

// refetchURL is where the panel comes from when it looks again: on the same page, so that its form leads back there.
func (v PanelView) refetchURL() string {
	if v.InConversation {
		return v.URL + "?back=conversation"
	}
	return v.URL
}

// AgentGauge shows what an agent may spend in all its conversations.
func AgentGauge(b models.AgentBudget) Gauge {
	g := NewGauge(models.Budget{Total: new(b.Total()), Used: b.Spent, Reserved: b.Reserved})
	if b.Remaining() == 0 {
		g.Warning = "Limit reached: the agent continues when it is allowed more, or when its earlier spending is out of the window."
	}
	return g
}
