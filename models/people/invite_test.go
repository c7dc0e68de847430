package people_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

func TestAnInvitationIsUsedOnce(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := t.Context()
	admin := storetest.Admin(t, s)
	start := storetest.LedgerAt(t, s)
	older, _, err := s.People.Invite(ctx, admin, "Ada@Example.com ", models.RoleAdmin)
	storetest.Must(t, err)
	secret, invite, err := s.People.Invite(ctx, admin, "ada@example.com", models.RoleReviewer)
	storetest.Must(t, err)
	storetest.Refused(t, storetest.Err(s.People.CheckInvite(ctx, older)), models.CodeNotFound)
	found, err := s.People.CheckInvite(ctx, secret)
	storetest.Must(t, err)
	if found.ID != invite.ID || found.Email != "ada@example.com" || found.Role != models.RoleReviewer || found.SecretHash != nil || invite.SecretHash != nil {
		t.Errorf("invitation %+v", found)
	}
	list, err := s.People.Invites(ctx, admin)
	storetest.Must(t, err)
	if len(list) != 1 || list[0].ID != invite.ID || list[0].InviterName != admin.Name || list[0].SecretHash != nil {
		t.Errorf("open invitations: %+v", list)
	}
	e := storetest.Refused(t, storetest.Err(s.People.Join(ctx, secret, "", "short")), models.CodeInvalid)
	if e.Fields["name"] == "" || e.Fields["password"] == "" || len(e.Fields) != 2 {
		t.Errorf("fields: %v", e.Fields)
	}
	var joined atomic.Int64
	var user atomic.Pointer[models.User]
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			u, err := s.People.Join(ctx, secret, "Ada", nextPassword)
			if code := models.ErrorCode(err); code != "" && code != models.CodeNotFound && code != models.CodeConflict {
				t.Error(err)
			}
			if err == nil {
				joined.Add(1)
				user.Store(u)
			}
		})
	}
	group.Wait()
	u := user.Load()
	if joined.Load() != 1 || u.Email != "ada@example.com" || u.Role != models.RoleReviewer || u.PasswordHash != "" {
		t.Fatalf("%d joined: %+v", joined.Load(), u)
	}
	storetest.Must(t, signIn(t, s, "ada@example.com", nextPassword, storetest.Somewhere))
	storetest.SameStrings(t, "ledger", storetest.ActionsSince(t, s, start), []string{
		"invite.made " + admin.ID, "invite.withdrawn " + admin.ID, "invite.made " + admin.ID,
		"invite.used " + string(u.ID), "user.added " + string(u.ID), "session.opened " + string(u.ID),
	})
	all := storetest.Scalar[string](t, s, `SELECT group_concat(data) FROM ledger`)
	if strings.Contains(all, secret) || strings.Contains(all, older) || storetest.Scalar[int](t, s, `SELECT count(*) FROM invites WHERE instr(CAST(secret_hash AS TEXT), ?) > 0`, secret) != 0 {
		t.Error("a link's secret is stored")
	}
	_, err = s.Ledger.Verify(ctx, nil)
	storetest.Must(t, err)
}

func TestAnInvitationEnds(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	ctx := t.Context()
	admin := storetest.Admin(t, s)
	other := storetest.User(t, s, "other@example.com", models.RoleAdmin)
	for _, c := range []struct {
		name string
		end  func(*models.Invite)
	}{
		{"withdrawn", func(i *models.Invite) { storetest.Must(t, s.People.WithdrawInvite(ctx, admin, i.ID)) }},
		{"seven days old", func(*models.Invite) { clock.Step(7 * 24 * time.Hour) }},
		{"whoever made it is no admin", func(*models.Invite) {
			storetest.Must(t, s.People.SetRole(ctx, admin, other.OwnerID, models.RoleReviewer))
		}},
		{"whoever made it is disabled", func(*models.Invite) {
			storetest.Must(t, s.People.SetRole(ctx, admin, other.OwnerID, models.RoleAdmin))
			storetest.Must(t, storetest.Err(s.People.DisableUser(ctx, admin, other.OwnerID)))
		}},
	} {
		secret, invite, err := s.People.Invite(ctx, other, "ada@example.com", models.RoleAdmin)
		storetest.Must(t, err)
		if c.name != "whoever made it is disabled" {
			storetest.Must(t, storetest.Err(s.People.CheckInvite(ctx, secret)))
		}
		c.end(invite)
		if err := storetest.Err(s.People.CheckInvite(ctx, secret)); models.ErrorCode(err) != models.CodeNotFound {
			t.Errorf("%s: it can be looked at: %v", c.name, err)
		}
		if err := storetest.Err(s.People.Join(ctx, secret, "Ada", nextPassword)); models.ErrorCode(err) != models.CodeNotFound {
			t.Errorf("%s: it can be used: %v", c.name, err)
		}
	}
	storetest.Refused(t, s.People.WithdrawInvite(ctx, admin, models.NewID[models.InviteID]()), models.CodeNotFound)
	_, _, err := s.People.Invite(ctx, admin, storetest.AdminEmail, models.RoleReviewer)
	storetest.Refused(t, err, models.CodeConflict)
	_, _, err = s.People.Invite(ctx, admin, "nobody", "owner")
	if e := storetest.Refused(t, err, models.CodeInvalid); e.Fields["email"] == "" || e.Fields["role"] == "" {
		t.Errorf("fields: %v", e.Fields)
	}
}
