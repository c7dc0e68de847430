package text_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"countersign/models"
	"countersign/workers/notify/text"
)

// names are valid names of agents, tools and people that try to be more.
var names = []string{
	"@everyone", "@here", "<!channel>", "<!everyone>", "<@U024BE7LH>", "<https://x.example|ok>", "https://x.example", "HTTPS://X.EXAMPLE/a?b#c",
	"www.x.example", "x.com", "shell.run", "ann@x.com", "mailto:ann@x.com", "//x.example", "ftp://x.example", "javascript:alert(1)",
	"[a](https://x.example)", "![a](https://x.example/a.png)", "*bold*", "<script>alert(1)</script>", "<a href=\"https://x.example\">a</a>",
	"a\r\nBcc: eve@x.example", "a\nSubject: b", "\u202egpj.exe", "a\u200bb", "a\u200cb", "\U000e0041", "#general", "&lt;!channel&gt;", "a|b>", ":tada:",
	"x\u3002com", "x\uff0ecom", "\u2068a", "\x00", strings.Repeat("\u202e", 200), strings.Repeat("x.com/", 30),
}

// hostile is a notice of which all that strangers choose is such a name.
func hostile(kind models.NoticeKind, name string) models.Notice {
	n := request(kind)
	n.Agent, n.Tool, n.Headline, n.Deciders, n.Outcome, n.By, n.Channel = name, name, name, []string{name, name}, name, name, name
	return n
}

// links are what mail and chat programs make links, mentions and channels of.
var links = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*:/|[a-z]+:[a-z0-9]|//|\bwww\.|[\p{L}\p{N}-]+[.\x{3002}\x{ff0e}\x{ff61}]\p{L}{2,}|[\w.+-]@\w|[@\x{ff20}#]\p{L}|<[!@#]|:\w+:`)

// In mail and chat programs no name is a link, a mention or a channel, ends its line, or
// hides characters; people read it as it is (I13).
func TestNamesAreLiteralI13(t *testing.T) {
	t.Parallel()
	for _, kind := range models.NoticeKinds() {
		for _, name := range names {
			n := hostile(kind, name)
			m := text.Unlinked(n)
			for _, s := range append([]string{m.Subject, m.Lead}, values(m)...) {
				checkLiteral(t, s)
			}
			checkMail(t, n)
			checkSlack(t, n)
			checkNtfy(t, n)
		}
	}
}

func values(m text.Message) []string {
	all := make([]string, len(m.Facts))
	for i, f := range m.Facts {
		all[i] = f.Value
	}
	return all
}

func checkLiteral(t *testing.T, s string) {
	t.Helper()
	moment := regexp.MustCompile(`\d\d:\d\d UTC`).ReplaceAllString(s, "") // our own
	if found := links.FindString(strings.ReplaceAll(moment, "code: ", "")); found != "" {
		t.Errorf("%q: a program finds %q", s, found)
	}
	if found := strings.ReplaceAll(shown(s), "⟨", "("); found != models.RevealString(found, false) {
		t.Errorf("%q has hidden characters, or lines", s)
	}
}

// shown is what a person sees: without the joints.
func shown(s string) string { return strings.ReplaceAll(s, "\u200c", "") }

// checkMail looks for anything but the words and the two links of ours in the page, and for
// lines that are not ours in the text.
func checkMail(t *testing.T, n models.Notice) {
	t.Helper()
	m := text.Unlinked(n)
	page, err := m.HTML()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		switch name := goquery.NodeName(s); name {
		case "html", "head", "meta", "title", "body", "p", "table", "tbody", "tr", "th", "td", "bdi":
		case "a":
			if href, _ := s.Attr("href"); href != n.URL && href != n.SettingsURL {
				t.Errorf("a link to %s", href)
			}
		default:
			t.Errorf("an element %s in the page of %q", name, n.Agent)
		}
	})
	lines := strings.Count(m.Plain(), "\n")
	if want := strings.Count(text.Unlinked(hostile(n.Kind, "x")).Plain(), "\n"); lines != want {
		t.Errorf("%q makes %d lines of %d", n.Agent, lines, want)
	}
}

func checkSlack(t *testing.T, n models.Notice) {
	t.Helper()
	raw, err := text.Slack(n)
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		Text   string
		Mrkdwn *bool
		Links  *bool `json:"unfurl_links"`
		Media  *bool `json:"unfurl_media"`
		Names  *bool `json:"link_names"`
		Parse  string
		Blocks []struct {
			Type string
			Text struct {
				Type, Text string
				Emoji      *bool
			}
		}
	}
	if err := json.Unmarshal(raw, &body, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	for name, flag := range map[string]*bool{"mrkdwn": body.Mrkdwn, "unfurl_links": body.Links, "unfurl_media": body.Media, "link_names": body.Names} {
		if flag == nil || *flag {
			t.Errorf("%s is not off", name)
		}
	}
	if body.Parse != "none" {
		t.Errorf("parse %q", body.Parse)
	}
	texts := []string{body.Text}
	for _, b := range body.Blocks {
		switch b.Text.Type {
		case "plain_text":
			texts = append(texts, b.Text.Text)
			if b.Text.Emoji == nil || *b.Text.Emoji {
				t.Error("emoji are on")
			}
		case "mrkdwn":
			if b.Text.Text != "<"+n.URL+"|Open the request>" {
				t.Errorf("a block with %q", b.Text.Text)
			}
		}
	}
	for _, s := range texts {
		if strings.ContainsAny(s, "<>") || html.EscapeString(html.UnescapeString(s)) == s && strings.Contains(n.Agent, "<") && n.Kind == models.NoticeWaiting && !strings.Contains(s, "&lt;") {
			t.Errorf("not escaped: %q", s)
		}
		for line := range strings.Lines(html.UnescapeString(s)) {
			checkLiteral(t, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "Tool: "))
		}
	}
}

func checkNtfy(t *testing.T, n models.Notice) {
	t.Helper()
	raw, err := text.Ntfy(n, "topic")
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatal(err)
	}
	for name := range body {
		switch name {
		case "topic", "title", "message", "click", "priority":
		default:
			t.Errorf("%s is sent", name)
		}
	}
	if body["click"] != n.URL || body["topic"] != "topic" {
		t.Errorf("%v", body)
	}
	checkLiteral(t, fmt.Sprint(body["title"]))
}

// Whatever names are, a message for a browser fits into one record, and text of strangers
// stays short.
func TestLengths(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringN(0, -1, 200)
		n := request(rapid.SampledFrom(models.NoticeKinds()).Draw(t, "kind"))
		n.Agent, n.Tool, n.By, n.Outcome, n.Channel, n.Headline = name.Draw(t, "agent"), name.Draw(t, "tool"), name.Draw(t, "by"), name.Draw(t, "outcome"), name.Draw(t, "channel"), rapid.StringN(0, -1, 4000).Draw(t, "headline")
		n.Deciders = rapid.SliceOfN(name, 0, 8).Draw(t, "deciders")
		raw, err := text.Push(n)
		if err != nil {
			t.Fatal(err)
		}
		if most := 4096 - 16 - 86 - 1; len(raw) > most {
			t.Errorf("%d bytes, at most %d", len(raw), most)
		}
		if n := utf8.RuneCountInString(shown(text.Unlinked(n).Subject)); n > 200 {
			t.Errorf("a subject of %d characters", n)
		}
	})
}

// What is cut says how long it is; an escape is never cut.
func TestCut(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		strings.Repeat("a", 60):            strings.Repeat("a", 60),
		strings.Repeat("a", 61):            strings.Repeat("a", 60) + "… (61 characters)",
		strings.Repeat("a", 57) + "\u202e": strings.Repeat("a", 57) + "… (58 characters)",
	} {
		if got := text.Shown(models.Notice{Kind: models.NoticeWaiting, Agent: name}).Subject; got != "Request from "+want {
			t.Errorf("%q", got)
		}
	}
}

// Programs get names exactly.
func TestWebhookIsExact(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		raw, err := text.Webhook(hostile(models.NoticeWaiting, name), request("").Deadline)
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Type string
			Data struct {
				Agent, Tool, Headline string
				Deciders              []string
			}
		}
		if err := json.Unmarshal(raw, &body, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		if d := body.Data; body.Type != "notice.waiting" || d.Agent != name || d.Tool != name || d.Deciders[1] != name {
			t.Errorf("%q: %+v", name, body)
		}
	}
}
