package send

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/SherClockHolmes/webpush-go"

	"countersign/models"
	"countersign/workers/notify/text"
	"countersign/workers/outward"
)

// PushServices are the hosts at which the makers of browsers take push messages.
func PushServices() outward.Vendors {
	return outward.Vendors{
		"fcm.googleapis.com", "updates.push.services.mozilla.com", "*.push.apple.com", "*.notify.windows.com",
	}
}

// longestPush is how long a push service keeps a message for a browser that is off.
const longestPush = 24 * time.Hour

// push sends to a browser. Only the browser can read the message.
func (s *Sender) push(ctx context.Context, to models.ChannelTarget, n models.Notice) models.SendResult {
	if err := CheckSubscription("subscription", to); err != nil {
		return failed(models.SendRejected, "the subscription has no keys of a browser")
	}
	private, public, err := s.o.Push.pair()
	if err != nil {
		return failed(models.SendNotConfigured, err.Error())
	}
	body, err := text.Push(n)
	if err != nil {
		return failed(models.SendRejected, "the message cannot be written")
	}
	way := &pushWay{out: s.o.Out}
	res, err := webpush.SendNotificationWithContext(ctx, body, &webpush.Subscription{Endpoint: to.URL, Keys: webpush.Keys{Auth: to.Auth, P256dh: to.P256dh}}, &webpush.Options{
		HTTPClient: way, Subscriber: s.o.Name, TTL: timeToLive(n), Topic: collapse(n), Urgency: urgency(n),
		VAPIDPrivateKey: private, VAPIDPublicKey: public,
	})
	if res != nil {
		res.Body.Close()
	}
	r := result(way.answer, err)
	if r.Status == http.StatusNotFound || r.Status == http.StatusGone {
		r.Class = models.SendGone
	}
	return r
}

// pushWay has the library send by the guarded client.
type pushWay struct {
	out    *outward.Client
	answer *outward.Answer
}

// Do sends a request of the library.
func (w *pushWay) Do(req *http.Request) (*http.Response, error) {
	req.Header.Set("User-Agent", agentName)
	a, err := w.out.Do(req, PushServices())
	if err != nil {
		return nil, err
	}
	w.answer = a
	return &http.Response{StatusCode: a.Status, Body: io.NopCloser(bytes.NewReader(a.Body))}, nil
}

// CheckSubscription refuses a browser's keys that nothing can be encrypted for. The error
// names field. Codes: invalid.
func CheckSubscription(field string, t models.ChannelTarget) error {
	point, err := decodeKey(t.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(point)
	}
	auth, err2 := decodeKey(t.Auth)
	if err != nil || err2 != nil || len(auth) != 16 {
		return models.Invalid(field, "has no keys of a browser")
	}
	return nil
}

func decodeKey(s string) ([]byte, error) {
	if s == "" {
		return nil, errors.New("there is none")
	}
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
}

// timeToLive is for how many seconds a message is worth being delivered.
func timeToLive(n models.Notice) int {
	d := longestPush
	if n.Left > 0 {
		d = min(d, n.Left)
	}
	return int(d / time.Second)
}

// collapse has a later message about the same request take the place of one that was not
// delivered yet. The service does not learn the id.
func collapse(n models.Notice) string {
	if n.Request == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(n.Request))
	return base64.RawURLEncoding.EncodeToString(sum[:24]) // 32 characters are the most
}

func urgency(n models.Notice) webpush.Urgency {
	if n.Risk.NeedsDigest() || n.Kind == models.NoticeTenth || n.Kind == models.NoticeBreakthrough {
		return webpush.UrgencyHigh
	}
	return webpush.UrgencyNormal
}
