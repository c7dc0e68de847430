package web

import (
	"github.com/labstack/echo/v4"

	"countersign/views"
)

// flashCookie carries the name of one message over a redirect. It is a name and
// never a text, so that nobody can put words on a page.
const flashCookie = "countersign-flash"

// flashSeconds is how long a browser keeps a message that no page has shown.
const flashSeconds = 60

var flashes = map[string]views.Flash{
	"signed-out":              {Tone: views.ToneNeutral, Text: "You are signed out."},
	"set-up":                  {Tone: views.ToneGood, Text: "The account is made, and you are signed in."},
	"password-changed":        {Tone: views.ToneGood, Text: "The password is changed. Your other sessions have ended."},
	"retention-cancelled":     {Tone: views.ToneGood, Text: "Cancelled: contents are kept as before."},
	"retention-begun":         {Tone: views.ToneWarn, Text: "There was nothing to cancel: it has begun, or was cancelled."},
	"agents-stopped":          {Tone: views.ToneGood, Text: "Stopped: what waited is cancelled, and what comes is rejected."},
	"stop-lifted":             {Tone: views.ToneGood, Text: "The stop is lifted: what agents ask is judged again."},
	"token-revoked":           {Tone: views.ToneGood, Text: "The token is revoked."},
	"joined":                  {Tone: views.ToneGood, Text: "Welcome. The account is made, and you are signed in."},
	"invite-withdrawn":        {Tone: views.ToneGood, Text: "The invitation is withdrawn: its link stopped working."},
	"group-added":             {Tone: views.ToneGood, Text: "The group is added. Put people into it."},
	"group-described":         {Tone: views.ToneGood, Text: "What the group is for is changed."},
	"group-joined":            {Tone: views.ToneGood, Text: "They are in the group, and have what waits for it in their inbox."},
	"group-left":              {Tone: views.ToneGood, Text: "They are out of the group."},
	"group-removed":           {Tone: views.ToneGood, Text: "The group is removed."},
	"role-changed":            {Tone: views.ToneGood, Text: "The role is changed from the next request on."},
	"person-disabled":         {Tone: views.ToneGood, Text: "Disabled: their sessions have ended, and their tokens are refused."},
	"person-enabled":          {Tone: views.ToneGood, Text: "Enabled: they may sign in again."},
	"sessions-of-ended":       {Tone: views.ToneGood, Text: "Their sessions have ended."},
	"session-ended":           {Tone: views.ToneGood, Text: "The session has ended."},
	"sessions-ended":          {Tone: views.ToneGood, Text: "All your other sessions have ended."},
	"budget-changed":          {Tone: views.ToneGood, Text: "The budget is changed."},
	"policy-saved":            {Tone: views.ToneGood, Text: "The new version is active."},
	"restored-ended":          {Tone: views.ToneNeutral, Text: "That version let calls through until a time that has passed. This is not restored: see below what is."},
	"draft-kept":              {Tone: views.ToneGood, Text: "Your draft is kept. Nothing takes effect until you save it as a version."},
	"draft-discarded":         {Tone: views.ToneNeutral, Text: "The draft is discarded. The active policy is unchanged."},
	"draft-undone":            {Tone: views.ToneNeutral, Text: "Your draft is what it was before its last change."},
	"conversation-paused":     {Tone: views.ToneGood, Text: "Paused: no model is called until it is resumed."},
	"conversation-resumed":    {Tone: views.ToneGood, Text: "It goes on."},
	"conversation-stopped":    {Tone: views.ToneGood, Text: "Stopped. What waited in it has ended."},
	"conversation-archived":   {Tone: views.ToneGood, Text: "In the archive. A new message takes it out again."},
	"conversation-unarchived": {Tone: views.ToneGood, Text: "Out of the archive."},
	"conversation-on-reject":  {Tone: views.ToneGood, Text: "What happens when a call is rejected is changed."},
	"conversation-renamed":    {Tone: views.ToneGood, Text: "The title is changed."},
	"grant-made":              {Tone: views.ToneGood, Text: "Pre-approved: calls like this one are allowed from now on."},
	"grant-made-waits":        {Tone: views.ToneGood, Text: "Pre-approved: calls like this one are allowed from now on. This one still waits for a decision."},
	"grant-made-approved":     {Tone: views.ToneGood, Text: "Pre-approved, and you approved this one."},
	"grant-made-late":         {Tone: views.ToneWarn, Text: "Pre-approved. Somebody else decided this one in the meantime."},
	"grant-revoked":           {Tone: views.ToneGood, Text: "Revoked: no further call is allowed by it."},
	"upstream-added":          {Tone: views.ToneGood, Text: "Added: it is polled from now on."},
	"upstream-key":            {Tone: views.ToneGood, Text: "The key is changed, and tried at once."},
	"upstream-enabled":        {Tone: views.ToneGood, Text: "Enabled: it is polled from now on."},
	"upstream-resumed":        {Tone: views.ToneGood, Text: "Resumed: it is tried again now."},
	"upstream-disabled":       {Tone: views.ToneGood, Text: "Disabled: it is not polled any more."},
	"policy-same":             {Tone: views.ToneNeutral, Text: "Nothing changed: the policy says that already."},
}

func (s *Site) setFlash(c echo.Context, name string) {
	c.SetCookie(s.cookie.cookie(flashCookie, name, flashSeconds))
}

// takeFlash is the message for this page, shown once.
func (s *Site) takeFlash(c echo.Context) *views.Flash {
	cookie, err := c.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	c.SetCookie(s.cookie.cookie(flashCookie, "", -1))
	if f, ok := flashes[cookie.Value]; ok {
		return &f
	}
	return nil
}
