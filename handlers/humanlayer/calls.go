package humanlayer

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/runs"
)

func (s *Surface) createCall(r *request) error {
	var body callRequest
	if err := handlers.ReadJSON(r, &body); err != nil {
		return err
	}
	in, drops, err := body.ask()
	if err != nil {
		return err
	}
	return s.ask(r, in, drops)
}

func (s *Surface) createContact(r *request) error {
	var body contactRequest
	if err := handlers.ReadJSON(r, &body); err != nil {
		return err
	}
	in, drops, err := body.ask()
	if err != nil {
		return err
	}
	return s.ask(r, in, drops)
}

func (s *Surface) ask(r *request, in models.AskInput, drops []string) error {
	got, err := s.store.Ask(r.ctx(), r.actor, in)
	if err != nil {
		return err
	}
	return s.answer(r, http.StatusOK, got, drops)
}

// ask translates the body to the use case's words.
func (b *callRequest) ask() (models.AskInput, []string, error) {
	in, err := askOf(b.RunID, b.CallID, b.Status)
	if err != nil {
		return in, nil, err
	}
	if in.Input, err = objectOrNone("spec.kwargs", b.Spec.Kwargs); err != nil {
		return in, nil, err
	}
	channel, drops, err := withoutCredentials("spec.channel", b.Spec.Channel)
	if err != nil {
		return in, nil, err
	}
	state, err := objectOrNone("spec.state", b.Spec.State)
	if err != nil {
		return in, nil, err
	}
	in.Kind, in.ToolName = models.KindToolCall, b.Spec.Fn
	in.Client = models.ClientData{Channel: channel, State: state, RejectOptions: optionsIn(b.Spec.RejectOptions)}
	return in, drops, nil
}

// ask translates the body to the use case's words. A message that is longer than a
// description is kept whole in the input, which the page shows too.
func (b *contactRequest) ask() (models.AskInput, []string, error) {
	in, err := askOf(b.RunID, b.CallID, b.Status)
	if err != nil {
		return in, nil, err
	}
	if strings.TrimSpace(b.Spec.Msg) == "" {
		return in, nil, models.Invalid("spec.msg", "must not be empty")
	}
	channel, drops, err := withoutCredentials("spec.channel", b.Spec.Channel)
	if err != nil {
		return in, nil, err
	}
	state, err := objectOrNone("spec.state", b.Spec.State)
	if err != nil {
		return in, nil, err
	}
	in.Kind, in.Options = models.KindQuestion, optionsIn(b.Spec.ResponseOptions)
	in.Client = models.ClientData{Channel: channel, State: state, Subject: deref(b.Spec.Subject)}
	in.Description, in.Input, err = messageIn(b.Spec.Msg)
	return in, drops, err
}

// askOf is what both kinds of request have.
func askOf(runID *string, callID string, status jsontext.Value) (models.AskInput, error) {
	in := models.AskInput{RunID: deref(runID), ToolUseID: callID, Protocol: models.ProtocolFunctionCalls, Explicit: true}
	if !isNone(status) {
		return in, models.Invalid("status", "is the server's: leave it out")
	}
	return in, checkCallID(callID)
}

// checkCallID refuses ids that clients would ask for at another address than they mean: they
// put it into the path unescaped.
func checkCallID(id string) error {
	if id == "." || id == ".." || strings.ContainsAny(id, "/?#%\\") {
		return models.Invalid("call_id",
			"must not contain / \\ ? # or %%, nor be . or ..: clients put it into the address unescaped")
	}
	return models.CheckKey("call_id", id)
}

// pending lists pending requests: an agent's own, or those that a person may decide.
func (s *Surface) pending(kind models.Kind) func(*request) error {
	return func(r *request) error {
		q := runs.CallsQuery{Kind: kind, Limit: models.DefaultPage}
		var err error
		if q.Limit, err = number(r, "limit", models.DefaultPage, 1, models.MaxPage); err != nil {
			return err
		}
		if q.Offset, err = number(r, "offset", 0, 0, maxOffset); err != nil {
			return err
		}
		if err := s.kit.Lists.Begin(r.ctx(), r.Response()); err != nil {
			return err
		}
		defer s.kit.Lists.End()
		got, err := runs.New(s.store).PendingCalls(r.ctx(), r.actor, q)
		if err != nil {
			return err
		}
		if got.Next > 0 {
			q.Limit = len(got.Items) // which may be fewer than were asked for
		}
		rows := make([]*models.Approval, len(got.Items))
		for i := range got.Items {
			rows[i] = &got.Items[i]
		}
		waits := s.waitsFor(r, rows...)
		if kind == models.KindQuestion {
			return handlers.WriteJSON(r, http.StatusOK, pageOf(r, got, q, waits, s.contactOf))
		}
		return handlers.WriteJSON(r, http.StatusOK, pageOf(r, got, q, waits, s.callOf))
	}
}

// maxOffset is more than can be pending.
const maxOffset = 1_000_000

// number is a parameter of the query.
func number(r *request, name string, initial, least, most int) (int, error) {
	text := r.QueryParam(name)
	if text == "" {
		return initial, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, models.Invalid(name, "must be a whole number from %d to %d", least, most)
	}
	return n, nil
}

func pageOf[T any](r *request, got runs.CallsPage, q runs.CallsQuery, waits []models.WaitsFor, shown func(*request, *models.Approval, models.WaitsFor) *T) *page[T] {
	out := &page[T]{
		Items: make([]*T, 0, len(got.Items)), Total: got.Total, Limit: q.Limit, Offset: q.Offset, HasMore: got.Next > 0,
	}
	for i := range got.Items {
		out.Items = append(out.Items, shown(r, &got.Items[i], waits[i]))
	}
	return out
}

// escalate asks for more attention from those who may decide. No one else hears of it, whomever the body names.
func (s *Surface) escalate(kind models.Kind) func(*request) error {
	return func(r *request) error {
		var body escalation
		if err := handlers.ReadJSON(r, &body); err != nil {
			return err
		}
		a, err := s.find(r.ctx(), r.actor, kind, handlers.PathParam(r, "call_id"))
		if err != nil {
			return err
		}
		if a, err = s.store.Escalate(r.ctx(), r.actor, a.ID, body.Message); err != nil {
			return err
		}
		return s.answer(r, http.StatusOK, a, body.dropped())
	}
}

func (b *escalation) dropped() (out []string) {
	for _, m := range [...]struct {
		name string
		raw  jsontext.Value
	}{{"additional_recipients", b.AdditionalRecipients}, {"channel", b.Channel}} {
		if !isNone(m.raw) {
			out = append(out, m.name)
		}
	}
	return out
}
