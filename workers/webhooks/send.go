package webhooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/workers/outward"
)

// message is what one attempt sends.
type message struct {
	id   string
	url  string
	keys []string
	body []byte
}

// answer is how an attempt ended.
type answer struct {
	class      models.SendClass
	status     int
	body       []byte
	retryAfter time.Duration
	took       time.Duration
}

// post makes one attempt. Only an answer of 2xx that comes to its end is an acceptance.
func (w *Worker) post(ctx context.Context, m message) (out answer) {
	start := w.o.Store.Now()
	defer func() { out.took = max(w.o.Store.Now().Sub(start), 0) }()
	signature, err := signatures(m.keys, m.id, start, m.body)
	if err != nil {
		return answer{class: models.SendNotConfigured}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(m.body))
	if err != nil {
		return answer{class: models.SendNotConfigured}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "countersign-webhooks")
	for name, value := range map[string]string{
		"webhook-id": m.id, "webhook-timestamp": strconv.FormatInt(start.Unix(), 10), "webhook-signature": signature,
	} {
		req.Header.Set(name, value)
	}
	got, err := w.o.Out.Do(req, nil)
	if err != nil {
		out.class = models.SendConnect
		if e, ok := errors.AsType[*outward.Error](err); ok {
			out.class, out.status = e.Class, e.Status
		}
		return out
	}
	return answer{class: classOf(got.Status), status: got.Status, body: got.Body, retryAfter: got.RetryAfter}
}

func classOf(status int) models.SendClass {
	switch {
	case status >= 200 && status <= 299:
		return models.SendSent
	case status == http.StatusGone:
		return models.SendGone
	case status == http.StatusTooManyRequests, status >= 500:
		return models.SendUnavailable
	}
	return models.SendRejected
}

// signatures are those of a message by Standard Webhooks, one for each key. An unsigned one is
// never sent.
func signatures(keys []string, id string, at time.Time, body []byte) (string, error) {
	var all []string
	for _, secret := range keys {
		code, ok := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(code)
		if !ok || err != nil || len(key) < 24 {
			return "", errors.New("a key is none to sign with")
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	if len(all) == 0 {
		return "", errors.New("there is no key to sign with")
	}
	return strings.Join(all, " "), nil
}
