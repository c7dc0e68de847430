package people_test

import (
	"fmt"
	"testing"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/storetest"
)

// A person pages through the agents that are theirs, and reads one of them with its tokens; admins
// read everybody's, others none.
func TestOwnAgentsByPage(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	for i := range 4 {
		storetest.AgentToken(t, b.Store, b.Owner, fmt.Sprintf("bot %d", i))
	}
	var names []string
	for after, pages := "", 0; pages < 3; pages++ {
		got, err := b.People.AgentPage(t.Context(), b.Owner, people.EveryoneQuery{Own: true, After: after, Limit: 2})
		storetest.Must(t, err)
		for _, a := range got.Agents {
			names = append(names, a.Name)
			if len(a.Tokens) != 1 || a.OwnerEmail != "owner@example.com" {
				t.Errorf("%+v", a)
			}
		}
		if after = got.Next; (after == "") != (pages == 2) {
			t.Errorf("after page %d there is %q", pages, after)
		}
	}
	storetest.SameStrings(t, "agents", names, []string{"bot", "bot 0", "bot 1", "bot 2", "bot 3"})
	storetest.AgentToken(t, b.Store, b.Owner, "bot") // replaces its first
	for name, who := range map[string]models.Actor{"owner": b.Owner, "admin": b.Admin} {
		got, err := b.People.Agent(t.Context(), who, b.Agent.AgentID())
		storetest.Must(t, err)
		if got.Name != "bot" || len(got.Tokens) != 2 || got.Tokens[0].RevokedAt != nil || got.Tokens[1].RevokedAt == nil {
			t.Errorf("%s reads %+v", name, got)
		}
	}
	storetest.Refused(t, storetest.Err(b.People.Agent(t.Context(), b.Stranger, b.Agent.AgentID())), models.CodeNotFound)
	storetest.Refused(t, storetest.Err(b.People.Agent(t.Context(), b.Agent, b.Agent.AgentID())), models.CodeForbidden)
	storetest.Refused(t, storetest.Err(b.People.AgentPage(t.Context(), b.Agent, people.EveryoneQuery{Own: true})), models.CodeForbidden)
}
