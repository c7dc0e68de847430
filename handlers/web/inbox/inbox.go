package inbox

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/request"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/glass"
	"countersign/models/people"
	"countersign/views"
	"countersign/views/pages/inbox"
	"countersign/views/pages/requests"
	"countersign/views/pages/words"
)

// teachAgent is the name of the agent that the empty inbox makes a token for.
const teachAgent = "first-agent"

func (s *Screens) inbox(c echo.Context) error {
	ctx := c.Request().Context()
	switch shellPart(c.Request()) {
	case "inbox-count":
		n, err := s.Waiting(ctx, site.ActorOf(c))
		if err != nil {
			return err
		}
		return handlers.Render(c, http.StatusOK, nil, views.InboxCountOutOfBand(n))
	case "dangers":
		frame := views.Page{Viewer: site.VisitorOf(c).View()}
		if err := s.Warn(ctx, &frame); err != nil {
			return err
		}
		return handlers.Render(c, http.StatusOK, nil, views.Dangers(frame))
	}
	fragment := handlers.WantsFragment(c.Request())
	place, err := request.ReadPlace(c.QueryParams())
	switch {
	case fragment && err != nil:
		return err
	case fragment && site.Target(c.Request()) == "detail":
		return s.inboxDetail(c, place)
	case fragment:
		return s.inboxList(c, place)
	case err == nil && site.EmptyMembers(c.QueryParams()):
		return c.Redirect(http.StatusSeeOther, place.URL()) // one place has one address
	}
	return s.inboxPage(c, place, err, "")
}

// shellPart is the part of the shell that refetches itself, by its id: it wants
// nothing else of what the inbox answers.
func shellPart(r *http.Request) string {
	if !handlers.WantsFragment(r) {
		return ""
	}
	_, id, _ := strings.Cut(r.Header.Get("Hx-Source"), "#")
	return id
}

// inboxPage shows the pending requests, and one of them beside the list: the one that the address names, else the
// first. wrong is an error in the address; secret a token that was just made.
func (s *Screens) inboxPage(c echo.Context, place views.InboxPlace, wrong error, secret string) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	decided := s.takeDecided(c)
	in, err := inbox.Input{Place: place}, wrong
	if err == nil {
		in, err = s.readInbox(c, place, decided)
	}
	status := http.StatusOK
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		if _, cursor := e.Fields["cursor"]; cursor {
			return models.Errorf(models.CodeInvalid, "There is no such inbox page.")
		}
		status, in.Errors = handlers.Status(e.Code), e.Fields
		in.Waiting, err = s.Waiting(ctx, actor)
	}
	if err != nil {
		return err
	}
	in.BaseURL, in.FreshToken, in.FreshAgent = strings.TrimSuffix(s.Kit.PublicURL.String(), "/"), secret, teachAgent
	if in.Agents, err = s.Store.People.AgentsToChoose(ctx, actor); err != nil {
		return err
	}
	in.Explicit = place.Open != ""
	if !in.Explicit && secret == "" {
		if in.Place.Open = inbox.Next(in, "", s.Kit.Now()); in.Place.Open == "" && len(in.Rows) > 0 {
			in.Place.Open = in.Rows[0].ID
		}
	}
	if err := s.openCard(c, &in); err != nil {
		return err
	}
	waits := in.Waiting
	if !in.Place.Filtered() {
		waits = in.Count
	}
	frame, err := s.Frame(c, "Inbox", waits)
	if err != nil {
		return err
	}
	frame.Path = views.InboxURL()
	if in.Card != nil {
		frame.Watch, frame.Conversation = []models.ResponseID{in.Card.ID}, in.Card.Follows
	}
	in.Reader = actor.Voter()
	if in.Away, err = s.Store.AwayNow(ctx, actor); err != nil {
		return err
	}
	return handlers.Render(c, status, inbox.Page(frame, inbox.New(in, frame.Now)), nil)
}

// openCard reads the request beside the list.
func (s *Screens) openCard(c echo.Context, in *inbox.Input) error {
	if in.Place.Open == "" {
		return nil
	}
	card, err := s.request.View(c, in.Place.Open, requests.Input{Desk: in.Place.Query()})
	if models.ErrorCode(err) == models.CodeNotFound {
		in.Missing, in.Place.Open = true, ""
		return nil
	}
	in.Card = &card
	return err
}

// inboxDetail answers a click on a row with the request, for beside the list.
func (s *Screens) inboxDetail(c echo.Context, place views.InboxPlace) error {
	in := inbox.Input{Place: place, Explicit: true}
	if err := s.openCard(c, &in); err != nil {
		return err
	}
	detail := inbox.New(in, s.Kit.Now()).Detail
	detail.Focus = true
	return handlers.Render(c, http.StatusOK, nil, inbox.DeskDetail(detail))
}

// inboxList answers the list's own refetch. Its address names the request beside the list, and the lines of requests
// that have left it.
func (s *Screens) inboxList(c echo.Context, place views.InboxPlace) error {
	var gone []models.ResponseID
	for _, raw := range c.QueryParams()["gone"] {
		if id, err := models.ParseID[models.ResponseID]("gone", raw); err == nil {
			gone = append(gone, id)
		}
	}
	if place.Open != "" {
		gone = append(gone, place.Open)
	}
	in, err := s.readInbox(c, place, "", gone...)
	if err != nil {
		return err
	}
	v := inbox.New(in, s.Kit.Now())
	return handlers.Render(c, http.StatusOK, nil, inbox.Fragment(v))
}

// readInbox reads what a place shows. decided is the request that was just
// decided; gone may have left the list, and leave a line in it.
func (s *Screens) readInbox(
	c echo.Context, place views.InboxPlace, decided models.ResponseID, gone ...models.ResponseID,
) (inbox.Input, error) {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in := inbox.Input{Place: place, Reader: actor.Voter(), Admin: actor.MayAdminister(), AsOf: s.asOf()}
	if err := s.readRows(ctx, actor, &in); err != nil {
		return in, err
	}
	var err error
	if in.Send, err = s.Store.Sending(ctx, actor); err != nil {
		return in, err
	}
	if in.Broken, err = glass.New(s.Store).Waits(ctx, actor); err != nil {
		return in, err
	}
	if !place.Filtered() && !in.Cap {
		in.Count = max(0, in.Count-in.Send)
	}
	for i := range in.Rows {
		if err := s.Store.Requests.HeldVerdicts(ctx, actor, &in.Rows[i].Approval); err != nil {
			return in, err
		}
	}
	if in.Origins, err = s.Store.Requests.Origins(ctx, actor, idsOf(in.Rows)...); err != nil {
		return in, err
	}
	if in.Twins, err = s.Store.Requests.Twins(ctx, actor, pointers(in.Rows)...); err != nil {
		return in, err
	}
	if place.Filtered() {
		if in.Waiting, err = s.Waiting(ctx, actor); err != nil {
			return in, err
		}
	}
	if place.Conversation != "" && len(in.Rows) > 0 {
		in.ConversationTitle = words.ConversationLabel(&in.Rows[0].Approval)
	}
	if len(in.Rows) == 0 && !place.Filtered() && place.After == "" && in.Aside.Empty() {
		if err := s.readToday(c, &in); err != nil {
			return in, err
		}
	}
	return in, s.readGone(ctx, actor, &in, decided, gone)
}

// mostPages is how many pages are read to find the requests that are the reader's to approve.
const mostPages = 10

// readRows reads the page of the list, and what the reader may do with each request. Of those that the reader may
// approve, or has signed, it reads on until there is a page of them: who may approve is a rule, and no column.
func (s *Screens) readRows(ctx context.Context, actor models.Actor, in *inbox.Input) error {
	q := inboxQuery(in.Place)
	wanted := map[string]func(models.Right) bool{
		views.WhoseForMe: func(r models.Right) bool { return r.MayApprove },
		views.WhoseWaits: func(r models.Right) bool { return r.Signed != nil },
	}[in.Place.Whose]
	in.Rights, in.ReaskOf = map[models.ResponseID]models.Right{}, map[models.ResponseID]models.ResponseID{}
	for read := 1; ; read++ {
		page, err := s.Store.Requests.Inbox(ctx, actor, q)
		if err != nil {
			return err
		}
		rights, err := s.Store.Rights(ctx, actor, pointers(page.Items)...)
		if err != nil {
			return err
		}
		maps.Copy(in.Rights, rights)
		maps.Copy(in.ReaskOf, page.ReaskOf)
		in.Reads, in.Aside = in.Reads || page.Reads, page.Aside
		if in.Next = page.Next; page.Cut {
			in.ScanCount += page.ScanCount
		}
		if wanted == nil {
			in.Rows, in.Count, in.Cap = page.Items, page.Count, page.CountCap
			return nil
		}
		for i := range page.Items {
			if wanted(rights[page.Items[i].ID]) {
				in.Rows = append(in.Rows, page.Items[i])
			}
		}
		in.Count, in.Cap = len(in.Rows), page.Next != ""
		switch {
		case page.Next == "" || page.Cut || len(in.Rows) >= models.DefaultPage:
			return nil
		case read == mostPages:
			in.ScanCount = read * models.DefaultPage
			return nil
		}
		q.After = page.Next
	}
}

// asOf numbers a read before it begins, so that a page can ignore an older answer that arrives later. After a restart
// of the server the numbers begin again, with another prefix.
func (s *Screens) asOf() string {
	return strconv.FormatInt(s.Start.UnixNano(), 36) + "-" + strconv.FormatInt(s.reads.Add(1), 10)
}

func idsOf(rows []models.Brief) []models.ResponseID {
	ids := make([]models.ResponseID, 0, len(rows))
	for i := range rows {
		ids = append(ids, rows[i].ID)
	}
	return ids
}

func pointers(rows []models.Brief) []*models.Approval {
	out := make([]*models.Approval, 0, len(rows))
	for i := range rows {
		out = append(out, &rows[i].Approval)
	}
	return out
}

// teachToken makes a token for the example of an empty inbox and shows it once.
func (s *Screens) teachToken(c echo.Context) error {
	secret, _, err := s.Store.People.AddToken(c.Request().Context(), site.ActorOf(c),
		people.NewToken{Scope: models.ScopeAgent, Agent: teachAgent})
	if err != nil {
		return err
	}
	return s.inboxPage(c, views.InboxPlace{}, nil, secret)
}
