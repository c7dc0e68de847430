package server

import (
	"net/url"
	"testing"

	"countersign/cmd/config"
	"countersign/models"
	"countersign/models/storetest"
)

// The sender is put together of the settings: without a mail server it sends no e-mail, and
// hosts that no admin allowed are not asked.
func TestSenderOfTheServer(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	cfg := config.Config{Data: t.TempDir()}
	public := &url.URL{Scheme: "http", Host: "localhost:8080"}
	sender, keys, err := newSender(cfg, public, s)
	if err != nil {
		t.Fatal(err)
	}
	if sender.Can(models.ChannelEmail) || !sender.Can(models.ChannelWebPush) || !sender.Can(models.ChannelNtfy) {
		t.Error("it can do something else than it is set up for")
	}
	if r := sender.Send(t.Context(), models.ChannelSlack, models.ChannelTarget{URL: "https://127.0.0.1:1/"}, models.Notice{Kind: models.NoticeTest}); r.Class != models.SendRefusedHost {
		t.Errorf("%+v", r)
	}
	if public, err := keys.Public(); err != nil || len(public) != 87 {
		t.Errorf("%q %v", public, err)
	}
	cfg.Mail = config.Mail{Addr: "mail.example.com:587", From: "sign@example.com", TLS: "starttls"}
	if sender, _, err = newSender(cfg, public, s); err != nil || !sender.Can(models.ChannelEmail) {
		t.Errorf("with a mail server: %v", err)
	}
	if name := pushName(cfg, public); name != "sign@example.com" {
		t.Error(name)
	}
	if name := pushName(cfg, &url.URL{Scheme: "https", Host: "sign.example.com"}); name != "https://sign.example.com" {
		t.Error(name)
	}
}
