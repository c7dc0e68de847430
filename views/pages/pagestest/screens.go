package pagestest

import (
	"context"
	"strings"
	"sync"

	"countersign/views/gallery"
)

// Screens are the states of the gallery as documents, by their keys, each drawn once, when
// somebody first asks.
var Screens = sync.OnceValue(func() map[string]func() string {
	drawn := map[string]func() string{}
	for _, state := range gallery.States() {
		drawn[state.Key()] = sync.OnceValue(func() string {
			var b strings.Builder
			if err := state.Document().Render(context.Background(), &b); err != nil {
				return err.Error()
			}
			return b.String()
		})
	}
	return drawn
})

// Screen is one of them; empty: there is none with that key.
func Screen(key string) string {
	if drawn, ok := Screens()[key]; ok {
		return drawn()
	}
	return ""
}
