package headline

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Email is a message that would be sent. Its texts are as they were sent.
type Email struct {
	drawn
	From        string // empty: not said
	To, Cc, Bcc []string
	Subject     string
	Body        string
	HTML        bool // the body is HTML
}

// mostNamed is how many addresses a headline names.
const mostNamed = 2

// mostOfAddress is how much of one it shows, in characters.
const mostOfAddress = 60

func readEmail(members map[string]jsontext.Value) (Headline, bool) {
	f := newFields(members)
	e := &Email{
		From: f.maybe("from"), To: f.texts("to"), Cc: f.texts("cc"), Bcc: f.texts("bcc"), Subject: f.some("subject"),
	}
	e.Body = f.maybe("body", "text", "html")
	_, e.HTML = members["html"]
	all, ok := f.all()
	if !ok || len(e.To) == 0 {
		return Headline{}, false
	}
	e.drawn = all
	h := Headline{Lead: "Email " + e.recipients() + ":", Rest: quote(e.Subject), Known: e}
	shown := []string{"subject"}
	h.Cut = slices.ContainsFunc(slices.Concat(e.To, e.Cc, e.Bcc),
		func(s string) bool { return utf8.RuneCountInString(s) > mostOfAddress })
	if len(e.To)+len(e.Cc)+len(e.Bcc) <= mostNamed {
		shown = append(shown, "to", "cc", "bcc")
	}
	if e.From != "" {
		from, cut := middle(e.From, mostOfAddress)
		h.Tail, h.Cut, shown = "from "+word(from), h.Cut || cut, append(shown, "from")
	}
	h.Hidden = without(all, shown...)
	return h, true
}

// recipients names the first of all who would get it, and counts the others.
func (e *Email) recipients() string {
	var names []string
	more := 0
	for _, list := range []struct {
		label string
		to    []string
	}{{"", e.To}, {"cc ", e.Cc}, {"bcc ", e.Bcc}} {
		for _, address := range list.to {
			if len(names) == mostNamed {
				more++
				continue
			}
			short, _ := middle(address, mostOfAddress)
			names = append(names, list.label+word(short))
		}
	}
	out := strings.Join(names, ", ")
	if more > 0 {
		out += " and " + counted(more, "other")
	}
	return out
}
