package models_test

import (
	"testing"

	"countersign/models"
)

func TestDescribeChange(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ asked, edited, want string }{
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, ""},
		{`{"to":"a","n":1}`, `{"n":1,"to":"b"}`, `Make the call again with: "to" as "b" instead of "a".`},
		{`{"to":"a","cc":"x"}`, `{"to":"a","bcc":["y"]}`, `Make the call again with: "bcc" added as ["y"]; without "cc".`},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`, `Make the call again with: "n" as 9007199254740992 instead of 9007199254740993.`},
		{`[1]`, `{"a":1}`, `Make the call again with: the input {"a":1}.`},
		{"{\"a\":\"x\"}", "{\"a\":\"\u202ey\"}", "Make the call again with: \"a\" as \"\u202ey\" instead of \"x\"."},
	} {
		got, err := models.DescribeChange([]byte(tt.asked), []byte(tt.edited))
		if err != nil || got != tt.want {
			t.Errorf("%s to %s: %q, %v; want %q", tt.asked, tt.edited, got, err, tt.want)
		}
	}
	if _, err := models.DescribeChange([]byte(`{}`), []byte(`{"a":1,"a":2}`)); models.ErrorCode(err) != models.CodeInvalid {
		t.Errorf("a broken edit gave %v", err)
	}
}
