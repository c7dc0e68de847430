package people

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// Page is one page of people by e-mail.
type Page struct {
	People   []models.Person
	Next     string // the e-mail to go on after; empty: that was all
	OneAdmin bool   // the last who may administer, and cannot be disabled or made a reviewer
}

// personRow is what admins read of a person.
var personRow = db.RowOf(&models.User{}).Without("password_hash")

// peopleQuery counts each person's open sessions through the index of those that
// were not closed; reading stops at the cap.
var peopleQuery = `SELECT ` + personRow.Columns("u", nil) + `,
  (SELECT count(*) FROM (SELECT 1 FROM web_sessions s` + db.ByWebSessionsUser + `
    WHERE s.user_id = u.id AND s.revoked_at IS NULL AND s.expires_at > ? AND s.last_seen_at > ? LIMIT ?)),
  (SELECT s.last_seen_at FROM web_sessions s` + db.ByWebSessionsUser + `
    WHERE s.user_id = u.id AND s.revoked_at IS NULL AND s.expires_at > ? AND s.last_seen_at > ?
    ORDER BY s.last_seen_at DESC LIMIT 1)
 FROM users u WHERE u.email > ? ORDER BY u.email LIMIT ?`

// List gives everybody by e-mail, disabled people too, from after an e-mail
// (empty: the start). For admins and the operator, else CodeForbidden.
func (p *People) List(ctx context.Context, actor models.Actor, after string, limit int) (Page, error) {
	if err := actor.NeedOversight(); err != nil {
		return Page{}, err
	}
	limit = db.PageSize(limit)
	now := p.db.Now()
	idle := now.Add(-sessionIdle)
	rows, err := p.db.Reads().QueryContext(ctx, peopleQuery, now, idle, models.StatsCap, now, idle, FoldEmail(after),
		limit+1)
	if err != nil {
		return Page{}, fmt.Errorf("list people: %w", err)
	}
	defer rows.Close()
	var out Page
	for rows.Next() {
		var p models.Person
		if err := rows.Scan(append(personRow.Targets(&p.User), &p.Sessions, &p.LastSeen)...); err != nil {
			return Page{}, fmt.Errorf("list people: %w", err)
		}
		out.People = append(out.People, p)
	}
	if err := rows.Err(); err != nil {
		return Page{}, fmt.Errorf("list people: %w", err)
	}
	if len(out.People) > limit {
		out.People = out.People[:limit]
		out.Next = out.People[limit-1].Email
	}
	var admins []int
	if err := p.db.Gorm(ctx).Raw(someAdmins).Scan(&admins).Error; err != nil {
		return Page{}, fmt.Errorf("count admins: %w", err)
	}
	out.OneAdmin = len(admins) < 2
	return out, nil
}

// someAdmins are at most two of those who may administer.
const someAdmins = `SELECT 1 FROM users WHERE role = 'admin' AND disabled_at IS NULL LIMIT 2`

// SetRole changes what a person may do, from the next request on: open
// streams and waits check their credential at once, admin tokens of who is no
// admin any more are refused. Who becomes an auditor decides nothing any more, as
// one who is disabled; whose role was that has the pending requests of their groups
// in the inbox again. The same role again is harmless. For admins and
// the operator, else CodeForbidden; CodeInvalid names "role"; CodeNotFound if
// there is no such person; CodeConflict for the last enabled admin.
func (p *People) SetRole(ctx context.Context, actor models.Actor, id models.UserID, role models.Role) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	if fault := role.Fault(); fault != "" {
		return models.Invalid("role", "%s", fault)
	}
	return p.write(ctx, func(t *tx) error {
		user, err := t.user(id)
		if err != nil || user.Role == role {
			return err
		}
		if err := t.keepAnAdmin(user, "stop being one"); err != nil {
			return err
		}
		if err := t.changes("users", id); err != nil {
			return err
		}
		change := t.Gorm().Model(&models.User{}).Where("id = ? AND role = ?", id, user.Role).Update("role", role)
		if change.Error != nil {
			return fmt.Errorf("set role: %w", change.Error)
		}
		if !db.ExactlyOne(change.RowsAffected) {
			return models.NotFound("user")
		}
		t.accessChanged()
		if err := t.record(actor, "user.role_changed", ledger.Subject{Owner: id},
			roleData{UserID: id, Email: user.Email, Role: role, Before: user.Role}); err != nil {
			return err
		}
		if user.Role == models.RoleAuditor {
			if err := t.rejoin(actor, id); err != nil {
				return err
			}
		}
		return t.endStranded()
	})
}

// roleData is what the ledger keeps of a change of role.
type roleData struct {
	UserID models.UserID `json:"userId"`
	Email  string        `json:"email"`
	Role   models.Role   `json:"role"`
	Before models.Role   `json:"before"`
}

// keepAnAdmin refuses a change that would leave no admin.
func (t *tx) keepAnAdmin(user *models.User, what string) error {
	if user.Role != models.RoleAdmin || !user.Enabled() {
		return nil
	}
	var others int64
	err := t.Gorm().Model(&models.User{}).Where("role = 'admin' AND disabled_at IS NULL AND id <> ?",
		user.ID).Count(&others).Error
	if err != nil {
		return fmt.Errorf("count admins: %w", err)
	}
	if others == 0 {
		return models.Errorf(models.CodeConflict, "The last enabled admin cannot %s: add another admin first.", what)
	}
	return nil
}

// EnableUser lets a disabled person sign in again, with the former password and reviewer and admin tokens; sessions
// stay ended. The pending requests of their groups are in their inbox again. Enabling twice is harmless. For admins and
// the operator, else CodeForbidden; CodeNotFound if there is no such person.
func (p *People) EnableUser(ctx context.Context, actor models.Actor, id models.UserID) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return p.write(ctx, func(t *tx) error {
		user, err := t.user(id)
		if err != nil || user.Enabled() {
			return err
		}
		if err := t.changes("users", id); err != nil {
			return err
		}
		change := t.Gorm().Model(&models.User{}).Where("id = ? AND disabled_at IS NOT NULL", id).Update("disabled_at", nil)
		if change.Error != nil {
			return fmt.Errorf("enable user: %w", change.Error)
		}
		if !db.ExactlyOne(change.RowsAffected) {
			return models.NotFound("user")
		}
		t.accessChanged()
		if err := t.record(actor, "user.enabled", ledger.Subject{Owner: id},
			userData{UserID: id, Email: user.Email}); err != nil {
			return err
		}
		if err := t.rejoin(actor, id); err != nil {
			return err
		}
		return t.endStranded() // those who act for them may again
	})
}

// EndSessionsOf ends a person's sessions, with one ledger entry each, and tells
// how many; of one's own all but the one that asks. For admins and the operator,
// else CodeForbidden; CodeNotFound if there is no such person.
func (p *People) EndSessionsOf(ctx context.Context, actor models.Actor, id models.UserID) (ended int, err error) {
	if err := actor.NeedAdmin(); err != nil {
		return 0, err
	}
	keep := models.SessionID("")
	if actor.UserID() == id {
		keep = actor.SessionID
	}
	err = p.writeAnyway(ctx, func(t *tx) error {
		if _, err := t.user(id); err != nil {
			return err
		}
		ended, err = t.endSessions(actor, id, keep)
		return err
	})
	return ended, err
}
