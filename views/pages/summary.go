package pages

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"countersign/models"
	"countersign/views/ui"
)

// summaryLength is where the one line of an inbox row is cut, in characters.
const summaryLength = 200

// tellingMembers are members whose value says what a call is about, the best first.
var tellingMembers = [...]string{
	"command", "cmd", "question", "file_path", "path", "notebook_path", "query", "sql", "url", "uri",
	"pattern", "subject", "title", "message", "prompt", "text", "name", "description",
}

// line is what one line says of a request.
type line struct {
	text   string
	cut    bool
	hidden []string // members of the input that it does not show, sorted
}

// summary says in one line what a request would do: its command, its path, its
// amount, or else its input as compact JSON.
func summary(r *models.Response) string { return summaryLine(r).text }

func summaryLine(r *models.Response) line {
	text, shows, all := summaryOf(r)
	var l line
	l.text, l.cut = joined(text)
	if all {
		return l
	}
	members, _, _ := briefOf(r.InputThatRuns())
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(shows, name) {
			l.hidden = append(l.hidden, name)
		}
	}
	return l
}

// summaryOf is the text of the line, and which members of the input it shows, or
// that it shows all of them.
func summaryOf(r *models.Response) (text string, shows []string, all bool) {
	if r.IsRemoved() {
		return r.RemovedText(), nil, true
	}
	if r.Kind == models.KindProposal || r.Kind == models.KindReply {
		return r.Content, nil, true
	}
	if sum := askedSum(r); sum != "" && r.AsksForAllowance() {
		return "Allow " + grouped(sum) + " more energy: " + r.Description, nil, true
	} else if sum != "" {
		return strings.TrimSuffix("Raise the budget to "+grouped(sum)+": "+r.Description, ": "), nil, true
	}
	input := r.InputThatRuns()
	members, cut, ok := briefOf(input)
	if !ok {
		return compact(input), nil, true
	}
	if r.Kind == models.KindQuestion && r.Description != "" {
		return r.Description, nil, false
	}
	if amount, shows := amountOf(members); amount != "" {
		return amount, shows, false
	}
	path, named := firstOf(members, paths[:]), nameOf(members, paths[:])
	if change := changeOf(members, cut); change != "" {
		return change, named, false
	}
	if does := scalar(members["command"]); path != "" && editor(does) {
		return does + " " + path, append(named, "command"), false
	}
	for _, name := range tellingMembers {
		if s, ok := stringOf(members[name]); ok && strings.TrimSpace(s) != "" {
			return s, []string{name}, false
		}
	}
	if words := quoted(members["command"]); words != "" {
		return words, []string{"command"}, false
	}
	if len(members) == 0 {
		return "no input", nil, true
	}
	return compact(input), nil, true
}

// nameOf is the member that firstOf takes the text from; none: there is none.
func nameOf(members map[string]json.RawMessage, names []string) []string {
	for _, name := range names {
		if s, ok := stringOf(members[name]); ok && s != "" {
			return []string{name}
		}
	}
	return nil
}

// changeOf writes a change of a file: its path, and how many lines it adds and removes
// if the whole change is there to be counted.
func changeOf(members map[string]json.RawMessage, cut string) string {
	path := firstOf(members, paths[:])
	if patch, ok := stringOf(members["patch"]); ok && path == "" {
		path = patched(patch)
	}
	if path == "" {
		return ""
	}
	count := changed(members)
	switch {
	case count == "":
		return ""
	case cut != "":
		return path + ", a long change"
	}
	return path + " " + count
}

// firstOf is the first member that is a text and not empty.
func firstOf(members map[string]json.RawMessage, names []string) string {
	for _, name := range names {
		if s, ok := stringOf(members[name]); ok && s != "" {
			return s
		}
	}
	return ""
}

// changed says how many lines an input changes; empty if none.
func changed(members map[string]json.RawMessage) string {
	if pairs, _ := editsOf(members); len(pairs) > 0 {
		return ui.CountDiff(pairs...)
	}
	for _, name := range patches {
		if s, ok := stringOf(members[name]); ok {
			if d, ok := ui.NewPatch(s); ok {
				return d.Count()
			}
		}
	}
	for _, name := range contents {
		if s, ok := stringOf(members[name]); ok {
			return ui.CountDiff([2]string{"", s})
		}
	}
	return ""
}

// patched is the file that a patch names first.
func patched(patch string) string {
	for line := range strings.Lines(patch) {
		for _, before := range [...]string{"+++ b/", "+++ ", "*** Update File: ", "*** Add File: ", "*** Delete File: "} {
			if name, ok := strings.CutPrefix(line, before); ok {
				return strings.TrimSpace(name)
			}
		}
	}
	return ""
}

// currencySigns are the signs that mean one currency only.
var currencySigns = map[string]string{"EUR": "€", "GBP": "£", "INR": "₹", "ILS": "₪", "VND": "₫", "UAH": "₴", "PHP": "₱", "NGN": "₦", "TRY": "₺", "KZT": "₸", "GEL": "₾", "PYG": "₲", "CRC": "₡", "GHS": "₵", "MNT": "₮", "KHR": "៛"}

// amountOf writes a payment: amount, currency and to whom, and says which members it
// shows whole. The amount stays as it was sent: a number of cents is not taken for
// one of euros.
func amountOf(members map[string]json.RawMessage) (text string, shows []string) {
	amount, ok := members["amount"]
	if !ok {
		return "", nil
	}
	out := scalar(amount)
	if out == "" {
		return "", nil
	}
	shows = []string{"amount"}
	currency := scalar(members["currency"])
	if currency != "" {
		shows = append(shows, "currency")
	}
	sign, known := currencySigns[currency]
	switch {
	case known && !strings.HasPrefix(out, "-") && strings.Contains(out, ".") && strings.Trim(out, "0123456789.") == "":
		out = sign + out
	case currency != "":
		out += " " + currency
	}
	for _, name := range [...]string{"to", "recipient", "payee", "account"} {
		if to := scalar(members[name]); to != "" {
			return out + " → " + to, append(shows, name)
		}
		if one, ok := objectOf(members[name]); ok {
			if to := scalar(one["name"]); to != "" {
				if len(one) == 1 {
					shows = append(shows, name)
				}
				return out + " → " + to, shows
			}
		}
	}
	return out, shows
}

// scalar is a string's content or a number as written; empty for all else.
func scalar(raw json.RawMessage) string {
	if s, ok := stringOf(raw); ok {
		return s
	}
	if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		return string(raw)
	}
	return ""
}

func objectOf(raw []byte) (map[string]json.RawMessage, bool) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, false
	}
	return members, true
}

func stringOf(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

func compact(raw string) string {
	// What is cut away below need not be compacted: a generous prefix will do.
	if len(raw) > 16*summaryLength {
		return strings.Join(strings.Fields(raw[:16*summaryLength]), " ") + "…"
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(raw)); err != nil {
		return raw
	}
	return b.String()
}

// oneLine joins lines visibly, so that a second command cannot hide behind a
// line break, and cuts.
func oneLine(s string) string {
	text, _ := joined(s)
	return text
}

// joined is oneLine, and whether it was cut.
func joined(s string) (text string, cut bool) {
	s = strings.TrimSpace(s)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", " ⏎ ")
	short, length := ui.Cut(s, summaryLength)
	if length > summaryLength {
		return short + "…", true
	}
	return s, false
}
