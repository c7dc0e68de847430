package web

import (
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/views"
	"countersign/views/pages/docs"
)

// ServeDocs adds the page that describes the JSON surfaces, made from their
// OpenAPI document at the first visit. It needs no sign-in; who is signed in keeps the
// navigation.
func (p *Pages) ServeDocs(document func() ([]byte, error)) {
	described := sync.OnceValues(func() (docs.Docs, error) {
		text, err := document()
		if err != nil {
			return docs.Docs{}, err
		}
		return docs.New(text)
	})
	p.echo.GET(views.DocsURL(), func(c echo.Context) error {
		reference, err := described()
		if err != nil {
			return err
		}
		frame, err := p.Frame(c, "API", -1)
		if err != nil {
			return err
		}
		frame.Narrow = false // a reference is as wide for strangers
		return handlers.Render(c, http.StatusOK, docs.Page(frame, reference), nil)
	})
}
