package agentsettings_test

import (
	"strings"
	"testing"

	"countersign/models/agentsettings"
)

const ours = "'/opt/countersign' hook"

func isOurs(command string) bool { return command == ours }

func hooks() []agentsettings.Hook {
	return []agentsettings.Hook{
		{Moment: "PreToolUse", Matcher: "*", Command: ours, Timeout: 60, Blocks: true},
		{Moment: "Stop", Command: ours, Timeout: 30},
	}
}

func TestAddKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after string }{
		"no file": {"", "{\n" +
			"  \"hooks\": {\n" +
			"    \"PreToolUse\": [\n" +
			"      {\n        \"matcher\": \"*\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"'/opt/countersign' hook\",\n            \"timeout\": 60,\n            \"onFailure\": \"block\"\n          }\n        ]\n      }\n" +
			"    ],\n" +
			"    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"'/opt/countersign' hook\",\n            \"timeout\": 30\n          }\n        ]\n      }\n    ]\n" +
			"  }\n}\n"},
		"tabs, comments, odd spaces, a member that nobody knows": {
			"// mine\n{\n\t\"model\":   \"x\", /* why */\n\t\"zzz\": [1,\n 2] // last\n}",
			"// mine\n{\n\t\"model\":   \"x\", /* why */\n\t\"zzz\": [1,\n 2],\n\t\"hooks\": {",
		},
		"other hooks of the same moment": {
			"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}\n    ]\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]},\n      {\n        \"matcher\": \"*\",",
		},
		"lines that end in two characters": {"{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n    \"PreToolUse\": [\r\n"},
		"a slash that is no comment":       {`{"a": "http://x/*y*/"}`, "{\"a\": \"http://x/*y*/\",\n  \"hooks\": {"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := agentsettings.Add([]byte(c.before), hooks())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(got), c.after) {
				t.Errorf("got\n%s\nwant it to begin with\n%s", got, c.after)
			}
			back, n, err := agentsettings.Remove(got, isOurs)
			if err != nil || n != 2 {
				t.Fatalf("%d removed, %v", n, err)
			}
			if want := c.before; c.before != "" && string(back) != want {
				t.Errorf("taken away again:\n%q\nwant\n%q", back, want)
			}
		})
	}
}

func TestRemoveTakesOnlyOurs(t *testing.T) {
	t.Parallel()
	theirs := `{"type": "command", "command": "lint"}`
	mine := `{"type": "command", "command": "'/opt/countersign' hook"}`
	for name, c := range map[string]struct {
		before, after string
		removed       int
	}{
		"beside theirs in a group": {`{"hooks": {"PreToolUse": [{"hooks": [` + mine + `, ` + theirs + `]}]}}`, `{"hooks": {"PreToolUse": [{"hooks": [ ` + theirs + `]}]}}`, 1},
		"behind theirs":            {`{"hooks": {"PreToolUse": [{"hooks": [` + theirs + `, ` + mine + `]}]}}`, `{"hooks": {"PreToolUse": [{"hooks": [` + theirs + `]}]}}`, 1},
		"between groups":           {`{"hooks": {"Stop": [{"hooks": [` + theirs + `]}, {"hooks": [` + mine + `]}, {"matcher": "x", "hooks": []}]}}`, `{"hooks": {"Stop": [{"hooks": [` + theirs + `]}, {"matcher": "x", "hooks": []}]}}`, 1},
		"a comment before it":      {"{\"hooks\": {\"Stop\": [\n// keep\n{\"hooks\": [" + mine + "]}\n]}, \"b\": 1}", "{\"hooks\": {\"Stop\": [\n// keep\n]}, \"b\": 1}", 1},
		"two in one group":         {`{"a": 1, "hooks": {"Stop": [{"hooks": [` + mine + `, ` + mine + `]}]}}`, `{"a": 1}`, 2},
		"none":                     {`{"hooks": {"Stop": [{"hooks": [` + theirs + `]}], "Odd": 3}}`, `{"hooks": {"Stop": [{"hooks": [` + theirs + `]}], "Odd": 3}}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, n, err := agentsettings.Remove([]byte(c.before), isOurs)
			if err != nil || n != c.removed || string(got) != c.after {
				t.Errorf("%d removed, %v\n%q\nwant\n%q", n, err, got, c.after)
			}
		})
	}
}

func TestWhatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n\"a\": 1,\n}":                        "line 2: nothing follows this comma: remove it",
		"{\n\"a\": [1,\n// x\n2 , ],\n\"b\": 1}": "line 4: nothing follows this comma",
		"{\n\"a\": 1\n\"b\": 2}":                 "line 3: this is not valid JSON",
		"[1]":                                    "must be one JSON object",
		"{} {}":                                  "line 1: there is text after the settings",
		"{\"hooks\": 1}":                         "line 1: hooks: must be an object",
		"{\"hooks\":\n{\"Stop\": {}}}":           "line 2: hooks.Stop: must be an array",
		"{\"a\": 1, \"a\": 2}":                   "line 1: a member appears twice",
		"{ /* never ends }":                      "line 1: a comment does not end",
		"{\"a\": \"\xff\"}":                      "line 1: this is not valid JSON",
		"{\"hooks\": {}, \"hooks\": {}}":         "line 1: a member appears twice",
		"{\"a":                                   "line 1: this is not valid JSON",
	} {
		got, err := agentsettings.Add([]byte(text), hooks())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q (made %q)", text, err, want, got)
		}
	}
}
