package web

import (
	"github.com/labstack/echo/v4"

	"countersign/views"
)

// flashCookie carries the name of one message over a redirect. It is a name and
// never a text, so that nobody can put words on a page.
const flashCookie = "countersign-flash"

// flashSeconds is how long a browser keeps a message that no page has shown.
const flashSeconds = 60

var flashes = map[string]views.Flash{
	"signed-out":       {Tone: views.ToneNeutral, Text: "You are signed out."},
	"set-up":           {Tone: views.ToneGood, Text: "The account is made, and you are signed in."},
	"password-changed": {Tone: views.ToneGood, Text: "The password is changed. Your other sessions have ended."},
	"token-revoked":    {Tone: views.ToneGood, Text: "The token is revoked."},
	"policy-saved":     {Tone: views.ToneGood, Text: "The new version holds."},
	"policy-same":      {Tone: views.ToneNeutral, Text: "Nothing changed: the policy says that already."},
}

func (s *Site) setFlash(c echo.Context, name string) {
	c.SetCookie(s.cookie.cookie(flashCookie, name, flashSeconds))
}

// takeFlash is the message for this page, shown once.
func (s *Site) takeFlash(c echo.Context) *views.Flash {
	cookie, err := c.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	c.SetCookie(s.cookie.cookie(flashCookie, "", -1))
	if f, ok := flashes[cookie.Value]; ok {
		return &f
	}
	return nil
}
