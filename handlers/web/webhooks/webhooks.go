package webhooks

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/webhooks"
)

// webhooks lists the endpoints.
func (s *Screens) webhooks(c echo.Context) error {
	all, err := s.Store.Webhooks.List(c.Request().Context(), site.ActorOf(c))
	if err != nil {
		return err
	}
	hosts, err := s.Store.People.AllowedHosts(c.Request().Context(), site.ActorOf(c))
	if err != nil {
		return err
	}
	in := webhooks.Input{Webhooks: all, Barred: map[models.WebhookID]string{}}
	for i := range all {
		in.Barred[all[i].ID] = site.BarredHost(hosts, all[i].Label)
	}
	frame, err := s.webhookFrame(c, "Webhooks")
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, webhooks.Page(frame, webhooks.New(in, frame.Now)), nil)
}

// webhookFrame is the frame of a page about webhooks, which are a part of the system.
func (s *Screens) webhookFrame(c echo.Context, title string) (views.Page, error) {
	frame, err := s.Frame(c, title, -1)
	frame.Path = views.SystemURL()
	return frame, err
}

func (s *Screens) showNewWebhook(c echo.Context) error {
	return s.webhookFormPage(c, http.StatusOK, webhooks.FormInput{Form: webhooks.Form{All: true}})
}

func (s *Screens) showWebhookChange(c echo.Context) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	return s.webhookFormPage(c, http.StatusOK,
		webhooks.FormInput{ID: w.ID, Label: w.Label, Form: webhooks.FormOf(&w.Webhook)})
}

func (s *Screens) webhookFormPage(c echo.Context, status int, in webhooks.FormInput) error {
	hosts, err := s.Store.People.AllowedHosts(c.Request().Context(), site.ActorOf(c))
	if err != nil {
		return err
	}
	in.Hosts = len(hosts)
	v := webhooks.NewForm(in)
	frame, err := s.webhookFrame(c, v.Title)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, webhooks.FormPage(frame, v), nil)
}

// readWebhook reads the form of an endpoint.
func readWebhook(sent url.Values) (webhooks.Form, models.WebhookInput) {
	form := webhooks.Form{
		Name: strings.TrimSpace(sent.Get("name")), URL: strings.TrimSpace(sent.Get("url")),
		All: sent.Get(webhooks.EventsField) == webhooks.EventsAll, Inputs: sent.Get("inputs") == "true",
		Types: webhooks.TypesOf(sent[webhooks.FamiliesField], sent[webhooks.EventTypesField]),
	}
	in := models.WebhookInput{Name: form.Name, URL: form.URL, Types: form.Types, Inputs: form.Inputs}
	if form.All {
		in.Types = nil
	} else if len(form.Types) == 0 { // which would mean all
		form.Errors = map[string]string{"types": "must be at least one kind of event, or all"}
	}
	return form, in
}

// refusedWebhook shows a form that is to be corrected.
func (s *Screens) refusedWebhook(c echo.Context, in webhooks.FormInput, e *models.Error) error {
	status := http.StatusUnprocessableEntity
	if e != nil {
		if status = handlers.Status(e.Code); len(e.Fields) == 0 {
			in.Problem = e.Text
		} else {
			in.Form.Errors, in.Form.Allow = e.Fields, site.HostToAllow(c, in.Form.URL, e)
		}
	}
	handlers.Uncompressed(c) // it gives the address back
	return s.webhookFormPage(c, status, in)
}

// addWebhook adds an endpoint, and shows its secret once.
func (s *Screens) addWebhook(c echo.Context) error {
	form, in := readWebhook(c.Request().PostForm)
	if len(form.Errors) > 0 {
		return s.refusedWebhook(c, webhooks.FormInput{Form: form}, nil)
	}
	if err := s.AllowNamedHost(c, in.URL); err != nil {
		return err
	}
	added, secret, err := s.Store.Webhooks.Add(c.Request().Context(), site.ActorOf(c), in)
	if e := site.AsError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		return s.refusedWebhook(c, webhooks.FormInput{Form: form}, e)
	}
	if err != nil {
		return err
	}
	return s.webhookSecret(c, added.ID, secret)
}

// webhookSecret shows a secret, which nothing shows again.
func (s *Screens) webhookSecret(c echo.Context, id models.WebhookID, secret string) error {
	handlers.Uncompressed(c)
	return s.webhookPage(c, http.StatusOK, id, webhooks.WebhookInput{Secret: secret})
}

// changeWebhook changes what an endpoint is called, where it is and what it gets.
func (s *Screens) changeWebhook(c echo.Context) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	form, in := readWebhook(c.Request().PostForm)
	page := webhooks.FormInput{ID: w.ID, Label: w.Label, Form: form}
	if len(form.Errors) > 0 {
		return s.refusedWebhook(c, page, nil)
	}
	if err := s.AllowNamedHost(c, in.URL); err != nil {
		return err
	}
	err = s.Store.Webhooks.Change(c.Request().Context(), site.ActorOf(c), w.ID, in)
	if e := site.AsError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		return s.refusedWebhook(c, page, e)
	}
	return s.changedWebhook(c, w.ID, "webhook-changed", err)
}
