package policies

import (
	"slices"
	"strconv"
	"strings"

	"countersign/models/policy"
	"countersign/views"
)

// Section is one of the pages of the policy.
type Section int

// The pages, in their order. Readers have the first two.
const (
	Rules Section = iota
	Settings
	Templates
	Versions
)

// URL is the page's address.
func (s Section) URL() string {
	switch s {
	case Rules:
	case Settings:
		return views.PolicySettingsURL()
	case Templates:
		return views.PolicyTemplatesURL()
	case Versions:
		return views.PolicyVersionsURL(0)
	}
	return views.PolicyURL()
}

// SectionAt is the page at an address; the rules for any other.
func SectionAt(url string) Section {
	for s := Rules; s <= Versions; s++ {
		if s.URL() == url {
			return s
		}
	}
	return Rules
}

// SectionOf is the page that has the field of a setting.
func SectionOf(path string) Section {
	section, _ := sectionOfMember(path)
	return section
}

func (s Section) label() string {
	return [...]string{"Rules", "Settings", "Templates", "Versions"}[s]
}

// Tab leads to a page of the policy.
type Tab struct {
	Label, URL string
	Current    bool
	Faults     string // how many errors are there; empty: none
}

// tabs lead to all pages that somebody may see.
func tabs(in Input) []Tab {
	last := Versions
	faults := map[Section]int{}
	if in.Draft == nil {
		last = Settings
	} else {
		for path := range in.Draft.Problems {
			section, _ := sectionOfMember(path)
			faults[section]++
		}
	}
	var out []Tab
	for s := Rules; s <= Versions; s++ {
		if s > last && (!in.Whole || s != Versions) {
			continue
		}
		tab := Tab{Label: s.label(), URL: s.URL(), Current: s == in.Section}
		switch n := faults[s]; n {
		case 0:
		case 1:
			tab.Faults = "1 error"
		default:
			tab.Faults = strconv.Itoa(n) + " errors"
		}
		out = append(out, tab)
	}
	return out
}

// sectionOfMember is the page that shows a member of the document. known is false for members that the policy does not
// have: the rules' page names them.
func sectionOfMember(path string) (section Section, known bool) {
	member, _, _ := strings.Cut(path, "[")
	switch member {
	case "rules", unmatchedField.path:
		return Rules, true
	case "templates":
		return Templates, true
	}
	known = slices.ContainsFunc(policy.Settings(), func(f policy.Field) bool {
		return f.Path == member || strings.HasPrefix(f.Path, member+".")
	})
	if known {
		return Settings, true
	}
	return Rules, false
}
