package outside

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// NewUpstream is an upstream to add.
type NewUpstream struct {
	Name    string
	BaseURL string // checked by who speaks to it, as for a new one
	Dialect string // plain or cloud
	Key     string // never shown again
	OwnerID models.UserID
}

type upstreamEntry struct {
	ID      models.UpstreamID `json:"upstream"`
	Name    string            `json:"name"`
	BaseURL string            `json:"base_url,omitempty"`
	Dialect string            `json:"dialect,omitempty"`
	Agent   models.AgentID    `json:"agent,omitempty"`
	Checked bool              `json:"checked_address,omitempty"`
}

// AddUpstream adds an upstream: from now on it is polled. What it asks for and is
// no agent's call belongs to an agent of its own, named after it. For admins and
// the operator. Codes: forbidden, invalid, not_found (the owner), conflict.
func (o *Outside) AddUpstream(ctx context.Context, actor models.Actor, in NewUpstream) (*models.Upstream, error) {
	if err := actor.NeedAdmin(); err != nil {
		return nil, err
	}
	if err := models.CheckKey("name", in.Name); err != nil {
		return nil, err
	}
	if in.Name == models.BuiltIn {
		return nil, models.Invalid("name", "is the name of the system's own agent; choose another")
	}
	if in.Dialect != "plain" && in.Dialect != "cloud" {
		return nil, models.Invalid("dialect", "must be plain or cloud")
	}
	u := &models.Upstream{
		ID: models.NewID[models.UpstreamID](), Name: in.Name, BaseURL: in.BaseURL, Dialect: in.Dialect, OwnerID: in.OwnerID,
		CheckedAddress: true,
	}
	var err error
	if u.KeySealed, err = o.store.Sealer().Seal(in.Key, string(u.ID)); err != nil {
		return nil, err
	}
	err = o.write(ctx, func(t *tx) error {
		return t.addUpstream(actor, u)
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (t *tx) addUpstream(actor models.Actor, u *models.Upstream) error {
	var owners, uses int64
	if err := t.Gorm().Model(&models.User{}).Where("id = ?", u.OwnerID).Count(&owners).Error; err != nil {
		return fmt.Errorf("look for owner: %w", err)
	}
	if owners == 0 {
		return models.NotFound("user")
	}
	if err := t.Gorm().Model(&models.Upstream{}).Where("name = ?", u.Name).Count(&uses).Error; err != nil {
		return fmt.Errorf("look for upstream: %w", err)
	}
	if uses > 0 {
		return &models.Error{
			Code: models.CodeConflict, Text: "There is already an upstream with this name.",
			Fields: map[string]string{"name": "is taken"},
		}
	}
	var agents int64
	if err := t.Gorm().Model(&models.Agent{}).Where("owner_id = ? AND name = ?", u.OwnerID,
		u.Name).Count(&agents).Error; err != nil {
		return fmt.Errorf("look for agent: %w", err)
	}
	if agents > 0 {
		return &models.Error{
			Code:   models.CodeConflict,
			Text:   "The owner has an agent with this name, and the upstream's requests would belong to that agent.",
			Fields: map[string]string{"name": "is taken"},
		}
	}
	agent, err := t.AgentNamed(actor, u.OwnerID, u.Name)
	if err != nil {
		return err
	}
	u.AgentID, u.CreatedAt, u.NextPollAt = agent.ID, t.Now, t.Now
	if err := t.Gorm().Create(u).Error; err != nil {
		return fmt.Errorf("store upstream: %w", err)
	}
	t.Adds("upstreams", u.ID)
	t.Publish(events.Upstreams)
	return t.Record(actor, "upstream.added", ledger.Subject{Owner: u.OwnerID},
		upstreamEntry{
			ID: u.ID, Name: u.Name, BaseURL: u.BaseURL, Dialect: u.Dialect, Agent: u.AgentID, Checked: u.CheckedAddress,
		})
}

// Upstreams lists all, by name, without their keys. For admins and the operator.
func (o *Outside) Upstreams(ctx context.Context, actor models.Actor) ([]models.Upstream, error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, err
	}
	var out []models.Upstream
	if err := o.db.Gorm(ctx).Omit("KeySealed").Order("name").Find(&out).Error; err != nil {
		return nil, fmt.Errorf("list upstreams: %w", err)
	}
	return out, nil
}

// SetUpstreamKey gives an upstream another key, which is tried at once. For admins and the operator.
func (o *Outside) SetUpstreamKey(ctx context.Context, actor models.Actor, id models.UpstreamID, key string) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	seal, err := o.store.Sealer().Seal(key, string(id))
	if err != nil {
		return err
	}
	return o.changeUpstream(ctx, actor, id, "upstream.key_changed", func(u *models.Upstream, now time.Time) map[string]any {
		columns := resumed(u, now)
		columns["key_sealed"] = seal
		return columns
	})
}

// ResumeUpstream has a paused upstream polled again and sends it its verdicts, at once. For admins and the operator.
func (o *Outside) ResumeUpstream(ctx context.Context, actor models.Actor, id models.UpstreamID) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return o.changeUpstream(ctx, actor, id, "upstream.resumed", func(u *models.Upstream, now time.Time) map[string]any {
		if u.PausedAt == nil {
			return nil
		}
		return resumed(u, now)
	})
}

// resumed has an upstream tried at once. What it said when it was paused is over.
func resumed(u *models.Upstream, now time.Time) map[string]any {
	columns := map[string]any{"next_poll_at": now, "failures": 0}
	if u.PausedAt != nil {
		columns["paused_at"], columns["problem"] = nil, ""
	}
	return columns
}

// hasKey reports whether a sealed key is still the upstream's. That an older one is
// refused tells nothing of the one that came after it.
func (t *tx) hasKey(id models.UpstreamID, seal []byte) (bool, error) {
	u, err := t.upstream(id)
	return err == nil && bytes.Equal(u.KeySealed, seal), err
}

// pauseUpstream leaves an upstream alone that refuses the key, until somebody gives
// it another one or resumes it.
func (t *tx) pauseUpstream(who string, id models.UpstreamID, problem string) error {
	u, err := t.upstream(id)
	if err != nil || u.PausedAt != nil {
		return err
	}
	if err := t.Changes("upstreams", id); err != nil {
		return err
	}
	if err := t.Gorm().Model(&models.Upstream{}).Where("id = ?",
		id).UpdateColumns(map[string]any{
		"paused_at": t.Now, "problem": problem, "failures": max(u.Failures, 1),
	}).Error; err != nil {
		return fmt.Errorf("pause upstream: %w", err)
	}
	t.Publish(events.Upstreams)
	return t.Record(models.System(who), "upstream.paused", ledger.Subject{Owner: u.OwnerID},
		upstreamEntry{ID: u.ID, Name: u.Name})
}

// tellAgain has decisions told at once whose next attempt was to come later.
const tellAgain = `UPDATE deliveries SET next_at = ?1 WHERE upstream_id = ?2 AND done_at IS NULL AND attempts > 0 AND next_at > ?1`

// EnableUpstream turns the polling of an upstream on or off. Pending requests of a disabled one stay pending and can
// be decided. For admins and the operator.
func (o *Outside) EnableUpstream(ctx context.Context, actor models.Actor, id models.UpstreamID, enabled bool) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	action := map[bool]string{true: "upstream.enabled", false: "upstream.disabled"}[enabled]
	return o.changeUpstream(ctx, actor, id, action, func(u *models.Upstream, now time.Time) map[string]any {
		if enabled == (u.DisabledAt == nil) {
			return nil
		}
		if enabled {
			columns := resumed(u, now)
			columns["disabled_at"] = nil
			return columns
		}
		return map[string]any{"disabled_at": now}
	})
}

func (o *Outside) changeUpstream(ctx context.Context, actor models.Actor, id models.UpstreamID, action string, change func(*models.Upstream, time.Time) map[string]any) error {
	return o.write(ctx, func(t *tx) error {
		u, err := t.upstream(id)
		if err != nil {
			return err
		}
		columns := change(u, t.Now)
		if columns == nil {
			return nil
		}
		if err := t.Changes("upstreams", id); err != nil {
			return err
		}
		if err := t.Gorm().Model(&models.Upstream{}).Where("id = ?", id).UpdateColumns(columns).Error; err != nil {
			return fmt.Errorf("change upstream: %w", err)
		}
		if _, again := columns["next_poll_at"]; again {
			if err := t.Gorm().Exec(tellAgain, t.Now, id).Error; err != nil {
				return fmt.Errorf("send again: %w", err)
			}
		}
		t.Publish(events.Upstreams)
		return t.Record(actor, action, ledger.Subject{Owner: u.OwnerID}, upstreamEntry{ID: u.ID, Name: u.Name})
	})
}

func (t *tx) upstream(id models.UpstreamID) (*models.Upstream, error) {
	var u models.Upstream
	if err := t.Gorm().Where("id = ?", id).Take(&u).Error; err != nil {
		return nil, db.NotFoundAs(err, models.NotFound("upstream"))
	}
	return &u, nil
}

// UpstreamKey opens an upstream's key, for its client.
func (o *Outside) UpstreamKey(u *models.Upstream) (string, error) {
	return o.store.Sealer().Unseal(u.KeySealed, string(u.ID))
}

// DueUpstreams are those to be polled now, and when the next one is.
func (o *Outside) DueUpstreams(ctx context.Context) (due []models.Upstream, next time.Time, err error) {
	var all []models.Upstream
	if err := o.db.Gorm(ctx).Where("disabled_at IS NULL AND paused_at IS NULL").Order("next_poll_at").Find(&all).Error; err != nil {
		return nil, next, fmt.Errorf("list upstreams: %w", err)
	}
	now := o.db.Now()
	for _, u := range all {
		if u.NextPollAt.After(now) {
			return due, u.NextPollAt, nil
		}
		due = append(due, u)
	}
	return due, next, nil
}

// NotePoll keeps how a poll went, and when the next is due. It writes nothing for
// who has lost the lease: CodeConflict.
func (o *Outside) NotePoll(ctx context.Context, l *models.Lease, id models.UpstreamID, note models.PollNote) error {
	return o.write(ctx, func(t *tx) error {
		if err := t.HoldsLease(l); err != nil {
			return err
		}
		if note.WrongKey {
			if same, err := t.hasKey(id, note.Key); err != nil || !same {
				return err // the poll with the new key stays due
			}
		}
		columns := map[string]any{"polled_at": t.Now, "next_poll_at": db.Stamp(t.Now.Add(note.Next)), "problem": note.Problem}
		if note.Failed {
			columns["failures"] = gorm.Expr("failures + 1")
		} else {
			columns["succeeded_at"], columns["failures"] = t.Now, 0
		}
		if err := t.Gorm().Model(&models.Upstream{}).Where("id = ?", id).UpdateColumns(columns).Error; err != nil {
			return fmt.Errorf("note poll: %w", err)
		}
		if note.WrongKey {
			return t.pauseUpstream("poller", id, note.Problem)
		}
		return nil
	})
}

// openRow are the columns of an upstream that may be shown.
var openRow = db.RowOf(&models.Upstream{}).Without("key_sealed")

//nolint:gosec // the columns are the model's
var upstreamStates = `SELECT ` + openRow.Columns("u", nil) +
	`, o.name FROM upstreams u JOIN users o ON o.id = u.owner_id ORDER BY u.name`

const (
	waitingOfUpstream = `SELECT count(*) FROM (SELECT 1 FROM responses` + db.ByResponsesPendingUpstream + `
 WHERE upstream_id = ? AND approval_status = 'pending' AND held_until IS NULL LIMIT ?)`
	countUntold = `SELECT count(*) FROM (SELECT 1 FROM deliveries` + db.ByDeliveriesDue +
		` WHERE upstream_id = ? AND done_at IS NULL LIMIT ?)`
	oldestUntold = `SELECT created_at, problem FROM deliveries` + db.ByDeliveriesUntold +
		` WHERE upstream_id = ? AND done_at IS NULL ORDER BY created_at LIMIT 1`
)

// UpstreamStates reports how each upstream does, by name, in one snapshot: its polls, its pending requests, and the
// verdicts that it has not received yet. For admins and the operator, else CodeForbidden.
func (o *Outside) UpstreamStates(ctx context.Context, actor models.Actor) ([]models.UpstreamState, error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, err
	}
	dbtx, err := db.BeginRead(ctx, o.db.Reads())
	if err != nil {
		return nil, fmt.Errorf("read upstreams: %w", err)
	}
	defer dbtx.Rollback()
	out, err := scanUpstreams(ctx, dbtx)
	if err != nil {
		return nil, err
	}
	for i := range out {
		u := &out[i]
		if err := dbtx.QueryRowContext(ctx, waitingOfUpstream, u.ID, models.StatsCap).Scan(&u.Waiting); err != nil {
			return nil, fmt.Errorf("count what waits: %w", err)
		}
		if err := dbtx.QueryRowContext(ctx, countUntold, u.ID, models.StatsCap).Scan(&u.Unsent); err != nil {
			return nil, fmt.Errorf("count decisions to send: %w", err)
		}
		if u.Unsent == 0 {
			continue
		}
		if err := dbtx.QueryRowContext(ctx, oldestUntold, u.ID).Scan(&u.UnsentSince, &u.UnsentProblem); err != nil {
			return nil, fmt.Errorf("read the oldest decision to send: %w", err)
		}
	}
	return out, nil
}

func scanUpstreams(ctx context.Context, dbtx *sql.Tx) ([]models.UpstreamState, error) {
	rows, err := dbtx.QueryContext(ctx, upstreamStates)
	if err != nil {
		return nil, fmt.Errorf("read upstreams: %w", err)
	}
	defer rows.Close()
	var out []models.UpstreamState
	for rows.Next() {
		var u models.UpstreamState
		if err := rows.Scan(append(openRow.Targets(&u.Upstream), &u.OwnerName)...); err != nil {
			return nil, fmt.Errorf("read upstreams: %w", err)
		}
		out = append(out, u)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read upstreams: %w", err)
	}
	return out, nil
}

// HasUpstreams reports whether there is any, to be polled or told something.
func (o *Outside) HasUpstreams(ctx context.Context) (bool, error) {
	return db.Exists(o.db.Reads().QueryRowContext(ctx, `SELECT 1 FROM upstreams LIMIT 1`))
}
