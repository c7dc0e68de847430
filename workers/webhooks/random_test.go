package webhooks_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/storetest"
)

// Whatever is refused, paused, skipped, replayed and restarted, and in which order: in the end
// every event of every conversation was accepted or skipped, each for the first time in order,
// and nothing counts as sent that was not.
func TestEveryEventComesInOrderWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p, r := newPlace(t), newReceiver(t)
		defer r.Close()
		in := models.WebhookInput{Types: []string{"approval.requested", "approval.approved", "conversation.opened"}}
		if rapid.Bool().Draw(rt, "all types") {
			in.Types = nil
		}
		h := p.add(t, r, in)
		var mu sync.Mutex
		refuse := map[string]int{} // by stream
		r.set(func(e event) int {
			mu.Lock()
			defer mu.Unlock()
			if status, ok := refuse[e.stream()]; ok {
				return status
			}
			return http.StatusOK
		})
		p.runs(t)
		defer func() { p.stop() }()
		streams := map[string]string{} // by run
		skipped := map[int64]bool{}
		n := 0
		rt.Repeat(map[string]func(*rapid.T){
			"ask": func(rt *rapid.T) {
				run := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "run")
				n++
				a := p.ask(t, run, fmt.Sprint("call ", n))
				mu.Lock()
				defer mu.Unlock()
				streams[run] = string(a.ConversationID)
			},
			"refuse": func(rt *rapid.T) {
				run := rapid.SampledFrom([]string{"a", "b", "c", "d", ""}).Draw(rt, "run")
				mu.Lock()
				defer mu.Unlock()
				refuse[streams[run]] = rapid.SampledFrom([]int{400, 404, 500, 503, 302}).Draw(rt, "status")
			},
			"allow": func(*rapid.T) {
				mu.Lock()
				defer mu.Unlock()
				clear(refuse)
			},
			"time": func(*rapid.T) {
				p.clock.Step(models.WebhookLongPause)
				p.Bus().Publish(events.Webhooks)
			},
			"clock set back": func(*rapid.T) { p.clock.Step(-time.Hour) },
			"rotate": func(*rapid.T) {
				key, err := p.Webhooks.Rotate(t.Context(), p.admin, h.ID)
				storetest.Must(t, err)
				r.key(t, key) // what is on its way is refused, and comes again
			},
			"retry":  func(*rapid.T) { _ = p.Webhooks.RetryNow(t.Context(), p.admin, h.ID) },
			"pause":  func(*rapid.T) { storetest.Must(t, p.Webhooks.Pause(t.Context(), p.admin, h.ID)) },
			"resume": func(*rapid.T) { storetest.Must(t, p.Webhooks.Resume(t.Context(), p.admin, h.ID)) },
			"skip": func(*rapid.T) {
				blocks, err := p.Webhooks.Blocks(t.Context(), p.admin, h.ID)
				storetest.Must(t, err)
				if len(blocks) == 0 {
					return
				}
				err = p.Webhooks.Skip(t.Context(), p.admin, h.ID, blocks[0].Seq, "no reason")
				if models.ErrorCode(err) == models.CodeConflict {
					return // it was accepted meanwhile
				}
				storetest.Must(t, err)
				skipped[blocks[0].Seq] = true
			},
			"replay": func(rt *rapid.T) {
				to := p.state(t, h.ID).Cursor
				if to <= h.Cursor {
					return
				}
				err := p.Webhooks.Replay(t.Context(), p.admin, h.ID, models.WebhookFrom{Seq: rapid.Int64Range(h.Cursor+1, to).Draw(rt, "from")})
				if err != nil && models.ErrorCode(err) != models.CodeInvalid { // the cursor may be elsewhere by now
					rt.Fatal(err)
				}
			},
			"restart": func(*rapid.T) {
				p.stop()
				p.runs(t)
			},
			"look": func(rt *rapid.T) { // nothing counts as sent that was not
				state := p.state(t, h.ID)
				blocks, err := p.Webhooks.Blocks(t.Context(), p.admin, h.ID)
				storetest.Must(t, err)
				from := map[string]int64{}
				for _, b := range blocks {
					from[b.Stream] = b.Seq
				}
				came := map[int64]bool{}
				for _, e := range r.got() {
					came[e.Data.Sequence] = true
				}
				for stream, numbers := range p.wanted(t, h.Cursor, func(e models.Entry) bool { return state.Wants(e.Action) }) {
					for _, seq := range numbers {
						if blocked, ok := from[stream]; seq <= state.Cursor && (!ok || seq < blocked) && !came[seq] && !skipped[seq] {
							rt.Errorf("entry %d of %q was not accepted, and the cursor is %d", seq, stream, state.Cursor)
						}
					}
				}
			},
		})
		mu.Lock()
		clear(refuse)
		mu.Unlock()
		storetest.Must(t, p.Webhooks.Resume(t.Context(), p.admin, h.ID))
		storetest.Must(t, p.Webhooks.RetryNow(t.Context(), p.admin, h.ID))
		r.await(t, "all is sent", func() bool { s := p.state(t, h.ID); return s.Behind == 0 && s.BlockCount == 0 })
		p.stop()
		want := p.wanted(t, h.Cursor, func(e models.Entry) bool {
			return !skipped[e.Seq] && (len(in.Types) == 0 || slices.Contains(in.Types, e.Action))
		})
		checkOrder(t, want, slices.DeleteFunc(r.got(), func(e event) bool { return skipped[e.Data.Sequence] }))
		if t.Failed() {
			rt.Fatal("see above")
		}
	})
}
