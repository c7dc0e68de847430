package audit

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/people"
	"countersign/views"
	"countersign/views/pages/lists"
)

// refusedView is where a request keeps the form of a view that was not saved, for the list that shows it again.
const refusedView = "refused-view"

// saveView saves a list as its address narrows it: kept reads that, and show shows the list again beside a refused form.
func (s *Screens) saveView(list models.List, kept func(url.Values) string, show echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		name, query := c.Request().PostFormValue("name"), kept(c.QueryParams())
		err := people.ViewsOf(s.Store.People).Save(c.Request().Context(), site.ActorOf(c), list, name, query)
		if e := site.AsError(err, models.CodeInvalid); e != nil {
			c.Set(refusedView, lists.Saved{Name: name, Error: e.Fields["name"] + e.Fields["query"]})
			return show(c)
		}
		if err != nil {
			return err
		}
		s.SetFlash(c, "view-saved")
		return c.Redirect(http.StatusSeeOther, views.ListURL(list, query))
	}
}

// removeView forgets a view, and leads back to the list, narrowed as before.
func (s *Screens) removeView(list models.List, kept func(url.Values) string) echo.HandlerFunc {
	return func(c echo.Context) error {
		name := c.Request().PostFormValue("name")
		if err := people.ViewsOf(s.Store.People).Remove(c.Request().Context(), site.ActorOf(c), list, name); err != nil {
			return err
		}
		s.SetFlash(c, "view-removed")
		return c.Redirect(http.StatusSeeOther, views.ListURL(list, kept(c.QueryParams())))
	}
}

// savedOn are the reader's views of a list, and which of them is in view: kept reads that from an address, and from a
// view's, which another version may have written otherwise. With a refused form the status of the page is its own.
func (s *Screens) savedOn(
	c echo.Context, list models.List, kept func(url.Values) string, status int,
) (lists.Saved, int, error) {
	saved, again := c.Get(refusedView).(lists.Saved)
	if saved.List = list; status == http.StatusOK {
		saved.Query = kept(c.QueryParams())
	}
	var err error
	if saved.Views, err = people.ViewsOf(s.Store.People).On(c.Request().Context(), site.ActorOf(c), list); err != nil {
		return saved, status, err
	}
	for _, view := range saved.Views {
		if q, err := url.ParseQuery(view.Query); view.Query == c.QueryString() || err == nil && saved.Query != "" && kept(q) == saved.Query {
			saved.Here = view.Name
		}
	}
	if again {
		status = handlers.Status(models.CodeInvalid)
	}
	return saved, status, nil
}

func keptOfHistory(v url.Values) string {
	place, _, err := readHistory(v)
	if err != nil {
		return ""
	}
	return place.Kept()
}

func keptOfTrail(v url.Values) string {
	var place views.TrailPlace
	if _, err := trailQuery(v, &place); err != nil {
		return ""
	}
	return place.Kept()
}

func keptOfLedger(v url.Values) string { return readLedgerFilter(v).Kept() }
