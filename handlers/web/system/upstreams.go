package system

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/outside"
	"countersign/views"
	"countersign/views/pages/system"
)

// maxUpstreamKey is how long an upstream's key may be, in bytes: it travels in a
// header.
const maxUpstreamKey = 4000

// upstreams shows the other systems that ask for approvals, or for the list's own
// refetch the list.
func (s *Screens) upstreams(c echo.Context) error {
	return s.upstreamsPage(c, http.StatusOK,
		system.UpstreamsInput{Form: system.UpstreamForm{Owner: site.VisitorOf(c).User.Email}})
}

// upstreamsPage lists upstreams. in carries a form that is to be corrected, or
// why something was not done.
func (s *Screens) upstreamsPage(c echo.Context, status int, in system.UpstreamsInput) error {
	var err error
	if in.Upstreams, err = outside.New(s.Store).UpstreamStates(c.Request().Context(), site.ActorOf(c)); err != nil {
		return err
	}
	if handlers.WantsFragment(c.Request()) && status == http.StatusOK {
		return handlers.Render(c, status, nil, system.UpstreamList(system.NewUpstreams(in, s.Kit.Now())))
	}
	frame, err := s.Frame(c, "Upstreams", -1)
	if err != nil {
		return err
	}
	frame.Path = views.SystemURL() // it is a part of that place
	return handlers.Render(c, status, system.UpstreamsPage(frame, system.NewUpstreams(in, frame.Now)), nil)
}

// addUpstream has another system polled from now on.
func (s *Screens) addUpstream(c echo.Context) error {
	r := c.Request()
	form := system.UpstreamForm{
		Name: strings.TrimSpace(r.PostFormValue("name")), BaseURL: strings.TrimSpace(r.PostFormValue("base_url")),
		Dialect: r.PostFormValue("dialect"), Owner: strings.TrimSpace(r.PostFormValue("owner")),
	}
	err := s.newUpstream(r.Context(), site.ActorOf(c), form, r.PostFormValue("key"))
	if e := site.AsError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		handlers.Uncompressed(c) // it gives the key back
		form.Key, form.Errors = r.PostFormValue("key"), upstreamErrors(e)
		return s.upstreamsPage(c, handlers.Status(e.Code), system.UpstreamsInput{Form: form})
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, "upstream-added")
	return c.Redirect(http.StatusSeeOther, views.UpstreamsURL())
}

func (s *Screens) newUpstream(ctx context.Context, actor models.Actor, form system.UpstreamForm, key string) error {
	if err := s.checkUpstream(ctx, form.BaseURL, form.Dialect, key); err != nil {
		return err
	}
	owner, err := s.Store.People.UserByEmail(ctx, actor, form.Owner)
	if models.ErrorCode(err) == models.CodeNotFound {
		return models.Invalid("owner", "must be the e-mail of a person on this server")
	}
	if err != nil {
		return err
	}
	_, err = outside.New(s.Store).AddUpstream(ctx, actor,
		outside.NewUpstream{Name: form.Name, BaseURL: form.BaseURL, Dialect: form.Dialect, Key: key, OwnerID: owner.ID})
	return err
}

func (s *Screens) checkUpstream(ctx context.Context, baseURL, dialect, key string) error {
	if s.check == nil {
		return models.Errorf(models.CodeUnavailable, "Upstreams cannot be changed here.")
	}
	if len(key) > maxUpstreamKey {
		return models.Invalid("key", "must be at most 4,000 bytes long")
	}
	return s.check(ctx, baseURL, dialect, key)
}

// upstreamErrors are the errors by the fields of the form; others get the empty key and are shown above the form.
func upstreamErrors(e *models.Error) map[string]string {
	out := map[string]string{}
	for field, text := range e.Fields {
		if field == "baseUrl" {
			field = "base_url"
		}
		out[field] = text
	}
	if len(out) == 0 || e.Code == models.CodeConflict {
		out[""] = e.Error()
	}
	return out
}

// changeUpstream is a handler that changes the upstream of its path and then
// tells so; what may not be done is said on the page of upstreams.
func (s *Screens) changeUpstream(
	flash string, change func(context.Context, echo.Context, models.UpstreamID) error,
) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := models.ParseID[models.UpstreamID]("id", c.Param("id"))
		if err != nil {
			return models.Errorf(models.CodeNotFound, "There is no such upstream.")
		}
		err = change(c.Request().Context(), c, id)
		if e := site.AsError(err, models.CodeConflict, models.CodeInvalid); e != nil {
			in := system.UpstreamsInput{
				Form: system.UpstreamForm{Owner: site.VisitorOf(c).User.Email}, Problem: "Nothing was changed: " + e.Error(),
			}
			return s.upstreamsPage(c, handlers.Status(e.Code), in)
		}
		if err != nil {
			return err
		}
		s.SetFlash(c, flash)
		return c.Redirect(http.StatusSeeOther, views.UpstreamsURL())
	}
}

func (s *Screens) setUpstreamKey(ctx context.Context, c echo.Context, id models.UpstreamID) error {
	key := c.Request().PostFormValue("key")
	if key == "" {
		return models.Invalid("key", "must not be empty")
	}
	// Address and dialect stay. This address is for examples, and needs no look-up.
	if err := s.checkUpstream(ctx, "https://192.0.2.1", "plain", key); err != nil {
		return err
	}
	return outside.New(s.Store).SetUpstreamKey(ctx, site.ActorOf(c), id, key)
}

func (s *Screens) resumeUpstream(ctx context.Context, c echo.Context, id models.UpstreamID) error {
	return outside.New(s.Store).ResumeUpstream(ctx, site.ActorOf(c), id)
}

func (s *Screens) enableUpstream(enabled bool) func(context.Context, echo.Context, models.UpstreamID) error {
	return func(ctx context.Context, c echo.Context, id models.UpstreamID) error {
		return outside.New(s.Store).EnableUpstream(ctx, site.ActorOf(c), id, enabled)
	}
}
