package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/static"
	"countersign/views"
)

// right is what a route asks of whoever sends a request.
type right int

const (
	anyone right = iota // without a session, too
	person              // whoever is signed in; the handler judges what they may see
	admin               // an admin who is signed in
)

// route is one row of the table: what leads where, and who may go there.
type route struct {
	method, path string
	right        right
	handler      echo.HandlerFunc
}

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// table is every address of the pages. Where only a form leads, the same address
// typed or restored leads back: to…, which changes nothing.
func (s *Site) table() []route {
	toInbox, toAgents, toPeople := goTo(views.InboxURL()), goTo(views.AgentsURL()), goTo(views.PeopleURL())
	toNotifications, toHosts := goTo(views.NotificationsURL()), goTo(views.SystemNotificationsURL())
	toAway, toPeopleAway := goTo(views.AwayURL()), goTo(views.PeopleAwayURL())
	toRequest, toConversation, toCall, toGrant := backToPageOfRequest, s.backToConversation, s.backToCall, s.backToGrant
	toGroup := func(c echo.Context) error { return goTo(views.GroupURL(c.Param("name")))(c) }
	rows := []route{
		// Before there is a session.
		{get, static.Prefix + "*", anyone, serveStatic},
		{get, views.WorkerURL(), anyone, serveWorker},
		{get, views.OfflineURL(), anyone, showOffline},
		{get, "/docs/webhooks", anyone, s.webhookGuide},
		{get, "/setup", anyone, s.showSetup},
		{post, "/setup", anyone, s.setup},
		{get, "/signin", anyone, s.showSignIn},
		{post, "/signin", anyone, s.signIn},
		{get, "/join", anyone, s.showJoin},
		{post, "/join", anyone, s.join},

		// The session and the account.
		{get, "/signout", person, toInbox},
		{post, "/signout", person, s.signOut},
		{get, "/session", person, s.session},
		{get, "/events", person, s.events},
		{get, "/account/password", person, s.showPassword},
		{post, "/account/password", person, s.changePassword},
		{get, "/account/sessions", person, s.mySessions},
		{post, "/account/sessions/:id/end", person, s.endSession},
		{post, "/account/sessions/end-others", person, s.endOtherSessions},

		// Notifications: where and when somebody is told of what waits.
		{get, "/account/notifications", person, s.notifications},
		{post, "/account/notifications", person, s.setNotifications},
		{get, "/account/notifications/channels", person, toNotifications},
		{post, "/account/notifications/channels", person, inPlace(s.ownChannels, s.addChannel)},
		{post, "/account/notifications/channels/:id/verify", person, inPlace(s.ownChannels, s.verifyChannel)},
		{post, "/account/notifications/channels/:id/code", person, inPlace(s.ownChannels, s.resendCode)},
		{post, "/account/notifications/channels/:id/test", person, inPlace(s.ownChannels, s.tryChannel)},
		{post, "/account/notifications/channels/:id/remove", person, inPlace(s.ownChannels, s.removeChannel)},
		{get, "/account/notifications/channels/:id/:what", person, toNotifications},
		{get, "/account/away", person, s.away(ownAway)},
		{post, "/account/away", person, s.planAbsence(ownAway)},
		{get, "/account/away/:id/end", person, toAway},
		{post, "/account/away/:id/end", person, s.endAbsence(ownAway)},
		{get, "/account/away/substitutes", person, toAway},
		{post, "/account/away/substitutes", person, s.nameSubstitute(ownAway)},
		{get, "/account/away/substitutes/:id/remove", person, toAway},
		{post, "/account/away/substitutes/:id/remove", person, s.removeSubstitute(ownAway)},

		{get, "/go", person, s.lookUp},

		// The inbox.
		{get, "/", person, s.inbox},
		{get, "/inbox/token", person, toInbox},
		{post, "/inbox/token", person, s.teachToken},
		{get, "/approvals/bulk", person, toInbox},
		{post, "/approvals/bulk", person, s.bulk},
		{get, "/approvals/bulk/undo", person, toInbox},
		{post, "/approvals/bulk/undo", person, s.undoBulk},

		// What a phone's bar has no room for.
		{get, "/more", person, s.more},

		// One request.
		{get, "/approvals/:id", person, s.approval},
		{get, "/approvals/:id/input", person, s.input},
		{get, "/approvals/:id/presence", person, s.presence},
		{get, "/at-desk", person, toInbox},
		{post, "/at-desk", person, s.atDesk},
		{get, "/approvals/:id/look", person, toRequest},
		{post, "/approvals/:id/look", person, s.look},
		{get, "/approvals/:id/decide", person, toRequest},
		{post, "/approvals/:id/decide", person, s.decide},
		{get, "/approvals/:id/undo", person, toRequest},
		{post, "/approvals/:id/undo", person, s.undo},
		{get, "/approvals/:id/open", person, toRequest},
		{post, "/approvals/:id/open", person, s.openPart},
		{get, "/approvals/:id/ask", person, toRequest},
		{post, "/approvals/:id/ask", person, s.askBack},
		{get, "/approvals/:id/notes", person, toRequest},
		{post, "/approvals/:id/notes", person, s.answerNote},
		{get, "/approvals/:id/extend", person, toRequest},
		{post, "/approvals/:id/extend", person, s.extend},
		{get, "/approvals/:id/hand-over", person, toRequest},
		{post, "/approvals/:id/hand-over", person, s.handOver},
		{get, "/approvals/:id/hand-over/:handover/take-back", person, toRequest},
		{post, "/approvals/:id/hand-over/:handover/take-back", person, s.takeBackHandOver},
		{get, "/approvals/:id/cancel", person, toRequest},
		{post, "/approvals/:id/cancel", person, s.cancelRequest},
		{get, "/approvals/:id/withdraw-decision", person, toRequest},
		{post, "/approvals/:id/withdraw-decision", admin, s.withdrawDecision},

		// Pre-approvals.
		{get, "/approvals/:id/grant", person, s.showGrantForm},
		{post, "/approvals/:id/grant", person, s.makeGrant},
		{get, "/grants", person, s.grants},
		{get, "/grants/:id", person, s.grant},
		{get, "/grants/:id/revoke", person, toGrant},
		{post, "/grants/:id/revoke", person, s.revokeGrant},

		// What is over.
		{get, "/history", person, s.history},
		{get, "/history/export", person, s.exportHistory},

		// Conversations.
		{get, "/conversations", person, s.conversations},
		{get, "/conversations/new", person, s.newConversation},
		{post, "/conversations", person, s.beginConversation},
		{get, "/conversations/:id", person, s.conversation},
		{get, "/conversations/:id/draft", person, s.draft},
		{get, "/conversations/:id/say", person, toConversation},
		{post, "/conversations/:id/say", person, s.say},
		{get, "/conversations/:id/decide/:response", person, toConversation},
		{post, "/conversations/:id/decide/:response", person, s.decideHere},
		{get, "/conversations/:id/calls/:response", person, s.call},
		{get, "/conversations/:id/calls/:response/close", person, toCall},
		{post, "/conversations/:id/calls/:response/close", person, s.closeCall},
		{get, "/conversations/:id/steer", person, toConversation},
		{post, "/conversations/:id/steer", person, s.steer},
		{get, "/conversations/:id/rename", person, toConversation},
		{post, "/conversations/:id/rename", person, s.rename},
		{get, "/conversations/:id/on-reject", person, toConversation},
		{post, "/conversations/:id/on-reject", person, s.chooseOnReject},
		{get, "/conversations/:id/budget", person, s.budget},
		{post, "/conversations/:id/budget", person, s.changeBudget},

		// Agents and the policy.
		{get, "/agents", person, s.agents},
		{get, "/agents/all", admin, s.everyone},
		{get, "/agents/tokens", person, toAgents},
		{post, "/agents/tokens", person, s.addToken},
		{post, "/agents/tokens/:id/revoke", person, s.revokeToken},
		{get, "/agents/stops", person, toAgents},
		{post, "/agents/stops", person, s.stopAgents},
		{post, "/agents/stops/:id/lift", person, s.liftStop},
		{get, "/connect", person, s.connect},
		{post, "/connect", person, s.makeConnection},
		{get, "/connect/received", person, s.received},
		{get, "/policy", person, s.policy},
		{post, "/policy", admin, s.changePolicy},
		{get, "/policy/guide", person, s.policyGuide},
		{get, "/policy/json", admin, s.showPolicyJSON},
		{post, "/policy/json", admin, s.changePolicyJSON},
		{get, "/policy/review", admin, s.reviewPolicy},
		{post, "/policy/review", admin, s.saveOrMergePolicy},
		{get, "/policy/try", admin, s.tryPolicy},
		{post, "/policy/try", admin, s.tryPolicy},
		{post, "/policy/retention/cancel", admin, s.keepLonger},
		{get, "/policy/replay", admin, s.showReplay},
		{post, "/policy/replay", admin, s.replayPolicy},
		{get, "/policy/replay/export", admin, s.exportReplay},
		{post, "/policy/rules/matches", admin, s.showToolMatches},
		{get, "/policy/rules/:n", admin, s.showPolicyRule},
		{post, "/policy/rules/:n", admin, s.changePolicyRule},
		{get, "/policy/templates/:n", admin, s.showPolicyTemplate},
		{post, "/policy/templates/:n", admin, s.changePolicyTemplate},
		{get, "/policy/versions/:n", admin, s.policyVersion},
		{get, "/policy/versions/:n/restore", admin, s.policyVersion},
		{post, "/policy/versions/:n/restore", admin, s.restorePolicy},

		// The audit: a person's own, another's, and all of it.
		{get, "/audit", person, s.audit},
		{get, "/audit/print", person, s.printAudit},
		{get, "/audit/export", person, s.exportAudit},
		{get, "/people/:id/audit", admin, s.audit},
		{get, "/people/:id/audit/print", admin, s.printAudit},
		{get, "/people/:id/audit/export", admin, s.exportAudit},
		{get, "/audit/all", admin, s.ledger},
		{get, "/audit/entries/:n", admin, s.ledgerEntry},
		{get, "/audit/chain", admin, s.showChain},
		{post, "/audit/chain", admin, s.checkChain},

		// People, the system and its upstreams.
		{get, "/people", admin, s.people},
		{get, "/people/invites", admin, toPeople},
		{post, "/people/invites", admin, s.invite},
		{post, "/people/invites/:id/withdraw", admin, s.withdrawInvite},
		{get, "/people/away", admin, s.away(peopleAway)},
		{post, "/people/away", admin, s.planAbsence(peopleAway)},
		{get, "/people/away/:id/end", admin, toPeopleAway},
		{post, "/people/away/:id/end", admin, s.endAbsence(peopleAway)},
		{get, "/people/away/substitutes", admin, toPeopleAway},
		{post, "/people/away/substitutes", admin, s.nameSubstitute(peopleAway)},
		{get, "/people/away/substitutes/:id/:what", admin, toPeopleAway},
		{post, "/people/away/substitutes/:id/accept", admin, s.acceptSubstitute},
		{post, "/people/away/substitutes/:id/remove", admin, s.removeSubstitute(peopleAway)},
		{get, "/people/groups", admin, s.groups},
		{post, "/people/groups", admin, s.addGroup},
		{get, "/people/groups/:name", admin, s.group},
		{post, "/people/groups/:name", admin, s.describeGroup},
		{get, "/people/groups/:name/members", admin, toGroup},
		{post, "/people/groups/:name/members", admin, s.joinGroup},
		{post, "/people/groups/:name/members/:id/remove", admin, s.leaveGroup},
		{get, "/people/groups/:name/channels", admin, toGroup},
		{post, "/people/groups/:name/channels", admin, inPlace(s.groupChannels, s.addChannel)},
		{post, "/people/groups/:name/channels/:id/verify", admin, inPlace(s.groupChannels, s.verifyChannel)},
		{post, "/people/groups/:name/channels/:id/code", admin, inPlace(s.groupChannels, s.resendCode)},
		{post, "/people/groups/:name/channels/:id/test", admin, inPlace(s.groupChannels, s.tryChannel)},
		{post, "/people/groups/:name/channels/:id/remove", admin, inPlace(s.groupChannels, s.removeChannel)},
		{get, "/people/groups/:name/channels/:id/:what", admin, toGroup},
		{get, "/people/groups/:name/remove", admin, toGroup},
		{post, "/people/groups/:name/remove", admin, s.removeGroup},
		{post, "/people/:id/role", admin, s.changePerson("role-changed", s.setRole)},
		{post, "/people/:id/disable", admin, s.changePerson("person-disabled", s.disablePerson)},
		{post, "/people/:id/enable", admin, s.changePerson("person-enabled", s.enablePerson)},
		{post, "/people/:id/end-sessions", admin, s.changePerson("sessions-of-ended", s.endSessionsOf)},
		{get, "/system", admin, s.system},
		{get, "/system/notifications", admin, s.systemNotifications},
		{get, "/system/notifications/hosts", admin, toHosts},
		{post, "/system/notifications/hosts", admin, s.allowHost},
		{get, "/system/notifications/hosts/remove", admin, toHosts},
		{post, "/system/notifications/hosts/remove", admin, s.removeHost},
		{get, "/system/webhooks", admin, s.webhooks},
		{post, "/system/webhooks", admin, s.addWebhook},
		{get, "/system/webhooks/new", admin, s.showNewWebhook},
		{get, "/system/webhooks/:id", admin, s.webhook},
		{post, "/system/webhooks/:id", admin, s.changeWebhook},
		{get, "/system/webhooks/:id/change", admin, s.showWebhookChange},
		{get, "/system/webhooks/:id/replay", admin, s.showWebhookReplay},
		{post, "/system/webhooks/:id/replay", admin, s.replayWebhook},
		{post, "/system/webhooks/:id/test", admin, s.tryWebhook},
		{post, "/system/webhooks/:id/pause", admin, s.actOnWebhook("webhook-paused", s.store.Webhooks.Pause)},
		{post, "/system/webhooks/:id/resume", admin, s.actOnWebhook("webhook-resumed", s.store.Webhooks.Resume)},
		{post, "/system/webhooks/:id/retry", admin, s.actOnWebhook("webhook-retried", s.store.Webhooks.RetryNow)},
		{post, "/system/webhooks/:id/retire", admin, s.actOnWebhook("webhook-retired", s.store.Webhooks.RetireOldKey)},
		{post, "/system/webhooks/:id/skip", admin, s.skipWebhook},
		{post, "/system/webhooks/:id/rotate", admin, s.rotateWebhook},
		{post, "/system/webhooks/:id/remove", admin, s.removeWebhook},
		{get, "/system/webhooks/:id/:act", admin, backToWebhook},
		{get, "/upstreams", admin, s.upstreams},
		{post, "/upstreams", admin, s.addUpstream},
		{post, "/upstreams/:id/key", admin, s.changeUpstream("upstream-key", s.setUpstreamKey)},
		{post, "/upstreams/:id/enable", admin, s.changeUpstream("upstream-enabled", s.enableUpstream(true))},
		{post, "/upstreams/:id/resume", admin, s.changeUpstream("upstream-resumed", s.resumeUpstream)},
		{post, "/upstreams/:id/disable", admin, s.changeUpstream("upstream-disabled", s.enableUpstream(false))},
	}
	if s.opts.Gallery != nil {
		rows = append(rows,
			route{get, views.GalleryURL(), person, s.gallery},
			route{get, views.GalleryURL() + "/:page/:state", person, s.galleryState},
		)
	}
	return rows
}

// register adds the table's rows to the router. There are no groups: echo would
// answer what a group does not have with 404 where the method is what is wrong.
func (s *Site) register(e *echo.Echo) {
	behind := map[right][]echo.MiddlewareFunc{
		anyone: nil,
		person: {s.signedIn},
		admin:  {s.signedIn, adminsOnly},
	}
	for _, r := range s.table() {
		e.Add(r.method, r.path, r.handler, behind[r.right]...)
	}
}

func goTo(path string) echo.HandlerFunc {
	return func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, path) }
}

// backToPageOfRequest leads to the page of the request in the address.
func backToPageOfRequest(c echo.Context) error {
	id, err := requestID(c)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.ApprovalURL(id))
}
