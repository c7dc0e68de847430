package agent

import (
	"strings"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/events"
)

const (
	draftEvery = 250 * time.Millisecond // a draft is published at most this often
	maxDraft   = models.MaxContent
)

// drafts are what the model is writing in each conversation. They live as long
// as the call.
type drafts struct {
	mu    sync.Mutex
	byID  map[models.ConversationID]*draft
	bus   *events.Bus
	model string
}

type draft struct {
	text   strings.Builder
	recent bool // it was, less than draftEvery ago
	newer  bool // there is text that was not published yet
	full   bool
	pause  *time.Timer
}

func (d *drafts) init(bus *events.Bus, model string) {
	d.bus, d.model, d.byID = bus, model, make(map[models.ConversationID]*draft)
}

func (d *drafts) get(id models.ConversationID) (text, model string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := d.byID[id]
	if of == nil || of.text.Len() == 0 {
		return "", "", false
	}
	return of.text.String(), d.model, true
}

// begin opens a draft. add appends to it, or with reset replaces it; end drops it.
func (d *drafts) begin(id models.ConversationID) (add func(text string, reset bool), end func()) {
	of := &draft{}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byID[id] = of
	return func(text string, reset bool) { d.add(id, of, text, reset) }, func() { d.drop(id, of) }
}

func (d *drafts) add(id models.ConversationID, of *draft, text string, reset bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byID[id] != of {
		return // it has ended
	}
	if reset {
		of.text.Reset()
		of.full = false
	}
	if of.full = of.full || of.text.Len()+len(text) > maxDraft; !of.full {
		of.text.WriteString(text)
	}
	of.newer = true
	d.tell(id, of)
}

// tell publishes newer text, at most once in draftEvery.
func (d *drafts) tell(id models.ConversationID, of *draft) {
	if of.recent || !of.newer {
		return
	}
	of.recent, of.newer = true, false
	d.bus.Publish(events.Draft(string(id)))
	of.pause = time.AfterFunc(draftEvery, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.byID[id] == of {
			of.recent = false
			d.tell(id, of)
		}
	})
}

func (d *drafts) drop(id models.ConversationID, of *draft) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byID[id] != of {
		return
	}
	delete(d.byID, id)
	if of.pause != nil {
		of.pause.Stop()
		d.bus.Publish(events.Draft(string(id)))
	}
}
