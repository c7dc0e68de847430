package browser_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// dayRules let a day have all risks; what is paid needs two looks.
const dayRules = `{"max_timeout_minutes":600,"rules":[
 {"name":"Money","tools":["pay"],"effect":"require","risk":"critical"},
 {"name":"Force","tools":["push"],"effect":"require","risk":"high"},
 {"name":"Files","tools":["edit_file"],"effect":"require","risk":"low"}]}`

// day is somebody's day at the desk: what was asked, and what others ended meanwhile.
type day struct {
	*webtest.World

	p     *tab
	touch bool // on a phone, by taps
	asked int
	last  models.ResponseID // what was decided last
	waits map[models.ResponseID]*models.Approval
}

// kinds of requests that come by turns.
var kinds = []func(*models.AskInput){
	func(in *models.AskInput) { in.Input = []byte(`{"command":"make test-#"}`) },
	func(in *models.AskInput) {
		in.ToolName, in.Input = "pay", []byte(`{"to":"ACME SA","amount":12#.00,"currency":"EUR"}`)
	},
	webtest.Question,
	func(in *models.AskInput) {
		in.ToolName, in.Input = "edit_file", []byte(`{"file_path":"/srv/a#.go","old_string":"a","new_string":"b"}`)
	},
	func(in *models.AskInput) {
		in.ToolName, in.Input = "push", []byte(`{"command":"git push --force origin main#"}`)
	},
	func(in *models.AskInput) {
		in.Input, in.Description = []byte(`{"command":"cd /srv && make -j4 step-# && tail -n 20 build.log"}`), "Build and look at the end."
	},
}

// arrives has an agent ask for the next thing; what comes later has a later deadline, but for
// every fourth, which goes above what is open.
func (d *day) arrives() {
	d.TB.Helper()
	n := d.asked
	d.asked++
	a := d.Ask(func(in *models.AskInput) {
		kinds[n%len(kinds)](in)
		in.Input = []byte(strings.ReplaceAll(string(in.Input), "#", strconv.Itoa(n)))
		in.TimeoutSeconds = new(int64(7200 + 60*n))
		if n%4 == 3 {
			in.TimeoutSeconds = new(int64(3600 - n))
		}
	})
	d.waits[a.ID] = a
}

// open is the request that is open, and still waits.
func (d *day) open() *models.Approval {
	d.TB.Helper()
	const which = `document.querySelector("#detail article[data-card]:not([data-settled])")?.dataset.card`
	d.p.becomes(which + ` && ` + which + ` !== "` + string(d.last) + `" && document.querySelector("#inbox li[aria-current=true]:not([data-gone])")?.dataset.id === ` + which)
	return d.waits[models.ResponseID(d.p.value(which))]
}

// others ends something that is not open: a second reviewer rejects it, or its time is over.
func (d *day) others(open *models.Approval, expires bool) {
	d.TB.Helper()
	if expires {
		a := d.Ask(func(in *models.AskInput) { in.TimeoutSeconds = new(int64(5)) })
		d.Clock.Step(6 * time.Second)
		if _, err := d.Store.ExpireDue(d.TB.Context(), 10); err != nil {
			d.TB.Fatal(err)
		}
		d.over(a)
		return
	}
	for id, a := range d.waits {
		if id != open.ID {
			if _, err := d.Store.Decide(d.TB.Context(), d.Admin, id, models.DecisionInput{Approved: new(false), Reason: "mine"}); err != nil {
				d.TB.Fatal(err)
			}
			delete(d.waits, id)
			d.over(a)
			return
		}
	}
}

// over waits until no row says that a request which has ended waits.
func (d *day) over(a *models.Approval) {
	d.TB.Helper()
	d.p.becomes(fmt.Sprintf(`(() => { const row = document.getElementById("row-%s"); return !row || row.hasAttribute("data-gone"); })()`, a.ID))
}

// press presses a key, or on a phone taps what does the same.
func (d *day) press(key, place string) {
	d.TB.Helper()
	if d.touch {
		d.p.tap(place)
	} else {
		d.p.press(key)
	}
}

// decides presses what decides the open request, and sees that it took effect.
func (d *day) decides(a *models.Approval, reject bool) {
	d.TB.Helper()
	p := d.p
	reject = reject && a.Kind != models.KindQuestion
	switch {
	case d.touch && a.Kind == models.KindQuestion:
		p.tap("#detail [data-act=option]")
	case d.touch && reject:
		p.tap("#reject")
	case a.Kind == models.KindQuestion:
		p.press("1")
	case reject:
		p.press("r")
		p.becomes(`document.activeElement.matches("[data-act-reason]")`)
		p.press("n", "o")
		p.pressCtrlEnter()
	default:
		d.press("a", "#approve")
	}
	if a.Risk.NeedsDigest() && !reject && a.Kind != models.KindQuestion {
		const toEnd = `document.querySelector("[data-end-first]:not([hidden])") !== null`
		p.becomes(toEnd + ` || document.querySelector("[data-armed]:not([hidden])") !== null || document.querySelector("[data-hint]").innerText !== ""`)
		if hint := p.text("[data-hint]"); hint != "" {
			d.TB.Fatalf("a press on %s was refused: %s", a.ID, hint)
		}
		if p.value(toEnd) == "true" {
			d.press("\r", "[data-end-first]:not([hidden]) button")
			p.becomes(`document.querySelector("#detail [name=seen_end]").value === "1"`)
			d.press("a", "#approve")
		}
		p.becomes(`document.querySelector("[data-armed]:not([hidden]) [data-confirm]:not([aria-disabled])") !== null`)
		d.press("\r", "[data-armed]:not([hidden]) [data-confirm]")
	}
	if hint := p.text("[data-hint]"); strings.Contains(hint, "just appeared") || strings.Contains(hint, "of this request first") {
		d.TB.Errorf("a press on %s was refused: %s", a.ID, hint)
	}
	got := d.Decided(a.ID)
	if (got.Status() == models.StatusApproved) == reject || got.Vote.UserID != d.Owner.UserID() {
		d.TB.Errorf("%s %s is %s with %+v", a.Kind, a.ID, got.Status(), got.Vote)
	}
	delete(d.waits, a.ID)
	d.last = a.ID
}

// A day of mixed requests, with arrivals, ends and a second reviewer, sixty by keyboard and twenty
// by touch: no press is refused for another's sake, and nothing that is over says that it waits.
func TestInABrowserADayAtTheDesk(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct {
		size  []chromedp.EmulateViewportOption
		width int64
		all   int
	}{"keyboard": {nil, 1440, 60}, "touch": {[]chromedp.EmulateViewportOption{chromedp.EmulateMobile, chromedp.EmulateTouch}, 390, 20}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			w.ApplyPolicy(dayRules)
			d := &day{World: w, waits: map[models.ResponseID]*models.Approval{}, touch: name == "touch"}
			for range 10 {
				d.arrives()
			}
			d.p = openTab(w)
			d.p.do("size", chromedp.EmulateViewport(at.width, map[bool]int64{true: 844, false: 900}[d.touch], at.size...))
			d.p.signIn()
			d.p.sees("#live-text", "live")
			if d.touch {
				d.p.tap("#inbox li[data-id]:not([data-gone]) .row-link")
				d.open()
			}
			d.p.value(`window.same = "page"`)
			d.works(at.all)
		})
	}
}

// works goes on until all were asked and nothing waits.
func (d *day) works(all int) {
	d.TB.Helper()
	own := 0
	for n := 0; len(d.waits) > 0; n++ {
		a := d.open()
		d.p.calm()
		d.p.value(`(document.querySelector("[data-hint]") ?? {}).textContent = ""`)
		if d.asked < all {
			d.arrives() // while the finger is on its way
		}
		if n%5 == 4 {
			d.others(a, n%10 == 9)
		}
		d.decides(a, n%3 == 2)
		own++
		if n%2 == 0 && d.asked < all {
			d.arrives()
		}
	}
	d.p.sees("#inbox", "All clear")
	d.p.becomes(`document.querySelectorAll("#inbox li[data-id]:not([data-gone])").length === 0 && !document.title.startsWith("(")`)
	if d.asked != all || own < all*2/3 || d.p.value("window.same") != "page" {
		d.TB.Errorf("%d were asked, %d decided by hand, on %s", d.asked, own, d.p.value("window.same"))
	}
}
