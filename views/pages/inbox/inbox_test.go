package inbox_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/gallery"
	"countersign/views/pages/inbox"
	"countersign/views/pages/pagestest"
)

func TestInboxRowSaysWhatWouldHappen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, tool, input, want string
	}{
		{"a known kind", "pay", `{"amount":120.00,"currency":"EUR","to":"ACME"}`, "Pay 120.00 EUR to ACME"},
		{"two commands do not hide behind a line break", "Bash", `{"command":"ls\nrm -rf /"}`, "Run 2 commands: ls ⏎ rm -rf /"},
		{"any tool", "x", `{ "b": 9007199254740993, "a": [1] }`, "x: b 9007199254740993, a [1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := gallery.Call(tt.tool, tt.input)
			v := inbox.New(inbox.Input{Rights: gallery.Able(gallery.Briefs(a)), Rows: gallery.Briefs(a), Count: 1}, gallery.Now)
			if got := v.Rows[0].Summary; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestInboxRowOfTheLargestInputIsShort(t *testing.T) {
	t.Parallel()
	for _, input := range []string{gallery.HugeInput(), gallery.DeepInput(), `{"command":"` + strings.Repeat("ä", 90_000) + `"}`} {
		v := inbox.New(inbox.Input{Rows: gallery.Briefs(gallery.Call("x", input))}, gallery.Now)
		if n := len(v.Rows[0].Summary); n > 1000 || n == 0 {
			t.Errorf("the line has %d bytes", n)
		}
	}
}

func TestInboxPagesFiltersAndTeaches(t *testing.T) {
	t.Parallel()
	rows := gallery.Briefs(gallery.Shell(), gallery.Question())
	place := views.InboxPlace{Conversation: gallery.ConversationID}
	v := inbox.New(inbox.Input{Rights: gallery.Able(rows), Rows: rows, Count: 12, Waiting: 240, Next: "n", Place: place}, gallery.Now)
	if v.Shown != "12 match · 240 waiting in total" || v.NextURL != views.InboxPageURL(gallery.ConversationID, "n") || v.NextLabel != "Next 2" || v.FirstURL != "" || v.Detail.Teach != nil {
		t.Errorf("%+v", v)
	}
	if chips := v.Filter.Chips; len(chips) != 1 || chips[0].Value != string(gallery.ConversationID) || chips[0].RemoveURL != "/" || v.ListURL != place.URL() || v.Filter.ClearURL != "/" || v.Count != 240 {
		t.Errorf("a conversation without title: %+v %q", v.Filter.Chips, v.ListURL)
	}
	if v.Rows[1].Risk.Text != "" || !v.Rows[1].Left.IsZero() || v.Rows[1].Kind != "Question" {
		t.Errorf("a question has no risk and no deadline: %+v", v.Rows[1])
	}
	if v := inbox.New(inbox.Input{Rights: gallery.Able(rows), Rows: rows, Count: models.StatsCap}, gallery.Now); v.Shown != "1,000+ waiting" {
		t.Errorf("a capped count: %q", v.Shown)
	}
	if v := inbox.New(inbox.Input{Place: views.InboxPlace{After: "k"}}, gallery.Now); v.Detail.Teach != nil || v.FirstURL != "/" || v.Empty.Title != "End of the list" {
		t.Errorf("an empty later page teaches: %+v", v)
	}
	v = inbox.New(inbox.Input{BaseURL: "https://sign.example", FreshToken: "csa_x", FreshAgent: "first"}, gallery.Now)
	if teach := v.Detail.Teach; teach == nil || teach.Export != "export TOKEN=csa_x" || !strings.Contains(teach.Command, `"https://sign.example/v1/approvals?wait=50s"`) || !strings.Contains(teach.Command, "toolUseId") {
		t.Errorf("%+v", teach)
	}
}

// What was not counted is not said to be nothing.
func TestInboxSaysHowFarItLooked(t *testing.T) {
	t.Parallel()
	v := inbox.New(inbox.Input{
		Rows: gallery.Briefs(gallery.Shell()), Count: 3, Cap: true, Waiting: models.StatsCap, Next: "n", ScanCount: 10_000,
		Place: views.InboxPlace{Text: "rm"},
	}, gallery.Now)
	if v.Shown != "3+ match · 1,000+ waiting in total" || v.NextLabel != "Search further" || v.CutNote != "Searched the 10,000 requests with the soonest deadlines." {
		t.Errorf("%q %q %q", v.Shown, v.NextLabel, v.CutNote)
	}
	v = inbox.New(inbox.Input{Next: "n", ScanCount: 10_000, Place: views.InboxPlace{Text: "rm"}}, gallery.Now)
	if v.Empty == nil || v.Empty.Title != "Nothing found so far" {
		t.Errorf("%+v", v.Empty)
	}
}

// All that waits can be ticked by who may decide it, for it may be rejected; what can be approved together with others
// is fewer.
func TestInboxTicksAllAndApprovesInBulkWhatMayBe(t *testing.T) {
	t.Parallel()
	held := gallery.Now.Add(time.Minute)
	note := models.NoteID("01890a5d-ac96-774b-bcce-b302099a8401")
	for _, tt := range []struct {
		name           string
		a              models.Approval
		ticks, approve bool
	}{
		{"a small call", gallery.Edit(), true, true},
		{"high risk", gallery.Call("Bash", `{"command":"ls"}`, func(a *models.Approval) { a.Risk = models.RiskHigh }), true, false},
		{"critical", gallery.Payment(), true, false},
		{"a question", gallery.Question(), true, false},
		{"kept cut", gallery.Call("Bash", `{}`, func(a *models.Approval) { a.InputBytes = new(int64(9)) }), true, false},
		{"shown in part", gallery.Call("write_file", gallery.HugeInput()), true, false},
		{"held", gallery.Call("Bash", `{}`, func(a *models.Approval) { a.HeldUntil = &held }), false, false},
		{"asked back", gallery.Call("Bash", `{}`, func(a *models.Approval) { a.OpenNote = &note }), true, false},
		{"of another system", gallery.Call("Bash", `{}`, func(a *models.Approval) { a.UpstreamID = new("u") }), true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := inbox.Input{Rows: gallery.Briefs(tt.a)}
			if row := inbox.New(in, gallery.Now).Rows[0]; row.Pick != "" {
				t.Errorf("a reader ticks %q", row.Pick)
			}
			in.Rights = map[models.ResponseID]models.Right{tt.a.ID: {Own: true}}
			row := inbox.New(in, gallery.Now).Rows[0]
			if got := row.Pick == string(tt.a.ID)+" "+tt.a.Digest; got != tt.ticks {
				t.Errorf("ticked with %q", row.Pick)
			}
			if why := inbox.NotInBulk(&tt.a, models.VerdictApprove); (why == "") != tt.approve {
				t.Errorf("approving: %q", why)
			}
			if why := inbox.NotInBulk(&tt.a, models.VerdictReject); (why == "") != tt.ticks {
				t.Errorf("rejecting: %q", why)
			}
		})
	}
}

// What a line does not say is looked at before it is approved together with others.
func TestWhatALineDoesNotSayIsLookedAtFirst(t *testing.T) {
	t.Parallel()
	recent := &models.Twin{At: gallery.Now}
	old := &models.Twin{At: gallery.Now.Add(-time.Hour)}
	long := strings.Repeat("x", 201)
	for _, tt := range []struct {
		tool, input string
		twin        *models.Twin
		reasked     bool
		want        string
	}{
		{"Bash", `{"command":"ls"}`, nil, false, ""},
		{"Bash", `{"command":"ls"}`, old, false, ""},
		{"Bash", `{"command":"ls"}`, recent, false, "It has a warning."},
		{"Bash", `{"command":"ls"}`, nil, true, "It has a warning."},
		{"Bash", `{"command":"ls","cwd":"/"}`, nil, false, ""},
		{"Bash", `{"command":"ls","timeout":5}`, nil, false, "Its summary does not show timeout."},
		{"Bash", `{"command":"ls","b\u200b":1}`, nil, false, "It has a warning."},
		{"Bash", `{"command":["ls","-l"]}`, nil, false, ""},
		{"Bash", `{"command":"` + long + `"}`, nil, false, "Its summary is cut off."},
		{"Bash", `{"command":"` + long[:200] + `"}`, nil, false, ""},
		{"x", `{}`, nil, false, ""},
		{"x", `{"a":1,"b":[true]}`, nil, false, ""},
		{"x", `{"a":"` + long + `"}`, nil, false, "Its summary is cut off."},
		{"pay", `{"amount":1,"currency":"EUR","to":"A"}`, nil, false, ""},
		{"pay", `{"amount":1,"currency":"EUR","to":"A","iban":"X"}`, nil, false, ""},
		{"pay", `{"amount":1,"currency":"EUR","to":"A","memo":"X"}`, nil, false, "Its summary does not show memo."},
		{"pay", `{"amount":1,"to":{"name":"A"}}`, nil, false, ""},
		{"send_email", `{"to":"anna@example.org","subject":"s"}`, nil, false, ""},
		{"send_email", `{"to":"anna@example.org","bcc":"drop@evil.example","subject":"s"}`, nil, false, "It is cut off in the list."},
		{"pay", `{"amount":1,"to":{"name":"A","iban":"X"}}`, nil, false, ""},
		{"edit", `{"path":"a","old_string":"x","new_string":"y"}`, nil, false, ""},
		{"read", `{"path":"a"}`, nil, false, ""},
		{"x", `{"command":"ls","a":1,"b":1,"c":1,"d":1,"e":1,"f":1}`, nil, false, "Its summary does not show d, e, f."},
		{"Bash", `{"command":"` + strings.Repeat(`l\n`, 100) + `"}`, nil, false, "Its summary is cut off. It is too long to show here."},
	} {
		a := gallery.Call(tt.tool, tt.input)
		if got := strings.Join(inbox.LookFirst(&a, tt.twin, tt.reasked), " "); got != tt.want {
			t.Errorf("%s %.60s: %q, want %q", tt.tool, tt.input, got, tt.want)
		}
	}
}

// A line stands where the request stood, and what comes next is the one behind it.
func TestInboxLinesStandWhereRequestsStood(t *testing.T) {
	t.Parallel()
	at := func(n int, id models.ResponseID) models.Approval {
		return gallery.Call("Bash", `{}`, func(a *models.Approval) {
			a.ID, a.ApprovalTimeoutAt = id, gallery.Now.Add(time.Duration(n)*time.Minute)
		})
	}
	rows := gallery.Briefs(at(1, "a"), at(3, "c"), at(4, "d"))
	gone := gallery.Settle(at(2, "b"), models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove})
	v := inbox.New(inbox.Input{Rights: gallery.Able(rows), Rows: rows, Gone: []models.Approval{gone}, Reader: models.Voter{ID: gone.Vote.UserID}}, gallery.Now)
	if len(v.Rows) != 4 || v.Rows[1].ID != "b" || v.Rows[1].Gone != "Approved by you" || v.Rows[2].Gone != "" {
		t.Errorf("%+v", v.Rows)
	}
	in := inbox.Input{Rights: gallery.Able(rows), Rows: rows, Gone: []models.Approval{gone}}
	if next := inbox.Next(in, "b", gallery.Now); next != "c" {
		t.Errorf("next is %q", next)
	}
	if next := inbox.Next(in, "d", gallery.Now); next != "a" {
		t.Errorf("after the last comes %q", next)
	}
	in.Rows, in.Gone = rows[:1], nil
	if next := inbox.Next(in, "a", gallery.Now); next != "" {
		t.Errorf("after the only one comes %q", next)
	}
}

// What the reader may approve comes first, and is gone on with first.
func TestInboxShowsWhatWaitsForOthersLast(t *testing.T) {
	t.Parallel()
	rows := gallery.Many(5)
	for i := range rows {
		rows[i].ToolName += strconv.Itoa(i) // none are folded
	}
	rights := gallery.Able(rows)
	rights[rows[0].ID], rights[rows[2].ID] = models.Right{}, models.Right{}
	in := inbox.Input{Rights: rights, Rows: rows}
	v := inbox.New(in, gallery.Now)
	var got []string
	for _, row := range v.Rows {
		got = append(got, fmt.Sprintf("%s %v", row.Tool, row.Others))
	}
	if got := strings.Join(got, ", "); got != "Bash1 false, Bash3 false, Bash4 false, Bash0 true, Bash2 true" {
		t.Error(got)
	}
	for after, want := range map[models.ResponseID]int{"": 1, rows[1].ID: 3, rows[4].ID: 1, rows[0].ID: 1} {
		if next := inbox.Next(in, after, gallery.Now); next != rows[want].ID {
			t.Errorf("after %s comes %s", after, next)
		}
	}
}

func TestInboxFragmentCarriesTheCount(t *testing.T) {
	t.Parallel()
	html := pagestest.Draw(t, inbox.Fragment(inbox.New(inbox.Input{Rows: gallery.Briefs(gallery.Shell()), Count: 12}, gallery.Now)))
	for _, want := range []string{`id="inbox"`, `hx-swap-oob="innerHTML"`, `data-count="12"`, `hx-trigger="inbox from:body throttle:250ms"`} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(html, "<html") {
		t.Error("the fragment is a page")
	}
}
