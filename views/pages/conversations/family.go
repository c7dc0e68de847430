package conversations

import (
	"cmp"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// RunLink leads to a run that started another, or was started by it.
type RunLink struct {
	URL, Name, Agent string
	Word             ui.Word
}

func newRunLink(r models.RunLink) RunLink {
	return RunLink{
		URL: views.ConversationURL(r.ID), Name: cmp.Or(r.Title, r.RunID), Agent: r.AgentName,
		Word: ui.ConversationWord(r.Status),
	}
}

func (f *Facts) family(in Input) {
	if in.Parent != nil {
		f.Parent = new(newRunLink(*in.Parent))
	}
	for _, child := range in.Children {
		f.Children = append(f.Children, newRunLink(child))
	}
}
