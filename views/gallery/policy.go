package gallery

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/models/condition"
	"countersign/models/policy"
	"countersign/views/pages/policies"
)

func policyStates() []State {
	state := func(name, note string, page templ.Component) State {
		return State{Page: "policy", Name: name, Note: note, Component: page}
	}
	page := func(name, note string, in policies.Input) State {
		return state(name, note, policies.Page(Frame("Policy", "/policy"), policies.New(in, Now)))
	}
	kept := PolicyInput()
	kept.Draft.Revision, kept.Draft.ChangedAt, kept.Draft.Undo = 3, Now.Add(-4*time.Minute), true
	kept.Draft.Settings["unmatched"] = "require"
	kept.Draft.Rules[1]["disabled"] = "true"
	stale := PolicyInput()
	stale.Draft.Base, stale.Draft.Revision, stale.Draft.ChangedAt = 6, 2, Now.Add(-time.Hour)
	wrong := PolicyInput()
	wrong.Draft.Settings["default_timeout_minutes"], wrong.Draft.Settings["required_approval_tools"] = "soon", "Bash\n/(/"
	wrong.Draft.Notice = "Some fields are not valid yet. Correct the marked ones; your draft is kept."
	wrong.Draft.Problems = map[string]string{
		"required_approval_tools[1]": "is not a regular expression (RE2): missing closing )",
		"default_timeout_minutes":    "must be a whole number",
		"rules[2].tools":             "must list at least one tool",
		"colour":                     "is not a member of the policy; names are lower case with underscores",
	}
	open := PolicyInput()
	open.Draft.Revision, open.Draft.ChangedAt = 4, Now.Add(-time.Minute)
	open.Draft.Settings["approval_enabled"], open.Draft.Settings["approval_off_until"] = "", "2026-11-20T11:30:00Z"
	open.Draft.Settings["fallback_auto_approve"] = "true"
	openFaults := PolicyInput()
	openFaults.Draft.Notice = "Nothing is switched yet. Correct the marked fields."
	openFaults.Draft.Settings["fallback_auto_approve"], openFaults.Draft.Settings["fallback_until"] = "true", "soon"
	openFaults.Draft.Problems = map[string]string{"fallback_until": "must be a time such as 2026-03-02T18:00:00Z"}
	openFaults.Draft.Ends = map[string]policies.TypedEnd{
		"gate": {
			For: policies.UntilTime, At: "tomorrow",
			Faults: map[string]string{"at": "must be a date and a time such as 2026-11-20T11:30"},
		},
		"fallback": {
			For: policies.UntilNever, Word: "never",
			Faults: map[string]string{"word": "must be “no end”, to confirm that it has no end"},
		},
	}
	unreadable := PolicyInput()
	unreadable.Draft = &policies.DraftInput{
		Base: 7, Revision: 2, ChangedAt: Now.Add(-time.Minute), Unreadable: "rules must be a list",
	}
	reader := PolicyInput()
	reader.Draft, reader.Versions, reader.Rules, reader.Reader = nil, nil, policyRules(), models.Actor{Kind: models.ActorUser, ID: string(UserID)}
	reader.Retention = policies.Retention{} // is for admins
	at := func(section policies.Section, in policies.Input) policies.Input {
		in.Section = section
		return in
	}
	return []State{
		page(Usual, "Three rules", PolicyInput()),
		page("settings", "The settings", at(policies.Settings, PolicyInput())),
		page("versions", "Two versions", at(policies.Versions, PolicyInput())),
		page("draft", "A draft that is kept", kept),
		page("draft-versions", "A draft that is kept, beside the versions", at(policies.Versions, kept)),
		page("stale", "Another version was saved meanwhile", stale),
		page("errors", "Errors in a rule and in a member that there is not", wrong),
		page("errors-settings", "Errors at their fields", at(policies.Settings, wrong)),
		page("open", "A draft that switches the gate off for an hour, and fallback on without an end", at(policies.Settings, open)),
		page("open-errors", "An end that is no time, and one that was not confirmed", at(policies.Settings, openFaults)),
		page("empty", "No rules, with examples to begin with", emptyPolicy()),
		page("no-templates", "No templates", at(policies.Templates, PolicyInput())),
		page("unreadable", "A draft that is no document", unreadable),
		page("hostile", "Hostile and long values, and many rules", crowdedPolicy()),
		page("hostile-versions", "Many versions with hostile notes", at(policies.Versions, crowdedPolicy())),
		page("reader", "To somebody who may only read", reader),
		page("reader-settings", "The settings to somebody who may only read", at(policies.Settings, reader)),
		state("rule", "The form of one rule",
			policies.RulePage(Frame("Rule", "/policy/rules/1"), policies.NewRuleForm(ruleInput()))),
		state("rule-rows", "A rule with a condition in rows",
			policies.RulePage(Frame("Rule", "/policy/rules/1"), policies.NewRuleForm(RowsRule()))),
		state("rule-rows-errors", "A row that is not complete",
			policies.RulePage(Frame("Rule", "/policy/rules/1"), policies.NewRuleForm(rowsWrong()))),
		state("rule-errors", "A new rule that is not valid yet",
			policies.RulePage(Frame("Rule", "/policy/rules/new"), policies.NewRuleForm(wrongRule()))),
		state("template", "The form of a template that rules use",
			policies.TemplatePage(Frame("Template", "/policy/templates/1"), policies.NewTemplateForm(templateInput()))),
		state("template-errors", "A new template that is not valid yet",
			policies.TemplatePage(Frame("Template", "/policy/templates/new"), policies.NewTemplateForm(wrongTemplate(), nil))),
		page("templates", "Templates, one of which rules use", at(policies.Templates, templatesPolicy())),
		state("review", "What would open the gate is said before saving",
			policies.ReviewPage(Frame("Review your draft", "/policy/review"), policies.NewReview(ReviewInput()))),
		state("review-stale", "Somebody else saved a version meanwhile",
			policies.ReviewPage(Frame("Review your draft", "/policy/review"), policies.NewReview(staleReview()))),
		state("try", "A call, on what stands and on a draft",
			policies.TryPage(Frame("Try a call", "/policy/try"), policies.NewTry(tryInput()))),
		state("try-error", "No tool of that name can be", policies.TryPage(Frame("Try a call", "/policy/try"), policies.NewTry(policies.TryInput{
			Call: policy.Call{
				Kind: models.KindToolCall, ToolName: "rm -rf /; <b>", Facts: policy.Facts{Input: []byte(`{"amount": `)},
			}, Errors: map[string]string{
				"toolName": "may hold letters, digits, _ . : / @ - and spaces inside, nothing else",
				"input":    `must be JSON, such as {"amount": 101}`,
			},
			Draft: "Your draft is not valid yet, so it can't be tried.",
		}))),
		state("suggestions", "Rules that past decisions suggest, and one that was dismissed", policies.SuggestionsPage(Frame("Suggested rules", "/policy/suggestions"), policies.NewSuggestions(suggestionsInput()))),
		state("suggestions-none", "Nothing to suggest", policies.SuggestionsPage(Frame("Suggested rules", "/policy/suggestions"), policies.NewSuggestions(policies.SuggestionsInput{Days: 90, Now: Now}))),
		state("suggestions-errors", "One was not dismissed, for want of a note; there are more calls than are read", policies.SuggestionsPage(Frame("Suggested rules", "/policy/suggestions"), policies.NewSuggestions(suggestionsErrors()))),
		state("replay-none", "Nothing to replay", policies.ReplayPage(Frame("Replay", "/policy/replay"), policies.NewReplay(policies.ReplayInput{
			Draft: "You have no draft. Change something in the policy first: a replay compares your draft with the active version.", Now: Now,
		}))),
		state("replay-running", "A replay under way", policies.ReplayPage(Frame("Replay", "/policy/replay"), policies.NewReplay(policies.ReplayInput{
			Last: "10000", Now: Now, State: policies.ReplayState{Runs: true, Read: 4500, Of: 10000},
		}))),
		state("replay-done", "What a draft would have changed",
			policies.ReplayPage(Frame("Replay", "/policy/replay"), policies.NewReplay(replayInput()))),
		state("json", "The draft as JSON, with what is wrong",
			policies.JSONPage(Frame("The policy as JSON", "/policy/json"), policyJSON())),
		{
			Page: "policy", Name: "guide", Note: "How the policy works",
			Component: policies.GuidePage(Frame("How the policy works", "/policy/guide")),
		},
		state("version", "An older one, as stored, with what it changed",
			policies.VersionPage(Frame("Policy v6", "/policy/versions/6"), policyVersion())),
	}
}

// PolicyInput is a policy with three rules, to an admin.
func PolicyInput() policies.Input {
	settings := emptyDraft().Settings()
	settings["required_approval_tools"], settings["undo_seconds.high"], settings["undo_seconds.critical"] = "Bash\n/^git_/", "10", "30"
	settings["auto_budget_increase"] = "25"
	return policies.Input{
		Version: 7, Unmatched: policy.EffectAllow, Reader: models.Actor{Kind: models.ActorUser, ID: string(UserID), Admin: true},
		Fields: policies.Fields{
			ApprovalEnabled: true, RequiredApprovalTools: []string{"Bash", "/^git_/"}, DefaultTimeoutMinutes: 5,
		},
		Retention: policies.Retention{Days: 90, Next: 30, Begins: Now.Add(20 * time.Hour)},
		Draft: &policies.DraftInput{
			Base: 7, Zone: "Europe/Berlin", Settings: settings, Rules: policyRules(),
			Calls:    map[string]int{"Force push": 12, "Reading": 1},
			Warnings: policyRemarks(settings),
		},
		Versions: []policies.Version{
			{Version: 7, Author: "Ada Berg", At: Now.Add(-26 * time.Hour), Note: "Ask Bo about force pushes"},
			{Version: 6, Author: "operator root", At: Now.Add(-80 * time.Hour)},
		},
	}
}

// policyRemarks are what is perhaps not meant in the rules, where some tools were seen.
func policyRemarks(settings policy.Form) []policy.Warning {
	d := emptyDraft()
	d.PutSettings(settings)
	for i, rule := range policyRules() {
		d.PutRule(i, rule)
	}
	return policy.LintIn(d.Check(policy.Default()).Document,
		policy.Usage{Tools: []string{"Bash", "drop_table", "read_file", "safe " + hostile}})
}

func emptyPolicy() policies.Input {
	in := PolicyInput()
	in.Draft.Rules = nil
	return in
}

func emptyDraft() *policy.Draft {
	d, err := policy.ReadDraft([]byte("{}"))
	if err != nil {
		panic(err)
	}
	return d
}

// policyRule is what the form of a rule shows of some members.
func policyRule(members ...string) policy.Form {
	d := emptyDraft()
	form := d.Rule(0)
	for i := 0; i+1 < len(members); i += 2 {
		form[members[i]] = members[i+1]
	}
	d.PutRule(0, form)
	return d.Rule(0)
}

func policyRules() []policy.Form {
	return []policy.Form{
		policyRule("name", "Force push", "tools", "Bash", "when",
			`command(input).program == "git" && command(input).has("--force")`, "risk", "high", "timeout_minutes", "15",
			"energy", "1500", "reviewers", "bo@example.org",
			"reject_reasons", "Rebase first\nAsk in the channel", "reason", "History of a protected branch would be rewritten."),
		policyRule("name", "Reading", "note", "Harmless", "tools", "/read_.*/\nls", "effect", "allow"),
		policyRule("name", "Never", "tools", "/^drop_/", "effect", "deny", "reason", "Not here."),
	}
}

func ruleInput() policies.RuleInput {
	return policies.RuleInput{
		Was: "Force push", Base: 7, Revision: 3, Form: policyRules()[0],
		People:    []string{"ada@example.com", "bo@example.org"},
		Seen:      &policy.Usage{Tools: []string{"Bash", "bash", "Read", "payment.send"}},
		Tools:     seenTools(),
		Condition: policies.ConditionOf(policyRules()[0]["when"]),
	}
}

func seenTools() []policies.SeenTool {
	call := func(tool, input string) *models.Response {
		return &models.Response{ID: "01890a5d-ac96-774b-bcce-b302099a8059", Kind: models.KindToolCall, ToolName: tool, ToolInputJSON: input}
	}
	return []policies.SeenTool{
		{Name: "Bash", Calls: 208, Newest: call("Bash", `{"command":"npm ci && npm test"}`)},
		{Name: "payment.send", Calls: 3, Newest: call("payment.send", `{"amount":"103.50","currency":"EUR","to":"ACME"}`)},
		{Name: hostile, Calls: 1, Newest: call("x", `{"a":1}`)},
		{Name: "Read"},
	}
}

// RowsRule is a rule whose condition is written in rows, beside the calls that it matches.
func RowsRule() policies.RuleInput {
	in := ruleInput()
	in.Was, in.Form = "Payments over 100 EUR", policyRule("name", "Payments over 100 EUR", "tools", "payment.send", "risk", "high",
		"timeout_minutes", "60", "reviewers", "group:finance\nada@example.com", "when",
		`decimal(input.amount) > decimal("100") && (input.currency == "EUR" || input.to.name.startsWith("safe"))`)
	in.People = append([]string{"group:finance", "group:oncall"}, in.People...)
	in.Condition = policies.ConditionOf(in.Form["when"])
	in.Calls = 3
	in.Members = condition.Members([][]byte{
		[]byte(`{"amount":"103.50","currency":"EUR","to":{"name":"ACME"}}`), []byte(`{"amount":"20","currency":"EUR"}`),
		[]byte(`{"amount":"5000","currency":"USD","to":{"name":"Bo"},"urgent":true}`),
	})
	newest := policies.CallFinding{Request: seenTools()[1].Newest, Agent: "deployer " + hostile}
	unclear := newest
	unclear.Why = "the member `to` is missing"
	in.Findings = policies.NewFindings([]policies.CallFinding{newest}, []policies.CallFinding{unclear}, 3, "", "require",
		[]string{"No call of payment.send had `vat`; they have `amount`, `currency`, `to`."})
	return in
}

// rowsWrong has a row that is not complete.
func rowsWrong() policies.RuleInput {
	in := RowsRule()
	in.Notice = "Some fields are not valid yet. Correct the marked ones; your draft is kept."
	in.Condition.Rows[0].Value, in.Condition.Rows[0].Error = "5 EUR", "This row needs a number, such as 100.50."
	in.Findings = policies.Findings{Summary: "The conditions are not complete yet."}
	return in
}

func wrongRule() policies.RuleInput {
	in := policies.RuleInput{
		New: true, Index: 3, Base: 7,
		Form: policyRule("name", "", "tools", "/(/\n"+hostile, "timeout_minutes", "soon", "reviewers",
			strings.Repeat("long", 40)+"@example.org\nbo"),
		Notice: "Some fields are not valid yet. Correct the marked ones; your draft is kept.",
	}
	in.Problems = map[string]string{
		"rules[3].name": "must not be empty", "rules[3].tools[0]": "is not a regular expression (RE2): missing closing )",
		"rules[3].timeout_minutes": "must be a whole number",
		"rules[3].reviewers[1]":    "must be an e-mail address such as ann@example.com",
		"rules[3].Risk":            "is not a member of the policy; names are lower case with underscores",
	}
	return in
}

// ReviewInput is a draft that opens the gate.
func ReviewInput() policies.ReviewInput {
	before, after := policy.Default(), policy.Default()
	before.Unmatched = policy.EffectRequire
	after.ApprovalEnabled, after.FallbackAutoApprove, after.RetentionDays = false, true, 30
	after.ApprovalOffUntil = new(Now.Add(time.Hour))
	after.Unmatched = policy.EffectRequire
	after.RequiredApprovalTools = []string{"deploy"}
	after.Rules = []policy.Rule{{
		Name: "Payments", Tools: []string{"/^pay/"}, Effect: policy.EffectRequire, Risk: models.RiskHigh,
	}}
	replayed := replayInput().State.Tally
	return policies.ReviewInput{
		Base: 7, Standing: 7, Revision: 3, Before: before, After: after,
		Warnings: policy.Lint(after),
		Replay:   &replayed, Now: Now,
		Removal: &policies.Removal{
			Days: 30, Rows: 12345, AtLeast: true, Text: "3", Error: "must be 30, to confirm that contents are removed",
		},
	}
}

func staleReview() policies.ReviewInput {
	in := ReviewInput()
	in.Base, in.By = 6, "Bo "+hostile
	in.Began, in.Before = in.After, in.After
	in.Before.DefaultTimeoutMinutes = 10
	in.Before.Rules = slices.Clone(in.Began.Rules)
	in.Before.Rules[0].Risk = models.RiskCritical
	in.After.Rules = append(slices.Clone(in.Began.Rules), policy.Rule{
		Name: "No " + hostile, Tools: []string{"drop " + hostile}, When: `tool == "` + hostile + `"`, Effect: policy.EffectDeny,
		Reason: "Not " + hostile,
	})
	in.After.Rules[0].Risk = models.RiskLow
	in.Clashes = []policy.Clash{{Path: `rules["Payments"].risk`, Base: "high", Theirs: "critical", Mine: "low"}}
	return in
}

// tryInput is a call that the draft treats in another way.
func tryInput() policies.TryInput {
	parsed := func(doc policy.Document) *policy.Policy {
		raw, err := doc.Marshal()
		if err != nil {
			panic(err)
		}
		p, err := policy.Parse(raw)
		if err != nil {
			panic(err)
		}
		return p
	}
	stands, draft := policy.Default(), policy.Default()
	draft.Rules = []policy.Rule{
		{Name: "Reading", Tools: []string{"Read"}, Effect: policy.EffectAllow, Risk: models.RiskLow},
		{
			Name: strings.Repeat("unbroken", 20), Tools: []string{"x"}, Effect: policy.EffectDeny, Risk: models.RiskLow,
			Disabled: true,
		},
		{
			Name: "Small payments", Tools: []string{"/payment\\..*/"}, When: `input.amount < 10`, Effect: policy.EffectAllow,
			Risk: models.RiskLow,
		},
		{
			Name: "Payments", Tools: []string{"/^payment\\./"}, When: `input.amount > 100`, Effect: policy.EffectRequire,
			Risk: models.RiskHigh, TimeoutMinutes: new(60), Reviewers: []string{"bo@example.org"},
			SelfApproval: models.SelfNever,
		},
	}
	return policies.TryInput{
		Call: policy.Call{
			Kind: models.KindToolCall, ToolName: "payment.send",
			At: time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC), Facts: policy.Facts{
				Agent: "claude-code", Owner: "ann@example.com", Conversation: "invoices-march",
				Input: []byte(`{"amount": 101, "to": "ACME"}`),
			},
		}, Request: "01890a5d-ac96-774b-bcce-b302099a8059",
		Trial: []policies.Tried{
			{Title: "v7, which is active", Policy: parsed(stands)}, {Title: "Your draft", Policy: parsed(draft)},
		},
	}
}

// replayInput is a replay that found something, of names that are long or would deceive.
func replayInput() policies.ReplayInput {
	tally := policy.Tally{Calls: 986, Unjudged: 14}
	waits := policy.Outcome{
		Effect: policy.EffectRequire, Rule: "Payments over 100", Terms: "risk high, 60 min, asks finance@example.com",
	}
	runs := policy.Outcome{Effect: policy.EffectAllow, Rule: policy.RuleUnmatched}
	shifts := []policy.Shift{
		{Old: runs, New: waits},
		{Old: waits, New: policy.Outcome{Effect: policy.EffectDeny, Rule: strings.Repeat("unbroken", 20)}},
		{
			Old: waits,
			New: policy.Outcome{
				Effect: policy.EffectRequire, Rule: "Payments " + hostile,
				Terms: "risk critical, only " + strings.Repeat("long", 30) + "@example.org",
			},
		},
	}
	in := policies.ReplayInput{Last: "1000", Since: "2026-01-31", Now: Now, Errors: map[string]string{}}
	for i, s := range shifts {
		for n := range 4 * (3 - i) {
			tally.Add("payment.send", s, true, true)
			if n == 0 {
				in.State.Changes = append(in.State.Changes,
					policies.ReplayChange{
						Shift: s, ID: "01890a5d-ac96-774b-bcce-b302099a8059", Tool: "payment.send", Who: "claude " + hostile,
						At: Now.Add(-time.Duration(i+1) * time.Hour),
					})
			}
		}
	}
	in.State.Tally, in.State.Ended, in.State.Oldest, in.State.Total, in.State.Stale = tally, Now, Now.Add(-72*time.Hour), 24, true
	return in
}

func policyJSON() policies.JSON {
	return policies.NewJSON(7, 4, "{\n  \"default_timeout_minutes\": \"soon\",\n  \"colour\": \"red\"\n}", "Some fields are not valid yet. Your draft is kept.", map[string]string{
		"default_timeout_minutes": "must be a whole number",
		"colour":                  "is not a member of the policy; names are lower case with underscores",
	})
}

func policyVersion() policies.Document {
	return policies.NewDocument(policies.DocumentInput{
		Version: PolicyInput().Versions[1], Document: []byte(`{"approval_enabled":true,"rules":[]}`), Before: 5,
		Was: policy.Document{Unmatched: policy.EffectAllow}, Is: policy.Document{Unmatched: policy.EffectRequire}, Newest: 61,
	}, Now)
}

// crowdedPolicy has many rules and versions, named as badly as can be.
func crowdedPolicy() policies.Input {
	in := PolicyInput()
	rules := in.Draft.Rules
	rules[0] = policyRule("name", strings.Repeat("unbroken", 15), "tools", "Bash", "risk", "high", "reason", hostile,
		"note", strings.Repeat("at length ", 40))
	rules[1] = policyRule("name", "Reading", "tools", "/read_.*/\nls\n/"+strings.Repeat("unbroken", 25)+"/\n"+hostile,
		"effect", "allow")
	rules[2] = policyRule("name", "Never", "tools", "/^drop_/", "effect", "deny", "reviewers",
		strings.Repeat("long", 40)+"@example.org\n<b>@example.org")
	for i := range 40 {
		rules = append(rules, policyRule("name", "Rule "+strconv.Itoa(i), "tools", "tool_"+strconv.Itoa(i), "risk", "low"))
		in.Versions = append(in.Versions,
			policies.Version{Version: int64(100 - i), Author: hostile, At: Now, Note: strings.Repeat("unbroken", 20)})
	}
	in.Draft.Rules = rules
	return in
}

// policyProposalStates are what the admins who agree to a change of the policy see, and others.
func policyProposalStates() []State {
	page := func(name, note string, change func(*policies.ProposalInput)) State {
		in := ProposalInput()
		change(&in)
		return State{Page: "proposed-policy", Name: name, Note: note, Component: policies.ProposalPage(Frame("Proposed policy", "/policy"), policies.NewProposal(in))}
	}
	waitsAlone := func(in *policies.ProposalInput) {
		in.Proposal.AloneAt, in.Proposal.AloneBy = new(Now.Add(-10*time.Minute)), UserID
		in.Proposal.AloneName, in.Proposal.AloneReason = "Ada Berg", "The others are on a ship until Monday. "+hostile
	}
	proposed := PolicyInput()
	proposed.Proposal, proposed.SavedBy = ProposalInput().Proposal, 2
	rejected := PolicyInput()
	ended := *ProposalInput().Proposal
	ended.Outcome, ended.EndedName, ended.EndedText = models.ProposalRejected, "Ada Berg", "Not before the audit. "+hostile
	rejected.Proposal, rejected.SavedBy, rejected.Reader = &ended, 2, models.Actor{Kind: models.ActorUser, ID: string(ended.ByID), Admin: true}
	review := ReviewInput()
	review.Admins, review.Removal = 2, nil
	behind := review
	behind.Waiting = "Bo " + hostile
	return []State{
		page(Usual, "To an admin who has not agreed yet", func(*policies.ProposalInput) {}),
		page("agreed", "To one who has", func(in *policies.ProposalInput) {
			in.Proposal.SignedJSON = models.PolicySigned{Admins: []models.PersonRef{{ID: UserID, Name: "Ada Berg"}}}.JSON()
		}),
		page("own", "To who proposed it", func(in *policies.ProposalInput) {
			in.Proposal.ByID, in.Proposal.SignedJSON = UserID, models.PolicySigned{Admins: []models.PersonRef{{ID: UserID, Name: "Ada Berg"}}}.JSON()
		}),
		page("editor", "To a policy editor who proposed it", func(in *policies.ProposalInput) {
			in.Proposal.ByID, in.Reader.Admin, in.Reader.PolicyEditor = UserID, false, true
		}),
		page("alone", "To one who waits to save it alone", waitsAlone),
		page("alone-over", "The time is over", func(in *policies.ProposalInput) {
			waitsAlone(in)
			in.Proposal.AloneAt = new(Now.Add(-2 * time.Hour))
		}),
		page("wrong", "A reason is too short, and one is missing", func(in *policies.ProposalInput) {
			in.Step, in.Reason, in.Errors = policies.StepAlone, "now", map[string]string{"reason": "must have at least 20 letters: why can't it wait for the others?"}
		}),
		page("stale", "Another version was saved meanwhile", func(in *policies.ProposalInput) { in.Standing = 8 }),
		page("none", "No change is proposed", func(in *policies.ProposalInput) { in.Proposal = nil }),
		{Page: "proposed-policy", Name: "on-policy", Note: "The policy, while a change is proposed", Component: policies.Page(Frame("Policy", "/policy"), policies.New(proposed, Now))},
		{Page: "proposed-policy", Name: "rejected", Note: "The policy, to whose proposal was rejected", Component: policies.Page(Frame("Policy", "/policy"), policies.New(rejected, Now))},
		{Page: "proposed-policy", Name: "review", Note: "A draft that takes two admins", Component: policies.ReviewPage(Frame("Review", "/policy/review"), policies.NewReview(review))},
		{Page: "proposed-policy", Name: "review-behind", Note: "The same, while another proposal waits", Component: policies.ReviewPage(Frame("Review", "/policy/review"), policies.NewReview(behind))},
	}
}

// ProposalInput is a proposal to which one of three admins has agreed, shown to another.
func ProposalInput() policies.ProposalInput {
	review := ReviewInput()
	review.Before.PolicyApprovals, review.After.PolicyApprovals = 3, 2
	bo := models.PersonRef{ID: "01890a5d-ac96-774b-bcce-b302099a8202", Name: "Bo\u202E Lind"}
	return policies.ProposalInput{
		Proposal: &models.PolicyProposal{
			ID: 1, Digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", Note: "Payments need a person. " + hostile, Base: 7,
			ByID: bo.ID, ByName: bo.Name, At: Now.Add(-2 * time.Hour), SignedJSON: models.PolicySigned{Admins: []models.PersonRef{bo}}.JSON(),
		},
		Reader: models.Actor{Kind: models.ActorUser, ID: string(UserID), Admin: true}, Standing: 7,
		Before: review.Before, After: review.After, Warnings: policy.Lint(review.After), Replay: review.Replay, Now: Now,
	}
}
