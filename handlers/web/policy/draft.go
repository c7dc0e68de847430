package policy

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/models/store"
	"countersign/views"
	"countersign/views/pages/policies"
)

// editing is the document that an admin edits: the draft, or the current version if there is no draft.
type editing struct {
	standing store.PolicyVersion
	base     store.PolicyVersion // what the draft began with
	draft    models.PolicyDraft  // as it is kept; Revision 0: there is none
	doc      *policy.Draft       // nil: it can't be shown as a form
	broken   *models.Error       // why not
	checked  policy.Checked
	section  policies.Section // the page that shows it

	now     time.Time                    // when it is looked at
	entries map[string]policies.TypedEnd // what the form says about switches, by their ID
}

// editing reads the draft of the signed-in person.
func (s *Screens) editing(c echo.Context) (*editing, error) {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	standing, err := s.Store.CurrentPolicy(ctx)
	if err != nil {
		return nil, err
	}
	e := &editing{standing: standing, base: standing, now: s.Store.Now()}
	if e.draft, err = drafts.New(s.Store).Draft(ctx, actor); err != nil {
		return nil, err
	}
	if e.draft.Revision == 0 {
		return e, e.begin(ctx, s.Store, actor, standing.Version)
	}
	if e.draft.Base != standing.Version {
		if e.base, err = s.Store.PolicyAt(ctx, actor, e.draft.Base); err != nil {
			return nil, err
		}
	}
	return e, e.read(e.draft.Document)
}

// begin starts from a version, as nothing is kept yet.
func (e *editing) begin(ctx context.Context, from *store.Store, actor models.Actor, version int64) (err error) {
	if version != e.base.Version {
		if e.base, err = from.PolicyAt(ctx, actor, version); err != nil {
			return err
		}
	}
	e.draft.Base = version
	e.doc, err = policy.DraftOf(e.base.Program.Document())
	e.check()
	return err
}

// read takes a text as the draft.
func (e *editing) read(text string) error {
	doc, err := policy.ReadDraft([]byte(text))
	e.doc, e.broken = doc, site.AsError(err, models.CodeInvalid)
	if err != nil && e.broken == nil {
		return err
	}
	e.check()
	return nil
}

func (e *editing) check() {
	if e.doc != nil {
		e.checked = e.doc.Check(e.base.Program.Document())
	}
}

// stale reports whether another version was saved since the draft began.
func (e *editing) stale() bool { return e.draft.Base != e.standing.Version }

// problems is what keeps the draft from being a policy, by path.
func (e *editing) problems() map[string]string {
	if e.broken != nil {
		return e.broken.Fields
	}
	return e.checked.Problems
}

// text is the draft as it is kept, or would be.
func (e *editing) text() (string, error) {
	if e.doc == nil || e.draft.Revision > 0 {
		return e.draft.Document, nil
	}
	raw, err := e.doc.Marshal()
	return string(raw), err
}

func (e *editing) view(notice string) *policies.DraftInput {
	in := &policies.DraftInput{
		Base: e.draft.Base, Revision: e.draft.Revision, ChangedAt: e.draft.ChangedAt, Undo: e.draft.Previous != "",
		Notice: notice,
		Zone:   e.standing.Program.Zone().String(), Ends: e.entries,
	}
	if e.doc == nil {
		for path, text := range e.problems() {
			in.Unreadable = path + " " + text
		}
		return in
	}
	in.Settings, in.Problems = e.doc.Settings(), e.checked.Problems
	if ends := e.ends(); ends != nil {
		in.Problems = ends
	}
	for i := range e.doc.Rules() {
		in.Rules = append(in.Rules, e.doc.Rule(i))
	}
	for i := range e.doc.Templates() {
		in.Templates = append(in.Templates, e.doc.Template(i))
	}
	return in
}

// keep stores the draft if it differs from the stored draft or, without one, from the version it began with.
func (s *Screens) keep(c echo.Context, e *editing) error {
	raw, err := e.doc.Marshal()
	if err != nil {
		return err
	}
	return s.keepText(c, e, string(raw))
}

func (s *Screens) keepText(c echo.Context, e *editing, text string) error {
	same := e.draft.Document
	if e.draft.Revision == 0 {
		raw, err := e.base.Program.Document().Marshal()
		if err != nil {
			return err
		}
		same = string(raw)
	}
	if text == same {
		return nil
	}
	kept, err := drafts.New(s.Store).Keep(c.Request().Context(), site.ActorOf(c), e.draft.Base, e.draft.Revision, text)
	if err != nil {
		return err
	}
	e.draft = kept
	return nil
}

// otherWindow is said when a form was filled in against another state of the draft.
const otherWindow = "Your draft was changed in another window, so this was not added to it. What you typed is below: check it and send it again."

// sentFrom brings the editing to where the form that was sent began. ok is false if the
// draft has moved on since.
func (s *Screens) sentFrom(c echo.Context, e *editing) (ok bool, err error) {
	form := c.Request().PostForm
	if form.Get("revision") != strconv.FormatInt(e.draft.Revision, 10) {
		return false, nil
	}
	if e.draft.Revision > 0 {
		return true, nil
	}
	base, err := versionNumber(form.Get("base_version"))
	if err != nil || base > e.standing.Version {
		return false, nil //nolint:nilerr // a form that nobody was shown
	}
	return true, e.begin(c.Request().Context(), s.Store, site.ActorOf(c), base)
}

// changePolicy takes the form of a page of the policy: it puts the fields of that page into the draft, then does what
// the button says.
func (s *Screens) changePolicy(section policies.Section) echo.HandlerFunc {
	return func(c echo.Context) error {
		step, which, _ := strings.Cut(c.Request().PostForm.Get("step"), ":")
		if step == "discard" || step == "undo" {
			return s.takeBack(c, section, step)
		}
		e, err := s.editing(c)
		if err != nil {
			return err
		}
		e.section = section
		return s.changeDraft(c, e, step, which)
	}
}

func (s *Screens) changeDraft(c echo.Context, e *editing, step, which string) error {
	form := c.Request().PostForm
	same, err := s.sentFrom(c, e)
	if err != nil {
		return err
	}
	if e.doc == nil {
		return s.policyForm(c, http.StatusConflict, e, "")
	}
	e.doc.PutSettings(readFields(form, fieldsOf(e.section)))
	e.check()
	e.entries = typedEnds(form, step)
	if !same {
		return s.policyForm(c, http.StatusConflict, e, otherWindow)
	}
	if !e.turn(step) {
		return s.policyForm(c, http.StatusUnprocessableEntity, e, "Nothing is switched yet. Correct the marked fields.")
	}
	leads, err := s.pressed(c, e, step, which)
	if conflict := site.AsError(err, models.CodeConflict); conflict != nil {
		return s.policyForm(c, http.StatusConflict, e, conflict.Text)
	}
	if err != nil {
		return err
	}
	if err := s.keep(c, e); err != nil {
		return s.notKept(c, e, err)
	}
	e.check()
	return s.afterKept(c, e, step, which, leads)
}

// pressed changes what a button beside the fields changes in a draft, and tells where that leads; empty: to no other
// page. CodeConflict for a template that rules use, and for a remark that is not there any more.
func (s *Screens) pressed(c echo.Context, e *editing, step, which string) (leads string, err error) {
	switch step {
	case "example":
		return beginWith(e.doc, which)
	case "fix":
		return s.fix(c, e, which)
	}
	if leads, err = changeTemplates(e.doc, step, which); err != nil || leads != "" {
		return leads, err
	}
	return changeRules(e.doc, step, which), nil
}

// afterKept goes on behind a draft that is kept: where the button leads, else to its review,
// unless something is wrong with it.
func (s *Screens) afterKept(c echo.Context, e *editing, step, which, leads string) error {
	switch {
	case leads != "":
		return c.Redirect(http.StatusSeeOther, leads)
	case step == "json":
		return c.Redirect(http.StatusSeeOther, views.PolicyJSONURL())
	case step == "keep":
		s.SetFlash(c, "draft-kept")
		return c.Redirect(http.StatusSeeOther, e.section.URL())
	case step == "go":
		return c.Redirect(http.StatusSeeOther, policies.SectionAt(which).URL())
	case len(e.checked.Problems) > 0 || e.ends() != nil:
		return s.policyForm(c, http.StatusUnprocessableEntity, e, notValidYet)
	case !e.stale() && len(policy.Diff(e.standing.Program.Document(), e.checked.Document)) == 0:
		return s.policyForm(c, http.StatusOK, e, "Nothing would change.")
	}
	return c.Redirect(http.StatusSeeOther, views.PolicyReviewURL())
}

// notValidYet is said above a form of the draft that has faults.
const notValidYet = "Some fields are not valid yet. Correct the marked ones; your draft is kept."

// takeBack throws the draft away, or undoes its last change.
func (s *Screens) takeBack(c echo.Context, section policies.Section, step string) error {
	ctx, actor, flash := c.Request().Context(), site.ActorOf(c), "draft-discarded"
	var err error
	if step == "undo" {
		flash = "draft-undone"
		revision, _ := strconv.ParseInt(c.Request().PostForm.Get("revision"), 10, 64)
		_, err = drafts.New(s.Store).Undo(ctx, actor, revision)
	} else {
		err = drafts.New(s.Store).Drop(ctx, actor)
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, section.URL())
}

// notKept shows the form again when the draft was too large, or changed meanwhile.
func (s *Screens) notKept(c echo.Context, e *editing, err error) error {
	switch failed := site.AsError(err, models.CodeInvalid, models.CodeConflict); {
	case failed == nil:
		return err
	case failed.Code == models.CodeConflict:
		return s.policyForm(c, http.StatusConflict, e, otherWindow)
	default:
		e.checked.Problems = failed.Fields
		return s.policyForm(c, http.StatusUnprocessableEntity, e, "")
	}
}

// changeRules does what a button in the list of rules says, and tells where that leads;
// empty: to what the button of the page says.
func changeRules(d *policy.Draft, step, which string) string {
	which, place, _ := strings.Cut(which, ":")
	i, err := strconv.Atoi(which)
	there := err == nil && i >= 0 && i < d.Rules()
	switch step {
	case "add":
		return views.NewPolicyRuleURL("")
	case "edit":
		return views.PolicyRuleURL(i + 1)
	case "up", "down", "move", "duplicate", "enable", "disable", "delete":
	default:
		return ""
	}
	if !there {
		return views.PolicyURL()
	}
	at := i + 1
	switch step {
	case "up":
		d.MoveRule(i, i-1)
		at = max(1, i)
	case "down":
		d.MoveRule(i, i+1)
		at = min(d.Rules(), i+2)
	case "move":
		to, err := strconv.Atoi(place)
		if err != nil || to < 0 || to >= d.Rules() {
			return views.PolicyURL()
		}
		d.MoveRule(i, to)
		at = to + 1
	case "duplicate":
		d.DuplicateRule(i)
		at = i + 2
	case "enable", "disable":
		d.SwitchRule(i, step == "disable")
	case "delete":
		d.DeleteRule(i)
		return views.PolicyRulesURL(i/views.RulesOnAPage + 1)
	}
	return views.PolicyRuleRowURL(at)
}

// beginWith puts an example into the draft.
func beginWith(d *policy.Draft, name string) (leads string, err error) {
	i := slices.IndexFunc(policy.Examples(), func(e policy.Example) bool { return e.Name == name })
	if i < 0 {
		return "", models.Errorf(models.CodeNotFound, "There is no such example.")
	}
	return views.PolicyURL() + "#rules-title", d.Begin(policy.Examples()[i])
}

// fieldsOf are the settings that the form of a page has. A switch without its field would read as off.
func fieldsOf(section policies.Section) []policy.Field {
	return slices.DeleteFunc(slices.Clone(policy.Settings()), func(f policy.Field) bool {
		return policies.SectionOf(f.Path) != section
	})
}

// readFields takes the texts of a form; a box that is not ticked sends nothing, and a list
// may have a field for each entry.
func readFields(values url.Values, fields []policy.Field) policy.Form {
	out := policy.Form{}
	for _, f := range fields {
		switch {
		case f.Kind == policy.FieldSwitch, values.Has(f.Path):
			out[f.Path] = strings.Join(values[f.Path], "\n")
		}
	}
	return out
}
