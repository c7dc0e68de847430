package outside

import (
	"context"
	"fmt"
	"unicode/utf8"

	"countersign/models"
	"countersign/models/db"
)

// unmatchedAfter is in how many polls no call may fit before an approval gets a
// response of its own: the call may be reported later than its approval.
const unmatchedAfter = 2

// maxRaw is how much of an item is kept as fetched: what another system runs is shown whole, or
// can only be rejected.
const maxRaw = models.MaxDrawn

// Take takes one item that an upstream lists as pending: it finds the tool call that it is for, or waits for that call
// until the next poll, or gets its own response. A known item changes nothing. An item that asks for something else
// under a known id, or that is listed again after it was settled, is another request. It writes nothing for a caller
// that has lost the lease: CodeConflict.
func (o *Outside) Take(ctx context.Context, l *models.Lease, id models.UpstreamID, item models.OutsideItem) error {
	// Nearly all that is listed is known from the poll before: it need not queue
	// behind those who write.
	now := o.db.Now()
	var known known
	if err := o.db.Gorm(context.WithoutCancel(ctx)).Raw(knownQuery, id, item.CallID,
		item.Kind).Scan(&known).Error; err != nil {
		return fmt.Errorf("look for an outside approval: %w", err)
	}
	if known.stays(&item, now) {
		return nil
	}
	return o.write(ctx, func(t *tx) error {
		if err := t.HoldsLease(l); err != nil {
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

// outside reads the stored row of an item, or keeps a new one.
func (t *tx) outside(u *models.Upstream, item models.OutsideItem) (*models.OutsideApproval, error) {
	var known known
	if err := t.Gorm().Raw(knownQuery, u.ID, item.CallID, item.Kind).Scan(&known).Error; err != nil {
		return nil, fmt.Errorf("look for an outside approval: %w", err)
	}
	row := &known.Row
	row.ApprovalID = models.StoredText(item.ApprovalID)
	switch {
	case row.Number == 0:
		return t.keepOutside(u, item, 0)
	case row.ResponseID == "": // as listed now: the stored texts may have been removed meanwhile
		row.Name = models.StoredText(item.Name)
		keepItem(row, item)
		return row, t.keepTexts(row)
	case !known.asksFor(&item, t.Now):
		return t.replaceOutside(u, item, row)
	case known.isAskedAgain(t.Now):
		return t.keepOutside(u, item, row.Again+1)
	}
	if until := known.movedDeadline(&item, t.Now); until != nil {
		a, err := t.Request(row.ResponseID)
		if err != nil || a.PastDeadline(t.Now) {
			return row, err
		}
		return row, t.MoveDeadline(a, *until)
	}
	return row, nil
}

// keepOutside keeps a fetched item as another request.
func (t *tx) keepOutside(u *models.Upstream, item models.OutsideItem, again int) (*models.OutsideApproval, error) {
	row := &models.OutsideApproval{
		UpstreamID: u.ID, CallID: item.CallID, ApprovalID: models.StoredText(item.ApprovalID), Kind: item.Kind, Again: again,
		RunID: item.RunID, Name: models.StoredText(item.Name), FirstAt: t.Now,
	}
	keepItem(row, item)
	if until := item.Deadline(t.Now); until != nil {
		row.TimeoutAt = new(db.Stamp(*until))
	}
	if err := t.Gorm().Create(row).Error; err != nil {
		return nil, fmt.Errorf("keep what was fetched: %w", err)
	}
	return row, nil
}

// replaceOutside ends a request whose id asks for something else now: a decision on it would release an input that no
// person has seen. A decision that may be on its way goes first.
func (t *tx) replaceOutside(
	u *models.Upstream, item models.OutsideItem, row *models.OutsideApproval,
) (*models.OutsideApproval, error) {
	a, err := t.Request(row.ResponseID)
	if err != nil {
		return nil, err
	}
	if a.Status() == models.StatusPending {
		err = t.SettleElsewhere(a, u.Name+" now asks for something else under the same id.")
	}
	if models.ErrorCode(err) == models.CodeBeingDecided {
		return row, nil // the next poll tries again
	}
	if err != nil {
		return nil, err
	}
	if err := t.Gorm().Model(row).UpdateColumn("waits", false).Error; err != nil {
		return nil, fmt.Errorf("replace outside approval: %w", err)
	}
	return t.keepOutside(u, item, row.Again+1)
}

// keepItem takes over the texts of an item.
func keepItem(o *models.OutsideApproval, item models.OutsideItem) {
	o.Arguments, o.Raw = models.Cut(models.StoredText(string(item.Arguments)), maxRaw), models.Cut(models.StoredText(string(item.Raw)),
		maxRaw)
	if item.Kind == models.OutsideCallKind {
		o.Beside = restOf(item)
	}
}

// keptWhole reports whether the whole input of a call is kept, letter by letter, and the whole rest of its item.
func keptWhole(o *models.OutsideApproval, item *models.OutsideItem) bool {
	return o.Arguments == string(item.Arguments) && wholeRest(item)
}

func wholeRest(item *models.OutsideItem) bool {
	return len(item.Rest) <= maxRaw && utf8.Valid(item.Rest)
}

func (t *tx) keepTexts(row *models.OutsideApproval) error {
	err := t.Gorm().Model(row).Where("(name, arguments, raw, beside) IS NOT (?, ?, ?, ?)", row.Name, row.Arguments,
		row.Raw, row.Beside).Select("name", "arguments", "raw", "beside").UpdateColumns(row).Error
	if err != nil {
		return fmt.Errorf("keep what was fetched: %w", err)
	}
	return nil
}

// placeOutside gives an item its response, if it is time.
func (t *tx) placeOutside(u *models.Upstream, item models.OutsideItem, row *models.OutsideApproval) error {
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
				return t.Gorm().Model(row).UpdateColumn("polls", row.Polls).Error
			}
			if a, err = t.askUnmatched(u, item, row); err == nil {
				err = t.awaitCall(item, row, a)
			}
		}
	}
	if err != nil {
		return err
	}
	return t.Gorm().Model(row).UpdateColumn("response_id", a.ID).Error
}

const pendingOfUpstream = `SELECT r.id, r.call_id FROM responses r` + db.ByResponsesPendingUpstream + `
 JOIN outside_approvals o ON o.upstream_id = r.upstream_id AND o.call_id = r.call_id AND o.response_id = r.id
 WHERE r.upstream_id = ? AND r.approval_status = 'pending' AND r.held_until IS NULL AND o.kind = ?`

// Reconcile settles what an upstream does not list as pending any more: somebody
// decided it there. list is a complete list of the kind, fetched without fault;
// anything less must not be given. What a verdict from here holds is left alone.
// It writes nothing for who has lost the lease: CodeConflict.
func (o *Outside) Reconcile(
	ctx context.Context, l *models.Lease, id models.UpstreamID, kind models.OutsideKind, list []string,
) error {
	items := make(map[string]bool, len(list))
	for _, call := range list {
		items[call] = true
	}
	return o.writeAnyway(ctx, func(t *tx) error {
		if err := t.HoldsLease(l); err != nil {
			return err
		}
		u, err := t.upstream(id)
		if err != nil {
			return err
		}
		var pending []struct {
			ID     models.ResponseID
			CallID string
		}
		if err := t.Gorm().Raw(pendingOfUpstream, id, kind).Scan(&pending).Error; err != nil {
			return fmt.Errorf("read what is pending of an upstream: %w", err)
		}
		for _, p := range pending {
			if items[p.CallID] {
				continue
			}
			a, err := t.Request(p.ID)
			if err != nil {
				return err
			}
			if err := t.SettleElsewhere(a, "It was settled in "+u.Name+"."); err != nil {
				return err
			}
		}
		return nil
	})
}
