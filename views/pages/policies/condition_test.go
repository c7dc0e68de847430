package policies_test

import (
	"strings"
	"testing"

	"countersign/views/gallery"
	"countersign/views/pages/pagestest"
	"countersign/views/pages/policies"
)

// An expression is shown in rows only if the rows write the same expression again.
func TestAConditionInRowsWritesTheSameExpression(t *testing.T) {
	t.Parallel()
	for source, rows := range map[string]int{
		``:                                       0,
		`input.currency == "EUR"`:                1,
		`decimal(input.amount) > decimal("100")`: 1,
		`decimal(input.amount).between("1", "5") && input.to in ["a", "b"]`:                   2,
		`decimal(input.amount) > decimal("100") && (input.a == "x" || input.b.contains("y"))`: 3,
		`command(input).deletesOutside("/tmp")`:                                               1,
		`command(input).all(c, c.program in ["npm", "go"])`:                                   1,
		`input.a == ""`: 1,
		// These rows could not be typed into fields.
		`input.to in ["a, b", "c"]`: -1,
		`input.to == " a"`:          -1,
		"input.to == \"a\\u202eb\"": -1,
		`input.amount > 100`:        -1,
		`!input.urgent`:             -1,
		`input.amount >`:            -1,
	} {
		in := policies.ConditionOf(source)
		switch {
		case rows < 0:
			if in.Mode != policies.ConditionExpression {
				t.Errorf("%s is shown as %+v", source, in)
			}
			continue
		case rows == 0:
			if in.Mode != policies.ConditionAlways {
				t.Errorf("%s is shown as %+v", source, in)
			}
			continue
		}
		built, where := in.Built()
		if got, err := built.CEL(); err != nil || got != source || len(in.Rows) != rows || len(where) != rows || in.Mode != policies.ConditionRows {
			t.Errorf("%s: %d rows write %s, %v", source, len(in.Rows), got, err)
		}
	}
}

// One group alone is joined as its rows are, and blank rows say nothing.
func TestRowsOfOneGroupAreJoinedAsTheyAre(t *testing.T) {
	t.Parallel()
	row := func(subject string, with bool) policies.ConditionRow {
		return policies.ConditionRow{Subject: subject, Operator: "is:text", Value: "x", With: with}
	}
	for _, c := range []struct {
		in   policies.ConditionInput
		want string
	}{
		{policies.ConditionInput{Rows: []policies.ConditionRow{row("tool", false), row("agent", true)}}, `tool == "x" || agent == "x"`},
		{policies.ConditionInput{Any: true, Rows: []policies.ConditionRow{row("tool", true), row("agent", true)}}, `tool == "x" && agent == "x"`},
		{policies.ConditionInput{Any: true, Rows: []policies.ConditionRow{{Operator: "is:text"}, row("agent", true)}}, `agent == "x"`},
	} {
		built, _ := c.in.Built()
		if got, err := built.CEL(); got != c.want || err != nil {
			t.Errorf("%s, %v; want %s", got, err, c.want)
		}
	}
}

// A member of a call offers the operators that fit what calls had: a number in a text is compared as a number.
func TestARowOffersWhatFitsItsMember(t *testing.T) {
	t.Parallel()
	doc := pagestest.Read(t, policies.RulePage(gallery.Frame("", "/policy"), policies.NewRuleForm(gallery.RowsRule())))
	if got := doc.Find("#c1_subject option[selected]").Text(); got != "amount: number as text in 3 of 3 calls, such as 103.50" {
		t.Errorf("the first row compares %q", got)
	}
	if n := doc.Find(`#c1_op option[value="greater:number"][selected]`).Length(); n != 1 {
		t.Error("amount is not compared as a number")
	}
	if n := doc.Find(`#c2_op option[value="greater:number"]:not([disabled])`).Length(); n != 0 {
		t.Error("a currency is offered to be compared as a number")
	}
	if got := doc.Find("#condition-findings").Text(); !strings.Contains(got, "Matches 1 of the last 3 calls.") || strings.Contains(got, "`") {
		t.Errorf("the panel says %s", got)
	}
}
