package requests_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// listWorld is a store in which chance has asked and decided, and what an admin
// sees of each request.
type listWorld struct {
	*store.Store

	clock  *storetest.Clock
	people []models.Actor // an admin who has an agent, two owners, a reviewer
	agents []models.Actor
	convs  []models.ConversationID
	ids    []models.ResponseID // in the order they came
	routed map[models.ResponseID][]models.UserID
	reads  map[models.ResponseID][]models.UserID // who sees it and is not asked
}

const listPolicy = `{"rules":[
 {"name":"pay","tools":["pay"],"effect":"require","risk":"high","reviewers":["ruth@example.com"],"readers":["bo@example.com"]},
 {"name":"deploy","tools":["deploy"],"effect":"require","risk":"critical","reviewers":["ruth@example.com","bo@example.com"]},
 {"name":"look","tools":["look"],"effect":"require","risk":"low","readers":["ruth@example.com","ada@example.com"]},
 {"name":"read","tools":["read"],"effect":"allow","risk":"low"},
 {"name":"wipe","tools":["wipe"],"effect":"deny"}]}`

var (
	listTools = []string{"pay", "deploy", "look", "read", "wipe", "misc", "misc 2"}
	listWords = []string{"Zürich", "50%", "a_b", "Wurst", "paris", "PARIS", `"quoted"`}
)

func newListWorld(t *testing.T, rows int) *listWorld {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	w := &listWorld{clock: storetest.NewClock(), routed: map[models.ResponseID][]models.UserID{}, reads: map[models.ResponseID][]models.UserID{}}
	w.Store = storetest.New(t, storetest.WithClock(w.clock), storetest.NoLimits)
	w.people = []models.Actor{storetest.Admin(t, w.Store)}
	for _, name := range []string{"ada", "bo", "ruth"} {
		w.people = append(w.people, storetest.Reviewer(t, w.Store, name+"@example.com"))
	}
	for i, owner := range []int{0, 1, 1, 2} {
		agent, _ := storetest.AgentToken(t, w.Store, w.people[owner], fmt.Sprintf("bot-%d", i))
		w.agents = append(w.agents, agent)
	}
	_, err := w.ApplyPolicy(t.Context(), w.people[0], []byte(listPolicy), "", 0)
	storetest.Must(t, err)
	for range rows {
		w.step(t, r)
	}
	return w
}

func (w *listWorld) step(t *testing.T, r *rand.Rand) {
	t.Helper()
	w.clock.Step(time.Duration(r.IntN(3)) * 10 * time.Second) // some at the same time
	secs := int64(60 * (1 + r.IntN(300)))
	word := func() string { return listWords[r.IntN(len(listWords))] }
	in := models.AskInput{
		ToolName: listTools[r.IntN(len(listTools))], Explicit: true, TimeoutSeconds: &secs, ApprovalID: uuid.NewString(),
		Explanation: models.Explanation{Description: word()}, Input: []byte(`{"city":` + string(quoted(word())) + `}`),
	}
	if r.IntN(8) == 0 {
		in.Kind, in.ToolName, in.Input = models.KindQuestion, "", nil
	}
	agent := r.IntN(len(w.agents))
	in.RunID = fmt.Sprintf("run-%d-%d", agent, r.IntN(2))
	a, err := w.Ask(t.Context(), w.agents[agent], in)
	storetest.Must(t, err)
	if r.IntN(5) == 0 { // what only says something is in no list
		_, err := w.Respond(t.Context(), w.agents[agent], models.ResponseInput{ConversationID: a.ConversationID, Kind: models.KindReply, Content: word()})
		storetest.Must(t, err)
	}
	w.ids = append(w.ids, a.ID)
	if !slices.Contains(w.convs, a.ConversationID) {
		w.convs = append(w.convs, a.ConversationID)
	}
	named := func(to map[models.ResponseID][]models.UserID, by map[string][]int) {
		for _, i := range by[a.ToolName] {
			if w.people[i].UserID() != a.OwnerID {
				to[a.ID] = append(to[a.ID], w.people[i].UserID())
			}
		}
	}
	named(w.routed, map[string][]int{"pay": {3}, "deploy": {2, 3}})
	named(w.reads, map[string][]int{"pay": {2}, "look": {1, 3}})
	if r.IntN(2) == 0 {
		id := w.ids[r.IntN(len(w.ids))]
		who := w.people[r.IntN(len(w.people))]
		verdict := storetest.No("not in " + word())
		if got, err := w.Requests.Approval(t.Context(), w.people[0], id); err == nil && r.IntN(2) == 0 {
			verdict = storetest.Yes()
			verdict.Digest = got.Digest
			if got.Kind == models.KindQuestion {
				verdict = models.DecisionInput{Answer: new("so be it")}
			}
		}
		_, _ = w.Decide(t.Context(), who, id, verdict) // often refused
	}
	if r.IntN(10) == 0 {
		_, err := w.ExpireDue(t.Context(), 10)
		storetest.Must(t, err)
	}
}

func quoted(s string) []byte { return []byte(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`) }
