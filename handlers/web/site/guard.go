package site

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
)

// contentPolicy lets a page load what this server serves and nothing else: no
// inline script or style, no frame, no form that leads elsewhere.
const contentPolicy = "default-src 'self'; worker-src 'self'; manifest-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"

func secureHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	fixed := http.Header{
		"Content-Security-Policy":    {contentPolicy},
		"X-Content-Type-Options":     {"nosniff"},
		"Referrer-Policy":            {"same-origin"},
		"Permissions-Policy":         {"camera=(), geolocation=(), microphone=(), payment=(), usb=()"},
		"Cross-Origin-Opener-Policy": {"same-origin"},
	}
	return func(c echo.Context) error {
		maps.Copy(c.Response().Header(), fixed)
		return next(c)
	}
}

// ownFormsOnly refuses what another site has a browser send here, sign-in and
// setup included.
func ownFormsOnly(public *url.URL) echo.MiddlewareFunc {
	protection := http.NewCrossOriginProtection()
	// A proxy may change the Host that an old browser's Origin is compared with;
	// an address that is no origin is none to trust.
	_ = protection.AddTrustedOrigin(origin(public))
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := protection.Check(c.Request()); err != nil {
				return models.Errorf(models.CodeForbidden, "This form was sent from another site, so nothing was done.")
			}
			return next(c)
		}
	}
}

// bodyTimeout is how long a form may take to arrive.
const bodyTimeout = 20 * time.Second

// limitBody bounds what a form may hold, and how long it may take to arrive.
// Of somebody who has not signed in it reads little, or few at a time.
func (s *Site) limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method != http.MethodPost {
			return next(c)
		}
		if VisitorOf(c) == nil {
			if err := s.strangersForm(c); err != nil {
				return err
			}
			return next(c)
		}
		r.Body = http.MaxBytesReader(c.Response(), r.Body, formLimit(r.URL.Path))
		// A deadline that has passed ends a read that hangs. It is set by a timer,
		// so that no clock is read.
		rc := http.NewResponseController(c.Response())
		timer := time.AfterFunc(bodyTimeout, func() { _ = rc.SetReadDeadline(time.Unix(1, 0)) })
		err := r.ParseForm()
		timer.Stop()
		if err != nil {
			return badForm(err)
		}
		return next(c)
	}
}

// strangersForm reads the form of somebody who has not signed in: to do so, or one that met
// an expired session.
func (s *Site) strangersForm(c echo.Context) error {
	r := c.Request()
	var done func()
	if r.ContentLength >= 0 && r.ContentLength <= handlers.BriefBody {
		done = s.Kit.Strangers.Brief(c.Response())
	} else {
		leave, err := s.Kit.Strangers.Enter(c.Response())
		if err != nil {
			return err
		}
		done = leave
	}
	defer done()
	r.Body = http.MaxBytesReader(c.Response(), r.Body, formLimit(r.URL.Path))
	if err := r.ParseForm(); err != nil {
		return badForm(err)
	}
	return nil
}

// formLimit is how many bytes a form may have. Those of the policy hold a document, in which
// each byte may be sent as three.
func formLimit(path string) int64 {
	if path == views.PolicyURL() || strings.HasPrefix(path, views.PolicyURL()+"/") {
		return 4 * policy.MaxDocument
	}
	return models.MaxForm
}

// badForm is the error of a form that could not be read.
func badForm(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err // says its own limit
	}
	return models.Errorf(models.CodeInvalid,
		"The form could not be read: it must be sent as application/x-www-form-urlencoded.")
}
