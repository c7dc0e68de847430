package store

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/policy"
)

// outsideRow is what was fetched.
type outsideRow struct {
	Number     int64 `gorm:"primaryKey"`
	UpstreamID models.UpstreamID
	CallID     string
	Kind       models.OutsideKind
	Again      int // which request of this id and kind it is, from 0
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
	Removed   *string
}

func (outsideRow) TableName() string { return "outside_approvals" }

// unmatchedAfter is in how many polls no call may fit before an approval gets a
// response of its own: the call may be reported later than its approval.
const unmatchedAfter = 2

// maxRaw is how much of an item is kept as fetched.
const maxRaw = models.MaxInput

// TakeOutside takes one thing that an upstream lists as pending: it finds the
// tool call that it is for, or waits for it until the next poll, or gets a
// response of its own. What is known already changes nothing. What asks for
// something else under an id that is known, or is listed again after it was
// settled, is another request. It writes nothing for who has lost the lease:
// CodeConflict.
func (s *Store) TakeOutside(ctx context.Context, l *models.Lease, id models.UpstreamID, item models.OutsideItem) error {
	// Nearly all that is listed is known from the poll before: it need not queue
	// behind those who write.
	now := s.now()
	var known knownOutside
	if err := s.gr.WithContext(context.WithoutCancel(ctx)).Raw(knownOutsideQuery, id, item.CallID, item.Kind).Scan(&known).Error; err != nil {
		return fmt.Errorf("look for an outside approval: %w", err)
	}
	if known.stays(&item, now) {
		return nil
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

// knownOutside is what is known of an item from the polls before; zero: nothing.
type knownOutside struct {
	Row outsideRow `gorm:"embedded"`

	Status      models.Status
	SettledAt   *time.Time
	Deadline    time.Time
	HeldUntil   *time.Time
	Description string
	Options     string
	SaidSo      bool // the other system itself said that it has a decision
}

// The last request of an id and kind, with the response that stands for it.
const knownOutsideQuery = `SELECT o.*, coalesce(r.approval_status, '') AS status, r.approval_timestamp AS settled_at, r.approval_timeout_at AS deadline, r.held_until, r.description, r.options,
 EXISTS (SELECT 1 FROM deliveries d WHERE d.response_id = o.response_id AND d.outcome = 'elsewhere') AS said_so
 FROM outside_approvals o LEFT JOIN responses r ON r.id = o.response_id WHERE o.upstream_id = ? AND o.call_id = ? AND o.kind = ? ORDER BY o.again DESC LIMIT 1`

// stays reports whether there is nothing to do about an item.
func (k *knownOutside) stays(item *models.OutsideItem, now time.Time) bool {
	return k.Row.ResponseID != "" && k.asksFor(item) && !k.isAskedAgain(now) && k.movedDeadline(item, now) == nil
}

// asksFor reports whether an item asks for what it asked for before. Where its
// arguments are not known, the whole item stands for them, of which anything may
// change.
func (k *knownOutside) asksFor(item *models.OutsideItem) bool {
	if k.Row.Removed != nil {
		return true // nobody knows any more
	}
	if k.Row.Kind == models.OutsideContact {
		r, err := questionOf(item)
		return err != nil || r.Description == k.Description && r.Options == k.Options
	}
	was := outsideRow{}
	was.keep(*item)
	if k.Row.Name != validText(item.Name) {
		return false
	}
	if k.Row.Arguments == was.Arguments || k.Row.Arguments == k.Row.Raw || was.Arguments == was.Raw {
		return true
	}
	before, err := models.CanonicalJSON("arguments", []byte(k.Row.Arguments))
	now, err2 := models.CanonicalJSON("arguments", []byte(was.Arguments))
	return err == nil && err2 == nil && bytes.Equal(before, now)
}

// againAfter is for how long what was settled may still be listed: lists may lag
// behind.
const againAfter = time.Minute

// isAskedAgain reports whether an item that is listed was settled a while ago, and
// neither by a decision from here nor by one that the other system told of: it is
// pending there all the same.
func (k *knownOutside) isAskedAgain(now time.Time) bool {
	return k.Status == models.StatusResolved && !k.SaidSo && k.SettledAt != nil && !now.Before(k.SettledAt.Add(againAfter))
}

// movedDeadline is the deadline that a pending request has by now at the other
// system; nil: it is the one that is known.
func (k *knownOutside) movedDeadline(item *models.OutsideItem, now time.Time) *time.Time {
	until := item.Deadline(now)
	if k.Status != models.StatusPending || k.HeldUntil != nil || until == nil || !now.Before(*until) || k.Deadline.Sub(*until).Abs() <= movedBy {
		return nil
	}
	return new(stamp(*until))
}

// movedBy is by how much a deadline must differ to have moved: what an upstream says
// of it is as exact as its clock.
const movedBy = 30 * time.Second

// outside reads what was fetched of an item, or keeps it.
func (t *tx) outside(u *models.Upstream, item models.OutsideItem) (*outsideRow, error) {
	var known knownOutside
	if err := t.gorm().Raw(knownOutsideQuery, u.ID, item.CallID, item.Kind).Scan(&known).Error; err != nil {
		return nil, fmt.Errorf("look for an outside approval: %w", err)
	}
	row := &known.Row
	row.ApprovalID = validText(item.ApprovalID)
	switch {
	case row.Number == 0:
		return t.keepOutside(u, item, 0)
	case row.ResponseID == "": // as listed now: what was kept may have been removed meanwhile
		row.Name = validText(item.Name)
		row.keep(item)
		return row, t.keepTexts(row)
	case !known.asksFor(&item):
		return t.replaceOutside(u, item, row)
	case known.isAskedAgain(t.now):
		return t.keepOutside(u, item, row.Again+1)
	}
	if until := known.movedDeadline(&item, t.now); until != nil {
		a, err := t.standing(row.ResponseID)
		if err != nil || a.PastDeadline(t.now) {
			return row, err
		}
		return row, t.extend(models.System("poller"), a, clock{deadline: *until})
	}
	return row, nil
}

// keepOutside keeps what was fetched as a request of its own.
func (t *tx) keepOutside(u *models.Upstream, item models.OutsideItem, again int) (*outsideRow, error) {
	row := &outsideRow{
		UpstreamID: u.ID, CallID: item.CallID, ApprovalID: validText(item.ApprovalID), Kind: item.Kind, Again: again, RunID: item.RunID, Name: validText(item.Name), FirstAt: t.now,
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

// replaceOutside ends a request whose id asks for something else by now: a decision
// on it would release what nobody has looked at. A decision that may be on its way
// goes before.
func (t *tx) replaceOutside(u *models.Upstream, item models.OutsideItem, row *outsideRow) (*outsideRow, error) {
	a, err := t.standing(row.ResponseID)
	if err != nil {
		return nil, err
	}
	switch {
	case a.Status() != models.StatusPending:
	case a.PastDeadline(t.now):
		err = t.expireNow(a)
	default:
		err = t.settleAs(models.System("poller"), a, models.StatusResolved, models.CauseElsewhere, u.Name+" asks for something else under the same id now.")
	}
	if models.ErrorCode(err) == models.CodeBeingDecided {
		return row, nil // the next poll tries again
	}
	if err != nil {
		return nil, err
	}
	if err := t.gorm().Model(row).UpdateColumn("waits", false).Error; err != nil {
		return nil, fmt.Errorf("replace outside approval: %w", err)
	}
	return t.keepOutside(u, item, row.Again+1)
}

// keep takes over the texts of an item.
func (o *outsideRow) keep(item models.OutsideItem) {
	o.Arguments, o.Raw = cutAt(validText(string(item.Arguments)), maxRaw), cutAt(validText(string(item.Raw)), maxRaw)
	if item.Kind == models.OutsideCallKind {
		o.Beside = restOf(item)
	}
}

// whole reports whether all that a call would run with is kept, letter by letter, and
// all that stands beside it.
func (o *outsideRow) whole(item *models.OutsideItem) bool {
	return o.Arguments == string(item.Arguments) && len(item.Rest) <= maxRaw && utf8.Valid(item.Rest)
}

func (t *tx) keepTexts(row *outsideRow) error {
	err := t.gorm().Model(row).Where("(arguments, raw, beside) IS NOT (?, ?, ?)", row.Arguments, row.Raw, row.Beside).Select("name", "arguments", "raw", "beside").UpdateColumns(row).Error
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
			a, err = t.askCascaded(u, item, row)
		}
		if a == nil && err == nil {
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

// cascadedCall is the call of an item in its own run that was rejected with its
// batch before the item was listed, and the call with which it was.
const cascadedCall = `SELECT r.id, r.cascaded_from AS source FROM conversations c INDEXED BY conversations_run
 CROSS JOIN responses r INDEXED BY responses_cascaded ON r.conversation_id = c.id AND r.digest = ?3 AND r.cause = 'cascade' AND r.is_completed = FALSE
 WHERE c.owner_id = ?1 AND c.run_id = ?2 AND r.tool_name = ?4 AND ?5 IN ('', r.tool_use_id) AND r.cascaded_from IS NOT NULL AND NOT ` + isLinked + ` ORDER BY r.sequence LIMIT 1`

// askCascaded gives an item whose call was rejected with its batch a response of its
// own that is rejected with it; nil: there is no such call.
func (t *tx) askCascaded(u *models.Upstream, item models.OutsideItem, row *outsideRow) (*models.Approval, error) {
	call := outsideCall(item)
	var found struct{ ID, Source models.ResponseID }
	if err := t.gorm().Raw(cascadedCall, u.OwnerID, item.RunID, call.Digest, item.Name, item.ToolUseID).Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("look for a rejected call: %w", err)
	}
	if found.ID == "" || call.Digest == "" {
		return nil, nil //nolint:nilnil // none is an answer here
	}
	a, err := t.askUnmatched(u, item, row)
	if err != nil {
		return nil, err
	}
	if err := t.gorm().Model(row).UpdateColumn("response_id", a.ID).Error; err != nil {
		return nil, fmt.Errorf("place outside approval: %w", err)
	}
	row.ResponseID = a.ID
	if err := t.link(a, row, models.Match{ID: found.ID, By: models.MatchedByInput, SameInput: true}); err != nil {
		return nil, err
	}
	from, err := t.standing(found.Source)
	if err != nil {
		return nil, err
	}
	return a, t.cascadeTo(models.System("cascade"), from, a.ID)
}

// otherInput has a call show what the other system asks with, since that is what
// it will run. What is not kept whole cannot be approved.
func (t *tx) otherInput(a *models.Approval, item models.OutsideItem, row *outsideRow) error {
	a.Contradiction = "The other system asks with another input than the agent reported."
	a.Context = row.Arguments
	if row.whole(&item) {
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
