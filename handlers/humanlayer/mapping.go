package humanlayer

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers"
	"countersign/models"
)

// way is how agents of this API wait: they ask again and again.
const way = string(models.ProtocolFunctionCalls)

// answer writes a request as this API shows it.
func (s *Surface) answer(r *request, status int, a *models.Approval, drops []string) error {
	s.store.Polled(r.actor, a, way)
	waits := s.waitsFor(r, a)[0]
	if a.Kind == models.KindQuestion {
		out := s.contactOf(r, a, waits)
		out.Dropped = drops
		return handlers.WriteJSON(r, status, out)
	}
	out := s.callOf(r, a, waits)
	out.Dropped = drops
	return handlers.WriteJSON(r, status, out)
}

// waitsFor says what requests wait for. It is beside the outcome: where it can't be read, the outcome is sent all the
// same.
func (s *Surface) waitsFor(r *request, rows ...*models.Approval) []models.WaitsFor {
	waits, err := s.store.WaitsFor(r.ctx(), r.actor, rows...)
	if err != nil {
		s.kit.Log.ErrorContext(r.ctx(), "read what requests wait for", "error", err.Error())
		return make([]models.WaitsFor, len(rows))
	}
	return waits
}

// stillPending is the answer while the row cannot be read.
func stillPending(kind models.Kind, callID string) any {
	if kind == models.KindQuestion {
		return &humanContact{CallID: callID, Status: &contactStatus{}}
	}
	return &functionCall{CallID: callID, Status: &callStatus{}}
}

func (s *Surface) besideOf(a *models.Approval, waits models.WaitsFor) beside {
	b := beside{
		Digest: a.Digest, URL: s.kit.ApprovalURL(a.ID), Removed: a.RemovedText(), Reviewers: waits.Reviewers,
		WaitingFor: waits.Text,
	}
	if count := waits.Count; count != nil {
		b.Signatures = &signatures{count.Have, count.Need}
	}
	if by, until := a.Held(); by != "" {
		b.Held = &held{Reason: string(by), Until: until}
	}
	return b
}

func (s *Surface) callOf(r *request, a *models.Approval, waits models.WaitsFor) *functionCall {
	data := s.clientData(r, a)
	kwargs := jsontext.Value(a.ToolInputJSON)
	if a.IsRemoved() {
		kwargs = jsontext.Value(`{}`) // clients require an object
	}
	return &functionCall{
		RunID: runOf(a), CallID: deref(a.ToolUseID), beside: s.besideOf(a, waits), Status: callStatusOf(a),
		Spec: &callSpec{
			Fn: a.ToolName, Kwargs: kwargs, Channel: data.Channel, State: data.State,
			RejectOptions: optionsOut(data.RejectOptions),
		},
	}
}

func (s *Surface) contactOf(r *request, a *models.Approval, waits models.WaitsFor) *humanContact {
	data := s.clientData(r, a)
	options, err := a.OptionList()
	if err != nil {
		s.kit.Log.ErrorContext(r.ctx(), "read options", "error", err.Error())
	}
	return &humanContact{
		RunID: runOf(a), CallID: deref(a.ToolUseID), beside: s.besideOf(a, waits), Status: contactStatusOf(a),
		Spec: &contactSpec{
			Msg: messageOf(a), Subject: data.Subject, Channel: data.Channel, State: data.State,
			ResponseOptions: optionsOut(options),
		},
	}
}

// clientData is the data that the client sent beside the request. It is never decided on, so that a row in which it
// cannot be read is answered all the same.
func (s *Surface) clientData(r *request, a *models.Approval) models.ClientData {
	data, err := a.ClientData()
	if err != nil {
		s.kit.Log.ErrorContext(r.ctx(), "read client data", "error", err.Error())
	}
	return data
}

// runOf is the run, or the conversation of a request without one: clients require it.
func runOf(a *models.Approval) string { return cmp.Or(deref(a.RunID), string(a.ConversationID)) }

func callStatusOf(a *models.Approval) *callStatus {
	status := a.Status()
	out := &callStatus{RequestedAt: requestedAt(a)}
	if status == models.StatusPending {
		return out
	}
	out.RespondedAt, out.Cause = settledAt(a), string(a.Cause)
	if a.Vote != nil {
		out.UserInfo = &userInfo{Name: a.Vote.UserName}
	}
	approved := a.Response.MayRun() // an edit follows below
	switch other, edit := editedInput(a); {
	case a.ContentsGone() && (status == models.StatusApproved || status == models.StatusNone):
		out.Comment = removedText
	case approved && edit:
		approved, out.Comment = false, editedText(other)
	case approved && a.Withheld() != "":
		approved, out.Comment = false, "Do not run this: "+a.Withheld()+"."
	case approved:
		if out.Comment = a.Feedback(); a.Vote == nil { // no person commented
			out.Comment = cmp.Or(out.Comment, a.PolicyReason)
		}
	default:
		if v := a.Vote; v != nil && !a.IsRemoved() {
			out.RejectOptionName = deref(v.Option)
		}
		out.Comment = denial(a)
	}
	out.Approved = &approved
	return out
}

func contactStatusOf(a *models.Approval) *contactStatus {
	status := a.Status()
	out := &contactStatus{RequestedAt: requestedAt(a)}
	if status == models.StatusPending {
		return out
	}
	out.RespondedAt, out.Cause, out.Response = settledAt(a), string(a.Cause), a.Answer
	answered := status == models.StatusApproved && a.Answer != "" && a.Withheld() == ""
	switch {
	case answered:
		if v := a.Vote; v != nil {
			out.ResponseOptionName = deref(v.Option)
		}
	case status == models.StatusApproved && a.Withheld() != "": // the text in its place is not a person's answer
		out.Response = "No answer: " + a.Withheld() + "."
	default:
		out.Response = "No person answered. " + denial(a)
	}
	out.Answered = &answered
	return out
}

// removedText is the comment where the request and its answer are no longer kept.
const removedText = "Do not run this: " + models.AdviceRemoved + "."

// editedInput is the input that was approved, where that is not the one that was sent: its
// client would run what it sent.
func editedInput(a *models.Approval) (string, bool) {
	if text, edit := a.Vote.ApprovedInput(); edit {
		return text, true
	}
	return a.OtherInput()
}

// longestInput is how much of an approved input fits into a comment.
const longestInput = 4000

func editedText(input string) string {
	const text = "Approved only with another input, which this client can't receive: do not run the call as it was sent."
	if len(input) > longestInput {
		return text
	}
	return text + " Approved input: " + input
}

// denial is the comment of a no, which clients print unchanged: always a sentence. A person's reason has nothing added.
func denial(a *models.Approval) string {
	reason := strings.TrimSpace(a.Said())
	if a.Status() == models.StatusRan {
		reason = a.PolicyReason
	}
	if a.Cause == models.CauseReviewer {
		if a.SaidRemoved() {
			return "A person rejected this, in words that were removed."
		}
		if v := a.Vote; reason == "" && v != nil && v.Option != nil {
			reason = optionTitle(a, *v.Option)
		}
		return cmp.Or(reason, "A person rejected this and gave no reason.")
	}
	text := a.Cause.Denial()
	if reason != "" {
		text += " " + reason
	}
	return text
}

// optionTitle is what the button of an option reads.
func optionTitle(a *models.Approval, name string) string {
	options, err := a.RejectOptions()
	if err == nil {
		for _, o := range options {
			if o.Name == name {
				return cmp.Or(o.Title, o.Name)
			}
		}
	}
	return name
}

func requestedAt(a *models.Approval) *time.Time {
	if a.ApprovalRequestedAt != nil {
		return a.ApprovalRequestedAt
	}
	return &a.CreatedAt
}

func settledAt(a *models.Approval) *time.Time {
	if a.ApprovalTimestamp != nil {
		return a.ApprovalTimestamp
	}
	return requestedAt(a)
}

func optionsIn(sent []option) []models.Option {
	var out []models.Option
	for _, o := range sent {
		out = append(out,
			models.Option{
				Name: o.Name, Title: deref(o.Title), Description: deref(o.Description), PromptFill: deref(o.PromptFill),
				Interactive: o.Interactive,
			})
	}
	return out
}

func optionsOut(options []models.Option) []option {
	var out []option
	for _, o := range options {
		out = append(out,
			option{
				Name: o.Name, Title: orNil(o.Title), Description: orNil(o.Description), PromptFill: orNil(o.PromptFill),
				Interactive: o.Interactive,
			})
	}
	return out
}

// longMessage is the input of a question whose message does not fit into a description.
type longMessage struct {
	Message string `json:"message"`
}

// messageIn is a message as description and input.
func messageIn(msg string) (string, []byte, error) {
	if len(msg) <= models.MaxDescription {
		return msg, nil, nil
	}
	input, err := json.Marshal(longMessage{msg})
	if err != nil {
		return "", nil, models.Invalid("spec.msg", "must be text in UTF-8")
	}
	if err := models.CheckInputSize("spec.msg", len(input)); err != nil {
		return "", nil, err
	}
	start := strings.ToValidUTF8(msg[:models.MaxDescription-80], "")
	return fmt.Sprintf("%s… (the beginning of %d bytes: the whole message is in the input)", start, len(msg)), input, nil
}

// messageOf is the message as it was sent.
func messageOf(a *models.Approval) string {
	var long longMessage
	if a.Protocol == models.ProtocolFunctionCalls && json.Unmarshal([]byte(a.ToolInputJSON), &long) == nil &&
		long.Message != "" {
		return long.Message
	}
	return a.Description
}

func deref[T ~string](p *T) string {
	if p == nil {
		return ""
	}
	return string(*p)
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
