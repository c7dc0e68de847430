package models

// Explanation is what an agent says about a request in its own words. People read it; it is no
// part of what runs, and a repeat of the request doesn't change it.
//
// Members is the one list of it: limits, repeats, sizes, the cut in lists and warnings follow
// from that list, its columns from the struct.
type Explanation struct {
	Description string `json:"description,omitempty"` // of a question: its text, which the digest covers
	Context     string `json:"context,omitempty"`
	Preview     string `json:"preview,omitempty"` // the effect that the agent claims
}

// ExplanationMember is one text of an Explanation.
type ExplanationMember struct {
	Name  string // as agents send it, and of its column
	Text  *string
	Limit int // in bytes
}

// Members are all texts, in the order in which people read them.
func (e *Explanation) Members() []ExplanationMember {
	return []ExplanationMember{
		{"description", &e.Description, MaxDescription},
		{"context", &e.Context, MaxContext},
		{"preview", &e.Preview, MaxPreview},
	}
}

// Texts are the texts of Members.
func (e *Explanation) Texts() []*string {
	var out []*string
	for _, m := range e.Members() {
		out = append(out, m.Text)
	}
	return out
}

// Check refuses texts that are too long or no UTF-8. Codes: invalid.
func (e *Explanation) Check() error {
	for _, m := range e.Members() {
		if err := CheckText(m.Name, *m.Text, m.Limit); err != nil {
			return err
		}
	}
	return nil
}

// Repeats reports whether it says nothing that kept doesn't say too.
func (e *Explanation) Repeats(kept *Explanation) bool {
	said := kept.Members()
	for i, m := range e.Members() {
		if *m.Text != "" && *m.Text != *said[i].Text {
			return false
		}
	}
	return true
}
