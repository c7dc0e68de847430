package headline_test

import (
	_ "embed"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/headline"
)

// table is tool, input and headline, a line each, with tabs between.
//
//go:embed testdata/headlines.txt
var table string

type row struct{ tool, input, want string }

func rows(t *testing.T) []row {
	t.Helper()
	var out []row
	for line := range strings.Lines(table) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 3 {
			t.Fatalf("%q has %d cells", line, len(cells))
		}
		out = append(out, row{cells[0], cells[1], cells[2]})
	}
	return out
}

func call(tool, input string) *models.Response {
	return &models.Response{Kind: models.KindToolCall, ToolName: tool, ToolInputJSON: input}
}

// No input makes a headline of a kind that it is not (I13).
func TestHeadlinesOfCallsI13(t *testing.T) {
	t.Parallel()
	all := rows(t)
	if len(all) < 100 {
		t.Errorf("the table has %d inputs", len(all))
	}
	for _, r := range all {
		if got := headline.Of(call(r.tool, r.input)).Plain(); got != r.want {
			t.Errorf("%s\t%s\n got %s\nwant %s", r.tool, r.input, got, r.want)
		}
	}
}
