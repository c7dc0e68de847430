package people_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/storetest"
)

func TestAViewIsItsOwnersAndHasOneNameOnAList(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	views := people.ViewsOf(s.People)
	ann, bo := storetest.Reviewer(t, s, "ann@example.com"), storetest.Reviewer(t, s, "bo@example.com")
	since := storetest.LedgerAt(t, s)
	save := func(actor models.Actor, list models.List, name, query string) error {
		return views.Save(t.Context(), actor, list, name, query)
	}
	storetest.Must(t, save(ann, models.ListHistory, " Rejected payments ", "tool=pay&status=rejected"))
	storetest.Must(t, save(ann, models.ListHistory, "Errors", "status=expired"))
	storetest.Must(t, save(ann, models.ListAudit, "Errors", "outcome=expired"))
	storetest.Must(t, save(bo, models.ListHistory, "Errors", "risk=high"))
	for _, refused := range []struct{ name, query, field string }{
		{"", "tool=x", "name"},
		{"errors", "tool=x", "name"}, // in another letter case
		{strings.Repeat("x", models.MaxViewName+1), "tool=x", "name"},
		{"a\u202eb", "tool=x", "name"},
		{"New", "", "query"},
		{"New", strings.Repeat("x", 2001), "query"},
	} {
		if e := storetest.Refused(t, save(ann, models.ListHistory, refused.name, refused.query), models.CodeInvalid); e.Fields[refused.field] == "" {
			t.Errorf("%.20q, %.20q: %v", refused.name, refused.query, e.Fields)
		}
	}
	storetest.Refused(t, save(models.Operator("root"), models.ListHistory, "New", "tool=x"), models.CodeForbidden)
	storetest.Must(t, views.Remove(t.Context(), bo, models.ListHistory, "Rejected payments"))
	storetest.Must(t, views.Remove(t.Context(), ann, models.ListAudit, "Errors"))
	storetest.Must(t, views.Remove(t.Context(), ann, models.ListAudit, "Errors"))
	for _, c := range []struct {
		actor models.Actor
		list  models.List
		want  string
	}{
		{ann, models.ListHistory, "Errors?status=expired Rejected payments?tool=pay&status=rejected "},
		{ann, models.ListAudit, ""},
		{bo, models.ListHistory, "Errors?risk=high "},
	} {
		kept, err := views.On(t.Context(), c.actor, c.list)
		storetest.Must(t, err)
		got := ""
		for _, v := range kept {
			got += v.Name + "?" + v.Query + " "
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.list, got, c.want)
		}
	}
	if got := storetest.LedgerAt(t, s); got != since {
		t.Errorf("the ledger has entries of views: %v, then %v", since, got)
	}
	for n := range models.MaxSavedViews - 1 {
		storetest.Must(t, save(bo, models.ListHistory, fmt.Sprint("view ", n), "risk=low"))
	}
	storetest.Refused(t, save(bo, models.ListHistory, "one more", "risk=low"), models.CodeInvalid)
}
