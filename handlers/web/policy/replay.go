package policy

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/models/store"
	"countersign/views"
	"countersign/views/pages/policies"
)

// maxReplays is of how many admins the last replay is kept.
const maxReplays = 16

// replays are the replays of drafts, one for each admin. They go on when their page is
// left, and end with the server.
type replays struct {
	store *store.Store
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	of      map[models.UserID]*replay
	stopped bool
	ended   sync.WaitGroup
}

// replay is one of them.
type replay struct {
	began    time.Time
	draft    int64 // its revision
	standing int64 // the active version
	state    policies.ReplayState
	changes  []drafts.ReplayedCall
	cancel   context.CancelFunc
}

// begin starts one in the place of what the admin replayed before. It outlives the request
// that asked for it, which names it in the log.
func (r *replays) begin(by context.Context, actor models.Actor, e *editing, next *policy.Policy, q drafts.ReplayQuery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	if before := r.of[actor.UserID()]; before != nil {
		before.cancel()
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(by))
	one := &replay{
		began: r.now(), draft: e.draft.Revision, standing: e.standing.Version, cancel: cancel,
		state: policies.ReplayState{Runs: true, Of: q.Last},
	}
	if r.of == nil {
		r.of = map[models.UserID]*replay{}
	}
	r.of[actor.UserID()] = one
	r.forgetOldest()
	r.ended.Go(func() {
		defer cancel()
		found, err := drafts.New(r.store).Replay(ctx, actor, e.standing.Program, next, q, func(read int) {
			r.mu.Lock()
			defer r.mu.Unlock()
			one.state.Read = read
		})
		r.end(ctx, one, found, err)
	})
}

// forgetOldest keeps the number of replays within its bound.
func (r *replays) forgetOldest() {
	if len(r.of) <= maxReplays {
		return
	}
	var oldest models.UserID
	for who, one := range r.of {
		if oldest == "" || one.began.Before(r.of[oldest].began) {
			oldest = who
		}
	}
	r.of[oldest].cancel()
	delete(r.of, oldest)
}

func (r *replays) end(ctx context.Context, one *replay, found *drafts.Replay, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one.state.Runs, one.state.Stops, one.state.Ended = false, false, r.now()
	switch {
	case err == nil:
		one.state.Tally, one.state.Oldest, one.changes = found.Tally, found.Oldest, found.Changes
	case ctx.Err() != nil:
		one.state.Cancelled = true
	default:
		one.state.Fault = "The calls could not be read. See the server's log."
		r.log.ErrorContext(ctx, "policy not replayed", slog.String("error", err.Error()))
	}
}

func (r *replays) cancel(who models.UserID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.of[who]; one != nil && one.state.Runs {
		one.state.Stops = true
		one.cancel()
	}
}

// found is what there is of an admin's replay, and all calls that change.
func (r *replays) found(who models.UserID, e *editing) (policies.ReplayState, []drafts.ReplayedCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.of[who]
	if one == nil {
		return policies.ReplayState{}, nil
	}
	s := one.state
	s.Stale = one.draft != e.draft.Revision || one.standing != e.standing.Version
	for i := range min(len(one.changes), shownChanges) {
		c := &one.changes[i]
		s.Changes = append(s.Changes,
			policies.ReplayChange{Shift: c.Shift, ID: c.ID, Tool: c.Tool, Who: c.AgentName, At: c.At})
	}
	s.Total = len(one.changes)
	return s, one.changes
}

// shownChanges is how many a page shows.
const shownChanges = policies.ReplayChangesShown

// stop ends what runs and waits for its end. Stopping twice is harmless.
func (r *replays) stop() {
	r.mu.Lock()
	r.stopped = true
	for _, one := range r.of {
		one.cancel()
	}
	r.mu.Unlock()
	r.ended.Wait()
}

// showReplay shows the form, and the results so far.
func (s *Screens) showReplay(c echo.Context) error {
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	return s.replayPage(c, http.StatusOK, e, policies.ReplayInput{})
}

func (s *Screens) replayPage(c echo.Context, status int, e *editing, in policies.ReplayInput) error {
	in.Now = s.Kit.Now()
	in.State, _ = s.replays.found(site.ActorOf(c).UserID(), e)
	switch {
	case e.draft.Revision == 0:
		in.Draft = "You have no draft. Change something in the policy first: a replay compares your draft with the active version."
	case len(e.problems()) > 0:
		in.Draft = "Your draft is not valid yet, so it can't be replayed."
	}
	if handlers.WantsFragment(c.Request()) {
		panel := policies.ReplayFound(policies.NewReplayPanel(in.State, in.Now))
		return handlers.Render(c, status, panel, panel)
	}
	frame, err := s.Frame(c, "Replay", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, policies.ReplayPage(frame, policies.NewReplay(in)), nil)
}

// replayPolicy begins or cancels a replay of the draft.
func (s *Screens) replayPolicy(c echo.Context) error {
	form := c.Request().PostForm
	if form.Get("step") == "cancel" {
		s.replays.cancel(site.ActorOf(c).UserID())
		return c.Redirect(http.StatusSeeOther, views.ReplayPolicyURL())
	}
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	in := policies.ReplayInput{Last: form.Get("last"), Since: form.Get("since"), Errors: map[string]string{}}
	var q drafts.ReplayQuery
	if q.Last, err = strconv.Atoi(in.Last); err != nil || q.Last < 1 || q.Last > drafts.MaxReplayed {
		in.Errors["last"] = "must be a number from 1 to 10,000"
	}
	if in.Since != "" {
		if q.Since, err = time.Parse(time.DateOnly, in.Since); err != nil {
			in.Errors["since"] = "must be a day such as 2026-03-02"
		}
	}
	if len(in.Errors) > 0 {
		return s.replayPage(c, http.StatusUnprocessableEntity, e, in)
	}
	next, err := e.compiled()
	if err != nil {
		return err
	}
	if e.draft.Revision > 0 && next != nil {
		s.replays.begin(c.Request().Context(), site.ActorOf(c), e, next, q)
	}
	return c.Redirect(http.StatusSeeOther, views.ReplayPolicyURL())
}

// replayFormats are how the calls that change are written.
var replayFormats = site.Formats[*drafts.ReplayedCall]{
	"csv":   {ContentType: "text/csv; charset=utf-8", Begin: replayCSV},
	"jsonl": {ContentType: "application/jsonl; charset=utf-8", Begin: replayJSONL},
}

// exportReplay sends all calls that the last replay found.
func (s *Screens) exportReplay(c echo.Context) error {
	name, err := replayFormats.Named(c)
	if err != nil {
		return err
	}
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	state, changes := s.replays.found(site.ActorOf(c).UserID(), e)
	if state.Ended.IsZero() || state.Cancelled || state.Fault != "" {
		return models.Errorf(models.CodeNotFound, "There is no replay to export. Replay your draft first.")
	}
	return site.Export(s.Site, c, "replay", name, replayFormats[name], func(begin func() error, put func(*drafts.ReplayedCall) error) error {
		if err := begin(); err != nil {
			return err
		}
		for i := range changes {
			if err := put(&changes[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// exportedReplay is a call as the files tell it.
type exportedReplay struct {
	ID       models.ResponseID `json:"id"`
	AskedAt  string            `json:"askedAt"`
	Agent    string            `json:"agent"`
	Tool     string            `json:"tool"`
	Active   exportedOutcome   `json:"active"`
	Draft    exportedOutcome   `json:"draft"`
	Approval string            `json:"url"`
}

type exportedOutcome struct {
	Effect policy.Effect `json:"effect"`
	Rule   string        `json:"rule"`
	Terms  string        `json:"terms,omitempty"`
}

func exportedReplayOf(c *drafts.ReplayedCall) exportedReplay {
	return exportedReplay{
		ID: c.ID, AskedAt: c.At.UTC().Format(site.TimeFormat), Agent: c.AgentName, Tool: c.Tool,
		Approval: views.ApprovalURL(c.ID),
		Active:   exportedOutcome{c.Old.Effect, c.Old.Rule, c.Old.Terms},
		Draft:    exportedOutcome{c.New.Effect, c.New.Rule, c.New.Terms},
	}
}

func replayJSONL(w io.Writer) (func(*drafts.ReplayedCall) error, error) {
	out := json.NewEncoder(w)
	return func(c *drafts.ReplayedCall) error { return out.Encode(exportedReplayOf(c)) }, nil
}

var replayColumns = []string{
	"id", "asked_at", "agent", "tool", "active", "active_rule", "active_terms", "draft", "draft_rule", "draft_terms",
	"url",
}

func replayCSV(w io.Writer) (func(*drafts.ReplayedCall) error, error) {
	put, err := site.CSVRows(w, replayColumns)
	return func(c *drafts.ReplayedCall) error {
		e := exportedReplayOf(c)
		row := []string{
			string(e.ID), e.AskedAt, e.Agent, e.Tool, string(e.Active.Effect), e.Active.Rule, e.Active.Terms,
			string(e.Draft.Effect), e.Draft.Rule, e.Draft.Terms, e.Approval,
		}
		return put(row)
	}, err
}
