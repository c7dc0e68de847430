package policy

import (
	"countersign/handlers/web/request"
	"countersign/handlers/web/site"
	"countersign/views/pages/policies"
)

// Screens are the pages of the policy.
type Screens struct {
	*site.Site
	request *request.Screens
	replays *replays
}

// New makes them; a rule may be made of a request.
func New(s *site.Site, r *request.Screens) *Screens {
	return &Screens{Site: s, request: r, replays: &replays{store: s.Store, now: s.Kit.Now, log: s.Kit.Log}}
}

// Stop ends running replays. Stopping twice is harmless.
func (s *Screens) Stop() { s.replays.stop() }

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	return []site.Route{
		site.Get("/policy", site.Person, s.policy(policies.Rules)),
		site.Post("/policy", site.Drafter, s.changePolicy(policies.Rules)),
		site.Get("/policy/settings", site.Person, s.policy(policies.Settings)),
		site.Post("/policy/settings", site.Drafter, s.changePolicy(policies.Settings)),
		site.Get("/policy/templates", site.Drafter, s.policy(policies.Templates)),
		site.Post("/policy/templates", site.Drafter, s.changePolicy(policies.Templates)),
		site.Get("/policy/versions", site.PolicyReader, s.policy(policies.Versions)),
		site.Post("/policy/versions", site.Drafter, s.changePolicy(policies.Versions)),
		site.Get("/policy/guide", site.Person, s.policyGuide),
		site.Get("/policy/json", site.Drafter, s.showPolicyJSON),
		site.Post("/policy/json", site.Drafter, s.changePolicyJSON),
		site.Get("/policy/review", site.Drafter, s.reviewPolicy),
		site.Post("/policy/review", site.Drafter, s.saveOrMergePolicy),
		site.Get("/policy/proposal", site.PolicyReader, s.showProposal),
		site.Post("/policy/proposal", site.Drafter, s.actOnProposal),
		site.Get("/policy/try", site.Drafter, s.tryPolicy),
		site.Post("/policy/try", site.Drafter, s.tryPolicy),
		site.Post("/policy/retention/cancel", site.Admin, s.keepLonger),
		site.Get("/policy/replay", site.Drafter, s.showReplay),
		site.Post("/policy/replay", site.Drafter, s.replayPolicy),
		site.Get("/policy/replay/export", site.Drafter, s.exportReplay),
		site.Get("/policy/suggestions", site.Drafter, s.showSuggestions),
		site.Post("/policy/suggestions", site.Drafter, s.actOnSuggestion),
		site.Post("/policy/rules/condition", site.Drafter, s.showRuleCondition),
		site.Post("/policy/rules/matches", site.Drafter, s.showToolMatches),
		site.Get("/policy/rules/:n", site.Drafter, s.showPolicyRule),
		site.Post("/policy/rules/:n", site.Drafter, s.changePolicyRule),
		site.Get("/policy/templates/:n", site.Drafter, s.showPolicyTemplate),
		site.Post("/policy/templates/:n", site.Drafter, s.changePolicyTemplate),
		site.Get("/policy/versions/:n", site.PolicyReader, s.policyVersion),
		site.Get("/policy/versions/:n/restore", site.PolicyReader, s.policyVersion),
		site.Post("/policy/versions/:n/restore", site.Drafter, s.restorePolicy),
	}
}
