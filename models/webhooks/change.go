package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
)

const addWebhook = `INSERT INTO webhooks (id, name, label, owner_id, types, inputs, cursor, created_at, target_sealed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

// Add makes an endpoint, which gets what happens from now on. It returns the key that its
// events are signed with, which nothing shows again. For admins and the operator, else
// CodeForbidden. Codes: invalid (naming every field), conflict (the name is taken, or there
// are models.MaxWebhooks).
func (w *Webhooks) Add(
	ctx context.Context, actor models.Actor, in models.WebhookInput,
) (*models.Webhook, string, error) {
	if err := actor.NeedAdmin(); err != nil {
		return nil, "", err
	}
	label, err := w.checkInput(ctx, &in, false)
	if err != nil {
		return nil, "", err
	}
	h := &models.Webhook{
		ID: models.NewID[models.WebhookID](), Name: in.Name, Label: label, OwnerID: actor.UserID(), Types: in.Types,
		Inputs: in.Inputs,
	}
	key := newKey()
	ciphertext, err := w.seal(h.ID, models.WebhookTarget{URL: in.URL, Keys: []string{key}})
	if err != nil {
		return nil, "", err
	}
	types, err := typesOf(in.Types)
	if err != nil {
		return nil, "", err
	}
	err = w.write(ctx, func(t *tx) error {
		if err := t.roomFor(h); err != nil {
			return err
		}
		head, err := w.ledger.HeadIn(t.Tx)
		if err != nil {
			return err
		}
		h.CreatedAt, h.Cursor = t.Now, head.Seq+1 // behind the entry of its own making
		if err := t.Gorm().Exec(addWebhook, h.ID, h.Name, h.Label, h.OwnerID, types, h.Inputs, h.Cursor, h.CreatedAt,
			ciphertext).Error; err != nil {
			return fmt.Errorf("store webhook: %w", err)
		}
		w.ledger.Adds(t.Tx, "webhooks", h.ID)
		return t.record(actor, "webhook.added", h, described(h))
	})
	if err != nil {
		return nil, "", err
	}
	return h, key, nil
}

func typesOf(types []string) (string, error) {
	raw, err := json.Marshal(append([]string{}, types...))
	if err != nil {
		return "", fmt.Errorf("write types: %w", err)
	}
	return string(raw), nil
}

// roomFor refuses one too many, and a name that is taken.
func (t *tx) roomFor(h *models.Webhook) error {
	all, err := inUseIn(t.Gorm())
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.Name == h.Name && other.ID != h.ID {
			return &models.Error{
				Code: models.CodeConflict, Text: "There is already a webhook of this name.",
				Fields: map[string]string{"name": "is taken by another webhook"},
			}
		}
	}
	if len(all) >= models.MaxWebhooks &&
		!slices.ContainsFunc(all, func(other models.Webhook) bool { return other.ID == h.ID }) {
		return models.Errorf(models.CodeConflict, "There are %d webhooks, which is the limit: remove one first.", len(all))
	}
	return nil
}

// Change changes what an endpoint is. An empty URL keeps the address, and the keys stay in
// either case. For admins and the operator, else CodeForbidden. Codes: invalid (naming every
// field), not_found, conflict (the name is taken).
func (w *Webhooks) Change(ctx context.Context, actor models.Actor, id models.WebhookID, in models.WebhookInput) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	label, err := w.checkInput(ctx, &in, true)
	if err != nil {
		return err
	}
	types, err := typesOf(in.Types)
	if err != nil {
		return err
	}
	return w.write(ctx, changing(id, func(t *tx, h *models.Webhook) error {
		sameTypes := slices.Equal(h.Types, in.Types)
		if sameTypes && h.Name == in.Name && h.Inputs == in.Inputs && in.URL == "" {
			return nil
		}
		h.Name, h.Types, h.Inputs = in.Name, in.Types, in.Inputs
		if err := t.roomFor(h); err != nil {
			return err
		}
		columns := map[string]any{"name": h.Name, "types": types, "inputs": h.Inputs}
		ciphertext, err := t.sealed(h)
		if err != nil {
			return err
		}
		if in.URL != "" {
			h.Label = label
			if ciphertext, err = t.reseal(h, ciphertext,
				func(target *models.WebhookTarget) { target.URL = in.URL }); err != nil {
				return err
			}
			columns["label"], columns["target_sealed"] = label, ciphertext
		}
		if !sameTypes { // an event since the cursor that was not wanted may be wanted now
			columns = moved(columns)
		}
		if err := t.set(h, columns); err != nil {
			return err
		}
		return t.record(actor, "webhook.changed", h, described(h))
	}))
}

func (t *tx) sealed(h *models.Webhook) ([]byte, error) {
	var secret models.WebhookSecret
	if err := t.Gorm().Where("id = ?", h.ID).Take(&secret).Error; err != nil {
		return nil, fmt.Errorf("read webhook: %w", err)
	}
	return secret.TargetSealed, nil
}

// reseal changes a sealed target.
func (t *tx) reseal(h *models.Webhook, ciphertext []byte, change func(*models.WebhookTarget)) ([]byte, error) {
	target, err := t.w.open(h.ID, ciphertext)
	if err != nil {
		return nil, err
	}
	change(&target)
	return t.w.seal(h.ID, target)
}

// Remove removes an endpoint, with its dead letters and answers: it is sent nothing more. For
// admins and the operator, else CodeForbidden; CodeNotFound.
func (w *Webhooks) Remove(ctx context.Context, actor models.Actor, id models.WebhookID) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return w.writeAnyway(ctx, changing(id, func(t *tx, h *models.Webhook) error {
		if err := t.w.ledger.Changes(t.Tx, "webhooks", id); err != nil {
			return err
		}
		removal := t.Gorm().Exec(`UPDATE webhooks SET removed_at = ?, target_sealed = NULL, old_key_until = NULL, position = position + 1 WHERE id = ? AND removed_at IS NULL`, t.Now, id)
		if removal.Error != nil || !db.ExactlyOne(removal.RowsAffected) {
			return fmt.Errorf("remove webhook: %d rows, %w", removal.RowsAffected, removal.Error)
		}
		var letters []string
		if err := t.Gorm().Model(&models.WebhookSkipRow{}).Where("webhook_id = ?", id).Pluck("id",
			&letters).Error; err != nil {
			return fmt.Errorf("read dead letters: %w", err)
		}
		for _, letter := range letters {
			if err := t.w.ledger.Changes(t.Tx, "webhook_skipped", letter); err != nil {
				return err
			}
		}
		for _, rows := range []string{
			`DELETE FROM webhook_blocks WHERE webhook_id = ?`, `DELETE FROM webhook_skipped WHERE webhook_id = ?`,
			`DELETE FROM webhook_answers WHERE webhook_id = ?`,
		} {
			if err := t.Gorm().Exec(rows, id).Error; err != nil {
				return fmt.Errorf("remove what belongs to a webhook: %w", err)
			}
		}
		return t.record(actor, "webhook.removed", h, entry{})
	}))
}

// Pause has an endpoint sent nothing until it is resumed. Again is harmless. For admins and the
// operator, else CodeForbidden; CodeNotFound.
func (w *Webhooks) Pause(ctx context.Context, actor models.Actor, id models.WebhookID) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return w.writeAnyway(ctx, changing(id, func(t *tx, h *models.Webhook) error {
		if h.PausedAt != nil {
			return nil
		}
		if err := t.set(h,
			map[string]any{
				"paused_at": t.Now, "paused_why": models.PausedByPerson, "paused_by": actor.Name, "paused_class": "",
			}); err != nil {
			return err
		}
		return t.record(actor, "webhook.paused", h, entry{Why: models.PausedByPerson})
	}))
}

// Resume has a paused endpoint go on where it stopped. Refused events are tried at once, and have their time again.
// Again is harmless. For admins and the operator, else CodeForbidden; CodeNotFound.
func (w *Webhooks) Resume(ctx context.Context, actor models.Actor, id models.WebhookID) error {
	return w.change(ctx, actor, id, func(t *tx, h *models.Webhook) error {
		if h.PausedAt == nil {
			return nil
		}
		if err := t.Gorm().Exec(`UPDATE webhook_blocks SET due_at = ?1, since = ?1, attempts = 0 WHERE webhook_id = ?2`,
			t.Now, id).Error; err != nil {
			return fmt.Errorf("have blocked events tried: %w", err)
		}
		if err := t.set(h,
			moved(map[string]any{"paused_at": nil, "paused_why": "", "paused_by": "", "paused_class": ""})); err != nil {
			return err
		}
		return t.record(actor, "webhook.resumed", h, entry{})
	})
}

// RetryNow has what an endpoint refused tried at once. It is no change. For admins and the
// operator, else CodeForbidden. Codes: not_found, conflict (it is paused).
func (w *Webhooks) RetryNow(ctx context.Context, actor models.Actor, id models.WebhookID) error {
	return w.change(ctx, actor, id, func(t *tx, h *models.Webhook) error {
		if h.PausedAt != nil {
			return models.Errorf(models.CodeConflict, "This webhook is paused: resume it first.")
		}
		if err := t.Gorm().Exec(`UPDATE webhook_blocks SET due_at = ? WHERE webhook_id = ?`, t.Now, id).Error; err != nil {
			return fmt.Errorf("have blocked events tried: %w", err)
		}
		t.Publish(events.Webhooks)
		return t.set(h, moved(map[string]any{}))
	})
}

// Rotate gives an endpoint a new key and returns it; nothing shows it again. The key before
// signs too for models.WebhookOldKeyLife, and one that was before that no more. For admins and
// the operator, else CodeForbidden; CodeNotFound.
func (w *Webhooks) Rotate(ctx context.Context, actor models.Actor, id models.WebhookID) (string, error) {
	key := newKey()
	err := w.change(ctx, actor, id, func(t *tx, h *models.Webhook) error {
		return t.newKeys(actor, h, "webhook.key_rotated", new(db.Stamp(t.Now.Add(models.WebhookOldKeyLife))), func(keys []string) []string {
			return append([]string{key}, keys[:min(1, len(keys))]...)
		})
	})
	if err != nil {
		return "", err
	}
	return key, nil
}

// RetireOldKey ends the time in which the key before signs too. Again is harmless. For admins
// and the operator, else CodeForbidden; CodeNotFound.
func (w *Webhooks) RetireOldKey(ctx context.Context, actor models.Actor, id models.WebhookID) error {
	return w.change(ctx, actor, id, func(t *tx, h *models.Webhook) error {
		if h.OldKeyUntil == nil {
			return nil
		}
		return t.newKeys(actor, h, "webhook.key_retired", nil,
			func(keys []string) []string { return keys[:min(1, len(keys))] })
	})
}

// newKeys changes the keys of an endpoint; until: how long the second one signs.
func (t *tx) newKeys(
	actor models.Actor, h *models.Webhook, action string, until *time.Time, change func([]string) []string,
) error {
	ciphertext, err := t.sealed(h)
	if err != nil {
		return err
	}
	ciphertext, err = t.reseal(h, ciphertext, func(target *models.WebhookTarget) { target.Keys = change(target.Keys) })
	if err != nil {
		return err
	}
	if err := t.set(h, map[string]any{"target_sealed": ciphertext, "old_key_until": until}); err != nil {
		return err
	}
	return t.record(actor, action, h, described(h))
}
