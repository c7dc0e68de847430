package agents_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/gallery"
	"countersign/views/pages/agents"
)

func TestAGrantRowSaysWhatEndedIt(t *testing.T) {
	t.Parallel()
	base := models.Grant{
		ID: "g", ToolName: "Bash", AgentName: "bot", MakerName: "Ann", Fixed: `{"a":1,"b":"x","c":null,"d":[]}`, Free: `["e"]`,
		CreatedAt: gallery.Now.Add(-time.Hour), ExpiresAt: gallery.Now.Add(time.Hour), MaxUses: 2000, Uses: 3, MakerMayDecide: true,
	}
	for name, c := range map[string]struct {
		mend          func(*models.Grant)
		state, ending string
		revocable     bool
	}{
		"live":            {func(*models.Grant) {}, "active", "1:00:00 left", true},
		"used up":         {func(g *models.Grant) { g.Uses, g.UsedAt = 2000, new(gallery.Now.Add(-time.Minute)) }, "used up", "1 min ago", false},
		"expired":         {func(g *models.Grant) { g.ExpiresAt = gallery.Now }, "expired", "just now", false},
		"revoked":         {func(g *models.Grant) { g.RevokedAt, g.RevokerName = new(gallery.Now.Add(-2*time.Second)), "Bo\u202e" }, "revoked", "2 s ago", false},
		"maker has left":  {func(g *models.Grant) { g.MakerMayDecide = false }, "no effect", "1:00:00 left", true},
		"revoked in time": {func(g *models.Grant) { g.RevokedAt, g.ExpiresAt = new(gallery.Now.Add(-time.Minute)), gallery.Now }, "revoked", "1 min ago", false},
	} {
		g := base
		c.mend(&g)
		row := agents.NewGrants(agents.GrantsInput{Grants: []models.Grant{g}}, gallery.Now).Rows[0]
		if row.State.Text != c.state || row.End.Text != c.ending || (row.RevokeURL != "") != c.revocable || row.Ended == c.revocable {
			t.Errorf("%s: %s, %s, revoke at %q", name, row.State.Text, row.End.Text, row.RevokeURL)
		}
		if strings.Contains(row.Why, "\u202e") {
			t.Errorf("%s: a hidden character in %q", name, row.Why)
		}
		if want := views.Number(g.Uses) + " of 2,000"; len(row.Fixed) != 3 || row.MoreOf != 1 || row.Uses != want {
			t.Errorf("%s: fixed %v and %d more, %s", name, row.Fixed, row.MoreOf, row.Uses)
		}
	}
}

func TestAGrantRowShowsWhatStaysAsItIs(t *testing.T) {
	t.Parallel()
	for fixed, want := range map[string]struct {
		names          []string
		whole, nothing bool
	}{
		`{}`:                                     {nil, false, true},
		`{"a":1}`:                                {[]string{"a"}, false, false},
		`[1]`:                                    {nil, true, false},
		`"x"`:                                    {nil, true, false},
		`{"a":1,"b":"` + strings.Repeat("x", 20): {[]string{"a"}, false, false}, // cut for a list
		`{"b":"` + strings.Repeat("x", 20):       {nil, true, false},
	} {
		row := agents.NewGrants(agents.GrantsInput{Grants: []models.Grant{{Fixed: fixed, Free: `[]`}}}, gallery.Now).Rows[0]
		var names []string
		for _, m := range row.Fixed {
			names = append(names, m.Name)
		}
		if !slices.Equal(names, want.names) || (row.Whole != "") != want.whole || row.Nothing != want.nothing {
			t.Errorf("%s: %+v", fixed, row)
		}
	}
}

func TestTheFormOfAGrantComesBackAsItWasFilledIn(t *testing.T) {
	t.Parallel()
	a := gallery.Call("Bash", `{"b":{"x":1},"a":"1","c":2}`)
	ticked := func(form agents.GrantForm) (out []string) {
		v := agents.NewGrantForm(agents.GrantFormInput{Approval: a, MaxHours: 24, MaxUses: 5, Form: form}, gallery.Now)
		for _, m := range v.Members {
			if m.Kept {
				out = append(out, m.Name+"="+m.Value)
			}
		}
		return out
	}
	if got := ticked(agents.GrantForm{}); !slices.Equal(got, []string{`a="1"`, `b={"x":1}`, `c=2`}) {
		t.Errorf("at first %v are ticked", got)
	}
	if got := ticked(agents.GrantForm{Sent: true, Kept: []int{1}}); !slices.Equal(got, []string{`b={"x":1}`}) {
		t.Errorf("with one kept %v are ticked", got)
	}
	first := agents.NewGrantForm(agents.GrantFormInput{Approval: a, MaxHours: 24, MaxUses: 5}, gallery.Now)
	if first.Hours.Value != "1" || first.Uses.Value != "5" || first.Uses.Max != "5" || !first.Approve {
		t.Errorf("it begins with %q hours and %q uses", first.Hours.Value, first.Uses.Value)
	}
	again := agents.NewGrantForm(agents.GrantFormInput{Approval: a, MaxHours: 24, MaxUses: 5, Form: agents.GrantForm{Sent: true, Hours: "<b>", Errors: map[string]string{"hours": "no"}}}, gallery.Now)
	if again.Hours.Value != "<b>" || again.Uses.Value != "" || again.Hours.Error != "no" {
		t.Errorf("it comes back with %+v", again.Hours)
	}
	settled := gallery.Settle(a, models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove})
	if agents.NewGrantForm(agents.GrantFormInput{Approval: settled}, gallery.Now).Approve {
		t.Error("what is settled can be approved")
	}
	late := a
	late.ApprovalTimeoutAt = gallery.Now
	if agents.NewGrantForm(agents.GrantFormInput{Approval: late}, gallery.Now).Approve {
		t.Error("what has expired can be approved")
	}
}

func TestWhatAGrantFormMeans(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 120 {
		b.WriteString(`,"m` + string(rune('a'+i/26)) + string(rune('a'+i%26)) + `":1`)
	}
	shape, err := models.ShapeOf([]byte(`{` + b.String()[1:] + `}`))
	if err != nil {
		t.Fatal(err)
	}
	all, err := agents.GrantForm{}.Fixed(shape)
	if err != nil || len(all) != 120 {
		t.Errorf("nothing sent: %d are fixed (%v)", len(all), err)
	}
	// What the page does not show cannot be left free.
	none, err := agents.GrantForm{Sent: true}.Fixed(shape)
	if err != nil || len(none) != 20 || none[0] != shape.Members[100].Name {
		t.Errorf("nothing ticked: %d are fixed (%v)", len(none), err)
	}
	for _, place := range []int{-1, 120} {
		if _, err := (agents.GrantForm{Sent: true, Kept: []int{place}}).Fixed(shape); models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("place %d: %v", place, err)
		}
	}
}

func TestHowFarAGrantWouldReachIsASentence(t *testing.T) {
	t.Parallel()
	for want, reach := range map[string]*models.GrantReach{
		"": nil,
		"There is no earlier call of this tool by this agent to compare with.": {},
		"It would not have covered the one earlier call,":                      {Sample: 1, Since: gallery.Now},
		"It would have covered the one earlier call,":                          {Sample: 1, Covered: 1, Since: gallery.Now},
		"It would have covered 7 of the last 40 calls, the oldest":             {Sample: 40, Covered: 7, Since: gallery.Now},
	} {
		v := agents.NewGrantForm(agents.GrantFormInput{Approval: gallery.Shell(), Reach: reach}, gallery.Now)
		if v.Reach != want || v.Since.IsZero() == (reach != nil && reach.Sample > 0) {
			t.Errorf("%+v: %q %s", reach, v.Reach, v.Since.Text)
		}
	}
}
