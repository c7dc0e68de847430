package conversation_test

import (
	"io"
	"net/http"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/requests"
	"countersign/models/runs"
	"countersign/models/storetest"
)

// BenchmarkConversation is the page of a conversation of 10,000 entries over
// HTTP, signed in: at its end, in its middle, and what came since.
func BenchmarkConversation(b *testing.B) {
	w := webtest.New(b)
	storetest.Seed(b, w.Store, w.Agent, storetest.Rows{Settled: 9_940})
	list, err := w.Store.Requests.Conversations(b.Context(), w.Owner, requests.ConversationQuery{})
	if err != nil || len(list.Items) != 1 {
		b.Fatalf("%d conversations, %v", len(list.Items), err)
	}
	id := list.Items[0].ID
	w.Budget(id, 1_000_000)
	for range 29 {
		w.Respond(id, models.KindReply, "# Report\n\nI looked at **/var/log/app**:\n\n- 12 files older than 30 days\n- 3 GB in all\n", 3)
		if _, err := runs.New(w.Store).Say(b.Context(), w.Owner, models.MessageInput{ConversationID: id, Content: "Please go on."}); err != nil {
			b.Fatal(err)
		}
	}
	w.Proposes(id, "Delete **11 files** older than 30 days from `/var/log/app`.", 2_000_000)
	reader := w.SignIn(webtest.OwnerEmail)
	path := webtest.ConversationPath(id)
	for name, at := range map[string]string{"end": path, "middle": path + "?before=5000", "budget": path + "/budget"} {
		b.Run("at="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				resp, err := reader.HTTP.Get(w.URL + at)
				if err != nil {
					b.Fatal(err)
				}
				n, err := io.Copy(io.Discard, resp.Body)
				if err != nil || resp.StatusCode != http.StatusOK {
					b.Fatalf("status %d, %v", resp.StatusCode, err)
				}
				b.SetBytes(n)
				resp.Body.Close()
			}
		})
	}
}
