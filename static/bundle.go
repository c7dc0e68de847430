package static

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// sheets are what css/app.css is made of, in cascade order.
var sheets = []string{
	"vendor/basecoat/basecoat-nova.min.css",
	"css/tokens.css", "css/base.css", "css/ui.css", "css/untrusted.css", "css/code.css", "css/pages.css", "css/budget.css", "css/conversation.css", "css/conversations.css", "css/batch.css", "css/request.css", "css/decide.css", "css/inbox.css", "css/grants.css", "css/policy.css", "css/table.css", "css/agents.css", "css/trail.css", "css/keys.css", "css/palette.css", "css/notify.css", "css/webhooks.css", "css/insights.css",
}

// visitScripts are what js/visit.js is made of, for pages that nobody need be signed in for.
// They need no htmx.
var visitScripts = []string{"js/time.js", "js/copy.js", "js/drafts.js", "js/left.js"}

// appScripts are what js/app.js is made of, for signed-in people, in the order in which
// they listen. htmx comes first, with what it needs for streams: it sets itself up as soon as
// it can, and what loads after that is left out.
var appScripts = []string{
	"vendor/htmx/htmx.min.js", "vendor/htmx/hx-sse.min.js",
	"js/returned.js", // before all that acts
	"js/channel.js",  // before all that speaks
	"js/time.js", "js/copy.js", "js/drafts.js", "js/guard.js", "js/badge.js", "js/live.js",
	"js/process.js", "js/session.js", "js/pending.js", "js/say.js", "js/failed.js", "js/reject.js", "js/offer.js", "js/arm.js", "js/seen.js", "js/misfire.js", "js/edits.js", "js/newcomers.js", "js/desk.js", "js/rove.js", "js/select.js", "js/undo.js", "js/open.js", "js/filters.js", "js/menus.js", "js/keys.js", "js/palette.js", "js/notify.js", "js/look.js", "js/push.js",
	"js/policy.js", "js/conversation.js", "js/places.js", "js/worker.js",
}

// alone are the scripts that are in no bundle: one runs before the page is drawn, one outside
// of pages, and one on pages elsewhere.
var alone = []string{"js/theme.js", "js/sw.js", "js/client.js"}

// joinedSheets is several style sheets as one. Of the component library what no page uses is
// left out, and of ours comments and what lines begin with.
func joinedSheets(names []string) []byte {
	var b bytes.Buffer
	for _, name := range names {
		raw := embedded(name)
		if strings.HasPrefix(name, "vendor/") {
			raw = []byte(withoutUnused(string(raw)))
		} else {
			raw = lineStarts.ReplaceAll(sheetComments.ReplaceAll(raw, nil), []byte("\n"))
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

var (
	sheetComments = regexp.MustCompile(`(?s)/\*.*?\*/`)
	lineStarts    = regexp.MustCompile(`\n\s+`)
)

// joinedScripts is several scripts as one. Each of ours keeps its names to itself, and one
// that fails as it starts does not take the others along, as if each came in a file of its
// own. Lines that hold only a comment are left out.
func joinedScripts(names []string) []byte {
	var b bytes.Buffer
	for _, name := range names {
		if strings.HasPrefix(name, "vendor/") {
			b.Write(embedded(name))
			b.WriteString("\n")
			continue
		}
		fmt.Fprintf(&b, "// %s\ntry { (() => {\n\"use strict\";\n", name)
		b.Write(withoutComments(embedded(name)))
		b.WriteString("})(); } catch (error) { reportError(error); }\n")
	}
	return b.Bytes()
}

// withoutComments leaves out lines that hold only a comment, and what lines begin with. No
// script of ours has text of several lines, in which that would count.
func withoutComments(script []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(script) {
		line = bytes.TrimLeft(line, " \t")
		if len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			b.Write(line)
		}
	}
	return b.Bytes()
}

func embedded(name string) []byte {
	raw, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("static: %s is not embedded", name)) // a build without its own files
	}
	return raw
}
