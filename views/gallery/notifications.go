package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views/pages/account"
	"countersign/views/pages/system"
)

func notificationsStates() []State {
	own := func(name, note string, in account.NotificationsInput) State {
		if in.Form.Moments == nil {
			in.Form = account.NewNotificationForm(models.DefaultNotificationSettings())
		}
		return State{
			Page: "notifications", Name: name, Note: note,
			Component: account.NotificationsPage(Frame("Notifications", "/account/notifications"),
				account.NewNotifications(in, Now)),
		}
	}
	one := ChannelsInput()
	one.Channels = one.Channels[:1]
	nothing := ChannelsInput()
	nothing.Channels, nothing.Means = nil, account.NotifyMeans{}
	refused := ChannelsInput()
	refused.Channels, refused.Codes = refused.Channels[:2], map[models.ChannelID]string{refused.Channels[1].ID: "is not the one that was sent"}
	refused.Form = account.ChannelForm{
		Kind: models.ChannelNtfy, Label: "<b>Phone",
		Errors: map[string]string{"url": "must end with a topic, such as https://ntfy.example.com/my-topic"},
	}
	limited := ChannelsInput()
	limited.Channels = nil
	limited.Form = account.ChannelForm{
		Kind: models.ChannelEmail, Address: "ada@example.org",
		Errors: map[string]string{"": "This address was sent 3 codes within an hour, which is the limit."},
	}
	barred := ChannelsInput()
	barred.Channels = barred.Channels[1:4]
	barred.Channels[2].LastClass, barred.Channels[2].LastStatus = models.SendRefusedHost, 0
	barred.Barred = map[models.ChannelID]string{
		barred.Channels[0].ID: "ntfy.example.com", barred.Channels[2].ID: "pager.example.com",
	}
	offered := barred
	offered.Admin = true
	wrong := account.NewNotificationForm(models.DefaultNotificationSettings())
	wrong.Digest, wrong.From, wrong.Until, wrong.Zone = "half past seven", "22:00", "", "Vienna"
	wrong.Moments[models.RiskHigh] = "soon"
	wrong.Errors = map[string]string{
		"digest_at":    "must be a time of day such as 07:30",
		"quiet_to":     "must be set together with “Quiet from”, or left empty like it",
		"zone":         "must be a time zone such as Europe/Vienna",
		"moments_high": "must be one of the choices",
	}
	asSet := account.NewNotificationForm(models.DefaultNotificationSettings())
	asSet.Moments[models.RiskMedium] = models.Moments{AtOnce: true, UnseenMinutes: 7}.String()
	tried := func(result models.SendResult, admin bool) account.NotificationsInput {
		in := ChannelsInput()
		in.Channels, in.Admin = in.Channels[2:3], admin
		in.Trial = &account.TriedChannel{ID: in.Channels[0].ID, Result: result}
		return account.NotificationsInput{Channels: in}
	}
	secret := ChannelsInput()
	secret.Channels, secret.Secret = secret.Channels[5:6], "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	refusal := models.SendResult{
		Class: models.SendRejected, Status: 403, Body: []byte("<script>alert(1)</script> \u202Einvalid_token"),
	}
	return []State{
		own(Usual, "In every state that a channel can have, one with a hostile name",
			account.NotificationsInput{Channels: ChannelsInput()}),
		own("one", "One that works", account.NotificationsInput{Channels: one}),
		own("none", "None yet, and the server can send nothing", account.NotificationsInput{Channels: nothing}),
		own("refused", "A wrong code, and an address that can't be used: it is not shown again",
			account.NotificationsInput{Channels: refused}),
		own("limited", "Too many codes; the address stays", account.NotificationsInput{Channels: limited}),
		own("barred", "Channels whose hosts no admin has allowed, to a reviewer",
			account.NotificationsInput{Channels: barred}),
		own("barred-admin", "The same to an admin, who may allow them", account.NotificationsInput{Channels: offered}),
		own("settings-wrong", "Settings that can't be; what was typed stays",
			account.NotificationsInput{Channels: one, Form: wrong}),
		own("as-set", "Moments that the list doesn't offer stay as they are set",
			account.NotificationsInput{Channels: one, Form: asSet}),
		own("secret", "A webhook was added, whose secret is shown once", account.NotificationsInput{Channels: secret}),
		own("tried", "A test that arrived",
			tried(models.SendResult{Class: models.SendSent, Status: 200, Body: []byte("ok")}, false)),
		own("tried-refused", "A test that was refused, to an admin: with the answer", tried(refusal, true)),
		own("tried-refused-person", "The same to anybody else: without", tried(refusal, false)),
	}
}

// ChannelsInput is a person's channels, in every state there is.
func ChannelsInput() account.ChannelsInput {
	at := func(ago time.Duration) *time.Time { return new(Now.Add(-ago)) }
	channel := func(n string, kind models.ChannelKind, label string, mend func(*models.Channel)) models.Channel {
		c := models.Channel{
			ID: models.ChannelID("01890a5d-ac96-774b-bcce-b302099a880" + n), UserID: "u1", Kind: kind, Label: label,
			CreatedAt: Now.Add(-48 * time.Hour), VerifiedAt: at(47 * time.Hour),
			LastSentAt: at(3 * time.Minute), LastClass: models.SendSent, LastStatus: 200,
		}
		mend(&c)
		return c
	}
	return account.ChannelsInput{
		Means: account.NotifyMeans{
			Mail: true, Push: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA", Secure: true, Hosts: NotificationHosts(),
		},
		Channels: []models.Channel{
			channel("1", models.ChannelEmail, "ada@example.org", func(c *models.Channel) { c.LastStatus = 250 }),
			channel("2", models.ChannelNtfy, "Phone (ntfy.example.com)",
				func(c *models.Channel) { c.VerifiedAt, c.LastSentAt, c.LastClass = nil, nil, "" }),
			channel("3", models.ChannelSlack, "Ops\u202E<b> @everyone (hooks.slack.com)", func(*models.Channel) {}),
			channel("4", models.ChannelWebhook, "Pager (pager.example.com)", func(c *models.Channel) {
				c.FailingSince, c.LastClass, c.LastStatus = at(2*time.Hour), models.SendUnavailable, 503
			}),
			channel("5", models.ChannelWebPush, "Firefox on Linux (updates.push.services.mozilla.com)", func(c *models.Channel) {
				c.DisabledAt, c.LastClass, c.LastStatus = at(time.Hour), models.SendGone, 410
			}),
			channel("6", models.ChannelWebhook, strings.Repeat("long", 24)+" (10.0.0.5:8080)", func(c *models.Channel) {
				c.VerifiedAt, c.LastSentAt, c.LastClass, c.LastStatus = nil, nil, models.SendConnect, 0
			}),
		},
	}
}

// NotificationHosts are hosts that admins allowed.
func NotificationHosts() []models.NotificationHost {
	return []models.NotificationHost{
		{Host: "hooks.slack.com", AddedAt: Now.Add(-72 * time.Hour), AddedBy: "u1", ByName: "Ada Berg"},
		{Host: "10.0.0.5:8080", AddedAt: Now.Add(-time.Hour), ByName: "operator"},
	}
}

func systemNotificationsStates() []State {
	page := func(name, note string, in system.NotificationsInput) State {
		return State{
			Page: "system-notifications", Name: name, Note: note,
			Component: system.NotificationsPage(Frame("Notifications", "/system"), system.NewNotifications(in, Now)),
		}
	}
	means := ChannelsInput().Means
	channels := ChannelsInput().Channels
	failing := models.NotificationBacklog{
		Schedule: 512, Unsent: 40, Oldest: Now.Add(-7 * time.Minute),
		Failures: []models.FailingChannel{
			{Channel: channels[3], Owner: "Bo\u202E Lind"}, {Channel: channels[4], Owner: "group:finance"},
		},
	}
	return []State{
		page(Usual, "All is well",
			system.NotificationsInput{
				Means: means, From: "countersign@example.org", Backlog: models.NotificationBacklog{Schedule: 3},
			}),
		page("failing", "Channels fail, and messages wait",
			system.NotificationsInput{Means: means, From: "Approvals <countersign@example.org>", Backlog: failing}),
		page("barred", "A channel fails because its host is not allowed", system.NotificationsInput{
			Means: means, From: "countersign@example.org", Backlog: failing,
			Barred: map[models.ChannelID]string{channels[3].ID: "pager.example.com"},
		}),
		page("empty", "Nothing is set up", system.NotificationsInput{}),
		page("refused", "A host that is none; what was typed stays", system.NotificationsInput{
			Means: means, Host: "https://hooks.slack.com/x",
			Errors: map[string]string{"host": "must be a host such as ntfy.example.com, or with a port such as 10.0.0.5:8080"},
		}),
	}
}
