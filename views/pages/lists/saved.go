package lists

import (
	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// Saved is what the reader saved on a list, and a form to save a view that was refused.
type Saved struct {
	List        models.List // empty: on this page there are none
	Views       []models.SavedView
	Query       string // what the list is narrowed by now, as a view has it; empty: by nothing that can be saved
	Here        string // the name of the view in view
	Name, Error string // of the refused form
}

// Bar leads to the views, and offers to save what the list is narrowed by, or to remove the view of it.
func (s Saved) Bar() ui.SavedViews {
	v := ui.SavedViews{Name: s.Name, Error: s.Error}
	for _, view := range s.Views {
		v.Links = append(v.Links,
			ui.Shortcut{Label: view.Name, URL: views.ListURL(s.List, view.Query), Here: view.Name == s.Here})
	}
	switch {
	case s.Here != "":
		v.RemoveURL = views.RemoveViewURL(s.List, s.Query)
	case s.Query != "" || s.Error != "":
		v.SaveURL = views.SaveViewURL(s.List, s.Query)
	}
	return v
}
