package requests

import (
	"strconv"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/budgets"
	"countersign/views/pages/outcomes"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// spentMost is how many lines say what a budget was spent on.
const spentMost = 6

// BudgetAsk is what a budget request asks for, and what the reader has to know
// to decide it.
type BudgetAsk struct {
	Sum   string // asked for
	Gauge budgets.Gauge
	Known bool // the gauge and what follows are known to this reader
	Chart budgets.BurnChart
	Spent []SpentRow
	More  *MoreEnergy // it is for the agent, in all its conversations
}

// MoreEnergy is what a request for an agent, not for a conversation, says besides.
type MoreEnergy struct {
	Until  views.Moment
	Window string // such as 24 hours; empty: not known to this reader
}

// SpentRow is one kind of thing that energy was spent on.
type SpentRow struct{ On, Times, Energy string }

// BudgetOffer is the budget that a verdict on a proposal may set besides.
type BudgetOffer struct {
	Wish   string // what the agent would like; empty: it did not say
	Stands string
}

func newBudgetAsk(in Input, now time.Time) *BudgetAsk {
	r := &in.Approval.Response
	if r.Kind != models.KindBudget {
		return nil
	}
	ask := &BudgetAsk{Sum: words.Thousands(outcomes.AskedSum(r)), Known: in.Budget != nil}
	if r.AsksForAllowance() {
		return ask.forAgent(r, in.AgentBudget)
	}
	if in.Budget == nil {
		return ask
	}
	ask.Gauge, ask.Chart = budgets.NewGauge(*in.Budget), budgets.NewBurnChart(in.Points, *in.Budget, now)
	ask.Spent = spentRows(in.Shares, in.Budget.Used)
	return ask
}

// spentRows divide the spending: the dearest things, all others in one line, and the part before those that were read.
func spentRows(shares []models.EnergyShare, used int64) (rows []SpentRow) {
	rest, others, sum, before := used, int64(0), int64(0), SpentRow{}
	for _, share := range shares {
		rest -= share.Energy
		switch {
		case share.Before > 0:
			before = SpentRow{On: "All before entry " + views.Number(share.Before), Energy: views.Number(share.Energy)}
		case len(rows) < spentMost:
			rows = append(rows, SpentRow{On: spentOn(share), Times: times(share.Count), Energy: views.Number(share.Energy)})
		default:
			others, sum = others+1, sum+share.Energy
		}
	}
	if others > 0 {
		rows = append(rows, SpentRow{On: views.Number(others) + " other items", Energy: views.Number(sum)})
	}
	if rest > 0 {
		rows = append(rows, SpentRow{On: "Other model calls", Energy: views.Number(rest)})
	}
	if before.On != "" {
		rows = append(rows, before)
	}
	return rows
}

// forAgent is the request for more energy for an agent in all its conversations.
func (ask *BudgetAsk) forAgent(r *models.Response, b *models.AgentBudget) *BudgetAsk {
	ask.More = &MoreEnergy{}
	if asked, err := models.AllowanceAsked([]byte(r.ToolInputJSON)); err == nil {
		ask.More.Until = views.Exact(asked.Until)
	}
	if b != nil {
		ask.Gauge, ask.More.Window = budgets.AgentGauge(*b), b.Window()
	}
	return ask
}

func spentOn(share models.EnergyShare) string {
	switch share.Kind {
	case models.KindReply:
		return "Replies"
	case models.KindProposal:
		return "Proposals"
	case models.KindQuestion:
		return "Questions"
	case models.KindBudget:
		return "Budget requests"
	case models.KindToolCall:
	}
	return share.ToolName
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return views.Number(int64(n)) + " times"
}

// newBudgetOffer is for those who may change the budget together with a decision.
func newBudgetOffer(in Input) *BudgetOffer {
	if in.Approval.Kind != models.KindProposal || in.Budget == nil {
		return nil
	}
	offer := &BudgetOffer{Stands: "none"}
	if in.Budget.Total != nil {
		offer.Stands = views.Number(*in.Budget.Total)
	}
	if wish := in.Approval.EnergyBudget; wish != nil {
		offer.Wish = views.Number(*wish)
	}
	return offer
}

// named is the budget that approving sets, as far as the form says it.
func (o BudgetOffer) named(form DecideForm) string {
	if n, err := strconv.ParseInt(form.NewBudget, 10, 64); err == nil && n >= 0 {
		return views.Number(n)
	}
	return "the budget"
}

// fillBudget puts the requested values into the fields that are empty: the budget that a proposal would like is part of
// its approval, unless a person says otherwise.
func fillBudget(form DecideForm, r *models.Response) DecideForm {
	if r.EnergyBudget != nil && r.Kind == models.KindProposal && !form.Sent {
		form.SetBudget = true
	}
	if form.Sum == "" && len(form.Errors) == 0 {
		form.Sum = outcomes.AskedSum(r)
	}
	if form.NewBudget == "" && len(form.Errors) == 0 && r.EnergyBudget != nil {
		form.NewBudget = strconv.FormatInt(*r.EnergyBudget, 10)
	}
	return form
}

// trigger is when the panel looks again: when the request changes, and where it
// shows the budget, when that does.
func (v Approval) trigger() string {
	if v.Follows == "" {
		return views.On(v.Topic)
	}
	return views.On(v.Topic) + ", " + views.On(views.ConversationTopic(v.Follows))
}

// sumError is the error of a budget request's sum, by whichever name.
func (v Approval) sumError() string {
	if text := v.Form.Errors["sum"]; text != "" {
		return text
	}
	return v.Form.Errors["input"]
}

func (v Approval) sumField() ui.Field {
	if v.Ask.More != nil {
		return ui.Field{
			ID: v.Anchor("sum"), Name: "sum", Label: "More energy", Type: "number", Min: "0", Required: true, Value: v.Form.Sum,
			Error: v.sumError(),
			Help:  "Change the amount to allow less or more.",
		}
	}
	return ui.Field{
		ID: v.Anchor("sum"), Name: "sum", Label: "New budget", Type: "number", Min: "0", Required: true, Value: v.Form.Sum,
		Error: v.sumError(),
		Help:  "Change the amount to approve a different budget.",
	}
}
