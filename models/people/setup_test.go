package people_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
	"countersign/models/storetest"
)

var firstUser = people.NewUser{Email: "ada@example.com", Name: "Ada", Password: storetest.Password}

func TestSetupAddsTheFirstAdmin(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	has, err := s.People.HasUsers(t.Context())
	storetest.Must(t, err)
	if has {
		t.Error("a fresh database has users")
	}
	start := storetest.LedgerAt(t, s)
	link, err := s.People.NewSetupLink(t.Context(), models.System("server"))
	storetest.Must(t, err)
	for range 2 { // looking uses nothing up (I15)
		storetest.Must(t, s.People.CheckSetupLink(t.Context(), link))
	}
	storetest.Refused(t, storetest.Err(s.People.Setup(t.Context(), link, people.NewUser{})), models.CodeInvalid)
	storetest.Must(t, s.People.CheckSetupLink(t.Context(), link))

	in := firstUser
	in.Role = models.RoleReviewer
	user, err := s.People.Setup(t.Context(), link, in)
	storetest.Must(t, err)
	if user.Role != models.RoleAdmin || user.PasswordHash != "" {
		t.Errorf("user %+v, want an admin without hash", user)
	}
	storetest.Must(t, signIn(t, s, "ada@example.com", storetest.Password, storetest.Somewhere))
	storetest.Refused(t, s.People.CheckSetupLink(t.Context(), link), models.CodeNotFound)
	storetest.Refused(t, storetest.Err(s.People.Setup(t.Context(), link, people.NewUser{Email: "eve@example.com", Name: "Eve", Password: storetest.Password})), models.CodeNotFound)
	storetest.Refused(t, storetest.Err(s.People.NewSetupLink(t.Context(), storetest.Operator())), models.CodeConflict)
	if has, err = s.People.HasUsers(t.Context()); err != nil || !has {
		t.Errorf("HasUsers = %v, %v after setup", has, err)
	}
	storetest.SameStrings(t, "ledger", storetest.ActionsSince(t, s, start), []string{
		"setup_link.made ", "setup_link.used " + string(user.ID), "user.added " + string(user.ID), "session.opened " + string(user.ID),
	})
}

func TestANewSetupLinkReplacesTheOlder(t *testing.T) {
	t.Parallel()
	var hashes atomic.Int64
	s := storetest.New(t, countHashes(&hashes))
	older, err := s.People.NewSetupLink(t.Context(), storetest.Operator())
	storetest.Must(t, err)
	newer, err := s.People.NewSetupLink(t.Context(), storetest.Operator())
	storetest.Must(t, err)
	for _, link := range []string{"", "guess", older} {
		storetest.Refused(t, s.People.CheckSetupLink(t.Context(), link), models.CodeNotFound)
		storetest.Refused(t, storetest.Err(s.People.Setup(t.Context(), link, firstUser)), models.CodeNotFound)
	}
	if hashes.Load() != 0 {
		t.Error("strangers have passwords hashed")
	}
	storetest.Must(t, storetest.Err(s.People.Setup(t.Context(), newer, firstUser)))
}

func TestASetupLinkEndsWithTheFirstUser(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	link, err := s.People.NewSetupLink(t.Context(), storetest.Operator())
	storetest.Must(t, err)
	storetest.Reviewer(t, s, "cli@example.com") // added by the command line
	storetest.Refused(t, s.People.CheckSetupLink(t.Context(), link), models.CodeNotFound)
	storetest.Refused(t, storetest.Err(s.People.Setup(t.Context(), link, firstUser)), models.CodeNotFound)
}

func TestAUserAddedDuringSetupWins(t *testing.T) {
	t.Parallel()
	cli := storetest.New(t)
	link, err := cli.People.NewSetupLink(t.Context(), storetest.Operator())
	storetest.Must(t, err)
	s := storetest.Again(t, cli, func(o *store.Options) {
		o.BeforeHash = func() { storetest.Reviewer(t, cli, "cli@example.com") }
	})
	storetest.Refused(t, storetest.Err(s.People.Setup(t.Context(), link, firstUser)), models.CodeNotFound)
	if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM users`); n != 1 {
		t.Errorf("%d users, want the one that the command line added", n)
	}
}

func TestOfManyAtOnceOneUsesTheSetupLink(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	link, err := s.People.NewSetupLink(t.Context(), storetest.Operator())
	storetest.Must(t, err)
	var won, late atomic.Int64
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			in := firstUser
			in.Email = string(rune('a'+i)) + "@example.com"
			if _, err := s.People.Setup(t.Context(), link, in); err == nil {
				won.Add(1)
			} else if models.ErrorCode(err) == models.CodeNotFound {
				late.Add(1)
			}
		})
	}
	all.Wait()
	if n := storetest.Scalar[int](t, s, `SELECT count(*) FROM users`); won.Load() != 1 || late.Load() != 15 || n != 1 {
		t.Errorf("%d won, %d came late, %d users; want 1, 15, 1", won.Load(), late.Load(), n)
	}
}

func TestOnlyTheCommandLineAndTheServerMakeSetupLinks(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	for _, actor := range []models.Actor{
		{},
		{Kind: models.ActorUser, ID: "x", Admin: true},
		{Kind: models.ActorAgent, ID: "x"},
	} {
		storetest.Refused(t, storetest.Err(s.People.NewSetupLink(t.Context(), actor)), models.CodeForbidden)
	}
}
