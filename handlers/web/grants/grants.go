package grants

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/request"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/agents"
)

// showGrantForm is the form, and with ticks in the query what a grant made so
// would have covered. It makes none.
func (s *Screens) showGrantForm(c echo.Context) error {
	id, err := request.ID(c)
	if err != nil {
		return err
	}
	return s.grantForm(c, http.StatusOK, id, readGrantForm(c.QueryParams()))
}

// grantForm shows the form as it was filled in. Who may not make grants here gets
// an error; what no grant can be made on is said on the page.
func (s *Screens) grantForm(c echo.Context, status int, id models.ResponseID, form agents.GrantForm) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	a, err := s.request.Find(ctx, actor, id)
	if err != nil {
		return err
	}
	doc, err := s.Policies.Document(ctx)
	if err != nil {
		return err
	}
	in := agents.GrantFormInput{Approval: *a, MaxHours: doc.GrantMaxHours, MaxUses: doc.GrantMaxUses, Form: form}
	fixed, err := fixedBy(form, a)
	if err == nil {
		var reach models.GrantReach
		if reach, err = s.Store.GrantReach(ctx, actor, id, fixed); err == nil {
			in.Reach = &reach
		}
	}
	switch e := site.AsError(err, models.CodeInvalid, models.CodeWrongDecisionKind, models.CodeAlreadyDecided); {
	case err == nil:
	case e == nil:
		return err
	case e.Code == models.CodeInvalid:
		if in.Form.Errors == nil {
			in.Form.Errors = map[string]string{}
		}
		maps.Copy(in.Form.Errors, e.Fields)
	default:
		in.Closed = e.Text
	}
	if !doc.GrantsEnabled {
		in.Closed = "Pre-approvals are off in the policy (grants_enabled)."
	}
	if _, in.Fold, err = s.folded(ctx, actor, a); err != nil {
		return err
	}
	frame, err := s.frameOf(c, "Pre-approve similar calls")
	if err != nil {
		return err
	}
	v := agents.NewGrantForm(in, frame.Now)
	return handlers.Render(c, status, agents.GrantFormPage(frame, v), agents.GrantFormPart(v))
}

// frameOf is the shell around a page; a fragment has none, and leaves messages to
// the next page.
func (s *Screens) frameOf(c echo.Context, title string) (views.Page, error) {
	if handlers.WantsFragment(c.Request()) {
		return views.Page{Now: s.Kit.Now()}, nil
	}
	return s.Frame(c, title, -1)
}

// folded reports whether a request that waits has parts which the person must open
// before letting anything like it through, and returns what the store judges that by.
func (s *Screens) folded(ctx context.Context, actor models.Actor, a *models.Approval) (*models.PageView, bool, error) {
	page := &models.PageView{Confirms: true} // the form of a pre-approval is a page of its own
	if a.Status() != models.StatusPending {
		return page, false, nil
	}
	var err error
	if page.Folds, err = s.request.Folds(ctx, actor, a); err != nil {
		return nil, false, err
	}
	err = s.request.OpenedAll(ctx, actor, a, page)
	if models.ErrorCode(err) == models.CodeInvalid {
		return page, true, nil
	}
	return page, false, err
}

// readGrantForm reads the form, from a query or a body.
func readGrantForm(values url.Values) agents.GrantForm {
	f := agents.GrantForm{Sent: values.Has("sent"), Hours: values.Get("hours"), Uses: values.Get("uses")}
	for _, text := range values["keep"] {
		place, err := strconv.Atoi(text)
		if err != nil {
			place = -1 // is refused with its field
		}
		f.Kept = append(f.Kept, place)
	}
	return f
}

func fixedBy(form agents.GrantForm, a *models.Approval) ([]string, error) {
	shape, err := models.ShapeOf([]byte(a.ToolInputJSON))
	if err != nil {
		return nil, models.Errorf(models.CodeWrongDecisionKind,
			"The stored input can't be read, so similar calls can't be pre-approved.")
	}
	return form.Fixed(shape)
}

// makeGrant makes a grant, and approves the request too if that button was pressed. The form comes back as it was
// sent, with its errors.
func (s *Screens) makeGrant(c echo.Context) error {
	id, err := request.ID(c)
	if err != nil {
		return err
	}
	r, actor := c.Request(), site.ActorOf(c)
	form := readGrantForm(r.PostForm)
	form.Sent = true // nothing ticked is nothing fixed
	a, err := s.request.Find(r.Context(), actor, id)
	if err != nil {
		return err
	}
	g, err := s.grantOf(r, actor, a, form)
	if e := site.AsError(err,
		append(request.ToCorrect, models.CodeConflict, models.CodeDigestMismatch, models.CodeAlreadyDecided)...); e != nil {
		form.Errors = grantErrors(e)
		return s.grantForm(c, handlers.Status(e.Code), id, form)
	}
	if err != nil {
		return err
	}
	if r.PostForm.Get("approve") == "" {
		if a.Status() == models.StatusPending {
			s.SetFlash(c, "grant-made-waits")
			return c.Redirect(http.StatusSeeOther, views.ApprovalURL(id))
		}
		s.SetFlash(c, "grant-made")
		return c.Redirect(http.StatusSeeOther, views.GrantURL(g.ID))
	}
	approved := "grant-made-approved"
	folds, err := s.request.Folds(r.Context(), actor, a)
	if err != nil {
		return err
	}
	if _, err := s.Store.Decide(r.Context(), actor, id, models.DecisionInput{
		Approved: new(true), Digest: r.PostForm.Get("digest"), Page: &models.PageView{Folds: folds, SeenEnd: request.SeenEnd(r.PostForm), Confirms: true}, // this form has shown it once more
	}); err != nil {
		if site.AsError(err, request.TooLate...) == nil {
			return err
		}
		approved = "grant-made-late" // the page shows the outcome
	}
	s.SetFlash(c, approved)
	return c.Redirect(http.StatusSeeOther, views.ApprovalURL(id))
}

func (s *Screens) grantOf(
	r *http.Request, actor models.Actor, a *models.Approval, form agents.GrantForm,
) (*models.Grant, error) {
	fixed, err := fixedBy(form, a)
	if err != nil {
		return nil, err
	}
	page, groups, err := s.folded(r.Context(), actor, a)
	if err != nil {
		return nil, err
	}
	if groups {
		return nil, models.Errorf(models.CodeInvalid,
			"Nothing was pre-approved: open the collapsed sections of this request first.")
	}
	page.SeenEnd = request.SeenEnd(r.PostForm)
	return s.Store.MakeGrant(r.Context(), actor, a.ID, models.GrantInput{
		Fixed: fixed, Hours: number(form.Hours), Uses: number(form.Uses), Digest: r.PostForm.Get("digest"), Page: page,
	})
}

// number reads a number; any other text is 0, which no field allows.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// grantErrors puts each text where its field is in the form.
func grantErrors(e *models.Error) map[string]string {
	out := make(map[string]string, len(e.Fields))
	for name, text := range e.Fields {
		switch name {
		case "fixed", "hours", "uses":
			out[name] = text
		default:
			out[""] = name + ": " + text
		}
	}
	if len(out) == 0 {
		out[""] = e.Text
	}
	return out
}

func (s *Screens) grants(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	after := c.QueryParam("after")
	list, err := s.Store.Grants(ctx, actor, after, 0)
	if err != nil {
		return err
	}
	frame, err := s.frameOf(c, "Pre-approvals")
	if err != nil {
		return err
	}
	doc, err := s.Policies.Document(ctx)
	if err != nil {
		return err
	}
	v := agents.NewGrants(agents.GrantsInput{
		Grants: list.Items, After: after, Next: list.Next, Admin: actor.Admin, Off: !doc.GrantsEnabled,
	}, frame.Now)
	return handlers.Render(c, http.StatusOK, agents.GrantsPage(frame, v), agents.GrantList(v))
}

func grantID(c echo.Context) (models.GrantID, error) {
	id, err := models.ParseID[models.GrantID]("id", c.Param("id"))
	if err != nil {
		return "", models.Errorf(models.CodeNotFound, "There is no such pre-approval.")
	}
	return id, nil
}

func (s *Screens) grant(c echo.Context) error {
	id, err := grantID(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	after := c.QueryParam("after")
	g, err := s.Store.Grant(ctx, actor, id, after, 0)
	if err != nil {
		return err
	}
	frame, err := s.frameOf(c, "Pre-approval for "+g.ToolName)
	if err != nil {
		return err
	}
	doc, err := s.Policies.Document(ctx)
	if err != nil {
		return err
	}
	v := agents.NewGrant(agents.GrantInput{
		Grant: g.Grant, Calls: g.Items, After: after, Next: g.Next, Off: !doc.GrantsEnabled,
		Sees: actor.Admin || g.OwnerID == actor.UserID(),
	}, frame.Now)
	return handlers.Render(c, http.StatusOK, agents.GrantPage(frame, v), agents.GrantDetail(v))
}

func (s *Screens) revokeGrant(c echo.Context) error {
	id, err := grantID(c)
	if err != nil {
		return err
	}
	if _, err := s.Store.RevokeGrant(c.Request().Context(), site.ActorOf(c), id); err != nil {
		return err
	}
	s.SetFlash(c, "grant-revoked")
	return c.Redirect(http.StatusSeeOther, views.GrantURL(id))
}

// backToGrant is for an address that only a form leads to.
func (s *Screens) backToGrant(c echo.Context) error {
	id, err := grantID(c)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.GrantURL(id))
}
