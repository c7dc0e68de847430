package store

import (
	"cmp"
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
	err = s.write(ctx, func(t *Tx) error {
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
		if err := t.s.quota.admitRun(t.Now, actor); err != nil {
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
	for field, choice := range map[string]string{"onReject": in.OnReject, "onRejectDefault": in.OnRejectDefault} {
		switch choice {
		case "", models.OnRejectCascade, models.OnRejectContinue:
		default:
			return nil, models.Invalid(field, "must be cascade or continue")
		}
	}
	return q, nil
}

func checkTitle(title string) error {
	if err := models.CheckText("title", title, models.MaxTitle*utf8.UTFMax); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(title); n > models.MaxTitle {
		return models.Invalid("title", "is %d characters long; at most %d are allowed", n, models.MaxTitle)
	}
	return nil
}

// foundRun is a run that stands already. Another parent would be another run.
func (t *Tx) foundRun(actor models.Actor, id models.ConversationID, in models.RunInput) (*models.Conversation, error) {
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
			return nil, &models.Error{Code: models.CodeKeyConflict, Text: "This run exists with a different parent; nothing was changed.", Fields: map[string]string{"parentRunId": "differs"}}
		}
	}
	if conv.Title == "" && in.Title != "" {
		conv.Title, columns["title"] = in.Title, in.Title
	}
	chooseOnReject(conv, in, columns)
	if len(columns) > 0 {
		if err := t.setColumns(actor, conv, columns, "conversation.described", described(conv)); err != nil {
			return nil, err
		}
	}
	if in.EnergyBudget == nil || conv.EnergyBudget != nil {
		return conv, nil
	}
	return conv, t.changeBudget(actor, conv, *in.EnergyBudget, "", nil)
}

// chooseOnReject takes what the agent says of rejections. What a person chose
// stays, and what nobody chose is the default that the agent names.
func chooseOnReject(conv *models.Conversation, in models.RunInput, columns map[string]any) {
	choice, by := in.OnReject, models.OnRejectByAgent
	if choice == "" && conv.OnRejectBy == "" {
		choice, by = in.OnRejectDefault, ""
	}
	if choice == "" || conv.OnRejectBy == models.OnRejectByPerson || choice == conv.OnReject && by == conv.OnRejectBy {
		return
	}
	conv.OnReject, conv.OnRejectBy = choice, by
	columns["on_reject"], columns["on_reject_by"] = choice, by
}

// described is what the ledger says of a conversation that was described anew.
func described(c *models.Conversation) map[string]any {
	return map[string]any{
		"on_reject": c.OnReject, "on_reject_by": c.OnRejectBy, "title_digest": models.DigestOfText(c.Title), "parent_digest": models.DigestOfText(orEmpty(c.ParentRunID)),
	}
}

func (t *Tx) newRun(actor models.Actor, q *asked, in models.RunInput) (*models.Conversation, error) {
	q.title, q.parentRunID, q.onReject = in.Title, in.ParentRunID, cmp.Or(in.OnReject, in.OnRejectDefault)
	if in.OnReject != "" {
		q.onRejectBy = models.OnRejectByAgent
	}
	found, err := t.openConversation(actor, q)
	if err != nil || in.EnergyBudget == nil {
		return found, err
	}
	return found, t.changeBudget(actor, found, *in.EnergyBudget, "", nil)
}
