package models_test

import (
	"testing"

	"countersign/models"
)

func TestWhatTheModelHasNotHeardIsUnread(t *testing.T) {
	t.Parallel()
	says := func(kind models.ActorKind, sequence int64) models.Message {
		return models.Message{AuthorKind: kind, Sequence: sequence}
	}
	turn := func(read int64, said models.TurnOutput) []models.Turn {
		said.Read = read
		return []models.Turn{{TurnOutput: said}}
	}
	called := func(result string) models.TurnOutput {
		return models.TurnOutput{Calls: []models.TurnCall{{Result: result}}}
	}
	open := models.TurnOutput{Open: []models.ResponseID{"r"}}
	pending := []*models.Approval{{}}
	for name, row := range map[string]struct {
		context models.RunContext
		want    bool
	}{
		"nothing at all":                        {models.RunContext{}, false},
		"first words":                           {models.RunContext{Messages: []models.Message{says(models.ActorUser, 1)}}, true},
		"the loop's own notice":                 {models.RunContext{Messages: []models.Message{says(models.ActorSystem, 1)}}, false},
		"words that were read":                  {models.RunContext{Messages: []models.Message{says(models.ActorUser, 3)}, Turns: turn(3, models.TurnOutput{Content: "x"})}, false},
		"words that came during the turn":       {models.RunContext{Messages: []models.Message{says(models.ActorUser, 4)}, Turns: turn(3, models.TurnOutput{Content: "x"})}, true},
		"words while something is pending":      {models.RunContext{Messages: []models.Message{says(models.ActorUser, 4)}, Turns: turn(3, open), Pending: pending}, true},
		"an outcome":                            {models.RunContext{Turns: turn(3, open)}, true},
		"an outcome while another is pending":   {models.RunContext{Turns: turn(3, open), Pending: pending}, false},
		"a reply that was delivered":            {models.RunContext{Turns: turn(3, called(models.Delivered))}, false},
		"a refused call":                        {models.RunContext{Turns: turn(3, called(`{"error":"no"}`))}, true},
		"a refused call, and something pending": {models.RunContext{Turns: turn(3, called(`{"error":"no"}`)), Pending: pending}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := row.context.Unread(); got != row.want {
				t.Errorf("unread = %v, want %v", got, row.want)
			}
		})
	}
}

func TestOutcomesAreToldApartInResults(t *testing.T) {
	t.Parallel()
	with := func(status models.Status, cause models.Cause, text string) *models.Approval {
		a := &models.Approval{Response: models.Response{Kind: models.KindProposal, Cause: cause, ApprovalFeedback: models.FeedbackOf(text)}}
		if status != models.StatusNone {
			a.ApprovalStatus = &status
		}
		return a
	}
	voted := func(a *models.Approval) *models.Approval {
		a.Vote = &models.Vote{UserName: "Ann"}
		return a
	}
	budget := with(models.StatusApproved, models.CauseReviewer, "")
	budget.Kind = models.KindBudget
	let := with(models.StatusNone, models.CauseGateOff, "")
	let.PolicyReason = "off"
	b := models.Budget{Total: new(int64(100)), Used: 60, Reserved: 50}
	const stands = `"budget":{"total":100,"used":60,"reserved":50,"remaining":0}}`
	for name, row := range map[string]struct {
		approval *models.Approval
		changed  *models.BudgetStep
		want     string
	}{
		"pending":   {with(models.StatusPending, "", ""), nil, `{"status":"pending",` + stands},
		"approved":  {voted(with(models.StatusApproved, models.CauseReviewer, `"so"`)), nil, `{"status":"approved","cause":"reviewer","by":"Ann","feedback":"\"so\"",` + stands},
		"rejected":  {voted(with(models.StatusRejected, models.CauseReviewer, "")), nil, `{"status":"rejected","cause":"reviewer","by":"Ann",` + stands},
		"denied":    {with(models.StatusRejected, models.CausePolicy, "not here"), nil, `{"status":"rejected","cause":"policy","reason":"not here",` + stands},
		"expired":   {with(models.StatusExpired, models.CauseTimeout, "late"), nil, `{"status":"expired","cause":"timeout","reason":"late",` + stands},
		"cancelled": {with(models.StatusCancelled, models.CauseStopped, "Ann stopped it"), nil, `{"status":"cancelled","cause":"stopped","reason":"Ann stopped it",` + stands},
		"resolved":  {with(models.StatusResolved, models.CauseElsewhere, "x"), nil, `{"status":"resolved","cause":"elsewhere","reason":"x",` + stands},
		"let go":    {let, nil, `{"status":"approved","cause":"gate_off","reason":"off",` + stands},
		"with a change": {
			voted(with(models.StatusApproved, models.CauseReviewer, "")), &models.BudgetStep{Old: new(int64(50)), New: 100},
			`{"status":"approved","cause":"reviewer","by":"Ann","budgetChange":{"from":50,"to":100},` + stands,
		},
		"a budget": {
			voted(budget), &models.BudgetStep{New: 100},
			`{"status":"approved","cause":"reviewer","by":"Ann","granted":100,"budgetChange":{"from":null,"to":100},` + stands,
		},
	} {
		if got := models.OutcomeResult(row.approval, row.changed, b); got != row.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, row.want)
		}
	}
	if got, want := models.AppliedResult(models.Budget{}), `{"status":"applied","budget":{"total":null,"used":0,"reserved":0,"remaining":null}}`; got != want {
		t.Errorf("applied: %s, want %s", got, want)
	}
	if got, want := models.RefusedResult(models.Invalid("budget", "must be from 0 to 9")), `{"error":"The request is not valid. (budget: must be from 0 to 9)","fields":{"budget":"must be from 0 to 9"}}`; got != want {
		t.Errorf("refused: %s, want %s", got, want)
	}
}
