package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"countersign/models"
)

// TestInABrowserLinkedRowsAndTheSettingOfARun: both inputs are read on the request
// and in the run, the links lead there and back, and the setting is changed.
func TestInABrowserLinkedRowsAndTheSettingOfARun(t *testing.T) {
	t.Parallel()
	for _, width := range []int64{1440, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			o := newOutside(t, newWorld(t))
			o.run(models.RunInput{RunID: "deploys"})
			a := o.late(bash("c1", "deploys", "deploy --env production --now"))
			o.clock.Step(time.Minute)
			id := o.run(models.RunInput{RunID: "deploys-tests", ParentRunID: "deploys", OnRejectDefault: models.OnRejectCascade},
				queued("u1", "Bash", `{"command":"deploy --env production"}`), queued("u2", "Read", `{"path":"log"}`))
			o.link()
			p := o.tab()
			p.do("size", chromedp.EmulateViewport(width, 900))
			p.signIn()
			p.open(pageOf(&a))
			p.sees("[data-linked]", "Matched by order in run deploys-tests")
			p.sees(".what", "deploy --env production --now")
			p.sees("#linked", "deploy --env production")
			p.fits()
			p.click("[data-linked] a")
			p.sees("[data-linked]", "asks for approval of this tool with another input")
			p.sees("#linked", "deploy --env production --now")
			p.fits()
			p.open(conversationPath(id))
			p.sees(".batch-call", "waiting for approval")
			p.sees(".batch-call [data-linked]", "Matched by order in run deploys-tests")
			p.fits()
			p.sees("#after-rejection", "rejected too")
			p.click("#after-rejection summary")
			p.chooses("#on-reject", "Ask about each call")
			p.click("#on-reject-button")
			p.sees("#after-rejection", "A person chose this")
			p.fits()
		})
	}
}
