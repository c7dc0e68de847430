package policy_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
)

const fullDocument = `{
  "approval_enabled": false,
  "required_approval_tools": [
    "deploy",
    "/^rm_/"
  ],
  "default_timeout_minutes": 10,
  "max_timeout_minutes": 60,
  "proposal_timeout_minutes": 30,
  "fallback_auto_approve": true,
  "unmatched": "require",
  "auto_budget_increase": 25,
  "budget_per_agent": {
    "energy": 500,
    "hours": 24
  },
  "undo_seconds": {
    "low": 0,
    "medium": 5,
    "high": 10,
    "critical": 30
  },
  "max_pause_minutes": 90,
  "grants_enabled": false,
  "grant_max_hours": 8,
  "grant_max_uses": 20,
  "rules": [
    {
      "name": "Payments",
      "note": "agreed <with> finance",
      "tools": [
        "pay"
      ],
      "effect": "require",
      "timeout_minutes": 15,
      "risk": "critical",
      "reviewers": [
        "cfo@example.com"
      ],
      "reason": "Money leaves the house.",
      "energy": 5,
      "reject_reasons": [
        "Too much",
        "Not now"
      ],
      "notify_headline": true
    }
  ]
}`

func TestMarshalIsStable(t *testing.T) {
	t.Parallel()
	out, err := parse(t, fullDocument).Document().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != fullDocument {
		t.Errorf("got\n%s\nwant\n%s", out, fullDocument)
	}

	out, err = policy.Default().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), `"proposal_timeout_minutes": null`) || !strings.Contains(string(out), `"rules": []`) {
		t.Errorf("the initial document does not show all its fields:\n%s", out)
	}
	if got := parse(t, string(out)).Document(); !reflect.DeepEqual(got, policy.Default()) {
		t.Errorf("the initial document reads back as %+v", got)
	}
}

func TestMarshalKeepsToTheLimit(t *testing.T) {
	t.Parallel()
	doc := policy.Default()
	for i := range 88_000 {
		doc.RequiredApprovalTools = append(doc.RequiredApprovalTools, fmt.Sprintf("t%06d", i))
	}
	out, err := doc.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if len(out) > policy.MaxDocument || bytes.ContainsRune(out, '\n') {
		t.Errorf("%d bytes, want the compact form", len(out))
	}
	if got := parse(t, string(out)).Document(); !reflect.DeepEqual(got, doc) {
		t.Error("the compact form reads back as another document")
	}

	doc.RequiredApprovalTools = append(doc.RequiredApprovalTools, doc.RequiredApprovalTools...)
	if _, err = doc.Marshal(); !errors.Is(err, &models.Error{Code: models.CodeInvalid}) {
		t.Errorf("a document that is too large gives %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(fullDocument))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"rules":[{"name":"a","tools":["/a|b/","x"],"effect":"allow","reviewers":[]}]}`))
	f.Add([]byte(`{"rules":[{"name":"a","tools":["/\\Qa/"],"effect":"deny","timeout_minutes":null}],"rules":[]}`))
	f.Add([]byte(`{"required_approval_tools":["/(a{9}){9}/","-","/"],"unmatched":"require"}`))
	f.Add([]byte(`{"rules":[{"name":"\u202e","tools":["/\\pL/"],"effect":"require","reason":"\ud83d\ude00"}]}`))
	f.Add([]byte(`{"approval_enabled":null,"Rules":[null]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := policy.Parse(raw)
		if err != nil {
			if len(fields(t, err)) == 0 {
				t.Fatal("an error without a path")
			}
			return
		}
		for _, kind := range []models.Kind{models.KindToolCall, models.KindQuestion} {
			p.Judge(policy.Call{Kind: kind, ToolName: "Shell-x"})
		}
		doc := p.Document()
		policy.Lint(doc)
		if changes := policy.Diff(doc, doc); len(changes) != 0 {
			t.Fatalf("a document differs from itself: %v", changes)
		}
		out, err := doc.Marshal()
		if errors.Is(err, &models.Error{Code: models.CodeInvalid}) && len(raw) > policy.MaxDocument/2 {
			return // initial values may take it over the limit
		}
		if err != nil {
			t.Fatalf("Marshal: %v", err)
		}
		again, err := policy.Parse(out)
		if err != nil {
			t.Fatalf("%s does not parse again: %v", out, err)
		}
		if !reflect.DeepEqual(again.Document(), doc) {
			t.Fatalf("%s reads back as another document", out)
		}
		twice, err := again.Document().Marshal()
		if err != nil || !bytes.Equal(out, twice) {
			t.Fatalf("Marshal is not stable: %v", err)
		}
	})
}

func TestOnlyNewInstallationsBeginWithUndo(t *testing.T) {
	t.Parallel()
	if got, want := policy.Initial().UndoSeconds, (policy.UndoSeconds{High: 5, Critical: 10}); got != want {
		t.Errorf("a new installation begins with %+v, want %+v", got, want)
	}
	if got := parse(t, `{}`).Document().UndoSeconds; got != (policy.UndoSeconds{}) {
		t.Errorf("a stored policy without the member has %+v", got)
	}
	if policy.SaysUndo([]byte(`{"unmatched":"allow"}`)) || !policy.SaysUndo([]byte(`{"undo_seconds":{}}`)) {
		t.Error("whether a document says it is misread")
	}
}
