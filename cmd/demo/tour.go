package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"countersign/handlers/api/wire"
)

// stop is one request of the tour and what the agent does about each outcome.
type stop struct {
	ask      wire.AskRequest
	explains string // the answer to a reviewer's question
	approved func(input map[string]string) string
	edit     func(input map[string]string) string
	rejected string
	expired  string
	answered func(answer string) string
}

// stops are what the tour shows: calls of three risks, and a question.
var stops = []stop{
	{
		ask: wire.AskRequest{
			ToolName: "shell.run",
			Explanation: wire.Explanation{
				Description: "clear the build folder and rebuild the shop",
				Context:     "The last build failed on stale files, twice.",
			},
			Input: json.RawMessage(`{"command": "rm -rf build/ && make release", "cwd": "/srv/shop"}`),
		},
		explains: "Everything in build/ is made from the sources; nothing else is there. The build takes about two minutes.",
		approved: func(in map[string]string) string { return "shell: ran " + in["command"] },
		edit:     func(in map[string]string) string { return "shell: ran your version instead: " + in["command"] },
		rejected: "shell: leaves build/ alone and builds into build-fresh/ beside it",
		expired:  "shell: nobody answered, so the shop stays on its last build",
	},
	{
		ask: wire.AskRequest{
			ToolName: "file.edit",
			Explanation: wire.Explanation{
				Description: "set the VAT rate of the price list to 21%",
				Context:     "Ticket 4711 says that the rate changes on the first of the month.",
			},
			Input: json.RawMessage(`{
  "file_path": "config/prices.yaml",
  "old_string": "currency: EUR\nvat: 19\nrounding: line\nbooks:\n  vat: 7",
  "new_string": "currency: EUR\nvat: 21\nrounding: total\nbooks:\n  vat: 7"
}`),
		},
		explains: "The bookkeeper asked for the rounding in the same ticket; books keep their own rate.",
		approved: func(in map[string]string) string { return "file: wrote the change to " + in["file_path"] },
		edit: func(in map[string]string) string {
			return fmt.Sprintf("file: wrote %q to %s, as you changed it, and adds your wording to the ticket", in["new_string"],
				in["file_path"])
		},
		rejected: "file: writes the change into a draft for the next review instead",
		expired:  "file: nobody answered, so the price list keeps its old rate",
	},
	{
		ask: wire.AskRequest{
			ToolName: "payment.send",
			Explanation: wire.Explanation{
				Description: "pay the hosting bill of this month",
				Context:     "The invoice is due on Friday; last month's was 228.00 EUR.",
			},
			Input: json.RawMessage(`{"to": "Nordlicht Hosting", "amount": "240.00", "currency": "EUR", "reference": "invoice 2026-118"}`),
		},
		explains: "It is 12.00 EUR more than last month because of the second server.",
		approved: func(in map[string]string) string {
			return fmt.Sprintf("payment: sent %s %s to %s", in["amount"], in["currency"], in["to"])
		},
		edit: func(in map[string]string) string {
			return fmt.Sprintf("payment: sent %s %s to %s, the amount and receiver that you set, and asks them for a corrected invoice", in["amount"], in["currency"], in["to"])
		},
		rejected: "payment: sends nothing and asks the sender of the invoice about it",
		expired:  "payment: nobody answered, so no money moves",
	},
	{
		ask: wire.AskRequest{
			Kind:        wire.KindQuestion,
			Explanation: wire.Explanation{Description: "Which headline goes on the start page of the shop?"},
			Options:     []wire.Option{{Name: "summer", Title: "Summer sale: 20% off"}, {Name: "plain", Title: "New in the shop"}},
		},
		explains: "The summer sale begins on Monday, and both fit above the picture.",
		answered: func(answer string) string { return "question: puts this on the start page: " + answer },
		rejected: "question: keeps the headline that is there",
		expired:  "question: nobody answered, so it keeps the headline that is there",
	},
}

// react is what the agent does about an outcome, in words.
func (s stop) react(got *wire.Approval) string {
	switch got.Status {
	case wire.StatusApproved:
		return s.goOn(got)
	case wire.StatusRejected:
		return withReason(s.rejected, got.Decision.Reason)
	case wire.StatusExpired:
		return s.expired + ". It will ask again when somebody has a page open."
	case wire.StatusPending, wire.StatusCancelled, wire.StatusResolved, wire.StatusRan:
	}
	return s.ask.Description + ": was cancelled, so it does nothing"
}

// goOn acts on exactly the released input, which may differ from the one that was sent.
func (s stop) goOn(got *wire.Approval) string {
	if s.answered != nil {
		return withReason(s.answered(s.answer(got.Decision)), got.Decision.Reason)
	}
	act := s.approved
	if got.Decision.Edited {
		act = s.edit
	}
	return withReason(act(fieldsOf(got.Decision.Input)), got.Decision.Reason)
}

// answer is the text of a person's answer: the title of an option, or free text.
func (s stop) answer(d *wire.Decision) string {
	if d.Option != nil {
		for _, o := range s.ask.Options {
			if o.Name == *d.Option {
				return o.Title
			}
		}
		return *d.Option
	}
	if d.Answer != nil {
		return *d.Answer
	}
	return "(nothing)"
}

// fieldsOf reads an input as the agent needs it; what an editor made into
// something else than text is shown as the JSON it is.
func fieldsOf(input json.RawMessage) map[string]string {
	out := make(map[string]string)
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil {
		return out
	}
	for name, raw := range members {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		out[name] = text
	}
	return out
}

func withReason(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + " (you said: " + reason + ")"
}

// saysYes takes the usual ways to agree.
func saysYes(answer string) bool {
	switch strings.ToLower(strings.Trim(answer, " .!")) {
	case "yes", "y", "again", "ok", "sure", "once more":
		return true
	}
	return false
}
