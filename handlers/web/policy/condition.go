package policy

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models/condition"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/pages/policies"
)

// readCondition takes the condition of a rule's form. Without its choice of how it is written, the expression counts.
func readCondition(form url.Values) policies.ConditionInput {
	in := policies.ConditionInput{Mode: form.Get("condition"), Any: form.Get("c_join") == "any"}
	for i := 1; ; i++ {
		n := "c" + strconv.Itoa(i) + "_"
		if !form.Has(n + "subject") {
			return in
		}
		row := policies.ConditionRow{
			Subject: form.Get(n + "subject"), Operator: form.Get(n + "op"), Value: form.Get(n + "value"),
			With: form.Get(n+"with") == "true",
		}
		if row.Subject != "" || row.Value != "" {
			in.Rows = append(in.Rows, row)
		}
	}
}

// writeCondition puts the condition into a rule's form as an expression. Rows that are none keep their errors; ok is
// false then.
func writeCondition(in *policies.ConditionInput, rule policy.Form) (ok bool) {
	switch in.Mode {
	case policies.ConditionAlways:
		rule["when"] = ""
	case policies.ConditionRows:
		if len(in.Rows) == 0 { // no condition at all would apply to every call
			in.Rows = []policies.ConditionRow{{Error: "Choose what to compare, or choose “Always”."}}
			return false
		}
		built, where := in.Built()
		source, err := built.CEL()
		if err == nil {
			rule["when"] = source
			return true
		}
		row, text := len(in.Rows)-1, err.Error()
		if wrong, ok := errors.AsType[*condition.RowError](err); ok {
			row, text = where[wrong.Row], wrong.Text
		}
		in.Rows[row].Error = "This row " + text + "."
		return false
	}
	return true
}

// readTools joins the tools that are ticked with those in a text, in the order that the rule had them in.
func readTools(form url.Values, text, was string) string {
	entries := slices.Clone(form["tool"])
	for entry := range strings.Lines(text) {
		if entry = strings.TrimSpace(entry); entry != "" && !slices.Contains(entries, entry) {
			entries = append(entries, entry)
		}
	}
	before := strings.Split(was, "\n")
	place := func(entry string) int {
		if i := slices.Index(before, entry); i >= 0 {
			return i
		}
		return len(before)
	}
	slices.SortStableFunc(entries, func(a, b string) int { return place(a) - place(b) })
	return strings.Join(entries, "\n")
}

// showRuleCondition draws the condition of a rule again while it is written: its rows, or what it says of real calls.
func (s *Screens) showRuleCondition(c echo.Context) error {
	if !handlers.WantsFragment(c.Request()) {
		return c.Redirect(http.StatusSeeOther, views.PolicyURL())
	}
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	form := c.Request().PostForm
	sent := readFields(form, policy.RuleFields())
	sent["tools"] = readTools(form, sent["tools"], "")
	in := policies.RuleInput{Form: sent, Condition: readCondition(form)}
	if err := s.sample(c, e, &in); err != nil {
		return err
	}
	v := policies.NewRuleForm(in).Condition
	panel := policies.ConditionFindings(v.Panel)
	if c.QueryParam("part") == "rows" {
		panel = policies.ConditionFieldRows(v)
	}
	return handlers.Render(c, http.StatusOK, panel, panel)
}

// sample reads recent calls of the rule's tools, of all tools while none is chosen. It fills in the members of their
// input, and how the condition judges each call.
func (s *Screens) sample(c echo.Context, e *editing, in *policies.RuleInput) error {
	ctx, query, chosen := c.Request().Context(), drafts.SampleQuery{}, in.Form["tools"] != ""
	if chosen {
		query.Tools = strings.Split(in.Form["tools"], "\n")
		query.Allow = in.Form["effect"] == string(policy.EffectAllow)
	}
	calls, err := drafts.New(s.Store).Samples(ctx, site.ActorOf(c), query)
	if err != nil {
		return err
	}
	inputs := calls.Inputs()
	in.Members, in.Calls = condition.Members(inputs), len(inputs)
	in.Findings.Summary = "Choose tools, to see which calls the rule is about."
	if chosen {
		in.Findings = s.judge(ctx, e, in, calls)
	}
	return nil
}

// judge says which calls the condition is true of, or why it can't be read.
func (s *Screens) judge(ctx context.Context, e *editing, in *policies.RuleInput, calls *drafts.Samples) policies.Findings {
	source := in.Form["when"]
	if in.Condition.Mode != "" {
		rule := policy.Form{"when": source}
		rows := in.Condition
		rows.Rows = slices.Clone(rows.Rows)
		if !writeCondition(&rows, rule) {
			return policies.Findings{Summary: "The conditions are not complete yet."}
		}
		source = rule["when"]
	}
	var remarks []string
	var when *condition.Condition
	if strings.TrimSpace(source) != "" {
		var err error
		if when, err = condition.Compile(source); err != nil {
			return policies.Findings{Summary: policies.WithoutCode(condition.Explain(err, source, in.Members))}
		}
		of := "of these tools"
		if tools := strings.Split(in.Form["tools"], "\n"); len(tools) == 1 {
			of = "of " + tools[0]
		}
		if text := condition.Unseen(source, of, in.Members); text != "" {
			remarks = append(remarks, text)
		}
	}
	found := calls.Judge(ctx, when, e.standing.Program.Zone())
	var matches, unjudged []policies.CallFinding
	for _, m := range found.Matches {
		matches = append(matches, callFinding(m, ""))
	}
	for _, u := range found.Unjudged {
		unjudged = append(unjudged, callFinding(u.Sample, u.Why))
	}
	total := len(found.Matches) + len(found.Others) + len(found.Unjudged)
	stopped := calls.Stopped
	if stopped == "" {
		stopped = found.Stopped
	}
	return policies.NewFindings(matches, unjudged, total, stopped, in.Form["effect"], remarks)
}

func callFinding(c *drafts.Sample, why string) policies.CallFinding {
	return policies.CallFinding{Request: c.Response(), Agent: c.Agent, Why: why}
}

// seenTools are the tools that agents asked about, the busiest first.
func seenTools(calls []drafts.Sample, seen []string) []policies.SeenTool {
	var out []policies.SeenTool
	at := map[string]int{}
	for i := range calls {
		n, known := at[calls[i].Tool]
		if !known {
			n = len(out)
			at[calls[i].Tool] = n
			out = append(out, policies.SeenTool{Name: calls[i].Tool, Newest: calls[i].Response()})
		}
		out[n].Calls++
	}
	slices.SortStableFunc(out, func(a, b policies.SeenTool) int { return b.Calls - a.Calls })
	for _, tool := range seen {
		if _, known := at[tool]; !known {
			out = append(out, policies.SeenTool{Name: tool})
		}
	}
	return out
}
