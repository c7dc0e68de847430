package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/account"
	"countersign/views/pages/nav"
)

// alone is the shell of a form that stands alone.
func alone(title, path string) views.Page {
	return views.Page{Title: title, Path: path, Now: Now, Narrow: true}
}

func accountStates() []State {
	p, join := alone("Sign in", "/signin"), alone("Join", "/join")
	invite := PeopleInput().Invites[0]
	unsent := account.Unsent{
		Action: "/conversations/" + string(ConversationID) + "/say",
		Fields: []account.UnsentField{
			{Name: "digest", Value: "0123"},
			{Name: "text", Value: "Use the other branch.\n\nAnd tell me when the tests pass.", Written: true},
		},
	}
	throttled := account.NewSignIn("ada@example.org", "/audit",
		&models.Error{Code: models.CodeTooManyRequests, RetryAfterSeconds: 601})
	return []State{
		{
			Page: "signin", Name: Usual, Note: "Nobody is signed in",
			Component: account.SignInPage(p, account.NewSignIn("", "", nil)),
		},
		{
			Page: "signin", Name: "wrong", Note: "Says nothing of whether the account exists",
			Component: account.SignInPage(p,
				account.NewSignIn("ada@example.org", "/audit", models.Errorf(models.CodeUnauthenticated, "no"))),
		},
		{
			Page: "signin", Name: "unsent", Note: "A form came after its session had ended",
			Component: account.SignInPage(p, account.SignIn{Next: "/conversations", Unsent: &unsent}),
		},
		{
			Page: "unsent", Name: Usual, Note: "Signed in again, the form is still to be sent",
			Component: account.UnsentPage(p, "Ada Lovelace", unsent, "/conversations"),
		},
		{Page: "signin", Name: "wait", Note: "Too many tries", Component: account.SignInPage(p, throttled)},
		{
			Page: "setup", Name: Usual, Note: "The first admin",
			Component: account.NewAccountPage(p, account.FirstAccount("k3y", "", "", nil)),
		},
		{
			Page: "setup", Name: "errors", Note: "An error at its field",
			Component: account.NewAccountPage(p,
				account.FirstAccount("k3y", "Ada", "ada", models.Invalid("email", "must be an e-mail address"))),
		},
		{
			Page: "join", Name: Usual, Note: "Somebody who was invited",
			Component: account.NewAccountPage(join, account.InvitedAccount("k3y", invite, "", nil)),
		},
		{
			Page: "join", Name: "errors", Note: "An error at its field",
			Component: account.NewAccountPage(join,
				account.InvitedAccount("k3y", invite, "Ad", models.Invalid("password", "must be 12 to 128 characters long"))),
		},
		{
			Page: "password", Name: Usual, Note: "With an error",
			Component: account.PasswordPage(Frame("Change password", "/account/password"),
				account.NewPassword(views.Viewer{Email: "ada@example.org"}, models.Invalid("current", "is not your password"))),
		},
	}
}

func failureStates() []State {
	return []State{
		{Page: "offline", Name: Usual, Note: "There is no network", Component: nav.OfflinePage(alone("Offline", "/offline"))},
		{
			Page: "failure", Name: "404", Note: "Nothing is there, to somebody signed in",
			Component: nav.FailurePage(Frame("Not found", "/nowhere"), nav.NewFailure(404, "", "req-1")),
		},
		{
			Page: "failure", Name: "401", Note: "Nobody is signed in",
			Component: nav.FailurePage(alone("Sign in", "/policy"), nav.NewFailure(401, "", "req-3")),
		},
		{
			Page: "failure", Name: "403", Note: "No permission",
			Component: nav.FailurePage(Frame("Forbidden", "/people"),
				nav.NewFailure(403, "Only an admin may do this.", "req-4")),
		},
		{
			Page: "failure", Name: "409", Note: "Changed meanwhile",
			Component: nav.FailurePage(Frame("Conflict", "/policy"),
				nav.NewFailure(409, "Version 8 was saved in the meantime.", "req-5")),
		},
		{
			Page: "failure", Name: "413", Note: "Too much was sent",
			Component: nav.FailurePage(Frame("Too large", "/policy"),
				nav.NewFailure(413, "At most 512 KiB are taken.", "req-6")),
		},
		{
			Page: "failure", Name: "429", Note: "Too often",
			Component: nav.FailurePage(Frame("Too many requests", "/events"),
				nav.NewFailure(429, "Wait 12 seconds.", strings.Repeat("req-", 40))),
		},
		{
			Page: "failure", Name: "503", Note: "The server stops",
			Component: nav.FailurePage(Frame("Unavailable", "/"), nav.NewFailure(503, "", "req-7")),
		},
		{
			Page: "failure", Name: "500", Note: "The server's own fault",
			Component: nav.FailurePage(alone("Sign in", "/signin"), nav.NewFailure(500, "", "req-2")),
		},
	}
}

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
