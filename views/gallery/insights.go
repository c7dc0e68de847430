package gallery

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/figures"
	"countersign/models/policy"
	"countersign/models/suggest"
	"countersign/views"
	"countersign/views/pages/insights"
	"countersign/views/pages/policies"
)

func insightsStates() []State {
	page := func(name, note string, in insights.Input) State {
		return State{Page: "insights", Name: name, Note: note, Component: insights.Page(Frame("Insights", "/insights"), insights.New(in, Now))}
	}
	year, own, nothing, wrong := InsightsInput(365, 31), InsightsInput(30, 1), InsightsInput(30, 1), InsightsInput(30, 1)
	year.Place = views.InsightsPlace{About: "tool:payment.send", From: "2025-12-01", To: "2026-11-20"}
	year.Report.Missing = 3
	theirs, calm := InsightsInput(30, 1), InsightsInput(30, 1)
	theirs.Place.About, theirs.Reader = "person:"+string(UserID), "another"
	theirs.Attention = &figures.Attention{
		Approvals: 40, Fast: 9, Within: 2 * time.Second, Chars: 1800, Streak: figures.MostDecisions,
		Hurry: figures.Hurry{End: Now.Add(-20 * time.Hour), Decisions: 34, Last: 11},
	}
	calm.Attention = &figures.Attention{Approvals: 12}
	own.Attention = &figures.Attention{Approvals: 40, Streak: 120}
	own.Oversees, own.People, own.Groups, own.Reader = false, nil, nil, UserID
	nothing.Report = &figures.Report{From: nothing.Report.From, Until: nothing.Report.Until, Missing: 1}
	wrong.Report, wrong.Place = nil, views.InsightsPlace{About: "tool:", From: "soon", To: "2026-11-20"}
	wrong.Errors = map[string]string{"about": "Choose one of the list.", "from": "Write a day such as 2026-11-20."}
	return []State{
		page(Usual, "Thirty days of all requests", InsightsInput(30, 1)),
		page("year", "Twelve months of a tool, of which three days are not summed", year),
		page("own", "A reviewer, on the requests of their agents", own),
		page("attention", "Signals in the latest decisions of a person", theirs),
		page("attention-calm", "Nothing unusual in the reader's", calm),
		page("nothing", "Nothing happened in these days", nothing),
		page("errors", "Filters that cannot be understood", wrong),
	}
}

// InsightsInput is a busy installation over so many days, in points of some days each.
func InsightsInput(days, each int) insights.Input {
	names := &figures.Names{Agents: map[string]string{}, People: map[string]string{}, Conversations: map[string]string{}}
	from := time.Date(Now.Year(), Now.Month(), Now.Day()-days+1, 0, 0, 0, 0, time.UTC)
	r := &figures.Report{From: from, Until: from.AddDate(0, 0, days)}
	for i := 0; i < days; i += each {
		p := figures.Point{From: from.AddDate(0, 0, i), Until: from.AddDate(0, 0, min(i+each, days)), Sum: insightsDay(int64(i), int64(each), names)}
		r.Points = append(r.Points, p)
		r.Total.Add(&p.Sum)
	}
	r.Offer = figures.Sum{Tools: r.Total.Tools, Rules: r.Total.Rules}
	r.Total.Left = map[string]int64{"reasons": 3}
	return insights.Input{
		Zone: time.UTC, Report: r, Names: names, Oversees: true, Reader: UserID,
		Agents: []models.Agent{{ID: "01890a5d-ac96-774b-bcce-b302099a8001", Name: "deployer"}},
		People: []models.User{{ID: UserID, Email: "bo@example.com"}}, Groups: []models.Group{{Name: "finance"}},
	}
}

// insightsDay is what happens on one of those days.
func insightsDay(day, each int64, names *figures.Names) figures.Sum {
	s, busy := figures.Sum{Decided: figures.Spread{}, Waited: figures.Spread{}}, (day*7%11+2)*each
	if day%7 >= 5 && each == 1 {
		busy = 1
	}
	for key, n := range map[string]int64{"approved reviewer": 5, "rejected reviewer": 2, "expired timeout": 1, " policy": 4, " grant": 1, "rejected policy": 1, "cancelled cancelled": 1} {
		figures.Count(&s.Outcomes, key, n*busy)
	}
	for i, name := range []string{"payment.send", "shell.run", "file.read", "(question)", "mail\u202E.send" + strings.Repeat("unbroken", 30)} {
		n := int64(5-i) * busy
		figures.AddRate(&s.Tools, name, figures.Rate{Approved: n, Rejected: n / 3, Other: n / 2})
		figures.Count(&s.EnergyOfTools, name, 40*n)
	}
	for i, name := range []string{"Payments", "", "Deletions"} {
		figures.AddRate(&s.Rules, name, figures.Rate{Approved: int64(3-i) * busy, Rejected: busy / 2, Other: busy})
	}
	for i, name := range []string{"deployer", "planner", "<b>bot</b>"} {
		id := fmt.Sprintf("01890a5d-ac96-774b-bcce-b302099a800%d", i+1)
		names.Agents[id] = name
		figures.AddRate(&s.Agents, id, figures.Rate{Approved: int64(4-i) * busy, Rejected: int64(i) * busy, Other: busy})
		figures.Count(&s.EnergyOfAgents, id, int64(900-200*i)*busy)
	}
	for i, email := range []string{"bo@example.com", "ann@example.com"} {
		id := fmt.Sprintf("01890a5d-ac96-774b-bcce-b302099a90%02d", i)
		names.People[id] = email
		figures.AddRate(&s.People, id, figures.Rate{Approved: int64(3-i) * busy, Rejected: busy})
	}
	for i := range int64(14) {
		id := fmt.Sprintf("01890a5d-ac96-774b-bcce-b302099a70%02d", i)
		names.Conversations[id] = fmt.Sprintf("Release %d", i)
		figures.Count(&s.EnergyOfConversations, id, (15-i)*busy)
		figures.Count(&s.Reasons, fmt.Sprintf("Too much for step %d.", i), (20-i)*busy/3+1)
	}
	names.Conversations["01890a5d-ac96-774b-bcce-b302099a7003"] = ""
	figures.Count(&s.Edits, "amount", 2*busy)
	figures.Count(&s.Edits, "recipient", busy)
	for i := range int64(20) {
		s.Decided[int(12+i)] += busy * (20 - i) / 6
		s.Waited[int(14+i)] += busy * (20 - i) / 5
	}
	for hour := range 10 {
		s.AddHour(int(day)%7*24+8+hour, figures.Hour{Asked: busy * int64(hour%5+1), Decided: busy * int64(hour%4)})
	}
	s.Waiting, s.Questions, s.Undone, s.Unseen = busy*9, busy/3, busy/5, busy/4
	return s
}

// suggestionsInput has one suggestion of each kind, and one that was dismissed.
func suggestionsInput() policies.SuggestionsInput {
	at := func(ago time.Duration) suggest.Example {
		return suggest.Example{ID: "0198c2de-0000-7000-8000-000000000001", At: Now.Add(-ago)}
	}
	key := func(n int) string { return strings.Repeat(strconv.Itoa(n), 64) }
	reading := suggest.Suggestion{
		Key: key(1), Kind: suggest.Allow, Holds: "reading", Agent: "planner", Tool: "Read", Risk: models.RiskMedium, Calls: 412, Open: 3, OtherTerms: 2, People: 3,
		Half: 4 * time.Second, Terms: []suggest.Term{{Part: "file_path", How: suggest.Below, Values: []string{"/srv/app"}}},
		Examples: []suggest.Example{at(2 * time.Hour), at(3 * time.Hour), at(26 * time.Hour)}, Rest: suggest.Rest{Approved: 14, Rejected: 4, Edited: 1, Other: 2, Unreadable: 3},
		Rule: policy.Rule{
			Name: "Read by planner, /srv/app", Tools: []string{"Read"}, Effect: policy.EffectAllow, Risk: models.RiskMedium, Energy: 2,
			When: `agent == "planner" && owner == "ann@example.com" && size(input) == 1 && "file_path" in input && type(input.file_path) == string && input.file_path.startsWith("/srv/app/") && !input.file_path.contains("/.") && path(input.file_path).within("/srv/app")`,
		},
	}
	commands := suggest.Suggestion{
		Key: key(2), Kind: suggest.Allow, Holds: policy.RuleExplicit, Agent: hostile, Tool: "Bash", Risk: models.RiskMedium, Calls: 60, People: 1, Half: 1500 * time.Millisecond,
		Terms:    []suggest.Term{{Part: "command", How: suggest.OneOf, Values: []string{"git status", "git log -3", "ls -la", "git diff", "go vet ./..."}}},
		Examples: []suggest.Example{at(time.Minute)},
		Rule: policy.Rule{
			Name: "Bash by builder", Tools: []string{"Bash"}, Effect: policy.EffectAllow, Risk: models.RiskMedium,
			When: `agent == "builder" && owner == "ann@example.com" && size(input) == 1 && "command" in input && input.command in ["git status", "git log -3", "ls -la", "git diff", "go vet ./..."]`,
		},
	}
	denied := suggest.Suggestion{
		Key: key(3), Kind: suggest.Deny, Holds: "payments", Agent: "buyer", Tool: "pay", Risk: models.RiskHigh, Calls: 21, People: 2, Half: time.Minute,
		Terms:    []suggest.Term{{Part: "amount", How: suggest.Between, Values: []string{"500", "900.50"}}, {Part: "to", How: suggest.Is, Values: []string{""}}},
		Examples: []suggest.Example{at(time.Hour)}, Rest: suggest.Rest{Approved: 7},
		Rule: policy.Rule{Name: "pay by buyer", Tools: []string{"pay"}, Effect: policy.EffectDeny, Risk: models.RiskHigh, When: `agent == "buyer"`, Reason: "Not without an invoice."},
	}
	checklist := suggest.Suggestion{
		Key: key(4), Kind: suggest.Checklist, Holds: "deploys", Rule: policy.Rule{Name: "deploys"}, Risk: models.RiskCritical, Calls: 38, People: 2, Half: 3 * time.Second,
		Examples: []suggest.Example{at(5 * time.Hour)},
	}
	gone := reading
	gone.Key = key(5)
	return policies.SuggestionsInput{
		Report: suggest.Report{
			Found:      []suggest.Suggestion{reading, commands, checklist, denied},
			Dismissals: []suggest.Dismissal{{Suggestion: gone, By: models.DismissedSuggestion{Note: "We want to see " + hostile, ByName: "Ann", At: Now.Add(-50 * time.Hour)}}},
			Calls:      1240, Since: Now.Add(-80 * 24 * time.Hour),
		},
		Days: 90, Now: Now,
	}
}

func suggestionsErrors() policies.SuggestionsInput {
	in := suggestionsInput()
	in.Cut, in.Calls, in.Key, in.NoteError, in.Dismissals = true, 10_000, in.Found[1].Key, "must say why, for those who wonder later", nil
	in.Notice = "This is not suggested any more: calls were decided since, or the policy has changed."
	return in
}
