package store

import (
	"context"
	"unicode/utf8"

	"countersign/models"
)

// OpenRun opens a run of the agent's as a conversation, or finds the one that
// stands; opened tells which. One that stands, perhaps opened by a request, is
// given the parent, the title and the budget that it did not have, and another
// onReject if one is named; another parent is a conflict, and a title or budget
// that stands stays.
//
// Codes: forbidden (agents only), invalid, other_agent, id_taken, key_conflict.
func (s *Store) OpenRun(ctx context.Context, actor models.Actor, in models.RunInput) (conv *models.Conversation, opened bool, err error) {
	if !actor.IsAgent() {
		return nil, false, models.Errorf(models.CodeForbidden, "Only an agent's token may open a run.")
	}
	q, err := checkRun(in)
	if err != nil {
		return nil, false, err
	}
	err = s.write(ctx, func(t *tx) error {
		conv, opened = nil, false
		found, err := t.namedConversation(actor, q)
		if err != nil {
			return err
		}
		if found != nil {
			if conv, err = t.foundRun(actor, found.ID, in); err != nil {
				return err
			}
			return t.showStatus(conv)
		}
		if err := t.s.quota.admitRun(t.now, actor); err != nil {
			return err
		}
		opened = true
		conv, err = t.newRun(actor, q, in)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return conv, opened, nil
}

// checkRun does everything that needs no database.
func checkRun(in models.RunInput) (*asked, error) {
	q := &asked{AskInput: models.AskInput{ConversationID: in.ID, RunID: in.RunID}}
	if in.RunID == "" {
		return nil, models.Invalid("runId", "is required")
	}
	if in.ID != "" {
		if _, err := models.ParseID[models.ConversationID]("id", in.ID); err != nil {
			return nil, err
		}
	}
	if err := q.checkKeys(); err != nil {
		return nil, err
	}
	if in.ParentRunID != "" {
		if err := models.CheckKey("parentRunId", in.ParentRunID); err != nil {
			return nil, err
		}
		if in.ParentRunID == in.RunID {
			return nil, models.Invalid("parentRunId", "must be another run than runId")
		}
	}
	if err := checkTitle(in.Title); err != nil {
		return nil, err
	}
	if b := in.EnergyBudget; b != nil && (*b < 0 || *b > models.MaxBudget) {
		return nil, models.Invalid("energyBudget", "must be from 0 to %d", int64(models.MaxBudget))
	}
	switch in.OnReject {
	case "", models.OnRejectCascade, models.OnRejectContinue:
		return q, nil
	}
	return nil, models.Invalid("onReject", "must be cascade or continue")
}

func checkTitle(title string) error {
	if err := models.CheckText("title", title, models.MaxTitle*utf8.UTFMax); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(title); n > models.MaxTitle {
		return models.Invalid("title", "is %d characters long; at most %d are taken", n, models.MaxTitle)
	}
	return nil
}

// foundRun is a run that stands already. Another parent would be another run.
func (t *tx) foundRun(actor models.Actor, id models.ConversationID, in models.RunInput) (*models.Conversation, error) {
	conv, err := t.fullConversation(id)
	if err != nil {
		return nil, err
	}
	columns := map[string]any{}
	if in.ParentRunID != "" {
		switch {
		case conv.ParentRunID == nil:
			// It was opened by an ask, which names no parent.
			conv.ParentRunID, columns["parent_run_id"] = &in.ParentRunID, in.ParentRunID
		case *conv.ParentRunID != in.ParentRunID:
			return nil, &models.Error{Code: models.CodeKeyConflict, Text: "This run stands with another parent; nothing was changed.", Fields: map[string]string{"parentRunId": "differs"}}
		}
	}
	if conv.Title == "" && in.Title != "" {
		conv.Title, columns["title"] = in.Title, in.Title
	}
	if in.OnReject != "" && in.OnReject != conv.OnReject {
		conv.OnReject, columns["on_reject"] = in.OnReject, in.OnReject
	}
	if len(columns) > 0 {
		data := map[string]any{"on_reject": conv.OnReject, "title_digest": digestOfText(conv.Title), "parent_digest": digestOfText(orEmpty(conv.ParentRunID))}
		if err := t.setColumns(actor, conv, columns, "conversation.described", data); err != nil {
			return nil, err
		}
	}
	if in.EnergyBudget == nil || conv.EnergyBudget != nil {
		return conv, nil
	}
	return conv, t.changeBudget(actor, conv, *in.EnergyBudget, "", nil)
}

func (t *tx) newRun(actor models.Actor, q *asked, in models.RunInput) (*models.Conversation, error) {
	q.title, q.parentRunID, q.onReject = in.Title, in.ParentRunID, in.OnReject
	found, err := t.openConversation(actor, q)
	if err != nil || in.EnergyBudget == nil {
		return found, err
	}
	return found, t.changeBudget(actor, found, *in.EnergyBudget, "", nil)
}
