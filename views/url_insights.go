package views

import (
	"net/url"
	"strings"

	"countersign/models"
)

// InsightsPlace is what a reader looks back on. The zero value is the last 30 days of all that the reader may see.
type InsightsPlace struct {
	About    string // agent:ID, tool:NAME, rule:NAME, group:NAME, person:ID; empty: all
	From, To string // days, 2006-01-02, in the policy's time zone
}

// InsightsURL looks back on the last 30 days.
func InsightsURL() string { return InsightsPlace{}.URL() }

// URL is the address of the place.
func (p InsightsPlace) URL() string { return p.at("/insights") }

// ExportURL has the same figures as a file.
func (p InsightsPlace) ExportURL() string { return p.at("/insights/export") }

func (p InsightsPlace) at(path string) string {
	return with(path, "about", p.About, "from", p.From, "to", p.To)
}

// About is what a place is about, of a kind and a name. A name that is not shown as it is written, is written in percent
// code, with a mark at the kind: forms and addresses hold nothing that cannot be seen.
func About(kind, name string) string {
	if models.RevealString(name, true) == name {
		return kind + ":" + name
	}
	return kind + "~:" + url.PathEscape(name)
}

// ReadAbout takes About apart.
func ReadAbout(about string) (kind, name string, ok bool) {
	kind, name, ok = strings.Cut(about, ":")
	if plain, inCode := strings.CutSuffix(kind, "~"); inCode {
		text, err := url.PathUnescape(name)
		return plain, text, ok && err == nil
	}
	return kind, name, ok
}
