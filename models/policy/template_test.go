package policy_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/policy"
)

const payments = `{"name":"payments","risk":"critical","timeout_minutes":30,"reviewers":["fin@example.com"],"reviewers_only":true,"self_approval":"never",
 "reject_reasons":["Wrong amount"],"checklist":["The recipient is known","The amount is right"],"text":"Money leaves the account."}`

func TestWhatATemplateMayNotSay(t *testing.T) {
	t.Parallel()
	item := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	many := func(n int, entry func(i int) string) string {
		var out []string
		for i := range n {
			out = append(out, entry(i))
		}
		return strings.Join(out, ",")
	}
	number := func(i int) string { return `"` + strings.Repeat("i", i+1) + `"` }
	for name, c := range map[string]struct{ templates, path, want string }{
		"no name":       {`{}`, "templates[0].name", "must be 1 to 64 letters a-z, digits"},
		"a capital":     {`{"name":"Pay"}`, "templates[0].name", "letters a-z"},
		"a space":       {`{"name":"a b"}`, "templates[0].name", "letters a-z"},
		"a long name":   {`{"name":` + item(65) + `}`, "templates[0].name", "1 to 64"},
		"twice":         {`{"name":"a"},{"name":"a"}`, "templates[1].name", "is already the name of templates[0]"},
		"risk":          {`{"name":"a","risk":"huge"}`, "templates[0].risk", "must be low, medium, high or critical"},
		"minutes":       {`{"name":"a","timeout_minutes":0}`, "templates[0].timeout_minutes", "must be 1 to 1440 minutes"},
		"only nobody":   {`{"name":"a","reviewers_only":true}`, "templates[0].reviewers_only", "needs reviewers"},
		"no e-mail":     {`{"name":"a","reviewers":["x"]}`, "templates[0].reviewers[0]", "must be an e-mail address"},
		"self approval": {`{"name":"a","self_approval":"maybe"}`, "templates[0].self_approval", "must be allowed, not_alone or never"},
		"many reasons":  {`{"name":"a","reject_reasons":[` + many(13, number) + `]}`, "templates[0].reject_reasons", "must be at most 12"},
		"many items":    {`{"name":"a","checklist":[` + many(21, number) + `]}`, "templates[0].checklist", "must be at most 20"},
		"a long item":   {`{"name":"a","checklist":["b",` + item(201) + `]}`, "templates[0].checklist[1]", "at most 200"},
		"an empty item": {`{"name":"a","checklist":[" "]}`, "templates[0].checklist[0]", "must not be empty"},
		"an item twice": {`{"name":"a","checklist":["b","b"]}`, "templates[0].checklist[1]", "twice"},
		"a long text":   {`{"name":"a","text":` + item(2049) + `}`, "templates[0].text", "at most 2048"},
		"a hundred and one": {many(101, func(i int) string {
			return `{"name":"` + strings.Repeat("n", i%60+1) + strings.Repeat("-", i/60) + `"}`
		}), "templates", "must be at most 100"},
		"an item no text": {`{"name":"a","checklist":["b",1]}`, "templates[0].checklist[1]", "must be a string"},
		"another member":  {`{"name":"a","tools":["x"]}`, "templates[0].tools", "is not a member"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policy.Parse([]byte(`{"templates":[` + c.templates + `]}`))
			if got := models.FieldsOf(err)[c.path]; !strings.Contains(got, c.want) {
				t.Errorf("%v, want %s: %s", models.FieldsOf(err), c.path, c.want)
			}
		})
	}
	for name, c := range map[string]struct{ rule, path, want string }{
		"unknown":     {`"effect":"require","template":"refunds"`, "rules[0].template", "names no template of this policy: it has payments"},
		"under allow": {`"effect":"allow","template":"payments"`, "rules[0].template", "has no effect in a rule that says allow"},
		"under deny":  {`"effect":"deny","template":"payments"`, "rules[0].template", "has no effect in a rule that says deny"},
		"empty risk":  {`"effect":"require","risk":""`, "rules[0].risk", "must be low"},
		"disabled":    {`"effect":"require","template":"gone","disabled":true`, "rules[0].template", "names no template"},

		"items under allow": {`"effect":"allow","checklist":["b"]`, "rules[0].checklist", "has no effect in a rule that says allow"},
		"items under deny":  {`"effect":"deny","checklist":["b"]`, "rules[0].checklist", "has no effect in a rule that says deny"},
		"many items":        {`"effect":"require","checklist":[` + many(21, number) + `]`, "rules[0].checklist", "must be at most 20"},
		"a long item":       {`"effect":"require","checklist":["b",` + item(201) + `]`, "rules[0].checklist[1]", "at most 200"},
		"an item twice":     {`"effect":"require","checklist":["b","b"]`, "rules[0].checklist[1]", "twice"},
	} {
		t.Run("rule "+name, func(t *testing.T) {
			_, err := policy.Parse([]byte(`{"templates":[` + payments + `],"rules":[{"name":"r","tools":["x"],` + c.rule + `}]}`))
			if got := models.FieldsOf(err)[c.path]; !strings.Contains(got, c.want) {
				t.Errorf("%v, want %s: %s", models.FieldsOf(err), c.path, c.want)
			}
		})
	}
}

// What the rule says itself is used instead of what its template says, but for demands,
// which apply whoever makes them.
func TestARuleUnderATemplate(t *testing.T) {
	t.Parallel()
	judge := func(rule string) policy.Judgement {
		p := parse(t, `{"templates":[`+payments+`],"rules":[{"name":"r","tools":["x"],"effect":"require","template":"payments"`+rule+`}]}`)
		return p.Judge(policy.Call{Kind: models.KindToolCall, ToolName: "x"})
	}
	j := judge("")
	if j.Risk != models.RiskCritical || *j.Timeout != 30 || !slices.Equal(j.Reviewers, []string{"fin@example.com"}) || !j.ReviewersOnly || j.SelfApproval != models.SelfNever ||
		len(j.Checklist) != 2 || j.Text != "Money leaves the account." || j.Effect != policy.EffectRequire || j.AtMost != nil {
		t.Errorf("the template says nothing: %+v", j)
	}
	if j = judge(`,"checklist":["The amount is right","Finance knows"]`); !slices.Equal(j.Checklist, []string{"The amount is right", "Finance knows", "The recipient is known"}) {
		t.Errorf("items are %q", j.Checklist)
	}
	j = judge(`,"risk":"low","timeout_minutes":60,"reviewers":["cy@example.com"]`)
	if j.Risk != models.RiskLow || *j.Timeout != 60 || !slices.Equal(j.Reviewers, []string{"cy@example.com"}) || !j.ReviewersOnly || j.SelfApproval != models.SelfNever {
		t.Errorf("the rule says nothing: %+v", j)
	}
	p := parse(t, `{"templates":[`+payments+`,{"name":"slow","reject_reasons":["Too late","Wrong amount"]}],"rules":[{"name":"r","tools":["x"],"effect":"require","template":"payments","reject_reasons":["No"]}]}`)
	if got := p.RejectReasons("r", "slow"); !slices.Equal(got, []string{"No", "Wrong amount", "Too late"}) {
		t.Errorf("reasons are %q", got)
	}
	bare := parse(t, `{"rules":[{"name":"r","tools":["x"],"effect":"require"}]}`)
	if said, is := bare.Document().Rules[0].Risk, bare.Judge(policy.Call{Kind: models.KindToolCall, ToolName: "x"}).Risk; said != "" || is != models.RiskMedium {
		t.Errorf("without a template the rule says %q, and the risk is %q", said, is)
	}
	for _, word := range []string{"", "empty", "not said"} {
		if _, err := policy.Parse([]byte(`{"rules":[{"name":"r","tools":["x"],"effect":"require","risk":"` + word + `"}]}`)); models.FieldsOf(err)["rules[0].risk"] == "" {
			t.Errorf("a risk of %q is taken: %v", word, err)
		}
	}
}

func TestWhatATemplateThatAnAgentNamesDoes(t *testing.T) {
	t.Parallel()
	const templates = `"templates":[` + payments + `,{"name":"other","reviewers":["bo@example.com"],"reviewers_only":true},{"name":"seen","reviewers":["cy@example.com"],"checklist":["Read it"],"text":"Look."}]`
	only := `"reviewers":["Fin@example.com","dee@example.com"],"reviewers_only":true`
	for name, c := range map[string]struct{ rest, template, want string }{
		"nothing concerns it":      {``, "seen", "require explicit ask medium [cy@example.com] Read it"},
		"unmatched allows":         {`,"unmatched":"allow"`, "payments", "require explicit ask critical only [fin@example.com] never The recipient is known; The amount is right"},
		"a rule allows":            {`,"rules":[{"name":"r","tools":["x"],"effect":"allow","risk":"low"}]`, "seen", "require explicit ask low [cy@example.com] Read it"},
		"a rule denies":            {`,"rules":[{"name":"r","tools":["x"],"effect":"deny"}]`, "seen", "deny r medium []"},
		"the gate is off":          {`,"approval_enabled":false`, "payments", "allow explicit ask critical []"},
		"a rule names people":      {`,"rules":[{"name":"r","tools":["x"],"effect":"require","reviewers":["ann@example.com"]}]`, "seen", "require r medium [ann@example.com] Read it"},
		"a rule wants four eyes":   {`,"rules":[{"name":"r","tools":["x"],"effect":"require","self_approval":"never"}]`, "seen", "require r medium [] never Read it"},
		"only people of both":      {`,"rules":[{"name":"r","tools":["x"],"effect":"require",` + only + `}]`, "payments", "require r critical only [Fin@example.com] never The recipient is known; The amount is right"},
		"only people of neither":   {`,"rules":[{"name":"r","tools":["x"],"effect":"require",` + only + `}]`, "other", "require r medium only [] nobody"},
		"a rule has items":         {`,"rules":[{"name":"r","tools":["x"],"effect":"require","checklist":["First","Read it"]}]`, "seen", "require r medium [] First; Read it"},
		"of a like name":           {`,"rules":[{"name":"r","tools":["X"],"effect":"require","checklist":["First"]}]`, "", "require r medium [] First"},
		"of the rule's own":        {`,"rules":[{"name":"r","tools":["x"],"effect":"require","template":"payments"}]`, "seen", "require r critical only [fin@example.com] never The recipient is known; The amount is right; Read it"},
		"one that nobody has left": {`,"unmatched":"allow"`, "gone", "require explicit ask medium []"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := parse(t, `{`+templates+c.rest+`}`)
			j := p.Judge(policy.Call{Kind: models.KindToolCall, ToolName: "x", Template: c.template})
			got := string(j.Effect) + " " + j.Rule + " " + string(j.Risk)
			if j.ReviewersOnly {
				got += " only"
			}
			got += " [" + strings.Join(j.Reviewers, " ") + "]"
			if j.SelfApproval == models.SelfNever {
				got += " never"
			}
			if j.Nobody != "" {
				got += " nobody"
			}
			if len(j.Checklist) > 0 {
				got += " " + strings.Join(j.Checklist, "; ")
			}
			if got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// A question waits whatever a rule allows, so it is not its agent alone that asks a person:
// the agent gets no say in who approves.
func TestATemplateNamesNoApproversOfAQuestionI11(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"templates":[{"name":"mine","risk":"high","reviewers":["ann@example.com"]}],"rules":[{"name":"r","tools":["x"],"effect":"allow"}]}`)
	j := p.Judge(policy.Call{Kind: models.KindQuestion, ToolName: "x", Template: "mine"})
	if j.Effect != policy.EffectRequire || j.Rule != "r" || j.Risk != models.RiskHigh || len(j.Reviewers) > 0 {
		t.Errorf("%s by %q, risk %s, asks %q", j.Effect, j.Rule, j.Risk, j.Reviewers)
	}
}

// Whatever the policy says: with a template the call is never treated more laxly.
func TestATemplateOnlyMakesACallStricterI11(t *testing.T) {
	t.Parallel()
	effects := []policy.Effect{policy.EffectAllow, policy.EffectRequire, policy.EffectDeny}
	rapid.Check(t, func(t *rapid.T) {
		doc := documents().Draw(t, "document")
		raw, err := doc.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse(raw)
		if err != nil || len(doc.Templates) == 0 {
			t.Skip(err)
		}
		c := policy.Call{Kind: rapid.SampledFrom([]models.Kind{models.KindToolCall, models.KindQuestion}).Draw(t, "kind"), ToolName: rapid.SampledFrom([]string{"Bash", "pay.send", "a b", "bash"}).Draw(t, "tool"), Explicit: rapid.Bool().Draw(t, "explicit")}
		c.Facts.Input = []byte(rapid.SampledFrom([]string{`{}`, `{"a":2}`, `{"a":1,"b":2}`}).Draw(t, "input"))
		before := p.Judge(c)
		c.Template = rapid.SampledFrom(doc.Templates).Draw(t, "named").Name
		after := p.Judge(c)
		switch {
		case slices.Index(effects, after.Effect) < slices.Index(effects, before.Effect):
			t.Fatalf("%s became %s", before.Effect, after.Effect)
		case before.Effect == policy.EffectAllow && before.Cause != models.CauseGateOff && after.Effect == policy.EffectAllow && after.Cause != models.CauseGateOff:
			t.Fatal("an agent that names a template is not asked for")
		case slices.Index(models.Risks(), after.Risk) < slices.Index(models.Risks(), before.Risk):
			t.Fatalf("risk %s became %s", before.Risk, after.Risk)
		case after.Energy != before.Energy:
			t.Fatal("it costs something else")
		}
		if before.Effect != policy.EffectRequire {
			return
		}
		was, wasEnds := p.WaitMinutes(before, c.Kind)
		is, ends := p.WaitMinutes(after, c.Kind)
		switch {
		case wasEnds && (!ends || is > was):
			t.Fatalf("it waits %d minutes instead of %d", is, was)
		case before.ReviewersOnly && !after.ReviewersOnly, before.SelfApproval == models.SelfNever && after.SelfApproval != models.SelfNever:
			t.Fatal("a demand is gone")
		case before.ReviewersOnly && slices.ContainsFunc(after.Reviewers, func(who string) bool { return !slices.Contains(before.Reviewers, who) }):
			t.Fatalf("%v may approve, before %v", after.Reviewers, before.Reviewers)
		case before.Rule != policy.RuleExplicit && !slices.Equal(after.Reviewers, before.Reviewers) && !before.ReviewersOnly:
			t.Fatalf("%v are asked, before %v", after.Reviewers, before.Reviewers)
		}
		for _, item := range before.Checklist {
			if !slices.Contains(after.Checklist, item) {
				t.Fatalf("%q is not on the checklist any more", item)
			}
		}
	})
}

func TestDraftsOfTemplates(t *testing.T) {
	t.Parallel()
	d := draft(t, `{"templates":[`+payments+`],"rules":[{"name":"r","tools":["x"],"effect":"require","template":"payments"}]}`)
	d.DuplicateTemplate(0)
	d.PutTemplate(9, policy.Form{"name": "deploy", "checklist": "Tests pass\r\n\r\nSomebody is on call"})
	if got := d.TemplateNames(); !slices.Equal(got, []string{"payments", "payments-2", "deploy"}) {
		t.Errorf("names are %q", got)
	}
	if got := d.Check(policy.Default()); len(got.Problems) > 0 || !slices.Equal(got.Document.Templates[2].Checklist, []string{"Tests pass", "Somebody is on call"}) {
		t.Errorf("%+v", got)
	}
	if got := d.RulesOf("payments"); !slices.Equal(got, []int{0}) || len(d.RulesOf("deploy")) > 0 {
		t.Errorf("rules are %v", got)
	}
	d.DeleteTemplate(0)
	if got := d.Check(policy.Default()).Problems; len(got) != 1 || !strings.HasPrefix(got["rules[0].template"], "names no template") {
		t.Errorf("a template that a rule names is gone: %v", got)
	}
	wrong := draft(t, `{"templates":[{"name":"a","checklist":"b","colour":"red","timeout_minutes":"soon"}]}`)
	for _, path := range []string{"templates[0].checklist", "templates[0].colour", "templates[0].timeout_minutes"} {
		if got := wrong.Check(policy.Default()).Problems; got[path] == "" {
			t.Errorf("%s is not named: %v", path, got)
		}
	}
	if _, err := policy.ReadDraft([]byte(`{"templates":[1]}`)); models.FieldsOf(err)["templates[0]"] != "must be an object" {
		t.Errorf("%v", err)
	}
}

func TestTemplatesAreComparedAndMerged(t *testing.T) {
	t.Parallel()
	doc := func(risk, rest string) policy.Document {
		return parse(t, `{"templates":[{"name":"payments","risk":"`+risk+`","checklist":["a"]}`+rest+`]}`).Document()
	}
	ticks := func(items string) policy.Document {
		return parse(t, `{"rules":[{"name":"r","tools":["x"],"effect":"require","checklist":[`+items+`]}]}`).Document()
	}
	if got := policy.Diff(ticks(""), ticks(`"a","b"`)); !slices.Equal(got, []policy.Change{{Path: `rules["r"].checklist`, Before: "none", After: `"a", "b"`}}) {
		t.Errorf("%+v", got)
	}
	if got := policy.Diff(policy.Default(), ticks(`"a"`)); len(got) != 1 || got[0].After != `rule 1 of 1: require "x", risk medium, checklist "a"` {
		t.Errorf("%+v", got)
	}
	base := doc("high", `,{"name":"old"}`)
	changes := policy.Diff(base, doc("critical", `,{"name":"new","text":"Look."}`))
	want := []policy.Change{
		{Path: `templates["old"]`, Before: "says nothing"},
		{Path: `templates["payments"].risk`, Before: "high", After: "critical"},
		{Path: `templates["new"]`, After: `text "Look."`},
	}
	if !slices.Equal(changes, want) {
		t.Errorf("%+v", changes)
	}
	merged, clashes, err := policy.Merge(base, doc("critical", `,{"name":"old"}`), doc("high", `,{"name":"new","text":"Look."}`))
	if err != nil || len(clashes) > 0 {
		t.Fatalf("%v %v", clashes, err)
	}
	if got := policy.Diff(doc("critical", `,{"name":"new","text":"Look."}`), merged.Check(base).Document); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	_, clashes, err = policy.Merge(base, doc("critical", ""), doc("low", `,{"name":"old","text":"Kept."}`))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, c := range clashes {
		paths = append(paths, c.Path)
	}
	if !slices.Equal(paths, []string{`templates["payments"].risk`, `templates["old"]`}) {
		t.Errorf("%+v", clashes)
	}
}

func TestLintOfTemplates(t *testing.T) {
	t.Parallel()
	doc := parse(t, `{"unmatched":"require","templates":[`+payments+`,{"name":"idle","reviewers":["none@example.com"]}],"rules":[
 {"name":"r","tools":["x"],"effect":"require","template":"payments","risk":"low"},{"name":"s","tools":["y"],"effect":"require","template":"payments"}]}`).Document()
	said := map[string]string{}
	people := []policy.Person{{Email: "fin@example.com", Owns: true}, {Email: "bo@example.com", Owns: true}}
	for _, w := range policy.LintIn(doc, policy.Usage{People: people}) {
		said[w.Path] += w.Text
	}
	for path, want := range map[string]string{
		"rules[0].risk":             "The rule “r” sets the risk to low, and so lowers that of its template “payments” (critical). Leave it out to use the template's.",
		"templates[1]":              "No rule uses the template “idle”: it only applies where an agent names it. Delete it if none does.",
		"templates[1].reviewers[0]": "Nobody who may sign in has the address “none@example.com”, which the template “idle” asks. Invite that person, or name another.",
		"rules[1].self_approval":    "Requests of fin@example.com's own agents are refused under the rule “s”: nobody else may approve them. Name another reviewer.",
	} {
		if said[path] != want {
			t.Errorf("%s: %q, want %q", path, said[path], want)
		}
	}
	for _, path := range []string{"templates[0]", "rules[1].risk", "templates[0].reviewers[0]"} {
		if said[path] != "" {
			t.Errorf("%s: %q", path, said[path])
		}
	}
	stuck := doc.Unmeetable([]policy.Person{{Email: "bo@example.com", Admin: true}})
	var paths []string
	for _, w := range stuck {
		paths = append(paths, w.Path)
	}
	if !slices.Equal(paths, []string{"rules[0].reviewers", "rules[1].reviewers", "templates[0].reviewers"}) {
		t.Errorf("nobody could approve under %v", paths)
	}
}
