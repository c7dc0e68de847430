package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"countersign/models"
)

// danger has Bash be of high risk, with reasons to reject, and holds nothing.
const danger = `{"max_timeout_minutes":120,"max_pause_minutes":30,"rules":[{"name":"Shell","tools":["Bash"],"effect":"require","risk":"high","reject_reasons":["Wrong branch","Not on a Friday"]}]}`

func undoOf(a *models.Approval) string { return pageOf(a) + "/undo" }

// long is a command that its page folds.
func long(in *models.AskInput) {
	in.Input = []byte(`{"command":"` + strings.Repeat(`echo one\n`, 100) + `"}`)
}

// What can do much harm is approved on pages by those only who have opened all of
// it, whatever they send.
func TestApprovingIsClosedUntilAllIsOpened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(danger)
	owner, admin := w.signedIn(ownerEmail), w.signedIn("admin@example.com")
	a := w.ask(long)
	shown := owner.get(pageOf(a)).is(http.StatusOK).says("#decide", "Open the")
	if shown.doc.Find("#approve").Length() != 0 || shown.doc.Find("#reject").Length() != 1 {
		t.Error("it can be approved, or not be rejected")
	}
	folds := shown.doc.Find("form.open-part")
	if folds.Length() == 0 {
		t.Fatal("nothing is folded")
	}
	crafted := url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "reason": {"trust me"}}
	edited := url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "edit": {"json"}, "input": {`{"command":"ls"}`}}
	here := "/conversations/" + string(a.ConversationID) + "/decide/" + string(a.ID)
	for at, form := range map[string]url.Values{decideOf(a): crafted, here: crafted, decideOf(a) + "?": edited} {
		owner.post(at, form).is(http.StatusUnprocessableEntity).says("main", "Nothing was decided")
	}
	owner.post(decideOf(a), crafted, htmx).is(http.StatusUnprocessableEntity).isFragment().says("#decide", "a section of this request is closed")
	if got := w.stands(a.ID); got.Status() != models.StatusPending {
		t.Fatalf("a crafted form decided: %s", got.Status())
	}
	owner.post(pageOf(a)+"/open", url.Values{"part": {"nothing"}}).is(http.StatusUnprocessableEntity)
	admin.post(pageOf(a)+"/open", url.Values{"part": {"source"}}) // of another person
	for n := range 5 {
		folded := owner.get(pageOf(a)).doc.Find("form.open-part input[name=part]").First()
		if folded.Length() == 0 {
			break
		}
		if n == 4 {
			t.Fatal("what was opened stays folded")
		}
		got := owner.post(pageOf(a)+"/open", url.Values{"part": {folded.AttrOr("value", "")}}).is(http.StatusSeeOther)
		if to := got.header.Get("Location"); !strings.HasPrefix(to, pageOf(a)+"#") || owner.get(pageOf(a)).doc.Find(to[len(pageOf(a)):]).Length() != 1 {
			t.Errorf("opening leads to %q", to)
		}
	}
	form := owner.get(pageOf(a)).form("#decide form.verdict", "#approve")
	maps.Copy(form, url.Values{"confirmed": {"true"}, "seen_end": {"1"}})
	owner.post(decideOf(a), form).redirects(pageOf(a))
	if got := w.stands(a.ID); got.Status() != models.StatusApproved {
		t.Errorf("stands as %s", got.Status())
	}
	b := w.ask(long) // rejecting wants nothing opened
	owner.post(decideOf(b), url.Values{"verdict": {"reject"}}).redirects(pageOf(b))
}

func TestReasonsToRejectThatTheRuleOffers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(danger)
	p := w.signedIn(ownerEmail)
	for _, c := range []struct{ preset, reason, verdict, want string }{
		{"Wrong branch", "", "reject", "Wrong branch"},
		{"Wrong branch", "use release", "reject", "Wrong branch\nuse release"},
		{"", "because", "reject", "because"},
		{"", "fine", "approve", "fine"},
	} {
		a := w.ask()
		shown := p.get(pageOf(a)).says(".presets", "Wrong branch", "Not on a Friday")
		form := shown.form("#decide form.verdict", "#"+c.verdict)
		form.Set("preset", c.preset)
		form.Set("reason", c.reason)
		maps.Copy(form, url.Values{"confirmed": {"true"}, "seen_end": {"1"}}) // danger is high risk
		p.post(decideOf(a), form).redirects(pageOf(a))
		if got := w.stands(a.ID); got.Feedback() != c.want {
			t.Errorf("%+v: told %q", c, got.Feedback())
		}
	}
	a := w.ask()
	got := p.post(decideOf(a), url.Values{"verdict": {"reject"}, "preset": {"Wrong branch"}, "reason": {strings.Repeat("x", models.MaxReason)}}).is(http.StatusUnprocessableEntity)
	if got.doc.Find("input[name=preset][checked]").AttrOr("value", "") != "Wrong branch" {
		t.Error("the chosen reason was lost")
	}
}

// An approval that is held is taken back by who gave it, and by nobody else; then
// it can be decided again.
func TestTakingAnApprovalBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"undo_seconds":{"medium":30}}`)
	owner, admin := w.signedIn(ownerEmail), w.signedIn("admin@example.com")
	a := w.ask()
	form := owner.get(pageOf(a)).says("#decide", "can undo it for 30 s").form("#decide form.verdict", "#approve")
	owner.post(decideOf(a), form).redirects(pageOf(a))
	mine := owner.get(pageOf(a)).says("#decide", "Approved – sends in 30 s", "Undo")
	if until := mine.doc.Find("#undo").AttrOr("data-until", ""); until == "" {
		t.Error("how long is not said")
	}
	theirs := admin.get(pageOf(a)).says("#decide", ownerEmail+"'s decision is being sent")
	if theirs.doc.Find("#undo, #approve, #reject").Length() != 0 {
		t.Error("somebody else can take it back, or decide")
	}
	admin.post(undoOf(a), nil).is(http.StatusConflict)
	row := []header{htmx, {"HX-Target", "section#detail"}} // from the list what comes back fits the whole pane
	admin.post(undoOf(a), url.Values{"desk": {"order=age"}}, row...).is(http.StatusConflict).isFragment().says("#detail > #approval .flash", ownerEmail)
	admin.post(decideOf(a), url.Values{"verdict": {"reject"}}).is(http.StatusConflict).says(".flash", ownerEmail)
	owner.post(undoOf(a), mine.form("form.undo", "#undo")).redirects(pageOf(a))
	if got := w.stands(a.ID); got.Status() != models.StatusPending || got.HeldUntil != nil {
		t.Errorf("after taking back: %s, held until %v", got.Status(), got.HeldUntil)
	}
	owner.post(decideOf(a), form, htmx).is(http.StatusOK).isFragment().says("#decide", "Undo")
	w.clock.Step(31 * time.Second)
	if n, err := w.store.ReleaseDue(t.Context(), 10); n != 1 || err != nil {
		t.Fatalf("%d released, %v", n, err)
	}
	owner.post(undoOf(a), nil).is(http.StatusConflict).says(".flash", "Already approved", "undo changed nothing")
}

func TestAskingBackAndAnswering(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(danger)
	owner, admin := w.signedIn(ownerEmail), w.signedIn("admin@example.com")
	a := w.ask()
	before := a.ApprovalTimeoutAt
	w.clock.Step(time.Minute)
	shown := admin.get(pageOf(a)).says("#ask", "The timer pauses until they answer, for at most 30 min", "4 min will be left")
	form := shown.form("#ask form", "#ask-send")
	admin.post(pageOf(a)+"/ask", form).is(http.StatusUnprocessableEntity).says("#ask-text-error", "empty")
	form.Set("text", "Which\r\nbranch?")
	admin.post(pageOf(a)+"/ask", form).redirects(pageOf(a))
	asked := w.stands(a.ID)
	if asked.OpenNote == nil || !asked.ApprovalTimeoutAt.After(before) || asked.Note.Content != "Which\nbranch?" {
		t.Fatalf("asked back: %+v until %v", asked.Note, asked.ApprovalTimeoutAt)
	}
	theirs := admin.get(pageOf(a)).says("#notes", "admin@example.com", "Which branch?", "waiting for an answer", "After that, 4 min will be left")
	if theirs.doc.Find(".note-form").Length() != 0 {
		t.Error("who is not the owner answers for the agent")
	}
	admin.post(pageOf(a)+"/notes", url.Values{"text": {"main"}}).is(http.StatusForbidden)
	w.clock.Step(10 * time.Minute)
	mine := owner.get(pageOf(a)).form(".note-form", "#note-send")
	owner.post(pageOf(a)+"/notes", mine).is(http.StatusUnprocessableEntity).says("#note-error", "empty")
	mine.Set("text", "main")
	owner.post(pageOf(a)+"/notes", mine, htmx).is(http.StatusOK).isFragment().says("#notes", "main")
	got := w.stands(a.ID)
	if want := w.clock.Now().Add(4 * time.Minute); got.OpenNote != nil || !got.ApprovalTimeoutAt.Equal(want) {
		t.Errorf("after the answer: until %v, want %v", got.ApprovalTimeoutAt, want)
	}
	admin.post(decideOf(a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "confirmed": {"true"}, "seen_end": {"1"}}).redirects(pageOf(a))
	admin.post(pageOf(a)+"/ask", url.Values{"text": {"Why?"}}).is(http.StatusConflict).says(".flash", "Already approved", "question changed nothing")
	admin.get(pageOf(a)).says("#notes", "Which branch?", "main") // what was said stays
}

func TestMovingTheDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(danger)
	p := w.signedIn(ownerEmail)
	a := w.ask()
	until := a.ApprovalTimeoutAt
	at := pageOf(a) + "/extend"
	p.get(pageOf(a)).says("#extend", "+15 min", "+1 h", "Max (2 h)").saysNot("#extend", "+4 h")
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
		got := p.post(at, url.Values{"minutes": {c.minutes}}).is(c.status)
		if c.status == 422 && (got.text("#minutes-error") == "" || got.doc.Find("#extend[open]").Length() != 1) {
			t.Errorf("%q: nothing is said at the field", c.minutes)
		}
		if c.minutes == "9999" && got.value("#minutes") != "9999" {
			t.Error("what was typed is lost")
		}
		until = until.Add(c.after)
		if got := w.stands(a.ID).ApprovalTimeoutAt; !got.Equal(until) {
			t.Errorf("%q: until %v, want %v", c.minutes, got, until)
		}
	}
	p.post(at, url.Values{"minutes": {"most"}}).redirects(pageOf(a))
	if got, want := w.stands(a.ID).ApprovalTimeoutAt, w.clock.Now().Add(2*time.Hour); !got.Equal(want) {
		t.Errorf("as far as may be: %v, want %v", got, want)
	}
	if n := p.get(pageOf(a)).doc.Find("#extend").Length(); n != 0 {
		t.Error("more time is offered where there is none")
	}
	q := w.ask(question)
	if n := p.get(pageOf(q)).doc.Find("#extend").Length(); n != 0 {
		t.Error("more time is offered without a deadline")
	}
	p.post(pageOf(q)+"/extend", url.Values{"minutes": {"5"}}).is(http.StatusUnprocessableEntity).says("main", "no deadline")
}

func TestWithdrawing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"rules":[{"name":"Shell","tools":["Bash"],"effect":"require","reviewers":["` + strangerEmail + `"]}]}`)
	a := w.ask()
	stranger, owner := w.signedIn(strangerEmail), w.signedIn(ownerEmail)
	if n := stranger.get(pageOf(a)).is(http.StatusOK).doc.Find("#cancel, .act-link, .note-form").Length(); n != 0 {
		t.Errorf("whom it was routed to may do %d things that are the owner's", n)
	}
	stranger.post(pageOf(a)+"/cancel", nil).is(http.StatusForbidden)
	next := w.ask(func(in *models.AskInput) { in.Input = []byte(`{"command":"make next"}`) })
	owner.post(pageOf(a)+"/cancel", owner.get(pageOf(a)).form("#cancel form", "#cancel-send")).redirects(pageOf(a))
	after := owner.get(pageOf(a)).says(".outcome", "cancelled", "Cancelled by "+ownerEmail, "Next request")
	if to := after.doc.Find(".outcome-next a").AttrOr("href", ""); to != pageOf(next) {
		t.Errorf("the next one is %q", to)
	}
	owner.post(pageOf(a)+"/cancel", nil).redirects(pageOf(a)) // a repeat changes nothing
	owner.post(decideOf(a), url.Values{"verdict": {"reject"}}).is(http.StatusConflict).says(".flash", "Cancelled by "+ownerEmail)
}

// What was done from the card beside the list leads back beside the list.
func TestTheCardBesideTheListLeadsBackThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	a := w.ask()
	desk := "tool=Bash&open=" + string(a.ID)
	card := p.get(pageOf(a)+"?desk="+url.QueryEscape(desk), htmx).is(http.StatusOK).isFragment()
	if card.doc.Find("#approval .back").Length() != 0 || card.doc.Find("h1").Length() != 0 {
		t.Error("the card is drawn as a page")
	}
	card.doc.Find("#approval form").Each(func(_ int, form *goquery.Selection) {
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
		p.post(pageOf(a)+c.path, form).redirects(place)
		p.post(pageOf(a)+c.path, url.Values{"desk": {desk}}, htmx).is(http.StatusUnprocessableEntity).isFragment()
	}
	p.post(pageOf(a)+"/ask", url.Values{"text": {"Again?"}, "desk": {"//evil.example/?x"}}).is(http.StatusSeeOther)
	whole := p.post(pageOf(a)+"/ask", url.Values{"desk": {desk}}).is(http.StatusUnprocessableEntity)
	if whole.doc.Find("h1").Length() != 1 || whole.doc.Find(".back").AttrOr("href", "") != place {
		t.Errorf("without script an error stands on no page, or leads back to %q", whole.doc.Find(".back").AttrOr("href", ""))
	}
	got := p.post(decideOf(a), url.Values{"verdict": {"reject"}, "desk": {desk}}).is(http.StatusSeeOther)
	if to := got.header.Get("Location"); !strings.HasPrefix(to, "/?tool=Bash") {
		t.Errorf("a verdict leads to %q", to)
	}
}
