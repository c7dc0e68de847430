package api_test

import (
	"slices"
	"strings"
	"testing"
)

// Every stream, cut at each of its events and resumed, tells the rest: no gap,
// no repeat, nothing of a stranger.
func TestStreamsCutAtAnyEventGoOnWithTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := newHistory(w)
	for range cuts / 2 {
		h.step()
	}
	mark := h.mark()
	for _, tt := range []struct {
		who, token, path string
		least            int
		want             []string // by name and call, where that is known
	}{
		{"the agent", w.agent, toolStream, cuts + 1, h.want},
		{"the agent", w.agent, queueStream, cuts * 4 / 5, nil},
		{"the owner", w.reviewer, eventStream, cuts, nil},
		{"whom it was routed to", h.routed, toolStream, cuts / 5, h.wantRouted},
	} {
		t.Run(tt.who+tt.path, func(t *testing.T) {
			all := w.replay(tt.token, tt.path, "0", mark)
			if got := namesOf(all); tt.want != nil && !slices.Equal(got, tt.want) {
				t.Fatalf("told\n%q, want\n%q", got, tt.want)
			}
			if len(all) < tt.least {
				t.Errorf("only %d events", len(all))
			}
			for i, e := range all[:len(all)-1] {
				if strings.Contains(e.data, `"foreign"`) || (tt.who != "the owner" && strings.Contains(e.data, `"second"`)) {
					t.Fatalf("told of a stranger's: %s", e.data)
				}
				// The next two: from each of them it goes on as this loop shows.
				want := all[i+1 : min(i+3, len(all))]
				if rest := w.next(tt.token, tt.path, e.id, len(want)); !slices.Equal(rest, want) {
					t.Fatalf("cut at event %d (%s): %v, want %v", i, e.id, namesOf(rest), namesOf(want))
				}
			}
		})
	}
}
