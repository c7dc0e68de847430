package requests_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// listCase is one way to look at the lists.
type listCase struct {
	who   models.Actor
	whose requests.Whose
	conv  models.ConversationID
	agent models.AgentID
	tool  string
	risk  models.Risk
	text  string
	limit int
}

func (w *listWorld) draw(t *rapid.T) listCase {
	agents, convs := []models.AgentID{"", ""}, append([]models.ConversationID{"", "", "", ""}, w.convs...)
	for _, a := range w.agents {
		agents = append(agents, a.AgentID())
	}
	return listCase{
		who:   rapid.SampledFrom(w.people).Draw(t, "who"),
		whose: rapid.SampledFrom([]requests.Whose{requests.WhoseAll, requests.WhoseMine, requests.WhoseRouted}).Draw(t, "whose"),
		conv:  rapid.SampledFrom(convs).Draw(t, "conversation"),
		agent: rapid.SampledFrom(agents).Draw(t, "agent"),
		tool:  rapid.SampledFrom(append([]string{"", "", "", "", ""}, listTools...)).Draw(t, "tool"),
		risk:  rapid.SampledFrom(append([]models.Risk{"", "", ""}, models.Risks()...)).Draw(t, "risk"),
		text:  rapid.SampledFrom([]string{"", "", "", "", "wurst", "%", "_", "Paris", "bot-1", "nowhere", `"`}).Draw(t, "text"),
		limit: rapid.IntRange(1, 12).Draw(t, "limit"),
	}
}

// passes is the rule of who sees what and of all filters, said anew.
func (w *listWorld) passes(c listCase, a *models.Approval) bool {
	mine, reads := a.OwnerID == c.who.UserID(), slices.Contains(w.reads[a.ID], c.who.UserID())
	routed := reads && a.Status() != models.StatusPending || slices.Contains(w.routed[a.ID], c.who.UserID())
	found := false
	for _, text := range []string{a.ToolName, a.Description, a.AgentName, a.ConversationTitle, a.ToolInputJSON, a.Content} {
		found = found || strings.Contains(strings.ToLower(text), strings.ToLower(c.text))
	}
	reads = reads && c.whose == requests.WhoseReads && !c.who.Admin
	return (c.who.Admin && c.whose != requests.WhoseReads || (mine || routed) && c.whose != requests.WhoseReads || reads) && (c.whose != requests.WhoseMine || mine) && (c.whose != requests.WhoseRouted || routed) &&
		(c.conv == "" || a.ConversationID == c.conv) && (c.agent == "" || a.AgentID == c.agent) && (c.tool == "" || a.ToolName == c.tool) &&
		(c.risk == "" || a.Risk == c.risk) && found
}

// all are the requests as an admin sees them, in the order they came.
func (w *listWorld) all(t *rapid.T) []models.Approval {
	var out []models.Approval
	for _, id := range w.ids {
		a, err := w.Requests.Approval(t.Context(), w.people[0], id)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, *a)
	}
	return out
}

// TestInboxAgainstAnOracle: whatever the filters, order and size of pages, the
// pages together are what a plain loop over everything gives.
func TestInboxAgainstAnOracle(t *testing.T) {
	t.Parallel()
	w := newListWorld(t, 300)
	rapid.Check(t, func(rt *rapid.T) {
		c := w.draw(rt)
		q := requests.InboxQuery{
			Conversation: c.conv, Agent: c.agent, Tool: c.tool, Risk: c.risk, Text: c.text, Whose: c.whose, Limit: c.limit,
			Order: rapid.SampledFrom([]requests.InboxOrder{requests.ByDeadline, requests.ByAge, requests.ByRisk}).Draw(rt, "order"),
		}
		rows := w.all(rt)
		want := slices.DeleteFunc(slices.Clone(rows), func(a models.Approval) bool { return a.Status() != models.StatusPending || !w.passes(c, &a) })
		if q.Order != requests.ByAge {
			slices.SortFunc(want, func(a, b models.Approval) int {
				byRisk := 0
				if q.Order == requests.ByRisk {
					byRisk = cmp.Compare(slices.Index(models.Risks(), b.Risk), slices.Index(models.Risks(), a.Risk))
				}
				return cmp.Or(byRisk, a.ApprovalTimeoutAt.Compare(b.ApprovalTimeoutAt), cmp.Compare(a.ID, b.ID))
			})
		}
		var got []models.Approval
		for {
			page, err := w.Requests.Inbox(rt.Context(), c.who, q)
			if err != nil {
				rt.Fatal(err)
			}
			if page.Cut || page.Count != len(want) || page.CountCap || len(page.Items) > c.limit {
				rt.Fatalf("%d of at most %d on a page, count %d of %d (%v), cut %v", len(page.Items), c.limit, page.Count, len(want), page.CountCap, page.Cut)
			}
			for i := range page.Items {
				if of, ok := w.reask(rows, c.who, &page.Items[i].Approval); of != page.ReaskOf[page.Items[i].ID] {
					rt.Fatalf("%s repeats %q, want %q (%v)", page.Items[i].ID, page.ReaskOf[page.Items[i].ID], of, ok)
				}
			}
			got = append(got, storetest.Approvals(page.Items)...)
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		if !slices.Equal(storetest.IDList(got), storetest.IDList(want)) {
			rt.Fatalf("%+v:\n%v\nwant\n%v", q, storetest.IDList(got), storetest.IDList(want))
		}
	})
}

// reask is the latest earlier request that was rejected and said the same.
func (w *listWorld) reask(rows []models.Approval, who models.Actor, a *models.Approval) (of models.ResponseID, ok bool) {
	for i := range rows {
		if rows[i].ID == a.ID {
			return of, of != ""
		}
		if rows[i].Status() == models.StatusRejected && rows[i].AgentID == a.AgentID && rows[i].Digest == a.Digest && w.passes(listCase{who: who}, &rows[i]) {
			of = rows[i].ID
		}
	}
	return "", false
}

// TestSettledAgainstAnOracle is the same of what has left the inbox, and of the
// export.
func TestSettledAgainstAnOracle(t *testing.T) {
	t.Parallel()
	w := newListWorld(t, 300)
	_, err := w.ExpireDue(t.Context(), 1000)
	storetest.Must(t, err)
	begin := storetest.NewClock().Now()
	rapid.Check(t, func(rt *rapid.T) {
		c := w.draw(rt)
		q := requests.SettledQuery{
			Conversation: c.conv, Agent: c.agent, Tool: c.tool, Risk: c.risk, Text: c.text, Whose: c.whose, Limit: c.limit,
			Status: rapid.SampledFrom(append([]models.Status{"", ""}, models.FinalStatuses()...)).Draw(rt, "status"),
			Cause:  rapid.SampledFrom([]models.Cause{"", "", "", models.CauseReviewer, models.CausePolicy, models.CauseTimeout, models.CauseGrant}).Draw(rt, "cause"),
			By:     rapid.SampledFrom([]models.UserID{"", "", "", w.people[0].UserID(), w.people[1].UserID(), w.people[3].UserID()}).Draw(rt, "by"),
		}
		if rapid.Bool().Draw(rt, "from") {
			q.From = begin.Add(time.Duration(rapid.IntRange(0, 50).Draw(rt, "minute")) * time.Minute)
		}
		if rapid.Bool().Draw(rt, "to") {
			q.To = begin.Add(time.Duration(rapid.IntRange(51, 100).Draw(rt, "minute")) * time.Minute)
		}
		want := w.settled(rt, c, q)
		var got []models.Approval
		for page := (requests.SettledPage{Next: "first"}); page.Next != ""; q.After = page.Next {
			var err error
			if page, err = w.Requests.Settled(rt.Context(), c.who, q); err != nil {
				rt.Fatal(err)
			}
			if page.Cut || len(page.Items) > c.limit {
				rt.Fatalf("%d of at most %d on a page, cut %v", len(page.Items), c.limit, page.Cut)
			}
			got = append(got, storetest.Approvals(page.Items)...)
		}
		if !slices.Equal(storetest.IDList(got), storetest.IDList(want)) {
			rt.Fatalf("%+v:\n%v\nwant\n%v", q, storetest.IDList(got), storetest.IDList(want))
		}
		got, q.After = nil, ""
		err := w.Requests.EachSettled(rt.Context(), c.who, q, atOnce, func(a *models.Approval) error {
			got = append(got, *a)
			return nil
		})
		if err != nil || !slices.Equal(storetest.IDList(got), storetest.IDList(want)) {
			rt.Fatalf("export of %+v: %v\n%v\nwant\n%v", q, err, storetest.IDList(got), storetest.IDList(want))
		}
	})
}

// settled is what Settled owes, by a plain loop.
func (w *listWorld) settled(t *rapid.T, c listCase, q requests.SettledQuery) []models.Approval {
	at := func(a *models.Approval) time.Time {
		if a.ApprovalTimestamp != nil {
			return *a.ApprovalTimestamp
		}
		return a.CreatedAt
	}
	want := slices.DeleteFunc(w.all(t), func(a models.Approval) bool {
		if a.Status() == models.StatusPending || !w.passes(c, &a) || a.ApprovalTimestamp == nil && !a.LetThrough() && a.Status() != models.StatusRan {
			return true
		}
		status := a.Status()
		if a.LetThrough() {
			status = models.StatusApproved
		}
		by := a.DecidedBy != nil && *a.DecidedBy == q.By
		return q.Status != "" && status != q.Status || q.Cause != "" && a.Cause != q.Cause || q.By != "" && !by ||
			!q.From.IsZero() && at(&a).Before(q.From) || !q.To.IsZero() && !at(&a).Before(q.To)
	})
	slices.Reverse(want) // the later one first, of those at the same time
	slices.SortStableFunc(want, func(a, b models.Approval) int { return at(&b).Compare(at(&a)) })
	return want
}
