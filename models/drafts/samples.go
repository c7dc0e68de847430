package drafts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/condition"
	"countersign/models/db"
	"countersign/models/policy"
)

// MaxSamples is how many calls Samples returns at most.
const MaxSamples = 500

// Of samples: how much is read, and for how long.
const (
	sampleBytes = 20 << 20
	sampleTime  = 2 * time.Second
	samplePage  = 20 // rows of one read

	timeUp = "the time was up"
)

// newestOfTool finds the calls of an agent and a tool above a number.
const newestOfTool = `SELECT number FROM responses` + db.ByResponsesTool + `
 WHERE asked = TRUE AND agent_id = ? AND tool_name = ? AND number > ? AND kind = 'tool_call' AND policy_version > 0
 ORDER BY number DESC LIMIT ?`

// selectSamples reads calls by their numbers, a JSON array.
var selectSamples = `SELECT ` + fmt.Sprintf(callColumns, `r.tool_input_json`) + `, r.headline, r.removed FROM ` +
	db.EachNumber(`?`) + ` CROSS JOIN responses r ON r.number = jn.value` + callJoins

// SampleQuery names the calls to read.
type SampleQuery struct {
	Tools []string // names and patterns as a rule has them; none: all tools
	Allow bool     // they are of a rule that allows, whose patterns match whole names
	Last  int      // the newest so many, at most MaxSamples; 0: MaxSamples

	Within time.Duration // how long it may take; 0: two seconds
}

// Sample is a real call, as a condition reads it.
type Sample struct {
	Number       int64
	ID           models.ResponseID
	Tool         string
	Agent, Owner string // the agent's name, and its owner's e-mail
	Conversation string // as the agent names it
	At           time.Time
	Input        []byte  // as JSON
	Removed      *string // the mark in place of contents; nil: they are kept
	HeadlineJSON string
}

// Response is as much of the request as its headline is made of.
func (s *Sample) Response() *models.Response {
	return &models.Response{
		Number: s.Number, ID: s.ID, Kind: models.KindToolCall, ToolName: s.Tool, ToolInputJSON: string(s.Input),
		HeadlineJSON: s.HeadlineJSON, Removed: s.Removed, CreatedAt: s.At,
	}
}

// Samples are real calls.
type Samples struct {
	Calls   []Sample // the newest first
	Stopped string   // why there are no more of them, for a sentence after a colon; empty: they are all that were asked for
}

// Inputs are those of the calls whose contents are kept.
func (s *Samples) Inputs() [][]byte {
	var out [][]byte
	for i := range s.Calls {
		if s.Calls[i].Removed == nil {
			out = append(out, s.Calls[i].Input)
		}
	}
	return out
}

// Samples reads the newest calls of some tools that agents asked about, until they take 20 MiB or the time is up.
// Nothing is written. Admins and policy editors only.
func (d *Drafts) Samples(ctx context.Context, actor models.Actor, q SampleQuery) (*Samples, error) {
	if err := actor.NeedDrafting(); err != nil {
		return nil, err
	}
	if q.Last < 0 || q.Last > MaxSamples {
		return nil, models.Invalid("last", "must be from 1 to %d", MaxSamples)
	}
	q.Last = cmp.Or(q.Last, MaxSamples)
	timeLimit, cancel := context.WithTimeout(ctx, cmp.Or(q.Within, sampleTime))
	defer cancel()
	out := &Samples{}
	numbers, err := d.sampleNumbers(timeLimit, q, out)
	if err == nil {
		err = d.readSamples(timeLimit, numbers, out)
	}
	if err != nil && errors.Is(timeLimit.Err(), context.DeadlineExceeded) {
		out.Stopped = timeUp
		return out, nil
	}
	return out, err
}

// sampleNumbers finds the calls by their places in the index, the newest first.
func (d *Drafts) sampleNumbers(ctx context.Context, q SampleQuery, out *Samples) ([]int64, error) {
	type place struct {
		agent models.AgentID
		tool  string
	}
	var places []place
	var tools []string
	more, err := d.eachTool(ctx, func(agent models.AgentID, tool string) error {
		places, tools = append(places, place{agent, tool}), append(tools, tool)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if more {
		out.Stopped = fmt.Sprintf("agents have used more than %d tools", maxTools)
	}
	if len(q.Tools) > 0 {
		hit := map[string]bool{}
		for _, entry := range q.Tools {
			m, _ := policy.ToolMatches(entry, q.Allow, tools) // an entry that is none matches nothing
			for _, tool := range m.Hit {
				hit[tool] = true
			}
		}
		places = slices.DeleteFunc(places, func(p place) bool { return !hit[p.tool] })
	}
	var numbers []int64
	above := int64(0)
	for _, p := range places {
		var found []int64
		if err := d.db.Gorm(ctx).Raw(newestOfTool, p.agent, p.tool, above, q.Last).Scan(&found).Error; err != nil {
			return nil, fmt.Errorf("read calls: %w", err)
		}
		numbers = append(numbers, found...)
		slices.SortFunc(numbers, func(a, b int64) int { return cmp.Compare(b, a) })
		if len(numbers) >= q.Last {
			numbers = numbers[:q.Last]
			above = numbers[q.Last-1]
		}
	}
	return numbers, nil
}

// readSamples reads calls, until they are too large together.
func (d *Drafts) readSamples(ctx context.Context, numbers []int64, out *Samples) error {
	owner, size := d.ownerEmails(ctx), 0
	for page := range slices.Chunk(numbers, samplePage) {
		found, err := d.samplePage(ctx, page, owner)
		if err != nil {
			return fmt.Errorf("read calls: %w", err)
		}
		for _, s := range found {
			if size += len(s.Input); size > sampleBytes {
				out.Stopped = fmt.Sprintf("they have more than %d MiB", sampleBytes>>20)
				return nil
			}
			out.Calls = append(out.Calls, s)
		}
	}
	return nil
}

func (d *Drafts) samplePage(
	ctx context.Context, numbers []int64, owner func(models.UserID) (string, error),
) ([]Sample, error) {
	list, err := json.Marshal(numbers)
	if err != nil {
		return nil, err
	}
	rows, err := d.db.Reads().QueryContext(ctx, selectSamples, string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Sample
	var owners []models.UserID
	for rows.Next() {
		var row callRow
		var s Sample
		if err := rows.Scan(append(row.fields(), &s.HeadlineJSON, &s.Removed)...); err != nil {
			return nil, err
		}
		s.Number, s.ID, s.Tool, s.Agent, s.At = row.Number, row.ID, row.ToolName, row.AgentName, row.CreatedAt
		s.Conversation, s.Input = models.NameOfConversation(row.ConversationID, row.RunID), []byte(row.Input)
		out, owners = append(out, s), append(owners, row.OwnerID)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range out {
		if out[i].Owner, err = owner(owners[i]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b Sample) int { return cmp.Compare(b.Number, a.Number) })
	return out, nil
}

// SampleResults say of which calls a condition is true.
type SampleResults struct {
	Matches, Others []*Sample // it is true or false of them
	Unjudged        []UnjudgedSample
	Stopped         string // why not all were judged, for a sentence after a colon; empty: they were
}

// UnjudgedSample is a call of which it can't be told whether a condition is true.
type UnjudgedSample struct {
	*Sample

	Why string // for a sentence after a colon; it repeats nothing of the call
}

// Judge says of which calls a condition is true, in their order; no condition is true of all. Hours and days are those
// of a zone. A context that ends ends it.
func (s *Samples) Judge(ctx context.Context, when *condition.Condition, zone *time.Location) SampleResults {
	var out SampleResults
	for i := range s.Calls {
		c := &s.Calls[i]
		if ctx.Err() != nil {
			out.Stopped = timeUp
			return out
		}
		says := condition.Outcome{Result: condition.True}
		if when != nil {
			says = when.Judge(&condition.Call{
				Tool: c.Tool, Agent: c.Agent, Owner: c.Owner, Conversation: c.Conversation, Kind: string(models.KindToolCall),
				Now: c.At.In(zone), Input: c.Input, Removed: c.Removed != nil,
			})
		}
		switch says.Result {
		case condition.True:
			out.Matches = append(out.Matches, c)
		case condition.False:
			out.Others = append(out.Others, c)
		case condition.Failed:
			out.Unjudged = append(out.Unjudged, UnjudgedSample{c, says.Why})
		}
	}
	return out
}
