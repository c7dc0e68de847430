package pages_test

import (
	"strconv"
	"strings"
	"testing"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages"
)

// The composer decides the most recent proposal or budget request that is on the
// page, and never anything else.
func TestComposerTarget(t *testing.T) {
	t.Parallel()
	c := gallery.Conversation("Old logs")
	c.NextSequence = 100
	at := func(a models.Approval, sequence int64) models.Approval {
		a.Sequence = sequence
		a.ID = models.ResponseID("01890a5d-ac96-774b-bcce-b302099a8" + strconv.FormatInt(100+sequence, 10))
		return a
	}
	held := at(gallery.Proposal(9, "held"), 95)
	held.HeldUntil = &now
	wants := at(gallery.Proposal(9, "wants"), 92)
	wants.EnergyBudget = new(int64(70))
	for _, tt := range []struct {
		name    string
		waiting []models.Approval
		want    string // its number; empty: none
		mode    string
	}{
		{"nothing", nil, "", ""},
		{"a tool call", []models.Approval{at(gallery.Shell(), 99)}, "", ""},
		{"a question", []models.Approval{at(gallery.Question(), 99)}, "", ""},
		{"the most recent", []models.Approval{at(gallery.Shell(), 99), at(gallery.Proposal(9, "new"), 98), at(gallery.Proposal(9, "old"), 97)}, "98", ""},
		{"a budget request", []models.Approval{at(gallery.BudgetRequest(9, 70), 98), at(gallery.Proposal(9, "old"), 97)}, "98", ""},
		{"not what is held", []models.Approval{held, wants}, "92", pages.BudgetGrant},
		{"the last that may be on the page", []models.Approval{at(gallery.Proposal(9, "x"), 50)}, "50", ""},
		{"not what may be on an earlier page", []models.Approval{at(gallery.Proposal(9, "x"), 49)}, "", ""},
	} {
		v := pages.NewComposer(&c, tt.waiting, pages.SayForm{})
		got := ""
		if v.Target != nil {
			got = v.Target.Sequence
		}
		if got != tt.want || v.Form.Mode != tt.mode {
			t.Errorf("%s: %q with %q, want %q with %q", tt.name, got, v.Form.Mode, tt.want, tt.mode)
		}
	}
}

// What was sent stays as it was sent, as far as it can still be meant.
func TestComposerKeepsWhatWasSent(t *testing.T) {
	t.Parallel()
	c := gallery.Conversation("Old logs")
	waits := gallery.Proposal(12, "x")
	waits.EnergyBudget = new(int64(70))
	sent := pages.SayForm{Sent: true, Response: string(waits.ID), Digest: waits.Digest, Content: "hello", Decision: models.VerdictApprove, Mode: pages.BudgetGrant, Amount: "80"}
	if v := pages.NewComposer(&c, []models.Approval{waits}, sent); v.Form.Amount != "80" || v.Form.Decision != models.VerdictApprove || v.Form.Mode != pages.BudgetGrant || !v.Kept {
		t.Errorf("%+v", v.Form)
	}
	if v := pages.NewComposer(&c, nil, sent); v.Form.Content != "hello" || v.Form.Decision != "" || v.Form.Mode != pages.BudgetLeave {
		t.Errorf("with nothing to decide: %+v", v.Form)
	}
	c.EnergyBudget = nil
	sent.Mode = pages.BudgetStep
	if v := pages.NewComposer(&c, nil, sent); v.Form.Mode != pages.BudgetLeave {
		t.Errorf("a step from no budget: %+v", v.Form)
	}
	for _, field := range []string{"", "content", "decision", "reason", "budget", "approved"} {
		for _, waiting := range [][]models.Approval{nil, {waits}} {
			in := gallery.ConversationInput()
			in.Waiting, in.Say = waiting, pages.SayForm{Sent: true, Errors: map[string]string{field: "is not as wanted"}}
			html := draw(t, pages.ConversationPage(gallery.Frame("x", "/"), pages.NewConversation(in, now)))
			if n := strings.Count(html, "is not as wanted"); n != 1 {
				t.Errorf("the error of %q is shown %d times", field, n)
			}
		}
	}
}

func TestConversationHeadOffersWhatCanBeDone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status              models.ConversationStatus
		paused              bool
		pause, resume, stop bool
	}{
		{models.ConversationRunning, false, true, false, true},
		{models.ConversationWaitingInput, false, true, false, true},
		{models.ConversationWaitingInput, true, false, true, true},
		{models.ConversationCompleted, false, false, false, false},
		{models.ConversationFailed, true, false, true, false},
	} {
		c := gallery.Conversation("")
		if c.Status = tt.status; tt.paused {
			c.PausedAt = &now
		}
		h := pages.NewConversationHead(&c, pages.RenameForm{}, now)
		if h.MayPause != tt.pause || h.MayResume != tt.resume || h.MayStop != tt.stop || h.Untitled == "" {
			t.Errorf("%s, paused %v: %+v", tt.status, tt.paused, h)
		}
	}
}

// A long message is folded, and all of it is there.
func TestALongMessageIsFolded(t *testing.T) {
	t.Parallel()
	c := gallery.Conversation("x")
	long := strings.Repeat("äb", 5000)
	e := models.HistoryEntry{Sequence: 1, At: now, Message: &models.Message{AuthorKind: models.ActorUser, AuthorName: "Ada", Content: long}}
	v := pages.NewHistoryEntry(&c, &e, pages.HistoryAround{}, now)
	if v.Text+v.Rest != long || v.Rest == "" || strings.ContainsRune(v.Text, '\uFFFD') {
		t.Errorf("%d and %d bytes of %d", len(v.Text), len(v.Rest), len(long))
	}
}
