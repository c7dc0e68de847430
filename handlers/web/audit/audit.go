package audit

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/requests"
	"countersign/views"
	"countersign/views/pages/audit"
)

// audit lists a person's trail. The address has the filters.
func (s *Screens) audit(c echo.Context) error {
	in, q, err := s.readTrail(c)
	if err == nil && site.EmptyMembers(c.QueryParams()) {
		return c.Redirect(http.StatusSeeOther, in.Place.URL()) // one place has one address
	}
	status, err := s.findTrail(c, &in, q, err)
	if err != nil {
		return err
	}
	if in.Agents, err = s.Store.People.AgentsToChoose(c.Request().Context(), site.ActorOf(c)); err != nil {
		return err
	}
	if in.Place.Person == "" {
		if in.Broken, status, err = s.broken(c, status); err != nil {
			return err
		}
		if in.Saved, status, err = s.savedOn(c, models.ListAudit, keptOfTrail, status); err != nil {
			return err
		}
	}
	frame, err := s.Frame(c, audit.TrailTitle(in), -1)
	if err != nil {
		return err
	}
	frame.Path = views.AuditURL()
	if in.Place.Person != "" {
		frame.Path = views.PeopleURL()
	}
	return handlers.Render(c, status, audit.Page(frame, audit.NewTrail(in, frame.Now)), nil)
}

// printAudit is a trail on one page, as paper takes it.
func (s *Screens) printAudit(c echo.Context) error {
	in, q, err := s.readTrail(c)
	if err != nil {
		return err
	}
	q.Limit = requests.TrailMost
	if err := s.addEntries(c, &in, q); err != nil {
		return err
	}
	if in.Head, err = s.Store.Ledger.Head(c.Request().Context()); err != nil {
		return err
	}
	frame, err := s.Frame(c, audit.TrailTitle(in), -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, audit.PrintPage(frame, audit.NewTrailPrint(in, frame.Now)), nil)
}

// findTrail reads the page unless the filters were found wrong, and gives the
// status of its answer.
func (s *Screens) findTrail(c echo.Context, in *audit.TrailInput, q requests.TrailQuery, wrong error) (int, error) {
	err := wrong
	if err == nil {
		err = s.addEntries(c, in, q)
	}
	status := http.StatusOK
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		status, in.Errors = handlers.Status(e.Code), e.Fields
	} else if err != nil {
		return 0, err
	}
	return status, nil
}

// addEntries reads the page. CodeInvalid names the filters that are wrong.
func (s *Screens) addEntries(c echo.Context, in *audit.TrailInput, q requests.TrailQuery) error {
	found, err := s.Store.Requests.Trail(c.Request().Context(), site.ActorOf(c), q)
	in.Entries, in.Next, in.StoppedEarly = found.Entries, found.Next, found.StoppedEarly
	return err
}

// readTrail reads whose trail an address means, and what narrows it. CodeInvalid
// names every member that is wrong.
func (s *Screens) readTrail(c echo.Context) (audit.TrailInput, requests.TrailQuery, error) {
	var in audit.TrailInput
	if raw := c.Param("id"); raw != "" {
		id, err := models.ParseID[models.UserID]("id", raw)
		if err != nil {
			return in, requests.TrailQuery{}, models.Errorf(models.CodeNotFound, "There is no such person.")
		}
		if in.Person, err = s.Store.People.UserByID(c.Request().Context(), site.ActorOf(c), id); err != nil {
			return in, requests.TrailQuery{}, err
		}
		in.Place.Person = id
	} else {
		in.Person = site.VisitorOf(c).User
	}
	in.Reader, in.Zone = site.ActorOf(c), site.ZoneOf(c)
	q, err := trailQuery(c.QueryParams(), &in.Place)
	return in, q, err
}

func trailQuery(v url.Values, p *views.TrailPlace) (requests.TrailQuery, error) {
	faults := map[string]string{}
	p.Part, p.Outcome, p.Text = v.Get("what"), v.Get("outcome"), strings.TrimSpace(v.Get("q"))
	p.From, p.To = strings.TrimSpace(v.Get("from")), strings.TrimSpace(v.Get("to"))
	p.Agent = site.ReadID[models.AgentID](v, "agent", faults)
	p.Conversation = site.ReadID[models.ConversationID](v, "conversation", faults)
	zone := site.ReadZone(v, faults, p.From, p.To)
	p.Zone = site.NameOf(zone)
	q := requests.TrailQuery{
		Person: p.Person, Part: requests.TrailPart(p.Part), Outcome: requests.TrailOutcome(p.Outcome), Agent: p.Agent,
		Conversation: p.Conversation, Text: p.Text,
	}
	q.From, q.Until = site.ReadDays(p.From, p.To, zone, faults)
	if before := v.Get("before"); before != "" {
		n, err := strconv.ParseInt(before, 10, 64)
		if err != nil || n < 1 {
			return q, models.Errorf(models.CodeNotFound, "There is no such page of the audit.")
		}
		p.Before, q.Before = n, n
	}
	if len(faults) > 0 {
		return q, &models.Error{Code: models.CodeInvalid, Text: "The filter is not valid.", Fields: faults}
	}
	return q, nil
}
