package api_test

import (
	"crypto/aes"
	"encoding/base64"
	"encoding/binary"
	"regexp"
	"strconv"
	"testing"
)

// place reads an id as the server does.
func (w *world) place(id string) (seq int64, part int) {
	w.tb.Helper()
	key, err := w.store.Ledger.PositionKey(w.tb.Context())
	if err != nil {
		w.tb.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		w.tb.Fatal(err)
	}
	b, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil || len(b) != aes.BlockSize {
		w.tb.Fatalf("%q is no position", id)
	}
	block.Decrypt(b, b)
	return int64(binary.BigEndian.Uint64(b)), int(binary.BigEndian.Uint16(b[8:]))
}

func seqOf(w *world, id string) int64 {
	seq, _ := w.place(id)
	return seq
}

// What an agent is told of its place says nothing of how much else happens, and an
// approval that is held shows nowhere: not as a number that was left out either.
func TestPositionsOfStreamsAreOpaque(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opaque := regexp.MustCompile(`^[A-Za-z0-9_-]{22}$`)
	for _, path := range []string{queueStream, toolStream, eventStream} {
		l := w.listen(w.agent, path, "")
		ids := []string{l.from()}
		for range 2 {
			w.ask(`{"toolName":"rm"}`)
			ids = append(ids, l.next().id)
		}
		seen := map[string]bool{}
		for _, id := range ids {
			if !opaque.MatchString(id) || seen[id] {
				t.Errorf("%s: positions %q, want opaque ones, each another", path, ids)
			}
			seen[id] = true
		}
		if ids[0][:6] == ids[1][:6] || ids[1][:6] == ids[2][:6] {
			t.Errorf("%s: positions %q show their order", path, ids)
		}
		l.close()
	}
}

// Positions that were given out as numbers still work.
func TestNumbersOfEarlierVersionsResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.head().Seq
	w.ask(`{"toolName":"first"}`)
	w.ask(`{"toolName":"second"}`)
	all := w.replay(w.agent, queueStream, "0", `"toolName":"second"`)
	if len(all) != 2 {
		t.Fatalf("told %d events, want 2", len(all))
	}
	first := seqOf(w, all[0].id)
	if first <= before {
		t.Fatalf("first event at %d, want after %d", first, before)
	}
	rest := w.replay(w.agent, queueStream, strconv.FormatInt(first, 10), `"toolName":"second"`)
	if len(rest) != 1 || rest[0].id != all[1].id {
		t.Errorf("resumed from a number: %v, want the second event", namesOf(rest))
	}
}
