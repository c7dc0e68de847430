package outcomes

import (
	"time"

	"countersign/models"
	"countersign/views"
)

// Presence says whether the agent of a pending request waits for its outcome.
type Presence struct {
	ID    models.ResponseID
	Agent string
	Now   bool
	Left  views.Moment // when it ceased to; zero: nothing is known
	Ends  string       // when Now ends if nothing is heard before; empty: it is heard of
}

// NewPresence is the presence as of now.
func NewPresence(a *models.Approval, p models.Presence, now time.Time) Presence {
	out := Presence{ID: a.ID, Agent: a.AgentName, Now: p.Waiting}
	if p.Waiting && !p.Until.IsZero() {
		out.Ends = p.Until.UTC().Format(time.RFC3339Nano)
	}
	if !p.Waiting && !p.Left.IsZero() {
		out.Left = views.For(p.Left, now)
	}
	return out
}
