package notify_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// Whom a rule asks later hears of it when that time comes, as of a request that is new.
func TestWhoIsAskedLaterIsToldThen(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	eve := storetest.Reviewer(t, p.Store, "eve@example.com")
	p.mail(t, eve)
	p.settings(t, eve, onlyAtOnce)
	doc := `{"rules":[{"name":"all","tools":["/.*/"],"effect":"require","timeout_minutes":60,"escalate":[{"after_minutes":10,"to":["eve@example.com"]}]}]}`
	storetest.Must(t, storetest.Err(p.ApplyPolicy(t.Context(), p.admin, []byte(doc), "test", 0)))
	a := p.ask(t)
	p.post.take()
	p.wait(t, 10*time.Minute-time.Second)
	if got := p.post.take(); len(got) > 0 {
		t.Errorf("told before: %+v", got)
	}
	p.clock.Step(time.Second)
	storetest.Must(t, storetest.Err(p.EscalateDue(t.Context(), 10)))
	p.rounds(t)
	if got := p.post.take(); len(got) != 1 || got[0].Kind != models.NoticeWaiting || got[0].Request != a.ID {
		t.Errorf("told at the step: %+v", got)
	}
}

// An expired request says who was told of it, by what, and who saw it when; whoever does not
// see the request reads nothing of that, and neither does an agent (I4).
func TestUnansweredNamesWhoWasToldAndWhoSaw(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	eve, bo := storetest.Reviewer(t, p.Store, "eve@example.com"), storetest.Reviewer(t, p.Store, "bo@example.com")
	other := storetest.Reviewer(t, p.Store, "other@example.com")
	p.mail(t, eve)
	p.settings(t, eve, onlyAtOnce)
	p.rule(t, models.RiskMedium, 60, "eve@example.com", "bo@example.com")
	a := p.ask(t)
	if u, err := p.notices().Unanswered(t.Context(), eve, a.ID); err != nil || u != nil {
		t.Errorf("while it waits: %+v, %v", u, err)
	}
	p.rounds(t)
	told := p.Now()
	p.wait(t, 5*time.Minute)
	storetest.Must(t, p.Saw(t.Context(), bo, a.ID))
	seen := p.Now()
	p.wait(t, time.Hour)
	u, err := p.notices().Unanswered(t.Context(), eve, a.ID)
	storetest.Must(t, err)
	got := ""
	for _, who := range u.People {
		got += fmt.Sprintf("%s asked %v", who.Name, who.Asked)
		for _, by := range who.Told {
			got += fmt.Sprintf(" by %s at %v among %v failed %v", by.Kind, by.At.Equal(told), by.Among, by.Failed)
		}
		if who.SeenAt != nil {
			got += fmt.Sprintf(" seen %v", who.SeenAt.Equal(seen))
		}
		got += "; "
	}
	owner := u.People[0].Name
	if want := owner + " asked true; bo@example.com asked true seen true; eve@example.com asked true by email at true among false failed false; "; got != want || !u.Seen() {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := p.notices().Unanswered(t.Context(), other, a.ID); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("who may not see it: %v", err)
	}
	if _, err := p.notices().Unanswered(t.Context(), p.agent, a.ID); models.ErrorCode(err) != models.CodeForbidden {
		t.Errorf("an agent: %v", err)
	}
}
