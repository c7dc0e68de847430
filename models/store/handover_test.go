package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// substitute has somebody accepted for a person.
func (b *bench) substitute(t *testing.T, who, substitute models.Actor) models.SubstituteID {
	t.Helper()
	s, err := b.AskSubstitute(t.Context(), who, who.UserID(), substitute.UserID())
	storetest.Must(t, err)
	storetest.Must(t, b.AcceptSubstitute(t.Context(), b.Admin, s.ID))
	return s.ID
}

func (b *bench) handsOver(t *testing.T, from models.Actor, id models.ResponseID, to models.Actor) *models.HandOver {
	t.Helper()
	h, err := b.HandOver(t.Context(), from, id, to.UserID(), "Please look.")
	storetest.Must(t, err)
	return h
}

// A request can be handed to whom the rule lets approve, and to a substitute whom an admin has
// accepted for that person; to nobody else, and never further.
func TestARequestIsHandedOnlyToWhomItMayBe(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve, zoe := storetest.Reviewer(t, b.Store, "eve@example.com"), storetest.Reviewer(t, b.Store, "zoe@example.com")
	b.UsePolicy(t, payments(byStranger+only))
	a := b.pay(t, 1)
	refused := func(from, to models.Actor, code models.Code) {
		t.Helper()
		_, err := b.HandOver(t.Context(), from, a.ID, to.UserID(), "")
		wantCode(t, err, code)
	}
	refused(b.Stranger, eve, models.CodeInvalid) // nobody has accepted them
	asked, err := b.AskSubstitute(t.Context(), b.Stranger, b.Stranger.UserID(), eve.UserID())
	storetest.Must(t, err)
	refused(b.Stranger, eve, models.CodeInvalid) // asked is not accepted
	wantCode(t, b.AcceptSubstitute(t.Context(), b.Stranger, asked.ID), models.CodeForbidden)
	storetest.Must(t, b.AcceptSubstitute(t.Context(), b.Admin, asked.ID))
	refused(b.Stranger, zoe, models.CodeInvalid)
	refused(b.Stranger, b.Stranger, models.CodeInvalid)
	refused(b.Stranger, b.Admin, models.CodeInvalid) // the rule does not let admins approve
	refused(b.Owner, eve, models.CodeNotAReviewer)   // sees it, and may not approve it
	refused(b.Admin, eve, models.CodeNotAReviewer)
	refused(b.Agent, eve, models.CodeForbidden) // I4
	refused(eve, zoe, models.CodeNotFound)

	may, err := b.MayHandOverTo(t.Context(), b.Stranger, a.ID)
	storetest.Must(t, err)
	if len(may) != 1 || may[0].ID != eve.UserID() {
		t.Errorf("may be handed to %+v", may)
	}
	after := b.VerifiedHead(t)
	h := b.handsOver(t, b.Stranger, a.ID, eve)
	b.WantActions(t, after, "approval.handed_over", "approval.routed")
	if again := b.handsOver(t, b.Stranger, a.ID, eve); again.ID != h.ID {
		t.Error("a repeat is another hand-over")
	}
	if !b.asks(t, eve, a.ID) || !b.asks(t, b.Stranger, a.ID) {
		t.Error("not both have it")
	}
	b.substitute(t, eve, zoe)
	refused(eve, zoe, models.CodeNotAReviewer) // never further

	page, err := b.RequestPage(t.Context(), eve, a.ID, false)
	storetest.Must(t, err)
	if p := page.Substitution; !p.MayApprove || p.OnBehalf == nil || p.OnBehalf.ID != b.Stranger.UserID() || len(p.Delegations) != 1 || p.Delegations[0].HandOver.Note != "Please look." {
		t.Errorf("%+v", p)
	}
	got, err := b.Decide(t.Context(), eve, a.ID, storetest.Yes())
	storetest.Must(t, err)
	if got.Vote.BehalfOf != b.Stranger.UserID() || got.Vote.BehalfName != b.Stranger.Name || got.Vote.UserID != eve.UserID() {
		t.Errorf("the vote: %+v", got.Vote)
	}
	data := storetest.Scalar[string](t, b.Store, `SELECT data FROM ledger WHERE action = 'approval.approved'`)
	if !strings.Contains(data, `"on_behalf_of":"`+string(b.Stranger.UserID())+`"`) {
		t.Errorf("the ledger says %s", data)
	}
}

// What somebody has only for others goes with the right to act for them, at once: taken back,
// no substitute any more, the other disabled, out of the group, or no admin.
func TestActingForOthersEndsWithItsReason(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rule string
		from func(*bench) models.Actor
		ends func(*testing.T, *bench, *models.HandOver, models.SubstituteID)
		back func(*testing.T, *bench)
	}{
		"taken back": {byStranger + only, nil, func(t *testing.T, b *bench, h *models.HandOver, _ models.SubstituteID) {
			t.Helper()
			after := b.VerifiedHead(t)
			storetest.Must(t, b.TakeBackHandOver(t.Context(), b.Stranger, h.ID))
			storetest.Must(t, b.TakeBackHandOver(t.Context(), b.Stranger, h.ID))
			b.WantActions(t, after, "approval.hand_over_taken_back", "approval.routed")
		}, nil},
		"no substitute any more": {byStranger + only, nil, func(t *testing.T, b *bench, _ *models.HandOver, s models.SubstituteID) {
			t.Helper()
			after := b.VerifiedHead(t)
			storetest.Must(t, b.RemoveSubstitute(t.Context(), b.Stranger, s))
			b.WantActions(t, after, "substitute.removed", "approval.routed")
		}, nil},
		"the other is disabled": {byStranger, nil, func(t *testing.T, b *bench, _ *models.HandOver, _ models.SubstituteID) {
			t.Helper()
			storetest.Must(t, storetest.Err(b.People.DisableUser(t.Context(), b.Admin, b.Stranger.UserID())))
		}, func(t *testing.T, b *bench) {
			t.Helper()
			storetest.Must(t, b.People.EnableUser(t.Context(), b.Admin, b.Stranger.UserID()))
		}},
		"out of the group": {`,"reviewers":["group:finance","admin@example.com"]` + only, nil, func(t *testing.T, b *bench, _ *models.HandOver, _ models.SubstituteID) {
			t.Helper()
			b.leaves(t, "finance", b.Stranger)
		}, func(t *testing.T, b *bench) {
			t.Helper()
			b.joins(t, "finance", b.Stranger)
		}},
		"no admin any more": {``, func(b *bench) models.Actor { return b.Stranger }, func(t *testing.T, b *bench, _ *models.HandOver, _ models.SubstituteID) {
			t.Helper()
			storetest.Must(t, b.People.SetRole(t.Context(), b.Admin, b.Stranger.UserID(), models.RoleReviewer))
		}, func(t *testing.T, b *bench) {
			t.Helper()
			storetest.Must(t, b.People.SetRole(t.Context(), b.Admin, b.Stranger.UserID(), models.RoleAdmin))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			eve := storetest.Reviewer(t, b.Store, "eve@example.com")
			b.group(t, "finance", b.Stranger)
			if tt.rule == "" {
				storetest.Must(t, b.People.SetRole(t.Context(), b.Admin, b.Stranger.UserID(), models.RoleAdmin))
				b.Stranger.Admin = true
			}
			b.UsePolicy(t, payments(tt.rule))
			a := b.pay(t, 1)
			s := b.substitute(t, b.Stranger, eve)
			h := b.handsOver(t, b.Stranger, a.ID, eve)
			if !b.asks(t, eve, a.ID) {
				t.Fatal("it was not handed over")
			}
			tt.ends(t, b, h, s)
			if b.asks(t, eve, a.ID) {
				t.Error("they still have it")
			}
			wantCode(t, storetest.Err(b.Decide(t.Context(), eve, a.ID, storetest.Yes())), models.CodeNotFound)
			if tt.back != nil {
				tt.back(t, b)
				if !b.asks(t, eve, a.ID) {
					t.Error("they don't have it again")
				}
				storetest.Must(t, storetest.Err(b.Decide(t.Context(), eve, a.ID, storetest.Yes())))
			}
		})
	}
}

// Whether substitutes may act is frozen at the ask (I12).
func TestARuleThatForbidsSubstitutesIsFrozenI12(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	b.substitute(t, b.Stranger, eve)
	b.UsePolicy(t, payments(byStranger+only+`,"substitutes":false`))
	strict := b.pay(t, 1)
	b.UsePolicy(t, payments(byStranger+only))
	lax := b.pay(t, 2)
	b.UsePolicy(t, payments(byStranger+only+`,"substitutes":false`))
	_, err := b.HandOver(t.Context(), b.Stranger, strict.ID, eve.UserID(), "")
	wantCode(t, err, models.CodeInvalid)
	b.handsOver(t, b.Stranger, lax.ID, eve)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), eve, lax.ID, storetest.Yes())))
	if _, err := storetest.Tamper(t, b.Store).ExecContext(t.Context(), `UPDATE responses SET no_substitutes = FALSE WHERE id = ?`, strict.ID); err == nil {
		t.Error("whether substitutes may act was changed beside the store")
	}
}

// Whoever owns the agent never acts for others on what it asks.
func TestTheOwnerNeverActsForOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.substitute(t, b.Stranger, b.Owner)
	b.UsePolicy(t, payments(byStranger+never))
	a := b.pay(t, 1)
	_, err := b.HandOver(t.Context(), b.Stranger, a.ID, b.Owner.UserID(), "")
	wantCode(t, err, models.CodeInvalid)
	b.away(t, b.Stranger, b.Owner)
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())), models.CodeNotAReviewer)
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, b.pay(t, 2).ID, storetest.Yes())), models.CodeNotAReviewer)
}

// One person is one vote: an edit by a substitute needs somebody else exactly as an edit by
// them would, whomever they act for.
func TestAnEditForSomebodyElseNeedsOthersAsOnesOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve, zoe := storetest.Reviewer(t, b.Store, "eve@example.com"), storetest.Reviewer(t, b.Store, "zoe@example.com")
	b.substitute(t, b.Stranger, eve)
	b.UsePolicy(t, `{"rules":[{"name":"large","tools":["payment.send"],"when":"input.amount > 100","effect":"require","reviewers":["stranger@example.com","zoe@example.com"],"reviewers_only":true},
 {"name":"small","tools":["payment.send"],"effect":"require","reviewers":["stranger@example.com"],"reviewers_only":true}]}`)
	a := b.pay(t, 1)
	b.handsOver(t, b.Stranger, a.ID, eve)
	edit := storetest.Yes()
	edit.Input = []byte(`{"amount":200}`)
	got, err := b.Decide(t.Context(), eve, a.ID, edit)
	storetest.Must(t, err)
	if got.Status() != models.StatusPending || got.Vote.WaitsFor == "" || got.Vote.BehalfOf != b.Stranger.UserID() {
		t.Fatalf("%+v", got.Vote)
	}
	if again, err := b.Decide(t.Context(), eve, a.ID, edit); err != nil || again.Status() != models.StatusPending {
		t.Errorf("a second time: %v, %v", again, err)
	}
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), zoe, a.ID, edit)))
	b.standsAs(t, a.ID, models.StatusApproved)
}

// A held approval is withdrawn if its giver may not act for others any more when it is released;
// taken back before, it leaves their inbox.
func TestAHeldVerdictForSomebodyElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	sub := b.substitute(t, b.Stranger, eve)
	b.UsePolicy(t, `{"undo_seconds":{"medium":60},"rules":[{"name":"p","tools":["payment.send"],"effect":"require","timeout_minutes":60,"reviewers":["stranger@example.com"],"reviewers_only":true}]}`)
	kept, undone := b.pay(t, 1), b.pay(t, 2)
	for _, id := range []models.ResponseID{kept.ID, undone.ID} {
		b.handsOver(t, b.Stranger, id, eve)
		storetest.Must(t, storetest.Err(b.Decide(t.Context(), eve, id, storetest.Yes())))
	}
	storetest.Must(t, b.RemoveSubstitute(t.Context(), b.Admin, sub))
	storetest.Must(t, storetest.Err(b.Undo(t.Context(), eve, undone.ID)))
	if b.asks(t, eve, undone.ID) {
		t.Error("they still have what they took back")
	}
	b.Clock.Step(time.Minute)
	storetest.Must(t, storetest.Err(b.ReleaseDue(t.Context(), 10)))
	for _, id := range []models.ResponseID{kept.ID, undone.ID} {
		if got := b.standsAs(t, id, models.StatusPending); got.HeldUntil != nil {
			t.Errorf("%s is held until %v", id, got.HeldUntil)
		}
	}
}

// Whoever writes the file beside the store can't make a substitute, a hand-over or on whose
// behalf somebody voted, without being found.
func TestAChangedSubstituteIsFound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eve, zoe := storetest.Reviewer(t, b.Store, "eve@example.com"), storetest.Reviewer(t, b.Store, "zoe@example.com")
	b.UsePolicy(t, payments(byStranger+only))
	a := b.pay(t, 1)
	b.substitute(t, b.Stranger, eve)
	storetest.Must(t, storetest.Err(b.AskSubstitute(t.Context(), b.Stranger, b.Stranger.UserID(), zoe.UserID())))
	b.handsOver(t, b.Stranger, a.ID, eve)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), eve, a.ID, storetest.Yes())))
	file := copyOf(t, b.Store)
	for _, tt := range []struct{ edit, table string }{
		{`UPDATE substitutes SET accepted_at = asked_at WHERE accepted_at IS NULL`, "substitutes"},
		{`INSERT INTO substitutes SELECT 'made-up', substitute_id, user_id, asked_at, asked_by, accepted_at, accepted_by, NULL FROM substitutes LIMIT 1`, "substitutes"},
		{`UPDATE substitutes SET substitute_id = (SELECT id FROM users WHERE email LIKE 'admin%') WHERE accepted_at IS NOT NULL`, "substitutes"},
		{`UPDATE handovers SET to_user = from_user`, "handovers"},
		{`UPDATE handovers SET note = 'x'`, "handovers"},
		{`UPDATE votes SET behalf_of = ''`, "votes"},
	} {
		found := tampered(t, file, tt.edit, true)
		if !slices.ContainsFunc(found.Faults, func(f models.RowFault) bool { return f.Table == tt.table }) {
			t.Errorf("%s: %+v", tt.edit, found.Faults)
		}
	}
}
