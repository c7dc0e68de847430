package gallery

import (
	"slices"
	"sync"

	"github.com/a-h/templ"

	"countersign/views"
)

// Pages is the gallery as the pages serve it.
type Pages struct{}

// Index lists every state.
func (Pages) Index(page views.Page) templ.Component { return IndexPage(page, found()) }

// State is one page in one state, as a whole document.
func (Pages) State(page, name string) (templ.Component, bool) {
	s, ok := Find(page, name)
	if !ok {
		return nil, false
	}
	return s.Document(), true
}

// Find is the state of a page by its name. It is for drawing: the caller that finds the
// same state gets the same one.
func Find(page, name string) (State, bool) {
	i := slices.IndexFunc(found(), func(s State) bool { return s.Page == page && s.Name == name })
	if i < 0 {
		return State{}, false
	}
	return found()[i], true
}

// found are all states, made once: to make two hundred of them takes far longer
// than to draw one.
var found = sync.OnceValue(States)

// byPage groups states, the pages in the order in which they first come.
func byPage(states []State) [][]State {
	var out [][]State
	place := map[string]int{}
	for _, s := range states {
		i, ok := place[s.Page]
		if !ok {
			i = len(out)
			place[s.Page] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	return out
}
