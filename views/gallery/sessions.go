package gallery

import (
	"time"

	"countersign/models"
	"countersign/views/pages/account"
)

func sessionsStates() []State {
	page := func(name, note string, in account.SessionsInput) State {
		return State{
			Page: "sessions", Name: name, Note: note,
			Component: account.SessionsPage(Frame("My sessions", "/account/sessions"), account.NewSessions(in)),
		}
	}
	return []State{
		page(Usual, "This one and others, one with a hostile name", SessionsInput()),
		page("one", "Only this one", account.SessionsInput{Devices: SessionsInput().Devices[:1], Current: "s1"}),
		page("none", "Past the last page", account.SessionsInput{Before: "s0"}),
	}
}

// Firefox is what that browser calls itself.
const Firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0"

// SessionsInput is where one person is signed in, by one browser and others.
func SessionsInput() account.SessionsInput {
	device := func(id models.SessionID, agent, address string, ago time.Duration) models.Device {
		return models.Device{
			ID: id, UserAgent: agent, Address: address, CreatedAt: Now.Add(-ago - time.Hour), LastSeenAt: Now.Add(-ago),
			ExpiresAt: Now.Add(13 * 24 * time.Hour),
		}
	}
	return account.SessionsInput{
		Current: "s1", Next: "s3",
		Devices: []models.Device{
			device("s1", Firefox, "192.0.2.7", time.Second), device("s2", "evil\u202E<b>", "2001:db8::1", time.Hour),
			device("s3", "", "198.51.100.4", 2*time.Hour),
		},
	}
}
