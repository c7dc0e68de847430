package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views/pages/webhooks"
)

// WebhookStates are endpoints in every state, the first of them well.
func WebhookStates() []models.WebhookState {
	at := func(ago time.Duration) *time.Time { t := Now.Add(-ago); return &t }
	endpoint := func(n, name string, change func(*models.WebhookState)) models.WebhookState {
		w := models.WebhookState{
			Webhook: models.Webhook{
				ID: models.WebhookID("0199a1d2-6c1e-7b1c-9f0e-3f6f3a9b2c1" + n), Name: name, Label: "https://hooks.example.com",
				OwnerID: "u1", CreatedAt: Now.Add(-72 * time.Hour), Cursor: 1842, LastAcceptedAt: at(2 * time.Minute),
			},
			Owner: "Ada Berg", Last: &webhookAnswers()[0],
		}
		if change != nil {
			change(&w)
		}
		return w
	}
	failed := &webhookAnswers()[1]
	return []models.WebhookState{
		endpoint("1", "Ledger copy", nil),
		endpoint("2", "Deploys", func(w *models.WebhookState) {
			w.Types, w.BlockCount, w.Behind, w.OldestAt, w.Last = []string{
				"approval.approved", "approval.rejected",
			}, 2, 14, at(25*time.Minute), failed
		}),
		endpoint("3", "Catching up", func(w *models.WebhookState) {
			w.Behind, w.OldestAt = 100_000, at(26*time.Hour)
		}),
		endpoint("4", "On hold", func(w *models.WebhookState) {
			w.PausedAt, w.PausedWhy, w.PausedBy, w.Behind, w.OldestAt = at(3*time.Hour), models.PausedByPerson, "Bo\u202e Lind", 1, at(2*time.Hour)
		}),
		endpoint("5", strings.Repeat("long", 24), func(w *models.WebhookState) {
			w.Label = "http://10.0.0.5:8787"
			w.PausedAt, w.PausedWhy, w.Behind, w.OldestAt, w.BlockCount, w.Last = at(time.Hour), models.PausedFailing, 5120, at(25*time.Hour), 7, failed
		}),
		endpoint("6", "<b>gone</b>", func(w *models.WebhookState) {
			w.PausedAt, w.PausedWhy, w.LastAcceptedAt, w.Last = at(time.Hour), models.PausedGone, nil, nil
		}),
	}
}

func webhookAnswers() []models.WebhookAnswer {
	return []models.WebhookAnswer{
		{
			At: Now.Add(-2 * time.Minute), Seq: 1842, Type: "approval.approved", Attempt: 1, Took: 38 * time.Millisecond,
			Class: models.SendSent, Status: 204,
		},
		{
			At: Now.Add(-3 * time.Minute), Seq: 1790, Type: "approval.rejected", Attempt: 9, Took: 412 * time.Millisecond,
			Class: models.SendUnavailable, Status: 503,
			Body: []byte("<script>alert(1)</script> \u202Eno database"),
		},
		{
			At: Now.Add(-4 * time.Minute), Seq: 1790, Type: "approval.rejected", Attempt: 8, Took: 15 * time.Second,
			Class: models.SendTimeout,
		},
		{
			At: Now.Add(-time.Hour), Seq: 1611, Type: "conversation.opened", Attempt: 1, Took: 3 * time.Millisecond,
			Class: models.SendRedirect, Status: 302,
		},
	}
}

func webhooksStates() []State {
	frame := Frame("Webhooks", "/system")
	list := func(name, note string, all []models.WebhookState) State {
		return State{
			Page: "webhooks", Name: name, Note: note,
			Component: webhooks.Page(frame, webhooks.New(webhooks.Input{Webhooks: all}, Now)),
		}
	}
	form := func(name, note string, in webhooks.FormInput) State {
		return State{Page: "webhooks", Name: name, Note: note, Component: webhooks.FormPage(frame, webhooks.NewForm(in))}
	}
	return []State{
		list(Usual, "Endpoints in every state", WebhookStates()),
		list("one", "One that is well", WebhookStates()[:1]),
		list("empty", "No endpoint yet", nil),
		form("new", "The form that adds one", webhooks.FormInput{Hosts: 1, Form: webhooks.Form{All: true}}),
		form("no-hosts", "No host is allowed yet", webhooks.FormInput{Form: webhooks.Form{All: true}}),
		form("refused", "What was typed stays, but for the address", webhooks.FormInput{Hosts: 1, Form: webhooks.Form{
			Name: "Ledger <copy>", Types: []string{"token.added"}, Inputs: true,
			Errors: map[string]string{
				"name": "is taken by another webhook", "url": "must be on an allowed host",
				"types": "must be at least one kind, or all",
			},
		}}),
		form("change", "The form of one that there is", webhooks.FormInput{
			ID: WebhookStates()[1].ID, Label: "https://hooks.example.com",
			Form: webhooks.Form{Name: "Deploys", Types: []string{"approval.approved", "token.added", "token.revoked"}},
		}),
	}
}

func webhookStates() []State {
	frame := Frame("Webhook", "/system")
	page := func(name, note string, in webhooks.WebhookInput) State {
		return State{
			Page: "webhook", Name: name, Note: note, Component: webhooks.WebhookPage(frame, webhooks.NewWebhookPage(in, Now)),
		}
	}
	all := WebhookStates()
	answers := webhookAnswers()
	rotating := all[0]
	until := Now.Add(20 * time.Hour)
	rotating.OldKeyUntil = &until
	blocks := []models.WebhookBlock{
		{
			Stream: "c1", ConversationID: "0199a1d2-6c1e-7b1c-9f0e-3f6f3a9b2c71",
			ResponseID: "0199a1d2-6c1e-7b1c-9f0e-3f6f3a9b2c72", Seq: 1790, Type: "approval.rejected",
			Since: Now.Add(-25 * time.Minute), DueAt: Now.Add(4 * time.Minute), Attempts: 9, Class: models.SendUnavailable,
			Status: 503,
		},
		{
			Seq: 1803, Type: "token.added", Since: Now.Add(-10 * time.Minute), DueAt: Now, Attempts: 1,
			Class: models.SendTimeout,
		},
	}
	skips := []models.WebhookSkip{
		{
			ID: "1", Seq: 1402, Type: "approval.expired", At: Now.Add(-26 * time.Hour), By: "Ada Berg",
			Reason: "The receiver can't read it: <b>ticket 4711</b>\u202e", Class: models.SendRejected, Status: 422,
		},
	}
	replay := func(name, note string, in webhooks.ReplayInput) State {
		in.Webhook = all[1].Webhook
		return State{Page: "webhook", Name: name, Note: note, Component: webhooks.ReplayPage(frame, webhooks.NewReplay(in))}
	}
	return []State{
		page(Usual, "One that is well", webhooks.WebhookInput{Webhook: all[0], Answers: answers[:1]}),
		page("blocked", "Conversations wait, and some events were skipped", webhooks.WebhookInput{
			Webhook: all[1], Answers: answers, Blocks: blocks, Skips: skips, MoreSkips: "/system/webhooks/x?skips=2#skips",
		}),
		page("failing", "Paused after 24 hours of refusals",
			webhooks.WebhookInput{Webhook: all[4], Answers: answers[1:], Blocks: blocks}),
		page("barred", "Its host is not allowed",
			webhooks.WebhookInput{Webhook: all[1], Answers: answers[1:], Barred: "hooks.example.com"}),
		page("paused", "Paused by an admin", webhooks.WebhookInput{Webhook: all[3]}),
		page("gone", "It wanted no more, and nothing was ever sent", webhooks.WebhookInput{Webhook: all[5]}),
		page("secret", "Just added: the secret is shown once",
			webhooks.WebhookInput{Webhook: all[0], Secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"}),
		page("rotating", "Two secrets sign", webhooks.WebhookInput{Webhook: rotating}),
		page("tested", "A test that was refused",
			webhooks.WebhookInput{
				Webhook: all[0],
				Trial: &models.WebhookAnswer{
					Type: models.WebhookTest, Attempt: 1, Took: 9 * time.Millisecond, Class: models.SendRejected, Status: 401,
					Body: []byte("not verified"),
				},
			}),
		page("skip-refused", "A skip without a reason",
			webhooks.WebhookInput{
				Webhook: all[1], Blocks: blocks,
				Skip: webhooks.SkipForm{Seq: 1790, Error: "must say why, in at most 500 characters"},
			}),
		replay("replay", "From where events are sent again", webhooks.ReplayInput{}),
		replay("replay-count", "How many that is",
			webhooks.ReplayInput{At: "2026-11-22", Plan: &models.WebhookReplay{Seq: 1200, Entries: 1204}}),
		replay("replay-refused", "A point that is none",
			webhooks.ReplayInput{
				Entry: "yesterday", Errors: map[string]string{"seq": "must be an entry's number, or a time below"},
			}),
	}
}
