package models_test

import (
	"errors"
	"slices"
	"testing"

	"countersign/models"
)

func TestWhatCanDoHarmIsLookedAtToItsEnd(t *testing.T) {
	t.Parallel()
	folds, end := []string{"block-1", "source"}, true
	for _, c := range []struct {
		name   string
		risk   models.Risk
		view   *models.PageView
		opened []string
		ok     bool
	}{
		{"nothing seen of low risk", models.RiskLow, &models.PageView{Folds: folds}, nil, true},
		{"nothing seen of medium risk", models.RiskMedium, &models.PageView{Folds: folds}, nil, true},
		{"nothing seen of high risk", models.RiskHigh, &models.PageView{}, nil, false},
		{"nothing seen of critical risk", models.RiskCritical, &models.PageView{}, nil, false},
		{"the end seen", models.RiskHigh, &models.PageView{SeenEnd: end}, nil, true},
		{"a part is folded", models.RiskHigh, &models.PageView{Folds: folds, SeenEnd: end}, []string{"source"}, false},
		{"another part was opened", models.RiskHigh, &models.PageView{Folds: folds, SeenEnd: end}, []string{"source", "block-2"}, false},
		{"all opened, the end not seen", models.RiskCritical, &models.PageView{Folds: folds}, folds, false},
		{"no page, low risk", models.RiskLow, nil, nil, true},
		{"no page was named", models.RiskHigh, nil, folds, false},
		{"a program", models.RiskHigh, models.NoPage, nil, true},
		{"a program, critical risk", models.RiskCritical, models.NoPage, nil, true},
		{"all opened, the end seen", models.RiskCritical, &models.PageView{Folds: folds, SeenEnd: end}, []string{"source", "other", "block-1"}, true},
	} {
		r := &models.Response{Risk: c.risk}
		if c.view != nil && c.view != models.NoPage {
			_, unconfirmed := errors.AsType[*models.UnconfirmedError](r.CheckViewed(c.view, append(c.opened, folds...)))
			if unconfirmed != c.risk.NeedsDigest() {
				t.Errorf("%s, with one press: to be confirmed: %t", c.name, unconfirmed)
			}
			c.view.Confirms = true
		}
		err := r.CheckViewed(c.view, c.opened)
		if (err == nil) != c.ok || err != nil && models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What must be opened and seen of a request, by the parts that its page draws.
func TestWhichPartsCount(t *testing.T) {
	t.Parallel()
	folded := func(name string) *models.PagePart { return &models.PagePart{Name: name, Fold: true} }
	whole := func(name string) *models.PagePart { return &models.PagePart{Name: name} }
	blocks := []models.PagePart{{Name: "block-1", Fold: true}, {Name: "block-2"}}
	for name, c := range map[string]struct {
		parts     models.PageParts
		open, see []string
	}{
		"nothing":                  {models.PageParts{}, nil, nil},
		"a content":                {models.PageParts{Source: whole("source")}, nil, []string{"source"}},
		"a long content":           {models.PageParts{Source: folded("source")}, []string{"source"}, []string{"source"}},
		"blocks that hold it all":  {models.PageParts{Blocks: blocks, Source: folded("source")}, []string{"block-1", "source"}, []string{"block-1", "block-2", "source"}},
		"blocks that leave some":   {models.PageParts{Blocks: blocks, Source: whole("source")}, []string{"block-1"}, []string{"block-1", "block-2", "source"}},
		"no source":                {models.PageParts{Blocks: blocks[1:]}, nil, []string{"block-2"}},
		"another input":            {models.PageParts{Blocks: blocks, Source: folded("source"), Other: whole("other")}, []string{"source"}, []string{"other"}},
		"another input, long":      {models.PageParts{Blocks: blocks, Other: folded("other"), Beside: whole("beside")}, []string{"other"}, []string{"other", "beside"}},
		"more is sent beside":      {models.PageParts{Source: whole("source"), Beside: folded("beside")}, []string{"beside"}, []string{"source", "beside"}},
		"all of it, and beside it": {models.PageParts{Blocks: blocks, Source: whole("source"), Beside: whole("beside")}, []string{"block-1"}, []string{"block-1", "block-2", "source", "beside"}},
	} {
		if got := c.parts.ToOpen(); !slices.Equal(got, c.open) {
			t.Errorf("%s: to open %q, want %q", name, got, c.open)
		}
		if got := c.parts.ToSee(); !slices.Equal(got, c.see) {
			t.Errorf("%s: to see %q, want %q", name, got, c.see)
		}
	}
}

func TestOnlyHarmMustBeOpened(t *testing.T) {
	t.Parallel()
	folds := []string{"block-1", "source"}
	for _, risk := range models.Risks() {
		r := &models.Response{Risk: risk}
		var want []string
		if risk.NeedsDigest() {
			want = []string{"source"}
		}
		if got := r.Unopened(folds, []string{"block-1", "block-7"}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", risk, got, want)
		}
		if r.MustView(models.NoPage) || r.MustView(nil) != risk.NeedsDigest() || r.MustView(&models.PageView{}) != risk.NeedsDigest() {
			t.Errorf("%s: who must look", risk)
		}
	}
}
