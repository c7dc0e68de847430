package live

import (
	"context"
	"strings"

	"countersign/models"
	"countersign/models/events"
	"countersign/views"
)

// watchedConversation is the conversation that a page shows, if its reader may
// see it.
func (s *Screens) watchedConversation(
	ctx context.Context, actor models.Actor, raw string,
) (models.ConversationID, error) {
	id, err := models.ParseID[models.ConversationID]("conversation", raw)
	if err != nil {
		return "", nil //nolint:nilerr // what names none is not watched
	}
	sees, err := s.seesConversation(ctx, actor, id)
	if err != nil || !sees {
		return "", err
	}
	return id, nil
}

// seesConversation judges it by the rights that the person has now.
func (s *Screens) seesConversation(ctx context.Context, actor models.Actor, id models.ConversationID) (bool, error) {
	actor, err := s.Store.ActorNow(ctx, actor)
	if err != nil {
		return false, err
	}
	_, err = s.Store.Requests.Conversation(ctx, actor, id)
	if models.ErrorCode(err) == models.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

// addConversation has a stream tell of a conversation and its draft.
func addConversation(names map[events.Topic]string, id models.ConversationID) {
	if id == "" {
		return
	}
	names[events.Conversation(string(id))] = views.ConversationTopic(id)
	names[events.Draft(string(id))] = views.DraftTopic(id)
}

// forgetHidden removes names about a conversation that its reader may no longer see. It checks the right at each
// event.
func (t *topicWriter) forgetHidden() error {
	if t.mayHear == nil {
		return nil
	}
	about := func(name string) bool {
		return strings.HasPrefix(name, "conversation:") || strings.HasPrefix(name, "draft:")
	}
	told := false
	for name := range t.pending {
		told = told || about(name)
	}
	if !told {
		return nil
	}
	sees, err := t.mayHear()
	if err != nil || sees {
		return err
	}
	for name := range t.pending {
		if about(name) {
			delete(t.pending, name)
		}
	}
	return nil
}
