package browser_test

import (
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// inBackground has the page believe that nobody looks at it, and writes down what
// it would show. No page of a test is ever out of view.
const inBackground = `(() => {
	window.shown = [];
	window.Notification = class extends EventTarget {
		static permission = "granted";
		static requestPermission() { window.askedFor = true; return Promise.resolve("granted"); }
		constructor(title, options) { super(); window.shown.push(JSON.stringify({ title, ...options })); }
		close() {}
	};
})()`

const hide = `(() => {
	Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
	document.dispatchEvent(new Event("visibilitychange"));
})()`

func TestInABrowserANotificationSaysHowManyWaitAndNoMore(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	first := w.Asks(1)[0]
	p := openDesk(w, first.ID)
	p.value(inBackground)
	p.value(`document.querySelector("[data-keys-open]").click()`)
	p.becomes(`document.getElementById("keys").open`)
	if got := p.value(`window.askedFor === undefined`); got != "true" {
		t.Error("leave is asked for before anybody wants it")
	}
	p.click("[data-notify-switch]")
	p.becomes(`window.askedFor === true && document.querySelector("[data-notify-switch]").checked`)
	p.press("\x1b")

	// In view nothing is shown; out of view it is, and the title counts on.
	w.Ask()
	p.sees("#inbox-count", "2")
	p.value(hide)
	w.Ask(func(in *models.AskInput) {
		in.ToolName, in.Input, in.Description = "pay_secretly", []byte(`{"to":"ACME"}`), "the secret plan"
	})
	p.becomes(`window.shown.length === 1`)
	p.becomes(`document.title.startsWith("(3) ")`)
	told := p.value(`window.shown.join()`)
	for _, secret := range []string{"pay", "ACME", "secret", "deployer"} {
		if strings.Contains(told, secret) {
			t.Errorf("the notification says %q: %s", secret, told)
		}
	}
	if !strings.Contains(told, "3 requests are waiting") || !strings.Contains(told, `"tag":"countersign:inbox"`) {
		t.Errorf("the notification is %s", told)
	}
}

func TestInABrowserSingleKeysCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(2)
	p := openDesk(w, asked[0].ID)
	p.press("?")
	p.sees("#keys", "Approve")
	p.press("a", "j") // nothing below the dialog is decided or moved
	p.press("?")
	p.becomes(`!document.getElementById("keys").open`)
	p.shownBeside(asked[0].ID)

	p.click("[data-keys-open].keys-open")
	p.click("[data-keys-switch]")
	p.press("\x1b")
	p.becomes(`!document.getElementById("keys").open`)
	p.value(`document.activeElement.blur()`)
	p.calm()
	p.press("a", "j", "x", "?")
	p.open("/")
	p.shownBeside(asked[0].ID)
	p.calm()
	p.press("a", "j", "x", "?") // the next page knows it too
	p.becomes(`localStorage.getItem("countersign:keys") === "off" && !document.getElementById("keys").open && !document.querySelector("[name=pick]:checked")`)
	p.shownBeside(asked[0].ID)
	w.Waits(asked...)

	p.click("[data-keys-open].keys-open")
	p.click("[data-keys-switch]")
	p.press("\x1b")
	p.press("j")
	p.shownBeside(asked[1].ID)
	p.press("\r") // a row opens as a page
	p.becomes(`location.pathname === "/approvals/` + string(asked[1].ID) + `"`)
	p.sees("#live-text", "live")
	p.press("g", "h")
	p.becomes(`location.pathname === "/history"`)
	p.sees("#live-text", "live")
	p.press("g", "i")
	p.becomes(`location.pathname === "/"`)
}
