package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/policy"
	"countersign/models/requests"
)

// MakeGrant lets an agent make further calls like the one of a request without asking. It does not decide the request
// itself. For the owner of the conversation and admins; a reviewer to whom a request was routed gets CodeForbidden.
// Only tool calls that are not of critical risk, and not those of another system.
//
// Codes: forbidden (also when the policy has grants switched off), not_a_reviewer (may not approve such calls),
// not_found, invalid (fixed, hours, uses), digest_required, wrong_decision_kind; conflict when the same grant is live,
// or too many are; with the current row: digest_mismatch, already_decided for a rejected request.
func (s *Store) MakeGrant(
	ctx context.Context, actor models.Actor, id models.ResponseID, in models.GrantInput,
) (*models.Grant, error) {
	if err := needPersonForGrant(actor); err != nil {
		return nil, err
	}
	var out *models.Grant
	err := s.write(ctx, func(t *Tx) error {
		a, err := t.Approval(actor, id)
		if err != nil {
			return err
		}
		if err := mayGrant(actor, a); err != nil {
			return err
		}
		out, err = t.makeGrant(actor, requests.At(a, t.Now), in)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func needPersonForGrant(actor models.Actor) error {
	if !actor.IsPerson() {
		return models.Errorf(models.CodeForbidden, "Only a person may see, make or revoke pre-approvals.")
	}
	return nil
}

// mayGrant is who may make grants on a request that they see, and on which.
func mayGrant(actor models.Actor, a *models.Approval) error {
	wrong := func(text string) error { return models.Errorf(models.CodeWrongDecisionKind, "%s", text) }
	switch {
	case !actor.Admin && a.OwnerID != actor.UserID():
		return models.Errorf(models.CodeForbidden,
			"Only the conversation's owner and admins can pre-approve similar calls; you may decide this request.")
	case a.Kind != models.KindToolCall:
		return wrong("Only tool calls can be pre-approved.")
	case a.UpstreamID != nil:
		return wrong("Calls of another system are always decided one by one.")
	case a.Risk.DecidedAlone():
		return wrong("Calls of " + string(a.Risk) + " risk are always decided one by one.")
	case a.QuorumJSON != "":
		return wrong("Calls that several people sign are always decided one by one.")
	case a.Template != "" || a.ChecklistJSON != "":
		return wrong("Calls with a checklist, or for which the agent named a template, are always decided one by one.")
	case a.IsRemoved():
		return wrong("The input of this call was " + a.RemovedText() + ", so it is unknown what a pre-approval would cover.")
	case a.InputBytes != nil:
		return wrong("Only the beginning of this call's input is kept, so it is unknown what a pre-approval would cover.")
	case a.DrawnInPart():
		return wrong("No page shows all of this call's input, so calls like it are always decided one by one.")
	case !a.RequiresApproval && a.Cause != models.CauseGrant:
		return wrong("Nobody was asked about this call, so it needs no pre-approval.")
	case a.Status() == models.StatusRejected:
		return &models.Error{
			Code: models.CodeAlreadyDecided, Text: "This call was rejected: pre-approve similar calls from one that was not.",
			Approval: a,
		}
	}
	return nil
}

func (t *Tx) makeGrant(actor models.Actor, a *models.Approval, in models.GrantInput) (*models.Grant, error) {
	switch in.Digest {
	case a.Digest:
	case "":
		return nil, &models.Error{
			Code: models.CodeDigestRequired, Text: "A pre-approval needs the digest of the request that was shown.",
			Fields: map[string]string{"digest": "is required to pre-approve similar calls"},
		}
	default:
		return nil, &models.Error{
			Code: models.CodeDigestMismatch, Text: "This is not the request that was shown: its digest differs.", Approval: a,
		}
	}
	if err := t.grantsAllowed(actor, a); err != nil {
		return nil, err
	}
	if err := t.checkViewed(actor, a, in.Page); err != nil {
		return nil, err
	}
	fixed, free, err := t.checkGrant(a, in)
	if err != nil {
		return nil, err
	}
	g := &models.Grant{
		ID: models.NewID[models.GrantID](), OwnerID: a.OwnerID, AgentID: a.AgentID, ToolName: a.ToolName, Fixed: fixed,
		Free:   free,
		MadeBy: actor.UserID(), MakerName: actor.Name, MadeFrom: a.ID, CreatedAt: t.Now,
		ExpiresAt: t.Now.Add(time.Duration(in.Hours) * time.Hour), MaxUses: int64(in.Uses),
	}
	if err := t.roomForGrant(g); err != nil {
		return nil, err
	}
	if err := t.Gorm().Create(g).Error; err != nil {
		return nil, fmt.Errorf("store pre-approval: %w", err)
	}
	t.Adds("grants", g.ID)
	g.AgentName, g.OwnerName, g.MakerMayDecide = a.AgentName, a.OwnerName, true
	if until := t.s.known.grants; until != nil && g.ExpiresAt.After(*until) {
		t.s.known.grants = &g.ExpiresAt
	}
	t.grantChanged(g)
	return g, t.Record(actor, "grant.made", ledger.SubjectOf(&a.Response, nil), grantEntry{
		Grant: g.ID, Agent: g.AgentID, Tool: g.ToolName, Fixed: models.Digest([]byte(g.Fixed)),
		Free:    models.Digest([]byte(g.Free)),
		Expires: g.ExpiresAt.Format(db.TimeFormat), MaxUses: g.MaxUses,
	})
}

// grantsAllowed is what the policy says of grants for such calls now, made by this
// person.
func (t *Tx) grantsAllowed(actor models.Actor, a *models.Approval) error {
	version, p, err := t.Policy()
	if err != nil {
		return err
	}
	if !p.Document().GrantsEnabled {
		return models.Errorf(models.CodeForbidden, "Pre-approvals are switched off in the policy (grants_enabled).")
	}
	j, err := t.judge(version, p, policy.Call{Kind: a.Kind, ToolName: a.ToolName, Explicit: true},
		judgedRow(a, a.ToolInputJSON, t.Now))
	if err != nil {
		return err
	}
	switch {
	case j.Effect == policy.EffectDeny:
		return models.Errorf(models.CodeWrongDecisionKind,
			"The policy denies such calls now: a pre-approval would cover none.")
	case j.Risk.DecidedAlone():
		return models.Errorf(models.CodeWrongDecisionKind,
			"The policy now says that such calls are of %s risk: they are always decided one by one.", j.Risk)
	}
	if j.Signed() {
		return models.Errorf(models.CodeWrongDecisionKind,
			"The policy now has several people sign such calls: they are always decided one by one.")
	}
	if len(j.Checklist) > 0 {
		return models.Errorf(models.CodeWrongDecisionKind,
			"The policy has a checklist for such calls now: they are always decided one by one.")
	}
	now := models.Response{OwnerID: a.OwnerID}
	if _, _, err := t.whoDecides(&now, j); err != nil {
		return err
	}
	for _, r := range [...]*models.Response{&a.Response, &now} {
		able, err := t.allows(r.Approvers(), r.OwnerID, actor.UserID())
		if err != nil {
			return err
		}
		if !able {
			return notAReviewer(r.Approvers(), "Only people who may approve such calls can pre-approve them. ")
		}
	}
	return nil
}

// checkGrant checks the chosen fields, all at once.
func (t *Tx) checkGrant(a *models.Approval, in models.GrantInput) (fixed, free string, err error) {
	_, p, err := t.Policy()
	if err != nil {
		return "", "", err
	}
	shape, err := models.ShapeOf([]byte(a.ToolInputJSON))
	if err != nil {
		return "", "", fmt.Errorf("read the input of %s: %w", a.ID, err)
	}
	doc, wrong := p.Document(), map[string]string{}
	fixed, free, err = shape.Split(in.Fixed)
	maps.Copy(wrong, models.FieldsOf(err))
	if in.Hours < 1 || in.Hours > doc.GrantMaxHours {
		wrong["hours"] = fmt.Sprintf("must be from 1 to %d", doc.GrantMaxHours)
	}
	if in.Uses < 1 || in.Uses > doc.GrantMaxUses {
		wrong["uses"] = fmt.Sprintf("must be from 1 to %d", doc.GrantMaxUses)
	}
	if len(wrong) > 0 {
		return "", "", &models.Error{Code: models.CodeInvalid, Text: "The pre-approval is not valid.", Fields: wrong}
	}
	return fixed, free, nil
}

const liveGrants = `SELECT count(*) AS live, coalesce(sum(CASE WHEN fixed = ? AND free = ? THEN 1 ELSE 0 END), 0) AS same FROM grants` +
	db.ByGrantsLive + `
 WHERE agent_id = ? AND tool_name = ? AND revoked_at IS NULL AND expires_at > ? AND uses < max_uses`

// roomForGrant refuses the same grant twice, as a form sent twice would make it,
// and more than an ask can look through.
func (t *Tx) roomForGrant(g *models.Grant) error {
	var found struct{ Live, Same int }
	if err := t.Gorm().Raw(liveGrants, g.Fixed, g.Free, g.AgentID, g.ToolName, t.Now).Scan(&found).Error; err != nil {
		return fmt.Errorf("count pre-approvals: %w", err)
	}
	switch {
	case found.Same > 0:
		return models.Errorf(models.CodeConflict, "The same pre-approval is active already: revoke it first.")
	case found.Live >= models.MaxLiveGrants:
		return models.Errorf(models.CodeConflict, "%d pre-approvals are active for this agent and tool: revoke some first.",
			found.Live)
	}
	return nil
}

// RevokeGrant ends a grant at once. Revoking one that has ended changes nothing. For its maker, the owner and admins;
// for all others it is CodeNotFound, for agents CodeForbidden.
func (s *Store) RevokeGrant(ctx context.Context, actor models.Actor, id models.GrantID) (*models.Grant, error) {
	if err := needPersonForGrant(actor); err != nil {
		return nil, err
	}
	var out *models.Grant
	err := s.writeAnyway(ctx, func(t *Tx) error {
		g, err := grantFor(t.Gorm(), actor, id)
		if err != nil {
			return err
		}
		if out = g; !g.Live(t.Now) {
			return nil
		}
		return t.revokeGrant(actor, g)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *Tx) revokeGrant(actor models.Actor, g *models.Grant) error {
	by, when := actor.UserID(), t.Now
	if err := t.Changes("grants", g.ID); err != nil {
		return err
	}
	done := t.Gorm().Model(&models.Grant{}).Where("id = ? AND revoked_at IS NULL", g.ID).
		UpdateColumns(map[string]any{"revoked_at": when, "revoked_by": by, "revoker_name": actor.Name})
	if done.Error != nil {
		return fmt.Errorf("revoke pre-approval: %w", done.Error)
	}
	if !db.ExactlyOne(done.RowsAffected) {
		return fmt.Errorf("revoke pre-approval %s: it was not active", g.ID)
	}
	g.RevokedAt, g.RevokedBy, g.RevokerName = &when, &by, actor.Name
	t.grantChanged(g)
	var conversation models.ConversationID
	if err := t.Gorm().Raw(`SELECT conversation_id FROM responses WHERE id = ?`,
		g.MadeFrom).Scan(&conversation).Error; err != nil {
		return fmt.Errorf("read the request of a pre-approval: %w", err)
	}
	return t.Record(actor, "grant.revoked", ledger.Subject{Owner: g.OwnerID, Conversation: conversation, Response: g.MadeFrom}, grantEntry{
		Grant: g.ID, Agent: g.AgentID, Tool: g.ToolName, Uses: g.Uses, MaxUses: g.MaxUses,
	})
}

// grantChanged has the pages read the live grants again.
func (t *Tx) grantChanged(g *models.Grant) {
	t.Publish(events.InboxOfAdmins, events.InboxOf(string(g.OwnerID)), events.Approval(string(g.MadeFrom)))
}

// grantEntry is what the ledger says of a grant: its members by their digests.
type grantEntry struct {
	Grant   models.GrantID `json:"grant"`
	Agent   models.AgentID `json:"agent"`
	Tool    string         `json:"tool"`
	Fixed   string         `json:"fixed_digest,omitempty"`
	Free    string         `json:"free_digest,omitempty"`
	Expires string         `json:"expires,omitempty"`
	Uses    int64          `json:"uses"`
	MaxUses int64          `json:"max_uses"`
}

// granted looks for a live grant that covers a call which the policy holds for a
// person, and writes it into the row as what lets the call through. It changes
// nothing in the database: the use is counted when the call is stored, by
// useGrant, in the same transaction.
func (t *Tx) granted(a *models.Approval) (bool, error) {
	if a.Kind != models.KindToolCall || a.Risk.DecidedAlone() || a.InputBytes != nil || a.DrawnInPart() ||
		a.UpstreamID != nil {
		return false, nil
	}
	if may, err := t.anyGrant(); !may || err != nil {
		return false, err
	}
	_, p, err := t.Policy()
	if err != nil || !p.Document().GrantsEnabled {
		return false, err
	}
	g, err := t.coveringGrant(a)
	if g == nil || err != nil {
		return false, err
	}
	a.Cause, a.GrantID = models.CauseGrant, &g.ID
	a.PolicyReason = fmt.Sprintf("Pre-approved by %s until %s UTC, use %d of %d. Otherwise it would have needed approval: %s",
		g.MakerName, g.ExpiresAt.Format("2006-01-02 15:04"), g.Uses+1, g.MaxUses, a.PolicyReason)
	return true, nil
}

// anyGrant reports whether any grant at all may be live, which the writer caches: without grants, no ask looks for
// one.
func (t *Tx) anyGrant() (bool, error) {
	known := &t.s.known
	if known.grants == nil {
		var last db.StoredTime
		if err := t.Row(t.s.hot.lastGrant).Scan(&last); err != nil {
			return false, fmt.Errorf("look for pre-approvals: %w", err)
		}
		known.grants = &last.Time
	}
	return t.Now.Before(*known.grants), nil
}

// coveringGrant is the live grant of the call that expires first, or nil. Only
// those count whose maker is enabled, still the owner or an admin, and may approve
// the call.
func (t *Tx) coveringGrant(a *models.Approval) (*models.Grant, error) {
	rows, err := t.Rows(t.s.hot.grantsOf, a.AgentID, a.ToolName, t.Now, a.OwnerID)
	if err != nil {
		return nil, fmt.Errorf("look for a pre-approval: %w", err)
	}
	defer rows.Close()
	var live []*models.Grant
	for rows.Next() {
		g := &models.Grant{AgentID: a.AgentID, ToolName: a.ToolName}
		if err := rows.Scan(coverRow.Targets(g)...); err != nil {
			return nil, fmt.Errorf("look for a pre-approval: %w", err)
		}
		live = append(live, g)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("look for a pre-approval: %w", err)
	}
	var call models.Shape
	who := a.Approvers()
	for _, g := range live {
		if able, err := t.allows(who, a.OwnerID, g.MadeBy); err != nil {
			return nil, err
		} else if !able {
			continue // who may not approve the call has not approved it beforehand
		}
		if call.Whole == nil {
			if call, err = models.ShapeOf([]byte(a.ToolInputJSON)); err != nil {
				return nil, err
			}
		}
		if g.Covers(a.AgentID, a.ToolName, call) {
			return g, nil
		}
	}
	return nil, nil //nolint:nilnil // none is an answer here
}

// useGrant counts the use that allowed a stored call; its row names the grant. The UPDATE itself checks that the grant
// is live.
func (t *Tx) useGrant(a *models.Approval) error {
	if a.GrantID == nil {
		return nil
	}
	if err := t.Changes("grants", *a.GrantID); err != nil {
		return err
	}
	n, err := t.Exec(t.s.hot.useGrant, t.Now, *a.GrantID)
	if err == nil && !db.ExactlyOne(n) {
		err = errors.New("it is no longer active")
	}
	if err != nil {
		return fmt.Errorf("use pre-approval %s: %w", *a.GrantID, err)
	}
	t.Publish(events.InboxOfAdmins, events.InboxOf(string(a.OwnerID)))
	return nil
}
