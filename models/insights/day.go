package insights

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/figures"
)

// request is what a day is summed from.
type request struct {
	number       int64
	id           models.ResponseID
	agent        models.AgentID
	kind         models.Kind
	tool, rule   string
	status       models.Status // with StatusRan
	cause        models.Cause
	asked, ended *time.Time
	feedback     *string       // in its place may be the mark of a removal
	by           models.UserID // who decided, if a person did
	vote         models.VoteID
	removed      *string
}

const requestColumns = `SELECT r.number, r.id, r.agent_id, r.kind, r.tool_name, r.policy_rule, coalesce(r.approval_status, ''), r.cause,
 r.approval_requested_at, r.approval_timestamp, r.approval_feedback, coalesce(r.decided_by, ''), coalesce(r.vote_id, ''), r.removed FROM `

var (
	// asksIn and laterAsks are the requests of the day that did not end on it: those that came as requests, by their numbers,
	// and those that had come before, as reports.
	asksIn    = requestColumns + `responses r WHERE r.number > ? AND r.number <= ? AND r.approval_requested_at = r.created_at` + notYet
	laterAsks = requestColumns + `responses r` + db.ByResponsesAskedLater + ` WHERE r.approval_requested_at <> r.created_at
 AND r.approval_requested_at >= ? AND r.approval_requested_at < ?` + notYet
	endsIn     = requestColumns + `responses r` + db.ByResponsesSettled + ` WHERE r.approval_timestamp >= ? AND r.approval_timestamp < ?`
	letThrough = requestColumns + `responses r` + db.ByResponsesLetThrough + ` WHERE r.approval_status IS NULL AND r.cause <> '' AND r.created_at >= ? AND r.created_at < ?`
	numbered   = requestColumns + db.EachNumber(`?`) + ` CROSS JOIN responses r ON r.number = jn.value`

	endVotes = `SELECT v.* FROM responses r` + db.ByResponsesSettled + ` CROSS JOIN votes v ON v.response_id = r.id
 WHERE r.approval_timestamp >= ? AND r.approval_timestamp < ?`
	endNotes = `SELECT n.* FROM responses r` + db.ByResponsesSettled + ` CROSS JOIN notes n ON n.response_id = r.id
 WHERE r.approval_timestamp >= ? AND r.approval_timestamp < ? ORDER BY r.approval_timestamp, r.number, n.number`
	endEdits = `SELECT v.id, r.tool_input_json, v.input FROM responses r` + db.ByResponsesSettled + ` CROSS JOIN votes v ON v.id = r.vote_id
 WHERE r.approval_timestamp >= ? AND r.approval_timestamp < ? AND v.verdict = 'approve' AND v.input IS NOT NULL AND r.removed IS NULL`
	endUnseen = `SELECT r.id FROM responses r` + db.ByResponsesSettled + ` WHERE r.approval_timestamp >= ? AND r.approval_timestamp < ?
 AND r.approval_status = 'expired' AND r.removed IS NULL AND NOT EXISTS (SELECT 1 FROM seen s WHERE s.response_id = r.id AND s.first_at < r.approval_timestamp)`

	spentByResponses = `SELECT agent_id, kind, tool_name, policy_rule, conversation_id, sum(energy) FROM responses
 WHERE number > ? AND number <= ? AND energy > 0 GROUP BY agent_id, kind, tool_name, policy_rule, conversation_id`
	spentByTurns = `SELECT c.agent_id, '', '', '', t.conversation_id, sum(t.energy) FROM turns t` + db.ByTurnsAt + ` JOIN conversations c ON c.id = t.conversation_id
 WHERE t.at >= ? AND t.at < ? AND t.energy > 0 GROUP BY c.agent_id, t.conversation_id`
)

const notYet = ` AND (r.approval_timestamp IS NULL OR r.approval_timestamp >= ?)`

// lastOfDay is the number before the first response that came later; where none did, the last there is.
const lastOfDay = `SELECT coalesce((SELECT number - 1 FROM responses WHERE number > ? AND created_at >= ? ORDER BY number LIMIT 1),
 (SELECT max(number) FROM responses), 0)`

// day is one that is summed, or a part of one: what it begins with, and what it leaves to the next.
type day struct {
	db         *db.DB
	begin, end time.Time
	zone       *time.Location

	waiting []int64 // the numbers of the requests that wait at its begin; then at its end
	last    int64   // the number of the last response before it; then of its last

	about map[string]*figures.Sum
}

// of are the figures that a request counts in, by whom it was decided too.
func (d *day) of(r *request, by models.UserID) []*figures.Sum {
	out := []*figures.Sum{
		d.named(""), d.named("agent:" + string(r.agent)), d.named("tool:" + figures.ToolKey(r.kind, r.tool)), d.named("rule:" + r.rule),
	}
	if by != "" {
		out = append(out, d.named("person:"+string(by)))
	}
	return out
}

func (d *day) named(name string) *figures.Sum {
	f := d.about[name]
	if f == nil {
		f = &figures.Sum{}
		d.about[name] = f
	}
	return f
}

// sum reads the day. Run it within a snapshot.
func (d *day) sum(ctx context.Context) error {
	d.about = map[string]*figures.Sum{"": {}}
	ends, err := d.requests(ctx, endsIn, d.begin, d.end)
	if err != nil {
		return err
	}
	through, err := d.requests(ctx, letThrough, d.begin, d.end)
	if err != nil {
		return err
	}
	if err := d.outcomes(ctx, ends, through); err != nil {
		return err
	}
	from := d.last
	if err := d.db.Reader(ctx).QueryRowContext(ctx, lastOfDay, from, d.end).Scan(&d.last); err != nil {
		return fmt.Errorf("find the last response: %w", err)
	}
	if err := d.waits(ctx, ends, from); err != nil {
		return err
	}
	if err := d.spent(ctx, spentByResponses, from, d.last); err != nil {
		return err
	}
	if err := d.spent(ctx, spentByTurns, d.begin, d.end); err != nil {
		return err
	}
	for _, f := range d.about {
		f.Cut()
	}
	return nil
}

func (d *day) requests(ctx context.Context, query string, args ...any) (out []request, err error) {
	rows, err := d.db.Reader(ctx).QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r request
		if err := rows.Scan(&r.number, &r.id, &r.agent, &r.kind, &r.tool, &r.rule, &r.status, &r.cause, &r.asked, &r.ended, &r.feedback, &r.by, &r.vote,
			&r.removed); err != nil {
			return nil, fmt.Errorf("read requests: %w", err)
		}
		r.status = models.StatusIn(r.status, r.cause)
		if r.cause != models.CauseReviewer {
			r.by = ""
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// outcomes counts what ended on the day.
func (d *day) outcomes(ctx context.Context, ends, through []request) error {
	beside, err := d.besides(ctx)
	if err != nil {
		return err
	}
	for _, r := range through {
		for _, f := range d.of(&r, "") {
			outcome(f, &r)
		}
	}
	for _, r := range ends {
		notes, decided := beside.notes[r.id], time.Time{}
		if r.by != "" && r.vote != "" {
			decided = beside.votedAt[r.vote]
		}
		for _, f := range d.of(&r, r.by) {
			outcome(f, &r)
			f.Undone += beside.undone[r.id]
			if beside.unseen[r.id] {
				f.Unseen++
			}
			for _, n := range notes {
				if n.Asks {
					f.Questions++
				}
			}
			if r.asked == nil {
				continue
			}
			f.Waited.Add(r.ended.Sub(*r.asked))
			if decided.IsZero() {
				continue
			}
			f.Decided.Add(decided.Sub(*r.asked) - models.Paused(notes, decided))
			f.AddHour(d.hourOf(decided), figures.Hour{Decided: 1})
			for _, member := range beside.edits[r.vote] {
				figures.Count(&f.Edits, member, 1)
			}
		}
	}
	return nil
}

func outcome(f *figures.Sum, r *request) {
	figures.Count(&f.Outcomes, figures.OutcomeKey(r.status, r.cause), 1)
	one := figures.Rate{Other: 1}
	switch {
	case r.by != "" && r.status == models.StatusApproved:
		one = figures.Rate{Approved: 1}
	case r.by != "" && r.status == models.StatusRejected:
		one = figures.Rate{Rejected: 1}
	}
	figures.AddRate(&f.Agents, string(r.agent), one)
	figures.AddRate(&f.Tools, figures.ToolKey(r.kind, r.tool), one)
	figures.AddRate(&f.Rules, r.rule, one)
	if r.by != "" {
		figures.AddRate(&f.People, string(r.by), one)
	}
	if r.status == models.StatusRejected && (r.by != "" || r.cause == models.CausePolicy) && r.feedback != nil {
		said := models.Response{ApprovalFeedback: r.feedback, Removed: r.removed}
		if line := firstLine(said.Said()); line != "" {
			figures.Count(&f.Reasons, line, 1)
		}
	}
}

// mostReason is how long a reason that is counted may be, in bytes; a longer one counts as its beginning.
const mostReason = 500

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line = strings.TrimSpace(line); len(line) > mostReason {
		return models.Cut(line, mostReason) + "…"
	}
	return line
}

// beside is what other tables say of the requests that ended on the day.
type beside struct {
	votedAt map[models.VoteID]time.Time
	edits   map[models.VoteID][]string
	undone  map[models.ResponseID]int64
	notes   map[models.ResponseID][]models.Note
	unseen  map[models.ResponseID]bool
}

func (d *day) besides(ctx context.Context) (*beside, error) {
	out := &beside{
		votedAt: map[models.VoteID]time.Time{}, edits: map[models.VoteID][]string{}, undone: map[models.ResponseID]int64{},
		notes: map[models.ResponseID][]models.Note{}, unseen: map[models.ResponseID]bool{},
	}
	var votes []models.Vote
	if err := d.db.Gorm(ctx).Raw(endVotes, d.begin, d.end).Scan(&votes).Error; err != nil {
		return nil, fmt.Errorf("read votes: %w", err)
	}
	for _, v := range votes {
		out.votedAt[v.ID] = v.At
		if v.WithdrawnAt != nil && v.ReplacedBy == "" {
			out.undone[v.ResponseID]++
		}
	}
	var notes []models.Note
	if err := d.db.Gorm(ctx).Raw(endNotes, d.begin, d.end).Scan(&notes).Error; err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	for _, n := range notes {
		out.notes[n.ResponseID] = append(out.notes[n.ResponseID], n)
	}
	var unseen []string
	if err := d.db.Gorm(ctx).Raw(endUnseen, d.begin, d.end).Scan(&unseen).Error; err != nil {
		return nil, fmt.Errorf("read who saw: %w", err)
	}
	for _, id := range unseen {
		out.unseen[models.ResponseID(id)] = true
	}
	return out, d.edited(ctx, out)
}

// edited names the members that edits changed.
func (d *day) edited(ctx context.Context, into *beside) error {
	rows, err := d.db.Reader(ctx).QueryContext(ctx, endEdits, d.begin, d.end)
	if err != nil {
		return fmt.Errorf("read edits: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id models.VoteID
		var from, to []byte
		if err := rows.Scan(&id, &from, &to); err != nil {
			return fmt.Errorf("read edits: %w", err)
		}
		into.edits[id] = changedMembers(from, to)
	}
	return rows.Err()
}

// mostMember is how long the name of a member that is counted may be, in bytes.
const mostMember = 100

// changedMembers are the members of an object that another has not, or with another value, by name. Of what are not two
// objects it is "input".
func changedMembers(from, to []byte) (out []string) {
	before, wrong := models.ShapeOf(from)
	after, wrongToo := models.ShapeOf(to)
	if wrong != nil || wrongToo != nil || !before.Object || !after.Object {
		return []string{"input"}
	}
	for _, pair := range [...][2][]models.Member{{before.Members, after.Members}, {after.Members, before.Members}} {
		for _, m := range pair[0] {
			same := slices.ContainsFunc(pair[1], func(o models.Member) bool { return o.Name == m.Name && bytes.Equal(o.Value, m.Value) })
			if name := models.Cut(m.Name, mostMember); !same && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

func (d *day) hourOf(at time.Time) int {
	at = at.In(d.zone)
	return (int(at.Weekday())+6)%7*24 + at.Hour()
}

// waits counts the requests that waited at the end of each hour of the day, and notes those that wait at its end. ends
// are those that ended on the day, from is the number of the last response before it.
func (d *day) waits(ctx context.Context, ends []request, from int64) error {
	list, err := json.Marshal(d.waiting)
	if err != nil {
		return err
	}
	before, err := d.requests(ctx, numbered, string(list))
	if err != nil {
		return err
	}
	asks, err := d.requests(ctx, asksIn, from, d.last, d.end)
	if err != nil {
		return err
	}
	later, err := d.requests(ctx, laterAsks, d.begin, d.end, d.end)
	if err != nil {
		return err
	}
	asks = append(asks, later...)
	for _, r := range ends {
		if r.asked != nil && !r.asked.Before(d.begin) {
			asks = append(asks, r)
		}
	}
	d.waiting = []int64{}
	for i, r := range append(before, asks...) {
		n := int64(0)
		for t := d.begin.Add(time.Hour); !t.After(d.end); t = t.Add(time.Hour) {
			if r.waitsAt(t) {
				n++
			}
		}
		for _, f := range d.of(&r, "") {
			f.Waiting += n
			if i >= len(before) {
				f.AddHour(d.hourOf(*r.asked), figures.Hour{Asked: 1})
			}
		}
		if r.waitsAt(d.end) {
			d.waiting = append(d.waiting, r.number)
		}
	}
	slices.Sort(d.waiting)
	return nil
}

// waitsAt reports whether it waited until t or longer.
func (r *request) waitsAt(t time.Time) bool {
	return r.asked.Before(t) && (r.ended == nil || !r.ended.Before(t))
}

// spent counts energy.
func (d *day) spent(ctx context.Context, query string, args ...any) error {
	rows, err := d.db.Reader(ctx).QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read energy: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r request
		var conversation string
		var energy int64
		if err := rows.Scan(&r.agent, &r.kind, &r.tool, &r.rule, &conversation, &energy); err != nil {
			return fmt.Errorf("read energy: %w", err)
		}
		tool, of := "", []*figures.Sum{d.named(""), d.named("agent:" + string(r.agent))}
		if r.kind != "" {
			tool, of = figures.ToolKey(r.kind, r.tool), d.of(&r, "")
		}
		for _, f := range of {
			figures.Count(&f.EnergyOfAgents, string(r.agent), energy)
			figures.Count(&f.EnergyOfTools, tool, energy)
			figures.Count(&f.EnergyOfConversations, conversation, energy)
		}
	}
	return rows.Err()
}
