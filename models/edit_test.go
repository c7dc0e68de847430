package models_test

import (
	"maps"
	"strings"
	"testing"

	"countersign/models"
)

// every has a member of each kind, numbers that no float holds, and an order and
// a layout of its own.
const every = `{ "z":"two\nlines", "n":9007199254740993, "f":1.00, "yes":true,"no":null,
 "list":[1.0,{"b":2,"a":1}], "o":{"z":1e3,"a":"\u0041"}, "hidden":"a\u202eb", "\u0061 b":"caf\u00e9 ⟨x⟩", "":"" }`

func editFields(t *testing.T, input string) []models.EditField {
	t.Helper()
	m, ok := models.EditFields([]byte(input))
	if !ok {
		t.Fatalf("cannot be taken apart: %.80s", input)
	}
	return m
}

func TestEditFieldsKeepOrderAndKind(t *testing.T) {
	t.Parallel()
	want := []struct {
		name string
		kind models.FieldKind
		text string
	}{
		{"z", models.FieldText, "two\nlines"},
		{"n", models.FieldNumber, "9007199254740993"},
		{"f", models.FieldNumber, "1.00"},
		{"yes", models.FieldBool, "true"},
		{"no", models.FieldNull, "null"},
		{"list", models.FieldList, "[\n  1.0,\n  {\n    \"b\": 2,\n    \"a\": 1\n  }\n]"},
		{"o", models.FieldObject, "{\n  \"z\": 1e3,\n  \"a\": \"\\u0041\"\n}"},
		{"hidden", models.FieldQuoted, `"a\u202eb"`},
		{"a b", models.FieldText, "café ⟨x⟩"},
		{"", models.FieldText, ""},
	}
	got := editFields(t, every)
	if len(got) != len(want) {
		t.Fatalf("%d members, want %d", len(got), len(want))
	}
	for i, m := range got {
		if m.Name != want[i].name || m.Kind() != want[i].kind || m.Text() != want[i].text {
			t.Errorf("%d: %q is %s %q, want %+v", i, m.Name, m.Kind(), m.Text(), want[i])
		}
	}
}

// I6: what nobody touched is released as it was asked for, to the byte.
func TestEditLeavesWhatWasNotTouchedI6(t *testing.T) {
	t.Parallel()
	all := editFields(t, every)
	typed := map[int]string{}
	for i, m := range all {
		typed[i] = m.Text()
	}
	for name, fields := range map[string]map[int]string{"nothing sent": nil, "all sent as shown": typed} {
		if got, problems := models.Edit([]byte(every), all, fields); string(got) != every || len(problems) > 0 {
			t.Errorf("%s: %s, %v", name, got, problems)
		}
	}
	some := maps.Clone(typed)
	some[0] = `say "hi"`
	got, problems := models.Edit([]byte(every), all, some)
	want := `{"z":"say \"hi\"","n":9007199254740993,"f":1.00,"yes":true,"no":null,"list":[1.0,{"b":2,"a":1}],"o":{"z":1e3,"a":"\u0041"},"hidden":"a\u202eb","\u0061 b":"caf\u00e9 ⟨x⟩","":""}`
	if string(got) != want || len(problems) > 0 {
		t.Errorf("one changed: %s, %v", got, problems)
	}
}

func TestEditKeepsTypes(t *testing.T) {
	t.Parallel()
	all := editFields(t, every)
	for _, c := range []struct {
		at    int
		typed string
		want  string // in the input; empty: refused
	}{
		{0, "12", `"z":"12"`},
		{0, "true", `"z":"true"`},
		{1, "9007199254740992", `"n":9007199254740992`},
		{1, " 1.50 ", `"n":1.50`},
		{1, "-0", `"n":-0`},
		{1, "1,5", ""},
		{1, "", ""},
		{1, `"1"`, ""},
		{1, "01", ""},
		{1, "1 2", ""},
		{1, "NaN", ""},
		{3, "false", `"yes":false`},
		{3, "no", ""},
		{3, "1", ""},
		{4, `"now"`, `"no":"now"`},
		{4, "7", `"no":7`},
		{4, "now", ""},
		{4, "", ""},
		{5, "[]", `"list":[]`},
		{5, "{}", ""},
		{5, "[1,", ""},
		{5, `[{"a":1,"a":2}]`, ""},
		{6, `{"a":1.0}`, `"o":{"a":1.0}`},
		{6, "[]", ""},
		{6, `{},"x":1`, ""},
		{7, `"a\u202ec"`, `"hidden":"a\u202ec"`},
		{7, "plain", ""},
		{9, "now there is something", `"":"now there is something"`},
	} {
		got, problems := models.Edit([]byte(every), all, map[int]string{c.at: c.typed})
		switch {
		case c.want == "" && (got != nil || problems[c.at] == "" || len(problems) != 1):
			t.Errorf("%d as %q was taken: %s, %v", c.at, c.typed, got, problems)
		case c.want != "" && (!strings.Contains(string(got), c.want) || len(problems) > 0):
			t.Errorf("%d as %q: %s, %v", c.at, c.typed, got, problems)
		}
	}
}

func TestEditFieldsOfWhatIsNoSmallObject(t *testing.T) {
	t.Parallel()
	many := `{"a":1`
	for i := range models.MaxEditFields {
		many += `,"` + strings.Repeat("b", i+1) + `":1`
	}
	for _, input := range []string{`{}`, `[1]`, `"a"`, `1`, ``, `{`, many + `}`, `{"a":"` + strings.Repeat("x", models.MaxEditBytes) + `"}`} {
		if m, ok := models.EditFields([]byte(input)); ok {
			t.Errorf("%.40s: %d members", input, len(m))
		}
	}
}

func FuzzEditUntouched(f *testing.F) {
	f.Add(every)
	f.Add(`{"a":"\r\n\ud83d\ude00\u0000"}`)
	f.Fuzz(func(t *testing.T, input string) {
		if _, err := models.CanonicalJSON("input", []byte(input)); err != nil {
			return
		}
		all, ok := models.EditFields([]byte(input))
		if !ok {
			return
		}
		typed := map[int]string{}
		for i, m := range all {
			typed[i] = m.Text()
			if strings.Contains(typed[i], "\r") {
				t.Errorf("a browser changes %q", typed[i])
			}
		}
		if got, problems := models.Edit([]byte(input), all, typed); string(got) != input || len(problems) > 0 {
			t.Errorf("%q became %q, %v", input, got, problems)
		}
	})
}
