package send_test

import (
	"fmt"
	"mime"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/workers/notify/send"
	"countersign/workers/outward"
)

// marked is a notice with another mark in each of its texts, and the marks by field.
func marked(t *testing.T, kind models.NoticeKind) (n models.Notice, marks map[string]string) {
	t.Helper()
	n, marks = notice(), map[string]string{}
	v := reflect.ValueOf(&n).Elem()
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		mark := fmt.Sprintf("mark%02dx", i)
		switch {
		case slices.Contains([]string{"Kind", "Risk"}, name):
			continue
		case field.Kind() == reflect.String && strings.HasSuffix(name, "URL"):
			field.SetString("https://sign.example.com/" + mark)
		case field.Kind() == reflect.String:
			field.SetString(mark)
		case name == "Deciders":
			field.Set(reflect.ValueOf([]string{mark}))
		case slices.Contains([]string{"Deadline", "Left", "MoreDeciders", "Count", "First", "HeadAt"}, name):
			continue
		default:
			t.Fatalf("models.Notice has a field %s: say here, and in the table below, where it may go", name)
		}
		marks[name] = mark
	}
	n.Kind = kind
	return n, marks
}

// left is all that the sinks got, read as far as their owners can read it.
func left(t *testing.T, kind models.ChannelKind, n models.Notice) string {
	t.Helper()
	s, mails := newSink(t), newMailServer(t, &mailServer{})
	out := outward.New(outward.Options{Hosts: allow(s.Listener.Addr().String()), Roots: roots(s.Server), Now: noon})
	sender, err := send.New(send.Options{
		Out: out, Now: noon, Push: send.NewPushKeys(send.NewPushKey), Name: "https://sign.example.com",
		SMTP: send.SMTP{Addr: mails.addr(), From: "countersign@sign.example.com", TLS: send.SMTPNone, Timeout: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	to, browser := newBrowser(t, s.URL+"/path")
	to.Address, to.Token = "ann@example.com", secret
	if r := sender.Send(t.Context(), kind, to, n); r.Class != models.SendSent {
		t.Fatalf("%s: %+v %s", kind, r, r.Body)
	}
	if kind == models.ChannelEmail {
		if len(s.requests) != 0 {
			t.Errorf("%s: %d requests over HTTP", kind, len(s.requests))
		}
		got := mails.only(t)
		header, body := parts(t, got.data)
		subject, _ := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
		return fmt.Sprint(got, subject, header, body)
	}
	if len(mails.plain) != 0 {
		t.Errorf("%s: %v over SMTP", kind, mails.plain)
	}
	got := s.only(t)
	all := fmt.Sprint(got.method, got.path, got.header, string(got.body))
	if kind == models.ChannelWebPush {
		all += string(browser.decrypt(t, got.body))
	}
	return all
}

// Every byte that leaves is searched for each of a notice's texts: it has those that its kind
// tells, and no other. A headline leaves only if the notice has one.
func TestWhatLeavesTheProcess(t *testing.T) {
	t.Parallel()
	told := map[models.NoticeKind][]string{
		models.NoticeWaiting: {"Agent", "Deciders", "Headline", "Tool", "URL"},
		models.NoticeSettled: {"Agent", "By", "Headline", "Outcome", "Tool", "URL"},
		models.NoticeCode:    {"Code", "URL"},
		models.NoticeInvite:  {"By", "URL"},

		models.NoticeWebhookPaused: {"Class", "URL", "Webhook", "WebhookHost"},
		models.NoticeLedgerHead:    {"Head", "URL"},
	}
	ids := map[models.ChannelKind][]string{ // beside what is told
		models.ChannelEmail: {"ID", "Request", "SettingsURL"}, models.ChannelWebPush: {"ID", "Request"},
	}
	for kind, names := range told {
		for _, channel := range models.ChannelKinds() {
			n, marks := marked(t, kind)
			var absent []string // what is of requests, of which some tell nothing
			if kind == models.NoticeCode || kind == models.NoticeInvite {
				n.Request, absent = "", []string{"Request"}
			}
			if kind == models.NoticeWebhookPaused || kind == models.NoticeLedgerHead {
				n.Request, n.Agent, n.Tool, n.Deciders = "", "", "", nil
				absent = []string{"Request", "Agent", "Tool", "Deciders", "Headline"}
			}
			for _, headline := range []string{marks["Headline"], ""} {
				if n.Headline = headline; slices.Contains(absent, "Headline") {
					n.Headline = ""
				}
				all := left(t, channel, n)
				for name, mark := range marks {
					want := slices.Contains(names, name) || slices.Contains(ids[channel], name)
					if slices.Contains(absent, name) || name == "Headline" && headline == "" {
						want = false
					} else if channel == models.ChannelWebhook {
						want = true // programs get all of the notice
					}
					if got := strings.Contains(all, mark); got != want {
						t.Errorf("%s of a %s notice by %s: there %v, want %v\n%s", name, kind, channel, got, want, all)
					}
				}
				if channel != models.ChannelNtfy && strings.Contains(all, secret) {
					t.Errorf("%s: the secret left", channel)
				}
			}
		}
	}
}
