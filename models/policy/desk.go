package policy

import (
	"fmt"
	"slices"
	"strings"
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
	MaxAsksPerHour    = 1_000
	MaxFloodPerHour   = 1_000
	MaxRejectReasons  = 12
	maxRejectReason   = 200 // bytes
	defaultPause      = 60
	defaultGrantHours = 24
	defaultGrantUses  = 50

	DefaultFloodPerHour = 60
)

// WhenBusy is what happens to a call of low risk when everybody is busy: see Rule.WhenBusy.
type WhenBusy = models.WhenBusy

// UndoSeconds is how long an approval is held, by risk. Meanwhile its giver may undo it and the agent does not hear of
// it. 0 is not at all.
type UndoSeconds struct {
	Low      int `json:"low"`
	Medium   int `json:"medium"`
	High     int `json:"high"`
	Critical int `json:"critical"`
}

// For is the window of a risk.
func (u UndoSeconds) For(r models.Risk) time.Duration {
	return time.Duration(u.seconds(r)) * time.Second
}

func (u UndoSeconds) seconds(r models.Risk) int {
	switch r {
	case models.RiskLow:
		return u.Low
	case models.RiskMedium:
		return u.Medium
	case models.RiskHigh:
		return u.High
	case models.RiskCritical:
		return u.Critical
	}
	return 0
}

// SaysUndo reports whether a document says anything about undo. One that was
// stored before there was one does not, and no approval of it is held.
func SaysUndo(raw []byte) bool {
	var members map[string]jsontext.Value
	return json.Unmarshal(raw, &members) == nil && members["undo_seconds"] != nil
}

// UndoFor is how long an approval of a risk is held before the agent hears of it.
func (p *Policy) UndoFor(r models.Risk) time.Duration { return p.doc.UndoSeconds.For(r) }

func (u UndoSeconds) String() string {
	var parts []string
	for _, risk := range models.Risks() {
		parts = append(parts, fmt.Sprintf("%s %d", risk, u.seconds(risk)))
	}
	return strings.Join(parts, ", ")
}

// RejectReasons are the reasons that a rule, and the template that the agent named, offer for a rejection; none if the
// document has neither.
func (p *Policy) RejectReasons(rule, template string) []string {
	var out []string
	if i := find(p.doc.Rules, rule); i >= 0 {
		out = slices.Clone(p.doc.Resolved(p.doc.Rules[i]).RejectReasons)
	}
	if t := p.doc.template(template); t != nil {
		out = joined(out, t.RejectReasons)
	}
	return out
}

func (c *checker) desk(d Document) {
	for _, risk := range models.Risks() {
		if seconds := d.UndoSeconds.seconds(risk); seconds < 0 || seconds > MaxUndoSeconds {
			c.add("undo_seconds."+string(risk), "must be 0 to %d seconds", MaxUndoSeconds)
		}
	}
	for _, f := range []struct {
		path       string
		value, top int
		unit       string
	}{
		{"max_pause_minutes", d.MaxPauseMinutes, MaxPauseMinutes, "minutes"},
		{"grant_max_hours", d.GrantMaxHours, MaxGrantHours, "hours"},
		{"grant_max_uses", d.GrantMaxUses, MaxGrantUses, "uses"},
	} {
		if f.value < 1 || f.value > f.top {
			c.add(f.path, "must be 1 to %d %s", f.top, f.unit)
		}
	}
	if d.MaxAsksPerReviewerHour < 0 || d.MaxAsksPerReviewerHour > MaxAsksPerHour {
		c.add("max_asks_per_reviewer_hour", "must be 0 to %d requests; with 0, when_busy never counts", MaxAsksPerHour)
	}
	if d.FloodPerHour != 0 && (d.FloodPerHour < models.FloodAlike || d.FloodPerHour > MaxFloodPerHour) {
		c.add("flood_per_hour", "must be %d to %d requests, or 0 for %d", models.FloodAlike, MaxFloodPerHour, DefaultFloodPerHour)
	}
}

// whenBusy checks what a rule says of busy people.
func (c *checker) whenBusy(path string, d *Document, r Rule) {
	whole := d.Resolved(r)
	switch {
	case r.WhenBusy == "":
	case !slices.Contains(models.WhenBusies(), r.WhenBusy):
		c.add(path, "must be %s, or be left out", models.AnyOf(models.WhenBusies()))
	case r.Effect == EffectAllow || r.Effect == EffectDeny:
		c.add(path, "has no effect in a rule that says %s: only calls that wait need attention", r.Effect)
	case whole.Risk != models.RiskLow:
		c.add(path, "is only for rules of low risk, and this one's is %s: such calls are always asked about", whole.Risk)
	case r.WhenBusy == models.BusyEscalate && len(whole.Escalate) == 0:
		c.add(path, "needs escalate: whom to ask at once where all others are busy")
	}
}

func (c *checker) rejectReasons(path string, reasons []string) {
	c.lines(path, reasons, MaxRejectReasons, maxRejectReason)
}

// lines checks a list of at most so many texts, each at most so long and there once.
func (c *checker) lines(path string, list []string, most, bytes int) {
	if len(list) > most {
		c.add(path, "must be at most %d", most)
		return
	}
	for i, text := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case strings.TrimSpace(text) == "":
			c.add(at, "must not be empty")
		case slices.Index(list, text) < i:
			c.add(at, "is listed twice")
		default:
			c.take(at, models.CheckText(at, text, bytes))
		}
	}
}
