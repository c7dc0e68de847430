package store_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/glass"
	"countersign/models/store"
	"countersign/models/storetest"
)

// secrets are texts that occur nowhere else, one for each place where somebody
// writes something.
type secrets struct {
	name   string
	marked bool // they have the form of the mark of a removal
	all    []string
}

func (s *secrets) new(what string) string {
	text := fmt.Sprintf("%s-secret-%d-of-%s", s.name, len(s.all), strings.ReplaceAll(what, "_", "-"))
	if s.marked {
		text = "removed on 2026-03-01, by " + text
	}
	s.all = append(s.all, text)
	return text
}

// member is what an input names its only member.
func (s *secrets) member() string {
	if s.marked {
		return "removed"
	}
	return "a"
}

// json is an input, small or of several pages.
func (s *secrets) json(what string) []byte {
	if s.marked {
		return fmt.Appendf(nil, `{"removed":%q}`, s.new(what))
	}
	filler := strings.Repeat("-", len(s.all)%7*900)
	return []byte(`{"command":"` + s.new(what) + filler + `","again":"` + filler + s.all[len(s.all)-1] + `"}`)
}

// in are those that one of the files holds. Another process reads them: if this
// one closed the database, it would drop the locks of the store that has it open.
func (s *secrets) in(t *testing.T, files ...string) (found []string) {
	t.Helper()
	for _, file := range files {
		raw, err := exec.CommandContext(t.Context(), "cat", file).Output()
		storetest.Must(t, err)
		for _, text := range s.all {
			if bytes.Contains(raw, []byte(text)) {
				found = append(found, filepath.Base(file)+": "+text)
			}
		}
	}
	slices.Sort(found)
	return found
}

// filesOf are all files of a data folder.
func filesOf(t *testing.T, s *store.Store) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(s.Path()))
	storetest.Must(t, err)
	for _, e := range entries {
		if !e.IsDir() {
			out = append(out, filepath.Join(filepath.Dir(s.Path()), e.Name()))
		}
	}
	return out
}

// lived has something written into every column that holds contents, and all of
// it over: decided, let through, reported, expired, answered, told.
func lived(t *testing.T, w *outsideWorld, n *secrets) {
	t.Helper()
	ctx := t.Context()
	step := func() { w.Clock.Step(time.Second) }
	decide := func(a *models.Approval, in models.DecisionInput) *models.Approval {
		t.Helper()
		step()
		in.Digest = a.Digest
		out, err := w.Decide(ctx, w.Owner, a.ID, in)
		storetest.Must(t, err)
		return out
	}
	key := func(name string) string { return n.name + "/" + name }
	ask := func(in models.AskInput) *models.Approval {
		t.Helper()
		in.Explicit = true
		if in.Kind == "" {
			in.ToolName, in.Input = "Bash", n.json("input")
		}
		in.Description, in.Context, in.Preview = n.new("description"), n.new("context"), n.new("preview")
		return w.AskFor(t, in)
	}
	conv, _, err := w.OpenRun(ctx, w.Agent, models.RunInput{RunID: key("run"), Title: n.new("title"), EnergyBudget: new(int64(500))})
	storetest.Must(t, err)
	run := models.AskInput{RunID: key("run")}

	big := ask(models.AskInput{ToolUseID: key("asked")})
	decide(big, models.DecisionInput{Approved: new(true), Reason: n.new("reason"), Input: n.json("edit")})
	decide(ask(run), storetest.No(n.new("rejection")))
	client := ask(models.AskInput{
		ToolUseID: key("client"), Protocol: models.ProtocolFunctionCalls,
		Client: models.ClientData{State: n.json("state"), RejectOptions: []models.Option{{Name: n.new("reject option"), PromptFill: n.new("prompt fill")}}},
	})
	_, err = w.Escalate(ctx, w.Agent, client.ID, n.new("escalation"))
	storetest.Must(t, err)
	options, err := client.RejectOptions()
	storetest.Must(t, err)
	decide(client, models.DecisionInput{Approved: new(false), Option: &options[0].Name})
	question := run
	question.Kind, question.Options = models.KindQuestion, []models.Option{{Name: n.new("option"), Title: n.new("option title")}, {Name: "other"}}
	decide(ask(question), models.DecisionInput{Option: &question.Options[0].Name, Reason: n.new("reason of an answer")})
	question.Options = nil
	decide(ask(question), models.DecisionInput{Answer: new(n.new("answer"))})
	w.UsePolicy(t, `{"rules":[{"name":"Payments","tools":["pay"],"effect":"require","approvals":[{"from":["admin@example.com"],"count":1}],"break_glass":["owner@example.com"]}]}`)
	broken := decide(w.AskFor(t, models.AskInput{ToolName: "pay", RunID: key("run")}), models.DecisionInput{
		Approved: new(true), BreakGlass: true, Reason: "The plant stops at noon: " + n.new("emergency"), Page: models.NoPage,
	})
	storetest.Must(t, glass.New(w.Store).Acknowledge(ctx, w.Admin, broken.Vote.ID, n.new("remark")))
	late := run
	late.TimeoutSeconds = new(int64(5))
	noted := ask(late)
	_, err = w.HandOver(ctx, w.Owner, noted.ID, w.Admin.UserID(), n.new("note of a hand-over"))
	storetest.Must(t, err)
	_, err = w.AskBack(ctx, w.Owner, noted.ID, n.new("question back"))
	storetest.Must(t, err)
	_, _, err = w.AnswerNote(ctx, w.Agent, noted.ID, n.new("note"))
	storetest.Must(t, err)
	cancelled := ask(run)
	_, err = w.Cancel(ctx, w.Agent, cancelled.ID)
	storetest.Must(t, err)

	base := w.AskFor(t, models.AskInput{ToolName: "Bash", Input: fmt.Appendf(nil, `{%q:%q}`, n.new("name of a member"), n.new("granted")), Explicit: true})
	g := w.grant(t, base, 5)
	decide(base, storetest.Yes())
	_, err = w.RevokeGrant(ctx, w.Owner, g.ID)
	storetest.Must(t, err)
	fixed := w.AskFor(t, models.AskInput{ToolName: "Bash", Input: fmt.Appendf(nil, `{%q:%q}`, n.member(), n.new("fixed")), Explicit: true})
	g = w.grant(t, fixed, 5, n.member())
	decide(fixed, storetest.Yes())
	_, err = w.RevokeGrant(ctx, w.Owner, g.ID)
	storetest.Must(t, err)

	w.Report(t, conv.ID, storetest.Reported(key("one"), "Read", string(n.json("reported"))),
		models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: n.new("said by the run")},
		models.RunEvent{Type: models.RunEventToolResult, ToolUseID: key("one"), Result: n.new("result")},
		models.RunEvent{Type: models.RunEventToolResult, ToolUseID: key("early"), Result: n.new("early result")})
	proposal, err := w.Respond(ctx, w.Agent, models.ResponseInput{ConversationID: conv.ID, Kind: models.KindProposal, Content: n.new("proposal")})
	storetest.Must(t, err)
	decide(proposal, storetest.No(n.new("no to a proposal")))
	_, err = w.Respond(ctx, w.Agent, models.ResponseInput{ConversationID: conv.ID, Kind: models.KindReply, Content: n.new("reply")})
	storetest.Must(t, err)
	_, err = w.Say(ctx, w.Owner, models.MessageInput{ConversationID: conv.ID, Content: n.new("message")})
	storetest.Must(t, err)
	_, err = w.ChangeBudget(ctx, w.Owner, conv.ID, models.BudgetChange{Set: new(int64(900))}, n.new("budget"))
	storetest.Must(t, err)

	item := storetest.Call(key("outside"), "", "order", string(n.json("outside")))
	item.Raw, item.Rest = n.json("raw"), n.json("beside")
	out := w.Taken(t, item)
	w.Vote(t, out, models.DecisionInput{Approved: new(true), Reason: n.new("outside reason")})
	w.Deliver(t, out, models.DeliveryTaken)
	asked := storetest.Contact(key("contact"), "", n.new("contact"))
	asked.Raw = n.json("raw contact")
	person := w.Taken(t, asked)
	w.Vote(t, person, models.DecisionInput{Answer: new(n.new("outside answer"))})
	w.Deliver(t, person, models.DeliveryTaken)

	db := storetest.Beside(t, w.Store)
	db.SetMaxOpenConns(1)
	if !dbtest.OnPostgres() {
		_, err = db.ExecContext(ctx, `PRAGMA secure_delete = ON`)
		storetest.Must(t, err)
	}
	for _, write := range []struct {
		query string
		args  []any
	}{
		{`UPDATE deliveries SET problem = ? WHERE response_id = ?`, []any{n.new("problem"), out}},
		{`INSERT INTO withdrawals (vote_id, response_id, at, kind, by_name, status, said) SELECT id, response_id, ?, 'refused', user_name, 422, ? FROM votes WHERE response_id = ? LIMIT 1`, []any{w.Clock.Now(), n.new("refused"), out}},
		{`UPDATE responses SET contradiction = ? WHERE id = ?`, []any{n.new("contradiction"), out}},
		{`INSERT INTO turns (conversation_id, sequence, at, model, said) VALUES (?, ?, ?, 'm', ?)`, []any{conv.ID, 900, w.Clock.Now(), `{"content":"` + n.new("turn") + `","read":3}`}},
	} {
		_, err := db.ExecContext(ctx, write.query, write.args...)
		storetest.Must(t, err)
	}
	w.Clock.Step(time.Hour)
	_, err = w.ExpireDue(ctx, 100)
	storetest.Must(t, err)
	step()
}
