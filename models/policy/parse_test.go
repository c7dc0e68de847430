package policy_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
)

// parse reads a document that must be valid.
func parse(tb testing.TB, raw string) *policy.Policy {
	tb.Helper()
	p, err := policy.Parse([]byte(raw))
	if err != nil {
		tb.Fatalf("Parse(%s): %v", raw, err)
	}
	return p
}

// rule is a document with one valid rule in which one member is replaced.
func rule(member, value string) string {
	members := map[string]string{"name": `"r"`, "tools": `["shell"]`, "effect": `"require"`}
	members[member] = value
	var parts []string
	for name, v := range members {
		parts = append(parts, fmt.Sprintf("%q:%s", name, v))
	}
	return `{"rules":[{` + strings.Join(parts, ",") + `}]}`
}

func fields(t *testing.T, err error) map[string]string {
	t.Helper()
	var e *models.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %T (%v), want *models.Error", err, err)
	}
	if e.Code != models.CodeInvalid {
		t.Errorf("code is %q, want invalid", e.Code)
	}
	return e.Fields
}

func TestParseRefusesWithThePath(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 600)
	for name, c := range map[string]struct{ raw, path, says string }{
		"nothing":               {``, "document", "JSON object"},
		"not JSON":              {`{`, "document", "wrong at byte"},
		"a list":                {`[]`, "document", "an object"},
		"null":                  {`null`, "document", "null"},
		"more behind":           {`{} {}`, "document", "JSON object"},
		"not UTF-8":             {"{\"unmatched\":\"\xff\"}", "document", "UTF-8"},
		"too large":             {strings.Repeat(" ", 1<<20) + `{}`, "document", "1024 KiB"},
		"unknown":               {`{"rulez":[]}`, "rulez", "not a member"},
		"unknown, odd name":     {`{"a\u202eb":1}`, `["a\u202eb"]`, "not a member"},
		"other case":            {`{"Approval_enabled":true}`, "Approval_enabled", "not a member"},
		"camel case":            {`{"approvalEnabled":true}`, "approvalEnabled", "not a member"},
		"twice":                 {`{"unmatched":"allow","unmatched":"require"}`, "unmatched", "twice"},
		"twice in a rule":       {`{"rules":[{"name":"a","name":"b"}]}`, "rules[0].name", "twice"},
		"unknown in a rule":     {`{"rules":[{"name":"a","tool":"x"}]}`, "rules[0].tool", "not a member"},
		"other case in a rule":  {`{"rules":[{"Name":"a"}]}`, "rules[0].Name", "not a member"},
		"null switch":           {`{"approval_enabled":null}`, "approval_enabled", "null"},
		"null list":             {`{"required_approval_tools":null}`, "required_approval_tools", "null"},
		"null in a list":        {`{"required_approval_tools":[null]}`, "required_approval_tools[0]", "null"},
		"null rules":            {`{"rules":null}`, "rules", "null"},
		"null rule":             {`{"rules":[null]}`, "rules[0]", "null"},
		"null tools":            {rule("tools", "null"), "rules[0].tools", "null"},
		"null effect":           {rule("effect", "null"), "rules[0].effect", "null"},
		"number as string":      {`{"default_timeout_minutes":"5"}`, "default_timeout_minutes", "whole number"},
		"fraction":              {`{"default_timeout_minutes":5.5}`, "default_timeout_minutes", "whole number"},
		"overflow":              {`{"default_timeout_minutes":99999999999999999999}`, "default_timeout_minutes", "whole number"},
		"string as boolean":     {`{"approval_enabled":"yes"}`, "approval_enabled", "true or false"},
		"string as list":        {rule("tools", `"shell"`), "rules[0].tools", "a list"},
		"number as tool":        {rule("tools", `["a",5]`), "rules[0].tools[1]", "a string"},
		"string as rule":        {`{"rules":["x"]}`, "rules[0]", "an object"},
		"number as timeout":     {rule("timeout_minutes", `"5"`), "rules[0].timeout_minutes", "whole number"},
		"energy below zero":     {rule("energy", `-1`), "rules[0].energy", "0 to 1000000000"},
		"energy as a fraction":  {rule("energy", `0.5`), "rules[0].energy", "whole number"},
		"increase below zero":   {`{"auto_budget_increase":-1}`, "auto_budget_increase", "0 to"},
		"increase absurd":       {`{"auto_budget_increase":1000000000001}`, "auto_budget_increase", "0 to"},
		"agent energy zero":     {`{"budget_per_agent":{"energy":0,"hours":1}}`, "budget_per_agent.energy", "1 to 1000000000000"},
		"agent energy absurd":   {`{"budget_per_agent":{"energy":1000000000001,"hours":1}}`, "budget_per_agent.energy", "1 to"},
		"agent energy missing":  {`{"budget_per_agent":{"hours":24}}`, "budget_per_agent.energy", "1 to"},
		"agent hours missing":   {`{"budget_per_agent":{"energy":5}}`, "budget_per_agent.hours", "1 to 720"},
		"agent hours too many":  {`{"budget_per_agent":{"energy":5,"hours":721}}`, "budget_per_agent.hours", "1 to 720"},
		"agent hours fraction":  {`{"budget_per_agent":{"energy":5,"hours":0.5}}`, "budget_per_agent.hours", "whole number"},
		"agent hours null":      {`{"budget_per_agent":{"energy":5,"hours":null}}`, "budget_per_agent.hours", "null"},
		"agent budget unknown":  {`{"budget_per_agent":{"energy":5,"hours":1,"days":1}}`, "budget_per_agent.days", "not a member"},
		"agent budget a number": {`{"budget_per_agent":500}`, "budget_per_agent", "an object"},
		"undo below zero":       {`{"undo_seconds":{"low":-1}}`, "undo_seconds.low", "0 to 600"},
		"undo too long":         {`{"undo_seconds":{"critical":601}}`, "undo_seconds.critical", "0 to 600"},
		"undo of another risk":  {`{"undo_seconds":{"huge":1}}`, "undo_seconds.huge", "not a member"},
		"undo null":             {`{"undo_seconds":null}`, "undo_seconds", "null"},
		"retention":             {`{"retention_days":-1}`, "retention_days", "0 to 36500"},
		"pause zero":            {`{"max_pause_minutes":0}`, "max_pause_minutes", "1 to 10080"},
		"grant hours":           {`{"grant_max_hours":0}`, "grant_max_hours", "1 to 8760"},
		"grant uses":            {`{"grant_max_uses":10001}`, "grant_max_uses", "1 to 10000"},
		"empty reject reason":   {rule("reject_reasons", `["a",""]`), "rules[0].reject_reasons[1]", "not be empty"},
		"reject reason twice":   {rule("reject_reasons", `["a","a"]`), "rules[0].reject_reasons[1]", "twice"},
		"long reject reason":    {rule("reject_reasons", `["`+long[:201]+`"]`), "rules[0].reject_reasons[0]", "200"},
		"many reject reasons":   {rule("reject_reasons", `["1","2","3","4","5","6","7","8","9","10","11","12","13"]`), "rules[0].reject_reasons", "at most 12"},
		"steps no list":         {rule("escalate", `{}`), "rules[0].escalate", "a list"},
		"step without time":     {rule("escalate", `[{"to":["a@b"]}]`), "rules[0].escalate[0].after_minutes", "1 to 1439"},
		"step without people":   {rule("escalate", `[{"after_minutes":5}]`), "rules[0].escalate[0].to", "at least one"},
		"step to a slip":        {rule("escalate", `[{"after_minutes":5,"to":["ann"]}]`), "rules[0].escalate[0].to[0]", "e-mail"},
		"step to group of none": {rule("escalate", `[{"after_minutes":5,"to":["group:"]}]`), "rules[0].escalate[0].to[0]", "name a group"},
		"steps falling":         {rule("escalate", `[{"after_minutes":5,"to":["a@b"]},{"after_minutes":5,"to":["c@b"]}]`), "rules[0].escalate[1].after_minutes", "more than the 5"},
		"step at the deadline":  {`{"rules":[{"name":"r","tools":["x"],"effect":"require","timeout_minutes":9,"escalate":[{"after_minutes":9,"to":["a@b"]}]}]}`, "rules[0].escalate[0].after_minutes", "1 to 8"},
		"step behind template":  {`{"templates":[{"name":"t","timeout_minutes":9}],"rules":[{"name":"r","tools":["x"],"effect":"require","template":"t","escalate":[{"after_minutes":9,"to":["a@b"]}]}]}`, "rules[0].escalate[0].after_minutes", "1 to 8"},
		"rule before template":  {`{"templates":[{"name":"t","escalate":[{"after_minutes":9,"to":["a@b"]}]}],"rules":[{"name":"r","tools":["x"],"effect":"require","template":"t","timeout_minutes":9}]}`, "rules[0].timeout_minutes", "more than 9"},
		"six steps":             {rule("escalate", `[{},{},{},{},{},{}]`), "rules[0].escalate", "at most 5"},
		"step with more":        {rule("escalate", `[{"after_minutes":5,"to":["a@b"],"by":"x"}]`), "rules[0].escalate[0].by", "not a member"},
		"substitutes null":      {rule("substitutes", `null`), "rules[0].substitutes", "null"},
		"unmatched deny":        {`{"unmatched":"deny"}`, "unmatched", "allow or require"},
		"unmatched empty":       {`{"unmatched":""}`, "unmatched", "allow or require"},
		"default zero":          {`{"default_timeout_minutes":0}`, "default_timeout_minutes", "1 to 1440"},
		"default over max":      {`{"max_timeout_minutes":10,"default_timeout_minutes":11}`, "default_timeout_minutes", "1 to 10"},
		"initial over max":      {`{"max_timeout_minutes":3}`, "default_timeout_minutes", "1 to 3"},
		"proposal over max":     {`{"proposal_timeout_minutes":1441}`, "proposal_timeout_minutes", "1 to 1440"},
		"proposal zero":         {`{"proposal_timeout_minutes":0}`, "proposal_timeout_minutes", "1 to 1440"},
		"max zero":              {`{"max_timeout_minutes":0}`, "max_timeout_minutes", "1 to 525600"},
		"max absurd":            {`{"max_timeout_minutes":525601}`, "max_timeout_minutes", "1 to 525600"},
		"no rule name":          {`{"rules":[{"tools":["a"],"effect":"deny"}]}`, "rules[0].name", "empty"},
		"rule name too long":    {rule("name", `"`+long[:201]+`"`), "rules[0].name", "200"},
		"rule name of ours":     {rule("name", `"unmatched"`), "rules[0].name", "uses itself"},
		"no tools":              {rule("tools", `[]`), "rules[0].tools", "at least one"},
		"no effect":             {`{"rules":[{"name":"a","tools":["a"]}]}`, "rules[0].effect", "allow, require or deny"},
		"odd effect":            {rule("effect", `"Deny"`), "rules[0].effect", "allow, require or deny"},
		"odd risk":              {rule("risk", `"huge"`), "rules[0].risk", "critical"},
		"empty risk":            {rule("risk", `""`), "rules[0].risk", "critical"},
		"rule timeout zero":     {rule("timeout_minutes", `0`), "rules[0].timeout_minutes", "1 to 1440"},
		"rule timeout over max": {rule("timeout_minutes", `1441`), "rules[0].timeout_minutes", "1 to 1440"},
		"reviewer not e-mail":   {rule("reviewers", `["a@b.org","ann"]`), "rules[0].reviewers[1]", "e-mail"},
		"reviewer with name":    {rule("reviewers", `["Ann <a@b.org>"]`), "rules[0].reviewers[0]", "e-mail"},
		"note too long":         {rule("note", `"`+strings.Repeat("n", 2001)+`"`), "rules[0].note", "2000"},
		"reason too long":       {rule("reason", `"`+strings.Repeat("n", 4001)+`"`), "rules[0].reason", "4000"},
		"empty pattern":         {rule("tools", `["a",""]`), "rules[0].tools[1]", "name or a /regular"},
		"empty regexp":          {rule("tools", `["//"]`), "rules[0].tools[0]", "between the slashes"},
		"pattern too long":      {rule("tools", `["/`+long[:499]+`/"]`), "rules[0].tools[0]", "500 bytes"},
		"bad regexp":            {rule("tools", `["/(/"]`), "rules[0].tools[0]", "missing closing )"},
		"look-ahead":            {rule("tools", `["/(?=a)/"]`), "rules[0].tools[0]", "RE2"},
		"closes a group":        {rule("tools", `["/a)|(?:b/"]`), "rules[0].tools[0]", "unexpected )"},
		"absurd repeat":         {rule("tools", `["/a{1001}/"]`), "rules[0].tools[0]", "repeat count"},
		"absurd nested repeat":  {rule("tools", `["/(a{100}){100}/"]`), "rules[0].tools[0]", "repeat count"},
		"costly repeats":        {rule("tools", `["/`+strings.Repeat("a{1000}", 5)+`/"]`), "rules[0].tools[0]", "smaller counts"},
		"flags after":           {rule("tools", `["/rm/i"]`), "rules[0].tools[0]", "flags after"},
		"glob":                  {rule("tools", `["rm*"]`), "rules[0].tools[0]", "between slashes"},
		"space around":          {rule("tools", `["rm "]`), "rules[0].tools[0]", "spaces between them"},
		"required tool":         {`{"required_approval_tools":["a","/(/"]}`, "required_approval_tools[1]", "RE2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := policy.Parse([]byte(c.raw))
			if p != nil {
				t.Fatal("a policy was returned")
			}
			got := fields(t, err)
			if len(got) != 1 || !strings.Contains(got[c.path], c.says) {
				t.Errorf("fields are %q, want only %q with %q", got, c.path, c.says)
			}
		})
	}
}

func TestParseFindsAllProblems(t *testing.T) {
	t.Parallel()
	_, err := policy.Parse([]byte(`{
		"unmatched": "deny", "default_timeout_minutes": -1, "required_approval_tools": [""],
		"rules": [
			{"name": "a", "tools": ["x"], "effect": "allow"},
			{"name": "a", "tools": ["/(/", "ok", ""], "effect": "maybe", "risk": "odd", "timeout_minutes": 9999}
		]}`))
	got := fields(t, err)
	want := []string{
		"unmatched", "default_timeout_minutes", "required_approval_tools[0]", "rules[1].name",
		"rules[1].tools[0]", "rules[1].tools[2]", "rules[1].effect", "rules[1].risk", "rules[1].timeout_minutes",
	}
	for _, path := range want {
		if got[path] == "" {
			t.Errorf("nothing is said of %s", path)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d problems, want %d: %q", len(got), len(want), got)
	}
}

// Judging runs while others wait to write, so its cost is bounded for the document
// as a whole too.
func TestParseBoundsTheCostOfAllPatterns(t *testing.T) {
	t.Parallel()
	document := func(n int) []byte {
		costly := `"/(a?b*){500}c/"`
		return []byte(`{"required_approval_tools":["x"` + strings.Repeat(","+costly, n) + `]}`)
	}
	if _, err := policy.Parse(document(20)); err != nil {
		t.Errorf("20 patterns: %v", err)
	}
	_, err := policy.Parse(document(40))
	got := fields(t, err)
	if got["required_approval_tools[40]"] == "" || got["required_approval_tools[20]"] != "" {
		t.Errorf("40 patterns: %q", got)
	}
}

func TestParseTakesWhatIsAtTheLimit(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"document of 64 KiB":    `{}` + strings.Repeat(" ", 64<<10-2),
		"pattern of 500 bytes":  rule("tools", `["/`+strings.Repeat("a", 498)+`/"]`),
		"name of 200 bytes":     rule("name", `"`+strings.Repeat("a", 200)+`"`),
		"repeat of 1000":        rule("tools", `["/[a-z]{1000}/"]`),
		"longest maximum":       `{"max_timeout_minutes":525600,"default_timeout_minutes":525600}`,
		"no proposal timeout":   `{"proposal_timeout_minutes":null}`,
		"no rule timeout":       rule("timeout_minutes", "null"),
		"tool path":             rule("tools", `["/bin/sh","mcp:files/read","a b"]`),
		"slash inside a regexp": rule("tools", `["/^\\/bin\\/i$/"]`),
		"local reviewer":        rule("reviewers", `["root@localhost"]`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parse(t, raw)
		})
	}
}

func TestFieldsThatAnOlderDocumentLacksHaveInitialValues(t *testing.T) {
	t.Parallel()
	if got := parse(t, `{}`).Document(); !reflect.DeepEqual(got, policy.Default()) {
		t.Errorf("{} gives %+v, want %+v", got, policy.Default())
	}

	want := policy.Default()
	want.Unmatched = policy.EffectRequire
	want.Rules = []policy.Rule{{Name: "r", Tools: []string{"a"}, Effect: policy.EffectDeny}}
	raw := `{"unmatched":"require","rules":[{"name":"r","tools":["a"],"effect":"deny"}]}`
	if got := parse(t, raw).Document(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}

	def := policy.Default()
	if !def.ApprovalEnabled || def.FallbackAutoApprove || def.DefaultTimeoutMinutes != 5 || def.MaxTimeoutMinutes != 1440 ||
		def.ProposalTimeoutMinutes != nil || def.Unmatched != policy.EffectAllow {
		t.Errorf("the initial document is %+v", def)
	}
}

func TestDocumentIsACopy(t *testing.T) {
	t.Parallel()
	const raw = `{"required_approval_tools":["a"],"proposal_timeout_minutes":7,
		"rules":[{"name":"r","tools":["b"],"effect":"deny","timeout_minutes":3,"reviewers":["a@b"]}]}`
	p, want := parse(t, raw), parse(t, raw).Document()
	d := p.Document()
	d.RequiredApprovalTools[0], *d.ProposalTimeoutMinutes = "x", 1
	d.Rules[0].Tools[0], d.Rules[0].Reviewers[0], *d.Rules[0].TimeoutMinutes = "x", "x", 1
	d.Rules[0].Name = "x"
	if got := p.Document(); !reflect.DeepEqual(got, want) {
		t.Errorf("the policy was changed through its copy: %+v", got)
	}
}
