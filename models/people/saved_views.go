package people

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"countersign/models"
)

const savedViews = `SELECT * FROM saved_views WHERE user_id = ? AND list = ? ORDER BY name`

// Views are the lists that people saved as they narrowed them. The ledger does not record them: they decide nothing.
type Views struct{ p *People }

// ViewsOf are the views of these people.
func ViewsOf(p *People) Views { return Views{p} }

// On are the views that a person saved on a list, by name.
func (v Views) On(ctx context.Context, actor models.Actor, list models.List) (out []models.SavedView, err error) {
	if err := v.p.db.Gorm(ctx).Raw(savedViews, actor.UserID(), list).Scan(&out).Error; err != nil {
		return nil, fmt.Errorf("list saved views: %w", err)
	}
	return out, nil
}

// Save keeps a list as the person has narrowed it: query is that of its address. CodeInvalid names "name" or
// "query"; a name is given once on each list, in whatever letter case.
func (v Views) Save(ctx context.Context, actor models.Actor, list models.List, name, query string) error {
	view := models.SavedView{UserID: actor.UserID(), List: list, Name: strings.TrimSpace(name), Query: query}
	if view.UserID == "" {
		return models.Errorf(models.CodeForbidden, "Only people save views.")
	}
	if err := view.Check(); err != nil {
		return err
	}
	return v.p.write(ctx, func(t *tx) error {
		var have []models.SavedView
		if err := t.Gorm().Raw(savedViews, view.UserID, list).Scan(&have).Error; err != nil {
			return fmt.Errorf("list saved views: %w", err)
		}
		if slices.ContainsFunc(have, func(h models.SavedView) bool { return strings.EqualFold(h.Name, view.Name) }) {
			return models.Invalid("name", "is the name of another view here; choose another, or remove that view first")
		}
		if len(have) >= models.MaxSavedViews {
			return models.Invalid("name", "would be one too many: %d views are kept of a list; remove one first", models.MaxSavedViews)
		}
		view.CreatedAt = t.Now
		if err := t.Gorm().Create(&view).Error; err != nil {
			return fmt.Errorf("save a view: %w", err)
		}
		return nil
	})
}

// Remove forgets a saved view; again is harmless.
func (v Views) Remove(ctx context.Context, actor models.Actor, list models.List, name string) error {
	return v.p.writeAnyway(ctx, func(t *tx) error {
		err := t.Gorm().Where("user_id = ? AND list = ? AND name = ?", actor.UserID(), list, name).
			Delete(&models.SavedView{}).Error
		if err != nil {
			return fmt.Errorf("remove a saved view: %w", err)
		}
		return nil
	})
}
