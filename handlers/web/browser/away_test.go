package browser_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// The whole way in a browser, with and without a script: the substitute decides, and the
// request's page says for whom.
func TestInABrowserASubstituteDecides(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run(map[bool]string{true: "script", false: "without script"}[script], func(t *testing.T) {
			t.Parallel()
			w, ann, eve := webtest.AwayWorld(t)
			sub, err := w.Store.AskSubstitute(t.Context(), ann, ann.UserID(), eve.UserID())
			storetest.Must(t, err)
			p := adminTab(w, 390, script)
			p.open("/people/away")
			p.click("#waiting tbody summary")
			p.click("#waiting form[action$='/accept'] button")
			p.sees(".flash", "Accepted")
			w.Clock.Step(time.Minute)

			p = openTab(w)
			if !script {
				p.withoutScript()
			}
			p.inZone("Asia/Tokyo")
			p.do("size", chromedp.EmulateViewport(1440, 900))
			p.signInAs("ann@example.com")
			p.open("/account/away")
			until := w.Clock.Now().Add(50 * time.Hour).In(time.FixedZone("", 9*3600))
			if !script {
				until = until.UTC()
			}
			p.value(`document.querySelector("#until").value = "` + until.Format("2006-01-02T15:04") + `"`)
			p.value(`document.querySelector("#away-substitute").value = "` + string(sub.SubstituteID) + `"`)
			p.click("#save-absence")
			p.sees("#absence", "You are away until")
			absences, err := w.Store.Absences(t.Context(), w.Admin)
			storetest.Must(t, err)
			if want := until.Truncate(time.Minute); len(absences) != 1 || !absences[0].UntilAt.Equal(want) {
				t.Fatalf("%+v, want one until %v", absences, want)
			}

			a := w.Ask()
			p = openTab(w)
			if !script {
				p.withoutScript()
			}
			p.do("size", chromedp.EmulateViewport(1440, 900))
			p.signInAs("eve@example.com")
			p.open("/approvals/" + string(a.ID))
			p.click("#approve")
			p.becomes(`!document.querySelector("#approve")`)
			w.Clock.Step(time.Hour)
			storetest.Must(t, storetest.Err(w.Store.ExpireDue(t.Context(), 10)))
			got := w.Approval(a.ID)
			if got.Status() != models.StatusApproved || got.Vote == nil || got.Vote.UserID != eve.UserID() || got.Vote.BehalfOf != ann.UserID() {
				t.Fatalf("%s by %+v", got.Status(), got.Vote)
			}
		})
	}
}
