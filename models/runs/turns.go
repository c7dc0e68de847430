package runs

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
)

// ReserveEnergy sets aside the most that the next turn of a run can cost, which must be done before the model is asked
// (I14). If the budget does not allow it, a person is asked for more, the run waits, and fits is false; the policy may
// let the system approve more at once. CodeConflict if the run was taken over, paused or stopped.
func (r *Runs) ReserveEnergy(ctx context.Context, run *models.Run, worst int64) (fits bool, err error) {
	if worst < 0 || worst > models.MaxEnergy {
		return false, models.Invalid("energy", "must be from 0 to %d", models.MaxEnergy)
	}
	err = r.write(ctx, func(t *tx) error {
		fits = false
		conv, err := t.held(run)
		if err != nil {
			return err
		}
		b, err := t.AgentBudget(conv.AgentID, conv.ID)
		if err != nil {
			return err
		}
		if b != nil && worst > 0 && worst > b.Remaining() {
			return t.waitForAgentBudget(run, conv, b, worst)
		}
		if fits, err = t.ReserveEnergy(conv.ID, worst); err != nil {
			return err
		}
		if fits {
			return t.goesOn(run, conv, b)
		}
		request, err := t.AskForEnergy(run.Actor(), conv, worst)
		if err != nil {
			return err
		}
		if request.Status() == models.StatusApproved {
			if fits, err = t.ReserveEnergy(conv.ID, worst); fits || err != nil {
				return err
			}
		}
		if err := t.restOn(run, conv, request); err != nil {
			return err
		}
		return t.giveBack(run, waits)
	})
	return fits && err == nil, err
}

// restOn has a run of the built-in agent wait for a request for energy. A pending request in the same conversation
// shows it as waiting; otherwise the stored status does.
func (t *tx) restOn(run *models.Run, conv *models.Conversation, request *models.Approval) error {
	status := models.ConversationWaitingInput
	if request.Status() == models.StatusPending && request.ConversationID == conv.ID {
		status = models.ConversationRunning
	}
	return t.SetStatus(run.Actor(), conv, status, "")
}

// waitForAgentBudget gives a run back whose agent may not spend what its next turn
// can cost: until its owner allows more, or the window has room.
func (t *tx) waitForAgentBudget(run *models.Run, conv *models.Conversation, b *models.AgentBudget, worst int64) error {
	refusal, err := t.RefuseByAgentBudget(run.Actor(), conv, b, worst)
	if err != nil {
		return err
	}
	room, err := t.RoomForAgent(conv.AgentID, b, worst)
	if err != nil {
		return err
	}
	request := refusal.Approval
	if conv.Status != models.ConversationWaitingInput &&
		(request.Status() != models.StatusPending || request.ConversationID != conv.ID) {
		// Nothing else in this conversation says why it waits.
		if err := t.notice(conv, refusal.Text); err != nil {
			return err
		}
	}
	if err := t.restOn(run, conv, request); err != nil {
		return err
	}
	if err := t.giveBack(run, waits); err != nil {
		return err
	}
	if err := t.Gorm().Exec(`UPDATE agent_inbox SET ready_at = ? WHERE conversation_id = ?`, room,
		conv.ID).Error; err != nil {
		return fmt.Errorf("wait for an agent's budget: %w", err)
	}
	t.Publish(events.AgentInbox)
	return nil
}

// goesOn has a run that waited for its agent's budget run again: it may have
// begun because the window moved, which is no event.
func (t *tx) goesOn(run *models.Run, conv *models.Conversation, b *models.AgentBudget) error {
	if b == nil || conv.Status != models.ConversationWaitingInput {
		return nil
	}
	return t.SetStatus(run.Actor(), conv, models.ConversationRunning, "")
}

// StoreTurn stores the model's answer and carries out its calls, all in one transaction: the reserved energy is
// settled, each call has its result, and the run is given back, ready or waiting as it then is. CodeConflict, and
// nothing is stored, if the run was taken over, paused or stopped.
func (r *Runs) StoreTurn(ctx context.Context, run *models.Run, in models.TurnInput) (*models.Turn, error) {
	var out *models.Turn
	err := r.write(ctx, func(t *tx) error {
		conv, err := t.held(run)
		if err != nil {
			return err
		}
		spent, err := t.SettleEnergy(conv, in.Energy)
		if err != nil {
			return err
		}
		said := &models.Turn{
			ConversationID: conv.ID, At: t.Now, Model: in.Model, PromptTokens: in.PromptTokens,
			CompletionTokens: in.CompletionTokens,
			TurnOutput:       models.TurnOutput{Content: plainText(in.Content), Read: in.Context.Read, Open: openIn(in.Context)},
		}
		if said.Sequence, err = t.NextSequence(conv.ID); err != nil {
			return err
		}
		if said.Energy, err = t.speak(run, conv, said, in.Calls, spent); err != nil {
			return err
		}
		if err := t.addTurn(said); err != nil {
			return err
		}
		if said.Empty() && in.Context.Words() {
			if err := t.notice(conv, "The model answered with nothing; write to try again."); err != nil {
				return err
			}
		}
		out = said
		return t.goOn(run, conv, in.Context, said)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// openIn are the requests that were shown to the model as pending.
func openIn(c *models.RunContext) []models.ResponseID {
	open := make([]models.ResponseID, 0, len(c.Pending))
	for _, a := range c.Pending {
		open = append(open, a.ID)
	}
	return open
}

// speak stores a turn's text as a reply and carries out its calls. The first
// response of the turn carries what the turn has cost; left is what none carries.
func (t *tx) speak(
	run *models.Run, conv *models.Conversation, turn *models.Turn, calls []models.TurnCall, spent int64,
) (left int64, err error) {
	left = spent
	if turn.Content != "" {
		done, err := t.carryOut(run, conv, turn.Model, &models.ToolCall{Name: models.ToolRespond, Content: turn.Content},
			left)
		if err != nil {
			return 0, err
		}
		left -= done.carry
		if done.result != models.Delivered {
			t.runs.db.Log().WarnContext(t.Caller, "a model's text was not stored as a reply",
				slog.String("conversation", string(conv.ID)), slog.String("why", done.result))
		}
	}
	for i := range calls {
		call := models.TurnCall{
			ID: calls[i].ID, Name: calls[i].Name, Arguments: models.StoredText(calls[i].Arguments),
		}
		if i >= models.MaxTurnCalls {
			call.Result = models.RefusedResult(models.Errorf(models.CodeInvalid,
				"At most %d calls of one model answer are carried out.", models.MaxTurnCalls))
			turn.Calls = append(turn.Calls, call)
			continue
		}
		input, err := models.ParseToolCall(conv.ID, call.Name, []byte(calls[i].Arguments))
		if err != nil {
			call.Result = models.RefusedResult(err)
			turn.Calls = append(turn.Calls, call)
			continue
		}
		done, err := t.carryOut(run, conv, turn.Model, input, left)
		if err != nil {
			return 0, err
		}
		left -= done.carry
		call.Result, call.ResponseID = done.result, done.response
		if done.response != "" {
			turn.Open = append(turn.Open, done.response)
		}
		turn.Calls = append(turn.Calls, call)
	}
	return left, nil
}

// carriedOut is what became of one call: it has a result at once, or the response
// that it stored.
type carriedOut struct {
	result   string
	response models.ResponseID
	carry    int64 // what its response carries of the energy that was spent before
}

// carryOut does one call, whose response carries the energy that was spent before.
// What the store refuses is a result; any other error spoils the turn.
func (t *tx) carryOut(
	run *models.Run, conv *models.Conversation, model string, call *models.ToolCall, prepaid int64,
) (carriedOut, error) {
	actor := run.Actor()
	switch call.Name {
	case models.ToolRespond, models.ToolRespondWithApproval:
		in := models.ResponseInput{
			Kind: models.KindReply, Content: call.Content, ModelUsed: model, Energy: &prepaid, EnergyBudget: call.EnergyBudget,
		}
		if call.Name == models.ToolRespondWithApproval {
			in.Kind = models.KindProposal
		}
		a, err := t.Respond(actor, conv, in, prepaid)
		if err != nil {
			return asResult(err)
		}
		if in.Kind == models.KindReply {
			return carriedOut{result: models.Delivered, carry: prepaid}, nil
		}
		return carriedOut{response: a.ID, carry: prepaid}, nil
	}
	request, err := t.WishBudget(actor, conv, call.Change, "")
	if err != nil {
		return asResult(err)
	}
	if request != nil {
		return carriedOut{response: request.ID}, nil
	}
	return carriedOut{result: models.AppliedResult(conv.Budget())}, nil
}

// asResult turns a refusal into a call's result.
func asResult(err error) (carriedOut, error) {
	refusal, spoils := db.Refused(err)
	if refusal == nil {
		refusal = spoils
	}
	if models.ErrorCode(refusal) == models.CodeInternal {
		return carriedOut{}, refusal
	}
	return carriedOut{result: models.RefusedResult(refusal)}, nil
}

func (t *tx) addTurn(turn *models.Turn) error {
	said, err := json.Marshal(turn.TurnOutput, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode model call: %w", err)
	}
	err = t.Gorm().Exec(`INSERT INTO turns (conversation_id, sequence, at, model, prompt_tokens, completion_tokens, energy, said) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		turn.ConversationID, turn.Sequence, turn.At, turn.Model, turn.PromptTokens, turn.CompletionTokens, turn.Energy,
		string(said)).Error
	if err != nil {
		return fmt.Errorf("store model call: %w", err)
	}
	if err := t.Gorm().Exec(`UPDATE agent_inbox SET turns = turns + 1, attempts = 0 WHERE conversation_id = ?`,
		turn.ConversationID).Error; err != nil {
		return fmt.Errorf("count model call: %w", err)
	}
	return nil
}

const heardQuery = `SELECT 1 FROM messages WHERE conversation_id = ? AND sequence > ? AND author_kind = 'user' LIMIT 1`

// goOn gives a run back after a turn, or after none was needed: new messages are answered, pending requests are waited
// for, results are read, and otherwise the run is done.
func (t *tx) goOn(run *models.Run, conv *models.Conversation, seen *models.RunContext, turn *models.Turn) error {
	words, err := db.Exists(t.QueryRowContext(context.Background(), heardQuery, conv.ID, seen.Read))
	if err != nil {
		return err
	}
	pending, err := t.WaitsForPerson(conv.ID)
	if err != nil {
		return err
	}
	status, stays := models.ConversationCompleted, waits
	switch {
	case words:
		status, stays = models.ConversationRunning, ready
	case pending:
		status = models.ConversationRunning // once that is decided
	case turn == nil && len(seen.Pending) > 0, turn != nil && (len(turn.Open) > 0 || turn.HasUnreadResult()):
		status, stays = models.ConversationRunning, ready // outcomes and results that it has not heard of
	case turn != nil && turn.Empty() && seen.Words():
		status = models.ConversationWaitingInput
	}
	if err := t.SetStatus(run.Actor(), conv, status, ""); err != nil {
		return err
	}
	return t.giveBack(run, stays)
}

// plainText is a model's text as a reply can hold it.
func plainText(s string) string {
	s = models.StoredText(s)
	if strings.TrimSpace(s) == "" {
		return ""
	}
	if len(s) <= models.MaxContent {
		return s
	}
	const cut = "\n[cut here: the model wrote more than is kept]"
	return models.Cut(s, models.MaxContent-len(cut)) + cut
}
