package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/people"
	"countersign/models/policy"
)

// whoDecides resolves the people and groups whom a rule names to people who are enabled,
// and freezes in the row who may approve it: people as they are now, groups by name. It
// returns whom the request is routed to besides the owner, and whether anybody at all is
// able to approve.
func (t *Tx) whoDecides(r *models.Response, j policy.Judgement) (reviewers []models.UserID, able bool, err error) {
	if r.Kind == models.KindQuestion {
		j = j.Answered()
	}
	who := models.Approvers{ReviewersOnly: j.ReviewersOnly, SelfApproval: j.SelfApproval, NoSubstitutes: j.NoSubstitutes}
	asked := models.NamedAs("")
	if j.Only != nil {
		asked = models.NamedToAsk
	}
	if len(j.Approvals) > 0 {
		return t.whoSigns(r, j, who)
	}
	emails, groups := splitReviewers(j.Reviewers)
	named, err := t.named(emails)
	if err != nil {
		return nil, false, err
	}
	for _, p := range named {
		if p.ID != r.OwnerID {
			reviewers = append(reviewers, p.ID)
		}
	}
	who.Named = naming(named, groups, asked)
	if reviewers, err = t.andMembers(r, reviewers, groups); err != nil {
		return nil, false, err
	}
	if j.Only != nil {
		emails, groups := splitReviewers(j.Only)
		if named, err = t.named(emails); err != nil {
			return nil, false, err
		}
		who.Named = append(who.Named, naming(named, groups, models.NamedToLimit)...)
	}
	if who.Named, err = t.andSteps(who.Named, j.Escalate, asked); err != nil {
		return nil, false, err
	}
	if who.SelfApproval == models.SelfNever {
		who.Named = slices.DeleteFunc(who.Named, func(a models.Approver) bool { return a.ID == r.OwnerID })
	}
	if who.Named, err = t.andReaders(who.Named, j.Readers); err != nil {
		return nil, false, err
	}
	if who.Limited() || len(who.Named) > 0 || who.NoSubstitutes {
		r.SetApprovers(who)
	}
	if j.SelfApproval == models.SelfNotAlone {
		r.SetQuorum(&models.Quorum{NotAlone: true})
		able, err = t.meetable(r, reviewers)
		return reviewers, able, err
	}
	if who.Limited() {
		able, err = t.canApprove(r, reviewers)
		return reviewers, able, err
	}
	if able, err = t.Enabled(r.OwnerID); err != nil || able || len(reviewers) > 0 {
		return reviewers, able || len(reviewers) > 0, err
	}
	if able, err = db.Exists(t.Row(t.s.hot.anyAdmin)); err != nil || able {
		return reviewers, able, err
	}
	able, err = t.laterAble(r)
	return reviewers, able, err
}

// whoSigns is whoDecides where several people must sign.
func (t *Tx) whoSigns(
	r *models.Response, j policy.Judgement, who models.Approvers,
) (reviewers []models.UserID, able bool, err error) {
	as := models.NamedAs("")
	if j.Only != nil { // a template that the agent named limits who signs, and asks no one
		as = models.NamedToLimit
	}
	q, named, err := t.quorumOf(j, as)
	if err != nil {
		return nil, false, err
	}
	ask := j.Reviewers
	if j.Only == nil && j.Stages {
		ask = j.Approvals[0].From
	}
	emails, groups := splitReviewers(ask)
	people, err := t.named(emails)
	if err != nil {
		return nil, false, err
	}
	for _, p := range people {
		if p.ID != r.OwnerID {
			reviewers = append(reviewers, p.ID)
		}
	}
	if reviewers, err = t.andMembers(r, reviewers, groups); err != nil {
		return nil, false, err
	}
	who.Named = named
	if j.Only != nil {
		who.Named = append(naming(people, groups, models.NamedToAsk), named...)
	}
	emails, groups = splitReviewers(j.BreakGlass)
	if people, err = t.named(emails); err != nil {
		return nil, false, err
	}
	who.Named = append(who.Named, naming(people, groups, models.NamedForGlass)...)
	if who.SelfApproval == models.SelfNever {
		who.Named = slices.DeleteFunc(who.Named, func(a models.Approver) bool { return a.ID == r.OwnerID })
	}
	if who.Named, err = t.andReaders(who.Named, j.Readers); err != nil {
		return nil, false, err
	}
	r.SetApprovers(who)
	r.SetQuorum(q)
	able, err = t.meetable(r, reviewers)
	return reviewers, able, err
}

// andReaders adds those who see a request and decide nothing.
func (t *Tx) andReaders(to []models.Approver, readers []string) ([]models.Approver, error) {
	emails, groups := splitReviewers(readers)
	people, err := t.named(emails)
	return append(to, naming(people, groups, models.NamedToRead)...), err
}

// naming are people and groups as a request freezes them.
func naming(people []models.Approver, groups []string, as models.NamedAs) []models.Approver {
	out := make([]models.Approver, 0, len(people)+len(groups))
	for _, p := range people {
		p.As = as
		out = append(out, p)
	}
	for _, g := range groups {
		out = append(out, models.Approver{Group: g, As: as})
	}
	return out
}

// splitReviewers parts whom a rule names into the e-mails of people and the names of groups.
func splitReviewers(reviewers []string) (emails, groups []string) {
	for _, r := range reviewers {
		if name, ok := models.GroupOf(r); !ok {
			emails = append(emails, r)
		} else if !slices.Contains(groups, name) {
			groups = append(groups, name)
		}
	}
	return emails, groups
}

// andMembers adds the members of groups to those a request is routed to, but for its owner.
func (t *Tx) andMembers(r *models.Response, reviewers []models.UserID, groups []string) ([]models.UserID, error) {
	members, err := t.s.People.EnabledMembers(t.Tx, groups)
	for _, id := range members {
		if id != r.OwnerID && !slices.Contains(reviewers, id) {
			reviewers = append(reviewers, id)
		}
	}
	slices.Sort(reviewers)
	return reviewers, err
}

// named are the enabled people among e-mails.
func (t *Tx) named(emails []string) ([]models.Approver, error) {
	if len(emails) == 0 {
		return nil, nil
	}
	folds := make([]string, len(emails))
	for i, email := range emails {
		folds[i] = people.FoldEmail(email)
	}
	var found []models.Approver
	if err := t.Gorm().Model(&models.User{}).Select("id, email").Where("email IN ? AND "+people.MayDecide("users"), folds).
		Order("id").Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("resolve reviewers: %w", err)
	}
	return found, nil
}

// Who may approve a request whose rule makes a demand: the people it names, and
// where it does not insist on them also admins, but for the owner.
var (
	enabledAdminBut = `SELECT 1 FROM users WHERE role = 'admin' AND disabled_at IS NULL AND id <> ? LIMIT 1`
	reviewersOf     = `SELECT user_id FROM reviewers WHERE response_id = ?`
	otherReviewer   = `SELECT 1 FROM reviewers v JOIN users u ON u.id = v.user_id
 WHERE v.response_id = ? AND v.user_id <> ? AND ` + people.MayDecide(`u`) + ` LIMIT 1`
)

// canApprove reports whether anybody who is enabled may approve a request whose
// rule makes a demand. routed are those to whom it goes besides its owner.
func (t *Tx) canApprove(r *models.Response, reviewers []models.UserID) (bool, error) {
	if later, err := t.laterAble(r); err != nil || later {
		return later, err
	}
	who := r.Approvers()
	able, err := t.enabledOf(who.Able())
	if err != nil {
		return false, err
	}
	for _, id := range able {
		if id == r.OwnerID && who.SelfApproval == models.SelfNever {
			continue
		}
		if id == r.OwnerID || slices.Contains(reviewers, id) {
			return true, nil
		}
		// A template that the agent named limits who approves, but routes the request to no one.
		if admin, err := t.isAdmin(id); err != nil || admin {
			return admin, err
		}
	}
	var found []int
	if who.ReviewersOnly {
		return false, nil
	}
	if err := t.Gorm().Raw(enabledAdminBut, r.OwnerID).Scan(&found).Error; err != nil || len(found) > 0 {
		return len(found) > 0, err
	}
	// Whom an edit was routed to may approve the request as well.
	err = t.Gorm().Raw(otherReviewer, r.ID, r.OwnerID).Scan(&found).Error
	return len(found) > 0, err
}

// enabledOf are the people among some, and in groups among them, who may sign in.
func (t *Tx) enabledOf(named []models.Approver) ([]models.UserID, error) {
	var out []models.UserID
	var groups []string
	for _, a := range named {
		if a.Group != "" {
			groups = append(groups, a.Group)
			continue
		}
		enabled, err := t.Enabled(a.ID)
		if err != nil {
			return nil, err
		}
		if enabled {
			out = append(out, a.ID)
		}
	}
	members, err := t.s.People.EnabledMembers(t.Tx, groups)
	return append(out, members...), err
}

func (t *Tx) isAdmin(user models.UserID) (bool, error) {
	var n int64
	if err := t.Gorm().Model(&models.User{}).Where("id = ? AND role = 'admin'", user).Count(&n).Error; err != nil {
		return false, fmt.Errorf("read role: %w", err)
	}
	return n > 0, nil
}

func noReviewerText(r *models.Response) string {
	if r.QuorumJSON != "" { // the agent reads it, and hears of no person
		return "Not enough people are able to sign this."
	}
	if !r.Approvers().Limited() {
		return "Nobody is able to decide: the owner is disabled, and there is no routed reviewer and no admin."
	}
	return "Nobody is able to approve this: the rule lets only people approve who are disabled, or who own the agent."
}

// selfApproval is the member as stored. That the owner must not be alone is part of the quorum.
func selfApproval(r *models.Response) models.SelfApproval {
	return cmp.Or(r.SelfApproval, models.SelfAllowed)
}

// allows reports whether a person may approve what an agent of the owner asks, with the
// groups that they are in as the transaction sees them.
func (t *Tx) allows(who models.Approvers, owner, user models.UserID) (bool, error) {
	as := models.Voter{ID: user}
	if len(who.Groups()) > 0 {
		var err error
		if as.Groups, err = t.s.People.GroupsOf(t.Tx, user); err != nil {
			return false, err
		}
	}
	return who.Allow(owner, as), nil
}

// notAReviewer refuses who sees a request and may not approve it.
func notAReviewer(who models.Approvers, text string) *models.Error {
	if must := who.Must(); must != "" {
		text += must + "."
	}
	return models.Errorf(models.CodeNotAReviewer, "%s", strings.TrimSpace(text))
}

const pendingLimited = `SELECT id FROM responses` + db.ByResponsesPendingRisk + `
 WHERE approval_status = 'pending' AND held_until IS NULL AND upstream_id IS NULL AND (reviewers_only OR self_approval = 'never' OR quorum <> '')`

// endStranded rejects the pending requests that no person can approve any more, after a person was disabled or lost
// the role of admin. A request that a vote holds goes on, for its vote was in time. A request of another system ends
// there.
func (t *Tx) endStranded() error {
	var ids []models.ResponseID
	if err := t.Gorm().Raw(pendingLimited).Scan(&ids).Error; err != nil {
		return fmt.Errorf("look for requests without anybody: %w", err)
	}
	for _, id := range ids {
		a, err := t.Request(id)
		if err != nil {
			return err
		}
		if err := t.endIfStranded(a); err != nil {
			return err
		}
	}
	return nil
}

// endIfStranded rejects a pending request that no person can approve any more.
func (t *Tx) endIfStranded(a *models.Approval) error {
	if a.Status() != models.StatusPending || a.HeldUntil != nil || a.UpstreamID != nil ||
		!a.Approvers().Limited() && a.QuorumJSON == "" {
		return nil
	}
	var reviewers []models.UserID
	if err := t.Gorm().Raw(reviewersOf, a.ID).Scan(&reviewers).Error; err != nil {
		return fmt.Errorf("read reviewers: %w", err)
	}
	if a.QuorumJSON != "" && !a.PastDeadline(t.Now) {
		return t.strand(a, reviewers)
	}
	if able, err := t.canApprove(&a.Response, reviewers); err != nil || able {
		return err
	}
	if a.PastDeadline(t.Now) {
		return t.expireNow(a)
	}
	if err := t.settleAs(models.System("policy"), a, models.StatusRejected, models.CauseNoReviewer,
		noReviewerText(&a.Response)); err != nil {
		return err
	}
	if a.Kind != models.KindBudget {
		return nil
	}
	conv, err := t.Conversation(a.ConversationID)
	if err != nil {
		return err
	}
	return t.budgetRefused(conv, a) // as at the ask: no second request at once
}

// checkMeetable refuses a document with a rule that names an unknown group, or that no person could satisfy.
func (t *Tx) checkMeetable(doc policy.Document) error {
	if !doc.LimitsApprovers() && !doc.NamesGroups() {
		return nil
	}
	var persons []policy.Person
	if err := t.Gorm().Raw(people.WhoMayApprove).Scan(&persons).Error; err != nil {
		return fmt.Errorf("read people: %w", err)
	}
	groups, err := people.NamesOfGroups(t.Gorm())
	if err != nil {
		return err
	}
	wrong := map[string]string{}
	for _, w := range slices.Concat(doc.UnknownGroups(groups), doc.Unmeetable(persons)) {
		wrong[w.Path] = w.Text
	}
	if len(wrong) == 0 {
		return nil
	}
	return &models.Error{Code: models.CodeInvalid, Text: "The policy is not valid.", Fields: wrong}
}

// DecidersOf finds by their key the rows of deciders of one request: only its owner and the
// people it was routed to have one. deciders is that table's name in the statement; the
// others are SQL.
func DecidersOf(deciders, request, owner, deadline string) string {
	return deciders + `.user_id IN (SELECT ` + owner +
		` UNION ALL SELECT v.user_id FROM reviewers v WHERE v.response_id = ` + request + `)
 AND ` + deciders + `.deadline = ` + deadline + ` AND ` + deciders + `.response_id = ` + request
}

// Of these, ?1 is the request, ?2 its owner, ?3 its deadline.
var (
	decidersOf    = DecidersOf(`deciders`, `?1`, `?2`, `?3`)
	listDeciders  = `SELECT user_id FROM deciders WHERE ` + decidersOf
	movesDeciders = `UPDATE deciders SET deadline = ?4 WHERE ` + decidersOf
)

// tellDeciders tells those who may decide a pending request, and all who look at
// it, that something about it changed. It returns whom it was routed to, beside
// the owner: they read the entry too.
func (t *Tx) tellDeciders(a *models.Approval) (reviewers []models.UserID, err error) {
	var all []models.UserID
	if err := t.Gorm().Raw(listDeciders, a.ID, a.OwnerID, a.ApprovalTimeoutAt).Scan(&all).Error; err != nil {
		return nil, fmt.Errorf("read deciders: %w", err)
	}
	t.Publish(events.InboxOfAdmins, events.Approval(string(a.ID)), events.Conversation(string(a.ConversationID)))
	for _, user := range all {
		t.Publish(events.InboxOf(string(user)))
		if user != a.OwnerID {
			reviewers = append(reviewers, user)
		}
	}
	return reviewers, nil
}
