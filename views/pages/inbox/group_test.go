package inbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages/inbox"
)

// Only calls of one tool by one agent that follow one another are folded, three at least; what
// is of high risk or special stays in sight and parts them.
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
		{"another agent", func(n int, a *models.Approval) { a.AgentID += models.AgentID(strings.Repeat("x", n/2)) }, "1 1 1 1 1"},
		{"high risk", func(n int, a *models.Approval) { a.Risk = []models.Risk{1: "high", 4: ""}[n] }, "1 1 3"},
		{"all critical", func(_ int, a *models.Approval) { a.Risk = models.RiskCritical }, "1 1 1 1 1"},
		{"one is held", func(n int, a *models.Approval) {
			if n == 4 {
				a.HeldUntil, a.Vote = &held, &models.Vote{UndoUntil: &held, At: gallery.Now}
			}
		}, "4 1"},
		{"one waits for an answer", func(n int, a *models.Approval) {
			if n == 1 {
				a.OpenNote = &note
			}
		}, "1 1 3"},
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
			if !slices.EqualFunc(ids, rows, func(id string, b models.Brief) bool { return id == string(b.ID) }) {
				t.Errorf("the rows are not all there in their order: %v", ids)
			}
		})
	}
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
	rows[0].ToolInputJSON = `{"command":"true"}`
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
