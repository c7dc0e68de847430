package runs

import (
	"cmp"
	"context"
	"unicode/utf8"

	"countersign/models"
)

// OpenRun opens a run of the agent's as a conversation, or finds the existing one; opened says which. An existing one,
// perhaps opened by a request, gets the parent, the title and the budget that it did not have, and another onReject if
// one is named; another parent is a conflict, and an existing title or budget stays.
//
// Codes: forbidden (agents only), invalid, other_agent, id_taken, key_conflict.
func (r *Runs) OpenRun(
	ctx context.Context, actor models.Actor, in models.RunInput,
) (conv *models.Conversation, opened bool, err error) {
	if !actor.IsAgent() {
		return nil, false, models.Errorf(models.CodeForbidden, "Only an agent's token may open a run.")
	}
	id, err := checkRun(in)
	if err != nil {
		return nil, false, err
	}
	err = r.write(ctx, func(t *tx) error {
		conv, opened = nil, false
		found, err := t.FindRun(actor, id, in.RunID)
		if err != nil {
			return err
		}
		if found != nil {
			if conv, err = t.foundRun(actor, found.ID, in); err != nil {
				return err
			}
			return t.ShowStatus(conv)
		}
		if err := t.AdmitRun(actor); err != nil {
			return err
		}
		opened = true
		conv, err = t.newRun(actor, id, in)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return conv, opened, nil
}

// checkRun does everything that needs no database. It returns the id that the agent chose; empty: none.
func checkRun(in models.RunInput) (id models.ConversationID, err error) {
	if in.RunID == "" {
		return "", models.Invalid("runId", "is required")
	}
	if in.ID != "" {
		if id, err = models.ParseID[models.ConversationID]("id", in.ID); err != nil {
			return "", err
		}
	}
	if err := models.CheckKey("runId", in.RunID); err != nil {
		return "", err
	}
	if in.ParentRunID != "" {
		if err := models.CheckKey("parentRunId", in.ParentRunID); err != nil {
			return "", err
		}
		if in.ParentRunID == in.RunID {
			return "", models.Invalid("parentRunId", "must be another run than runId")
		}
	}
	if err := checkTitle(in.Title); err != nil {
		return "", err
	}
	if b := in.EnergyBudget; b != nil && (*b < 0 || *b > models.MaxBudget) {
		return "", models.Invalid("energyBudget", "must be from 0 to %d", int64(models.MaxBudget))
	}
	for field, choice := range map[string]string{"onReject": in.OnReject, "onRejectDefault": in.OnRejectDefault} {
		switch choice {
		case "", models.OnRejectCascade, models.OnRejectContinue:
		default:
			return "", models.Invalid(field, "must be cascade or continue")
		}
	}
	return id, nil
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

// foundRun is an existing run. Another parent would be another run.
func (t *tx) foundRun(actor models.Actor, id models.ConversationID, in models.RunInput) (*models.Conversation, error) {
	conv, err := t.Conversation(id)
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
			return nil, &models.Error{
				Code: models.CodeKeyConflict, Text: "This run exists with a different parent; nothing was changed.",
				Fields: map[string]string{"parentRunId": "differs"},
			}
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
	_, err = t.WishBudget(actor, conv, models.BudgetChange{Set: in.EnergyBudget}, "")
	return conv, err
}

// chooseOnReject takes the agent's choice about rejections. A person's choice stays, and without any choice the
// agent's default counts.
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

// described is what the ledger says of a conversation whose description changes.
func described(c *models.Conversation) map[string]any {
	return map[string]any{
		"on_reject": c.OnReject, "on_reject_by": c.OnRejectBy, "title_digest": models.DigestOfText(c.Title),
		"parent_digest": models.DigestOfText(parentOf(c)),
	}
}

// parentOf is the run that started a run; empty: none.
func parentOf(c *models.Conversation) string {
	if c.ParentRunID == nil {
		return ""
	}
	return *c.ParentRunID
}

func (t *tx) newRun(actor models.Actor, id models.ConversationID, in models.RunInput) (*models.Conversation, error) {
	conv := &models.Conversation{
		ID: id, OwnerID: actor.OwnerID, AgentID: actor.AgentID(), RunID: &in.RunID, Title: in.Title,
		OnReject: cmp.Or(in.OnReject, in.OnRejectDefault),
	}
	if in.ParentRunID != "" {
		conv.ParentRunID = &in.ParentRunID
	}
	if in.OnReject != "" {
		conv.OnRejectBy = models.OnRejectByAgent
	}
	if err := t.OpenConversation(actor, conv); err != nil || in.EnergyBudget == nil {
		return conv, err
	}
	_, err := t.WishBudget(actor, conv, models.BudgetChange{Set: in.EnergyBudget}, "")
	return conv, err
}

// OwnConversation is the agent's own, to which everything belongs that names no
// conversation. It is opened if there is none yet.
//
// Codes: forbidden (agents only).
func (r *Runs) OwnConversation(ctx context.Context, actor models.Actor) (models.ConversationID, error) {
	if !actor.IsAgent() {
		return "", models.Errorf(models.CodeForbidden, "Only an agent has its own conversation.")
	}
	var id models.ConversationID
	err := r.write(ctx, func(t *tx) error {
		conv, err := t.StandingConversation(actor, models.OnRejectContinue)
		if err != nil {
			return err
		}
		id = conv.ID
		return nil
	})
	return id, err
}
