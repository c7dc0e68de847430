package requests_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"countersign/models"
	"countersign/views"
	"countersign/views/gallery"
	"countersign/views/pages/budgets"
	"countersign/views/pages/inbox"
	"countersign/views/pages/pagestest"
	"countersign/views/pages/requests"
)

func TestGauge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		b             models.Budget
		value, most   string
		text, warning string
		tone          views.Tone
		limited       bool
	}{
		{name: "unlimited", b: models.Budget{Used: 1234}, text: "1,234 used; no limit", tone: views.ToneNeutral},
		{name: "fresh", b: models.Budget{Total: new(int64(1000))}, value: "0", most: "1000", text: "0 used, 1,000 remaining of 1,000", tone: views.ToneGood, limited: true},
		{name: "reserved", b: models.Budget{Total: new(int64(100)), Used: 60, Reserved: 19}, value: "79", most: "100", text: "60 used, 19 reserved, 21 remaining of 100", tone: views.ToneGood, limited: true},
		{name: "four fifths", b: models.Budget{Total: new(int64(100)), Used: 60, Reserved: 20}, value: "80", most: "100", text: "60 used, 20 reserved, 20 remaining of 100", warning: "80% used or reserved", tone: views.ToneWarn, limited: true},
		{name: "exhausted", b: models.Budget{Total: new(int64(100)), Used: 100}, value: "100", most: "100", text: "100 used, 0 remaining of 100", warning: "Exhausted", tone: views.ToneBad, limited: true},
		{name: "set below what is used", b: models.Budget{Total: new(int64(50)), Used: 70}, value: "50", most: "50", text: "70 used, 0 remaining of 50", warning: "Exhausted", tone: views.ToneBad, limited: true},
		{name: "nothing allowed", b: models.Budget{Total: new(int64(0))}, value: "1", most: "1", text: "0 used, 0 remaining of 0", warning: "Exhausted", tone: views.ToneBad, limited: true},
		{name: "the largest", b: models.Budget{Total: new(int64(models.MaxBudget)), Used: models.MaxBudget - 1}, value: "999999999999", most: "1000000000000", text: "999,999,999,999 used, 1 remaining of 1,000,000,000,000", warning: "99%", tone: views.ToneWarn, limited: true},
	} {
		g := budgets.NewGauge(tt.b)
		if g.HasLimit != tt.limited || g.Used != tt.value || g.Most != tt.most || g.Text != tt.text || g.Tone != tt.tone {
			t.Errorf("%s: %+v", tt.name, g)
		}
		if !strings.Contains(g.Warning, tt.warning) || (g.Warning == "") != (tt.warning == "") {
			t.Errorf("%s warns %q, want %q", tt.name, g.Warning, tt.warning)
		}
	}
}

func TestBudgetPresets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		total *int64
		want  string
	}{
		{"none", nil, "=10 =50 =100"},
		{"some", new(int64(75)), "+10 +50 +100 +75"},
		{"zero", new(int64(0)), "+10 +50 +100"},
		{"nearly the most", new(int64(models.MaxBudget - 60)), "+10 +50"},
		{"the most", new(int64(models.MaxBudget)), ""},
	} {
		v := budgets.NewPanel(budgets.PanelInput{Conversation: gallery.Talk(func(c *models.ConversationView) { c.EnergyBudget = tt.total })}, gallery.Now)
		got := make([]string, 0, len(v.Presets))
		for _, p := range v.Presets {
			got = append(got, p.Value)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, s, tt.want)
		}
	}
}

func TestBurnChartDrawsSteps(t *testing.T) {
	t.Parallel()
	points := []models.EnergyPoint{
		{Sequence: 10, At: gallery.Now, Used: 0},
		{Sequence: 20, At: gallery.Now, Used: 50, Budget: new(int64(100))},
		{Sequence: 30, At: gallery.Now, Used: 100, Budget: new(int64(50))},
	}
	c := budgets.NewBurnChart(points, models.Budget{Total: new(int64(50)), Used: 100}, gallery.Now)
	if c.Line != "M8.0 142.0H320.0V75.0H632.0V8.0" || c.Budget != "M320.0 8.0H632.0V75.0" || c.Area != c.Line+"V142.0H8.0Z" {
		t.Errorf("used %s, budget %s, area %s", c.Line, c.Budget, c.Area)
	}
	if c.Top != "100" || c.First != "no. 10" || c.Last != "no. 30" || c.Says != "Energy used: 0 at entry 10, 100 at entry 30, of a budget of 50." {
		t.Errorf("%+v", c)
	}
	if len(c.Rows) != 3 || c.Rows[0].Budget != "none" || c.Rows[2].Used != "100" || c.Gap != "" {
		t.Errorf("%+v", c.Rows)
	}
	if c := budgets.NewBurnChart(nil, models.Budget{}, gallery.Now); !c.Empty {
		t.Error("a chart of nothing is drawn")
	}
	if c := budgets.NewBurnChart(points[:1], models.Budget{}, gallery.Now); c.Line != "M8.0 142.0H632.0" || c.Budget != "" {
		t.Errorf("one point: %s, %s", c.Line, c.Budget)
	}
}

func TestBurnChartTableIsThinned(t *testing.T) {
	t.Parallel()
	points := make([]models.EnergyPoint, 199)
	for i := range points {
		points[i] = models.EnergyPoint{Sequence: int64(i + 1), At: gallery.Now, Used: int64(i)}
	}
	c := budgets.NewBurnChart(points, models.Budget{}, gallery.Now)
	if len(c.Rows) != 51 || c.Rows[50].Sequence != "199" || c.Gap == "" {
		t.Errorf("%d rows, the last %+v, %q", len(c.Rows), c.Rows[len(c.Rows)-1], c.Gap)
	}
}

// What was spent on is all accounted for: the rest is said too.
func TestBudgetRequestSaysWhatWasSpentOn(t *testing.T) {
	t.Parallel()
	in := requests.Input{Approval: gallery.Wish(150), Substitution: models.ActingPage{Right: gallery.Own}}
	gallery.Knows(&in)
	v := requests.New(in, gallery.Now)
	sum := 0
	for _, row := range v.Ask.Spent {
		n, err := strconv.Atoi(row.Energy)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if sum != 62 || v.Ask.Spent[0].On != "Bash" || v.Ask.Spent[1].On != "Replies" || v.Ask.Spent[6].On != "2 other items" {
		t.Errorf("%d of 62: %+v", sum, v.Ask.Spent)
	}
	if !strings.HasPrefix(v.Title, "Set the budget to 150.") || v.Ask.Sum != "150" || v.Form.Sum != "150" || v.EditJSON != "" || len(v.Warnings) != 0 {
		t.Errorf("%+v", v)
	}
	in.Budget.Used += 1_200
	in.Shares = append(in.Shares, models.EnergyShare{Before: 8_001, Energy: 1_190})
	rows := requests.New(in, gallery.Now).Ask.Spent
	want := []requests.SpentRow{{On: "Other model calls", Energy: "19"}, {On: "All before entry 8,001", Energy: "1,190"}}
	if got := rows[len(rows)-2:]; !slices.Equal(got, want) || rows[6].On != "2 other items" {
		t.Errorf("of a long conversation: %+v, want %+v at the end", rows, want)
	}
	if v := pagestest.Request(gallery.Wish(150)); v.Ask == nil || v.Ask.Known || len(v.Ask.Spent) != 0 {
		t.Error("whom it was only routed to is told of the conversation's budget")
	}
}

// What a proposal would like is part of its approval, and the button says so; what a person
// has sent stays.
func TestProposalOffersItsBudget(t *testing.T) {
	t.Parallel()
	in := requests.Input{Approval: gallery.Plan(), Substitution: models.ActingPage{Right: gallery.Own}}
	gallery.Knows(&in)
	v := requests.New(in, gallery.Now)
	if v.Offer == nil || v.Offer.Wish != "120" || v.Offer.Stands != "100" || v.Form.NewBudget != "120" || !v.Form.SetBudget {
		t.Errorf("%+v %+v", v.Offer, v.Form)
	}
	html := pagestest.Draw(t, requests.Panel(v))
	if _, button, _ := strings.Cut(html, `data-act="approve"`); !strings.Contains(button[:strings.Index(button, "</button>")], " data-sets>120</span>") {
		t.Error("the button that approves does not name the budget that it sets")
	}
	in.Form = requests.DecideForm{Sent: true, NewBudget: "90"}
	if f := requests.New(in, gallery.Now).Form; f.SetBudget || f.NewBudget != "90" {
		t.Errorf("a budget that a person did not tick is ticked: %+v", f)
	}
	source, rendered := strings.Index(html, "# Delete old logs"), strings.Index(html, "<h3>Delete old logs</h3>")
	if source < 0 || rendered < source {
		t.Errorf("source at %d, layout at %d", source, rendered)
	}
	if v := pagestest.Request(gallery.Plan()); v.Offer != nil || strings.Contains(pagestest.Draw(t, requests.Panel(v)), "new_budget") {
		t.Error("whom it was only routed to may change the budget")
	}
	if v := pagestest.Request(gallery.Shell()); v.Offer != nil || v.Ask != nil {
		t.Error("a tool call offers a budget")
	}
}

// A proposal that is too long to be laid out is shown once, all of it.
func TestLongProposalIsShownOnce(t *testing.T) {
	t.Parallel()
	html := pagestest.Draw(t, requests.Panel(pagestest.Request(gallery.Plan(func(a *models.Approval) { a.Content = strings.Repeat("at length ", 2000) }))))
	_, shown, _ := strings.Cut(html, "</header>") // the title says its beginning and end
	shown, _, _ = strings.Cut(shown, ">Details<")
	if n := strings.Count(shown, "at length"); n != 2000 || strings.Contains(html, "laid-out") {
		t.Errorf("%d times, want 2000, and no layout", n)
	}
}

func TestSummariesOfProposalsAndBudgets(t *testing.T) {
	t.Parallel()
	v := inbox.New(inbox.Input{Rows: gallery.Briefs(gallery.Plan(), gallery.Wish(1500)), Count: 2}, gallery.Now)
	if r := v.Rows[0]; r.Kind != "Proposal" || !strings.HasPrefix(r.Summary, "Proposal: # Delete old logs ⏎") || r.Risk.Text != "" {
		t.Errorf("%+v", r)
	}
	if r := v.Rows[1]; r.Kind != "Budget request" || r.Summary != `Set the budget to 1500. The agent says: "62 of 100 units of energy are spent, and the next response needs 40."` {
		t.Errorf("%+v", r)
	}
}
