package insights

import (
	"cmp"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/figures"
	room "countersign/models/insights"
	"countersign/views"
	"countersign/views/pages/insights"
)

// Screens are the page and its file.
type Screens struct{ *site.Site }

// New makes them.
func New(s *site.Site) *Screens { return &Screens{Site: s} }

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	return []site.Route{
		site.Get("/insights", site.Person, s.show),
		site.Get("/insights/export", site.Person, s.export),
	}
}

// defaultDays is how many days the page shows unless the address says which.
const defaultDays = 30

// show is the page.
func (s *Screens) show(c echo.Context) error {
	if c.QueryParams().Has("zone") || site.EmptyMembers(c.QueryParams()) {
		return c.Redirect(http.StatusSeeOther, placeOf(c.QueryParams()).URL()) // one place has one address
	}
	in, err := s.find(c)
	status := http.StatusOK
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		status, in.Errors = handlers.Status(e.Code), e.Fields
	} else if err != nil {
		return err
	}
	frame, err := s.Frame(c, "Insights", -1)
	if err != nil {
		return err
	}
	frame.Path = views.InsightsURL()
	return handlers.Render(c, status, insights.Page(frame, insights.New(*in, frame.Now)), nil)
}

func placeOf(v url.Values) views.InsightsPlace {
	return views.InsightsPlace{About: v.Get("about"), From: strings.TrimSpace(v.Get("from")), To: strings.TrimSpace(v.Get("to"))}
}

// find reads what the address asks for. CodeInvalid names each member that is wrong; then there is no report.
func (s *Screens) find(c echo.Context) (*insights.Input, error) {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	p, err := s.Store.CurrentPolicy(ctx)
	if err != nil {
		return nil, err
	}
	in := &insights.Input{
		Place: placeOf(c.QueryParams()), Zone: p.Program.Zone(), Reader: actor.UserID(), Oversees: actor.Oversees(), Names: &figures.Names{},
	}
	if in.Agents, err = s.Store.People.AgentsToChoose(ctx, actor); err != nil {
		return nil, err
	}
	if in.Oversees {
		if in.People, err = s.Store.People.Users(ctx, actor); err != nil {
			return nil, err
		}
		if in.Groups, err = s.Store.People.Groups(ctx, actor); err != nil {
			return nil, err
		}
	}
	q := room.Query{Zone: in.Zone, Offer: in.Oversees}
	if q.From, q.To, err = readDays(&in.Place, in.Zone, s.Store.Now()); err != nil {
		return in, err
	}
	if err := s.readAbout(c, in, &q); err != nil {
		return in, err
	}
	if p.Program.AttentionSignals() && (in.Place.About == "" || q.Person != "") {
		a, err := s.Store.Insights.Attention(ctx, actor, cmp.Or(q.Person, actor.UserID()))
		if err != nil {
			return in, err
		}
		in.Attention = &a
	}
	report, err := s.Store.Insights.Report(ctx, actor, q)
	if err != nil {
		return in, err
	}
	report.Total.Cut()
	report.Offer.Cut()
	in.Report = report
	in.Names, err = s.Store.Insights.Names(ctx, &report.Total)
	return in, err
}

const notADay = "Write a day such as 2026-11-20."

// readDays are noons of the first and of the last day of a place, at which a day is in no doubt.
func readDays(p *views.InsightsPlace, zone *time.Location, now time.Time) (from, to time.Time, err error) {
	faults := map[string]string{}
	read := func(field, text string, otherwise time.Time) time.Time {
		if text == "" {
			return otherwise
		}
		day, err := time.ParseInLocation(time.DateOnly, text, time.UTC)
		if err != nil || day.Year() < 2000 || day.Year() > 9000 {
			faults[field] = notADay
			return otherwise
		}
		return time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, zone)
	}
	y, m, d := now.In(zone).Date()
	to = read("to", p.To, time.Date(y, m, d, 12, 0, 0, 0, zone))
	from = read("from", p.From, to.AddDate(0, 0, 1-defaultDays))
	if len(faults) == 0 && to.Before(from) {
		faults["to"] = "Choose a day that is not before the first."
	}
	if len(faults) > 0 {
		return from, to, &models.Error{Code: models.CodeInvalid, Text: "The filter is not valid.", Fields: faults}
	}
	return from, to, nil
}

// readAbout reads what a place is about.
func (s *Screens) readAbout(c echo.Context, in *insights.Input, q *room.Query) error {
	kind, name, ok := views.ReadAbout(in.Place.About)
	switch {
	case in.Place.About == "":
		if in.Oversees {
			return nil
		}
		q.Agents = []models.AgentID{}
		for _, a := range in.Agents {
			q.Agents = append(q.Agents, a.ID)
		}
	case !ok:
		return models.Invalid("about", "Choose one of the list.")
	case kind == "agent" && name != "":
		q.Agent = models.AgentID(name)
	case kind == "tool" && name != "":
		q.Tool = name
	case kind == "rule":
		q.Rule = &name
	case kind == "person" && name != "":
		q.Person = models.UserID(name)
	case kind == "group" && name != "":
		_, members, err := s.Store.People.Group(c.Request().Context(), site.ActorOf(c), name)
		if err != nil {
			return err
		}
		q.People = []models.UserID{}
		for _, m := range members {
			q.People = append(q.People, m.ID)
		}
	default:
		return models.Invalid("about", "Choose one of the list.")
	}
	return nil
}

// line is one number of a file.
type line struct{ table, name, figure, value string }

// files are how figures are written: each number in a line of its own.
var files = site.Formats[line]{
	"csv": {ContentType: "text/csv; charset=utf-8", Begin: func(w io.Writer) (func(line) error, error) {
		put, err := site.CSVRows(w, []string{"table", "name", "figure", "value"})
		return func(l line) error { return put([]string{l.table, l.name, l.figure, l.value}) }, err
	}},
}

// export is the page's numbers as a file.
func (s *Screens) export(c echo.Context) error {
	in, err := s.find(c)
	if err != nil {
		return err
	}
	v := insights.New(*in, s.Kit.Now())
	return site.Export(s.Site, c, "insights", "csv", files["csv"], func(begin func() error, put func(line) error) error {
		if err := begin(); err != nil {
			return err
		}
		for _, t := range v.Tables() {
			for _, row := range t.Rows {
				for i, cell := range row.Cells {
					if err := put(line{t.Title, row.Name, t.Head[i+1], cell.Raw}); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}
