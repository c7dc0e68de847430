package send_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/workers/notify/send"
)

// An invitation is one e-mail to one address with the link in it, whatever its sender is called: no name makes a line
// of the header.
func TestAnInvitationIsMailed(t *testing.T) {
	t.Parallel()
	mails := newMailServer(t, &mailServer{})
	s := mailSender(t, send.SMTP{Addr: mails.addr(), TLS: send.SMTPNone, Timeout: time.Minute})
	const link = "https://sign.example.com/join?invite=sesame"
	invite := models.Notice{
		ID: "0198f0aa-0000-7000-8000-000000000001", Kind: models.NoticeInvite, Left: 7 * 24 * time.Hour, URL: link,
		By: "Ada\r\nBcc: eve@example.com\r\n\r\nhttps://evil.example",
	}
	for _, address := range []string{
		"ann@example.com\r\nBcc: eve@example.com", "ann@example.com\nRCPT TO:<eve@example.com>",
		"ann@example.com, eve@example.com", "Ann <ann@example.com>", "",
	} {
		if r := s.Send(t.Context(), models.ChannelEmail, models.ChannelTarget{Address: address}, invite); r.Class != models.SendRejected {
			t.Errorf("%q: %+v", address, r)
		}
	}
	if r := s.Send(t.Context(), models.ChannelEmail, ann, invite); r.Class != models.SendSent {
		t.Fatalf("%+v %s", r, r.Body)
	}
	got := mails.only(t)
	header, body := parts(t, got.data)
	if header.Get("To") != "<ann@example.com>" || header.Get("Bcc") != "" || header.Get("Subject") != "Your invitation to Countersign" || header.Get("List-Unsubscribe") != "" {
		t.Errorf("the header is %v", header)
	}
	if !strings.Contains(got.to, "<ann@example.com>") {
		t.Errorf("it goes to %s", got.to)
	}
	for kind, text := range body {
		if !strings.Contains(text, link) || strings.Contains(text, "\nBcc") || strings.Contains(text, "https://evil.example") {
			t.Errorf("%s:\n%s", kind, text)
		}
	}
}
