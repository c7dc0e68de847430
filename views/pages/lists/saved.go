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
	Name, Error string // of the refused form
}

// Bar leads to the views, and offers to save the query that the list is narrowed by, or to remove the view of it. With
// errors in the filters there is nothing to save.
func (s Saved) Bar(query string, errors map[string]string) ui.SavedViews {
	v := ui.SavedViews{Name: s.Name, Error: s.Error}
	for _, view := range s.Views {
		here := view.Query == query
		v.Links = append(v.Links, ui.Shortcut{Label: view.Name, URL: views.ListURL(s.List, view.Query), Here: here})
		if here {
			v.RemoveURL = views.RemoveViewURL(s.List, query)
		}
	}
	if s.List != "" && v.RemoveURL == "" && query != "" && len(errors) == 0 || s.Error != "" {
		v.SaveURL = views.SaveViewURL(s.List, query)
	}
	return v
}
