package webhooks_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/people"
	"countersign/models/runs"
	"countersign/models/storetest"
	"countersign/models/upkeep"
	"countersign/workers/webhooks"
)

// planted are secrets, one for each place where somebody can write a text.
type planted map[string]string

// of is the secret of a place.
func (p planted) of(place string) string {
	if p[place] == "" {
		p[place] = fmt.Sprintf("zx%dq-%s-kv7", len(p), place)
	}
	return p[place]
}

// formsOf are what a secret may look like on its way: as it is, encoded, and the digests that
// tell it to whoever guesses.
func formsOf(secret string) map[string]string {
	sum := sha256.Sum256([]byte(secret))
	out := map[string]string{
		"text": secret, "hex": hex.EncodeToString([]byte(secret)), "digest": models.DigestOfText(secret), "SHA-256": hex.EncodeToString(sum[:]),
		"SHA-256 in base64": base64.StdEncoding.EncodeToString(sum[:]),
	}
	for shift := range 3 { // base64 has three spellings within a longer text
		padded := append(bytes.Repeat([]byte("x"), shift), secret...)
		text := base64.RawStdEncoding.EncodeToString(padded)
		out[fmt.Sprint("base64, shifted by ", shift)] = text[4:min(len(text), len(padded)/3*4)]
	}
	return out
}

// escape is one byte of a text behind a percent sign, or as JSON may write it.
var escape = regexp.MustCompile(`(?i)(%|\\u00)[0-9a-f]{2}`)

// leaks names the places of which something is found in what was heard, also escaped.
func (p planted) leaks(heard string) (out []string) {
	plain := strings.ToLower(heard + escape.ReplaceAllStringFunc(heard, func(s string) string {
		b, _ := hex.DecodeString(s[len(s)-2:]) // it matched
		return string(b)
	}))
	for place, secret := range p {
		for form, text := range formsOf(secret) {
			if strings.Contains(plain, strings.ToLower(text)) {
				out = append(out, place+" as "+form)
			}
		}
	}
	slices.Sort(out)
	return out
}

// writeEverywhere does what people and agents can do, with a secret wherever they write.
func (p *place) writeEverywhere(t *testing.T, secrets planted) {
	t.Helper()
	ctx, yes, no := t.Context(), true, false
	input := func(place string) []byte { return []byte(`{"value":"` + secrets.of(place) + `"}`) }
	decide := func(a *models.Approval, in models.DecisionInput) {
		t.Helper()
		in.Digest = a.Digest
		storetest.Must(t, storetest.Err(p.Decide(ctx, p.admin, a.ID, in)))
	}
	asked := func(in models.AskInput) *models.Approval {
		t.Helper()
		in.Explicit = true
		a, err := p.Ask(ctx, p.agent, in)
		storetest.Must(t, err)
		return a
	}
	conv, _, err := runs.New(p.Store).OpenRun(ctx, p.agent, models.RunInput{RunID: secrets.of("run id"), ParentRunID: secrets.of("parent"), Title: secrets.of("title"), EnergyBudget: new(int64(50))})
	storetest.Must(t, err)
	call := models.AskInput{
		ToolName: "deploy", RunID: secrets.of("run id"), ToolUseID: secrets.of("tool use"), Input: input("input"), Explanation: models.Explanation{Description: secrets.of("description"), Context: secrets.of("context"), Preview: secrets.of("preview")}, AcceptsEdits: true,
	}
	a := asked(call)
	storetest.Must(t, storetest.Err(p.AskBack(ctx, p.admin, a.ID, secrets.of("question back"))))
	_, _, err = p.AnswerNote(ctx, p.agent, a.ID, secrets.of("answer of the agent"))
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(p.Escalate(ctx, p.agent, a.ID, secrets.of("escalation"))))
	decide(a, models.DecisionInput{Approved: &yes, Reason: secrets.of("reason"), Input: input("edit")})
	decide(asked(models.AskInput{ToolName: "deploy", Input: input("rejected")}), models.DecisionInput{Approved: &no, Reason: secrets.of("feedback")})
	decide(asked(models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "Which? " + secrets.of("question")}, Options: []models.Option{{Name: secrets.of("option")}, {Name: "other"}}}),
		models.DecisionInput{Answer: new(secrets.of("answer"))})
	cancelled := asked(models.AskInput{ToolName: "deploy", Input: input("cancelled")})
	storetest.Must(t, storetest.Err(p.Cancel(ctx, p.agent, cancelled.ID)))
	_, err = runs.New(p.Store).ReportEvents(ctx, p.agent, conv.ID, []models.RunEvent{
		{ID: "m", Type: models.RunEventMessage, Content: secrets.of("reported message")},
		{Type: models.RunEventToolCall, ToolUseID: "t", ToolName: "look", Input: input("reported input")},
		{Type: models.RunEventToolResult, ToolUseID: "t", Result: secrets.of("result")},
	})
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(runs.New(p.Store).Rename(ctx, p.admin, conv.ID, secrets.of("new title"))))
	storetest.Must(t, storetest.Err(p.ChangeBudget(ctx, p.admin, conv.ID, models.BudgetChange{Set: new(int64(80))}, secrets.of("budget"))))
	storetest.Must(t, storetest.Err(runs.New(p.Store).Say(ctx, p.admin, models.MessageInput{ConversationID: conv.ID, Content: secrets.of("message")})))
	for _, kind := range []models.Kind{models.KindProposal, models.KindReply} {
		storetest.Must(t, storetest.Err(p.Respond(ctx, p.agent, models.ResponseInput{ConversationID: conv.ID, Kind: kind, Content: secrets.of(string(kind))})))
	}
	stop, _, err := p.Stop(ctx, p.admin, "", secrets.of("stop"))
	storetest.Must(t, err)
	storetest.Must(t, p.Lift(ctx, p.admin, stop.ID, secrets.of("end of a stop")))
	_, err = p.ApplyPolicy(ctx, p.admin, []byte(`{"rules":[{"name":"money","tools":["`+secrets.of("policy")+`"],"effect":"require","risk":"high"}]}`), secrets.of("policy note"), 0)
	storetest.Must(t, err)
	storetest.Must(t, p.People.AddGroup(ctx, p.admin, "treasury", secrets.of("group note")))
	storetest.Must(t, p.People.AllowHost(ctx, p.admin, secrets.of("host")+".example.com"))
	storetest.Must(t, p.People.RemoveHost(ctx, p.admin, secrets.of("host")+".example.com"))
	_, err = outside.New(p.Store).AddUpstream(ctx, p.admin, outside.NewUpstream{
		Name: "orders", BaseURL: "https://" + secrets.of("upstream") + ".example.com", Dialect: "plain", Key: secrets.of("upstream key"), OwnerID: p.admin.UserID(),
	})
	storetest.Must(t, err)
	_, err = p.People.AddUser(ctx, p.admin, people.NewUser{Email: secrets.of("email") + "@example.com", Name: "Cy", Role: models.RoleReviewer, Password: secrets.of("password")})
	storetest.Must(t, err)
	storetest.Must(t, p.People.SetPassword(ctx, p.admin, p.admin.UserID(), secrets.of("another password")))
	secret, _, err := p.People.Invite(ctx, p.admin, secrets.of("invited")+"@example.com", models.RoleReviewer)
	storetest.Must(t, err)
	secrets["invitation"] = secret
	_, secrets["token"] = storetest.ReviewerToken(t, p.Store, p.admin)
}

// Nothing that somebody wrote goes to an endpoint without the right to inputs: not in a body,
// header or address, as it is, encoded, or as a digest by which it could be guessed. With the
// right come the inputs, and nothing else.
func TestNothingThatSomebodyWroteLeavesI13(t *testing.T) {
	t.Parallel()
	p, secrets := newPlace(t), planted{}
	var without, with *tap
	plain := newReceiverAt(t, func(l net.Listener) net.Listener { without = &tap{Listener: l}; return without })
	trusted := newReceiverAt(t, func(l net.Listener) net.Listener { with = &tap{Listener: l}; return with })
	h := p.add(t, plain, models.WebhookInput{Name: "plain"})
	g := p.add(t, trusted, models.WebhookInput{Name: "trusted", Inputs: true})
	p.writeEverywhere(t, secrets)
	w := p.runs(t)
	all := func(r *receiver, id models.WebhookID) {
		t.Helper()
		r.await(t, "all events", func() bool { s := p.state(t, id); return s.Behind == 0 && s.BlockCount == 0 })
	}
	all(plain, h.ID)
	all(trusted, g.ID)

	plain.set(func(event) int { return http.StatusBadRequest })
	p.ask(t, "", "refused")
	plain.await(t, "a refusal", func() bool { return p.state(t, h.ID).BlockCount == 1 })
	blocks, err := p.Webhooks.Blocks(t.Context(), p.admin, h.ID)
	storetest.Must(t, err)
	storetest.Must(t, p.Webhooks.Skip(t.Context(), p.admin, h.ID, blocks[0].Seq, secrets.of("reason to skip")))
	plain.set(nil)
	storetest.Must(t, p.Webhooks.RetryNow(t.Context(), p.admin, h.ID))
	all(plain, h.ID)
	storetest.Must(t, storetest.Err(w.Test(t.Context(), p.admin, h.ID)))
	all(trusted, g.ID)

	if got := secrets.leaks(without.heard()); len(got) > 0 {
		t.Errorf("it went out, without the right to inputs: %q", got)
	}
	inputs := []string{"cancelled as text", "edit as text", "input as text", "rejected as text"}
	if got := secrets.leaks(with.heard()); !slices.Equal(got, inputs) {
		t.Errorf("with the right to inputs: %q, want %q", got, inputs)
	}

	// What was removed stays removed, at sending and at replay.
	purge, err := upkeep.New(p.Store).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: p.clock.Step(time.Hour)})
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(purge.All(t.Context())))
	before, came := len(with.heard()), trusted.count()
	storetest.Must(t, p.Webhooks.Replay(t.Context(), p.admin, g.ID, models.WebhookFrom{Seq: 1}))
	trusted.await(t, "all again", func() bool { return trusted.count() > came && p.sent(t, g.ID) })
	all(plain, h.ID)
	if got := secrets.leaks(with.heard()[before:]); len(got) > 0 {
		t.Errorf("it was removed, and went out: %q", got)
	}
	for name := range plain.got()[0].Head {
		if !slices.Contains([]string{"Accept-Encoding", "Connection", "Content-Length", "Content-Type", "User-Agent", "Webhook-Id", "Webhook-Signature", "Webhook-Timestamp"}, name) {
			t.Errorf("the header %s", name)
		}
	}
	if types := typesOf(plain.got()); len(types) < 29 || !slices.Contains(types, "contents.removed") {
		t.Errorf("only these types of events were searched: %q", types)
	}
	digests := map[string]bool{}
	for _, e := range plain.got() {
		noteDigests(t, []byte(e.Raw), digests)
	}
	if len(digests) != 2 || !digests["digest"] || !digests["edited_digest"] {
		t.Errorf("digests that went out: %v", digests)
	}
}

func typesOf(all []event) (out []string) {
	for _, e := range all {
		out = append(out, e.Type)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// noteDigests notes the names of members that are digests, wherever they are.
func noteDigests(t *testing.T, raw []byte, out map[string]bool) {
	t.Helper()
	var v any
	storetest.Must(t, json.Unmarshal(raw, &v))
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				if _, text := value.(string); text && strings.HasSuffix(name, "igest") {
					out[name] = true
				}
				walk(value)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(v)
}

// What looks for leaks finds them.
func TestLeaksAreFound(t *testing.T) {
	t.Parallel()
	secrets := planted{}
	text := secrets.of("reason")
	sum := sha256.Sum256([]byte(text))
	for name, heard := range map[string]string{
		"as it is": "a" + text + "b", "in capitals": strings.ToUpper(text), "base64": base64.StdEncoding.EncodeToString([]byte("ab " + text + " cd")),
		"base64 of a JSON text": base64.URLEncoding.EncodeToString([]byte(`{"a":"` + text + `"}`)), "percent": "GET /" + strings.ReplaceAll(text, "-", "%2D"),
		"escaped": strings.ReplaceAll(text, "-", `\u002d`), "hex": fmt.Sprintf("%X", text), "digest": models.DigestOfText(text), "plain digest": fmt.Sprintf("%x", sum),
	} {
		if len(secrets.leaks(heard)) == 0 {
			t.Errorf("%s: not found in %s", name, heard)
		}
	}
	if got := secrets.leaks(time.Time{}.String()); len(got) > 0 {
		t.Errorf("found in nothing: %q", got)
	}
}

// Logs name an endpoint by its id: no key, address or input is in them, whatever fails.
func TestLogsTellNoSecret(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	var said bytes.Buffer
	refused := requested()
	refused.Inputs = true
	h := p.add(t, r, refused)
	key, err := p.Webhooks.Rotate(t.Context(), p.admin, h.ID)
	storetest.Must(t, err)
	r.key(t, key)
	r.set(func(event) int { return http.StatusInternalServerError })
	dead, locked := storetest.ClosedPort(t), "locked.internal"
	keys := []string{key}
	for _, host := range []string{dead, locked} {
		storetest.Must(t, p.People.AllowHost(t.Context(), p.admin, host))
		in := requested()
		in.Name, in.URL = host, "http://"+host+"/s3cret-path?key=s3cret-key"
		_, key, err := p.Webhooks.Add(t.Context(), p.admin, in)
		storetest.Must(t, err)
		keys = append(keys, key)
	}
	storetest.Must(t, storetest.Err(storetest.Tamper(t, p.Store).ExecContext(t.Context(), `UPDATE webhooks SET target_sealed = x'00' WHERE name = ?`, locked)))
	p.runs(t, func(o *webhooks.Options) {
		o.Log = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	p.ask(t, "run", "one")
	r.await(t, "what fails", func() bool {
		all, err := p.Webhooks.List(t.Context(), p.admin)
		storetest.Must(t, err)
		blocked := 0
		for _, h := range all {
			blocked += h.BlockCount
		}
		return blocked == 2
	})
	p.stop()
	log := said.String()
	if !strings.Contains(log, "can't be opened") || strings.Count(log, "an event is not accepted") < 2 {
		t.Errorf("the log says nothing of it: %s", log)
	}
	for _, secret := range append(keys, "s3cret", "whsec_", "input-", "/hook") {
		if strings.Contains(log, secret) {
			t.Errorf("%s is in the log: %s", secret, log)
		}
	}
}
