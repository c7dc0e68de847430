package outside

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/store"
)

// askUnmatched gives an item a response in the default conversation of the upstream's agent.
func (t *tx) askUnmatched(
	u *models.Upstream, item models.OutsideItem, row *models.OutsideApproval,
) (*models.Approval, error) {
	r := models.Response{
		Kind: models.KindToolCall, ToolName: row.Name, ToolInputJSON: string(item.Arguments), MatchedBy: "unmatched",
	}
	if r.ToolName == "" {
		r.ToolName = "(no name)"
	}
	var inputBytes *int64
	canonical, err := models.Canonical(r.Kind, r.ToolName, item.Arguments)
	if err != nil || !keptWhole(row, &item) {
		// It cannot be shown whole or digested as others are: it can be rejected.
		length := int64(len(item.Arguments))
		quote, quoteErr := jsontext.AppendQuote(nil, models.Cut(row.Arguments, models.MaxBeginning/2))
		if quoteErr != nil {
			return nil, fmt.Errorf("keep arguments: %w", quoteErr)
		}
		inputBytes, r.ToolInputJSON, canonical = &length, string(quote), item.Arguments
	}
	r.Digest = models.Digest(canonical)
	return t.AskOwn(store.OutsideAsk{Upstream: u, Row: row, Item: &item, InputBytes: inputBytes}, r, "")
}

// questionOf is what a human contact asks, as a question.
func questionOf(item *models.OutsideItem) (models.Response, error) {
	r := models.Response{
		Kind: models.KindQuestion, ToolName: "question", ToolInputJSON: "{}",
		Explanation: models.Explanation{Description: models.StoredText(item.Message)},
	}
	if n := len(r.Description); n > models.MaxContent {
		r.Description = fmt.Sprintf("%s… (the beginning of %d bytes)", models.Cut(r.Description, models.MaxContent), n)
	}
	if r.Description == "" {
		r.Description = "The other system asks a person. Its question was not found: the context below is all that it sent."
	}
	var err error
	r.Options, err = models.StoredOptions(item.Options)
	return r, err
}

// askContact makes a question of a human contact, in its run if that is known.
func (t *tx) askContact(
	u *models.Upstream, item models.OutsideItem, row *models.OutsideApproval,
) (*models.Approval, error) {
	r, err := questionOf(&item)
	if err != nil {
		return nil, err
	}
	r.Context = contactContext(item, row)
	if r.Digest, err = r.DigestUnder(models.DigestVersion); err != nil {
		return nil, err
	}
	runs, err := t.runsFor(u, item.RunID)
	if err != nil {
		return nil, fmt.Errorf("look for a run: %w", err)
	}
	var run models.ConversationID
	if len(runs) > 0 {
		run = runs[0]
	}
	return t.AskOwn(store.OutsideAsk{Upstream: u, Row: row, Item: &item}, r, run)
}

// contactContext is what a contact sends beside its question: its subject, and the
// rest as JSON.
func contactContext(item models.OutsideItem, row *models.OutsideApproval) string {
	return strings.TrimSpace(row.Name + "\n\n" + restOf(item))
}

// restOf is the part of an item beside its question or arguments.
func restOf(item models.OutsideItem) string {
	rest := models.Cut(models.StoredText(string(item.Rest)), maxRaw)
	if n := len(item.Rest); n > len(rest) {
		return fmt.Sprintf("%s… (the beginning of %d bytes)", rest, n)
	} else if canonical, err := models.CanonicalJSON("rest", item.Rest); n > 0 && err == nil {
		return string(canonical)
	}
	return rest
}

// known is the row of an item from earlier polls; zero: there is none.
type known struct {
	Row models.OutsideApproval `gorm:"embedded"`

	Status      models.Status
	SettledAt   *time.Time
	Deadline    time.Time
	HeldUntil   *time.Time
	Description string
	Options     string
	SaidSo      bool // the other system itself said that it has a decision
}

// The last request of an id and kind, with its response.
const knownQuery = `SELECT o.*, coalesce(r.approval_status, '') AS status, r.approval_timestamp AS settled_at, r.approval_timeout_at AS deadline, r.held_until, r.description, r.options,
 EXISTS (SELECT 1 FROM deliveries d WHERE d.response_id = o.response_id AND d.outcome = 'elsewhere') AS said_so
 FROM outside_approvals o LEFT JOIN responses r ON r.id = o.response_id WHERE o.upstream_id = ? AND o.call_id = ? AND o.kind = ? ORDER BY o.again DESC LIMIT 1`

// stays reports whether there is nothing to do about an item.
func (k *known) stays(item *models.OutsideItem, now time.Time) bool {
	return k.Row.ResponseID != "" && k.asksFor(item, now) && !k.isAskedAgain(now) && k.movedDeadline(item, now) == nil
}

// asksFor reports whether an item asks for the same as before. Where its arguments are not known the whole item
// counts, and anything in it may change at each poll: such an item is another request once a minute at most.
func (k *known) asksFor(item *models.OutsideItem, now time.Time) bool {
	if k.Row.Removed != nil {
		return true // its texts are removed: nothing to compare
	}
	if k.Row.Kind == models.OutsideContact {
		r, err := questionOf(item)
		return err != nil || r.Description == k.Description && r.Options == k.Options
	}
	is := models.OutsideApproval{Name: models.StoredText(item.Name)}
	keepItem(&is, *item)
	wasWhole, isWhole := k.Row.Arguments == k.Row.Raw, is.Arguments == is.Raw
	switch {
	case k.Row.Name != is.Name || wasWhole != isWhole:
		return false
	case k.Row.Arguments == is.Arguments || models.SameJSON(k.Row.Arguments, is.Arguments):
		return true
	}
	return isWhole && now.Before(k.Row.FirstAt.Add(againAfter))
}

// againAfter is for how long an upstream may still list a settled request: lists may lag behind.
const againAfter = time.Minute

// isAskedAgain reports whether an item that is listed was settled a while ago, and
// neither by a decision from here nor by one that the other system told of: it is
// pending there all the same.
func (k *known) isAskedAgain(now time.Time) bool {
	return k.Status == models.StatusResolved && !k.SaidSo && k.SettledAt != nil && !now.Before(k.SettledAt.Add(againAfter))
}

// movedDeadline is the deadline that a pending request has by now at the other
// system; nil: it is the one that is known.
func (k *known) movedDeadline(item *models.OutsideItem, now time.Time) *time.Time {
	until := item.Deadline(now)
	if k.Status != models.StatusPending || k.HeldUntil != nil || until == nil || !now.Before(*until) ||
		k.Deadline.Sub(*until).Abs() <= movedBy {
		return nil
	}
	return new(db.Stamp(*until))
}

// movedBy is by how much a deadline must differ to have moved: what an upstream says
// of it is as exact as its clock.
const movedBy = 30 * time.Second
