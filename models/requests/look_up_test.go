package requests_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/runs"
	"countersign/models/storetest"
)

// TestLookUpFindsARequestByItsIDForThoseWhoSeeIt and for nobody else: whole, its
// beginning and its end, as pages write it.
func TestLookUpFindsARequestByItsIDForThoseWhoSeeIt(t *testing.T) {
	t.Parallel()
	w := newListWorld(t, 30)
	_, err := w.ExpireDue(t.Context(), 1_000)
	storetest.Must(t, err)
	found, hidden := 0, 0
	for _, id := range w.ids {
		for _, person := range w.people {
			_, err := w.Requests.Approval(t.Context(), person, id)
			sees := err == nil
			for _, text := range []string{string(id), strings.ToUpper(string(id)), string(id[:13]), "…" + string(id[28:])} {
				got, err := w.Requests.LookUp(t.Context(), person, " "+text+" ")
				storetest.Must(t, err)
				if slices.Contains(storetest.IDList(got.Requests), id) != sees {
					t.Fatalf("%s looks for %s: found %v, sees it: %v", person.Name, text, storetest.IDList(got.Requests), sees)
				}
			}
			if sees {
				found++
			} else {
				hidden++
			}
		}
	}
	if found == 0 || hidden == 0 {
		t.Errorf("%d seen, %d not", found, hidden)
	}
}

// TestLookUpFindsByTextWhatTheListsFind: pending requests first, then those that are
// over, each once.
func TestLookUpFindsByTextWhatTheListsFind(t *testing.T) {
	t.Parallel()
	w := newListWorld(t, 60)
	_, err := w.ExpireDue(t.Context(), 1_000)
	storetest.Must(t, err)
	for _, person := range w.people {
		for _, text := range append(slices.Concat(listTools, listWords), "bot-2", "BOT-", "not there") {
			pending, err := w.Requests.Inbox(t.Context(), person, requests.InboxQuery{Text: text})
			storetest.Must(t, err)
			over, err := w.Requests.Settled(t.Context(), person, requests.SettledQuery{Text: text})
			storetest.Must(t, err)
			reads, err := w.Requests.Inbox(t.Context(), person, requests.InboxQuery{Text: text, Whose: requests.WhoseReads})
			storetest.Must(t, err)
			want := slices.Concat(storetest.IDList(pending.Items), storetest.IDList(reads.Items), storetest.IDList(over.Items))
			got, err := w.Requests.LookUp(t.Context(), person, text)
			storetest.Must(t, err)
			if want = want[:min(len(want), requests.MostFound)]; !slices.Equal(storetest.IDList(got.Requests), want) {
				t.Errorf("%s looks for %q: %v, want %v", person.Name, text, storetest.IDList(got.Requests), want)
			}
		}
	}
}

// TestLookUpFindsAgentsAndConversationsOfTheirOwner, and for admins all.
func TestLookUpFindsAgentsAndConversationsOfTheirOwner(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin, ada, bo := storetest.Admin(t, s), storetest.Reviewer(t, s, "ada@example.com"), storetest.Reviewer(t, s, "bo@example.com")
	bot, _ := storetest.AgentToken(t, s, ada, "Release-bot")
	storetest.AgentToken(t, s, ada, "release-notes")
	a, err := s.Ask(t.Context(), bot, models.AskInput{ToolName: "deploy", Explicit: true, RunID: "run-4711"})
	storetest.Must(t, err)
	_, err = runs.New(s).Rename(t.Context(), ada, a.ConversationID, "Ship 1.4")
	storetest.Must(t, err)
	finds := func(who models.Actor, text string, agents, conversations int) requests.Found {
		t.Helper()
		got, err := s.Requests.LookUp(t.Context(), who, text)
		storetest.Must(t, err)
		if len(got.Agents) != agents || len(got.Conversations) != conversations {
			t.Errorf("%s looks for %q: %+v", who.Name, text, got)
		}
		return got
	}
	id := string(a.ConversationID)
	for _, archived := range []bool{false, true} {
		if archived {
			_, err := runs.New(s).Steer(t.Context(), ada, a.ConversationID, models.SteerArchive)
			storetest.Must(t, err)
		}
		for _, text := range []string{"ship", "RUN-4711", id, id[:8], "…" + id[28:]} {
			finds(ada, text, 0, 1)
			finds(admin, text, 0, 1)
			finds(bo, text, 0, 0)
		}
	}
	for _, who := range []models.Actor{ada, admin} {
		got := finds(who, "RELEASE", 2, 1)
		if first := got.Agents[0]; first.ID != bot.AgentID() || first.Name != "Release-bot" || first.Owner != "ada@example.com" || !first.Pending || first.Disabled || got.Agents[1].Pending {
			t.Errorf("%+v", got.Agents)
		}
	}
	finds(bo, "release", 0, 0)
	finds(ada, " ", 0, 0)
}

// TestLookUpIsForPeople and refuses a text that no list takes.
func TestLookUpIsForPeople(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ada := storetest.Reviewer(t, s, "ada@example.com")
	bot, _ := storetest.AgentToken(t, s, ada, "bot")
	storetest.Refused(t, storetest.Err(s.Requests.LookUp(t.Context(), bot, "x")), models.CodeForbidden)
	for _, text := range []string{strings.Repeat("x", 201), "\xff"} {
		if e := storetest.Refused(t, storetest.Err(s.Requests.LookUp(t.Context(), ada, text)), models.CodeInvalid); e.Fields["q"] == "" {
			t.Errorf("%q: %v", text, e.Fields)
		}
	}
	got, err := s.Requests.LookUp(t.Context(), ada, strings.Repeat("%", 200))
	if storetest.Must(t, err); len(got.Agents)+len(got.Conversations)+len(got.Requests) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestLookUpReadsOnlySoMuch and says so.
func TestLookUpReadsOnlySoMuch(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	clock.Step(-90 * 24 * time.Hour) // before all that is seeded
	s := storetest.New(t, storetest.NoLimits, storetest.WithClock(clock))
	ada := storetest.Reviewer(t, s, "ada@example.com")
	bot, _ := storetest.AgentToken(t, s, ada, "bot")
	old, err := s.Ask(t.Context(), bot, models.AskInput{ToolName: "rare", Explicit: true, TimeoutSeconds: new(int64(86400))})
	storetest.Must(t, err)
	_, err = s.Decide(t.Context(), ada, old.ID, storetest.No("not now"))
	storetest.Must(t, err)
	if got, err := s.Requests.LookUp(t.Context(), ada, "rare"); err != nil || len(got.Requests) != 1 || got.Cut {
		t.Errorf("%v: %+v", err, got)
	}
	storetest.Seed(t, s, bot, storetest.Rows{Settled: 1_500})
	got, err := s.Requests.LookUp(t.Context(), ada, "rare")
	if storetest.Must(t, err); len(got.Requests) != 0 || !got.Cut {
		t.Errorf("%v, cut %v", storetest.IDList(got.Requests), got.Cut)
	}
	if got, err := s.Requests.LookUp(t.Context(), ada, string(old.ID)); err != nil || len(got.Requests) != 1 {
		t.Errorf("by id: %v: %+v", err, got)
	}
}
