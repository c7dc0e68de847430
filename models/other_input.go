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
