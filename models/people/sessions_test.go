package people_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/store"
	"countersign/models/storetest"
)

func TestSessionsEndAfterTwelveIdleHours(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	storetest.Admin(t, s)
	session, cookie := storetest.Session(t, s, storetest.AdminEmail)
	for range 3 { // each use begins the 12 hours anew
		clock.Step(12*time.Hour - time.Second)
		if !isOpen(t, s, cookie) {
			t.Fatal("ended before 12 hours without a request")
		}
	}
	clock.Step(12 * time.Hour)
	if isOpen(t, s, cookie) {
		t.Error("open after 12 hours without a request")
	}
	if isOpen(t, storetest.Again(t, s, storetest.WithClock(clock)), cookie) {
		t.Error("open after 12 hours for a store that has it not in memory")
	}
	storetest.Refused(t, s.People.CheckCredential(t.Context(), session), models.CodeUnauthenticated)
}

func TestSessionsEndAfterFourteenDays(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	storetest.Admin(t, s)
	session, cookie := storetest.Session(t, s, storetest.AdminEmail)
	for range 2*14 - 1 { // in use all the time
		clock.Step(12*time.Hour - time.Microsecond)
		if !isOpen(t, s, cookie) {
			t.Fatal("ended within 14 days")
		}
	}
	storetest.Must(t, s.People.CheckCredential(t.Context(), session))
	clock.Step(12*time.Hour - time.Microsecond)
	if !isOpen(t, s, cookie) {
		t.Error("ended just before 14 days")
	}
	clock.Step(28 * time.Microsecond)
	if isOpen(t, s, cookie) {
		t.Error("open after 14 days")
	}
	storetest.Refused(t, s.People.CheckCredential(t.Context(), session), models.CodeUnauthenticated)

	storetest.Session(t, s, storetest.AdminEmail)
	if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM web_sessions`); n != 1 {
		t.Errorf("%d sessions are kept, want the new one", n)
	}
}

func TestSessionUseIsWrittenAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	var commits atomic.Int64
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock), func(o *store.Options) {
		o.Observe = func(int, time.Duration) { commits.Add(1) }
	})
	storetest.Admin(t, s)
	session, cookie := storetest.Session(t, s, storetest.AdminEmail)
	before, entries := commits.Load(), storetest.LedgerAt(t, s)
	told := s.Bus().Subscribe(8, events.Access)
	defer told.Close()
	for range 3 {
		clock.Step(59 * time.Second)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { isOpen(t, s, cookie) })
		}
		all.Wait()
		clock.Step(time.Second)
		for range 50 {
			all.Go(func() { isOpen(t, s, cookie) })
		}
		all.Wait()
	}
	if n := commits.Load() - before; n != 3 {
		t.Errorf("%d commits in 3 minutes, want 3", n)
	}
	seen := storetest.Scalar[time.Time](t, s, `SELECT last_seen_at FROM web_sessions WHERE id = ?`, string(session.SessionID))
	if !seen.Equal(clock.Now()) {
		t.Errorf("last seen %s, want %s", seen, clock.Now())
	}
	if storetest.LedgerAt(t, s) != entries {
		t.Error("using a session is in the ledger")
	}
	select {
	case <-told.C:
		t.Error("using a session has all credentials checked again")
	default:
	}
}

func TestSignOutEndsThisSessionOnly(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	session, cookie := storetest.Session(t, s, storetest.AdminEmail)
	_, other := storetest.Session(t, s, storetest.AdminEmail)
	storetest.Must(t, s.People.SignOut(t.Context(), session))
	if isOpen(t, s, cookie) {
		t.Error("open after signing out")
	}
	storetest.Refused(t, s.People.CheckCredential(t.Context(), session), models.CodeUnauthenticated)
	if !isOpen(t, s, other) {
		t.Error("another session was ended")
	}
	entries := storetest.LedgerAt(t, s)
	storetest.Must(t, s.People.SignOut(t.Context(), session))
	if storetest.LedgerAt(t, s) != entries {
		t.Error("signing out twice is in the ledger twice")
	}
	token, _ := storetest.AdminToken(t, s, admin)
	for _, actor := range []models.Actor{{}, admin, token, storetest.Operator()} {
		storetest.Refused(t, s.People.SignOut(t.Context(), actor), models.CodeForbidden)
	}
	eve := storetest.Reviewer(t, s, "eve@example.com")
	stranger, theirs := storetest.Session(t, s, "eve@example.com")
	stranger.ID, stranger.OwnerID = admin.ID, admin.OwnerID
	storetest.Must(t, s.People.SignOut(t.Context(), stranger))
	if !isOpen(t, s, theirs) {
		t.Errorf("the session of %s was ended by another person", eve.Name)
	}
}

func TestSigningOutElsewhereIsNoticed(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Admin(t, s)
	session, cookie := storetest.Session(t, s, storetest.AdminEmail)
	storetest.Must(t, s.CheckOutside(t.Context()))
	storetest.Must(t, storetest.Again(t, s).People.SignOut(t.Context(), session))
	storetest.Must(t, s.CheckOutside(t.Context()))
	if isOpen(t, s, cookie) {
		t.Error("open after signing out elsewhere")
	}
}

func TestI5SessionsActWithTheRightsOfTheirPerson(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Admin(t, s)
	storetest.Reviewer(t, s, "ada@example.com")
	boss, _ := storetest.Session(t, s, storetest.AdminEmail)
	plain, _ := storetest.Session(t, s, "ada@example.com")
	if !boss.MayAdminister() || plain.MayAdminister() || !plain.IsPerson() {
		t.Errorf("actors %+v and %+v, want an admin and a person", boss, plain)
	}
}

func TestUnknownCookiesAreNoSession(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	_, token := storetest.AdminToken(t, s, admin)
	_, cookie := storetest.Session(t, s, storetest.AdminEmail)
	for _, secret := range []string{"", "cs_ses_", cookie + "x", cookie[1:], token, string(make([]byte, 10_000))} {
		if isOpen(t, s, secret) {
			t.Errorf("%.20q is taken as a session", secret)
		}
	}
	storetest.Refused(t, storetest.Err(s.People.AuthenticateToken(t.Context(), cookie)), models.CodeUnauthenticated)
}
