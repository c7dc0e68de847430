package webhooks

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"countersign/models"
)

// checkInput is CodeInvalid, naming every field that is wrong. It folds the input to its one
// form and returns the label; empty where the address is kept.
func (w *Webhooks) checkInput(ctx context.Context, in *models.WebhookInput, keep bool) (label string, err error) {
	wrong := map[string]string{}
	note := func(err error) {
		maps.Copy(wrong, models.FieldsOf(err))
	}
	in.Name, in.URL = strings.TrimSpace(in.Name), strings.TrimSpace(in.URL)
	note(models.CheckKey("name", in.Name))
	if _, hidden := models.Reveal(in.Name, false); hidden.Any() {
		wrong["name"] = "must not contain invisible characters"
	}
	in.Types = slices.Clone(in.Types)
	slices.Sort(in.Types)
	in.Types = slices.Compact(in.Types)
	for _, name := range in.Types {
		if !models.IsEventType(name) {
			wrong["types"] = "must be names of events, such as approval.requested"
		}
	}
	if !keep || in.URL != "" {
		var fault error
		label, fault = labelOf(in.URL)
		if fault == nil && w.opts.Check != nil {
			fault = w.opts.Check(ctx, "url", in.URL)
			if models.FieldsOf(fault) == nil && fault != nil {
				return "", fault
			}
		}
		note(fault)
	}
	if len(wrong) > 0 {
		return "", &models.Error{Code: models.CodeInvalid, Text: "The webhook is not valid.", Fields: wrong}
	}
	return label, nil
}

// labelOf is scheme and host of an address.
func labelOf(raw string) (string, error) {
	if len(raw) > models.MaxTarget {
		return "", models.Invalid("url", "is %d bytes long; at most %d are taken", len(raw), models.MaxTarget)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "" || u.Scheme != "https" && u.Scheme != "http":
		return "", models.Invalid("url", "must be an address such as https://hooks.example.com/countersign")
	case u.User != nil:
		return "", models.Invalid("url", "must not contain a name or password")
	case u.Fragment != "":
		return "", models.Invalid("url", "must not contain a fragment (#)")
	}
	label := u.Scheme + "://" + strings.ToLower(u.Host)
	if _, hidden := models.Reveal(label, false); hidden.Any() || len(label) > models.MaxName {
		return "", models.Invalid("url", "must name a host such as hooks.example.com")
	}
	return label, nil
}

// newKey is a key as Standard Webhooks has them.
func newKey() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(secret)
}

func aboutTarget(id models.WebhookID) string { return "webhook " + string(id) }

// seal encrypts where an endpoint is, tied to the endpoint.
func (w *Webhooks) seal(id models.WebhookID, target models.WebhookTarget) ([]byte, error) {
	raw, err := json.Marshal(target)
	if err != nil {
		return nil, fmt.Errorf("write target: %w", err)
	}
	return w.opts.Seal(string(raw), aboutTarget(id))
}

// open is where an endpoint is. It is for senders only.
func (w *Webhooks) open(id models.WebhookID, ciphertext []byte) (out models.WebhookTarget, err error) {
	raw, err := w.opts.Unseal(ciphertext, aboutTarget(id))
	if err != nil {
		return out, fmt.Errorf("open target of webhook: %w", err)
	}
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		return out, fmt.Errorf("read target of webhook: %w", err)
	}
	return out, nil
}
