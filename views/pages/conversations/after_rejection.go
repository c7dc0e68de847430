package conversations

import (
	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// AfterRejection is the run's setting for the calls queued after one that is
// rejected.
type AfterRejection struct {
	URL    string // empty: the run has no such setting
	Now    string // what happens, in words
	Chosen string // who chose it, in words
	Value  string
}

var afterRejectionChoices = []ui.Choice{
	{Value: models.OnRejectCascade, Label: "Reject the calls queued after it"},
	{Value: models.OnRejectContinue, Label: "Ask about each call"},
}

// newAfterRejection is for runs of agents outside: the built-in agent queues no
// calls.
func newAfterRejection(c *models.ConversationView) AfterRejection {
	if c.BuiltIn || c.RunID == nil {
		return AfterRejection{}
	}
	v := AfterRejection{URL: views.AfterRejectionURL(c.ID), Value: c.OnReject, Now: "Each call is decided on its own."}
	if c.OnReject == models.OnRejectCascade {
		v.Now = "The calls queued after it are rejected too, with the same reason."
	}
	switch c.OnRejectBy {
	case models.OnRejectByPerson:
		v.Chosen = "A person chose this; the agent cannot change it."
	case models.OnRejectByAgent:
		v.Chosen = "The agent chose this."
	}
	return v
}
