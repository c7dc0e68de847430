package api_test

import (
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"
)

// I9: the same response sent again is the same response.
func TestI9ARepeatedResponseIsTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reply, proposal := `{"kind":"reply","content":"hello","energy":3,"responseId":"`+uuid+`1"}`, `{"kind":"proposal","content":"may I?","responseId":"`+uuid+`2"}`
	w.respond(reply).want(t, 200, map[string]any{"sequence": jsonNumber("1")})
	w.respond(proposal).want(t, 202, map[string]any{"sequence": jsonNumber("2")})
	w.unchanged("a repeat", func() {
		w.respond(reply).want(t, 200, map[string]any{"responseId": uuid + "1", "sequence": jsonNumber("1")})
		w.respond(proposal).want(t, 202, map[string]any{"responseId": uuid + "2", "status": "pending"})
		w.respond(strings.Replace(reply, `"energy":3`, `"energy":9,"modelUsed":"other"`, 1)).want(t, 200, map[string]any{"energy": jsonNumber("3"), "modelUsed": ""})
		for name, body := range map[string]string{
			"another text": strings.Replace(reply, "hello", "goodbye", 1), "another kind": strings.Replace(reply, "reply", "proposal", 1),
			"another's text": strings.Replace(proposal, uuid+"2", uuid+"1", 1),
		} {
			got := w.respond(body)
			got.want(t, 409, map[string]any{"code": "key_conflict", "approval.responseId": uuid + "1"})
			if t.Failed() {
				t.Fatal(name)
			}
		}
		w.call(w.agent, "POST", "/conversations/"+uuid+"b/responses", reply).want(t, 409, map[string]any{"code": "key_conflict"})
		w.call(w.foreign, "POST", "/conversations/"+uuid+"c/responses", reply).want(t, 409, map[string]any{"code": "id_taken", "approval": nil})
		w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"rm","approvalId":"`+uuid+`1"}`).want(t, 409, map[string]any{"code": "key_conflict"})
	})
	w.call(w.reviewer, "POST", "/conversations/"+run+"/reject", `{"feedback":"no"}`).want(t, 200, nil)
	w.unchanged("a repeat of what was settled", func() {
		w.respond(proposal).want(t, 200, map[string]any{"status": "rejected", "decision.reason": "no", "cause": "reviewer"})
	})
	w.stands().want(t, 200, map[string]any{"budget.used": jsonNumber("4")}) // rejected work stays spent
}

// I5 and I6: the decider is the token's person, and what was seen is what is
// released.
func TestI6WhatWasSeenIsWhatIsApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"grave","tools":["respond_with_approval"],"effect":"require","risk":"critical"}]}`)
	proposal := w.propose("Delete everything")
	id, digest := proposal.text("responseId"), proposal.text("digest")
	wrong := strings.Repeat("0", 64)
	message := func(member string) string {
		return `{"content":"x","id":"` + run + `","approvalResponse":{"approved":true` + member + `}}`
	}
	w.unchanged("what was not seen", func() {
		refused := w.say(message(``))
		refused.want(t, 422, map[string]any{"code": "digest_required"})
		if errs := refused.entries("errors"); len(errs) != 1 || errs[0].text("field") != "approvalResponse.digest" {
			t.Errorf("named %v", refused.at("errors"))
		}
		w.call(w.reviewer, "POST", "/conversations/"+run+"/approve", `{}`).want(t, 422, map[string]any{"code": "digest_required"})
		got := w.say(message(`,"digest":"` + wrong + `"`))
		got.want(t, 409, map[string]any{"code": "digest_mismatch", "approval.responseId": id, "approval.digest": digest, "approval.content": "Delete everything", "approval.status": "pending"})
	})
	w.call(w.admin, "POST", "/message", message(`,"digest":"`+digest+`"`)).want(t, 202, map[string]any{"approval.responseId": id, "approval.status": "approved"})
	w.call(w.agent, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{"decision.by.id": w.adminAs.ID, "decision.by.name": w.adminAs.Name})
	settled := w.stands()
	w.unchanged("a second verdict", func() {
		for path, body := range map[string]string{
			"/message": message(`,"responseId":"` + id + `","newBudget":5`), "/conversations/" + run + "/reject": `{"responseId":"` + id + `"}`,
			"/conversations/" + run + "/approve": `{"responseId":"` + id + `","digest":"` + digest + `","newBudget":5}`,
		} {
			w.call(w.reviewer, "POST", path, body).want(t, 409, map[string]any{
				"code": "already_decided", "approval.status": "approved", "approval.responseId": id, "approval.decision.by.name": w.adminAs.Name,
			})
		}
		w.say(message(``)).want(t, 409, map[string]any{"code": "no_pending_approval"})
	})
	if now := w.stands(); now.body != settled.body {
		t.Errorf("the conversation changed: %s", now.body)
	}
}

// An outside agent waits at the history for what a person says.
func TestAnAgentWaitsForMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.respond(`{"kind":"reply","content":"ready"}`).want(t, 200, map[string]any{"sequence": jsonNumber("1")})
	path := "/conversations/" + run + "?after=1&wait="
	w.call(w.agent, "GET", path+"5ms", "").want(t, 200, map[string]any{"after": jsonNumber("1"), "status": "running"})
	heard := make(chan answer, 1)
	go func() {
		a, err := w.try(w.agent, "GET", path+"50s", "", "")
		if err != nil {
			a.body = err.Error()
		}
		heard <- a
	}()
	w.asleep()
	w.say(`{"content":"go on","id":"`+run+`"}`).want(t, 202, map[string]any{"status": "running", "approval": nil})
	got := <-heard
	got.want(t, 200, map[string]any{"after": jsonNumber("2")})
	if entries := got.entries("entries"); len(entries) != 1 || entries[0].text("message.content") != "go on" {
		t.Errorf("the agent heard %s", got.body)
	}
	w.call(w.agent, "GET", "/conversations/"+run+"?after=0&wait=50s", "").want(t, 200, map[string]any{"after": jsonNumber("2")})
}

// asleep returns once somebody waits for a history.
func (w *world) asleep() {
	w.tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	stacks := make([]byte, 8<<20)
	for !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*Store).AwaitHistory(") {
		select {
		case <-tick.C:
		case <-deadline.C:
			w.tb.Fatal("nobody waits for a history")
		}
	}
}

func (w *world) revokeAgent() {
	w.tb.Helper()
	actor, err := w.store.People.AuthenticateToken(w.tb.Context(), w.agent)
	if err == nil {
		err = w.store.People.RevokeToken(w.tb.Context(), w.adminAs, actor.TokenID)
	}
	if err != nil {
		w.tb.Fatal(err)
	}
}

func TestWaitsForMessagesEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		end    func(*world)
		status int
		retry  string
	}{
		{"when the token is revoked", func(w *world) { w.revokeAgent() }, 401, ""},
		{"when the server stops", func(w *world) { w.store.EndWaits() }, 200, "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.respond(`{"kind":"reply","content":"ready"}`).want(t, 200, nil)
			heard := make(chan answer, 1)
			go func() {
				a, err := w.try(w.agent, "GET", "/conversations/"+run+"?after=1&wait=50s", "", "")
				if err != nil {
					a.body = err.Error()
				}
				heard <- a
			}()
			w.asleep()
			tt.end(w)
			(<-heard).wantRetry(t, tt.status, tt.retry)
		})
	}
}

// The read deadline of a body that came before on the same connection must not
// end a wait.
func TestAWaitForMessagesOutlastsTheBodysDeadline(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for longer than a body may take")
	}
	w := newWorld(t)
	w.respond(`{"kind":"reply","content":"ready"}`).want(t, 200, nil)
	const wait = 12 * time.Second
	start := time.Now()
	got := w.call(w.agent, "GET", "/conversations/"+run+"?after=1&wait="+wait.String(), "")
	got.want(t, 200, map[string]any{"after": jsonNumber("1")})
	if took := time.Since(start); took < wait || len(got.entries("entries")) != 0 {
		t.Errorf("the wait ended after %v: %s", took, got.body)
	}
}

func TestConversationsArePaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const many = 7
	for i := range many {
		id := fmt.Sprintf("0190f5a0-0000-7000-8000-0000000001%02d", i)
		w.call(w.agent, "POST", "/conversations/"+id+"/responses", `{"kind":"reply","content":"hello"}`).want(t, 200, nil)
		w.clock.Step(time.Minute)
	}
	var got []string
	for cursor := ""; ; {
		page := w.call(w.reviewer, "GET", "/conversations?limit=3&cursor="+url.QueryEscape(cursor), "")
		page.want(t, 200, nil)
		for _, c := range page.entries("conversations") {
			got = append(got, c.text("id")[34:])
		}
		if cursor = page.text("next"); cursor == "" {
			break
		}
	}
	if want := "06 05 04 03 02 01 00"; strings.Join(got, " ") != want {
		t.Errorf("listed %s, want %s", strings.Join(got, " "), want)
	}
	w.propose("waits")
	for status, want := range map[string]int{"waiting_input": 1, "running": many, "completed": 0, "failed": 0} {
		if n := len(w.call(w.reviewer, "GET", "/conversations?status="+status, "").entries("conversations")); n != want {
			t.Errorf("%d are %s, want %d", n, status, want)
		}
	}
	if n := len(w.call(w.admin, "GET", "/conversations?archived=true", "").entries("conversations")); n != 0 {
		t.Errorf("%d are archived, want 0", n)
	}
}

func TestAHistoryIsPaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const many = 9
	for i := range many {
		w.propose(fmt.Sprintf("number %d", i+1))
	}
	path := "/conversations/" + run
	last := w.call(w.agent, "GET", path+"?limit=4", "")
	last.want(t, 200, map[string]any{"before": jsonNumber("6"), "after": jsonNumber("9")})
	middle := w.call(w.agent, "GET", path+"?limit=4&before=6", "")
	first := w.call(w.agent, "GET", path+"?limit=4&before="+middle.at("before").(interface{ String() string }).String(), "")
	first.want(t, 200, map[string]any{"before": nil})
	var back []string
	for _, page := range []answer{first, middle, last} {
		for _, e := range page.entries("entries") {
			back = append(back, e.text("response.content")[len("number "):])
		}
	}
	var on []string
	for after := "0"; ; {
		page := w.call(w.agent, "GET", path+"?limit=4&after="+after, "")
		if len(page.entries("entries")) == 0 {
			page.want(t, 200, map[string]any{"after": jsonNumber("9")})
			break
		}
		for _, e := range page.entries("entries") {
			on = append(on, e.text("response.content")[len("number "):])
		}
		after = page.at("after").(interface{ String() string }).String()
	}
	if want := "1 2 3 4 5 6 7 8 9"; strings.Join(back, " ") != want || strings.Join(on, " ") != want {
		t.Errorf("backwards %v, onwards %v, want %s", back, on, want)
	}
	var listed []string
	for cursor := ""; ; {
		page := w.call(w.agent, "GET", path+"/approvals?limit=4&cursor="+url.QueryEscape(cursor), "")
		page.want(t, 200, map[string]any{"requestId": run})
		for _, a := range page.entries("approvals") {
			listed = append(listed, a.text("content")[len("number "):])
		}
		if cursor = page.text("next"); cursor == "" {
			break
		}
	}
	if want := "9 8 7 6 5 4 3 2 1"; strings.Join(listed, " ") != want {
		t.Errorf("approvals %v, want %s", listed, want)
	}
}
