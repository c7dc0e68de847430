package scenario_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/cmd/process"
	"countersign/handlers"
	"countersign/models"
	"countersign/models/storetest"
	"countersign/views/ui"
)

// door is one surface, in the words that all have in common.
type door interface {
	// ask has the owner's agent ask.
	ask(c call) (models.ResponseID, models.Code)
	// decide takes a verdict and returns the code that refuses it.
	decide(id models.ResponseID, c call, v deciding) models.Code
	// stands is what the surface shows of a request.
	stands(id models.ResponseID, c call) standing
}

// stage is a server with an owner and the owner's agent, a stranger and an
// admin.
type stage struct {
	*process.Server

	t      *testing.T // of the scenario that plays
	admin  models.Actor
	tokens map[string]string
	emails map[string]string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Server: process.Serve(t, storetest.Dir(t), ""), t: t}
	owner, stranger := storetest.Reviewer(t, s.Store(), ownerEmail), storetest.Reviewer(t, s.Store(), strangerEmail)
	s.admin = storetest.Admin(t, s.Store())
	s.emails = map[string]string{"owner": ownerEmail, "stranger": strangerEmail, "admin": storetest.AdminEmail}
	s.tokens = map[string]string{}
	_, s.tokens["agent"] = storetest.AgentToken(t, s.Store(), owner, "bot")
	_, s.tokens["owner"] = storetest.ReviewerToken(t, s.Store(), owner)
	_, s.tokens["stranger"] = storetest.ReviewerToken(t, s.Store(), stranger)
	_, s.tokens["admin"] = storetest.AdminToken(t, s.Store(), s.admin)
	return s
}

// reply is the answer of a JSON surface.
type reply struct {
	Code models.Code `json:"code"`

	ApprovalID       models.ResponseID `json:"approvalId"`
	Cause            models.Cause      `json:"cause"`
	Digest           string            `json:"digest"`
	Status           any               `json:"status"` // a number in problems
	RequiresApproval bool              `json:"requiresApproval"`
	Decision         *struct {
		Reason string `json:"reason"`
		By     *named `json:"by"`
	} `json:"decision"`

	ToolCallID   models.ResponseID `json:"tool_call_id"`
	ToolRequires bool              `json:"requires_approval"`
	DecidedBy    *named            `json:"decided_by"`
	Reason       string            `json:"reason"`

	Entries []historyEntry `json:"entries"`
}

type named struct {
	Name string `json:"name"`
}

func (n *named) name() string {
	if n == nil {
		return ""
	}
	return n.Name
}

// send has somebody send a JSON request; the status of a problem must be its
// code's.
func (s *stage) send(who, method, path string, body map[string]any) reply {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	if body == nil {
		raw = nil
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.Addr+path, bytes.NewReader(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.tokens[who])
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var got reply
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		s.t.Fatalf("%s %s: %s: %v", method, path, res.Status, err)
	}
	if got.Code != "" && handlers.Status(got.Code) != res.StatusCode || got.Code == "" && res.StatusCode >= 300 {
		s.t.Errorf("%s %s: %s with code %q", method, path, res.Status, got.Code)
	}
	return got
}

func (s *stage) withdraw(id models.ResponseID) {
	s.t.Helper()
	if got := s.send("agent", http.MethodPost, "/v1/approvals/"+string(id)+"/cancel", nil); got.Code != "" {
		s.t.Fatalf("cancel: %s", got.Code)
	}
}

// digestOf adds the digest that a verdict sends.
func digestOf(body map[string]any, v deciding, shown string) map[string]any {
	switch v.digest {
	case "":
		body["digest"] = shown
	case "wrong":
		body["digest"] = strings.Repeat("0", 64)
	}
	return body
}

// queueDoor is /v1/approvals.
type queueDoor struct{ *stage }

func (d *queueDoor) ask(c call) (models.ResponseID, models.Code) {
	d.t.Helper()
	got := d.send("agent", http.MethodPost, "/v1/approvals", map[string]any{
		"toolUseId": c.toolUse, "runId": c.session, "toolName": c.tool, "input": json.RawMessage(c.input),
	})
	return got.ApprovalID, got.Code
}

func (d *queueDoor) decide(id models.ResponseID, _ call, v deciding) models.Code {
	d.t.Helper()
	shown := d.send("admin", http.MethodGet, "/v1/approvals/"+string(id), nil).Digest
	return d.send(v.who, http.MethodPost, "/v1/approvals/"+string(id)+"/respond", digestOf(map[string]any{"approved": !v.reject, "reason": v.reason}, v, shown)).Code
}

func (d *queueDoor) stands(id models.ResponseID, _ call) standing {
	d.t.Helper()
	got := d.send("agent", http.MethodGet, "/v1/approvals/"+string(id), nil)
	status, _ := got.Status.(string)
	out := standing{status: models.Status(status), cause: got.Cause}
	switch {
	case !got.RequiresApproval:
		out.status = models.StatusNone
	case got.Decision != nil:
		out.by, out.reason = got.Decision.By.name(), got.Decision.Reason
	}
	return out
}

// toolDoor is /api/approval.
type toolDoor struct{ *stage }

func (d *toolDoor) ask(c call) (models.ResponseID, models.Code) {
	d.t.Helper()
	got := d.send("agent", http.MethodPost, "/api/approval/request", map[string]any{
		"tool_use_id": c.toolUse, "session_id": c.session, "tool_name": c.tool, "tool_input": json.RawMessage(c.input),
	})
	return got.ToolCallID, got.Code
}

func (d *toolDoor) invocation(who string, c call) reply {
	d.t.Helper()
	return d.send(who, http.MethodGet, "/api/approval/invocation/"+c.toolUse+"?session_id="+url.QueryEscape(c.session), nil)
}

func (d *toolDoor) decide(_ models.ResponseID, c call, v deciding) models.Code {
	d.t.Helper()
	decision := "APPROVED"
	if v.reject {
		decision = "REJECTED"
	}
	body := map[string]any{"tool_use_id": c.toolUse, "session_id": c.session, "decision": decision, "reason": v.reason}
	return d.send(v.who, http.MethodPost, "/api/approval/decide", digestOf(body, v, d.invocation("admin", c).Digest)).Code
}

func (d *toolDoor) stands(_ models.ResponseID, c call) standing {
	d.t.Helper()
	got := d.invocation("agent", c)
	words := map[any]models.Status{
		"PENDING": models.StatusPending, "APPROVED": models.StatusApproved, "REJECTED": models.StatusRejected,
		"TIMED_OUT": models.StatusExpired, "CANCELLED": models.StatusCancelled,
	}
	out := standing{status: words[got.Status], cause: got.Cause, by: got.DecidedBy.name()}
	switch {
	case !got.ToolRequires:
		out.status = models.StatusNone
	case out.status != models.StatusPending:
		out.reason = got.Reason
	}
	return out
}

// pagesDoor is the pages: forms in a browser. Agents ask over /api/approval.
type pagesDoor struct {
	*stage

	asks     door
	browsers map[string]*browser
}

type browser struct{ http.Client }

// as is the browser of somebody who has signed in; agents have none that would.
func (d *pagesDoor) as(who string) *browser {
	d.t.Helper()
	if b := d.browsers[who]; b != nil {
		return b
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.t.Fatal(err)
	}
	b := &browser{http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if email, person := d.emails[who]; person {
		if status, _, _ := d.load(b, http.MethodPost, "/signin", url.Values{"email": {email}, "password": {storetest.Password}}); status != http.StatusSeeOther {
			d.t.Fatalf("sign %s in: %d", who, status)
		}
	}
	d.browsers[who] = b
	return b
}

func (d *pagesDoor) load(b *browser, method, path string, form url.Values) (int, string, *goquery.Document) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, "http://"+d.Addr+path, strings.NewReader(form.Encode()))
	if err != nil {
		d.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := b.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := goquery.NewDocumentFromReader(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("Location"), page
}

func (d *pagesDoor) ask(c call) (models.ResponseID, models.Code) { return d.asks.ask(c) }

func (d *pagesDoor) decide(id models.ResponseID, _ call, v deciding) models.Code {
	d.t.Helper()
	path := "/approvals/" + string(id)
	// A browser has shown it to its end, and asked once more.
	form := url.Values{"verdict": {"approve"}, "reason": {v.reason}, "confirmed": {"true"}, "seen_end": {"1"}}
	if v.reject {
		form.Set("verdict", "reject")
	}
	switch v.digest {
	case "":
		_, _, page := d.load(d.as("admin"), http.MethodGet, path, nil)
		form.Set("digest", page.Find("#decide input[name=digest]").First().AttrOr("value", strings.Repeat("1", 64)))
	case "wrong":
		form.Set("digest", strings.Repeat("0", 64))
	}
	status, location, page := d.load(d.as(v.who), http.MethodPost, path+"/decide", form)
	switch {
	case status == http.StatusSeeOther && strings.HasPrefix(location, "/signin") && v.who == "agent":
		return models.CodeForbidden // a page knows people only
	case status == http.StatusSeeOther && location == path:
		return ""
	case status == handlers.Status(models.CodeNotFound):
		return models.CodeNotFound
	}
	return refusalOn(page, status)
}

// refusalOn reads which code a page means: pages have a status and words, which
// are these.
func refusalOn(page *goquery.Document, status int) models.Code {
	page.Find("template").Remove() // on no page until a script takes it
	notice := text(page.Find("p.flash[data-tone=warn]:not([hidden]), [data-kept-said]").First())
	switch conflict, invalid := status == http.StatusConflict, status == http.StatusUnprocessableEntity; {
	case conflict && strings.HasPrefix(notice, "Already expired."):
		return models.CodeExpired
	case conflict && strings.HasPrefix(notice, "Already "):
		return models.CodeAlreadyDecided
	case conflict && strings.HasPrefix(notice, "This request changed while you were looking at it."):
		return models.CodeDigestMismatch
	case invalid && page.Find("#reason-error").Length() > 0:
		return models.CodeInvalid
	case invalid && strings.Contains(text(page.Find("#decide")), "did not say what you were shown"):
		return models.CodeDigestRequired
	}
	return models.Code(http.StatusText(status) + ": " + notice)
}

func (d *pagesDoor) stands(id models.ResponseID, _ call) standing {
	d.t.Helper()
	status, _, page := d.load(d.as("admin"), http.MethodGet, "/approvals/"+string(id), nil)
	if status != http.StatusOK {
		d.t.Fatalf("the page of %s: %d", id, status)
	}
	outcome := page.Find("section.outcome")
	if outcome.Length() == 0 {
		return standing{status: models.StatusPending}
	}
	out := standing{by: text(outcome.Find(".outcome-line strong")), reason: text(outcome.Find(".outcome-text bdi").First())}
	for _, s := range []models.Status{models.StatusApproved, models.StatusRejected, models.StatusExpired, models.StatusCancelled} {
		if text(outcome.Find(".badge")) == ui.StatusWord(s, "").Text {
			out.status = s
		}
	}
	line := text(outcome.Find(".outcome-line"))
	for _, cause := range []models.Cause{models.CausePolicy, models.CauseGateOff, models.CauseTimeout, models.CauseCancelled} {
		if strings.Contains(line, cause.Text()) {
			out.cause = cause
		}
	}
	if out.cause == models.CauseCancelled && out.reason == "" {
		out.reason = "withdrawn by the agent" // which its cause, found above, has said in other words
	}
	if out.by != "" {
		out.cause = models.CauseReviewer
	}
	return out
}

func text(s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") }
