package store_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/requests"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
)

// seesWorld is a store in which chance has routed, asked and decided.
type seesWorld struct {
	*store.Store

	rt     *rapid.T
	people []models.Actor // by session or token
	agents []models.Actor
	rows   []models.Response
	routed map[string]bool // user and request
}

var (
	seesEmails = []string{storetest.AdminEmail, "ada@example.com", "bo@example.com", "ruth@example.com"}
	seesGroups = []string{"board", "finance"}
)

// TestWhoSeesARequest holds the rule of who may see a request, its SQL and every list
// equal, for all actors and requests.
func TestWhoSeesARequest(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	made := storetest.New(t, storetest.WithClock(clock), storetest.WithDir(storetest.Dir(t)))
	admin := storetest.Admin(t, made)
	people := []models.Actor{admin}
	for _, email := range seesEmails[1:] {
		people = append(people, storetest.Reviewer(t, made, email))
	}
	var agents []models.Actor
	for i, owner := range []int{0, 1, 1, 2} {
		agent, _ := storetest.AgentToken(t, made, people[owner], fmt.Sprint("bot-", i))
		agents = append(agents, agent)
	}
	for i, group := range seesGroups {
		storetest.Must(t, made.People.AddGroup(t.Context(), admin, group, ""))
		storetest.Must(t, made.People.JoinGroup(t.Context(), admin, group, seesEmails[i+1]))
	}
	people = append(people, storetest.User(t, made, "auditor@example.com", models.RoleAuditor))
	narrow, _ := storetest.ReviewerToken(t, made, admin)
	wide, _ := storetest.AdminToken(t, made, admin)
	token, _ := storetest.ReviewerToken(t, made, people[1])
	people = append(people, narrow, wide, token)
	storetest.Must(t, made.Close())
	rapid.Check(t, func(rt *rapid.T) {
		dir := storetest.Dir(t)
		dbtest.Copy(t, filepath.Dir(made.Path()), dir)
		w := &seesWorld{rt: rt, people: people, agents: agents, routed: map[string]bool{}}
		w.Store = storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock), storetest.NoLimits)
		defer func() { _ = w.Close() }() // New closes it too, and tells what went wrong
		w.rules(admin)
		for range rapid.IntRange(4, 10).Draw(rt, "steps") {
			clock.Step(time.Second)
			w.step()
		}
		w.checkGroups()
		if rapid.Bool().Draw(rt, "disables") {
			_, err := w.People.DisableUser(rt.Context(), admin, people[rapid.IntRange(1, 3).Draw(rt, "disabled")].UserID())
			w.must(err)
		}
		w.read()
		everybody := append(slices.Concat(w.people, w.agents), models.System("policy"), models.Operator("tester"), models.Actor{})
		for _, who := range everybody {
			w.checkRule(who)
		}
		for _, who := range rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Concat(w.people, w.agents)), 3, 3, func(a models.Actor) string { return string(a.TokenID) + a.ID }).Draw(rt, "who") {
			w.checkLists(who)
			w.checkLookUps(who)
		}
	})
}

func (w *seesWorld) must(err error) {
	if err != nil {
		w.rt.Fatalf("%v", err)
	}
}

// rules route the calls of three tools to whomever chance names.
func (w *seesWorld) rules(admin models.Actor) {
	var rules []string
	for i := range 3 {
		named := rapid.SliceOfNDistinct(rapid.SampledFrom(append([]string{"group:board", "group:finance"}, seesEmails...)), 0, 3, rapid.ID).Draw(w.rt, "reviewers")
		rule := fmt.Sprintf(`{"name":"rule %d","tools":["tool-%d"],"effect":"require"`, i, i)
		if len(named) > 0 {
			rule += `,"reviewers":["` + strings.Join(named, `","`) + `"]`
		}
		rules = append(rules, rule+`}`)
	}
	_, err := w.ApplyPolicy(w.rt.Context(), admin, []byte(`{"rules":[`+strings.Join(rules, ",")+`,{"name":"never","tools":["never"],"effect":"deny"}]}`), "", 0)
	w.must(err)
}

// step asks, reports or says something, and decides or cancels some of it.
func (w *seesWorld) step() {
	rt, ctx := w.rt, w.rt.Context()
	agent := storetest.Pick(rt, "agent", w.agents)
	in := models.AskInput{
		ToolName: storetest.Pick(rt, "tool", []string{"tool-0", "tool-1", "tool-2", "free", "never"}), Explicit: rapid.Bool().Draw(rt, "explicit"), RunID: storetest.Pick(rt, "run", []string{"", agent.Name + "-1", agent.Name + "-2"}),
		ToolUseID: storetest.Pick(rt, "use", []string{"", string(models.NewID[models.ResponseID]())}), Input: []byte(`{}`),
	}
	a, err := w.Ask(ctx, agent, in)
	w.must(err)
	group, member := storetest.Pick(rt, "group", seesGroups), w.people[rapid.IntRange(0, 3).Draw(rt, "member")]
	switch rapid.IntRange(0, 8).Draw(rt, "then") {
	case 6, 7:
		w.must(w.People.JoinGroup(ctx, w.people[0], group, member.Name))
	case 8:
		_ = w.People.LeaveGroup(ctx, w.people[0], group, member.UserID()) // who is not in it does not leave

	case 0:
		decider := w.people[0]
		for _, p := range w.people[:4] {
			if p.UserID() == a.OwnerID {
				decider = p
			}
		}
		_, _ = w.Decide(ctx, decider, a.ID, storetest.Pick(rt, "verdict", []models.DecisionInput{storetest.Yes(), storetest.No("Not now.")})) // refused where nothing waits
	case 1:
		_, _ = w.Cancel(ctx, agent, a.ID)
	case 2:
		_, err := w.Respond(ctx, agent, models.ResponseInput{ConversationID: a.ConversationID, Kind: storetest.Pick(rt, "kind", []models.Kind{models.KindReply, models.KindProposal}), Content: "Hello."})
		w.must(err)
	case 3:
		_, err := runs.New(w.Store).ReportEvents(ctx, agent, a.ConversationID, []models.RunEvent{storetest.Queued(string(models.NewID[models.ResponseID]()), "tool-1", `{}`, "batch")})
		w.must(err)
	}
}

// checkGroups compares, for what waits for a group, to whom it is routed with whom its rule
// names and who is in the group now.
func (w *seesWorld) checkGroups() {
	members := w.column(`SELECT g.name || ' ' || m.user_id FROM group_members m JOIN groups g ON g.id = m.group_id WHERE m.left_at IS NULL`)
	for _, id := range w.column(`SELECT id FROM responses WHERE approval_status = 'pending'`) {
		a, err := w.Requests.Approval(w.rt.Context(), models.System("policy"), models.ResponseID(id))
		w.must(err)
		who := a.Approvers()
		if len(who.Groups()) == 0 {
			continue
		}
		routed := w.column(`SELECT user_id FROM reviewers WHERE response_id = ?`, id)
		inboxes := w.column(`SELECT user_id FROM deciders WHERE response_id = ?`, id)
		memberOf := func(user string) (groups []string) {
			for _, m := range members {
				if group, of, _ := strings.Cut(m, " "); of == user {
					groups = append(groups, group)
				}
			}
			return groups
		}
		for _, p := range w.people[:4] {
			want := p.UserID() != a.OwnerID && who.Asks(models.Voter{ID: p.UserID(), Groups: memberOf(p.ID)})
			if got := slices.Contains(routed, p.ID); got != want {
				w.rt.Fatalf("%s for %+v: routed to %s is %t, want %t", id, who.Named, p.Name, got, want)
			}
			if got := slices.Contains(inboxes, p.ID); got != (want || p.UserID() == a.OwnerID) {
				w.rt.Fatalf("%s for %+v: in the inbox of %s is %t", id, who.Named, p.Name, got)
			}
		}
	}
}

// read reads all rows, and to whom each was routed, beside the lists.
func (w *seesWorld) read() {
	rows, err := w.DB().Reads().QueryContext(w.rt.Context(), `SELECT id, owner_id, agent_id, conversation_id, coalesce(tool_use_id, ''), asked, cause, approval_status, reported_at FROM responses`)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		var r models.Response
		r.ToolUseID = new("")
		w.must(rows.Scan(&r.ID, &r.OwnerID, &r.AgentID, &r.ConversationID, r.ToolUseID, &r.Asked, &r.Cause, &r.ApprovalStatus, &r.ReportedAt))
		w.rows = append(w.rows, r)
	}
	w.must(rows.Err())
	for _, pair := range w.column(`SELECT user_id || ' ' || response_id FROM reviewers`) {
		w.routed[pair] = true
	}
}

func (w *seesWorld) column(query string, args ...any) (out []string) {
	rows, err := w.DB().Reads().QueryContext(w.rt.Context(), query, args...)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		var text string
		w.must(rows.Scan(&text))
		out = append(out, text)
	}
	w.must(rows.Err())
	return out
}

// seen are the rows that the rule lets the actor see, of those that pick chooses.
func (w *seesWorld) seen(who models.Actor, pick func(*models.Response) bool) (out []string) {
	for i := range w.rows {
		if r := &w.rows[i]; w.sees(who, r) && (pick == nil || pick(r)) {
			out = append(out, string(r.ID))
		}
	}
	return out
}

func (w *seesWorld) sees(who models.Actor, r *models.Response) bool {
	return who.Sees(r, w.routed[who.ID+" "+string(r.ID)])
}

func (w *seesWorld) same(who models.Actor, what string, got, want []string) {
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.rt.Fatalf("%s of %s %s (admin %v):\n%v\nwant\n%v", what, who.Kind, who.Name, who.Admin, got, want)
	}
}

func asked(r *models.Response) bool   { return r.Asked }
func waits(r *models.Response) bool   { return r.Status() == models.StatusPending }
func settled(r *models.Response) bool { return r.Asked && !waits(r) }

// checkRule compares the SQL with the rule, and what the actor reads of each row.
func (w *seesWorld) checkRule(who models.Actor) {
	ctx := w.rt.Context()
	text, args := store.SeenBy(who, "r")
	w.same(who, "SQL", w.column(`SELECT r.id FROM responses r WHERE `+text, args...), w.seen(who, nil))
	for i := range w.rows {
		r := &w.rows[i]
		_, err := w.Requests.Approval(ctx, who, r.ID)
		if found := err == nil; found != (w.sees(who, r) && !r.Unasked()) {
			w.rt.Fatalf("%s %s reads %s: %v", who.Kind, who.Name, r.ID, err)
		}
	}
}

// checkLookUps compares what is found by a conversation, or by the agent's name of a call.
func (w *seesWorld) checkLookUps(who models.Actor) {
	ctx, looked := w.rt.Context(), map[models.ConversationID]bool{}
	for i := range w.rows {
		r := &w.rows[i]
		in := func(o *models.Response) bool { return o.ConversationID == r.ConversationID }
		if !looked[r.ConversationID] {
			looked[r.ConversationID] = true
			list, err := w.Requests.Approvals(ctx, who, requests.ListQuery{Conversation: r.ConversationID})
			w.must(err)
			w.same(who, "list of a conversation", texts(storetest.IDList(list.Items)), w.seen(who, func(o *models.Response) bool { return in(o) && asked(o) }))
			w.checkStatuses(who, r.ConversationID, in)
			list, err = w.SessionPending(ctx, who, string(r.ConversationID), "", 0)
			w.must(err)
			w.same(who, "session", texts(storetest.IDList(list.Items)), w.seen(who, func(o *models.Response) bool { return in(o) && waits(o) }))
		}
		if *r.ToolUseID == "" {
			continue
		}
		for _, session := range []string{"", string(r.ConversationID)} {
			_, err := w.FindInvocation(ctx, who, *r.ToolUseID, session)
			if found := err == nil; found != (w.sees(who, r) && !r.Unasked()) {
				w.rt.Fatalf("%s %s finds the call %s of %s: %v", who.Kind, who.Name, *r.ToolUseID, r.ID, err)
			}
		}
	}
}

// checkStatuses compares the lists by status, of all or of one conversation.
func (w *seesWorld) checkStatuses(who models.Actor, conv models.ConversationID, in func(*models.Response) bool) {
	for _, status := range models.Statuses() {
		list, err := w.Requests.Approvals(w.rt.Context(), who, requests.ListQuery{Conversation: conv, Status: status})
		w.must(err)
		w.same(who, "list of what is "+string(status), texts(storetest.IDList(list.Items)), w.seen(who, func(o *models.Response) bool {
			return in(o) && asked(o) && (o.Status() == status || status == models.StatusApproved && o.Status() == models.StatusNone)
		}))
	}
}

func (w *seesWorld) checkLists(who models.Actor) {
	ctx := w.rt.Context()
	list, err := w.Requests.Approvals(ctx, who, requests.ListQuery{})
	w.must(err)
	w.same(who, "list", texts(storetest.IDList(list.Items)), w.seen(who, asked))
	w.checkStatuses(who, "", func(*models.Response) bool { return true })
	list, err = w.Requests.PendingList(ctx, who, "", 0)
	w.must(err)
	w.same(who, "what waits", texts(storetest.IDList(list.Items)), w.seen(who, waits))
	told := map[models.ResponseID]bool{}
	_, err = w.Requests.Feed(ctx, who, 0, func(h *requests.FeedEvent) error {
		if h.Approval != nil {
			told[h.Approval.ID] = true
		}
		return nil
	})
	w.must(err)
	for i := range w.rows { // what was let through is told to nobody
		if r := &w.rows[i]; told[r.ID] && !w.sees(who, r) || !told[r.ID] && w.sees(who, r) && r.Status() != models.StatusNone && r.Status() != models.StatusRan {
			w.rt.Fatalf("%s %s is told of %s: %v", who.Kind, who.Name, r.ID, told[r.ID])
		}
	}
	if !who.IsPerson() {
		return
	}
	for _, order := range []requests.InboxOrder{requests.ByDeadline, requests.ByAge} {
		inbox, err := w.Requests.Inbox(ctx, who, requests.InboxQuery{Order: order})
		w.must(err)
		w.same(who, "inbox", texts(storetest.IDList(inbox.Items)), w.seen(who, waits))
	}
	past, err := w.Requests.Settled(ctx, who, requests.SettledQuery{})
	w.must(err)
	w.same(who, "what was settled", texts(storetest.IDList(past.Items)), w.seen(who, settled))
	var ids []models.ResponseID
	for i := range w.rows {
		ids = append(ids, w.rows[i].ID)
	}
	origins, err := w.Requests.Origins(ctx, who, ids...)
	w.must(err)
	var from []string
	for id := range origins {
		from = append(from, string(id))
	}
	w.same(who, "origins", from, w.seen(who, nil))
	trail, err := w.Requests.Trail(ctx, who, requests.TrailQuery{Limit: requests.TrailMost})
	w.must(err)
	for _, e := range trail.Entries {
		at := slices.IndexFunc(w.rows, func(r models.Response) bool { return r.ID == e.ResponseID })
		if at >= 0 && (e.Hidden == w.sees(who, &w.rows[at]) || e.Hidden == (e.Request != nil)) {
			w.rt.Fatalf("the trail of %s hides %s: %v", who.Name, e.ResponseID, e.Hidden)
		}
	}
}

func texts(ids []models.ResponseID) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, string(id))
	}
	return out
}
