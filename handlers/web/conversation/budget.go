package conversation

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/request"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/budgets"
)

const (
	stepsBeside = 5  // changes that a panel shows on the conversation's page
	stepsShown  = 25 // and on its own
)

func (s *Screens) budget(c echo.Context) error {
	conv, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	in := budgets.PanelInput{Conversation: *conv, InConversation: c.QueryParam("back") == "conversation"}
	if before := c.QueryParam("before"); before != "" {
		if in.Before, err = strconv.ParseInt(before, 10, 64); err != nil || in.Before < 1 {
			return models.Errorf(models.CodeNotFound, "There is no such page of changes.")
		}
	}
	return s.budgetPage(c, http.StatusOK, in)
}

// budgetPage shows a budget as it is now; in carries a form to correct.
func (s *Screens) budgetPage(c echo.Context, status int, in budgets.PanelInput) error {
	panel, err := s.budgetView(c.Request().Context(), site.ActorOf(c), in)
	if err != nil {
		return err
	}
	frame := views.Page{}
	if !handlers.WantsFragment(c.Request()) {
		if frame, err = s.Frame(c, "Budget of "+panel.Title, -1); err != nil {
			return err
		}
		frame.Conversation = panel.ID
	}
	return handlers.Render(c, status, budgets.Page(frame, panel), budgets.Panel(panel))
}

// budgetPanel is the panel as shown on the conversation's own page.
func (s *Screens) budgetPanel(c echo.Context, conv *models.ConversationView) (templ.Component, error) {
	v, err := s.budgetView(c.Request().Context(), site.ActorOf(c),
		budgets.PanelInput{Conversation: *conv, InConversation: true})
	if err != nil {
		return nil, err
	}
	return budgets.Panel(v), nil
}

// budgetView reads what the panel of a conversation's budget shows beside the
// conversation itself.
func (s *Screens) budgetView(
	ctx context.Context, actor models.Actor, in budgets.PanelInput,
) (budgets.PanelView, error) {
	id, limit := in.Conversation.ID, stepsShown
	if in.InConversation {
		limit = stepsBeside
	}
	steps, err := s.Store.Requests.BudgetSteps(ctx, actor, id, in.Before, limit+1)
	if err != nil {
		return budgets.PanelView{}, err
	}
	if len(steps) > limit {
		steps = steps[:limit]
		in.Next = steps[limit-1].Sequence
	}
	in.Steps = steps
	if in.Points, err = s.Store.EnergyOf(ctx, actor, id, models.BurnPoints); err != nil {
		return budgets.PanelView{}, err
	}
	return budgets.NewPanel(in, s.Kit.Now()), nil
}

// changeBudget sets a new budget, or changes the current one by a step.
func (s *Screens) changeBudget(c echo.Context) error {
	conv, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	r := c.Request()
	form := budgets.Form{
		How: r.PostForm.Get("how"), Amount: strings.TrimSpace(r.PostForm.Get("amount")),
		Reason: strings.ReplaceAll(strings.TrimSpace(r.PostForm.Get("reason")), "\r\n", "\n"),
	}
	inConversation := r.PostForm.Get("back") == "conversation"
	change, err := budgetChange(r.PostForm)
	if err == nil {
		_, err = s.Store.ChangeBudget(r.Context(), site.ActorOf(c), conv.ID, change, form.Reason)
	}
	if e := site.AsError(err, models.CodeInvalid, models.CodeNoBudget); e != nil {
		form.Errors = atBudgetFields(e)
		return s.budgetPage(c, handlers.Status(e.Code),
			budgets.PanelInput{Conversation: *conv, InConversation: inConversation, Form: form})
	}
	if err != nil {
		return err
	}
	if handlers.WantsFragment(r) {
		if conv, err = s.visibleConversation(c); err != nil {
			return err
		}
		return s.budgetPage(c, http.StatusOK, budgets.PanelInput{Conversation: *conv, InConversation: inConversation})
	}
	s.SetFlash(c, "budget-changed")
	if inConversation {
		return c.Redirect(http.StatusSeeOther, views.ConversationURL(conv.ID))
	}
	return c.Redirect(http.StatusSeeOther, views.BudgetURL(conv.ID))
}

// budgetChange is what the panel's form means: a preset such as +50 or =100, or
// how and by which amount.
func budgetChange(values url.Values) (models.BudgetChange, error) {
	how, amount := values.Get("how"), values.Get("amount")
	if preset := values.Get("preset"); preset != "" {
		how, amount = map[byte]string{'=': "set", '+': "add"}[preset[0]], preset[1:]
	}
	n, err := request.EnergyIn("amount", amount)
	if err != nil {
		return models.BudgetChange{}, err
	}
	switch how {
	case "set":
		return models.BudgetChange{Set: &n}, nil
	case "add":
		return models.BudgetChange{Delta: &n}, nil
	case "take":
		return models.BudgetChange{Delta: new(-n)}, nil
	}
	return models.BudgetChange{}, models.Errorf(models.CodeInvalid,
		"Choose what to do: set the budget, add to it or subtract from it.")
}

// atBudgetFields puts each text where its field is on the panel.
func atBudgetFields(e *models.Error) map[string]string {
	if len(e.Fields) == 0 {
		return map[string]string{"": e.Text}
	}
	out := make(map[string]string, len(e.Fields))
	for name, text := range e.Fields {
		switch name {
		case "budget", "delta", "amount":
			out["amount"] = text
		case "reason":
			out[name] = text
		default:
			out[""] = name + ": " + text
		}
	}
	return out
}
