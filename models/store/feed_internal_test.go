package store

import (
	"slices"
	"testing"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/requests"
)

// A status that was recorded is told to the agent, the owner and the admins, and
// not to those who were only routed a request of the run.
func TestFeedTellsStatusesThatAreRecorded(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	ctx := t.Context()
	agent := models.Actor{Kind: models.ActorAgent, ID: "a", OwnerID: "u"}
	if err := s.write(ctx, func(tx *Tx) error {
		for _, row := range []string{
			`INSERT INTO users (id, email, name, role, password_hash, created_at) VALUES ('u', 'u@example.com', 'U', 'reviewer', '', '2026-01-01')`,
			`INSERT INTO agents (id, owner_id, name, created_at) VALUES ('a', 'u', 'bot', '2026-01-01')`,
			`INSERT INTO conversations (id, owner_id, agent_id, created_at, updated_at) VALUES ('c', 'u', 'a', '2026-01-01', '2026-01-01')`,
		} {
			if err := tx.Gorm().Exec(row).Error; err != nil {
				return err
			}
		}
		return tx.Record(agent, "conversation.status", ledger.Subject{Owner: "u", Conversation: "c"}, map[string]string{"old": "running", "new": "waiting_input"})
	}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		actor models.Actor
		want  int
	}{
		"the agent":     {agent, 1},
		"the owner":     {models.Actor{Kind: models.ActorUser, ID: "u"}, 1},
		"an admin":      {models.Actor{Kind: models.ActorUser, ID: "x", Admin: true}, 1},
		"a stranger":    {models.Actor{Kind: models.ActorUser, ID: "x"}, 0},
		"another agent": {models.Actor{Kind: models.ActorAgent, ID: "b", OwnerID: "u"}, 0},
	} {
		told := 0
		if _, err := s.Requests.Feed(ctx, tt.actor, 0, func(h *requests.FeedEvent) error {
			told++
			if h.Kind != requests.StatusChanged || !slices.Equal(h.Changes, []models.StatusChange{{Conversation: "c", Old: models.ConversationRunning, New: models.ConversationWaitingInput}}) {
				t.Errorf("%s hears %+v", name, h)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if told != tt.want {
			t.Errorf("%s is told %d times, want %d", name, told, tt.want)
		}
	}
}
