package people_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
	"countersign/models/storetest"
)

func fromAddress(address string) people.SignInFrom { return people.SignInFrom{Address: address} }

func TestSignInOpensASession(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ada := storetest.User(t, s, "ada@example.com", models.RoleAdmin)
	first, user, err := s.People.SignIn(t.Context(), " ADA@example.com", storetest.Password, storetest.Somewhere)
	storetest.Must(t, err)
	if user.ID != ada.OwnerID || user.PasswordHash != "" {
		t.Errorf("user %+v, want %s without hash", user, ada.ID)
	}
	again, _, err := s.People.SignIn(t.Context(), "ada@example.com", storetest.Password, storetest.Somewhere)
	storetest.Must(t, err)
	if first == again {
		t.Error("two sign-ins share a session")
	}
	actor, who, err := s.People.AuthenticateSession(t.Context(), first)
	storetest.Must(t, err)
	want := models.Actor{Kind: models.ActorUser, ID: ada.ID, Name: "ada@example.com", OwnerID: ada.OwnerID, Admin: true, SessionID: actor.SessionID}
	if !reflect.DeepEqual(actor, want) || actor.SessionID == "" || who.Email != "ada@example.com" || who.PasswordHash != "" {
		t.Errorf("actor %+v of %+v, want %+v", actor, who, want)
	}
	if address := storetest.Scalar[string](t, s, `SELECT address FROM web_sessions WHERE id = ?`, string(actor.SessionID)); address != "192.0.2.7" {
		t.Errorf("address %q, want it without the port", address)
	}
}

func TestAWrongPasswordAnUnknownAndADisabledAccountLookAlike(t *testing.T) {
	t.Parallel()
	var hashes atomic.Int64
	s := storetest.New(t, countHashes(&hashes))
	storetest.Admin(t, s)
	storetest.Reviewer(t, s, "ada@example.com")
	gone := storetest.Reviewer(t, s, "gone@example.com")
	storetest.Must(t, storetest.Err(s.People.DisableUser(t.Context(), storetest.Operator(), gone.OwnerID)))
	texts := make(map[string]bool)
	for _, c := range []struct{ email, password string }{
		{"ada@example.com", "not the password"},
		{"ada@example.com", ""},
		{"nobody@example.com", storetest.Password},
		{"not an e-mail", storetest.Password},
		{"", ""},
		{"gone@example.com", storetest.Password},
		{"gone@example.com", "not the password"},
	} {
		before := hashes.Load()
		e := storetest.Refused(t, signIn(t, s, c.email, c.password, storetest.Somewhere), models.CodeUnauthenticated)
		texts[e.Error()] = true
		if n := hashes.Load() - before; n != 1 {
			t.Errorf("%q: %d hashes were computed, want 1", c.email, n)
		}
	}
	if len(texts) != 1 {
		t.Errorf("texts differ: %v", texts)
	}
}

func TestFiveFailuresBlockAccountAndAddress(t *testing.T) {
	t.Parallel()
	var hashes atomic.Int64
	clock := storetest.NewClock()
	s := storetest.New(t, countHashes(&hashes), storetest.WithClock(clock))
	storetest.Reviewer(t, s, "ada@example.com")
	storetest.Reviewer(t, s, "eve@example.com")
	for range 5 { // at 0, 1, 2, 3 and 4 minutes
		storetest.Refused(t, signIn(t, s, "ada@example.com", "not the password", fromAddress("192.0.2.1")), models.CodeUnauthenticated)
		clock.Step(time.Minute)
	}
	before := hashes.Load()
	for range 30 { // refusals do not prolong it
		e := storetest.Refused(t, signIn(t, s, "Ada@Example.com", storetest.Password, fromAddress("192.0.2.1:999")), models.CodeTooManyRequests)
		if e.RetryAfterSeconds != 600 {
			t.Fatalf("retry after %d s, want 600: until the oldest is 15 minutes old", e.RetryAfterSeconds)
		}
	}
	if hashes.Load() != before {
		t.Error("a blocked attempt was hashed")
	}
	storetest.Must(t, signIn(t, s, "ada@example.com", storetest.Password, fromAddress("192.0.2.2")))
	storetest.Must(t, signIn(t, s, "eve@example.com", storetest.Password, fromAddress("192.0.2.1")))

	clock.Step(10*time.Minute - time.Millisecond)
	e := storetest.Refused(t, signIn(t, s, "ada@example.com", storetest.Password, fromAddress("192.0.2.1")), models.CodeTooManyRequests)
	if e.RetryAfterSeconds != 1 {
		t.Errorf("retry after %d s, want 1", e.RetryAfterSeconds)
	}
	clock.Step(time.Millisecond)
	storetest.Refused(t, signIn(t, s, "ada@example.com", "not the password", fromAddress("192.0.2.1")), models.CodeUnauthenticated)
	e = storetest.Refused(t, signIn(t, s, "ada@example.com", storetest.Password, fromAddress("192.0.2.1")), models.CodeTooManyRequests)
	if e.RetryAfterSeconds != 60 {
		t.Errorf("retry after %d s, want 60: until the next one has left", e.RetryAfterSeconds)
	}
	clock.Step(time.Minute)
	storetest.Must(t, signIn(t, s, "ada@example.com", storetest.Password, fromAddress("192.0.2.1")))
}

func TestTwentyFailuresBlockAnAddress(t *testing.T) {
	t.Parallel()
	s := storetest.New(t, storetest.WithClock(storetest.NewClock()))
	storetest.Reviewer(t, s, "ada@example.com")
	for i := range 20 {
		storetest.Refused(t, signIn(t, s, fmt.Sprintf("user%d@example.com", i), "x", fromAddress("192.0.2.1")), models.CodeUnauthenticated)
	}
	e := storetest.Refused(t, signIn(t, s, "ada@example.com", storetest.Password, fromAddress("192.0.2.1")), models.CodeTooManyRequests)
	if e.RetryAfterSeconds != 900 {
		t.Errorf("retry after %d s, want 900", e.RetryAfterSeconds)
	}
	storetest.Must(t, signIn(t, s, "ada@example.com", storetest.Password, fromAddress("192.0.2.2")))
}

func TestWhatCountsAsOneAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, second string
		same          bool
	}{
		{"192.0.2.1", "192.0.2.1:4711", true},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"2001:db8::1", "2001:db8::ffff:2", true},
		{"2001:db8::1", "[2001:db8:0:0:1::1]:80", true},
		{"fe80::1%eth0", "fe80::2%eth1", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"@", "@", true},
		{"@", "192.0.2.1", false},
	} {
		t.Run(c.first+" and "+c.second, func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			storetest.Reviewer(t, s, "ada@example.com")
			for range 5 {
				storetest.Refused(t, signIn(t, s, "ada@example.com", "not the password", fromAddress(c.first)), models.CodeUnauthenticated)
			}
			err := signIn(t, s, "ada@example.com", storetest.Password, fromAddress(c.second))
			if blocked := models.ErrorCode(err) == models.CodeTooManyRequests; blocked != c.same {
				t.Errorf("got %v, want blocked: %v", err, c.same)
			}
		})
	}
}

func TestSuccessForgetsFailures(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Reviewer(t, s, "ada@example.com")
	for range 3 {
		for range 4 {
			storetest.Refused(t, signIn(t, s, "ada@example.com", "not the password", storetest.Somewhere), models.CodeUnauthenticated)
		}
		storetest.Must(t, signIn(t, s, "ada@example.com", storetest.Password, storetest.Somewhere))
	}
	if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM signin_failures`); n != 0 {
		t.Errorf("%d failures are kept", n)
	}
}

func TestOldFailuresAreDeleted(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	for range 3 {
		storetest.Refused(t, signIn(t, s, "my password in the wrong field", "x", storetest.Somewhere), models.CodeUnauthenticated)
	}
	clock.Step(15 * time.Minute)
	storetest.Refused(t, signIn(t, s, "my password in the wrong field", "x", storetest.Somewhere), models.CodeUnauthenticated)
	if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM signin_failures`); n != 1 {
		t.Errorf("%d failures are kept, want the last", n)
	}
	if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM signin_failures WHERE instr(account, 'password') > 0`); n != 0 {
		t.Error("what was typed is stored as it is")
	}
}

func TestI8SignInLimitsOutliveARestart(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	dir := storetest.Dir(t)
	s := storetest.New(t, storetest.WithClock(clock), storetest.WithDir(dir))
	storetest.Reviewer(t, s, "ada@example.com")
	for range 5 {
		storetest.Refused(t, signIn(t, s, "ada@example.com", "not the password", storetest.Somewhere), models.CodeUnauthenticated)
	}
	storetest.Must(t, s.Close())
	s = storetest.New(t, storetest.WithClock(clock), storetest.WithDir(filepath.Clean(dir)))
	storetest.Refused(t, signIn(t, s, "ada@example.com", storetest.Password, storetest.Somewhere), models.CodeTooManyRequests)
}

func TestGuessesSideBySideDoNotPassTheLimit(t *testing.T) {
	t.Parallel()
	var hashes, wrong, blocked atomic.Int64
	s := storetest.New(t)
	storetest.Reviewer(t, s, "ada@example.com")
	s = storetest.Again(t, s, countHashes(&hashes))
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			code := models.ErrorCode(signIn(t, s, "ada@example.com", "not the password", storetest.Somewhere))
			if code == models.CodeUnauthenticated {
				wrong.Add(1)
			}
			if code == models.CodeTooManyRequests {
				blocked.Add(1)
			}
		})
	}
	all.Wait()
	if hashes.Load() != 5 || wrong.Load() != 5 || blocked.Load() != 35 {
		t.Errorf("%d hashed, %d wrong, %d blocked; want 5, 5, 35", hashes.Load(), wrong.Load(), blocked.Load())
	}
}

func TestDisablingWhileSigningInWins(t *testing.T) {
	t.Parallel()
	cli := storetest.New(t)
	storetest.Admin(t, cli)
	ada := storetest.Reviewer(t, cli, "ada@example.com")
	s := storetest.Again(t, cli, func(o *store.Options) {
		o.BeforeHash = func() {
			if _, err := cli.People.DisableUser(t.Context(), storetest.Operator(), ada.OwnerID); err != nil {
				t.Error(err)
			}
		}
	})
	storetest.Refused(t, signIn(t, s, "ada@example.com", storetest.Password, storetest.Somewhere), models.CodeUnauthenticated)
	if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM web_sessions`); n != 0 {
		t.Errorf("%d sessions were opened", n)
	}
}
