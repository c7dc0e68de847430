package store_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/ledger"
	"countersign/models/store"
	"countersign/models/storetest"
)

// TestTheHeadIsKeptBesideTheDatabase: once for each that it has, and what can't be read refuses.
func TestTheHeadIsKeptBesideTheDatabase(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	s := storetest.New(t, storetest.WithDir(dir))
	storetest.Admin(t, s)
	for range 2 {
		storetest.Must(t, s.KeepHead(t.Context()))
	}
	head, err := s.Ledger.Head(t.Context())
	storetest.Must(t, err)
	kept, err := ledger.ReadKept(s.Path())
	if err != nil || kept == nil || kept.String() != head.String() || kept.At.IsZero() {
		t.Fatalf("%v is kept, %v; want %s", kept, err, head)
	}
	file := s.Path() + models.HeadEnd
	storetest.Must(t, os.Remove(file))
	storetest.Must(t, s.KeepHead(t.Context()))
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a head that has not moved was written again: %v", err)
	}
	storetest.Reviewer(t, s, "ann@example.com")
	storetest.Must(t, s.Close()) // keeps it
	storetest.Must(t, storetest.New(t, storetest.WithDir(dir)).Close())
	storetest.Must(t, os.WriteFile(file, []byte("7:"), 0o600))
	if _, err := store.Open(t.Context(), store.Options{Dir: dir, URL: dbtest.URL(t, dir)}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("beside a damaged file: %v", err)
	}
}

// TestAnotherLedgerIsALoss: as many entries, but others.
func TestAnotherLedgerIsALoss(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	s := storetest.New(t, storetest.WithDir(dir))
	storetest.Admin(t, s)
	head, err := s.Ledger.Head(t.Context())
	storetest.Must(t, err)
	storetest.Must(t, s.Close())
	head.Hash[0] ^= 1
	storetest.Must(t, ledger.WriteKept(s.Path(), models.KeptHead{Head: head}))
	if _, err := store.Open(t.Context(), store.Options{Dir: dir, URL: dbtest.URL(t, dir)}); err == nil || !strings.Contains(err.Error(), "not the database") {
		t.Errorf("with another ledger: %v", err)
	}
}

// TestTheHeadIsToldOnceADay, to webhooks that get it, if there is something new.
func TestTheHeadIsToldOnceADay(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	told := func() int {
		storetest.Must(t, s.TellHead(t.Context(), false))
		return storetest.Scalar[int](t, s, `SELECT count(*) FROM ledger WHERE action = 'ledger.head'`)
	}
	add := func(types ...string) {
		_, _, err := s.Webhooks.Add(t.Context(), admin, models.WebhookInput{Name: strings.Join(types, " "), URL: "https://hooks.example.com/x", Types: types})
		storetest.Must(t, err)
	}
	add("approval.approved")
	if n := told(); n != 0 {
		t.Errorf("%d entries for nobody", n)
	}
	add("ledger.head")
	before, err := s.Ledger.Head(t.Context())
	storetest.Must(t, err)
	if n := told(); n != 1 {
		t.Errorf("%d entries, want the first", n)
	}
	if data := storetest.Scalar[string](t, s, `SELECT data FROM ledger WHERE action = 'ledger.head'`); !strings.Contains(data, before.String()) {
		t.Errorf("it says %s, want %s", data, before)
	}
	clock.Step(25 * time.Hour)
	if n := told(); n != 1 {
		t.Errorf("%d entries although nothing is new", n)
	}
	storetest.Reviewer(t, s, "ann@example.com")
	if n := told(); n != 2 {
		t.Errorf("%d entries on the second day", n)
	}
	storetest.Reviewer(t, s, "bo@example.com")
	if n := told(); n != 2 {
		t.Errorf("%d entries on one day", n)
	}
}
