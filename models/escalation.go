package models

import (
	"slices"
	"strings"
	"time"
)

// Escalation is when further people are asked about a request that waits.
type Escalation struct {
	ResponseID ResponseID `gorm:"primaryKey"`
	Step       int        `gorm:"primaryKey"` // from 1
	DueAt      time.Time
	PausedAt   *time.Time // since when a question stops the clock; nil: it runs
}

// Escalates reports whether the rule of the request asks further people as time runs.
func (r *Response) Escalates() bool { return strings.Contains(r.ApproversJSON, `"step":`) }

// Step are those among all whom the request froze who are asked by one step of its escalation.
func (r *Response) Step(step int) Approvers {
	w := r.frozen()
	w.Named = slices.DeleteFunc(w.Named, func(a Approver) bool { return a.Step != step })
	return w
}

// Later are those whom steps ask that have not come yet.
func (r *Response) Later() Approvers {
	w := r.frozen()
	w.Named = slices.DeleteFunc(w.Named, func(a Approver) bool { return a.Step <= r.Escalation })
	return w
}

// Steps are those of the request's escalation, with the minutes after which each comes.
func (r *Response) Steps() map[int]int {
	out := map[int]int{}
	for _, a := range r.frozen().Named {
		if a.Step > 0 {
			out[a.Step] = a.After
		}
	}
	return out
}

// WhenBusy is what happens to a request of low risk where everybody who would be asked has enough to look at.
type WhenBusy string

// What may happen.
const (
	BusyExpire   WhenBusy = "expire"   // it expires as it comes, and no person is asked
	BusyEscalate WhenBusy = "escalate" // those are asked at once whom its rule asks first as time runs
	BusyBatch    WhenBusy = "batch"    // it waits among others in one line, told of together
)

// WhenBusies is the list of all.
func WhenBusies() []WhenBusy { return []WhenBusy{BusyExpire, BusyEscalate, BusyBatch} }

// busyWords end the sentence about a request that came while all were busy.
var busyWords = map[WhenBusy]string{
	BusyExpire: "it expired at once", BusyEscalate: "further people were asked at once",
	BusyBatch: "it waits together with other requests of low risk",
}

// BusyText says in a sentence what happened to the request because all were busy; empty: nothing did.
func (r *Response) BusyText() string {
	if r.WhenBusy == "" {
		return ""
	}
	return "All reviewers have had as many requests this hour as the policy allows, so " + busyWords[r.WhenBusy] + "."
}
