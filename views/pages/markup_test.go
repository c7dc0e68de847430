package pages_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/views/gallery"
	"countersign/views/pages/pagestest"
)

var (
	tag       = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9-]*)((?:\s+[^\s=<>"/]+(?:="[^"]*")?)*)\s*(/?)>`)
	attribute = regexp.MustCompile(`\s([^\s=<>"]+)(?:="([^"]*)")?`)
	void      = []string{"meta", "link", "br", "input", "hr", "img"}
)

// TestMarkup reads every page as a parser would: tags are balanced, ids are
// unique, labels point at fields, every form has method and action, and nothing
// is there that the content security policy would refuse.
// keptOrder is how a title keeps the stored order, see models.StoredOrder.
var keptOrder = regexp.MustCompile("<title>(\\([0-9,+]+\\) )?\u2066\u202D")

func TestMarkup(t *testing.T) {
	t.Parallel()
	for _, s := range gallery.States() {
		t.Run(s.Key(), func(t *testing.T) {
			t.Parallel()
			html := pagestest.Draw(t, s.Component)
			var open []string
			ids := map[string]bool{}
			var wanted []string
			rest := strings.TrimPrefix(html, "<!doctype html>")
			if n := strings.Count(rest, "<"); n != len(tag.FindAllString(rest, -1)) {
				t.Errorf("%d signs begin a tag, %d tags were read", n, len(tag.FindAllString(rest, -1)))
			}
			for _, m := range tag.FindAllStringSubmatch(rest, -1) {
				name, selfClosed := m[2], m[4] == "/"
				if m[1] == "/" {
					if len(open) == 0 || open[len(open)-1] != name {
						t.Fatalf("</%s> closes %v", name, open)
					}
					open = open[:len(open)-1]
					continue
				}
				attrs := map[string]string{}
				for _, a := range attribute.FindAllStringSubmatch(m[3], -1) {
					attrs[a[1]] = a[2]
					if a[1] == "style" || strings.HasPrefix(a[1], "on") || strings.HasPrefix(a[1], "hx-on") {
						t.Errorf("<%s> has %s", name, a[1])
					}
				}
				if id, ok := attrs["id"]; ok {
					if ids[id] {
						t.Errorf("two elements have the id %q", id)
					}
					ids[id] = true
				}
				for _, ref := range []string{"for", "aria-describedby", "aria-labelledby", "data-copy"} {
					wanted = append(wanted, strings.Fields(attrs[ref])...)
				}
				looks := attrs["method"] == "get" && attrs["role"] == "search" // narrows what is shown, and changes nothing
				if name == "form" && (attrs["method"] != "post" && !looks || attrs["action"] == "") {
					t.Errorf("a form without method and action: %v", attrs)
				}
				if name == "script" && attrs["src"] == "" || name == "style" {
					t.Errorf("inline <%s>", name)
				}
				for _, ref := range []string{"src", "href"} {
					written := ref == "href" && name == "a" && attrs["rel"] == "nofollow noreferrer" // in Markdown, with its host beside it
					if v, ok := attrs[ref]; ok && !written && !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "#") {
						t.Errorf("%s leads elsewhere: %q", ref, v)
					}
				}
				if !selfClosed && !slices.Contains(void, name) {
					open = append(open, name)
				}
			}
			if len(open) > 0 {
				t.Errorf("left open: %v", open)
			}
			for _, id := range wanted {
				if !ids[id] {
					t.Errorf("nothing has the id %q that something refers to", id)
				}
			}
			html = keptOrder.ReplaceAllString(html, "<title>")
			if strings.Contains(html, "<script>alert") || strings.ContainsAny(html, "\u202E\u2066\u200B\U000E0049") {
				t.Error("hostile text came through")
			}
		})
	}
}
