package connect

import (
	"countersign/models"
	"countersign/views/ui"
)

// FreshToken is a token that was made just now; its secret is shown once.
type FreshToken struct {
	Scope  models.Scope
	Name   string // of the agent, or of the token
	Secret string
	Server string // the address that agents use
}

// FreshWay is a way to connect an agent, with the lines that hold its fresh token.
type FreshWay struct {
	Label    string
	Snippets []ui.Code
}

// Ways are all ways to connect the agent of a fresh token; none for a token of a person.
func (t FreshToken) Ways() []FreshWay {
	if t.Scope != models.ScopeAgent {
		return nil
	}
	out := make([]FreshWay, 0, len(connectWays))
	for i := range connectWays {
		w := &connectWays[i]
		way := FreshWay{Label: w.group + ": " + w.label, Snippets: Snippets(w.key, t.Server, t.Secret)}
		for j := range way.Snippets {
			way.Snippets[j].ID = w.key + "-" + way.Snippets[j].ID // ways share snippets
		}
		out = append(out, way)
	}
	return out
}

// Label says above its secret whose token it is.
func (t FreshToken) Label() string {
	name := models.RevealString(t.Name, false)
	if t.Scope == models.ScopeAgent {
		return "Token for agent “" + name + "”, shown only once:"
	}
	if name == "" {
		return "Your new " + string(t.Scope) + " token, shown only once:"
	}
	return "Your new " + string(t.Scope) + " token “" + name + "”, shown only once:"
}
