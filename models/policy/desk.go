package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// Limits of what the document says about the reviewer's desk.
const (
	MaxUndoSeconds    = 600
	MaxPauseMinutes   = 7 * 24 * 60
	MaxGrantHours     = 365 * 24
	MaxGrantUses      = 10_000
	MaxRejectReasons  = 12
	maxRejectReason   = 200 // bytes
	defaultPause      = 60
	defaultGrantHours = 24
	defaultGrantUses  = 50
)

// UndoSeconds is how long an approval is held, by risk, in which whoever gave it
// may take it back and the agent is not told. 0 is not at all.
type UndoSeconds struct {
	Low      int `json:"low"`
	Medium   int `json:"medium"`
	High     int `json:"high"`
	Critical int `json:"critical"`
}

// For is the window of a risk.
func (u UndoSeconds) For(r models.Risk) time.Duration {
	seconds := 0
	switch r {
	case models.RiskLow:
		seconds = u.Low
	case models.RiskMedium:
		seconds = u.Medium
	case models.RiskHigh:
		seconds = u.High
	case models.RiskCritical:
		seconds = u.Critical
	}
	return time.Duration(seconds) * time.Second
}

// SaysUndo reports whether a document says anything about undo. One that was
// stored before there was one does not, and no approval of it is held.
func SaysUndo(raw []byte) bool {
	var members map[string]jsontext.Value
	return json.Unmarshal(raw, &members) == nil && members["undo_seconds"] != nil
}

// UndoFor is how long an approval of a risk is held before anybody is told.
func (p *Policy) UndoFor(r models.Risk) time.Duration { return p.doc.UndoSeconds.For(r) }

func (u UndoSeconds) String() string {
	return fmt.Sprintf("low %d, medium %d, high %d, critical %d", u.Low, u.Medium, u.High, u.Critical)
}

// RejectReasons are the reasons that a rule offers to whoever rejects; none for
// what is no rule of the document.
func (p *Policy) RejectReasons(rule string) []string {
	if i := find(p.doc.Rules, rule); i >= 0 {
		return slices.Clone(p.doc.Rules[i].RejectReasons)
	}
	return nil
}

func (c *checker) desk(d Document) {
	for _, f := range []struct {
		path              string
		value, least, top int
		unit              string
	}{
		{"undo_seconds.low", d.UndoSeconds.Low, 0, MaxUndoSeconds, "seconds"},
		{"undo_seconds.medium", d.UndoSeconds.Medium, 0, MaxUndoSeconds, "seconds"},
		{"undo_seconds.high", d.UndoSeconds.High, 0, MaxUndoSeconds, "seconds"},
		{"undo_seconds.critical", d.UndoSeconds.Critical, 0, MaxUndoSeconds, "seconds"},
		{"max_pause_minutes", d.MaxPauseMinutes, 1, MaxPauseMinutes, "minutes"},
		{"grant_max_hours", d.GrantMaxHours, 1, MaxGrantHours, "hours"},
		{"grant_max_uses", d.GrantMaxUses, 1, MaxGrantUses, "uses"},
	} {
		if f.value < f.least || f.value > f.top {
			c.add(f.path, "must be %d to %d %s", f.least, f.top, f.unit)
		}
	}
}

func (c *checker) rejectReasons(path string, reasons []string) {
	if len(reasons) > MaxRejectReasons {
		c.add(path, "must be at most %d", MaxRejectReasons)
		return
	}
	for i, text := range reasons {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case text == "":
			c.add(at, "must not be empty")
		case slices.Index(reasons, text) < i:
			c.add(at, "stands there twice")
		default:
			c.take(at, models.CheckText(at, text, maxRejectReason))
		}
	}
}
