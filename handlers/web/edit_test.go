package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"testing"

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// typed has a member of each kind, in an order of its own, with numbers that no
// float holds.
const typed = `{"to":"ACME SA","amount":120.00,"reference":9007199254740993,"urgent":true,"memo":null,"lines":[1.0, 2],"hidden":"a\u202eb"}`

// I6: an edit keeps the types, and what is not touched stays as it was sent, down
// to what the agent is given.
func TestI6EditingMemberByMemberKeepsTypes(t *testing.T) {
	t.Parallel()
	w := liveWorld(t)
	p := w.signedIn(ownerEmail)
	client := client.New(w.url, w.token)
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
		a := w.ask(func(in *models.AskInput) { in.ToolName, in.Input = "pay", []byte(typed) })
		form := p.get(pageOf(a)).is(http.StatusOK).form("#verdict", "#edit-approve")
		form.Set("m3", "true") // a browser sends what a select has chosen
		maps.Copy(form, c.fill)
		p.post(decideOf(a), form).redirects(pageOf(a))
		got, err := client.Get(t.Context(), wire.ResponseID(a.ID), 0)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := models.CanonicalJSON("input", got.Decision.Input); err != nil || string(same) != canonical(t, c.input) || got.Decision.Edited != c.edited {
			t.Errorf("%s: the agent is given %s (edited: %v), %v", c.name, got.Decision.Input, got.Decision.Edited, err)
		}
		after := p.get(pageOf(a)).is(http.StatusOK)
		if n := after.doc.Find(".outcome .diff").Length(); (n == 1) != c.edited {
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
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	pay := func(in *models.AskInput) { in.ToolName, in.Input = "pay", []byte(typed) }
	a := w.ask(pay)
	form := p.get(pageOf(a)).form("#verdict", "#edit-approve")
	maps.Copy(form, url.Values{"m0": {"kept"}, "m1": {"much"}, "m3": {"perhaps"}, "m5": {"{}"}, "reason": {"as agreed"}})
	for _, headers := range [][]header{nil, {htmx}} {
		got := p.post(decideOf(a), form, headers...).is(http.StatusUnprocessableEntity).
			says("#m1-error", "number").says("#m3-error", "true or false").says("#m5-error", "list")
		if got.doc.Find("#edit[open]").Length() != 1 || got.value("#m0") != "kept" || got.value("#m1") != "much" || got.value("#reason") != "as agreed" {
			t.Errorf("what was typed is lost: %q %q", got.value("#m0"), got.value("#m1"))
		}
		if got.text("#m0-error, #m2-error") != "" {
			t.Error("an error where nothing is wrong")
		}
	}
	form.Set("digest", a.Digest[1:]+"0")
	p.post(decideOf(a), form).is(http.StatusConflict)
	if got := w.stands(a.ID); got.Status() != models.StatusPending {
		t.Errorf("stands as %s", got.Status())
	}

	w.applyPolicy(`{"rules":[{"name":"never","tools":["pay"],"effect":"deny","reason":"Nobody pays."}]}`)
	form = p.get(pageOf(a)).says("main", "would reject it").form("#verdict", "#edit-approve")
	form.Set("m0", "somebody else")
	p.post(decideOf(a), form).is(http.StatusUnprocessableEntity).says("#edit .field-error", "Nobody pays.")

	list := w.ask(func(in *models.AskInput) { in.ToolName, in.Input = "other", []byte(`[1,2]`) })
	if p.get(pageOf(list)).doc.Find("#edit-fields").Length() != 0 || p.get(pageOf(list)).doc.Find("#edit-json").Length() != 1 {
		t.Error("what is no object is edited member by member")
	}
	p.post(decideOf(list), url.Values{"verdict": {"approve_edited"}, "m0": {"3"}, "digest": {list.Digest}}).is(http.StatusUnprocessableEntity)
}
