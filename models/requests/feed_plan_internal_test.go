package requests

import (
	"strings"
	"testing"

	"countersign/models"
)

// What every stream runs at every wake costs what there is to tell, and not what
// is stored: each query walks an index in order and sorts nothing.
func TestFeedsAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	rs := open(t)
	for name, actor := range map[string]models.Actor{
		"agent":    {Kind: models.ActorAgent, ID: "a"},
		"reviewer": {Kind: models.ActorUser, ID: "u"},
		"admin":    {Kind: models.ActorUser, ID: "u", Admin: true},
	} {
		query, args, err := feedQuery(actor, 1, feedPage)
		if err != nil {
			t.Fatal(err)
		}
		plan := explain(t, rs, query, args)
		if !strings.Contains(plan, "SEARCH") || strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %s\n%s", name, query, plan)
		}
	}
	if _, _, err := feedQuery(models.Actor{Kind: models.ActorSystem}, 1, 1); models.ErrorCode(err) != models.CodeForbidden {
		t.Errorf("a feed for nobody: %v", err)
	}
}
