package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"countersign/models"
)

// Message is a notice in words.
type Message struct {
	// Subject is the same for all messages about one request, so that mail programs keep
	// them together. What strangers named comes last in it.
	Subject     string
	Lead        string // the event
	Facts       []Fact
	Link        string // what URL opens, in words; empty: there is none
	URL         string
	SettingsURL string
}

// Fact is one line about the request.
type Fact struct{ Label, Value string }

// Shown is the message with names as they are shown on pages, for programs that make no
// links of what they show.
func Shown(n models.Notice) Message { return words{func(s string) string { return s }}.message(n) }

// Unlinked is the message for mail and chat programs: they find no address, mention or
// channel in the names.
func Unlinked(n models.Notice) Message { return words{unlinked}.message(n) }

// words writes messages; names go through guard after they were quoted.
type words struct{ guard func(string) string }

func (w words) quote(s string, most int) string { return w.guard(quote(s, most)) }

func (w words) message(n models.Notice) Message {
	m := Message{Subject: w.subject(n), Lead: w.lead(n), Facts: w.facts(n), URL: n.URL, SettingsURL: n.SettingsURL}
	switch {
	case n.URL == "":
	case n.Request != "":
		m.Link = "Open the request"
	case n.Kind == models.NoticeInvite:
		m.Link = "Set your name and password"
	case n.Kind == models.NoticeBurst, n.Kind == models.NoticeDigest, n.Kind == models.NoticeFlood:
		m.Link = "Open the inbox"
	default:
		m.Link = "Open Countersign"
	}
	return m
}

func (w words) subject(n models.Notice) string {
	switch n.Kind {
	case models.NoticeBurst, models.NoticeDigest:
		return pending(n.Count) + worst(n)
	case models.NoticeChannelFailing:
		return "A notification channel is failing"
	case models.NoticeWebhookPaused:
		return "A webhook was paused: " + w.quote(n.Webhook, mostName)
	case models.NoticeFlood:
		return "Too many requests from " + w.quote(n.Agent, mostName)
	case models.NoticePolicyProposed:
		return "A change of the policy waits for you"
	case models.NoticePolicyAlone:
		return "The policy is changed by one admin alone"
	case models.NoticeLedgerHead:
		return "Ledger head of " + n.HeadAt.UTC().Format(time.DateOnly)
	case models.NoticeCode:
		return "Your Countersign code: " + w.quote(n.Code, mostName)
	case models.NoticeTest:
		return "Test message from Countersign"
	case models.NoticeInvite:
		return "Your invitation to Countersign"
	case models.NoticeWaiting, models.NoticeUnseen, models.NoticeHalf, models.NoticeTenth, models.NoticeBreakthrough,
		models.NoticeTooFew, models.NoticeBreakGlass, models.NoticeSettled:
	}
	s := "Request"
	if risk := riskWord(n.Risk); risk != "" {
		s = risk + "-risk request"
	}
	s += " from " + w.quote(n.Agent, mostName)
	if n.Tool != "" {
		s += ": " + w.quote(n.Tool, mostName)
	}
	return s
}

func (w words) lead(n models.Notice) string {
	switch n.Kind {
	case models.NoticeWaiting:
		return "A request needs a decision."
	case models.NoticeUnseen:
		return "A request needs a decision, and nobody has looked at it yet."
	case models.NoticeHalf:
		return "Half of the time to decide this request is over."
	case models.NoticeTenth:
		return "This request expires soon."
	case models.NoticeBreakthrough:
		return "This request can't wait until your quiet hours are over."
	case models.NoticeTooFew:
		return "Not enough people are left who could sign this request. Add people to the groups that its rule names, or let them sign in again; otherwise it expires."
	case models.NoticeFlood:
		return w.quote(n.Agent, mostName) + " asks for more than people can look at: " + pending(n.Count) +
			". The inbox shows them in one line, with what differs from the rest. You can stop the agent there."
	case models.NoticeBreakGlass:
		return w.brokeGlass(n)
	case models.NoticeSettled:
		return w.settled(n)
	case models.NoticePolicyProposed:
		return w.quote(n.By, mostName) + " proposes a change of the policy. Look at it on the Policy page, and confirm or reject it there."
	case models.NoticePolicyAlone:
		if n.Outcome != "" {
			return w.quote(n.By, mostName) + " changed the policy alone, without the admins who should have agreed. Look at it on the Policy page."
		}
		return w.quote(n.By, mostName) + " is going to change the policy alone, without the other admins. Look at it on the Policy page: as long as it waits, you can reject it."
	case models.NoticeBurst, models.NoticeDigest:
		switch {
		case n.First >= time.Minute:
			return pending(n.Count) + worst(n) + ". The first expires in " + spoken(n.First) + "."
		case n.First > 0:
			return pending(n.Count) + worst(n) + ". The first expires within a minute."
		}
		return pending(n.Count) + worst(n) + "."
	case models.NoticeChannelFailing:
		return "Messages to this channel don't arrive. Check it in your notification settings."
	case models.NoticeWebhookPaused:
		if n.Class == models.SendGone {
			return "This webhook answered that it wants no more events. Nothing is sent to it until an admin resumes it."
		}
		return "This webhook has refused an event for a day. Nothing is sent to it until an admin resumes it."
	case models.NoticeLedgerHead:
		return "Keep this message: it shows later whether the ledger still has the same entries. To check, run the command below where Countersign runs."
	case models.NoticeCode:
		return "Enter this code in Countersign to get notifications here: " + w.quote(n.Code, mostName) + ". It works for " +
			spoken(models.CodeLife) + ". If you didn't ask for it, ignore this message."
	case models.NoticeTest:
		return "This channel works. Nothing needs to be done."
	case models.NoticeInvite:
		return w.quote(n.By, mostName) + " invites you to Countersign, where people approve what AI agents do. The link below works once, for " +
			spoken(n.Left) + ". Give it to nobody else. If you didn't expect it, ignore this message."
	}
	return "Something needs your attention."
}

// brokeGlass says who decided alone, and asks its readers to acknowledge it.
func (w words) brokeGlass(n models.Notice) string {
	did := "approved"
	if n.Outcome == string(models.StatusRejected) {
		did = "rejected"
	}
	return w.quote(n.By, mostName) + " broke glass: they " + did + " this alone, without the signatures of " + people(n.Count) +
		". Look at what was decided, and acknowledge it on the Audit page."
}

func people(n int) string {
	if n == 1 {
		return "one other person"
	}
	return strconv.Itoa(n) + " other people"
}

// pending says how many requests there are.
func pending(n int) string {
	if n == 1 {
		return "1 request needs a decision"
	}
	return fmt.Sprintf("%d requests need a decision", n)
}

// worst names the worst risk of several requests.
func worst(n models.Notice) string {
	switch {
	case n.Risk.Rank() < 0:
		return ""
	case n.Count == 1:
		return ", of " + string(n.Risk) + " risk"
	}
	return ", up to " + string(n.Risk) + " risk"
}

func (w words) settled(n models.Notice) string {
	s := "Settled: " + w.quote(n.Outcome, mostName)
	if n.By != "" {
		s += " by " + w.quote(n.By, mostName)
	}
	return s + "."
}

func (w words) facts(n models.Notice) []Fact {
	var facts []Fact
	add := func(label, value string) {
		if value != "" {
			facts = append(facts, Fact{label, value})
		}
	}
	if n.Kind == models.NoticeChannelFailing {
		add("Channel", w.quote(n.Channel, mostName))
	}
	if n.Kind == models.NoticeWebhookPaused {
		add("Webhook", w.quote(n.Webhook, mostName))
		add("Host", w.quote(n.WebhookHost, mostName))
		add("Last answer", w.quote(string(n.Class), mostName))
	}
	if n.Kind == models.NoticeLedgerHead && n.Head != "" { // our own text, to be copied: no joints in it
		number, hash, _ := strings.Cut(n.Head, ":")
		add("Last entry", number)
		add("Hash", hash)
		add("Time", n.HeadAt.UTC().Format("2006-01-02 15:04:05")+" UTC")
		add("Check", "countersign audit verify --head "+n.Head)
	}
	if n.Request == "" {
		return facts
	}
	add("Agent", w.quote(n.Agent, mostName))
	add("Tool", w.quote(n.Tool, mostName))
	add("Risk", strings.ToLower(riskWord(n.Risk)))
	add("Headline", w.quote(n.Headline, mostHeadline))
	if n.Kind != models.NoticeSettled {
		add("Expires", expires(n))
		add("Who may decide", w.deciders(n))
	}
	return facts
}

func (w words) deciders(n models.Notice) string {
	var names []string
	for _, name := range n.Deciders[:min(len(n.Deciders), models.MostDeciders)] {
		names = append(names, w.quote(name, mostDecider))
	}
	s := strings.Join(names, ", ")
	if more := n.MoreDeciders + len(n.Deciders) - len(names); more > 0 && s != "" {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

func expires(n models.Notice) string {
	if n.Left <= 0 || n.Deadline.IsZero() || !n.Deadline.Before(models.NoDeadline) {
		return ""
	}
	return "in " + spoken(n.Left) + " (" + n.Deadline.UTC().Format("2006-01-02 15:04") + " UTC)"
}

// spoken is a time in words; seconds are left out above a minute.
func spoken(d time.Duration) string {
	if d >= time.Minute {
		d = d.Truncate(time.Minute)
	}
	return models.SpokenDuration(d)
}

// riskWord is a level at the beginning of a sentence.
func riskWord(r models.Risk) string {
	if r.Rank() < 0 {
		return ""
	}
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

// Plain is the message as plain text.
func (m Message) Plain() string {
	s := m.brief()
	if m.Link != "" {
		s += "\n" + m.Link + ":\n" + m.URL + "\n"
	}
	if m.SettingsURL != "" {
		s += "\nNotification settings:\n" + m.SettingsURL + "\n"
	}
	return s
}

// brief is the message as plain text, without addresses.
func (m Message) brief() string {
	var b strings.Builder
	b.WriteString(m.Lead + "\n")
	if len(m.Facts) > 0 {
		b.WriteString("\n")
	}
	for _, f := range m.Facts {
		b.WriteString(f.Label + ": " + f.Value + "\n")
	}
	return b.String()
}
