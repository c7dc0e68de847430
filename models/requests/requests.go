package requests

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/headline"
)

// Requests outside the hot path are read through GORM: scopes choose them, and a query for each loads the rows beside
// them. Within a snapshot they are all of one state. The hot path reads the same by prepared joins (approval.go).

// withBeside loads what an Approval has beside its response.
func withBeside(g *gorm.DB) *gorm.DB {
	columns := func(names ...string) func(*gorm.DB) *gorm.DB {
		return func(g *gorm.DB) *gorm.DB { return g.Select(names) }
	}
	return g.Preload("Agent", columns("id", "name")).Preload("Owner", columns("id", "name")).
		Preload("Conversation", columns("id", "run_id", "title")).Preload("DecidingVote").Preload("Question")
}

// brief cuts texts as a Brief has them.
func brief(g *gorm.DB) *gorm.DB { return g.Select(ResponseRow.Columns("", briefTexts("responses"))) }

// visibleTo are the requests that the actor sees.
func visibleTo(actor models.Actor) func(*gorm.DB) *gorm.DB {
	by := SeenBy(actor, `responses`)
	return func(g *gorm.DB) *gorm.DB { return g.Where(by.Text, by.Args...) }
}

// PendingAt are those that wait for a person.
func PendingAt(now time.Time) func(*gorm.DB) *gorm.DB {
	return func(g *gorm.DB) *gorm.DB {
		return g.Where("approval_status = ? AND (approval_timeout_at > ? OR held_until IS NOT NULL)", models.StatusPending,
			now)
	}
}

// Spoken are proposals and requests for more budget.
func Spoken(g *gorm.DB) *gorm.DB {
	return g.Where("kind IN ?", []models.Kind{models.KindProposal, models.KindBudget})
}

// FindApprovals reads those that g chooses, as they hold at now (I3).
func FindApprovals(g *gorm.DB, now time.Time) ([]models.Approval, error) {
	var rows []models.Response
	if err := g.Scopes(withBeside).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	var stops []models.Stop
	if err := g.Session(&gorm.Session{NewDB: true}).Select("agent_id").Where("lifted_at IS NULL").Find(&stops).Error; err != nil {
		return nil, fmt.Errorf("read stops: %w", err)
	}
	out := make([]models.Approval, len(rows))
	for i := range rows {
		out[i] = *At(approvalOf(&rows[i]), now)
		out[i].Stopped = !rows[i].IsCompleted &&
			slices.ContainsFunc(stops, func(s models.Stop) bool { return s.Stops(rows[i].AgentID) })
	}
	return out, nil
}

// FindBriefs is the same for a list.
func FindBriefs(g *gorm.DB, now time.Time) ([]models.Brief, error) {
	items, err := FindApprovals(g.Scopes(brief), now)
	return briefs(items), err
}

// briefs marks rows as read with cut texts. A row without a headline was read whole: its headline is made of the whole
// texts, never of cut ones.
func briefs(items []models.Approval) []models.Brief {
	out := make([]models.Brief, len(items))
	for i := range items {
		out[i].Approval = items[i]
		if r := &out[i].Response; r.HeadlineJSON == "" && !r.IsRemoved() {
			r.HeadlineJSON = headline.Of(r).Stored()
			for _, text := range append(r.Explanation.Texts(), &r.Content, &r.ToolInputJSON) {
				*text = firstCharacters(*text, models.MaxBrief)
			}
		}
	}
	return out
}

// firstCharacters cuts as SQL's substr does.
func firstCharacters(s string, most int) string {
	for at := range s {
		if most == 0 {
			return s[:at]
		}
		most--
	}
	return s
}

// approvalOf moves the rows that were loaded with a response into its Approval.
func approvalOf(r *models.Response) *models.Approval {
	a := &models.Approval{
		Response: *r, AgentName: r.Agent.Name, OwnerName: r.Owner.Name,
		RunID: r.Conversation.RunID, ConversationTitle: r.Conversation.Title, Vote: r.DecidingVote, Note: r.Question,
	}
	a.Agent, a.Owner, a.Conversation, a.DecidingVote, a.Question = nil, nil, nil, nil, nil
	return a
}

// inOrder sorts rows into the order of their keys.
func inOrder(keys []Key, items []models.Approval) ([]models.Approval, error) {
	place := make(map[models.ResponseID]int, len(keys))
	for i := range keys {
		place[models.ResponseID(keys[i].ID)] = i
	}
	if len(items) != len(keys) {
		return nil, fmt.Errorf("of %d rows of a list %d are there", len(keys), len(items))
	}
	out := make([]models.Approval, len(keys))
	for i := range items {
		out[place[items[i].ID]] = items[i]
	}
	return out, nil
}

// numbers are those of keys.
func numbers(keys []Key) []int64 {
	out := make([]int64, 0, len(keys))
	for i := range keys {
		out = append(out, keys[i].Number)
	}
	return out
}

// callResult reads what a call has reported, of those that g chooses.
func callResult(g *gorm.DB, id models.ResponseID) (*models.CallResult, error) {
	var call models.Response
	if err := g.Where("id = ? AND kind = ?", id, models.KindToolCall).Take(&call).Error; err != nil {
		return nil, db.NotFoundAs(err, models.NotFound("tool call"))
	}
	var report models.Report
	if err := g.Session(&gorm.Session{NewDB: true}).Take(&report, "id = ?", id).Error; err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	out := &models.CallResult{
		Completed: call.IsCompleted, IsError: call.IsError, Result: report.ToolResult, Bytes: int64(len(report.ToolResult)),
	}
	if report.ResultBytes != nil {
		out.Bytes = *report.ResultBytes
	}
	return out, nil
}

// Who may see a request is models.Actor.Sees. personSees and seenBy say the same in SQL;
// lists are driven by an index of their own, and hold to it too. A property test holds
// all of them equal.

// personSees is the condition under which a person sees the response of that name in a
// statement, of which admin and me are parameters.
func personSees(name, admin, me string) string {
	return `(` + admin + ` OR ` + name + `.owner_id = ` + me + ` OR EXISTS (SELECT 1 FROM reviewers w WHERE w.user_id = ` +
		me + ` AND w.response_id = ` + name + `.id))`
}

// SeenBy is the condition under which an actor sees the response of that name in a
// statement.
func SeenBy(actor models.Actor, name string) db.Part {
	switch {
	case actor.IsAgent():
		return db.Say(name+`.agent_id = ?`, actor.ID)
	case actor.IsPerson():
		return db.Say(personSees(name, `?`, `?`), actor.Oversees(), actor.ID, actor.ID)
	case actor.Kind == models.ActorSystem, actor.Kind == models.ActorOperator:
		return db.Say(`TRUE`)
	}
	return db.Say(`FALSE`)
}

// MaySee is models.Actor.Sees: whether the request was routed to the actor is looked up
// only where that decides.
func MaySee(actor models.Actor, r *models.Response, routes func() (bool, error)) (bool, error) {
	if sees := actor.Sees(r, false); sees || !actor.Sees(r, true) {
		return sees, nil
	}
	return routes()
}

// MaySee is the same of a request that was read.
func (rs *Requests) MaySee(ctx context.Context, actor models.Actor, r *models.Response) (bool, error) {
	return MaySee(actor, r, func() (bool, error) {
		return db.Exists(rs.db.Row(ctx, rs.reads.isReviewer, IsReviewer, actor.ID, r.ID))
	})
}
