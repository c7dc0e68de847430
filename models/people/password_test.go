package people_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
	"countersign/models/storetest"
)

// countHashes has every hash counted.
func countHashes(n *atomic.Int64) storetest.Option {
	return func(o *store.Options) { o.BeforeHash = func() { n.Add(1) } }
}

func signIn(t *testing.T, s *store.Store, email, password string, from people.SignInFrom) error {
	t.Helper()
	_, _, err := s.People.SignIn(t.Context(), email, password, from)
	return err
}

func isOpen(t *testing.T, s *store.Store, cookie string) bool {
	t.Helper()
	_, _, err := s.People.AuthenticateSession(t.Context(), cookie)
	if err != nil {
		storetest.Refused(t, err, models.CodeUnauthenticated)
	}
	return err == nil
}

const nextPassword = "an even better one"

func TestSetPasswordEndsAllSessions(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	_, one := storetest.Session(t, s, "ada@example.com")
	_, two := storetest.Session(t, s, "ada@example.com")
	_, others := storetest.Session(t, s, storetest.AdminEmail)

	e := storetest.Refused(t, s.People.SetPassword(t.Context(), admin, ada.OwnerID, "short"), models.CodeInvalid)
	if e.Fields["password"] == "" {
		t.Errorf("fields %v, want password", e.Fields)
	}
	storetest.Refused(t, s.People.SetPassword(t.Context(), admin, models.NewID[models.UserID](), nextPassword), models.CodeNotFound)
	if !isOpen(t, s, one) {
		t.Error("a refused change ended a session")
	}
	storetest.Must(t, s.People.SetPassword(t.Context(), admin, ada.OwnerID, nextPassword))
	if isOpen(t, s, one) || isOpen(t, s, two) {
		t.Error("a session outlived the change")
	}
	if !isOpen(t, s, others) {
		t.Error("another person's session was ended")
	}
	storetest.Refused(t, signIn(t, s, "ada@example.com", storetest.Password, storetest.Somewhere), models.CodeUnauthenticated)
	storetest.Must(t, signIn(t, s, "ada@example.com", nextPassword, storetest.Somewhere))
}

func TestChangePasswordEndsOtherSessions(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Admin(t, s)
	session, own := storetest.Session(t, s, storetest.AdminEmail)
	_, other := storetest.Session(t, s, storetest.AdminEmail)

	e := storetest.Refused(t, s.People.ChangePassword(t.Context(), session, storetest.Password, "short"), models.CodeInvalid)
	if e.Fields["next"] == "" {
		t.Errorf("fields %v, want next", e.Fields)
	}
	e = storetest.Refused(t, s.People.ChangePassword(t.Context(), session, "not the password", nextPassword), models.CodeInvalid)
	if e.Fields["current"] == "" {
		t.Errorf("fields %v, want current", e.Fields)
	}
	if !isOpen(t, s, other) {
		t.Error("a refused change ended a session")
	}
	storetest.Must(t, s.People.ChangePassword(t.Context(), session, storetest.Password, nextPassword))
	if !isOpen(t, s, own) {
		t.Error("the session that changed the password was ended")
	}
	if isOpen(t, s, other) {
		t.Error("another session outlived the change")
	}
	storetest.Refused(t, signIn(t, s, storetest.AdminEmail, storetest.Password, storetest.Somewhere), models.CodeUnauthenticated)
	storetest.Must(t, signIn(t, s, storetest.AdminEmail, nextPassword, storetest.Somewhere))
}

func TestChangePasswordTakesASession(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "bot")
	agent.SessionID = "claimed"
	reviewer, _ := storetest.ReviewerToken(t, s, admin)
	token, _ := storetest.AdminToken(t, s, admin)
	for _, actor := range []models.Actor{{}, agent, reviewer, token, storetest.Operator(), models.System("x")} {
		storetest.Refused(t, s.People.ChangePassword(t.Context(), actor, storetest.Password, nextPassword), models.CodeForbidden)
	}
}

func TestOfTwoPasswordChangesTheFirstStands(t *testing.T) {
	t.Parallel()
	cli := storetest.New(t)
	ada := storetest.Reviewer(t, cli, "ada@example.com")
	session, _ := storetest.Session(t, cli, "ada@example.com")
	s := storetest.Again(t, cli, func(o *store.Options) {
		o.BeforeHash = func() {
			if err := cli.People.SetPassword(t.Context(), storetest.Operator(), ada.OwnerID, "what the operator set"); err != nil {
				t.Error(err)
			}
		}
	})
	storetest.Refused(t, s.People.ChangePassword(t.Context(), session, storetest.Password, nextPassword), models.CodeConflict)
	storetest.Must(t, signIn(t, cli, "ada@example.com", "what the operator set", storetest.Somewhere))
}

func TestPasswordsCostWhatIsAdvised(t *testing.T) {
	t.Parallel()
	s := storetest.New(t, func(o *store.Options) { o.PasswordCost = people.PasswordCost{} })
	storetest.Admin(t, s)
	const want = "$argon2id$v=19$m=19456,t=2,p=1$"
	if hash := storetest.Scalar[string](t, s, `SELECT password_hash FROM users`); !strings.HasPrefix(hash, want) {
		t.Errorf("password_hash begins %.31q, want %q", hash, want)
	}
	storetest.Must(t, signIn(t, s, storetest.AdminEmail, storetest.Password, storetest.Somewhere))
}

func TestGuessingAtTheCurrentPasswordIsLimited(t *testing.T) {
	t.Parallel()
	var hashes atomic.Int64
	s := storetest.New(t, countHashes(&hashes))
	storetest.Admin(t, s)
	session, _ := storetest.Session(t, s, storetest.AdminEmail)
	for range 5 {
		storetest.Refused(t, s.People.ChangePassword(t.Context(), session, "not the password", nextPassword), models.CodeInvalid)
	}
	before := hashes.Load()
	e := storetest.Refused(t, s.People.ChangePassword(t.Context(), session, storetest.Password, nextPassword), models.CodeTooManyRequests)
	if e.RetryAfterSeconds <= 0 || hashes.Load() != before {
		t.Errorf("retry after %d s, %d hashes; want a wait and none", e.RetryAfterSeconds, hashes.Load()-before)
	}
	storetest.Must(t, signIn(t, s, storetest.AdminEmail, storetest.Password, storetest.Somewhere))
}

func TestAtMostTwoPasswordsAreHashedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var inside, hashed atomic.Int64
		gate := make(chan struct{})
		s := storetest.New(t, func(o *store.Options) {
			o.BeforeHash = func() {
				inside.Add(1)
				<-gate
				hashed.Add(1)
			}
		})
		done := make(chan error, 10)
		for range 6 {
			go func() { done <- signIn(t, s, "nobody@example.com", storetest.Password, fromAddress("192.0.2.1")) }()
		}
		<-time.After(time.Second) // of the time here: a commit may wait for others a moment
		synctest.Wait()
		if n := inside.Load(); n != 2 {
			t.Errorf("%d are hashing, want 2", n)
		}
		storetest.Refused(t, <-done, models.CodeTooManyRequests) // the sixth on one account and address

		gaveUp, cancel := context.WithCancel(t.Context())
		go func() {
			_, _, err := s.People.SignIn(gaveUp, "gone@example.com", storetest.Password, fromAddress("192.0.2.2"))
			done <- err
		}()
		<-time.After(time.Second)
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("whoever goes away while waiting gets %v", err)
		}
		close(gate)
		for range 5 {
			storetest.Refused(t, <-done, models.CodeUnauthenticated)
		}
		if n := hashed.Load(); n != 5 {
			t.Errorf("%d were hashed, want the 5 that were allowed and stayed", n)
		}
	})
}
