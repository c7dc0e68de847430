package humanlayer_test

import (
	"strings"
	"testing"

	"countersign/models/storetest"
)

func TestCredentialsInAChannelAreDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const secret = "xoxb-1234-SECRET"
	const channel = `{"slack":{"channel_or_user_id":"C123","bot_token":"` + secret + `","thread_ts":"1700000000.000100","blocks":[{"Api-Key":"` + secret + `","n":9007199254740993}]},"email":{"address":"a@example.test","SMTP_PASSWORD":{"x":"` + secret + `"}}}`
	body := `{"run_id":"r","call_id":"c1","spec":{"fn":"f","kwargs":{},"channel":` + channel + `}}`
	got := w.call(w.agent, "POST", "/function_calls", body).want(t, 200, map[string]any{"spec.channel.slack.channel_or_user_id": "C123", "spec.channel.slack.bot_token": nil})
	for _, want := range []string{
		`"dropped":["spec.channel.slack.bot_token","spec.channel.slack.blocks[].Api-Key","spec.channel.email.SMTP_PASSWORD"]`,
		`"channel":{"slack":{"channel_or_user_id":"C123","thread_ts":"1700000000.000100","blocks":[{"n":9007199254740993}]},"email":{"address":"a@example.test"}}`,
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("%s\nis not in %s", want, got.body)
		}
	}
	w.call(w.agent, "POST", "/contact_requests", `{"call_id":"c2","spec":{"msg":"?","channel":`+channel+`}}`).want(t, 200, nil)
	w.call(w.agent, "POST", "/agent/function_calls/c1/escalate_email", `{"escalation_msg":"look","channel":`+channel+`}`).want(t, 200, nil)
	// Nor in what is refused.
	w.call(w.agent, "POST", "/function_calls", `{"call_id":"c3","spec":{"fn":"","channel":`+channel+`}}`).want(t, 422, nil)
	if strings.Contains(got.body, secret) || strings.Contains(storetest.Dump(t, w.store), secret) || strings.Contains(w.log.String(), secret) {
		t.Error("the credential was kept")
	}
}

// A credential is dropped whatever its member is called.
func TestCredentialsAreKnownByWhatTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const channel = `{"slack":{"channel_or_user_id":"https:\/\/hooks.slack.com/services/T0/B0/HIDDEN","incoming_webhook":{"url":"HIDDEN"},"allowed_responder_ids":["U1","xoxp-HIDDEN","U2"]},"email":{"address":"xoxb-is@example.test"}}`
	got := w.call(w.agent, "POST", "/function_calls", `{"call_id":"c1","spec":{"fn":"f","channel":`+channel+`}}`).want(t, 200, nil)
	for _, want := range []string{
		`"dropped":["spec.channel.slack.channel_or_user_id","spec.channel.slack.incoming_webhook","spec.channel.slack.allowed_responder_ids[]","spec.channel.email.address"]`,
		`"channel":{"slack":{"allowed_responder_ids":["U1","U2"]},"email":{}}`,
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("%s\nis not in %s", want, got.body)
		}
	}
	if strings.Contains(got.body, "HIDDEN") || strings.Contains(storetest.Dump(t, w.store), "HIDDEN") {
		t.Error("a credential was kept")
	}
}

func TestEscalationIsForThoseWhoDecide(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ask("c1")
	w.contact("q1")
	const body = `{"escalation_msg":"Please look.","additional_recipients":[{"address":"evil@example.test","field":"to"}]}`
	escalate := func(token, kind, id, body string) answer {
		return w.call(token, "POST", "/agent/"+kind+"/"+id+"/escalate_email", body)
	}
	for range 2 { // the second is a repeat
		got := escalate(w.agent, "function_calls", "c1", body).want(t, 200, map[string]any{"call_id": "c1", "status.approved": nil})
		if !strings.Contains(got.body, `"dropped":["additional_recipients"]`) {
			t.Errorf("it does not say that nobody else is told: %s", got.body)
		}
	}
	escalate(w.agent, "human_contacts", "q1", body).want(t, 200, map[string]any{"call_id": "q1"})
	notes, err := w.store.Notes(t.Context(), w.owner, idOf(made))
	storetest.Must(t, err)
	if len(notes) != 1 || !notes[0].Escalates || notes[0].Content != "Please look." {
		t.Errorf("notes are %+v", notes)
	}
	a, err := w.store.Requests.Approval(t.Context(), w.owner, idOf(made))
	storetest.Must(t, err)
	if a.EscalatedAt == nil || a.OpenNote != nil {
		t.Errorf("escalated at %v, open note %v", a.EscalatedAt, a.OpenNote)
	}
	if strings.Contains(storetest.Dump(t, w.store), "evil@example.test") {
		t.Error("whom the agent named was kept")
	}

	escalate(w.agent, "function_calls", "c1", `{"escalation_msg":" "}`).want(t, 422, nil)
	escalate(w.agent, "function_calls", "q1", body).want(t, 404, nil)
	escalate(w.second, "function_calls", "c1", body).want(t, 404, nil)
	escalate(w.reviewer, "function_calls", "c1", body).want(t, 403, nil)
	w.call(w.reviewer, "POST", "/agent/function_calls/c1/respond", `{"approved":true}`).want(t, 200, nil)
	escalate(w.agent, "function_calls", "c1", `{"escalation_msg":"Again."}`).want(t, 409, map[string]any{"error.code": "already_decided"})
	storetest.CheckRows(t, w.store)
}
