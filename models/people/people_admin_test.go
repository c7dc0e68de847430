package people_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

func TestI4OnlyAdminsAdministerPeople(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	uses := map[string]func(models.Actor) error{
		"People":         func(a models.Actor) error { return storetest.Err(s.People.List(t.Context(), a, "", 5)) },
		"SetRole":        func(a models.Actor) error { return s.People.SetRole(t.Context(), a, ada.OwnerID, "owner") },
		"EnableUser":     func(a models.Actor) error { return s.People.EnableUser(t.Context(), a, "x") },
		"EndSessionsOf":  func(a models.Actor) error { return storetest.Err(s.People.EndSessionsOf(t.Context(), a, "x")) },
		"Invites":        func(a models.Actor) error { return storetest.Err(s.People.Invites(t.Context(), a)) },
		"Invite":         func(a models.Actor) error { _, _, err := s.People.Invite(t.Context(), a, "", ""); return err },
		"WithdrawInvite": func(a models.Actor) error { return s.People.WithdrawInvite(t.Context(), a, "x") },
		"Ledger":         func(a models.Actor) error { return storetest.Err(s.Ledger.Page(t.Context(), a, ledger.Query{})) },
		"LedgerActions":  func(a models.Actor) error { return storetest.Err(s.Ledger.Actions(t.Context(), a)) },
		"LedgerEntry":    func(a models.Actor) error { _, _, err := s.Ledger.Entry(t.Context(), a, 1); return err },
		"System":         func(a models.Actor) error { return storetest.Err(upkeep.New(s).System(t.Context(), a)) },
	}
	actors := storetest.WhoMayNot(t, s)
	start := storetest.LedgerAt(t, s)
	for who, actor := range actors {
		for what, use := range uses {
			if err := use(actor); models.ErrorCode(err) != models.CodeForbidden {
				t.Errorf("%s by %s: %v, want %s", what, who, err, models.CodeForbidden)
			}
		}
	}
	if now := storetest.LedgerAt(t, s); now != start {
		t.Errorf("the ledger moved from %d to %d", start, now)
	}
	admin := storetest.Admin(t, s)
	for what, use := range uses {
		if models.ErrorCode(use(admin)) == models.CodeForbidden {
			t.Errorf("%s is refused to an admin", what)
		}
	}
}

func TestARoleHoldsFromTheNextRequestOn(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	ada := storetest.User(t, s, "ada@example.com", models.RoleAdmin)
	session, cookie := storetest.Session(t, s, "ada@example.com")
	_, token := storetest.AdminToken(t, s, ada)
	if !session.MayAdminister() {
		t.Fatal("an admin's session has no admin rights")
	}
	start := storetest.LedgerAt(t, s)
	storetest.Must(t, s.People.SetRole(t.Context(), admin, ada.OwnerID, models.RoleReviewer))
	actor, user, err := s.People.AuthenticateSession(t.Context(), cookie)
	storetest.Must(t, err)
	if actor.MayAdminister() || user.Role != models.RoleReviewer {
		t.Errorf("after being made reviewer: %+v, %+v", actor, user)
	}
	storetest.Refused(t, storetest.Err(s.People.AuthenticateToken(t.Context(), token)), models.CodeUnauthenticated)
	storetest.Must(t, s.People.SetRole(t.Context(), admin, ada.OwnerID, models.RoleReviewer)) // the same again
	storetest.SameStrings(t, "ledger", storetest.ActionsSince(t, s, start), []string{"user.role_changed " + ada.ID})

	storetest.Must(t, s.People.SetRole(t.Context(), admin, ada.OwnerID, models.RoleAdmin))
	if actor, _, err = s.People.AuthenticateSession(t.Context(), cookie); err != nil || !actor.MayAdminister() {
		t.Errorf("after being made admin: %+v (%v)", actor, err)
	}
	e := storetest.Refused(t, s.People.SetRole(t.Context(), admin, ada.OwnerID, "owner"), models.CodeInvalid)
	if e.Fields["role"] == "" {
		t.Errorf("fields: %v", e.Fields)
	}
	storetest.Refused(t, s.People.SetRole(t.Context(), admin, models.NewID[models.UserID](), models.RoleAdmin), models.CodeNotFound)
}

func TestTheLastAdminIsNotDemotedWhoeverRaces(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	var admins []models.Actor
	for i := range 6 {
		admins = append(admins, storetest.User(t, s, fmt.Sprintf("a%d@example.com", i), models.RoleAdmin))
	}
	var refusals atomic.Int64
	var group sync.WaitGroup
	for i, a := range admins {
		group.Go(func() {
			var err error
			if i%2 == 0 {
				err = s.People.SetRole(t.Context(), storetest.Operator(), a.OwnerID, models.RoleReviewer)
			} else {
				err = storetest.Err(s.People.DisableUser(t.Context(), storetest.Operator(), a.OwnerID))
			}
			if models.ErrorCode(err) == models.CodeConflict {
				refusals.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	left := storetest.Scalar[int](t, s, `SELECT count(*) FROM users WHERE role = 'admin' AND disabled_at IS NULL`)
	if left != 1 || refusals.Load() != 1 {
		t.Errorf("%d enabled admins are left after %d refusals, want 1 and 1", left, refusals.Load())
	}
}

func TestWhoIsEnabledAgainSignsInAgain(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	_, cookie := storetest.Session(t, s, "ada@example.com")
	_, token := storetest.ReviewerToken(t, s, ada)
	storetest.Must(t, storetest.Err(s.People.DisableUser(t.Context(), admin, ada.OwnerID)))
	start := storetest.LedgerAt(t, s)
	storetest.Must(t, s.People.EnableUser(t.Context(), admin, ada.OwnerID))
	storetest.Must(t, s.People.EnableUser(t.Context(), admin, ada.OwnerID))
	storetest.SameStrings(t, "ledger", storetest.ActionsSince(t, s, start), []string{"user.enabled " + ada.ID})
	if isOpen(t, s, cookie) {
		t.Error("a session that was ended is open again")
	}
	storetest.Must(t, storetest.Err(s.People.AuthenticateToken(t.Context(), token)))
	storetest.Must(t, signIn(t, s, "ada@example.com", storetest.Password, storetest.Somewhere))
	storetest.Refused(t, s.People.EnableUser(t.Context(), admin, models.NewID[models.UserID]()), models.CodeNotFound)
}

func TestPeopleArePagedWithTheirSessions(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	for i := range 7 {
		storetest.Reviewer(t, s, fmt.Sprintf("P%d@example.com", i))
	}
	storetest.Session(t, s, "p3@example.com") // idle by the time of the look
	clock.Step(13 * time.Hour)
	for range 2 {
		storetest.Session(t, s, "p3@example.com")
	}
	seen := clock.Now()
	var emails []string
	after := ""
	for range 10 {
		page, err := s.People.List(t.Context(), admin, after, 3)
		storetest.Must(t, err)
		for _, p := range page.People {
			emails = append(emails, p.Email)
			want, at := 0, p.LastSeen
			if p.Email == "p3@example.com" {
				want = 2
			}
			if p.Sessions != want || (want > 0) != (at != nil) || at != nil && !at.Equal(seen) || p.PasswordHash != "" {
				t.Errorf("%s: %d sessions, last seen %v, want %d", p.Email, p.Sessions, at, want)
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(emails) != 8 || !slices.IsSorted(emails) {
		t.Errorf("people: %v", emails)
	}
}

func TestEndingSessions(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	storetest.Reviewer(t, s, "bo@example.com")
	_, foreign := storetest.Session(t, s, "bo@example.com")
	var cookies []string
	var sessions []models.Actor
	for range 4 {
		clock.Step(time.Second)
		session, cookie := storetest.Session(t, s, "ada@example.com")
		sessions, cookies = append(sessions, session), append(cookies, cookie)
	}
	mine := sessions[0]
	page, err := s.People.Sessions(t.Context(), mine, "", 3)
	storetest.Must(t, err)
	if len(page.Items) != 3 || page.Next == "" || page.Items[0].ID != sessions[3].SessionID || page.Items[0].Address != "192.0.2.1" || page.Items[0].UserAgent != "test" {
		t.Fatalf("sessions: %+v", page)
	}
	rest, err := s.People.Sessions(t.Context(), mine, page.Next, 3)
	storetest.Must(t, err)
	if len(rest.Items) != 1 || rest.Items[0].ID != mine.SessionID || rest.Next != "" {
		t.Errorf("the second page: %+v", rest)
	}

	start := storetest.LedgerAt(t, s)
	storetest.Must(t, s.People.EndSession(t.Context(), mine, sessions[1].SessionID))
	storetest.Refused(t, s.People.EndSession(t.Context(), mine, sessions[1].SessionID), models.CodeNotFound)
	bo, _, err := s.People.AuthenticateSession(t.Context(), foreign)
	storetest.Must(t, err)
	storetest.Refused(t, s.People.EndSession(t.Context(), mine, bo.SessionID), models.CodeNotFound)
	n, err := s.People.EndOtherSessions(t.Context(), mine)
	storetest.Must(t, err)
	if n != 2 {
		t.Errorf("%d others ended, want 2", n)
	}
	for i, cookie := range cookies {
		if open := isOpen(t, s, cookie); open != (i == 0) {
			t.Errorf("session %d is open: %v", i, open)
		}
	}
	storetest.SameStrings(t, "ledger", storetest.ActionsSince(t, s, start), slices.Repeat([]string{"session.closed " + ada.ID}, 3))

	if n, err = s.People.EndSessionsOf(t.Context(), admin, ada.OwnerID); err != nil || n != 1 || isOpen(t, s, cookies[0]) {
		t.Errorf("an admin ended %d (%v)", n, err)
	}
	if !isOpen(t, s, foreign) {
		t.Error("somebody else's session was ended")
	}
	own, cookie := storetest.Session(t, s, storetest.AdminEmail)
	_, second := storetest.Session(t, s, storetest.AdminEmail)
	if n, err = s.People.EndSessionsOf(t.Context(), own, own.OwnerID); err != nil || n != 1 || !isOpen(t, s, cookie) || isOpen(t, s, second) {
		t.Errorf("of one's own %d ended (%v), want all but the one that asks", n, err)
	}
	agent, _ := storetest.AgentToken(t, s, ada, "bot")
	reviewer, _ := storetest.ReviewerToken(t, s, ada)
	storetest.Refused(t, storetest.Err(s.People.Sessions(t.Context(), agent, "", 5)), models.CodeForbidden)
	storetest.Refused(t, s.People.EndSession(t.Context(), agent, mine.SessionID), models.CodeForbidden)
	storetest.Refused(t, storetest.Err(s.People.EndOtherSessions(t.Context(), agent)), models.CodeForbidden)
	storetest.Refused(t, storetest.Err(s.People.EndOtherSessions(t.Context(), reviewer)), models.CodeForbidden)
}
