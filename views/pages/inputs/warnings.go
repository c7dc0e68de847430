package inputs

import (
	"strings"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
)

// Warning is what must be read before deciding, in one line. Detail opens below it.
type Warning struct{ Text, Detail string }

// Warnings are the findings in the input, in the data that another system sends beside it, and in the words around it.
func Warnings(a *models.Approval, beside string, input View) []Warning {
	var out []Warning
	if input.tampered {
		out = append(out, Warning{Text: "The stored input does not match its digest. Do not approve this."})
	}
	if left := input.Whole.LeftOut(); left > 0 {
		out = append(out, Warning{
			"Only the beginning and the end of " + inputName(a.Kind) + " are shown: " + views.Bytes(left) +
				" in between are left out.",
			"Download it below to read all of it before you approve.",
		})
	}
	var places []string
	type place struct {
		where string
		found models.Findings
	}
	looks := []place{{inputName(a.Kind), input.found}}
	for _, m := range a.Explanation.Members() {
		looks = append(looks, place{"the " + m.Name, Findings(*m.Text)})
	}
	for _, place := range append(looks, []place{
		{"what is sent beside the input", Findings(IndentJSON(beside))},
		{"the options", Findings(a.Options)},
		{"what the agent's client sent", Findings(a.ClientDataJSON)},
		{"the policy's reason", Findings(a.PolicyReason)},
		{"the rule's name", Findings(a.PolicyRule)},
		{"the conversation's title", Findings(a.ConversationTitle)},
		{"the agent's name", Findings(a.AgentName)},
	}...) {
		if place.found.Any() {
			places = append(places, place.where+" ("+place.found.String()+")")
		}
	}
	if len(places) > 0 {
		out = append(out,
			Warning{"Contains hidden characters.", "They are shown as codes in " + strings.Join(places, ", in ") + "."})
	}
	return append(out, lookAlikeWarnings(a, input)...)
}

// hostLines is how many hosts are warned of in a line each.
const hostLines = 3

// lookAlikeWarnings are about names and hosts that may be read as others.
func lookAlikeWarnings(a *models.Approval, input View) []Warning {
	var out []Warning
	for _, name := range [...]struct{ what, text string }{
		{"The tool's name", a.ToolName},
		{"The agent's name", a.AgentName},
		{"The conversation's title", a.ConversationTitle},
		{"The owner's name", a.OwnerName},
		{"The name of its run", words.Deref(a.AskedRun())},
	} {
		switch scripts, mix := models.MixedScripts(name.text); {
		case !mix:
		case len(scripts) == 1:
			out = append(out, Warning{name.what + " " + models.ScriptNote(name.text) + ".", "It may imitate another name."})
		default:
			out = append(out,
				Warning{
					name.what + " " + models.ScriptNote(name.text) + " letters.",
					"Letters of different scripts can look alike: it may imitate another name.",
				})
		}
	}
	for i, host := range input.hosts {
		if rest := input.hosts[i:]; i == hostLines-1 && len(rest) > 1 {
			return append(out,
				Warning{
					"More hosts in " + inputName(a.Kind) + " may be taken for others.",
					words.Capitalize(strings.Join(rest, "; ")) + ".",
				})
		}
		out = append(out, Warning{Text: words.Capitalize(host) + "."})
	}
	return out
}

// inputName is what a request puts forward, in a warning about it.
func inputName(k models.Kind) string {
	if k == models.KindProposal || k == models.KindReply {
		return "the content"
	}
	return "the input"
}

// Findings are the hidden characters of a text.
func Findings(s string) models.Findings {
	_, found := models.Reveal(s, true)
	return found
}
