package site

import (
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/views"
	"countersign/views/pages/account"
)

// SignInPage asks to sign in.
func (s *Site) SignInPage(c echo.Context, status int, v account.SignIn) error {
	frame, err := s.Frame(c, "Sign in", 0)
	if err != nil {
		return err
	}
	frame.Viewer, frame.Narrow = nil, true
	if frame.Flash == nil {
		if frame.Flash, err = s.signInHint(c); err != nil {
			return err
		}
	}
	if v.Next == views.InboxURL() {
		v.Next = ""
	}
	return handlers.Render(c, status, account.SignInPage(frame, v), nil)
}

// signInHint says why signing in cannot work, where that is known.
func (s *Site) signInHint(c echo.Context) (*views.Flash, error) {
	if s.Cookie.Secure && s.Kit.PublicURL.Scheme == "http" {
		return &views.Flash{
			Tone: views.ToneWarn,
			Text: "This server uses plain HTTP at an address other than localhost. Browsers keep you signed in only over HTTPS or on localhost.",
		}, nil
	}
	has, err := s.Store.People.HasUsers(c.Request().Context())
	if err != nil || has {
		return nil, err
	}
	return &views.Flash{
		Tone: views.ToneNeutral,
		Text: "There are no accounts yet. Open the setup link that the server printed when it started, or run countersign setup-link for a new one.",
	}, nil
}
