package inbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages/inbox"
)

// Calls of one tool by one agent that do the same are folded, three at least, where the first one stands; what is of high
// risk or special stays in sight.
func TestInboxFoldsCallsOfOneTool(t *testing.T) {
	t.Parallel()
	held, note := gallery.Now.Add(time.Minute), models.NoteID("01890a5d-ac96-774b-bcce-b302099a8401")
	for _, tt := range []struct {
		name   string
		change func(n int, a *models.Approval)
		want   string // how many rows each entry has
	}{
		{"alike", func(int, *models.Approval) {}, "5"},
		{"another tool", func(n int, a *models.Approval) { a.ToolName += strings.Repeat("x", n/3) }, "3 1 1"},
		{"one of another tool", func(n int, a *models.Approval) { a.ToolName += strings.Repeat("x", n%2*n) }, "3 1 1"},
		{"another agent", func(n int, a *models.Approval) { a.AgentID += models.AgentID(strings.Repeat("x", n/2)) }, "1 1 1 1 1"},
		{"high risk", func(n int, a *models.Approval) { a.Risk = []models.Risk{1: "high", 4: ""}[n] }, "4 1"},
		{"another risk", func(n int, a *models.Approval) { a.Risk = []models.Risk{0: "low", 3: "low", 4: ""}[n] }, "1 3 1"},
		{"one pushes by force", func(n int, a *models.Approval) {
			if n == 2 {
				a.ToolInputJSON = `{"command":"git push --force origin main"}`
			}
		}, "4 1"},
		{"all critical", func(_ int, a *models.Approval) { a.Risk = models.RiskCritical }, "1 1 1 1 1"},
		{"one is held", func(n int, a *models.Approval) {
			if n == 4 {
				a.HeldUntil, a.Vote = &held, &models.Vote{UndoUntil: &held, At: gallery.Now}
			}
		}, "5"},
		{"one waits for an answer", func(n int, a *models.Approval) {
			if n == 1 {
				a.OpenNote = &note
			}
		}, "4 1"},
		{"one has hidden characters", func(n int, a *models.Approval) {
			if n == 0 {
				a.ToolInputJSON = "{\"command\":\"ls \u200b\"}"
			}
		}, "1 4"},
		{"questions", func(_ int, a *models.Approval) { a.Kind = models.KindQuestion }, "1 1 1 1 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rows := gallery.Many(5)
			for i := range rows {
				tt.change(i, &rows[i].Approval)
			}
			v := inbox.New(inbox.Input{Rights: gallery.Able(rows), Rows: rows}, gallery.Now)
			var got []string
			var ids []string
			for _, e := range v.Entries {
				of := []inbox.Row{e.Row}
				if e.Group != nil {
					of = e.Group.Rows
				}
				got = append(got, fmt.Sprint(len(of)))
				for _, row := range of {
					ids = append(ids, row.ID)
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			want := make([]string, 0, len(rows))
			for _, b := range rows {
				want = append(want, string(b.ID))
			}
			slices.Sort(ids)
			if !slices.Equal(ids, want) {
				t.Errorf("not each row is there once: %v", ids)
			}
		})
	}
}

// Whatever waits, each row is drawn once, a group is of one kind and hides nothing that is special, and stands where its
// first row would.
func TestAGroupHidesNothingThatIsSpecial(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rows := gallery.Many(rapid.IntRange(0, 30).Draw(rt, "rows"))
		rights := gallery.Able(rows)
		again := map[models.ResponseID]models.ResponseID{}
		for i := range rows {
			a := &rows[i].Approval
			a.ToolName = rapid.SampledFrom([]string{"Bash", "shell"}).Draw(rt, "tool")
			a.Risk = rapid.SampledFrom([]models.Risk{"low", "medium", "high"}).Draw(rt, "risk")
			if rapid.IntRange(0, 5).Draw(rt, "again") == 0 {
				again[a.ID] = a.ID
			}
			if rapid.IntRange(0, 3).Draw(rt, "others") == 0 {
				rights[a.ID] = models.Right{}
			}
		}
		v := inbox.New(inbox.Input{Rights: rights, Rows: rows, ReaskOf: again}, gallery.Now)
		seen, folds := map[string]bool{}, map[string]bool{}
		for _, row := range v.Rows {
			if seen[row.ID] {
				rt.Errorf("%s is there twice", row.ID)
			}
			seen[row.ID] = true
		}
		if len(seen) != len(rows) {
			rt.Errorf("%d of %d rows are there", len(seen), len(rows))
		}
		for _, e := range v.Entries {
			if e.Group == nil {
				continue
			}
			if fold := e.Group.Rows[0].Fold; folds[fold] || len(e.Group.Rows) < 3 {
				rt.Errorf("%d rows are a group", len(e.Group.Rows))
			} else {
				folds[fold] = true
			}
			for _, row := range e.Group.Rows {
				if row.Fold != e.Group.Rows[0].Fold || row.ReaskOf != "" || row.Risk.Text == "high risk" || row.Others != e.Group.Others {
					rt.Errorf("the group hides %+v", row)
				}
			}
		}
	})
}

// A group says the soonest deadline, whatever the order, how all of it begins, and is open for
// the request that is shown.
func TestAGroupSaysWhatIsInIt(t *testing.T) {
	t.Parallel()
	rows := gallery.Many(4)
	soonest := gallery.Now.Add(30 * time.Second)
	rows[2].ApprovalTimeoutAt = soonest
	in := inbox.Input{Rights: gallery.Able(rows), Rows: rows}
	g := inbox.New(in, gallery.Now).Entries[0].Group
	if g == nil || !g.Left.At.Equal(soonest) || g.Same != "Run: make …" || g.Count != 4 || g.Open {
		t.Fatalf("%+v", g)
	}
	in.Place.Open = rows[3].ID
	if g := inbox.New(in, gallery.Now).Entries[0].Group; !g.Open {
		t.Error("it hides the request that is shown")
	}
	in.Place.Open = ""
	gone := gallery.Settle(rows[1].Approval, models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove})
	in.Rows, in.Gone = slices.Delete(slices.Clone(rows), 1, 2), []models.Approval{gone}
	if g := inbox.New(in, gallery.Now).Entries[0].Group; g == nil || g.Count != 3 || len(g.Rows) != 4 {
		t.Errorf("a line inside of it: %+v", g)
	}
	rows[0].ToolInputJSON = `{"command":"truer"}`
	if g := inbox.New(inbox.Input{Rights: gallery.Able(rows), Rows: rows}, gallery.Now).Entries[0].Group; g.Same != "Run: …" {
		t.Errorf("they begin with %q", g.Same)
	}
}

// A character that is not seen is told of though it is in the part of a headline that is cut (I13).
func TestARowTellsOfHiddenCharactersThatItsCutLeavesOutI13(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 100)
	for _, hidden := range []string{"\u200b", "\u202e", "\U000e0041"} {
		a := gallery.Call("Bash", `{"command":"`+long+hidden+long+`"}`)
		row := inbox.New(inbox.Input{Rights: gallery.Able(gallery.Briefs(a)), Rows: gallery.Briefs(a)}, gallery.Now).Rows[0]
		if strings.Contains(row.Summary, hidden) || !row.Hidden || !row.Odd {
			t.Errorf("%+q: hidden %v, odd %v", hidden, row.Hidden, row.Odd)
		}
	}
	a := gallery.Call("Bash", `{"command":"ls"}`, func(a *models.Approval) { a.AgentName = "b\u200bot" })
	if row := inbox.New(inbox.Input{Rights: gallery.Able(gallery.Briefs(a)), Rows: gallery.Briefs(a)}, gallery.Now).Rows[0]; !row.Hidden || !row.Odd {
		t.Error("a name")
	}
	a = gallery.Call("Bash", `{"command":"`+long+`"}`)
	if row := inbox.New(inbox.Input{Rights: gallery.Able(gallery.Briefs(a)), Rows: gallery.Briefs(a)}, gallery.Now).Rows[0]; row.Hidden || row.Odd {
		t.Error("plain words")
	}
}
