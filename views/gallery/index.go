package gallery

import "slices"

// Find is the state of a page by its name.
func Find(page, name string) (State, bool) {
	states := States()
	i := slices.IndexFunc(states, func(s State) bool { return s.Page == page && s.Name == name })
	if i < 0 {
		return State{}, false
	}
	return states[i], true
}

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
