package policy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/policy"
)

var end = time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)

// A switch counts until its end and not at it, as a deadline does, whatever is stored.
func TestASwitchEndsByItselfI3(t *testing.T) {
	t.Parallel()
	const doc = `{"approval_enabled":false,"approval_off_until":"2026-11-23T14:00:00Z","fallback_auto_approve":true,"fallback_until":"2026-11-23T14:00:00Z",
		"required_approval_tools":["pay"],"rules":[{"name":"over","tools":["/^send/"],"effect":"require"},{"name":"never","tools":["drop"],"effect":"deny"}]}`
	p := parse(t, doc)
	for _, tt := range []struct {
		name string
		at   time.Time
		off  bool
	}{
		{"a second before", end.Add(-time.Second), true},
		{"a microsecond before", end.Add(-time.Microsecond), true},
		{"at the end", end, false},
		{"a second after", end.Add(time.Second), false},
		{"in another zone", end.Add(-time.Second).In(time.FixedZone("", 3600)), true},
		{"at no time", time.Time{}, false},
	} {
		if p.GateOff(tt.at) != tt.off || p.FallbackOn(tt.at) != tt.off {
			t.Errorf("%s: gate off %v, fallback %v; want %v", tt.name, p.GateOff(tt.at), p.FallbackOn(tt.at), tt.off)
		}
		want := policy.EffectRequire
		if tt.off {
			want = policy.EffectAllow
		}
		for _, name := range []string{"pay", "send.money"} {
			call := policy.Call{Kind: models.KindToolCall, ToolName: name, At: tt.at}
			if j := p.Judge(call); j.Effect != want || (j.Cause == models.CauseGateOff) != tt.off {
				t.Errorf("%s: %s is %s (%s), want %s", tt.name, name, j.Effect, j.Cause, want)
			}
			if e := p.Explain(call); e.Judgement.Effect != want {
				t.Errorf("%s: %s is explained as %s, want %s", tt.name, name, e.Judgement.Effect, want)
			}
		}
		if j := p.Judge(policy.Call{Kind: models.KindToolCall, ToolName: "drop", At: tt.at}); j.Effect != policy.EffectDeny {
			t.Errorf("%s: what is denied is %s", tt.name, j.Effect)
		}
	}
}

// Each call of a replay is judged at its own time.
func TestReplayComparesEachCallAtItsTime(t *testing.T) {
	t.Parallel()
	on := parse(t, `{"required_approval_tools":["pay"]}`)
	off := parse(t, `{"required_approval_tools":["pay"],"approval_enabled":false,"approval_off_until":"2026-11-23T14:00:00Z"}`)
	for at, want := range map[time.Time]bool{end.Add(-time.Second): true, end: false} {
		if _, changed, judged := policy.Compare(on, off, policy.Call{Kind: models.KindToolCall, ToolName: "pay", At: at}); changed != want || !judged {
			t.Errorf("a call at %s: changed %v, want %v", at, changed, want)
		}
	}
}

func TestEndsAreChecked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ doc, path, says string }{
		"gate that is on":      {`{"approval_off_until":"2026-11-23T14:00:00Z"}`, "approval_off_until", "beside approval_enabled: false"},
		"fallback that is off": {`{"fallback_until":"2026-11-23T14:00:00Z"}`, "fallback_until", "beside fallback_auto_approve: true"},
		"null":                 {`{"approval_enabled":false,"approval_off_until":null}`, "approval_off_until", "null"},
		"no time":              {`{"approval_enabled":false,"approval_off_until":"soon"}`, "approval_off_until", "a time such as 2026-03-02T18:00:00Z"},
		"a number":             {`{"fallback_auto_approve":true,"fallback_until":60}`, "fallback_until", "a time such as"},
		"parts of a second":    {`{"fallback_auto_approve":true,"fallback_until":"2026-11-23T14:00:00.5Z"}`, "fallback_until", "whole seconds"},
	} {
		_, err := policy.Parse([]byte(tt.doc))
		if e, ok := errors.AsType[*models.Error](err); !ok || !strings.Contains(e.Fields[tt.path], tt.says) {
			t.Errorf("%s: %v, want at %s: %s", name, err, tt.path, tt.says)
		}
		d, err := policy.ReadDraft([]byte(tt.doc))
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Check(policy.Default()).Problems[tt.path]; got == "" {
			t.Errorf("%s: a draft of it has no fault at %s", name, tt.path)
		}
	}
	here := parse(t, `{"approval_enabled":false,"approval_off_until":"2026-11-23T15:00:00+01:00"}`).Document()
	if raw, err := here.Marshal(); err != nil || !strings.Contains(string(raw), `"2026-11-23T14:00:00Z"`) {
		t.Errorf("the time of another zone is stored as %s, %v", raw, err)
	}
}

// What is saved has ends that are still to come; one that passed before is taken back with
// its switch, and does not keep the document from being saved.
func TestTimely(t *testing.T) {
	t.Parallel()
	now := end.Add(-time.Hour)
	off := func(left time.Duration) policy.Document {
		d := policy.Default()
		d.ApprovalEnabled, d.ApprovalOffUntil = false, new(now.Add(left))
		return d
	}
	on := policy.Default()
	for name, tt := range map[string]struct {
		doc, before policy.Document
		wrong       string
		off         bool
	}{
		"an hour":                 {doc: off(time.Hour), before: on, off: true},
		"a minute":                {doc: off(time.Minute), before: on, off: true},
		"30 days":                 {doc: off(30 * 24 * time.Hour), before: on, off: true},
		"no end":                  {doc: func() policy.Document { d := on; d.ApprovalEnabled = false; return d }(), before: on, off: true},
		"now":                     {doc: off(0), before: on, wrong: "is in the past"},
		"past":                    {doc: off(-time.Second), before: on, wrong: "is in the past"},
		"less than a minute":      {doc: off(59 * time.Second), before: on, wrong: "less than a minute"},
		"more than 30 days":       {doc: off(30*24*time.Hour + time.Second), before: on, wrong: "more than 30 days"},
		"unchanged, to come":      {doc: off(time.Second), before: off(time.Second), off: true},
		"unchanged, past":         {doc: off(-time.Second), before: off(-time.Second)},
		"another one that passed": {doc: off(-time.Second), before: off(-2 * time.Second), wrong: "is in the past"},
	} {
		got, err := tt.doc.Timely(tt.before, now)
		e, _ := errors.AsType[*models.Error](err)
		switch {
		case tt.wrong != "" && (e == nil || !strings.Contains(e.Fields["approval_off_until"], tt.wrong)):
			t.Errorf("%s: %v, want %s", name, err, tt.wrong)
		case tt.wrong == "" && (err != nil || got.GateOff(now) != tt.off || got.ApprovalEnabled == tt.off):
			t.Errorf("%s: off %v, %v; want %v", name, got.GateOff(now), err, tt.off)
		case tt.wrong == "" && !tt.off && got.ApprovalOffUntil != nil:
			t.Errorf("%s: an end is left without its switch", name)
		}
	}
	fallback := on
	fallback.FallbackAutoApprove, fallback.FallbackUntil = true, new(now)
	if _, err := fallback.Timely(on, now); err == nil || !strings.Contains(err.(*models.Error).Fields["fallback_until"], "is in the past") {
		t.Errorf("fallback until now: %v", err)
	}
	if got, gate, fell := fallback.Ended(now); gate || !fell || got.FallbackAutoApprove || got.FallbackUntil != nil {
		t.Errorf("fallback that ended: %+v", got)
	}
}

// What the system saved at an end is like what anybody saved: a draft that does not touch the
// switch takes it over, and one that does says the switch and its end together.
func TestMergeBehindAnEnd(t *testing.T) {
	t.Parallel()
	const until, later = `,"approval_off_until":"2026-11-23T14:00:00Z"`, `,"approval_off_until":"2026-11-23T15:00:00Z"`
	const off, on = `{"approval_enabled":false`, `{"approval_enabled":true`
	for name, tt := range map[string]struct {
		base, theirs, mine, want string
		clashes                  string
	}{
		"draft that says nothing of it": {off + until, on, off + until + `,"default_timeout_minutes":9`, on + `,"default_timeout_minutes":9`, ""},
		"draft that has a later end":    {off + until, on, off + later, off + later, "approval_off_until approval_enabled"},
		"draft that has no end":         {off + until, on, off, off, "approval_enabled"},
		"draft that switched it on":     {off + until, off + later, on, on, "approval_off_until"},
		"both switched it off":          {on, off + until, off, off, "approval_off_until"},
		"both, with the same end":       {on, off + until, off + until, off + until, ""},
	} {
		doc := func(text string) policy.Document { return parse(t, text+"}").Document() }
		merged, clashes, err := policy.Merge(doc(tt.base), doc(tt.theirs), doc(tt.mine))
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, c := range clashes {
			paths = append(paths, c.Path)
		}
		got := merged.Check(policy.Default())
		if diff := policy.Diff(got.Document, doc(tt.want)); len(diff) > 0 || len(got.Problems) > 0 || strings.Join(paths, " ") != tt.clashes {
			t.Errorf("%s: %v, %v; clashes %v, want %s", name, diff, got.Problems, paths, tt.clashes)
		}
	}
}

func TestNextEnd(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]time.Time{
		`{}`:                         {},
		`{"approval_enabled":false}`: {},
		`{"approval_enabled":false,"approval_off_until":"2026-11-23T14:00:00Z"}`:                                                                      end,
		`{"fallback_auto_approve":true,"fallback_until":"2026-11-23T13:00:00Z"}`:                                                                      end.Add(-time.Hour),
		`{"approval_enabled":false,"approval_off_until":"2026-11-23T14:00:00Z","fallback_auto_approve":true,"fallback_until":"2026-11-23T13:00:00Z"}`: end.Add(-time.Hour),
	} {
		if got, ok := parse(t, doc).NextEnd(); !got.Equal(want) || ok == want.IsZero() {
			t.Errorf("%s: %s, %v", doc, got, ok)
		}
	}
}

// TestFallbackIsForToolsWithoutDenyOrHighRiskI11: whatever a rule's condition says, for the
// input is not known when a client wants to know.
func TestFallbackIsForToolsWithoutDenyOrHighRiskI11(t *testing.T) {
	t.Parallel()
	const rules = `"rules":[
 {"name":"never","tools":["format","/disk_.*/"],"effect":"deny"},
 {"name":"when","tools":["Bash"],"when":"input.command == \"rm\"","effect":"deny"},
 {"name":"free","tools":["read","late"],"effect":"allow"},
 {"name":"careful","tools":["deploy"],"effect":"require","risk":"critical"},
 {"name":"loud","tools":["mail","late"],"effect":"require","risk":"high"},
 {"name":"mild","tools":["note"],"effect":"require","risk":"medium"}],
 "templates":[{"name":"plain"},{"name":"grave","risk":"high"}],"required_approval_tools":["Write"]}`
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, on := range []bool{true, false} {
		doc := `{"fallback_auto_approve":false,` + rules
		if on {
			doc = `{"fallback_auto_approve":true,` + rules
		}
		p := parse(t, doc)
		for _, tt := range []struct {
			tool, template string
			kind           models.Kind
			want           bool
		}{
			{tool: "read", want: true},
			{tool: "note", want: true},
			{tool: "unknown", want: true},
			{tool: "Write", want: true},
			{tool: "late", want: true}, // a rule before it settles every call
			{tool: "format"},
			{tool: "disk_wipe"},
			{tool: "Bash"},
			{tool: "deploy"},
			{tool: "mail"},
			{tool: "DEPLOY"},
			{tool: "Disk_wipe"}, // similar names are held as the listed one
			{tool: "read", template: "plain", want: true},
			{tool: "read", template: "grave"},
			{tool: "read", kind: models.KindQuestion},
		} {
			if tt.kind == "" {
				tt.kind = models.KindToolCall
			}
			got := p.FallbackFor(policy.Call{Kind: tt.kind, ToolName: tt.tool, Template: tt.template, At: now})
			if got != (on && tt.want) {
				t.Errorf("on %v: %s under %q: %v", on, tt.tool, tt.template, got)
			}
		}
	}
}
