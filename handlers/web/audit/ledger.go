package audit

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/requests"
	"countersign/views"
	"countersign/views/pages/audit"
)

// ledger is everybody's audit.
func (s *Screens) ledger(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in := audit.LedgerInput{
		Filter: readLedgerFilter(c.QueryParams()), Chain: s.chain.state(), Zone: site.ZoneOf(c),
	}
	faults := make(map[string]string)
	zone := site.ReadZone(c.QueryParams(), faults, in.Filter.From, in.Filter.Until)
	in.Filter.Zone = site.NameOf(zone)
	if len(faults) == 0 && site.EmptyMembers(c.QueryParams()) {
		return c.Redirect(http.StatusSeeOther, views.LedgerURL(in.Filter, 0)) // one place has one address
	}
	q, err := s.ledgerQuery(ctx, actor, in.Filter, zone, faults, c.QueryParam("before"))
	if err == nil {
		err = s.addLedger(ctx, actor, &in, q)
	}
	status := http.StatusOK
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		status, in.Errors = handlers.Status(e.Code), e.Fields
	} else if err != nil {
		return err
	}
	if in.Actions, err = s.Store.Ledger.Actions(ctx, actor); err != nil {
		return err
	}
	if in.People, err = s.Store.People.Users(ctx, actor); err != nil {
		return err
	}
	if in.Agents, err = s.Store.People.AgentsToChoose(ctx, actor); err != nil {
		return err
	}
	if in.Head, err = s.Store.Ledger.Head(ctx); err != nil {
		return err
	}
	if in.Saved, status, err = s.savedOn(c, models.ListEverything, keptOfLedger, status); err != nil {
		return err
	}
	if in.Broken, status, err = s.broken(c, status); err != nil {
		return err
	}
	frame, err := s.Frame(c, "Audit of everything", -1)
	if err != nil {
		return err
	}
	frame.Path = views.ListURL(models.ListEverything, "")
	return handlers.Render(c, status, audit.LedgerPage(frame, audit.NewLedger(in, frame.Now)), nil)
}

func readLedgerFilter(v url.Values) views.LedgerFilter {
	return views.LedgerFilter{
		Who: strings.TrimSpace(v.Get("who")), Action: v.Get("action"),
		Conversation: strings.TrimSpace(v.Get("conversation")), Text: strings.TrimSpace(v.Get("q")),
		From: strings.TrimSpace(v.Get("from")), Until: strings.TrimSpace(v.Get("until")),
	}
}

// addLedger reads the page. CodeInvalid names the filters that are wrong.
func (s *Screens) addLedger(ctx context.Context, actor models.Actor, in *audit.LedgerInput, q ledger.Query) error {
	found, err := requests.Everything(ctx, s.Store.Requests, s.Store.Ledger, actor, q, in.Filter.Text)
	if err != nil {
		return err
	}
	in.Entries, in.Next, in.StoppedEarly, in.Before = found.Entries, found.Next, found.StoppedEarly, q.Before
	in.Person, err = s.personOf(ctx, actor, q.Who)
	return err
}

// ledgerQuery reads the filters of an address: CodeInvalid names all that are
// wrong.
func (s *Screens) ledgerQuery(ctx context.Context, actor models.Actor, f views.LedgerFilter, zone *time.Location, faults map[string]string, before string) (ledger.Query, error) {
	q := ledger.Query{Action: f.Action, Limit: models.DefaultPage}
	var err error
	if q.Who, err = s.IDOf(ctx, actor, f.Who); site.AsError(err, models.CodeInvalid) != nil {
		faults["who"] = "must be the e-mail of a person on this server, or the id of a person or agent"
	} else if err != nil {
		return q, err
	}
	if f.Conversation != "" {
		if q.Conversation, err = models.ParseID[models.ConversationID]("conversation", f.Conversation); err != nil {
			faults["conversation"] = "must be the id of a conversation"
		}
	}
	for _, bound := range []struct {
		name, text string
		into       *time.Time
	}{{"from", f.From, &q.From}, {"until", f.Until, &q.Until}} {
		at, ok := site.TimeIn(bound.text, zone)
		if !ok {
			faults[bound.name] = "must be a day such as 2026-11-20, or a time such as 2026-11-20 14:30"
		}
		*bound.into = at
	}
	if before != "" {
		if q.Before, err = strconv.ParseInt(before, 10, 64); err != nil || q.Before < 1 {
			return q, models.Errorf(models.CodeNotFound, "There is no such page of the ledger.")
		}
	}
	if len(faults) > 0 {
		return q, &models.Error{Code: models.CodeInvalid, Text: "The filter is not valid.", Fields: faults}
	}
	return q, nil
}

// personOf is the person of an id, if it is one: it may be an agent's.
func (s *Screens) personOf(ctx context.Context, actor models.Actor, id string) (models.UserID, error) {
	if id == "" {
		return "", nil
	}
	user, err := s.Store.People.UserByID(ctx, actor, models.UserID(id))
	if models.ErrorCode(err) == models.CodeNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return user.ID, nil
}

// ledgerEntry shows one entry, readable and raw.
func (s *Screens) ledgerEntry(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	n, err := strconv.ParseInt(c.Param("n"), 10, 64)
	if err != nil || n < 1 {
		return models.Errorf(models.CodeNotFound, "There is no such entry.")
	}
	entry, before, err := s.Store.Ledger.Entry(ctx, actor, n)
	if err != nil {
		return err
	}
	head, err := s.Store.Ledger.Head(ctx)
	if err != nil {
		return err
	}
	frame, err := s.Frame(c, "Entry "+strconv.FormatInt(n, 10), -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, audit.LedgerEntryPage(frame, audit.NewLedgerEntry(*entry, before, head.Seq)),
		nil)
}

// showChain shows the state of the check, for the page that waits for its end.
func (s *Screens) showChain(c echo.Context) error {
	if !handlers.WantsFragment(c.Request()) {
		return c.Redirect(http.StatusSeeOther, views.LedgerURL(views.LedgerFilter{}, 0))
	}
	head, err := s.Store.Ledger.Head(c.Request().Context())
	if err != nil {
		return err
	}
	panel := audit.ChainPanel(audit.NewChain(s.chain.state(), s.Kit.Now()), head.String())
	return handlers.Render(c, http.StatusOK, panel, panel)
}

// checkChain begins to read the whole ledger, in the background.
func (s *Screens) checkChain(c echo.Context) error {
	s.chain.begin(c.Request().Context())
	return c.Redirect(http.StatusSeeOther, views.LedgerURL(views.LedgerFilter{}, 0))
}
