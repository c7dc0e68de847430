package models

// OtherInput is what another system asks with and runs, where that is another input
// than its agent reported: it is kept in the place of the agent's context, as far as
// it is kept.
func (r *Response) OtherInput() (string, bool) {
	if r.UpstreamID == nil || r.Kind != KindToolCall || r.Context == "" || r.IsRemoved() {
		return "", false
	}
	return r.Context, true
}

// AgentExplanation is what the agent says: without the context, where another system's input is in its place.
func (r *Response) AgentExplanation() Explanation {
	e := r.Explanation
	if _, other := r.OtherInput(); other {
		e.Context = ""
	}
	return e
}

// DrawnInPart reports whether no page shows all of the input: who reads it needs the file, so
// it is decided alone.
func (r *Response) DrawnInPart() bool { return len(r.ToolInputJSON) > MaxDrawn }

// InputThatRuns is what would run: the input of another system where that is another
// one than its agent reported, else the agent's.
func (r *Response) InputThatRuns() string {
	if other, ok := r.OtherInput(); ok {
		return other
	}
	return r.ToolInputJSON
}
