package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/ledger"
	"countersign/views"
	"countersign/views/pages/audit"
)

// ledger is everybody's audit.
func (s *Site) ledger(c echo.Context) error {
	ctx, actor := c.Request().Context(), actorOf(c)
	in := audit.LedgerInput{Filter: views.LedgerFilter{
		Who: strings.TrimSpace(c.QueryParam("who")), Action: c.QueryParam("action"), Conversation: strings.TrimSpace(c.QueryParam("conversation")),
		From: strings.TrimSpace(c.QueryParam("from")), Until: strings.TrimSpace(c.QueryParam("until")),
	}, Chain: s.chain.state()}
	faults := make(map[string]string)
	zone := readZone(c.QueryParams(), faults, in.Filter.From, in.Filter.Until)
	in.Filter.Zone = nameOf(zone)
	if len(faults) == 0 && emptyMembers(c.QueryParams()) {
		return c.Redirect(http.StatusSeeOther, views.LedgerURL(in.Filter, 0)) // one place has one address
	}
	q, err := s.ledgerQuery(ctx, actor, in.Filter, zone, faults, c.QueryParam("before"))
	status := http.StatusOK
	if e := asError(err, models.CodeInvalid); e != nil {
		status, in.Errors = handlers.Status(e.Code), e.Fields
	} else if err != nil {
		return err
	} else {
		found, err := s.store.Ledger.Page(ctx, actor, q)
		if err != nil {
			return err
		}
		in.Entries, in.Next, in.StoppedEarly, in.Before = found.Entries, found.Next, found.StoppedEarly, q.Before
		if in.Person, err = s.personOf(ctx, actor, q.Who); err != nil {
			return err
		}
	}
	if in.Actions, err = s.store.Ledger.Actions(ctx, actor); err != nil {
		return err
	}
	if in.People, err = s.store.People.Users(ctx, actor); err != nil {
		return err
	}
	if in.Agents, err = s.store.People.AgentsToChoose(ctx, actor); err != nil {
		return err
	}
	if in.Head, err = s.store.Ledger.Head(ctx); err != nil {
		return err
	}
	frame, err := s.frame(c, "Audit of everything", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, audit.LedgerPage(frame, audit.NewLedger(in, frame.Now)), nil)
}

// ledgerQuery reads the filters of an address: CodeInvalid names all that are
// wrong.
func (s *Site) ledgerQuery(ctx context.Context, actor models.Actor, f views.LedgerFilter, zone *time.Location, faults map[string]string, before string) (ledger.Query, error) {
	q := ledger.Query{Action: f.Action, Limit: models.DefaultPage}
	var err error
	if q.Who, err = s.whoIs(ctx, actor, f.Who); asError(err, models.CodeInvalid) != nil {
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
		at, ok := timeIn(bound.text, zone)
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

// whoIs finds the id behind an e-mail; an id stands for itself.
func (s *Site) whoIs(ctx context.Context, actor models.Actor, who string) (string, error) {
	if who == "" {
		return "", nil
	}
	if !strings.Contains(who, "@") {
		id, err := models.ParseID[models.UserID]("who", who)
		return string(id), err
	}
	user, err := s.store.People.UserByEmail(ctx, actor, who)
	if models.ErrorCode(err) == models.CodeNotFound {
		return "", models.Invalid("who", "nobody on this server has this e-mail")
	}
	if err != nil {
		return "", err
	}
	return string(user.ID), nil
}

// personOf is the person of an id, if it is one: it may be an agent's.
func (s *Site) personOf(ctx context.Context, actor models.Actor, id string) (models.UserID, error) {
	if id == "" {
		return "", nil
	}
	user, err := s.store.People.UserByID(ctx, actor, models.UserID(id))
	if models.ErrorCode(err) == models.CodeNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return user.ID, nil
}

// ledgerEntry shows one entry, readable and raw.
func (s *Site) ledgerEntry(c echo.Context) error {
	ctx, actor := c.Request().Context(), actorOf(c)
	n, err := strconv.ParseInt(c.Param("n"), 10, 64)
	if err != nil || n < 1 {
		return models.Errorf(models.CodeNotFound, "There is no such entry.")
	}
	entry, before, err := s.store.Ledger.Entry(ctx, actor, n)
	if err != nil {
		return err
	}
	head, err := s.store.Ledger.Head(ctx)
	if err != nil {
		return err
	}
	frame, err := s.frame(c, "Entry "+strconv.FormatInt(n, 10), -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, audit.LedgerEntryPage(frame, audit.NewLedgerEntry(*entry, before, head.Seq)), nil)
}

// showChain shows the state of the check, for the page that waits for its end.
func (s *Site) showChain(c echo.Context) error {
	if !handlers.WantsFragment(c.Request()) {
		return c.Redirect(http.StatusSeeOther, views.LedgerURL(views.LedgerFilter{}, 0))
	}
	head, err := s.store.Ledger.Head(c.Request().Context())
	if err != nil {
		return err
	}
	panel := audit.ChainPanel(audit.NewChain(s.chain.state(), s.kit.Now()), head.String())
	return handlers.Render(c, http.StatusOK, panel, panel)
}

// checkChain begins to read the whole ledger, in the background.
func (s *Site) checkChain(c echo.Context) error {
	s.chain.begin(c.Request().Context())
	return c.Redirect(http.StatusSeeOther, views.LedgerURL(views.LedgerFilter{}, 0))
}
