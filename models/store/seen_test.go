package store_test

import (
	"errors"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// I6: from a page, what can do much harm is let through only by those who have
// opened all of it and have seen its end. Callers without a page are as they were.
func TestHarmIsLookedAtToItsEnd(t *testing.T) {
	t.Parallel()
	for _, risk := range models.Risks() {
		b := newBench(t)
		b.UsePolicy(t, payments(`,"risk":"`+string(risk)+`"`))
		decide := func(a *models.Approval, approved bool, page *models.PageView) error {
			return storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, models.DecisionInput{Approved: &approved, Digest: a.Digest, Page: page}))
		}
		refused := models.CodeInvalid
		if !risk.NeedsDigest() {
			refused = ""
		}
		for name, c := range map[string]struct {
			approved bool
			page     *models.PageView
			opens    []string
			code     models.Code
		}{
			"no page":               {true, models.NoPage, nil, ""},
			"none was named":        {true, nil, nil, refused},
			"nothing seen":          {true, &models.PageView{}, nil, refused},
			"rejected, not seen":    {false, &models.PageView{Folds: []string{"source"}}, nil, ""},
			"the end seen":          {true, &models.PageView{SeenEnd: true}, nil, ""},
			"folded":                {true, &models.PageView{Folds: []string{"source"}, SeenEnd: true}, nil, refused},
			"another opened":        {true, &models.PageView{Folds: []string{"source"}, SeenEnd: true}, []string{"block-1"}, refused},
			"opened, end not seen":  {true, &models.PageView{Folds: []string{"source"}}, []string{"source"}, refused},
			"opened, the end seen":  {true, &models.PageView{Folds: []string{"source"}, SeenEnd: true}, []string{"source"}, ""},
			"all opened, end seen":  {true, &models.PageView{Folds: []string{"block-1", "source"}, SeenEnd: true}, []string{"source", "block-1"}, ""},
			"one of two was opened": {true, &models.PageView{Folds: []string{"block-1", "source"}, SeenEnd: true}, []string{"source"}, refused},
		} {
			a := b.pay(t, 1)
			if c.page != nil && c.page != models.NoPage {
				c.page.Confirms = true
			}
			for _, part := range c.opens {
				storetest.Must(t, b.OpenPart(t.Context(), b.Owner, a.ID, part))
			}
			if err := decide(a, c.approved, c.page); models.ErrorCode(err) != c.code {
				t.Errorf("%s, %s: %v, want %q", risk, name, err, c.code)
			}
			got, err := b.Requests.Approval(t.Context(), b.Owner, a.ID)
			storetest.Must(t, err)
			if (got.Status() == models.StatusPending && got.HeldUntil == nil) != (c.code != "") {
				t.Errorf("%s, %s: it is %s", risk, name, got.Status())
			}
		}

		// One press is not enough for what can do much harm.
		a := b.pay(t, 1)
		seen := &models.PageView{SeenEnd: true}
		_, unconfirmed := errors.AsType[*models.UnconfirmedError](decide(a, true, seen))
		if unconfirmed != risk.NeedsDigest() {
			t.Errorf("%s: to be confirmed: %t", risk, unconfirmed)
		}
		if unconfirmed {
			b.standsAs(t, a.ID, models.StatusPending)
		}

		// In its conversation, and for further calls like it.
		folded := &models.PageView{Folds: []string{"source"}, SeenEnd: true, Confirms: true}
		a = b.pay(t, 2)
		in := models.ConversationDecision{Approved: new(true), ResponseID: a.ID, Digest: a.Digest, Page: &models.PageView{Confirms: true}}
		if _, _, err := b.DecideIn(t.Context(), b.Owner, a.ConversationID, in); models.ErrorCode(err) != refused {
			t.Errorf("%s, in its conversation: %v, want %q", risk, err, refused)
		}
		a = b.pay(t, 3)
		in = models.ConversationDecision{Approved: new(true), ResponseID: a.ID, Digest: a.Digest, Page: folded}
		if _, _, err := b.DecideIn(t.Context(), b.Owner, a.ConversationID, in); models.ErrorCode(err) != refused {
			t.Errorf("%s, folded, in its conversation: %v, want %q", risk, err, refused)
		}
		if risk.DecidedAlone() {
			continue
		}
		a = b.pay(t, 4)
		grant := models.GrantInput{Fixed: []string{"amount"}, Hours: 1, Uses: 1, Digest: a.Digest, Page: &models.PageView{Confirms: true}}
		if err := storetest.Err(b.MakeGrant(t.Context(), b.Owner, a.ID, grant)); models.ErrorCode(err) != refused {
			t.Errorf("%s, a pre-approval: %v, want %q", risk, err, refused)
		}
		if refused != "" {
			grant.Page = folded
			if err := storetest.Err(b.MakeGrant(t.Context(), b.Owner, a.ID, grant)); models.ErrorCode(err) != refused {
				t.Errorf("%s, a pre-approval with a folded part: %v, want %q", risk, err, refused)
			}
			storetest.Must(t, b.OpenPart(t.Context(), b.Owner, a.ID, "source"))
			storetest.Must(t, storetest.Err(b.MakeGrant(t.Context(), b.Owner, a.ID, grant)))
		}
	}
}
