package site

import (
	"fmt"
	"strconv"

	"github.com/labstack/echo/v4"

	"countersign/models"
	"countersign/views"
)

// FlashCookie carries the name of one message over a redirect. It is a name and never a text, so that a forged cookie
// can't put words on a page.
const FlashCookie = "countersign-flash"

// flashSeconds is how long a browser keeps a message that no page has shown.
const flashSeconds = 60

var flashes = map[string]views.Flash{
	"signed-out": {Tone: views.ToneNeutral, Text: "You are signed out."},
	"set-up":     {Tone: views.ToneGood, Text: "Account created. You are signed in."},
	"password-changed-tokens": {
		Tone: views.ToneGood, Text: "Password changed. Your other sessions are signed out, and your tokens are revoked.",
	},
	"password-changed":    {Tone: views.ToneGood, Text: "Password changed. Your other sessions are signed out."},
	"retention-cancelled": {Tone: views.ToneGood, Text: "Cancelled. Contents are still kept."},
	"retention-begun": {
		Tone: views.ToneWarn, Text: "Nothing to cancel: it has started, or was already cancelled.",
	},
	"stop-lifted":      {Tone: views.ToneGood, Text: "Stop lifted. The policy judges new requests again."},
	"stopped-before":   {Tone: views.ToneWarn, Text: "It was stopped already. Nothing changed."},
	"token-revoked":    {Tone: views.ToneGood, Text: "Token revoked."},
	"joined":           {Tone: views.ToneGood, Text: "Welcome. Account created. You are signed in."},
	"invite-withdrawn": {Tone: views.ToneGood, Text: "Invitation revoked. Its link no longer works."},
	"group-added":      {Tone: views.ToneGood, Text: "Group added. Now add people to it."},
	"group-described":  {Tone: views.ToneGood, Text: "Group description saved."},
	"group-joined": {
		Tone: views.ToneGood, Text: "Added to the group. Its pending requests are now in their inbox.",
	},
	"group-left":    {Tone: views.ToneGood, Text: "Removed from the group."},
	"group-removed": {Tone: views.ToneGood, Text: "Group removed."},
	"role-changed":  {Tone: views.ToneGood, Text: "Role changed. It takes effect at once."},
	"person-disabled": {
		Tone: views.ToneGood, Text: "Disabled. Their sessions are signed out, and their tokens are refused.",
	},
	"person-enabled":    {Tone: views.ToneGood, Text: "Enabled. They can sign in again."},
	"sessions-of-ended": {Tone: views.ToneGood, Text: "All their sessions are signed out."},
	"session-ended":     {Tone: views.ToneGood, Text: "Session signed out."},
	"sessions-ended":    {Tone: views.ToneGood, Text: "All your other sessions are signed out."},
	"budget-changed":    {Tone: views.ToneGood, Text: "Budget changed."},
	"policy-proposed":   {Tone: views.ToneGood, Text: "Proposed. The admins are told."},
	"policy-confirmed":  {Tone: views.ToneGood, Text: "You agreed. Others have to, too."},
	"proposal-ended":    {Tone: views.ToneNeutral, Text: "The proposal is over. Nothing was saved."},
	"alone-begun":       {Tone: views.ToneWarn, Text: "All admins are told. You may save it when the time is over."},
	"policy-saved":      {Tone: views.ToneGood, Text: "The new version is active."},
	"restored-ended": {
		Tone: views.ToneNeutral,
		Text: "That version allowed calls without approval until a time that has passed. This is not restored; the rest is shown below.",
	},
	"draft-kept": {
		Tone: views.ToneGood, Text: "Draft saved. Nothing takes effect until you save it as a version.",
	},
	"suggestion-drafted": {
		Tone: views.ToneGood, Text: "The suggested rule is in your draft. Check it: nothing takes effect until you save it as a version.",
	},
	"suggestion-dismissed":    {Tone: views.ToneNeutral, Text: "Dismissed. It stays so until somebody has it suggested again."},
	"suggestion-again":        {Tone: views.ToneNeutral, Text: "It is suggested again."},
	"draft-discarded":         {Tone: views.ToneNeutral, Text: "Draft discarded. The active policy is unchanged."},
	"draft-undone":            {Tone: views.ToneNeutral, Text: "The last change to your draft is undone."},
	"conversation-paused":     {Tone: views.ToneGood, Text: "Paused. No model is called until you resume."},
	"conversation-resumed":    {Tone: views.ToneGood, Text: "Resumed."},
	"conversation-stopped":    {Tone: views.ToneGood, Text: "Stopped. Its pending requests have ended."},
	"conversation-archived":   {Tone: views.ToneGood, Text: "Archived. A new message restores it."},
	"conversation-unarchived": {Tone: views.ToneGood, Text: "Restored from the archive."},
	"conversation-on-reject":  {Tone: views.ToneGood, Text: "Changed what happens when a call is rejected."},
	"conversation-renamed":    {Tone: views.ToneGood, Text: "Title changed."},
	"grant-made":              {Tone: views.ToneGood, Text: "Pre-approved. Similar calls are allowed from now on."},
	"grant-made-waits": {
		Tone: views.ToneGood,
		Text: "Pre-approved. Similar calls are allowed from now on. This one is still waiting for a decision.",
	},
	"grant-made-approved": {Tone: views.ToneGood, Text: "Pre-approved, and you approved this one."},
	"grant-made-late": {
		Tone: views.ToneWarn, Text: "Pre-approved. Somebody else decided this one in the meantime.",
	},
	"grant-revoked":     {Tone: views.ToneGood, Text: "Revoked. It allows no more calls."},
	"upstream-added":    {Tone: views.ToneGood, Text: "Added. It is polled from now on."},
	"upstream-key":      {Tone: views.ToneGood, Text: "Key changed. It is being tried now."},
	"upstream-enabled":  {Tone: views.ToneGood, Text: "Enabled. It is polled from now on."},
	"upstream-resumed":  {Tone: views.ToneGood, Text: "Resumed. It is being tried again now."},
	"upstream-disabled": {Tone: views.ToneGood, Text: "Disabled. It is no longer polled."},
	"channel-added":     {Tone: views.ToneGood, Text: "Added. A code is on its way: enter it below."},
	"push-on":           {Tone: views.ToneGood, Text: "This browser gets notifications from now on."},
	"channel-verified":  {Tone: views.ToneGood, Text: "Verified. Notifications go there from now on."},
	"code-sent":         {Tone: views.ToneGood, Text: "A new code is on its way. The one before no longer works."},
	"channel-removed":   {Tone: views.ToneGood, Text: "Removed. Nothing more is sent there."},
	"notifications-set": {Tone: views.ToneGood, Text: "Saved. This applies to requests that come from now on."},
	"absence-planned":   {Tone: views.ToneGood, Text: "Saved. It begins and ends automatically."},
	"absence-ended":     {Tone: views.ToneGood, Text: "Ended. New requests no longer go to the substitute."},
	"substitute-named":  {Tone: views.ToneGood, Text: "Named. An admin has to accept it."},
	"substitute-named-admin": {
		Tone: views.ToneGood, Text: "Named. Another admin has to accept it, for this one would act by it.",
	},
	"substitute-named-alone": {
		Tone: views.ToneWarn, Text: "Named. There is no other admin: only the one who would act by it can accept it.",
	},
	"substitute-named-nobody": {
		Tone: views.ToneWarn,
		Text: "Named, but nobody can accept it: there is no admin who may sign in. Ask the operator to make one.",
	},
	"substitute-accepted": {Tone: views.ToneGood, Text: "Accepted. They may act from now on."},
	"substitute-removed":  {Tone: views.ToneGood, Text: "Removed. They no longer act."},
	"host-allowed":        {Tone: views.ToneGood, Text: "Allowed. Channels and webhooks may name this host."},
	"host-removed":        {Tone: views.ToneGood, Text: "Removed. Nothing more is sent to this host."},
	"webhook-changed":     {Tone: views.ToneGood, Text: "Saved. It applies to what is sent from now on."},
	"webhook-paused":      {Tone: views.ToneGood, Text: "Paused. Nothing is sent until you resume; nothing is lost."},
	"webhook-resumed":     {Tone: views.ToneGood, Text: "Resumed. It goes on where it stopped."},
	"webhook-retried":     {Tone: views.ToneGood, Text: "What was refused is sent again now."},
	"webhook-retired":     {Tone: views.ToneGood, Text: "Only the new secret signs from now on."},
	"webhook-skipped":     {Tone: views.ToneGood, Text: "Skipped. Its conversation goes on with the next event."},
	"webhook-replayed":    {Tone: views.ToneGood, Text: "Events are sent again from there."},
	"webhook-removed":     {Tone: views.ToneGood, Text: "Removed. Nothing more is sent there."},
	"acknowledged":        {Tone: views.ToneGood, Text: "Acknowledged. It is on record that you have looked at it."},
	"acknowledged-before": {Tone: views.ToneNeutral, Text: "Somebody has acknowledged it already."},
	"view-saved":          {Tone: views.ToneGood, Text: "View saved. It is shown to you only."},
	"view-removed":        {Tone: views.ToneNeutral, Text: "View removed. The list is unchanged."},
	"policy-same":         {Tone: views.ToneNeutral, Text: "Nothing changed: the policy already says that."},
}

// SetFlash has the next page show a message, by its name.
func (s *Site) SetFlash(c echo.Context, name string) {
	c.SetCookie(s.Cookie.Cookie(FlashCookie, name, flashSeconds))
}

// takeFlash is the message for this page, shown once.
func (s *Site) takeFlash(c echo.Context) *views.Flash {
	cookie, err := c.Cookie(FlashCookie)
	if err != nil {
		return nil
	}
	c.SetCookie(s.Cookie.Cookie(FlashCookie, "", -1))
	if f, ok := flashes[cookie.Value]; ok {
		return &f
	}
	return agentsStopped(cookie.Value)
}

// StoppedFlash names the message about a stop, with its counts.
func StoppedFlash(cancelled int, stop *models.Stop) string {
	return fmt.Sprintf("agents-stopped.%d.%d.%d", cancelled, stop.Withdrawn, stop.InFlight)
}

// agentsStopped says what a stop ended; nil where the name is of no such message.
func agentsStopped(name string) *views.Flash {
	var cancelled, lost, sent int
	if n, err := fmt.Sscanf(name, "agents-stopped.%d.%d.%d", &cancelled, &lost, &sent); n != 3 || err != nil ||
		min(cancelled, lost, sent) < 0 {
		return nil
	}
	f := &views.Flash{
		Tone: views.ToneGood,
		Text: "Stopped. Pending requests cancelled: " + strconv.Itoa(cancelled) + ". New ones are rejected.",
	}
	if lost > 0 {
		f.Text += " Approvals cancelled before another system received them: " + strconv.Itoa(lost) + "."
	}
	if sent > 0 {
		f.Tone = views.ToneWarn
		f.Text += " Approvals that were being sent at this moment and may take effect: " + strconv.Itoa(sent) + "."
	}
	return f
}
