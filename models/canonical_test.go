package models_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/models"
)

func digest(t *testing.T, input string) string {
	t.Helper()
	c, err := models.Canonical(models.KindToolCall, "Bash", []byte(input))
	if err != nil {
		t.Fatalf("%s: %v", input, err)
	}
	return models.Digest(c)
}

func TestTheDigestIsOfWhatIsSaidNotOfHowItIsWritten(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{`{"a":1,"b":[true,null]}`, ` { "b" : [ true , null ] , "a" : 1 } `},
		{`{"a":"\u0041\/é"}`, `{"a":"A/\u00e9"}`},
		{`{"x":{"b":1,"a":2}}`, `{"x":{"a":2,"b":1}}`},
	} {
		if digest(t, same[0]) != digest(t, same[1]) {
			t.Errorf("%s and %s have different digests", same[0], same[1])
		}
	}
	for _, other := range [][2]string{
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`},
		{`{"n":1}`, `{"n":1.0}`},
		{`{"n":1}`, `{"n":"1"}`},
		{`[1,2]`, `[2,1]`},
		{`{"a":"x"}`, "{\"a\":\"x\u200b\"}"},
		{`{"a":"é"}`, "{\"a\":\"e\u0301\"}"},
	} {
		if digest(t, other[0]) == digest(t, other[1]) {
			t.Errorf("%s and %s have one digest", other[0], other[1])
		}
	}
}

func TestTheDigestCoversKindAndTool(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, c := range []struct {
		kind models.Kind
		tool string
	}{{models.KindToolCall, "a"}, {models.KindToolCall, "b"}, {models.KindQuestion, "a"}, {models.KindToolCall, `a","x":"`}} {
		canonical, err := models.Canonical(c.kind, c.tool, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := seen[models.Digest(canonical)]; ok {
			t.Errorf("%v has the digest of %s", c, before)
		}
		seen[models.Digest(canonical)] = string(canonical)
	}
}

func TestInputThatCouldBeReadTwoWaysIsRefused(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{
		"duplicate members":          `{"a":1,"a":2}`,
		"duplicates by escape":       `{"a":1,"\u0061":2}`,
		"duplicate members deep":     `{"x":[{"a":1,"a":2}]}`,
		"lone surrogate":             `"\ud800"`,
		"invalid UTF-8":              "\"\xff\"",
		"two values":                 `1 2`,
		"nothing":                    ``,
		"half an object":             `{"a":`,
		"65 levels":                  strings.Repeat("[", 65) + strings.Repeat("]", 65),
		"a million unclosed levels":  strings.Repeat("[", 1_000_000),
		"a byte order mark":          "\ufeff{}",
		"comments":                   `{} // no`,
		"a number with leading zero": `01`,
	} {
		if _, err := models.CanonicalJSON("input", []byte(input)); models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("%s: %v, want it refused", name, err)
		}
	}
	if _, err := models.CanonicalJSON("input", []byte(strings.Repeat("[", 64)+strings.Repeat("]", 64))); err != nil {
		t.Errorf("64 levels: %v", err)
	}
	if _, err := models.CanonicalJSON("input", []byte(`{"a":"[[[[[[[[[["}`)); err != nil {
		t.Errorf("brackets in a string: %v", err)
	}
}

// Members cost far more than the bytes that they are sent in, so their number has a limit too.
func TestAnInputHasOnlySoManyMembers(t *testing.T) {
	t.Parallel()
	of := func(n int) []byte {
		var b strings.Builder
		b.WriteString(`[{"text":"::::\"::"},{`)
		for i := range n - 1 {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"%x":1`, i)
		}
		b.WriteString(`}]`)
		return []byte(b.String())
	}
	if _, err := models.CanonicalJSON("input", of(models.MaxInputMembers)); err != nil {
		t.Errorf("as many as are allowed: %v", err)
	}
	_, err := models.CanonicalJSON("input", of(models.MaxInputMembers+1))
	if got := models.FieldsOf(err)["input"]; models.ErrorCode(err) != models.CodeInvalid || got != "has 65537 members; at most 65536 are allowed" {
		t.Errorf("one more: %v, %q", err, got)
	}
}

func FuzzCanonicalJSONIsStable(f *testing.F) {
	for _, seed := range []string{`{}`, `{"b":1e400,"a":"\u2028"}`, `[[],{"x":-0}]`, `"\u0000"`, `{"a":{"a":{"a":[1,2,3]}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := models.CanonicalJSON("input", raw)
		if err != nil {
			return
		}
		twice, err := models.CanonicalJSON("input", once)
		if err != nil || string(once) != string(twice) {
			t.Errorf("%q becomes %q and then %q, %v", raw, once, twice, err)
		}
	})
}
