package account

import (
	"strings"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// SessionsInput is what the page of one's own sessions is made of.
type SessionsInput struct {
	Devices []models.Device // one page, the latest sign-in first
	Current models.SessionID
	Before  models.SessionID // the key this page began with
	Next    models.SessionID
}

// Sessions is the view model of one's own sessions.
type Sessions struct {
	Rows              []SessionRow
	Others            bool // there may be others to end
	FirstURL, NextURL string
}

// SessionRow is one signed-in browser.
type SessionRow struct {
	Device       string // in words, as far as the browser says
	Agent        string // what the browser says
	Address      string
	Current      bool
	Seen, SignIn views.Moment
	Ends         views.Moment
	EndURL       string
}

// sessionColumns head one's own sessions.
var sessionColumns = []ui.Column{
	{Label: "Device"},
	{Label: "Address", Width: "large"},
	ui.TimeColumn("Last seen"),
	{Label: "Signed in", Width: "time", Wide: true},
	{Label: "Expires", Width: "time"},
	{Width: "medium"},
}

// NewSessions makes the page.
func NewSessions(in SessionsInput) Sessions {
	v := Sessions{Others: in.Before != "" || in.Next != ""}
	if in.Before != "" {
		v.FirstURL = views.SessionsURL()
	}
	if in.Next != "" {
		v.NextURL = views.SessionsPageURL(in.Next)
	}
	for _, d := range in.Devices {
		row := SessionRow{
			Device: DeviceName(d.UserAgent), Agent: d.UserAgent, Address: d.Address, Current: d.ID == in.Current,
			Seen: views.Stamp(d.LastSeenAt), SignIn: views.Stamp(d.CreatedAt), Ends: views.Stamp(d.ExpiresAt),
			EndURL: views.EndSessionURL(d.ID),
		}
		v.Others = v.Others || !row.Current
		v.Rows = append(v.Rows, row)
	}
	return v
}

// DeviceName says which browser on which system a User-Agent claims to be:
// "Firefox on Linux". What it does not know is "unknown program".
func DeviceName(agent string) string {
	// The order matters: most browsers name the others too.
	browser := firstNamed(agent, "Edg/", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "FxiOS/", "Firefox", "CriOS/",
		"Chrome", "Chrome/", "Chrome", "Safari/", "Safari", "curl/", "curl")
	system := firstNamed(agent, "Android", "Android", "iPhone", "iPhone", "iPad", "iPad", "Windows", "Windows", "CrOS",
		"ChromeOS", "Mac OS X", "macOS", "Linux", "Linux")
	switch {
	case browser == "" && system == "":
		return "unknown program"
	case browser == "":
		return "program on " + system
	case system == "":
		return browser
	}
	return browser + " on " + system
}

// firstNamed takes pairs of what to look for and what to call it.
func firstNamed(text string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		if strings.Contains(text, pairs[i]) {
			return pairs[i+1]
		}
	}
	return ""
}
