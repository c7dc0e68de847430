package request_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

func undoOf(a *models.Approval) string { return webtest.PageOf(a) + "/undo" }

// long is a command that its page folds.
func long(in *models.AskInput) {
	in.Input = []byte(`{"command":"` + strings.Repeat(`echo one\n`, 100) + `"}`)
}

// What can do much harm is approved on pages by those only who have opened all of
// it, whatever they send.
func TestApprovingIsClosedUntilAllIsOpened(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.Danger)
	owner, admin := w.SignIn(webtest.OwnerEmail), w.SignIn("admin@example.com")
	a := w.Ask(long)
	shown := owner.Get(webtest.PageOf(a)).Is(http.StatusOK).Says("#decide", "Open the")
	if shown.Doc.Find("#approve").Length() != 0 || shown.Doc.Find("#reject").Length() != 1 {
		t.Error("it can be approved, or not be rejected")
	}
	folds := shown.Doc.Find("form.open-part")
	if folds.Length() == 0 {
		t.Fatal("nothing is folded")
	}
	crafted := url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "reason": {"trust me"}}
	edited := url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "edit": {"json"}, "input": {`{"command":"ls"}`}}
	here := "/conversations/" + string(a.ConversationID) + "/decide/" + string(a.ID)
	for at, form := range map[string]url.Values{webtest.DecideOf(a): crafted, here: crafted, webtest.DecideOf(a) + "?": edited} {
		owner.Post(at, form).Is(http.StatusUnprocessableEntity).Says("main", "Nothing was decided")
	}
	owner.Post(webtest.DecideOf(a), crafted, webtest.HTMX).Is(http.StatusUnprocessableEntity).IsFragment().Says("#decide", "a section of this request is closed")
	if got := w.Approval(a.ID); got.Status() != models.StatusPending {
		t.Fatalf("a crafted form decided: %s", got.Status())
	}
	owner.Post(webtest.PageOf(a)+"/open", url.Values{"part": {"nothing"}}).Is(http.StatusUnprocessableEntity)
	admin.Post(webtest.PageOf(a)+"/open", url.Values{"part": {"source"}}) // of another person
	for n := range 5 {
		folded := owner.Get(webtest.PageOf(a)).Doc.Find("form.open-part input[name=part]").First()
		if folded.Length() == 0 {
			break
		}
		if n == 4 {
			t.Fatal("what was opened stays folded")
		}
		got := owner.Post(webtest.PageOf(a)+"/open", url.Values{"part": {folded.AttrOr("value", "")}}).Is(http.StatusSeeOther)
		if to := got.Header.Get("Location"); !strings.HasPrefix(to, webtest.PageOf(a)+"#") || owner.Get(webtest.PageOf(a)).Doc.Find(to[len(webtest.PageOf(a)):]).Length() != 1 {
			t.Errorf("opening leads to %q", to)
		}
	}
	form := owner.Get(webtest.PageOf(a)).Form("#decide form.verdict", "#approve")
	maps.Copy(form, url.Values{"confirmed": {"true"}, "seen_end": {"1"}})
	owner.Post(webtest.DecideOf(a), form).Redirects(webtest.PageOf(a))
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved {
		t.Errorf("stands as %s", got.Status())
	}
	b := w.Ask(long) // rejecting wants nothing opened
	owner.Post(webtest.DecideOf(b), url.Values{"verdict": {"reject"}}).Redirects(webtest.PageOf(b))
}

func TestReasonsToRejectThatTheRuleOffers(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.Danger)
	p := w.SignIn(webtest.OwnerEmail)
	for _, c := range []struct{ preset, reason, verdict, want string }{
		{"Wrong branch", "", "reject", "Wrong branch"},
		{"Wrong branch", "use release", "reject", "Wrong branch\nuse release"},
		{"", "because", "reject", "because"},
		{"", "fine", "approve", "fine"},
	} {
		a := w.Ask()
		shown := p.Get(webtest.PageOf(a)).Says(".presets", "Wrong branch", "Not on a Friday")
		form := shown.Form("#decide form.verdict", "#"+c.verdict)
		form.Set("preset", c.preset)
		form.Set("reason", c.reason)
		maps.Copy(form, url.Values{"confirmed": {"true"}, "seen_end": {"1"}}) // danger is high risk
		p.Post(webtest.DecideOf(a), form).Redirects(webtest.PageOf(a))
		if got := w.Approval(a.ID); got.Feedback() != c.want {
			t.Errorf("%+v: told %q", c, got.Feedback())
		}
	}
	a := w.Ask()
	got := p.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}, "preset": {"Wrong branch"}, "reason": {strings.Repeat("x", models.MaxReason)}}).Is(http.StatusUnprocessableEntity)
	if got.Doc.Find("input[name=preset][checked]").AttrOr("value", "") != "Wrong branch" {
		t.Error("the chosen reason was lost")
	}
}

// An approval that is held is taken back by who gave it, and by nobody else; then
// it can be decided again.
func TestTakingAnApprovalBack(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"undo_seconds":{"medium":30}}`)
	owner, admin := w.SignIn(webtest.OwnerEmail), w.SignIn("admin@example.com")
	a := w.Ask()
	form := owner.Get(webtest.PageOf(a)).Says("#decide", "can undo it for 30 s").Form("#decide form.verdict", "#approve")
	owner.Post(webtest.DecideOf(a), form).Redirects(webtest.PageOf(a))
	mine := owner.Get(webtest.PageOf(a)).Says("#decide", "Approved – sends in 30 s", "Undo")
	if until := mine.Doc.Find("#undo").AttrOr("data-until", ""); until == "" {
		t.Error("how long is not said")
	}
	theirs := admin.Get(webtest.PageOf(a)).Says("#decide", webtest.OwnerEmail+"'s decision is being sent")
	if theirs.Doc.Find("#undo, #approve, #reject").Length() != 0 {
		t.Error("somebody else can take it back, or decide")
	}
	admin.Post(undoOf(a), nil).Is(http.StatusConflict)
	row := []webtest.Header{webtest.HTMX, {"HX-Target", "section#detail"}} // from the list what comes back fits the whole pane
	admin.Post(undoOf(a), url.Values{"desk": {"order=age"}}, row...).Is(http.StatusConflict).IsFragment().Says("#detail > #approval .flash", webtest.OwnerEmail)
	admin.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}}).Is(http.StatusConflict).Says(".flash", webtest.OwnerEmail)
	owner.Post(undoOf(a), mine.Form("form.undo", "#undo")).Redirects(webtest.PageOf(a))
	if got := w.Approval(a.ID); got.Status() != models.StatusPending || got.HeldUntil != nil {
		t.Errorf("after taking back: %s, held until %v", got.Status(), got.HeldUntil)
	}
	owner.Post(webtest.DecideOf(a), form, webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#decide", "Undo")
	w.Clock.Step(31 * time.Second)
	if n, err := w.Store.ReleaseDue(t.Context(), 10); n != 1 || err != nil {
		t.Fatalf("%d released, %v", n, err)
	}
	owner.Post(undoOf(a), nil).Is(http.StatusConflict).Says(".flash", "Already approved", "undo changed nothing")
}

func TestAskingBackAndAnswering(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.Danger)
	owner, admin := w.SignIn(webtest.OwnerEmail), w.SignIn("admin@example.com")
	a := w.Ask()
	before := a.ApprovalTimeoutAt
	w.Clock.Step(time.Minute)
	shown := admin.Get(webtest.PageOf(a)).Says("#ask", "The timer pauses until they answer, for at most 30 min", "4 min will be left")
	form := shown.Form("#ask form", "#ask-send")
	admin.Post(webtest.PageOf(a)+"/ask", form).Is(http.StatusUnprocessableEntity).Says("#ask-text-error", "empty")
	form.Set("text", "Which\r\nbranch?")
	admin.Post(webtest.PageOf(a)+"/ask", form).Redirects(webtest.PageOf(a))
	asked := w.Approval(a.ID)
	if asked.OpenNote == nil || !asked.ApprovalTimeoutAt.After(before) || asked.Note.Content != "Which\nbranch?" {
		t.Fatalf("asked back: %+v until %v", asked.Note, asked.ApprovalTimeoutAt)
	}
	theirs := admin.Get(webtest.PageOf(a)).Says("#notes", "admin@example.com", "Which branch?", "waiting for an answer", "After that, 4 min will be left")
	if theirs.Doc.Find(".note-form").Length() != 0 {
		t.Error("who is not the owner answers for the agent")
	}
	admin.Post(webtest.PageOf(a)+"/notes", url.Values{"text": {"main"}}).Is(http.StatusForbidden)
	w.Clock.Step(10 * time.Minute)
	mine := owner.Get(webtest.PageOf(a)).Form(".note-form", "#note-send")
	owner.Post(webtest.PageOf(a)+"/notes", mine).Is(http.StatusUnprocessableEntity).Says("#note-error", "empty")
	mine.Set("text", "main")
	owner.Post(webtest.PageOf(a)+"/notes", mine, webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#notes", "main")
	got := w.Approval(a.ID)
	if want := w.Clock.Now().Add(4 * time.Minute); got.OpenNote != nil || !got.ApprovalTimeoutAt.Equal(want) {
		t.Errorf("after the answer: until %v, want %v", got.ApprovalTimeoutAt, want)
	}
	admin.Post(webtest.DecideOf(a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "confirmed": {"true"}, "seen_end": {"1"}}).Redirects(webtest.PageOf(a))
	admin.Post(webtest.PageOf(a)+"/ask", url.Values{"text": {"Why?"}}).Is(http.StatusConflict).Says(".flash", "Already approved", "question changed nothing")
	admin.Get(webtest.PageOf(a)).Says("#notes", "Which branch?", "main") // what was said stays
}

func TestMovingTheDeadline(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.Danger)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Ask()
	until := a.ApprovalTimeoutAt
	at := webtest.PageOf(a) + "/extend"
	p.Get(webtest.PageOf(a)).Says("#extend", "+15 min", "+1 h", "Max (2 h)").SaysNot("#extend", "+4 h")
	for _, c := range []struct {
		minutes string
		status  int
		after   time.Duration // to what stood before
	}{
		{"", 422, 0},
		{"-5", 422, 0},
		{"0", 422, 0},
		{"soon", 422, 0},
		{"9999", 422, 0},
		{"307445735", 422, 0}, // as nanoseconds in 64 bits, 26 seconds
		{"15", 303, 15 * time.Minute},
		{"1", 303, time.Minute},
	} {
		got := p.Post(at, url.Values{"minutes": {c.minutes}}).Is(c.status)
		if c.status == 422 && (got.Text("#minutes-error") == "" || got.Doc.Find("#extend[open]").Length() != 1) {
			t.Errorf("%q: nothing is said at the field", c.minutes)
		}
		if c.minutes == "9999" && got.Value("#minutes") != "9999" {
			t.Error("what was typed is lost")
		}
		until = until.Add(c.after)
		if got := w.Approval(a.ID).ApprovalTimeoutAt; !got.Equal(until) {
			t.Errorf("%q: until %v, want %v", c.minutes, got, until)
		}
	}
	p.Post(at, url.Values{"minutes": {"most"}}).Redirects(webtest.PageOf(a))
	if got, want := w.Approval(a.ID).ApprovalTimeoutAt, w.Clock.Now().Add(2*time.Hour); !got.Equal(want) {
		t.Errorf("as far as may be: %v, want %v", got, want)
	}
	if n := p.Get(webtest.PageOf(a)).Doc.Find("#extend").Length(); n != 0 {
		t.Error("more time is offered where there is none")
	}
	q := w.Ask(webtest.Question)
	if n := p.Get(webtest.PageOf(q)).Doc.Find("#extend").Length(); n != 0 {
		t.Error("more time is offered without a deadline")
	}
	p.Post(webtest.PageOf(q)+"/extend", url.Values{"minutes": {"5"}}).Is(http.StatusUnprocessableEntity).Says("main", "no deadline")
}

func TestWithdrawing(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules":[{"name":"Shell","tools":["Bash"],"effect":"require","reviewers":["` + webtest.StrangerEmail + `"]}]}`)
	a := w.Ask()
	stranger, owner := w.SignIn(webtest.StrangerEmail), w.SignIn(webtest.OwnerEmail)
	if n := stranger.Get(webtest.PageOf(a)).Is(http.StatusOK).Doc.Find("#cancel, .act-link, .note-form").Length(); n != 0 {
		t.Errorf("whom it was routed to may do %d things that are the owner's", n)
	}
	stranger.Post(webtest.PageOf(a)+"/cancel", nil).Is(http.StatusForbidden)
	next := w.Ask(func(in *models.AskInput) { in.Input = []byte(`{"command":"make next"}`) })
	owner.Post(webtest.PageOf(a)+"/cancel", owner.Get(webtest.PageOf(a)).Form("#cancel form", "#cancel-send")).Redirects(webtest.PageOf(a))
	after := owner.Get(webtest.PageOf(a)).Says(".outcome", "cancelled", "Cancelled by "+webtest.OwnerEmail, "Next request")
	if to := after.Doc.Find(".outcome-next a").AttrOr("href", ""); to != webtest.PageOf(next) {
		t.Errorf("the next one is %q", to)
	}
	owner.Post(webtest.PageOf(a)+"/cancel", nil).Redirects(webtest.PageOf(a)) // a repeat changes nothing
	owner.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}}).Is(http.StatusConflict).Says(".flash", "Cancelled by "+webtest.OwnerEmail)
}

// What was done from the card beside the list leads back beside the list.
func TestTheCardBesideTheListLeadsBackThere(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Ask()
	desk := "tool=Bash&open=" + string(a.ID)
	card := p.Get(webtest.PageOf(a)+"?desk="+url.QueryEscape(desk), webtest.HTMX).Is(http.StatusOK).IsFragment()
	if card.Doc.Find("#approval .back").Length() != 0 || card.Doc.Find("h1").Length() != 0 {
		t.Error("the card is drawn as a page")
	}
	card.Doc.Find("#approval form").Each(func(_ int, form *goquery.Selection) {
		if action := form.AttrOr("action", ""); form.Find("input[name=desk]").Length() != 1 && !strings.Contains(action, "desk=") {
			t.Errorf("the form to %s forgets where it stands", action)
		}
	})
	place := "/?tool=Bash&open=" + string(a.ID)
	for _, c := range []struct {
		path string
		form url.Values
	}{
		{"/ask", url.Values{"text": {"Why?"}}},
		{"/notes", url.Values{"text": {"Because."}}},
		{"/extend", url.Values{"minutes": {"15"}}},
	} {
		form := maps.Clone(c.form)
		form.Set("desk", desk)
		p.Post(webtest.PageOf(a)+c.path, form).Redirects(place)
		p.Post(webtest.PageOf(a)+c.path, url.Values{"desk": {desk}}, webtest.HTMX).Is(http.StatusUnprocessableEntity).IsFragment()
	}
	p.Post(webtest.PageOf(a)+"/ask", url.Values{"text": {"Again?"}, "desk": {"//evil.example/?x"}}).Is(http.StatusSeeOther)
	whole := p.Post(webtest.PageOf(a)+"/ask", url.Values{"desk": {desk}}).Is(http.StatusUnprocessableEntity)
	if whole.Doc.Find("h1").Length() != 1 || whole.Doc.Find(".back").AttrOr("href", "") != place {
		t.Errorf("without script an error stands on no page, or leads back to %q", whole.Doc.Find(".back").AttrOr("href", ""))
	}
	got := p.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}, "desk": {desk}}).Is(http.StatusSeeOther)
	if to := got.Header.Get("Location"); !strings.HasPrefix(to, "/?tool=Bash") {
		t.Errorf("a verdict leads to %q", to)
	}
}
