package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/policy"
)

// outsideRow is what was fetched.
type outsideRow struct {
	UpstreamID models.UpstreamID `gorm:"primaryKey"`
	CallID     string            `gorm:"primaryKey"`
	Kind       models.OutsideKind
	RunID      string
	Name       string
	Arguments  string
	Raw        string
	Beside     string // of a call
	FirstAt    time.Time
	TimeoutAt  *time.Time
	Polls      int
	ResponseID models.ResponseID

	ApprovalID string `gorm:"-"` // of the item, as listed now
	// Of one that found no call: whether it still waits for one, and by what it
	// would know it; then the call that it is linked to.
	Waits     bool
	ToolUseID string
	Digest    string
	LinkedID  models.ResponseID
	LinkedBy  models.MatchedBy
}

func (outsideRow) TableName() string { return "outside_approvals" }

// unmatchedAfter is in how many polls no call may fit before an approval gets a
// response of its own: the call may be reported later than its approval.
const unmatchedAfter = 2

// maxRaw is how much of an item is kept as fetched.
const maxRaw = models.MaxInput

// TakeOutside takes one thing that an upstream lists as pending: it finds the
// tool call that it is for, or waits for it until the next poll, or gets a
// response of its own. What is known already changes nothing. It writes nothing
// for who has lost the lease: CodeConflict.
func (s *Store) TakeOutside(ctx context.Context, l *models.Lease, id models.UpstreamID, item models.OutsideItem) error {
	// Nearly all that is listed is known from the poll before: it need not queue
	// behind those who write.
	if known, err := exists(s.r.QueryRowContext(context.WithoutCancel(ctx), placedOutside, id, item.CallID)); known || err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		if err := t.holds(l); err != nil {
			return err
		}
		u, err := t.upstream(id)
		if err != nil {
			return err
		}
		row, err := t.outside(u, item)
		if err != nil || row.ResponseID != "" {
			return err
		}
		return t.placeOutside(u, item, row)
	})
}

const placedOutside = `SELECT 1 FROM outside_approvals WHERE upstream_id = ? AND call_id = ? AND response_id <> ''`

// outside reads what was fetched of an item, or keeps it.
func (t *tx) outside(u *models.Upstream, item models.OutsideItem) (*outsideRow, error) {
	row := &outsideRow{}
	err := t.gorm().Where("upstream_id = ? AND call_id = ?", u.ID, item.CallID).Take(row).Error
	row.ApprovalID = validText(item.ApprovalID)
	if err == nil && row.ResponseID == "" { // as listed now: what was kept may have been removed meanwhile
		row.keep(item)
		return row, t.keepTexts(row)
	}
	if err == nil || !errors.Is(err, gorm.ErrRecordNotFound) {
		return row, err
	}
	row = &outsideRow{
		UpstreamID: u.ID, CallID: item.CallID, ApprovalID: row.ApprovalID, Kind: item.Kind, RunID: item.RunID, Name: validText(item.Name), FirstAt: t.now,
	}
	row.keep(item)
	if until := item.Deadline(t.now); until != nil {
		row.TimeoutAt = new(stamp(*until))
	}
	if err := t.gorm().Create(row).Error; err != nil {
		return nil, fmt.Errorf("keep what was fetched: %w", err)
	}
	return row, nil
}

// keep takes over the texts of an item.
func (o *outsideRow) keep(item models.OutsideItem) {
	o.Arguments, o.Raw = cutAt(validText(string(item.Arguments)), maxRaw), cutAt(validText(string(item.Raw)), maxRaw)
	if item.Kind == models.OutsideCallKind {
		o.Beside = restOf(item)
	}
}

func (t *tx) keepTexts(row *outsideRow) error {
	err := t.gorm().Model(row).Where("(arguments, raw, beside) IS NOT (?, ?, ?)", row.Arguments, row.Raw, row.Beside).Select("arguments", "raw", "beside").UpdateColumns(row).Error
	if err != nil {
		return fmt.Errorf("keep what was fetched: %w", err)
	}
	return nil
}

func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// placeOutside gives an item its response, if it is time.
func (t *tx) placeOutside(u *models.Upstream, item models.OutsideItem, row *outsideRow) error {
	var a *models.Approval
	var err error
	switch {
	case item.Kind == models.OutsideContact:
		a, err = t.askContact(u, item, row)
	case item.RunID == "":
		a, err = t.askUnmatched(u, item, row)
	default:
		if a, err = t.askMatched(u, item, row); a == nil && err == nil {
			if row.Polls++; row.Polls < unmatchedAfter {
				return t.gorm().Model(row).UpdateColumn("polls", row.Polls).Error
			}
			if a, err = t.askUnmatched(u, item, row); err == nil {
				err = t.awaitCall(item, row, a)
			}
		}
	}
	if err != nil {
		return err
	}
	return t.gorm().Model(row).UpdateColumn("response_id", a.ID).Error
}

// outsideCall is what tells an item's call from others.
func outsideCall(item models.OutsideItem) models.OutsideCall {
	call := models.OutsideCall{ToolName: item.Name, ToolUseID: item.ToolUseID}
	if canonical, err := models.Canonical(models.KindToolCall, item.Name, item.Arguments); err == nil {
		call.Digest = models.Digest(canonical)
	}
	return call
}

// awaitCall has an approval that found no call wait for one.
func (t *tx) awaitCall(item models.OutsideItem, row *outsideRow, a *models.Approval) error {
	call := outsideCall(item)
	if call.Digest != a.Digest {
		call.Digest = "" // it is kept cut, or has no canonical form: nothing equals it
	}
	t.conn.w.known.wanted = new(true)
	err := t.gorm().Model(row).UpdateColumns(map[string]any{"waits": true, "tool_use_id": call.ToolUseID, "digest": call.Digest}).Error
	if err != nil {
		return fmt.Errorf("have an outside approval wait for its call: %w", err)
	}
	return nil
}

// runsFor are the conversations that an item may be about: that of its run, else
// those that it started, in order of creation.
func (t *tx) runsFor(u *models.Upstream, run string) ([]models.ConversationID, error) {
	var ids []models.ConversationID
	if run == "" {
		return nil, nil
	}
	if err := t.gorm().Raw(runByID, u.OwnerID, run).Scan(&ids).Error; err != nil || len(ids) > 0 {
		return ids, err
	}
	err := t.gorm().Raw(runsByParent, u.OwnerID, run).Scan(&ids).Error
	return ids, err
}

const (
	runByID      = `SELECT id FROM conversations WHERE owner_id = ? AND run_id = ?`
	runsByParent = `SELECT id FROM conversations INDEXED BY conversations_parent_run WHERE owner_id = ? AND parent_run_id = ? ORDER BY created_at, id LIMIT 100`
)

// Three rows tell as much as all open calls of a conversation (models.Correlate).
const (
	openColumns = `SELECT id, coalesce(tool_use_id, '') AS tool_use_id, tool_name, digest, sequence, is_completed AS completed, coalesce(approval_status, '') AS status, cause FROM responses r `
	openByUse   = openColumns + `INDEXED BY responses_tool_use WHERE conversation_id = ? AND tool_use_id = ? AND NOT ` + isLinked
	isOpen      = ` AND kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '' AND NOT ` + isLinked + ` ORDER BY sequence LIMIT `
	openByInput = openColumns + `INDEXED BY responses_open_input WHERE conversation_id = ? AND digest = ?` + isOpen + `1`
	openByName  = openColumns + `INDEXED BY responses_open WHERE conversation_id = ? AND tool_name = ?` + isOpen + `2`
)

// candidates are the open calls of a conversation that decide a match.
func (t *tx) candidates(id models.ConversationID, o models.OutsideCall) ([]models.OpenCall, error) {
	var out []models.OpenCall
	add := func(query, key string) error {
		var some []models.OpenCall
		if err := t.gorm().Raw(query, id, key).Scan(&some).Error; err != nil {
			return fmt.Errorf("look for open calls: %w", err)
		}
		out = append(out, some...)
		return nil
	}
	if o.ToolUseID != "" {
		return out, add(openByUse, o.ToolUseID)
	}
	if o.Digest != "" {
		if err := add(openByInput, o.Digest); err != nil {
			return nil, err
		}
	}
	err := add(openByName, o.ToolName)
	return out, err
}

// askMatched finds the call that an item is for and makes it pending; nil where
// none fits now.
func (t *tx) askMatched(u *models.Upstream, item models.OutsideItem, row *outsideRow) (*models.Approval, error) {
	match, ok, err := t.callFor(u, outsideCall(item), item.RunID, row.FirstAt)
	if err != nil || !ok {
		return nil, err //nolint:nilnil // no call fits yet
	}
	a, err := t.standing(match.ID)
	if err != nil {
		return nil, err
	}
	a.MatchedBy = match.By
	if !match.SameInput {
		if err := t.otherInput(a, item, row); err != nil {
			return nil, err
		}
	}
	return a, t.askOutside(u, a, row)
}

// otherInput has a call show what the other system asks with, since that is what
// it will run. What is not kept whole cannot be approved.
func (t *tx) otherInput(a *models.Approval, item models.OutsideItem, row *outsideRow) error {
	a.Contradiction = "The other system asks with another input than the agent reported."
	a.Context = row.Arguments
	if len(item.Arguments) <= len(row.Arguments) {
		return nil
	}
	length := int64(len(item.Arguments))
	a.InputBytes = &length
	if err := t.gorm().Exec(`UPDATE responses SET input_bytes = ? WHERE id = ?`, length, a.ID).Error; err != nil {
		return fmt.Errorf("note the length of an input: %w", err)
	}
	return nil
}

// askOutside makes a row pending for an item: a call that stands, or one that was
// stored for it.
func (t *tx) askOutside(u *models.Upstream, a *models.Approval, row *outsideRow) error {
	version, p, err := t.policy()
	if err != nil {
		return err
	}
	j := t.judge(version, p, policy.Call{Kind: a.Kind, ToolName: a.ToolName, Explicit: true}, a.ID, a.Digest)
	pending, when := models.StatusPending, t.now
	a.UpstreamID, a.CallID = new(string(u.ID)), &row.CallID
	if row.ApprovalID != "" {
		a.ApprovalID = &row.ApprovalID
	}
	a.Risk, a.PolicyVersion, a.PolicyRule, a.PolicyReason = j.Risk, version, j.Rule, j.Reason
	a.ApprovalStatus, a.ApprovalRequestedAt, a.RequiresApproval, a.ApprovalTimeoutAt = &pending, &when, true, models.NoDeadline
	if row.TimeoutAt != nil {
		a.ApprovalTimeoutAt = *row.TimeoutAt // the other system's clock
	}
	// Nobody able to approve is no refusal here: the other system waits until its own
	// deadline, and owner and admins may reject.
	routed, _, err := t.whoDecides(&a.Response, j)
	if err != nil {
		return err
	}
	if t.running, err = t.isRunning(a.ConversationID); err != nil {
		return err
	}
	n, err := t.conn.exec(t.hot.matchOutside, a.UpstreamID, a.CallID, a.ApprovalID, a.MatchedBy, a.Contradiction, a.Context, a.Risk, a.PolicyVersion, a.PolicyRule, a.PolicyReason,
		a.ReviewersOnly, selfApproval(&a.Response), a.ApproversJSON, a.ApprovalRequestedAt, a.ApprovalTimeoutAt, a.ID)
	if err != nil {
		return fmt.Errorf("match outside approval: %w", err)
	}
	if !exactlyOne(n) {
		return fmt.Errorf("match outside approval to %s: something happened to it meanwhile", a.ID)
	}
	if err := t.addDeciders(&a.Response, routed); err != nil {
		return err
	}
	t.publish(events.Conversation(string(a.ConversationID)))
	poller := models.System("poller")
	t.logAsked(a)
	return t.record(poller, "approval.requested", subjectOf(&a.Response, routed), t.askedData(a, routed))
}
