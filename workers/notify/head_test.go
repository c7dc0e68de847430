package notify_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// TestAdminsGetTheLedgersHeadOnceADay, by e-mail: not twice after a restart, the same again
// after a failure, and nobody else gets it. Who has it can check the ledger with it.
func TestAdminsGetTheLedgersHeadOnceADay(t *testing.T) {
	t.Parallel()
	dir, clock := storetest.Dir(t), storetest.NewClock()
	p := newPlace(t, storetest.WithDir(dir), storetest.WithClock(clock))
	p.clock, p.post.now = clock, clock.Now
	tell := func(mail bool) {
		t.Helper()
		storetest.Must(t, p.TellHead(t.Context(), mail))
		p.wait(t, time.Minute)
	}
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	entries := func() int {
		return storetest.Scalar[int](t, p.Store, `SELECT count(*) FROM ledger WHERE action = 'ledger.head'`)
	}
	if tell(true); entries() != 0 {
		t.Error("an entry for nobody")
	}
	p.mail(t, p.admin)
	p.add(t, p.admin, models.ChannelInput{Kind: models.ChannelWebhook, Target: models.ChannelTarget{URL: "https://hook.example/x"}})
	if tell(false); entries() != 0 || len(p.post.take()) != 0 {
		t.Error("it is sent although nobody has asked for it")
	}

	head, err := p.Ledger.Head(t.Context())
	storetest.Must(t, err)
	at := p.Now()
	p.post.fails[p.admin.Name] = models.SendResult{Class: models.SendUnavailable, Status: 451}
	tell(true)
	storetest.Must(t, p.Nodes.DropLease(t.Context(), p.lease))
	storetest.Must(t, p.Close())
	delete(p.post.fails, p.admin.Name)
	p.Store = storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	p.open(t)
	storetest.Reviewer(t, p.Store, "bo@example.com") // another head
	tell(true)
	p.wait(t, time.Hour)
	tell(true)
	got := p.post.take()
	if len(got) < 2 {
		t.Fatalf("told %v", got)
	}
	for _, m := range got {
		if m.Kind != models.NoticeLedgerHead || m.to != p.admin.Name || m.ID != got[0].ID || m.Head != head.String() || !m.HeadAt.Equal(at) {
			t.Errorf("%+v, want the head %s", m, head)
		}
	}
	kept, err := models.ParseHead(got[0].Head)
	storetest.Must(t, err)
	if _, err := p.Ledger.Verify(t.Context(), &kept); err != nil {
		t.Errorf("the ledger does not hold what was mailed: %v", err)
	}
	p.wait(t, 12*time.Hour)
	if tell(true); len(p.post.take()) != 0 {
		t.Error("twice on one day")
	}
	p.wait(t, 12*time.Hour)
	tell(true)
	if got := p.post.take(); len(got) != 1 || got[0].Head == head.String() {
		t.Errorf("on the next day: %v", got)
	}
	p.wait(t, 25*time.Hour)
	if tell(true); len(p.post.take()) != 0 || entries() != 2 {
		t.Error("a head that has not moved is sent again")
	}
}
