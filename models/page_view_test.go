package models_test

import (
	"testing"

	"countersign/models"
)

func TestWhatCanDoHarmIsLookedAtToItsEnd(t *testing.T) {
	t.Parallel()
	folds, end := []string{"block-1", "source"}, true
	for _, c := range []struct {
		name   string
		risk   models.Risk
		view   models.PageView
		opened []string
		ok     bool
	}{
		{"nothing seen of low risk", models.RiskLow, models.PageView{Folds: folds}, nil, true},
		{"nothing seen of medium risk", models.RiskMedium, models.PageView{Folds: folds}, nil, true},
		{"nothing seen of high risk", models.RiskHigh, models.PageView{}, nil, false},
		{"nothing seen of critical risk", models.RiskCritical, models.PageView{}, nil, false},
		{"the end seen", models.RiskHigh, models.PageView{SeenEnd: end}, nil, true},
		{"a part is folded", models.RiskHigh, models.PageView{Folds: folds, SeenEnd: end}, []string{"source"}, false},
		{"another part was opened", models.RiskHigh, models.PageView{Folds: folds, SeenEnd: end}, []string{"source", "block-2"}, false},
		{"all opened, the end not seen", models.RiskCritical, models.PageView{Folds: folds}, folds, false},
		{"all opened, the end seen", models.RiskCritical, models.PageView{Folds: folds, SeenEnd: end}, []string{"source", "other", "block-1"}, true},
	} {
		err := (&models.Response{Risk: c.risk}).CheckLooked(c.view, c.opened)
		if (err == nil) != c.ok || err != nil && models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
