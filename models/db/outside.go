package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"countersign/models/events"
)

// listener hears what other processes commit, from the first write on: all rooms are there then.
type listener struct {
	stop context.CancelFunc // nil: it has not begun
	done chan struct{}
}

func (d *DB) listen() {
	if !d.opts.Listen || d.listener.stop != nil {
		return
	}
	var ctx context.Context
	ctx, d.listener.stop = context.WithCancel(context.Background())
	d.listener.done = make(chan struct{})
	go func() {
		defer close(d.listener.done)
		d.engine.listen(ctx, d)
	}()
}

// end waits until nothing more is heard.
func (l *listener) end() {
	if l.stop != nil {
		l.stop()
		<-l.done
	}
}

// notice is what a process tells the others of a batch: names of what it has changed.
type notice struct {
	writer string
	batch  int64
	at     time.Time      // of the database, as the batch ended
	topics []events.Topic // nil: too many for a notice
}

// noticeMost is what PostgreSQL takes, less the writer and the number.
const noticeMost = 7900

// noticeOf writes topics, one a line.
func noticeOf(topics []events.Topic) string {
	slices.Sort(topics)
	var text strings.Builder
	for _, topic := range slices.Compact(topics) {
		text.WriteString("\n" + string(topic))
	}
	if text.Len() > noticeMost {
		return "\n*"
	}
	return text.String()
}

// readNotice reads the text of a notice.
func readNotice(text string) (n notice, ok bool) {
	lines := strings.Split(text, "\n")
	var at int64
	if _, err := fmt.Sscanf(lines[0], "%s %d %d", &n.writer, &n.batch, &at); err != nil {
		return notice{}, false
	}
	n.at = time.UnixMicro(at)
	if !slices.Contains(lines[1:], "*") {
		n.topics = []events.Topic{}
		for _, line := range lines[1:] {
			n.topics = append(n.topics, events.Topic(line))
		}
	}
	return n, true
}

// hear tells the rooms and the bus of another process's batch.
func (d *DB) hear(ctx context.Context, text string) error {
	n, ok := readNotice(text)
	if ok {
		d.lag.Store(int64(max(0, d.clock.Now().Sub(n.at))))
	}
	if !ok || n.topics == nil {
		d.outside.Store(true)
		return d.CheckOutside(ctx)
	}
	for _, room := range d.rooms {
		if room.Heard != nil {
			room.Heard(n.topics)
		}
	}
	d.bus.Publish(n.topics...)
	d.heard.add(n.batch)
	return nil
}

// Lag is how long after its end this process heard of the last batch of another; 0: of none.
func (d *DB) Lag() time.Duration { return time.Duration(d.lag.Load()) }

// heard counts the batches of all processes of which this one knows: its own, and those of which it was told.
type heard struct {
	mu   sync.Mutex
	all  int64              // each up to this one
	some map[int64]struct{} // and these
}

func (h *heard) add(batch int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if batch <= h.all {
		return
	}
	if h.some == nil {
		h.some = make(map[int64]struct{})
	}
	h.some[batch] = struct{}{}
	h.count()
}

func (h *heard) count() {
	for {
		if _, ok := h.some[h.all+1]; !ok {
			return
		}
		h.all++
		delete(h.some, h.all)
	}
}

// upTo reports whether each batch up to this one is known. From now on they count as known.
func (h *heard) upTo(batch int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if batch <= h.all {
		return true
	}
	for known := range h.some {
		if known <= batch {
			delete(h.some, known)
		}
	}
	h.all = batch
	h.count()
	return false
}

// seesOutside notes, at the begin of a batch, whether another process has
// written since the last one.
func (d *DB) seesOutside(w *writer) error {
	v, at, err := d.engine.version(w)
	if err != nil {
		return fmt.Errorf("read data version: %w", err)
	}
	d.clock.hear(at)
	if v == w.dataVersion {
		return w.otherSchema
	}
	first := w.dataVersion == 0
	w.dataVersion = v
	d.forget()
	if told := d.heard.upTo(v); !first && !told {
		d.outside.Store(true)
	}
	w.otherSchema, err = d.checkSchema(w)
	return errors.Join(err, w.otherSchema)
}

// checkSchema refuses to write where another program has migrated the database: this one
// does not know what the rows mean now.
func (d *DB) checkSchema(w *writer) (other, err error) {
	has, err := w.schema.number()
	if err != nil {
		return nil, fmt.Errorf("read the schema's version: %w", err)
	}
	if err := CheckUse(context.Background(), w.conn, has, d.schema); err != nil {
		return &fault{otherSchemaText, err}, nil
	}
	return nil, nil
}

const otherSchemaText = "Another version of Countersign has changed the database: this server writes nothing more. " +
	"Stop it, and start that version."

// CheckOutside notices what another process (the command line, a second server) has
// committed, and tells the rooms.
func (d *DB) CheckOutside(ctx context.Context) error {
	err := d.WriteAnyway(ctx, func(*Tx) error { return nil })
	if d.Failing() != nil {
		return nil //nolint:nilerr // it is logged, and Ready says so
	}
	if err != nil {
		return err
	}
	if !d.outside.Swap(false) {
		return nil
	}
	for _, room := range d.rooms {
		if room.Outside != nil {
			room.Outside()
		}
	}
	return nil
}
