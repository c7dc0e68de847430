package request_test

import (
	"maps"
	"net/http"
	"net/url"
	"testing"

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/handlers/web/webtest"
	"countersign/models"
)

// typed has a member of each kind, in an order of its own, with numbers that no
// float holds.
const typed = `{"to":"ACME SA","amount":120.00,"reference":9007199254740993,"urgent":true,"memo":null,"lines":[1.0, 2],"hidden":"a\u202eb"}`

// I6: an edit keeps the types, and what is not touched stays as it was sent, down
// to what the agent is given.
func TestI6EditingMemberByMemberKeepsTypes(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	p := w.SignIn(webtest.OwnerEmail)
	client := client.New(w.URL, w.Token)
	for _, c := range []struct {
		name   string
		fill   url.Values
		input  string // as the agent gets it
		edited bool
	}{
		{"nothing", nil, typed, false},
		{"a text", url.Values{"m0": {"Two\r\nlines"}}, `{"to":"Two\nlines","amount":120.00,"reference":9007199254740993,"urgent":true,"memo":null,"lines":[1.0, 2],"hidden":"a\u202eb"}`, true},
		{"numbers and more", url.Values{"m1": {"99.90"}, "m3": {"false"}, "m4": {`"soon"`}, "m5": {"[9007199254740993]"}}, `{"to":"ACME SA","amount":99.90,"reference":9007199254740993,"urgent":false,"memo":"soon","lines":[9007199254740993],"hidden":"a\u202eb"}`, true},
	} {
		a := w.Ask(func(in *models.AskInput) { in.ToolName, in.Input = "pay", []byte(typed) })
		form := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Form("#verdict", "#edit-approve")
		form.Set("m3", "true") // a browser sends what a select has chosen
		maps.Copy(form, c.fill)
		p.Post(webtest.DecideOf(a), form).Redirects(webtest.PageOf(a))
		got, err := client.Get(t.Context(), wire.ResponseID(a.ID), 0)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := models.CanonicalJSON("input", got.Decision.Input); err != nil || string(same) != canonical(t, c.input) || got.Decision.Edited != c.edited {
			t.Errorf("%s: the agent is given %s (edited: %v), %v", c.name, got.Decision.Input, got.Decision.Edited, err)
		}
		after := p.Get(webtest.PageOf(a)).Is(http.StatusOK)
		if n := after.Doc.Find(".outcome .diff").Length(); (n == 1) != c.edited {
			t.Errorf("%s: %d changes are shown", c.name, n)
		}
	}
}

func canonical(t *testing.T, input string) string {
	t.Helper()
	out, err := models.CanonicalJSON("input", []byte(input))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestWhatIsWrongWithAnEditIsSaidAtItsMember(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	pay := func(in *models.AskInput) { in.ToolName, in.Input = "pay", []byte(typed) }
	a := w.Ask(pay)
	form := p.Get(webtest.PageOf(a)).Form("#verdict", "#edit-approve")
	maps.Copy(form, url.Values{"m0": {"kept"}, "m1": {"much"}, "m3": {"perhaps"}, "m5": {"{}"}, "reason": {"as agreed"}})
	for _, headers := range [][]webtest.Header{nil, {webtest.HTMX}} {
		got := p.Post(webtest.DecideOf(a), form, headers...).Is(http.StatusUnprocessableEntity).
			Says("#m1-error", "number").Says("#m3-error", "true or false").Says("#m5-error", "list")
		if got.Doc.Find("#edit[open]").Length() != 1 || got.Value("#m0") != "kept" || got.Value("#m1") != "much" || got.Value("#reason") != "as agreed" {
			t.Errorf("what was typed is lost: %q %q", got.Value("#m0"), got.Value("#m1"))
		}
		if got.Text("#m0-error, #m2-error") != "" {
			t.Error("an error where nothing is wrong")
		}
	}
	form.Set("digest", a.Digest[1:]+"0")
	p.Post(webtest.DecideOf(a), form).Is(http.StatusConflict)
	if got := w.Approval(a.ID); got.Status() != models.StatusPending {
		t.Errorf("stands as %s", got.Status())
	}

	w.ApplyPolicy(`{"rules":[{"name":"never","tools":["pay"],"effect":"deny","reason":"Nobody pays."}]}`)
	form = p.Get(webtest.PageOf(a)).Says("main", "would reject it").Form("#verdict", "#edit-approve")
	form.Set("m0", "somebody else")
	p.Post(webtest.DecideOf(a), form).Is(http.StatusUnprocessableEntity).Says("#edit .field-error", "Nobody pays.")

	list := w.Ask(func(in *models.AskInput) { in.ToolName, in.Input = "other", []byte(`[1,2]`) })
	if p.Get(webtest.PageOf(list)).Doc.Find("#edit-fields").Length() != 0 || p.Get(webtest.PageOf(list)).Doc.Find("#edit-json").Length() != 1 {
		t.Error("what is no object is edited member by member")
	}
	p.Post(webtest.DecideOf(list), url.Values{"verdict": {"approve_edited"}, "m0": {"3"}, "digest": {list.Digest}}).Is(http.StatusUnprocessableEntity)
}
