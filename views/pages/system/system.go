package system

import (
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// Input is what the page of the system is made of.
type Input struct {
	State   models.SystemState
	Version string // of the product; empty: not known
	Go      string // that it was built with
	Start   time.Time
	Streams int // pages and clients that listen
	// Upstreams are the other systems that ask for approvals.
	Upstreams []models.UpstreamState
	Fault     string // why the store is not ready; empty: it is
	// Notifications counts the messages that wait and that fail.
	Notifications models.NotificationBacklog
	// Webhooks are the endpoints that get events.
	Webhooks []models.WebhookState
	// GateOff and FallbackOn are what lets calls through unasked.
	GateOff, FallbackOn bool
	// GateOffUntil and FallbackUntil are their ends; zero: none.
	GateOffUntil, FallbackUntil time.Time
}

// System is the view model of the page of the system.
type System struct {
	Health    []Health
	Facts     []FactGroup
	Oldest    *WaitingRow
	AdminOnly []WaitingRow
	More      bool
	Upstreams []UpstreamRow
	Servers   []ServerRow
}

// ServerRow is one server of the installation.
type ServerRow struct {
	Name, Version, Work, Lag string
	Since, Commit            views.Moment
	State                    ui.Word
}

// Health is one check and its result.
type Health struct {
	Name string
	Word ui.Word
	Text string
}

// FactGroup is a heading with facts under it.
type FactGroup struct {
	ID, Title string
	Facts     []Fact
}

// Fact is one name and value; Note says what the value means.
type Fact struct{ Name, Value, Note string }

// WaitingRow is one pending request.
type WaitingRow struct {
	URL, Name, Agent, Owner string
	Asked, Left             views.Moment
}

// New makes the page as of now.
func New(in Input, now time.Time) System {
	s := in.State
	v := System{Health: health(in, now), More: s.StrandedMore, Upstreams: upstreamRows(in.Upstreams, now)}
	if s.Oldest != nil {
		row := waitingRow(*s.Oldest, now)
		v.Oldest = &row
	}
	for _, p := range s.AdminOnly {
		v.AdminOnly = append(v.AdminOnly, waitingRow(p, now))
	}
	for i := range s.Nodes {
		v.Servers = append(v.Servers, serverRow(&s.Nodes[i], now))
	}
	version := in.Version
	if version == "" {
		version = "unknown"
	}
	sizes := []Fact{{Name: "Database", Value: size(s.DatabaseBytes)}}
	if s.FreeBytes > 0 {
		sizes[0].Note = size(s.FreeBytes) + " of it free"
	}
	if s.LogBytes > 0 { // PostgreSQL has both elsewhere
		sizes = append(sizes, Fact{Name: "Newest changes", Value: size(s.LogBytes), Note: "in the write-ahead log, until they are merged"})
	}
	v.Facts = []FactGroup{
		{ID: "now", Title: "Now", Facts: []Fact{
			{Name: "Pending", Value: views.Count(s.Pending)},
			{Name: "Waiting agents", Value: views.Number(int64(s.Waiters)), Note: "with a request open for the answer"},
			{Name: "Live connections", Value: views.Number(int64(in.Streams)), Note: "open pages and event streams"},
			{Name: "Running since", Value: views.Ago(in.Start, now).Text},
		}},
		{ID: "size", Title: "Size", Facts: append(sizes, []Fact{
			{Name: "Audit trail", Value: views.Number(s.Entries) + " entries"},
			{Name: "Requests", Value: views.Number(s.Responses)},
			{Name: "Conversations", Value: views.Count(s.Conversations)},
			{Name: "People, agents", Value: views.Count(s.People) + ", " + views.Count(s.Agents)},
		}...)},
		{ID: "growth", Title: "Growth", Facts: []Fact{
			{Name: "Last day", Value: views.Number(s.Day) + " entries", Note: "about " + size(perEntry(s, s.Day))},
			{Name: "Last seven days", Value: views.Number(s.Week) + " entries", Note: "about " + size(perEntry(s, s.Week))},
		}},
		{ID: "versions", Title: "Versions", Facts: []Fact{
			{Name: "Countersign", Value: version},
			{Name: "Database format", Value: strconv.FormatInt(s.Schema, 10)},
			{Name: "Engine", Value: s.Database},
			{Name: "Go", Value: in.Go},
		}},
	}
	return v
}

func serverRow(n *models.Node, now time.Time) ServerRow {
	row := ServerRow{
		Name: n.Name, Version: n.Version, Work: strings.Join(n.Leases, ", "), Since: views.Ago(n.StartedAt, now),
		Commit: views.Ago(n.SeenAt, now), State: ui.Word{Text: "running", Tone: views.ToneGood},
		Lag: "at once",
	}
	if n.Silent(now) {
		row.State = ui.Word{Text: "not seen", Tone: views.ToneBad}
	}
	if n.LagMS > 0 {
		row.Lag = views.Number(n.LagMS) + " ms"
	}
	if row.Work == "" {
		row.Work = "answers only"
	}
	return row
}

// perEntry estimates what n entries take with all that belongs to them: their
// share of the whole file.
func perEntry(s models.SystemState, n int64) int64 {
	if s.Entries == 0 {
		return 0
	}
	return int64(float64(s.DatabaseBytes-s.FreeBytes) / float64(s.Entries) * float64(n))
}

func health(in Input, now time.Time) []Health {
	good := func(name, text string) Health {
		return Health{Name: name, Word: ui.Word{Text: "ok", Tone: views.ToneGood, Icon: "check"}, Text: text}
	}
	bad := func(name, text string) Health {
		return Health{Name: name, Word: ui.Word{Text: "not ok", Tone: views.ToneBad, Icon: "octagon-alert"}, Text: text}
	}
	store := good("Database", "It can be read and written, and its schema matches this version.")
	if in.Fault != "" {
		store = bad("Database", in.Fault)
	}
	gate := good("Gate", "Tool calls need approval as the policy says.")
	if in.GateOff {
		gate = bad("Gate", "Off"+untilEnd(in.GateOffUntil)+": tool calls run without asking anyone.")
	}
	out := []Health{store, gate, rowHealth(in.State.RowCheck, now, good, bad)}
	if in.FallbackOn {
		out = append(out, bad("Fallback", "On"+untilEnd(in.FallbackUntil)+": clients run calls when no server answers."))
	}
	decide := good("Who can decide", "Every pending request has an active owner or reviewer.")
	if len(in.State.AdminOnly) > 0 {
		decide = Health{
			Name: "Who can decide", Word: ui.Word{Text: "check", Tone: views.ToneWarn, Icon: "triangle-alert"},
			Text: "Only an admin can decide some requests: see below.",
		}
	}
	out = append(out, decide)
	if len(in.Upstreams) > 0 {
		out = append(out, upstreamHealth(in.Upstreams, now))
	}
	out = append(out, notifyHealth(in.Notifications, now))
	if len(in.Webhooks) > 0 {
		out = append(out, webhookHealth(in.Webhooks))
	}
	return out
}

// webhookHealth is one line for all endpoints.
func webhookHealth(all []models.WebhookState) Health {
	stopped, refusals := 0, 0
	for i := range all {
		switch all[i].PausedWhy {
		case models.PausedFailing, models.PausedGone:
			stopped++
		case models.PausedByPerson:
		default:
			if all[i].BlockCount > 0 {
				refusals++
			}
		}
	}
	h := Health{
		Name: "Delivery to webhooks", Word: ui.Word{Text: "ok", Tone: views.ToneGood, Icon: "check"}, Text: "All webhooks work.",
	}
	if stopped+refusals == 0 {
		return h
	}
	h.Word = ui.Word{Text: "check", Tone: views.ToneWarn, Icon: "triangle-alert"}
	h.Text = "Endpoints that refuse events: " + views.Count(refusals) + ". Paused after refusals: " +
		views.Count(stopped) + "."
	return h
}

// lateAfter is how long a message may wait before the page says so: longer than an attempt
// and the one after it take.
const lateAfter = 5 * time.Minute

// notifyHealth is one line for all messages.
func notifyHealth(b models.NotificationBacklog, now time.Time) Health {
	h := Health{
		Name: "Delivery of notifications", Word: ui.Word{Text: "ok", Tone: views.ToneGood, Icon: "check"},
		Text: "All channels work, and no message is late.",
	}
	late := !b.Oldest.IsZero() && now.Sub(b.Oldest) >= lateAfter
	if late || len(b.Failures) > 0 {
		h.Word = ui.Word{Text: "check", Tone: views.ToneWarn, Icon: "triangle-alert"}
		h.Text = views.Count(len(b.Failures)) + " failing channels."
		if late {
			h.Text += " The oldest unsent message is from " + views.Ago(b.Oldest, now).Text + "."
		}
	}
	return h
}

// untilEnd is the end of a switch behind what it does; empty: it has none.
func untilEnd(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + policy.SpokenEnd(t)
}

// rowHealth is the result of comparing all rows with the ledger. The log and the command name the faults: they hold
// names that others chose.
func rowHealth(c models.RowCheck, now time.Time, good, bad func(name, text string) Health) Health {
	const name = "Records against the audit trail"
	switch {
	case c.EndedAt == nil:
		return Health{
			Name: name, Word: ui.Word{Text: "not yet", Tone: views.ToneNeutral, Icon: "clock"},
			Text: "Not compared yet. This runs every week.",
		}
	case c.Found > 0:
		return bad(name,
			views.Number(c.Found)+" records did not match the audit trail, "+views.Ago(*c.EndedAt,
				now).Text+". Run countersign audit verify --rows.")
	case c.Failed():
		return bad(name, "The comparison failed, "+views.Ago(*c.EndedAt, now).Text+". See the log.")
	}
	text := views.Number(c.Rows) + " compared " + views.Ago(*c.EndedAt, now).Text + "; all match the audit trail."
	if c.NotCovered > 0 {
		text += " " + views.Number(c.NotCovered) + " can't be compared."
	}
	return good(name, text)
}

func waitingRow(p models.PendingRef, now time.Time) WaitingRow {
	what := p.ToolName
	if what == "" {
		what = string(p.Kind)
	}
	return WaitingRow{
		URL: views.ApprovalURL(p.ID), Name: what, Agent: p.AgentName, Owner: p.OwnerName,
		Asked: views.Ago(p.AskedAt, now), Left: views.Remaining(p.Deadline, p.AskedAt, now),
	}
}

// size writes a number of bytes in the unit that fits.
func size(n int64) string {
	units := [...]string{"KiB", "MiB", "GiB", "TiB"}
	if n < 1<<10 {
		return views.Number(n) + " bytes"
	}
	v := float64(n)
	unit := -1
	for v >= 1<<10 && unit < len(units)-1 {
		v /= 1 << 10
		unit++
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " " + units[unit]
}

// waitingColumns head a list of requests that wait.
func waitingColumns() []ui.Column {
	return []ui.Column{
		{Label: "Request"},
		{Label: "Agent", Width: "medium"},
		{Label: "Owner", Width: "medium"},
		{Label: "Asked", Width: "small"},
		{Label: "Time left", Width: "small"},
	}
}
