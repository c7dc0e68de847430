package runs

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/requests"
	"countersign/models/store"
)

// Say stores what a person says into a conversation, with the decision and the
// change of the budget that came with it: all of it or nothing. Without a
// conversation one begins, which the built-in agent runs. The words may be left
// out where something is decided or changed.
//
// Codes: forbidden (people only), not_found, invalid, no_budget,
// no_pending_approval, and those of Decide.
func (r *Runs) Say(ctx context.Context, actor models.Actor, in models.MessageInput) (*models.MessageResult, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person's token may send messages.")
	}
	if strings.TrimSpace(in.Content) == "" {
		in.Content = ""
	}
	if err := checkMessage(in); err != nil {
		return nil, err
	}
	var out *models.MessageResult
	err := r.write(ctx, func(t *tx) error {
		var err error
		if in.ConversationID == "" {
			out, err = t.begin(actor, in)
		} else {
			out, err = t.say(actor, in)
		}
		if err != nil {
			return err
		}
		return t.ShowStatus(out.Conversation)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func checkMessage(in models.MessageInput) error {
	if in.Content == "" && in.Decision == nil {
		return models.Invalid("content", "must not be empty")
	}
	if err := models.CheckText("content", in.Content, models.MaxContent); err != nil {
		return err
	}
	if in.ConversationID != "" {
		if in.EnergyBudget != nil {
			return models.Invalid("energyBudget", "is for a conversation that begins; change this one's by approvalResponse")
		}
		return checkDecision(in.Decision)
	}
	if in.Decision != nil {
		return models.Invalid("id", "is required with approvalResponse")
	}
	if b := in.EnergyBudget; b != nil && (*b < 0 || *b > models.MaxBudget) {
		return models.Invalid("energyBudget", "must be from 0 to %d", int64(models.MaxBudget))
	}
	return nil
}

func checkDecision(d *models.ConversationDecision) error {
	switch {
	case d == nil:
		return nil
	case d.Budget.Set != nil && d.Budget.Delta != nil:
		return models.Invalid("budgetChange", "can't be combined with newBudget; send one of the two")
	case d.Approved == nil && d.ResponseID != "":
		return models.Invalid("approved", "is required with responseId")
	case d.Approved == nil && d.Budget.None():
		return models.Invalid("approved", "is required where the budget is not changed")
	}
	return models.CheckText("feedback", d.Feedback, models.MaxReason)
}

// begin opens a conversation of the person's with the built-in agent.
func (t *tx) begin(actor models.Actor, in models.MessageInput) (*models.MessageResult, error) {
	if err := t.AdmitMessage(actor); err != nil {
		return nil, err
	}
	agent, err := t.AgentNamed(actor, actor.UserID(), models.BuiltIn)
	if err != nil {
		return nil, err
	}
	conv := &models.Conversation{
		OwnerID: actor.UserID(), AgentID: agent.ID, Title: titleOf(in.Content),
	}
	if err := t.OpenConversation(actor, conv); err != nil {
		return nil, err
	}
	if err := t.Gorm().Exec(`INSERT INTO agent_inbox (conversation_id) VALUES (?)`, conv.ID).Error; err != nil {
		return nil, fmt.Errorf("open conversation: %w", err)
	}
	if in.EnergyBudget != nil {
		if _, err := t.WishBudget(actor, conv, models.BudgetChange{Set: in.EnergyBudget}, ""); err != nil {
			return nil, err
		}
	}
	m, err := t.addMessage(actor, conv, in.Content, nil)
	return &models.MessageResult{Conversation: conv, Message: m}, err
}

// say is a message into an existing conversation.
func (t *tx) say(actor models.Actor, in models.MessageInput) (*models.MessageResult, error) {
	conv, err := t.owned(actor, in.ConversationID)
	if err != nil {
		return nil, err
	}
	if in.Content != "" {
		if err := t.AdmitMessage(actor); err != nil {
			return nil, err
		}
	}
	out := &models.MessageResult{Conversation: conv}
	if d := in.Decision; d != nil {
		if out.Approval, err = t.decideIn(actor, conv, *d); err != nil {
			return nil, err
		}
		if out.Conversation, err = t.Conversation(conv.ID); err != nil {
			return nil, err
		}
	}
	if in.Content == "" {
		return out, nil
	}
	out.Message, err = t.addMessage(actor, out.Conversation, in.Content, out.Approval)
	return out, err
}

// addMessage stores a message and has the run go on: a stopped or completed one resumes, an archived one comes back,
// and more budget may be requested again. decided is the request that was decided together with it, or nil.
func (t *tx) addMessage(
	author models.Actor, conv *models.Conversation, content string, decided *models.Approval,
) (*models.Message, error) {
	sequence, err := t.NextSequence(conv.ID)
	if err != nil {
		return nil, err
	}
	m := &models.Message{
		ID: models.NewID[models.MessageID](), ConversationID: conv.ID, Sequence: sequence, AuthorKind: author.Kind,
		AuthorID: author.ID, AuthorName: author.Name, Content: content, CreatedAt: t.Now,
	}
	if decided != nil {
		m.ResponseID = &decided.ID
	}
	if err := t.Gorm().Create(m).Error; err != nil {
		return nil, fmt.Errorf("store message: %w", err)
	}
	t.Adds("messages", m.ID)
	t.changed(conv.ID)
	t.Publish(events.Agent(string(conv.AgentID)))
	entry := map[string]any{"message": m.ID, "sequence": m.Sequence, "digest": models.DigestOfText(content)}
	if m.ResponseID != nil {
		entry["response"] = *m.ResponseID
	}
	if err := t.Record(author, "message.added", ledger.Subject{Owner: conv.OwnerID, Conversation: conv.ID},
		entry); err != nil {
		return nil, err
	}
	if !author.IsPerson() {
		return m, nil
	}
	return m, t.resumeBy(author, conv, decided)
}

// resumeBy has a conversation go on after a person wrote into it; if the decision made with that message may be
// undone, only then or with its release.
func (t *tx) resumeBy(person models.Actor, conv *models.Conversation, decided *models.Approval) error {
	if conv.ArchivedAt != nil {
		if err := t.setArchived(person, conv, false); err != nil {
			return err
		}
	}
	if conv.BudgetRefused != nil {
		conv.BudgetRefused = nil
		if err := t.Gorm().Model(&models.Conversation{}).Where("id = ?", conv.ID).UpdateColumn("budget_refused",
			nil).Error; err != nil {
			return fmt.Errorf("forget refused budget: %w", err)
		}
	}
	if err := t.SetStatus(person, conv, models.ConversationRunning, ""); err != nil {
		return err
	}
	if decided != nil && decided.Vote != nil && (decided.Vote.UndoUntil != nil || decided.Vote.WaitsFor != "") {
		return nil
	}
	return t.Wake(person, conv.ID)
}

// titleOf makes a title of the first line of a message.
func titleOf(content string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(content), "\n")
	line = strings.TrimSpace(line)
	if utf8.RuneCountInString(line) <= models.MaxTitle {
		return line
	}
	return string([]rune(line)[:models.MaxTitle-1]) + "…"
}

// DecideIn decides a proposal or budget request of a conversation, changes its
// budget, or both, in one transaction. Without a response id it decides the most
// recent proposal or budget request that is pending, never a tool call; one with a
// checklist is approved only by its id or its digest.
//
// Codes: forbidden (people only), not_found, no_pending_approval, several_waiting, no_budget,
// and those of Decide.
func (r *Runs) DecideIn(
	ctx context.Context, actor models.Actor, id models.ConversationID, d models.ConversationDecision,
) (*models.Approval, *models.Conversation, error) {
	if !actor.IsPerson() {
		return nil, nil, models.Errorf(models.CodeForbidden, "Only a person may decide: use a reviewer's token or the page.")
	}
	if err := checkDecision(&d); err != nil {
		return nil, nil, err
	}
	var a *models.Approval
	var conv *models.Conversation
	write := r.write
	if d.Approved != nil && !*d.Approved && d.Budget.None() {
		write = r.writeAnyway
	}
	err := write(ctx, func(t *tx) error {
		var err error
		if conv, err = t.Conversation(id); err != nil {
			return err
		}
		// A reviewer to whom a request was routed may decide it here too, by its id.
		if conv == nil || (!requests.Owns(actor, conv) && d.ResponseID == "") {
			return models.NotFound("conversation")
		}
		if a, err = t.decideIn(actor, conv, d); err != nil {
			if !requests.Owns(actor, conv) && models.ErrorCode(err) == models.CodeNotFound {
				return models.NotFound("conversation") // as if there were none
			}
			return err
		}
		if conv, err = t.Conversation(id); err != nil {
			return err
		}
		return t.ShowStatus(conv)
	})
	if err != nil {
		return nil, nil, err
	}
	return a, conv, nil
}

// spokenWaiting are the proposals and budget requests of a conversation that wait for a
// person, latest first; mostWaiting of them.
const (
	spokenWaiting = `SELECT id, kind FROM responses` + db.ByResponsesPendingSpoken + `
 WHERE conversation_id = ? AND approval_status = 'pending' AND kind IN ('proposal', 'budget') AND approval_timeout_at > ? AND held_until IS NULL ORDER BY sequence DESC LIMIT ?`
	mostWaiting = 100
)

// mayLeaveOut refuses a decision that names no request where several wait and the policy wants
// one to be named.
func (t *tx) mayLeaveOut(id models.ConversationID) error {
	_, p, err := t.Policy()
	if err != nil || !p.Document().ExplicitResponseID {
		return err
	}
	var waiting []models.WaitingRequest
	if err := t.Gorm().Raw(spokenWaiting, id, t.Now, mostWaiting).Scan(&waiting).Error; err != nil {
		return fmt.Errorf("read what waits in a conversation: %w", err)
	}
	if len(waiting) < 2 {
		return nil
	}
	e := models.Errorf(models.CodeSeveralWaiting,
		"Several requests wait in this conversation, and the policy (explicit_response_id) wants one to be named: send responseId.")
	e.Waiting = waiting
	return e
}

// StillWaiting are the proposals and budget requests that wait for a person in a conversation
// of the actor's, latest first: what a decision without an id may be about.
func (r *Runs) StillWaiting(
	ctx context.Context, actor models.Actor, id models.ConversationID,
) ([]models.WaitingRequest, error) {
	if _, err := r.store.Requests.Conversation(ctx, actor, id); err != nil {
		return nil, err
	}
	var waiting []models.WaitingRequest
	if err := r.db.Gorm(ctx).Raw(spokenWaiting, id, r.db.Now(), mostWaiting).Scan(&waiting).Error; err != nil {
		return nil, fmt.Errorf("read what waits in a conversation: %w", err)
	}
	return waiting, nil
}

// decideIn is a checked decision in a conversation; nil where only the budget
// was changed.
func (t *tx) decideIn(
	actor models.Actor, conv *models.Conversation, d models.ConversationDecision,
) (*models.Approval, error) {
	if d.Approved == nil {
		next, err := d.Budget.Apply(conv.EnergyBudget, "newBudget", "budgetChange")
		if err != nil {
			return nil, err
		}
		_, err = t.WishBudget(actor, conv, models.BudgetChange{Set: &next}, d.Feedback)
		return nil, err
	}
	id := d.ResponseID
	if id == "" {
		var err error
		if id, err = t.LatestPending(conv.ID); err != nil {
			return nil, err
		}
		if err := t.mayLeaveOut(conv.ID); err != nil {
			return nil, err
		}
		if id == "" {
			return nil, models.Errorf(models.CodeNoPendingApproval,
				"No proposal and no budget request is pending in this conversation.")
		}
	}
	a, err := t.Approval(actor, id)
	if models.ErrorCode(err) == models.CodeNotFound || (err == nil && a.ConversationID != conv.ID) {
		return nil, models.NotFound("request in this conversation")
	}
	if err != nil {
		return nil, err
	}
	if err := store.CheckTicksName(a, d); err != nil {
		return nil, err
	}
	return t.Decide(actor, a,
		models.DecisionInput{
			Approved: d.Approved, Reason: d.Feedback, Digest: d.Digest, Budget: d.Budget, Checked: d.Checked, Page: d.Page,
		})
}
