package models

import "time"

// Numbers are the figures of the whole store, for those who run it.
type Numbers struct {
	Pending   int       // requests that wait, not capped
	Oldest    time.Time // when the one that waits longest was asked; zero if none waits
	ByAge     []PendingCount
	Waiters   int   // callers blocked in a wait
	LedgerSeq int64 // number of the last entry

	GateOff    bool // tool calls go through without a person
	FallbackOn bool // clients go on when no server answers
	Stops      int  // that are in force

	BrokenGlass int // decisions that broke glass and wait to be acknowledged

	DatabaseBytes, LogBytes int64
	FreeBytes               int64     // of the disk
	BackupAt                time.Time // when the last backup was made; zero: none was

	UnsentVerdicts   int // on their way to an upstream, not capped
	FailingUpstreams int // whose last poll failed

	UnsentNotices   int // messages that are to be sent, or sent again
	FailingChannels int // that keep failing

	WebhooksBehind int64     // entries that endpoints have not come by, of all of them together
	WebhooksOldest time.Time // when the oldest was recorded that an endpoint is to get; zero: there is none
	PausedWebhooks int

	RowCheck RowCheck // of all rows with the ledger, each week

	Nodes []Node // the servers on the database
}

// PendingCount is how many requests of a risk wait for so long.
type PendingCount struct {
	Risk  Risk
	Age   string // one of PendingAges
	Count int
}

// PendingAge is a span of time that requests have waited.
type PendingAge struct {
	Name  string
	Least time.Duration
}

// PendingAges are the spans that are told apart, the longest first.
func PendingAges() []PendingAge {
	return []PendingAge{
		{"over_1h", time.Hour}, {"10m_to_1h", 10 * time.Minute}, {"1m_to_10m", time.Minute}, {"under_1m", 0},
	}
}

// Outcome is what became of one request, told once, after its commit.
type Outcome struct {
	Status Status // StatusNone: allowed without a person
	Cause  Cause
	Wait   time.Duration // from the ask to the outcome; zero when settled at the ask
}

// OutcomeOf reads the outcome of an approval that has one.
func OutcomeOf(a *Approval) Outcome {
	o := Outcome{Status: a.Status(), Cause: a.Cause}
	if a.ApprovalRequestedAt != nil && a.ApprovalTimestamp != nil {
		o.Wait = a.ApprovalTimestamp.Sub(*a.ApprovalRequestedAt)
	}
	return o
}
