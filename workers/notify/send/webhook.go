package send

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/workers/notify/text"
)

// secretPrefix begins every secret of Standard Webhooks.
const secretPrefix = "whsec_"

// webhook posts to a program, signed by Standard Webhooks. The id is that of the notice: each
// attempt has the same one.
func (s *Sender) webhook(ctx context.Context, to models.ChannelTarget, n models.Notice) models.SendResult {
	now := s.o.Now()
	body, err := text.Webhook(n, now)
	if err != nil {
		return failed(models.SendRejected, "the message cannot be written")
	}
	signature, err := sign(to.Token, n.ID, now, body)
	if err != nil {
		return failed(models.SendNotConfigured, err.Error())
	}
	return s.post(ctx, to.URL, body,
		header{"webhook-id", n.ID}, header{"webhook-timestamp", strconv.FormatInt(now.Unix(), 10)},
		header{"webhook-signature", signature})
}

// sign is the signature of a message. An unsigned one is never sent.
func sign(secret, id string, at time.Time, body []byte) (string, error) {
	code, ok := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(code)
	if !ok || err != nil || len(key) < 24 {
		return "", errors.New("the webhook has no secret to sign with")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
