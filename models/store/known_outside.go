package store

import (
	"bytes"
	"time"

	"countersign/models"
	"countersign/models/db"
)

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
	return k.Row.ResponseID != "" && k.asksFor(item, now) && !k.isAskedAgain(now) && k.movedDeadline(item, now) == nil
}

// asksFor reports whether an item asks for what it asked for before. Where its
// arguments are not known the whole item stands for them, and anything in it may
// change at each poll: such an item is another request once a minute at most.
func (k *knownOutside) asksFor(item *models.OutsideItem, now time.Time) bool {
	if k.Row.Removed != nil {
		return true // nobody knows any more
	}
	if k.Row.Kind == models.OutsideContact {
		r, err := questionOf(item)
		return err != nil || r.Description == k.Description && r.Options == k.Options
	}
	is := outsideRow{Name: validText(item.Name)}
	is.keep(*item)
	wasWhole, isWhole := k.Row.Arguments == k.Row.Raw, is.Arguments == is.Raw
	switch {
	case k.Row.Name != is.Name || wasWhole != isWhole:
		return false
	case k.Row.Arguments == is.Arguments || sameJSON(k.Row.Arguments, is.Arguments):
		return true
	}
	return isWhole && now.Before(k.Row.FirstAt.Add(againAfter))
}

func sameJSON(a, b string) bool {
	before, err := models.CanonicalJSON("arguments", []byte(a))
	if err != nil {
		return false
	}
	after, err := models.CanonicalJSON("arguments", []byte(b))
	return err == nil && bytes.Equal(before, after)
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
	return new(db.Stamp(*until))
}

// movedBy is by how much a deadline must differ to have moved: what an upstream says
// of it is as exact as its clock.
const movedBy = 30 * time.Second
