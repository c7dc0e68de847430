package store_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/storetest"
)

// ballot is what the count of signatures is judged from, beside the store: who has signed which input, and who may.
type ballot struct {
	*signers

	ctx      context.Context //nolint:containedctx // of the test
	people   map[string]models.Actor
	groups   map[string][]string
	disabled map[string]bool

	rule     ballotRule
	request  *models.Approval
	deadline time.Time
	signed   []string // in their order
	edit     string   // the input that is signed; empty: as it was asked
	rejects  []string
	last     string // whose signature holds it; empty: nobody's
	alone    bool   // by breaking glass
	until    time.Time
	over     models.Status
}

type ballotRule struct {
	text        string
	entries     []ballotEntry
	any, stages bool
	rejects     int
}

type ballotEntry struct {
	from  []string // people, and groups as group:NAME
	count int
}

var ballotRules = []ballotRule{
	{twoAndOne, []ballotEntry{{[]string{"group:finance"}, 2}, {[]string{"group:oncall"}, 1}}, false, false, 1},
	{staged, []ballotEntry{{[]string{"group:finance"}, 2}, {[]string{"group:oncall"}, 1}}, false, true, 1},
	{twoAndOne + `,"any":true,"reject_count":2`, []ballotEntry{{[]string{"group:finance"}, 2}, {[]string{"group:oncall"}, 1}}, true, false, 2},
	{
		`,"approvals":[{"from":["group:finance","dee@example.com"],"count":1},{"from":["ann@example.com","group:oncall"],"count":2}],"reject_count":3`,
		[]ballotEntry{{[]string{"group:finance", "dee"}, 1}, {[]string{"ann", "group:oncall"}, 2}},
		false, false, 3,
	},
}

func (e ballotEntry) takes(b *ballot, who string) bool {
	return slices.ContainsFunc(e.from, func(from string) bool {
		group, isGroup := strings.CutPrefix(from, "group:")
		return isGroup && slices.Contains(b.groups[group], who) || !isGroup && from == who
	})
}

// most is how many of some people can count for some entries: each assignment is tried.
func (b *ballot) most(entries []ballotEntry, who []string) int {
	if len(who) == 0 {
		return 0
	}
	best := b.most(entries, who[1:])
	for i := range entries {
		if entries[i].count > 0 && entries[i].takes(b, who[0]) {
			entries[i].count--
			best = max(best, 1+b.most(entries, who[1:]))
			entries[i].count++
		}
	}
	return best
}

func (b *ballot) full(entries []ballotEntry, who []string) bool {
	need := 0
	for _, e := range entries {
		need += e.count
	}
	return b.most(slices.Clone(entries), who) == need
}

func (b *ballot) met(who []string) bool {
	if b.rule.any {
		return slices.ContainsFunc(b.rule.entries, func(e ballotEntry) bool { return b.full([]ballotEntry{e}, who) })
	}
	return b.full(b.rule.entries, who)
}

// open are the entries that can be signed now.
func (b *ballot) open(who []string) []ballotEntry {
	for i := range b.rule.entries {
		if b.rule.stages && !b.full(b.rule.entries[:i+1], who) {
			return b.rule.entries[:i+1]
		}
	}
	return b.rule.entries
}

// helps: one more signature brings it nearer.
func (b *ballot) helps(who []string, one string) bool {
	if slices.Contains(who, one) {
		return false
	}
	if b.met(who) { // somebody could not sign for a time: any signature settles it now
		return slices.ContainsFunc(b.rule.entries, func(e ballotEntry) bool { return e.takes(b, one) })
	}
	more := append(slices.Clone(who), one)
	if b.rule.any {
		return slices.ContainsFunc(b.rule.entries, func(e ballotEntry) bool {
			return b.most([]ballotEntry{e}, more) > b.most([]ballotEntry{e}, who)
		})
	}
	open := slices.Clone(b.open(who))
	return b.most(slices.Clone(open), more) > b.most(slices.Clone(open), who)
}

// asked: somebody has the request before them.
func (b *ballot) able(who string) bool {
	if b.disabled[who] {
		return false
	}
	return slices.ContainsFunc(b.rule.entries, func(e ballotEntry) bool { return e.takes(b, who) })
}

// count are the signatures that count now.
func (b *ballot) count() (out []string) {
	for _, who := range b.signed {
		if b.able(who) {
			out = append(out, who)
		}
	}
	return out
}

func (b *ballot) forget(who string) {
	not := func(other string) bool { return other == who }
	b.signed, b.rejects = slices.DeleteFunc(b.signed, not), slices.DeleteFunc(b.rejects, not)
}

// vote has somebody vote, and says what must come of it. The store says whether they are asked: that is tested
// elsewhere.
func (b *ballot) vote(t *rapid.T, who string, approve bool, input string) {
	if b.disabled[who] {
		return // their sessions have ended: the store is not asked
	}
	in := storetest.No("no")
	if approve {
		in = storetest.Yes()
		in.Digest = b.request.Digest
		if input != "" {
			in.Input = []byte(input)
		} else if b.edit != "" {
			in.Input = []byte(`{"amount":1}`) // as it was asked, which is another input than is signed
		}
	}
	got, err := b.Decide(b.ctx, b.people[who], b.request.ID, in)
	code := models.ErrorCode(err)
	switch {
	case b.over != "":
		if code != models.CodeAlreadyDecided && code != models.CodeExpired && code != models.CodeNotFound {
			t.Fatalf("%s votes on what is %s: %v", who, b.over, err)
		}
		return
	case b.last != "":
		if code != models.CodeBeingDecided && code != models.CodeNotFound {
			t.Fatalf("%s votes on what %s holds: %v", who, b.last, err)
		}
		return
	case code == models.CodeNotFound:
		return // they do not see it
	}
	if code == models.CodeNotAReviewer && b.breaks(who) && (b.rule.stages || !b.able(who)) {
		return // they see it, and are not asked, or not yet
	}
	if !approve {
		b.forget(who)
		b.rejects = append(b.rejects, who)
		want := models.StatusPending
		if len(b.rejects) >= b.rule.rejects {
			want, b.over = models.StatusRejected, models.StatusRejected
		}
		if err != nil || got.Status() != want {
			t.Fatalf("%s rejects: %v, %v, want %s", who, got, err, want)
		}
		return
	}
	anew := input != b.edit && len(b.signed) > 0 || input != "" && len(b.signed) == 0
	counts := b.count()
	if anew {
		counts = nil
	}
	again := !anew && slices.Contains(b.signed, who)
	may := b.able(who) && (again || anew || b.helps(counts, who))
	if !may {
		if code != models.CodeNotAReviewer {
			t.Fatalf("%s signs, whose signature does not help %v: %v", who, counts, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s signs beside %v: %v", who, counts, err)
	}
	if again && !b.met(counts) {
		return
	}
	if anew {
		b.signed = nil
	}
	b.forget(who)
	b.signed, b.edit = append(b.signed, who), input
	if held := got.HeldUntil != nil; held != b.met(b.count()) {
		t.Fatalf("%s signed, of %v count %v: held is %v", who, b.signed, b.count(), held)
	}
	if got.HeldUntil != nil {
		b.last, b.until = who, *got.HeldUntil
	}
}

// breaks reports whether somebody may break glass.
func (b *ballot) breaks(who string) bool {
	return !b.disabled[who] && slices.Contains(b.groups["incident"], who)
}

// breaksGlass has somebody decide alone.
func (b *ballot) breaksGlass(t *rapid.T, who string, approve bool) {
	if b.disabled[who] {
		return
	}
	in := alone(why)
	in.Approved, in.Digest = &approve, b.request.Digest
	if approve && b.edit != "" {
		in.Input = []byte(b.edit)
	}
	got, err := b.Decide(b.ctx, b.people[who], b.request.ID, in)
	code, counts := models.ErrorCode(err), b.count()
	isLast := slices.Contains(b.signed, who) && b.able(who) && b.met(counts) ||
		!slices.Contains(b.signed, who) && b.able(who) && b.helps(counts, who) && b.met(append(slices.Clone(counts), who))
	want := []models.Code{""}
	switch {
	case b.over != "":
		want = []models.Code{models.CodeAlreadyDecided, models.CodeExpired, models.CodeNotFound}
	case b.last != "":
		want = []models.Code{models.CodeBeingDecided, models.CodeNotFound}
	case approve && isLast:
		want = []models.Code{models.CodeInvalid}
	case !b.breaks(who):
		want = []models.Code{models.CodeNotAReviewer, models.CodeNotFound}
	}
	if !slices.Contains(want, code) {
		t.Fatalf("%s breaks glass beside %v: %v, want one of %q", who, counts, err, want)
	}
	if err != nil {
		return
	}
	if b.forget(who); !approve {
		b.over = models.StatusRejected
		return
	}
	if len(b.signed) == 0 {
		b.edit = ""
	}
	if got.HeldUntil == nil || !got.Vote.BrokeGlass() {
		t.Fatalf("%s broke glass: %+v", who, got)
	}
	b.last, b.until, b.alone = who, *got.HeldUntil, true
}

// takesBack has somebody take their signature or rejection back.
func (b *ballot) takesBack(t *rapid.T, who string) {
	if b.disabled[who] {
		return
	}
	_, err := b.Undo(b.ctx, b.people[who], b.request.ID)
	nothing := !slices.Contains(b.signed, who) && (b.last != "" || !slices.Contains(b.rejects, who))
	if b.over != "" || err != nil && nothing {
		return
	}
	if b.last != "" && b.alone {
		if (err == nil) != (who == b.last) {
			t.Fatalf("%s takes back what %s decided alone: %v", who, b.last, err)
		}
		if err == nil {
			b.last, b.alone = "", false
		}
		return
	}
	if err != nil && models.ErrorCode(err) != models.CodeNotFound {
		t.Fatalf("%s takes a signature back: %v", who, err)
	}
	if err == nil {
		if b.last != "" && slices.Contains(b.signed, who) {
			b.last = ""
		}
		b.forget(who)
		if len(b.signed) == 0 {
			b.edit = ""
		}
	}
}

// passes lets time pass, and holds what comes of it against the oracle.
func (b *ballot) passes(t *rapid.T, d time.Duration) {
	b.Clock.Step(d)
	if _, err := b.ReleaseDue(b.ctx, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ExpireDue(b.ctx, 10); err != nil {
		t.Fatal(err)
	}
	if b.last != "" && !b.Now().Before(b.until) {
		if b.alone && b.breaks(b.last) || !b.alone && b.met(b.count()) {
			b.over = models.StatusApproved
		}
		b.last, b.alone = "", false
	}
	if b.over == "" && b.last == "" && !b.Now().Before(b.deadline) {
		b.over = models.StatusExpired
	}
}

// begin has everybody where they were at first, and a rule hold.
func (b *ballot) begin(t *rapid.T, rule ballotRule) {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	b.rule, b.signed, b.rejects, b.edit, b.last, b.over, b.alone = rule, nil, nil, "", "", "", false
	for who := range b.disabled {
		must(b.People.EnableUser(b.ctx, b.Admin, b.people[who].UserID()))
		must(b.People.SetRole(b.ctx, b.Admin, b.people[who].UserID(), models.RoleReviewer))
	}
	clear(b.disabled)
	for group, members := range map[string][]string{"finance": {"ann", "bo", "cy"}, "oncall": {"cy", "dee"}, "incident": {"eve", "ann"}} {
		for _, who := range b.groups[group] {
			must(b.People.LeaveGroup(b.ctx, b.Admin, group, b.people[who].UserID()))
		}
		for _, who := range members {
			must(b.People.JoinGroup(b.ctx, b.Admin, group, b.people[who].Name))
		}
		b.groups[group] = members
	}
	_, err := b.ApplyPolicy(b.ctx, b.Admin, []byte(`{"undo_seconds":{"medium":30},`+strings.TrimPrefix(payments(rule.text+`,"break_glass":["group:incident"]`), "{")), "", 0)
	must(err)
}

func (b *ballot) ask() (err error) {
	b.request, err = b.Ask(b.ctx, b.Agent, models.AskInput{ToolName: "payment.send", Input: []byte(`{"amount":1}`), Explicit: true, AcceptsEdits: true})
	if err == nil {
		b.deadline = b.request.ApprovalTimeoutAt
	}
	return err
}

func (b *ballot) check(t *rapid.T) {
	got, err := b.Requests.Approval(b.ctx, b.Admin, b.request.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := b.over
	if want == "" {
		want = models.StatusPending
	}
	if got.Status() != want || want == models.StatusPending && (got.HeldUntil != nil) != (b.last != "") {
		t.Fatalf("it is %s, held until %v; want %s, held by %q; signed %v", got.Status(), got.HeldUntil, want, b.last, b.signed)
	}
	if want != models.StatusPending || got.HeldUntil != nil {
		return
	}
	var able []string
	for who := range b.people {
		if b.able(who) {
			able = append(able, who)
		}
	}
	if stranded := !b.met(able); stranded != (got.StrandedAt != nil) {
		t.Fatalf("%v could sign, and it is stranded since %v", able, got.StrandedAt)
	}
}

// TestSignaturesAreCountedAsByTryingAllAssignments, whatever people do and wherever they come and go: nothing is
// released below the count, and nothing that is met waits.
func TestSignaturesAreCountedAsByTryingAllAssignments(t *testing.T) {
	t.Parallel()
	s, eve := newIncident(t, inEmergency)
	b := &ballot{
		signers: s, ctx: t.Context(), disabled: map[string]bool{},
		people: map[string]models.Actor{"ann": s.ann, "bo": s.bo, "cy": s.cy, "dee": s.dee, "eve": eve},
		groups: map[string][]string{"finance": {"ann", "bo", "cy"}, "oncall": {"cy", "dee"}, "incident": {"eve", "dee"}},
	}
	rapid.Check(t, func(rt *rapid.T) {
		b.begin(rt, storetest.Pick(rt, "rule", ballotRules))
		if err := b.ask(); err != nil {
			rt.Fatal(err)
		}
		names := []string{"ann", "bo", "cy", "dee", "eve"}
		who := func(rt *rapid.T) string { return storetest.Pick(rt, "who", names) }
		must := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"sign":      func(rt *rapid.T) { b.vote(rt, who(rt), true, b.edit) },
			"sign more": func(rt *rapid.T) { b.vote(rt, who(rt), true, b.edit) },
			"sign what was asked": func(rt *rapid.T) {
				b.vote(rt, who(rt), true, "")
			},
			"edit": func(rt *rapid.T) {
				b.vote(rt, who(rt), true, storetest.Pick(rt, "input", []string{`{"amount":2}`, `{"amount":3}`}))
			},
			"reject":      func(rt *rapid.T) { b.vote(rt, who(rt), false, "") },
			"break glass": func(rt *rapid.T) { b.breaksGlass(rt, who(rt), rapid.IntRange(0, 3).Draw(rt, "approve") > 0) },
			"take back":   func(rt *rapid.T) { b.takesBack(rt, who(rt)) },
			"wait":        func(rt *rapid.T) { b.passes(rt, time.Duration(rapid.IntRange(1, 50).Draw(rt, "seconds"))*time.Second) },
			"disable": func(rt *rapid.T) {
				one := who(rt)
				if rapid.Bool().Draw(rt, "an auditor") {
					must(b.People.SetRole(b.ctx, b.Admin, b.people[one].UserID(), models.RoleAuditor))
				} else {
					must(storetest.Err(b.People.DisableUser(b.ctx, b.Admin, b.people[one].UserID())))
				}
				b.disabled[one] = true
			},
			"enable": func(rt *rapid.T) {
				one := who(rt)
				must(b.People.EnableUser(b.ctx, b.Admin, b.people[one].UserID()))
				must(b.People.SetRole(b.ctx, b.Admin, b.people[one].UserID(), models.RoleReviewer))
				delete(b.disabled, one)
			},
			"leave": func(rt *rapid.T) {
				one, group := who(rt), storetest.Pick(rt, "group", []string{"finance", "oncall", "incident"})
				if slices.Contains(b.groups[group], one) {
					must(b.People.LeaveGroup(b.ctx, b.Admin, group, b.people[one].UserID()))
					b.groups[group] = slices.DeleteFunc(slices.Clone(b.groups[group]), func(other string) bool { return other == one })
				}
			},
			"join": func(rt *rapid.T) {
				one, group := who(rt), storetest.Pick(rt, "group", []string{"finance", "oncall", "incident"})
				if !b.disabled[one] && !slices.Contains(b.groups[group], one) {
					must(b.People.JoinGroup(b.ctx, b.Admin, group, b.people[one].Name))
					b.groups[group] = append(slices.Clone(b.groups[group]), one)
				}
			},
			"": func(rt *rapid.T) { b.check(rt) },
		})
		_, _ = b.Cancel(b.ctx, b.Admin, b.request.ID) // what waits costs each change of a group
	})
}
