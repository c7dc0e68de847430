package api_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/models"
)

// What the texts of the surfaces name is there: routes, and codes of problems.
func TestGuidesNameWhatExists(t *testing.T) {
	t.Parallel()
	doc := document(t, newWorld(t))
	var routes, answered []string
	variable := regexp.MustCompile(`\{\w+\}|\$[A-Z]+`)
	for _, op := range operations(doc) {
		routes = append(routes, variable.ReplaceAllString(op.name, "{}"))
		for _, res := range op.op.Responses.Map() {
			if problem := res.Value.Content["application/problem+json"]; problem != nil {
				for code := range problem.Examples {
					answered = append(answered, code)
				}
			}
		}
	}
	texts := doc.Info.Description
	for _, tag := range doc.Tags {
		if len(tag.Description) > 16<<10 {
			t.Errorf("%s: %d bytes, the page lays out 16 KiB", tag.Name, len(tag.Description))
		}
		texts += "\n" + tag.Description
	}
	named := regexp.MustCompile("`(GET|POST|PUT) (/[^`?…]*)(?:\\?[^`]*)?`").FindAllStringSubmatch(texts, -1)
	for _, n := range named {
		if route := n[1] + " " + variable.ReplaceAllString(n[2], "{}"); !slices.Contains(routes, route) {
			t.Errorf("the texts name %s, which is no route", route)
		}
	}
	codes := regexp.MustCompile("(?:40[1-9]|4[1-9][0-9]|507)(?: |: )`([a-z_]+)`").FindAllStringSubmatch(texts, -1)
	for _, n := range codes {
		if !slices.Contains(answered, n[1]) {
			t.Errorf("the texts name the code %s, which no route answers", n[1])
		}
	}
	if len(named) < 8 || len(codes) < 8 || !strings.Contains(texts, string(models.CodeKeyConflict)) {
		t.Errorf("%d routes and %d codes: the texts are not read", len(named), len(codes))
	}
}
