package send_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"mime"
	"mime/quotedprintable"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/notices"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/webhooks"
	"countersign/workers/notify"
	"countersign/workers/notify/send"
	"countersign/workers/outward"
)

// watched is the sender of a server, beside which somebody notes which kinds of message
// go by which kind of channel.
type watched struct {
	*send.Sender

	code  string // the last that was sent
	kinds map[models.NoticeKind]map[models.ChannelKind]int
}

func (w *watched) Send(ctx context.Context, kind models.ChannelKind, to models.ChannelTarget, n models.Notice) models.SendResult {
	r := w.Sender.Send(ctx, kind, to, n)
	if n.Kind == models.NoticeCode {
		w.code = n.Code
	}
	if w.kinds[n.Kind] == nil {
		w.kinds[n.Kind] = map[models.ChannelKind]int{}
	}
	if r.Class == models.SendSent {
		w.kinds[n.Kind][kind]++
	}
	return r
}

// leakWorld is a store with the worker and the senders of a server, and a sink for each kind
// of channel.
type leakWorld struct {
	*store.Store

	clock             *storetest.Clock
	admin, agent, ann models.Actor
	sender            *watched
	notifier          *notify.Notifier
	lease             *models.Lease
	logs              *bytes.Buffer
	sinks             map[models.ChannelKind]*sink
	broken            *sink
	mails             *mailServer
	browser           *browser
}

func newLeakWorld(t *testing.T) *leakWorld {
	t.Helper()
	w := &leakWorld{clock: storetest.NewClock(), logs: new(bytes.Buffer), sinks: map[models.ChannelKind]*sink{}, broken: newSink(t), mails: newMailServer(t, &mailServer{})}
	w.broken.status = 500
	log := slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.Store = storetest.New(t, storetest.WithClock(w.clock), func(o *store.Options) { o.Log = log })
	w.admin = storetest.Admin(t, w.Store)
	w.agent, _ = storetest.AgentToken(t, w.Store, w.admin, "bot")
	w.ann, _ = storetest.Session(t, w.Store, storetest.Reviewer(t, w.Store, "ann@example.com").Name)
	hosts := []string{w.broken.Listener.Addr().String()}
	for _, kind := range models.ChannelKinds() {
		if kind != models.ChannelEmail {
			w.sinks[kind] = newSink(t)
			hosts = append(hosts, w.sinks[kind].Listener.Addr().String())
		}
	}
	sender, err := send.New(send.Options{
		Out: outward.New(outward.Options{Hosts: allow(hosts...), Roots: roots(w.broken.Server), Now: w.clock.Now}), Now: w.clock.Now,
		Push: send.NewPushKeys(send.NewPushKey), Name: "https://sign.example.com",
		SMTP: send.SMTP{Addr: w.mails.addr(), From: "countersign@sign.example.com", TLS: send.SMTPNone, Timeout: time.Minute},
	})
	storetest.Must(t, err)
	w.sender = &watched{Sender: sender, kinds: map[models.NoticeKind]map[models.ChannelKind]int{}}
	w.notifier = notify.New(notify.Options{
		Store: w.Store, Sender: w.sender, Log: log, SettingsURL: "https://sign.example.com/account/notifications",
		RequestURL: func(id models.ResponseID) string { return "https://sign.example.com/approvals/" + string(id) },
		Headline: func(ctx context.Context, id models.ResponseID) (string, error) {
			r, err := notices.New(w.Store).ForHeadline(ctx, id)
			if r == nil {
				return "", err
			}
			return r.ToolInputJSON, err
		},
	})
	w.lease, err = w.Nodes.TakeLease(t.Context(), "notify", "test", 10_000*time.Hour)
	storetest.Must(t, err)
	w.channels(t)
	return w
}

// pausedWebhook is one of Ann, as an admin, whose receiver has gone.
func (w *leakWorld) pausedWebhook(t *testing.T, address string) {
	t.Helper()
	storetest.Must(t, w.People.SetRole(t.Context(), w.admin, w.ann.UserID(), models.RoleAdmin))
	storetest.Must(t, w.People.AllowHost(t.Context(), w.admin, "hooks.example.com"))
	ann := w.ann
	ann.Admin = true
	h, _, err := w.Webhooks.Add(t.Context(), ann, models.WebhookInput{Name: "Ledger", URL: address})
	storetest.Must(t, err)
	lease, err := w.Nodes.TakeLease(t.Context(), "webhooks", "test", time.Hour)
	storetest.Must(t, err)
	_, err = w.Webhooks.Keep(t.Context(), lease, []webhooks.Progress{{
		ID: h.ID, Cursor: h.Cursor, Pause: models.PausedGone, Refuse: models.WebhookAnswer{At: w.clock.Now(), Class: models.SendGone, Status: 410},
	}})
	storetest.Must(t, err)
}

// channels gives Ann one of each kind, and one that fails.
func (w *leakWorld) channels(t *testing.T) {
	t.Helper()
	add := func(kind models.ChannelKind, to models.ChannelTarget) {
		t.Helper()
		c, err := w.People.AddChannel(t.Context(), w.ann, models.ChannelInput{Kind: kind, Target: to})
		storetest.Must(t, err)
		if c.VerifiedAt == nil {
			w.until(t, w.Now())
			storetest.Must(t, w.People.VerifyChannel(t.Context(), w.ann, c.ID, w.sender.code))
		}
		w.clock.Step(models.CodesWindow + time.Second)
	}
	add(models.ChannelEmail, models.ChannelTarget{Address: "ann@example.com"})
	var to models.ChannelTarget
	to, w.browser = newBrowser(t, w.sinks[models.ChannelWebPush].URL+"/push")
	add(models.ChannelWebPush, to)
	for _, kind := range []models.ChannelKind{models.ChannelNtfy, models.ChannelSlack, models.ChannelWebhook} {
		add(kind, models.ChannelTarget{URL: w.sinks[kind].URL + "/topic"})
	}
	w.broken.status = 0
	add(models.ChannelWebhook, models.ChannelTarget{URL: w.broken.URL + "/down"})
	w.broken.status = 500
}

// until has time go by up to a moment.
func (w *leakWorld) until(t *testing.T, end time.Time) {
	t.Helper()
	for range 10_000 {
		_, err := w.ExpireDue(t.Context(), 100)
		storetest.Must(t, err)
		next, err := notices.New(w.Store).Take(t.Context(), w.lease)
		storetest.Must(t, err)
		due, nextSend, err := notices.New(w.Store).Due(t.Context(), 50)
		storetest.Must(t, err)
		for _, send := range due {
			storetest.Must(t, w.notifier.Once(t.Context(), w.lease, send.ID))
		}
		if len(due) > 0 {
			continue
		}
		if next.IsZero() || !nextSend.IsZero() && nextSend.Before(next) {
			next = nextSend
		}
		if deadline, some, err := w.NextDeadline(t.Context()); err != nil || some && (next.IsZero() || deadline.Before(next)) {
			storetest.Must(t, err)
			next = deadline
		}
		if next.IsZero() || next.After(end) {
			w.clock.Step(max(0, end.Sub(w.Now())))
			return
		}
		w.clock.Step(max(next.Sub(w.Now()), time.Microsecond))
	}
	t.Fatal("it never comes to an end")
}

func (w *leakWorld) wait(t *testing.T, d time.Duration) {
	t.Helper()
	w.until(t, w.Now().Add(d))
}

// left is every byte that has left the process, as its receivers can read it, and what was
// logged.
func (w *leakWorld) left(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{"log": w.logs.Bytes()}
	note := func(kind models.ChannelKind, s *sink) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, r := range s.requests {
			raw := fmt.Appendf(nil, "%s %s %v\n%s", r.method, r.path, r.header, r.body)
			if kind == models.ChannelWebPush {
				raw = append(raw, w.browser.decrypt(t, r.body)...)
			}
			out[fmt.Sprintf("%s %d", kind, i)] = raw
		}
	}
	for kind, s := range w.sinks {
		note(kind, s)
	}
	note("broken", w.broken)
	w.mails.mu.Lock()
	defer w.mails.mu.Unlock()
	for i, m := range w.mails.mails {
		out[fmt.Sprintf("email %d", i)] = fmt.Appendf(nil, "%s %s\n%s", m.from, m.to, m.data)
	}
	return out
}

// pausesWebhook has a webhook refuse an event until it is paused.
func (w *leakWorld) pausesWebhook(t *testing.T, address string) {
	t.Helper()
	h, _, err := w.Webhooks.Add(t.Context(), w.admin, models.WebhookInput{Name: "copy", URL: address})
	storetest.Must(t, err)
	lease, err := w.Nodes.TakeLease(t.Context(), "webhooks", "test", time.Hour)
	storetest.Must(t, err)
	stale, err := w.Webhooks.Keep(t.Context(), lease, []webhooks.Progress{{
		ID: h.ID, Cursor: h.Cursor, Pause: models.PausedFailing, Refuse: models.WebhookAnswer{Seq: h.Cursor, Type: "user.added", Class: models.SendUnavailable, Status: 503},
	}})
	if storetest.Must(t, err); len(stale) > 0 {
		t.Fatal("the webhook is not paused")
	}
}

var base64Text = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}`)

// readings are a text as it is, and as whoever undoes an encoding of it reads it: base64 at
// every offset, quoted-printable, percents, entities, escapes of JSON, encoded words of mail.
func readings(raw []byte, depth int) [][]byte {
	out := [][]byte{raw}
	if depth == 0 {
		return out
	}
	var next [][]byte
	if qp, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(raw))); len(qp) > 0 || err == nil {
		next = append(next, qp)
	}
	next = append(next, []byte(html.UnescapeString(string(raw))))
	if s, err := url.QueryUnescape(strings.ReplaceAll(string(raw), "%\n", "")); err == nil {
		next = append(next, []byte(s))
	}
	if s, err := new(mime.WordDecoder).DecodeHeader(string(raw)); err == nil {
		next = append(next, []byte(s))
	}
	if i := bytes.IndexByte(raw, '{'); i >= 0 {
		var v any
		if json.NewDecoder(bytes.NewReader(raw[i:])).Decode(&v) == nil {
			next = append(next, fmt.Append(nil, v))
		}
	}
	joined := strings.NewReplacer("\r\n", "", "\n", "").Replace(string(raw))
	for _, text := range [...]string{string(raw), joined} {
		for _, run := range base64Text.FindAllString(text, -1) {
			run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
			for skip := range 4 {
				part := run[skip:]
				if b, err := base64.RawStdEncoding.DecodeString(part[:len(part)/4*4]); err == nil {
					out = append(out, b)
				}
			}
		}
	}
	for _, text := range next {
		if !bytes.Equal(text, raw) {
			out = append(out, readings(text, depth-1)...)
		}
	}
	return out
}

// The search finds what it is to find, however it is wrapped.
func TestTheSearchFindsWhatIsWrapped(t *testing.T) {
	t.Parallel()
	const text = "before sesame-input-4711 after"
	qp := new(strings.Builder)
	w := quotedprintable.NewWriter(qp)
	_, err := io.WriteString(w, "é=é="+text+strings.Repeat(" long", 30))
	storetest.Must(t, err)
	storetest.Must(t, w.Close())
	for name, wrapped := range map[string]string{
		"plain": text, "quoted-printable": qp.String(), "base64": base64.StdEncoding.EncodeToString([]byte(text)), "percents": url.QueryEscape("/" + strings.ReplaceAll(text, "-", "/-")),
		"base64 in base64url": "id=" + base64.RawURLEncoding.EncodeToString([]byte("x"+text)), "entities": strings.ReplaceAll(text, "-", "&#45;"),
		"escapes": `{"a":"` + strings.ReplaceAll(text, "-", `\u002d`) + `"}`, "encoded words": mime.BEncoding.Encode("utf-8", "é"+text),
	} {
		if !slices.ContainsFunc(readings([]byte(wrapped), 2), func(b []byte) bool {
			return bytes.Contains(bytes.ReplaceAll(b, []byte("/-"), []byte("-")), []byte("sesame-input"))
		}) {
			t.Errorf("it is not found: %s: %s", name, wrapped)
		}
	}
}

// Requests that hold secrets in all that agents and people write are told by every kind of
// channel, in every kind of message, through the worker and the senders that a server has: no
// byte that leaves, and no line of the log, has any of it.
func TestNothingOfARequestLeavesTheProcess(t *testing.T) {
	t.Parallel()
	w := newLeakWorld(t)
	secrets := map[string]bool{}
	sesame := func(of string) string {
		s := "sesame-" + of + "-4711"
		secrets[s] = true
		return s
	}
	rule := func(minutes int) {
		t.Helper()
		_, err := w.ApplyPolicy(t.Context(), w.admin, fmt.Appendf(nil, `{"approval_enabled":true,"rules":[
		 {"name":"all","tools":["/.*/"],"effect":"require","risk":"medium","timeout_minutes":%d,"reviewers":["ann@example.com"],"reason":%q}]}`, minutes, sesame("policy-reason")), "test", 0)
		storetest.Must(t, err)
	}
	settings := func(quiet bool) {
		t.Helper()
		s := models.DefaultNotificationSettings()
		s.Moments[models.RiskMedium] = models.Moments{AtOnce: true, UnseenMinutes: 5, Half: true, Tenth: true}
		s.DigestAt = models.ClockTime(w.Now().Add(-2 * time.Hour).Format("15:04"))
		if quiet {
			s.QuietFrom, s.QuietTo = models.ClockTime(w.Now().Add(-time.Hour).Format("15:04")), models.ClockTime(w.Now().Add(3*time.Hour).Format("15:04"))
		}
		storetest.Must(t, w.People.SetNotificationSettings(t.Context(), w.ann, s))
	}
	ask := func() *models.Approval {
		t.Helper()
		a, err := w.Ask(t.Context(), w.agent, models.AskInput{
			AcceptsEdits: true,
			ToolName:     "Bash", Input: []byte(`{"command":"` + sesame("input") + `"}`), Explanation: models.Explanation{Description: sesame("description"), Context: sesame("context"), Preview: sesame("preview")},
			RunID: "run", ToolUseID: models.NewID[string](),
		})
		storetest.Must(t, err)
		return a
	}
	decide := func(a *models.Approval, in models.DecisionInput) {
		t.Helper()
		in.Page = models.NoPage
		if _, err := w.Decide(t.Context(), w.admin, a.ID, in); err != nil {
			t.Fatal(err)
		}
	}
	rule(60)
	settings(false)
	run, _, err := runs.New(w.Store).OpenRun(t.Context(), w.agent, models.RunInput{RunID: "run", Title: sesame("title")})
	storetest.Must(t, err)
	_, err = runs.New(w.Store).Rename(t.Context(), w.admin, run.ID, sesame("new-title"))
	storetest.Must(t, err)
	first := ask()
	w.wait(t, 58*time.Minute) // at once, unseen, at half and at a tenth
	_, err = w.AskBack(t.Context(), w.admin, first.ID, sesame("question"))
	storetest.Must(t, err)
	_, _, err = w.AnswerNote(t.Context(), w.agent, first.ID, sesame("note"))
	storetest.Must(t, err)
	decide(first, models.DecisionInput{Approved: new(true), Input: []byte(`{"command":"` + sesame("edit") + `"}`), Reason: sesame("reason")})
	w.wait(t, time.Minute)
	question, err := w.Ask(t.Context(), w.agent, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: sesame("asks")}, Options: []models.Option{{Name: sesame("option")}, {Name: "no"}}})
	storetest.Must(t, err)
	w.wait(t, 10*time.Minute)
	decide(question, models.DecisionInput{Answer: new(sesame("answer")), Reason: sesame("feedback")})
	w.wait(t, 2*time.Minute)
	for range 6 { // a burst, and failures enough for a channel to be told of
		ask()
	}
	w.wait(t, 3*time.Hour)
	settings(true)
	rule(30)
	ask()
	w.wait(t, 6*time.Hour)
	settings(false)
	rule(24 * 60)
	ask()
	w.wait(t, 23*time.Hour)
	w.pausedWebhook(t, "https://hooks.example.com/"+sesame("webhook-address"))
	w.wait(t, time.Minute)

	storetest.Must(t, w.People.SetRole(t.Context(), w.admin, w.ann.UserID(), models.RoleAdmin)) // who is told of webhooks
	w.pausesWebhook(t, "https://hooks.example.com/"+sesame("webhook-path"))
	w.wait(t, time.Minute)

	bo, cy := storetest.Reviewer(t, w.Store, "bo@example.com"), storetest.Reviewer(t, w.Store, "cy@example.com")
	_, err = w.ApplyPolicy(t.Context(), w.admin, fmt.Appendf(nil, `{"rules":[
	 {"name":"all","tools":["/.*/"],"effect":"require","reason":%q,"approvals":[{"from":["ann@example.com","bo@example.com"],"count":2}],"break_glass":["cy@example.com"]}]}`, sesame("policy-reason")), "test", 0)
	storetest.Must(t, err)
	broken := ask()
	storetest.Must(t, storetest.Err(w.People.DisableUser(t.Context(), w.admin, bo.UserID())))
	w.wait(t, time.Minute)
	storetest.Must(t, storetest.Err(w.Decide(t.Context(), cy, broken.ID, models.DecisionInput{
		Approved: new(true), BreakGlass: true, Reason: "The plant stops at noon: " + sesame("glass-reason"), Page: models.NoPage,
	})))
	w.wait(t, time.Minute)

	rule(60)
	flood, _ := storetest.AgentToken(t, w.Store, w.ann, "flood-bot")
	for range models.FloodAlike {
		_, err := w.Ask(t.Context(), flood, models.AskInput{
			ToolName: "Bash", Input: []byte(`{"command":"` + sesame("flood") + `"}`), ToolUseID: models.NewID[string](),
		})
		storetest.Must(t, err)
	}
	w.wait(t, time.Minute)

	storetest.Must(t, w.TellHead(t.Context(), true))
	w.wait(t, time.Minute)

	now, err := w.ApplyPolicy(t.Context(), w.admin, []byte(`{"policy_approvals":2}`), "test", 0)
	storetest.Must(t, err)
	room := drafts.New(w.Store)
	storetest.Must(t, storetest.Err(room.Keep(t.Context(), w.admin, now.Version, 0, `{"policy_approvals":2,"unmatched":"require"}`)))
	storetest.Must(t, room.Propose(t.Context(), w.admin, 1, sesame("policy-note")))
	w.wait(t, time.Minute)
	proposal, err := room.Proposal(t.Context(), w.admin)
	storetest.Must(t, err)
	storetest.Must(t, room.BeginAlone(t.Context(), w.admin, proposal.Digest, "No one else answers today: "+sesame("alone-reason")))
	w.wait(t, time.Hour)
	storetest.Must(t, storetest.Err(room.SaveAlone(t.Context(), w.admin, proposal.Digest)))
	w.wait(t, time.Minute)

	for _, kind := range models.NoticeKinds() {
		by := w.sender.kinds[kind]
		for _, channel := range models.ChannelKinds() {
			follows := slices.Contains([]models.NoticeKind{models.NoticeUnseen, models.NoticeHalf, models.NoticeTenth, models.NoticeSettled}, kind)
			if kind == models.NoticeTest || kind == models.NoticeInvite || kind == models.NoticeLedgerHead && channel != models.ChannelEmail || kind == models.NoticeCode && channel == models.ChannelWebPush || follows && !channel.FollowsUp() {
				continue
			}
			if by[channel] == 0 {
				t.Errorf("no %s message went out by %s: %v", kind, channel, by)
			}
		}
	}
	n := 0
	for name, raw := range w.left(t) {
		n += len(raw)
		for _, text := range readings(raw, 2) {
			for secret := range secrets {
				if bytes.Contains(bytes.ToLower(text), []byte(secret)) {
					t.Errorf("%s has %s:\n%s", name, secret, raw)
				}
			}
		}
	}
	t.Logf("%d bytes of %d messages searched for %d secrets", n, len(w.left(t))-1, len(secrets))
}
