package send_test

import (
	"testing"

	"countersign/models"
)

// A channel that nothing could be sent to is refused when it is added, by the field that is
// wrong.
func TestCheckTargets(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	sender := sender(t, s)
	browser, _ := newBrowser(t, "https://fcm.googleapis.com/fcm/send/x")
	elsewhere, _ := newBrowser(t, "https://push.example.com/x")
	for _, tt := range []struct {
		kind models.ChannelKind
		to   models.ChannelTarget
		want string // the field; empty: taken
	}{
		{models.ChannelEmail, ann, ""},
		{models.ChannelEmail, models.ChannelTarget{Address: "ann"}, "address"},
		{models.ChannelEmail, models.ChannelTarget{Address: "<a@example.com>"}, "address"},
		{models.ChannelEmail, models.ChannelTarget{Address: "a@example.com>"}, "address"},
		{models.ChannelEmail, models.ChannelTarget{Address: "-oX@example.com"}, "address"},
		{models.ChannelEmail, models.ChannelTarget{Address: "a@-example.com"}, "address"},
		{models.ChannelEmail, models.ChannelTarget{Address: "a@example.com."}, "address"},
		{models.ChannelWebPush, browser, ""},
		{models.ChannelWebPush, elsewhere, "subscription"},
		{models.ChannelWebPush, models.ChannelTarget{URL: browser.URL}, "subscription"},
		{models.ChannelNtfy, models.ChannelTarget{URL: s.URL + "/topic"}, ""},
		{models.ChannelNtfy, models.ChannelTarget{URL: s.URL + "/"}, "url"},
		{models.ChannelNtfy, models.ChannelTarget{URL: s.URL + "/topic", Token: "a b"}, "token"},
		{models.ChannelNtfy, models.ChannelTarget{URL: "https://ntfy.example.com/topic"}, "url"},
		{models.ChannelSlack, models.ChannelTarget{URL: s.URL + "/services/x"}, ""},
		{models.ChannelSlack, models.ChannelTarget{URL: "https://hooks.example.com/x"}, "url"},
		{models.ChannelWebhook, models.ChannelTarget{URL: "https://fcm.googleapis.com/x"}, "url"}, // only for web push
		{models.ChannelWebhook, models.ChannelTarget{URL: ":"}, "url"},
	} {
		err := sender.Check(t.Context(), tt.kind, tt.to)
		if tt.want == "" && err != nil || tt.want != "" && models.FieldsOf(err)[tt.want] == "" {
			t.Errorf("%s %+v: %v, want %q", tt.kind, tt.to, err, tt.want)
		}
	}
	if len(s.requests) != 0 {
		t.Errorf("%d requests", len(s.requests))
	}
}
