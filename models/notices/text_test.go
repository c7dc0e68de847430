package notices_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/notices"
	"countersign/models/storetest"
)

// TestAdminsHearOfWhatTooFewCanSign at once, unless enough can again.
func TestAdminsHearOfWhatTooFewCanSign(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	ann, bo := storetest.Reviewer(t, b.Store, "ann@example.com"), storetest.Reviewer(t, b.Store, "bo@example.com")
	b.UsePolicy(t, `{"rules":[{"name":"Payments","tools":["pay"],"effect":"require","approvals":[{"from":["ann@example.com","bo@example.com"],"count":2}]}]}`)
	session, _ := storetest.Session(t, b.Store, storetest.AdminEmail)
	channel, err := b.People.AddChannel(t.Context(), session, models.ChannelInput{Kind: models.ChannelWebPush, Target: models.ChannelTarget{
		URL: "https://push.example.com/x", P256dh: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", Auth: "tBHItJI5svbpez7KI4CCXg",
	}})
	storetest.Must(t, err)
	sender, err := b.Nodes.TakeLease(t.Context(), "notify", "me", time.Minute)
	storetest.Must(t, err)
	room := notices.New(b.Store)
	told := func() (out []models.Notice) {
		due, _, err := room.Due(t.Context(), 9)
		storetest.Must(t, err)
		for _, send := range due {
			if send.Kind != models.NoticeTooFew {
				continue
			}
			if send.ChannelID != channel.ID {
				t.Errorf("told by %+v", send)
			}
			sending, err := room.Begin(t.Context(), sender, send.ID)
			storetest.Must(t, err)
			if sending != nil {
				out = append(out, sending.Notice)
			}
		}
		return out
	}
	a := b.AskFor(t, models.AskInput{ToolName: "pay"})
	disable := func(who models.Actor) {
		storetest.Must(t, storetest.Err(b.People.DisableUser(t.Context(), b.Admin, who.UserID())))
	}
	disable(ann)
	storetest.Must(t, b.People.EnableUser(t.Context(), b.Admin, ann.UserID()))
	if got := told(); len(got) != 0 {
		t.Errorf("enough can sign it again, and admins hear %+v", got)
	}
	disable(bo)
	if got := told(); len(got) != 1 || got[0].Request != a.ID || got[0].Tool != "pay" || got[0].Left == 0 {
		t.Errorf("admins hear %+v", got)
	}
}

// TestAllHearOfBrokenGlass at once, in quiet hours too, and whatever became of the request since: those who were skipped
// and admins, but for who broke it.
func TestAllHearOfBrokenGlass(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	eve := storetest.Reviewer(t, b.Store, "eve@example.com")
	for _, email := range []string{"ann@example.com", "cy@example.com"} {
		storetest.Reviewer(t, b.Store, email)
	}
	b.UsePolicy(t, `{"rules":[{"name":"Payments","tools":["pay"],"effect":"require","approvals":[{"from":["ann@example.com"],"count":1}],"break_glass":["eve@example.com"]}]}`)
	names := map[models.ChannelID]string{}
	for _, email := range []string{"ann@example.com", "eve@example.com", "cy@example.com", storetest.AdminEmail} {
		session, _ := storetest.Session(t, b.Store, email)
		channel, err := b.People.AddChannel(t.Context(), session, models.ChannelInput{Kind: models.ChannelWebPush, Target: models.ChannelTarget{
			URL: "https://push.example.com/" + email, P256dh: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", Auth: "tBHItJI5svbpez7KI4CCXg",
		}})
		storetest.Must(t, err)
		names[channel.ID] = email
		settings := models.DefaultNotificationSettings()
		settings.QuietFrom, settings.QuietTo = "00:00", "23:59"
		storetest.Must(t, b.People.SetNotificationSettings(t.Context(), session, settings))
	}
	a := b.AskFor(t, models.AskInput{ToolName: "pay"})
	alone := storetest.Yes()
	alone.BreakGlass, alone.Reason = true, "Nobody of finance answers, and the deadline is at noon."
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), eve, a.ID, alone)))
	sender, err := b.Nodes.TakeLease(t.Context(), "notify", "me", time.Minute)
	storetest.Must(t, err)
	room := notices.New(b.Store)
	due, _, err := room.Due(t.Context(), 99)
	storetest.Must(t, err)
	told := map[string]models.Notice{}
	for _, send := range due {
		sending, err := room.Begin(t.Context(), sender, send.ID)
		storetest.Must(t, err)
		if sending != nil && sending.Notice.Kind == models.NoticeBreakGlass {
			told[names[send.ChannelID]] = sending.Notice
		}
	}
	if n := told["ann@example.com"]; len(told) != 2 || n.By != eve.Name || n.Outcome != "approved" || n.Count != 1 || told[storetest.AdminEmail].Request != a.ID {
		t.Errorf("told: %+v", told)
	}
}
