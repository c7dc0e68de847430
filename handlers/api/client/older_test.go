package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
)

// TestAnOlderServerIsAskedAgainWithoutAcceptsEdits: it refuses members that it does not know.
// Once is enough for each question, the outcome is the request's, and no other refusal is
// asked again.
func TestAnOlderServerIsAskedAgainWithoutAcceptsEdits(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusUnprocessableEntity} {
		s := newServer(t)
		var sent []bool // which requests had the member
		older := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			has := bytes.Contains(body, []byte(`"acceptsEdits"`))
			sent = append(sent, has)
			var unknown string
			switch {
			case has:
				unknown = "acceptsEdits"
			case bytes.Contains(body, []byte(`"template"`)):
				unknown = "template"
			default:
				r.Body = io.NopCloser(bytes.NewReader(body))
				s.surface.ServeHTTP(rw, r)
				return
			}
			rw.Header().Set("Content-Type", "application/problem+json")
			rw.WriteHeader(status)
			fmt.Fprintf(rw, `{"code":"invalid","detail":"x","errors":[{"field":%q,"message":"is not a member that is known here; names are matched exactly"}]}`, unknown)
		}))
		t.Cleanup(older.Close)
		c := client.New(older.URL, s.agentToken)
		req := wire.AskRequest{ToolUseID: "1", ToolName: "rm", Input: []byte(`{}`), AcceptsEdits: true}
		got, err := c.AskUntilDecided(t.Context(), req, client.WaitOptions{Connect: time.Minute, OnAnswer: func(a *wire.Approval) {
			if _, err := client.New(s.url, s.reviewerToken).Respond(t.Context(), a.ApprovalID, wire.RespondRequest{Approved: new(true)}); err != nil {
				t.Error(err)
			}
		}})
		if err != nil || got.Status != wire.StatusApproved || !got.Decision.Approved || !slices.Equal(sent, []bool{true, false, true, false}) {
			t.Errorf("%d: %+v, %v, sent %v", status, got, err, sent)
		}
		sent = nil
		req.ToolUseID, req.Template = "2", "four-eyes"
		_, err = c.Ask(t.Context(), req, 0)
		if refused, ok := errors.AsType[*client.AnswerError](err); !ok || len(refused.Fields) != 1 || refused.Fields[0].Field != "template" || !slices.Equal(sent, []bool{true, false}) {
			t.Errorf("%d: %v, sent %v", status, err, sent)
		}
	}
}
