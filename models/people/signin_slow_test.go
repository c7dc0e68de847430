package people_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
	"countersign/models/storetest"
)

// guess tries a wrong password from 20 addresses that were not used before.
func guess(t *testing.T, s *store.Store, email string, first int) {
	t.Helper()
	for i := range 20 {
		storetest.Refused(t, signIn(t, s, email, "not the password", fromAddress(fmt.Sprintf("198.51.100.%d", first+i))), models.CodeUnauthenticated)
	}
}

func TestGuessesFromManyAddressesSlowAnAccountDown(t *testing.T) {
	t.Parallel()
	clock, wins := storetest.NewClock(), false
	s := storetest.New(t, storetest.WithClock(clock), func(o *store.Options) { o.WinsLot = func(int) bool { return wins } })
	ada := storetest.Reviewer(t, s, "ada@example.com")
	storetest.Reviewer(t, s, "eve@example.com")
	own := people.SignInFrom{Address: "192.0.2.1"}
	storetest.Must(t, signIn(t, s, "ada@example.com", storetest.Password, own))
	var err error
	if own.Device, err = s.People.RememberDevice(t.Context(), ada.OwnerID, ""); err != nil {
		t.Fatal(err)
	}

	guess(t, s, "ada@example.com", 1)
	fresh := fromAddress("203.0.113.9")
	e := storetest.Refused(t, signIn(t, s, "ada@example.com", storetest.Password, fresh), models.CodeTooManyRequests)
	if e.RetryAfterSeconds != 60 {
		t.Errorf("retry after %d s, want 60", e.RetryAfterSeconds)
	}
	storetest.Must(t, signIn(t, s, "eve@example.com", storetest.Password, fresh)) // another account is not slowed
	storetest.Must(t, signIn(t, s, "ada@example.com", storetest.Password, own))   // nor is a known browser

	stolen := fresh
	stolen.Device = own.Device
	storetest.Refused(t, signIn(t, s, "nobody@example.com", "x", stolen), models.CodeUnauthenticated)
	eve := stolen // Ada's browser is known for Ada only
	guess(t, s, "eve@example.com", 101)
	storetest.Refused(t, signIn(t, s, "eve@example.com", storetest.Password, eve), models.CodeTooManyRequests)

	wins = true // but each address draws once a minute
	storetest.Refused(t, signIn(t, s, "ada@example.com", storetest.Password, fresh), models.CodeTooManyRequests)
	clock.Step(time.Minute)
	storetest.Must(t, signIn(t, s, "ada@example.com", storetest.Password, fresh))
}

// Whoever guesses quickly from a few addresses keeps nobody out who comes from another, nor
// for long whoever has mistyped there.
func TestFewAddressesKeepNoOwnerOut(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	storetest.Reviewer(t, s, "ada@example.com")
	attack := func() {
		for i := range 6 { // refused or not
			_ = signIn(t, s, "ada@example.com", "not the password", fromAddress(fmt.Sprintf("198.51.100.%d", i)))
		}
	}
	for range 20 {
		attack()
		clock.Step(500 * time.Millisecond)
	}
	for i := range 3 {
		attack()
		storetest.Must(t, signIn(t, s, "ada@example.com", storetest.Password, fromAddress(fmt.Sprintf("203.0.113.%d", i))))
	}
	home := fromAddress("203.0.113.9")
	storetest.Refused(t, signIn(t, s, "ada@example.com", "mistyped", home), models.CodeUnauthenticated)
	tries := 1
	for ; signIn(t, s, "ada@example.com", storetest.Password, home) != nil; tries++ {
		if tries > 200 { // 1 of 7 each minute, at the least
			t.Fatal("an owner who has mistyped is kept out")
		}
		for range 120 {
			attack()
			clock.Step(500 * time.Millisecond)
		}
	}
}

func TestUnlockingAnAccount(t *testing.T) {
	t.Parallel()
	s := storetest.New(t, storetest.WithClock(storetest.NewClock()), func(o *store.Options) { o.WinsLot = func(int) bool { return false } })
	ada := storetest.Reviewer(t, s, "ada@example.com")
	guess(t, s, "ada@example.com", 1)
	storetest.Refused(t, signIn(t, s, "ada@example.com", storetest.Password, storetest.Somewhere), models.CodeTooManyRequests)
	storetest.Refused(t, s.People.UnlockUser(t.Context(), ada, ada.OwnerID), models.CodeForbidden)
	storetest.Must(t, s.People.UnlockUser(t.Context(), storetest.Operator(), ada.OwnerID))
	storetest.Must(t, signIn(t, s, "ada@example.com", storetest.Password, storetest.Somewhere))
	storetest.Refused(t, s.People.UnlockUser(t.Context(), storetest.Operator(), models.NewID[models.UserID]()), models.CodeNotFound)
}

func TestANewPasswordForgetsBrowsers(t *testing.T) {
	t.Parallel()
	s := storetest.New(t, storetest.WithClock(storetest.NewClock()))
	ada := storetest.Reviewer(t, s, "ada@example.com")
	first, err := s.People.RememberDevice(t.Context(), ada.OwnerID, "")
	storetest.Must(t, err)
	if again, err := s.People.RememberDevice(t.Context(), ada.OwnerID, first); err != nil || again != first {
		t.Fatalf("remembered as %q, %v, want the same", again, err)
	}
	if forged, err := s.People.RememberDevice(t.Context(), ada.OwnerID, "cs_dev_chosen"); err != nil || forged == "cs_dev_chosen" {
		t.Fatalf("a secret of the browser's own choice was taken: %q, %v", forged, err)
	}
	for range 30 {
		_, err := s.People.RememberDevice(t.Context(), ada.OwnerID, "")
		storetest.Must(t, err)
	}
	if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM known_devices`); n != 20 {
		t.Errorf("%d browsers are remembered, want 20", n)
	}
	storetest.Must(t, s.People.SetPassword(t.Context(), storetest.Operator(), ada.OwnerID, nextPassword))
	if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM known_devices`); n != 0 {
		t.Errorf("%d browsers are remembered after a new password, want none", n)
	}
}

func TestTheQueueOfThoseWhoSignInIsBounded(t *testing.T) {
	t.Parallel()
	const callers = 200
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	defer release()
	s := storetest.New(t, func(o *store.Options) { o.BeforeHash = func() { <-hold } })
	results := make(chan error, callers)
	for i := range callers {
		go func() {
			_, _, err := s.People.SignIn(t.Context(), fmt.Sprintf("user%d@example.com", i), "x", fromAddress(fmt.Sprintf("198.51.%d.%d", i/200, i)))
			results <- err
		}()
	}
	refusals := 0
	for range callers - 34 { // all but those who hash and those who wait
		e := storetest.Refused(t, <-results, models.CodeTooManyRequests)
		if e.RetryAfterSeconds < 1 {
			t.Fatalf("no time to wait: %v", e)
		}
		refusals++
	}
	release()
	for range 34 {
		storetest.Refused(t, <-results, models.CodeUnauthenticated)
	}
	if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM signin_failures`); n != callers-refusals {
		t.Errorf("%d failures are counted, want %d: who was sent away has tried nothing", n, callers-refusals)
	}
}

func TestFailedSignInsAreLoggedAndCounted(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	counted := map[string]int{}
	s := storetest.New(t, func(o *store.Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.ObserveSignInFailure = func(reason string) { counted[reason]++ }
	})
	storetest.Reviewer(t, s, "ada@example.com")
	from := people.SignInFrom{Address: "192.0.2.7:1234"}
	for range 6 {
		_ = signIn(t, s, "ada@example.com", "hunter2-secret", from)
	}
	_ = signIn(t, s, "hunter2-in-the-wrong-field", "x", fromAddress("192.0.2.8"))
	told := log.String()
	for _, want := range []string{"account=ada@example.com", "address=192.0.2.7", "reason=wrong_password", "reason=too_many", "reason=unknown_account", "account=unknown"} {
		if !strings.Contains(told, want) {
			t.Errorf("the log lacks %q:\n%s", want, told)
		}
	}
	if strings.Contains(told, "hunter2") {
		t.Errorf("the log tells what was typed:\n%s", told)
	}
	if counted["wrong_password"] != 5 || counted["too_many"] != 1 || counted["unknown_account"] != 1 {
		t.Errorf("counted %v", counted)
	}
}

// An address draws once a minute, however often it comes and at whichever server: the chance is one of as many addresses
// as came.
func TestEachAddressDrawsOnceInTheCluster(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	var draws []int
	counts := func(o *store.Options) { o.WinsLot = func(of int) bool { draws = append(draws, of); return false } }
	one := storetest.New(t, storetest.WithClock(clock), counts)
	two := storetest.Again(t, one, storetest.WithClock(clock), counts)
	storetest.Reviewer(t, one, "ada@example.com")
	guess(t, one, "ada@example.com", 1)
	clock.Step(2 * time.Minute)
	for i := range 3 {
		for _, s := range []*store.Store{one, two, one} {
			storetest.Refused(t, signIn(t, s, "ada@example.com", storetest.Password, fromAddress(fmt.Sprintf("203.0.113.%d", i))),
				models.CodeTooManyRequests)
		}
	}
	if !slices.Equal(draws, []int{1, 2, 3}) {
		t.Errorf("drew one of %v, want of 1, 2 and 3", draws)
	}
}
