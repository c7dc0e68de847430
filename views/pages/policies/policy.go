package policies

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/ui"
)

// Fields are the four fields of the approval configuration.
type Fields struct {
	ApprovalEnabled       bool
	RequiredApprovalTools []string
	DefaultTimeoutMinutes int64
	FallbackAutoApprove   bool
	// ApprovalOffUntil and FallbackUntil are the ends of the switches; nil: none.
	ApprovalOffUntil, FallbackUntil *time.Time
}

// Version is one entry of the policy's history.
type Version struct {
	Version int64
	Author  string
	At      time.Time
	Note    string
	Signed  models.PolicySigned // who agreed besides
}

// signed says who agreed to the version; empty: its author alone.
func (v Version) signed() string {
	var names []string
	for _, one := range v.Signed.Admins {
		names = append(names, one.Name)
	}
	switch {
	case len(names) == 0:
		return ""
	case v.Signed.Alone != "":
		return "Saved alone, where several admins should have agreed, by " + names[len(names)-1] + ": " + v.Signed.Alone
	}
	return "Confirmed by " + strings.Join(names, ", ")
}

// Input is what the policy page is made of.
type Input struct {
	Section   Section
	Version   int64
	Fields    Fields
	Rules     []policy.Form // as readers see them; who may draft sees the draft's
	Whole     bool          // the reader sees all of them, and the versions
	Templates []policy.Form // which the rules name
	Versions  []Version     // newest first
	Older     int64         // there are more before this version; 0: there are none
	NotNewest bool          // they do not begin with the newest
	// Unmatched is what happens to calls that nothing else settles.
	Unmatched policy.Effect
	Retention Retention // for admins
	// Proposal is the change that waits for admins to agree, or the last one that did; nil: none, or it is not for the
	// reader to see.
	Proposal *models.PolicyProposal
	Reader   models.Actor
	SavedBy  int // how many admins agree to a change
	// Draft is the draft of an admin or a policy editor; nil for all other readers.
	Draft *DraftInput
}

// Retention is a retention that begins soon; the zero value: nothing changes.
type Retention struct {
	Days, Next int
	Begins     time.Time
}

// Policy is the view model of what needs approval.
type Policy struct {
	Section   Section
	Tabs      []Tab
	Version   string
	Fields    []Field
	Rules     []RuleRow
	RulesText string // which rules they are
	Versions  []VersionRow
	NewestURL string // empty: they begin with the newest
	OlderURL  string // empty: there are none
	Unmatched string // what happens to a tool that no rule names
	Retention string // what begins soon; empty: nothing
	Begins    views.Moment
	Keeps     bool // the reader may cancel that
	Proposal  ProposalLine
	Draft     *Draft
}

// Field is one field as read.
type Field struct{ Name, Value, Help string }

// VersionRow is one version in the list.
type VersionRow struct {
	Number, URL, Author, Note string
	Compare                   string // the page that compares it with the one before
	At                        views.Moment
	Current                   bool
}

// New makes the page as of now.
func New(in Input, now time.Time) Policy {
	v := Policy{
		Section: in.Section, Tabs: tabs(in),
		Version: "v" + views.Number(in.Version), Unmatched: unmatchedText(in), Fields: fieldsRead(in.Fields),
		RulesText: "These rules send requests to you. The first one that matches a call decides.",
	}
	if in.Whole {
		v.RulesText = "The first one that matches a call decides."
	}
	for i := range in.Rules[:min(len(in.Rules), shownPolicyChanges)] {
		v.Rules = append(v.Rules, ruleRow(i, DraftInput{Rules: in.Rules, Templates: in.Templates}))
	}
	if in.NotNewest {
		v.NewestURL = views.PolicyVersionsURL(0)
	}
	if in.Older > 0 {
		v.OlderURL = views.PolicyVersionsURL(in.Older)
	}
	for i, version := range in.Versions {
		row := VersionRow{
			Number: "v" + views.Number(version.Version), URL: views.PolicyVersionURL(version.Version),
			Author: version.Author, Note: version.Note, At: views.Ago(version.At, now), Current: version.Version == in.Version,
		}
		if i+1 < len(in.Versions) {
			row.Compare = views.PolicyCompareURL(version.Version, in.Versions[i+1].Version)
		} else if in.Older > 0 {
			row.Compare = views.PolicyCompareURL(version.Version, version.Version-1) // on the next page
		}
		v.Versions = append(v.Versions, row)
	}
	if r := in.Retention; !r.Begins.IsZero() {
		kept := "Until then nothing is removed."
		if r.Days > 0 {
			kept = "Until then, contents are kept for " + views.Number(int64(r.Days)) + " days."
		}
		v.Begins = views.Exact(r.Begins)
		v.Retention = "Contents will be removed " + views.Number(int64(r.Next)) +
			" days after the end of their request or conversation. " + kept + " Removal begins"
	}
	v.Keeps = in.Reader.MayAdminister() && in.SavedBy < 2
	v.Proposal = proposalLine(in.Proposal, in.Reader, in.SavedBy)
	if in.Draft != nil {
		v.Draft = newPolicyDraft(in.Section, *in.Draft, in.Version, now)
	}
	return v
}

func fieldsRead(f Fields) []Field {
	tools := "none"
	if len(f.RequiredApprovalTools) > 0 {
		tools = strings.Join(f.RequiredApprovalTools, "\n")
	}
	return []Field{
		{"approval_enabled", switchRead(f.ApprovalEnabled, f.ApprovalOffUntil), enabledHelp},
		{"required_approval_tools", tools, toolsHelp},
		{"default_timeout_minutes", views.Number(f.DefaultTimeoutMinutes), timeoutHelp},
		{"fallback_auto_approve", switchRead(f.FallbackAutoApprove, f.FallbackUntil), fallbackHelp},
	}
}

func switchRead(on bool, until *time.Time) string {
	if until == nil {
		return strconv.FormatBool(on)
	}
	return strconv.FormatBool(on) + " until " + policy.SpokenEnd(*until)
}

// unmatchedText says what happens to a call that neither a rule nor the list names.
func unmatchedText(in Input) string {
	switch {
	case !in.Fields.ApprovalEnabled:
		return "Approval is off: every tool runs unless a rule denies it."
	case in.Unmatched == policy.EffectAllow:
		return "Tools without a rule run freely. Agents that ask through the API still wait for a person."
	}
	return "Tools without a rule need approval."
}

// DocumentInput is what the page of one version is made of.
type DocumentInput struct {
	Version  Version
	Document []byte
	Current  bool
	Before   int64 // it is compared with this one; 0: with none
	Was, Is  policy.Document
	Newest   int64 // the versions go from 1 to this
	Compared CompareForm
}

// CompareForm keeps the form where it names no version.
type CompareForm struct{ Before, Error string }

// Document is the view model of one version.
type Document struct {
	Title, Number, URL string
	Author             string
	Signed             string // who agreed besides; empty: no one
	Note               string
	At                 views.Moment
	Current            bool
	Code               ui.Code
	Before             string
	Changes            Changes
	CompareWith        *ui.Field // nil: there is no other
	Restore            string    // empty: it is active
}

// NewDocument makes the page of one version of the document.
func NewDocument(in DocumentInput, now time.Time) Document {
	number := "v" + views.Number(in.Version.Version)
	v := Document{
		Title: "Policy " + number, Number: number, URL: views.PolicyVersionURL(in.Version.Version),
		Author: in.Version.Author, Signed: in.Version.signed(), Note: in.Version.Note, At: views.Ago(in.Version.At, now), Current: in.Current,
		Code: ui.Code{ID: "document", Label: "Document", Text: inputs.Indent(in.Document), Numbers: true},
	}
	if in.Before > 0 {
		v.Before, v.Changes = "v"+views.Number(in.Before), newChanges(in.Was, in.Is, nil)
	}
	if in.Newest > 1 {
		v.CompareWith = &ui.Field{
			Name: "before", Label: "Compare with version", Type: "number", Min: "1", Max: strconv.FormatInt(in.Newest, 10),
			Required: true,
			Value:    cmp.Or(in.Compared.Before, strconv.FormatInt(cmp.Or(in.Before, max(1, in.Version.Version-1)), 10)),
			Error:    in.Compared.Error,
		}
	}
	if !in.Current {
		v.Restore = views.RestorePolicyURL(in.Version.Version)
	}
	return v
}
