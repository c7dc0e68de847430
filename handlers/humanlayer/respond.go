package humanlayer

import (
	"net/http"
	"strings"

	"countersign/handlers"
	"countersign/models"
)

func (s *Surface) respondCall(r *request) error {
	var body callDecision
	if err := handlers.ReadJSON(r, &body); err != nil {
		return err
	}
	in := models.DecisionInput{
		Approved: body.Approved, Reason: deref(body.Comment), Digest: body.Digest, Checked: body.Checked, Page: models.NoPage,
	}
	if name := deref(body.RejectOptionName); name != "" {
		if body.Approved != nil && *body.Approved {
			return models.Invalid("reject_option_name", "must not be sent with approved: true")
		}
		in.Option = &name
	}
	return s.decide(r, models.KindToolCall, in, "reject_option_name")
}

func (s *Surface) respondContact(r *request) error {
	var body contactAnswer
	if err := handlers.ReadJSON(r, &body); err != nil {
		return err
	}
	in := models.DecisionInput{Answer: body.Response, Digest: body.Digest, Checked: body.Checked, Page: models.NoPage}
	if name := deref(body.ResponseOptionName); name != "" {
		in.Option = &name
		if strings.TrimSpace(deref(in.Answer)) == "" {
			in.Answer = nil // the option is the answer
		}
	}
	if in.Answer == nil && in.Option == nil {
		in.Answer = new("") // which is refused: clients wait on as long as an answer is empty
	}
	return s.decide(r, models.KindQuestion, in, "response_option_name")
}

// decide takes a person's decision. 202 if it does not count yet.
func (s *Surface) decide(r *request, kind models.Kind, in models.DecisionInput, optionName string) error {
	found, err := s.find(r.ctx(), r.actor, kind, handlers.PathParam(r, "call_id"))
	if err != nil {
		return err
	}
	got, err := s.store.Decide(r.ctx(), r.actor, found.ID, in)
	if err != nil {
		return handlers.InWords(map[string]string{"option": optionName}, err)
	}
	status := http.StatusOK
	if by, _ := got.Held(); by != "" {
		status = http.StatusAccepted
	}
	return s.answer(r, status, got, nil)
}
