package conversations_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages/conversations"
	"countersign/views/pages/pagestest"
)

// Every error of a message is shown once.
func TestTheComposerShowsEachErrorOnce(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"", "content", "title"} {
		in := gallery.ConversationInput()
		in.Say = conversations.SayForm{Sent: true, Errors: map[string]string{field: "is not as wanted"}}
		html := pagestest.Draw(t, conversations.Page(gallery.Frame("x", "/"), conversations.New(in, gallery.Now)))
		if n := strings.Count(html, "is not as wanted"); n != 1 {
			t.Errorf("the error of %q is shown %d times", field, n)
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
			c.PausedAt = &gallery.Now
		}
		h := conversations.NewHead(&c, conversations.RenameForm{}, gallery.Now)
		if h.MayPause != tt.pause || h.MayResume != tt.resume || h.MayStop != tt.stop || h.NoTitle == "" {
			t.Errorf("%s, paused %v: %+v", tt.status, tt.paused, h)
		}
	}
}

// A long message is folded, and all of it is there.
func TestALongMessageIsFolded(t *testing.T) {
	t.Parallel()
	c := gallery.Conversation("x")
	long := strings.Repeat("äb", 5000)
	e := models.HistoryEntry{Sequence: 1, At: gallery.Now, Message: &models.Message{AuthorKind: models.ActorUser, AuthorName: "Ada", Content: long}}
	v := conversations.NewHistoryEntry(&c, &e, conversations.HistoryAround{}, gallery.Now)
	if v.Text+v.Rest != long || v.Rest == "" || strings.ContainsRune(v.Text, '\uFFFD') {
		t.Errorf("%d and %d bytes of %d", len(v.Text), len(v.Rest), len(long))
	}
}
