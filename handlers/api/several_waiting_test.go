package api_test

import (
	"testing"
)

// Without an id the latest that waits is decided; the answer says what was, and what still
// waits. With explicit_response_id that is refused where several wait, and they are listed.
func TestADecisionWithoutAnIDSaysWhatStillWaits(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(*world) (answer, string){
		"approve": func(w *world) (answer, string) {
			return w.call(w.reviewer, "POST", "/conversations/"+run+"/approve", `{}`), ""
		},
		"reject": func(w *world) (answer, string) {
			return w.call(w.reviewer, "POST", "/conversations/"+run+"/reject", `{"feedback":"no"}`), ""
		},
		"message": func(w *world) (answer, string) {
			return w.say(`{"content":"go on","id":"` + run + `","approvalResponse":{"approved":true}}`), "approval."
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var ids []string
			for _, content := range []string{"one", "two", "three"} {
				a := w.respond(`{"kind":"proposal","content":"` + content + `"}`)
				ids = append(ids, a.text("responseId"))
			}
			call := w.ask(`{"conversationId":"` + run + `","toolName":"deploy","input":{}}`)
			list := w.call(w.agent, "GET", "/conversations/"+run+"/approvals", "")
			for _, one := range list.entries("approvals") {
				if want := one.text("kind") == "proposal"; one.at("decidableHere") != any(want) {
					t.Errorf("%s: decidableHere is %v", one.text("kind"), one.at("decidableHere"))
				}
			}

			w.policy(`{"explicit_response_id":true}`)
			got, under := decide(w)
			got.want(t, 409, map[string]any{"code": "several_waiting"})
			wantWaiting(t, got, "waiting", ids[2], ids[1], ids[0])

			w.policy(`{"explicit_response_id":false}`)
			got, _ = decide(w)
			got.want(t, got.status, map[string]any{under + "responseId": ids[2]})
			if got.status >= 300 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			wantWaiting(t, got, under+"stillWaiting", ids[1], ids[0])
			decide(w)
			w.policy(`{"explicit_response_id":true}`)
			got, _ = decide(w) // the only one
			got.want(t, got.status, map[string]any{under + "responseId": ids[0], under + "stillWaiting": nil})
			list = w.call(w.agent, "GET", "/conversations/"+run+"/approvals", "")
			for _, one := range list.entries("approvals") {
				if one.text("id") != call && one.at("decidableHere") != nil {
					t.Errorf("what is settled says decidableHere: %v", one.at("decidableHere"))
				}
			}
		})
	}
}

func wantWaiting(t *testing.T, a answer, member string, ids ...string) {
	t.Helper()
	list, _ := a.at(member).([]any)
	if len(list) != len(ids) {
		t.Fatalf("%s is %v, want %v", member, a.at(member), ids)
	}
	for i, one := range list {
		if o, _ := one.(map[string]any); o["responseId"] != ids[i] || o["kind"] != "proposal" {
			t.Errorf("%s[%d] is %v, want %s", member, i, one, ids[i])
		}
	}
}
